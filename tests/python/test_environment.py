"""The environment: Gymnasium's signatures and tuples, named controls, observations, randomised parameters, gymnasium itself where it is."""
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from common import MODELS, main, refuses

import sarrus

CART = """<sarrus version="1" name="cart">
  <option gravity="0 0 -10"/>
  <parameter name="m" value="2"/>
  <parameter name="push" value="0"/>
  <parameter name="k" value="4" live="yes"/>
  <body name="cart"><joint name="x" type="prismatic" axis="1 0 0" q="0.5"/><inertial mass="m"/><point name="tip" at="0 0 1"/></body>
  <body name="block"><joint name="y" type="prismatic" axis="0 1 0"/><inertial mass="1"/></body>
  <torque joint="x" law="push - k*(q(x) - 0.5)"/>
  <sensor name="tip" point="cart/tip"/>
  <sensor name="twice" expr="2*q(x)" unit="m"/>
  <event name="far" when="q(y) - 3" direction="rising" stop="yes"/>
</sarrus>"""


def test_reset_and_step_return_the_tuples_of_gymnasium():
    env = sarrus.Environment(sarrus.loads(CART), controls=["push"], h=0.01, n=5, t_end=0.2)
    assert env.observed == ("tip.x", "tip.y", "tip.z", "tip.vx", "tip.vy", "tip.vz", "tip.wx", "tip.wy", "tip.wz", "twice")
    observation, info = env.reset(seed=3)
    assert observation.shape == env.observation_space.shape == (10,) and observation in env.observation_space
    assert observation[0] == 0.5 and observation[2] == 1 and observation[9] == 1 and info == {"t": 0, "parameters": {}}
    for k in range(1, 5):
        observation, reward, terminated, truncated, info = env.step(np.array([4.0]))
        assert abs(info["t"] - 0.05 * k) < 1e-15 and reward == 0 and terminated is False and truncated is (k == 4)
    # m x'' = push - k (x - 1/2): around 3/2 with w = sqrt(2); rk4 at 10 ms is off by (w h)^4 w t / 120 = 1e-10.
    w = np.sqrt(2)
    assert abs(observation[0] - (1.5 - np.cos(w * 0.2))) < 1e-9 and abs(observation[3] - w * np.sin(w * 0.2)) < 1e-9


def test_actions_by_name_and_by_order_are_the_same():
    a, b = (sarrus.Environment(sarrus.loads(CART), controls={"y": (-1, 1), "push": (-5, 5)}, observe=["q.*", "v.*"]) for _ in range(2))
    assert a.controls == ("y", "push") and (a.action_space.low == [-1, -5]).all() and [1, 2] in a.action_space and [2, 0] not in a.action_space
    a.reset(), b.reset()
    for _ in range(10):
        one, other = a.step([0.5, 3.0])[0], b.step({"push": 3.0, "y": 0.5})[0]
    assert (one == other).all() and one[1] > 0
    b.step({"push": 0})  # the others keep theirs
    assert b.data.tau[1] == 0.5 and (b.action == [0.5, 0]).all()
    refuses(KeyError, "did you mean 'push'", b.step, {"pusch": 1})
    refuses(ValueError, "the action has 1 number, expected 2: y, push", b.step, [1.0])
    refuses(ValueError, "not finite", b.step, [np.nan, 0])


