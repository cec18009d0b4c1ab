// Inverse dynamics as a linear function of the inertia of links (Atkeson, An and Hollerbach 1986).
//
//   tau_k = s.N + u.F,   (s, u): motion of the link with the unit velocity of coordinate k, in the link's axes and at its origin
//   F = m o + U h,   N = J wd + w x J w + h x o
//
// so that the columns of a link are
//   m     u.o
//   h     U^T u + o x s
//   Jaa   s_a wd_a + s_b w_a w_c - s_c w_a w_b
//   Jbc   s_a (w_b^2 - w_c^2) + s_c U_ac - s_b U_ab          a, b, c cyclic
// Motions are carried outwards, six numbers for each pair of a coordinate and a link beyond it.
#include "symbolic/regressor.h"

#include "symbolic/function.h"

const char* const sr_link_parameter[SR_LINK_PARAMETERS] = {"m",   "mx",  "my",  "mz",  "Jxx",
                                                           "Jxy", "Jxz", "Jyy", "Jyz", "Jzz"};
static const int diagonal[3] = {4, 7, 9};
static const int opposite[3] = {8, 6, 5};  // Jyz, Jxz, Jxy

typedef struct Twist {
  srVec s, u;
  bool moves;
} Twist;

static srNode column_of(srGraph* g, const srSymRates* x, const Twist* t, int which) {
  const srNode *s = t->s.x, *w = x->w.x, *U = x->U.x;
  if (which == 0) return srx_dot3(g, t->u, x->o);
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    if (which == 1 + a) {
      const srNode column[3] = {U[a], U[3 + a], U[6 + a]};
      return srx_add(g, srx_dot(g, 3, column, t->u.x), srx_cross3(g, x->o, t->s).x[a]);
    }
    if (which == diagonal[a]) {
      const srNode n = srx_add(g, srx_mul(g, s[a], x->wd.x[a]), srx_mul(g, s[b], srx_mul(g, w[a], w[c])));
      return srx_sub(g, n, srx_mul(g, s[c], srx_mul(g, w[a], w[b])));
    }
    if (which == opposite[a]) {
      const srNode difference = srx_sub(g, srx_mul(g, w[b], w[b]), srx_mul(g, w[c], w[c]));
      const srNode n = srx_add(g, srx_mul(g, s[a], difference), srx_mul(g, s[c], U[3 * a + c]));
      return srx_sub(g, n, srx_mul(g, s[b], U[3 * a + b]));
    }
  }
  SR_ASSERT(false);
  return SR_NO_NODE;
}

// The motion of link i itself with the unit velocity k of its joint.
static Twist unit_twist(srSymPass* x, int i, int k) {
  srGraph* g = x->g;
  const srSymLink* l = &x->tree->link[i];
  Twist t = {srx_zero(g), srx_zero(g), true};
  if (l->type == SR_LINK_BALL || l->type == SR_LINK_FREE)
    (k < 3 ? t.s.x : t.u.x)[k % 3] = srx_number(g, 1);
  else if (l->type != SR_LINK_PRISMATIC)
    t.s.x[2] = srx_number(g, 1);
  if (l->type == SR_LINK_PRISMATIC) t.u.x[2] = srx_number(g, 1);
  if (l->type == SR_LINK_HELICAL) t.u.x[2] = srx_number(g, l->pitch);
  return t;
}

static Twist carried(srSymPass* x, int i, const Twist* parent) {
  srGraph* g = x->g;
  const srVec u = srx_plus(g, parent->u, srx_cross3(g, parent->s, x->p[i]));
  return (Twist){sr_turn_down(g, &x->turn[i], parent->s), sr_turn_down(g, &x->turn[i], u), true};
}

void sr_sym_regressor(srSymPass* x, const srNode* a, const int* column, int ncolumn, srNode* Y) {
  const srSymTree* tree = x->tree;
  const srModel* m = tree->m;
  const srSymRates* motion = sr_sym_rates(x, a);
  Twist* twist = sr_pool_alloc(tree->pool, (size_t)tree->n * sizeof *twist);
  SR_ASSERT(tree->own_axes);
  for (int k = 0; k < m->nv * ncolumn; k++) Y[k] = srx_number(x->g, 0);
  for (int k = 0; k < m->nv; k++) {
    const int first = m->dof_link[k], armature = column[SR_LINK_PARAMETERS * tree->n + k];
    sr_sym_note(x, first, "its equation");
    for (int i = first; i < tree->n; i++) {
      const int parent = tree->link[i].parent;
      if (i == first)
        twist[i] = unit_twist(x, i, k - tree->link[i].v);
      else if (parent >= first && twist[parent].moves)
        twist[i] = carried(x, i, &twist[parent]);
      else
        twist[i].moves = false;
      for (int p = 0; p < SR_LINK_PARAMETERS && twist[i].moves; p++) {
        const int to = column[SR_LINK_PARAMETERS * i + p];
        if (to >= 0) Y[k * ncolumn + to] = column_of(x->g, &motion[i], &twist[i], p);
      }
    }
    if (armature >= 0) Y[k * ncolumn + armature] = srx_add(x->g, Y[k * ncolumn + armature], a[k]);
  }
}

