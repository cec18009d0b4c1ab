#!/usr/bin/env bash
# Instructions that `sarrus gen` takes to write an arm with 6 and one with 7 axes, nearly all of them the search of frames, and per body for chains of 50 and 200 bodies: counted by callgrind, so that other work on the machine does not matter.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
command -v valgrind > /dev/null || { echo "skipped gen cost: no valgrind"; exit 77; }
# Copies by `rep movsb` count as one instruction a byte.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1000000000:glibc.cpu.x86_rep_stosb_threshold=1000000000
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
bad=0 summary=
cost() { # cost MOST BODIES MODEL [OPTION...]: millions of instructions a body
  local one
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no --toggle-collect=sr_generate "$sarrus" gen "${@:3}" -o "$out" --quiet > "$out/said" 2>&1 ||
    { echo "FAILED gen cost: $3 is not written: $(tail -n 3 "$out/said")"; exit 1; }
  one=$(awk -v n="$2" '/Collected/ { printf "%.1f", $NF / 1e6 / n }' "$out/said")
  summary+=" ${*:3} $one (at most $1);"
  awk -v a="$one" -v most="$1" 'BEGIN { exit !(a > 0 && a <= most) }' || bad=1
}
cost 550 1 models/paper1/arm6.xml
cost 900 1 models/robots/arm-seven.xml
cost 40 50 models/chain-spatial.xml --set N=50 --what accel,invdyna
cost 20 200 models/chain-spatial.xml --set N=200 --what accel,invdyna
summary="millions of instructions,$summary"
[ $bad -eq 0 ] && echo "ok gen cost: $summary" || echo "FAILED gen cost: $summary"
exit $bad
