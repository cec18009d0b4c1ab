"""libsarrus by ctypes: where it is, its structs, its functions.

No struct is written down here but one: the library lists the members of its structs with their offsets
(include/sarrus/access.h), and the classes are made from that when the module is imported.
"""
import ctypes
import ctypes.util
import functools
import os
import pathlib
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_long, c_size_t, c_void_p

HERE = pathlib.Path(__file__).resolve().parent


_FOREIGN = ("asan", "tsan", "coverage", "wasm")  # builds that need a host of their own


def candidates():
    """Files that may be the library, best first: SARRUS_LIBRARY; next to the program SARRUS; inside of the package (a wheel); the build
    folders of the repository, build/ before build/*; the installed tree that contains the module; the system's search path."""
    given = os.environ.get("SARRUS_LIBRARY")
    if given:
        yield pathlib.Path(given)
        return
    program = os.environ.get("SARRUS")
    folders = [pathlib.Path(program).resolve().parent] if program else []
    folders.append(HERE / "lib")
    above = [*HERE.parents, *4 * [HERE]]  # a folder near the root has few
    builds = above[2] / "build"
    known = [builds, builds / "release", builds / "test"]
    folders += known + sorted(p for p in builds.glob("*") if p not in known and p.name not in _FOREIGN)
    prefix = above[3]  # PREFIX/share/sarrus/python/sarrus
    folders += [*sorted(prefix.glob("lib*")), *sorted(prefix.glob("lib*/*-linux-*"))]
    for folder in folders:
        yield from sorted(folder.glob("libsarrus.so*"))
    found = ctypes.util.find_library("sarrus")
    if found:
        yield pathlib.Path(found)


def open_library():
    tried = []
    for path in candidates():
        try:
            return ctypes.CDLL(str(path)), path
        except OSError as error:
            tried.append(f"  {path}: {error}")
    raise ImportError("libsarrus was not found; build it (cmake -B build && cmake --build build), install it, or name the file in "
                      "SARRUS_LIBRARY"
                      + ("\ntried:\n" + "\n".join(tried) if tried else ""))


lib, path = open_library()


# ------------------------------------------------------------------------------------------------------------- structs
class Member(ctypes.Structure):
    """srMember: the one struct that is written down, and compared with the library's own description."""
    _fields_ = [("of", c_char_p), ("name", c_char_p), ("type", c_int), ("offset", c_int), ("size", c_int)]


DOUBLE, INT, LONG, BOOL, TEXT, CHARS, POINTER_TO, BYTES = range(8)
_CTYPES = {DOUBLE: c_double, INT: c_int, LONG: c_long, BOOL: c_bool, TEXT: c_char_p, POINTER_TO: c_void_p,
           CHARS: ctypes.c_char, BYTES: ctypes.c_ubyte}


def _members():
    try:
        lib.sr_layout.restype, lib.sr_layout.argtypes = POINTER(Member), [c_int]
    except AttributeError:
        raise ImportError(f"{path} is older than this module: it does not export its struct layouts (sr_layout)") from None
    i = 0
    while True:
        row = lib.sr_layout(i)
        if not row:
            return
        yield row.contents
        i += 1


def _struct(name, size, members):
    fields, end = [], 0
    for member, kind, offset, length in members:
        if offset > end:
            fields.append((f"_gap{end}", ctypes.c_ubyte * (offset - end)))
        one = _CTYPES[kind]
        n = length // ctypes.sizeof(one)
        fields.append((member, one if n == 1 and kind not in (CHARS, BYTES) else one * n))
        end = offset + length
    if size > end:
        fields.append((f"_gap{end}", ctypes.c_ubyte * (size - end)))
    made = type(name, (ctypes.Structure,), {"_fields_": fields})
    right = ctypes.sizeof(made) == size and all(getattr(made, m).offset == o for m, _, o, _ in members)
    if not right:
        raise ImportError(f"{path}: the struct {name} cannot be laid out as the library declares it")
    return made


