// The laws that come with the program. To add one: write its file with one srImpedance and its definition on the expression graph,
// put it into the list below.
#ifndef SR_FORCE_LAWS_H
#define SR_FORCE_LAWS_H

#include <sarrus/force.h>

#include "expr/build.h"

// A law on the expression graph: motion and parameters as variables; its force is what the law fills in.
typedef struct srImpedanceGraph {
  srGraph* g;
  srNode x[6], xdot[6];
  srNode p[12];
  srNode f[6];
} srImpedanceGraph;

// X(law, definition); formulas are on the graph already, and derived with the whole state.
#define SR_LAW_LIST(X)                                                                                                 \
  X(joint_formula, NULL)                                                                                               \
  X(joint_spring, sr_law_joint_spring_graph)                                                                           \
  X(joint_damper, sr_law_joint_damper_graph)                                                                           \
  X(joint_stop, sr_law_joint_stop_graph)                                                                               \
  X(link_formula, NULL)                                                                                                \
  X(point_formula, NULL)                                                                                               \
  X(bushing, sr_law_bushing_graph)

#define SR_LAW_DECLARE(law, graph) extern const srImpedance sr_law_##law;
SR_LAW_LIST(SR_LAW_DECLARE)
#undef SR_LAW_DECLARE
void sr_law_joint_spring_graph(srImpedanceGraph* x);
void sr_law_joint_damper_graph(srImpedanceGraph* x);
void sr_law_joint_stop_graph(srImpedanceGraph* x);
void sr_law_bushing_graph(srImpedanceGraph* x);

extern const srImpedance* const sr_builtin_impedances[];    // ended by NULL
const srImpedance* sr_builtin_impedance(const char* name);  // NULL: none of this name

// c of the matrix 1 + [theta]/2 + c [theta]^2 that takes rates of a rotation vector from angular velocities; a2 = |theta|^2. bushing.c
double sr_rotation_factor(double a2);

#endif
