#!/usr/bin/env bash
# The robots of Rodrigues da Silva et al. (2024): the hexapod walks as its gait says, and stands still when parked; the mobile manipulator has the published
# numbers of bodies, joints and degrees of freedom, stands on its wheels, takes a can and carries it away, wherever the scene is.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=${SARRUS:-build/sarrus}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

for laws in "0 0" "1 1"; do
  read -r normal friction <<< "$laws"
  "$sarrus" run models/paper1/hexapod.xml --set normal="$normal" --set friction="$friction" --t-end 4 --every 0.01 --out "$out/walk.csv" --quiet > /dev/null 2>&1
  python3 - "$out/walk.csv" "$laws" << 'END'
import csv, sys

rows = [r for r in csv.reader(open(sys.argv[1])) if not r[0].startswith("#")]
head = {name.split(" [")[0]: k for k, name in enumerate(rows[0])}
table = [[float(x) for x in r] for r in rows[1:]]
column = lambda name: [r[head[name]] for r in table]
t, weight, cycle = column("t"), 6.34 * 9.81, 200
normal = [column(f"contact(limb{i}).n") for i in range(1, 7)]
ratio = [column(f"ratio{i}") for i in range(1, 7)]
total = [sum(n[k] for n in normal) for k in range(len(t))]
failed = []

def ensure(good, text):
    if not good:
        failed.append(text)

