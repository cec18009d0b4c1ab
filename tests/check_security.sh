#!/usr/bin/env bash
# The rules of SECURITY.md: reading a model runs no code of others, reads regular files alone and only those in its folders, and
# reveals nothing of other files' content.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
  echo "FAILED security: $1"
  sed 's/^/    /' "$work/log" | head -n 8
  bad=1
}
# status N SENTENCE COMMAND...: exit status and words of the output; nothing may hang.
status() {
  local wanted=$1 words=$2
  shift 2
  timeout 20 "$sarrus" "$@" > "$work/log" 2>&1
  local got=$?
  [ $got -eq "$wanted" ] || fail "sarrus $*: status $got, expected $wanted"
  grep -qF -- "$words" "$work/log" || fail "sarrus $*: does not say: $words"
  ! grep -q "topsecret" "$work/log" || fail "sarrus $*: reveals the content of a foreign file"
}

# ------------------------------------------------------------------------------------------------------------- plugins
mkdir -p "$work/model/sub" "$work/laws" "$work/elsewhere"
cat > "$work/evil.c" << 'END'
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void begin(void) { FILE* f = fopen(getenv("TRACE"), "w"); if (f) fclose(f); }
int sarrus_plugin(void* plugin);
int sarrus_plugin(void* plugin) { (void)plugin; return 0; }
END
export TRACE=$work/trace
${CC:-cc} -fPIC -shared -o "$work/model/laws.so" "$work/evil.c" || { echo "FAILED security: no library"; exit 1; }
cp "$work/model/laws.so" "$work/model/picture.png"
cp "$work/model/laws.so" "$work/laws/far.so"
cp "$work/model/laws.so" "$work/elsewhere/lib.so"
ln -s ../elsewhere/lib.so "$work/model/link.so"
mkfifo "$work/model/pipe.so"
body='<body name="b"><joint type="revolute" axis="0 1 0"/><inertial mass="1" com="0 0 -1"/></body>'
names() { echo "<sarrus version=\"1\">$2$body</sarrus>" > "$work/model/$1.xml"; }
names laws '<plugin library="laws"/>'
names picture '<plugin library="picture.png"/>'
names link '<plugin library="link"/>'
names far '<plugin library="far"/>'
names pipe '<plugin library="pipe"/>'
names climbs '<plugin library="../elsewhere/lib"/>'
names part '<plugin library="laws"/>'
echo "<sarrus version=\"1\"><include file=\"part.xml\"/></sarrus>" > "$work/model/outer.xml"

