// Networks (Kikuuwe and Yamamoto, section II): any number of admittances (force in, motion out) and impedances (motion in, force out),
// connected by maps, stepped together stage by stage. docs/using/network.md
//
//   for r = 1..4                                                                                      eq 13 with 22
//     x_j = x_j(k) + T_{r-1} xi_{j,r-1}        y_i = y_i(k) + T_{r-1} eta_{i,r-1}
//     motion of all admittances -> Psi -> (u_i, eta_{i,r}) = I_i(x^_i, y_i; T_r) -> Phi -> xi_{j,r} = A_j(x_j, u^_j)
//   x_j(k+1) = x_j(k) + T/6 (xi_{j,1} + 2 xi_{j,2} + 2 xi_{j,3} + xi_{j,4}),   y_i likewise
//   {T_0 .. T_4} = {0, T/2, T/2, T, T}
//
// Components are numbered in the order they are added. Psi and Phi are wires (input += coefficient * output, constants) and
// maps (any function) between them; the network sorts them itself. Errors are reported in the messages given
// to sr_network_create; the function then returns -1 (SR_REFUSED), and sr_network_ready refuses the network.
//
// Signs: the force of an impedance is the force that acts on the motion it sees (power f . xdot into the admittances), as
// in force.h. So it is wired with +1 to what moves and with -1 to what it is measured from. Kikuuwe and Yamamoto print the resisting
// force, to be applied with minus.
#ifndef SARRUS_NETWORK_H
#define SARRUS_NETWORK_H

#include <sarrus/admittance.h>
#include <sarrus/force.h>
#include <sarrus/integrate.h>
#include <sarrus/laws.h>
#include <sarrus/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct srNetwork srNetwork;
#define SR_REFUSED (-1)

// messages may be NULL; it must outlive the network. NULL: out of memory.
SR_API srNetwork* sr_network_create(srMessages* messages);
SR_API void sr_network_destroy(srNetwork* network);

// ---------------------------------------------------------------------------------------------------- components
// All return the number of the component. Structs, names and parameters are copied; what self points to is not.
SR_API int sr_network_admittance(srNetwork* network, const char* name, const srAdmittance* admittance, const double* p,
                                 int np, void* self);
// Inputs: x, then xdot, as many as its port has (1 or 6); outputs: f.
SR_API int sr_network_impedance(srNetwork* network, const char* name, const srImpedance* law, const double* p, int np);

// An impedance of any size, with an object of its own. In `in`, p and formula are NULL.
typedef struct srElementForm {
  int nx, nxdot, nf;  // positions and velocities it takes, forces it gives
  int ny;             // states
  const double* y0;   // NULL: zero
  int (*evaluate)(void* self, const srImpedanceIn* in, srImpedanceOut* out);
} srElementForm;
SR_API int sr_network_element(srNetwork* network, const char* name, const srElementForm* form, void* self);

// A function of signals: a part of Psi or Phi. With nin = 0 a function of time. Outputs are zeroed before the call.
typedef int (*srMapFunction)(void* self, double t, const double* in, double* out);
SR_API int sr_network_map(srNetwork* network, const char* name, int nin, int nout, srMapFunction evaluate, void* self);

typedef enum srComponentKind { SR_ADMITTANCE, SR_IMPEDANCE, SR_ELEMENT, SR_MAP } srComponentKind;

// tau of a component when the method has no stage length of its own (sr_network_system). 1e-4 s unless set.
SR_API srStatus sr_network_set_tau(srNetwork* network, int component, double tau);

// ------------------------------------------------------------------------------------------------------- wires
// input `in` of `to` += coefficient * output `out` of `from`. Sums are taken in the order of the wires.
SR_API srStatus sr_network_wire(srNetwork* network, double coefficient, int from, int out, int to, int in);
SR_API srStatus sr_network_wires(srNetwork* network, double coefficient, int from, int out, int to, int in, int count);
SR_API srStatus sr_network_constant(srNetwork* network, double value, int to, int in);

