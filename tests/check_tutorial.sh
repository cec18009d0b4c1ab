#!/usr/bin/env bash
# Does what README.md and docs/using/tutorial.md tell the reader, word for word, in a fresh copy of the tree and under an environment
# without variables: of the README the commands (```sh), of the tutorial the files (```xml NAME), the commands, and what they print
# (```text): every line up to "...", blanks counted alike.
# The program is that of the tests, put where the README's own build puts it; ./test --long runs that build, too.
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${SARRUS_BUILD:-build/test}")
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
mkdir "$work/clone" "$work/home" "$work/project"
fresh=$work/clone

fail() {
  echo "FAILED tutorial: $1"
  shift
  printf '  %s\n' "$@"
  exit 1
}

# clean FOLDER SCRIPT: runs it there as a new user would
clean() {
  (cd "$1" && env -i HOME="$work/home" PATH="$fresh/build:/usr/local/bin:/usr/bin:/bin" LANG=C.UTF-8 bash -e "$2" > "$work/log" 2>&1 < /dev/null) ||
    fail "these commands failed:" "$(cat "$2")" "$(tail -n 5 "$work/log")"
}

# ------------------------------------------------------------------------------------------------------------- a fresh tree
if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do [ -e "$file" ] && printf '%s\0' "$file"; done |
    tar -c --null -T - | tar -x -C "$fresh"
else
  tar -c --exclude=./build --exclude=./out . | tar -x -C "$fresh"
fi
awk -v out="$work" '
  /^## / { section = $2 }
  /^```/ && inside { inside = 0; next }
  /^```sh$/ { inside = 1; file = out "/readme-" (section == "Build" ? "build" : "commands"); next }
  inside { print >> file }' README.md
[ -s "$work/readme-build" ] && [ "$(wc -l < "$work/readme-commands")" -ge 9 ] || fail "the commands of README.md are not found"
if [ "${SARRUS_TEST_LONG:-0}" = 1 ]; then
  clean "$fresh" "$work/readme-build"
else
  mkdir "$fresh/build"
  cp -P "$build"/libsarrus.so* "$build/sarrus" "$fresh/build/" && ln -s ../include "$fresh/build/include"
  [ "$(readlink -f "$build/include")" = "$PWD/include" ] || fail "the build has no link to the headers beside its program"
fi

# ------------------------------------------------------------------------------------------------------------------- README
clean "$fresh" "$work/readme-commands"
for file in out/double-pendulum.csv out/double-pendulum.svg out/humanoid.xml; do [ -s "$fresh/$file" ] || fail "README.md: no $file"; done

# ----------------------------------------------------------------------------------------------------------------- tutorial
cd "$work/project" || exit 1
# Blocks in the order of the page, but in every section the files first: a command may stand above a file that it uses.
awk -v out="$work" '
  /^## / { section++ }
  /^```/ && inside { inside = 0; close(file); next }
  /^```/ {
    inside = 1; kind = substr($1, 4); n++
    file = sprintf("%s/block-%02d-%d-%03d-%s", out, section, kind != "xml", n, kind == "xml" ? "xml-" $2 : kind)
    printf "" > file
    next
  }
  inside { print >> file }' "$OLDPWD/docs/using/tutorial.md"

count=0
for block in "$work"/block-*; do
  name=$(basename "$block")
  case $name in
    *-xml-*) cp "$block" "${name#*-xml-}" ;;
    *-sh)
      clean "$work/project" "$block"
      count=$((count + 1))
      ;;
    *-text)
      while IFS= read -r line; do
        wanted=$(tr -s ' ' <<< "${line%%...*}")
        tr -s ' ' < "$work/log" | grep -qF -- "${wanted% }" ||
          fail "the page shows '$line', the program printed:" "$(cat "$work/log")"
      done < "$block"
      ;;
    *) fail "unknown kind of block $name" ;;
  esac
done
[ $count -ge 6 ] || fail "only $count blocks of commands were found"
echo "ok tutorial: README.md and the tutorial, word for word"
