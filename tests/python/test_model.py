"""Compiled models and their data: views, recursions, constraints, and the numbers of the command line."""
import copy
import gc
import pickle
import threading
import warnings

import numpy as np
from common import MODELS, command, main, raises, refuses, same

import sarrus


def compiled(name, **options):
    return sarrus.load(MODELS / f"{name}.xml", **options).compile()


TWO_LINKS = """<sarrus version='1'><body name='upper'><joint name='a' type='revolute' axis='0 0 1' q='0.3'/>
<inertial mass='1' inertia='1 1 1'/></body><body name='lower' parent='upper'>
<joint name='b' type='revolute' axis='0 0 1' at='0.5 0 0' q='0.4'/>
<inertial mass='1' inertia='1 1 1'/><point name='tip' at='0.3 0 0'/></body></sarrus>"""


# ---------------------------------------------------------------------------------------------------------------- views
def test_data_are_views_of_one_memory():
    model = compiled("double-pendulum")
    d = model.data()
    assert np.shares_memory(d.q, d.q) and d.q.base is not None and not d.q.flags.owndata
    assert np.shares_memory(d.q, d.jq)  # joint coordinates of a relative model are its coordinates
    d.q[0] = 0.5
    assert d.jq[0] == 0.5
    before = d.a
    model.forward(d)
    assert before is d.a and np.shares_memory(before, d.a) and before[0] != 0  # the view sees what was computed
    d.q = [0.1, 0.2]
    assert list(d.q) == [0.1, 0.2]
    d.t = 2.5
    assert d.t == 2.5


def test_results_and_models_cannot_be_written():
    model = compiled("double-pendulum")
    d = model.data()
    raises(ValueError, model.body_mass.__setitem__, 1, 5.0)
    raises(ValueError, d.f.__setitem__, 0, 5.0)
    raises(AttributeError, setattr, d, "bias", [1, 2])
    raises(AttributeError, setattr, d, "qq", [1, 2])
    raises(ValueError, setattr, d, "q", [1, 2, 3])
    raises(ValueError, setattr, d, "v", [1, np.nan])


def test_views_keep_alive_what_they_look_at():
    kept = []
    for i in range(50):
        model = compiled("double-pendulum")
        d = model.data(q=[i, -i])
        kept.append((d.q, model.body_mass, model.sensor_point, i))
        del model, d
        gc.collect()
    scratch = [np.full(4096, 7.0) for _ in range(100)]  # what was freed would be used again
    for q, mass, point, i in kept:
        assert list(q) == [i, -i] and list(mass) == [0, 1, 1] and list(point) == [3, 4]
    assert len(scratch) == 100


def test_strided_members_are_views_too():
    model = compiled("double-pendulum")
    assert model.sensor_name == ("elbow", "tip")
    point = model.sensor_point
    assert point.strides[0] > point.itemsize and model.point_name[point[1]] == "lower/tip"


def test_shapes_and_meshes():
    model = sarrus.loads(
        '<sarrus version="1"><mesh name="tile" vertices="0 0 0 1 0 0 0 2 0 0 0 3" faces="0 2 1 0 1 3 0 3 2 1 2 3"/>'
        '<body name="b"><joint type="free"/><inertial mass="1" inertia="1 1 1"/>'
        '<shape name="s" type="box" size="1 2 3" at="4 5 6" rpy="0 0 pi/2"/><shape type="mesh" mesh="tile"/></body>'
        '</sarrus>').compile()
    box, tile = model.shapes
    assert box["body"] == "b" and box["type"] == "box" and list(box["size"]) == [1, 2, 3] and tile["mesh"] == "tile"
    assert np.allclose(box["pose"], [[0, -1, 0, 4], [1, 0, 0, 5], [0, 0, 1, 6], [0, 0, 0, 1]], atol=1e-15)
    vertices, triangles = model.meshes["tile"]
    assert vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]] and triangles.shape == (4, 3)


# -------------------------------------------------------------------------------------------------------- closed forms
def double_pendulum(q, v, l=1.0, m=1.0, g=9.81):
    """M and c of two equal uniform rods, by Lagrange, in relative angles from the vertical."""
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    M = m * l**2 * np.array([[5 / 3 + c2, 1 / 3 + c2 / 2], [1 / 3 + c2 / 2, 1 / 3]])
    c = m * l**2 * s2 / 2 * np.array([-2 * v[0] * v[1] - v[1]**2, v[0]**2])
    s1, s12 = np.sin(q[0]), np.sin(q[0] + q[1])
    return M, c + m * g * l * np.array([1.5 * s1 + s12 / 2, s12 / 2])


