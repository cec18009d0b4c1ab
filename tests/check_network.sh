#!/usr/bin/env bash
# A shared library with an impedance and an admittance of a third party, built from the plugin headers alone, moves alike in a
# network of a program that has the public headers and the library, in a network file, and, the impedance, in a model file. Network
# files on the command line: check, run, what is refused.
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
cp tests/network_plugin/{rotor,network}.xml "$work/"
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

# The network file: the same bits as the program.
"$sarrus" run "$work/network.xml" --plugins --threads 2 --out "$work/network.csv" --record 'state(hinge).*' --json > "$work/network.json" \
  2> "$work/log" || fail "the network file does not run"
grep -v '^#' "$work/network.csv" > "$work/table"
[ "$(head -n 1 "$work/table")" = "t [s],rotor.0,rotor.1,hinge.f,state(hinge).0" ] || { head -n 1 "$work/table" > "$work/log"; fail "columns"; }
tail -n 1 "$work/table" | awk -F, '{ print $2, $3, $5 }' > "$work/last"
cmp -s "$work/last" "$work/network" || { cat "$work/last" "$work/network" > "$work/log"; fail "network file and program differ"; }
grep -q '"steps": 2000,' "$work/network.json" || fail "steps in the JSON"

# refused COMMAND... SENTENCE: exit status 2, and the sentence.
refused() {
  local sentence=${*: -1}
  "$sarrus" "${@:1:$#-1}" > "$work/out" 2> "$work/log"
  [ $? -eq 2 ] || fail "sarrus ${*:1:$#-1}: exit status"
  grep -qF -- "$sentence" "$work/log" || fail "sarrus ${*:1:$#-1}: expected '$sentence'"
}
net=models/paper3/networks
refused run "$work/network.xml" "network.xml:3:20: error: the library 'parts' is not loaded"
refused run $net/turntable.xml --rtol 1e-3 "--rtol is not for a network"
refused run $net/turntable.xml --formulation absolute "--formulation is not for a network"
refused run $net/turntable.xml --contact continuous "--contact is not for a network"
refused run $net/turntable.xml --q 1 "--q is not for a network"
refused run $net/turntable.xml --method dopri5 "--method (of a network): unknown word 'dopri5'; there are: rk4, euler"
refused run $net/turntable.xml --threads 1.5 "--threads must be a whole number"
refused run $net/turntable.xml --set Jx=1 "the model has no parameter 'Jx'"
refused run $net/turntable.xml --record 'bearing.g' --out "$work/x.csv" "no signal is named 'bearing.g'; did you mean 'bearing.f'?"
refused run $net/two-link.xml --out $net/links.xml "links.xml"
refused eval $net/turntable.xml "<network> is a network of components, not a model"
refused convert $net/turntable.xml --to urdf "<network> is a network of components, not a model"
refused run models/pendulum.xml --threads 2 "--threads is for a network"
"$sarrus" check $net/penalty.xml > "$work/out" 2> "$work/log" || fail "check"
grep -q '^  level 2 *hinge0, friction0, hinge1, friction1$' "$work/out" || { cp "$work/out" "$work/log"; fail "order of evaluation"; }
"$sarrus" run $net/turntable.xml --record list > "$work/out" 2> "$work/log" || fail "--record list"
grep -qx '  state(table).rate  \[rad/s\]' "$work/out" || { cp "$work/out" "$work/log"; fail "--record list"; }
echo "ok network"
