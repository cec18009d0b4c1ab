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
// small compared with the best ones, needs no restart.
// Requested coordinate roles (`role` of the system) are wishes of the search for pivots (math/pivots.c).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/projection.h"
#include "math/dense.h"
#include "math/pivots.h"

#define ITERATIONS 20
#define WORST 0.05  // smallest pivot relative to that of a new partition: below it the new one is used

struct srPartition {
  int nv, ng, np;
  int rank, rank_position;
  int *row, *column;   // ng, nv: rank of them are the pivots, the others follow
  double *A, *LU;      // ng x nv; rank x rank
  int* pivot;          // rank
  double *x, *length;  // rank; ng
  signed char* role;   // nv
  double smallest;     // pivot of the partition when it was chosen
};

struct srPartition* sri_partition_create(const srSystem* s) {
  const size_t nv = (size_t)s->nv, ng = (size_t)s->ng, n = ng < nv ? ng : nv;
  const size_t doubles = ng * nv + n * n + n + ng + 1, ints = ng + nv + n + 1;
  struct srPartition* p = sr_alloc(sizeof *p + doubles * sizeof(double) + ints * sizeof(int) + nv);
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
  for (int i = 0; s->role != NULL && i < s->nv; ++i) {
    const int wish = s->role(s->user, i);
    p->role[i] = (signed char)((wish > 0) - (wish < 0));
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

void sri_partition_choose(srConstrained* c) {
  struct srPartition* p = c->partition;
  scaled_rows(p, c);
  srmPivots pivots = {.nrow = p->ng, .ncol = p->nv, .A = p->A, .role = p->role, .row = p->row, .column = p->column};
  p->rank = srm_pivots_choose(&pivots, p->np, &p->rank_position);
  p->smallest = pivots.smallest;
}

void sri_partition_mark(const struct srPartition* p, unsigned char* dependent) {
  for (int k = 0; k < p->nv; ++k) dependent[p->column[k]] = k < p->rank;
}

// ---- solution -------------------------------------------------------------------------------------------------------------

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

int sri_partition_accept(srIntegrator* integrator, double t, double* q, double* v) {
  srConstrained* c = integrator->constrained;
  double smallest;
  const int outcome = sri_partition_solve(integrator, t, q, v, &smallest);
  if (outcome != SRI_DONE || smallest > WORST * c->partition->smallest) return outcome;
  sri_partition_choose(c);
  ++integrator->stats.partitions;
  return SRI_DONE;
}
