// MJCF's joints. Several joints of a body are a native chain: a body without mass for each but the last. The frame of
// our joint is at MJCF's anchor and has the axes of the MJCF body, turned or moved back by `ref`, so that our q is
// MuJoCo's qpos. Source: MuJoCo's XML reference, "joint", and its computation page, "Kinematic tree".
#include <math.h>
#include <string.h>

#include "io/mjcf/law.h"
#include "io/mjcf/mjcf.h"
#include "io/mjcf/words.h"
#include "math/pose.h"

static const char* const types[] = {"free", "ball", "slide", "hinge"};  // in the order of srMjcfJointType
static const char* const our_types[] = {"free", "ball", "prismatic", "revolute"};
static const int nq[] = {7, 4, 1, 1}, nv[] = {6, 3, 1, 1};

typedef struct Joint {
  srMjcfJoint base;
  double anchor[3], axis[3];
  srMjcfPassive passive;
  double friction, limits[2];
  double effort;  // larger end of actuatorfrcrange; the actuators' own limits are in their laws
  bool limited;
} Joint;

static srMjcfJointType type_of(srMjcf* m, const srMjcfInside* x) {
  if (strcmp(x->node->name, "freejoint") == 0) return SR_MJCF_FREE;
  const srXmlAttribute* a = sr_mjcf_attribute(m, x->node, x->childclass, "type");
  return (srMjcfJointType)sr_mjcf_choice(m, a, types, 4, SR_MJCF_HINGE);
}

static void read_limits(srMjcf* m, const srMjcfInside* x, Joint* j) {
  static const char* const words[] = {"false", "true", "auto"};
  const srXmlAttribute* range = sr_mjcf_attribute(m, x->node, x->childclass, "range");
  const srXmlAttribute* limited = sr_mjcf_attribute(m, x->node, x->childclass, "limited");
  const int choice = sr_mjcf_choice(m, limited, words, 3, 2);
  double given[2] = {0};
  if (range && sr_mjcf_values(m, range, 2, 2, given) < 0) return;
  if (choice == 2 && !sr_mjcf_compiler_of(m, x->node)->autolimits && (given[0] != 0 || given[1] != 0)) {
    sr_mjcf_error(m, range->place, "'range' needs 'limited', for the compiler's autolimits is false");
    return;
  }
  if (choice == 2 && given[0] > given[1]) sr_reader_ignore(m->r, range->place, "'range' of <joint> that does not rise");
  if (choice == 0 || (choice == 2 && given[0] >= given[1])) return;
  if (j->base.type == SR_MJCF_FREE || j->base.type == SR_MJCF_BALL) {
    if (range) sr_reader_ignore(m->r, range->place, "'range' of a %s joint", types[j->base.type]);
    return;
  }
  if (given[0] >= given[1]) {
    sr_mjcf_error(m, range ? range->place : limited->place, "the 'range' of a limited joint must rise, got %g %g",
                  given[0], given[1]);
    return;
  }
  j->limited = true;
  for (int k = 0; k < 2; k++)
    j->limits[k] = j->base.type == SR_MJCF_HINGE ? sr_mjcf_angle(m, x->node, given[k]) : given[k];
  memcpy(j->base.range, j->limits, sizeof j->limits);
}

// Up to n numbers, the first of which must not be negative.
static void not_negative(srMjcf* m, const srMjcfInside* x, const char* name, int n, double* out) {
  sr_mjcf_numbers(m, x->node, x->childclass, name, 1, n, out);
  if (*out < 0) {
    sr_mjcf_error(m, sr_mjcf_attribute(m, x->node, x->childclass, name)->place, "'%s' must not be negative, got %g",
                  name, *out);
    *out = 0;
  }
}

static void read_axis(srMjcf* m, const srMjcfInside* x, Joint* j) {
  double axis[3] = {0, 0, 1}, anchor[3] = {0};
  sr_mjcf_numbers(m, x->node, x->childclass, "axis", 3, 3, axis);
  sr_mjcf_numbers(m, x->node, x->childclass, "pos", 3, 3, anchor);
  const double length = srm_norm3(axis);
  if (!(length > 1e-14 && isfinite(length))) {
    sr_mjcf_error(m, sr_mjcf_attribute(m, x->node, x->childclass, "axis")->place,
                  "the axis of a joint must have a direction; its length is %g", length);
    return;
  }
  for (int k = 0; k < 3; k++) axis[k] /= length;
  srm_pose_rotate(x->frame, axis, j->axis);
  srm_pose_point(x->frame, anchor, j->anchor);
}

