// The surface of a frustum, cylinder or cone within the pressure field of patch.c.
//
// Side: straight lines x = (rho(s) cos phi, rho(s) sin phi, z(s)), rho and z linear in s. On each, all distances are linear in s, so
// that its part in a cell is an interval, known exactly. At the end e of the lines a condition of the cell, d_f >= 0 or d_g >= d_f, is
//   base_e + rho_e (u cos phi + v sin phi) >= 0
// Its roots in phi, of all conditions and both ends, cut the circle into arcs. Within an arc the integrand is continuous, and smooth but where two
// conditions meet within a line; points of Gauss in phi then give a sum without jumps.
//
// Ends: the conditions cut a polygon out of the plane of the end; its part in the disc has straight edges and arcs, and is cut into triangles
// about a point within, with straight or curved third sides.
#include <math.h>
#include <string.h>

#include "collide/patch_cells.h"
#include "math/pose.h"

#define NODES 8
// Gauss-Legendre on [-1, 1]: 8 points, the positive half; and 3.
static const double node[NODES / 2] = {0.1834346424956498, 0.525532409916329, 0.7966664774136267, 0.9602898564975363};
static const double weight[NODES / 2] = {0.362683783378362, 0.31370664587788727, 0.22238103445337448,
                                         0.10122853629037626};
static const double along_node[3] = {-0.7745966692414834, 0, 0.7745966692414834};
static const double along_weight[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};

typedef struct Frustum {
  srPatchCells* c;
  const srPatchBody* r;
  const double *ex, *ey, *ez, *origin;  // its frame in the axes of the soft solid
  int near[SR_PATCH_PLANES], nnear;     // planes that can be nearest somewhere
  int f;                                // the one whose cell it is
} Frustum;

static void point_of(const Frustum* k, double x, double y, double z, double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = k->origin[i] + x * k->ex[i] + y * k->ey[i] + z * k->ez[i];
}

// Condition of plane g for the cell of f, in the axes of the frustum: u.x + v.y + w.z + base >= 0.
static void condition(const Frustum* k, int g, double out[4]) {
  const double *m = k->c->soft->plane + 4 * g, *mf = k->c->soft->plane + 4 * k->f;
  double n[3] = {-m[0], -m[1], -m[2]};
  for (int i = 0; i < 3 && g != k->f; i++) n[i] += mf[i];
  out[0] = srm_dot3(n, k->ex);
  out[1] = srm_dot3(n, k->ey);
  out[2] = srm_dot3(n, k->ez);
  out[3] = sr_patch_depth(k->c, g, k->origin) - (g == k->f ? 0 : sr_patch_depth(k->c, k->f, k->origin));
}

static double value_at(const double condition[4], double x, double y, double z) {
  return condition[0] * x + condition[1] * y + condition[2] * z + condition[3];
}

static void put(const Frustum* k, const double x[3], const double n[3], double area) {
  const double store = -srm_dot3(k->c->soft->plane + 4 * k->f, n);
  sr_patch_put(k->c, k->f, x, n, area, area * store);
}

// ---- side ---------------------------------------------------------------------------------------------------------------

// The part of the line at phi in the cell, as an interval of [0, 1]. Returns its length.
static double cut_line(const Frustum* k, double cosine, double sine, double part[2]) {
  const srPatchBody* r = k->r;
  part[0] = 0;
  part[1] = 1;
  for (int i = 0; i < k->nnear; i++) {
    double c[4];
    condition(k, k->near[i], c);
    const double u = value_at(c, r->radius[0] * cosine, r->radius[0] * sine, r->z[0]);
    const double v = value_at(c, r->radius[1] * cosine, r->radius[1] * sine, r->z[1]);
    if (u < 0 && v < 0) return 0;
    if (u == 0 && v == 0 && k->near[i] <= k->f) return 0;  // the first of two at the same distance has it
    if (u < 0) part[0] = fmax(part[0], u / (u - v));
    if (v < 0) part[1] = fmin(part[1], u / (u - v));
  }
  return fmax(0, part[1] - part[0]);
}