// ------------------------------------------------------------------------------------------------- built-in components
// Point mass (eq 7): states and outputs p, v (3 + 3); input: force (3).
SR_API int sr_network_mass(srNetwork* network, const char* name, double mass, const double p[3], const double v[3]);
// Rigid body (eq 26): states p, v, q (w x y z), angular velocity in the body's axes: 13. Outputs p, v, q, angular velocity
// in inertial axes. Inputs: force, moment about the centre of mass, inertial axes (3 + 3).
typedef struct srRigidDef {
  double mass;        // kg
  double inertia[9];  // kg m^2, about the centre of mass, body axes, rows
  double p[3], v[3];  // m, m/s, of the centre of mass
  double q[4];        // all 0: 1 0 0 0
  double w[3];        // rad/s, inertial axes
} srRigidDef;
SR_API int sr_network_body(srNetwork* network, const char* name, const srRigidDef* def);
// A mechanism (eq 8), its own force elements and constraints included, from the state of d (NULL: the initial one; a constrained
// model must be assembled). States q, v, y; outputs: joint coordinates (njq), their rates (njv), then 16 numbers for each of
// the named points ("arm/tip"): 0 0 0 position, angular velocity velocity, quaternion. Inputs: forces on the joint
// coordinates (njv), then moment and force at each point, inertial axes (6). The model must outlive the network.
SR_API int sr_network_multibody(srNetwork* network, const char* name, const srModel* m, const srData* d,
                                const char* const* points, int npoint);

// A friction law over n velocities (eq 19): inputs xdot (n), outputs the force on the body (n): that of the law with minus.
SR_API int sr_network_friction(srNetwork* network, const char* name, const srFrictionLaw* law,
                               const srFrictionParameters* p, int n, double Fs, double Fk);
// A point on a plane (eq 23), by a normal law (kelvin-voigt in Kikuuwe and Yamamoto; none that needs the approach velocity) and a
// friction law with the limits mu_s N and mu_k N. Inputs: position and velocity of the point (3 + 3); output: force on it.
typedef struct srPlaneDef {
  double point[3], normal[3];  // of the plane; the normal points to the free side, any length
  const srNormalLaw* normal_law;
  srNormalParameters normal_p;
  const srFrictionLaw* friction;  // NULL: smooth
  srFrictionParameters friction_p;
  double mu_s, mu_k;
} srPlaneDef;
SR_API int sr_network_plane(srNetwork* network, const char* name, const srPlaneDef* def);
// Number of evaluations so far in which the normal law was clamped at 0.
SR_API long sr_network_clamps(const srNetwork* network, int component);

// ---------------------------------------------------------------------------------------------------------- terminals
// A port to which impedances are attached: motion out, force in. n = 0: refused.
typedef struct srTerminal {
  int n;                // coordinates: 1 of a joint, 3 of a point mass, 6 of a point of a body (angular first)
  int motion, x, xdot;  // component that gives the motion, first output of positions (-1: none) and of velocities
  int attitude;         // first output of its quaternion, -1: none
  int force, f;         // component that takes the force, and its first input; -1: the ground takes it
} srTerminal;

SR_API srTerminal sr_network_ground(srNetwork* network,
                                    const double p[3]);  // 6; fixed, axes parallel to the inertial ones
SR_API srTerminal sr_network_mass_terminal(srNetwork* network, int mass);  // 3
// A point of a rigid body; s: from the centre of mass, in the body's axes, or, with `upright`, in inertial axes (the place
// where a rolling sphere makes contact). 6: as SR_PORT_POINT.
SR_API srTerminal sr_network_body_terminal(srNetwork* network, int body, const double s[3], bool upright);
SR_API srTerminal sr_network_joint_terminal(srNetwork* network, int multibody, const char* coordinate);  // 1: name of v
SR_API srTerminal sr_network_point_terminal(srNetwork* network, int multibody, const char* point);       // 6
// Rotation of b against a about an axis, given in a's axes: velocity alone, force: the moment on b, its reaction on a. 1.
SR_API srTerminal sr_network_axis_terminal(srNetwork* network, srTerminal a, srTerminal b, const double axis[3]);
SR_API srTerminal sr_terminal_part(srTerminal terminal, int first, int n);  // some of its coordinates

// Wires an impedance to a terminal: its motion in, its force back.
SR_API srStatus sr_network_attach(srNetwork* network, int impedance, srTerminal terminal);
// To the difference b - a of two terminals: f on b, -f on a.
SR_API srStatus sr_network_between(srNetwork* network, int impedance, srTerminal a, srTerminal b);
// To the distance of two points (n = 3 or 6): SR_PORT_DISTANCE, f > 0 pushes apart.
SR_API srStatus sr_network_distance_force(srNetwork* network, int impedance, srTerminal a, srTerminal b);
// To the frames of two points of bodies: SR_PORT_FRAMES.
SR_API srStatus sr_network_frames(srNetwork* network, int impedance, srTerminal a, srTerminal b);
SR_API srStatus sr_network_push(srNetwork* network, srTerminal terminal, const double* force);  // constant (n): gravity
// The outputs out .. out + n - 1 of a component, times coefficient, as force on a terminal.
SR_API srStatus sr_network_apply(srNetwork* network, double coefficient, int from, int out, srTerminal terminal);

