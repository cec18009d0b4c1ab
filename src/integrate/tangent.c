// The tangent of implicit methods: by the system's callback, or by differences of the residual
//   E = [ M(q) a - f - D^T lambda ; -y' ],   column j of K = (E(x + d_j e_j) - E(x)) / d_j
// Columns that have no row in common share one evaluation: Curtis, Powell, Reid (1974). The groups are found once, greedily.
// A difference is good to about 1e-8 of its column: enough for a Newton matrix, not for more.
#include "integrate/tangent.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrate/array.h"
#include "math/row_times.h"

// ---- patterns ---------------------------------------------------------------------------------------------------------

static bool take_pattern(const srSystem* s, srmPattern* pattern) {
  const srSparsity* k = s->K_sparsity;
  if (s->solver != NULL) return srm_pattern_full(0, 0, 0, pattern);
  const int n = s->nv + s->ny;
  if (k == NULL) return srm_pattern_full(n, n, n, pattern);
  SR_ASSERT(k->nrow == n && k->ncol == n);
  return srm_pattern_copy(k, pattern);
}

// The index of (i, j), or -1.
static int place_of(const srmPattern* p, int i, int j) {
  int low = p->row[i], high = p->row[i + 1];
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (p->column[middle] < j) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < p->row[i + 1] && p->column[low] == j ? low : -1;
}

static void index_pattern(srTangentWork* work) {
  const srmPattern* p = &work->pattern;
  for (int i = 0; i < p->nrow; ++i) {
    for (int k = p->row[i]; k < p->row[i + 1]; ++k) {
      work->row_of[k] = i;
      work->transposed[k] = place_of(p, p->column[k], i);
      SR_ASSERT(work->transposed[k] >= 0);
    }
  }
}

static void index_mass(srTangentWork* work, const srSystem* s) {
  const srSparsity* m = s->M_sparsity;
  size_t k = 0;
  for (int i = 0; i < s->nv; ++i) {
    const int first = m != NULL ? m->row[i] : 0, end = m != NULL ? m->row[i + 1] : s->nv;
    for (int p = first; p < end; ++p) {
      // A zero of a dense M may be outside a sparse tangent.
      work->mass[k++] = place_of(&work->pattern, i, m != NULL ? m->column[p] : p);
    }
  }
}

// Each column gets the first group without a column that shares a row with it. seen: of each group, the last column that
// excluded it.
static void find_groups(srTangentWork* work, int* seen) {
  const srmPattern* p = &work->pattern;
  for (int j = 0; j < p->ncol; ++j) work->group[j] = seen[j] = -1;
  work->ngroup = 0;
  for (int j = 0; j < p->ncol; ++j) {
    for (int k = p->row[j]; k < p->row[j + 1]; ++k) {  // symmetric: the rows of column j
      const int i = p->column[k];
      for (int l = p->row[i]; l < p->row[i + 1]; ++l) {
        const int group = work->group[p->column[l]];
        if (group >= 0) seen[group] = j;
      }
    }
    int group = 0;
    while (group < work->ngroup && seen[group] == j) ++group;
    work->group[j] = group;
    if (group == work->ngroup) ++work->ngroup;
  }
}

// ---- life -------------------------------------------------------------------------------------------------------------

static bool take_numbers(srTangentWork* work, const srSystem* s) {
  const size_t n = (size_t)(s->nv + s->ny), nv = (size_t)s->nv;
  const size_t rows = sri_rows_count(s);
  const srPart parts[] = {{&work->Kq, work->count},
                          {&work->Kv, work->count},
                          {&work->e0, n},
                          {&work->e1, n},
                          {&work->x, (size_t)s->nq + n},
                          {&work->M, work->nmass},
                          {&work->f, nv},
                          {&work->G, rows},
                          {&work->D, rows},
                          {&work->dxi, n},
                          {&work->diagonal, nv}};
  return sr_take_parts(parts, SR_COUNT(parts), 0, &work->block, NULL);
}

bool sri_tangent_create(srTangentWork* work, const srSystem* s) {
  *work = (srTangentWork){0};
  const int n = s->nv + s->ny;
  int* seen = NULL;
  if (!take_pattern(s, &work->pattern)) return false;
  work->solver = s->solver;
  work->count = (size_t)srm_pattern_count(&work->pattern);
  if (s->solver == NULL) work->nmass = sri_mass_count(s);
  const bool good = srm_take_ints(&work->group, (size_t)n) && srm_take_ints(&work->row_of, work->count) &&
                    srm_take_ints(&work->transposed, work->count) && srm_take_ints(&work->mass, work->nmass) &&
                    srm_take_ints(&seen, (size_t)n) && take_numbers(work, s);
  if (good && s->solver == NULL) {
    index_pattern(work);
    index_mass(work, s);
    find_groups(work, seen);
  }
  sr_free(seen);
  return good;
}

