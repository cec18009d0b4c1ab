// MJCF's <tendon>: fixed tendons, whose length L is the sum of coef q over joints. Their springs, dampers and limits become
// laws on these joints: a force F along the tendon works with coef F on each of them. Spatial tendons are named.
// Source: MuJoCo's XML reference, "tendon".
//
//   spring   -(a x + b x^2 + c x^3), x = L - springlength, 0 within a dead band
//   damper   -(a L' + b L' |L'| + c L'^3)
//   limits   the one-sided stop of our joints with its default numbers, at both ends of the range
#include <math.h>
#include <string.h>

#include "io/mjcf/law.h"
#include "io/mjcf/words.h"

#define STOP_STIFFNESS 1e5  // as limit-stiffness and limit-damping of a <joint>
#define STOP_DAMPING 1

// ------------------------------------------------------------------------------------------------------------ forces
static const char* power(srMjcf* m, const char* x, int exponent) {
  return sr_pool_printf(&m->r->pool, exponent == 1 ? "%s" : "%s^%d", x, exponent);
}

// Where MuJoCo takes the spring of a tendon to be relaxed: all joints at their springref, not at qpos0.
static double rest_length(srMjcf* m, const srMjcfTendon* t) {
  double length = 0;
  for (int i = 0; i < t->n; i++) {
    const srMjcfJoint* j = &m->joint[t->joint[i]];
    double rest;
    (void)sr_mjcf_number(m, j->node, j->childclass, "springref", 0, &rest);
    length += t->coef[i] * (j->type == SR_MJCF_HINGE ? sr_mjcf_angle(m, j->node, rest) : rest);
  }
  return length;
}

static void write_spring(srMjcf* m, const srXmlNode* node, const srMjcfTendon* t, const char* length,
                         srMjcfText* force) {
  double k[3] = {0}, rest[2] = {-1, -1};
  const int n = sr_mjcf_numbers(m, node, NULL, "springlength", 1, 2, rest);
  if (sr_mjcf_numbers(m, node, NULL, "stiffness", 1, 3, k) <= 0 || n < 0) return;
  if (n == 1) rest[1] = rest[0];
  if (rest[0] == -1 && rest[1] == -1) rest[0] = rest[1] = rest_length(m, t);
  if (rest[0] > rest[1])
    sr_mjcf_error(m, node->place, "'springlength' of <fixed> goes from a smaller to a larger length, not %g to %g",
                  rest[0], rest[1]);
  if (k[0] == 0 && k[1] == 0 && k[2] == 0) return;
  srPool* pool = &m->r->pool;
  const char *low = sr_mjcf_literal(pool, rest[0]), *high = sr_mjcf_literal(pool, rest[1]);
  const char* stretch = rest[0] == rest[1]
                            ? sr_pool_printf(pool, "(%s - %s)", length, low)
                            : sr_pool_printf(pool, "(max(0, %s - %s) + min(0, %s - %s))", length, high, length, low);
  for (int i = 0; i < 3; i++)
    if (k[i] != 0) sr_mjcf_write_term(force, -k[i], power(m, stretch, i + 1));
}

static void write_damper(srMjcf* m, const srXmlNode* node, const char* rate, srMjcfText* force) {
  double d[3] = {0};
  if (sr_mjcf_numbers(m, node, NULL, "damping", 1, 3, d) <= 0) return;
  sr_mjcf_write_term(force, -d[0], rate);
  if (d[1] != 0) sr_mjcf_write_term(force, -d[1], sr_pool_printf(&m->r->pool, "%s*abs%s", rate, rate));
  if (d[2] != 0) sr_mjcf_write_term(force, -d[2], power(m, rate, 3));
}

// One end of the range: sign 1 for the upper, which pulls back when the length is above it. The factor of the rate is phi of
// force/joint_stop.c, max(0, x) + exp(min(0, x)).
static void write_stop(srMjcf* m, const char* length, const char* rate, double end, int sign, srMjcfText* force) {
  srPool* pool = &m->r->pool;
  const char *at = sr_mjcf_literal(pool, end), *minus = sign > 0 ? "" : "-";
  const char* over =
      sr_pool_printf(pool, "max(0, %s - %s)*(max(0, %s%d*%s) + exp(min(0, %s%d*%s)))", sign > 0 ? length : at,
                     sign > 0 ? at : length, minus, STOP_DAMPING, rate, minus, STOP_DAMPING, rate);
  sr_mjcf_write_term(force, -sign * STOP_STIFFNESS, over);
}

