// Ports: motion from the kinematics to a force law, and its force back to the links.
//   joint    x = q, x' = v                          f adds to the generalized force
//   link     z = |p_b - p_a|, z' = n . (v_b - v_a)   f n acts on b at p_b, -f n on a at p_a       the ROBOTRAN manual, eq 35-40
//   point    p, w, v in inertial axes                moment and force act at p
//   frames   R_ab = R_a^T R_b = exp[theta], d = R_a^T (p_b - p_a)
//            w = R_a^T (w_b - w_a), d' = R_a^T (v_b - v_a - w_a x (p_b - p_a))
//            moment and force act on b at p_b, their negatives on a at the same point, so that power is f . x'
//   gap      the law program gives gap, slip and rates; forces act through their variables
// Wrenches accumulate in link axes about the link's origin; one pass from the tips to the ground makes them generalized
// forces, f_i = S_i^T W_i and W_parent += X_i W_i: the same as the sum of J^T W over all elements, but linear in the
// number of links.
#include "force/ports.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collide/pair.h"
#include "dynamics/link.h"
#include "math/pose.h"

int sr_port_width(srPort port) {
  return port == SR_PORT_POINT || port == SR_PORT_FRAMES ? 6 : port == SR_PORT_GAP ? 2 : 1;
}

static void subtract(const double* a, const double* b, double* out) {
  for (int i = 0; i < 3; ++i) out[i] = a[i] - b[i];
}

// ---- motion ---------------------------------------------------------------------------------------------------------

void sr_port_point(const srModel* m, const srData* d, int point, srPointState* out) {
  const srmTwist twist = sr_point_twist(m, d, point);
  v4_put3(out->p, sr_point_pose(m, d, point).p);
  v4_put3(out->w, twist.w);
  v4_put3(out->v, twist.v);
}

static void joint_motion(const srData* d, const srForceElement* element, srPortMotion* out) {
  out->x[0] = element->qdof >= 0 ? d->jq[element->qdof] : 0.0;
  out->xdot[0] = d->jv[element->dof];
}

static int distance_motion(const srModel* m, srData* d, const srForceElement* element, srPortMotion* out) {
  srPointState a, b;
  double r[3], rate[3];
  sr_port_point(m, d, element->point[0], &a);
  sr_port_point(m, d, element->point[1], &b);
  subtract(b.p, a.p, r);
  subtract(b.v, a.v, rate);
  const double z = srm_norm3(r);
  if (!(z > 0.0)) {
    (void)snprintf(d->error_message, sizeof d->error_message,
                   "the points '%s' and '%s' of the link '%s' coincide: its force has no direction",
                   m->point_name[element->point[0]], m->point_name[element->point[1]], element->name);
    return 1;
  }
  for (int i = 0; i < 3; ++i) out->direction[i] = r[i] / z;
  memcpy(out->at[0], a.p, sizeof a.p);
  memcpy(out->at[1], b.p, sizeof b.p);
  out->x[0] = z;
  out->xdot[0] = srm_dot3(out->direction, rate);
  return 0;
}

static void point_motion(const srModel* m, const srData* d, const srForceElement* element, srPortMotion* out) {
  srPointState s;
  sr_port_point(m, d, element->point[0], &s);
  memcpy(out->at[0], s.p, sizeof s.p);
  memset(out->x, 0, 3 * sizeof(double));
  memcpy(out->x + 3, s.p, sizeof s.p);
  memcpy(out->xdot, s.w, sizeof s.w);
  memcpy(out->xdot + 3, s.v, sizeof s.v);
}

// theta with exp[theta] = the rotation, |theta| <= pi.
static void rotation_vector(const double* q, double* theta) {
  const double s = srm_norm3(q + 1), w = fabs(q[0]), sign = q[0] < 0.0 ? -1.0 : 1.0;
  const double scale = s > 1e-10 ? 2.0 * atan2(s, w) / s : 2.0 / w;  // 2 atan(s/w) / s = 2/w to rounding
  for (int i = 0; i < 3; ++i) theta[i] = sign * scale * q[1 + i];
}

