// Inerters between two points: force -b z'' along their line, b: inertance, z: their distance (Smith 2002); between two joints: the same for the difference of
// their coordinates. An inerter is a term of M, T = 1/2 b z'^2, of rank one over all coordinates that move z. So that M keeps the structure of the tree, an inerter is a
// coordinate s with the inertia b alone (its armature) and the constraint equation
//   s - |p_b - p_a| = 0        or        s - (q_1 - q_2) = 0
// whose multiplier is the tension b z''. Elimination of s gives M + b J^T J, J = dz/dq, and the velocity term b J^T J' v.
// In the spec: a body without mass on a slide, or a hinge for angles, a sensor of point b in frame a, and a constraint by formula, all of the inerter's name.
#include <sarrus/spec.h>
#include <string.h>

#include "base/base.h"
#include "model/spec.h"

static const char* formula_of(srPool* pool, const srInerterDef* def, const char* name) {
  if (def->joint.text)
    return sr_pool_printf(pool, "q(%s) = q(%s) - q(%s)", name, def->joint.text,
                          def->joint2.text ? def->joint2.text : "");
  return sr_pool_printf(pool, "q(%s) = sqrt(sensor(%s, x)^2 + sensor(%s, y)^2 + sensor(%s, z)^2)", name, name, name,
                        name);
}

// A joint has its own name, or that of its body.
static bool is_named(const srSpec* spec, int joint, const char* name) {
  const srJointDef* def = srs_get(spec, SR_ELEMENT_JOINT, joint);
  if (def->name.text) return strcmp(def->name.text, name) == 0;
  const srBodyDef* body = srs_get(spec, SR_ELEMENT_BODY, srs_owner(spec, SR_ELEMENT_JOINT, joint));
  return body->name.text && strcmp(body->name.text, name) == 0;
}

static bool is_angle(const srSpec* spec, const srAttr* joint) {
  for (int j = 0; joint->text && j < srs_count(spec, SR_ELEMENT_JOINT); j++) {
    const srJointDef* def = srs_get(spec, SR_ELEMENT_JOINT, j);
    if (is_named(spec, j, joint->text)) return def->type.text && strcmp(def->type.text, "revolute") == 0;
  }
  return false;
}

static bool expand(srSpec* spec, srPool* pool, int i) {
  const srInerterDef def = *(const srInerterDef*)srs_get(spec, SR_ELEMENT_INERTER, i);
  const srPlace place = srs_place(spec, SR_ELEMENT_INERTER, i);
  const char* name = def.name.text ? def.name.text : sr_pool_printf(pool, "inerter%d", i + 1);
  if (!name) return false;
  if (def.joint.text ? !def.joint2.text : !sr_given(def.a) || !sr_given(def.b))
    return true;  // compile_force.c reports it
  const char* formula = formula_of(pool, &def, name);
  if (!formula) return false;
  const bool angle = is_angle(spec, &def.joint);
  srAttr called = sr_text(name), expression = sr_text(formula);
  called.place = def.name.text ? def.name.place : place;
  expression.place = place;
  const srBodyDef body = {.name = called};
  const srJointDef joint = {.type = sr_text(angle ? "revolute" : "prismatic"), .armature = def.inertance};
  const srSensorDef sensor = {.name = called, .point = def.b, .relative_to = def.a};
  const srConstraintDef constraint = {.name = called, .expr = expression};
  const int b = srs_add(spec, SR_ELEMENT_BODY, SR_NO_OWNER, &body, &place);
  return b >= 0 && srs_add(spec, SR_ELEMENT_JOINT, b, &joint, &place) >= 0 &&
         (def.joint.text || srs_add(spec, SR_ELEMENT_SENSOR, SR_NO_OWNER, &sensor, &place) >= 0) &&
         srs_add(spec, SR_ELEMENT_CONSTRAINT, SR_NO_OWNER, &constraint, &place) >= 0;
}

srSpec* sr_spec_expand_inerters(const srSpec* spec) {
  srPool pool;
  sr_pool_init(&pool);
  srSpec* copy = srs_copy(spec);
  bool done = copy != NULL;
  if (done && sr_spec_is_partial(spec)) done = sr_spec_lose(copy, NULL);  // no model of it either
  for (int i = 0; done && i < srs_count(spec, SR_ELEMENT_INERTER); i++) done = expand(copy, &pool, i);
  sr_pool_free(&pool);
  if (done) return copy;
  srs_destroy(copy);
  return NULL;
}
