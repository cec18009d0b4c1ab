#!/usr/bin/env bash
# tools/site renders all Markdown pages; links lead to pages, headings and pictures; in a headless Chromium without network the search finds what it should,
# pages are no wider than the window, the console is empty. A link to nowhere is noticed. Five
# models of the text open from their links and run, where the page of models (sarrus.html) is built. tools/gallery draws two models. Pictures in build/site-pictures.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
skip() {
  echo "skipped site: $*"
  exit 77
}
bad=0
fail() {
  echo "FAILED site: $*"
  bad=1
}
command -v node > /dev/null || skip "nodejs is not installed"
[ -e page/node_modules/marked/package.json ] || skip "the package marked is missing: npm ci in page/ (tools/setup)"
git rev-parse > /dev/null 2>&1 || skip "the pages are those that git lists, and this is no clone"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SARRUS=$sarrus tools/site "$work/site" > "$work/log" 2>&1 || fail "$(head -c 500 "$work/log")"
SARRUS=$sarrus tools/site "$work/again" > /dev/null 2>&1
[ -d "$work/site/gallery" ] || diff -rq "$work/site" "$work/again" > "$work/log" || fail "the same pages gave other bytes: $(head -3 "$work/log")"
[ "$(find "$work/site" -name '*.html' -not -path '*/gallery/*' -not -name sarrus.html | wc -l)" -ge "$(git ls-files 'docs/*.md' | wc -l)" ] || fail "pages are missing"
# In a copy of the tree a link to nowhere, and one to no heading.
mkdir "$work/tree" && git ls-files -z docs tools tests/page README.md '*.md' | xargs -0 cp --parents -t "$work/tree" && mkdir -p "$work/tree/page" && ln -s "$PWD/page/node_modules" "$work/tree/page/node_modules"
(
  cd "$work/tree" && git init -q && printf '\n[a](using/nowhere.md) [b](using/page.md#nothing)\n' >> docs/index.md && git add docs README.md
  tools/site "$work/broken"
) > "$work/log" 2>&1 && fail "links to nowhere are not noticed"
grep -q "docs/index.md: 'using/nowhere.md' is not there" "$work/log" && grep -q "docs/index.md: 'using/page.html#nothing' is no heading" "$work/log" || fail "broken links: $(head -c 300 "$work/log")"
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$chromium" ]; then
  out=$PWD/build/site-pictures
  rm -rf "$out" && mkdir -p "$out"
  timeout 300 node tests/page/site.mjs "$chromium" "$work/site" "$out" || bad=1
  if [ -e "$(dirname "$sarrus")/share/sarrus/page/page.html" ]; then
    SARRUS=$sarrus timeout 200 tools/gallery "$work/gallery" mechanisms/engine > "$work/log" 2>&1 || fail "tools/gallery: $(head -c 300 "$work/log")"
    [ -s "$work/gallery/mechanisms--engine.webp" ] && grep -q 'Single-cylinder four-stroke engine' "$work/gallery/index.html" || fail "the gallery has no engine"
    # Bodies that begin in one point, without shapes.
    SARRUS=$sarrus timeout 200 tools/gallery "$work/points" quarter-car > "$work/log" 2>&1 && grep -q '^1 models, 0 of them empty' "$work/log" || fail "the picture of quarter-car: $(head -c 300 "$work/log")"
  fi
else
  echo "site: no chromium: not opened in a browser"
fi
[ $bad -eq 0 ] && echo "ok site"
exit $bad
