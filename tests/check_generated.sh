#!/usr/bin/env bash
# `run --generated`: the interpreted result to rounding, with every method; the cache of compiled code and what may be wrong with it; compilers that are not there or fail; names that would break out of a comment.
# SARRUS_TEST_LONG=1: every shipped model.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
python=$(command -v /usr/bin/python3 || command -v python3)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$python" - "$sarrus" "$out" << 'END'
import glob, json, os, stat, subprocess, sys
sarrus, out = sys.argv[1:]
cache = f"{out}/cache"
folder = f"{cache}/sarrus/generated"
# A compiler that counts its calls and passes them on. -O0: what is compiled here runs for a moment.
compiler = f"{out}/compiler"
open(compiler, "w").write(f"#!/bin/sh\necho call >> {out}/calls\nexec cc \"$@\" -O0\n")
os.chmod(compiler, 0o755)

def calls():
    try: return len(open(f"{out}/calls").read().split())
    except FileNotFoundError: return 0

def run(*arguments, status=0, cc=compiler, **environment):
    done = subprocess.run([sarrus, "run", *arguments, "--json"], capture_output=True, text=True,
                          env={**os.environ, "XDG_CACHE_HOME": cache, "CC": cc, **environment})
    assert done.returncode == status, f"{arguments}: status {done.returncode}: {done.stderr[:600]}"
    return json.loads(done.stdout), done.stderr

def same(model, *arguments, tolerance=1e-9):
    plain, _ = run(model, *arguments)
    code, said = run(model, *arguments, "--generated")
    assert code["generated"] is True and code["generated_why"] is None, (model, arguments, said)
    assert "generated" not in plain
    for key in "q", "v", "y":
        worst = max((abs(a - b) / (1 + abs(a)) for a, b in zip(plain[key], code[key])), default=0)
        assert len(plain[key]) == len(code[key]) and worst <= tolerance, f"{model} {arguments}: {key} differs by {worst:g}"

methods = "euler rk4 dopri5 mdop5 hem5 phem56 genalpha-index3 genalpha-index2 genalpha-ggl radau5 cvode ida".split()
iterative = methods[6:]  # their equations are solved to a part of the tolerances, by as many iterations as rounding makes of it
tree, loop = "models/double-pendulum.xml", "models/mechanisms/motor-slider-crank.xml"
help_text = subprocess.run([sarrus, "help", "run"], capture_output=True, text=True).stdout
for model in tree, loop:
    for method in methods:
        if method in ("cvode", "ida") and method not in help_text: continue
        same(model, "--t-end", "0.02", "--method", method, "--step", "0.001", "--rtol", "1e-9", "--atol", "1e-11", tolerance=1e-7 if method in iterative else 1e-9)
same("models/satellite.xml", "--t-end", "0.1")          # quaternions
same("models/quarter-car.xml", "--t-end", "0.1")        # force laws, a driver
same("models/contact/block-on-slope.xml", "--t-end", "0.02")
same("models/nonsmooth/double-pendulum-floor.xml", "--t-end", "0.05", "--contact", "event")
same("models/nonsmooth/double-pendulum-floor.xml", "--t-end", "0.05", "--contact", "timestepping", "--step", "0.001", "--impact", "newton")
same("models/nonsmooth/double-pendulum-floor.xml", "--t-end", "0.05", "--contact", "hybrid", "--step", "0.001", "--impact", "newton")

# Limbs in lanes where that is shorter: with the whole functions under other names, those of lanes are found. Couplings are eliminated.
def renaming(*names):
    path = f"{out}/renaming"
    open(path, "w").write("#!/bin/sh\nexec cc \"$@\" -O0 " + " ".join(f"-D{n}=other_{n}" for n in names) + "\n")
    os.chmod(path, 0o755)
    return path
whole = [f"quadruped_stand_{f}" for f in ("accel", "invdyna", "bias", "mass")]
report, said = run("models/robots/quadruped-stand.xml", "--t-end", "0.002", "--generated", cc=renaming(*whole))
assert report["generated"] is True, said
report, said = run("models/double-pendulum.xml", "--t-end", "0.002", "--generated", cc=renaming("double_pendulum_accel"))
assert report["generated"] is False and "missing" in report["generated_why"], said
open(f"{out}/scissors.xml", "w").write("""<sarrus version="1" name="scissors"><body name="arm"><joint name="arm" type="revolute" axis="0 1 0" q="0.5"/><inertial mass="2" com="0 0 -0.5" inertia="0.1 0.1 0.02"/></body>
<body name="tip" parent="arm"><joint name="tip" type="revolute" axis="0 1 0" at="0 0 -1"/><inertial mass="1" com="0.1 0 -0.4" inertia="0.05 0.05 0.01"/></body><coupling joint="tip" to="arm" ratio="-0.5"/></sarrus>""")
for method in "rk4", "dopri5", "hem5", "genalpha-index3": same(f"{out}/scissors.xml", "--t-end", "0.1", "--method", method, "--step", "0.001", tolerance=1e-7 if method in iterative else 1e-9)
report, said = run(f"{out}/scissors.xml", "--t-end", "0.002", "--generated", cc=renaming("scissors_accel"))
assert report["generated"] is False and "missing" in report["generated_why"], said
same("models/robots/gripper.urdf", "--t-end", "0.01")
same("models/humanoid.xml", "--t-end", "0.005")

