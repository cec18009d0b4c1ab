#!/usr/bin/env bash
# Result files: HDF5 and CSV hold the same, plot and compare read both.
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
model=$PWD/models/double-pendulum.xml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
  echo "FAILED results: $1"
  exit 1
}

"$sarrus" run "$model" --t-end 2 --rtol 1e-10 --atol 1e-12 --every 0.01 --out fine.csv > log 2>&1 || fail "run --out fine.csv: $(cat log)"
"$sarrus" run "$model" --t-end 2 --rtol 1e-5 --every 0.013 --out coarse.csv > log 2>&1 || fail "run --out coarse.csv: $(cat log)"
"$sarrus" compare fine.csv coarse.csv --json > c.json 2> log || fail "compare of results: $(cat log)"
python3 - << 'EOF' || fail "the report of compare about two results is wrong"
import csv, json
def table(name):
    rows = list(csv.reader(open(name)))[1:]
    return [n.split(" [")[0] for n in rows[0]], [[float(x) for x in r] for r in rows[1:]]
told = json.load(open("c.json"))
pair = told["results"][0]
names, coarse = table("coarse.csv")
_, fine = table("fine.csv")
q = names.index("q.q1")
assert told["reference"] == "fine.csv" and pair["rows"] == len(coarse) and pair["interpolated"] > 0
# at times that both files have (every 0.13 s), straight from the tables
at = {round(r[0], 9): r for r in fine}
common = [abs(r[q] - at[round(r[0], 9)][q]) for r in coarse if round(r[0], 9) in at]
column = next(c for c in pair["columns"] if c["name"] == "q.q1")
assert len(common) > 10 and max(common) <= column["largest"] * (1 + 1e-9) and column["largest"] < 1
assert column["rms"] <= column["largest"] and column["unit"] == "rad"
EOF
"$sarrus" compare fine.csv > log 2>&1 && fail "compare of one result is not refused"
printf 't,x\n0,1\n1,2\n1,3\n' > back.csv
"$sarrus" compare fine.csv back.csv > log 2>&1
[ $? -eq 2 ] && grep -q 'row 3' log || fail "times that do not rise: $(cat log)"

printf 't [s],x [m],y\n0,1,0\n1,2,0\n' > one.csv
printf 't [s],x [m],z\n0,1,0\n1,nan,0\n2,300,0\n' > two.csv
printf 't [s],x [mm]\n0,1\n1,2\n' > three.csv
"$sarrus" compare one.csv two.csv --json > c.json 2> log || fail "compare with a gap: $(cat log)"
python3 -c '
import json
pair = json.load(open("c.json"))["results"][0]
assert (pair["rows"], pair["outside"], pair["missing"]) == (2, 1, 2), pair
assert pair["columns"][0]["largest"] is None and pair["columns"][0]["at"] == 1, pair' ||
  fail "what is left out, or is no number, is not told"
"$sarrus" compare one.csv three.csv > log 2>&1
[ $? -eq 2 ] && grep -q 'in m in one.csv, and in mm in three.csv' log || fail "units that differ: $(cat log)"

head -c -20 fine.csv > stopped.csv
"$sarrus" compare fine.csv stopped.csv --json > c.json 2> log || fail "a CSV that was cut off: $(cat log)"
grep -q 'the last line is cut off' log && grep -q '"rows": 200,' c.json || fail "a line that was cut off is not told: $(cat log)"

if "$sarrus" run "$model" --t-end 2 --rtol 1e-10 --atol 1e-12 --every 0.01 --out fine.h5 > log 2>&1; then
  "$sarrus" compare fine.csv fine.h5 --json > c.json || fail "compare of CSV and HDF5"
  python3 -c '
import json
pair = json.load(open("c.json"))["results"][0]
assert pair["interpolated"] == 0 and pair["missing"] == 0 and len(pair["columns"]) > 20
assert all(c["largest"] == 0 for c in pair["columns"]), "they differ"' || fail "CSV and HDF5 of one run differ"
  "$sarrus" plot fine.h5 --y 'q.*' > log 2>&1 && [ -s fine.svg ] || fail "plot of HDF5: $(cat log)"
  "$sarrus" run "$model" --rtol 1e-12 --atol 1e-14 --t-end 1 --every 0.01 --out reference.h5 > log 2>&1 || fail "$(cat log)"
  "$sarrus" compare "$model" --methods dopri5 --rtol 1e-6 --t-end 1 --reference reference.h5 --json > c.json 2> log ||
    fail "compare --reference HDF5: $(cat log)"
  grep -q 'reference.h5' c.json || fail "the reference is not named"
  "$sarrus" compare "$model" --methods dopri5 --rtol 1e-6 --t-end 2 --reference reference.h5 > log 2>&1
  [ $? -eq 2 ] && grep -q 'is of 0 to 1 s, the run of 0 to 2 s' log || fail "a reference of another time: $(cat log)"
  head -c 3000 fine.h5 > cut.h5
  "$sarrus" plot cut.h5 > log 2>&1
  [ $? -eq 2 ] && grep -q 'cut.h5: error: ' log || fail "a damaged file: $(cat log)"
else
  grep -q 'built without' log || fail "run --out fine.h5: $(cat log)"
  [ -e fine.h5 ] && fail "a file was left behind"
fi
echo "ok results"
