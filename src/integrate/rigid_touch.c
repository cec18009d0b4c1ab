// Contacts that touch at an event: closed ones, and those within the tolerance of the gap; their velocities, and all of them as parts of a contact problem.
#include "integrate/rigid_touch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PLANAR 1e-9  // of the larger mobility along the tangents: the smaller one of a planar contact

int sri_rigid_fail(srRigid* x, const char* sentence) {
  (void)snprintf(x->error_message, sizeof x->error_message, "%s", sentence);
  return -1;
}

void sri_rigid_tell(srRigid* x, const srRigidEvent* event) {
  if (x->o.told != NULL) x->o.told(x->o.user, event);
}

static int closed_place(const srRigid* x, long id) {
  for (int k = 0; k < x->nclosed; ++k) {
    if (x->closed[k].id == id) return k;
  }
  return -1;
}

int sri_touch_collect(srRigid* x, double t) {
  const int most = x->most - x->inner.nclamp;
  x->ntouch = x->nstrike = 0;
  for (int k = 0; k < x->nclosed; ++k) {
    if (x->closed[k].at < 0)
      sri_rigid_tell(x, &(srRigidEvent){.kind = SR_RIGID_FEATURE, .t = t, .id = x->closed[k].id});
  }
  for (int i = 0; i < x->count; ++i) {
    const srUnilateral* c = &x->list[i];
    const int was = closed_place(x, c->id);
    if (was < 0 && !(c->gap <= x->o.gap)) continue;
    if (c->clamp == 0 && x->ntouch == most) {
      (void)snprintf(x->error_message, sizeof x->error_message,
                     "more than %d contacts touch at one time: take contact timestepping", most);
      return -1;
    }
    x->nstrike += c->clamp == 0;
    const double rest = fmax(c->mu, c->mu_static);
    x->touch[x->ntouch++] = (srTouch){.id = c->id,
                                      .was = was,
                                      .before = was >= 0 ? x->closed[was].status : SR_RIGID_OPEN,
                                      .status = SR_RIGID_OPEN,
                                      .mu = c->mu,
                                      .mu_static = rest,
                                      .restitution = c->restitution,
                                      .clamp = c->clamp,
                                      .work = c->work,
                                      .planar = c->clamp > 0,
                                      .along = {1, 0},
                                      .closed = was >= 0};
    if (was < 0 || x->closed[was].status != SR_RIGID_SLIDES) continue;
    srTouch* at = &x->touch[x->ntouch - 1];
    at->missed = x->closed[was].missed;
    at->straight = x->closed[was].straight;
    at->t_missed = x->closed[was].t_missed;
    memcpy(at->line, x->closed[was].along, sizeof at->line);
  }
  return 0;
}

const srUnilateral* sri_touch_contact(srRigid* x, const srTouch* at) {
  for (int i = 0; i < x->count; ++i) {
    if (x->list[i].id == at->id) return &x->list[i];
  }
  return at->was >= 0 ? sri_rigid_contact(x, at->was) : NULL;
}

static void put_velocity(srTouch* at, const srUnilateral* c, const double* v) {
  at->normal = sri_contact_velocity(c, 0, v);
  at->slip = sri_rigid_slip(c, v, at->s);
}

void sri_touch_velocities(srRigid* x, const double* v) {
  for (int i = 0; i < x->ntouch; ++i) put_velocity(&x->touch[i], sri_touch_contact(x, &x->touch[i]), v);
}

// Of the mobility A_TT: is the contact planar, and along which direction?
static void classify(const srRigid* x, srTouch* at, const srRigidPart* part) {
  const int n = x->nrow, i = part->first + 1;
  const double a = x->A[i * n + i], b = x->A[(i + 1) * n + i + 1], c = x->A[i * n + i + 1];
  const double middle = 0.5 * (a + b), radius = hypot(0.5 * (a - b), c);
  at->mobility = fmax(middle - radius, 0);
  const double angle = 0.5 * atan2(2 * c, a - b);
  at->along[0] = cos(angle);
  at->along[1] = sin(angle);
  const double across = fabs(at->along[0] * at->s[1] - at->along[1] * at->s[0]);
  at->planar = middle - radius <= PLANAR * (middle + radius) && across <= x->o.speed;
  if (!(middle > 0)) at->mu = at->mu_static = 0;  // it has no tangent
}

// All touching contacts as cones; x->part in their order. Clamps are no part of impacts: their forces are finite.
void sri_touch_part(srRigid* x, srTouch* at, srRigidPart* out) {
  *out = (srRigidPart){.c = sri_touch_contact(x, at),
                       .rows = at->mu > 0 || at->mu_static > 0 ? 3 : 1,
                       .mu = at->mu,
                       .restitution = at->restitution};
  if (out->rows == 3 && at->planar) out->rows = 2;
  memcpy(out->along, at->along, sizeof out->along);
  if (out->rows == 1) out->mu = 0;
}

void sri_touch_build(srRigid* x) {
  bool planar = false;
  for (int i = 0; i < x->nstrike; ++i) {
    x->touch[i].planar = false;
    sri_touch_part(x, &x->touch[i], &x->part[i]);
  }
  x->npart = x->nstrike;
  sri_rigid_build(x);
  for (int i = 0; i < x->nstrike; ++i) {
    if (x->part[i].rows == 3) classify(x, &x->touch[i], &x->part[i]);
    planar = planar || x->touch[i].planar || (x->part[i].rows == 3 && x->touch[i].mu_static == 0);
  }
  for (int i = 0; i < x->nstrike && planar; ++i) sri_touch_part(x, &x->touch[i], &x->part[i]);
  if (planar) sri_rigid_build(x);
}
