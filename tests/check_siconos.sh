#!/usr/bin/env bash
# Contact problems against an independent program, Siconos numerics (Debian: libsiconos-numerics-dev; or SARRUS_SICONOS, a folder with its usr/):
# 1000 random problems, frictionless, planar and in space. Where it is not installed: skipped.
cd "$(dirname "$0")/.." || exit 1
build=${SARRUS_BUILD:-build/test}
prefix=${SARRUS_SICONOS:-}
headers=$prefix/usr/include/siconos
library=$(find "$prefix"/usr/lib -name libsiconos_numerics.so 2> /dev/null | head -n 1)
if [ ! -d "$headers/numerics" ] || [ -z "$library" ]; then
  echo "skipped siconos: libsiconos-numerics-dev is not installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$(dirname "$library")
if ! cc -std=c17 -O1 -Iinclude -isystem "$headers" -isystem "$headers/numerics" tests/siconos/compare.c -o "$work/compare" \
    "$build/libsarrus.so" "$library" -Wl,-rpath,"$(realpath "$build")":"$folder" -Wl,-rpath-link,"$folder" -lm > "$work/log" 2>&1; then
  tail -n 20 "$work/log"
  echo "FAILED siconos: the comparison does not compile"
  exit 1
fi
if LD_LIBRARY_PATH=$folder timeout 600 "$work/compare"; then
  echo "ok siconos"
else
  echo "FAILED siconos"
  exit 1
fi
