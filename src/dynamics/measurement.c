// Joint-coordinate measurement: the coordinates of a joint, measured between two free bodies (absolute formulation).
//
// The joint's frame on the parent, P fixed in its axes, observes the body's frame at (R, d), moving with w and u = d', R' = [w] R.
// With the body's velocities (w_b, v_b) in its axes, the parent's (w_a, v_a) in the parent's, rho from the parent's origin to the body's:
//
//   w = R w_b - P^T w_a,   u = R v_b - P^T (v_a + w_a x rho)
//   and where the components of all velocities are constant      w' = w x R w_b,   u' = w x R v_b - P^T w_a x u
//
//   angle       s = e0.(R e1), c = e2.(R e3), phi = atan2(s, c)      s' = w.(R e1 x e0), s'' = w'.(R e1 x e0) + e0.(w x (w x R e1))
//               phi' = (c s' - s c') / r^2,  phi'' = (c s'' - s c'') / r^2 - 2 phi' (s s' + c c') / r^2,  r^2 = s^2 + c^2
//               revolute, helical, cylindrical, planar: e0 = y, e1 = e2 = e3 = x, perpendicular to the axis z
//               universal: the first angle rotates the second axis n2 about n1: e0 = y1, e2 = x1, e1 = e3 = n2; the second one rotates
//               n1, observed from the body, back about n2: e0 = -n1, e1 = y2, e2 = n1, e3 = x2
//   slide       e0.d
//   rotation    unit quaternion of R;  rate R^T w, with the derivative R^T w'
//   origin      d;  rate R^T u, with the derivative R^T (u' - w x u)
//
// These hold off the constraints too, where a penalty spring deflects: the rates are the exact derivatives.
//
// Turns: an angle over many turns is not a function of the pose. z holds the angle and its rate at the last accepted step; phi is
// the value nearest to their prediction for the present time, so a step may turn the joint by any amount as long as its mean
// rate changes by less than half a turn over the step. The sign of a quaternion is the one nearest to z's.
#include "dynamics/measurement.h"

#include <math.h>
#include <sarrus/dynamics.h>
#include <string.h>

#include "math/pose.h"
#include "math/spatial.h"

static const double turn = 6.28318530717958647692;

typedef struct Pair {
  int link;   // of the parent
  m3 P, R;    // as above
  v4 d, rho;  // in the joint's axes; in the parent's
  v4 w, u;    // twist
  v4 wd, ud;  // of constant velocities
} Pair;

SRM_INLINE Pair pair_of(const srModel* m, const srData* d, int body) {
  const int point = m->joint_point[m->body_joint[body]];
  const int link = m->point_link[point];
  const srmPose a = srm_pose_load(d->link_pose + 16 * link), b = srm_pose_load(d->link_pose + 16 * m->body_link[body]);
  const srmPose at = srm_pose_load(m->point_pose + 16 * point), frame = srm_pose_product(a, at);
  const m3 back = m3_transpose(frame.R);
  return (Pair){.link = link,
                .P = at.R,
                .R = m3_product(back, b.R),
                .d = m3_mul(back, b.p - frame.p),
                .rho = m3_mul(m3_transpose(a.R), b.p - a.p)};
}

SRM_INLINE void add_motion(const srModel* m, const srData* d, int body, Pair* x) {
  const srmTwist a = srm_twist_load(d->link_twist + 8 * x->link);
  const srmTwist b = srm_twist_load(d->link_twist + 8 * m->body_link[body]);
  const m3 back = m3_transpose(x->P);
  const v4 wa = m3_mul(back, a.w), wb = m3_mul(x->R, b.w), vb = m3_mul(x->R, b.v);
  x->w = wb - wa;
  x->u = vb - m3_mul(back, a.v + v4_cross(a.w, x->rho));
  x->wd = v4_cross(x->w, wb);
  x->ud = v4_cross(x->w, vb) - v4_cross(wa, x->u);
}

// A row over the angular velocity w as one over the velocities of the parent and of the body; and one over u.
SRM_INLINE void put_turn_row(const Pair* x, v4 over_w, double* J) {
  const v4 zero = v4_zero(), moment = x->link == 0 ? zero : -m3_mul(x->P, over_w);
  *(v4_any*)(J + 8) = zero;
  *(v4_any*)(J + 6) = m3_mul(m3_transpose(x->R), over_w);
  *(v4_any*)(J + 2) = zero;
  *(v4_any*)J = moment;
}

