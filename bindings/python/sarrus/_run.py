"""Simulation in this process: rows are gathered by the library, not by Python."""
from __future__ import annotations

import ctypes
import threading
import time
from ctypes import byref
from typing import Any, Callable

import numpy as np

from . import _library as L
from ._error import ERROR, WARNING, Messages, Stopped, nearest, warn
from ._memory import Handle, view
from ._report import JSON, filled, report, sensors, text
from ._result import Result

lib = L.lib
_ADD_ROW = ctypes.cast(lib.sr_row_store_add, ctypes.c_void_p).value
_PROGRESS = ctypes.cast(lib.sr_row_store_progress, ctypes.c_void_p).value
_WORDS = ("contact", "impact", "impact_friction", "impact_order", "control", "family", "tangent", "stabilization")
_NUMBERS = {"t_end": True, "step": False, "rtol": True, "atol": True, "every": False, "rho": True, "theta": False, "sleep": True,
            "sleep_speed": False, "alpha": True, "beta": True, "tol_gap": False, "tol_speed": False, "tol_hop": False}  # may it be zero?
OPTIONS = tuple(name for name in (*_NUMBERS, *_WORDS, "metric", "record") if name != "t_end")


def _word(name, word, words):
    if word not in words:
        raise ValueError(f"{name}: unknown word '{word}'{nearest(word, words, '.')} There are: {', '.join(words)}")
    return words.index(word)


def _number(name, x, zero):
    x = float(x)
    if not np.isfinite(x) or x < 0 or (x == 0 and not zero):
        raise ValueError(f"{name} must be {'zero or greater' if zero else 'greater than zero'}, not {x:g}")
    return x


def settled(model, given, verb="run", known=("t_end", "method", *OPTIONS)):
    """srRunOptions: those of the model's <run>, and what is given instead."""
    o = lib.sr_run_options(model._handle.pointer)
    for name in given:
        if name not in known:
            raise TypeError(f"{verb} has no option '{name}'{nearest(name, known, '.')} It has: {', '.join(known)}")
    if given.get("contact") == "timestepping":
        o.method = b"moreau"
    if given.get("method") is not None:
        _word("method", given["method"], L.words("method"))
        o.method = given["method"].encode()
    for name in _WORDS:
        if given.get(name) is not None:
            setattr(o, name, _word(name, given[name], L.words(name)))
    if given.get("control") == "positions":
        table = lib.sri_positions_options()
        o.rtol, o.atol = table.rtol, table.atol
    if given.get("metric") is not None:
        o.metric_identity = _word("metric", given["metric"], ("mass", "identity")) == 1
    for name, zero in _NUMBERS.items():
        if given.get(name) is not None:
            setattr(o, name, _number(name, given[name], zero))
    _request(o, given.get("record"))
    return o


def _settle(model, start, given):
    o = settled(model, given)
    if o.t_end < start:
        raise ValueError(f"the end of the run, {o.t_end:g} s, is before its start at {start:g} s")
    if given.get("every") is None and model.run_every <= 0:
        o.every = (o.t_end - start) / 1000
    return o


def _request(o, record):
    """Columns on request: a name or pattern, or several."""
    patterns = [record] if isinstance(record, str) else list(record or ())
    o._record = (ctypes.c_char_p * max(1, len(patterns)))(*[x.encode() for x in patterns])  # lives as long as o
    o.record, o.nrecord = ctypes.addressof(o._record), len(patterns)


def _columns(model, o):
    pointer = ctypes.POINTER(L.struct["srColumns"])()
    with Messages() as said:
        said.check(lib.sr_record_columns_create(model._handle.pointer, o.record, o.nrecord, said.pointer, byref(pointer)))
    try:
        c = pointer.contents
        return L.text_list(c.names, c.count), L.text_list(c.units, c.count)
    finally:
        lib.sr_columns_destroy(pointer)


def attended(work, store, progress, t_end):
    """Does the work in another thread while this one listens to Ctrl-C and hands on the progress: the library never calls
    Python, where an exception would be lost. What is raised here leaves only after the work has ended, which uses this memory."""
    done, go, never, finished = [], [], [], threading.Event()

    def body():
        while not go and not never:  # begins only when the other thread is sure to wait for it
            time.sleep(1e-4)
        try:
            if go:
                done.append(work())
        finally:
            finished.set()

    try:
        threading.Thread(target=body, daemon=True).start()
        go.append(True)
        while not finished.wait(0.05):
            if progress and progress(lib.sr_row_store_time(store.pointer), t_end):
                lib.sr_row_store_stop(store.pointer)
                progress = None  # the request holds, however long the current step takes
    finally:
        if not go:
            never.append(True)
        while go and not finished.is_set():  # not join(): one that is interrupted takes the thread for ended (Python 3.11)
            try:
                lib.sr_row_store_stop(store.pointer)
                finished.wait()
            except KeyboardInterrupt:
                pass
    return done[0]


def _given(options):
    given = L.struct["srRunGiven"]()
    for name, _ in given._fields_:
        if options.get(name) is not None:
            setattr(given, name, True)
    return given


