// The laws that come with the program. To add one: write its file with one srImpedance, put it into the list below.
#ifndef SR_FORCE_LAWS_H
#define SR_FORCE_LAWS_H

#include <sarrus/force.h>

#define SR_LAW_LIST(X)                                                                                                 \
  X(joint_formula)                                                                                                     \
  X(joint_spring)                                                                                                      \
  X(joint_damper)                                                                                                      \
  X(joint_stop)                                                                                                        \
  X(link_formula)                                                                                                      \
  X(point_formula)                                                                                                     \
  X(bushing)

#define SR_LAW_DECLARE(law) extern const srImpedance sr_law_##law;
SR_LAW_LIST(SR_LAW_DECLARE)
#undef SR_LAW_DECLARE

// J[0], J[1] = derivatives of the stop's force by its coordinate and by the rate of it; left as they are inside the range.
void sr_joint_stop_slope(const srImpedanceIn* in, double* J);

#endif
