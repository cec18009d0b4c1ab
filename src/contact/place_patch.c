// Pressure over the patch of two shapes with flat faces (collide/patch.h): the normal law at every point of integration, and friction as one
// rigid field of the patch, so that no memory is lost when corners and edges come and go.
//
// Points and their normals n_i are fixed to the rigid shape of the two; depths d_i are a field of the other one, with the unit gradient -m_i, m from
// a to b. With v_i = u + w x r_i the depth changes by d_i' = -m_i.v_i. What the law has at rest is elastic and acts along n_i, so that it is the
// derivative of an energy; the rest is damping and acts along m_i on the area that faces it, so that it dissipates at every point, and nothing in
// a shape that slides along the other one, a little tilted:
//   f_i = A_i/A [law(d_i, 0) n_i + max(0, n_i.m_i) (law(d_i, d_i') - law(d_i, 0)) m_i]
//   force sum f_i,   moment sum r_i x f_i,   energy sum S_i/A E(d_i), of triangles sum V_i/A law(d_i, 0)
//   n = elastic part of the force/its length (on a plane its normal),   N = n.force,   w_i = n.f_i,   centre of pressure r = sum w_i r_i/N
//   lever of spinning R = k sqrt(G/N),  G = sum w_i |P (r_i - r)|^2,  k = sqrt(8)/3: friction has the moment mu N R about n while the patch turns
// k makes it the integral of p r over a disc of constant pressure, 2/3 of its radius; on a square it is 0.7 % too large, on a thin line 9 %. The
// radius of gyration is a polynomial that is integrated exactly whatever triangles a polygon is cut into; the integral of p r is not, and
// jumps by some percent where corners merge. For two points k = 1.
// The law's A is that of the smaller face: K is that of a face in full contact. By the theorem of Gauss the force of one face is along the normal of the
// shape that has the field of depths, however the other one rolls on it: n' = w x n where that shape is b, else 0. Where n passes from one face to
// another, bristles are projected.
//
// A capsule on a plane has two points, its end spheres, each with the whole law (A_i = A).
#include <math.h>

#include "collide/collision.h"
#include "contact/place.h"
#include "math/pose.h"

// A point of the patch. The material point that carries it is at r + offset n: the sphere at the end of a capsule.
typedef struct Point {
  double r[3], n[3], m[3];
  double
      bend[3];  // of the field of depths: m changes by bend (bend.dx) where the point moves by dx from the other solid
  double depth, area, store, volume, offset;
} Point;

typedef struct Patch {
  const srImpedanceIn* in;
  const srSurfaceLaws* c;
  double pose[16];
  void (*at)(struct Patch* p, const Point* point);
  int answer;
  srContactPlace* place;
  double elastic[3];       // of the force
  double first[3][3];      // sum of f_i r_i^T
  double second[3][3][3];  // sum of f_i r_i r_i^T
  const srContactPlace* fixed;
  double energy;
  srContactChange* change;
  double delastic[12][3];
  double gyration, dgyration[12];  // G
} Patch;

static bool moves_with_b(const srSurfaceLaws* c) { return c->patch->rigid == 1; }
// The normal of triangles is theirs, a's.
static bool turns_with_b(const srSurfaceLaws* c) { return !moves_with_b(c) && !c->patch->body[0].surface; }

// ---- points -------------------------------------------------------------------------------------------------------------

static void visit_point(void* user, const srPatchPoint* x) {
  Patch* p = user;
  const double A = p->c->patch->area;
  Point point = {.depth = x->depth, .area = x->area / A, .store = x->store / A, .volume = x->volume / A};
  for (int i = 0; i < 3; i++) {
    point.r[i] = x->x[i] - p->pose[12 + i];
    point.n[i] = x->n[i];
    point.m[i] = moves_with_b(p->c) ? -x->gradient[i] : x->gradient[i];
    point.bend[i] = x->bend[i];
  }
  p->at(p, &point);
}

static void visit_ends(Patch* p) {
  const srConvex* capsule = &p->c->shape[1]->convex;
  for (int side = -1; side <= 1; side += 2) {
    const double* axis = p->pose + 8;
    const double z = p->pose[14] + side * capsule->size[2] * axis[2], depth = capsule->radius - z;
    Point point = {.n = {0, 0, 1}, .m = {0, 0, 1}, .depth = depth, .area = 1, .store = 1};
    if (depth <= 0) continue;
    point.offset = capsule->radius;
    for (int i = 0; i < 3; i++) point.r[i] = side * capsule->size[2] * axis[i] - point.offset * point.n[i];
    p->at(p, &point);
  }
}

