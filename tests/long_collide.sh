#!/usr/bin/env bash
# Gaps of random pairs of shapes agree with Bullet, FCL and libccd, where those are installed (tests/collide_peers/peers.cc).
cd "$(dirname "$0")/.." || exit 1
command -v g++ > /dev/null && pkg-config --exists fcl ccd bullet-float64 eigen3 2> /dev/null ||
  { echo "skipped collide: no FCL, libccd and Bullet (tools/setup --long)"; exit 77; }
build=${SARRUS_BUILD:-build/test}/collide_peers
mkdir -p "$build"
log=$build/log
read -ra flags < <(pkg-config --cflags fcl ccd bullet-float64 eigen3 | sed 's/-I/-isystem /g')
read -ra libraries < <(pkg-config --libs fcl ccd bullet-float64)
if ! { for source in src/collide/{shape,flat,hull,simplex,gjk,epa,normal_newton,distance*}.c src/math/{pose,hull}.c src/base/{pool,alloc}.c tests/collide_peers/ours.c; do
    cc -std=gnu17 -O2 -ffp-contract=off -Wno-psabi -Isrc -Iinclude -c "$source" -o "$build/$(tr / _ <<< "$source").o" || exit 1
  done && g++ -std=c++17 -O1 "${flags[@]}" tests/collide_peers/peers.cc "$build"/*.o "${libraries[@]}" -o "$build/peers"; } > "$log" 2>&1; then
  echo "FAILED collide: it does not build"
  tail -n 30 "$log"
  exit 1
fi
if ! "$build/peers" "${SARRUS_COLLIDE_PAIRS:-200}" > "$log" 2>&1; then
  echo "FAILED collide:"
  tail -n 100 "$log"
  exit 1
fi
echo "ok collide: $(tail -n 1 "$log")"
