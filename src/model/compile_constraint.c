// Constraints: closures, couplings and formulas become constraint equations; the pattern of G and of M; derivatives of the formulas.
//
// Order: position equations of closures in file order, couplings, gears, position formulas, drivers; then velocity equations.
#include <math.h>
#include <string.h>

#include "math/pose.h"
#include "model/closure.h"
#include "model/compile.h"
#include "model/list.h"

#define NEW(c, type, n) ((type*)sr_pool_alloc((c)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))

#define NAME 0  // the first attribute of all three

// The name given, or the number of the element among its kind.
static const char* name_of(srCompiler* c, srElementKind kind, int i, srNames* names) {
  const char* given = sr_c_text(c, kind, i, NAME);
  const char* name = given ? sr_pool_text(c->pool, given) : sr_pool_printf(c->pool, "%d", i + 1);
  if (given) sr_c_new_name(c, names, name, i, srs_element(kind)->word, sr_c_place(c, kind, i, NAME));
  return name;
}

// A number used as a name must not be the name of another one.
static void check_numbers(srCompiler* c, srElementKind kind, const srNames* names) {
  for (int i = 0; i < srs_count(c->spec, kind); i++) {
    const char* number = sr_pool_printf(&c->scratch, "%d", i + 1);
    if (sr_c_text(c, kind, i, NAME) || sr_names_find(names, number) < 0) continue;
    sr_c_error(c, srs_place(c->spec, kind, i), "a %s without a name is called by its number, but another is named '%s'",
               srs_element(kind)->word, number);
  }
}

static double tolerance_of(srCompiler* c, srElementKind kind, int i, int field) {
  double tolerance = 0;
  if (sr_c_number(c, kind, i, field, &tolerance) && !(tolerance > 0)) {
    sr_c_error(c, sr_c_place(c, kind, i, field), "'tolerance' must be greater than zero");
  }
  return tolerance;
}

// ------------------------------------------------------------------------------------------------------- closures
static bool unit_vector(srCompiler* c, int i, int field, double out[3], bool* given) {
  const int n = sr_c_numbers(c, SR_ELEMENT_CLOSURE, i, field, out, 3);
  *given = n == 3;
  if (n != 3) return n == 0;
  const double length = srm_norm3(out);
  if (length < 1e-12) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_CLOSURE, i, field), "'%s' of a closure must not be zero",
               srs_element(SR_ELEMENT_CLOSURE)->fields[field].word);
    return false;
  }
  for (int k = 0; k < 3; k++) out[k] /= length;
  return true;
}

static bool optional_number(srCompiler* c, int i, int field, double* out, bool* given) {
  const int n = sr_c_numbers(c, SR_ELEMENT_CLOSURE, i, field, out, 1);
  *given = n == 1;
  return n >= 0;
}

static bool closure_numbers(srCompiler* c, int i, srClosure* closure) {
  double axis[3] = {0, 0, 1}, normal[3];
  bool ok = unit_vector(c, i, SR_FIELD(srClosureDef, axis), axis, &closure->has_axis);
  ok &= unit_vector(c, i, SR_FIELD(srClosureDef, axis2), closure->axis2, &closure->has_axis2);
  ok &= unit_vector(c, i, SR_FIELD(srClosureDef, normal), normal, &closure->has_normal);
  ok &= optional_number(c, i, SR_FIELD(srClosureDef, pitch), &closure->pitch, &closure->has_pitch);
  ok &= optional_number(c, i, SR_FIELD(srClosureDef, length), &closure->length, &closure->has_length);
  ok &= optional_number(c, i, SR_FIELD(srClosureDef, radius), &closure->radius, &closure->has_radius);
  const char* shape = sr_c_text(c, SR_ELEMENT_CLOSURE, i, SR_FIELD(srClosureDef, shape));
  closure->disc = shape && strcmp(shape, "disc") == 0;
  closure->sphere = shape ? strcmp(shape, "sphere") == 0 : !closure->has_axis;
  closure->tolerance = tolerance_of(c, SR_ELEMENT_CLOSURE, i, SR_FIELD(srClosureDef, tolerance));
  sr_closure_triad(closure->has_normal ? normal : axis, closure->frame);
  return ok;
}

// NULL after an error.
static const srClosureWord* closure_word(srCompiler* c, int i) {
  const char* word = sr_c_text(c, SR_ELEMENT_CLOSURE, i, SR_FIELD(srClosureDef, type));
  const srClosureWord* found = word ? c->catalog->closure(word) : NULL;
  if (word && !found) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_CLOSURE, i, SR_FIELD(srClosureDef, type)), "unknown type of closure '%s'",
               word);
  }
  return found;
}

