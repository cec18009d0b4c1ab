// URDF out: the whole (write.h). Our body frame is the joint's frame at q = 0, as URDF's link frame is: poses and
// axes are written as they are. What becomes of each element: docs/robots/convert.md.
#include <math.h>
#include <string.h>

#include "io/urdf/write.h"
#include "math/pose.h"

#define GRAVITY -9.81  // that URDF is read with

// --------------------------------------------------------------------------------------------- elements in many places
// Roll, pitch, yaw of a rotation. The roll is taken behind the yaw that was found, so that both are exact together
// where the pitch is a right angle and each alone means nothing.
static void rpy_of(const double pose[16], double rpy[3]) {
  const double r00 = pose[0], r10 = pose[1], r20 = pose[2];
  rpy[1] = atan2(-r20, hypot(r00, r10));
  rpy[2] = atan2(r10, r00);
  const double s = sin(rpy[2]), c = cos(rpy[2]);
  rpy[0] = atan2(s * pose[8] - c * pose[9], c * pose[5] - s * pose[4]);
}

void sr_urdf_out_origin_of(srConvert* c, const double pose[16], srElementKind kind, int i, int given) {
  srXmlWriter* w = &c->xml;
  double rpy[3];
  if (srm_pose_is_identity(pose)) return;
  rpy_of(pose, rpy);
  if (i >= 0) sr_convert_numbers(c, kind, i, given, rpy, 3);
  sr_xml_begin(w, "origin");
  sr_xml_numbers(w, "xyz", pose + 12, 3);
  sr_xml_numbers(w, "rpy", rpy, 3);
  sr_xml_end(w);
}

void sr_urdf_out_origin(srConvert* c, const double pose[16]) {
  sr_urdf_out_origin_of(c, pose, SR_ELEMENT_MODEL, -1, 0);
}

void sr_urdf_out_one(srXmlWriter* w, const char* element, const char* attribute, const char* value) {
  sr_xml_begin(w, element);
  sr_xml_text(w, attribute, value);
  sr_xml_end(w);
}

void sr_urdf_out_axis(srXmlWriter* w, const double axis[3]) {
  sr_xml_begin(w, "axis");
  sr_xml_numbers(w, "xyz", axis, 3);
  sr_xml_end(w);
}

// ----------------------------------------------------------------------------------------------------------- the whole
// The body that is the root link, as our reader makes one of it: alone on the ground, by a joint `root` that is a weld
// or free. 0: none, and the ground becomes a link.
static int root_body(srUrdfOut* u) {
  const srModel* m = u->c->m;
  int n = 0, root = 0;
  for (int b = 1; b <= m->nbody; b++)
    if (m->body_parent[b] == 0) n++, root = b;
  if (n != 1) return 0;
  double pose[16];
  sr_convert_joint_pose(u->c, root, pose);
  const int j = m->body_joint[root], type = m->joint_type[j];
  const bool fits = strcmp(m->joint_name[j], "root") == 0 && (type == SR_JOINT_WELD || type == SR_JOINT_FREE);
  if (!fits || !srm_pose_is_identity(pose)) return 0;
  if (type == SR_JOINT_FREE) u->c->base = "floating";
  return root;
}

static void put_gravity(srConvert* c) {
  const double* g = c->m->gravity;
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_OPTION); i++) {
    const bool usual = g[0] == 0 && g[1] == 0 && g[2] == GRAVITY;
    sr_convert_take(c, SR_ELEMENT_OPTION, i, SR_TAKE(srOptionDef, gravity));
    if (usual || !sr_convert_given(c, SR_ELEMENT_OPTION, i, SR_TAKE(srOptionDef, gravity))) continue;
    sr_convert_lose(c, srs_place(c->spec, SR_ELEMENT_OPTION, i), SR_LOSS_MOTION,
                    sr_pool_printf(c->pool, "gravity %g %g %g", g[0], g[1], g[2]),
                    "URDF has none: it is read with 0 0 -9.81");
  }
}

static void tell_invented(srUrdfOut* u) {
  if (u->nunknown > 0)
    sr_convert_lose(u->c, (srPlace){0}, SR_LOSS_NOTHING,
                    sr_pool_printf(u->c->pool, "largest force and speed of %d joint%s, the first is '%s'", u->nunknown,
                                   u->nunknown == 1 ? "" : "s", u->first_unknown),
                    "URDF asks for them: 1e9 is written");
  if (u->npath > 0)
    sr_convert_lose(u->c, (srPlace){0}, SR_LOSS_NOTHING,
                    sr_pool_printf(u->c->pool, "package:// of %d mesh%s, the first is '%s'", u->npath,
                                   u->npath == 1 ? "" : "es", u->first_path),
                    "paths are written as they are seen from the new file; programs of ROS ask for package:// or "
                    "file://");
  if (u->nendless > 0)
    sr_convert_lose(u->c, (srPlace){0}, SR_LOSS_NOTHING,
                    sr_pool_printf(u->c->pool, "ends of %d sliding joint%s without any, the first is '%s'", u->nendless,
                                   u->nendless == 1 ? "" : "s", u->first_endless),
                    "URDF asks for them: -1e9 and 1e9 are written");
}

void sr_write_urdf(srConvert* c) {
  srUrdfOut u = {.c = c};
  for (int b = 1; b <= c->m->nbody; b++) sr_names_put(&c->link_names, c->m->body_name[b], 0);
  u.root = root_body(&u);
  sr_xml_begin(&c->xml, "robot");
  sr_xml_text(&c->xml, "name", c->m->name);
  put_gravity(c);
  if (u.root) {
    const bool welded = c->m->joint_type[c->m->body_joint[u.root]] == SR_JOINT_WELD;
    u.ground = welded ? c->m->body_name[u.root] : NULL;  // a root that floats: no link represents the ground
  } else {
    u.ground = sr_convert_name(c, &c->link_names, "world");
    sr_urdf_out_link(&u, 0, u.ground);
    sr_urdf_out_points(&u, 0, u.ground);
  }
  for (int b = 1; b <= c->m->nbody; b++) {
    sr_urdf_out_joints(&u, b);
    sr_urdf_out_link(&u, b, sr_urdf_out_link_name(&u, b));
    sr_urdf_out_points(&u, b, sr_urdf_out_link_name(&u, b));
  }
  if (u.root && u.ground) sr_urdf_out_points(&u, 0, u.ground);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_CLOSURE); i++) sr_urdf_out_loop(&u, i);
  tell_invented(&u);
}
