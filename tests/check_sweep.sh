#!/usr/bin/env bash
# sarrus sweep: closed forms (period of a pendulum, moments of a sample), the same table for any number of processes and MPI ranks and after kill -9, rows that fail, crash or hang, results by
# path, figures, what is refused. MPI where mpirun and the module are there. 300 rows; 10 000 under --long.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
models=$PWD/models include=$PWD/include docs=$PWD/docs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0
rows=300
[ "${SARRUS_TEST_LONG:-0}" = 1 ] && rows=10000

fail() {
  echo "FAILED sweep: $*"
  bad=1
}
# status N ARGUMENTS...: the exit status is N; output in out, err
status() {
  local expected=$1 got
  shift
  timeout 300 "$sarrus" sweep "$@" > out 2> err
  got=$?
  [ $got -eq "$expected" ] || fail "sarrus sweep $*: status $got, expected $expected: $(head -c 300 err)"
}
says() { grep -qF -- "$1" err || fail "expected '$1', got: $(head -c 400 err)"; }
has() { grep -qF -- "$1" "${2:-out}" || fail "expected '$1' in: $(head -c 400 "${2:-out}")"; }
same() { cmp -s "$1" "$2" || fail "$3: the tables differ: $(diff "$1" "$2" | head -n 3)"; }

pendulum=$models/pendulum.xml

# ------------------------------------------------------------------------------------------------------------- closed forms
status 0 modes "$pendulum" --sweep l=0.25:4:16 --sweep theta0=0,0.2 --result 'modes[0].frequency,stability' --out period.csv -- --at equilibrium
status 0 run "$pendulum" --random l=uniform:1:2 --random theta0=normal:0.1:0.01 --sample "$rows" --seed 11 --result 'q(theta),energy.kinetic,sensors.P1.position[0]' \
  --out sample.csv --threads 2 --svg figures -- --t-end 0.2
status 0 eval "$pendulum" --sweep l=1,2 --sweep v0=-1:1:3 --json --result energy,v -- --v '{v0}'
cp out sweep.json
status 0 eval "$pendulum" --sweep theta0=0:pi:3 --sweep l=1e-2:1e2:5:log --out grid.csv --svg figures
sed -n '/^```xml governor/,/^```$/p' "$docs/using/sweep.md" | sed '1d;$d' > governor.xml
status 0 equilibrium governor.xml --sweep W=1:6:11 --sweep start=0.01,1.2 --result 'q(theta),stability' --out pitchfork.csv -- --steady --q '0,{start}'
python3 - "$rows" << 'PYTHON' || fail "closed forms, see above"
import csv, json, math, sys, xml.dom.minidom
def table(name):
    with open(name) as file:
        assert file.readline().startswith("# sarrus sweep ")
        return [{key.removesuffix(" []"): x for key, x in row.items()} for row in csv.DictReader(file)]
