// URDF out. Our body frame is the joint's frame at q = 0, as URDF's link frame is: poses and axes are written as they are.
// Joints that URDF has no word for become chains of those that it has (convert.h); what becomes of each element stands in
// docs/convert.md.
#include <math.h>
#include <string.h>

#include "expr/expr.h"
#include "io/convert.h"
#include "math/pose.h"

#define UNKNOWN 1e9  // of a limit that URDF asks for and the model does not have: none of its readers is stopped by it
#define GRAVITY -9.81

typedef struct Urdf {
  srConvert* c;
  const char* ground;  // link of the ground
  int root;            // body that is the root link itself; 0: none, the ground is a link
  int nunknown;        // joints whose largest force or speed is not known
  const char* first_unknown;
  int nendless;  // prismatic joints without ends
  const char* first_endless;
  int npath;  // meshes by a path
  const char* first_path;
} Urdf;

// --------------------------------------------------------------------------------------------------------------- poses
// Roll, pitch, yaw of a rotation. The roll is taken behind the yaw that was found, so that both are exact together where
// the pitch is a right angle and each alone means nothing.
static void rpy_of(const double pose[16], double rpy[3]) {
  const double r00 = pose[0], r10 = pose[1], r20 = pose[2];
  rpy[1] = atan2(-r20, hypot(r00, r10));
  rpy[2] = atan2(r10, r00);
  const double s = sin(rpy[2]), c = cos(rpy[2]);
  rpy[0] = atan2(s * pose[8] - c * pose[9], c * pose[5] - s * pose[4]);
}

// A pose; the angles as the spec has them where it has some (element i of a kind, attribute `given`), so that they stay as
// they were written.
static void put_origin_of(srConvert* c, const double pose[16], srElementKind kind, int i, int given) {
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

static void put_origin(srConvert* c, const double pose[16]) { put_origin_of(c, pose, SR_ELEMENT_MODEL, -1, 0); }

// An element with one attribute.
static void put_one(srXmlWriter* w, const char* element, const char* attribute, const char* value) {
  sr_xml_begin(w, element);
  sr_xml_text(w, attribute, value);
  sr_xml_end(w);
}

// -------------------------------------------------------------------------------------------------------------- shapes
static int mesh_of(const srConvert* c, int i) {
  const srShapeDef* def = srs_get(c->spec, SR_ELEMENT_SHAPE, i);
  return def->mesh.text ? sr_names_find(&c->meshes, def->mesh.text) : -1;
}

// What URDF cannot say is not taken, so that it is told.
static bool can_say(const srConvert* c, int i) {
  const srShapeDef* def = srs_get(c->spec, SR_ELEMENT_SHAPE, i);
  const char* type = def->type.text;
  const double size = def->size.numbers ? def->size.numbers[0] : def->size.number;
  if (sr_text_is(type, "mesh")) {
    const int mesh = mesh_of(c, i);
    return mesh >= 0 && ((const srMeshDef*)srs_get(c->spec, SR_ELEMENT_MESH, mesh))->file.text;
  }
  return !sr_text_is(type, "plane") && !sr_text_is(type, "ellipsoid") && !(sr_text_is(type, "sphere") && size < 0);
}

static void put_mesh(Urdf* u, int i) {
  srConvert* c = u->c;
  const int mesh = mesh_of(c, i);
  double scale[3];
  sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, mesh));
  sr_convert_take(c, SR_ELEMENT_MESH, mesh, SR_TAKE(srMeshDef, name));
  sr_convert_take(c, SR_ELEMENT_MESH, mesh, SR_TAKE(srMeshDef, vertices));  // they are in the file
  sr_convert_take(c, SR_ELEMENT_MESH, mesh, SR_TAKE(srMeshDef, faces));
  sr_xml_begin(&c->xml, "mesh");
  const char* path = sr_convert_path(c, sr_convert_text(c, SR_ELEMENT_MESH, mesh, SR_TAKE(srMeshDef, file)));
  sr_xml_text(&c->xml, "filename", path);
  if (!strstr(path, "://") && u->npath++ == 0) u->first_path = path;
  const int n = sr_convert_numbers(c, SR_ELEMENT_MESH, mesh, SR_TAKE(srMeshDef, scale), scale, 3);
  if (n == 1) scale[1] = scale[2] = scale[0];
  if (n > 0) sr_xml_numbers(&c->xml, "scale", scale, 3);
  sr_xml_end(&c->xml);
}

