#!/usr/bin/env bash
# Partitions of the coordinates in files: `partition --out` writes what --json prints, `run --partition` takes it in every formulation and with every method, and refuses files of other models.
set -euo pipefail
cd "$(dirname "$0")/.."
sarrus=$(realpath "${SARRUS:-build/sarrus}")
python=$(command -v /usr/bin/python3 || command -v python3)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$python" - "$sarrus" "$out" << 'END'
import json, subprocess, sys
sarrus, out = sys.argv[1:]

def call(*arguments, status=0):
    done = subprocess.run([sarrus, *arguments, "--json"], capture_output=True, text=True)
    assert done.returncode == status, f"{arguments}: status {done.returncode}: {done.stderr[:400]}"
    return json.loads(done.stdout), done.stderr

model, file = "models/mechanisms/four-bar.xml", f"{out}/crank.json"
shown, _ = call("partition", model, "--independent", "crank", "--out", file)
assert json.load(open(file)) == shown and shown["independent"] == ["crank"]
assert subprocess.run([sarrus, "partition", model, "--out", "-"], capture_output=True, text=True).stdout.startswith("{")

# The motion is that without a partition, by every method that solves constraints.
options = ["--t-end", "0.1", "--rtol", "1e-8", "--atol", "1e-10"]
wanted, _ = call("run", model, "--t-end", "0.1", "--rtol", "1e-11", "--atol", "1e-13")
help_text = subprocess.run([sarrus, "run", "--help"], capture_output=True, text=True).stdout
for method, error in (("rk4", 1e-8), ("dopri5", 1e-7), ("mdop5", 1e-7), ("hem5", 1e-7), ("phem56", 1e-7), ("radau5", 1e-7), ("cvode", 1e-5), ("ida", 1e-5), ("auto", 1e-7)):
    if method not in help_text:
        continue
    moved, said = call("run", model, *(["--t-end", "0.1", "--step", "1e-4"] if method == "rk4" else options), "--method", method, "--partition", file)
    worst = max(abs(a - b) for a, b in zip(moved["q"], wanted["q"]))
    assert said == "" and moved["stabilization"] == "partition" and worst < error, f"{method}: {worst:g} {said}"

# Absolute coordinates have names of their own.
free = f"{out}/free.json"
shown, _ = call("partition", model, "--formulation", "absolute", "--out", free)
assert len(shown["independent"]) == 1 and len(shown["dependent"]) == 17
moved, said = call("run", model, *options, "--formulation", "absolute", "--partition", free)
assert max(abs(a - b) for a, b in zip(moved["q"], wanted["q"])) < 1e-6, said

# What is refused, with a sentence.
def write(name, text):
    open(f"{out}/{name}", "w").write(text)
    return f"{out}/{name}"
good = json.load(open(file))
other = dict(good, independent=["handle"], dependent=["coupler", "rocker", "crank"])
for status, arguments, words in (
        (2, ["models/mechanisms/six-bar-watt.xml", "--partition", file], "is the partition of 'four-bar', and the model is 'six-bar-watt'"),
        (2, [model, "--partition", free], "divides absolute coordinates, and this run has relative ones: take --formulation absolute"),
        (2, [model, "--partition", file, "--formulation", "absolute"], "divides relative coordinates, and this run has absolute ones"),
        (2, [model, "--partition", write("other.json", json.dumps(other))], "there is no coordinate 'handle' in 'four-bar'"),
        (2, [model, "--partition", write("less.json", json.dumps(dict(good, dependent=["coupler"])))], "it has no coordinate 'rocker'"),
        (2, [model, "--partition", write("twice.json", json.dumps(dict(good, dependent=["coupler", "rocker", "rocker"])))], "has the coordinate 'rocker' twice"),
        (2, [model, "--partition", write("state.json", '{"t": 0}')], 'it has no key "name"'),
        (2, [model, "--partition", write("cut.json", '{"name": "four-bar",\n "independent": ["crank"')], "cut.json:2:25: error: expected ']'"),
        (2, [model, "--partition", f"{out}/nothing.json"], "could not be opened"),
        (2, [model, "--partition", file, "--stabilization", "projection"], "--partition is for --stabilization partition, not for projection"),
        (2, [model, "--partition", file, "--contact", "timestepping", "--step", "1e-3"], "the method 'moreau' solves constraints and contacts together")):
    _, said = call("run", *arguments, "--t-end", "0.1", status=status)
    assert words in said, f"{arguments}: {said}"
_, said = call("partition", model, "--out", f"{out}/crank.csv", status=2)
assert ".csv is not the suffix of a JSON object" in said, said

# A tree has nothing to divide: a warning. The rocker turns back at 0.237 s: an event.
tree = f"{out}/tree.json"
call("partition", "models/double-pendulum.xml", "--out", tree)
_, said = call("run", "models/double-pendulum.xml", "--t-end", "0.1", "--partition", tree)
assert "--partition are for closed loops" in said, said
call("partition", model, "--independent", "rocker", "--out", file)
moved, _ = call("run", model, "--t-end", "0.3", "--partition", file)
events = [e for e in moved["events"] if e["kind"] == "partition"]
assert len(events) == 1 and 0.22 < events[0]["t"] < 0.238 and "'rocker' cannot be independent here" in events[0]["why"], events
END