// A law of higher degree needs more points.
static bool is_linear(const srSurfaceLaws* c) { return (c->law->uses & (SR_NORMAL_USES(n) | SR_NORMAL_USES(e))) == 0; }

static void visit(Patch* p, void (*at)(Patch* p, const Point* point), bool energy) {
  p->at = at;
  if (p->c->shape[1]->convex.kind == SR_KIND_CAPSULE) {
    visit_ends(p);
    return;
  }
  const srPatchVisitor visitor = {.at = visit_point, .user = p, .fine = !is_linear(p->c), .energy = energy};
  (void)sr_patch_visit(p->c->patch, p->pose, &visitor);
}

static Patch begin(const srImpedanceIn* in) {
  Patch p = {.in = in, .c = in->data};
  sr_contact_pose(in, p.pose);
  return p;
}

// u + w x r
static void velocity_at(const srImpedanceIn* in, const double* r, double v[3]) {
  srm_cross3(in->xdot, r, v);
  for (int i = 0; i < 3; i++) v[i] += in->xdot[3 + i];
}

// The law at a point: its elastic part, and the rest on the area that faces m.
typedef struct PointLaw {
  double rate;              // d'
  double elastic, damping;  // of the whole area A
  double facing;            // max(0, n.m)
} PointLaw;

static void law_at(Patch* p, const Point* x, PointLaw* out) {
  srNormalOut still, moving;
  double v[3];
  velocity_at(p->in, x->r, v);
  out->rate = -srm_dot3(x->m, v);
  out->facing = fmax(0, srm_dot3(x->n, x->m));
  int answer = sr_normal_force(p->c, x->depth, 0, p->in->z, &still);
  if (answer == 0) answer = sr_normal_force(p->c, x->depth, out->rate, p->in->z, &moving);
  if (answer != 0) p->answer = answer;
  out->elastic = still.f;
  out->damping = moving.f - still.f;
}

static void force_at(const Point* x, const PointLaw* law, double f[3]) {
  for (int i = 0; i < 3; i++) f[i] = x->area * (law->elastic * x->n[i] + law->facing * law->damping * x->m[i]);
}

// ---- place --------------------------------------------------------------------------------------------------------------

static void add_force(Patch* p, const Point* x) {
  PointLaw law;
  double f[3], moment[3];
  law_at(p, x, &law);
  force_at(x, &law, f);
  srm_cross3(x->r, f, moment);
  for (int i = 0; i < 3; i++) {
    p->place->force[i] += f[i];
    p->place->moment[i] += moment[i];
    p->elastic[i] += x->area * law.elastic * x->n[i];
    for (int k = 0; k < 3; k++) {
      p->first[i][k] += f[i] * x->r[k];
      for (int l = 0; l < 3; l++) p->second[i][k][l] += f[i] * x->r[k] * x->r[l];
    }
  }
  p->place->dissipation += x->area * law.facing * law.damping * law.rate;
}

// Of the elastic part: where damping cancels it, shapes that separate, the direction of the sum is that of its rounding. Without a force: the
// normal of the nearest points, of triangles from origin to origin, as where they are far.
static void find_normal(const Patch* p, srContactPlace* out) {
  const double size = srm_norm3(p->elastic);
  const bool plane = p->c->shape[0]->convex.kind == SR_KIND_PLANE, triangles = p->c->shape[0]->surface != NULL;
  const double distance = srm_norm3(p->pose + 12);
  srNearest near = {0};
  if (!plane && !triangles && !(size > 0)) sr_shapes_nearest(p->c->shape[0], p->c->shape[1], p->pose, &near);
  for (int i = 0; i < 3; i++) {
    const double away = !triangles ? near.n[i] : distance > 0 ? p->pose[12 + i] / distance : i == 2;
    out->n[i] = plane ? i == 2 : size > 0 ? p->elastic[i] / size : away;
  }
  out->N = fmax(0, srm_dot3(out->n, out->force));
}

// G = tr(P S) - N |P r|^2 with S = sum w_i r_i r_i^T
static double gyration(const Patch* p, const srContactPlace* at) {
  double sum = 0, flat[3];
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      for (int l = 0; l < 3; l++) sum += at->n[i] * p->second[i][k][l] * ((k == l) - at->n[k] * at->n[l]);
    }
  }
  sr_flat(at->n, at->r, flat);
  return fmax(0, sum - at->N * srm_dot3(flat, flat));
}

