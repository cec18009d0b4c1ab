"""Sarrus from Python: multibody dynamics with numpy arrays (docs/using/python.md).

    import sarrus
    m = sarrus.load("models/pendulum.xml", set={"l": 0.5})   # as it was written: can be edited
    m.bodies["rod"].inertial.mass = 3
    model = m.compile()                                      # checked; all errors at once
    result = model.run(t_end=2)
    result["q.theta"], result.report["energy"]
"""
import sys as _sys

try:
    import numpy as _numpy  # noqa: F401
except ImportError as _trouble:
    raise ImportError(f"the sarrus module needs numpy, and this Python ({_sys.executable}) has none: "
                      "install it (apt-get install python3-numpy, or pip install numpy)") from _trouble

from . import _library, _program, _verbs
from ._error import Error, Message, ModelWarning, Stopped
from ._model import Data, Model
from ._program import options, program, verb, verbs
from ._result import Result, read
from ._spec import Element, Spec, load, loads

__version__ = _library.lib.sr_version().decode()
library = str(_library.path)


def __getattr__(name):
    """Every verb of the program is a function of the module: sarrus.compare, sarrus.recommend, ..."""
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


__all__ = ["Data", "Element", "Error", "Message", "Model", "ModelWarning", "Result", "Spec", "Stopped", "library", "load",
           "loads", "options", "program", "read", "verb", "verbs"]
