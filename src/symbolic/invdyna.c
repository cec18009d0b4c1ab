// Inverse dynamics on the graph: recursive Newton-Euler equations with vectors of 3 entries (Luh, Walker and Paul 1980; Samin and Fisette 2003), by the matrix of acceleration U = [wd] + [w][w] (Balafoutis and Patel 1991).
//
//   outwards   w = w' + v z,   wd = wd' + w' x v z + a z,   o = o' + U' p    (' : of the parent, in the link's axes)
//   link       F = U h + m o,  N = J wd + w x J w + h x o
//   inwards    tau = z.N;   F' += F,  N' += N + p x F
//
// On both sides of a revolute joint U z is the same: where a link carries it, its two entries are turned to the link's axes and wd follows,
//   wdy = U13 - wx wz,   wdx = wy wz - U23,   wdz = z.wd' + a
#include "symbolic/lanes.h"

typedef srSymRates Motion;

static srMat acceleration_matrix(srGraph* g, srVec w, srVec wd) {
  const srNode x = w.x[0], y = w.x[1], z = w.x[2];
  const srNode xx = srx_mul(g, x, x), yy = srx_mul(g, y, y), zz = srx_mul(g, z, z);
  const srNode xy = srx_mul(g, x, y), xz = srx_mul(g, x, z), yz = srx_mul(g, y, z);
  return (srMat){{srx_neg(g, srx_add(g, yy, zz)), srx_sub(g, xy, wd.x[2]), srx_add(g, xz, wd.x[1]),
                  srx_add(g, xy, wd.x[2]), srx_neg(g, srx_add(g, xx, zz)), srx_sub(g, yz, wd.x[0]),
                  srx_sub(g, xz, wd.x[1]), srx_add(g, yz, wd.x[0]), srx_neg(g, srx_add(g, xx, yy))}};
}

static void step_revolute(srSymPass* x, int i, const Motion* from, srNode rate, srNode accel, Motion* to) {
  srGraph* g = x->g;
  const srSymLink* l = &x->tree->link[i];
  const srVec w = to->w;  // the parent's
  to->w.x[2] = srx_add(g, w.x[2], rate);
  if (l->carries) {
    const srVec U3 = sr_turn_down(g, &x->turn[i], srx_mat_vec(g, &from->U, x->axis[i]));
    const srNode wdz = srx_dot3(g, x->axis[i], from->wd);
    to->wd = (srVec){{srx_sub(g, srx_mul(g, to->w.x[1], to->w.x[2]), U3.x[1]),
                      srx_sub(g, U3.x[0], srx_mul(g, to->w.x[0], to->w.x[2])), srx_add(g, wdz, accel)}};
    to->U = acceleration_matrix(g, to->w, to->wd);
    to->U.x[2] = U3.x[0], to->U.x[5] = U3.x[1];
    return;
  }
  to->wd.x[0] = srx_add(g, to->wd.x[0], srx_mul(g, w.x[1], rate));
  to->wd.x[1] = srx_sub(g, to->wd.x[1], srx_mul(g, w.x[0], rate));
  to->wd.x[2] = srx_add(g, to->wd.x[2], accel);
  to->U = acceleration_matrix(g, to->w, to->wd);
}

// Twice w x rate, along z.
static void add_coriolis_z(srGraph* g, srVec w, srNode rate, srVec* o) {
  const srNode twice = srx_mul(g, srx_number(g, 2), rate);
  o->x[0] = srx_add(g, o->x[0], srx_mul(g, w.x[1], twice));
  o->x[1] = srx_sub(g, o->x[1], srx_mul(g, w.x[0], twice));
}

