// Rigid contacts in results: every contact near the state of a row, with the forces that the method has found.
//   by events        multipliers of the closed contacts at the state of the row (sri_rigid_generalized)
//   time-stepping    impulses of the last step over its length; before the first step there are none
// Powers are those at the state of the row: on the bodies lambda.W v, and -lambda.u becomes heat, u = W v + b the relative velocity of the surfaces.
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "contact/found.h"
#include "dynamics/link.h"
#include "math/pose.h"
#include "math/vector3.h"
#include "model/closure.h"
#include "simulate/run.h"
#include "system/system.h"

#define INSIDE 1e-6  // of the limit of friction: an impulse so far inside its cone sticks

typedef struct srRowContacts {
  srModelSystem system;  // as that of the run, but always with rows
  srUnilateral* list;
  int most;
  srFoundContacts found;
} srRowContacts;

bool sr_run_make_contacts(srRun* run) {
  if (run->recording == NULL || run->recording->stage <= SR_STAGE_VELOCITY) return true;
  srRowContacts* x = sr_alloc(sizeof *x);
  run->row_contacts = x;
  if (x == NULL) return false;
  x->system = run->system;
  x->system.points = false;
  x->system.asleep = NULL;  // results have them all
  const srSystem system = sr_system(&x->system);
  x->most = 2 * system.ncontact;  // those of the list, and those of the method that are not in it
  x->list = sri_contacts_create(&system);
  x->found.contact = sr_alloc((size_t)x->most * sizeof *x->found.contact + 1);
  return x->list != NULL && x->found.contact != NULL;
}

void sr_run_release_contacts(srRun* run) {
  srRowContacts* x = run->row_contacts;
  run->d->found = NULL;
  run->row_contacts = NULL;
  if (x == NULL) return;
  sri_contacts_destroy(x->list);
  sr_free(x->found.contact);
  sr_free(x);
}

// ---- directions ---------------------------------------------------------------------------------------------------------

// Tangents in the axes of a, times their factors; divided by them where `slip`: what a row says of the slip along them, 0 where it says nothing.
static void put_tangents(const srUnilateral* c, bool slip, double t[2][3]) {
  double triad[3][3];
  sr_closure_triad(c->axis, triad);
  srm_set3(t[0], triad[0]);
  srm_set3(t[1], triad[1]);
  if (c->across[0] == 0 && c->across[1] == 0 && c->across[2] == 0) return;
  srm_set3(t[0], c->across);
  srm_cross3(c->axis, c->across, t[1]);
  srm_scale3(!slip ? c->factor : c->factor > 0 ? 1 / c->factor : 0, t[1], t[1]);
}

// Normal and both tangents in ground axes; of a gap by formula the slip is [0] of the first tangent.
static void put_directions(const srModel* m, const srData* d, const srUnilateral* c, const srFoundContact* of,
                           bool slip, double out[3][3]) {
  double t[2][3], pose[16];
  memset(out, 0, 9 * sizeof(double));
  if (c->axis[0] == 0 && c->axis[1] == 0 && c->axis[2] == 0) {
    out[1][0] = 1;
  } else if (c->n == 0) {  // by its point
    srm_set3(out[0], c->axis);
    srm_frame3(c->axis, out[1], out[2]);
  } else {
    put_tangents(c, slip, t);
    sr_point_frame(m, d, of->element >= 0 ? m->force[of->element].point[0] : m->collider[of->a].point, pose);
    srm_pose_rotate(pose, c->axis, out[0]);
    for (int k = 0; k < 2; ++k) srm_pose_rotate(pose, t[k], out[1 + k]);
  }
}

static srFoundContact* append(srRun* run, const srUnilateral* c) {
  srFoundContacts* found = &run->row_contacts->found;
  double direction[3][3];
  int a;
  SR_ASSERT(found->count < run->row_contacts->most);
  srFoundContact* to = &found->contact[found->count++];
  *to = (srFoundContact){.id = c->id, .element = -1, .gap = c->gap};
  sr_contact_sides(run->m, c->id, &to->set, &a, &to->b);
  if (to->set < 0) {
    to->element = a;
  } else {
    to->a = a;
  }
  put_directions(run->m, run->d, c, to, false, direction);
  srm_set3(to->n, direction[0]);
  return to;
}

// ---- forces -------------------------------------------------------------------------------------------------------------

// The contact with this id among the first `count` of the list; the method has them in about the same order. -1: it is not listed.
static int find(const srFoundContacts* found, int count, long id, int* next) {
  for (int i = 0; i < count; ++i) {
    const int k = (*next + i) % count;
    if (found->contact[k].id != id) continue;
    *next = k + 1;
    return k;
  }
  return -1;
}