// The law of a closure of type user, and its parameters; false after an error.
static bool closure_law(srCompiler* c, int i, const srClosureWord* word, srClosure* closure) {
  const int field = SR_FIELD(srClosureDef, law), numbers = SR_FIELD(srClosureDef, parameters);
  const char* name = word->kind->define ? NULL : sr_c_text(c, SR_ELEMENT_CLOSURE, i, field);
  if (!name) return true;  // its kind reports a law that is missing
  closure->law = sr_c_closure_law(c, name, sr_c_place(c, SR_ELEMENT_CLOSURE, i, field));
  if (!closure->law) return false;
  closure->nparameter =
      sr_c_law_parameters(c, SR_ELEMENT_CLOSURE, i, numbers, name, closure->law->np, &closure->parameter);
  c->priv->user_closures = true;
  return closure->nparameter >= 0;
}

// Frame of the youngest common ancestor of both.
static int common_point(const srModel* m, int a, int b) {
  int i = m->point_body[a], j = m->point_body[b];
  while (i != j) {  // parents have smaller numbers
    if (i > j) {
      i = m->body_parent[i];
    } else {
      j = m->body_parent[j];
    }
  }
  return i;  // the first points are the frames of the bodies
}

static void compile_closure(srCompiler* c, int i, srNames* names, srClosure* closure) {
  const srModel* m = c->m;
  const srClosureWord* word = closure_word(c, i);
  const int a = sr_c_point(c, SR_ELEMENT_CLOSURE, i, SR_FIELD(srClosureDef, a));
  const int b = sr_c_point(c, SR_ELEMENT_CLOSURE, i, SR_FIELD(srClosureDef, b));
  closure->joint = -1;
  closure->name = name_of(c, SR_ELEMENT_CLOSURE, i, names);
  closure->place = sr_c_kept_place(c, SR_ELEMENT_CLOSURE, i);
  if (!closure_numbers(c, i, closure) || !word || a < 0 || b < 0) return;
  if (m->point_link[a] == m->point_link[b]) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_CLOSURE, i, SR_FIELD(srClosureDef, b)),
               "'%s' and '%s' cannot move against each other", m->point_name[a], m->point_name[b]);
    return;
  }
  const bool swapped = word->kind->observer == SR_OBSERVER_B;
  closure->word = word->word;
  closure->kind = word->kind;
  if (!closure_law(c, i, word, closure)) return;
  closure->point[0] = swapped ? b : a;
  closure->point[1] = swapped ? a : b;
  closure->common = common_point(m, a, b);
  const char* problem = word->kind->setup(closure);
  if (problem) sr_c_error(c, closure->place, "closure '%s': %s", closure->name, problem);
  if (m->absolute && word->kind->observer == SR_OBSERVER_COMMON) sr_compile_free_ball(c, closure);
}

// Those that represent joints (absolute formulation), then those of the file.
static srClosure* compile_closures(srCompiler* c, srNames* names) {
  srModel* m = c->m;
  const int given = srs_count(c->spec, SR_ELEMENT_CLOSURE);
  srClosure* closures = NEW(c, srClosure, given + (m->absolute ? m->njoint + 1 : 0));
  const int of_joints = m->absolute ? sr_compile_joint_closures(c, closures) : 0;
  double loosest = 0;
  for (int i = of_joints; i < of_joints + given; i++) {
    closures[i] = (srClosure){0};
    compile_closure(c, i - of_joints, names, &closures[i]);
    loosest = fmax(loosest, closures[i].tolerance);
  }
  // The residual allowed for a loop is shared by the joints along it.
  for (int i = 0; i < of_joints; i++) closures[i].tolerance = fmax(closures[i].tolerance, loosest);
  for (int i = 0; i < of_joints + given; i++) closures[i].soft = m->formulation == SR_FORMULATION_PENALTY;
  m->nclosure = of_joints + given;
  m->closure = closures;
  return closures;
}

// ------------------------------------------------------------------------------------------------------ couplings
static bool coupled_joint(srCompiler* c, const char* name, srPlace place, int* dof, int* qdof) {
  const int j = name ? sr_c_find(c, &c->joints, name, "joint", place) : -1;
  if (j < 0) return false;
  *dof = c->m->joint_v[j];
  *qdof = c->m->joint_q[j];
  if (c->m->joint_nq[j] == 1) return true;
  sr_c_error(c, place, "a coupling ties joints with one coordinate; '%s' has %d: use <constraint>", name,
             c->m->joint_nq[j]);
  return false;
}