def test_recorded_quantities_are_observed():
    # A point mass on a massless rod: the bearing pulls along the rod with m (g cos(theta) + l theta'^2).
    swing = sarrus.loads("""<sarrus version="1" name="swing">
      <option gravity="0 0 -10"/>
      <body name="bob"><joint name="theta" type="revolute" axis="0 1 0" q="0.7" v="2" damping="0"/><inertial mass="1.5" com="0 0 -0.8"/></body>
      <torque name="push" joint="theta" law="0.25"/>
      <sensor name="pull" expr="record(reaction(theta).fz)/1.5" unit="N/kg"/>
      <record what="reaction(theta in ground).fx"/>
    </sarrus>""")
    names = ["q.theta", "v.theta", "reaction(theta).fz", "a.*", "reaction(theta in ground).fx", "pull", "kinetic", "force(push).*"]
    env = sarrus.Environment(swing, observe=names)
    assert env.observed[:7] == ("q.theta", "v.theta", "reaction(theta).fz", "a.theta", "reaction(theta in ground).fx", "pull", "kinetic")
    assert not any(n.endswith("work") for n in env.observed) and "force(push).power" in env.observed
    observation, _ = env.reset()
    for tau in (0.0, 0.5, -0.5):
        q, v, fz, a, fx, pull, kinetic = observation[:7]
        force = 1.5 * (10 * np.cos(q) + 0.8 * v * v)
        assert abs(fz - force) < 1e-9 and abs(pull - force / 1.5) < 1e-9
        turning = -10 / 0.8 * np.sin(q) + (0.25 + env.action[0]) / (1.5 * 0.64)
        assert abs(a - turning) < 1e-9
        assert abs(fx - 1.5 * 0.8 * (np.sin(q) * v * v - np.cos(q) * turning)) < 1e-9  # m x'' of the mass
        assert abs(kinetic - 0.5 * 1.5 * (0.8 * v) ** 2) < 1e-12
        assert abs(observation[env.observed.index("force(push).power")] - 0.25 * v) < 1e-12
        observation = env.step([tau])[0]
    assert sarrus.Environment(swing).observed == ("pull",)
    refuses(ValueError, "integrated by a run", sarrus.Environment, swing, observe=["force(push).work"])
    refuses(ValueError, "nothing is called 'reaction(teta).f'", sarrus.Environment, swing, observe=["reaction(teta).f"])
    refuses(ValueError, "nothing is called 'work*'. There are: t", sarrus.Environment, swing, observe=["work*"])
    refuses(ValueError, "observe: 't' is there twice", sarrus.Environment, swing, observe=["t", "q.*", "t"])
    assert sarrus.Environment(swing, observe=["t", "q.*", "q.theta"]).observed == ("t", "q.theta")  # patterns may overlap


def test_the_actuators_of_a_robot_with_contacts_are_controls():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sarrus.ModelWarning)
        env = sarrus.Environment(MODELS / "robots" / "hexapod.xml", controls={"ctrl_*": (-1, 1)}, observe=["q.*"], n=5)
        assert len(env.controls) == 18 and env.controls[0] == "ctrl_yaw_0" and (env.action_space.high == 1).all()
        env.reset(seed=0)
        first = [env.step(np.full(18, 0.1))[0] for _ in range(4)][-1]
        env.reset(seed=0)
        assert (np.array([env.step(np.full(18, 0.1))[0] for _ in range(4)][-1]) == first).all()
        env.reset()
        assert abs([env.step(np.zeros(18))[0] for _ in range(4)][-1] - first).max() > 1e-6


def test_a_seed_repeats_an_episode_and_parameters_are_drawn_within_their_bounds():
    drawn = {"m": (1, 3), "k": (2, 6), "q.x": (0.4, 0.6), "v.y": lambda random: random.choice([-1.0, 1.0])}
    env = sarrus.Environment(sarrus.loads(CART), controls=["push"], observe=["q.x", "v.y", "k"], randomize=drawn)
    first, told = env.reset(seed=7)
    values = told["parameters"]
    assert list(values) == list(drawn) and 1 <= values["m"] <= 3 and 2 <= values["k"] <= 6 and abs(values["v.y"]) == 1
    assert (first == [values["q.x"], values["v.y"], values["k"]]).all()
    assert env.model.body_mass[1] == values["m"] and env.data.parameters["k"] == values["k"]  # compiled again; live
    path = [env.step([1.0])[0] for _ in range(5)]
    other, again = env.reset()
    assert again["parameters"] != values
    again = env.reset(seed=7)[0]
    assert (again == first).all() and all((env.step([1.0])[0] == x).all() for x in path)
    assert env.reset(options={"m": 2.5, "q": [0.1, 0.2]})[1]["parameters"]["m"] == 2.5 and env.data.q[1] == 0.2
    refuses(ValueError, "there is no option 'mm'", env.reset, options={"mm": 1})


