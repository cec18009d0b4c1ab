// Joints of URDF: type, place, axis, limits, dynamics and mimic. A mimic is a coupling: a constraint that is kept, with
// its force, not a rule that copies positions.
#include <math.h>
#include <string.h>

#include "io/urdf/urdf.h"

#define ENDLESS 1e9  // rad or m: where one end is infinite and the other is not

static const struct TypeWord {
  const char* word;
  srUrdfType type;
} types[] = {{"revolute", SR_URDF_REVOLUTE},   {"continuous", SR_URDF_CONTINUOUS},
             {"prismatic", SR_URDF_PRISMATIC}, {"fixed", SR_URDF_FIXED},
             {"floating", SR_URDF_FLOATING},   {"planar", SR_URDF_PLANAR},
             {"spherical", SR_URDF_BALL},      {"ball", SR_URDF_BALL}};

int sr_urdf_type(srUrdf* u, const srXmlNode* node, const char* more) {
  const char* word = sr_urdf_name(u, node, "type");
  const char* words[SR_COUNT(types)];
  if (!word) return -1;
  for (int i = 0; i < SR_COUNT(types); i++) {
    if (strcmp(types[i].word, word) == 0) return (int)types[i].type;
    words[i] = types[i].word;
  }
  const srPlace place = sr_xml_attribute(node, "type")->place;
  const char* nearest = sr_nearest_word(word, words, SR_COUNT(types));
  if (nearest)
    sr_reader_error(u->r, place, "unknown type '%.60s' of <%.60s>; did you mean '%s'?", word, node->name, nearest);
  else
    sr_reader_error(u->r, place,
                    "unknown type '%.60s' of <%.60s>; expected revolute, continuous, prismatic, fixed, floating, "
                    "planar, spherical%s",
                    word, node->name, more);
  return -1;
}

const char* sr_urdf_type_word(srUrdfType type) {
  static const char* const words[] = {"revolute", "revolute", "prismatic", "weld", "free", "planar", "ball"};
  return words[type];
}

bool sr_urdf_scalar(const srUrdfJoint* joint) {
  return joint->type == SR_URDF_REVOLUTE || joint->type == SR_URDF_CONTINUOUS || joint->type == SR_URDF_PRISMATIC;
}

static const char* file_word(srUrdfType type) {
  for (int i = 0; i < SR_COUNT(types); i++)
    if (types[i].type == type) return types[i].word;
  return "";
}

// ------------------------------------------------------------------------------------------------------------ reading
void sr_urdf_add_joint(srUrdf* u, const srXmlNode* node) {
  const char* word = sr_urdf_name(u, node, "name");
  const int i = u->njoint;
  const srUrdfJoint joint = {.word = word ? word : "",
                             .node = node,
                             .type = SR_URDF_FIXED,
                             .parent = -1,
                             .child = -1,
                             .next_out = -1,
                             .next_in = -1,
                             .axis = {1, 0, 0},
                             .leader = -1,
                             .place = node->place};
  SR_PUSH(&u->r->pool, u->joint, u->njoint, u->joint_capacity) = joint;
  u->broken = u->broken || !word;
  if (!word || sr_names_put(&u->joints, word, i)) return;
  u->broken = true;
  sr_reader_error(u->r, sr_xml_attribute(node, "name")->place, "there is a joint '%.60s' already, in line %d", word,
                  u->joint[sr_names_find(&u->joints, word)].place.line);
}

static int end_of(srUrdf* u, const srUrdfJoint* joint, const char* which) {
  const srXmlNode* node = sr_xml_child(joint->node, which);
  if (!node) {
    sr_reader_error(u->r, joint->place, "joint '%.60s' has no <%s link=\"...\"/>", joint->word, which);
    return -1;
  }
  sr_urdf_check(u, node, "link", "");
  return sr_urdf_find(u, node, "link", &u->links, "link");
}

// A number that may be infinite.
static bool read_end(srUrdf* u, const srXmlNode* node, const char* name, double* out) {
  const srXmlAttribute* a = sr_xml_attribute(node, name);
  *out = 0;
  if (!a) return true;
  const char* word = a->value + strspn(a->value, " ");
  const double sign = *word == '-' ? -1 : 1;
  word += *word == '-' || *word == '+';
  if (sr_text_is_among(word, "inf|Inf|INF|infinity|Infinity|.inf")) {
    *out = sign * HUGE_VAL;
    return true;
  }
  return sr_reader_numbers(u->r, a, 1, 1, out) == 1;
}

