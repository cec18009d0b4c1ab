#!/usr/bin/env bash
# Files that are written: replaced as a whole or not at all, by one run at a time, kept when a run is stopped by a signal; odd names, times and
# values; pipes.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
model=$(realpath models/double-pendulum.xml)
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0

fail() {
  echo "FAILED outputs: $1"
  [ -f log ] && tail -n 6 log | sed 's/^/    /'
  bad=1
}
# status N SENTENCE COMMAND...
status() {
  local wanted=$1 words=$2
  shift 2
  timeout 60 "$sarrus" "$@" > log 2>&1
  local got=$?
  [ $got -eq "$wanted" ] || fail "sarrus $*: status $got, expected $wanted"
  grep -qF -- "$words" log || fail "sarrus $*: does not say: $words"
}
# full KIB COMMAND...: a disk that is full then. Writes fail, the signal is ignored.
full() { (trap '' XFSZ; ulimit -f "$1"; shift; timeout 60 "$sarrus" "$@" > log 2>&1); }
same() { [ "$(cat "$1")" = "good" ] || fail "$2: the old file is not what it was"; }

# --------------------------------------------------------------------------------------------------------- full disks
"$sarrus" run "$model" --t-end 1 --out r.csv > log 2>&1 || fail "a run into r.csv"
[ -f r.csv ] && [ ! -e r.csv.part ] || fail "no r.csv, or a part is left"
for out in old.csv old.h5; do
  [ $out = old.h5 ] && ! "$sarrus" run "$model" --t-end 0.1 --out x.h5 > log 2>&1 && continue
  echo good > $out
  full 8 run "$model" --t-end 10 --every 0.001 --out $out
  [ $? -eq 1 ] || fail "a full disk: exit status is not 1 ($out)"
  grep -q "$out.*could not be written to its end.*what it was before.*$out.part" log || fail "a full disk is not told ($out)"
  same $out "a full disk"
  [ -s $out.part ] || fail "a full disk: what could be written is not kept ($out)"
  rm -f $out.part
done
echo good > old.svg
full 1 plot r.csv --y 'q.*' --out old.svg
[ $? -eq 1 ] && [ ! -e old.svg.part ] || fail "a full disk: plot"
same old.svg "plot"
echo good > old.xml
full 4 convert "$(realpath "$OLDPWD/models/humanoid.xml")" --to mjcf --out old.xml
[ $? -eq 1 ] && [ ! -e old.xml.part ] || fail "a full disk: convert"
same old.xml "convert"
echo good > old-laws.csv
full 1 laws --friction kikuuwe --csv old-laws.csv
[ $? -eq 1 ] || fail "a full disk: laws"
same old-laws.csv "laws"

# ---------------------------------------------------------------------------------------------------------- one at a time
wait_for() { for _ in $(seq 300); do [ -s "$1" ] && return 0; sleep 0.1; done; fail "$1 does not come"; }
for signal in INT TERM HUP; do
  echo good > busy.csv
  "$sarrus" run "$model" --t-end 1e7 --every 0.01 --out busy.csv > busy.log 2>&1 &
  pid=$!
  wait_for busy.csv.part
  status 2 "another run is writing it" run "$model" --t-end 1 --out busy.csv
  same busy.csv "while a run is writing"
  kill -$signal $pid
  wait $pid
  [ $? -eq 1 ] || fail "SIG$signal: exit status is not 1"
  grep -q "stopped by the user" busy.log && grep -q "time reached" busy.log || fail "SIG$signal: no report"
  [ "$(wc -l < busy.csv)" -gt 2 ] && [ "$(tail -c 1 busy.csv | od -An -c | tr -d ' ')" = '\n' ] && [ ! -e busy.csv.part ] ||
    fail "SIG$signal: the results are not kept"
done
"$sarrus" run "$model" --t-end 1e7 --every 0.01 --out killed.csv > /dev/null 2>&1 &
pid=$!
wait_for killed.csv.part
kill -KILL $pid
wait $pid 2> /dev/null
status 0 "results: killed.csv" run "$model" --t-end 1 --out killed.csv
[ -f killed.csv ] && [ ! -e killed.csv.part ] || fail "what a killed run has left stops the next one"

