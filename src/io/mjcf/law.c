// Laws of MJCF's sections as native formulas, and what else the sections share: see law.h.
#include "io/mjcf/law.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/expr.h"
#include "math/pose.h"

#define LETTERS_PER_ELEMENT 64  // of a law's text that count as one element

// ------------------------------------------------------------------------------------------------------------- text
void sr_mjcf_write(srMjcfText* text, const char* word) {
  for (; *word; word++) SR_PUSH(text->pool, text->text, text->n, text->capacity) = *word;
}

const char* sr_mjcf_literal(srPool* pool, double value) {
  char number[SR_NUMBER_TEXT];
  sr_number_text(value, number, sizeof number);
  return sr_pool_printf(pool, number[0] == '-' ? "(%s)" : "%s", number);
}

void sr_mjcf_write_term(srMjcfText* text, double factor, const char* term) {
  if (factor == 0) return;
  if (text->n > 0 && text->text[text->n - 1] != '(') sr_mjcf_write(text, " + ");
  if (factor != 1) {
    sr_mjcf_write(text, sr_mjcf_literal(text->pool, factor));
    sr_mjcf_write(text, "*");
  }
  sr_mjcf_write(text, term);
}

const char* sr_mjcf_clamped(srPool* pool, const double* range, const char* term) {
  return sr_pool_printf(pool, "max(%s, min(%s, %s))", sr_mjcf_literal(pool, range[0]), sr_mjcf_literal(pool, range[1]),
                        term);
}

const char* sr_mjcf_written(srMjcfText* text) {
  if (text->n == 0) sr_mjcf_write(text, "0");
  SR_PUSH(text->pool, text->text, text->n, text->capacity) = '\0';
  text->n--;
  return text->text;
}

const char* sr_mjcf_coordinate(srMjcf* m, int joint, bool rate) {
  return sr_pool_printf(&m->r->pool, "%c(%s)", rate ? 'v' : 'q', m->joint[joint].name);
}

const char* sr_mjcf_tendon_text(srMjcf* m, const srMjcfTendon* tendon, bool rate) {
  srMjcfText text = {.pool = &m->r->pool};
  sr_mjcf_write(&text, "(");
  for (int i = 0; i < tendon->n; i++)
    sr_mjcf_write_term(&text, tendon->coef[i], sr_mjcf_coordinate(m, tendon->joint[i], rate));
  if (text.n == 1) sr_mjcf_write(&text, "0");
  sr_mjcf_write(&text, ")");
  sr_mjcf_charge(m, (size_t)text.n, 2);
  return sr_mjcf_written(&text);
}

double sr_mjcf_tendon_start(const srMjcf* m, const srMjcfTendon* tendon) {
  double length = 0;
  for (int i = 0; i < tendon->n; i++) length += tendon->coef[i] * m->joint[tendon->joint[i]].ref;
  return length;
}

// ----------------------------------------------------------------------------------------------------------- torques
void sr_mjcf_set_joint(srMjcf* m, int joint, int field, double value, srPlace place) {
  const srAttr attr = isnan(value) ? (srAttr){0} : sr_reader_one(value, place);
  if (!srs_set(m->r->spec, SR_ELEMENT_JOINT, m->joint[joint].index, field, attr)) longjmp(*m->r->pool.on_fail, 1);
}

bool sr_mjcf_is_scalar(const srMjcf* m, int joint) {
  return m->joint[joint].type == SR_MJCF_HINGE || m->joint[joint].type == SR_MJCF_SLIDE;
}

void sr_mjcf_charge(srMjcf* m, size_t length, int times) {
  const double cost = (double)length / LETTERS_PER_ELEMENT * times;
  m->r->budget = cost < m->r->budget ? m->r->budget - (int)cost : 0;
}

bool sr_mjcf_add_torque(srMjcf* m, int joint, int coordinate, double factor, const char* force, const char* name,
                        srPlace place) {
  srReader* r = m->r;
  sr_mjcf_charge(m, strlen(force), 1);
  if (sr_reader_is_over(r, place)) return false;
  srTorqueDef def = {.joint = {.text = m->joint[joint].name, .place = place}};
  char number[SR_NUMBER_TEXT];
  sr_number_text(factor, number, sizeof number);
  if (name) def.name = (srAttr){.text = name, .place = place};
  if (coordinate > 0) def.coordinate = sr_reader_one(coordinate, place);
  if (factor == 1)
    def.law = (srAttr){.text = force, .place = place};
  else
    def.law = sr_reader_word(r, place, "%s*(%s)", number, force);
  sr_reader_add(r, SR_ELEMENT_TORQUE, SR_NO_OWNER, &def, place);
  return true;
}

