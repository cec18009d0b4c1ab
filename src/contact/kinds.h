// The kinds of elements of this folder: compile looks them up by name (model/catalog.h).
#ifndef SR_CONTACT_KINDS_H
#define SR_CONTACT_KINDS_H

#include "model/catalog.h"

// Derivatives of its laws: srContactKind.prepare.
void sr_contact_prepare(srPool* pool, srSurfaceLaws* contact, const srSurfaceLaws* like);

extern const srContactKind sr_contact_joint_friction, sr_contact_joint_end, sr_contact_shapes, sr_contact_formula;
const srContactKind* sr_contact_kind(const char* name);  // NULL: none of this name

#endif
