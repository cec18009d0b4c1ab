// Formulas: text -> hash-consed graph -> exact derivatives -> flat programs that evaluate without allocating.
// The code generator uses the same graph.
#ifndef SR_EXPR_H
#define SR_EXPR_H

#include <sarrus/function.h>

#include "base/base.h"

// ---------------------------------------------------------------------------------------------------------- graph
typedef int srNode;  // index into the graph; children have smaller indices than their parents. SR_NO_NODE: none
#define SR_NO_NODE (-1)

// clang-format off
typedef enum srOp {
  SR_OP_CONST,  // value
  SR_OP_PARAM,  // named parameter: index into the parameters, value known but kept as a symbol
  SR_OP_VAR,    // a variable: kind and index
  SR_OP_ADD, SR_OP_SUB, SR_OP_MUL, SR_OP_DIV, SR_OP_POW, SR_OP_NEG,
  SR_OP_SIN, SR_OP_COS, SR_OP_TAN, SR_OP_ASIN, SR_OP_ACOS, SR_OP_ATAN2, SR_OP_EXP, SR_OP_LOG, SR_OP_SQRT,
  SR_OP_ABS, SR_OP_MIN, SR_OP_MAX, SR_OP_SIGN, SR_OP_STEP, SR_OP_FLOOR,
  SR_OP_LT, SR_OP_LE, SR_OP_EQ,  // comparisons, 1 or 0 (also > >= == != of the text)
  SR_OP_IF,                      // if(condition, then, else): condition != 0
  SR_OP_STRIBECK,                // the x with x + a exp(-x^c) = b: srm_stribeck_root. Laws alone use it
  SR_OP_FUNCTION,                // named function: index, order of derivative, one argument
  SR_OP_FUNCTION2,               // named function of two arguments: index, orders of the derivative (SR_ORDERS)
  SR_OP_LOOKUP,                  // entry of a table: index, one argument, a whole number. Of generated code alone
  SR_OP_PASS,                    // an argument of a loop, and those before it. Of generated code alone, as are ...
  SR_OP_FOLD,                    // ... a loop: index, its arguments, ...
  SR_OP_PART,                    // ... and an entry of what it leaves: index, the loop
  SR_OP_COUNT
} srOp;
// clang-format on

typedef enum srVarKind {
  SR_VAR_TIME,    // t
  SR_VAR_Q,       // position coordinate
  SR_VAR_V,       // velocity coordinate
  SR_VAR_STATE,   // y
  SR_VAR_SENSOR,  // scalar output of a sensor
  SR_VAR_ARG,     // argument of a law: z is 0, zdot is 1
  SR_VAR_RECORD,  // recorded quantity, known after the accelerations
  SR_VAR_A,       // acceleration, and ...
  SR_VAR_TAU,     // ... force of a velocity coordinate, and ...
  SR_VAR_STAGE,   // ... stage length of a method, and ...
  SR_VAR_MOTION,  // ... motion of drivers: of generated code alone
  SR_VAR_KINDS
} srVarKind;

typedef struct srGraph srGraph;

srGraph* sr_graph_create(srPool* pool);
void sr_graph_reserve(srGraph* graph, int n);  // room for n nodes
int sr_graph_size(const srGraph* graph);
// Rules for generated code, with few operations: constants stay with the factor that they multiply, c*x of (c*x)*y, where c*x may be used elsewhere; numbers that cancel to rounding are 0.
void sr_graph_for_code(srGraph* graph);

srNode sr_graph_const(srGraph* graph, double value);
srNode sr_graph_param(srGraph* graph, const char* name, double value);  // same name: same node, its value stays
srNode sr_graph_var(srGraph* graph, srVarKind kind, int index);
// Builds op(a, b, c) with folding (constants, x+0, x*1, x*0, --x, ...); unused children are SR_NO_NODE.
srNode sr_graph_op(srGraph* graph, srOp op, srNode a, srNode b, srNode c);
srNode sr_graph_function(srGraph* graph, int function, int order, srNode argument);
// Registers a function; the returned index is what sr_graph_function takes; -1 when the name is taken. The struct and
// the name are copied; what self points to must outlive the graph and its programs.
int sr_graph_add_function(srGraph* graph, const srFunction* function);
const srFunction* sr_graph_find_function(const srGraph* graph, const char* name, int* index);
// The same of two arguments; orders: SR_ORDERS(by x, by y).
#define SR_ORDERS(x, y) ((x) + 16 * (y))
#define SR_ORDER_X(orders) ((orders) % 16)
#define SR_ORDER_Y(orders) ((orders) / 16)
srNode sr_graph_function2(srGraph* graph, int function, int orders, srNode x, srNode y);
int sr_graph_add_function2(srGraph* graph, const srFunction2* function);
const srFunction2* sr_graph_find_function2(const srGraph* graph, const char* name, int* index);

