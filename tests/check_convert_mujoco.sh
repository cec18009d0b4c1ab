#!/usr/bin/env bash
# MuJoCo reads what sarrus convert writes, and agrees on M and bias. Skipped where MuJoCo is not installed.
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${SARRUS_BUILD:-build/test}")
if [ -z "$(find /usr/include /usr/local/include -maxdepth 2 -path '*/mujoco/mujoco.h' -print -quit 2> /dev/null)" ]; then
  echo "skipped convert_mujoco: MuJoCo is not installed (tools/setup --peers)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED convert_mujoco: $*"
  exit 1
}

# Every kind of joint that keeps its coordinates.
inertial='<inertial mass="1.3" com="0.1 -0.2 0.3" inertia="0.3 0.4 0.35"/>'
cat > "$work/kinds.xml" << END
<sarrus version="1" name="kinds">
  <option gravity="1 -2 -9"/>
  <body name="a"><joint name="fly" type="free" q="1 2 3 1 0 0 0"/>$inertial</body>
  <body name="b" parent="a"><joint name="turn" type="revolute" axis="1 2 3" at="0.1 0.2 0.3" rpy="0.5 1.5707963267948966 -2" armature="0.3"/>$inertial</body>
  <body name="c" parent="b"><joint name="slide" type="prismatic" axis="1 -1 0" at="0 0 1" rot="1 2 3 4"/>$inertial</body>
  <body name="d" parent="c"><joint name="hook" type="universal" axis="1 0 0" axis2="0.3 1 0" at="0 1 0" armature="0.1"/>$inertial</body>
  <body name="e" parent="b"><joint name="tube" type="cylindrical" axis="0 1 1" rpy="1 2 3"/>$inertial</body>
  <body name="f" parent="e"><joint name="table" type="planar" axis="1 1 1"/>$inertial</body>
  <body name="g" parent="f"><joint name="knob" type="ball" at="0.5 0 0" rpy="0.1 0.2 0.3"/>$inertial</body>
  <body name="h" parent="g"><joint name="stuck" type="weld" at="0 0.5 0"/>$inertial</body>
</sarrus>
END
# those that have no link without mass in between in URDF, and no weld, which MuJoCo fuses
sed '/hook\|tube\|table\|knob\|stuck/d' "$work/kinds.xml" > "$work/some.xml"

${CC:-cc} -std=c11 -O1 -Iinclude tests/convert/mujoco.c -o "$work/mujoco" "$build/libsarrus.so" \
  -Wl,-rpath,"$build" -lmujoco -lm > "$work/out" 2>&1 || fail "tests/convert/mujoco.c does not build: $(head -n 5 "$work/out")"
arms=(models/paper1/arm{2,4,6}.xml)
{ "$work/mujoco" "$work" mjcf 1e-9 "${arms[@]}" models/humanoid.xml && "$work/mujoco" "$work" urdf 1e-9 "${arms[@]}" &&
  "$work/mujoco" "$work" mjcf 1e-13 models/free-body.xml "$work/kinds.xml" &&
  "$work/mujoco" "$work" urdf 1e-13 models/free-body.xml "$work/some.xml"; } > "$work/out" 2>&1 || fail "$(tail -n 5 "$work/out")"
echo "ok convert_mujoco: $(tr '\n' ' ' < "$work/out")"
