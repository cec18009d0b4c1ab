// MJCF out: <keyframe>, the initial state, in MuJoCo's order of coordinates, which is that of the joints in the file.
// It is written where it is not the one that MJCF starts from: qpos of the bodies as in the file, no
// velocity.
#include <math.h>
#include <string.h>

#include "io/mjcf/write.h"
#include "math/pose.h"

// A driver may have no value at the start (the square root of a negative number): 0 replaces it.
static double finite(double value) { return isfinite(value) ? value : 0; }

static void add(srMjcfOut* x, const double* q, int nq, const double* v, int nv) {
  for (int k = 0; k < nq; k++) SR_PUSH(x->c->pool, x->qpos, x->nqpos, x->qpos_capacity) = finite(q[k]);
  for (int k = 0; k < nv; k++) SR_PUSH(x->c->pool, x->qvel, x->nqvel, x->qvel_capacity) = finite(v[k]);
}

// A free joint as MuJoCo has it: pose and velocity in the ground's axes, then the angular velocity in the body's.
// `pose` is the joint's frame, on the ground; it becomes that of the body at the start. Elsewhere slides and a ball
// replace it.
static void free_start(srMjcfOut* x, const double* q, const double* v, bool top, double pose[16]) {
  double at[16], start[16], quaternion[4], velocity[3];
  srm_pose_identity(at);
  memcpy(at + 12, q, 3 * sizeof *q);
  srm_pose_from_quaternion(q + 3, at);
  memcpy(start, at, sizeof start);
  if (top) {
    srm_pose_compose(pose, at, start);
    memcpy(pose, start, sizeof start);
  }
  x->moved = x->moved || (!top && !srm_pose_is_identity(at));
  srm_quaternion_from_pose(start, quaternion);
  srm_pose_rotate(start, v + 3, velocity);
  add(x, start + 12, 3, velocity, 3);
  add(x, quaternion, 4, v, 3);
}

void sr_mjcf_out_start(srMjcfOut* x, int j, const srJointPart* part, int n, double pose[16]) {
  const srModel* m = x->c->m;
  const double *q = m->q0 + m->joint_q[j], *v = m->v0 + m->joint_v[j];
  const int joint = x->c->joint[m->joint_body[j]];
  if (joint >= 0) {
    sr_convert_take(x->c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, q));
    sr_convert_take(x->c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, v));
  }
  for (int k = 0; k < m->joint_nv[j]; k++) x->moved = x->moved || v[k] != 0;
  if (m->joint_type[j] == SR_JOINT_FREE) {
    free_start(x, q, v, part[0].type == SR_PART_FREE, pose);
    return;
  }
  for (int k = 0; k < m->joint_nq[j]; k++)
    x->moved = x->moved || q[k] != (m->joint_type[j] == SR_JOINT_BALL && k == 0 ? 1 : 0);
  add(x, q, m->joint_nq[j], v, m->joint_nv[j]);
  if (n != 2 || part[1].coordinate != SR_PART_FOLLOWS) return;
  const double advance = part[1].pitch * q[0], speed = part[1].pitch * v[0];
  add(x, &advance, 1, &speed, 1);
}

void sr_mjcf_out_key(srMjcfOut* x) {
  srConvert* c = x->c;
  if (!x->moved) return;
  sr_xml_begin(&c->xml, "keyframe");
  sr_xml_begin(&c->xml, "key");
  sr_xml_text(&c->xml, "name", "start");
  sr_xml_numbers(&c->xml, "qpos", x->qpos, x->nqpos);
  sr_xml_numbers(&c->xml, "qvel", x->qvel, x->nqvel);
  if (x->nact > 0) sr_xml_numbers(&c->xml, "act", x->act, x->nact);
  if (x->nctrl > 0) sr_xml_numbers(&c->xml, "ctrl", x->ctrl, x->nctrl);
  sr_xml_end(&c->xml);
  sr_xml_end(&c->xml);
  sr_convert_lose(c, (srPlace){0}, SR_LOSS_START, "the initial state",
                  "it is the key 'start', which has to be chosen (in Sarrus: --set key=0)");
}
