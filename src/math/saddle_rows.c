// Which rows of G are independent, how the others depend on them, and multipliers of least norm.
//
// Dense: B = G L^-T with M = L L^T, rows scaled to length 1, row-pivoted QR: B_i = sum_j R_ij Q_j. A row whose remainder is not above
// tau is dropped; its coefficients solve R_K^T c = R_d.
// Sparse: S = B B^T with B = N G W^1/2, W = diag(M)^-1 and N the scaling to length 1; S = L D L^T (math/symmetric.h), where D_k is the
// squared distance of row k from the rows before it: below tau^2 the row is dropped. Coefficients solve S_KK c = S_Kd. Not pivoted: each
// row kept is farther than tau from those before it, each row dropped is nearer, but the smallest singular value of the kept rows may
// be smaller than tau. Behind rows that are nearly dependent, rounding makes distances of dependent ones as large as sqrt(eps) over that value: those below DOUBTFUL are measured
// again, as the length of what the other kept rows leave of the row.
// Least norm: lambda - N^T (N N^T)^-1 N lambda with the rows N_d = e_d - c_d of the null space of G^T, by conjugate gradients:
// N N^T = I + C C^T is well conditioned where no coefficient is large.
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/dense.h"
#include "math/qr.h"
#include "math/row_times.h"
#include "math/saddle.h"
#include "math/symmetric.h"

#define DENSE_BELOW 80
#define DOUBTFUL 1e-3
#define EXCHANGES 200  // at one time: each costs a factor

struct srmRows {
  srmSaddleShape shape;
  srmPattern M, G;
  bool sparse;
  int rank;
  double* block;  // of the arrays of numbers and kept, trial, doubtful
  unsigned char *kept, *trial, *doubtful;
  double *length, *pivot, *work, *a, *b, *c, *e;  // ng each
  double* B;                                      // scaled rows: dense (ng x nv), sparse by the pattern of G
  // dense
  double *metric, *basis, *R;  // nv x nv, ng x nv, ng x ng
  int* order;                  // kept rows in order of selection, then the dropped
  // sparse
  srmSymmetric* S;
  int npair;
  int *pair_first, *pair_second, *pair_at;  // rows that share columns, and where their product goes in S
  double *weight, *least;                   // nv: W^1/2, then scratch; ng: least pivots by step
};

// ---- life -------------------------------------------------------------------------------------------------------------

void srm_rows_destroy(srmRows* r) {
  if (r == NULL) return;
  srm_pattern_free(&r->M);
  srm_pattern_free(&r->G);
  srm_symmetric_destroy(r->S);
  void* parts[] = {r->pair_first, r->pair_second, r->pair_at};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_free(r->block);  // with r
}

static bool find_pairs(srmRows* r, const int* start, const int* neighbour) {
  const size_t count = (size_t)start[r->shape.ng] / 2;
  if (!srm_take_ints(&r->pair_first, count) || !srm_take_ints(&r->pair_second, count) ||
      !srm_take_ints(&r->pair_at, count))
    return false;
  for (int k = 0; k < r->shape.ng; ++k) {
    for (int e = start[k]; e < start[k + 1]; ++e) {
      if (r->S->place[neighbour[e]] < r->S->place[k]) continue;
      r->pair_first[r->npair] = k;
      r->pair_second[r->npair] = neighbour[e];
      r->pair_at[r->npair++] = srm_symmetric_block(r->S, r->S->place[k], r->S->place[neighbour[e]]);
    }
  }
  return true;
}

static bool create_sparse(srmRows* r) {
  int *start = NULL, *neighbour = NULL;
  bool good = srm_row_graph(&r->G, &start, &neighbour);
  const srmSymmetricShape shape = {.n = r->shape.ng, .start = start, .neighbour = neighbour};
  good = good && srm_symmetric_create(&shape, srm_symmetric_for(1, shape.n), &r->S) && find_pairs(r, start, neighbour);
  sr_free(start);
  sr_free(neighbour);
  return good;
}

static bool is_sparse(const srmSaddleShape* shape) {
  const int below = shape->dense_below == 0 ? DENSE_BELOW : shape->dense_below;
  return shape->M != NULL && shape->G != NULL && shape->nv + shape->ng > below;
}

