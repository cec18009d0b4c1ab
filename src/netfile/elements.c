// The tables of network files: see elements.h.
#include "netfile/elements.h"

#include <sarrus/words.h>
#include <string.h>

#include "base/base.h"
#include "io/native/native.h"

#define COMPONENT_NAME                                                                                                 \
  { "name", "NAME", "1", "!", "", "name of the component" }
#define ATTACHED                                                                                                       \
  {"to", "REF", "1", "", "", "terminal that it is attached to"},                                                       \
      {"a", "REF", "1", "", "", "terminal that its motion is measured from, instead of `to`"}, {                       \
    "b", "REF", "1", "", "", "terminal that moves against a: the force acts on b, its reaction on a"                   \
  }
#define FRICTION_SHAPE                                                                                                 \
  {"v0", "FORMULA", "1", "1e-3", "m/s or rad/s", "speed up to which a regularised law rises (ambrosio: is 0)"},        \
      {"v1", "FORMULA", "1", "1e-2", "m/s or rad/s", "speed from which ambrosio gives the full force"},                \
      {"xi", "FORMULA", "1", "100", "s/m or s/rad", "decay of bengisu-akay after its peak"},                           \
      {"vs", "FORMULA", "1", "1e-2", "m/s or rad/s", "Stribeck speed"},                                                \
      {"delta", "FORMULA", "1", "2", "", "Stribeck exponent, 1 or more"},                                              \
      {"elements", "FORMULA", "1", "8", "", "iwan: number of elements"}, {                                             \
    "spread", "FORMULA", "1", "1", "", "iwan: strengths are between 1 - spread and 1 + spread of their mean"           \
  }

