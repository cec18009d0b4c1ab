// A line of pressure: a capsule along a box, a hull, a cylinder, a cone or another capsule (collide/line.h).
//
// With d(s) > 0 the depth along the core, p(d) the law at rest and E' = p, the energy is twice the mean of E, weighted with p:
//   W = B/A,   A = integral of p ds,   B = integral of 2 E p ds
// It depends on the relative pose alone and has no length of its own. Of a depth that is linear in s, d1 and d2 at the ends where it is positive,
//   W = E(d1) + E(d2):   the law at both ends, as on a plane;   with one end clear, E(d1): the law at one point, whatever the tilt
// and of a parabola, where the core crosses an edge, 48/35 of it (law linear in depth). The force is minus its gradient:
//   F = sum q_i n_i,   M = sum r_i x q_i n_i,   q = [2 p^2 + (2 E - W) p'] ds/A
// so that it is continuous wherever the depth is: two edges that become parallel, an end that comes or goes.
//
// The rest of the law, its damping, is that of two points at +-tau u from the centre r of F, u the axis, each with half of it:
//   l_i = law(d_max, d_i')/law(d_max, 0),   force (l_1 + l_2)/2 F,   moment (l_1 + l_2)/2 M + (l_1 - l_2)/2 |F| tau u x n
//   d_i' = -(F.v + M.w)/|F| -+ tau n.(w x u),   tau^2 = 3 (variance of s weighted with p): half of the length of a line of constant pressure
// Dissipation |F|/2 sum (l_i - 1) d_i' >= 0, and where the law is 0 at both points there is no force. tau is the lever of spinning as well.
//
// In the derivatives n' changes with w and u alone, as in place_nearest.c. Where damping exceeds the elastic part, at the beginning of an impact, the geometry
// (n, r, tau) of its points is held: it changes with the pose over a range as small as the depth, and an implicit method that took it as the slope of a whole
// step would end its iteration at once, without the force.
#include <math.h>

#include "collide/collision.h"
#include "contact/place.h"
#include "math/vector3.h"

typedef struct Pressure {
  double E, p, dp;  // energy, law at rest, its derivative
  double q;
} Pressure;

typedef struct Line {
  const srImpedanceIn* in;
  const srSurfaceLaws* c;
  int answer;
  srLine line;
  Pressure at[SR_LINE_POINTS];
  double A, W, N;              // N = |F|
  double F[3], M[3], n[3];     // elastic part
  double first[3][3], r[3];    // sum of q_i n_i r_i^T, and the centre
  double mean, variance, tau;  // of s
  double still;                // law(d_max, 0)
  double rate[2], ratio[2];    // d_i', l_i
} Line;

// What a direction does to it.
typedef struct Change {
  double A, W, N, F[3], M[3], n[3], first[3][3], r[3], moment[2], tau, depth;
} Change;

// ---- elastic part -------------------------------------------------------------------------------------------------------

static double stiffness(Line* x, double depth) {
  double by[2];
  const int answer = sr_normal_force_jacobian(x->c, depth, 0, x->in->z, by);
  if (answer != 0) x->answer = answer;
  return by[0];
}

static double law(Line* x, double depth, double rate) {
  srNormalOut out = {0};
  const int answer = sr_normal_force(x->c, depth, rate, x->in->z, &out);
  if (answer != 0) x->answer = answer;
  return out.f;
}

static void find_energy(Line* x) {
  double B = 0, sum[2] = {0};
  for (int i = 0; i < x->line.n; i++) {
    const srLinePoint* at = &x->line.point[i];
    Pressure* y = &x->at[i];
    y->E = sr_normal_force_energy(x->c, at->depth, x->in->z);
    y->p = law(x, at->depth, 0);
    const double weight = at->weight * y->p;
    x->A += weight;
    B += 2 * weight * y->E;
    sum[0] += weight * at->s;
    sum[1] += weight * at->s * at->s;
  }
  if (!(x->A > 0)) return;
  x->W = B / x->A;
  x->mean = sum[0] / x->A;
  x->variance = fmax(0, sum[1] / x->A - x->mean * x->mean);
  x->tau = sqrt(3 * x->variance);
}