static void step_many(srSymPass* x, const srSymLink* l, const srNode* a, Motion* to) {
  srGraph* g = x->g;
  srVec rate[2] = {srx_zero(g), srx_zero(g)}, accel[2] = {srx_zero(g), srx_zero(g)};
  for (int k = 0; k < (l->type == SR_LINK_FREE ? 6 : 3); k++) {
    rate[k / 3].x[k % 3] = sr_sym_v(x, l->v + k);
    if (a) accel[k / 3].x[k % 3] = a[l->v + k];
  }
  const srVec coriolis = srx_cross3(g, to->w, rate[1]);
  to->wd = srx_plus(g, to->wd, srx_plus(g, accel[0], srx_cross3(g, to->w, rate[0])));
  to->o = srx_plus(g, to->o, srx_plus(g, accel[1], srx_plus(g, coriolis, coriolis)));
  to->o = srx_plus(g, to->o, srx_cross3(g, rate[0], rate[1]));
  to->w = srx_plus(g, to->w, rate[0]);
  to->U = acceleration_matrix(g, to->w, to->wd);
}

static void step(srSymPass* x, int i, const Motion* from, const srNode* a, Motion* to) {
  srGraph* g = x->g;
  const srSymLink* l = &x->tree->link[i];
  const srTurn* turn = &x->turn[i];
  to->w = sr_turn_down(g, turn, from->w);
  to->wd = sr_turn_down(g, turn, from->wd);
  to->o = sr_turn_down(g, turn, srx_plus(g, from->o, srx_mat_vec(g, &from->U, x->p[i])));
  if (l->type == SR_LINK_BALL || l->type == SR_LINK_FREE) {
    step_many(x, l, a, to);
    return;
  }
  const srNode rate = sr_sym_v(x, l->v), accel = a ? a[l->v] : srx_number(g, 0), pitch = srx_number(g, l->pitch);
  if (l->type == SR_LINK_PRISMATIC) {
    add_coriolis_z(g, to->w, rate, &to->o);
    to->o.x[2] = srx_add(g, to->o.x[2], accel);
    to->U = acceleration_matrix(g, to->w, to->wd);
    return;
  }
  if (l->type == SR_LINK_HELICAL) {
    add_coriolis_z(g, to->w, srx_mul(g, pitch, rate), &to->o);
    to->o.x[2] = srx_add(g, to->o.x[2], srx_mul(g, pitch, accel));
  }
  step_revolute(x, i, from, rate, accel, to);
}

// N = J wd + w x J w + h x o, with products of w and entries of U:
//   Nx = Jxx wdx + (Jzz - Jyy) wy wz + Jyz (wy^2 - wz^2) + Jxz U21 - Jxy U31, cyclic
static void put_wrench(srSymPass* x, int i, const Motion* s) {
  srGraph* g = x->g;
  const srNode *J = x->J[i].x, *w = s->w.x, *U = s->U.x;
  srVec N;
  for (int a = 0; a < 3; a++) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    const srNode difference = srx_sub(g, srx_mul(g, w[b], w[b]), srx_mul(g, w[c], w[c]));
    srNode n = srx_mul(g, J[4 * a], s->wd.x[a]);
    n = srx_add(g, n, srx_mul(g, srx_sub(g, J[4 * c], J[4 * b]), srx_mul(g, w[b], w[c])));
    n = srx_add(g, n, srx_mul(g, J[3 * b + c], difference));
    n = srx_add(g, n, srx_mul(g, J[3 * a + c], U[3 * b + a]));
    N.x[a] = srx_sub(g, n, srx_mul(g, J[3 * a + b], U[3 * c + a]));
  }
  x->N[i] = srx_plus(g, N, srx_cross3(g, x->h[i], s->o));
  x->F[i] = srx_plus(g, srx_mat_vec(g, &s->U, x->h[i]), srx_times(g, x->mass[i], s->o));
  if (x->load_F != NULL) x->N[i] = srx_minus(g, x->N[i], x->load_N[i]), x->F[i] = srx_minus(g, x->F[i], x->load_F[i]);
}