static const srField network_fields[] = {
    {"version", "WORD", "1", "!", "", "version of the format"},
    {"name", "NAME", "1", "network", "", "name of the network"},
};
static const srField parameter_fields[] = {
    {"name", "NAME", "1", "!", "", "name of the parameter, usable in every formula"},
    {"value", "FORMULA", "1", "!", "", "value; may use parameters defined before it"},
};
static const srField plugin_fields[] = {
    {"library", "FILE", "1", "!", "",
     "shared library with impedances and admittances: a name, searched for next to the file, or a path in its folder"},
};
static const srField mass_fields[] = {
    COMPONENT_NAME,
    {"mass", "FORMULA", "1", "!", "kg", "mass"},
    {"at", "FORMULA", "3", "0 0 0", "m", "initial position"},
    {"v", "FORMULA", "3", "0 0 0", "m/s", "initial velocity"},
};
static const srField body_fields[] = {
    COMPONENT_NAME,
    {"mass", "FORMULA", "1", "!", "kg", "mass"},
    {"inertia", "FORMULA", "3|6", "!", "kg m^2", "xx yy zz [xy xz yz] about the centre of mass, in the body's axes"},
    {"at", "FORMULA", "3", "0 0 0", "m", "initial position of the centre of mass"},
    {"rot", "FORMULA", "4", "1 0 0 0", "", "initial orientation: quaternion w x y z"},
    {"v", "FORMULA", "3", "0 0 0", "m/s", "initial velocity of the centre of mass"},
    {"w", "FORMULA", "3", "0 0 0", "rad/s", "initial angular velocity, inertial axes"},
};
static const srField mechanism_fields[] = {
    COMPONENT_NAME,
    {"file", "FILE", "1", "!", "",
     "model file, URDF, MJCF or ROBOTRAN file: path relative to this file, inside its folder"},
    {"base", "WORD", "fixed|floating", "", "", "URDF: how the robot is attached to the ground"},
    {"lock-massless", "WORD", "no|yes", "no", "", "hold joints where they start that nothing with mass moves with"},
};
static const srField only_name_fields[] = {COMPONENT_NAME};
static const srField admittance_fields[] = {
    COMPONENT_NAME,
    {"law", "REF", "1", "!", "", "admittance that a plugin registers"},
    {"parameters", "FORMULA", "1-", "", "", "its parameters"},
};
static const srField spring_fields[] = {
    COMPONENT_NAME,
    {"stiffness", "FORMULA", "1", "!", "N/m or Nm/rad", "force is preload - stiffness*(x - length) - damping*v"},
    {"length", "FORMULA", "1", "0", "m or rad", "position or distance where it is relaxed"},
    {"preload", "FORMULA", "1", "0", "N or Nm", "force at its length"},
    {"damping", "FORMULA", "1", "0", "Ns/m or Nms/rad", "damper beside it"},
    ATTACHED,
};
static const srField damper_fields[] = {
    COMPONENT_NAME,
    {"damping", "FORMULA", "1", "!", "Ns/m or Nms/rad", "force is -damping*v"},
    ATTACHED,
};
static const srField stop_fields[] = {
    COMPONENT_NAME,
    {"lower", "FORMULA", "1", "!", "m or rad", "lower end of the range"},
    {"upper", "FORMULA", "1", "!", "m or rad", "upper end of the range"},
    {"stiffness", "FORMULA", "1", "!", "N/m or Nm/rad", "beyond the range"},
    {"damping", "FORMULA", "1", "0", "Ns/m or Nms/rad", "beyond the range"},
    ATTACHED,
};
static const srField bushing_fields[] = {
    COMPONENT_NAME,
    {"stiffness", "FORMULA", "6", "!", "Nm/rad, N/m", "about x y z, along x y z of a's axes"},
    {"damping", "FORMULA", "6", "0 0 0 0 0 0", "Nms/rad, Ns/m", "the same of the dampers"},
    {"a", "REF", "1", "!", "", "first frame: a terminal at a point of a body, or the ground"},
    {"b", "REF", "1", "!", "", "second frame"},
};
static const srField hinge_fields[] = {
    COMPONENT_NAME,
    {"stiffness", "FORMULA", "1", "!", "N/m", "against separation"},
    {"damping", "FORMULA", "1", "0", "Ns/m", "of the separation"},
    {"bending-stiffness", "FORMULA", "1", "!", "Nm/rad", "against bending of the axis"},
    {"bending-damping", "FORMULA", "1", "0", "Nms/rad", "of the bending"},
    {"axis", "FORMULA", "3", "!", "", "axis of rotation, in the axes of both frames"},
    {"a", "REF", "1", "!", "", "first frame: a terminal at a point of a body, or the ground"},
    {"b", "REF", "1", "!", "", "second frame"},
};
static const srField friction_fields[] = {
    COMPONENT_NAME,
    {"law", "REF", "1", "kikuuwe", "", SR_FRICTION_LIST(SR_LAW_TEXT) "by name"},
    {"directions", "FORMULA", "1", "1", "", "velocities that it takes, 1 to 3"},
    {"F", "FORMULA", "1", "!", "N or Nm", "largest force at rest"},
    {"Fk", "FORMULA", "1", "", "N or Nm", "force while it slips; default F"},
    {"K", "FORMULA", "1", "", "N/m or Nm/rad", "stiffness of the bristles; needed by laws that have some"},
    {"B", "FORMULA", "1", "0", "Ns/m or Nms/rad", "damping of the bristles"},
    {"D", "FORMULA", "1", "0", "Ns/m or Nms/rad", "viscous friction while it slips"},
    FRICTION_SHAPE,
    ATTACHED,
};
static const srField plane_fields[] = {
    COMPONENT_NAME,
    {"at", "FORMULA", "3", "0 0 0", "m", "a point of the plane"},
    {"direction", "FORMULA", "3", "0 0 1", "", "its normal, towards the free side; any length but zero"},
    {"normal", "REF", "1", "kelvin-voigt", "", "normal law; none that needs the speed at first touch"},
    {"K", "FORMULA", "1", "!", "N/m^n", "stiffness"},
    {"n", "FORMULA", "1", "1.5", "", "exponent of the penetration (hooke, kelvin-voigt: always 1)"},
    {"D", "FORMULA", "1", "0", "Ns/m", "damping of kelvin-voigt"},
    {"friction", "REF", "1", "none", "", "none, " SR_FRICTION_LIST(SR_LAW_TEXT) "by name"},
    {"mu-s", "FORMULA", "1", "", "", "static friction; default mu-k"},
    {"mu-k", "FORMULA", "1", "", "", "kinetic friction; default mu-s"},
    {"mu-v", "FORMULA", "1", "0", "s/m", "viscous friction per newton of normal force"},
    {"bristle-K", "FORMULA", "1", "", "N/m", "stiffness of the bristles; default K of a law with exponent 1"},
    {"bristle-B", "FORMULA", "1", "0", "Ns/m", "damping of the bristles"},
    FRICTION_SHAPE,
    {"to", "REF", "1", "", "", "terminal of the point: a mass, a point of a body or of a mechanism"},
};
static const srField impedance_fields[] = {
    COMPONENT_NAME,
    {"law", "REF", "1", "!", "", "impedance that a plugin registers, or a built-in one"},
    {"parameters", "FORMULA", "1-", "", "", "its parameters"},
    ATTACHED,
};
static const srField formula_impedance_fields[] = {COMPONENT_NAME, ATTACHED};
static const srField set_fields[] = {
    {"parameter", "REF", "1", "!", "", "parameter of the model"},
    {"value", "FORMULA", "1", "!", "", "its value in this network"},
};
static const srField input_fields[] = {
    {"name", "NAME", "1", "!", "", "name in the formulas of the component"},
    {"unit", "NAME", "1", "", "", "unit, for the columns of results"},
};
static const srField state_fields[] = {
    {"name", "NAME", "1", "!", "", "name in the formulas of the component"},
    {"initial", "FORMULA", "1", "0", "", "value at the start"},
    {"rate", "LAW", "1", "!", "", "its time derivative: a formula of t, inputs and states"},
    {"unit", "NAME", "1", "", "", "unit, for the columns of results"},
};
static const srField output_fields[] = {
    {"name", "NAME", "1", "!", "", "name of the signal"},
    {"value", "LAW", "1", "!", "",
     "formula of t and, in <map>, of the inputs; in <equations> of the states: motion never depends on the inputs"},
    {"unit", "NAME", "1", "", "", "unit, for the columns of results"},
};
static const srField force_fields[] = {
    {"name", "NAME", "1", "!", "", "name of the signal"},
    {"value", "LAW", "1", "!", "", "formula of t, tau (stage length), positions, velocities and states"},
    {"unit", "NAME", "1", "", "", "unit, for the columns of results"},
};
static const srField terminal_fields[] = {
    {"name", "NAME", "1", "!", "", "name of the terminal"},
    {"of", "REF", "1", "!", "", "component: a mass, a body, a mechanism; or another terminal, with `part`"},
    {"coordinate", "REF", "1", "", "", "mechanism: name of a velocity coordinate of a joint"},
    {"point", "REF", "1", "", "", "mechanism: a point, body/point or body"},
    {"at", "FORMULA", "3", "", "m", "body: the point, from the centre of mass; default 0 0 0"},
    {"axes", "WORD", "body|inertial", "", "",
     "body: axes of `at`; inertial: a place below or beside the centre, as where a sphere rolls; default body"},
    {"part", "REF", "1-", "", "",
     "some of its coordinates, neighbours: x y z, of bodies and points before them rx ry rz"},
};
static const srField ground_fields[] = {
    {"name", "NAME", "1", "!", "", "name of the terminal"},
    {"at", "FORMULA", "3", "0 0 0", "m", "where it is"},
};
static const srField axis_fields[] = {
    {"name", "NAME", "1", "!", "", "name of the terminal"},
    {"a", "REF", "1", "!", "", "terminal at a point of a body, or the ground"},
    {"b", "REF", "1", "!", "", "terminal that rotates against a"},
    {"axis", "FORMULA", "3", "!", "", "axis of rotation, in a's axes"},
};
static const srField wire_fields[] = {
    {"from", "REF", "1", "!", "", "output: COMPONENT.SIGNAL"},
    {"to", "REF", "1", "!", "", "input: COMPONENT.SIGNAL"},
    {"coefficient", "FORMULA", "1", "1", "", "factor; the signals of all wires to an input are added"},
    {"count", "FORMULA", "1", "1", "", "so many outputs from this one on, to as many inputs"},
};
static const srField constant_fields[] = {
    {"to", "REF", "1", "!", "", "input: COMPONENT.SIGNAL"},
    {"value", "FORMULA", "1-", "!", "", "added to the input; several: to those that follow too"},
};
static const srField push_fields[] = {
    {"terminal", "REF", "1", "!", "", "terminal that the force acts on"},
    {"force", "FORMULA", "1-6", "!", "N, Nm", "constant, as many as it has coordinates (6: moment, then force)"},
};
static const srField apply_fields[] = {
    {"from", "REF", "1", "!", "", "output, and those behind it: as many as the terminal has coordinates"},
    {"terminal", "REF", "1", "!", "", "terminal that the force acts on"},
    {"coefficient", "FORMULA", "1", "1", "", "factor"},
};
static const srField record_fields[] = {
    {"what", "REF", "1", "!", "",
     "column, or a pattern with * and ?: bearing.f, input(table).*, state(bearing).0; `sarrus run FILE --record list` "
     "lists them"},
};
static const srField run_fields[] = {
    {"t-end", "FORMULA", "1", "1", "s", "end of the simulation"},
    {"method", "WORD", "rk4|euler", "rk4", "", "modular Runge-Kutta method, or forward Euler"},
    {"step", "FORMULA", "1", "1e-3", "s", "step"},
    {"every", "FORMULA", "1", "", "s", "time between rows of the result; default t-end/1000"},
    {"threads", "FORMULA", "1", "1", "", "threads; results do not depend on their number"},
};

