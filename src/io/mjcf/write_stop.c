// MJCF out: the stops of limits, solreflimit. MJCF has their stiffness and damping by unit of inertia, of the effective one of the
// joint at q = 0, which is MuJoCo's qpos0.
#include "io/mjcf/write.h"
#include "model/private.h"

// A stop that the model gives numbers for, by unit of inertia: both are negative (limit.c). Others are MuJoCo's
// own: as stiff as Sarrus's they would be too much for its step.
void sr_mjcf_out_stop(srMjcfOut* x, int j, const srJointPart* part) {
  srConvert* c = x->c;
  const int joint = c->joint[c->m->joint_body[j]], stiffness = SR_TAKE(srJointDef, limit_stiffness);
  const int damping = SR_TAKE(srJointDef, limit_damping);
  const int law = SR_TAKE(srJointDef, limit_law), stop[] = {stiffness, damping, law};
  const double I = c->m->priv->inertia_at_zero[c->m->joint_v[j]];
  const bool given =
      sr_convert_given(c, SR_ELEMENT_JOINT, joint, stiffness) || sr_convert_given(c, SR_ELEMENT_JOINT, joint, damping);
  if (sr_convert_given(c, SR_ELEMENT_JOINT, joint, law)) {
    if (x->nlaw++ == 0) x->first_law = part->name;
    for (int k = 0; k < SR_COUNT(stop); k++) sr_convert_take(c, SR_ELEMENT_JOINT, joint, stop[k]);  // reported once
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
