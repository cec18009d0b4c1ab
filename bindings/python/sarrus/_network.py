"""Networks of components (docs/using/network.md): the functions of include/sarrus/network.h without their prefix, signals by name, components
in Python.

    n = sarrus.Network()
    n.mass("m", 2, p=[0.3, 0, 0])
    n.impedance("spring", "joint-spring", [30, 0])
    n.attach("spring", n.terminal_part(n.mass_terminal("m"), 0, 1))
    n.ready()
    n.step(1e-3, 1000)
    n["m.x"]
"""
from __future__ import annotations

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, byref, c_double, c_int, c_void_p
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np

from . import _library as L
from ._error import ERROR, WARNING, Error, Stopped, _message, nearest, warn
from ._memory import Handle, address, vector, view
from ._model import Data, Model
from ._spec import _options

lib = L.lib
Component = Union[int, str]
Signal = Union[int, str]
Names = Union[int, Sequence[str]]
INPUT, OUTPUT, STATE = range(3)  # srSignal
_KINDS = ("input", "output", "state")
_COMPONENT_KINDS = ("admittance", "impedance", "impedance", "map")  # srComponentKind

_AdmittanceIn, _ImpedanceIn, _ImpedanceOut = L.struct["srAdmittanceIn"], L.struct["srImpedanceIn"], L.struct["srImpedanceOut"]
_ADMITTANCE = CFUNCTYPE(c_int, POINTER(_AdmittanceIn), c_void_p)
_ELEMENT = CFUNCTYPE(c_int, c_void_p, POINTER(_ImpedanceIn), POINTER(_ImpedanceOut))
_MAP = CFUNCTYPE(c_int, c_void_p, c_double, c_void_p, c_void_p)
Terminal = L.struct["srTerminal"]


def _pointer(function):
    return ctypes.cast(function, c_void_p).value


def _array(place, n):
    return np.frombuffer((c_double * n).from_address(place), dtype=np.float64) if n and place else np.zeros(0)


def _frozen(place, n):
    out = _array(place, n)
    out.flags.writeable = False
    return out


def _count(names: Names) -> int:
    return names if isinstance(names, int) else len(names)


def _three(x, what):
    return vector(x, 3, what) if x is not None else None


