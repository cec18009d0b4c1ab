// Generated code as a library in this process.
#ifndef SR_GENERATED_LOAD_H
#define SR_GENERATED_LOAD_H

#include <sarrus/generate.h>

#include "base/file.h"
#include "model/private.h"

// From the cache, or compiled; lanes 0: one state at a time. NULL: *reason.
void* sr_code_load(const srGenerated* g, int lanes, srReason* reason);
void sr_code_close(void* library);
// Stores the pointer to a function by its name ("accel") in *function, a pointer to a function pointer. False: there is none.
bool sr_code_function(void* library, const srGenerated* g, const char* name, void* function);

#endif