// ------------------------------------------------------------------------------------------------------- third parties
// Loads a shared library; its laws are then found by name, until the network is destroyed.
SR_API srStatus sr_network_plugin(srNetwork* network, const char* path);
// Of the loaded libraries, then built-in ("joint-spring", "bushing", ...; "hinge", below). NULL: none of this name.
SR_API const srImpedance* sr_network_find_impedance(const srNetwork* network, const char* name);
SR_API const srAdmittance* sr_network_find_admittance(const srNetwork* network, const char* name);
// A joint by penalty (Kikuuwe and Yamamoto, simulation III), SR_PORT_FRAMES; p: stiffness and damping of the separation (N/m, Ns/m), of
// the bending of the axis (Nm/rad, Nms/rad), axis in the axes of both frames (3).
SR_API extern const srImpedance sr_law_hinge;

// ---------------------------------------------------------------------------------------------------- names and places
// Where what is added from here on comes from: messages about it, of sr_network_ready too, begin with this place. The name of the file
// must outlive the network.
SR_API void sr_network_set_place(srNetwork* network, srPlace place);

// Signals of a component. Built-in components have names for theirs (docs/using/network.md), others have none.
typedef enum srSignal { SR_SIGNAL_INPUT, SR_SIGNAL_OUTPUT, SR_SIGNAL_STATE, SR_SIGNALS } srSignal;
// Names all signals of a kind, with their units (NULL: none); copied.
SR_API srStatus sr_network_set_names(srNetwork* network, int component, srSignal signal, const char* const* names,
                                     const char* const* units);
SR_API int sr_network_signals(const srNetwork* network, int component, srSignal signal);  // their number
// NULL: it has no name, and is found by its number.
SR_API const char* sr_network_signal_name(const srNetwork* network, int component, srSignal signal, int i);
SR_API const char* sr_network_signal_unit(const srNetwork* network, int component, srSignal signal, int i);  // "": none
SR_API int sr_network_signal_find(const srNetwork* network, int component, srSignal signal, const char* name);  // or -1

// A component as it was added; name NULL: there is none of this number.
typedef struct srComponentInfo {
  const char* name;
  srComponentKind kind;
  int level;  // of the order of evaluation, after sr_network_ready: from 0 on; of admittances -1
  srPlace place;
} srComponentInfo;
SR_API srComponentInfo sr_network_component(const srNetwork* network, int component);
SR_API bool sr_network_connected(const srNetwork* network, int component,
                                 int in);  // has the input a wire or a constant?

// ------------------------------------------------------------------------------------------------------------ stepping
// Checks and sorts the network and allocates all memory, for so many threads (>= 1). Results do not depend on their number, to
// the last bit. Nothing can be added afterwards.
SR_API srStatus sr_network_ready(srNetwork* network, int threads);
SR_API int sr_network_threads(const srNetwork* network);  // as many as could be had
// Initial states, time t.
SR_API srStatus sr_network_start(srNetwork* network, double t);
// One step: rk4 as above; forward Euler (eq 4) with tau = T. SR_FAILED: nothing has changed, sr_network_error_message gives the reason.
SR_API srStatus sr_network_step(srNetwork* network, double T);
SR_API srStatus sr_network_euler(srNetwork* network, double T);
// All signals and rates at the present state. tau < 0: that of each component.
SR_API srStatus sr_network_evaluate(srNetwork* network, double tau);
SR_API const char* sr_network_error_message(const srNetwork* network);

SR_API double sr_network_time(const srNetwork* network);
SR_API int sr_network_count(const srNetwork* network);
SR_API int sr_network_find(const srNetwork* network, const char* name);  // first component of this name, -1: none
// States of a component; may be written between steps. NULL: before sr_network_ready, or unknown.
SR_API double* sr_network_state(srNetwork* network, int component);
SR_API int sr_network_states(const srNetwork* network, int component);            // their number; component -1: of all
SR_API const double* sr_network_output(const srNetwork* network, int component);  // as last evaluated; likewise NULL
SR_API const double* sr_network_input(const srNetwork* network, int component);

// The network as y' = F(t, y; tau) for any integrator that takes `rates`; y are all states in the order of the components
// (sr_network_states(network, -1) of them, contiguous in memory from sr_network_state(network, 0) on). The network must
// outlive it; it uses the network's workspace, but leaves its states unchanged.
SR_API srSystem sr_network_system(srNetwork* network);

#ifdef __cplusplus
}
#endif
#endif
