"""Steps one by one, live parameters, controls by name, and where the module finds the library."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from common import MODELS, main, refuses

import sarrus

RODS = """<sarrus version="1" name="rods">
  <parameter name="l" value="1"/>
  <parameter name="k" value="3"/>
  <body name="a"><joint name="p" type="revolute" axis="0 1 0" q="0.5"/>
    <inertial mass="1" com="0 0 -l/2" inertia="0.1 0.1 0.01"/><point name="end" at="0 0 -l"/></body>
  <body name="b" parent="a"><joint name="r" type="revolute" axis="0 1 0" at="0 0 -l"/>
    <inertial mass="1" com="0 0 -0.5" inertia="0.1 0.1 0.01"/></body>
  <torque joint="p" law="-k*q(p)"/>
  <sensor name="tip" point="a/end"/>
</sarrus>"""


def test_steps_are_those_of_a_run_bit_by_bit():
    for file, method in (("robots/arm-seven.xml", "rk4"), ("mechanisms/four-bar.xml", "rk4")):
        model = sarrus.load(MODELS / file).compile()
        end = model.run(t_end=0.05, step=1e-3, method=method).data
        data = model.data()
        for _ in range(20):
            assert model.step(data, 1e-3, method=method) is False
        model.step(data, 1e-3, 30, method=method)
        assert data.t == 0.05 and (data.q == end.q).all() and (data.v == end.v).all(), file


def test_controls_and_live_parameters_by_name():
    model = sarrus.loads(RODS).compile(live=["k"])
    assert model.live == ("k",) and model.controls == ("p", "r", "k") and model.parameters == {"l": 1, "k": 3}
    data = model.data()
    assert dict(data.parameters) == {"k": 3} and data.controls["k"] == 3
    model.step(data, 0.01, 10)
    data.controls["r"], data.parameters["k"] = 2, 50
    assert data.tau[1] == 2 and data.y[0] == 50
    fresh = sarrus.loads(RODS, set={"k": 50}).compile()
    expected = fresh.run(t_end=data.t + 0.1, step=0.01, method="rk4", data=fresh.data(q=data.q, v=data.v, tau=[0, 2], t=data.t)).data
    model.step(data, 0.01, 10)
    assert (data.q == expected.q).all() and (data.v == expected.v).all()
    data.reset()  # a new motion, by the same stepper
    model.step(data, 0.01, 10)
    assert data.t == 0.1 and data.parameters["k"] == 3


def test_a_parameter_that_is_compiled_in_is_refused_with_a_sentence():
    model = sarrus.loads(RODS).compile(live=["k"])
    data = model.data()
    refuses(KeyError, "the parameter 'l' is a number of the compiled model", data.parameters.__setitem__, "l", 2)
    refuses(KeyError, "the parameter 'l' is a number of the compiled model", data.controls.__getitem__, "l")
    refuses(KeyError, "did you mean 'r'", data.controls.__getitem__, "rr")
    refuses(KeyError, "there is no parameter 'kk'; did you mean 'k'?", data.parameters.__getitem__, "kk")
    refuses(ValueError, "not a finite number", data.parameters.__setitem__, "k", np.nan)
    refuses(sarrus.Error, "the parameter 'l' is live", sarrus.loads(RODS).compile, live=["l"])


def test_an_event_ends_the_steps_and_a_failed_step_leaves_the_last_good_state():
    m = sarrus.loads(RODS)
    m.add("event", name="there", when="q(p)", direction="falling", stop="yes")
    model = m.compile()
    data = model.data()
    ended = [model.step(data, 0.01) for _ in range(60)]
    assert True in ended
    assert ended[:ended.index(True)] == [False] * ended.index(True)
    bad = sarrus.loads(RODS)
    bad.add("torque", joint="r", law="sqrt(0.1 - t)")
    model = bad.compile()
    data = model.data()
    error = refuses(sarrus.Stopped, "torque", model.step, data, 0.01, 50)
    assert error.status == 1 and 0.09 < data.t <= 0.1 and np.isfinite(data.q).all()


def test_wrong_arguments_of_a_step_are_refused():
    model = sarrus.loads(RODS).compile()
    data = model.data()
    refuses(ValueError, "step must be greater than zero", model.step, data, 0)
    refuses(ValueError, "did you mean 'rk4'", model.step, data, 0.01, method="rk5")
    refuses(TypeError, "step has no option 't_end'", model.step, data, 0.01, t_end=3)
    refuses(ValueError, "belongs to another model", sarrus.loads(RODS).compile().step, data, 0.01)


def test_adaptive_methods_advance_by_the_step():
    model = sarrus.load(MODELS / "double-pendulum.xml").compile()
    end = model.run(t_end=0.3, method="dopri5", rtol=1e-10, atol=1e-12).data
    data = model.data()
    for _ in range(3):
        model.step(data, 0.1, method="dopri5", rtol=1e-10, atol=1e-12)
    assert data.t == 3 * 0.1 and abs(data.q - end.q).max() < 1e-9


def _import(where, **environment):
    """The library that the module finds in a process of its own, without variables but these."""
    kept = {k: v for k, v in os.environ.items() if k not in ("SARRUS", "SARRUS_LIBRARY", "PYTHONPATH")}
    done = subprocess.run([sys.executable, "-c", "import sarrus; print(sarrus.library)"], capture_output=True, text=True,
                          cwd="/", env={**kept, "PYTHONPATH": str(where), **environment}, check=False)
    return pathlib.Path(done.stdout.strip()) if done.returncode == 0 else done.stderr


def test_the_library_is_found_after_the_builds_that_the_readme_shows():
    package, library = pathlib.Path(sarrus.__file__).parent, pathlib.Path(sarrus.library).resolve()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        python = root / "bindings" / "python"
        shutil.copytree(package, python / "sarrus", ignore=shutil.ignore_patterns("__pycache__"))
        # Worst first: each place is preferred to those before it.
        for place in ("lib", "build/some", "build/release", "build", "bindings/python/sarrus/lib"):
            (root / place).mkdir(parents=True, exist_ok=True)
            (root / place / "libsarrus.so").symlink_to(library)
            if place != "lib":  # a prefix is above share/sarrus/python
                assert _import(python) == root / place / "libsarrus.so", place
        installed = root / "share" / "sarrus" / "python"
        installed.mkdir(parents=True)
        (python / "sarrus" / "lib" / "libsarrus.so").unlink()
        shutil.move(str(python / "sarrus"), str(installed))
        shutil.rmtree(root / "build")
        assert _import(installed) == root / "lib" / "libsarrus.so"
        assert _import(installed, SARRUS_LIBRARY=str(library)) == library
        (root / "lib" / "libsarrus.so").unlink()
        told = _import(installed)
        assert isinstance(told, pathlib.Path) or "cmake -B build" in told  # one of the system's may be there


if __name__ == "__main__":
    main(globals())
