// The smallest eigenvalues of a large tree by Arnoldi's process with (A - sigma)^-1, without matrices of the size of the model.      Saad (2011), Numerical Methods
// for Large Eigenvalue Problems, section 6.2, 8.1
//
// At rest xi' = dv, and (A - sigma) (xi, dv, dy) = (b1, b2, b3) is one system of the size nv + ny, with dv = sigma xi + b1 and dy = sigma eta:
//   (sigma^2 diag(M, 1) + sigma Kv + Kq) (xi, eta) = -(M b2 + sigma M b1; b3) - Kv (b1, 0)
// which srMotionSolver solves by recursion over the links. sigma = 0 where there are no states and Kq is regular.
// The process goes on, with all vectors kept orthogonal, until the wanted ones have converged: theta = 1/(lambda - sigma), residual |h_(m+1,m) z_m|.
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/modes.h"
#include "math/eigen.h"
#include "system/tangent.h"

#define SHIFT (-1.0)     // 1/s, where 0 is an eigenvalue
#define CONVERGED 1e-11  // residual relative to theta
#define MORE 20          // vectors between two checks
#define MOST 600         // vectors
#define ZERO                                                                                                           \
  1e-6  // relative to the largest that was found: rigid motions, whose zeros are defective, have an error like the root of eps
#define STEADY 1e-6  // as in linearize.c
#define LATER 0.7    // s
#define CONSTANT 1e-7

typedef struct Few {
  srModesMemory* out;
  const srModel* m;
  srData* d;
  srModelSystem user;
  srSystem s;
  int nv, ny, n;  // n = 2 nv + ny
  double sigma;
  double *Mb, *r, *b;  // nv, nv + ny, nv + ny
  double *V, *H;       // (MOST + 1) x n; MOST x MOST
  double last;         // h_(m+1,m)
} Few;

static double* reals(Few* x, size_t n) { return sr_pool_alloc(&x->out->pool, (n + 1) * sizeof(double)); }

