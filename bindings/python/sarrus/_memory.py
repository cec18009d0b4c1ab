"""Memory of the library as numpy arrays: views, no copies. A view keeps alive the memory it refers to."""
import ctypes

import numpy as np

from . import _library as L

_TYPES = {L.DOUBLE: np.dtype(np.float64), L.INT: np.dtype(np.intc), L.LONG: np.dtype(ctypes.c_long), L.BOOL: np.dtype(np.bool_)}


class Handle:
    """Owner of a pointer of the library: destroyed with the last Python object or view that needs it."""

    def __init__(self, pointer, destroy, *needs):
        if not pointer:
            raise MemoryError
        self.pointer, self._destroy, self._needs = pointer, destroy, needs

    def __reduce_ex__(self, protocol):
        raise TypeError("what belongs to the library cannot be pickled or copied this way; use copy(), or save a file")

    def __del__(self):
        if getattr(self, "pointer", None):
            self._destroy(self.pointer)
            self.pointer = None


class _Window:
    def __init__(self, owner, address, shape, strides, dtype, writable):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, not writable), "shape": shape, "strides": strides,
                                    "typestr": dtype.str}


def view(owner, address, shape, dtype=np.float64, strides=None, writable=False):
    dtype = np.dtype(dtype)
    if not address or 0 in shape:
        return np.zeros(shape, dtype)
    return np.asarray(_Window(owner, address, tuple(shape), strides, dtype, writable))


def _one(array):
    if array.type == L.TEXT:
        text = ctypes.c_char_p.from_address(array.data).value
        return text.decode() if text is not None else None
    if array.type == L.CHARS:
        return ctypes.string_at(array.data).decode(errors="replace")
    return {L.DOUBLE: ctypes.c_double, L.INT: ctypes.c_int, L.LONG: ctypes.c_long,
            L.BOOL: ctypes.c_bool}[array.type].from_address(array.data).value


def _texts(array):
    found = (ctypes.c_char_p.from_address(array.data + i * array.stride[0]).value for i in range(array.shape[0]))
    return tuple(x.decode() if x is not None else "" for x in found)


def value(owner, array):
    """What an srArray refers to: a number, a text, a tuple of texts, or a view."""
    if array.ndim == 0:
        return _one(array)
    if array.type == L.TEXT:
        return _texts(array)
    n = array.ndim
    return view(owner, array.data, tuple(array.shape[:n]), _TYPES[array.type], tuple(array.stride[:n]), array.writable)


def vector(x, n, what, names=()):
    """x as n doubles, in a row and finite."""
    out = np.array(x, dtype=np.float64, ndmin=1).ravel()
    if out.size != n:
        told = ": " + ", ".join(names) if names and len(names) <= 40 else ""
        raise ValueError(f"{what} has {out.size} number{'' if out.size == 1 else 's'}, expected {n}{told}")
    if not np.isfinite(out).all():
        raise ValueError(f"{what} holds a number that is not finite")
    return out


def address(x):
    return x.ctypes.data
