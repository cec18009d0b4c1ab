// Constraints as the integrators see them: M, G, b, g; the equations in use; accelerations; projection; distance from
// singular positions. Every integrator that handles constraints owns one of these.
//
//   constrained.c  evaluation, the index-1 form with Baumgarte's terms        augmented.c  the same without selecting equations
//   rank.c         which equations are in use, the end of a step              projection.c, partition.c  ways to enforce them
//   drift.c        violations, singular positions between steps               crossing.c  steps across singular positions
#ifndef SR_INTEGRATE_CONSTRAINED_H
#define SR_INTEGRATE_CONSTRAINED_H

#include "integrate/array.h"
#include "integrate/crossing.h"
#include "math/saddle.h"

#define SRI_RANK_EVENTS 256

// Distance of the constraint rows from dependence after the last three accepted steps, for methods without singularity crossing.
typedef struct srDistances {
  double distance[3], t[3];
  int count;
} srDistances;

struct srConstrained {
  srmSaddleShape shape;
  size_t nM, nG;     // numbers in M and in G
  srmSaddle* stage;  // unsymmetric systems of the stages
  srmSaddle* end;    // the symmetric one at the end of a step
  srmRows* rows;
  double *M, *f, *D;  // of the stage evaluated last
  double *G, *b, *g;  // of the state evaluated last
  double* G_stage;    // G of the stage when G is that of the next
  double *r, *lambda, *length, *scale, *longest, *u,
      *gamma;  // ng; length, scale, longest: of rows of G, the largest since they were chosen, by the diagonal of M, by M and in c->end
  double *dv, *vdot;                                // nv; vdot: of the last evaluation of the index-1 form
  double *q, *slope, *y_rate;                       // nq, nq, ny
  double* x;                                        // n: the state with its dependent coordinates, for partitioning
  double* other;                                    // n: rates that are evaluated along with others, and not needed
  unsigned char *kept, *position, *trial, *before;  // ng: equations in use; those with a position form; scratch
  unsigned char* active;                            // ng: equations active since the last start
  unsigned char* dependent;                         // nv: dependent coordinates of the partition
  double* block;                                    // all of the above
  int nactive;
  srMetric metric;
  srCrossing crossing;  // over singular positions
  double tau;
  int rank;          // -1: unknown so far
  int rank_phase;    // that of the active equations before these; -1: there were none
  bool chosen;       // equations were chosen since the last start
  bool confirmed;    // and confirmed at the end of a step
  bool index1;       // accelerations by sri_index1, not by the callback `rates`
  bool may_be_free;  // ... and by `rates_free` while no equation is active
  double sigma;      // smallest singular value of the equations in use at the end of the last step tried; < 0: unknown
  double sigma_chosen;  // its value when the equations were chosen; < 0: unknown
  double sigma_most;    // its largest value since then
  int sigma_age;        // steps since it was found, where the states are not projected
  bool sigma_rests;     // it is not found at the end of this step
  bool goes_on;         // equations, rank and crossing carry over from before a restart
  double h_short;       // > 0: the step begins in a singular position, with fewer equations; its largest length
  int rank_left;        // the rank before that
  bool rechosen;  // the equations in use changed at the end of the last step: sigma before and now are not comparable
  bool u_known;
  bool projected;                 // the end of the last step tried
  bool singular;                  // the equations in use are dependent there
  bool start_singular;            // the first step began there
  struct srPartition* partition;  // NULL: the coordinates are not partitioned
  struct srAugmented* augmented;  // NULL: accelerations over the equations in use
  srDistances history;
  int off_row;        // + 1; the first equation with a large violation where nothing enforces it ...
  double off_t, off;  // ... when, and by how much
  int nevent;
  srRankEvent event[SRI_RANK_EVENTS];
};

// Entries of one row of a sparse or dense matrix.
typedef struct srEntries {
  int n;
  const int* column;  // NULL: all of them
  const double* value;
} srEntries;
static inline srEntries sri_entries(const srmPattern* pattern, int ncol, const double* values, int row) {
  if (pattern == NULL) return (srEntries){ncol, NULL, values + (size_t)row * (size_t)ncol};
  const int first = pattern->row[row];
  return (srEntries){pattern->row[row + 1] - first, pattern->column + first, values + first};
}
static inline int sri_column(const srEntries* row, int e) { return row->column != NULL ? row->column[e] : e; }

// Row k of the numbers of G, or of D, in all columns (nv).
void sri_spread_row(const srConstrained* c, const double* G, int k, double* out);

