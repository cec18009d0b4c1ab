#!/usr/bin/env bash
# tools/release, without its builds (tests/long_package.sh makes them): what it refuses, and the source archive.
cd "$(dirname "$0")/.." || exit 1
if ! git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
  echo "skipped release: not a clone"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED release: $1"; tail -n 10 "$work/log" | sed 's/^/  /'; exit 1; }
commit() { git -c user.name=test -c user.email=test@localhost -c commit.gpgsign=false commit -qam "$1"; }
refused() {  # refused WORDS ARGUMENT...: with these words, and nothing is made
  local words=$1
  shift
  ! tools/release --source "$@" > "$work/log" 2>&1 && grep -qF -- "$words" "$work/log" && [ ! -e dist ] || fail "not refused: $words"
}

# A repository of the tracked files as they are now.
mkdir "$work/clone"
git ls-files -z --cached | while IFS= read -r -d '' file; do [ -e "$file" ] && printf '%s\0' "$file"; done |
  tar -c --null -T - | tar -x -C "$work/clone"
cd "$work/clone" || exit 1
{ git init -q . && git add -Af . && commit begin; } > "$work/log" 2>&1 || fail "git"
version=$(sed -n 's/.*SR_VERSION_STRING "\([^"]*\)".*/\1/p' include/sarrus/base.h)

refused "is $version, not 9.9.9" 9.9.9
echo >> README.md
refused "not committed"
git checkout -q README.md
sed -i "s/^version: .*/version: 9.9.9/" CITATION.cff && commit citation
refused "CITATION.cff has another version than $version"
git reset -q --hard HEAD~1
sed -i "s/^## $version/## 9.9.9/" CHANGELOG.md && commit changelog
refused "no section '## $version'"
git reset -q --hard HEAD~1
tools/release --sauce > "$work/log" 2>&1
[ $? -eq 2 ] || fail "an unknown option is not refused with status 2"

tools/release --source "$version" > "$work/log" 2>&1 || fail "tools/release --source"
(cd dist && sha256sum --check --quiet --strict SHA256SUMS) > "$work/log" 2>&1 || fail "checksums"
tar -tzf "dist/sarrus-$version.tar.gz" | sed -n "s|^sarrus-$version/\(.*[^/]\)\$|\1|p" | sort > "$work/packed"
git ls-files | sort | diff - "$work/packed" > "$work/log" || fail "the archive does not hold the tracked files"
cp dist/SHA256SUMS "$work/first"
tools/release --source > "$work/log" 2>&1 || fail "tools/release --source, a second time"
cmp -s dist/SHA256SUMS "$work/first" || fail "the same commit gives another archive"
echo "ok release"
