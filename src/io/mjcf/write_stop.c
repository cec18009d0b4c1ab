// MJCF out: the stops of limits, solreflimit. MJCF has their stiffness and damping by unit of inertia, of the one that the
// joint feels at q = 0 with all others free to move; so that is worked out here, of all joints at once.
#include "io/mjcf/felt.h"
#include "io/mjcf/write.h"
#include "io/xml/reader.h"
#include "math/pose.h"
#include "model/joint.h"

// A body at q = 0 in the frame of the ground: pose, mass, first moment, moments about the origin.
typedef struct Load {
  double pose[16];
  double m, h[3], I[9];
} Load;

// The joints' axes as parts of MJCF's joints, which the reader finds again.
typedef struct Tree {
  srMjcfOut* x;
  Load* load;        // of body b
  int* last;         // the axis that carries body b, -1: none
  srMjcfAxis* axes;  // up to six a body
  int n;
} Tree;

// Body b, whose parent has its pose.
static void weigh(Tree* t, int b) {
  srConvert* c = t->x->c;
  const srModel* m = c->m;
  Load* one = &t->load[b];
  double pose[16], com[3];
  sr_convert_joint_pose(c, b, pose);
  srm_pose_compose(t->load[m->body_parent[b]].pose, pose, one->pose);
  srm_pose_point(one->pose, m->body_com + 4 * b, com);
  srm_pose_rotate_tensor(one->pose, m->body_inertia + 9 * b, one->I);
  one->m = m->body_mass[b];
  for (int k = 0; k < 3; k++) one->h[k] = one->m * com[k];
  for (int k = 0; k < 9; k++) one->I[k] += one->m * ((k % 4 == 0 ? srm_dot3(com, com) : 0) - com[k / 3] * com[k % 3]);
}

// An axis of body b, in the frame of its joint.
static void add(Tree* t, int b, bool turns, const double axis[3], double armature) {
  srMjcfAxis* a = &t->axes[t->n];
  const double* pose = t->load[b].pose;
  double direction[3];
  srm_pose_rotate(pose, axis, direction);
  if (turns)
    sr_mjcf_axis_turn(a, direction, pose + 12);
  else
    sr_mjcf_axis_shift(a, direction);
  a->armature = armature;
  a->parent = t->last[b];
  t->last[b] = t->n++;
}

static void add_all(Tree* t, int b, bool turns, double armature) {
  static const double axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int k = 0; k < 3; k++) add(t, b, turns, axes + 3 * k, armature);
}

static void unit_axis(srConvert* c, int joint, int field, double axis[3]) {
  sr_convert_numbers(c, SR_ELEMENT_JOINT, joint, field, axis, 3);
  const double length = srm_norm3(axis);
  for (int k = 0; k < 3; k++) axis[k] /= length;
}

// As sr_mjcf_out_parts has them.
static void add_joint(Tree* t, int b) {
  srConvert* c = t->x->c;
  const srModel* m = c->m;
  const int j = m->body_joint[b], type = m->joint_type[j], joint = c->joint[b];
  const double armature = m->joint_nv[j] > 0 ? m->joint_armature[m->joint_v[j]] : 0;
  double axis[3] = {0, 0, 1}, second[3] = {0, 0, 1}, plane[16];
  if (type == SR_JOINT_FREE || type == SR_JOINT_BALL) {
    const double own = type == SR_JOINT_FREE && m->body_parent[b] != 0 ? 0 : armature;
    if (type == SR_JOINT_FREE) add_all(t, b, false, own);
    add_all(t, b, true, own);
    return;
  }
  if (m->joint_nv[j] == 0) return;
  unit_axis(c, joint, SR_TAKE(srJointDef, axis), axis);
  sr_frame_about(axis, plane);
  for (int k = 0; k < 2 && type == SR_JOINT_PLANAR; k++) add(t, b, false, plane + 4 * k, armature);
  if (type != SR_JOINT_PRISMATIC) add(t, b, true, axis, armature);
  if (type == SR_JOINT_PRISMATIC || type == SR_JOINT_CYLINDRICAL) add(t, b, false, axis, armature);
  if (type == SR_JOINT_HELICAL) add(t, b, false, axis, 0);
  if (type != SR_JOINT_UNIVERSAL) return;
  unit_axis(c, joint, SR_TAKE(srJointDef, axis2), second);
  add(t, b, true, second, armature);
}

// What the first axis of each joint feels, of body b.
static void feel(srMjcfOut* x) {
  const srModel* m = x->c->m;
  srPool* pool = x->c->pool;
  const size_t n = (size_t)m->nbody + 1;
  Tree t = {.x = x,
            .load = sr_pool_alloc(pool, n * sizeof *t.load),
            .last = sr_pool_alloc(pool, n * sizeof *t.last),
            .axes = sr_pool_alloc(pool, 6 * n * sizeof *t.axes)};
  int* first = sr_pool_alloc(pool, n * sizeof *first);
  double* felt = sr_pool_alloc(pool, 6 * n * sizeof *felt);
  x->felt = sr_pool_alloc(pool, n * sizeof *x->felt);
  srm_pose_identity(t.load[0].pose);
  t.last[0] = -1;
  for (int b = 1; b <= m->nbody; b++) {
    weigh(&t, b);
    t.last[b] = t.last[m->body_parent[b]];
    first[b] = t.n;
    add_joint(&t, b);
    const Load* l = &t.load[b];
    if (t.last[b] >= 0) sr_mjcf_axis_load(&t.axes[t.last[b]], l->m, l->h, l->I);
  }
  sr_mjcf_felt(t.n, t.axes, felt);
  for (int b = 1; b <= m->nbody; b++) x->felt[b] = felt[first[b]];
}

// A stop that the model gives numbers for, by unit of inertia: both are negative (limit.c). Others are MuJoCo's
// own: as stiff as ours they would be too much for its step.
void sr_mjcf_out_stop(srMjcfOut* x, int j, const srJointPart* part) {
  srConvert* c = x->c;
  const int joint = c->joint[c->m->joint_body[j]], stiffness = SR_TAKE(srJointDef, limit_stiffness);
  const int damping = SR_TAKE(srJointDef, limit_damping);
  const int law = SR_TAKE(srJointDef, limit_law), stop[] = {stiffness, damping, law};
  if (!x->felt) feel(x);
  const double I = x->felt[c->m->joint_body[j]];
  const bool given =
      sr_convert_given(c, SR_ELEMENT_JOINT, joint, stiffness) || sr_convert_given(c, SR_ELEMENT_JOINT, joint, damping);
  if (sr_convert_given(c, SR_ELEMENT_JOINT, joint, law)) {
    if (x->nlaw++ == 0) x->first_law = part->name;
    for (int k = 0; k < SR_COUNT(stop); k++) sr_convert_take(c, SR_ELEMENT_JOINT, joint, stop[k]);  // told once
    return;
  }
  if (!given || !(I > 0)) {
    if (x->nstop++ == 0) x->first_stop = part->name;
    return;
  }
  const double K = sr_convert_number(c, SR_ELEMENT_JOINT, joint, stiffness, 1e5);
  const double D = K * sr_convert_number(c, SR_ELEMENT_JOINT, joint, damping, 1) * SR_STOP_OVERSHOOT;
  sr_xml_numbers(&c->xml, "solreflimit", (const double[]){-K / I, 0 - D / I}, 2);
}
