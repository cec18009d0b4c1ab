#!/usr/bin/env bash
# Inverse dynamics fed back into a run: the Stewart platform and the 3RRR robot without their drivers, moved by the forces that `inverse` found, follow the path of the drivers. Forces agree
# with the driving forces of `run` and in both formulations; other actuators cause the same motion. Motions by formula, splines, files and the table of a run; forces of springs, friction,
# contact and from outside are passive, with their signs; redundant actuators have the forces of the pseudo-inverse.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
python=$(command -v /usr/bin/python3 || command -v python3)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$python" - "$sarrus" "$out" << 'END'
import json, math, re, subprocess, sys
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

# A mass on a vertical slide by every kind of motion: tau = m (z'' + g), z'' by the formula of each kind.
G = 9.81
def slide(motion, more="", mass=2):
    open(f"{out}/slide.xml", "w").write(f"""<sarrus version="1" name="slide"><option gravity="0 0 {-G}"/><ground><shape name="floor" type="plane"/></ground>
      <body name="foot"><joint name="z" type="prismatic" axis="0 0 1" q="1"/><inertial mass="{mass}"/><shape name="sole" type="sphere" size="0.1"/><point name="top" at="0 0 0.1"/></body>{motion}{more}</sarrus>""")
    return f"{out}/slide.xml"
open(f"{out}/way.csv", "w").write("0,0\n1,1\n2,0\n")
for motion, t, acceleration in (("<driver joint='z' motion='0.3*sin(5*t)'/>", 0.7, -7.5 * math.sin(3.5)),
                                ("<motion name='w' type='cubic' ends='natural' points='0 0 1 1 2 0'/><driver joint='z' motion='w(t)'/>", 0.25, -0.75),  # y'' = -3 x, x <= 1
                                ("<motion name='w' type='cubic' ends='natural' file='way.csv'/><driver joint='z' motion='w(t)'/>", 1.75, -0.75),
                                ("<motion name='w' type='cubic' ends='not-a-knot' points='0 0 1 1 2 0'/><driver joint='z' motion='w(t)'/>", 0.25, -2),  # a parabola
                                ("<motion name='w' type='quintic' points='0 0 1 1'/><driver joint='z' motion='w(t)'/>", 0.25, 60 * 0.25 - 180 * 0.0625 + 120 * 0.015625),
                                ("<motion name='w' type='trapezoid' to='1' speed='1' acceleration='4'/><driver joint='z' motion='w(t)'/>", 0.1, 4)):
    for formulation in ("relative", "absolute"):
        found, _ = call("inverse", slide(motion), "--times", repr(t), "--formulation", formulation)
        near(found["tau"][0], [2 * (acceleration + G)], 1e-11, f"{motion} {formulation}")

# Passive forces: spring k (l - z0) down, damper, gravity compensated by a force from outside, a floor by Hooke's law, friction of Threlfall: at z = 0.09, z' = -0.05.
more = """<spring a="ground" b="foot/top" stiffness="40" length="0.15"/><damper a="ground" b="foot/top" damping="3"/><force body="foot" f="0 0 7"/>
  <contact a="floor" b="foot" normal="hooke" K="1000" friction="none"/><friction joint="z" law="threlfall" F="2" v0="1e-3"/>"""
model = slide("<driver joint='z' motion='0.095 - 0.05*t'/>", more)
passive = -40 * (0.19 - 0.15) + 3 * 0.05 + 7 + 1000 * 0.01 + 2 * (1 - math.exp(-3))  # beyond v0 the friction stays what it is there
found, _ = call("inverse", model, "--times", "0.1")
near(found["passive"][0], [passive], 1e-8, "passive forces")
near(found["tau"][0], [2 * G - passive], 1e-8, "tau with passive forces")
found, _ = call("inverse", model, "--times", "0.1", "--formulation", "absolute")
near(found["tau"][0], [2 * G - passive], 1e-8, "tau with passive forces, absolute")

# The motion of a recorded run gives the torques of that run, to second order in the time between its rows; with the torques in the model nothing is left to do.
arm = f"{out}/arm.xml"
def write_arm(more=""):
    open(arm, "w").write(f"""<sarrus version="1" name="arm"><parameter name="gain" value="1"/>
      <body name="upper"><joint name="shoulder" type="revolute" axis="0 1 0" q="0.3"/><inertial mass="2" com="0.2 0 0" inertia="0.01 0.03 0.03"/></body>
      <body name="lower" parent="upper"><joint name="elbow" type="revolute" axis="0 1 0" at="0.4 0 0" q="-0.5" stiffness="3" damping="0.2"/><inertial mass="1" com="0.15 0 0" inertia="0.005 0.01 0.01"/></body>
      <torque joint="shoulder" law="gain*(-8 + 3*sin(4*t))"/><torque joint="elbow" law="gain*cos(3*t)"/>{more}</sarrus>""")
def torques(every, gain, *options):
    call("run", arm, "--t-end", "1", "--rtol", "1e-11", "--atol", "1e-13", "--every", repr(every), "--out", f"{out}/arm.csv")
    found, _ = call("inverse", arm, "--motion", f"{out}/arm.csv", "--set", f"gain={gain}", *options)
    assert found["actuators"] == ["shoulder", "elbow"] and len(found["t"]) == round(1 / every) + 1
    return [[a - (1 - gain) * (-8 + 3 * math.sin(4 * t)), b - (1 - gain) * math.cos(3 * t)] for t, (a, b) in zip(found["t"], found["tau"])]
