// Constraints between two frames by a plugin or by C code: <closure type="user" law="NAME" a="..." b="..." parameters="..."/>.
//
// Frame a observes frame b at the pose (R, d), with the twist (w, u), all in the axes of a:   d' = u,   R' = [w] R.
// A law has n equations g(t, R, d) = 0 and supplies, at every such state,
//   g                                        the residuals, kept at zero
//   W, b      with   g' = W (w, u) + b       rows over the twist, angular first; b: the partial derivative by t
//   bias      with   g'' = W (w', u') + bias what is left of the second derivative when the accelerations w', u' are zero
// The multiplier of an equation is the force (or moment) that it exerts on b, along its row W. At the start of a run rows, b and bias are compared
// with differences of g. This header is self-contained: a plugin needs nothing else and links with nothing.
#ifndef SARRUS_CLOSURE_H
#define SARRUS_CLOSURE_H

#ifdef __cplusplus
extern "C" {
#endif

#define SR_CLOSURE_LAW_ROWS 6

typedef struct srClosureLawIn {
  double t;         // s
  const double* R;  // 9, rows: R[3 * i + j] is component i, in a, of axis j of b
  const double* d;  // 3, m: origin of b
  const double* w;  // 3, rad/s; zero where only positions are asked for
  const double* u;  // 3, m/s; the same
  const double* p;  // parameters of this closure
  int np;           // their number
} srClosureLawIn;

typedef struct srClosureLawOut {  // zeroed before the call
  double g[SR_CLOSURE_LAW_ROWS];
  double W[SR_CLOSURE_LAW_ROWS][6];
  double b[SR_CLOSURE_LAW_ROWS];
  double bias[SR_CLOSURE_LAW_ROWS];
} srClosureLawOut;

typedef struct srClosureLaw {
  const char* name;
  int np;                   // number of parameters; -1 any
  int n;                    // number of equations, 1 to 6
  const char* const* rows;  // their names (n), for reports; may be NULL
  // Return 0: done; > 0: undefined here, try a smaller step; < 0: the run cannot go on.
  int (*evaluate)(const srClosureLawIn* in, srClosureLawOut* out);
} srClosureLaw;

#ifdef __cplusplus
}
#endif
#endif
