#!/usr/bin/env bash
# docs/using/format.md: its tables are those of the reader.
cd "$(dirname "$0")/.." || exit 1
out=$(tools/format-reference --check 2>&1) || { echo "FAILED $out"; exit 1; }
echo "ok docs/using/format.md: tables"