static srUrdfLimit judge_limit(srUrdfJoint* joint) {
  if (joint->lower == joint->upper) return SR_URDF_LIMIT_ZERO;
  if (joint->lower > joint->upper) return SR_URDF_LIMIT_CROSSED;
  if (isinf(joint->lower) && isinf(joint->upper)) return SR_URDF_LIMIT_ENDLESS;
  joint->lower = fmax(joint->lower, -ENDLESS);
  joint->upper = fmin(joint->upper, ENDLESS);
  return joint->lower < joint->upper ? SR_URDF_LIMIT_GIVEN : SR_URDF_LIMIT_ENDLESS;
}

// Largest force or speed of the drive.
static srAttr read_most(srUrdf* u, const srXmlNode* node, const char* name) {
  double value = 0;
  const srXmlAttribute* a = sr_xml_attribute(node, name);
  if (!a || !read_end(u, node, name, &value) || isinf(value)) return (srAttr){0};
  return sr_reader_one(value, a->place);
}

// Says that a part of a joint without a coordinate is not used; on a fixed one it has nothing to act on.
static void ignore_part(srUrdf* u, const srUrdfJoint* joint, const srXmlNode* part) {
  (joint->type == SR_URDF_FIXED ? sr_reader_ignore_still : sr_reader_ignore)(u->r, part->place, "<%s> of a %s joint",
                                                                             part->name, file_word(joint->type));
}

static void read_limit(srUrdf* u, srUrdfJoint* joint) {
  const srXmlNode* node = sr_xml_child(joint->node, "limit");
  const bool asked = joint->type == SR_URDF_REVOLUTE || joint->type == SR_URDF_PRISMATIC;
  if (asked) joint->limit = SR_URDF_LIMIT_MISSING;
  if (!node) return;
  if (!sr_urdf_scalar(joint)) {
    ignore_part(u, joint, node);
    return;
  }
  sr_urdf_check(u, node, "lower|upper|effort|velocity", "");
  joint->effort = read_most(u, node, "effort");
  joint->speed = read_most(u, node, "velocity");
  const bool good = read_end(u, node, "lower", &joint->lower) & read_end(u, node, "upper", &joint->upper);
  if (!asked && (sr_xml_attribute(node, "lower") || sr_xml_attribute(node, "upper")))
    sr_reader_ignore_still(u->r, node->place, "'lower' and 'upper' of a continuous joint");
  if (good && asked) joint->limit = judge_limit(joint);
}

// A number of <dynamics>, which must not be negative.
static double read_positive(srUrdf* u, const srUrdfJoint* joint, const srXmlNode* node, const char* name) {
  double value;
  if (!sr_reader_number(u->r, node, name, 0, &value) || value == 0) return 0;
  if (value > 0) return value;
  sr_reader_warning(u->r, sr_xml_attribute(node, name)->place, "joint '%.60s' has the %s %g, below zero: left out",
                    joint->word, name, value);
  return 0;
}

static void read_dynamics(srUrdf* u, srUrdfJoint* joint) {
  const srXmlNode* node = sr_xml_child(joint->node, "dynamics");
  if (!node) return;
  if (!sr_urdf_scalar(joint)) {
    ignore_part(u, joint, node);
    return;
  }
  sr_urdf_check(u, node, "damping|friction|armature", "");
  joint->dynamics_place = node->place;
  joint->damping = read_positive(u, joint, node, "damping");
  joint->friction = read_positive(u, joint, node, "friction");
  joint->armature += read_positive(u, joint, node, "armature");
}

static void read_role(srUrdf* u, srUrdfJoint* joint) {
  const srXmlAttribute* a = sr_xml_attribute(joint->node, "independent");
  if (!a) return;
  if (sr_text_is_among(a->value, "true|True|1"))
    joint->role = "independent";
  else if (sr_text_is_among(a->value, "false|False|0"))
    joint->role = "dependent";
  else
    sr_reader_error(u->r, a->place, "'independent' is true or false, not '%.60s'", a->value);
}

