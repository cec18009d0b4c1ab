// Equilibrium: all forces in balance, with all constraints satisfied, at rest or in a steady motion.                          ROBOTRAN manual, section 5.3, equations 44 to 50
//
//   B^T (c - f) = 0,   y' = 0,   g = 0,   e(q, v, y, p) = 0        G B = 0: motions that the constraints allow, one a free coordinate
//
// Unknowns: free coordinates q and states y; parameters p, one an exchange (a coordinate keeps its value, but its force has to vanish) or extra equation e; of a steady motion, with v' = 0, the velocities that
// no force depends on (steady.c). By Levenberg and Marquardt's method, at rest with the exact tangent K of c - f - G^T lambda (docs/theory/tangent.md):
//
//   J = [ B^T Kq B  B^T Ky  dR/dp ]      (J^T J + mu) d = -J^T R,   mu proportional to |R|^2
//       [ Kyq B     Kyy           ]
//
// Columns of parameters, and with equations or in motion all columns, are central differences, in which dependent coordinates and velocities follow. Where that finds none, the forces are followed (pseudo-transient continuation); then from
// other positions. Dependent coordinates follow by Newton's method (dependent.c). J is singular where a coordinate is non-sensitive (a wheel that may turn) or a velocity is not determined (a top's
// spin): the step of least length leaves it alone, and so quadratic convergence is kept (Yamashita and Fukushima 2001). That is why no solver for regular systems is used here.
//
// Friction that sticks: y' = S v of its bristles is 0 at rest whatever y is. They are no unknowns but follow the displacement, dy = S B dx, as in a slow motion from the start: J gets (columns of y) S B, and the
// load is shared by the compliance of bristles and contacts. Pairs of contact sets are made and removed at every position that is tried (force/instances.c).
#include <float.h>
#include <math.h>
#include <sarrus/analysis.h>
#include <sarrus/system.h>
#include <string.h>

#include "analysis/dependent.h"
#include "analysis/equilibrium.h"
#include "analysis/numbers.h"
#include "analysis/parametric.h"
#include "analysis/steady.h"
#include "base/base.h"
#include "constraint/constraint.h"
#include "force/force.h"
#include "math/dense.h"
#include "model/private.h"
#include "system/bristle.h"
#include "system/system.h"
#include "system/tangent.h"

#define ITERATIONS 200
#define BALANCED 1e-14     // of the largest force: rounding
#define GOOD 1e-8          // ... where rounding ends the iteration
#define DOUBTFUL 1e-6      // of the forces at the equilibrium: what is left above it is warned of
#define LONGEST_STEP 0.5   // rad or m in one iteration
#define FIRST_STEP 1e-3    // rad or m of the first step along the forces ...
#define LONGEST_FALL 0.05  // ... and of any
#define HALVED 10          // how often such a step is made shorter
#define SENSITIVE 1e-9     // of the largest derivative: below it a coordinate is non-sensitive
#define STICKS 1e-6        // 1/s: rates of a bristle by position and deflection, which are 0 where it sticks
#define DIFFERENCE 6e-6    // cube root of the rounding error: central differences
#define AGREES 1e-9        // of the largest velocity: equations for velocities that depend on each other
#define LATER 0.3          // rad or m that the fastest coordinate moves until the balance is examined again ...
#define LATEST 0.7         // ... s
#define STEADY 1e-7        // of the largest force or velocity: a change until then
#define SLOW                                                                                                           \
  20  // iterations that gain a thousandth at the most: there is no balance near, and models are compiled for each
#define HEAVIEST 1e9  // weight of the rate of a state
#define MOVES 1e-12   // of the largest velocity: a coordinate that grows

typedef struct Equilibrium {
  srEquilibrium shown;  // first: what the caller sees
  srPool pool;
  jmp_buf out_of_memory;
  srSpec* spec;  // with the parameters that were found
  srModel* m;
  srData* d;
} Equilibrium;

typedef struct Point {
  double *q, *v, *y, *p;
} Point;

enum { MOST_STARTS = 12, FEW_STARTS = 4 };  // few where models are compiled, or velocities found

// A model: the caller's, or one for the values p of parameters.
typedef struct Variant {
  const srModel* m;
  srData* d;
  srModel* own;
  srData* own_data;
  srModelSystem user;
  srSystem system;
  double* p;
} Variant;

typedef struct Work {
  Equilibrium* out;
  const srEquilibriumOptions* options;
  srEquilibriumInput in;
  srParametric* parametric;  // NULL: no unknown parameter
  Variant variant[2];
  int base;          // which of them is at the last position that was taken
  Variant* now;      // the one in use
  const srModel* m;  // its model ...
  srData* d;         // ... and data
  srDependent* dependent;
  double t;
  int nu;              // columns of B: coordinates that are not dependent
  int nfree, ny, np;   // unknown coordinates, states, parameters; ...
  int nplain;          // nfree + ny: unknowns and equations where nothing else is wanted
  int n, nrow;         // unknowns, with velocities; equations: nplain, forces on held coordinates, extra ones
  int nforce;          // coordinates whose force is to vanish: free, held
  int *free, *column;  // nforce: velocity coordinates, and their columns of B
  int* state;          // ny: unknown states
  int* independent;    // nu: velocity coordinates
  Point at, try, start, side;
  double *force, *lambda;     // nv, ng: c - f - G^T lambda
  double *R, *J, *JJ, *step;  // nrow; nrow x n; n x n; n
  double *R1, *R2, *scaling;  // nrow; nrow; n: of columns behind the plain ones, 0: R does not depend on the unknown
  const double* y0;           // of the caller's model
  double* weight;             // ny: makes forces of rates of states, while steps are chosen; else 1
  double *B, *Kq, *Kv, *raw;  // nv x nu; (nv + ny)^2 each; twice that
  double *dxi, *KB;           // nv; nv x nu
  double *Y,
      *S;  // (nforce + ny) x ny: derivatives by states; ny x nu: how bristles that stick follow, rows of other states are 0
  double* S0;                 // S at `at`
  unsigned char* is_bristle;  // ny of the model
  double weight_of_bodies;    // N
  double scale;               // largest force so far: the weight, or a generalized one
  double scale_here;          // ... of the last evaluation alone
  double equation_scale;      // makes a force of the value of an extra equation
  int* pivot;                 // n
  srSteady steady;
  double *A, *C, *c, *x;  // of steady.c: (nforce + ny) x nu; nc x nu; nc; nu
  double *B0, *Z0;        // B and Z at `at`, whose unknowns move along them
  int nz;                 // columns of Z0
  bool contradicts;       // the speeds are none of a steady motion
  bool exact;             // columns of coordinates and states: by the tangent
} Work;

