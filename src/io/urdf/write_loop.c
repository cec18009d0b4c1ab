// URDF out: <loop> of URDF+ (see loop.c), the closures between links.
#include "io/urdf/write.h"

// The link that is a frame of the spec; NULL: the ground, where it is no link.
static const char* frame_link(const srUrdfOut* u, const char* ref) {
  const int i = sr_names_find(&u->c->points, ref), b = sr_names_find(&u->c->bodies, ref);
  return i >= 0 ? u->c->point_word[i] : sr_urdf_out_link_name(u, b > 0 ? b : 0);
}

static const char* loop_word(const char* type) {
  static const char* const words[][2] = {{"body", "fixed"},          {"weld", "fixed"},
                                         {"ball", "spherical"},      {"revolute", "continuous"},
                                         {"prismatic", "prismatic"}, {"cylindrical", "cylindrical"},
                                         {"planar", "planar"}};
  for (int k = 0; k < SR_COUNT(words); k++)
    if (sr_text_is(type, words[k][0])) return words[k][1];
  return NULL;
}

// Kinds that URDF+ does not have are not taken, and reported.
void sr_urdf_out_loop(srUrdfOut* u, int i) {
  srConvert* c = u->c;
  const srClosureDef* def = srs_get(c->spec, SR_ELEMENT_CLOSURE, i);
  const char* type = loop_word(def->type.text);
  const char *a = frame_link(u, def->a.text), *b = frame_link(u, def->b.text);
  if (!type || !a || !b) return;
  double axis[3] = {0, 0, 1};
  sr_convert_take(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, type));
  sr_convert_take(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, a));
  sr_convert_take(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, b));
  sr_convert_numbers(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, axis), axis, 3);
  const char* name = sr_convert_text(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, name));
  sr_xml_begin(&c->xml, "loop");
  sr_xml_text(&c->xml, "name", name ? name : sr_pool_printf(c->pool, "loop%d", i + 1));
  sr_xml_text(&c->xml, "type", type);
  sr_urdf_out_one(&c->xml, "predecessor", "link", a);
  sr_urdf_out_one(&c->xml, "successor", "link", b);
  if (!sr_text_is(type, "fixed") && !sr_text_is(type, "spherical")) sr_urdf_out_axis(&c->xml, axis);
  sr_xml_end(&c->xml);
  sr_convert_tell_normal(c, i);
}