// at: where the velocities are known; NULL: nowhere, and so are the powers.
static void put_force(srRun* run, const srUnilateral* c, const srUnilateral* at, const double force[3],
                      srContactState state, srFoundContact* to) {
  double direction[3][3], own[3][3], slip[3] = {0}, belt[3] = {0};
  put_directions(run->m, run->d, c, to, false, direction);
  to->normal = force[0];
  to->state = state;
  for (int k = 0; k < 2; ++k) srm_add_scaled3(to->friction, force[1 + k], direction[1 + k], to->friction);
  to->power = to->dissipation = NAN;
  if (at == NULL) return;
  put_directions(run->m, run->d, at, to, true, own);
  for (int k = 0; k < 2; ++k) {
    srm_add_scaled3(slip, sri_contact_velocity(at, 1 + k, run->v), own[1 + k], slip);
    srm_add_scaled3(belt, at->b[1 + k], own[1 + k], belt);
  }
  const double heat = force[0] * sri_contact_velocity(at, 0, run->v) + srm_dot3(to->friction, slip);
  to->dissipation = -heat;
  to->power = heat - force[0] * at->b[0] - srm_dot3(to->friction, belt);
}

static void take_force(srRun* run, int listed, int* next, const srUnilateral* c, const double force[3],
                       srContactState state) {
  srRowContacts* x = run->row_contacts;
  const int k = find(&x->found, listed, c->id, next);
  srFoundContact* to = k >= 0 ? &x->found.contact[k] : append(run, c);
  put_force(run, c, k >= 0 ? &x->list[k] : c->n > 0 ? c : NULL, force, state, to);
}

static void take_multipliers(srRun* run, int listed) {
  double force[3];
  bool sticks;
  int next = 0;
  const srUnilateral* c;
  for (int k = 0; (c = sri_rigid_found(run->rigid, k, force, &sticks)) != NULL; ++k)
    take_force(run, listed, &next, c, force, sticks && c->mu_static > 0 ? SR_CONTACT_STICKS : SR_CONTACT_SLIDES);
}

static void take_impulses(srRun* run, int listed) {
  const srIntegrator* x = run->integrator;
  const double h = sri_time(x) - sri_time_before(x);
  const srUnilateral* c;
  int next = 0;
  for (int i = 0; h > 0 && (c = sri_contact_of_step(x, i)) != NULL; ++i) {
    const double* p = sri_impulse_of(x, c->id);
    if (p == NULL || c->clamp > 0 || !(p[0] > 0)) continue;
    const double force[3] = {p[0] / h, p[1] / h, p[2] / h};
    const bool sticks = hypot(p[1], p[2]) < (1 - INSIDE) * c->mu * p[0];
    take_force(run, listed, &next, c, force, sticks ? SR_CONTACT_STICKS : SR_CONTACT_SLIDES);
  }
}

// Of contacts that sleep: they are not in the problem of the step. Impulses of points are along the normal in world axes and its tangents.
static void take_sleeping(srRun* run, int listed) {
  const srIntegrator* x = run->integrator;
  const double h = sri_time(x) - sri_time_before(x);
  for (int i = 0; h > 0 && i < listed && sri_impulses(x)->asleep > 0; ++i) {
    const srUnilateral* at = &run->row_contacts->list[i];
    srFoundContact* to = &run->row_contacts->found.contact[i];
    const double* p = to->normal == 0 ? sri_impulse_of(x, at->id) : NULL;
    if (p == NULL || !(p[0] > 0)) continue;
    const double force[3] = {p[0] / h, p[1] / h, p[2] / h};
    const bool sticks = hypot(p[1], p[2]) < (1 - INSIDE) * at->mu * p[0];
    srUnilateral c = *at;
    if (run->other != NULL ? run->other->system.points : run->system.points) {
      double direction[3][3];
      put_directions(run->m, run->d, at, to, false, direction);
      srm_set3(c.axis, direction[0]);
      c.n = 0;
    }
    put_force(run, &c, at, force, sticks ? SR_CONTACT_STICKS : SR_CONTACT_SLIDES, to);
  }
}

void sr_run_find_contacts(srRun* run, double t) {
  srRowContacts* x = run->row_contacts;
  int listed = 0;
  run->d->found = NULL;
  x->found.count = 0;
  if (sr_contacts(&x->system, t, run->q, x->list, &listed) != 0) return;
  for (int i = 0; i < listed; ++i) append(run, &x->list[i]);
  if (run->rigid != NULL) {
    take_multipliers(run, listed);
  } else {
    take_impulses(run, listed);
    take_sleeping(run, listed);
  }
  run->d->found = &x->found;
}
