#!/usr/bin/env bash
# Relative and absolute coordinates give the same answers on every model of models/mechanisms and models/benchmark: degrees of freedom, rank deficiency, those of the partition, eigenvalues at the
# equilibrium where there is one, forces of inverse dynamics. An answer of one that the other refuses is reported too.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
python=$(command -v /usr/bin/python3 || command -v python3)
"$python" - "$sarrus" "$@" << 'END'
import concurrent.futures, glob, json, os, subprocess, sys
sarrus, only = sys.argv[1], sys.argv[2:]
BOTH = ("relative", "absolute")
models = sorted(m for folder in ("mechanisms", "benchmark") for m in glob.glob(f"models/{folder}/*.xml") if not only or any(word in m for word in only))

# The answer, or the first line of what was said.
def call(verb, model, formulation, *options):
    try:
        done = subprocess.run([sarrus, verb, model, "--formulation", formulation, *options, "--json"], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None, "takes more than 120 s"
    said = [line for line in done.stderr.splitlines() if "error" in line]
    return (json.loads(done.stdout), "") if done.returncode == 0 else (None, said[0] if said else f"status {done.returncode}")

def differ(a, b, tolerance):
    scale = max([1e-30, *map(abs, a)])
    return len(a) != len(b) or max([abs(x - y) for x, y in zip(a, b)], default=0) > tolerance * scale

# Greedy pairs: eigenvalues of one modulus may come in another order.
def spectra_differ(one, other, tolerance):
    rest, scale = list(other), max([1e-30, *(abs(z) for z in one)])
    for z in one:
        if not rest:
            return True
        k = min(range(len(rest)), key=lambda i: abs(rest[i] - z))
        if abs(rest[k] - z) > tolerance * scale:
            return True
        rest.pop(k)
    return bool(rest)

def compare(model):
    wrong, answers = [], 0
    def both(verb, *options):
        found = [call(verb, model, f, *options) for f in BOTH]
        for (answer, _), (other, said), f in zip(found, found[::-1], BOTH[::-1]):
            if answer and not other:
                wrong.append(f"{verb} is refused in {f} coordinates alone: {said}")
        return [x[0] for x in found] if all(x[0] for x in found) else None
    pair = both("check")
    if pair and (pair[0]["dof"] != pair[1]["dof"] or len(pair[0]["redundant"]) != len(pair[1]["redundant"])):
        wrong.append("check: dof {} and {}, {} and {} redundant".format(*(x["dof"] for x in pair), *(len(x["redundant"]) for x in pair)))
    answers += bool(pair)
    pair = both("partition")
    answers += bool(pair)
    for key in ("dof_position", "dof_velocity") if pair else ():
        if pair[0][key] != pair[1][key]:
            wrong.append(f"partition: {key} {pair[0][key]} and {pair[1][key]}")
    pair = both("modes", "--at", "equilibrium")
    answers += bool(pair)
    if pair:
        one, other = ([complex(m["re"], m["im"]) for m in x["modes"]] for x in pair)
        if len(one) != len(other) or pair[0]["zeros"] != pair[1]["zeros"] or pair[0]["stability"] != pair[1]["stability"] or spectra_differ(one, other, 1e-6):
            wrong.append(f"modes: {pair[0]['stability']} {pair[0]['zeros']} {one[:6]} and {pair[1]['stability']} {pair[1]['zeros']} {other[:6]}")
    pair = both("inverse", "--times", "0,0.05,0.1")
    answers += bool(pair)
    for one, other in zip(pair[0]["tau"], pair[1]["tau"]) if pair else ():
        if differ(one, other, 1e-8):
            wrong.append(f"inverse: {one} and {other}")
            break
    return model, wrong, answers

failed = total = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for model, wrong, answers in pool.map(compare, models):
        total += answers
        for line in wrong:
            failed += 1
            print(f"FAILED {model}: {line}")
if not only and total < 80:
    failed += 1
    print(f"FAILED {total} answers are too few: the verbs refuse models that they had answers for")
print(f"{'FAILED' if failed else 'ok'} {len(models)} models, {total} answers in both coordinates")
sys.exit(failed > 0)
END