// The names in 'to': one that contains blanks, or several. 0 after an error.
static int leaders(srCompiler* c, int i, srListItem** items) {
  const int field = SR_FIELD(srCouplingDef, to);
  const char* text = sr_c_text(c, SR_ELEMENT_COUPLING, i, field);
  const int n = text ? sr_split_names(&c->scratch, sr_c_attr(c, SR_ELEMENT_COUPLING, i, field), items) : 0;
  if (text && n == 0) sr_c_error(c, sr_c_place(c, SR_ELEMENT_COUPLING, i, field), "'to' of <coupling> is empty");
  if (n < 2 || sr_names_find(&c->joints, text) < 0) return n;
  (*items)[0].text = text;
  return 1;
}

static bool ratios(srCompiler* c, int i, int n, double* out) {
  const int field = SR_FIELD(srCouplingDef, ratio);
  if (!sr_given(*sr_c_attr(c, SR_ELEMENT_COUPLING, i, field))) {
    for (int k = 0; k < n; k++) out[k] = 1;
    return true;
  }
  const int given = sr_c_numbers(c, SR_ELEMENT_COUPLING, i, field, out, n);
  if (given == n || given < 0) return given == n;
  sr_c_error(c, sr_c_place(c, SR_ELEMENT_COUPLING, i, field),
             "'ratio' of <coupling> takes %d values, one for each joint of 'to', got %d", n, given);
  return false;
}

// seen: of a velocity coordinate, 1 + the last coupling that contains it.
static void check_twice(srCompiler* c, int i, const srListItem* items, const int* dof, int n, int* seen) {
  for (int k = 0; k < n; k++) {
    if (seen[dof[k]] == i + 1) {
      const char* format = dof[k] == dof[0] ? "joint '%s' cannot be coupled to itself" : "joint '%s' is in 'to' twice";
      sr_c_error(c, items[k - 1].place, format, c->m->v_name[dof[k]]);
      return;
    }
    seen[dof[k]] = i + 1;
  }
}

static void compile_coupling(srCompiler* c, int i, srNames* names, int* seen, srCoupling* coupling) {
  const int follower = SR_FIELD(srCouplingDef, joint);
  srListItem* items = NULL;
  const int n = 1 + leaders(c, i, &items);
  int *dof = NEW(c, int, n), *qdof = NEW(c, int, n);
  double* factor = NEW(c, double, n);
  *coupling = (srCoupling){.gear = -1, .n = n, .dof = dof, .qdof = qdof, .factor = factor};
  coupling->name = name_of(c, SR_ELEMENT_COUPLING, i, names);
  coupling->place = sr_c_kept_place(c, SR_ELEMENT_COUPLING, i);
  bool ok = coupled_joint(c, sr_c_text(c, SR_ELEMENT_COUPLING, i, follower),
                          sr_c_place(c, SR_ELEMENT_COUPLING, i, follower), &dof[0], &qdof[0]);
  for (int k = 1; k < n; k++) ok &= coupled_joint(c, items[k - 1].text, items[k - 1].place, &dof[k], &qdof[k]);
  (void)ratios(c, i, n - 1, factor + 1);
  sr_c_number(c, SR_ELEMENT_COUPLING, i, SR_FIELD(srCouplingDef, offset), &coupling->offset);
  if (ok) check_twice(c, i, items, dof, n, seen);
  factor[0] = 1;
  for (int k = 1; k < n; k++) factor[k] = -factor[k];
}

// The couplings of the file, then the equations of gears.
static srCoupling* compile_couplings(srCompiler* c, srNames* names) {
  srCoupling* list = NULL;
  int n = 0, capacity = 0, *seen = sr_pool_alloc(&c->scratch, ((size_t)c->m->njv + 1) * sizeof *seen);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_COUPLING); i++) {
    compile_coupling(c, i, names, seen, &SR_PUSH(&c->scratch, list, n, capacity));
  }
  sr_compile_gears(c, &list, &n, &capacity);
  srCoupling* couplings = NEW(c, srCoupling, n);
  if (n > 0) memcpy(couplings, list, (size_t)n * sizeof *couplings);
  c->m->ncoupling = n;
  c->m->coupling = couplings;
  return couplings;
}

