"""Figures of results as SVG, drawn by the library (include/sarrus/plot.h): shown by notebooks, saved as files."""
from __future__ import annotations

import ctypes
import os
from ctypes import byref
from typing import Sequence, Union

import numpy as np

from . import _library as L
from ._error import Messages
from ._memory import Handle, address

lib = L.lib
MOST_SERIES = 14  # styles that can be distinguished


class Figure:
    """An SVG: `svg` is its text; save(path) writes it. Notebooks show it."""

    def __init__(self, svg: str):
        self.svg = svg

    def save(self, path: "Union[str, os.PathLike]") -> None:
        """Writes the figure to a file."""
        with open(path, "w", encoding="utf-8") as out:
            out.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self):
        return f"<sarrus.Figure: {len(self.svg)} bytes of SVG>"


def _text(word):
    return word.encode() if word else None


def _label(names):
    """What the names of a panel share: "q" of q.a and q.b; else nothing."""
    stems = {n.partition(".")[0] for n in names}
    return names[0] if len(names) == 1 else stems.pop() if len(stems) == 1 else ""


def _panel(plot, row, names, units, x_name, x_unit):
    shared = {units.get(n, "") for n in names}
    panel = L.struct["srPlotPanel"](x_label=_text(x_name), x_unit=_text(x_unit), y_label=_text(_label(names)),
                                    y_unit=_text(shared.pop()) if len(shared) == 1 else None)
    lib.sr_plot_panel(plot, row, 0, byref(panel))


def _series(plot, row, name, x, y):
    x, y = (np.ascontiguousarray(a, dtype=np.float64) for a in (x, y))
    series = L.struct["srPlotSeries"](name=_text(name), n=x.size, x=address(x), y=address(y))
    lib.sr_plot_series(plot, row, 0, byref(series))  # copies


def draw(result, panels: "Sequence[Sequence[str]]", x: str = "t", title: "str | None" = None) -> Figure:
    """The columns of each panel against the column x, one panel below the other."""
    out = ctypes.c_void_p()
    definition = L.struct["srPlotDef"](title=_text(title), rows=max(1, len(panels)), columns=1)
    if lib.sr_plot_create(byref(definition), byref(out)) != L.OK:
        raise ValueError(f"a figure of {len(panels)} panels cannot be made")
    plot = Handle(out.value, lib.sr_plot_destroy)
    for row, names in enumerate(panels):
        _panel(plot.pointer, row, names, result.units, x, result.units[x])
        for name in names:
            _series(plot.pointer, row, name, result[x], result[name])
    text, size = ctypes.c_void_p(), ctypes.c_size_t()
    with Messages() as said:
        said.check(lib.sr_plot_write_text(plot.pointer, said.pointer, byref(text), byref(size)))
    try:
        return Figure(ctypes.string_at(text.value, size.value).decode())
    finally:
        lib.sr_free_text(text)
