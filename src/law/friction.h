// What the friction laws share. To add one: write friction_<name>.c with one srFrictionLaw and its definition on the expression
// graph, put a row into SR_FRICTION_LIST (include/sarrus/words.h).
#ifndef SR_LAW_FRICTION_H
#define SR_LAW_FRICTION_H

#include <sarrus/laws.h>

#include "expr/build.h"

// A law on the expression graph: its force and the rates of its states as nodes, from which exact derivatives follow. The numbers of
// srFrictionIn are variables.
typedef struct srFrictionGraph {
  srGraph* g;
  int n, ne;  // directions of slip, states of each
  srNode v[SR_FRICTION_MAX_N];
  srNode e[SR_FRICTION_MAX_N * SR_FRICTION_MAX_ELEMENTS];
  srNode tau, Fs, Fk, D;
  srNode p[SR_FRICTION_PARAMETERS];
  // What the law fills in.
  srNode f[SR_FRICTION_MAX_N];
  srNode edot[SR_FRICTION_MAX_N * SR_FRICTION_MAX_ELEMENTS];
} srFrictionGraph;

#define SR_FRICTION_DECLARE(name, word)                                                                                \
  extern const srFrictionLaw sr_friction_##name;                                                                       \
  void sr_friction_##name##_graph(srFrictionGraph* x);
SR_FRICTION_LIST(SR_FRICTION_DECLARE)
#undef SR_FRICTION_DECLARE

double sr_slip_dot(int n, const double* a, const double* b);
double sr_slip_norm(int n, const double* x);  // without under- and overflow; exact along an axis
// out = size x/|x|, and 0 for x = 0: Rodrigues da Silva et al. (2024), eq 46, times size. norm is |x|.
void sr_slip_along(int n, const double* x, double norm, double size, double* out);
// out = gsat(limit, x): x, shortened to the limit where it is longer. Kikuuwe and Yamamoto, eq 15.
void sr_slip_gsat(int n, double limit, const double* x, double* out);
// Fills out for a law without memory whose force has this size and the direction of v.
int sr_friction_memoryless(const srFrictionIn* in, double speed, double size, srFrictionOut* out);

// The same on the graph.
srNode sr_stribeck_graph(srFrictionGraph* x, srNode s);  // sr_stribeck with the law's own limits, vs and delta
void sr_slip_along_graph(srGraph* g, int n, const srNode* x, srNode norm, srNode size, srNode* out);
void sr_slip_gsat_graph(srGraph* g, int n, srNode limit, const srNode* x, srNode* out);
void sr_friction_memoryless_graph(srFrictionGraph* x, srNode speed, srNode size);

// One bristle with a slider: friction_kikuuwe.c.
typedef struct srBristle {
  double K, Z;       // stiffness; damping B + tau K
  double Fs, Fk, D;  // limit at rest, limit far above vs, viscous coefficient
  double vs, delta;  // Stribeck
} srBristle;
double sr_bristle(const srBristle* b, int n, const double* v, const double* e, double* f, double* edot, bool* sticks);
typedef struct srBristleGraph {
  srNode K, Z, Fs, Fk, D, vs, delta;
} srBristleGraph;
void sr_bristle_graph(srGraph* g, const srBristleGraph* b, int n, const srNode* v, const srNode* e, srNode* f,
                      srNode* edot);

// What dahl and lugre share: bristles that bend back by |v| e/g while they slip. friction_dahl.c
// rates edot, and e_plus = e + t edot, where t <= tau is 0 unless the bristle forgets faster than within tau.
void sr_bristle_bend(const srFrictionIn* in, double g, double* e_plus, double* edot);
void sr_bristle_bend_graph(srFrictionGraph* x, srNode g, srNode* e_plus);
double sr_bristle_energy(const srFrictionIn* in);  // 1/2 K |e|^2 of a single bristle

#endif
