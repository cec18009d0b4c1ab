// Contacts: pairs of shapes by name, group or body; defaults come from the materials. Gaps by formula.
//
// Two materials make a pair: K by Hertz from E, nu and the radii (a material without E is rigid compared with the other);
//   restitution   e^2 = (s_a e_a^2 + s_b e_b^2)/(s_a + s_b), s = (1 - nu^2)/E: the softer body stores most of the energy and
//                 determines how much of it is lost; without E both count the same
//   friction      mu = sqrt(mu_a mu_b); along the direction of a shape with mu2 of its material instead
// <pair> overrides the materials, attributes of <contact> override both.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collide/collision.h"
#include "model/compile_contact.h"

#define MOST_ELEMENTS 64  // pairs of one <contact> that are elements with names of their own; more are a set

// ------------------------------------------------------------------------------------------------------------ shapes
static srContactShape shape_of(srCompiler* c, int i) {
  const int owner = srs_owner(c->spec, SR_ELEMENT_SHAPE, i);
  const int body = owner >= 0 ? c->body_of_spec[owner] : 0;
  const char* name = sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, name));
  srContactShape s = {.index = i, .body = body, .link = c->m->body_link[body], .radius = HUGE_VAL};
  s.type = sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, type));
  s.material = sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, material));
  s.name = name ? sr_pool_printf(c->pool, "%s/%s", c->m->body_name[body], name)
                : sr_pool_text(c->pool, c->m->body_name[body]);
  s.kind = c->m->collision[i].convex.kind;
  s.radius = c->m->collision[i].size;
  return s;
}

static bool is_same(const char* a, const char* b) { return a && b && strcmp(a, b) == 0; }

// Does `word` denote shape i? 1: the shape itself, 2: its group, 3: its body.
static int meaning(srCompiler* c, int i, const char* word) {
  const int owner = srs_owner(c->spec, SR_ELEMENT_SHAPE, i);
  const char* body = c->m->body_name[owner >= 0 ? c->body_of_spec[owner] : 0];
  const char* name = sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, name));
  const char* slash = strchr(word, '/');
  if (slash) {
    const size_t n = (size_t)(slash - word);
    return is_same(name, slash + 1) && strlen(body) == n && strncmp(body, word, n) == 0 ? 1 : 0;
  }
  if (is_same(name, word)) return 1;
  if (is_same(sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, group)), word)) return 2;
  return is_same(body, word) ? 3 : 0;
}

static bool is_visual(srCompiler* c, int i) {
  return is_same(sr_c_text(c, SR_ELEMENT_SHAPE, i, SR_FIELD(srShapeDef, use)), "visual");
}

// Nothing has this name: suggests the nearest.
static void tell_unknown(srCompiler* c, const char* word, srPlace place) {
  if (sr_names_find(&c->bodies, word) >= 0 || strcmp(word, "ground") == 0) {
    sr_c_error(c, place, "body '%s' has no shape", word);
    return;
  }
  srNames names;
  sr_names_init(&names, &c->scratch);
  for (int k = 0; k < srs_count(c->spec, SR_ELEMENT_SHAPE); k++) {
    const char* name = sr_c_text(c, SR_ELEMENT_SHAPE, k, SR_FIELD(srShapeDef, name));
    const char* group = sr_c_text(c, SR_ELEMENT_SHAPE, k, SR_FIELD(srShapeDef, group));
    if (name) sr_names_put(&names, name, k);
    if (group) sr_names_put(&names, group, k);
  }
  for (int b = 0; b <= c->m->nbody; b++) sr_names_put(&names, c->m->body_name[b], b);
  (void)sr_c_find(c, &names, word, "shape, group or body", place);
}

static bool find_shapes(srCompiler* c, srElementKind element, int i, int field, srContactShapes* out) {
  static const char* const kinds[] = {"", "shape", "group", "body"};
  const char* word = sr_c_text(c, element, i, field);
  const srPlace place = sr_c_place(c, element, i, field);
  if (!word) return false;
  int kind = 0, visual = 0;
  for (int k = 0; k < srs_count(c->spec, SR_ELEMENT_SHAPE); k++) {
    const int found = meaning(c, k, word);
    visual = found != 0 && is_visual(c, k) ? found : visual;
    if (found == 0 || is_visual(c, k)) continue;
    if (kind != 0 && (found != kind || kind == 1)) {
      sr_c_error(c, place, "'%s' can mean a %s and another %s; write body/shape, or another name", word, kinds[kind],
                 kinds[found]);
      return false;
    }
    kind = found;
    SR_PUSH(&c->scratch, out->shape, out->n, out->capacity) = shape_of(c, k);
  }
  if (kind == 0 && visual == 1)
    sr_c_error(c, place, "the shape '%s' is for pictures alone (use=\"visual\"): no contact finds it", word);
  else if (kind == 0 && visual != 0)
    sr_c_error(c, place, "the %s '%s' has shapes for pictures alone (use=\"visual\"): no contact finds them",
               kinds[visual], word);
  else if (kind == 0)
    tell_unknown(c, word, place);
  return kind != 0;
}

// All shapes that something can touch. materials: those with a material alone.
static void find_all_shapes(srCompiler* c, bool materials, srContactShapes* out) {
  for (int k = 0; k < srs_count(c->spec, SR_ELEMENT_SHAPE); k++) {
    const srContactShape s = shape_of(c, k);
    if (s.kind == SR_KIND_NONE || (materials && !s.material)) continue;
    SR_PUSH(&c->scratch, out->shape, out->n, out->capacity) = s;
  }
}

// ---------------------------------------------------------------------------------------------------------- exclusions
static int by_key(const void* a, const void* b) {
  const long long x = *(const long long*)a, y = *(const long long*)b;
  return (x > y) - (x < y);
}

