// Derivatives of contacts with triangles, where they are smooth: of the gap, the normal and both points by the pose of the other shape, against differences.
#include <math.h>
#include <string.h>

#include "collide/collision.h"
#include "collide/mesh.h"
#include "math/pose.h"
#include "math/vector3.h"
#include "runner.h"

// An octahedron that is not regular: faces, edges and corners in all directions.
static const double vertex[18] = {1, 0.1, 0, -0.9, 0, 0.1, 0.1, 0.8, 0, 0, -1.1, 0.2, 0.1, 0, 0.9, 0, 0.1, -1};
static const int corner[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};

// The twist (rotation about the origin of b, translation), for a time h.
static void move(const double pose[16], int j, double h, double out[16]) {
  double turn[16];
  srm_pose_identity(turn);
  double q[4] = {j < 3 ? cos(0.5 * h) : 1, 0, 0, 0};
  if (j < 3) q[1 + j] = sin(0.5 * h);
  srm_pose_from_quaternion(q, turn);
  srm_pose_compose(turn, pose, out);
  memcpy(out + 12, pose + 12, 3 * sizeof *out);
  if (j >= 3) out[12 + j - 3] += h;
}

static srNearest deepest(const srCollisionShape* a, const srCollisionShape* b, const double pose[16]) {
  srNearest out;
  ENSURE_EQUAL(sr_surface_contacts(a, b, pose, 1, &out, 1), 1);
  return out;
}

// Differences of the fourth order.
static void check(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], int dimension) {
  static const double weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, place[4] = {-2, -1, 1, 2};
  const srNearest at = deepest(a, b, pose);
  srNearestDerivative by;
  sr_nearest_derivative(&at, &by);
  ENSURE_EQUAL(at.a.dimension, dimension);
  for (int j = 0; j < 6; j++) {
    const double h = 1e-4;
    double gap = 0, n[3] = {0}, one[3] = {0}, two[3] = {0};
    for (int k = 0; k < 4; k++) {
      double moved[16];
      move(pose, j, place[k] * h, moved);
      const srNearest x = deepest(a, b, moved);
      gap += weight[k] * x.gap / h;
      for (int i = 0; i < 3; i++) {
        n[i] += weight[k] * x.n[i] / h;
        one[i] += weight[k] * x.point_a[i] / h;
        two[i] += weight[k] * x.point_b[i] / h;
      }
    }
    ENSURE_NEAR(by.gap[j], gap, 1e-9);
    for (int i = 0; i < 3; i++) {
      ENSURE_NEAR(by.n[i][j], n[i], 1e-8);  // fourth derivatives grow as 1/distance^5 of an edge
      ENSURE_NEAR(by.point_a[i][j], one[i], 1e-8);
      ENSURE_NEAR(by.point_b[i][j], two[i], 1e-8);
    }
  }
}

// A point of the surface on a face (2), an edge (1) or a corner (0), and a unit normal of its cone.
static void place_on(int dimension, double point[3], double n[3]) {
  const int face[3] = {0, 2, 4};  // its edge (0, 2) is shared with (2, 0, 5)
  double u[3], v[3], low[3];
  for (int i = 0; i < 3; i++) {
    const double *p = vertex + 3 * face[0], *q = vertex + 3 * face[1], *r = vertex + 3 * face[2];
    point[i] = dimension == 2 ? 0.3 * p[i] + 0.3 * q[i] + 0.4 * r[i] : dimension == 1 ? 0.4 * p[i] + 0.6 * q[i] : p[i];
    u[i] = q[i] - p[i];
    v[i] = r[i] - p[i];
  }
  srm_cross3(u, v, n);
  (void)srm_unit3(n);
  for (int i = 0; i < 3; i++) v[i] = vertex[15 + i] - vertex[3 * face[0] + i];
  srm_cross3(v, u, low);
  (void)srm_unit3(low);
  if (dimension == 1) srm_add_scaled3(n, 1.3, low, n);
  if (dimension == 0) srm_add_scaled3(point, -1, (double[]){0, 0, 0.02}, n);  // from the middle outward
  (void)srm_unit3(n);
}

TEST(derivatives_of_gaps_of_triangles_are_exact_on_faces_edges_and_corners) {
  srMeshReport report;
  srTriangleMesh* mesh = sr_trimesh_create(vertex, 6, corner, 8, &report);
  ENSURE(mesh != NULL && report.solid);
  const srSurface surface = sr_trimesh_surface(mesh);
  const srCollisionShape a = {.convex = {.kind = SR_KIND_MESH}, .reach = 1.2, .size = 1, .surface = &surface};
  const srCollisionShape ball = {.convex = sr_convex_sphere(0.2), .reach = 0.2, .size = 0.2};
  const srCollisionShape egg = {
      .convex = sr_convex_ellipsoid((double[]){0.2, 0.15, 0.25}), .reach = 0.25, .size = 0.15};
  for (int dimension = 0; dimension < 3; dimension++) {
    for (int k = 0; k < 2; k++) {  // a little apart, and deep
      double point[3], n[3], pose[16];
      place_on(dimension, point, n);
      srm_pose_identity(pose);
      srm_add_scaled3(point, k == 0 ? 0.25 : 0.15, n, pose + 12);
      check(&a, &ball, pose, dimension);
      srm_pose_from_quaternion((double[]){0.8, 0.36, 0.48, 0}, pose);
      srm_add_scaled3(point, k == 0 ? 0.35 : 0.3, n, pose + 12);
      if (k == 0) check(&a, &egg, pose, dimension);
    }
  }
  sr_trimesh_destroy(mesh);
}
