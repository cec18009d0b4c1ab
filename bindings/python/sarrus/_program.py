"""Verbs of the command line as functions: sarrus.compare([...], methods=[...]). Every verb that the program has is there."""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np

from . import _library as L
from ._error import Error, nearest, warn


def program():
    """Path of the `sarrus` program: SARRUS, beside the library, of the installed tree, or on PATH."""
    given = os.environ.get("SARRUS")
    if given:
        return given
    for folder in (L.path.parent, *(p / "bin" for p in L.path.parents)):
        candidate = pathlib.Path(folder) / "sarrus"
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which("sarrus")
    if not found:
        raise Error("the program `sarrus` was not found: name it in SARRUS, or put it on PATH")
    return found


def _call(arguments):
    return subprocess.run([program(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


@functools.lru_cache(maxsize=None)
def _help(which, verb=None):
    return _call([verb, "--help"] if verb else ["--help"]).stdout


def verbs():
    """{verb: what it does}"""
    text = _help(program())
    part = text.partition("\nverbs\n")[2].partition("\n\n")[0]
    return {m[1]: m[2] for m in re.finditer(r"^  (\S+) +(.*)$", part, re.M)}


def options(verb):
    """{option: its line of help} of a verb, with names as keywords of the function."""
    part = _help(program(), verb).partition("\noptions\n")[2].partition("\n\n")[0]
    found = re.finditer(r"^  --(\S+)( \S+)? +(.*)$", part, re.M)
    return {m[1].replace("-", "_"): (m[2] or "", m[3]) for m in found}


def _text(x):
    if isinstance(x, (float, np.floating)):
        return repr(float(x))
    return os.fspath(x) if isinstance(x, os.PathLike) else str(x)


def _words(name, value, repeated):
    option = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [option]
    if isinstance(value, dict):
        return [w for k, x in value.items() for w in (option, f"{k}={_text(x)}")]
    if isinstance(value, (list, tuple, np.ndarray)):
        if repeated:
            return [w for x in value for w in _words(name, x, False)]
        return [option, ",".join(_text(x) for x in value)]
    return [option, _text(value)]


def _arguments(arguments):
    for x in arguments:
        if isinstance(x, (list, tuple)):
            yield from _arguments(x)
        else:
            yield _text(x)


def _arrays(x):
    """Lists of numbers as arrays, null as NaN among them."""
    if isinstance(x, dict):
        return {k: _arrays(v) for k, v in x.items()}
    if not isinstance(x, list):
        return x
    x = [_arrays(v) for v in x]
    numbers = [v for v in x if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if numbers and len(numbers) + x.count(None) == len(x):
        return np.array(x, dtype=float)
    rows = x and all(isinstance(v, np.ndarray) for v in x) and len({v.shape for v in x}) == 1
    return np.array(x) if rows else x


def _parsed(text):
    try:
        return _arrays(json.loads(text))
    except ValueError:
        return {"text": text}


def _said(stderr, severity):
    return [line for line in stderr.splitlines() if f" {severity}: " in line]


def verb(name, *arguments, **given):
    """Calls `sarrus NAME ARGUMENTS --option value ... --json`.

    Returns the JSON object, with lists of numbers as arrays, or {"text": ...} of a verb that has none. t_end=2 is --t-end 2,
    flag=True is --flag, lists are comma lists (or the option as often as there are values, where its help says so),
    set={"l": 2} is --set l=2. sarrus.Error where it fails; its `result` is what the program printed all the same."""
    known = verbs()
    if name not in known:
        raise ValueError(f"there is no verb '{name}'{nearest(name, known)} There are: {', '.join(known)}")
    has = options(name)
    for option in given:
        if option not in has:
            raise TypeError(f"{name} has no option '{option}'{nearest(option, has)} It has: {', '.join(has)}")
    command = [name, *_arguments(arguments)]
    for option, value in given.items():
        command += _words(option, value, "as often" in has[option][1])
    if "json" in has and "json" not in given:
        command.append("--json")
    done = _call(command)
    result = _parsed(done.stdout)
    if done.returncode != 0:
        said = result.get("errors") or _said(done.stderr, "error") or [done.stderr.strip() or f"sarrus {name} failed"]
        error = Error(said, done.returncode)
        error.result = result
        raise error
    warn(_said(done.stderr, "warning"))
    return result


def named(name):
    """The function of a verb."""
    def call(*arguments, **given):
        return verb(name, *arguments, **given)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = _help(program(), name)
    return call