period = table("period.csv")
assert len(period) == 32 and all(r["status"] == "ok" and r["stability"] == "marginal" and r["message"] == "" for r in period)
for i, r in enumerate(period):
    l = 0.25 + 0.25 * (i // 2)
    assert float(r["l"]) == l and float(r["theta0"]) == (0, 0.2)[i % 2] and int(r["row"]) == i
    # 2 pi sqrt(l/g): the equilibrium is found to 1e-5 rad/s^2 at least
    assert abs(1 / float(r["modes[0].frequency"]) - 2 * math.pi * math.sqrt(l / 9.81)) < 1e-9 * math.sqrt(l), r
sample = table("sample.csv")
n = len(sample)
assert n == int(sys.argv[1])
l = [float(r["l"]) for r in sample]
theta = [float(r["theta0"]) for r in sample]
assert abs(sum(l) / n - 1.5) < 5 / math.sqrt(12 * n) and abs(sum(theta) / n - 0.1) < 5 * 0.01 / math.sqrt(n) and len(set(l)) == n
for r in sample:  # theta(t) = theta0 cos(w t) but for terms of the third order, theta0^3 (w t)^2/12 + ...
    a, w = float(r["theta0"]), math.sqrt(9.81 / float(r["l"]))
    q = float(r["q(theta)"])
    assert abs(q - a * math.cos(0.2 * w)) < 0.1 * a**3 + 1e-9, r
    assert abs(float(r["sensors.P1.position[0]"]) + float(r["l"]) * math.sin(q)) < 1e-12
pitchfork = table("pitchfork.csv")  # a pendulum that turns about the vertical: cos(q) = g/(W^2 l) from W^2 = g/l on
assert len(pitchfork) == 22
for r in pitchfork:
    c, high = 9.81 / float(r["W"]) ** 2, r["start"] != "0.01"
    wanted = math.acos(c) if c < 1 and high else 0
    assert abs(float(r["q(theta)"]) - wanted) < 1e-10, r
    assert (r["stability"] == "unstable") == (c < 1 and not high), r
x = json.load(open("sweep.json"))
assert x["verb"] == "eval" and x["rows"] == x["done"] == 6 and x["failed"] == 0 and x["status"] == ["ok"] * 6 and x["resumed"] == 0 and x["ranks"] == 1
assert x["parameters"] == {"l": [1, 1, 1, 2, 2, 2], "v0": [-1, 0, 1] * 2}
assert x["results"]["v(theta)"] == [-1, 0, 1] * 2 and x["results"]["energy.kinetic"] == [0.5, 0, 0.5, 2, 0, 2]
grid = table("grid.csv")
assert len(grid) == 15
for r in grid:
    assert abs(float(r["a(theta)"]) + 9.81 / float(r["l"]) * math.sin(float(r["theta0"]))) < 1e-11 / float(r["l"]), r
for name in ("q-theta", "energy.kinetic", "sensors.P1.position-0", "a-theta", "energy.potential"):
    xml.dom.minidom.parse(f"figures/{name}.svg")
text = open("figures/a-theta.svg").read()
assert "theta0 = 3.14159" in text and "l = 0.01" in text
PYTHON
"$sarrus" plot sample.csv --x l --y 'q(theta)' --out plot.svg > /dev/null 2> err || fail "plot does not read the table: $(head -c 300 err)"
"$sarrus" plot period.csv --x l --y 'modes[0].frequency' --out plot.svg > /dev/null 2> err || fail "plot does not read the table: $(head -c 300 err)"

# -------------------------------------------------------------------------------------------- processes, ranks, kill -9, Ctrl-C
sampled() { # OUT OPTION...
  local out=$1
  shift
  timeout 600 "${launcher[@]}" "$sarrus" sweep run "$pendulum" --random l=uniform:0.5:2 --random theta0=normal:1:0.2 --sweep m=1,2 --sample $((rows / 2)) --seed 5 --out "$out" "$@" \
    -- --t-end 0.5
}
launcher=()
sampled one.csv --threads 1 > out 2> err || fail "one process: $(head -c 300 err)"
sampled two.csv --threads 2 > out 2> err || fail "two processes"
same one.csv two.csv "two processes"
[ ! -e two.csv.journal ] || fail "a journal is left"
[ "$(wc -l < one.csv)" -eq $((rows + 2)) ] || fail "the table has $(wc -l < one.csv) lines"

has_rows() { [ -e "$1" ] && [ "$(grep -c '^[0-9]' "$1")" -ge "$2" ]; }
wait_for_rows() { # FILE N
  for _ in $(seq $((rows * 10))); do has_rows "$1" "$2" && return 0; sleep 0.02; done
  fail "$1 does not get $2 rows"
}
kill_9() { kill -KILL "$1"; wait "$1" 2> /dev/null; }
# A sweep that takes a while: slow OUT THREADS [OPTION...] sets the array command.
slow() { command=("${launcher[@]}" "$sarrus" sweep run "$pendulum" --random l=uniform:0.5:2 --sample "$rows" --seed 5 --out "$1" --threads "$2" "${@:3}" -- --t-end 40); }
slow whole.csv 2
"${command[@]}" > out 2> err || fail "whole"
for part in 10 $((rows / 2)); do
  slow killed.csv 2
  "${command[@]}" > /dev/null 2>&1 &
  pid=$!
  wait_for_rows killed.csv.journal $part
  workers=$(for child in $(pgrep -P $pid); do awk '$14 + $15 > 0' "/proc/$child/stat" 2> /dev/null; done | wc -l)
  [ "$part" = 10 ] || [ "$workers" -eq 2 ] || fail "$workers of 2 workers have used the processor"
  kill_9 $pid
  [ ! -e killed.csv ] && has_rows killed.csv.journal $part || fail "kill -9 leaves a table, or no rows"
done
printf '7\t1,2,"o' >> killed.csv.journal  # a line that was cut
before=$(grep -cE $'^[0-9]+\t.*\t[0-9a-f]{16}$' killed.csv.journal)
[ "$before" -lt "$rows" ] || echo "note sweep: the sweep was over before it was killed"
slow killed.csv 1 --json
"${command[@]}" > out 2> err || fail "a killed sweep does not go on: $(head -c 300 err)"
grep -q "\"resumed\": $before," out || fail "resumed: $(grep resumed out), and there were $before rows"
same whole.csv killed.csv "killed and continued"

# a line that was damaged is not taken, nor what follows it: the end of the file is what a crash of the machine may spoil
"$sarrus" sweep eval "$pendulum" --sweep l=1:2:50 --result 'a(theta)' --out sound.csv --threads 1 > /dev/null 2> err || fail "a short sweep"
(trap '' XFSZ; ulimit -f 2; "$sarrus" sweep eval "$pendulum" --sweep l=1:2:50 --result 'a(theta)' --out spoilt.csv --threads 1 > /dev/null 2>&1)
kept=$(grep -cE $'^[0-9]+\t.*\t[0-9a-f]{16}$' spoilt.csv.journal)
if [ "$kept" -gt 20 ] && [ "$kept" -lt 50 ]; then
  sed -i '$d' spoilt.csv.journal  # the line that did not fit, or the last one
  sed -i -E '/^15\t/s/-([0-9])/-1\1/' spoilt.csv.journal
  status 0 eval "$pendulum" --sweep l=1:2:50 --result 'a(theta)' --out spoilt.csv --json
  grep -q '"resumed": 15,' out || fail "a damaged line was taken: $(grep resumed out)"
  same sound.csv spoilt.csv "a damaged journal"
else
  fail "the journal of the damaged sweep has $kept rows"
fi

slow stopped.csv 2
setsid "${command[@]}" > out 2> err &  # as a terminal does, the signal goes to the workers too
pid=$!
wait_for_rows stopped.csv.journal 10
kill -INT -- -$pid
wait $pid
[ $? -eq 1 ] || fail "Ctrl-C: exit status is not 1"
says "the same command continues"
[ -s stopped.csv ] && [ "$(tail -n +3 stopped.csv | wc -l)" -lt "$rows" ] || fail "Ctrl-C: no table of what there is"
[ "$(tail -n +3 stopped.csv | grep -vc '"ok",0,$')" -eq 0 ] || fail "Ctrl-C: a row that was stopped is in the table: $(grep -v '"ok"' stopped.csv | tail -n 1)"
"${command[@]}" > out 2> err || fail "Ctrl-C: it does not go on"
same whole.csv stopped.csv "Ctrl-C and continued"

# another command, another model, a second sweep at the same time
slow held.csv 2
"${command[@]}" > /dev/null 2>&1 &
pid=$!
wait_for_rows held.csv.journal 5
"${command[@]}" > out 2> err && fail "two sweeps into one table"
says "is being written by another sweep"
kill_9 $pid
status 2 run "$pendulum" --random l=uniform:0.5:2 --sample "$rows" --seed 6 --out held.csv -- --t-end 40
says "the command differs"
cp "$pendulum" own.xml
"$sarrus" sweep run own.xml --sweep l=1:2:"$rows" --out own.csv --threads 1 -- --t-end 40 > /dev/null 2>&1 &
pid=$!
wait_for_rows own.csv.journal 5
kill_9 $pid
sed -i 's/rtol="1e-9"/rtol="1e-8"/' own.xml
status 2 run own.xml --sweep l=1:2:"$rows" --out own.csv -- --t-end 40
says "has changed since"
echo "a file of mine" > mine.csv.journal
status 2 eval "$pendulum" --sweep l=1,2 --out mine.csv
says "is no journal of a sweep"
[ "$(cat mine.csv.journal)" = "a file of mine" ] || fail "a file that is no journal was changed"

module=$(dirname "$sarrus")/sarrus-mpi.so
if command -v mpirun > /dev/null && [ -e "$module" ]; then
  export OMPI_MCA_btl_vader_single_copy_mechanism=none
  mpirun=(mpirun --oversubscribe)
  [ "$(id -u)" -eq 0 ] && mpirun+=(--allow-run-as-root)
  for ranks in 1 2 4; do
    launcher=("${mpirun[@]}" -n $ranks)
    sampled rank$ranks.csv --json > out 2> err || fail "$ranks ranks: $(head -c 400 err)"
    has "\"ranks\": $ranks,"
    same one.csv rank$ranks.csv "$ranks ranks"
  done
  launcher=("${mpirun[@]}" -n 2)
  slow shared.csv 1 --json
  "${command[@]}" > out 2> err || fail "2 ranks: $(head -c 400 err)"
  same whole.csv shared.csv "2 ranks of slow rows"
  python3 -c 'import json; x = json.load(open("out")); n = x["rows_by_rank"]; assert len(n) == 2 and sum(n) == x["rows"] and min(n) > x["rows"] / 4, n' ||
    fail "2 ranks do not share the rows: $(grep rows_by_rank out)"
  slow ranked.csv 1
  "${command[@]}" > out 2> err &
  pid=$!
  wait_for_rows ranked.csv.journal 20
  for rank in $(pgrep -P $pid); do kill -KILL "$rank" 2> /dev/null; done
  wait $pid
  [ ! -e ranked.csv ] || fail "killed ranks leave a table"
  launcher=("${mpirun[@]}" -n 4)
  slow ranked.csv 1
  "${command[@]}" > out 2> err || fail "ranks that were killed do not go on: $(head -c 400 err)"
  same whole.csv ranked.csv "ranks killed and continued"
  launcher=()
else
  echo "note sweep: no mpirun or no $module: ranks are not tested"
fi
if ldd "$sarrus" | grep -q libmpi; then fail "the program is linked with MPI"; fi

# ------------------------------------------------------------------------------------------------- rows that fail, crash, hang
status 0 eval "$pendulum" --sweep l=1,-1,x,2 --sweep m=1,0 --out failed.csv
says "rows failed"
[ "$(tail -n +3 failed.csv | wc -l)" -eq 8 ] || fail "rows that fail are not in the table"
has '"refused"' failed.csv
has 'nan,nan,nan' failed.csv
status 1 modes "$pendulum" --sweep theta0=1,2 --out failed.csv
says "2 of 2 rows failed; row 0: the state is neither"
has '1,2,nan,nan' failed.csv
cat > law.c << 'END'
#include <sarrus/force.h>
#include <unistd.h>
static int law(const srImpedanceIn* in, srImpedanceOut* out) {
  if (in->p[0] == 3) *(volatile int*)0 = 1;
  if (in->p[0] == 5) for (;;) sleep(1);
  out->f[0] = in->p[0];
  return 0;
}
int sarrus_plugin(srPlugin* plugin);
int sarrus_plugin(srPlugin* plugin) {
  static const char* const words[] = {"way"};
  static const srImpedance impedance = {"law", SR_PORT_JOINT, 1, words, 0, 0, law, 0};
  plugin->add_impedance(plugin->host, &impedance);
  return 0;
}
END
sed 's|</sarrus>|<parameter name="way" value="0"/><plugin library="law"/><user name="u" law="law" joint="theta" parameters="way"/></sarrus>|' "$pendulum" > ways.xml
if ${CC:-cc} -I"$include" -fPIC -shared -o law.so law.c > log 2>&1; then
  for threads in 1 2; do
    status 0 eval ways.xml --sweep way=0:9:10 --result a,f --out ways$threads.csv --timeout 2 --threads $threads -- --plugins
    says "2 of 10 rows failed"
  done
  same ways1.csv ways2.csv "rows that crash and hang"
  grep -q '^3,3,nan,nan,"crashed",0,"the process of the row was ended by signal 11' ways1.csv || fail "no crashed row: $(grep '^3,' ways1.csv)"
  grep -q '^5,5,nan,nan,"timeout",0,"took longer than 2 s"' ways1.csv || fail "no row that took too long: $(grep '^5,' ways1.csv)"
  [ "$(grep -c '"ok"' ways1.csv)" -eq 8 ] || fail "other rows are lost"
else
  fail "the plugin does not build: $(head -n 3 log)"
fi
status 0 kinematics "$models/mechanisms/jansen-leg.xml" --sweep t=0.1,0.2 -- --t-end '{t}'

# ------------------------------------------------------------------------------------------------------------ names and words
sed 's/name="P1" point/name="b c.d[0]" point/' "$pendulum" > names.xml
status 0 eval names.xml --sweep 'c=ne"ar,near' --result 'sensors.b c.d[0].position[2],q(theta)' --out names.csv -- --contacts '{c}'
has 'row,c,sensors.b c.d[0].position[2] [],q(theta) [],status' names.csv
has '0,"ne""ar",nan,nan,"refused",0,"--contacts takes near or all, not' names.csv
has '1,"near",-6.' names.csv
status 0 run "$pendulum" --sweep method=rk4,dopri5 --sweep step=0.01,0.02 --result 'method,steps' --out words.csv -- --method '{method}' --step '{step}' --t-end 0.1 --out 'run-{row}.csv'
has '0,"rk4",0.01,"rk4",10,"ok"' words.csv
has '3,"dopri5",0.02' words.csv
[ -s run-0.csv ] && [ -s run-3.csv ] || fail "{row} is not the number of the row"
status 0 eval "$pendulum" --sweep l=1,2 --result 'contacts,q' --out - --quiet
[ "$(sed -n 2p out)" = "row,l,q(theta) [],status,warnings,message" ] || fail "--out -: $(sed -n 2p out)"
status 0 eval "$models/top.xml" --sweep Omega=1,2 --result q,energy.kinetic --out top.csv
status 0 inverse "$models/mechanisms/stewart-platform.xml" --sweep t=0.3,0.4 -- --times '0.1,{t}'
has 'tau[-1][0]'
status 0 inverse "$models/mechanisms/stewart-platform.xml" --sweep t=0.3,0.4 --result 't[-1],t[-2],tau[1][5],tau[-1][-1]' --json -- --times '0.1,{t}'
python3 -c 'import json; r = json.load(open("out"))["results"]; assert r["t[-1]"] == [0.3, 0.4] and r["t[-2]"] == [0.1, 0.1] and r["tau[-1][-1]"] == r["tau[1][5]"]' ||
  fail "indices from the end: $(grep results out)"
status 0 eval "$pendulum" --sweep l=1:2:5 --sweep m=1,2 --sweep theta0=1,2 --result 'a(theta)' --svg three
for curve in 'm = 1, theta0 = 1' 'm = 1, theta0 = 2' 'm = 2, theta0 = 1' 'm = 2, theta0 = 2' 'l = 1.25, m = 2'; do has "$curve" three/a-theta.svg; done
status 0 eval "$pendulum" --sweep l=1:2:6000 --timeout 1 --threads 1 --out many.csv  # the bound is of each row
[ "$(grep -c '"ok"' many.csv)" -eq 6000 ] || fail "rows together have taken too long"

# -------------------------------------------------------------------------------------------------------------- what is refused
status 2 eval "$pendulum"
says "no parameter is swept"
status 2 eval
says "needs a verb and a model"
status 2 sweep "$pendulum" --sweep l=1,2
says "a sweep of sweeps"
status 2 plot "$pendulum" --sweep l=1,2
says "the verb of a sweep is one of check, eval, run"
status 2 evla "$pendulum" --sweep l=1,2
says "did you mean 'eval'"
status 2 eval "$pendulum" --sweep length=1,2
says "no parameter 'length'"
status 2 eval none.xml --sweep l=1,2
says "none.xml"
status 2 eval "$pendulum" --sweep l=1:2:3 --sweep l=1,2
says "'l' is swept twice"
status 2 eval "$pendulum" --sweep l=0:1:1000000000
says "rows are more than"
status 2 eval "$pendulum" --sweep l=1:2:0
status 2 eval "$pendulum" --random l=uniform:1:2
says "go together"
status 2 eval "$pendulum" --random l=uniform:1:2 --sample 0
status 2 eval "$pendulum" --random l=uniform:1:2 --sample 1e30
says "rows are more than"
status 2 eval "$pendulum" --random l=uniform:1:2 --sample 2 --seed 1.5
says "whole number"
status 2 eval "$pendulum" --sweep l=1,2 --result nergy
says "there is no 'nergy': the result has the keys t, formulation, q, v"
status 2 eval "$pendulum" --sweep l=1,2 --result energy.total
says "'energy' has the keys kinetic, potential"
status 2 eval "$pendulum" --sweep l=1,2 --result 'q[3]'
says "'q' has one value, [0]"
status 2 eval "$pendulum" --sweep l=1,2 --result 'q[99999999999999999999]'
status 2 eval "$pendulum" --sweep l=1,2 --result 'v(nope)'
says "takes a joint, q(NAME)[k] a number of one that has several: theta"
status 2 eval "$pendulum" --sweep l=1,2 --result ','
says "no path"
status 2 eval "$pendulum" --sweep l=1,2 --t-end 3
says "options of the verb are written behind --"
status 2 eval "$pendulum" --sweep l=1,2 -- --t-ned 3
says "unknown option '--t-ned'"
status 2 eval "$pendulum" --sweep l=1,2 -- --help
status 2 run "$pendulum" --sweep l=1,2 -- --out same.csv
says "would be the same file in every row"
status 2 modes "$pendulum" --sweep l=1,2 -- --at equilibrium --shapes=same
says "would be the same file in every row"
status 2 eval "$pendulum" --sweep l=1,2 --threads 0
status 2 eval "$pendulum" --sweep l=1,2 --out table.h5
says "ends in .csv"
cp "$pendulum" model.csv
status 2 eval model.csv --sweep l=1,2 --out model.csv
says "is read and would be replaced"
cmp -s "$pendulum" model.csv || fail "the model was replaced"
status 2 eval "$pendulum" --sweep l=1,2 --out out/ --svg err
touch file
status 2 eval "$pendulum" --sweep l=1,2 --svg file
says "'file' is a file"
status 2 eval "$pendulum" --sweep l=1,2 --out /proc/none/table.csv
status 0 eval "$pendulum" --sweep l=1,2 --out new/folder/table.csv
[ -s new/folder/table.csv ] || fail "folders are not made"

# a full disk: what is done is kept, and the sweep goes on when there is room
(trap '' XFSZ; ulimit -f 8; timeout 60 "$sarrus" sweep eval "$pendulum" --sweep l=1:2:1000 --out full.csv > out 2> err)
[ $? -eq 1 ] || fail "a full disk: exit status is not 1"
says "could not be written"
[ ! -e full.csv ] || fail "a full disk: a table is there"
status 0 eval "$pendulum" --sweep l=1:2:1000 --out full.csv --json
grep -qE '"resumed": [1-9]' out || fail "a full disk: nothing was kept"
status 0 eval "$pendulum" --sweep l=1:2:1000 --out whole.csv
same whole.csv full.csv "a full disk"

[ $bad -eq 0 ] && echo "ok sweep"
exit $bad