static void put_geometry(Urdf* u, int i, const char* type) {
  srConvert* c = u->c;
  double size[3] = {0};
  sr_xml_begin(&c->xml, "geometry");
  sr_convert_numbers(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, size), size, 3);
  if (sr_text_is(type, "mesh")) {
    put_mesh(u, i);
  } else {
    sr_xml_begin(&c->xml, type);
    if (sr_text_is(type, "box")) {
      sr_xml_numbers(&c->xml, "size", size, 3);
    } else {
      sr_xml_number(&c->xml, "radius", size[0]);
      if (!sr_text_is(type, "sphere")) sr_xml_number(&c->xml, "length", size[1]);
    }
    sr_xml_end(&c->xml);
  }
  sr_xml_end(&c->xml);
}

// A material of its own for every colour, named by it.
static void put_color(srConvert* c, int i) {
  double rgba[4];
  if (sr_convert_numbers(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, color), rgba, 4) != 4) return;
  const char* name = "rgba";
  for (int k = 0; k < 4; k++) {
    char number[SR_NUMBER_TEXT];
    sr_number_text(rgba[k], number, sizeof number);
    name = sr_pool_printf(c->pool, "%s_%s", name, number);
  }
  sr_xml_begin(&c->xml, "material");
  sr_xml_text(&c->xml, "name", name);
  sr_xml_begin(&c->xml, "color");
  sr_xml_numbers(&c->xml, "rgba", rgba, 4);
  sr_xml_end(&c->xml);
  sr_xml_end(&c->xml);
}

static void put_shape(Urdf* u, int i, const char* element) {
  srConvert* c = u->c;
  double pose[16];
  const char* name = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, name));
  const char* type = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, type));
  sr_convert_pose(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, at), SR_TAKE(srShapeDef, rot), SR_TAKE(srShapeDef, rpy),
                  pose);
  sr_xml_begin(&c->xml, element);
  if (name) sr_xml_text(&c->xml, "name", name);
  put_origin_of(c, pose, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, rpy));
  put_geometry(u, i, type);
  if (sr_text_is(element, "visual")) put_color(c, i);
  sr_xml_end(&c->xml);
}

static void put_shapes(Urdf* u, int b) {
  srConvert* c = u->c;
  for (int i = c->first[SR_ELEMENT_SHAPE][b]; i >= 0; i = c->next[SR_ELEMENT_SHAPE][i]) {
    if (!can_say(c, i)) continue;
    const char* use = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, use));
    sr_convert_take(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, density));  // in the inertia of the body
    sr_convert_take(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, material));
    if (!sr_text_is(use, "collision")) put_shape(u, i, "visual");
    if (!sr_text_is(use, "visual")) put_shape(u, i, "collision");
  }
}

// --------------------------------------------------------------------------------------------------------------- links
static void put_inertial(srConvert* c, int b) {
  static const char* const names[] = {"ixx", "ixy", "ixz", NULL, "iyy", "iyz", NULL, NULL, "izz"};
  if (!sr_convert_has_mass(c->m, b)) return;
  double pose[16];
  srm_pose_identity(pose);
  memcpy(pose + 12, c->m->body_com + 4 * b, 3 * sizeof(double));
  sr_xml_begin(&c->xml, "inertial");
  put_origin(c, pose);
  sr_xml_begin(&c->xml, "mass");
  sr_xml_number(&c->xml, "value", c->m->body_mass[b]);
  sr_xml_end(&c->xml);
  sr_xml_begin(&c->xml, "inertia");
  for (int k = 0; k < 9; k++)
    if (names[k]) sr_xml_number(&c->xml, names[k], c->m->body_inertia[9 * b + k]);
  sr_xml_end(&c->xml);
  sr_xml_end(&c->xml);
}

static void put_link(Urdf* u, int b, const char* name) {
  srConvert* c = u->c;
  sr_xml_begin(&c->xml, "link");
  sr_xml_text(&c->xml, "name", name);
  if (b > 0) put_inertial(c, b);
  put_shapes(u, b);
  if (b > 0 && b == u->root && c->m->joint_type[c->m->body_joint[b]] == SR_JOINT_WELD) put_shapes(u, 0);
  sr_xml_end(&c->xml);
}

// The link of body b, or of the ground.
static const char* link_name(const Urdf* u, int b) { return b == 0 ? u->ground : u->c->m->body_name[b]; }

