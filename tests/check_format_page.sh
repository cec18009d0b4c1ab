#!/usr/bin/env bash
# docs/using/format.md: its tables are those of the reader, and its first example is a model.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-build/test/sarrus}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
out=$(tools/format-reference --check 2>&1) || { echo "FAILED $out"; bad=1; }
awk '/^```xml/ { inside = 1; next } /^```/ && inside { exit } inside' docs/using/format.md > "$work/example.xml"
out=$("$sarrus" check "$work/example.xml" 2>&1) || { echo "FAILED the example of docs/using/format.md: $out"; bad=1; }
[ $bad -eq 0 ] && echo "ok docs/using/format.md: tables and example"
exit $bad
