"""A model as it was written: elements and attributes, to be read, edited, saved and compiled."""
from __future__ import annotations

import ctypes
import keyword
import os
from typing import Any, Dict, List, Mapping, Sequence, Union

import numpy as np

from . import _library as L
from ._error import NOTE, Messages, nearest, warn
from ._memory import Handle
from ._model import Model

lib = L.lib
Path = Union[str, "os.PathLike[str]"]
Packages = Union[Path, Sequence[Path], Mapping[str, Path]]
Plugins = Union[bool, Path, Sequence[Path]]


class _Field:
    def __init__(self, index, field):
        self.index = index
        self.word, self.kind, self.count = field.word.decode(), field.kind.decode(), field.count.decode()
        self.default, self.unit, self.doc = field.default_text.decode(), field.unit.decode(), field.doc.decode()


class _Kind:
    """An element of the language: its word and its attributes, under their names in Python."""

    def __init__(self, index, element):
        self.index = index
        self.word, self.where, self.doc = element.word.decode(), element.where.decode(), element.doc.decode()
        fields = ctypes.cast(element.fields, ctypes.POINTER(L.Field))
        self.fields = {python_name(f.word): f for f in (_Field(i, fields[i]) for i in range(element.nfield))}

    def field(self, name):
        try:
            return self.fields[python_name(name)]
        except KeyError:
            raise AttributeError(f"<{self.word}> has no attribute '{name}'{nearest(name, self.fields, '.')} "
                                 f"It has: {', '.join(self.fields)}") from None


def python_name(word):
    name = word.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def _kinds():
    out, i = {}, 0
    while True:
        element = lib.srs_element(i)
        if not element:
            return out
        kind = _Kind(i, element.contents)
        out[kind.word] = kind
        i += 1


KINDS = _kinds()
_SINGLE = {"sarrus": "root", "option": "option", "run": "defaults"}
_PLURALS = {"body": "bodies", "mesh": "meshes"}
PLURALS = {_PLURALS.get(w, w + "s"): k for w, k in KINDS.items() if w not in _SINGLE}


def _kind(word):
    if word not in KINDS:
        raise ValueError(f"there is no element <{word}>{nearest(word, KINDS, '.')} There are: {', '.join(KINDS)}")
    return KINDS[word]


# ---------------------------------------------------------------------------------------------------------- attributes
def _numbers(text):
    try:
        return [float(x) for x in text.split()]
    except ValueError:
        return None


def _read(field, attr):
    """A number, an array of numbers, or the text; None: not given."""
    if attr.text is not None:
        text = attr.text.decode()
        numbers = _numbers(text) if field.kind == "FORMULA" else None
        if not numbers:
            return text
        return numbers[0] if len(numbers) == 1 else np.array(numbers)
    if attr.n <= 0:
        return None
    if not attr.numbers:
        return attr.number
    out = np.array((ctypes.c_double * attr.n).from_address(attr.numbers))
    return float(out[0]) if attr.n == 1 else out


def _finite(x, what):
    if not np.isfinite(x).all():
        raise ValueError(f"{what} holds a number that is not finite")
    return x


def _attr(value, what):
    """An srAttr of a Python value, and what must stay alive until it was copied."""
    attr = L.Attr()
    if value is None:
        return attr, None
    if isinstance(value, (str, os.PathLike)):
        attr.text = os.fspath(value).encode()
        return attr, None
    if isinstance(value, bool):
        raise TypeError(f"{what}: write the word as in a file, not {value}")
    if np.ndim(value) == 0:
        attr.number, attr.n = float(_finite(np.float64(value), what)), 1
        return attr, None
    if any(isinstance(x, str) for x in value):  # numbers and formulas mixed
        attr.text = " ".join(x if isinstance(x, str) else repr(float(x)) for x in value).encode()
        return attr, None
    numbers = np.ascontiguousarray(_finite(np.asarray(value, dtype=np.float64), what).ravel())
    if numbers.size == 0:
        raise ValueError(f"{what} is an empty list")
    attr.numbers, attr.n = numbers.ctypes.data, numbers.size
    return attr, numbers


