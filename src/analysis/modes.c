// Eigenvalues and modes of linear equations x' = A x.                          docs/theory/modes.md
//
//   D^-1 A D (balanced)  ->  Q^T (.) Q = [A1 0; X N]: zeros by rank (math/deflate.c)  ->  Schur form and eigenvectors z of A1
//   eigenvector of A:  D Q (z; (lambda - N)^-1 X z).    Of 0: those of N with level 1; a vector of level k belongs to A^(k-1) times it.
// Equal eigenvalues: nearer than the error that rounding of A causes, eps |A| times the condition 1/|y^H z| of each.
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/modes.h"
#include "math/deflate.h"
#include "math/eigen.h"

#define ZERO 64.0          // rounding errors in a row of A, for each state, up to which it is 0
#define EQUAL 10.0         // the same in eigenvalues that are equal
#define SAME_MODULUS 1e-9  // relative: sorted by re and im
#define SAME_VECTOR 1e-4   // distance of unit eigenvectors from the others that are the same
#define NOISE 1e-13        // of the largest modulus: 0
#define TIE 1e-9           // modulus that is as large as the largest

typedef struct Solution {
  int n, r;
  double *A, *D, *Q, *T, *U, *re, *im, *condition;
  int* level;
  double complex *x, *y, *work;  // r x r of the core
  double complex* vector;        // n x n: column k of mode k, balanced coordinates
  int* group;                    // n: modes with equal eigenvalues
} Solution;

static void* take(srModesMemory* x, size_t n, size_t size) { return sr_pool_alloc(&x->pool, (n + 1) * size); }
static double* reals(srModesMemory* x, size_t n) { return take(x, n, sizeof(double)); }

static Solution solution(srModesMemory* x, const srLinear* l) {
  const size_t n = (size_t)l->nx, nn = n * n;
  Solution s = {
      .n = l->nx, .A = reals(x, nn), .D = reals(x, n), .Q = reals(x, nn), .T = reals(x, nn), .U = reals(x, nn)};
  s.re = reals(x, n);
  s.im = reals(x, n);
  s.condition = reals(x, n);
  s.level = take(x, n, sizeof *s.level);
  s.group = take(x, n, sizeof *s.group);
  s.x = take(x, nn, sizeof *s.x);
  s.y = take(x, nn, sizeof *s.y);
  s.work = take(x, n, sizeof *s.work);
  s.vector = take(x, nn, sizeof *s.vector);
  if (nn > 0) memcpy(s.A, l->A, nn * sizeof *s.A);
  return s;
}

// ---- eigenvalues ----------------------------------------------------------------------------------------------------------

static double norm(int n, const double* A) {
  double sum = 0;
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) sum += A[i] * A[i];
  return sqrt(sum);
}

static bool solve(srModesMemory* x, Solution* s) {
  const size_t n = (size_t)s->n;
  for (size_t i = 0; i < n * n; i++) {
    if (!isfinite(s->A[i])) return false;
  }
  srm_balance(s->n, s->A, s->D);
  x->norm = norm(s->n, s->A);
  s->r = srm_deflate_zeros(s->n, s->A, s->Q, s->level, ZERO * (double)n * DBL_EPSILON, reals(x, n * n + 3 * n));
  for (int i = 0; i < s->r; i++) memcpy(s->T + i * s->r, s->A + (size_t)i * n, (size_t)s->r * sizeof *s->T);
  if (!srm_schur(s->r, s->T, s->U, s->re, s->im)) return false;
  srm_schur_vectors(s->r, s->T, s->re, s->im, s->x, s->y, s->work);
  for (int k = 0; k < s->r; k++) {
    double complex product = 0;
    for (int i = 0; i < s->r; i++) product += conj(s->y[i * s->r + k]) * s->x[i * s->r + k];
    s->condition[k] = 1 / fmax(cabs(product), DBL_MIN);
  }
  for (int k = s->r; k < s->n; k++) s->condition[k] = (double)NAN;
  return true;
}

// ---- eigenvectors -----------------------------------------------------------------------------------------------------------

