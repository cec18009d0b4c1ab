// Two cylinders or cones: pressure over the surface of one of them, R, within the other one, S (collide/patch_round.c).
//
// With d >= 0 the depth of a point of the surface, p(d) the law at rest and E' = p, the energy is twice the mean of E, weighted with p, as along the line of a capsule
// (place_line.c):
//   W = B/A,   A = integral of p dS,   B = integral of 2 E p dS
// It depends on the relative pose alone and has no area of its own, so that K is the stiffness of a point. For a law linear in depth:
//   sides that cross, d a paraboloid: W = E(d_max), the law at one point;   parallel sides, a parabola: 48/35 of it;   ends on each other, d constant: 2 of it
// A motion changes d by -m.v, m outward of S and the point fixed to R. On the border d = 0, so that the force is
//   F = integral of q m dS,   M = integral of r x q m dS,   q = [2 p^2 + (2 E - W) p']/A,      F = (F_1 - W F_2)/A of two sums
// continuous wherever the depth is. Its derivatives are differences over a motion of PART of the depth: they have terms of the border, and of that of two cells of d, where m jumps.
//
// Damping: with w_i = p dS/A, c the mean and C the covariance of the points, N = |F|, n = F/N
//   rates  d' = -(F.u + M.w)/N +- s,   s^2 = g.C g,  g = n x t,   t = P_a P_b w,  P = 1 - e e^T, e the axes of a and b
//   l_k = law(d_e, d'_k)/law(d_e, 0),   force (l_1 + l_2)/2 F,   moment (l_1 + l_2)/2 M - (l_1 - l_2)/2 N P_b P_a (n x)^T C g/s
// d_e = 3/2 of the mean of d: d_max of a paraboloid. The rates are those of the mean and of the spread of tilting; a rotation about its own axis does not change a shape, and what
// rolls is not held up. Dissipation N/2 sum (l_k - 1) d'_k >= 0. Friction is one field at c, with the lever sqrt(8)/3 of the radius of gyration (place_patch.c).
//
// In the derivatives the spread of the damping is held, and n' changes with w and u alone, as in place_nearest.c.
#include <math.h>

#include "collide/collision.h"
#include "contact/place.h"
#include "math/pose.h"
#include "math/vector3.h"

// Of a pose.
typedef struct Elastic {
  double A, W, N, F[3], M[3], n[3];
  double centre[3], cov[3][3], d_e;
} Elastic;

typedef struct Round {
  const srImpedanceIn* in;
  const srSurfaceLaws* c;
  double pose[16];
  int answer;
  Elastic at;
  double still, rate[2], ratio[2], spread;  // law(d_e, 0); d'_k, l_k, s
  double turn[3], Q[3];                     // t; (n x)^T C (n x) t
} Round;

// ---- elastic part -------------------------------------------------------------------------------------------------------

static double stiffness(Round* x, double depth) {
  double by[2] = {0};
  const int answer = sr_normal_force_jacobian(x->c, depth, 0, x->in->z, by);
  if (answer != 0) x->answer = answer;
  return by[0];
}

static double law(Round* x, double depth, double rate) {
  srNormalOut out = {0};
  const int answer = sr_normal_force(x->c, depth, rate, x->in->z, &out);
  if (answer != 0) x->answer = answer;
  return out.f;
}

typedef struct Sums {
  Round* x;
  const double* origin;  // of b
  double A, B, depth, r[3], rr[3][3];
  double F1[3], F2[3], M1[3], M2[3];
} Sums;

