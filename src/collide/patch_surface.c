// Triangles of a mesh or height field within the pressure field of patch.c: of a box, a hull, a half space, a cylinder or a cone.
//
// With plane faces every triangle is clipped as a face of a solid is. In a cylinder or cone about z, with radius rho(z) and the field of patch_field.c, the plane of a triangle is x = x_0 + s e_1 + t e_2, e_2 across the axis: z and the distance h of the line t from the axis are linear in s, r^2 = h^2 + t^2.
// So the part within is |t| <= sqrt(rho^2 - h^2) between two values of s that come from linear conditions; lines of t are cut exactly, at the triangle,
// at the side, and where the nearest of side and end changes. Gauss points in the angle of s = m + a sin(angle), which makes the ends of an ellipse smooth,
// between the values of s where the cuts change.
//
// Energy: U is the integral of p over what the triangles displace of S. Along any direction k that leaves it (the mean of the normals),
//   U = integral over the surface of (k.n) P dA,   P = integral of p along the line from the point against k, to where it leaves S
// where p(d) has linear pieces of d between plane faces.
#include <math.h>
#include <string.h>

#include "collide/patch_cells.h"
#include "math/pose.h"
#include "math/vector3.h"

static const double node3[3] = {-0.7745966692414834, 0, 0.7745966692414834};
static const double weight3[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
#define NODES 5
static const double node5[NODES] = {-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831,
                                    0.9061798459386640};
static const double weight5[NODES] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889, 0.4786286704993665,
                                      0.2369268850561891};

typedef srPatchFrustum Frustum;

static const srPatchBody* soft_of(const srPatchCells* c) { return &c->patch->body[1 - c->patch->rigid]; }
static double radius_at(const Frustum* f, double z) { return sr_patch_frustum_radius(f, z); }

// ---- a triangle in a cylinder or cone -------------------------------------------------------------------------------------

typedef struct Section {
  srPatchCells* c;
  const Frustum* f;
  double n[3], x0[3], e1[3], e2[3];
  double z0, dz, h0, dh;  // z and h at s
  double corner[3][2];    // of the triangle: s, t
  double low, high;       // values of s of the section
} Section;

static double z_at(const Section* p, double s) { return p->z0 + s * p->dz; }
static double h_at(const Section* p, double s) { return p->h0 + s * p->dh; }
static double end_depth(const Section* p, double s) { return fmin(z_at(p, s) - p->f->z[0], p->f->z[1] - z_at(p, s)); }

// Keeps where a + b s >= 0.
static void keep(Section* p, double a, double b) {
  if (b > 0)
    p->low = fmax(p->low, -a / b);
  else if (b < 0)
    p->high = fmin(p->high, -a / b);
  else if (a < 0)
    p->high = -HUGE_VAL;
}

// False: the plane of the triangle misses the solid.
static bool find_section(srPatchCells* c, const Frustum* f, const double (*x)[3], const double n[3], Section* p) {
  const double across = hypot(n[0], n[1]);
  *p = (Section){.c = c, .f = f, .low = -HUGE_VAL, .high = HUGE_VAL};
  srm_set3(p->n, n);
  p->e2[0] = across > 1e-9 ? n[1] / across : 1;
  p->e2[1] = across > 1e-9 ? -n[0] / across : 0;
  srm_cross3(p->e2, n, p->e1);
  const double side[3] = {p->e2[1], -p->e2[0], 0}, off = srm_dot3(p->e2, x[0]);
  srm_add_scaled3(x[0], -off, p->e2, p->x0);
  p->z0 = p->x0[2];
  p->dz = p->e1[2];
  p->h0 = srm_dot3(side, p->x0);
  p->dh = srm_dot3(side, p->e1);
  const double rho = radius_at(f, p->z0), drho = f->slope * p->dz;
  keep(p, rho - p->h0, drho - p->dh);
  keep(p, rho + p->h0, drho + p->dh);
  keep(p, p->z0 - f->z[0], p->dz);
  keep(p, f->z[1] - p->z0, -p->dz);
  for (int i = 0; i < 3; i++) {
    double d[3];
    srm_sub3(x[i], p->x0, d);
    p->corner[i][0] = srm_dot3(p->e1, d);
    p->corner[i][1] = srm_dot3(p->e2, d);
  }
  return p->high > p->low && isfinite(p->high - p->low);
}

#define MOST_CUTS 24

