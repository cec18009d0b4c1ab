// A spec that starts with its loops closed: for programs that start from the state of a file as it is.
#include <math.h>
#include <sarrus/analysis.h>
#include <stddef.h>

#define FIELD(member) ((int)(offsetof(srJointDef, member) / sizeof(srAttr)))

static srAttr list(const double* values, int n) { return (srAttr){.numbers = values, .n = n}; }

// q and v of the joints of the spec; an implied free joint stays where it is.
static bool put_state(srSpec* spec, const srModel* m, const srData* d) {
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_JOINT); i++) {
    const srBodyDef* body = srs_get(spec, SR_ELEMENT_BODY, srs_owner(spec, SR_ELEMENT_JOINT, i));
    const int j = m->body_joint[sr_body_find(m, body->name.text)];
    if (m->joint_nv[j] == 0) continue;
    if (!srs_set(spec, SR_ELEMENT_JOINT, i, FIELD(q), list(d->q + m->joint_q[j], m->joint_nq[j])) ||
        !srs_set(spec, SR_ELEMENT_JOINT, i, FIELD(v), list(d->v + m->joint_v[j], m->joint_nv[j])))
      return false;
  }
  return true;
}

static bool is_finite_state(const srModel* m, const srData* d) {
  for (int i = 0; i < m->nq; i++)
    if (!isfinite(d->q[i])) return false;
  for (int i = 0; i < m->nv; i++)
    if (!isfinite(d->v[i])) return false;
  return true;
}

srStatus sr_assembled_spec(const srSpec* spec, srMessages* messages, srSpec** out) {
  srModel* m = NULL;
  *out = NULL;
  srStatus status = sr_compile(spec, messages, &m);
  if (status != SR_OK) return status;
  srSpec* copy = srs_copy(spec);
  srData* d = sr_data_create(m);
  status = copy && d ? SR_OK : SR_MEMORY;
  if (status == SR_OK && m->constrained) status = sr_assemble(m, d, messages, NULL);
  if (status == SR_OK && !is_finite_state(m, d)) {  // loops of numbers that overflow
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "the loops cannot be closed: the start is not finite");
    status = SR_FAILED;
  }
  if (status == SR_OK && m->constrained && !put_state(copy, m, d)) status = SR_MEMORY;
  if (status == SR_OK)
    *out = copy;
  else
    srs_destroy(copy);
  sr_data_destroy(d);
  sr_model_destroy(m);
  return status;
}
