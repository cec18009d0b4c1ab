// Planar loops that a file gives to some digits only (rpy="1.5708 0 0"). Such a loop moves because its axes are parallel;
// where they are so up to 1e-6 rad, closures that hold all directions, taken at their word, leave it no motion at all. No
// file means that. The tree keeps its numbers; the closure constrains the motion in the plane, and nothing across:
//   pin, ball      two rows, a ball with a normal
//   fixed          these, and the angles of the joints, whose sum around the loop is constant
#include <math.h>
#include <string.h>

#include "io/urdf/urdf.h"
#include "math/pose.h"

#define SMALL 2e-3   // rad: "3.14" is off by 1.6e-3
#define OFFSET 1e-3  // m along the normal: more is meant, or wrong
#define ROUNDING 1e-13
#define FARTHEST 256  // joints of a loop

typedef struct Axis {
  double direction[3];  // in the root link, at the start
  bool slides;
  const srUrdfJoint* joint;  // NULL: of the closure
  int side;                  // 0: the joint is between the ancestor and the first link; 1: the second
} Axis;

typedef struct Plane {
  Axis axis[FARTHEST + 2];
  int n;
  int ancestor;  // the youngest link that carries both ends
  double normal[3];
  double worst;  // rad
} Plane;

// -------------------------------------------------------------------------------------------------------------- axes
// False: the loop is not planar, or too long.
static bool add_joints(const srUrdf* u, const srUrdfLoop* loop, Plane* p) {
  int at[2] = {loop->end[0].link, loop->end[1].link};
  while (at[0] != at[1]) {
    const int side = u->link[at[0]].depth >= u->link[at[1]].depth ? 0 : 1;
    const srUrdfJoint* joint = &u->joint[u->link[at[side]].joint];
    at[side] = joint->parent;
    if (joint->type == SR_URDF_FIXED) continue;
    if (!sr_urdf_scalar(joint) || p->n == FARTHEST) return false;
    Axis* axis = &p->axis[p->n++];
    *axis = (Axis){.joint = joint, .side = side, .slides = joint->type == SR_URDF_PRISMATIC};
    srm_pose_rotate(u->link[joint->child].pose, joint->axis, axis->direction);
  }
  p->ancestor = at[0];
  return true;
}

static void add_pins(const srUrdf* u, const srUrdfLoop* loop, Plane* p) {
  for (int k = 0; k < 2 && loop->axial; k++) {
    double frame[16];
    Axis* axis = &p->axis[p->n++];
    *axis = (Axis){.joint = NULL};
    sr_urdf_frame(u, &loop->end[k], frame);
    srm_pose_rotate(frame, loop->axis, axis->direction);
  }
}

static double angle_between(const double a[3], const double b[3]) {  // of lines: at most a right angle
  double across[3];
  srm_cross3(a, b, across);
  return atan2(srm_norm3(across), fabs(srm_dot3(a, b)));
}

// The axis that is nearest to the mean: most files have some that are exact. False: none turns.
static bool find_normal(Plane* p) {
  const Axis *first = NULL, *best = NULL;
  double mean[3] = {0}, least = HUGE_VAL;
  for (int i = 0; i < p->n; i++) {
    const Axis* a = &p->axis[i];
    if (a->slides) continue;
    if (!first) first = a;
    const double sign = srm_dot3(first->direction, a->direction) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++) mean[k] += sign * a->direction[k];
  }
  for (int i = 0; i < p->n; i++) {
    const double angle = p->axis[i].slides ? HUGE_VAL : angle_between(mean, p->axis[i].direction);
    if (angle < least) least = angle, best = &p->axis[i];
  }
  if (best) memcpy(p->normal, best->direction, sizeof p->normal);
  return best != NULL;
}

static bool find_plane(const srUrdf* u, const srUrdfLoop* loop, Plane* p) {
  if (!add_joints(u, loop, p)) return false;
  add_pins(u, loop, p);
  if (!find_normal(p)) return false;
  for (int i = 0; i < p->n; i++) {
    const Axis* a = &p->axis[i];
    const double off = a->slides ? fabs(asin(fmin(1, fabs(srm_dot3(a->direction, p->normal)))))
                                 : angle_between(p->normal, a->direction);
    p->worst = fmax(p->worst, off);
  }
  return p->worst <= SMALL;
}

