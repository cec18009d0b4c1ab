// Eigenvalues of the motion, linearized at a state, and the steps that an explicit method then needs.
//
//   xi' = dv + [v, xi]      dv' = A_q xi + A_v dv + A_y dy      dy' = R_q xi + R_v dv + R_y dy
//
// xi: displacement along the directions of `retract`, carried along by the motion; [v, xi] is 0 but for rotations, where two
// neighbours rotate at the same rate about different axes. All derivatives are central differences of `rates`,
// the index-1 form: constraint equations then add a pair of zeros each and change nothing else, because (g, g')' = (g', 0).
//
// Up to DENSE_STATES: the whole matrix and all its eigenvalues (QR iteration, math/eigen.c). Beyond: Arnoldi's process with
// products by differences, KRYLOV of them, from a fixed start; its largest Ritz values. Saad, Numerical methods for large
// eigenvalue problems (2011), section 6.2.
#include <math.h>
#include <sarrus/recommend.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "math/eigen.h"

#define DENSE_STATES 120
#define KRYLOV 60
#define STEP 1e-7           // of a difference, relative to max(1, |x|)
#define STEP_STATE 1e-9     // of a state that is 0: its magnitude is unknown
#define STEP_TIME 1e-4      // rad or m of further motion, for [v, xi]
#define GROWING 0.1         // re over |im| from which a mode is growing
#define SMALLEST_BOUND 0.9  // of all directions: 0.99 on the imaginary axis

typedef struct Linear {
  const srSystem* system;
  double t;
  const double *q, *v, *y;
  int n;                      // 2 nv + ny
  double *q1, *q2, *q3, *q4;  // nq
  double *x1, *x2;            // nv + ny: velocities and states moved
  double *r1, *r2;            // rates: v', y'
  double* qdot;               // nq
  srIntegrator* integrator;   // its rates are those of the motion under the constraints
  double *state, *rate;       // packed as it takes them
  double* xi;                 // nv
  double* block;
} Linear;

static bool prepare(Linear* l) {
  const srSystem* s = l->system;
  const size_t nq = (size_t)s->nq, nv = (size_t)s->nv, nvy = nv + (size_t)s->ny;
  const srPart parts[] = {{&l->q1, nq},
                          {&l->q2, nq},
                          {&l->q3, nq},
                          {&l->q4, nq},
                          {&l->qdot, nq},
                          {&l->x1, nvy},
                          {&l->x2, nvy},
                          {&l->r1, nvy},
                          {&l->r2, nvy},
                          {&l->state, nq + nvy},
                          {&l->rate, nq + nvy + (size_t)s->nw},
                          {&l->xi, nv}};
  l->n = 2 * s->nv + s->ny;
  return sr_take_parts(parts, SR_COUNT(parts), 0, &l->block, NULL);
}

// ---- products ---------------------------------------------------------------------------------------------------------

static int rates_at(Linear* l, const double* q, const double* x, double* r) {
  const srSystem* s = l->system;
  const size_t nvy = (size_t)(s->nv + s->ny);
  memcpy(l->state, q, (size_t)s->nq * sizeof *q);
  memcpy(l->state + s->nq, x, nvy * sizeof *x);
  const int answer = sri_rates(l->integrator, l->t, l->state, SR_TAU_ELEMENT, l->rate);
  memcpy(r, l->rate + s->nq, nvy * sizeof *r);
  return answer;
}

// out = +-[v, xi] for a small xi: change of the distance of two neighbours while both move with v for the time s.
static int carry(Linear* l, const double* q_moved, double s, double* out) {
  const srSystem* y = l->system;
  for (int i = 0; i < y->nv; ++i) l->xi[i] = s * l->v[i];
  int answer = y->retract(y->user, l->q, l->xi, l->q3);
  if (answer == 0) answer = y->retract(y->user, q_moved, l->xi, l->q4);
  if (answer == 0) answer = y->difference(y->user, l->q3, l->q4, out);
  return answer;
}

// out (nv) = ([v, dx] for the step h of the difference) * h, where there are rotations about three axes.
static int bracket(Linear* l, const double* q_moved, double h, double* out) {
  const srSystem* s = l->system;
  memset(out, 0, (size_t)s->nv * sizeof *out);
  if (s->nq == s->nv) return 0;
  double most = 1.0;
  for (int i = 0; i < s->nv; ++i) most = fmax(most, fabs(l->v[i]));
  const double time = STEP_TIME / most;
  int answer = carry(l, q_moved, time, out);
  double* before = l->qdot;  // nq > nv numbers
  if (answer == 0) answer = carry(l, q_moved, -time, before);
  for (int i = 0; i < s->nv; ++i) out[i] = (out[i] - before[i]) / (2.0 * time * h);
  return answer;
}