// ---- models -------------------------------------------------------------------------------------------------------------

static void use(Work* w, Variant* v) {
  w->now = v;
  w->m = v->m;
  w->d = v->d;
  sr_dependent_bind(w->dependent, v->m, v->d);
}

static void drop(Variant* v) {
  sr_tangent_destroy(v->user.tangent);
  sr_data_destroy(v->own_data);
  sr_model_destroy(v->own);
  *v = (Variant){.p = v->p};
}

static bool prepare(Variant* v) {
  v->user = (srModelSystem){.m = v->m, .d = v->d, .tangent = sr_tangent_create_as(v->m, SR_SOLVE_MATRIX)};
  if (v->user.tangent != NULL) v->system = sr_system(&v->user);
  return v->user.tangent != NULL;
}

// The model for the parameters of x: one of the two that are there, or a new one in the place of that which is not the base. False: there is none.
static bool choose_variant(Work* w, const Point* x) {
  if (w->parametric == NULL) return true;
  const size_t size = (size_t)w->np * sizeof *x->p;
  for (int i = 0; i < 2; ++i) {
    if (w->variant[i].m == NULL || memcmp(w->variant[i].p, x->p, size) != 0) continue;
    use(w, &w->variant[i]);
    return true;
  }
  Variant *v = &w->variant[1 - w->base], *from = &w->variant[w->base];
  use(w, from);
  drop(v);
  const srStatus status = sr_parametric_compile(w->parametric, x->p, from->d, &v->own, &v->own_data);
  if (status == SR_INPUT) return false;
  v->m = v->own;
  v->d = v->own_data;
  if (status != SR_OK || !prepare(v)) longjmp(w->out->out_of_memory, 1);
  memcpy(v->p, x->p, size);
  use(w, v);
  return true;
}

static void copy_point(const Work* w, const Point* from, Point* to) {
  const srModel* m = w->m;
  memcpy(to->q, from->q, (size_t)m->nq * sizeof *to->q);
  memcpy(to->v, from->v, (size_t)m->nv * sizeof *to->v);
  if (m->ny > 0) memcpy(to->y, from->y, (size_t)m->ny * sizeof *to->y);
  if (w->np > 0) memcpy(to->p, from->p, (size_t)w->np * sizeof *to->p);
}

// ---- residual -----------------------------------------------------------------------------------------------------------

static double largest(const double* x, int n) {
  double most = 0.0;
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(x[i]));
  return most;
}

static void put_state(Work* w, const Point* x) {
  const srModel* m = w->m;
  srData* d = w->d;
  d->t = w->t;
  memcpy(d->q, x->q, (size_t)m->nq * sizeof *d->q);
  if (m->ny > 0) memcpy(d->y, x->y, (size_t)m->ny * sizeof *d->y);
  if (w->in.steady)
    memcpy(d->v, x->v, (size_t)m->nv * sizeof *d->v);
  else
    memset(d->v, 0, (size_t)m->nv * sizeof *d->v);
  // Live parameters, and those that events set, are states: they change by as much as their initial values.
  for (int i = m->priv->nstate; i < m->priv->ny_user; ++i) d->y[i] = w->start.y[i] + m->y0[i] - w->y0[i];
  sr_driver_motion(m, d);
  for (int i = 0; i < m->ndriver && !m->absolute; ++i) d->q[m->driver[i].qdof] = d->motion[3 * i];
}

// c - f - G^T lambda at d's state. False: it is not defined.
static bool forces(Work* w) {
  const srModel* m = w->m;
  srData* d = w->d;
  if (sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_FORCE) != 0) return false;
  memset(w->dxi, 0, (size_t)m->nv * sizeof *w->dxi);
  w->scale_here = fmax(w->weight_of_bodies, largest(d->f, m->nv));
  sr_required_force(m, d, w->dxi, w->force);
  for (int i = 0; i < m->nv; ++i) w->scale_here = fmax(w->scale_here, fabs(w->force[i] + d->f[i]));
  w->scale = fmax(w->scale, w->scale_here);
  return sr_dependent_forces(w->dependent, w->force, w->lambda);
}

static bool constant_velocities(Work* w);

// Row of R of a force.
static int row_of(const Work* w, int force) { return force < w->nfree ? force : force + w->ny; }

// R at x, whose dependent coordinates and velocities are corrected; its square, or infinity where it is not defined.
static double residual(Work* w, Point* x) {
  double corrected, sum = 0.0;
  if (!choose_variant(w, x)) return (double)INFINITY;
  const srModel* m = w->m;
  srData* d = w->d;
  put_state(w, x);
  if (!sr_dependent_positions(w->dependent, &corrected) || !sr_dependent_put(w->dependent) ||
      sr_dependent_broken(w->dependent) >= 0)
    return (double)INFINITY;
  memcpy(x->q, d->q, (size_t)m->nq * sizeof *x->q);
  if (w->in.steady && !constant_velocities(w)) return (double)INFINITY;
  memcpy(x->v, d->v, (size_t)m->nv * sizeof *x->v);
  if (!forces(w)) return (double)INFINITY;
  if (m->ny > 0) memcpy(x->y, d->y, (size_t)m->ny * sizeof *x->y);  // contacts that are new begin at 0

  for (int i = 0; i < w->nforce; ++i) w->R[row_of(w, i)] = w->force[w->free[i]];
  for (int i = 0; i < w->ny; ++i) w->R[w->nfree + i] = -w->weight[i] * d->ydot[w->state[i]];
  if (w->options->nequation > 0) {
    double* e = w->R + w->nforce + w->ny;
    sr_parametric_equations(w->parametric, m, d, e);
    for (int i = 0; i < w->options->nequation; ++i) e[i] *= w->equation_scale;
  }
  for (int i = 0; i < w->nrow; ++i) sum += w->R[i] * w->R[i];
  return isfinite(sum) ? sum : (double)INFINITY;
}

// Relative to a force, of extra equations to 1; 0 where there are none.
static double remainder_to(const Work* w, double scale) {
  const int nforce = w->nforce + w->ny < w->nrow ? w->nforce + w->ny : w->nrow;
  const double left = largest(w->R, nforce), equations = largest(w->R + nforce, w->nrow - nforce);
  return fmax(scale > 0.0 ? left / scale : left, equations / w->equation_scale);
}
static double remainder_of(const Work* w) { return remainder_to(w, w->scale); }
// A search may meet forces that are far larger than those of the balance, and what is small beside them need not be small beside these. Without weight the forces of a balance may all be 0.
static double remainder_here(const Work* w) {
  return remainder_to(w, w->weight_of_bodies > 0.0 ? w->scale_here : w->scale);
}

