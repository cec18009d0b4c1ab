#!/usr/bin/env bash
# The kernels for AVX2 (taken by the release build where the processor has it) and those for any processor (all that the
# build with sanitizers has) give the same bits: every model evaluated at its start, and simulated for some steps.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
SARRUS=${SARRUS:-build/test/sarrus}
plain=build/asan/sarrus
[ -x "$plain" ] || { echo "skipped bits: needs build/asan"; exit 77; }

bad=0 n=0
while read -r model; do
  for command in "eval $model" "run $model --method rk4 --step 1e-3 --t-end 0.05"; do
    n=$((n + 1))
    if ! diff <($SARRUS $command --json 2> /dev/null | grep -v '"seconds"') <($plain $command --json 2> /dev/null | grep -v '"seconds"') > /dev/null; then
      echo "FAILED bits: sarrus $command differs between processors"
      bad=1
    fi
  done
done < <(find models -name '*.xml' | sort)
[ $bad -eq 0 ] && echo "ok bits: $n results are the same for any processor"
exit $bad
