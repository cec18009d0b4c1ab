// Straight-line code made of graph nodes: what every language prints.
//   lower.c nodes to values with signs | count.c operations | emit.c statements | language_*.c syntax
#ifndef SR_SYMBOLIC_CODE_H
#define SR_SYMBOLIC_CODE_H

#include "expr/graph.h"

// A value is a constant, an input, or an operation of other values. A reference has its sign beside it, so that a - b and b - a, x y and -x y are one value: 2*value + (1: minus).
typedef int srRef;
#define SR_REF_VALUE(ref) ((ref) >> 1)
#define SR_REF_MINUS(ref) ((ref)&1)

typedef struct srCodeValue {
  srOp op;
  srRef child[3];
  double number;     // CONST, > 0 or 0
  srVarKind kind;    // VAR
  int index;         // VAR, PARAM
  const char* name;  // PARAM
  int uses;          // by values and outputs
  srNode node;       // the first that it stands for
  bool bare;         // an angle: sums of inputs and constants alone
} srCodeValue;

typedef struct srCode {
  int n;
  srCodeValue* value;  // n, children before parents
  int nout;
  srRef* out;
} srCode;

typedef struct srOperations {
  long add, mul, div;
  long fused;  // multiplications that are part of a fused multiply-add
  long angle;  // distinct arguments of sine and cosine
  long other;
} srOperations;

srCode* sr_code_create(srPool* pool, const srGraph* graph, const srNode* roots, int nroot);
srOperations sr_code_count(srPool* pool, const srCode* code);

// Terms of a value that is a sum, or its only term: sums that are used once are part of it. Products that are used once come last, so that each is one fused multiply-add.
typedef struct srTerms {
  int n, nproduct;
  srRef* term;
} srTerms;
bool sr_code_is_sum(const srCodeValue* v);
bool sr_code_is_inline(const srCode* code, int value);  // part of the statement that uses it
srTerms sr_code_terms(srPool* pool, const srCode* code, int value);

#endif
