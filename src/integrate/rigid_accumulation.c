// The end of an accumulation of impacts: a contact that separates, but would return from less than a least height, is closed by an impulse along the direction of its
// force (n - mu s/|s|, so that friction runs backwards with the pulling impulse). The impulse of all impacts that are left out equals this one and the
// sustained force over their time, exactly for constant accelerations.
#include "integrate/rigid_touch.h"

#include <math.h>
#include <string.h>

#define JAMS 4  // times the impulse along the normals that closes contacts: one along their forces that is too large

static double normal_acceleration(srRigid* x, const srTouch* at, const srUnilateral* c) {
  return sri_contact_row_times(c, 0, x->a) + at->drift[0];
}

// Would the contact return from less than the least height, and when would its impacts have ended?
static bool hops_low(srRigid* x, const srTouch* at, double t, double* end) {
  if (at->closed || !(at->normal > x->o.speed)) return false;
  const double a = normal_acceleration(x, at, sri_touch_contact(x, at)), hop = at->normal * at->normal / (2 * fabs(a));
  const double left = 2 * at->normal / (fabs(a) * fmax(1 - at->restitution, 1e-3));
  *end = at->restitution > 0 ? t + left : t;
  return a < 0 && hop < x->o.hop;
}

// Impulses that put the velocities of the parts to 0.
static void find_closing(srRigid* x, const double* v, bool along_forces) {
  sri_touch_build_closed(x);
  for (int i = 0; i < x->npart && !along_forces; ++i) x->part[i].force_s[0] = x->part[i].force_s[1] = 0;
  if (!along_forces) sri_rigid_build(x);
  sri_rigid_velocities(x, v, x->right_rows);
  (void)sri_rigid_solve_rows(x, x->right_rows, x->p);
}

// Contacts that jam (n K f/n K n near 0 or below it) would ask for any impulse along their forces: they are closed along their normals, which costs energy.
static void close_velocities(srRigid* x, double* v, double* normal, double* friction, double* driver) {
  double along = 0, largest = 0, largest_normal = 0;
  *normal = *friction = 0;
  find_closing(x, v, false);
  memcpy(x->lambda_kept, x->p, (size_t)x->nrow * sizeof *x->p);
  find_closing(x, v, true);
  for (int i = 0; i < x->npart; ++i) {
    const int r = x->part[i].first;
    along += x->p[r] * x->lambda_kept[r];
    largest = fmax(largest, fabs(x->p[r]));
    largest_normal = fmax(largest_normal, fabs(x->lambda_kept[r]));
  }
  if (!(along >= 0) || largest > JAMS * largest_normal) find_closing(x, v, false);
  memcpy(x->v_new, v, (size_t)x->inner.nv * sizeof *v);
  sri_rigid_add(x, x->p, v);
  sri_rigid_velocities(x, v, x->rhs);
  *normal = sri_rigid_work(x, x->p, x->right_rows, x->rhs, true);
  *friction = sri_rigid_work(x, x->p, x->right_rows, x->rhs, false);
  for (int i = 0; i < x->npart; ++i) {
    const srRigidPart* part = &x->part[i];
    double before[2], after[2];
    if (part->rows > 1) continue;
    (void)sri_rigid_slip(part->c, x->v_new, before);
    (void)sri_rigid_slip(part->c, v, after);
    for (int k = 0; k < 2; ++k) *friction += 0.5 * x->p[part->first] * part->force_s[k] * (before[k] + after[k]);
  }
  *driver = sri_rigid_kinetic_change(x, v) - *normal - *friction;
}

// Closes contacts that would not hop high. Accelerations are those of the closed ones.
bool sri_touch_close_hops(srRigid* x, double t, double* v) {
  double normal, friction, driver;
  bool any = false, first = true;
  for (int i = 0; i < x->ntouch; ++i) {
    srTouch* at = &x->touch[i];
    at->hops = hops_low(x, at, t, &at->end);
    any = any || at->hops;
  }
  if (!any) return false;
  for (int i = 0; i < x->ntouch; ++i) x->touch[i].closed = x->touch[i].closed || x->touch[i].hops;
  close_velocities(x, v, &normal, &friction, &driver);
  for (int i = 0; i < x->ntouch; ++i) {
    const srTouch* at = &x->touch[i];
    if (!at->hops) continue;
    sri_rigid_tell(x, &(srRigidEvent){.kind = SR_RIGID_ACCUMULATION,
                                      .t = at->end,
                                      .t_closed = t,
                                      .id = at->id,
                                      .speed = at->normal,
                                      .normal = first ? normal : 0,
                                      .friction = first ? friction : 0,
                                      .driver = first ? driver : 0});
    first = false;
  }
  return true;
}