typedef struct Cuts {
  double from, to;
  int n;
  double at[MOST_CUTS];
} Cuts;

static void add_cut(Cuts* c, double s) {
  if (!(s > c->from && s < c->to)) return;
  int i = c->n++;
  for (; i > 0 && c->at[i - 1] > s; i--) c->at[i] = c->at[i - 1];
  c->at[i] = s;
}

// Where an edge of the triangle crosses the side: t^2 + h^2 = rho^2.
static void cut_edge(const Section* p, const double a[2], const double b[2], Cuts* cuts) {
  const double run = b[0] - a[0];
  if (run == 0) return;
  const double m = (b[1] - a[1]) / run, t0 = a[1] - m * a[0];
  const double rho = radius_at(p->f, p->z0), drho = p->f->slope * p->dz;
  const double A = m * m + p->dh * p->dh - drho * drho, B = m * t0 + p->dh * p->h0 - drho * rho;
  const double C = t0 * t0 + p->h0 * p->h0 - rho * rho, root = B * B - A * C;
  if (!(root >= 0) || A == 0) return;
  const double far = B > 0 ? -B - sqrt(root) : -B + sqrt(root), s[2] = {far / A, far != 0 ? C / far : 0};
  for (int i = 0; i < 2; i++) {
    if ((s[i] - a[0]) * (s[i] - b[0]) <= 0) add_cut(cuts, s[i]);
  }
}

static void add_root(Cuts* cuts, double a, double b) {
  if (b != 0) add_cut(cuts, -a / b);
}

static void find_cuts(const Section* p, Cuts* cuts) {
  const Frustum* f = p->f;
  for (int i = 0; i < 3; i++) {
    add_cut(cuts, p->corner[i][0]);
    cut_edge(p, p->corner[i], p->corner[(i + 1) % 3], cuts);
  }
  const double rho = radius_at(f, p->z0), drho = f->slope * p->dz;
  add_root(cuts, p->z0 - 0.5 * (f->z[0] + f->z[1]), p->dz);
  for (int e = 0; e < 2; e++) {  // where the end is nearest first: rho - d_e/c = |h|
    const double sign = e == 0 ? 1 : -1, a = rho - sign * (p->z0 - f->z[e]) / f->cosine;
    const double b = drho - sign * p->dz / f->cosine;
    add_root(cuts, a - p->h0, b - p->dh);
    add_root(cuts, a + p->h0, b + p->dh);
  }
}

// The part of the line at s in the triangle.
static bool line_in_triangle(const Section* p, double s, double t[2]) {
  t[0] = HUGE_VAL;
  t[1] = -HUGE_VAL;
  for (int i = 0; i < 3; i++) {
    const double *a = p->corner[i], *b = p->corner[(i + 1) % 3];
    if ((s - a[0]) * (s - b[0]) > 0 || a[0] == b[0]) continue;
    const double at = a[1] + (s - a[0]) / (b[0] - a[0]) * (b[1] - a[1]);
    t[0] = fmin(t[0], at);
    t[1] = fmax(t[1], at);
  }
  return t[1] > t[0];
}

static void put_point(const Section* p, double s, double t, double area) {
  double x[3];
  for (int i = 0; i < 3; i++) x[i] = p->x0[i] + s * p->e1[i] + t * p->e2[i];
  sr_patch_put_in_frustum(p->c, p->f, x, p->n, area);
}

static void put_piece(const Section* p, double s, double from, double to, double ds) {
  if (!(to > from)) return;
  for (int i = 0; i < 3; i++) {
    put_point(p, s, 0.5 * (from + to) + 0.5 * (to - from) * node3[i], 0.5 * (to - from) * weight3[i] * ds);
  }
}

static void put_line(const Section* p, double s, double ds) {
  const double rho = radius_at(p->f, z_at(p, s)), h = h_at(p, s), wide = sqrt(fmax(0, rho * rho - h * h));
  const double inner = rho - end_depth(p, s) / p->f->cosine;
  const double kink = inner > fabs(h) ? sqrt(inner * inner - h * h) : 0;
  double t[2];
  if (!line_in_triangle(p, s, t)) return;
  const double from = fmax(t[0], -wide), to = fmin(t[1], wide);
  const double left = fmin(fmax(-kink, from), to), right = fmin(fmax(kink, from), to);
  put_piece(p, s, from, left, ds);
  put_piece(p, s, left, right, ds);
  put_piece(p, s, right, to, ds);
}

