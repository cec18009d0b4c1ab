#!/usr/bin/env bash
# A plugin is built from <sarrus/force.h> (and the <sarrus/function.h> it includes; laws of friction and contact from theirs) alone, does not link with the library, is
# loaded by `sarrus run`, and moves a model as the same laws written as formulas do.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED plugin: $1"
  tail -n 15 "$work/log" | sed 's/^/  /'
  exit 1
}

mkdir -p "$work/include/sarrus"
cp include/sarrus/force.h include/sarrus/function.h "$work/include/sarrus/"
cp tests/plugin/*.xml "$work/"
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes -Werror"
${CC:-cc} -std=c17 $warnings -I"$work/include" -fPIC -shared -o "$work/mylaws.so" tests/plugin/mylaws.c -lm \
  > "$work/log" 2>&1 || fail "it does not build"
echo '#include <sarrus/force.h>' > "$work/plain.cpp"
if command -v c++ > /dev/null; then
  c++ -Wall -Wextra -Werror -I"$work/include" -fsyntax-only "$work/plain.cpp" > "$work/log" 2>&1 || fail "not C++"
fi

for model in plugin formulas; do
  "$sarrus" run "$work/$model.xml" --plugins --json > "$work/$model.json" 2> "$work/log" || fail "$model.xml does not run"
done

# Every number of q, v, y, lambda and the sensor agrees, and both energy balances close.
awk -v tolerance=1e-9 '
  function numbers(key,   text) {
    if (!match(all, "\"" key "\" *: *\\[[^]]*\\]")) return ""
    text = substr(all, RSTART, RLENGTH); sub(/^[^[]*\[/, "", text); sub(/\]$/, "", text)
    return text
  }
  function scalar(key,   text) {
    if (!match(all, "\"" key "\" *: *[-+0-9.eE]+")) return "none"
    text = substr(all, RSTART, RLENGTH); sub(/^[^:]*: */, "", text)
    return text
  }
  function finish(   i) {
    file++
    for (i = 1; i <= nkey; i++) kept[file, i] = numbers(key[i])
    if (scalar("residual") == "none" || scalar("residual")^2 > 1e-16) { print "the energy balance misses " scalar("residual") " J"; bad = 1 }
  }
  BEGIN { nkey = split("q v y lambda", key, " ") }
  FNR == 1 && NR > 1 { finish(); all = "" }
  { all = all $0 " " }
  END {
    finish()
    for (i = 1; i <= nkey; i++) {
      n = split(kept[1, i], a, ","); m = split(kept[2, i], b, ",")
      if (n == 0 || n != m) { print key[i] ": " n " and " m " numbers"; bad = 1 }
      for (k = 1; k <= n; k++) if ((a[k] - b[k])^2 > tolerance^2) { print key[i] ": " a[k] " and " b[k]; bad = 1 }
    }
    exit bad
  }' "$work/plugin.json" "$work/formulas.json" > "$work/log" 2>&1 || fail "laws and formulas differ"

# Laws of friction and contact: headers that stand alone, and the motion of the same laws as formulas.
cp include/sarrus/friction.h include/sarrus/normal.h "$work/include/sarrus/"
${CC:-cc} -std=c17 $warnings -I"$work/include" -fPIC -shared -o "$work/surface_laws.so" tests/plugin/surface_laws.c -lm \
  > "$work/log" 2>&1 || fail "laws of friction and contact do not build"
"$sarrus" run "$work/surface_laws.xml" --plugins --json > "$work/surface_laws.json" 2> "$work/log" || fail "surface_laws.xml does not run"
# is_zero MODEL SENSOR: the value of a sensor at the end of a run.
is_zero() {
  awk -v key="$2" '
    { all = all $0 " " }
    END {
      if (!match(all, "\"" key "\" *: *[{]\"value\" *: *[-+0-9.eE]+")) exit 1
      text = substr(all, RSTART, RLENGTH); sub(/.*: */, "", text)
      exit !(text^2 < 1e-16)
    }' "$work/$1.json"
}
for sensor in slides falls; do
  is_zero surface_laws $sensor || fail "$sensor: a law of friction or contact and its formula differ"
done

# Constraints, sensors and functions of two arguments: headers that stand alone, also in C++, and the motion of what is built in, in all formulations.
cp include/sarrus/closure.h include/sarrus/sensor.h "$work/include/sarrus/"
${CC:-cc} -std=c17 $warnings -I"$work/include" -fPIC -shared -o "$work/frame_laws.so" tests/plugin/frame_laws.c -lm \
  > "$work/log" 2>&1 || fail "laws of constraints and sensors do not build"
printf '#include <sarrus/closure.h>\n#include <sarrus/sensor.h>\n' > "$work/plain.cpp"
if command -v c++ > /dev/null; then
  c++ -Wall -Wextra -Werror -I"$work/include" -fsyntax-only "$work/plain.cpp" > "$work/log" 2>&1 || fail "closures and sensors: not C++"
fi
for formulation in relative absolute; do
  "$sarrus" run "$work/frame_laws.xml" --plugins --formulation $formulation --json > "$work/frame_laws.json" 2> "$work/log" ||
    fail "frame_laws.xml does not run, $formulation"
  for sensor in moves pulls sees; do
    is_zero frame_laws $sensor || fail "$sensor: a law of a plugin and what is built in differ, $formulation"
  done
done

# A library for another version of the interface refuses, and the model is refused with a sentence.
sed 's/#define SR_PLUGIN_ABI .*/#define SR_PLUGIN_ABI 2/' include/sarrus/force.h > "$work/include/sarrus/force.h"
${CC:-cc} -std=c17 -I"$work/include" -fPIC -shared -o "$work/frame_laws.so" tests/plugin/frame_laws.c -lm
"$sarrus" run "$work/frame_laws.xml" --plugins > "$work/log" 2>&1
[ $? -eq 2 ] && grep -q "^[^ ]*frame_laws.xml:3:[0-9]*: error: the library 'frame_laws' refused this version of Sarrus" "$work/log" ||
  fail "a library for another version was not refused"

# What cannot be loaded is refused with a sentence, not a crash.
echo 'int nothing; ' > "$work/empty.c"
${CC:-cc} -fPIC -shared -o "$work/mylaws.so" "$work/empty.c"
"$sarrus" run "$work/plugin.xml" --plugins > "$work/log" 2>&1
[ $? -eq 2 ] && grep -q "mylaws" "$work/log" || fail "a library without laws was not refused"
rm "$work/mylaws.so"
"$sarrus" run "$work/plugin.xml" --plugins > "$work/log" 2>&1
[ $? -eq 2 ] && grep -q "mylaws" "$work/log" || fail "a missing library was not refused"
echo "ok plugin"