// All pairs of shapes of the <exclude> elements, sorted.
void sr_compile_excluded(srCompiler* c) {
  const srElementKind kind = SR_ELEMENT_EXCLUDE;
  const int n = c->m->nshape;
  long long* key = NULL;
  int count = 0, capacity = 0;
  for (int i = 0; i < srs_count(c->spec, kind); i++) {
    srContactShapes a = {0}, b = {0};
    const bool found = find_shapes(c, kind, i, SR_FIELD(srExcludeDef, a), &a);
    if (!find_shapes(c, kind, i, SR_FIELD(srExcludeDef, b), &b) || !found) continue;
    for (int k = 0; k < a.n; k++) {
      for (int l = 0; l < b.n; l++) {
        SR_PUSH(&c->scratch, key, count, capacity) = sr_shape_key(n, a.shape[k].index, b.shape[l].index);
      }
    }
  }
  if (count > 0) qsort(key, (size_t)count, sizeof *key, by_key);
  long long* kept = sr_pool_alloc(c->pool, ((size_t)count + 1) * sizeof *kept);
  if (count > 0) memcpy(kept, key, (size_t)count * sizeof *kept);
  c->priv->nexcluded = count;
  c->priv->excluded = kept;
}

// ------------------------------------------------------------------------------------------------------------- cards
// Properties of a pair of surfaces; NaN: not given.
typedef struct Card {
  double E, nu, e, mu_s, mu_k, mu2;
} Card;

static const Card no_card = {(double)NAN, 0.3, (double)NAN, (double)NAN, (double)NAN, (double)NAN};

static bool card_of(srCompiler* c, const char* material, Card* out) {
  *out = no_card;
  if (!material) return true;
  const srElementKind kind = SR_ELEMENT_MATERIAL;
  const int k = sr_names_find(&c->materials, material);  // an unknown one has been reported
  if (k < 0) return false;
  bool good = sr_c_optional(c, kind, k, SR_FIELD(srMaterialDef, E), &out->E);
  good &= sr_c_optional(c, kind, k, SR_FIELD(srMaterialDef, nu), &out->nu);
  good &= sr_c_optional(c, kind, k, SR_FIELD(srMaterialDef, restitution), &out->e);
  good &= sr_c_optional(c, kind, k, SR_FIELD(srMaterialDef, mu_s), &out->mu_s);
  good &= sr_c_optional(c, kind, k, SR_FIELD(srMaterialDef, mu_k), &out->mu_k);
  good &= sr_c_optional(c, kind, k, SR_FIELD(srMaterialDef, mu2), &out->mu2);
  if (isnan(out->mu_k)) out->mu_k = out->mu_s;
  if (isnan(out->mu_s)) out->mu_s = out->mu_k;
  return good;
}

static void put_given(double from, double* to) {
  if (!isnan(from)) *to = from;
}

// The <pair> of two materials, where there is one.
static bool pair_of(srCompiler* c, const char* a, const char* b, Card* out) {
  *out = no_card;
  const srElementKind kind = SR_ELEMENT_PAIR;
  for (int i = 0; a && b && i < srs_count(c->spec, kind); i++) {
    const char* text = sr_c_text(c, kind, i, SR_FIELD(srPairDef, materials));
    char first[128] = "", second[128] = "", rest[2] = "";
    if (!text || sscanf(text, "%127s %127s %1s", first, second, rest) != 2) continue;  // reported before
    if (!(is_same(first, a) && is_same(second, b)) && !(is_same(first, b) && is_same(second, a))) continue;
    bool good = sr_c_optional(c, kind, i, SR_FIELD(srPairDef, restitution), &out->e);
    good &= sr_c_optional(c, kind, i, SR_FIELD(srPairDef, mu_s), &out->mu_s);
    good &= sr_c_optional(c, kind, i, SR_FIELD(srPairDef, mu_k), &out->mu_k);
    good &= sr_c_optional(c, kind, i, SR_FIELD(srPairDef, mu2), &out->mu2);
    if (isnan(out->mu_k)) out->mu_k = out->mu_s;
    if (isnan(out->mu_s)) out->mu_s = out->mu_k;
    return good;
  }
  return true;
}

// A number of a material, if given: its range.
typedef struct Range {
  int field;
  double least, most;
  bool open;  // least itself is refused
  const char* text;
} Range;

static void check_range(srCompiler* c, srElementKind kind, int i, const char* name, const Range* r) {
  double x;
  if (!sr_c_optional(c, kind, i, r->field, &x) || isnan(x)) return;
  if (x <= r->most && (r->open ? x > r->least : x >= r->least)) return;
  sr_c_error(c, sr_c_place(c, kind, i, r->field), "%s needs %s, got %g", name, r->text, x);
}

static void check_limits(srCompiler* c, srElementKind kind, int i, const char* name, int s, int k, int along) {
  double mu_s, mu_k;
  check_range(c, kind, i, name, &(Range){along, 0, HUGE_VAL, false, "mu2 >= 0"});
  check_range(c, kind, i, name, &(Range){s, 0, HUGE_VAL, false, "mu-s >= 0"});
  check_range(c, kind, i, name, &(Range){k, 0, HUGE_VAL, false, "mu-k >= 0"});
  if (sr_c_errors(c) > 0 || !sr_c_optional(c, kind, i, s, &mu_s) || !sr_c_optional(c, kind, i, k, &mu_k)) return;
  if (mu_s < mu_k) {
    sr_c_error(c, sr_c_place(c, kind, i, s), "%s needs mu-s not below mu-k = %g, got %g", name, mu_k, mu_s);
  }
}

// All materials, whether used or not.
static void check_materials(srCompiler* c) {
  const srElementKind kind = SR_ELEMENT_MATERIAL;
  const Range ranges[] = {
      {SR_FIELD(srMaterialDef, E), 0, HUGE_VAL, true, "E > 0"},
      {SR_FIELD(srMaterialDef, nu), -1, 0.5, true, "-1 < nu <= 0.5"},
      {SR_FIELD(srMaterialDef, restitution), 0, 1, false, "0 <= restitution <= 1"},
  };
  for (int i = 0; i < srs_count(c->spec, kind); i++) {
    const srMaterialDef* def = srs_get(c->spec, kind, i);
    const char* name = sr_pool_printf(&c->scratch, "material '%s'", def->name.text ? def->name.text : "");
    for (int k = 0; k < SR_COUNT(ranges); k++) check_range(c, kind, i, name, &ranges[k]);
    check_limits(c, kind, i, name, SR_FIELD(srMaterialDef, mu_s), SR_FIELD(srMaterialDef, mu_k),
                 SR_FIELD(srMaterialDef, mu2));
  }
}

