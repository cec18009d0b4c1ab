"""compare and recommend in this process, by the functions that the command line calls (include/sarrus/compare.h, recommend.h).

The command line gives each run a process of its own, so that a crash or a lack of memory costs one entry; here runs follow each other."""
from __future__ import annotations

import ctypes
import os
from ctypes import byref
from typing import Any, Dict, Sequence, Union

import numpy as np

from . import _library as L
from ._error import ERROR, WARNING, Error, Messages, nearest, warn
from ._memory import Handle
from ._report import JSON, report
from ._run import attended, settled

lib = L.lib
Path = Union[str, "os.PathLike[str]"]
_STOPPED = ctypes.cast(lib.sr_row_store_stopped, ctypes.c_void_p).value
_RUN = ("control", "family", "tangent", "stabilization", "metric", "alpha", "beta", "rho")
LOAD = ("set", "base", "package", "plugins", "lock_massless", "formulation")
COMPARE = (*LOAD, "methods", "rtol", "atol", "step", "t_end", "reference", "reference_rtol", "measure", "accept", "timeout", "repeat", *_RUN)
RECOMMEND = (*LOAD, "rtol", "atol", "t_end", "seconds")


class _Subject:
    """A model with its start, assembled, in its formulation."""

    def __init__(self, path, model, formulation):
        self.joints, d = model, model.data()
        self.warnings, self.notes = list(model.warnings), list(model.notes)
        if not model.absolute:
            _, warnings, notes = model._assembled(d)
            self.warnings, self.notes = self.warnings + warnings, self.notes + notes
        self.model = model.formulated(formulation, d) if formulation not in (None, model.formulation) else model
        self.data = self.model.data() if self.model is not model else d
        self.file = os.fspath(path)


def _put(target, member, source):
    """A struct into the bytes that are a member of another one."""
    ctypes.memmove(ctypes.addressof(target) + getattr(type(target), member).offset, ctypes.addressof(source), ctypes.sizeof(source))


def _fill(s, subject, o):
    s.m, s.start = subject.model._of(subject.data)
    s.joints, s.file = subject.joints._handle.pointer, subject.file.encode()
    s.t0, s.samples = subject.data.t, lib.sr_comparison_samples()
    _put(s, "options", o)


def _numbers(name, x):
    out = np.array(x if not isinstance(x, str) else [float(part) for part in x.split(",")], dtype=np.float64, ndmin=1)
    if out.size == 0 or not np.isfinite(out).all() or not (out > 0).all():
        raise ValueError(f"{name}: all numbers must be greater than zero")
    return out


def _positive(name, x):
    x = float(x)
    if not x > 0:
        raise ValueError(f"{name} must be greater than zero, not {x:g}")
    return x


def _method(name, word):
    words = L.words("method")
    if word not in words:
        raise ValueError(f"{name}: unknown method '{word}'{nearest(str(word), words, '.')} There are: {', '.join(words)}")
    return words.index(word)


class _Watch:
    """Runs of this process that can be stopped, and the executor for them."""

    def __init__(self):
        self.store = Handle(lib.sr_row_store_create(1), lib.sr_row_store_destroy)
        self.watch = L.struct["srTrialWatch"](user=self.store.pointer, stop=_STOPPED)
        self.executor = lib.sr_executor_here(byref(self.watch))

    def attend(self, work):
        return attended(work, self.store, None, 0.0)


def _options(subject, given):
    o = settled(subject.model, {k: given[k] for k in ("t_end", *_RUN) if given.get(k) is not None})
    if not o.t_end > subject.data.t:
        raise ValueError(f"the end of the run of '{subject.model.name}', {o.t_end:g} s, is not after its start at {subject.data.t:g} s")
    return o


def _lists(c, given):
    """The lists of numbers and methods; returns what must stay alive."""
    alive = {}
    usual = lib.sri_positions_options().rtol if given.get("control") == "positions" else None
    for name in ("rtol", "atol", "step"):
        x = given.get(name) if given.get(name) is not None or name != "rtol" else usual
        if x is not None:
            alive[name] = _numbers(name, x)
            setattr(c, name, alive[name].ctypes.data)
            setattr(c, "n" + name, alive[name].size)
    if len(set(alive.get("rtol", ()))) != len(alive.get("rtol", ())):
        raise ValueError("rtol: a number is given twice")
    if c.natol > 1 and c.natol != c.nrtol:
        raise ValueError(f"atol: {c.natol} numbers for the {c.nrtol} of rtol; give one for all, or one for each")
    methods = given.get("methods")
    if isinstance(methods, str):
        methods = [m.strip() for m in methods.split(",")]
    chosen = [_method("methods", m) for m in methods] if methods is not None else \
        [i for i, m in enumerate(L.words("method")) if not lib.sri_method_find(m.encode()).contents.absent]
    c.method[:len(chosen)] = list(dict.fromkeys(chosen)) + [0] * (len(chosen) - len(dict.fromkeys(chosen)))
    c.nmethod = len(dict.fromkeys(chosen))
    return alive


