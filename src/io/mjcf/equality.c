// MJCF's <equality>: connect and weld become closures of loops, joint a coupling or a constraint by formula, tendon a
// constraint by formula. MuJoCo's are soft (solref, solimp), Sarrus's are hard.
// Source: MuJoCo's XML reference, "equality".
//
//   connect  the anchor on body1; on body2 the point where it is at qpos0; or two sites
//   weld     body2 in body1 as given by relpose, else as at qpos0; or two sites
//   joint    q1 - ref1 = c0 + c1 x + c2 x^2 + c3 x^3 + c4 x^4, x = q2 - ref2; without a second joint x = 0
//   tendon   the same of lengths
#include <math.h>
#include <string.h>

#include "io/close.h"
#include "io/mjcf/law.h"
#include "io/mjcf/words.h"
#include "math/pose.h"

#define COMMON "active|solref|solimp"

static const char* name_of(srMjcf* m, const srXmlNode* node) {
  const srXmlAttribute* a = sr_xml_attribute(node, "name");
  if (!m->constraints.pool) sr_names_init(&m->constraints, &m->r->pool);
  return a ? sr_reader_name(m->r, a->value, &m->constraints) : NULL;
}

static srAttr optional(const char* text, srPlace place) {
  return text ? (srAttr){.text = text, .place = place} : (srAttr){0};
}

// ---------------------------------------------------------------------------------------------------------- closures
typedef struct Frames {
  const char *a, *b;  // "body/point"
} Frames;

static void add_closure(srMjcf* m, const srXmlNode* node, const char* type, Frames f) {
  srClosureDef def = {.name = optional(name_of(m, node), node->place),
                      .type = optional(type, node->place),
                      .a = optional(f.a, node->place),
                      .b = optional(f.b, node->place)};
  sr_reader_add(m->r, SR_ELEMENT_CLOSURE, SR_NO_OWNER, &def, node->place);
}

// Points for both poses, each in its MJCF body's frame. Their names have the place in the list of closures.
static Frames add_points(srMjcf* m, const srXmlNode* node, int one, const double a[16], int two, const double b[16]) {
  const int i = srs_count(m->r->spec, SR_ELEMENT_CLOSURE);
  const char* wish = sr_pool_printf(&m->r->pool, "%s%d", node->name, i + 1);
  Frames f;
  f.a = sr_mjcf_add_point(m, one, a, wish, node->place);
  f.b = sr_mjcf_add_point(m, two, b, wish, node->place);
  return f;
}

// Two sites at their poses at qpos0. Where rounded numbers leave them apart, a point next to the first replaces it.
static Frames close_sites(srMjcf* m, const srXmlNode* node, const char* type, const srMjcfSite* a,
                          const srMjcfSite* b) {
  static const double no_axis[3] = {0};
  srLoopEnds ends = {.type = type, .axis = no_axis, .body = m->body[a->body].outer};
  Frames f = {a->point, b->point};
  memcpy(ends.a, a->pose, sizeof ends.a);
  srm_pose_compose(m->body[b->body].outer, b->pose, ends.b);
  if (!sr_loop_close(&ends) || !ends.moved) return f;
  const char* wish = sr_pool_printf(&m->r->pool, "%s%d", node->name, srs_count(m->r->spec, SR_ELEMENT_CLOSURE) + 1);
  f.a = sr_mjcf_add_point(m, a->body, ends.a, wish, node->place);
  sr_loop_tell(m->r, &ends, "body", m->body[a->body].name, node->place);
  return f;
}

// The two sites, if there are some. 1: yes, 0: none are named, -1 after an error.
static int find_sites(srMjcf* m, const srXmlNode* node, const char* type, Frames* f) {
  const bool one = sr_xml_attribute(node, "site1") != NULL, two = sr_xml_attribute(node, "site2") != NULL;
  if (!one && !two) return 0;
  if (!one || !two || sr_xml_attribute(node, "body1") || sr_xml_attribute(node, "body2")) {
    sr_mjcf_error(m, node->place, "<%s> takes 'site1' and 'site2', or 'body1' and 'body2'", node->name);
    return -1;
  }
  const int a = sr_mjcf_find(m, node, "site1", &m->site_names, "site");
  const int b = sr_mjcf_find(m, node, "site2", &m->site_names, "site");
  if (a < 0 || b < 0) return -1;
  *f = close_sites(m, node, type, &m->site[a], &m->site[b]);
  return 1;
}