static void add_point(void* user, const srPatchPoint* at) {
  Sums* s = user;
  Round* x = s->x;
  const double E = sr_normal_force_energy(x->c, at->depth, x->in->z), p = law(x, at->depth, 0);
  const double dp = stiffness(x, at->depth), c1 = at->area * (2 * p * p + 2 * E * dp), c2 = at->area * dp;
  const double side = x->c->patch->rigid == 1 ? -1 : 1, weight = at->area * p;
  double r[3], m[3], arm[3];
  srm_sub3(at->x, s->origin, r);
  srm_scale3(side, at->gradient, m);
  srm_cross3(r, m, arm);
  s->A += weight;
  s->B += 2 * weight * E;
  s->depth += weight * at->depth;
  for (int i = 0; i < 3; i++) {
    s->r[i] += weight * r[i];
    for (int k = 0; k < 3; k++) s->rr[i][k] += weight * r[i] * r[k];
    s->F1[i] += c1 * m[i];
    s->F2[i] += c2 * m[i];
    s->M1[i] += c1 * arm[i];
    s->M2[i] += c2 * arm[i];
  }
}

static void finish(const Sums* s, Elastic* out) {
  out->A = s->A;
  out->W = s->B / s->A;
  out->d_e = 1.5 * s->depth / s->A;
  for (int i = 0; i < 3; i++) {
    out->F[i] = (s->F1[i] - out->W * s->F2[i]) / s->A;
    out->M[i] = (s->M1[i] - out->W * s->M2[i]) / s->A;
    out->centre[i] = s->r[i] / s->A;
  }
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) out->cov[i][k] = s->rr[i][k] / s->A - out->centre[i] * out->centre[k];
  }
  out->N = srm_norm3(out->F);
  for (int i = 0; i < 3; i++) out->n[i] = out->N > 0 ? out->F[i] / out->N : 0;
}

// True: there is a force.
static bool find_elastic(Round* x, const double pose[16], Elastic* out) {
  Sums sums = {.x = x, .origin = pose + 12};
  const srPatchVisitor visitor = {.at = add_point, .user = &sums};
  *out = (Elastic){0};
  (void)sr_patch_visit(x->c->patch, pose, &visitor);
  if (sums.A > 0) finish(&sums, out);
  return out->N > 0;
}

static bool find_round(const srImpedanceIn* in, Round* x) {
  *x = (Round){.in = in, .c = in->data};
  sr_contact_pose(in, x->pose);
  return find_elastic(x, x->pose, &x->at);
}

static double energy(const srImpedanceIn* in) {
  Round x;
  return find_round(in, &x) ? x.at.W : 0;
}

// ---- a small motion -----------------------------------------------------------------------------------------------------

#define PART 1e-3  // of the depth

// The time of a motion by that much.
static double small_time(const Round* x, const double twist[6]) {
  const double speed = srm_norm3(twist + 3) + srm_norm3(twist) * x->c->shape[1]->reach;
  return speed > 0 ? PART * x->at.d_e / speed : 0;
}

// The pose after the time h: rotated by exp[h w], moved by h u.
static void find_moved(Round* x, const double twist[6], double h, Elastic* out) {
  const double angle = h * srm_norm3(twist), s = angle != 0 ? h * sin(0.5 * angle) / angle : 0.5 * h;
  const double q[4] = {cos(0.5 * angle), s * twist[0], s * twist[1], s * twist[2]}, *at = x->pose + 12;
  double turn[16], pose[16];
  srm_pose_identity(turn);
  srm_pose_from_quaternion(q, turn);
  srm_pose_compose(turn, x->pose, pose);
  srm_add_scaled3(at, h, twist + 3, pose + 12);
  (void)find_elastic(x, pose, out);
}

// ---- damping ------------------------------------------------------------------------------------------------------------

// P_second P_first w
static void project(const double* first, const double* second, const double* w, double out[3]) {
  double once[3];
  sr_flat(first, w, once);
  sr_flat(second, once, out);
}

static const double axis_of_a[3] = {0, 0, 1};