// ---- tangent ------------------------------------------------------------------------------------------------------------

// Kq, Kv and B at the state of d, evaluated by `forces`. False: no derivative.
static bool tangent(Work* w) {
  const int nv = w->m->nv, size = nv + w->m->ny;
  srTangent out = {.Kq = w->raw, .Kv = w->raw + (size_t)size * (size_t)size};
  memset(w->dxi, 0, (size_t)nv * sizeof *w->dxi);
  sr_dependent_basis(w->dependent, w->B);
  srData* d = w->d;
  if (w->now->system.tangent(w->now->system.user, d->t, d->q, d->v, d->y, SR_TAU_ELEMENT, w->dxi, w->lambda, &out) != 0)
    return false;
  sr_spread(w->now->system.K_sparsity, size, size, out.Kq, w->Kq);
  sr_spread(w->now->system.K_sparsity, size, size, out.Kv, w->Kv);
  return true;
}

// B^T Kq B of the forces that are to vanish, and the same for the rates of states, into A.
static void along_coordinates(Work* w) {
  const int nv = w->m->nv, nu = w->nu;
  const size_t size = (size_t)(nv + w->m->ny);
  memset(w->KB, 0, size * (size_t)nu * sizeof *w->KB);
  for (int l = 0; l < nv; ++l) {
    for (int j = 0; j < nu; ++j) {
      const double right = w->B[l * nu + j];
      for (size_t k = 0; k < size && right != 0.0; ++k)
        w->KB[k * (size_t)nu + (size_t)j] += w->Kq[k * size + (size_t)l] * right;
    }
  }
  memset(w->A, 0, (size_t)(w->nforce + w->ny) * (size_t)nu * sizeof *w->A);
  for (int i = 0; i < w->nforce; ++i) {
    double* row = w->A + (size_t)row_of(w, i) * (size_t)nu;
    for (int k = 0; k < nv; ++k) {
      const double left = w->B[k * nu + w->column[i]];
      for (int j = 0; j < nu && left != 0.0; ++j) row[j] += left * w->KB[(size_t)k * (size_t)nu + (size_t)j];
    }
  }
  for (int i = 0; i < w->ny; ++i)
    memcpy(w->A + (size_t)(w->nfree + i) * (size_t)nu, w->KB + (size_t)(nv + w->state[i]) * (size_t)nu,
           (size_t)nu * sizeof *w->A);
}

static void along_states(Work* w) {
  const int nv = w->m->nv;
  const size_t size = (size_t)(nv + w->m->ny);
  for (int j = 0; j < w->ny; ++j) {
    const size_t at = (size_t)(nv + w->state[j]);
    for (int i = 0; i < w->nforce; ++i) {
      double force = 0.0;
      for (int k = 0; k < nv; ++k) force += w->B[k * w->nu + w->column[i]] * w->Kv[(size_t)k * size + at];
      w->Y[row_of(w, i) * w->ny + j] = force;
    }
    for (int i = 0; i < w->ny; ++i) w->Y[(w->nfree + i) * w->ny + j] = w->Kv[(size_t)(nv + w->state[i]) * size + at];
  }
}

// dy = S dx of bristles that stick.
static void follow(Work* w) {
  const int nv = w->m->nv, nu = w->nu, nrow = w->nforce + w->ny;
  const size_t size = (size_t)(nv + w->m->ny);
  memset(w->S, 0, (size_t)w->ny * (size_t)nu * sizeof *w->S);
  sr_bristle_states(w->m, w->d, w->is_bristle);
  for (int i = 0; i < w->ny; ++i) {
    const int state = w->state[i], row = w->nfree + i;
    double* S = w->S + (size_t)i * (size_t)nu;
    if (w->is_bristle[state] == 0 || w->d->ydot[state] != 0.0) continue;
    if (fmax(largest(w->A + row * nu, nu), largest(w->Y + row * w->ny, w->ny)) > STICKS) continue;
    for (int k = 0; k < nv; ++k) {
      const double rate = -w->Kv[(size_t)(nv + state) * size + (size_t)k];
      for (int j = 0; j < nu && rate != 0.0; ++j) S[j] += rate * w->B[k * nu + j];
    }
    for (int k = 0; k < nrow; ++k) {
      for (int j = 0; j < nu; ++j) w->A[k * nu + j] += w->Y[k * w->ny + i] * S[j];
      w->Y[k * w->ny + i] = 0.0;
    }
  }
}

// Derivatives of forces and rates at constant v: A along all independent coordinates, Y by states.
static void derivatives(Work* w) {
  along_coordinates(w);
  along_states(w);
  follow(w);
}

// Columns of free coordinates and states, at rest: exact.
static void exact_columns(Work* w) {
  for (int i = 0; i < w->nforce + w->ny && i < w->nrow; ++i) {
    const double by = i >= w->nfree && i < w->nplain ? w->weight[i - w->nfree] : 1.0;
    for (int j = 0; j < w->nfree; ++j) w->J[i * w->n + j] = by * w->A[i * w->nu + w->column[j]];
    for (int j = 0; j < w->ny; ++j) w->J[i * w->n + w->nfree + j] = by * w->Y[i * w->ny + j];
  }
}

// The place where the unknowns are: B, Z and S belong to it.
static void take_place(Work* w) {
  derivatives(w);
  memcpy(w->B0, w->B, (size_t)w->m->nv * (size_t)w->nu * sizeof *w->B);
  memcpy(w->S0, w->S, (size_t)w->ny * (size_t)w->nu * sizeof *w->S);
}

// ---- velocities ---------------------------------------------------------------------------------------------------------------

// d's velocities, moved to the nearest that constraints, drivers and given speeds allow and along which no force changes. False: there are none.
static bool constant_velocities(Work* w) {
  const srModel* m = w->m;
  srData* d = w->d;
  const int nu = w->nu;
  int nc = 0;
  sr_dependent_velocities(w->dependent);
  if (!forces(w) || !tangent(w)) return false;
  derivatives(w);
  for (int i = 0; i < w->in.nspeed; ++i, ++nc) {
    memcpy(w->C + nc * nu, w->B + w->in.speed[i] * nu, (size_t)nu * sizeof *w->C);
    w->c[nc] = w->in.speed_value[i];
  }
  for (int i = 0; i < m->ndriver; ++i, ++nc) {
    memcpy(w->C + nc * nu, w->B + m->driver[i].dof * nu, (size_t)nu * sizeof *w->C);
    w->c[nc] = d->motion[3 * i + 1];
  }
  for (int i = 0; i < nu; ++i) w->x[i] = d->v[w->independent[i]];
  const double left = sr_steady_project(&w->steady, w->nforce + w->ny, w->A, SENSITIVE, nc, w->C, w->c, w->x);
  const double most = fmax(largest(w->x, nu), largest(w->c, nc));
  w->contradicts = left > AGREES * most;
  for (int i = 0; i < nu; ++i) d->v[w->independent[i]] = w->x[i];
  sr_dependent_velocities(w->dependent);
  return !w->contradicts;
}

