// Derivatives of formulas: of force laws and state rates by all that they depend on; of constraint formulas twice.
//
//   law f(x)           df = sum_x f_x dx
//   position eq. g(x)  force   lambda sum_x g_x (dx/dq_j)
//                      change  lambda sum_xy g_xy (dx/dq_j) (dy/dq_k) + lambda sum_x g_x d(dx/dq_j)/dq_k
//   velocity eq. h(x)  force   lambda sum_x h_x (dx/dv_j) over velocities x; change likewise, y over positions
//
// The graph is differentiated exactly, in a separate copy: the model is unchanged and may be shared by threads.
#include <string.h>

#include "force/force.h"
#include "model/private.h"
#include "system/tangent.h"

#define NEW(x, type, n) ((type*)sr_pool_alloc(&(x)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))

typedef struct Nodes {
  srNode* node;
  int n, capacity;
} Nodes;

// Variables under a node, in the order of the graph.
static void leaves_of(srPool* pool, const srGraph* graph, srNode node, Nodes* out) {
  unsigned char* seen = sr_pool_alloc(pool, (size_t)node + 1);
  out->n = 0;
  seen[node] = 1;
  for (srNode i = node; i >= 0; i--) {  // children have smaller indices
    if (!seen[i]) continue;
    const srNodeView view = sr_graph_view(graph, i);
    if (view.op == SR_OP_VAR && view.kind != SR_VAR_TIME) SR_PUSH(pool, out->node, out->n, out->capacity) = i;
    for (int k = 0; k < 3; k++) {
      if (view.child[k] != SR_NO_NODE) seen[view.child[k]] = 1;
    }
  }
}

static bool is_zero(const srGraph* graph, srNode node) {
  double value = 1;
  return sr_graph_constant(graph, node, &value) && value == 0;
}

// The variable of a leaf of the law program.
static int variable_of(srModelTangent* x, const srNodeView* leaf) {
  const srModel* m = x->m;
  srVariable key = {.kind = (int)leaf->kind, .index = leaf->index};
  if (leaf->kind == SR_VAR_ARG) {
    for (int i = 0; i < m->nforce; i++) {
      const int z = leaf->index - m->force[i].distance_arg;
      if (m->force[i].distance_arg >= 0 && (z == 0 || z == 1)) return x->of_distance[i] + z;
    }
  }
  for (int i = 0; leaf->kind == SR_VAR_SENSOR && i < m->nsensor; i++) {
    const int scalar = leaf->index - m->sensor[i].value;
    if (m->sensor[i].value < 0 || scalar < 0 || scalar >= SR_SENSOR_SCALARS) continue;
    key.index = i;
    key.scalar = scalar;
    break;
  }
  return sr_tangent_variable(x, key);
}

// ---- laws -----------------------------------------------------------------------------------------------------------------

// Formulas with an effect: rates of states and force laws. Those of sensors only are just recorded.
static void mark_acting(const srModel* m, unsigned char* acts) {
  for (int i = 0; i < m->priv->ny_user; i++) acts[m->priv->formula_rate + i] = 1;
  for (int i = 0; i < m->nforce; i++) {
    const srForceElement* e = &m->force[i];
    const int gap = e->law->port == SR_PORT_GAP ? 3 + 2 * e->contact->nvariable : 1;
    const int width = e->law->port == SR_PORT_POINT ? 6 : gap;
    for (int k = 0; m->force[i].formula >= 0 && k < width; k++) acts[m->force[i].formula + k] = 1;
  }
}

static void law_programs(srModelTangent* x, srPool* scratch) {
  const srModel* m = x->m;
  srNode* root = sr_pool_alloc(scratch, ((size_t)m->nformula + 1) * sizeof *root);
  unsigned char* acts = sr_pool_alloc(scratch, (size_t)m->nformula + 1);
  if (m->nformula > 0) memcpy(root, m->priv->law_root, (size_t)m->nformula * sizeof *root);
  srGraph* graph = sr_graph_bind(scratch, m->priv->graph, root, m->nformula);
  mark_acting(m, acts);
  Nodes leaves = {0}, derivatives = {0};
  int n = 0, capacity = 0;
  x->law_start = NEW(x, int, m->nformula + 1);
  for (int i = 0; i < m->nformula; i++) {
    leaves.n = 0;
    if (acts[i]) leaves_of(scratch, graph, root[i], &leaves);
    for (int k = 0; k < leaves.n; k++) {
      const srNodeView view = sr_graph_view(graph, leaves.node[k]);
      const srNode by = sr_graph_derive(graph, root[i], leaves.node[k]);
      if (is_zero(graph, by)) continue;
      SR_PUSH(&x->pool, x->law, n, capacity) = (srDependence){variable_of(x, &view), derivatives.n};
      SR_PUSH(scratch, derivatives.node, derivatives.n, derivatives.capacity) = by;
    }
    x->law_start[i + 1] = n;
  }
  x->laws = sr_program_create(&x->pool, graph, derivatives.node, derivatives.n);
  x->law_value = NEW(x, double, derivatives.n);
}

// ---- rows -----------------------------------------------------------------------------------------------------------------

static int row_variable(srModelTangent* x, const srFormulaVariable* of) {
  if (of->kind == SR_VAR_TIME) return -1;
  return sr_tangent_variable(x, (srVariable){.kind = of->kind, .index = of->index, .scalar = of->scalar});
}