static void find_force(Line* x) {
  for (int i = 0; i < x->line.n && x->A > 0; i++) {
    const srLinePoint* at = &x->line.point[i];
    Pressure* y = &x->at[i];
    double moment[3];
    y->dp = stiffness(x, at->depth);
    y->q = at->weight * (2 * y->p * y->p + (2 * y->E - x->W) * y->dp) / x->A;
    srm_cross3(at->arm, at->near.n, moment);
    for (int j = 0; j < 3; j++) {
      x->F[j] += y->q * at->near.n[j];
      x->M[j] += y->q * moment[j];
      for (int k = 0; k < 3; k++) x->first[j][k] += y->q * at->near.n[j] * at->arm[k];
    }
  }
  x->N = srm_norm3(x->F);
  for (int j = 0; j < 3; j++) x->n[j] = x->N > 0 ? x->F[j] / x->N : x->line.deepest.near.n[j];
  for (int k = 0; k < 3; k++) {
    x->r[k] = x->line.deepest.arm[k];
    if (x->N > 0) x->r[k] = (x->n[0] * x->first[0][k] + x->n[1] * x->first[1][k] + x->n[2] * x->first[2][k]) / x->N;
  }
}

static void find_line(const srImpedanceIn* in, const double pose[16], Line* x) {
  x->in = in;
  x->c = in->data;
  x->answer = 0;
  x->A = x->W = x->N = x->mean = x->variance = x->tau = 0;
  for (int i = 0; i < 3; i++) {
    x->F[i] = x->M[i] = 0;
    for (int k = 0; k < 3; k++) x->first[i][k] = 0;
  }
  sr_line_find(&x->c->shape[0]->convex, &x->c->shape[1]->convex, x->c->patch->rigid, pose, &x->line);
  find_energy(x);
}

static double energy(const srImpedanceIn* in) {
  Line x;
  double pose[16];
  sr_contact_pose(in, pose);
  find_line(in, pose, &x);
  return x.W;
}

// ---- damping ------------------------------------------------------------------------------------------------------------

static double spread_rate(const Line* x) {  // -n.(w x u)
  double turned[3];
  srm_cross3(x->in->xdot, x->line.axis, turned);
  return -srm_dot3(x->n, turned);
}

static void find_damping(Line* x) {
  const double *w = x->in->xdot, *u = w + 3;
  x->still = x->N > 0 ? law(x, x->line.deepest.depth, 0) : 0;
  for (int i = 0; i < 2; i++) {
    x->rate[i] = 0;
    x->ratio[i] = 1;
    if (!(x->still > 0)) continue;
    x->rate[i] = -(srm_dot3(x->F, u) + srm_dot3(x->M, w)) / x->N + (i == 0 ? 1 : -1) * x->tau * spread_rate(x);
    x->ratio[i] = law(x, x->line.deepest.depth, x->rate[i]) / x->still;
  }
}

// ---- derivatives --------------------------------------------------------------------------------------------------------

#define PART 1e-4  // of a depth: second derivatives of the law by differences
#define EDGE 1e-9  // of the largest depth: the derivative of the law where it begins

static void add_force_change(const srLinePoint* at, double q, const srLineChange* d, double dq, Change* out) {
  double arm[3], one[3], two[3];
  srm_cross3(at->arm, at->near.n, arm);
  srm_cross3(d->arm, at->near.n, one);
  srm_cross3(at->arm, d->n, two);
  for (int j = 0; j < 3; j++) {
    out->F[j] += dq * at->near.n[j] + q * d->n[j];
    out->M[j] += dq * arm[j] + q * (one[j] + two[j]);
    for (int k = 0; k < 3; k++) {
      out->first[j][k] += dq * at->near.n[j] * at->arm[k] + q * (d->n[j] * at->arm[k] + at->near.n[j] * d->arm[k]);
    }
  }
}

// The derivatives of A and W, and of the moments of s.
static void add_energy_change(const Line* x, const srLineChange change[], Change* out) {
  for (int i = 0; i < x->line.n; i++) {
    const srLinePoint* at = &x->line.point[i];
    const double dA = at->weight * x->at[i].dp * change[i].depth;
    out->A += dA;
    out->W += x->at[i].q * change[i].depth;
    out->moment[0] += dA * at->s;
    out->moment[1] += dA * at->s * at->s;
  }
}

static void finish_change(const Line* x, Change* out) {
  out->N = srm_dot3(x->n, out->F);
  sr_flat(x->n, out->F, out->n);
  for (int k = 0; k < 3; k++) out->n[k] /= x->N;
  for (int k = 0; k < 3; k++) {
    out->r[k] = -x->r[k] * out->N;
    for (int j = 0; j < 3; j++) out->r[k] += out->n[j] * x->first[j][k] + x->n[j] * out->first[j][k];
    out->r[k] /= x->N;
  }
  const double mean = (out->moment[0] - x->mean * out->A) / x->A;
  const double square = (out->moment[1] - (x->variance + x->mean * x->mean) * out->A) / x->A;
  out->tau = x->tau > 0 ? 1.5 * (square - 2 * x->mean * mean) / x->tau : 0;
}