static void read_joint(srUrdf* u, srUrdfJoint* joint) {
  const srXmlNode* node = joint->node;
  sr_urdf_check(u, node, "name|type|independent", "origin|parent|child|axis|limit|dynamics|mimic");
  const int type = sr_urdf_type(u, node, "");
  if (type >= 0) joint->type = (srUrdfType)type;
  joint->parent = end_of(u, joint, "parent");
  joint->child = end_of(u, joint, "child");
  if (joint->parent >= 0 && joint->parent == joint->child)
    sr_reader_error(u->r, joint->place, "joint '%.60s' joins link '%.60s' to itself", joint->word,
                    u->link[joint->child].word);
  sr_urdf_origin(u, node, &joint->origin);
  const srXmlNode* axis = sr_xml_child(node, "axis");
  if (sr_urdf_scalar(joint) || joint->type == SR_URDF_PLANAR)
    sr_urdf_axis(u, node, joint->axis, &joint->axis_place);
  else if (axis)
    ignore_part(u, joint, axis);
  read_limit(u, joint);
  read_dynamics(u, joint);
  read_role(u, joint);
}

// -------------------------------------------------------------------------------------------------------------- mimic
static void read_mimic(srUrdf* u, srUrdfJoint* joint) {
  const srXmlNode* node = sr_xml_child(joint->node, "mimic");
  if (!node) return;
  sr_urdf_check(u, node, "joint|multiplier|offset", "");
  const char* name = sr_urdf_name(u, node, "joint");
  const bool good = sr_reader_number(u->r, node, "multiplier", 1, &joint->multiplier) &
                    sr_reader_number(u->r, node, "offset", 0, &joint->offset);
  if (!name || !good) return;
  const int leader = sr_names_find(&u->joints, name);
  const srPlace place = sr_xml_attribute(node, "joint")->place;
  if (leader < 0)
    sr_reader_warning(u->r, place, "joint '%.60s' mimics '%.60s', which does not exist: it moves freely%s", joint->word,
                      name, sr_urdf_guess(u, &u->joints, name));
  else if (&u->joint[leader] == joint)
    sr_reader_warning(u->r, place, "joint '%.60s' mimics itself: it moves freely", joint->word);
  else if (!sr_urdf_scalar(joint) || !sr_urdf_scalar(&u->joint[leader]))
    sr_reader_warning(u->r, place,
                      "joint '%.60s' mimics '%.60s'; both must be revolute, continuous or prismatic: left out",
                      joint->word, name);
  else {
    joint->mimic = node;
    joint->leader = leader;
  }
}

// Cyclic mimics: one of them is left out. Then every chain has a first leader, and q at the start follows.
static void settle_mimics(srUrdf* u) {
  int* state = sr_pool_alloc(&u->r->pool, (size_t)(u->njoint + 1) * sizeof *state);  // the walk that met it
  int* way = sr_pool_alloc(&u->r->pool, (size_t)(u->njoint + 1) * sizeof *way);
  for (int i = 0; i < u->njoint; i++) {
    int n = 0, k = i;
    for (; state[k] == 0; k = u->joint[k].leader) {
      state[k] = i + 1;
      way[n++] = k;
      if (u->joint[k].leader < 0) break;
    }
    if (n > 0 && u->joint[way[n - 1]].leader >= 0 && state[k] == i + 1) {
      srUrdfJoint* joint = &u->joint[way[n - 1]];
      sr_reader_warning(u->r, joint->mimic->place,
                        "the joints that '%.60s' mimics come back to it: its <mimic> is left out", joint->word);
      joint->leader = -1;
      joint->mimic = NULL;
    }
    while (n-- > 0) {
      srUrdfJoint* joint = &u->joint[way[n]];
      if (joint->leader < 0) continue;
      u->joint[joint->leader].leads = true;
      joint->start = joint->multiplier * u->joint[joint->leader].start + joint->offset;
      if (!isfinite(joint->start)) joint->start = 0;
    }
  }
}

void sr_urdf_read_joints(srUrdf* u) {
  for (int i = 0; i < u->njoint && !sr_reader_is_over(u->r, u->joint[i].place); i++) read_joint(u, &u->joint[i]);
  for (int i = 0; i < u->njoint; i++) read_mimic(u, &u->joint[i]);
  settle_mimics(u);
}

