// Meshes and height fields: what is wrong with a mesh, queries against all triangles, a ball that rolls over internal edges.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "collide/distance.h"
#include "collide/field.h"
#include "collide/mesh.h"
#include "heap.h"
#include "math/pose.h"
#include "runner.h"

static double random_number(unsigned long* seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return (double)(*seed >> 11) * 0x1p-53;
}

// ---- meshes by formula ------------------------------------------------------------------------------------------------

typedef struct Soup {
  int nvertex, ntriangle;
  double* vertex;
  int* corner;
} Soup;

static Soup open_soup(int nvertex, int ntriangle) {
  return (Soup){.vertex = calloc((size_t)(3 * nvertex + 3), sizeof(double)),
                .corner = calloc((size_t)(3 * ntriangle + 3), sizeof(int))};
}

static void close_soup(Soup* s) {
  free(s->vertex);
  free(s->corner);
}

static int add_vertex(Soup* s, double x, double y, double z) {
  const double p[3] = {x, y, z};
  memcpy(s->vertex + 3 * s->nvertex, p, sizeof p);
  return s->nvertex++;
}

static void add_triangle(Soup* s, int a, int b, int c) {
  const int t[3] = {a, b, c};
  memcpy(s->corner + 3 * s->ntriangle++, t, sizeof t);
}

static srTriangleMesh* mesh_of(const Soup* s, srMeshReport* report) {
  return sr_trimesh_create(s->vertex, s->nvertex, s->corner, s->ntriangle, report);
}

// n x n square cells of width w over x, y >= 0, diagonals alternating so that eight triangles meet in every second vertex.
static Soup floor_of(int n, double w, double (*height)(double x, double y)) {
  Soup s = open_soup((n + 1) * (n + 1), 2 * n * n);
  for (int i = 0; i < (n + 1) * (n + 1); i++) {
    const double x = w * (i % (n + 1)), y = w * (i / (n + 1));
    (void)add_vertex(&s, x, y, height(x, y));
  }
  for (int i = 0; i < n * n; i++) {
    const int a = i % n + (n + 1) * (i / n), b = a + 1, c = a + n + 1, d = c + 1;
    const bool odd = (i % n + i / n) % 2;
    add_triangle(&s, a, b, odd ? c : d);
    add_triangle(&s, odd ? b : a, d, c);
  }
  return s;
}

// Up and down by up to 10 mm from vertex to vertex.
static double rough(double x, double y) { return 0.005 * (sin(1e4 * x + 77 * y) + cos(9e3 * y - 31 * x)); }

static double flat(double x, double y) { return 0 * x * y; }

// Slopes change by up to 5 degrees from cell to cell of 20 mm.
static double rolling(double x, double y) { return 0.0009 * sin(70 * x + 0.3) * cos(55 * y); }

// A box between two corners, outward normals.
static Soup box_of(const double* low, const double* high) {
  static const int quad[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  Soup s = open_soup(8, 12);
  for (int i = 0; i < 8; i++)
    (void)add_vertex(&s, i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]);
  for (int i = 0; i < 6; i++) {
    add_triangle(&s, quad[i][0], quad[i][1], quad[i][2]);
    add_triangle(&s, quad[i][0], quad[i][2], quad[i][3]);
  }
  return s;
}

