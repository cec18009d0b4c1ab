// What all kinds of contact geometry share: pose of the port, slip, rolling and spinning at the point of contact.
//   slip  s = P (u + w x r + b),   rolling  P w,   spinning  n.w,   P = 1 - n n^T
//   b = R b_b - b_a: velocity of the surfaces in their bodies (conveyors), R the rotation of b
#include "contact/place.h"

#include <math.h>

#include "collide/collision.h"
#include "math/pose.h"

const srContactGeometry* sr_contact_geometry(const srSurfaceLaws* c) {
  if (c->pair->place) return &sr_place_pair;
  if (c->patch && c->patch->line) return &sr_place_line;
  if (c->patch) return c->patch->round ? &sr_place_round : &sr_place_patch;
  return c->shape[0]->surface || c->shape[0]->smooth ? &sr_place_points : &sr_place_nearest;
}

// R = exp[theta]
void sr_contact_pose(const srImpedanceIn* in, double pose[16]) {
  const double* theta = in->x;
  const double angle = srm_norm3(theta), s = angle > 0 ? sin(0.5 * angle) / angle : 0.5;
  const double q[4] = {cos(0.5 * angle), s * theta[0], s * theta[1], s * theta[2]};
  srm_pose_identity(pose);
  srm_pose_from_quaternion(q, pose);
  for (int i = 0; i < 3; i++) pose[12 + i] = in->x[3 + i];
}

bool sr_place_far(const srImpedanceIn* in, const double pose[16], srContactPlace* out) {
  const srSurfaceLaws* c = in->data;
  if (!sr_shapes_are_far(c->shape[0], c->shape[1], pose)) return false;
  const bool plane = c->shape[0]->convex.kind == SR_KIND_PLANE;
  const double distance = srm_norm3(pose + 12);
  *out = (srContactPlace){0};
  for (int i = 0; i < 3; i++) out->n[i] = plane ? i == 2 : pose[12 + i] / distance;
  sr_place_motion(in, out);
  return true;
}

void sr_flat(const double* n, const double* a, double* out) {
  const double along = srm_dot3(n, a);
  for (int i = 0; i < 3; i++) out[i] = a[i] - along * n[i];
}

void sr_flat_change(const double* n, const double* dn, const double* a, const double* da, double* out) {
  const double along = srm_dot3(n, a), turn = srm_dot3(dn, a);
  sr_flat(n, da, out);
  for (int i = 0; i < 3; i++) out[i] -= dn[i] * along + n[i] * turn;
}

// R b_b, and R b_b - b_a. Outside of evaluations there are no laws of the time: nothing moves.
static void belts(const srImpedanceIn* in, double of_b[3], double sum[3]) {
  const srSurfaceLaws* c = in->data;
  for (int i = 0; i < 3; i++) of_b[i] = sum[i] = 0;
  if (in->formula == NULL) return;
  if (c->shape[1]->belt >= 0) {
    double pose[16];
    sr_contact_pose(in, pose);
    srm_pose_rotate(pose, in->formula + c->shape[1]->belt, of_b);
  }
  for (int i = 0; i < 3; i++) sum[i] = of_b[i] - (c->shape[0]->belt >= 0 ? in->formula[c->shape[0]->belt + i] : 0);
}

void sr_place_motion(const srImpedanceIn* in, srContactPlace* at) {
  const double *w = in->xdot, *u = in->xdot + 3;
  double v[3], of_b[3], belt[3];
  belts(in, of_b, belt);
  srm_cross3(w, at->r, v);
  for (int i = 0; i < 3; i++) v[i] += u[i] + belt[i];
  sr_flat(at->n, belt, at->belt);
  sr_flat(at->n, v, at->slip);
  sr_flat(at->n, w, at->turn);
  at->spin = srm_dot3(at->n, w);
}

void sr_change_motion(const srImpedanceIn* in, const srContactPlace* at, int j, srContactChange* d) {
  const double *w = in->xdot, *u = in->xdot + 3;
  double dw[3] = {0}, dtheta[3] = {0}, v[3], dv[3], by[3], of_b[3], belt[3], dbelt[3];
  if (j >= 6 && j < 9) dw[j - 6] = 1;
  if (j < 3) dtheta[j] = 1;
  belts(in, of_b, belt);
  srm_cross3(dtheta, of_b, dbelt);
  srm_cross3(w, at->r, v);
  srm_cross3(w, d->r, dv);
  srm_cross3(dw, at->r, by);
  for (int i = 0; i < 3; i++) {
    v[i] += u[i] + belt[i];
    dv[i] += by[i] + dbelt[i] + (j == 9 + i);
  }
  sr_flat_change(at->n, d->n, v, dv, d->slip);
  sr_flat_change(at->n, d->n, w, dw, d->turn);
  d->spin = srm_dot3(at->n, dw) + srm_dot3(d->n, w);
}