// (n x)^T C (n x) t, C the covariance of the points.
static void spread_of(const Round* x, const double t[3], double out[3]) {
  double g[3], moved[3];
  srm_cross3(x->at.n, t, g);
  for (int i = 0; i < 3; i++) {
    moved[i] = 0;
    for (int k = 0; k < 3; k++) moved[i] += x->at.cov[i][k] * g[k];
  }
  srm_cross3(moved, x->at.n, out);
}

static void find_damping(Round* x) {
  const double *w = x->in->xdot, *u = w + 3;
  x->still = law(x, x->at.d_e, 0);
  project(x->pose + 8, axis_of_a, w, x->turn);
  spread_of(x, x->turn, x->Q);
  x->spread = sqrt(fmax(0, srm_dot3(x->turn, x->Q)));
  for (int k = 0; k < 2; k++) {
    x->rate[k] = -(srm_dot3(x->at.F, u) + srm_dot3(x->at.M, w)) / x->at.N + (k == 0 ? x->spread : -x->spread);
    x->ratio[k] = x->still > 0 ? law(x, x->at.d_e, x->rate[k]) / x->still : 1;
  }
}

// (l_1 - l_2)/(2 s); slope: dl/dd', where s is 0.
static double couple_factor(const Round* x, double slope) {
  const double half = 0.5 * (x->ratio[0] - x->ratio[1]), least = 1e-9 * (fabs(x->rate[0]) + srm_norm3(x->in->xdot));
  return x->spread > least ? half / x->spread : slope;
}

static double slope_at(Round* x, int k) {
  double by[2] = {0};
  const int answer = sr_normal_force_jacobian(x->c, x->at.d_e, x->rate[k], x->in->z, by);
  if (answer != 0) x->answer = answer;
  return x->still > 0 ? by[1] / x->still : 0;
}

// ---- place --------------------------------------------------------------------------------------------------------------

static double gyration(const Round* x) {  // tr(P C)
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) sum += ((i == k) - x->at.n[i] * x->at.n[k]) * x->at.cov[i][k];
  }
  return sqrt(fmax(0, sum));
}

static double lever(const Round* x) { return sqrt(8.0) / 3 * gyration(x) + x->c->lever; }

static void put_force(Round* x, srContactPlace* out) {
  const double mean = 0.5 * (x->ratio[0] + x->ratio[1]), factor = couple_factor(x, slope_at(x, 0));
  double couple[3];
  project(axis_of_a, x->pose + 8, x->Q, couple);
  out->N = mean * x->at.N;
  out->N_spin = out->N * lever(x);
  for (int i = 0; i < 3; i++) {
    out->n[i] = x->at.n[i];
    out->r[i] = x->at.centre[i];
    out->force[i] = mean * x->at.F[i];
    out->moment[i] = mean * x->at.M[i] - factor * x->at.N * couple[i];
    if (i < 2) out->dissipation += 0.5 * x->at.N * (x->ratio[i] - 1) * x->rate[i];
  }
}

static void put_none(const Round* x, srContactPlace* out) {
  srNearest near;
  sr_shapes_nearest(x->c->shape[0], x->c->shape[1], x->pose, &near);
  srm_set3(out->n, near.n);
  for (int i = 0; i < 3; i++) out->r[i] = 0.5 * (near.point_a[i] + near.point_b[i]) - x->pose[12 + i];
}

// n' by the motion that goes on.
static void put_turning(Round* x, srContactPlace* out) {
  const double h = small_time(x, x->in->xdot);
  Elastic next;
  if (!(h > 0)) return;
  find_moved(x, x->in->xdot, h, &next);
  for (int i = 0; i < 3 && next.N > 0; i++) out->turning[i] = (next.n[i] - x->at.n[i]) / h;
}

static int place(const srImpedanceIn* in, srContactPlace* out) {
  Round x;
  double pose[16];
  sr_contact_pose(in, pose);
  if (sr_place_far(in, pose, out)) return 0;
  *out = (srContactPlace){0};
  if (find_round(in, &x)) {
    find_damping(&x);
    put_force(&x, out);
    if (x.c->slip.ne > 0) put_turning(&x, out);  // bristles turn with the normal
  } else {
    put_none(&x, out);
  }
  sr_place_motion(in, out);
  return x.answer;
}

