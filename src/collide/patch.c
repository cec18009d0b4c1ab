// Pressure over the patch of two solids that overlap.
//
// The soft solid S has a pressure field p(d), d(x) the distance of a point within to the nearest of its faces,
//   d = min_f d_f,   d_f = c_f - m_f.x,                          concave, linear in cells
// and the rigid solid R displaces it. With U = integral of p over R and S, a function of the relative pose alone, the force on R is
//   -dU/dx = -integral of p n dA over the surface of R within S,      n the normal of R pointing outward
// so that it is conservative, and continuous whatever features touch: faces, edges, corners and the rims of either. On a half space
// with p = k d it is the force of buoyancy, k times the volume below the plane; on a face A in full contact k A d.
//
// Every face of R is clipped by S and into the cells of d; on a cell p is a function of one linear d_f. Energy by the theorem of Gauss: with
// E' = p, p = -div(E m_f) in the cell of f, hence
//   U = sum over cells of the surface  -(m_f.n) E dA   +   sum over the polygons between two cells  |m_f - m_g| E dA
// Triangles about the centroid of a polygon have rules of degree 2, exact for a linear law and its moment, or 5 (Strang and Fix 1973).
//
// The idea of a pressure field is that of Elandt, Drumwright, Sherman and Ruina 2019, A pressure field model for fast, robust
// approximation of net contact force and moment between nominally rigid objects; distances to faces take the place of their tetrahedra.
#include "collide/patch.h"

#include <math.h>
#include <string.h>

#include "collide/patch_cells.h"
#include "math/pose.h"
#include "math/vector3.h"

// ---- roles --------------------------------------------------------------------------------------------------------------

static double inner_radius(const srPatchBody* b) {
  double least = HUGE_VAL;  // from the origin of its frame: of boxes and hulls about their centre
  const srPolytope* p = b->polytope;
  if (p == NULL) {  // of a cone: no more than that
    const srPatchFrustum f = sr_patch_frustum_of(b);
    return 0.5 * fmin(f.z[1] - f.z[0], f.cosine * (f.radius[0] + f.radius[1]));
  }
  if (p->nvertex == 0) return HUGE_VAL;
  for (int i = 0; i < p->nplane; i++) least = fmin(least, p->plane[4 * i + 3]);
  return least;
}

// Of triangles: of the box around them.
static double largest_face(const srPatchBody* b) {
  if (b->polytope) return b->polytope->largest;
  const double x = b->high[0] - b->low[0], y = b->high[1] - b->low[1], z = b->high[2] - b->low[2];
  if (b->surface) return fmax(x * y, fmax(y * z, z * x));
  const double r = fmax(b->radius[0], b->radius[1]);
  return SR_PI * r * r;
}

static bool is_frustum(const srPatchBody* b) { return !b->polytope && !b->surface; }
bool sr_patch_can_be_soft(const srPatchBody* b) { return b->polytope && b->polytope->nplane <= SR_PATCH_PLANES; }
static bool can_be_rigid(const srPatchBody* b) { return !b->polytope || b->polytope->nvertex > 0; }

// Triangles on any of the others.
static bool patch_of_surface(const srPatchBody* soft, int rigid, srPatch* out) {
  out->rigid = rigid;
  out->area = fmin(largest_face(&out->body[0]), largest_face(&out->body[1]));
  return !soft->surface && (!soft->polytope || sr_patch_can_be_soft(soft));
}

bool sr_patch_of(const srPatchBody* a, const srPatchBody* b, srPatch* out) {
  if (a->surface || b->surface) {
    *out = (srPatch){.body = {*a, *b}};
    return a->surface ? patch_of_surface(b, 0, out) : patch_of_surface(a, 1, out);
  }
  const bool soft_a = sr_patch_can_be_soft(a) && can_be_rigid(b), soft_b = sr_patch_can_be_soft(b) && can_be_rigid(a);
  *out = (srPatch){.body = {*a, *b}, .round = is_frustum(a) && is_frustum(b)};
  const bool both = (soft_a && soft_b) || out->round;
  if (!both && !soft_a && !soft_b) return false;
  out->rigid = both ? inner_radius(a) >= inner_radius(b) : soft_a;
  out->area = fmin(largest_face(a), largest_face(b));
  return true;
}

// ---- points -------------------------------------------------------------------------------------------------------------

