#!/usr/bin/env bash
# Follows docs/using/tutorial.md: writes its files (```xml NAME), runs its commands (```sh), and looks for
# what it shows (```text) in what they print: every line up to "...", blanks counted alike.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-$PWD/build/test/sarrus}
page=$PWD/docs/using/tutorial.md
export SARRUS_INCLUDE=$PWD/include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/project"
ln -s "$(realpath "$sarrus")" "$work/bin/sarrus"
export PATH=$work/bin:$PATH
cd "$work/project" || exit 1

fail() {
  echo "FAILED tutorial: $1"
  shift
  printf '  %s\n' "$@"
  exit 1
}

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
  inside { print >> file }' "$page"

count=0
for block in "$work"/block-*; do
  name=$(basename "$block")
  case $name in
    *-xml-*) cp "$block" "${name#*-xml-}" ;;
    *-sh)
      bash -e "$block" > "$work/log" 2>&1 || fail "these commands failed:" "$(cat "$block")" "$(tail -n 5 "$work/log")"
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
echo "ok tutorial"
