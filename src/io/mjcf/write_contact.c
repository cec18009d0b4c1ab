// MJCF out: <contact>, a <pair> of geoms for every two shapes that a contact holds apart. MJCF's contact is a spring and a
// damper by unit of mass, our law kelvin-voigt: solref = -K/M -D/M, its direct form. M is what the reader takes
// (contact.c), 1/M = 1/M1 + 1/M2, each the mass of all that moves with the body's tree. Friction is one coefficient and
// two levers; read back, it is the law kikuuwe with bristles of stiffness K and damping D.
#include <string.h>

#include "io/mjcf/write.h"

#define FIELD(member) SR_TAKE(srContactDef, member)

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
  const srMjcfTouch touch = {contact, a, b};
  x->touches[a] = x->touches[b] = true;
  SR_PUSH(x->c->pool, x->touch, x->ncontact_monitored, x->touch_capacity) = touch;
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
          c->m->body_link[x->shape_body[a]] != c->m->body_link[x->shape_body[b]])
        add_touch(x, i, a, b);
  }
}

void sr_mjcf_out_find_contacts(srMjcfOut* x) {
  srConvert* c = x->c;
  const size_t n = (size_t)srs_count(c->spec, SR_ELEMENT_SHAPE) + 1;
  x->shape_body = sr_pool_alloc(c->pool, n * sizeof *x->shape_body);
  x->touches = sr_pool_alloc(c->pool, n);
  x->geom_word = sr_pool_alloc(c->pool, n * sizeof *x->geom_word);
  for (int b = 0; b <= c->m->nbody; b++)
    for (int i = c->first[SR_ELEMENT_SHAPE][b]; i >= 0; i = c->next[SR_ELEMENT_SHAPE][i]) x->shape_body[i] = b;
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_CONTACT); i++) {
    const srContactDef* def = srs_get(c->spec, SR_ELEMENT_CONTACT, i);
    const char* why = obstacle(def);
    if (!why) {
      find_pairs(x, i, def);
      continue;
    }
    sr_convert_take_all(c, SR_ELEMENT_CONTACT, i);
    sr_convert_lose(c, srs_place(c->spec, SR_ELEMENT_CONTACT, i), SR_LOSS_MOTION,
                    sr_convert_title(c, SR_ELEMENT_CONTACT, i), "%s", why);
  }
}

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

// -------------------------------------------------------------------------------------------------------------- a pair
static double number(srConvert* c, int i, int field, double otherwise) {
  return sr_convert_number(c, SR_ELEMENT_CONTACT, i, field, otherwise);
}

static double seen(const srAttr* a, double otherwise) {
  return a->n == 0 ? otherwise : a->numbers ? a->numbers[0] : a->number;
}

// The friction of contact i, and of its law what the reader makes again; what it does not is listed as lost.
static void put_friction(srConvert* c, int i, bool first, double K, double D) {
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
  sr_xml_numbers(&c->xml, "friction", (const double[]){mu, mu, spin, roll, roll}, 5);
}

static void put_pair(srMjcfOut* x, const srMjcfTouch* t, double M, bool first) {
  srConvert* c = x->c;
  const int i = t->contact;
  const char* name = sr_convert_text(c, SR_ELEMENT_CONTACT, i, FIELD(name));
  const double K = number(c, i, FIELD(K), 0), D = number(c, i, FIELD(D), 0);
  const int said[] = {FIELD(a), FIELD(b), FIELD(normal)};
  for (int k = 0; k < SR_COUNT(said); k++) sr_convert_take(c, SR_ELEMENT_CONTACT, i, said[k]);
  sr_xml_begin(&c->xml, "pair");
  if (name) sr_xml_text(&c->xml, "name", sr_convert_name(c, &x->pair_names, "%s", name));
  sr_xml_text(&c->xml, "geom1", x->geom_word[t->a]);
  sr_xml_text(&c->xml, "geom2", x->geom_word[t->b]);
  sr_xml_numbers(&c->xml, "solref", (const double[]){-K / M, 0 - D / M}, 2);
  put_friction(c, i, first, K, D);
  sr_xml_end(&c->xml);
}

static void lose_pair(srMjcfOut* x, const srMjcfTouch* t, const char* why) {
  srConvert* c = x->c;
  sr_convert_take_all(c, SR_ELEMENT_CONTACT, t->contact);
  sr_convert_lose(c, srs_place(c->spec, SR_ELEMENT_CONTACT, t->contact), SR_LOSS_MOTION,
                  sr_convert_title(c, SR_ELEMENT_CONTACT, t->contact), "%s", why);
}

void sr_mjcf_out_contacts(srMjcfOut* x) {
  srConvert* c = x->c;
  bool any = false;
  if (x->ncontact_monitored == 0) return;
  const double* inverse = inverse_masses(c);
  sr_names_init(&x->pair_names, c->pool);
  for (int k = 0; k < x->ncontact_monitored; k++) {
    const srMjcfTouch* t = &x->touch[k];
    const double M = 1 / (inverse[x->shape_body[t->a]] + inverse[x->shape_body[t->b]]);
    if (!x->geom_word[t->a] || !x->geom_word[t->b]) {
      lose_pair(x, t, "one of its shapes is not written, a hollow sphere or a plane that moves");
    } else if (!(M > 0)) {
      lose_pair(x, t, "MJCF has the stiffness by unit of mass, and its bodies have none");
    } else {
      if (!any) sr_xml_begin(&c->xml, "contact");
      any = true;
      put_pair(x, t, M, k == 0 || x->touch[k - 1].contact != t->contact);
    }
  }
  if (any) sr_xml_end(&c->xml);
}
