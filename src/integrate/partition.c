// Coordinate partitioning (the ROBOTRAN manual, section 3.2.2, eq 16 to 22, and 5.1): dependent coordinates follow from the independent ones.
//
//   g(q_u, q_v) = 0 by Newton for q_v:  G_v dq_v = -g           v_v = -G_v^-1 (G_u v_u + b)
//
// G_v are the columns that LU with full pivoting of the rows (scaled to length 1) selects; position rows first, so that the rows
// without a position form add dependent velocities only. Rows without a pivot are redundant. Everything is in the space of v:
// positions move along dependent directions by `retract`, so that quaternions need no special treatment.
//
// The integrator carries all coordinates, but the rates use the dependent ones only as an initial guess: the equations
// integrated are those of the independent coordinates. So a new partition, chosen when the pivots of the old one have become
// small compared with the best ones, needs no restart. Implicit and half-explicit methods satisfy the constraints in their own way, to their own
// accuracy; their steps end with the dependent coordinates that follow from the independent ones.
// Requested coordinate roles (`role` of the system) are wishes of the search for pivots (math/pivots.c). Coordinates that are to be independent (`independent` of
// the options) never are pivots, unless that leaves too few: at a singular position of theirs others take their place, until the next choice. Between two
// choices the sign of det G_v must not change: a step over such a position may be on another branch.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/projection.h"
#include "math/dense.h"
#include "math/pivots.h"

#define ITERATIONS 20
#define WORST 0.05  // smallest pivot relative to that of a new partition: below it the new one is used
#define LEAVE 0.1   // the same for coordinates that are to be independent, relative to their largest so far
#define BACK 0.4    // and above which they are so again

struct srPartition {
  int nv, ng, np;
  int rank, rank_position;
  int *row, *column;   // ng, nv: rank of them are the pivots, the others follow
  double *A, *LU;      // ng x nv; rank x rank
  int* pivot;          // rank
  double *x, *length;  // rank; ng
  signed char* role;   // nv: wishes
  signed char* fixed;  // nv: the same with SRM_NEVER for the coordinates of `independent`
  bool asked;          // there are such
  bool followed;       // they are the independent ones
  bool told;           // a choice was made before
  double smallest;     // pivot of the partition when it was chosen
  double most;         // largest since then, of those of `independent`
  double last;         // after the last step
  int sign;            // of det G_v; 0: not known
};

struct srPartition* sri_partition_create(const srSystem* s, const srIntegratorOptions* o) {
  const size_t nv = (size_t)s->nv, ng = (size_t)s->ng, n = ng < nv ? ng : nv;
  const size_t doubles = ng * nv + n * n + n + ng + 1, ints = ng + nv + n + 1;
  struct srPartition* p = sr_alloc(sizeof *p + doubles * sizeof(double) + ints * sizeof(int) + 2 * nv);
  if (p == NULL) return NULL;
  p->nv = s->nv;
  p->ng = s->ng;
  p->np = s->np;
  p->A = (double*)(void*)(p + 1);
  p->LU = p->A + ng * nv;
  p->x = p->LU + n * n;
  p->length = p->x + n;
  p->row = (int*)(void*)(p->length + ng + 1);
  p->column = p->row + ng;
  p->pivot = p->column + nv;
  p->role = (signed char*)(p->pivot + n + 1);
  p->fixed = p->role + nv;
  for (int i = 0; i < s->nv; ++i) {
    const int wish = s->role != NULL ? s->role(s->user, i) : 0;
    const bool independent = o->independent != NULL && o->independent[i] != 0;
    p->role[i] = (signed char)((wish > 0) - (wish < 0));
    p->fixed[i] = (signed char)(independent ? SRM_NEVER : p->role[i]);
    p->asked = p->asked || independent;
  }
  return p;
}

// ---- choice ---------------------------------------------------------------------------------------------------------------

static double* line(const struct srPartition* p, int row) { return p->A + (size_t)row * (size_t)p->nv; }

static void scaled_rows(struct srPartition* p, const srConstrained* c) {
  for (int i = 0; i < p->ng; ++i) {
    double square = 0.0, *row = line(p, i);
    sri_spread_row(c, c->G, i, row);
    for (int j = 0; j < p->nv; ++j) square += row[j] * row[j];
    p->length[i] = square > 0.0 ? sqrt(square) : 1.0;
    for (int j = 0; j < p->nv; ++j) row[j] /= p->length[i];
  }
}

