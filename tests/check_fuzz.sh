#!/usr/bin/env bash
# Fuzzes the readers, and short runs of what is read, under the sanitizers for SARRUS_FUZZ_SECONDS each (default 5; 60 under ./test --long), two at a time,
# beginning with the stored corpora, which are all replayed. Every tests/fuzz/fuzz_NAME.c is run, on the files of
# tests/fuzz/NAME and of the folders listed below. Needs clang with libFuzzer; without it: skipped.
cd "$(dirname "$0")/.." || exit 1
seconds=${SARRUS_FUZZ_SECONDS:-5}
[ -z "${SARRUS_FUZZ_SECONDS:-}" ] && [ "${SARRUS_TEST_LONG:-0}" = 1 ] && seconds=60
clang=$(command -v clang) || { echo "skipped fuzzing: no clang"; exit 77; }
build=${SARRUS_FUZZ_BUILD:-build/fuzz}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

generator=()  # ninja where it is installed and the folder was not made with another one
[ -e "$build/CMakeCache.txt" ] || ! command -v ninja > /dev/null || generator=(-G Ninja)
if ! { cmake -S tests/fuzz -B "$build" "${generator[@]}" -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=None \
       && cmake --build "$build" --parallel "${SARRUS_JOBS:-$(nproc)}"; } > "$work/log" 2>&1; then
  if grep -q 'fuzzer.*cannot find\|cannot find.*fuzzer' "$work/log"; then
    echo "skipped fuzzing: clang without libFuzzer"
    exit 77
  fi
  tail -n 30 "$work/log"
  echo "FAILED build of the fuzzers"
  exit 1
fi

# Folders of other tests that a fuzzer begins with too.
declare -A more=(
  [model]="tests/bad models models/paper1 tests/io"
  [urdf]="tests/urdf models/robots"
  [xacro]="tests/xacro"
  [yaml]="tests/xacro/config"
  [mbs]="tests/mbs"
  [convert]="models models/robots models/mechanisms tests/mjcf-sections tests/urdf tests/mbs"
  [mjcf]="tests/mjcf tests/mjcf-sections models/robots"
  [stl]="tests/mesh"
  [obj]="tests/mesh"
  [dae]="tests/mesh"
)
# A run begins with models behind three bytes that choose method, formulation and tolerance.
mkdir -p "$work/seeds-run"
k=0
for model in models/*.xml models/*/*.xml tests/io/*.xml; do
  [ "$(wc -c < "$model")" -lt 7000 ] || continue
  k=$((k + 1))
  { printf "\\x$(printf %02x $((k % 16)))\\x$(printf %02x $((k % 3)))\\x$(printf %02x $((k % 4)))"; cat "$model"; } > "$work/seeds-run/$k"
done
more[run]=$work/seeds-run
fuzz() {  # fuzz NAME: one line of outcome
  local name=$1 corpora=() folder
  for folder in "tests/fuzz/$name" ${more[$name]:-}; do [ -d "$folder" ] && corpora+=("$folder"); done
  mkdir -p "$work/$name"
  if "$build/fuzz_$name" -max_total_time="$seconds" -max_len=8000 -timeout=120 -rss_limit_mb=3000 -verbosity=0 \
      -print_final_stats=1 -dict=tests/fuzz/xml.dict -artifact_prefix="$build/fuzz_$name-" "$work/$name" "${corpora[@]}" \
      > "$work/$name.log" 2>&1; then
    echo "ok fuzz_$name: $(grep -o 'number_of_executed_units: *[0-9]*' "$work/$name.log" | grep -o '[0-9]*$') inputs in $seconds s"
  else
    tail -n 40 "$work/$name.log"
    echo "FAILED fuzz_$name: the input is kept as $build/fuzz_$name-*"
  fi
}
for file in tests/fuzz/fuzz_*.c; do
  name=$(basename "$file" .c)
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
  fuzz "${name#fuzz_}" > "$work/${name#fuzz_}.out" &
done
wait
cat "$work"/*.out
! grep -q '^FAILED' "$work"/*.out