void sr_patch_put(srPatchCells* c, int f, const double x[3], const double n[3], double area, double store) {
  const double* m = c->soft->plane + 4 * f;
  const srPatchField at = {.depth = fmax(sr_patch_depth(c, f, x), 0), .gradient = {-m[0], -m[1], -m[2]}};
  sr_patch_put_at(c, x, n, &at, area, store);
}

void sr_patch_put_at(srPatchCells* c, const double x[3], const double n[3], const srPatchField* field, double area,
                     double store) {
  if (c->task == SR_PATCH_AREAS) {
    srm_add_scaled3(c->up, area, n, c->up);
    return;
  }
  if (c->task == SR_PATCH_COLUMNS) {
    sr_patch_put_column(c, x, area * srm_dot3(c->up, n));
    return;
  }
  srPatchPoint p = {.depth = field->depth, .area = area, .store = store};
  const double side = c->patch->rigid == 0 ? 1 : -1, turned[3] = {side * n[0], side * n[1], side * n[2]};
  srm_pose_point(c->soft_in_a, x, p.x);
  srm_pose_rotate(c->soft_in_a, turned, p.n);
  srm_pose_rotate(c->soft_in_a, field->gradient, p.gradient);
  srm_pose_rotate(c->soft_in_a, field->bend, p.bend);
  c->visitor->at(c->visitor->user, &p);
  c->count++;
}

double sr_patch_depth(const srPatchCells* c, int f, const double x[3]) {
  const double* plane = c->soft->plane + 4 * f;
  return plane[3] - srm_dot3(plane, x);
}

// ---- polygons -----------------------------------------------------------------------------------------------------------

#define SIDES 256  // of the prism that takes the place of a frustum between cells, of equal volume
#define MOST_CORNERS (SR_PATCH_PLANES + SIDES + 8)

typedef struct Polygon {
  int n;
  double x[MOST_CORNERS][3];
} Polygon;

static void copy(const Polygon* from, Polygon* to) {
  to->n = from->n;
  memcpy(to->x, from->x, (size_t)from->n * sizeof *from->x);
}

// Keeps where value >= 0, of values at the corners; strict: nothing where they are all 0.
static void clip(Polygon* p, const double* value, bool strict) {
  Polygon out;
  bool any = false;
  out.n = 0;
  for (int i = 0; i < p->n; i++) {
    const int j = i + 1 < p->n ? i + 1 : 0;
    const double u = value[i], v = value[j];
    any |= strict ? u > 0 : u >= 0;
    if (u >= 0) memcpy(out.x[out.n++], p->x[i], sizeof p->x[i]);
    if ((u < 0) == (v < 0) || u == 0 || v == 0) continue;
    const double s = u / (u - v);
    for (int k = 0; k < 3; k++) out.x[out.n][k] = p->x[i][k] + s * (p->x[j][k] - p->x[i][k]);
    out.n++;
  }
  if (!any) out.n = 0;
  copy(&out, p);
}

// Into S. Fills the planes that can be nearest somewhere on it; false: nothing is left.
static bool clip_to_soft(const srPatchCells* c, Polygon* p, int* near, int* nnear) {
  double value[MOST_CORNERS], most[SR_PATCH_PLANES], least[SR_PATCH_PLANES], reach = HUGE_VAL;
  for (int f = 0; f < c->soft->nplane; f++) {
    bool inside = true;
    for (int i = 0; i < p->n; i++) {
      value[i] = sr_patch_depth(c, f, p->x[i]);
      inside &= value[i] >= 0;
    }
    if (!inside) clip(p, value, false);
    if (p->n < 3) return false;
  }
  for (int f = 0; f < c->soft->nplane; f++) {
    most[f] = -HUGE_VAL;
    least[f] = HUGE_VAL;
    for (int i = 0; i < p->n; i++) {
      const double d = sr_patch_depth(c, f, p->x[i]);
      most[f] = fmax(most[f], d);
      least[f] = fmin(least[f], d);
    }
    reach = fmin(reach, most[f]);
  }
  *nnear = 0;
  for (int f = 0; f < c->soft->nplane; f++) {
    if (least[f] <= reach) near[(*nnear)++] = f;
  }
  return reach > 0;
}