def test_the_recursions_agree_with_lagrange():
    model, rng = compiled("double-pendulum"), np.random.default_rng(1)
    for _ in range(20):
        q, v, a = rng.normal(size=(3, 2))
        M, c = double_pendulum(q, v)
        assert np.allclose(model.mass_matrix(q), M, atol=1e-14)
        assert np.allclose(model.bias(q, v), c, atol=1e-13)
        tau = model.inverse(q, v, a)
        assert np.allclose(tau, M @ a + c, atol=1e-13)
        assert np.allclose(model.acceleration(q, v, tau), a, atol=1e-11)
        d = model.forward(model.data(q=q, v=v, tau=tau))
        assert np.allclose(d.a, a, atol=1e-11)
        energy = model.energy(d)
        assert abs(energy["kinetic"] - v @ M @ v / 2) < 1e-13
        assert abs(energy["potential"] + 9.81 * (1.5 * np.cos(q[0]) + np.cos(q.sum()) / 2)) < 1e-13


def test_frames_and_jacobians():
    model = compiled("double-pendulum")
    q, v = np.array([0.3, -0.7]), np.array([1.0, 2.0])
    d = model.data(q=q, v=v)
    raises(sarrus.Error, model.frame, d, "lower/tip")  # not computed yet
    model.forward(d)
    tip = model.frame(d, "lower/tip")
    s, c = np.sin([q[0], q.sum()]), np.cos([q[0], q.sum()])
    assert np.allclose(tip["position"], [-s.sum(), 0, -c.sum()], atol=1e-15)
    rates = np.array([v[0], v.sum()])
    assert np.allclose(tip["velocity"], [-(c * rates).sum(), 0, (s * rates).sum()], atol=1e-14)
    J = model.jacobian(d, "lower/tip")
    assert np.allclose(J[3:] @ v, tip["velocity"], atol=1e-14) and np.allclose(J[:3] @ v, [0, 3, 0], atol=1e-14)
    assert "did you mean 'lower/tip'" in str(raises(ValueError, model.frame, d, "lower/tp"))
    momentum = model.momentum(d)
    assert momentum["mass"] == 2 and abs(momentum["com"][2] + (1.5 * c[0] + c[1] / 2) / 2) < 1e-15


def test_inverse_kinematics():
    """Two links: the angles of the closed form; the loop of a four-bar stays closed; wrong names and targets are refused."""
    model = sarrus.loads(TWO_LINKS).compile()
    d = model.data()
    model.inverse_kinematics(d, {"lower/tip": (0.3, 0.4, 0)})
    bend = np.arccos((0.25 - 0.34) / 0.3)
    assert abs(abs(d.q[1]) - bend) < 1e-10
    before = d.q.copy()
    model.inverse_kinematics(d, {"lower/tip": (0.5 * np.cos(d.q[0]) + 0.3, 0.5 * np.sin(d.q[0]), 0)}, move=["b"])
    assert d.q[0] == before[0] and abs(np.sin(d.q[0] + d.q[1])) < 1e-10
    model.inverse_kinematics(d, {"lower/tip": (0.5 * np.cos(d.q[0]), 0.5 * np.sin(d.q[0]) + 0.3, 0)}, move="b")  # one name
    assert d.q[0] == before[0] and abs(np.cos(d.q[0] + d.q[1])) < 1e-10
    error = raises(sarrus.Error, model.inverse_kinematics, d, {"lower/tip": (2, 0, 0)})
    assert "cannot reach" in str(error)
    assert "did you mean" in str(raises(ValueError, model.inverse_kinematics, d, {"lower/tipp": (0, 0, 0)})).lower()
    raises(ValueError, model.inverse_kinematics, d, {"lower/tip": (0, 0, 0)}, move=["c"])
    closed = compiled("mechanisms/four-bar")
    d = closed.data()
    closed.kinematics(d)
    x = closed.frame(d, "coupler/trace")["position"] + (0.001, 0, 0)
    raises(sarrus.Error, closed.inverse_kinematics, d, {"coupler/trace": x})  # off its path