// Contacts of spheres and planes do not see the rotation, unless friction has a direction or a surface moves: x[0] to x[2] are 0.
static bool sees_rotation(const srForceElement* element) {
  const srSurfaceLaws* c = element->contact;
  return c == NULL || c->pair == NULL || c->pair->place == NULL || c->directed >= 0 ||
         element->formula >= 0;  // surfaces of the model move in their frames
}

static void frames_motion(const srModel* m, const srData* d, const srForceElement* element, srPortMotion* out) {
  const int a = element->point[0], b = element->point[1];
  srPointBetween seen;
  sr_point_between(m, d, b, a, &seen);
  memset(out->x, 0, 3 * sizeof *out->x);
  if (sees_rotation(element)) {
    srFrameMotion frame;
    double q[4];
    sr_frame_motion(m, d, b, a, &frame);
    srm_quaternion_from_rows(frame.rotation, q);
    rotation_vector(q, out->x);
  }
  memcpy(out->x + 3, seen.position, sizeof seen.position);
  memcpy(out->xdot, seen.angular_velocity, sizeof seen.angular_velocity);
  memcpy(out->xdot + 3, seen.velocity, sizeof seen.velocity);
  memcpy(out->axes, seen.axes, sizeof seen.axes);
  for (int k = 0; k < 2; ++k) memcpy(out->at[k], seen.at, sizeof seen.at);
}

// The law program has the rates already.
static void gap_motion(const srData* d, const srForceElement* element, srPortMotion* out) {
  const double* value = out->formula = d->formula + element->formula;
  out->x[0] = value[0];
  out->x[1] = 0.0;
  out->xdot[0] = value[1];
  out->xdot[1] = value[2];
}

int sr_port_motion(const srModel* m, srData* d, const srForceElement* element, srPortMotion* out) {
  switch (element->law->port) {
    case SR_PORT_JOINT: joint_motion(d, element, out); break;
    case SR_PORT_DISTANCE: return distance_motion(m, d, element, out);
    case SR_PORT_POINT: point_motion(m, d, element, out); break;
    case SR_PORT_FRAMES: frames_motion(m, d, element, out); break;
    case SR_PORT_GAP: gap_motion(d, element, out); break;
  }
  return 0;
}

// ---- force ----------------------------------------------------------------------------------------------------------

// A moment and a force at a point in the ground frame, on a link. The ground absorbs any.
SRM_INLINE void add_wrench(const srModel* m, srData* d, int point, v4 at, v4 moment, v4 force, double sign) {
  const int link = m->point_link[point];
  if (link == 0) return;
  const srmPose pose = srm_pose_load(d->link_pose + 16 * link);
  const m3 to_link = m3_transpose(pose.R);
  double* wrench = d->link_wrench + 8 * link;
  const v4 n = m3_mul(to_link, moment + v4_cross(at - pose.p, force)), f = m3_mul(to_link, force);
  v4_put3(wrench, v4_xyz(wrench) + sign * n);
  v4_put3(wrench + 4, v4_xyz(wrench + 4) + sign * f);
}

void sr_port_wrench(const srModel* m, srData* d, int point, const double* at, const double* moment, const double* force,
                    double sign) {
  add_wrench(m, d, point, v4_xyz(at), v4_xyz(moment), v4_xyz(force), sign);
}

static void distance_force(const srModel* m, srData* d, const srForceElement* element, const srPortMotion* motion,
                           double f) {
  const double none[3] = {0};
  double force[3];
  for (int i = 0; i < 3; ++i) force[i] = f * motion->direction[i];
  sr_port_wrench(m, d, element->point[0], motion->at[0], none, force, -1.0);
  sr_port_wrench(m, d, element->point[1], motion->at[1], none, force, 1.0);
}