static void choose(struct srPartition* p, const srConstrained* c, const signed char* role) {
  scaled_rows(p, c);
  srmPivots pivots = {.nrow = p->ng, .ncol = p->nv, .A = p->A, .role = role, .row = p->row, .column = p->column};
  p->rank = srm_pivots_choose(&pivots, p->np, &p->rank_position);
  p->smallest = p->last = pivots.smallest;
  p->sign = 0;
}

// The first coordinate of `independent` that is dependent; -1: none.
static int first_lost(const struct srPartition* p) {
  int lost = -1;
  for (int k = 0; k < p->rank; ++k) {
    if (p->fixed[p->column[k]] == SRM_NEVER && (lost < 0 || p->column[k] < lost)) lost = p->column[k];
  }
  return lost;
}

// Keeps whether the coordinates of `independent` are so; a change is an event.
static void note_followed(srIntegrator* integrator, double t) {
  struct srPartition* p = integrator->constrained->partition;
  const bool before = p->followed || !p->told;
  const int lost = first_lost(p);
  p->followed = lost < 0;
  p->told = true;
  if (p->followed) p->most = fmax(p->most, p->smallest);
  if (p->followed != before)
    sri_rank_event(integrator, t, p->followed ? SR_RANK_REGAINED : SR_RANK_LEFT, p->rank, p->rank, lost);
}

void sri_partition_choose(srIntegrator* integrator, double t) {
  const srConstrained* c = integrator->constrained;
  struct srPartition* p = c->partition;
  choose(p, c, p->role);
  if (!p->asked) return;
  const int rank = p->rank;
  choose(p, c, p->fixed);
  if (p->rank < rank || p->smallest <= BACK * p->most) choose(p, c, NULL);  // by the pivots alone
  note_followed(integrator, t);
}

bool sri_partition_exchange(srIntegrator* integrator) {
  srConstrained* c = integrator->constrained;
  struct srPartition* p = c != NULL ? c->partition : NULL;
  if (p == NULL || !p->followed) return false;
  if (sri_constraint(integrator, integrator->t, integrator->x, c->g, c->G, c->b) != SRI_DONE) return false;
  choose(p, c, NULL);
  note_followed(integrator, integrator->t);
  return !p->followed;
}

void sri_partition_mark(const struct srPartition* p, unsigned char* dependent) {
  for (int k = 0; k < p->nv; ++k) dependent[p->column[k]] = k < p->rank;
}

// ---- solution -------------------------------------------------------------------------------------------------------------

// Sign of the determinant after srm_lu.
static int sign_of(int n, const double* LU, const int* pivot) {
  int sign = 1;
  for (int i = 0; i < n; ++i) sign *= (LU[i * n + i] < 0.0) == (pivot[i] == i) ? -1 : 1;
  return sign;
}

// Factors the first n pivot rows and columns at c->G; false when they are singular. *smallest: least pivot.
static bool factor(struct srPartition* p, const srConstrained* c, int n, double* smallest) {
  for (int i = 0; i < n; ++i) {
    const int row = p->row[i];
    sri_spread_row(c, c->G, row, p->A);
    for (int j = 0; j < n; ++j) p->LU[i * n + j] = p->A[p->column[j]] / p->length[row];
  }
  if (!srm_lu(n, p->LU, p->pivot)) return false;
  *smallest = 1.0;
  for (int i = 0; i < n; ++i) *smallest = fmin(*smallest, fabs(p->LU[i * n + i]));
  return true;
}

static int solve_positions(srIntegrator* integrator, double t, double* q) {
  srConstrained* c = integrator->constrained;
  struct srPartition* p = c->partition;
  double before = (double)INFINITY, smallest;
  const int n = p->rank_position;
  for (int k = 0; k < ITERATIONS; ++k) {
    const int outcome = sri_constraint(integrator, t, q, c->g, c->G, c->b);
    if (outcome != SRI_DONE) return outcome;
    double worst = 0.0;
    for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(c->g[p->row[i]]) / p->length[p->row[i]]);
    if (worst <= 1e-15 || (worst < 1e-11 && worst > 0.5 * before)) return SRI_DONE;
    if (!isfinite(worst) || !factor(p, c, n, &smallest)) return SRI_REFUSED;
    for (int i = 0; i < n; ++i) p->x[i] = -c->g[p->row[i]] / p->length[p->row[i]];
    srm_lu_solve(n, p->LU, p->pivot, p->x);
    memset(c->dv, 0, (size_t)p->nv * sizeof *c->dv);
    for (int i = 0; i < n; ++i) c->dv[p->column[i]] = p->x[i];
    const int moved = sri_move_positions(integrator, q);
    if (moved != SRI_DONE) return moved;
    before = worst;
  }
  return SRI_REFUSED;
}

