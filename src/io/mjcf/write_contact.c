// MJCF out: <contact>, a <pair> of geoms for every two shapes that a contact holds apart. MJCF's contact is a spring and a
// damper by unit of mass, our law kelvin-voigt: solref = -K/M -D/M, its direct form. M is what the reader takes
// (contact.c), 1/M = 1/M1 + 1/M2, each the mass of all that moves with the body's tree. Friction is one coefficient and
// two levers; read back, it is the law kikuuwe with bristles of stiffness K and damping D.
//
// A contact of many shapes needs no pairs where contype and conaffinity express exactly them, with the same numbers: a bit of its own, contype of
// one side, conaffinity of the other. Geoms carry numbers, and those of two geoms are mixed. So all its pairs must have the same M, and either one side
// is in no other contact and carries the numbers, with priority, or all its geoms carry those of this contact alone.
#include <string.h>

#include "io/mjcf/write.h"
#include "model/private.h"

#define FIELD(member) SR_TAKE(srContactDef, member)

// -------------------------------------------------------------------------------------------------------------- masses
// Of every body: 1/mass of all that moves with its tree; 0: it does not move.
static double* inverse_masses(const srConvert* c) {
  const srModel* m = c->m;
  const size_t n = (size_t)m->nbody + 1;
  double* mass = sr_pool_alloc(c->pool, n * sizeof *mass);
  double* inverse = sr_pool_alloc(c->pool, n * sizeof *inverse);
  int* tree = sr_pool_alloc(c->pool, n * sizeof *tree);
  for (int b = 1; b <= m->nbody; b++) {
    const int parent = m->body_parent[b];
    if (m->body_link[b] != 0) tree[b] = m->body_link[parent] == 0 ? b : tree[parent];
    mass[tree[b]] += m->body_mass[b];
  }
  for (int b = 1; b <= m->nbody; b++) inverse[b] = tree[b] > 0 ? 1 / mass[tree[b]] : 0;
  return inverse;
}

// ---------------------------------------------------------------------------------------- before any body is written
// Is shape i of body b what `word` means: itself, its group, its body? As compile_contact.c.
static bool is_meant(const srConvert* c, int i, int b, const char* word) {
  const srShapeDef* def = srs_get(c->spec, SR_ELEMENT_SHAPE, i);
  const char *body = c->m->body_name[b], *slash = strchr(word, '/');
  if (sr_text_is(def->use.text, "visual")) return false;
  if (slash) {
    const size_t n = (size_t)(slash - word);
    return sr_text_is(def->name.text, slash + 1) && strlen(body) == n && strncmp(body, word, n) == 0;
  }
  return sr_text_is(def->name.text, word) || sr_text_is(def->group.text, word) || strcmp(body, word) == 0;
}

// Why MJCF cannot express contact i; NULL: it can.
static const char* obstacle(const srContactDef* def) {
  if (!def->a.text || !def->b.text) return "MJCF has contacts of geoms, not gaps by formula";
  if (!sr_text_is(def->normal.text, "kelvin-voigt"))
    return "a contact of MJCF is a spring and a damper, the normal law kelvin-voigt: others are not written";
  if (!sr_text_is(def->friction.text, "none") && !sr_given(def->mu_s) && !sr_given(def->mu_k))
    return "its friction comes from materials, which MJCF does not have: give 'mu-k' in the <contact>";
  return NULL;
}

static void add_touch(srMjcfOut* x, int contact, int a, int b) {
  const srMjcfPair pair = {contact, a, b};
  x->in_pair[a] = x->in_pair[b] = true;
  SR_PUSH(x->c->pool, x->pair, x->npair, x->pair_capacity) = pair;
}

// The pairs of contact i that can move against each other, in the order of the compiler's.
static void find_pairs(srMjcfOut* x, int i, const srContactDef* def) {
  const srConvert* c = x->c;
  const int n = srs_count(c->spec, SR_ELEMENT_SHAPE);
  const bool same = strcmp(def->a.text, def->b.text) == 0;
  for (int a = 0; a < n; a++) {
    if (!is_meant(c, a, x->shape_body[a], def->a.text)) continue;
    for (int b = same ? a + 1 : 0; b < n; b++)
      if (is_meant(c, b, x->shape_body[b], def->b.text) &&
          c->m->body_link[x->shape_body[a]] != c->m->body_link[x->shape_body[b]] && !sr_shapes_are_excluded(c->m, a, b))
        add_touch(x, i, a, b);
  }
}

// ------------------------------------------------------------------------------------------- contacts of many shapes
#define FEW 64   // pairs up to which they are written one by one, as the compiler makes elements of them
#define BITS 31  // of contype and conaffinity

// One contact, as sides of every shape: 1 a, 2 b.
typedef struct Sides {
  unsigned char* of;  // of every shape
  int n[2];
  bool same;
} Sides;