// The struct and its arrays in one block.
static srmRows* allocate(const srmSaddleShape* shape) {
  srmRows r = {.shape = *shape, .sparse = is_sparse(shape)};
  const size_t nv = (size_t)shape->nv, ng = (size_t)shape->ng, dense = r.sparse ? 0 : 1, sparse = 1 - dense;
  const srPart parts[] = {{&r.length, ng},
                          {&r.pivot, ng},
                          {&r.work, ng},
                          {&r.a, ng},
                          {&r.b, ng},
                          {&r.c, ng},
                          {&r.e, ng},
                          {&r.B, r.sparse ? (size_t)srm_pattern_count(shape->G) : ng * nv},
                          {&r.metric, dense * nv * nv},
                          {&r.basis, dense * ng * nv},
                          {&r.R, dense * ng * ng},
                          {&r.weight, sparse * nv},
                          {&r.least, sparse * ng}};
  const size_t order = dense * ng * sizeof *r.order;
  unsigned char* tail;
  if (!sr_take_parts(parts, SR_COUNT(parts), sizeof r + order + 3 * ng, &r.block, &tail)) return NULL;
  r.order = (int*)(void*)(tail + sizeof r);
  r.kept = tail + sizeof r + order;
  r.trial = r.kept + ng;
  r.doubtful = r.kept + 2 * ng;
  return memcpy(tail, &r, sizeof r);
}

srmRows* srm_rows_create(const srmSaddleShape* shape) {
  srmRows* r = allocate(shape);
  if (r == NULL) return NULL;
  bool good = true;
  if (shape->M != NULL) good = srm_pattern_copy(shape->M, &r->M) && good;
  if (shape->G != NULL) good = srm_pattern_copy(shape->G, &r->G) && good;
  r->shape.M = shape->M != NULL ? &r->M : NULL;
  r->shape.G = shape->G != NULL ? &r->G : NULL;
  good = good && (!r->sparse || create_sparse(r));
  if (good) return r;
  srm_rows_destroy(r);
  return NULL;
}

// ---- dense ------------------------------------------------------------------------------------------------------------

static void spread(const srmPattern* p, int ncol, const double* values, int i, double* out) {
  if (p == NULL) {
    memcpy(out, values + (size_t)i * (size_t)ncol, (size_t)ncol * sizeof *out);
  } else {
    memset(out, 0, (size_t)ncol * sizeof *out);
    for (int k = p->row[i]; k < p->row[i + 1]; ++k) out[p->column[k]] = values[k];
  }
}

// Smallest pivot of a Cholesky factor over the largest.
static double spread_of_factor(int n, const double* L) {
  double least = HUGE_VAL, most = 0;
  for (int i = 0; i < n; ++i) {
    least = fmin(least, L[(size_t)i * (size_t)n + (size_t)i]);
    most = fmax(most, L[(size_t)i * (size_t)n + (size_t)i]);
  }
  return n > 0 && most > 0 ? least / most : 1;
}

// Cholesky factor of M, or of M + s G^T G where M is singular.
static bool factor_metric(srmRows* r, const double* M) {
  const int nv = r->shape.nv;
  double most = 0, length = 0;
  for (int help = 0; help < 2; ++help) {
    for (int i = 0; i < nv; ++i) {
      double* row = r->metric + (size_t)i * (size_t)nv;
      if (M == NULL) {
        memset(row, 0, (size_t)nv * sizeof *row);
        row[i] = 1;
      } else {
        spread(r->shape.M, nv, M, i, row);
      }
      most = fmax(most, row[i]);
    }
    for (int k = 0; help == 1 && k < r->shape.ng * nv; ++k) length = fmax(length, fabs(r->B[k]));
    for (int k = 0; help == 1 && k < r->shape.ng; ++k) {
      const double* G = r->B + (size_t)k * (size_t)nv;
      const double s = (most > 0 ? most : 1) / (length > 0 ? length * length : 1);
      for (int i = 0; i < nv; ++i)
        for (int j = 0; j < nv; ++j) r->metric[(size_t)i * (size_t)nv + (size_t)j] += s * G[i] * G[j];
    }
    // M contains squares: 1e-7 here is 1e-14 there.
    if (srm_cholesky(nv, r->metric) && spread_of_factor(nv, r->metric) > 1e-7) return true;
  }
  return false;
}