static double dot(int n, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// ---- the operator -------------------------------------------------------------------------------------------------------

static bool factor(Few* x) {
  const srShift c = {.cM = {x->sigma * x->sigma}, .cI = {x->sigma * x->sigma}, .cq = {1}, .cv = {x->sigma}};
  return x->s.solver->factor(x->s.user, &c, false);
}

// out = (A - sigma)^-1 b; out and b: n.
static bool apply(Few* x, const double* b, double* out) {
  const int nv = x->nv, ny = x->ny;
  const srMotionSolver* solver = x->s.solver;
  memset(x->b, 0, (size_t)(nv + ny) * sizeof *x->b);
  memcpy(x->b, b, (size_t)nv * sizeof *x->b);
  solver->times(x->s.user, NULL, x->b, x->r);  // Kv (b1, 0)
  for (int i = 0; i < nv; i++) x->b[i] = b[nv + i] + x->sigma * b[i];
  if (solver->mass_times(x->s.user, x->d->q, x->b, x->Mb) != 0) return false;
  for (int i = 0; i < nv; i++) x->r[i] = -x->r[i] - x->Mb[i];
  for (int i = 0; i < ny; i++) x->r[nv + i] = -x->r[nv + i] - b[2 * nv + i];
  solver->solve(x->s.user, false, x->r);
  for (int i = 0; i < nv; i++) {
    out[i] = x->r[i];
    out[nv + i] = x->sigma * x->r[i] + b[i];
  }
  for (int i = 0; i < ny; i++) out[2 * nv + i] = x->sigma * x->r[nv + i];
  return isfinite(dot(x->n, out, out));
}

static void first_vector(int n, double* x) {
  unsigned state = 2463534242u;
  for (int i = 0; i < n; i++) {
    state = 1664525u * state + 1013904223u;
    x[i] = (double)(state >> 8) / 16777216.0 - 0.5;
  }
}

// ---- Arnoldi ------------------------------------------------------------------------------------------------------------

static void scale(int n, double* x, double by) {
  for (int i = 0; i < n; i++) x[i] *= by;
}

// Vector k + 1 and column k of H. 1: done, 0: the space is closed, -1: no solution.
static int extend(Few* x, int k) {
  double* w = x->V + (size_t)(k + 1) * (size_t)x->n;
  if (!apply(x, x->V + (size_t)k * (size_t)x->n, w)) return -1;
  const double before = sqrt(dot(x->n, w, w));
  for (int twice = 0; twice < 2; twice++) {
    for (int j = 0; j <= k; j++) {
      const double* v = x->V + (size_t)j * (size_t)x->n;
      const double part = dot(x->n, v, w);
      x->H[j * MOST + k] += part;
      for (int i = 0; i < x->n; i++) w[i] -= part * v[i];
    }
  }
  x->last = sqrt(dot(x->n, w, w));
  if (!(x->last > DBL_EPSILON * before)) {
    x->last = 0;
    return 0;
  }
  scale(x->n, w, 1 / x->last);
  if (k + 1 < MOST) x->H[(k + 1) * MOST + k] = x->last;
  return 1;
}

typedef struct Ritz {
  int m;
  double *T, *Q, *re, *im;
  double complex *x, *y, *work, *z;  // z: vector in the space (m)
  int* order;                        // largest theta first
} Ritz;

static Ritz ritz(Few* f) {
  srPool* pool = &f->out->pool;
  const size_t mm = (size_t)MOST * MOST;
  Ritz r = {.T = reals(f, mm), .Q = reals(f, mm), .re = reals(f, MOST), .im = reals(f, MOST)};
  r.x = sr_pool_alloc(pool, mm * sizeof *r.x);
  r.y = sr_pool_alloc(pool, mm * sizeof *r.y);
  r.work = sr_pool_alloc(pool, MOST * sizeof *r.work);
  r.z = sr_pool_alloc(pool, MOST * sizeof *r.z);
  r.order = sr_pool_alloc(pool, MOST * sizeof *r.order);
  return r;
}

static void sort_ritz(Ritz* r) {
  for (int i = 0; i < r->m; i++) {
    int k = i;
    for (; k > 0 && hypot(r->re[r->order[k - 1]], r->im[r->order[k - 1]]) < hypot(r->re[i], r->im[i]); k--)
      r->order[k] = r->order[k - 1];
    r->order[k] = i;
  }
}

static void space_vector(Ritz* r, int k) {
  for (int i = 0; i < r->m; i++) {
    r->z[i] = 0;
    for (int j = 0; j < r->m; j++) r->z[i] += r->Q[i * r->m + j] * r->x[j * r->m + k];
  }
}

// Have the `count` largest converged? -1: the iteration failed.
static int check(const Few* f, Ritz* r, int m, int count) {
  r->m = m;
  for (int i = 0; i < m; i++) memcpy(r->T + i * m, f->H + i * MOST, (size_t)m * sizeof *r->T);
  if (!srm_schur(m, r->T, r->Q, r->re, r->im)) return -1;
  srm_schur_vectors(m, r->T, r->re, r->im, r->x, r->y, r->work);
  sort_ritz(r);
  for (int i = 0; i < count && i < m; i++) {
    const int k = r->order[i];
    space_vector(r, k);
    if (f->last * cabs(r->z[m - 1]) > CONVERGED * hypot(r->re[k], r->im[k])) return 0;
  }
  return count <= m || f->last == 0;
}

static srStatus iterate(Few* f, Ritz* r, int count) {
  const int most = f->n < MOST ? f->n : MOST;
  first_vector(f->n, f->V);
  double* start = reals(f, (size_t)f->n);
  if (!apply(f, f->V, start)) return SR_FAILED;
  memcpy(f->V, start, (size_t)f->n * sizeof *start);
  scale(f->n, f->V, 1 / sqrt(dot(f->n, start, start)));
  for (int k = 0; k < most; k++) {
    const int more = extend(f, k);
    if (more < 0) return SR_FAILED;
    const bool end = more == 0 || k + 1 == most;
    if (!end && (k + 1 < 2 * count || (k + 1) % MORE != 0)) continue;
    const int converged = check(f, r, k + 1, count);
    if (converged < 0) return SR_FAILED;
    if (converged > 0 || more == 0 || (end && most == f->n)) return SR_OK;
  }
  return SR_FAILED;
}

// ---- result -------------------------------------------------------------------------------------------------------------

static void put_mode(Few* f, Ritz* r, int k, srMode* mode) {
  const double size = hypot(r->re[k], r->im[k]);
  const int nv = f->nv, ny = f->ny;
  double complex* z = sr_pool_alloc(&f->out->pool, ((size_t)(nv + ny) + 1) * sizeof *z);
  mode->re = f->sigma + r->re[k] / size / size;
  mode->im = -r->im[k] / size / size;
  mode->multiplicity = mode->vectors = 1;
  mode->condition = (double)NAN;
  space_vector(r, k);
  for (int j = 0; j < r->m; j++) {
    const double* v = f->V + (size_t)j * (size_t)f->n;
    for (int i = 0; i < nv; i++) z[i] += v[i] * r->z[j];
    for (int i = 0; i < ny; i++) z[nv + i] += v[2 * nv + i] * r->z[j];
  }
  sr_mode_shape(&f->out->pool, nv, ny, z, 1, mode);
}

static void put_modes(Few* f, Ritz* r, int count) {
  srModes* m = &f->out->shown;
  double most = 0;
  m->n = count < r->m ? count : r->m;
  if (m->n < r->m && r->im[r->order[m->n - 1]] != 0 && r->im[r->order[m->n - 1]] == -r->im[r->order[m->n]])
    m->n += 1;  // both of a pair
  m->mode = sr_pool_alloc(&f->out->pool, ((size_t)m->n + 1) * sizeof *m->mode);
  for (int i = 0; i < m->n; i++) {
    put_mode(f, r, r->order[i], &m->mode[i]);
    most = fmax(most, hypot(m->mode[i].re, m->mode[i].im));
  }
  for (int i = 0; i < m->n; i++) {
    srMode* mode = &m->mode[i];
    if (hypot(mode->re, mode->im) <= ZERO * most) {
      mode->re = mode->im = 0;
      m->zeros++;
    }
    sr_mode_numbers(mode);
  }
  f->out->norm = most;
  sr_modes_sort(m);
}

// ---- equilibrium ----------------------------------------------------------------------------------------------------------

static double most_of(int n, const double* x) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

static int tangent(Few* f, double t) {
  double *zero = reals(f, (size_t)f->nv), *diagonal = reals(f, (size_t)f->nv);
  return f->s.solver->tangent(f->s.user, t, f->d->q, f->d->v, f->d->y, SR_TAU_ELEMENT, zero, diagonal);
}

// Do the products with one vector change with the time alone?
static bool is_constant(Few* f) {
  const int n = f->nv + f->ny;
  double *x = reals(f, (size_t)n), *a = reals(f, (size_t)n), *b = reals(f, (size_t)n);
  const double t = f->d->t;
  first_vector(n, x);
  if (tangent(f, t + LATER) != 0) return false;
  f->s.solver->times(f->s.user, x, x, b);
  if (tangent(f, t) != 0) return false;
  f->s.solver->times(f->s.user, x, x, a);
  for (int i = 0; i < n; i++) b[i] -= a[i];
  return most_of(n, b) <= CONSTANT * most_of(n, a);
}

static bool is_equilibrium(Few* f, srMessages* messages) {
  const srModel* m = f->m;
  const double bound = STEADY * fmax(1, sqrt(dot(3, m->gravity, m->gravity)));
  if (sr_evaluate(m, f->d, f->d->t, NULL, NULL, NULL, SR_STAGE_ACCELERATION) != 0) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "no accelerations at this state: %s",
                    f->d->error_message);
    return false;
  }
  int worst = 0;
  for (int i = 1; i < m->nv; i++) worst = fabs(f->d->a[i]) > fabs(f->d->a[worst]) ? i : worst;
  if (fabs(f->d->a[worst]) <= bound) return true;
  sr_messages_add(
      messages, SR_SEVERITY_ERROR, (srPlace){0},
      "the state is no equilibrium: the acceleration of '%s' is %.3g %s/s, where at most %.1g is taken as 0",
      m->v_name[worst], f->d->a[worst], m->v_unit[worst], bound);
  return false;
}

