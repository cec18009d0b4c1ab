#!/usr/bin/env bash
# Driven mechanisms that are hard: ends of the range to 1e-9 s, parallelograms through their flat positions, overconstrained loops, gears over many turns, drivers that contradict
# each other, motions that are cut and continued; in relative and absolute coordinates.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
python=$(command -v /usr/bin/python3 || command -v python3)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$python" - "$sarrus" "$out" << 'END'
import json, math, subprocess, sys
sarrus, out = sys.argv[1:]
BOTH = ("relative", "absolute")

def call(verb, model, *options, status=0):
    done = subprocess.run([sarrus, verb, model, *options, "--json"], capture_output=True, text=True)
    assert done.returncode == status, f"{model} {options}: status {done.returncode}: {done.stderr[:400]}"
    return json.loads(done.stdout), done.stderr

def near(a, b, tolerance, what):
    worst = max(abs(x - y) for x, y in zip(a, b))
    assert len(a) == len(b) and worst <= tolerance, f"{what}: differ by {worst:g}, more than {tolerance:g}: {a} {b}"

def write(name, body):
    open(f"{out}/{name}.xml", "w").write(f'<sarrus version="1" name="{name}">{body}</sarrus>')
    return f"{out}/{name}.xml"

def driven(name, driver):
    text = open(f"models/mechanisms/{name}.xml").read()
    open(f"{out}/{name}.xml", "w").write(text.replace("</sarrus>", driver + "</sarrus>"))
    return f"{out}/{name}.xml"

BAR = '<body name="{0}"{1}><joint name="{0}" type="revolute" at="{2} 0 0" q="{3}"/><inertial mass="1" com="{4}/2 0 0" inertia="0.01 0.01 0.01"/><point name="tip" at="{4} 0 0"/></body>'

# A crank of 0.3 m on a rod of 0.2 m: the slider follows up to sin(angle) = 2/3; along another motion too.
for motion, end in (("t", math.asin(2 / 3)), ("0.2 + sin(3*t)", math.asin(math.asin(2 / 3) - 0.2) / 3)):
    model = write("range", BAR.format("crank", "", 0, 0.2 if "sin" in motion else 0, 0.3) + BAR.format("rod", ' parent="crank"', 0.3, -0.3 if "sin" in motion else 0, 0.2) +
                  '<body name="slider"><joint name="x" type="prismatic" axis="1 0 0" q="0.5"/><inertial mass="1" inertia="1 1 1"/></body>'
                  f'<closure name="pin" type="ball" a="rod/tip" b="slider" normal="0 0 1"/><driver joint="crank" motion="{motion}"/>')
    for formulation in BOTH:
        for options in (["--t-end", "2"], ["--t-end", "2", "--every", "1.7"]):
            found, said = call("kinematics", model, *options, "--formulation", formulation, status=1)
            assert abs(found["singular"][-1]["t"] - end) < 1e-10 and found["t"] <= end, f"{motion} {formulation}: {found['singular'][-1]['t'] - end:g}"
            assert f"beyond t = {end:.9g} s" in said and "cannot be closed" in found["singular"][-1]["why"], said
            assert abs(found["q"][0] + found["q"][1] + math.pi / 2) < 1e-3  # the rod stands across the slide

# A parallelogram stays one through its flat positions, at 0.5 + t = k pi.
model = write("flat", BAR.format("a", "", 0, 0.5, 0.3) + BAR.format("c", ' parent="a"', 0.3, -0.5, 1) + BAR.format("b", "", 1, 0.5, 0.3) +
              '<closure name="pin" type="ball" a="c/tip" b="b/tip" normal="0 0 1"/><driver joint="a" motion="0.5 + t"/>')
for formulation in BOTH:
    found, _ = call("kinematics", model, "--t-end", "10", "--formulation", formulation)
    near(found["q"], [10.5, -10.5, 10.5], 1e-11, f"parallelogram, {formulation}")
    near([x["t"] for x in found["singular"]], [k * math.pi - 0.5 for k in (1, 2, 3)], 1e-9, f"flat positions, {formulation}")
    # Cut between them, at one of them, and continued from the state: the same branch.
    for cut in ("4", repr(math.pi - 0.5 + 0.01)):
        part, _ = call("kinematics", model, "--t-end", cut, "--formulation", formulation)
        open(f"{out}/state.json", "w").write(json.dumps({key: part[key] for key in ("t", "q", "v")}))
        rest, _ = call("kinematics", model, "--t-end", "10", "--state", f"{out}/state.json", "--formulation", formulation)
        near(rest["q"], found["q"], 1e-11, f"continued from {cut}, {formulation}")

# Overconstrained loops: relative = absolute in positions, turns, accelerations and driving force; Bennett's angles by tan(theta1/2) tan(theta2/2) = const.
for name, driver in (("sarrus-linkage", '<driver joint="lower1" motion="start + 0.3*sin(2*t)"/>'), ("bennett-linkage", '<driver joint="theta1" motion="start + 3*t"/>')):
    first, _ = call("kinematics", driven(name, driver), "--t-end", "0")
    one, other = (call("kinematics", f"{out}/{name}.xml", "--t-end", "3", "--formulation", f)[0] for f in BOTH)
    near(one["q"], other["q"], 1e-9, f"{name}, q")
    near(one["a"], other["a"], 1e-8, f"{name}, a")
    near(one["drivers"].values(), other["drivers"].values(), 1e-9 * abs(list(one["drivers"].values())[0]), f"{name}, force")
    if name == "bennett-linkage":
        near(*[[math.tan(x["q"][0] / 2) * math.tan(x["q"][1] / 2)] for x in (first, one)], 1e-9, "relation of Bennett")

# Gears and a rack over many turns: J = Ja + Jb/4 + m (0.1/2)^2.
gear = ('<body name="a"><joint name="a" type="revolute"/><inertial mass="1" inertia="0.2 0.2 0.2"/></body><body name="b"><joint name="b" type="revolute" at="1 0 0"/>'
        '<inertial mass="1" inertia="0.5 0.5 0.5"/></body><body name="rack"><joint name="x" type="prismatic" axis="1 0 0"/><inertial mass="3"/></body>'
        '<constraint name="mesh" expr="q(a) + 2*q(b)"/><constraint name="pinion" expr="q(x) - 0.1*q(b)"/>')
model = write("gear", gear + '<driver joint="a" motion="30*t + t^2"/>')
for formulation in BOTH:
    found, _ = call("kinematics", model, "--t-end", "20", "--formulation", formulation)
    near(found["q"], [1000, -500, -50], 1e-9, f"turns of gears, {formulation}")
    near(found["drivers"].values(), [2 * (0.2 + 0.5 / 4 + 3 * 0.0025)], 1e-9, f"driving torque of gears, {formulation}")

# Drivers that contradict each other.
model = write("contradiction", gear + '<driver joint="a" motion="30*t + t^2"/><driver joint="b" motion="-15*t"/>')
_, said = call("kinematics", model, "--t-end", "1", status=1)
assert "constraint mesh relates coordinates that are driven" in said, said
found, said = call("kinematics", model, "--t-end", "1", "--formulation", "absolute", status=1)
assert "the drivers contradict the constraints: at t = " in said and found["t"] < 0.01, said
_, said = call("kinematics", "models/mechanisms/rolling-disc.xml", "--t-end", "1", status=2)
assert "positions follow from the path, not from time" in said, said
END
