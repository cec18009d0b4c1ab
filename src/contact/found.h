// What a run with rigid contact has found of its contacts at a row of results, for those who record them: force laws have no part in such a run.
#ifndef SR_CONTACT_FOUND_H
#define SR_CONTACT_FOUND_H

#include "contact/element.h"

// One point where two surfaces touch or are near; a stop; a gap by formula, of which [0] of the vectors is along the slip. Vectors in ground axes.
typedef struct srFoundContact {
  long id;
  int element;                // force element; -1: a pair of a contact set, and ...
  int set, a, b;              // ... the set and its colliders
  double gap;                 // > 0 apart
  double normal;              // force, >= 0
  double n[3];                // from a to b
  double friction[3];         // force on b
  double power, dissipation;  // power of both forces on the bodies; what becomes heat
  srContactState state;       // without friction it slides
} srFoundContact;

typedef struct srFoundContacts {
  int count;
  srFoundContact* contact;
} srFoundContacts;

#endif