static srStatus find(Few* f, int count, srMessages* messages) {
  if (setjmp(f->out->out_of_memory) != 0) return SR_MEMORY;
  f->out->pool.on_fail = &f->out->out_of_memory;
  f->Mb = reals(f, (size_t)f->nv);
  f->r = reals(f, (size_t)(f->nv + f->ny));
  f->b = reals(f, (size_t)(f->nv + f->ny));
  f->V = reals(f, (size_t)(MOST + 1) * (size_t)f->n);
  f->H = reals(f, (size_t)MOST * MOST);
  if (!is_equilibrium(f, messages)) return SR_INPUT;
  if (!is_constant(f)) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "the linear equations change with time: there are modes only where they are constant");
    return SR_INPUT;
  }
  f->sigma = f->ny > 0 ? SHIFT : 0;
  Ritz r = ritz(f);
  srStatus status = factor(f) ? iterate(f, &r, count) : SR_FAILED;
  if (status == SR_FAILED && f->sigma == 0) {
    f->sigma = SHIFT;
    memset(f->H, 0, (size_t)MOST * MOST * sizeof *f->H);
    status = factor(f) ? iterate(f, &r, count) : SR_FAILED;
  }
  if (status == SR_OK) put_modes(f, &r, count);
  if (status == SR_FAILED)
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "the %d smallest eigenvalues did not converge with %d vectors; fewer may", count, MOST);
  return status;
}

