// Constraint equations on the graph, in the order of the model's rows: the position equations, then the velocity equations.
#ifndef SR_SYMBOLIC_ROWS_H
#define SR_SYMBOLIC_ROWS_H

#include "symbolic/tree.h"

// J v + b = 0,  J a + jdq = 0. Entries that are 0 by structure are the number 0.
typedef struct srSymRows {
  srNode* h;    // np: residuals of the position equations
  srNode* J;    // ng x nv
  srNode* b;    // ng: explicit rate of h, and what a velocity equation has without velocities
  srNode* jdq;  // ng: (dJ/dt) v + db/dt; NULL: not wanted
} srSymRows;

srSymRows sr_sym_rows(srSymPass* pass, bool accelerations);
// NULL, or a clause why the equations of the model cannot be written.
const char* sr_sym_rows_missing(srPool* pool, const srModel* m);
bool sr_sym_rows_of_time(const srModel* m);  // do they depend on t, or on the motion of drivers?
// Motions of drivers that are no formulas are an input, as srData.motion.
bool sr_sym_motion_given(const srModel* m);

#endif