// Attributes of hinges, slides and ball joints; a <freejoint> has none, of its own or by defaults.
static void read_values(srMjcf* m, const srMjcfInside* x, Joint* j) {
  const bool scalar = j->base.type == SR_MJCF_HINGE || j->base.type == SR_MJCF_SLIDE;
  srMjcfPassive* p = &j->passive;
  not_negative(m, x, "stiffness", 3, p->stiffness);
  not_negative(m, x, "damping", 3, p->damping);
  not_negative(m, x, "armature", 1, &p->armature);
  not_negative(m, x, "frictionloss", 1, &j->friction);
  read_limits(m, x, j);
  if (j->base.type != SR_MJCF_FREE) read_axis(m, x, j);  // a free joint is at the body's origin
  if (scalar) {
    double range[2] = {0};
    const srXmlAttribute* flag = sr_mjcf_attribute(m, x->node, x->childclass, "actuatorfrclimited");
    sr_mjcf_numbers(m, x->node, x->childclass, "actuatorfrcrange", 2, 2, range);
    if (!flag || strcmp(flag->value, "false") != 0) j->effort = fmax(fabs(range[0]), fabs(range[1]));
    sr_mjcf_number(m, x->node, x->childclass, "ref", 0, &j->base.ref);
    sr_mjcf_number(m, x->node, x->childclass, "springref", 0, &p->rest);
  }
  if (j->base.type == SR_MJCF_HINGE) {
    j->base.ref = sr_mjcf_angle(m, x->node, j->base.ref);
    p->rest = sr_mjcf_angle(m, x->node, p->rest);
  }
  if (!m->with_limits) j->limited = false;
  if (!m->with_friction) j->friction = 0;
  if (!m->with_springs) memset(p->stiffness, 0, sizeof p->stiffness);
  if (!m->with_dampers) memset(p->damping, 0, sizeof p->damping);
  if (j->base.type == SR_MJCF_FREE && j->friction > 0) {
    sr_reader_ignore(m->r, j->base.place, "'frictionloss' of a free joint");
    j->friction = 0;
  }
}

static Joint read_joint(srMjcf* m, int body, const srMjcfInside* x) {
  const srXmlAttribute* name = sr_xml_attribute(x->node, "name");
  Joint j = {.base = {.body = body, .place = x->node->place, .node = x->node, .childclass = x->childclass}};
  sr_mjcf_check_own_words(m, x->node);
  sr_mjcf_check_class(m, x->node, "class");
  j.base.type = type_of(m, x);
  j.base.word = name && *name->value ? name->value : NULL;
  j.base.name = sr_mjcf_our_name(m, &m->given_joints, j.base.word);
  if (!j.base.name) j.base.name = sr_reader_name(m->r, m->body[body].name, &m->joints);
  if (strcmp(x->node->name, "joint") == 0) read_values(m, x, &j);
  return j;
}

// ----------------------------------------------------------------------------------------------------------- the spec
typedef struct Ends {  // of a joint: native bodies
  const char *parent, *body;
  int parent_index, index;
} Ends;

static int add_body(srMjcf* m, const char* name, const char* parent, srPlace place) {
  const srBodyDef def = {.name = {.text = name, .place = place}, .parent = {.text = parent, .place = place}};
  return sr_reader_add(m->r, SR_ELEMENT_BODY, SR_NO_OWNER, &def, place);
}

// Where the joint's own coordinate is zero, seen from where it is `ref`.
static void move_back(const Joint* j, double pose[16]) {
  srm_pose_identity(pose);
  if (j->base.type == SR_MJCF_HINGE && j->base.ref != 0) sr_mjcf_turn(j->axis, -j->base.ref, pose);
  for (int k = 0; k < 3 && j->base.type == SR_MJCF_SLIDE; k++) pose[12 + k] = -j->base.ref * j->axis[k];
}

// A free joint's coordinates are the pose in the ground frame.
static srAttr free_position(srMjcf* m, const double pose[16], srPlace place) {
  double q[7];
  memcpy(q, pose + 12, 3 * sizeof *q);
  srm_quaternion_from_pose(pose, q + 3);
  return sr_reader_list(m->r, q, 7, place);
}