static double lever_factor(const srSurfaceLaws* c) {
  return c->shape[1]->convex.kind == SR_KIND_CAPSULE ? 1 : sqrt(8.0) / 3;
}

static int place(const srImpedanceIn* in, srContactPlace* out) {
  Patch p = begin(in);
  if (sr_place_far(in, p.pose, out)) return 0;
  *out = (srContactPlace){0};
  p.place = out;
  visit(&p, add_force, false);
  find_normal(&p, out);
  for (int k = 0; k < 3 && out->N > 0; k++) {
    for (int i = 0; i < 3; i++) out->r[k] += out->n[i] * p.first[i][k] / out->N;
  }
  if (turns_with_b(p.c)) srm_cross3(in->xdot, out->n, out->turning);
  sr_place_motion(in, out);
  out->N_spin = lever_factor(p.c) * sqrt(out->N * gyration(&p, out)) + p.c->lever * out->N;
  return p.answer;
}

// ---- energy -------------------------------------------------------------------------------------------------------------

static void add_energy(Patch* p, const Point* x) {
  p->energy += x->store * sr_normal_force_energy(p->c, x->depth, p->in->z);
  srNormalOut still;
  if (!(x->volume != 0) || p->c->law->energy == NULL) return;
  if (sr_normal_force(p->c, x->depth, 0, p->in->z, &still) == 0) p->energy += x->volume * still.f;
}

static double energy(const srImpedanceIn* in) {
  Patch p = begin(in);
  visit(&p, add_energy, true);
  return p.energy;
}

// ---- derivatives --------------------------------------------------------------------------------------------------------

// What a direction does to a point.
typedef struct PointChange {
  double r[3], f[3], elastic[3];
} PointChange;

// Derivatives of the law: of its elastic part by the depth, of the damping by depth and rate.
typedef struct LawChange {
  double elastic, damping[2];
} LawChange;

static void law_change(Patch* p, const Point* x, const PointLaw* law, LawChange* out) {
  double still[2], moving[2];
  int answer = sr_normal_force_jacobian(p->c, x->depth, 0, p->in->z, still);
  if (answer == 0) answer = sr_normal_force_jacobian(p->c, x->depth, law->rate, p->in->z, moving);
  if (answer != 0) p->answer = answer;
  *out = (LawChange){still[0], {moving[0] - still[0], moving[1]}};
}

// n and r move with the rigid shape, m with the other one.
static void point_change(const Patch* p, const Point* x, const PointLaw* law, const LawChange* by, int j,
                         PointChange* d) {
  double dtheta[3] = {0}, dx[3] = {0}, dw[3] = {0}, dn[3] = {0}, dm[3] = {0}, carrier[3], moved[3], v[3], dv[3], one[3];
  if (j < 3) dtheta[j] = 1;
  if (j >= 3 && j < 6) dx[j - 3] = 1;
  if (j >= 6 && j < 9) dw[j - 6] = 1;
  for (int i = 0; i < 3; i++) carrier[i] = x->r[i] + x->offset * x->n[i];
  srm_cross3(dtheta, carrier, moved);
  const bool with_b = moves_with_b(p->c);
  for (int i = 0; i < 3; i++) d->r[i] = with_b ? moved[i] : -dx[i];
  const double depth = -srm_dot3(x->m, moved) - srm_dot3(x->m, dx);
  if (x->offset == 0) srm_cross3(dtheta, with_b ? x->n : x->m, with_b ? dn : dm);
  const double across = srm_dot3(x->bend, moved) + srm_dot3(x->bend, dx);
  for (int i = 0; i < 3; i++) dm[i] += across * x->bend[i];
  velocity_at(p->in, x->r, v);
  srm_cross3(p->in->xdot, d->r, dv);
  srm_cross3(dw, x->r, one);
  double rate = -srm_dot3(dm, v);
  for (int i = 0; i < 3; i++) rate -= x->m[i] * (dv[i] + one[i] + (j == 9 + i));
  const double elastic = by->elastic * depth, damping = by->damping[0] * depth + by->damping[1] * rate;
  const double facing = law->facing > 0 ? srm_dot3(dn, x->m) + srm_dot3(x->n, dm) : 0;
  for (int i = 0; i < 3; i++) {
    const double rest = law->facing * (damping * x->m[i] + law->damping * dm[i]) + facing * law->damping * x->m[i];
    d->elastic[i] = x->area * (elastic * x->n[i] + law->elastic * dn[i]);
    d->f[i] = d->elastic[i] + x->area * rest;
  }
}

