"""Many copies of a model, stepped together by generated code in vector lanes and threads (docs/using/batch.md)."""
from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any, Dict, Sequence, Tuple

import numpy as np

from . import _library as L
from ._environment import _Recording
from ._error import Messages, warn
from ._memory import Handle
from ._model import Model

lib = L.lib
_ARRAYS = {"q": 0, "v": 1, "tau": 2, "t": 3, "y": 4, "p": 5}


class _Options(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int), ("threads", ctypes.c_int), ("step", ctypes.c_double),
                ("parameters", ctypes.c_char_p), ("spec", ctypes.c_void_p)]


class Batch:
    """count copies of a model with their own states and forces, stepped by rk4 with the step h.

    random: starts that reset() draws, such as "q.theta=uniform:-1:1"; of parameters "p.mass=uniform:1:2". parameters: names of those that copies have their own values of,
    besides the random ones. Arrays q, v, y, tau, p, t have a row for each copy."""

    def __init__(self, model: Model, count: int, h: float, threads: int = 1, random: Sequence[str] = (), parameters: Sequence[str] = ()):
        out, self.model, self.h = ctypes.c_void_p(), model, float(h)
        random = [random] if isinstance(random, str) else list(random)
        names = [parameters] if isinstance(parameters, str) else list(parameters)
        names += [x[2:].split("=")[0] for x in random if x.startswith("p.") and x[2:].split("=")[0] not in names]
        known = list(model.parameters) if names else []
        self.parameters = sorted(names, key=lambda x: known.index(x) if x in known else -1)
        with Messages() as said:
            o = _Options(count, threads, self.h, ",".join(self.parameters).encode() if names else None, model._spec.pointer if names else None)
            warn(said.check(lib.sr_batch_create(model._handle.pointer, byref(o), said.pointer, byref(out))))
            self._handle = Handle(out.value, lib.sr_batch_destroy, model._handle)
            for text in random:
                said.check(lib.sr_batch_random(self._handle.pointer, text.encode(), said.pointer))
        self.count, self.lanes = count, lib.sr_batch_lanes(out.value)
        self.failed = 0
        self.reset()

    def _get(self, name):
        width = lib.sr_batch_width(self._handle.pointer, _ARRAYS[name])
        out = np.empty((self.count, width))
        lib.sr_batch_get(self._handle.pointer, _ARRAYS[name], out.ctypes.data)
        return out[:, 0] if name == "t" else out

    def _set(self, name, x):
        width = lib.sr_batch_width(self._handle.pointer, _ARRAYS[name])
        shape = (self.count,) if name == "t" else (self.count, width)
        full = np.ascontiguousarray(np.broadcast_to(np.asarray(x, float), shape))
        lib.sr_batch_set(self._handle.pointer, _ARRAYS[name], full.ctypes.data)

    q = property(lambda self: self._get("q"), lambda self, x: self._set("q", x), doc="positions, (count, nq)")
    v = property(lambda self: self._get("v"), lambda self, x: self._set("v", x), doc="velocities, (count, nv)")
    tau = property(lambda self: self._get("tau"), lambda self, x: self._set("tau", x), doc="forces on the coordinates, (count, nv)")
    y = property(lambda self: self._get("y"), lambda self, x: self._set("y", x), doc="states, (count, ny)")
    p = property(lambda self: self._get("p"), lambda self, x: self._set("p", x), doc="parameters, (count, len(parameters)): the columns are self.parameters")
    t = property(lambda self: self._get("t"), lambda self, x: self._set("t", x), doc="times, (count)")

    def observe(self) -> np.ndarray:
        """Positions and velocities, (count, nq + nv)."""
        return np.concatenate((self.q, self.v), axis=1)

    def reset(self, seed: int = 1, which: Any = None) -> np.ndarray:
        """Copies to their start, drawn by the seed; which: a mask of those that start again. Returns the observations."""
        mask = None
        if which is not None:
            mask = np.ascontiguousarray(np.broadcast_to(np.asarray(which, bool), (self.count,))).astype(np.uint8)
        with Messages() as said:
            said.check(lib.sr_batch_reset(self._handle.pointer, None if mask is None else mask.ctypes.data, int(seed)))
        return self.observe()

    def step(self, action: Any = None, n: int = 1) -> Tuple[np.ndarray, np.ndarray]:
        """n steps with forces on the coordinates, (count, nv); None: those that are there. Returns the observations, and where they are not finite."""
        if action is not None:
            self.tau = action
        self.failed = lib.sr_batch_step(self._handle.pointer, int(n))
        observations = self.observe()
        return observations, ~np.isfinite(observations).all(axis=1)

    def rows(self, record: Sequence[str] = ()) -> Dict[str, np.ndarray]:
        """Columns of a run for every copy: sensors, energies, and those on request."""
        record = [record] if isinstance(record, str) else list(record)
        recording, data = _Recording(self.model, record), self.model.data()
        out = np.full((self.count, len(recording.names)), np.nan)
        patterns = (ctypes.c_char_p * (len(record) + 1))(*(x.encode() for x in record))
        for copy in range(self.count if self.parameters else 0):
            lib.sr_batch_row(self._handle.pointer, copy, patterns, len(record), out[copy:].ctypes.data)
        if self.parameters:
            return {name: out[:, i] for i, name in enumerate(recording.names)}
        lib.sr_batch_rows(self._handle.pointer, recording._handle.pointer, data._handle.pointer, len(recording.names), out.ctypes.data)
        return {name: out[:, i] for i, name in enumerate(recording.names)}