// The two names of a <pair>, in alphabetical order, so that a pair has one name. NULL: there are not two.
static const char* name_of_pair(srCompiler* c, int i) {
  const char* text = sr_c_text(c, SR_ELEMENT_PAIR, i, SR_FIELD(srPairDef, materials));
  const srPlace place = sr_c_place(c, SR_ELEMENT_PAIR, i, SR_FIELD(srPairDef, materials));
  char name[2][128] = {"", ""}, rest[2] = "";
  if (!text) return NULL;
  if (sscanf(text, "%127s %127s %1s", name[0], name[1], rest) != 2) {
    sr_c_error(c, place, "'materials' of <pair> takes two names, got '%s'", text);
    return NULL;
  }
  for (int k = 0; k < 2; k++) (void)sr_c_find(c, &c->materials, name[k], "material", place);
  const int swap = strcmp(name[0], name[1]) > 0;
  return sr_pool_printf(&c->scratch, "'%s' and '%s'", name[swap], name[1 - swap]);
}

void sr_compile_pairs(srCompiler* c) {
  const srElementKind kind = SR_ELEMENT_PAIR;
  check_materials(c);
  srNames pairs;
  sr_names_init(&pairs, &c->scratch);
  for (int i = 0; i < srs_count(c->spec, kind); i++) {
    const char* name = name_of_pair(c, i);
    if (!name) continue;
    if (!sr_names_put(&pairs, name, i)) {
      const srPlace first = srs_place(c->spec, kind, sr_names_find(&pairs, name));
      sr_c_error(c, srs_place(c->spec, kind, i), "a second <pair> of %s: the first is at %s:%d:%d", name,
                 first.file ? first.file : "", first.line, first.column);
    }
    name = sr_pool_printf(&c->scratch, "<pair> of %s", name);
    check_range(c, kind, i, name, &(Range){SR_FIELD(srPairDef, restitution), 0, 1, false, "0 <= restitution <= 1"});
    check_limits(c, kind, i, name, SR_FIELD(srPairDef, mu_s), SR_FIELD(srPairDef, mu_k), SR_FIELD(srPairDef, mu2));
  }
}

// Properties of two surfaces together, from their materials.
static Card combined(const Card* a, const Card* b) {
  const double sa = (1 - a->nu * a->nu) / a->E, sb = (1 - b->nu * b->nu) / b->E;
  const bool both = !isnan(sa) && !isnan(sb);
  const double wa = both ? sa / (sa + sb) : 0.5;
  Card out = no_card;
  out.e = sqrt(wa * a->e * a->e + (1 - wa) * b->e * b->e);
  out.mu_s = sqrt(a->mu_s * b->mu_s);
  out.mu_k = sqrt(a->mu_k * b->mu_k);
  return out;
}

// ---------------------------------------------------------------------------------------------------------- contact
#define PLACE(member) sr_c_place(c, SR_ELEMENT_CONTACT, i, SR_FIELD(srContactDef, member))
#define OPTIONAL(member, out) sr_c_optional(c, SR_ELEMENT_CONTACT, i, SR_FIELD(srContactDef, member), out)

static bool needs(srCompiler* c, int i, const char* name, const char* law, const char* what) {
  sr_c_error(c, srs_place(c->spec, SR_ELEMENT_CONTACT, i), "%s: the law '%s' needs %s", name, law, what);
  return false;
}

// Numbers that the laws do not use. Where several laws can be chosen, another one may use them.
static void report_unused(srCompiler* c, int i, const srSurfaceLaws* x) {
  const srContactDef* def = srs_get(c->spec, SR_ELEMENT_CONTACT, i);
  const struct {
    const srAttr* attr;
    int field;
    bool used;
  } numbers[] = {
      {&def->n, SR_FIELD(srContactDef, n), (x->law->uses & SR_NORMAL_USES(n)) != 0},
      {&def->D, SR_FIELD(srContactDef, D), (x->law->uses & SR_NORMAL_USES(D)) != 0},
      {&def->restitution, SR_FIELD(srContactDef, restitution), (x->law->uses & SR_NORMAL_USES(e)) != 0},
      {&def->mu_s, SR_FIELD(srContactDef, mu_s), x->slip.law != NULL},
      {&def->mu_k, SR_FIELD(srContactDef, mu_k), x->slip.law != NULL},
      {&def->mu2, SR_FIELD(srContactDef, mu2), x->slip.law != NULL && !sr_given(def->gap)},
      {&def->relaxation, SR_FIELD(srContactDef, relaxation), x->slip.law != NULL && !sr_given(def->gap)},
      {&def->mu_roll, SR_FIELD(srContactDef, mu_roll), x->slip.law != NULL && !sr_given(def->gap)},
      {&def->mu_spin, SR_FIELD(srContactDef, mu_spin), x->slip.law != NULL && !sr_given(def->gap)},
  };
  const char* normal = sr_c_text(c, SR_ELEMENT_CONTACT, i, SR_FIELD(srContactDef, normal));
  const char* friction = sr_c_text(c, SR_ELEMENT_CONTACT, i, SR_FIELD(srContactDef, friction));
  for (int k = 0; k < SR_COUNT(numbers); k++) {
    if (numbers[k].used || !sr_given(*numbers[k].attr) || strchr(k < 3 ? normal : friction, ' ')) continue;
    sr_c_warning(c, sr_c_place(c, SR_ELEMENT_CONTACT, i, numbers[k].field), "'%s' does nothing: %s does not use it",
                 srs_element(SR_ELEMENT_CONTACT)->fields[numbers[k].field].word,
                 k < 3 ? x->law->name : "a contact without friction, or by a gap,");
  }
}

static bool check_lever(srCompiler* c, int i, int field, double lever) {
  if (!(lever < 0)) return true;
  sr_c_error(c, sr_c_place(c, SR_ELEMENT_CONTACT, i, field), "'%s' is a lever in metres, 0 or more, not %g",
             srs_element(SR_ELEMENT_CONTACT)->fields[field].word, lever);
  return false;
}