typedef struct srGraphTable {
  const double* x;
  int n;
} srGraphTable;
// The entry of a table of n numbers at a whole number; the first one below 0 (and where it is no number), the last one beyond the end. Generated code alone has tables: its values are known
// there, not to programs. The numbers are not copied; the same ones are the same table.
srNode sr_graph_lookup(srGraph* graph, const double* table, int n, srNode argument);
double sr_lookup(const double* table, int n, double at);

// A loop of generated code (symbolic/code.h) with these arguments; its parts are what it leaves. The fold is held by reference.
struct srFold;
srNode sr_graph_fold(srGraph* graph, const struct srFold* fold, const srNode* arg, int narg);
srNode sr_graph_part(srGraph* graph, srNode fold, int index);
// Tables and loops of another graph: such an operation of it, with children of this one.
bool sr_op_has_memory(srOp op);
srNode sr_graph_again(srGraph* graph, const srGraph* from, srNode node, const srNode* child);
const void* sr_graph_memory(const srGraph* graph,
                            srNode node);  // the table or the loop, what else the node is made of; NULL: nothing

// Corners: where a function or one of its first two derivatives jumps, or a motion begins after rest. A function of one argument is given piece by piece,
//   f(x) = piece(floor(place(x)), x)
// and one of two arguments that is linear in an argument x between its corners, with k = floor(place(x)), by its parts
//   f = f_at(k) + (x - knot(k)) f_slope(k)
// along x, along y, or along both. Called with the time alone as argument, it is taken that way: floor is a switch, so that corners are located.
enum { SR_TABLE_WHOLE, SR_TABLE_AT, SR_TABLE_SLOPE, SR_TABLE_PARTS };
typedef struct srTableParts {
  srFunction place[2], knot[2];  // of x and of y; evaluate NULL: no corners along it
  srFunction2 part[SR_TABLE_PARTS][SR_TABLE_PARTS];
} srTableParts;
void sr_graph_add_corners(srGraph* graph, int function, const srFunction* place, const srFunction2* piece);
void sr_graph_add_corners2(srGraph* graph, int function, const srTableParts* parts);
srNode sr_graph_call(srGraph* graph, int function, srNode argument);  // function(argument), with its corners
srNode sr_graph_call2(srGraph* graph, int function, srNode x, srNode y);

typedef struct srNodeView {
  srOp op;
  srNode child[3];
  double value;      // CONST and PARAM
  srVarKind kind;    // VAR
  int index;         // VAR, PARAM, FUNCTION, FUNCTION2
  int order;         // FUNCTION; FUNCTION2: orders
  const char* name;  // PARAM
} srNodeView;
srNodeView sr_graph_view(const srGraph* graph, srNode node);

// d node / d leaf (leaf: a VAR or PARAM node), exact.
srNode sr_graph_derive(srGraph* graph, srNode node, srNode leaf);
void sr_graph_derive_all(srGraph* graph, const srNode* nodes, int n, srNode leaf, srNode* out);  // of several at once
// True when node depends on any variable of this kind.
bool sr_graph_depends(const srGraph* graph, srNode node, srVarKind kind);
// True when node is a constant or a function of parameters only; its value in *value.
bool sr_graph_constant(const srGraph* graph, srNode node, double* value);
// A graph of its own in pool with the same roots, parameters replaced by their values; roots (nroot) are changed to its nodes.
// The functions stay those of the first graph, which must outlive it.
srGraph* sr_graph_bind(srPool* pool, const srGraph* graph, srNode* roots, int nroot);
// Switches: operations whose value jumps (< <= > >= sign step floor, and with them if and mod). The nodes below the roots that are such and depend on
// a variable, and have no number yet, get numbers from `first` on: returns how many, *list has them, in the graph's pool. While a program is
// given values for them (srInputs.held), they have these.
typedef struct srSwitchNode {
  srNode node;
  int root;  // one of those above it, by its place among the roots
} srSwitchNode;
int sr_graph_hold(srGraph* graph, const srNode* roots, int nroot, int first, srSwitchNode** list);
// The function of a switch: it jumps where this changes its sign; of floor, where this passes a whole number.
srNode sr_graph_switch(srGraph* graph, srNode node);
// Kinks: abs, min and max below the roots that depend on more than the time. *list has the functions that change their sign there, in the graph's pool; returns
// how many.
int sr_graph_kinks(srGraph* graph, const srNode* roots, int nroot, srNode** list);
// The node as text again (for messages and the generator); in the pool. Cut with "..." beyond 64 KiB. Variables other
// than t, z and zdot have no names here: they are written q[0], v[0], y[0], sensor[0].
const char* sr_graph_text(srGraph* graph, srNode node, srPool* pool);

