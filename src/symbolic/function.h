// Functions that can be generated. A new one is a file with its equations and its srSymFunction, and a row of the table in function.c.
#ifndef SR_SYMBOLIC_FUNCTION_H
#define SR_SYMBOLIC_FUNCTION_H

#include <sarrus/generate.h>

#include "symbolic/frames.h"
#include "symbolic/regressor.h"
#include "symbolic/symbols.h"

// What functions are generated of; the `user` of their srSymBuild.
typedef struct srSymContext {
  const srModel* m;
  const srGenerateOptions* options;
  const srSymBase* base;                   // where a function that needs it is wanted
  srPool* pool;                            // for what `missing` states
  const struct srSymPartition* partition;  // of functions that are `partitioned`
  const srSymSymbols* symbols;             // parameters that are arguments; NULL: none
} srSymContext;

typedef int (*srSymCount)(const srSymContext* context);  // a size of an array
int sr_count_q(const srSymContext* context);             // nq
int sr_count_v(const srSymContext* context);             // nv
int sr_count_y(const srSymContext* context);             // ny
int sr_count_p(const srSymContext* context);             // parameters that are arguments

// An array, by rows. rows NULL: none; columns NULL: a vector. triangle: entries below and on the diagonal alone are written.
typedef struct srSymArray {
  const char* name;
  srSymCount rows, columns;
  const char* about;
  bool triangle;
} srSymArray;

// Which list of parameters the comment of a function has.
typedef enum srSymParameters { SR_SYM_NO_PARAMETERS, SR_SYM_BASE_PARAMETERS, SR_SYM_BODY_PARAMETERS } srSymParameters;

enum { SR_SYM_OUTPUTS = 8 };
typedef struct srSymFunction {
  const char* name;                // "accel"
  const char* about;               // a sentence
  unsigned in;                     // bits SR_SYM_IN(kind) of srVarKind: its arguments, in the order of function.c
  srSymArray out[SR_SYM_OUTPUTS];  // all outputs, one after the other, are `out` of its build
  srSymBuild build[2];             // two ways: the cheaper one is taken
  srSymBuild frames;               // whose frames are taken, with nv outputs; NULL: its own
  bool on_demand;                  // not where all are wanted
  bool parametric;                 // parameters may be its arguments
  bool elements;                   // it has force elements
  bool own_axes;                   // written in the axes of links alone
  bool in_lanes;                   // may have limbs in lanes on a GPU, by build[0]
  bool in_vector;                  // may have limbs in lanes of a vector in C, by build[0]
  srSymParameters parameters;
  void (*prepare)(srSymContext* context, srPool* pool, const srSymTree* reduced);  // NULL, or what its sizes need
  // Does it need independent and dependent coordinates? Then build[0] is taken. NULL: no.
  bool (*partitioned)(const srSymContext* context);
  // NULL, or a clause why the model has no such function: "is of trees, and ...".
  const char* (*missing)(const srSymContext* context);
} srSymFunction;
#define SR_SYM_IN(kind) (1u << (unsigned)(kind))

extern const srSymFunction* const sr_sym_functions[];
extern const int sr_sym_nfunction;
// The arguments that functions have, in this order.
typedef struct srSymInput {
  srVarKind kind;
  srSymArray array;  // rows NULL: a number
  bool optional;     // no argument where it has 0 rows
} srSymInput;
extern const srSymInput sr_sym_inputs[];
extern const int sr_sym_ninput;

int sr_sym_outputs(const srSymFunction* f, const srSymContext* context);  // numbers that its build writes
// NULL, or the clause that joints which move no mass have no acceleration.
const char* sr_sym_no_mass(const srSymContext* context);
// nv nodes of variables of this kind.
srNode* sr_sym_leaves(srSymPass* pass, srVarKind kind);

#endif
