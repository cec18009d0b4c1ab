// ROBOTRAN: the model files of MBsysPad (.mbs, root <mbsDescR7>). Bodies with chains of elementary joints (R1 R2 R3 T1
// T2 T3), points, cuts, links and sensors; conventions of the ROBOTRAN manual, sections 2 and 3.2.3. The structure of the file was
// established from public models: docs/robots/robotran.md states which, and what was not covered.
#include <string.h>

#include "io/xml/reader.h"

typedef struct Point {
  const char* word;
  const char* name;  // in the spec: "body/point", or the body
  double at[3];
} Point;

typedef struct Body {
  const srXmlNode* node;  // NULL: the base
  const char* word;
  const char* name;
  Point* point;
  int npoint, point_capacity;
  srNames point_words, point_names;
} Body;

typedef struct Told {  // reported once, with the first location and the count
  srPlace first;
  const char* name;
  int times;
} Told;

typedef struct Mbs {
  srReader* r;
  Body* body;  // [0] the base
  int nbody, body_capacity;
  srNames body_words, body_names, joint_words, joint_names, closure_names, link_names, sensor_names;
  Told driven, links;
} Mbs;

#define BASE "base"

// ----------------------------------------------------------------------------------------------------------- reading
// Children that are not in the list are not used.
static void ignore_others(Mbs* m, const srXmlNode* node, const char* used) {
  for (const srXmlNode* c = node->first; c; c = c->next) {
    if (sr_text_is_among(c->name, used)) continue;
    const bool is_still = sr_text_is_among(c->name, "graphics|comment");
    (is_still ? sr_reader_ignore_still : sr_reader_ignore)(m->r, c->place, "<%.60s> of <%.60s>", c->name, node->name);
  }
}

// The number between the tags of a child; false after an error. *out stays when there is none.
static bool number(Mbs* m, const srXmlNode* node, const char* name, double* out) {
  const srXmlNode* c = sr_xml_child(node, name);
  if (!c) return true;
  const srXmlAttribute a = {
      .name = c->name, .value = c->text ? c->text : "", .place = c->text ? c->text_place : c->place};
  return sr_reader_numbers(m->r, &a, 1, 1, out) == 1;
}

static void coordinates(Mbs* m, const srXmlNode* node, double out[3]) {
  const srXmlNode* c = sr_xml_child(node, "coordinates");
  out[0] = out[1] = out[2] = 0;
  if (!c) return;
  ignore_others(m, c, "x|y|z");
  number(m, c, "x", &out[0]);
  number(m, c, "y", &out[1]);
  number(m, c, "z", &out[2]);
}

// The text of a child; NULL after an error.
static const char* word_of(Mbs* m, const srXmlNode* node, const char* name) {
  const srXmlNode* c = sr_xml_child(node, name);
  if (c && c->text) return c->text;
  sr_reader_error(m->r, c ? c->place : node->place, "<%.60s> needs <%s>", node->name, name);
  return NULL;
}

static bool has_origin(const double at[3]) { return at[0] == 0 && at[1] == 0 && at[2] == 0; }

// ------------------------------------------------------------------------------------------------------------ bodies
static Body* add_body(Mbs* m, const srXmlNode* node, const char* word, const char* name) {
  const int i = m->nbody;
  SR_PUSH(&m->r->pool, m->body, m->nbody, m->body_capacity) = (Body){.node = node, .word = word, .name = name};
  Body* b = &m->body[i];
  sr_names_init(&b->point_words, &m->r->pool);
  sr_names_init(&b->point_names, &m->r->pool);
  sr_names_put(&m->body_words, word, i);
  return b;
}