// body1 must be there; body2 is the world if not.
static bool find_bodies(srMjcf* m, const srXmlNode* node, int* one, int* two) {
  const bool given = sr_xml_attribute(node, "body2") != NULL;
  *one = sr_mjcf_find(m, node, "body1", &m->body_names, "body");
  *two = given ? sr_mjcf_find(m, node, "body2", &m->body_names, "body") : 0;
  if (!sr_xml_attribute(node, "body1"))
    sr_mjcf_error(m, node->place, "<%s> needs 'body1', or 'site1' and 'site2'", node->name);
  return *one >= 0 && *two >= 0;
}

// Body two seen from body one at qpos0.
static void relative(const srMjcf* m, int one, int two, double out[16]) {
  double inverse[16];
  srm_pose_invert(m->body[one].outer, inverse);
  srm_pose_compose(inverse, m->body[two].outer, out);
}

static void read_connect(srMjcf* m, const srXmlNode* node) {
  Frames f;
  double a[16], b[16], back[16];
  int one, two;
  sr_mjcf_check_attributes(m, node, COMMON "|body1|body2|anchor|site1|site2", "");
  const int sites = find_sites(m, node, "ball", &f);
  if (sites != 0) {
    if (sites > 0) add_closure(m, node, "ball", f);
    return;
  }
  if (!find_bodies(m, node, &one, &two)) return;
  const srXmlAttribute* anchor = sr_xml_attribute(node, "anchor");
  srm_pose_identity(a);
  if (!anchor) {
    sr_mjcf_error(m, node->place, "<connect> with 'body1' needs 'anchor'");
    return;
  }
  if (sr_reader_numbers(m->r, anchor, 3, 3, a + 12) != 3) return;
  relative(m, two, one, back);
  srm_pose_identity(b);
  srm_pose_point(back, a + 12, b + 12);
  add_closure(m, node, "ball", add_points(m, node, one, a, two, b));
}

// The pose of body2 in body1 that 'relpose' gives; false: none, or four zeros for its quaternion.
static bool given_pose(srMjcf* m, const srXmlNode* node, double pose[16], bool* good) {
  const srXmlAttribute* a = sr_xml_attribute(node, "relpose");
  double x[7];
  *good = true;
  if (!a) return false;
  *good = sr_reader_numbers(m->r, a, 7, 7, x) == 7;
  if (!*good) return false;
  double norm = 0;
  for (int i = 3; i < 7; i++) norm = hypot(norm, x[i]);
  if (!(norm > 0) || !isfinite(norm)) return false;
  for (int i = 3; i < 7; i++) x[i] /= norm;
  srm_pose_identity(pose);
  srm_pose_from_quaternion(x + 3, pose);
  memcpy(pose + 12, x, 3 * sizeof *x);
  return true;
}

// A relpose of rounded numbers: body2 is nearly there at qpos0.
static void close_weld(srMjcf* m, const srXmlNode* node, const char* type, int one, double a[16], int two,
                       const double b[16]) {
  static const double no_axis[3] = {0};
  srLoopEnds ends = {.type = type, .axis = no_axis, .body = m->body[one].outer};
  memcpy(ends.a, a, sizeof ends.a);
  srm_pose_compose(m->body[two].outer, b, ends.b);
  if (!sr_loop_close(&ends)) return;
  memcpy(a, ends.a, sizeof ends.a);
  sr_loop_tell(m->r, &ends, "body", m->body[one].name, node->place);
}

