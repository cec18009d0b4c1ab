"""Verbs of the command line as functions: sarrus.compare([...], methods=[...]). Every verb that the program has is there; check,
eval, run, compare and recommend are computed in this process (_verbs.py), the others by the program."""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

from . import _library as L
from . import _verbs
from ._error import Error, nearest, warn
from ._report import arrays


def program():
    """Path of the `sarrus` program: SARRUS, next to the library, of the installed tree, or on PATH."""
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


def _call(arguments, **environment):
    return subprocess.run([program(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


@functools.lru_cache(maxsize=None)
def _help(which, verb=None):
    return _call([verb, "--help"] if verb else ["--help"], COLUMNS="1000").stdout  # the text of an option on one line


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
    if isinstance(x, (list, tuple, np.ndarray)):
        return ",".join(_text(y) for y in x)
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
        return [option, _text(value)]
    return [option, _text(value)]


def _arguments(arguments):
    for x in arguments:
        if isinstance(x, (list, tuple)):
            yield from _arguments(x)
        else:
            yield _text(x)


def _parsed(text):
    try:
        return arrays(json.loads(text))
    except ValueError:
        return {"text": text}


def _said(stderr, severity):
    return [line for line in stderr.splitlines() if f" {severity}: " in line]


def verb(name, *arguments, **given):
    """What `sarrus NAME ARGUMENTS --option value ... --json` gives.

    Returns the JSON object, with lists of numbers as arrays, or {"text": ...} of a verb that has none. t_end=2 is --t-end 2,
    flag=True is --flag, lists are comma lists (or the option as often as there are values, where its help says so),
    set={"l": 2} is --set l=2. What follows "--" among the arguments comes last: sarrus.sweep("run", model, "--", "--t-end", 2,
    sweep={"l": [1, 2, 5]}, result="q"). sarrus.Error where it fails; its `result` is what the program printed all the same."""
    if _verbs.here(name, arguments, given):
        return _verbs.call(name, arguments, given)
    known = verbs()
    if name not in known:
        raise ValueError(f"there is no verb '{name}'{nearest(name, known, '.')} There are: {', '.join(known)}")
    has = options(name)
    _verbs.check_words(name, given, has)
    words = list(_arguments(arguments))
    cut = words.index("--") if "--" in words else len(words)
    command = [name, *words[:cut]]
    for option, value in given.items():
        command += _words(option, value, "as often" in has[option][1])
    if "json" in has and "json" not in given:
        command.append("--json")
    done = _call(command + words[cut:])
    result = _parsed(done.stdout)
    if done.returncode != 0:
        said = result.get("errors") or _said(done.stderr, "error") or [done.stderr.strip() or f"sarrus {name} failed"]
        error = Error(said, done.returncode)
        error.result = result
        raise error
    warn(_said(done.stderr, "warning"))
    return result


def main():
    """The program that came with the module: the script `sarrus` of the wheel."""
    path = program()
    os.execv(path, [path, *sys.argv[1:]])


def named(name):
    """The function of a verb."""
    def call(*arguments, **given):
        return verb(name, *arguments, **given)
    call.__name__ = call.__qualname__ = name
    try:
        call.__doc__ = _help(program(), name)
    except (Error, OSError):
        call.__doc__ = f"sarrus {name}; its options are listed by the program, which is not here"
    return call
