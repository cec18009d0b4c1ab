// Motions and tables of formulas on the graph (interpolate.c).
#ifndef SR_SYMBOLIC_INTERPOLATE_H
#define SR_SYMBOLIC_INTERPOLATE_H

#include "expr/build.h"

// The derivative of this order, orders. SR_NO_NODE: it is C code, or a part of a table with corners.
srNode sr_sym_motion(srGraph* g, const srFunction* f, int order, srNode x);
srNode sr_sym_table(srGraph* g, const srFunction2* f, int orders, srNode x, srNode y);
bool sr_sym_motion_known(const srFunction* f);
bool sr_sym_table_known(const srFunction2* f);

#endif
