#!/usr/bin/env bash
# A shared library with an impedance and an admittance of a third party, built from the plugin headers alone, moves alike in a
# network of a program that has the public headers and the library, and, the impedance, in a model file.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
build=$(dirname "$sarrus")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED network: $1"
  tail -n 15 "$work/log" | sed 's/^/  /'
  exit 1
}

mkdir -p "$work/include/sarrus"
cp include/sarrus/{admittance,force,function}.h "$work/include/sarrus/"
cp tests/network_plugin/rotor.xml "$work/"
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes -Werror"
${CC:-cc} -std=c17 $warnings -I"$work/include" -fPIC -shared -o "$work/parts.so" tests/network_plugin/parts.c \
  > "$work/log" 2>&1 || fail "the library does not build"
${CC:-cc} -std=c17 $warnings -Iinclude -o "$work/main" tests/network_plugin/main.c -L"$build" -lsarrus \
  -Wl,-rpath,"$build" > "$work/log" 2>&1 || fail "the program does not build"
if command -v c++ > /dev/null; then
  echo '#include <sarrus/admittance.h>' > "$work/plain.cpp"
  c++ -Wall -Wextra -Werror -I"$work/include" -fsyntax-only "$work/plain.cpp" > "$work/log" 2>&1 || fail "not C++"
  echo '#include <sarrus/network.h>' > "$work/plain.cpp"
  c++ -Wall -Werror -Iinclude -fsyntax-only "$work/plain.cpp" > "$work/log" 2>&1 || fail "network.h is not C++"
fi

"$work/main" "$work/parts.so" > "$work/network" 2> "$work/log" || fail "the program does not run"
"$sarrus" run "$work/rotor.xml" --plugins --json > "$work/model.json" 2> "$work/log" || fail "the model does not run"

# q, v and y of the model against the line of the program.
awk -v tolerance=1e-11 '
  FNR == NR { all = all $0 " "; next }
  { for (i = 1; i <= 3; i++) network[i] = $i }
  END {
    n = split("q v y", key, " ")
    for (i = 1; i <= n; i++) {
      if (!match(all, "\"" key[i] "\" *: *\\[[^]]*\\]")) { print "no " key[i]; exit 1 }
      text = substr(all, RSTART, RLENGTH); sub(/^[^[]*\[/, "", text); sub(/\]$/, "", text)
      if (text == "" || (text - network[i])^2 > tolerance^2) { print key[i] ": " text " and " network[i]; bad = 1 }
    }
    exit bad
  }' "$work/model.json" "$work/network" > "$work/log" 2>&1 || fail "network and model differ"
echo "ok network"
