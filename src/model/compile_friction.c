// Friction of joints: laws by name, their numbers, the elements. Code shared with contacts is here too.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/compile.h"
#include "model/spec.h"

// ------------------------------------------------------------------------------------------------------------ laws
void sr_c_register_friction(srCompiler* c, const srFrictionLaw* law) {
  if (!law->name || !law->evaluate || sr_friction_find(law->name)) {
    sr_c_error(c, c->registering, "a registered friction law has no name of its own or no function");
    return;
  }
  srFrictionLaw* copy = sr_pool_alloc(c->pool, sizeof *copy);
  *copy = *law;
  copy->name = sr_pool_text(c->pool, law->name);
  if (!sr_c_new_name(c, &c->friction_names, copy->name, c->nfriction, "friction law", c->registering)) return;
  SR_PUSH(&c->scratch, c->friction_laws, c->nfriction, c->friction_capacity) = copy;
}

void sr_c_register_normal(srCompiler* c, const srNormalLaw* law) {
  if (!law->name || !law->evaluate || sr_normal_find(law->name)) {
    sr_c_error(c, c->registering, "a registered normal law has no name of its own or no function");
    return;
  }
  srNormalLaw* copy = sr_pool_alloc(c->pool, sizeof *copy);
  *copy = *law;
  copy->name = sr_pool_text(c->pool, law->name);
  if (!sr_c_new_name(c, &c->normal_names, copy->name, c->nnormal, "normal law", c->registering)) return;
  SR_PUSH(&c->scratch, c->normal_laws, c->nnormal, c->normal_capacity) = copy;
}

// Nothing has this name: lists all, and the nearest.
static void tell_unknown(srCompiler* c, bool friction, const char* name, srPlace place) {
  const int own = friction ? sr_friction_count() : sr_normal_count(), more = friction ? c->nfriction : c->nnormal;
  const char** words = sr_pool_alloc(&c->scratch, (size_t)(own + more + 1) * sizeof *words);
  const char* list = "";
  int n = 0;
  for (int k = 0; k < own + more; k++) {
    const srFrictionLaw* law = !friction ? NULL : k < own ? sr_friction_law(k) : c->friction_laws[k - own];
    words[n++] = law ? law->name : k < own ? sr_normal_law(k)->name : c->normal_laws[k - own]->name;
    list = sr_pool_printf(&c->scratch, "%s%s%s", list, n > 1 ? ", " : "", words[n - 1]);
  }
  const char* near = sr_nearest_word(name, words, n);
  const char* hint = near ? sr_pool_printf(&c->scratch, "did you mean '%s'? ", near) : "";
  sr_c_error(c, place, "unknown %s law '%s'; %sthere are %s%s", friction ? "friction" : "normal", name, hint, list,
             friction ? ", of a <contact> also none" : "");
}

const srFrictionLaw* sr_c_friction_law(srCompiler* c, const char* name, srPlace place) {
  const srFrictionLaw* law = sr_friction_find(name);
  const int k = sr_names_find(&c->friction_names, name);
  if (!law && k >= 0) law = c->friction_laws[k];
  if (!law) tell_unknown(c, true, name, place);
  return law;
}

const srNormalLaw* sr_c_normal_law(srCompiler* c, const char* name, srPlace place) {
  const srNormalLaw* law = sr_normal_find(name);
  const int k = sr_names_find(&c->normal_names, name);
  if (!law && k >= 0) law = c->normal_laws[k];
  if (!law) tell_unknown(c, false, name, place);
  return law;
}

const char* sr_c_choice(srCompiler* c, srElementKind kind, int i, int field, int choice) {
  const char* text = sr_c_text(c, kind, i, field);
  double which;
  if (!text || !sr_c_number(c, kind, i, choice, &which)) return NULL;
  int n = 0;
  const char* found = NULL;
  for (const char* at = text + strspn(text, " \t\r\n"); *at; n++) {
    const size_t length = strcspn(at, " \t\r\n");
    if (n == which) found = sr_pool_text_n(&c->scratch, at, length);
    at += length;
    at += strspn(at, " \t\r\n");
  }
  if (!found) {
    sr_c_error(c, sr_c_place(c, kind, i, choice), "'%s' is %g, but there are %d laws, counted from 0",
               srs_element(kind)->fields[choice].word, which, n);
  }
  return found;
}

