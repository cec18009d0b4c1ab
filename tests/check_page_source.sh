#!/usr/bin/env bash
# The scripts of page/ and of its tests, by oxlint (page/.oxlintrc.json): every name is defined, none is unused; a name that is not defined shows only where its line runs.
cd "$(dirname "$0")/.." || exit 1
lint=page/node_modules/.bin/oxlint
[ -x $lint ] && command -v node > /dev/null || { echo "skipped page source: it needs Node.js and \`npm ci\` in page/ (tools/setup does both)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo 'export function f(a) { const b = a; return c; }' > "$work/wrong.js"
out=$($lint -c page/.oxlintrc.json "$work/wrong.js" 2>&1) && { echo "FAILED page source: names that are not defined pass"; exit 1; }
[[ $out == *"'c' is not defined"* && $out == *"'b'"* ]] || { echo "FAILED page source: $out"; exit 1; }
out=$($lint -c page/.oxlintrc.json page/src page/core page/*.mjs tests/page tests/wasm tools/*.mjs tools/site-files 2>&1) || { echo "FAILED page source: $out"; exit 1; }
[[ $out =~ on\ ([0-9]+)\ files && ${BASH_REMATCH[1]} -gt 50 ]] || { echo "FAILED page source: $out"; exit 1; }
echo "ok page source: ${BASH_REMATCH[1]} files"