class Element:
    """One element of a model; its attributes are those of the file, - written as _ (from, which Python keeps for itself,
    is from_). Reading gives a number, an array, a text (formulas, names) or None where it is not given."""

    def __init__(self, spec, kind, index):
        self.__dict__.update(_spec=spec, _kind=kind, _index=index)

    def _attributes(self):
        return lib.srs_get(self._spec._handle.pointer, self._kind.index, self._index)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if python_name(name) not in self._kind.fields and self._kind.word == "body":
            return _inside(self._spec, self._index, name)
        field = self._kind.field(name)
        return _read(field, self._attributes()[field.index])

    def __setattr__(self, name, value):
        field = self._kind.field(name)
        attr, _alive = _attr(value, f"{self._kind.word}.{name}")
        if not lib.srs_set(self._spec._handle.pointer, self._kind.index, self._index, field.index, attr):
            raise MemoryError

    def __getitem__(self, word):
        return getattr(self, word)

    def __setitem__(self, word, value):
        setattr(self, word, value)

    def __dir__(self):
        return sorted(self._kind.fields) + (["add", "joint", "inertial", "points", "shapes"] if self.kind == "body" else [])

    def __repr__(self):
        given = self.given()
        return f"<{self._kind.word}" + "".join(f' {w}="{_show(v)}"' for w, v in given.items()) + "/>"

    def __eq__(self, other):
        return isinstance(other, Element) and (self._spec, self._kind, self._index) == (other._spec, other._kind, other._index)

    __hash__ = None

    @property
    def kind(self):
        return self._kind.word

    @property
    def place(self) -> "tuple[str | None, int, int]":
        """(file, line, column) where it was written; (None, 0, 0): by Python."""
        p = lib.srs_place(self._spec._handle.pointer, self._kind.index, self._index)
        return (p.file.decode() if p.file else None, p.line, p.column)

    def given(self) -> Dict[str, Any]:
        """The attributes that are given, by their words in the file."""
        attributes = self._attributes()
        values = ((f.word, _read(f, attributes[f.index])) for f in self._kind.fields.values())
        return {word: value for word, value in values if value is not None}

    def add(self, word: str, **attributes: Any) -> Element:
        """Adds an element to this body."""
        if self.kind != "body":
            raise TypeError(f"<{self.kind}> holds no elements; body and ground do")
        return self._spec._add(word, self._index, attributes)


def _show(value):
    return " ".join(repr(float(x)) for x in value) if isinstance(value, np.ndarray) else value


class Elements:
    """The elements of a kind, all or those of one body: by name or by number, in the order of the file."""

    def __init__(self, spec, kind, owner=None):
        self._spec, self._kind, self._owner = spec, kind, owner

    def _indices(self):
        p, k = self._spec._handle.pointer, self._kind.index
        return [i for i in range(lib.srs_count(p, k)) if self._owner is None or lib.srs_owner(p, k, i) == self._owner]

    def __len__(self):
        return len(self._indices())

    def __iter__(self):
        return (Element(self._spec, self._kind, i) for i in self._indices())

    def __contains__(self, name):
        return name in self.names()

    def names(self):
        return [self._name(i) for i in self._indices()]

    def _name(self, i):
        element = Element(self._spec, self._kind, i)
        name = element.name if "name" in self._kind.fields else None
        if name is None and self._kind.word == "joint":  # named as its body
            name = Element(self._spec, KINDS["body"], lib.srs_owner(self._spec._handle.pointer, self._kind.index, i)).name
        return name

    def __getitem__(self, key):
        found = self._indices()
        if isinstance(key, (int, np.integer)):
            return Element(self._spec, self._kind, found[key])
        names = [self._name(i) for i in found]
        if key not in names:
            known = [n for n in names if n is not None]
            raise KeyError(f"no <{self._kind.word}> '{key}'{nearest(str(key), known, '.')} There are: {', '.join(known) or 'none'}")
        return Element(self._spec, self._kind, found[names.index(key)])

    def __repr__(self):
        return f"[{', '.join(map(repr, self))}]"


def _inside(spec, owner, name):
    """body.joint, body.inertial, body.points, body.shapes."""
    for word, kind in KINDS.items():
        if "body" not in kind.where.split("|"):
            continue
        found = Elements(spec, kind, owner)
        if name == word + "s" or (name == word and word in ("point", "shape")):
            return found
        if name == word:
            return found[0] if len(found) else None
    raise AttributeError(f"<body> has no attribute and no element '{name}'"
                         f"{nearest(name, [*KINDS['body'].fields, 'joint', 'inertial', 'points', 'shapes'])}")


class Ground:
    """What belongs to the ground: points and shapes."""

    def __init__(self, spec):
        self._spec = spec

    @property
    def points(self):
        return Elements(self._spec, KINDS["point"], L.GROUND)

    @property
    def shapes(self):
        return Elements(self._spec, KINDS["shape"], L.GROUND)

    def add(self, word: str, **attributes: Any) -> Element:
        return self._spec._add(word, L.GROUND, attributes)


def _lost(x):
    place = (x.place_file.decode() if x.place_file else None, x.place_line, x.place_column)
    return {"what": x.what.decode(), "reason": x.reason.decode(), "place": place, "effect": ("nothing", "start", "motion")[x.effect]}



