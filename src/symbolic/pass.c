// Geometry of all links on the graph, in the computational frames that the tree has chosen (tree.h).
//
// A link's orientation in its computational frame is Rz(psi), with psi = 0 for BODY, q for BEFORE, psi_parent + q for PARENT; z is the axis of the joint in all three. To the parent's computational frame:
//   BODY     Rz(psi_parent) Q Rz(q)      BEFORE   Rz(psi_parent) Q      PARENT   nothing
// Constants of a link, its inertia and the places of its children, are turned by Rz(psi).
#include <math.h>
#include <string.h>

#include "symbolic/lanes.h"

// A sum of coordinates and a constant; node SR_NO_NODE: 0.
typedef struct Angle {
  srNode sum;
  double constant;
} Angle;

static const Angle no_angle = {SR_NO_NODE, 0};

static Angle add(srGraph* g, Angle a, Angle b) {
  a.constant += b.constant;
  if (b.sum != SR_NO_NODE) a.sum = a.sum == SR_NO_NODE ? b.sum : srx_add(g, a.sum, b.sum);
  return a;
}

// Sine and cosine; quarter turns are exact and cost nothing. False: the angle is 0.
static bool sine_cosine(srGraph* g, Angle a, srNode* s, srNode* c) {
  const double quarters = a.constant / (acos(-1.0) / 2), whole = nearbyint(quarters);
  const bool exact = fabs(quarters - whole) < 1e-14;
  const int k = exact ? (int)(whole - 4 * floor(whole / 4)) : 0;
  srNode sum = a.sum;
  if (sum == SR_NO_NODE && exact && k == 0) return false;
  if (sum == SR_NO_NODE) sum = srx_number(g, 0);
  sum = srx_add(g, srx_number(g, exact ? 0 : a.constant), sum);
  const srNode s0 = srx_1(g, SR_OP_SIN, sum), c0 = srx_1(g, SR_OP_COS, sum);
  const srNode cosine = srx_number(g, (k + 1) % 2 * (1 - k)), sine = srx_number(g, k % 2 * (2 - k));
  *s = srx_add(g, srx_mul(g, cosine, s0), srx_mul(g, sine, c0));
  *c = srx_sub(g, srx_mul(g, cosine, c0), srx_mul(g, sine, s0));
  return true;
}

void sr_sym_note_text(srSymPass* x, const char* text) {
  SR_PUSH(x->tree->pool, x->note, x->nnote, x->capacity) = (srSymNote){sr_graph_size(x->g), text};
}

void sr_sym_note(srSymPass* x, int link, const char* what) {
  sr_sym_note_text(x, sr_pool_printf(x->tree->pool, "%s: %s", x->tree->link[link].name, what));
}

srNode sr_sym_q(srSymPass* pass, int k) { return sr_graph_var(pass->g, SR_VAR_Q, k); }
srNode sr_sym_v(srSymPass* pass, int k) { return sr_graph_var(pass->g, SR_VAR_V, k); }

// As srm_quaternion_matrix: of any length.
static srMat quaternion_matrix(srGraph* g, const srNode* q) {
  srNode p[4][4], one = srx_number(g, 1);
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k <= i; k++) p[i][k] = p[k][i] = srx_mul(g, q[i], q[k]);
  }
  const srNode length = srx_add(g, srx_add(g, p[0][0], p[1][1]), srx_add(g, p[2][2], p[3][3]));
  const srNode s = srx_div(g, srx_number(g, 2), length);
#define ON(i, k) srx_sub(g, one, srx_mul(g, s, srx_add(g, p[i][i], p[k][k])))
#define OFF(op, i, k, l) srx_mul(g, s, op(g, p[i][k], p[0][l]))
  return (srMat){{ON(2, 3), OFF(srx_sub, 1, 2, 3), OFF(srx_add, 1, 3, 2), OFF(srx_add, 1, 2, 3), ON(1, 3),
                  OFF(srx_sub, 2, 3, 1), OFF(srx_sub, 1, 3, 2), OFF(srx_add, 2, 3, 1), ON(1, 2)}};