// ---- differences --------------------------------------------------------------------------------------------------------------

// The step by `by` times d (n) from `at`, whose velocities are behind coordinates, states and parameters.
static void move(Work* w, double by, const double* d, Point* x) {
  const double *p = d + w->nplain, *speed = p + w->np;
  copy_point(w, &w->at, x);
  for (int k = 0; k < w->m->nv; ++k) {
    w->dxi[k] = 0.0;
    for (int i = 0; i < w->nfree; ++i) w->dxi[k] += by * w->B0[k * w->nu + w->column[i]] * d[i];
  }
  sr_retract(w->m, w->at.q, w->dxi, x->q);
  for (int i = 0; i < w->ny; ++i) {
    double* y = &x->y[w->state[i]];
    *y += by * d[w->nfree + i];
    for (int j = 0; j < w->nfree; ++j) *y += by * w->S0[i * w->nu + w->column[j]] * d[j];
  }
  for (int i = 0; i < w->np; ++i) x->p[i] += by * p[i];
  for (int i = 0; i < w->nu; ++i) {
    for (int k = 0; k < w->nz; ++k) x->v[w->independent[i]] += by * w->Z0[i * w->nz + k] * speed[k];
  }
}

// Size of unknown j.
static double size_of(const Work* w, int j) {
  if (j < w->nfree) return 1.0;
  if (j < w->nplain) return fmax(1.0, fabs(w->at.y[w->state[j - w->nfree]]));
  if (j >= w->nplain + w->np) return fmax(1.0, largest(w->at.v, w->m->nv));
  return w->at.p[j - w->nplain] != 0.0 ? fabs(w->at.p[j - w->nplain]) : 1.0;
}

// Column j of J, with all that follows; what is not above rounding is 0. False: R is not defined beside `at`.
static bool difference_column(Work* w, int j) {
  const double h = DIFFERENCE * size_of(w, j), noise = 64.0 * DBL_EPSILON * w->scale / h;
  double* R = w->R;
  memset(w->step, 0, (size_t)w->n * sizeof *w->step);
  w->step[j] = 1.0;
  w->R = w->R1;
  move(w, h, w->step, &w->side);
  bool good = isfinite(residual(w, &w->side));
  w->R = w->R2;
  move(w, -h, w->step, &w->side);
  good = good && isfinite(residual(w, &w->side));
  w->R = R;
  for (int i = 0; i < w->nrow && good; ++i) {
    const double slope = (w->R1[i] - w->R2[i]) / (2.0 * h);
    w->J[i * w->n + j] = fabs(slope) > noise ? slope : 0.0;
  }
  return good;
}

static double largest_in_column(const Work* w, int j) {
  double most = 0.0;
  for (int i = 0; i < w->nrow; ++i) most = fmax(most, fabs(w->J[i * w->n + j]));
  return most;
}

// Parameters and velocities have units of their own: their columns get the size of the others.
static void scale_columns(Work* w) {
  double most = 0.0;
  for (int j = 0; j < w->nplain; ++j) most = fmax(most, largest_in_column(w, j));
  for (int j = 0; j < w->n; ++j) {
    const double column = j < w->nplain ? 1.0 : largest_in_column(w, j);
    w->scaling[j] = j < w->nplain ? 1.0 : column > 0.0 ? (most > 0.0 ? most : 1.0) / column : 0.0;
    for (int i = 0; i < w->nrow && j >= w->nplain; ++i) w->J[i * w->n + j] *= w->scaling[j];
  }
}

// A bristle that sticks is no unknown.
static bool follows(const Work* w, int j) {
  return j >= w->nfree && j < w->nplain && largest(w->S0 + (j - w->nfree) * w->nu, w->nu) > 0.0;
}

static void weigh_alike(Work* w) {
  for (int i = 0; i < w->ny; ++i) w->weight[i] = 1.0;
}

// Largest change of R_i by an unknown that changes by its size.
static double largest_in_row(const Work* w, int i) {
  double most = 0.0;
  for (int j = 0; j < w->n; ++j) most = fmax(most, fabs(w->J[i * w->n + j]) * size_of(w, j));
  return most;
}

// Rates of states have units of their own, and may be small beside the forces: they get the size that their largest derivative tells, so that a step does not balance the forces at their cost, or the other way
// round. J is that of weights 1.
static void weigh(Work* w) {
  double most = 0.0;
  for (int i = 0; i < w->nrow; ++i) {
    if (i < w->nfree || i >= w->nplain) most = fmax(most, largest_in_row(w, i));
  }
  for (int i = 0; i < w->ny; ++i) {
    const double own = largest_in_row(w, w->nfree + i);
    w->weight[i] = own > 0.0 ? fmin(fmax(most / own, 1.0), HEAVIEST) : 1.0;
    for (int j = 0; j < w->n; ++j) w->J[(w->nfree + i) * w->n + j] *= w->weight[i];
  }
}

// J at `at`, scaled; weighted: the weights are chosen. False: no derivative.
static bool jacobian(Work* w, bool weighted) {
  if (!isfinite(residual(w, &w->at)) || !tangent(w)) return false;
  w->nz = w->in.steady ? w->steady.nz : 0;
  w->n = w->nplain + w->np + w->nz;
  take_place(w);
  if (w->nz > 0) memcpy(w->Z0, w->steady.Z, (size_t)w->nu * (size_t)w->nz * sizeof *w->Z0);
  memset(w->J, 0, (size_t)w->nrow * (size_t)w->n * sizeof *w->J);
  if (w->exact) exact_columns(w);
  for (int j = w->exact ? w->nplain : 0; j < w->n; ++j) {
    if (!follows(w, j) && !difference_column(w, j)) return false;
  }
  if (weighted) weigh(w);
  scale_columns(w);
  return isfinite(residual(w, &w->at));
}

// ---- iteration ------------------------------------------------------------------------------------------------------------

