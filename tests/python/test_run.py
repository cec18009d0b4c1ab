"""Runs and their results."""
import pathlib
import signal
import tempfile
import warnings

import numpy as np
from common import MODELS, command, main, raises, same

import sarrus


def compiled(name, **options):
    return sarrus.load(MODELS / f"{name}.xml", **options).compile()


def test_a_pendulum_has_its_period():
    # Released from the horizontal: period 2.3678419475762 s by the complete elliptic integral (IFToMM benchmark A01).
    result = compiled("pendulum").run(t_end=2.3678419475762, rtol=1e-12, atol=1e-14)
    assert abs(result["q.theta"][-1] - np.pi / 2) < 1e-8 and result.t[-1] == 2.3678419475762
    assert np.abs(result["kinetic"] + result["potential"]).max() < 1e-8
    # the sensor is where the angle says
    assert np.allclose(result["P1.x"], -np.sin(result["q.theta"]), atol=1e-15)
    assert result.units["P1.x"] == "m" and result.units["q.theta"] == "rad"


def test_columns_are_views_of_the_librarys_rows():
    result = compiled("double-pendulum").run(t_end=1, every=0.01)
    table = result.table
    assert not table.flags.owndata and len(result) == 101 and table.shape == (101, len(result.names))
    column = result["q.q2"]
    assert np.shares_memory(column, table)
    del result, table
    assert np.isfinite(column).all() and column[0] == 0.5
    result = compiled("double-pendulum").run(t_end=1, every=0.01)
    assert list(result.select("q.*")) == ["q.q1", "q.q2"]
    assert "did you mean 'q.q1'" in str(raises(KeyError, lambda: result["q.q11"]))


def test_columns_on_request_have_names_and_units():
    model = compiled("pendulum")
    names = model.recordable()
    assert names["a.theta"] == "rad/s^2" and names["reaction(theta).f"] == "N"
    result = model.run(t_end=0.5, every=0.1, record=["a.theta", "reaction(theta).f?"])
    # a point mass of 1 kg on a rod of 1 m: the bearing carries g cos + w^2 along the rod, and a = -g sin
    q, v = result["q.theta"], result["v.theta"]
    assert np.allclose(result["a.theta"], -9.81 * np.sin(q), atol=1e-9)
    assert np.allclose(result["reaction(theta).fz"], 9.81 * np.cos(q) + v**2, atol=1e-9)
    assert result.units["reaction(theta).fz"] == "N"
    assert "did you mean 'a.theta'?" in str(raises(sarrus.Error, lambda: model.run(t_end=0.1, record="a.tetha")))
    absolute = model.run(t_end=0.5, every=0.1, record="reaction(* in ground).fx", formulation="absolute", rtol=1e-10)
    assert np.allclose(absolute["reaction(theta in ground).fx"][0], result["reaction(theta).fz"][0] * np.sin(q[0]), atol=1e-9)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "forces.csv"
        sarrus.run(MODELS / "pendulum.xml", t_end=0.1, record=["a.*"], out=path)
        assert "a.theta" in sarrus.read(path)