// A z in the coordinates of the deflation.
static void multiply(const Solution* s, const double complex* z, double complex* out) {
  for (int i = 0; i < s->n; i++) {
    out[i] = 0;
    for (int j = 0; j < s->n; j++) out[i] += s->A[(size_t)i * (size_t)s->n + (size_t)j] * z[j];
  }
}

// Of eigenvalue k of the core.
static void core_vector(const Solution* s, int k, double complex* z) {
  const double complex lambda = s->re[k] + s->im[k] * (double complex)I;
  for (int i = 0; i < s->r; i++) {
    z[i] = 0;
    for (int j = 0; j < s->r; j++) z[i] += s->U[i * s->r + j] * s->x[j * s->r + k];
  }
  for (int i = s->r; i < s->n; i++) {
    z[i] = 0;
    for (int j = 0; j < i; j++) z[i] += s->A[(size_t)i * (size_t)s->n + (size_t)j] * z[j];
    z[i] /= lambda;
  }
}

static void zero_vector(const Solution* s, int k, double complex* z, double complex* work) {
  for (int i = 0; i < s->n; i++) z[i] = i == k;
  for (int level = s->level[k]; level > 1; level--) {
    multiply(s, z, work);
    memcpy(z, work, (size_t)s->n * sizeof *z);
  }
}

// Column k of `vector`: unit length.
static void put_vector(Solution* s, int k, const double complex* z) {
  const size_t n = (size_t)s->n;
  double square = 0;
  for (size_t i = 0; i < n; i++) {
    double complex sum = 0;
    for (size_t j = 0; j < n; j++) sum += s->Q[i * n + j] * z[j];
    s->vector[i * n + (size_t)k] = sum;
    square += creal(sum) * creal(sum) + cimag(sum) * cimag(sum);
  }
  for (size_t i = 0; i < n; i++) s->vector[i * n + (size_t)k] /= sqrt(square);
}

static void vectors(srModesMemory* x, Solution* s) {
  double complex *z = take(x, (size_t)s->n, sizeof *z), *work = take(x, (size_t)s->n, sizeof *work);
  for (int k = 0; k < s->n; k++) {
    if (k < s->r)
      core_vector(s, k, z);
    else
      zero_vector(s, k, z, work);
    put_vector(s, k, z);
  }
}

// ---- equal eigenvalues --------------------------------------------------------------------------------------------------------

// Error of an eigenvalue by rounding of A.
static double error_of(const srModesMemory* x, int n, double condition) {
  return EQUAL * n * DBL_EPSILON * x->norm * condition;
}

static bool are_equal(const srModesMemory* x, const Solution* s, int i, int j) {
  if (i >= s->r || j >= s->r) return i >= s->r && j >= s->r;
  const double distance = hypot(s->re[i] - s->re[j], s->im[i] - s->im[j]);
  return distance <= error_of(x, s->n, s->condition[i]) + error_of(x, s->n, s->condition[j]);
}

static void find_groups(const srModesMemory* x, Solution* s) {
  for (int i = 0; i < s->n; i++) s->group[i] = i;
  for (int i = 0; i < s->n; i++) {
    for (int j = i + 1; j < s->n; j++) {
      if (s->group[i] == s->group[j] || !are_equal(x, s, i, j)) continue;
      const int old = s->group[j], new = s->group[i];
      for (int k = 0; k < s->n; k++) s->group[k] = s->group[k] == old ? new : s->group[k];
    }
  }
}