// Whether what the closure holds across the plane is met at the start but for rounding. More is left to the closure as it
// is, which then reports that it cannot be closed. The pins of a closure are among the axes.
static bool fits_across(const srUrdf* u, const srUrdfLoop* loop, const Plane* p) {
  double frame[2][16], back[16], normal[2][3], across[3];
  for (int k = 0; k < 2; k++) {
    sr_urdf_frame(u, &loop->end[k], frame[k]);
    srm_pose_transpose(frame[k], back);
    srm_pose_rotate(back, p->normal, normal[k]);
  }
  const double offset = srm_dot3(frame[1] + 12, p->normal) - srm_dot3(frame[0] + 12, p->normal);
  srm_cross3(normal[0], normal[1], across);
  const double angle = atan2(srm_norm3(across), srm_dot3(normal[0], normal[1]));
  if (strcmp(loop->type, "cylindrical") != 0 && !(fabs(offset) <= OFFSET)) return false;
  return strcmp(loop->type, "weld") != 0 || angle <= SMALL;
}

// ------------------------------------------------------------------------------------------------------------- angles
// How far the second frame is turned against the first about the normal, at the start.
static double turned_by(const srUrdf* u, const srUrdfLoop* loop, const Plane* p) {
  double a[16], b[16], back[16], relative[16], R[9], quaternion[4], normal[3];
  sr_urdf_frame(u, &loop->end[0], a);
  sr_urdf_frame(u, &loop->end[1], b);
  srm_pose_transpose(a, back);
  srm_pose_compose(back, b, relative);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) R[3 * i + k] = relative[4 * k + i];
  srm_quaternion_from_rows(R, quaternion);
  srm_pose_rotate(back, p->normal, normal);
  return 2 * atan2(srm_dot3(quaternion + 1, normal), quaternion[0]);
}

static void write_angles(srUrdf* u, const srUrdfLoop* loop, const Plane* p) {
  srPool* pool = &u->r->pool;
  const srPlace place = loop->node->place;
  const char* sum = "";
  double start = -turned_by(u, loop, p);
  for (int i = 0; i < p->n; i++) {
    const Axis* a = &p->axis[i];
    if (!a->joint || a->slides) continue;
    const bool plus = (srm_dot3(a->direction, p->normal) > 0) == (a->side == 1);
    sum = sr_pool_printf(pool, "%s %s q(%s)", sum, plus ? "+" : "-", a->joint->name);
    start += (plus ? 1 : -1) * a->joint->start;
  }
  if (!*sum) return;  // nothing turns: the frames keep their angle
  const char* name = sr_pool_printf(pool, "%s-angle", loop->name);
  const srConstraintDef def = {.name = {.text = sr_reader_name(u->r, name, &u->constraints), .place = place},
                               .expr = sr_reader_word(u->r, place, "0%s - (%.17g)", sum, start)};
  sr_reader_add(u->r, SR_ELEMENT_CONSTRAINT, SR_NO_OWNER, &def, place);
}

// -------------------------------------------------------------------------------------------------------------- entry
void sr_urdf_flatten(srUrdf* u, srUrdfLoop* loop) {
  Plane* p = sr_pool_alloc(&u->r->pool, sizeof *p);
  double frame[16], back[16];
  const bool fixed = strcmp(loop->type, "weld") == 0;
  if (!find_plane(u, loop, p) || p->worst <= ROUNDING) return;
  if (!fixed && !sr_text_is_among(loop->type, "revolute|ball|cylindrical")) {
    sr_reader_warning(u->r, loop->node->place,
                      "the axes of this planar loop are off by %.2g rad, as rounded numbers leave it: it cannot move; "
                      "write them with more digits",
                      p->worst);
    return;
  }
  if (!fits_across(u, loop, p)) return;
  sr_reader_warning(u->r, loop->node->place,
                    "the axes of this planar loop are off by %.2g rad, as rounded numbers leave it: it is closed in "
                    "its plane alone, or it could not move",
                    p->worst);
  if (fixed) write_angles(u, loop, p);
  srm_pose_transpose(u->link[p->ancestor].pose, back);
  srm_pose_rotate(back, p->normal, loop->normal);
  sr_urdf_frame(u, &loop->end[0], frame);
  srm_pose_transpose(frame, back);
  srm_pose_rotate(back, p->normal, loop->axis);
  loop->type = "ball";
  loop->flat = true;
  loop->axial = false;
}
