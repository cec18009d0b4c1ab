// Parameters of a model that stay arguments of generated functions (symbols.c).
#ifndef SR_SYMBOLIC_SYMBOLS_H
#define SR_SYMBOLIC_SYMBOLS_H

#include <sarrus/spec.h>

#include "symbolic/tree.h"

// Numbers of a tree as nodes of a graph of their own, where parameter i is PARAM i. What no parameter enters is a number.
struct srSymSymbols {
  int n;
  const char* const* name;
  const double* value;  // of the model
  srGraph* g;
  srVec *p, *h;  // links
  srMat* J;
  srNode *mass, *armature;  // links, coordinates
  srVec gravity;
  srNames names;  // of all parameters of the model -> node of g
  srNode**
      element;  // of force elements: nodes of their numbers, SR_NO_NODE where they stay; NULL: elements are not generated
};

static inline int sr_sym_nparameter(const srSymTree* tree) { return tree->symbols ? tree->symbols->n : 0; }

// names: "m1,l2" or "all", which is all that enter the equations and can be arguments. NULL, with messages: one of them cannot.
// Everything is compared with the model compiled for other values of each parameter. elements: force elements, too.
srSymSymbols* sr_sym_symbols(const srSymTree* tree, const srSpec* spec, const char* names, bool elements,
                             srMessages* messages);
// As sr_sym_regroup; the tree gets symbols of its own.
void sr_sym_regroup_symbols(srSymTree* tree);
// The node of the symbols' graph in the graph of a pass; map: from sr_sym_bring.
srNode* sr_sym_bring(srGraph* g, srPool* pool, const srSymSymbols* symbols);

// symbols_elements.c. The model with one parameter changed, and the values of all.
typedef struct srSymOther {
  srModel* m;
  double* p;
} srSymOther;
// Nodes of the formulas that the element at this place of the file has, and of all parameters; how many.
typedef int (*srSymFormulas)(void* user, srPlace place, srNode* out, int most);
// Fills s->element. n others, one a parameter; fault: a clause why it cannot be an argument; enters: it changes elements, formulas or the start.
void sr_sym_element_symbols(srPool* pool, const srModel* m, srSymSymbols* s, int n, const srSymOther* other,
                            srSymFormulas formulas, void* user, const char** fault, bool* enters);
// A number of an element: its law's parameters, arguments of the normal law, of the frictions (part 0 slip, 1 roll, 2 spin).
srNode sr_sym_element_number(const srSymPass* pass, const srForceElement* e, int at, double value);
int sr_sym_friction_numbers(const srForceElement* e, int part);  // where those of a friction begin

#endif