def test_steps_on_quaternions():
    model, rng = compiled("free-body"), np.random.default_rng(2)
    q = model.q0.copy()
    for _ in range(10):
        step = rng.normal(size=model.nv) * 0.3
        other = model.retract(q, step)
        assert abs(np.linalg.norm(other[3:7]) - 1) < 1e-14
        assert np.allclose(model.difference(q, other), step, atol=1e-13)
        small = model.retract(q, 1e-7 * step)
        assert np.allclose((small - q) / 1e-7, model.qdot(q, step), atol=1e-6)
        q = other
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        d = model.data(q=[0, 0, 0, 2, 0, 0, 0])
    assert d.q[3] == 1 and len(caught) == 1
    raises(ValueError, model.data, q=[0, 0, 0, 0, 0, 0, 0])


# ------------------------------------------------------------------------------------------------------- constraints
def test_constraints_of_a_loop():
    model = compiled("paper2/slider-crank")
    d = model.data()
    told = model.assemble(d)
    assert told["residual"] < 1e-10
    model.forward(d)
    rows = model.constraints(d)
    assert np.abs(rows["g"]).max() < 1e-10 and np.abs(rows["gv"]).max() < 1e-8
    assert np.abs(rows["G"] @ d.a - rows["gamma"]).max() < 1e-8 * max(1, np.abs(rows["gamma"]).max())
    M, c = model.mass_matrix(d.q), model.bias(d.q, d.v)
    left, right = M @ d.a + c, d.f + rows["G"].T @ d.lambda_
    assert np.abs(left - right).max() < 1e-10 * max(1, np.abs(c).max())
    assert np.linalg.matrix_rank(rows["G"]) == model.rank(d)["rank"]


# -------------------------------------------------------------------------------------- the same as the command line
MODELS_TO_EVAL = ("pendulum", "double-pendulum", "free-body", "tree", "dc-motor", "cart-pole", "paper2/slider-crank",
                  "mechanisms/bennett-linkage", "mechanisms/stewart-platform", "mechanisms/rolling-disc", "contact/belt",
                  "contact/block-on-slope", "humanoid")


def test_queries_leave_the_stage_of_a_data_alone():
    model = compiled("mechanisms/four-bar")
    d = model.data()
    model.assemble(d)
    model.forward(d)
    a = d.a.copy()
    model.constraints(d)
    model.rank(d)
    assert model.reactions(d).keys() == set(model.joint_name)
    assert (d.a == a).all()


def test_eval_is_that_of_the_command_line():
    for name in MODELS_TO_EVAL:
        same(compiled(name).eval(), command("eval", MODELS / f"{name}.xml", "--json"), where=name)


def test_eval_at_a_state_is_that_of_the_command_line():
    q, v, tau = [0.3, -0.1], [0.5, 1.0], [2.0, -1.0]
    text = {k: ",".join(map(str, x)) for k, x in (("q", q), ("v", v), ("tau", tau))}
    its = command("eval", MODELS / "double-pendulum.xml", "--q", text["q"], "--v", text["v"], "--tau", text["tau"], "--t", 2,
                  "--json")
    same(compiled("double-pendulum").eval(q=q, v=v, tau=tau, t=2), its)
    for name in ("double-pendulum", "humanoid"):
        same(compiled(name).eval(bare=True), command("eval", MODELS / f"{name}.xml", "--bare", "--json"), where=name)


def test_contacts_of_eval_are_those_of_the_command_line():
    file = MODELS / "contact" / "bouncing-ball.xml"
    model = compiled("contact/bouncing-ball")
    for options, words in (({"contacts": "all"}, ("--contacts", "all")), ({"margin": 10.0}, ("--margin", "10")), ({}, ())):
        its = command("eval", file, *words, "--json")
        assert (len(its["contacts"]) > 0) == bool(options)
        same(model.eval(**options), its, where=str(options))
        same(sarrus.eval(file, **options), its, where=str(options))
    assert "'near' or 'all', not 'every'" in str(raises(ValueError, model.eval, contacts="every"))
    assert "margin is a distance" in str(raises(ValueError, model.eval, margin=float("inf")))


def test_other_formulations_are_those_of_the_command_line():
    for name, word in (("double-pendulum", "absolute"), ("paper2/slider-crank", "absolute"), ("humanoid", "penalty")):
        run = ("--formulation", word, "--json")
        text = MODELS / f"{name}.xml"
        same(compiled(name).eval(formulation=word), command("eval", text, *run), where=f"{name} {word}")
        same(compiled(name).check(word), command("check", text, *run), where=f"{name} {word}")


