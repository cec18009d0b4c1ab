// Static equilibrium: forces and rates of states vanish at v = 0, with all constraints satisfied.                              ROBOTRAN manual, section 5.2
//
//   B^T (c - f) = 0,   y' = 0,   g = 0        G B = 0: motions that the constraints allow, one a free coordinate
//
// By Levenberg and Marquardt's method for the free coordinates and the states, with the exact tangent K of c - f - G^T lambda (docs/theory/tangent.md):
//
//   J = [ B^T Kq B  B^T Ky ]      (J^T J + mu) d = -J^T R,   mu proportional to |R|^2
//       [ Kyq B     Kyy    ]
//
// Where that finds none, the forces are followed (pseudo-transient continuation); then from other positions. Dependent coordinates follow by Newton's method (dependent.c). J is singular where a coordinate is non-sensitive (a wheel that may turn): the
// step of least length leaves it alone, and so quadratic convergence is kept (Yamashita and Fukushima 2001). That is why no solver for regular systems is used here.
//
// Friction that sticks: y' = S v of its bristles is 0 at rest whatever y is. They are no unknowns but follow the displacement, dy = S B dx, as in a slow motion from the start: J gets (columns of y) S B, and the
// load is shared by the compliance of bristles and contacts. Pairs of contact sets are made and removed at every position that is tried (force/instances.c).
#include <math.h>
#include <sarrus/analysis.h>
#include <sarrus/system.h>
#include <string.h>

#include "analysis/dependent.h"
#include "analysis/numbers.h"
#include "base/base.h"
#include "constraint/constraint.h"
#include "force/force.h"
#include "math/dense.h"
#include "system/bristle.h"
#include "system/system.h"
#include "system/tangent.h"

#define ITERATIONS 200
#define STARTS 12
#define BALANCED 1e-14     // of the largest force: rounding
#define GOOD 1e-8          // ... where rounding ends the iteration
#define LONGEST_STEP 0.5   // rad or m in one iteration
#define FIRST_STEP 1e-3    // rad or m of the first step along the forces ...
#define LONGEST_FALL 0.05  // ... and of any
#define SENSITIVE 1e-9     // of the largest derivative: below it a coordinate is non-sensitive
#define STICKS 1e-6        // 1/s: rates of a bristle by position and deflection, which are 0 where it sticks

typedef struct Equilibrium {
  srEquilibrium shown;  // first: what the caller sees
  srPool pool;
  jmp_buf out_of_memory;
} Equilibrium;

typedef struct Work {
  Equilibrium* out;
  const srModel* m;
  srData* d;
  srDependent* dependent;
  srModelSystem user;
  srSystem system;
  int nu;              // columns of B: coordinates that are not dependent
  int nfree, ny, n;    // unknown coordinates, states, both
  int *free, *column;  // nfree: velocity coordinates, and their columns of B
  double *q, *y, *q_try, *y_try, *q_start, *y_start;
  double *force, *lambda;     // nv, ng: c - f - G^T lambda
  double *R, *J, *JJ, *step;  // n; n x n; n x n; n
  double *B, *Kq, *Kv, *raw;  // nv x nu; (nv + ny)^2 each; twice that
  double *dxi, *KB;           // nv; nv x nfree
  double* S;                  // ny x nfree: how bristles that stick follow; rows of other states are 0
  unsigned char* is_bristle;  // ny
  double scale;               // largest force so far: the weight, or a generalized one
  int* pivot;                 // n
} Work;

// ---- residual -----------------------------------------------------------------------------------------------------------

static double largest(const double* x, int n) {
  double most = 0.0;
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(x[i]));
  return most;
}

static void put_state(Work* w, const double* q, const double* y) {
  const srModel* m = w->m;
  memcpy(w->d->q, q, (size_t)m->nq * sizeof *q);
  if (m->ny > 0) memcpy(w->d->y, y, (size_t)m->ny * sizeof *y);
  memset(w->d->v, 0, (size_t)m->nv * sizeof *w->d->v);
  sr_driver_motion(m, w->d);
  for (int i = 0; i < m->ndriver && !m->absolute; ++i) w->d->q[m->driver[i].qdof] = w->d->motion[3 * i];
}

