// A sphere on a plane, a sphere on a sphere: the normal law along the normal, friction at the point of contact.
//
// The port is that of two frames: a the plane's or the first sphere's, b the second sphere's centre at x, observed from a and moving
// with (w, u); all in the axes of a.
//   plane     n = z,       gap = n.x - R_b            sphere    n = x/|x|,   gap = |x| - R_a - R_b
//   A hollow sphere a has R_a < 0 and holds b within: n = -x/|x|, gap = -|x| - R_a - R_b.
//   gap' = n.u,   P = 1 - n n^T,   r from b's centre to the point of contact:
//   plane     r = -R_b n, as Kikuuwe and Yamamoto               sphere    r = -(R_b + gap/2) n, the middle of the overlap: symmetric in a and b
//   slip      s = P u + w x r         rolling   P w         spinning   n.w
//   on b      force N n - f,  moment r x (-f) - m_roll - m_spin n        and the opposite on a at the same points
//
// Bristles are vectors in the axes of a. Those of a plane have two components. On a sphere the normal rotates, n' = P u/|x| (hollow: -), and a
// bristle rotates with it, so that it stays in the tangent plane and keeps its length and its energy; about the normal it rotates with
// the mean of both bodies, so that the law is symmetric in a and b:
//   e' = (law's e') - n (n'.e) + 1/2 (n.w) n x e
// Power: -f.s + N gap' = d(energies)/dt - dissipation, as the rotation adds nothing to e.e'.
#include <math.h>
#include <string.h>

#include "collide/pair.h"
#include "contact/element.h"
#include "contact/kinds.h"
#include "math/pose.h"

typedef struct Geometry {
  srPairPlace at;
  double rate;  // of the gap
  double r[3];  // -arm n
  double slip[3], turn[3], spin;
  double turning[3];  // n'
} Geometry;

// P a
static void flat(const double* n, const double* a, double* out) {
  const double along = srm_dot3(n, a);
  for (int i = 0; i < 3; i++) out[i] = a[i] - along * n[i];
}

static Geometry geometry(const srImpedanceIn* in) {
  const srSurfaceLaws* c = in->data;
  const double *w = in->xdot, *u = in->xdot + 3;
  Geometry g;
  c->pair->place(c->radius, in->x + 3, &g.at);
  for (int i = 0; i < 3; i++) g.r[i] = -g.at.arm * g.at.n[i];
  double arm[3];
  srm_cross3(w, g.r, arm);
  flat(g.at.n, u, g.slip);
  for (int i = 0; i < 3; i++) {
    g.turning[i] = g.at.curve * g.slip[i];
    g.slip[i] += arm[i];
  }
  flat(g.at.n, w, g.turn);
  g.spin = srm_dot3(g.at.n, w);
  g.rate = srm_dot3(g.at.n, u);
  return g;
}

// ---- bristles -----------------------------------------------------------------------------------------------------------

// In the tangent plane of a sphere; those of a plane already are.
static void flatten(const Geometry* g, const srDryFriction* x, const double* e, double* out) {
  if (x->ne > 0) memcpy(out, e, (size_t)x->ne * sizeof *e);
  for (int i = 0; x->n == 3 && i < x->ne; i += 3) flat(g->at.n, e + i, out + i);
}

static int friction_force(const Geometry* g, const srDryFriction* x, const double* v, const srImpedanceIn* in, double N,
                          srFrictionForce* friction_force, double* ydot) {
  *friction_force = (srFrictionForce){0};
  if (x->law == NULL) return 0;
  double e[SR_FRICTION_FORCE_MOST];
  flatten(g, x, in->y + x->e, e);
  double* edot = ydot + x->e;
  const int answer = sr_friction_force(x, v, e, N, in->tau, friction_force, edot);
  for (int i = 0; x->n == 3 && i < x->ne; i += 3) {
    const double back = srm_dot3(g->turning, e + i);
    double about[3];
    srm_cross3(g->at.n, e + i, about);
    for (int k = 0; k < 3; k++) edot[i + k] += 0.5 * g->spin * about[k] - back * g->at.n[k];
  }
  return answer;
}

// ---- force --------------------------------------------------------------------------------------------------------------

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  const srSurfaceLaws* c = in->data;
  const Geometry g = geometry(in);
  srNormalOut normal;
  int answer = sr_normal_force(c, -g.at.gap, -g.rate, in->z, &normal);
  srFrictionForce slip, roll, spin;
  if (answer == 0) answer = friction_force(&g, &c->slip, g.slip, in, normal.f, &slip, out->ydot);
  if (answer == 0) answer = friction_force(&g, &c->roll, g.turn, in, normal.f, &roll, out->ydot);
  if (answer == 0) answer = friction_force(&g, &c->spin, &g.spin, in, normal.f, &spin, out->ydot);
  if (answer != 0) return answer;
  double moment[3];
  srm_cross3(slip.f, g.r, moment);
  for (int i = 0; i < 3; i++) {
    out->f[i] = moment[i] - roll.f[i] - spin.f[0] * g.at.n[i];
    out->f[3 + i] = normal.f * g.at.n[i] - slip.f[i];
  }
  out->friction_dissipation = slip.dissipation + roll.dissipation + spin.dissipation;
  out->dissipated = normal.dissipation + out->friction_dissipation;
  return 0;
}

