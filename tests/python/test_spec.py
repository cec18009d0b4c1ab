"""Loading, editing, saving: what was written."""
import os
import pathlib
import tempfile
import warnings

import numpy as np
from common import MODELS, main, raises, same

import sarrus


def test_elements_are_read_as_they_were_written():
    m = sarrus.load(MODELS / "double-pendulum.xml")
    upper = m.bodies["upper"]
    assert m.bodies.names() == ["upper", "lower"]
    assert upper.inertial.mass == "m1"  # a formula stays one
    assert list(upper.joint.axis) == [0, 1, 0]
    assert m.parameters["l1"].value == 1.0
    assert upper.joint.damping is None  # not given
    lines = (MODELS / "double-pendulum.xml").read_text().splitlines()
    file, line, column = m.joints["q2"].place
    assert file.endswith("double-pendulum.xml") and 'name="q2"' in lines[line - 1] and column > 0
    assert m.defaults.t_end == 10 and m.root.name == "double-pendulum"


def test_settings_override_parameters():
    m = sarrus.load(MODELS / "pendulum.xml", set={"l": 0.4, "m": "2*3"})
    model = m.compile()
    assert np.allclose(model.body_com[1], [0, 0, -0.4, 0]) and model.body_mass[1] == 6
    error = raises(sarrus.Error, sarrus.load, MODELS / "pendulum.xml", set={"length": 1})
    assert "length" in str(error)


def test_editing_and_compiling_again():
    m = sarrus.load(MODELS / "pendulum.xml")
    before = m.compile()
    m.bodies["rod"].inertial.mass = 3
    m.bodies["rod"].joint.damping = 0.25
    m.parameters["l"].value = 2
    after = m.compile()
    assert before.body_mass[1] == 1 and after.body_mass[1] == 3
    # theta'' = -(m g l sin theta + d theta') / (m l^2)
    a = after.eval(q=[0.3], v=[1.1])["a"][0]
    assert abs(a + (3 * 9.81 * 2 * np.sin(0.3) + 0.25 * 1.1) / (3 * 4)) < 1e-14
    m.bodies["rod"].joint.damping = None
    a = m.compile().eval(q=[0.3], v=[1.1])["a"][0]
    assert abs(a + 9.81 / 2 * np.sin(0.3)) < 1e-14


def test_a_model_is_built_from_nothing():
    m = sarrus.Spec("two")
    m.option.gravity = [0, 0, -10]
    m.add("parameter", name="l", value=0.5)
    arm = m.add("body", name="arm")
    arm.add("joint", name="hinge", type="revolute", axis=(0, 1, 0), q=0.25, limit_stiffness=1e3, limits=["-pi", 3])
    arm.add("inertial", mass=2, com=[0, 0, "-l"])
    arm.add("point", name="tip", at="0 0 -2*l")
    m.ground.add("point", name="hook", at=[1, 0, 0])
    m.add("link", a="arm/tip", b="ground/hook", law="-7*z")
    m.add("sensor", name="tip", point="arm/tip", relative_to="ground/hook")
    assert arm.points["tip"].at == "0 0 -2*l" and m.ground.points.names() == ["hook"]
    assert m.joints["hinge"].limits == "-pi 3.0"
    e = m.compile().eval()
    # moment of a spring of length zero and stiffness k between the tip and the hook, and of the weight
    tip, hook = np.array([-np.sin(0.25), 0, -np.cos(0.25)]), np.array([1.0, 0, 0])
    moment = np.cross(tip, 7 * (hook - tip))[1] + np.cross(tip / 2, [0, 0, -20])[1]
    assert abs(e["a"][0] - moment / (2 * 0.25)) < 1e-13
    assert np.allclose(e["sensors"]["tip"]["position"], tip - hook, atol=1e-15)


def test_a_motion_that_python_keeps_a_word_of():
    m = sarrus.Spec()
    m.add("motion", name="up", type="trapezoid", from_=1, to=2, speed=1, acceleration=4)
    assert m.motions["up"].from_ == 1 and m.motions["up"]["from"] == 1