static void weld_bodies(srMjcf* m, const srXmlNode* node, const char* type) {
  double a[16], b[16], at[3] = {0};
  int one, two;
  bool good;
  if (!find_bodies(m, node, &one, &two)) return;
  const srXmlAttribute* anchor = sr_xml_attribute(node, "anchor");
  if (anchor && sr_reader_numbers(m->r, anchor, 3, 3, at) != 3) return;
  srm_pose_identity(b);
  memcpy(b + 12, at, sizeof at);
  if (!given_pose(m, node, a, &good) && good) {
    double two_in_one[16];
    relative(m, one, two, two_in_one);
    srm_pose_compose(two_in_one, b, a);
  } else if (good) {
    close_weld(m, node, type, one, a, two, b);
  }
  if (good) add_closure(m, node, type, add_points(m, node, one, a, two, b));
}

static void read_weld(srMjcf* m, const srXmlNode* node) {
  Frames f;
  double scale;
  sr_mjcf_check_attributes(m, node, COMMON "|body1|body2|anchor|relpose|site1|site2|torquescale", "");
  if (!sr_reader_number(m->r, node, "torquescale", 1, &scale)) return;
  if (scale != 0 && scale != 1) sr_reader_ignore(m->r, node->place, "'torquescale' of <weld>");
  const char* type = scale == 0 ? "ball" : "weld";  // without torques it is a connect
  const int sites = find_sites(m, node, type, &f);
  if (sites > 0) add_closure(m, node, type, f);
  if (sites == 0) weld_bodies(m, node, type);
}

// ---------------------------------------------------------------------------------------------------------- formulas
typedef struct Side {
  const char* text;  // q(joint) or the length of a tendon
  double start;      // its value at qpos0
} Side;

static void add_coupling(srMjcf* m, const srXmlNode* node, int one, int two, const double c[5]) {
  const srPlace place = node->place;
  srCouplingDef def = {.name = optional(name_of(m, node), place),
                       .joint = optional(m->joint[one].name, place),
                       .to = optional(m->joint[two].name, place),
                       .ratio = sr_reader_one(c[1], place)};
  const double offset = m->joint[one].ref + c[0] - c[1] * m->joint[two].ref;
  if (offset != 0) def.offset = sr_reader_one(offset, place);
  sr_reader_add(m->r, SR_ELEMENT_COUPLING, SR_NO_OWNER, &def, place);
}

// "two - start" in parentheses, or two alone.
static const char* shifted(srMjcf* m, const Side* two) {
  if (two->start == 0) return two->text;
  return sr_pool_printf(&m->r->pool, "(%s - %s)", two->text, sr_mjcf_literal(&m->r->pool, two->start));
}

// one = start + c0 + c1 x + ..., x = two - start; two NULL: x = 0.
static void add_polynomial(srMjcf* m, const srXmlNode* node, const Side* one, const Side* two, const double c[5]) {
  srMjcfText sum = {.pool = &m->r->pool};
  const char* x = two ? shifted(m, two) : NULL;
  if (one->start + c[0] != 0) sr_mjcf_write(&sum, sr_mjcf_literal(sum.pool, one->start + c[0]));
  for (int i = 1; two && i < 5; i++)
    if (c[i] != 0) sr_mjcf_write_term(&sum, c[i], i == 1 ? x : sr_pool_printf(&m->r->pool, "%s^%d", x, i));
  const char* text = sr_pool_printf(&m->r->pool, "%s = %s", one->text, sr_mjcf_written(&sum));
  sr_mjcf_charge(m, strlen(text), 3);
  srConstraintDef def = {.name = optional(name_of(m, node), node->place), .expr = optional(text, node->place)};
  sr_reader_add(m->r, SR_ELEMENT_CONSTRAINT, SR_NO_OWNER, &def, node->place);
}

static bool read_coefficients(srMjcf* m, const srXmlNode* node, double c[5]) {
  const double start[5] = {0, 1, 0, 0, 0};
  memcpy(c, start, sizeof start);
  const srXmlAttribute* a = sr_xml_attribute(node, "polycoef");
  return !a || sr_reader_numbers(m->r, a, 1, 5, c) > 0;
}

static bool check_scalar(srMjcf* m, const srXmlNode* node, int joint) {
  if (sr_mjcf_is_scalar(m, joint)) return true;
  sr_mjcf_error(m, node->place, "<joint> of <equality> takes hinge and slide joints, not '%.60s'",
                m->joint[joint].name);
  return false;
}