// Limbs in lanes: what they exert on a link of the base is summed over the lanes.
static void inwards(srSymPass* x, srNode* tau) {
  srGraph* g = x->g;
  const srSymTree* tree = x->tree;
  srVec *limbs_F = sr_pool_alloc(tree->pool, (size_t)tree->n * sizeof *limbs_F),
        *limbs_N = sr_pool_alloc(tree->pool, (size_t)tree->n * sizeof *limbs_N);
  for (int i = 1; i < tree->n && tree->lanes != NULL; i++) limbs_F[i] = limbs_N[i] = srx_zero(g);
  for (int i = tree->n - 1; i > 0; i--) {
    const srSymLink* l = &tree->link[i];
    if (sr_sym_is_elsewhere(tree, i)) continue;
    if (tree->lanes != NULL && !sr_sym_is_limb(tree, i)) {
      x->F[i] = srx_plus(g, x->F[i], sr_sym_lane_sum3(x, limbs_F[i]));
      x->N[i] = srx_plus(g, x->N[i], sr_sym_lane_sum3(x, limbs_N[i]));
    }
    const srVec F = x->F[i], N = x->N[i];
    sr_sym_note(x, i, "forces to the parent");
    if (l->type == SR_LINK_REVOLUTE) tau[l->v] = N.x[2];
    if (l->type == SR_LINK_PRISMATIC) tau[l->v] = F.x[2];
    if (l->type == SR_LINK_HELICAL) tau[l->v] = srx_add(g, N.x[2], srx_mul(g, srx_number(g, l->pitch), F.x[2]));
    for (int k = 0; k < 3 && (l->type == SR_LINK_BALL || l->type == SR_LINK_FREE); k++) tau[l->v + k] = N.x[k];
    for (int k = 0; k < 3 && l->type == SR_LINK_FREE; k++) tau[l->v + 3 + k] = F.x[k];
    if (l->parent == 0) continue;
    const bool first = sr_sym_begins_limb(tree, i);
    srVec *to_F = first ? &limbs_F[l->parent] : &x->F[l->parent],
          *to_N = first ? &limbs_N[l->parent] : &x->N[l->parent];
    const srVec up = sr_turn_up(g, &x->turn[i], F);
    *to_F = srx_plus(g, *to_F, up);
    *to_N = srx_plus(g, *to_N, srx_plus(g, sr_turn_up(g, &x->turn[i], N), srx_cross3(g, x->p[i], up)));
  }
}

static Motion* begin(srSymPass* x) {
  srGraph* g = x->g;
  Motion* motion = sr_pool_alloc(x->tree->pool, (size_t)x->tree->n * sizeof *motion);
  motion[0] = (Motion){.w = srx_zero(g), .wd = srx_zero(g), .o = srx_minus(g, srx_zero(g), x->gravity)};
  motion[0].U = acceleration_matrix(g, motion[0].w, motion[0].wd);
  return motion;
}

const srSymRates* sr_sym_rates(srSymPass* x, const srNode* a) {
  Motion* motion = begin(x);
  for (int i = 1; i < x->tree->n; i++) {
    sr_sym_note(x, i, "motion");
    step(x, i, &motion[x->tree->link[i].parent], a, &motion[i]);
  }
  return motion;
}

void sr_sym_invdyna(srSymPass* x, const srNode* a, bool wrenches, srNode* tau) {
  srGraph* g = x->g;
  const srModel* m = x->tree->m;
  Motion* motion = begin(x);
  for (int i = 1; i < x->tree->n; i++) {
    if (sr_sym_is_elsewhere(x->tree, i)) continue;
    sr_sym_note(x, i, "motion and its wrench");
    step(x, i, &motion[x->tree->link[i].parent], a, &motion[i]);
    put_wrench(x, i, &motion[i]);
  }
  if (wrenches) return;
  inwards(x, tau);
  for (int k = 0; a && k < m->nv; k++) tau[k] = srx_add(g, tau[k], srx_mul(g, x->armature[k], a[k]));
}
