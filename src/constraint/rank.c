// Rank of the constraints at a position, and the dependent sets.
//
// Rows of G are scaled to length 1 (very short ones less) and processed in order, drivers last (Gram-Schmidt, twice is enough): a row whose distance from
// the span of those before it is below SR_RANK_TAU is redundant, and is a combination of them, row = sum c_k row_k. Its
// dependent set is itself and the rows with c_k != 0. In this order the rows named redundant are the later ones
// of the file. Large models use the sparse factor of math/saddle.h, whose choice among dependent rows is its own.
//
// The vectors (1 at the redundant row, -c_k) span the kernel of G^T: a multiplier is unique where all of them vanish.
#include <math.h>
#include <string.h>

#include "constraint/constraint.h"

#define DENSE_MOST 4e6    // entries of G up to which it is processed row by row
#define SHORTEST 1e-2     // part of the longest row below which a row is not scaled up (as in saddle_rows.c)
#define COEFFICIENT 1e-6  // of scaled rows: below it a row does not belong to the set
#define ROUGH 2e-3        // 1.57 for pi/2 is 8e-4 away
#define ROUGH_MOST 1e5    // entries of G up to which the coarse rank is computed: the cost is cubic

typedef struct Rank {
  srRank shown;  // first: what the caller sees
  srPool pool;
  int *redundant, *set_start, *set;
  double* coefficient;
  int nset, set_capacity, coefficient_capacity, ncoefficient;
  unsigned char *kept, *unique;
} Rank;

typedef struct Basis {
  int ng, nv, n;   // n: rows accepted so far
  double* row;     // nv: the present row
  double *Q, *L;   // n x nv: orthonormal; n x n: accepted rows in terms of Q
  double* l;       // n: the present row in terms of Q
  int* taken;      // n: which rows they are
  double* length;  // ng: scale of a row
  double longest;  // of all rows
} Basis;

static double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static Basis basis_create(srPool* pool, int ng, int nv) {
  const size_t rows = (size_t)(ng < nv ? ng : nv) + 1;
  Basis b = {.ng = ng, .nv = nv};
  b.row = sr_pool_alloc(pool, (size_t)(nv + 1) * sizeof *b.row);
  b.Q = sr_pool_alloc(pool, rows * (size_t)(nv + 1) * sizeof *b.Q);
  b.L = sr_pool_alloc(pool, rows * rows * sizeof *b.L);
  b.l = sr_pool_alloc(pool, rows * sizeof *b.l);
  b.taken = sr_pool_alloc(pool, rows * sizeof *b.taken);
  b.length = sr_pool_alloc(pool, (size_t)(ng + 1) * sizeof *b.length);
  return b;
}

static double row_length(const srModel* m, const srData* d, int row) {
  const int start = m->G_start[row];
  return sqrt(dot(d->G + start, d->G + start, m->G_start[row + 1] - start));
}

// The row, scaled, minus its part in the span; that part in l. Returns the distance.
static double reduce(Basis* b, const srModel* m, const srData* d, int row) {
  memset(b->row, 0, (size_t)b->nv * sizeof *b->row);
  b->length[row] = fmax(row_length(m, d, row), SHORTEST * b->longest);
  if (!(b->length[row] > 0)) return 0;
  for (int k = m->G_start[row]; k < m->G_start[row + 1]; k++) b->row[m->G_index[k]] = d->G[k] / b->length[row];
  memset(b->l, 0, (size_t)(b->n + 1) * sizeof *b->l);
  for (int twice = 0; twice < 2; twice++) {
    for (int j = 0; j < b->n; j++) {
      const double* q = b->Q + (size_t)j * (size_t)b->nv;
      const double part = dot(q, b->row, b->nv);
      b->l[j] += part;
      for (int i = 0; i < b->nv; i++) b->row[i] -= part * q[i];
    }
  }
  return sqrt(dot(b->row, b->row, b->nv));
}

static size_t stride(const Basis* b) { return (size_t)(b->ng < b->nv ? b->ng : b->nv) + 1; }

static void take(Basis* b, int row, double distance) {
  double* q = b->Q + (size_t)b->n * (size_t)b->nv;
  for (int i = 0; i < b->nv; i++) q[i] = b->row[i] / distance;
  double* l = b->L + (size_t)b->n * stride(b);
  memcpy(l, b->l, (size_t)b->n * sizeof *l);
  l[b->n] = distance;
  b->taken[b->n++] = row;
}

static void begin_set(Rank* r, int row) {
  r->redundant[r->shown.nredundant] = row;
  SR_PUSH(&r->pool, r->set, r->nset, r->set_capacity) = row;
  SR_PUSH(&r->pool, r->coefficient, r->ncoefficient, r->coefficient_capacity) = 1;
}

static void add_to_set(Rank* r, int row, double coefficient) {
  SR_PUSH(&r->pool, r->set, r->nset, r->set_capacity) = row;
  SR_PUSH(&r->pool, r->coefficient, r->ncoefficient, r->coefficient_capacity) = -coefficient;
  r->unique[row] = 0;
}

static void end_set(Rank* r) {
  r->unique[r->redundant[r->shown.nredundant]] = 0;
  r->set_start[++r->shown.nredundant] = r->nset;
}

// Coefficients of the present row over the accepted ones: L^T c = l.
static void depend(Rank* r, Basis* b, int row) {
  begin_set(r, row);
  for (int j = b->n - 1; j >= 0 && b->length[row] > 0; j--) {
    double c = b->l[j];
    for (int k = j + 1; k < b->n; k++) c -= b->L[(size_t)k * stride(b) + (size_t)j] * b->l[k];
    b->l[j] = c / b->L[(size_t)j * stride(b) + (size_t)j];
  }
  for (int j = 0; j < b->n && b->length[row] > 0; j++) {
    if (fabs(b->l[j]) <= COEFFICIENT) continue;
    add_to_set(r, b->taken[j], b->l[j] * b->length[row] / b->length[b->taken[j]]);
  }
  end_set(r);
}