// What both kinds of contacts share: laws and numbers that do not depend on the pair.
static bool common(srCompiler* c, int i, srSurfaceLaws* x, double* tau) {
  const srElementKind kind = SR_ELEMENT_CONTACT;
  const char* normal = sr_c_choice(c, kind, i, SR_FIELD(srContactDef, normal), SR_FIELD(srContactDef, normal_choice));
  const char* friction =
      sr_c_choice(c, kind, i, SR_FIELD(srContactDef, friction), SR_FIELD(srContactDef, friction_choice));
  x->p = sr_normal_defaults();
  if (normal) x->law = sr_c_normal_law(c, normal, PLACE(normal));
  bool good = OPTIONAL(K, &x->p.K);
  good &= OPTIONAL(n, &x->p.n);
  good &= OPTIONAL(D, &x->p.D);
  good &= OPTIONAL(restitution, &x->p.e);
  good &= OPTIONAL(floor, &x->p.floor);
  good &= OPTIONAL(mu_s, &x->slip.s);
  good &= OPTIONAL(mu_k, &x->slip.k);
  good &= OPTIONAL(mu2, &x->along[0]);  // itself: the ratio when mu-k of the pair is known
  good &= OPTIONAL(relaxation, &x->relaxation);
  good &= OPTIONAL(mu_roll, &x->roll.s);
  good &= OPTIONAL(mu_spin, &x->spin.s);
  good &= sr_c_number(c, kind, i, SR_FIELD(srContactDef, tau), tau);
  good &= check_lever(c, i, SR_FIELD(srContactDef, mu_roll), x->roll.s);
  good &= check_lever(c, i, SR_FIELD(srContactDef, mu_spin), x->spin.s);
  if (!normal || !x->law || !friction || !good) return false;
  if (isnan(x->slip.k)) x->slip.k = x->slip.s;
  if (isnan(x->slip.s)) x->slip.s = x->slip.k;
  x->located = x->law->needs_speed;
  const bool none = strcmp(friction, "none") == 0;
  if (!none) x->slip.law = sr_c_friction_law(c, friction, PLACE(friction));
  if (none || x->slip.law) report_unused(c, i, x);
  return none || (x->slip.law && sr_c_bristle(c, kind, i, SR_FIELD(srContactDef, v0), &x->slip, tau));
}

// mu2/mu-k of a pair, if the direction of friction is that of the shape with card `own`. given: mu2 of the <contact>.
static double ratio_along(double given, const Card* pair, const Card* own, const Card* other, double mu_k) {
  const double mu2 = !isnan(given) ? given : !isnan(pair->mu2) ? pair->mu2 : sqrt(own->mu2 * other->mu_k);
  return mu2 / mu_k;
}

static bool check_along(srCompiler* c, int i, const char* name, const srSurfaceLaws* x) {
  for (int k = 0; k < 2; k++) {
    if (isnan(x->along[k]) || (isfinite(x->along[k]) && x->along[k] >= 0)) continue;
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_CONTACT, i),
               x->slip.k > 0 ? "%s: 'mu2' is 0 or more" : "%s: 'mu2' needs 'mu-k' > 0, the friction across", name);
    return false;
  }
  return true;
}

// A tyre: one of the shapes is a wheel, and the law has one bristle in each direction.
static bool check_wheel(srCompiler* c, const srContactPairs* p, const srContactShape* a, const srContactShape* b,
                        const char* name) {
  const srSurfaceLaws* x = &p->x;
  const srPlace place = sr_c_place(c, SR_ELEMENT_CONTACT, p->i, SR_FIELD(srContactDef, relaxation));
  if (isnan(x->relaxation) || !x->slip.law) return true;
  if (!(x->relaxation > 0) || isinf(x->relaxation)) {
    sr_c_error(c, place, "%s: 'relaxation-length' is a length in metres above 0, not %g", name, x->relaxation);
  } else if (x->slip.law->ne != 1) {
    sr_c_error(c, place, "%s: a tyre takes a law with one bristle, kikuuwe, dahl or lugre, not '%s'", name,
               x->slip.law->name);
  } else if (sr_contact_wheel(&c->m->collision[a->index], &c->m->collision[b->index]) < 0) {
    sr_c_error(c, place,
               "%s: 'relaxation-length' is for a wheel (sphere, cylinder, capsule, cone, ellipsoid) on a surface that "
               "is not round, and '%s' is a %s, '%s' a %s",
               name, a->name, a->type, b->name, b->type);
  } else {
    return true;
  }
  return false;
}

// Checks the friction of a contact whose numbers are set.
static bool finish_friction(srCompiler* c, int i, const char* name, double tau, srSurfaceLaws* x) {
  srDryFriction* slip = &x->slip;
  if (!slip->law) return true;
  if (isnan(slip->s)) {
    return needs(c, i, name, slip->law->name, "'mu-s' or 'mu-k', here or on both materials; or friction=\"none\"");
  }
  const bool linear = (x->law->uses & SR_NORMAL_USES(n)) == 0 || x->p.n == 1;
  if (isnan(slip->p.K) && linear) slip->p.K = x->p.K;
  if (isnan(slip->p.K) && (slip->law->uses & SR_FRICTION_USES(K)) != 0) {
    return needs(c, i, name, slip->law->name, "'bristle-K', the stiffness of its bristles in N/m");
  }
  return sr_c_check_friction(c, SR_ELEMENT_CONTACT, i, name, slip, tau);
}

static bool finish_normal(srCompiler* c, int i, const char* name, srSurfaceLaws* x) {
  srNormalParameters* p = &x->p;
  const unsigned uses = x->law->uses;
  if (isnan(p->n)) p->n = 1.5;
  if (isnan(p->D) && (uses & SR_NORMAL_USES(D)) != 0) return needs(c, i, name, x->law->name, "'D', its damping");
  if (isnan(p->e) && (uses & SR_NORMAL_USES(e)) != 0) {
    return needs(c, i, name, x->law->name, "'restitution', here or on both materials");
  }
  if (isnan(p->D)) p->D = 0;
  if (isnan(p->e)) p->e = 1;
  return sr_c_check_normal(c, SR_ELEMENT_CONTACT, i, name, x);
}

static double hertz_of(const srCompiler* c, const srPairKind* pair, const srElastic elastic[2], const srContactShape* a,
                       const srContactShape* b) {
  const srCollisionShape* shape = c->m->collision;
  return sr_contact_stiffness(pair, elastic[0], elastic[1], &shape[a->index], &shape[b->index]);
}