def test_a_formulation_that_cannot_be_had_is_refused():
    model = compiled("double-pendulum")  # slender rods
    error = raises(sarrus.Error, model.eval, formulation="penalty")
    assert len(error.messages) == 2 and all("moment of inertia" in x for x in error.messages)
    assert "did you mean 'absolute'" in str(raises(ValueError, model.formulated, "absolut"))


def test_check_is_that_of_the_command_line():
    for name in MODELS_TO_EVAL:
        same(sarrus.load(MODELS / f"{name}.xml").check(), command("check", MODELS / f"{name}.xml", "--json"), where=name)


def test_pickling_is_refused():
    model = compiled("pendulum")
    for thing in (model, model.data(), sarrus.load(MODELS / "pendulum.xml")):
        raises(TypeError, pickle.dumps, thing)
        raises(TypeError, copy.deepcopy, thing)


# ----------------------------------------------------------------------------------------------------------- threads
def test_a_model_is_shared_by_threads():
    model = compiled("double-pendulum")
    want = model.run(t_end=2)["q.q1"][-1]
    got = []
    threads = [threading.Thread(target=lambda: got.append(model.run(t_end=2)["q.q1"][-1])) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == [want] * 4


def test_a_data_of_another_model_is_refused():
    raises(ValueError, compiled("pendulum").forward, compiled("double-pendulum").data())



# ----------------------------------------------------------------------------------------------------- linear equations
MASS = """<sarrus version='1'><option gravity='0 0 0'/><body name='mass'><joint name='x' type='prismatic' axis='1 0 0' stiffness='k' damping='6'/>
<inertial mass='2'/></body><parameter name='k' value='50'/></sarrus>"""


def test_linear_equations_are_those_of_a_mass_on_a_spring():
    model = sarrus.loads(MASS).compile()
    ss = model.linearize(inputs="x", outputs=["x", "v(x)", "a(x)"])
    A, B, C, D = ss
    assert ss.states == ("q.x", "v.x") and ss.inputs == ("x",) and len(ss) == 4
    assert np.allclose(A, [[0, 1], [-25, -3]], rtol=0, atol=1e-13) and np.allclose(B, [[0], [0.5]], rtol=0, atol=1e-15)
    assert np.allclose(C, [[1, 0], [0, 1], [-25, -3]], rtol=0, atol=1e-13) and np.allclose(D, [[0], [0], [0.5]], rtol=0, atol=1e-15)
    assert np.allclose(sorted(ss.eigenvalues().imag), [-np.sqrt(25 - 2.25), np.sqrt(25 - 2.25)])
    w = 2 * np.pi * 1.3
    gain = 1 / (50 + 6j * w - 2 * w * w)
    assert np.allclose(ss.response(1.3)[0, :, 0], [gain, 1j * w * gain, -w * w * gain])
    refuses(ValueError, "there is no coordinate 'y'", model.linearize, inputs="y")
    refuses(sarrus.Error, "'x'", model.linearize, d=model.data(q=[0.1]))  # not at rest: the spring pulls


def test_linear_equations_are_those_of_the_command_line():
    model, names = compiled("half-car"), {"input": "front", "output": "front,seat,v(seat)"}
    shown = command("modes", MODELS / "half-car.xml", "--input", names["input"], "--output", names["output"], "--json")["state_space"]
    ss = model.linearize(names["input"], names["output"])
    for key, found in zip("ABCD", ss):
        same(found, np.array(shown[key]))
    for at, formulation in (("equilibrium", "relative"), ("initial", "absolute")):
        other = model.formulated(formulation).linearize("front", "seat", at=at) if formulation != "relative" else model.linearize("front", "seat", at=at)
        assert np.allclose(other.A, ss.A, rtol=1e-9, atol=1e-9 * np.abs(ss.A).max())


def test_linear_equations_go_to_scipy_and_control():
    ss = sarrus.loads(MASS).compile().linearize("x", "x")
    try:
        import scipy.signal
        made = ss.to_scipy()
        assert np.array_equal(made.A, ss.A) and np.array_equal(scipy.signal.StateSpace(*ss).D, ss.D)
    except ImportError:
        pass
    try:
        import control
        assert np.array_equal(control.ss(*ss).A, ss.A) and ss.to_control().ninputs == 1
    except ImportError:
        pass


main(globals())