// The part of it where plane f is the nearest of those given. Where two are at the same distance throughout, the first one is.
static void clip_to_cell(const srPatchCells* c, Polygon* p, int f, const int* near, int nnear) {
  double value[MOST_CORNERS];
  for (int k = 0; k < nnear && p->n >= 3; k++) {
    const int g = near[k];
    if (g == f) continue;
    for (int i = 0; i < p->n; i++) value[i] = sr_patch_depth(c, g, p->x[i]) - sr_patch_depth(c, f, p->x[i]);
    clip(p, value, g < f);
  }
}

// ---- triangles ----------------------------------------------------------------------------------------------------------

// Weight and barycentric coordinates.
static const double degree_2[3][4] = {
    {1.0 / 3, 2.0 / 3, 1.0 / 6, 1.0 / 6}, {1.0 / 3, 1.0 / 6, 2.0 / 3, 1.0 / 6}, {1.0 / 3, 1.0 / 6, 1.0 / 6, 2.0 / 3}};
#define A1 0.059715871789769820459  // (9 - 2 sqrt 15)/21
#define B1 0.47014206410511508977   // (6 + sqrt 15)/21
#define A2 0.79742698535308732240   // (9 + 2 sqrt 15)/21
#define B2 0.10128650732345633880   // (6 - sqrt 15)/21
#define W1 0.13239415278850618074   // (155 + sqrt 15)/1200
#define W2 0.12593918054482715260   // (155 - sqrt 15)/1200
static const double degree_5[7][4] = {{9.0 / 40, 1.0 / 3, 1.0 / 3, 1.0 / 3},
                                      {W1, A1, B1, B1},
                                      {W1, B1, A1, B1},
                                      {W1, B1, B1, A1},
                                      {W2, A2, B2, B2},
                                      {W2, B2, A2, B2},
                                      {W2, B2, B2, A2}};

const double (*sr_patch_rule(bool fine, int* n))[4] {
  *n = fine ? SR_COUNT(degree_5) : SR_COUNT(degree_2);
  return fine ? degree_5 : degree_2;
}

// What the points of a polygon have in common.
typedef struct Sheet {
  int plane;     // its depth is that of this plane of S
  double n[3];   // of R, outward
  double area;   // of its points, per m^2: 1, or 0 for energy alone
  double store;  // likewise
} Sheet;

static double triangle_area(const double* a, const double* b, const double* c) {
  double u[3], v[3], n[3];
  for (int i = 0; i < 3; i++) {
    u[i] = b[i] - a[i];
    v[i] = c[i] - a[i];
  }
  srm_cross3(u, v, n);
  return 0.5 * srm_norm3(n);
}

static void put_triangle(srPatchCells* c, const Sheet* s, const double* x0, const double* x1, const double* x2) {
  int n;
  const double(*rule)[4] = sr_patch_rule(c->visitor->fine || c->task == SR_PATCH_COLUMNS, &n);
  const double area = triangle_area(x0, x1, x2);
  if (!(area > 0)) return;
  for (int k = 0; k < n; k++) {
    const double *l = rule[k] + 1, w = area * rule[k][0];
    double x[3];
    for (int i = 0; i < 3; i++) x[i] = l[0] * x0[i] + l[1] * x1[i] + l[2] * x2[i];
    sr_patch_put(c, s->plane, x, s->n, w * s->area, w * s->store);
  }
}

// Of its area, so that corners which merge or split change nothing.
static void find_centroid(const Polygon* p, double out[3]) {
  double sum[3] = {0}, total = 0;
  for (int i = 1; i + 1 < p->n; i++) {
    const double a = triangle_area(p->x[0], p->x[i], p->x[i + 1]);
    total += a;
    for (int k = 0; k < 3; k++) sum[k] += a * (p->x[0][k] + p->x[i][k] + p->x[i + 1][k]) / 3;
  }
  for (int k = 0; k < 3; k++) out[k] = total > 0 ? sum[k] / total : p->x[0][k];
}

static double apart(const double* a, const double* b) {
  return fabs(b[0] - a[0]) + fabs(b[1] - a[1]) + fabs(b[2] - a[2]);
}

