"""check, eval, run, compare and recommend of model files: the verbs of the command line, computed in this process."""
import os

from . import _compare
from . import _library as L
from ._error import Stopped, nearest
from ._run import OPTIONS, provenance
from ._spec import load

_LOAD = ("set", "base", "package", "plugins", "lock_massless", "formulation")
_STATE = ("q", "v", "y", "tau", "t")
KNOWN = {"check": _LOAD, "eval": (*_LOAD, *_STATE, "bare", "contacts", "margin"),
         "run": (*_LOAD, *_STATE, *OPTIONS, "t_end", "method", "out", "start", "contact", "progress"),
         "compare": _compare.COMPARE, "recommend": _compare.RECOMMEND}
_RESULTS = (".csv", ".h5", ".hdf5")


def _files(arguments):
    """The model files of a call: compare(a, b) and compare([a, b])."""
    return [f for x in arguments for f in (x if isinstance(x, (list, tuple)) else [x])]


def here(name, arguments, given):
    """Can the verb be computed in this process? With options that only the command line has (state, verbose, jobs, csv) it starts one."""
    if name not in KNOWN or any(k not in KNOWN[name] for k in given):
        return False
    files = [os.fspath(f) for f in _files(arguments)]
    if not files:
        return False
    if any(L.lib.sr_is_network(os.fsencode(f)) for f in files):
        return False  # the program does it, or refuses
    if name == "compare":
        reference = str(given.get("reference") or "")
        return not any(f.endswith(_RESULTS) for f in files) and "." not in reference and "/" not in reference
    return len(files) == 1 and given.get("contact", "continuous") == "continuous"


def check_words(name, given, known):
    for option in given:
        if option not in known:
            raise TypeError(f"{name} has no option '{option}'{nearest(option, known, '.')} It has: {', '.join(known)}")


def _numbers(x):
    return [float(part) for part in x.split(",")] if isinstance(x, str) else x


def _model(path, given):
    plugins = given.get("plugins") or False
    spec = load(path, given.get("set"), given.get("base"), given.get("package") or (),
                plugins.split(":") if isinstance(plugins, str) else plugins)
    if given.get("lock_massless"):
        spec.lock_massless()
    return spec.compile()


def _state(given):
    return {k: _numbers(given[k]) if k != "t" else float(given[k]) for k in _STATE if given.get(k) is not None}


def _check(path, given):
    return _model(path, given).check(given.get("formulation") or "relative")


def _eval(path, given):
    return _model(path, given).eval(**_state(given), bare=bool(given.get("bare")), formulation=given.get("formulation"),
                                    contacts=given.get("contacts") or "near", margin=given.get("margin"))


def _keep(result, given, path):
    """Writes the rows where a file is given, and names it in the report."""
    if given.get("out") is None:
        return
    settings = [(k, x if isinstance(x, str) else repr(float(x))) for k, x in (given.get("set") or {}).items()]
    result.provenance = provenance(result.data.model, result.options, os.fspath(path), settings)
    result.save(given["out"])
    result.report["out"] = os.fspath(given["out"])


def _run(path, given):
    options = {k: x for k, x in given.items() if k in (*OPTIONS, "t_end", "method", "start", "formulation", "progress") and x is not None}
    try:
        result = _model(path, given).run(**_state(given), **options)
    except Stopped as stopped:
        _keep(stopped.result, given, path)
        raise
    _keep(result, given, path)
    return result


def _run_compare(files, given):
    return _compare.compare(files, [_model(f, given) for f in files], given)


def _recommend(path, given):
    return _compare.recommend(path, _model(path, given), given)


def call(name, arguments, given):
    files = _files(arguments)
    if name == "compare":
        return _run_compare(files, given)
    return {"check": _check, "eval": _eval, "run": _run, "recommend": _recommend}[name](files[0], given)