static void add_friction(srMjcf* m, const srXmlNode* node, const srMjcfTendon* t) {
  double loss;
  if (!sr_mjcf_number(m, node, NULL, "frictionloss", 0, &loss) || loss == 0 || !m->with_friction) return;
  if (loss < 0) {
    sr_mjcf_error(m, node->place, "'frictionloss' of <fixed> must not be negative, got %g", loss);
  } else if (t->n != 1) {
    sr_reader_ignore(m->r, node->place, "'frictionloss' of a <fixed> tendon with several joints");
  } else if (t->coef[0] != 0) {
    const srMjcfJoint* j = &m->joint[t->joint[0]];
    sr_reader_friction(m->r, j->name, 0, false, j->type == SR_MJCF_HINGE, loss * fabs(t->coef[0]), t->place);
  }
}

static void add_forces(srMjcf* m, const srXmlNode* node, const srMjcfTendon* t, const char* name) {
  const char *length = sr_mjcf_tendon_text(m, t, false), *rate = sr_mjcf_tendon_text(m, t, true);
  srMjcfText force = {.pool = &m->r->pool};
  double range[2];
  if (m->with_springs) write_spring(m, node, t, length, &force);
  if (m->with_dampers) write_damper(m, node, rate, &force);
  if (sr_mjcf_limits(m, node, "limited", "range", range) == 1 && m->with_limits) {
    write_stop(m, length, rate, range[1], 1, &force);
    write_stop(m, length, rate, range[0], -1, &force);
  }
  sr_mjcf_charge(m, (size_t)force.n, 2);
  if (force.n > 0) sr_mjcf_pull(m, t, 1, sr_mjcf_written(&force), name, t->place);
  add_friction(m, node, t);
}

// ----------------------------------------------------------------------------------------------------------- reading
static void read_joints(srMjcf* m, const srXmlNode* node, srMjcfTendon* t) {
  int *joint = NULL, joint_capacity = 0, coef_capacity = 0, n = 0;
  double* coef = NULL;
  for (const srXmlNode* child = node->first; child && !sr_reader_is_over(m->r, child->place); child = child->next) {
    if (strcmp(child->name, "joint") != 0) {
      sr_mjcf_other_element(m, child, "joint", "");
      continue;
    }
    double c = 0;
    sr_mjcf_check_words(m, child, "joint|coef", "");
    const int j = sr_mjcf_find(m, child, "joint", &m->joint_names, "joint");
    const srXmlAttribute* a = sr_xml_attribute(child, "coef");
    if (!sr_xml_attribute(child, "joint") || !a) {
      sr_mjcf_error(m, child->place, "<joint> of a fixed tendon needs 'joint' and 'coef'");
    } else if (sr_reader_numbers(m->r, a, 1, 1, &c) == 1 && j >= 0 && !sr_mjcf_is_scalar(m, j)) {
      sr_mjcf_error(m, child->place, "a fixed tendon takes hinge and slide joints alone");
    } else if (j >= 0) {
      int same = n;
      SR_PUSH(&m->r->pool, joint, n, joint_capacity) = j;
      SR_PUSH(&m->r->pool, coef, same, coef_capacity) = c;
    }
  }
  t->n = n, t->joint = joint, t->coef = coef;
}

static void read_tendon(srMjcf* m, const srXmlNode* node, bool fixed) {
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  srMjcfTendon t = {.word = name ? name->value : NULL, .place = node->place};
  if (name && !sr_names_put(&m->tendon_names, name->value, m->ntendon))
    sr_mjcf_error(m, name->place, "there is a tendon '%.60s' already", name->value);
  if (!fixed) {
    sr_reader_ignore(m->r, node->place, "<spatial>");
  } else {
    sr_mjcf_check_attributes(m, node, "limited|range|frictionloss|springlength|stiffness|damping",
                             "group|actuatorfrclimited|actuatorfrcrange|solreflimit|solimplimit|solreffriction|"
                             "solimpfriction|margin|armature|user");
    read_joints(m, node, &t);
    if (t.n == 0 && sr_reader_errors(m->r) == 0)
      sr_mjcf_error(m, node->place, "<fixed> has no <joint>");
    else if (t.n > 0)
      add_forces(m, node, &t, t.word ? sr_reader_name(m->r, t.word, NULL) : NULL);
  }
  SR_PUSH(&m->r->pool, m->tendon, m->ntendon, m->tendon_capacity) = t;
}

void sr_mjcf_tendons(srMjcf* m, const srXmlNode* section) {
  for (const srXmlNode* node = section->first; node && !sr_reader_is_over(m->r, node->place); node = node->next) {
    const bool fixed = strcmp(node->name, "fixed") == 0;
    if (fixed || strcmp(node->name, "spatial") == 0)
      read_tendon(m, node, fixed);
    else
      sr_mjcf_other_element(m, node, "fixed|spatial", "");
  }
}