// R at q, whose dependent coordinates are corrected, and y, where contacts that are new begin at 0; its square, or infinity where it is not defined.
static double residual(Work* w, double* q, double* y) {
  const srModel* m = w->m;
  srData* d = w->d;
  double corrected;
  put_state(w, q, y);
  if (!sr_dependent_positions(w->dependent, &corrected) || !sr_dependent_put(w->dependent)) return (double)INFINITY;
  memcpy(q, d->q, (size_t)m->nq * sizeof *q);
  if (sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_FORCE) != 0) return (double)INFINITY;
  if (m->ny > 0) memcpy(y, d->y, (size_t)m->ny * sizeof *y);
  memset(w->dxi, 0, (size_t)m->nv * sizeof *w->dxi);
  w->scale = fmax(w->scale, largest(d->f, m->nv));

  sr_required_force(m, d, w->dxi, w->force);
  for (int i = 0; i < m->nv; ++i) w->scale = fmax(w->scale, fabs(w->force[i] + d->f[i]));
  if (!sr_dependent_forces(w->dependent, w->force, w->lambda)) return (double)INFINITY;
  for (int i = 0; i < w->nfree; ++i) w->R[i] = w->force[w->free[i]];
  for (int i = 0; i < w->ny; ++i) w->R[w->nfree + i] = -d->ydot[i];
  double sum = 0.0;
  for (int i = 0; i < w->n; ++i) sum += w->R[i] * w->R[i];
  return isfinite(sum) ? sum : (double)INFINITY;
}

// Relative to the forces; 0 where there are none.
static double remainder_of(const Work* w) {
  return w->scale > 0.0 ? largest(w->R, w->n) / w->scale : largest(w->R, w->n);
}

// ---- tangent ------------------------------------------------------------------------------------------------------------

// B^T (Kq B) of the free coordinates, into J.
static void reduce(Work* w) {
  const int nv = w->m->nv, nf = w->nfree, n = w->n;
  const size_t size = (size_t)(nv + w->ny);
  memset(w->KB, 0, (size_t)nv * (size_t)nf * sizeof *w->KB);
  for (int l = 0; l < nv; ++l) {
    for (int j = 0; j < nf; ++j) {
      const double right = w->B[l * w->nu + w->column[j]];
      for (int k = 0; k < nv && right != 0.0; ++k)
        w->KB[(size_t)k * (size_t)nf + (size_t)j] += w->Kq[(size_t)k * size + (size_t)l] * right;
    }
  }
  for (int i = 0; i < nf; ++i) {
    for (int j = 0; j < nf; ++j) w->J[i * n + j] = 0.0;
    for (int k = 0; k < nv; ++k) {
      const double left = w->B[k * w->nu + w->column[i]];
      for (int j = 0; j < nf && left != 0.0; ++j) w->J[i * n + j] += left * w->KB[(size_t)k * (size_t)nf + (size_t)j];
    }
  }
}

// dy = S B dx of bristles that stick.
static void follow(Work* w) {
  const int nv = w->m->nv, size = nv + w->ny, n = w->n, nf = w->nfree;
  memset(w->S, 0, (size_t)w->ny * (size_t)nf * sizeof *w->S);
  sr_bristle_states(w->m, w->d, w->is_bristle);
  for (int i = 0; i < w->ny; ++i) {
    double* S = w->S + (size_t)i * (size_t)nf;
    if (w->is_bristle[i] == 0 || w->R[nf + i] != 0.0 || largest(w->J + (nf + i) * n, n) > STICKS) continue;
    for (int k = 0; k < nv; ++k) {
      const double rate = -w->Kv[(size_t)(nv + i) * (size_t)size + (size_t)k];
      for (int j = 0; j < nf && rate != 0.0; ++j) S[j] += rate * w->B[k * w->nu + w->column[j]];
    }
    for (int k = 0; k < n; ++k) {
      for (int j = 0; j < nf; ++j) w->J[k * n + j] += w->J[k * n + nf + i] * S[j];
      w->J[k * n + nf + i] = 0.0;
    }
  }
}

