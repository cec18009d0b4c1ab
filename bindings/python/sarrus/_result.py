"""Tables of results: columns by name, rows by number or time, figures."""
from __future__ import annotations

import fnmatch
import html
import os
from ctypes import POINTER, byref, c_char_p, c_void_p, cast
from typing import Any, Dict, Iterator, List, Sequence, Union

import numpy as np

from . import _library as L
from . import _page
from ._error import Messages, nearest
from ._figure import MOST_SERIES, Figure, draw
from ._memory import Handle, address, view

lib = L.lib
Patterns = Union[str, Sequence[str]]


class Result:
    """A table of results: what model.run, sarrus.run and sarrus.read return.

    result["q.theta"]           a column, a view of `table` (rows x columns); `names` and `units` in the same order
    result[["t", "q.theta"]]    some columns, as an array
    result[5], result[-1]       a row, as {name: number};  result[10:20]  some rows, as a Result
    result.at(0.35)             the row at a time, interpolated
    result.select("q.*")        {name: column}
    result.figure("q.*")        drawn
    result.show()               a run in the browser: animation, plots, report; notebooks show it by themselves

    Of a run also: `report` (as `sarrus run --json`), `data` (the state at the end), `warnings`."""

    report: "Dict[str, Any] | None" = None
    data = options = None
    model = None  # of a run: the model, in relative coordinates
    notebook = "page"  # what notebooks show of a run: "page" (0.9 MB each), or "figure"
    provenance = "sarrus"

    def __init__(self, names: Sequence[str], units: Sequence[str], table: np.ndarray):
        self.names: List[str] = list(names)
        self.units: Dict[str, str] = dict(zip(names, units))
        self.table, self.warnings = table, []
        self._index = {n: i for i, n in enumerate(self.names)}

    def _column(self, name):
        if name not in self._index:
            raise KeyError(f"no column '{name}'{nearest(name, self.names, '.')} There are: {', '.join(self.names)}")
        return self._index[name]

    def __getitem__(self, key):
        if isinstance(key, str):
            return self.table[:, self._column(key)]
        if isinstance(key, (int, np.integer)):
            return dict(zip(self.names, self.table[key].tolist()))
        if isinstance(key, slice) or (isinstance(key, np.ndarray) and key.dtype != object and key.dtype.kind in "bi"):
            return self._rows(self.table[key])
        return self.table[:, [self._column(name) for name in key]]

    def _rows(self, table):
        out = Result(self.names, list(self.units.values()), table)
        out.report, out.data, out.options, out.provenance, out.model = self.report, self.data, self.options, self.provenance, self.model
        return out

    def __contains__(self, name: str) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def keys(self) -> List[str]:
        return self.names

    def __len__(self) -> int:
        return len(self.table)

    @property
    def t(self) -> np.ndarray:
        """The times of the rows."""
        return self["t"]

    def at(self, t: float) -> Dict[str, float]:
        """The row at time t: the row itself where there is one, else between its neighbours on a straight line."""
        times = self.t
        if not times[0] <= t <= times[-1]:
            raise ValueError(f"t = {t:g} s is outside of the results, {times[0]:g} to {times[-1]:g} s")
        return {n: float(np.interp(t, times, self.table[:, i])) for i, n in enumerate(self.names)}

    def select(self, pattern: str) -> Dict[str, np.ndarray]:
        """{name: column} of the names that fit: result.select("q.*")."""
        return {n: self[n] for n in self.names if fnmatch.fnmatchcase(n, pattern)}

    def records(self) -> np.ndarray:
        """The table as a structured array: records()["q.theta"][3]."""
        kind = np.dtype([(n, np.float64) for n in self.names])
        return np.ascontiguousarray(self.table).view(kind).reshape(len(self))

    def save(self, path: "Union[str, os.PathLike]") -> None:
        """CSV, or HDF5 where the name ends in .h5 or .hdf5 and the library has it."""
        names = (c_char_p * len(self.names))(*[n.encode() for n in self.names])
        units = (c_char_p * len(self.names))(*[self.units[n].encode() for n in self.names])
        out = c_void_p()
        with Messages() as said:
            said.check(lib.sr_table_create(os.fsencode(path), self.provenance.encode(), len(self.names), cast(names, c_void_p),
                                           cast(units, c_void_p), said.pointer, byref(out)))
            status = L.OK
            for row in np.ascontiguousarray(self.table, dtype=np.float64):
                status = status or lib.sr_table_row(out, address(row))
            closed = lib.sr_table_close(out, said.pointer)
            said.check(status or closed, f"{os.fspath(path)} could not be written to its end")

    # ---------------------------------------------------------------------------------------------------------- pictures
    def figure(self, *panels: Patterns, x: str = "t", title: "str | None" = None) -> Figure:
        """Columns against x, a panel for each argument: result.figure("q.*", ["kinetic", "potential"]). Without an argument: the positions and
        the velocities."""
        self._column(x)
        wanted = [self._fitting([p] if isinstance(p, str) else p) for p in panels]
        if not wanted:
            known = (self._some("q.*"), self._some("v.*"))
            wanted = [names for names in known if names] or [[n for n in self.names if n != x][:MOST_SERIES]]
        return draw(self, wanted, x, title)

    def _some(self, pattern):
        return fnmatch.filter(self.names, pattern)[:MOST_SERIES]

    def _fitting(self, patterns):
        out = []
        for pattern in patterns:
            found = fnmatch.filter(self.names, pattern)
            if not found:
                self._column(pattern)  # KeyError, with the nearest
            out += [n for n in found if n not in out]
        return out

    def page(self, path: "Union[str, os.PathLike]") -> None:
        """Writes a run as a page for any browser: animation, plots and report in one HTML file."""
        _page.write(self, path)

    def show(self) -> str:
        """Opens a run in the browser, as a page in a temporary file. Returns its path."""
        return _page.show(self)

    def _repr_html_(self) -> str:
        frame = _page.frame(self) if self.notebook == "page" else None
        if frame:
            return f"<p>{html.escape(repr(self))}</p>{frame}"
        ends = [i for i in (0, len(self) - 1) if len(self)]
        head = "".join(f"<th>{html.escape(n)}{' [' + html.escape(self.units[n]) + ']' if self.units[n] else ''}</th>"
                       for n in self.names[:8])
        rows = "".join("<tr>" + "".join(f"<td>{x:.6g}</td>" for x in self.table[i, :8]) + "</tr>" for i in dict.fromkeys(ends))
        figure = self.figure().svg if len(self) > 1 and "t" in self else ""
        return f"<p>{html.escape(repr(self))}</p>{figure}<table><tr>{head}</tr>{rows}</table>"

    def __repr__(self):
        return f"<sarrus.Result: {len(self.table)} rows of {', '.join(self.names[:6])}{', ...' if len(self.names) > 6 else ''}>"


def read(path: "Union[str, os.PathLike]") -> Result:
    """A table of results that was written by `sarrus run --out`, or by another program: CSV or HDF5, detected by content."""
    out = POINTER(L.struct["srResultTable"])()
    with Messages() as said:
        warnings = said.check(lib.sr_table_read(os.fsencode(path), said.pointer, byref(out)))
    handle = Handle(cast(out, c_void_p).value, lib.sr_table_destroy)
    x = out.contents
    starts = (c_void_p * x.ncolumn).from_address(x.columns) if x.ncolumn else ()
    columns = [view(handle, start, (x.nrow,)) for start in starts]
    # Columns are apart from each other in the library's memory: one copy makes the table.
    table = np.array(columns).T if columns else np.zeros((0, 0))
    result = Result(L.text_list(x.names, x.ncolumn), L.text_list(x.units, x.ncolumn), table)
    result.warnings = warnings
    return result
