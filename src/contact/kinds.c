// The kinds of elements by name.
#include "contact/kinds.h"

#include <stddef.h>
#include <string.h>

const srContactKind* sr_contact_kind(const char* name) {
  static const srContactKind* const kinds[] = {&sr_contact_joint_friction, &sr_contact_joint_end, &sr_contact_shapes,
                                               &sr_contact_formula};
  for (int i = 0; i < SR_COUNT(kinds); i++) {
    if (strcmp(kinds[i]->law->name, name) == 0) return kinds[i];
  }
  return NULL;
}
