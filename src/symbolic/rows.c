// Constraint equations on the graph: h, J, b, jdq as constraint/rows.c and constraint/formula.c have them of numbers.
//
//   closure    h, W and bias of its kind's definition (constraint/closure_graph.h) at the pose and twist of its frames (points.c);
//              J = W * columns of the twist;  jdq = W (w', u') + bias, with (w', u') where all dv/dt are 0
//   coupling   h = sum of factor q - offset
//   driver     h = q_i - s(t),  b = -s',  jdq = -s''
//   formula    h, its derivatives by its variables x and along their rates; jdq = sum_xy h_xy x' y' + sum_x h_x x''
#include "symbolic/rows.h"

#include <string.h>

#include "constraint/closure_graph.h"
#include "expr/graph.h"
#include "model/private.h"
#include "symbolic/import.h"
#include "symbolic/points.h"

typedef struct Build {
  srSymPass* x;
  srGraph* g;
  const srModel* m;
  srPool* pool;
  bool accelerations;
  srSymRows out;
  srNode* rate;         // nrow_arg: of the variables of formulas
  bool at_rest;         // variables that are velocities are 0
  int* dof;             // scratch: nv
  srSymColumn* column;  // the same
} Build;

// ---- rows over a twist ----------------------------------------------------------------------------------------------------

// Adds the row (n, f) over the twist of `point` observed from `observer`, in the axes of `axes`, to that of the coordinates. common: displacements of both are observed from there.
static void add_twist_row(Build* b, int point, int observer, int common, const srNode* row, srNode* J) {
  srGraph* g = b->g;
  const int *link = b->m->point_link, from = sr_sym_common_link(b->x, link[point], link[observer]);
  srSymView* view = sr_sym_view(b->x, from, SR_SYM_POSE, NULL);
  const srMat A = sr_sym_view_point(view, common >= 0 ? common : observer).R;
  const srVec n = srx_mat_vec(g, &A, (srVec){{row[0], row[1], row[2]}}),
              f = srx_mat_vec(g, &A, (srVec){{row[3], row[4], row[5]}});
  const srVec at = sr_sym_view_point(view, point).p;
  for (int side = 0; side < 2; side++) {
    const srVec p = side == 1 && common >= 0 ? sr_sym_view_point(view, observer).p : at;
    const int count = sr_sym_columns(view, link[side == 0 ? point : observer], p, b->dof, b->column);
    for (int k = 0; k < count; k++) {
      const srNode entry = srx_add(g, srx_dot3(g, n, b->column[k].w), srx_dot3(g, f, b->column[k].u));
      srNode* to = &J[b->dof[k]];
      *to = side == 0 ? srx_add(g, *to, entry) : srx_sub(g, *to, entry);
    }
  }
}

static srNode along(srGraph* g, const srNode* row, srVec angular, srVec linear) {
  return srx_add(g, srx_dot(g, 3, row, angular.x), srx_dot(g, 3, row + 3, linear.x));
}

// ---- closures -------------------------------------------------------------------------------------------------------------

static bool common_observer(const srClosure* c) { return c->kind->observer == SR_OBSERVER_COMMON; }

static srSymMotion see_closure(Build* b, const srClosure* c) {
  const srSymLevel level = b->accelerations ? SR_SYM_ACCELERATION : SR_SYM_POSE;
  srSymMotion out, a;
  if (!common_observer(c)) {
    sr_sym_frame_motion(b->x, c->point[1], c->point[0], level, NULL, &out);
    return out;
  }
  sr_sym_frame_motion(b->x, c->point[1], c->common, level, NULL, &out);
  sr_sym_frame_motion(b->x, c->point[0], c->common, level, NULL, &a);
  srVec* of[][2] = {{&out.p, &a.p}, {&out.w, &a.w}, {&out.u, &a.u}, {&out.wd, &a.wd}, {&out.a, &a.a}};
  for (int i = 0; i < 5; i++) *of[i][0] = srx_minus(b->g, *of[i][0], *of[i][1]);
  return out;
}

typedef struct Definition {
  srGraph* g;
  const srSymMotion* seen;
  double argument[15];
} Definition;

