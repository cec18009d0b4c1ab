// MJCF out: <site>. The points of a body, and what <equality> has to name and the model has no point for: frames of
// bodies, and second points on the axes of hinges that close loops.
#include "io/mjcf/write.h"
#include "math/dense.h"
#include "math/pose.h"

#define ALONG 0.1  // m: how far the second point of a hinge that closes a loop is from the first, on its axis

bool sr_mjcf_out_is_joined(const srClosureDef* def) {
  const char* type = def->type.text;
  return sr_text_is(type, "weld") || sr_text_is(type, "body") || sr_text_is(type, "ball") ||
         sr_text_is(type, "revolute");
}

// ----------------------------------------------------------------------------------------------- what closures ask for
// A body by its name; all other names are the ground's.
static int body_of(const srConvert* c, const char* ref) {
  const int b = sr_names_find(&c->bodies, ref);
  return b > 0 ? b : 0;
}

// Body and pose in it of a frame that a closure names.
static int frame_of(srConvert* c, const char* ref, double pose[16]) {
  const int i = sr_names_find(&c->points, ref);
  srm_pose_identity(pose);
  if (i < 0) return body_of(c, ref);
  sr_convert_pose(c, SR_ELEMENT_POINT, i, SR_TAKE(srPointDef, at), SR_TAKE(srPointDef, rot), SR_TAKE(srPointDef, rpy),
                  pose);
  const int owner = srs_owner(c->spec, SR_ELEMENT_POINT, i);
  if (owner < 0) return 0;
  return sr_names_find(&c->bodies, ((const srBodyDef*)srs_get(c->spec, SR_ELEMENT_BODY, owner))->name.text);
}

// Bodies that a closure names without a point.
static void mark_frames(srMjcfOut* x, const srClosureDef* def) {
  const srConvert* c = x->c;
  const char* refs[] = {def->a.text, def->b.text};
  for (int side = 0; side < 2; side++)
    if (sr_names_find(&c->points, refs[side]) < 0) x->framed[body_of(c, refs[side])] = true;
}

// The second points on the axis of closure i, one on each side.
static void add_axis_sites(srMjcfOut* x, int i, const srClosureDef* def) {
  srConvert* c = x->c;
  const char* refs[] = {def->a.text, def->b.text};
  double axis[3] = {0, 0, 1}, pose[16];
  sr_convert_numbers(c, SR_ELEMENT_CLOSURE, i, SR_TAKE(srClosureDef, axis), axis, 3);
  const double length = srm_norm3(axis);  // compiled: not zero
  for (int k = 0; k < 3; k++) axis[k] *= ALONG / length;
  for (int side = 0; side < 2; side++) {
    srMjcfAxisSite* site = &x->axis_site[2 * i + side];
    const int b = frame_of(c, refs[side], pose);
    srm_pose_point(pose, axis, site->at);
    site->next = x->first_axis_site[b];
    x->first_axis_site[b] = 2 * i + side;
  }
}

void sr_mjcf_out_find_sites(srMjcfOut* x) {
  srConvert* c = x->c;
  const int n = srs_count(c->spec, SR_ELEMENT_CLOSURE);
  const size_t bodies = (size_t)c->m->nbody + 1;
  x->framed = sr_pool_alloc(c->pool, bodies);
  x->frame_word = sr_pool_alloc(c->pool, bodies * sizeof *x->frame_word);
  x->axis_site = sr_pool_alloc(c->pool, (size_t)(2 * n + 1) * sizeof *x->axis_site);
  x->first_axis_site = sr_pool_alloc(c->pool, bodies * sizeof *x->first_axis_site);
  for (int b = 0; b <= c->m->nbody; b++) x->first_axis_site[b] = -1;
  for (int i = 0; i < n; i++) {
    const srClosureDef* def = srs_get(c->spec, SR_ELEMENT_CLOSURE, i);
    if (sr_mjcf_out_is_joined(def)) mark_frames(x, def);
    if (sr_text_is(def->type.text, "revolute")) add_axis_sites(x, i, def);
  }
}

const char* sr_mjcf_out_site(const srMjcfOut* x, const char* ref) {
  const int i = sr_names_find(&x->c->points, ref);
  return i >= 0 ? x->c->point_word[i] : x->frame_word[body_of(x->c, ref)];
}

// ----------------------------------------------------------------------------------------------------------- in a body
static void put_point(srConvert* c, int i, int b) {
  double pose[16];
  const char* point = sr_convert_text(c, SR_ELEMENT_POINT, i, SR_TAKE(srPointDef, name));
  const bool is_new = sr_names_find(&c->point_names, point) < 0;
  const char* name = is_new ? sr_convert_name(c, &c->point_names, "%s", point)
                            : sr_convert_name(c, &c->point_names, "%s_%s", c->m->body_name[b], point);
  c->point_word[i] = name;
  sr_convert_pose(c, SR_ELEMENT_POINT, i, SR_TAKE(srPointDef, at), SR_TAKE(srPointDef, rot), SR_TAKE(srPointDef, rpy),
                  pose);
  sr_xml_begin(&c->xml, "site");
  sr_xml_text(&c->xml, "name", name);
  sr_mjcf_out_pose(&c->xml, pose);
  sr_xml_end(&c->xml);
}

static void put_axis_site(srConvert* c, srMjcfAxisSite* site, int b) {
  site->word = sr_convert_name(c, &c->point_names, "%s_axis", c->m->body_name[b]);
  sr_xml_begin(&c->xml, "site");
  sr_xml_text(&c->xml, "name", site->word);
  sr_xml_numbers(&c->xml, "pos", site->at, 3);
  sr_xml_end(&c->xml);
}

static void put_frame(srMjcfOut* x, int b) {
  srConvert* c = x->c;
  x->frame_word[b] = sr_convert_name(c, &c->point_names, "%s_frame", c->m->body_name[b]);
  sr_xml_begin(&c->xml, "site");
  sr_xml_text(&c->xml, "name", x->frame_word[b]);
  sr_xml_end(&c->xml);
}

void sr_mjcf_out_sites(srMjcfOut* x, int b) {
  srConvert* c = x->c;
  for (int i = c->first[SR_ELEMENT_POINT][b]; i >= 0; i = c->next[SR_ELEMENT_POINT][i]) put_point(c, i, b);
  for (int i = x->first_axis_site[b]; i >= 0; i = x->axis_site[i].next) put_axis_site(c, &x->axis_site[i], b);
  if (x->framed[b]) put_frame(x, b);
}
