"""Results as pages (docs/using/page.md): animation and plots in one HTML file, in the browser and in notebooks."""
from __future__ import annotations

import ctypes
import html
import json
import os
import pathlib
import tempfile
import webbrowser
from ctypes import byref, c_char_p, c_void_p, cast

import numpy as np

from . import _library as L
from ._error import Error, Messages
from ._memory import Handle, address

lib = L.lib
MOST_ROWS = 600  # in a notebook: its file keeps what it shows
HEIGHT = 420     # of the frame there, pixels


def front():
    """The front end: next to the library of a build, or in the tree where that is installed. None: this build has none."""
    for folder in (L.path.parent, *L.path.parents):
        file = pathlib.Path(folder) / "share" / "sarrus" / "page" / "page.html"
        if file.is_file():
            return file
    return None


def _plain(x):
    """What JSON knows."""
    if isinstance(x, dict):
        return {k: _plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [_plain(v) for v in x]
    if isinstance(x, np.ndarray):
        return _plain(x.tolist())
    if isinstance(x, (np.floating, float)):
        return float(x) if np.isfinite(x) else None
    return x.item() if isinstance(x, np.generic) else x


def _columns(result):
    names = (c_char_p * len(result.names))(*[n.encode() for n in result.names])
    units = (c_char_p * len(result.names))(*[result.units[n].encode() for n in result.names])
    columns = L.struct["srColumns"](count=len(result.names), names=cast(names, c_void_p).value, units=cast(units, c_void_p).value)
    columns._keep = names, units
    return columns


def write(result, path, options=None, every=1):
    """The page of a run; every: each so many rows, and the last one."""
    file = front()
    if file is None:
        raise Error("this build has no front end for pages: install nodejs and npm, run `npm ci` in the folder page/ of the sources, build again")
    if result.model is None:
        raise Error("a page shows the run of a model: this table comes from a file, or is not of a run")
    model, out = result.model, c_void_p()
    columns, data = _columns(result), model.data()
    rows = np.ascontiguousarray(result.table, dtype=np.float64)
    with Messages() as said:
        said.check(lib.sr_page_create_table(model._handle.pointer, byref(columns), said.pointer, byref(out)))
        page = Handle(out.value, lib.sr_page_destroy)
        for i in dict.fromkeys([*range(0, len(rows), every), len(rows) - 1] if len(rows) else []):
            said.check(lib.sr_page_table_row(page.pointer, model._of(data)[1], address(rows[i])))
        report = json.dumps(_plain(result.report or {})).encode()
        definition = L.struct["srPageDef"](front=os.fsencode(file), report=report, provenance=result.provenance.encode(), options=options)
        said.check(lib.sr_page_write(page.pointer, byref(definition), os.fsencode(path), said.pointer, None))


def show(result):
    """Writes the page into a temporary file, which stays, and opens it in the browser. Returns its path."""
    handle, path = tempfile.mkstemp(suffix=".html", prefix="sarrus-")
    os.close(handle)
    write(result, path)
    webbrowser.open(pathlib.Path(path).as_uri())
    return path


def frame(result):
    """The page as a frame for notebooks: it may run its script, and nothing else. None: there is no page of this result."""
    if result.model is None or front() is None or len(result) < 2:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        write(result, path, b"embed=1&play=0", every=max(1, -(-len(result) // MOST_ROWS)))
        with open(path, encoding="utf-8") as file:
            text = file.read()
    return (f'<iframe sandbox="allow-scripts" style="width:100%;height:{HEIGHT}px;border:1px solid #cfd4dc;border-radius:8px" '
            f'title="Sarrus" srcdoc="{html.escape(text, quote=True)}"></iframe>')
