// Rates of the normal and of the point of contact, in the axes of a, as b moves with the twist (w, u) and the features that meet stay.
//
// Nearest points: the derivatives of distance_derivative.c along the twist, the curvatures of both surfaces at the contact (Montana 1988). Other points of a
// manifold share its normal, and n' is
//   0 where it is that of a face of a,    w x n where it is that of a face of b,    else that of the nearest points.
// With c the point of a core, H = dc/dn where it is on a generator that rolls, else 0, and R the radius around the core,
//   a:  c' = H n',  x = c + R n              b:  c' = u + w x (c - o) - H (n' - w x n),  x = c - R n,  o the origin of b
//   corner of b on a face of a   x_b' as above,  x_a = x_b - gap n;  of a on a face of b likewise
//   crossing of two edges        x_a' + alpha e_a and x_b' + beta e_b, with (x_b - x_a)' = (gap n)' in the tangents
// gap' = n.(u + w x (x_b - o)) throughout, since points slide along the surfaces.
#include <math.h>
#include <string.h>

#include "collide/points.h"
#include "math/vector3.h"

#define PARALLEL 1e-9  // sine of the angle of edges that do not cross

// out = sum of columns of D by the twist.
static void along(double D[3][6], const double twist[6], double out[3]) {
  for (int i = 0; i < 3; i++) {
    out[i] = 0;
    for (int j = 0; j < 6; j++) out[i] += D[i][j] * twist[j];
  }
}

// Rate of the middle of two points to that of the arm from the origin of b.
static void put_arm(const double a[3], const double b[3], const double twist[6], double r[3]) {
  for (int i = 0; i < 3; i++) r[i] = 0.5 * (a[i] + b[i]) - twist[3 + i];
}

void sr_point_rates_of_place(const srPairPlace* at, const double twist[6], srPointRates* out) {
  const double* u = twist + 3;
  const double rate = srm_dot3(at->n, u);
  out->known = true;
  for (int i = 0; i < 3; i++) {
    out->n[i] = at->straight && i == 2 ? 0 : at->curve * (u[i] - rate * at->n[i]);
    out->r[i] = -at->arm * out->n[i] - at->share * rate * at->n[i];
  }
}

void sr_point_rates_of_nearest(const srNearest* near, const double twist[6], srPointRates* out) {
  srNearestDerivative by;
  double a[3], b[3];
  sr_nearest_derivative(near, &by);
  out->known = by.smooth;
  along(by.n, twist, out->n);
  along(by.point_a, twist, a);
  along(by.point_b, twist, b);
  put_arm(a, b, twist, out->r);
}

// ---- manifolds ------------------------------------------------------------------------------------------------------------

typedef struct Moving {
  const srNearest* near;
  const double* twist;
  const double* n;
  double turned[3];  // w x n
  double rate[3];    // n'
} Moving;

// False: it is that of the nearest points, whose features change here.
static bool find_normal_rate(Moving* x, const srPointRates* nearest) {
  srm_cross3(x->twist, x->n, x->turned);
  if (x->near->a.dimension == 2) {
    memset(x->rate, 0, sizeof x->rate);
  } else if (x->near->b.dimension == 2) {
    srm_set3(x->rate, x->turned);
  } else {
    srm_set3(x->rate, nearest->n);
    return nearest->known;
  }
  return true;
}

// x_a' and x_b' of points that do not slide on their edges.
static void surface_a(const Moving* x, const srManifoldPoint* p, double out[3]) {
  double rolled[3] = {0};
  if (p->rolls[0]) srm_mul3(x->near->a.hessian, x->rate, rolled);
  for (int i = 0; i < 3; i++) out[i] = rolled[i] + x->near->radius[0] * x->rate[i];
}

static void surface_b(const Moving* x, const srManifoldPoint* p, double out[3]) {
  double arm[3], carried[3], turn[3], rolled[3] = {0};
  for (int i = 0; i < 3; i++) {
    arm[i] = p->point_b[i] + x->near->radius[1] * x->n[i] - x->near->x[i];
    turn[i] = x->rate[i] - x->turned[i];
  }
  srm_cross3(x->twist, arm, carried);
  if (p->rolls[1]) srm_mul3(x->near->b.hessian, turn, rolled);
  for (int i = 0; i < 3; i++) out[i] = x->twist[3 + i] + carried[i] - rolled[i] - x->near->radius[1] * x->rate[i];
}

// (gap n)'
static void put_between(const Moving* x, const srManifoldPoint* p, double out[3]) {
  double arm[3], carried[3];
  srm_sub3(p->point_b, x->near->x, arm);
  srm_cross3(x->twist, arm, carried);
  const double rate = srm_dot3(x->n, x->twist + 3) + srm_dot3(x->n, carried);
  for (int i = 0; i < 3; i++) out[i] = rate * x->n[i] + p->gap * x->rate[i];
}

// Adds what the points slide along their edges: in the tangents alpha e_a - beta e_b = b' - a' - between. False: the edges are parallel.
static bool slide(const srManifoldPoint* p, const double n[3], const double between[3], double a[3], double b[3]) {
  double T[2][3], rest[3], left[2][2], right[2];
  srm_tangents3(n, T[0], T[1]);
  for (int i = 0; i < 3; i++) rest[i] = b[i] - a[i] - between[i];
  for (int k = 0; k < 2; k++) {
    left[k][0] = srm_dot3(T[k], p->edge[0]);
    left[k][1] = -srm_dot3(T[k], p->edge[1]);
    right[k] = srm_dot3(T[k], rest);
  }
  const double det = left[0][0] * left[1][1] - left[0][1] * left[1][0];
  if (!(fabs(det) > PARALLEL)) return false;
  srm_add_scaled3(a, (right[0] * left[1][1] - left[0][1] * right[1]) / det, p->edge[0], a);
  srm_add_scaled3(b, (left[0][0] * right[1] - right[0] * left[1][0]) / det, p->edge[1], b);
  return true;
}

static void point_rates(const Moving* x, const srManifoldPoint* p, srPointRates* out) {
  double a[3], b[3], between[3];
  put_between(x, p, between);
  surface_a(x, p, a);
  surface_b(x, p, b);
  out->known = p->of != SR_POINT_OF_OTHERS;
  srm_set3(out->n, x->rate);
  if (p->of == SR_POINT_OF_CORNER_A) {
    srm_add_scaled3(a, 1, between, b);
  } else if (p->of == SR_POINT_OF_CORNER_B) {
    srm_add_scaled3(b, -1, between, a);
  } else if (p->of == SR_POINT_OF_CROSSING) {
    out->known = slide(p, x->n, between, a, b);
  }
  put_arm(a, b, x->twist, out->r);
}

void sr_point_rates_of_manifold(const srManifold* m, const srNearest* near, const double twist[6], srPointRates* out) {
  Moving x = {.near = near, .twist = twist, .n = m->n};
  srPointRates nearest = {0};
  bool wanted = near->a.dimension != 2 && near->b.dimension != 2;
  for (int i = 0; i < m->count; i++) wanted = wanted || m->point[i].of == SR_POINT_OF_NEAREST;
  if (wanted) sr_point_rates_of_nearest(near, twist, &nearest);
  const bool known = find_normal_rate(&x, &nearest);
  for (int i = 0; i < m->count; i++) {
    if (m->point[i].of == SR_POINT_OF_NEAREST) {
      out[i] = nearest;
    } else {
      point_rates(&x, &m->point[i], &out[i]);
      out[i].known &= known;
    }
  }
}