class Spec:
    """A model as it was written. `load` makes one of a file; Spec() is empty.

    bodies, joints, sensors, ... are its elements; ground; option, defaults (`<run>`) and root (`<sarrus>`) stand there
    once. `add` adds one; attributes are set by assignment. Nothing is checked before `compile`.
    """

    def __init__(self, name=None):
        self._handle, self.warnings, self.notes = Handle(lib.srs_create(), lib.srs_destroy), [], []
        self.add("sarrus", version="1", name=name)

    def __getattr__(self, name):
        if name in PLURALS:
            return Elements(self, PLURALS[name])
        raise AttributeError(f"a model has no '{name}'{nearest(name, [*PLURALS, *_SINGLE.values(), 'ground'])}")

    def __dir__(self):
        return sorted([*super().__dir__(), *PLURALS])

    def elements(self, word):
        return Elements(self, _kind(word))

    def _single(self, word):
        found = Elements(self, KINDS[word])
        return found[0] if len(found) else self._add(word, L.NO_OWNER, {})

    root = property(lambda self: self._single("sarrus"))
    option = property(lambda self: self._single("option"))
    defaults = property(lambda self: self._single("run"))
    ground = property(Ground)

    def add(self, word: str, body: "str | None" = None, **attributes: Any) -> Element:
        """Adds an element: m.add("sensor", name="tip", point="lower/tip"). What belongs inside a body is added to it:
        m.bodies["lower"].add("point", name="tip", at=[0, 0, -1])."""
        kind = _kind(word)
        if body is not None and "body" in kind.fields:  # <force body=...>
            attributes["body"], body = body, None
        inside = "body" in kind.where.split("|")
        if inside and body is None:
            raise ValueError(f"<{word}> belongs inside a body: m.bodies[NAME].add('{word}', ...)")
        owner = L.NO_OWNER if body is None else L.GROUND if body == "ground" else self.bodies[body]._index
        return self._add(word, owner, attributes)

    def _add(self, word, owner, attributes):
        kind = _kind(word)
        allowed = kind.where.split("|")
        here = "ground" if owner == L.GROUND else "body" if owner >= 0 else "sarrus"
        if here not in allowed and kind.where:
            raise ValueError(f"<{word}> belongs inside <{'> or <'.join(allowed)}>, not inside <{here}>")
        definition, alive = (L.Attr * len(kind.fields))(), []
        for name, value in attributes.items():
            field = kind.field(name)
            definition[field.index], keep = _attr(value, f"{word}.{name}")
            alive.append(keep)
        i = lib.srs_add(self._handle.pointer, kind.index, owner, ctypes.addressof(definition), None)
        if i < 0:
            raise MemoryError
        return Element(self, kind, i)

    def text(self) -> str:
        """As a model file."""
        size = ctypes.c_size_t()
        pointer = lib.sr_save_text(self._handle.pointer, ctypes.byref(size))
        if not pointer:
            raise MemoryError
        try:
            return ctypes.string_at(pointer, size.value).decode()
        finally:
            lib.sr_free_text(pointer)

    def save(self, path: Path, format: "str | None" = None) -> List[Dict[str, Any]]:
        """Writes a model file: "sarrus" (the native format), "urdf" or "mjcf"; without a format by the name of the file,
        .urdf or .mjcf, else our own. Returns what the format cannot say, as a list of {what, reason, place, effect}; effect is
        "nothing", "start" (the initial state) or "motion" (the equations)."""
        if format is None:
            ending = os.path.splitext(os.fsdecode(path))[1]
            format = ending[1:] if ending in (".urdf", ".mjcf") else "sarrus"
        if format == "mjcf":  # MuJoCo does not close loops itself
            closed = ctypes.c_void_p()
            if lib.sr_assembled_spec(self._handle.pointer, None, ctypes.byref(closed)) == L.OK:
                return self._save_as(Handle(closed.value, lib.srs_destroy), path, format)
        return self._save_as(self._handle, path, format)

    @staticmethod
    def _save_as(handle, path, format):
        if format == "sarrus":
            with Messages() as said:
                said.check(lib.sr_save(handle.pointer, os.fsencode(path), said.pointer))
            return []
        out = ctypes.POINTER(L.struct["srConversion"])()
        with Messages() as said:
            status = lib.sr_save_as(handle.pointer, format.encode(), os.fsencode(path), said.pointer, ctypes.byref(out))
            warn(said.check(status))
        try:
            lost = ctypes.cast(out.contents.lost, ctypes.POINTER(L.struct["srLost"]))
            return [_lost(lost[i]) for i in range(out.contents.nlost)]
        finally:
            lib.sr_conversion_destroy(out)

    def _snapshot(self):
        return Handle(lib.srs_copy(self._handle.pointer), lib.srs_destroy)

    def copy(self) -> Spec:
        """Another one like it: edits of one do not reach the other."""
        return Spec._of_handle(self._snapshot(), list(self.warnings), list(self.notes))

    @staticmethod
    def _of_handle(handle, warnings=(), notes=()):
        spec = Spec.__new__(Spec)
        spec._handle, spec.warnings, spec.notes = handle, warnings, notes
        return spec

    def compile(self, formulation: str = "relative", live: Sequence[str] = ()) -> Model:
        """Checks everything and makes the Model. All errors at once: sarrus.Error.

        live: names of parameters that data.parameters may change between steps, as live="yes" in the file; only laws may use them."""
        if live:
            spec = self.copy()
            for name in live:
                spec.parameters[name].live = "yes"
            return spec.compile(formulation)
        out = ctypes.c_void_p()
        with Messages() as said:
            warnings = said.check(lib.sr_compile(self._handle.pointer, said.pointer, ctypes.byref(out)))
            notes = said.all(NOTE)
        warn(warnings)
        model = Model(Handle(out.value, lib.sr_model_destroy), self._snapshot(), self.warnings + warnings,
                      self.notes + notes)
        return model if formulation == "relative" else model.formulated(formulation)

    def lock_massless(self) -> List[str]:
        """Holds joints that nothing with mass moves with where they start, as --lock-massless; what was held, as texts."""
        with Messages() as said:
            held = said.check(lib.sr_lock_massless(self._handle.pointer, said.pointer))
        self.warnings = self.warnings + held
        return held

    def check(self, formulation: str = "relative") -> Dict[str, Any]:
        """Topology and degrees of freedom, as `sarrus check --json`."""
        return self.compile().check(formulation)

    def __repr__(self):
        return f"<sarrus.Spec {self.root.name or 'model'}: {len(self.bodies)} bodies, {len(self.joints)} joints>"


