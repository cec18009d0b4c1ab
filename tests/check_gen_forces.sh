#!/usr/bin/env bash
# Generated force elements, contact and friction against `eval` and `run`: all selects, motions and tables, shapes on planes and height fields, in C, lanes, JavaScript, Python and Octave; Runge-Kutta steps of a quadruped on its feet.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
python=$(command -v /usr/bin/python3 || command -v python3)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$python" - "$sarrus" "$out" << 'END'
import ctypes, json, math, random, shutil, subprocess, sys
sarrus, out = sys.argv[1:]
random.seed(7)

def call(*arguments, status=0):
    done = subprocess.run([sarrus, *arguments], capture_output=True, text=True)
    assert done.returncode == status, f"{arguments}: status {done.returncode}: {done.stderr[:400]}"
    return done.stdout, done.stderr

def compiled(name, *flags):
    library = f"{out}/lib-{name}{''.join(flags)}.so"
    subprocess.run(["cc", "-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *flags, f"{out}/{name}.c", "-o", library, "-lm"], check=True)
    return ctypes.CDLL(library)

def array(values): return (ctypes.c_double * len(values))(*values)

def near(a, b, tolerance, what):
    size = max(1e-300, max((abs(x) for x in b), default=0))
    worst = max((abs(x - y) for x, y in zip(a, b)), default=0) / size
    assert len(a) == len(b) and worst <= tolerance, f"{what}: differ by {worst:g}"

def aligned(values):
    buffer = (ctypes.c_double * (len(values) * 2 + 2))()
    offset = (-ctypes.addressof(buffer) % 16) // 8
    for i, x in enumerate(values): buffer[offset + 2 * i] = buffer[offset + 2 * i + 1] = x
    return ctypes.byref(buffer, 8 * offset), buffer, offset

# Every select, and a limit of friction that falls.
open(f"{out}/selects.xml", "w").write("""<sarrus version="1" name="selects">
  <ground><shape name="floor" type="plane"/></ground>
  <body name="ball">
    <joint name="ball" type="free" q="0 0 0.195 1 0 0 0" v="0 0 0 0.3 0 0"/>
    <inertial mass="1" inertia="0.02 0.02 0.02"/>
    <shape name="ball" type="sphere" size="0.2"/>
  </body>
  <body name="arm" parent="ball">
    <joint name="arm" type="revolute" axis="0 1 0" q="0.3"/>
    <inertial mass="0.5" com="0 0 0.3" inertia="0.01 0.01 0.01"/>
  </body>
  <torque joint="arm" law="if(q(arm) &lt; 0.5, sign(v(arm)), step(t - 0.1)) + floor(3*q(arm)) - max(v(arm), 0.2) + min(q(arm), t) + abs(v(arm)) - (q(arm) &lt;= t)"/>
  <contact name="touch" a="floor" b="ball" normal="kelvin-voigt" K="1e4" D="10" friction="kikuuwe" mu-s="0.5" mu-k="0.3" mu-roll="0.01" mu-spin="0.02"/>
</sarrus>""")
text = lambda x: ",".join(map(repr, x))

# The CUDA file, compiled for the processor by a C++ compiler.
def on_host(name):
    with open(f"{out}/{name}-host.cc", "w") as to:
        to.write("#include <cmath>\nusing namespace std;\n#define __device__\n#define __global__\n#define __shared__\n#define __constant__\n#define __forceinline__ inline\n#define __launch_bounds__(a, b)\n"
                 f"static struct {{ int x; }} threadIdx, blockIdx;\ndouble sr_shared[216 * 128];\nstatic double __shfl_xor_sync(unsigned, double x, int) {{ return x; }}\n#include \"{name}.cu\"\n"
                 "extern \"C\" void force(int n, const double* t, const double* q, const double* v, const double* y, const double* stage, double* tau, double* ydot) { "
                 f"{name}_force_kernel(n, t, q, v, y, stage, tau, ydot); }}\n")
    subprocess.run(["c++", "-O0", "-w", "-shared", "-fPIC", f"{out}/{name}-host.cc", "-o", f"{out}/{name}-host.so"], check=True)
    return ctypes.CDLL(f"{out}/{name}-host.so")

# Forces and rates of a model in C, lanes, JavaScript, Python and Octave, at states around the start: those of `eval`. size: of the deviations of q and v.
def everywhere(name, sizes):
    path = f"{out}/{name}.xml"
    call("gen", path, "--what", "force,rates", "--lang", "c,js,python,octave,cuda", "-o", out)
    library, lanes, host = compiled(name), compiled(name, "-DSR_LANES=2", "-Wno-psabi"), on_host(name)
    start = json.loads(call("eval", path, "--json")[0])
    nv, ny = len(start["v"]), len(start["y"])
    expected, given = [], []
    for k, size in enumerate(sizes):
        q, v = ([x + random.uniform(-size, size) for x in start[key]] for key in "qv")
        y, tau, t = [random.uniform(-1e-3, 1e-3) * size for _ in start["y"]], [random.uniform(-1, 1) for _ in v], 0.05 * k
        at = json.loads(call("eval", path, "--json", "--q=" + text(q), "--v=" + text(v), *(["--y=" + text(y)] if y else []), "--tau=" + text(tau), f"--t={t}")[0])
        f, yd, a, ya = (array([0] * n) for n in (nv, ny, nv, ny))
        getattr(library, name + "_force")(array([t]), array(q), array(v), array(y), array([-1]), f, yd)
        getattr(library, name + "_rates")(array([t]), array(q), array(v), array(y), array(tau), array([-1]), a, ya)
        near([x + z for x, z in zip(f, tau)], at["f"], 1e-12, f"{name}: forces")
        near(list(yd), at.get("ydot", []), 1e-11, f"{name}: rates of states")
        near(list(a), at["a"], 1e-10, f"{name}: accelerations")
        near(list(ya), at.get("ydot", []), 1e-11, f"{name}: rates of states")
        inputs, outputs = [aligned(x) for x in ([t], q, v, y, [-1])], [aligned([0] * n) for n in (nv, ny)]
        getattr(lanes, name + "_force")(*(x[0] for x in inputs + outputs))
        for lane in range(2): near([outputs[0][1][outputs[0][2] + 2 * i + lane] for i in range(nv)], list(f), 1e-13, f"{name}: forces in lane {lane}")
        g, gd = array([0] * nv), array([0] * ny)
        host.force(1, array([t]), array(q), array(v), array(y), array([-1]), g, gd)
        near(list(g), list(f), 1e-12, f"{name}: CUDA code")
        near(list(gd), list(yd), 1e-11, f"{name}: CUDA code, rates of states")
        given.append((t, q, v, y, tau))
        expected += [*f, *yd, *a, *ya]
    rows = "[" + ",".join(f"[{t},[{text(q)}],[{text(v)}],[{text(y)}],[{text(tau)}]]" for t, q, v, y, tau in given) + "]"
    programs = {
        "node": f"import('{out}/{name}.mjs').then(m => {{ for (const [t, q, v, y, tau] of {rows}) {{ const z = k => Array(k).fill(0), f = z({nv}), yd = z({ny}), a = z({nv}), ya = z({ny});"
                "m.force(t, q, v, y, -1, f, yd); m.rates(t, q, v, y, tau, -1, a, ya); console.log([...f, ...yd, ...a, ...ya].join(' ')); } })",
        "python": f"import sys; sys.path.insert(0, '{out}'); import numpy as np, {name} as m\n"
                  f"for t, *rest in {rows}:\n"
                  "    q, v, y, tau = map(np.array, rest); print(*(x for part in (*m.force(t, q, v, y, -1), *m.rates(t, q, v, y, tau, -1)) for x in part.tolist()))\n"
                  "    two = m.force(t, *(np.stack([x, x], 1) for x in (q, v, y)), -1)[0]; assert np.allclose(two[:, 1], m.force(t, q, v, y, -1)[0], 1e-12)",
        "octave": f"addpath('{out}');" + "".join(f"t = {t!r}; q = [{text(q)}]'; v = [{text(v)}]'; y = [{text(y)}]'; tau = [{text(tau)}]'; [f, yd] = {name}_force(t, q, v, y, -1); "
                  f"[a, ya] = {name}_rates(t, q, v, y, tau, -1); printf('%.17g ', [f; yd; a; ya]);" for t, q, v, y, tau in given)}
    commands = {"node": ["node", "-e"], "python": [sys.executable, "-c"], "octave": ["octave-cli", "--no-init-file", "--eval"]}
    for language, program in programs.items():
        if not shutil.which(commands[language][0]):
            print(f"{language} is not installed: its code was written and not run")
            continue
        done = subprocess.run([*commands[language], program], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{name}, {language}: {done.stderr[:400]}"
        near([float(x) for x in done.stdout.split()], expected, 1e-11, f"{name}, {language}")

everywhere("selects", (0, 0.003, 0.3) * 2)

# Motions and tables, within and beyond their points, of coordinates and of the time.
open(f"{out}/tables.xml", "w").write("""<sarrus version="1" name="tables">
  <motion name="held" type="cubic" points="-0.5 0.1 0.1 0.3 0.2 -0.2 0.9 0.4"/>
  <motion name="endless" type="cubic" ends="natural" points="-0.5 0.1 0.1 0.3 0.2 -0.2 0.9 0.4 1.5 1"/>
  <motion name="again" type="cubic" ends="periodic" points="0 0 0.1 1 0.25 0.2 0.3 0"/>
  <motion name="smooth" type="quintic" points="-0.2 0 0.1 1 0.4 0.5"/>
  <motion name="profile" type="trapezoid" start="0.02" from="0.1" to="1" speed="5" acceleration="40"/>
  <motion name="tone" type="sweep" start="0.05" duration="0.1" amplitude="2" f0="1" f1="4"/>
  <table name="flat" type="linear" x="-0.4 0 0.5" y="-0.3 0.1 0.2 0.6" values="0 1 2 0.5 -1 0.3 0.2 1 0.4 2 1 0" ends="natural" ends-y="clamped"/>
  <table name="round" type="cubic" x="-0.4 0 0.5" y="-0.3 0.1 0.2 0.6" values="0 1 2 0 -1 0.3 0.2 -1 0.4 2 1 0.4" ends="natural" ends-y="periodic"/>
  <body name="one">
    <joint name="one" type="revolute" axis="0 1 0" q="0.1" v="0.2"/>
    <inertial mass="1" com="0 0 -0.2" inertia="0.02 0.02 0.02"/>
  </body>
  <body name="two" parent="one">
    <joint name="two" type="prismatic" axis="1 0 0" q="0.15" v="-0.1"/>
    <inertial mass="0.5" inertia="0.01 0.01 0.01"/>
  </body>
  <torque joint="one" law="held(q(one)) + endless(2*q(two)) - again(q(one) + t) + smooth(q(two)) + profile(t) + tone(t + 0.01*q(one)) + tone(t)"/>
  <torque joint="two" law="flat(q(one), q(two)) - 2*round(q(two), v(one))"/>
</sarrus>""")
everywhere("tables", (0, 0.1, 0.3, 0.6, 1, 2))

# A box on a plane, a ball and a pebble on a height field: faces, edges and corners of it, and beyond its border.
open(f"{out}/ground.xml", "w").write("""<sarrus version="1" name="ground">
  <ground>
    <shape name="floor" type="plane"/>
    <shape name="land" type="heightfield" size="1 0.6" columns="6" heights="0 0.1 0 0.2 0 0.1 0.2 0 0.1 0 0.2 0 0 0.2 0.3 0.1 0 0.1 0.1 0 0.1 0 0.2 0"/>
  </ground>
  <body name="box">
    <joint name="box" type="free" q="1 0 0.09 1 0 0 0"/>
    <inertial mass="1" inertia="0.02 0.02 0.02"/>
    <shape name="box" type="box" size="0.3 0.25 0.2"/>
  </body>
  <body name="ball">
    <joint name="ball" type="free" q="0.1 0.05 0.24 1 0 0 0"/>
    <inertial mass="1" inertia="0.02 0.02 0.02"/>
    <shape name="ball" type="sphere" size="0.09"/>
  </body>
  <body name="pebble">
    <joint name="pebble" type="free" q="-0.3 -0.05 0.12 1 0 0 0"/>
    <inertial mass="1" inertia="0.02 0.02 0.02"/>
    <shape name="pebble" type="sphere" size="0.08"/>
  </body>
  <contact name="press" a="floor" b="box" normal="kelvin-voigt" K="1e4" D="50" friction="kikuuwe" mu-k="0.3" mu-roll="0.01" mu-spin="0.02" bristle-K="1e4"/>
  <contact name="touch" a="land" b="ball" normal="kelvin-voigt" K="1e4" D="10" friction="kikuuwe" mu-k="0.3" mu-roll="0.01" mu-spin="0.02" bristle-K="1e4"/>
  <contact name="fine" a="land" b="pebble" normal="hertz" K="1e5" friction="threlfall" mu-k="0.3" v0="1e-3"/>
</sarrus>""")
everywhere("ground", (0, 0.01, 0.03, 0.05, 0.1, 0.3, 0.05, 0.1, 0.03))

# Loops over the cells of a height field: a box, a capsule, a ball that is above many of them.
open(f"{out}/stones.xml", "w").write("""<sarrus version="1" name="stones">
  <parameter name="K" value="1e4"/>
  <ground><shape name="land" type="heightfield" size="1 0.6" columns="6" heights="0 0.1 0 0.2 0 0.1 0.2 0 0.1 0 0.2 0 0 0.2 0.3 0.1 0 0.1 0.1 0 0.1 0 0.2 0"/></ground>
  <body name="brick">
    <joint name="brick" type="free" q="0.25 -0.05 0.2 1 0.1 0.2 0.1"/>
    <inertial mass="1" inertia="0.02 0.02 0.02"/>
    <shape name="brick" type="box" size="0.15 0.1 0.12"/>
  </body>
  <body name="rod">
    <joint name="rod" type="free" q="-0.1 0.1 0.27 1 0 0.6 0.1"/>
    <inertial mass="1" inertia="0.02 0.02 0.02"/>
    <shape name="rod" type="capsule" size="0.07 0.3"/>
  </body>
  <body name="boulder">
    <joint name="boulder" type="free" q="0.2 0.1 0.52 1 0 0 0"/>
    <inertial mass="1" inertia="0.02 0.02 0.02"/>
    <shape name="boulder" type="sphere" size="0.4"/>
  </body>
  <contact name="lie" a="land" b="brick" normal="kelvin-voigt" K="K" D="50" friction="kikuuwe" mu-k="0.3" mu-roll="0.01" mu-spin="0.02" bristle-K="1e4"/>
  <contact name="roll" a="land" b="rod" normal="kelvin-voigt" K="1e4" D="10" friction="kikuuwe" mu-k="0.3" mu-roll="0.01" mu-spin="0.02" bristle-K="1e4"/>
  <contact name="rest" a="land" b="boulder" normal="kelvin-voigt" K="1e4" D="10" friction="kikuuwe" mu-k="0.3"/>
</sarrus>""")
everywhere("stones", (0, 0.01, 0.02, 0.04, 0.04))

# A quadruped on its feet, 1 mm deep: Runge-Kutta steps of `rates` are those of a run.
open(f"{out}/feet.xml", "w").write(open("models/robots/quadruped-stand.xml").read().replace("0 0 0.025 +", "0 0 0.024 +"))
shutil.copy("models/robots/quadruped.urdf", out)
call("gen", f"{out}/feet.xml", "--what", "rates,qdot", "-o", out)
library, start = compiled("quadruped_stand"), json.loads(call("eval", f"{out}/feet.xml", "--json")[0])
call("run", f"{out}/feet.xml", "--method", "rk4", "--step", "1e-3", "--t-end", "0.5", "--every", "0.1", "-o", f"{out}/feet.csv")
rows = [[float(x) for x in line.split(",")] for line in open(f"{out}/feet.csv") if line[0].isdigit()]
nq, nv, h = len(start["q"]), len(start["v"]), 1e-3
state, zero = [*start["q"], *start["v"], *start["y"]], array([0] * nv)
def rates(t, x, stage):
    q, v, y = array(x[:nq]), array(x[nq:nq + nv]), array(x[nq + nv:])
    dq, dv, dy = (array([0] * len(z)) for z in (q, v, y))
    library.quadruped_stand_rates(array([t]), q, v, y, zero, array([stage]), dv, dy)
    library.quadruped_stand_qdot(q, v, dq)
    return [*dq, *dv, *dy]
for step in range(500):
    total, slope = [0] * len(state), [0] * len(state)
    for ahead, weight, stage in (0, 1, 0.5), (0.5, 2, 0.5), (0.5, 2, 1), (1, 1, 1):
        slope = rates((step + ahead) * h, [a + ahead * h * b for a, b in zip(state, slope)], stage * h)
        total = [a + weight * b for a, b in zip(total, slope)]
    state = [a + h / 6 * b for a, b in zip(state, total)]
    length = math.sqrt(sum(x * x for x in state[3:7]))
    state[3:7] = [x / length for x in state[3:7]]
    if step % 100 == 99: near(state[:nq + nv], rows[(step + 1) // 100][1:1 + nq + nv], 1e-8, "a quadruped on its feet")
assert abs(rows[-1][3] - rows[0][3]) > 1e-4 and rows[-1][3] > 0.3, "the quadruped moves, and stands"
text, error = call("gen", "models/nonsmooth/spinning-ball.xml", "--what", "rates", "-o", out, status=2)
assert "rates has no code for the contact 'floor': its normal law 'exact'" in error, error
print("ok gen forces")
END
