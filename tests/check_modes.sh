#!/usr/bin/env bash
# sarrus modes: keys of the JSON, sorting, both formulations, what is refused; --sweep: table, figures, branches, speeds at which the bicycle changes
# its stability (Meijaard et al. 2007).
cd "$(dirname "$0")/.." || exit 1
sarrus=$(realpath "${SARRUS:-build/test/sarrus}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAILED modes: $1"
  exit 1
}
refused() { # STATUS PART ARGUMENT...
  local expected=$1 part=$2 status=0
  shift 2
  "$sarrus" modes "$@" > "$work/out" 2> "$work/err" || status=$?
  [ $status -eq "$expected" ] || fail "modes $*: exit status $status, not $expected"
  grep -qF -- "$part" "$work/err" || fail "modes $*: no '$part' in: $(cat "$work/err")"
}

"$sarrus" modes models/benchmark/bicycle.xml --set speed=5 --json > "$work/one.json" || fail "bicycle"
"$sarrus" modes models/benchmark/bicycle.xml --set speed=5 --formulation absolute --json > "$work/absolute.json" 2> "$work/err" || fail "bicycle, absolute"
grep -q "linearized in relative coordinates" "$work/err" || fail "no warning where absolute coordinates have no constant equations"

"$sarrus" modes models/benchmark/bicycle.xml --sweep speed=4:6.5:26 --csv "$work/table.csv" --svg "$work/figures" --json > "$work/sweep.json" || fail "--sweep"
"$sarrus" modes models/benchmark/bicycle.xml --sweep speed=4:6:3 > "$work/text" || fail "--sweep as text"
[ "$(wc -l < "$work/text")" -eq 5 ] || fail "--sweep as text has $(wc -l < "$work/text") lines"
"$sarrus" modes models/half-car.xml --input front --output front,"v(rear)" --response 0.1:50:40 --csv "$work/gain.csv" --svg "$work/figures" --json > "$work/gain.json" 2> "$work/err" || fail "--response: $(cat "$work/err")"
"$sarrus" modes models/mechanisms/five-rod-suspension.xml --at equilibrium --shapes "$work/shapes" --amplitude 0.02 --json > "$work/shapes.json" || fail "--shapes"
"$sarrus" plot "$work/shapes/mode-1.csv" -o "$work/mode.svg" > /dev/null || fail "plot of a mode"
"$sarrus" modes models/paper1/hexapod.xml --set walk=0 --contact event --at equilibrium --json > "$work/rigid.json" 2> "$work/err" || fail "--contact event: $(cat "$work/err")"
"$sarrus" equilibrium models/paper1/hexapod.xml --set walk=0 --contact event --json > "$work/rest.json" 2> "$work/err" || fail "equilibrium --contact event: $(cat "$work/err")"
"$sarrus" equilibrium models/vehicles/car.xml --steady --set steer=0.05 --json > "$work/corner.json" 2> "$work/err" || fail "steady cornering: $(cat "$work/err")"
refused 2 "goes with --shapes" models/half-car.xml --amplitude 0.1
refused 2 "goes with --contact event" models/half-car.xml --tol-gap 1e-6
refused 2 "timestepping" models/half-car.xml --contact timestepping
refused 2 "--at equilibrium" models/paper1/hexapod.xml --set walk=0 --contact event
refused 2 "formulation relative" models/half-car.xml --formulation absolute --shapes "$work/absolute"
python3 - "$work" << 'PYTHON' || fail "see above"
import csv, json, math, sys, xml.dom.minidom
work = sys.argv[1]

# Rows of a mode: displacements of joints with angles and lengths are amplitude, modulus and phase of the report, over one period.
shown = json.load(open(f"{work}/shapes.json"))
for k, mode in enumerate(shown["modes"]):
    if mode["im"] < 0:
        continue
    lines = [row for row in csv.reader(open(f"{work}/shapes/mode-{k}.csv")) if row and not row[0].startswith("#")]
    names = [name.split(" [")[0] for name in lines[0]]
    rows = [[float(x) for x in row] for row in lines[1:]]
    assert len(rows) == 61 and abs(rows[-1][0] - 2 * math.pi / mode["im"]) < 1e-9
    largest = 0
    for shape in mode["shape"]:
        if "q." + shape["joint"] not in names:
            continue  # of free and ball joints: small rotations, not the columns of q
        column = names.index("q." + shape["joint"])
        for row in rows:
            wanted = shown["q"][column - 1] + 0.02 * shape["modulus"] * math.cos(shape["phase"] + mode["im"] * row[0])
            assert abs(row[column] - wanted) < 0.02 ** 2, (shape, row[column], wanted)
        largest = max(largest, shape["modulus"])
    assert largest == 1