// --------------------------------------------------------------------------------------------------------- numbers
bool sr_c_optional(srCompiler* c, srElementKind kind, int i, int field, double* out) {
  *out = (double)NAN;
  return sr_c_numbers(c, kind, i, field, out, 1) >= 0;
}

// One of the numbers that laws take: its attribute, its destination, the laws that use it.
typedef struct Number {
  const char* word;
  double* to;
  unsigned use;
} Number;

// A number that the law does not use; where several laws can be chosen, another one may.
static void report_unused(srCompiler* c, srElementKind kind, int i, int field, const srFrictionLaw* law) {
  const int laws = kind == SR_ELEMENT_CONTACT ? SR_FIELD(srContactDef, friction) : SR_FIELD(srFrictionDef, law);
  if (!sr_given(*sr_c_attr(c, kind, i, field)) || strchr(sr_c_text(c, kind, i, laws), ' ')) return;
  sr_c_warning(c, sr_c_place(c, kind, i, field), "'%s' does nothing: the law '%s' does not use it",
               srs_element(kind)->fields[field].word, law->name);
}

static bool check_elements(srCompiler* c, srElementKind kind, int i, const srDryFriction* x) {
  const double n = x->p.elements;
  if ((x->law->uses & SR_FRICTION_USES(elements)) == 0) return true;
  if (n >= 1 && n <= SR_FRICTION_MAX_ELEMENTS && n == floor(n)) return true;
  sr_c_error(c, sr_c_place(c, kind, i, sr_element_field(kind, "elements")),
             "'elements' must be a whole number from 1 to %d, got %g", SR_FRICTION_MAX_ELEMENTS, n);
  return false;
}

bool sr_c_bristle(srCompiler* c, srElementKind kind, int i, int first, srDryFriction* x, double* tau) {
  srFrictionParameters* p = &x->p;
  const bool contact = kind == SR_ELEMENT_CONTACT;
  const Number numbers[] = {
      {contact ? "bristle-K" : "K", &p->K, SR_FRICTION_USES(K)},
      {contact ? "bristle-B" : "B", &p->B, SR_FRICTION_USES(B)},
      {contact ? "mu-v" : "D", &p->D, SR_FRICTION_USES(D)},
      {"v0", &p->v0, SR_FRICTION_USES(v0)},
      {"v1", &p->v1, SR_FRICTION_USES(v1)},
      {"xi", &p->xi, SR_FRICTION_USES(xi)},
      {"vs", &p->vs, SR_FRICTION_USES(vs)},
      {"delta", &p->delta, SR_FRICTION_USES(delta)},
      {"elements", &p->elements, SR_FRICTION_USES(elements)},
      {"spread", &p->spread, SR_FRICTION_USES(spread)},
  };
  bool good = sr_c_number(c, kind, i, first + SR_FIELD(srFrictionDef, tau) - SR_FIELD(srFrictionDef, v0), tau);
  for (int k = 0; k < SR_COUNT(numbers); k++) {
    const int field = sr_element_field(kind, numbers[k].word);
    SR_ASSERT(field >= 0);
    good &= sr_c_optional(c, kind, i, field, numbers[k].to);
    if ((x->law->uses & numbers[k].use) == 0) report_unused(c, kind, i, field, x->law);
  }
  return good && check_elements(c, kind, i, x);
}

// The location of the wrong attribute, or of the element.
static srPlace place_of(srCompiler* c, srElementKind kind, int i, const char* const* word, int which) {
  const int field = which >= 0 ? sr_element_field(kind, word[which]) : -1;
  return field >= 0 ? sr_c_place(c, kind, i, field) : srs_place(c->spec, kind, i);
}