// Points are links without mass, held by fixed joints.
static void put_points(Urdf* u, int b, const char* link) {
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
    put_one(&c->xml, "link", "name", name);
    sr_xml_begin(&c->xml, "joint");
    sr_xml_text(&c->xml, "name", sr_convert_name(c, &c->joint_names, "%s", name));
    sr_xml_text(&c->xml, "type", "fixed");
    put_one(&c->xml, "parent", "link", link);
    put_one(&c->xml, "child", "link", name);
    put_origin_of(c, pose, SR_ELEMENT_POINT, i, SR_TAKE(srPointDef, rpy));
    sr_xml_end(&c->xml);
  }
}

// -------------------------------------------------------------------------------------------------------------- joints
static double joint_number(srConvert* c, int j, int field, double otherwise) {
  const int joint = c->joint[c->m->joint_body[j]];
  return joint < 0 ? otherwise : sr_convert_number(c, SR_ELEMENT_JOINT, joint, field, otherwise);
}

static void put_limit(Urdf* u, int j, const srJointPart* part, bool limited, const double limits[2]) {
  srConvert* c = u->c;
  const bool own = part->coordinate >= 0;
  const double not_known = (double)NAN;
  const double effort = own ? joint_number(c, j, SR_TAKE(srJointDef, effort), not_known) : not_known;
  const double speed = own ? joint_number(c, j, SR_TAKE(srJointDef, speed), not_known) : not_known;
  const bool slides = part->type == SR_PART_SLIDE;
  if (!limited && !slides && isnan(effort) && isnan(speed)) return;  // continuous: nothing is asked for
  if ((isnan(effort) || isnan(speed)) && u->nunknown++ == 0) u->first_unknown = part->name;
  if (slides && !limited && u->nendless++ == 0) u->first_endless = part->name;
  sr_xml_begin(&c->xml, "limit");
  if (limited || slides) {
    sr_xml_number(&c->xml, "lower", limited ? limits[0] : -UNKNOWN);
    sr_xml_number(&c->xml, "upper", limited ? limits[1] : UNKNOWN);
  }
  sr_xml_number(&c->xml, "effort", isnan(effort) ? UNKNOWN : effort);
  sr_xml_number(&c->xml, "velocity", isnan(speed) ? UNKNOWN : speed);
  sr_xml_end(&c->xml);
}

static void put_dynamics(srConvert* c, int j, const srJointPart* part) {
  if (part->coordinate < 0) return;
  const double damping = joint_number(c, j, SR_TAKE(srJointDef, damping), 0);
  const double friction = sr_convert_friction(c, j, part->coordinate);
  if (damping == 0 && friction == 0) return;
  sr_xml_begin(&c->xml, "dynamics");
  sr_xml_number(&c->xml, "damping", damping);
  if (friction != 0) sr_xml_number(&c->xml, "friction", friction);
  sr_xml_end(&c->xml);
}

// The start of a joint that follows another one is where the other says, and readers put it there.
static void take_followed_start(srConvert* c, int j, int coupling) {
  const srCouplingDef* def = srs_get(c->spec, SR_ELEMENT_COUPLING, coupling);
  const int to = sr_names_find(&c->joints, def->to.text), joint = c->joint[c->m->joint_body[j]];
  const double ratio = def->ratio.n > 0 ? def->ratio.number : 1, offset = def->offset.n > 0 ? def->offset.number : 0;
  const double q = offset + ratio * c->m->q0[c->m->joint_q[to]];
  if (fabs(c->m->q0[c->m->joint_q[j]] - q) <= 1e-12 * (1 + fabs(q)))
    sr_convert_take(c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, q));
}

static void put_mimic(srConvert* c, int j, const srJointPart* part, const char* before) {
  const int i = c->coupling[j];
  if (part->coordinate == SR_PART_FOLLOWS) {
    sr_xml_begin(&c->xml, "mimic");
    sr_xml_text(&c->xml, "joint", before);
    sr_xml_number(&c->xml, "multiplier", part->pitch);
    sr_xml_end(&c->xml);
  } else if (i >= 0 && part->coordinate >= 0) {
    sr_convert_take(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, joint));
    take_followed_start(c, j, i);
    sr_xml_begin(&c->xml, "mimic");
    sr_xml_text(&c->xml, "joint", sr_convert_text(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, to)));
    sr_xml_number(&c->xml, "multiplier",
                  sr_convert_number(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, ratio), 1));
    sr_xml_number(&c->xml, "offset", sr_convert_number(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, offset), 0));
    sr_xml_end(&c->xml);
  }
}

