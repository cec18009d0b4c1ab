// Reader of URDF (root <robot>): the format of the ROS documentation (wiki.ros.org/urdf/XML), with the extensions that
// docs/robots/urdf.md lists. Links are bodies, joints are joints, in depth-first order with children in the order of the file; a
// link with several parents makes loops; what is not used is reported once each.
#include "io/urdf/urdf.h"

#include <string.h>

#include "io/xacro/xacro.h"

#define GUESSES 20

// -------------------------------------------------------------------------------------------------------------- names
static void take_names(srUrdf* u, srElementKind kind, srNames* taken) {
  const srSpec* spec = u->r->spec;
  for (int i = 0; i < srs_count(spec, kind); i++) {  // the name is the first attribute of all that have one
    const srAttr* name = srs_get(spec, kind, i);
    if (name->text) sr_names_put(taken, sr_pool_text(&u->r->pool, name->text), 0);
  }
}

static const char* new_name(srUrdf* u, const char* what, const char* word, srNames* taken, srPlace place) {
  const char* name = sr_reader_name(u->r, word, taken);
  if (strcmp(name, word) != 0 && sr_reader_errors(u->r) == 0)
    sr_reader_warning(u->r, place,
                      "%s '%.60s' is called '%.60s' in the model: names are unique and hold none of /,(){}'\"", what,
                      word, name);
  return name;
}

static void give_names(srUrdf* u) {
  take_names(u, SR_ELEMENT_BODY, &u->bodies);
  take_names(u, SR_ELEMENT_JOINT, &u->joint_names);
  take_names(u, SR_ELEMENT_SHAPE, &u->shapes);
  take_names(u, SR_ELEMENT_CLOSURE, &u->constraints);
  take_names(u, SR_ELEMENT_COUPLING, &u->constraints);
  take_names(u, SR_ELEMENT_CONSTRAINT, &u->constraints);
  sr_names_put(&u->bodies, "ground", 0);
  if (u->floating) u->root_joint = new_name(u, "the joint", "root", &u->joint_names, u->root->place);
  for (int i = 0; i < u->nlink; i++)
    u->link[i].name = new_name(u, "link", u->link[i].word, &u->bodies, u->link[i].place);
  for (int i = 0; i < u->njoint; i++)
    if (!u->joint[i].cut) u->joint[i].name = new_name(u, "joint", u->joint[i].word, &u->joint_names, u->joint[i].place);
  if (!u->floating) u->root_joint = new_name(u, "the joint", "root", &u->joint_names, u->root->place);
}

// ------------------------------------------------------------------------------------------------------------- reading
static void add_materials(srUrdf* u, const srXmlNode* link) {
  for (const srXmlNode* node = link->first; node; node = node->next) {
    const srXmlNode* material = strcmp(node->name, "visual") == 0 ? sr_xml_child(node, "material") : NULL;
    if (material) sr_urdf_add_material(u, material);
  }
}

static void collect(srUrdf* u) {
  for (const srXmlNode* node = u->root->first; node && !sr_reader_is_over(u->r, node->place); node = node->next) {
    if (strcmp(node->name, "link") == 0) {
      sr_urdf_add_link(u, node);
      add_materials(u, node);
    } else if (strcmp(node->name, "joint") == 0) {
      sr_urdf_add_joint(u, node);
    } else if (strcmp(node->name, "material") == 0) {
      sr_urdf_check(u, node, "name", "color");
      sr_urdf_add_material(u, node);
    } else if (strcmp(node->name, "transmission") != 0 && !sr_urdf_is_loop(node->name)) {
      sr_urdf_ignore_element(u, node);
    }
  }
}

static void each(srUrdf* u, bool loops, void (*read)(srUrdf*, const srXmlNode*)) {
  for (const srXmlNode* node = u->root->first; node && !u->r->stopped; node = node->next)
    if (loops ? sr_urdf_is_loop(node->name) : strcmp(node->name, "transmission") == 0) read(u, node);
}