bool sr_c_check_friction(srCompiler* c, srElementKind kind, int i, const char* name, const srDryFriction* x,
                         double tau) {
  const bool contact = kind == SR_ELEMENT_CONTACT;
#define OWN_WORD(field, value, sliding, turning, doc) [SR_FRICTION_##field] = #field,
  const char* word[SR_FRICTION_WORDS] = {SR_FRICTION_PARAMETER_LIST(OWN_WORD)};
#undef OWN_WORD
  if (contact) {
    word[SR_FRICTION_K] = "bristle-K";
    word[SR_FRICTION_B] = "bristle-B";
    word[SR_FRICTION_D] = "mu-v";
  }
  const char *at_rest = contact ? "mu-s" : "F", *slipping = contact ? "mu-k" : "Fk";
  const bool one = !sr_given(*sr_c_attr(c, kind, i, sr_element_field(kind, slipping))) &&
                   sr_given(*sr_c_attr(c, kind, i, sr_element_field(kind, at_rest)));  // sets both
  word[SR_FRICTION_TAU] = "tau";
  word[SR_FRICTION_KINETIC] = one ? at_rest : slipping;
  word[SR_FRICTION_STATIC] = at_rest;
  char reason[200];
  const int which = sr_friction_wrong(x->law, &x->p, tau, x->s, x->k, word, reason, sizeof reason);
  if (which == SR_LAW_GOOD) return true;
  sr_c_error(c, place_of(c, kind, i, word, which), "%s%s%s", name ? name : "", name ? ": " : "", reason);
  return false;
}

bool sr_c_check_normal(srCompiler* c, srElementKind kind, int i, const char* name, const srSurfaceLaws* x) {
  static const char* const of_contact[SR_NORMAL_PARAMETERS] = {[SR_NORMAL_K] = "K",
                                                               [SR_NORMAL_n] = "n",
                                                               [SR_NORMAL_e] = "restitution",
                                                               [SR_NORMAL_D] = "D",
                                                               [SR_NORMAL_floor] = "floor"};
  static const char* const of_joint[SR_NORMAL_PARAMETERS] = {[SR_NORMAL_K] = "limit-stiffness",
                                                             [SR_NORMAL_n] = "n",
                                                             [SR_NORMAL_e] = "limit-restitution",
                                                             [SR_NORMAL_D] = "limit-damping",
                                                             [SR_NORMAL_floor] = "floor"};
  const char* const* word = kind == SR_ELEMENT_CONTACT ? of_contact : of_joint;
  char reason[200];
  const int which = sr_normal_wrong(x->law, &x->p, word, reason, sizeof reason);
  if (which == SR_LAW_GOOD) return true;
  sr_c_error(c, place_of(c, kind, i, word, which), "%s%s%s", name ? name : "", name ? ": " : "", reason);
  return false;
}

// ---------------------------------------------------------------------------------------------------------- elements
srForceElement* sr_c_add_contact(srCompiler* c, const char* kind, const srSurfaceLaws* contact, const char* name,
                                 srPlace place) {
  const srContactKind* found = c->catalog->contact(kind);
  SR_ASSERT(found);
  srSurfaceLaws* copy = sr_pool_alloc(c->pool, sizeof *copy);
  *copy = *contact;
  srForceElement* e = sr_c_add_force(c, found->law, SR_ACCOUNT_CONTACT, name, place);
  e->contact = copy;
  e->jacobian = found->jacobian;
  e->ny = sr_contact_states(copy);
  c->m->ny += e->ny;
  found->prepare(c->pool, copy, c->contact_before);
  c->contact_before = copy;
  e->z = c->m->nz;
  c->m->nz += SR_Z_CONTACT;
  return e;
}

void sr_compile_friction(srCompiler* c, int i) {
  const srElementKind kind = SR_ELEMENT_FRICTION;
  int qdof = -1, joint;
  const int dof =
      sr_c_coordinate(c, kind, i, SR_FIELD(srFrictionDef, joint), SR_FIELD(srFrictionDef, coordinate), &qdof, &joint);
  const char* word = sr_c_choice(c, kind, i, SR_FIELD(srFrictionDef, law), SR_FIELD(srFrictionDef, choice));
  const srPlace place = sr_c_place(c, kind, i, SR_FIELD(srFrictionDef, law));
  srSurfaceLaws contact = {.slip = {.n = 1, .law = word ? sr_c_friction_law(c, word, place) : NULL}};
  srDryFriction* x = &contact.slip;
  double tau;
  bool good = sr_c_number(c, kind, i, SR_FIELD(srFrictionDef, F), &x->s);
  good &= sr_c_optional(c, kind, i, SR_FIELD(srFrictionDef, Fk), &x->k);
  if (!x->law || !good || !sr_c_bristle(c, kind, i, SR_FIELD(srFrictionDef, v0), x, &tau) || dof < 0) return;
  if (c->m->joint_nv[joint] > 1 && !sr_given(*sr_c_attr(c, kind, i, SR_FIELD(srFrictionDef, coordinate)))) {
    sr_c_error(c, sr_c_place(c, kind, i, SR_FIELD(srFrictionDef, joint)),
               "joint '%s' has %d velocity coordinates: 'coordinate' selects one, counted from 0",
               c->m->joint_name[joint], c->m->joint_nv[joint]);
    return;
  }
  if (isnan(x->k)) x->k = x->s;
  if (isnan(x->p.K) && (x->law->uses & SR_FRICTION_USES(K)) != 0) {
    sr_c_error(c, srs_place(c->spec, kind, i), "the law '%s' needs 'K', the stiffness of its bristles", x->law->name);
    return;
  }
  if (!sr_c_check_friction(c, kind, i, NULL, x, tau)) return;
  const char* name = sr_c_text(c, kind, i, SR_FIELD(srFrictionDef, name));
  if (!name) name = sr_pool_printf(&c->scratch, "friction of %s", c->m->v_name[dof]);
  contact.a = c->m->joint_name[joint];
  srForceElement* e = sr_c_add_contact(c, "joint-friction", &contact, name, srs_place(c->spec, kind, i));
  e->dof = dof;
  e->qdof = qdof;
  e->tau = tau;
}