// Inertia of the drive: a motor behind a gear of ratio 1 that carries it.
static void put_transmission(srConvert* c, int j, const srJointPart* part) {
  const bool scalar = part->type == SR_PART_HINGE || part->type == SR_PART_SLIDE;
  if (part->coordinate < 0 || !scalar) return;
  const double armature = joint_number(c, j, SR_TAKE(srJointDef, armature), 0);
  if (armature == 0) return;
  char number[SR_NUMBER_TEXT];
  sr_number_text(armature, number, sizeof number);
  sr_xml_begin(&c->xml, "transmission");
  sr_xml_text(&c->xml, "name", sr_pool_printf(c->pool, "%s_drive", part->name));
  sr_xml_begin(&c->xml, "type");
  sr_xml_words(&c->xml, "transmission_interface/SimpleTransmission");
  sr_xml_end(&c->xml);
  put_one(&c->xml, "joint", "name", part->name);
  sr_xml_begin(&c->xml, "actuator");
  sr_xml_text(&c->xml, "name", sr_pool_printf(c->pool, "%s_motor", part->name));
  sr_xml_begin(&c->xml, "mechanicalReduction");
  sr_xml_words(&c->xml, "1");
  sr_xml_end(&c->xml);
  sr_xml_begin(&c->xml, "rotorInertia");
  sr_xml_words(&c->xml, number);
  sr_xml_end(&c->xml);
  sr_xml_end(&c->xml);
  sr_xml_end(&c->xml);
}

static const char* type_word(const srJointPart* part, bool planar, bool limited) {
  if (planar) return "planar";
  switch (part->type) {
    case SR_PART_HINGE: return limited ? "revolute" : "continuous";
    case SR_PART_SLIDE: return "prismatic";
    case SR_PART_FREE: return "floating";
    default: return "fixed";
  }
}

typedef struct Between {
  const char *parent, *child;
  const double* pose;
  const char* before;  // joint of the part before it
} Between;

static void put_joint(Urdf* u, int j, const srJointPart* part, const Between* at) {
  srConvert* c = u->c;
  const int joint = c->joint[c->m->joint_body[j]];
  const bool planar = c->m->joint_type[j] == SR_JOINT_PLANAR;
  const bool scalar = !planar && (part->type == SR_PART_HINGE || part->type == SR_PART_SLIDE);
  double limits[2];
  const bool limited = scalar && part->coordinate >= 0 && joint >= 0 &&
                       sr_convert_numbers(c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, limits), limits, 2) == 2;
  sr_xml_begin(&c->xml, "joint");
  sr_xml_text(&c->xml, "name", part->name);
  sr_xml_text(&c->xml, "type", type_word(part, planar, limited));
  put_one(&c->xml, "parent", "link", at->parent);
  put_one(&c->xml, "child", "link", at->child);
  put_origin_of(c, at->pose, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, rpy));
  if (scalar || planar) {
    sr_xml_begin(&c->xml, "axis");
    sr_xml_numbers(&c->xml, "xyz", part->axis, 3);
    sr_xml_end(&c->xml);
  }
  if (scalar) {
    put_limit(u, j, part, limited, limits);
    put_dynamics(c, j, part);
    put_mimic(c, j, part, at->before);
  }
  sr_xml_end(&c->xml);
  if (scalar) put_transmission(c, j, part);
}

// A ball joint as three hinges.
static int hinges_of_ball(srConvert* c, int j, srJointPart* part) {
  static const char* const axes[] = {"x", "y", "z"};
  const char* name = part[0].name;
  const int joint = c->joint[c->m->joint_body[j]];
  for (int k = 0; k < 3; k++) {
    part[k] = (srJointPart){.type = SR_PART_HINGE, .coordinate = SR_PART_OTHER};
    part[k].name = sr_convert_name(c, &c->joint_names, "%s.%s", name, axes[k]);
    part[k].axis[k] = 1;
  }
  sr_convert_lose(c, srs_place(c->spec, SR_ELEMENT_JOINT, joint), SR_LOSS_NOTHING,
                  sr_convert_title(c, SR_ELEMENT_JOINT, joint),
                  "URDF has no ball joint: three hinges about x, y and z stand for it, so its coordinates are others");
  return 3;
}

