#!/usr/bin/env bash
# States are evaluated by one function (docs/developing/decisions/evaluation.md): of the library, only src/constraint/evaluate.c calls the passes of a
# whole state. Their own files define them.
cd "$(dirname "$0")/.." || exit 1
found=$(grep -nE '\bsr_(kinematics|velocity|forces|aba_driven|aba_coupled|solve_state|forward)\(m?' -r src --include='*.c' |
  grep -vE '^src/constraint/evaluate\.c:|^[^:]*:[0-9]+:(SRM_CLONES )?(void|int|srStatus) sr_|^[^:]*:[0-9]+: *//')
if [ -n "$found" ]; then
  echo "FAILED one evaluation function: call sr_evaluate instead"
  echo "$found" | sed 's/^/  /'
  exit 1
fi
echo "ok one evaluation function"