def _report(model, d, o, r, assembly, start, error_message):
    """As `sarrus run --json`."""
    x, text = L.struct["srRunReport"](), (lambda word: word.encode() if word is not None else None)
    x.m, x.d = model._of(d)
    x.options, x.result = ctypes.addressof(o), ctypes.addressof(r)
    x.assembly = assembly.pointer if assembly else None
    x.contact = L.words("contact")[o.contact].encode()
    x.file, x.start, x.error_message = b"", text(start), text(error_message)
    out = sensors(report(lib.sr_report_run, byref(x), JSON))
    return filled(out, dict.fromkeys(("q", "v", "y", "lambda"), 0))


def provenance(model, o, file=None, settings=()):
    items = (L.struct["srSetting"] * max(1, len(settings)))()
    for item, (name, value) in zip(items, settings):
        item.name, item.value = name.encode(), value.encode()
    return text(lib.sr_report_run_provenance, model._handle.pointer, byref(o), file.encode() if file else None,
                ctypes.addressof(items), len(settings)).decode(errors="replace")


def _told(check, *arguments):
    """Warnings of a function that has no other result."""
    with Messages() as said:
        check(*arguments, said.pointer)
        return said.all(WARNING)


def _simulate(model, d, o, progress):
    """Runs d to its end: the status, the store of rows, the messages, the library's result."""
    names, units = _columns(model, o)
    store = Handle(lib.sr_row_store_create(len(names)), lib.sr_row_store_destroy)
    r = L.struct["srRunResult"]()
    o.row, o.progress, o.user = _ADD_ROW, _PROGRESS, store.pointer
    with Messages() as said:
        status = attended(lambda: lib.sr_run(*model._of(d), byref(o), said.pointer, byref(r)), store, progress, o.t_end)
        if status not in (L.OK, L.FAILED):
            said.check(status, d.error_message)
        lib.sr_run_conclude(*model._of(d), byref(o), byref(r), said.pointer)
        errors, warnings = said.all(ERROR), said.all(WARNING)
    if not lib.sr_row_store_complete(store.pointer):
        raise MemoryError
    n = ctypes.c_long()
    rows = lib.sr_row_store_rows(store.pointer, byref(n))
    table = view(store, rows, (n.value, len(names)))
    error_message = None if status == L.OK else r.error_message.decode(errors="replace") or "the run stopped early"
    return r, Result(names, units, table), errors, warnings, error_message


def _use_generated(model, on):
    """Generated code in place of the recursions, or these again."""
    if not on and not lib.sr_generated_used(model._handle.pointer):
        return []
    with Messages() as said:
        said.check(lib.sr_generated_use(model._handle.pointer, on, said.pointer))
        return said.all(WARNING)


def run(self, t_end: "float | None" = None, method: "str | None" = None, q: Any = None, v: Any = None, y: Any = None, tau: Any = None,
        t: "float | None" = None, data: Any = None, formulation: "str | None" = None, start: "str | None" = None,
        progress: "Callable[[float, float], Any] | None" = None, generated: bool = False, **options: Any) -> Result:
    """Simulates, from the initial state, from q, v, y, t, or from a data (which then holds the end). tau acts all the time.

    Options are those of `sarrus run`: contact, impact, impact_friction, impact_order, tol_gap, tol_speed, tol_hop, step, rtol, atol, every, control, rho, theta, sleep, sleep_speed, family, tangent, stabilization, alpha, beta,
    metric; record: columns on request, a name or pattern or a list of them ("reaction(crankpin).*", see model.recordable());
    what is not given is taken from the model's <run>. start="inside-limits" moves the start to the nearest one
    inside of the limits of all joints, start="apart" out of overlaps of shapes. progress(t, t_end) is called about 20 times a second; true
    stops the run. generated=True compiles the equations and runs that code (docs/using/gen.md). Returns a Result: columns by name as arrays, and its report. sarrus.Stopped where it could not go on."""
    if data is not None and any(x is not None for x in (q, v, y, tau, t)):
        raise ValueError("give a data, or q, v, y, tau, t; not both")
    d = data if data is not None else self.data(q, v, y, tau, t)
    given = {"t_end": t_end, "method": method, **options}
    o = _settle(self, d.t, given)
    moved = data is not None or q is not None or v is not None
    said = _told(lib.sr_warn_method_options, byref(o), byref(_given(given)))
    said += self._at_time(d, q is not None, v is not None) if data is None and not self.absolute and (moved or d.t != 0) else []
    said += self.start(d, start) if start is not None else []
    assembly, warnings, notes = self._assembled(d) if not self.absolute else (None, [], [])
    said += warnings
    said += self._outside(d) if data is None and not self.absolute else []  # a data goes on with a run
    said += _told(lib.sr_warn_redundancy, *self._of(d))
    model = self
    if formulation not in (None, self.formulation):
        model = self.formulated(formulation, d)
        d = model.data()
    said += _told(lib.sr_warn_constraint_options, model._handle.pointer, byref(o), byref(_given(given)))
    said += _use_generated(model, generated)
    r, result, errors, warnings, error_message = _simulate(model, d, o, progress)
    warnings = said + warnings
    result.report = {**_report(model, d, o, r, assembly, start, error_message), "warnings": model.warnings + warnings,
                     "notes": model.notes + notes}
    result.options, result.model = o, self if self.formulation == "relative" else None
    result.data, result.warnings, result.provenance = d, warnings, provenance(model, o)
    warn(warnings)
    if error_message:
        raise Stopped(errors + [error_message], result)
    return result
