// Joints for other programs: each as a chain of hinges, slides, balls and free joints, which all of them have; its axis,
// pose, names and dry friction. See convert.h.
#include <math.h>
#include <string.h>

#include "io/convert.h"
#include "io/xml/reader.h"
#include "math/pose.h"
#include "model/joint.h"

const char* sr_convert_joint_name(srConvert* x, int j) {
  const int joint = x->joint[x->m->joint_body[j]];
  if (joint >= 0) sr_convert_take(x, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, name));
  return x->m->joint_name[j];
}

static void unit(double axis[3]) {
  const double length = srm_norm3(axis);
  if (fabs(length - 1) < 4e-16) return;  // so that a file written once is written the same again
  for (int k = 0; k < 3; k++) axis[k] /= length;
}

static void axis_of(srConvert* x, int j, double axis[3]) {
  axis[0] = axis[1] = 0, axis[2] = 1;
  sr_convert_numbers(x, SR_ELEMENT_JOINT, x->joint[x->m->joint_body[j]], SR_TAKE(srJointDef, axis), axis, 3);
  unit(axis);
}

double sr_convert_joint_number(srConvert* x, int j, int field, double otherwise) {
  const int joint = x->joint[x->m->joint_body[j]];
  return joint < 0 ? otherwise : sr_convert_number(x, SR_ELEMENT_JOINT, joint, field, otherwise);
}

void sr_convert_joint_pose(srConvert* x, int b, double pose[16]) {
  srm_pose_identity(pose);
  if (x->joint[b] < 0) return;
  sr_convert_pose(x, SR_ELEMENT_JOINT, x->joint[b], SR_TAKE(srJointDef, at), SR_TAKE(srJointDef, rot),
                  SR_TAKE(srJointDef, rpy), pose);
}

static const char* coordinate_name(srConvert* x, int j, int k) {
  return sr_convert_name(x, &x->joint_names, "%s", x->m->v_name[x->m->joint_v[j] + k]);
}

// The chain of links that the kind expands to: a part each, with a coordinate of its own.
static int chain(srConvert* x, int j, srJointPart* out) {
  const srJointKind* kind = sr_joint_kind((srJointType)x->m->joint_type[j]);
  const int joint = x->joint[x->m->joint_body[j]];
  srJointIn in = {.has_axis2 = sr_convert_given(x, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, axis2))};
  axis_of(x, j, in.axis);
  if (in.has_axis2) {
    sr_convert_numbers(x, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, axis2), in.axis2, 3);
    unit(in.axis2);
  }
  srJointOut links;
  const char* problem = kind->expand(&in, &links);
  SR_ASSERT(!problem);  // the model is compiled
  (void)problem;
  for (int k = 0; k < kind->nlink; k++) {
    const srPartType type = links.type[k] == SR_LINK_PRISMATIC ? SR_PART_SLIDE : SR_PART_HINGE;
    out[k] = (srJointPart){.type = type, .name = coordinate_name(x, j, k), .coordinate = k};
    memcpy(out[k].axis, links.frame[k] + 8, sizeof out[k].axis);
  }
  return kind->nlink;
}

static int one(srConvert* x, int j, srJointPart* out, srPartType type) {
  out[0] = (srJointPart){.type = type, .name = sr_convert_joint_name(x, j), .axis = {0, 0, 1}};
  if (type == SR_PART_HINGE || type == SR_PART_SLIDE) axis_of(x, j, out[0].axis);
  return 1;
}

static int screw(srConvert* x, int j, srJointPart* out) {
  one(x, j, out, SR_PART_HINGE);
  out[1] = out[0];
  out[1].type = SR_PART_SLIDE;
  out[1].name = sr_convert_name(x, &x->joint_names, "%s.along", out[0].name);
  out[1].coordinate = SR_PART_FOLLOWS;
  out[1].pitch = sr_convert_number(x, SR_ELEMENT_JOINT, x->joint[x->m->joint_body[j]], SR_TAKE(srJointDef, pitch), 0);
  return 2;
}

int sr_convert_parts(srConvert* x, int j, srJointPart out[SR_PARTS]) {
  const int joint = x->joint[x->m->joint_body[j]];
  static const int report_if_unused[] = {SR_TAKE(srJointDef, type), SR_TAKE(srJointDef, name),
                                         SR_TAKE(srJointDef, axis), SR_TAKE(srJointDef, axis2),
                                         SR_TAKE(srJointDef, pitch)};
  for (int k = 0; joint >= 0 && k < SR_COUNT(report_if_unused); k++)
    sr_convert_take(x, SR_ELEMENT_JOINT, joint, report_if_unused[k]);
  if (joint >= 0 && x->m->joint_type[j] == SR_JOINT_WELD) sr_convert_take_all(x, SR_ELEMENT_JOINT, joint);
  switch ((srJointType)x->m->joint_type[j]) {
    case SR_JOINT_REVOLUTE: return one(x, j, out, SR_PART_HINGE);
    case SR_JOINT_PRISMATIC: return one(x, j, out, SR_PART_SLIDE);
    case SR_JOINT_HELICAL: return screw(x, j, out);
    case SR_JOINT_BALL: return one(x, j, out, SR_PART_BALL);
    case SR_JOINT_FREE: return one(x, j, out, SR_PART_FREE);
    case SR_JOINT_WELD: return one(x, j, out, SR_PART_FIXED);
    default: return chain(x, j, out);
  }
}

// ------------------------------------------------------------------------------------------------------------ friction
// As sr_reader_friction makes it: docs/robots/robots.md.
static bool is_readers_law(srConvert* x, int i, bool rotates) {
  const double F = sr_convert_number(x, SR_ELEMENT_FRICTION, i, SR_TAKE(srFrictionDef, F), 0);
  const srFrictionDef* def = srs_get(x->spec, SR_ELEMENT_FRICTION, i);
  const double K = F / (rotates ? SR_BRISTLE_ANGLE : SR_BRISTLE_LENGTH);
  return !def->law.text && !sr_given(def->Fk) && def->K.n == 1 && def->K.number == K && def->B.n == 1 &&
         def->B.number == SR_BRISTLE_TIME * K;
}

double sr_convert_friction(srConvert* x, int j, int coordinate) {
  const srModel* m = x->m;
  for (int i = x->friction[j]; i >= 0; i = x->next_friction[i]) {
    const srFrictionDef* def = srs_get(x->spec, SR_ELEMENT_FRICTION, i);
    if ((def->coordinate.n > 0 ? (int)def->coordinate.number : 0) != coordinate) continue;
    sr_convert_take(x, SR_ELEMENT_FRICTION, i, SR_TAKE(srFrictionDef, joint));
    sr_convert_take(x, SR_ELEMENT_FRICTION, i, SR_TAKE(srFrictionDef, coordinate));
    const bool rotates = m->link_type[m->dof_link[m->joint_v[j] + coordinate]] != SR_LINK_PRISMATIC;
    if (is_readers_law(x, i, rotates)) {
      sr_convert_take(x, SR_ELEMENT_FRICTION, i, SR_TAKE(srFrictionDef, K));
      sr_convert_take(x, SR_ELEMENT_FRICTION, i, SR_TAKE(srFrictionDef, B));
    }
    return sr_convert_number(x, SR_ELEMENT_FRICTION, i, SR_TAKE(srFrictionDef, F), 0);  // a second one is lost
  }
  return 0;
}