// What the points need in all directions.
typedef struct Slopes {
  srNearestDerivative by[SR_LINE_POINTS], end[2], deepest;
  double ddp[SR_LINE_POINTS], edge;
} Slopes;

static void find_slopes(Line* x, Slopes* out) {
  for (int i = 0; i < x->line.n; i++) {
    const double depth = x->line.point[i].depth, h = PART * depth;
    sr_nearest_derivative(&x->line.point[i].near, &out->by[i]);
    out->ddp[i] = (stiffness(x, depth + h) - stiffness(x, depth - h)) / (2 * h);
  }
  for (int e = 0; e < x->line.nend; e++) sr_nearest_derivative(&x->line.end[e].near, &out->end[e]);
  sr_nearest_derivative(&x->line.deepest.near, &out->deepest);
  out->edge = stiffness(x, EDGE * x->line.deepest.depth);
}

// Along a motion of b. The ends of the interval move by the change of their depth over its slope.
static void change_of(const Line* x, const Slopes* slopes, const double twist[6], Change* out) {
  srLineChange change[SR_LINE_POINTS], d;
  *out = (Change){0};
  for (int i = 0; i < x->line.n; i++) sr_line_change(&x->line, &x->line.point[i], &slopes->by[i], twist, &change[i]);
  add_energy_change(x, change, out);
  for (int i = 0; i < x->line.n; i++) {
    const srLinePoint* at = &x->line.point[i];
    const Pressure* y = &x->at[i];
    const double curve = 6 * y->p * y->dp + (2 * y->E - x->W) * slopes->ddp[i];
    const double dq = (at->weight * (curve * change[i].depth - y->dp * out->W) - y->q * out->A) / x->A;
    add_force_change(at, y->q, &change[i], dq, out);
  }
  for (int e = 0; e < x->line.nend; e++) {
    const srLinePoint* at = &x->line.end[e];
    sr_line_change(&x->line, at, &slopes->end[e], twist, &d);
    add_force_change(at, 0, &d, -x->W * slopes->edge / x->A * at->weight * d.depth, out);
  }
  sr_line_change(&x->line, &x->line.deepest, &slopes->deepest, twist, &d);
  out->depth = d.depth;
  finish_change(x, out);
}

// ---- place --------------------------------------------------------------------------------------------------------------

static void put_force(const Line* x, srContactPlace* out) {
  const double mean = 0.5 * (x->ratio[0] + x->ratio[1]), half = 0.5 * (x->ratio[0] - x->ratio[1]);
  double across[3];
  srm_cross3(x->line.axis, x->n, across);
  out->N = mean * x->N;
  for (int i = 0; i < 3; i++) {
    out->n[i] = x->n[i];
    out->r[i] = x->r[i] + (mean > 0 ? half / mean * x->tau * x->line.axis[i] : 0);
    out->force[i] = mean * x->F[i];
    out->moment[i] = mean * x->M[i] + half * x->N * x->tau * across[i];
    if (i < 2) out->dissipation += 0.5 * x->N * (x->ratio[i] - 1) * x->rate[i];
  }
  out->N_spin = out->N * (x->tau + x->c->lever);
}

static int place(const srImpedanceIn* in, srContactPlace* out) {
  Line x;
  double pose[16];
  sr_contact_pose(in, pose);
  if (sr_place_far(in, pose, out)) return 0;
  *out = (srContactPlace){0};
  find_line(in, pose, &x);
  find_force(&x);
  find_damping(&x);
  put_force(&x, out);
  sr_place_motion(in, out);
  if (x.c->slip.ne == 0 || !(x.N > 0)) return x.answer;  // nothing turns with the normal
  Slopes slopes;
  Change along;
  find_slopes(&x, &slopes);
  change_of(&x, &slopes, in->xdot, &along);
  srm_set3(out->turning, along.n);
  return x.answer;
}

// ---- derivatives of the place -------------------------------------------------------------------------------------------

