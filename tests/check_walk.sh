#!/usr/bin/env bash
# Robots of URDF and MJCF walk and grasp with all their shapes in contact: quadruped-crawl.xml and quadruped-trot.xml as their gaits say, a hexapod by tools/gait, and
# gripper-lift.xml, gripper-lift-mjcf.xml hold a block by friction. Expected are strides, weights, and mu N.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=${SARRUS:-build/sarrus}
SARRUS=$(realpath "$sarrus")
export SARRUS
python=$(command -v /usr/bin/python3 || command -v python3)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
run() { "$sarrus" run "$@" --quiet > "$out/said" 2>&1 || { cat "$out/said"; exit 1; }; }

# What is in the tree is what the tool writes.
mkdir -p "$out/models"
cp -r models/robots "$out/models/"
rm "$out"/models/robots/quadruped-{crawl,trot}.{csv,xml}
for name in crawl trot; do
  command=$(sed -n 's/^# tools.gait //p' models/robots/quadruped-$name.csv)
  (here=$PWD; cd "$out" && eval "'$python' '$here/tools/gait' $command" > /dev/null 2>&1)
  cmp "$out/models/robots/quadruped-$name.xml" models/robots/quadruped-$name.xml
done
run models/robots/quadruped-crawl.xml --t-end 6 --every 0.03 --record 'contact(touch/ground/floor).*' --out "$out/crawl.csv"
run models/robots/quadruped-trot.xml --t-end 3 --every 0.0005 --record 'contact(*).n' --out "$out/trot.csv"
(here=$PWD; cd "$out/models" && "$python" "$here/tools/gait" robots/hexapod.urdf --base floating --speed 0.1 --cycles 3 --out hexapod-walk.xml > /dev/null 2>&1)
run "$out/models/hexapod-walk.xml" --every 0.02 --out "$out/hexapod.csv"
for name in gripper-lift gripper-lift-mjcf; do
  run models/robots/$name.xml --t-end 2.8 --out "$out/$name.csv" --record 'contact(*).n*' --record 'contact(*).f?'
done
for F in 7.4 8.6; do  # m g/mu = 7.85 N
  run models/robots/gripper-lift.xml --set F=$F --t-end 2.2 --out "$out/F$F.csv"
done

"$python" - "$out" << 'END'
import csv, math, pathlib, sys

out, failed = pathlib.Path(sys.argv[1]), []


def ensure(good, text):
    if not good:
        failed.append(text)


class Table:
    def __init__(self, path):
        rows = [r for r in csv.reader(open(path)) if not r[0].startswith("#")]
        self.names = [name.split(" [")[0] for name in rows[0]]
        self.columns = {name: [float(r[k]) for r in rows[1:]] for k, name in enumerate(self.names)}
        self.t = self.columns["t"]

    def __getitem__(self, name):
        return self.columns[name]

    def at(self, t):
        return min(range(len(self.t)), key=lambda k: abs(self.t[k] - t))


# The tables of the tool are those of the tree but for rounding.
for name in ("crawl", "trot"):
    a, b = Table(f"models/robots/quadruped-{name}.csv"), Table(out / f"models/robots/quadruped-{name}.csv")
    error = max(abs(x - y) for c in a.names for x, y in zip(a[c], b[c]))
    ensure(a.names == b.names and error < 1e-6, f"quadruped-{name}.csv differs by {error} from what tools/gait writes")

# Crawl, 0.05 m/s in cycles of 3 s: the trunk advances by 0.15 m, a foot that stands is where it was a stride before, and none slips.
c = Table(out / "crawl.csv")
i, k = c.at(3), c.at(6)
ensure(abs(c["gait-trunk.x"][k] - c["gait-trunk.x"][i] - 0.15) < 1e-3, f"crawl: {c['gait-trunk.x'][k] - c['gait-trunk.x'][i]} m in a cycle instead of 0.15 m")
ensure(max(c["gait-trunk.z"]) - min(c["gait-trunk.z"]) < 1e-3, "crawl: the height varies")
for foot in range(1, 5):
    x = c[f"gait-foot{foot}.x"]
    ensure(abs(x[k] - x[i] - 0.15) < 1e-3, f"crawl: foot {foot} moves by {x[k] - x[i]} m in a cycle")
    y = c[f"gait-foot{foot}.y"]
    ensure(abs(y[k] - y[i]) < 1e-3, f"crawl: foot {foot} goes {y[k] - y[i]} m to the side")
# Momentum over a cycle, after which the trunk has its velocity again: the mean of the force is the weight, 12.84 kg.
force = [-f for f in c["contact(touch/ground/floor).fz"]]
mean = sum(force[i:k]) / (k - i)
ensure(abs(mean - 12.84 * 9.81) < 0.01 * 12.84 * 9.81, f"crawl: mean force {mean} N, weight {12.84 * 9.81} N")
# Three or four feet carry it at any time, and its inertia is small: the trunk sways by 0.1 m in 1.5 s.
ensure(all(abs(f - 12.84 * 9.81) < 0.15 * 12.84 * 9.81 for f in force[i:k]), f"crawl: force {min(force[i:k])} to {max(force[i:k])} N")