// ---------------------------------------------------------------------------------------------------------- parser
// Grammar: + - * / ^ (right associative, above unary minus), comparisons < <= > >= == !=, parentheses, numbers (1e-3),
// pi, names (letters, digits, _; not beginning with a digit), calls name(a, b, ...).
// A name that the resolver does not know may be a unit: deg, mm, rpm, ... (unit.c).
// Functions: sin cos tan asin acos atan atan2 exp log sqrt abs min max (2 or more) pow sign step if floor mod random.
// random(n) is a fixed hash of the number n into [0,1): constants only.
// Names that are not built in, and calls of them, go to the resolver. Calls whose name the resolver lists as raw have
// their arguments passed as text, trimmed (joint and sensor names may hold characters that formulas may not).
typedef struct srCall {
  const char* name;
  int narg;
  const char* const* raw;  // text of the arguments (raw calls), else NULL
  const srNode* arg;       // nodes of the arguments (other calls), else NULL
} srCall;

typedef struct srResolver {
  void* user;
  const char* const* raw_calls;  // NULL-terminated, e.g. {"q", "v", "sensor", NULL}; may be NULL
  // Node of a plain name, or SR_NO_NODE when unknown. May write a sentence into reason (size bytes).
  srNode (*name)(void* user, srGraph* graph, const char* name, char* reason, size_t size);
  // Node of a call; as above. NULL: no calls beyond the built-in functions and the graph's own named functions.
  srNode (*call)(void* user, srGraph* graph, const srCall* call, char* reason, size_t size);
  // Words offered when a name is unknown ("did you mean"), may be NULL.
  const char* const* known;
  int nknown;
} srResolver;

// Parses text; errors (unknown name with the nearest known word, what was expected) go to messages at place, with the
// column moved to the offending character. Depth and length are bounded. SR_NO_NODE on error.
srNode sr_parse(srGraph* graph, const char* text, const srResolver* resolver, srPlace place, srMessages* messages);

// True for sin, cos, ...: words that mean a function in every formula.
bool sr_is_builtin(const char* name);
// The value in SI units of deg, mm, rpm, ...: constants where nothing else of the model has their name.
bool sr_unit(const char* name, double* value);

// --------------------------------------------------------------------------------------------------------- numbers
// Reads an unsigned decimal number (12, 1.5, .5, 2., 1e-3), correctly rounded, whatever the locale. Returns the first
// character after it, or NULL when text does not begin with a number. Too large: infinite.
const char* sr_number_read(const char* text, double* value);
const char* sr_number_read_signed(const char* text, double* value);  // the same behind a + or -
#define SR_NUMBER_TEXT 32
// The shortest text that reads back as the same number, with a point, whatever the locale. size >= SR_NUMBER_TEXT.
void sr_number_text(double value, char* buffer, size_t size);

// -------------------------------------------------------------------------------------------------------- programs
typedef struct srInputs {  // values of the variables; arrays may be NULL where no formula of the program uses them
  double t;
  const double* q;
  const double* v;
  const double* state;
  const double* sensor;
  const double* arg;
  const double* record;
  const double* held;  // values of the switches, by their numbers; one that is not a number is free. NULL: all are free
} srInputs;

typedef struct srProgram srProgram;

// Flat code for several roots: shared subexpressions once, functions of parameters folded. Lives in the pool.
srProgram* sr_program_create(srPool* pool, const srGraph* graph, const srNode* roots, int nroot);
int sr_program_work(const srProgram* program);  // doubles of work memory that evaluate needs
int sr_program_roots(const srProgram* program);
void sr_program_evaluate(const srProgram* program, const srInputs* inputs, double* work, double* out);

#endif
