// The `normal` of a ball that closes a planar loop, in formats that have no word for it: they hold the ball in all three
// directions. The third changes nothing where the loop stays in its plane by itself, exactly: all its hinges along the
// normal, all slides perpendicular to it, both points at one height. Turns about the normal change none of that, so that q = 0
// determines it.
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "io/convert.h"
#include "math/pose.h"

#define ROUNDING 1e-12  // rad, m

// Pose of a point in a link that carries it, at q = 0.
static void pose_in(const srModel* m, int point, int link, double out[16]) {
  memcpy(out, m->point_pose + 16 * point, 16 * sizeof *out);
  for (int l = m->point_link[point]; l != link && l > 0; l = m->link_parent[l]) {
    double up[16];
    srm_pose_compose(m->link_tree + 16 * l, out, up);
    memcpy(out, up, sizeof up);
  }
}

// Whether the joints between a point and a link that carries it move the point in the plane alone. normal: in the link.
static bool stays_in_plane(const srModel* m, int point, int link, const double normal[3]) {
  double pose[16], back[16], here[3];
  pose_in(m, point, link, pose);
  srm_pose_transpose(pose, back);
  srm_pose_rotate(back, normal, here);
  srm_pose_rotate(m->point_pose + 16 * point, here, here);
  for (int l = m->point_link[point]; l != link && l > 0; l = m->link_parent[l]) {
    const bool turns = m->link_type[l] == SR_LINK_REVOLUTE, slides = m->link_type[l] == SR_LINK_PRISMATIC;  // its z
    if (!(turns && hypot(here[0], here[1]) <= ROUNDING) && !(slides && fabs(here[2]) <= ROUNDING)) return false;
    srm_pose_rotate(m->link_tree + 16 * l, here, here);
  }
  return true;
}

static bool is_redundant(const srModel* m, const srClosure* closure) {
  const int link = m->point_link[closure->common];
  double pose[2][16], normal[3];
  srm_pose_rotate(m->point_pose + 16 * closure->common, closure->frame[2], normal);
  for (int k = 0; k < 2; k++) {
    if (!stays_in_plane(m, closure->point[k], link, normal)) return false;
    pose_in(m, closure->point[k], link, pose[k]);
  }
  return fabs(srm_dot3(pose[1] + 12, normal) - srm_dot3(pose[0] + 12, normal)) <= ROUNDING;
}

void sr_convert_tell_normal(srConvert* x, int i) {
  if (!sr_given(*sr_convert_take(x, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, normal)))) return;
  const bool redundant = i < x->m->nclosure && x->m->closure[i].has_normal && is_redundant(x->m, &x->m->closure[i]);
  sr_convert_lose(x, srs_place(x->spec, SR_ELEMENT_CLOSURE, i), redundant ? SR_LOSS_NOTHING : SR_LOSS_MOTION,
                  sr_pool_printf(x->pool, "'normal' of %s", sr_convert_title(x, SR_ELEMENT_CLOSURE, i)),
                  redundant
                      ? "all three equations are written: one of them is redundant in a planar loop"
                      : "all three equations are written, and the joints of the loop do not stay exactly in its plane: "
                        "it may not move, or not close");
}
