#!/usr/bin/env bash
# `sarrus compare`: what it prints, what it writes, and what becomes of runs that fail, take too long or crash.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
  echo "FAILED compare: $*"
  bad=1
}

# status N ARGUMENTS...: the exit status is N; output in $work/out, $work/err
status() {
  local expected=$1 got
  shift
  "$sarrus" compare "$@" > "$work/out" 2> "$work/err"
  got=$?
  [ $got -eq "$expected" ] || fail "sarrus compare $*: status $got, expected $expected: $(head -c 300 "$work/err")"
}
says() { grep -qE -- "$1" "$work/err" || fail "expected a message like '$1', got: $(head -c 300 "$work/err")"; }
has() { grep -qE -- "$1" "$work/out" || fail "expected '$1' in: $(head -c 600 "$work/out")"; }

pendulum=models/pendulum.xml
crank=models/paper2/slider-crank.xml
quick="--repeat 1"

# ------------------------------------------------------------------------------------------------------ what is asked
status 0 --help
has "usage: sarrus compare MODEL\.\.\."
status 2
says "needs an argument"
status 2 $pendulum --methods dopri5,hemm5
says "did you mean 'hem5'"
status 2 $pendulum --methodes dopri5
says "did you mean '--methods'"
status 2 $pendulum --rtol 1e-4,-1
says "greater than zero"
status 2 $pendulum --rtol 1e-4,1e-4
says "twice"
status 2 $pendulum --rtol 1e-4,1e-6,1e-8 --atol 1e-4,1e-6
says "2 numbers for the 3"
status 2 $pendulum --jobs 0
says "whole number"
status 2 $pendulum --measure speed
says "there are: time, evaluations"
status 2 $pendulum --reference euler
says "step control"
status 2 $pendulum models/none.xml
says "none.xml"
echo '<sarrus version="1" name="broken"><body name="b"><joint type="hinge"/></body></sarrus>' > "$work/broken.xml"
status 2 $pendulum "$work/broken.xml" --json
says "broken.xml:1:[0-9]+: error"
has '"errors": \['
status 2 $pendulum $crank --reference "$work/reference.csv"
says "one model"

# -------------------------------------------------------------------------------------- order, JSON, CSV, SVG, parallel
tidy() { sed -E 's/"(seconds|jobs|timed)": [^,}]*/"\1": _/g; /^  "profile"/d' "$1"; }  # all but the times
methods="--methods hem5,rk4,dopri5 --rtol 1e-6,1e-4"
status 0 $crank $pendulum $methods $quick --jobs 1 --json --csv "$work/one.csv"
cp "$work/out" "$work/one.json"
status 0 $crank $pendulum $methods $quick --jobs 4 --json --csv "$work/four.csv" --svg "$work/figures"
cp "$work/out" "$work/four.json"
diff <(tidy "$work/one.json") <(tidy "$work/four.json") > /dev/null || fail "four processes give other numbers than one"
diff <(cut -d, -f1-12,14- "$work/one.csv") <(cut -d, -f1-12,14- "$work/four.csv") > /dev/null ||
  fail "four processes give another table than one"

order=$(grep -oE '"(name|method)": "[^"]*"' "$work/four.json" | cut -d'"' -f4 | tr '\n' ' ')
runs="hem5 hem5 rk4 rk4 dopri5 dopri5"
[ "$order" = "slider-crank $runs pendulum $runs " ] || fail "the order is: $order"

[ "$(sed -n 2p "$work/four.csv" | cut -d, -f1-8)" = "model,file,method,rtol,atol,step [s],status,solved" ] ||
  fail "the columns are: $(sed -n 2p "$work/four.csv")"
[ "$(wc -l < "$work/four.csv")" -eq 14 ] || fail "12 runs should give 14 lines"
awk -F, 'NR > 1 && NF != 27 { exit 1 }' "$work/four.csv" || fail "not all lines of the table have 27 columns"