// Of the two rates, along the change d of the elastic part and those of the twist, and of the axis.
static void rate_change(const Line* x, const Change* d, const double twist[6], const double axis[3], double out[2]) {
  const double *w = x->in->xdot, *u = w + 3;
  double one[3], two[3], turned[3];
  srm_cross3(w, x->line.axis, turned);
  srm_cross3(twist, x->line.axis, one);
  srm_cross3(w, axis, two);
  const double middle = -(srm_dot3(x->F, u) + srm_dot3(x->M, w)) / x->N;
  const double change = -(srm_dot3(d->F, u) + srm_dot3(d->M, w) + srm_dot3(x->F, twist + 3) + srm_dot3(x->M, twist));
  const double spread =
      d->tau * spread_rate(x) - x->tau * (srm_dot3(d->n, turned) + srm_dot3(x->n, one) + srm_dot3(x->n, two));
  for (int i = 0; i < 2; i++) out[i] = (change - middle * d->N) / x->N + (i == 0 ? spread : -spread);
}

// by: derivatives of the law at the two points; still: at rest.
static void place_change(const Line* x, const Change* d, const double dratio[2], const double axis[3],
                         srContactChange* out) {
  const double mean = 0.5 * (x->ratio[0] + x->ratio[1]), half = 0.5 * (x->ratio[0] - x->ratio[1]);
  const double dmean = 0.5 * (dratio[0] + dratio[1]), dhalf = 0.5 * (dratio[0] - dratio[1]);
  const double part = mean > 0 ? half / mean : 0, dpart = mean > 0 ? (dhalf - part * dmean) / mean : 0;
  const double couple = half * x->N * x->tau;
  const double dcouple = dhalf * x->N * x->tau + half * (d->N * x->tau + x->N * d->tau);
  double across[3], one[3], two[3];
  srm_cross3(x->line.axis, x->n, across);
  srm_cross3(axis, x->n, one);
  srm_cross3(x->line.axis, d->n, two);
  out->N = dmean * x->N + mean * d->N;
  out->N_spin = out->N * (x->tau + x->c->lever) + mean * x->N * d->tau;
  for (int i = 0; i < 3; i++) {
    const double* u = x->line.axis;
    out->n[i] = d->n[i];
    out->r[i] = d->r[i] + dpart * x->tau * u[i] + part * (d->tau * u[i] + x->tau * axis[i]);
    out->force[i] = dmean * x->F[i] + mean * d->F[i];
    out->moment[i] = dmean * x->M[i] + mean * d->M[i] + dcouple * across[i] + couple * (one[i] + two[i]);
  }
}

// Adds the elastic part where the rest has been differentiated at a fixed geometry.
static void add_elastic(const Change* d, srContactChange* out) {
  out->N += d->N;
  for (int i = 0; i < 3; i++) {
    out->force[i] += d->F[i];
    out->moment[i] += d->M[i];
  }
}

static int change(const srImpedanceIn* in, const srContactPlace* at, srContactChange out[12]) {
  Line x;
  Slopes slopes;
  double pose[16], by[2][2], still;
  sr_contact_pose(in, pose);
  find_line(in, pose, &x);
  find_force(&x);
  find_damping(&x);
  for (int j = 0; j < 12; j++) {
    out[j] = (srContactChange){0};
    sr_change_motion(in, at, j, &out[j]);
  }
  if (!(x.still > 0)) return x.answer;
  find_slopes(&x, &slopes);
  still = stiffness(&x, x.line.deepest.depth);
  for (int i = 0; i < 2; i++) {
    const int answer = sr_normal_force_jacobian(x.c, x.line.deepest.depth, x.rate[i], in->z, by[i]);
    if (answer != 0) x.answer = answer;
  }
  const bool held = fmax(fabs(x.ratio[0] - 1), fabs(x.ratio[1] - 1)) > 1;
  double turning[6][3];
  for (int j = 0; j < 12; j++) {
    double twist[6] = {0}, none[6] = {0}, axis[3] = {0}, drate[2], dratio[2];
    Change d = {0}, elastic = {0};
    twist[j % 6] = 1;
    if (j < 6) change_of(&x, &slopes, twist, &d);
    if (j < 6) srm_set3(turning[j], d.n);
    if (held) {
      elastic = d;
      d = (Change){.depth = elastic.depth};
    }
    if (j < 3 && x.line.which == 1 && !held) srm_cross3(twist, x.line.axis, axis);
    rate_change(&x, &d, j < 6 ? none : twist, axis, drate);
    for (int i = 0; i < 2; i++)
      dratio[i] = (by[i][0] * d.depth + by[i][1] * drate[i] - (held ? 1 : x.ratio[i]) * still * d.depth) / x.still;
    place_change(&x, &d, dratio, axis, &out[j]);
    add_elastic(&elastic, &out[j]);
    if (j >= 6) srm_set3(out[j].turning, turning[j - 6]);
    sr_change_motion(in, at, j, &out[j]);
  }
  return x.answer;
}

const srContactGeometry sr_place_line = {place, change, energy};
