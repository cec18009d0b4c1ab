#!/usr/bin/env bash
# Inverse dynamics fed back into a run: the Stewart platform and the 3RRR robot without their drivers, moved by the forces that `inverse` found, follow the path of the drivers. Forces agree
# with the driving forces of `run` and in both formulations; other actuators cause the same motion.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
python=$(command -v /usr/bin/python3 || command -v python3)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$python" - "$sarrus" "$out" << 'END'
import json, re, subprocess, sys
sarrus, out = sys.argv[1:]
T = 0.5

def call(*arguments, status=0):
    done = subprocess.run([sarrus, *arguments, "--json"], capture_output=True, text=True)
    assert done.returncode == status, f"{arguments}: status {done.returncode}: {done.stderr[:400]}"
    return json.loads(done.stdout), done.stderr

def near(a, b, tolerance, what):
    worst = max(abs(x - y) for x, y in zip(a, b))
    assert len(a) == len(b) and worst <= tolerance, f"{what}: differ by {worst:g}, more than {tolerance:g}"

# The model with its drivers replaced by torques from tables.
def feed_back(model, actuators):
    found, _ = call("inverse", model, "--t-end", str(T), "--every", "0.0005", *(["--actuators", ",".join(actuators)] if actuators else []))
    names = found["actuators"]
    with open(f"{out}/forces.csv", "w") as file:
        for t, row in zip(found["t"], found["tau"]):
            file.write(",".join([repr(t), *map(repr, row)]) + "\n")
    text = open(model).read()
    text, n = re.subn(r"<driver\b.*?/>", "", text, flags=re.S)
    assert n > 0
    forces = "".join(f'<motion name="force_{k}" type="cubic" ends="natural" file="forces.csv" column="{k + 1}"/>'
                     f'<torque joint="{name}" law="force_{k}(t)"/>' for k, name in enumerate(names))
    open(f"{out}/fed.xml", "w").write(text.replace("</sarrus>", forces + "</sarrus>"))
    start, _ = call("kinematics", model, "--t-end", "0")
    q, v = (",".join(repr(x) for x in start[key]) for key in ("q", "v"))
    moved, _ = call("run", f"{out}/fed.xml", f"--q={q}", f"--v={v}", "--t-end", str(T), "--rtol", "1e-11", "--atol", "1e-13")
    wanted, _ = call("kinematics", model, "--t-end", str(T))
    near(moved["q"], wanted["q"], 1e-7, f"{model} by {names}")
    return found

for name, other in (("3rrr", ["inner0", "outer0", "platform"]), ("stewart-platform", None)):
    model = f"models/mechanisms/{name}.xml"
    found = feed_back(model, None)
    assert not found["redundant"] and len(found["passive"][0]) == sum(j["v"][1] for j in found["joints"])
    absolute, _ = call("inverse", model, "--times", "0.1,0.35", "--formulation", "absolute")
    relative, _ = call("inverse", model, "--times", "0.1,0.35")
    scale = max(abs(x) for x in relative["tau"][1])
    near(absolute["tau"][1], relative["tau"][1], 1e-11 * scale, f"{name}, formulations")
    run, _ = call("run", model, "--t-end", "0.35", "--rtol", "1e-10", "--atol", "1e-12")
    n = len(relative["actuators"])
    near(run["lambda"][-n:], relative["tau"][1], 1e-9 * scale, f"{name}, driving forces of a run")
    if other:
        feed_back(model, other)

# More actuators than degrees of freedom: the norm is the least one, and the work the same.
few, _ = call("inverse", "models/mechanisms/3rrr.xml", "--times", "0.2")
many, _ = call("inverse", "models/mechanisms/3rrr.xml", "--times", "0.2", "--actuators", "inner0,inner1,inner2,outer0,platform")
assert many["redundant"]
assert sum(x * x for x in many["tau"][0]) < sum(x * x for x in few["tau"][0])
state, _ = call("kinematics", "models/mechanisms/3rrr.xml", "--t-end", "0.2")
rate = {j["name"]: state["v"][j["v"][0]] for j in state["joints"] if j["v"][1] == 1}
power = [sum(t * rate[a] for a, t in zip(x["actuators"], x["tau"][0])) for x in (few, many)]
near(power[:1], power[1:], 1e-10, "power of the actuators")

# What cannot be: sentences.
for model, options, words in (("models/cart-pole.xml", [], "2 degrees of freedom and 0 actuators"),
                              ("models/mechanisms/3rrr.xml", ["--actuators", "inner0,inner1"], "3 degrees of freedom and 2 actuators"),
                              ("models/mechanisms/3rrr.xml", ["--actuators", "inner9"], "no joint 'inner9'"),
                              ("models/paper1/hexapod.xml", [], "degrees of freedom and 18 actuators")):
    _, said = call("inverse", model, *options, status=2)
    assert words in said, said
END
