#!/usr/bin/env bash
# The core as WebAssembly and the page of models (share/sarrus/page/sarrus.html): runs of shipped models equal those of the program to 1e-9, in node
# and in a headless Chromium without network; errors are marked at their line, names never become markup, links hold models, a run can be
# stopped. SARRUS_TEST_LONG=1: also every example, and pictures in both themes and sizes, which are kept in build/page-of-models.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
build=${SARRUS_BUILD:-build/test}
out=$PWD/build/page-of-models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
fail() {
  echo "FAILED wasm: $*"
  bad=1
}
skip() {
  echo "skipped wasm: $*"
  exit 77
}
[ -e "$build/share/sarrus/page/page.html" ] || skip "the front end of pages is not built: it needs nodejs, npm, and npm ci in page/ (tools/setup)"
rm -rf "$out" && mkdir -p "$out"

# What a page holds as a browser reads it: its script is packed.
unpacked() {
  node -e 'const page = require("fs").readFileSync(process.argv[1], "utf8");
    console.log(page, require("zlib").inflateRawSync(Buffer.from(/id="sarrus-script">([^<]*)/.exec(page)[1], "base64")).toString())' "$1"
}

# Without a core the page is there all the same, and says what is missing.
(cd page && node build.mjs --app "$work/bare" - -) > "$work/log" 2>&1 || fail "without a core: $(head -c 300 "$work/log")"
grep -q 'id="sarrus-core"' "$work/bare/sarrus.html" && fail "a page without a core holds one"
unpacked "$work/bare/sarrus.html" | grep -q 'built without its core' || fail "a page without a core does not say so"

expat=$(sed -n 's/^SARRUS_EXPAT_SOURCE:PATH=//p' "$build/CMakeCache.txt")
command -v emcc > /dev/null || skip "no emcc (tools/setup --wasm)"
[ -e "$expat/xmlparse.c" ] || skip "no sources of expat in $expat (tools/setup --wasm)"
cmake "$build" > "$work/log" 2>&1 && cmake --build "$build" --target sarrus_app >> "$work/log" 2>&1 || {
  echo "FAILED wasm: it does not build"
  tail -n 15 "$work/log" | sed 's/^/  /'
  exit 1
}
page=$build/share/sarrus/page/sarrus.html
[ "$(wc -c < "$page")" -lt 2400000 ] || fail "the page has $(wc -c < "$page") bytes, at most 2.4 MB"
unpacked "$page" | grep -qE '(src|href)="?(https?:)?//' && fail "the page names an address of the network"
for word in expat emscripten '@codemirror/view' three; do
  grep -q "$word" "$(dirname "$page")/THIRD-PARTY-sarrus.txt" || fail "no licence of $word"
done
node tests/wasm/core.mjs "$build/wasm" models "$sarrus" || bad=1

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  [ $bad -eq 0 ] && skip "the core is as it should be; chromium, for the page, is not installed (tools/setup --tests)"
  exit 1
}
long=
[ "${SARRUS_TEST_LONG:-0}" = 1 ] && long=long
timeout 900 node tests/wasm/page.mjs "$chromium" "$page" "$sarrus" models "$out" $long || bad=1
exit $bad
