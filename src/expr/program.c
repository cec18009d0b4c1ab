// Flat programs: what is evaluated while stepping.
// Creation first rebuilds the roots in a separate graph, with every parameter as a constant; so whatever depends
// on parameters only is folded, and the rules of simplify.c see the values (a term times a parameter that is 0
// vanishes, x^n with n = 2 is a product). Then the nodes that the roots need become instructions in the order of their
// indices, each with a place in the work memory:
//   work = [ constants | result of instruction 0 | result of instruction 1 | ... ]
// A switch with a number has its value from outside where one is given, whatever its arguments are: so a law stays smooth within a step.
// Both branches of an if are evaluated: they are numbers, without side effects.
#include <math.h>
#include <string.h>

#include "expr/graph.h"

// Loads of variables have codes above the operations.
#define LOAD(kind) ((int)SR_OP_COUNT + (int)(kind))
// And those of switches with a number above these.
#define HELD(op) (LOAD(SR_VAR_KINDS) + (int)(op))

// Index and orders of a function of two arguments in one number.
#define FUNCTION2_CODE(index, orders) ((index)*SR_ORDERS(0, 16) + (orders))

typedef struct Instruction {
  int code;  // srOp or LOAD(kind)
  int a, b,
      c;  // places in work; LOAD: a is the index of the variable; FUNCTION: b its index, c the order; FUNCTION2: c both (FUNCTION2_CODE);
          // HELD: c its number
} Instruction;

struct srProgram {
  int nconst, ncode, nroot;
  const double* constants;
  const Instruction* code;
  const int* root;  // places in work
  const srFunction* functions;
  const srFunction2* functions2;
};

// -------------------------------------------------------------------------------------------------------- creation

// Marks what the roots need: children have smaller indices, so one sweep downwards finds all.
static unsigned char* mark(srPool* pool, const srGraph* graph, const srNode* roots, int nroot) {
  unsigned char* needed = sr_pool_alloc(pool, (size_t)graph->n + 1);
  for (int i = 0; i < nroot; i++) needed[roots[i]] = 1;
  for (int i = graph->n - 1; i >= 0; i--) {
    // A node that depends on no variable is a number here, whatever is below it.
    if (!needed[i] || !(graph->nodes[i].depends & SR_DEPENDS_ANY_VAR)) continue;
    for (int k = 0; k < sr_op_arity(graph->nodes[i].op); k++) needed[graph->nodes[i].child[k]] = 1;
  }
  return needed;
}

// The node x of graph in the bound graph; map holds the nodes of its children there.
static srNode bind_node(srGraph* bound, const srGraphNode* x, const srNode* map) {
  srNode child[3] = {SR_NO_NODE, SR_NO_NODE, SR_NO_NODE};
  if (!(x->depends & SR_DEPENDS_ANY_VAR)) return sr_graph_const(bound, x->value);
  if (x->op == SR_OP_VAR) return sr_graph_var(bound, (srVarKind)x->detail, x->index);
  for (int k = 0; k < sr_op_arity(x->op); k++) child[k] = map[x->child[k]];
  if (x->op == SR_OP_FUNCTION) return sr_graph_function(bound, x->index, x->detail, child[0]);
  if (x->op == SR_OP_FUNCTION2) return sr_graph_function2(bound, x->index, x->detail, child[0], child[1]);
  const srNode node = sr_graph_op(bound, x->op, child[0], child[1], child[2]);
  if (x->held > 0 && bound->nodes[node].op == x->op) bound->nodes[node].held = x->held;
  return node;
}

srGraph* sr_graph_bind(srPool* pool, const srGraph* graph, srNode* roots, int nroot) {
  srGraph* bound = sr_graph_create(pool);
  unsigned char* needed = mark(pool, graph, roots, nroot);
  srNode* map = sr_pool_alloc(pool, ((size_t)graph->n + 1) * sizeof *map);
  bound->functions = graph->functions;  // read only
  bound->nfunction = bound->function_capacity = graph->nfunction;
  bound->functions2 = graph->functions2;
  bound->nfunction2 = bound->function2_capacity = graph->nfunction2;
  for (int i = 0; i < graph->n; i++)
    if (needed[i]) map[i] = bind_node(bound, &graph->nodes[i], map);
  for (int i = 0; i < nroot; i++) roots[i] = map[roots[i]];
  return bound;
}

