#!/usr/bin/env bash
# sarrus contact keeps its contract: solvers on the shipped problems, keys of the JSON, replay, exit statuses, messages with their places.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-$PWD/build/test/sarrus}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
  echo "FAILED contact: $*"
  bad=1
}
# status N ARGUMENTS...: the exit status is N; output in $work/out, $work/err
status() {
  local expected=$1 got
  shift
  "$sarrus" contact "$@" > "$work/out" 2> "$work/err"
  got=$?
  [ $got -eq "$expected" ] || fail "contact $*: status $got, expected $expected: $(head -c 300 "$work/err")"
}
says() { grep -qE -- "$1" "$work/err" || fail "expected a message like '$1', got: $(head -c 300 "$work/err")"; }
has() { grep -qE -- "$1" "$work/out" || fail "expected '$1' in: $(head -c 600 "$work/out")"; }

# ------------------------------------------------------------------------------------------------------------- solvers
for problem in models/contact-problems/*.contact; do status 0 "$problem"; done
status 0 models/contact-problems/pinch.contact --solver all
for solver in auto nsgs nncg newton; do has "^  $solver .* solved$"; done
has '^  lemke +does not take this problem'
status 0 models/contact-problems/rod.contact --solver lemke
has '^  lemke .* solved$'
status 2 models/contact-problems/pinch.contact --solver gauss
says "there are: all, auto, nsgs, nncg, newton, sweeps, sweeps-nncg, lemke"
status 1 models/contact-problems/pinch.contact --solver nsgs --iterations 2  # too few
has 'NOT SOLVED, contact [01] is the worst'
status 1 models/contact-problems/pinch.contact --solver lemke

# The block is held: its jaws press with 0.04 Ns, and friction carries m g h = 0.02943 Ns, half on each side.
status 0 models/contact-problems/pinch.contact --json
python3 - "$work/out" << 'PYTHON' || fail "the impulses of the pinched block"
import json, sys
x = json.load(open(sys.argv[1]))
assert x["bodies"] == 3 and x["contacts"] == 2 and x["equations"] == 10 and x["rows"] == 16
r = x["results"][0]
assert set(r) == {"solver", "refused", "solved", "residual", "bilateral", "penetration", "cone", "complementarity", "worst",
                  "iterations", "islands", "seconds", "impulse"}, r.keys()
assert r["solved"] and r["residual"] <= 1e-9 and r["islands"] == 1
p = r["impulse"][10:]
assert abs(p[0] - 0.04) < 1e-9 and abs(p[3] - 0.04) < 1e-9
assert abs((p[1]**2 + p[2]**2)**0.5 - 0.02943 / 2) < 1e-9
PYTHON

# The rod slides through both phases: p_N = (1 + e) 1 / (2.5 - 0.3 1.5) by Poisson's law.
status 0 models/contact-problems/rod.contact --impact poisson --json
python3 - "$work/out" << 'PYTHON' || fail "the impact of the rod"
import json, sys
x = json.load(open(sys.argv[1]))
r = x["results"][0]
assert x["impact"] == "poisson" and r["alpha"] == 1 and not r["gained"] and r["energy"] < 0
assert abs(r["impulse"][0] - 1.5 / (2.5 - 0.3 * 1.5)) < 1e-9 and abs(r["impulse"][1] + 0.3 * r["impulse"][0]) < 1e-9
PYTHON

# -------------------------------------------------------------------------------------------------------------- replay
status 0 models/contact-problems/pinch.contact --out "$work/solved.contact" --quiet
[ -s "$work/out" ] && fail "--quiet prints"
status 0 "$work/solved.contact" --json
has '"iterations": 0'
status 0 "$work/solved.contact" --cold --json
grep -q '"iterations": 0' "$work/out" && fail "--cold starts from the impulses of the file"
"$sarrus" contact models/contact-problems/pinch.contact --out - 2> /dev/null | diff -q - "$work/solved.contact" > /dev/null || fail "--out - differs from --out FILE"
status 2 "$work/solved.contact" --out "$work/solved.contact"
says 'would be replaced'

# ------------------------------------------------------------------------------------------------- problems of a run
# run N ARGUMENTS...: sarrus run ends with status N
run() {
  local expected=$1 got
  shift
  "$sarrus" run "$@" > "$work/out" 2> "$work/err"
  got=$?
  [ $got -eq "$expected" ] || fail "run $*: status $got, expected $expected: $(head -c 300 "$work/err")"
}
# replay FOLDER COUNT: so many problems, each with the residual that the run had, by the solution of the file and by the same start
replay() {
  python3 - "$sarrus" "$1" "$2" << 'PYTHON' || fail "problems of a run in $1"
import glob, json, re, subprocess, sys
sarrus, folder, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
files = sorted(glob.glob(folder + "/*.contact"))
assert len(files) == count, files
for name in files:
    method, had = re.search(r"s: (\S+), \d+ iterations, residual (\S+) m/s", open(name).readline()).groups()
    x = json.loads(subprocess.run([sarrus, "contact", name, "--solver", method, "--json"], capture_output=True).stdout)
    # of bodies the run measures four contacts side by side, in another order of sums
    assert abs(x["stored"]["residual"] - float(had)) <= (1e-13 if x["bodies"] else 0), (name, x["stored"], had)
    r = x["results"][0]
    assert r["solved"] and r["residual"] <= x["tolerance"], (name, r)
    if x["bodies"] == 0:  # in double precision throughout
        assert r["residual"] == float(had), (name, r["residual"], had)
PYTHON
}
bin=models/contact/balls-in-bin.xml
run 0 $bin --contact timestepping --step 2e-3 --t-end 0.4 --save-problems "$work/worst" --problems worst --problems-most 3 --json
says 'note: 3 of [0-9]+ contact problems are in the folder .*worst., first of them step-0'
replay "$work/worst" 3
python3 - "$work" << 'PYTHON' || fail "the worst problem is not the one that the report has"
import glob, json, re, sys
x = json.load(open(sys.argv[1] + "/out"))
name = re.search(r"first of them (\S+)", " ".join(n if isinstance(n, str) else n["text"] for n in x["notes"])).group(1)
had = float(re.search(r"residual (\S+) m/s", open(sys.argv[1] + "/worst/" + name).readline()).group(1))
all_ = [float(re.search(r"residual (\S+) m/s", open(n).readline()).group(1)) for n in glob.glob(sys.argv[1] + "/worst/*")]
assert had == max(all_) and had >= x["complementarity"]
PYTHON
run 0 $bin --contact timestepping --step 2e-3 --t-end 0.4 --save-problems "$work/hardest"
replay "$work/hardest" 10
run 0 $bin --contact timestepping --step 2e-3 --t-end 0.4 --save-problems "$work/step" --problems 150
[ "$(ls "$work/step")" = "$(cd "$work/step" && ls step-000150-*.contact)" ] || fail "--problems 150: $(ls "$work/step")"
run 0 models/contact/heap-of-balls.xml --t-end 0.4 --save-problems "$work/heap" --problems-most 1  # bodies and points
replay "$work/heap" 1
run 0 models/contact/omni-wheel.xml --contact timestepping --step 2e-3 --t-end 0.2 --set sink=0 --set mu2=0.1 --save-problems "$work/omni" --problems-most 2  # two coefficients of friction
replay "$work/omni" 2
# A body of 2 kg that slides at (-2, 1.2, 0) and falls at 1 m/s: p_N = 2 (the arms are 0), the friction is on the ellipse, and the slip that is left along its normal.
cat > "$work/ellipse.contact" << 'END'
contact-problem 1
body inverse_mass 0.5 inverse_inertia 1 1 1 0 0 0 velocity 0 0 0 -2 1.2 -1
contact bodies -1 0 normal 0 0 1 arm_a 0 0 0 arm_b 0 0 0 mu 0.5 mu2 0.1 along 3 4 7
END
for solver in auto nsgs nncg newton sweeps sweeps-nncg; do
  status 0 "$work/ellipse.contact" --solver $solver --json
  python3 - "$work/out" << 'PYTHON' || fail "two coefficients of friction by $solver"
import json, math, sys
N, z1, z2 = json.load(open(sys.argv[1]))["results"][0]["impulse"]
p1, p2 = z1, 0.2 * z2
t2, t1 = (0.6, 0.8), (0.8, -0.6)  # t2 x n
u1, u2 = -2 * t1[0] + 1.2 * t1[1] + p1 / 2, -2 * t2[0] + 1.2 * t2[1] + p2 / 2
assert abs(N - 2) < 1e-9 and abs(math.hypot(p1 / 0.5, p2 / 0.1) - 2) < 1e-8
assert abs(u1 * p2 / 0.01 - u2 * p1 / 0.25) < 1e-7 and u1 * p1 + u2 * p2 < 0
PYTHON
done
status 0 "$work/ellipse.contact" --out "$work/ellipse-rows.contact"
grep -q rows_a "$work/ellipse-rows.contact" || fail "two coefficients are not written by rows"
status 0 "$work/ellipse-rows.contact"
# Equations of closed contacts: three of rank 2 all the time; none, then those of a block that has landed.
run 0 models/nonsmooth/ladder.xml --contact event --method hem5 --json
has '"rank_changes": *0,'
has '"redundant": *1,'
run 0 models/nonsmooth/dropped-block.xml --contact event --method hem5 --json
has '"rank_changes": *[1-9]'
run 0 models/contact/bouncing-ball.xml --contact event --save-problems "$work/impacts" --problems all
impacts=$(ls "$work/impacts" | wc -l)
# Five impacts to 2 s from 1 m with e = 0.8 (models/contact/bouncing-ball.xml); W = 1/m, and by Newton's law the energy falls by (1 - e^2) u^2/(2 W).
[ "$impacts" -eq 5 ] || fail "$impacts impacts, expected 5"
for file in "$work"/impacts/*; do
  status 0 "$file" --impact newton --json
  python3 - "$work/out" "$file" << 'PYTHON' || fail "the energy of an impact"
import json, re, sys
r = json.load(open(sys.argv[1]))["results"][0]
text = open(sys.argv[2]).read()
W, u, e = (float(re.search(rf"\b{k} (\S+)", text).group(1)) for k in ("row", "right", "restitution"))
assert abs(r["energy"] + (1 - e * e) * u * u / (2 * W)) < 1e-12, r
PYTHON
done
# Five balls that touch, in sequence: the options of the second line give four collisions without loss; by Stronge's law too.
for law in "newton --impact-order sequential" "stronge"; do
  rm -rf "$work/cradle"
  run 0 models/contact/newtons-cradle.xml --contact event --impact $law --set gap=0 --t-end 0.3 --save-problems "$work/cradle" --problems all
  file=$work/cradle/$(ls "$work/cradle" | head -1)
  sed -n 2p "$file" | grep -q -- "--impact $law --solver all" || fail "the options of a sequence: $(sed -n 2p "$file")"
  status 0 "$file" --impact $law --json
  python3 - "$work/out" << 'PYTHON' || fail "the sequence of a cradle"
import json, sys
x = json.load(open(sys.argv[1]))
assert x["impact_order"] == "sequential" and len(x["results"]) == 1
r = x["results"][0]
assert r["solver"] == "sequence" and r["solved"] and r["collisions"] == 4 and not r["gained"]
assert abs(r["energy"]) < 1e-12 and max(r["impulse"]) - min(r["impulse"]) < 1e-9 * max(r["impulse"]), r
PYTHON
done
run 0 $bin --t-end 0.01 --save-problems "$work/none"
says 'warning: --save-problems: no contact problem was solved'
run 2 $bin --problems all
says 'give that too'
run 2 $bin --save-problems "$work/none" --problems best
says "hardest, worst, unsolved, all, or the number of a step from 0 on, not 'best'"
run 2 $bin --save-problems "$work/none" --problems-most 0.5
says '\-\-problems-most must be a whole number'
run 2 $bin --save-problems - --problems all
says 'takes a folder'
touch "$work/file"
run 1 $bin --contact timestepping --step 2e-3 --t-end 0.4 --save-problems "$work/file"  # no folder

# ------------------------------------------------------------------------------------------------------------ messages
# wrong LINE:COLUMN TEXT CONTENT
wrong() {
  printf '%b' "$3" > "$work/bad.contact"
  status 2 "$work/bad.contact"
  says "^$work/bad.contact:$1: error: .*$2"
}
body='body inverse_mass 1 inverse_inertia 1 1 1 0 0 0 velocity 0 0 0 0 0 -1\n'
contact='contact bodies -1 0 normal 0 0 1 arm_a 0 0 0 arm_b 0 0 -0.1 mu 0.3'
wrong 1:1 'contact-problem 1' ''
for keys in 'mu2 0.1' 'along 1 0 0' 'mu2 0.1 along 0 0 2' 'mu2 -1 along 1 0 0' 'mu2 0.1 along 1 0 0 soft 0 1'; do
  wrong 3:1 'contact 0: mu2 is 0 or positive' "contact-problem 1\n$body$contact $keys\n"
done
wrong 1:1 "'problem': expected contact-problem 1" 'problem 1\n'
wrong 1:17 "version 1" 'contact-problem 2\n'
wrong 3:20 "'x': expected a finite number" "contact-problem 1\n# a comment\nbody inverse_mass  x\n"
wrong 2:19 "'1e999': expected a finite number" "contact-problem 1\nbody inverse_mass 1e999\n"
wrong 3:1 "contact has no mu" "contact-problem 1\n${body}contact bodies -1 0 normal 0 0 1 arm_a 0 0 0 arm_b 0 0 0\n"
wrong 3:1 "contact 0: one of its bodies does not exist" "contact-problem 1\n$body${contact/-1 0/-1 1}\n"
wrong 3:1 "contact 0: the normal must have length 1" "contact-problem 1\n$body${contact/0 0 1/0 0 2}\n"
wrong 3:68 "'mu': expected each key once" "contact-problem 1\n$body$contact mu 1\n"
wrong 3:1 "contact has no rows_b" "contact-problem 1\n${body}contact bodies -1 0 mu 0 rows_a 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
wrong 3:28 "'rows_a': expected body, equation, contact" "contact-problem 1\n${body}contact bodies -1 0 mu 0.3 rows_a 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n$contact\n"
wrong 3:1 "'spring': expected body, equation, contact" "contact-problem 1\n${body}spring\n"
wrong 3:11 "the file ends here; expected a finite number" "contact-problem 1\nstart\ncompliance"
wrong 1:17 "there are 1 rows of the matrix" "contact-problem 1\nequations 1\ncontact rows 1 mu 0\nrow 1\n"
wrong 2:1 "contact 0: the diagonal entry of its normal in W must be positive" "contact-problem 1\ncontact rows 1 mu 0 row -1 right 0\n"
status 2 "$work/missing.contact"
says 'missing.contact: error: cannot be read'
status 2 models/contact-problems/rod.contact --tolerance 0
says '\-\-tolerance must be greater than zero'
status 2 models/contact-problems/rod.contact --impact auto
says 'newton, poisson, stronge'
status 2 models/contact-problems/rod.contact --impact-order sequential
says '\-\-impact-order is for an impact: take it with \-\-impact LAW'
status 2 models/contact-problems/rod.contact --impact stronge --impact-order simultaneous
says 'take impact-order sequential'
status 2 models/contact-problems/rod.contact --impact stronge --impact-friction algebraic
says 'take impact-friction shock'
status 2 models/contact-problems/rod.contact --json --tolerance -1
has '"errors"'

[ $bad -eq 0 ] && echo "ok contact"
exit $bad
