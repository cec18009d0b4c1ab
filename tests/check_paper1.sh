#!/usr/bin/env bash
# The robots of Rodrigues da Silva et al. (2024): the hexapod walks as its gait says, and stands still when parked.
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
echo "ok paper1: the hexapod walks on its tripods and stands still"