// Stiffness of two shapes by Hertz, where it is not given.
static bool pair_stiffness(srCompiler* c, int i, const char* name, const srSurfaceLaws* x, const srPairKind* pair,
                           const srElastic elastic[2], const srContactShape* a, const srContactShape* b, double* K) {
  const srElastic any[2] = {{1, 0, elastic[0].R}, {1, 0, elastic[1].R}};
  *K = x->p.K;
  if (!isnan(x->p.K) || (x->law->uses & SR_NORMAL_USES(K)) == 0) return true;
  if (!pair->place && isnan(hertz_of(c, pair, any, a, b)))
    return needs(c, i, name, x->law->name,
                 "'K': Hertz's stiffness is for spheres, and spheres on planes, capsules and sides of cylinders; of "
                 "other shapes it changes with the pose");
  const bool hertz = (x->law->uses & SR_NORMAL_USES(n)) != 0 && (isnan(x->p.n) || x->p.n == 1.5);
  if (!hertz && strcmp(x->law->name, "hertz") != 0) {
    return needs(c, i, name, x->law->name, "'K': a stiffness by E and nu has the exponent 1.5");
  }
  if (isinf(elastic[0].E) && isinf(elastic[1].E)) {
    return needs(c, i, name, x->law->name, "'K', or 'E' on the material of one of the two shapes");
  }
  *K = hertz_of(c, pair, elastic, a, b);
  return true;
}

static srElastic elastic_of(const Card* card, double radius) {
  return (srElastic){isnan(card->E) ? HUGE_VAL : card->E, card->nu, radius};
}

bool sr_c_pair_law(srCompiler* c, const srContactPairs* p, const srPairKind* kind, const srContactShape* a,
                   const srContactShape* b, const char* name, srSurfaceLaws* out, srElastic elastic[2]) {
  srSurfaceLaws x = p->x;
  Card ca, cb, pair;
  double K;
  if (!card_of(c, a->material, &ca) || !card_of(c, b->material, &cb) || !pair_of(c, a->material, b->material, &pair))
    return false;
  Card both = combined(&ca, &cb);
  put_given(pair.e, &both.e);
  put_given(pair.mu_s, &both.mu_s);
  put_given(pair.mu_k, &both.mu_k);
  if (isnan(x.p.e)) x.p.e = both.e;
  if (isnan(x.slip.s)) {
    x.slip.s = both.mu_s;
    x.slip.k = both.mu_k;
  }
  x.along[0] = ratio_along(p->x.along[0], &pair, &ca, &cb, x.slip.k);
  x.along[1] = ratio_along(p->x.along[0], &pair, &cb, &ca, x.slip.k);
  elastic[0] = elastic_of(&ca, a->radius);
  elastic[1] = elastic_of(&cb, b->radius);
  const double given = x.p.K;
  const bool stiff = pair_stiffness(c, p->i, name, &x, kind, elastic, a, b, &K);
  x.p.K = stiff ? K : 1;  // any: what else is missing is reported with it
  const bool presses = finish_normal(c, p->i, name, &x);
  if (!finish_friction(c, p->i, name, p->tau, &x) || !stiff || !presses) return false;
  if (x.slip.law && !check_along(c, p->i, name, &x)) return false;
  if (!check_wheel(c, p, a, b, name)) return false;
  x.p.K = given;
  *out = x;
  return true;
}

static void add_pair(srCompiler* c, const srContactPairs* p, const srPairKind* pair, const srContactShape* a,
                     const srContactShape* b, const char* name) {
  srSurfaceLaws x;
  srElastic elastic[2];
  if (!sr_c_pair_law(c, p, pair, a, b, name, &x, elastic)) return;
  x.a = a->name;
  x.b = b->name;
  srPatch* patch = sr_pool_alloc(c->pool, sizeof *patch);
  sr_contact_of_pair(&x, pair, elastic[0], elastic[1], &c->m->collision[a->index], &c->m->collision[b->index], patch);
  srForceElement* e = sr_c_add_contact(c, "contact", &x, name, srs_place(c->spec, SR_ELEMENT_CONTACT, p->i));
  e->point[0] = c->shape_point + a->index;
  e->point[1] = c->shape_point + b->index;
  e->formula = c->priv->formula_belt;
  e->tau = p->tau;
}

static const char* why_not(srShapeKind one, srShapeKind two) {
  const bool smooth = one == SR_KIND_SMOOTH || two == SR_KIND_SMOOTH;
  const bool triangles = one == SR_KIND_MESH || two == SR_KIND_MESH || one == SR_KIND_FIELD || two == SR_KIND_FIELD;
  if (one == SR_KIND_HOLLOW || two == SR_KIND_HOLLOW || one == SR_KIND_BORE || two == SR_KIND_BORE)
    return "a hollow sphere or cylinder holds spheres that are smaller (of a pin, one at each end)";
  if (one == SR_KIND_NONE || two == SR_KIND_NONE)
    return "one of them has no surface (a mesh without triangles: see the warnings)";
  if (smooth) return "a parametric surface touches spheres and other convex shapes, planes and parametric surfaces";
  if (triangles && (one == SR_KIND_PLANE || two == SR_KIND_PLANE))
    return "a height field and a plane have none; lay the height field on the plane as a body that is fixed to it";
  if (triangles)
    return "a mesh or height field touches convex shapes and planes; give one of the two the type hull, the convex "
           "hull of a mesh";
  return "two planes have none";
}

const srPairKind* sr_c_pair_kind(srCompiler* c, const srContactPairs* p, const srContactShape* one,
                                 const srContactShape* two, bool* swap) {
  const srPairKind* pair = sr_pair_find(one->kind, two->kind, swap);
  const srContactShape *a = *swap ? two : one, *b = *swap ? one : two;
  if (pair && (!pair->fits || pair->fits(a->radius, b->radius))) return pair;
  sr_c_error(c, srs_place(c->spec, SR_ELEMENT_CONTACT, p->i),
             "contact between a %s ('%s') and a %s ('%s') is not in this version: %s", one->type, one->name, two->type,
             two->name, why_not(one->kind, two->kind));
  return NULL;
}

// Two shapes already in contact by another element. With one name each pair appears once.
void sr_c_tell_twice(srCompiler* c, srContactPairs* p, const srContactShape* one, const srContactShape* two) {
  const int k = c->shape_point + one->index, l = c->shape_point + two->index;
  for (int i = 0; i < (p->same ? p->first : c->nforce) && !p->told; i++) {
    const srForceElement* e = &c->force[i];
    if (!e->contact || e->law->port != SR_PORT_FRAMES) continue;
    p->told = (e->point[0] == k && e->point[1] == l) || (e->point[0] == l && e->point[1] == k);
    if (!p->told) continue;
    sr_c_warning(c, srs_place(c->spec, SR_ELEMENT_CONTACT, p->i),
                 "'%s' and '%s' have a contact already, '%s': both act, one on top of the other", one->name, two->name,
                 e->name);
  }
}