#define E(word, where, doc, fields)                                                                                    \
  { word, where, doc, fields, SR_COUNT(fields) }
static const srElement elements[SR_NET_REPEAT] = {
    [SR_NET_NETWORK] = E("network", "", "the root of a network file", network_fields),
    [SR_NET_PARAMETER] = E("parameter", "network", "a named number", parameter_fields),
    [SR_NET_PLUGIN] = E("plugin", "network", "loads components from a shared library", plugin_fields),
    [SR_NET_MASS] = E("mass", "network", "point mass (`sr_network_mass`)", mass_fields),
    [SR_NET_BODY] = E("body", "network", "rigid body (`sr_network_body`)", body_fields),
    [SR_NET_MECHANISM] =
        E("mechanism", "network", "a model with its own force elements and constraints (`sr_network_multibody`)",
          mechanism_fields),
    [SR_NET_EQUATIONS] = E("equations", "network",
                           "an admittance by formulas: its <input>, <state> and <output> are inside", only_name_fields),
    [SR_NET_ADMITTANCE] = E("admittance", "network", "an admittance of a plugin", admittance_fields),
    [SR_NET_SPRING] =
        E("spring", "network", "spring and damper on a coordinate, a difference or a distance", spring_fields),
    [SR_NET_DAMPER] = E("damper", "network", "damper on a coordinate, a difference or a distance", damper_fields),
    [SR_NET_STOP] = E("stop", "network", "ends of the range of a coordinate, by stiffness", stop_fields),
    [SR_NET_BUSHING] = E("bushing", "network", "springs and dampers between two frames", bushing_fields),
    [SR_NET_HINGE] = E("hinge", "network", "a revolute joint by penalty (`sr_law_hinge`)", hinge_fields),
    [SR_NET_FRICTION] = E("friction", "network", "dry friction (`sr_network_friction`)", friction_fields),
    [SR_NET_PLANE] = E("plane", "network", "contact of a point with a plane (`sr_network_plane`)", plane_fields),
    [SR_NET_IMPEDANCE] =
        E("impedance", "network", "an impedance by the name of its law (`sr_network_impedance`)", impedance_fields),
    [SR_NET_FORMULA_IMPEDANCE] =
        E("element", "network",
          "an impedance by formulas (`sr_network_element`): its <position>, <velocity>, <state> and <force> are inside",
          formula_impedance_fields),
    [SR_NET_MAP] = E("map", "network", "a function of signals: its <input> and <output> are inside", only_name_fields),
    [SR_NET_SET] = E("set", "mechanism", "value of a parameter of the model", set_fields),
    [SR_NET_INPUT] = E("input", "equations|map", "an input", input_fields),
    [SR_NET_POSITION] =
        E("position", "element", "a position that it takes; positions come before velocities", input_fields),
    [SR_NET_VELOCITY] = E("velocity", "element", "a velocity that it takes", input_fields),
    [SR_NET_STATE] = E("state", "equations|element", "a state", state_fields),
    [SR_NET_OUTPUT] = E("output", "equations|map", "an output", output_fields),
    [SR_NET_FORCE] = E("force", "element", "a force that it gives", force_fields),
    [SR_NET_TERMINAL] =
        E("terminal", "network", "a place where impedances attach: motion out, force in", terminal_fields),
    [SR_NET_GROUND] = E("ground", "network", "a terminal that does not move", ground_fields),
    [SR_NET_AXIS] =
        E("axis", "network", "a terminal of one coordinate: rotation of b against a (velocity alone)", axis_fields),
    [SR_NET_WIRE] = E("wire", "network", "adds an output to an input", wire_fields),
    [SR_NET_CONSTANT] = E("constant", "network", "adds a constant to an input", constant_fields),
    [SR_NET_PUSH] = E("push", "network", "a constant force on a terminal", push_fields),
    [SR_NET_APPLY] = E("apply", "network", "signals as force on a terminal", apply_fields),
    [SR_NET_RECORD] = E("record", "network", "more columns in the result of a run", record_fields),
    [SR_NET_RUN] = E("run", "network", "defaults for `sarrus run`", run_fields),
};

const srElement* sr_net_element(srNetKind kind) {
  return kind == SR_NET_REPEAT ? sr_file_element(SR_FILE_REPEAT) : &elements[kind];
}

int sr_net_element_find(const char* word) {
  for (int k = 0; k < SR_NET_KINDS; k++)
    if (strcmp(sr_net_element((srNetKind)k)->word, word) == 0) return k;
  return -1;
}

int sr_net_field(srNetKind kind, const char* word) {
  const srElement* e = sr_net_element(kind);
  int k = 0;
  while (k < e->nfield && strcmp(e->fields[k].word, word) != 0) k++;
  SR_ASSERT(k < e->nfield);
  return k;
}