static double energy(const srImpedanceIn* in) {
  const srSurfaceLaws* c = in->data;
  const Geometry g = geometry(in);
  const srDryFriction* part[] = {&c->slip, &c->roll, &c->spin};
  const double* v[] = {g.slip, g.turn, &g.spin};
  double sum = sr_normal_force_energy(c, -g.at.gap, in->z), e[SR_FRICTION_FORCE_MOST];
  for (int i = 0; i < 3; i++) {
    if (part[i]->law == NULL) continue;
    flatten(&g, part[i], in->y + part[i]->e, e);
    sum += sr_friction_force_energy(part[i], v[i], e, in->tau);
  }
  return sum;
}

int sr_contact_shapes_force(const srImpedanceIn* in, double* ydot, srContactForce* out) {
  const srSurfaceLaws* c = in->data;
  const Geometry g = geometry(in);
  srNormalOut normal;
  srFrictionForce slip;
  int answer = sr_normal_force(c, -g.at.gap, -g.rate, in->z, &normal);
  if (answer == 0) answer = friction_force(&g, &c->slip, g.slip, in, normal.f, &slip, ydot);
  if (answer != 0) return answer;
  out->gap = g.at.gap;
  out->normal = normal.f;
  for (int i = 0; i < 3; i++) {
    out->n[i] = g.at.n[i];
    out->friction[i] = -slip.f[i];
    out->slip[i] = g.slip[i];
  }
  out->state = normal.f <= 0 ? SR_CONTACT_OPEN : slip.sticks ? SR_CONTACT_STICKS : SR_CONTACT_SLIDES;
  return 0;
}

// ---- derivatives --------------------------------------------------------------------------------------------------------
// Along one direction (dx, dw, du, de) at a time: n' = P dx/|x|, and so on down the formulas above.

typedef struct Change {
  double n[3], r[3], slip[3], turn[3], spin, turning[3];
  double N;
} Change;

// d(P a) = P da - dn (n.a) - n (dn.a)
static void flat_change(const double* n, const double* dn, const double* a, const double* da, double* out) {
  const double along = srm_dot3(n, a), turn = srm_dot3(dn, a);
  flat(n, da, out);
  for (int i = 0; i < 3; i++) out[i] -= dn[i] * along + n[i] * turn;
}

// Direction j of (x, x'): N_d and N_ddot are press[2].
static Change change_along(const srImpedanceIn* in, const Geometry* g, const double normal_force[2], int j) {
  const double *w = in->xdot, *u = in->xdot + 3;
  double dx[3] = {0}, dw[3] = {0}, du[3] = {0}, one[3], two[3], pu[3];
  if (j >= 3 && j < 6) dx[j - 3] = 1;
  if (j >= 6 && j < 9) dw[j - 6] = 1;
  if (j >= 9) du[j - 9] = 1;
  Change d = {0};
  flat(g->at.n, dx, d.n);
  for (int i = 0; i < 3; i++) {
    d.n[i] *= g->at.curve;
    d.r[i] = -g->at.arm * d.n[i] - g->at.share * srm_dot3(g->at.n, dx) * g->at.n[i];
  }
  d.N = -normal_force[0] * srm_dot3(g->at.n, dx) - normal_force[1] * (srm_dot3(g->at.n, du) + srm_dot3(d.n, u));
  flat_change(g->at.n, d.n, u, du, d.slip);
  flat(g->at.n, u, pu);
  for (int i = 0; i < 3; i++) d.turning[i] = g->at.curve * (d.slip[i] - g->at.curve * srm_dot3(g->at.n, dx) * pu[i]);
  srm_cross3(dw, g->r, one);
  srm_cross3(w, d.r, two);
  for (int i = 0; i < 3; i++) d.slip[i] += one[i] + two[i];
  flat_change(g->at.n, d.n, w, dw, d.turn);
  d.spin = srm_dot3(g->at.n, dw) + srm_dot3(d.n, w);
  return d;
}

