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
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/mjcf/law.h"
#include "io/mjcf/words.h"

#define MAX_GEOMS 4000      // that may touch something: their pairs are checked one by one
#define MAX_CONTACTS 10000  // elements that are made
#define MAX_BETWEEN 100     // pairs of moving geoms other than spheres

static const char* const types[] = {"plane", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh"};
enum { PLANE, SPHERE, TYPES = SR_COUNT(types), MESH = TYPES - 1 };

// Numbers of a contact.
typedef struct PairSettings {
  int condim;
  double friction[5];  // two of sliding, spinning, two of rolling
  double solref[2];
  double margin, gap;
} PairSettings;

typedef struct Keys {
  uint64_t* key;
  int n, capacity;
} Keys;

typedef struct Search {
  srMjcf* m;
  int* weld;     // of every body: the first body that it is welded to
  int* tree;     // the first moving body of its tree, 0: it does not move
  double* mass;  // of the tree, kg
  Keys excluded, paired;
  int made, left;             // contacts, and those beyond the bound
  int between;                // pairs of moving geoms other than spheres and meshes
  bool counting;              // them alone
  int missing[TYPES][TYPES];  // pairs that our contacts cannot do
  srPlace first;              // the first contact
  bool lost;                  // more geoms than are checked
  bool safe;                  // refsafe: no time constant below two time steps
  bool with_parents;          // a body and its parent may touch too
} Search;

// ------------------------------------------------------------------------------------------------------------- trees
static void find_trees(Search* s) {
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

static double mass_of(const Search* s, int one, int two) {
  const int a = s->tree[one], b = s->tree[two];
  const double inverse = (a > 0 ? 1 / s->mass[a] : 0) + (b > 0 ? 1 / s->mass[b] : 0);
  return 1 / inverse;
}

static bool are_kept_apart(const Search* s, int one, int two) {
  const int a = s->weld[one], b = s->weld[two];
  if (a == b) return true;
  if (a == 0 || b == 0 || s->with_parents) return false;
  return s->weld[s->m->body[a].parent] == b || s->weld[s->m->body[b].parent] == a;
}

// -------------------------------------------------------------------------------------------------------------- keys
static uint64_t key_of(int a, int b) {
  const uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
  return high << 32 | low;
}

static int by_key(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static bool has(const Keys* keys, uint64_t key) {
  return keys->n > 0 && bsearch(&key, keys->key, (size_t)keys->n, sizeof key, by_key) != NULL;
}

// ---------------------------------------------------------------------------------------------------------- elements
static int type_of(const srMjcfGeom* g) {
  const int i = sr_word_index(types, TYPES, g->type);
  return i >= 0 ? i : SPHERE;
}

// Closed forms, whose cost does not count.
static bool is_simple(int a, int b) { return (a == SPHERE && b <= SPHERE) || (b == SPHERE && a <= SPHERE); }

// A mesh has no contact here, since it may be concave. Pairs of two moving bodies are left out where they are very many: each is an element, and
// most of them never touch.
static bool can_touch(const Search* s, const srMjcfGeom* a, const srMjcfGeom* b) {
  const int one = type_of(a), two = type_of(b);
  if (is_simple(one, two)) return true;
  if (one == MESH || two == MESH) return false;
  return s->tree[a->body] == 0 || s->tree[b->body] == 0 || s->between <= MAX_BETWEEN;
}

static void stiffness_of(const Search* s, const PairSettings* t, double M, double* K, double* D) {
  if (t->solref[0] > 0 && t->solref[1] > 0) {
    const double tc = s->safe ? fmax(t->solref[0], 2 * s->m->timestep) : t->solref[0];
    *K = M / (tc * t->solref[1] * tc * t->solref[1]);
    *D = 2 * M / tc;
  } else {
    *K = -t->solref[0] * M;
    *D = -t->solref[1] * M;
  }
}

static void add_friction(srMjcf* m, const PairSettings* t, double D, srPlace place, srContactDef* def) {
  if (t->condim < 3 || !(t->friction[0] > 0)) {
    def->friction = (srAttr){.text = "none", .place = place};
    return;
  }
  if (t->friction[0] != t->friction[1] || t->friction[3] != t->friction[4])
    sr_reader_ignore(m->r, place,
                     "friction that depends on the direction (the first of two numbers is taken; the second)");
  def->mu_s = def->mu_k = sr_reader_one(t->friction[0], place);
  def->bristle_B = sr_reader_one(D, place);
  if (t->condim >= 4) def->mu_spin = sr_reader_one(t->friction[2], place);
  if (t->condim >= 6) def->mu_roll = sr_reader_one(t->friction[3], place);
}

static void make_contact(Search* s, const srMjcfGeom* a, const srMjcfGeom* b, const PairSettings* t, const char* name,
                         srPlace place) {
  srMjcf* m = s->m;
  double K, D;
  const double M = mass_of(s, a->body, b->body);
  stiffness_of(s, t, M, &K, &D);
  if (!(M > 0) || !isfinite(M) || !(K > 0) || !isfinite(K) || !(D >= 0) || !isfinite(D)) {
    sr_reader_ignore(m->r, place, "contact of geoms whose bodies have no mass, or without stiffness (solref),");
    return;
  }
  if (s->made >= MAX_CONTACTS || sr_reader_is_over(m->r, place)) {
    s->left++;
    return;
  }
  if (t->margin - t->gap > 0)
    sr_reader_ignore(m->r, place, "'margin' of contacts (they begin where the surfaces meet)");
  srContactDef def = {.a = {.text = a->shape, .place = place}, .b = {.text = b->shape, .place = place}};
  if (name) def.name = (srAttr){.text = name, .place = place};
  def.normal = (srAttr){.text = "kelvin-voigt", .place = place};
  def.K = sr_reader_one(K, place);
  def.D = sr_reader_one(D, place);
  add_friction(m, t, D, place, &def);
  sr_reader_add(m->r, SR_ELEMENT_CONTACT, SR_NO_OWNER, &def, place);
  if (s->made++ == 0) s->first = place;
}

static void add_contact(Search* s, const srMjcfGeom* a, const srMjcfGeom* b, const PairSettings* t, const char* name,
                        srPlace place) {
  const int one = type_of(a), two = type_of(b);
  if (one == PLANE && two == PLANE) return;  // nor in MuJoCo
  if (s->counting)
    s->between += !is_simple(one, two) && one != MESH && two != MESH && s->tree[a->body] > 0 && s->tree[b->body] > 0;
  else if (can_touch(s, a, b))
    make_contact(s, a, b, t, name, place);
  else
    s->missing[one > two ? one : two][one > two ? two : one]++;
}

// ------------------------------------------------------------------------------------------------------ by themselves
static PairSettings mixed(const srMjcfGeom* a, const srMjcfGeom* b) {
  const srMjcfGeom* one = a->priority >= b->priority ? a : b;
  PairSettings t = {.condim = one->condim, .margin = fmax(a->margin, b->margin), .gap = fmax(a->gap, b->gap)};
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

static void find_touching(Search* s) {
  const srMjcf* m = s->m;
  int* list = sr_pool_alloc(&s->m->r->pool, (size_t)(m->ngeom + 1) * sizeof *list);
  int n = 0;
  for (int i = 0; i < m->ngeom; i++)
    if (m->geom[i].contype != 0 || m->geom[i].conaffinity != 0) list[n++] = i;
  s->lost = n > MAX_GEOMS;
  if (s->lost) n = MAX_GEOMS;
  for (int i = 0; i < n && !m->r->stopped; i++)
    for (int k = i + 1; k < n && !m->r->stopped; k++) {
      const srMjcfGeom *a = &m->geom[list[i]], *b = &m->geom[list[k]];
      if (!(a->contype & b->conaffinity) && !(b->contype & a->conaffinity)) continue;
      if (are_kept_apart(s, a->body, b->body) || has(&s->excluded, key_of(a->body, b->body))) continue;
      if (has(&s->paired, key_of(list[i], list[k]))) continue;
      const PairSettings t = mixed(a, b);
      add_contact(s, a, b, &t, NULL, b->place);
    }
}

// --------------------------------------------------------------------------------------------------- pair and exclude
static void each_of(Search* s, const char* word, void (*read)(Search* s, const srXmlNode* node)) {
  for (const srXmlNode* section = s->m->root->first; section; section = section->next) {
    if (strcmp(section->name, "contact") != 0) continue;
    for (const srXmlNode* node = section->first; node && !s->m->r->stopped; node = node->next)
      if (strcmp(node->name, word) == 0) read(s, node);
  }
}

static void sort(Keys* keys) {
  if (keys->n > 0) qsort(keys->key, (size_t)keys->n, sizeof *keys->key, by_key);
}

static void read_exclude(Search* s, const srXmlNode* node) {
  srMjcf* m = s->m;
  const int a = sr_mjcf_find(m, node, "body1", &m->body_names, "body");
  const int b = sr_mjcf_find(m, node, "body2", &m->body_names, "body");
  if (!sr_xml_attribute(node, "body1") || !sr_xml_attribute(node, "body2"))
    sr_mjcf_error(m, node->place, "<exclude> needs 'body1' and 'body2'");
  else if (a >= 0 && b >= 0)
    SR_PUSH(&m->r->pool, s->excluded.key, s->excluded.n, s->excluded.capacity) = key_of(a, b);
}

// A geom without contacts of its own was treated as visual; a pair makes it a collision shape.
static void make_solid(srMjcf* m, const srMjcfGeom* g) {
  if (g->contype != 0 || g->conaffinity != 0) return;
  const char* name = strchr(g->shape, '/') + 1;
  for (int i = srs_count(m->r->spec, SR_ELEMENT_SHAPE) - 1; i >= 0; i--) {
    const srShapeDef* def = srs_get(m->r->spec, SR_ELEMENT_SHAPE, i);
    if (!def->name.text || strcmp(def->name.text, name) != 0) continue;
    if (srs_owner(m->r->spec, SR_ELEMENT_SHAPE, i) != m->body[g->body].index) continue;
    if (!srs_set(m->r->spec, SR_ELEMENT_SHAPE, i, SR_MJCF_FIELD(srShapeDef, use), sr_text("both")))
      longjmp(*m->r->pool.on_fail, 1);
    return;
  }
}

static bool read_touch(srMjcf* m, const srXmlNode* node, PairSettings* t) {
  double condim;
  *t = (PairSettings){.friction = {1, 1, 0.005, 0.0001, 0.0001}, .solref = {0.02, 1}};
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

static void read_pair(Search* s, const srXmlNode* node) {
  srMjcf* m = s->m;
  PairSettings t;
  const int a = sr_mjcf_find(m, node, "geom1", &m->geom_names, "geom");
  const int b = sr_mjcf_find(m, node, "geom2", &m->geom_names, "geom");
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  if (!sr_xml_attribute(node, "geom1") || !sr_xml_attribute(node, "geom2"))
    sr_mjcf_error(m, node->place, "<pair> needs 'geom1' and 'geom2'");
  if (!read_touch(m, node, &t) || a < 0 || b < 0 || a >= m->ngeom || b >= m->ngeom) return;
  SR_PUSH(&m->r->pool, s->paired.key, s->paired.n, s->paired.capacity) = key_of(a, b);
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
  add_contact(s, &m->geom[a], &m->geom[b], &t, name && *name->value ? sr_reader_name(m->r, name->value, NULL) : NULL,
              node->place);
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
static void tell_missing(const Search* s) {
  srMjcfText list = {.pool = &s->m->r->pool};
  for (int i = 0; i < TYPES; i++)
    for (int k = 0; k < TYPES; k++) {
      if (s->missing[i][k] == 0) continue;
      if (list.n > 0) sr_mjcf_write(&list, ", ");
      sr_mjcf_write(&list, sr_pool_printf(&s->m->r->pool, "%s-%s %d", types[i], types[k], s->missing[i][k]));
    }
  if (list.n > 0)
    sr_reader_warning(
        s->m->r, s->m->root->place,
        "contacts between these pairs of geoms are left out: %s (meshes have none in this version; of moving "
        "geoms other than spheres no more than %d pairs are taken)",
        sr_mjcf_written((srMjcfText*)&list), MAX_BETWEEN);
}

static void tell(Search* s) {
  srReader* r = s->m->r;
  tell_missing(s);
  if (s->left > 0)
    sr_reader_warning(r, s->first, "%d contacts are made, and %d more pairs of geoms are left out", s->made, s->left);
  if (s->lost)
    sr_reader_warning(r, s->m->root->place, "contacts are searched for among the first %d geoms only", MAX_GEOMS);
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
  Search s = {
      .m = m, .safe = !sr_mjcf_is_disabled(m, "refsafe"), .with_parents = sr_mjcf_is_disabled(m, "filterparent")};
  find_trees(&s);
  each_of(&s, "exclude", read_exclude);
  each_of(&s, "pair", read_pair);
  sort(&s.excluded);
  sort(&s.paired);
  for (int pass = 0; pass < 2 && !pairs_alone(m); pass++) {
    s.counting = pass == 0;
    find_touching(&s);
  }
  tell(&s);
}
