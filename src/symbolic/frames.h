#ifndef SR_SYMBOLIC_FRAMES_H
#define SR_SYMBOLIC_FRAMES_H

#include "symbolic/code.h"
#include "symbolic/tree.h"

// The equations of a function in the frames of a pass: its outputs.
typedef void (*srSymBuild)(srSymPass* pass, const void* user, srNode* out);
// Chooses frame and carries of all links for the function with nout outputs; returns its price.
long sr_sym_choose_frames(srSymTree* tree, srSymBuild build, const void* user, int nout);
// Operations, a division as 4 and an angle as 12 of them.
long sr_sym_price(const srOperations* o);

#endif
