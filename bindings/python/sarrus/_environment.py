"""An environment for learning and control after Gymnasium's conventions, without a need for it:

    env = sarrus.Environment("models/cart-pole.xml", controls={"x": (-10, 10)}, observe=["q.*", "v.*"], h=0.002, n=5, t_end=10)
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step([2.5])

Where gymnasium can be imported, Environment is a gymnasium.Env, its spaces are gymnasium's, and "sarrus/Model-v0" is registered.
"""
from __future__ import annotations

import ctypes
import fnmatch
import math
import os
from typing import Any, Callable, Mapping, Sequence, Tuple, Union

import numpy as np

from . import _library as L
from ._error import Error, Messages, Stopped, nearest
from ._memory import Handle, vector
from ._model import FORCE, FRAMES, Data, Model
from ._spec import Spec, load

lib = L.lib
ID = "sarrus/Model-v0"
Range = Tuple[float, float]
Draw = Union[Range, Callable[[np.random.Generator], float]]


class Box:
    """A space of arrays between two bounds: what of gymnasium.spaces.Box an environment needs."""

    def __init__(self, low, high, shape=None, dtype=np.float64, seed=None):
        shape = np.shape(low) if shape is None else tuple(shape)
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.low, self.high = (np.broadcast_to(np.asarray(x, dtype), shape).copy() for x in (low, high))
        self.seed(seed)

    def seed(self, seed=None):
        self._random = np.random.default_rng(seed)
        return seed

    def sample(self) -> np.ndarray:
        """Uniform between finite bounds, exponential beyond one, normal where there is none."""
        low, high, r = np.isfinite(self.low), np.isfinite(self.high), self._random
        out = r.normal(size=self.shape)
        both = low & high
        out[both] = r.uniform(self.low[both], self.high[both])
        out[low & ~high] = self.low[low & ~high] + r.exponential(size=int((low & ~high).sum()))
        out[high & ~low] = self.high[high & ~low] - r.exponential(size=int((high & ~low).sum()))
        return out.astype(self.dtype)

    def contains(self, x) -> bool:
        x = np.asarray(x, self.dtype)
        return x.shape == self.shape and bool((x >= self.low).all() and (x <= self.high).all())

    __contains__ = contains

    def __eq__(self, other):
        return isinstance(other, Box) and self.shape == other.shape and self.dtype == other.dtype and \
            bool((self.low == other.low).all() and (self.high == other.high).all())

    __hash__ = None

    def __repr__(self):
        return f"Box({self.low}, {self.high}, {self.shape}, {self.dtype})"


class _Base:
    """What of gymnasium.Env an environment needs."""

    metadata: dict = {"render_modes": []}
    render_mode = None
    spec = None
    _np_random = None

    @property
    def np_random(self) -> np.random.Generator:
        if self._np_random is None:
            self._np_random = np.random.default_rng()
        return self._np_random

    @np_random.setter
    def np_random(self, value):
        self._np_random = value

    @property
    def unwrapped(self):
        return self

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self._np_random = np.random.default_rng(seed)

    def render(self):
        return None

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
        return False


try:
    import gymnasium as _gymnasium
except ImportError:
    _gymnasium = None
Base, Space = (_gymnasium.Env, _gymnasium.spaces.Box) if _gymnasium else (_Base, Box)


def register() -> None:
    """Registers "sarrus/Model-v0" with gymnasium, where it is installed; also the entry point of the wheel."""
    if _gymnasium and ID not in _gymnasium.registry:
        _gymnasium.register(id=ID, entry_point="sarrus:Environment")


def _span(indices):
    """Indices as a slice where they follow each other, which is faster."""
    first, n = (indices[0], len(indices)) if len(indices) else (0, 0)
    return slice(first, first + n) if list(indices) == list(range(first, first + n)) else np.array(indices)


# -------------------------------------------------------------------------------------------------------- observations
_FRAME = {w: i for i, w in enumerate(("x", "y", "z"))}
_FRAME.update({w: 12 + i for i, w in enumerate(("vx", "vy", "vz", "wx", "wy", "wz", "ax", "ay", "az"))})


