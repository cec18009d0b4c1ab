// URDF out: <link>, inertia and shapes of a body, and the points on it, which are links without mass.
#include <string.h>

#include "io/urdf/write.h"
#include "math/pose.h"

const char* sr_urdf_out_link_name(const srUrdfOut* u, int b) { return b == 0 ? u->ground : u->c->m->body_name[b]; }

static void put_inertial(srConvert* c, int b) {
  static const char* const names[] = {"ixx", "ixy", "ixz", NULL, "iyy", "iyz", NULL, NULL, "izz"};
  if (!sr_convert_has_mass(c->m, b)) return;
  double pose[16];
  srm_pose_identity(pose);
  memcpy(pose + 12, c->m->body_com + 4 * b, 3 * sizeof(double));
  sr_xml_begin(&c->xml, "inertial");
  sr_urdf_out_origin(c, pose);
  sr_xml_begin(&c->xml, "mass");
  sr_xml_number(&c->xml, "value", c->m->body_mass[b]);
  sr_xml_end(&c->xml);
  sr_xml_begin(&c->xml, "inertia");
  for (int k = 0; k < 9; k++)
    if (names[k]) sr_xml_number(&c->xml, names[k], c->m->body_inertia[9 * b + k]);
  sr_xml_end(&c->xml);
  sr_xml_end(&c->xml);
}

void sr_urdf_out_link(srUrdfOut* u, int b, const char* name) {
  srConvert* c = u->c;
  sr_xml_begin(&c->xml, "link");
  sr_xml_text(&c->xml, "name", name);
  if (b > 0) put_inertial(c, b);
  sr_urdf_out_shapes(u, b);
  if (b > 0 && b == u->root && c->m->joint_type[c->m->body_joint[b]] == SR_JOINT_WELD) sr_urdf_out_shapes(u, 0);
  sr_xml_end(&c->xml);
}

// Points are links without mass, held by fixed joints.
void sr_urdf_out_points(srUrdfOut* u, int b, const char* link) {
  srConvert* c = u->c;
  for (int i = c->first[SR_ELEMENT_POINT][b]; i >= 0; i = c->next[SR_ELEMENT_POINT][i]) {
    double pose[16];
    const char* point = sr_convert_text(c, SR_ELEMENT_POINT, i, SR_TAKE(srPointDef, name));
    const bool free = sr_names_find(&c->link_names, point) < 0;
    const char* name = free ? sr_convert_name(c, &c->link_names, "%s", point)
                            : sr_convert_name(c, &c->link_names, "%s_%s", link, point);
    sr_convert_pose(c, SR_ELEMENT_POINT, i, SR_TAKE(srPointDef, at), SR_TAKE(srPointDef, rot), SR_TAKE(srPointDef, rpy),
                    pose);
    c->point_word[i] = name;
    sr_urdf_out_one(&c->xml, "link", "name", name);
    sr_xml_begin(&c->xml, "joint");
    sr_xml_text(&c->xml, "name", sr_convert_name(c, &c->joint_names, "%s", name));
    sr_xml_text(&c->xml, "type", "fixed");
    sr_urdf_out_one(&c->xml, "parent", "link", link);
    sr_urdf_out_one(&c->xml, "child", "link", name);
    sr_urdf_out_origin_of(c, pose, SR_ELEMENT_POINT, i, SR_TAKE(srPointDef, rpy));
    sr_xml_end(&c->xml);
  }
}