// Corners that are apart by more than rounding, four at most: where a cut passes through a corner, as those between cells do on the edges of S, it may find that twice.
static int find_corners(const Polygon* p, const double* corner[4]) {
  double around = 0;
  int n = 0;
  for (int i = 0; i < p->n; i++) around += apart(p->x[i], p->x[i + 1 < p->n ? i + 1 : 0]);
  for (int i = 0; i < p->n && n < 4; i++) {
    if (apart(p->x[i], p->x[i + 1 < p->n ? i + 1 : 0]) > SR_PATCH_MERGED * around) corner[n++] = p->x[i];
  }
  return n;
}

static void put_polygon(srPatchCells* c, const Sheet* s, const Polygon* p) {
  const double* corner[4];
  if (p->n < 3) return;
  if (find_corners(p, corner) == 3) {
    put_triangle(c, s, corner[0], corner[1], corner[2]);
    return;
  }
  double middle[3];
  find_centroid(p, middle);
  for (int i = 0; i < p->n; i++) put_triangle(c, s, middle, p->x[i], p->x[i + 1 < p->n ? i + 1 : 0]);
}

// ---- faces --------------------------------------------------------------------------------------------------------------

static void put_face(srPatchCells* c, Polygon* face, const double n[3]) {
  int near[SR_PATCH_PLANES], nnear;
  Polygon cell;
  if (!clip_to_soft(c, face, near, &nnear)) return;
  for (int k = 0; k < nnear; k++) {
    copy(face, &cell);
    clip_to_cell(c, &cell, near[k], near, nnear);
    Sheet s = {.plane = near[k], .n = {n[0], n[1], n[2]}, .area = 1};
    s.store = -srm_dot3(c->soft->plane + 4 * near[k], n);
    put_polygon(c, &s, &cell);
  }
}

void sr_patch_put_face(srPatchCells* c, const double (*corner)[3], int n, const double normal[3]) {
  Polygon face;
  face.n = n;
  memcpy(face.x, corner, (size_t)n * sizeof *corner);
  put_face(c, &face, normal);
}

static void put_faces(srPatchCells* c, const srPolytope* rigid) {
  for (int i = 0; i < rigid->nface; i++) {
    Polygon face;
    double n[3];
    face.n = rigid->first[i + 1] - rigid->first[i];
    for (int k = 0; k < face.n; k++) {
      srm_pose_point(c->rigid_in_soft, rigid->vertex + 3 * rigid->corner[rigid->first[i] + k], face.x[k]);
    }
    srm_pose_rotate(c->rigid_in_soft, rigid->plane + 4 * rigid->on[i], n);
    put_face(c, &face, n);
  }
}

// ---- between cells: energy ----------------------------------------------------------------------------------------------

// A square in the plane d_f = d_g that contains what R has of it. False: the two are parallel and R is far, or the planes are.
static bool square_between(const srPatchCells* c, int f, int g, Polygon* out, double* apart) {
  const double *one = c->soft->plane + 4 * f, *two = c->soft->plane + 4 * g, *centre = c->centre;
  double n[3], u[3], v[3], foot[3];
  for (int i = 0; i < 3; i++) n[i] = one[i] - two[i];
  *apart = srm_norm3(n);
  if (!(*apart > 1e-9)) return false;
  for (int i = 0; i < 3; i++) n[i] /= *apart;
  const double off = srm_dot3(n, centre) - (one[3] - two[3]) / *apart;
  if (fabs(off) > c->reach) return false;
  const int least = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2) : fabs(n[1]) < fabs(n[2]) ? 1 : 2;
  const double axis[3] = {least == 0, least == 1, least == 2};
  srm_cross3(n, axis, u);
  const double length = srm_norm3(u);
  for (int i = 0; i < 3; i++) u[i] /= length;
  srm_cross3(n, u, v);
  for (int i = 0; i < 3; i++) foot[i] = centre[i] - off * n[i];
  out->n = 4;
  for (int k = 0; k < 4; k++) {
    const double su = k == 0 || k == 3 ? -c->reach : c->reach, sv = k < 2 ? -c->reach : c->reach;
    for (int i = 0; i < 3; i++) out->x[k][i] = foot[i] + su * u[i] + sv * v[i];
  }
  return true;
}

static void clip_by_plane(const srPatchCells* c, Polygon* p, const double m[3], double offset) {
  double normal[3], value[MOST_CORNERS];
  if (p->n < 3) return;
  srm_pose_rotate(c->rigid_in_soft, m, normal);
  const double at = offset + srm_dot3(normal, c->rigid_in_soft + 12);
  for (int i = 0; i < p->n; i++) value[i] = at - srm_dot3(normal, p->x[i]);
  clip(p, value, false);
}

