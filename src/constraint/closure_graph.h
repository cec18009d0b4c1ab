// Closures on the expression graph: a kind defines its residuals, and equations without a residual; its rows over the twist, their
// terms at acceleration level and their derivatives follow.
#ifndef SR_CONSTRAINT_CLOSURE_GRAPH_H
#define SR_CONSTRAINT_CLOSURE_GRAPH_H

#include "expr/build.h"
#include "model/closure.h"

struct srClosureGraph {
  srGraph* g;
  int np, nvel;
  bool has_normal, sphere;  // of the closure: which residuals exist
  srNode R[9], d[3];        // pose of the observed frame, rows of R
  srNode w[3], u[3];        // its twist
  srNode frame[3][3], axis2[3], pitch, length, radius;
  srNode lambda[6];
  // What the kind fills in.
  srNode residual[6];  // np
  srNode row[6][6];    // velocity equations over (w, u): from np on
};

void sr_closure_graph(const srClosure* closure, srGraph* g, srClosureGraph* x);  // variables, then the kind's part
void sr_closure_graph_rows(const srClosureGraph* x, srNode W[6][6]);             // all rows
srNode sr_closure_graph_bias(const srClosureGraph* x, const srNode* row);        // (dW/dt) (w, u) of one of them

// L of srClosureKind (36 numbers), for all closures that sr_closure_graph_same holds for. NULL: its kind has no definition.
const srProgram* sr_closure_derivative(srPool* pool, const srClosure* closure);
bool sr_closure_graph_same(const srClosure* a, const srClosure* b);
void sr_closure_arguments(const srClosure* closure, double out[15]);

// Residuals shared by several kinds, as sr_row_... of closure.h.
void sr_graph_displacement(srClosureGraph* x, const srNode e[3], int i);
void sr_graph_origin(srClosureGraph* x, int i);  // three: d
void sr_graph_tilt(srClosureGraph* x, int i);
void sr_graph_orientation(srClosureGraph* x, int i);
void sr_graph_turned(const srClosureGraph* x, const srNode f[3], srNode out[3]);  // R f

#endif
