#!/usr/bin/env bash
# sarrus laws keeps its contract: the restitution that each law gives, keys of the JSON, table and figures, messages; and the
# figures of docs/ are those that the documented command draws.
cd "$(dirname "$0")/.." || exit 1
sarrus=${SARRUS:-$PWD/build/test/sarrus}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fail() {
  echo "FAILED laws: $*"
  bad=1
}

# status N ARGUMENTS...: the exit status is N; output in $work/out, $work/err
status() {
  local expected=$1 got
  shift
  "$sarrus" laws "$@" > "$work/out" 2> "$work/err"
  got=$?
  [ $got -eq "$expected" ] || fail "laws $*: status $got, expected $expected: $(head -c 300 "$work/err")"
}
says() { grep -qE -- "$1" "$work/err" || fail "expected a message like '$1', got: $(head -c 300 "$work/err")"; }
has() { grep -qE -- "$1" "$work/out" || fail "expected '$1' in: $(head -c 400 "$work/out")"; }

texts() { grep -o '>[^<]*</text>' "$1"; }

# --------------------------------------------------------------------------------------------------------------- table
status 0 --help
has "example"
status 0
has 'hunt-crossley +0\.5158 +0\.5813 +0\.6630 +0\.7680 +0\.9090 +0\.9901$'
has 'lankarani-nikravesh +0\.6653 +0\.6842 +0\.7252 +0\.7960 +0\.9132 +0\.9901$'
has 'flores +0\.0694 +0\.2562 +0\.4704 +0\.6832 +0\.8939 +0\.9893$'
has 'exact +0\.1000 +0\.3000 +0\.5000 +0\.7000 +0\.9000 +0\.9900$'
has 'kelvin-voigt .* clamped$'
has 'kikuuwe .* holds$'
has 'lugre .* creeps$'
has 'coulomb .* set-valued$'
status 0 --normal exact --friction none --restitution 0,0.01,1 --set normal.n=2 --mass 1e-3 --speed 20
has 'exact +0\.0010 +0\.0100 +1\.0000$'
grep -q sliding "$work/out" && fail "--friction none shows friction"
status 0 --normal flores --friction none --restitution 0,0.5
has 'flores +- +0\.4704$'

# ---------------------------------------------------------------------------------------------------------------- JSON
status 0 --json --normal hertz,exact --friction kikuuwe,iwan --limits 3,2 --set friction.vs=0.02
if command -v python3 > /dev/null && python3 -c '' 2> /dev/null; then
  python3 - "$work/out" << 'END' || fail "the JSON is not what docs/using/cli.md says"
import json, math, sys
o = json.load(open(sys.argv[1]))
assert [l["name"] for l in o["normal"]] == ["hertz", "exact"] and [l["name"] for l in o["friction"]] == ["kikuuwe", "iwan"]
exact = o["normal"][1]
assert all(abs(r["asked"] - r["given"]) < 1e-9 for r in exact["restitution"])
assert len(exact["curve"]) == 201 and all(d >= 0 and f >= 0 for d, f in exact["curve"])
# The area of the loop is the energy lost: 1/2 m v^2 (1 - e^2) = 0.375 J.
area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(exact["curve"], exact["curve"][1:]))
assert abs(area - 0.375) < 1e-3, area
for l in o["friction"]:
    assert l["holds"] and len(l["v"]) == len(l["f"]) == 201
    for v, f in zip(l["v"], l["f"]):
        curve = 2 + math.exp(-(v / 0.02) ** 2)
        assert abs(f - (math.copysign(curve, v) if v else 0)) < 1e-9
    assert max(l["cycle"]["f"]) <= 3
assert o["parameters"]["friction.vs"] == 0.02 and o["warnings"] == []
END
fi

# ----------------------------------------------------------------------------------------------------- figures and CSV
status 0 --svg "$work/figures" --csv "$work/laws.csv"
for kind in normal friction; do
  [ "$(head -c 4 "$work/figures/laws-$kind.svg")" = "<svg" ] || fail "laws-$kind.svg is no figure"
  # All texts, with ticks and restitutions; not the lines, which another libm may round to another hundredth of a pixel.
  cmp -s <(texts "$work/figures/laws-$kind.svg") <(texts "docs/theory/laws-$kind.svg") ||
    fail "docs/theory/laws-$kind.svg is old: sarrus laws --svg docs/theory"
done
[ "$(wc -l < "$work/laws.csv")" -eq 202 ] || fail "the table has $(wc -l < "$work/laws.csv") lines, expected 202"
"$sarrus" plot "$work/laws.csv" --y coulomb,kikuuwe --out "$work/again.svg" > /dev/null || fail "sarrus plot does not read the table"

# ------------------------------------------------------------------------------------------------------------ messages
status 2 --normal hunt-crosley
says "unknown word 'hunt-crosley'; did you mean 'hunt-crossley'"
status 2 --friction kikuuwe,dal
says "did you mean 'dahl'"
status 2 --set friction.k=1
says "did you mean 'friction.K'"
status 2 --set friction.K=many
says "expects a number, not 'many'"
status 2 --set normal.e=1.5
says "hunt-crossley needs e <= 1, not 1.5"
status 2 --limits 1,2
says "static limit that is not below the kinetic one"
status 2 --limits 1
says "expects two numbers"
status 2 --mass 0
says "mass must be larger than 0"
status 2 model.xml
says "one argument too many"
status 1 --csv "$work/laws.csv/laws.csv"
says "cannot be written: Not a directory"
status 2 --svg "$work/laws.csv"
says "takes a folder for its figures"
status 2 --svg -
says "takes a folder for its figures"
status 2 --mass -1 --json
has '"errors": \["sarrus: error: --mass must be larger than 0'

[ $bad -eq 0 ] && echo "ok laws"
exit $bad
