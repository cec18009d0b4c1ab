#!/usr/bin/env bash
# The robots of models/robots, in URDF and MJCF, and the odd files of tests/robots, compared with MuJoCo's numbers that are
# kept there (made by tools/mujoco-reference): mass matrix, bias, forces and accelerations to 1e-8, names and order of
# the joints; every file checks and runs; loops stay closed.
cd "$(dirname "$0")/.." || exit 1
export SARRUS=${SARRUS:-$PWD/build/test/sarrus}
exec python3 - << 'PYTHON'
import glob, json, math, os, subprocess, sys, tempfile

TOLERANCE = 1e-8
CONTACTS = {"quadruped": 4, "hexapod": 6, "humanoid": 8}  # MJCF: ball feet on the floor
# URDF says the same laws as MJCF here (damping, armature of transmissions, mimic, loops); elsewhere MJCF has more.
SAME_LAWS = ["arm-planar", "arm-scara", "arm-six", "arm-on-gantry", "four-bar", "gripper", "rover"]
failures = 0


def fail(name, why):
    global failures
    failures += 1
    print(f"FAILED {name}: {why}")


def sarrus(*words):
    done = subprocess.run([os.environ["SARRUS"], *words, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"sarrus {' '.join(words)}: status {done.returncode}: {done.stderr[:400].strip()}")
    return json.loads(done.stdout)


def flat(x):
    if isinstance(x, list):
        return [y for part in x for y in flat(part)]
    return [math.nan if x is None else x]


# Largest difference, relative to the largest entry; entries of M relative to the two inertias they stand between.
def difference(key, got, expected):
    if key == "M":
        size = [math.sqrt(row[i]) for i, row in enumerate(expected)]
        got = [[x / size[i] / size[k] for k, x in enumerate(row)] for i, row in enumerate(got)]
        expected = [[x / size[i] / size[k] for k, x in enumerate(row)] for i, row in enumerate(expected)]
    got, expected = flat(got), flat(expected)
    if len(got) != len(expected):
        raise ValueError(f"{key} has {len(got)} numbers, expected {len(expected)}")
    scale = max(abs(x) for x in expected) or 1
    worst = max(abs(x - y) if math.isfinite(x) else math.inf for x, y in zip(got, expected))
    return worst / scale


def moving(joints):
    return [(j["name"], j["q"], j["v"]) for j in joints if j["v"][1] > 0]


def same(got, expected):  # a joint without a name in the file may have any
    return len(got) == len(expected) and all(
        (a[0] == b[0] or not b[0]) and a[1:] == b[1:] for a, b in zip(got, expected))


class Robot:
    def __init__(self, path):
        with open(path) as file:
            self.reference = json.load(file)
        self.name, self.format = self.reference["robot"], self.reference["format"]
        self.file = self.reference["file"]
        self.base = ["--base", "floating"] if self.reference["base"] == "floating" else []
        self.label = f"robots: {self.name}.{self.format}"
        self.worst = {}

    def states(self, kind):
        return self.reference.get(kind, [])

    def compare(self, work, states, keys, *options):
        for i, expected in enumerate(states):
            state = os.path.join(work, "state.json")
            with open(state, "w") as file:
                json.dump({key: expected[key] for key in ("q", "v", "tau")}, file)
            settings = [word for name, x in expected.get("set", {}).items() for word in ("--set", f"{name}={x!r}")]
            got = sarrus("eval", self.file, "--state", state, *self.base, *options, *settings)
            if not same(moving(got["joints"]), moving(self.reference["joints"])):
                raise ValueError(f"joints {[j[0] for j in moving(got['joints'])]}, "
                                 f"expected {[j['name'] for j in self.reference['joints']]}")
            for key in keys:
                d = difference(key, got[key], expected[key])
                self.worst[key] = max(self.worst.get(key, 0), d)
                if not d <= TOLERANCE:
                    raise ValueError(f"{key} of state {i}{' of the tree' if options else ''} is {d:.1e} away")

    def simulate(self):
        told = sarrus("check", self.file, *self.base)
        if told["nv"] != sum(j["v"][1] for j in self.reference["joints"]):
            raise ValueError(f"check reports {told['nv']} velocities")
        contacts = CONTACTS.get(self.name, 0) if self.format == "mjcf" else 0
        if told["contacts"] != contacts:
            raise ValueError(f"check reports {told['contacts']} contacts, expected {contacts}")
        end = sarrus("run", self.file, "--t-end", "0.05", *self.base)
        if abs(end["t"] - 0.05) > 1e-12 or not all(math.isfinite(x) for x in flat(end["q"]) + flat(end["v"])):
            raise ValueError(f"the run ends at {end['t']} with q = {end['q']}")
        if not abs(end["energy"]["residual"]) <= 1e-3 * end["energy"]["scale"]:
            raise ValueError(f"the energy balance misses {end['energy']['residual']} of {end['energy']['scale']} J")

    # Where the robot is after a while; MuJoCo's own step leaves some 1e-10.
    def follow(self, motion):
        end = sarrus("run", self.file, "--t-end", repr(motion["t"]), "--rtol", "1e-11", "--atol", "1e-13")
        for key in ("q", "v"):
            d = difference(key, end[key], motion[key])
            self.worst["motion"] = max(self.worst.get("motion", 0), d)
            if not d <= TOLERANCE:
                raise ValueError(f"{key} after {motion['t']} s is {d:.1e} away")

    def test(self, work, others):
        self.compare(work, self.states("bare"), ("M", "c", "a"), "--bare")
        self.compare(work, self.states("full"), ("M", "c", "f", "a"))
        if self.format == "urdf" and self.name in SAME_LAWS:
            self.compare(work, others[self.name, "mjcf"].states("full"), ("M", "c", "f", "a"))
        if "motion" in self.reference:
            self.follow(self.reference["motion"])
        self.simulate()


# The four-bar: both cuts of the loop give the same motion, closed all the way; the crank must really move.
def loops():
    accurate = ["--t-end", "0.5", "--rtol", "1e-10", "--atol", "1e-12"]
    ends = [sarrus("run", f"models/robots/four-bar.{kind}", *accurate) for kind in ("urdf", "xml")]
    for end, kind in zip(ends, ("urdf", "mjcf")):
        if not end["violation"]["position"] <= 1e-10:
            raise ValueError(f"the loop of the four-bar ({kind}) opens by {end['violation']['position']:.1e}")
    apart = max(abs(x - y) for x, y in zip(ends[0]["q"], ends[1]["q"]))
    if not (apart <= 1e-7 and abs(ends[0]["q"][0]) > 0.1):
        raise ValueError(f"the four-bars end at {ends[0]['q']} and {ends[1]['q']}")
    return max(end["violation"]["position"] for end in ends)


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


# MuJoCo's numbers of a free body, as tools/mujoco-reference turns them into our coordinates, are those of Newton:
# force of the chandelier's ring = m (w x u + w x (w x r) - g), in body axes.
def newton(reference):
    ring = next(j for j in reference["joints"] if j["name"] == "ring")
    mass, r = 0.2, [0.01, 0, 0.02]
    for state in reference["bare"]:
        _, _, _, w, x, y, z = state["q"][ring["q"][0]:][:7]
        up = [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
        n = ring["v"][0]
        turn, speed = state["v"][n:n + 3], state["v"][n + 3:n + 6]
        terms = zip(cross(turn, speed), cross(turn, cross(turn, r)), up)
        expected = [mass * (a + b + 9.81 * c) for a, b, c in terms]
        if not difference("c", state["c"][n + 3:n + 6], expected) <= 1e-13:
            raise ValueError(f"bias {state['c'][n + 3:n + 6]} of the ring, by Newton {expected}")


robots = [Robot(path) for path in sorted(glob.glob("tests/robots/*.json"))]
others = {(robot.name, robot.format): robot for robot in robots}
both = [robot.name for robot in robots if robot.format == "urdf" and (robot.name, "mjcf") in others]
if len(both) < 10:
    fail("robots", f"only {len(both)} robots have numbers in both formats")
wanted = {os.path.basename(f) for f in glob.glob("models/robots/*.urdf")} - {"leg-closed.urdf"}
for missing in sorted(wanted - {f"{name}.urdf" for name in both}):
    fail("robots", f"models/robots/{missing} has no numbers in tests/robots")
with tempfile.TemporaryDirectory() as work:
    for robot in robots:
        try:
            robot.test(work, others)
        except (ValueError, KeyError) as why:
            fail(robot.label, why)
    try:
        newton(others["chandelier", "mjcf"].reference)
        opened = loops()
    except (ValueError, KeyError) as why:
        fail("robots: loops", why)
if failures == 0:
    worst = {key: max(robot.worst.get(key, 0) for robot in robots) for key in ("M", "c", "f", "a", "motion")}
    states = sum(len(robot.states("bare")) + len(robot.states("full")) for robot in robots)
    print(f"ok robots: {len(robots)} files, {len(both)} robots in both formats, {states} states of MuJoCo's; "
          "largest difference " + ", ".join(f"{key} {value:.0e}" for key, value in worst.items())
          + f"; loops open by {opened:.0e}")
sys.exit(1 if failures else 0)
PYTHON