static Instruction encode(const srGraphNode* x, const int* place) {
  if (x->op == SR_OP_VAR) return (Instruction){LOAD(x->detail), x->index, 0, 0};
  if (x->op == SR_OP_FUNCTION) return (Instruction){SR_OP_FUNCTION, place[x->child[0]], x->index, x->detail};
  int arg[3] = {0, 0, 0};
  for (int k = 0; k < sr_op_arity(x->op); k++) arg[k] = place[x->child[k]];
  if (x->op == SR_OP_FUNCTION2) arg[2] = FUNCTION2_CODE(x->index, x->detail);
  if (x->held > 0) return (Instruction){HELD(x->op), arg[0], arg[1], x->held - 1};
  return (Instruction){(int)x->op, arg[0], arg[1], arg[2]};
}

static bool is_number(const srGraphNode* x) { return !(x->depends & SR_DEPENDS_ANY_VAR); }

// Places, constants and code of a bound graph.
static void emit(srProgram* program, srPool* pool, srPool* scratch, const srGraph* graph, const srNode* roots) {
  unsigned char* needed = mark(scratch, graph, roots, program->nroot);
  int* place = sr_pool_alloc(scratch, ((size_t)graph->n + 1) * sizeof *place);
  for (int i = 0; i < graph->n; i++)
    if (needed[i]) (*(is_number(&graph->nodes[i]) ? &program->nconst : &program->ncode))++;

  double* constants = sr_pool_alloc(pool, ((size_t)program->nconst + 1) * sizeof *constants);
  Instruction* code = sr_pool_alloc(pool, ((size_t)program->ncode + 1) * sizeof *code);
  int nconst = 0, ncode = 0;
  for (int i = 0; i < graph->n; i++) {
    if (!needed[i]) continue;
    if (is_number(&graph->nodes[i])) {
      constants[nconst] = graph->nodes[i].value;
      place[i] = nconst++;
    } else {
      code[ncode] = encode(&graph->nodes[i], place);
      place[i] = program->nconst + ncode++;
    }
  }
  int* root = sr_pool_alloc(pool, ((size_t)program->nroot + 1) * sizeof *root);
  for (int i = 0; i < program->nroot; i++) root[i] = place[roots[i]];
  program->constants = constants;
  program->code = code;
  program->root = root;
}

static void build(srProgram* program, srPool* pool, srPool* scratch, const srGraph* graph, const srNode* roots) {
  const size_t nfunction = (size_t)graph->nfunction, nfunction2 = (size_t)graph->nfunction2;
  srNode* bound_roots = sr_pool_alloc(scratch, ((size_t)program->nroot + 1) * sizeof *bound_roots);
  for (int i = 0; i < program->nroot; i++) {
    SR_ASSERT(roots[i] >= 0 && roots[i] < graph->n);
    bound_roots[i] = roots[i];
  }
  srGraph* bound = sr_graph_bind(scratch, graph, bound_roots, program->nroot);
  emit(program, pool, scratch, bound, bound_roots);
  srFunction* functions = sr_pool_alloc(pool, (nfunction + 1) * sizeof *functions);
  if (nfunction > 0) memcpy(functions, graph->functions, nfunction * sizeof *functions);
  program->functions = functions;
  srFunction2* functions2 = sr_pool_alloc(pool, (nfunction2 + 1) * sizeof *functions2);
  if (nfunction2 > 0) memcpy(functions2, graph->functions2, nfunction2 * sizeof *functions2);
  program->functions2 = functions2;
}