// An L: the box 2 x 1 x 2 without the quarter x > 1, z > 1. Concave at the edge x = z = 1.
static Soup bracket(void) {
  static const double outline[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
  static const int cap[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
  Soup s = open_soup(12, 20);
  for (int i = 0; i < 12; i++) (void)add_vertex(&s, outline[i % 6][0], i / 6, outline[i % 6][1]);
  for (int i = 0; i < 4; i++) {
    add_triangle(&s, cap[i][0], cap[i][1], cap[i][2]);
    add_triangle(&s, 6 + cap[i][0], 6 + cap[i][2], 6 + cap[i][1]);
  }
  for (int i = 0; i < 6; i++) {
    const int j = (i + 1) % 6;
    add_triangle(&s, i, i + 6, j);
    add_triangle(&s, j, i + 6, j + 6);
  }
  return s;
}

// ---- what is wrong ----------------------------------------------------------------------------------------------------

static void ensure_faults(const srMeshReport* report, const int expected[SR_MESH_FAULTS]) {
  for (int k = 0; k < SR_MESH_FAULTS; k++) ENSURE_EQUAL(report->fault[k].count, expected[k]);
}

TEST(a_closed_mesh_without_faults_is_solid) {
  const double low[3] = {-1, -2, -3}, high[3] = {2, 1, 0};
  Soup s = box_of(low, high);
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  ensure_faults(&report, (const int[SR_MESH_FAULTS]){0});
  ENSURE(mesh != NULL && report.solid && sr_trimesh_triangles(mesh) == 12 && sr_trimesh_given(mesh, 7) == 7);
  ENSURE_NEAR(report.volume, 27, 1e-13);
  double a[3], b[3];
  sr_trimesh_bounds(mesh, a, b);
  for (int k = 0; k < 3; k++) ENSURE(a[k] == low[k] && b[k] == high[k]);
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

TEST(faults_of_a_mesh_are_counted_with_their_places) {
  static const double low[3] = {0}, high[3] = {1, 1, 1};
  for (int k = 0; k < SR_MESH_FAULTS; k++) {
    Soup s = open_soup(40, 40), box = box_of(low, high);
    memcpy(s.vertex, box.vertex, 24 * sizeof(double));
    memcpy(s.corner, box.corner, 36 * sizeof(int));
    s.nvertex = 8;
    s.ntriangle = 12;
    int expected[SR_MESH_FAULTS] = {0}, first = 12;
    expected[k] = 1;
    switch ((srMeshFaultKind)k) {
      case SR_MESH_EMPTY: s.ntriangle = first = 0; break;
      case SR_MESH_INDEX:
        add_triangle(&s, 0, 1, 8);
        add_triangle(&s, 0, 1, -1);
        expected[k] = 2;
        break;
      case SR_MESH_NOT_FINITE: first = add_vertex(&s, 0, (double)NAN, 0); break;
      case SR_MESH_DEGENERATE:
        add_triangle(&s, 3, 5, 3);
        add_triangle(&s, 0, 1, add_vertex(&s, 0.5, 1e-12, 0));
        expected[k] = 2;
        break;
      case SR_MESH_REPEATED: add_triangle(&s, 2, 3, 0); break;
      case SR_MESH_DUPLICATE: s.corner[35] = first = add_vertex(&s, 1, -0.0, 1); break;
      case SR_MESH_OPEN:
        s.ntriangle = 11;  // a hole of three edges: of the triangles 10 (its diagonal), 2 and 4
        expected[k] = 3;
        first = 2;
        break;
      case SR_MESH_CROWDED:
        (void)add_vertex(&s, 0.5, -1, -1);  // a fin on the edge from 0 to 1
        add_triangle(&s, 0, 1, 8);
        expected[SR_MESH_OPEN] = 2;
        first = 1;
        break;
      case SR_MESH_FLIPPED:
        s.corner[0] = 3, s.corner[2] = 0;  // triangle 0: its three edges
        expected[k] = 3;
        first = 0;
        break;
      default:
        for (int i = 0; i < 36; i += 3) s.corner[i] = box.corner[i + 1], s.corner[i + 1] = box.corner[i];
        first = 0;
    }
    if (k == SR_MESH_FLIPPED) ENSURE_EQUAL(box.corner[2], 3);
    srMeshReport report;
    srTriangleMesh* mesh = mesh_of(&s, &report);
    if (k == SR_MESH_DUPLICATE) s.corner[35] = 5;
    ensure_faults(&report, expected);
    ENSURE_EQUAL(report.fault[k].first, first);
    ENSURE((mesh == NULL) == (k <= SR_MESH_LAST_ERROR));
    ENSURE_EQUAL(report.solid, mesh != NULL && k != SR_MESH_OPEN && k != SR_MESH_CROWDED && k != SR_MESH_FLIPPED);
    if (report.solid) ENSURE_NEAR(report.volume, 1, 1e-14);
    ENSURE(strlen(sr_trimesh_fault_text(k)) > 10 && sr_trimesh_fault_item(k) != NULL);
    sr_trimesh_destroy(mesh);
    close_soup(&s);
    close_soup(&box);
  }
}

// A mesh whose normals all point inward touches as the one with normals outward.
TEST(an_inverted_mesh_is_turned_round) {
  static const double low[3] = {0}, high[3] = {1, 1, 1}, centre[3] = {0.3, 0.4, 1.05};
  Soup s = box_of(low, high);
  srTouch a, b;
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  srSurface surface = sr_trimesh_surface(mesh);
  ENSURE_EQUAL(sr_surface_ball(&surface, centre, 0.1, 0, &a, 1), 1);
  sr_trimesh_destroy(mesh);
  for (int i = 0; i < 36; i += 3) {
    const int c = s.corner[i];
    s.corner[i] = s.corner[i + 2];
    s.corner[i + 2] = c;
  }
  mesh = mesh_of(&s, &report);
  surface = sr_trimesh_surface(mesh);
  ENSURE_EQUAL(sr_surface_ball(&surface, centre, 0.1, 0, &b, 1), 1);
  ENSURE(report.fault[SR_MESH_INVERTED].count == 1 && a.gap == b.gap && a.n[2] == 1 && b.n[2] == 1);
  double end[3];  // neighbours as well: the opposite corners of every edge are not on it
  for (int i = 0; i < 36; i++) {
    for (int k = 0; k < 2; k++) {
      double corner[9];
      surface.corners(mesh, i / 3, corner);
      ENSURE(surface.opposite(mesh, i / 3, i % 3, k, end));
      ENSURE(memcmp(end, corner + 3 * (i % 3), sizeof end) != 0 &&
             memcmp(end, corner + 3 * ((i + 1) % 3), sizeof end) != 0);
    }
  }
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

// ---- queries against all triangles ------------------------------------------------------------------------------------

static Soup random_soup(int n, double size, unsigned long* seed) {
  Soup s = open_soup(3 * n, n);
  for (int i = 0; i < n; i++) {
    double c[3];
    for (int k = 0; k < 3; k++) c[k] = random_number(seed);
    for (int v = 0; v < 3; v++) {
      (void)add_vertex(&s, c[0] + size * random_number(seed), c[1] + size * random_number(seed),
                       i % 7 ? c[2] + size * random_number(seed) : 0.5);  // some of them in one plane
    }
    add_triangle(&s, 3 * i, 3 * i + 1, 3 * i + 2);
  }
  return s;
}

static void mark(void* to, int triangle) { ((unsigned char*)to)[triangle]++; }

TEST(the_tree_of_a_mesh_finds_the_triangles_near_a_box_and_the_nearest_one) {
  unsigned long seed = 17;
  for (int round = 0; round < 12; round++) {
    const int n = 1 + 60 * round;
    Soup s = random_soup(n, round % 3 ? 0.1 : 1, &seed);
    srMeshReport report;
    srTriangleMesh* mesh = mesh_of(&s, &report);
    const srSurface surface = sr_trimesh_surface(mesh);
    ENSURE_EQUAL(sr_trimesh_triangles(mesh), n);
    for (int query = 0; query < 20; query++) {
      unsigned char found[1000] = {0};
      int meets = 0, visited = 0;
      double low[3], high[3], x[3], best = HUGE_VAL, distance, d[3];
      for (int k = 0; k < 3; k++) {
        x[k] = 2 * random_number(&seed) - 0.5;
        low[k] = x[k] - 0.2 * random_number(&seed);
        high[k] = x[k] + 0.2 * random_number(&seed);
      }
      surface.near(mesh, low, high, mark, found);
      const int nearest = sr_trimesh_nearest(mesh, x, &distance);
      for (int t = 0; t < n; t++) {
        double corner[9], p[3], apart = -HUGE_VAL;
        surface.corners(mesh, t, corner);
        for (int k = 0; k < 3; k++) {
          const double a = fmin(corner[k], fmin(corner[3 + k], corner[6 + k])),
                       b = fmax(corner[k], fmax(corner[3 + k], corner[6 + k]));
          apart = fmax(apart, fmax(low[k] - b, a - high[k]));
        }
        if (apart <= 0) ENSURE_EQUAL(found[t], 1);
        ENSURE(found[t] <= 1);
        meets += apart <= 0;
        visited += found[t];
        (void)sr_triangle_nearest(corner, x, p);
        for (int k = 0; k < 3; k++) d[k] = x[k] - p[k];
        best = fmin(best, srm_norm3(d));
        if (t == nearest) ENSURE(srm_norm3(d) == distance);
      }
      ENSURE(best == distance);
      if (round % 3) ENSURE(visited <= 8 + 4 * meets);  // leaves of four, neighbours of each other
    }
    sr_trimesh_destroy(mesh);
    close_soup(&s);
  }
}

// Corners on a lattice of 4 x 4 x 4 places: duplicates, triangles without area, crowded and flipped edges in any mixture. What is left is whole.
TEST(any_triangles_make_a_mesh_that_is_whole) {
  unsigned long seed = 61;
  for (int round = 0; round < (runner_long() ? 3000 : 150); round++) {
    const int n = 1 + (int)(40 * random_number(&seed));
    Soup s = open_soup(3 * n, n);
    for (int i = 0; i < 3 * n; i++)
      (void)add_vertex(&s, floor(4 * random_number(&seed)), floor(4 * random_number(&seed)),
                       floor(4 * random_number(&seed)));
    for (int i = 0; i < n; i++)
      add_triangle(&s, (int)(3 * n * random_number(&seed)), (int)(3 * n * random_number(&seed)), 3 * i + 2);
    srMeshReport report;
    srTriangleMesh* mesh = mesh_of(&s, &report);
    const int left = n - report.fault[SR_MESH_DEGENERATE].count - report.fault[SR_MESH_REPEATED].count;
    ENSURE_EQUAL(mesh != NULL ? sr_trimesh_triangles(mesh) : 0, left);
    ENSURE_EQUAL(report.fault[SR_MESH_EMPTY].count, left == 0);
    for (int t = 0; t < left; t++) {
      const srSurface surface = sr_trimesh_surface(mesh);
      double corner[9], x[3], distance;
      srTouch touch;
      surface.corners(mesh, t, corner);
      for (int k = 0; k < 9; k++)
        ENSURE(corner[k] == s.vertex[3 * s.corner[3 * sr_trimesh_given(mesh, t) + k / 3] + k % 3]);
      for (int edge = 0; edge < 3; edge++) {  // one of the triangles of each edge is its own
        bool own = false;
        for (int k = 0; surface.opposite(mesh, t, edge, k, x); k++)
          own |= memcmp(x, corner + 3 * ((edge + 2) % 3), sizeof x) == 0;
        ENSURE(own);
      }
      for (int k = 0; k < 3; k++) x[k] = 4 * random_number(&seed) - 0.5;
      (void)sr_trimesh_nearest(mesh, x, &distance);
      ENSURE_EQUAL(sr_surface_ball(&surface, x, 0.1, 9, &touch, 1), 1);
      if (!report.solid) ENSURE_NEAR(touch.gap, distance - 0.1, 1e-13);
    }
    sr_trimesh_destroy(mesh);
    close_soup(&s);
  }
}

// Against a lattice of points of the triangle.
TEST(the_nearest_point_of_a_triangle_is_no_farther_than_any_other) {
  unsigned long seed = 23;
  for (int round = 0; round < 60; round++) {
    double corner[9], x[3], p[3], d[3];
    for (int i = 0; i < 12; i++) *(i < 9 ? &corner[i] : &x[i - 9]) = 2 * random_number(&seed) - 1;
    const int feature = sr_triangle_nearest(corner, x, p);
    for (int k = 0; k < 3; k++) d[k] = x[k] - p[k];
    const double distance = srm_norm3(d);
    double best = HUGE_VAL, u[2] = {0};
    for (int i = 0; i <= 60; i++) {
      for (int j = 0; i + j <= 60; j++) {
        for (int k = 0; k < 3; k++)
          d[k] = x[k] - corner[k] - i / 60.0 * (corner[3 + k] - corner[k]) - j / 60.0 * (corner[6 + k] - corner[k]);
        if (srm_norm3(d) < best) best = srm_norm3(d), u[0] = i / 60.0, u[1] = j / 60.0;
      }
    }
    ENSURE(distance <= best + 1e-15 && distance > best - 0.05);
    if (feature == 4) ENSURE(u[0] < 0.1 && u[1] < 0.1);
    if (feature == 1) ENSURE(u[1] < 0.1);
    if (feature == 3) ENSURE(u[0] < 0.1);
    if (feature == 2) ENSURE(u[0] + u[1] > 0.9);
  }
}

// ---- a ball on internal edges -------------------------------------------------------------------------------------------

static const double R = 0.05, DEEP = 1e-4;

// Height of the centre at which the deepest point is DEEP below the surface: Newton's method, with the normal as derivative.
static double settle(const srSurface* surface, double x, double y, double start) {
  double c[3] = {x, y, start};
  srTouch touch = {.gap = 1};
  for (int i = 0; i < 20 && fabs(touch.gap + DEEP) > 1e-14; i++) {
    ENSURE_EQUAL(sr_surface_ball(surface, c, R, 0.02, &touch, 1), 1);
    c[2] += (-DEEP - touch.gap) / touch.n[2];
  }
  ENSURE_NEAR(touch.gap, -DEEP, 1e-14);
  return c[2];
}

// The rule that is not used: every triangle within R is a contact.
typedef struct Naive {
  const srSurface* surface;
  const double* centre;
  double* force;
} Naive;

static void add_force(void* to, int triangle) {
  const Naive* naive = to;
  double corner[9], x[3], d[3];
  naive->surface->corners(naive->surface->user, triangle, corner);
  (void)sr_triangle_nearest(corner, naive->centre, x);
  for (int k = 0; k < 3; k++) d[k] = naive->centre[k] - x[k];
  const double r = srm_norm3(d);
  for (int k = 0; k < 3 && r < R; k++) naive->force[k] += (R - r) / DEEP * d[k] / r;
}

static void find_force(const srSurface* surface, const double* c, bool naive, double* f) {
  srTouch touch[8];
  if (naive) {
    Naive to = {.surface = surface, .centre = c, .force = f};
    surface->near(surface->user, (double[3]){c[0] - R, c[1] - R, c[2] - R}, (double[3]){c[0] + R, c[1] + R, c[2] + R},
                  add_force, &to);
    return;
  }
  const int n = sr_surface_ball(surface, c, R, 0, touch, 8);
  for (int k = 0; k < n; k++) {
    for (int j = 0; j < 3; j++) f[j] -= touch[k].gap / DEEP * touch[k].n[j];
  }
}

typedef struct Roll {
  double most, mean, jump;  // force, relative to that of one contact; largest change within 0.12 mm
} Roll;

static Roll roll(const srSurface* surface, int steps, bool naive) {
  Roll out = {0};
  double before[3] = {0}, c[3] = {0, 0, R};
  for (int i = 0; i < steps; i++) {
    double f[3] = {0}, change[3];
    c[0] = 0.06 + 0.12e-3 * 0.8 * i;  // through vertices of the mesh
    c[1] = 0.06 + 0.12e-3 * 0.6 * i;
    c[2] = settle(surface, c[0], c[1], c[2]);
    find_force(surface, c, naive, f);
    for (int j = 0; j < 3; j++) change[j] = f[j] - before[j];
    if (i > 0) out.jump = fmax(out.jump, srm_norm3(change));
    out.most = fmax(out.most, srm_norm3(f));
    out.mean += srm_norm3(f) / steps;
    memcpy(before, f, sizeof f);
  }
  return out;
}

// The ball of 50 mm, 0.1 mm deep, over cells of 20 mm: one contact of the exact force, whatever edge it crosses.
TEST(a_ball_on_a_flat_mesh_does_not_feel_its_edges) {
  Soup s = floor_of(12, 0.02, flat);
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  ENSURE(!report.solid && report.fault[SR_MESH_OPEN].count == 48);
  const srSurface surface = sr_trimesh_surface(mesh);
  const Roll out = roll(&surface, 400, false), naive = roll(&surface, 400, true);
  ENSURE(naive.most > 7.9 && naive.mean > 1.4);
  ENSURE_NEAR(out.most, 1, 1e-9);
  ENSURE_NEAR(out.mean, 1, 1e-9);
  ENSURE_SMALL(out.jump, 1e-9);
  for (int i = 0; i < 9; i++) {  // exactly above vertices and edges too
    const double c[3] = {0.06 + 0.01 * (i % 3), 0.06 + 0.01 * (i / 3), R - DEEP};
    srTouch touch[8];
    ENSURE_EQUAL(sr_surface_ball(&surface, c, R, 0, touch, 8), 1);
    ENSURE(touch[0].n[2] == 1);
    ENSURE_NEAR(touch[0].gap, -DEEP, 1e-15);
  }
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

// The largest angle between neighbouring triangles.
static double largest_turn(const srSurface* surface, int ntriangle) {
  double most = 0;
  for (int i = 0; i < 3 * ntriangle; i++) {
    double c[9], a[3], u[3], v[3], n[2][3], turn[3];
    surface->corners(surface->user, i / 3, c);
    for (int k = 0; k < 2; k++) {
      if (!surface->opposite(surface->user, i / 3, i % 3, k, a)) break;
      for (int j = 0; j < 3; j++)
        u[j] = c[3 * ((i + 1) % 3) + j] - c[3 * (i % 3) + j], v[j] = a[j] - c[3 * (i % 3) + j];
      srm_cross3(u, v, n[k]);
      const double length = srm_norm3(n[k]);
      for (int j = 0; j < 3; j++) n[k][j] /= n[k][2] > 0 ? length : -length;
      for (int j = 0; j < 3; j++) turn[j] = n[1][j] - n[0][j];
      if (k == 1) most = fmax(most, srm_norm3(turn));
    }
  }
  return most;
}

// Cells of 20 mm with edges of up to 5 degrees, and of 5 mm: several triangles within the reach of the ball.
TEST(a_ball_on_a_terrain_feels_the_turn_of_its_normal_and_no_more) {
  for (int fine = 0; fine < 2; fine++) {
    Soup s = floor_of(fine ? 48 : 12, fine ? 0.005 : 0.02, rolling);
    srMeshReport report;
    srTriangleMesh* mesh = mesh_of(&s, &report);
    const srSurface surface = sr_trimesh_surface(mesh);
    const double turn = largest_turn(&surface, sr_trimesh_triangles(mesh));
    ENSURE(fine ? turn < 0.03
                : turn > 0.07 && turn < 0.126);  // beyond 2 sqrt(2 depth/R) = 0.126 two faces are two contacts
    const Roll out = roll(&surface, runner_long() ? 1200 : fine ? 200 : 400, false);
    ENSURE_NEAR(out.most, 1, 1e-9);
    ENSURE_NEAR(out.mean, 1, 1e-9);
    // A step across a concave edge jumps from one normal to the other; 2.4e-3: a step turns the normal so much on a convex one.
    ENSURE(out.jump > 0.3 * turn && out.jump <= turn + 2.4e-3);
    sr_trimesh_destroy(mesh);
    close_soup(&s);
  }
}

// ---- concave and solid ------------------------------------------------------------------------------------------------

TEST(a_concave_mesh_stays_concave) {
  Soup s = bracket();
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  ENSURE(mesh != NULL && report.solid);
  ENSURE_NEAR(report.volume, 3, 1e-14);
  const srSurface surface = sr_trimesh_surface(mesh);
  srTouch touch[8];
  const double notch[3] = {1.09, 0.5, 1.095},
               air[3] = {1.5, 0.5, 1.5};  // in the notch; and within the hull, but outside
  ENSURE_EQUAL(sr_surface_ball(&surface, notch, 0.1, 0, touch, 8), 2);
  ENSURE_NEAR(touch[0].gap, -0.01, 1e-15);
  ENSURE_NEAR(touch[1].gap, -0.005, 1e-15);
  ENSURE(touch[0].n[0] == 1 && touch[1].n[2] == 1);
  ENSURE_EQUAL(sr_surface_ball(&surface, air, 0.1, 0.05, touch, 8), 0);
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

// Inside or outside of the bracket is known by its formula.
TEST(a_ball_inside_a_solid_mesh_is_pushed_out_the_nearest_way) {
  Soup s = bracket();
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  const srSurface surface = sr_trimesh_surface(mesh);
  unsigned long seed = 5;
  int inside = 0;
  for (int i = 0; i < 2000; i++) {
    const double c[3] = {3 * random_number(&seed) - 0.5, 2 * random_number(&seed) - 0.5,
                         3 * random_number(&seed) - 0.5};
    const bool within = c[0] > 0 && c[1] > 0 && c[2] > 0 && c[0] < 2 && c[1] < 1 && c[2] < 2 && (c[0] < 1 || c[2] < 1);
    srTouch touch[8];
    double nearest;
    (void)sr_trimesh_nearest(mesh, c, &nearest);
    const int n = sr_surface_ball(&surface, c, 0.02, 0.01, touch, 8);
    ENSURE(n > 0 || (!within && nearest >= 0.03));
    if (n == 0) continue;
    ENSURE_NEAR(touch[0].gap, (within ? -nearest : nearest) - 0.02, 1e-12);
    for (int k = 0; k < 3; k++) ENSURE_NEAR(touch[0].point[k] + touch[0].n[k] * (touch[0].gap + 0.02), c[k], 1e-12);
    inside += within;
  }
  ENSURE(inside > 200);
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

// Two planes that meet in a valley of angle e: one contact below 2 sqrt(2 depth/R) = 0.1265, two above.
TEST(a_valley_has_two_contacts_where_it_is_steeper_than_the_limit_of_clusters) {
  for (int steep = 0; steep < 2; steep++) {
    const double e = steep ? 0.14 : 0.11, rise = tan(e / 2);
    Soup s = open_soup(6, 4);
    for (int i = 0; i < 6; i++) (void)add_vertex(&s, i % 3 - 1, i / 3, i % 3 == 1 ? 0 : rise);
    add_triangle(&s, 0, 1, 4);
    add_triangle(&s, 0, 4, 3);
    add_triangle(&s, 1, 2, 5);
    add_triangle(&s, 1, 5, 4);
    srMeshReport report;
    srTriangleMesh* mesh = mesh_of(&s, &report);
    const srSurface surface = sr_trimesh_surface(mesh);
    srTouch touch[4];
    const double c[3] = {0, 0.4, (R - DEEP) / cos(e / 2)};
    ENSURE_EQUAL(sr_surface_ball(&surface, c, R, 0, touch, 4), 1 + steep);
    for (int k = 0; k <= steep; k++) {
      ENSURE_NEAR(touch[k].gap, -DEEP, 1e-15);
      ENSURE_NEAR(fabs(touch[k].n[0]), sin(e / 2), 1e-13);
    }
    sr_trimesh_destroy(mesh);
    close_soup(&s);
  }
}

// A wedge, 0.2 steep: its lower side is within the margin, and seen from behind.
TEST(the_back_of_a_solid_is_not_felt_through_it) {
  Soup s = open_soup(6, 8);
  static const int face[8][3] = {{0, 1, 4}, {0, 4, 3}, {0, 3, 5}, {0, 5, 2},
                                 {1, 2, 5}, {1, 5, 4}, {0, 2, 1}, {3, 4, 5}};
  for (int i = 0; i < 6; i++) (void)add_vertex(&s, i % 3 > 0, i / 3, i % 3 == 2 ? -0.2 : 0);
  for (int i = 0; i < 8; i++) add_triangle(&s, face[i][0], face[i][1], face[i][2]);
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  ENSURE(report.solid && report.fault[SR_MESH_INVERTED].count == 0);
  const srSurface surface = sr_trimesh_surface(mesh);
  srTouch touch[4];
  const double c[3] = {0.02, 0.4, R + 1e-3};
  ENSURE_EQUAL(sr_surface_ball(&surface, c, R, 0.01, touch, 4), 1);
  ENSURE_NEAR(touch[0].gap, 1e-3, 1e-15);
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

// Thinner than the ball: its far side is not felt from the near one.
TEST(a_thin_plate_is_felt_from_one_side) {
  static const double low[3] = {0, 0, -1e-3}, high[3] = {1, 1, 0};
  Soup s = box_of(low, high);
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  const srSurface surface = sr_trimesh_surface(mesh);
  for (int side = 0; side < 2; side++) {
    srTouch touch[8];
    const double c[3] = {0.4, 0.6, side ? 0.049 : -0.05};
    ENSURE_EQUAL(sr_surface_ball(&surface, c, R, 0, touch, 8), 1);
    ENSURE_NEAR(touch[0].gap, -1e-3, 1e-15);
    ENSURE(touch[0].n[2] == (side ? 1 : -1));
  }
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

TEST(a_ball_at_an_edge_or_a_corner_of_a_box_is_as_far_as_they_are) {
  static const double low[3] = {-1, -1, -1}, high[3] = {0, 0, 0};
  Soup s = box_of(low, high);
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  const srSurface surface = sr_trimesh_surface(mesh);
  srTouch touch[8];
  const double edge[3] = {0.03, -0.5, 0.04}, corner[3] = {0.02, 0.03, 0.06};
  ENSURE_EQUAL(sr_surface_ball(&surface, edge, 0.04, 0.02, touch, 8), 1);
  ENSURE_NEAR(touch[0].gap, 0.01, 1e-15);
  ENSURE_NEAR(touch[0].n[0], 0.6, 1e-14);
  ENSURE(touch[0].feature >= 1 && touch[0].feature <= 3);
  ENSURE_EQUAL(sr_surface_ball(&surface, corner, 0.08, 0, touch, 8), 1);
  ENSURE_NEAR(touch[0].gap, 0.07 - 0.08, 1e-15);
  ENSURE(touch[0].feature >= 4 && touch[0].triangle < 12);
  ENSURE_EQUAL(sr_surface_ball(&surface, (const double[3]){(double)NAN, 0, 0}, 1, 0, touch, 8), 0);
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

// ---- height fields ------------------------------------------------------------------------------------------------------

enum { NX = 14, NY = 11 };

static srHeightField field_of(double* z, double (*height)(double x, double y)) {
  srHeightField field = {.nx = NX, .ny = NY, .x0 = -0.01, .y0 = 0.02, .dx = 0.02, .dy = 0.025, .z = z};
  int at;
  for (int i = 0; i < NX * NY; i++) z[i] = height(field.x0 + field.dx * (i % NX), field.y0 + field.dy * (i / NX));
  ENSURE_EQUAL(sr_field_check(&field, &at), SR_FIELD_GOOD);
  return field;
}

// The same triangles as a mesh.
static Soup soup_of(const srHeightField* field) {
  const srSurface surface = sr_field_surface(field);
  const int n = 2 * (NX - 1) * (NY - 1);
  Soup s = open_soup(3 * n, n);
  for (int t = 0; t < n; t++) {
    double c[9];
    surface.corners(field, t, c);
    for (int k = 0; k < 3; k++) (void)add_vertex(&s, c[3 * k], c[3 * k + 1], c[3 * k + 2]);
    add_triangle(&s, 3 * t, 3 * t + 1, 3 * t + 2);
  }
  return s;
}

// In front of the surface: the mesh is open and has two sides.
TEST(a_height_field_touches_as_the_mesh_of_its_triangles) {
  double z[NX * NY];
  const srHeightField field = field_of(z, rough);
  Soup s = soup_of(&field);
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  ENSURE(report.fault[SR_MESH_OPEN].count == 2 * (NX + NY - 2) && report.fault[SR_MESH_FLIPPED].count == 0);
  const srSurface by_index = sr_field_surface(&field), by_tree = sr_trimesh_surface(mesh);
  unsigned long seed = 3;
  int touching = 0;
  for (int i = 0; i < 3000; i++) {
    srTouch a[8], b[8];
    double c[3] = {0.4 * random_number(&seed) - 0.07, 0.4 * random_number(&seed) - 0.05, 0.08 * random_number(&seed)},
           h;
    if (!sr_field_height(&field, c[0], c[1], &h) || c[2] <= h) continue;
    const double radius = 0.002 + 0.06 * random_number(&seed);
    const int n = sr_surface_ball(&by_index, c, radius, 0.001, a, 8);
    ENSURE_EQUAL(n, sr_surface_ball(&by_tree, c, radius, 0.001, b, 8));
    touching += n;
    for (int k = 0; k < n; k++) {
      ENSURE_NEAR(a[k].gap, b[k].gap, 1e-14);
      ENSURE_NEAR(srm_dot3(a[k].n, b[k].n), 1, 1e-12);
    }
  }
  ENSURE(touching > 500);
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

// Next to the border and lower than it, there is nothing.
TEST(a_ball_beside_a_height_field_does_not_touch_it) {
  double z[NX * NY];
  const srHeightField field = field_of(z, flat);
  const srSurface surface = sr_field_surface(&field);
  srTouch touch;
  const double beside[3] = {-0.02, 0.1, -0.01}, above[3] = {-0.02, 0.1, 0.01};
  ENSURE_EQUAL(sr_surface_ball(&surface, beside, 0.02, 0, &touch, 1), 0);
  ENSURE_EQUAL(sr_surface_ball(&surface, above, 0.02, 0, &touch, 1), 1);
  ENSURE_NEAR(touch.gap, 0.01 * sqrt(2) - 0.02, 1e-15);
}

TEST(a_ball_below_a_height_field_is_pushed_up) {
  double z[NX * NY];
  const srHeightField field = field_of(z, rolling);
  const srSurface surface = sr_field_surface(&field);
  for (int i = 0; i < 60; i++) {
    const double below = 0.001 * i;
    double c[3] = {0.11 + 1e-3 * i, 0.13}, h;
    srTouch touch;
    ENSURE(sr_field_height(&field, c[0], c[1], &h));
    c[2] = h - below;
    ENSURE_EQUAL(sr_surface_ball(&surface, c, 0.005, 0, &touch, 1), 1);
    ENSURE(touch.n[2] > 0.8 && touch.gap <= -0.005 + 1e-15 && touch.gap >= -0.005 - below - 1e-15);
  }
  double h;
  ENSURE(!sr_field_height(&field, -0.011, 0.1, &h) && sr_field_height(&field, 0.25, 0.27, &h));
}

TEST(faults_of_a_height_field_are_found) {
  double z[6] = {0, 1, 2, 3, 4, 5};
  srHeightField field = {.nx = 3, .ny = 2, .dx = 1, .dy = 1, .z = z};
  int at = -1;
  ENSURE_EQUAL(sr_field_check(&field, &at), SR_FIELD_GOOD);
  ENSURE(field.lowest == 0 && field.highest == 5);
  z[4] = (double)NAN;
  ENSURE(sr_field_check(&field, &at) == SR_FIELD_HEIGHT && at == 4);
  field.dy = 0;
  ENSURE_EQUAL(sr_field_check(&field, &at), SR_FIELD_STEP);
  field.ny = 1;
  ENSURE_EQUAL(sr_field_check(&field, &at), SR_FIELD_SIZE);
}

TEST(a_ball_rolls_over_a_flat_height_field_without_a_jump) {
  double z[NX * NY];
  const srHeightField field = field_of(z, flat);
  const srSurface surface = sr_field_surface(&field);
  const Roll out = roll(&surface, 300, false);
  ENSURE_NEAR(out.most, 1, 1e-9);
  ENSURE_SMALL(out.jump, 1e-9);
}

// ---- memory -------------------------------------------------------------------------------------------------------------

TEST(a_mesh_that_runs_out_of_memory_leaks_nothing_and_contacts_allocate_nothing) {
  Soup s = bracket();
  Heap heap = {.fail_at = 1};
  sr_set_allocator(heap_allocator, &heap);
  srMeshReport report;
  srTriangleMesh* mesh;
  while ((mesh = mesh_of(&s, &report)) == NULL) {
    ENSURE(heap.live == 0 && heap.fail_at < 20);
    heap.calls = 0;
    heap.fail_at++;
  }
  ENSURE(heap.fail_at > 5);
  const long calls = heap.calls;
  const srSurface surface = sr_trimesh_surface(mesh);
  srTouch touch[8];
  ENSURE(sr_surface_ball(&surface, (const double[3]){1, 0.5, 2.05}, 0.1, 0, touch, 8) > 0);
  ENSURE_EQUAL(heap.calls, calls);
  sr_trimesh_destroy(mesh);
  ENSURE_EQUAL(heap.live, 0);
  sr_set_allocator(NULL, NULL);
  close_soup(&s);
}

// ---- capsules -----------------------------------------------------------------------------------------------------------

// Lying on a flat floor it touches with its two ends, whatever edges it crosses, and with one when it is tilted.
TEST(a_capsule_on_a_flat_mesh_touches_with_its_ends) {
  Soup s = floor_of(12, 0.02, flat);
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  const srSurface surface = sr_trimesh_surface(mesh);
  unsigned long seed = 8;
  for (int i = 0; i < 60; i++) {
    const double angle = 6.3 * random_number(&seed), tilt = i % 3 == 0 ? 0 : 2e-3 * (random_number(&seed) - 0.5);
    const double half = 0.06, c = half * cos(angle), d = half * sin(angle), z = 0.01 - 1e-4;
    const double at[2] = {0.1 + 0.03 * random_number(&seed), 0.1 + 0.03 * random_number(&seed)};
    const double end[2][3] = {{at[0] - c, at[1] - d, z - half * tilt}, {at[0] + c, at[1] + d, z + half * tilt}};
    srTouch touch[8];
    const int n = sr_surface_capsule(&surface, end, 0.01, 0, touch, 8);
    ENSURE_EQUAL(n, (end[0][2] < 0.01) + (end[1][2] < 0.01));
    for (int k = 0; k < n; k++) {
      ENSURE_NEAR(touch[k].n[2], 1, 1e-14);
      ENSURE_NEAR(touch[k].gap, end[touch[k].along > 0.5][2] - 0.01, 1e-15);
    }
  }
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

// Across the upper edges of a bar 0.1 wide; then beyond the border of an open floor.
TEST(a_capsule_lies_on_edges_between_its_ends) {
  static const double low[3] = {-0.05, -1, -1}, high[3] = {0.05, 1, 0};
  Soup s = box_of(low, high), open = floor_of(12, 0.02, flat);
  srMeshReport report;
  srTriangleMesh *bar = mesh_of(&s, &report), *floor = mesh_of(&open, &report);
  srSurface surface = sr_trimesh_surface(bar);
  const double across[2][3] = {{-0.3, 0.2, 0.019}, {0.4, 0.3, 0.019}};
  srTouch touch[8];
  ENSURE_EQUAL(sr_surface_capsule(&surface, across, 0.02, 0, touch, 8), 2);
  for (int k = 0; k < 2; k++) {
    ENSURE_NEAR(touch[k].gap, -1e-3, 1e-15);
    ENSURE_NEAR(touch[k].point[0], k ? 0.05 : -0.05, 1e-15);
    ENSURE_NEAR(touch[k].along, (touch[k].point[0] + 0.3) / 0.7, 1e-14);
    ENSURE(touch[k].n[2] > 1 - 1e-14);
  }
  surface = sr_trimesh_surface(floor);
  const double beyond[2][3] = {{0.07, 0.11, 0.0199}, {0.37, 0.115, 0.0199}};
  ENSURE_EQUAL(sr_surface_capsule(&surface, beyond, 0.02, 0, touch, 8), 2);
  ENSURE(touch[0].along == 0);
  ENSURE_NEAR(touch[1].point[0], 0.24, 1e-15);
  // A corner of the bar between the ends, and the axis along an edge.
  const double corner[2][3] = {{-0.255, 0.805, 0.01}, {0.145, 1.205, 0.01}},
               along[2][3] = {{0.057, -0.5, 0.01}, {0.057, 0.5, 0.01}};
  surface = sr_trimesh_surface(bar);
  ENSURE_EQUAL(sr_surface_capsule(&surface, corner, 0.02, 0, touch, 8), 1);
  ENSURE(touch[0].feature >= 4 && touch[0].point[0] == -0.05 && touch[0].point[1] == 1);
  ENSURE_EQUAL(sr_surface_capsule(&surface, along, 0.02, 0, touch, 8), 2);
  for (int k = 0; k < 2; k++) ENSURE_NEAR(touch[k].gap, sqrt(0.007 * 0.007 + 1e-4) - 0.02, 1e-15);
  sr_trimesh_destroy(bar);
  sr_trimesh_destroy(floor);
  close_soup(&s);
  close_soup(&open);
}

// Against 200 balls along the axis: the deepest of them is as deep, and no contact is missed.
TEST(a_capsule_is_as_deep_as_the_deepest_of_its_balls) {
  Soup s = bracket();
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  const srSurface surface = sr_trimesh_surface(mesh);
  unsigned long seed = 12;
  int touching = 0;
  for (int i = 0; i < (runner_long() ? 3000 : 150); i++) {
    double end[2][3], deepest = HUGE_VAL, gap = HUGE_VAL;
    for (int k = 0; k < 6; k++) end[k / 3][k % 3] = 3 * random_number(&seed) - 0.5;
    const double radius = 0.02 + 0.3 * random_number(&seed);
    bool core = false;  // the axis itself meets the solid: deeper than the radius
    for (int k = 0; k <= 200; k++) {
      double c[3];
      srTouch ball;
      for (int j = 0; j < 3; j++) c[j] = end[0][j] + k / 200.0 * (end[1][j] - end[0][j]);
      if (sr_surface_ball(&surface, c, radius, 0, &ball, 1) > 0) deepest = fmin(deepest, ball.gap);
      core |= deepest < -radius + 0.02;
    }
    srTouch touch[16];
    if (core) continue;
    const int n = sr_surface_capsule(&surface, (const double(*)[3])end, radius, 0, touch, 16);
    for (int k = 0; k < n; k++) gap = fmin(gap, touch[k].gap);
    if (deepest < HUGE_VAL) ENSURE(gap <= deepest + 1e-12 && gap > deepest - 2e-3);

    touching += n > 0;
  }
  ENSURE(touching > 20);
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

// ---- convex shapes --------------------------------------------------------------------------------------------------------

static void put(double pose[16], const double rpy[3], double x, double y, double z) {
  srm_pose_identity(pose);
  srm_pose_from_rpy(rpy, pose);
  pose[12] = x, pose[13] = y, pose[14] = z;
}

// The moment of the contacts about the middle of the shape, with a force proportional to the depth: of a box at rest on a plane it is 0.
static double moment(const srTouch* touch, int n, const double* pose) {
  double sum[3] = {0};
  for (int i = 0; i < n; i++) {
    const double r[3] = {touch[i].point[0] - pose[12], touch[i].point[1] - pose[13], touch[i].point[2] - pose[14]};
    double m[3];
    srm_cross3(r, touch[i].n, m);
    for (int k = 0; k < 3; k++) sum[k] -= touch[i].gap * m[k];
  }
  return srm_norm3(sum);
}

TEST(a_box_on_a_flat_mesh_rests_on_its_corners_whatever_the_triangles) {
  Soup fine = floor_of(12, 0.02, flat), coarse = floor_of(1, 0.24, flat);
  srMeshReport report;
  srTriangleMesh* mesh[2] = {mesh_of(&fine, &report), mesh_of(&coarse, &report)};
  const double half[3] = {0.05, 0.03, 0.02};
  const srConvex box = sr_convex_box(half), can = sr_convex_cylinder(0.03, 0.04);
  unsigned long seed = 31;
  for (int i = 0; i < 40; i++) {
    const srSurface surface = sr_trimesh_surface(mesh[i % 2]);
    const double rpy[3] = {0, 0, 6.3 * random_number(&seed)}, yaw[3] = {0, 0, 0.3 * i};
    const double at[2] = {0.1 + 0.04 * random_number(&seed), 0.1 + 0.04 * random_number(&seed)};
    double pose[16];
    srTouch touch[16];
    put(pose, rpy, at[0], at[1], 0.02 - 1e-4);
    ENSURE_EQUAL(sr_surface_convex(&surface, &box, pose, 0, touch, 16), 4);
    for (int k = 0; k < 4; k++) {
      ENSURE_NEAR(touch[k].gap, -1e-4, 1e-15);
      ENSURE(touch[k].n[2] == 1);
      ENSURE_NEAR(hypot(touch[k].point[0] - at[0], touch[k].point[1] - at[1]), hypot(0.05, 0.03), 1e-12);
    }
    ENSURE_SMALL(moment(touch, 4, pose), 1e-15);
    put(pose, yaw, at[0], at[1], 0.03 - 1e-4);  // a can that stands: twelve corners of its rim, of which four count
    ENSURE_EQUAL(sr_surface_convex(&surface, &can, pose, 0, touch, 16), 4);
    ENSURE_SMALL(moment(touch, 4, pose), 0.04 * 1e-4);
  }
  for (int k = 0; k < 2; k++) sr_trimesh_destroy(mesh[k]);
  close_soup(&fine);
  close_soup(&coarse);
}

TEST(convex_shapes_on_a_flat_mesh_are_as_deep_as_on_a_plane) {
  Soup s = floor_of(12, 0.02, flat);
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  const srSurface surface = sr_trimesh_surface(mesh);
  const double half[3] = {0.03, 0.02, 0.025},
               point[18] = {0.03, 0, 0, -0.03, 0, 0, 0, 0.02, 0, 0, -0.02, 0, 0, 0, 0.025, 0.01, 0, -0.025};
  srPool pool;
  sr_pool_init(&pool);
  const srConvex shape[] = {sr_convex_box(half),
                            sr_convex_sphere(0.02),
                            sr_convex_capsule(0.02, 0.01),
                            sr_convex_cylinder(0.02, 0.02),
                            sr_convex_cone(0.02, 0.02),
                            sr_convex_ellipsoid(half),
                            sr_convex_of_hull(sr_convex_hull_create(&pool, point, 6))};
  unsigned long seed = 44;
  for (int i = 0; i < 7 * (runner_long() ? 400 : 20); i++) {
    const double rpy[3] = {6 * random_number(&seed), 3 * random_number(&seed), 6 * random_number(&seed)};
    double pose[16], back[16], local[3], x[3];
    srTouch touch[16];
    put(pose, rpy, 0.08 + 0.08 * random_number(&seed), 0.08 + 0.08 * random_number(&seed), 0);
    srm_pose_transpose(pose, back);
    srm_pose_rotate(back, (const double[3]){0, 0, -1}, local);
    const double gap = 2e-3 * random_number(&seed) - 1e-3;
    pose[14] = sr_convex_support(&shape[i % 7], local, x) + gap;  // s(-z): the lowest point is at z = gap
    const int n = sr_surface_convex(&surface, &shape[i % 7], pose, 2e-3, touch, 16);
    ENSURE(n > 0);
    ENSURE_NEAR(touch[0].gap, gap, 1e-9);
    for (int k = 0; k < n; k++) ENSURE(touch[k].n[2] > 1 - 1e-9 && touch[k].gap >= gap - 1e-9);
  }
  sr_pool_free(&pool);
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

// A mesh of a box against the box itself: the distance of convex shapes is the judge.
TEST(convex_shapes_near_a_mesh_of_a_box_are_as_far_as_from_the_box) {
  static const double high[3] = {0.5, 0.3, 0.2}, low[3] = {-0.5, -0.3, -0.2};
  const double half[3] = {0.2, 0.1, 0.15};
  Soup s = box_of(low, high);
  srMeshReport report;
  srTriangleMesh* mesh = mesh_of(&s, &report);
  const srSurface surface = sr_trimesh_surface(mesh);
  const srConvex solid = sr_convex_box(high),
                 shape[] = {sr_convex_box(half),          sr_convex_sphere(0.2),    sr_convex_capsule(0.2, 0.1),
                            sr_convex_cylinder(0.2, 0.2), sr_convex_cone(0.2, 0.2), sr_convex_ellipsoid(half)};
  unsigned long seed = 77;
  int apart = 0, overlapping = 0;
  for (int i = 0; i < (runner_long() ? 20000 : 600); i++) {
    const double rpy[3] = {6 * random_number(&seed), 3 * random_number(&seed), 6 * random_number(&seed)};
    double pose[16];
    srTouch touch[16];
    srNearest nearest;
    put(pose, rpy, 1.6 * random_number(&seed) - 0.8, 1.2 * random_number(&seed) - 0.6, random_number(&seed) - 0.5);
    sr_shape_distance(&solid, &shape[i % 6], pose, NULL, SR_DISTANCE_SURE, &nearest);
    if (nearest.gap < -0.01 || nearest.gap > 0.05) continue;
    const int n = sr_surface_convex(&surface, &shape[i % 6], pose, 0.06, touch, 16);
    ENSURE(n > 0);
    if (nearest.gap < 0) {  // found, and not deeper than it is
      ENSURE(touch[0].gap < 0 && touch[0].gap > -0.05);
      overlapping++;
      continue;
    }
    ENSURE_NEAR(touch[0].gap, nearest.gap, 1e-8);
    ENSURE(srm_dot3(touch[0].n, nearest.n) > 1 - 1e-6);
    apart++;
  }
  ENSURE(apart > 20 && overlapping > 3);
  sr_trimesh_destroy(mesh);
  close_soup(&s);
}

// A bump of 30 mm radius in steps of 4 mm: several edges touch the side of the capsule, within one patch.
static double bump(double x, double y) { return -(x - 0.12) * (x - 0.12) / 0.06 + 0 * y; }

TEST(a_capsule_across_a_bump_has_one_contact_and_a_short_one_on_the_floor_two) {
  Soup s = floor_of(60, 0.004, bump), plain = floor_of(12, 0.02, flat);
  srMeshReport report;
  srTriangleMesh *mesh = mesh_of(&s, &report), *floor = mesh_of(&plain, &report);
  const srSurface hill = sr_trimesh_surface(mesh), ground = sr_trimesh_surface(floor);
  const double across[2][3] = {{0.06, 0.121, 0.019}, {0.18, 0.121, 0.019}},
               lying[2][3] = {{0.1, 0.1, 0.01}, {0.105, 0.1, 0.01}};
  srTouch touch[8];
  ENSURE_EQUAL(sr_surface_capsule(&hill, across, 0.02, 0, touch, 8), 1);
  ENSURE_NEAR(touch[0].gap, -1e-3, 1e-15);
  ENSURE_EQUAL(sr_surface_capsule(&ground, lying, 0.02, 0, touch, 8), 2);
  sr_trimesh_destroy(mesh);
  sr_trimesh_destroy(floor);
  close_soup(&s);
  close_soup(&plain);
}

TEST(tilted_boxes_and_cans_and_lying_capsules_have_the_depths_of_their_corners) {
  static const double half[3] = {0.05, 0.03, 0.02}, low[3] = {0, 0, -1e-3}, high[3] = {0.24, 0.24, 0};
  Soup s = floor_of(12, 0.02, flat), thin = box_of(low, high);
  srMeshReport report;
  srTriangleMesh *floor = mesh_of(&s, &report), *plate = mesh_of(&thin, &report);
  const srConvex box = sr_convex_box(half), can = sr_convex_cylinder(0.03, 0.04), pill = sr_convex_capsule(0.05, 0.02);
  for (int k = 0; k < 3; k++) {  // on the open floor, below it, and on a plate thinner than the box
    const srSurface surface = sr_trimesh_surface(k < 2 ? floor : plate);
    const double side = k == 1 ? -1 : 1, tilt = 1e-3, at = 0.11;
    double pose[16];
    srTouch touch[16];
    put(pose, (const double[3]){0, tilt, 0}, at, at, side * (0.02 - 5e-4));
    ENSURE_EQUAL(sr_surface_convex(&surface, &box, pose, 0, touch, 16), 4);
    for (int i = 0; i < 4; i++) {  // z = (0.02 cos - x sin), x = +-0.05 along the box
      const double x = touch[i].point[0] > at ? 0.05 : -0.05;
      ENSURE_NEAR(touch[i].gap, 0.02 - 5e-4 - 0.02 * cos(tilt) - side * x * sin(tilt), 1e-12);
      ENSURE_NEAR(touch[i].n[2], side, 1e-12);
    }
    put(pose, (const double[3]){0.05, 0, 0.7}, at, at, side * (0.03 * cos(0.05) + 0.04 * sin(0.05) - 1e-4));
    ENSURE(sr_surface_convex(&surface, &can, pose, 0, touch, 16) >= 1);
    ENSURE_NEAR(touch[0].gap, -1e-4, 1e-9);
    put(pose, (const double[3]){0, 3.141592653589793 / 2, 0.4}, at, at, side * (0.02 - 1e-4));
    ENSURE_EQUAL(sr_surface_convex(&surface, &pill, pose, 0, touch, 16), 2);
    for (int i = 0; i < 2; i++) ENSURE_NEAR(touch[i].gap, -1e-4, 1e-12);
  }
  sr_trimesh_destroy(floor);
  sr_trimesh_destroy(plate);
  close_soup(&s);
  close_soup(&thin);
}