static void make_pair(srCompiler* c, srContactPairs* p, const srContactShape* one, const srContactShape* two) {
  const char* given = sr_c_text(c, SR_ELEMENT_CONTACT, p->i, SR_FIELD(srContactDef, name));
  bool swap;
  const srPairKind* pair = sr_c_pair_kind(c, p, one, two, &swap);
  if (!pair) return;
  const srContactShape *a = swap ? two : one, *b = swap ? one : two;
  const char* between = sr_pool_printf(&c->scratch, "%s on %s", b->name, a->name);
  sr_c_tell_twice(c, p, one, two);
  const char* name = !given ? between : p->total == 1 ? given : sr_pool_printf(&c->scratch, "%s %s", given, between);
  add_pair(c, p, pair, a, b, name);
}

bool sr_c_may_touch(const srCompiler* c, const srContactPairs* p, const srContactShape* one,
                    const srContactShape* two) {
  bool swap;
  if (one->link == two->link || sr_shapes_are_excluded(c->m, one->index, two->index)) return false;
  if (!p->by_default) return true;
  if (!p->joined && !sr_shapes_may_touch(c->m, one->index, two->index)) return false;
  const srPairKind* pair = sr_pair_find(one->kind, two->kind, &swap);
  const double first = swap ? two->radius : one->radius, second = swap ? one->radius : two->radius;
  return pair && (!pair->fits || pair->fits(first, second));
}

// An element for every pair.
static void make_pairs(srCompiler* c, srContactPairs* p) {
  for (int k = 0; k < p->a.n; k++) {
    for (int l = p->same ? k + 1 : 0; l < p->b.n; l++) {
      const srContactShape *one = &p->a.shape[k], *two = &p->b.shape[l];
      if (sr_c_may_touch(c, p, one, two)) make_pair(c, p, one, two);
    }
  }
}

static long long count_filtered(const srCompiler* c, const srContactPairs* p) {
  long long n = 0;
  for (int k = 0; k < p->a.n; k++) {
    for (int l = p->same ? k + 1 : 0; l < p->b.n; l++) n += sr_c_may_touch(c, p, &p->a.shape[k], &p->b.shape[l]);
  }
  return n;
}

// Pairs that can move relative to each other: those of different links.
static long long count_pairs(srCompiler* c, const srContactPairs* p) {
  if (p->by_default || c->priv->nexcluded > 0) return count_filtered(c, p);
  long long *on = sr_pool_alloc(&c->scratch, 2 * (size_t)c->m->nlink * sizeof *on), *on_b = on + c->m->nlink;
  long long n = p->same ? (long long)p->a.n * (p->a.n - 1) / 2 : (long long)p->a.n * p->b.n;
  for (int k = 0; k < p->a.n; k++) on[p->a.shape[k].link]++;
  for (int l = 0; l < p->b.n; l++) on_b[p->b.shape[l].link]++;
  for (int i = 0; i < c->m->nlink; i++) n -= p->same ? on[i] * (on[i] - 1) / 2 : on[i] * on_b[i];
  return n;
}

// The shapes of both sides; false after an error.
static bool find_sides(srCompiler* c, int i, srContactPairs* p) {
  const int fa = SR_FIELD(srContactDef, a), fb = SR_FIELD(srContactDef, b);
  const char* pairs = sr_c_text(c, SR_ELEMENT_CONTACT, i, SR_FIELD(srContactDef, pairs));
  p->by_default = pairs != NULL;
  p->joined = is_same(sr_c_text(c, SR_ELEMENT_CONTACT, i, SR_FIELD(srContactDef, joined)), "yes");
  if (pairs) {
    find_all_shapes(c, is_same(pairs, "materials"), &p->a);
    p->b = p->a;
    p->same = true;
    return true;
  }
  const bool found = find_shapes(c, SR_ELEMENT_CONTACT, i, fa, &p->a);
  p->same = is_same(sr_c_text(c, SR_ELEMENT_CONTACT, i, fa), sr_c_text(c, SR_ELEMENT_CONTACT, i, fb));
  return find_shapes(c, SR_ELEMENT_CONTACT, i, fb, &p->b) && found;
}

static void tell_no_pairs(srCompiler* c, const srContactPairs* p) {
  const srPlace place = srs_place(c->spec, SR_ELEMENT_CONTACT, p->i);
  if (p->by_default)
    sr_c_warning(c, place, "no two shapes may touch: <contact default> does nothing");
  else
    sr_c_error(c, place, "'%s' and '%s' cannot move against each other, or are excluded",
               sr_c_text(c, SR_ELEMENT_CONTACT, p->i, SR_FIELD(srContactDef, a)),
               sr_c_text(c, SR_ELEMENT_CONTACT, p->i, SR_FIELD(srContactDef, b)));
}

// ---------------------------------------------------------------------------------------------------------- direction
static const srContactShape* directed_of(const srCompiler* c, const srContactShapes* of, int from, int* at) {
  for (*at = from; *at < of->n; ++*at) {
    if (sr_surface_directed(&c->m->collision[of->shape[*at].index])) return &of->shape[*at];
  }
  return NULL;
}

// A contact has one direction of friction: that of one of its shapes. Only few shapes have any.
static bool check_directions(srCompiler* c, const srContactPairs* p) {
  const srPlace place = sr_c_place(c, SR_ELEMENT_CONTACT, p->i, SR_FIELD(srContactDef, mu2));
  int k, l;
  const srContactShape* one = directed_of(c, &p->a, 0, &k);
  if (!p->x.slip.law) return true;
  if (!one && !directed_of(c, &p->b, 0, &l) && !isnan(p->x.along[0])) {
    sr_c_error(c, place, "'mu2' needs a shape with a 'friction-direction'");
    return false;
  }
  for (; one; one = directed_of(c, &p->a, k + 1, &k)) {
    const srContactShape* two = directed_of(c, &p->b, p->same ? k + 1 : 0, &l);
    for (; two; two = directed_of(c, &p->b, l + 1, &l)) {
      if (!sr_c_may_touch(c, p, one, two)) continue;
      sr_c_error(
          c, srs_place(c->spec, SR_ELEMENT_CONTACT, p->i),
          "'%s' and '%s' both have a 'friction-direction', and a contact can use one: <exclude> the two, or give "
          "one of them no direction",
          one->name, two->name);
      return false;
    }
  }
  return true;
}

