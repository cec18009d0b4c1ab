// Straight-line code made of graph nodes: what every language prints.
//   lower.c nodes to values with signs | count.c operations | order.c order of statements | room.c values that wait | emit.c statements | language_*.c syntax
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
  int index;         // VAR, PARAM, LOOKUP, FOLD, PART
  const char* name;  // PARAM
  int uses;          // by values and outputs
  srNode node;       // the first that it stands for
  bool bare;         // an angle: sums of inputs and constants alone
} srCodeValue;

// A loop: state <- step(index, arg, state) for all indices, the last one fastest, from state 0. A step is left out where `some` is 0 in all lanes: it changes nothing in a lane where it is.
// The codes have index[k] as SR_VAR_TIME, arg[k] as SR_VAR_ARG, state[k] as SR_VAR_RECORD.
enum { SR_FOLD_INDICES = 4 };
typedef struct srCode srCode;
typedef struct srFold {
  const char* about;
  int narg, nstate, n[SR_FOLD_INDICES];
  const srCode *some, *step;  // outputs: 1, nstate
} srFold;
int sr_fold_steps(const srFold* fold);
int sr_fold_work(const srFold* fold);  // doubles
void sr_fold_evaluate(const srFold* fold, const double* arg, double* work, double* state);

struct srCode {
  int n;
  srCodeValue* value;  // n, children before parents
  int nout;
  srRef* out;
  bool unpacked;              // sines and cosines are statements
  const srGraphTable* table;  // ntable, that lookups use
  int ntable;
  const srFold* const* fold;
  int work;  // doubles that its evaluation needs, at least n
};

typedef struct srOperations {
  long add, mul, div;
  long fused;  // multiplications that are part of a fused multiply-add
  long angle;  // distinct arguments of sine and cosine
  long other;
} srOperations;

srCode* sr_code_create(srPool* pool, const srGraph* graph, const srNode* roots, int nroot);
srOperations sr_code_count(srPool* pool, const srCode* code);

// Its outputs. input: arrays by srVarKind, and parameters behind them; work: code->work doubles.
void sr_code_evaluate(const srCode* code, const double* const* input, double* work, double* out);

// Terms of a value that is a sum, or its only term: sums that are used once are part of it. Products that are used once come last, so that each is one fused multiply-add.
typedef struct srTerms {
  int n, nproduct;
  srRef* term;
} srTerms;
bool sr_code_is_sum(const srCodeValue* v);
bool sr_code_is_inline(const srCode* code, int value);  // part of the statement that uses it
bool sr_code_is_packed(const srCode* code, int value);  // sine or cosine of an angle, computed before the statements
srTerms sr_code_terms(srPool* pool, const srCode* code, int value);

// Statements in the order in which they are written: values, and -1 - k for output k.
typedef struct srOrder {
  int n, *item;
  long price;  // twice the values that find no register and are stored, and those that are read again
} srOrder;
srOrder sr_code_order(srPool* pool, const srCode* code, int registers);

// Values that statements and outputs use, which are statements as well.
typedef struct srOperands {
  int n, *value;
} srOperands;
const srOperands* sr_code_operands(srPool* pool, const srCode* code);  // by items of an order: [-1 - k] of output k

typedef struct srRoom {
  int n;      // slots
  int* slot;  // of each value that is put into one
  srOperands *put,
      *read;  // before each item of the order: values that are put into their slots, and that are read again
} srRoom;
srRoom sr_code_room(srPool* pool, const srCode* code, const srOrder* order, int registers);

#endif