// J at the state of d, evaluated by `residual`. False: no derivative.
static bool jacobian(Work* w) {
  const int nv = w->m->nv, size = nv + w->ny, n = w->n, nf = w->nfree;
  srTangent out = {.Kq = w->raw, .Kv = w->raw + (size_t)size * (size_t)size};
  memset(w->dxi, 0, (size_t)nv * sizeof *w->dxi);
  sr_dependent_basis(w->dependent, w->B);
  if (w->system.tangent(w->system.user, w->d->t, w->q, w->d->v, w->y, SR_TAU_ELEMENT, w->dxi, w->lambda, &out) != 0)
    return false;
  sr_spread(w->system.K_sparsity, size, size, out.Kq, w->Kq);
  sr_spread(w->system.K_sparsity, size, size, out.Kv, w->Kv);
  reduce(w);
  for (int i = 0; i < nf; ++i) {
    for (int j = 0; j < w->ny; ++j) {
      double force = 0.0, rate = 0.0;
      for (int k = 0; k < nv; ++k) {
        force += w->B[k * w->nu + w->column[i]] * w->Kv[(size_t)k * (size_t)size + (size_t)(nv + j)];
        rate += w->Kq[(size_t)(nv + j) * (size_t)size + (size_t)k] * w->B[k * w->nu + w->column[i]];
      }
      w->J[i * n + nf + j] = force;
      w->J[(nf + j) * n + i] = rate;
    }
  }
  for (int i = 0; i < w->ny; ++i) {
    for (int j = 0; j < w->ny; ++j)
      w->J[(nf + i) * n + nf + j] = w->Kv[(size_t)(nv + i) * (size_t)size + (size_t)(nv + j)];
  }
  follow(w);
  return true;
}

// ---- iteration ------------------------------------------------------------------------------------------------------------

// step = -(J^T J + mu)^-1 J^T R.
static bool solve(Work* w, double mu) {
  const int n = w->n;
  for (int i = 0; i < n; ++i) {
    double right = 0.0;
    for (int k = 0; k < n; ++k) right -= w->J[k * n + i] * w->R[k];
    w->step[i] = right;
    for (int j = 0; j <= i; ++j) {
      double sum = i == j ? mu : 0.0;
      for (int k = 0; k < n; ++k) sum += w->J[k * n + i] * w->J[k * n + j];
      w->JJ[i * n + j] = sum;
    }
  }
  if (!srm_cholesky(n, w->JJ)) return false;
  srm_cholesky_solve(n, w->JJ, w->step);
  return true;
}

static void try_state(Work* w) {
  const int nv = w->m->nv;
  const double longest = largest(w->step, w->nfree), by = longest > LONGEST_STEP ? LONGEST_STEP / longest : 1.0;
  for (int k = 0; k < nv; ++k) {
    w->dxi[k] = 0.0;
    for (int i = 0; i < w->nfree; ++i) w->dxi[k] += by * w->B[k * w->nu + w->column[i]] * w->step[i];
  }
  sr_retract(w->m, w->q, w->dxi, w->q_try);
  for (int i = 0; i < w->ny; ++i) {
    w->y_try[i] = w->y[i] + by * w->step[w->nfree + i];
    for (int j = 0; j < w->nfree; ++j) w->y_try[i] += by * w->S[(size_t)i * (size_t)w->nfree + (size_t)j] * w->step[j];
  }
}

static double largest_square(const Work* w) {
  double most = 0.0;
  for (int i = 0; i < w->n * w->n; ++i) most = fmax(most, fabs(w->J[i]));
  return most * most;
}