def test_saving_and_loading_again():
    for name in ("double-pendulum", "dc-motor", "paper2/slider-crank"):
        m = sarrus.load(MODELS / f"{name}.xml")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "again.xml"
            assert m.save(path) == []
            again = sarrus.load(path)
            assert again.text() == m.text()
            same(again.compile().eval(), _plain(m.compile().eval()), 0)
        same(m.copy().compile().eval(), _plain(m.compile().eval()), 0)


def _plain(x):
    if isinstance(x, dict):
        return {k: _plain(v) for k, v in x.items()}
    return x.tolist() if isinstance(x, np.ndarray) else x


def test_saving_in_another_format():
    m = sarrus.load(MODELS / "double-pendulum.xml")
    m.joints["q1"].stiffness = 5  # URDF has no word for it
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "double.urdf"
        lost = m.save(path, format="urdf")
        assert any("stiffness" in x["what"] and x["effect"] == "motion" for x in lost), lost
        assert "<robot" in path.read_text()
        raises(sarrus.Error, m.save, path, format="docx")


def test_the_name_of_the_file_gives_the_format():
    m = sarrus.load(MODELS / "pendulum.xml")
    for ending, root in ((".urdf", "<robot"), (".mjcf", "<mujoco"), (".xml", "<sarrus"), (".sarrus", "<sarrus")):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "new" + ending)
            m.save(path)
            assert open(path).read().startswith(root), ending
            m.save(path, format="urdf")
            assert open(path).read().startswith("<robot")


def test_loops_are_closed_in_the_key_of_mjcf():
    m = sarrus.load(MODELS / "mechanisms/four-bar.xml")
    m.joints["rocker"].q = 1.5  # a guess, not where the loop is closed
    start = m.compile().eval()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "new.mjcf")
        m.save(path)
        q = [float(x) for x in open(path).read().partition('qpos="')[2].partition('"')[0].split()]
    assert np.allclose(q, start["q"], atol=1e-12)


def test_packages_are_named_as_on_the_command_line():
    meshes = sarrus.load(MODELS / "robots/gripper.urdf", package={"robots": MODELS / "robots"}).compile().meshes
    assert len(meshes) > 0 and all(len(v) for v, _ in meshes.values())


def test_a_copy_is_edited_alone():
    m = sarrus.load(MODELS / "pendulum.xml")
    other = m.copy()
    other.parameters["m"].value = 9
    assert m.parameters["m"].value == 1 and m.compile().body_mass[1] == 1 and other.compile().body_mass[1] == 9


URDF = """<robot name="arm"><link name="base"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="hand"><inertial><origin xyz="0 0 -1"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="elbow" type="revolute"><parent link="base"/><child link="hand"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="10" velocity="3"/></joint></robot>"""


def test_a_robot_with_a_fixed_or_floating_base():
    fixed, floating = sarrus.loads(URDF).compile(), sarrus.loads(URDF, base="floating").compile()
    assert fixed.nv == 1 and floating.nv == 7 and floating.joint_name[0] == "root"
    assert abs(fixed.mass_matrix([0.2])[0, 0] - 2) < 1e-15  # 1 + 1*1^2
    m = sarrus.loads(URDF)
    assert list(m.joints["elbow"].limits) == [-1, 1] and m.joints["elbow"].effort == 10
    raises(sarrus.Error, sarrus.loads, URDF, base="hanging")


def test_all_errors_are_raised_at_once_with_their_place():
    text = ('<sarrus version="1">\n <body name="a"><joint type="revolut"/>\n  <inertial mass="-1"/></body>\n'
            ' <sensor name="s" point="b/tip"/>\n</sarrus>\n')
    m = None
    try:
        m = sarrus.loads(text, name="bad.xml")
        m.compile()
        raise AssertionError("nothing was refused")
    except sarrus.Error as error:
        assert error.status == 2 and error.messages
        first = error.messages[0]
        assert first.file == "bad.xml" and first.line == 2 and first.column > 0 and first.severity == "error"
        assert str(first).startswith("bad.xml:2:") and "revolut" in first.text
        if m is not None:
            assert len(error.messages) >= 2
    error = raises(sarrus.Error, sarrus.load, MODELS / "nowhere.xml")
    assert "nowhere.xml" in str(error)
    raises(sarrus.Error, sarrus.loads, "<sarrus")


