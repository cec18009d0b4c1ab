// Clamps: friction under given normal forces (dry friction of joints), in the machinery of closed contacts.
//   sticks    W_T v = 0, |lambda_T| <= mu_static N          slides    lambda_T = -mu N s/|s|, in f
// In contact problems a clamp has a row for its normal that no velocity enters, w (p_N - N) = 0: then p_N = N, and the cone of its slip is the interval
// |p_T| <= mu N. In problems of velocities the same row has the right-hand side 0: a finite force has no impulse. w is the mobility of its slip, so that
// the rows of a clamp have one scale.
//
// Where other equations hold the slip or drive it, its mobility is rounding. HELD of that without equations takes its place: at an event friction then opposes
// the prescribed acceleration. Where that is 0 too, the joint is held at rest with a force that nothing determines: it has 0 and no equation, until it moves.
#include <math.h>
#include <string.h>

#include "integrate/rigid.h"

#define HELD 1e-10

// Slip over force if there were no equations, or somewhat less: |w|^4/(w M w).
static double mobility_alone(srRigid* x, const srUnilateral* c) {
  const srmSaddleShape square = {.nv = x->inner.nv, .ng = x->inner.nv, .G = x->shape.M};
  const double* w = c->W + c->n;
  double length = 0;
  memset(x->dq, 0, (size_t)x->inner.nv * sizeof *x->dq);
  sri_contact_row_add(c, 1, 1, x->dq);
  srm_rows_times(&square, x->M, x->dq, x->a);
  for (int i = 0; i < c->n; ++i) length += w[i] * w[i];
  const double sum = sri_contact_row_times(c, 1, x->a);
  return sum > 0 ? length * length / sum : 1;
}

// Of a part with its slip among the rows.
static double* slip_entry(const srRigid* x, const srRigidPart* part) {
  return &x->A[(part->first + 1) * (x->nrow + 1)];
}

void sri_rigid_clamp_rows(srRigid* x) {
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    if (part->c->clamp == 0) continue;
    double mobility = mobility_alone(x, part->c);
    if (part->rows > 1) mobility = *slip_entry(x, part) = fmax(*slip_entry(x, part), HELD * mobility);
    x->A[part->first * (x->nrow + 1)] = mobility;
  }
}

bool sri_rigid_is_held(const srRigid* x, const srRigidPart* part) {
  if (part->c->clamp == 0 || part->rows == 1) return false;
  const size_t nv = (size_t)x->inner.nv, r = (size_t)part->first + 1;
  double own = 0;
  for (size_t i = 0; i < nv; ++i) own += x->W[r * nv + i] * x->X[r * nv + i];
  return own < *slip_entry(x, part);
}

int sri_rigid_clamp_forces(srRigid* x, double t, const double* q, const double* v, double* f) {
  bool slides = false;
  for (int k = x->ncontact; k < x->nclosed; ++k) slides = slides || x->closed[k].status == SR_RIGID_SLIDES;
  const int answer = slides ? sri_rigid_list_rates(x, t, q, v, true) : 0;
  for (int k = x->ncontact; k < x->nclosed && slides && answer == 0; ++k) {
    const srUnilateral* c = sri_rigid_contact(x, k);
    double r[2];
    sri_rigid_friction(x, k, c, v, r);
    sri_contact_row_add(c, 1, c->clamp * r[0], f);
  }
  return answer;
}