// ---- functions ----------------------------------------------------------------------------------------------------------

static int count_base(const srSymContext* context) { return context->base->nbase; }
static int count_body(const srSymContext* context) { return context->base->nbody_parameter; }

static void build_base(srSymPass* x, const void* user, srNode* out) {
  srGraph* g = x->g;
  const srSymBase* base = ((const srSymContext*)user)->base;
  const int nv = x->tree->m->nv, n = base->nbase;
  srNode* Y = sr_pool_alloc(x->tree->pool, ((size_t)(base->ncolumn * nv) + 1) * sizeof *Y);
  sr_sym_regressor(x, sr_sym_leaves(x, SR_VAR_A), base->column, base->ncolumn, Y);
  for (int k = 0; k < nv * n; k++) {
    out[k] = srx_number(g, 0);
    for (int i = 0; i < base->ncolumn; i++)
      out[k] =
          srx_add(g, out[k], srx_mul(g, srx_number(g, base->combine[i * n + k % n]), Y[k / n * base->ncolumn + i]));
  }
}

// Columns of bodies are combinations of those of their link.
static void build_full(srSymPass* x, const void* user, srNode* out) {
  srGraph* g = x->g;
  const srSymBase* base = ((const srSymContext*)user)->base;
  const int n = SR_LINK_PARAMETERS * x->tree->n, all = base->nlink_parameter, nv = x->tree->m->nv;
  srPool* pool = x->tree->pool;
  int* column = sr_pool_alloc(pool, (size_t)all * sizeof *column);
  srNode *Y = sr_pool_alloc(pool, ((size_t)all * (size_t)nv + 1) * sizeof *Y), *a = sr_sym_leaves(x, SR_VAR_A);
  for (int i = 0; i < all; i++) column[i] = i < n ? i : -1;
  sr_sym_regressor(x, a, column, all, Y);
  for (int k = 0; k < nv; k++) {
    for (int j = 0; j < base->nbody_parameter; j++) {
      const double* own = base->own + SR_LINK_PARAMETERS * j;
      srNode sum = srx_number(g, 0);
      for (int p = 0; p < SR_LINK_PARAMETERS && base->body_link[j] >= 0; p++)
        sum = srx_add(g, sum,
                      srx_mul(g, srx_number(g, own[p]), Y[k * all + SR_LINK_PARAMETERS * base->body_link[j] + p]));
      if (base->body_link[j] < 0 && (int)own[0] == k) sum = a[k];
      out[k * base->nbody_parameter + j] = sum;
    }
  }
}

static void prepare(srSymContext* context, srPool* pool, const srSymTree* reduced) {
  if (context->base == NULL) context->base = sr_sym_base(pool, reduced);
}

enum { IN = SR_SYM_IN(SR_VAR_Q) | SR_SYM_IN(SR_VAR_V) | SR_SYM_IN(SR_VAR_A) };

const srSymFunction sr_function_regressor = {
    .name = "regressor",
    .about = "Inverse dynamics linear in the base parameters: tau = Y beta.",
    .in = IN,
    .out = {{"Y", sr_count_v, count_base, "one column for each base parameter", false}},
    .build = {build_base},
    .on_demand = true,
    .own_axes = true,
    .prepare = prepare,
    .parameters = SR_SYM_BASE_PARAMETERS};

const srSymFunction sr_function_regressor_full = {
    .name = "regressor_full",
    .about = "Inverse dynamics linear in the parameters of all bodies: tau = Y pi.",
    .in = IN,
    .out = {{"Y", sr_count_v, count_body, "one column for each parameter of a body", false}},
    .build = {build_full},
    .on_demand = true,
    .own_axes = true,
    .prepare = prepare,
    .parameters = SR_SYM_BODY_PARAMETERS};
