// MJCF's bodies: <worldbody>, <body> and <frame>, walked depth first. A body's joints are read before what else is in
// it, and its children last, so that bodies and joints come in the order of MuJoCo's coordinates.
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "io/mjcf/words.h"
#include "math/pose.h"

#define MAX_JOINTS 6  // velocity coordinates of a body

typedef enum Pass { JOINTS, PARTS, CHILDREN } Pass;

typedef struct Walk {
  srMjcf* m;
  int body;
  Pass pass;
  srMjcfInside joints[MAX_JOINTS];
  int njoint;
  bool inertial;  // one was read
  bool broken;    // a frame has no pose: the content of the body would raise spurious errors
} Walk;

static void read_body(srMjcf* m, int parent, const srMjcfInside* x);

// -------------------------------------------------------------------------------------------------------------- names
const char* sr_mjcf_new_name(srMjcf* m, const char* stem, int* count, srNames* taken) {
  for (;;) {
    const char* name = ++*count == 1 ? stem : sr_pool_printf(&m->r->pool, "%s_%d", stem, *count);
    if (sr_names_put(taken, name, 0)) return name;
  }
}

const char* sr_mjcf_our_name(const srMjcf* m, const srNames* given, const char* word) {
  const int i = word ? sr_names_find(given, word) : -1;
  return i >= 0 ? m->spec_name[i] : NULL;
}

static void collect_name(srMjcf* m, const srXmlNode* node, srNames* given, srNames* taken, const char* what) {
  const srXmlAttribute* a = sr_xml_attribute(node, "name");
  if (!a || !*a->value) return;
  if (!sr_names_put(given, a->value, m->nspec_name)) {
    sr_mjcf_error(m, a->place, "there is a %s '%.60s' already", what, a->value);
    return;
  }
  SR_PUSH(&m->r->pool, m->spec_name, m->nspec_name, m->spec_name_capacity) = sr_reader_name(m->r, a->value, taken);
}

// Names in the file come first; those that are made for nameless things must not take them.
void sr_mjcf_collect_names(srMjcf* m, const srXmlNode* section) {
  for (const srXmlNode* node = section->first; node && !sr_reader_is_over(m->r, node->place); node = node->next) {
    if (strcmp(node->name, "body") == 0) collect_name(m, node, &m->given_bodies, &m->bodies, "body");
    if (sr_text_is_among(node->name, "joint|freejoint")) collect_name(m, node, &m->given_joints, &m->joints, "joint");
    if (sr_text_is_among(node->name, "body|frame")) sr_mjcf_collect_names(m, node);
  }
}

// --------------------------------------------------------------------------------------------------------------- walk
static void walk(Walk* w, const srXmlNode* parent, const char* childclass, const double frame[16]);

static void walk_frame(Walk* w, const srXmlNode* node, const char* childclass, const double frame[16]) {
  double own[16], inner[16];
  const srXmlAttribute* a = sr_xml_attribute(node, "childclass");
  if (w->pass == JOINTS) {  // the first one reports the error
    sr_mjcf_check_own_words(w->m, node);
    if (!sr_mjcf_check_class(w->m, node, "childclass")) w->broken = true;
  }
  if (w->broken) return;
  if (!sr_mjcf_pose(w->m, node, NULL, own)) srm_pose_identity(own);
  srm_pose_compose(frame, own, inner);
  walk(w, node, a ? a->value : childclass, inner);
}

static void read_joint_later(Walk* w, const srMjcfInside* x) {
  if (w->body == 0)
    sr_mjcf_error(w->m, x->node->place, "the world has no joints; <%s> belongs inside <body>", x->node->name);
  else if (w->njoint == MAX_JOINTS)
    sr_mjcf_error(w->m, x->node->place, "a body has at most %d joints", MAX_JOINTS);
  else
    w->joints[w->njoint++] = *x;
}

static void read_part(Walk* w, const srMjcfInside* x) {
  static const char used[] = "inertial|joint|freejoint|geom|site|body|frame|replicate|include|attach";
  static const char ignored[] = "camera|light|plugin|composite|flexcomp|skin";
  const char* word = x->node->name;
  if (strcmp(word, "geom") == 0) {
    sr_mjcf_geom(w->m, w->body, x);
  } else if (strcmp(word, "site") == 0) {
    sr_mjcf_site(w->m, w->body, x);
  } else if (!sr_text_is_among(word, used)) {
    sr_mjcf_other_element(w->m, x->node, used, ignored);
  }
}

static void read_inertial(Walk* w, const srMjcfInside* x) {
  if (w->body == 0)
    sr_mjcf_error(w->m, x->node->place, "the world has no <inertial>");
  else if (w->inertial)
    sr_mjcf_error(w->m, x->node->place, "there is an <inertial> in this body already");
  else
    sr_mjcf_inertial(w->m, w->body, x);
  w->inertial = true;
}

