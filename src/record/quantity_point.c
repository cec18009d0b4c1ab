// point(NAME): motion of the frame of a body or of a point in the ground, in the axes of any frame.
//
//   x = A^T r,  v = A^T r',  a = A^T r'',  w = A^T omega,  alpha = A^T omega',  R_A = A^T R       A: the axes
//   roll, pitch, yaw: R = Rz(yaw) Ry(pitch) Rx(roll); at a pitch of a right angle the yaw is 0
#include <math.h>
#include <string.h>

#include "math/pose.h"
#include "record/kinds.h"

const srQuantityMember sr_frame_members[SR_FRAME_MEMBERS] = {
    {"x", "m"},
    {"y", "m"},
    {"z", "m"},
    {"vx", "m/s"},
    {"vy", "m/s"},
    {"vz", "m/s"},
    {"wx", "rad/s"},
    {"wy", "rad/s"},
    {"wz", "rad/s"},
    {"ax", "m/s^2"},
    {"ay", "m/s^2"},
    {"az", "m/s^2"},
    {"alphax", "rad/s^2"},
    {"alphay", "rad/s^2"},
    {"alphaz", "rad/s^2"},
    {"qw", ""},
    {"qx", ""},
    {"qy", ""},
    {"qz", ""},
    {"roll", "rad"},
    {"pitch", "rad"},
    {"yaw", "rad"},
};

#define GIMBAL 1e-12  // cosine of a pitch beyond which roll and yaw are one angle

static void put_angles(const double R[9], double* out) {
  const double cosine = hypot(R[0], R[3]);
  out[1] = atan2(-R[6], cosine);
  if (cosine > GIMBAL) {
    out[0] = atan2(R[7], R[8]);
    out[2] = atan2(R[3], R[0]);
  } else {
    out[0] = atan2(-R[5], R[4]);
    out[2] = 0;
  }
}

void sr_frame_values(const srFrameMotion* motion, double* out) {
  const double* parts[] = {motion->position, motion->velocity, motion->angular_velocity, motion->acceleration,
                           motion->angular_acceleration};
  for (int i = 0; i < SR_COUNT(parts); i++) memcpy(out + 3 * i, parts[i], 3 * sizeof *out);
  srm_quaternion_from_rows(motion->rotation, out + 15);
  put_angles(motion->rotation, out + 19);
}

static int count(const srModel* m) { return m->npoint; }

// Points that the compiler makes (of forces, shapes, joints) have a parenthesis in their name.
static const char* name(const srModel* m, int i, srPool* pool) {
  (void)pool;
  return strchr(m->point_name[i], '(') ? NULL : m->point_name[i];
}

static int members(const srModel* m, int i, srQuantityMember* out) {
  (void)m, (void)i;
  memcpy(out, sr_frame_members, sizeof sr_frame_members);
  return SR_FRAME_MEMBERS;
}

static int axes_of(const srModel* m, int i, srAxes which) {
  if (which == SR_AXES_DEFAULT) return 0;
  return which == SR_AXES_BODY ? i : m->body_parent[m->point_body[i]];
}

static int fill(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out) {
  srFrameMotion seen, turned;
  sr_frame_motion(r->m, r->d, group->index, 0, &seen);
  sr_record_rotate(axes, seen.position, turned.position);
  sr_record_rotate(axes, seen.velocity, turned.velocity);
  sr_record_rotate(axes, seen.angular_velocity, turned.angular_velocity);
  sr_record_rotate(axes, seen.acceleration, turned.acceleration);
  sr_record_rotate(axes, seen.angular_acceleration, turned.angular_acceleration);
  for (int k = 0; k < 3; k++) {
    const double column[3] = {seen.rotation[k], seen.rotation[3 + k], seen.rotation[6 + k]};
    double in[3];
    sr_record_rotate(axes, column, in);
    for (int i = 0; i < 3; i++) turned.rotation[3 * i + k] = in[i];
  }
  sr_frame_values(&turned, out);
  return 0;
}

const srQuantityKind sr_quantity_point = {
    .form = "point(NAME)",
    .about = "motion of the frame of a body or point in the ground; default axes: ground",
    .stage = SR_STAGE_FRAMES,
    .count = count,
    .name = name,
    .members = members,
    .axes = axes_of,
    .fill = fill,
};
