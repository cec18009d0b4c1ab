// Loops of URDF. Joints that the tree has cut become closures of the same kind. Elements of extended dialects:
//   <loop>, <constraint>          URDF+ (M. Chignoli, J.-J. Slotine, P. M. Wensing, S. Kim: URDF+, an enhanced URDF for
//   <coupling>                    robots with kinematic loops, 2024) and the form it had before
//   <loop_joint>                  simulators that close loops with link1 and link2
//   <drake:ball_constraint>       two points that stay together
// What these hold beyond the words below is refused: a loop that is closed otherwise than meant would be worse.
#include <math.h>
#include <string.h>

#include "io/urdf/urdf.h"

// A loop that must be assembled first: numbers are rounded, and what it cannot close across its plane may stay open.
#define TOLERANCE 1e-3  // m or rad
#define FARTHEST 256    // joints between a link and the common ancestor, in a coupling

typedef srUrdfEnd End;
typedef srUrdfLoop Loop;

bool sr_urdf_is_loop(const char* word) {
  return sr_text_is_among(word, "loop|constraint|loop_joint|coupling|drake:ball_constraint");
}

// ------------------------------------------------------------------------------------------------------------ writing
// "body", or "body/point" with a new point.
static srAttr write_frame(srUrdf* u, const srUrdfLink* link, const srUrdfPose* pose, const char* name) {
  const char* text = link->name;
  if (pose->moved || pose->rolled || pose->turned) {
    srPointDef point = {.name = {.text = name, .place = pose->place}};
    sr_urdf_put_pose(u, pose, &point.at, &point.rot, &point.rpy);
    sr_reader_add(u->r, SR_ELEMENT_POINT, link->index, &point, pose->place);
    text = sr_pool_printf(&u->r->pool, "%s/%s", link->name, name);
  }
  return (srAttr){.text = text, .place = pose->place};
}

static void write_closure(srUrdf* u, Loop* loop) {
  sr_urdf_flatten(u, loop);
  srClosureDef def = {.name = {.text = loop->name, .place = loop->node->place},
                      .type = {.text = loop->type, .place = loop->node->place}};
  if (!sr_urdf_close(u, loop)) def.tolerance = sr_reader_one(TOLERANCE, loop->node->place);
  def.a = write_frame(u, &u->link[loop->end[0].link], &loop->end[0].pose, loop->name);
  def.b = write_frame(u, &u->link[loop->end[1].link], &loop->end[1].pose, loop->name);
  if (loop->flat) def.normal = sr_reader_list(u->r, loop->normal, 3, loop->node->place);
  if (loop->axial) def.axis = sr_reader_list(u->r, loop->axis, 3, loop->axis_place);
  sr_reader_add(u->r, SR_ELEMENT_CLOSURE, SR_NO_OWNER, &def, loop->node->place);
}

// --------------------------------------------------------------------------------------------------------------- cuts
static const char* losses(srUrdf* u, const srUrdfJoint* joint) {
  const struct Loss {
    bool lost;
    const char* what;
  } all[] = {{joint->limit == SR_URDF_LIMIT_GIVEN, "limits"},
             {joint->damping > 0, "damping"},
             {joint->friction > 0, "friction"},
             {joint->armature > 0, "armature"},
             {joint->leader >= 0, "mimic"},
             {sr_given(joint->effort), "effort"},
             {sr_given(joint->speed), "velocity"}};
  const char* text = NULL;
  for (int i = 0; i < SR_COUNT(all); i++)
    if (all[i].lost) text = text ? sr_pool_printf(&u->r->pool, "%s, %s", text, all[i].what) : all[i].what;
  return text;
}

static void keep(srUrdf* u, const Loop* loop) { SR_PUSH(&u->r->pool, u->loop, u->nloop, u->loop_capacity) = *loop; }