# The cache: one compilation for a text; nothing else is left there; others have no access.
short = (tree, "--t-end", "0.01", "--generated")
before = calls()
run(*short)
assert calls() == before, "compiled again"
entries = sorted(os.listdir(folder))
assert entries and all(e.endswith(".so") and len(e) == 67 for e in entries), entries
assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
# What is cut off, foreign or changed is noticed, and compiled again.
for wrong in "cut", "empty", "foreign", "changed", "linked", "writable":
    for e in os.listdir(folder): os.remove(f"{folder}/{e}")
    run(*short)
    (entry,) = os.listdir(folder)
    path, before = f"{folder}/{entry}", calls()
    code = open(path, "rb").read()
    text = {"cut": code[: len(code) // 2], "empty": b"", "foreign": b"\x7fELF" + bytes(20000), "changed": code[:5000] + bytes([code[5000] ^ 1]) + code[5001:]}.get(wrong, code)
    os.remove(path)
    if wrong == "linked":
        open(f"{out}/elsewhere", "wb").write(code)
        os.symlink(f"{out}/elsewhere", path)
    else: open(path, "wb").write(text)
    os.chmod(path, 0o722 if wrong == "writable" else 0o700)
    report, _ = run(*short)
    assert report["generated"] is True and calls() == before + 1, wrong
    assert open(path, "rb").read() == code and not os.path.islink(path), wrong
# A file of another key under this name.
run("models/pendulum.xml", "--t-end", "0.01", "--generated")
first, second = os.listdir(folder)
keep = open(f"{folder}/{first}", "rb").read()
os.replace(f"{folder}/{second}", f"{folder}/{first}")
before = calls()
same(tree, "--t-end", "0.01"), same("models/pendulum.xml", "--t-end", "0.01")
assert calls() == before + 2, "code of another model was taken"
# Folders that others may write to, or that are none, are not used: the code runs all the same, and leaves nothing.
for broken in "open", "file", "none":
    place = f"{out}/{broken}"
    if broken == "open":
        os.makedirs(f"{place}/sarrus/generated")
        os.chmod(f"{place}/sarrus", 0o777)
    elif broken == "file": open(place, "w").close()
    temporary = f"{out}/temporary-{broken}"
    os.mkdir(temporary)
    environment = {"XDG_CACHE_HOME": place} if broken != "none" else {"XDG_CACHE_HOME": "", "HOME": ""}
    report, _ = run(*short, TMPDIR=temporary, **environment)
    assert report["generated"] is True and os.listdir(temporary) == [], broken
assert os.listdir(f"{out}/open/sarrus/generated") == []
# Two at the same time.
for e in os.listdir(folder): os.remove(f"{folder}/{e}")
command = [sarrus, "run", *short, "--json"]
pair = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "XDG_CACHE_HOME": cache, "CC": compiler}) for _ in range(3)]
assert all(json.loads(p.communicate()[0])["generated"] for p in pair) and len(os.listdir(folder)) == 1

# No compiler, one that fails, one that writes nothing: a warning, and the interpreted result.
failing, silent = f"{out}/failing", f"{out}/silent"
open(failing, "w").write("#!/bin/sh\necho 'out of luck' >&2\nexit 1\n")
open(silent, "w").write("#!/bin/sh\nexit 0\n")
for path in failing, silent: os.chmod(path, 0o755)
plain, _ = run(tree, "--t-end", "0.01")
for cc, why in ("no-such-compiler", "there is no C compiler 'no-such-compiler'"), (failing, "out of luck"), (silent, "the compiler failed"):
    report, said = run(*short, cc=cc)
    assert report["generated"] is False and why in report["generated_why"] and why in said, (cc, report["generated_why"], said)
    assert report["q"] == plain["q"] and any(why in w for w in report["warnings"])
assert len(os.listdir(folder)) == 1, os.listdir(folder)
report, said = run(*short, "--formulation", "absolute")
assert report["generated"] is False and "relative coordinates" in report["generated_why"], said

# Names cannot leave their comments.
for name, text in {"back": "b\\", "question": "c??"}.items():  # others are refused by the reader; tests/test_generated.c
    path = f"{out}/{name}.xml"
    open(path, "w").write(f'<sarrus version="1" name="{text}"><body name="{text} b"><joint name="{text}" type="revolute" axis="0 1 0" q="0.3"/><inertial mass="1" com="0 0 -1" inertia="1 1 1"/></body></sarrus>')
    same(path, "--t-end", "0.01")

