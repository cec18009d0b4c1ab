"""Linear equations about a steady state, as matrices for control design.

   x' = A x + B u,   z = C x + D u        u: forces on joint coordinates
"""
from __future__ import annotations

import ctypes
import re
from ctypes import byref
from typing import Any, Iterator, Tuple

import numpy as np

from . import _library as L
from ._error import Messages, nearest
from ._memory import view

lib = L.lib
_FORM = re.compile(r"(?:([va])\((.*)\)|(.*))", re.S)


class StateSpace:
    """A, B, C, D as numpy arrays; `scipy.signal.StateSpace(*ss)` and `control.ss(*ss)` take them. states, inputs, outputs: their names."""

    def __init__(self, A, B, C, D, states, inputs, outputs, t):
        self.A, self.B, self.C, self.D = A, B, C, D
        self.states, self.inputs, self.outputs, self.t = states, inputs, outputs, t

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.A, self.B, self.C, self.D))

    def __len__(self) -> int:
        return 4

    def __getitem__(self, i: Any) -> Any:
        return (self.A, self.B, self.C, self.D)[i]

    def eigenvalues(self) -> np.ndarray:
        """Of A, by numpy; `sarrus.modes` also has multiplicities, zeros and shapes."""
        return np.linalg.eigvals(self.A)

    def response(self, frequency: Any) -> np.ndarray:
        """Gains C (i w - A)^-1 B + D at frequencies in Hz: (frequencies, outputs, inputs), complex."""
        w = 2j * np.pi * np.atleast_1d(np.asarray(frequency, float))
        one = np.eye(len(self.A))
        return np.array([self.C @ np.linalg.solve(x * one - self.A, self.B) + self.D for x in w])

    def to_scipy(self) -> Any:
        from scipy.signal import StateSpace as Scipy
        return Scipy(*self)

    def to_control(self) -> Any:
        import control
        return control.ss(*self, states=list(self.states), inputs=list(self.inputs), outputs=list(self.outputs))

    def __repr__(self):
        return f"<sarrus.StateSpace: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs at t = {self.t:g}>"


def _names(x) -> Tuple[str, ...]:
    return tuple(x.split(",")) if isinstance(x, str) else tuple(x)


def _index(what, name, known):
    if name not in known:
        raise ValueError(f"{what}: there is no coordinate '{name}'{nearest(name, known, '.')} There are: {', '.join(known[:40])}")
    return known.index(name)


def _output(name, known, A, shape, rate, force):
    """Rows of C and D of one output: a coordinate, its velocity v(NAME) or its acceleration a(NAME)."""
    kind, inner, plain = _FORM.fullmatch(name).groups()
    i = _index("outputs", plain if kind is None else inner, known)
    if kind == "a":
        return rate[i] @ A, rate[i] @ force
    return (rate if kind == "v" else shape)[i], np.zeros(force.shape[1])


def linearize(model, d, inputs, outputs):
    inputs, outputs, known = _names(inputs), _names(outputs), list(model.v_name)
    out = ctypes.POINTER(L.struct["srLinear"])()
    with Messages() as said:
        said.check(lib.sr_linearize(*model._of(d), said.pointer, byref(out)), d.error_message)
    try:
        x = out.contents
        n, njv = x.nx, len(known)
        A, force = view(None, x.A, (n, n)).copy(), view(None, x.force, (n, njv)).copy()
        shape, rate = view(None, x.shape, (njv, n)).copy(), view(None, x.rate, (njv, n)).copy()
        kinds = ["q"] * x.npos + ["v"] * x.nvel + ["y"] * x.nstate
        states = tuple(f"{k}.{s}" for k, s in zip(kinds, L.text_list(x.name, n)))
    finally:
        lib.sr_linear_destroy(out)
    B = force[:, [_index("inputs", name, known) for name in inputs]]
    rows = [_output(name, known, A, shape, rate, B) for name in outputs]
    C = np.array([r[0] for r in rows]).reshape(len(rows), n)
    D = np.array([r[1] for r in rows]).reshape(len(rows), len(inputs))
    return StateSpace(A, B, C, D, states, inputs, outputs, d.t)
