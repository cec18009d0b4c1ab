#!/usr/bin/env bash
# sarrus convert keeps its contract: formats, outputs, JSON, what is lost, exit statuses, paths of meshes.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-$PWD/build/test/sarrus}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
  echo "FAILED convert: $*"
  bad=1
}

# status N ARGUMENTS...: the exit status is N; output in $work/out, $work/err
status() {
  local expected=$1 got
  shift
  "$sarrus" convert "$@" > "$work/out" 2> "$work/err"
  got=$?
  [ $got -eq "$expected" ] || fail "convert $*: status $got, expected $expected: $(head -c 300 "$work/err")"
}
says() { grep -qE -- "$1" "$work/err" || fail "expected a message like '$1', got: $(head -c 300 "$work/err")"; }
has() { grep -qF -- "$1" "$work/out" || fail "expected '$1' in: $(head -c 400 "$work/out")"; }
# json EXPRESSION: is true of the object j on standard output
json() { python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$work/out" "$1" || fail "not true: $1"; }

# ------------------------------------------------------------------------------------------------------------ where it goes
status 0 models/paper1/arm2.xml --to urdf
has '<robot name="arm2">'
says "arm2.xml:[0-9]+:[0-9]+: 'q' of joint 'q1': .*changes the start"
status 0 models/paper1/arm2.xml -o "$work/arm.urdf"
has "'q' of joint 'q1'"
grep -q '<robot' "$work/arm.urdf" || fail "the name .urdf does not make URDF"
status 0 models/paper1/arm2.xml --to mjcf --out "$work/arm.xml"
grep -q '<mujoco' "$work/arm.xml" || fail "--to mjcf does not make MJCF"
status 0 "$work/arm.xml" --to sarrus
has '<sarrus version="1"'
status 2 models/paper1/arm2.xml -o "$work/other.xml"
says 'choose one with --to'
[ -e "$work/other.xml" ] && fail "a file was written after an error"
status 2 models/paper1/arm2.xml
says 'choose the format with --to'
status 2 models/paper1/arm2.xml --to urfd
says "did you mean 'urdf'"
touch "$work/file"
status 2 models/paper1/arm2.xml -o "$work/file/a.urdf"
says 'cannot be written'
status 0 models/paper1/arm2.xml -o "$work/a/new/folder/a.urdf"
[ -s "$work/a/new/folder/a.urdf" ] || fail "the folders of the output were not made"
status 2 "$work/nothing.xml" --to urdf

# ------------------------------------------------------------------------------------------------------------------- JSON
status 0 models/mechanisms/delta-robot.xml --to urdf --out "$work/delta.urdf" --json
json "j['file'].endswith('delta.urdf') and j['format'] == 'urdf' and j['base'] == 'fixed'"
json "any(x['what'] == \"<driver> of joint 'arm0'\" and x['changes'] == 'motion' and x['line'] == 48 for x in j['lost'])"
json "all(x['changes'] in ('none', 'start', 'motion') and x['reason'] for x in j['lost'])"
status 0 models/double-pendulum.xml --to mjcf --json
json "j['file'] is None and j['text'].startswith('<mujoco')"

# --set is folded in, and our own format keeps formulas
status 0 models/chain-planar.xml --to urdf --set N=3
[ "$(grep -c 'type="continuous"' "$work/out")" -eq 3 ] || fail "--set N=3 does not make three joints"
status 0 models/chain-planar.xml --to sarrus --set N=3
has 'value="total/N"'

# the same numbers after a round trip, through files
for format in urdf mjcf; do
  "$sarrus" convert models/paper1/arm6.xml --to $format --out "$work/there.xml" > /dev/null || fail "arm6 to $format"
  "$sarrus" convert "$work/there.xml" --to sarrus --out "$work/back.xml" > /dev/null 2>&1 || fail "arm6 back from $format"
  q=0.1,-0.2,0.3,-0.4,0.5,0.6
  for model in models/paper1/arm6.xml "$work/back.xml"; do
    "$sarrus" eval "$model" --q=$q --v=$q --json 2> /dev/null | grep -E '^ *"a":' > "$work/a.$(basename "$model")"
  done
  python3 - "$work/a.arm6.xml" "$work/a.back.xml" << 'END' || fail "accelerations differ after $format"
import json, sys
a, b = (json.loads("{" + open(f).read().strip().rstrip(",") + "}")["a"] for f in sys.argv[1:3])
sys.exit(not (len(a) == len(b) == 6 and all(abs(x - y) <= 1e-11 * (1 + abs(x)) for x, y in zip(a, b))))
END
done

# ---------------------------------------------------------------------------------------------------------- paths of meshes
mkdir -p "$work/model/meshes" "$work/elsewhere"
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' > "$work/model/meshes/corner.obj"
cat > "$work/model/m.xml" << 'END'
<sarrus version="1">
  <mesh name="corner" file="meshes/corner.obj" scale="0.1"/>
  <body name="a"><joint type="revolute"/><inertial mass="1" inertia="1 1 1"/><shape type="mesh" mesh="corner" use="visual"/></body>
</sarrus>
END
for format in urdf mjcf sarrus; do
  status 0 "$work/model/m.xml" --to $format --out "$work/elsewhere/m.$format"
  grep -q '"../model/meshes/corner.obj"' "$work/elsewhere/m.$format" || fail "path of a mesh in $format from another folder"
  "$sarrus" check "$work/elsewhere/m.$format" > "$work/out" 2>&1 || fail "$format with a mesh is not read: $(head -c 300 "$work/out")"
  status 0 "$work/model/m.xml" --to $format --out "$work/model/m.$format"
  grep -q '"meshes/corner.obj"' "$work/model/m.$format" || fail "path of a mesh in $format in the same folder"
done

# --------------------------------------------------------------------------------------------------- every model, somehow
for model in models/*.xml models/*/*.xml; do
  for format in urdf mjcf sarrus; do
    "$sarrus" convert "$model" --to $format --out "$work/it.xml" > "$work/out" 2>&1 || fail "$model to $format: $(tail -n 1 "$work/out")"
    [ $format = sarrus ] && continue
    "$sarrus" convert "$work/it.xml" --package "$PWD/models/robots/meshes" --to sarrus > /dev/null 2> "$work/err" || fail "$model is not read back from $format: $(grep -m 1 error "$work/err")"
  done
done

[ $bad -eq 0 ] && echo "ok convert"
exit $bad