static void add_cut(srUrdf* u, const srUrdfJoint* joint) {
  const srUrdfLink *parent = &u->link[joint->parent], *child = &u->link[joint->child];
  const char* lost = losses(u, joint);
  sr_messages_add(u->r->messages, SR_SEVERITY_NOTE, joint->place,
                  "link '%.60s' has several parents: joint '%.60s' to '%.60s' is a closure, '%.60s' carries the link",
                  child->word, joint->word, parent->word, u->joint[child->joint].word);
  if (lost)
    sr_reader_warning(u->r, joint->place, "joint '%.60s' closes a loop and has no coordinate: its %s is lost",
                      joint->word, lost);
  if (joint->type == SR_URDF_FLOATING) return;  // holds nothing
  Loop loop = {.node = joint->node, .word = joint->word, .type = sr_urdf_type_word(joint->type)};
  loop.axis_place = joint->axis_place;
  loop.axial = sr_urdf_scalar(joint) || joint->type == SR_URDF_PLANAR;
  memcpy(loop.axis, joint->axis, sizeof loop.axis);
  loop.end[0] = (End){.link = joint->parent, .pose = joint->origin};
  loop.end[1] = (End){.link = joint->child, .pose = {.place = joint->place}};
  keep(u, &loop);
}

void sr_urdf_add_cuts(srUrdf* u) {
  for (int i = 0; i < u->njoint; i++)
    if (u->joint[i].cut) add_cut(u, &u->joint[i]);
}

// ------------------------------------------------------------------------------------------------------------ reading
static void refuse(srUrdf* u, Loop* loop, srPlace place, const char* what, const char* expected) {
  sr_reader_error(u->r, place, "%s in <%.60s> is not understood; expected %s", what, loop->node->name, expected);
  loop->good = false;
}

static void refuse_attributes(srUrdf* u, Loop* loop, const srXmlNode* node, const char* known) {
  for (int i = 0; i < node->nattribute; i++) {
    const srXmlAttribute* a = &node->attributes[i];
    if (sr_text_is_among(a->name, known)) continue;
    refuse(u, loop, a->name_place, sr_pool_printf(&u->r->pool, "'%.60s' of <%.60s>", a->name, node->name),
           sr_pool_printf(&u->r->pool, "of %s", known));
  }
}

static void read_pose(srUrdf* u, Loop* loop, const srXmlNode* node, int k) {
  End* end = &loop->end[k];
  srUrdfPose pose;
  const bool good = sr_urdf_pose(u, node, &pose);
  loop->good &= good;
  if (!good || !(pose.moved || pose.rolled || pose.turned)) return;  // the link's own frame: no information
  if (end->posed) {
    sr_reader_error(u->r, node->place, "the frame on this link is given twice in <%.60s>", loop->node->name);
    loop->good = false;
  }
  end->pose = pose;
  end->posed = true;
}

static void read_end(srUrdf* u, Loop* loop, const srXmlNode* node, int k) {
  End* end = &loop->end[k];
  if (end->given) {
    sr_reader_error(u->r, node->place, "<%.60s> has a third link", loop->node->name);
    loop->good = false;
    return;
  }
  end->given = true;
  refuse_attributes(u, loop, node, "link|xyz|rpy|quat_xyzw");
  end->link = sr_urdf_find(u, node, "link", &u->links, "link");
  loop->good &= end->link >= 0;
  if (sr_xml_attribute(node, "xyz") || sr_xml_attribute(node, "rpy") || sr_xml_attribute(node, "quat_xyzw"))
    read_pose(u, loop, node, k);
  for (const srXmlNode* child = node->first; child; child = child->next) {
    if (strcmp(child->name, "origin") != 0) {
      refuse(u, loop, child->place, sr_pool_printf(&u->r->pool, "<%.60s>", child->name), "<origin>");
      continue;
    }
    refuse_attributes(u, loop, child, "xyz|rpy|quat_xyzw");
    read_pose(u, loop, child, k);
  }
}

static void read_ratio(srUrdf* u, Loop* loop, const srXmlNode* node) {
  if (loop->type) {
    refuse(u, loop, node->place, "<ratio>", "it in <coupling>");
    return;
  }
  loop->good &= sr_urdf_content(u, node, &loop->ratio);
}

static void read_child(srUrdf* u, Loop* loop, const srXmlNode* node) {
  const char* word = node->name;
  if (sr_text_is_among(word, "predecessor|parent"))
    read_end(u, loop, node, 0);
  else if (sr_text_is_among(word, "successor|child|link2"))
    read_end(u, loop, node, 1);
  else if (strcmp(word, "link1") == 0)  // of some files both are called so
    read_end(u, loop, node, loop->end[0].given ? 1 : 0);
  else if (sr_text_is_among(word, "origin|predecessor_origin|parent_origin"))
    read_pose(u, loop, node, 0);
  else if (sr_text_is_among(word, "successor_origin|child_origin"))
    read_pose(u, loop, node, 1);
  else if (strcmp(word, "ratio") == 0)
    read_ratio(u, loop, node);
  else if (sr_text_is_among(word, "limit|dynamics|safety_controller|calibration"))
    sr_reader_ignore(u->r, node->place, "<%s> in <%.60s>", word, loop->node->name);
  else if (strcmp(word, "axis") == 0)
    refuse_attributes(u, loop, node, "xyz");
  else
    refuse(u, loop, node->place, sr_pool_printf(&u->r->pool, "<%.60s>", word),
           "predecessor, successor, parent, child, link1, link2, origin, axis, ratio");
}