// A row much shorter than the others is not scaled to their length: near a position where it vanishes, what drift leaves of
// it would have any direction and pass for an independent row.
#define SHORTEST 1e-2
static void reference_lengths(srmRows* r, const srmRowsChoice* choice) {
  double longest = 0;
  for (int k = 0; k < r->shape.ng; ++k) {
    if (choice->scale != NULL) r->length[k] = choice->scale[k] = fmax(choice->scale[k], r->length[k]);
    longest = fmax(longest, r->length[k]);
  }
  for (int k = 0; k < r->shape.ng; ++k) {
    if (r->length[k] > 0) r->length[k] = fmax(r->length[k], SHORTEST * longest);
  }
}

static void scale_rows(srmRows* r, const srmRowsChoice* choice) {
  const int nv = r->shape.nv;
  for (int k = 0; k < r->shape.ng; ++k) {
    double *row = r->B + (size_t)k * (size_t)nv, sum = 0;
    for (int i = 0; i < nv; ++i) {  // row = L^-1 row
      const double* L = r->metric + (size_t)i * (size_t)nv;
      for (int j = 0; j < i; ++j) row[i] -= L[j] * row[j];
      row[i] /= L[i];
      sum += row[i] * row[i];
    }
    r->length[k] = sqrt(sum);
  }
  reference_lengths(r, choice);
  for (int k = 0; k < r->shape.ng; ++k) {
    const double factor = r->length[k] > 0 ? 1 / r->length[k] : 0;
    for (int i = 0; i < nv; ++i) r->B[(size_t)k * (size_t)nv + (size_t)i] *= factor;
  }
}

// A row of distance < 1e-3 is doubtful below this distance: keeping it would change v by more than the limit.
static double doubtful_below(const srmRows* r, const srmRowsChoice* choice, int row) {
  if (choice->residual == NULL || !(r->length[row] > 0)) return 0;
  return fmin(1e-3, fabs(choice->residual[row]) / (r->length[row] * choice->residual_limit));
}

static int classify_dense(srmRows* r, const double* M, const double* G, const srmRowsChoice* choice) {
  const int nv = r->shape.nv, ng = r->shape.ng;
  for (int k = 0; k < ng; ++k) spread(r->shape.G, nv, G, k, r->B + (size_t)k * (size_t)nv);
  if (!factor_metric(r, M)) return -1;
  scale_rows(r, choice);
  int rank = srm_row_qr(ng, nv, r->B, choice->first, choice->tau, r->order, r->pivot, r->basis, r->R);
  // Doubtful rows are among the last selected, since distances fall.
  while (rank > 0 && r->pivot[r->order[rank - 1]] < doubtful_below(r, choice, r->order[rank - 1])) --rank;
  memset(r->kept, 0, (size_t)ng);
  for (int k = 0; k < rank; ++k) r->kept[r->order[k]] = 1;
  return rank;
}

// Coefficients of the scaled row over the scaled kept rows: B_d = sum c_k B_k, so R_K^T c = R_d.
static void dependence_dense(const srmRows* r, const double* Rd, double* c) {
  const int ng = r->shape.ng;
  for (int k = r->rank - 1; k >= 0; --k) {
    double sum = Rd[k];
    for (int j = k + 1; j < r->rank; ++j) sum -= r->R[(size_t)r->order[j] * (size_t)ng + (size_t)k] * c[r->order[j]];
    c[r->order[k]] = sum / r->R[(size_t)r->order[k] * (size_t)ng + (size_t)k];
  }
}

// z_j = sum_d R_dj mu_d over the dropped rows, then the same solve: C^T mu.
static void transposed_coefficients_dense(srmRows* r, const double* mu, double* out) {
  const int ng = r->shape.ng;
  memset(r->work, 0, (size_t)ng * sizeof *r->work);
  for (int i = r->rank; i < ng; ++i) {
    const int d = r->order[i];
    for (int j = 0; j < r->rank; ++j) r->work[j] += r->R[(size_t)d * (size_t)ng + (size_t)j] * mu[d];
  }
  dependence_dense(r, r->work, out);
}

// C lambda_K for all dropped rows: R_d (R_K^-1 lambda_K).
static void coefficients_dense(srmRows* r, const double* lambda, double* out) {
  const int ng = r->shape.ng;
  for (int k = 0; k < r->rank; ++k) {
    double sum = lambda[r->order[k]];
    const double* row = r->R + (size_t)r->order[k] * (size_t)ng;
    for (int j = 0; j < k; ++j) sum -= row[j] * r->work[j];
    r->work[k] = sum / row[k];
  }
  for (int i = r->rank; i < ng; ++i) {
    const int d = r->order[i];
    out[d] = 0;
    for (int j = 0; j < r->rank; ++j) out[d] += r->R[(size_t)d * (size_t)ng + (size_t)j] * r->work[j];
  }
}

