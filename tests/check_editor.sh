#!/usr/bin/env bash
# The editor of pages: its document (tokens and spans of XML, edits as splices, names with their references, formulas) under node, on awkward
# texts and on every shipped model, and what the program says to the edited texts.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
bad=0
command -v node > /dev/null || {
  echo "skipped editor: nodejs is not installed (tools/setup --tests)"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r models "$work/models"
node tests/page/editor.mjs "$sarrus" "$work/models" "$work" || bad=1
exit $bad
