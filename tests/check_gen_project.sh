#!/usr/bin/env bash
# `gen --project`: compiles without a warning and gives the numbers of `run --method rk4`, for trees and closed loops; forces of the user act; files of the user stay.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
python=$(command -v /usr/bin/python3 || command -v python3)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$python" - "$sarrus" "$out" << 'END'
import os, subprocess, sys
sarrus, out = sys.argv[1:]

def call(*arguments, status=0, folder=None):
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=folder)
    assert done.returncode == status, f"{arguments}: status {done.returncode}: {done.stderr[:600]}"
    return done.stdout + done.stderr

def rows(text): return [[float(x) for x in line.split(",")] for line in text.splitlines() if line[:1].isdigit() or line[:1] == "-"]

def program(folder):
    call("make", "CFLAGS=-O1 -Werror", folder=folder)
    return next(f"{folder}/{f}" for f in os.listdir(folder) if os.access(f"{folder}/{f}", os.X_OK))

def near(a, b, tolerance, what):
    assert len(a) == len(b) == 6
    worst = max(abs(x - y) / max(1, abs(y)) for r, s in zip(a, b) for x, y in zip(r, s))
    assert worst <= tolerance, f"{what}: differs by {worst:g}"

for name, more in ("double-pendulum", []), ("quarter-car", []), ("top", []), ("mechanisms/four-bar", ["--stabilization", "partition"]), ("mechanisms/delta-robot", ["--stabilization", "partition"]), ("mechanisms/five-rod-suspension", ["--stabilization", "partition"]):
    model, folder = f"models/{name}.xml", f"{out}/{name.replace('/', '-')}"
    call(sarrus, "gen", model, "--project", folder)
    got = rows(call(program(folder), "0.1", "0.001", "0.02"))
    call(sarrus, "run", model, "--method", "rk4", "--step", "0.001", "--t-end", "0.1", "--every", "0.02", *more, "-o", f"{out}/run.csv")
    near(got, [r[:len(got[0])] for r in rows(open(f"{out}/run.csv").read())], 1e-12, name)

# Forces of the user are those of the model: a damper and a force at a sensor, once as formulas and once as C.
base = """<sarrus version="1" name="hooks"><body name="one"><joint name="one" type="revolute" axis="0 1 0" q="0.5" v="1"/><inertial mass="1" com="0.1 0 -0.4" inertia="0.1 0.1 0.1"/></body>
  <body name="two" parent="one"><joint name="two" type="revolute" axis="0 1 0" at="0 0 -0.5" q="0.2"/><inertial mass="1" com="0 0 -0.2" inertia="0.1 0.1 0.1"/></body>
  <sensor name="end" point="two"/>%s<run t-end="0.1" step="0.001"/></sarrus>"""
open(f"{out}/hooks.xml", "w").write(base % "")
open(f"{out}/formulas.xml", "w").write(base % '<torque joint="one" law="-0.3*v(one)"/><force body="two" f="0.5 0 -sensor(end, vz)"/>')
folder = f"{out}/hooks"
call(sarrus, "gen", f"{out}/hooks.xml", "--project", folder)
text = open(f"{folder}/user.c").read()
text = text.replace("(void)tau;  // such as tau[0] -= 2.0 * v[0];", "tau[0] -= 0.3 * v[0];").replace("(void)t, (void)sensor, (void)p, (void)R, (void)v, (void)w, (void)u, (void)force, (void)moment;", "(void)t, (void)sensor, (void)p, (void)R, (void)w, (void)u, (void)moment;\n  force[0] = 0.5, force[2] = -v[2];")
open(f"{folder}/user.c", "w").write(text)
got = rows(call(program(folder), "0.1", "0.001", "0.02"))
call(sarrus, "run", f"{out}/formulas.xml", "--method", "rk4", "--step", "0.001", "--t-end", "0.1", "--every", "0.02", "-o", f"{out}/run.csv")
near(got, [r[:len(got[0])] for r in rows(open(f"{out}/run.csv").read())], 1e-12, "forces of the user")

# Written again: what is generated alone; a file that somebody else wrote is not touched.
said = call(sarrus, "gen", f"{out}/hooks.xml", "--project", folder)
assert said.count("kept, it is yours") == 4 and open(f"{folder}/user.c").read() == text, said
open(f"{folder}/project.h", "w").write("mine\n")
assert "choose another folder" in call(sarrus, "gen", f"{out}/hooks.xml", "--project", folder, status=1)
assert open(f"{folder}/project.h").read() == "mine\n"
# Names of the other files and of what make knows.
for name in "project", "user", "main", "Makefile", "run", "clean", "all":
    open(f"{out}/word.xml", "w").write(base.replace('"hooks"', f'"{name}"') % "")
    call(sarrus, "gen", f"{out}/word.xml", "--project", f"{out}/of-{name}")
    assert len(rows(call("make", "-s", "run", folder=f"{out}/of-{name}") + open(f"{out}/of-{name}/m_{name}.csv").read())) > 1, name
assert "velocity equations" in call(sarrus, "gen", "models/mechanisms/rolling-disc.xml", "--project", f"{out}/disc", status=2)
assert "leave out --what" in call(sarrus, "gen", f"{out}/hooks.xml", "--project", folder, "--lang", "js", status=2)
print("ok gen project")
END
