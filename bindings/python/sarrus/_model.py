"""A compiled model, its data, and what is computed from them.

   M a + c = f + G^T lambda        c = inverse(q, v, 0), gravity included; f = tau and all laws
"""
from __future__ import annotations

import ctypes
import functools
import html
import threading
from ctypes import byref
from typing import Any, Dict, Iterable, List, Optional, Tuple

import numpy as np

from . import _library as L
from ._error import NOTE, WARNING, Error, Messages, nearest, warn
from ._linear import StateSpace, linearize
from ._memory import Handle, address, value, vector, view
from ._report import JSON, filled, report, sensors
from ._run import run
from ._step import Controls, Parameters, live_parameters, step

lib = L.lib
Vector = Any  # what numpy makes an array of numbers of
NONE, POSITION, VELOCITY, FORCE, ACCELERATION, FRAMES = range(6)  # srStage
FREE, BALL = L.words("joint").index("free"), L.words("joint").index("ball")


def _contacts(word, margin):
    """Arguments of sr_evaluation_contacts, checked as the command line does."""
    if word not in ("near", "all"):
        raise ValueError(f"contacts is 'near' or 'all', not {word!r}")
    if margin is not None and np.isinf(margin):
        raise ValueError("margin is a distance in m; contacts='all' lists every pair")
    return word == "all", float("nan") if margin is None else float(margin)


class Data:
    """One state and its results: t, q, v, a, y, tau, f, bias, lambda_, ... as views into the library's memory.

    `data.q[0] = 1` and `data.q = [1, 2]` write there. Results belong to the state after `model.forward(data)`; a view
    stays valid as long as someone holds it. One thread at a time; the model may be shared."""

    def __init__(self, model, handle=None):
        handle = handle or Handle(lib.sr_data_create(model._handle.pointer), lib.sr_data_destroy, model._handle)
        self.__dict__.update(model=model, _handle=handle, _views={}, _stepper=None, _time=None)

    @property
    def parameters(self) -> Parameters:
        """Live parameters by name: data.parameters["k"] = 250."""
        return Parameters(self)

    @property
    def controls(self) -> Controls:
        """Forces on joint coordinates and live parameters by name: data.controls["elbow"] = 2."""
        return Controls(self)

    def _array(self, name):
        found = L.Array()
        if not lib.sr_data_array(self.model._handle.pointer, self._handle.pointer, name.rstrip("_").encode(), byref(found)):
            raise AttributeError(f"a data has no '{name}'{nearest(name, L.DATA_NAMES, '.')} It has: {', '.join(L.DATA_NAMES)}")
        return found

    def __getattr__(self, name):
        if name == "t" and self._time is not None:
            return self._time.value
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._views:
            array = self._array(name)
            if name == "t":  # of one number, but read after every step
                self.__dict__["_time"] = ctypes.c_double.from_address(array.data)
            if array.ndim == 0:
                return value(self._handle, array)
            self._views[name] = value(self._handle, array)
        return self._views[name]

    def __setattr__(self, name, new):
        array = self._array(name)
        if not array.writable:
            raise AttributeError(f"'{name}' is a result: it is computed, not set")
        if array.ndim == 0:
            ctypes.c_double.from_address(array.data).value = float(vector(new, 1, name)[0])
        else:
            shape = getattr(self, name).shape
            getattr(self, name)[...] = vector(np.broadcast_to(new, shape) if np.ndim(new) == 0 else new, shape[0], name)

    def __dir__(self):
        return sorted([*super().__dir__(), *L.DATA_NAMES])

    def reset(self) -> None:
        """Back to the initial state, t = 0."""
        lib.sr_data_reset(self.model._handle.pointer, self._handle.pointer)

    def copy(self) -> Data:
        other = Data(self.model)
        lib.sr_data_copy(self.model._handle.pointer, self._handle.pointer, other._handle.pointer)
        return other

    def __repr__(self):
        return f"<sarrus.Data of {self.model.name}: t = {self.t:g}>"


