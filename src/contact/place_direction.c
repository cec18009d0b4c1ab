// Friction that depends on the direction: an ellipse of forces, fixed to one of the two shapes.
//   (f_1/mu2)^2 + (f_2/mu_k)^2 <= N^2       f_1 along the direction t, f_2 across it, both in the tangent plane
// The force that dissipates most at the slip velocity s is f = N mu_k A A s/|A s|, with A = 1 + (r - 1) t t^T, r = mu2/mu_k (Goyal, Ruina and
// Papadopoulos 1991). So any law for all directions serves at the slip A s, and its force times A acts:
//   f = A law(A s, e)       f.s = law(A s, e).(A s)
// What the law is, holds or dissipates, it is, holds and dissipates here. Bristles e are deflections times A: their stiffness along t is r^2 K.
//
// The shape's direction d, projected: p = P d, turned by an angle about the outward normal o of the shape: m = cos p + sin o x p, t = m/|m|. Where d is
// the normal, t does not exist; within FADE of it the ellipse becomes a circle: A = 1 + (r - 1) k k^T, k = m/max(|m|, FADE).
#include <math.h>

#include "collide/collision.h"
#include "contact/place.h"
#include "math/pose.h"
#include "math/vector3.h"

#define FADE 0.01  // sine of an angle to the normal

srFrictionDirection sr_friction_direction(const srCollisionShape* shape, int directed, const double pose[16]) {
  srFrictionDirection out = {.side = directed == 0 ? 1 : -1, .turn = shape->turn};
  srm_set3(out.d, shape->direction);
  if (directed == 1) srm_pose_rotate(pose, shape->direction, out.d);
  return out;
}

static srFrictionDirection direction_of(const srImpedanceIn* in) {
  const srSurfaceLaws* c = in->data;
  double pose[16];
  if (c->directed == 1) sr_contact_pose(in, pose);
  return sr_friction_direction(c->shape[c->directed], c->directed, pose);
}

double sr_direction_at(const srFrictionDirection* x, const double* n, double m[3]) {
  double p[3], across[3];
  sr_flat(n, x->d, p);
  srm_cross3(n, p, across);
  for (int i = 0; i < 3; i++) m[i] = x->turn[0] * p[i] + x->side * x->turn[1] * across[i];
  return fmax(srm_norm3(m), FADE);
}

void sr_direction_change(const srFrictionDirection* x, const double* n, const double* dn, const double* dd,
                         double dm[3]) {
  double p[3], dp[3], one[3], two[3];
  sr_flat(n, x->d, p);
  sr_flat_change(n, dn, x->d, dd, dp);
  srm_cross3(dn, p, one);
  srm_cross3(n, dp, two);
  for (int i = 0; i < 3; i++) dm[i] = x->turn[0] * dp[i] + x->side * x->turn[1] * (one[i] + two[i]);
}

void sr_place_direction(const srImpedanceIn* in, srContactPlace* at) {
  const srSurfaceLaws* c = in->data;
  at->excess = at->along[0] = at->along[1] = at->along[2] = 0;
  if (c->directed < 0) return;
  const srFrictionDirection x = direction_of(in);
  double m[3];
  const double length = sr_direction_at(&x, at->n, m);
  at->excess = c->along[c->directed] - 1;
  for (int i = 0; i < 3; i++) at->along[i] = m[i] / length;
}

// dk = (dm - k (k.dm))/|m|; within FADE dm/FADE.
void sr_change_direction(const srImpedanceIn* in, const srContactPlace* at, srContactChange change[12]) {
  const srSurfaceLaws* c = in->data;
  if (c->directed < 0) return;
  const srFrictionDirection x = direction_of(in);
  double m[3];
  const double length = sr_direction_at(&x, at->n, m);
  for (int j = 0; j < 12; j++) {
    srContactChange* out = &change[j];
    double dtheta[3] = {0}, dd[3] = {0}, dm[3];
    if (j < 3) dtheta[j] = 1;
    if (c->directed == 1) srm_cross3(dtheta, x.d, dd);
    sr_direction_change(&x, at->n, out->n, dd, dm);
    const double along = length > FADE ? srm_dot3(at->along, dm) : 0;
    for (int i = 0; i < 3; i++) out->along[i] = (dm[i] - along * at->along[i]) / length;
  }
}

void sr_stretch(const srContactPlace* at, const double* x, double* out) {
  const double along = at->excess * srm_dot3(at->along, x);
  for (int i = 0; i < 3; i++) out[i] = x[i] + along * at->along[i];
}

// d(A x) = A dx + (r - 1) (dk (k.x) + k (dk.x))
void sr_stretch_change(const srContactPlace* at, const srContactChange* d, const double* x, const double* dx,
                       double* out) {
  const double along = at->excess * srm_dot3(at->along, x), change = at->excess * srm_dot3(d->along, x);
  sr_stretch(at, dx, out);
  for (int i = 0; i < 3; i++) out[i] += along * d->along[i] + change * at->along[i];
}