// ---- sparse -----------------------------------------------------------------------------------------------------------

// B_k . B_k
static double row_square(const srmRows* r, int k) {
  double sum = 0;
  for (int p = r->G.row[k]; p < r->G.row[k + 1]; ++p) sum += r->B[p] * r->B[p];
  return sum;
}

// weight = W^1/2.
static void weigh_columns(srmRows* r, const double* M) {
  double most = 0;
  for (int i = 0; i < r->shape.nv; ++i) {
    r->weight[i] = M == NULL ? 1 : 0;
    for (int p = r->M.row[i]; M != NULL && p < r->M.row[i + 1]; ++p) {
      if (r->M.column[p] == i) r->weight[i] = M[p];
    }
    most = fmax(most, r->weight[i]);
  }
  // A coordinate without mass counts with a small one: any metric gives the same rank.
  const double least = most > 0 ? 1e-8 * most : 1;
  for (int i = 0; i < r->shape.nv; ++i) r->weight[i] = 1 / sqrt(fmax(r->weight[i], least));
}

// B_k . B_l of all pairs, those of one row k together: it is spread out in `weight`.
SRM_CLONES static void multiply_pairs(srmRows* r) {
  double* spread = r->weight;
  memset(spread, 0, (size_t)r->shape.nv * sizeof *spread);
  for (int i = 0; i < r->npair;) {
    const int k = r->pair_first[i], first = r->G.row[k], end = r->G.row[k + 1];
    for (int p = first; p < end; ++p) spread[r->G.column[p]] = r->B[p];
    for (; i < r->npair && r->pair_first[i] == k; ++i) {
      r->S->below[r->pair_at[i]] = srm_row_times(&r->G, r->pair_second[i], r->B, spread);
    }
    for (int p = first; p < end; ++p) spread[r->G.column[p]] = 0;
  }
}

static void assemble_sparse(srmRows* r, const double* M, const double* G, const srmRowsChoice* choice) {
  weigh_columns(r, M);
  for (int p = 0; p < srm_pattern_count(&r->G); ++p) r->B[p] = G[p] * r->weight[r->G.column[p]];
  for (int k = 0; k < r->shape.ng; ++k) r->length[k] = sqrt(row_square(r, k));
  reference_lengths(r, choice);
  srm_symmetric_clear(r->S);
  for (int k = 0; k < r->shape.ng; ++k) {
    const double factor = r->length[k] > 0 ? 1 / r->length[k] : 0;
    for (int p = r->G.row[k]; p < r->G.row[k + 1]; ++p) r->B[p] *= factor;
    r->S->diagonal[r->S->place[k]] = row_square(r, k);
  }
  multiply_pairs(r);
}

// only (or NULL): rows that may be kept.
static int classify_sparse(srmRows* r, const double* M, const double* G, const srmRowsChoice* choice,
                           const unsigned char* only) {
  assemble_sparse(r, M, G, choice);
  for (int k = 0; k < r->shape.ng; ++k) {
    const double least = only == NULL   ? fmax(choice->tau, doubtful_below(r, choice, k))
                         : only[k] != 0 ? choice->tau
                                        : HUGE_VAL;
    r->least[r->S->place[k]] = least * least;
  }
  const int rank = srm_symmetric_factor(r->S, r->least);
  for (int k = 0; k < r->shape.ng; ++k) {
    r->pivot[k] = sqrt(fmax(r->S->pivot[r->S->place[k]], 0));
    r->kept[k] = r->S->reciprocal[r->S->place[k]] != 0;
  }
  return rank;
}

// y_K = S_KK^-1 y_K; 0 in the dropped rows.
static void solve_kept(srmRows* r, double* y) {
  for (int k = 0; k < r->shape.ng; ++k) r->work[r->S->place[k]] = y[k];
  srm_symmetric_solve(r->S, r->work);
  for (int k = 0; k < r->shape.ng; ++k) y[k] = r->work[r->S->place[k]];
}

// out = B B^T y.
static void times_rows(srmRows* r, const double* y, double* out) {
  srm_rows_transposed_times(&r->shape, r->B, y, r->weight);
  srm_rows_times(&r->shape, r->B, r->weight, out);
}

// out_K = S_KK^-1 S_Kd mu_d; mu is 0 in the kept rows.
static void transposed_coefficients_sparse(srmRows* r, const double* mu, double* out) {
  times_rows(r, mu, out);
  solve_kept(r, out);
}