// From q, y; true where the forces are in balance.
static bool iterate(Work* w) {
  double phi = residual(w, w->q, w->y), damping = 1e-3;
  for (int k = 0; k < ITERATIONS && isfinite(phi) && !sr_stop_requested(w->d); ++k, ++w->out->shown.iterations) {
    if (remainder_of(w) <= BALANCED || w->n == 0) return true;
    const double first = phi;
    if (!jacobian(w)) return false;
    for (; damping < 1e12; damping *= 10.0) {
      const double relative = phi / fmax(w->scale * w->scale, 1e-300),
                   mu = largest_square(w) * fmax(damping * fmin(relative, 1.0), 1e-30);
      if (!solve(w, mu)) continue;
      try_state(w);
      const double next = residual(w, w->q_try, w->y_try);
      if (!(next < phi)) continue;
      memcpy(w->q, w->q_try, (size_t)w->m->nq * sizeof *w->q);
      if (w->ny > 0) memcpy(w->y, w->y_try, (size_t)w->ny * sizeof *w->y);
      phi = next;
      damping = fmax(damping / 16.0, 1e-9);
      break;
    }
    if (phi == first) break;  // nothing is better: a balance to rounding, or none
  }
  (void)residual(w, w->q, w->y);
  return remainder_of(w) <= GOOD;
}

// Pseudo-transient continuation (Kelley and Keyes 1998): implicit Euler steps of x' = -R, whose length grows as R falls. It follows the forces: bodies fall until something bears them, and pendulums end
// below. True: near a balance.
static bool follow_forces(Work* w) {
  double phi = residual(w, w->q, w->y), inverse = largest(w->R, w->n) / FIRST_STEP;
  for (int k = 0; k < ITERATIONS && isfinite(phi) && !sr_stop_requested(w->d); ++k, ++w->out->shown.iterations) {
    if (remainder_of(w) <= GOOD) return true;
    if (!jacobian(w)) return false;
    for (int i = 0; i < w->n; ++i) {
      w->J[i * w->n + i] += inverse;
      w->step[i] = -w->R[i];
    }
    if (!srm_lu(w->n, w->J, w->pivot)) return false;
    srm_lu_solve(w->n, w->J, w->pivot, w->step);
    const double longest = largest(w->step, w->nfree);
    for (int i = 0; i < w->n && longest > LONGEST_FALL; ++i) w->step[i] *= LONGEST_FALL / longest;
    try_state(w);
    const double next = residual(w, w->q_try, w->y_try);
    if (!isfinite(next)) return false;
    memcpy(w->q, w->q_try, (size_t)w->m->nq * sizeof *w->q);
    if (w->ny > 0) memcpy(w->y, w->y_try, (size_t)w->ny * sizeof *w->y);
    inverse *= fmin(fmax(sqrt(next / fmax(phi, 1e-300)), 0.1), 10.0);
    phi = next;
  }
  return remainder_of(w) <= GOOD;
}

// The k-th initial position: the given one, then others farther away.
static void start_at(Work* w, int k) {
  memset(w->dxi, 0, (size_t)w->m->nv * sizeof *w->dxi);
  for (int i = 0; i < w->nfree; ++i) w->dxi[w->free[i]] = 0.1 * (double)k * sr_scatter((unsigned)(k * w->m->nv + i));
  sr_retract(w->m, w->q_start, w->dxi, w->q);
  if (w->ny > 0) memcpy(w->y, w->y_start, (size_t)w->ny * sizeof *w->y);
}

// ---- result -----------------------------------------------------------------------------------------------------------------

static void find_nonsensitive(Work* w) {
  Equilibrium* x = w->out;
  const int n = w->n;
  int* list = sr_pool_alloc(&x->pool, ((size_t)w->nfree + 1) * sizeof *list);
  x->shown.nonsensitive = list;
  if (!jacobian(w)) return;
  const double most = sqrt(largest_square(w));
  for (int j = 0; j < w->nfree; ++j) {
    double column = 0.0;
    for (int i = 0; i < n; ++i) column = fmax(column, fabs(w->J[i * n + j]));
    if (column <= SENSITIVE * most) list[x->shown.nnonsensitive++] = w->free[j];
  }
}

// A contact that slides where it was looked for: its friction is not enough.
static const srRestContact* exhausted(const srRest* rest) {
  for (int i = 0; rest != NULL && i < rest->n; ++i) {
    if (rest->contact[i].status == SR_REST_SLIDES && rest->contact[i].friction_force > 0.0) return &rest->contact[i];
  }
  return NULL;
}