class Network:
    """A network that is built call by call, or read from a file (Network.load). Components are numbered in the order they are added, and
    may be named wherever their number is expected; so may their signals. sarrus.Error where the library refuses something."""

    def __init__(self) -> None:
        self._messages = Handle(lib.sr_messages_create(), lib.sr_messages_destroy)
        self._take(Handle(lib.sr_network_create(self._messages.pointer), lib.sr_network_destroy, self._messages))

    def _take(self, handle, pointer=None):
        self._handle, self._p = handle, pointer or handle.pointer
        self._said = 0         # messages that were raised or warned of already
        self._kept = []        # models, callbacks: as long as the network
        self._raised = None    # exception of a component in Python
        self.warnings = []
        self.options = None    # of <run>: method, t_end, step, every, threads; None: no file

    @classmethod
    def load(cls, path, set=None, packages=(), plugins=False) -> Network:
        """The network of a file (root <network>), still to be made ready. set, packages and plugins as those of sarrus.load."""
        options, _alive = _options(dict(set or {}), None, packages, plugins)
        n = cls.__new__(cls)
        n._messages = Handle(lib.sr_messages_create(), lib.sr_messages_destroy)
        out = POINTER(L.struct["srNetworkFile"])()
        status = lib.sr_network_load(os.fsencode(path), ctypes.addressof(options), n._messages.pointer, byref(out))
        n._said, n.warnings = 0, []
        if status != L.OK:
            n._check(status)
        file = out.contents
        handle = Handle(ctypes.addressof(file), lib.sr_network_file_destroy, n._messages)
        n._take(handle, file.network)
        n.options = {"method": file.options_method.decode(), "t_end": file.options_t_end, "step": file.options_step,
                     "every": file.options_every or None, "threads": file.options_threads}
        n._check(L.OK)
        return n

    # ---------------------------------------------------------------------------------------------------------- messages
    def _new_messages(self):
        count = lib.sr_messages_count(self._messages.pointer)
        found = [_message(lib.sr_messages_get(self._messages.pointer, i)) for i in range(self._said, count)]
        self._said = count
        return found

    def _check(self, status):
        """Raises what went wrong since the last call, and warns of the rest."""
        found = self._new_messages()
        warnings = [m for m in found if m.severity == WARNING]
        self.warnings += warnings
        warn(warnings, 4)
        if status == L.OK:
            return
        if status == L.MEMORY:
            raise MemoryError
        raise Error([m for m in found if m.severity == ERROR] or [lib.sr_status_text(status).decode()], 2)

    def _added(self, i):
        self._check(L.OK if i >= 0 else L.INPUT)
        return i

    def _terminal(self, t):
        self._check(L.OK if t.n > 0 else L.INPUT)
        return t

    def _stepped(self, status):
        if status == L.OK:
            return
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        raise Stopped([lib.sr_network_error_message(self._p).decode(errors="replace")], None)

    # -------------------------------------------------------------------------------------------------- names and numbers
    def _component(self, c: Component) -> int:
        if not isinstance(c, str):
            return int(c)
        i = lib.sr_network_find(self._p, c.encode())
        if i < 0:
            raise KeyError(f"there is no component '{c}'{nearest(c, self.components)}")
        return i

    def _signal(self, component: int, kind: int, s: Signal) -> int:
        if not isinstance(s, str):
            return int(s)
        i = lib.sr_network_signal_find(self._p, component, kind, s.encode())
        if i < 0:
            known = self._names(component, kind)
            raise KeyError(f"'{self._name(component)}' has no {_KINDS[kind]} '{s}'{nearest(s, known, '.')} It has: {', '.join(known) or 'none'}")
        return i

    def _name(self, component):
        found = lib.sr_network_component(self._p, component).name
        return found.decode() if found else str(component)

    def _names(self, component, kind):
        count = lib.sr_network_signals(self._p, component, kind)
        found = (lib.sr_network_signal_name(self._p, component, kind, i) for i in range(count))
        return [x.decode() if x else str(i) for i, x in enumerate(found)]

    @property
    def components(self) -> dict:
        """{name: kind} of all components; those that the library adds (maps of terminals) have the name of another and are left out."""
        out = {}
        for i in range(len(self)):
            info = lib.sr_network_component(self._p, i)
            out.setdefault(info.name.decode(), _COMPONENT_KINDS[info.kind])
        return out

    def signals(self, component: Component) -> dict:
        """{"input": [...], "output": [...], "state": [...]} of a component: names, or numbers as texts."""
        i = self._component(component)
        return {word: self._names(i, kind) for kind, word in enumerate(_KINDS)}

    def set_names(self, component: Component, inputs: Optional[Sequence[str]] = None, outputs: Optional[Sequence[str]] = None,
                  states: Optional[Sequence[str]] = None) -> None:
        """Names all signals of a kind."""
        i = self._component(component)
        for kind, names in enumerate((inputs, outputs, states)):
            if names is None or isinstance(names, int):
                continue
            count = lib.sr_network_signals(self._p, i, kind)
            if len(names) != count:
                raise ValueError(f"'{self._name(i)}' has {count} {_KINDS[kind]}s, not {len(names)}")
            texts = (ctypes.c_char_p * max(1, count))(*[x.encode() for x in names])
            self._check(lib.sr_network_set_names(self._p, i, kind, ctypes.addressof(texts), None))

    def _place(self, name):
        """(component, kind, index) of "table.rate", "input(table).torque", "state(bearing).0"."""
        for kind, word in ((INPUT, "input("), (STATE, "state(")):
            if name.startswith(word) and ")." in name:
                component, _, signal = name[len(word):].partition(").")
                i = self._component(component)
                return i, kind, self._signal(i, kind, signal)
        dot = name.find(".")
        while dot >= 0:
            i = lib.sr_network_find(self._p, name[:dot].encode())
            if i >= 0:
                return i, OUTPUT, self._signal(i, OUTPUT, name[dot + 1:])
            dot = name.find(".", dot + 1)
        raise KeyError(f"'{name}' is no signal: COMPONENT.SIGNAL, input(COMPONENT).SIGNAL or state(COMPONENT).SIGNAL was expected")

    def __getitem__(self, name: str) -> float:
        """A signal as last evaluated (evaluate() does it at the present state), or a state: n["table.rate"], n["state(table).angle"]."""
        i, kind, k = self._place(name)
        return float((self.input, self.output, self.state)[kind](i)[k])

    def __setitem__(self, name: str, value: float) -> None:
        i, kind, k = self._place(name)
        if kind != STATE:
            raise KeyError(f"'{name}' is computed: only states can be set, as state(COMPONENT).SIGNAL")
        self.state(i)[k] = vector(value, 1, name)[0]

    # --------------------------------------------------------------------------------------------------------- components
    def mass(self, name: str, mass: float, p=None, v=None) -> int:
        """Point mass: outputs x y z vx vy vz, inputs fx fy fz."""
        p, v = _three(p, "p"), _three(v, "v")
        return self._added(lib.sr_network_mass(self._p, name.encode(), mass, address(p) if p is not None else None,
                                               address(v) if v is not None else None))

    def body(self, name: str, mass: float, inertia, p=(0, 0, 0), v=(0, 0, 0), q=(1, 0, 0, 0), w=(0, 0, 0)) -> int:
        """Rigid body; inertia: 3 x 3, or its three diagonal elements, in body axes; w in inertial axes."""
        J = np.array(inertia, dtype=np.float64)
        J = np.diag(J) if J.shape == (3,) else J
        d = L.struct["srRigidDef"]()
        d.mass = mass
        d.inertia[:] = vector(J, 9, "inertia")
        d.p[:], d.v[:], d.q[:], d.w[:] = vector(p, 3, "p"), vector(v, 3, "v"), vector(q, 4, "q"), vector(w, 3, "w")
        return self._added(lib.sr_network_body(self._p, name.encode(), byref(d)))

    def multibody(self, name: str, model: Model, data: Optional[Data] = None, points: Sequence[str] = ()) -> int:
        """A mechanism: a compiled model, from the state of data, with points where terminals are wanted."""
        texts = (ctypes.c_char_p * max(1, len(points)))(*[x.encode() for x in points])
        self._kept.append(model._handle)
        d = data._handle.pointer if data is not None else None
        return self._added(lib.sr_network_multibody(self._p, name.encode(), model._handle.pointer, d, ctypes.addressof(texts), len(points)))

    def _guard(self, name, function, *results):
        """Calls function; its results into memory of the library. 0, or -1 with the exception kept."""
        try:
            got = function()
            got = got if len(results) > 1 else (got,)
            if len(got) != len(results):
                raise ValueError(f"the component '{name}' returned {len(got)} arrays, expected {len(results)}")
            for (place, n, what), x in zip(results, got):
                values = np.asarray(x, dtype=np.float64).ravel()
                if values.size != n:
                    raise ValueError(f"the component '{name}' returned {values.size} {what}, expected {n}")
                _array(place, n)[:] = values
            return 0
        except BaseException as error:  # of the user's code: raised by step, where the library returns
            self._raised = error
            return -1

    def admittance(self, name: str, rates: Optional[Callable] = None, motion: Optional[Callable] = None, states: Names = (),
                   inputs: Names = (), outputs: Names = (), x0=None, law: Optional[str] = None, parameters=()) -> int:
        """An admittance in Python: rates(t, x, u) returns the rates of the states, motion(t, x) the outputs; states, inputs and outputs are their
        names, or how many there are. Or one of a plugin: law and parameters."""
        p = np.array(parameters, dtype=np.float64).ravel()
        if law is not None:
            found = lib.sr_network_find_admittance(self._p, law.encode())
            if not found:
                raise KeyError(f"there is no admittance '{law}' in a library that was loaded by plugin()")
            return self._added(lib.sr_network_admittance(self._p, name.encode(), found, address(p), p.size, None))
        nx, nu, nout = _count(states), _count(inputs), _count(outputs)

        def on_rates(i, xdot):
            c = i.contents
            return self._guard(name, lambda: rates(c.t, _frozen(c.x, nx), _frozen(c.u, nu)), (xdot, nx, "rates"))

        def on_motion(i, out):
            c = i.contents
            return self._guard(name, lambda: motion(c.t, _frozen(c.x, nx)), (out, nout, "outputs"))
        start = vector(x0, nx, "x0") if x0 is not None and nx else np.zeros(max(1, nx))
        a, calls = L.struct["srAdmittance"](), (_ADMITTANCE(on_rates), _ADMITTANCE(on_motion))
        a.nx, a.nu, a.nout, a.x0 = nx, nu, nout, address(start)
        a.rates, a.motion = map(_pointer, calls)
        self._kept.append(calls)
        i = self._added(lib.sr_network_admittance(self._p, name.encode(), ctypes.addressof(a), None, 0, None))
        self.set_names(i, inputs, outputs, states)
        return i

    def element(self, name: str, evaluate: Callable, positions: Names = (), velocities: Names = (), forces: Names = (), states: Names = (),
                y0=None) -> int:
        """An impedance in Python: evaluate(t, tau, x, xdot, y) returns the forces, and with states (forces, rates of the states)."""
        nx, nv, nf, ny = map(_count, (positions, velocities, forces, states))

        def on_evaluate(_self, i, o):
            c, out = i.contents, o.contents
            results = ((out.f, nf, "forces"), (out.ydot, ny, "rates"))[:2 if ny else 1]
            return self._guard(name, lambda: evaluate(c.t, c.tau, _frozen(c.x, nx), _frozen(c.xdot, nv), _frozen(c.y, ny)), *results)
        start = vector(y0, ny, "y0") if y0 is not None and ny else np.zeros(max(1, ny))
        form, call = L.struct["srElementForm"](), _ELEMENT(on_evaluate)
        form.nx, form.nxdot, form.nf, form.ny, form.y0, form.evaluate = nx, nv, nf, ny, address(start), _pointer(call)
        self._kept.append(call)
        i = self._added(lib.sr_network_element(self._p, name.encode(), byref(form), None))
        named = not isinstance(positions, int) and not isinstance(velocities, int)
        self.set_names(i, [*positions, *velocities] if named else None, forces, states)
        return i

    def map(self, name: str, inputs: Names, outputs: Names, evaluate: Callable) -> int:
        """A function of signals in Python: evaluate(t, u) returns the outputs."""
        nin, nout = _count(inputs), _count(outputs)

        def on_evaluate(_self, t, u, out):
            return self._guard(name, lambda: evaluate(t, _frozen(u, nin)), (out, nout, "outputs"))
        call = _MAP(on_evaluate)
        self._kept.append(call)
        i = self._added(lib.sr_network_map(self._p, name.encode(), nin, nout, _pointer(call), None))
        self.set_names(i, inputs, outputs)
        return i

    def impedance(self, name: str, law: str, parameters=()) -> int:
        """An impedance by the name of its law: joint-spring, joint-damper, joint-stop, distance-spring, bushing, hinge, or one of a plugin."""
        found = lib.sr_network_find_impedance(self._p, law.encode())
        if not found:
            raise KeyError(f"there is no impedance '{law}': neither built in nor of a library that was loaded by plugin()")
        p = np.array(parameters, dtype=np.float64).ravel()
        return self._added(lib.sr_network_impedance(self._p, name.encode(), found, address(p), p.size))

    @staticmethod
    def _law(find, defaults, what, law, parameters):
        found = find(law.encode())
        if not found:
            raise KeyError(f"there is no {what} '{law}'")
        p = defaults()
        known = [field for field, _ in p._fields_ if not field.startswith("_")]
        for key, x in parameters.items():
            if key not in known:
                raise TypeError(f"a {what} has no parameter '{key}'{nearest(key, known, '.')} It has: {', '.join(known)}")
            setattr(p, key, x)
        return found, p

    def friction(self, name: str, law: str, Fs: float, Fk: Optional[float] = None, n: int = 1, **parameters: float) -> int:
        """Dry friction over n velocities; parameters: K, B, D, v0, ... (include/sarrus/friction.h)."""
        found, p = self._law(lib.sr_friction_find, lib.sr_friction_defaults, "friction law", law, parameters)
        return self._added(lib.sr_network_friction(self._p, name.encode(), found, byref(p), n, Fs, Fs if Fk is None else Fk))

    def plane(self, name: str, point=(0, 0, 0), normal=(0, 0, 1), normal_law: str = "kelvin-voigt", normal_p: Optional[dict] = None,
              friction: Optional[str] = None, friction_p: Optional[dict] = None, mu_s: float = 0.0, mu_k: Optional[float] = None) -> int:
        """A point on a plane; normal_p: K, n, e, D; friction_p: K, B, D, ..."""
        d = L.struct["srPlaneDef"]()
        law, p = self._law(lib.sr_normal_find, lib.sr_normal_defaults, "normal law", normal_law, normal_p or {})
        d.point[:], d.normal[:], d.normal_law = vector(point, 3, "point"), vector(normal, 3, "normal"), law
        for field, _ in p._fields_:
            setattr(d, "normal_p_" + field, getattr(p, field))
        if friction is not None:
            law, p = self._law(lib.sr_friction_find, lib.sr_friction_defaults, "friction law", friction, friction_p or {})
            d.friction, d.mu_s, d.mu_k = law, mu_s, mu_s if mu_k is None else mu_k
            for field, _ in p._fields_:
                setattr(d, "friction_p_" + field, getattr(p, field))
        return self._added(lib.sr_network_plane(self._p, name.encode(), byref(d)))

    def plugin(self, path) -> None:
        """Loads a shared library: its code runs."""
        self._check(lib.sr_network_plugin(self._p, os.fsencode(path)))

    def clamps(self, component: Component) -> int:
        """Evaluations in which the normal law of a plane was clamped at 0."""
        return lib.sr_network_clamps(self._p, self._component(component))

    # -------------------------------------------------------------------------------------------------------------- wires
    def wires(self, coefficient: float, source: Component, out: Signal, to: Component, into: Signal, count: int = 1) -> None:
        """input `into` of `to` += coefficient * output `out` of `source`, and so on for `count` of them."""
        a, b = self._component(source), self._component(to)
        self._check(lib.sr_network_wires(self._p, coefficient, a, self._signal(a, OUTPUT, out), b, self._signal(b, INPUT, into), count))

    def wire(self, coefficient: float, source: Component, out: Signal, to: Component, into: Signal) -> None:
        self.wires(coefficient, source, out, to, into, 1)

    def constant(self, value: float, to: Component, into: Signal) -> None:
        i = self._component(to)
        self._check(lib.sr_network_constant(self._p, value, i, self._signal(i, INPUT, into)))

    # ---------------------------------------------------------------------------------------------------------- terminals
    def ground(self, p=(0, 0, 0)) -> Terminal:
        return self._terminal(lib.sr_network_ground(self._p, address(vector(p, 3, "p"))))

    def mass_terminal(self, mass: Component) -> Terminal:
        return self._terminal(lib.sr_network_mass_terminal(self._p, self._component(mass)))

    def body_terminal(self, body: Component, s=(0, 0, 0), upright: bool = False) -> Terminal:
        return self._terminal(lib.sr_network_body_terminal(self._p, self._component(body), address(vector(s, 3, "s")), upright))

    def joint_terminal(self, multibody: Component, coordinate: str) -> Terminal:
        return self._terminal(lib.sr_network_joint_terminal(self._p, self._component(multibody), coordinate.encode()))

    def point_terminal(self, multibody: Component, point: str) -> Terminal:
        return self._terminal(lib.sr_network_point_terminal(self._p, self._component(multibody), point.encode()))

    def axis_terminal(self, a: Terminal, b: Terminal, axis) -> Terminal:
        return self._terminal(lib.sr_network_axis_terminal(self._p, a, b, address(vector(axis, 3, "axis"))))

    @staticmethod
    def terminal_part(terminal: Terminal, first: int, n: int) -> Terminal:
        """Some of the coordinates of a terminal."""
        part = lib.sr_terminal_part(terminal, first, n)
        if part.n < 1:
            raise ValueError(f"a terminal of {terminal.n} coordinates has no part of {n} from {first} on")
        return part

    def attach(self, impedance: Component, terminal: Terminal) -> None:
        self._check(lib.sr_network_attach(self._p, self._component(impedance), terminal))

    def between(self, impedance: Component, a: Terminal, b: Terminal) -> None:
        self._check(lib.sr_network_between(self._p, self._component(impedance), a, b))

    def distance_force(self, impedance: Component, a: Terminal, b: Terminal) -> None:
        self._check(lib.sr_network_distance_force(self._p, self._component(impedance), a, b))

    def frames(self, impedance: Component, a: Terminal, b: Terminal) -> None:
        self._check(lib.sr_network_frames(self._p, self._component(impedance), a, b))

    def push(self, terminal: Terminal, force) -> None:
        self._check(lib.sr_network_push(self._p, terminal, address(vector(force, terminal.n, "force"))))

    def apply(self, coefficient: float, source: Component, out: Signal, terminal: Terminal) -> None:
        i = self._component(source)
        self._check(lib.sr_network_apply(self._p, coefficient, i, self._signal(i, OUTPUT, out), terminal))

    # ----------------------------------------------------------------------------------------------------------- stepping
    def ready(self, threads: int = 1) -> None:
        """Checks and sorts the network; nothing can be added afterwards. Warns of inputs without a connection."""
        self._check(lib.sr_network_ready(self._p, threads))

    def start(self, t: float = 0.0) -> None:
        """Initial states, time t."""
        self._stepped(lib.sr_network_start(self._p, t))

    def step(self, T: float, n: int = 1) -> None:
        """n steps of T seconds by the modular rk4. sarrus.Stopped where one cannot be taken: the states are then those before it. An exception of a
        component in Python is raised as it is."""
        for _ in range(n):
            self._stepped(lib.sr_network_step(self._p, T))

    def euler(self, T: float, n: int = 1) -> None:
        """The same by forward Euler."""
        for _ in range(n):
            self._stepped(lib.sr_network_euler(self._p, T))

    def evaluate(self, tau: float = -1.0) -> None:
        """All signals at the present state; tau < 0: that of each component."""
        self._stepped(lib.sr_network_evaluate(self._p, tau))

    @property
    def time(self) -> float:
        return lib.sr_network_time(self._p)

    @property
    def threads(self) -> int:
        return lib.sr_network_threads(self._p)

    def __len__(self) -> int:
        return lib.sr_network_count(self._p)

    def find(self, name: str) -> int:
        """The number of a component."""
        return self._component(name)

    def _view(self, function, component, kind, writable=False):
        i = self._component(component)
        n = lib.sr_network_signals(self._p, i, kind)
        place = function(self._p, i)
        if n and not place:
            raise ValueError("the network is not ready: it has no states and signals yet")
        return view(self._handle, place, (n,), writable=writable)

    def state(self, component: Component) -> np.ndarray:
        """States of a component: a view, may be written between steps."""
        return self._view(lib.sr_network_state, component, STATE, True)

    def output(self, component: Component) -> np.ndarray:
        """Outputs of a component as last evaluated: a view."""
        return self._view(lib.sr_network_output, component, OUTPUT)

    def input(self, component: Component) -> np.ndarray:
        """Inputs of a component as last evaluated: a view."""
        return self._view(lib.sr_network_input, component, INPUT)

    def __repr__(self) -> str:
        return f"<sarrus.Network: {len(self)} components, t = {self.time:g}>"