static void clip_to_rigid(const srPatchCells* c, Polygon* p) {
  const srPatchBody* r = &c->patch->body[c->patch->rigid];
  for (int i = 0; r->polytope && i < r->polytope->nplane; i++) {
    clip_by_plane(c, p, r->polytope->plane + 4 * i, r->polytope->plane[4 * i + 3]);
  }
  if (r->polytope) return;
  const double turn = 2 * SR_PI / SIDES, wide = sqrt(turn / 2 / tan(turn / 2));
  const double ends[2][3] = {{0, 0, -1}, {0, 0, 1}}, dr = wide * (r->radius[1] - r->radius[0]), dz = r->z[1] - r->z[0];
  const double slant = hypot(dr, dz);
  clip_by_plane(c, p, ends[0], -r->z[0]);
  clip_by_plane(c, p, ends[1], r->z[1]);
  for (int i = 0; i < SIDES && p->n >= 3; i++) {
    const double m[3] = {cos(turn * i) * dz / slant, sin(turn * i) * dz / slant, -dr / slant};
    clip_by_plane(c, p, m, (wide * r->radius[0] * dz - dr * r->z[0]) / slant);
  }
}

static void put_between(srPatchCells* c) {
  for (int f = 0; f < c->soft->nplane; f++) {
    for (int g = f + 1; g < c->soft->nplane; g++) {
      Polygon p;
      Sheet s = {.plane = f, .n = {0, 0, 1}};
      int near[SR_PATCH_PLANES], nnear;
      if (!square_between(c, f, g, &p, &s.store)) continue;
      if (!clip_to_soft(c, &p, near, &nnear)) continue;
      int others = 0;
      for (int k = 0; k < nnear; k++) {
        if (near[k] != g) near[others++] = near[k];
      }
      clip_to_cell(c, &p, f, near, others);
      clip_to_rigid(c, &p);
      put_polygon(c, &s, &p);
    }
  }
}

// ---- visit --------------------------------------------------------------------------------------------------------------

// A ball about R.
static void find_reach(srPatchCells* c, const srPatchBody* r) {
  double centre[3] = {0, 0, 0.5 * (r->z[0] + r->z[1])};
  if (r->polytope) centre[2] = 0;
  c->reach = r->polytope ? 0 : hypot(fmax(r->radius[0], r->radius[1]), 0.5 * (r->z[1] - r->z[0]));
  for (int i = 0; r->polytope && i < r->polytope->nvertex; i++) {
    c->reach = fmax(c->reach, srm_norm3(r->polytope->vertex + 3 * i));
  }
  srm_pose_point(c->rigid_in_soft, centre, c->centre);
}

// Is R apart from S by one of its planes?
static bool is_apart(const srPatchCells* c) {
  for (int f = 0; f < c->soft->nplane; f++) {
    if (sr_patch_depth(c, f, c->centre) < -c->reach) return true;
  }
  return false;
}

int sr_patch_visit(const srPatch* patch, const double pose[16], const srPatchVisitor* visitor) {
  const srPatchBody* rigid = &patch->body[patch->rigid];
  srPatchCells c = {.patch = patch, .visitor = visitor, .soft = patch->body[1 - patch->rigid].polytope};
  if (patch->rigid == 1) {
    srm_pose_identity(c.soft_in_a);
    memcpy(c.rigid_in_soft, pose, sizeof c.rigid_in_soft);
  } else {
    memcpy(c.soft_in_a, pose, sizeof c.soft_in_a);
    srm_pose_invert(pose, c.rigid_in_soft);
  }
  if (rigid->surface) {
    if (isfinite(srm_norm3(c.rigid_in_soft + 12))) sr_patch_put_surface(&c, rigid);
    return c.count;
  }
  find_reach(&c, rigid);
  if (!isfinite(srm_norm3(c.centre))) return 0;
  if (patch->round) {
    sr_patch_put_round(&c, rigid);
    return c.count;
  }
  if (is_apart(&c)) return 0;
  if (rigid->polytope) {
    put_faces(&c, rigid->polytope);
  } else {
    sr_patch_put_frustum(&c, rigid);
  }
  if (visitor->energy) put_between(&c);
  return c.count;
}