// One of the three frictions: its derivative, its force, and where its wrench acts.
typedef struct Part {
  const srDryFriction* x;
  srFrictionForce friction_force;
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
static void turn_change(const Geometry* g, const Change* d, const double* e, const double* de, double* dedot) {
  const double back = srm_dot3(g->turning, e);
  const double dback = srm_dot3(d->turning, e) + srm_dot3(g->turning, de);
  double about[3], one[3], two[3];
  srm_cross3(g->at.n, e, about);
  srm_cross3(d->n, e, one);
  srm_cross3(g->at.n, de, two);
  for (int j = 0; j < 3; j++) {
    dedot[j] += 0.5 * (d->spin * about[j] + g->spin * (one[j] + two[j])) - dback * g->at.n[j] - back * d->n[j];
  }
}

// Adds the contribution of a part along column `column` of J, (6 + k) x (12 + k).
static void put_part(const Part* p, const Geometry* g, const Change* d, const double* de, int k, int column,
                     double* J) {
  const srDryFriction* x = p->x;
  const int width = 12 + k;
  double df[3] = {0}, dedot[SR_FRICTION_FORCE_MOST], dflat[SR_FRICTION_FORCE_MOST], one[3], two[3];
  if (x->ne > 0) memcpy(dflat, de, (size_t)x->ne * sizeof *de);
  for (int i = 0; x->n == 3 && i < x->ne; i += 3) flat_change(g->at.n, d->n, p->e + i, de + i, dflat + i);
  part_along(p, p->kind == 0 ? d->slip : p->kind == 1 ? d->turn : &d->spin, dflat, d->N, df, dedot);
  srm_cross3(df, g->r, one);
  srm_cross3(p->friction_force.f, d->r, two);
  for (int i = 0; i < 3; i++) {
    double* moment = &J[i * width + column];
    if (p->kind == 0) {
      *moment += one[i] + two[i];
      J[(3 + i) * width + column] -= df[i];
    } else {
      *moment -= p->kind == 1 ? df[i] : df[0] * g->at.n[i] + p->friction_force.f[0] * d->n[i];
    }
  }
  for (int i = 0; x->n == 3 && i < x->ne; i += 3) turn_change(g, d, p->flat + i, dflat + i, dedot + i);
  for (int i = 0; i < x->ne; i++) J[(6 + x->e + i) * width + column] += dedot[i];
}

static int part_jacobian(const srImpedanceIn* in, const Geometry* g, const double normal_force[2], double N, Part* p,
                         double* J) {
  const srSurfaceLaws* c = in->data;
  const double* v = p->kind == 0 ? g->slip : p->kind == 1 ? g->turn : &g->spin;
  const int k = c->slip.ne + c->roll.ne + c->spin.ne;
  double e[SR_FRICTION_FORCE_MOST], edot[SR_FRICTION_FORCE_MOST], de[SR_FRICTION_FORCE_MOST] = {0};
  double jacobian[SR_FRICTION_FORCE_MOST * (SR_FRICTION_FORCE_MOST + 1)];
  flatten(g, p->x, in->y + p->x->e, e);
  p->e = in->y + p->x->e;
  p->flat = e;
  p->jacobian = jacobian;
  int answer = sr_friction_force(p->x, v, e, N, in->tau, &p->friction_force, edot);
  if (answer == 0) answer = sr_friction_force_jacobian(p->x, v, e, N, in->tau, jacobian);
  if (answer != 0) return answer;
  for (int j = 3; j < 12; j++) {
    const Change d = change_along(in, g, normal_force, j);
    put_part(p, g, &d, de, k, j, J);
  }
  for (int j = 0; j < p->x->ne; j++) {
    const Change none = {0};
    de[j] = 1;
    put_part(p, g, &none, de, k, 12 + p->x->e + j, J);
    de[j] = 0;
  }
  return 0;
}

static int jacobian(const srImpedanceIn* in, double* J) {
  const srSurfaceLaws* c = in->data;
  const Geometry g = geometry(in);
  const int k = c->slip.ne + c->roll.ne + c->spin.ne;
  srNormalOut normal;
  double normal_force[2];
  int answer = sr_normal_force(c, -g.at.gap, -g.rate, in->z, &normal);
  if (answer == 0) answer = sr_normal_force_jacobian(c, -g.at.gap, -g.rate, in->z, normal_force);
  for (int j = 3; j < 12 && answer == 0; j++) {
    const Change d = change_along(in, &g, normal_force, j);
    for (int i = 0; i < 3; i++) J[(3 + i) * (12 + k) + j] += d.N * g.at.n[i] + normal.f * d.n[i];
  }
  const srDryFriction* part[] = {&c->slip, &c->roll, &c->spin};
  for (int i = 0; i < 3 && answer == 0; i++) {
    Part p = {.x = part[i], .kind = i};
    if (p.x->law != NULL) answer = part_jacobian(in, &g, normal_force, normal.f, &p, J);
  }
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
    srPairPlace at;
    c->pair->place(c->radius, in->x + 3, &at);
    *gap = at.gap;
    *rate = srm_dot3(at.n, in->xdot + 3);
  }
}
