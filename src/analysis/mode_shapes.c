// A mode as a motion, for animation: positions and velocities over one period, about the state where the equations were linearized.
//
//   xi = A Re(z exp(i phase)),   v = A Re(i omega z exp(i phase)),   phase = omega t
//
// z: shape over the joint coordinates, the largest entry 1; omega = |im|, or 2 pi/s where nothing oscillates: damped modes are shown undamped. Independent coordinates have these
// displacements; the others follow by Newton's method, so that loops are closed at any amplitude:
//   G_d dq_d = -g        d: dependent coordinates; least motion where G_d is not regular
#include <math.h>
#include <string.h>

#include "analysis/linear_basis.h"
#include "analysis/modes.h"
#include "analysis/numbers.h"
#include "constraint/constraint.h"
#include "force/force.h"

#define ROUNDS 30
#define CLOSED 1e-12  // m or rad

double sr_mode_period(const srMode* mode) { return mode->im != 0 ? 2 * acos(-1.0) / fabs(mode->im) : 1; }

static double part(srModeEntry z, double phase) { return z.modulus * cos(z.phase + phase); }

typedef struct Work {
  const srLinear* l;
  srData* d;
  srPool pool;
  jmp_buf out_of_memory;
} Work;

static double* reals(Work* w, size_t n) { return sr_pool_alloc(&w->pool, (n + 1) * sizeof(double)); }

// Largest residual of the position equations at d's position.
static bool residual(Work* w, double* most) {
  const srModel* m = w->l->m;
  (void)sr_evaluate(m, w->d, w->d->t, NULL, NULL, NULL, SR_STAGE_POSITION);
  sr_driver_motion(m, w->d);
  if (sr_constraints(m, w->d) != 0) return false;
  *most = 0;
  for (int i = 0; i < m->np; i++) *most = fmax(*most, fabs(w->d->g[i]));
  return isfinite(*most);
}

// The least motion of dependent coordinates, once.
static void correct(Work* w, double* xi) {
  const srModel* m = w->l->m;
  const size_t nv = (size_t)m->nv;
  double *G = reals(w, (size_t)m->ng * nv), *right = reals(w, (size_t)m->ng), *work = reals(w, nv);
  srRowBasis basis = sr_row_basis(&w->pool, m->nv);
  sr_constraint_matrix(m, w->d, G);
  for (int i = 0; i < m->np; i++) {
    right[i] = -w->d->g[i];
    for (int k = 0; k < w->l->npos; k++) G[(size_t)i * nv + (size_t)w->l->position[k]] = 0;
  }
  sr_row_basis_add(&basis, G, m->np, 0, m->np);
  sr_row_basis_solve(&basis, right, work, xi);
}

static bool close_loops(Work* w) {
  const srModel* m = w->l->m;
  double most = 0, *xi = reals(w, (size_t)m->nv), *q = reals(w, (size_t)m->nq);
  if (m->np == 0) return true;
  for (int round = 0; round < ROUNDS; round++) {
    if (!residual(w, &most)) return false;
    if (most <= CLOSED) return true;
    correct(w, xi);
    sr_retract(m, w->d->q, xi, q);
    memcpy(w->d->q, q, (size_t)m->nq * sizeof *q);
  }
  return false;
}

static srStatus put_state(Work* w, const srMode* mode, const srData* at, double amplitude, double phase) {
  const srModel* m = w->l->m;
  const double omega = 2 * acos(-1.0) / sr_mode_period(mode), quarter = acos(-1.0) / 2;
  if (setjmp(w->out_of_memory) != 0) return SR_MEMORY;
  w->pool.on_fail = &w->out_of_memory;
  double* xi = reals(w, (size_t)m->nv);
  for (int i = 0; i < m->nv; i++) xi[i] = amplitude * part(mode->shape[i], phase);
  sr_retract(m, at->q, xi, w->d->q);
  for (int i = 0; i < m->nv; i++) w->d->v[i] = at->v[i] + amplitude * omega * part(mode->shape[i], phase + quarter);
  for (int i = 0; i < w->l->nstate; i++)
    w->d->y[w->l->state[i]] = at->y[w->l->state[i]] + amplitude * part(mode->state[i], phase);
  w->d->stage = SR_STAGE_NONE;
  return close_loops(w) ? SR_OK : SR_FAILED;
}

srStatus sr_mode_state(const srLinear* linear, const srMode* mode, const srData* at, double amplitude, double phase,
                       srMessages* messages, srData* d) {
  Work w = {.l = linear, .d = d};
  if (linear->m->formulation != SR_FORMULATION_RELATIVE) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "a mode is a motion of joint coordinates: take the formulation relative for its shapes");
    return SR_INPUT;
  }
  sr_data_copy(linear->m, at, d);
  sr_pool_init(&w.pool);
  const srStatus status = put_state(&w, mode, at, amplitude, phase);
  w.pool.on_fail = NULL;
  sr_pool_free(&w.pool);
  if (status == SR_MEMORY) sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory");
  if (status == SR_FAILED)
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "the loops cannot be closed with the mode at %g Hz at an amplitude of %g: take a smaller one",
                    mode->frequency, amplitude);
  return status;
}
