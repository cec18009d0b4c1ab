// Surfaces of shapes as triangles with normals. Round ones are turned about z: a profile of points (r, z) with normals, from below to above,
// so that triangles are counterclockwise seen from outside.
#include <math.h>
#include <string.h>

#include "collide/collision.h"
#include "page/page.h"

#define ROUND 32  // edges of a circle
#define ARC 8     // steps of a quarter of one

typedef struct Profile {
  int n;
  double x[2 * ARC + 8][4];  // r, z, and the normal
} Profile;

static void add_float(srText* to, double x) { sr_text_add(to, (const char*)&(float){(float)x}, sizeof(float)); }
static void add_index(srText* to, int i) { sr_text_add(to, (const char*)&(uint32_t){(uint32_t)i}, sizeof(uint32_t)); }

static int add_vertex(srPageSolid* s, const double x[3], const double n[3]) {
  for (int k = 0; k < 3; k++) add_float(&s->vertex, x[k]);
  for (int k = 0; k < 3; k++) add_float(&s->normal, n[k]);
  return s->nvertex++;
}

static void add_triangle(srPageSolid* s, int a, int b, int c) {
  add_index(&s->face, a);
  add_index(&s->face, b);
  add_index(&s->face, c);
  s->ntriangle++;
}

// ---- round ones --------------------------------------------------------------------------------------------------------------
static void to(Profile* p, double r, double z, double nr, double nz) {
  const double x[4] = {r, z, nr, nz};
  memcpy(p->x[p->n++], x, sizeof x);
}

// A quarter of a circle about (0, z), from angle `first` quarters above the plane of its equator.
static void arc(Profile* p, double radius, double z, int first) {
  const double quarter = acos(-1.0) / 2;
  for (int i = 0; i <= ARC; i++) {
    const bool pole = i == (first < 0 ? 0 : ARC);
    const double angle = quarter * (first + (double)i / ARC), c = pole ? 0 : cos(angle), s = sin(angle);
    to(p, radius * c, z + radius * s, c, s);
  }
}

// Scaled to half-axes: normals of an ellipsoid are those of the ball over the half-axes.
static void turn(srPageSolid* s, const Profile* p, const double scale[3]) {
  const int first = s->nvertex, across = ROUND + 1;
  const double whole = 2 * acos(-1.0);
  for (int k = 0; k < p->n; k++) {
    for (int j = 0; j <= ROUND; j++) {
      const double c = j == ROUND ? 1 : cos(whole * j / ROUND), d = j == ROUND ? 0 : sin(whole * j / ROUND);
      const double x[3] = {p->x[k][0] * c * scale[0], p->x[k][0] * d * scale[1], p->x[k][1] * scale[2]};
      double n[3] = {p->x[k][2] * c / scale[0], p->x[k][2] * d / scale[1], p->x[k][3] / scale[2]};
      const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
      for (int i = 0; i < 3; i++) n[i] /= length;
      (void)add_vertex(s, x, n);
    }
  }
  for (int k = 0; k + 1 < p->n; k++) {
    const bool lower = p->x[k][0] > 0, upper = p->x[k + 1][0] > 0;
    if (p->x[k][0] == p->x[k + 1][0] && p->x[k][1] == p->x[k + 1][1]) continue;  // an edge: two normals at one place
    for (int j = 0; j < ROUND; j++) {
      const int a = first + k * across + j, b = a + 1, c = a + across, d = c + 1;
      if (lower) add_triangle(s, a, b, upper ? d : c);
      if (upper) add_triangle(s, a, d, c);
    }
  }
}

static const double one[3] = {1, 1, 1};

static void put_sphere(srPageSolid* s, const double half[3]) {
  Profile p = {0};
  arc(&p, 1, 0, -1);
  p.n--;  // the equator is in both quarters
  arc(&p, 1, 0, 0);
  turn(s, &p, half);
}

void sr_page_solid_capsule(double radius, double length, srPageSolid* s) {
  Profile p = {0};
  arc(&p, radius, -length / 2, -1);
  arc(&p, radius, length / 2, 0);
  turn(s, &p, one);
}

