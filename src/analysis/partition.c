// Coordinate partitioning (paper 4, section 3.2.2, eq 16 to 22, and 5.1): dependent coordinates follow from the independent ones.
//
//   g(q_u, q_v) = 0 by Newton for q_v:  G_v dq_v = -g           v_v = -G_v^-1 (G_u v_u + b)
//
// G_v are the columns that LU with full pivoting of the rows (scaled to length 1) takes; position rows first, so that the rows
// without a position form add dependent velocities only. Rows without a pivot are redundant. Everything is in the space of v:
// positions move by retract along dependent directions, so that quaternions need no care.
//
// The integrator carries all coordinates, but the rates see the dependent ones only as a first guess: the equations that are
// integrated are those of the independent coordinates. So a new partition, taken when the pivots of the old one have become
// small against the best ones, needs no restart.
//
// Hints (`nature` of a joint): pivots are looked for among the coordinates that are to be dependent, then among those without
// a hint, last among those that are to be independent; a pivot below HINTED is not taken for the hint's sake.
#include "analysis/partition.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "constraint/constraint.h"

#define TAU 1e-7     // pivot of a scaled row below which it is redundant
#define HINTED 1e-2  // pivot of a scaled row from which a hint is followed
#define ITERATIONS 20
#define WORST 0.05  // smallest pivot against that of a new partition: below it the new one is taken

struct srPartitioning {
  const srModel* m;
  int rank, rank_position;
  int *row, *column;   // ng, nv: rank of them are the pivots, the others follow
  int* level;          // nv: 0 to be dependent, 1 no hint, 2 to be independent
  double *A, *LU;      // ng x nv; rank x rank
  int* pivot;          // rank
  double *x, *length;  // rank; ng
  double smallest;     // pivot of the partition when it was taken
};

// In other than relative coordinates the hints speak of no coordinate of the equations.
static void read_hints(srPartitioning* p) {
  const srModel* m = p->m;
  for (int i = 0; i < m->nv; ++i) p->level[i] = 1;
  for (int j = 0; j < m->njoint && !m->gauged; ++j) {
    for (int k = 0; k < m->joint_nv[j]; ++k) {
      if (m->joint_nature[j] == SR_NATURE_DEPENDENT) p->level[m->joint_v[j] + k] = 0;
      if (m->joint_nature[j] == SR_NATURE_INDEPENDENT) p->level[m->joint_v[j] + k] = 2;
    }
  }
}

srPartitioning* sr_partitioning_create(const srModel* m) {
  const size_t nv = (size_t)m->nv, ng = (size_t)m->ng, n = ng < nv ? ng : nv;
  const size_t doubles = ng * nv + n * n + n + ng + 1, ints = ng + 2 * nv + n + 1;
  srPartitioning* p = sr_alloc(sizeof *p + doubles * sizeof(double) + ints * sizeof(int));
  if (p == NULL) return NULL;
  p->m = m;
  p->A = (double*)(void*)(p + 1);
  p->LU = p->A + ng * nv;
  p->x = p->LU + n * n;
  p->length = p->x + n;
  p->row = (int*)(void*)(p->length + ng + 1);
  p->column = p->row + ng;
  p->level = p->column + nv;
  p->pivot = p->level + nv;
  read_hints(p);
  return p;
}

void sr_partitioning_destroy(srPartitioning* p) { sr_free(p); }

// ---- choice ---------------------------------------------------------------------------------------------------------------

static void scaled_rows(srPartitioning* p, const srData* d) {
  const srModel* m = p->m;
  sr_constraint_matrix(m, d, p->A);
  for (int i = 0; i < m->ng; ++i) {
    double square = 0.0, *row = p->A + (size_t)i * (size_t)m->nv;
    for (int j = 0; j < m->nv; ++j) square += row[j] * row[j];
    p->length[i] = square > 0.0 ? sqrt(square) : 1.0;
    for (int j = 0; j < m->nv; ++j) row[j] /= p->length[i];
  }
}

static void swap(int* a, int* b) {
  const int t = *a;
  *a = *b;
  *b = t;
}

// The largest entry that is left in rows k .. last-1 of the order and in columns up to the level; its size.
static double largest(const srPartitioning* p, int k, int last, int level, int* row, int* column) {
  const srModel* m = p->m;
  double most = 0.0;
  for (int i = k; i < last; ++i) {
    for (int j = k; j < m->nv; ++j) {
      if (p->level[p->column[j]] > level) continue;
      const double size = fabs(p->A[(size_t)p->row[i] * (size_t)m->nv + (size_t)p->column[j]]);
      if (size <= most) continue;
      most = size;
      *row = i;
      *column = j;
    }
  }
  return most;
}

static double find_pivot(const srPartitioning* p, int k, int last, int* row, int* column) {
  for (int level = 0; level < 2; ++level) {
    const double size = largest(p, k, last, level, row, column);
    if (size >= HINTED) return size;
  }
  return largest(p, k, last, 2, row, column);
}

static void eliminate(srPartitioning* p, int k) {
  const srModel* m = p->m;
  const double* top = p->A + (size_t)p->row[k] * (size_t)m->nv;
  for (int i = k + 1; i < m->ng; ++i) {
    double* row = p->A + (size_t)p->row[i] * (size_t)m->nv;
    const double factor = row[p->column[k]] / top[p->column[k]];
    if (factor == 0.0) continue;
    for (int j = k; j < m->nv; ++j) row[p->column[j]] -= factor * top[p->column[j]];
  }
}

