#!/usr/bin/env bash
# tools/mutate notices what the tests notice: single changes of Dahl's law do not survive the tests of friction laws, and all
# of them survive where no test is run that reaches the file.
cd "$(dirname "$0")/.." || exit 1
command -v gcov > /dev/null || { echo "skipped mutate: no gcov"; exit 77; }
out=$(tools/mutate --only friction_laws --count 6 src/law/friction_dahl.c:20-26 2>&1) ||
  { echo "FAILED mutate: changes survive: $out"; exit 1; }
grep -q '^6 changes, 0 survived' <<< "$out" || { echo "FAILED mutate: $out"; exit 1; }
out=$(tools/mutate --only base --count 2 src/law/friction_dahl.c:20-26 2>&1) &&
  { echo "FAILED mutate: tests that do not reach the file noticed: $out"; exit 1; }
grep -q '^2 changes, 2 survived' <<< "$out" || { echo "FAILED mutate: $out"; exit 1; }
echo "ok mutate"