# The torso: forward at 0.1 m/s, straight and level.
x, y, z = column("torso.x"), column("torso.y"), column("torso.z")
ensure(abs(x[-1] - 0.4) < 1e-3, f"torso at {x[-1]} m instead of 0.4 m")
ensure(max(map(abs, y)) < 1e-4, f"torso {max(map(abs, y))} m off its line")
ensure(max(z) - min(z) < 1e-3, f"height varies by {max(z) - min(z)} m")
# Momentum over two whole cycles: the mean of all normal forces is the weight, as the torso has the same vertical velocity at both ends.
mean = (sum(total[cycle // 2 : -cycle // 2]) + 0) / len(total[cycle // 2 : -cycle // 2])
ensure(abs(mean - weight) < 5e-3 * weight, f"mean of the normal forces {mean} N, weight {weight} N")
# Limbs 1, 3, 5 and 2, 4, 6 carry it in turn.
for k, stands in ((50, 0), (150, 1), (250, 0), (350, 1)):
    carry = sum(normal[i][k] for i in range(stands, 6, 2))
    swing = sum(normal[i][k] for i in range(1 - stands, 6, 2))
    ensure(abs(carry - weight) < 0.05 * weight and swing == 0, f"t = {t[k]}: {carry} N and {swing} N")
# No foot slips: friction stays below the kinetic coefficient, 0.7, where a foot carries load.
worst = max(r[k] for n, r in zip(normal, ratio) for k in range(20, len(t)) if n[k] > 5)
ensure(worst < 0.7, f"friction ratio {worst}")
for line in failed:
    print(f"laws {sys.argv[2]}: {line}")
if failed:
    sys.exit(1)
END
done

# By events driven legs contradict feet that stick: the run may end there, with what it has, and names the way that goes on.
if ! "$sarrus" run models/paper1/hexapod.xml --contact event --every 1e-5 --out "$out/event.csv" --quiet > /dev/null 2> "$out/event.txt"; then
  if ! grep -q 'contacts are closed.*--contact hybrid' "$out/event.txt" || (( $(wc -l < "$out/event.csv") < 10 )); then
    echo "FAILED paper1: by events the hexapod ends without rows, or without naming another way: $(cat "$out/event.txt")"
    exit 1
  fi
fi

parked() {
  "$sarrus" run models/paper1/hexapod.xml --set walk=0 --set speed=0 --set friction=1 --t-end "$1" --json 2> /dev/null > "$out/$1.json"
}
parked 10
parked 110
python3 - "$out/10.json" "$out/110.json" << 'END'
import json, sys

a, b = (json.load(open(name))["q"][:7] for name in sys.argv[1:])
drift = max(abs(x - y) for x, y in zip(a, b))
if not drift < 1e-9:
    sys.exit(f"the parked hexapod drifts by {drift} in 100 s")
END

# ------------------------------------------------------------------------------------------------------------------ CHARMIE
body=models/paper1/charmie-body.xml
scene=models/paper1/charmie.xml
k=0
for pose in "0.6 0.1" "0.2 -0.2" "0.45 0.3" "1.0 0"; do  # inclinations of lift and lean
  read -r lift lean <<< "$pose"
  for formulation in relative absolute; do
    "$sarrus" check $body --formulation $formulation --set lift0="$lift" --set lean0="$lean" --json > "$out/count$k.json"
    k=$((k + 1))
  done
done
"$sarrus" run $scene --set move=0 --t-end 10 --every 1 --out "$out/rest.csv" --json > "$out/rest.json" 2> /dev/null
"$sarrus" run $scene --t-end 7 --every 0.1 --out "$out/take.csv" --json > "$out/take.json" 2> /dev/null
"$sarrus" run $scene --contact timestepping --step 1e-3 --t-end 7 --every 0.1 --out "$out/rigid.csv" --json > "$out/rigid.json" 2> /dev/null
for formulation in relative absolute; do
  "$sarrus" run $scene --method rk4 --step 1e-3 --t-end 0.3 --formulation $formulation --json > "$out/$formulation.json" 2> /dev/null
done
# The same scene turned by 2.1 rad and moved; then five others at random.
"$sarrus" run $scene --method rk4 --step 1e-3 --t-end 0.3 --set robot_x=3 --set robot_y=-2 --set robot_yaw=2.1 --set table1_x="3+1.28*cos(2.1)" \
  --set table1_y="-2+1.28*sin(2.1)" --set table1_yaw=2.1 --set can_x="3+cos(2.1)+0.1*sin(2.1)" --set can_y="-2+sin(2.1)-0.1*cos(2.1)" \
  --set table2_x="3+0.2*cos(2.1)-1.5*sin(2.1)" --set table2_y="-2+0.2*sin(2.1)+1.5*cos(2.1)" --set table2_yaw=2.1 --json > "$out/turned.json" 2> /dev/null
for seed in 1 2 3 4 5; do
  mapfile -t where < <(awk -v seed=$seed 'function u(a, b) { return a + (b - a)*rand() }
    BEGIN { srand(seed); x = u(1.1, 1.6); y = u(-0.3, 0.3)
      printf "robot_x=%.6f\nrobot_y=%.6f\nrobot_yaw=%.6f\n", u(-0.2, 0.2), u(-0.3, 0.3), u(-0.5, 0.5)
      printf "table1_x=%.6f\ntable1_y=%.6f\ntable1_yaw=%.6f\n", x, y, u(-0.3, 0.3)
      printf "table2_x=%.6f\ntable2_y=%.6f\ntable2_yaw=%.6f\n", u(-0.5, 0.5), u(1.4, 1.8), u(-1, 1)
      printf "can_x=%.6f\ncan_y=%.6f\n", x + u(-0.25, 0.25), y + u(-0.3, 0.3) }')
  "$sarrus" run $scene --t-end 0.1 --every 0.1 "${where[@]/#/--set=}" --json > "$out/random$seed.json" 2> /dev/null
done
python3 - "$out" << 'END'
import csv, json, math, sys

out = sys.argv[1]
load = lambda name: json.load(open(f"{out}/{name}.json"))
failed = []

def ensure(good, text):
    if not good:
        failed.append(text)

def table(name):
    rows = [r for r in csv.reader(open(f"{out}/{name}.csv")) if not r[0].startswith("#")]
    head = {x.split(" [")[0]: k for k, x in enumerate(rows[0])}
    return lambda row, column: float(rows[1:][row][head[column]])

# Published: 45 bodies, 54 joints (44 of the tree and 10 closures; not the free base), 36 degrees of freedom. The loops are overconstrained: 50 equations of
# rank 11, by hand 8 coordinates for 1 degree of freedom in the lift and 5 for 1 in the lean; in absolute coordinates 5 more for each of 41 hinges and slides, 6 for 3 rigid joints.
for k in range(8):
    c = load(f"count{k}")
    loops = 50 if k % 2 == 0 else 50 + 5 * 41 + 6 * 3
    closures = {row.split(",")[0] for row in c["rows"] if row.startswith("closure ")}
    joints = c["njoint"] - sum(j["type"] == "free" for j in c["joints"]) + len(closures if k % 2 == 0 else {x for x in closures if x.split()[1] in CLOSURES})
    if k == 0:
        CLOSURES = {x.split()[1] for x in closures}
    ensure((c["nbody"], joints, c["dof"], c["driven"]) == (45, 54, 36, 0), f"{c['nbody']} bodies, {joints} joints, {c['dof']} degrees of freedom")
    ensure((c["nconstraint"], c["rank"], len(c["redundant"])) == (loops, loops - 39, 39), f"{c['nconstraint']} equations, rank {c['rank']}, {len(c['redundant'])} redundant")
# At rest the wheels carry the robot, 65.1 kg by the sum of its bodies; the can is on the table, and nothing moves.
rest, weight = table("rest"), 65.1 * 9.81
total = sum(rest(10, f"contact(wheel{i}).n") for i in range(1, 5))
ensure(abs(total - weight) < 1e-6 * weight, f"wheels carry {total} N instead of {weight} N")
moved = max(abs(rest(10, x) - rest(9, x)) for x in ("hand.x", "hand.y", "hand.z", "can.x", "can.y", "can.z"))
ensure(moved < 1e-8, f"at rest hand and can move by {moved} m in a second")
# The can is lifted, and held without slipping: at 4.8 s it hangs from the hand at rest, 2.2 s and a drive later it is where it was in the hand.
take = table("take")
ensure(abs(take(70, "can.z") - take(20, "can.z") - 0.22) < 0.01, f"can lifted by {take(70, 'can.z') - take(20, 'can.z')} m")
drift = max(abs(take(70, f"held.{x}") - take(48, f"held.{x}")) for x in "xyz")
ensure(drift < 5e-5, f"the can slips by {drift} m in the hand")
total = sum(take(70, f"contact(wheel{i}).n") for i in range(1, 5))
ensure(abs(total - 65.45 * 9.81) < 1e-3 * weight, f"wheels carry {total} N with the can")
ensure(abs(take(70, "q.base.x") - 0.15) < 0.01 and abs(take(70, "q.base.y") - 0.3) < 0.01, "the base is not where it drives to")
result = load("take")
ensure(not [e for e in result["events"] if e["kind"] == "rank"] and result["rank"] == 11 + 22, "the rank changes in the run")
# Rigid contact: the same drive on wheels that do not sink; the can is taken from the table and carried away. How it hangs in a rigid grip is another matter (docs/theory/time-stepping.md).
rigid = table("rigid")
off = max(abs(rigid(k, f"q.base.{x}") - take(k, f"q.base.{x}")) for k in (30, 50, 70) for x in "xy")
ensure(off < 1e-3, f"by time-stepping the base is {off} m off")
off = math.dist(*([rigid(70, f"{name}.{x}") for x in "xyz"] for name in ("can", "hand")))
ensure(off < 0.05, f"by time-stepping the can ends {off} m from the hand")
ensure(load("rigid")["unsolved"] == 0, "by time-stepping problems are left unsolved")
# Relative and absolute; the scene turned and moved.
r, a, t = load("relative"), load("absolute"), load("turned")
error = max(abs(x - y) for x, y in zip(r["q"], a["q"]))
ensure(error < 1e-9, f"relative and absolute differ by {error}")
c, s = math.cos(2.1), math.sin(2.1)
for name in ("hand", "can"):
    x, y, z = r["sensors"][name]["position"]
    error = max(abs(p - q) for p, q in zip((3 + c * x - s * y, -2 + s * x + c * y, z), t["sensors"][name]["position"]))
    ensure(error < 1e-8, f"turned, {name} is {error} m off")
for seed in range(1, 6):
    x = load(f"random{seed}")
    ensure(x["t"] == 0.1 and x["rank"] == 11 + 22 and abs(x["sensors"]["can"]["position"][2] - 0.7773) < 1e-3, f"random scene {seed}")
for line in failed:
    print(line)
if failed:
    sys.exit(1)
END
echo "ok paper1: the hexapod walks on its tripods and stands still; the manipulator takes the can and carries it away"
