// Contact of two shapes: the normal law along the normal, friction at the point of contact, whatever their geometry (place.h).
//
// The port is that of two frames: a the first shape's, b the second one's, observed from a and moving with (w, u); all in the axes of a.
//   on b      force N n - f,  moment r x (N n - f) - m_roll - m_spin n        and the opposite on a at the same points
//   (of a patch the normal force is a sum over its points)
//
// Bristles are vectors in the axes of a. Those of a plane have two components. Elsewhere the normal rotates with n', and a
// bristle rotates with it, so that it stays in the tangent plane and keeps its length and its energy; about the normal it rotates with
// the mean of both bodies, so that the law is symmetric in a and b:
//   e' = (law's e') - n (n'.e) + 1/2 (n.w) n x e
// Power: -f.s + N gap' = d(energies)/dt - dissipation, as the rotation adds nothing to e.e'.
// Where a surface moves in its body, f.(P b) of it comes from what moves the surface (place.c).
// Friction of sliding may depend on the direction (place_direction.c): f = A law(A s, e). Bristles of a tyre are renewed as it rolls (place_wheel.c):
// f = A law(A s - c e, e), and f.(c e) is dissipated.
#include <math.h>
#include <string.h>

#include "collide/collision.h"
#include "contact/kinds.h"
#include "contact/place.h"
#include "math/pose.h"

// ---- bristles -----------------------------------------------------------------------------------------------------------

// In the tangent plane of a sphere; those of a plane already are.
static void flatten(const srContactPlace* g, const srDryFriction* x, const double* e, double* out) {
  if (x->ne > 0) memcpy(out, e, (size_t)x->ne * sizeof *e);
  for (int i = 0; x->n == 3 && i < x->ne; i += 3) sr_flat(g->n, e + i, out + i);
}

static int friction_force(const srContactPlace* g, const srDryFriction* x, const double* v, const srImpedanceIn* in,
                          double N, srFrictionForce* friction_force, double* ydot) {
  *friction_force = (srFrictionForce){0};
  if (x->law == NULL) return 0;
  double e[SR_FRICTION_FORCE_MOST];
  flatten(g, x, in->y + x->e, e);
  double* edot = ydot + x->e;
  const int answer = sr_friction_force(x, v, e, N, in->tau, friction_force, edot);
  for (int i = 0; x->n == 3 && i < x->ne; i += 3) {
    const double back = srm_dot3(g->turning, e + i);
    double about[3];
    srm_cross3(g->n, e + i, about);
    for (int k = 0; k < 3; k++) edot[i + k] += 0.5 * g->spin * about[k] - back * g->n[k];
  }
  return answer;
}

// ---- force --------------------------------------------------------------------------------------------------------------

static int place(const srImpedanceIn* in, srContactPlace* g) {
  const int answer = sr_contact_geometry(in->data)->place(in, g);
  sr_place_direction(in, g);
  sr_place_wheel(in, g);
  return answer;
}

// The slip that the bristles follow: A s - c e.
static void bristle_slip(const srContactPlace* g, const srImpedanceIn* in, double v[3]) {
  const srDryFriction* x = &((const srSurfaceLaws*)in->data)->slip;
  double e[SR_FRICTION_FORCE_MOST];
  sr_stretch(g, g->slip, v);
  if (g->renewal == 0) return;
  flatten(g, x, in->y + x->e, e);
  for (int i = 0; i < x->n; i++) v[i] -= g->renewal * e[i];
}