// ------------------------------------------------------------------------------------------------------- formulas
static bool is_velocity(const srFormulaVariable* x) {
  return x->kind == SR_VAR_V || (x->kind == SR_VAR_SENSOR && x->scalar >= 3 && x->scalar < 9);
}

// A variable of the graph as one of a constraint formula; false when no sensor has it.
static bool as_variable(const srModel* m, const srNodeView* view, srFormulaVariable* out) {
  *out = (srFormulaVariable){.kind = (int)view->kind, .index = view->index};
  if (view->kind != SR_VAR_SENSOR) return true;
  out->index = sr_c_sensor_of(m, view->index, &out->scalar);
  return out->index >= 0;
}

static const char* wrong_variable(const srFormulaRow* row, const srFormulaVariable* x) {
  if (x->kind == SR_VAR_STATE) return "a constraint cannot contain states";
  if (!row->velocity && is_velocity(x)) return "a formula with velocities belongs in 'velocity', not in 'expr'";
  return NULL;
}

// Adds the values of a constraint formula to the program: the formula, its derivatives, and for a position equation
//   sum over x, y of (d^2 g / dx dy) x' y'
// with the rates x', y' as arguments. False when a velocity formula is not linear in the velocities.
static bool add_values(srCompiler* c, srFormulaRow* row, srNode node, const srNode* leaves, srNode** roots, int* n,
                       int* capacity) {
  srGraph* graph = c->graph;
  srNode rate = sr_graph_const(graph, 0), second = sr_graph_const(graph, 0);
  row->value = *n;
  SR_PUSH(&c->scratch, *roots, *n, *capacity) = node;
  for (int k = 0; k < row->nvar; k++) {
    const srNode by = sr_graph_derive(graph, node, leaves[k]);
    const srNode term = sr_graph_op(graph, SR_OP_MUL, by, sr_graph_var(graph, SR_VAR_ARG, row->arg + k), SR_NO_NODE);
    rate = sr_graph_op(graph, SR_OP_ADD, rate, term, SR_NO_NODE);
    SR_PUSH(&c->scratch, *roots, *n, *capacity) = by;
    for (int l = 0; row->velocity && is_velocity(&row->var[k]) && l < row->nvar; l++) {
      double value = 1;
      const srNode twice = sr_graph_derive(graph, by, leaves[l]);
      if (is_velocity(&row->var[l]) && !(sr_graph_constant(graph, twice, &value) && value == 0)) return false;
    }
  }
  if (row->velocity) return true;
  for (int k = 0; k < row->nvar; k++) {
    const srNode by = sr_graph_derive(graph, rate, leaves[k]);
    const srNode term = sr_graph_op(graph, SR_OP_MUL, by, sr_graph_var(graph, SR_VAR_ARG, row->arg + k), SR_NO_NODE);
    second = sr_graph_op(graph, SR_OP_ADD, second, term, SR_NO_NODE);
  }
  SR_PUSH(&c->scratch, *roots, *n, *capacity) = second;
  return true;
}

typedef struct Roots {
  srNode* node;
  int n, capacity;
} Roots;

#define LEFT_RIGHT "a constraint is written left = right"

typedef struct Signs {
  const char *equals, *comparison;  // the first = and the first < <= > >= == != outside parentheses; NULL: none
} Signs;

static Signs signs_of(const char* text) {
  Signs out = {0};
  int depth = 0;
  for (const char* p = text; *p; p++) {
    depth += (*p == '(') - (*p == ')');
    if (depth != 0 || !strchr("<>=!", *p)) continue;
    const bool two = p[1] == '=';
    if (*p == '=' && !two) {
      if (!out.equals) out.equals = p;
    } else if (!out.comparison) {
      out.comparison = p;
    }
    p += two;
  }
  return out;
}

// "left = right" is left - right; a formula without = is constrained to zero as it is.
static srNode equation(srCompiler* c, int i, int field, srPlace place) {
  const srAttr* attr = sr_c_attr(c, SR_ELEMENT_CONSTRAINT, i, field);
  srNode node = SR_NO_NODE;
  const Signs signs = signs_of(attr->text ? attr->text : "");
  srPlace at = place;
  if (signs.comparison) {
    at.column += (int)(signs.comparison - attr->text);
    sr_c_error(c, at, LEFT_RIGHT);
    return SR_NO_NODE;
  }
  if (!signs.equals) return sr_c_laws(c, SR_ELEMENT_CONSTRAINT, i, field, &node, 1) == 1 ? node : SR_NO_NODE;
  const int n = (int)(signs.equals - attr->text);
  const srNode left = sr_c_law_text(c, sr_pool_text_n(&c->scratch, attr->text, (size_t)n), place);
  at.column += n + 1;
  const srNode right = sr_c_law_text(c, signs.equals + 1, at);
  if (left == SR_NO_NODE || right == SR_NO_NODE) return SR_NO_NODE;
  return sr_graph_op(c->graph, SR_OP_SUB, left, right, SR_NO_NODE);
}

