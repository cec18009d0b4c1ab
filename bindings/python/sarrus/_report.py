"""Reports that the library makes, as Python objects."""
import json
from ctypes import byref

import numpy as np

from . import _library as L

lib = L.lib
JSON = 1  # srReportForm
_AS_THEY_ARE = ("joints",)  # ranges of coordinates are whole numbers


def arrays(x):
    """Lists of numbers as arrays, null as NaN among them."""
    if isinstance(x, dict):
        return {k: v if k in _AS_THEY_ARE else arrays(v) for k, v in x.items()}
    if not isinstance(x, list):
        return x
    x = [arrays(v) for v in x]
    if x and all(v is None or (isinstance(v, (int, float)) and not isinstance(v, bool)) for v in x):
        return np.array(x, dtype=float)
    rows = x and all(isinstance(v, np.ndarray) for v in x) and len({v.shape for v in x}) == 1
    return np.array(x) if rows else x


def text(write, *arguments):
    """What a function of the library writes into the srText behind its arguments."""
    out = L.struct["srText"]()
    try:
        write(*arguments, byref(out))
        if out.failed:
            raise MemoryError
        return out.data or b""
    finally:
        lib.sr_text_free(byref(out))


def report(write, *arguments):
    """The same of JSON, parsed."""
    return arrays(json.loads(text(write, *arguments)))


def filled(out, shapes):
    """Lists that came empty, as arrays of the shape that they have."""
    for key, shape in shapes.items():
        if key in out and not isinstance(out[key], np.ndarray):
            out[key] = np.zeros(shape)
    return out


def sensors(out):
    for sensor in out["sensors"].values():
        if sensor.get("value", 0) is None:
            sensor["value"] = float("nan")
    return out
