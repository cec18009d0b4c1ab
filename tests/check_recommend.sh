#!/usr/bin/env bash
# sarrus recommend: what it measures and chooses on models whose answer is known, its JSON, its exit statuses. It is given far
# more time than the trials need that may win, so that all of them run to their end however slow the machine is.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-$PWD/build/test/sarrus}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
  echo "FAILED recommend: $*"
  bad=1
}

# status N ARGUMENTS...: the exit status is N; output in $work/out, $work/err
status() {
  local expected=$1 got
  shift
  "$sarrus" recommend "$@" > "$work/out" 2> "$work/err"
  got=$?
  [ $got -eq "$expected" ] || fail "sarrus recommend $*: status $got, expected $expected: $(head -c 300 "$work/err")"
}

# line KEY: that member of the JSON object
line() { grep -E "^  \"$1\": " "$work/out"; }

# has KEY PATTERN: the member matches it
has() { line "$1" | grep -qE -- "$2" || fail "expected '$2' in $(line "$1" | head -c 400)"; }

# number KEY NAME: the first number of that name in the member
number() { line "$1" | grep -oE "\"$2\": [-+0-9.e]+" | head -n 1 | sed 's/.*: //'; }

# between KEY NAME LOW HIGH
between() {
  local x
  x=$(number "$1" "$2")
  awk -v x="$x" -v low="$3" -v high="$4" 'BEGIN { exit !(x != "" && x + 0 >= low && x + 0 <= high) }' ||
    fail "$1.$2 is '$x', expected $3 .. $4"
}

implicit='(genalpha-[a-z0-9]*|radau5|cvode|ida)'
explicit='(rk4|dopri5|mdop5|hem5|phem56)'
own='(mdop5|hem5|phem56)'

# ---- a spring of 1e8 N/m with a damper on 1 kg: -2e4 and -5e3 1/s, with a pendulum that moves ------------------------
cat > "$work/stiff.xml" << 'MODEL'
<sarrus version="1" name="stiff">
  <body name="s">
    <joint name="x" type="prismatic" axis="1 0 0" q="1e-6" stiffness="1e8" damping="2.5e4"/>
    <inertial mass="1" com="0 0 0" inertia="1 1 1"/>
  </body>
  <body name="p">
    <joint name="th" type="revolute" axis="0 1 0" q="1"/>
    <inertial mass="1" com="0 0 -1" inertia="0 0 0"/>
  </body>
  <run t-end="5" rtol="1e-6" atol="1e-8"/>
</sarrus>
MODEL
status 0 "$work/stiff.xml" --seconds 20 --json
between stiffness largest 19800 20200
between stiffness re -20200 -19800
has stiffness '"stiff": true'
has stiffness '"bounded_by": "stability"'
between pilot step_over_stability 0.7 1.3
if "$sarrus" run --help | grep -qE "radau5|cvode"; then
  has recommend "\"method\": \"$implicit\""
else
  has recommend "\"method\": \"$explicit\""
fi

# ---- a pendulum: explicit, and the command that is given can be run -----------------------------------------------------
status 0 models/pendulum.xml --rtol 1e-6 --seconds 300 --json
for key in model stiffness pilot window redundancy events size trials recommend alternative seconds warnings; do
  line $key > /dev/null || fail "key '$key' is missing"
done
has stiffness '"stiff": false'
has recommend "\"method\": \"$explicit\""
# dopri5 at 1e-6 is off by 20 tolerances after 10 s: the tolerance that is named is the one that gives what is wanted.
has recommend '"rtol": 9.9999999999999995e-08'
times=$(line recommend | grep -oE '[0-9.e+-]+ times the 1e-06 that is wanted' | cut -d' ' -f1)
awk -v x="$times" 'BEGIN { exit !(x != "" && x + 0 <= 10) }' || fail "the pendulum's error is $times times what is wanted"
command=$(line recommend | grep -oE '"command": "[^"]*"' | sed 's/"command": "sarrus //; s/"$//')
# shellcheck disable=SC2086  # words of a command line
"$sarrus" $command > "$work/run" 2>&1 || fail "the command does not run: sarrus $command: $(head -c 300 "$work/run")"