// The state moved by h along dx (n), from base.
static int move(Linear* l, const double* dx, double h, double* q, double* x) {
  const srSystem* s = l->system;
  for (int i = 0; i < s->nv; ++i) l->xi[i] = h * dx[i];
  for (int i = 0; i < s->nv; ++i) x[i] = l->v[i] + h * dx[s->nv + i];
  for (int i = 0; i < s->ny; ++i) x[s->nv + i] = l->y[i] + h * dx[2 * s->nv + i];
  return s->retract(s->user, l->q, l->xi, q);
}

// out = J dx by a central difference of step h. out and dx: n numbers.
static int multiply(Linear* l, const double* dx, double h, double* out) {
  const srSystem* s = l->system;
  int answer = move(l, dx, h, l->q1, l->x1);
  if (answer == 0) answer = move(l, dx, -h, l->q2, l->x2);
  if (answer == 0) answer = rates_at(l, l->q1, l->x1, l->r1);
  if (answer == 0) answer = rates_at(l, l->q2, l->x2, l->r2);
  if (answer == 0) answer = bracket(l, l->q1, h, out);
  if (answer != 0) return answer;
  for (int i = 0; i < s->nv; ++i) out[i] += dx[s->nv + i];
  for (int i = 0; i < s->nv + s->ny; ++i) out[s->nv + i] = (l->r1[i] - l->r2[i]) / (2.0 * h);
  for (int i = 0; i < l->n; ++i) {
    if (!isfinite(out[i])) return 1;
  }
  return 0;
}

static double step_of(const Linear* l, int i) {
  const int nv = l->system->nv;
  if (i < nv) return STEP;
  if (i < 2 * nv) return STEP * fmax(1.0, fabs(l->v[i - nv]));
  return STEP * fabs(l->y[i - 2 * nv]) + STEP_STATE;
}

// ---- all eigenvalues, or the largest ------------------------------------------------------------------------------------

// J (n x n, row-major), column by column.
static int fill_matrix(Linear* l, double* J, double* dx, double* column) {
  const size_t n = (size_t)l->n;
  for (size_t k = 0; k < n; ++k) {
    memset(dx, 0, n * sizeof *dx);
    dx[k] = 1.0;
    const int answer = multiply(l, dx, step_of(l, (int)k), column);
    if (answer != 0) return answer;
    for (size_t i = 0; i < n; ++i) J[i * n + k] = column[i];
  }
  return 0;
}