class Model:
    """A compiled model: constant. Its arrays (body_mass, joint_name, q0, ...: include/sarrus/model.h) are attributes, as
    views that cannot be written. What computes takes a Data, or makes one at the initial state."""

    def __init__(self, handle, spec, warnings, notes, initial=None):
        self._handle, self._spec = handle, spec  # spec: a handle of its own copy
        self.warnings, self.notes = warnings, notes
        self._initial = initial  # Data that another formulation begins with
        self._local = threading.local()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        found = L.Array()
        if not lib.sr_model_array(self._handle.pointer, name.encode(), byref(found)):
            raise AttributeError(f"a model has no '{name}'{nearest(name, L.MODEL_NAMES)}")
        got = value(self._handle, found)
        got = L.words("formulation")[got] if name == "formulation" else got
        self.__dict__[name] = got  # a model is constant: asked for once
        return got

    def __dir__(self):
        return sorted([*super().__dir__(), *L.MODEL_NAMES])

    def __repr__(self):
        return f"<sarrus.Model {self.name}: {self.nbody} bodies, {self.njv} velocities, {self.ng} constraints>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{html.escape(j['name'])}</td><td>{j['type']}</td><td>{html.escape(self.body_name[b])}</td>"
                       f"<td>{html.escape(self.body_name[self.body_parent[b]])}</td></tr>" for j, b in zip(self.joints, self.joint_body))
        return (f"<p>{html.escape(repr(self))}</p><table><tr><th>joint</th><th>type</th><th>body</th><th>on</th></tr>{rows}</table>")

    # ------------------------------------------------------------------------------------------- parameters and controls
    @functools.cached_property
    def parameters(self) -> Dict[str, Any]:
        """{name: value} of the <parameter> elements as compiled: numbers, or formulas as texts."""
        from ._spec import Spec  # which makes models
        return {x.name: x.value for x in Spec._of_handle(self._spec).parameters}

    @functools.cached_property
    def _live(self):
        return live_parameters(self)

    @property
    def live(self) -> Tuple[str, ...]:
        """Names of the parameters that may change between steps: live ones, and those that events set."""
        return tuple(self._live)

    @functools.cached_property
    def _forces(self):
        """{coordinate: index in tau} of those that no driver moves."""
        driven = {int(i) for i in self.driver_dof}
        return {name: i for i, name in enumerate(self.v_name) if i not in driven}

    @functools.cached_property
    def controls(self) -> Tuple[str, ...]:
        """Names that data.controls takes: joint coordinates that a force can act on, then live parameters."""
        return tuple("tau." + n if n in self._live else n for n in self._forces) + self.live

    # ------------------------------------------------------------------------------------------------------------ data
    def data(self, q: Vector = None, v: Vector = None, y: Vector = None, tau: Vector = None, t: "float | None" = None) -> Data:
        """A new Data, at the initial state but for what is given."""
        d = self._initial.copy() if self._initial else Data(self)
        given = (("q", q, self.nq, self.q_name), ("v", v, self.nv, self.v_name), ("y", y, self.ny, self.y_name),
                 ("tau", tau, self.njv, self.v_name))
        for name, x, n, names in given:
            if x is not None:
                getattr(d, name)[...] = vector(x, n, name, names if len(names) == n else ())
        if t is not None:
            d.t = t
        if q is not None or not self.absolute:
            self._normalize(d)
        return d

    def _normalize(self, d):
        """Quaternions are made unit; one that was far from it is reported."""
        for j in np.flatnonzero((self.joint_type == FREE) | (self.joint_type == BALL)) if not self.absolute else ():
            first = self.joint_q[j] + (3 if self.joint_type[j] == FREE else 0)
            norm = np.linalg.norm(d.q[first:first + 4])
            if norm == 0:
                raise ValueError(f"the quaternion of joint '{self.joint_name[j]}' is zero")
            if abs(norm - 1) > 1e-12:
                warn([f"the quaternion of joint '{self.joint_name[j]}' has length {norm:.9g}; it is normalised"], 5)
        lib.sr_normalize(self._handle.pointer, address(d.q))

    def _of(self, d):
        if d.model is not self and d.model._handle is not self._handle:
            raise ValueError("this data belongs to another model")
        return self._handle.pointer, d._handle.pointer

    def _need(self, d, stage):
        if d.stage < stage:
            raise Error(f"call model.{('', 'kinematics', 'velocity', 'forces', 'forward')[stage]}(data) first", 2)

    def _done(self, code, d, what):
        if code != 0:
            raise Error(f"{what}: {d.error_message or 'a law refused this state'}", 1)

    # -------------------------------------------------------------------------------------------------- stages of a data
    def _evaluate(self, d, stage, otherwise=""):
        self._done(lib.sr_evaluate(*self._of(d), float(d.t), None, None, None, stage), d, otherwise)
        return d

    def kinematics(self, d: Data) -> Data:
        """Poses of links."""
        return self._evaluate(d, POSITION)

    def velocity(self, d: Data) -> Data:
        """The same and twists."""
        return self._evaluate(d, VELOCITY)

    def forces(self, d: Data) -> Data:
        """The same and all laws: f, ydot, motion, power."""
        return self._evaluate(d, FORCE, "no forces at this state")

    def forward(self, d: Data) -> Data:
        """The whole: kinematics, laws, accelerations a, multipliers lambda_; accelerations of links and sensors."""
        return self._evaluate(d, FRAMES, "no accelerations at this state")

    def recordable(self):
        """{name: unit} of all columns that run(record=...) takes by name or pattern."""
        return {x["name"]: x["unit"] for x in report(lib.sr_report_recordable, self._handle.pointer, JSON)["recordable"]}

    def assemble(self, d):
        """Closes the loops with the least change of q, then of v. sarrus.Error where it cannot be done."""
        change, warnings, notes = self._assembled(d)
        out = report(lib.sr_report_assembly, self._handle.pointer, change.pointer)
        return {**out, "warnings": warnings, "notes": notes}

    def _assembled(self, d):
        """The same: a handle of what has changed, warnings, notes."""
        out = ctypes.c_void_p()
        with Messages() as said:
            warnings = said.check(lib.sr_assembly_change_create(*self._of(d), said.pointer, byref(out)), d.error_message)
            notes = said.all(NOTE)
        return Handle(out.value, lib.sr_assembly_change_destroy), warnings, notes

    def _at_time(self, d, q_given, v_given):
        """The state at d.t: drivers on their motion, loops of the initial state closed. Warnings as texts."""
        with Messages() as said:
            return said.check(lib.sr_state_at_time(*self._of(d), q_given, v_given, said.pointer, None), d.error_message)

    def start(self, d: Data, word: str = "inside-limits") -> List[str]:
        """Moves the start in d: "inside-limits", to the nearest one inside of the limits of all joints that meets the
        constraints; "apart", by the least motion that ends all overlaps of shapes with a contact; "given" leaves it. sarrus.Error where
        there is none. Warnings as texts."""
        words = L.words("start")
        if word not in words:
            raise ValueError(f"start '{word}' is unknown{nearest(str(word), words, '.')} There are: {', '.join(words)}")
        with Messages() as said:
            return said.check(lib.sr_start(*self._of(d), words.index(word), said.pointer), d.error_message)

    def inverse_kinematics(self, d: Data, targets: Dict[str, Any], move: Optional[Iterable[str]] = None,
                           relative_to: str = "ground") -> Dict[str, Any]:
        """Moves d.q until every point is at its target, with loops closed and joints within their limits, by the least change:
        inverse_kinematics(d, {"foot/tip": (0.3, 0.1, 0)}). A target is a position, or a pair (position, quaternion w x y z).
        move names the joints that may move; all without it. sarrus.Error where a target is out of reach: d.q is then the
        nearest position found. Returns {"iterations", "residual", "warnings"}."""
        wanted = (L.struct["srTarget"] * len(targets))()
        for one, (name, value) in zip(wanted, targets.items()):
            one.point, one.relative_to = self._point(name), self._point(relative_to)
            one.oriented = len(value) == 2
            position = value[0] if one.oriented else value
            one.position[:] = vector(position, 3, f"target of '{name}'")
            if one.oriented:
                one.quaternion[:] = vector(value[1], 4, f"quaternion of '{name}'")
        mask = None if move is None else self._mask(move)
        out = L.struct["srInverseKinematics"]()
        with Messages() as said:
            status = lib.sr_inverse_kinematics(*self._of(d), wanted, len(targets), None if mask is None else mask.ctypes.data,
                                               said.pointer, byref(out))
            warnings = said.check(status, d.error_message)
        return {"iterations": out.iterations, "residual": out.residual, "warnings": warnings}

    def linearize(self, inputs: Any = (), outputs: Any = (), d: "Data | None" = None, at: str = "initial") -> StateSpace:
        """Exact linear equations about a steady state: x' = A x + B u, z = C x + D u. Inputs are forces on joint coordinates; outputs are coordinates, "v(NAME)" or
        "a(NAME)": names in a list, or with commas. The state is that of d, else the initial one, with loops closed; at="equilibrium": the equilibrium that is nearest to it. sarrus.Error where it is
        not steady. scipy.signal.StateSpace(*ss) and control.ss(*ss) take the result."""
        if at not in ("initial", "equilibrium"):
            raise ValueError(f"at is 'initial' or 'equilibrium', not {at!r}")
        given, d = d is not None, d.copy() if d is not None else self.data()
        if not given:
            self._at_time(d, False, False)
        if at == "equilibrium":
            self.start(d, "equilibrium")
        return linearize(self, d, inputs, outputs)

    def _mask(self, joints):
        """1 for the velocity coordinates of these joints."""
        mask = np.zeros(self.nv, dtype=np.uint8)
        for name in [joints] if isinstance(joints, str) else joints:
            if name not in self.joint_name:
                raise ValueError(f"there is no joint '{name}'{nearest(str(name), self.joint_name)}")
            j = list(self.joint_name).index(name)
            mask[self.joint_v[j]:self.joint_v[j] + self.joint_nv[j]] = 1
        return mask

    def _outside(self, d):
        """The warning of joints outside of their limits, as a list of texts."""
        with Messages() as said:
            lib.sr_start_outside(*self._of(d), said.pointer)
            return said.all(WARNING)

    # ------------------------------------------------------------------------------------ the rigid tree alone, from q, v
    def _work(self):
        """Scratch of the recursions, one a thread: what they need of a data, not its state."""
        if not hasattr(self._local, "handle"):
            self._local.handle = Handle(lib.sr_data_create(self._handle.pointer), lib.sr_data_destroy, self._handle)
        return self._handle.pointer, self._local.handle.pointer

    def _q(self, q):
        return vector(q, self.nq, "q", self.q_name if not self.absolute else ())

    def _v(self, v, what="v"):
        return vector(v, self.nv, what, self.v_name if not self.absolute else ())

    def inverse(self, q: Vector, v: Vector, a: Vector) -> np.ndarray:
        """tau = M a + c of the rigid tree alone (recursive Newton-Euler): no laws, no armature, no drivers."""
        q, v, a, out = self._q(q), self._v(v), self._v(a, "a"), np.zeros(self.nv)
        lib.sr_rnea(*self._work(), address(q), address(v), address(a), address(out))
        return out

    def bias(self, q: Vector, v: Vector) -> np.ndarray:
        """c: what the rigid tree needs to go on without acceleration, gravity included."""
        return self.inverse(q, v, np.zeros(self.nv))

    def mass_matrix(self, q: Vector, armature: bool = True) -> np.ndarray:
        """M (nv x nv), with the armature of the joints or without."""
        q = self._q(q)
        if self.absolute:
            if not armature:
                raise ValueError("free bodies are tied by the armature of their joints: ask the relative model instead")
            work = Data(self)
            work.q = q
            self.kinematics(work)
            lib.sr_mass(*self._of(work))
            return self._dense(work)
        M = np.zeros((self.nv, self.nv))
        lib.sr_crba(*self._work(), address(q), address(M))
        if armature:
            M[np.diag_indices(self.nv)] += self.joint_armature
        return M

    def _dense(self, d):
        M = np.zeros((self.nv, self.nv))
        rows = np.repeat(np.arange(self.nv), np.diff(self.M_row))
        M[rows, self.M_column] = d.M
        return M

    def acceleration(self, q: Vector, v: Vector, tau: Vector) -> np.ndarray:
        """a of the rigid tree alone under tau (articulated bodies), O(n)."""
        q, v, tau, out = self._q(q), self._v(v), self._v(tau, "tau"), np.zeros(self.nv)
        code = lib.sr_aba(*self._work(), address(q), address(v), address(tau), address(out))
        self._done(code, Data(self, self._local.handle), "no accelerations")
        return out

    def qdot(self, q: Vector, v: Vector) -> np.ndarray:
        """dq/dt, quaternions included."""
        q, v, out = self._q(q), self._v(v), np.zeros(self.nq)
        lib.sr_qdot(self._handle.pointer, address(q), address(v), address(out))
        return out

    def retract(self, q: Vector, step: Vector) -> np.ndarray:
        """q moved by a step of velocity coordinates; quaternions stay unit."""
        q, step, out = self._q(q), self._v(step, "step"), np.zeros(self.nq)
        lib.sr_retract(self._handle.pointer, address(q), address(step), address(out))
        return out

    def difference(self, q1: Vector, q2: Vector) -> np.ndarray:
        """The step from q1 to q2: retract(q1, step) is q2."""
        q1, q2, out = self._q(q1), self._q(q2), np.zeros(self.nv)
        lib.sr_difference(self._handle.pointer, address(q1), address(q2), address(out))
        return out

    # ------------------------------------------------------------------------------------------------ results of a data
    def _point(self, name):
        i = lib.sr_point_find(self._handle.pointer, name.encode())
        if i < 0:
            raise ValueError(f"there is no point '{name}'{nearest(name, self.point_name)}")
        return i

    def frame(self, d: Data, point: str, relative_to: str = "ground") -> Dict[str, np.ndarray]:
        """Motion of a point's frame (body/point, or a body) as far as the data was computed; the rest is NaN."""
        self._need(d, POSITION)
        return self._frame(d, self._point(point), self._point(relative_to))

    def _frame(self, d, point, relative_to):
        x = L.struct["srFrameMotion"]()
        lib.sr_frame_motion(*self._of(d), point, relative_to, byref(x))
        out = {name: np.array(getattr(x, name)) for name, _ in x._fields_}
        out["rotation"] = out["rotation"].reshape(3, 3)
        return out

    def jacobian(self, d: Data, point: str, relative_to: str = "ground") -> np.ndarray:
        """6 x nv: angular velocity, velocity of the frame are J v."""
        self._need(d, POSITION)
        return self._jacobian(d, self._point(point), self._point(relative_to))

    def _jacobian(self, d, point, relative_to):
        J = np.zeros((6, self.nv))
        lib.sr_frame_jacobian(*self._of(d), point, relative_to, address(J))
        return J

    def energy(self, d: Data) -> Dict[str, float]:
        """Kinetic and potential energy, J."""
        self._need(d, VELOCITY)
        kinetic, potential = ctypes.c_double(), ctypes.c_double()
        lib.sr_energy(*self._of(d), byref(kinetic), byref(potential))
        return {"kinetic": kinetic.value, "potential": potential.value}

    def momentum(self, d: Data) -> Dict[str, Any]:
        """About the ground's origin, in its axes; mass and centre of mass of all bodies."""
        self._need(d, VELOCITY)
        x, mass, com = np.zeros(8), ctypes.c_double(), np.zeros(4)
        lib.sr_momentum(*self._of(d), address(x), byref(mass), address(com))
        return {"angular": x[:3], "linear": x[3:6], "mass": mass.value, "com": com[:3]}

    def constraints(self, d: Data) -> Dict[str, Any]:
        """Rows at the data's t, q, v: residuals g, G (dense), b, gv = G v + b, gamma with G a = gamma."""
        d = d.copy()  # what the caller has stays at its stage
        self.velocity(d)
        self._done(lib.sr_constraints(*self._of(d)), d, "a constraint is not defined here")
        out = {"rows": list(self.row_name), "g": d.g.copy(), "G": np.zeros((self.ng, self.nv)), "b": d.b.copy(),
               "gv": np.zeros(self.ng)}
        lib.sr_constraint_matrix(*self._of(d), address(out["G"]))
        lib.sr_constraint_velocity(*self._of(d), address(d.v), address(out["gv"]))
        self._done(lib.sr_constraint_gamma(*self._of(d)), d, "a constraint is not defined here")
        out["gamma"] = d.gamma.copy()
        return out

    def _ranked(self, d, use):
        out = ctypes.POINTER(L.struct["srRank"])()
        status = lib.sr_rank_create(*self._of(d), byref(out))
        if status != L.OK:
            raise Error(d.error_message or L.lib.sr_status_text(status).decode(), 1)
        try:
            return use(out)
        finally:
            lib.sr_rank_destroy(out)

    def rank(self, d: Data) -> Dict[str, Any]:
        """Rank of the constraints at the data's position, and sets of rows that depend on each other."""
        d = d.copy()  # what the caller has stays at its stage
        self.kinematics(d)

        def told(pointer):
            r = pointer.contents
            first = view(None, r.set_start, (r.nredundant + 1,), np.intc) if r.nredundant else np.zeros(1, int)
            rows = view(None, r.set, (int(first[-1]),), np.intc)
            redundant = view(None, r.redundant, (r.nredundant,), np.intc)
            sets = [{"row": self.row_name[redundant[i]], "set": [self.row_name[k] for k in rows[first[i]:first[i + 1]]]}
                    for i in range(r.nredundant)]
            return {"rank": r.rank, "rank_undriven": r.rank_undriven, "redundant": sets,
                    "unique": view(None, r.unique, (self.ng,), np.uint8).astype(bool)}
        return self._ranked(d, told)

    def reactions(self, d: Data) -> Dict[str, Dict[str, Any]]:
        """{joint: {moment, force, unique}} after forward: on the body, about its origin, in its axes."""
        self._need(d, ACCELERATION)
        x, unique = np.zeros((self.njoint, 6)), np.zeros(self.njoint, np.uint8)
        self._done(lib.sr_reactions(*self._of(d), address(x)), d, "no reactions")
        self._ranked(d, lambda rank: lib.sr_reactions_unique(*self._of(d), rank, address(unique)))
        return {n: {"moment": x[j, :3], "force": x[j, 3:], "unique": bool(unique[j])} for j, n in enumerate(self.joint_name)}

    def sensors(self, d: Data, jacobian: bool = False) -> Dict[str, Dict[str, Any]]:
        """Values of the sensors at the data's stage, as in the results of the command line."""
        out = {}
        for i, name in enumerate(self.sensor_name):
            point, relative_to = int(self.sensor_point[i]), int(self.sensor_relative_to[i])
            if point < 0:
                out[name] = {"value": float(d.formula[self.sensor_formula[i]]), "unit": self.sensor_unit[i]}
                continue
            out[name] = self._frame(d, point, relative_to)
            if jacobian:
                out[name]["jacobian"] = self._jacobian(d, point, relative_to)
        return out

    @property
    def joints(self) -> List[Dict[str, Any]]:
        """Joints with their types and the ranges of their coordinates."""
        words = L.words("joint")
        return [{"name": n, "type": words[self.joint_type[j]], "q": [int(self.joint_q[j]), int(self.joint_nq[j])],
                 "v": [int(self.joint_v[j]), int(self.joint_nv[j])]} for j, n in enumerate(self.joint_name)]

    @property
    def shapes(self) -> List[Dict[str, Any]]:
        """Shapes with their bodies, sizes and poses (4 x 4, in the body's frame)."""
        types, uses, out = L.words("shape"), L.words("use"), []
        for i, name in enumerate(self.shape_name):
            pose = np.eye(4)
            pose[:3] = self.shape_pose[i].reshape(4, 4).T[:3]  # stored as columns
            mesh = int(self.shape_mesh[i])
            out.append({"name": name, "body": self.body_name[self.shape_body[i]], "type": types[self.shape_type[i]],
                        "size": self.shape_size[i], "pose": pose, "mesh": self.mesh_name[mesh] if mesh >= 0 else None,
                        "use": uses[self.shape_use[i]], "color": self.shape_color[i], "material": self.shape_material[i],
                        "group": self.shape_group[i]})
        return out

    @property
    def meshes(self) -> Dict[str, Tuple[np.ndarray, np.ndarray]]:
        """{name: (vertices, triangles)}, views of n x 3 numbers."""
        out = {}
        for i, name in enumerate(self.mesh_name):
            found = L.Array(), L.Array()
            for array, what in zip(found, (b"vertex", b"triangle")):
                lib.sr_mesh_array(self._handle.pointer, i, what, byref(array))
            out[name] = tuple(value(self._handle, array) for array in found)
        return out

    # ------------------------------------------------------------------------------------------------------ formulations
    @staticmethod
    def _formulation(word):
        words = L.words("formulation")
        if word not in words:
            raise ValueError(f"there is no formulation '{word}'{nearest(word, words, '.')} There are: {', '.join(words)}")
        return words.index(word)

    def formulated(self, word: str, d: "Data | None" = None) -> Model:
        """This model in another formulation (absolute, penalty), beginning at d: another Model."""
        number = self._formulation(word)
        if word == self.formulation:
            return self
        if self.formulation != "relative":
            raise ValueError("take the relative model, not one that was made of it")
        if d is None:
            d = self.data()
            if self.constrained:
                self.assemble(d)
        model, data = ctypes.c_void_p(), ctypes.c_void_p()
        with Messages() as said:
            warnings = said.check(lib.sr_formulate(self._spec.pointer, *self._of(d), number, said.pointer,
                                                   byref(model), byref(data)), d.error_message)
        other = Model(Handle(model.value, lib.sr_model_destroy), self._spec, self.warnings + warnings, self.notes)
        other._initial = Data(other, Handle(data.value, lib.sr_data_destroy, other._handle))
        return other

    # ------------------------------------------------------------------------------------------------------------- verbs
    def check(self, formulation: str = "relative") -> Dict[str, Any]:
        """Topology and degrees of freedom, as `sarrus check --json`."""
        d, out = self.data(), ctypes.c_void_p()
        with Messages() as said:
            status = lib.sr_check_create(self._spec.pointer, *self._of(d), self._formulation(formulation), said.pointer, byref(out))
            warnings, notes = said.check(status), said.all(NOTE)
        check = Handle(out.value, lib.sr_check_destroy)
        told = report(lib.sr_report_check, check.pointer, None, JSON)
        told["inbody"] = np.asarray(told["inbody"], dtype=int)
        return {**told, "warnings": self.warnings + warnings, "notes": self.notes + notes}

    def eval(self, q: Vector = None, v: Vector = None, y: Vector = None, tau: Vector = None, t: "float | None" = None,
             bare: bool = False, formulation: "str | None" = None, contacts: str = "near",
             margin: "float | None" = None) -> Dict[str, Any]:
        """Everything at one state, as `sarrus eval --json`, with arrays. The initial state is brought to t, with its loops
        closed; a state that is given is taken as it is. contacts: the pairs of shapes that are listed, "near" (with gaps up to
        margin, 1e-3 m unless given) or "all"."""
        shown = _contacts(contacts, margin)
        d = self.data(q, v, y, tau, t)
        if not (bare or self.absolute):
            warn(self._at_time(d, q is not None, v is not None))
        if formulation in (None, self.formulation):
            return self._evaluated(d, bare, shown)
        if bare:
            raise ValueError("bare is the rigid tree alone: it has no formulation but the relative one")
        other = self.formulated(formulation, d)
        return other._evaluated(other.data(), False, shown)

    def _evaluated(self, d, bare, contacts):
        out = ctypes.c_void_p()
        with Messages() as said:
            warn(said.check(lib.sr_evaluation_create(*self._of(d), bare, said.pointer, byref(out))), 4)
        evaluation = Handle(out.value, lib.sr_evaluation_destroy, d._handle)
        lib.sr_evaluation_contacts(evaluation.pointer, *contacts)
        told = sensors(report(lib.sr_report_evaluation, evaluation.pointer, JSON))
        told["unique"] = np.array(told["unique"], dtype=bool)
        filled(told.get("bodies", told), {"M": (0, 0), "G": (0, self.nv), **dict.fromkeys("qvcfa", 0)})
        return filled(told, dict.fromkeys(("q", "v", "a", "y", "ydot", "lambda", "g", "gv"), 0))

    run = run
    step = step