rest, rigid = (json.load(open(f"{work}/{name}.json")) for name in ("rest", "rigid"))
assert rest["indeterminate"] == rigid["indeterminate"] == 12 and rigid["modes"] == [] and rest["stable"] is True
assert abs(sum(c["normal_force"] for c in rest["contacts"]) - 6.34 * 9.81) < 1e-8
assert rest["sensors"]["torso"]["acceleration"] == [0, 0, 0]
car = json.load(open(f"{work}/corner.json"))["sensors"]["chassis"]  # on its circle: velocity times yaw rate
assert abs(math.hypot(*car["acceleration"]) - math.hypot(*car["velocity"]) * math.hypot(*car["angular_velocity"])) < 1e-8
assert math.hypot(*car["acceleration"]) > 5
assert all(c["status"] == "sticks" and c["unique"] is False and c["a"] == "ground/floor" for c in rest["contacts"])
one, absolute, sweep = (json.load(open(f"{work}/{name}.json")) for name in ("one", "absolute", "sweep"))
modes = one["modes"]
assert len(modes) == 10 and one["zeros"] == 6 and one["stability"] == "marginal", (len(modes), one["zeros"], one["stability"])
size = [abs(complex(m["re"], m["im"])) for m in modes]
assert all(a <= b * (1 + 1e-9) for a, b in zip(size, size[1:])), size
assert modes[0]["damping"] is None and modes[0]["frequency"] == 0
for m in modes[6:]:
    assert abs(m["damping"] + m["re"] / abs(complex(m["re"], m["im"]))) < 1e-15
    assert abs(m["frequency"] - abs(m["im"]) / 6.283185307179586) < 1e-15
    assert max(s["modulus"] for s in m["shape"]) == 1 and [s["joint"] for s in m["shape"]] == [
        "frame.wx", "frame.wy", "frame.wz", "frame.vx", "frame.vy", "frame.vz", "rear", "steer", "front"]
    assert any(s["modulus"] == 1 and s["phase"] == 0 for s in m["shape"])
assert len(one["A"]) == 10 and "M" not in one and [s["kind"] for s in one["states"]].count("velocity") == 3
assert absolute["modes"] == modes and absolute["formulation"] == "relative"

assert sweep["name"] == "speed" and len(sweep["values"]) == 26 and sweep["zeros"] == [6] * 26
rows = list(csv.reader(open(f"{work}/table.csv")))
assert rows[0][:3] == ["speed", "re.1 [1/s]", "im.1 [1/s]"] and len(rows) == 27 and len(rows[0]) == 21
for i, row in enumerate(rows[1:]):
    assert [float(x) for x in row] == [sweep["values"][i]] + [x for pair in sweep["eigenvalues"][i] for x in pair]
# Branches are continuous: none moves by more than 1.5 1/s in a step of 0.1 m/s.
for before, after in zip(sweep["eigenvalues"], sweep["eigenvalues"][1:]):
    assert max(abs(complex(*a) - complex(*b)) for a, b in zip(before, after)) < 1.5
# Weave is stable from 4.292 on, capsize up to 6.024 m/s: zeros of the real parts, by a straight line between two values.
def crossing(rising, oscillates):
    for k in range(10):
        for i in range(25):
            a, b = sweep["eigenvalues"][i][k], sweep["eigenvalues"][i + 1][k]
            if (a[1] != 0) == oscillates and ((a[0] < 0 <= b[0]) if rising else (b[0] < 0 <= a[0])):
                v = sweep["values"]
                return v[i] + (v[i + 1] - v[i]) * a[0] / (a[0] - b[0])
assert abs(crossing(False, True) - 4.292) < 2e-3, crossing(False, True)
assert abs(crossing(True, False) - 6.024) < 2e-3, crossing(True, False)
# A, B, C, D and the gains: the same by the matrices of the report, at one frequency.
gain = json.load(open(f"{work}/gain.json"))
space, response = gain["state_space"], gain["response"]
assert space["inputs"] == ["front"] and space["outputs"] == ["front", "v(rear)"] and space["D"] == [[0], [0]]
n, f = len(space["A"]), response["frequency"]
assert len(f) == 40 and abs(f[0] - 0.1) < 1e-15 and f[-1] == 50 and abs(f[1] / f[0] - f[2] / f[1]) < 1e-12
s = 2j * 3.141592653589793 * f[17]
rows = [[(s if i == j else 0) - space["A"][i][j] for j in range(n)] + [complex(space["B"][i][0])] for i in range(n)]
for k in range(n):  # Gauss and Jordan
    best = max(range(k, n), key=lambda i: abs(rows[i][k]))
    rows[k], rows[best] = rows[best], rows[k]
    for i in range(n):
        if i != k:
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
x = [rows[i][n] / rows[i][i] for i in range(n)]
for j in range(2):
    g = sum(c * v for c, v in zip(space["C"][j], x))
    assert abs(abs(g) - response["modulus"][j][0][17]) < 1e-9 * abs(g), (g, response["modulus"][j][0][17])
table = list(csv.reader(open(f"{work}/gain.csv")))
assert table[0] == ["f [Hz]", "modulus.front.front", "phase.front.front [rad]", "modulus.v(rear).front", "phase.v(rear).front [rad]"]
assert [float(row[3]) for row in table[1:]] == response["modulus"][1][0]
for name in ("root-locus", "campbell", "response"):
    figure = xml.dom.minidom.parse(f"{work}/figures/{name}.svg")
    assert figure.documentElement.tagName == "svg" and len(figure.getElementsByTagName("path")) >= 4
PYTHON

refused 2 "the acceleration of 'q2' is" models/double-pendulum.xml
refused 2 "at least 2 values" models/benchmark/bicycle.xml --sweep speed=0:10
refused 2 "at least 2 values" models/benchmark/bicycle.xml --sweep speed=0:10:1
refused 2 "go together" models/half-car.xml --input front
refused 2 "fornt" models/half-car.xml --input fornt --output front
refused 2 "two frequencies in Hz" models/half-car.xml --input front --output front --response 0:10:5
refused 2 "--count expects" models/half-car.xml --count 1.5
refused 2 "is for --sweep" models/benchmark/bicycle.xml --csv "$work/a.csv"
refused 2 "sped" models/benchmark/bicycle.xml --sweep sped=0:10:3
echo "ok modes"
