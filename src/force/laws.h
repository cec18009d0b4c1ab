// The built-in force laws. To add one: write its file with one srImpedance and its definition on the expression graph,
// and add it to the list below.
#ifndef SR_FORCE_LAWS_H
#define SR_FORCE_LAWS_H

#include <sarrus/force.h>

#include "expr/build.h"

enum { SR_LAW_STATES = 2 };  // most states of a law on the graph

// A force law on the expression graph: motion, states and parameters as variables; the law fills in its force and the rates of its states.
typedef struct srImpedanceGraph {
  srGraph* g;
  srNode x[6], xdot[6];
  srNode y[SR_LAW_STATES];  // states
  srNode p[48];
  srNode f[6];
  srNode ydot[SR_LAW_STATES];
} srImpedanceGraph;

// LAW(name): sr_law_<name> and its definition sr_law_<name>_graph. FORMULA(name): the force is a formula of the model, which is on the
// graph already and differentiated with the whole state.
#define SR_LAW_LIST(LAW, FORMULA)                                                                                      \
  FORMULA(joint_formula)                                                                                               \
  LAW(joint_spring)                                                                                                    \
  LAW(joint_damper)                                                                                                    \
  LAW(joint_stop)                                                                                                      \
  FORMULA(distance_formula)                                                                                            \
  LAW(distance_spring)                                                                                                 \
  FORMULA(point_formula)                                                                                               \
  LAW(bushing)                                                                                                         \
  LAW(bushing_matrix)                                                                                                  \
  LAW(tyre)                                                                                                            \
  LAW(tyre_transient)

#define SR_LAW_DECLARE(law)                                                                                            \
  extern const srImpedance sr_law_##law;                                                                               \
  void sr_law_##law##_graph(srImpedanceGraph* x);
#define SR_LAW_DECLARE_FORMULA(law) extern const srImpedance sr_law_##law;
SR_LAW_LIST(SR_LAW_DECLARE, SR_LAW_DECLARE_FORMULA)
#undef SR_LAW_DECLARE
#undef SR_LAW_DECLARE_FORMULA

extern const srImpedance* const sr_builtin_impedances[];    // ended by NULL
const srImpedance* sr_builtin_impedance(const char* name);  // NULL: none of this name

// c of the matrix 1 + [theta]/2 + c [theta]^2 that takes rates of a rotation vector from angular velocities; a2 = |theta|^2. bushing.c
double sr_rotation_factor(double a2);

#endif
