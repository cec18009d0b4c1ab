#!/usr/bin/env bash
# The scripts of page/ and of its tests, by oxlint (page/.oxlintrc.json): every name is defined, none is unused; a name that is not defined shows only where its line runs.
# The lock file of page/ names every package that its packages depend on: `npm ci` refuses one that does not, and everything is then built without pages.
cd "$(dirname "$0")/.." || exit 1
out=$(python3 - page/package-lock.json << 'END'
import json, sys
packages = json.load(open(sys.argv[1]))['packages']
names = {path.rsplit('node_modules/', 1)[-1] for path in packages}
for path, package in packages.items():
    for kind in 'dependencies', 'devDependencies', 'optionalDependencies':
        for name in package.get(kind, {}):
            if name not in names:
                print(f'{path or "page"} depends on {name}, which page/package-lock.json does not have')
END
) && [ -z "$out" ] || { echo "FAILED page source: $out"; exit 1; }
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
