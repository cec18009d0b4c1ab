// Velocities and impulses at points of free bodies (points.h). With R the rotation of a body, c its center of mass and (w, v) its velocities in its own axes
//   w' = R w,   v' = R (v + w x c)                                   in the world, of the center of mass
//   u = v_b' + w_b' x r_b - v_a' - w_a' x r_a                        along normal and tangents
//   force R^T F on v,  torque R^T T + c x R^T F on w                 of a force F with the torque T about the center of mass
#include "integrate/points.h"

#include <math.h>
#include <string.h>

#include "math/vector3.h"

static void to_world(const double R[9], const double a[3], double out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
}

static void to_body(const double R[9], const double a[3], double out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

void sri_body_motion(const srFreeBody* body, int n, const double* v, double* motion) {
  for (int i = 0; i < n; ++i) {
    const srFreeBody* b = &body[i];
    const double *w = v + b->first, *u = w + 3;
    double at[3];
    srm_cross3(w, b->com, at);
    for (int k = 0; k < 3; ++k) at[k] += u[k];
    to_world(b->rotation, w, motion + 6 * i);
    to_world(b->rotation, at, motion + 6 * i + 3);
  }
}

void sri_body_force(const srFreeBody* body, int n, const double* wrench, double* f) {
  for (int i = 0; i < n; ++i) {
    const srFreeBody* b = &body[i];
    double torque[3], force[3], moment[3];
    to_body(b->rotation, wrench + 6 * i, torque);
    to_body(b->rotation, wrench + 6 * i + 3, force);
    srm_cross3(b->com, force, moment);
    for (int k = 0; k < 3; ++k) {
      f[b->first + k] += torque[k] + moment[k];
      f[b->first + 3 + k] += force[k];
    }
  }
}

// Velocity of the point of one side.
static void side_velocity(const srUnilateral* c, int side, const double* motion, double out[3]) {
  const double* m = motion + 6 * (size_t)c->body[side];
  srm_cross3(m, c->arm[side], out);
  for (int k = 0; k < 3; ++k) out[k] += m[3 + k];
}

static void point_velocity(const srUnilateral* c, const double* motion, double out[3]) {
  double a[3] = {0}, b[3] = {0};
  if (c->body[0] >= 0) side_velocity(c, 0, motion, a);
  if (c->body[1] >= 0) side_velocity(c, 1, motion, b);
  srm_sub3(b, a, out);
}

double sri_point_normal_velocity(const srUnilateral* c, const double* motion) {
  double all[3];
  point_velocity(c, motion, all);
  return c->b[0] + srm_dot3(c->axis, all);
}

void sri_point_velocity(const srUnilateral* c, const double* motion, double u[3]) {
  double all[3], t[2][3];
  point_velocity(c, motion, all);
  srm_frame3(c->axis, t[0], t[1]);
  u[0] = c->b[0] + srm_dot3(c->axis, all);
  for (int k = 0; k < 2; ++k) u[1 + k] = c->b[1 + k] + srm_dot3(t[k], all);
}

static double length_of(const double a[3]) { return sqrt(srm_dot3(a, a)); }

void sri_body_sizes(int n, const double* before, const double* motion, srBodySize* out) {
  for (int i = 0; i < n; ++i) {
    const double *x = motion + 6 * (size_t)i, *y = before + 6 * (size_t)i;
    double turn[3], change[3];
    srm_sub3(x, y, turn);
    srm_sub3(x + 3, y + 3, change);
    out[i] = (srBodySize){
        .speed = length_of(x + 3), .spin = length_of(x), .change = length_of(change), .turn = length_of(turn)};
  }
}

static double reach_of(const double arm[3]) { return fabs(arm[0]) + fabs(arm[1]) + fabs(arm[2]); }

double sri_point_speed(const srUnilateral* c, const srBodySize* size) {
  double sum = 0;
  for (int side = 0; side < 2; ++side) {
    const srBodySize* b = c->body[side] >= 0 ? &size[c->body[side]] : NULL;
    if (b != NULL) sum += b->speed + b->spin * reach_of(c->arm[side]);
  }
  return sum;
}

double sri_point_change(const srUnilateral* c, const srBodySize* size) {
  double sum = 0;
  for (int side = 0; side < 2; ++side) {
    const srBodySize* b = c->body[side] >= 0 ? &size[c->body[side]] : NULL;
    if (b != NULL) sum += b->change + b->turn * reach_of(c->arm[side]);
  }
  return sum;
}

// In its own axes, of a force and torque about the center of mass: a_c = F/m, alpha = I^-1 T, a = a_c - alpha x c.
void sri_body_acceleration(const srFreeBody* body, int n, const double* f, double* a) {
  for (int i = 0; i < n; ++i) {
    const srFreeBody* b = &body[i];
    const double *torque = f + b->first, *force = torque + 3, *J = b->inverse;
    double *turn = a + b->first, moment[3], swing[3];
    srm_cross3(b->com, force, moment);
    srm_sub3(torque, moment, moment);
    turn[0] = J[0] * moment[0] + J[3] * moment[1] + J[4] * moment[2];
    turn[1] = J[3] * moment[0] + J[1] * moment[1] + J[5] * moment[2];
    turn[2] = J[4] * moment[0] + J[5] * moment[1] + J[2] * moment[2];
    srm_cross3(turn, b->com, swing);
    for (int k = 0; k < 3; ++k) turn[3 + k] = force[k] / b->mass - swing[k];
  }
}

void sri_point_push(const srUnilateral* c, const double p[3], double* wrench) {
  double t[2][3], force[3], torque[3];
  srm_frame3(c->axis, t[0], t[1]);
  for (int k = 0; k < 3; ++k) force[k] = p[0] * c->axis[k] + p[1] * t[0][k] + p[2] * t[1][k];
  for (int side = 0; side < 2; ++side) {
    if (c->body[side] < 0) continue;
    double* to = wrench + 6 * (size_t)c->body[side];
    srm_cross3(c->arm[side], force, torque);
    for (int k = 0; k < 3; ++k) {
      to[k] += side == 0 ? -torque[k] : torque[k];
      to[3 + k] += side == 0 ? -force[k] : force[k];
    }
  }
}

void sri_point_rows(srUnilateral* c, const srFreeBody* body) {
  double direction[3][3];
  srm_set3(direction[0], c->axis);
  srm_frame3(c->axis, direction[1], direction[2]);
  const int n = 6 * ((c->body[0] >= 0) + (c->body[1] >= 0));
  c->n = n;
  memset(c->W, 0, 3 * (size_t)n * sizeof *c->W);
  for (int side = 0, at = 0; side < 2; ++side) {
    if (c->body[side] < 0) continue;
    const srFreeBody* b = &body[c->body[side]];
    for (int k = 0; k < 6; ++k) c->column[at + k] = b->first + k;
    for (int k = 0; k < 3; ++k) {
      double wrench[6], f[6] = {0};
      srm_cross3(c->arm[side], direction[k], wrench);
      srm_set3(wrench + 3, direction[k]);
      srFreeBody alone = *b;
      alone.first = 0;
      sri_body_force(&alone, 1, wrench, f);
      for (int j = 0; j < 6; ++j) c->W[k * n + at + j] = side == 0 ? -f[j] : f[j];
    }
    at += 6;
  }
}