bool sri_ways_asked(const srIntegratorOptions* options);  // Baumgarte's terms, augmented Lagrangian or a partition
// Are the constrained accelerations solved here, not by the system's `rates`?
bool sri_solves_constraints(const srIntegratorOps* ops, const srSystem* system, const srIntegratorOptions* options);
bool sri_constrained_wanted(const srIntegrator* integrator);
bool sri_constrained_create(srIntegrator* integrator);  // false: out of memory
void sri_constrained_destroy(srConstrained* c);
void sri_constrained_start(srIntegrator* integrator);  // discards the choice of equations; NULL is allowed
// Reads the active equations of the system. True: they have changed.
bool sri_constrained_activate(srIntegrator* integrator);
// Before the state of a restart at t is set: keeps the equations in use, and the known singular positions.
void sri_constrained_restart(srIntegrator* integrator, double t);

// No equation is active, and the system has rates for that: there is nothing to choose, solve or enforce.
static inline bool sri_is_free(const srIntegrator* integrator) {
  return integrator->constrained->nactive == 0 && integrator->constrained->may_be_free;
}

// Evaluations; outcomes as in explicit.h. dynamics: M, f, D and ydot; constraint: G, b, g at (t, q), with zeros in the equations that are not
// active. D needs no zeros: its multipliers are 0 there.
int sri_dynamics(srIntegrator* integrator, double t, const double* x, double tau, double* ydot);
int sri_constraint(srIntegrator* integrator, double t, const double* q, double* g, double* G, double* b);
int sri_qdot(srIntegrator* integrator, const double* q, const double* v, double* qdot);
// w' at a state after dynamics, with its multipliers; from `rates` where the system has no `power`: then other (q', v', y') is overwritten.
int sri_power(srIntegrator* integrator, double t, const double* x, const double* lambda, double* other, double* wdot);
// Index-1 form with the equations in use fixed, and the requested stabilization: x' at (t, x); multipliers in c->lambda.
int sri_index1(srIntegrator* integrator, double t, const double* x, double tau, double* xdot);
// r = gamma, by the callback or by a difference along the motion.
int sri_gamma(srIntegrator* integrator, double t, const double* q, const double* v, double* gamma);

// Chooses the equations in use at the present state unless chosen since the last start.
srStatus sri_choose_rows(srIntegrator* integrator);
// End of a step: projects x_new, checks the equations left out, computes sigma. SRI_REFUSED: try again.
int sri_finish_constraints(srIntegrator* integrator, double t_new);
// ---- drift.c
// Does the method end its steps on the constraints?
bool sri_keeps(const srIntegrator* integrator);
// Does it step across singular positions?
bool sri_crosses(const srIntegrator* integrator);
// x_new with c->g and c->r = G v + b there: SRI_REFUSED where a violation is large in spite of enforcement.
int sri_monitor_rows(srIntegrator* integrator, double t);
// The rank rises after a drift: a violated equation makes others independent. SRI_STOP, with the message.
int sri_monitor_rise(srIntegrator* integrator, int before);
// Was the correction of the velocities, from x_before to x_new, too large so near a singular position, as measured by sigma?
int sri_monitor_correction(srIntegrator* integrator, double t);
// At the end t of an accepted step, c->G there: was a singular position passed?
void sri_monitor_passing(srIntegrator* integrator, double t);

// ---- partition.c; returns outcomes
struct srPartition* sri_partition_create(const srSystem* s, const srIntegratorOptions* o);  // NULL: out of memory
void sri_partition_choose(srIntegrator* integrator, double t);                              // by c->G, at t
// A fixed step has failed from the present state: other dependent coordinates there. False: there are none.
bool sri_partition_exchange(srIntegrator* integrator);
// Dependent entries of q and v; c->g, c->G, c->b are left as they are there. *smallest: least pivot.
int sri_partition_solve(srIntegrator* integrator, double t, double* q, double* v, double* smallest);
// The same at the end of a step, with a new partition where the pivots have become small.
int sri_partition_accept(srIntegrator* integrator, double t, double* q, double* v);
void sri_partition_mark(const struct srPartition* p, unsigned char* dependent);  // (nv)

// ---- augmented.c
struct srAugmented* sri_augmented_create(const srSystem* s);  // NULL: out of memory
// v' and c->lambda from c->M, f, G and the right-hand side of the constraints; false: singular or not finite.
bool sri_augmented_solve(srConstrained* c, const double* right, double* vdot);

// Records a rank event.
void sri_rank_event(srIntegrator* integrator, double t, srRankEventKind kind, int before, int after, int row);
double sri_residual_velocity(srIntegrator* integrator, const double* v);  // r = G v + b, largest entry
// Largest |G v' - right-hand side| of the last sri_index1, over all equations, before c->G is another one; overwrites r.
double sri_residual_acceleration(srConstrained* c);

#endif