# Trot of the MJCF file with its own servos, 0.2 m/s.
t = Table(out / "trot.csv")
i, k = t.at(1), t.at(3)
speed = (t["gait-trunk.x"][k] - t["gait-trunk.x"][i]) / 2
ensure(abs(speed - 0.2) < 0.02, f"trot: {speed} m/s instead of 0.2 m/s")
ensure(abs(t["gait-trunk.y"][k]) < 0.02, f"trot: {t['gait-trunk.y'][k]} m to the side")
ensure(max(t["gait-trunk.z"][i:]) - min(t["gait-trunk.z"][i:]) < 0.01, "trot: the trunk goes up and down")
normals = [t[name] for name in t.names if name.endswith(".n")]
ensure(len(normals) == 4, f"trot: {len(normals)} contacts")
mean = sum(sum(n[i:k]) for n in normals) / (k - i)
ensure(abs(mean - 12.84 * 9.81) < 0.01 * 12.84 * 9.81, f"trot: mean force {mean} N, weight {12.84 * 9.81} N")
# Diagonal pairs alternate: feet 1 and 4, then 2 and 3, in the middle of their stance (duty 0.55 of 0.5 s).
middle = 0.55 * 0.5 / 2
for cycle in (2, 4):
    for start, stand, swing in ((0.0, (0, 3), (1, 2)), (0.25, (1, 2), (0, 3))):
        row = t.at(0.5 * cycle + start + middle)
        ensure(sum(normals[f][row] for f in stand) > 60 and sum(normals[f][row] for f in swing) < 1, f"trot: t = {t.t[row]}: not two feet stand")

# Tripod of the hexapod, 0.1 m/s for 3 s.
h = Table(out / "hexapod.csv")
ensure(abs(h["gait-trunk.x"][-1] - 0.3) < 3e-3 and abs(h["gait-trunk.y"][-1]) < 1e-3, f"hexapod: {h['gait-trunk.x'][-1]} m instead of 0.3 m")

# Grasp. Virtual work of the fingers, of which one follows the other, and of the thumb, 0.08 kg, which turns by -12 rad/m: either finger presses with half of
# F + 12*0.08*g*dz/dangle, dz/dangle = -0.005 cos + 0.035 sin of the thumb's angle.
g = 9.81
for name, K in (("gripper-lift", 1e5), ("gripper-lift-mjcf", None)):
    x = Table(out / f"{name}.csv")
    end = len(x.t) - 1
    angle = x["q.thumb"][end]
    N = 0.5 * (20 + 12 * 0.08 * g * (-0.005 * math.cos(angle) + 0.035 * math.sin(angle)))
    if name == "gripper-lift":
        normal, carried = (abs(x[f"contact(touch/finger_left).{c}"][end]) for c in ("fy", "fz"))
    else:  # pressure over a patch has a normal of its own
        normal, carried = (abs(x["contact(left).n"][end] * x[f"contact(left).n{c}"][end] + x[f"contact(left).f{c}"][end]) for c in "yz")
    ensure(abs(normal - N) < 2e-4 * N, f"{name}: a finger presses with {normal} N, by virtual work {N} N")
    ensure(abs(carried - 0.2 * g) < 1e-3 * 0.2 * g, f"{name}: a finger carries {carried} N, half of the weight is {0.2 * g} N")
    rise = x["block.z"][end] - x["block.z"][x.at(0.4)]
    ensure(abs(rise - 0.1) < 2e-4, f"{name}: the block rises by {rise} m instead of 0.1 m")
    drift = max(abs(x[f"held.{c}"][end] - x[f"held.{c}"][x.at(1.8)]) for c in "xyz")
    ensure(drift < 1e-8, f"{name}: the block drifts by {drift} m in the hand in a second")
    if K:  # two bristles carry it
        sag = x["held.z"][x.at(0.4)] - x["held.z"][end]
        ensure(abs(sag - 0.4 * g / (2 * K)) < 1e-6, f"{name}: it sinks by {sag} m, by the bristles {0.4 * g / (2 * K)} m")
# Below m g/mu it stays on the table, above m (g + a)/mu it is taken.
slips, holds = (Table(out / f"F{F}.csv")["block.z"][-1] for F in ("7.4", "8.6"))
ensure(abs(slips - 0.41) < 1e-3, f"F = 7.4 N: the block is at {slips} m")
ensure(abs(holds - 0.51) < 1e-3, f"F = 8.6 N: the block is at {holds} m")
for line in failed:
    print(line)
if failed:
    sys.exit(1)
END
echo "ok walk: quadrupeds of URDF and MJCF and a hexapod walk by their gaits, and grippers of both lift a block"
