// Force elements are impedances (Kikuuwe and Yamamoto, eq 9): motion in, force and rates of their own states out, tau as an argument.
// Springs, dampers, bushings, stops, user laws: one struct of function pointers each. A shared library adds its own by
// exporting sarrus_plugin. This header is self-contained: a plugin needs nothing else and links with nothing.
#ifndef SARRUS_FORCE_H
#define SARRUS_FORCE_H

#include <sarrus/function.h>

#ifdef __cplusplus
extern "C" {
#endif

// What an element is attached to, which defines its motion and force. Power is always f . xdot.
typedef enum srPort {
  SR_PORT_JOINT,     // x[1], xdot[1]: coordinate and rate of a joint; f[1]: force that works on it
  SR_PORT_DISTANCE,  // x[1], xdot[1]: distance of two points and its rate; f[1] > 0 pushes apart
  SR_PORT_POINT,     // x[6]: 0 0 0, position; xdot[6]: angular velocity, velocity; f[6]: moment, force. Inertial axes
  SR_PORT_FRAMES,  // x[6]: rotation vector, displacement of b seen from a; xdot[6]: angular velocity, velocity of b seen
                   // from a; f[6]: moment, force on b (the reaction acts on a at b's origin). Axes of a
  SR_PORT_GAP,  // x[2], xdot[2]: gap and slip by formula, and their rates; f[2]: forces on them. Of the program itself
} srPort;

typedef struct srImpedanceIn {
  double t;
  double tau;       // stage length (Kikuuwe and Yamamoto), or the element's own constant
  const double* x;  // motion at the port
  const double* xdot;
  const double* y;        // states of this element (ny)
  const double* p;        // its parameters (np)
  const double* formula;  // values of its formulas at this state (formula laws only)
  const double* z;        // its discrete states; NULL: none
  const void* data;       // of laws of the program itself, else NULL
} srImpedanceIn;

typedef struct srImpedanceOut {
  double* f;                    // force at the port, zeroed before the call
  double* ydot;                 // rates of the states (ny), zeroed before the call
  double dissipated;            // dissipated power, >= 0; required of laws that have `energy`
  double friction_dissipation;  // the part of it that is dry friction
  double driven;                // power received from what moves a surface in its body: a conveyor's drive
} srImpedanceOut;

typedef struct srImpedance {
  const char* name;
  srPort port;
  int np;                         // number of parameters; -1 any
  const char* const* parameters;  // their names (np), for messages; may be NULL
  int ny;                         // number of own states
  const double* y0;               // their initial values; NULL: zero
  // Return 0: done; > 0: try a smaller step; < 0: the run cannot go on.
  int (*evaluate)(const srImpedanceIn* in, srImpedanceOut* out);
  // Energy stored in the element. NULL: none, and all its power counts as work.
  double (*energy)(const srImpedanceIn* in);
} srImpedance;

// A plugin exports   int sarrus_plugin(srPlugin* plugin)   and registers its laws; nonzero: it is refused.
#define SR_PLUGIN_ABI 3
struct srAdmittance;   // admittance.h
struct srFrictionLaw;  // friction.h
struct srNormalLaw;    // normal.h
struct srClosureLaw;   // closure.h
struct srSensorLaw;    // sensor.h
typedef struct srPlugin {
  int abi;  // SR_PLUGIN_ABI of the host
  void* host;
  void (*add_impedance)(void* host, const srImpedance* law);
  void (*add_function)(void* host, const srFunction* function);
  void (*add_admittance)(void* host,
                         const struct srAdmittance* admittance);      // for `network`; not used by models
  void (*add_friction)(void* host, const struct srFrictionLaw* law);  // for joints and contacts of a model
  void (*add_normal)(void* host, const struct srNormalLaw* law);      // for contacts of a model
  void (*add_function2)(void* host, const srFunction2* function);     // of two arguments, for formulas
  void (*add_closure)(void* host, const struct srClosureLaw* law);    // constraints between two frames of a model
  void (*add_sensor)(void* host, const struct srSensorLaw* law);      // sensors of a model
} srPlugin;
typedef int (*srPluginEntry)(srPlugin* plugin);

#ifdef __cplusplus
}
#endif
#endif