cat > "$work/look.py" << 'END'
import json, math, sys
x = json.load(open(sys.argv[1]))
assert list(x["profile"]["methods"]) == ["hem5", "rk4", "dopri5"]
assert x["profile"]["problems"] == 4 and x["profile"]["left_out"] == 0 and x["profile"]["tau"][0] == 1 and x["profile"]["measure"] == "time"
for rho in x["profile"]["methods"].values():
    assert len(rho) == len(x["profile"]["tau"]) and rho == sorted(rho) and rho[-1] <= 1
for m in x["models"]:
    assert len(m["reference"]["methods"]) == 2 and 0 < m["reference"]["error"] < 1e-8, m["reference"]
    family = [of.split()[0] in ("dopri5", "mdop5", "phem56") for of in m["reference"]["methods"]]
    assert not all(family), "a reference of one set of coefficients: %s" % m["reference"]
    for r in m["runs"]:
        for key in ("method rtol atol step steps rejected evaluations seconds error violation status reason solved t").split():
            assert key in r, key
        assert r["status"] == "done" and r["reason"] is None and r["seconds"] > 0 and r["steps"] > 10
        assert (r["rtol"] is None) == (r["method"] == "rk4") and (r["step"] is None) == (r["method"] != "rk4")
        assert 0 < r["error"]["end_q"] <= r["error"]["q"] and r["error"]["v"] > 0
        assert set(r["violation"]) == {"position", "velocity", "acceleration"}
    tight, loose = (next(r for r in m["runs"] if r["method"] == "hem5" and r["rtol"] == tol) for tol in (1e-6, 1e-4))
    assert tight["error"]["q"] < 0.1 * loose["error"]["q"] and tight["steps"] > loose["steps"]
END
if command -v python3 > /dev/null && python3 -c '' 2> /dev/null; then
  python3 "$work/look.py" "$work/four.json" 2> "$work/log" || fail "the JSON: $(tail -n 1 "$work/log")"
fi
for figure in work-precision-slider-crank violations-slider-crank work-precision-pendulum violations-pendulum profile; do
  [ -s "$work/figures/$figure.svg" ] || fail "no figure $figure.svg"
  if command -v xmllint > /dev/null; then xmllint --noout "$work/figures/$figure.svg" || fail "$figure.svg is no XML"; fi
done
[ ! -s "$work/err" ] || fail "said: $(cat "$work/err")"

# ------------------------------------------------------------------------------------------------- the table for people
status 0 $crank $pendulum $methods $quick
has "^slider-crank \(models/paper2/slider-crank.xml\), 2 s"
has "reference .* at 1e-12; from .* it differs by"
has "^profile over 4 problems"
has "rho\(1.2\)"
has "most often fastest"
status 0 $crank --methods dopri5 --rtol 1e-12 $quick
has "dopri5 +1e-12 .* <[0-9.]+e-1"  # below what the reference knows

# ---------------------------------------------------------------------------------------------------------- references
"$sarrus" run $pendulum --method hem5 --rtol 1e-12 --atol 1e-14 --t-end 2 --every 0.05 --out "$work/reference.csv" > /dev/null
status 0 $pendulum --t-end 2 --methods dopri5 --rtol 1e-6 --reference "$work/reference.csv" $quick --json
has '"samples": 41'
has '"error": null, "error_q": null'
status 2 $pendulum --t-end 3 --methods dopri5 --reference "$work/reference.csv"
says "is of 0 to 2 s, the run of 0 to 3 s"
sed '8d' "$work/reference.csv" > "$work/gap.csv"
status 2 $pendulum --t-end 2 --methods dopri5 --reference "$work/gap.csv"
says "equidistant"
status 2 $crank --methods dopri5 --reference "$work/reference.csv"
says "has no column 'q."
status 0 $pendulum --methods dopri5 --rtol 1e-4 --reference hem5 --reference-rtol 1e-10 $quick
has "reference hem5 at 1e-10; from hem5 at 1e-09"