static void put_body(Urdf* u, int b) {
  srConvert* c = u->c;
  const int j = c->m->body_joint[b];
  srJointPart part[SR_PARTS];
  double pose[16], none[16];
  int n = sr_convert_parts(c, j, part);
  if (part[0].type == SR_PART_BALL) n = hinges_of_ball(c, j, part);
  if (c->m->joint_type[j] == SR_JOINT_PLANAR) {
    memcpy(part[0].axis, part[2].axis, sizeof part[0].axis);
    part[0].name = sr_convert_joint_name(c, j);
    n = 1;
  }
  sr_convert_joint_pose(c, b, pose);
  srm_pose_identity(none);
  const char* parent = link_name(u, c->m->body_parent[b]);
  for (int k = 0; k < n && b != u->root; k++) {
    const bool last = k == n - 1;
    const char* child =
        last ? link_name(u, b) : sr_convert_name(c, &c->link_names, "%s.%s", c->m->body_name[b], part[k].name);
    if (!last) put_one(&c->xml, "link", "name", child);
    const Between at = {parent, child, k == 0 ? pose : none, k > 0 ? part[k - 1].name : NULL};
    put_joint(u, j, &part[k], &at);
    parent = child;
  }
  put_link(u, b, link_name(u, b));
  put_points(u, b, link_name(u, b));
}

// --------------------------------------------------------------------------------------------------------------- loops
// The link that is a frame of the spec; NULL: the ground, where it is no link.
static const char* frame_link(const Urdf* u, const char* ref) {
  const int i = sr_names_find(&u->c->points, ref), b = sr_names_find(&u->c->bodies, ref);
  return i >= 0 ? u->c->point_word[i] : link_name(u, b > 0 ? b : 0);
}

static const char* loop_word(const char* type) {
  static const char* const words[][2] = {{"body", "fixed"},          {"weld", "fixed"},
                                         {"ball", "spherical"},      {"revolute", "continuous"},
                                         {"prismatic", "prismatic"}, {"cylindrical", "cylindrical"},
                                         {"planar", "planar"}};
  for (int k = 0; k < SR_COUNT(words); k++)
    if (sr_text_is(type, words[k][0])) return words[k][1];
  return NULL;
}

// <loop> of URDF+ (see urdf_loop.c). Kinds that it does not have are not taken, and told.
static void put_loop(Urdf* u, int i) {
  srConvert* c = u->c;
  const srClosureDef* def = srs_get(c->spec, SR_ELEMENT_CLOSURE, i);
  const char* type = loop_word(def->type.text);
  const char *a = frame_link(u, def->a.text), *b = frame_link(u, def->b.text);
  if (!type || !a || !b) return;
  double axis[3] = {0, 0, 1};
  sr_convert_take(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, type));
  sr_convert_take(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, a));
  sr_convert_take(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, b));
  sr_convert_numbers(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, axis), axis, 3);
  const char* name = sr_convert_text(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, name));
  sr_xml_begin(&c->xml, "loop");
  sr_xml_text(&c->xml, "name", name ? name : sr_pool_printf(c->pool, "loop%d", i + 1));
  sr_xml_text(&c->xml, "type", type);
  put_one(&c->xml, "predecessor", "link", a);
  put_one(&c->xml, "successor", "link", b);
  if (!sr_text_is(type, "fixed") && !sr_text_is(type, "spherical")) {
    sr_xml_begin(&c->xml, "axis");
    sr_xml_numbers(&c->xml, "xyz", axis, 3);
    sr_xml_end(&c->xml);
  }
  sr_xml_end(&c->xml);
  sr_convert_tell_normal(c, i);
}

// ---------------------------------------------------------------------------------------------------------------- root
// The body that is the root link, as our reader makes one of it: alone on the ground, by a joint `root` that is a weld or
// free. 0: none, and the ground becomes a link.
static int root_body(Urdf* u) {
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

static void tell_invented(Urdf* u) {
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
  Urdf u = {.c = c};
  for (int b = 1; b <= c->m->nbody; b++) sr_names_put(&c->link_names, c->m->body_name[b], 0);
  u.root = root_body(&u);
  sr_xml_begin(&c->xml, "robot");
  sr_xml_text(&c->xml, "name", c->m->name);
  put_gravity(c);
  if (u.root) {
    const bool welded = c->m->joint_type[c->m->body_joint[u.root]] == SR_JOINT_WELD;
    u.ground = welded ? c->m->body_name[u.root] : NULL;  // a root that floats: no link stands for the ground
  } else {
    u.ground = sr_convert_name(c, &c->link_names, "world");
    put_link(&u, 0, u.ground);
    put_points(&u, 0, u.ground);
  }
  for (int b = 1; b <= c->m->nbody; b++) put_body(&u, b);
  if (u.root && u.ground) put_points(&u, 0, u.ground);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_CLOSURE); i++) put_loop(&u, i);
  tell_invented(&u);
}