// ---- derivatives --------------------------------------------------------------------------------------------------------

// By the pose: the elastic part, and the law by its depth.
static void change_by_pose(Round* x, const double twist[6], srContactChange* out) {
  const double mean = 0.5 * (x->ratio[0] + x->ratio[1]), still = stiffness(x, x->at.d_e), h = small_time(x, twist);
  double by[2], dmean = 0;
  Elastic up, down;
  find_moved(x, twist, h, &up);
  find_moved(x, twist, -h, &down);
  for (int k = 0; k < 2 && x->still > 0; k++) {
    const int answer = sr_normal_force_jacobian(x->c, x->at.d_e, x->rate[k], x->in->z, by);
    if (answer != 0) x->answer = answer;
    dmean += 0.5 * (by[0] - x->ratio[k] * still) / x->still * (up.d_e - down.d_e) / (2 * h);
  }
  out->N = dmean * x->at.N + mean * (up.N - down.N) / (2 * h);
  for (int i = 0; i < 3; i++) {
    out->n[i] = (up.n[i] - down.n[i]) / (2 * h);
    out->r[i] = (up.centre[i] - down.centre[i]) / (2 * h);
    out->force[i] = dmean * x->at.F[i] + mean * (up.F[i] - down.F[i]) / (2 * h);
    out->moment[i] = dmean * x->at.M[i] + mean * (up.M[i] - down.M[i]) / (2 * h);
  }
}

// By the velocities.
static void change_by_rate(Round* x, const double twist[6], const double slope[2], srContactChange* out) {
  double turn[3], Q[3], couple[3], dratio[2];
  const double middle = -(srm_dot3(x->at.F, twist + 3) + srm_dot3(x->at.M, twist)) / x->at.N,
               factor = couple_factor(x, slope[0]);
  project(x->pose + 8, axis_of_a, twist, turn);
  spread_of(x, turn, Q);
  const double spread = x->spread > 0 ? srm_dot3(x->Q, turn) / x->spread : 0;
  for (int k = 0; k < 2; k++) dratio[k] = slope[k] * (middle + (k == 0 ? spread : -spread));
  const double dmean = 0.5 * (dratio[0] + dratio[1]);
  const double dfactor = x->spread > 0 ? (0.5 * (dratio[0] - dratio[1]) - factor * spread) / x->spread : 0;
  for (int i = 0; i < 3; i++) Q[i] = factor * Q[i] + dfactor * x->Q[i];
  project(axis_of_a, x->pose + 8, Q, couple);
  out->N = dmean * x->at.N;
  for (int i = 0; i < 3; i++) {
    out->force[i] = dmean * x->at.F[i];
    out->moment[i] = dmean * x->at.M[i] - x->at.N * couple[i];
  }
}

static int change(const srImpedanceIn* in, const srContactPlace* at, srContactChange out[12]) {
  Round x;
  for (int j = 0; j < 12; j++) out[j] = (srContactChange){0};
  if (find_round(in, &x)) {
    find_damping(&x);
    const double slope[2] = {slope_at(&x, 0), slope_at(&x, 1)};
    for (int j = 0; j < 6; j++) {
      double twist[6] = {0};
      twist[j] = 1;
      change_by_pose(&x, twist, &out[j]);
      change_by_rate(&x, twist, slope, &out[6 + j]);
      srm_set3(out[6 + j].turning, out[j].n);
    }
    for (int j = 0; j < 12; j++) out[j].N_spin = out[j].N * lever(&x);
  }
  for (int j = 0; j < 12; j++) sr_change_motion(in, at, j, &out[j]);
  return x.answer;
}

const srContactGeometry sr_place_round = {place, change, energy};
