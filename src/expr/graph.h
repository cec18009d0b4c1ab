// The inside of the expression graph, shared by graph.c, simplify.c, derive.c, text.c and program.c.
#ifndef SR_EXPR_GRAPH_H
#define SR_EXPR_GRAPH_H

#include "expr/expr.h"

// What a node depends on: one bit for each kind of variable, and one for parameters.
#define SR_DEPENDS_VAR(kind) (1u << (unsigned)(kind))
#define SR_DEPENDS_PARAM (1u << (unsigned)SR_VAR_KINDS)
#define SR_DEPENDS_ANY_VAR (SR_DEPENDS_PARAM - 1u)

typedef struct srGraphNode {
  srOp op;
  srNode child[3];   // SR_NO_NODE where unused
  int index;         // VAR, PARAM, FUNCTION, FUNCTION2, LOOKUP, FOLD, PART
  int detail;        // VAR: srVarKind; FUNCTION, FUNCTION2: order or orders of the derivative
  int held;          // number of the switch + 1, 0: none; not part of a node's identity
  unsigned depends;  // SR_DEPENDS_...
  double value;      // of nodes that depend on no variable
} srGraphNode;

// Corners of a named function, as indices of functions without a name (corner.c).
typedef struct srCorners {
  int function;
  int place, piece;
} srCorners;

typedef struct srCorners2 {
  int function;
  int place[2], knot[2];  // of x and of y; -1: no corners along it
  int part[SR_TABLE_PARTS][SR_TABLE_PARTS];
} srCorners2;

struct srGraph {
  srPool* pool;
  srGraphNode* nodes;
  int n, capacity;
  int* table;  // open addressing, node + 1; 0 is empty
  int table_size;
  bool
      for_code;  // few operations: (c*x)*y stays, as c*x may be used elsewhere; constants that cancel to rounding are 0
  bool plain;    // operations stay as they are given, each a node of its own
  srNames param_names, function_names, function2_names;
  const char** params;  // names
  int nparam, param_capacity;
  srFunction* functions;
  int nfunction, function_capacity;
  srFunction2* functions2;
  int nfunction2, function2_capacity;
  srGraphTable* tables;
  int ntable, table_capacity;
  const struct srFold** folds;
  int nfold, fold_capacity;
  srCorners* corners;  // of functions of one argument that have some, by ascending index
  int ncorners, corners_capacity;
  srCorners2* corners2;
  int ncorners2, corners2_capacity;
  // Scratch of sr_graph_derive: memo[i] is valid when stamp[i] == generation.
  int* stamp;
  srNode* memo;
  int scratch_size, generation;
  srNode* stack;
  int stack_n, stack_capacity;
};

// op(a, b, c) of numbers; comparisons give 1 or 0.
double sr_op_value(srOp op, double a, double b, double c);
// How many children the operation has (0 to 3).
int sr_op_arity(srOp op);
// op(a, b, c) as given, without folding; children of commutative operations are put in order (constants first).
srNode sr_graph_intern(srGraph* graph, srOp op, srNode a, srNode b, srNode c);
// The node of the parameter with this name, or SR_NO_NODE.
srNode sr_graph_find_param(const srGraph* graph, const char* name);

#endif
