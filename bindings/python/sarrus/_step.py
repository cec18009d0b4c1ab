"""Steps one by one, parameters and controls by name: model.step(data, h), data.parameters, data.controls.

A step is one call of the library (sr_step of include/sarrus/simulate.h): no thread, no table, nothing allocated.
"""
from __future__ import annotations

import ctypes
from collections.abc import Mapping, MutableMapping
from ctypes import byref
from typing import Any, Iterator

import numpy as np

from . import _library as L
from ._error import ERROR, WARNING, Error, Messages, Stopped, nearest, warn
from ._memory import Handle
from ._run import OPTIONS, settled

lib = L.lib
_sr_step = lib.sr_step
_OPTIONS = ("step", "method", *(name for name in OPTIONS if name not in ("step", "every", "record")))


class Stepper:
    """The integrator of a data: of one method, one step and one set of options. A data keeps its last one."""

    __slots__ = ("handle", "pointer", "h", "method", "options", "fresh", "ends")

    def __init__(self, model, h, method, options):
        o = settled(model, {"step": h, "method": method, **options}, "step", _OPTIONS)
        out = ctypes.c_void_p()
        with Messages() as said:
            warn(said.check(lib.sr_stepper_create(model._handle.pointer, byref(o), said.pointer, byref(out))), 5)
        self.handle = Handle(out.value, lib.sr_stepper_destroy, model._handle)
        self.pointer, self.h, self.method, self.options = out.value, h, method, options
        self.fresh, self.ends = True, model.nevent > 0

    def speak(self, data, n):
        """A step with its messages."""
        with Messages() as said:
            status = _sr_step(self.pointer, data._handle.pointer, n, said.pointer)
            errors, warnings = said.all(ERROR), said.all(WARNING)
        self.fresh = False
        warn(warnings, 4)
        if status != L.OK:
            self.fail(status, errors)

    def fail(self, status, errors=()):
        if status == L.FAILED:
            message = lib.sr_step_result(self.pointer).contents.error_message.decode(errors="replace")
            raise Stopped([*errors, message or "the step could not be taken"], None)
        if status == L.MEMORY:
            raise MemoryError
        raise Error(list(errors) or lib.sr_status_text(status).decode(), 2)


def step(self, data, h: float, n: int = 1, method: str = "rk4", **options: Any) -> bool:
    """Advances data by n steps of h seconds: data.t, q, v, y are then those reached. Returns True where an <event stop="yes"> has
    ended the motion before that, else False.

    Forces (data.tau, data.controls) and live parameters (data.parameters) may be changed between steps, and hold throughout a step. Where
    t, q or v were changed, a new motion starts there. Loops, events and contacts are handled as by run, and the states are
    those of run(step=h, method=method), bit by bit. A method with error control (auto, dopri5, radau5, ...) takes as many steps of its own as
    the tolerances require to advance by h; with control="fixed" it takes one. Other options as those of run.

    Results (data.a, sensors, energy) are those of the new state after model.forward(data). sarrus.Stopped where the motion cannot
    go on: data is then at the last good state."""
    s = data._stepper
    if s is None or s.h != h or s.method != method or s.options != options or data.model is not self:
        self._of(data)
        s = data.__dict__["_stepper"] = Stepper(self, h, method, options)
    if s.fresh:
        s.speak(data, n)
    else:
        status = _sr_step(s.pointer, data._handle.pointer, n, None)
        if status == L.INPUT:
            s.speak(data, n)  # data is unchanged: the same again, with the reason
        elif status != 0:
            s.fail(status)
    return s.ends and lib.sr_step_ended(s.pointer)


# ---------------------------------------------------------------------------------------------------- parameters, controls
class _Named(MutableMapping):
    """Numbers of a data by name."""

    def __init__(self, data):
        self._data = data

    def __getitem__(self, name: str) -> float:
        array, i = self._place(name)
        return float(array[i])

    def __setitem__(self, name: str, value: float) -> None:
        array, i = self._place(name)
        value = float(value)
        if not np.isfinite(value):
            raise ValueError(f"{name} = {value} is not a finite number")
        array[i] = value

    def __delitem__(self, name):
        raise TypeError(f"'{name}' belongs to the model: it can be set, not removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __repr__(self):
        return "{" + ", ".join(f"{n!r}: {self[n]:g}" for n in self) + "}"


class Parameters(_Named):
    """Live parameters of a data: data.parameters["k"] = 250. Others are numbers of the compiled model; changing one is refused."""

    def _names(self):
        return self._data.model.live

    def _place(self, name):
        model = self._data.model
        i = model._live.get(name)
        if i is None:
            _refuse_parameter(model, name)
        return self._data.y, i


class Controls(_Named):
    """What drives a data: forces on joint coordinates (data.tau) and live parameters, by name. data.controls["elbow"] = 2; where a
    parameter has the name of a joint coordinate it is the parameter, and "tau.elbow" the force."""

    def _names(self):
        return self._data.model.controls

    def _place(self, name):
        model = self._data.model
        if name in model._live:
            return self._data.y, model._live[name]
        i = model._forces.get(name[4:] if name.startswith("tau.") else name)
        if i is None:
            known = model.controls
            if name in model.parameters:
                _refuse_parameter(model, name)
            raise KeyError(f"there is no control '{name}'{nearest(name, known, '.')} There are: {', '.join(known)}")
        return self._data.tau, i


def _refuse_parameter(model, name):
    if name in model.parameters:
        raise KeyError(f"the parameter '{name}' is a number of the compiled model (a mass, a length, ... may depend on it): compile it as "
                       f"live, spec.compile(live=['{name}']), where only laws use it; else set it in the spec and compile again")
    raise KeyError(f"there is no parameter '{name}'{nearest(name, model.parameters, '.')} There are: {', '.join(model.parameters) or 'none'}")


def live_parameters(model) -> Mapping[str, int]:
    """{name: index in y} of the parameters that may change between steps."""
    found = ((n, lib.sr_parameter_find(model._handle.pointer, n.encode())) for n in model.parameters)
    return {n: i for n, i in found if i >= 0}