worst = lambda rows: max(abs(x) for row in rows for x in row)
write_arm()
coarse, fine = worst(torques(0.0025, 0)), worst(torques(0.00125, 0))
assert fine < 5e-3 and 3.5 < coarse / fine < 4.5, f"torques of a recorded run: {coarse:g}, {fine:g}"
assert worst(torques(0.00125, 0, "--formulation", "absolute")) < 1.001 * fine
assert worst(torques(0.00125, 1)) < 1.001 * fine
# Friction with bristles has the states of the table: all rows but those where it changes its sign within a few of them.
write_arm('<friction joint="elbow" law="kikuuwe" F="0.3" K="500" B="0.5"/>')
assert sum(worst([row]) > 1e-3 for row in torques(0.002, 0)) < 20
# A mass held by its friction alone: nothing is left for the actuator; without the column of the bristle it would have to carry the weight.
model = slide("", '<friction joint="z" law="kikuuwe" F="50" K="1e5" B="1e3"/>')
call("run", model, "--t-end", "0.5", "--rtol", "1e-10", "--every", "0.01", "--out", f"{out}/held.csv")
found, _ = call("inverse", model, "--motion", f"{out}/held.csv", "--times", "0.4")
near(found["tau"][0] + found["passive"][0], [0, 2 * G], 1e-3, "held by friction")
lines = open(f"{out}/held.csv").read().splitlines()
cut = [",".join(line.split(",")[:3]) for line in lines[1:]]
assert cut[0].startswith("t [s],q.z [m],v.z")
open(f"{out}/cut.csv", "w").write("\n".join(cut) + "\n")
found, _ = call("inverse", model, "--motion", f"{out}/cut.csv", "--times", "0.4")
near(found["tau"][0] + found["passive"][0], [2 * G, 0], 1e-3, "without its state")

# The same of a loop, by the torque of its crank: one coordinate is driven, the others follow.
text = open("models/mechanisms/four-bar.xml").read().replace("</sarrus>", '<parameter name="gain" value="1"/><torque joint="crank" law="gain*(2 + sin(5*t))"/></sarrus>')
open(f"{out}/loop.xml", "w").write(text)
errors = []
for every in (0.001, 0.0005):
    call("run", f"{out}/loop.xml", "--t-end", "0.5", "--rtol", "1e-11", "--atol", "1e-13", "--every", repr(every), "--out", f"{out}/loop.csv")
    found, said = call("inverse", f"{out}/loop.xml", "--motion", f"{out}/loop.csv", "--set", "gain=0", "--actuators", "crank")
    assert said == "", said
    errors.append([abs(row[0] - 2 - math.sin(5 * t)) for t, row in zip(found["t"], found["tau"])])
assert 3.5 < max(errors[0]) / max(errors[1]) < 4.5 and sorted(errors[1])[len(errors[1]) // 2] < 1e-3, f"torque of a crank: {max(errors[0])}, {max(errors[1])}"

# Two actuators of one degree of freedom. With s = (1, q_rocker'/q_crank') the pseudo-inverse of s^T tau = r is tau = s r/(s s), r: the torque of the crank alone.
one, _ = call("inverse", f"{out}/loop.xml", "--motion", f"{out}/loop.csv", "--set", "gain=0", "--actuators", "crank", "--times", "0.3")
two, _ = call("inverse", f"{out}/loop.xml", "--motion", f"{out}/loop.csv", "--set", "gain=0", "--actuators", "rocker,crank", "--times", "0.3")
rows = [line.split(",") for line in open(f"{out}/loop.csv") if not line.startswith("#")]
names = [x.split(" ")[0] for x in rows[0]]
at = [float(x) for x in rows[1 + 600]]
s = [at[names.index("v.rocker")] / at[names.index("v.crank")], 1]
assert two["redundant"] and not one["redundant"] and at[0] == 0.3
near(two["tau"][0], [x * one["tau"][0][0] / (s[0] ** 2 + 1) for x in s], 1e-4 * abs(one["tau"][0][0]), "redundant actuators")

# The last row is that of --t-end, as in runs.
ends, _ = call("inverse", "models/mechanisms/stewart-platform.xml", "--t-end", "0.25", "--every", "0.1")
near(ends["t"], [0, 0.1, 0.2, 0.25], 1e-15, "times")
ends, _ = call("inverse", "models/mechanisms/stewart-platform.xml", "--t-end", "0.3", "--every", "0.1")
near(ends["t"], [0, 0.1, 0.2, 0.3], 1e-15, "times of whole rows")

# Motions that are none.
for options, words in ((["--motion", f"{out}/arm.csv"], "does not give the motion of 'slide'"), (["--motion", f"{out}/nothing.csv"], "nothing.csv"),
                       (["--motion", f"{out}/way.csv"], "no column 't'")):
    _, said = call("inverse", slide(""), *options, status=2)
    assert words in said, said
for options, words in ((["--times", "2"], "ends at 1 s"), (["--q", "0,0"], "begins with its first row")):
    _, said = call("inverse", arm, "--motion", f"{out}/arm.csv", *options, status=2)
    assert words in said, said
END
