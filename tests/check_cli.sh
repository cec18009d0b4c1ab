#!/usr/bin/env bash
# The command line keeps its contract: exit statuses, keys of the JSON, messages, files. python3 or node give a second
# opinion on the JSON when one of them is there.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-$PWD/build/test/sarrus}
include=$PWD/include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
  echo "FAILED cli: $*"
  bad=1
}

# status N ARGUMENTS...: the exit status is N; output in $work/out, $work/err
status() {
  local expected=$1 got
  shift
  "$sarrus" "$@" > "$work/out" 2> "$work/err"
  got=$?
  [ $got -eq "$expected" ] || fail "sarrus $*: status $got, expected $expected: $(head -c 300 "$work/err")"
}

# says PATTERN: standard error holds it
says() {
  grep -qE -- "$1" "$work/err" || fail "expected a message like '$1', got: $(head -c 300 "$work/err")"
}

# valid: $work/out is one JSON object
valid() {
  if command -v python3 > /dev/null && python3 -c '' 2> /dev/null; then
    python3 -c 'import json, sys; assert isinstance(json.load(open(sys.argv[1])), dict)' "$work/out" 2> /dev/null
  elif command -v node > /dev/null; then
    node -e 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"))' "$work/out" 2> /dev/null
  else
    [ "$(head -c 1 "$work/out")" = "{" ] && [ "$(tail -c 2 "$work/out")" = "}" ]
  fi || fail "no valid JSON: $(head -c 200 "$work/out")"
}

# keys NAME...: members of the top object (each is on a line of its own)
keys() {
  local key
  valid
  for key in "$@"; do grep -qE "^  \"$key\": " "$work/out" || fail "key '$key' is missing"; done
}

# has TEXT: standard output holds it
has() { grep -qF -- "$1" "$work/out" || fail "expected '$1' in: $(head -c 400 "$work/out")"; }