srProgram* sr_program_create(srPool* pool, const srGraph* graph, const srNode* roots, int nroot) {
  srProgram* program = sr_pool_alloc(pool, sizeof *program);
  program->nroot = nroot;
  // The scratch pool must not leak when memory runs out in either pool: catch the jump, free, pass it on. Its head is
  // in the other pool, because a local variable that changes after setjmp has no value after the jump.
  srPool* scratch = sr_pool_alloc(pool, sizeof *scratch);
  jmp_buf* const outer = pool->on_fail;
  jmp_buf failed;
  sr_pool_init(scratch);
  if (outer && setjmp(failed) != 0) {
    sr_pool_free(scratch);
    pool->on_fail = outer;
    longjmp(*outer, 1);
  }
  if (outer) scratch->on_fail = pool->on_fail = &failed;
  build(program, pool, scratch, graph, roots);
  pool->on_fail = outer;
  sr_pool_free(scratch);
  return program;
}

int sr_program_work(const srProgram* program) { return program->nconst + program->ncode; }

int sr_program_roots(const srProgram* program) { return program->nroot; }

// ------------------------------------------------------------------------------------------------------ evaluation

static double call(const srFunction* f, double x, int order) { return f->evaluate(f->self, x, order); }

static double call2(const srFunction2* functions, int code, double x, double y) {
  const srFunction2* f = &functions[code / SR_ORDERS(0, 16)];
  const int orders = code % SR_ORDERS(0, 16);
  return f->evaluate(f->self, x, y, SR_ORDER_X(orders), SR_ORDER_Y(orders));
}

static double evaluate_switch(srOp op, double a, double b, const double* held, int number) {
  if (held == NULL || isnan(held[number])) return sr_op_value(op, a, b, 0);
  return held[number];
}

void sr_program_evaluate(const srProgram* program, const srInputs* in, double* work, double* out) {
  const Instruction* code = program->code;
  const double* w = work;
  double* result = work + program->nconst;
  if (program->nconst > 0) memcpy(work, program->constants, (size_t)program->nconst * sizeof *work);
  for (int i = 0; i < program->ncode; i++) {
    const Instruction x = code[i];
    switch (x.code) {
      case LOAD(SR_VAR_TIME): result[i] = in->t; break;
      case LOAD(SR_VAR_Q): result[i] = in->q[x.a]; break;
      case LOAD(SR_VAR_V): result[i] = in->v[x.a]; break;
      case LOAD(SR_VAR_STATE): result[i] = in->state[x.a]; break;
      case LOAD(SR_VAR_SENSOR): result[i] = in->sensor[x.a]; break;
      case LOAD(SR_VAR_ARG): result[i] = in->arg[x.a]; break;
      case LOAD(SR_VAR_RECORD): result[i] = in->record[x.a]; break;
      case SR_OP_ADD: result[i] = w[x.a] + w[x.b]; break;
      case SR_OP_SUB: result[i] = w[x.a] - w[x.b]; break;
      case SR_OP_MUL: result[i] = w[x.a] * w[x.b]; break;
      case SR_OP_DIV: result[i] = w[x.a] / w[x.b]; break;
      case SR_OP_NEG: result[i] = -w[x.a]; break;
      case SR_OP_SIN: result[i] = sin(w[x.a]); break;
      case SR_OP_COS: result[i] = cos(w[x.a]); break;
      case SR_OP_SQRT: result[i] = sqrt(w[x.a]); break;
      case SR_OP_IF: result[i] = w[x.a] != 0 ? w[x.b] : w[x.c]; break;
      case SR_OP_FUNCTION: result[i] = call(&program->functions[x.b], w[x.a], x.c); break;
      case SR_OP_FUNCTION2: result[i] = call2(program->functions2, x.c, w[x.a], w[x.b]); break;
      case HELD(SR_OP_LT):
      case HELD(SR_OP_LE):
      case HELD(SR_OP_SIGN):
      case HELD(SR_OP_STEP):
      case HELD(SR_OP_FLOOR):
        result[i] = evaluate_switch((srOp)(x.code - HELD(0)), w[x.a], w[x.b], in->held, x.c);
        break;
      default: result[i] = sr_op_value((srOp)x.code, w[x.a], w[x.b], w[x.c]); break;
    }
  }
  for (int i = 0; i < program->nroot; i++) out[i] = work[program->root[i]];
}