// What the equation constrains: velocities of a velocity equation, else all but time.
static bool is_held(const srFormulaRow* row, int k) {
  return row->velocity ? is_velocity(&row->var[k]) : row->var[k].kind != SR_VAR_TIME;
}

static bool row_variables(srCompiler* c, srFormulaRow* row, const srNode* leaves, srPlace place) {
  srFormulaVariable* var = NEW(c, srFormulaVariable, row->nvar);
  bool ok = true, moves = false;
  row->var = var;
  for (int k = 0; k < row->nvar; k++) {
    const srNodeView view = sr_graph_view(c->graph, leaves[k]);
    const char* problem = as_variable(c->m, &view, &var[k]) ? wrong_variable(row, &var[k]) : "an unknown sensor";
    if (problem) sr_c_error(c, place, "constraint '%s': %s", row->name, problem);
    ok &= !problem;
    moves |= is_held(row, k);
  }
  if (!moves) sr_c_error(c, place, "the formula of constraint '%s' depends on nothing that moves", row->name);
  return ok && moves;
}

static bool is_smooth(srCompiler* c, const srFormulaRow* row, srNode node, const srNode* leaves, srPlace place) {
  srNode* held = sr_pool_alloc(&c->scratch, (size_t)row->nvar * sizeof *held);
  int n = 0;
  for (int k = 0; k < row->nvar; k++) {
    if (is_held(row, k)) held[n++] = leaves[k];
  }
  const srOp root = sr_graph_view(c->graph, node).op;
  const char* word = sr_compile_nonsmooth(c, node, held, n, row->velocity);
  if (!word) return true;
  if (root == SR_OP_LT || root == SR_OP_LE || root == SR_OP_EQ) {
    sr_c_error(c, place, LEFT_RIGHT);
  } else if (row->velocity) {
    sr_c_error(c, place, "constraint '%s': a velocity appears in %s, but the formula must be linear in the velocities",
               row->name, word);
  } else {
    sr_c_error(c, place, "constraint '%s': a coordinate appears in %s, which jumps", row->name, word);
  }
  return false;
}

// True when the derivatives by everything that the equation constrains are zero.
static bool is_flat(srCompiler* c, const srFormulaRow* row, const srNode* by) {
  for (int k = 0; k < row->nvar; k++) {
    double value = 1;
    if (is_held(row, k) && !(sr_graph_constant(c->graph, by[k], &value) && value == 0)) return false;
  }
  return true;
}

static void compile_formula(srCompiler* c, int i, srNames* names, srFormulaRow* row, Roots* roots) {
  const srConstraintDef* def = srs_get(c->spec, SR_ELEMENT_CONSTRAINT, i);
  row->name = name_of(c, SR_ELEMENT_CONSTRAINT, i, names);
  row->place = sr_c_kept_place(c, SR_ELEMENT_CONSTRAINT, i);
  row->tolerance = tolerance_of(c, SR_ELEMENT_CONSTRAINT, i, SR_FIELD(srConstraintDef, tolerance));
  row->velocity = sr_given(def->velocity);
  if (sr_given(def->expr) == sr_given(def->velocity)) {
    sr_c_error(c, row->place, "constraint '%s' takes either 'expr' or 'velocity'", row->name);
    return;
  }
  const int field = row->velocity ? SR_FIELD(srConstraintDef, velocity) : SR_FIELD(srConstraintDef, expr);
  const srPlace place = sr_c_place(c, SR_ELEMENT_CONSTRAINT, i, field);
  srNode node, *leaves = NULL;
  int capacity = 0;
  node = equation(c, i, field, place);
  if (node == SR_NO_NODE) return;
  row->nvar = sr_c_leaves(c, node, true, &leaves, 0, &capacity);
  if (!row_variables(c, row, leaves, place) || !is_smooth(c, row, node, leaves, place)) return;
  row->arg = c->m->nrow_arg;
  c->m->nrow_arg += row->nvar;
  if (!add_values(c, row, node, leaves, &roots->node, &roots->n, &roots->capacity)) {
    sr_c_error(c, place, "the formula of constraint '%s' must be linear in the velocities", row->name);
  } else if (!row->velocity && is_flat(c, row, roots->node + row->value + 1)) {
    sr_c_error(c, place, "constraint '%s': the formula does not change with any coordinate", row->name);
  }
}

