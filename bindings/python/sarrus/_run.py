"""Simulation in this process: rows are gathered by the library, not by Python."""
import ctypes
import threading
import time
from ctypes import byref

import numpy as np

from . import _library as L
from ._error import ERROR, WARNING, Messages, Stopped, nearest, warn
from ._memory import Handle, view
from ._result import Result

lib = L.lib
_ADD_ROW = ctypes.cast(lib.sr_row_store_add, ctypes.c_void_p).value
_PROGRESS = ctypes.cast(lib.sr_row_store_progress, ctypes.c_void_p).value
_MOST_MISSING = 1e-2  # part of the largest energy that the ledger may miss without a word
_WORDS = ("control", "family", "tangent", "stabilization")
_NUMBERS = {"t_end": True, "step": False, "rtol": True, "atol": True, "every": False, "rho": True, "alpha": True,
            "beta": True}  # may it be zero?


def _word(name, word, words):
    if word not in words:
        raise ValueError(f"{name}: unknown word '{word}'{nearest(word, words)} There are: {', '.join(words)}")
    return words.index(word)


def _number(name, x, zero):
    x = float(x)
    if not np.isfinite(x) or x < 0 or (x == 0 and not zero):
        raise ValueError(f"{name} must be {'zero or greater' if zero else 'greater than zero'}, not {x:g}")
    return x


def _settle(model, start, given):
    """srRunOptions: those of the model's <run>, and what is given instead."""
    o = lib.sr_run_options(model._handle.pointer)
    known = [*_NUMBERS, *_WORDS, "method", "metric"]
    for name in given:
        if name not in known:
            raise TypeError(f"run has no option '{name}'{nearest(name, known)} It has: {', '.join(known)}")
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
    if o.t_end < start:
        raise ValueError(f"the end of the run, {o.t_end:g} s, lies before its start at {start:g} s")
    if given.get("every") is None and model.run_every <= 0:
        o.every = (o.t_end - start) / 1000
    return o


def _columns(model):
    pointer = lib.sr_columns_create(model._handle.pointer)
    if not pointer:
        raise MemoryError
    try:
        c = pointer.contents
        return L.text_list(c.names, c.count), L.text_list(c.units, c.count)
    finally:
        lib.sr_columns_destroy(pointer)


def _attended(work, store, progress, t_end):
    """Does the work in another thread while this one listens to Ctrl-C and hands on the progress: the library never calls
    Python, where an exception would be lost. What is raised here leaves only after the work has ended: it uses our memory."""
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


def _energy(r):
    words = L.words("account")
    work = dict(zip(words, r.energy_work))
    heat = {"friction": 0 - work["friction"], "contact": 0 - work["contact"]}
    return {"kinetic": r.energy_kinetic, "potential": r.energy_potential, "kinetic0": r.energy_kinetic0,
            "potential0": r.energy_potential0, "work": {w: work[w] for w in words[:words.index("friction")]},
            "dissipated": heat["friction"] + heat["contact"] - work["dissipated"], "heat": heat,
            "residual": r.energy_residual, "scale": r.energy_scale}


def _events(r):
    Event = L.struct["srRunEvent"]
    found = (Event * r.nevent).from_buffer_copy(bytes(r.event)[:r.nevent * ctypes.sizeof(Event)])
    text = (lambda x: x.decode() if x is not None else None)
    return [{"t": e.t, "kind": text(e.kind), "a": text(e.a), "b": text(e.b), "why": e.why.decode()} for e in found]


def _switches(r):
    Switch = L.struct["srSwitch"]
    found = (Switch * r.nswitch).from_buffer_copy(bytes(r.switches)[:r.nswitch * ctypes.sizeof(Switch)])
    return [{"t": s.t, "from": getattr(s, "from").decode(), "to": s.to.decode(), "why": s.why.decode()} for s in found]


def _touch(model, d):
    """Speeds at first touch of the contacts, 0: open."""
    first = model.force_z[model.force_z >= 0]
    return np.where(d.z[first + 1] != 0, d.z[first], 0.0)


def _stabilization(o):
    word = L.words("stabilization")[o.stabilization]
    method = lib.sri_method_find(o.method)
    if word == "none" or not method or method.contents.index == 0:
        return word
    return word if method.contents.switches and word != "projection" else "own"


