// Closures: every kind is a file src/constraint/closure_<kind>.c with one srClosureKind, and one row in <sarrus/words.h>.
//
// A kind receives the pose (R, d) and the twist (w, u) of the observed frame, observed from the observer and expressed in its
// axes: d' = u, R' = [w] R. It supplies
//   g(R, d)                      residuals of its position equations
//   W(R, d)                      rows over the twist: position equations, for which g' = W (w, u), then velocity equations
//   bias = (dW/dt) (w, u)        so that the equations at acceleration level are W (w', u') + bias
// and its definition on the expression graph, from which derivatives for the tangent of implicit methods follow.
#ifndef SR_MODEL_CLOSURE_H
#define SR_MODEL_CLOSURE_H

#include <sarrus/model.h>

typedef enum srObserver {
  SR_OBSERVER_A,       // frame a observes frame b
  SR_OBSERVER_B,       // frame b observes frame a
  SR_OBSERVER_COMMON,  // the youngest common ancestor observes both; d and u are those of b minus those of a, R is undefined
} srObserver;

typedef struct srClosureIn {
  double R[9];        // rows
  double d[3];        // m
  double w[3], u[3];  // rad/s, m/s
  double t;           // s; for laws of plugins alone
} srClosureIn;

typedef struct srClosureOut {
  double g[6];
  double W[6][6];  // over (w, u)
  double bias[6];
  double b[6];  // dg/dt of a fixed pose: of laws of plugins alone
} srClosureOut;

typedef struct srClosureGraph srClosureGraph;

typedef struct srClosureKind {
  srObserver observer;
  const char*
      uses;  // attributes that only some kinds have: "|axis|axis2|pitch|length|radius|shape|normal|"; NULL: none of them
  bool
      origin;  // its first three equations are d = 0 in the axes of a, the observer: sr_row_origin of constraint/closure.h
  bool axial;  // its equations align the axis n = frame[2] with R n, and hold also where it is reversed, R n = -n
  // Completes a closure whose numbers are set: np, nvel, row_name, frame. NULL, or a message: what is missing.
  const char* (*setup)(srClosure* closure);
  // out is zero before. 0, or > 0 where the equations are undefined: then *reason is the message.
  int (*evaluate)(const srClosure* closure, const srClosureIn* in, srClosureOut* out, const char** reason);
  void (*define)(srClosureGraph* x);  // its residuals on the graph: constraint/closure_graph.h. NULL: a law of a plugin
} srClosureKind;

// frame[2] = n (unit), frame[0] and frame[1] two unit vectors that complete it to a right-handed triad; where n is an
// axis, they are the next two axes.
void sr_closure_triad(const double n[3], double frame[3][3]);

typedef struct srClosureWord {
  const char* word;
  const srClosureKind* kind;
} srClosureWord;

#endif
