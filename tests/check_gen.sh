#!/usr/bin/env bash
# Generated code, compiled or interpreted by its own language, against `eval`: mass matrix, bias, forward and inverse dynamics at random states; as double, float and lanes; same input, same bytes; what is refused.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
python=$(command -v /usr/bin/python3 || command -v python3)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$python" - "$sarrus" "$out" << 'END'
import ctypes, json, math, os, random, shutil, subprocess, sys
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
    assert len(a) == len(b) and worst <= tolerance, f"{what}: differ by {worst:g}"

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

# Large angles go to libm.
q = [1e7 + 0.3, -3e8, 1e6, 2, 1e12, 5]
near_q = [math.remainder(x, 2 * math.pi) for x in q]
library = ctypes.CDLL(f"{out}/lib-arm6.so")
M = [array([0] * 36) for _ in range(2)]
for k, positions in enumerate((q, near_q)): library.arm6_mass(array(positions), M[k])
near(list(M[0]), list(M[1]), 1e-3, "large angles")
text, error = call("gen", "models/paper1/arm6.xml", "--what", "acel", "-o", out, status=2)
assert "did you mean 'accel'" in error, error
text, error = call("gen", "models/paper1/arm6.xml", "--snap=-1", "-o", out, status=2)
assert "--snap" in error, error
text, error = call("gen", "models/paper1/arm6.xml", "--lang", "fortran", "-o", out, status=2)
assert "fortran" in error, error
text, error = call("gen", "models/mechanisms/four-bar.xml", "--what", "accel", "-o", out, status=2)
assert "constraint equations" in error, error
print("ok gen")
END