static void walk(Walk* w, const srXmlNode* parent, const char* childclass, const double frame[16]) {
  for (const srXmlNode* node = parent->first; node && !sr_reader_is_over(w->m->r, node->place); node = node->next) {
    srMjcfInside x = {.node = node, .childclass = childclass};
    memcpy(x.frame, frame, sizeof x.frame);
    if (strcmp(node->name, "frame") == 0)
      walk_frame(w, node, childclass, frame);
    else if (w->pass == JOINTS && sr_text_is_among(node->name, "joint|freejoint"))
      read_joint_later(w, &x);
    else if (w->pass == JOINTS && strcmp(node->name, "inertial") == 0)
      read_inertial(w, &x);  // before the geoms, which add mass only where there is none
    else if (w->pass == PARTS)
      read_part(w, &x);
    else if (w->pass == CHILDREN && strcmp(node->name, "body") == 0)
      read_body(w->m, w->body, &x);
  }
}

static void read_content(Walk* w, const srXmlNode* node, const char* childclass) {
  double here[16];
  srm_pose_identity(here);
  w->pass = PARTS;
  walk(w, node, childclass, here);
  w->pass = CHILDREN;
  walk(w, node, childclass, here);
}

// ------------------------------------------------------------------------------------------------------------- bodies
static int add_body(srMjcf* m, int parent, const srMjcfInside* x, const double pose[16]) {
  const srXmlAttribute *name = sr_xml_attribute(x->node, "name"), *own = sr_xml_attribute(x->node, "childclass");
  const int i = m->nbody;
  double gravcomp;
  if (!sr_reader_number(m->r, x->node, "gravcomp", 0, &gravcomp)) gravcomp = 0;
  srMjcfBody body = {.word = name && *name->value ? name->value : NULL,
                     .parent = parent,
                     .scope = x->node->scope,
                     .place = x->node->place,
                     .gravcomp = gravcomp,
                     .childclass = own ? own->value : x->childclass};
  srm_pose_compose(m->body[parent].outer, pose, body.outer);
  body.name = sr_mjcf_our_name(m, &m->given_bodies, body.word);
  if (!body.name) body.name = sr_mjcf_new_name(m, "body", &m->unnamed_bodies, &m->bodies);
  SR_PUSH(&m->r->pool, m->body, m->nbody, m->body_capacity) = body;
  SR_PUSH(&m->r->pool, m->inertia, m->ninertia, m->inertia_capacity) = (srMjcfInertia){.place = body.place};
  if (body.word) sr_names_put(&m->body_names, body.word, i);
  return i;
}

static void read_body(srMjcf* m, int parent, const srMjcfInside* x) {
  double own[16], pose[16], here[16];
  sr_mjcf_check_own_words(m, x->node);
  if (!sr_mjcf_pose(m, x->node, NULL, own)) srm_pose_identity(own);
  // Its content would raise spurious errors: without the numbers of its class it lacks some.
  if (!sr_mjcf_check_class(m, x->node, "childclass")) return;
  srm_pose_compose(x->frame, own, pose);
  Walk w = {.m = m, .body = add_body(m, parent, x, pose), .pass = JOINTS};
  srm_pose_identity(here);
  const char* childclass = m->body[w.body].childclass;
  walk(&w, x->node, childclass, here);
  sr_mjcf_joints(m, w.body, pose, w.joints, w.njoint);
  if (!w.broken) read_content(&w, x->node, childclass);
}

void sr_mjcf_start_world(srMjcf* m) {
  srMjcfBody world = {.word = "world", .name = "ground", .index = SR_GROUND, .parent = -1, .welded = true};
  srm_pose_identity(world.inner);
  srm_pose_identity(world.outer);
  SR_PUSH(&m->r->pool, m->body, m->nbody, m->body_capacity) = world;
  SR_PUSH(&m->r->pool, m->inertia, m->ninertia, m->inertia_capacity) = (srMjcfInertia){0};
  sr_names_put(&m->body_names, "world", 0);
  sr_names_put(&m->given_bodies, "world", -1);
  sr_names_put(&m->bodies, "ground", 0);
}

void sr_mjcf_worldbody(srMjcf* m, const srXmlNode* section) {
  const srXmlAttribute* childclass = sr_xml_attribute(section, "childclass");
  double here[16];
  Walk w = {.m = m, .pass = JOINTS};
  sr_mjcf_check_own_words(m, section);
  if (!sr_mjcf_check_class(m, section, "childclass")) return;
  srm_pose_identity(here);
  walk(&w, section, childclass ? childclass->value : NULL, here);
  if (!w.broken) read_content(&w, section, childclass ? childclass->value : NULL);
}