// open: a bore, without its ends. top: radius of the upper end.
static void put_frustum(srPageSolid* s, double radius, double top, double length, bool open) {
  const double h = length / 2, slant = hypot(length, radius - top), nr = length / slant, nz = (radius - top) / slant;
  Profile p = {0};
  if (!open) to(&p, 0, -h, 0, -1);
  if (!open) to(&p, radius, -h, 0, -1);
  to(&p, radius, -h, nr, nz);
  to(&p, top, h, nr, nz);
  if (!open && top > 0) to(&p, top, h, 0, 1);
  if (!open && top > 0) to(&p, 0, h, 0, 1);
  turn(s, &p, one);
}

// ---- flat ones ---------------------------------------------------------------------------------------------------------------
static void put_face(srPageSolid* s, const double half[3], int axis, double sign) {
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  const double corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  const int first = s->nvertex;
  for (int i = 0; i < 4; i++) {
    double x[3], n[3] = {0, 0, 0};
    n[axis] = sign;
    x[axis] = sign * half[axis];
    x[u] = sign * corner[i][0] * half[u];  // turned over with the normal
    x[v] = corner[i][1] * half[v];
    (void)add_vertex(s, x, n);
  }
  add_triangle(s, first, first + 1, first + 2);
  add_triangle(s, first, first + 2, first + 3);
}

void sr_page_solid_square(double half, srPageSolid* s) { put_face(s, (double[3]){half, half, 0}, 2, 1); }

static void put_box(srPageSolid* s, const double size[3]) {
  const double half[3] = {size[0] / 2, size[1] / 2, size[2] / 2};
  for (int axis = 0; axis < 3; axis++) {
    put_face(s, half, axis, 1);
    put_face(s, half, axis, -1);
  }
}

// ---- shapes ------------------------------------------------------------------------------------------------------------------
static void put_triangles(srPageSolid* s, const srModel* m, int i) {
  const srShape* shape = &m->shape[i];
  srText all = {0};
  srPageTriangles t = {0};
  if (shape->type == SR_SHAPE_HEIGHTFIELD && shape->height != NULL) t = sr_page_triangles_of_field(shape, &all);
  if (shape->type == SR_SHAPE_SURFACE && m->collision != NULL) t = sr_page_triangles_of_surface(&m->collision[i], &all);
  if (shape->mesh >= 0) t = sr_page_triangles_of_mesh(&m->mesh[shape->mesh], shape->type == SR_SHAPE_HULL, &all);
  if (all.failed) s->vertex.failed = true;
  if (t.nvertex > 0 && !all.failed) {
    sr_text_add(&s->vertex, all.data + t.vertex, (size_t)t.nvertex * 3 * sizeof(float));
    sr_text_add(&s->face, all.data + t.triangle, (size_t)t.ntriangle * 3 * sizeof(uint32_t));
    s->nvertex = t.nvertex;
    s->ntriangle = t.ntriangle;
  }
  sr_text_free(&all);
}

void sr_page_solid_of_shape(const srModel* m, int i, srPageSolid* s) {
  const double *x = m->shape[i].size, r = fabs(x[0]);
  switch (m->shape[i].type) {
    case SR_SHAPE_SPHERE: put_sphere(s, (double[3]){r, r, r}); break;
    case SR_SHAPE_ELLIPSOID: put_sphere(s, x); break;
    case SR_SHAPE_BOX: put_box(s, x); break;
    case SR_SHAPE_CYLINDER: put_frustum(s, r, r, x[1], x[0] < 0); break;
    case SR_SHAPE_CONE: put_frustum(s, r, 0, x[1], false); break;
    case SR_SHAPE_CAPSULE: sr_page_solid_capsule(r, x[1], s); break;
    case SR_SHAPE_PLANE: break;  // unbounded
    default: put_triangles(s, m, i); break;
  }
}

void sr_page_solid_free(srPageSolid* s) {
  sr_text_free(&s->vertex);
  sr_text_free(&s->normal);
  sr_text_free(&s->face);
  *s = (srPageSolid){0};
}