# ------------------------------------------------------------------------------------------------------ links, rights, ways
mkdir sub
echo good > sub/real.csv
chmod 640 sub/real.csv
ln -s sub/real.csv link.csv
ln -s sub/new.csv dangling.csv
ln -s loop.csv loop.csv
status 0 "" run "$model" --t-end 1 --out link.csv
[ -L link.csv ] && [ "$(wc -l < sub/real.csv)" -gt 2 ] && [ "$(stat -c %a sub/real.csv)" = 640 ] || fail "a link was replaced, or rights are lost"
status 0 "" run "$model" --t-end 1 --out dangling.csv
[ -L dangling.csv ] && [ -f sub/new.csv ] || fail "a link to a file that is to be made"
status 2 "Too many levels of symbolic links" run "$model" --t-end 1 --out loop.csv
status 2 "Is a directory" run "$model" --t-end 1 --out sub
status 2 "Not a directory" run "$model" --t-end 1 --out r.csv/r.csv
for out in new/folder/r.csv new//other/./r.h5; do  # folders that are missing are made
  [ "${out##*.}" = h5 ] && ! [ -f x.h5 ] && continue
  status 0 "results: $out" run "$model" --t-end 0.1 --out $out
  [ -s $out ] || fail "no $out"
done
status 0 "figure deep/er/r.svg" plot r.csv --out deep/er/r.svg
status 0 "" laws --friction coulomb --normal none --csv laws/new/c.csv --svg laws/figures
[ -s deep/er/r.svg ] && [ -s laws/new/c.csv ] && [ -s laws/figures/laws-friction.svg ] || fail "folders of figures were not made"
status 0 "" run "$model" --t-end 1 --out=-odd.csv
[ -f ./-odd.csv ] || fail "a name that begins with -"
long=$(printf 'n%.0s' $(seq 251)).csv
status 0 "" run "$model" --t-end 1 --out "$long"
[ -f "$long" ] || fail "a name of 255 letters"
cp "$model" own.xml
status 2 "is read and would be replaced" run own.xml --t-end 1 --out own.xml
ln -s own.xml alias.xml
status 2 "is read and would be replaced" convert own.xml --to mjcf --out alias.xml
cmp -s own.xml "$model" || fail "the model was replaced"
# An output is no input: other ways to it, other verbs, files that the model names.
ln own.xml hard.dat
status 2 "is read and would be replaced" run own.xml --t-end 1 --out hard.dat
status 2 "is read and would be replaced" plot r.csv --out r.csv
status 2 "is read and would be replaced" plot link.csv r.csv --out sub/real.csv
status 2 "is read and would be replaced" compare own.xml --methods rk4 --csv hard.dat
printf 't,x\n0,0\n1,0.1\n2,0\n3,0.1\n' > gait.csv
cp gait.csv gait.before
cat > driven.xml << 'END'
<sarrus version="1"><motion name="gait" type="cubic" file="gait.csv"/><include file="part.xml"/><driver joint="x" motion="gait(t)"/></sarrus>
END
echo '<sarrus version="1"><body name="b"><joint name="x" type="prismatic"/><inertial mass="1"/></body></sarrus>' > part.xml
cp part.xml part.before
status 2 "'gait.csv' is read and would be replaced" run driven.xml --t-end 1 --out gait.csv
status 2 "'gait.csv' is read and would be replaced" compare own.xml driven.xml --methods rk4 --t-end 1 --csv gait.csv
ln part.xml part.dat
status 2 "'part.dat' is read and would be replaced" compare driven.xml --methods rk4 --t-end 1 --csv part.dat
status 2 "'part.xml' is read and would be replaced" convert driven.xml --to mjcf --out part.xml
cmp -s gait.csv gait.before && cmp -s part.xml part.before || fail "a file that the model names was replaced"
# A name says what is in the file.
cp own.xml other.xml
status 2 "other.xml: error: .xml is not the suffix of a table" run own.xml --t-end 1 --out other.xml
status 2 "other.xml: error: .xml is not the suffix of a table" laws --csv other.xml
status 2 "other.xml: error: .xml is not the suffix of a table" compare own.xml --methods rk4 --csv other.xml
status 2 "other.xml: error: .xml is not the suffix of a figure" plot r.csv --out other.xml
status 2 "new.JPG: error: .jpg is not the suffix of a figure" plot r.csv --out new.JPG
status 2 "r.csv: error: .csv is not the suffix of a model" convert own.xml --to mjcf --out r.csv
cmp -s other.xml own.xml || fail "a model was replaced by a table"
status 0 "" run own.xml --t-end 0.1 --out run-0.5
[ -s run-0.5 ] || fail "a name with a point in it"
ln -s sub/real.csv trap.csv.part
status 2 "is in the way" run "$model" --t-end 1 --out trap.csv
[ "$(wc -l < sub/real.csv)" -gt 2 ] || fail "a link in the place of the part was followed"
echo good > refused.csv
status 2 "too far" run "$model" --t-end 1e308 --out refused.csv
same refused.csv "a run that is refused"