static void read_joint(srMjcf* m, const srXmlNode* node) {
  double c[5];
  sr_mjcf_check_attributes(m, node, COMMON "|joint1|joint2|polycoef", "");
  const int one = sr_mjcf_find(m, node, "joint1", &m->joint_names, "joint");
  const int two = sr_mjcf_find(m, node, "joint2", &m->joint_names, "joint");
  const bool both = sr_xml_attribute(node, "joint2") != NULL;
  if (!sr_xml_attribute(node, "joint1")) sr_mjcf_error(m, node->place, "<joint> of <equality> needs 'joint1'");
  if (!read_coefficients(m, node, c) || one < 0 || (both && two < 0)) return;
  if (!check_scalar(m, node, one) || (both && !check_scalar(m, node, two))) return;
  const bool linear = c[2] == 0 && c[3] == 0 && c[4] == 0 && c[1] != 0;
  const Side left = {sr_mjcf_coordinate(m, one, false), m->joint[one].ref};
  if (both && linear) {
    add_coupling(m, node, one, two, c);
  } else if (both) {
    const Side right = {sr_mjcf_coordinate(m, two, false), m->joint[two].ref};
    add_polynomial(m, node, &left, &right, c);
  } else {
    add_polynomial(m, node, &left, NULL, c);
  }
}

// A fixed tendon. False: none, or one that is not used.
static bool read_side(srMjcf* m, const srXmlNode* node, const char* attribute, Side* side) {
  const int i = sr_mjcf_find(m, node, attribute, &m->tendon_names, "tendon");
  if (i < 0) return false;
  const srMjcfTendon* t = &m->tendon[i];
  if (t->n == 0) {
    sr_reader_ignore(m->r, node->place, "<tendon> of <equality> with a spatial tendon");
    return false;
  }
  *side = (Side){sr_mjcf_tendon_text(m, t, false), sr_mjcf_tendon_start(m, t)};
  return true;
}

static void read_tendon(srMjcf* m, const srXmlNode* node) {
  double c[5];
  Side one, two;
  sr_mjcf_check_attributes(m, node, COMMON "|tendon1|tendon2|polycoef", "");
  const bool both = sr_xml_attribute(node, "tendon2") != NULL;
  if (!sr_xml_attribute(node, "tendon1")) sr_mjcf_error(m, node->place, "<tendon> of <equality> needs 'tendon1'");
  if (!read_coefficients(m, node, c) || !read_side(m, node, "tendon1", &one)) return;
  if (both && !read_side(m, node, "tendon2", &two)) return;
  add_polynomial(m, node, &one, both ? &two : NULL, c);
}

// ------------------------------------------------------------------------------------------------------------- entry
static const struct Kind {
  const char* word;
  void (*read)(srMjcf* m, const srXmlNode* node);
} kinds[] = {{"connect", read_connect}, {"weld", read_weld}, {"joint", read_joint}, {"tendon", read_tendon}};

static void read_equality(srMjcf* m, const srXmlNode* node, const struct Kind* kind) {
  if (!sr_mjcf_flag(m, node, NULL, "active", true)) {
    sr_reader_ignore(m->r, node->place, "<%s> of <equality> with active=\"false\"", node->name);
    return;
  }
  const srXmlAttribute* soft = sr_mjcf_attribute(m, node, NULL, "solref");
  if (!soft) soft = sr_mjcf_attribute(m, node, NULL, "solimp");
  if (soft) sr_reader_ignore(m->r, soft->place, "softness (solref, solimp) of <equality>, which is exact here,");
  kind->read(m, node);
}

void sr_mjcf_equalities(srMjcf* m, const srXmlNode* section) {
  if (sr_mjcf_is_disabled(m, "equality")) return;
  for (const srXmlNode* node = section->first; node && !sr_reader_is_over(m->r, node->place); node = node->next) {
    int k = 0;
    while (k < SR_COUNT(kinds) && strcmp(kinds[k].word, node->name) != 0) k++;
    if (k < SR_COUNT(kinds))
      read_equality(m, node, &kinds[k]);
    else
      sr_mjcf_other_element(m, node, "connect|weld|joint|tendon", "distance|flex|flexvert|flexstrain");
  }
}
