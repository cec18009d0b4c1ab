#!/usr/bin/env bash
# tools/setup says what it installs and why, never calls sudo unless it was told to, and installs developers' tools for ./test alone.
# dpkg-query, apt-get, id and sudo are stand-ins here: nothing is installed.
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
fail() {
  echo "FAILED setup: $1"
  sed 's/^/    /' "$work/log" "$work/calls"
  bad=1
}
command() {  # command NAME TEXT: a stand-in
  printf '#!/bin/sh\n%s\n' "$2" > "$work/$1"
  chmod +x "$work/$1"
}
command apt-get 'echo "apt-get $*" >> "$CALLS"'
command npm 'echo "npm $*" >> "$CALLS"'
command sudo 'echo "sudo" >> "$CALLS"; exec "$@"'
# setup USER INSTALLED OPTIONS...
setup() {
  local user=$1 installed=$2
  shift 2
  command id "echo $user"
  command dpkg-query "printf 'ii  %s\\n' $installed"
  : > "$work/calls"
  CALLS=$work/calls PATH=$work:$PATH tools/setup "$@" > "$work/log" 2>&1 < /dev/null
}
building="build-essential cmake libexpat1-dev libsundials-dev"

setup 1000 "build-essential cmake" && fail "packages are missing, and the status is 0"
grep -q "libexpat1-dev  *reads model files" "$work/log" || fail "it does not say what is missing and why"
grep -q "sudo apt-get install --no-install-recommends libexpat1-dev libsundials-dev" "$work/log" || fail "it does not print the command"
[ -s "$work/calls" ] && fail "a user who is not root: something was called"
grep -q "clang\|valgrind" "$work/log" && fail "tools for developers"
setup 1000 "$building" || fail "only optional packages are missing, and the status is not 0"
grep -q "optional packages are missing" "$work/log" && ! [ -s "$work/calls" ] || fail "optional packages"
setup 0 "build-essential cmake" || fail "as root"
grep -q "libsundials-dev  *methods cvode and ida" "$work/log" && grep -q "apt-get.*install.*libsundials-dev" "$work/calls" || fail "as root: says and installs"
grep -q "sudo\|clang" "$work/calls" && fail "as root: sudo, or tools for developers"
setup 1000 "$building" --tests --sudo || fail "--tests --sudo"
grep -q "^sudo" "$work/calls" && grep -q "apt-get.*install.*clang-format-14" "$work/calls" || fail "--tests --sudo: not installed"
grep -Eq '(^|[^-])tools/setup( *$| --)' demo && grep -n 'setup.*--\(sudo\|tests\)' demo > "$work/log" && fail "./demo asks for more than building needs"
# The packages of page/: where npm is, once for each lock file; a failure costs nothing else. In a copy without them.
mkdir -p "$work/copy/tools" "$work/copy/page/node_modules"
cp tools/setup "$work/copy/tools/" && cp page/package-lock.json "$work/copy/page/"
page() {  # page NPM: setup of the copy, with everything installed
  command npm "$1"
  : > "$work/calls"
  command dpkg-query "sed -n 's/^?*\([a-z][^ ]*\)  .*/ii  \1/p' tools/setup"
  CALLS=$work/calls PATH=$work:$PATH "$work/copy/tools/setup" > "$work/log" 2>&1 < /dev/null
}
page 'echo "npm $*" >> "$CALLS"' && grep -q "^npm ci .*--ignore-scripts" "$work/calls" || fail "npm ci is not called"
page 'exit 1' && grep -q "everything but .sarrus run --page. is built" "$work/log" || fail "npm ci fails: status or sentence"
touch "$work/copy/page/node_modules/.package-lock.json"
page 'echo "npm $*" >> "$CALLS"' && ! [ -s "$work/calls" ] || fail "npm ci is called although the packages are there"
[ $bad -eq 0 ] && echo "ok setup"
exit $bad