void sri_tangent_destroy(srTangentWork* work) {
  srm_pattern_free(&work->pattern);
  sr_free(work->group);
  sr_free(work->row_of);
  sr_free(work->transposed);
  sr_free(work->mass);
  sr_free(work->block);
  *work = (srTangentWork){0};
}

// ---- residual ---------------------------------------------------------------------------------------------------------

// E -= D^T lambda
static void subtract_reactions(const srSystem* s, const double* D, const double* lambda, double* E) {
  for (int k = 0; k < s->ng; ++k) {
    if (lambda[k] == 0) continue;
    const srSparsity* g = s->G_sparsity;
    if (g == NULL) {
      for (int j = 0; j < s->nv; ++j) E[j] -= lambda[k] * D[(size_t)k * (size_t)s->nv + (size_t)j];
    } else {
      for (int p = g->row[k]; p < g->row[k + 1]; ++p) E[g->column[p]] -= lambda[k] * D[p];
    }
  }
}

// E = M a - f
static void motion_terms(const srSystem* s, const double* M, const double* f, const double* a, double* E) {
  const srSparsity* m = s->M_sparsity;
  for (int i = 0; i < s->nv; ++i) {
    double sum = -f[i];
    if (m == NULL) {
      for (int j = 0; j < s->nv; ++j) sum += M[(size_t)i * (size_t)s->nv + (size_t)j] * a[j];
    } else {
      for (int p = m->row[i]; p < m->row[i + 1]; ++p) sum += M[p] * a[m->column[p]];
    }
    E[i] = sum;
  }
}

// rows: G is to be evaluated here; else the last one still holds.
static int residual(srIntegrator* integrator, srTangentWork* work, double t, const double* x, const double* a,
                    const double* lambda, bool rows, double* E) {
  const srSystem* s = &integrator->system;
  const double *v = x + s->nq, *y = v + s->nv;
  int answer = 0;
  ++integrator->stats.evaluations;
  answer = s->dynamics(s->user, t, x, v, y, SR_TAU_ELEMENT, work->M, work->f, E + s->nv, s->D_differs ? work->D : NULL);
  if (answer == 0 && rows && s->ng > 0 && lambda != NULL) {
    answer = s->constraint(s->user, t, x, NULL, work->G, NULL);
  }
  if (answer != 0) return sri_outcome(answer);
  motion_terms(s, work->M, work->f, a, E);
  for (int i = s->nv; i < s->nv + s->ny; ++i) E[i] = -E[i];
  if (s->ng > 0 && lambda != NULL) subtract_reactions(s, s->D_differs ? work->D : work->G, lambda, E);
  return sri_all_finite(s->nv + s->ny, E) ? SRI_DONE : SRI_NOT_FINITE;
}

// ---- differences ------------------------------------------------------------------------------------------------------

// Half of the digits: of a number of this magnitude, or of 1 where it is small.
static double increment(double size) { return sqrt(DBL_EPSILON) * fmax(1, fabs(size)); }

// Columns of one group from e1 - e0 into K.
static void take_columns(srTangentWork* work, int group, int ncol, double* K) {
  const srmPattern* p = &work->pattern;
  for (int j = 0; j < ncol; ++j) {
    if (work->group[j] != group) continue;
    for (int k = p->row[j]; k < p->row[j + 1]; ++k) {
      const int i = p->column[k];
      K[work->transposed[k]] = (work->e1[i] - work->e0[i]) / work->dxi[j];
    }
  }
}

// Increment of a group: each of its columns below ncol moves, the others do not.
static void choose_increments(srTangentWork* work, int group, int ncol, const double* size) {
  for (int j = 0; j < work->pattern.ncol; ++j) {
    work->dxi[j] = j < ncol && work->group[j] == group ? increment(size != NULL ? size[j] : 1) : 0;
  }
}

