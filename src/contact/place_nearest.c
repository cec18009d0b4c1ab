// Two convex shapes that touch at one point: gap, normal and nearest points by their distance (collide/distance.h).
//   c = (point_a + point_b)/2, between the nearest points: symmetric in a and b;   r = c - x
//   gap' = n.(u + w x r),  exactly, since the nearest points lie on the line c + s n
//   n' = (dn/dtheta) w + (dn/dx) u
// In the derivatives n' changes with w and u alone: its change with the pose needs the derivatives of curvatures, and moves bristles by
// a fraction |e|/size of what their slip does.
#include "collide/collision.h"
#include "contact/place.h"
#include "math/pose.h"

static void find(const srImpedanceIn* in, srNearest* out) {
  const srSurfaceLaws* c = in->data;
  double pose[16];
  sr_contact_pose(in, pose);
  sr_shape_distance(&c->shape[0]->convex, &c->shape[1]->convex, pose, NULL, SR_DISTANCE_SURE, out);
}

static double rate(const srImpedanceIn* in, const srContactPlace* at) {
  double v[3];
  srm_cross3(in->xdot, at->r, v);
  return srm_dot3(at->n, v) + srm_dot3(at->n, in->xdot + 3);
}

// Columns of a row of a derivative times the twist.
static double along(const double row[6], const double* twist) {
  return srm_dot3(row, twist) + srm_dot3(row + 3, twist + 3);
}

static void put_points(const srImpedanceIn* in, const srNearest* near, srContactPlace* out) {
  for (int i = 0; i < 3; i++) {
    out->n[i] = near->n[i];
    out->r[i] = 0.5 * (near->point_a[i] + near->point_b[i]) - in->x[3 + i];
  }
}

static int place(const srImpedanceIn* in, srContactPlace* out) {
  const srSurfaceLaws* c = in->data;
  srNearest near;
  srNormalOut normal;
  double pose[16];
  sr_contact_pose(in, pose);
  if (sr_place_far(in, pose, out)) return 0;
  *out = (srContactPlace){0};
  find(in, &near);
  put_points(in, &near, out);
  const int answer = sr_normal_force(c, -near.gap, -rate(in, out), in->z, &normal);
  out->N = out->N_spin = normal.f;
  out->dissipation = normal.dissipation;
  for (int i = 0; i < 3; i++) out->force[i] = normal.f * out->n[i];
  srm_cross3(out->r, out->force, out->moment);
  sr_place_motion(in, out);
  if (c->slip.ne == 0) return answer;  // nothing turns with the normal
  srNearestDerivative by;
  sr_nearest_derivative(&near, &by);
  for (int i = 0; i < 3; i++) out->turning[i] = along(by.n[i], in->xdot);
  return answer;
}

static void change_along(const srImpedanceIn* in, const srNearestDerivative* of, const srContactPlace* at,
                         const double by[2], int j, srContactChange* d) {
  double one[3], two[3], twist[6] = {0};
  if (j >= 6) twist[j - 6] = 1;
  for (int i = 0; i < 3 && j < 6; i++) {
    d->n[i] = of->n[i][j];
    d->r[i] = 0.5 * (of->point_a[i][j] + of->point_b[i][j]) - (j == 3 + i);
  }
  for (int i = 0; i < 3 && j >= 6; i++) d->turning[i] = along(of->n[i], twist);
  // d(gap') = dn.(u + w x r) + n.(du + dw x r + w x dr)
  srm_cross3(in->xdot, at->r, one);
  for (int i = 0; i < 3; i++) one[i] += in->xdot[3 + i];
  double drate = srm_dot3(d->n, one);
  srm_cross3(in->xdot, d->r, one);
  srm_cross3(twist, at->r, two);
  for (int i = 0; i < 3; i++) drate += at->n[i] * (one[i] + two[i] + twist[3 + i]);
  d->N = d->N_spin = -by[0] * (j < 6 ? of->gap[j] : 0) - by[1] * drate;
  for (int i = 0; i < 3; i++) d->force[i] = d->N * at->n[i] + at->N * d->n[i];
  srm_cross3(d->r, at->force, one);
  srm_cross3(at->r, d->force, d->moment);
  for (int i = 0; i < 3; i++) d->moment[i] += one[i];
  sr_change_motion(in, at, j, d);
}

static int change(const srImpedanceIn* in, const srContactPlace* at, srContactChange out[12]) {
  const srSurfaceLaws* c = in->data;
  srNearest near;
  srNearestDerivative of;
  double by[2];
  find(in, &near);
  sr_nearest_derivative(&near, &of);
  const int answer = sr_normal_force_jacobian(c, -near.gap, -rate(in, at), in->z, by);
  for (int j = 0; j < 12; j++) {
    out[j] = (srContactChange){0};
    change_along(in, &of, at, by, j, &out[j]);
  }
  return answer;
}

static double energy(const srImpedanceIn* in) {
  srNearest near;
  find(in, &near);
  return sr_normal_force_energy(in->data, -near.gap, in->z);
}

const srContactGeometry sr_place_nearest = {place, change, energy};
