"""Networks: the same bits from a file, from Python with built-in components, and (to rounding) with components in Python."""
import gc
import math
import warnings

import numpy as np
from common import MODELS, command, main, raises, refuses

import sarrus

NETWORKS = MODELS / "paper3" / "networks"


def turntable(J=0.05):
    """The example of docs/using/network.md."""
    n = sarrus.Network()
    n.admittance("table", lambda t, x, u: (x[1], u[0] / J), lambda t, x: x, states=["angle", "rate"], inputs=["torque"],
                 outputs=["angle", "rate"])
    n.friction("bearing", "kikuuwe", 0.5)
    n.map("motor", [], ["torque"], lambda t, u: 0.336 + 0.144 * math.sin(100 * t))
    n.wire(1, "table", "rate", "bearing", "v")
    n.wire(1, "bearing", "f", "table", "torque")
    n.wire(1, "motor", "torque", "table", "torque")
    n.ready()
    return n


def test_a_turntable_in_python_moves_as_that_of_the_file():
    n, f = turntable(), sarrus.Network.load(NETWORKS / "turntable.xml")
    assert f.options == {"method": "rk4", "t_end": 10, "step": 1e-4, "every": None, "threads": 1}
    f.ready()
    n.step(1e-4, 300)
    f.step(1e-4, 300)
    for c in ("table", "bearing"):  # the same operations in the same order
        assert (n.state(c) == f.state(c)).all() and np.abs(n.state(c)).max() > 1e-8, (n.state(c), f.state(c))
    n.euler(1e-5, 10)
    f.euler(1e-5, 10)
    assert (n.state("table") == f.state("table")).all() and n.time == f.time
    its = command("run", NETWORKS / "turntable.xml", "--t-end", 0.03, "--json")
    f.start()
    f.step(1e-4, 300)
    assert its["steps"] == 300 and (np.array(its["y"]) == [*f.state("table"), *f.state("bearing")]).all()


def test_a_mechanism_in_python_moves_as_in_the_file_and_as_the_model():
    model = sarrus.load(NETWORKS / "links.xml").compile()
    n = sarrus.Network()
    n.multibody("arm", model)
    n.map("load", [], 2, lambda t, u: (min(0.52, 0.3 * t), min(0.52, 0.3 * t)))
    for i in range(2):
        n.friction(f"friction{i}", "kikuuwe", 0.02, K=5000, B=1)
    for i in range(2):
        joint = n.joint_terminal("arm", f"theta{i}")
        n.attach(f"friction{i}", joint)
        n.apply(1, "load", i, joint)
    n.ready()
    del model  # the network keeps what it needs
    gc.collect()
    f = sarrus.Network.load(NETWORKS / "two-link.xml", set={"F": 0.02})
    f.ready(2)
    n.step(1e-4, 2000)
    f.step(1e-4, 2000)
    assert (n.state("arm") == f.state("arm")).all()
    end = sarrus.load(MODELS / "paper3/two-link.xml", set={"F": 0.02}).compile().run(t_end=0.2, step=1e-4, method="rk4").data
    assert np.abs(n.state("arm") - [*end.q, *end.v]).max() < 1e-12 and abs(end.v[0]) > 1e-2  # it slides
    assert n["arm.q.theta0"] != 0 and n["state(arm).v.theta1"] == n.state("arm")[3]


def test_an_impedance_in_python_is_the_law_of_the_library():
    def oscillator(law):
        n = sarrus.Network()
        n.mass("m", 2, p=[0.3, 0, 0])
        if law:
            n.impedance("s", "joint-spring", [30, 0])
        else:
            n.element("s", lambda t, tau, x, v, y: -30 * x, positions=["x"], velocities=["v"], forces=["f"])
        n.attach("s", n.terminal_part(n.mass_terminal("m"), 0, 1))
        n.ready()
        n.step(1e-3, 200)
        return n
    a, b = oscillator(True), oscillator(False)
    assert a["m.x"] == b["m.x"]
    a.evaluate()
    assert abs(a["m.x"] - 0.3 * math.cos(math.sqrt(15) * 0.2)) < 1e-10  # closed form, order 4
    assert a["s.f"] == -30 * a["m.x"] and a["input(m).fx"] == a["s.f"]
    n = sarrus.Network()  # Maxwell element: a state
    n.element("e", lambda t, tau, x, v, y: (-6 * (x - y), 2 * (x - y)), positions=1, forces=["f"], states=["y"])
    n.constant(1, "e", 0)
    n.ready()
    n.step(0.01, 100)
    assert abs(n["state(e).y"] - (1 - math.exp(-2))) < 1e-9


