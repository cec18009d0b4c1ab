// lambda.NAME.k: multipliers of the constraint equations that represent a joint between free bodies (absolute; penalty: its springs). In relative
// coordinates a joint has no equations, and these columns do not exist. Those of loop closures are columns of every run.
#include <string.h>

#include "record/kinds.h"

static int count(const srModel* m) { return m->njoint; }

static const char* name(const srModel* m, int i, srPool* pool) {
  (void)pool;
  return m->joint_implied[i] || m->joint_nv[i] == 6 ? NULL : m->joint_name[i];
}

static const srClosure* closure_of(const srModel* m, int joint) {
  for (int i = 0; i < m->nclosure; i++) {
    if (m->closure[i].joint == joint) return &m->closure[i];
  }
  return NULL;
}

static int members(const srModel* m, int i, srQuantityMember* out) {
  static const char* const digits[] = {"0", "1", "2", "3", "4", "5"};
  const srClosure* c = closure_of(m, i);
  const int n = 6 - m->joint_nv[i];
  for (int k = 0; k < n; k++) {
    const bool moment = c != NULL && strncmp(c->row_name[k], "rotation", 8) == 0;
    out[k] = (srQuantityMember){digits[k], moment ? "Nm" : "N"};
  }
  return n;
}

static const char* lacks(const srModel* m) {
  return m->absolute ? NULL : "exist in the formulations absolute and penalty only; reaction(NAME) exists in all";
}

static int fill(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out) {
  const srClosure* c = closure_of(r->m, group->index);
  (void)axes;
  if (c == NULL) return 1;
  const double* lambda = c->soft ? r->d->soft_lambda + 6 * (c - r->m->closure) : r->d->lambda + c->row;
  memcpy(out, lambda, (size_t)c->np * sizeof *out);
  return 0;
}

const srQuantityKind sr_quantity_multiplier = {
    .form = "lambda.NAME",
    .about = "multipliers of the equations of a joint (absolute and penalty)",
    .stage = SR_STAGE_ACCELERATION,
    .count = count,
    .name = name,
    .members = members,
    .lacks = lacks,
    .fill = fill,
};
