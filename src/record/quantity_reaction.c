// reaction(NAME): what a joint or a loop closure transmits.
//
// Joint: force and torque on the body by its parent, drives and springs of the joint included; the torque about the origin of the body's
// frame. Loop closure: those of frame a on frame b (a roll: of the surface on the wheel), the torque about the origin of that frame.
// f and t are the magnitudes. Default axes: of the body, or of the frame.
#include <math.h>

#include "math/pose.h"
#include "record/kinds.h"

static const srClosure* closure_of(const srModel* m, int i) {
  return i < m->njoint ? NULL : &m->closure[i - m->njoint];
}

static int count(const srModel* m) { return m->njoint + m->nclosure; }

static const char* name(const srModel* m, int i, srPool* pool) {
  (void)pool;
  const srClosure* c = closure_of(m, i);
  if (c == NULL) return m->joint_implied[i] ? NULL : m->joint_name[i];
  return c->joint >= 0 ? NULL : c->name;  // one that represents a joint: the joint has the name
}

static int members(const srModel* m, int i, srQuantityMember* out) {
  static const char* const words[] = {"fx", "fy", "fz", "f", "tx", "ty", "tz", "t"};
  (void)m, (void)i;
  for (int k = 0; k < SR_COUNT(words); k++) out[k] = (srQuantityMember){words[k], k < 4 ? "N" : "Nm"};
  return SR_COUNT(words);
}

static int axes_of(const srModel* m, int i, srAxes which) {
  const srClosure* c = closure_of(m, i);
  if (c != NULL) return which == SR_AXES_PARENT ? c->point[0] : c->point[1];
  return which == SR_AXES_PARENT ? m->body_parent[m->joint_body[i]] : m->joint_body[i];
}

// Moment and force in ground axes.
static int wrench_of(srRecorder* r, int i, double wrench[6]) {
  if (closure_of(r->m, i) != NULL) return sr_closure_reaction(r->m, r->d, i - r->m->njoint, wrench);
  const double* all = sr_recorder_reactions(r);
  if (all == NULL) return 1;
  double body[16];
  const double* pose = r->d->link_pose + 16 * r->m->point_link[r->m->joint_body[i]];
  srm_pose_compose(pose, r->m->point_pose + 16 * r->m->joint_body[i], body);
  srm_pose_rotate(body, all + 6 * i, wrench);
  srm_pose_rotate(body, all + 6 * i + 3, wrench + 3);
  return 0;
}

static int fill(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out) {
  double wrench[6];
  const int answer = wrench_of(r, group->index, wrench);
  if (answer != 0) return answer;
  sr_record_rotate(axes, wrench + 3, out);
  sr_record_rotate(axes, wrench, out + 4);
  out[3] = srm_norm3(out);
  out[7] = srm_norm3(out + 4);
  return 0;
}

const srQuantityKind sr_quantity_reaction = {
    .form = "reaction(NAME)",
    .about = "force and torque of a joint on its body, of a loop closure on frame b; default axes: the body's",
    .stage = SR_STAGE_FRAMES,
    .count = count,
    .name = name,
    .members = members,
    .axes = axes_of,
    .fill = fill,
};