static Sides sides_of(const srMjcfOut* x, const srContactDef* def) {
  const srConvert* c = x->c;
  const int n = srs_count(c->spec, SR_ELEMENT_SHAPE);
  Sides s = {.of = sr_pool_alloc(c->pool, (size_t)n + 1), .same = strcmp(def->a.text, def->b.text) == 0};
  for (int i = 0; i < n; i++) {
    if (is_meant(c, i, x->shape_body[i], def->a.text)) s.of[i] |= 1;
    if (is_meant(c, i, x->shape_body[i], def->b.text)) s.of[i] |= 2;
    s.n[0] += s.of[i] & 1;
    s.n[1] += s.of[i] >> 1;
  }
  return s;
}

// Do two contacts name the same pair, in either order?
static bool share_pairs(const Sides* s, const Sides* t, int n) {
  bool straight[2] = {false, false}, crossed[2] = {false, false};
  for (int i = 0; i < n; i++) {
    straight[0] |= (s->of[i] & 1) && (t->of[i] & 1);
    straight[1] |= (s->of[i] & 2) && (t->of[i] & 2);
    crossed[0] |= (s->of[i] & 1) && (t->of[i] & 2);
    crossed[1] |= (s->of[i] & 2) && (t->of[i] & 1);
  }
  return (straight[0] && straight[1]) || (crossed[0] && crossed[1]);
}

// A bit of a geom cannot leave out one pair.
static bool has_excluded(const srModel* m, const Sides* s) {
  for (int i = 0; i < m->priv->nexcluded; i++) {
    const int a = (int)(m->priv->excluded[i] / m->nshape), b = (int)(m->priv->excluded[i] % m->nshape);
    if (s->of[a] != 0 && s->of[b] != 0) return true;
  }
  return false;
}

// MuJoCo leaves out a body and its parent, unless that is the world.
static bool may_collide(const srMjcfOut* x, const Sides* s) {
  const srModel* m = x->c->m;
  const int n = srs_count(x->c->spec, SR_ELEMENT_SHAPE);
  bool ground[2] = {true, true}, shallow = true;
  for (int i = 0; i < n; i++) {
    const int link = m->body_link[x->shape_body[i]];
    if (s->of[i] == 0) continue;
    if (!sr_mjcf_out_has_geom(x->c, i, x->shape_body[i])) return false;
    if (link != 0 && m->link_parent[link] != 0) shallow = false;
    for (int k = 0; k < 2; k++) ground[k] = ground[k] && (link == 0 || !(s->of[i] & (k + 1)));
  }
  return shallow || ground[0] || ground[1];
}

// The mass M that all pairs have in common; 0: they have not.
static double common_mass(const srMjcfOut* x, const Sides* s, const double* inverse) {
  double of[2] = {-1, -1};
  for (int i = 0; i < srs_count(x->c->spec, SR_ELEMENT_SHAPE); i++) {
    const double own = inverse[x->shape_body[i]];
    for (int k = 0; k < 2; k++) {
      if (!(s->of[i] & (k + 1))) continue;
      if (of[k] >= 0 && of[k] != own) return 0;
      of[k] = own;
    }
  }
  return of[0] + of[1] > 0 ? 1 / (of[0] + of[1]) : 0;
}

// The side whose geoms are in no other contact, -1: none. many: the number of contacts of each shape.
static int own_side(const Sides* s, const int* many, int n) {
  bool own[2] = {!s->same, !s->same};
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 2; k++) own[k] = own[k] && (!(s->of[i] & (k + 1)) || many[i] == 1);
  }
  return own[0] ? 0 : own[1] ? 1 : -1;
}

static bool is_disjoint(const Sides* s, int n) {
  for (int i = 0; i < n; i++) {
    if (s->of[i] == 3) return false;
  }
  return true;
}

// Numbers and bits of contact i to its geoms; false: it is left to pairs, and nothing is changed.
static bool put_filter(srMjcfOut* x, int i, const Sides* s, const int* many) {
  const int n = srs_count(x->c->spec, SR_ELEMENT_SHAPE), own = own_side(s, many, n);
  for (int k = 0; k < n && own < 0; k++) {
    if (s->of[k] != 0 && x->filter[k].contact >= 0) return false;
  }
  const int bit = 1 << x->nfilter++;
  for (int k = 0; k < n; k++) {
    srMjcfFilter* filter = &x->filter[k];
    if (s->of[k] == 0) continue;
    if (s->of[k] & 1) filter->contype |= bit;
    if (s->of[k] & 2) filter->conaffinity |= bit;
    x->in_pair[k] = true;
    if (own >= 0 && !(s->of[k] & (own + 1))) continue;
    filter->contact = i;
    filter->priority = own >= 0;
  }
  return true;
}

