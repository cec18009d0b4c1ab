"""Sarrus from Python: multibody dynamics with numpy arrays (docs/using/python.md).

    import sarrus
    m = sarrus.load("models/pendulum.xml", set={"l": 0.5})   # as it was written: can be edited
    m.bodies["rod"].inertial.mass = 3
    model = m.compile()                                      # checked; all errors at once
    result = model.run(t_end=2)                              # as sarrus.run(file) of a model file
    result["q.theta"], result.report["energy"]

    data = model.data()                                      # or step by step
    data.controls["theta"] = 0.3
    model.step(data, 1e-3)

    env = sarrus.Environment(m, controls=["theta"], t_end=5) # Gymnasium's conventions
    observation, info = env.reset(seed=1)

    n = sarrus.Network.load("turntable.xml")                 # components (docs/using/network.md)
"""
import sys as _sys

try:
    import numpy as _numpy  # noqa: F401
except ImportError as _error:
    raise ImportError(f"the sarrus module needs numpy, and this Python ({_sys.executable}) has none: "
                      "install it (apt-get install python3-numpy, or pip install numpy)") from _error

from . import _library, _program, _verbs
from ._batch import Batch
from ._environment import Box, Environment
from ._error import Error, Message, ModelWarning, Stopped
from ._figure import Figure
from ._linear import StateSpace
from ._model import Data, Model
from ._network import Network
from ._program import options, program, verb, verbs
from ._result import Result, read
from ._spec import Element, Spec, load, loads

__version__ = _library.lib.sr_version().decode()
library = str(_library.path)


def run(path, **options) -> Result:
    """Simulates a model file, as model.run: run("arm.xml", t_end=2, method="rk4", set={"l": 0.5}). out= also writes the table. With an option that only the
    program has (state, verbose, contact) the program is started, and its JSON returned."""
    return _program.verb("run", path, **options)


def check(path, **options) -> dict:
    """Topology and degrees of freedom of a model file, as `sarrus check --json`."""
    return _program.verb("check", path, **options)


def eval(path, **options) -> dict:
    """Everything at one state of a model file, as `sarrus eval --json`, with arrays: eval("arm.xml", q=[...], v=[...])."""
    return _program.verb("eval", path, **options)


def compare(*paths, **options) -> dict:
    """Work, precision and violations of methods on models, as `sarrus compare --json`: compare(["a.xml"], methods=[...], rtol=[...])."""
    return _program.verb("compare", *paths, **options)


def recommend(path, **options) -> dict:
    """Which method to take for a model file, and why, as `sarrus recommend --json`."""
    return _program.verb("recommend", path, **options)


def __getattr__(name):
    """Every other verb of the program is a function of the module: sarrus.plot, sarrus.convert, ..."""
    if not name.startswith("_") and name in _known_verbs():
        return _program.named(name)
    raise AttributeError(f"module 'sarrus' has no attribute '{name}'")


def _known_verbs():
    """Those of the program; without it, those that need none."""
    try:
        return _program.verbs()
    except (Error, OSError):
        return _verbs.KNOWN


def __dir__():
    return sorted({*__all__, *_known_verbs()})


__all__ = ["Batch", "Box", "Data", "Element", "Environment", "Error", "Figure", "Message", "Model", "ModelWarning", "Network", "Result", "Spec", "StateSpace", "Stopped",
           "check", "compare", "eval", "library", "load", "loads", "options", "program", "read", "recommend", "run", "verb", "verbs"]
