// MJCF out: the stops of limits, solreflimit. MJCF has their stiffness and damping by unit of inertia, of the joint
// with all that it carries at q = 0; so that is added up here.
#include "io/mjcf_write.h"
#include "io/reader.h"
#include "math/dense.h"
#include "math/pose.h"

// All that a body carries at q = 0, in the frame of the ground: mass, first moment, moments about the origin.
typedef struct srMjcfLoad {
  double pose[16];
  double m, h[3], I[9];
} srMjcfLoad;

// Of body b alone, whose parent has its pose.
static void weigh(srMjcfOut* x, int b) {
  const srModel* m = x->c->m;
  srMjcfLoad* one = &x->load[b];
  double pose[16], c[3];
  sr_convert_joint_pose(x->c, b, pose);
  srm_pose_compose(x->load[m->body_parent[b]].pose, pose, one->pose);
  srm_pose_point(one->pose, m->body_com + 4 * b, c);
  srm_pose_rotate_tensor(one->pose, m->body_inertia + 9 * b, one->I);
  one->m = m->body_mass[b];
  for (int k = 0; k < 3; k++) one->h[k] = one->m * c[k];
  for (int k = 0; k < 9; k++) one->I[k] += one->m * ((k % 4 == 0 ? srm_dot3(c, c) : 0) - c[k / 3] * c[k % 3]);
}

static void add_up(srMjcfOut* x) {
  const srModel* m = x->c->m;
  srMjcfLoad* all = x->load = sr_pool_alloc(x->c->pool, (size_t)(m->nbody + 1) * sizeof *all);
  srm_pose_identity(all[0].pose);
  for (int b = 1; b <= m->nbody; b++) weigh(x, b);
  for (int b = m->nbody; b > 0; b--) {
    srMjcfLoad* parent = &all[m->body_parent[b]];
    parent->m += all[b].m;
    for (int k = 0; k < 3; k++) parent->h[k] += all[b].h[k];
    for (int k = 0; k < 9; k++) parent->I[k] += all[b].I[k];
  }
}

// Inertia of a hinge or slide with all behind it: M_jj, as our reader works it out (mjcf_reflect.c).
static double carried(srMjcfOut* x, int j, const srJointPart* part) {
  if (!x->load) add_up(x);
  const srMjcfLoad* l = &x->load[x->c->m->joint_body[j]];
  double w[3], v[3], L[3], hv[3];
  const double armature = sr_mjcf_out_joint_number(x->c, j, SR_TAKE(srJointDef, armature));
  if (part->type == SR_PART_SLIDE) return l->m + armature;
  srm_pose_rotate(l->pose, part->axis, w);
  srm_cross3(l->pose + 12, w, v);
  srm_cross3(l->h, v, hv);
  for (int k = 0; k < 3; k++) L[k] = srm_dot3(l->I + 3 * k, w) + 2 * hv[k];
  return srm_dot3(w, L) + l->m * srm_dot3(v, v) + armature;
}

// A stop that the model gives numbers for, by unit of inertia: both are negative (mjcf_limit.c). Others are MuJoCo's
// own: as stiff as ours they would be too much for its step.
void sr_mjcf_out_stop(srMjcfOut* x, int j, const srJointPart* part) {
  srConvert* c = x->c;
  const int joint = c->joint[c->m->joint_body[j]], stiffness = SR_TAKE(srJointDef, limit_stiffness);
  const int damping = SR_TAKE(srJointDef, limit_damping);
  const double I = carried(x, j, part);
  const bool given =
      sr_convert_given(c, SR_ELEMENT_JOINT, joint, stiffness) || sr_convert_given(c, SR_ELEMENT_JOINT, joint, damping);
  if (!given || !(I > 0) || sr_convert_given(c, SR_ELEMENT_JOINT, joint, SR_TAKE(srJointDef, limit_law))) {
    if (x->nstop++ == 0) x->first_stop = part->name;
    return;
  }
  const double K = sr_convert_number(c, SR_ELEMENT_JOINT, joint, stiffness, 1e5);
  const double D = K * sr_convert_number(c, SR_ELEMENT_JOINT, joint, damping, 1) * SR_STOP_OVERSHOOT;
  sr_xml_numbers(&c->xml, "solreflimit", (const double[]){-K / I, -D / I}, 2);
}