// ------------------------------------------------------------------------------------------------------ ends of joints
void sr_compile_joint_ends(srCompiler* c, int j, int joint, const char* word, double stiffness, double damping) {
  const srElementKind kind = SR_ELEMENT_JOINT;
  const int restitution = SR_FIELD(srJointDef, limit_restitution);
  const srPlace place = sr_c_place(c, kind, joint, SR_FIELD(srJointDef, limit_law));
  const srModel* m = c->m;
  srSurfaceLaws contact = {.law = sr_c_normal_law(c, word, place), .p = sr_normal_defaults(), .a = m->joint_name[j]};
  double e;
  if (!contact.law || !sr_c_optional(c, kind, joint, restitution, &e)) return;
  if (isnan(e) && (contact.law->uses & SR_NORMAL_USES(e)) != 0) {
    sr_c_error(c, place, "the normal law '%s' needs 'limit-restitution'", word);
    return;
  }
  if ((contact.law->uses & SR_NORMAL_USES(D)) == 0 &&
      sr_given(*sr_c_attr(c, kind, joint, SR_FIELD(srJointDef, limit_damping)))) {
    sr_c_warning(c, sr_c_place(c, kind, joint, SR_FIELD(srJointDef, limit_damping)),
                 "'limit-damping' does nothing: the law '%s' does not use it", word);
  }
  contact.p.K = stiffness;
  contact.p.n = 1;
  contact.p.D = damping;
  if (!isnan(e)) contact.p.e = e;
  if (!sr_c_check_normal(c, kind, joint, NULL, &contact)) return;
  sr_normal_prepare(contact.law, &contact.p);
  contact.located = contact.law->needs_speed;
  for (int k = 0; k < 2; k++) {
    contact.side = k == 0 ? -1 : 1;
    contact.end = c->priv->limits[2 * j + k];
    contact.b = k == 0 ? "lower end" : "upper end";
    const char* name = sr_pool_printf(&c->scratch, "%s of %s", contact.b, m->joint_name[j]);
    srForceElement* element = sr_c_add_contact(c, "joint-end", &contact, name, place);
    element->dof = m->joint_v[j];
    element->qdof = m->joint_q[j];
  }
}

// A contact starts closed, its approach velocity unknown, so that evaluating a single state includes its force. A run determines it.
void sr_compile_contact_states(srCompiler* c) {
  srModel* m = c->m;
  double* z = sr_pool_alloc(c->pool, (size_t)(m->nz + 1) * sizeof *z);
  int before = m->nz;
  for (int i = 0; i < c->nforce; i++) {
    if (c->force[i].z >= 0 && c->force[i].z < before) before = c->force[i].z;
  }
  if (m->nset > 0 && m->set[0].z < before) before = m->set[0].z;
  if (before > 0) memcpy(z, m->z0, (size_t)before * sizeof *z);
  for (int i = 0; i < c->nforce; i++) {
    const srForceElement* e = &c->force[i];
    if (e->z < 0) continue;
    z[e->z + SR_Z_CLOSED] = 1;
  }
  for (int i = 0; i < m->nset; i++) {
    for (int k = 0; k < m->set[i].most; k++) z[m->set[i].z + k * SR_Z_CONTACT + SR_Z_CLOSED] = 1;
  }
  m->z0 = z;
}