static void rank_dense(Rank* r, const srModel* m, const srData* d) {
  Basis b = basis_create(&r->pool, m->ng, m->nv);
  const int first = m->row_driver, last = first + m->ndriver;
  for (int i = 0; i < m->ng; i++) b.longest = fmax(b.longest, row_length(m, d, i));
  for (int k = 0; k < m->ng; k++) {
    // all rows but the drivers, then the drivers
    const int row = k < first ? k : k < m->ng - m->ndriver ? k + m->ndriver : k - (m->ng - last);
    const double distance = reduce(&b, m, d, row);
    if (distance > SR_RANK_TAU && b.n < m->nv) {
      take(&b, row, distance);
      r->kept[row] = 1;
      if (!(r->shown.least <= distance)) r->shown.least = distance, r->shown.least_row = row;
    } else {
      depend(r, &b, row);
    }
    if (k == m->ng - m->ndriver - 1) r->shown.rank_undriven = b.n;
  }
  r->shown.rank = b.n;
}

// Rows that only rounded numbers make independent do not count: dropping one may let a later one in.
static int rank_coarse(Rank* r, const srModel* m, const srData* d) {
  Basis b = basis_create(&r->pool, m->ng, m->nv);
  for (int i = 0; i < m->ng; i++) b.longest = fmax(b.longest, row_length(m, d, i));
  for (int row = 0; row < m->ng && b.n < m->nv; row++) {
    const double distance = reduce(&b, m, d, row);
    if (distance > ROUGH) take(&b, row, distance);
  }
  return b.n;
}

// Rank of the rows that are not drivers: a driver that contradicts or repeats a loop may be kept in place of one of its rows, so
// that counting those kept is not enough.
static int rank_without_drivers(Rank* r, const srModel* m, srData* d) {
  const srmRowsChoice choice = {.tau = SR_RANK_TAU};
  const int entries = m->G_start[m->ng];
  double* G = sr_pool_alloc(&r->pool, (size_t)(entries + 1) * sizeof *G);
  memcpy(G, d->G, (size_t)entries * sizeof *G);
  for (int i = 0; i < m->ng; i++) {
    if (m->row[i].kind != SR_ROW_DRIVER) continue;
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; k++) G[k] = 0;
  }
  return srm_rows_classify(d->priv->rows, NULL, G, &choice, r->kept);
}

static void rank_sparse(Rank* r, const srModel* m, srData* d) {
  const srmRowsChoice choice = {.tau = SR_RANK_TAU};
  double* c = sr_pool_alloc(&r->pool, (size_t)(m->ng + 1) * sizeof *c);
  r->shown.rank_undriven = m->ndriver > 0 ? rank_without_drivers(r, m, d) : -1;
  r->shown.rank = srm_rows_classify(d->priv->rows, NULL, d->G, &choice, r->kept);
  if (m->ndriver == 0) r->shown.rank_undriven = r->shown.rank;
  for (int i = 0; i < m->ng; i++) {
    if (r->kept[i]) continue;
    begin_set(r, i);
    srm_rows_dependence(d->priv->rows, i, c);
    for (int k = 0; k < m->ng; k++) {
      if (fabs(c[k]) > COEFFICIENT) add_to_set(r, k, c[k]);
    }
    end_set(r);
  }
}

static void fill(Rank* r, const srModel* m, srData* d) {
  r->redundant = sr_pool_alloc(&r->pool, (size_t)(m->ng + 1) * sizeof(int));
  r->set_start = sr_pool_alloc(&r->pool, (size_t)(m->ng + 2) * sizeof(int));
  r->kept = sr_pool_alloc(&r->pool, (size_t)m->ng + 1);
  r->unique = sr_pool_alloc(&r->pool, (size_t)m->ng + 1);
  memset(r->unique, 1, (size_t)m->ng + 1);
  r->shown.least = (double)NAN;
  r->shown.least_row = -1;
  if (!m->constrained || (double)m->ng * m->nv <= DENSE_MOST) {
    rank_dense(r, m, d);
  } else {
    rank_sparse(r, m, d);
  }
  const bool small = (double)m->ng * m->nv <= ROUGH_MOST;
  r->shown.rank_coarse = small && r->shown.least < ROUGH ? rank_coarse(r, m, d) : r->shown.rank;
  r->shown.redundant = r->redundant;
  r->shown.set_start = r->set_start;
  r->shown.set = r->set;
  r->shown.coefficient = r->coefficient;
  r->shown.kept = r->kept;
  r->shown.unique = r->unique;
}

srStatus sr_rank_create(const srModel* m, srData* d, srRank** out) {
  *out = NULL;
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_POSITION);
  if (sr_constraints(m, d) != 0) return SR_FAILED;
  Rank* r = sr_alloc(sizeof *r);
  if (!r) return SR_MEMORY;
  jmp_buf out_of_memory;
  sr_pool_init(&r->pool);
  r->pool.on_fail = &out_of_memory;
  if (setjmp(out_of_memory) != 0) {
    sr_rank_destroy(&r->shown);
    return SR_MEMORY;
  }
  fill(r, m, d);
  r->pool.on_fail = NULL;
  *out = &r->shown;
  return SR_OK;
}

void sr_rank_destroy(srRank* rank) {
  if (!rank) return;
  Rank* r = (Rank*)rank;  // shown is its first member
  sr_pool_free(&r->pool);
  sr_free(r);
}
