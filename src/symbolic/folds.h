// Loops of contacts: made once, however often the equations around them are built, and shared by contacts that differ in nothing.
#ifndef SR_SYMBOLIC_FOLDS_H
#define SR_SYMBOLIC_FOLDS_H

#include "symbolic/code.h"

typedef struct srSymFolds srSymFolds;
srSymFolds* sr_sym_folds(srPool* pool);
srPool* sr_sym_folds_pool(const srSymFolds* folds);  // what loops are made in: that of a tree may be emptied before

// What a loop depends on, beside its arguments.
typedef struct srFoldKey {
  const void* of[3];
  int n;
  const double* number;
} srFoldKey;
const srFold* sr_sym_fold_find(const srSymFolds* folds, const srFoldKey* key);  // NULL: not made yet
// Of the nodes of two graphs; the codes are taken from them.
typedef struct srFoldMaking {
  srFold fold;
  srGraph *some, *step;
  srNode some_out, *step_out;  // step_out: nstate
} srFoldMaking;
const srFold* sr_sym_fold_make(srSymFolds* folds, const srFoldKey* key, const srFoldMaking* x);

#endif
