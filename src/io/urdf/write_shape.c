// URDF out: <visual> and <collision>, the shapes of a link. One that is for both is written twice.
#include <string.h>

#include "expr/expr.h"
#include "io/urdf/write.h"

// Of shape i; -1: none.
static int mesh_of(const srConvert* c, int i) {
  const srShapeDef* def = srs_get(c->spec, SR_ELEMENT_SHAPE, i);
  return def->mesh.text ? sr_names_find(&c->meshes, def->mesh.text) : -1;
}

// A hull is written as its mesh: other programs take the hull of a mesh for contacts anyway.
static bool has_mesh(const char* type) { return sr_text_is(type, "mesh") || sr_text_is(type, "hull"); }

// What URDF cannot express is not taken, so that it is reported.
static bool can_say(const srConvert* c, int i) {
  const srShapeDef* def = srs_get(c->spec, SR_ELEMENT_SHAPE, i);
  const char* type = def->type.text;
  if (sr_text_is(type, "heightfield") || sr_text_is(type, "surface")) return false;
  const double size = def->size.numbers ? def->size.numbers[0] : def->size.number;
  if (has_mesh(type)) {
    const int mesh = mesh_of(c, i);
    return mesh >= 0 && ((const srMeshDef*)srs_get(c->spec, SR_ELEMENT_MESH, mesh))->file.text;
  }
  if (sr_text_is(type, "cone")) return false;
  return !sr_text_is(type, "plane") && !sr_text_is(type, "ellipsoid") && !(size < 0);  // hollow
}

static void put_mesh(srUrdfOut* u, int i) {
  srConvert* c = u->c;
  const int mesh = mesh_of(c, i);
  double scale[3];
  sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, mesh));
  sr_convert_take(c, SR_ELEMENT_MESH, mesh, SR_TAKE(srMeshDef, name));
  sr_convert_take(c, SR_ELEMENT_MESH, mesh, SR_TAKE(srMeshDef, vertices));  // they are in the file
  sr_convert_take(c, SR_ELEMENT_MESH, mesh, SR_TAKE(srMeshDef, faces));
  sr_xml_begin(&c->xml, "mesh");
  const char* path = sr_convert_path(c, sr_convert_text(c, SR_ELEMENT_MESH, mesh, SR_TAKE(srMeshDef, file)));
  sr_xml_text(&c->xml, "filename", path);
  if (!strstr(path, "://") && u->npath++ == 0) u->first_path = path;
  const int n = sr_convert_numbers(c, SR_ELEMENT_MESH, mesh, SR_TAKE(srMeshDef, scale), scale, 3);
  if (n == 1) scale[1] = scale[2] = scale[0];
  if (n > 0) sr_xml_numbers(&c->xml, "scale", scale, 3);
  sr_xml_end(&c->xml);
}

// Of shapes that are no mesh: box, sphere, cylinder, capsule.
static void put_solid(srConvert* c, const char* type, const double size[3]) {
  sr_xml_begin(&c->xml, type);
  if (sr_text_is(type, "box")) {
    sr_xml_numbers(&c->xml, "size", size, 3);
  } else {
    sr_xml_number(&c->xml, "radius", size[0]);
    if (!sr_text_is(type, "sphere")) sr_xml_number(&c->xml, "length", size[1]);
  }
  sr_xml_end(&c->xml);
}

static void put_geometry(srUrdfOut* u, int i, const char* type) {
  srConvert* c = u->c;
  double size[3] = {0};
  sr_convert_numbers(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, size), size, 3);
  sr_xml_begin(&c->xml, "geometry");
  if (has_mesh(type))
    put_mesh(u, i);
  else
    put_solid(c, type, size);
  sr_xml_end(&c->xml);
}

// A material of its own for every colour, named by it.
static void put_color(srConvert* c, int i) {
  double rgba[4];
  if (sr_convert_numbers(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, color), rgba, 4) != 4) return;
  const char* name = "rgba";
  for (int k = 0; k < 4; k++) {
    char number[SR_NUMBER_TEXT];
    sr_number_text(rgba[k], number, sizeof number);
    name = sr_pool_printf(c->pool, "%s_%s", name, number);
  }
  sr_xml_begin(&c->xml, "material");
  sr_xml_text(&c->xml, "name", name);
  sr_xml_begin(&c->xml, "color");
  sr_xml_numbers(&c->xml, "rgba", rgba, 4);
  sr_xml_end(&c->xml);
  sr_xml_end(&c->xml);
}

static void put_shape(srUrdfOut* u, int i, const char* element) {
  srConvert* c = u->c;
  double pose[16];
  const char* name = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, name));
  const char* type = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, type));
  sr_convert_pose(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, at), SR_TAKE(srShapeDef, rot), SR_TAKE(srShapeDef, rpy),
                  pose);
  sr_xml_begin(&c->xml, element);
  if (name) sr_xml_text(&c->xml, "name", name);
  sr_urdf_out_origin_of(c, pose, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, rpy));
  put_geometry(u, i, type);
  if (sr_text_is(element, "visual")) put_color(c, i);
  sr_xml_end(&c->xml);
}

void sr_urdf_out_shapes(srUrdfOut* u, int b) {
  srConvert* c = u->c;
  for (int i = c->first[SR_ELEMENT_SHAPE][b]; i >= 0; i = c->next[SR_ELEMENT_SHAPE][i]) {
    if (!can_say(c, i)) continue;
    const char* use = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, use));
    sr_convert_take(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, density));  // in the inertia of the body
    sr_convert_take(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, material));
    if (!sr_text_is(use, "collision")) put_shape(u, i, "visual");
    if (!sr_text_is(use, "visual")) put_shape(u, i, "collision");
  }
}
