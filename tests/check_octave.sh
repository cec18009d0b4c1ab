#!/usr/bin/env bash
# Octave reads results of both kinds: the same names, units and numbers, and the pendulum's period. Skipped without Octave.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-build/test/sarrus}
octave=$(command -v octave-cli || command -v octave)
if [ -z "$octave" ]; then
  echo "skipped octave: it is not installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED octave: $1"
  tail -n 20 "$work/log" | sed 's/^/  /'
  exit 1
}

quiet() { "$octave" --no-gui --no-init-file --no-site-file --path bindings/octave --eval "$1" > "$work/log" 2>&1; }

"$sarrus" run models/pendulum.xml --out "$work/r.csv" > "$work/log" 2>&1 || fail "no results"
kinds=csv
# A library that was built without HDF5 refuses the name.
if "$sarrus" run models/pendulum.xml --out "$work/r.h5" > "$work/log" 2>&1; then
  kinds="csv h5"
  quiet "a = sarrus_read('$work/r.csv'); b = sarrus_read('$work/r.h5');
    assert(a.names, b.names); assert(a.units, b.units); assert(a.table, b.table)" || fail "CSV and HDF5 differ"
fi
for kind in $kinds; do
  quiet "file = '$work/r.$kind'; example" || fail "the example with $kind"
  # 2.3678419475762 s by the complete elliptic integral; rows are 0.01 s apart
  period=$(sed -n 's/^period \(.*\) s$/\1/p' "$work/log")
  awk -v x="$period" 'BEGIN { exit !(x > 2.36774 && x < 2.36794) }' || fail "the period is $period s ($kind)"
  quiet "r = sarrus_read('$work/r.$kind'); assert(r.units{strcmp(r.names, 'P1.vx')}, 'm/s');
    assert(size(r.table), [1001 numel(r.names)]); assert(sarrus_column(r, 't')(end), 10)" || fail "names and units ($kind)"
done
quiet "sarrus_column(sarrus_read('$work/r.csv'), 'q.nothing')" && fail "a column that is not there was found"
grep -q "there is no column 'q.nothing'" "$work/log" || fail "no sentence for a column that is not there"
quiet "sarrus_read('$work/none.csv')" && fail "a file that is not there was read"
echo "ok octave"
