#!/usr/bin/env bash
# sarrus check reports shapes and meshes, in every formulation; a mesh that is missing is a warning that names the places;
# --package finds it.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-$PWD/build/test/sarrus}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
model=tests/mesh/packages/arm_folder/models/arm.xml

fail() {
  echo "FAILED mesh: $*"
  bad=1
}
has() { grep -qF -- "$1" "$2" || fail "expected '$1' in: $(head -c 600 "$2")"; }

for formulation in relative absolute penalty; do
  "$sarrus" check "$model" --formulation $formulation --json > "$work/out" 2> "$work/err" || fail "check: $(cat "$work/err")"
  tr -d ' \n' < "$work/out" > "$work/flat"
  has '"shapes":2,' "$work/flat"
  has '{"name":"by-manifest","file":"package://arm_description/meshes/tetrahedron.obj","vertices":4,"triangles":4}' "$work/flat"
  has '{"name":"above","file":"../meshes/tetrahedron.obj","vertices":4,"triangles":4}]' "$work/flat"
done
"$sarrus" check "$model" > "$work/out" 2>&1
grep -qE '^ *shapes +2; 3 meshes, 12 triangles$' "$work/out" || fail "no line of shapes for people: $(cat "$work/out")"

# Another place, where the files are not.
mkdir "$work/empty"
cp "$model" "$work/empty/arm.xml"
sed -i 's/ density="600"/ color="0 0 1 1"/; s|<shape name="picture"|<inertial mass="1" inertia="1 1 1"/> &|' "$work/empty/arm.xml"
sed -i 's/color="1 0 0 1"//' "$work/empty/arm.xml"
"$sarrus" check "$work/empty/arm.xml" > "$work/out" 2> "$work/err" || fail "a missing mesh is no error: $(cat "$work/err")"
[ "$(grep -c 'warning: the .* is not found' "$work/err")" = 3 ] || fail "three warnings expected: $(cat "$work/err")"
has "searched in $(realpath "$work")/empty and the folders above it; give its location with --package arm_description=FOLDER" "$work/err"
has "$work/meshes/tetrahedron.obj" <(sed 's|/empty/\.\./|/|' "$work/err")

# ... and where --package says they are.
"$sarrus" check "$work/empty/arm.xml" --package tests/mesh/packages --package arm_description=tests/mesh/packages/arm_folder \
  > "$work/out" 2> "$work/err"
[ "$(grep -c 'warning: the mesh .* is not found' "$work/err")" = 1 ] || fail "one warning expected: $(cat "$work/err")"
grep -qE '^ *shapes +2; 3 meshes, 8 triangles$' "$work/out" || fail "--package: $(cat "$work/out")"

# An option that can only be a slip of the pen.
for wrong in arm=/no/such/folder arm= = /no/such/folder; do
  "$sarrus" check "$model" --package "$wrong" > "$work/out" 2> "$work/err"
  [ $? -eq 2 ] || fail "--package $wrong is taken"
  has "--package $wrong: error:" "$work/err"
done

[ $bad -eq 0 ] && echo "ok mesh: shapes and meshes of check, missing files"
exit $bad
