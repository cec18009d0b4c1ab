#!/usr/bin/env bash
# The parts of the library build by their presets: core and io, and the core as WebAssembly where emscripten is (Debian: emscripten, with
# nodejs to run it). A program on the core gives the same motion everywhere. Each is a build of its own: under ./test --long alone.
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() {  # step NAME COMMAND...
  local name=$1
  shift
  "$@" > "$work/log" 2>&1 && return
  echo "FAILED targets: $name"
  tail -n 15 "$work/log" | sed 's/^/  /'
  exit 1
}

for part in core io; do
  step "configuring $part" cmake --preset $part -B "$work/$part" -DBUILD_SHARED_LIBS=OFF -DSARRUS_WERROR=ON
  step "building $part" cmake --build "$work/$part" --parallel
done
step "a program on the core" cc -std=c17 -Wall -Wextra -Werror -Iinclude tests/core/core.c "$work/core/libsarrus.a" -lm -o "$work/program"
step "running it" "$work/program"
native=$(cat "$work/log")

if ! command -v emcc > /dev/null; then
  echo "skipped targets: core and io are built; no emcc for WebAssembly (Debian: apt install emscripten)"
  exit 77
fi
step "configuring wasm" cmake --preset wasm -B "$work/wasm"
step "building wasm" cmake --build "$work/wasm" --parallel
if warned=$(grep -m 3 'warning:' "$work/log"); then
  echo "FAILED targets: warnings of wasm"
  echo "$warned" | sed 's/^/  /'
  exit 1
fi
step "a program on wasm" emcc -O1 -Iinclude tests/core/core.c "$work/wasm/libsarrus.a" -sSINGLE_FILE=1 -sENVIRONMENT=node -o "$work/core.js"
if command -v node > /dev/null; then
  step "running it in node" node "$work/core.js"
  [ "$(cat "$work/log")" = "$native" ] || { echo "FAILED targets: wasm says '$(cat "$work/log")', native '$native'"; exit 1; }
fi
echo "ok targets"
