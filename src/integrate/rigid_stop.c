// Slip that ends in space. It never changes its sign there: contacts are examined for sticking at a small slip u_c = 0.3 sqrt(error of the position times mu lambda_N a_T), a_T the least mobility of A_TT, all
// with about as little together (the corners of a box stop at the same time); those that cannot stick become cones until their slip is twice that.
#include "integrate/rigid_touch.h"

#include <math.h>
#include <string.h>

#define RESTS_GROUP 1e-7  // of the accelerations: slip acceleration of a contact whose slip is put to 0
#define GROUP 30          // times u_c: slips that may end together ...
#define EDGE 1.5          // ... or do so like both corners of an edge
#define CREEPS 0.1        // times u_c: slip that is not followed as it turns, but as a cone

// The velocity with the slip of contacts that are still, and the normal velocity of all closed ones, put to 0.
static void put_at_rest(srRigid* x, double* v, double* friction) {
  x->npart = 0;
  for (int i = 0; i < x->ntouch; ++i) {
    srTouch* at = &x->touch[i];
    if (!at->closed) continue;
    srRigidPart* part = &x->part[x->npart++];
    sri_touch_part(x, at, part);
    const bool tangents = at->status == SR_RIGID_OPEN ? at->still : at->status == SR_RIGID_STICKS;
    if (!tangents) part->rows = 1;
  }
  sri_rigid_build(x);
  sri_rigid_velocities(x, v, x->right_rows);
  (void)sri_rigid_solve_rows(x, x->right_rows, x->p);
  sri_rigid_add(x, x->p, v);
  sri_rigid_velocities(x, v, x->rhs);
  *friction =
      sri_rigid_work(x, x->p, x->right_rows, x->rhs, false) + sri_rigid_work(x, x->p, x->right_rows, x->rhs, true);
}

// The work of what has put the slip to 0: small, but for what drives the bodies.
static void account(srRigid* x, const double* v, double friction) {
  x->rest_friction += friction;
  x->rest_driver += sri_rigid_kinetic_change(x, v) - friction;
}

// Do contacts whose slip is put to 0 stay there?
static bool rests(srRigid* x, double t, const double* q, const double* v) {
  sri_touch_velocities(x, v);
  if (sri_touch_drifts(x, t, q, v) != 0 || sri_touch_solve_closed(x) != 0) return false;
  const double size = sri_rigid_size(x, x->right_rows);
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    for (int k = 1; k < part->rows; ++k) {
      if (fabs(x->rhs[part->first + k]) > RESTS_GROUP * size) return false;
    }
  }
  return true;
}

// Contact i and those in space whose slip may end with it: all below so many times its u_c, or their own.
static void mark_group(srRigid* x, int i, double times, bool own) {
  for (int k = 0; k < x->ntouch; ++k) {
    srTouch* other = &x->touch[k];
    if (other->before != SR_RIGID_SLIDES || other->planar) continue;
    const double least = x->closed[x->touch[own ? k : i].was].slip_least;
    other->still = k == i || other->slip <= times * least;
  }
}

// Contact i of the touching ones has little slip left: it sticks with others like it, or alone. If not it misses 0 by little, and goes on; or it comes so near that
// its direction is held, until it passes through 0 in it.
void sri_touch_stop(srRigid* x, double t, const double* q, double* v, int i) {
  srTouch* at = &x->touch[i];
  double friction;
  const double examined = x->closed[at->was].slip_least * (at->missed ? SR_RIGID_NEAR : 1);
  if (!at->straight && at->slip > 2 * examined) return;  // it has turned by a right angle
  if (at->straight) {
    mark_group(x, i, SR_RIGID_NEAR, true);
    memcpy(x->v_new, v, (size_t)x->inner.nv * sizeof *v);
    put_at_rest(x, v, &friction);
    account(x, v, friction);
    sri_touch_velocities(x, v);
    return;
  }
  if (at->missed) {
    at->straight = true;
    for (int k = 0; k < 2; ++k) at->line[k] = at->s[k] / at->slip;
    return;
  }
  memcpy(x->v_new, v, (size_t)x->inner.nv * sizeof *v);
  for (int group = 0; group < 3; ++group) {  // the corner of an edge alone would turn its body
    mark_group(x, i, group == 0 ? GROUP : group == 1 ? EDGE : 0, group > 0);
    put_at_rest(x, v, &friction);
    if (rests(x, t, q, v)) {
      account(x, v, friction);
      return;
    }
    memcpy(v, x->v_new, (size_t)x->inner.nv * sizeof *v);
    sri_touch_velocities(x, v);
  }
  mark_group(x, i, CREEPS, true);
  at->still = at->slip <= CREEPS * x->closed[at->was].slip_least;
  at->missed = !at->still;
  at->t_missed = t;
}