// ----------------------------------------------------------------------------------------------------------- rows
static void put_row(srCompiler* c, srRow* row, srRowKind kind, int index, const char* what, const char* name,
                    const char* detail, srPlace place, double tolerance) {
  const char* full =
      detail ? sr_pool_printf(c->pool, "%s %s, %s", what, name, detail) : sr_pool_printf(c->pool, "%s %s", what, name);
  *row = (srRow){.name = full, .place = place, .kind = kind, .index = index, .tolerance = tolerance};
}

static void count_rows(srModel* m) {
  m->ng = m->np = 0;
  for (int i = 0; i < m->nclosure; i++) {
    m->np += m->closure[i].soft ? 0 : m->closure[i].np;
    m->ng += m->closure[i].nvel;
  }
  for (int i = 0; i < m->nformula_row; i++) {
    m->np += !m->formula_row[i].velocity;
    m->ng += m->formula_row[i].velocity;
  }
  m->np += m->ncoupling + m->ndriver;
  m->ng += m->np;
  m->constrained = m->ng > m->ndriver || m->absolute;
}

static void number_closures(srCompiler* c, srClosure* closures, srRow* rows, int* next, int* next_velocity) {
  for (int i = 0; i < c->m->nclosure; i++) {
    srClosure* x = &closures[i];
    const char* what = x->joint >= 0 ? "joint" : "closure";
    x->row = x->soft ? -1 : *next;
    x->vrow = *next_velocity;
    for (int k = x->soft ? x->np : 0; k < x->np + x->nvel; k++) {
      const int row = k < x->np ? (*next)++ : (*next_velocity)++;
      put_row(c, &rows[row], SR_ROW_CLOSURE, i, what, x->name, x->row_name[k], x->place, x->tolerance);
    }
  }
}

static void number_rows(srCompiler* c, srClosure* closures, srCoupling* couplings, srFormulaRow* formulas) {
  srModel* m = c->m;
  count_rows(m);
  srRow* rows = NEW(c, srRow, m->ng);
  int next = 0, next_velocity = m->np;
  number_closures(c, closures, rows, &next, &next_velocity);
  for (int i = 0; i < m->ncoupling; i++) {
    couplings[i].row = next;
    const char* what = couplings[i].gear < 0 ? "coupling" : "gear";
    put_row(c, &rows[next++], SR_ROW_COUPLING, i, what, couplings[i].name, NULL, couplings[i].place, 1e-8);
  }
  for (int i = 0; i < m->nformula_row; i++) {
    srFormulaRow* x = &formulas[i];
    x->row = x->velocity ? next_velocity++ : next++;
    put_row(c, &rows[x->row], SR_ROW_FORMULA, i, "constraint", x->name, NULL, x->place, x->tolerance);
  }
  m->row_driver = next;
  for (int i = 0; i < m->ndriver; i++) {
    put_row(c, &rows[next++], SR_ROW_DRIVER, i, "driver of", m->driver[i].name, NULL, m->driver[i].place, 1e-8);
  }
  m->row = rows;
}

// -------------------------------------------------------------------------------------------------------- pattern
typedef struct Pattern {
  const srModel* m;
  int* mark;  // nv: 1 where the row of G has an entry
} Pattern;

static int link_coordinates(const srModel* m, int link) {
  const int type = m->link_type[link];
  return type == SR_LINK_GROUND ? 0 : type == SR_LINK_BALL ? 3 : type == SR_LINK_FREE ? 6 : 1;
}

static void mark_link(Pattern* p, int link) {
  for (int k = 0; k < link_coordinates(p->m, link); k++) p->mark[p->m->link_v[link] + k] = 1;
}

// Coordinates on the two paths to their junction.
static void mark_path(Pattern* p, int a, int b) {
  int i = p->m->point_link[a], j = p->m->point_link[b];
  while (i != j) {
    int* link = i > j ? &i : &j;
    mark_link(p, *link);
    *link = p->m->link_parent[*link];
  }
}