// ------------------------------------------------------------------------------------------------------------- writing
static void write_model(srUrdf* u) {
  const srXmlAttribute* name = sr_xml_attribute(u->root, "name");
  if (!name || !*name->value) sr_reader_warning(u->r, u->root->place, "<robot> has no name: it is called 'robot'");
  const srModelDef def = {.version = {.text = "1", .place = u->root->place},
                          .name = {.text = sr_reader_name(u->r, name && *name->value ? name->value : "robot", NULL),
                                   .place = u->root->place}};
  sr_reader_add(u->r, SR_ELEMENT_MODEL, SR_NO_OWNER, &def, u->root->place);
}

static void write_link(srUrdf* u, int link) {
  const int j = u->link[link].joint;
  u->link[link].group = j >= 0 && u->joint[j].type == SR_URDF_FIXED ? u->link[u->joint[j].parent].group : link;
  sr_urdf_place(u, link);
  sr_urdf_write_link(u, link);
}

// Depth first, children in the order of the joints in the file.
static void write_tree(srUrdf* u) {
  int* stack = sr_pool_alloc(&u->r->pool, (size_t)(u->njoint + 2) * sizeof *stack);
  int top = 0;
  write_link(u, u->base);
  if (u->link[u->base].first_out >= 0) stack[top++] = u->link[u->base].first_out;
  while (top > 0 && !u->r->stopped) {
    const srUrdfJoint* joint = &u->joint[stack[--top]];
    if (joint->next_out >= 0) stack[top++] = joint->next_out;
    if (joint->cut) continue;
    write_link(u, joint->child);
    if (u->link[joint->child].first_out >= 0) stack[top++] = u->link[joint->child].first_out;
  }
}

// Without a tree there is no model: the links are read all the same, for what else is wrong.
static void write_loose(srUrdf* u) {
  for (int i = 0; i < u->nlink && !sr_reader_is_over(u->r, u->link[i].place); i++) {
    u->link[i].joint = -1;
    sr_urdf_write_link(u, i);
  }
}

static void tell(void* data) {
  srUrdf* u = data;
  if (sr_reader_errors(u->r) > 0) return;  // remarks on a model would confuse
  sr_urdf_tell_limits(u);
  sr_urdf_tell_masses(u);
  sr_urdf_tell_gears(u);
}

static void read_robot(srUrdf* u) {
  for (int i = 0; i < u->root->nattribute; i++) {
    const srXmlAttribute* a = &u->root->attributes[i];
    if (!sr_text_is_among(a->name, "name|version") && !strchr(a->name, ':') && strcmp(a->name, "xmlns") != 0)
      sr_reader_ignore_still(u->r, a->name_place, "'%.60s' of <robot>", a->name);
  }
  collect(u);
  if (u->nlink == 0) {
    sr_reader_error(u->r, u->root->place, "<robot> has no <link>");
    return;
  }
  sr_urdf_read_joints(u);
  each(u, false, sr_urdf_transmission);
  const bool is_tree = sr_urdf_tree(u);
  if (is_tree) sr_urdf_add_cuts(u);
  each(u, true, sr_urdf_add_loop);
  if (!u->how->included) write_model(u);
  give_names(u);
  if (!is_tree) {
    write_loose(u);
    return;
  }
  write_tree(u);
  sr_urdf_write_laws(u);
  sr_urdf_write_loops(u);
  if (!u->r->stopped) sr_reader_at_end(u->r, tell, u);
}

void sr_read_urdf(srReader* r, const srXmlNode* root, const srImport* how) {
  srUrdf* u = sr_pool_alloc(&r->pool, sizeof *u);
  *u = (srUrdf){.r = r, .how = how, .base = -1, .guesses = GUESSES};
  u->floating = strcmp(how->base, "floating") == 0;
  srNames* const names[] = {&u->links,       &u->joints,      &u->materials, &u->bodies,
                            &u->joint_names, &u->constraints, &u->shapes,    &u->drives};
  for (int i = 0; i < SR_COUNT(names); i++) sr_names_init(names[i], &r->pool);
  u->root = sr_xacro_expand(r, root, how);
  if (u->root) read_robot(u);
}