# ------------------------------------------------------------------------------------------------------------- loading
def _options(settings, base, packages, plugins):
    """srLoadOptions, and what it points to."""
    items = (L.struct["srSetting"] * max(1, len(settings)))()
    for item, (name, value) in zip(items, settings.items()):
        item.name = name.encode()
        item.value = value.encode() if isinstance(value, str) else repr(float(value)).encode()
    if isinstance(packages, (str, os.PathLike)):
        packages = [packages]
    if isinstance(packages, dict):
        packages = [f"{name}={os.fspath(folder)}" for name, folder in packages.items()]
    folders = (ctypes.c_char_p * max(1, len(packages)))(*[os.fsencode(p) for p in packages])
    options = L.struct["srLoadOptions"]()
    options.settings, options.nsetting = ctypes.addressof(items), len(settings)
    options.base = base.encode() if base is not None else None
    options.packages, options.npackage = ctypes.addressof(folders), len(packages)
    options.plugins = plugins is not False and plugins is not None
    if isinstance(plugins, (str, os.PathLike)):
        plugins = [plugins]
    allowed = [] if plugins in (True, False, None) else [os.fsencode(p) for p in plugins]
    if options.plugins and plugins is not True and not allowed:
        raise ValueError("plugins is True, a folder, or a list of at least one folder")
    libraries = (ctypes.c_char_p * max(1, len(allowed)))(*allowed)
    options.plugin_folders, options.nplugin_folder = ctypes.addressof(libraries), len(allowed)
    return options, (items, folders, libraries)


def _made(read, settings, base, packages, plugins):
    options, _alive = _options(dict(settings or {}), base, packages, plugins)
    out = ctypes.c_void_p()
    with Messages() as said:
        warnings = said.check(read(ctypes.addressof(options), said.pointer, ctypes.byref(out)))
        notes = said.all(NOTE)
    warn(warnings, 4)
    return Spec._of_handle(Handle(out.value, lib.srs_destroy), warnings, notes)


def load(path: Path, set: "Mapping[str, float | str] | None" = None, base: "str | None" = None, package: Packages = (),
         plugins: Plugins = False) -> Spec:
    """Reads a model file: native, URDF, xacro, MJCF or ROBOTRAN, detected by its root element.

    set: {NAME: VALUE} overrides parameters, as --set; base: "fixed" or "floating", of a URDF; package: where package:// is
    searched for, as --package: a folder, a list of them or {NAME: FOLDER}; plugins: True lets code of libraries run that the
    model names, in its folder; a folder or a list of them: in these, as --plugins."""
    return _made(lambda options, said, out: lib.sr_load(os.fsencode(path), options, said, out), set, base, package, plugins)


def loads(text: str, name: str = "text", folder: "Path | None" = None, set: "Mapping[str, float | str] | None" = None,
          base: "str | None" = None, package: Packages = (), plugins: Plugins = False) -> Spec:
    """The same from a text. Files that it names are searched for in folder, and refused where there is none."""
    data = text.encode()
    where = os.fsencode(folder) if folder is not None else None
    return _made(lambda options, said, out: lib.sr_load_text(data, len(data), name.encode(), where, options, said, out),
                 set, base, package, plugins)

