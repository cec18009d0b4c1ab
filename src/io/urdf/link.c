// Links of URDF: each is a body. Mass and inertia as in the file; what is invalid is reported or refused.
#include <string.h>

#include "io/urdf/urdf.h"
#include "model/spec.h"

void sr_urdf_add_link(srUrdf* u, const srXmlNode* node) {
  const char* word = sr_urdf_name(u, node, "name");
  const int i = u->nlink;
  const srUrdfLink link = {
      .word = word ? word : "", .node = node, .index = -1, .inertial = -1, .joint = -1, .place = node->place};
  SR_PUSH(&u->r->pool, u->link, u->nlink, u->link_capacity) = link;
  u->broken = u->broken || !word;
  if (!word || sr_names_put(&u->links, word, i)) return;
  u->broken = true;
  sr_reader_error(u->r, sr_xml_attribute(node, "name")->place, "there is a link '%.60s' already, in line %d", word,
                  u->link[sr_names_find(&u->links, word)].place.line);
}

// ------------------------------------------------------------------------------------------------------------ inertia
// xx yy zz xy xz yz. False after an error: a moment that is not there is not zero, unless all of them are left out.
static bool read_tensor(srUrdf* u, const srXmlNode* node, double J[6]) {
  static const char* const words[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  bool good = true;
  sr_urdf_check(u, node, "ixx|iyy|izz|ixy|ixz|iyz", "");
  int given = 0;
  for (int k = 0; k < 6; k++) good &= sr_reader_number(u->r, node, words[k], 0, &J[k]);
  for (int k = 0; k < 3; k++) given += sr_xml_attribute(node, words[k]) != NULL;
  for (int k = 0; k < 3 && given > 0; k++)
    if (!sr_xml_attribute(node, words[k])) {
      sr_reader_error(u->r, node->place, "<inertia> needs the attribute '%s'", words[k]);
      good = false;
    }
  return good;
}

static void write_inertial(srUrdf* u, srUrdfLink* link, const srXmlNode* node) {
  srReader* r = u->r;
  const srXmlNode *mass = sr_xml_child(node, "mass"), *inertia = sr_xml_child(node, "inertia");
  srUrdfPose origin;
  double J[6] = {0};
  sr_urdf_check(u, node, "", "origin|mass|inertia");
  bool good = sr_urdf_origin(u, node, &origin);
  if (!mass) {
    sr_reader_error(r, node->place, "<inertial> of link '%.60s' has no <mass value=\"...\"/>", link->word);
    return;
  }
  sr_urdf_check(u, mass, "value", "");
  good &= sr_urdf_name(u, mass, "value") && sr_reader_number(r, mass, "value", 0, &link->mass);
  if (inertia) good &= read_tensor(u, inertia, J);
  if (!good) return;
  const srPlace place = inertia ? inertia->place : node->place;
  srInertialDef def = {.mass = sr_reader_one(link->mass, sr_xml_attribute(mass, "value")->place)};
  sr_urdf_put_pose(u, &origin, &def.com, &def.rot, &def.rpy);
  def.inertia = sr_reader_list(r, J, 6, place);
  def.check = (srAttr){.text = "warn", .place = place};
  link->inertial = sr_reader_add(r, SR_ELEMENT_INERTIAL, link->index, &def, node->place);
  link->flat_place = place;
  link->flat = link->mass != 0 && J[0] == 0 && J[1] == 0 && J[2] == 0;
}

// --------------------------------------------------------------------------------------------------------------- body
static void write_root_joint(srUrdf* u, const srUrdfLink* link) {
  const srJointDef def = {.name = {.text = u->root_joint, .place = link->place},
                          .type = {.text = u->floating ? "free" : "weld", .place = link->place}};
  sr_spec_imply(u->r->spec, sr_reader_add(u->r, SR_ELEMENT_JOINT, link->index, &def, link->place));
}

void sr_urdf_write_link(srUrdf* u, int index) {
  srUrdfLink* link = &u->link[index];
  const srXmlNode* inertial = sr_xml_child(link->node, "inertial");
  sr_urdf_check(u, link->node, "name", "inertial|visual|collision");
  srBodyDef def = {.name = {.text = link->name, .place = link->place}};
  if (link->joint >= 0) def.parent = (srAttr){.text = u->link[u->joint[link->joint].parent].name, .place = link->place};
  link->index = sr_reader_add(u->r, SR_ELEMENT_BODY, SR_NO_OWNER, &def, link->place);
  if (link->joint >= 0)
    sr_urdf_write_joint(u, link->joint, link->index);
  else
    write_root_joint(u, link);
  link->stated = inertial != NULL;
  if (inertial) write_inertial(u, link, inertial);
  link->has_shape = sr_xml_child(link->node, "visual") || sr_xml_child(link->node, "collision");
  sr_urdf_shapes(u, link);
}

// ------------------------------------------------------------------------------------------------------------- masses
// Bodies that got a mass from a file that includes the robot: by <extend> with <inertial>, whose attributes have a text,
// or with a shape that has a density.
static bool* find_extended(const srUrdf* u) {
  const srSpec* spec = u->r->spec;
  bool* extended = sr_pool_alloc(&u->r->pool, (size_t)srs_count(spec, SR_ELEMENT_BODY) + 1);
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_INERTIAL); i++) {
    const srInertialDef* def = srs_get(spec, SR_ELEMENT_INERTIAL, i);
    const int owner = srs_owner(spec, SR_ELEMENT_INERTIAL, i);
    if (def->mass.text && owner >= 0) extended[owner] = true;
  }
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_SHAPE); i++) {
    const srShapeDef* def = srs_get(spec, SR_ELEMENT_SHAPE, i);
    const int owner = srs_owner(spec, SR_ELEMENT_SHAPE, i);
    if (def->density.text && owner >= 0) extended[owner] = true;
  }
  return extended;
}

static bool is_flat(const srUrdf* u, const srUrdfLink* link) {
  if (!link->flat) return false;
  const srInertialDef* def = srs_get(u->r->spec, SR_ELEMENT_INERTIAL, link->inertial);
  return !def->inertia.text;
}

// Links that are fixed to each other are one for the dynamics. One without mass is reported where it moves, and either has
// the shape of a real part, or all that it is fixed to has none: a mere frame is not worth a warning.
void sr_urdf_tell_masses(srUrdf* u) {
  srReader* r = u->r;
  srUrdfList massless = {0}, weightless = {0}, flat = {0};
  const int ground = u->floating ? -1 : u->base;
  const bool* extended = find_extended(u);
  bool* heavy = sr_pool_alloc(&r->pool, (size_t)u->nlink + 1);  // groups
  for (int i = 0; i < u->nlink; i++)
    if (u->link[i].mass != 0 || extended[u->link[i].index]) heavy[u->link[i].group] = true;
  for (int i = 0; i < u->nlink; i++) {
    const srUrdfLink* link = &u->link[i];
    if (is_flat(u, link)) sr_urdf_list(u, &flat, link->word, link->flat_place);
    if (link->mass != 0 || extended[link->index] || link->group == ground) continue;
    if (link->has_shape || !heavy[link->group])
      sr_urdf_list(u, link->stated ? &weightless : &massless, link->word, link->place);
  }
  if (massless.n > 0)
    sr_reader_warning(r, massless.first, "no <inertial> in link %s: taken without mass and inertia", massless.text);
  if (weightless.n > 0) sr_reader_warning(r, weightless.first, "the mass is zero in link %s", weightless.text);
  if (flat.n > 0) sr_reader_warning(r, flat.first, "mass without moments of inertia, a point, in link %s", flat.text);
}