#undef ON
#undef OFF
}

srMat sr_sym_rotation(srSymPass* x, int k) {
  srNode q[4];
  for (int i = 0; i < 4; i++) q[i] = sr_sym_q(x, k + i);
  return quaternion_matrix(x->g, q);
}

static srMat numbers9(srGraph* g, const double* x) {
  srMat out;
  for (int i = 0; i < 9; i++) out.x[i] = srx_number(g, x[i]);
  return out;
}

// Q R of nodes.
static srMat turned_by(srGraph* g, const double* Q, srMat R) {
  srMat out;
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 3; i++) {
      const srNode row[3] = {srx_number(g, Q[3 * i]), srx_number(g, Q[3 * i + 1]), srx_number(g, Q[3 * i + 2])};
      const srNode column[3] = {R.x[k], R.x[3 + k], R.x[6 + k]};
      out.x[3 * i + k] = srx_dot(g, 3, row, column);
    }
  }
  return out;
}

static void put_turn(srSymPass* x, int i, const Angle* psi_parent, Angle* psi) {
  srGraph* g = x->g;
  const srSymLink* l = &x->tree->link[i];
  srTurn* t = &x->turn[i];
  *t = (srTurn){.sine = {SR_NO_NODE, SR_NO_NODE}, .cosine = {SR_NO_NODE, SR_NO_NODE}};
  const bool parallel = sr_sym_is_parallel(l), turns = l->type == SR_LINK_REVOLUTE || l->type == SR_LINK_HELICAL;
  const Angle own = turns ? (Angle){sr_sym_q(x, l->q), l->angle} : no_angle;
  *psi = no_angle;
  if (l->frame == SR_FRAME_PARENT) {
    *psi = add(g, *psi_parent, own);
    return;
  }
  const Angle after = l->frame == SR_FRAME_BODY ? own : no_angle;
  if (l->frame == SR_FRAME_BEFORE) *psi = own;
  t->has_Q = !parallel;
  memcpy(t->Q, l->Q, sizeof t->Q);
  if (parallel) {
    if (!sine_cosine(g, add(g, *psi_parent, after), &t->sine[1], &t->cosine[1])) t->sine[1] = SR_NO_NODE;
  } else {
    if (!sine_cosine(g, *psi_parent, &t->sine[0], &t->cosine[0])) t->sine[0] = SR_NO_NODE;
    if (!sine_cosine(g, after, &t->sine[1], &t->cosine[1])) t->sine[1] = SR_NO_NODE;
  }
  if (l->type != SR_LINK_BALL && l->type != SR_LINK_FREE) return;
  srMat R = sr_sym_rotation(x, l->q + (l->type == SR_LINK_FREE ? 3 : 0));
  if (t->has_Q) R = turned_by(g, t->Q, R);
  for (int k = 0; k < 3 && t->sine[0] != SR_NO_NODE; k++) {
    const srVec c = sr_turn_z(g, t->sine[0], t->cosine[0], (srVec){{R.x[k], R.x[3 + k], R.x[6 + k]}});
    for (int r = 0; r < 3; r++) R.x[3 * r + k] = c.x[r];
  }
  t->has_R = true;
  t->R = R;
}

// Origin and axis in the parent's computational frame.
static void put_place(srSymPass* x, int i, const Angle* psi_parent) {
  srGraph* g = x->g;
  const srSymLink* l = &x->tree->link[i];
  srNode s, c;
  const double z[3] = {l->Q[2], l->Q[5], l->Q[8]};
  srVec p = x->p[i], axis = srx_numbers(g, z);
  if (l->type == SR_LINK_FREE) {
    const srMat Q = numbers9(g, l->Q);
    p = srx_plus(g, p, srx_mat_vec(g, &Q, (srVec){{sr_sym_q(x, l->q), sr_sym_q(x, l->q + 1), sr_sym_q(x, l->q + 2)}}));
  }
  if (sine_cosine(g, *psi_parent, &s, &c)) p = sr_turn_z(g, s, c, p), axis = sr_turn_z(g, s, c, axis);
  if (l->type == SR_LINK_PRISMATIC) p = srx_plus(g, p, srx_times(g, sr_sym_q(x, l->q), axis));
  if (l->type == SR_LINK_HELICAL)
    p = srx_plus(g, p, srx_times(g, srx_mul(g, srx_number(g, l->pitch), sr_sym_q(x, l->q)), axis));
  x->p[i] = p, x->axis[i] = axis;
}

