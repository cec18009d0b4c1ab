"""Verbs of the command line as functions."""
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from common import MODELS, ROOT, command, main, raises, refuses, same

import sarrus

PENDULUM = MODELS / "pendulum.xml"
HERE = (sarrus.check, sarrus.eval, sarrus.run, sarrus.compare, sarrus.recommend)  # computed in this process: documented there


def test_every_verb_of_the_help_is_a_function():
    text = subprocess.run([sarrus.program(), "--help"], capture_output=True, text=True, check=True).stdout
    verbs = sarrus.verbs()
    assert {"check", "eval", "run", "compare", "recommend", "plot", "laws", "init"} <= set(verbs)
    for name in verbs:
        assert f"  {name} " in text
        function = getattr(sarrus, name)
        assert function.__name__ == name and (f"usage: sarrus {name}" in function.__doc__ or function in HERE)
        error = raises(sarrus.Error, function, "/nowhere/at all")  # it is called, and refuses with its own sentence
        assert error.status in (1, 2) and error.messages
    assert not hasattr(sarrus, "simulate")
    assert set(verbs) <= set(dir(sarrus))


def test_sweep_takes_lists_and_options_of_its_verb():
    out = sarrus.sweep("run", PENDULUM, "--", "--t-end", 0.1, sweep={"l": [1, 2.5], "theta0": [0, 0.2]}, result=["q", "t"])
    assert out["rows"] == 4 and out["failed"] == 0 and out["parameters"]["l"].tolist() == [1, 1, 2.5, 2.5]
    assert out["results"]["t"].tolist() == [0.1] * 4
    for l, theta0, q in zip(out["parameters"]["l"], out["parameters"]["theta0"], out["results"]["q(theta)"]):
        same(sarrus.run(PENDULUM, t_end=0.1, set={"l": l, "theta0": theta0}).report, {"q": [q]}, 0)


def test_eval_check_and_run_give_what_they_print():
    same(sarrus.eval(PENDULUM, q=[0.25], v=[1]), command("eval", PENDULUM, "--q", "0.25", "--v", "1", "--json"), 0)
    same(sarrus.check(PENDULUM), command("check", PENDULUM, "--json"), 0)
    out = sarrus.run(PENDULUM, t_end=0.5, method="rk4", step=1e-3, set={"l": 0.4, "theta0": 0.1})
    out = out.report
    assert isinstance(out["q"], np.ndarray) and out["method"] == "rk4" and out["t"] == 0.5
    mine = sarrus.load(PENDULUM, set={"l": 0.4, "theta0": 0.1}).compile().run(t_end=0.5, method="rk4", step=1e-3)
    same(mine.report, {"q": out["q"].tolist(), "steps": out["steps"]})


def test_compare_is_that_of_the_command_line():
    """Errors, steps and evaluations of every run are the same numbers; times are not."""
    four_bar = MODELS / "mechanisms" / "four-bar.xml"
    given = {"methods": ["rk4", "dopri5", "hem5"], "rtol": [1e-4, 1e-6], "t_end": 0.3, "repeat": 1}
    words = ("--methods", "rk4,dopri5,hem5", "--rtol", "1e-4,1e-6", "--t-end", "0.3", "--repeat", "1", "--jobs", "1", "--json")
    out, printed = sarrus.compare([PENDULUM, four_bar], **given), command("compare", PENDULUM, four_bar, *words)
    timed = ("seconds", "profile", "warnings", "notes", "rho", "ratio", "ratios", "solved", "best")
    same(out, printed, 0, skip=timed)
    assert len(out["models"]) == 2 and len(out["models"][0]["runs"]) == 6


def test_compare_and_recommend_need_no_program_and_refuse_with_a_sentence():
    done = python("import sarrus\nx = sarrus.recommend('%s', rtol=1e-6, seconds=0.5)\nprint(x['recommend']['method'])\n"
                  "print(len(sarrus.compare('%s', methods=['euler', 'rk4'], step=0.01, t_end=0.1)['models'][0]['runs']))"
                  % (PENDULUM, PENDULUM), SARRUS="/nowhere/sarrus", SARRUS_LIBRARY=sarrus.library)
    told = done.stdout.split()
    assert len(told) == 2 and told[0] in sarrus._library.words("method") and told[1] == "2", (done.stdout, done.stderr)
    refuses(ValueError, "did you mean 'rk4'", sarrus.compare, PENDULUM, methods=["rk5"])
    refuses(ValueError, "greater than zero", sarrus.compare, PENDULUM, rtol=[1e-4, -1])
    refuses(ValueError, "given twice", sarrus.compare, PENDULUM, rtol=[1e-4, 1e-4])
    refuses(ValueError, "needs a method with step control", sarrus.compare, PENDULUM, reference="rk4")
    refuses(ValueError, "seconds must be greater than zero", sarrus.recommend, PENDULUM, seconds=0)


