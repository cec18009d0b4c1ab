#!/usr/bin/env bash
# `sarrus batch` and sarrus.Batch with parameters of each copy against runs with --set; contacts of boxes on planes, of spheres, capsules and boxes on height fields over 0.5 s against `run`; what is refused.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
python=$(command -v /usr/bin/python3 || command -v python3)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export XDG_CACHE_HOME="$out/cache" SARRUS="$sarrus"
"$python" - "$sarrus" "$out" << 'END'
import csv, math, subprocess, sys
sarrus, out = sys.argv[1:]

def call(*arguments, status=0):
    done = subprocess.run([sarrus, *arguments], capture_output=True, text=True)
    assert done.returncode == status, f"{arguments}: status {done.returncode}: {done.stderr[:600]}"
    return done.stderr

def table(path): return list(csv.DictReader(line for line in open(path) if not line.startswith("#")))

def near(row, other, tolerance, what):
    compared = 0
    for name, x in row.items():
        if name is None or name.split(" ")[0].startswith(("p.", "copy", "residual")) or name not in other: continue
        assert abs(float(x) - float(other[name])) <= tolerance * max(1, abs(float(x))), f"{what}: {name} is {other[name]}, not {x}"
        compared += 1
    assert compared >= 10, f"{what}: {compared} columns compared"

# A cart on a ball that rubs on the floor, with an arm: masses, lengths, stiffnesses, friction, gains and the start differ.
open(f"{out}/cart.xml", "w").write("""<sarrus version="1" name="cart">
  <parameter name="m" value="1.5"/>
  <parameter name="l" value="0.4"/>
  <parameter name="k" value="30"/>
  <parameter name="gain" value="2"/>
  <parameter name="twice" value="2*gain"/>
  <parameter name="mu" value="0.4"/>
  <parameter name="K" value="1e4"/>
  <parameter name="start" value="0.3"/>
  <parameter name="r" value="0.05"/>
  <parameter name="turn" value="0.1"/>
  <option gravity="0 0 -9.81"/>
  <ground><shape name="floor" type="plane"/></ground>
  <body name="cart">
    <joint name="cart" type="planar" axis="0 -1 0" q="0 0.049 0" v="0.5 0 0"/>
    <inertial mass="2*m" inertia="0.01 0.01 0.01"/>
    <shape name="ball" type="sphere" size="r"/>
  </body>
  <body name="arm" parent="cart">
    <joint name="arm" type="revolute" axis="0 1 0" rpy="0 turn 0" q="start"/>
    <inertial mass="m" com="0 0 l" inertia="m*l^2/3 m*l^2/3 0.001"/>
  </body>
  <body name="tip" parent="arm">
    <joint name="tip" type="revolute" axis="0 1 0" at="0 0 l" q="0.1"/>
    <inertial mass="0.3" com="0.05 0 0.1" inertia="0.002 0.002 0.002"/>
  </body>
  <spring a="cart" b="tip" stiffness="k/2" length="0.35" damping="0.2"/>
  <torque joint="tip" law="-twice*q(tip) - 0.1*v(tip)"/>
  <contact name="touch" a="floor" b="ball" normal="kelvin-voigt" K="K" D="K/100" friction="kikuuwe" mu-k="mu" mu-s="1.2*mu" bristle-K="1e4"/>
  <sensor name="tip" point="tip"/>
  <run t-end="0.2" method="rk4" step="5e-4" every="0.2"/>
</sarrus>""")
drawn = ["p.m=uniform:1:2", "p.l=uniform:0.3:0.5", "p.k=uniform:20:50", "p.gain=uniform:1:3", "p.mu=uniform:0.2:0.6", "p.K=loguniform:5e3:2e4", "p.start=uniform:0:0.6", "v.arm=uniform:-1:1"]
wishes = [x for text in drawn for x in ("--random", text)]
call("batch", f"{out}/cart.xml", "--count", "6", *wishes, "--out", f"{out}/ends.csv")
call("batch", f"{out}/cart.xml", "--count", "6", *wishes, "--t-end", "1e-300", "--step", "1e-300", "--out", f"{out}/starts.csv")
ends, starts = table(f"{out}/ends.csv"), table(f"{out}/starts.csv")
names = [c[2:].split(" ")[0] for c in ends[0] if c.startswith("p.")]
assert names == ["m", "l", "k", "gain", "mu", "K", "start"], names
runs = []
for end, start in zip(ends, starts):
    value = {c[2:].split(" ")[0]: x for c, x in end.items() if c.startswith("p.")}
    v = ",".join(x for c, x in start.items() if c.startswith("v."))
    call("run", f"{out}/cart.xml", *(x for n in names for x in ("--set", f"{n}={value[n]}")), "--v=" + v, "-o", f"{out}/run.csv")
    runs.append(table(f"{out}/run.csv")[-1])
    near(runs[-1], end, 1e-11, f"copy {end['copy']}")