# ---- closed loops: a method that keeps them, rows by name --------------------------------------------------------------
status 0 models/paper2/slider-crank.xml --rtol 1e-6 --seconds 300 --json
has stiffness '"stiff": false'
has recommend "\"method\": \"$own\""
has recommend '"stabilization": "own"'
status 0 models/benchmark/bricard.xml --rtol 1e-6 --t-end 2 --seconds 300 --json
has redundancy '"rows": 5, "rank": 4, "redundant": \["closure q5, rotation about [xyz]"\]'
has recommend "\"method\": \"$own\""
status 0 models/mechanisms/sarrus-linkage.xml --rtol 1e-5 --t-end 1 --seconds 300 --json
has redundancy '"redundant": \["closure [^"]*"'
status 0 models/mechanisms/parallelogram.xml --rtol 1e-5 --t-end 1 --seconds 300
grep -q "redundant: closure pin" "$work/out" || fail "no redundant row of the parallelogram: $(head -c 400 "$work/out")"
grep -qE "^  sarrus run models/mechanisms/parallelogram.xml --method $own " "$work/out" || fail "no command of the parallelogram"

# ---- events: a thermostat, one every ln 2 ---------------------------------------------------------------------------------
cat > "$work/it's warm.xml" << 'MODEL'
<sarrus version="1">
  <parameter name="cooling" value="2"/>
  <body name="arm">
    <joint name="theta" type="revolute" axis="0 1 0" q="1"/>
    <inertial mass="1" com="0 0 -1" inertia="0 0 0"/>
  </body>
  <state name="on" initial="1" rate="0"/>
  <state name="T" initial="1" rate="3*on - cooling*T"/>
  <event name="hot" when="T - 2" direction="rising" do="on = 0"/>
  <event name="cold" when="T - 1" direction="falling" do="on = 1"/>
  <run t-end="20" rtol="1e-6" atol="1e-8"/>
</sarrus>
MODEL
status 0 "$work/it's warm.xml" --set cooling=1 --seconds 300 --json
between events count 28 28
between events per_second 1.399 1.401
has recommend "\"method\": \"$explicit\""
has recommend "it'\\\\\\\\''s warm.xml' --method .* --set cooling=1\""

# ---- springs instead of joints are stiff -----------------------------------------------------------------------------------
status 0 models/top.xml --formulation penalty --rtol 1e-5 --t-end 0.2 --seconds 20 --json
has formulation penalty
has stiffness '"stiff": true'
between stiffness largest 4000 6000
has recommend '--formulation penalty"'

# ---- a stiff loop: not the cheap method that is wrong -------------------------------------------------------------------------
status 0 models/paper2/slider-crank-bushing.xml --rtol 1e-4 --seconds 20 --json
has stiffness '"stiff": true'
has recommend '"method": "radau5"'
has recommend '"accurate": true'
line trials | grep -q 'this build has no SUNDIALS' && fail "methods that are not in this build are tried"

# ---- states alone -----------------------------------------------------------------------------------------------------------
cat > "$work/states.xml" << 'MODEL'
<sarrus version="1">
  <state name="a" initial="1" rate="b"/><state name="b" initial="0" rate="-4*a"/>
  <run t-end="5" rtol="1e-6" atol="1e-8" step="0.01"/>
</sarrus>
MODEL
status 0 "$work/states.xml" --seconds 300 --json
has recommend '"method": "dopri5"'
line trials | grep -qE '"method": "euler"[^}]*"error": 0\.[0-9]' || fail "the error of euler is not seen in the states"

# ---- what is wrong -----------------------------------------------------------------------------------------------------------
status 2 models/pendulum.xml --rtol 0
status 2 models/pendulum.xml --seconds -1 --json
grep -q '"errors"' "$work/out" || fail "no errors in the JSON: $(head -c 300 "$work/out")"
status 2 models/pendulum.xml --t-end 0
status 2 models/no-such-model.xml
status 2 models/pendulum.xml --nonsense
status 2
status 0 --help
grep -q -- "--seconds" "$work/out" || fail "--help does not tell of --seconds"
# Not even the start can be evaluated.
cat > "$work/empty.xml" << 'MODEL'
<sarrus version="1">
  <body name="b">
    <joint name="x" type="prismatic" axis="1 0 0" q="-1"/>
    <inertial mass="1" com="0 0 0" inertia="1 1 1"/>
  </body>
  <torque joint="x" law="log(q(x))"/>
</sarrus>
MODEL
status 1 "$work/empty.xml" --seconds 300 --json

exit $bad