# ------------------------------------------------------------------------------------------------------- rigid contact
ball=models/benchmark/bouncing-ball.xml
status 2 $ball --contact evnt
says "did you mean 'event'"
status 2 $ball --reference hem5,rk4
says "--reference rk4: a reference needs a method with step control"
status 0 $ball --contact event --methods mdop5 --rtol 1e-6 --reference hem5,mdop5 --reference-rtol 1e-10 $quick
has "^bouncing-ball .*, contact event$"
has "reference hem5 at 1e-10; from mdop5 at 1e-10 it differs by [0-9.]+e-1"
has "mdop5 +1e-06 .* <?[0-9.]+e-1[0-9] +<?[0-9.]+e-1"  # parabolas: rounding alone; by force laws it would be 1e-3
status 0 $ball --contact event --methods mdop5 --rtol 1e-6 --reference hem5,mdop5 $quick --json
has '"contact": "event"'
has '"rank_changes": 1, "redundant": 0'  # it comes to rest

# --------------------------------------------------------------------------------------------- steps, control, tolerances
status 0 $pendulum --methods rk4,dopri5 --rtol 1e-5 --step 0.02,0.01,0.005 $quick --json
[ "$(grep -oE '"step": 0\.[0-9]+' "$work/out" | wc -l)" -eq 3 ] || fail "three steps were asked for"
status 0 $crank --methods dopri5,hem5 --control positions $quick --json
[ "$(grep -oE '"rtol": 0.0001[^0-9]*, "atol": 0.0001[^0-9]' "$work/out" | wc -l)" -eq 2 ] || fail "Haddouni et al. (2017) has one tolerance, 1e-4"
status 0 $pendulum --methods dopri5 --control fixed --step 0.01 $quick --json
has '"steps": 1000, "rejected": 0'

# ------------------------------------------------------------------------------------------------------- states alone
cat > "$work/states.xml" << 'END'
<sarrus version="1" name="states">
  <state name="a" initial="1" rate="b"/><state name="b" initial="0" rate="-4*a"/><run t-end="5" step="0.01"/>
</sarrus>
END
status 0 "$work/states.xml" --methods euler,dopri5 --rtol 1e-4 $quick
has "error q +error v +error y"
has "it differs by [0-9.e-]+ in y"
has "euler .* - +- +[1-9][0-9.]+e-01 .*\*$"
has "dopri5 .* - +- +[0-9.]+e-0[45] .*e\+00$"
status 0 "$work/states.xml" --methods euler,dopri5 --rtol 1e-4 $quick --json --svg "$work/figures"
has '"method": "euler".*"solved": false'
has '"method": "dopri5".*"solved": true'
has '"error": \{"q": null, "v": null, "y": [0-9.e-]+, "state": [0-9.e-]+'
grep -q "error of y" "$work/figures/work-precision-states.svg" || fail "the figure of states has another label"

# ------------------------------------------------------------------------------- methods that this build does not have
status 0 $pendulum --t-end 0.5 --rtol 1e-4 $quick --json
! grep -q '"reason": "this build has no SUNDIALS' "$work/out" || fail "methods that are not in this build are compared by default"
if "$sarrus" run $pendulum --method cvode --t-end 0.1 > "$work/log" 2>&1; then
  has '"method": "cvode"'
else
  ! grep -q '"method": "cvode"' "$work/out" || fail "cvode is listed, and not in this build"
fi

