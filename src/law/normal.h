// What the normal laws share. To add one: write normal_<name>.c with one srNormalLaw and its definition on the expression graph, put
// a row into SR_NORMAL_LIST (include/sarrus/words.h).
#ifndef SR_LAW_NORMAL_H
#define SR_LAW_NORMAL_H

#include <sarrus/laws.h>

#include "expr/build.h"

// A law on the expression graph: the numbers of srNormalIn as variables; the force for d > 0 is what the law fills in.
typedef struct srNormalGraph {
  srGraph* g;
  srNode d, ddot, ddot0, chi;
  srNode p[SR_NORMAL_PARAMETERS];
  srNode f;
} srNormalGraph;

#define SR_NORMAL_DECLARE(name, word)                                                                                  \
  extern const srNormalLaw sr_normal_##name;                                                                           \
  void sr_normal_##name##_graph(srNormalGraph* x);
SR_NORMAL_LIST(SR_NORMAL_DECLARE)
#undef SR_NORMAL_DECLARE

// f = K d^n (1 + rate), clamped at 0.
int sr_normal_power(const srNormalIn* in, double n, double rate, srNormalOut* out);
double sr_normal_power_energy(const srNormalIn* in, double n);  // K d^(n+1)/(n+1)
// The laws K d^n (1 + chi ddot/ddot0), which differ in chi alone.
int sr_normal_damped(const srNormalIn* in, srNormalOut* out);
double sr_normal_damped_energy(const srNormalIn* in);
// The same on the graph.
void sr_normal_power_graph(srNormalGraph* x, srNode n, srNode rate);
void sr_normal_damped_graph(srNormalGraph* x);

#endif
