// Constraints as the integrators see them: numbers of M, G, b, g; the rows in use; accelerations; projection; distance from
// singular positions. One of these belongs to each integrator that looks at constraints.
#ifndef SR_INTEGRATE_CONSTRAINED_H
#define SR_INTEGRATE_CONSTRAINED_H

#include "integrate/explicit.h"
#include "integrate/leap.h"
#include "math/saddle.h"

#define SRI_RANK_EVENTS 256

struct srConstrained {
  srmPattern M_pattern, G_pattern;
  srmSaddleShape shape;
  size_t nM, nG;     // numbers in M and in G
  srmSaddle* stage;  // unsymmetric systems of the stages
  srmSaddle* end;    // the symmetric one at the end of a step
  srmRows* rows;
  double *M, *f, *D;  // of the stage evaluated last
  double *G, *b, *g;  // of the place evaluated last
  double* G_stage;    // G of the stage when G is that of the next
  double *r, *lambda, *length, *scale, *u,
      *gamma;  // ng; length, scale: of rows, the largest since they were chosen, by the diagonal of M and by M
  double* dv;  // nv
  double *q, *slope, *y_rate;                       // nq, nq, ny
  unsigned char *kept, *position, *trial, *before;  // ng: rows in use; those with a position form; scratch
  unsigned char* active;                            // ng: rows that take part since the last start
  double* block;                                    // all of the above
  int nactive;
  srProject project;
  srMetric metric;
  srLeap leap;  // over singular positions
  double tau;
  int rank;             // -1: not known yet
  bool chosen;          // rows are chosen since the last start
  bool confirmed;       // and were seen again at the end of a step
  bool index1;          // accelerations by sri_index1, not by the callback `rates`
  double sigma;         // smallest singular value of the rows in use at the end of the last step tried; < 0: not known
  double sigma_chosen;  // what it was when the rows were chosen; < 0: not known
  bool goes_on;         // rows, rank and leap are those of the motion before a restart
  double h_short;       // > 0: the step begins in a singular position, with rows less; it must not be longer than this
  int rank_left;        // what the rank was before that
  bool rechosen;        // the rows in use changed at the end of the last step: sigma before and now do not compare
  bool u_known;
  bool projected;  // the end of the last step tried
  int nevent;
  srRankEvent event[SRI_RANK_EVENTS];
};

bool sri_constrained_wanted(const srIntegrator* integrator);
bool sri_constrained_create(srIntegrator* integrator);  // false: out of memory
void sri_constrained_destroy(srConstrained* c);
void sri_constrained_start(srIntegrator* integrator);  // forgets which rows are in use; NULL is fine
// Takes the active rows of the system. True: they are others than before.
bool sri_constrained_activate(srIntegrator* integrator);
// Before the state of a restart at t is put: which rows are in use stays known, and where singular positions are.
void sri_constrained_restart(srIntegrator* integrator, double t);

// Evaluations; outcomes as in explicit.h. dynamics: M, f, D and ydot; constraint: G, b, g at (t, q), with zeros in the rows that are not
// active. D needs none: it meets multipliers that are 0 there.
int sri_dynamics(srIntegrator* integrator, double t, const double* x, double tau, double* ydot);
int sri_constraint(srIntegrator* integrator, double t, const double* q, double* g, double* G, double* b);
int sri_qdot(srIntegrator* integrator, const double* q, const double* v, double* qdot);
// w' at a state after dynamics, with c->lambda; from `rates` where the system has no `power`.
int sri_power(srIntegrator* integrator, double t, const double* x, double* wdot);
// Index-1 form with the rows in use fixed: x' at (t, x); multipliers in c->lambda.
int sri_index1(srIntegrator* integrator, double t, const double* x, double tau, double* xdot);
// r = gamma, by the callback or by a difference along the motion.
int sri_gamma(srIntegrator* integrator, double t, const double* q, const double* v, double* gamma);

// Chooses the rows in use at the present state if that was not done since the last start.
srStatus sri_choose_rows(srIntegrator* integrator);
// End of a step: projects x_new, looks at the rows that are left out, finds sigma. SRI_REFUSED: try again.
int sri_finish_constraints(srIntegrator* integrator, double t_new);
// Notes an event of the rank.
void sri_rank_event(srIntegrator* integrator, double t, srRankEventKind kind, int before, int after, int row);
double sri_residual_velocity(srIntegrator* integrator, const double* v);  // r = G v + b, largest entry

#endif