static void put_triangle(srPatchCells* c, const Frustum* f, const double (*x)[3], const double n[3]) {
  Section p;
  if (!find_section(c, f, x, n, &p)) return;
  const double middle = 0.5 * (p.low + p.high), half = 0.5 * (p.high - p.low);
  Cuts cuts = {.from = p.low, .to = p.high};
  const double least = fmin(p.corner[0][0], fmin(p.corner[1][0], p.corner[2][0]));
  const double most = fmax(p.corner[0][0], fmax(p.corner[1][0], p.corner[2][0]));
  if (!(least < p.high && most > p.low)) return;
  cuts.from = fmax(cuts.from, least);
  cuts.to = fmin(cuts.to, most);
  find_cuts(&p, &cuts);
  for (int i = 0; i <= cuts.n; i++) {
    const double from = i == 0 ? cuts.from : cuts.at[i - 1], to = i < cuts.n ? cuts.at[i] : cuts.to;
    const double a = asin(fmax(-1, fmin(1, (from - middle) / half))), b = asin(fmax(-1, fmin(1, (to - middle) / half)));
    for (int k = 0; k < NODES && b > a; k++) {
      const double angle = 0.5 * (a + b) + 0.5 * (b - a) * node5[k];
      put_line(&p, middle + half * sin(angle), 0.5 * (b - a) * weight5[k] * half * cos(angle));
    }
  }
}

// ---- energy ---------------------------------------------------------------------------------------------------------------

static void put_volume(srPatchCells* c, double depth, double volume) {
  const srPatchPoint p = {.depth = depth, .volume = volume};
  c->visitor->at(c->visitor->user, &p);
  c->count++;
}

// Against `up` from x all distances are linear; the least of them has pieces.
static void put_column_of_planes(srPatchCells* c, const double x[3], double area) {
  double depth[SR_PATCH_PLANES], slope[SR_PATCH_PLANES], from = 0, end = HUGE_VAL;
  const int n = c->soft->nplane;
  int f = 0;
  for (int g = 0; g < n; g++) {
    depth[g] = sr_patch_depth(c, g, x);
    slope[g] = srm_dot3(c->soft->plane + 4 * g, c->up);
    if (slope[g] < 0) end = fmin(end, -depth[g] / slope[g]);
    if (depth[g] < depth[f] || (depth[g] == depth[f] && slope[g] < slope[f])) f = g;
  }
  if (!isfinite(end)) return;
  while (from < end) {
    double to = end;
    int next = f;
    for (int g = 0; g < n; g++) {
      if (!(slope[g] < slope[f])) continue;
      const double at = (depth[g] - depth[f]) / (slope[f] - slope[g]);
      if (at < to || (at == to && slope[g] < slope[next])) to = fmax(from, at), next = g;
    }
    for (int k = 0; k < 3; k++) {
      const double s = 0.5 * (from + to) + 0.5 * (to - from) * node3[k];
      put_volume(c, fmax(0, depth[f] + s * slope[f]), area * 0.5 * (to - from) * weight3[k]);
    }
    if (next == f) return;
    from = to;
    f = next;
  }
}

// Where the line from x against `up` leaves the frustum.
static double column_end(const Frustum* f, const double k[3], const double x[3]) {
  const double rho = radius_at(f, x[2]), drho = -f->slope * k[2];
  double end = k[2] > 0 ? (x[2] - f->z[0]) / k[2] : k[2] < 0 ? (x[2] - f->z[1]) / k[2] : HUGE_VAL;
  const double A = k[0] * k[0] + k[1] * k[1] - drho * drho, B = -(x[0] * k[0] + x[1] * k[1]) - rho * drho;
  const double C = x[0] * x[0] + x[1] * x[1] - rho * rho, root = B * B - A * C;
  if (!(root >= 0)) return end;
  const double far = B > 0 ? -B - sqrt(root) : -B + sqrt(root);
  const double s[2] = {A != 0 ? far / A : HUGE_VAL, far != 0 ? C / far : 0};
  for (int i = 0; i < 2; i++) {
    if (s[i] > 0 && radius_at(f, x[2] - s[i] * k[2]) >= 0) end = fmin(end, s[i]);
  }
  return end;
}

#define PIECES 4