# ------------------------------------------------------------------------------------------------ what fails, and why
sed 's/t-end="10"/t-end="1e7"/' $pendulum > "$work/endless.xml"
status 0 "$work/endless.xml" $pendulum --methods rk4 --step 0.01 --timeout 1 --reference dopri5 --reference-rtol 1e-6 $quick
has "rk4 +h 1.00e-02 failed at t = .* took longer than 1 s"
has "no reference, errors are not known: dopri5: took longer"
has "rk4 +h 1.00e-02 +1000 "  # the others go on
has "^profile over 3 problems \(1 models, 3 tolerances\)"
has "left out, for want of a reference: pendulum$"
status 0 "$work/endless.xml" $pendulum --methods rk4 --step 0.01 --timeout 1 --reference dopri5 --reference-rtol 1e-6 $quick --json
has '"problems": 3, "left_out": 3'
# What ends without a reference is neither solved nor not.
status 0 "$work/endless.xml" "$work/endless.xml" --methods rk4 --step 10000 --timeout 1 --reference dopri5 --reference-rtol 1e-6 $quick
has "rk4 +h 1.00e\+04 +1000 .* - +- .*[^*]$"
has "no profile: none of the 2 models has a reference"
status 0 "$work/endless.xml" --methods rk4 --step 10000 --timeout 1 --reference dopri5 --reference-rtol 1e-6 $quick --json
has '"status": "done", "solved": null'

cat > "$work/burst.xml" << 'END'
<sarrus version="1" name="burst">
  <body name="b"><joint name="x" type="prismatic" axis="1 0 0" q="1" v="1"/><inertial mass="1" inertia="1 1 1"/></body>
  <torque joint="x" law="2*q(x)^3"/><run t-end="2" step="0.01"/>
</sarrus>
END
status 0 "$work/burst.xml" --methods dopri5,rk4 --rtol 1e-4 --json $quick
has '"status": "failed", "solved": false, "reason": "[^"]+'

cat > "$work/crash.c" << 'END'
#include <sarrus/force.h>
#include <stdlib.h>
static int crash(const srImpedanceIn* in, srImpedanceOut* out) {
  if (in->t > 0.5 && in->p[0] == 0.0) abort();
  while (in->t > 0.5 && in->p[0] == 1.0) {}
  out->f[0] = 0.0;
  return 0;
}
int sarrus_plugin(srPlugin* plugin);
int sarrus_plugin(srPlugin* plugin) {
  static const char* const words[] = {"way"};
  static const srImpedance law = {"crash", SR_PORT_JOINT, 1, words, 0, 0, crash, 0};
  plugin->add_impedance(plugin->host, &law);
  return 0;
}
END
if ${CC:-cc} -Iinclude -fPIC -shared -o "$work/crash.so" "$work/crash.c" > "$work/log" 2>&1; then
  for way in 0 1; do
    sed 's|</sarrus>|<plugin library="crash"/><user name="u" law="crash" joint="theta" parameters="'$way'"/></sarrus>|; s/name="pendulum"/name="way'$way'"/' \
      $pendulum > "$work/way$way.xml"
  done
  status 0 "$work/way0.xml" "$work/way1.xml" $pendulum --methods dopri5 --rtol 1e-4 --timeout 1 --reference hem5 --plugins $quick
  has "dopri5 +0.0001 failed: the process of the run was ended by signal 6 \(Aborted\)"
  has "dopri5 +0.0001 failed: took longer than 1 s of processor time, inside of a step"
  has "dopri5 +0.0001 +[0-9]+ "
else
  fail "the plugin does not build: $(head -n 3 "$work/log")"
fi

# Ctrl-C ends the children and prints what there is.
"$sarrus" compare "$work/endless.xml" --methods rk4 --step 0.001 --reference dopri5 > "$work/out" 2> "$work/err" &
pid=$!
for _ in $(seq 600); do  # until its children are there
  children=$(pgrep -P $pid | wc -l)
  [ "$children" -gt 0 ] && break
  sleep 0.1
done
kill -INT $pid
wait $pid
[ $? -eq 1 ] || fail "stopped by the user: status 1 was expected"
[ "$children" -gt 0 ] || fail "there were no processes to stop"
says "stopped by the user"
[ -z "$(pgrep -f "compare $work/endless.xml")" ] || fail "processes are left behind"

[ $bad -eq 0 ] && echo "ok compare"
exit $bad