def test_a_run_is_that_of_the_command_line():
    cases = (("pendulum", {}), ("double-pendulum", {"method": "rk4", "step": 1e-3}), ("dc-motor", {}),
             ("paper2/slider-crank", {"t_end": 0.1}), ("paper2/slider-crank", {"t_end": 0.1, "method": "genalpha-ggl"}),
             ("double-pendulum", {"formulation": "absolute", "t_end": 0.5}), ("pendulum", {"control": "positions", "method": "dopri5"}))
    for name, options in cases:
        words = [w for k, x in options.items() for w in ("--" + k.replace("_", "-"), str(x))]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "its.csv"
            its = command("run", MODELS / f"{name}.xml", *words, "--out", path, "--json")
            table = sarrus.read(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine = compiled(name).run(**options)
        its["warnings"] = [text.removeprefix("sarrus: ") for text in its["warnings"]]  # the program's name, for want of a file
        same(mine.report, its, where=name, skip=("seconds", "out"))
        assert mine.names == table.names and mine.units == table.units
        assert np.array_equal(mine.table, table.table, equal_nan=True), name


LEG = """<sarrus version="1"><body name="a"><joint name="knee" type="revolute" axis="0 1 0" limits="-2.7 -0.9"/>
  <inertial mass="1" com="0 0 -0.2" inertia="0.1 0.1 0.1"/></body></sarrus>"""


def test_a_start_outside_of_limits_is_warned_of_and_moved_inside():
    model = sarrus.loads(LEG).compile()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        away = model.run(t_end=0.01)
        inside = model.run(t_end=0.01, start="inside-limits", method="radau5")
        model.run(t_end=0.02, data=away.data)  # goes on
    told = [str(w.message) for w in caught]
    assert len(told) == 1 and "'knee' at 0 rad (-2.7 to -0.9)" in told[0] and told[0] in away.report["warnings"], told
    assert away["q.knee"][0] == 0 and inside["q.knee"][0] == -0.9 and inside.report["start"] == "inside-limits"
    assert any("'knee' at 0 rad" in w for w in model.check()["warnings"])
    d = model.data()
    model.start(d)
    assert d.q[0] == -0.9
    assert "did you mean 'inside-limits'" in str(raises(ValueError, lambda: model.run(start="inside-limit")))


def test_a_run_starts_at_its_time():
    text = """<sarrus version="1"><body name="cart"><joint name="x" type="prismatic" axis="1 0 0"/><inertial mass="2"/></body>
      <driver joint="x" motion="0.1*sin(3*t)"/></sarrus>"""
    model = sarrus.loads(text).compile()
    state = model.eval(t=0.7)
    assert abs(state["q"][0] - 0.1 * np.sin(2.1)) < 1e-15 and abs(state["v"][0] - 0.3 * np.cos(2.1)) < 1e-15
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert model.eval(q=[0.25], t=0.7)["q"][0] == 0.25
    assert "the position of 'x' is given as 0.25" in str(caught[0].message)
    assert abs(model.run(t=0.5, t_end=0.7)["q.x"][-1] - 0.1 * np.sin(2.1)) < 1e-15


def test_a_run_goes_on_from_a_data():
    model = compiled("pendulum")
    once = model.run(t_end=1, method="rk4", step=1e-3)
    d = model.data()
    model.run(t_end=0.5, method="rk4", step=1e-3, data=d)
    assert abs(d.t - 0.5) < 1e-12
    again = model.run(t_end=1, method="rk4", step=1e-3, data=d)
    assert abs(again["q.theta"][-1] - once["q.theta"][-1]) < 1e-12 and again.data is d


def test_a_torque_acts_all_the_time():
    model = sarrus.loads('<sarrus version="1"><option gravity="0 0 0"/><body name="b"><joint type="prismatic"/>'
                         '<inertial mass="2"/></body></sarrus>').compile()
    result = model.run(t_end=3, tau=[4], v=[1], rtol=1e-10)
    assert abs(result["q.b"][-1] - (3 + 0.5 * 2 * 9)) < 1e-9  # x = v t + F/(2m) t^2


def test_results_are_written_and_read():
    result = compiled("double-pendulum").run(t_end=0.5, every=0.1)
    with tempfile.TemporaryDirectory() as folder:
        names = ["x.csv"]
        try:
            result.save(pathlib.Path(folder) / "x.h5")
            names.append("x.h5")
        except sarrus.Error as error:  # a library without HDF5 says so
            assert "HDF5" in str(error), error
        for name in names:
            path = pathlib.Path(folder) / name
            result.save(path)
            again = sarrus.read(path)
            assert again.names == result.names and again.units == result.units
            assert np.array_equal(again.table, result.table)
        raises(sarrus.Error, sarrus.read, pathlib.Path(folder) / "none.csv")
        raises(sarrus.Error, result.save, path / "x.csv")                        # a file is no folder
        raises(sarrus.Error, result.save, pathlib.Path(folder) / "model.xml")    # and a table no model
        result.save(pathlib.Path(folder) / "new" / "folder" / "x.csv")


def test_options_that_are_wrong_are_refused():
    model = compiled("pendulum")
    assert "did you mean 'dopri5'" in str(raises(ValueError, model.run, method="dopri"))
    assert "did you mean 'rtol'" in str(raises(TypeError, model.run, rtoll=1))
    raises(ValueError, model.run, t_end=-1)
    raises(ValueError, model.run, step=0, method="rk4")
    raises(ValueError, model.run, t_end=float("nan"))
    raises(ValueError, model.run, q=[1, 2])
    raises(ValueError, model.run, q=[1], data=model.data())
    raises(ValueError, model.run, t=2, t_end=1)


def test_a_run_that_cannot_go_on_keeps_what_it_has():
    # A coordinate that runs away: x'' = x'^3 is infinite at a finite time.
    model = sarrus.loads('<sarrus version="1"><option gravity="0 0 0"/><body name="b"><joint type="prismatic" v="1"/>'
                         '<inertial mass="1"/></body><torque joint="b" law="v(b)^3"/></sarrus>').compile()
    error = raises(sarrus.Stopped, model.run, t_end=2, rtol=1e-9)
    assert error.status == 1 and abs(error.result.report["t"] - 0.5) < 1e-6  # v = 1/sqrt(1 - 2 t)
    assert len(error.result) > 100 and error.result.report["error_message"]


def test_progress_may_stop_a_run_and_raise():
    model = compiled("double-pendulum")
    seen = []
    result = model.run(t_end=1e5, rtol=1e-10, every=100, progress=lambda t, t_end: seen.append(t) or len(seen) > 2)
    assert len(seen) == 3 and result.report["t"] < 1e5

    def interrupt(t, t_end):
        raise KeyboardInterrupt
    raises(KeyboardInterrupt, model.run, t_end=1e5, rtol=1e-10, every=100, progress=interrupt)


def test_ctrl_c_stops_a_run():
    model = compiled("double-pendulum")
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)  # as SIGINT, but from a clock
    try:
        for delay in (0.05, 0.11, 0.17):
            signal.setitimer(signal.ITIMER_REAL, delay)
            raises(KeyboardInterrupt, model.run, t_end=1e6, rtol=1e-9, every=1000)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert model.run(t_end=0.5).report["t"] == 0.5


main(globals())
