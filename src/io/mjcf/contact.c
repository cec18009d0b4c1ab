// MJCF's contacts: the geoms between which MuJoCo allows contact, and <contact> with its pairs and exclusions.
// Source: MuJoCo's XML reference, "contact", and its computation page, "Collision" and "Constraint model".
//
// Two geoms may touch when contype of one and conaffinity of the other have a bit in common, their bodies are not welded to
// each other, neither is the parent of the other (unless it is the world) and the bodies are not excluded. <pair> holds in
// any case, with numbers of its own. Of two geoms the one with the higher priority gives the numbers; else friction is the
// larger of both, solref and solimp their mean, condim the larger.
//
// MuJoCo's contact is no law of depth and speed: with the impedance d, the acceleration a0 without the contact, the depth x,
//   a = (1 - d) a0 - d b x' - d^2 k x,    k = 1/(dmax tc dr)^2,  b = 2/(dmax tc),    solref = tc dr
// Where d has come to dmax and a0 = 0 this is x'' + 2/tc x' + x/(tc dr)^2 = 0: with the mass M it is Kelvin-Voigt's law with
//   K = M/(tc dr)^2,  D = 2 M/tc          (solref = -k -b of either sign below zero: K = k M, D = b M)
// which is what is taken. M is an approximation: 1/M = 1/M1 + 1/M2, each the mass of all that moves with the body's tree.
//
// Few pairs are elements with names of their own; of many, geoms with the same numbers are a group, and two groups a contact set (contact_group.c).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/mjcf/touch.h"
#include "io/mjcf/words.h"
#include "math/vector3.h"

#define QUARTER_TURN 1.5707963267948966  // rad

// ------------------------------------------------------------------------------------------------------------- trees
static void find_trees(srMjcfTouch* s) {
  const srMjcf* m = s->m;
  const size_t n = (size_t)m->nbody + 1;
  s->weld = sr_pool_alloc(&s->m->r->pool, n * sizeof *s->weld);
  s->tree = sr_pool_alloc(&s->m->r->pool, n * sizeof *s->tree);
  s->mass = sr_pool_alloc(&s->m->r->pool, n * sizeof *s->mass);
  for (int j = 0; j < m->njoint; j++) s->weld[m->joint[j].body] = m->joint[j].body;
  for (int i = 1; i < m->nbody; i++) {
    const int parent = m->body[i].parent;
    if (s->weld[i] == 0) s->weld[i] = s->weld[parent];
    if (!m->body[i].welded) s->tree[i] = m->body[parent].welded ? i : s->tree[parent];
    s->mass[s->tree[i]] += m->body[i].mass;
  }
}

double sr_mjcf_tree_mass(const srMjcfTouch* s, int body) {
  return s->tree[body] > 0 ? s->mass[s->tree[body]] : HUGE_VAL;
}

double sr_mjcf_both_masses(double a, double b) { return 1 / (1 / a + 1 / b); }

bool sr_mjcf_are_joined(const srMjcfTouch* s, int one, int two) {
  const int a = s->weld[one], b = s->weld[two];
  if (a == b) return true;
  if (a == 0 || b == 0 || s->with_parents) return false;
  return s->weld[s->m->body[a].parent] == b || s->weld[s->m->body[b].parent] == a;
}

// -------------------------------------------------------------------------------------------------------------- keys
uint64_t sr_mjcf_pair_key(int a, int b) {
  const uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
  return high << 32 | low;
}

