// Forward dynamics on the graph: articulated bodies (Featherstone 2008, section 7.3) in blocks of 3 x 3, about wrenches of the motion without joint accelerations (invdyna.c), so that only corrections are carried outwards.
//
//   (N; F) = (J, H; H^T, M) (wd; o) + bias     of all that is beyond a joint
//   one coordinate   Un = J s, Uf = H^T s, D = s.Un, V = U/D;   u = tau - s.bias;   J - Vn Un^T, ...,  bias + V u
//   to the parent    J' = J - H [p] + [p] H'^T,  H' = H + [p] M
//   outwards         wd, o of the parent;  a = u/D - Vn.wd - Vf.o; without armature s.wd + a = u/D - the other terms.  V and u/D alone wait for it: few values to keep
// Joints of several coordinates are taken one coordinate after the other: the innermost last.
#include "symbolic/articulated.h"

#include "dynamics/link.h"
#include "symbolic/lanes.h"

static srVec column(const srMat* A, int k) { return (srVec){{A->x[k], A->x[3 + k], A->x[6 + k]}}; }
static srVec row(const srMat* A, int k) { return (srVec){{A->x[3 * k], A->x[3 * k + 1], A->x[3 * k + 2]}}; }

srNode sr_axis_project(srGraph* g, const srAxis* s, srVec N, srVec F) {
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
static void clear(srGraph* g, srArticulated* b, int slot) {
  const srNode zero = srx_number(g, 0);
  for (int k = 0; k < 3; k++) {
    if (slot < 3)
      b->J.x[3 * slot + k] = b->J.x[3 * k + slot] = b->H.x[3 * slot + k] = zero;
    else
      b->M.x[3 * (slot - 3) + k] = b->M.x[3 * k + slot - 3] = b->H.x[3 * k + slot - 3] = zero;
  }
}

void sr_axis_column(srGraph* g, const srAxis* s, const srArticulated* b, srVec* Un, srVec* Uf) {
  const int k = s->slot % 3;
  *Un = s->slot < 3 ? column(&b->J, k) : column(&b->H, k);
  *Uf = s->slot < 3 ? row(&b->H, k) : column(&b->M, k);
  if (s->pitch == 0) return;
  *Un = srx_plus(g, *Un, srx_times(g, srx_number(g, s->pitch), column(&b->H, 2)));
  *Uf = srx_plus(g, *Uf, srx_times(g, srx_number(g, s->pitch), column(&b->M, 2)));
}

void sr_articulated_subtract(srGraph* g, srArticulated* b, srVec Vn, srVec Vf, srVec Un, srVec Uf) {
  subtract_outer(g, &b->J, Vn, Un, true);
  subtract_outer(g, &b->H, Vn, Uf, false);
  subtract_outer(g, &b->M, Vf, Uf, true);
}

void sr_articulated_eliminate(srSymPass* x, srArticulated* b, int dof, srNode tau, srAxis* s) {
  srGraph* g = x->g;
  const srNode armature = x->armature[dof];
  srVec Un, Uf;
  sr_axis_column(g, s, b, &Un, &Uf);
  const srNode D = srx_add(g, sr_axis_project(g, s, Un, Uf), armature);
  const srNode inverse = srx_div(g, srx_number(g, 1), D), u = srx_sub(g, tau, sr_axis_project(g, s, b->N, b->F));
  s->inverse = inverse, s->u = u;
  s->free = srx_mul(g, u, inverse);
  s->Vn = srx_times(g, inverse, Un), s->Vf = srx_times(g, inverse, Uf);
  sr_articulated_subtract(g, b, s->Vn, s->Vf, Un, Uf);
  const srNodeView view = sr_graph_view(g, armature);
  s->bare = view.op == SR_OP_CONST && view.value == 0 && s->pitch == 0;
  if (s->bare) clear(g, b, s->slot);
  b->N = srx_plus(g, b->N, srx_times(g, u, s->Vn));
  b->F = srx_plus(g, b->F, srx_times(g, u, s->Vf));
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

void sr_articulated_to_parent(srSymPass* x, int i, const srArticulated* b, srArticulated* parent) {
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

srArticulated sr_articulated_rigid(srGraph* g, srNode mass, srVec h, srMat J) {
  const srNode zero = srx_number(g, 0);
  return (srArticulated){
      .J = J,
      .H = {{zero, srx_neg(g, h.x[2]), h.x[1], h.x[2], zero, srx_neg(g, h.x[0]), srx_neg(g, h.x[1]), h.x[0], zero}},
      .M = {{mass, zero, zero, zero, mass, zero, zero, zero, mass}},
      .N = srx_zero(g),
      .F = srx_zero(g)};
}

static srMat matrix_sum(srSymPass* x, srMat A) {
  for (int i = 0; i < 9; i++) A.x[i] = sr_sym_lane_sum(x, A.x[i]);
  return A;
}

void sr_articulated_add_lanes(srSymPass* x, const srArticulated* limbs, srArticulated* to) {
  srGraph* g = x->g;
  to->J = srx_mat_plus(g, to->J, matrix_sum(x, limbs->J));
  to->H = srx_mat_plus(g, to->H, matrix_sum(x, limbs->H));
  to->M = srx_mat_plus(g, to->M, matrix_sum(x, limbs->M));
  to->N = srx_plus(g, to->N, sr_sym_lane_sum3(x, limbs->N));
  to->F = srx_plus(g, to->F, sr_sym_lane_sum3(x, limbs->F));
}

srArticulated sr_articulated_nothing(srGraph* g) {
  srArticulated b = {.N = srx_zero(g), .F = srx_zero(g)};
  for (int i = 0; i < 9; i++) b.J.x[i] = b.H.x[i] = b.M.x[i] = srx_number(g, 0);
  return b;
}

srAxis sr_axis_of(const srSymLink* l, int k) {
  const int n = sr_link_nv[l->type];
  return (srAxis){.slot = n > 1                          ? k
                          : l->type == SR_LINK_PRISMATIC ? 5
                                                         : 2,
                  .pitch = l->type == SR_LINK_HELICAL ? l->pitch : 0};
}

srNode sr_axis_accelerate(srGraph* g, const srAxis* s, srVec* wd, srVec* o) {
  srNode* along = s->slot < 3 ? &wd->x[s->slot] : &o->x[s->slot - 3];
  const srNode before = *along;
  if (s->bare) *along = srx_number(g, 0);
  const srNode held = srx_add(g, srx_dot3(g, s->Vn, *wd), srx_dot3(g, s->Vf, *o));
  const srNode x = srx_sub(g, s->free, held);
  *along = s->bare ? x : srx_add(g, before, x);
  if (s->pitch != 0) o->x[2] = srx_add(g, o->x[2], srx_mul(g, srx_number(g, s->pitch), x));
  return s->bare ? srx_sub(g, x, before) : x;
}

static void outwards(srSymPass* x, const srAxis* axes, srVec* wd, srVec* o, srNode* a) {
  srGraph* g = x->g;
  wd[0] = o[0] = srx_zero(g);
  for (int i = 1; i < x->tree->n; i++) {
    const srSymLink* l = &x->tree->link[i];
    if (sr_sym_is_elsewhere(x->tree, i)) continue;
    sr_sym_note(x, i, "acceleration");
    wd[i] = sr_turn_down(g, &x->turn[i], wd[l->parent]);
    o[i] = sr_turn_down(g, &x->turn[i], srx_plus(g, o[l->parent], srx_cross3(g, wd[l->parent], x->p[i])));
    for (int k = 0; k < sr_link_nv[l->type]; k++) a[l->v + k] = sr_axis_accelerate(g, &axes[l->v + k], &wd[i], &o[i]);
  }
}

void sr_sym_aba(srSymPass* x, const srNode* tau, srNode* a) {
  const int n = x->tree->n;
  srPool* pool = x->tree->pool;
  const srSymTree* tree = x->tree;
  srArticulated* body = sr_pool_alloc(pool, (size_t)n * sizeof *body);
  srArticulated* limbs = sr_pool_alloc(pool, (size_t)n * sizeof *limbs);  // what hangs on a link in lanes
  srAxis* axes = sr_pool_alloc(pool, (size_t)(x->tree->m->nv + 1) * sizeof *axes);
  srVec *wd = sr_pool_alloc(pool, (size_t)n * sizeof *wd), *o = sr_pool_alloc(pool, (size_t)n * sizeof *o);
  sr_sym_invdyna(x, NULL, true, NULL);
  for (int i = 1; i < n; i++) {
    if (tree->lanes != NULL) limbs[i] = sr_articulated_nothing(x->g);
    if (sr_sym_is_elsewhere(tree, i)) continue;
    body[i] = sr_articulated_rigid(x->g, x->mass[i], x->h[i], x->J[i]);
    body[i].N = x->N[i], body[i].F = x->F[i];
  }
  for (int i = n - 1; i > 0; i--) {
    const srSymLink* l = &tree->link[i];
    if (sr_sym_is_elsewhere(tree, i)) continue;
    const bool limb = sr_sym_is_limb(tree, i), first = sr_sym_begins_limb(tree, i);
    sr_sym_note(x, i, "articulated body");
    if (tree->lanes != NULL && !limb) sr_articulated_add_lanes(x, &limbs[i], &body[i]);
    for (int k = sr_link_nv[l->type] - 1; k >= 0; k--) {
      axes[l->v + k] = sr_axis_of(l, k);
      sr_articulated_eliminate(x, &body[i], l->v + k, tau[l->v + k], &axes[l->v + k]);
    }
    if (l->parent > 0) sr_articulated_to_parent(x, i, &body[i], first ? &limbs[l->parent] : &body[l->parent]);
  }
  outwards(x, axes, wd, o, a);
}