static srNode definition_variable(void* user, srVarKind kind, int i) {
  const Definition* d = user;
  if (kind == SR_VAR_Q) return i < 9 ? d->seen->R.x[i] : d->seen->p.x[i - 9];
  if (kind == SR_VAR_V) return i < 3 ? d->seen->w.x[i] : d->seen->u.x[i - 3];
  SR_ASSERT(kind == SR_VAR_ARG);
  return srx_number(d->g, d->argument[i]);
}

static void put_closure(Build* b, const srClosure* c) {
  srGraph* own = sr_graph_create(b->pool);
  srClosureGraph x;
  srNode W[6][6];
  const srSymMotion seen = see_closure(b, c);
  Definition definition = {.g = b->g, .seen = &seen};
  sr_closure_graph(c, own, &x);
  sr_closure_graph_rows(&x, W);
  sr_closure_arguments(c, definition.argument);
  srNode bias[6];
  for (int k = 0; k < c->np + c->nvel && b->accelerations; k++) bias[k] = sr_closure_graph_bias(&x, W[k]);
  srSymImport* import = sr_sym_import_begin(b->pool, own, b->g, definition_variable, &definition);
  for (int k = c->soft ? c->np : 0; k < c->np + c->nvel; k++) {
    const int row = k < c->np ? c->row + k : c->vrow + k - c->np;
    srNode over[6];
    for (int j = 0; j < 6; j++) over[j] = sr_sym_import(import, W[k][j]);
    if (k < c->np) b->out.h[row] = sr_sym_import(import, x.residual[k]);
    add_twist_row(b, c->point[1], c->point[0], common_observer(c) ? c->common : -1, over, b->out.J + row * b->m->nv);
    if (b->accelerations)
      b->out.jdq[row] = srx_add(b->g, along(b->g, over, seen.wd, seen.a), sr_sym_import(import, bias[k]));
  }
}

// ---- couplings and drivers ------------------------------------------------------------------------------------------------

static void put_coupling(Build* b, const srCoupling* c) {
  srGraph* g = b->g;
  srNode* h = &b->out.h[c->row];
  *h = srx_number(g, -c->offset);
  for (int k = 0; k < c->n; k++) {
    *h = srx_add(g, *h, srx_mul(g, srx_number(g, c->factor[k]), sr_sym_q(b->x, c->qdof[k])));
    b->out.J[c->row * b->m->nv + c->dof[k]] = srx_number(g, c->factor[k]);
  }
}

static srNode time_variable(void* user, srVarKind kind, int i) {
  SR_ASSERT(kind == SR_VAR_TIME);
  return sr_graph_var(user, kind, i);
}

static void put_drivers(Build* b) {
  const srModel* m = b->m;
  const bool given = sr_sym_motion_given(m);
  srSymImport* import = sr_sym_import_begin(b->pool, m->priv->graph, b->g, time_variable, b->g);
  for (int i = 0; i < m->ndriver; i++) {
    const int row = m->row_driver + i;
    srNode motion[3];
    for (int k = 0; k < 3; k++)
      motion[k] =
          given ? sr_graph_var(b->g, SR_VAR_MOTION, 3 * i + k) : sr_sym_import(import, m->priv->driver_root[3 * i + k]);
    b->out.h[row] = srx_sub(b->g, sr_sym_q(b->x, m->driver[i].qdof), motion[0]);
    b->out.J[row * m->nv + m->driver[i].dof] = srx_number(b->g, 1);
    b->out.b[row] = srx_neg(b->g, motion[1]);
    if (b->accelerations) b->out.jdq[row] = srx_neg(b->g, motion[2]);
  }
}

// ---- formulas -------------------------------------------------------------------------------------------------------------

static bool is_velocity(const srFormulaVariable* x) {
  return x->kind == SR_VAR_V || (x->kind == SR_VAR_SENSOR && x->scalar >= 3 && x->scalar < 9);
}

static srNode sensor_scalar(const srSymMotion* s, int k) {
  return k < 3 ? s->p.x[k] : k < 6 ? s->u.x[k - 3] : k < 9 ? s->w.x[k - 6] : s->R.x[k - 9];
}

