// Formulas and definitions of laws from another graph, with what their variables stand for.
#ifndef SR_SYMBOLIC_IMPORT_H
#define SR_SYMBOLIC_IMPORT_H

#include "symbolic/tree.h"

typedef struct srSymImport {
  srNode (*parameter)(void* user, const char* name);  // NULL: parameters are their values; SR_NO_NODE: this one is
  srPool* pool;
  const srGraph* from;
  srGraph* to;
  srNode* map;  // of the nodes that are known, + 1
  // The node of a variable.
  srNode (*variable)(void* user, srVarKind kind, int index);
  void* user;
} srSymImport;

srSymImport* sr_sym_import_begin(srPool* pool, const srGraph* from, srGraph* to,
                                 srNode (*variable)(void* user, srVarKind kind, int index), void* user);
srNode sr_sym_import(srSymImport* x, srNode node);
// NULL, or the name of a function below the node that cannot be written as operations: it is C code or a table.
const char* sr_sym_import_missing(const srGraph* from, srNode node);

#endif
