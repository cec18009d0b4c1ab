// What the surfaces of shapes have besides their form: a direction of friction, and a velocity of their own.
#include <math.h>

#include "collide/collision.h"
#include "math/pose.h"
#include "model/compile.h"

#define FIELD(member) SR_FIELD(srShapeDef, member)
#define PLACE(member) sr_c_place(c, SR_ELEMENT_SHAPE, i, FIELD(member))

static bool is_given(srCompiler* c, int i, int field) { return sr_given(*sr_c_attr(c, SR_ELEMENT_SHAPE, i, field)); }

static void find_direction(srCompiler* c, int i, srCollisionShape* out) {
  double d[3], angle;
  if (!is_given(c, i, FIELD(direction))) {
    if (is_given(c, i, FIELD(turn)))
      sr_c_error(c, PLACE(turn), "'friction-turn' turns a 'friction-direction', which the shape does not have");
    return;
  }
  if (sr_c_numbers(c, SR_ELEMENT_SHAPE, i, FIELD(direction), d, 3) != 3) return;
  if (!sr_c_number(c, SR_ELEMENT_SHAPE, i, FIELD(turn), &angle)) return;
  const double length = srm_norm3(d);
  if (!(length > 0)) {
    sr_c_error(c, PLACE(direction), "'friction-direction' is a direction: it must not be zero");
    return;
  }
  if (out->convex.kind == SR_KIND_PLANE && hypot(d[0], d[1]) < 1e-9 * length) {
    sr_c_error(c, PLACE(direction), "'friction-direction' of a plane must not be along z, its normal");
    return;
  }
  for (int k = 0; k < 3; k++) out->direction[k] = d[k] / length;
  out->turn[0] = cos(angle);
  out->turn[1] = sin(angle);
}

// Laws of the time alone: the derivatives of contacts need nothing of them.
static void find_velocity(srCompiler* c, int i, srCollisionShape* out) {
  srNode law[3];
  if (!is_given(c, i, FIELD(velocity))) return;
  if (sr_c_laws(c, SR_ELEMENT_SHAPE, i, FIELD(velocity), law, 3) != 3) return;
  for (int k = 0; k < 3; k++) {
    if (sr_c_of_time_alone(c, law[k])) continue;
    sr_c_error(c, PLACE(velocity), "'surface-velocity' is a formula of t: it cannot depend on the motion or on states");
    return;
  }
  if (c->priv->formula_belt < 0) c->priv->formula_belt = c->nroot;
  out->belt = c->nroot - c->priv->formula_belt;
  for (int k = 0; k < 3; k++) (void)sr_c_root(c, law[k]);
}

static void check_use(srCompiler* c, int i) {
  const srShape* shape = &c->m->shape[i];
  if (shape->use == SR_SHAPE_VISUAL && (is_given(c, i, FIELD(direction)) || is_given(c, i, FIELD(velocity))))
    sr_c_warning(c, shape->place, "a shape for pictures alone has no friction: its surface does nothing");
}

void sr_compile_surfaces(srCompiler* c) {
  c->priv->formula_belt = -1;
  for (int i = 0; i < c->m->nshape; i++) {
    find_direction(c, i, &c->collision[i]);
    find_velocity(c, i, &c->collision[i]);
    check_use(c, i);
  }
}