static srNode sensor_value(Build* b, int value) {
  for (int i = 0; i < b->m->nsensor; i++) {
    const srSensor* sensor = &b->m->sensor[i];
    const int k = value - sensor->value;
    if (sensor->value < 0 || k < 0 || k >= SR_SENSOR_SCALARS) continue;
    if (b->at_rest && k >= 3 && k < 9) return srx_number(b->g, 0);
    srSymMotion s;
    sr_sym_frame_motion(b->x, sensor->point, sensor->relative_to, SR_SYM_VELOCITY, NULL, &s);
    return sensor_scalar(&s, k);
  }
  SR_ASSERT(false);
  return SR_NO_NODE;
}

static srNode formula_variable(void* user, srVarKind kind, int i) {
  Build* b = user;
  switch (kind) {
    case SR_VAR_ARG: return b->rate[i];
    case SR_VAR_SENSOR: return sensor_value(b, i);
    case SR_VAR_V: return b->at_rest ? srx_number(b->g, 0) : sr_sym_v(b->x, i);
    default: return sr_graph_var(b->g, kind, i);
  }
}

// A variable: x' (of a velocity: x itself) is row . (velocities from `first` on, or the twist of a sensor); the rest of x'' (of x').
typedef struct Variable {
  int first, n;  // n 6 and first -1: a sensor
  srNode row[6], bias;
} Variable;

static srNode half(srGraph* g, srNode x) { return srx_mul(g, srx_number(g, 0.5), x); }

// As position_row of constraint/formula.c.
static Variable position(Build* b, int i) {
  srGraph* g = b->g;
  const srModel* m = b->m;
  int joint = 0;
  while (joint + 1 < m->njoint && m->joint_q[joint + 1] <= i) joint++;
  const int k = i - m->joint_q[joint], first = m->joint_v[joint];
  const bool is_free = m->joint_type[joint] == SR_JOINT_FREE;
  Variable out = {.first = first, .n = m->joint_nv[joint], .bias = srx_number(g, 0)};
  for (int j = 0; j < 6; j++) out.row[j] = srx_number(g, 0);
  if (!is_free && m->joint_type[joint] != SR_JOINT_BALL) {
    out.first = first + k, out.n = 1, out.row[0] = srx_number(g, 1);
    return out;
  }
  srVec w = {{sr_sym_v(b->x, first), sr_sym_v(b->x, first + 1), sr_sym_v(b->x, first + 2)}};
  if (is_free && k < 3) {
    const srMat R = sr_sym_rotation(b->x, m->joint_q[joint] + 3);
    const srVec v = {{sr_sym_v(b->x, first + 3), sr_sym_v(b->x, first + 4), sr_sym_v(b->x, first + 5)}};
    memcpy(out.row + 3, R.x + 3 * k, 3 * sizeof *out.row);
    out.bias = srx_dot(g, 3, R.x + 3 * k, srx_cross3(g, w, v).x);
    return out;
  }
  const int at = is_free ? 3 : 0;
  srNode n[4];
  for (int j = 0; j < 4; j++) n[j] = half(g, sr_sym_q(b->x, m->joint_q[joint] + at + j));
#define MINUS(x) srx_neg(g, x)
  const srNode rows[4][3] = {{MINUS(n[1]), MINUS(n[2]), MINUS(n[3])},
                             {n[0], MINUS(n[3]), n[2]},
                             {n[3], n[0], MINUS(n[1])},
                             {MINUS(n[2]), n[1], n[0]}};
#undef MINUS
  memcpy(out.row, rows[k - at], sizeof rows[0]);
  out.bias = srx_mul(g, srx_number(g, -0.5), srx_mul(g, srx_dot3(g, w, w), n[k - at]));
  return out;
}

// As sensor_row of constraint/formula.c.
static Variable sensed(Build* b, const srFormulaVariable* x, const srSymMotion* s) {
  srGraph* g = b->g;
  Variable out = {.first = -1, .n = 6, .bias = srx_number(g, 0)};
  for (int j = 0; j < 6; j++) out.row[j] = srx_number(g, 0);
  if (x->scalar < 9) {
    out.row[x->scalar < 3 ? 3 + x->scalar : x->scalar < 6 ? x->scalar : x->scalar - 6] = srx_number(g, 1);
    return out;
  }
  const int i = (x->scalar - 9) / 3, j = (x->scalar - 9) % 3;
  const srVec c = {{s->R.x[j], s->R.x[3 + j], s->R.x[6 + j]}};
  srVec e = srx_zero(g);
  e.x[i] = srx_number(g, 1);
  memcpy(out.row, srx_cross3(g, c, e).x, 3 * sizeof *out.row);
  out.bias = srx_cross3(g, s->w, srx_cross3(g, s->w, c)).x[i];
  return out;
}