def _scalars(c, given):
    for name in ("accept", "timeout", "reference_rtol"):
        if given.get(name) is not None:
            setattr(c, name, _positive(name, given[name]))
    if given.get("reference") is not None:
        c.reference_method = _method("reference", given["reference"])
        if not lib.sri_method_find(given["reference"].encode()).contents.adaptive:
            raise ValueError(f"reference {given['reference']}: a reference needs a method with step control")
    if given.get("repeat") is not None:
        c.repeat = int(given["repeat"])
    measures = ("time", "evaluations")
    if given.get("measure") is not None:
        if given["measure"] not in measures:
            raise ValueError(f"measure: unknown word '{given['measure']}'{nearest(given['measure'], measures)}")
        c.by_evaluations = given["measure"] == "evaluations"


def compare(paths: "Sequence[Path]", opened, given: Dict[str, Any]) -> Dict[str, Any]:
    """As `sarrus compare --json`; opened: the models."""
    subjects = [_Subject(path, model, given.get("formulation")) for path, model in zip(paths, opened)]
    c = lib.sr_comparison_defaults()
    models = (L.struct["srComparedModel"] * len(subjects))()
    for s, subject in zip(models, subjects):
        _fill(s, subject, _options(subject, given))
    c.model, c.nmodel = ctypes.addressof(models), len(subjects)
    _alive = _lists(c, given)
    _scalars(c, given)
    for i in range(len(subjects)):
        lib.sr_comparison_name(byref(c), i)
    watch = _Watch()
    try:
        if watch.attend(lambda: lib.sr_compare(byref(c), byref(watch.executor))) != L.OK:
            raise MemoryError
        out = report(lib.sr_report_comparison, byref(c), None, JSON)
    finally:
        lib.sr_comparison_clear(byref(c))
    return {**out, "warnings": [w for s in subjects for w in s.warnings], "notes": [n for s in subjects for n in s.notes]}


def _recommend_options(subject, given):
    o = lib.sr_run_options(subject.model._handle.pointer)
    o.control = L.words("control").index("default")
    ratio = o.atol / o.rtol if o.rtol > 0 else 1e-3
    if given.get("t_end") is not None:
        o.t_end = _positive("t_end", given["t_end"])
    if given.get("rtol") is not None:
        o.rtol = _positive("rtol", given["rtol"])
        o.atol = ratio * o.rtol
    if given.get("atol") is not None:
        o.atol = _positive("atol", given["atol"])
    if not o.rtol > 0:
        raise ValueError("the model has rtol 0: give rtol")
    if not o.t_end > subject.data.t:
        raise ValueError(f"the end of the run, {o.t_end:g} s, is not after its start at {subject.data.t:g} s")
    return o


def _settings(given):
    items = (L.struct["srSetting"] * max(1, len(given)))()
    for item, (name, value) in zip(items, given.items()):
        item.name, item.value = name.encode(), (value if isinstance(value, str) else repr(float(value))).encode()
    return items


def _recommendation(trials, subject, given):
    t, items = trials.contents, _settings(given.get("set") or {})
    here = ctypes.addressof(t)
    x = L.struct["srRecommendation"](survey=t.survey, trial=t.trial, seconds=t.seconds, settings=ctypes.addressof(items),
                                     nsetting=len(given.get("set") or {}))
    x.trials, x.advice = here + type(t).runs.offset, here + type(t).advice.offset
    x.t_end = float(given["t_end"]) if given.get("t_end") is not None else float("nan")
    if subject.model.formulation != "relative":
        x.formulation = subject.model.formulation.encode()
    return report(lib.sr_report_recommendation, byref(x), JSON)


def recommend(path: Path, model, given: Dict[str, Any]) -> Dict[str, Any]:
    """As `sarrus recommend --json`."""
    subject = _Subject(path, model, given.get("formulation"))
    s = L.struct["srComparedModel"]()
    _fill(s, subject, _recommend_options(subject, given))
    watch, out = _Watch(), ctypes.POINTER(L.struct["srMethodTrials"])()
    seconds = _positive("seconds", given.get("seconds", 10))
    with Messages() as said:
        status = watch.attend(lambda: lib.sr_method_trials_create(byref(s), seconds, 1, byref(watch.executor), said.pointer, byref(out)))
        said.check(status)
        errors, warnings = said.all(ERROR), said.all(WARNING)
    try:
        told = _recommendation(out, subject, given)
    finally:
        lib.sr_method_trials_destroy(out)
    told = {**told, "warnings": subject.warnings + warnings, "notes": subject.notes}
    warn(warnings)
    if errors:
        error = Error(errors, 1)
        error.result = told
        raise error
    return told
