#!/usr/bin/env bash
# The program starts without the libraries that only some runs need: HDF5 is loaded when a file of that kind is written or read.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=${SARRUS:-build/test/sarrus}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The files that the loader opens, into $folder/loaded.PID.
start() { rm -f "$folder"/loaded.*; LD_DEBUG=files LD_DEBUG_OUTPUT="$folder/loaded" "$sarrus" "$@" > "$folder/out" 2>&1; }
loads_hdf5() { grep -q hdf5 "$folder"/loaded.*; }
fail() { echo "FAILED check_start: $1"; exit 1; }

start eval models/cart-pole.xml
if loads_hdf5; then fail "eval loads HDF5"; fi
if start run models/cart-pole.xml --t-end 0.1 --out "$folder/result.h5"; then
  loads_hdf5 || fail "a result in HDF5 was written without its library being loaded: this check sees nothing"
else
  grep -q "built without" "$folder/out" || { cat "$folder/out"; fail "cannot write a result in HDF5"; }
fi
echo "ok start"
