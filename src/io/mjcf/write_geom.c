// MJCF out: <geom>, the shapes of a body. Their mass is in <inertial>, and contype and conaffinity are 0: else all of
// them would touch each other, which they do not in the model. Those that do are in a <pair>, or in a contact of many (write_contact.c).
#include "io/mjcf/write.h"

// Half of lengths and edges, as MJCF has them.
static void put_size(srConvert* c, const char* type, const double size[3]) {
  const double half[3] = {0.5 * size[0], 0.5 * size[1], 0.5 * size[2]};
  if (sr_text_is(type, "plane")) {
    sr_xml_numbers(&c->xml, "size", (const double[]){0, 0, 1}, 3);  // without end
  } else if (sr_text_is(type, "sphere")) {
    sr_xml_numbers(&c->xml, "size", size, 1);
  } else if (sr_text_is(type, "box")) {
    sr_xml_numbers(&c->xml, "size", half, 3);
  } else if (sr_text_is(type, "ellipsoid")) {
    sr_xml_numbers(&c->xml, "size", size, 3);
  } else {
    sr_xml_numbers(&c->xml, "size", (const double[]){size[0], half[1]}, 2);
  }
}

// MuJoCo takes the hull of a mesh for contacts.
static bool has_mesh(const char* type) { return sr_text_is(type, "mesh") || sr_text_is(type, "hull"); }

// What MJCF cannot express is not taken, so that it is reported.
bool sr_mjcf_out_has_geom(const srConvert* c, int i, int b) {
  const srShapeDef* def = srs_get(c->spec, SR_ELEMENT_SHAPE, i);
  const double size = def->size.numbers ? def->size.numbers[0] : def->size.number;
  if (sr_text_is(def->type.text, "cone") || sr_text_is(def->type.text, "surface")) return false;
  if (sr_text_is(def->type.text, "heightfield")) return false;
  if (has_mesh(def->type.text)) {
    const int mesh = def->mesh.text ? sr_names_find(&c->meshes, def->mesh.text) : -1;
    return mesh >= 0 && sr_mjcf_out_has_mesh(c, mesh);
  }
  if (sr_text_is(def->type.text, "plane")) return b == 0 || c->m->body_link[b] == 0;  // on what does not move alone
  return !(size < 0);                                                                 // hollow
}

// Form and place, of a shape of this type.
static void put_form(srConvert* c, int i, const char* type) {
  double pose[16], size[3] = {0};
  const char* mesh = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, mesh));
  sr_convert_pose(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, at), SR_TAKE(srShapeDef, rot), SR_TAKE(srShapeDef, rpy),
                  pose);
  sr_convert_numbers(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, size), size, 3);
  sr_xml_text(&c->xml, "type", has_mesh(type) ? "mesh" : type);
  if (has_mesh(type))
    sr_xml_text(&c->xml, "mesh", mesh);
  else
    put_size(c, type, size);
  sr_mjcf_out_pose(&c->xml, pose);
}

static void put_geom(srMjcfOut* x, int i) {
  srConvert* c = x->c;
  double rgba[4];
  const char* name = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, name));
  const char* type = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, type));
  const char* use = sr_convert_text(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, use));
  sr_convert_take(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, density));  // in the inertia of the body
  sr_convert_take(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, material));
  sr_xml_begin(&c->xml, "geom");
  if (name || x->in_pair[i]) x->geom_word[i] = sr_convert_name(c, &c->mesh_names, "%s", name ? name : "geom");
  if (x->geom_word[i]) sr_xml_text(&c->xml, "name", x->geom_word[i]);
  put_form(c, i, type);
  if (sr_convert_numbers(c, SR_ELEMENT_SHAPE, i, SR_TAKE(srShapeDef, color), rgba, 4) == 4)
    sr_xml_numbers(&c->xml, "rgba", rgba, 4);
  sr_xml_text(&c->xml, "mass", "0");
  sr_mjcf_out_filter(x, i);
  sr_xml_end(&c->xml);
  if (!sr_text_is(use, "visual") && !x->in_pair[i] && x->nsolid++ == 0)
    x->first_solid = srs_place(c->spec, SR_ELEMENT_SHAPE, i);
}

void sr_mjcf_out_geoms(srMjcfOut* x, int b) {
  srConvert* c = x->c;
  for (int i = c->first[SR_ELEMENT_SHAPE][b]; i >= 0; i = c->next[SR_ELEMENT_SHAPE][i]) {
    const srShapeDef* def = srs_get(c->spec, SR_ELEMENT_SHAPE, i);
    const bool mesh = has_mesh(def->type.text) && def->mesh.text;
    if (sr_mjcf_out_has_geom(c, i, b))
      put_geom(x, i);
    else if (mesh && sr_mjcf_out_is_missing(c, sr_names_find(&c->meshes, def->mesh.text)))
      sr_mjcf_out_lose_missing(c, SR_ELEMENT_SHAPE, i);
  }
}