static void put_line(const Frustum* k, double phi, double dphi) {
  const srPatchBody* r = k->r;
  const double cosine = cos(phi), sine = sin(phi), dr = r->radius[1] - r->radius[0], dz = r->z[1] - r->z[0];
  const double slant = hypot(dr, dz);
  double n[3], part[2];
  const double length = cut_line(k, cosine, sine, part);
  if (!(length > 0)) return;
  for (int i = 0; i < 3; i++) n[i] = (dz * (cosine * k->ex[i] + sine * k->ey[i]) - dr * k->ez[i]) / slant;
  for (int j = 0; j < 3; j++) {
    const double s = part[0] + 0.5 * length * (1 + along_node[j]), rho = r->radius[0] + s * dr;
    double x[3];
    point_of(k, rho * cosine, rho * sine, r->z[0] + s * dz, x);
    put(k, x, n, 0.5 * along_weight[j] * length * slant * rho * dphi);
  }
}

static void put_cut(double* cut, int* n, double angle) {
  int i = (*n)++;
  for (; i > 0 && cut[i - 1] > angle; i--) cut[i] = cut[i - 1];
  cut[i] = angle;
}

#define MOST_CUTS (4 * SR_PATCH_PLANES + 5)

// Angles in [0, 2 pi] at which an end of a line crosses a condition, sorted, and the quarters.
static int find_cuts(const Frustum* k, double cut[MOST_CUTS]) {
  int n = 0;
  for (int i = 0; i <= 4; i++) put_cut(cut, &n, i * 0.5 * SR_PI);
  for (int i = 0; i < k->nnear; i++) {
    double c[4];
    condition(k, k->near[i], c);
    const double along = hypot(c[0], c[1]), middle = atan2(c[1], c[0]);
    for (int e = 0; e < 2; e++) {
      const double base = c[3] + c[2] * k->r->z[e], swing = along * k->r->radius[e];
      if (!(fabs(base) < swing)) continue;
      const double w = acos(-base / swing), root[2] = {middle - w, middle + w};
      for (int j = 0; j < 2; j++) put_cut(cut, &n, root[j] - 2 * SR_PI * floor(root[j] / (2 * SR_PI)));
    }
  }
  return n;
}

#define PARTS 4  // of an arc, where conditions may meet within a line

static void put_side(const Frustum* k) {
  double cut[MOST_CUTS];
  const int n = find_cuts(k, cut);
  for (int p = 0; p + 1 < n; p++) {
    const int parts = k->nnear > 1 ? PARTS : 1;
    const double half = 0.5 * (cut[p + 1] - cut[p]) / parts;
    for (int i = 0; i < NODES * parts && half > 0; i++) {
      const int at = i % NODES;
      const double turn = 1 + 2 * (i / NODES) + (at % 2 == 0 ? node[at / 2] : -node[at / 2]);
      put_line(k, cut[p] + half * turn, half * weight[at / 2]);
    }
  }
}

// ---- ends ---------------------------------------------------------------------------------------------------------------

#define MOST_CORNERS (SR_PATCH_PLANES + 8)

// In the plane of an end.
typedef struct Region {
  int n;
  double x[MOST_CORNERS][2];
} Region;

static void clip(Region* p, const double c[4], double z, bool strict) {
  Region out;
  bool any = false;
  out.n = 0;
  for (int i = 0; i < p->n; i++) {
    const double *a = p->x[i], *b = p->x[i + 1 < p->n ? i + 1 : 0];
    const double u = value_at(c, a[0], a[1], z), v = value_at(c, b[0], b[1], z);
    any |= strict ? u > 0 : u >= 0;
    if (u >= 0) memcpy(out.x[out.n++], a, sizeof *p->x);
    if ((u < 0) == (v < 0) || u == 0 || v == 0) continue;
    for (int j = 0; j < 2; j++) out.x[out.n][j] = a[j] + u / (u - v) * (b[j] - a[j]);
    out.n++;
  }
  if (!any) out.n = 0;
  p->n = out.n;
  memcpy(p->x, out.x, (size_t)out.n * sizeof *out.x);
}