// Kind of closure, or a coupling.
static void read_type(srUrdf* u, Loop* loop) {
  const srXmlAttribute* a = sr_xml_attribute(loop->node, "type");
  if (strcmp(loop->node->name, "coupling") == 0 || (a && strcmp(a->value, "rolling") == 0)) {
    loop->type = NULL;
  } else if (a && strcmp(a->value, "position") == 0) {
    loop->type = "ball";
  } else if (a && sr_text_is_among(a->value, "cylindrical|weld")) {
    loop->type = a->value;
    loop->axial = strcmp(a->value, "cylindrical") == 0;
  } else {
    const int type = sr_urdf_type(u, loop->node, ", cylindrical, position, rolling");
    loop->good = type >= 0;
    if (type == SR_URDF_FLOATING) refuse(u, loop, a->place, "the type 'floating', which holds nothing,", "another one");
    if (type >= 0) loop->type = sr_urdf_type_word((srUrdfType)type);
    loop->axial = type >= 0 && type != SR_URDF_FIXED && type != SR_URDF_BALL;
  }
}

static void read_loop(srUrdf* u, Loop* loop) {
  const srXmlNode* node = loop->node;
  refuse_attributes(u, loop, node, "name|type");
  const bool fair = loop->good;
  read_type(u, loop);
  loop->good &= fair;
  for (const srXmlNode* child = node->first; child && !sr_reader_is_over(u->r, child->place); child = child->next)
    read_child(u, loop, child);
  for (int k = 0; k < 2; k++) {
    if (loop->end[k].given) continue;
    sr_reader_error(u->r, node->place, "<%.60s> names no %s link", node->name, k == 0 ? "first" : "second");
    loop->good = false;
  }
  if (loop->axial && loop->good) loop->good = sr_urdf_axis(u, node, loop->axis, &loop->axis_place);
}

// <drake:ball_constraint>: bodies A and B, points P of A and Q of B.
static void read_ball(srUrdf* u, Loop* loop) {
  loop->type = "ball";
  for (const srXmlNode* node = loop->node->first; node; node = node->next) {
    const char* word = strncmp(node->name, "drake:ball_constraint_", 22) == 0 ? node->name + 22 : "";
    const int k = sr_text_is_among(word, "body_B|p_BQ");
    End* end = &loop->end[k];
    if (sr_text_is_among(word, "body_A|body_B")) {
      end->link = sr_urdf_find(u, node, "name", &u->links, "link");
      end->given = true;
      loop->good &= end->link >= 0;
    } else if (sr_text_is_among(word, "p_AP|p_BQ")) {
      const srXmlAttribute* value = sr_urdf_name(u, node, "value") ? sr_xml_attribute(node, "value") : NULL;
      end->pose = (srUrdfPose){.place = node->place, .moved = true};
      loop->good &= value && sr_reader_numbers(u->r, value, 3, 3, end->pose.xyz) == 3;
    } else {
      refuse(u, loop, node->place, sr_pool_printf(&u->r->pool, "<%.60s>", node->name), "body_A, body_B, p_AP, p_BQ");
    }
  }
  for (int k = 0; k < 2; k++) {
    if (loop->end[k].given) continue;
    sr_reader_error(u->r, loop->node->place, "<drake:ball_constraint> names no body_%c", k == 0 ? 'A' : 'B');
    loop->good = false;
  }
}

// ----------------------------------------------------------------------------------------------------------- coupling
// Joints from the link up to the ancestor that it shares with the other; their sum as a formula. NULL after an error.
typedef struct Way {
  int link[FARTHEST + 1];
  int n;
} Way;

static void climb(const srUrdf* u, int link, Way* way) {
  for (way->n = 0; way->n <= FARTHEST && link >= 0; way->n++) {
    way->link[way->n] = link;
    link = u->link[link].joint < 0 ? -1 : u->joint[u->link[link].joint].parent;
  }
}

