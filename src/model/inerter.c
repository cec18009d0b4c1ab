// Inerters between two points: force -b z'' along their line, b: inertance, z: their distance (Smith 2002). An inerter is a term of M,
// T = 1/2 b z'^2, of rank one over all coordinates that move the points. So that M keeps the structure of the tree, an inerter is a
// coordinate s with the inertia b alone (its armature) and the constraint equation
//   s - |p_b - p_a| = 0
// whose multiplier is the tension b z''. Elimination of s gives M + b J^T J, J = dz/dq, and the velocity term b J^T J' v.
// In the spec: a body without mass on a slide, a sensor of point b in frame a, and a constraint by formula, all of the inerter's name.
#include <sarrus/spec.h>

#include "base/base.h"
#include "model/spec.h"

static bool expand(srSpec* spec, srPool* pool, int i) {
  const srInerterDef def = *(const srInerterDef*)srs_get(spec, SR_ELEMENT_INERTER, i);
  const srPlace place = srs_place(spec, SR_ELEMENT_INERTER, i);
  const char* name = def.name.text ? def.name.text : sr_pool_printf(pool, "inerter%d", i + 1);
  if (!name) return false;
  const char* formula =
      sr_pool_printf(pool, "q(%s) = sqrt(sensor(%s, x)^2 + sensor(%s, y)^2 + sensor(%s, z)^2)", name, name, name, name);
  if (!formula) return false;
  srAttr called = sr_text(name), expression = sr_text(formula);
  called.place = def.name.text ? def.name.place : place;
  expression.place = place;
  const srBodyDef body = {.name = called};
  const srJointDef joint = {.type = sr_text("prismatic"), .armature = def.inertance};
  const srSensorDef sensor = {.name = called, .point = def.b, .relative_to = def.a};
  const srConstraintDef constraint = {.name = called, .expr = expression};
  const int b = srs_add(spec, SR_ELEMENT_BODY, SR_NO_OWNER, &body, &place);
  return b >= 0 && srs_add(spec, SR_ELEMENT_JOINT, b, &joint, &place) >= 0 &&
         srs_add(spec, SR_ELEMENT_SENSOR, SR_NO_OWNER, &sensor, &place) >= 0 &&
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
