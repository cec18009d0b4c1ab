#!/usr/bin/env bash
# Every function that can be generated, in every language, by its own interpreter: JavaScript by node, Python with numpy, Octave. Against the C code of the same function at a random state, which the unit tests
# compare with the kernels. A few models; SARRUS_TEST_LONG=1: all that are shipped.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
python=$(command -v /usr/bin/python3 || command -v python3)
"$python" -c 'import numpy' 2> /dev/null || { echo "skipped gen_languages: no numpy"; exit 77; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$python" - "$sarrus" "$out" "${SARRUS_TEST_LONG:-0}" << 'END'
import ctypes, glob, json, math, os, random, re, shutil, subprocess, sys
sarrus, out, long = sys.argv[1:]
WHAT = "accel invdyna dirdyna mass qdot bias entries sensor link extforce contact force rates cons_hJ cons_jdq accelred invdynared regressor dinvdyna daccel".split()
FEW = "double-pendulum satellite top mechanisms/four-bar mechanisms/slider-crank-bushing mechanisms/five-rod-suspension contact/block-on-slope robots/arm-scara paper2/slider-crank rotating-pendulum"
models = [m for m in (f"models/{name}.xml" for name in FEW.split()) if os.path.exists(m)]
if long == "1": models = sorted(glob.glob("models/*.xml") + glob.glob("models/*/*.xml") + glob.glob("models/*/*.urdf"))
LARGE, MANY = 60, 12  # coordinates: more take minutes to write and read, and derivatives and regressors, which grow with their square, beyond 12

# Files of all functions that the model has: a function that it does not have is named by the message, or found alone.
def generate(model, folder, n):
    def attempt(names): return subprocess.run([sarrus, "gen", model, "--what", ",".join(names), "--lang", "c,js,python,octave", "-o", folder, "--json"], capture_output=True, text=True)
    kept = [w for w in WHAT if n <= MANY or w not in ("regressor", "dinvdyna", "daccel")]
    while kept:
        done = attempt(kept)
        if done.returncode == 0: return json.loads(done.stdout)
        named = [w for w in kept if re.search(rf"(?<![\w/.]){w}(?![\w/.])", done.stderr.split("\n")[0])]
        kept = [w for w in kept if w not in named[:1]] if named else [w for w in kept if attempt([w]).returncode == 0]
    return None

# Functions of a header: name, inputs and outputs with their sizes.
def functions(header, identifier):
    sizes = {}
    for line in header.splitlines():
        if m := re.match(r"//   (\w+)\[([\d*]+)\]", line): sizes[m[1]] = math.prod(map(int, m[2].split("*")))
        elif m := re.match(rf"void {identifier}_(\w+)\((.*)\);", line):
            arguments = [(a.split("*")[1].strip(), "const" in a) for a in m[2].split(",")]
            yield m[1], [(a, sizes[a]) for a, const in arguments if const], [(a, sizes[a]) for a, const in arguments if not const]
            sizes = {}

def inputs_of(state, inputs):
    given = {"t": [0.1], "stage": [-1.0], "q": [x + random.uniform(-0.3, 0.3) for x in state["q"]]}
    return [given[name] if name in given else [random.uniform(-1, 1) * (1e-4 if name == "y" else 1) for _ in range(size)] for name, size in inputs]  # bristles are short

# Runs the C code; entries that are not written stay 0, as they do in the other languages.
def run_c(library, identifier, name, values, outputs):
    results = [(ctypes.c_double * max(1, size))() for _, size in outputs]
    getattr(library, f"{identifier}_{name}")(*((ctypes.c_double * max(1, len(x)))(*x) for x in values), *results)
    return [x for (_, size), r in zip(outputs, results) for x in list(r)[:size]]

cases, ncompared = [], 0
for model in models:
    folder = f"{out}/{len(cases)}"
    shown = subprocess.run([sarrus, "eval", model, "--json"], capture_output=True, text=True)
    if shown.returncode != 0: continue
    state = json.loads(shown.stdout)
    if not 0 < len(state["v"]) <= LARGE: continue
    report = generate(model, folder, len(state["v"]))
    if report is None: continue
    identifier = next(os.path.basename(f)[:-2] for f in report["files"] if f.endswith(".h"))
    library = f"{folder}/code.so"
    subprocess.run(["cc", "-std=gnu99", "-O0", "-ffp-contract=off", "-w", "-shared", "-fPIC", f"{folder}/{identifier}.c", "-o", library, "-lm"], check=True)
    library = ctypes.CDLL(library)
    random.seed(model)
    for name, inputs, outputs in functions(open(f"{folder}/{identifier}.h").read(), identifier):
        values = inputs_of(state, inputs)
        assert [len(x) for x in values] == [size for _, size in inputs], (model, name, inputs)
        expected = run_c(library, identifier, name, values, outputs)
        # What a few roundings of the inputs change, no two languages need agree on: their sines differ in the last bit.
        moved = [0.0] * len(expected)
        for sign in (1, -1): moved = [max(m, abs(x - y)) for m, x, y in zip(moved, expected, run_c(library, identifier, name, [[x * (1 + sign * (1 if i % 2 else -1) * 1e-15) for i, x in enumerate(v)] for v in values], outputs))]
        cases.append({"folder": folder, "id": identifier, "name": name, "model": model, "scalar": [s == 1 and n in ("t", "stage") for n, s in inputs], "values": values, "sizes": [s for _, s in outputs], "expected": expected, "moved": max(moved, default=0)})

with open(f"{out}/cases.json", "w") as file: json.dump([{k: c[k] for k in ("folder", "id", "name", "scalar", "values", "sizes")} for c in cases], file)
with open(f"{out}/run.mjs", "w") as file: file.write("""
import { readFileSync } from 'node:fs';
for (const c of JSON.parse(readFileSync(process.argv[2]))) {
  const m = await import(`${c.folder}/${c.id}.mjs`), out = c.sizes.map((n) => Array(n).fill(0));
  m[c.name](...c.values.map((x, i) => (c.scalar[i] ? x[0] : x)), ...out);
  console.log(out.flat().join(' '));
}""")
with open(f"{out}/run.py", "w") as file: file.write("""
import importlib.util, json, sys
import numpy as np
for c in json.load(open(sys.argv[1])):
    spec = importlib.util.spec_from_file_location("m", f"{c['folder']}/{c['id']}.py")
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    out = getattr(m, c["name"])(*(x[0] if s else np.array(x) for x, s in zip(c["values"], c["scalar"])))
    print(*(repr(float(x)) for part in (out if len(c["sizes"]) > 1 else [out]) for x in np.ravel(part)))
""")
with open(f"{out}/run.m", "w") as file:
    for c in cases:
        outs = ", ".join(f"o{i}" for i in range(len(c["sizes"])))
        given = ", ".join(repr(x[0]) if s else "[" + ";".join(map(repr, x)) + "]" if x else "zeros(0, 1)" for x, s in zip(c["values"], c["scalar"]))
        shown = " ".join(f"w = o{i}.'; printf('%.17g ', w(:));" for i in range(len(c["sizes"])))
        file.write(f"addpath('{c['folder']}'); [{outs}] = {c['id']}_{c['name']}({given}); {shown} printf('\\n'); rmpath('{c['folder']}');\n")

bad = 0
for language, command in ("node", ["node", f"{out}/run.mjs", f"{out}/cases.json"]), ("numpy", [sys.executable, f"{out}/run.py", f"{out}/cases.json"]), ("octave", ["octave-cli", "--no-init-file", "--no-gui", f"{out}/run.m"]):
    if not shutil.which(command[0]):
        print(f"{language} is not installed: its code was written and not run")
        continue
    done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.split("\n")
    if done.returncode != 0:
        at = cases[min(len(lines) - 1, len(cases) - 1)]
        print(f"FAILED gen_languages: {language}: {at['model']}: {at['name']}: {done.stderr[-400:]}")
        bad += 1
        continue
    for c, line in zip(cases, lines):
        got, expected = [float(x) for x in line.split()], c["expected"]
        size = max((abs(x) for x in expected if math.isfinite(x)), default=0)
        off = max((abs(x - y) for x, y in zip(got, expected) if math.isfinite(y)), default=0)
        same = len(got) == len(expected) and all(math.isfinite(x) == math.isfinite(y) for x, y in zip(got, expected))
        if not same or not off <= 1e-12 * size + 10 * c["moved"]:
            bad += 1
            print(f"FAILED gen_languages: {c['model']}: {c['name']} in {language}: {len(got)} numbers of {len(expected)}, off by {off:g} of {size:g}, roundings of the inputs change {c['moved']:g}")
        ncompared += 1
names = {c["name"] for c in cases}
missing = [w for w in WHAT if w not in names]
if missing: print(f"FAILED gen_languages: no model has {', '.join(missing)}")
if bad or missing: sys.exit(1)
print(f"ok gen_languages: {len(cases)} functions of {len({c['model'] for c in cases})} models, {ncompared} comparisons")
END
