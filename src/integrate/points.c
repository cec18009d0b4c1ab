// Velocities and impulses at points of free bodies (points.h). With R the rotation of a body, c its center of mass and (w, v) its velocities in its own axes
//   w' = R w,   v' = R (v + w x c)                                   in the world, of the center of mass
//   u = v_b' + w_b' x r_b - v_a' - w_a' x r_a                        along normal and tangents
//   force R^T F on v,  torque R^T T + c x R^T F on w                 of a force F with the torque T about the center of mass
#include "integrate/points.h"

#include <math.h>
#include <string.h>

#include "math/v4.h"
#include "math/vector3.h"

#define LEVER 1e-16  // of its square: an arm beside the normal

static void to_body(const double R[9], const double a[3], double out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

// f +=
static inline void add_wrench(const srFreeBody* b, const double* wrench, double f[6]) {
  double torque[3], force[3], moment[3];
  to_body(b->rotation, wrench, torque);
  to_body(b->rotation, wrench + 4, force);
  srm_cross3(b->com, force, moment);
  for (int k = 0; k < 3; ++k) {
    f[k] += torque[k] + moment[k];
    f[3 + k] += force[k];
  }
}

// In its own axes, of a force and torque about the center of mass: a_c = F/m, alpha = I^-1 T, a = a_c - alpha x c.
static inline void acceleration_of(const srFreeBody* b, const double f[6], double a[6]) {
  const double *force = f + 3, *J = b->inverse;
  double moment[3], swing[3];
  srm_cross3(b->com, force, moment);
  srm_sub3(f, moment, moment);
  a[0] = J[0] * moment[0] + J[3] * moment[1] + J[4] * moment[2];
  a[1] = J[3] * moment[0] + J[1] * moment[1] + J[5] * moment[2];
  a[2] = J[4] * moment[0] + J[5] * moment[1] + J[2] * moment[2];
  srm_cross3(a, b->com, swing);
  for (int k = 0; k < 3; ++k) a[3 + k] = force[k] / b->mass - swing[k];
}

void sri_body_force(const srFreeBody* body, int n, const double* wrench, double* f) {
  for (int i = 0; i < n; ++i) add_wrench(&body[i], wrench + SRI_ROW * (size_t)i, f + body[i].first);
}

// Velocity of the point of one side.
SRM_INLINE v4 side_velocity(const srUnilateral* c, int side, const double* motion) {
  const double* m = motion + SRI_ROW * (size_t)c->body[side];
  return v4_cross(v4_load(m), v4_xyz(c->arm[side])) + v4_load(m + 4);
}

SRM_INLINE v4 point_velocity(const srUnilateral* c, const double* motion) {
  const v4 a = c->body[0] >= 0 ? side_velocity(c, 0, motion) : v4_zero();
  const v4 b = c->body[1] >= 0 ? side_velocity(c, 1, motion) : v4_zero();
  return b - a;
}

SRM_CLONES double sri_point_normal_velocity(const srUnilateral* c, const double* motion) {
  return c->b[0] + v4_dot(v4_xyz(c->axis), point_velocity(c, motion));
}

void sri_point_velocity(const srUnilateral* c, const double* motion, double u[3]) {
  double all[3], t[2][3];
  v4_put3(all, point_velocity(c, motion));
  srm_frame3(c->axis, t[0], t[1]);
  u[0] = c->b[0] + srm_dot3(c->axis, all);
  for (int k = 0; k < 2; ++k) u[1 + k] = c->b[1 + k] + srm_dot3(t[k], all);
}

void sri_body_acceleration(const srFreeBody* body, int n, const double* f, double* a) {
  for (int i = 0; i < n; ++i) acceleration_of(&body[i], f + body[i].first, a + body[i].first);
}

// ---- four bodies side by side -------------------------------------------------------------------------------------------

typedef struct Bodies {
  const srFreeBody* of[4];
  v4 R[9], J[6], mass, c[3];  // R by rows
} Bodies;

// From body i on; the last one again where there are no more.
SRM_INLINE void take_bodies(const srFreeBody* body, int i, int end, Bodies* b) {
  const double *mass[4], *J[2][4], *R[3][4];
  v4 all[4], first[4], rest[4];
  for (int k = 0; k < 4; ++k) {
    const srFreeBody* of = b->of[k] = &body[i + k < end ? i + k : end - 1];
    mass[k] = &of->mass;  // the center of mass follows
    for (int j = 0; j < 2; ++j) J[j][k] = of->inverse + 2 * j;
    R[0][k] = of->rotation;
    R[1][k] = of->rotation + 4;
    R[2][k] = of->rotation + 5;
  }
  v4_columns_at(mass, all);
  b->mass = all[0];
  for (int k = 0; k < 3; ++k) b->c[k] = all[1 + k];
  v4_columns_at(J[0], first);
  v4_columns_at(J[1], rest);
  for (int k = 0; k < 6; ++k) b->J[k] = k < 4 ? first[k] : rest[k - 2];
  v4_columns_at(R[0], b->R);
  v4_columns_at(R[1], b->R + 4);
  v4_columns_at(R[2], rest);
  b->R[8] = rest[3];
}

// Their six numbers in x, by components.
SRM_INLINE void take_six(const Bodies* b, const double* x, v4 out[6]) {
  const double *first[4], *rest[4];
  v4 all[4], more[4];
  for (int k = 0; k < 4; ++k) {
    first[k] = x + b->of[k]->first;
    rest[k] = first[k] + 2;
  }
  v4_columns_at(first, all);
  v4_columns_at(rest, more);
  for (int k = 0; k < 6; ++k) out[k] = k < 4 ? all[k] : more[k - 2];
}

SRM_INLINE void put_six(const Bodies* b, const v4 x[6], double* out) {
  v4 row[4], rest[4];
  v4_columns(x, row);
  v4_columns(x + 2, rest);
  for (int k = 0; k < 4; ++k) {
    *(v4_any*)(out + b->of[k]->first) = row[k];
    *(v4_any*)(out + b->of[k]->first + 2) = rest[k];
  }
}

// Rows of bodies i .. in `motion` or `wrench`.
SRM_INLINE void take_rows(const double* row, int i, int end, v4 out[2][4]) {
  for (int half = 0; half < 2; ++half) {
    v4 r[4];
    for (int k = 0; k < 4; ++k) r[k] = v4_load(row + SRI_ROW * (size_t)(i + k < end ? i + k : end - 1) + 4 * half);
    v4_columns(r, out[half]);
  }
}

SRM_INLINE void rotate(const v4 R[9], const v4 a[3], v4 out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
}

SRM_INLINE void rotate_back(const v4 R[9], const v4 a[3], v4 out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

SRM_INLINE void put_motion(const Bodies* b, const v4 v[6], int i, int end, double* motion) {
  v4 at[3], x[2][4] = {{{0}}}, row[4];
  v4_crosses(v, b->c, at);
  for (int k = 0; k < 3; ++k) at[k] += v[3 + k];
  rotate(b->R, v, x[0]);
  rotate(b->R, at, x[1]);
  for (int half = 0; half < 2; ++half) {
    v4_columns(x[half], row);
    for (int k = 0; k < 4 && i + k < end; ++k) v4_store(motion + SRI_ROW * (size_t)(i + k) + 4 * half, row[k]);
  }
}

SRM_CLONES void sri_body_motion(const srFreeBody* body, int from, int to, const double* v, double* motion) {
  for (int i = from; i < to; i += 4) {
    Bodies b;
    v4 x[6];
    take_bodies(body, i, to, &b);
    take_six(&b, v, x);
    put_motion(&b, x, i, to, motion);
  }
}

void sri_body_turn(const srFreeBody* body, int from, int to, double h, const double* v, double* turn) {
  for (int i = from; i < to; ++i) {
    const double* of = v + body[i].first;
    double* out = turn + body[i].first;
    srm_cross3(of + 3, of, out + 3);
    for (int k = 0; k < 3; ++k) {
      out[k] = 0;
      out[3 + k] *= h;
    }
  }
}

SRM_INLINE v4 length_of(const v4 a[3]) {
  const v4 square = v4_dots(a, a);
  return (v4){sqrt(square[0]), sqrt(square[1]), sqrt(square[2]), sqrt(square[3])};
}

SRM_CLONES void sri_body_sizes(int from, int to, const double* before, const double* motion, srBodySize* out) {
  for (int i = from; i < to; i += 4) {
    v4 x[2][4], y[2][4], d[2][3], all[4], row[4];
    take_rows(motion, i, to, x);
    take_rows(before, i, to, y);
    for (int k = 0; k < 6; ++k) d[k / 3][k % 3] = x[k / 3][k % 3] - y[k / 3][k % 3];
    all[0] = length_of(x[1]);
    all[1] = length_of(x[0]);
    all[2] = length_of(d[1]);
    all[3] = length_of(d[0]);
    v4_columns(all, row);
    for (int k = 0; k < 4 && i + k < to; ++k) *(v4_any*)&out[i + k].speed = row[k];
  }
}

// As add_wrench and acceleration_of.
SRM_INLINE void add_wrenches(const Bodies* b, v4 wrench[2][4], v4 f[6]) {
  v4 torque[3], force[3], moment[3];
  rotate_back(b->R, wrench[0], torque);
  rotate_back(b->R, wrench[1], force);
  v4_crosses(b->c, force, moment);
  for (int k = 0; k < 3; ++k) {
    f[k] += torque[k] + moment[k];
    f[3 + k] += force[k];
  }
}

SRM_INLINE void accelerate(const Bodies* b, const v4 f[6], v4 a[6]) {
  const v4 *force = f + 3, *J = b->J;
  v4 moment[3], swing[3];
  v4_crosses(b->c, force, moment);
  for (int k = 0; k < 3; ++k) moment[k] = f[k] - moment[k];
  a[0] = J[0] * moment[0] + J[3] * moment[1] + J[4] * moment[2];
  a[1] = J[3] * moment[0] + J[1] * moment[1] + J[5] * moment[2];
  a[2] = J[4] * moment[0] + J[5] * moment[1] + J[2] * moment[2];
  v4_crosses(a, b->c, swing);
  for (int k = 0; k < 3; ++k) a[3 + k] = force[k] / b->mass - swing[k];
}

SRM_CLONES void sri_body_end(const srFreeBody* body, int from, int to, const srBodyStep* step, double* v,
                             double* motion) {
  for (int i = from; i < to; i += 4) {
    Bodies b;
    v4 f[6], a[6], v0[6], turn[6], wrench[2][4];
    take_bodies(body, i, to, &b);
    take_six(&b, step->f, f);
    take_six(&b, step->v, v0);
    take_six(&b, step->turn, turn);
    if (step->wrench != NULL) {
      take_rows(step->wrench, i, to, wrench);
      add_wrenches(&b, wrench, f);
    }
    accelerate(&b, f, a);
    for (int k = 0; k < 6; ++k) a[k] = v0[k] - turn[k] + step->h * a[k];
    put_six(&b, a, v);
    put_motion(&b, a, i, to, motion);
  }
}

// v of four rows: w = R^T w', v = R^T v' - w x c.
SRM_INLINE void velocities_of(const Bodies* b, const v4 w[3], const v4 v[3], v4 out[6]) {
  v4 at[3];
  rotate_back(b->R, w, out);
  rotate_back(b->R, v, out + 3);
  v4_crosses(out, b->c, at);
  for (int k = 0; k < 3; ++k) out[3 + k] -= at[k];
}

SRM_CLONES void sri_body_known(const srFreeBody* body, int from, int to, const srStepMotion* known, double* v,
                               double* motion) {
  for (int i = from; i < to; i += 4) {
    Bodies b;
    v4 x[2][4], out[6], row[4], rest[4];
    bool any = false;
    for (int k = i; k < i + 4 && k < to; ++k) {
      double* at = motion + SRI_ROW * (size_t)k;
      if (!known->known[k]) continue;
      const double* row_of = known->row + SRI_ROW * (size_t)known->number[k];
      v4_store(at, v4_load(row_of + 4));
      v4_store(at + 4, v4_load(row_of));
      any = true;
    }
    if (!any) continue;
    take_bodies(body, i, to, &b);
    take_rows(motion, i, to, x);
    velocities_of(&b, x[0], x[1], out);
    v4_columns(out, row);
    v4_columns(out + 2, rest);
    for (int k = 0; k < 4; ++k) {
      if (i + k >= to || !known->known[i + k]) continue;
      *(v4_any*)(v + b.of[k]->first) = row[k];
      *(v4_any*)(v + b.of[k]->first + 2) = rest[k];
    }
  }
}

// ---- four contacts side by side ----------------------------------------------------------------------------------------

typedef struct Four {
  const srStepContact* of[4];
  v4 axis[4], arm[2][4];
} Four;

// From contact i on; the last one again where there are no more.
SRM_INLINE void take_four(const srStepContact* contact, int i, int count, Four* f) {
  const double *axis[4], *a[4], *b[4];
  for (int k = 0; k < 4; ++k) {
    const srStepContact* c = f->of[k] = &contact[i + k < count ? i + k : count - 1];
    axis[k] = c->point.normal;
    a[k] = c->point.arm[0];
    b[k] = c->point.arm[0] + 2;  // its last number, and the other arm
  }
  v4 last[4];
  v4_columns_at(axis, f->axis);
  v4_columns_at(a, f->arm[0]);
  v4_columns_at(b, last);
  for (int k = 0; k < 3; ++k) f->arm[1][k] = last[k + 1];
}

// Of b relative to a, world axes.
SRM_INLINE void velocities(const Four* f, int nbody, const double* motion, v4 out[3]) {
  for (int side = 0; side < 2; ++side) {
    const double *turning[4], *moving[4];
    for (int k = 0; k < 4; ++k) {
      const int body = f->of[k]->point.body[side];
      turning[k] = motion + SRI_ROW * (size_t)(body < 0 ? nbody : body);
      moving[k] = turning[k] + 4;
    }
    v4 w[4], v[4], turn[3];
    v4_columns_at(turning, w);
    v4_columns_at(moving, v);
    v4_crosses(w, f->arm[side], turn);
    for (int k = 0; k < 3; ++k) out[k] = side == 0 ? turn[k] + v[k] : (turn[k] + v[k]) - out[k];
  }
}

// u of the four.
SRM_INLINE void rows_of(const Four* f, const v4 velocity[3], v4 u[3]) {
  v4 own[4], t[2][3];
  v4_columns_at((const double* const[4]){f->of[0]->b, f->of[1]->b, f->of[2]->b, f->of[3]->b}, own);
  v4_frames(f->axis, t[0], t[1]);
  u[0] = own[0] + v4_dots(f->axis, velocity);
  for (int k = 0; k < 2; ++k) u[1 + k] = own[1 + k] + v4_dots(t[k], velocity);
}

// Squares of the moments of the normals beyond what rounding leaves.
SRM_INLINE v4u turns(const Four* f) {
  v4u any = {0};
  for (int side = 0; side < 2; ++side) {
    v4 moment[3];
    v4_crosses(f->arm[side], f->axis, moment);
    any |= (v4u)(v4_dots(moment, moment) > LEVER * v4_dots(f->arm[side], f->arm[side]));
  }
  return any;
}

SRM_CLONES bool sri_points_velocity(const srStepContact* contact, int first, int count, int nbody, const double* motion,
                                    const double* other, double* u, double* other_normal) {
  v4u levers = {0};
  for (int i = first; i < count; i += 4) {
    Four f;
    v4 velocity[3], rows[3];
    take_four(contact, i, count, &f);
    velocities(&f, nbody, motion, velocity);
    rows_of(&f, velocity, rows);
    levers |= turns(&f);
    velocities(&f, nbody, other, velocity);
    const v4 normal = v4_dots(f.axis, velocity);
    for (int k = 0; k < 4 && i + k < count; ++k) {
      for (int j = 0; j < 3; ++j) u[3 * (i + k) + j] = rows[j][k];
      other_normal[i + k] = f.of[k]->b[0] + normal[k];
    }
  }
  return (levers[0] | levers[1] | levers[2] | levers[3]) != 0;
}

SRM_INLINE void add_to(double* to, v4 x) { v4_store(to, v4_load(to) + x); }

// Has one of four contacts a body between from and to?
SRM_INLINE bool concerns(const srStepContact* contact, int i, int count, int from, int to) {
  bool any = false;
  for (int k = i; k < i + 4 && k < count; ++k) {
    const int* body = contact[k].point.body;
    any = any || (body[0] >= from && body[0] < to) || (body[1] >= from && body[1] < to);
  }
  return any;
}

SRM_CLONES void sri_points_add(const srStepContact* contact, int count, const double* impulse, double h, int from,
                               int to, double* wrench) {
  for (int i = 0; i < count; i += 4) {
    Four f;
    v4 t[2][3], p[4], force[4] = {{0}}, row[4];
    if (!concerns(contact, i, count, from, to)) continue;
    take_four(contact, i, count, &f);
    v4_frames(f.axis, t[0], t[1]);
    for (int k = 0; k < 4; ++k) row[k] = v4_xyz(impulse + 3 * (i + k < count ? i + k : count - 1));
    v4_columns(row, p);
    for (int j = 0; j < 3; ++j) p[j] /= h;
    for (int j = 0; j < 3; ++j) force[j] = p[0] * f.axis[j] + p[1] * t[0][j] + p[2] * t[1][j];
    v4_columns(force, row);
    for (int k = 0; k < 4 && i + k < count; ++k) {
      for (int side = 0; side < 2; ++side) {
        const int body = f.of[k]->point.body[side];
        if (body < from || body >= to) continue;
        double* at = wrench + SRI_ROW * (size_t)body;
        const v4 push = side == 0 ? -row[k] : row[k];
        add_to(at, v4_cross(v4_xyz(f.of[k]->point.arm[side]), push));
        add_to(at + 4, push);
      }
    }
  }
}

void sri_points_push(const srStepContact* contact, int count, const double* impulse, double h, int from, int to,
                     double* wrench) {
  memset(wrench + SRI_ROW * (size_t)from, 0, SRI_ROW * (size_t)(to - from) * sizeof *wrench);
  sri_points_add(contact, count, impulse, h, from, to, wrench);
}

SRM_CLONES void sri_points_work(const srStepContact* contact, int from, int to, int nbody, const double* impulse,
                                const double* u, const double* motion, srPointWork* work) {
  for (int i = from; i < to; i += 4) {
    Four f;
    v4 velocity[3], after[3];
    srPointWork sum = {0};
    take_four(contact, i, to, &f);
    velocities(&f, nbody, motion, velocity);
    rows_of(&f, velocity, after);
    for (int k = 0; k < 4 && i + k < to; ++k) {
      const double *p = impulse + 3 * (i + k), *before = u + 3 * (i + k), *b = f.of[k]->b;  // a belt does work, too
      sum.normal += p[0] * (0.5 * (before[0] + after[0][k]) - b[0]);
      for (int j = 1; j < contact[i + k].rows; ++j) sum.friction += p[j] * (0.5 * (before[j] + after[j][k]) - b[j]);
    }
    work[i / 4] = sum;
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
      double wrench[SRI_ROW] = {0}, f[6] = {0};
      srm_cross3(c->arm[side], direction[k], wrench);
      srm_set3(wrench + 4, direction[k]);
      srFreeBody alone = *b;
      alone.first = 0;
      sri_body_force(&alone, 1, wrench, f);
      for (int j = 0; j < 6; ++j) c->W[k * n + at + j] = side == 0 ? -f[j] : f[j];
    }
    at += 6;
  }
}
