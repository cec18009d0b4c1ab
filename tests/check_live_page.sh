#!/usr/bin/env bash
# The page with a live engine (view.html), driven in a headless Chromium against a native session: rows come and are those of `sarrus run`,
# sliders keep loops closed, parameters change the motion, bodies are pulled, one goes back and on, runs that stop and servers that go say why.
# SARRUS_TEST_LONG=1: also script time of a frame, every shipped model, and pictures in both themes and sizes, which are kept in build/live-page.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
out=$PWD/build/live-page
build=$(dirname "$sarrus")
skip() {
  echo "skipped live page: $*"
  exit 77
}
front=$build/share/sarrus/page
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -e "$front/view.html" ] || skip "the front end is not built: it needs nodejs, npm, and npm ci in page/ (tools/setup)"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "chromium is not installed (tools/setup --tests)"
command -v node > /dev/null || skip "nodejs is not installed (tools/setup --tests)"
[ -e "$build/libsarrus.so" ] || skip "the library is not a shared one here"

# What pages of runs weigh does not depend on the live panels: they are in view.html alone.
bad=0
saved=$(wc -c < "$front/page.html") live=$(wc -c < "$front/view.html")
[ "$saved" -lt 960000 ] || { echo "FAILED live page: page.html has $saved bytes, at most 960000"; bad=1; }
[ "$live" -lt 1500000 ] || { echo "FAILED live page: view.html, with the editor, has $live bytes, at most 1500000"; bad=1; }
grep -rnE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function' page/src/live page/src/viewer.js && { echo "FAILED live page: page/src/live makes markup or code of texts"; bad=1; }

${CC:-cc} -std=gnu17 -O1 -Iinclude -o "$work/session" tests/page/live_pipe.c -L"$build" -lsarrus -Wl,-rpath,"$build" || { echo "FAILED live page: tests/page/live_pipe.c does not compile"; exit 1; }
rm -rf "$out" && mkdir -p "$out"
cp "$front/view.html" "$out/"
"$sarrus" run models/pendulum.xml --out "$out/pendulum.csv" --quiet || bad=1
parts="run past slider turn hands small framing parameters pull ends reload modes reach server kinds"
[ "${SARRUS_TEST_LONG:-0}" = 1 ] && parts=
# shellcheck disable=SC2086
SARRUS=$sarrus timeout 1500 node tests/page/live.mjs "$chromium" "$out" "$work/session" models $parts || bad=1
exit $bad