static srNode leaf_of(const srModel* m, srGraph* graph, const srFormulaVariable* of) {
  const int index = of->kind == SR_VAR_SENSOR ? m->sensor[of->index].value + of->scalar : of->index;
  return sr_graph_var(graph, (srVarKind)of->kind, index);
}

// First derivatives by variable k of a constraint and second ones by k and l that matter: k a velocity of a velocity equation, else a
// position; l a position.
static void row_derivatives(srModelTangent* x, srPool* scratch, srGraph* graph, const srFormulaRow* row,
                            const srNode* root, int pair, Nodes* derivatives) {
  for (int k = 0; k < row->nvar; k++) {
    const int own = x->row_variable[row->arg + k];
    x->row_first[row->arg + k] = -1;
    if (own < 0 || x->variable[own]->velocity != row->velocity) continue;
    const srNode by = root[row->value + 1 + k];
    x->row_first[row->arg + k] = derivatives->n;
    SR_PUSH(scratch, derivatives->node, derivatives->n, derivatives->capacity) = by;
    for (int l = 0; l < row->nvar; l++) {
      const int other = x->row_variable[row->arg + l];
      if (other < 0 || x->variable[other]->velocity) continue;
      const srNode twice = sr_graph_derive(graph, by, leaf_of(x->m, graph, &row->var[l]));
      if (is_zero(graph, twice)) continue;
      x->row_second[pair + k * row->nvar + l] = derivatives->n;
      SR_PUSH(scratch, derivatives->node, derivatives->n, derivatives->capacity) = twice;
    }
  }
}

static void row_programs(srModelTangent* x, srPool* scratch) {
  const srModel* m = x->m;
  srNode* root = sr_pool_alloc(scratch, ((size_t)m->nrow_formula + 1) * sizeof *root);
  if (m->nrow_formula > 0) memcpy(root, m->priv->row_root, (size_t)m->nrow_formula * sizeof *root);
  srGraph* graph = sr_graph_bind(scratch, m->priv->graph, root, m->nrow_formula);
  Nodes derivatives = {0};
  int pairs = 0;
  x->row_pair = NEW(x, int, m->nformula_row);
  x->row_first = NEW(x, int, m->nrow_arg);
  x->row_variable = NEW(x, int, m->nrow_arg);
  for (int i = 0; i < m->nformula_row; i++) {
    x->row_pair[i] = pairs;
    pairs += m->formula_row[i].nvar * m->formula_row[i].nvar;
  }
  x->row_second = NEW(x, int, pairs);
  for (int i = 0; i < pairs; i++) x->row_second[i] = -1;
  for (int i = 0; i < m->nformula_row; i++) {
    const srFormulaRow* row = &m->formula_row[i];
    for (int k = 0; k < row->nvar; k++) x->row_variable[row->arg + k] = row_variable(x, &row->var[k]);
    row_derivatives(x, scratch, graph, row, root, x->row_pair[i], &derivatives);
  }
  x->rows = sr_program_create(&x->pool, graph, derivatives.node, derivatives.n);
  x->row_value = NEW(x, double, derivatives.n);
}

// scratch is in the pool: a local variable that changes after setjmp is indeterminate after the jump.
void sr_tangent_formulas(srModelTangent* x) {
  srPool* scratch = NEW(x, srPool, 1);
  jmp_buf* const outer = x->pool.on_fail;
  jmp_buf failed;
  sr_pool_init(scratch);
  if (setjmp(failed) != 0) {
    sr_pool_free(scratch);
    x->pool.on_fail = outer;
    longjmp(*outer, 1);
  }
  scratch->on_fail = x->pool.on_fail = &failed;
  law_programs(x, scratch);
  row_programs(x, scratch);
  x->pool.on_fail = outer;
  sr_pool_free(scratch);
  const int laws = sr_program_work(x->laws), rows = sr_program_work(x->rows);
  x->program_work = NEW(x, double, laws > rows ? laws : rows);
}

void sr_tangent_formula_values(srModelTangent* x, const srData* d) {
  const srInputs inputs = sr_law_inputs(d);
  sr_program_evaluate(x->laws, &inputs, x->program_work, x->law_value);
  sr_program_evaluate(x->rows, &inputs, x->program_work, x->row_value);
}

static void formula_row(srModelTangent* x, const srData* d, int i, double lambda) {
  const srFormulaRow* row = &x->m->formula_row[i];
  for (int k = 0; k < row->nvar; k++) {
    const int first = x->row_first[row->arg + k], *second = x->row_second + x->row_pair[i] + k * row->nvar;
    if (first < 0) continue;
    const srVariable* own = x->variable[x->row_variable[row->arg + k]];
    const double* coefficient = row->velocity ? own->dv : own->dq;
    sr_tangent_variable_turn(x, d, own, lambda * x->row_value[first]);
    for (int l = 0; l < row->nvar; l++) {
      if (second[l] < 0) continue;
      const srVariable* other = x->variable[x->row_variable[row->arg + l]];
      sr_tangent_outer(x, own->n, own->column, coefficient, 1, other, lambda * x->row_value[second[l]]);
    }
  }
}

void sr_tangent_formula_rows(srModelTangent* x, const srData* d, const double* lambda) {
  for (int i = 0; i < x->m->nformula_row; i++) {
    formula_row(x, d, i, x->entries.place ? lambda[x->m->formula_row[i].row] : 0);
  }
}
