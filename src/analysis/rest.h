// Contacts at rest: the memory behind the public list, for the files that fill it.
#ifndef SR_ANALYSIS_REST_H
#define SR_ANALYSIS_REST_H

#include <sarrus/analysis.h>

#include "base/base.h"

typedef struct srRestMemory {
  srRest shown;  // first: what the caller sees
  srPool pool;
  jmp_buf out_of_memory;
  srRestContact* contact;           // those of `shown`
  const struct srRigidRows* rigid;  // of rigid contacts; NULL: they have force laws
} srRestMemory;

srRestMemory* sr_rest_memory(void);                         // NULL: out of memory
srRestContact* sr_rest_add(srRestMemory* x, int capacity);  // the next one; capacity: of all, the same in every call

#endif
