#!/usr/bin/env bash
# The pages fit the tree: every page that code, tests or tools name is there and is listed in docs/index.md; every check script has its row
# in docs/developing/testing.md; every list of docs/developing/extending.md is defined where the page says; sources are cited by authors.
cd "$(dirname "$0")/.." || exit 1
faults=0
fault() {
  echo "  $1"
  faults=$((faults + 1))
}

files=$(find README.md CONTRIBUTING.md SECURITY.md demo bindings benchmarks cli cmake docs include models src tests tools -type f \
  ! -name '*.csv' ! -name '*.svg' ! -name '*.pyc' ! -path 'tests/check_docs.sh')
while IFS=: read -r file line page; do
  [ -e "$page" ] || fault "$file:$line: no page $page"
done < <(grep -onIE '\bdocs/[A-Za-z0-9/_-]+\.(md|bib|svg)\b' $files)

while IFS= read -r page; do
  grep -qF "](${page#docs/})" docs/index.md || fault "docs/index.md does not list $page"
done < <(find docs -name '*.md' ! -name index.md ! -path '*/decisions/*')

for script in tests/check_*.sh tests/long_*.sh; do
  grep -qF "| \`$(basename "$script")\` |" docs/developing/testing.md || fault "docs/developing/testing.md has no row for $script"
done

lists=0
while IFS=' ' read -r list file; do
  lists=$((lists + 1))
  grep -qE "^#define $list\(" "$file" || fault "docs/developing/extending.md: $file does not define $list"
done < <(grep -oE '`[A-Z_]+_LIST`, `[a-z/._]+`' docs/developing/extending.md | tr -d '`,')
[ $lists -ge 9 ] || fault "docs/developing/extending.md names only $lists lists"

while IFS= read -r hit; do fault "$hit: cite authors and year"; done < <(grep -nIE '\b[Pp]aper [1-4]\b' $files)

if [ $faults -gt 0 ]; then
  echo "FAILED docs: $faults faults"
  exit 1
fi
echo "ok docs"