for model in laws picture link outer; do
  for verb in check eval run "convert --to urdf" compare recommend; do
    rm -f "$TRACE"
    # shellcheck disable=SC2086
    status 2 "runs only on request" ${verb%% *} "$work/model/$model.xml" ${verb#"${verb%% *}"}
    [ -e "$TRACE" ] && fail "$verb of $model.xml has run foreign code"
  done
done
grep -q "part.xml:1:.*error:.*--plugins" <("$sarrus" check "$work/model/outer.xml" 2>&1) ||
  fail "the error of an included <plugin> has no place, or does not say what to do"

rm -f "$TRACE"
status 0 "code of the library '$work/model/laws.so' runs" check "$work/model/laws.xml" --plugins
[ -e "$TRACE" ] || fail "--plugins has loaded nothing"
(cd "$work/model" && status 0 "code of the library '$work/model/laws.so' runs" check laws.xml --plugins)
rm -f "$TRACE"
status 2 "$work/elsewhere/lib.so" check "$work/model/link.xml" --plugins
status 2 "leaves the folder of the model" check "$work/model/climbs.xml" --plugins
status 2 "there is no library" check "$work/model/pipe.xml" --plugins
status 2 "there is no library" check "$work/model/far.xml" --plugins
status 2 "is in no folder that is allowed" check "$work/model/laws.xml" --plugins="$work/laws"
[ -e "$TRACE" ] && fail "a library was loaded that is not allowed"
status 0 "code of the library '$work/laws/far.so' runs" check "$work/model/far.xml" --plugins="$work/nowhere:$work/laws"
status 0 "code of the library '$work/elsewhere/lib.so' runs" check "$work/model/link.xml" --plugins="$work/elsewhere"

# --------------------------------------------------------------------------------------------------------------- files
echo "topsecret: [topsecret" > "$work/secret.yaml"
echo "topsecret" > "$work/secret.xml"
echo "v topsecret 0 0" > "$work/secret.obj"
echo "<robot name='r'><link name='topsecret'/></robot>" > "$work/secret.urdf"
mkfifo "$work/model/pipe.xml.fifo" "$work/model/pipe.obj" "$work/model/pipe.yaml"
mkdir "$work/model/folder.obj" "$work/model/folder.xml"
ln -s ../secret.xml "$work/model/linked.xml"
ln -s ../secret.obj "$work/model/linked.obj"
ln -s ../secret.yaml "$work/model/linked.yaml"
ln -s loop.xml "$work/model/loop.xml"
ln -s /dev/zero "$work/model/zero.obj"

includes() { names inc "<include file=\"$1\"/>"; }
includes linked.xml && status 2 "leads out of the folder" check "$work/model/inc.xml"
includes ../secret.xml && status 2 "leaves the folder" check "$work/model/inc.xml"
includes /etc/passwd && status 2 "absolute path" check "$work/model/inc.xml"
includes pipe.xml.fifo && status 2 "is a pipe; only regular files are read" check "$work/model/inc.xml"
includes folder.xml && status 2 "is a folder; only regular files are read" check "$work/model/inc.xml"
includes loop.xml && status 2 "Too many levels of symbolic links" check "$work/model/inc.xml"

status 2 "is a pipe; only regular files are read" check "$work/model/pipe.xml.fifo"
status 2 "is a device; only regular files are read" check /dev/zero
status 2 "only regular files are read" plot "$work/model/pipe.obj" --y a

# What a mesh names: refused is a warning, the model moves without it.
meshes() {
  cat > "$work/model/robot.urdf" << END
<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="$1"/></geometry></visual></link></robot>
END
}
meshes linked.obj && status 0 "" check "$work/model/robot.urdf"
for name in "$work/../$(basename "$work")/model/../../far.obj" "file:///etc/far.obj" "/etc/far.obj" ../../far.obj; do
  meshes "$name" && status 0 "is not found" check "$work/model/robot.urdf"
done
outer=$(mktemp -d)
echo "v topsecret 0 0" > "$outer/secret.obj"
ln -s "$outer/secret.obj" "$work/model/out.obj"
for name in "$outer/secret.obj" "file://$outer/secret.obj" "../../$(basename "$outer")/secret.obj" out.obj \
  "package://$(basename "$outer")/secret.obj" "package://model/../../$(basename "$outer")/secret.obj"; do
  meshes "$name" && status 0 "outside of the folder and the package of the model; --package" check "$work/model/robot.urdf"
done
meshes pipe.obj && status 0 "is not found" check "$work/model/robot.urdf"
meshes zero.obj && status 0 "is not found" check "$work/model/robot.urdf"

# Texts that xacro reads.
xacro() { echo "<robot name=\"r\" xmlns:xacro=\"http://www.ros.org/wiki/xacro\">$1<link name=\"a\"/></robot>" > "$work/model/robot.xacro"; }
for name in /etc/passwd ../secret.yaml "$outer/secret.obj" linked.yaml "package://etc/passwd" "package://$(basename "$work")/secret.yaml"; do
  xacro "<xacro:include filename=\"$name\"/>" && status 2 "outside of the folder and the package of the model" check "$work/model/robot.xacro"
  xacro "<a b=\"\${load_yaml('$name')}\"/>" &&
    status 2 "outside of the folder and the package of the model" check "$work/model/robot.xacro"
done
xacro '<a b="${load_yaml('"'pipe.yaml'"')}"/>' && status 2 "is a pipe" check "$work/model/robot.xacro"
xacro '<xacro:include filename="pipe.yaml"/>' && status 2 "is a pipe" check "$work/model/robot.xacro"

# What must still work: ../meshes, the package of the model, packages next to it, folders that the user names, links inside.
mkdir -p "$work/ws/arm/urdf" "$work/ws/arm/meshes" "$work/ws/hand/meshes" "$work/plain/urdf" "$work/plain/meshes"
echo "<package><name>arm</name></package>" > "$work/ws/arm/package.xml"
echo "<package><name>hand</name></package>" > "$work/ws/hand/package.xml"
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' > "$work/ws/arm/meshes/t.obj"
cp "$work/ws/arm/meshes/t.obj" "$work/ws/hand/meshes/"
cp "$work/ws/arm/meshes/t.obj" "$work/plain/meshes/"
cp "$work/ws/arm/meshes/t.obj" "$outer/t.obj"
ln -s t.obj "$work/ws/arm/meshes/same.obj"
echo "x: 2" > "$work/ws/arm/values.yaml"
reads() {  # reads FOLDER NAME OPTIONS...: the mesh is read
  local folder=$1
  meshes "$2" && cp "$work/model/robot.urdf" "$folder/r.urdf"
  shift 2
  timeout 20 "$sarrus" check "$folder/r.urdf" "$@" > "$work/log" 2>&1 || fail "a file that may be read is refused"
  grep -q "4 triangles" "$work/log" || fail "a mesh that may be read is not"
}
reads "$work/ws/arm/urdf" ../meshes/t.obj
reads "$work/ws/arm/urdf" ../meshes/same.obj
reads "$work/ws/arm/urdf" package://arm/meshes/t.obj
reads "$work/ws/arm/urdf" package://hand/meshes/t.obj
reads "$work/ws/arm/urdf" "file://$work/ws/arm/meshes/t.obj"
reads "$work/plain/urdf" ../meshes/t.obj
reads "$work/plain/urdf" package://plain/meshes/t.obj
reads "$work/plain/urdf" "$outer/t.obj" --package "$outer"
reads "$work/plain/urdf" package://odd/t.obj --package "odd=$outer"
reads "$work/plain/urdf" "$outer/t.obj" --package "none=$work/model" --package "$outer"
mkdir "$outer/named"  # what the user has named does not reach further up
meshes "package://odd/../secret.obj" &&
  status 0 "outside of the folder and the package of the model; --package" check "$work/model/robot.urdf" --package "odd=$outer/named"
mkdir "$outer/..up"  # only a name that begins like the way up
cp "$outer/t.obj" "$outer/..up/t.obj"
reads "$work/plain/urdf" package://odd/..up/t.obj --package "odd=$outer"
xacro '<link name="l${load_yaml('"'../values.yaml'"').x}"/><joint name="j" type="fixed"><parent link="a"/><child link="l2"/></joint>' && cp "$work/model/robot.xacro" "$work/ws/arm/urdf/"
timeout 20 "$sarrus" check "$work/ws/arm/urdf/robot.xacro" > "$work/log" 2>&1 || fail "values of the package are refused"
# As colcon build --symlink-install leaves it: the user's own links may lead out of the folder that the user names.
mkdir -p "$work/install/share/arm/meshes"
ln -s "$work/ws/arm/meshes/t.obj" "$work/install/share/arm/meshes/t.obj"
AMENT_PREFIX_PATH=$work/install reads "$work/plain/urdf" package://arm/meshes/t.obj
rm -rf "$outer"

[ $bad -eq 0 ] && echo "ok security: code on request alone, regular files of the model's own folders"
exit $bad
