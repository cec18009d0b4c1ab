// Contact of a surface that may touch another shape at several points: a mesh, a height field or a parametric surface (collide/collision.h). The normal law
// acts at each point along its own normal; friction is one rigid field of all of them, as on a patch.
//
//   d_i = -gap_i,  d_i' = -n_i.(u + w x r_i),  N_i = law(d_i, d_i')      force sum N_i n_i,  moment sum r_i x N_i n_i,  energy sum E(d_i)
//   n = force/|force|,   N = sum N_i (of one point the same),   r = sum N_i r_i/N,   n' = P sum N_i n_i'/|force|
//   lever of spinning R = sqrt(G/N),  G = sum N_i |P (r_i - r)|^2
// A point is between the nearest points of the two shapes. Points appear and disappear where their gap is 0, so that the force has no jump.
#include <math.h>

#include "collide/collision.h"
#include "contact/place.h"
#include "math/pose.h"

#define CANCEL 1e-9  // forces whose sum is this part of them have no common normal

typedef struct Points {
  int n;
  srNearest near[SR_CONTACTS_MOST];
} Points;

static void find(const srImpedanceIn* in, const double pose[16], Points* out) {
  const srSurfaceLaws* c = in->data;
  out->n = sr_surface_contacts(c->shape[0], c->shape[1], pose, 0, out->near, SR_CONTACTS_MOST);
}

static void arm_of(const srImpedanceIn* in, const srNearest* x, double r[3]) {
  for (int i = 0; i < 3; i++) r[i] = 0.5 * (x->point_a[i] + x->point_b[i]) - in->x[3 + i];
}

// u + w x r
static void velocity_at(const srImpedanceIn* in, const double r[3], double v[3]) {
  srm_cross3(in->xdot, r, v);
  for (int i = 0; i < 3; i++) v[i] += in->xdot[3 + i];
}

static double along(const double row[6], const double* twist) {
  return srm_dot3(row, twist) + srm_dot3(row + 3, twist + 3);
}

// ---- place --------------------------------------------------------------------------------------------------------------

static int add_point(const srImpedanceIn* in, const srNearest* x, srContactPlace* out) {
  const srSurfaceLaws* c = in->data;
  srNormalOut normal;
  double r[3], v[3], f[3], moment[3];
  arm_of(in, x, r);
  velocity_at(in, r, v);
  const int answer = sr_normal_force(c, -x->gap, -srm_dot3(x->n, v), in->z, &normal);
  for (int i = 0; i < 3; i++) f[i] = normal.f * x->n[i];
  srm_cross3(r, f, moment);
  for (int i = 0; i < 3; i++) {
    out->force[i] += f[i];
    out->moment[i] += moment[i];
    out->r[i] += normal.f * r[i];
  }
  out->N += normal.f;
  out->dissipation += normal.dissipation;
  if (c->slip.ne == 0) return answer;  // nothing turns with the normal
  srNearestDerivative by;
  sr_nearest_derivative(x, &by);
  for (int i = 0; i < 3; i++) out->turning[i] += normal.f * along(by.n[i], in->xdot);
  return answer;
}

static double normal_at(const srImpedanceIn* in, const srNearest* x) {
  srNormalOut normal;
  double r[3], v[3];
  arm_of(in, x, r);
  velocity_at(in, r, v);
  (void)sr_normal_force(in->data, -x->gap, -srm_dot3(x->n, v), in->z, &normal);
  return normal.f;
}

// What the flat part of the arm from the centre contributes.
static double gyration(const srImpedanceIn* in, const Points* p, const srContactPlace* at) {
  double sum = 0, arm[3], flat[3];
  for (int k = 0; k < p->n && p->n > 1; k++) {
    arm_of(in, &p->near[k], arm);
    for (int i = 0; i < 3; i++) arm[i] -= at->r[i];
    sr_flat(at->n, arm, flat);
    sum += normal_at(in, &p->near[k]) * srm_dot3(flat, flat);
  }
  return sum;
}

// The normal of all points, or of the deepest where they cancel; without a point, from origin to origin.
static void find_normal(const Points* p, const double* x, srContactPlace* out) {
  const double size = srm_norm3(out->force), distance = srm_norm3(x);
  const double up[3] = {0, 0, 1}, *n = p->n > 0 ? p->near[0].n : distance > 0 ? x : up;
  const double length = p->n > 0 || !(distance > 0) ? 1 : distance;
  const bool known = p->n > 1 && size > CANCEL * out->N;
  double turning[3];
  for (int i = 0; i < 3; i++) {
    out->n[i] = known ? out->force[i] / size : n[i] / length;
    out->r[i] = out->N > 0 ? out->r[i] / out->N : 0;
    turning[i] = size > CANCEL * out->N ? out->turning[i] / size : 0;
  }
  sr_flat(out->n, turning, out->turning);
}

static int place(const srImpedanceIn* in, srContactPlace* out) {
  const srSurfaceLaws* c = in->data;
  Points p;
  double pose[16];
  int answer = 0;
  sr_contact_pose(in, pose);
  if (sr_place_far(in, pose, out)) return 0;
  *out = (srContactPlace){0};
  find(in, pose, &p);
  for (int k = 0; k < p.n && answer == 0; k++) answer = add_point(in, &p.near[k], out);
  find_normal(&p, in->x + 3, out);
  sr_place_motion(in, out);
  out->N_spin = sqrt(out->N * gyration(in, &p, out)) + c->lever * out->N;
  return answer;
}

// ---- derivatives --------------------------------------------------------------------------------------------------------

typedef struct PointChange {
  double N, n[3], r[3];
} PointChange;