static void contact_of_shapes(srCompiler* c, int i) {
  srContactPairs p = {.i = i, .first = c->nforce};
  const bool found = find_sides(c, i, &p);
  if (!common(c, i, &p.x, &p.tau) || !found || !check_directions(c, &p)) return;
  p.total = count_pairs(c, &p);
  if (p.total == 0) {
    tell_no_pairs(c, &p);
    return;
  }
  const long long sum = c->m->ncontact + p.total;
  c->m->ncontact = sum < INT_MAX ? (int)sum : INT_MAX;
  if (sr_given(*sr_c_attr(c, SR_ELEMENT_CONTACT, i, SR_FIELD(srContactDef, most))) || p.total > MOST_ELEMENTS) {
    sr_compile_set(c, &p);
  } else {
    make_pairs(c, &p);
  }
}

void sr_compile_contact(srCompiler* c, int i) {
  const srContactDef* def = srs_get(c->spec, SR_ELEMENT_CONTACT, i);
  const bool shapes = sr_given(def->a) || sr_given(def->b), gap = sr_given(def->gap), all = sr_given(def->pairs);
  const int before = sr_c_errors(c);
  if (shapes + gap + all != 1 || (shapes && (!sr_given(def->a) || !sr_given(def->b)))) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_CONTACT, i), "<contact> takes 'a' and 'b', or 'default', or 'gap'");
  } else if (gap) {
    sr_compile_gap(c, i);
  } else if (sr_given(def->slip) || sr_given(def->slip_speed)) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_CONTACT, i), "'slip' and 'slip-speed' belong to a 'gap'");
  } else if (before == c->contact_errors) {  // errors of shapes and materials have been reported
    contact_of_shapes(c, i);
  }
  c->contact_errors += sr_c_errors(c) - before;
}

// -------------------------------------------------------------------------------------------------------------- gaps
// The velocity coordinate of a joint's own position coordinate; -1: of a quaternion or a free body.
static int velocity_of(const srModel* m, int q) {
  for (int j = 0; j < m->njoint; j++) {
    const int k = q - m->joint_q[j];
    if (k < 0 || k >= m->joint_nq[j]) continue;
    return sr_joint_kind((srJointType)m->joint_type[j])->scalar ? m->joint_v[j] + k : -1;
  }
  return -1;
}

// A leaf as a variable; its rate as a node (positions). NULL, or what is wrong with it.
static const char* as_variable(srCompiler* c, srNode leaf, bool velocity, srContactVariable* x, srNode* rate) {
  const srNodeView view = sr_graph_view(c->graph, leaf);
  *x = (srContactVariable){.kind = (int)view.kind, .index = view.index, .dof = -1};
  *rate = SR_NO_NODE;
  if (view.kind == SR_VAR_Q && !velocity) {
    x->dof = velocity_of(c->m, view.index);
    if (x->dof < 0) return "coordinates of ball and free joints cannot be used in a gap; use a sensor";
    *rate = sr_graph_var(c->graph, SR_VAR_V, x->dof);
    return NULL;
  }
  if (view.kind == SR_VAR_V && velocity) {
    x->dof = view.index;
    return NULL;
  }
  if (view.kind == SR_VAR_SENSOR) {
    x->index = sr_c_sensor_of(c->m, view.index, &x->scalar);
    if (x->index < 0) return "a formula sensor cannot be used in a gap; write its formula";
    if (!velocity && x->scalar < 3) {
      *rate = sr_graph_var(c->graph, SR_VAR_SENSOR, view.index + 3);
      return NULL;
    }
    if (velocity && x->scalar >= 3 && x->scalar < 9) return NULL;
  }
  return velocity ? "'slip-speed' is a formula of velocities: v() and vx vy vz wx wy wz of sensors, linear in them"
                  : "'gap' and 'slip' are formulas of t, q() and x y z of sensors";
}

static srNode plus_product(srGraph* g, srNode sum, srNode a, srNode b) {
  return sr_graph_op(g, SR_OP_ADD, sum, sr_graph_op(g, SR_OP_MUL, a, b, SR_NO_NODE), SR_NO_NODE);
}

static srNode derived(srGraph* g, srNode node, srNode leaf) {
  return node == SR_NO_NODE ? sr_graph_const(g, 0) : sr_graph_derive(g, node, leaf);
}

typedef struct Gap {
  srNode gap, slip, speed;  // formulas; SR_NO_NODE: not given
  srNode* leaf;
  int n, positions;  // leaves; the first ones are of gap and slip, the others of speed
  srContactVariable* variable;
  srNode* rate;
} Gap;

static bool gap_variables(srCompiler* c, int i, Gap* g) {
  int capacity = 0;
  g->n = sr_c_leaves(c, g->gap, false, &g->leaf, 0, &capacity);
  if (g->slip != SR_NO_NODE) g->n = sr_c_leaves(c, g->slip, false, &g->leaf, g->n, &capacity);
  g->positions = g->n;
  if (g->speed != SR_NO_NODE) {
    srNode* all = NULL;
    int room = 0;
    const int n = sr_c_leaves(c, g->speed, false, &all, 0, &room);
    for (int k = 0; k < n; k++) {  // positions may appear in its coefficients
      const srNodeView view = sr_graph_view(c->graph, all[k]);
      int scalar = 0;
      if (view.kind == SR_VAR_SENSOR) (void)sr_c_sensor_of(c->m, view.index, &scalar);
      if (view.kind == SR_VAR_V || (scalar >= 3 && scalar < 9)) SR_PUSH(&c->scratch, g->leaf, g->n, capacity) = all[k];
    }
  }
  g->variable = sr_pool_alloc(c->pool, (size_t)(g->n + 1) * sizeof *g->variable);
  g->rate = sr_pool_alloc(&c->scratch, (size_t)(g->n + 1) * sizeof *g->rate);
  for (int k = 0; k < g->n; k++) {
    const char* wrong = as_variable(c, g->leaf[k], k >= g->positions, &g->variable[k], &g->rate[k]);
    if (!wrong) continue;
    sr_c_error(c, k >= g->positions ? PLACE(slip_speed) : PLACE(gap), "%s", wrong);
    return false;
  }
  if (g->n > 0) return true;
  sr_c_error(c, PLACE(gap), "the gap depends on nothing that moves");
  return false;
}