static void add_force_change(Patch* p, const Point* x) {
  PointLaw law;
  LawChange by;
  double f[3], one[3], two[3];
  law_at(p, x, &law);
  law_change(p, x, &law, &by);
  force_at(x, &law, f);
  for (int i = 0; i < 3; i++) p->elastic[i] += x->area * law.elastic * x->n[i];
  for (int j = 0; j < 12; j++) {
    PointChange d;
    srContactChange* out = &p->change[j];
    point_change(p, x, &law, &by, j, &d);
    srm_cross3(d.r, f, one);
    srm_cross3(x->r, d.f, two);
    for (int i = 0; i < 3; i++) {
      out->force[i] += d.f[i];
      out->moment[i] += one[i] + two[i];
      p->delastic[j][i] += d.elastic[i];
    }
  }
}

// Of the centre of pressure, and of G; the sum of w_i P (r_i - r) is 0.
static void add_centre_change(Patch* p, const Point* x) {
  const srContactPlace* at = p->fixed;
  PointLaw law;
  LawChange by;
  double f[3], to[3];
  law_at(p, x, &law);
  law_change(p, x, &law, &by);
  force_at(x, &law, f);
  const double weight = srm_dot3(f, at->n);
  const double arm[3] = {x->r[0] - at->r[0], x->r[1] - at->r[1], x->r[2] - at->r[2]};
  sr_flat(at->n, arm, to);
  p->gyration += weight * srm_dot3(to, to);
  for (int j = 0; j < 12; j++) {
    PointChange d;
    srContactChange* out = &p->change[j];
    point_change(p, x, &law, &by, j, &d);
    const double dweight = srm_dot3(d.f, at->n) + srm_dot3(f, out->n);
    for (int i = 0; i < 3; i++) out->r[i] += (dweight * arm[i] + weight * d.r[i]) / at->N;
    p->dgyration[j] += dweight * srm_dot3(to, to) + 2 * weight * srm_dot3(to, d.r);
  }
}

// d sqrt(N G)
static double lever_change(const Patch* p, const srContactPlace* at, int j) {
  const double product = at->N * p->gyration;
  if (!(product > 0)) return 0;
  return lever_factor(p->c) * 0.5 * (p->change[j].N * p->gyration + at->N * p->dgyration[j]) / sqrt(product);
}

static void normal_change(const Patch* p, const srContactPlace* at, int j, srContactChange* d) {
  const bool plane = p->c->shape[0]->convex.kind == SR_KIND_PLANE;
  const double size = srm_norm3(p->elastic);
  if (!plane && size > 0) sr_flat(at->n, p->delastic[j], d->n);
  for (int i = 0; i < 3 && !plane && size > 0; i++) d->n[i] /= size;
  d->N = at->N > 0 ? srm_dot3(at->n, d->force) + srm_dot3(d->n, at->force) : 0;
}

static void turning_change(const Patch* p, const srContactPlace* at, int j, srContactChange* d) {
  double dw[3] = {0}, one[3], two[3];
  if (!turns_with_b(p->c)) return;
  if (j >= 6 && j < 9) dw[j - 6] = 1;
  srm_cross3(dw, at->n, one);
  srm_cross3(p->in->xdot, d->n, two);
  for (int i = 0; i < 3; i++) d->turning[i] = one[i] + two[i];
}

static int change(const srImpedanceIn* in, const srContactPlace* at, srContactChange out[12]) {
  Patch p = begin(in);
  p.change = out;
  p.fixed = at;
  for (int j = 0; j < 12; j++) out[j] = (srContactChange){0};
  visit(&p, add_force_change, false);
  for (int j = 0; j < 12; j++) normal_change(&p, at, j, &out[j]);
  if (at->N > 0) visit(&p, add_centre_change, false);
  for (int j = 0; j < 12; j++) {
    out[j].N_spin = lever_change(&p, at, j) + p.c->lever * out[j].N;
    turning_change(&p, at, j, &out[j]);
    sr_change_motion(in, at, j, &out[j]);
  }
  return p.answer;
}

const srContactGeometry sr_place_patch = {place, change, energy};