// Part [0, 1] of an edge within the circle; false: none.
static bool cut_edge(const double* a, const double* b, double rho, double part[2]) {
  const double d[2] = {b[0] - a[0], b[1] - a[1]};
  const double A = d[0] * d[0] + d[1] * d[1], B = a[0] * d[0] + a[1] * d[1];
  const double C = a[0] * a[0] + a[1] * a[1] - rho * rho, root = B * B - A * C;
  if (!(A > 0) || !(root > 0)) return false;
  part[0] = fmax(0, (-B - sqrt(root)) / A);
  part[1] = fmin(1, (-B + sqrt(root)) / A);
  return part[1] > part[0];
}

// The boundary of a region within a disc: straight pieces, in order; arcs join those that do not meet.
typedef struct Outline {
  int n;
  double from[MOST_CORNERS][2], to[MOST_CORNERS][2];
} Outline;

static void outline_of(const Region* p, double rho, Outline* out) {
  out->n = 0;
  for (int i = 0; i < p->n; i++) {
    const double *a = p->x[i], *b = p->x[i + 1 < p->n ? i + 1 : 0];
    double part[2];
    if (!cut_edge(a, b, rho, part)) continue;
    for (int j = 0; j < 2; j++) {
      out->from[out->n][j] = a[j] + part[0] * (b[j] - a[j]);
      out->to[out->n][j] = a[j] + part[1] * (b[j] - a[j]);
    }
    out->n++;
  }
}

typedef struct End {
  const Frustum* k;
  double rho, z, n[3], middle[2];
} End;

static void put_flat(const End* e, double x, double y, double area) {
  double at[3];
  point_of(e->k, x, y, e->z, at);
  put(e->k, at, e->n, area);
}

static void put_straight(const End* e, const double* a, const double* b) {
  const double u[2] = {a[0] - e->middle[0], a[1] - e->middle[1]}, v[2] = {b[0] - e->middle[0], b[1] - e->middle[1]};
  const double area = 0.5 * (u[0] * v[1] - u[1] * v[0]);
  if (!(area > 0)) return;
  for (int i = 0; i < 3; i++) {
    const double p = i == 1 ? 2.0 / 3 : 1.0 / 6, q = i == 2 ? 2.0 / 3 : 1.0 / 6;
    put_flat(e, e->middle[0] + p * u[0] + q * v[0], e->middle[1] + p * u[1] + q * v[1], area / 3);
  }
}

// Between two angles, x = middle + s (arc - middle), 0 <= s <= 1.
static void put_piece(const End* e, double from, double to) {
  const double half = 0.5 * (to - from);
  for (int i = 0; i < NODES; i++) {
    const double angle = from + half * (1 + (i % 2 == 0 ? node[i / 2] : -node[i / 2]));
    const double x[2] = {e->rho * cos(angle), e->rho * sin(angle)};
    const double u[2] = {x[0] - e->middle[0], x[1] - e->middle[1]}, wide = u[0] * x[0] + u[1] * x[1];
    for (int j = 0; j < 3; j++) {
      const double s = 0.5 * (1 + along_node[j]), w = half * weight[i / 2] * 0.5 * along_weight[j];
      put_flat(e, e->middle[0] + s * u[0], e->middle[1] + s * u[1], w * s * wide);
    }
  }
}

// Cut at the quarters, which are fixed in the frustum.
static void put_arc(const End* e, double phi, double turn) {
  const double quarter = 0.5 * SR_PI, end = phi + turn;
  while (phi < end) {
    const double next = fmin(end, quarter * (1 + floor(phi / quarter)));
    if (!(next > phi)) return;
    put_piece(e, phi, next);
    phi = next;
  }
}

// Counterclockwise from a to b on the circle; 0 where they meet.
static double turn_between(const double* a, const double* b, double rho) {
  if (hypot(a[0] - b[0], a[1] - b[1]) < 1e-12 * rho) return 0;
  const double turn = atan2(b[1], b[0]) - atan2(a[1], a[0]);
  return turn < 0 ? turn + 2 * SR_PI : turn;
}

