#!/usr/bin/env bash
# Fuzzes the model reader and the formulas under the sanitizers for SARRUS_FUZZ_SECONDS each (default 10; 60 under
# ./test --long), beginning with the stored corpora, which are all replayed. Needs clang with libFuzzer; without it: skipped.
cd "$(dirname "$0")/.." || exit 1
seconds=${SARRUS_FUZZ_SECONDS:-10}
[ -z "${SARRUS_FUZZ_SECONDS:-}" ] && [ "${SARRUS_TEST_LONG:-0}" = 1 ] && seconds=60
clang=$(command -v clang) || { echo "ok fuzzing (skipped: no clang)"; exit 0; }
build=${SARRUS_FUZZ_BUILD:-build/fuzz}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! { cmake -S tests/fuzz -B "$build" -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=None \
       && cmake --build "$build" --parallel "${SARRUS_JOBS:-$(nproc)}"; } > "$work/log" 2>&1; then
  if grep -q 'fuzzer.*cannot find\|cannot find.*fuzzer' "$work/log"; then
    echo "ok fuzzing (skipped: clang without libFuzzer)"
    exit 0
  fi
  tail -n 30 "$work/log"
  echo "FAILED build of the fuzzers"
  exit 1
fi

bad=0
fuzz() {  # fuzz NAME CORPUS...
  local name=$1 new=$work/$1
  shift
  mkdir -p "$new"
  if "$build/$name" -max_total_time="$seconds" -max_len=8000 -timeout=10 -rss_limit_mb=3000 -verbosity=0 \
      -print_final_stats=1 -dict=tests/fuzz/xml.dict -artifact_prefix="$build/$name-" "$new" "$@" > "$work/log" 2>&1; then
    echo "ok $name: $(grep -o 'number_of_executed_units: *[0-9]*' "$work/log" | grep -o '[0-9]*$') inputs in $seconds s"
  else
    tail -n 40 "$work/log"
    echo "FAILED $name: the input is kept as $build/$name-*"
    bad=1
  fi
}
fuzz fuzz_model tests/fuzz/model tests/bad models models/paper1 tests/io
fuzz fuzz_formula tests/fuzz/formula
exit $bad
