#!/usr/bin/env bash
# The editor of pages. Under node: spans of XML, edits as splices, names with their references, formulas, on awkward texts and on every shipped model, and
# what the program says to the edited texts. In a headless Chromium with a live session: a four-bar with a spring, a slider-crank and a cart on a floor are built by
# clicks, drags and keys alone, moved, saved and run by the command line; every tool, its undoing and doing again; poses against numbers by hand; a file with comments
# differs in the one number that was changed; Save with a server. Pictures in build/page. SARRUS_TEST_LONG=1: closures of every kind, too.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
build=$(realpath "${SARRUS_BUILD:-build/test}")
out=$PWD/build/page
bad=0
skip() {
  echo "skipped editor: $*"
  exit 77
}
command -v node > /dev/null || skip "nodejs is not installed (tools/setup --tests)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r models "$work/models"
node tests/page/editor.mjs "$sarrus" "$work/models" "$work" || bad=1
grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function' page/src/edit/*.js && {
  echo "FAILED editor: page/src/edit makes markup or code of texts"
  bad=1
}
[ $bad -eq 0 ] || exit 1

page=$(dirname "$sarrus")/share/sarrus/page/view.html
[ -e "$page" ] || skip "in a browser: the front end is not built, it needs npm ci in page/ (tools/setup)"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "in a browser: chromium is not installed (tools/setup --tests)"
if ! ${CC:-cc} -std=gnu17 -Iinclude -o "$work/session" tests/page/live_pipe.c -L"$build" -lsarrus -Wl,-rpath,"$build" > "$work/log" 2>&1; then
  echo "FAILED editor: a session does not compile: $(head -c 300 "$work/log")"
  exit 1
fi
mkdir -p "$out"
timeout 600 node tests/page/editor_browser.mjs "$chromium" "$sarrus" "$work/session" "$page" "$work" || bad=1
cp "$work"/editor-*.png "$out" 2> /dev/null
[ $bad -eq 0 ] && echo "ok editor in a browser"
exit $bad