def test_bodies_planes_and_terminals_in_python_are_those_of_the_file():
    M, R, n = 0.3, 0.2, sarrus.Network()
    n.body("ball", M, [0.4 * M * (R * R)] * 3, p=[0, 0, 1.01 * R], v=[2, 0, 0])
    n.plane("floor", normal_p={"K": 1e7, "D": 10}, friction="kikuuwe", friction_p={"K": 1e7, "B": 10}, mu_s=0.1)
    foot, centre = n.body_terminal("ball", [0, 0, -R], upright=True), n.body_terminal("ball", upright=True)
    n.attach("floor", n.terminal_part(foot, 3, 3))
    n.push(centre, [0, 0, 0, 0, 0, -9.8 * M])
    n.ready()
    f = sarrus.Network.load(NETWORKS / "rolling-sphere.xml")
    f.ready()
    n.step(1e-4, 600)
    f.step(1e-4, 600)
    assert (n.state("ball") == f.state("ball")).all() and n["state(ball).vx"] < 2
    assert n.components == {"ball": "admittance", "floor": "impedance"}
    assert n.signals("floor")["output"] == ["fx", "fy", "fz"] and n.clamps("floor") == f.clamps("floor")


def test_states_are_views_and_can_be_set():
    n = turntable()
    x = n.state("table")
    n["state(table).angle"] = 0.5
    assert x[0] == 0.5
    del n
    gc.collect()
    assert x[0] == 0.5  # the view keeps the network


def test_what_is_wrong_is_said():
    n = turntable()
    refuses(KeyError, "'table' has no output 'rat'; did you mean 'rate'?", n.__getitem__, "table.rat")
    refuses(KeyError, "there is no component 'tabel'; did you mean 'table'?", n.state, "tabel")
    refuses(KeyError, "'table.rate' is computed", n.__setitem__, "table.rate", 1)
    refuses(sarrus.Error, "nothing can be added", n.mass, "m", 1)
    refuses(sarrus.Stopped, "a step must be longer than 0", n.step, 0)
    n = sarrus.Network()
    refuses(sarrus.Error, "its mass must be positive", n.mass, "m", -1)
    refuses(KeyError, "there is no impedance 'sprung'", n.impedance, "s", "sprung")
    refuses(KeyError, "there is no friction law 'x'", n.friction, "f", "x", 1)
    refuses(TypeError, "a friction law has no parameter 'Kx'", n.friction, "f", "kikuuwe", 1, Kx=1)
    refuses(ValueError, "is not ready", sarrus.Network.state, _one_mass(), "m")
    n = sarrus.Network()
    n.map("a", ["u"], ["y"], lambda t, u: u)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        n.ready()
    assert len(caught) == 1 and "input 'u' of 'a' has no wire" in str(caught[0].message) and len(n.warnings) == 1
    n = sarrus.Network()
    n.map("a", ["u"], ["y"], lambda t, u: u)
    n.wire(1, "a", "y", "a", "u")
    refuses(sarrus.Error, "an algebraic loop: 'a' and back", n.ready)
    error = raises(sarrus.Error, sarrus.Network.load, NETWORKS / "links.xml")
    assert error.file.endswith("links.xml") and error.line == 3 and "<network version" in error.text
    refuses(sarrus.Error, "the model has no parameter 'Jx'", sarrus.Network.load, NETWORKS / "turntable.xml", set={"Jx": 1})


def _one_mass():
    n = sarrus.Network()
    n.mass("m", 1)
    return n


def test_an_exception_of_a_component_is_raised_by_the_step():
    def late(t, u):
        if t > 0.05:
            raise RuntimeError("no more")
        return [1.0]
    n = sarrus.Network()
    n.mass("m", 1)
    n.map("f", [], ["f"], late)
    n.wire(1, "f", "f", "m", "fx")
    n.ready()
    refuses(RuntimeError, "no more", n.step, 0.01, 10)
    assert 0.03 < n.time < 0.06 and n["state(m).vx"] == n.time  # what it had reached
    n = sarrus.Network()
    n.map("f", [], 2, lambda t, u: [1.0])
    n.ready()
    refuses(ValueError, "the component 'f' returned 1 outputs, expected 2", n.step, 0.1)


def test_verbs_take_network_files():
    assert sarrus.check(NETWORKS / "two-link.xml")["ncomponent"] == 4
    assert sarrus.run(NETWORKS / "turntable.xml", t_end=0.01)["steps"] == 100
    refuses(sarrus.Error, "is not for a network", sarrus.run, NETWORKS / "turntable.xml", rtol=1e-3)


main(globals())
