// The configuration manifold: q' = H(q) v, q (+) dxi and its inverse.
//
// Plain coordinates add. A ball link moves by n' = 1/2 n o (0, w), with n the normalised quaternion and w in link axes;
// a free link also by position' = R(n) v. retract follows constant velocities dxi for one unit of time exactly:
//   n exp(w/2),   position + R(n) V(w) v,   V(w) = 1 + B [w] + C [w]^2,  B = (1 - cos a)/a^2,  C = (a - sin a)/a^3, a = |w|
// The velocity of a free link is in its own axes. drift keeps it constant in the axes at the start instead, so that its path is straight:
//   n exp(h w/2),   position + h R(n) v,   v in the new axes: R(exp(h w/2))^T v
// Hairer, Lubich, Wanner (2006), section VII.5 (rigid body); Barfoot (2017), section 7.1 (V and its inverse).
#include <float.h>
#include <math.h>
#include <string.h>

#include "dynamics/link.h"

SRM_INLINE void quaternion_unit(const double* q, double n[4]) {
  const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int i = 0; i < 4; i++) n[i] = length > 0 ? q[i] / length : (i == 0);
}

SRM_INLINE void quaternion_product(const double a[4], const double b[4], double out[4]) {
  const double w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  const double x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  const double y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  const double z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
  memcpy(out, (const double[4]){w, x, y, z}, sizeof(double[4]));
}

// R(n) x, of length 1: x + 2 n_0 n_v x x + 2 n_v x (n_v x x)
SRM_INLINE v4 quaternion_turn(const double n[4], v4 x) {
  const v4 u = v4_xyz(n + 1), t = 2 * v4_cross(u, x);
  return x + n[0] * t + v4_cross(u, t);
}

// V(w) u, or V(w)^-1 u.
static v4 slide(v4 w, v4 u, _Bool inverse) {
  const double a2 = v4_dot(w, w), a = sqrt(a2);
  double B = 0.5 - a2 / 24, C = 1.0 / 6 - a2 / 120;  // series: the closed forms cancel
  if (a > 1e-2) {
    B = 2 * pow(sin(a / 2) / a, 2);
    C = (a - sin(a)) / (a2 * a);
  } else {
    B += a2 * a2 / 720;
    C += a2 * a2 / 5040;
  }
  if (inverse) {  // 1 - [w]/2 + C' [w]^2
    C = a > 1e-2 ? (1 - a / 2 / tan(a / 2)) / a2 : 1.0 / 12 + a2 / 720 + a2 * a2 / 30240;
    B = -0.5;
  }
  const v4 wu = v4_cross(w, u);
  return u + B * wu + C * v4_cross(w, wu);
}

SRM_INLINE void quaternion_exp(const double w[3], double out[4]) {  // exp(w/2)
  const double a2 = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / 4;
  double s, c;
  if (a2 < 0.01) {  // series: what follows is less than 2e-18 and 2e-21
    s = 1.0 / 2 - a2 * (1.0 / 12 - a2 * (1.0 / 240 - a2 * (1.0 / 10080 - a2 * (1.0 / 725760))));
    c = 1 - a2 * (1.0 / 2 - a2 * (1.0 / 24 - a2 * (1.0 / 720 - a2 * (1.0 / 40320 - a2 * (1.0 / 3628800)))));
  } else {
    const double a = sqrt(a2);
    s = sin(a) / a / 2;
    c = cos(a);
  }
  out[0] = c;
  for (int i = 0; i < 3; i++) out[1 + i] = s * w[i];
}

// n exp(w/2)
static void quaternion_add(const double n[4], const double w[3], double out[4]) {
  double step[4];
  quaternion_exp(w, step);
  quaternion_product(n, step, out);
}

// w with n1 exp(w/2) = +-n2, along the shorter path.
static void quaternion_difference(const double n1[4], const double n2[4], double w[3]) {
  const double back[4] = {n1[0], -n1[1], -n1[2], -n1[3]};
  double d[4];
  quaternion_product(back, n2, d);
  const double s = sqrt(d[1] * d[1] + d[2] * d[2] + d[3] * d[3]), c = fabs(d[0]);
  const double scale = copysign(s > 0 ? 2 * atan2(s, c) / s : 2, d[0]);
  for (int i = 0; i < 3; i++) w[i] = scale * d[1 + i];
}