assert len({e["p.m"] if "p.m" in e else e["p.m []"] for e in ends}) == 6, "copies are alike"
for name, why in ("r", "the place or shape of the element 'touch'"), ("turn", "orientation of"), ("nothing", "no parameter 'nothing'"):
    said = call("batch", f"{out}/cart.xml", "--count", "2", "--random", f"p.{name}=uniform:0.1:0.2", status=2)
    assert why in said, said

# Python: the same copies, and parameters that are assigned.
sys.path.insert(0, "bindings/python")
try:
    import numpy as np, sarrus as S
except ImportError as why:
    print(f"sarrus.Batch was not run: {why}")
else:
    model = S.load(f"{out}/cart.xml").compile()
    batch = S.Batch(model, count=6, h=5e-4, random=drawn)
    assert batch.parameters == names
    batch.reset(seed=1)
    batch.step(n=400)
    rows = batch.rows()
    for k, run in enumerate(runs): near(run, {c: x[k] for c, x in rows.items()} | {c: rows[c.split(" ")[0]][k] for c in run if c.split(" ")[0] in rows}, 1e-11, f"Python, copy {k}")
    given = S.Batch(model, count=2, h=5e-4, parameters=["m", "mu"])
    given.p = [[1.5, 0.4], [3.0, 0.1]]
    given.step(n=100)
    assert abs(given.q[0] - given.q[1]).max() > 1e-4 and (given.p == [[1.5, 0.4], [3.0, 0.1]]).all()

# Feet: a box that is dropped on an edge and slides, balls on a height field.
feet = {"box": ('<shape name="ground" type="plane"/>', '<shape name="foot" type="box" size="0.3 0.24 0.2"/>', "0 0 0.098 1 0.02 0.01 0.03", "kelvin-voigt"),
        "ball": ('<shape name="ground" type="heightfield" size="1.2 0.9" columns="4" heights="0 0.05 0.02 0 0.01 0.03 0 0.05 0.02 0 0.04 0"/>', '<shape name="foot" type="sphere" size="0.07"/>', "0.03 0.02 0.1 1 0 0 0", "kelvin-voigt"),
        "hertz": ('<shape name="ground" type="heightfield" size="1.2 0.9" columns="7" heights="0 0.05 0.02 0 0.01 0.03 0 0.05 0.02 0 0.04 0 0.01 0.02 0 0.01 0 0.03 0.02 0 0.01"/>', '<shape name="foot" type="sphere" size="0.12"/>', "0.03 0.02 0.15 1 0 0 0", "hertz")}
# A box that tumbles and a rod that rolls over bumps that are smaller than they are, with a step and a flat part, and beyond the border; a ball above more cells than are written out.
land = '<shape name="ground" type="heightfield" size="0.6 0.5" columns="13" heights="%s"/>' % " ".join(
    str(0 if i < 5 else 0.03 if i == 5 and j < 5 else round(0.015 * (1 + math.sin(1.9 * i) * math.cos(1.7 * j)), 4)) for j in range(11) for i in range(13))
feet |= {"block": (land, '<shape name="foot" type="box" size="0.14 0.1 0.08"/>', "0.24 0.03 0.11 1 0.3 0.2 0.1", "kelvin-voigt"),
         "rod": (land, '<shape name="foot" type="capsule" size="0.04 0.2"/>', "0 0.02 0.08 1 0.1 1 0.2", "kelvin-voigt"),
         "boulder": (land, '<shape name="foot" type="sphere" size="0.12"/>', "0.03 0.02 0.15 1 0 0 0", "kelvin-voigt")}
for name, (ground, foot, q, law) in feet.items():
    damping = 'D="50"' if law == "kelvin-voigt" else ""
    open(f"{out}/{name}.xml", "w").write(f"""<sarrus version="1" name="{name}">
      <ground>{ground}</ground>
      <body name="body"><joint name="body" type="free" q="{q}" v="0.1 0.2 0.3 0.3 0.1 0"/><inertial mass="2" inertia="0.02 0.03 0.04"/>{foot}</body>
      <contact name="touch" a="ground" b="foot" normal="{law}" K="1e4" {damping} friction="kikuuwe" mu-s="0.5" mu-k="0.3" mu-roll="0.001" mu-spin="0.002" bristle-K="1e4"/>
      <run t-end="0.5" method="rk4" step="5e-4" every="0.5"/>
    </sarrus>""")
    call("run", f"{out}/{name}.xml", "-o", f"{out}/run.csv")
    call("batch", f"{out}/{name}.xml", "--count", "2", "--out", f"{out}/ends.csv")
    run, end = table(f"{out}/run.csv"), table(f"{out}/ends.csv")
    near(run[-1], end[1], 1e-8, name)
    at = next(c for c in run[0] if c.startswith("q.body.x"))
    assert abs(float(run[-1][at]) - float(run[0][at])) > 1e-3, "it moves"
    assert float(run[-1][at.replace(".x", ".z")]) > -0.05, "it is held"
    if name in ("block", "rod"):  # one copy, in a program of its own
        call("gen", f"{out}/{name}.xml", "--project", f"{out}/{name}")
        subprocess.run(["make", "-s", "-C", f"{out}/{name}", "CFLAGS=-O1"], check=True)
        done = subprocess.run([f"{out}/{name}/{name}", "0.5", "5e-4", "0.5"], capture_output=True, text=True)
        last = [float(x) for x in done.stdout.splitlines()[-1].split(",")]
        columns = [c for c in run[0] if c and (c == "t [s]" or c[:2] in ("q.", "v."))]
        near({c: x for c, x in zip(columns, last)}, run[-1], 1e-8, f"{name}, a project")