// Of sliding: f of its law in `bare`, A f in `out`.
static int slip_force(const srContactPlace* g, const srImpedanceIn* in, srFrictionForce* out, double bare[3],
                      double* ydot) {
  const srSurfaceLaws* c = in->data;
  double v[3], all[3];
  bristle_slip(g, in, v);
  const int answer = friction_force(g, &c->slip, v, in, g->N, out, ydot);
  memcpy(bare, out->f, 3 * sizeof *bare);
  sr_stretch(g, g->slip, all);
  for (int i = 0; i < c->slip.n && g->renewal > 0; i++) out->dissipation += bare[i] * (all[i] - v[i]);
  sr_stretch(g, bare, out->f);
  return answer;
}

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  const srSurfaceLaws* c = in->data;
  srContactPlace g;
  double bare[3];
  int answer = place(in, &g);
  srFrictionForce slip, roll, spin;
  if (answer == 0) answer = slip_force(&g, in, &slip, bare, out->ydot);
  if (answer == 0) answer = friction_force(&g, &c->roll, g.turn, in, g.N, &roll, out->ydot);
  if (answer == 0) answer = friction_force(&g, &c->spin, &g.spin, in, g.N_spin, &spin, out->ydot);
  if (answer != 0) return answer;
  double moment[3];
  srm_cross3(slip.f, g.r, moment);
  for (int i = 0; i < 3; i++) {
    out->f[i] = g.moment[i] + moment[i] - roll.f[i] - spin.f[0] * g.n[i];
    out->f[3 + i] = g.force[i] - slip.f[i];
  }
  out->friction_dissipation = slip.dissipation + roll.dissipation + spin.dissipation;
  out->dissipated = g.dissipation + out->friction_dissipation;
  out->driven = srm_dot3(slip.f, g.belt);
  return 0;
}

static double energy(const srImpedanceIn* in) {
  const srSurfaceLaws* c = in->data;
  const srDryFriction* part[] = {&c->slip, &c->roll, &c->spin};
  double sum = sr_contact_geometry(c)->energy(in), e[SR_FRICTION_FORCE_MOST];
  if (c->slip.law == NULL) return sum;
  srContactPlace g;
  if (place(in, &g) != 0) return sum;
  const double* v[] = {g.slip, g.turn, &g.spin};
  for (int i = 0; i < 3; i++) {
    if (part[i]->law == NULL) continue;
    flatten(&g, part[i], in->y + part[i]->e, e);
    sum += sr_friction_force_energy(part[i], v[i], e, in->tau);
  }
  return sum;
}

int sr_contact_shapes_force(const srImpedanceIn* in, double* ydot, srContactForce* out) {
  const srSurfaceLaws* c = in->data;
  srContactPlace g;
  srFrictionForce slip;
  double bare[3];
  int answer = place(in, &g);
  if (answer == 0) answer = slip_force(&g, in, &slip, bare, ydot);
  if (answer != 0) return answer;
  double rate;
  sr_contact_gap(c, in, &out->gap, &rate);
  out->normal = g.N;
  for (int i = 0; i < 3; i++) {
    out->n[i] = g.n[i];
    out->friction[i] = -slip.f[i];
    out->slip[i] = g.slip[i];
  }
  out->state = g.N <= 0 ? SR_CONTACT_OPEN : slip.sticks ? SR_CONTACT_STICKS : SR_CONTACT_SLIDES;
  return 0;
}

// ---- derivatives --------------------------------------------------------------------------------------------------------
// Along one direction at a time: the changes of the place (place.h), then down the formulas above.

// One of the three frictions: its derivative, its force, and where its wrench acts.
typedef struct Part {
  const srDryFriction* x;
  srFrictionForce friction_force;
  double bare[3];          // of sliding: the law's own force, before A
  const double *e, *flat;  // states, and those in the tangent plane
  const double* jacobian;  // of sr_friction_force_jacobian
  int kind;                // 0 slip, 1 roll, 2 spin
} Part;

// df and de' along a change of (v, e, N).
static void part_along(const Part* p, const double* dv, const double* de, double dN, double* df, double* dedot) {
  const int n = p->x->n, rows = n + p->x->ne;
  for (int r = 0; r < rows; r++) {
    const double* s = p->jacobian + r * (rows + 1);
    double sum = s[rows] * dN;
    for (int j = 0; j < n; j++) sum += s[j] * dv[j];
    for (int j = 0; j < p->x->ne; j++) sum += s[n + j] * de[j];
    *(r < n ? &df[r] : &dedot[r - n]) = sum;
  }
}

