// What depends on the two shapes of a contact, and the layout of its bristles among its states.
#include <math.h>

#include "base/base.h"
#include "collide/collision.h"
#include "model/private.h"

#define PI 3.14159265358979323846

// Resistance to rolling and spinning: the law of sliding, with bristles at the lever arm R of the smaller shape.
static void resist(const srSurfaceLaws* x, srDryFriction* to, int n, double R) {
  const double lever = to->s;
  if (!(lever > 0) || !x->slip.law) {
    *to = (srDryFriction){0};
    return;
  }
  *to = x->slip;
  to->n = n;
  to->s = to->k = lever;
  to->p.K *= R * R;
  to->p.B *= R * R;
  to->p.D *= R * R;
  to->p.v0 /= R;
  to->p.v1 /= R;
  to->p.vs /= R;
  to->p.xi *= R;
}

// Whose direction of friction a pair uses, if any.
static int directed(const srSurfaceLaws* x) {
  for (int k = 0; k < 2; k++) {
    if (x->slip.law && sr_surface_directed(x->shape[k]) && !isnan(x->along[k])) return k;
  }
  return -1;
}

static bool is_round(const srCollisionShape* shape) {
  const srShapeKind kind = shape->convex.kind;
  return kind == SR_KIND_SPHERE || kind == SR_KIND_CAPSULE || kind == SR_KIND_CYLINDER || kind == SR_KIND_CONE ||
         kind == SR_KIND_ELLIPSOID;
}

int sr_contact_wheel(const srCollisionShape* a, const srCollisionShape* b) {
  if (is_round(a) == is_round(b)) return -1;
  return is_round(a) ? 0 : 1;
}

// Friction on an evenly turning ring is mu |A t| along t: its mean over all directions t, A = diag(1, ratio).
static double mean_factor(const srSurfaceLaws* x) {
  const int n = 512;  // the error of a ratio of 0, |cos|, is 1e-6
  double sum = 0;
  if (x->directed < 0) return 1;
  for (int i = 0; i < n; i++) sum += hypot(cos(PI * (i + 0.5) / n), x->along[x->directed] * sin(PI * (i + 0.5) / n));
  return sum / n;
}

// Points of a surface: friction of spinning has the lever arms of the points.
static bool has_points(const srSurfaceLaws* x) { return !x->patch && (x->shape[0]->surface || x->shape[0]->smooth); }

// A lever arm of the size of a patch or of the smaller shape.
static double arm_of(const srSurfaceLaws* x) {
  if (has_points(x)) return fmin(x->shape[0]->reach, x->shape[1]->reach);
  const srConvex* rigid = &x->shape[x->patch->rigid]->convex;
  return rigid->kind == SR_KIND_CAPSULE ? rigid->size[2] : 2.0 / 3 * sqrt(x->patch->area / PI);
}

// Friction of spinning on a patch: mu times the moment of its pressure, with bristles at a lever arm of its size.
static void spin_of_patch(srSurfaceLaws* x) {
  const double lever = x->spin.s, R = arm_of(x), factor = mean_factor(x);
  x->lever = lever > 0 && x->slip.s > 0 ? lever / (factor * x->slip.s) : 0;
  x->spin.s = 1;
  resist(x, &x->spin, 1, R);
  x->spin.s = factor * x->slip.s;
  x->spin.k = factor * x->slip.k;
}

// The capsule whose core is the line of two shapes, of two capsules the shorter one; -1: none.
static int find_line(const srConvex* a, const srConvex* b) {
  const bool is_a = a->kind == SR_KIND_CAPSULE && sr_line_faces(b->kind);
  const bool is_b = b->kind == SR_KIND_CAPSULE && sr_line_faces(a->kind);
  if (is_a && is_b) return a->size[2] < b->size[2] ? 0 : 1;
  return is_a ? 0 : is_b ? 1 : -1;
}

// A patch of two shapes: of their faces, or of the ends of a capsule on a plane, where the capsule is what moves; or the line of a capsule.
// False: they touch at a point.
static bool find_patch(const srCollisionShape* a, const srCollisionShape* b, srPatch* out) {
  const int line = find_line(&a->convex, &b->convex);
  if (line >= 0) {
    *out = (srPatch){.rigid = line, .line = true, .area = 1};
    return true;
  }
  if (a->convex.kind == SR_KIND_PLANE && b->convex.kind == SR_KIND_CAPSULE) {
    *out = (srPatch){.rigid = 1, .area = 1};
    return true;
  }
  return a->flat && b->flat && sr_patch_of(&a->body, &b->body, out);
}

// Radius of the side of a shape that is one around its axis; 0: of another one.
static double side_of(const srCollisionShape* x) {
  if (x->convex.kind == SR_KIND_CAPSULE) return x->convex.radius;
  return x->convex.kind == SR_KIND_CYLINDER ? x->convex.size[0] : 0;
}

double sr_contact_stiffness(const srPairKind* pair, srElastic one, srElastic two, const srCollisionShape* a,
                            const srCollisionShape* b) {
  if (pair->place) return sr_hertz_stiffness(one, two);
  const bool first = a->convex.kind == SR_KIND_SPHERE;
  const srCollisionShape *ball = first ? a : b, *other = first ? b : a;
  const double side = side_of(other), R = ball->convex.radius;
  if (ball->convex.kind != SR_KIND_SPHERE || !(side > 0)) return (double)NAN;
  return sr_hertz_ellipse(one, two, (double[]){1 / R + 1 / side, 1 / R});
}

void sr_contact_of_pair(srSurfaceLaws* x, const srPairKind* pair, srElastic one, srElastic two,
                        const srCollisionShape* a, const srCollisionShape* b, srPatch* patch) {
  const double R = fmin(fabs(one.R), fabs(two.R));
  x->pair = pair;
  x->radius[0] = one.R;
  x->radius[1] = two.R;
  x->shape[0] = a;
  x->shape[1] = b;
  x->patch = !pair->place && find_patch(a, b, patch) ? patch : NULL;
  x->slip.n = pair->nt;
  x->directed = directed(x);
  x->wheel = isnan(x->relaxation) ? -1 : sr_contact_wheel(a, b);
  if (isnan(x->p.K) && (x->law->uses & SR_NORMAL_USES(K)) != 0) x->p.K = sr_contact_stiffness(pair, one, two, a, b);
  sr_normal_prepare(x->law, &x->p);
  resist(x, &x->roll, pair->nt, R);
  if (x->patch || has_points(x))
    spin_of_patch(x);
  else
    resist(x, &x->spin, 1, R);
}

int sr_contact_likeness(const srSurfaceLaws* x) { return has_points(x) ? 4 : x->slip.n - 2 + (x->patch ? 2 : 0); }

int sr_contact_states(srSurfaceLaws* x) {
  srDryFriction* part[] = {&x->slip, &x->roll, &x->spin};
  int n = 0;
  for (int k = 0; k < SR_COUNT(part); k++) {
    if (!part[k]->law) continue;
    part[k]->e = n;
    part[k]->ne = sr_friction_states(part[k]->law, &part[k]->p, part[k]->n);
    n += part[k]->ne;
  }
  return n;
}