# A ball in a ridge and above it: copies in the same vector have nothing to do with each other. Inside there is one contact, also where two faces are as near.
ridge = " ".join(str(round(max(0, 0.4 - 2 * abs(0.05 * i - 0.3)), 4)) for j in range(11) for i in range(13))
open(f"{out}/ridge.xml", "w").write(f"""<sarrus version="1" name="ridge">
  <parameter name="h" value="0.1"/>
  <ground><shape name="ground" type="heightfield" size="0.6 0.5" columns="13" heights="{ridge}"/></ground>
  <body name="body"><joint name="body" type="free" q="0.003 0.02 h 1 0 0 0"/><inertial mass="2" inertia="0.02 0.03 0.04"/><shape name="foot" type="sphere" size="0.12"/></body>
  <contact name="touch" a="ground" b="foot" normal="kelvin-voigt" K="1e4" D="50" friction="none"/>
  <run t-end="2e-3" method="rk4" step="1e-3" every="2e-3"/>
</sarrus>""")
call("batch", f"{out}/ridge.xml", "--count", "16", "--random", "p.h=uniform:0.18:0.5", "--out", f"{out}/ends.csv")
inside = 0
for end in table(f"{out}/ends.csv"):
    call("run", f"{out}/ridge.xml", "--set", f"h={end['p.h']}", "-o", f"{out}/run.csv")
    near(table(f"{out}/run.csv")[-1], end, 1e-10, "ridge")
    inside += float(end["p.h"]) < 0.26
assert 2 < inside < 14, inside
# Couplings: a start that does not satisfy them is moved as a run moves it; what is drawn for a leader, its follower follows. A ratio stays a number, also of a parameter that enters elsewhere.
open(f"{out}/coupled.xml", "w").write("""<sarrus version="1" name="coupled">
  <parameter name="m" value="1"/>
  <parameter name="r" value="-0.5"/>
  <body name="a"><joint name="a" type="revolute" axis="0 1 0" q="0.3"/><inertial mass="m" com="0.1 0 0" inertia="0.01 0.01 0.01"/></body>
  <body name="b" parent="a"><joint name="b" type="revolute" axis="0 1 0" at="0.2 0 0" q="0.2" damping="0.1"/><inertial mass="1 + r" com="0.1 0 0" inertia="0.01 0.01 0.01"/></body>
  <coupling name="c" joint="b" to="a" ratio="r" offset="0.1"/>
  <run t-end="0.3" method="rk4" step="1e-3" every="0.3"/>
</sarrus>""")
call("batch", f"{out}/coupled.xml", "--count", "3", "--random", "p.m=uniform:1:2", "--out", f"{out}/ends.csv")
for end in table(f"{out}/ends.csv"):
    call("run", f"{out}/coupled.xml", "--set", f"m={end['p.m']}", "-o", f"{out}/run.csv")
    run = table(f"{out}/run.csv")[-1]
    for c in ("q.a [rad]", "q.b [rad]", "v.a [rad/s]", "v.b [rad/s]"): assert abs(float(run[c]) - float(end[c])) < 1e-12, (c, run[c], end[c])
call("batch", f"{out}/coupled.xml", "--count", "3", "--random", "q.a=uniform:-1:1", "--random", "v.a=uniform:-1:1", "--out", f"{out}/ends.csv")
ends = table(f"{out}/ends.csv")
for end in ends: assert abs(float(end["q.b [rad]"]) + 0.5 * float(end["q.a [rad]"]) - 0.1) < 1e-13 and abs(float(end["v.b [rad/s]"]) + 0.5 * float(end["v.a [rad/s]"])) < 1e-13
assert abs(float(ends[0]["q.a [rad]"]) - float(ends[1]["q.a [rad]"])) > 1e-3
for what in "q", "v":
    refused = call("batch", f"{out}/coupled.xml", "--count", "3", "--random", f"{what}.b=uniform:-1:1", status=2)
    assert f"a coupling sets this coordinate from '{what}.a'" in refused, refused
call("batch", f"{out}/coupled.xml", "--count", "3", "--random", "tau.b=uniform:-1:1", "--t-end", "0.01", "--step", "1e-3")
assert "the ratio or offset of a coupling depends on it" in call("batch", f"{out}/coupled.xml", "--count", "3", "--random", "p.r=uniform:-0.6:-0.4", status=2)
print("ok batch")
END
