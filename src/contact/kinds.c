// The kinds of elements by name, and their common part of model compilation.
#include "contact/kinds.h"

#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "contact/friction_graph.h"
#include "contact/normal_graph.h"

const srContactKind* sr_contact_kind(const char* name) {
  static const srContactKind* const kinds[] = {&sr_contact_joint_friction, &sr_contact_joint_end, &sr_contact_shapes,
                                               &sr_contact_formula};
  for (int i = 0; i < SR_COUNT(kinds); i++) {
    if (strcmp(kinds[i]->law->name, name) == 0) return kinds[i];
  }
  return NULL;
}

// The derivative of a friction law among those of another contact.
static const srProgram* known(const srDryFriction* x, const srSurfaceLaws* like) {
  const srDryFriction* part[] = {&like->slip, &like->roll, &like->spin};
  for (int i = 0; i < SR_COUNT(part); i++) {
    if (part[i]->law == x->law && part[i]->n == x->n && part[i]->ne == x->ne) return part[i]->derivative;
  }
  return NULL;
}

void sr_contact_prepare(srPool* pool, srSurfaceLaws* contact, const srSurfaceLaws* like) {
  srDryFriction* part[] = {&contact->slip, &contact->roll, &contact->spin};
  for (int i = 0; i < SR_COUNT(part); i++) {
    srDryFriction* x = part[i];
    if (!x->law) continue;
    x->derivative = like ? known(x, like) : NULL;
    if (!x->derivative) x->derivative = sr_friction_derivative(pool, x->law, x->n, x->ne / x->n);
  }
  if (!contact->law) return;
  contact->derivative = like && like->law == contact->law ? like->derivative : NULL;
  if (!contact->derivative) contact->derivative = sr_normal_derivative(pool, contact->law);
}