static int solve_velocities(srConstrained* c, double* v, double* smallest) {
  struct srPartition* p = c->partition;
  const int n = p->rank;
  for (int i = 0; i < n; ++i) v[p->column[i]] = 0.0;
  if (!factor(p, c, n, smallest)) return SRI_REFUSED;
  srm_rows_times(&c->shape, c->G, v, c->r);
  for (int i = 0; i < n; ++i) p->x[i] = -(c->r[p->row[i]] + c->b[p->row[i]]) / p->length[p->row[i]];
  srm_lu_solve(n, p->LU, p->pivot, p->x);
  for (int i = 0; i < n; ++i) v[p->column[i]] = p->x[i];
  return SRI_DONE;
}

int sri_partition_solve(srIntegrator* integrator, double t, double* q, double* v, double* smallest) {
  int outcome = solve_positions(integrator, t, q);
  if (outcome == SRI_DONE) outcome = solve_velocities(integrator->constrained, v, smallest);
  if (outcome == SRI_REFUSED) {
    (void)snprintf(integrator->reason, sizeof integrator->reason,
                   "the dependent coordinates have no solution from here");
  }
  return outcome;
}

// ---- end of a step --------------------------------------------------------------------------------------------------------

// Is the state on the other side of a singular position of the dependent coordinates? After factor. Of those that LU has chosen it would be one of the mechanism itself,
// which steps may pass.
static bool is_beyond(struct srPartition* p) {
  if (!p->followed) return false;
  const int sign = sign_of(p->rank, p->LU, p->pivot);
  const bool beyond = p->sign != 0 && sign != p->sign;
  if (!beyond) p->sign = sign;
  return beyond;
}

// Coordinates that are to be independent are kept up to the last step before they cannot be: after the next one, if the pivot goes on as in this.
static bool is_worn(struct srPartition* p, double smallest) {
  const double next = 2.0 * smallest - p->last;
  p->last = smallest;
  if (!p->followed) return smallest <= WORST * p->smallest;
  p->most = fmax(p->most, smallest);
  return fmin(smallest, next) <= LEAVE * p->most;
}

static void choose_again(srIntegrator* integrator, double t) {
  sri_partition_choose(integrator, t);
  ++integrator->stats.partitions;
}

// The step has used these dependent coordinates.
static int accept_own(srIntegrator* integrator, double t, double* q, double* v) {
  struct srPartition* p = integrator->constrained->partition;
  double smallest = 1.0;
  const int outcome = sri_partition_solve(integrator, t, q, v, &smallest);
  if (outcome != SRI_DONE) return outcome;
  if (is_beyond(p)) {
    (void)snprintf(integrator->reason, sizeof integrator->reason,
                   "a singular position of the dependent coordinates lies within the step");
    return SRI_REFUSED;
  }
  if (is_worn(p, smallest)) choose_again(integrator, t);
  return SRI_DONE;
}

// The step has satisfied the constraints without them: the state is near enough to choose by.
static int accept_other(srIntegrator* integrator, double t, double* q, double* v) {
  srConstrained* c = integrator->constrained;
  struct srPartition* p = c->partition;
  double smallest = 1.0;
  const int outcome = sri_constraint(integrator, t, q, c->g, c->G, c->b);
  if (outcome != SRI_DONE) return outcome;
  if (!factor(p, c, p->rank, &smallest) || is_beyond(p) || is_worn(p, smallest)) choose_again(integrator, t);
  return sri_partition_solve(integrator, t, q, v, &smallest);
}

int sri_partition_accept(srIntegrator* integrator, double t, double* q, double* v) {
  const bool own = integrator->ops->index1 && !integrator->ops->method.implicit;
  return own ? accept_own(integrator, t, q, v) : accept_other(integrator, t, q, v);
}
