// What compile leaves for the folders above: programs of the formulas, plugins, memory.
#ifndef SR_MODEL_PRIVATE_H
#define SR_MODEL_PRIVATE_H

#include <sarrus/model.h>

#include "expr/expr.h"

struct srModelPrivate {
  srPool pool;         // everything the model points to
  srGraph* graph;      // all formulas of the model, for derivatives and the code generator
  srProgram* laws;     // inputs t, q, v, state, sensor, arg (link_arg) -> srData.formula
  srProgram* drivers;  // input t -> srData.motion: value, rate, second derivative of each driver
  int ny_user;         // the first ny_user states are <state> elements ...
  int formula_rate;    // ... whose rates are srData.formula[formula_rate ...]
  void** plugins;      // handles of loaded shared libraries
  int nplugin;
  const double* limits;  // njoint x 2, NaN where there are none
};

// The laws that come with the program: {"formula", "spring", ...}, ended by NULL. Defined in src/force/table.c: laws
// stand above the model in the order of folders, and their table is the one thing that compile takes from there.
extern const srImpedance* const sr_builtin_impedances[];
const srImpedance* sr_builtin_impedance(const char* name);

int sr_data_work(const srModel* m);  // doubles of scratch that srData.work holds

#endif
