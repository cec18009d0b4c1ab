// Values of the recorded columns at one state: each object is computed once, and its members are distributed to their columns.
#include "record/recorder.h"

#include <math.h>

#include "dynamics/link.h"
#include "math/pose.h"
#include "record/kinds.h"

void sr_record_rotate(const double axes[16], const double* u, double* out) {
  for (int i = 0; i < 3; i++) out[i] = srm_dot3(axes + 4 * i, u);
}

const double* sr_recorder_accelerations(srRecorder* r) {
  if (!r->has_acceleration) sr_joint_accelerations(r->m, r->d, r->acceleration);
  r->has_acceleration = true;
  return r->acceleration;
}

const double* sr_recorder_reactions(srRecorder* r) {
  if (!r->has_reaction) r->reaction_answer = sr_reactions(r->m, r->d, r->reaction);
  r->has_reaction = true;
  return r->reaction_answer == 0 ? r->reaction : NULL;
}

double sr_recorder_work(const srRecorder* r, const srRecordGroup* group) {
  return r->w != NULL && group->meter >= 0 ? r->w[SR_ACCOUNTS + r->first_meter + group->meter] : (double)NAN;
}

static void fill_group(srRecorder* r, const srRecordGroup* group, double* out) {
  double axes[16], value[SR_MEMBERS_MOST];
  if (group->frame >= 0) sr_point_frame(r->m, r->d, group->frame, axes);
  const bool known = r->d->stage >= group->kind->stage && group->kind->fill(r, group, axes, value) == 0;
  for (int k = 0; k < group->n; k++) out[k] = known ? value[group->member[k]] : (double)NAN;
}

void sr_recorder_row(srRecorder* r, srData* d, const double* w, double* out) {
  r->d = d;
  r->w = w;
  r->has_acceleration = r->has_reaction = false;
  for (int i = 0; i < r->ngroup; i++) {
    fill_group(r, &r->group[i], out);
    out += r->group[i].n;
  }
}