// step = -(J^T J + mu)^-1 J^T R.
static bool solve(Work* w, double mu) {
  const int n = w->n;
  for (int i = 0; i < n; ++i) {
    double right = 0.0;
    for (int k = 0; k < w->nrow; ++k) right -= w->J[k * n + i] * w->R[k];
    w->step[i] = right;
    for (int j = 0; j <= i; ++j) {
      double sum = i == j ? mu : 0.0;
      for (int k = 0; k < w->nrow; ++k) sum += w->J[k * n + i] * w->J[k * n + j];
      w->JJ[i * n + j] = sum;
    }
  }
  if (!srm_cholesky(n, w->JJ)) return false;
  srm_cholesky_solve(n, w->JJ, w->step);
  for (int i = 0; i < n; ++i) w->step[i] *= w->scaling[i];
  return true;
}

static double largest_square(const Work* w) {
  double most = 0.0;
  for (int i = 0; i < w->nrow * w->n; ++i) most = fmax(most, fabs(w->J[i]));
  return most * most;
}

static void accept(Work* w) {
  copy_point(w, &w->try, &w->at);
  w->base = w->now == &w->variant[1];
}

// From `at`; true where the forces are in balance.
static bool iterate(Work* w) {
  weigh_alike(w);
  double phi = residual(w, &w->at), damping = 1e-3;
  int slow = 0;
  w->base = w->now == &w->variant[1];
  for (int k = 0; k < ITERATIONS && isfinite(phi) && !sr_stop_requested(w->d); ++k, ++w->out->shown.iterations) {
    if (remainder_here(w) <= BALANCED || w->nrow == 0) break;
    if (!jacobian(w, k == 0)) break;
    if (k == 0) phi = residual(w, &w->at);
    const double first = phi;
    memcpy(w->R1, w->R, (size_t)w->nrow * sizeof *w->R);
    for (; damping < 1e12; damping *= 10.0) {
      const double relative = phi / fmax(w->scale * w->scale, 1e-300),
                   mu = largest_square(w) * fmax(damping * fmin(relative, 1.0), 1e-30);
      memcpy(w->R, w->R1, (size_t)w->nrow * sizeof *w->R);
      if (!solve(w, mu)) continue;
      const double longest = largest(w->step, w->nfree);
      move(w, longest > LONGEST_STEP ? LONGEST_STEP / longest : 1.0, w->step, &w->try);
      const double next = residual(w, &w->try);
      if (!(next < phi)) continue;
      accept(w);
      slow = next > 0.999 * phi ? slow + 1 : 0;
      phi = next;
      damping = fmax(damping / 16.0, 1e-9);
      break;
    }
    if (phi == first) break;  // nothing is better: a balance to rounding, or none
    if (slow >= SLOW && (w->in.steady || w->np > 0)) break;
  }
  weigh_alike(w);
  return isfinite(residual(w, &w->at)) && remainder_of(w) <= GOOD;
}

// step = -(J + inverse)^-1 R. False: singular.
static bool euler_step(Work* w, double inverse) {
  exact_columns(w);
  for (int i = 0; i < w->n; ++i) {
    w->J[i * w->n + i] += inverse;
    w->step[i] = -w->R[i];
  }
  if (!srm_lu(w->n, w->J, w->pivot)) return false;
  srm_lu_solve(w->n, w->J, w->pivot, w->step);
  return true;
}

// Do the forces do work along the step?
static bool goes_along(const Work* w) {
  double work = 0.0;
  for (int i = 0; i < w->nfree; ++i) work -= w->R[i] * w->step[i];
  return work >= 0.0;
}

// Pseudo-transient continuation (Kelley and Keyes 1998): implicit Euler steps of x' = -R, whose length grows as R falls. It follows the forces: bodies fall until something bears them, and pendulums end
// below. Coordinates and states alone; parameters keep their values, and held coordinates whatever force that takes. True: near a balance of those.
static bool follow_forces(Work* w) {
  const int nrow = w->nrow;
  w->nrow = w->n = w->nplain;
  w->nz = 0;
  double phi = residual(w, &w->at), inverse = largest(w->R, w->n) / FIRST_STEP;
  w->base = w->now == &w->variant[1];
  bool good = isfinite(phi);
  for (int k = 0; k < ITERATIONS && good && remainder_of(w) > GOOD && !sr_stop_requested(w->d);
       ++k, ++w->out->shown.iterations) {
    good = tangent(w);
    if (!good) break;
    take_place(w);
    // Where forces grow along the motion a long step of implicit Euler goes against them: shorter ones do not.
    for (int shorter = 0; shorter <= HALVED && good && !(shorter > 0 && goes_along(w)); ++shorter) {
      if (shorter > 0) inverse *= 4.0;
      good = euler_step(w, inverse);
    }
    if (!good) break;
    memset(w->step + w->n, 0, (size_t)w->np * sizeof *w->step);
    const double longest = largest(w->step, w->nfree);
    double part = longest > LONGEST_FALL ? LONGEST_FALL / longest : 1.0, next = (double)INFINITY;
    for (int halved = 0; halved <= HALVED && !isfinite(next);
         ++halved, part *= 0.5) {  // loops may have no position so far
      move(w, part, w->step, &w->try);
      next = residual(w, &w->try);
    }
    good = isfinite(next);
    if (!good) break;
    accept(w);
    inverse *= fmin(fmax(sqrt(next / fmax(phi, 1e-300)), 0.1), 10.0);
    if (goes_along(w)) inverse *= 0.7;  // the forces still push that way: a long slope takes longer steps
    phi = next;
  }
  good = good && remainder_of(w) <= GOOD;
  w->nrow = nrow;
  return good;
}

// The k-th initial position: the given one, then others farther away.
static void start_at(Work* w, int k) {
  copy_point(w, &w->start, &w->at);
  memset(w->dxi, 0, (size_t)w->m->nv * sizeof *w->dxi);
  for (int i = 0; i < w->nfree; ++i) w->dxi[w->free[i]] = 0.1 * (double)k * sr_scatter((unsigned)(k * w->m->nv + i));
  sr_retract(w->m, w->start.q, w->dxi, w->at.q);
}

// ---- result -----------------------------------------------------------------------------------------------------------------