// Adds the change of a bristle's rotation.
static void turn_change(const srContactPlace* g, const srContactChange* d, const double* e, const double* de,
                        double* dedot) {
  const double back = srm_dot3(g->turning, e);
  const double dback = srm_dot3(d->turning, e) + srm_dot3(g->turning, de);
  double about[3], one[3], two[3];
  srm_cross3(g->n, e, about);
  srm_cross3(d->n, e, one);
  srm_cross3(g->n, de, two);
  for (int j = 0; j < 3; j++) {
    dedot[j] += 0.5 * (d->spin * about[j] + g->spin * (one[j] + two[j])) - dback * g->n[j] - back * d->n[j];
  }
}

// Adds the contribution of a part along column `column` of J, (6 + k) x (12 + k).
static void put_part(const Part* p, const srContactPlace* g, const srContactChange* d, const double* de, int k,
                     int column, double* J) {
  const srDryFriction* x = p->x;
  const int width = 12 + k;
  double df[3] = {0}, dv[3] = {0}, dedot[SR_FRICTION_FORCE_MOST], dflat[SR_FRICTION_FORCE_MOST], one[3], two[3];
  if (x->ne > 0) memcpy(dflat, de, (size_t)x->ne * sizeof *de);
  for (int i = 0; x->n == 3 && i < x->ne; i += 3) sr_flat_change(g->n, d->n, p->e + i, de + i, dflat + i);
  if (p->kind == 0) sr_stretch_change(g, d, g->slip, d->slip, dv);
  for (int i = 0; p->kind == 0 && g->renewal > 0 && i < x->n; i++)
    dv[i] -= d->renewal * p->flat[i] + g->renewal * dflat[i];
  if (p->kind == 1) memcpy(dv, d->turn, sizeof dv);
  if (p->kind == 2) dv[0] = d->spin;
  part_along(p, dv, dflat, p->kind == 2 ? d->N_spin : d->N, df, dedot);
  if (p->kind == 0) {
    memcpy(one, df, sizeof one);
    sr_stretch_change(g, d, p->bare, one, df);
  }
  srm_cross3(df, g->r, one);
  srm_cross3(p->friction_force.f, d->r, two);
  for (int i = 0; i < 3; i++) {
    double* moment = &J[i * width + column];
    if (p->kind == 0) {
      *moment += one[i] + two[i];
      J[(3 + i) * width + column] -= df[i];
    } else {
      *moment -= p->kind == 1 ? df[i] : df[0] * g->n[i] + p->friction_force.f[0] * d->n[i];
    }
  }
  for (int i = 0; x->n == 3 && i < x->ne; i += 3) turn_change(g, d, p->flat + i, dflat + i, dedot + i);
  for (int i = 0; i < x->ne; i++) J[(6 + x->e + i) * width + column] += dedot[i];
}

static int part_jacobian(const srImpedanceIn* in, const srContactPlace* g, const srContactChange change[12], Part* p,
                         double* J) {
  const srSurfaceLaws* c = in->data;
  double v[3] = {g->spin};
  if (p->kind == 0) bristle_slip(g, in, v);
  if (p->kind == 1) memcpy(v, g->turn, sizeof v);
  const double N = p->kind == 2 ? g->N_spin : g->N;
  const int k = c->slip.ne + c->roll.ne + c->spin.ne;
  double e[SR_FRICTION_FORCE_MOST], edot[SR_FRICTION_FORCE_MOST], de[SR_FRICTION_FORCE_MOST] = {0};
  double jacobian[SR_FRICTION_FORCE_MOST * (SR_FRICTION_FORCE_MOST + 1)];
  flatten(g, p->x, in->y + p->x->e, e);
  p->e = in->y + p->x->e;
  p->flat = e;
  p->jacobian = jacobian;
  int answer = sr_friction_force(p->x, v, e, N, in->tau, &p->friction_force, edot);
  memcpy(p->bare, p->friction_force.f, sizeof p->bare);
  if (p->kind == 0) sr_stretch(g, p->bare, p->friction_force.f);
  if (answer == 0) answer = sr_friction_force_jacobian(p->x, v, e, N, in->tau, jacobian);
  if (answer != 0) return answer;
  // One point of several that may touch has no lever arm: a limit of 0, and no force at any v and e.
  if (p->kind == 2 && N == 0 && g->N > 0)
    memset(jacobian, 0, (size_t)(p->x->n * (p->x->n + p->x->ne + 1)) * sizeof *jacobian);
  for (int j = 0; j < 12; j++) put_part(p, g, &change[j], de, k, j, J);
  for (int j = 0; j < p->x->ne; j++) {
    const srContactChange none = {0};
    de[j] = 1;
    put_part(p, g, &none, de, k, 12 + p->x->e + j, J);
    de[j] = 0;
  }
  return 0;
}

