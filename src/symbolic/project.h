// A project around generated C code: a program that steps the model, and functions for the user to fill in.
#ifndef SR_SYMBOLIC_PROJECT_H
#define SR_SYMBOLIC_PROJECT_H

#include "symbolic/emit.h"
#include "symbolic/function.h"

// The functions that it calls, as `what`. NULL: the model cannot have one; a clause in *why.
const char* sr_project_functions(const srModel* m, const char** why);
// Adds its files behind the n that there are; returns how many there are then. d: the model at its start.
int sr_project_write(srPool* pool, const srEmitUnit* unit, const srSymContext* context, const srData* d, srEmitFile* to,
                     int n);

#endif
