// Forces of closed contacts, by their statuses:
//   sticks    a_N = 0, a_T = 0                       slides    a_N = 0, lambda_T = -mu s/|s| lambda_N
//   cone      0 <= lambda_N _|_ a_N >= 0, friction opposite to a_T: the cone problem, with the contacts that stick as cones too
// Friction at rest. The forces of contacts that stick are not unique where their equations are dependent (three stuck feet: 9 equations, 6 degrees of freedom), and one
// cone that is left by the forces of equal compliance is no event: some others may be inside of all cones. Then the cone problem decides, which returns
// slip accelerations where none are (limit analysis). It also opens contacts, with forces of 0 instead of the negative ones of equations: their accelerations
// along the normal state it.
#include <math.h>
#include <string.h>

#include "integrate/rigid.h"

#define MET                                                                                                            \
  1e-8  // of the accelerations: residual of equations that contradict each other (driven legs on feet that stick)
#define INSIDE 1e-9  // of the limit: excess of friction that does not count

// The part of closed contact k in the linear problem of its status.
static void linear_part(srRigid* x, int k, const double* v, srRigidPart* out) {
  const srClosed* at = &x->closed[k];
  const srUnilateral* c = sri_rigid_contact(x, k);
  *out = (srRigidPart){.c = c, .rows = 1, .mu = at->mu};
  if (at->status == SR_RIGID_STICKS && !at->held) {
    out->rows = at->planar ? 2 : 3;
    memcpy(out->along, at->along, sizeof out->along);
    return;
  }
  sri_rigid_friction(x, k, c, v, out->force_s);
}

void sri_rigid_cone_part(srRigid* x, int k, const double* v, srRigidPart* out) {
  const srClosed* at = &x->closed[k];
  linear_part(x, k, v, out);
  if (at->status == SR_RIGID_STICKS) out->mu = at->mu_static;
  if (at->status != SR_RIGID_CONE) return;
  out->rows = at->planar ? 2 : 3;
  memcpy(out->along, at->along, sizeof out->along);
}

static int build(srRigid* x, double t, const double* q, const double* v, bool cones) {
  for (int k = 0; k < x->nclosed; ++k) {
    if (cones) {
      sri_rigid_cone_part(x, k, v, &x->part[k]);
    } else {
      linear_part(x, k, v, &x->part[k]);
    }
    if (x->part[k].rows == 1) x->part[k].mu = 0;
  }
  x->npart = x->nclosed;
  const int answer = sri_rigid_drift(x, t, q, v);
  if (answer == 0) sri_rigid_build(x);
  return answer;
}

void sri_rigid_part_force(const srRigid* x, const srRigidPart* part, double out[3]) {
  const double* p = x->p + part->first;
  out[0] = p[0];
  for (int i = 0; i < 2; ++i) {
    out[1 + i] = part->rows == 1 ? p[0] * part->force_s[i] : part->rows == 2 ? p[1] * part->along[i] : p[1 + i];
  }
}

static void put_forces(const srRigid* x, double* lambda) {
  for (int k = 0; k < x->npart; ++k) sri_rigid_part_force(x, &x->part[k], lambda + 3 * k);
}

static void put_accelerations(srRigid* x) {
  memcpy(x->a, x->free, (size_t)x->inner.nv * sizeof *x->a);
  sri_rigid_add(x, x->p, x->a);
}

static bool any(const srRigid* x, srRigidStatus status) {
  for (int k = 0; k < x->nclosed; ++k) {
    if (x->closed[k].status == status) return true;
  }
  return false;
}

static bool is_inside(const srRigid* x, const double* lambda) {
  for (int k = 0; k < x->nclosed; ++k) {
    const srClosed* at = &x->closed[k];
    const double* of = lambda + 3 * k;
    if (at->status == SR_RIGID_STICKS && hypot(of[1], of[2]) > (1 + INSIDE) * at->mu_static * of[0]) return false;
  }
  return true;
}

static bool are_coupled(const srRigid* x, const srRigidPart* a, const srRigidPart* b) {
  for (int i = 0; i < a->rows; ++i) {
    for (int k = 0; k < b->rows; ++k) {
      if (x->A[(a->first + i) * x->nrow + b->first + k] != 0) return true;
    }
  }
  return false;
}

// Slip accelerations of the contacts that stick, relative to the largest acceleration: each has the largest of those that it is coupled with, since
// contacts of one body begin to slip together.
static void put_slips(srRigid* x, double* slips) {
  const double size = sri_rigid_size(x, x->right_rows);
  sri_rigid_accelerations(x, x->a, x->rhs);
  for (int k = 0; k < x->nclosed; ++k) {
    const srRigidPart* part = &x->part[k];
    slips[k] = 0;
    for (int i = 1; i < part->rows && x->closed[k].status == SR_RIGID_STICKS; ++i) {
      slips[k] = fmax(slips[k], fabs(x->rhs[part->first + i]) / size - 10 * x->softness);
    }
  }
  for (bool more = true; more;) {
    more = false;
    for (int k = 0; k < x->nclosed; ++k) {
      for (int i = 0; i < x->nclosed; ++i) {
        if (!(slips[i] > slips[k]) || !are_coupled(x, &x->part[k], &x->part[i])) continue;
        slips[k] = slips[i];
        more = true;
      }
    }
  }
}

