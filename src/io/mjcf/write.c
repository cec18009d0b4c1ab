// MJCF out: the whole, section by section (write.h). Our body frame is the joint's frame at q = 0, as the frame of
// an MJCF body is whose joints have their anchors in its origin. Several degrees of freedom are several joints in one body. What
// becomes of each element is described in docs/robots/convert.md.
#include "io/mjcf/write.h"
#include "io/xml/xml.h"
#include "math/pose.h"

void sr_mjcf_out_pose(srXmlWriter* w, const double pose[16]) {
  double quaternion[4];
  if (pose[12] != 0 || pose[13] != 0 || pose[14] != 0) sr_xml_numbers(w, "pos", pose + 12, 3);
  if (!srm_pose_is_turned(pose)) return;
  srm_quaternion_from_pose(pose, quaternion);
  sr_xml_numbers(w, "quat", quaternion, 4);
}

static void put_options(srConvert* c) {
  sr_xml_begin(&c->xml, "compiler");
  sr_xml_text(&c->xml, "angle", "radian");
  sr_xml_text(&c->xml, "inertiafromgeom", "false");
  sr_xml_end(&c->xml);
  sr_xml_begin(&c->xml, "option");
  sr_xml_numbers(&c->xml, "gravity", c->m->gravity, 3);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_OPTION); i++)
    sr_convert_take(c, SR_ELEMENT_OPTION, i, SR_TAKE(srOptionDef, gravity));
  if (srs_count(c->spec, SR_ELEMENT_RUN) > 0 && sr_convert_given(c, SR_ELEMENT_RUN, 0, SR_TAKE(srRunDef, step)))
    sr_xml_number(&c->xml, "timestep", sr_convert_number(c, SR_ELEMENT_RUN, 0, SR_TAKE(srRunDef, step), 0));
  sr_xml_end(&c->xml);
}

// What is the same for many elements is reported once.
static void tell_whole(const srMjcfOut* x) {
  srConvert* c = x->c;
  if (x->nsolid > 0)
    sr_convert_lose(c, x->first_solid, SR_LOSS_NOTHING,
                    sr_pool_printf(c->pool, "contacts of %d shape%s", x->nsolid, x->nsolid == 1 ? "" : "s"),
                    "contype and conaffinity are 0, so that nothing touches that does not in the model");
  if (x->nstop > 0)
    sr_convert_lose(c, (srPlace){0}, SR_LOSS_MOTION,
                    sr_pool_printf(c->pool, "stops of %d joint%s, the first is '%s'", x->nstop,
                                   x->nstop == 1 ? "" : "s", x->first_stop),
                    "limit-stiffness and limit-damping are not given: MJCF's own are softer (solreflimit)");
  if (x->nlaw > 0)
    sr_convert_lose(c, (srPlace){0}, SR_LOSS_MOTION,
                    sr_pool_printf(c->pool, "stops of %d joint%s with a limit-law, the first is '%s'", x->nlaw,
                                   x->nlaw == 1 ? "" : "s", x->first_law),
                    "MJCF has one law: limit-law, limit-stiffness and limit-damping are lost, and its own stops hold "
                    "(solreflimit)");
  if (c->xml.deepest > SR_XML_MAX_DEPTH)
    sr_convert_lose(c, (srPlace){0}, SR_LOSS_NOTHING, "the depth of the tree",
                    "MJCF nests bodies: the file is %d elements deep, and Sarrus's own reader accepts %d",
                    c->xml.deepest, SR_XML_MAX_DEPTH);
}

void sr_write_mjcf(srConvert* c) {
  srMjcfOut x = {.c = c};
  sr_mjcf_out_find_bodies(&x);
  sr_mjcf_out_find_contacts(&x);
  sr_xml_begin(&c->xml, "mujoco");
  sr_xml_text(&c->xml, "model", c->m->name);
  put_options(c);
  sr_mjcf_out_assets(c);
  sr_mjcf_out_world(&x);
  sr_mjcf_out_contacts(&x);
  sr_mjcf_out_equalities(&x);
  sr_mjcf_out_actuators(&x);
  sr_mjcf_out_key(&x);
  tell_whole(&x);
}
