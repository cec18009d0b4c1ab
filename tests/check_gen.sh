#!/usr/bin/env bash
# Generated code, compiled or interpreted by its own language, against `eval`: mass matrix, bias, forward and inverse dynamics at random states; as double, float and lanes; same input, same bytes; what is refused.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
python=$(command -v /usr/bin/python3 || command -v python3)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$python" - "$sarrus" "$out" << 'END'
import ctypes, json, math, os, random, re, shutil, subprocess, sys
sarrus, out = sys.argv[1:]
random.seed(5)

def call(*arguments, status=0):
    done = subprocess.run([sarrus, *arguments], capture_output=True, text=True)
    assert done.returncode == status, f"{arguments}: status {done.returncode}: {done.stderr[:400]}"
    return done.stdout, done.stderr

def compiled(name, *flags):
    library = f"{out}/lib-{name}{''.join(flags)}.so"
    subprocess.run(["cc", "-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *flags, f"{out}/{name}.c", "-o", library, "-lm"], check=True)
    return ctypes.CDLL(library)

def array(values, number=ctypes.c_double): return (number * len(values))(*values)

def near(a, b, tolerance, what):
    size = max(1e-300, max(abs(x) for x in b))
    worst = max((abs(x - y) for x, y in zip(a, b)), default=0) / size
    assert len(a) == len(b) and all(map(math.isfinite, a)) and worst <= tolerance, f"{what}: differ by {worst:g}"

# The mass matrix, the bias, and forces of no law: tau = f, from a model's evaluation at a random state.
def state_of(model, identifier):
    start = json.loads(call("eval", model, "--json")[0])
    q = [x + random.uniform(-1, 1) for x in start["q"]]
    v = [random.uniform(-2, 2) for _ in start["v"]]
    at = json.loads(call("eval", model, "--json", "--q=" + ",".join(map(repr, q)), "--v=" + ",".join(map(repr, v)))[0])
    return q, v, at

for model, identifier in ("models/paper1/arm6.xml", "arm6"), ("models/robots/arm-scara.xml", "arm_scara"), ("models/satellite.xml", "satellite"):
    report = json.loads(call("gen", model, "-o", out, "--json")[0])
    assert {os.path.basename(f) for f in report["files"]} == {identifier + ".h", identifier + ".c"}, report["files"]
    for name, count in report["operations"]["after"].items():
        before = report["operations"]["before"][name]
        assert count["add"] + count["mul"] <= before["add"] + before["mul"], (model, name)
    first = {f: open(f).read() for f in report["files"]}
    call("gen", model, "-o", out)
    assert all(open(f).read() == text for f, text in first.items()), "the same input gave other bytes"
    library, narrow, lanes = compiled(identifier), compiled(identifier, "-DSR_FLOAT"), compiled(identifier, "-DSR_LANES=4")
    for _ in range(3):
        q, v, at = state_of(model, identifier)
        n = len(v)
        flat = [x for row in at["M"] for x in row]
        M, c, a, tau = (array([0] * k) for k in (n * n, n, n, n))
        getattr(library, identifier + "_dirdyna")(array(q), array(v), M, c)
        near(list(M), flat, 1e-13, f"{model}: M")
        near(list(c), at["c"], 1e-12, f"{model}: c")
        accelerations = [random.uniform(-1, 1) for _ in v]
        forces = [at["c"][i] + sum(at["M"][i][k] * accelerations[k] for k in range(n)) for i in range(n)]
        getattr(library, identifier + "_invdyna")(array(q), array(v), array(accelerations), tau)
        near(list(tau), forces, 1e-12, f"{model}: inverse dynamics")
        getattr(library, identifier + "_accel")(array(q), array(v), array(forces), a)
        near(list(a), accelerations, 1e-9, f"{model}: forward dynamics")
        f32 = ctypes.c_float
        Mf, cf = array([0] * (n * n), f32), array([0] * n, f32)
        getattr(narrow, identifier + "_dirdyna")(array(q, f32), array(v, f32), Mf, cf)
        near(list(Mf), flat, 1e-4, f"{model}: M in float")
        # Lanes: four states, entry by entry; the arrays are aligned to 32 bytes.
        def aligned(values):
            buffer = (ctypes.c_double * (len(values) * 4 + 4))()
            offset = (-ctypes.addressof(buffer) % 32) // 8
            for i, x in enumerate(values):
                for lane in range(4): buffer[offset + 4 * i + lane] = x
            return ctypes.byref(buffer, 8 * offset), buffer, offset
        qa, va, Ma, ca = aligned(q), aligned(v), aligned([0] * (n * n)), aligned([0] * n)
        getattr(lanes, identifier + "_dirdyna")(qa[0], va[0], Ma[0], ca[0])
        for lane in range(4): near([Ma[1][Ma[2] + 4 * i + lane] for i in range(n * n)], flat, 1e-13, f"{model}: M in lane {lane}")

# Other languages, by their own interpreters where they are installed: the same numbers as the C code, to rounding.
def others(model, identifier):
    call("gen", model, "--lang", "c,js,python,octave", "-o", out)
    library = compiled(identifier)
    q, v, at = state_of(model, identifier)
    n = len(v)
    accelerations = [random.uniform(-1, 1) for _ in v]
    M, c, tau, a = (array([0] * k) for k in (n * n, n, n, n))
    getattr(library, identifier + "_dirdyna")(array(q), array(v), M, c)
    getattr(library, identifier + "_invdyna")(array(q), array(v), array(accelerations), tau)
    getattr(library, identifier + "_accel")(array(q), array(v), tau, a)
    expected = [*M, *c, *tau, *a]
    numbers = lambda x: "[" + ",".join(map(repr, x)) + "]"
    programs = {
        "node": f"import('{out}/{identifier}.mjs').then(m => {{ const z = k => Array(k).fill(0), M = z({n * n}), c = z({n}), tau = z({n}), a = z({n}), q = {numbers(q)}, v = {numbers(v)};"
                f"m.dirdyna(q, v, M, c); m.invdyna(q, v, {numbers(accelerations)}, tau); m.accel(q, v, tau, a); console.log([...M, ...c, ...tau, ...a].join(' ')); }})",
        "python": f"import sys; sys.path.insert(0, '{out}'); import numpy as np, {identifier} as m; q = np.array({numbers(q)}); v = np.array({numbers(v)})\n"
                  f"M, c = m.dirdyna(q, v); tau = m.invdyna(q, v, np.array({numbers(accelerations)})); a = m.accel(q, v, tau); print(*M.ravel().tolist(), *c.tolist(), *tau.tolist(), *a.tolist())\n"
                  f"two = m.invdyna(np.stack([q, q + 1], 1), np.stack([v, v], 1), np.array({numbers(accelerations)})[:, None] * np.ones(2)); assert np.allclose(two[:, 0], tau, 1e-13)",
        "octave": f"addpath('{out}'); q = {numbers(q)}'; v = {numbers(v)}'; [M, c] = {identifier}_dirdyna(q, v); tau = {identifier}_invdyna(q, v, {numbers(accelerations)}'); a = {identifier}_accel(q, v, tau);"
                  "printf('%.17g ', [reshape(M', [], 1); c; tau; a]);"}
    commands = {"node": ["node", "-e"], "python": [sys.executable, "-c"], "octave": ["octave-cli", "--no-init-file", "--eval"]}
    for name, program in programs.items():
        if not shutil.which(commands[name][0]):
            print(f"{name} is not installed: its code was written and not run")
            continue
        done = subprocess.run([*commands[name], program], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{name}: {done.stderr[:400]}"
        near([float(x) for x in done.stdout.split()], expected, 1e-12, f"{model} in {name}")
for model, identifier in ("models/paper1/arm6.xml", "arm6"), ("models/satellite.xml", "satellite"): others(model, identifier)

# CUDA, compiled for the processor by a C++ compiler: the same numbers as the C code. Threads of a block are threads of the processor, which meet where lanes exchange values.
def on_host(identifier, kernels, room=1):
    with open(f"{out}/host.cc", "w") as to:
        to.write("#include <cmath>\n#include <condition_variable>\n#include <mutex>\n#include <thread>\n#include <vector>\nusing namespace std;\n#define __device__\n#define __global__\n#define __shared__\n#define __constant__\n#define __forceinline__ inline\n#define __launch_bounds__(a, b)\n"
                 f"struct Index {{ int x; }};\nstatic thread_local Index threadIdx, blockIdx;\nstatic Index blockDim;\ndouble sr_shared[{room} * 128];\n"
                 "static mutex door;\nstatic condition_variable all_here;\nstatic int here, meetings;\n"
                 "static void __syncthreads() {\n  unique_lock<mutex> in(door);\n  const int now = meetings;\n  if (++here == blockDim.x) {\n    here = 0, meetings++;\n    all_here.notify_all();\n  }\n  while (meetings == now) all_here.wait(in);\n}\n"
                 "static double given[2][128];\nstatic thread_local int turn;\n"
                 "static double __shfl_xor_sync(unsigned, double x, int by) {\n  double* at = given[turn ^= 1];\n  at[threadIdx.x] = x;\n  __syncthreads();\n  return at[threadIdx.x ^ by];\n}\n"
                 "template <class F> static void run(int threads, F f) {\n  vector<thread> all;\n  blockDim.x = threads;\n  for (int i = 0; i < threads; i++) all.emplace_back([=] { threadIdx.x = i; f(); });\n  for (auto& x : all) x.join();\n}\n"
                 f"#include \"{identifier}.cu\"\n")
        for name, parameters, passed in kernels:
            to.write(f"extern \"C\" void {name}(int threads, int n, {parameters}) {{ run(threads, [=] {{ {identifier}_{name}_kernel(n, {passed}); }}); }}\n")
    subprocess.run(["c++", "-O0", "-w", "-pthread", "-shared", "-fPIC", f"{out}/host.cc", "-o", f"{out}/host-{identifier}.so"], check=True)
    return ctypes.CDLL(f"{out}/host-{identifier}.so")

# Values that wait in shared memory; limbs of both sides in two lanes.
call("gen", "models/humanoid.xml", "--lang", "c,cuda", "--what", "accel", "-o", out)
text = open(f"{out}/humanoid.cu").read()
assert "SR_GET(" in text and "humanoid_accel_launch" in text
library = compiled("humanoid")
arrays = ("const double* q, const double* v, const double* tau, double* a", "q, v, tau, a")
host = on_host("humanoid", [("accel", *arrays), ("accel_lanes2", *arrays)], 216)
start = json.loads(call("eval", "models/humanoid.xml", "--json")[0])
q, v, tau = ([x + random.uniform(-1, 1) for x in start[k]] for k in ("q", "v", "v"))
a = array([0] * len(v))
library.humanoid_accel(array(q), array(v), array(tau), a)
for name, threads in ("accel", 1), ("accel_lanes2", 2):
    b = array([math.nan] * len(v))
    getattr(host, name)(threads, 1, array(q), array(v), array(tau), b)
    near(list(b), list(a), 1e-10, f"CUDA code, {name}")

# A leg in each lane, with contact and states: rates of two robots, and steps of three (two whole blocks of lanes and a thread that repeats the last one), against Runge-Kutta steps with the C code.
call("gen", "models/robots/quadruped-stand.xml", "--lang", "c,cuda", "--what", "rates,qdot", "-o", out)
library = compiled("quadruped_stand")
rates = ("const double* t, const double* q, const double* v, const double* y, const double* tau, const double* stage, double* a, double* ydot", "t, q, v, y, tau, stage, a, ydot")
steps = ("int steps, double h, double t, double* q, double* v, double* y, const double* tau", "steps, h, t, q, v, y, tau")
host = on_host("quadruped_stand", [(f"{name}{lanes}", *kind) for name, kind in (("rates", rates), ("rk4", steps)) for lanes in ("", "_lanes2", "_lanes4")])
start = json.loads(call("eval", "models/robots/quadruped-stand.xml", "--json")[0])
nq, nv, ny = (len(start[k]) for k in ("q", "v", "y"))
def one(t, q, v, y, tau, stage):
    a, ydot, qdot = array([0] * nv), array([0] * ny), array([0] * nq)
    library.quadruped_stand_rates(array([t]), array(q), array(v), array(y), array(tau), array([stage]), a, ydot)
    library.quadruped_stand_qdot(array(q), array(v), qdot)
    return list(qdot), list(a), list(ydot)
def stepped(q, v, y, tau, n, h):
    for k in range(n):
        state, rate, end = (q, v, y), None, None
        for weight, ahead, at, stage in (1 / 6, 0, 0, 0.5), (1 / 3, 0.5, 0.5, 0.5), (1 / 3, 0.5, 0.5, 1), (1 / 6, 1, 1, 1):
            x = state if rate is None else tuple([p + ahead * h * d for p, d in zip(s, r)] for s, r in zip(state, rate))
            rate = one((k + at) * h, *x, tau, stage * h)
            end = [[p + weight * h * d for p, d in zip(s, r)] for s, r in zip(end or state, rate)]
        length = math.sqrt(sum(x * x for x in end[0][3:7]))
        q, v, y = end[0][:3] + [x / length for x in end[0][3:7]] + end[0][7:], end[1], end[2]
    return q, v, y
robots = [([x + random.uniform(-0.02, 0.02) for x in start["q"]], [random.uniform(-0.1, 0.1) for _ in range(nv)], [random.uniform(-1e-4, 1e-4) for _ in range(ny)], [random.uniform(-2, 2) if i >= 6 else 0 for i in range(nv)]) for _ in range(3)]
columns = lambda k, n: array([robots[i][k][j] for j in range(len(robots[0][k])) for i in range(n)])
expected = [one(0.1, *robots[i], -1) for i in range(2)]
moved = [stepped(*r, 20, 1e-3) for r in robots]
for lanes, name in (1, ""), (2, "_lanes2"), (4, "_lanes4"):
    a, ydot = array([math.nan] * 2 * nv), array([math.nan] * 2 * ny)
    getattr(host, "rates" + name)(2 * lanes, 2, array([0.1] * 2), *(columns(k, 2) for k in range(4)), array([-1.0] * 2), a, ydot)
    for i in range(2):
        near(list(a)[i::2], expected[i][1], 1e-12, f"rates in {lanes} lanes")
        near(list(ydot)[i::2], expected[i][2], 1e-12, f"rates of states in {lanes} lanes")
    q, v, y, tau = (columns(k, 3) for k in range(4))
    getattr(host, "rk4" + name)(4 * lanes, 3, 20, ctypes.c_double(1e-3), ctypes.c_double(0), q, v, y, tau)
    for i in range(3):
        for x, wanted, what in (q, moved[i][0], "q"), (v, moved[i][1], "v"), (y, moved[i][2], "y"): near(list(x)[i::3], wanted, 1e-11, f"{what} after steps in {lanes} lanes")

# Limbs in the lanes of a vector: the functions that stand beside those of the whole tree, with SSE2 and with AVX2, where there are no such vectors (float, lanes of states), and at a large angle; entries that are written are the same ones.
def limbs(model, identifier, lanes, what, *options):
    call("gen", model, "--what", ",".join(what), "--limbs", str(lanes), *options, "-o", out)
    text = open(f"{out}/{identifier}.h").read()
    size = {k: int(re.search(rf"{identifier}_{k} = ([0-9]+)", text)[1]) for k in ("nq", "nv")}
    nq, nv = size["nq"], size["nv"]
    shape = {"accel": ([nq, nv, nv], [nv]), "invdyna": ([nq, nv, nv], [nv]), "bias": ([nq, nv], [nv]), "mass": ([nq], [nv * nv]), "dirdyna": ([nq, nv], [nv * nv, nv])}
    v3 = [["-march=x86-64-v3"]] if "avx2" in open("/proc/cpuinfo").read() else []
    for flags in [], *v3, ["-DSR_FLOAT"]:
        library, number = compiled(identifier, f"-DLIMBS{lanes}", *flags), ctypes.c_float if "-DSR_FLOAT" in flags else ctypes.c_double
        for name in what:
            for turn in range(4):
                given = [array([random.uniform(-2, 2) for _ in range(n)], number) for n in shape[name][0]]
                if turn == 3: given[0][nq - 1] += 1e6
                whole, beside = ([array([777] * n, number) for n in shape[name][1]] for _ in range(2))
                getattr(library, f"{identifier}_{name}")(*given, *whole)
                getattr(library, f"{identifier}_{name}_lanes{lanes}")(*given, *beside)
                for x, y in zip(whole, beside):
                    assert [k for k in range(len(x)) if x[k] == 777] == [k for k in range(len(y)) if y[k] == 777], f"{model}: {name} writes other entries in {lanes} lanes"
                    near(list(y), list(x), 1e-12 if name == "accel" else 1e-13, f"{model}: {name} in {lanes} lanes")
    compiled(identifier, "-DSR_LANES=4", f"-DLIMBS{lanes}")
for model, identifier, lanes, what in (("models/humanoid.xml", "humanoid", 2, ("accel", "invdyna", "mass")), ("models/robots/quadruped.xml", "quadruped", 2, ("accel", "invdyna", "bias", "mass", "dirdyna")),
                                       ("models/robots/quadruped.xml", "quadruped", 4, ("accel", "invdyna", "bias", "mass", "dirdyna")), ("models/robots/hexapod.xml", "hexapod", 4, ("invdyna", "mass")),
                                       ("models/paper1/charmie.xml", "charmie", 2, ("invdyna", "mass"))):  # numbers differ between the legs; of six legs two are of the base; of a tree with loops
    limbs(model, identifier, lanes, what)
# Fingers that follow the gripper of their hand are eliminated in each lane; a finger that follows the other hand is in two lanes.
def hands(name, leader):
    fingers = "".join(f'<body name="f{i}" parent="{f"hand{i // 2}" if i % 2 == 0 else f"f{i - 1}"}"><joint name="f{i}" type="revolute" axis="1 0.1 0" at="0.02 0.01 -0.1" armature="{0.002 * (i % 3)}"/>'
                      f'<inertial mass="{0.05 + 0.01 * i}" com="0 0.002 -0.02" inertia="9e-6 9e-6 3e-6"/></body>' for i in range(4))
    fingers += "".join(f'<coupling joint="f{i}" to="{leader(i)}" ratio="{0.8 + 0.1 * (i // 2)}"/>' for i in range(4))
    text = open("models/humanoid.xml").read().replace('name="humanoid"', f'name="{name}"').replace("</sarrus>", fingers + "</sarrus>")
    with open(f"{out}/{name}.xml", "w") as file: file.write(text)
    return f"{out}/{name}.xml"
limbs(hands("hands", lambda i: f"gripper{i // 2}"), "hands", 2, ("accel", "invdyna", "mass"))
text, error = call("gen", hands("crossed", lambda i: "gripper0"), "--what", "accel", "--limbs", "2", "-o", out, status=2)
assert "limbs in 2 lanes" in error, error
first = open(f"{out}/charmie.c").read()
limbs("models/paper1/charmie.xml", "charmie", 2, ("invdyna", "mass"))
assert open(f"{out}/charmie.c").read() == first, "the same input gave other bytes"
for arguments, reason in ((("models/paper1/arm6.xml", "--limbs", "2"), "limbs in 2 lanes"), (("models/humanoid.xml", "--limbs", "4", "--what", "mass"), "limbs in 4 lanes"), (("models/humanoid.xml", "--limbs", "3"), "2 or 4"),
                          (("models/humanoid.xml", "--limbs", "2", "--lang", "js"), "C alone"), (("models/humanoid.xml", "--limbs", "2", "--what", "qdot"), "limbs in 2 lanes")):
    text, error = call("gen", *arguments, "-o", out, status=2)
    assert reason in error, error

# Derivatives: written on request, four arrays; da/dtau is the inverse of M, and da/dv that of the differences.
call("gen", "models/paper1/arm6.xml", "--what", "accel,mass,daccel", "-o", out)
library = compiled("arm6", "-DDERIVATIVES")
q, v, tau = ([random.uniform(-1, 1) for _ in range(6)] for _ in range(3))
a, a_q, a_v, a_tau, M, ahead, behind = (array([0] * k) for k in (6, 36, 36, 36, 36, 6, 6))
library.arm6_daccel(array(q), array(v), array(tau), a, a_q, a_v, a_tau)
library.arm6_mass(array(q), M)
full = [[M[6 * max(i, k) + min(i, k)] for k in range(6)] for i in range(6)]
near([sum(a_tau[6 * i + j] * full[j][k] for j in range(6)) for i in range(6) for k in range(6)], [float(i == k) for i in range(6) for k in range(6)], 1e-12, "da/dtau M")
for k in range(6):
    for sign, to in (1, ahead), (-1, behind): library.arm6_accel(array(q), array([x + sign * 1e-3 * (i == k) for i, x in enumerate(v)]), array(tau), to)  # quadratic in v: exact
    near([a_v[6 * i + k] for i in range(6)], [(x - y) / 2e-3 for x, y in zip(ahead, behind)], 1e-9, "da/dv")
call("gen", "models/paper1/arm6.xml", "-o", out)

# Parameters as arguments: with other values the code is that of the model with --set. Names that are words of a language.
call("gen", "models/rotating-pendulum.xml", "--what", "dirdyna", "--parameters", "l,m,g", "--lang", "c,python", "-o", out)
library, text = compiled("rotating_pendulum"), json.loads(call("eval", "models/rotating-pendulum.xml", "--set", "l=0.8", "--set", "m=2", "--set", "g=1.6", "--json", "--q=0.3,0.7", "--v=1,-2")[0])
M, c = array([0] * 4), array([0] * 2)
library.rotating_pendulum_dirdyna(array([0.3, 0.7]), array([1, -2]), array([1.6, 0.8, 2]), M, c)
near(list(M), [x for row in text["M"] for x in row], 1e-13, "M with parameters")
near(list(c), text["c"], 1e-12, "c with parameters")
text, error = call("gen", "models/rotating-pendulum.xml", "--parameters", "d", "-o", out, status=2)
assert "'d' does not enter" in error, error
text, error = call("gen", "models/rotating-pendulum.xml", "--parameters", "l", "--lang", "cuda", "-o", out, status=2)
assert "CUDA" in error, error
text, error = call("gen", "models/rotating-pendulum.xml", "--parameters", "l", "--what", "regressor", "-o", out, status=2)
assert "without --parameters" in error, error
with open(f"{out}/word.xml", "w") as file: file.write(open("models/rotating-pendulum.xml").read().replace('name="rotating-pendulum"', 'name="class"'))
files = json.loads(call("gen", f"{out}/word.xml", "--what", "mass", "--lang", "python", "-o", out, "--json")[0])["files"]
assert [os.path.basename(x) for x in files] == ["m_class.py"], files
with open(f"{out}/word.xml", "w") as file: file.write(open("models/rotating-pendulum.xml").read().replace('name="rotating-pendulum"', 'name="random"'))
files = json.loads(call("gen", f"{out}/word.xml", "--what", "mass", "--lang", "python", "-o", out, "--json")[0])["files"]
assert [os.path.basename(x) for x in files] == ["m_random.py"], files  # numpy imports random
# Modules inside of Python's interpreter are found before a file; what numpy imports would be found in its place.
within = subprocess.run([sys.executable, "-c", "import sys, numpy; print(*{m.split('.')[0] for m in sys.modules if not m.startswith('_')} & set(sys.stdlib_module_names), *sys.builtin_module_names)"], capture_output=True, text=True, check=True).stdout.split()
for word in sorted({w for w in within if not w.startswith("_")}):
    with open(f"{out}/word.xml", "w") as file: file.write(f'<sarrus version="1" name="{word}"><body name="b"><joint type="prismatic" axis="1 0 0"/><inertial mass="1"/></body></sarrus>')
    files = json.loads(call("gen", f"{out}/word.xml", "--what", "qdot", "--lang", "python", "-o", out, "--json")[0])["files"]
    assert [os.path.basename(x) for x in files] == [f"m_{word}.py"], files
# A joint that moves no mass has none in the equations.
with open(f"{out}/tip.xml", "w") as file: file.write('<sarrus version="1" name="tip"><body name="a"><joint type="revolute" axis="0 1 0"/><inertial mass="1" com="0.1 0.05 -0.3" inertia="0.02 0.03 0.025"/></body><body name="b" parent="a"><joint type="revolute" axis="1 0 0" at="0 0 -1"/></body></sarrus>')
call("gen", f"{out}/tip.xml", "--what", "dirdyna,invdyna", "-o", out)
text, error = call("gen", f"{out}/tip.xml", "--what", "accel", "--formulation", "absolute", "-o", out, status=2)
assert "move nothing with mass" in error, error
library, at = compiled("tip"), json.loads(call("eval", f"{out}/tip.xml", "--json", "--q=0.3,0.2")[0])
M, c, tau = array([0] * 4), array([0] * 2), array([0] * 2)
library.tip_dirdyna(array([0.3, 0.2]), array([0, 0]), M, c)
library.tip_invdyna(array([0.3, 0.2]), array([0, 0]), array([1, 1]), tau)
near(list(M), [x for row in at["M"] for x in row], 1e-13, "M with a joint that moves no mass")
near(list(tau), [at["M"][i][0] + at["M"][i][1] + at["c"][i] for i in range(2)], 1e-13, "inverse dynamics with a joint that moves no mass")
# Nothing moves: functions of empty arrays compile without a warning.
with open(f"{out}/still.xml", "w") as file: file.write('<sarrus version="1" name="still"><body name="b"><joint type="weld"/><inertial mass="1"/></body></sarrus>')
call("gen", f"{out}/still.xml", "--what", "accel,invdyna,dirdyna,qdot,force,rates", "-o", out)
subprocess.run(["cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only", f"{out}/still.c"], check=True)

# Regressors: the columns that are listed, times their values, are the inverse dynamics.
report = json.loads(call("gen", "models/robots/arm-scara.xml", "--what", "regressor,regressor_full,invdyna", "-o", out, "--json")[0])
library = compiled("arm_scara", "-DREGRESSOR")
q, v, a = ([random.uniform(-1, 1) for _ in range(4)] for _ in range(3))
tau = array([0] * 4)
library.arm_scara_invdyna(array(q), array(v), array(a), tau)
for function, key in ("regressor", "base_parameters"), ("regressor_full", "body_parameters"):
    value = [p["value"] for p in report[key]]
    Y = array([0] * (4 * len(value)))
    getattr(library, "arm_scara_" + function)(array(q), array(v), array(a), Y)
    near([sum(Y[len(value) * i + k] * x for k, x in enumerate(value)) for i in range(4)], list(tau), 1e-12, function)
values = {p["name"]: p["value"] for p in report["body_parameters"]}
for p in report["base_parameters"]: near([sum(values[name] * x for name, x in p["terms"].items())], [p["value"]], 1e-12, p["name"])

# Large angles go to libm: in angles alone (arm6: the function is called again with angles of one turn), and where a coordinate is a length as well (the screw of tree.xml); against eval, of one state and of lanes.
for model, identifier, coordinates in ("models/paper1/arm6.xml", "arm6", ((1, 1e300, 1e-9), (2, -1e9, 1e-9), (5, 2e5, 1e-9))), ("models/tree.xml", "tree", ((0, 2e5, 1e-9), (43, 2e5, 1e-9), (12, 1e300, 10))):
    call("gen", model, "--what", "dirdyna", "-o", out)
    start = json.loads(call("eval", model, "--json")[0])
    for library, width in (compiled(identifier, "-O0"), 1), (compiled(identifier, "-O0", "-DSR_LANES=4"), 4):
        for large, size, tolerance in coordinates:  # of 1e300, to which nothing can be added, the entries have the right size
            q = [x + random.uniform(-1, 1) + (size if i == large else 0) for i, x in enumerate(start["q"])]
            v = [random.uniform(-2, 2) for _ in start["v"]]
            at = json.loads(call("eval", model, "--json", "--q=" + ",".join(map(repr, q)), "--v=" + ",".join(map(repr, v)))[0])
            n, room = len(v), (ctypes.c_double * (2000 * width + 8))()
            first = ctypes.addressof(room) + -ctypes.addressof(room) % 64
            places = [ctypes.c_void_p(first + 8 * width * k) for k in (0, 96, 192, 1896)]
            for place, values in zip(places, (q, v)):
                (ctypes.c_double * (width * len(values))).from_address(place.value)[:] = [x for x in values for _ in range(width)]
            getattr(library, identifier + "_dirdyna")(*places)
            flat = [x for row in at["M"] for x in row]
            near(list((ctypes.c_double * (width * n * n)).from_address(places[2].value))[width - 1::width], flat, tolerance, f"{model}: M at a large q[{large}]")
            near(list((ctypes.c_double * (width * n)).from_address(places[3].value))[width - 1::width], at["c"], tolerance, f"{model}: c at a large q[{large}]")
text, error = call("gen", "models/paper1/arm6.xml", "--what", "acel", "-o", out, status=2)
assert "did you mean 'accel'" in error, error
text, error = call("gen", "models/paper1/arm6.xml", "--snap=-1", "-o", out, status=2)
assert "--snap" in error, error
text, error = call("gen", "models/paper1/arm6.xml", "--lang", "fortran", "-o", out, status=2)
assert "fortran" in error, error

# Closed loops: residuals and Jacobian as those of eval, accelerations that satisfy J a + jdq = 0, reduced forward dynamics, and forces that the drivers have; in all languages. CHARMIE has overconstrained loops and motions from a table, which are part of the code.
def loops(model, identifier, what, *at):
    call("gen", model, "--what", what, "--lang", "c,js,python,octave", "-o", out)
    state = json.loads(call("eval", model, "--json", *at)[0])
    q, v, a, f, G = (state[k] for k in ("q", "v", "a", "f", "G"))
    n, ng = len(v), len(G)
    header = open(f"{out}/{identifier}.h").read()
    drivers = [i for i, row in enumerate(state["rows"]) if row.startswith("driver")]
    driven = [next(k for k in range(n) if G[i][k]) for i in drivers]
    names = {kind: dict(re.findall(rf"^// {kind}\[(\d+)\]  (.*),", header, re.M)) for kind in "qv"}
    position = {name: int(i) for i, name in names["q"].items()}
    motion = []
    for i, k in zip(drivers, driven): motion += [q[position[names["v"][str(k)]]] - state["g"][i], v[k] - state["gv"][i], a[k]]
    more = [motion] if "* motion" in header else []
    calls = {"cons_hJ": ([[state["t"]], q], [len(state["g"]), ng * n, ng]), "cons_jdq": ([[state["t"]], q, v], [ng]),
             "accelred": ([[state["t"]], q, v, f], [n]), "invdynared": ([[state["t"]], q, v, a, f], [n])}
    library, results = compiled(identifier), {}
    for name in what.split(","):
        inputs, sizes = calls[name]
        results[name] = [array([0] * k) for k in sizes]
        getattr(library, f"{identifier}_{name}")(*map(array, inputs + more), *results[name])
    h, J, b = map(list, results["cons_hJ"])
    near(h + [1], state["g"] + [1], 1e-12, f"{model}: h")
    near(J, [x for row in G for x in row], 1e-13, f"{model}: J")
    jdq = list(results["cons_jdq"][0])
    near([sum(J[i * n + k] * a[k] for k in range(n)) for i in range(ng)] + [1], [-x for x in jdq] + [1], 1e-8, f"{model}: J a + jdq")
    if "accelred" in results:
        near(list(results["accelred"][0]), a, 1e-9, f"{model}: accelred")
        forces = [0] * n
        for i, k in zip(drivers, driven): forces[k] = state["lambda"][i]
        near(list(results["invdynared"][0]) + [1], forces + [1], 1e-8, f"{model}: invdynared")
    numbers = lambda x: "[" + ",".join(map(repr, x)) + "]"
    expected = [x for name in what.split(",") for out_ in results[name] for x in out_]
    js, python, octave = [], [], []
    for name in what.split(","):
        inputs, sizes = calls[name]
        outs = [f"{name}{i}" for i in range(len(sizes))]
        scalar = [repr(inputs[0][0])]
        js.append(f"const {', '.join(f'{o} = Array({k}).fill(0)' for o, k in zip(outs, sizes))}; m.{name}({', '.join(scalar + [numbers(x) for x in inputs[1:] + more] + outs)}); all.push({', '.join('...' + o for o in outs)});")
        python.append(f"for x in np.atleast_1d(m.{name}({', '.join(scalar + [f'np.array({numbers(x)})' for x in inputs[1:] + more])})) if {len(sizes)} == 1 else m.{name}({', '.join(scalar + [f'np.array({numbers(x)})' for x in inputs[1:] + more])}): print(*np.ravel(x).tolist())")
        octave.append(f"[{', '.join(outs)}] = {identifier}_{name}({', '.join(scalar + [numbers(x) + chr(39) for x in inputs[1:] + more])});" + "".join(f"printf('%.17g ', {o}');" for o in outs))
    programs = {"node": f"import('{out}/{identifier}.mjs').then(m => {{ const all = []; {' '.join(js)} console.log(all.join(' ')); }})",
                "python": f"import sys; sys.path.insert(0, '{out}'); import numpy as np, {identifier} as m\n" + "\n".join(python),
                "octave": f"addpath('{out}'); " + " ".join(octave)}
    commands = {"node": ["node", "-e"], "python": [sys.executable, "-c"], "octave": ["octave-cli", "--no-init-file", "--eval"]}
    for name, program in programs.items():
        if not shutil.which(commands[name][0]):
            print(f"{name} is not installed: its code was written and not run")
            continue
        done = subprocess.run([*commands[name], program], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{name}: {done.stderr[:400]}"
        near([float(x) for x in done.stdout.split()], expected, 1e-9, f"{model} in {name}")
state = json.loads(call("eval", "models/mechanisms/four-bar.xml", "--json")[0])
loops("models/mechanisms/four-bar.xml", "four_bar", "cons_hJ,cons_jdq,accelred,invdynared", "--q=" + ",".join(repr(x + random.uniform(-0.2, 0.2)) for x in state["q"]), "--v=" + ",".join(repr(random.uniform(-2, 2)) for x in state["v"]))
loops("models/paper1/charmie.xml", "charmie", "cons_hJ,cons_jdq,accelred,invdynared", "--t", "3")
call("gen", "models/mechanisms/four-bar.xml", "--formulation", "absolute", "-o", out)
assert "crank.qw" in open(f"{out}/four_bar.h").read()
text, error = call("gen", "models/mechanisms/four-bar.xml", "--formulation", "penalty", "-o", out, status=2)
assert "penalty" in error, error
text, error = call("gen", "models/mechanisms/four-bar.xml", "--what", "daccel", "-o", out, status=2)
assert "constraint equations" in error, error
text, error = call("gen", "models/mechanisms/four-bar.xml", "--what", "accelred", "--independent", "wheel", "-o", out, status=2)
assert "--independent" in error, error
text, error = call("gen", "models/paper1/arm6.xml", "--what", "cons_hJ", "-o", out, status=2)
assert "the model has none" in error, error
print("ok gen")
END
