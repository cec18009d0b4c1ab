// Attributes that are given and have no effect: pitch of a revolute joint, points of a trapezoid. No error, since a <repeat>
// may write one line for several types; but always reported.
#include <string.h>

#include "model/compile.h"
#include "model/joint.h"
#include "model/spec.h"

typedef struct Rule {
  srElementKind kind;
  const char* attribute;
  const char* types;  // values of 'type' that use it, "|a|b|"; MOVING, BY_KIND; NULL: all of them
  const char* needs;  // attribute without which it has no effect, or one of two, "a|b"; NULL: none
} Rule;

static const char MOVING[] = "joints with coordinates", BY_KIND[] = "those whose table row has it in 'uses'";

static const Rule rules[] = {
    {SR_ELEMENT_JOINT, "axis", BY_KIND, NULL},
    {SR_ELEMENT_JOINT, "axis2", BY_KIND, NULL},
    {SR_ELEMENT_JOINT, "pitch", BY_KIND, NULL},
    {SR_ELEMENT_JOINT, "q", MOVING, NULL},
    {SR_ELEMENT_JOINT, "v", MOVING, NULL},
    {SR_ELEMENT_JOINT, "stiffness", MOVING, NULL},
    {SR_ELEMENT_JOINT, "damping", MOVING, NULL},
    {SR_ELEMENT_JOINT, "armature", MOVING, NULL},
    {SR_ELEMENT_JOINT, "effort", MOVING, NULL},
    {SR_ELEMENT_JOINT, "speed", MOVING, NULL},
    {SR_ELEMENT_JOINT, "role", MOVING, NULL},
    {SR_ELEMENT_JOINT, "natural-frequency", MOVING, NULL},
    {SR_ELEMENT_JOINT, "damping-ratio", NULL, "stiffness|natural-frequency"},
    {SR_ELEMENT_JOINT, "reference", MOVING, NULL},
    {SR_ELEMENT_JOINT, "rest", NULL, "stiffness|natural-frequency"},
    {SR_ELEMENT_JOINT, "limit-stiffness", NULL, "limits"},
    {SR_ELEMENT_JOINT, "limit-damping", NULL, "limits"},
    {SR_ELEMENT_JOINT, "limit-natural-frequency", NULL, "limits"},
    {SR_ELEMENT_JOINT, "limit-damping-ratio", NULL, "limits"},
    {SR_ELEMENT_JOINT, "limit-law", NULL, "limits"},
    {SR_ELEMENT_JOINT, "limit-restitution", NULL, "limit-law"},
    {SR_ELEMENT_CLOSURE, "axis", BY_KIND, NULL},
    {SR_ELEMENT_CLOSURE, "axis2", BY_KIND, NULL},
    {SR_ELEMENT_CLOSURE, "pitch", BY_KIND, NULL},
    {SR_ELEMENT_CLOSURE, "length", BY_KIND, NULL},
    {SR_ELEMENT_CLOSURE, "radius", BY_KIND, NULL},
    {SR_ELEMENT_CLOSURE, "shape", BY_KIND, NULL},
    {SR_ELEMENT_CLOSURE, "normal", BY_KIND, NULL},
    {SR_ELEMENT_CLOSURE, "law", BY_KIND, NULL},
    {SR_ELEMENT_CLOSURE, "parameters", BY_KIND, NULL},
    {SR_ELEMENT_SHAPE, "mesh", "|mesh|hull|", NULL},
    {SR_ELEMENT_MESH, "faces", NULL, "vertices"},
    {SR_ELEMENT_CONTACT, "joined", NULL, "default"},
    {SR_ELEMENT_MOTION, "points", "|cubic|quintic|", NULL},
    {SR_ELEMENT_MOTION, "file", "|cubic|quintic|", NULL},
    {SR_ELEMENT_MOTION, "column", NULL, "file"},
    {SR_ELEMENT_MOTION, "ends", "|cubic|", NULL},
    {SR_ELEMENT_MOTION, "start", "|trapezoid|sweep|", NULL},
    {SR_ELEMENT_MOTION, "from", "|trapezoid|", NULL},
    {SR_ELEMENT_MOTION, "to", "|trapezoid|", NULL},
    {SR_ELEMENT_MOTION, "speed", "|trapezoid|", NULL},
    {SR_ELEMENT_MOTION, "acceleration", "|trapezoid|", NULL},
    {SR_ELEMENT_MOTION, "duration", "|sweep|", NULL},
    {SR_ELEMENT_MOTION, "amplitude", "|sweep|", NULL},
    {SR_ELEMENT_MOTION, "f0", "|sweep|", NULL},
    {SR_ELEMENT_MOTION, "f1", "|sweep|", NULL},
    {SR_ELEMENT_SENSOR, "relative-to", NULL, "point"},
    {SR_ELEMENT_SENSOR, "unit", NULL, "expr|law"},
    {SR_ELEMENT_SENSOR, "parameters", NULL, "law"},
    {SR_ELEMENT_USER, "coordinate", NULL, "joint"},
};

