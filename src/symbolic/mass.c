// Mass matrix on the graph: composite rigid bodies (Walker and Orin 1982), each column carried to the ground.
//
//   inwards   mass, h, J of all that is beyond a joint, h' = R h + m p,  J' = R J R^T + 2 (p.k) 1 - p k^T - k p^T,  k = R h + m p/2
//   column    wrench of that body for unit acceleration along the joint; M_ji = S_j^T of it, at every joint on the path
// Regrouped inertia has no mass beyond revolute joints (regroup.c).
#include "dynamics/link.h"
#include "symbolic/articulated.h"
#include "symbolic/lanes.h"

void sr_composite_to_parent(srSymPass* x, int i, const srComposite* body, srComposite* parent) {
  srGraph* g = x->g;
  const srVec p = x->p[i], h = sr_turn_up(g, &x->turn[i], body->h);
  const srMat J = sr_turn_matrix(g, &x->turn[i], body->J, true);
  const srVec k = srx_plus(g, h, srx_times(g, srx_mul(g, srx_number(g, 0.5), body->mass), p));
  srNode product[3];
  for (int a = 0; a < 3; a++) product[a] = srx_mul(g, p.x[a], k.x[a]);
  for (int a = 0; a < 3; a++) {
    for (int b = a; b < 3; b++) {
      srNode entry = J.x[3 * a + b];
      if (a == b) {
        entry = srx_add(g, entry, srx_mul(g, srx_number(g, 2), srx_add(g, product[(a + 1) % 3], product[(a + 2) % 3])));
      } else {
        entry = srx_sub(g, entry, srx_mul(g, p.x[a], k.x[b]));
        entry = srx_sub(g, entry, srx_mul(g, k.x[a], p.x[b]));
      }
      parent->J.x[3 * a + b] = parent->J.x[3 * b + a] = srx_add(g, parent->J.x[3 * a + b], entry);
    }
  }
  parent->h = srx_plus(g, parent->h, srx_plus(g, h, srx_times(g, body->mass, p)));
  parent->mass = srx_add(g, parent->mass, body->mass);
}

// Wrench for unit acceleration: angular about axis k (0 to 2), linear along k - 3.
static void column_of(srGraph* g, const srComposite* b, int k, srVec* F, srVec* N) {
  srVec e = srx_zero(g);
  e.x[k % 3] = srx_number(g, 1);
  *F = k < 3 ? srx_cross3(g, e, b->h) : srx_times(g, b->mass, e);
  *N = k < 3 ? (srVec){{b->J.x[k], b->J.x[3 + k], b->J.x[6 + k]}} : srx_cross3(g, b->h, e);
}

// S^T (N, F) of coordinate k of a link.
static srNode project(srGraph* g, const srSymLink* l, int k, srVec F, srVec N) {
  switch (l->type) {
    case SR_LINK_REVOLUTE: return N.x[2];
    case SR_LINK_PRISMATIC: return F.x[2];
    case SR_LINK_HELICAL: return srx_add(g, N.x[2], srx_mul(g, srx_number(g, l->pitch), F.x[2]));
    default: return k < 3 ? N.x[k] : F.x[k - 3];
  }
}

static void put_column(srSymPass* x, int i, int k, const srComposite* body, srNode* M) {
  srGraph* g = x->g;
  const int nv = x->tree->m->nv;
  const srSymLink* l = &x->tree->link[i];
  const int row = l->v + k, slot = l->type == SR_LINK_PRISMATIC ? 5 : sr_link_nv[l->type] == 1 ? 2 : k;
  srVec F, N;
  column_of(g, body, slot, &F, &N);
  if (l->type == SR_LINK_HELICAL) {
    srVec F2, N2;
    column_of(g, body, 5, &F2, &N2);
    F = srx_plus(g, F, srx_times(g, srx_number(g, l->pitch), F2));
    N = srx_plus(g, N, srx_times(g, srx_number(g, l->pitch), N2));
  }
  for (int j = 0; j <= k; j++) M[row * nv + l->v + j] = project(g, l, j, F, N);
  M[row * nv + row] = srx_add(g, M[row * nv + row], x->armature[row]);
  for (int at = i; x->tree->link[at].parent > 0; at = x->tree->link[at].parent) {
    F = sr_turn_up(g, &x->turn[at], F);
    N = srx_plus(g, sr_turn_up(g, &x->turn[at], N), srx_cross3(g, x->p[at], F));
    const srSymLink* parent = &x->tree->link[x->tree->link[at].parent];
    for (int j = 0; j < sr_link_nv[parent->type]; j++) M[row * nv + parent->v + j] = project(g, parent, j, F, N);
  }
}

srComposite sr_composite_nothing(srGraph* g) {
  srComposite b = {.mass = srx_number(g, 0), .h = srx_zero(g)};
  for (int k = 0; k < 9; k++) b.J.x[k] = srx_number(g, 0);
  return b;
}

void sr_composite_add_lanes(srSymPass* x, const srComposite* limbs, srComposite* to) {
  srGraph* g = x->g;
  to->mass = srx_add(g, to->mass, sr_sym_lane_sum(x, limbs->mass));
  to->h = srx_plus(g, to->h, sr_sym_lane_sum3(x, limbs->h));
  for (int r = 0; r < 3; r++) {
    for (int c = r; c < 3; c++)
      to->J.x[3 * r + c] = to->J.x[3 * c + r] =
          srx_add(g, to->J.x[3 * r + c], sr_sym_lane_sum(x, limbs->J.x[3 * r + c]));
  }
}

void sr_sym_mass(srSymPass* x, srNode* M) {
  srGraph* g = x->g;
  const int n = x->tree->n, nv = x->tree->m->nv;
  srComposite *body = sr_pool_alloc(x->tree->pool, (size_t)n * sizeof *body),
              *limbs = sr_pool_alloc(x->tree->pool, (size_t)n * sizeof *limbs);  // what hangs on a link in lanes
  for (int i = 0; i < nv * nv; i++) M[i] = srx_number(g, 0);
  for (int i = 1; i < n; i++) {
    if (x->tree->lanes != NULL) limbs[i] = sr_composite_nothing(g);
    if (!sr_sym_is_elsewhere(x->tree, i)) body[i] = (srComposite){x->mass[i], x->h[i], x->J[i]};
  }
  for (int i = n - 1; i > 0; i--) {
    const srSymLink* l = &x->tree->link[i];
    if (sr_sym_is_elsewhere(x->tree, i)) continue;
    sr_sym_note(x, i, "composite body");
    if (x->tree->lanes != NULL && !sr_sym_is_limb(x->tree, i)) sr_composite_add_lanes(x, &limbs[i], &body[i]);
    for (int k = 0; k < sr_link_nv[l->type]; k++) put_column(x, i, k, &body[i], M);
    if (l->parent == 0) continue;
    sr_composite_to_parent(x, i, &body[i], sr_sym_begins_limb(x->tree, i) ? &limbs[l->parent] : &body[l->parent]);
  }
}
