// Friction laws: slip velocity and bristle states in, resisting force and state rates out. One struct of function pointers
// each; joints (n = 1) and contacts (n = 2) use them alike, and so do resistances to rolling (n = 2) and spinning (n = 1),
// in rad/s and Nm. The caller supplies the limits: constants of a joint, mu N of a contact. So "with normal force" is no
// second law. This header is self-contained: a plugin needs nothing else and links with nothing.
#ifndef SARRUS_FRICTION_H
#define SARRUS_FRICTION_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Parameters of all laws: X(field, default, unit of sliding, unit of turning, doc). Each law lists those it uses.
#define SR_FRICTION_PARAMETER_LIST(X)                                                                                  \
  X(K, 1e5, "N/m", "Nm/rad", "stiffness of the bristles: force over displacement while sticking")                      \
  X(B, 10, "Ns/m", "Nms/rad", "damping of the bristles")                                                               \
  X(D, 0, "Ns/m", "Nms/rad", "viscous friction; of a contact per newton of normal force")                              \
  X(v0, 1e-3, "m/s", "rad/s", "speed up to which a regularised law rises (ambrosio: below which it is 0)")             \
  X(v1, 1e-2, "m/s", "rad/s", "speed from which ambrosio gives the full force")                                        \
  X(xi, 100, "s/m", "s/rad", "decay of bengisu-akay after its peak: exp(-xi (v - v0))")                                \
  X(vs, 1e-2, "m/s", "rad/s", "Stribeck speed: limit Fk + (Fs - Fk) exp(-(v/vs)^delta)")                               \
  X(delta, 2, "1", "1", "Stribeck exponent, >= 1")                                                                     \
  X(spread, 1, "1", "1", "iwan: strengths are between 1 - spread and 1 + spread of their mean")                        \
  X(elements, 8, "1", "1", "iwan: number of elements")

typedef struct srFrictionParameters {
#define SR_FRICTION_FIELD(field, value, sliding, turning, doc) double field;
  SR_FRICTION_PARAMETER_LIST(SR_FRICTION_FIELD)
#undef SR_FRICTION_FIELD
} srFrictionParameters;

// SR_FRICTION_K, ...: position in the list; 1u << position is the bit of `uses`.
enum {
#define SR_FRICTION_PLACE(field, value, sliding, turning, doc) SR_FRICTION_##field,
  SR_FRICTION_PARAMETER_LIST(SR_FRICTION_PLACE)
#undef SR_FRICTION_PLACE
      SR_FRICTION_PARAMETERS
};
#define SR_FRICTION_USES(field) (1u << SR_FRICTION_##field)

#define SR_FRICTION_MAX_N 3          // directions of slip
#define SR_FRICTION_MAX_ELEMENTS 64  // of iwan

typedef struct srFrictionIn {
  int n;            // directions of slip: 1 for a joint, 2 for a contact
  const double* v;  // slip velocity (n)
  const double* e;  // states (ne * n): displacement of bristle i in direction k is e[i * n + k]
  double tau;       // stage length (Kikuuwe and Yamamoto), or the element's own constant; >= 0
  double Fs, Fk;    // static and kinetic limit now, Fs >= Fk >= 0: constants of a joint, mu_s N and mu_k N of a contact
  double D;         // viscous coefficient now: p->D of a joint, p->D N of a contact
  const srFrictionParameters* p;
} srFrictionIn;

typedef struct srFrictionOut {
  double* f;           // force that RESISTS the slip (n): the body that slips with v gets -f
  double* edot;        // rates of the states (ne * n)
  double dissipation;  // W, dissipated: f . v minus the rate of `energy`
  bool sticks;         // no slider moves: v is all elastic (laws that hold), or v = 0
} srFrictionOut;

typedef struct srFrictionLaw {
  const char* name;
  const char* about;  // one line
  int ne;             // states per direction of slip; -1: p->elements
  unsigned uses;      // parameters: SR_FRICTION_USES(K) | ...
  bool holds;         // static friction without creep: edot = v to the last bit while it sticks
  bool set_valued;    // the force at rest is not a function of the motion: for methods of rigid contact
  // Return 0: done; > 0: try a smaller step; < 0: the run cannot continue. Without limits (Fs = Fk = 0, contact open) f is 0
  // and the states relax.
  int (*evaluate)(const srFrictionIn* in, srFrictionOut* out);
  // Energy stored in the bristles, J. NULL: none.
  double (*energy)(const srFrictionIn* in);
  // NULL, or what is wrong with the parameters beyond the checks of sr_friction_refusal. NULL pointer: no further checks.
  const char* (*refuse)(const srFrictionParameters* p, double tau);
} srFrictionLaw;

#ifdef __cplusplus
}
#endif
#endif
