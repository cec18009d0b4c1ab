// Shapes of URDF: <visual> and <collision> with box, cylinder, sphere, capsule, ellipsoid or mesh, and their colours.
#include <string.h>

#include "io/mesh/mesh.h"
#include "io/urdf/urdf.h"

void sr_urdf_add_material(srUrdf* u, const srXmlNode* node) {
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  if (!name || !sr_xml_child(node, "color")) return;  // a mere use
  const int i = u->nmaterial;
  SR_PUSH(&u->r->pool, u->material, u->nmaterial, u->material_capacity) = node;
  sr_names_put(&u->materials, name->value, i);  // of two with one name the first holds
}

// Numbers of a picture: surplus ones are no reason to stop. Returns their number, -1 after an error.
static int first_numbers(srUrdf* u, const srXmlAttribute* a, int most, double* out) {
  const char *p = a->value, *end = NULL;
  int n = 0;
  for (;; n++) {
    p += strspn(p, " \t\r\n");
    if (!*p) break;
    p += strcspn(p, " \t\r\n");
    if (n + 1 == most) end = p;
  }
  if (n <= most) return n > 0 ? sr_reader_numbers(u->r, a, n, n, out) : 0;
  srXmlAttribute cut = *a;
  cut.value = sr_pool_text_n(&u->r->pool, a->value, (size_t)(end - a->value));
  sr_reader_warning(u->r, a->place, "'%s' takes %d numbers, got %d: the first %d are taken", a->name, most, n, most);
  return sr_reader_numbers(u->r, &cut, most, most, out);
}

// ------------------------------------------------------------------------------------------------------------- colour
static bool read_color(srUrdf* u, const srXmlNode* material, srAttr* out) {
  const srXmlNode* color = sr_xml_child(material, "color");
  const srXmlAttribute* rgba = color ? sr_xml_attribute(color, "rgba") : NULL;
  double value[4] = {0, 0, 0, 1};
  const int n = rgba ? first_numbers(u, rgba, 4, value) : 0;
  if (n < 0) return false;
  if (n < 3) {
    if (rgba) sr_reader_ignore_still(u->r, rgba->place, "a colour with less than three numbers");
    return false;
  }
  for (int k = 0; k < 4; k++) {
    if (value[k] >= 0 && value[k] <= 1) continue;
    sr_reader_ignore_still(u->r, rgba->place, "a colour outside of 0 to 1");
    return false;
  }
  *out = sr_reader_list(u->r, value, 4, rgba->place);
  return true;
}

static void color_of(srUrdf* u, const srXmlNode* node, srAttr* out) {
  const srXmlNode* material = sr_xml_child(node, "material");
  if (!material) return;
  const srXmlNode* color = sr_xml_child(material, "color");
  const srXmlAttribute* name = sr_xml_attribute(material, "name");
  sr_urdf_check(u, material, "name", "color");
  if (color) {
    sr_urdf_check(u, color, "rgba", "");
    read_color(u, material, out);
    return;
  }
  if (!name || !*name->value) return;
  const int i = sr_names_find(&u->materials, name->value);
  if (i >= 0)
    read_color(u, u->material[i], out);
  else
    sr_reader_ignore_still(u->r, name->place, "the material '%.60s', whose colour is given nowhere,", name->value);
}

// ----------------------------------------------------------------------------------------------------------- geometry
static const struct Solid {
  const char* word;
  const char* type;
  int n;
  const char* attributes;  // "a|b|c", or one list
} solids[] = {{"box", "box", 3, "size"},
              {"cylinder", "cylinder", 2, "radius|length"},
              {"capsule", "capsule", 2, "radius|length"},
              {"drake:capsule", "capsule", 2, "radius|length"},
              {"sphere", "sphere", 1, "radius"},
              {"drake:ellipsoid", "ellipsoid", 3, "a|b|c"}};

// Numbers of the attributes, one each or all in one. False after an error, or a warning: what is only seen or touched is
// no reason to stop.
static bool read_size(srUrdf* u, const srXmlNode* node, const struct Solid* solid, double size[3]) {
  const bool one = !strchr(solid->attributes, '|');
  const char* p = solid->attributes;
  for (int k = 0; k < (one ? 1 : solid->n); k++) {
    const size_t length = strcspn(p, "|");
    const char* word = sr_pool_text_n(&u->r->text, p, length);
    const srXmlAttribute* a = sr_xml_attribute(node, word);
    const int wanted = one ? solid->n : 1, n = a && *a->value ? first_numbers(u, a, wanted, &size[k]) : 0;
    if (n < 0) return false;
    if (n < wanted) {
      sr_reader_warning(u->r, a ? a->place : node->place, "a <%s> is left out: '%s' takes %d number%s, got %d",
                        node->name, word, wanted, wanted == 1 ? "" : "s", n);
      return false;
    }
    p += length + (p[length] == '|');
  }
  return true;
}