class _Recording:
    """Columns of a run at single states (sr_recording_row of include/sarrus/record.h)."""

    def __init__(self, model: Model, patterns: Sequence[str]):
        texts = (ctypes.c_char_p * max(1, len(patterns)))(*[x.encode() for x in patterns])
        out, columns = ctypes.c_void_p(), ctypes.POINTER(L.struct["srColumns"])()
        with Messages() as said:
            said.check(lib.sr_recording_create(model._handle.pointer, texts, len(patterns), said.pointer, L.byref(out)))
            self._handle = Handle(out.value, lib.sr_recording_destroy, model._handle)
            said.check(lib.sr_record_columns_create(model._handle.pointer, texts, len(patterns), said.pointer, L.byref(columns)))
        self.names = L.text_list(columns.contents.names, columns.contents.count)
        lib.sr_columns_destroy(columns)
        self.row = np.empty(len(self.names))
        self._model, self._address = model, self.row.ctypes.data

    def fill(self, data: Data) -> None:
        status = lib.sr_recording_row(self._handle.pointer, data._handle.pointer, self._address)
        if status != 0:
            self._model._done(status, data, "the recorded quantities cannot be evaluated")


def _recorded(model: Model, pattern: str) -> list:
    """Columns of a run by name or pattern; [] where there is none."""
    usual = _Recording(model, ()).names
    try:
        found = fnmatch.filter(usual, pattern) + _Recording(model, (pattern,)).names[len(usual):]
    except Error:  # nothing has such a name
        found = fnmatch.filter(usual, pattern)
    out = [n for n in found if n != "residual" and not n.endswith(".work")]
    if found and not out:
        raise ValueError(f"'{pattern}' is integrated by a run, and is not known at a single state")
    return out


class _Observer:
    """Numbers of a data by name, into one array: q.NAME, v.NAME, tau.NAME, states, sensors (NAME, NAME.x ... NAME.az), t, and columns of a run."""

    def __init__(self, model: Model, names: Sequence[str]):
        self.names = self._chosen(model, names)
        known = set(self.known(model))
        more = [n for n in self.names if n not in known]
        self._recording = _Recording(model, more) if more else None
        self._model, self._stage = model, max((self._stage_of(model, n) for n in self.names if n in known), default=0)

    @staticmethod
    def known(model: Model) -> list:
        out = ["t", *("q." + n for n in model.q_name), *("v." + n for n in model.v_name), *("tau." + n for n in model.v_name)]
        out += [n for n in model.y_name if n]
        for name, point, formula in zip(model.sensor_name, model.sensor_point, model.sensor_formula):
            if point >= 0:
                out += [f"{name}.{w}" for w in _FRAME]
            elif formula >= 0:  # not those of recorded quantities, which are columns
                out.append(name)
        return out

    @staticmethod
    def sensors(model: Model) -> list:
        return list(model.sensor_name)

    @classmethod
    def _chosen(cls, model, patterns):
        known, out = cls.known(model), []
        patterns = [patterns] if isinstance(patterns, str) else list(patterns)
        for k, pattern in enumerate(patterns):
            if pattern in patterns[:k]:
                raise ValueError(f"observe: '{pattern}' is there twice; an observation has each number once")
            frame = pattern in model.sensor_name and model.sensor_point[model.sensor_name.index(pattern)] >= 0  # its nine numbers
            found = [f"{pattern}.{w}" for w in list(_FRAME)[:9]] if frame else fnmatch.filter(known, pattern) or _recorded(model, pattern)
            if not found:
                raise ValueError(f"nothing is called '{pattern}'{nearest(pattern, known, '.')} There are: {', '.join(known[:60])}")
            out += [n for n in found if n not in out]
        return tuple(out)

    @staticmethod
    def _stage_of(model, name):
        if name == "t" or name[:2] in ("q.", "v.") or name.startswith("tau.") or name in model.y_name:
            return 0
        return FRAMES if name.rpartition(".")[2] in ("ax", "ay", "az") else FORCE

    def attach(self, data: Data) -> None:
        """Prepares the copies: (where to, an array, which of it)."""
        model, known, places = self._model, set(self.known(self._model)), {}
        frames = {}
        jq, jv = (data.jq, data.jv) if model.absolute else (data.q, data.v)
        sources = {"q": (jq, list(model.q_name)), "v": (jv, list(model.v_name)), "tau": (data.tau, list(model.v_name))}
        for i, name in enumerate(self.names):
            kind, _, rest = name.partition(".")
            if name == "t":
                continue
            if self._recording and name in self._recording.names and name not in known:
                array, k = self._recording.row, self._recording.names.index(name)
            elif name in model.y_name:
                array, k = data.y, model.y_name.index(name)
            elif kind in sources and rest in sources[kind][1]:
                array, k = sources[kind][0], sources[kind][1].index(rest)
            elif name in model.sensor_name:
                array, k = data.formula, int(model.sensor_formula[model.sensor_name.index(name)])
            else:
                sensor, _, word = name.rpartition(".")
                j = model.sensor_name.index(sensor)
                if j not in frames:
                    x = L.struct["srFrameMotion"]()
                    frames[j] = (int(model.sensor_point[j]), int(model.sensor_relative_to[j]), L.byref(x), x)
                array, k = np.frombuffer(frames[j][3], np.float64), _FRAME[word]
            places.setdefault(array.__array_interface__["data"][0], (array, [], []))
            places[array.__array_interface__["data"][0]][1].append(i)
            places[array.__array_interface__["data"][0]][2].append(k)
        self._copies = [(_span(to), array, _span(of)) for array, to, of in places.values()]
        self._frames = [x[:3] for x in frames.values()]
        self._time = self.names.index("t") if "t" in self.names else None
        self._data = data

    def __call__(self) -> np.ndarray:
        data, model = self._data, self._model
        out = np.empty(len(self.names))
        if self._recording:
            self._recording.fill(data)
        if self._stage:
            model._evaluate(data, self._stage, "the sensors cannot be evaluated")
            for point, relative_to, frame in self._frames:
                lib.sr_frame_motion(model._handle.pointer, data._handle.pointer, point, relative_to, frame)
        for to, array, of in self._copies:
            out[to] = array[of]
        if self._time is not None:
            out[self._time] = data.t
        return out


