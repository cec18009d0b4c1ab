// force(NAME): what a force element exerts, and the motion that it depends on. Contacts have a kind of their own.
//
//   on a joint coordinate   f; x, v: coordinate and rate
//   between two points      f > 0 pushes apart; z, zdot: distance and rate; fx fy fz on b (on a the opposite)
//   at a point              fx fy fz, tx ty tz on the body at the point
//   between two frames      fx fy fz, tx ty tz on b about its origin; dx dy dz, rx ry rz: displacement and rotation vector of b observed
//                           from a, in the axes of a
//   all                     power given to the motion, work: its integral; energy stored, and dissipation, of laws that store energy
// Default axes of vectors: ground; between two frames those of a.
#include <string.h>

#include "force/force.h"
#include "force/ports.h"
#include "math/pose.h"
#include "record/kinds.h"

static int count(const srModel* m) { return m->nforce; }

static bool is_contact(const srForceElement* e) { return e->contact != NULL && e->contact->law != NULL; }

static const char* name(const srModel* m, int i, srPool* pool) {
  (void)pool;
  return is_contact(&m->force[i]) ? NULL : m->force[i].name;
}

static int add(srQuantityMember* out, int n, const char* const* words, int count_of, const char* unit) {
  for (int k = 0; k < count_of; k++) out[n + k] = (srQuantityMember){words[k], unit};
  return n + count_of;
}

static const char *const force_words[] = {"fx", "fy", "fz"}, *const torque_words[] = {"tx", "ty", "tz"};

static int joint_members(const srModel* m, const srForceElement* e, srQuantityMember* out) {
  const bool length = strcmp(m->v_unit[e->dof], "m/s") == 0;
  out[0] = (srQuantityMember){"f", length ? "N" : "Nm"};
  out[1] = (srQuantityMember){"x", length ? "m" : "rad"};
  out[2] = (srQuantityMember){"v", m->v_unit[e->dof]};
  return 3;
}

static int distance_members(srQuantityMember* out) {
  out[0] = (srQuantityMember){"f", "N"};
  out[1] = (srQuantityMember){"z", "m"};
  out[2] = (srQuantityMember){"zdot", "m/s"};
  return add(out, 3, force_words, 3, "N");
}

static int frames_members(srQuantityMember* out) {
  static const char *const displacement[] = {"dx", "dy", "dz"}, *const rotation[] = {"rx", "ry", "rz"};
  int n = add(out, 0, force_words, 3, "N");
  n = add(out, n, torque_words, 3, "Nm");
  n = add(out, n, displacement, 3, "m");
  return add(out, n, rotation, 3, "rad");
}

static int members(const srModel* m, int i, srQuantityMember* out) {
  const srForceElement* e = &m->force[i];
  int n = 0;
  switch (e->law->port) {
    case SR_PORT_JOINT: n = joint_members(m, e, out); break;
    case SR_PORT_DISTANCE: n = distance_members(out); break;
    case SR_PORT_POINT: n = add(out, add(out, 0, force_words, 3, "N"), torque_words, 3, "Nm"); break;
    case SR_PORT_FRAMES: n = frames_members(out); break;
    case SR_PORT_GAP: break;  // of contacts alone
  }
  out[n++] = (srQuantityMember){"power", "W"};
  out[n++] = (srQuantityMember){"work", "J"};
  if (e->law->energy == NULL) return n;
  out[n++] = (srQuantityMember){"energy", "J"};
  out[n++] = (srQuantityMember){"dissipation", "W"};
  return n;
}

static int axes_of(const srModel* m, int i, srAxes which) {
  const srForceElement* e = &m->force[i];
  const bool two = e->law->port == SR_PORT_FRAMES || e->law->port == SR_PORT_DISTANCE;
  if (e->law->port == SR_PORT_JOINT) return -1;
  if (which == SR_AXES_DEFAULT) return e->law->port == SR_PORT_FRAMES ? e->point[0] : 0;
  if (which == SR_AXES_BODY) return two ? e->point[1] : e->point[0];
  return two ? e->point[0] : m->body_parent[m->point_body[e->point[0]]];
}

static bool meter(const srModel* m, int i, const char* member, srMeter* out) {
  (void)m;
  *out = sr_meter_of_element(i);
  return strcmp(member, "work") == 0;
}

// The vectors of a port in the axes.
static int put_vectors(const srForceElement* e, const srPortMotion* motion, const double* f, const double axes[16],
                       double* out) {
  double moment[3], force[3];
  if (e->law->port == SR_PORT_DISTANCE) {
    out[0] = f[0];
    out[1] = motion->x[0];
    out[2] = motion->xdot[0];
    for (int k = 0; k < 3; k++) force[k] = f[0] * motion->direction[k];
    sr_record_rotate(axes, force, out + 3);
    return 6;
  }
  if (e->law->port == SR_PORT_POINT) {
    sr_record_rotate(axes, f + 3, out);
    sr_record_rotate(axes, f, out + 3);
    return 6;
  }
  srm_pose_rotate(motion->axes, f, moment);
  srm_pose_rotate(motion->axes, f + 3, force);
  sr_record_rotate(axes, force, out);
  sr_record_rotate(axes, moment, out + 3);
  memcpy(out + 6, motion->x + 3, 3 * sizeof *out);
  memcpy(out + 9, motion->x, 3 * sizeof *out);
  return 12;
}

// Set-valued friction is not what its law gives at this motion: at rest it is any force within its limit.
static void put_found(const srRecorder* r, int i, const srPortMotion* motion, srElementForce* x) {
  x->f[0] = r->d->friction_force[i];
  x->power = x->f[0] * motion->xdot[0];
  x->dissipated = x->friction_dissipation = -x->power;
}

static int fill(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out) {
  const srForceElement* e = &r->m->force[group->index];
  srPortMotion motion;
  srElementForce x;
  const int answer = sr_element_force(r->m, r->d, e, &motion, &x);
  if (answer != 0) return answer;
  if (r->d->friction_force != NULL && sr_is_set_valued(e)) put_found(r, group->index, &motion, &x);
  int n = 3;
  if (e->law->port == SR_PORT_JOINT) {
    out[0] = x.f[0];
    out[1] = motion.x[0];
    out[2] = motion.xdot[0];
  } else {
    n = put_vectors(e, &motion, x.f, axes, out);
  }
  out[n++] = x.power;
  out[n++] = sr_recorder_work(r, group);
  if (e->law->energy == NULL) return 0;
  out[n++] = x.energy;
  out[n++] = x.dissipated;
  return 0;
}

const srQuantityKind sr_quantity_force = {
    .form = "force(NAME)",
    .about =
        "force element: force, motion, power, stored energy, dissipation; default axes: ground, of bushings frame a",
    .stage = SR_STAGE_FORCE,
    .count = count,
    .name = name,
    .members = members,
    .axes = axes_of,
    .meter = meter,
    .fill = fill,
};