// Coordinates along which no force changes, and those that grow. The state is that of `at`, evaluated.
static void find_nonsensitive(Work* w) {
  Equilibrium* x = w->out;
  const double fastest = largest(w->at.v, w->m->nv);
  const int nrow = w->nforce + w->ny;
  int* list = sr_pool_alloc(&x->pool, ((size_t)w->m->nv + 1) * sizeof *list);
  unsigned char* is = sr_pool_alloc(&x->pool, (size_t)w->m->nv + 1);
  x->shown.nonsensitive = list;
  if (!tangent(w)) return;
  derivatives(w);
  double most = 0.0;
  for (int i = 0; i < nrow * w->nu; ++i) most = fmax(most, fabs(w->A[i]));
  for (int j = 0; j < w->nfree; ++j) {
    double column = 0.0;
    for (int i = 0; i < nrow; ++i) column = fmax(column, fabs(w->A[i * w->nu + w->column[j]]));
    is[w->free[j]] = column <= SENSITIVE * most;
  }
  const char** names = sr_pool_alloc(&x->pool, ((size_t)w->m->nv + 1) * sizeof *names);
  for (int i = 0; i < w->m->nv; ++i) {
    char name[256];
    if (is[i] == 0 && !(fabs(w->at.v[i]) > MOVES * fastest)) continue;
    names[x->shown.nnonsensitive] = sr_pool_text(&x->pool, sr_coordinate_name(w->m, i, name, sizeof name));
    list[x->shown.nnonsensitive++] = i;
  }
  x->shown.nonsensitive_name = names;
}

static const char* row_name(const Work* w, int i, char* text, size_t size) {
  if (i < w->nfree) return sr_coordinate_name(w->m, w->free[i], text, size);
  if (i < w->nplain) return w->m->y_name[w->state[i - w->nfree]];
  if (i < w->nforce + w->ny) return sr_coordinate_name(w->m, w->free[i - w->ny], text, size);
  (void)snprintf(text, size, "%s", w->options->equation[i - w->nforce - w->ny]);
  return text;
}

static srStatus fail(srMessages* messages, const char* format, ...) SR_PRINTF(2, 3);
static srStatus fail(srMessages* messages, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sr_messages_vadd(messages, SR_SEVERITY_ERROR, (srPlace){0}, format, arguments);
  va_end(arguments);
  return SR_FAILED;
}