static bool is_at_rest(const srModel* m, const srData* d) {
  for (int i = 0; i < m->nv; i++) {
    if (d->v[i] != 0) return false;
  }
  return true;
}

srStatus sr_modes_smallest(const srModel* m, srData* d, int count, srMessages* messages, bool* possible,
                           srModes** out) {
  *out = NULL;
  *possible = false;
  if (m->ng > 0 || m->nmassless > 0 || m->ny_slot > 0 || !is_at_rest(m, d) || count < 1 || 4 * count > MOST)
    return SR_OK;
  Few f = {.m = m, .nv = m->nv, .ny = m->ny, .n = 2 * m->nv + m->ny, .out = sr_alloc(sizeof *f.out)};
  f.d = sr_data_create(m);
  srModelTangent* tree = sr_tangent_create_as(m, SR_SOLVE_OWN);
  srStatus status = f.out && f.d && tree ? SR_OK : SR_MEMORY;
  if (status == SR_OK) {
    sr_data_copy(m, d, f.d);
    sr_pool_init(&f.out->pool);
    f.user = (srModelSystem){.m = m, .d = f.d, .tangent = tree};
    f.s = sr_system(&f.user);
    *possible = f.s.solver != NULL;
    if (*possible) status = find(&f, count, messages);
    f.out->pool.on_fail = NULL;
  }
  sr_tangent_destroy(tree);
  sr_data_destroy(f.d);
  if (status == SR_MEMORY) sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory");
  if (status == SR_OK && *possible)
    *out = &f.out->shown;
  else if (f.out)
    sr_modes_destroy(&f.out->shown);
  return status;
}