// Contacts that geoms express by themselves.
static void find_filters(srMjcfOut* x) {
  srConvert* c = x->c;
  const int n = srs_count(c->spec, SR_ELEMENT_SHAPE), contacts = srs_count(c->spec, SR_ELEMENT_CONTACT);
  Sides* all = sr_pool_alloc(c->pool, ((size_t)contacts + 1) * sizeof *all);
  int* many = sr_pool_alloc(c->pool, ((size_t)n + 1) * sizeof *many);
  const double* inverse = inverse_masses(c);
  for (int i = 0; i < contacts; i++) {
    const srContactDef* def = srs_get(c->spec, SR_ELEMENT_CONTACT, i);
    if (obstacle(def)) continue;
    all[i] = sides_of(x, def);
    for (int k = 0; k < n; k++) many[k] += all[i].of[k] != 0;
  }
  for (int i = 0; i < contacts; i++) {
    const srContactDef* def = srs_get(c->spec, SR_ELEMENT_CONTACT, i);
    const Sides* s = &all[i];
    const double pairs = s->same ? 0.5 * s->n[0] * (s->n[0] - 1) : (double)s->n[0] * s->n[1];
    if (!s->of || def->name.text || !(pairs > FEW || sr_given(def->most)) || x->nfilter == BITS) continue;
    bool alone = (s->same || is_disjoint(s, n)) && may_collide(x, s) && !has_excluded(c->m, s);
    for (int k = 0; k < contacts && alone; k++) alone = k == i || !all[k].of || !share_pairs(s, &all[k], n);
    const double M = alone ? common_mass(x, s, inverse) : 0;
    if (M > 0 && put_filter(x, i, s, many)) x->contact_mass[i] = M;
  }
}

void sr_mjcf_out_find_contacts(srMjcfOut* x) {
  srConvert* c = x->c;
  const size_t n = (size_t)srs_count(c->spec, SR_ELEMENT_SHAPE) + 1;
  x->shape_body = sr_pool_alloc(c->pool, n * sizeof *x->shape_body);
  x->in_pair = sr_pool_alloc(c->pool, n);
  x->geom_word = sr_pool_alloc(c->pool, n * sizeof *x->geom_word);
  x->filter = sr_pool_alloc(c->pool, n * sizeof *x->filter);
  x->contact_mass =
      sr_pool_alloc(c->pool, ((size_t)srs_count(c->spec, SR_ELEMENT_CONTACT) + 1) * sizeof *x->contact_mass);
  for (size_t i = 0; i < n; i++) x->filter[i].contact = -1;
  for (int b = 0; b <= c->m->nbody; b++)
    for (int i = c->first[SR_ELEMENT_SHAPE][b]; i >= 0; i = c->next[SR_ELEMENT_SHAPE][i]) x->shape_body[i] = b;
  find_filters(x);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_EXCLUDE); i++)  // of pairs that are not written
    sr_convert_take_all(c, SR_ELEMENT_EXCLUDE, i);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_CONTACT); i++) {
    const srContactDef* def = srs_get(c->spec, SR_ELEMENT_CONTACT, i);
    const char* reason = obstacle(def);
    if (!reason) {
      if (!(x->contact_mass[i] > 0)) find_pairs(x, i, def);
      continue;
    }
    sr_convert_take_all(c, SR_ELEMENT_CONTACT, i);
    sr_convert_lose(c, srs_place(c->spec, SR_ELEMENT_CONTACT, i), SR_LOSS_MOTION,
                    sr_convert_title(c, SR_ELEMENT_CONTACT, i), "%s", reason);
  }
}

// -------------------------------------------------------------------------------------------------------------- a pair
static double number(srConvert* c, int i, int field, double otherwise) {
  return sr_convert_number(c, SR_ELEMENT_CONTACT, i, field, otherwise);
}

static double seen(const srAttr* a, double otherwise) {
  return a->n == 0 ? otherwise : a->numbers ? a->numbers[0] : a->number;
}

