"""Tables of results: columns by name."""
import fnmatch
import os
from ctypes import POINTER, byref, c_char_p, c_void_p, cast

import numpy as np

from . import _library as L
from ._error import Messages, nearest
from ._memory import Handle, address, view

lib = L.lib


class Result:
    """result["q.theta"] is a column, a view of `table` (rows x columns); `names` and `units` in the same order. Of a run
    also: `report` (as `sarrus run --json`), `data` (the state at the end), `warnings`."""

    report = data = options = None
    provenance = "sarrus"

    def __init__(self, names, units, table):
        self.names, self.units, self.table, self.warnings = list(names), dict(zip(names, units)), table, []

    def __getitem__(self, name):
        if name not in self.units:
            raise KeyError(f"no column '{name}'{nearest(name, self.names)} There are: {', '.join(self.names)}")
        return self.table[:, self.names.index(name)]

    def __contains__(self, name):
        return name in self.units

    def __iter__(self):
        return iter(self.names)

    def __len__(self):
        return len(self.table)

    @property
    def t(self):
        return self["t"]

    def select(self, pattern):
        """{name: column} of the names that fit: result.select("q.*")."""
        return {n: self[n] for n in self.names if fnmatch.fnmatchcase(n, pattern)}

    def save(self, path):
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

    def __repr__(self):
        return f"<sarrus.Result: {len(self.table)} rows of {', '.join(self.names[:6])}{', ...' if len(self.names) > 6 else ''}>"


def read(path):
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