static int link_of_position(const srModel* m, int q) {
  int link = m->nlink - 1;
  while (m->link_q[link] > q) link--;
  return link;
}

// A joint velocity: in absolute coordinates those of the two bodies that the joint connects.
static void mark_velocity(Pattern* p, int k) {
  const srModel* m = p->m;
  if (m->absolute) {
    mark_path(p, m->joint_point[m->jv_joint[k]], m->joint_body[m->jv_joint[k]]);
  } else {
    p->mark[k] = 1;
  }
}

// A joint position: all velocities that it may depend on.
static void mark_position(Pattern* p, int i) {
  const srModel* m = p->m;
  if (!m->absolute) {
    mark_link(p, link_of_position(m, i));
    return;
  }
  int j = m->njoint - 1;
  while (m->joint_q[j] > i || m->joint_nq[j] == 0) j--;
  mark_velocity(p, m->joint_v[j]);
}

static void mark_row(Pattern* p, const srRow* row) {
  const srModel* m = p->m;
  if (row->kind == SR_ROW_CLOSURE) mark_path(p, m->closure[row->index].point[0], m->closure[row->index].point[1]);
  if (row->kind == SR_ROW_DRIVER) mark_velocity(p, m->driver[row->index].dof);
  if (row->kind == SR_ROW_COUPLING) {
    const srCoupling* coupling = &m->coupling[row->index];
    for (int k = 0; k < coupling->n; k++) mark_velocity(p, coupling->dof[k]);
  }
  if (row->kind != SR_ROW_FORMULA) return;
  const srFormulaRow* formula = &m->formula_row[row->index];
  for (int k = 0; k < formula->nvar; k++) {
    const srFormulaVariable* x = &formula->var[k];
    if (x->kind == SR_VAR_Q) mark_position(p, x->index);
    if (x->kind == SR_VAR_V) mark_velocity(p, x->index);
    if (x->kind == SR_VAR_SENSOR) mark_path(p, m->sensor[x->index].point, m->sensor[x->index].relative_to);
  }
}

// Makes the marked coordinates a row of the pattern, and clears the marks.
static void take_row(srCompiler* c, Pattern* p, const srRow* row, int** index, int* n, int* capacity) {
  mark_row(p, row);
  for (int i = 0; i < p->m->nv; i++) {
    if (!p->mark[i]) continue;
    p->mark[i] = 0;
    SR_PUSH(&c->scratch, *index, *n, *capacity) = i;
  }
}

static void make_patterns(srCompiler* c) {
  srModel* m = c->m;
  Pattern p = {m, sr_pool_alloc(&c->scratch, ((size_t)m->nv + 1) * sizeof(int))};
  int *index = NULL, n = 0, capacity = 0;
  int* start = NEW(c, int, m->ng + 1);
  for (int i = 0; i < m->ng; i++) {
    take_row(c, &p, &m->row[i], &index, &n, &capacity);
    start[i + 1] = n;
  }
  int* kept = NEW(c, int, n);
  if (n > 0) memcpy(kept, index, (size_t)n * sizeof *kept);
  m->G_start = start;
  m->G_index = kept;
}