static void check_needs(srCompiler* c, const Rule* rule, int i, srPlace place) {
  const char* bar = strchr(rule->needs, '|');
  const int one = sr_element_field(rule->kind, rule->needs), two = bar ? sr_element_field(rule->kind, bar + 1) : one;
  SR_ASSERT(one >= 0 && two >= 0);
  if (sr_given(*sr_c_attr(c, rule->kind, i, one)) || sr_given(*sr_c_attr(c, rule->kind, i, two))) return;
  const srField* f = srs_element(rule->kind)->fields;
  sr_c_warning(c, place, "'%s' of <%s> does nothing without '%s'%s%s%s", rule->attribute, srs_element(rule->kind)->word,
               f[one].word, bar ? " or '" : "", bar ? f[two].word : "", bar ? "'" : "");
}

static bool is_among(const char* types, const char* word) {
  const size_t n = strlen(word);
  for (const char* p = types; *p == '|' && p[1]; p = strchr(p + 1, '|'))
    if (strncmp(p + 1, word, n) == 0 && p[1 + n] == '|') return true;
  return false;
}

static const srJointKind* joint_of(const char* word) {
  for (int k = 0; k < SR_JOINT_TYPES; k++)
    if (strcmp(sr_joint_word((srJointType)k), word) == 0) return sr_joint_kind((srJointType)k);
  return NULL;
}

// An unknown type is an error of its own.
static bool is_used(const srCompiler* c, const Rule* rule, const char* word) {
  if (rule->types != MOVING && rule->types != BY_KIND) return is_among(rule->types, word);
  const char* uses;
  if (rule->kind == SR_ELEMENT_JOINT) {
    const srJointKind* kind = joint_of(word);
    if (!kind || rule->types == MOVING) return !kind || kind->nv > 0;
    uses = kind->uses;
  } else {
    const srClosureWord* found = c->catalog->closure(word);
    if (!found) return true;
    uses = found->kind->uses;
  }
  return uses && is_among(uses, rule->attribute);
}

static void check(srCompiler* c, const Rule* rule, int i, int field, int type) {
  if (!sr_given(*sr_c_attr(c, rule->kind, i, field))) return;
  const srPlace place = sr_c_place(c, rule->kind, i, field);
  const char* word = type >= 0 ? sr_c_attr(c, rule->kind, i, type)->text : NULL;
  if (word && !is_used(c, rule, word))
    sr_c_warning(c, place, "'%s' does nothing: a %s of type '%s' does not use it", rule->attribute,
                 srs_element(rule->kind)->word, word);
  if (rule->needs) check_needs(c, rule, i, place);
}

static void check_spheres(srCompiler* c) {
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_CLOSURE); i++) {
    const srClosureDef* def = srs_get(c->spec, SR_ELEMENT_CLOSURE, i);
    const bool rolls = def->type.text && strcmp(def->type.text, "roll") == 0;
    if (!rolls || !def->shape.text || strcmp(def->shape.text, "sphere") != 0 || !sr_given(def->axis)) continue;
    sr_c_warning(c, sr_c_place(c, SR_ELEMENT_CLOSURE, i, SR_FIELD(srClosureDef, axis)),
                 "'axis' does nothing: a sphere has none");
  }
}

void sr_compile_unused(srCompiler* c) {
  for (int r = 0; r < SR_COUNT(rules); r++) {
    const Rule* rule = &rules[r];
    const int field = sr_element_field(rule->kind, rule->attribute);
    const int type = rule->types ? sr_element_field(rule->kind, "type") : -1;
    SR_ASSERT(field >= 0 && (type >= 0) == (rule->types != NULL));
    for (int i = 0; i < srs_count(c->spec, rule->kind); i++) check(c, rule, i, field, type);
  }
  check_spheres(c);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_FORCE); i++) {
    const srForceDef* def = srs_get(c->spec, SR_ELEMENT_FORCE, i);
    if (!sr_given(def->f) && !sr_given(def->m))
      sr_c_warning(c, srs_place(c->spec, SR_ELEMENT_FORCE, i), "<force> does nothing without 'f' or 'm'");
  }
}
