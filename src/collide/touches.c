// Contacts of surfaces as nearest points with the features that are active there, so that their derivatives are those of distance.h.
//
// A triangle touches with its face, an edge or a corner: what the nearest point can slide along. The other shape has a point (the centre of a ball, an end of a
// capsule, a corner), the axis of a capsule, or an ellipsoid with its curvature.
#include <math.h>
#include <string.h>

#include "collide/collision.h"
#include "math/pose.h"
#include "math/vector3.h"

#define SAME 1e-9     // relative: points of one line or patch of contact have this normal, and depth
#define THICK 0.5     // of the smaller of two: an overlap that is deeper is that of far sides
#define FACE 1e-10    // 1 - cosine: a normal so near that of the face is it
#define BETWEEN 1e-9  // places on the axis of a capsule nearer than this to an end are the end

static void put_edge(const double* from, const double* to, double out[3]) {
  srm_sub3(to, from, out);
  (void)srm_unit3(out);
}

// What the triangle has at the point of contact. On a face the normal is that of the face, to rounding.
static void find_feature(const srSurface* surface, srTouch* t, srActive* out) {
  double corner[9], n[3];
  *out = (srActive){.dimension = t->feature == 0 ? 2 : t->feature < 4 ? 1 : 0};
  if (out->dimension == 0) return;
  surface->corners(surface->user, t->triangle, corner);
  if (t->feature == 0) {
    sr_triangle_normal(corner, n);
    const double side = srm_dot3(n, t->n);
    if (fabs(side) > 1 - FACE) srm_scale3(side > 0 ? 1 : -1, n, t->n);
    srm_tangents3(t->n, out->edge[0], out->edge[1]);
  } else {
    put_edge(corner + 3 * (t->feature - 1), corner + 3 * (t->feature % 3), out->edge[0]);
  }
}

// The curvature of the convex shape at its point; a capsule between its ends has a line.
static void find_curvature(const srConvex* b, const double pose[16], const srTouch* t, srActive* out) {
  double back[16], m[3], n[3], x[3], H[9];
  int feature;
  *out = (srActive){0};
  if (b->kind == SR_KIND_CAPSULE && t->along > BETWEEN && t->along < 1 - BETWEEN) {
    out->dimension = 1;
    srm_set3(out->edge[0], pose + 8);
  }
  if (b->kind != SR_KIND_ELLIPSOID) return;
  srm_pose_transpose(pose, back);
  srm_scale3(-1, t->n, m);
  srm_pose_rotate(back, m, n);
  (void)sr_convex_core_support(b, n, -1, x, &feature);
  sr_convex_feature_hessian(b, feature, n, H);
  srm_pose_rotate_tensor(pose, H, out->hessian);
}

int sr_surface_touches(const srCollisionShape* a, const srCollisionShape* shape, const double pose[16], double margin,
                       srTouch* out) {
  const srConvex* b = &shape->convex;
  double end[2][3];
  if (b->kind == SR_KIND_SPHERE) return sr_surface_ball(a->surface, pose + 12, b->radius, margin, out, SR_TOUCH_MOST);
  if (b->kind != SR_KIND_CAPSULE) return sr_surface_convex(a->surface, b, pose, margin, out, SR_TOUCH_MOST);
  for (int k = 0; k < 2; k++) srm_add_scaled3(pose + 12, k == 0 ? -b->size[2] : b->size[2], pose + 8, end[k]);
  return sr_surface_capsule(a->surface, (const double(*)[3])end, b->radius, margin, out, SR_TOUCH_MOST);
}

// Into a list in the order of gaps. Returns their number.
static int insert(srNearest* out, int n, int most, const srNearest* x) {
  int i = n < most ? n : most - 1;
  if (n == most && !(x->gap < out[i].gap)) return n;
  for (; i > 0 && x->gap < out[i - 1].gap; i--) out[i] = out[i - 1];
  out[i] = *x;
  return n < most ? n + 1 : n;
}

void sr_touch_nearest(const srSurface* surface, const srConvex* b, const double pose[16], srTouch* t, srNearest* out) {
  *out = (srNearest){.state = SR_NEAREST_FOUND, .gap = t->gap, .unique = true, .radius = {0, b->radius}};
  out->core = out->gap + out->radius[1];
  find_feature(surface, t, &out->a);
  srm_set3(out->n, t->n);
  srm_set3(out->point_a, t->point);
  srm_add_scaled3(t->point, t->gap, t->n, out->point_b);
  srm_set3(out->x, pose + 12);
  find_curvature(b, pose, t, &out->b);
}

static int triangle_contacts(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], double margin,
                             srNearest* out, int most) {
  srTouch touch[SR_TOUCH_MOST];
  const int found = sr_surface_touches(a, b, pose, margin, touch);
  int n = 0;
  for (int i = 0; i < found; i++) {
    srNearest x;
    sr_touch_nearest(a->surface, &b->convex, pose, &touch[i], &x);
    if (x.gap < margin) n = insert(out, n, most, &x);
  }
  return n;
}

// Contacts that form a line or a patch are one, in their middle.
static bool join(srNearest* out, int n, const srNearest* x, int* count) {
  for (int i = 0; i < n && !x->unique; i++) {
    srNearest* y = &out[i];
    if (y->unique || srm_dot3(x->n, y->n) < 1 - SAME) continue;
    for (int k = 0; k < 3; k++) {
      y->point_a[k] += (x->point_a[k] - y->point_a[k]) / (count[i] + 1);
      y->point_b[k] += (x->point_b[k] - y->point_b[k]) / (count[i] + 1);
    }
    count[i]++;
    return true;
  }
  return false;
}

int sr_smooth_contacts(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], srSmoothReach reach,
                       srNearest* out, int most) {
  const srSmoothPair pair = {.a = a->smooth, .b = b->smooth, .convex = b->smooth ? NULL : &b->convex};
  srSmoothContact contact[SR_CONTACTS_MOST];
  int count[SR_CONTACTS_MOST], n = 0;
  const int all = sr_smooth_search(&pair, pose, reach, contact, SR_CONTACTS_MOST, NULL);
  for (int i = 0; i < all && i < SR_CONTACTS_MOST && n < most; i++) {
    if (!(contact[i].near.gap < reach.margin) || join(out, n, &contact[i].near, count)) continue;
    count[n] = 1;
    out[n++] = contact[i].near;
  }
  return n;
}

int sr_surface_contacts(const srCollisionShape* a, const srCollisionShape* b, const double pose[16], double margin,
                        srNearest* out, int most) {
  const srSmoothReach reach = {.margin = margin, .depth = THICK * fmin(a->size, b->size)};
  if (a->smooth) return sr_smooth_contacts(a, b, pose, reach, out, most);
  return triangle_contacts(a, b, pose, margin, out, most);
}
