// What the options of an equilibrium ask for, as numbers of coordinates and parameters.
#ifndef SR_ANALYSIS_EQUILIBRIUM_H
#define SR_ANALYSIS_EQUILIBRIUM_H

#include <sarrus/analysis.h>

#include "base/base.h"

typedef struct srEquilibriumInput {
  bool steady;
  int nheld, nspeed, np, nfound;
  int* held;   // nheld: coordinates whose position is given, though no force but those of the model acts on them
  int* speed;  // nspeed: coordinates whose velocity is given
  double* speed_value;     // nspeed
  const char** parameter;  // np: unknown
  const char** found;      // nfound: names of what is found, ...
  int* found_parameter;    // ... which parameter it is, or -1: the velocity of the coordinate ...
  int* found_speed;
} srEquilibriumInput;

// In the pool. SR_INPUT, with messages: a name is unknown, or the options contradict each other.
srStatus sr_equilibrium_input(const srModel* m, const srEquilibriumOptions* o, srPool* pool, srMessages* messages,
                              srEquilibriumInput* out);

#endif