SRM_CLONES void sr_qdot(const srModel* m, const double* q, const double* v, double* qdot) {
  for (int i = 1; i < m->nlink; i++) {
    const int type = m->link_type[i];
    const double *qi = q + m->link_q[i], *vi = v + m->link_v[i];
    double *out = qdot + m->link_q[i], n[4];
    if (type != SR_LINK_BALL && type != SR_LINK_FREE) {
      out[0] = vi[0];
      continue;
    }
    const int quaternion = type == SR_LINK_FREE ? 3 : 0;
    quaternion_unit(qi + quaternion, n);
    quaternion_product(n, (const double[4]){0, vi[0] / 2, vi[1] / 2, vi[2] / 2}, out + quaternion);
    if (type == SR_LINK_FREE) v4_put3(out, quaternion_turn(n, v4_xyz(vi + 3)));
  }
}

void sr_retract(const srModel* m, const double* q, const double* dxi, double* q_out) {
  for (int i = 1; i < m->nlink; i++) {
    const int type = m->link_type[i];
    const double *qi = q + m->link_q[i], *x = dxi + m->link_v[i];
    double *out = q_out + m->link_q[i], n[4];
    if (type != SR_LINK_BALL && type != SR_LINK_FREE) {
      out[0] = qi[0] + x[0];
      continue;
    }
    const int quaternion = type == SR_LINK_FREE ? 3 : 0;
    quaternion_unit(qi + quaternion, n);
    quaternion_add(n, x, out + quaternion);
    if (type == SR_LINK_FREE) v4_put3(out, v4_xyz(qi) + quaternion_turn(n, slide(v4_xyz(x), v4_xyz(x + 3), 0)));
  }
}

void sr_axes_rate(const srModel* m, const double* v, double* out) {
  memset(out, 0, (size_t)m->nv * sizeof *out);
  for (int i = 1; i < m->nlink; i++) {
    const double* vi = v + m->link_v[i];
    if (m->link_type[i] == SR_LINK_FREE) v4_put3(out + m->link_v[i] + 3, v4_cross(v4_xyz(vi + 3), v4_xyz(vi)));
  }
}

void sr_drift(const srModel* m, const double* q, double h, const double* move, double* v, double* q_out) {
  sr_drift_links(m, 1, m->nlink, q, h, move, v, q_out);
}

SRM_INLINE void drift_link(int type, const double* q, double h, const double* x, double* v, double* out) {
  double n[4], step[4];
  if (type != SR_LINK_BALL && type != SR_LINK_FREE) {
    out[0] = q[0] + h * x[0];
    return;
  }
  const int quaternion = type == SR_LINK_FREE ? 3 : 0;
  const double w[3] = {h * x[0], h * x[1], h * x[2]};
  quaternion_unit(q + quaternion, n);
  quaternion_exp(w, step);
  quaternion_product(n, step, out + quaternion);
  if (type != SR_LINK_FREE) return;
  v4_put3(out, v4_xyz(q) + h * quaternion_turn(n, v4_xyz(x + 3)));
  const double back[4] = {step[0], -step[1], -step[2], -step[3]};
  v4_put3(v + 3, quaternion_turn(back, v4_xyz(v + 3)));
}

// quaternion_turn of four quaternions side by side.
SRM_INLINE void turn_four(const v4 n[4], const v4 x[3], v4 out[3]) {
  v4 t[3], swing[3];
  v4_crosses(n + 1, x, t);
  for (int k = 0; k < 3; k++) t[k] = 2 * t[k];
  v4_crosses(n + 1, t, swing);
  for (int k = 0; k < 3; k++) out[k] = x[k] + n[0] * t[k] + swing[k];
}

SRM_INLINE void unit_four(const v4 q[4], v4 n[4]) {
  const v4 square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  const v4 length = {sqrt(square[0]), sqrt(square[1]), sqrt(square[2]), sqrt(square[3])};
  const v4u some = (v4u)(length > v4_zero());
  for (int k = 0; k < 4; k++) n[k] = (v4)(((v4u)(q[k] / length) & some) | ((v4u)v4_all(k == 0) & ~some));
}

SRM_INLINE void exp_four(const v4 w[3], v4 out[4]) {
  const v4 a2 = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / 4;
  const v4 s = 1.0 / 2 - a2 * (1.0 / 12 - a2 * (1.0 / 240 - a2 * (1.0 / 10080 - a2 * (1.0 / 725760))));
  out[0] = 1 - a2 * (1.0 / 2 - a2 * (1.0 / 24 - a2 * (1.0 / 720 - a2 * (1.0 / 40320 - a2 * (1.0 / 3628800)))));
  for (int k = 0; k < 3; k++) out[1 + k] = s * w[k];
  for (int i = 0; i < 4; i++) {
    if (a2[i] < 0.01) continue;
    double own[4];
    quaternion_exp((const double[3]){w[0][i], w[1][i], w[2][i]}, own);
    for (int k = 0; k < 4; k++) out[k][i] = own[k];
  }
}

