// An ellipsoid whose lowest point is above a face of a box, or above a circular face of a cylinder or cone: closed form of the cores.
//
//   n: the normal of the face,  b = x - R E R^T n/s,  gap = -h(n) = n.b - height of the face,  a = b - gap n
//
// With a on the face the distance is at most the gap, and -h(n) is a lower bound of it for every n: the two points are the nearest ones, no search is
// needed to know it. Of several faces the one with the largest -h alone can hold.
#include <math.h>
#include <string.h>

#include "collide/distance.h"
#include "math/vector3.h"

// The support point of b against the normal side*e_k of a, in the axes of a.
static void lowest_point(const srConvex* b, const double pose[16], int k, double side, double out[3]) {
  double m[3], y[3];
  int feature;
  for (int i = 0; i < 3; i++) m[i] = -side * pose[4 * i + k];
  (void)sr_convex_core_support(b, m, -1, y, &feature);
  srm_pose_point(pose, y, out);
}

static bool is_on_face(const srConvex* a, int k, const double x[3]) {
  if (a->kind != SR_KIND_BOX) return hypot(x[0], x[1]) <= a->size[0];
  for (int i = 0; i < 3; i++)
    if (i != k && !(fabs(x[i]) <= a->size[i])) return false;
  return true;
}

static bool has_faces(const srConvex* a) {
  return a->kind == SR_KIND_BOX || a->kind == SR_KIND_CYLINDER || a->kind == SR_KIND_CONE;
}

bool sr_distance_face(const srConvex* a, const srConvex* b, const double pose[16], srNearest* out) {
  const double* x = pose + 12;
  double H[9], m[3];
  int face = -1;
  if (!has_faces(a) || b->kind != SR_KIND_ELLIPSOID) return false;
  out->core = 0;  // cores that overlap or touch have no proof
  for (int k = a->kind == SR_KIND_BOX ? 0 : 2; k < 3; k++) {
    const double side = x[k] < 0 ? -1 : 1;
    double y[3];
    if (a->kind == SR_KIND_CONE && side > 0) return false;
    lowest_point(b, pose, k, side, y);
    const double gap = side * y[k] - a->size[k];
    if (!(gap > out->core)) continue;
    face = k;
    out->core = gap;
    srm_set3(out->point_b, y);
  }
  if (face < 0 || !is_on_face(a, face, out->point_b)) return false;
  const double side = x[face] < 0 ? -1 : 1;
  srm_set3(out->n, (double[3]){0});
  out->n[face] = side;
  srm_set3(out->point_a, out->point_b);
  out->point_a[face] = side * a->size[face];
  out->a = (srActive){.dimension = 2};
  out->a.edge[0][(face + 1) % 3] = out->a.edge[1][(face + 2) % 3] = 1;
  out->b = (srActive){.dimension = 0};
  for (int i = 0; i < 3; i++) m[i] = -side * pose[4 * i + face];
  sr_convex_feature_hessian(b, 0, m, H);
  srm_pose_rotate_tensor(pose, H, out->b.hessian);
  out->unique = true;
  return true;
}