def _structs():
    told = {}
    for row in _members():
        name = row.of.decode()
        if row.name == b"":
            told[name] = (row.size, [])
        else:
            told[name][1].append((row.name.decode().replace(".", "_"), row.type, row.offset, row.size))
    mine = [(n, getattr(Member, n).offset) for n, _ in Member._fields_]
    if [(m, o) for m, _, o, _ in told.get("srMember", (0, []))[1]] != mine:
        raise ImportError(f"{path}: srMember of the library is not the one that this module was written for")
    return {name: _struct(name, size, members) for name, (size, members) in told.items()}


struct = _structs()
Attr, Array, Message, Place = struct["srAttr"], struct["srArray"], struct["srMessage"], struct["srPlace"]
Element, Field = struct["srElement"], struct["srField"]

# ----------------------------------------------------------------------------------------------------------- functions
P, S = c_void_p, c_char_p  # a pointer to something of the library; a text
D, I = c_double, c_int

_FUNCTIONS = {
    "sr_version": (S, []),
    "sr_status_text": (S, [I]),
    "sr_messages_create": (P, []),
    "sr_messages_destroy": (None, [P]),
    "sr_messages_count": (I, [P]),
    "sr_messages_get": (POINTER(Message), [P, I]),
    "sr_message_format": (None, [POINTER(Message), S, c_size_t]),
    "srs_create": (P, []),
    "srs_destroy": (None, [P]),
    "srs_add": (I, [P, I, I, P, P]),
    "srs_count": (I, [P, I]),
    "srs_get": (POINTER(Attr), [P, I, I]),
    "srs_owner": (I, [P, I, I]),
    "srs_place": (Place, [P, I, I]),
    "srs_set": (c_bool, [P, I, I, I, Attr]),
    "srs_element": (POINTER(Element), [I]),
    "srs_copy": (P, [P]),
    "sr_load": (I, [S, P, P, POINTER(P)]),
    "sr_load_text": (I, [S, c_size_t, S, S, P, P, POINTER(P)]),
    "sr_save": (I, [P, S, P]),
    "sr_save_text": (P, [P, POINTER(c_size_t)]),
    "sr_free_text": (None, [P]),
    "sr_save_as": (I, [P, S, S, P, POINTER(POINTER(struct["srConversion"]))]),
    "sr_conversion_destroy": (None, [P]),
    "sr_table_create": (I, [S, S, I, P, P, P, POINTER(P)]),
    "sr_table_row": (I, [P, P]),
    "sr_table_close": (I, [P, P]),
    "sr_table_read": (I, [S, P, POINTER(POINTER(struct["srResultTable"]))]),
    "sr_table_destroy": (None, [P]),
    "sr_compile": (I, [P, P, POINTER(P)]),
    "sr_lock_massless": (I, [P, P]),
    "sr_model_destroy": (None, [P]),
    "sr_point_find": (I, [P, S]),
    "sr_model_array": (c_bool, [P, S, POINTER(Array)]),
    "sr_model_array_name": (S, [I]),
    "sr_mesh_array": (c_bool, [P, I, S, POINTER(Array)]),
    "sr_data_array": (c_bool, [P, P, S, POINTER(Array)]),
    "sr_data_array_name": (S, [I]),
    "sr_word": (S, [S, I]),
    "sr_data_create": (P, [P]),
    "sr_data_destroy": (None, [P]),
    "sr_data_reset": (None, [P, P]),
    "sr_data_copy": (None, [P, P, P]),
    "sr_rnea": (None, [P, P, P, P, P, P]),
    "sr_crba": (None, [P, P, P, P]),
    "sr_aba": (I, [P, P, P, P, P, P]),
    "sr_joint_accelerations": (None, [P, P, P]),
    "sr_frame_motion": (None, [P, P, I, I, POINTER(struct["srFrameMotion"])]),
    "sr_frame_jacobian": (None, [P, P, I, I, P]),
    "sr_energy": (None, [P, P, POINTER(D), POINTER(D)]),
    "sr_momentum": (None, [P, P, P, POINTER(D), P]),
    "sr_qdot": (None, [P, P, P, P]),
    "sr_retract": (None, [P, P, P, P]),
    "sr_difference": (None, [P, P, P, P]),
    "sr_normalize": (None, [P, P]),
    "sr_evaluate": (I, [P, P, D, P, P, P, I]),
    "sr_constraints": (I, [P, P]),
    "sr_constraint_gamma": (I, [P, P]),
    "sr_constraint_velocity": (None, [P, P, P, P]),
    "sr_constraint_matrix": (None, [P, P, P]),
    "sr_linearize": (I, [P, P, P, POINTER(POINTER(struct["srLinear"]))]),
    "sr_linear_destroy": (None, [P]),
    "sr_rank_create": (I, [P, P, POINTER(POINTER(struct["srRank"]))]),
    "sr_rank_destroy": (None, [P]),
    "sr_reactions": (I, [P, P, P]),
    "sr_reactions_unique": (None, [P, P, P, P]),
    "sr_mass": (None, [P, P]),
    "sr_assemble": (I, [P, P, P, POINTER(struct["srAssembly"])]),
    "sr_assembled_spec": (I, [P, P, POINTER(P)]),
    "sr_state_at_time": (I, [P, P, c_bool, c_bool, P, POINTER(struct["srAssembly"])]),
    "sr_inverse_kinematics": (I, [P, P, POINTER(struct["srTarget"]), I, P, P, POINTER(struct["srInverseKinematics"])]),
    "sr_start": (I, [P, P, I, P]),
    "sr_start_outside": (I, [P, P, P]),
    "sr_formulate": (I, [P, P, P, I, P, POINTER(P), POINTER(P)]),
    "sr_parameter_find": (I, [P, S]),
    "sr_generated_use": (I, [P, c_bool, P]),
    "sr_generated_used": (c_bool, [P]),
    "sr_batch_create": (I, [P, P, P, POINTER(P)]),
    "sr_batch_destroy": (None, [P]),
    "sr_batch_random": (I, [P, S, P]),
    "sr_batch_reset": (I, [P, P, ctypes.c_ulonglong]),
    "sr_batch_width": (I, [P, I]),
    "sr_batch_get": (None, [P, I, P]),
    "sr_batch_set": (None, [P, I, P]),
    "sr_batch_rows": (None, [P, P, P, I, P]),
    "sr_batch_row": (ctypes.c_bool, [P, I, P, I, P]),
    "sr_batch_step": (I, [P, I]),
    "sr_batch_lanes": (I, [P]),
    "sr_stepper_create": (I, [P, POINTER(struct["srRunOptions"]), P, POINTER(P)]),
    "sr_stepper_destroy": (None, [P]),
    "sr_step": (I, [P, P, I, P]),
    "sr_step_ended": (c_bool, [P]),
    "sr_step_result": (POINTER(struct["srRunResult"]), [P]),
    "sr_run_options": (struct["srRunOptions"], [P]),
    "sr_run": (I, [P, P, POINTER(struct["srRunOptions"]), P, POINTER(struct["srRunResult"])]),
    "sr_text_free": (None, [POINTER(struct["srText"])]),
    "sr_assembly_change_create": (I, [P, P, P, POINTER(P)]),
    "sr_assembly_change_destroy": (None, [P]),
    "sr_report_assembly": (None, [P, P, POINTER(struct["srText"])]),
    "sr_check_create": (I, [P, P, P, I, P, POINTER(P)]),
    "sr_check_destroy": (None, [P]),
    "sr_report_check": (None, [P, P, I, POINTER(struct["srText"])]),
    "sr_evaluation_create": (I, [P, P, c_bool, P, POINTER(P)]),
    "sr_evaluation_contacts": (None, [P, c_bool, D]),
    "sr_evaluation_destroy": (None, [P]),
    "sr_report_evaluation": (None, [P, I, POINTER(struct["srText"])]),
    "sr_comparison_defaults": (struct["srComparison"], []),
    "sr_comparison_name": (None, [POINTER(struct["srComparison"]), I]),
    "sr_comparison_samples": (I, []),
    "sr_comparison_clear": (None, [POINTER(struct["srComparison"])]),
    "sr_executor_here": (struct["srExecutor"], [P]),
    "sr_compare": (I, [POINTER(struct["srComparison"]), POINTER(struct["srExecutor"])]),
    "sr_report_comparison": (None, [POINTER(struct["srComparison"]), P, I, POINTER(struct["srText"])]),
    "sr_method_trials_create": (I, [POINTER(struct["srComparedModel"]), D, I, POINTER(struct["srExecutor"]), P,
                                    POINTER(POINTER(struct["srMethodTrials"]))]),
    "sr_method_trials_destroy": (None, [P]),
    "sr_report_recommendation": (None, [POINTER(struct["srRecommendation"]), I, POINTER(struct["srText"])]),
    "sr_plot_create": (I, [POINTER(struct["srPlotDef"]), POINTER(P)]),
    "sr_plot_destroy": (None, [P]),
    "sr_plot_panel": (I, [P, I, I, POINTER(struct["srPlotPanel"])]),
    "sr_plot_series": (I, [P, I, I, POINTER(struct["srPlotSeries"])]),
    "sr_plot_write_text": (I, [P, P, POINTER(P), POINTER(c_size_t)]),
    "sr_warn_redundancy": (None, [P, P, P]),
    "sr_warn_method_options": (None, [POINTER(struct["srRunOptions"]), POINTER(struct["srRunGiven"]), P]),
    "sr_warn_constraint_options": (None, [P, POINTER(struct["srRunOptions"]), POINTER(struct["srRunGiven"]), P]),
    "sr_run_conclude": (None, [P, P, POINTER(struct["srRunOptions"]), POINTER(struct["srRunResult"]), P]),
    "sr_report_run_provenance": (None, [P, POINTER(struct["srRunOptions"]), S, P, I, POINTER(struct["srText"])]),
    "sr_report_run": (None, [POINTER(struct["srRunReport"]), I, POINTER(struct["srText"])]),
    "sr_record_columns_create": (I, [P, P, I, P, POINTER(POINTER(struct["srColumns"]))]),
    "sr_recording_create": (I, [P, P, I, P, POINTER(P)]),
    "sr_recording_destroy": (None, [P]),
    "sr_recording_row": (I, [P, P, P]),
    "sr_report_recordable": (None, [P, I, POINTER(struct["srText"])]),
    "sr_columns_destroy": (None, [P]),
    "sr_page_create_table": (I, [P, P, P, POINTER(P)]),
    "sr_page_table_row": (I, [P, P, P]),
    "sr_page_write": (I, [P, P, S, P, P]),
    "sr_page_destroy": (None, [P]),
    "sr_row_store_create": (P, [I]),
    "sr_row_store_destroy": (None, [P]),
    "sr_row_store_rows": (P, [P, POINTER(c_long)]),
    "sr_row_store_complete": (c_bool, [P]),
    "sr_row_store_time": (D, [P]),
    "sr_row_store_stop": (None, [P]),
    "sr_row_store_stopped": (I, [P]),
    "sr_friction_find": (P, [S]),
    "sr_friction_defaults": (struct["srFrictionParameters"], []),
    "sr_normal_find": (P, [S]),
    "sr_normal_defaults": (struct["srNormalParameters"], []),
    "sr_network_create": (P, [P]),
    "sr_network_destroy": (None, [P]),
    "sr_network_admittance": (I, [P, S, P, P, I, P]),
    "sr_network_impedance": (I, [P, S, P, P, I]),
    "sr_network_element": (I, [P, S, POINTER(struct["srElementForm"]), P]),
    "sr_network_map": (I, [P, S, I, I, P, P]),
    "sr_network_wires": (I, [P, D, I, I, I, I, I]),
    "sr_network_constant": (I, [P, D, I, I]),
    "sr_network_mass": (I, [P, S, D, P, P]),
    "sr_network_body": (I, [P, S, POINTER(struct["srRigidDef"])]),
    "sr_network_multibody": (I, [P, S, P, P, P, I]),
    "sr_network_friction": (I, [P, S, P, POINTER(struct["srFrictionParameters"]), I, D, D]),
    "sr_network_plane": (I, [P, S, POINTER(struct["srPlaneDef"])]),
    "sr_network_clamps": (c_long, [P, I]),
    "sr_network_ground": (struct["srTerminal"], [P, P]),
    "sr_network_mass_terminal": (struct["srTerminal"], [P, I]),
    "sr_network_body_terminal": (struct["srTerminal"], [P, I, P, c_bool]),
    "sr_network_joint_terminal": (struct["srTerminal"], [P, I, S]),
    "sr_network_point_terminal": (struct["srTerminal"], [P, I, S]),
    "sr_network_axis_terminal": (struct["srTerminal"], [P, struct["srTerminal"], struct["srTerminal"], P]),
    "sr_terminal_part": (struct["srTerminal"], [struct["srTerminal"], I, I]),
    "sr_network_attach": (I, [P, I, struct["srTerminal"]]),
    "sr_network_between": (I, [P, I, struct["srTerminal"], struct["srTerminal"]]),
    "sr_network_distance_force": (I, [P, I, struct["srTerminal"], struct["srTerminal"]]),
    "sr_network_frames": (I, [P, I, struct["srTerminal"], struct["srTerminal"]]),
    "sr_network_push": (I, [P, struct["srTerminal"], P]),
    "sr_network_apply": (I, [P, D, I, I, struct["srTerminal"]]),
    "sr_network_plugin": (I, [P, S]),
    "sr_network_find_impedance": (P, [P, S]),
    "sr_network_find_admittance": (P, [P, S]),
    "sr_network_set_names": (I, [P, I, I, P, P]),
    "sr_network_signals": (I, [P, I, I]),
    "sr_network_signal_name": (S, [P, I, I, I]),
    "sr_network_signal_find": (I, [P, I, I, S]),
    "sr_network_component": (struct["srComponentInfo"], [P, I]),
    "sr_network_ready": (I, [P, I]),
    "sr_network_threads": (I, [P]),
    "sr_network_start": (I, [P, D]),
    "sr_network_step": (I, [P, D]),
    "sr_network_euler": (I, [P, D]),
    "sr_network_evaluate": (I, [P, D]),
    "sr_network_error_message": (S, [P]),
    "sr_network_time": (D, [P]),
    "sr_network_count": (I, [P]),
    "sr_network_find": (I, [P, S]),
    "sr_network_state": (P, [P, I]),
    "sr_network_output": (P, [P, I]),
    "sr_network_input": (P, [P, I]),
    "sr_is_network": (c_bool, [S]),
    "sr_network_load": (I, [S, P, P, POINTER(POINTER(struct["srNetworkFile"]))]),
    "sr_network_file_destroy": (None, [P]),
    "sri_method_count": (I, []),
    "sri_method_find": (POINTER(struct["srMethod"]), [S]),
    "sri_positions_options": (struct["srIntegratorOptions"], []),
}


def _declare():
    missing = [name for name in _FUNCTIONS if not hasattr(lib, name)]
    if missing:
        raise ImportError(f"{path} is not of the version of this module: it has no {', '.join(missing)}")
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments


_declare()
OK, FAILED, INPUT, MEMORY = range(4)  # srStatus
NO_OWNER, GROUND = -1, -2


def texts(function, *leading):
    """All texts of a function that ends with None: word lists, names."""
    out = []
    while True:
        text = function(*leading, len(out))
        if text is None:
            return tuple(out)
        out.append(text.decode())


@functools.lru_cache(maxsize=None)
def words(name):
    return texts(lib.sr_word, name.encode())


MODEL_NAMES = texts(lib.sr_model_array_name)
DATA_NAMES = texts(lib.sr_data_array_name)


def text_list(address, n):
    """n texts from a const char* const*."""
    return [x.decode() if x else "" for x in (c_char_p * n).from_address(address)] if n else []


__all__ = ["lib", "struct", "byref"]
