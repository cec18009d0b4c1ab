"""What the tests of the Python module share: a runner of functions test_*, and comparisons that name what differs."""
import json
import os
import pathlib
import subprocess
import sys
import traceback

import numpy as np

import sarrus

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"


def command(*arguments):
    """Standard output of the command line, as it is."""
    done = subprocess.run([sarrus.program(), *map(str, arguments)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def same(mine, its, tolerance=1e-15, where="", skip=()):
    """Every key and number of its (JSON) is in mine, to the tolerance relative to the largest of its list."""
    if isinstance(its, dict):
        missing = [k for k in its if k not in mine and k not in skip]
        assert not missing, f"{where}: missing {missing}"
        for key in its:
            if key not in skip:
                same(mine[key], its[key], tolerance, f"{where}/{key}", skip)
        return
    if isinstance(its, list) and its and isinstance(its[0], (dict, str)):
        assert len(mine) == len(its), f"{where}: {len(mine)} and {len(its)}"
        for i, (a, b) in enumerate(zip(mine, its)):
            same(a, b, tolerance, f"{where}[{i}]", skip)
        return
    if isinstance(its, (str, bool)) or its is None:
        assert mine == its or (its is None and (mine is None or np.isnan(mine))), f"{where}: {mine!r} and {its!r}"
        return
    a, b = np.asarray(mine, float), np.asarray(its, float)
    assert a.size == b.size, f"{where}: shapes {a.shape} and {b.shape}"
    if b.size:
        off = np.abs(a.ravel() - b.ravel()).max()
        assert off <= tolerance * max(1.0, np.abs(b).max()), f"{where}: off by {off}"


def raises(kind, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} was raised")


def refuses(kind, words, function, *arguments, **options):
    """The same, with these words in its text."""
    error = raises(kind, function, *arguments, **options)
    assert words in str(error), f"'{words}' is not in: {error}"
    return error


def main(names):
    """Runs the functions test_* of a module; "FAILED name: why" lines and the exit status tell what is wrong."""
    failed = passed = 0
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    for name, function in list(names.items()):
        if not name.startswith("test_") or only not in name:
            continue
        try:
            function()
            passed += 1
        except Exception:
            failed += 1
            last = traceback.format_exc().strip().splitlines()
            print(f"FAILED {name}:", "\n  ".join(last[-6:]))
    print(f"{os.path.basename(sys.argv[0])}: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)