// The friction of contact i, and of its law what the reader makes again; what it does not is listed as lost. A pair has two numbers of sliding
// and of rolling, a geom one.
static void put_friction(srConvert* c, int i, bool first, double K, double D, bool geom) {
  const srContactDef* def = srs_get(c->spec, SR_ELEMENT_CONTACT, i);
  if (sr_text_is(def->friction.text, "none")) {
    sr_convert_take_all(c, SR_ELEMENT_CONTACT, i);  // numbers of friction do nothing
    sr_xml_number(&c->xml, "condim", 1);
    return;
  }
  const double mu = sr_given(def->mu_k) ? number(c, i, FIELD(mu_k), 0) : number(c, i, FIELD(mu_s), 0);
  const double spin = mu > 0 ? number(c, i, FIELD(mu_spin), 0) : 0, roll = mu > 0 ? number(c, i, FIELD(mu_roll), 0) : 0;
  if (sr_text_is(def->friction.text ? def->friction.text : "kikuuwe", "kikuuwe"))
    sr_convert_take(c, SR_ELEMENT_CONTACT, i, FIELD(friction));
  if (seen(&def->mu_s, mu) == mu) sr_convert_take(c, SR_ELEMENT_CONTACT, i, FIELD(mu_s));
  if (seen(&def->bristle_K, K) == K) sr_convert_take(c, SR_ELEMENT_CONTACT, i, FIELD(bristle_K));
  if (number(c, i, FIELD(bristle_B), 0) != D && mu > 0 && first)
    sr_convert_lose(c, srs_place(c->spec, SR_ELEMENT_CONTACT, i), SR_LOSS_MOTION,
                    sr_pool_printf(c->pool, "'bristle-B' of %s", sr_convert_title(c, SR_ELEMENT_CONTACT, i)),
                    "MJCF has no word for it: Sarrus's reader takes the damping D of the contact");
  sr_xml_number(&c->xml, "condim", roll > 0 ? 6 : spin > 0 ? 4 : 3);
  if (geom)
    sr_xml_numbers(&c->xml, "friction", (const double[]){mu, spin, roll}, 3);
  else
    sr_xml_numbers(&c->xml, "friction", (const double[]){mu, mu, spin, roll, roll}, 5);
}

// All numbers of contact i, for the mass M.
static void put_numbers(srConvert* c, int i, double M, bool first, bool geom) {
  const double K = number(c, i, FIELD(K), 0), D = number(c, i, FIELD(D), 0);
  const int said[] = {FIELD(a), FIELD(b), FIELD(normal), FIELD(most)};
  for (int k = 0; k < SR_COUNT(said); k++) sr_convert_take(c, SR_ELEMENT_CONTACT, i, said[k]);
  sr_xml_numbers(&c->xml, "solref", (const double[]){-K / M, 0 - D / M}, 2);
  put_friction(c, i, first, K, D, geom);
}

void sr_mjcf_out_filter(srMjcfOut* x, int i) {
  srConvert* c = x->c;
  const srMjcfFilter* f = &x->filter[i];
  bool first = true;
  for (int k = 0; k < i; k++) first = first && x->filter[k].contact != f->contact;
  sr_xml_number(&c->xml, "contype", f->contype);
  sr_xml_number(&c->xml, "conaffinity", f->conaffinity);
  if (f->contact < 0) return;
  if (f->priority) sr_xml_text(&c->xml, "priority", "1");
  put_numbers(c, f->contact, x->contact_mass[f->contact], first, true);
}

static void put_pair(srMjcfOut* x, const srMjcfPair* t, double M, bool first) {
  srConvert* c = x->c;
  const int i = t->contact;
  const char* name = sr_convert_text(c, SR_ELEMENT_CONTACT, i, FIELD(name));
  sr_xml_begin(&c->xml, "pair");
  if (name) sr_xml_text(&c->xml, "name", sr_convert_name(c, &x->pair_names, "%s", name));
  sr_xml_text(&c->xml, "geom1", x->geom_word[t->a]);
  sr_xml_text(&c->xml, "geom2", x->geom_word[t->b]);
  put_numbers(c, i, M, first, false);
  sr_xml_end(&c->xml);
}

static void lose_pair(srMjcfOut* x, const srMjcfPair* t, const char* reason) {
  srConvert* c = x->c;
  sr_convert_take_all(c, SR_ELEMENT_CONTACT, t->contact);
  sr_convert_lose(c, srs_place(c->spec, SR_ELEMENT_CONTACT, t->contact), SR_LOSS_MOTION,
                  sr_convert_title(c, SR_ELEMENT_CONTACT, t->contact), "%s", reason);
}

void sr_mjcf_out_contacts(srMjcfOut* x) {
  srConvert* c = x->c;
  bool any = false;
  if (x->npair == 0) return;
  const double* inverse = inverse_masses(c);
  sr_names_init(&x->pair_names, c->pool);
  for (int k = 0; k < x->npair; k++) {
    const srMjcfPair* t = &x->pair[k];
    const double M = 1 / (inverse[x->shape_body[t->a]] + inverse[x->shape_body[t->b]]);
    if (!x->geom_word[t->a] || !x->geom_word[t->b]) {
      lose_pair(x, t, "one of its shapes is not written: a hollow sphere or bore, or a plane that moves");
    } else if (!(M > 0)) {
      lose_pair(x, t, "MJCF has the stiffness by unit of mass, and its bodies have none");
    } else {
      if (!any) sr_xml_begin(&c->xml, "contact");
      any = true;
      put_pair(x, t, M, k == 0 || x->pair[k - 1].contact != t->contact);
    }
  }
  if (any) sr_xml_end(&c->xml);
}
