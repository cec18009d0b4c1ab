// A node as text again, with as few parentheses as the grammar of parse.c needs to give the same node back.
// A shared subexpression is written out wherever it is used, so the text may be exponentially longer than the graph:
// it is cut after a bound. The walk keeps its own stack: deep graphs need no deep C stack.
#include <stdio.h>
#include <string.h>

#include "expr/graph.h"

#define TEXT_LIMIT 65536

// How tightly an expression binds.
enum { COMPARE = 0, SUM, PRODUCT, UNARY, POWER, PRIMARY };

// Something yet to be written: a node (in parentheses when it binds less than level), or a piece of text.
typedef struct Item {
  srNode node;
  int level;
  const char* text;
} Item;

typedef struct Writer {
  const srGraph* graph;
  srPool* pool;
  char* text;
  int n, capacity;
  Item* items;
  int nitem, item_capacity;
} Writer;

static void put(Writer* w, const char* text) {
  for (const char* c = text; *c; c++) SR_PUSH(w->pool, w->text, w->n, w->capacity) = *c;
}

// Items are written last pushed, first written; so these are called from right to left.
static void later_text(Writer* w, const char* text) {
  SR_PUSH(w->pool, w->items, w->nitem, w->item_capacity) = (Item){SR_NO_NODE, 0, text};
}

static void later_node(Writer* w, srNode node, int level) {
  SR_PUSH(w->pool, w->items, w->nitem, w->item_capacity) = (Item){node, level, NULL};
}

static const struct {
  const char* name;
  int level, left, right;  // of the whole, and the binding that operands need to go without parentheses
} infix[SR_OP_COUNT] = {
    [SR_OP_ADD] = {" + ", SUM, SUM, PRODUCT},     [SR_OP_SUB] = {" - ", SUM, SUM, PRODUCT},
    [SR_OP_MUL] = {"*", PRODUCT, PRODUCT, UNARY}, [SR_OP_DIV] = {"/", PRODUCT, PRODUCT, UNARY},
    [SR_OP_POW] = {"^", POWER, PRIMARY, UNARY},   [SR_OP_LT] = {" < ", COMPARE, SUM, SUM},
    [SR_OP_LE] = {" <= ", COMPARE, SUM, SUM},     [SR_OP_EQ] = {" == ", COMPARE, SUM, SUM},
};

static const char* const names[SR_OP_COUNT] = {
    [SR_OP_SIN] = "sin",           [SR_OP_COS] = "cos",       [SR_OP_TAN] = "tan",     [SR_OP_ASIN] = "asin",
    [SR_OP_ACOS] = "acos",         [SR_OP_ATAN2] = "atan2",   [SR_OP_EXP] = "exp",     [SR_OP_LOG] = "log",
    [SR_OP_SQRT] = "sqrt",         [SR_OP_ABS] = "abs",       [SR_OP_MIN] = "min",     [SR_OP_MAX] = "max",
    [SR_OP_SIGN] = "sign",         [SR_OP_STEP] = "step",     [SR_OP_FLOOR] = "floor", [SR_OP_IF] = "if",
    [SR_OP_STRIBECK] = "stribeck", [SR_OP_LOOKUP] = "lookup", [SR_OP_PASS] = "pass",   [SR_OP_FOLD] = "fold",
    [SR_OP_PART] = "part",
};

static int level_of(const srGraphNode* x) {
  if (x->op == SR_OP_NEG || (x->op == SR_OP_CONST && x->value < 0)) return UNARY;
  return infix[x->op].name ? infix[x->op].level : PRIMARY;
}

static void write_number(Writer* w, double value) {
  char text[SR_NUMBER_TEXT];
  sr_number_text(value, text, sizeof text);
  put(w, text);
}