// Independent ones among the eigenvectors of a group: Gram-Schmidt. basis: n x n scratch.
static int count_vectors(const Solution* s, int group, double complex* basis) {
  const int n = s->n;
  int count = 0;
  for (int k = 0; k < n; k++) {
    if (s->group[k] != group) continue;
    double complex* b = basis + (size_t)count * (size_t)n;
    for (int i = 0; i < n; i++) b[i] = s->vector[(size_t)i * (size_t)n + (size_t)k];
    double square = 0;
    for (int twice = 0; twice < 2; twice++) {
      for (int j = 0; j < count; j++) {
        const double complex* c = basis + (size_t)j * (size_t)n;
        double complex part = 0;
        for (int i = 0; i < n; i++) part += conj(c[i]) * b[i];
        for (int i = 0; i < n; i++) b[i] -= part * c[i];
      }
    }
    for (int i = 0; i < n; i++) square += creal(b[i]) * creal(b[i]) + cimag(b[i]) * cimag(b[i]);
    if (!(sqrt(square) > SAME_VECTOR)) continue;
    for (int i = 0; i < n; i++) b[i] /= sqrt(square);
    count++;
  }
  return count;
}

// ---- shapes -------------------------------------------------------------------------------------------------------------------

static srModeEntry entry(double complex z) {
  const double modulus = cabs(z);
  if (!(modulus > NOISE)) return (srModeEntry){0, 0};
  if (fabs(cimag(z)) <= NOISE * modulus) return (srModeEntry){modulus, creal(z) < 0 ? acos(-1.0) : 0};
  return (srModeEntry){modulus, carg(z)};
}

// The entry that is to have modulus 1 and phase 0: the first of the largest ones; 0: all are 0.
static double complex reference(const double complex* z, int n) {
  double complex best = 0;
  for (int i = 0; i < n; i++) {
    if (cabs(z[i]) > cabs(best) * (1 + TIE)) best = z[i];
  }
  return best;
}

void sr_mode_shape(srPool* pool, int njv, int nstate, double complex* z, double size, srMode* mode) {
  double complex unit = reference(z, njv);
  if (!(cabs(unit) > NOISE * size)) {  // no joint moves
    for (int i = 0; i < njv; i++) z[i] = 0;
    unit = reference(z + njv, nstate);
  }
  if (!(cabs(unit) > 0)) unit = 1;
  mode->shape = sr_pool_alloc(pool, ((size_t)njv + 1) * sizeof *mode->shape);
  mode->state = sr_pool_alloc(pool, ((size_t)nstate + 1) * sizeof *mode->state);
  for (int i = 0; i < njv; i++) mode->shape[i] = entry(z[i] / unit);
  for (int i = 0; i < nstate; i++) mode->state[i] = entry(z[njv + i] / unit);
}

static void put_shape(srModesMemory* x, const srLinear* l, const Solution* s, int k, srMode* mode) {
  const int nj = l->m->njv, n = l->nx, first = l->npos + l->nvel;
  double complex* z = take(x, (size_t)(nj + n), sizeof *z);
  double size = 0;
  for (int j = 0; j < n; j++) {
    const double complex v = s->D[j] * s->vector[(size_t)j * (size_t)n + (size_t)k];
    size = fmax(size, cabs(v));
    for (int i = 0; i < nj; i++) z[i] += l->shape[(size_t)i * (size_t)n + (size_t)j] * v;
    if (j >= first) z[nj + j - first] = v;
  }
  sr_mode_shape(&x->pool, nj, l->nstate, z, size, mode);
}

// ---- list ---------------------------------------------------------------------------------------------------------------------

static int by_modulus(const void* a, const void* b) {
  const srMode *x = a, *y = b;
  const double p = hypot(x->re, x->im), q = hypot(y->re, y->im);
  return (p > q) - (p < q);
}

static int by_parts(const void* a, const void* b) {
  const srMode *x = a, *y = b;
  if (x->re != y->re) return x->re > y->re ? 1 : -1;
  return (x->im > y->im) - (x->im < y->im);
}

// Moduli that differ by rounding are equal.
void sr_modes_sort(srModes* m) {
  qsort(m->mode, (size_t)m->n, sizeof *m->mode, by_modulus);
  for (int i = 0, j; i < m->n; i = j) {
    const double most = hypot(m->mode[i].re, m->mode[i].im) * (1 + SAME_MODULUS);
    for (j = i + 1; j < m->n && hypot(m->mode[j].re, m->mode[j].im) <= most; j++) {}
    qsort(m->mode + i, (size_t)(j - i), sizeof *m->mode, by_parts);
  }
}

