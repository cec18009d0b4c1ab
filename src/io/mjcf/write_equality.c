// MJCF out: <equality>. Screws and couplings are joints that follow others by a polynomial; closures hold sites
// together (write_site.c).
#include "io/mjcf/write.h"

static void put_equality_joint(srConvert* c, const char* name, const char* joint, const char* to, double offset,
                               double ratio) {
  sr_xml_begin(&c->xml, "joint");
  if (name) sr_xml_text(&c->xml, "name", name);
  sr_xml_text(&c->xml, "joint1", joint);
  sr_xml_text(&c->xml, "joint2", to);
  sr_xml_numbers(&c->xml, "polycoef", (const double[]){offset, ratio, 0, 0, 0}, 5);
  sr_xml_end(&c->xml);
}

static void put_couplings(srConvert* c) {
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_COUPLING); i++) {
    if (c->m->coupling[i].n != 2) continue;  // a joint follows one other
    const char* joint = sr_convert_text(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, joint));
    const char* to = sr_convert_text(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, to));
    const char* name = sr_convert_text(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, name));
    const double ratio = sr_convert_number(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, ratio), 1);
    put_equality_joint(c, name, joint, to,
                       sr_convert_number(c, SR_ELEMENT_COUPLING, i, SR_TAKE(srCouplingDef, offset), 0), ratio);
  }
}

static void put_pair_of_sites(srConvert* c, const char* element, const char* name, const char* a, const char* b) {
  sr_xml_begin(&c->xml, element);
  if (name) sr_xml_text(&c->xml, "name", name);
  sr_xml_text(&c->xml, "site1", a);
  sr_xml_text(&c->xml, "site2", b);
  sr_xml_end(&c->xml);
}

// A hinge holds two points of its axis.
static void put_closures(srMjcfOut* x) {
  srConvert* c = x->c;
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_CLOSURE); i++) {
    const srClosureDef* def = srs_get(c->spec, SR_ELEMENT_CLOSURE, i);
    if (!sr_mjcf_out_is_joined(def)) continue;
    const char* type = sr_convert_text(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, type));
    const char* name = sr_convert_text(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, name));
    const char* a = sr_mjcf_out_site(x, sr_convert_text(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, a)));
    const char* b = sr_mjcf_out_site(x, sr_convert_text(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, b)));
    const bool hinge = sr_text_is(type, "revolute");
    put_pair_of_sites(c, hinge || sr_text_is(type, "ball") ? "connect" : "weld", name, a, b);
    sr_convert_tell_normal(c, i);
    if (!hinge) continue;
    put_pair_of_sites(c, "connect", NULL, x->axis_site[2 * i].word, x->axis_site[2 * i + 1].word);
    sr_convert_lose(c, srs_place(c->spec, SR_ELEMENT_CLOSURE, i), SR_LOSS_NOTHING,
                    sr_convert_title(c, SR_ELEMENT_CLOSURE, i),
                    "MJCF closes loops by points: two of its axis are held, so that one of six equations is redundant");
  }
}

void sr_mjcf_out_equalities(srMjcfOut* x) {
  srConvert* c = x->c;
  int n = 0;
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_CLOSURE); i++)
    n += sr_mjcf_out_is_joined(srs_get(c->spec, SR_ELEMENT_CLOSURE, i));
  if (n > 0)
    sr_convert_lose(c, (srPlace){0}, SR_LOSS_NOTHING, "closures", "they name two sites each: MuJoCo from 3.2.3 on");
  if (n + x->nscrew + srs_count(c->spec, SR_ELEMENT_COUPLING) == 0) return;
  sr_xml_begin(&c->xml, "equality");
  for (int i = 0; i < x->nscrew; i++)
    put_equality_joint(c, NULL, x->screws[i].slide, x->screws[i].hinge, 0, x->screws[i].pitch);
  put_couplings(c);
  put_closures(x);
  sr_xml_end(&c->xml);
}