void sr_mjcf_pull(srMjcf* m, const srMjcfTendon* tendon, double factor, const char* force, const char* name,
                  srPlace place) {
  for (int i = 0; i < tendon->n; i++) {
    if (tendon->coef[i] * factor == 0) continue;
    if (!sr_mjcf_add_torque(m, tendon->joint[i], 0, factor * tendon->coef[i], force, name, place)) return;
  }
}

// ------------------------------------------------------------------------------------------------------------ limits
int sr_mjcf_limits(srMjcf* m, const srXmlNode* node, const char* flag, const char* range, double out[2]) {
  const srXmlAttribute* a = sr_mjcf_attribute(m, node, NULL, flag);
  const int given = sr_mjcf_numbers(m, node, NULL, range, 2, 2, out);
  if (given < 0) return -1;
  if (a && strcmp(a->value, "false") == 0) return 0;
  if (a && strcmp(a->value, "true") != 0 && strcmp(a->value, "auto") != 0) {
    sr_mjcf_error(m, a->place, "'%.60s' in '%s' is none of true, false and auto", a->value, flag);
    return -1;
  }
  const bool autolimits = sr_mjcf_compiler_of(m, node)->autolimits;
  const bool wanted = a && strcmp(a->value, "true") == 0;
  if (!wanted && (given == 0 || (out[0] == 0 && out[1] == 0))) return 0;  // two zeros mean none in MJCF
  if (!wanted && autolimits && out[0] >= out[1]) {
    sr_reader_ignore(m->r, node->place, "'%s' of <%s> that does not rise", range, node->name);
    return 0;
  }
  const bool implied = strcmp(node->name, "damper") == 0 || strcmp(node->name, "intvelocity") == 0;
  if (!wanted && !autolimits && !implied) {
    sr_mjcf_error(m, node->place, "'%s' of <%s> needs '%s', for the compiler's autolimits is false", range, node->name,
                  flag);
    return -1;
  }
  if (given == 2 && out[0] < out[1]) return 1;
  if (given == 0)
    sr_mjcf_error(m, a->place, "'%s' of <%s> is true, but it has no '%s'", flag, node->name, range);
  else
    sr_mjcf_error(m, node->place, "'%s' of <%s> goes from a smaller to a larger number, not from %g to %g", range,
                  node->name, out[0], out[1]);
  return -1;
}

const srXmlAttribute* sr_mjcf_disabling(const srMjcf* m, const char* flag) {
  const srXmlAttribute* last = NULL;
  for (const srXmlNode* option = m->root->first; option; option = option->next) {
    if (strcmp(option->name, "option") != 0) continue;
    for (const srXmlNode* flags = option->first; flags; flags = flags->next) {
      const srXmlAttribute* a = strcmp(flags->name, "flag") == 0 ? sr_xml_attribute(flags, flag) : NULL;
      if (a) last = a;
    }
  }
  return last && strcmp(last->value, "disable") == 0 ? last : NULL;
}

bool sr_mjcf_is_disabled(const srMjcf* m, const char* flag) {
  const bool constraint = sr_text_is_among(flag, "equality|contact|limit|frictionloss");
  const bool passive = sr_text_is_among(flag, "spring|damper");
  return sr_mjcf_disabling(m, flag) || (constraint && sr_mjcf_disabling(m, "constraint")) ||
         (passive && sr_mjcf_disabling(m, "passive"));
}

// ------------------------------------------------------------------------------------------------------------ points
const char* sr_mjcf_add_point(srMjcf* m, int body, const double pose[16], const char* wish, srPlace place) {
  const srMjcfBody* b = &m->body[body];
  const char* name = sr_reader_name(m->r, wish, &m->points);
  double own[16];
  srm_pose_compose(b->inner, pose, own);
  srPointDef def = {.name = {.text = name, .place = place}};
  sr_reader_pose(m->r, own, place, &def.at, &def.rot);
  sr_reader_add(m->r, SR_ELEMENT_POINT, b->index, &def, place);
  return sr_pool_printf(&m->r->pool, "%s/%s", b->name, name);
}

// ------------------------------------------------------------------------------------------------------------- words
const char* sr_mjcf_identifier(srMjcf* m, const char* prefix, const char* name) {
  if (!m->identifiers.pool) sr_names_init(&m->identifiers, &m->r->pool);
  char* word = sr_pool_printf(&m->r->pool, "%s%s", prefix, name);
  for (char* p = word; *p; p++)
    if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9'))) *p = '_';
  const char* unique = word;
  for (int i = 2; !sr_names_put(&m->identifiers, unique, 0); i++)
    unique = sr_pool_printf(&m->r->pool, "%s_%d", word, i);
  return unique;
}