void sr_mode_numbers(srMode* mode) {
  const double size = hypot(mode->re, mode->im);
  mode->frequency = fabs(mode->im) / (2 * acos(-1.0));
  mode->damping = size > 0 ? -mode->re / size : (double)NAN;
}

static srMode mode_of(srModesMemory* x, const srLinear* l, const Solution* s, int k, double complex* basis) {
  srMode mode = {.condition = s->condition[k], .vectors = count_vectors(s, s->group[k], basis)};
  for (int i = 0; i < s->n; i++) mode.multiplicity += s->group[i] == s->group[k];
  if (k < s->r) {
    mode.re = s->re[k];
    mode.im = s->im[k];
  }
  sr_mode_numbers(&mode);
  if (mode.vectors < mode.multiplicity) mode.condition = (double)INFINITY;
  put_shape(x, l, s, k, &mode);
  return mode;
}

static srStatus find(srModesMemory* x, const srLinear* l) {
  if (setjmp(x->out_of_memory) != 0) return SR_MEMORY;
  x->pool.on_fail = &x->out_of_memory;
  Solution s = solution(x, l);
  if (!solve(x, &s)) return SR_FAILED;
  vectors(x, &s);
  find_groups(x, &s);
  double complex* basis = take(x, (size_t)s.n * (size_t)s.n, sizeof *basis);
  x->shown.n = s.n;
  x->shown.zeros = s.n - s.r;
  x->shown.mode = take(x, (size_t)s.n, sizeof *x->shown.mode);
  for (int k = 0; k < s.n; k++) {
    x->shown.mode[k] = mode_of(x, l, &s, k, basis);
    x->shown.rigid += s.level[k] == 1;
  }
  sr_modes_sort(&x->shown);
  return SR_OK;
}

srStatus sr_modes_create(const srLinear* linear, srMessages* messages, srModes** out) {
  *out = NULL;
  srModesMemory* x = sr_alloc(sizeof *x);
  srStatus status = SR_MEMORY;
  if (x) {
    sr_pool_init(&x->pool);
    x->loose = linear->loose;
    status = find(x, linear);
    x->pool.on_fail = NULL;
  }
  if (status == SR_MEMORY) sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory");
  if (status == SR_FAILED)
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "no eigenvalues: the matrix has entries that are not finite, or the iteration did not converge");
  if (status == SR_OK)
    *out = &x->shown;
  else if (x)
    sr_modes_destroy(&x->shown);
  return status;
}

void sr_modes_keep(srModes* modes, int count) {
  if (count >= modes->n) return;
  modes->n = modes->mode[count - 1].im < 0 ? count + 1 : count;
}

void sr_modes_destroy(srModes* modes) {
  if (!modes) return;
  srModesMemory* x = (srModesMemory*)(void*)modes;
  sr_pool_free(&x->pool);
  sr_free(x);
}

// ---- stability ------------------------------------------------------------------------------------------------------------------

// Of an eigenvalue that is defective: rounding splits it along the root of its multiplicity.
static double block_error(const srModesMemory* x, const srMode* m) {
  return x->norm * pow(EQUAL * x->shown.n * DBL_EPSILON, 1.0 / m->multiplicity);
}

srStability sr_modes_stability(const srModes* modes) {
  const srModesMemory* x = (const srModesMemory*)(const void*)modes;
  bool stable = modes->zeros == 0 && !x->loose;
  for (int k = 0; k < modes->n; k++) {
    const srMode* m = &modes->mode[k];
    const double error = m->vectors < m->multiplicity ? block_error(x, m) : error_of(x, modes->n, m->condition);
    if (m->re == 0 && m->im == 0) continue;
    if (m->re > error) return SR_UNSTABLE;
    stable = stable && m->re < -error;
  }
  return stable ? SR_STABLE : SR_MARGINAL;
}

const char* sr_stability_word(srStability stability) {
  return stability == SR_STABLE ? "stable" : stability == SR_UNSTABLE ? "unstable" : "marginal";
}