SRM_INLINE void put_slide_row(const Pair* x, v4 over_u, double* J) {
  const v4 zero = v4_zero(), force = x->link == 0 ? zero : m3_mul(x->P, over_u);
  v4_put3(J + 9, m3_mul(m3_transpose(x->R), over_u));
  v4_put3(J + 6, zero);
  v4_put3(J + 3, -force);
  v4_put3(J, -v4_cross(x->rho, force));
}

// ---- angles -----------------------------------------------------------------------------------------------------------

typedef struct Angle {
  double s, c, r2;
  v4 s_row, c_row, row;
  v4 f1, f3, e0, e2;
} Angle;

SRM_INLINE Angle angle_of(const srMeasurement* measurement, const Pair* x) {
  Angle a;
  a.e0 = v4_xyz(measurement->e[0]);
  a.e2 = v4_xyz(measurement->e[2]);
  a.f1 = m3_mul(x->R, v4_xyz(measurement->e[1]));
  a.f3 = m3_mul(x->R, v4_xyz(measurement->e[3]));
  a.s = v4_dot(a.e0, a.f1);
  a.c = v4_dot(a.e2, a.f3);
  a.r2 = a.s * a.s + a.c * a.c;
  a.s_row = v4_cross(a.f1, a.e0);
  a.c_row = v4_cross(a.f3, a.e2);
  a.row = (v4_all(a.c) * a.s_row - v4_all(a.s) * a.c_row) / v4_all(a.r2);
  return a;
}

// phi''
SRM_INLINE double angle_bias(const Angle* a, const Pair* x) {
  const double s1 = v4_dot(a->s_row, x->w), c1 = v4_dot(a->c_row, x->w);
  const double s2 = v4_dot(a->e0, v4_cross(x->w, v4_cross(x->w, a->f1)));
  const double c2 = v4_dot(a->e2, v4_cross(x->w, v4_cross(x->w, a->f3)));
  const double bias = (a->c * s2 - a->s * c2) / a->r2 - 2 * v4_dot(a->row, x->w) * (a->s * s1 + a->c * c1) / a->r2;
  return v4_dot(a->row, x->wd) + bias;
}

static double unwound(const srData* d, const srMeasurement* measurement, double angle) {
  const double* z = d->z + measurement->z;
  const double foretold = z[0] + z[1] * (d->t - d->z[0]);
  return angle + turn * rint((foretold - angle) / turn);
}

// ---- all --------------------------------------------------------------------------------------------------------------

static void put_quaternion(const srData* d, const srMeasurement* measurement, const Pair* x, double* q) {
  double R[9];
  for (int i = 0; i < 9; i++) R[i] = x->R.c[i % 3][i / 3];
  srm_quaternion_from_rows(R, q);
  const double* near = d->z + measurement->z;
  const double along = q[0] * near[0] + srm_dot3(q + 1, near + 1);
  for (int i = 0; i < 4 && along < 0; i++) q[i] = -q[i];
}

SRM_INLINE void positions(srData* d, const srMeasurement* measurement, const Pair* x) {
  double *q = d->jq + measurement->q, *J = d->jJ + 12 * measurement->v;
  if (measurement->kind == SR_MEASUREMENT_ANGLE) {
    const Angle angle = angle_of(measurement, x);
    *q = unwound(d, measurement, atan2(angle.s, angle.c));
    put_turn_row(x, angle.row, J);
  } else if (measurement->kind == SR_MEASUREMENT_SLIDE) {
    const v4 e = v4_xyz(measurement->e[0]);
    *q = v4_dot(e, x->d);
    put_slide_row(x, e, J);
  } else if (measurement->kind == SR_MEASUREMENT_ROTATION) {
    put_quaternion(d, measurement, x, q);
    for (int k = 0; k < 3; k++) put_turn_row(x, x->R.c[k], J + 12 * k);
  } else {
    v4_put3(q, x->d);
    for (int k = 0; k < 3; k++) put_slide_row(x, x->R.c[k], J + 12 * k);
  }
}