// by: derivatives of the normal force.   d(gap') = dn.(u + w x r) + n.(du + dw x r + w x dr)
static void change_point(const srImpedanceIn* in, const srNearestDerivative* of, const srNearest* x, const double r[3],
                         const double by[2], int j, PointChange* d) {
  double v[3], one[3], two[3], twist[6] = {0};
  *d = (PointChange){0};
  if (j >= 6) twist[j - 6] = 1;
  for (int i = 0; i < 3 && j < 6; i++) {
    d->n[i] = of->n[i][j];
    d->r[i] = 0.5 * (of->point_a[i][j] + of->point_b[i][j]) - (j == 3 + i);
  }
  velocity_at(in, r, v);
  srm_cross3(in->xdot, d->r, one);
  srm_cross3(twist, r, two);
  double rate = srm_dot3(d->n, v);
  for (int i = 0; i < 3; i++) rate += x->n[i] * (one[i] + two[i] + twist[3 + i]);
  d->N = -by[0] * (j < 6 ? of->gap[j] : 0) - by[1] * rate;
}

typedef struct Change {
  const srContactPlace* at;
  double G, dG[12];
  srContactChange* out;
} Change;

static void add_change(Change* c, const PointChange* d, const srNearest* x, const double r[3], double N, int j) {
  srContactChange* out = &c->out[j];
  double df[3], f[3], one[3], two[3];
  for (int i = 0; i < 3; i++) {
    f[i] = N * x->n[i];
    df[i] = d->N * x->n[i] + N * d->n[i];
  }
  srm_cross3(d->r, f, one);
  srm_cross3(r, df, two);
  out->N += d->N;
  for (int i = 0; i < 3; i++) {
    out->force[i] += df[i];
    out->moment[i] += one[i] + two[i];
    out->r[i] += d->N * (r[i] - c->at->r[i]) + N * d->r[i];
  }
}

// |P a|^2 with a = r_i - r; sums of N_i a are 0, so that the change of r drops out.
static void add_gyration(Change* c, const PointChange* d, const double r[3], double N, int j) {
  double a[3], flat[3];
  for (int i = 0; i < 3; i++) a[i] = r[i] - c->at->r[i];
  sr_flat(c->at->n, a, flat);
  if (j == 0) c->G += N * srm_dot3(flat, flat);
  c->dG[j] +=
      d->N * srm_dot3(flat, flat) + 2 * N * (srm_dot3(flat, d->r) - srm_dot3(c->at->n, a) * srm_dot3(c->out[j].n, a));
}

static void finish(const srImpedanceIn* in, const Change* c, int j) {
  const srSurfaceLaws* laws = in->data;
  const srContactPlace* at = c->at;
  srContactChange* d = &c->out[j];
  for (int i = 0; i < 3; i++) d->r[i] = at->N > 0 ? d->r[i] / at->N : 0;
  d->N_spin = laws->lever * d->N;
  if (at->N * c->G > 0) d->N_spin += 0.5 * (d->N * c->G + at->N * c->dG[j]) / sqrt(at->N * c->G);
  sr_change_motion(in, at, j, d);
}

typedef struct Known {
  double r[3], N, by[2];
  srNearestDerivative of;
} Known;

static int know(const srImpedanceIn* in, const srNearest* x, Known* out) {
  double v[3];
  arm_of(in, x, out->r);
  velocity_at(in, out->r, v);
  out->N = normal_at(in, x);
  sr_nearest_derivative(x, &out->of);
  return sr_normal_force_jacobian(in->data, -x->gap, -srm_dot3(x->n, v), in->z, out->by);
}

static int change(const srImpedanceIn* in, const srContactPlace* at, srContactChange out[12]) {
  Points p = {0};
  Known known[SR_CONTACTS_MOST];
  PointChange d;
  Change c = {.at = at, .out = out};
  double pose[16];
  int answer = 0;
  const double size = srm_norm3(at->force);
  sr_contact_pose(in, pose);
  for (int j = 0; j < 12; j++) out[j] = (srContactChange){0};
  find(in, pose, &p);
  for (int k = 0; k < p.n && answer == 0; k++) answer = know(in, &p.near[k], &known[k]);
  for (int j = 0; j < 12 && answer == 0; j++) {
    for (int k = 0; k < p.n; k++) {
      const Known* x = &known[k];
      change_point(in, &x->of, &p.near[k], x->r, x->by, j, &d);
      add_change(&c, &d, &p.near[k], x->r, x->N, j);
      for (int i = 0; i < 3 && j >= 6 && size > 0; i++) out[j].turning[i] += x->N * x->of.n[i][j - 6] / size;
    }
    if (size > 0) sr_flat(at->n, out[j].force, out[j].n);
    for (int i = 0; i < 3 && size > 0; i++) out[j].n[i] /= size;
    for (int k = 0; k < p.n; k++) {
      change_point(in, &known[k].of, &p.near[k], known[k].r, known[k].by, j, &d);
      add_gyration(&c, &d, known[k].r, known[k].N, j);
    }
    finish(in, &c, j);
  }
  return answer;
}

static double energy(const srImpedanceIn* in) {
  const srSurfaceLaws* c = in->data;
  Points p;
  double pose[16], sum = 0;
  sr_contact_pose(in, pose);
  if (sr_shapes_are_far(c->shape[0], c->shape[1], pose)) return 0;
  find(in, pose, &p);
  for (int k = 0; k < p.n; k++) sum += sr_normal_force_energy(c, -p.near[k].gap, in->z);
  return sum;
}

const srContactGeometry sr_place_points = {place, change, energy};