static void put_inertia(srSymPass* x, int i, const Angle* psi) {
  srGraph* g = x->g;
  srNode s, c;
  x->sine[i] = x->cosine[i] = SR_NO_NODE;
  if (!sine_cosine(g, *psi, &s, &c)) return;
  x->sine[i] = s, x->cosine[i] = c;
  x->h[i] = sr_turn_z(g, s, c, x->h[i]);
  x->J[i] = sr_turn_z_matrix(g, s, c, x->J[i], true);
}

// Numbers of the links, or their symbols.
static void put_constants(srSymPass* x, srPool* pool) {
  srGraph* g = x->g;
  const srSymTree* tree = x->tree;
  const srSymSymbols* s = tree->symbols;
  const srNode* at = x->symbol = s ? sr_sym_bring(g, pool, s) : NULL;
  x->gravity = srx_numbers(g, tree->m->gravity);
  for (int k = 0; k < tree->m->nv; k++)
    x->armature[k] = s ? at[s->armature[k]] : srx_number(g, sr_sym_armature(tree->m)[k]);
  for (int k = 0; k < 3 && s; k++) x->gravity.x[k] = at[s->gravity.x[k]];
  for (int i = 1; i < tree->n; i++) {
    const srSymLink* l = &tree->link[i];
    x->mass[i] = s ? at[s->mass[i]] : srx_number(g, l->mass);
    x->p[i] = srx_numbers(g, l->p), x->h[i] = srx_numbers(g, l->h), x->J[i] = numbers9(g, l->J);
    for (int k = 0; k < 3 && s; k++) x->p[i].x[k] = at[s->p[i].x[k]], x->h[i].x[k] = at[s->h[i].x[k]];
    for (int k = 0; k < 9 && s; k++) x->J[i].x[k] = at[s->J[i].x[k]];
  }
}

srSymPass* sr_sym_pass(srGraph* g, srPool* pool, const srSymTree* tree) {
  const size_t n = (size_t)tree->n;
  srSymPass* x = sr_pool_alloc(pool, sizeof *x);
  Angle* psi = sr_pool_alloc(pool, n * sizeof *psi);
  *x = (srSymPass){.tree = tree, .g = g};
  sr_graph_for_code(g);
  x->turn = sr_pool_alloc(pool, n * sizeof *x->turn);
  x->p = sr_pool_alloc(pool, n * sizeof(srVec)), x->axis = sr_pool_alloc(pool, n * sizeof(srVec));
  x->h = sr_pool_alloc(pool, n * sizeof(srVec)), x->J = sr_pool_alloc(pool, n * sizeof(srMat));
  x->sine = sr_pool_alloc(pool, n * sizeof(srNode)), x->cosine = sr_pool_alloc(pool, n * sizeof(srNode));
  x->sine[0] = x->cosine[0] = SR_NO_NODE;
  x->F = sr_pool_alloc(pool, n * sizeof(srVec)), x->N = sr_pool_alloc(pool, n * sizeof(srVec));
  x->mass = sr_pool_alloc(pool, n * sizeof(srNode));
  x->armature = sr_pool_alloc(pool, ((size_t)tree->m->nv + 1) * sizeof(srNode));
  put_constants(x, pool);
  psi[0] = no_angle;
  for (int i = 1; i < tree->n; i++) {
    const Angle* parent = &psi[tree->link[i].parent];
    if (sr_sym_is_elsewhere(tree, i)) continue;
    sr_sym_note(x, i, "geometry");
    put_turn(x, i, parent, &psi[i]);
    put_place(x, i, parent);
    put_inertia(x, i, &psi[i]);
  }
  return x;
}