static void tell_contacts(const Work* w, srMessages* messages) {
  srRest* rest;
  if (sr_rest_create(w->m, w->d, &rest) != SR_OK) return;
  const srRestContact* c = exhausted(rest);
  if (c != NULL)
    sr_messages_add(messages, SR_SEVERITY_NOTE, (srPlace){0},
                    "'%s' slides on '%s' there: its friction is exhausted, %.6g N under a normal force of %.6g N",
                    c->b != NULL ? c->b : c->a, c->b != NULL ? c->a : "it", c->friction_force, c->normal_force);
  sr_rest_destroy(rest);
}

static srStatus refuse(const Work* w, srMessages* messages) {
  char name[256];
  int worst = 0;
  for (int i = 1; i < w->n; ++i) worst = fabs(w->R[i]) > fabs(w->R[worst]) ? i : worst;
  const char* what =
      worst < w->nfree ? sr_coordinate_name(w->m, w->free[worst], name, sizeof name) : w->m->y_name[worst - w->nfree];
  sr_messages_add(
      messages, SR_SEVERITY_ERROR, (srPlace){0},
      "no equilibrium was found from this position and %d others: %s '%s' stays at %.6g. Start nearer by --q, hold a "
      "coordinate, or check that something bears the weight",
      STARTS - 1, worst < w->nfree ? "the force on" : "the rate of", what, w->R[worst]);
  tell_contacts(w, messages);
  return SR_FAILED;
}

static srStatus search(Work* w, srMessages* messages) {
  bool found = false;
  for (int k = 0; k < STARTS && !found && !sr_stop_requested(w->d); ++k) {
    start_at(w, k);
    ++w->out->shown.starts;
    found = iterate(w);
    if (found) break;
    start_at(w, k);
    found = follow_forces(w) && iterate(w);
  }
  if (!found) {
    start_at(w, 0);
    (void)follow_forces(w);  // to where it slides or falls
    (void)residual(w, w->q, w->y);
    return refuse(w, messages);
  }
  find_nonsensitive(w);
  w->out->shown.residual = (residual(w, w->q, w->y), remainder_of(w));
  memcpy(w->d->lambda, w->lambda, (size_t)w->m->ng * sizeof *w->lambda);
  for (int i = 0; i < w->m->ndriver && !w->m->absolute; ++i)
    w->d->lambda[w->m->row_driver + i] = w->force[w->m->driver[i].dof];
  return SR_OK;
}

// ---- creation -----------------------------------------------------------------------------------------------------------------

static double* reals(Work* w, size_t n) { return sr_pool_alloc(&w->out->pool, (n + 1) * sizeof(double)); }

static void list_free(Work* w, const unsigned char* fixed) {
  const srModel* m = w->m;
  unsigned char* is = sr_pool_alloc(&w->out->pool, (size_t)m->nv + 1);
  const int* column = sr_dependent_columns(w->dependent);
  memset(is, 1, (size_t)m->nv);
  for (int i = 0; i < sr_dependent_count(w->dependent); ++i) is[column[i]] = 0;  // wheels roll
  int at = 0;
  w->free = sr_pool_alloc(&w->out->pool, ((size_t)m->nv + 1) * sizeof *w->free);
  w->column = sr_pool_alloc(&w->out->pool, ((size_t)m->nv + 1) * sizeof *w->column);
  for (int i = 0; i < m->nv; ++i) {
    if (is[i] == 0) continue;
    bool moves = fixed == NULL || fixed[i] == 0;
    for (int k = 0; k < m->ndriver && !m->absolute; ++k) moves = moves && m->driver[k].dof != i;
    if (moves) {
      w->free[w->nfree] = i;
      w->column[w->nfree++] = at;
    }
    ++at;
  }
  w->nu = at;
}