def test_an_episode_ends_by_the_model_by_a_function_and_where_the_motion_cannot_go_on():
    env = sarrus.Environment(sarrus.loads(CART), controls=["y"], observe="q.y", h=0.01, reward=lambda e: e.observation[0],
                             done=lambda e: e.observation[0] < -1)
    env.reset(options={"v": [0, 2]})
    count = 0
    terminated = False
    while not terminated:
        observation, reward, terminated, _, info = env.step([0.0])
        count += 1
    assert 148 <= count <= 151 and abs(observation[0] - 3) < 1e-9 and reward == observation[0] and abs(info["t"] - 1.5) < 1e-9
    env.reset(options={"v": [0, -2]})
    for _ in range(49):
        assert env.step([0.0])[2] is False
    env.step([0.0])  # at -1, to rounding
    assert env.step([0.0])[2] is True
    bad = sarrus.loads(CART)
    bad.add("torque", joint="y", law="sqrt(0.035 - t)")
    env = sarrus.Environment(bad, controls=["y"], observe="q.y", h=0.01)
    env.reset()
    out = [env.step([0.0]) for _ in range(3)] and env.step([0.0])
    assert out[2] is True and isinstance(out[4]["error"], sarrus.Stopped)


def test_observations_are_the_results_of_a_run():
    names = ["t", "q.theta1", "v.theta1", "tip.x", "tip.vz"]
    m = sarrus.load(MODELS / "mechanisms" / "four-bar.xml")
    m.add("sensor", name="here", point=m.sensors[0].point if len(m.sensors) else m.bodies[0].name)
    names = ["t", "q." + m.compile().q_name[0], "v." + m.compile().v_name[0], "here.x", "here.vz"]
    env = sarrus.Environment(m, observe=names, h=1e-3)
    env.reset()
    run = m.compile().run(t_end=0.05, step=1e-3, every=1e-3, method="rk4")
    for _ in range(50):
        observation = env.step(np.zeros(len(env.controls)))[0]
    expected = [run[n][-1] for n in names]
    assert abs(observation - expected).max() < 1e-14 * max(1, abs(np.array(expected)).max()), (observation, expected)


def test_what_does_not_exist_is_refused_with_the_nearest_word():
    m = sarrus.loads(CART)
    refuses(KeyError, "did you mean 'push'", sarrus.Environment, m, controls=["pusch"])
    refuses(ValueError, "did you mean 'tip.x'", sarrus.Environment, m, observe=["tip.xx"])
    refuses(ValueError, "did you mean 'm'", sarrus.Environment, m, randomize={"mm": (0, 1)})
    refuses(ValueError, "are not (least, most)", sarrus.Environment, m, controls={"x": (1, -1)})
    refuses(ValueError, "render_mode", sarrus.Environment, m, render_mode="human")
    refuses(sarrus.Error, "the parameter 'm' is live", sarrus.Environment, m, controls=["m"])
    refuses(RuntimeError, "reset()", sarrus.Environment(m).step, [0, 0, 0])


GYMNASIUM = '''
import numpy as np
registry = {}
def register(id, entry_point): registry[id] = entry_point
class Env:
    _np_random = None
    @property
    def np_random(self):
        self._np_random = self._np_random or np.random.default_rng()
        return self._np_random
    def reset(self, *, seed=None, options=None):
        if seed is not None: self._np_random = np.random.default_rng(seed)
class spaces:
    class Box:
        def __init__(self, low, high, shape=None, dtype=None): self.low, self.high, self.shape = low, high, shape or np.shape(low)
'''


def test_with_gymnasium_it_is_one_of_its_environments_and_registered():
    """By a stand-in with its names, for gymnasium itself is not part of Debian."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "gymnasium.py").write_text(GYMNASIUM)
        program = ("import gymnasium, sarrus, sys\n"
                   "env = sarrus.Environment(sys.argv[1])\n"
                   "assert isinstance(env, gymnasium.Env) and isinstance(env.action_space, gymnasium.spaces.Box)\n"
                   "assert gymnasium.registry == {'sarrus/Model-v0': 'sarrus:Environment'}\n"
                   "a, info = env.reset(seed=1)\n"
                   "assert len(env.step([0.0])) == 5\n")
        path = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
        done = subprocess.run([sys.executable, "-c", program, str(MODELS / "pendulum.xml")], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": path}, check=False)
        assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    main(globals())