static void read_point(Mbs* m, Body* b, const srXmlNode* node) {
  const char* word = word_of(m, node, "pointname");
  if (!word) return;
  ignore_others(m, node, "pointname|coordinates|sensor|extforce");
  if (!sr_names_put(&b->point_words, word, b->npoint)) {
    sr_reader_error(m->r, node->place, "the body '%.60s' has two points '%.60s'", b->word, word);
    return;
  }
  Point p = {.word = word};
  coordinates(m, node, p.at);
  const char* name = sr_reader_name(m->r, word, &b->point_names);
  p.name = sr_pool_printf(&m->r->pool, "%s/%s", b->name, name);
  SR_PUSH(&m->r->pool, b->point, b->npoint, b->point_capacity) = p;
}

static void read_points(Mbs* m, Body* b, const srXmlNode* node) {
  for (const srXmlNode* c = node->first; c && !sr_reader_is_over(m->r, c->place); c = c->next)
    if (strcmp(c->name, "point") == 0) read_point(m, b, c);
}

static void read_body(Mbs* m, const srXmlNode* node) {
  const char* word = word_of(m, node, "bodyname");
  if (!word) return;
  ignore_others(m, node, "bodyname|parent|joint|mass|com|inertia|point");
  if (sr_names_find(&m->body_words, word) >= 0) {
    sr_reader_error(m->r, node->place, "there are two bodies '%.60s'", word);
    return;
  }
  Body* b = add_body(m, node, word, sr_reader_name(m->r, word, &m->body_names));
  read_points(m, b, node);
}

// The body that <bodyname> names; NULL after an error.
static Body* find_body(Mbs* m, const srXmlNode* node) {
  const char* word = word_of(m, node, "bodyname");
  if (!word) return NULL;
  const int i = sr_names_find(&m->body_words, word);
  if (i >= 0) return &m->body[i];
  sr_reader_error(m->r, sr_xml_child(node, "bodyname")->text_place, "there is no body '%.60s'%s", word,
                  sr_pool_guess(&m->r->pool, sr_names_nearest(&m->body_words, word)));
  return NULL;
}

// The frame that <bodyname> and <pointname> name; NULL after an error. "origin" needs no <point>. *at may be NULL.
static const char* find_point(Mbs* m, const srXmlNode* node, double at[3]) {
  const Body* b = find_body(m, node);
  const char* word = word_of(m, node, "pointname");
  if (!b || !word) return NULL;
  ignore_others(m, node, "bodyname|pointname");
  const int i = sr_names_find(&b->point_words, word);
  if (i < 0 && strcmp(word, "origin") != 0) {
    sr_reader_error(m->r, sr_xml_child(node, "pointname")->text_place, "the body '%.60s' has no point '%.60s'%s",
                    b->word, word, sr_pool_guess(&m->r->pool, sr_names_nearest(&b->point_words, word)));
    return NULL;
  }
  if (at && i >= 0) memcpy(at, b->point[i].at, 3 * sizeof *at);
  return i >= 0 ? b->point[i].name : b->name;
}

// ------------------------------------------------------------------------------------------------------------ joints
typedef struct Joint {
  const char* name;
  bool turns;
  int axis;
  const char* nature;
  double q, v;
  bool given;
} Joint;

static bool read_type(Mbs* m, const srXmlNode* node, Joint* out) {
  static const char* const types[] = {"T1", "T2", "T3", "R1", "R2", "R3"};
  const char* word = word_of(m, node, "type");
  if (!word) return false;
  for (int i = 0; i < SR_COUNT(types); i++)
    if (strcmp(word, types[i]) == 0) {
      out->turns = i >= 3;
      out->axis = i % 3;
      return true;
    }
  sr_reader_error(m->r, sr_xml_child(node, "type")->text_place,
                  "unknown type '%.60s' of a joint; expected R1, R2, R3, T1, T2 or T3", word);
  return false;
}