static int difference(srIntegrator* integrator, srTangentWork* work, double t, const double* x, const double* a,
                      const double* lambda) {
  const srSystem* s = &integrator->system;
  const int n = s->nv + s->ny;
  const double* v = x + s->nq;
  memset(work->Kq, 0, work->count * sizeof *work->Kq);
  int outcome = residual(integrator, work, t, x, a, lambda, true, work->e0);
  // Velocities first: G stays that of x.
  for (int group = 0; group < work->ngroup && outcome == SRI_DONE; ++group) {
    choose_increments(work, group, n, v);
    memcpy(work->x, x, (size_t)(s->nq + n) * sizeof *x);
    for (int j = 0; j < n; ++j) work->x[s->nq + j] += work->dxi[j];
    for (int j = 0; j < n; ++j) work->dxi[j] = work->x[s->nq + j] - v[j];
    outcome = residual(integrator, work, t, work->x, a, lambda, false, work->e1);
    if (outcome == SRI_DONE) take_columns(work, group, n, work->Kv);
  }
  memcpy(work->x, x, (size_t)(s->nq + n) * sizeof *x);
  for (int group = 0; group < work->ngroup && outcome == SRI_DONE; ++group) {
    choose_increments(work, group, s->nv, NULL);
    outcome = sri_retract(s, x, work->dxi, work->x);
    if (outcome == SRI_DONE) outcome = residual(integrator, work, t, work->x, a, lambda, true, work->e1);
    if (outcome == SRI_DONE) take_columns(work, group, s->nv, work->Kq);
  }
  return outcome;
}

int sri_tangent(srIntegrator* integrator, srTangentWork* work, double t, const double* x, const double* a,
                const double* lambda) {
  const srSystem* s = &integrator->system;
  ++integrator->stats.tangents;
  if (work->solver != NULL) {
    return sri_outcome(
        s->solver->tangent(s->user, t, x, x + s->nq, x + s->nq + s->nv, SR_TAU_ELEMENT, a, work->diagonal));
  }
  if (s->tangent == NULL || integrator->options.tangent == SR_TANGENT_DIFFERENCE) {
    return difference(integrator, work, t, x, a, lambda);
  }
  srTangent out = {.Kq = work->Kq, .Kv = work->Kv};
  return sri_outcome(s->tangent(s->user, t, x, x + s->nq, x + s->nq + s->nv, SR_TAU_ELEMENT, a, lambda, &out));
}

void sri_tangent_combine(const srTangentWork* work, const srSystem* s, const double* M, double cM, double cI, double cq,
                         double cv, double* out) {
  const srmPattern* p = &work->pattern;
  for (size_t k = 0; k < work->count; ++k) out[k] = cq * work->Kq[k] + cv * work->Kv[k];
  for (size_t k = 0; k < work->nmass; ++k) {
    if (work->mass[k] >= 0) out[work->mass[k]] += cM * M[k];
  }
  for (int i = s->nv; i < p->nrow; ++i) out[place_of(p, i, i)] += cI;
}

// ---- convergence ------------------------------------------------------------------------------------------------------

#define FALLS 0.5  // to this part, from one iteration to the next

SRM_CLONES void sri_stiffness_times(const srTangentWork* work, const srSystem* system, const double* dxi,
                                    const double* dx, double* out) {
  const srmPattern* p = &work->pattern;
  if (work->solver != NULL) {
    work->solver->times(system->user, dxi, dx, out);
    return;
  }
  for (int i = 0; i < p->nrow; ++i) {
    const int first = p->row[i];
    int n = p->row[i + 1] - first;
    out[i] = dx != NULL ? srm_entries_times(n, p->column + first, work->Kv + first, dx) : 0;
    while (n > 0 && p->column[first + n - 1] >= system->nv) --n;  // states have no displacement
    out[i] += srm_entries_times(n, p->column + first, work->Kq + first, dxi);
  }
}

void sri_subtract_stiffness(const srTangentWork* work, const srSystem* system, const double* dxi, double* out) {
  sri_stiffness_times(work, system, dxi, NULL, work->e1);
  for (int i = 0; i < system->nv + system->ny; ++i) out[i] -= work->e1[i];
}

int sri_stiffness_falls(int n, double negligible, const double* now, double* before, int falls) {
  bool fell = true, small = true;
  for (int i = 0; i < n; ++i) {
    if (!(now[i] <= negligible)) {
      small = false;
      if (!(now[i] <= FALLS * before[i])) fell = false;
    }
    before[i] = now[i];
  }
  return small ? SRI_FALLS_ENOUGH : fell ? falls + 1 : 0;
}

double sri_mass_of(const srTangentWork* work, const srSystem* system, const double* M, int i) {
  if (work->solver != NULL) return work->diagonal[i];
  const srSparsity* m = system->M_sparsity;
  if (m == NULL) return M[(size_t)i * (size_t)system->nv + (size_t)i];
  for (int p = m->row[i]; p < m->row[i + 1]; ++p) {
    if (m->column[p] == i) return M[p];
  }
  return 0;
}
