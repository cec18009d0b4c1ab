// What formulas in the reader may use: the parameters defined before, and the indices of the enclosing repeats.
#ifndef SR_IO_SCOPE_H
#define SR_IO_SCOPE_H

#include "expr/expr.h"

#define SR_SCOPE_INDEX_LIMIT 200  // as deep as XML may be

typedef struct srScope {
  srPool* pool;  // on_fail is set
  srMessages* messages;
  srNames names;       // parameters so far
  const char** words;  // their names
  double* values;
  int n, words_capacity, values_capacity;
  srNames later;  // parameters anywhere in the file: for a better message
  struct {
    const char* name;
    long long value;
  } indices[SR_SCOPE_INDEX_LIMIT];
  int nindex;
  srPool scratch;  // of the graph, renewed when it has grown
  srGraph* graph;
  int parsed;  // formulas in the graph
} srScope;

void sr_scope_init(srScope* scope, srPool* pool, srMessages* messages);
void sr_scope_free(srScope* scope);

// Value of a parameter by name, NULL when there is none so far.
const double* sr_scope_parameter(const srScope* scope, const char* name);
void sr_scope_define(srScope* scope, const char* name, double value);
bool sr_scope_is_index(const srScope* scope, const char* name);

// Value of a formula; false after an error (reported at place), also when it is not finite.
bool sr_scope_value(srScope* scope, const char* text, srPlace place, double* value);
// The same of a setting: it may use parameters, and no indices.
bool sr_scope_setting(srScope* scope, const char* text, srPlace place, double* value);
// Value that must be whole, between lowest and highest. what names it in the message ("count of <repeat>").
bool sr_scope_whole(srScope* scope, const char* text, srPlace place, const char* what, long long lowest,
                    long long highest, long long* value);

// The text with {formula} replaced by its value; in formulas also the names of indices by their numbers. Returns text
// itself where there is nothing to replace, else a text in the pool; NULL after an error.
const char* sr_scope_fill(srScope* scope, srPool* pool, const char* text, srPlace place, bool is_formula);

#endif