static Variable variable_of(Build* b, const srFormulaVariable* x, srSymMotion* seen) {
  const srSensor* sensor = x->kind == SR_VAR_SENSOR ? &b->m->sensor[x->index] : NULL;
  if (sensor) sr_sym_frame_motion(b->x, sensor->point, sensor->relative_to, SR_SYM_ACCELERATION, NULL, seen);
  if (sensor) return sensed(b, x, seen);
  if (x->kind == SR_VAR_Q) return position(b, x->index);
  Variable out = {.first = x->index, .n = x->kind == SR_VAR_V, .row = {srx_number(b->g, 1)}};
  out.bias = srx_number(b->g, 0);
  return out;
}

// x' of a position variable (velocity variables: the part of x' without dv/dt) and, of a position variable, the part of x'' without it.
static void rates_of(Build* b, const srFormulaVariable* x, srNode* rate, srNode* second) {
  srGraph* g = b->g;
  srSymMotion s;
  *rate = *second = srx_number(g, 0);
  if (x->kind == SR_VAR_TIME) {
    *rate = srx_number(g, 1);
    return;
  }
  const Variable v = variable_of(b, x, &s);
  if (x->kind == SR_VAR_SENSOR) {
    const srNode acceleration = srx_add(g, along(g, v.row, s.wd, s.a), v.bias);
    *rate = is_velocity(x) ? acceleration : along(g, v.row, s.w, s.u);
    if (!is_velocity(x)) *second = acceleration;
  } else if (x->kind == SR_VAR_Q) {
    for (int i = 0; i < v.n; i++) *rate = srx_add(g, *rate, srx_mul(g, v.row[i], sr_sym_v(b->x, v.first + i)));
    *second = v.bias;
  }
}

static void add_variable(Build* b, const srFormulaVariable* x, srNode by, srNode* J) {
  srGraph* g = b->g;
  srSymMotion s;
  Variable v = variable_of(b, x, &s);
  for (int i = 0; i < v.n; i++) v.row[i] = srx_mul(g, by, v.row[i]);
  if (v.first < 0)
    add_twist_row(b, b->m->sensor[x->index].point, b->m->sensor[x->index].relative_to, -1, v.row, J);
  else
    for (int i = 0; i < v.n; i++) J[v.first + i] = srx_add(g, J[v.first + i], v.row[i]);
}

static void put_formula(Build* b, const srFormulaRow* row) {
  srGraph* g = b->g;
  const srNode* root = b->m->priv->row_root + row->value;
  srNode jdq = srx_number(g, 0), *second = sr_pool_alloc(b->pool, ((size_t)row->nvar + 1) * sizeof *second);
  for (int k = 0; k < row->nvar; k++) rates_of(b, &row->var[k], &b->rate[row->arg + k], &second[k]);
  srSymImport* import = sr_sym_import_begin(b->pool, b->m->priv->graph, g, formula_variable, b);
  for (int k = 0; k < row->nvar; k++) {
    const srFormulaVariable* x = &row->var[k];
    const srNode by = sr_sym_import(import, root[1 + k]);
    jdq = srx_add(g, jdq, srx_mul(g, by, row->velocity ? b->rate[row->arg + k] : second[k]));
    if (x->kind == SR_VAR_TIME && !row->velocity) b->out.b[row->row] = by;
    if (x->kind != SR_VAR_TIME && row->velocity == is_velocity(x))
      add_variable(b, x, by, b->out.J + row->row * b->m->nv);
  }
  if (!row->velocity) {
    b->out.h[row->row] = sr_sym_import(import, root[0]);
    if (b->accelerations) jdq = srx_add(g, jdq, sr_sym_import(import, root[1 + row->nvar]));
  } else {
    b->at_rest = true;
    b->out.b[row->row] = sr_sym_import(sr_sym_import_begin(b->pool, b->m->priv->graph, g, formula_variable, b), *root);
    b->at_rest = false;
  }
  if (b->accelerations) b->out.jdq[row->row] = jdq;
}