// Normal accelerations of the contacts that the cone problem opens, relative to the largest acceleration; beyond what it resolves.
static void put_partings(srRigid* x, double residual) {
  const double size = sri_rigid_size(x, x->right_rows), least = 10 * fmax(residual, x->softness);
  sri_rigid_accelerations(x, x->a, x->rhs);
  for (int k = 0; k < x->ncontact; ++k) {
    const int r = x->part[k].first;
    x->partings[k] = x->p[r] > 0 ? 0 : fmax(0, x->rhs[r] / size - least);
  }
}

static int cone_forces(srRigid* x, double t, const double* q, const double* v, double* lambda) {
  double residual;
  int answer = build(x, t, q, v, true);
  if (answer != 0) return answer;
  for (int k = 0; k < x->npart; ++k) {  // start: what is known of the forces
    const srRigidPart* part = &x->part[k];
    const double* of = x->closed[k].force;
    x->p[part->first] = of[0];
    for (int i = 1; i < part->rows; ++i)
      x->p[part->first + i] = part->rows == 2 ? part->along[0] * of[1] + part->along[1] * of[2] : of[i];
  }
  sri_rigid_right(x);
  if (!sri_rigid_follow(x, x->right_rows, &residual) && residual > SR_RIGID_UNSOLVED) return 1;
  put_accelerations(x);
  put_forces(x, lambda);
  put_partings(x, residual);
  for (int k = 0; k < x->nclosed; ++k) memcpy(x->closed[k].force, lambda + 3 * k, sizeof x->closed[k].force);
  return 0;
}

int sri_rigid_forces(srRigid* x, double t, const double* q, const double* v, const double* y, double* lambda,
                     double* slips) {
  int answer = sri_rigid_list_rates(x, t, q, v, true);
  x->freed = false;
  for (int k = 0; k < x->nclosed && slips != NULL; ++k) slips[k] = 0;
  for (int k = 0; k < x->nclosed; ++k) x->partings[k] = 0;
  if (answer == 0) answer = sri_rigid_free(x, t, q, v, y);
  if (answer != 0) return answer;
  if (any(x, SR_RIGID_CONE)) {
    memset(lambda, 0, 3 * (size_t)x->nclosed * sizeof *lambda);
    return cone_forces(x, t, q, v, lambda);
  }
  answer = build(x, t, q, v, false);
  if (answer != 0) return answer;
  sri_rigid_right(x);
  const bool regular = sri_rigid_solve_rows(x, x->right_rows, x->p);
  put_accelerations(x);
  put_forces(x, lambda);
  const bool met = sri_rigid_rows_residual(x, x->right_rows, x->p) <= MET * sri_rigid_size(x, x->right_rows);
  x->contradicts = !regular && !met;
  if (regular || (met && is_inside(x, lambda))) return 0;
  memcpy(x->lambda_kept, lambda, 3 * (size_t)x->nclosed * sizeof *lambda);
  answer = cone_forces(x, t, q, v, x->lambda_kept);
  if (answer < 0) return answer;
  if (answer == 0) {
    memcpy(lambda, x->lambda_kept, 3 * (size_t)x->nclosed * sizeof *lambda);
    if (slips != NULL) put_slips(x, slips);
  } else {  // undecided: an event, which has to decide
    for (int k = 0; k < x->nclosed && slips != NULL; ++k) slips[k] = x->closed[k].status == SR_RIGID_STICKS;
  }
  return 0;
}

int sri_rigid_generalized(srRigid* x, double t, const double* q, const double* v, const double* y, double* out) {
  memset(out, 0, (size_t)x->inner.nv * sizeof *out);
  if (x->nclosed == 0) return 0;
  const int answer = sri_rigid_forces(x, t, q, v, y, x->lambda, NULL);
  for (int k = 0; k < x->nclosed && answer == 0; ++k) {
    for (int i = 0; i < 3; ++i) sri_contact_row_add(sri_rigid_contact(x, k), i, x->lambda[3 * k + i], out);
  }
  return answer;
}

bool sri_rigid_force_found(const srRigid* x, long id, double force[3]) {
  for (int k = 0; k < x->nclosed; ++k) {
    if (x->closed[k].id != id) continue;
    memcpy(force, x->lambda + 3 * k, 3 * sizeof *force);
    return true;
  }
  return false;
}

const srUnilateral* sri_rigid_found(srRigid* x, int k, double force[3], bool* sticks) {
  if (k < 0 || k >= x->ncontact) return NULL;
  memcpy(force, x->lambda + 3 * k, 3 * sizeof *force);
  *sticks = x->closed[k].status == SR_RIGID_STICKS;
  return sri_rigid_contact(x, k);
}

bool sri_rigid_force(srRigid* x, double t, const double* q, const double* v, const double* y, long id,
                     double force[3]) {
  bool found = false;
  for (int k = 0; k < x->nclosed; ++k) found = found || x->closed[k].id == id;
  if (!found || sri_rigid_forces(x, t, q, v, y, x->lambda, NULL) != 0) return false;
  for (int k = 0; k < x->nclosed; ++k) {
    if (x->closed[k].id == id) memcpy(force, x->lambda + 3 * k, 3 * sizeof *force);
  }
  return true;
}