static bool meet(const Way* a, const Way* b, int* i, int* k) {
  for (*i = 0; *i < a->n; ++*i)
    for (*k = 0; *k < b->n; ++*k)
      if (a->link[*i] == b->link[*k]) return true;
  return false;
}

// "q(a) + q(b)" of the moving joints of the first n links; *only: the joint when there is one.
static const char* sum_of(srUrdf* u, const Loop* loop, const Way* way, int n, int* moving, const srUrdfJoint** only) {
  const char* text = "";
  *moving = 0;
  for (int i = n - 1; i >= 0; i--) {
    const srUrdfJoint* joint = &u->joint[u->link[way->link[i]].joint];
    if (joint->type == SR_URDF_FIXED) continue;
    if (!sr_urdf_scalar(joint)) {
      sr_reader_error(u->r, loop->node->place, "joint '%.60s' on the way of this <%.60s> has more than one coordinate",
                      joint->word, loop->node->name);
      return NULL;
    }
    text = sr_pool_printf(&u->r->pool, *moving ? "%s + q(%s)" : "%sq(%s)", text, joint->name);
    *only = joint;
    ++*moving;
  }
  if (*moving == 0)
    sr_reader_error(u->r, loop->node->place, "link '%.60s' does not move against what it is coupled to in <%.60s>",
                    u->link[way->link[0]].word, loop->node->name);
  return *moving > 0 ? text : NULL;
}

static void write_coupling(srUrdf* u, const Loop* loop) {
  const srPlace place = loop->node->place;
  Way* way = sr_pool_alloc(&u->r->pool, 2 * sizeof *way);
  int n[2], moving[2] = {0};
  const srUrdfJoint* only[2] = {NULL};
  for (int k = 0; k < 2; k++) climb(u, loop->end[k].link, &way[k]);
  if (!meet(&way[0], &way[1], &n[0], &n[1])) {
    sr_reader_error(u->r, place, "the links of this <%.60s> are more than %d joints apart", loop->node->name, FARTHEST);
    return;
  }
  const char* sum[2];
  for (int k = 0; k < 2; k++) sum[k] = sum_of(u, loop, &way[k], n[k], &moving[k], &only[k]);
  if (!sum[0] || !sum[1]) return;
  if (moving[0] == 1 && moving[1] == 1) {
    const srCouplingDef def = {.name = {.text = loop->name, .place = place},
                               .joint = {.text = only[1]->name, .place = place},
                               .to = {.text = only[0]->name, .place = place},
                               .ratio = sr_reader_one(loop->ratio, place)};
    sr_reader_add(u->r, SR_ELEMENT_COUPLING, SR_NO_OWNER, &def, place);
    return;
  }
  const srConstraintDef def = {.name = {.text = loop->name, .place = place},
                               .expr = sr_reader_word(u->r, place, "(%.17g)*(%s) - (%s)", loop->ratio, sum[0], sum[1])};
  sr_reader_add(u->r, SR_ELEMENT_CONSTRAINT, SR_NO_OWNER, &def, place);
}

// -------------------------------------------------------------------------------------------------------------- entry
void sr_urdf_add_loop(srUrdf* u, const srXmlNode* node) {
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  Loop loop = {.node = node, .word = name && *name->value ? name->value : "loop", .ratio = 1, .good = true};
  loop.axis[0] = 1;
  loop.axis_place = node->place;
  for (int k = 0; k < 2; k++) loop.end[k] = (End){.link = -1, .pose = {.place = node->place}};
  if (strcmp(node->name, "drake:ball_constraint") == 0)
    read_ball(u, &loop);
  else
    read_loop(u, &loop);
  if (loop.good && loop.end[0].link == loop.end[1].link)
    sr_reader_error(u->r, node->place, "<%.60s> ties link '%.60s' to itself", node->name,
                    u->link[loop.end[0].link].word);
  else if (loop.good)
    keep(u, &loop);
}

void sr_urdf_write_loops(srUrdf* u) {
  for (int i = 0; i < u->nloop; i++) {
    Loop* loop = &u->loop[i];
    if (u->link[loop->end[0].link].index < 0 || u->link[loop->end[1].link].index < 0) continue;
    loop->name = sr_reader_name(u->r, loop->word, &u->constraints);
    if (loop->type)
      write_closure(u, loop);
    else
      write_coupling(u, loop);
  }
}
