// URDF out: <joint> and <transmission>. A joint that URDF has no word for is a chain of those that it has, with links
// without mass in between.
#include <math.h>
#include <string.h>

#include "expr/expr.h"
#include "io/urdf/write.h"
#include "math/pose.h"

#define UNKNOWN 1e9  // of a limit that URDF requires and the model does not have: none of its readers is stopped by it

// ---------------------------------------------------------------------------------------------- the content of a joint
static void put_limit(srUrdfOut* u, int j, const srJointPart* part, bool limited, const double limits[2]) {
  srConvert* c = u->c;
  const bool own = part->coordinate >= 0;
  const double not_known = (double)NAN;
  const double effort = own ? sr_convert_joint_number(c, j, SR_TAKE(srJointDef, effort), not_known) : not_known;
  const double speed = own ? sr_convert_joint_number(c, j, SR_TAKE(srJointDef, speed), not_known) : not_known;
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
  const double damping = sr_convert_joint_number(c, j, SR_TAKE(srJointDef, damping), 0);
  const double friction = sr_convert_friction(c, j, part->coordinate);
  if (damping == 0 && friction == 0) return;
  sr_xml_begin(&c->xml, "dynamics");
  sr_xml_number(&c->xml, "damping", damping);
  if (friction != 0) sr_xml_number(&c->xml, "friction", friction);
  sr_xml_end(&c->xml);
}

// The start of a joint that follows another one is given by the other, and readers put it there.
static void take_followed_start(srConvert* c, int j, int coupling) {
  const srCouplingDef* def = srs_get(c->spec, SR_ELEMENT_COUPLING, coupling);
  const int to = sr_names_find(&c->joints, def->to.text), joint = c->joint[c->m->joint_body[j]];
  const double ratio = def->ratio.n > 0 ? def->ratio.number : 1, offset = def->offset.n > 0 ? def->offset.number : 0;
  const double q = offset + ratio * c->m->q0[c->m->joint_q[to]];
  if (fabs(c->m->q0[c->m->joint_q[j]] - q) <= 1e-12 * (1 + fabs(q)))
    sr_convert_take(c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, q));
}

static void put_mimic(srConvert* c, const char* joint, double multiplier, const double* offset) {
  sr_xml_begin(&c->xml, "mimic");
  sr_xml_text(&c->xml, "joint", joint);
  sr_xml_number(&c->xml, "multiplier", multiplier);
  if (offset) sr_xml_number(&c->xml, "offset", *offset);
  sr_xml_end(&c->xml);
}

// The slide of a screw follows its hinge, `before`; another joint the one that a coupling names.
static void put_followed(srConvert* c, int j, const srJointPart* part, const char* before) {
  const int i = c->coupling[j];
  const bool one = i >= 0 && c->m->coupling[i].n == 2;  // a mimic follows one joint
  if (part->coordinate == SR_PART_FOLLOWS) {
    put_mimic(c, before, part->pitch, NULL);
  } else if (one && part->coordinate >= 0) {
    const char* to = sr_convert_text(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, to));
    const double ratio = sr_convert_number(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, ratio), 1);
    const double offset = sr_convert_number(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, offset), 0);
    sr_convert_take(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, joint));
    take_followed_start(c, j, i);
    put_mimic(c, to, ratio, &offset);
  }
}

// ----------------------------------------------------------------------------------------------------------- next to it
// An element that holds text.
static void put_words(srXmlWriter* w, const char* element, const char* words) {
  sr_xml_begin(w, element);
  sr_xml_words(w, words);
  sr_xml_end(w);
}

// Inertia of the drive: a motor behind a gear of ratio 1 that carries it.
static void put_transmission(srConvert* c, int j, const srJointPart* part) {
  srXmlWriter* w = &c->xml;
  if (part->coordinate < 0) return;
  const double armature = sr_convert_joint_number(c, j, SR_TAKE(srJointDef, armature), 0);
  if (armature == 0) return;
  char number[SR_NUMBER_TEXT];
  sr_number_text(armature, number, sizeof number);
  sr_xml_begin(w, "transmission");
  sr_xml_text(w, "name", sr_pool_printf(c->pool, "%s_drive", part->name));
  put_words(w, "type", "transmission_interface/SimpleTransmission");
  sr_urdf_out_one(w, "joint", "name", part->name);
  sr_xml_begin(w, "actuator");
  sr_xml_text(w, "name", sr_pool_printf(c->pool, "%s_motor", part->name));
  put_words(w, "mechanicalReduction", "1");
  put_words(w, "rotorInertia", number);
  sr_xml_end(w);
  sr_xml_end(w);
}

// --------------------------------------------------------------------------------------------------- one joint of URDF
static const char* type_word(const srJointPart* part, bool planar, bool limited) {
  if (planar) return "planar";
  switch (part->type) {
    case SR_PART_HINGE: return limited ? "revolute" : "continuous";
    case SR_PART_SLIDE: return "prismatic";
    case SR_PART_FREE: return "floating";
    default: return "fixed";
  }
}

// Its pose.
typedef struct Between {
  const char *parent, *child;
  const double* pose;  // in the frame of the parent
  const char* before;  // joint of the part before it
} Between;

static void put_joint(srUrdfOut* u, int j, const srJointPart* part, const Between* at) {
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
  sr_urdf_out_one(&c->xml, "parent", "link", at->parent);
  sr_urdf_out_one(&c->xml, "child", "link", at->child);
  sr_urdf_out_origin_of(c, at->pose, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, rpy));
  if (scalar || planar) sr_urdf_out_axis(&c->xml, part->axis);
  if (scalar) {
    put_limit(u, j, part, limited, limits);
    put_dynamics(c, j, part);
    put_followed(c, j, part, at->before);
  }
  sr_xml_end(&c->xml);
  if (scalar) put_transmission(c, j, part);
}

// -------------------------------------------------------------------------------------------------- a whole native joint
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
                  "URDF has no ball joint: three hinges about x, y and z replace it, so its coordinates differ");
  return 3;
}

// The parts of joint j, as URDF has them.
static int parts_of(srConvert* c, int j, srJointPart part[SR_PARTS]) {
  const int n = sr_convert_parts(c, j, part);
  if (part[0].type == SR_PART_BALL) return hinges_of_ball(c, j, part);
  if (c->m->joint_type[j] != SR_JOINT_PLANAR) return n;
  memcpy(part[0].axis, part[2].axis, sizeof part[0].axis);
  part[0].name = sr_convert_joint_name(c, j);
  return 1;
}

void sr_urdf_out_joints(srUrdfOut* u, int b) {
  srConvert* c = u->c;
  const int j = c->m->body_joint[b];
  srJointPart part[SR_PARTS];
  double pose[16], none[16];
  const int n = parts_of(c, j, part);
  sr_convert_joint_pose(c, b, pose);
  srm_pose_identity(none);
  if (b == u->root) return;  // readers make that joint, as it was: it is taken too
  const char* parent = sr_urdf_out_link_name(u, c->m->body_parent[b]);
  for (int k = 0; k < n; k++) {
    const bool last = k == n - 1;
    const char* child = last ? sr_urdf_out_link_name(u, b)
                             : sr_convert_name(c, &c->link_names, "%s.%s", c->m->body_name[b], part[k].name);
    if (!last) sr_urdf_out_one(&c->xml, "link", "name", child);
    const Between at = {parent, child, k == 0 ? pose : none, k > 0 ? part[k - 1].name : NULL};
    put_joint(u, j, &part[k], &at);
    parent = child;
  }
}