// Places of the coordinates of couplings in their rows, which ascend.
static void place_couplings(srCompiler* c, srCoupling* couplings) {
  const srModel* m = c->m;
  for (int i = 0; i < m->ncoupling && !m->absolute; i++) {
    srCoupling* x = &couplings[i];
    const int* row = m->G_index + m->G_start[x->row];
    int* entry = NEW(c, int, x->n);
    for (int k = 0; k < x->n; k++) {
      int low = 0, high = x->n - 1;
      while (low < high) {
        const int middle = (low + high) / 2;
        if (row[middle] < x->dof[k]) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      entry[k] = low;
    }
    x->entry = entry;
  }
}

// M has entries where one coordinate is on the path of the other.
static void mass_pattern(srCompiler* c) {
  srModel* m = c->m;
  int *start = NEW(c, int, m->nv + 1), *row = NEW(c, int, m->nv + 1);
  for (int i = 0; i < m->nv; i++) {
    for (int k = i; k >= 0; k = m->dof_parent[k]) {
      start[i + 1]++;
      row[i + 1]++;
      if (k != i) row[k + 1]++;
    }
  }
  for (int i = 0; i < m->nv; i++) {
    start[i + 1] += start[i];
    row[i + 1] += row[i];
  }
  int *place = NEW(c, int, 2 * start[m->nv]), *column = NEW(c, int, row[m->nv]);
  int* next = sr_pool_alloc(&c->scratch, ((size_t)m->nv + 1) * sizeof *next);
  for (int i = 0; i < m->nv; i++) next[i] = row[i];
  // Row i: first its own path, from the ground outwards; then the coordinates beyond it in order.
  for (int i = 0; i < m->nv; i++) {
    const int depth = start[i + 1] - start[i];
    int at = depth - 1;
    for (int k = i; k >= 0; k = m->dof_parent[k], at--) {
      int* both = place + 2 * (start[i] + depth - 1 - at);
      both[0] = both[1] = row[i] + at;
      column[row[i] + at] = k;
      if (k == i) continue;
      both[1] = next[k]++;
      column[both[1]] = i;
    }
    next[i] = row[i] + depth;
  }
  m->M_start = start;
  m->M_place = place;
  m->M_row = row;
  m->M_column = column;
}

// Coordinates whose initial values the file gave: the assembly moves them least. Those of independent joints count as given,
// those of dependent joints not: their values are a guess. Those of inerters, the last joints of the spec (inerter.c), follow the others.
static void given_values(srCompiler* c) {
  srModel* m = c->m;
  int *q = NEW(c, int, m->nv), *v = NEW(c, int, m->nv);
  for (int j = 0; j < m->njoint && !m->absolute; j++) {
    const int joint = c->joint_of_spec_body[c->spec_of_body[j + 1]];
    if (joint < 0) continue;
    const srJointDef* def = srs_get(c->spec, SR_ELEMENT_JOINT, joint);
    const bool follows = joint >= srs_count(c->spec, SR_ELEMENT_JOINT) - srs_count(c->spec, SR_ELEMENT_INERTER);
    const bool always = m->joint_role[j] == SR_ROLE_INDEPENDENT, never = m->joint_role[j] == SR_ROLE_DEPENDENT;
    for (int k = 0; k < m->joint_nv[j]; k++) {
      q[m->joint_v[j] + k] = follows ? -1 : (sr_given(def->q) || always) && !never;
      v[m->joint_v[j] + k] = follows ? -1 : (sr_given(def->v) || always) && !never;
    }
  }
  m->q_given = q;
  m->v_given = v;
}

// Jumps of the formulas, each with the name of its constraint.
static void hold_formulas(srCompiler* c, const srFormulaRow* row, const Roots* roots) {
  const char** owner = sr_pool_alloc(&c->scratch, ((size_t)roots->n + 1) * sizeof *owner);
  for (int i = 0, k = 0; i < roots->n; i++) {
    while (k + 1 < c->m->nformula_row && row[k + 1].value <= i) k++;
    owner[i] = row[k].name;
  }
  sr_c_hold(c, roots->node, roots->n, owner);
}

void sr_compile_constraints(srCompiler* c) {
  srModel* m = c->m;
  const int errors = sr_c_errors(c);
  m->nformula_row = srs_count(c->spec, SR_ELEMENT_CONSTRAINT);
  srFormulaRow* formulas = NEW(c, srFormulaRow, m->nformula_row);
  srNames names[3];
  Roots roots = {0};
  for (int k = 0; k < 3; k++) sr_names_init(&names[k], &c->scratch);
  srClosure* closures = compile_closures(c, &names[0]);
  srCoupling* couplings = compile_couplings(c, &names[1]);
  for (int i = 0; i < m->nformula_row; i++) compile_formula(c, i, &names[2], &formulas[i], &roots);
  check_numbers(c, SR_ELEMENT_CLOSURE, &names[0]);
  check_numbers(c, SR_ELEMENT_COUPLING, &names[1]);
  check_numbers(c, SR_ELEMENT_CONSTRAINT, &names[2]);
  m->formula_row = formulas;
  if (sr_c_errors(c) > errors) return;
  number_rows(c, closures, couplings, formulas);
  make_patterns(c);
  place_couplings(c, couplings);
  // It grows with the depth of the tree, and trees do not need M, unless contacts couple their branches.
  if (m->constrained || m->nset > 0) mass_pattern(c);
  sr_compile_armature(c);
  given_values(c);
  hold_formulas(c, formulas, &roots);
  c->priv->rows = sr_program_create(c->pool, c->graph, roots.node, roots.n);
  m->nrow_formula = roots.n;
  srNode* kept = NEW(c, srNode, roots.n);
  if (roots.n > 0) memcpy(kept, roots.node, (size_t)roots.n * sizeof *kept);
  c->priv->row_root = kept;
}
