// MJCF out: <joint>. A native joint is one of MJCF or several, in sequence in one body: hinges, slides, a ball, a free
// joint.
#include <string.h>

#include "io/mjcf/write.h"
#include "math/pose.h"

// ----------------------------------------------------------------------------------------------------------- its parts
// A free joint on a body that moves itself: MJCF has those on the world alone.
static int slides_and_ball(srConvert* c, int j, srJointPart part[SR_PARTS]) {
  static const char* const axes[] = {"x", "y", "z"};
  part[3] = part[0];
  part[3].type = SR_PART_BALL;
  part[3].coordinate = SR_PART_OTHER;
  for (int k = 0; k < 3; k++) {
    part[k] = (srJointPart){.type = SR_PART_SLIDE, .coordinate = SR_PART_OTHER};
    part[k].axis[k] = 1;
    part[k].name = sr_convert_name(c, &c->joint_names, "%s.%s", part[3].name, axes[k]);
  }
  sr_convert_lose(c, c->m->body_place[c->m->joint_body[j]], SR_LOSS_NOTHING,
                  sr_pool_printf(c->pool, "free joint '%s'", c->m->joint_name[j]),
                  "MJCF has free joints on the world alone: three slides and a ball replace it, so its velocities "
                  "differ");
  return 4;
}

// A weld is no joint in MJCF, so its name is lost where our reader would give it another one.
static void tell_weld(srConvert* c, int b) {
  const int j = c->m->body_joint[b];
  const bool named = strcmp(c->m->joint_name[j], c->m->body_name[b]) != 0;
  if (c->m->joint_type[j] == SR_JOINT_WELD && named)
    sr_convert_lose(c, c->m->body_place[b], SR_LOSS_NOTHING,
                    sr_pool_printf(c->pool, "name of joint '%s'", c->m->joint_name[j]), "MJCF has no joint that holds");
}

// A free joint of the ground is counted from the ground's frame.
static void tell_free(srConvert* c, int j, const double pose[16]) {
  const srPlace place = c->m->body_place[c->m->joint_body[j]];
  if (!srm_pose_is_identity(pose))
    sr_convert_lose(c, place, SR_LOSS_NOTHING, sr_pool_printf(c->pool, "frame of free joint '%s'", c->m->joint_name[j]),
                    "its position is counted from the ground's frame in MJCF");
  if (c->m->joint_armature[c->m->joint_v[j]] > 0)
    sr_convert_lose(c, place, SR_LOSS_MOTION, sr_pool_printf(c->pool, "'armature' of joint '%s'", c->m->joint_name[j]),
                    "MuJoCo has it in the ground's axes, not in the body's; Sarrus's reader restores it");
}

int sr_mjcf_out_parts(srConvert* c, int b, srJointPart part[SR_PARTS], const double pose[16]) {
  const int j = c->m->body_joint[b], n = sr_convert_parts(c, j, part);
  tell_weld(c, b);
  if (part[0].type != SR_PART_FREE) return n;
  if (c->m->body_parent[b] != 0) return slides_and_ball(c, j, part);
  tell_free(c, j, pose);
  return n;
}

// -------------------------------------------------------------------------------------------------------- its elements
static void put_nonzero(srConvert* c, const char* word, double value) {
  if (value != 0) sr_xml_number(&c->xml, word, value);
}

// Of a hinge or a slide that has a native coordinate.
static void put_scalar(srMjcfOut* x, int j, const srJointPart* part) {
  srConvert* c = x->c;
  const int joint = c->joint[c->m->joint_body[j]];
  double limits[2], rest[6] = {0};
  put_nonzero(c, "stiffness", sr_convert_joint_number(c, j, SR_TAKE(srJointDef, stiffness), 0));
  const int n = sr_convert_numbers(c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, rest), rest, 6);
  put_nonzero(c, "springref", n > part->coordinate ? rest[part->coordinate] : 0);
  put_nonzero(c, "frictionloss", sr_convert_friction(c, j, part->coordinate));
  const double effort = c->m->joint_nv[j] == 1 ? sr_convert_joint_number(c, j, SR_TAKE(srJointDef, effort), 0) : 0;
  if (effort > 0) sr_xml_numbers(&c->xml, "actuatorfrcrange", (const double[]){-effort, effort}, 2);
  if (sr_convert_numbers(c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, limits), limits, 2) != 2) return;
  sr_xml_text(&c->xml, "limited", "true");
  sr_xml_numbers(&c->xml, "range", limits, 2);
  sr_mjcf_out_stop(x, j, part);
}

static void put_joint(srMjcfOut* x, int j, const srJointPart* part, const double frame[16]) {
  static const char* const words[] = {"", "hinge", "slide", "ball", "free"};
  srConvert* c = x->c;
  const bool scalar = part->type == SR_PART_HINGE || part->type == SR_PART_SLIDE;
  if (part->type == SR_PART_FIXED) return;
  sr_xml_begin(&c->xml, "joint");
  sr_xml_text(&c->xml, "name", part->name);
  sr_xml_text(&c->xml, "type", words[part->type]);
  if (scalar) {
    double axis[3];
    srm_pose_rotate(frame, part->axis, axis);
    if (frame[12] != 0 || frame[13] != 0 || frame[14] != 0) sr_xml_numbers(&c->xml, "pos", frame + 12, 3);
    sr_xml_numbers(&c->xml, "axis", axis, 3);
  }
  if (part->coordinate != SR_PART_FOLLOWS)
    put_nonzero(c, "damping", sr_convert_joint_number(c, j, SR_TAKE(srJointDef, damping), 0));
  if (part->coordinate >= 0)
    put_nonzero(c, "armature", sr_convert_joint_number(c, j, SR_TAKE(srJointDef, armature), 0));
  if (scalar && part->coordinate >= 0) put_scalar(x, j, part);
  sr_xml_end(&c->xml);
}

void sr_mjcf_out_joints(srMjcfOut* x, int j, const srJointPart* part, int n, const double frame[16]) {
  for (int k = 0; k < n; k++) put_joint(x, j, &part[k], frame);
  if (n == 2 && part[1].coordinate == SR_PART_FOLLOWS) {
    const srMjcfScrew screw = {part[0].name, part[1].name, part[1].pitch};
    SR_PUSH(x->c->pool, x->screws, x->nscrew, x->screw_capacity) = screw;
  }
}