def test_plot_with_an_option_given_several_times():
    with tempfile.TemporaryDirectory() as folder:
        table, figure = pathlib.Path(folder) / "x.csv", pathlib.Path(folder) / "x.svg"
        sarrus.load(PENDULUM).compile().run(t_end=1).save(table)
        sarrus.plot(table, y=["q.*", "kinetic,potential"], out=figure)
        assert "<svg" in figure.read_text()


def test_laws_and_init():
    assert sarrus.laws()
    with tempfile.TemporaryDirectory() as folder:
        sarrus.init(pathlib.Path(folder) / "mine")
        assert list((pathlib.Path(folder) / "mine").glob("*.xml"))


def test_convert_keeps_the_dynamics():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "double.urdf"
        sarrus.convert(MODELS / "double-pendulum.xml", out=path)
        a = sarrus.load(MODELS / "double-pendulum.xml").compile().mass_matrix([0.3, 0.4])
        b = sarrus.load(path).compile().mass_matrix([0.3, 0.4])
        assert np.allclose(a, b, atol=1e-12)


def test_what_is_wrong_is_told():
    assert "did you mean 'recommend'" in str(raises(ValueError, sarrus.verb, "recomend"))
    assert "did you mean 't_end'" in str(raises(TypeError, sarrus.run, PENDULUM, t_ends=1))
    error = raises(sarrus.Error, sarrus.run, PENDULUM, set={"nothing": 1})
    assert error.status == 2 and "nothing" in error.messages[0]


def python(code, **environment):
    env = {**os.environ, "PYTHONPATH": str(ROOT / "bindings" / "python"), **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)


def test_messages_of_verbs_have_their_parts():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bad.xml")
        open(path, "w").write('<sarrus version="1">\n<body name="a"><joint type="revolut"/></body></sarrus>')
        for read in (sarrus.check, lambda p: sarrus.load(p).compile()):
            try:
                read(path)
                assert False
            except sarrus.Error as error:
                m = error.messages[0]
                assert (m.file, m.line, m.column, m.severity) == (path, 2, 29, "error"), (m, m.file, m.line, m.column)
                assert m.text.startswith("unknown type 'revolut'")


def test_an_import_that_fails_says_what_to_do():
    done = python("import sys; sys.modules['numpy'] = None; import sarrus")
    assert done.returncode != 0 and "needs numpy" in done.stderr and "python3-numpy" in done.stderr
    done = python("import sarrus", SARRUS_LIBRARY="/nowhere/libsarrus.so")
    assert done.returncode != 0 and "/nowhere/libsarrus.so" in done.stderr and "ImportError" in done.stderr
    done = python("import sarrus", SARRUS_LIBRARY="libm.so.6")  # a library of something else
    assert done.returncode != 0 and "older than this module" in done.stderr


def test_check_eval_and_run_need_no_program():
    done = python("import sarrus\nprint(sarrus.check('%s')['dof'])\n"
                  "print(sarrus.eval('%s', q=[0])['a'][0])\nprint(sarrus.run('%s', t_end=0.5, rtol=1e-6).report['t'])" % (3 * (PENDULUM,)),
                  SARRUS="/nowhere/sarrus", SARRUS_LIBRARY=sarrus.library)
    assert done.stdout.split() == ["1", "0.0", "0.5"], (done.stdout, done.stderr)


def test_a_run_of_a_file_writes_rows_and_warns_as_the_command_line():
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mine, its = pathlib.Path(folder) / "mine.csv", pathlib.Path(folder) / "its.csv"
        given = ("--t-end", "0.5", "--step", "0.01", "--rtol", "1e-7", "--set", "l=0.4", "--formulation", "absolute")
        printed = command("run", PENDULUM, *given, "--out", its, "--json")
        out = sarrus.run(PENDULUM, t_end=0.5, step=0.01, rtol=1e-7, set={"l": "0.4"}, formulation="absolute", out=mine)
        assert mine.read_bytes() == its.read_bytes()
        out = out.report
        assert out["out"] == str(mine) and len(printed["warnings"]) == 1
        assert [str(w.message) for w in caught] == [w.replace("sarrus: ", "") for w in printed["warnings"]]
        same(out, printed, 0, skip=("seconds", "out", "warnings"))


def test_the_program_may_be_missing():
    done = python("import sarrus\nm = sarrus.load('%s').compile().run(t_end=0.1)\n"
                  "try:\n  sarrus.verbs()\nexcept (sarrus.Error, OSError) as e:\n  print('refused', e)" % PENDULUM,
                  SARRUS="/nowhere/sarrus", SARRUS_LIBRARY=sarrus.library)
    assert done.returncode == 0 and "refused" in done.stdout, done.stderr


main(globals())