// The spring of a ball or free joint: its moment is -stiffness times the rotation vector from its initial orientation, a
// bushing's whose stiffness is the same about all axes; of a free joint so is the force.
static void add_spring(srMjcf* m, const Ends* ends, const Joint* j, const double frame[16]) {
  const srPlace place = j->base.place;
  const double k = j->passive.stiffness[0], along = j->base.type == SR_MJCF_FREE ? k : 0;
  const char* name = sr_reader_name(m->r, sr_pool_printf(&m->r->pool, "%s.spring", j->base.name), &m->points);
  srPointDef point = {.name = {.text = name, .place = place}};
  sr_reader_pose(m->r, frame, place, &point.at, &point.rot);
  sr_reader_add(m->r, SR_ELEMENT_POINT, ends->parent_index, &point, place);
  const double six[] = {k, k, k, along, along, along};
  const srBushingDef def = {.a = sr_reader_word(m->r, place, "%s/%s", ends->parent, name),
                            .b = {.text = ends->body, .place = place},
                            .stiffness = sr_reader_list(m->r, six, 6, place)};
  sr_reader_add(m->r, SR_ELEMENT_BUSHING, SR_NO_OWNER, &def, place);
}

static void add_joint(srMjcf* m, const Ends* ends, Joint* j, const double frame[16]) {
  const bool scalar = j->base.type == SR_MJCF_HINGE || j->base.type == SR_MJCF_SLIDE;
  const srPlace place = j->base.place;
  const srMjcfPassive* p = &j->passive;
  srReader* r = m->r;
  double back[16], pose[16];
  srJointDef def = {.name = {.text = j->base.name, .place = place}, .type = {.text = our_types[j->base.type]}};
  move_back(j, back);
  srm_pose_compose(frame, back, pose);
  if (j->base.type == SR_MJCF_FREE)
    def.q = free_position(m, frame, place);
  else
    sr_reader_pose(r, pose, place, &def.at, &def.rot);
  if (scalar) {
    def.axis = sr_reader_list(r, j->axis, 3, place);
    if (j->base.ref != 0) def.q = def.reference = sr_reader_one(j->base.ref, place);
  }
  if (scalar && p->stiffness[0] > 0) def.stiffness = sr_reader_one(p->stiffness[0], place);
  if (scalar && p->stiffness[0] > 0 && p->rest != 0) def.rest = sr_reader_one(p->rest, place);
  if (p->damping[0] > 0) def.damping = sr_reader_one(p->damping[0], place);
  if (p->armature > 0) def.armature = sr_reader_one(p->armature, place);
  if (j->limited) def.limits = sr_reader_list(r, j->limits, 2, place);
  if (scalar && j->effort > 0) def.effort = sr_reader_one(j->effort, place);
  j->base.index = sr_reader_add(r, SR_ELEMENT_JOINT, ends->index, &def, place);
  if (!scalar && p->stiffness[0] > 0) add_spring(m, ends, j, frame);
  for (int k = 0; k < nv[j->base.type] && j->friction > 0; k++)
    sr_reader_friction(r, j->base.name, k, !scalar, j->base.type != SR_MJCF_SLIDE, j->friction, place);
}

static void keep_joint(srMjcf* m, Joint* j) {
  j->base.qpos = m->nq;
  j->base.qvel = m->nv;
  m->nq += nq[j->base.type];
  m->nv += nv[j->base.type];
  if (j->base.word) sr_names_put(&m->joint_names, j->base.word, m->njoint);
  SR_PUSH(&m->r->pool, m->joint, m->njoint, m->joint_capacity) = j->base;
}

static void add_weld(srMjcf* m, srMjcfBody* b, const char* parent, const double frame[16]) {
  srJointDef def = {.name = {.text = sr_reader_name(m->r, b->name, &m->joints), .place = b->place},
                    .type = {.text = "weld", .place = b->place}};
  b->index = add_body(m, b->name, parent, b->place);
  sr_reader_pose(m->r, frame, b->place, &def.at, &def.rot);
  sr_reader_add(m->r, SR_ELEMENT_JOINT, b->index, &def, b->place);
  srm_pose_identity(b->inner);
}

