// Normal laws of continuous contact: penetration, its rate and the approach velocity in, force out. Never adhesive: a
// force below zero is clamped and the clamp reported. This header is self-contained: a plugin needs nothing else and links with
// nothing.
#ifndef SARRUS_NORMAL_H
#define SARRUS_NORMAL_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Parameters of all laws: X(field, default, unit, doc). Each law lists those it uses.
#define SR_NORMAL_PARAMETER_LIST(X)                                                                                    \
  X(K, 1e8, "N/m^n", "stiffness; sr_hertz_stiffness computes it from E, nu and radii")                                 \
  X(n, 1.5, "1", "exponent of the penetration; hooke and kelvin-voigt have 1")                                         \
  X(e, 1, "1", "coefficient of restitution, from 0 to 1")                                                              \
  X(D, 0, "Ns/m", "damping of kelvin-voigt")                                                                           \
  X(floor, 1e-3, "m/s", "lower bound of the approach velocity at first touch: bodies placed at rest have 0")

typedef struct srNormalParameters {
#define SR_NORMAL_FIELD(field, value, unit, doc) double field;
  SR_NORMAL_PARAMETER_LIST(SR_NORMAL_FIELD)
#undef SR_NORMAL_FIELD
  double chi;  // damping factor, set by sr_normal_prepare from the others: f = K d^n (1 + chi ddot / ddot0)
} srNormalParameters;

// SR_NORMAL_K, ...: position in the list; 1u << position is the bit of `uses`.
enum {
#define SR_NORMAL_PLACE(field, value, unit, doc) SR_NORMAL_##field,
  SR_NORMAL_PARAMETER_LIST(SR_NORMAL_PLACE)
#undef SR_NORMAL_PLACE
      SR_NORMAL_PARAMETERS
};
#define SR_NORMAL_USES(field) (1u << SR_NORMAL_##field)

typedef struct srNormalIn {
  double d;      // penetration, m; d <= 0: apart, and the force is 0
  double ddot;   // its rate, m/s; > 0 approaching
  double ddot0;  // approach velocity, > 0. Laws without needs_speed ignore it; others use max(ddot0, floor)
  const srNormalParameters* p;
} srNormalIn;

typedef struct srNormalOut {
  double f;            // N, >= 0: pushes the bodies apart
  double elastic;      // N, the part that `energy` is the potential of
  double dissipation;  // W, (f - elastic) ddot: dissipated, >= 0
  bool clamped;        // the formula gave less than 0
} srNormalOut;

typedef struct srNormalLaw {
  const char* name;
  const char* about;                                        // one line
  unsigned uses;                                            // parameters: SR_NORMAL_USES(K) | ...
  bool needs_speed;                                         // uses ddot0: first contact must be located
  bool linear;                                              // f = max(0, K d + D ddot), D = 0 where it has none
  int (*evaluate)(const srNormalIn* in, srNormalOut* out);  // 0: done; > 0: try a smaller step; < 0: stop
  double (*energy)(const srNormalIn* in);                   // stored, J; a function of d
  // The damping factor chi from the other parameters; NULL: 0. Called once, before the first evaluation.
  double (*factor)(const srNormalParameters* p);
  // NULL, or what is wrong with the parameters beyond the checks of sr_normal_refusal. NULL pointer: no further checks.
  const char* (*refuse)(const srNormalParameters* p);
} srNormalLaw;

#ifdef __cplusplus
}
#endif
#endif
