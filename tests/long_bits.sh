#!/usr/bin/env bash
# gcc and clang, from -O0 to -O3, give the same bits: seven models evaluated and simulated by an explicit, a half-explicit and an implicit method.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
models="models/double-pendulum.xml models/humanoid.xml models/mechanisms/four-bar.xml models/mechanisms/sarrus-linkage.xml models/benchmark/bricard.xml
  models/paper2/slider-crank.xml models/robots/leg-closed.urdf"

results() {  # of a program: all numbers, without the clock
  for model in $models; do
    echo "== $model"
    "$1" eval "$model" --json 2> /dev/null
    for how in "rk4 --step 1e-3" "hem5 --rtol 1e-6" "radau5 --rtol 1e-6"; do
      # shellcheck disable=SC2086
      "$1" run "$model" --method $how --t-end 0.1 --json 2> /dev/null
    done
  done | grep -v '"seconds"'
}

bad=0 n=0
results "$sarrus" > "$work/wanted"
[ "$(grep -c '"sensors"' "$work/wanted")" -eq 28 ] || { echo "FAILED bits: not all of the runs gave a result"; exit 1; }
for compiler in gcc clang; do
  command -v $compiler > /dev/null || { echo "skipped bits: needs gcc and clang"; exit 77; }
  for level in ${SARRUS_BITS_LEVELS:-0 1 2 3}; do
    cmake -S . -B "$work/build" -G Ninja -DCMAKE_C_COMPILER=$compiler -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="-O$level -DNDEBUG" > "$work/log" 2>&1 &&
      cmake --build "$work/build" --target sarrus_cli >> "$work/log" 2>&1 || { echo "FAILED bits: $compiler -O$level does not build"; tail -n 5 "$work/log"; exit 1; }
    results "$work/build/sarrus" > "$work/got"
    n=$((n + 1))
    cmp -s "$work/wanted" "$work/got" || { echo "FAILED bits: $compiler -O$level differs: $(diff "$work/wanted" "$work/got" | head -n 3)"; bad=1; }
    rm -rf "$work/build"
  done
done
[ $bad -eq 0 ] && echo "ok bits: $n builds give the same numbers"
exit $bad