# ------------------------------------------------------------------------------------------------------ help, version
status 0 --help
has "check"
has "eval"
has "run"
has "init"
status 0 --version
[ "$(cat "$work/out")" = "sarrus $(grep -oE 'SR_VERSION_STRING "[^"]*' include/sarrus/base.h | cut -d'"' -f2)" ] ||
  fail "--version: $(cat "$work/out")"
for verb in check eval run init; do
  status 0 $verb --help
  has "example"
done
status 0 -V
has "sarrus $(sed -n 's/.*SR_VERSION_STRING "\([^"]*\)".*/\1/p' include/sarrus/base.h)"
status 0 run --help
cp "$work/out" "$work/help"
status 0 help run
cmp -s "$work/out" "$work/help" || fail "help run is not run --help"
COLUMNS=60 status 0 help run
[ "$(wc -L < "$work/out")" -le 80 ] && [ "$(grep -vc "models/" "$work/out")" -gt "$(grep -vc "models/" "$work/help")" ] ||
  fail "the help is not as wide as the terminal"
COLUMNS=60 status 0 help recommend
[ "$(sed '/^example/,$d' "$work/out" | wc -L)" -le 60 ] || fail "a line of the help is wider than 60 columns"
status 0 help
has "recommend"
status 2 help rnu
says "unknown verb 'rnu'; did you mean 'run'\?"
status 2 help run eval
status 2 help --completion tcsh
says "there are: bash, zsh, fish"

# manual page and completion name every verb and every option
status 0 help --man
cp "$work/out" "$work/sarrus.1"
if command -v groff > /dev/null; then
  [ -z "$(groff -man -ww -Tascii "$work/sarrus.1" 2>&1 > /dev/null)" ] || fail "the manual page has errors"
fi
for shell in bash zsh fish; do
  status 0 help --completion $shell
  cp "$work/out" "$work/complete.$shell"
done
for verb in check eval run kinematics equilibrium inverse partition sweep compare recommend view plot laws contact convert init; do
  status 0 $verb --help
  for option in $(sed -n 's/^  \(--[a-z-]*\).*/\1/p' "$work/out"); do
    [ "$option" = --help ] && continue
    grep -qF -- "${option//-/\\-}" "$work/sarrus.1" || fail "the manual page lacks $option of $verb"
    grep -E "^ +$verb\\)" "$work/complete.bash" | grep -qF -- "$option" || fail "bash: $option of $verb is missing"
    grep -E "^ +$verb\\)" "$work/complete.zsh" | grep -qF -- "'$option:" || fail "zsh: $option of $verb is missing"
    grep -F "from $verb'" "$work/complete.fish" | grep -qF -- "-l ${option#--} " || fail "fish: $option of $verb is missing"
  done
done
completed=$(bash -c '. "$1"; COMP_WORDS=(sarrus run --t-); COMP_CWORD=2; _sarrus; echo "${COMPREPLY[*]}"' - "$work/complete.bash")
[ "$completed" = "--t-end" ] || fail "bash completes --t- to '$completed'"
completed=$(bash -c '. "$1"; COMP_WORDS=(sarrus rec); COMP_CWORD=1; _sarrus; echo "${COMPREPLY[*]}"' - "$work/complete.bash")
[ "$completed" = "recommend" ] || fail "bash completes rec to '$completed'"

# the report of a large robot fits on a screen; --verbose prints all of it
for robot in models/humanoid.xml models/robots/quadruped-stand.xml; do
  status 0 run $robot --t-end 0.02
  [ "$(wc -l < "$work/out")" -le 30 ] || fail "the report on $robot has $(wc -l < "$work/out") lines"
  has "--verbose prints them"
  status 0 run $robot --t-end 0.02 --verbose
  [ "$(wc -l < "$work/out")" -gt 60 ] || fail "--verbose prints $(wc -l < "$work/out") lines on $robot"
done

# --quiet: errors and warnings alone
status 0 run models/double-pendulum.xml --t-end 0.1 --quiet --out "$work/quiet.csv"
[ ! -s "$work/out" ] && [ ! -s "$work/err" ] && [ -s "$work/quiet.csv" ] || fail "--quiet prints, or writes no result"
status 0 run models/double-pendulum.xml --t-end 0.1 --quiet --json
valid
status 2 check no-such-file.xml --quiet
says "no-such-file.xml"
status 2
status 2 rnu models/pendulum.xml
says "unknown verb 'rnu'; did you mean 'run'\?"
status 2 run models/pendulum.xml --t-ned 3
says "unknown option '--t-ned'; did you mean '--t-end'\?"
status 2 run models/pendulum.xml --t-end
says "--t-end needs a value"
status 2 run models/pendulum.xml --t-end soon
says "expects a number, not 'soon'"
status 2 run models/pendulum.xml --t-end nan
status 2 run
says "needs an argument"
status 2 check ""
says "sarrus: error: the argument is empty"
status 2 run models/pendulum.xml --out ""
says "--out has an empty value, expected FILE"
status 2 check models/pendulum.xml models/top.xml
says "one argument too many"

# -------------------------------------------------------------------------------------------------------------- check
for model in models/*.xml models/paper1/*.xml; do
  status 0 check "$model" --json
  keys name nbody njoint inbody nq nv nconstraint rank dof driven redundant contacts warnings joints
  [ -s "$work/err" ] && fail "$model: $(head -n 1 "$work/err")"
  status 0 check "$model"
done
status 0 check models/double-pendulum.xml --json
has '"inbody": [0, 1]'
has '{"name": "q2", "type": "revolute", "q": [1, 1], "v": [1, 1]}'
status 0 check models/chain-planar.xml --set N=7 --json
has '"nbody": 7'
status 2 check models/pendulum.xml --set length=2
says "length"
status 2 check models/pendulum.xml --set l
says "NAME=VALUE"
status 2 check "$work/none.xml"
says "none.xml"
status 2 check "$work/none.xml" --json
keys errors

cat > "$work/bad.xml" << 'END'
<sarrus version="1" name="bad">
  <body name="a">
    <joint type="revolut"/>
    <inertial mass="1" centre="0 0 1"/>
  </body>
</sarrus>
END
status 2 check "$work/bad.xml"
says "bad.xml:3:[0-9]+: error: .*revolut"
says "bad.xml:4:[0-9]+: error: .*centre"
status 2 run "$work/bad.xml" --json
keys errors
has "bad.xml:3:"

# Levels: warnings of one kind once with their number, notes in one line; --verbose and --json give all, errors always stand
# one by one.
cat > "$work/levels.xml" << 'END'
<mujoco>
  <option density="1.2" integrator="RK4"/>
  <asset><texture type="2d"/></asset>
  <worldbody>
    <light/>
    <body name="a"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>
    <body name="b"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>
    <body name="c"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/></body>
  </worldbody>
</mujoco>
END
for verb in check eval "run --t-end 0.01" "convert --to sarrus"; do
  status 0 $verb "$work/levels.xml"
  [ "$(grep -c . "$work/err")" = 3 ] || fail "$verb: three lines expected: $(cat "$work/err")"
  says "levels.xml:2:11: warning: 'density' of <option> is not used$"
  says "levels.xml:6:[0-9]+: warning: .*'a'.* \.\.\. and 2 more like this; --verbose lists them$"
  says "^sarrus: note: 3 notes on what does not change the motion; --verbose lists them$"
  status 0 $verb "$work/levels.xml" --verbose
  [ "$(grep -c . "$work/err")" = 7 ] || fail "$verb --verbose: seven lines expected: $(cat "$work/err")"
  says "levels.xml:7:[0-9]+: warning: .*'b'"
  says "levels.xml:8:[0-9]+: warning: .*'c'"
  says "levels.xml:2:25: note: 'integrator' of <option> is not used"
  says "levels.xml:3:10: note: <texture> is not used"
  says "levels.xml:5:5: note: <light> is not used"
done
status 0 check "$work/levels.xml" --json
keys warnings notes
python3 - "$work/out" << 'END' || fail "warnings and notes of --json: $(cat "$work/out")"
import json, sys
said = json.load(open(sys.argv[1]))
assert len(said["warnings"]) == 4 and len(said["notes"]) == 3, said
assert all(": warning: " in x for x in said["warnings"]) and all(": note: " in x for x in said["notes"]), said
END
sed -i 's/diaginertia="1 1 3"/diaginertia="1 1"/' "$work/levels.xml"
status 2 check "$work/levels.xml"
for line in 6 7 8; do says "levels.xml:$line:[0-9]+: error: 'diaginertia' takes 3 numbers"; done

# --------------------------------------------------------------------------------------------------------- kinematics
kinematics_keys="t q v a drivers held singular sensors violation steps seconds joints"
for formulation in relative absolute; do
  status 0 kinematics models/mechanisms/jansen-leg.xml --t-end 0.5 --formulation $formulation --json
  keys $kinematics_keys
done
status 0 kinematics models/mechanisms/jansen-leg.xml --t-end 0.5 --every 0.1 --out "$work/leg.csv"
[ "$(grep -vc '^#' "$work/leg.csv")" -eq 7 ] || fail "kinematics wrote $(grep -vc '^#' "$work/leg.csv") lines, expected a header and 6 rows"
status 2 kinematics models/mechanisms/rolling-disc.xml
says "holds for velocities alone"
status 0 kinematics models/double-pendulum.xml --t-end 1
says "2 coordinates that no driver moves are held"

# -------------------------------------------------------------------------------------------------------- equilibrium
for formulation in relative absolute; do
  status 0 equilibrium models/mechanisms/five-rod-suspension.xml --formulation $formulation --json
  keys q v y lambda exchanged nonsensitive residual iterations stability stable joints
  has '"stability": "stable"'
done
for formulation in relative absolute; do
  status 0 equilibrium models/mechanisms/five-rod-suspension.xml --q 0.02,0,0,0,0.76,0.31,1,0,0,0 --exchange chassis=rest --formulation $formulation --json
  has '"exchanged": {"rest": 0.6743'
  status 0 equilibrium models/dc-motor.xml --exchange 'shaft=v(shaft)' --formulation $formulation --json
  has '"v(shaft)": 294.4785276073'  # kt u/(d R + kt^2)
done
status 2 equilibrium models/mechanisms/five-rod-suspension.xml --q 0.02,0,0,0,0.76,0.31,1,0,0,0 --exchange chassis=rest --formulation penalty
says "for --formulation relative and absolute"
status 0 equilibrium models/mechanisms/double-wishbone.xml --equation 'sensor(steer) = 0.01' --unknown tie
has "found: tie = "
status 2 equilibrium models/mechanisms/double-wishbone.xml --unknown tie
status 2 equilibrium models/dc-motor.xml --speed shaft=x
status 2 equilibrium models/dc-motor.xml --exchange shaft=voltage
status 1 equilibrium models/dc-motor.xml --speed shaft=200
says "the force on 'shaft' stays at"
status 0 modes models/dc-motor.xml --at equilibrium --speed shaft=200 --exchange shaft=u
status 2 modes models/dc-motor.xml --speed shaft=200
says "for --at equilibrium"
status 0 run models/dc-motor.xml --start equilibrium --speed shaft=200 --exchange shaft=u --t-end 0.1 --json
has '"v": [200'
status 1 equilibrium models/robots/arm-six.urdf --base floating
says "no equilibrium was found"
status 0 modes models/mechanisms/five-rod-suspension.xml --at equilibrium
status 0 run models/mechanisms/five-rod-suspension.xml --start equilibrium --t-end 0.1

# ---------------------------------------------------------------------------------------------------------- partition
partition_keys="independent dependent driven rank redundant trivial condition dof_position dof_velocity joints"
for formulation in relative absolute; do
  status 0 partition models/benchmark/bricard.xml --formulation $formulation --json
  keys $partition_keys
  has '"dof_velocity": 1'
done
status 0 partition models/paper2/slider-crank.xml --independent crank --pivoting column
has "  crank"
status 2 partition models/paper2/slider-crank.xml --independent crank,rod
says "2 coordinates are to be independent"
status 2 partition models/paper2/slider-crank.xml --independent wheel
says "no joint or coordinate 'wheel'"

# --------------------------------------------------------------------------------------------------------------- eval
eval_keys="t q v M c f a lambda g gv energy sensors joints"

# M a + c = f + G^T lambda in the numbers that were printed
equation() {
  awk '
    function list(line, x,   n, i, part) {  # all numbers of a line into x, returns how many
      sub(/^[^:]*: /, "", line); gsub(/[][]/, "", line); sub(/,$/, "", line)
      n = split(line, part, /, */)
      for (i = 1; i <= n; i++) x[i] = part[i] + 0
      return line == "" ? 0 : n
    }
    /^  "M": / { list($0, M) }      /^  "c": / { nv = list($0, c) }     /^  "f": / { list($0, f) }
    /^  "a": / { list($0, a) }      /^  "G": / { list($0, G) }          /^  "lambda": / { ng = list($0, l) }
    function abs(x) { return x < 0 ? -x : x }
    END {
      for (i = 1; i <= nv; i++) {
        r = c[i] - f[i]; s = abs(c[i]) + abs(f[i]) + 1e-300
        for (j = 1; j <= nv; j++) { r += M[(i - 1) * nv + j] * a[j]; s += abs(M[(i - 1) * nv + j] * a[j]) }
        for (k = 1; k <= ng; k++) r -= G[(k - 1) * nv + i] * l[k]
        if (abs(r) > worst) worst = abs(r)
        if (s > scale) scale = s
      }
      exit !(nv > 0 && worst <= 1e-12 * scale)
    }' "$work/out" || fail "M a + c = f + G^T lambda does not hold for $*"
}

for model in models/*.xml models/paper1/*.xml; do
  for bare in "" --bare; do
    status 0 eval "$model" --json $bare
    keys $eval_keys
    equation "$model" $bare
  done
  status 0 eval "$model"
done
status 0 eval models/double-pendulum.xml --q 0.3,-0.1 --v 0,1 --tau=1,-2 --t 0.5 --json
equation "double pendulum with tau"
has '"t": 0.5'
has '"q": [0.29999999999999999, -0.10000000000000001]'
has '"jacobian": [['
cp "$work/out" "$work/state.json"
status 0 eval models/double-pendulum.xml --state "$work/state.json" --tau 1,-2 --json
cmp -s "$work/out" "$work/state.json" || fail "eval --state of its own output gives something else"
status 2 eval models/double-pendulum.xml --q 1
says "q has 1 number, expected 2: q1, q2"
status 2 eval models/double-pendulum.xml --v 1,x
says "number 2"
echo '{"t": 1, "q": [1, "two"]}' > "$work/bad.json"
status 2 eval models/double-pendulum.xml --state "$work/bad.json"
says "bad.json:1:[0-9]+: error: expected a number"
echo '{"note": [1, {"a": null}]}' > "$work/bad.json"
status 2 eval models/double-pendulum.xml --state "$work/bad.json"
says "none of the keys"
status 2 eval models/double-pendulum.xml --state "$work/none.json"
status 0 eval models/top.xml --q 2,0,0,0 --json
says "quaternion of joint 'top' has length 2"
has '"q": [1, 0, 0, 0]'
status 2 eval models/top.xml --q 0,0,0,0
says "is zero"

cat > "$work/driven.xml" << 'END'
<sarrus version="1" name="driven">
  <body name="cart">
    <joint name="x" type="prismatic" axis="1 0 0" damping="0.3"/>
    <inertial mass="2" inertia="1 1 1"/>
  </body>
  <body name="arm" parent="cart">
    <joint name="phi" type="revolute" axis="0 1 0" q="0.4" armature="0.1"/>
    <inertial mass="1" com="0 0 -0.5" inertia="0.1 0.1 0.1"/>
  </body>
  <driver joint="x" motion="0.2*sin(3*t)"/>
  <run t-end="1"/>
</sarrus>
END
status 0 eval "$work/driven.xml" --q 0.1,0.2 --v 0.3,0.4 --t 0.7 --json
equation "driven cart"
has '"G": [[1, 0]]'
says "the position of 'x' is given as 0.1, and its driver has 0.172641873 m at t = 0.7 s"
status 0 eval "$work/driven.xml" --t 0.7 --json  # 0.2 sin(2.1), 0.6 cos(2.1)
has '"q": [0.17264187332977'
has '"v": [-0.3029076627599'
echo '{"t": 0.7}' > "$work/time.json"
status 0 eval "$work/driven.xml" --state "$work/time.json" --json
has '"q": [0.17264187332977'
status 0 run "$work/driven.xml" --t 0.7 --t-end 0.7 --json
has '"q": [0.17264187332977'
sed 's/0.2\*sin(3\*t)/sqrt(t)/' "$work/driven.xml" > "$work/pole.xml"
status 1 eval "$work/pole.xml" --json
says "the motion of driver 'x' or a derivative of it is infinite at t = 0"
status 0 check "$work/driven.xml" --json
has '"dof": 1'
has '"driven": 1'

# ---------------------------------------------------------------------------------------------------------------- run
run_keys="method formulation contact t q v sensors steps rejected evaluations events violation energy seconds joints"
status 0 run models/pendulum.xml --t-end 0.35 --every 0.1 --out "$work/p.csv" --json
keys $run_keys
has '"t": 0.34999999999999998'
has '"method": "auto"'
has '"work": {'
[ -s "$work/err" ] && fail "run is not silent on standard error: $(head -n 1 "$work/err")"
head -n 1 "$work/p.csv" | grep -q '^# sarrus [0-9.]*; model pendulum (models/pendulum.xml); auto; ' ||
  fail "provenance: $(head -n 1 "$work/p.csv")"
sed -n 2p "$work/p.csv" | grep -q '^"\?t \[s\]' || fail "header: $(sed -n 2p "$work/p.csv")"
times=$(sed 1,2d "$work/p.csv" | cut -d, -f1 | awk '{ printf "%.15g ", $1 }')
[ "$times" = "0 0.1 0.2 0.3 0.35 " ] || fail "times of the rows: $times"
columns=$(sed 1d "$work/p.csv" | awk -F, '{ print NF }' | sort -u | wc -l)
[ "$columns" -eq 1 ] || fail "rows of different lengths"
cp "$work/p.csv" "$work/p1.csv"
status 0 run models/pendulum.xml --t-end 0.35 --every 0.1 --out "$work/p.csv"
cmp -s "$work/p.csv" "$work/p1.csv" || fail "the same run gives other bytes"
has "energy"
has "residual"
has "p.csv"
# columns on request
status 0 run models/pendulum.xml --t-end 0.1 --every 0.1 --record 'reaction(theta in ground).f*' --record a.theta --out "$work/r.csv"
sed -n 2p "$work/r.csv" | grep -qF ',reaction(theta in ground).fz [N],reaction(theta in ground).f [N],a.theta [rad/s^2]' ||
  fail "columns of --record: $(sed -n 2p "$work/r.csv")"
status 0 plot "$work/r.csv" --y 'reaction(*' --out "$work/r.svg"
has "reaction(theta in ground).fx, reaction(theta in ground).fy"
status 0 run models/pendulum.xml --record list
has "reaction(theta). fx fy fz f [N] tx ty tz t [Nm]"
status 0 run models/pendulum.xml --record list --formulation absolute --json
valid
has '"name": "lambda.theta.0", "unit": "N"'
status 2 run models/pendulum.xml --record 'reaction(tetha).f' --out "$work/r.csv"
says "did you mean 'reaction\(theta\)'\?"
status 0 run models/pendulum.xml --t-end 0.1 --record a.theta
says "there is none: give --out FILE"
for method in euler rk4; do
  status 0 run models/pendulum.xml --t-end 0.01 --method $method --step 0.001 --json
  has "\"method\": \"$method\""
  has '"steps": 10,'
done
status 0 run models/pendulum.xml --t-end 1 --json
cp "$work/out" "$work/state.json"
status 0 run models/pendulum.xml --t-end 2 --state "$work/state.json" --json
has '"t": 2,'
status 0 run "$work/driven.xml" --json
keys $run_keys
status 0 run models/pendulum.xml --t-end 0.1 --step 1e-3
says "warning: --step"
# the members of an event are part of the contract
cat > "$work/event.xml" << 'END'
<sarrus version="1" name="fall">
  <body name="b"><joint name="x" type="prismatic" axis="0 0 1" q="1"/><inertial mass="1"/></body>
  <event name="floor" when="q(x)" direction="falling" do="v(x) = -0.5*v(x)"/>
</sarrus>
END
status 0 run "$work/event.xml" --t-end 0.5 --json
valid
grep -A7 '"events"' "$work/out" | tr -d '\n ' | grep -qE '"t":[0-9.e-]+,"kind":"event","a":"floor","b":[^,]*,"why":"' || fail "the members of an event: $(grep -A7 '"events"' "$work/out" | head -c 300)"
# rules of the step
for method in dopri5 mdop5 hem5 phem56; do
  status 0 run models/paper2/slider-crank.xml --t-end 0.1 --method $method --control fixed --step 1e-3 --json
  has '"control": "fixed"'
  has '"steps": 100,'
  [ -s "$work/err" ] && fail "a warning of --control fixed with $method: $(head -n 1 "$work/err")"
  status 0 run models/paper2/slider-crank.xml --t-end 0.1 --method $method --control positions --json
  has '"control": "positions"'
done
status 0 run models/pendulum.xml --t-end 0.1 --control positions
has "rtol 0.0001, atol 0.0001, control positions"
status 0 run models/pendulum.xml --t-end 0.1 --control positions --rtol 1e-5
has "rtol 1e-05, atol 0.0001, control positions"
status 0 run models/pendulum.xml --t-end 0.1 --json
grep -q '"control"' "$work/out" && fail "the default step-size rule is reported"
sed 's/<run [^>]*>/<run t-end="0.1" control="positions" atol="1e-6"\/>/' models/pendulum.xml > "$work/ruled.xml"
status 0 run "$work/ruled.xml"
has "rtol 0.0001, atol 1e-06, control positions"
sed 's/<run [^>]*>/<run rho="1.2"\/>/' models/pendulum.xml > "$work/ruled.xml"
status 2 run "$work/ruled.xml"
says "'rho' must be from 0 to 1, got 1.2"
sed 's/<run [^>]*>/<run theta="0.4"\/>/' models/pendulum.xml > "$work/ruled.xml"
status 2 check "$work/ruled.xml"
says "'theta' must be from 0.5 to 1, got 0.4"
status 0 run models/pendulum.xml --t-end 0.1 --method rk4 --control positions
says "warning: --control is for adaptive methods; rk4 has a fixed step"
status 0 run models/pendulum.xml --t-end 0.1 --rho 0.5
says "warning: --rho and --family are for the genalpha methods; auto"
status 0 run models/pendulum.xml --method dopri5 --t-end 0.1 --tangent exact
says "warning: --tangent is for implicit methods; dopri5"
status 0 run models/pendulum.xml --t-end 0.1 --control fixed
says "auto switches between methods only under the default rule of the step"
status 0 run models/pendulum.xml --method dopri5 --t-end 0.1 --control fixed --rtol 1e-3
says "warning: --rtol and --atol are for adaptive methods; dopri5 has a fixed step of 0.001 s"
status 2 run models/pendulum.xml --control fixd
says "did you mean 'fixed'\? There are: default, positions, fixed"
status 2 run models/pendulum.xml --contact timestepping --theta 0.4
says "\-\-theta must be from 0.5 to 1, not 0.4"
status 0 run models/pendulum.xml --t-end 0.1 --theta 0.5
says "warning: --theta is for the methods moreau and moreau-compliant; auto has no such parameter"
status 2 run models/pendulum.xml --rho 1.1
says "sarrus: error: --rho must be from 0 to 1, not 1.1"
cat > "$work/singular.xml" << 'END'
<sarrus version="1"><body name="bob"><joint name="hook" type="ball"/><inertial mass="1" com="0 0 -1"/></body></sarrus>
END
status 0 check "$work/singular.xml"
says "warning: no accelerations at the initial state: the mass matrix is singular at joint 'hook' of body 'bob'"
status 1 run "$work/singular.xml"
says "joint 'hook' of body 'bob'"
status 2 run models/pendulum.xml --method dopri
says "did you mean 'dopri5'\? There are: auto, euler, rk4, dopri5, mdop5, hem5"
status 2 run models/pendulum.xml --method moreau
says "contact timestepping"
status 2 run models/contact/bouncing-ball.xml --contact timestepping --method dopri5
says "solved by the method moreau"
status 0 run models/pendulum.xml --formulation absolute --t-end 0.1 --json
keys method formulation t q v bodies lambda joints
status 0 eval models/pendulum.xml --formulation absolute --json
keys formulation q v a bodies lambda reactions
status 0 check models/pendulum.xml --formulation absolute --json
keys formulation dof rank rows
grep -q '"dof": 1' "$work/out" || fail "a pendulum of free bodies has one freedom: $(head -c 300 "$work/out")"
status 2 run models/pendulum.xml --formulation penalty
says "models/pendulum.xml:[0-9]*:[0-9]*: error: body 'rod' has no moment of inertia"
status 2 eval models/pendulum.xml --bare --formulation absolute
says "no formulation but the relative one"
status 2 run models/pendulum.xml --contact events
says "unknown word 'events'"
status 2 run models/contact/bouncing-ball.xml --contact event --method moreau
says "moreau"
status 0 run models/contact/bouncing-ball.xml --contact continuous --impact stronge --t-end 0.1
says "warning: --impact, --impact-friction and --impact-order are for --contact event and hybrid"
status 2 run models/contact/bouncing-ball.xml --contact event --impact stronger
says "unknown word 'stronger'; did you mean 'stronge'\? There are: auto, newton, poisson, stronge"
status 2 run models/contact/bouncing-ball.xml --contact event --impact stronge --impact-friction algebraic
says "take impact-friction shock with impact stronge"
status 2 run models/contact/bouncing-ball.xml --contact event --impact-friction shock --impact-order simultaneous
says "law of one contact at a time: take impact-order sequential"
status 2 run models/contact/bouncing-ball.xml --contact timestepping --impact poisson
says "contact timestepping has Newton's law of restitution"
status 2 run models/contact/bouncing-ball.xml --contact timestepping --impact-order sequential
says "take contact event for other laws of impact"
status 0 run models/contact/bouncing-ball.xml --contact timestepping --impact newton --json
grep -q '"impact": {"law": "newton", "friction": "algebraic", "order": "simultaneous"}' "$work/out" || fail "the law of time-stepping"
status 0 run models/contact/bouncing-ball.xml --contact event --impact stronge --json
grep -q '"impact": {"law": "stronge", "friction": "shock", "order": "sequential", "newton": 0, "poisson": 0, "stronge": [1-9]' "$work/out" || fail "the law of the impacts"
status 2 run models/pendulum.xml --stabilization foo
says "unknown word 'foo'; there are: none, baumgarte, projection, partition, augmented"
status 2 run models/pendulum.xml --stabilization projektion
says "did you mean 'projection'\? There are: none, "
status 2 run models/pendulum.xml --metric foo
says "unknown word 'foo'; there are: mass, identity"
status 2 run models/pendulum.xml --formulation relativ
says "did you mean 'relative'"
status 2 run models/pendulum.xml --step -1 --method rk4
says "greater than zero"
status 2 run models/pendulum.xml --step 1e-300 --method rk4
says "sarrus: error: step = 1e-300 s is too small"
status 2 run models/pendulum.xml --every 1e-300 --out "$work/p.csv"
says "sarrus: error: every = 1e-300 s is too small"
status 0 run models/pendulum.xml --t-end 1e-9 --rtol 1e-20 --atol 0
says "warning: rtol 1e-20 and atol 0 are below"
status 2 run models/pendulum.xml --rtol 0 --atol 0 --json
says "sarrus: error: .*rtol = 0"
keys errors
status 2 --json
keys errors
echo '{"tau": [3]}' > "$work/tau.json"
status 0 run models/pendulum.xml --t-end 0.1 --state "$work/tau.json" --json
grep -qE '"work": \{"applied": -?[0-9.]*[1-9]' "$work/out" || fail "tau of a state file does no work"
# Ctrl-C: what there is, and status 1; also while the rows of a single step are written
for times in "1e5 --every 0.01" "0.9 --every 1e-9"; do
  timeout --foreground -s INT 1 "$sarrus" run models/pendulum.xml --t-end $times --out /dev/null --json \
    > "$work/out" 2> "$work/err"
  keys $run_keys error_message
  says "stopped by the user"
done
# a bar on a terminal (script makes one, where the system has any to give), and none elsewhere
if script -qec true /dev/null > /dev/null 2>&1; then
  script -qec "timeout --foreground -s INT 1 $sarrus run models/pendulum.xml --t-end 1e6" /dev/null \
    < /dev/null > "$work/out" 2>&1
  grep -q '\[[#.]*\] .* t = .* of 1e+06 s' "$work/out" || fail "no progress bar: $(head -c 200 "$work/out")"
fi
if [ -e /dev/full ]; then
  status 1 run models/pendulum.xml --out /dev/full --json
  keys $run_keys error_message
  says "could not be written"
fi
status 2 run models/pendulum.xml --t-end 0.1 --out models/pendulum.xml/p.csv
says "pendulum.xml/p.csv: error: cannot be written: Not a directory"

cat > "$work/blowup.xml" << 'END'
<sarrus version="1" name="blowup">
  <body name="mass">
    <joint name="x" type="prismatic" axis="1 0 0" q="1"/>
    <inertial mass="1"/>
  </body>
  <torque name="runaway" joint="x" law="q(x)^3 * exp(q(x))"/>
  <run t-end="100" every="0.05"/>
</sarrus>
END
status 1 run "$work/blowup.xml" --out "$work/b.csv" --json
keys $run_keys error_message
says "x|runaway"
[ "$(wc -l < "$work/b.csv")" -gt 5 ] || fail "the rows before the failure were not kept"
status 1 run "$work/blowup.xml"
has "STOPPED EARLY"

# the help and the page name every method
COLUMNS=500 status 0 run --help
methods=$(sed -n 's/^ *--method NAME *integrator: //p' "$work/out" | tr -d ',')
[ "$(wc -w <<< "$methods")" -ge 5 ] || fail "the help names the methods '$methods'"
for method in $methods; do
  rigid=() && [ "$method" != moreau ] || rigid=(--contact timestepping)
  status 0 run models/mechanisms/four-bar.xml --t-end 0.01 --method "$method" "${rigid[@]}"
  grep -E '^\| `--method`' docs/using/cli.md | grep -qF "\`$method\`" || fail "docs/using/cli.md does not name the method $method"
done

# ---------------------------------------------------------------------------------------------------------- run: starts
status 2 run models/double-pendulum.xml --q 1
says "q has 1 number, expected 2: q1, q2"
status 2 run models/double-pendulum.xml --v 1,2,3
says "v has 3 numbers, expected 2"
status 0 run models/double-pendulum.xml --q 0.3,-0.1 --v 0,1 --t-end 0 --json
has '"q": [0.29999999999999999, -0.1'
has '"v": [0, 1]'
status 0 run models/mechanisms/four-bar.xml --q 1,0,0 --t-end 0 --json  # assembled as any start
says "the assembly has changed the positions"
cat > "$work/leg.xml" << 'END'
<sarrus version="1" name="leg">
  <body name="a">
    <joint name="knee" type="revolute" axis="0 1 0" limits="-2.7 -0.9"/>
    <inertial mass="1" com="0 0 -0.2" inertia="0.1 0.1 0.1"/>
  </body>
</sarrus>
END
status 0 run "$work/leg.xml" --t-end 0.01 --json
says "outside of the limits of 1 joint, and the stops push at once: 'knee' at 0 rad \(-2.7 to -0.9\); --start inside-limits"
[ "$(grep -c "outside of the limits" "$work/err")" -eq 1 ] || fail "a start outside of limits is said more than once"
cp "$work/out" "$work/end.json"
status 0 run "$work/leg.xml" --state "$work/end.json" --t-end 0.02 --json  # it goes on
[ -s "$work/err" ] && fail "a run that goes on warns of its start: $(cat "$work/err")"
status 0 check "$work/leg.xml"
says "'knee' at 0 rad"
status 0 run "$work/leg.xml" --start inside-limits --t-end 0 --json
says "note: the start is moved inside of the limits of 1 joint: 'knee' to -0.9 rad"
has '"start": "inside-limits"'
has '"q": [-0.9'
status 0 run "$work/leg.xml" --start inside-limits --formulation absolute --t-end 0 --json
has '"q": [-0.9'
status 2 run "$work/leg.xml" --start inside --json
says "unknown word 'inside'"
cat > "$work/sunk.xml" << 'END'
<sarrus version="1" name="sunk">
  <ground><shape name="floor" type="plane"/></ground>
  <body name="ball"><joint name="z" type="prismatic" axis="0 0 1" q="0.04"/><inertial mass="1"/><shape name="skin" type="sphere" size="0.1"/></body>
  <contact a="floor" b="skin" normal="kelvin-voigt" K="1e4" D="10" friction="none"/>
</sarrus>
END
status 0 check "$work/sunk.xml" --json
says "1 pair of shapes overlaps at the start, and the contacts push at once: 'ground/floor' and 'ball/skin' by 0.06 m; --start apart"
has '"overlaps": [{"a": "ground/floor", "b": "ball/skin", "depth": 0.06'
status 0 run "$work/sunk.xml" --t-end 0.01 --json
says "overlaps at the start"
status 0 run "$work/sunk.xml" --start apart --t-end 0 --json
says "note: the start is moved by the least motion that ends 1 overlap of shapes \(m, rad\): z by 0.06"
has '"start": "apart"'
has '"q": [0.0999999999999'

# ------------------------------------------------------------------------------------------------------- closed loops
four_bar="run models/mechanisms/four-bar.xml --t-end 0.05"
status 0 $four_bar --json
keys $run_keys stabilization rank assembly
has '"stabilization": "own"'
status 0 $four_bar --method dopri5 --json
has '"stabilization": "projection"'
has '"moved": [], "moved_velocity": []}'
[ -s "$work/err" ] && fail "run of a loop is not silent on standard error: $(head -n 1 "$work/err")"
# options without effect are reported, others are not
for method in mdop5 hem5 phem56; do
  status 0 $four_bar --method $method --stabilization baumgarte --json
  says "warning: --stabilization baumgarte is for explicit methods; $method keeps"
  has '"stabilization": "own"'
  status 0 $four_bar --method $method --stabilization none --json
  has '"stabilization": "none"'
  status 0 $four_bar --method $method --alpha 3
  says "warning: --alpha and --beta are for --stabilization baumgarte and augmented; this run has $method"
  status 0 $four_bar --method $method --metric identity
  [ -s "$work/err" ] && fail "a warning of --metric with $method: $(head -n 1 "$work/err")"
done
status 0 $four_bar --method dopri5 --beta 3
says "warning: --alpha and --beta .* this run has projection"
for word in none baumgarte partition augmented; do
  status 0 $four_bar --method dopri5 --stabilization $word --metric identity
  says "warning: --metric is for projections; this run has --stabilization $word"
done
for word in baumgarte augmented; do
  status 0 $four_bar --stabilization $word --alpha 3 --beta 3
  [ -s "$work/err" ] && fail "a warning of --alpha with $word: $(head -n 1 "$work/err")"
done
status 0 $four_bar --metric identity
[ -s "$work/err" ] && fail "a warning of --metric with projection: $(head -n 1 "$work/err")"
# auto says when it changed its method and why; dopri5 by name says that it crawls.
# (A motor of small inductance is stiff from its start to its end: one change.)
status 0 run models/dc-motor.xml --set L=1e-6 --t-end 0.05 --json
has '"method": "auto"'
has '"switches": '
has '"from": "dopri5"'
has '"to": "radau5"'
has '"switch_count": 1'
status 0 run models/dc-motor.xml --set L=1e-6 --method dopri5 --t-end 0.05
says "warning: the motion is stiff for dopri5 from t = .* s on: .* try method auto or radau5"
# an energy balance that does not close is reported
status 0 run models/double-pendulum.xml --method dopri5 --rtol 0.05 --atol 0.05
says "warning: the energy balance misses .* take a smaller rtol and atol"
status 0 run models/pendulum.xml --t-end 0.1 --stabilization baumgarte
says "warning: --stabilization.* are for closed loops"
# what the assembly has changed: positions and velocities, in the JSON and in the table
sed 's/v="w3 - speed"/v="w3"/; s/q="a3 - start"/q="a3 - start + 0.1"/' models/mechanisms/four-bar.xml > "$work/open.xml"
for verb in "check" "run --t-end 0.05" "run --t-end 0.05 --formulation absolute"; do
  status 0 $verb "$work/open.xml" --json
  valid
  has '"moved": [{"q": "crank", "by": -'
  has '"moved_velocity": [{"v": "crank", "by": -'
  status 0 $verb "$work/open.xml"
  has "position crank changed by -"
  has "velocity crank changed by -"
done

# ------------------------------------------------------------------------------------------------------- locked loops
# A parallelogram whose first axis is turned by the rounding of 1.5708.
cat > "$work/locked.xml" << 'EOF'
<sarrus version="1">
  <parameter name="off" value="1.5708 - pi/2"/>
  <body name="a"><joint type="revolute" axis="0 cos(off) sin(off)"/><inertial mass="1" com="0 0 -0.5" inertia="1 1 1"/></body>
  <body name="b" parent="a"><joint type="revolute" axis="0 1 0" at="0 0 -1"/><inertial mass="1" com="0.5 0 0" inertia="1 1 1"/>
    <point name="end" at="1 0 0"/></body>
  <body name="c"><joint type="revolute" axis="0 1 0" at="1 0 0"/><inertial mass="1" com="0 0 -0.5" inertia="1 1 1"/>
    <point name="end" at="0 0 -1"/></body>
  <closure name="pin" type="revolute" a="b/end" b="c/end" axis="0 1 0" tolerance="1e-4"/>
</sarrus>
EOF
status 0 check "$work/locked.xml"
says "nothing can move"
says "closure pin, .* is nearly redundant"
status 0 run "$work/locked.xml" --t-end 0.01
says "nothing can move"
status 0 check "$work/locked.xml" --set off=0
grep -q "nothing can move\|nearly" "$work/err" && fail "an exact parallelogram is warned of: $(cat "$work/err")"

# ----------------------------------------------------------------------------------------- joints that move nothing
cat > "$work/massless.urdf" << 'EOF'
<robot name="r"><link name="base"/>
<link name="arm"><inertial><mass value="1"/><origin xyz="0 0 -1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="one"/><link name="two"/>
<joint name="a" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
<joint name="b" type="continuous"><parent link="arm"/><child link="one"/><axis xyz="0 1 0"/></joint>
<joint name="c" type="continuous"><parent link="arm"/><child link="two"/><axis xyz="0 1 0"/><mimic joint="b" multiplier="-1"/></joint>
</robot>
EOF
status 0 check "$work/massless.urdf" --json
has '"massless": ["b", "c"]'
says "moves with joint 'b', 'c': no acceleration .* --lock-massless"
status 0 eval "$work/massless.urdf" --json
valid
has ', null, null],'
has '0, 0], [0, 0, 0], [0, 0, 0]]'
status 0 eval "$work/massless.urdf" --bare --json
has '"a": [null, null, null]'
for verb in run recommend compare; do
  status 2 $verb "$work/massless.urdf"
  says "error: .*--lock-massless"
done
status 0 run "$work/massless.urdf" --lock-massless --t-end 0.01
says "joint 'b' is held at 0 rad"
status 0 eval "$work/massless.urdf" --lock-massless --json
grep -q null "$work/out" && fail "a locked model has accelerations that are null"

# --------------------------------------------------------------------------------------------------------------- init
status 0 init "$work/project"
make -s -C "$work/project" SARRUS_INCLUDE="$include" > "$work/log" 2>&1 ||
  fail "the template does not build: $(cat "$work/log")"
status 0 run "$work/project/model.xml" --plugins --json
keys $run_keys
status 0 eval "$work/project/model.xml" --plugins --json
equation "template"
status 2 init "$work/project"
says "not empty"
status 2 init "$work/none/project"

[ $bad -eq 0 ] && echo "ok cli"
exit $bad