// ---- all ------------------------------------------------------------------------------------------------------------------

static srNode* zeros(Build* b, size_t n) {
  srNode* out = sr_pool_alloc(b->pool, (n + 1) * sizeof *out);
  for (size_t i = 0; i < n; i++) out[i] = srx_number(b->g, 0);
  return out;
}

srSymRows sr_sym_rows(srSymPass* x, bool accelerations) {
  const srModel* m = x->tree->m;
  const size_t nv = (size_t)m->nv, ng = (size_t)m->ng;
  Build b = {.x = x, .g = x->g, .m = m, .pool = x->tree->pool, .accelerations = accelerations};
  b.out = (srSymRows){.h = zeros(&b, (size_t)m->np), .J = zeros(&b, ng * nv), .b = zeros(&b, ng)};
  if (accelerations) b.out.jdq = zeros(&b, ng);
  b.rate = zeros(&b, (size_t)m->nrow_arg);
  b.dof = sr_pool_alloc(b.pool, (nv + 1) * sizeof *b.dof);
  b.column = sr_pool_alloc(b.pool, (nv + 1) * sizeof *b.column);
  for (int i = 0; i < m->nclosure; i++) put_closure(&b, &m->closure[i]);
  for (int i = 0; i < m->ncoupling; i++) put_coupling(&b, &m->coupling[i]);
  if (m->ndriver > 0) put_drivers(&b);
  for (int i = 0; i < m->nformula_row; i++) put_formula(&b, &m->formula_row[i]);
  return b.out;
}

// ---- what cannot be written -----------------------------------------------------------------------------------------------

static const char* missing_root(srPool* pool, const srModel* m, srNode root, const char* name) {
  const char* function = sr_sym_import_missing(m->priv->graph, root);
  if (function != NULL)
    return sr_pool_printf(pool,
                          "needs the formula of constraint '%s', and its function '%s' cannot be written as operations",
                          name, function);
  if (sr_graph_depends(m->priv->graph, root, SR_VAR_STATE))
    return sr_pool_printf(pool, "needs the formula of constraint '%s', which depends on a state", name);
  return NULL;
}

bool sr_sym_motion_given(const srModel* m) {
  for (int i = 0; i < 3 * m->ndriver; i++) {
    if (sr_sym_import_missing(m->priv->graph, m->priv->driver_root[i]) != NULL) return true;
  }
  return false;
}

const char* sr_sym_rows_missing(srPool* pool, const srModel* m) {
  const char* out = NULL;
  for (int i = 0; i < m->nclosure; i++) {
    if (m->closure[i].kind->define == NULL)
      return sr_pool_printf(pool, "needs the equations of closure '%s', which are C code", m->closure[i].name);
  }
  if (m->absolute && (m->ncoupling > 0 || m->ndriver > 0))
    return "needs joint coordinates, which couplings and drivers use: of free bodies they depend on past turns; "
           "generate it in relative coordinates";
  for (int i = 0; i < m->nformula_row && out == NULL; i++) {
    const srFormulaRow* row = &m->formula_row[i];
    for (int k = 0; k < row->nvar && m->absolute; k++) {
      if (row->var[k].kind == SR_VAR_Q || row->var[k].kind == SR_VAR_V)
        return sr_pool_printf(pool,
                              "needs joint coordinates, which constraint '%s' uses: of free bodies they depend on "
                              "past turns; generate it in relative coordinates",
                              row->name);
    }
    for (int k = 0; k < 1 + row->nvar + !row->velocity && out == NULL; k++)
      out = missing_root(pool, m, m->priv->row_root[row->value + k], row->name);
  }
  return out;
}

bool sr_sym_rows_of_time(const srModel* m) {
  if (m->ndriver > 0) return true;
  for (int i = 0; i < m->nrow_formula; i++) {
    if (sr_graph_depends(m->priv->graph, m->priv->row_root[i], SR_VAR_TIME)) return true;
  }
  return false;
}
