#!/usr/bin/env bash
# A row of 10 to 2000 four-bar linkages: the time of a step, per loop, is flat within 2 times, for every method.
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${SARRUS_BUILD:-build/test}")
log=$build/scaling.log
if ! "${CC:-cc}" -O2 -std=gnu17 -Iinclude benchmarks/scaling.c benchmarks/common.c -o "$build/bench-scaling" \
  -L"$build" -Wl,-rpath,"$build" -lsarrus -lm > "$log" 2>&1; then
  echo "FAILED scaling: it does not build"
  cat "$log"
  exit 1
fi
for _ in 1 2 3; do  # other work on the machine may disturb a run
  if "$build/bench-scaling" models/benchmark/n-four-bar.xml > "$log" 2>&1; then
    echo "ok scaling: $(grep -o '^[a-z0-9]*: \|[0-9.]* times' "$log" | paste -sd ' ')"
    exit 0
  fi
done
echo "FAILED scaling"
cat "$log"
exit 1