def _report(model, d, o, r, assembly, warnings):
    out = {"method": o.method.decode(), "formulation": model.formulation, "contact": "continuous", "t": r.t,
           "q": d.jq.copy(), "v": d.jv.copy(), "y": d.y.copy(), "lambda": d.lambda_.copy()}
    if o.control:
        out["control"] = L.words("control")[o.control]
    if model.gauged:
        out["bodies"] = {"q": d.q.copy(), "v": d.v.copy()}
    if (model.force_z >= 0).any():
        out["touch"] = _touch(model, d)
    if model.looped:
        out.update(stabilization=_stabilization(o), rank=d.rank)
    if assembly:
        out["assembly"] = assembly
    if lib.sri_method_find(o.method).contents.switches:
        out.update(switches=_switches(r), switch_count=r.stats_switches)
    out.update(sensors=model.sensors(d), steps=r.stats_steps, rejected=r.stats_rejected, evaluations=r.stats_evaluations,
               events=_events(r), event_count=r.event_count,
               violation={k: getattr(r, f"violation_{k}") for k in ("position", "velocity", "acceleration")},
               energy=_energy(r), impacts=r.impacts, clamps=r.clamps, limits_passed=r.limits_passed, seconds=r.seconds,
               warnings=warnings, notes=model.notes + (assembly["notes"] if assembly else []), joints=model.joints)
    return out


def _ledger(r, o):
    """A ledger that does not close is the surest sign of steps that are too long."""
    missing = abs(r.energy_residual) / r.energy_scale if r.energy_scale > 0 else float(r.energy_residual != 0)
    if missing < _MOST_MISSING:
        return []
    method = lib.sri_method_find(o.method).contents
    fixed = L.words("control")[o.control] == "fixed" or not method.adaptive
    return [f"the energy ledger misses {r.energy_residual:.2g} J, {missing:.2g} of the largest energy: take a smaller "
            f"{'step' if fixed else 'rtol and atol'}"]


def _simulate(model, d, o, progress):
    """Runs d to its end: the status, the store of rows, what was said, the library's result."""
    names, units = _columns(model)
    store = Handle(lib.sr_row_store_create(len(names)), lib.sr_row_store_destroy)
    r = L.struct["srRunResult"]()
    o.row, o.progress, o.user = _ADD_ROW, _PROGRESS, store.pointer
    with Messages() as said:
        status = _attended(lambda: lib.sr_run(*model._of(d), byref(o), said.pointer, byref(r)), store, progress, o.t_end)
        if status not in (L.OK, L.FAILED):
            said.check(status, d.trouble)
        errors, warnings = said.all(ERROR), said.all(WARNING)
    if not lib.sr_row_store_complete(store.pointer):
        raise MemoryError
    n = ctypes.c_long()
    rows = lib.sr_row_store_rows(store.pointer, byref(n))
    table = view(store, rows, (n.value, len(names)))
    trouble = None if status == L.OK else r.trouble.decode(errors="replace") or "the run stopped early"
    return r, Result(names, units, table), errors, warnings, trouble


def run(self, t_end=None, method=None, q=None, v=None, y=None, tau=None, t=None, data=None, formulation=None,
        start=None, progress=None, **options):
    """Simulates, from the initial state, from q, v, y, t, or from a data (which then holds the end). tau acts all the time.

    Options are those of `sarrus run`: step, rtol, atol, every, control, rho, family, tangent, stabilization, alpha, beta,
    metric; what is not given is taken from the model's <run>. start="inside-limits" moves the start to the nearest one
    inside of the limits of all joints. progress(t, t_end) is called about 20 times a second; true
    stops the run. Returns a Result: columns by name as arrays, and its report. sarrus.Stopped where it could not go on."""
    if data is not None and any(x is not None for x in (q, v, y, tau, t)):
        raise ValueError("give a data, or q, v, y, tau, t; not both")
    d = data if data is not None else self.data(q, v, y, tau, t)
    o = _settle(self, d.t, {"t_end": t_end, "method": method, **options})
    model = self
    given = data is not None or q is not None or v is not None
    said = self._at_time(d, q is not None, v is not None) if data is None and not self.gauged and (given or d.t != 0) else []
    said += self.start(d, start) if start is not None else []
    assembly = self.assemble(d) if not self.gauged else None
    said += self._outside(d) if data is None and not self.gauged else []  # a data goes on with a run
    if formulation not in (None, self.formulation):
        model = self.formulated(formulation, d)
        d = model.data()
    if not (self.looped or model.looped):
        assembly = None
    r, result, errors, warnings, trouble = _simulate(model, d, o, progress)
    warnings = said + (assembly["warnings"] if assembly else []) + warnings + _ledger(r, o)
    if d.stage >= 2:
        lib.sr_acceleration(*model._of(d))  # for the sensors
    result.report = _report(model, d, o, r, assembly, model.warnings + warnings)
    if start is not None:
        result.report["start"] = start
    result.data, result.warnings = d, warnings
    result.provenance = f"sarrus {lib.sr_version().decode()}; model {model.name}; {o.method.decode()}; t-end {o.t_end:g} s"
    warn(warnings)
    if trouble:
        result.report["trouble"] = trouble
        raise Stopped(errors + [trouble], result)
    return result