static int by_key(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

bool sr_mjcf_has_key(const srMjcfKeys* keys, uint64_t key) {
  return keys->n > 0 && bsearch(&key, keys->key, (size_t)keys->n, sizeof key, by_key) != NULL;
}

// ---------------------------------------------------------------------------------------------------------- elements
static void stiffness_of(const srMjcfTouch* s, const srMjcfSettings* t, double M, double* K, double* D) {
  if (t->solref[0] > 0 && t->solref[1] > 0) {
    const double tc = s->safe ? fmax(t->solref[0], 2 * s->m->timestep) : t->solref[0];
    *K = M / (tc * t->solref[1] * tc * t->solref[1]);
    *D = 2 * M / tc;
  } else {
    *K = -t->solref[0] * M;
    *D = -t->solref[1] * M;
  }
}

static void add_friction(srMjcf* m, const srMjcfSettings* t, double D, srPlace place, srContactDef* def) {
  if (t->condim < 3 || !(fmax(t->friction[0], t->friction[1]) > 0)) {
    def->friction = (srAttr){.text = "none", .place = place};
    return;
  }
  if (t->condim >= 6 && t->friction[3] != t->friction[4])
    sr_reader_ignore(m->r, place,
                     "rolling friction that depends on the direction (the first of two numbers is taken; the second)");
  if (def->mu2.n == 0) def->mu_s = def->mu_k = sr_reader_one(t->friction[0], place);
  def->bristle_B = sr_reader_one(D, place);
  if (t->condim >= 4) def->mu_spin = sr_reader_one(t->friction[2], place);
  if (t->condim >= 6) def->mu_roll = sr_reader_one(t->friction[3], place);
}

bool sr_mjcf_put_contact(srMjcfTouch* s, const srMjcfSettings* t, double M, srPlace place, srContactDef* def) {
  srMjcf* m = s->m;
  double K, D;
  stiffness_of(s, t, M, &K, &D);
  if (!(M > 0) || !isfinite(M) || !(K > 0) || !isfinite(K) || !(D >= 0) || !isfinite(D)) {
    sr_reader_ignore(m->r, place, "contact of geoms whose bodies have no mass, or without stiffness (solref),");
    return false;
  }
  if (sr_reader_is_over(m->r, place)) return false;
  if (t->margin - t->gap > 0)
    sr_reader_ignore(m->r, place, "'margin' of contacts (they begin where the surfaces meet)");
  def->normal = (srAttr){.text = "kelvin-voigt", .place = place};
  def->K = sr_reader_one(K, place);
  def->D = sr_reader_one(D, place);
  add_friction(m, t, D, place, def);
  sr_reader_add(m->r, SR_ELEMENT_CONTACT, SR_NO_OWNER, def, place);
  if (s->made == 0) s->first = place;
  return true;
}

// ----------------------------------------------------------------------------------------------- friction by direction
// Of a <pair> with two coefficients the first is along MuJoCo's first tangent: the axis of a capsule on a plane; else y of the world, or z where the normal has more
// than half of its length along y, projected on the surface. The second is across it.
static bool find_tangent(srMjcfTouch* s, const srMjcfGeom* a, const srMjcfGeom* b, srPlace place, const srMjcfGeom** on,
                         double direction[3]) {
  const srMjcfGeom* still = s->weld[a->body] == 0 ? a : b;
  const srMjcfGeom* other = still == a ? b : a;
  double pose[16];
  *on = still;
  if (s->weld[still->body] != 0) return false;
  if (sr_mjcf_is_plane(still) && strcmp(other->type, "capsule") == 0) {
    *on = other;
    srm_set3(direction, (const double[]){0, 0, 1});
    return true;
  }
  srm_pose_compose(s->m->body[still->body].outer, still->pose, pose);
  const bool plane = sr_mjcf_is_plane(still), is_z = plane && !(fabs(pose[9]) < 0.5);  // pose[9]: y of the normal
  if (!plane)
    sr_reader_ignore(s->m->r, place, "the change of directions of friction where a normal comes near y of the world");
  for (int k = 0; k < 3; k++) direction[k] = pose[4 * k + (is_z ? 2 : 1)];  // in the axes of the geom
  return true;
}

// Does the shape have this direction now? It has one for all of its contacts.
static bool take_direction(srMjcf* m, const srMjcfGeom* g, const double direction[3], double turn) {
  const srShapeDef* def = srs_get(m->r->spec, SR_ELEMENT_SHAPE, g->index);
  if (def->direction.n == 3) {
    double d[3];
    srm_sub3(def->direction.numbers, direction, d);
    return srm_norm3(d) < 1e-12 && def->turn.number == turn;
  }
  if (!srs_set(m->r->spec, SR_ELEMENT_SHAPE, g->index, SR_MJCF_FIELD(srShapeDef, direction),
               sr_numbers(direction, 3)) ||
      !srs_set(m->r->spec, SR_ELEMENT_SHAPE, g->index, SR_MJCF_FIELD(srShapeDef, turn), sr_number(turn)))
    longjmp(*m->r->pool.on_fail, 1);
  return true;
}

// mu2 is along the direction of a shape, and mu-k across it must not be 0: where the second coefficient is, the direction is turned.
static void add_directions(srMjcfTouch* s, const srMjcfGeom* a, const srMjcfGeom* b, const srMjcfSettings* t,
                           srPlace place, srContactDef* def) {
  const srMjcfGeom* on;
  double direction[3];
  const bool turned = !(t->friction[1] > 0);
  if (t->condim < 3 || t->friction[0] == t->friction[1]) return;
  if (!find_tangent(s, a, b, place, &on, direction) ||
      !take_direction(s->m, on, direction, turned ? QUARTER_TURN : 0)) {
    sr_reader_ignore(s->m->r, place,
                     "friction that depends on the direction between two moving geoms, or with several directions on "
                     "one geom (the first of two numbers is taken; the second)");
    return;
  }
  def->mu2 = sr_reader_one(t->friction[turned], place);
  def->mu_s = def->mu_k = sr_reader_one(t->friction[!turned], place);
}

// ---------------------------------------------------------------------------------------------------------------- pairs
void sr_mjcf_add_pair(srMjcfTouch* s, const srMjcfGeom* a, const srMjcfGeom* b, const srMjcfSettings* t,
                      const char* name, srPlace place) {
  srContactDef def = {.a = {.text = a->shape, .place = place}, .b = {.text = b->shape, .place = place}};
  if (name) def.name = (srAttr){.text = name, .place = place};
  add_directions(s, a, b, t, place, &def);
  s->made += sr_mjcf_put_contact(
      s, t, sr_mjcf_both_masses(sr_mjcf_tree_mass(s, a->body), sr_mjcf_tree_mass(s, b->body)), place, &def);
}

// ------------------------------------------------------------------------------------------------------ by themselves
srMjcfSettings sr_mjcf_mixed(const srMjcfGeom* a, const srMjcfGeom* b) {
  const srMjcfGeom* one = a->priority >= b->priority ? a : b;
  srMjcfSettings t = {.condim = one->condim, .margin = fmax(a->margin, b->margin), .gap = fmax(a->gap, b->gap)};
  const bool equal = a->priority == b->priority;
  double friction[3];
  for (int k = 0; k < 3; k++) friction[k] = equal ? fmax(a->friction[k], b->friction[k]) : one->friction[k];
  const bool times = a->solref[0] > 0 && b->solref[0] > 0;
  for (int k = 0; k < 2; k++) {
    const double mean = times ? 0.5 * (a->solref[k] + b->solref[k]) : fmin(a->solref[k], b->solref[k]);
    t.solref[k] = equal ? mean : one->solref[k];
  }
  if (equal && b->condim > t.condim) t.condim = b->condim;
  const double all[5] = {friction[0], friction[0], friction[1], friction[2], friction[2]};
  memcpy(t.friction, all, sizeof all);
  return t;
}

// --------------------------------------------------------------------------------------------------- pair and exclude
static void each_of(srMjcfTouch* s, const char* word, void (*read)(srMjcfTouch* s, const srXmlNode* node)) {
  for (const srXmlNode* section = s->m->root->first; section; section = section->next) {
    if (strcmp(section->name, "contact") != 0) continue;
    for (const srXmlNode* node = section->first; node && !s->m->r->stopped; node = node->next)
      if (strcmp(node->name, word) == 0) read(s, node);
  }
}

static void sort(srMjcfKeys* keys) {
  if (keys->n > 0) qsort(keys->key, (size_t)keys->n, sizeof *keys->key, by_key);
}

static void read_exclude(srMjcfTouch* s, const srXmlNode* node) {
  srMjcf* m = s->m;
  const int a = sr_mjcf_find(m, node, "body1", &m->body_names, "body");
  const int b = sr_mjcf_find(m, node, "body2", &m->body_names, "body");
  if (!sr_xml_attribute(node, "body1") || !sr_xml_attribute(node, "body2"))
    sr_mjcf_error(m, node->place, "<exclude> needs 'body1' and 'body2'");
  else if (a >= 0 && b >= 0)
    SR_PUSH(&m->r->pool, s->excluded.key, s->excluded.n, s->excluded.capacity) = sr_mjcf_pair_key(a, b);
}

// A geom without contacts of its own was treated as visual; a pair makes it a collision shape.
static void make_solid(srMjcf* m, const srMjcfGeom* g) {
  if (g->contype != 0 || g->conaffinity != 0) return;
  sr_mjcf_set_shape(m, g, SR_MJCF_FIELD(srShapeDef, use), "both");
  if (strcmp(g->type, "mesh") == 0) sr_mjcf_set_shape(m, g, SR_MJCF_FIELD(srShapeDef, type), "hull");
}

void sr_mjcf_set_shape(srMjcf* m, const srMjcfGeom* g, int field, const char* text) {
  if (!srs_set(m->r->spec, SR_ELEMENT_SHAPE, g->index, field, sr_text(text))) longjmp(*m->r->pool.on_fail, 1);
}

static bool read_touch(srMjcf* m, const srXmlNode* node, srMjcfSettings* t) {
  double condim;
  *t = (srMjcfSettings){.friction = {1, 1, 0.005, 0.0001, 0.0001}, .solref = {0.02, 1}};
  const int n = sr_mjcf_numbers(m, node, NULL, "friction", 1, 5, t->friction);
  const bool good = sr_mjcf_number(m, node, NULL, "condim", 3, &condim) &&
                    sr_mjcf_number(m, node, NULL, "margin", 0, &t->margin) &&
                    sr_mjcf_number(m, node, NULL, "gap", 0, &t->gap) &&
                    sr_mjcf_numbers(m, node, NULL, "solref", 1, 2, t->solref) >= 0 && n >= 0;
  if (!good) return false;
  t->condim = condim == 1 || condim == 3 || condim == 4 || condim == 6 ? (int)condim : 0;
  if (t->condim == 0) sr_mjcf_error(m, node->place, "'condim' is 1, 3, 4 or 6, not %g", condim);
  return t->condim > 0;
}

static void read_pair(srMjcfTouch* s, const srXmlNode* node) {
  srMjcf* m = s->m;
  srMjcfSettings t;
  const int a = sr_mjcf_find(m, node, "geom1", &m->geom_names, "geom");
  const int b = sr_mjcf_find(m, node, "geom2", &m->geom_names, "geom");
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  if (!sr_xml_attribute(node, "geom1") || !sr_xml_attribute(node, "geom2"))
    sr_mjcf_error(m, node->place, "<pair> needs 'geom1' and 'geom2'");
  if (!read_touch(m, node, &t) || a < 0 || b < 0 || a >= m->ngeom || b >= m->ngeom) return;
  SR_PUSH(&m->r->pool, s->paired.key, s->paired.n, s->paired.capacity) = sr_mjcf_pair_key(a, b);
  if (!m->geom[a].shape || !m->geom[b].shape) {
    sr_reader_ignore(m->r, node->place, "<pair> with a geom that has no shape here");
    return;
  }
  if (s->weld[m->geom[a].body] == s->weld[m->geom[b].body]) {
    sr_reader_ignore(m->r, node->place, "<pair> of geoms that cannot move against each other");
    return;
  }
  make_solid(m, &m->geom[a]);
  make_solid(m, &m->geom[b]);
  if (sr_mjcf_is_plane(&m->geom[a]) && sr_mjcf_is_plane(&m->geom[b])) return;  // nor in MuJoCo
  sr_mjcf_add_pair(s, &m->geom[a], &m->geom[b], &t,
                   name && *name->value ? sr_reader_name(m->r, name->value, NULL) : NULL, node->place);
}

void sr_mjcf_contacts(srMjcf* m, const srXmlNode* section) {
  for (const srXmlNode* node = section->first; node && !sr_reader_is_over(m->r, node->place); node = node->next) {
    if (strcmp(node->name, "pair") == 0)
      sr_mjcf_check_attributes(m, node, "geom1|geom2|condim|friction|solref|solimp|margin|gap",
                               "solreffriction|adhesion");
    else if (strcmp(node->name, "exclude") == 0)
      sr_mjcf_check_attributes(m, node, "body1|body2", "");
    else
      sr_mjcf_other_element(m, node, "pair|exclude", "");
  }
}

// ----------------------------------------------------------------------------------------------------------- messages
static void tell(const srMjcfTouch* s) {
  srReader* r = s->m->r;
  if (s->made > 0)
    sr_reader_warning(
        r, s->first,
        "contacts (%d) are Kelvin-Voigt's law with solref's time and damping for the mass of the moving trees, "
        "an approximation of MuJoCo's: see docs/robots/mjcf-sections.md",
        s->made);
}

// <option collision="predefined"/> of MuJoCo before 3.0: what <pair> names touches, and nothing else.
static bool pairs_alone(const srMjcf* m) {
  bool alone = false;
  for (const srXmlNode* option = m->root->first; option; option = option->next) {
    const srXmlAttribute* a = strcmp(option->name, "option") == 0 ? sr_xml_attribute(option, "collision") : NULL;
    if (a) alone = strcmp(a->value, "predefined") == 0;
  }
  return alone;
}

void sr_mjcf_touching(srMjcf* m) {
  if (sr_mjcf_is_disabled(m, "contact")) return;
  srMjcfTouch s = {
      .m = m, .safe = !sr_mjcf_is_disabled(m, "refsafe"), .with_parents = sr_mjcf_is_disabled(m, "filterparent")};
  find_trees(&s);
  each_of(&s, "exclude", read_exclude);
  each_of(&s, "pair", read_pair);
  sort(&s.excluded);
  sort(&s.paired);
  if (!pairs_alone(m)) sr_mjcf_find_touching(&s);
  tell(&s);
}