// Takes pivots from rows k .. last-1; rows that have none left go behind `last`. Returns how many there are in all.
static int take_pivots(srPartitioning* p, int k, int last, double* smallest) {
  int i = 0, j = 0;
  for (;; ++k) {
    const double size = k < p->m->nv ? find_pivot(p, k, last, &i, &j) : 0.0;
    if (!(size > TAU)) return k;
    *smallest = fmin(*smallest, size);
    swap(&p->row[k], &p->row[i]);
    swap(&p->column[k], &p->column[j]);
    eliminate(p, k);
  }
}

void sr_partitioning_choose(srPartitioning* p, const srData* d) {
  const srModel* m = p->m;
  scaled_rows(p, d);
  for (int i = 0; i < m->ng; ++i) p->row[i] = i;
  for (int j = 0; j < m->nv; ++j) p->column[j] = j;
  p->smallest = 1.0;
  p->rank_position = take_pivots(p, 0, m->np, &p->smallest);
  // Redundant position rows to the end, velocity rows forward.
  int next = p->rank_position;
  for (int i = p->rank_position; i < m->ng; ++i) {
    if (p->row[i] >= m->np) swap(&p->row[next++], &p->row[i]);
  }
  p->rank = take_pivots(p, p->rank_position, next, &p->smallest);
}

void sr_partitioning_tell(const srPartitioning* p, srMessages* messages) {
  const srModel* m = p->m;
  for (int k = 0; k < m->nv; ++k) {
    const int coordinate = p->column[k], level = p->level[coordinate];
    const bool dependent = k < p->rank;
    if (level == 1 || (level == 0) == dependent) continue;
    sr_messages_add(
        messages, SR_SEVERITY_WARNING, (srPlace){0},
        "the coordinate '%s' is %s: its nature is to be %s, which the constraints do not allow at the start",
        m->v_name[coordinate], dependent ? "dependent" : "independent", dependent ? "independent" : "dependent");
  }
}

int sr_partitioning_rank(const srPartitioning* p) { return p->rank; }
int sr_partitioning_dependent(const srPartitioning* p, int k) { return p->column[k]; }

// ---- solution -------------------------------------------------------------------------------------------------------------

// Factors the first n pivot rows and columns at d's G; false when they are singular. *smallest: least pivot.
static bool factor(srPartitioning* p, const srData* d, int n, double* smallest) {
  const srModel* m = p->m;
  for (int i = 0; i < n; ++i) {
    const int row = p->row[i];
    memset(p->A, 0, (size_t)m->nv * sizeof *p->A);
    for (int k = m->G_start[row]; k < m->G_start[row + 1]; ++k) p->A[m->G_index[k]] = d->G[k];
    for (int j = 0; j < n; ++j) p->LU[i * n + j] = p->A[p->column[j]] / p->length[row];
  }
  if (!srm_lu(n, p->LU, p->pivot)) return false;
  *smallest = 1.0;
  for (int i = 0; i < n; ++i) *smallest = fmin(*smallest, fabs(p->LU[i * n + i]));
  return true;
}

// Dependent positions of d->q by Newton; dx: scratch (nv). Leaves g, G, b of the result in d.
static int solve_positions(srPartitioning* p, srData* d, double* dx) {
  const srModel* m = p->m;
  double before = (double)INFINITY, smallest;
  const int n = p->rank_position;
  for (int k = 0; k < ITERATIONS; ++k) {
    sr_kinematics(m, d);
    const int answer = sr_constraints(m, d);
    if (answer != 0) return answer;
    double worst = 0.0;
    for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(d->g[p->row[i]]) / p->length[p->row[i]]);
    if (worst <= 1e-15 || (worst < 1e-11 && worst > 0.5 * before)) return 0;
    if (!isfinite(worst) || !factor(p, d, n, &smallest)) return 1;
    for (int i = 0; i < n; ++i) p->x[i] = -d->g[p->row[i]] / p->length[p->row[i]];
    srm_lu_solve(n, p->LU, p->pivot, p->x);
    memset(dx, 0, (size_t)m->nv * sizeof *dx);
    for (int i = 0; i < n; ++i) dx[p->column[i]] = p->x[i];
    sr_retract(m, d->q, dx, d->q);
    before = worst;
  }
  return 1;
}

static int solve_velocities(srPartitioning* p, srData* d, double* smallest) {
  const srModel* m = p->m;
  const int n = p->rank;
  for (int i = 0; i < n; ++i) d->v[p->column[i]] = 0.0;
  if (!factor(p, d, n, smallest)) return 1;
  for (int i = 0; i < n; ++i) {
    const int row = p->row[i];
    double sum = d->b[row];
    for (int k = m->G_start[row]; k < m->G_start[row + 1]; ++k) sum += d->G[k] * d->v[m->G_index[k]];
    p->x[i] = -sum / p->length[row];
  }
  srm_lu_solve(n, p->LU, p->pivot, p->x);
  for (int i = 0; i < n; ++i) d->v[p->column[i]] = p->x[i];
  return 0;
}

int sr_partitioning_solve(srPartitioning* p, srData* d, double* dx, double* smallest) {
  const int answer = solve_positions(p, d, dx);
  return answer != 0 ? answer : solve_velocities(p, d, smallest);
}

bool sr_partitioning_update(srPartitioning* p, const srData* d, double smallest) {
  if (smallest > WORST * p->smallest) return false;
  sr_partitioning_choose(p, d);
  return true;
}