// out_d = S_dK S_KK^-1 lambda_K; lambda is overwritten.
static void coefficients_sparse(srmRows* r, double* lambda, double* out) {
  solve_kept(r, lambda);
  times_rows(r, lambda, out);
}

// Length of row k, which is not kept, without its part in the kept rows.
static double distance_of(srmRows* r, int k) {
  const int ng = r->shape.ng;
  double sum = 0;
  memset(r->a, 0, (size_t)ng * sizeof *r->a);
  r->a[k] = 1;
  for (int i = 0; i < 2; ++i) {  // the second time removes the rounding of the first
    times_rows(r, r->a, r->b);
    solve_kept(r, r->b);
    for (int j = 0; j < ng; ++j) r->a[j] -= r->kept[j] != 0 ? r->b[j] : 0;
  }
  srm_rows_transposed_times(&r->shape, r->B, r->a, r->weight);
  for (int i = 0; i < r->shape.nv; ++i) sum += r->weight[i] * r->weight[i];
  return sqrt(sum);
}

static int examine_doubtful(srmRows* r, const double* M, const double* G, const srmRowsChoice* choice, int rank) {
  const int ng = r->shape.ng;
  bool any = false;
  memcpy(r->trial, r->kept, (size_t)ng);
  for (int k = 0; k < ng; ++k) {
    r->doubtful[k] = r->kept[k] != 0 && r->pivot[k] < DOUBTFUL;
    any = any || r->doubtful[k] != 0;
  }
  if (!any) return rank;
  for (int k = 0; k < ng; ++k) {
    if (r->doubtful[k] == 0) continue;
    r->trial[k] = 0;
    (void)classify_sparse(r, M, G, choice, r->trial);
    r->trial[k] = distance_of(r, k) > fmax(choice->tau, doubtful_below(r, choice, k));
  }
  return classify_sparse(r, M, G, choice, r->trial);
}

// ---- both -------------------------------------------------------------------------------------------------------------

int srm_rows_classify(srmRows* r, const double* M, const double* G, const srmRowsChoice* choice, unsigned char* kept) {
  r->rank = r->sparse ? classify_sparse(r, M, G, choice, NULL) : classify_dense(r, M, G, choice);
  if (r->sparse) r->rank = examine_doubtful(r, M, G, choice, r->rank);
  if (r->rank >= 0 && r->shape.ng > 0) memcpy(kept, r->kept, (size_t)r->shape.ng);
  return r->rank;
}

// The kept row with the largest share in the smallest singular value of the kept rows.
static int weakest_row(srmRows* r) {
  const int ng = r->shape.ng;
  double* y = r->work;
  int weakest = -1;
  for (int k = 0; k < ng; ++k) y[k] = 1 + 0.37 * (k % 13);
  for (int i = 0; i < 4; ++i) {
    double most = 0;
    srm_symmetric_solve(r->S, y);
    for (int k = 0; k < ng; ++k) {
      if (!(fabs(y[k]) > most)) continue;  // dropped rows have 0
      most = fabs(y[k]);
      weakest = r->S->order[k];
    }
    for (int k = 0; k < ng; ++k) y[k] /= most > 0 ? most : 1;
  }
  return weakest;
}

// One exchange in kept; false: none that gains.
static bool exchange_one(srmRows* r, unsigned char* kept) {
  const int ng = r->shape.ng, weakest = weakest_row(r);
  int best = -1;
  if (weakest < 0) return false;
  memset(r->a, 0, (size_t)ng * sizeof *r->a);
  memset(r->b, 0, (size_t)ng * sizeof *r->b);
  r->a[weakest] = 1;
  coefficients_sparse(r, r->a, r->b);  // the share of the weakest row in each dropped one
  for (int d = 0; d < ng; ++d) {
    if (r->kept[d] == 0 && fabs(r->b[d]) > (best < 0 ? 2 : fabs(r->b[best]))) best = d;
  }
  if (best < 0) return false;
  kept[weakest] = 0;
  kept[best] = 1;
  return true;
}