static bool read_solid(srUrdf* u, const srXmlNode* node, const struct Solid* solid, srShapeDef* def) {
  double size[3] = {0};
  sr_urdf_check(u, node, solid->attributes, "");
  if (!read_size(u, node, solid, size)) return false;
  for (int k = 0; k < solid->n; k++) {
    if (size[k] > 0) continue;
    sr_reader_warning(u->r, node->place, "a <%s> of size %g is left out: it must be above zero", node->name, size[k]);
    return false;
  }
  def->type = (srAttr){.text = solid->type, .place = node->place};
  def->size = sr_reader_list(u->r, size, solid->n, node->place);
  return true;
}

// For contacts the convex hull of its vertices; a flat one has none.
static const char* type_of_mesh(srUrdf* u, const char* mesh, const srShapeDef* def) {
  return strcmp(def->use.text, "visual") != 0 && sr_mesh_has_volume(u->r, mesh) ? "hull" : "mesh";
}

static bool read_mesh(srUrdf* u, const srXmlNode* node, srShapeDef* def) {
  double scale[3] = {1, 1, 1};
  const srXmlAttribute* a = sr_xml_attribute(node, "scale");
  sr_urdf_check(u, node, "filename|scale", "");
  const srXmlAttribute* file = sr_xml_attribute(node, "filename");
  if (!file || !file->value[strspn(file->value, " ")]) {
    sr_reader_warning(u->r, node->place, "a <mesh> without a file is left out");
    return false;
  }
  const int n = a ? first_numbers(u, a, 3, scale) : 3;
  if (n < 0) return false;
  if (n == 0 || n == 2) {
    sr_reader_warning(u->r, a->place, "'scale' takes 1 or 3 numbers, got %d: the <mesh> is left out", n);
    return false;
  }
  if (n == 1) scale[1] = scale[2] = scale[0];
  for (int k = 0; k < 3; k++) {
    if (scale[k] != 0) continue;
    sr_reader_warning(u->r, a->place, "a <mesh> of scale 0 is left out");
    return false;
  }
  const char* mesh = sr_mesh_use(u->r, u->how, file->value, scale, NULL, file->place);
  if (!mesh) return false;
  def->type = (srAttr){.text = type_of_mesh(u, mesh, def), .place = node->place};
  def->mesh = (srAttr){.text = mesh, .place = file->place};
  return true;
}

// The first child of <geometry> that is known.
static bool read_geometry(srUrdf* u, const srXmlNode* geometry, srShapeDef* def) {
  bool found = false, good = false;
  for (const srXmlNode* node = geometry->first; node; node = node->next) {
    const struct Solid* solid = NULL;
    const bool mesh = strcmp(node->name, "mesh") == 0;
    for (int i = 0; i < SR_COUNT(solids); i++)
      if (strcmp(node->name, solids[i].word) == 0) solid = &solids[i];
    if (!mesh && !solid) continue;
    if (found)
      sr_reader_ignore(u->r, node->place, "a second shape in one <geometry>");
    else
      good = mesh ? read_mesh(u, node, def) : read_solid(u, node, solid, def);
    found = true;
  }
  return good;
}

static void write_shape(srUrdf* u, const srUrdfLink* link, const srXmlNode* node, const char* use) {
  const srXmlNode* geometry = sr_xml_child(node, "geometry");
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  const bool visual = strcmp(use, "visual") == 0;
  srShapeDef def = {.use = {.text = use, .place = node->place}};
  srUrdfPose origin;
  sr_urdf_check(u, node, "name", visual ? "origin|geometry|material" : "origin|geometry");
  if (!geometry) {
    sr_reader_warning(u->r, node->place, "<%s> of link '%.60s' has no <geometry>: left out", use, link->word);
    return;
  }
  sr_urdf_check(u, geometry, "", "box|cylinder|sphere|capsule|mesh|drake:capsule|drake:ellipsoid");
  if (!sr_urdf_origin(u, node, &origin)) return;
  const int before = sr_reader_errors(u->r);
  if (!read_geometry(u, geometry, &def)) {
    if (!geometry->first && sr_reader_errors(u->r) == before)
      sr_reader_warning(u->r, geometry->place, "<geometry> of link '%.60s' is empty: left out", link->word);
    return;
  }
  if (name && *name->value)
    def.name = (srAttr){.text = sr_reader_name(u->r, name->value, &u->shapes), .place = name->place};
  sr_urdf_put_pose(u, &origin, &def.at, &def.rot, &def.rpy);
  if (visual) color_of(u, node, &def.color);
  sr_reader_add(u->r, SR_ELEMENT_SHAPE, link->index, &def, node->place);
}

void sr_urdf_shapes(srUrdf* u, const srUrdfLink* link) {
  for (const srXmlNode* node = link->node->first; node; node = node->next) {
    if (strcmp(node->name, "visual") == 0) write_shape(u, link, node, "visual");
    if (strcmp(node->name, "collision") == 0) write_shape(u, link, node, "collision");
  }
}