// From a small rotation of b to its rotation vector: J_theta = J_phi (1 + a T + b T^2), T = [theta x]
static void over_vector(const double* theta, int rows, int width, double* J) {
  const double angle = srm_norm3(theta), square = angle * angle;
  const bool small = angle < 1e-3;  // then the next terms of the series are below rounding
  const double a = small ? 0.5 - square / 24 : (1 - cos(angle)) / square;
  const double b = small ? (1 - square / 20) / 6 : (angle - sin(angle)) / (square * angle);
  for (int r = 0; r < rows; r++) {
    double *row = J + r * width, one[3], two[3];
    srm_cross3(row, theta, one);  // row T
    srm_cross3(one, theta, two);
    for (int i = 0; i < 3; i++) row[i] += a * one[i] + b * two[i];
  }
}

static int jacobian(const srImpedanceIn* in, double* J) {
  const srSurfaceLaws* c = in->data;
  const int k = c->slip.ne + c->roll.ne + c->spin.ne;
  srContactPlace g;
  srContactChange change[12];
  int answer = place(in, &g);
  if (answer == 0) answer = sr_contact_geometry(c)->change(in, &g, change);
  if (answer == 0) sr_change_direction(in, &g, change);
  if (answer == 0) sr_change_wheel(in, &g, change);
  for (int j = 0; j < 12 && answer == 0; j++) {
    for (int i = 0; i < 3; i++) {
      J[i * (12 + k) + j] += change[j].moment[i];
      J[(3 + i) * (12 + k) + j] += change[j].force[i];
    }
  }
  const srDryFriction* part[] = {&c->slip, &c->roll, &c->spin};
  for (int i = 0; i < 3 && answer == 0; i++) {
    Part p = {.x = part[i], .kind = i};
    if (p.x->law != NULL) answer = part_jacobian(in, &g, change, &p, J);
  }
  if (answer == 0) over_vector(in->x, 6 + k, 12 + k, J);
  return answer;
}

static const srImpedance contact = {
    .name = "contact",
    .port = SR_PORT_FRAMES,
    .evaluate = evaluate,
    .energy = energy,
};
const srContactKind sr_contact_shapes = {&contact, jacobian, sr_contact_prepare};

// ---- gap ----------------------------------------------------------------------------------------------------------------

void sr_contact_gap(const srSurfaceLaws* c, const srImpedanceIn* in, double* gap, double* rate) {
  if (c->nvariable > 0) {
    *gap = in->x[0];
    *rate = in->xdot[0];
  } else if (c->side != 0) {
    *gap = c->side * (c->end - in->x[0]);
    *rate = -c->side * in->xdot[0];
  } else {
    srPairPoint at;
    double pose[16], v[3];
    sr_contact_pose(in, pose);
    sr_pair_point(c->pair, c->radius, c->shape[0], c->shape[1], pose, &at);
    srm_cross3(in->xdot, at.r, v);
    *gap = at.gap;
    *rate = srm_dot3(at.n, v) + srm_dot3(at.n, in->xdot + 3);
  }
}