// --------------------------------------------------------------------------------------------------------- springdamper
// K = I/(time ratio)^2 and D = 2 I/time: the natural frequency 1/(time ratio) with the ratio; they take the place of stiffness and damping.
static void set_spring_damper(srMjcf* m, int i, srPlace place, double time, double ratio) {
  const srMjcfJoint* j = &m->joint[i];
  double rest = 0;
  sr_mjcf_number(m, j->node, j->childclass, "springref", 0, &rest);
  if (j->type == SR_MJCF_HINGE) rest = sr_mjcf_angle(m, j->node, rest);
  sr_mjcf_set_joint(m, i, SR_MJCF_FIELD(srJointDef, stiffness), (double)NAN, place);
  sr_mjcf_set_joint(m, i, SR_MJCF_FIELD(srJointDef, damping), (double)NAN, place);
  if (m->with_springs) {
    sr_mjcf_set_joint(m, i, SR_MJCF_FIELD(srJointDef, natural_frequency), 1 / (time * ratio), place);
    if (rest != 0) sr_mjcf_set_joint(m, i, SR_MJCF_FIELD(srJointDef, rest), rest, place);
    if (m->with_dampers) sr_mjcf_set_joint(m, i, SR_MJCF_FIELD(srJointDef, damping_ratio), ratio, place);
  } else if (m->with_dampers) {
    sr_mjcf_add_torque(
        m, i, 0, -2 / time,
        sr_pool_printf(&m->r->pool, "inertia(%s, effective)*%s", j->name, sr_mjcf_coordinate(m, i, true)), NULL, place);
  }
}

void sr_mjcf_spring_dampers(srMjcf* m) {
  for (int i = 0; i < m->njoint && !m->r->stopped; i++) {
    const srMjcfJoint* j = &m->joint[i];
    const srXmlAttribute* a = sr_mjcf_attribute(m, j->node, j->childclass, "springdamper");
    double x[2];
    if (!a || strcmp(j->node->name, "joint") != 0 || sr_mjcf_values(m, a, 2, 2, x) < 0) continue;
    if (!(x[0] > 0 && x[1] > 0)) continue;  // MuJoCo: then stiffness and damping hold
    if (sr_mjcf_is_scalar(m, i))
      set_spring_damper(m, i, a->place, x[0], x[1]);
    else
      sr_reader_ignore(m->r, a->place, "'springdamper' of a %s joint", types[j->type]);
  }
}

// --------------------------------------------------------------------------------------------------------------- chain
// Free joints occur alone, in bodies of the world; all of a body's joints have six coordinates at most.
static bool check_chain(srMjcf* m, const srMjcfBody* b, const Joint* joints, int n) {
  int coordinates = 0;
  for (int i = 0; i < n; i++) {
    coordinates += nv[joints[i].base.type];
    if (joints[i].base.type != SR_MJCF_FREE) continue;
    if (b->parent != 0)
      sr_mjcf_error(m, joints[i].base.place, "a free joint belongs in a body of the world, not of '%s'",
                    m->body[b->parent].name);
    else if (n > 1)
      sr_mjcf_error(m, joints[i].base.place, "a free joint is the only joint of its body");
    else
      continue;
    return false;
  }
  if (coordinates <= 6) return true;
  sr_mjcf_error(m, b->place, "the joints of body '%s' have %d coordinates; six are the most", b->name, coordinates);
  return false;
}

// One link of the chain. frame: the MJCF body in the parent's frame; then in the new body's.
static void add_link(srMjcf* m, srMjcfBody* b, Ends* ends, Joint* j, bool last, double frame[16]) {
  double at_anchor[16];
  ends->body = b->name;
  if (!last) ends->body = sr_reader_name(m->r, sr_pool_printf(&m->r->pool, "%s.%s", b->name, j->base.name), &m->bodies);
  ends->index = b->index = add_body(m, ends->body, ends->parent, b->place);
  memcpy(at_anchor, frame, sizeof at_anchor);
  srm_pose_point(frame, j->anchor, at_anchor + 12);
  add_joint(m, ends, j, at_anchor);
  keep_joint(m, j);
  sr_mjcf_passive(m, m->njoint - 1, &j->passive);
  srm_pose_identity(frame);
  for (int k = 0; k < 3; k++) frame[12 + k] = -j->anchor[k];
  ends->parent = ends->body;
  ends->parent_index = ends->index;
}

void sr_mjcf_joints(srMjcf* m, int body, const double pose[16], const srMjcfInside* inside, int n) {
  srMjcfBody* b = &m->body[body];
  const srMjcfBody* parent = &m->body[b->parent];
  Joint joints[6];
  Ends ends = {.parent = parent->name, .parent_index = parent->index};
  srm_pose_compose(parent->inner, pose, b->inner);
  for (int i = 0; i < n; i++) joints[i] = read_joint(m, body, &inside[i]);
  b->welded = n == 0 && parent->welded;
  if (n == 0 || !check_chain(m, b, joints, n)) {
    double frame[16];
    memcpy(frame, b->inner, sizeof frame);
    add_weld(m, b, parent->name, frame);
    return;
  }
  for (int i = 0; i < n; i++) add_link(m, b, &ends, &joints[i], i == n - 1, b->inner);
}