static void put_column_of_frustum(srPatchCells* c, const double x[3], double area) {
  const Frustum f = sr_patch_frustum_of(soft_of(c));
  const double end = column_end(&f, c->up, x);
  for (int i = 0; i < 3 * PIECES && isfinite(end); i++) {
    const double s = end * (i / 3 + 0.5 + 0.5 * node3[i % 3]) / PIECES;
    double y[3];
    srm_add_scaled3(x, -s, c->up, y);
    put_volume(c, fmax(0, sr_patch_frustum_depth(&f, y)), area * end * 0.5 * weight3[i % 3] / PIECES);
  }
}

void sr_patch_put_column(srPatchCells* c, const double x[3], double area) {
  if (c->soft)
    put_column_of_planes(c, x, area);
  else
    put_column_of_frustum(c, x, area);
}

// ---- triangles near the soft solid ------------------------------------------------------------------------------------------

static void visit(void* to, int triangle) {
  srPatchCells* c = to;
  const srSurface* surface = c->patch->body[c->patch->rigid].surface;
  double corner[9], x[3][3], n[3], flat[9];
  surface->corners(surface->user, triangle, corner);
  for (int i = 0; i < 3; i++) srm_pose_point(c->rigid_in_soft, corner + 3 * i, x[i]);
  memcpy(flat, x, sizeof flat);
  sr_triangle_normal(flat, n);
  if (c->soft) {
    sr_patch_put_face(c, (const double(*)[3])x, 3, n);
  } else {
    const Frustum f = sr_patch_frustum_of(soft_of(c));
    put_triangle(c, &f, (const double(*)[3])x, n);
  }
}

// Of a half space: of the part of the surface's box that can be in it. m.x <= offset, in the axes of the surface.
static void bound_by_plane(const srPatchBody* r, const double m[3], double offset, double low[3], double high[3]) {
  double least = 0;
  for (int k = 0; k < 3; k++) least += m[k] * (m[k] > 0 ? r->low[k] : r->high[k]);
  for (int k = 0; k < 3; k++) {
    const double rest = offset - (least - m[k] * (m[k] > 0 ? r->low[k] : r->high[k]));
    low[k] = m[k] < 0 ? fmax(r->low[k], rest / m[k]) : r->low[k];
    high[k] = m[k] > 0 ? fmin(r->high[k], rest / m[k]) : r->high[k];
  }
}

static void grow(const double x[3], double low[3], double high[3]) {
  for (int k = 0; k < 3; k++) {
    low[k] = fmin(low[k], x[k]);
    high[k] = fmax(high[k], x[k]);
  }
}

// Of the soft solid, in the axes of the surface; pose: of the solid there.
static void find_bounds(const srPatchCells* c, const srPatchBody* r, double low[3], double high[3]) {
  const srPatchBody* s = soft_of(c);
  double pose[16], x[3];
  srm_pose_invert(c->rigid_in_soft, pose);
  if (s->polytope && s->polytope->nvertex == 0) {
    double m[3];
    srm_pose_rotate(pose, s->polytope->plane, m);
    bound_by_plane(r, m, s->polytope->plane[3] + srm_dot3(m, pose + 12), low, high);
    return;
  }
  for (int k = 0; k < 3; k++) low[k] = HUGE_VAL, high[k] = -HUGE_VAL;
  for (int i = 0; s->polytope && i < s->polytope->nvertex; i++) {
    srm_pose_point(pose, s->polytope->vertex + 3 * i, x);
    grow(x, low, high);
  }
  for (int i = 0; !s->polytope && i < 4; i++) {
    const double along[3] = {0, 0, s->z[i / 2]}, side = i % 2 == 0 ? 1 : -1;
    srm_pose_point(pose, along, x);
    for (int k = 0; k < 3; k++) x[k] += side * s->radius[i / 2] * sqrt(fmax(0, 1 - pose[8 + k] * pose[8 + k]));
    grow(x, low, high);
  }
}

void sr_patch_put_surface(srPatchCells* c, const srPatchBody* rigid) {
  double low[3], high[3];
  find_bounds(c, rigid, low, high);
  if (!c->visitor->energy) {
    rigid->surface->near(rigid->surface->user, low, high, visit, c);
    return;
  }
  c->task = SR_PATCH_AREAS;
  rigid->surface->near(rigid->surface->user, low, high, visit, c);
  if (!(srm_unit3(c->up) > 0)) return;
  c->task = SR_PATCH_COLUMNS;
  rigid->surface->near(rigid->surface->user, low, high, visit, c);
}