static bool read_nature(Mbs* m, const srXmlNode* node, Joint* out) {
  static const char* const natures[] = {"independent", "dependent", "driven"};
  const srXmlNode* c = sr_xml_child(node, "nature");
  out->nature = "independent";
  if (!c) return true;
  const char* word = c->text ? c->text : "";
  for (int i = 0; i < SR_COUNT(natures); i++)
    if (strcmp(word, natures[i]) == 0) return out->nature = natures[i], true;
  const char* nearest = sr_nearest_word(word, natures, SR_COUNT(natures));
  sr_reader_error(m->r, c->text ? c->text_place : c->place,
                  "unknown nature '%.60s' of a joint; expected independent, dependent or driven%s%s%s", word,
                  nearest ? ": did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  return false;
}

static const char* joint_name(Mbs* m, const srXmlNode* node, const char* word) {
  const char* name = sr_reader_name(m->r, word, &m->joint_names);
  if (!sr_names_put(&m->joint_words, word, 0))
    sr_reader_error(m->r, sr_xml_child(node, "jointname")->text_place, "there are two joints '%.60s'", word);
  else if (strcmp(name, word) != 0)
    sr_reader_warning(m->r, sr_xml_child(node, "jointname")->text_place,
                      "the joint '%.60s' is called '%.60s' in the model", word, name);
  return name;
}

// All its errors are reported.
static bool read_joint(Mbs* m, const srXmlNode* node, Joint* out) {
  *out = (Joint){0};
  const char* word = word_of(m, node, "jointname");
  const srXmlNode* start = sr_xml_child(node, "initialvalue");
  for (const srXmlNode* c = node->first; c; c = c->next)
    if (strcmp(c->name, "actuated") == 0)
      sr_reader_ignore(m->r, c->place, "<actuated>: its force is user code of ROBOTRAN, which");
  ignore_others(m, node, "jointname|type|nature|initialvalue|actuated");
  if (start) ignore_others(m, start, "q|qd");
  bool good = word != NULL;
  good &= read_type(m, node, out);
  good &= read_nature(m, node, out);
  if (start) good &= number(m, start, "q", &out->q) & number(m, start, "qd", &out->v);
  out->given = start != NULL;
  out->name = word ? joint_name(m, node, word) : "";
  return good;
}

static void add_driver(Mbs* m, const Joint* j, srPlace place) {
  if (m->driven.times++ == 0) m->driven.first = place, m->driven.name = j->name;
  srDriverDef def = {.joint = {.text = j->name, .place = place}, .motion = sr_reader_one(j->q, place)};
  sr_reader_add(m->r, SR_ELEMENT_DRIVER, SR_NO_OWNER, &def, place);
}

// A native body with one joint; its index.
static int add_link(Mbs* m, const char* name, const char* parent, const double at[3], const Joint* j, srPlace place) {
  static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  srBodyDef body = {.name = {.text = name, .place = place}, .parent = {.text = parent, .place = place}};
  const int index = sr_reader_add(m->r, SR_ELEMENT_BODY, SR_NO_OWNER, &body, place);
  srJointDef def = {.type = {.text = j ? (j->turns ? "revolute" : "prismatic") : "weld", .place = place}};
  if (!has_origin(at)) def.at = sr_reader_list(m->r, at, 3, place);
  if (j) {
    def.name = (srAttr){.text = j->name, .place = place};
    def.axis = sr_reader_list(m->r, axes[j->axis], 3, place);
    if (j->given) def.q = sr_reader_one(j->q, place);
    if (j->v != 0) def.v = sr_reader_one(j->v, place);
    if (strcmp(j->nature, "driven") != 0) def.role = (srAttr){.text = j->nature, .place = place};
  }
  sr_reader_add(m->r, SR_ELEMENT_JOINT, index, &def, place);
  if (j && strcmp(j->nature, "driven") == 0) add_driver(m, j, place);
  return index;
}

// All joints of a body, one after the other; between them bodies without mass, named after their joints. The index of
// the last body, -1 after an error.
static int write_joints(Mbs* m, const Body* b) {
  const srXmlNode* up = sr_xml_child(b->node, "parent");
  static const double zero[3] = {0};
  double at[3] = {0};
  const char* point = up ? find_point(m, up, at) : NULL;
  if (!up) sr_reader_error(m->r, b->node->place, "the body '%.60s' needs <parent>", b->word);
  const char* before = point ? find_body(m, up)->name : "ground";  // after an error: for what else is wrong
  bool good = point != NULL;
  Joint joint, last;
  srPlace place = b->node->place;
  int n = 0;
  for (const srXmlNode* c = b->node->first; c && !sr_reader_is_over(m->r, c->place); c = c->next) {
    if (strcmp(c->name, "joint") != 0) continue;
    good &= read_joint(m, c, &joint);
    if (n > 0 && good) {
      const char* name = sr_reader_name(m->r, last.name, &m->body_names);
      add_link(m, name, before, n == 1 ? at : zero, &last, place);
      before = name;
    }
    last = joint;
    place = c->place;
    n++;
  }
  return good ? add_link(m, b->name, before, n <= 1 ? at : zero, n > 0 ? &last : NULL, place) : -1;
}

// index -1: it is only checked.
static void write_inertia(Mbs* m, const Body* b, int index) {
  static const char* const words[] = {"Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz"};
  const srXmlNode* node = sr_xml_child(b->node, "inertia");
  const srPlace place = sr_xml_child(b->node, "mass") ? sr_xml_child(b->node, "mass")->place : b->node->place;
  double mass = 0, com[3], inertia[6] = {0};
  bool any = false;
  if (!number(m, b->node, "mass", &mass)) return;
  coordinates(m, sr_xml_child(b->node, "com"), com);
  for (int i = 0; i < 6; i++) {
    if (!number(m, node, words[i], &inertia[i])) return;
    any = any || inertia[i] != 0;
  }
  if (node) ignore_others(m, node, "Ixx|Iyy|Izz|Ixy|Ixz|Iyz");
  if (mass < 0) sr_reader_error(m->r, place, "the body '%.60s' has the mass %g, below zero", b->word, mass);
  if (mass == 0 && any)
    sr_reader_warning(m->r, node->place, "the body '%.60s' has moments of inertia and no mass", b->word);
  if (index < 0 || mass < 0 || (mass == 0 && !any)) return;
  srInertialDef def = {.mass = sr_reader_one(mass, place), .check = {.text = "warn", .place = place}};
  if (!has_origin(com)) def.com = sr_reader_list(m->r, com, 3, place);
  def.inertia = sr_reader_list(m->r, inertia, 6, place);
  sr_reader_add(m->r, SR_ELEMENT_INERTIAL, index, &def, place);
}

// The content of a point: <sensor name="..">, and <extforce>, whose force is C code.
static void write_marks(Mbs* m, const Point* p, const srXmlNode* node) {
  for (const srXmlNode* c = node->first; c; c = c->next) {
    const srXmlAttribute* name = sr_xml_attribute(c, "name");
    if (strcmp(c->name, "extforce") == 0)
      sr_reader_ignore(m->r, c->place, "<extforce>: its force is user code of ROBOTRAN, which");
    if (strcmp(c->name, "sensor") != 0) continue;
    const char* word = sr_reader_name(m->r, name ? name->value : p->word, &m->sensor_names);
    const srSensorDef def = {.name = {.text = word, .place = c->place}, .point = {.text = p->name, .place = c->place}};
    sr_reader_add(m->r, SR_ELEMENT_SENSOR, SR_NO_OWNER, &def, c->place);
  }
}

static void write_points(Mbs* m, const Body* b, const srXmlNode* from, int owner) {
  int i = 0;
  for (const srXmlNode* c = from->first; c; c = c->next) {
    if (strcmp(c->name, "point") != 0 || i >= b->npoint) continue;
    const Point* p = &b->point[i++];
    srPointDef def = {.name = {.text = strrchr(p->name, '/') + 1, .place = c->place}};
    if (!has_origin(p->at)) def.at = sr_reader_list(m->r, p->at, 3, c->place);
    sr_reader_add(m->r, SR_ELEMENT_POINT, owner, &def, c->place);
    write_marks(m, p, c);
  }
}

// -------------------------------------------------------------------------------------------------------------- cuts
// The one direction of <ignore><x/></ignore>, whose equation is left out: 0 none, 1 set, -1 after an error.
static int ignored_axis(Mbs* m, const srXmlNode* node, double axis[3]) {
  static const char* const words[] = {"x", "y", "z"};
  const srXmlNode* c = sr_xml_child(node, "ignore");
  int n = 0;
  for (int i = 0; i < 3; i++) {
    axis[i] = c && sr_xml_child(c, words[i]) ? 1 : 0;
    n += axis[i] != 0;
  }
  if (n == 0 || (n == 1 && strcmp(node->name, "ball") == 0)) return n;
  sr_reader_error(m->r, c->place, "<ignore> of %d directions in <%.60s> is not read; a ball may leave out one of them",
                  n, node->name);
  return -1;
}

// The two frames of a cut or link; false after an error.
static bool endpoints(Mbs* m, const srXmlNode* node, srAttr* a, srAttr* b) {
  const srXmlNode *first = sr_xml_child(node, "endpoint1"), *second = sr_xml_child(node, "endpoint2");
  if (!first || !second) {
    sr_reader_error(m->r, node->place, "<%.60s> needs <endpoint1> and <endpoint2>", node->name);
    return false;
  }
  *a = (srAttr){.text = find_point(m, first, NULL), .place = first->place};
  *b = (srAttr){.text = find_point(m, second, NULL), .place = second->place};
  return a->text && b->text;
}

static void write_cut(Mbs* m, const srXmlNode* node) {
  const bool rod = strcmp(node->name, "rod") == 0;
  const char* word = word_of(m, node, "name");
  double axis[3], length = 0;
  srClosureDef def = {.type = {.text = strcmp(node->name, "solid") == 0 ? "body" : node->name, .place = node->place}};
  ignore_others(m, node, rod ? "name|endpoint1|endpoint2|length" : "name|endpoint1|endpoint2|ignore");
  if (!word || !endpoints(m, node, &def.a, &def.b)) return;
  def.name = (srAttr){.text = sr_reader_name(m->r, word, &m->closure_names), .place = node->place};
  const int left_out = rod ? 0 : ignored_axis(m, node, axis);
  if (left_out < 0) return;
  if (left_out > 0) def.normal = sr_reader_list(m->r, axis, 3, node->place);
  if (rod) {
    if (!word_of(m, node, "length") || !number(m, node, "length", &length)) return;
    def.length = sr_reader_one(length, sr_xml_child(node, "length")->place);
  }
  sr_reader_add(m->r, SR_ELEMENT_CLOSURE, SR_NO_OWNER, &def, node->place);
}

static void write_cuts(Mbs* m, const srXmlNode* cuts) {
  for (const srXmlNode* c = cuts->first; c && !sr_reader_is_over(m->r, c->place); c = c->next)
    if (sr_text_is_among(c->name, "ball|rod|solid")) write_cut(m, c);
  ignore_others(m, cuts, "ball|rod|solid");
}

// A link is kept with no force: its law is C code in ROBOTRAN.
static void add_distance_force(Mbs* m, const srXmlNode* node) {
  const char* word = word_of(m, node, "name");
  srDistanceForceDef def = {.law = sr_reader_one(0, node->place)};
  ignore_others(m, node, "name|endpoint1|endpoint2");
  if (!word || !endpoints(m, node, &def.a, &def.b)) return;
  def.name = (srAttr){.text = sr_reader_name(m->r, word, &m->link_names), .place = node->place};
  if (m->links.times++ == 0) m->links.first = node->place, m->links.name = def.name.text;
  sr_reader_add(m->r, SR_ELEMENT_DISTANCE_FORCE, SR_NO_OWNER, &def, node->place);
}

static void add_distance_forces(Mbs* m, const srXmlNode* links) {
  for (const srXmlNode* c = links->first; c && !sr_reader_is_over(m->r, c->place); c = c->next)
    if (strcmp(c->name, "link") == 0) add_distance_force(m, c);
  ignore_others(m, links, "link");
}

// ------------------------------------------------------------------------------------------------------------- model
static void write_model(Mbs* m, const srXmlNode* root) {
  const srXmlNode *name = sr_xml_child(root, "mbsname"), *gravity = sr_xml_child(sr_xml_child(root, "base"), "gravity");
  srModelDef def = {.version = {.text = "1", .place = root->place}};
  if (name && name->text)
    def.name = (srAttr){.text = sr_reader_name(m->r, name->text, NULL), .place = name->text_place};
  sr_reader_add(m->r, SR_ELEMENT_MODEL, SR_NO_OWNER, &def, root->place);
  double g[3];
  coordinates(m, gravity, g);
  const srOptionDef option = {.gravity = sr_reader_list(m->r, g, 3, gravity ? gravity->place : root->place)};
  sr_reader_add(m->r, SR_ELEMENT_OPTION, SR_NO_OWNER, &option, root->place);
}

static void tell(Mbs* m) {
  if (m->driven.times > 0)
    sr_reader_warning(m->r, m->driven.first,
                      "%d driven joint%s held at the initial position, '%.60s' the first: the motion is user code of "
                      "ROBOTRAN, which is not in this file",
                      m->driven.times, m->driven.times == 1 ? " is" : "s are", m->driven.name);
  if (m->links.times > 0)
    sr_reader_warning(m->r, m->links.first,
                      "%d link%s without force, '%.60s' the first: the law is user code of ROBOTRAN, which is not in "
                      "this file",
                      m->links.times, m->links.times == 1 ? " is" : "s are", m->links.name);
}

static void read_all(Mbs* m, const srXmlNode* root) {
  const srXmlNode *base = sr_xml_child(root, "base"), *tree = sr_xml_child(root, "bodytree");
  add_body(m, NULL, BASE, "ground");
  if (base) {
    ignore_others(m, base, "gravity|baseBodyName|point");
    read_points(m, &m->body[0], base);
  }
  for (const srXmlNode* c = tree ? tree->first : NULL; c && !sr_reader_is_over(m->r, c->place); c = c->next)
    if (strcmp(c->name, "body") == 0) read_body(m, c);
  if (tree) ignore_others(m, tree, "body");
}

static void write_all(Mbs* m, const srXmlNode* root) {
  const srXmlNode* base = sr_xml_child(root, "base");
  if (base) write_points(m, &m->body[0], base, SR_GROUND);
  for (int i = 1; i < m->nbody && !sr_reader_is_over(m->r, root->place); i++) {
    const int index = write_joints(m, &m->body[i]);
    write_inertia(m, &m->body[i], index);
    if (index < 0) continue;
    write_points(m, &m->body[i], m->body[i].node, index);
  }
  for (const srXmlNode* c = root->first; c; c = c->next) {
    if (strcmp(c->name, "cuts") == 0) write_cuts(m, c);
    if (strcmp(c->name, "links") == 0) add_distance_forces(m, c);
  }
}

void sr_read_mbs(srReader* r, const srXmlNode* root, const srImport* how) {
  Mbs m = {.r = r};
  srNames* const names[] = {&m.body_words,    &m.body_names, &m.joint_words, &m.joint_names,
                            &m.closure_names, &m.link_names, &m.sensor_names};
  for (int i = 0; i < SR_COUNT(names); i++) sr_names_init(names[i], &r->pool);
  sr_names_put(&m.body_names, "ground", 0);
  if (!how->included) write_model(&m, root);
  read_all(&m, root);
  write_all(&m, root);
  ignore_others(&m, root, "mbsname|mbsyspad_version|base|bodytree|cuts|links");
  tell(&m);
}
