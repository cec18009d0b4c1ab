// A plane and any bounded shape: n = z, gap = n.x - s_b(-n).
#include "collide/distance.h"
#include "math/vector3.h"

#define CAP_SINE 1e-8  // nearer to the axis of a cylinder, the direction of its rim is noise: the cap is a face

static void place(const srConvex* a, const srConvex* b, const double pose[16], srNearest* out) {
  (void)a;
  const double m[3] = {-pose[2], -pose[6], -pose[10]};  // -R^T z
  double y[3], H[9], cap[3];
  int feature;
  (void)sr_convex_core_support(b, m, -1, y, &feature);
  srm_pose_point(pose, y, out->point_b);
  srm_set3(out->point_a, out->point_b);
  out->point_a[2] = 0;
  out->core = out->point_b[2];
  out->a = (srActive){.dimension = 2, .edge = {{1, 0, 0}, {0, 1, 0}}};
  if (sr_convex_cap(b, m, CAP_SINE, cap)) {
    out->b = out->a;
    return;
  }
  sr_convex_feature_hessian(b, feature, m, H);
  srm_pose_rotate_tensor(pose, H, out->b.hessian);
}

const srDistanceKind sr_distance_plane = {.a = SR_KIND_PLANE, .b = SR_KINDS, .place = place};