# ---------------------------------------------------------------------------------------------------------- environment
def _spec_of(model) -> Spec:
    if isinstance(model, Spec):
        return model.copy()
    if isinstance(model, Model):
        return Spec._of_handle(model._spec).copy()
    return load(model)


class Environment(Base):
    """A model that is driven step by step.

    model      a file, a Spec, or a Model (whose spec is compiled again)
    controls   what an action sets: names of joint coordinates (a force on it, data.tau) and of parameters (which are compiled as live), as a
               list, or {name: (least, most)} with the bounds of action_space; with * and ?, as "ctrl_*" of an MJCF file's actuators. Default: every
               coordinate that no driver moves, and live parameters
    observe    what an observation has: q.NAME, v.NAME, tau.NAME, states, sensors (NAME of a formula; of a frame NAME, or NAME.x ...
               .wz, .ax .ay .az), t, and what a run records (reaction(NAME).fx, force(NAME).f, kinetic; model.recordable()), but work; with * and ?.
               Default: the sensors; without any q.* and v.*
    h, n       an action holds for n steps of h seconds
    method     of the steps, with options as those of model.step
    t_end      truncates an episode, s; None: never
    reward     reward(env) -> float, after a step: env.data, env.observation, env.action. Default: 0; or override the method of that name
    done       done(env) -> bool: ends an episode, as an <event stop="yes"> of the model does
    randomize  drawn at every reset: {name: (least, most)} uniform, or {name: draw(random)}. Names: parameters, and q.NAME, v.NAME of the
               initial state. Parameters that are live are set; for others the model is compiled again, which takes about as long as some hundred steps

    Attributes: model, data, controls and observed (names), observation, action, steps, parameters (those drawn last)."""

    metadata = {"render_modes": []}

    def __init__(self, model: "Union[str, os.PathLike, Spec, Model]",
                 controls: "Union[Sequence[str], Mapping[str, Range], None]" = None,
                 observe: "Union[str, Sequence[str], None]" = None, *, h: float = 1e-3, n: int = 1, method: str = "rk4",
                 t_end: "float | None" = None, reward: "Callable[[Environment], float] | None" = None,
                 done: "Callable[[Environment], bool] | None" = None, randomize: "Mapping[str, Draw] | None" = None,
                 render_mode: "str | None" = None, **options: Any):
        if render_mode is not None:
            raise ValueError(f"render_mode '{render_mode}': there is no picture of an environment; draw results with run and plot")
        self._source = _spec_of(model)
        self._formulation = model.formulation if isinstance(model, Model) else "relative"
        self._h, self._n, self._method, self._options = float(h), int(n), method, options
        if self._n < 1:
            raise ValueError(f"n = {n}: an action holds for one step or more")
        self._reward, self._done, self._t_end = reward, done, t_end
        self._randomize = dict(randomize or {})
        self._start(controls, observe)

    # ------------------------------------------------------------------------------------------------------- the model
    def _start(self, controls, observe):
        bounds = self._choose(controls)
        self._compile()
        self.controls = tuple(bounds) if controls is not None else self.model.controls
        for name in self.controls:
            self.data.controls[name]  # KeyError of one that is driven
        self._check_randomize()
        low, high = (np.array([bounds.get(n, (-np.inf, np.inf))[i] for n in self.controls], dtype=float) for i in (0, 1))
        if not (low <= high).all():
            raise ValueError(f"the bounds of {self.controls[int((low > high).argmax())]} are not (least, most)")
        self._observe = observe if observe is not None else _Observer.sensors(self.model) or ("q.*", "v.*")
        self._attach()
        self.action_space = Space(low, high, dtype=np.float64)
        self.observation_space = Space(-np.inf, np.inf, shape=(len(self.observed),), dtype=np.float64)
        self.action, self.observation, self.steps, self.parameters = np.zeros(len(self.controls)), None, 0, {}

    def _choose(self, controls):
        """{name: bounds} of the controls; parameters among them become live."""
        parameters, coordinates, out = [p.name for p in self._source.parameters], self._source.compile().v_name, {}
        known = [*coordinates, *parameters]
        for name in controls or ():
            found = fnmatch.filter(known, name) or ([name] if name.startswith("tau.") and name[4:] in coordinates else [])
            if not found:
                raise KeyError(f"there is no joint coordinate or parameter '{name}'{nearest(name, known, '.')} There are: {', '.join(known)}")
            out.update({n: controls[name] if isinstance(controls, Mapping) else (-np.inf, np.inf) for n in found})
        for name in out:
            if name in parameters and name not in coordinates:
                self._source.parameters[name].live = "yes"
        return out

    def _compile(self):
        self.model = self._source.compile(self._formulation)
        self.data = self.model.data()

    def _attach(self):
        self._observer = _Observer(self.model, self._observe)
        self._observer.attach(self.data)
        self.observed = self._observer.names
        places = [self.data.controls._place(n) for n in self.controls]
        self._targets = []  # (array of the data, which of it, which of the action)
        for array in (self.data.tau, self.data.y):
            of = [i for i, (a, _) in enumerate(places) if a is array]
            if of:
                self._targets.append((array, _span([places[i][1] for i in of]), _span(of)))

    def _check_randomize(self):
        known = [*self.model.parameters, *("q." + n for n in self.model.q_name), *("v." + n for n in self.model.v_name)]
        for name, draw in self._randomize.items():
            if name not in known:
                raise ValueError(f"randomize: there is no parameter or coordinate '{name}'{nearest(name, known, '.')} "
                                 f"There are: {', '.join(known[:60])}")
            if not callable(draw) and len(tuple(draw)) != 2:
                raise ValueError(f"randomize: '{name}' needs (least, most), or a function of the random generator")

    # ------------------------------------------------------------------------------------------------------- an episode
    def _drawn(self, options):
        random = self.np_random
        out = {n: float(d(random) if callable(d) else random.uniform(*d)) for n, d in self._randomize.items()}
        known = {*self.model.parameters, *self._randomize}
        for name, value in (options or {}).items():
            if name in ("q", "v"):
                continue
            if name not in known:
                raise ValueError(f"reset: there is no option '{name}'{nearest(name, [*known, 'q', 'v'], '.')} q, v, and parameters can be given")
            out[name] = float(value)
        return out

    def _set_parameters(self, values):
        """Those of the compiled model by compiling again, where one has changed; the live ones in the new data."""
        fixed = {n: x for n, x in values.items() if n in self.model.parameters and n not in self.model.live}
        if any(self._source.parameters[n].value != x for n, x in fixed.items()):
            for name, x in fixed.items():
                self._source.parameters[name].value = x
            self._compile()
            self._attach()
        for name, x in values.items():
            if name in self.model.live:
                self.data.parameters[name] = x

    def _set_state(self, values, options):
        data, given = self.data, options or {}
        for kind, names in (("q", self.model.q_name), ("v", self.model.v_name)):
            if given.get(kind) is not None:
                getattr(data, kind)[...] = vector(given[kind], len(names), kind, names)
            for name, x in values.items():
                if name.startswith(kind + ".") and name[2:] in names:
                    getattr(data, kind)[names.index(name[2:])] = x
        self.model._normalize(data)
        if self.model.constrained and not self.model.absolute:
            self.model.assemble(data)

    def reset(self, *, seed: "int | None" = None, options: "Mapping[str, Any] | None" = None) -> "Tuple[np.ndarray, dict]":
        """A new episode: (observation, info). seed starts the random numbers anew; options fixes parameters, and q and v of the start."""
        super().reset(seed=seed)
        self.data.reset()
        if self.model._initial is not None:
            self.data = self.model.data()
            self._attach()
        values = self._drawn(options)
        self._set_parameters(values)
        self._set_state(values, options)
        self.steps, self.parameters = 0, values
        self.action = np.zeros(len(self.controls))
        self.observation = self._observer()
        return self.observation, {"t": self.data.t, "parameters": values}

    def _act(self, action):
        if type(action) is not np.ndarray and isinstance(action, Mapping):  # the first is faster
            controls = self.data.controls
            for name, x in action.items():
                if name not in self.controls:
                    raise KeyError(f"there is no control '{name}'{nearest(name, self.controls, '.')} There are: {', '.join(self.controls)}")
                controls[name] = x
                self.action[self.controls.index(name)] = x
            return
        action = np.array(action, dtype=np.float64)
        if action.shape != self.action.shape or not math.isfinite(action.dot(action)):
            action = vector(action, len(self.controls), "the action", self.controls)  # ValueError, which names them
        for array, to, of in self._targets:
            array[to] = action[of]
        self.action = action

    def step(self, action: "Union[Sequence[float], np.ndarray, Mapping[str, float]]") -> "Tuple[np.ndarray, float, bool, bool, dict]":
        """Sets the controls, takes n steps, observes: (observation, reward, terminated, truncated, info). action: an array in the order of
        env.controls, or {name: value}, where the others keep theirs. A motion that cannot go on is terminated, with info["error"]."""
        if self.observation is None:
            raise RuntimeError("call reset() before the first step()")
        self._act(action)
        info = {}
        try:
            terminated = self.model.step(self.data, self._h, self._n, self._method, **self._options)
        except Stopped as stopped:
            terminated, info["error"] = True, stopped
        self.steps += 1
        self.observation = self._observer()
        reward = float(self.reward())
        terminated = bool(terminated or self.done())
        truncated = self._t_end is not None and self.data.t >= self._t_end - 1e-9 * self._h
        info["t"] = self.data.t
        return self.observation, reward, terminated, truncated, info

    def reward(self) -> float:
        """Of the step just taken."""
        return self._reward(self) if self._reward else 0.0

    def done(self) -> bool:
        """Does the episode end here?"""
        return self._done(self) if self._done else False

    def __repr__(self):
        return f"<sarrus.Environment of {self.model.name}: {len(self.controls)} controls, {len(self.observed)} observed>"


register()