"$sarrus" run "$model" --t-end 1 --every 0.1 --out /dev/stdout 2> log | grep -c '^[0-9]' | grep -qx 11 || fail "/dev/stdout in a pipe"
# Standard output is - for every verb; it then holds the result alone, and the report is on standard error.
for out in - /dev/stdout; do
  "$sarrus" run "$model" --t-end 1 --every 0.1 --out $out > table.csv 2> log || fail "--out $out in a file"
  [ "$(wc -l < table.csv)" -eq 13 ] && grep -q "^t \[s\]" table.csv && ! grep -q "time reached" table.csv && grep -q "time reached" log ||
    fail "--out $out in a file: table and report"
done
[ ! -e ./- ] || fail "a file with the name - was written"
"$sarrus" run "$model" --t-end 1 --every 0.1 -o short.csv > log 2>&1 && cmp -s short.csv table.csv || fail "-o is not --out"
"$sarrus" plot r.csv --y 'q.*' -o - > figure.svg 2> log || fail "plot -o -"
"$sarrus" plot r.csv --y 'q.*' -o plain.svg > report 2>&1 && cmp -s figure.svg plain.svg && grep -q "panel 1" log || fail "plot -o -: figure and report"
"$sarrus" laws --friction coulomb --normal none --csv - > curves.csv 2> log || fail "laws --csv -"
[ "$(head -n 1 curves.csv)" = "v [m/s],coulomb [N]" ] && [ "$(wc -l < curves.csv)" -eq 202 ] && grep -q sliding log || fail "laws --csv -: table and report"
"$sarrus" convert own.xml --to mjcf -o - > model.txt 2> log && [ "$(head -c 7 model.txt)" = "<mujoco" ] || fail "convert -o -"
for command in "run own.xml --out" "plot r.csv --out" "laws --csv" "convert own.xml --to mjcf --out" "compare own.xml --methods rk4 --csv"; do
  status 2 "both want standard output" $command - --json
done
for verb in run check plot convert; do status 2 "nothing is read from standard input" $verb -; done
cp table.csv x.csv
"$sarrus" run "$model" --t-end 1 --out x.csv >> x.csv 2> log && fail "report and table in one file"
grep -q "standard output goes to the file 'x.csv'" log && cmp -s x.csv table.csv || fail "report and table in one file: $(cat log)"
status 0 "" run "$model" --t-end 1 --out /dev/null
[ -c /dev/null ] || fail "/dev/null"
mkfifo way
cat way > got.csv & pid=$!
status 0 "" run "$model" --t-end 1 --out way
wait $pid
[ "$(wc -l < got.csv)" -gt 2 ] && [ -p way ] || fail "a pipe with a name"
"$sarrus" run "$model" --t-end 100 --every 0.001 --out /dev/stdout 2> log | head -n 1 > /dev/null
[ -s log ] && fail "a pipe whose reader leaves"

# ------------------------------------------------------------------------------------------------------------ odd numbers
for end in 1e308 1e13; do status 2 "is too far" run "$model" --t-end $end; done
for end in inf nan; do status 2 "expects a number" run "$model" --t-end $end; done
status 2 "too small: more than 1e+09 of them" run "$model" --t-end 1e4 --every 1e-6 --out rows.csv
cat > odd.xml << 'END'
<sarrus version="1"><body name="b"><joint name="a" type="revolute" axis="0 1 0" v="1"/><inertial mass="1" inertia="1 1 1"/></body>
<sensor name="r;&lt;b>&amp;" expr="sqrt(0.5 - t)"/></sarrus>
END
status 0 "is not a number in 5 of 11 rows of the results, the first time at t = 0.6" run odd.xml --t-end 1 --every 0.1 --out odd.csv
status 0 "the sensor 'r;<b>&' is not a number at t = 1" run odd.xml --t-end 1
status 0 "" plot odd.csv --y '*' --out odd.svg
grep -q "<b>" odd.svg && fail "a name is in the figure unescaped"
grep -q "r;&lt;b" odd.svg || fail "the name is not in the figure"

[ $bad -eq 0 ] && echo "ok outputs: replaced as a whole, one run at a time, kept after signals"
exit $bad