// ------------------------------------------------------------------------------------------------------------ writing
void sr_urdf_write_joint(srUrdf* u, int index, int body) {
  srUrdfJoint* joint = &u->joint[index];
  srJointDef def = {.name = {.text = joint->name, .place = joint->place},
                    .type = {.text = sr_urdf_type_word(joint->type), .place = joint->place}};
  sr_urdf_put_pose(u, &joint->origin, &def.at, &def.rot, &def.rpy);
  if (sr_urdf_scalar(joint) || joint->type == SR_URDF_PLANAR)
    def.axis = sr_reader_list(u->r, joint->axis, 3, joint->axis_place);
  if (joint->limit == SR_URDF_LIMIT_GIVEN) {
    const double ends[2] = {joint->lower, joint->upper};
    def.limits = sr_reader_list(u->r, ends, 2, sr_xml_child(joint->node, "limit")->place);
  }
  if (joint->damping > 0) def.damping = sr_reader_one(joint->damping, joint->dynamics_place);
  if (joint->armature > 0) def.armature = sr_reader_one(joint->armature, joint->place);
  if (joint->start != 0) def.q = sr_reader_one(joint->start, joint->mimic ? joint->mimic->place : joint->place);
  // What it mimics decides: its own start is a guess, which must give way when the other one is set elsewhere.
  if (joint->leader >= 0 && !joint->role) joint->role = "dependent";
  if (joint->role && sr_urdf_scalar(joint)) def.role = (srAttr){.text = joint->role, .place = joint->place};
  def.effort = joint->effort;
  def.speed = joint->speed;
  joint->index = sr_reader_add(u->r, SR_ELEMENT_JOINT, body, &def, joint->place);
}

static void write_mimic(srUrdf* u, const srUrdfJoint* joint) {
  const srUrdfJoint* leader = &u->joint[joint->leader];
  const srPlace place = joint->mimic->place;
  if (leader->cut) {
    sr_reader_warning(u->r, place, "joint '%.60s' mimics '%.60s', which closes a loop and has no coordinate: left out",
                      joint->word, leader->word);
    return;
  }
  srCouplingDef def = {.joint = {.text = joint->name, .place = place}, .to = {.text = leader->name, .place = place}};
  def.name = (srAttr){.text = sr_reader_name(u->r, joint->word, &u->constraints), .place = place};
  def.ratio = sr_reader_one(joint->multiplier, place);
  if (joint->offset != 0) def.offset = sr_reader_one(joint->offset, place);
  sr_reader_add(u->r, SR_ELEMENT_COUPLING, SR_NO_OWNER, &def, place);
}

void sr_urdf_write_laws(srUrdf* u) {
  for (int i = 0; i < u->njoint; i++) {
    const srUrdfJoint* joint = &u->joint[i];
    if (joint->cut) continue;
    if (joint->friction > 0)
      sr_reader_friction(u->r, joint->name, 0, false, joint->type != SR_URDF_PRISMATIC, joint->friction,
                         joint->dynamics_place);
    if (joint->leader >= 0) write_mimic(u, joint);
  }
}

// ------------------------------------------------------------------------------------------------------------ telling
const srJointDef* sr_urdf_joint_def(const srUrdf* u, const srUrdfJoint* joint) {
  return srs_get(u->r->spec, SR_ELEMENT_JOINT, joint->index);
}

typedef struct LimitLists {
  srUrdfList missing, zero, crossed;
} LimitLists;

// An attribute with a text is not from this file: <extend> has given it.
static void note_limit(srUrdf* u, const srUrdfJoint* joint, LimitLists* lists) {
  const srXmlNode* node = sr_xml_child(joint->node, "limit");
  const srPlace place = node ? node->place : joint->place;
  const srJointDef* def = sr_urdf_joint_def(u, joint);
  if (def->limits.text) return;
  if (joint->limit == SR_URDF_LIMIT_MISSING) sr_urdf_list(u, &lists->missing, joint->word, place);
  if (joint->limit == SR_URDF_LIMIT_ZERO) sr_urdf_list(u, &lists->zero, joint->word, place);
  if (joint->limit == SR_URDF_LIMIT_CROSSED) sr_urdf_list(u, &lists->crossed, joint->word, place);
}

void sr_urdf_tell_limits(srUrdf* u) {
  srReader* r = u->r;
  LimitLists lists = {.missing = {0}};
  for (int i = 0; i < u->njoint; i++)
    if (!u->joint[i].cut) note_limit(u, &u->joint[i], &lists);
  if (lists.missing.n > 0)
    sr_reader_warning(r, lists.missing.first, "no <limit>, which URDF asks for, in joint %s: there is no stop",
                      lists.missing.text);
  if (lists.zero.n > 0)
    sr_reader_warning(r, lists.zero.first,
                      "'lower' and 'upper' (0 where not given) leave no way in joint %s: there is no stop",
                      lists.zero.text);
  if (lists.crossed.n > 0)
    sr_reader_warning(r, lists.crossed.first, "'lower' is above 'upper' in joint %s: there is no stop",
                      lists.crossed.text);
}
