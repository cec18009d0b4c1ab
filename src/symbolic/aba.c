// Forward dynamics on the graph: articulated bodies (Featherstone 2008, section 7.3) in blocks of 3 x 3, about wrenches of the motion without joint accelerations (invdyna.c), so that only corrections are carried outwards.
//
//   (N; F) = (J, H; H^T, M) (wd; o) + bias     of all that is beyond a joint
//   one coordinate   Un = J s, Uf = H^T s, D = s.Un;   u = tau - s.bias;   J - Un Un^T/D, ...,  bias + U u/D
//   to the parent    J' = J - H [p] + [p] H'^T,  H' = H + [p] M
//   outwards         wd, o of the parent;  a = (u - Un.wd - Uf.o)/D; without armature s.wd + a = (u - the other terms)/D
// Joints of several coordinates are taken one coordinate after the other: the innermost last.
#include "dynamics/link.h"
#include "symbolic/tree.h"

typedef struct Body {
  srMat J, H, M;  // H: N for o
  srVec N, F;     // bias
} Body;

typedef struct Axis {
  int slot;  // 0 to 2: about x, y, z; 3 to 5: along
  double pitch;
  srVec Un, Uf;
  srNode inverse, u;
  bool bare;  // no armature, no pitch: D is an entry of Un or Uf
} Axis;

static srVec column(const srMat* A, int k) { return (srVec){{A->x[k], A->x[3 + k], A->x[6 + k]}}; }
static srVec row(const srMat* A, int k) { return (srVec){{A->x[3 * k], A->x[3 * k + 1], A->x[3 * k + 2]}}; }

static srNode project(srGraph* g, const Axis* s, srVec N, srVec F) {
  if (s->pitch != 0) return srx_add(g, N.x[2], srx_mul(g, srx_number(g, s->pitch), F.x[2]));
  return s->slot < 3 ? N.x[s->slot] : F.x[s->slot - 3];
}

static void subtract_outer(srGraph* g, srMat* A, srVec a, srVec b, bool symmetric) {
  for (int i = 0; i < 3; i++) {
    for (int k = symmetric ? i : 0; k < 3; k++) {
      A->x[3 * i + k] = srx_sub(g, A->x[3 * i + k], srx_mul(g, a.x[i], b.x[k]));
      if (symmetric) A->x[3 * k + i] = A->x[3 * i + k];
    }
  }
}

// Without armature the body resists no motion along the joint: these entries are 0, which no simplification could see.
static void clear(srGraph* g, Body* b, int slot) {
  const srNode zero = srx_number(g, 0);
  for (int k = 0; k < 3; k++) {
    if (slot < 3)
      b->J.x[3 * slot + k] = b->J.x[3 * k + slot] = b->H.x[3 * slot + k] = zero;
    else
      b->M.x[3 * (slot - 3) + k] = b->M.x[3 * k + slot - 3] = b->H.x[3 * k + slot - 3] = zero;
  }
}

// Takes one coordinate out of the body.
static void eliminate(srSymPass* x, Body* b, int dof, srNode tau, Axis* s) {
  srGraph* g = x->g;
  const int k = s->slot % 3;
  const double armature = x->tree->m->dof_armature[dof];
  s->Un = s->slot < 3 ? column(&b->J, k) : column(&b->H, k);
  s->Uf = s->slot < 3 ? row(&b->H, k) : column(&b->M, k);
  if (s->pitch != 0) {
    s->Un = srx_plus(g, s->Un, srx_times(g, srx_number(g, s->pitch), column(&b->H, 2)));
    s->Uf = srx_plus(g, s->Uf, srx_times(g, srx_number(g, s->pitch), column(&b->M, 2)));
  }
  const srNode D = srx_add(g, project(g, s, s->Un, s->Uf), srx_number(g, armature));
  s->inverse = srx_div(g, srx_number(g, 1), D);
  s->u = srx_sub(g, tau, project(g, s, b->N, b->F));
  const srVec Vn = srx_times(g, s->inverse, s->Un), Vf = srx_times(g, s->inverse, s->Uf);
  subtract_outer(g, &b->J, Vn, s->Un, true);
  subtract_outer(g, &b->H, Vn, s->Uf, false);
  subtract_outer(g, &b->M, Vf, s->Uf, true);
  s->bare = armature == 0 && s->pitch == 0;
  if (s->bare) clear(g, b, s->slot);
  b->N = srx_plus(g, b->N, srx_times(g, s->u, Vn));
  b->F = srx_plus(g, b->F, srx_times(g, s->u, Vf));
}

// [p] A
static srMat cross_matrix(srGraph* g, srVec p, const srMat* A) {
  srMat out;
  for (int k = 0; k < 3; k++) {
    const srVec c = srx_cross3(g, p, column(A, k));
    for (int i = 0; i < 3; i++) out.x[3 * i + k] = c.x[i];
  }
  return out;
}

