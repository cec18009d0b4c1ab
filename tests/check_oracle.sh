#!/usr/bin/env bash
# Mass matrix, bias and accelerations agree with generated code and with other engines (MuJoCo, Simbody, KDL) to 1e-9, where those are installed.
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${SARRUS_BUILD:-build/test}")
log=$build/oracle.log
export OPENBLAS_NUM_THREADS=1

have() { [ -n "$(find /usr/include /usr/local/include -maxdepth 2 -path "*/$1" -print -quit 2> /dev/null)" ]; }
if ! have mujoco/mujoco.h && ! have simbody/Simbody.h && ! have kdl/tree.hpp; then
  echo "skipped oracle: no other engine is installed (tools/setup --peers)"
  exit 77
fi

if ! { cmake -S benchmarks -B "$build/oracle" -DSARRUS_LIBRARY="$build/libsarrus.so" -DSARRUS_LIBRARY_V3= &&
  cmake --build "$build/oracle" --target bench-oracle; } > "$log" 2>&1; then
  echo "FAILED oracle: it does not build"
  tail -n 30 "$log"
  exit 1
fi
if ! "$build/oracle/bench-oracle" models/paper1/arm{2,4,6}.xml models/humanoid.xml > "$log" 2>&1; then
  echo "FAILED oracle"
  cat "$log"
  exit 1
fi
echo "ok oracle: $(tail -n 1 "$log")"