// Within the region: the mean of what bounds it.
static void find_middle(End* e, const Outline* o) {
  double total = 0, sum[2] = {0};
  for (int i = 0; i < o->n; i++) {
    const double *a = o->from[i], *b = o->to[i], *next = o->from[i + 1 < o->n ? i + 1 : 0];
    const double length = hypot(b[0] - a[0], b[1] - a[1]), turn = turn_between(b, next, e->rho);
    const double phi = atan2(b[1], b[0]), chord = 2 * e->rho * sin(0.5 * turn);
    sum[0] += length * 0.5 * (a[0] + b[0]) + chord * e->rho * cos(phi + 0.5 * turn);
    sum[1] += length * 0.5 * (a[1] + b[1]) + chord * e->rho * sin(phi + 0.5 * turn);
    total += length + chord;
  }
  for (int j = 0; j < 2 && total > 0; j++) e->middle[j] = sum[j] / total;
}

static void put_outline(End* e, const Outline* o, const Region* p) {
  if (o->n == 0) {  // all of the disc, or nothing of it
    for (int i = 0; i < p->n; i++) {
      const double *a = p->x[i], *b = p->x[i + 1 < p->n ? i + 1 : 0];
      if (a[0] * b[1] - a[1] * b[0] < 0) return;
    }
    if (p->n >= 3) put_arc(e, 0, 2 * SR_PI);
    return;
  }
  find_middle(e, o);
  for (int i = 0; i < o->n; i++) {
    const double* b = o->to[i];
    const double turn = turn_between(b, o->from[i + 1 < o->n ? i + 1 : 0], e->rho);
    put_straight(e, o->from[i], b);
    if (turn > 0) put_arc(e, atan2(b[1], b[0]), turn);
  }
}

static void put_end(const Frustum* k, int which) {
  const double rho = k->r->radius[which], z = k->r->z[which], sign = which == 0 ? -1 : 1;
  End e = {.k = k, .rho = rho, .z = z, .n = {sign * k->ez[0], sign * k->ez[1], sign * k->ez[2]}};
  const double wide = 2 * rho;
  Region p = {.n = 4, .x = {{-wide, -wide}, {wide, -wide}, {wide, wide}, {-wide, wide}}};
  Outline o;
  if (!(rho > 0)) return;
  for (int i = 0; i < k->nnear && p.n >= 3; i++) {
    double c[4];
    condition(k, k->near[i], c);
    clip(&p, c, z, k->near[i] <= k->f);
  }
  if (p.n < 3) return;
  outline_of(&p, rho, &o);
  put_outline(&e, &o, &p);
}

// ---- planes -------------------------------------------------------------------------------------------------------------

// False: one of the planes has all of it outside.
static bool find_near(Frustum* k) {
  double least[SR_PATCH_PLANES], reach = HUGE_VAL;
  for (k->f = 0; k->f < k->c->soft->nplane; k->f++) {
    double c[4], most = -HUGE_VAL;
    condition(k, k->f, c);
    least[k->f] = HUGE_VAL;
    for (int e = 0; e < 2; e++) {
      const double base = c[3] + c[2] * k->r->z[e], swing = k->r->radius[e] * hypot(c[0], c[1]);
      most = fmax(most, base + swing);
      least[k->f] = fmin(least[k->f], base - swing);
    }
    reach = fmin(reach, most);
  }
  k->nnear = 0;
  for (int f = 0; f < k->c->soft->nplane; f++) {
    if (least[f] <= reach) k->near[k->nnear++] = f;
  }
  return reach > 0;
}

void sr_patch_put_frustum(srPatchCells* c, const srPatchBody* rigid) {
  const double* pose = c->rigid_in_soft;
  Frustum k = {.c = c, .r = rigid, .ex = pose, .ey = pose + 4, .ez = pose + 8, .origin = pose + 12};
  if (!find_near(&k)) return;
  for (int i = 0; i < k.nnear; i++) {
    k.f = k.near[i];
    put_side(&k);
    put_end(&k, 0);
    put_end(&k, 1);
  }
}
