#!/usr/bin/env bash
# The installed library serves a program of someone else: found by CMake and by pkg-config, also after the tree was moved.
# The program printed in README.md is one of them.
cd "$(dirname "$0")/.." || exit 1
build=${SARRUS_BUILD:-build/test}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() {  # step NAME COMMAND...
  local name=$1
  shift
  "$@" > "$work/log" 2>&1 && return
  echo "FAILED install: $name"
  tail -n 15 "$work/log" | sed 's/^/  /'
  exit 1
}

with_pkg_config() {  # with_pkg_config SOURCE: compiles and runs it
  export PKG_CONFIG_PATH
  PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name sarrus.pc)")
  cc -Wall -Wextra -Werror "$1" $(pkg-config --cflags --libs sarrus) -o "$work/by-pkg-config" &&
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir sarrus) "$work/by-pkg-config"
}

readme_program() {  # the program in README.md compiles, and ends its run well
  awk '/^```c program.c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md > "$work/readme.c"
  with_pkg_config "$work/readme.c" && grep -q '^done: t = 10 s' "$work/log"
}

step "cmake --install" cmake --install "$build" --prefix "$work/prefix"
step "moving the tree" mv "$work/prefix" "$work/moved"
step "find_package" cmake -S tests/install -B "$work/build" -DCMAKE_PREFIX_PATH="$work/moved"
step "building with CMake" cmake --build "$work/build"
step "running what CMake built" "$work/build/program"
step "pkg-config" with_pkg_config tests/install/program.c
if [ -e models/double-pendulum.xml ]; then
  step "the program in README.md" readme_program
fi
if [ -x "$build/sarrus" ]; then
  step "running the installed command line" "$work/moved/bin/sarrus" --version
fi
[ -e "$work/moved/share/doc/sarrus/README.md" ] && [ -e "$work/moved/share/doc/sarrus/docs/index.md" ] ||
  { echo "FAILED install: README.md and docs/ are not in share/doc/sarrus, where their links hold"; exit 1; }
echo "ok install"