SRM_CLONES void sr_measurement_positions(const srModel* m, srData* d) {
  Pair x = {0};
  for (int i = 0; i < m->nmeasurement; i++) {
    if (i == 0 || m->measurement[i].body != m->measurement[i - 1].body) x = pair_of(m, d, m->measurement[i].body);
    positions(d, &m->measurement[i], &x);
  }
}

SRM_INLINE void bias(srData* d, const srMeasurement* measurement, const Pair* x) {
  double* out = d->jbias + measurement->v;
  if (measurement->kind == SR_MEASUREMENT_ANGLE) {
    const Angle angle = angle_of(measurement, x);
    *out = angle_bias(&angle, x);
  } else if (measurement->kind == SR_MEASUREMENT_SLIDE) {
    *out = v4_dot(v4_xyz(measurement->e[0]), x->ud);
  } else {
    v4 rate = x->wd;
    if (measurement->kind == SR_MEASUREMENT_ORIGIN) rate = x->ud - v4_cross(x->w, x->u);
    v4_put3(out, m3_mul(m3_transpose(x->R), rate));
  }
}

// First velocities of the parent and of the body of a joint's velocity coordinate; -1: the ground.
static void ends(const srModel* m, int k, int* parent, int* body) {
  const int joint = m->jv_joint[k], link = m->point_link[m->joint_point[joint]];
  *parent = link > 0 ? m->link_v[link] : -1;
  *body = m->link_v[m->body_link[m->joint_body[joint]]];
}

static double row_times(const srModel* m, const srData* d, int k, const double* v) {
  const double* J = d->jJ + 12 * k;
  int parent, body;
  double sum = 0;
  ends(m, k, &parent, &body);
  for (int i = 0; i < 6 && parent >= 0; i++) sum += J[i] * v[parent + i];
  for (int i = 0; i < 6; i++) sum += J[6 + i] * v[body + i];
  return sum;
}

SRM_CLONES void sr_measurement_velocities(const srModel* m, srData* d) {
  Pair x = {0};
  for (int i = 0; i < m->nmeasurement; i++) {
    const int body = m->measurement[i].body;
    if (i == 0 || body != m->measurement[i - 1].body) {
      x = pair_of(m, d, body);
      add_motion(m, d, body, &x);
    }
    bias(d, &m->measurement[i], &x);
  }
  for (int k = 0; k < m->njv; k++) d->jv[k] = row_times(m, d, k, d->v);
}

void sr_measurement_accept(const srModel* m, srData* d) {
  if (!m->absolute) return;
  d->z[0] = d->t;
  for (int i = 0; i < m->nmeasurement; i++) {
    const srMeasurement* measurement = &m->measurement[i];
    double* z = d->z + measurement->z;
    if (measurement->kind == SR_MEASUREMENT_ROTATION) memcpy(z, d->jq + measurement->q, 4 * sizeof *z);
    if (measurement->kind != SR_MEASUREMENT_ANGLE) continue;
    z[0] = d->jq[measurement->q];
    z[1] = d->jv[measurement->v];
  }
  sr_measurements_keep(m, d);  // what is nearest to itself is itself
}

void sr_measurement_row(const srModel* m, const srData* d, int k, double by, double* out) {
  const double* J = d->jJ + 12 * k;
  int parent, body;
  ends(m, k, &parent, &body);
  for (int i = 0; i < 6 && parent >= 0; i++) out[parent + i] += by * J[i];
  for (int i = 0; i < 6; i++) out[body + i] += by * J[6 + i];
}

void sr_measurement_transposed(const srModel* m, const srData* d, const double* f, double* out) {
  for (int k = 0; k < m->njv; k++) {
    if (f[k] != 0) sr_measurement_row(m, d, k, f[k], out);
  }
}

double sr_measurement_acceleration(const srModel* m, const srData* d, int k, const double* a) {
  return row_times(m, d, k, a) + d->jbias[k];
}

void sr_joint_accelerations(const srModel* m, const srData* d, double* out) {
  for (int k = 0; k < m->njv; k++) out[k] = m->absolute ? sr_measurement_acceleration(m, d, k, d->a) : d->a[k];
}