static void write_var(Writer* w, const srGraphNode* x) {
  static const char* const kinds[SR_VAR_KINDS] = {"t", "q", "v", "y", "sensor", "arg", "record", "a", "tau"};
  char text[48];
  if (x->detail == SR_VAR_TIME) {
    put(w, "t");
  } else if (x->detail == SR_VAR_ARG && x->index < 2) {
    put(w, x->index == 0 ? "z" : "zdot");
  } else {
    snprintf(text, sizeof text, "%s[%d]", kinds[x->detail], x->index);
    put(w, text);
  }
}

static void write_infix(Writer* w, const srGraphNode* x) {
  const srGraphNode* first = &w->graph->nodes[x->child[0]];
  if (x->op == SR_OP_ADD && first->op == SR_OP_CONST && first->value < 0) {  // (-c) + x is how x - c is kept
    char text[SR_NUMBER_TEXT];
    sr_number_text(-first->value, text, sizeof text);
    later_text(w, sr_pool_text(w->pool, text));
    later_text(w, " - ");
    later_node(w, x->child[1], SUM);
    return;
  }
  later_node(w, x->child[1], infix[x->op].right);
  later_text(w, infix[x->op].name);
  later_node(w, x->child[0], infix[x->op].left);
}

// name(a, b, c); f'(a) for derivatives of named functions, f_xy(a, b) of two arguments.
static void write_call(Writer* w, const srGraphNode* x) {
  int narg = sr_op_arity(x->op);
  const char* name = names[x->op];
  if (x->op == SR_OP_FUNCTION) name = w->graph->functions[x->index].name;
  if (x->op == SR_OP_FUNCTION2) name = w->graph->functions2[x->index].name;
  const srGraphNode* second = narg == 2 ? &w->graph->nodes[x->child[1]] : NULL;
  if (x->op == SR_OP_ATAN2 && second->op == SR_OP_CONST && second->value == 1) {
    name = "atan";
    narg = 1;
  }
  put(w, name ? name : "function");
  for (int i = 0; x->op == SR_OP_FUNCTION && i < x->detail; i++) put(w, "'");
  if (x->op == SR_OP_FUNCTION2 && x->detail > 0) put(w, "_");
  for (int i = 0; x->op == SR_OP_FUNCTION2 && i < SR_ORDER_X(x->detail); i++) put(w, "x");
  for (int i = 0; x->op == SR_OP_FUNCTION2 && i < SR_ORDER_Y(x->detail); i++) put(w, "y");
  put(w, "(");
  later_text(w, ")");
  for (int i = narg - 1; i >= 0; i--) {
    later_node(w, x->child[i], COMPARE);
    if (i > 0) later_text(w, ", ");
  }
}

static void write_node(Writer* w, srNode node, int level) {
  const srGraphNode* x = &w->graph->nodes[node];
  if (level_of(x) < level) {
    put(w, "(");
    later_text(w, ")");
  }
  if (x->op == SR_OP_CONST) {
    write_number(w, x->value);
  } else if (x->op == SR_OP_PARAM) {
    put(w, w->graph->params[x->index]);
  } else if (x->op == SR_OP_VAR) {
    write_var(w, x);
  } else if (x->op == SR_OP_NEG) {
    put(w, "-");
    later_node(w, x->child[0], UNARY);
  } else if (infix[x->op].name) {
    write_infix(w, x);
  } else {
    write_call(w, x);
  }
}

const char* sr_graph_text(srGraph* graph, srNode node, srPool* pool) {
  SR_ASSERT(node >= 0 && node < graph->n);
  Writer w = {.graph = graph, .pool = pool};
  later_node(&w, node, COMPARE);
  while (w.nitem > 0 && w.n < TEXT_LIMIT) {
    Item item = w.items[--w.nitem];
    if (item.text) {
      put(&w, item.text);
    } else {
      write_node(&w, item.node, item.level);
    }
  }
  if (w.nitem > 0) put(&w, "...");
  SR_PUSH(pool, w.text, w.n, w.capacity) = '\0';
  return w.text;
}