bool srm_rows_exchange(srmRows* r, const double* M, const double* G, const srmRowsChoice* choice, unsigned char* kept) {
  const int ng = r->shape.ng;
  // Near dependence is what is to be removed: it must not drop rows here.
  const srmRowsChoice all = {.tau = 1e-7, .scale = choice->scale};
  int rank = 0;
  bool changed = false;
  for (int k = 0; k < ng; ++k) rank += kept[k];
  if (!r->sparse) {
    r->rank = classify_dense(r, M, G, choice);
    if (r->rank != rank || memcmp(kept, r->kept, (size_t)ng) == 0) return false;
    memcpy(kept, r->kept, (size_t)ng);
    return true;
  }
  for (int i = 0; i < EXCHANGES; ++i) {
    r->rank = classify_sparse(r, M, G, &all, kept);
    if (r->rank != rank || !exchange_one(r, kept)) break;
    changed = true;
  }
  return changed && r->rank == rank;
}

double srm_rows_pivot(const srmRows* r, int row) { return r->pivot[row]; }

// out_K = C^T mu over the rows as the caller scaled them: G_d = sum c_k G_k with c = c' |G_d|/|G_k|.
static void transposed_coefficients(srmRows* r, const double* mu, double* out) {
  const int ng = r->shape.ng;
  for (int k = 0; k < ng; ++k) r->a[k] = r->kept[k] == 0 ? mu[k] * r->length[k] : 0;
  if (r->sparse) {
    transposed_coefficients_sparse(r, r->a, out);
  } else {
    transposed_coefficients_dense(r, r->a, out);
  }
  for (int k = 0; k < ng; ++k) out[k] = r->kept[k] != 0 ? out[k] / r->length[k] : 0;
}

// out_d = C lambda_K.
static void coefficients(srmRows* r, const double* lambda, double* out) {
  const int ng = r->shape.ng;
  for (int k = 0; k < ng; ++k) r->a[k] = r->kept[k] != 0 ? lambda[k] / r->length[k] : 0;
  if (r->sparse) {
    coefficients_sparse(r, r->a, out);
  } else {
    coefficients_dense(r, r->a, out);
  }
  for (int k = 0; k < ng; ++k) out[k] = r->kept[k] == 0 ? out[k] * r->length[k] : 0;
}

void srm_rows_dependence(srmRows* r, int row, double* coefficient) {
  memset(r->b, 0, (size_t)r->shape.ng * sizeof *r->b);
  r->b[row] = 1;
  transposed_coefficients(r, r->b, coefficient);
}

static double dot(int n, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// rest_d = lambda_d - C lambda_K: the component of lambda in the null space of G^T. Zero at the kept rows.
static void null_part(srmRows* r, const double* lambda, double* rest) {
  coefficients(r, lambda, rest);
  for (int k = 0; k < r->shape.ng; ++k) rest[k] = r->kept[k] == 0 ? lambda[k] - rest[k] : 0;
}

void srm_rows_least_norm(srmRows* r, double* lambda) {
  const int ng = r->shape.ng;
  double *rest = r->b, *direction = r->c, *moved = r->e;
  if (r->rank >= ng || ng == 0) return;
  // Conjugate gradients for N N^T mu = N lambda, with lambda - N^T mu updated in place. N^T p = p_d - C^T p.
  null_part(r, lambda, rest);
  memcpy(direction, rest, (size_t)ng * sizeof *direction);
  double before = dot(ng, rest, rest);
  const double enough = 1e-30 * dot(ng, lambda, lambda);
  for (int i = 0; i < 2 * ng && before > enough; ++i) {
    transposed_coefficients(r, direction, moved);
    for (int k = 0; k < ng; ++k) moved[k] = r->kept[k] == 0 ? direction[k] : -moved[k];
    const double step = before / dot(ng, moved, moved);  // p^T N N^T p = |N^T p|^2
    for (int k = 0; k < ng; ++k) lambda[k] -= step * moved[k];
    null_part(r, lambda, rest);
    const double now = dot(ng, rest, rest);
    if (!(now < before)) break;
    for (int k = 0; k < ng; ++k) direction[k] = rest[k] + now / before * direction[k];
    before = now;
  }
}

void srm_rows_unique(srmRows* r, unsigned char* unique) {
  for (int k = 0; k < r->shape.ng; ++k) unique[k] = r->kept[k];
  for (int d = 0; d < r->shape.ng; ++d) {
    if (r->kept[d] != 0) continue;
    srm_rows_dependence(r, d, r->c);
    for (int k = 0; k < r->shape.ng; ++k) {
      // A coefficient of rounding size is none; rows are compared at their own scale.
      if (fabs(r->c[k]) * r->length[k] > 1e-9 * r->length[d]) unique[k] = 0;
    }
  }
}