// A parameter that nothing depends on at `at`; -1: none.
static int without_influence(Work* w) {
  if (w->np == 0 || !jacobian(w, false)) return -1;
  for (int i = 0; i < w->np; ++i) {
    if (w->scaling[w->nplain + i] == 0.0) return i;
  }
  return -1;
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

static srStatus refuse(Work* w, int starts, srMessages* messages) {
  char name[256];
  int worst = 0;
  start_at(w, 0);
  const int silent_first = without_influence(w);
  start_at(w, 0);
  if (w->in.steady || w->np > 0)
    (void)iterate(w);
  else
    (void)follow_forces(w);  // to where it slides or falls
  if (!isfinite(residual(w, &w->at)) && !w->contradicts)
    return fail(messages,
                "no %s: at this position loops cannot be closed, or forces are not defined; start from "
                "another one by --q",
                w->in.steady ? "steady motion" : "equilibrium");
  if (w->contradicts)
    return fail(messages,
                "the speeds are none of a steady motion: where a coordinate grows no force may depend on its position, "
                "and no constraint may tie it; drive a joint, or give the speed of one that turns freely");
  const int silent = without_influence(w);
  if (silent >= 0 && silent_first >= 0)
    return fail(messages, "the parameter '%s' has no influence on the %s: exchange another one",
                w->in.parameter[silent], w->options->nequation > 0 ? "equations" : "balance of forces");
  if (silent >= 0)  // at the end of what it may be
    return fail(
        messages,
        "no %s was found: the search ends at %s = %.6g, beyond which the model refuses the parameter or nothing "
        "depends on it; give the coordinate another value by --q, or exchange another parameter",
        w->in.steady ? "steady motion" : "equilibrium", w->in.parameter[silent], w->at.p[silent]);
  for (int i = 1; i < w->nrow; ++i) worst = fabs(w->R[i]) > fabs(w->R[worst]) ? i : worst;
  const bool equation = worst >= w->nforce + w->ny, rate = worst >= w->nfree && worst < w->nplain;
  const double left = equation ? w->R[worst] / w->equation_scale : w->R[worst];
  const srStatus status = fail(
      messages, "no %s was found from this position and %d others: %s '%s' stays at %.6g. %s",
      w->in.steady ? "steady motion" : "equilibrium", starts - 1,
      equation ? "the equation"
      : rate   ? "the rate of"
               : "the force on",
      row_name(w, worst, name, sizeof name), left,
      w->in.steady ? "Start nearer by --q and --v, or from a run that has settled (--state), or exchange a joint for a "
                     "parameter that gives it the force"
                   : "Start nearer by --q, hold a coordinate, or check that something bears the weight");
  if (!w->in.steady) tell_contacts(w, messages);
  return status;
}

// A moment later, with the same velocities, the forces must still be in balance: else v is not constant.
static srStatus check_steady(Work* w, srMessages* messages) {
  const srModel* m = w->m;
  char name[256];
  double speed = LATER / LATEST;
  if (!w->in.steady) return SR_OK;
  speed = fmax(speed, largest(w->at.v, m->nv));
  const double h = LATER / speed;
  copy_point(w, &w->at, &w->try);
  for (int i = 0; i < m->nv; ++i) w->dxi[i] = h * w->at.v[i];
  sr_retract(m, w->at.q, w->dxi, w->try.q);
  w->t += h;
  const bool defined = isfinite(residual(w, &w->try));
  w->t -= h;
  int worst = 0;
  for (int i = 1; i < w->nrow; ++i) worst = fabs(w->R[i]) > fabs(w->R[worst]) ? i : worst;
  const bool forces_change = !defined || remainder_of(w) > STEADY;
  for (int i = 0; i < m->nv; ++i) {
    const double change = fabs(w->try.v[i] - w->at.v[i]);
    if (!forces_change && change <= STEADY * fmax(1.0, largest(w->at.v, m->nv))) continue;
    return fail(messages,
                "no steady motion: %.2g s later %s '%s' has changed; velocities must be constant in the coordinates of "
                "the model (of ball and free joints in body axes: give what spins a hinge of its own)",
                h, forces_change ? "the force on" : "the velocity of",
                forces_change ? (defined ? row_name(w, worst, name, sizeof name) : "a coordinate")
                              : sr_coordinate_name(m, i, name, sizeof name));
  }
  return SR_OK;
}

static void put_found(Work* w) {
  Equilibrium* x = w->out;
  double* value = sr_pool_alloc(&x->pool, ((size_t)w->in.nfound + 1) * sizeof *value);
  for (int i = 0; i < w->in.nfound; ++i)
    value[i] = w->in.found_parameter[i] >= 0 ? w->at.p[w->in.found_parameter[i]] : w->at.v[w->in.found_speed[i]];
  x->shown.nexchanged = w->in.nfound;
  x->shown.exchanged = w->in.found;
  x->shown.exchanged_value = value;
  x->shown.steady = w->in.steady;
}

static void put_multipliers(const Work* w, const srModel* m, srData* d) {
  memcpy(d->lambda, w->lambda, (size_t)m->ng * sizeof *w->lambda);
  for (int i = 0; i < m->ndriver && !m->absolute; ++i) d->lambda[m->row_driver + i] = w->force[m->driver[i].dof];
}

// The caller's data at the equilibrium, and the model of the parameters that were found.
static srStatus put_model(Work* w, srData* d) {
  Equilibrium* x = w->out;
  const srModel* m = d->model;
  if (w->parametric == NULL) return SR_OK;
  x->spec = sr_parametric_spec(w->parametric, w->options->spec, w->at.p);
  srMessages* quiet = sr_messages_create();
  const srStatus status = x->spec != NULL && quiet != NULL ? sr_compile(x->spec, quiet, &x->m) : SR_MEMORY;
  sr_messages_destroy(quiet);
  if (status != SR_OK) return status;
  x->d = sr_data_create(x->m);
  if (x->d == NULL) return SR_MEMORY;
  sr_state_pass(w->d, x->d);
  if (sr_evaluate(x->m, x->d, w->t, NULL, NULL, NULL, SR_STAGE_FORCE) != 0) return SR_FAILED;
  put_multipliers(w, x->m, x->d);
  sr_state_pass(w->d, d);
  (void)sr_evaluate(m, d, w->t, NULL, NULL, NULL, SR_STAGE_FORCE);
  put_multipliers(w, m, d);
  return SR_OK;
}

static void put_remainder(Work* w, srMessages* messages) {
  (void)residual(w, &w->at);
  w->out->shown.residual = remainder_here(w);
  if (w->out->shown.residual > DOUBTFUL)
    sr_messages_add(messages, SR_SEVERITY_WARNING, (srPlace){0},
                    "what is left, %.2g of the forces there, is more than rounding: this may not be an equilibrium; "
                    "start nearer by --q",
                    w->out->shown.residual);
}

static srStatus search(Work* w, srData* d, srMessages* messages) {
  const int starts = w->in.steady || w->np > 0 ? FEW_STARTS : MOST_STARTS;
  bool found = false;
  for (int k = 0; k < starts && !found && !w->contradicts && !sr_stop_requested(w->d); ++k) {
    start_at(w, k);
    ++w->out->shown.starts;
    found = iterate(w);
    if (found) break;
    start_at(w, k);
    (void)follow_forces(w);
    found = iterate(w);
  }
  if (!found) return refuse(w, starts, messages);
  const int silent = without_influence(w);
  if (silent >= 0)
    return fail(messages, "the parameter '%s' has no influence where all is in balance: exchange another one",
                w->in.parameter[silent]);
  srStatus status = check_steady(w, messages);
  if (status != SR_OK) return status;
  put_remainder(w, messages);
  find_nonsensitive(w);
  (void)residual(w, &w->at);
  put_multipliers(w, w->m, w->d);
  put_found(w);
  return put_model(w, d);
}

// ---- creation -----------------------------------------------------------------------------------------------------------------

static double* reals(Work* w, size_t n) { return sr_pool_alloc(&w->out->pool, (n + 1) * sizeof(double)); }
static int* ints(Work* w, size_t n) { return sr_pool_alloc(&w->out->pool, (n + 1) * sizeof(int)); }

// Independent coordinates; those of them whose force is to vanish: free ones first, then held ones.
static void list_free(Work* w) {
  const srModel* m = w->m;
  unsigned char* is = sr_pool_alloc(&w->out->pool, (size_t)m->nv + 1);
  const int* dependent = sr_dependent_columns(w->dependent);
  memset(is, 1, (size_t)m->nv);
  for (int i = 0; i < sr_dependent_count(w->dependent); ++i) is[dependent[i]] = 0;  // wheels roll
  for (int i = 0; i < w->in.nheld; ++i) is[w->in.held[i]] = 2;
  w->free = ints(w, (size_t)m->nv), w->column = ints(w, (size_t)m->nv), w->independent = ints(w, (size_t)m->nv);
  for (int held = 0; held < 2; ++held) {
    w->nu = 0;
    for (int i = 0; i < m->nv; ++i) {
      if (is[i] == 0) continue;
      bool moves = (is[i] == 2) == (held == 1) && (w->options->fixed == NULL || w->options->fixed[i] == 0);
      for (int k = 0; k < m->ndriver && !m->absolute; ++k) moves = moves && m->driver[k].dof != i;
      if (moves) {
        w->free[w->nforce] = i;
        w->column[w->nforce++] = w->nu;
      }
      w->independent[w->nu++] = i;
    }
    if (held == 0) w->nfree = w->nforce;
  }
}

static void list_states(Work* w) {
  const srModel* m = w->m;
  w->state = ints(w, (size_t)m->ny);
  for (int i = 0; i < m->ny; ++i) {
    if (i < m->priv->nstate || i >= m->priv->ny_user) w->state[w->ny++] = i;
  }
}

static Point point(Work* w) {
  return (Point){reals(w, (size_t)w->m->nq), reals(w, (size_t)w->m->nv), reals(w, (size_t)w->m->ny),
                 reals(w, (size_t)w->np)};
}

static void allocate(Work* w) {
  const srModel* m = w->m;
  const size_t nv = (size_t)m->nv, all = nv + (size_t)m->ny, nu = (size_t)w->nu, n = (size_t)(w->nplain + w->np) + nu,
               nrow = (size_t)w->nrow, nc = (size_t)(w->in.nspeed + m->ndriver);
  w->at = point(w), w->try = point(w), w->start = point(w), w->side = point(w);
  w->force = reals(w, nv), w->out->shown.force = w->force, w->lambda = reals(w, (size_t)m->ng);
  w->dxi = reals(w, nv);
  w->pivot = ints(w, n);
  w->weight = reals(w, (size_t)w->ny);
  w->R = reals(w, nrow), w->R1 = reals(w, nrow), w->R2 = reals(w, nrow);
  w->step = reals(w, n), w->scaling = reals(w, n), w->J = reals(w, nrow * n), w->JJ = reals(w, n * n);
  w->B = reals(w, nv * nu), w->B0 = reals(w, nv * nu), w->KB = reals(w, all * nu);
  w->Kq = reals(w, all * all), w->Kv = reals(w, all * all), w->raw = reals(w, 2 * all * all);
  w->Y = reals(w, nrow * (size_t)w->ny), w->S = reals(w, (size_t)w->ny * nu), w->S0 = reals(w, (size_t)w->ny * nu);
  w->is_bristle = sr_pool_alloc(&w->out->pool, (size_t)m->ny + 1);
  w->A = reals(w, nrow * nu), w->C = reals(w, nc * nu), w->c = reals(w, nc), w->x = reals(w, nu);
  w->Z0 = reals(w, nu * nu);
  if (w->in.steady) w->steady = sr_steady(&w->out->pool, w->nu, w->nforce + w->ny, (int)nc);
}

static void put_start(Work* w) {
  const srModel* m = w->m;
  const srData* d = w->d;
  double weight = 0.0;
  memcpy(w->start.q, d->q, (size_t)m->nq * sizeof *d->q);
  if (w->in.steady) memcpy(w->start.v, d->v, (size_t)m->nv * sizeof *d->v);
  if (m->ny > 0) memcpy(w->start.y, d->y, (size_t)m->ny * sizeof *d->y);
  for (int i = 1; i <= m->nbody; ++i) weight += m->body_mass[i];
  w->weight_of_bodies = w->scale =
      weight * sqrt(m->gravity[0] * m->gravity[0] + m->gravity[1] * m->gravity[1] + m->gravity[2] * m->gravity[2]);
  w->equation_scale = w->scale > 0.0 ? w->scale : 1.0;
}

// Parameters: the given model is the first variant, without the equations; it is compiled with them.
static srStatus prepare_variants(Work* w, srMessages* messages) {
  w->variant[0] = (Variant){.m = w->m, .d = w->d};
  w->now = &w->variant[0];
  if (w->np + w->options->nequation == 0) return prepare(&w->variant[0]) ? SR_OK : SR_MEMORY;
  const srStatus status = sr_parametric_create(w->options->spec, w->in.parameter, w->np, w->options->equation,
                                               w->options->nequation, messages, &w->parametric);
  if (status != SR_OK) return status;
  w->variant[0].p = reals(w, (size_t)w->np), w->variant[1].p = reals(w, (size_t)w->np);
  sr_parametric_values(w->parametric, w->variant[0].p);
  Variant* v = &w->variant[0];
  const srStatus compiled = sr_parametric_compile(w->parametric, v->p, w->d, &v->own, &v->own_data);
  if (compiled != SR_OK) return compiled;
  v->m = v->own;
  v->d = v->own_data;
  return prepare(v) ? SR_OK : SR_MEMORY;
}

static srStatus choose_dependent(Work* w, srMessages* messages) {
  const srModel* m = w->m;
  int row = -1;
  unsigned char* given = sr_pool_alloc(&w->out->pool, (size_t)m->nv + 1);
  if (w->options->fixed != NULL) memcpy(given, w->options->fixed, (size_t)m->nv);
  for (int i = 0; i < w->in.nheld; ++i) given[w->in.held[i]] = 1;
  w->dependent = sr_dependent_create(m, w->d, given);
  if (w->dependent == NULL) return SR_MEMORY;
  (void)sr_evaluate(m, w->d, w->d->t, NULL, NULL, NULL, SR_STAGE_POSITION);
  sr_driver_motion(m, w->d);
  if (sr_constraints(m, w->d) == 0 && sr_dependent_choose(w->dependent, &row)) return SR_OK;
  sr_messages_add(
      messages, SR_SEVERITY_ERROR, row >= 0 ? m->row[row].place : (srPlace){0},
      "%s relates coordinates that are driven or keep their values: they are not independent of each other here",
      row >= 0 ? m->row[row].name : "an equation");
  return SR_FAILED;
}

static srStatus find(Work* w, srMessages* messages) {
  srData* d = w->d;
  const srModel* m = w->m;
  srStatus status = sr_equilibrium_input(m, w->options, &w->out->pool, messages, &w->in);
  if (status != SR_OK) return status;
  w->np = w->in.np;
  w->t = d->t;
  w->y0 = m->y0;
  w->exact = !w->in.steady && w->options->nequation == 0;
  if (!w->in.steady) memset(d->v, 0, (size_t)m->nv * sizeof *d->v);
  status = choose_dependent(w, messages);
  if (status == SR_OK) status = prepare_variants(w, messages);
  if (status != SR_OK) return status;
  use(w, &w->variant[0]);
  list_free(w);
  list_states(w);
  w->nplain = w->nfree + w->ny;
  w->nrow = w->nforce + w->ny + w->options->nequation;
  allocate(w);
  put_start(w);
  if (w->np > 0) memcpy(w->start.p, w->variant[0].p, (size_t)w->np * sizeof *w->start.p);
  return search(w, d, messages);
}

srStatus sr_equilibrium_create(const srModel* m, srData* d, const srEquilibriumOptions* options, srMessages* messages,
                               srEquilibrium** out) {
  static const srEquilibriumOptions none = {0};
  Equilibrium* x = sr_alloc(sizeof *x);
  *out = NULL;
  if (x == NULL) return SR_MEMORY;
  Work* w = sr_alloc(sizeof *w);
  volatile srStatus status = SR_MEMORY;
  sr_pool_init(&x->pool);
  x->pool.on_fail = &x->out_of_memory;
  if (w != NULL && setjmp(x->out_of_memory) == 0) {
    *w = (Work){.out = x, .m = m, .d = d, .options = options != NULL ? options : &none};
    status = find(w, messages);
  }
  x->pool.on_fail = NULL;
  if (w != NULL) {
    drop(&w->variant[0]);
    drop(&w->variant[1]);
    sr_dependent_destroy(w->dependent);
    sr_parametric_destroy(w->parametric);
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

bool sr_equilibrium_take(srEquilibrium* shown, srSpec** spec, srModel** m, srData** d) {
  Equilibrium* x = (Equilibrium*)(void*)shown;
  if (x->m == NULL) return false;
  *spec = x->spec;
  *m = x->m;
  *d = x->d;
  x->spec = NULL;
  x->m = NULL;
  x->d = NULL;
  return true;
}

void sr_equilibrium_destroy(srEquilibrium* shown) {
  Equilibrium* x = (Equilibrium*)(void*)shown;
  if (x == NULL) return;
  sr_data_destroy(x->d);
  sr_model_destroy(x->m);
  srs_destroy(x->spec);
  sr_pool_free(&x->pool);
  sr_free(x);
}