static void allocate(Work* w) {
  const size_t nq = (size_t)w->m->nq, nv = (size_t)w->m->nv, ny = (size_t)w->ny, n = (size_t)w->n, all = nv + ny;
  w->q = reals(w, nq), w->q_try = reals(w, nq), w->q_start = reals(w, nq);
  w->y = reals(w, ny), w->y_try = reals(w, ny), w->y_start = reals(w, ny);
  w->force = reals(w, nv), w->out->shown.force = w->force, w->lambda = reals(w, (size_t)w->m->ng),
  w->dxi = reals(w, nv);
  w->pivot = sr_pool_alloc(&w->out->pool, (n + 1) * sizeof *w->pivot);
  w->R = reals(w, n), w->step = reals(w, n), w->J = reals(w, n * n), w->JJ = reals(w, n * n);
  w->B = reals(w, nv * (size_t)w->nu);
  w->KB = reals(w, nv * (size_t)w->nfree);
  w->S = reals(w, ny * (size_t)w->nfree);
  w->is_bristle = sr_pool_alloc(&w->out->pool, ny + 1);
  w->Kq = reals(w, all * all), w->Kv = reals(w, all * all), w->raw = reals(w, 2 * all * all);
  memcpy(w->q_start, w->d->q, nq * sizeof *w->q);
  if (ny > 0) memcpy(w->y_start, w->d->y, ny * sizeof *w->y);
}

static srStatus find(Work* w, const unsigned char* fixed, srMessages* messages) {
  const srModel* m = w->m;
  srData* d = w->d;
  int row = -1;
  w->user = (srModelSystem){.m = m, .d = d, .tangent = sr_tangent_create_as(m, SR_SOLVE_MATRIX)};
  w->dependent = sr_dependent_create(m, d, fixed);
  if (w->user.tangent == NULL || w->dependent == NULL) return SR_MEMORY;
  w->system = sr_system(&w->user);
  memset(d->v, 0, (size_t)m->nv * sizeof *d->v);
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_POSITION);
  sr_driver_motion(m, d);
  if (sr_constraints(m, d) != 0 || !sr_dependent_choose(w->dependent, &row)) {
    sr_messages_add(
        messages, SR_SEVERITY_ERROR, row >= 0 ? m->row[row].place : (srPlace){0},
        "%s relates coordinates that are driven or keep their values: they are not independent of each other here",
        row >= 0 ? m->row[row].name : "an equation");
    return SR_FAILED;
  }
  list_free(w, fixed);
  w->ny = m->ny;
  w->n = w->nfree + w->ny;
  allocate(w);
  for (int i = 1; i <= m->nbody; ++i)
    w->scale += m->body_mass[i] *
                sqrt(m->gravity[0] * m->gravity[0] + m->gravity[1] * m->gravity[1] + m->gravity[2] * m->gravity[2]);
  return search(w, messages);
}

srStatus sr_equilibrium_create(const srModel* m, srData* d, const unsigned char* fixed, srMessages* messages,
                               srEquilibrium** out) {
  Equilibrium* x = sr_alloc(sizeof *x);
  *out = NULL;
  if (x == NULL) return SR_MEMORY;
  Work* w = sr_alloc(sizeof *w);
  volatile srStatus status = SR_MEMORY;
  sr_pool_init(&x->pool);
  x->pool.on_fail = &x->out_of_memory;
  if (w != NULL && setjmp(x->out_of_memory) == 0) {
    *w = (Work){.out = x, .m = m, .d = d};
    status = find(w, fixed, messages);
  }
  x->pool.on_fail = NULL;
  if (w != NULL) {
    sr_dependent_destroy(w->dependent);
    sr_tangent_destroy(w->user.tangent);
  }
  sr_free(w);
  if (status == SR_MEMORY)
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the equilibrium");
  if (status == SR_OK)
    *out = &x->shown;
  else
    sr_equilibrium_destroy(&x->shown);
  return status;
}

void sr_equilibrium_destroy(srEquilibrium* shown) {
  Equilibrium* x = (Equilibrium*)(void*)shown;
  if (x == NULL) return;
  sr_pool_free(&x->pool);
  sr_free(x);
}