# Batches: copies against single runs of the interpreted program; the same bytes for any number of threads and any seed's own numbers.
import csv
def batch(*arguments, status=0):
    done = subprocess.run([sarrus, "batch", *arguments, "--json"], capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": cache, "CC": compiler})
    assert done.returncode == status, f"{arguments}: status {done.returncode}: {done.stderr[:600]}"
    return json.loads(done.stdout), done.stderr
for model, random in ("models/double-pendulum.xml", ["q.q1=uniform:-2:2", "v.q2=normal:0:1", "tau.q1=uniform:-1:1"]), ("models/free-body.xml", ["v.body.wx=normal:0:3", "v.body.vy=uniform:-1:1", "q.body.qx=uniform:-1:1"]), ("models/satellite.xml", ["v.wheel=normal:0:3", "q.left=uniform:-0.1:0.1"]):
    wishes = [x for r in random for x in ("--random", r)]
    table = {}
    for threads in 1, 2, 3:
        report, _ = batch(model, "--count", "19", *wishes, "--t-end", "0.2", "--step", "0.001", "--threads", str(threads), "--out", f"{out}/ends-{threads}.csv")
        assert report["count"] == 19 and report["steps"] == 200 and report["failed"] == 0 and report["steps_per_second"] > 0
        table[threads] = open(f"{out}/ends-{threads}.csv").read()
    assert table[1] == table[2] == table[3], "other bits with other threads"
    batch(model, "--count", "3", *wishes, "--t-end", "0.001", "--step", "0.001", "--seed", "2", "--out", f"{out}/other.csv")
    rows = list(csv.DictReader(line for line in table[1].splitlines() if not line.startswith("#")))
    assert len(rows) == 19 and len({r[next(c for c in r if c.startswith("v."))] for r in rows}) == 19, "copies are alike"
    # The starts: a batch of one step of 1e-300 s is where it begins.
    batch(model, "--count", "19", *wishes, "--t-end", "1e-300", "--step", "1e-300", "--out", f"{out}/starts.csv")
    starts = list(csv.DictReader(line for line in open(f"{out}/starts.csv") if not line.startswith("#")))
    for copy in 0, 7, 8, 18:
        pick = lambda row, head: [float(row[c]) for c in row if c.split(" ")[0].startswith(head)]
        if "tau" in " ".join(random): continue  # forces are no columns: below
        plain, _ = run(model, "--t-end", "0.2", "--method", "rk4", "--step", "0.001", "--q=" + ",".join(map(repr, pick(starts[copy], "q."))), "--v=" + ",".join(map(repr, pick(starts[copy], "v."))))
        for key in "q", "v":
            got = pick(rows[copy], key + ".")
            worst = max(abs(a - b) for a, b in zip(plain[key], got)) / max(map(abs, plain[key]))
            assert len(got) == len(plain[key]) and worst <= 1e-12, f"{model}, copy {copy}: {key} differs by {worst:g}"
# Without random forces the first model, too; with a held force the same number for all.
batch("models/double-pendulum.xml", "--count", "2", "--random", "tau.q1=uniform:0.75:0.75000000000000011", "--t-end", "0.2", "--step", "0.001", "--out", f"{out}/held.csv")
held = list(csv.DictReader(line for line in open(f"{out}/held.csv") if not line.startswith("#")))
plain, _ = run("models/double-pendulum.xml", "--t-end", "0.2", "--method", "rk4", "--step", "0.001", "--tau", "0.75,0")
assert all(abs(a - float(held[1][c])) < 1e-12 for a, c in zip(plain["q"], [c for c in held[1] if c.startswith("q.")])), (plain["q"], held[1])
for model, why in ("models/mechanisms/four-bar.xml", "constraint equations"), ("models/contact/bouncing-ball.xml", "contact"):
    _, said = batch(model, "--count", "2", "--t-end", "0.01", "--step", "0.001", status=2)
    assert why in said, said
_, said = batch("models/double-pendulum.xml", "--count", "2", "--random", "q.nobody=uniform:0:1", "--t-end", "0.01", "--step", "0.001", status=2)
assert "q.nobody" in said, said

if os.environ.get("SARRUS_TEST_LONG") == "1":
    # Tight tolerances: at those of the model rounding may choose other steps, and with these results differ by a part of the tolerances.
    tight = "--t-end", "0.01", "--rtol", "1e-10", "--atol", "1e-12"
    for model in sorted(glob.glob("models/**/*.xml", recursive=True) + glob.glob("models/**/*.urdf", recursive=True)):
        if "network" in model or "-body.xml" in model: continue
        done = subprocess.run([sarrus, "check", model, "--json"], capture_output=True, text=True)
        if done.returncode != 0 or not json.loads(done.stdout)["nv"] or json.loads(done.stdout)["nv"] > 60: continue
        before = subprocess.run([sarrus, "run", model, *tight, "--json"], capture_output=True, text=True, timeout=300)
        if before.returncode == 0: same(model, *tight, tolerance=1e-7)
print("ok generated")
END