def test_warnings_are_kept_and_raised_as_warnings():
    text = ('<sarrus version="1"><body name="a"><joint type="revolute"/><inertial mass="1" inertia="1 1 3" check="warn"/>'
            '</body></sarrus>')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sarrus.loads(text).compile()
    assert len(model.warnings) == 1 and "triangle" in model.warnings[0], model.warnings
    assert caught and caught[0].category is sarrus.ModelWarning


def test_notes_are_kept_and_raise_nothing():
    text = ('<mujoco><option density="1" solver="CG"/><worldbody><light/><body><joint/><geom size="1" contype="0"/></body>'
            '</worldbody></mujoco>')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sarrus.loads(text).compile()
    assert len(caught) == len(model.warnings) == 1 and "density" in model.warnings[0], model.warnings
    assert [m.text for m in model.notes] == ["'solver' of <option> is not used", "<light> is not used"], model.notes
    assert model.check()["notes"] == model.notes and model.run(t_end=0.01).report["notes"] == model.notes


def test_joints_that_move_nothing_are_held():
    spec = sarrus.loads('<sarrus version="1"><body name="a"><joint type="revolute" axis="0 1 0"/><inertial mass="1" com="1 0 0"/>'
                        '</body><body name="b" parent="a"><joint type="revolute" q="0.5"/></body></sarrus>')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = spec.compile()
    assert model.nmassless == 1 and list(model.dof_massless) == [0, 2]
    a = model.eval()["a"]
    assert abs(a[0] - 9.81) < 1e-12 and a[1] != a[1], a
    held = spec.lock_massless()
    assert len(held) == 1 and "'b' is held at 0.5 rad" in held[0], held
    assert spec.compile().run(t_end=0.01)["q.b"][-1] == 0.5


def test_no_word_of_the_language_is_hidden():
    """What classes are made of must not stand before an attribute, an element or an array of the same name."""
    from sarrus import _library, _spec
    own = {n for n in vars(sarrus.Element) if not n.startswith("_")}
    for kind in _spec.KINDS.values():
        assert not own & set(kind.fields), (kind.word, own & set(kind.fields))
    assert not set(_spec.PLURALS) & {n for n in vars(sarrus.Spec) if not n.startswith("_")}
    assert not set(_library.MODEL_NAMES) & set(vars(sarrus.Model))
    assert not set(_library.DATA_NAMES) & set(vars(sarrus.Data))


def test_an_element_with_an_attribute_body():
    m = sarrus.load(MODELS / "pendulum.xml")
    m.add("force", body="rod", at=[0, 0, -1], f="2 0 0")
    assert m.forces[0].body == "rod"
    assert abs(m.compile().eval(q=[0], v=[0])["a"][0] + 2) < 1e-14  # at rest, hanging: -F l / (m l^2)
    error = raises(AttributeError, m.add, "force", body="rod", att=[0, 0, 1])
    assert "did you mean 'at'" in str(error)


def test_words_that_are_wrong_are_told_with_the_nearest():
    m = sarrus.load(MODELS / "pendulum.xml")
    assert "did you mean 'mass'" in str(raises(AttributeError, setattr, m.bodies["rod"].inertial, "mas", 1))
    assert "did you mean 'rod'" in str(raises(KeyError, lambda: m.bodies["rods"]))
    assert "did you mean 'sensor'" in str(raises(ValueError, m.add, "sensors", name="x"))
    assert "did you mean 'bodies'" in str(raises(AttributeError, lambda: m.bodie))
    assert "inside" in str(raises(ValueError, m.add, "joint", type="revolute"))
    assert "inside" in str(raises(ValueError, m.bodies["rod"].add, "sensor", name="x"))
    raises(ValueError, setattr, m.bodies["rod"].inertial, "mass", float("nan"))
    raises(ValueError, setattr, m.bodies["rod"].inertial, "com", [0, np.inf, 0])
    raises(ValueError, setattr, m.bodies["rod"].inertial, "com", [])
    raises(TypeError, setattr, m.bodies["rod"].inertial, "mass", True)


main(globals())