SRM_CLONES static void frames_force(const srModel* m, srData* d, const srForceElement* element,
                                    const srPortMotion* motion, const double* f) {
  const m3 R = m3_load(motion->axes);
  const v4 moment = m3_mul(R, v4_xyz(f)), force = m3_mul(R, v4_xyz(f + 3));
  add_wrench(m, d, element->point[0], v4_xyz(motion->at[0]), moment, force, -1.0);
  add_wrench(m, d, element->point[1], v4_xyz(motion->at[1]), moment, force, 1.0);
}

// A force on a scalar of a sensor: the rate of x y z, and vx vy vz themselves, are components of the velocity.
static void sensor_force(const srModel* m, srData* d, const srSensor* sensor, int scalar, double by) {
  const srForceElement frames = {.point = {sensor->relative_to, sensor->point}};
  srPortMotion motion;
  double f[6] = {0};
  f[scalar >= 6 ? scalar - 6 : 3 + scalar % 3] = by;
  frames_motion(m, d, &frames, &motion);
  frames_force(m, d, &frames, &motion, f);
}

// Forces on the gap and the slip act on each variable by its coefficients in their rates: on frames of sensors here.
void sr_port_gap_wrenches(const srModel* m, srData* d, const srForceElement* element, const srPortMotion* motion,
                          const double* f) {
  const double* by = motion->formula + 3;
  for (int k = 0; k < element->contact->nvariable; ++k, by += 2) {
    const srContactVariable* x = &element->contact->variable[k];
    if (x->dof < 0) sensor_force(m, d, &m->sensor[x->index], x->scalar, f[0] * by[0] + f[1] * by[1]);
  }
}

static void gap_force(const srModel* m, srData* d, const srForceElement* element, const srPortMotion* motion,
                      const double* f) {
  const double* by = motion->formula + 3;
  for (int k = 0; k < element->contact->nvariable; ++k, by += 2) {
    const srContactVariable* x = &element->contact->variable[k];
    if (x->dof >= 0) d->jf[x->dof] += f[0] * by[0] + f[1] * by[1];
  }
  sr_port_gap_wrenches(m, d, element, motion, f);
}

void sr_port_force(const srModel* m, srData* d, const srForceElement* element, const srPortMotion* motion,
                   const double* f) {
  switch (element->law->port) {
    case SR_PORT_JOINT: d->jf[element->dof] += f[0]; break;
    case SR_PORT_DISTANCE: distance_force(m, d, element, motion, f[0]); break;
    case SR_PORT_POINT: sr_port_wrench(m, d, element->point[0], motion->at[0], f, f + 3, 1.0); break;
    case SR_PORT_FRAMES: frames_force(m, d, element, motion, f); break;
    case SR_PORT_GAP: gap_force(m, d, element, motion, f); break;
  }
}

// f += S^T W of one link: its axis is z.
static void project(const srModel* m, int link, const double* W, double* f) {
  switch ((srLinkType)m->link_type[link]) {
    case SR_LINK_GROUND: break;
    case SR_LINK_REVOLUTE: f[0] += W[2]; break;
    case SR_LINK_PRISMATIC: f[0] += W[6]; break;
    case SR_LINK_HELICAL: f[0] += W[2] + m->link_pitch[link] * W[6]; break;
    case SR_LINK_FREE:
      for (int i = 0; i < 3; ++i) f[3 + i] += W[4 + i];
      // fall through
    case SR_LINK_BALL:
      for (int i = 0; i < 3; ++i) f[i] += W[i];
      break;
  }
}

void sr_gather_wrenches(const srModel* m, srData* d) {
  for (int i = m->nlink - 1; i > 0; --i) {
    const double* W = d->link_wrench + 8 * i;
    project(m, i, W, d->f + m->link_v[i]);
    const int parent = m->link_parent[i];
    if (parent == 0) continue;
    const double* X = d->link_X + 16 * i;
    double* W_parent = d->link_wrench + 8 * parent;
    double n[3], f[3], turn[3];
    srm_pose_rotate(X, W, n);
    srm_pose_rotate(X, W + 4, f);
    srm_cross3(X + 12, f, turn);
    for (int k = 0; k < 3; ++k) {
      W_parent[k] += n[k] + turn[k];
      W_parent[4 + k] += f[k];
    }
  }
}