// Four free links side by side, with the bits of one by one.
SRM_INLINE void drift_four(const srModel* m, int first, const double* q, double h, const double* move, double* v,
                           double* q_out) {
  const double *place[4], *turn[4], *wx[4], *rest[4], *own[4];
  v4 at[4], quaternion[4], x[4], more[4], velocity[4], n[4], step[4], product[4], moved[4], back[4], row[4];
  for (int k = 0; k < 4; k++) {
    place[k] = q + m->link_q[first + k];
    turn[k] = place[k] + 3;
    wx[k] = move + m->link_v[first + k];
    rest[k] = wx[k] + 2;
    own[k] = v + m->link_v[first + k] + 2;
  }
  v4_columns_at(place, at);
  v4_columns_at(turn, quaternion);
  v4_columns_at(wx, x);
  v4_columns_at(rest, more);
  v4_columns_at(own, velocity);
  for (int k = 0; k < 3; k++) x[k] = h * x[k];
  unit_four(quaternion, n);
  exp_four(x, step);
  product[0] = n[0] * step[0] - n[1] * step[1] - n[2] * step[2] - n[3] * step[3];
  product[1] = n[0] * step[1] + n[1] * step[0] + n[2] * step[3] - n[3] * step[2];
  product[2] = n[0] * step[2] - n[1] * step[3] + n[2] * step[0] + n[3] * step[1];
  product[3] = n[0] * step[3] + n[1] * step[2] - n[2] * step[1] + n[3] * step[0];
  turn_four(n, more + 1, moved);
  for (int k = 0; k < 3; k++) moved[k] = at[k] + h * moved[k];
  moved[3] = product[0];
  v4_columns(moved, row);
  for (int k = 0; k < 4; k++) *(v4_any*)(q_out + m->link_q[first + k]) = row[k];
  v4_columns(product, row);
  for (int k = 0; k < 4; k++) *(v4_any*)(q_out + m->link_q[first + k] + 3) = row[k];
  back[0] = step[0];
  for (int k = 1; k < 4; k++) back[k] = -step[k];
  turn_four(back, velocity + 1, velocity + 1);
  v4_columns(velocity, row);
  for (int k = 0; k < 4; k++) *(v4_any*)(v + m->link_v[first + k] + 2) = row[k];
}

SRM_INLINE bool are_free(const int* type) {
  return type[0] == SR_LINK_FREE && type[1] == SR_LINK_FREE && type[2] == SR_LINK_FREE && type[3] == SR_LINK_FREE;
}

SRM_CLONES void sr_drift_links(const srModel* m, int first, int end, const double* q, double h, const double* move,
                               double* v, double* q_out) {
  for (int i = first; i < end;) {
    if (i + 4 <= end && are_free(m->link_type + i)) {
      drift_four(m, i, q, h, move, v, q_out);
      i += 4;
      continue;
    }
    drift_link(m->link_type[i], q + m->link_q[i], h, move + m->link_v[i], v + m->link_v[i], q_out + m->link_q[i]);
    i++;
  }
}

void sr_difference(const srModel* m, const double* q1, const double* q2, double* dxi) {
  for (int i = 1; i < m->nlink; i++) {
    const int type = m->link_type[i];
    const double *a = q1 + m->link_q[i], *b = q2 + m->link_q[i];
    double *out = dxi + m->link_v[i], n1[4], n2[4];
    if (type != SR_LINK_BALL && type != SR_LINK_FREE) {
      out[0] = b[0] - a[0];
      continue;
    }
    const int quaternion = type == SR_LINK_FREE ? 3 : 0;
    quaternion_unit(a + quaternion, n1);
    quaternion_unit(b + quaternion, n2);
    quaternion_difference(n1, n2, out);
    if (type == SR_LINK_FREE) {
      const double back[4] = {n1[0], -n1[1], -n1[2], -n1[3]};
      v4_put3(out + 3, slide(v4_xyz(out), quaternion_turn(back, v4_xyz(b) - v4_xyz(a)), 1));
    }
  }
}

// A quaternion of length 1 to rounding is unchanged, so that a state can be resumed bit by bit.
static void make_unit(double q[4]) {
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (!(fabs(square - 1) <= 8 * DBL_EPSILON)) quaternion_unit(q, q);
}

void sr_normalize(const srModel* m, double* q) { sr_normalize_links(m, 1, m->nlink, q); }

void sr_normalize_links(const srModel* m, int first, int end, double* q) {
  for (int i = first; i < end; i++) {
    const int type = m->link_type[i];
    double* qi = q + m->link_q[i];
    if (type == SR_LINK_BALL) make_unit(qi);
    if (type == SR_LINK_FREE) make_unit(qi + 3);
  }
}