static void add_to_parent(srSymPass* x, int i, const Body* b, Body* parent) {
  srGraph* g = x->g;
  const srTurn* t = &x->turn[i];
  const srVec p = x->p[i], F = sr_turn_up(g, t, b->F), N = sr_turn_up(g, t, b->N);
  const srMat M = sr_turn_matrix(g, t, b->M, true), H = sr_turn_matrix(g, t, b->H, false);
  srMat J = sr_turn_matrix(g, t, b->J, true);
  const srMat H_parent = srx_mat_plus(g, H, cross_matrix(g, p, &M)), H_turned = srx_transpose(H_parent);
  const srMat back = cross_matrix(g, p, &H_turned), Ht = srx_transpose(H), pHt = cross_matrix(g, p, &Ht);
  for (int r = 0; r < 3; r++) {  // H [p] = -([p] H^T)^T
    for (int c = r; c < 3; c++) {
      J.x[3 * r + c] = srx_add(g, J.x[3 * r + c], srx_add(g, back.x[3 * r + c], pHt.x[3 * c + r]));
      J.x[3 * c + r] = J.x[3 * r + c];
    }
  }
  parent->J = srx_mat_plus(g, parent->J, J);
  parent->H = srx_mat_plus(g, parent->H, H_parent);
  parent->M = srx_mat_plus(g, parent->M, M);
  parent->F = srx_plus(g, parent->F, F);
  parent->N = srx_plus(g, parent->N, srx_plus(g, N, srx_cross3(g, p, F)));
}

static Body rigid(srSymPass* x, int i) {
  srGraph* g = x->g;
  const srNode zero = srx_number(g, 0), mass = srx_number(g, x->tree->link[i].mass);
  const srVec h = x->h[i];
  return (Body){
      .J = x->J[i],
      .H = {{zero, srx_neg(g, h.x[2]), h.x[1], h.x[2], zero, srx_neg(g, h.x[0]), srx_neg(g, h.x[1]), h.x[0], zero}},
      .M = {{mass, zero, zero, zero, mass, zero, zero, zero, mass}},
      .N = x->N[i],
      .F = x->F[i]};
}

static Axis axis_of(const srSymLink* l, int k) {
  const int n = sr_link_nv[l->type];
  return (Axis){.slot = n > 1                          ? k
                        : l->type == SR_LINK_PRISMATIC ? 5
                                                       : 2,
                .pitch = l->type == SR_LINK_HELICAL ? l->pitch : 0};
}

// The acceleration along the axis for the motion (wd, o) of the parent, which it is added to.
static srNode accelerate(srGraph* g, const Axis* s, srVec* wd, srVec* o) {
  srNode* along = s->slot < 3 ? &wd->x[s->slot] : &o->x[s->slot - 3];
  const srNode before = *along;
  if (s->bare) *along = srx_number(g, 0);
  const srNode held = srx_add(g, srx_dot3(g, s->Un, *wd), srx_dot3(g, s->Uf, *o));
  const srNode x = srx_mul(g, srx_sub(g, s->u, held), s->inverse);
  *along = s->bare ? x : srx_add(g, before, x);
  if (s->pitch != 0) o->x[2] = srx_add(g, o->x[2], srx_mul(g, srx_number(g, s->pitch), x));
  return s->bare ? srx_sub(g, x, before) : x;
}

static void outwards(srSymPass* x, const Axis* axes, srVec* wd, srVec* o, srNode* a) {
  srGraph* g = x->g;
  wd[0] = o[0] = srx_zero(g);
  for (int i = 1; i < x->tree->n; i++) {
    const srSymLink* l = &x->tree->link[i];
    sr_sym_note(x, i, "acceleration");
    wd[i] = sr_turn_down(g, &x->turn[i], wd[l->parent]);
    o[i] = sr_turn_down(g, &x->turn[i], srx_plus(g, o[l->parent], srx_cross3(g, wd[l->parent], x->p[i])));
    for (int k = 0; k < sr_link_nv[l->type]; k++) a[l->v + k] = accelerate(g, &axes[l->v + k], &wd[i], &o[i]);
  }
}

void sr_sym_aba(srSymPass* x, const srNode* tau, srNode* a) {
  const int n = x->tree->n;
  srPool* pool = x->tree->pool;
  Body* body = sr_pool_alloc(pool, (size_t)n * sizeof *body);
  Axis* axes = sr_pool_alloc(pool, (size_t)(x->tree->m->nv + 1) * sizeof *axes);
  srVec *wd = sr_pool_alloc(pool, (size_t)n * sizeof *wd), *o = sr_pool_alloc(pool, (size_t)n * sizeof *o);
  sr_sym_invdyna(x, NULL, true, NULL);
  for (int i = 1; i < n; i++) body[i] = rigid(x, i);
  for (int i = n - 1; i > 0; i--) {
    const srSymLink* l = &x->tree->link[i];
    sr_sym_note(x, i, "articulated body");
    for (int k = sr_link_nv[l->type] - 1; k >= 0; k--) {
      axes[l->v + k] = axis_of(l, k);
      eliminate(x, &body[i], l->v + k, tau[l->v + k], &axes[l->v + k]);
    }
    if (l->parent > 0) add_to_parent(x, i, &body[i], &body[l->parent]);
  }
  outwards(x, axes, wd, o, a);
}
