#!/usr/bin/env bash
# What the pages tell the reader to do, done word for word (tests/pages.py): in a fresh tree of the tracked files for every page, with an empty
# home and no variables but HOME and PATH, as the user nobody where the test itself runs as root.
#   tests/check_pages.sh [PAGE...]      default: every page
# The program is that of the tests, put where the README's own build puts it; ./test --long makes that build, and runs what is marked (long).
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${SARRUS_BUILD:-build/test}")
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/home" "$work/log"
fail() { echo "FAILED pages: $1"; exit 1; }

if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
  git ls-files -z --cached | while IFS= read -r -d '' file; do [ -e "$file" ] && printf '%s\0' "$file"; done |
    tar -c --null -T - | tar -x -C "$work/tree"
else
  tar -c --exclude=./build --exclude=./out --exclude=./dist . | tar -x -C "$work/tree"
fi
if [ "${SARRUS_TEST_LONG:-0}" != 1 ]; then
  [ "$(readlink -f "$build/include")" = "$PWD/include" ] || fail "the build has no link to the headers beside its program"
  mkdir "$work/tree/build"
  cp -P "$build"/libsarrus.so* "$build/sarrus" "$work/tree/build/" && ln -s ../include "$work/tree/build/include"
fi

user=()
if [ "$(id -u)" -eq 0 ] && command -v setpriv > /dev/null && id nobody > /dev/null 2>&1; then
  user=(setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups)
  chmod 755 "$work"
  chown -R nobody "$work/tree" "$work/home" "$work/log"
fi
if [ $# -eq 0 ]; then
  mapfile -t pages < <(cd "$work/tree" && find . -name '*.md' ! -name CHANGELOG.md ! -path './build/*' -printf '%P\n' | sort)
  set -- README.md "${pages[@]}"
elif [ "${SARRUS_TEST_LONG:-0}" = 1 ]; then
  set -- README.md "$@"  # it makes the build of the others
fi
tests/pages.py "$work" "${user[@]}" -- "$@"