// Linear in the velocities, without a nonlinear part: then the slip speed is the sum of its terms.
static bool is_linear(srCompiler* c, const Gap* g) {
  for (int k = g->positions; k < g->n; k++) {
    for (int l = g->positions; l < g->n; l++) {
      double value = 1;
      const srNode twice = sr_graph_derive(c->graph, sr_graph_derive(c->graph, g->speed, g->leaf[k]), g->leaf[l]);
      if (!sr_graph_constant(c->graph, twice, &value) || value != 0) return false;
    }
  }
  return g->n > g->positions;
}

// Slip that nothing in the model causes: of a belt.
static srNode own_slip(srCompiler* c, const Gap* g) {
  srGraph* graph = c->graph;
  if (g->speed == SR_NO_NODE) return derived(graph, g->slip, sr_graph_var(graph, SR_VAR_TIME, 0));
  srNode sum = sr_graph_const(graph, 0);
  for (int k = g->positions; k < g->n; k++) {
    sum = plus_product(graph, sum, derived(graph, g->speed, g->leaf[k]), g->leaf[k]);
  }
  return sr_graph_op(graph, SR_OP_SUB, g->speed, sum, SR_NO_NODE);
}

// The derivative of a rate along the motion whose accelerations are 0: all of it but the part of its velocities. NAN where a position is not one that gaps
// may depend on.
static srNode second_rate(srCompiler* c, srNode rate) {
  srGraph* graph = c->graph;
  srNode *leaf = NULL, sum = derived(graph, rate, sr_graph_var(graph, SR_VAR_TIME, 0));
  int capacity = 0;
  const int n = sr_c_leaves(c, rate, false, &leaf, 0, &capacity);
  for (int k = 0; k < n; k++) {
    srContactVariable x;
    srNode of;
    if (as_variable(c, leaf[k], true, &x, &of) == NULL) continue;  // a velocity
    if (as_variable(c, leaf[k], false, &x, &of) != NULL) return sr_graph_const(graph, (double)NAN);
    sum = plus_product(graph, sum, derived(graph, rate, leaf[k]), of);
  }
  return sum;
}

// Values of the law program: gap, its rate, the slip's, then the coefficients of each variable in the two rates, then the explicit
// time derivatives of both, then what both rates change by without accelerations.
static int gap_roots(srCompiler* c, const Gap* g) {
  srGraph* graph = c->graph;
  const srNode t = sr_graph_var(graph, SR_VAR_TIME, 0);
  srNode rate = derived(graph, g->gap, t);
  srNode slip = g->speed != SR_NO_NODE ? g->speed : derived(graph, g->slip, t);
  for (int k = 0; k < g->positions; k++) {
    rate = plus_product(graph, rate, derived(graph, g->gap, g->leaf[k]), g->rate[k]);
    if (g->slip != SR_NO_NODE) slip = plus_product(graph, slip, derived(graph, g->slip, g->leaf[k]), g->rate[k]);
  }
  const int first = sr_c_root(c, g->gap);
  sr_c_root(c, rate);
  sr_c_root(c, slip);
  for (int k = 0; k < g->n; k++) {
    const bool position = k < g->positions;
    sr_c_root(c, derived(graph, position ? g->gap : SR_NO_NODE, g->leaf[k]));
    sr_c_root(c, derived(graph, position ? g->slip : g->speed, g->leaf[k]));
  }
  sr_c_root(c, derived(graph, g->gap, t));
  sr_c_root(c, own_slip(c, g));
  sr_c_root(c, second_rate(c, rate));
  sr_c_root(c, second_rate(c, slip));
  return first;
}

static srNode optional_law(srCompiler* c, int i, int field, bool* good) {
  srNode node = SR_NO_NODE;
  const int n = sr_c_laws(c, SR_ELEMENT_CONTACT, i, field, &node, 1);
  *good &= n >= 0;
  return n == 1 ? node : SR_NO_NODE;
}

void sr_compile_gap(srCompiler* c, int i) {
  const srContactDef* def = srs_get(c->spec, SR_ELEMENT_CONTACT, i);
  const char* given = sr_c_text(c, SR_ELEMENT_CONTACT, i, SR_FIELD(srContactDef, name));
  const char* name = given ? given : sr_pool_printf(&c->scratch, "contact %d", i + 1);
  bool good = true;
  Gap g = {.gap = optional_law(c, i, SR_FIELD(srContactDef, gap), &good)};
  g.slip = optional_law(c, i, SR_FIELD(srContactDef, slip), &good);
  g.speed = optional_law(c, i, SR_FIELD(srContactDef, slip_speed), &good);
  srSurfaceLaws x = {0};
  double tau;
  if (!common(c, i, &x, &tau) || !good) return;
  if (sr_given(def->slip) && sr_given(def->slip_speed)) {
    sr_c_error(c, PLACE(slip_speed), "%s: 'slip' or 'slip-speed', not both", name);
    return;
  }
  if (x.slip.law && sr_given(def->slip) == sr_given(def->slip_speed)) {
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_CONTACT, i),
               "%s: friction of a gap needs 'slip' or 'slip-speed'; or friction=\"none\"", name);
    return;
  }
  if (!gap_variables(c, i, &g)) return;
  if (g.speed != SR_NO_NODE && !is_linear(c, &g)) {
    sr_c_error(c, PLACE(slip_speed), "'slip-speed' must be linear in velocities");
    return;
  }
  if (isnan(x.p.K)) {
    (void)needs(c, i, name, x.law->name, "'K'");
    return;
  }
  if (!finish_normal(c, i, name, &x) || !finish_friction(c, i, name, tau, &x)) return;
  sr_normal_prepare(x.law, &x.p);
  x.slip.n = 1;
  x.roll = x.spin = (srDryFriction){0};
  x.a = sr_pool_text(c->pool, name);
  x.nvariable = g.n;
  x.variable = g.variable;
  srForceElement* e = sr_c_add_contact(c, "contact-formula", &x, name, srs_place(c->spec, SR_ELEMENT_CONTACT, i));
  e->formula = gap_roots(c, &g);
  e->tau = tau;
  c->m->ncontact++;
}