static double scalar(int n, const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// A start vector that no mode is orthogonal to: numbers of a linear congruence.
static void first_vector(int n, double* x) {
  unsigned state = 12345u;
  for (int i = 0; i < n; ++i) {
    state = 1664525u * state + 1013904223u;
    x[i] = (double)(state >> 8) / 16777216.0 - 0.5;
  }
  const double length = sqrt(scalar(n, x, x));
  for (int i = 0; i < n; ++i) x[i] /= length;
}

// Removes the components along the first k+1 basis vectors from w, twice for rounding; adds them to column k of H.
static void orthogonalize(int n, const double* basis, int k, double* w, double* H, int size) {
  for (int twice = 0; twice < 2; ++twice) {
    for (int j = 0; j <= k; ++j) {
      const double* b = basis + (size_t)j * (size_t)n;
      const double part = scalar(n, w, b);
      H[j * size + k] += part;
      for (int i = 0; i < n; ++i) w[i] -= part * b[i];
    }
  }
}

// H (size x size) of Arnoldi's process; *size becomes smaller where the space closes early.
static int fill_krylov(Linear* l, double* H, double* basis, int* size) {
  const int n = l->n, most = *size;
  double before = 0.0;
  first_vector(n, basis);
  for (int k = 0; k < most; ++k) {
    double* w = basis + (size_t)(k + 1) * (size_t)n;
    const int answer = multiply(l, basis + (size_t)k * (size_t)n, STEP, w);
    if (answer != 0) return answer;
    const double length0 = sqrt(scalar(n, w, w));
    orthogonalize(n, basis, k, w, H, most);
    const double length = sqrt(scalar(n, w, w));
    before = fmax(before, length0);
    if (length <= 1e-10 * before) {  // differences have no digits left
      *size = k + 1;
      break;
    }
    if (k + 1 < most) H[(k + 1) * most + k] = length;
    for (int i = 0; i < n; ++i) w[i] /= length;
  }
  for (int i = 0; i < *size; ++i) memmove(H + i * *size, H + i * most, (size_t)*size * sizeof *H);
  return 0;
}

static int by_modulus(const void* a, const void* b) {
  const srEigenvalue *x = a, *y = b;
  const double p = hypot(x->re, x->im), q = hypot(y->re, y->im);
  if (p != q) return p < q ? 1 : -1;
  return x->im < y->im ? 1 : x->im > y->im ? -1 : 0;
}

static srStatus find_all(Linear* l, srEigenvalue** out, int* count) {
  const bool dense = l->n <= DENSE_STATES;
  const int n = l->n;
  int size = dense ? n : KRYLOV;
  const size_t matrix = (size_t)size * (size_t)size, vectors = (size_t)n * (size_t)(dense ? 2 : KRYLOV + 1);
  double* work = sr_alloc((matrix + vectors + 2 * (size_t)size + 1) * sizeof *work);
  srEigenvalue* list = sr_alloc((size_t)(size + 1) * sizeof *list);
  srStatus status = work != NULL && list != NULL ? SR_OK : SR_MEMORY;
  if (status == SR_OK) {
    double *x = work + matrix, *re = x + vectors, *im = re + size;
    const int answer = dense ? fill_matrix(l, work, x, x + n) : fill_krylov(l, work, x, &size);
    if (answer != 0 || !srm_eigenvalues(size, work, re, im)) status = SR_FAILED;
    for (int i = 0; status == SR_OK && i < size; ++i) list[i] = (srEigenvalue){re[i], im[i]};
  }
  sr_free(work);
  if (status != SR_OK) {
    sr_free(list);
    return status;
  }
  qsort(list, (size_t)size, sizeof *list, by_modulus);
  *out = list;
  *count = size;
  return SR_OK;
}

// A list of eigenvalues at d's state, to be freed.
static srStatus linearize(const srModel* m, const srData* d, srEigenvalue** out, int* count) {
  srData* copy = sr_data_create(m);
  if (copy == NULL) return SR_MEMORY;
  sr_data_copy(m, d, copy);
  copy->rigid = d->rigid;
  copy->stop = d->stop;
  copy->stop_user = d->stop_user;
  srModelSystem user = {.m = m, .d = copy};
  const srSystem system = sr_system(&user);
  Linear l = {.system = &system, .t = d->t, .q = d->q, .v = d->v, .y = d->y};
  srStatus status = prepare(&l) ? SR_OK : SR_MEMORY;
  if (status == SR_OK) status = sri_create("dopri5", &system, NULL, NULL, &l.integrator);
  if (status == SR_OK) status = sri_start(l.integrator, d->t, d->q, d->v, d->y);
  // The first evaluation chooses the equations in use, on the constraints; they are kept around it.
  if (status == SR_OK) {
    memcpy(l.x1, d->v, (size_t)m->nv * sizeof(double));
    if (m->ny > 0) memcpy(l.x1 + m->nv, d->y, (size_t)m->ny * sizeof(double));
    if (rates_at(&l, d->q, l.x1, l.r1) != 0) status = SR_FAILED;
  }
  if (status == SR_OK) status = find_all(&l, out, count);
  sri_destroy(l.integrator);
  sr_free(l.block);
  sr_data_destroy(copy);
  return status;
}

srStatus sr_eigenvalues(const srModel* m, const srData* d, int room, srEigenvalue* out, int* count) {
  srEigenvalue* list = NULL;
  *count = 0;
  int n = 0;
  const srStatus status = linearize(m, d, &list, &n);
  if (status != SR_OK) return status;
  *count = n < room ? n : room;
  if (*count > 0) memcpy(out, list, (size_t)*count * sizeof *out);
  sr_free(list);
  return SR_OK;
}

// ---- stability --------------------------------------------------------------------------------------------------------

// |R(z)| of dopri5: R = 1 + z + ... + z^5/5! + z^6/600 (Hairer and Wanner II, IV.2).
static double growth(double re, double im) {
  static const double c[7] = {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 600};
  double a = c[6], b = 0.0;
  for (int k = 5; k >= 0; --k) {
    const double t = a * re - b * im + c[k];
    b = a * im + b * re;
    a = t;
  }
  return hypot(a, b);
}

double sr_stability_bound(srEigenvalue lambda) {
  const double size = hypot(lambda.re, lambda.im);
  if (!(size > 0.0) || lambda.re > GROWING * fabs(lambda.im)) return (double)INFINITY;
  double re = fmin(lambda.re, 0.0) / size, im = lambda.im / size, r = 0.0;
  while (r < 10.0 && growth((r + 0.005) * re, (r + 0.005) * im) <= 1.0 + 1e-9) r += 0.005;
  return r;
}

srStatus sr_spectrum(const srModel* m, const srData* d, srSpectrum* out) {
  srEigenvalue* list = NULL;
  int n = 0;
  *out = (srSpectrum){.t = d->t};
  const srStatus status = linearize(m, d, &list, &n);
  if (status != SR_OK) return status;
  if (n > 0) out->largest = list[0];
  for (int i = 0; i < n; ++i) {
    const double size = hypot(list[i].re, list[i].im);
    if (size < SMALLEST_BOUND * out->rate) break;
    out->rate = fmax(out->rate, size / sr_stability_bound(list[i]));
  }
  sr_free(list);
  return SR_OK;
}
