// Forward dynamics on the graph of a tree with couplings of constant ratio: the deferred elimination of dynamics/aba_coupled.c, whose equations these are.
//
//   group g of coordinates a_j = r_j a_g, pending from its members' links to link P, where their paths meet
//   member   D_g += r (r D + 2 H_g),  u_g += r u,  D_gh += r H_h,  F_g += r U      with H_g = S^T F_g
//   driven   bias += U a,  u_g -= H_g a
//   free     as in aba.c, and F_g -= V H_g,  u_g -= u H_g/D,  D_gh -= H_g H_h/D
//   on P     the body less F_g F_g^T/D_g;  a_g = (u_g - F_g.(wd, o) - sum D_gh a_h)/D_g
// Links beyond which nothing was eliminated are rigid in their group: they are carried as mass, first moment and inertia, 10 numbers in place of 21.
#include "dynamics/link.h"
#include "model/elimination.h"
#include "symbolic/articulated.h"
#include "symbolic/lanes.h"

typedef struct Wrench {
  srVec N, F;
} Wrench;

typedef struct Body {
  srComposite rigid;
  srArticulated rest;
  bool has_rest;
} Body;

typedef struct Work {
  srSymPass* x;
  srGraph* g;
  const struct srElimination* e;
  const srNode* driven;  // accelerations of the drivers
  Body *body, *limbs;    // n; limbs in lanes: what hangs on a link
  srAxis* axis;          // nv
  Wrench* F;             // by slot
  srNode* part;          // by slot and coordinate of its link: H_g/D of free coordinates
  srNode *D, *u, *a;     // products; of a group with itself 1/D_g from P on; by group
} Work;

typedef struct Slots {
  int first, goes, n;
  const int* product;
} Slots;

static Slots slots_of(const struct srElimination* e, int link) {
  const int first = e->slot_start[link];
  return (Slots){first, e->slot_goes[link], e->slot_start[link + 1] - first, e->product + e->product_start[link]};
}

static srNode* zeros(const Work* w, int n) {
  srNode* out = sr_pool_alloc(w->x->tree->pool, ((size_t)n + 1) * sizeof *out);
  for (int i = 0; i < n; i++) out[i] = srx_number(w->g, 0);
  return out;
}

static void add_times(srGraph* g, Wrench* to, srNode s, srVec N, srVec F) {
  to->N = srx_plus(g, to->N, srx_times(g, s, N));
  to->F = srx_plus(g, to->F, srx_times(g, s, F));
}

static void subtract(srGraph* g, srNode* from, srNode a, srNode b) { *from = srx_sub(g, *from, srx_mul(g, a, b)); }

// All of it as an articulated body.
static srArticulated* whole(const Work* w, int i) {
  Body* b = &w->body[i];
  srGraph* g = w->g;
  const srArticulated r = sr_articulated_rigid(g, b->rigid.mass, b->rigid.h, b->rigid.J);
  b->rest.J = srx_mat_plus(g, b->rest.J, r.J);
  b->rest.H = srx_mat_plus(g, b->rest.H, r.H);
  b->rest.M = srx_mat_plus(g, b->rest.M, r.M);
  b->rigid = (srComposite){srx_number(g, 0), srx_zero(g), {{0}}};
  for (int k = 0; k < 9; k++) b->rigid.J.x[k] = srx_number(g, 0);
  b->has_rest = true;
  return &b->rest;
}

// U of a coordinate, the body as it is.
static void column(const Work* w, int i, const srAxis* s, srVec* Un, srVec* Uf) {
  const Body* b = &w->body[i];
  const srArticulated r = sr_articulated_rigid(w->g, b->rigid.mass, b->rigid.h, b->rigid.J);
  srVec N, F;
  sr_axis_column(w->g, s, &r, Un, Uf);
  if (!b->has_rest) return;
  sr_axis_column(w->g, s, &b->rest, &N, &F);
  *Un = srx_plus(w->g, *Un, N), *Uf = srx_plus(w->g, *Uf, F);
}

// ---- from the tips ----------------------------------------------------------------------------------------------------------

static void end_groups(const Work* w, Slots x, int i) {
  srGraph* g = w->g;
  for (int a = 0; a < x.goes; a++) {
    const int group = w->e->slot_group[x.first + a], *row = x.product + a * x.n;
    const srNode inverse = srx_div(g, srx_number(g, 1), w->D[row[a]]), u = w->u[group];
    const Wrench F = w->F[x.first + a];
    w->D[row[a]] = inverse;
    for (int b = a + 1; b < x.n; b++) {
      const srNode part = srx_mul(g, w->D[row[b]], inverse);
      subtract(g, &w->u[w->e->slot_group[x.first + b]], part, u);
      for (int c = b; c < x.n; c++) subtract(g, &w->D[x.product[b * x.n + c]], part, w->D[row[c]]);
      add_times(g, &w->F[x.first + b], srx_neg(g, part), F.N, F.F);
    }
    if (i == 0) continue;
    srArticulated* body = whole(w, i);
    const srVec Vn = srx_times(g, inverse, F.N), Vf = srx_times(g, inverse, F.F);
    sr_articulated_subtract(g, body, Vn, Vf, F.N, F.F);
    body->N = srx_plus(g, body->N, srx_times(g, u, Vn));
    body->F = srx_plus(g, body->F, srx_times(g, u, Vf));
  }
}

static void join(const Work* w, Slots x, int i, int dof, srNode tau, const srNode* H) {
  srGraph* g = w->g;
  const int own = w->e->slot_own[i], group = w->e->slot_group[x.first + own];
  const srAxis* s = &w->axis[dof];
  const srNode r = srx_number(g, w->e->ratio[dof]);
  srVec Un, Uf;
  column(w, i, s, &Un, &Uf);
  const srNode D = srx_add(g, sr_axis_project(g, s, Un, Uf), w->x->armature[dof]);
  const srNode u = srx_sub(g, tau, sr_axis_project(g, s, w->body[i].rest.N, w->body[i].rest.F));
  for (int b = x.goes; b < x.n; b++) {
    srNode* product = &w->D[x.product[own * x.n + b]];
    if (b != own) *product = srx_add(g, *product, srx_mul(g, r, H[b]));
  }
  const srNode twice = srx_mul(g, srx_number(g, 2), H[own]);
  w->D[group] = srx_add(g, w->D[group], srx_mul(g, r, srx_add(g, srx_mul(g, r, D), twice)));
  w->u[group] = srx_add(g, w->u[group], srx_mul(g, r, u));
  add_times(g, &w->F[x.first + own], r, Un, Uf);
}

static void drive(const Work* w, Slots x, int i, int dof, const srNode* H) {
  srGraph* g = w->g;
  srArticulated* rest = &w->body[i].rest;
  const srNode a = srx_mul(g, srx_number(g, w->e->ratio[dof]), w->driven[w->e->driver[dof]]);
  srVec Un, Uf;
  column(w, i, &w->axis[dof], &Un, &Uf);
  for (int b = x.goes; b < x.n; b++) subtract(g, &w->u[w->e->slot_group[x.first + b]], a, H[b]);
  rest->N = srx_plus(g, rest->N, srx_times(g, a, Un)), rest->F = srx_plus(g, rest->F, srx_times(g, a, Uf));
}

static void release(const Work* w, Slots x, int i, int k, int dof, srNode tau, const srNode* H) {
  srGraph* g = w->g;
  srAxis* s = &w->axis[dof];
  srArticulated* body = whole(w, i);
  srVec Un, Uf;
  sr_axis_column(g, s, body, &Un, &Uf);
  sr_articulated_eliminate(w->x, body, dof, tau, s);
  for (int b = x.goes; b < x.n; b++) {
    const srNode part = srx_mul(g, H[b], s->inverse);
    Wrench* F = &w->F[x.first + b];
    w->part[w->e->slot_axis[x.first + b] + k] = part;
    subtract(g, &w->u[w->e->slot_group[x.first + b]], part, s->u);
    for (int c = b; c < x.n; c++) subtract(g, &w->D[x.product[b * x.n + c]], part, H[c]);
    add_times(g, F, srx_neg(g, part), Un, Uf);
    if (s->bare) (s->slot < 3 ? &F->N : &F->F)->x[s->slot % 3] = srx_number(g, 0);  // as the body along the joint
  }
}

static void send_to_parent(const Work* w, Slots x, int i) {
  srGraph* g = w->g;
  const int parent = w->x->tree->link[i].parent;
  if (parent == 0 && x.goes == x.n) return;
  Body *b = &w->body[i], *to = sr_sym_begins_limb(w->x->tree, i) ? &w->limbs[parent] : &w->body[parent];
  if (parent > 0) {
    sr_composite_to_parent(w->x, i, &b->rigid, &to->rigid);
    sr_articulated_to_parent(w->x, i, &b->rest, &to->rest);
    to->has_rest = to->has_rest || b->has_rest;
  }
  for (int k = x.first + x.goes; k < x.first + x.n; k++) {
    const srVec F = sr_turn_up(g, &w->x->turn[i], w->F[k].F);
    const srVec N = srx_plus(g, sr_turn_up(g, &w->x->turn[i], w->F[k].N), srx_cross3(g, w->x->p[i], F));
    add_times(g, &w->F[w->e->slot_up[k]], srx_number(g, 1), N, F);
  }
}

static void add_lanes(const Work* w, int i) {
  sr_composite_add_lanes(w->x, &w->limbs[i].rigid, &w->body[i].rigid);
  sr_articulated_add_lanes(w->x, &w->limbs[i].rest, &w->body[i].rest);
  w->body[i].has_rest = w->body[i].has_rest || w->limbs[i].has_rest;
}

static void inwards(const Work* w, const srNode* tau) {
  srNode* H = zeros(w, w->e->nslot);
  const srSymTree* tree = w->x->tree;
  for (int i = tree->n - 1; i > 0; i--) {
    const srSymLink* l = &tree->link[i];
    const Slots x = slots_of(w->e, i);
    if (sr_sym_is_elsewhere(tree, i)) continue;
    sr_sym_note(w->x, i, "articulated body");
    if (tree->lanes != NULL && !sr_sym_is_limb(tree, i)) add_lanes(w, i);
    end_groups(w, x, i);
    for (int k = sr_link_nv[l->type] - 1; k >= 0; k--) {
      const int dof = l->v + k;
      w->axis[dof] = sr_axis_of(l, k);
      for (int b = x.goes; b < x.n; b++)
        H[b] = sr_axis_project(w->g, &w->axis[dof], w->F[x.first + b].N, w->F[x.first + b].F);
      if (w->e->group[dof] >= 0)
        join(w, x, i, dof, tau[dof], H);
      else if (w->e->driver[dof] >= 0)
        drive(w, x, i, dof, H);
      else
        release(w, x, i, k, dof, tau[dof], H);
    }
    send_to_parent(w, x, i);
  }
  end_groups(w, slots_of(w->e, 0), 0);
}

// ---- from the ground --------------------------------------------------------------------------------------------------------

static void accelerate_groups(const Work* w, Slots x, srVec wd, srVec o) {
  srGraph* g = w->g;
  for (int a = x.goes - 1; a >= 0; a--) {
    const int group = w->e->slot_group[x.first + a], *row = x.product + a * x.n;
    const Wrench* F = &w->F[x.first + a];
    srNode sum = srx_sub(g, w->u[group], srx_add(g, srx_dot3(g, F->N, wd), srx_dot3(g, F->F, o)));
    for (int b = a + 1; b < x.n; b++) subtract(g, &sum, w->D[row[b]], w->a[w->e->slot_group[x.first + b]]);
    w->a[group] = srx_mul(g, sum, w->D[row[a]]);
  }
}

static srNode accelerate(const Work* w, Slots x, int k, int dof, srVec* wd, srVec* o) {
  srGraph* g = w->g;
  srAxis* s = &w->axis[dof];
  const bool member = w->e->group[dof] >= 0;
  if (!member && w->e->driver[dof] < 0) {
    for (int b = x.goes; b < x.n; b++)
      subtract(g, &s->free, w->part[w->e->slot_axis[x.first + b] + k], w->a[w->e->slot_group[x.first + b]]);
    return sr_axis_accelerate(g, s, wd, o);
  }
  const srNode lead = member ? w->a[w->e->group[dof]] : w->driven[w->e->driver[dof]];
  const srNode a = srx_mul(g, srx_number(g, w->e->ratio[dof]), lead);
  srNode* along = s->slot < 3 ? &wd->x[s->slot] : &o->x[s->slot - 3];
  *along = srx_add(g, *along, a);
  if (s->pitch != 0) o->x[2] = srx_add(g, o->x[2], srx_mul(g, srx_number(g, s->pitch), a));
  return a;
}

static void outwards(const Work* w, srNode* a) {
  srGraph* g = w->g;
  const srSymTree* tree = w->x->tree;
  srVec *wd = sr_pool_alloc(tree->pool, (size_t)tree->n * sizeof *wd),
        *o = sr_pool_alloc(tree->pool, (size_t)tree->n * sizeof *o);
  wd[0] = o[0] = srx_zero(g);
  accelerate_groups(w, slots_of(w->e, 0), wd[0], o[0]);
  for (int i = 1; i < tree->n; i++) {
    const srSymLink* l = &tree->link[i];
    const Slots x = slots_of(w->e, i);
    if (sr_sym_is_elsewhere(tree, i)) continue;
    sr_sym_note(w->x, i, "acceleration");
    wd[i] = sr_turn_down(g, &w->x->turn[i], wd[l->parent]);
    o[i] = sr_turn_down(g, &w->x->turn[i], srx_plus(g, o[l->parent], srx_cross3(g, wd[l->parent], w->x->p[i])));
    for (int k = 0; k < sr_link_nv[l->type]; k++) a[l->v + k] = accelerate(w, x, k, l->v + k, &wd[i], &o[i]);
    accelerate_groups(w, x, wd[i], o[i]);
  }
}

void sr_sym_aba_coupled(srSymPass* x, const srNode* tau, const srNode* driven, srNode* a) {
  srGraph* g = x->g;
  srPool* pool = x->tree->pool;
  const struct srElimination* e = x->tree->m->elimination;
  const size_t n = (size_t)x->tree->n;
  Work w = {.x = x, .g = g, .e = e, .driven = driven};
  w.body = sr_pool_alloc(pool, n * sizeof *w.body), w.limbs = sr_pool_alloc(pool, n * sizeof *w.limbs);
  w.axis = sr_pool_alloc(pool, ((size_t)x->tree->m->nv + 1) * sizeof *w.axis);
  w.F = sr_pool_alloc(pool, ((size_t)e->nslot + 1) * sizeof *w.F);
  w.part = zeros(&w, e->naxis), w.D = zeros(&w, e->nproduct), w.u = zeros(&w, e->ngroup), w.a = zeros(&w, e->ngroup);
  for (int i = 0; i < e->nslot; i++) w.F[i] = (Wrench){srx_zero(g), srx_zero(g)};
  sr_sym_invdyna(x, NULL, true, NULL);
  for (size_t i = 1; i < n; i++) {
    if (x->tree->lanes != NULL)
      w.limbs[i] = (Body){.rigid = sr_composite_nothing(g), .rest = sr_articulated_nothing(g)};
    if (sr_sym_is_elsewhere(x->tree, (int)i)) continue;
    w.body[i] = (Body){.rigid = {x->mass[i], x->h[i], x->J[i]}, .rest = sr_articulated_nothing(g)};
    w.body[i].rest.N = x->N[i], w.body[i].rest.F = x->F[i];
  }
  inwards(&w, tau);
  outwards(&w, a);
}

bool sr_sym_couplings_stay(const srSymTree* tree, const srSymLanes* lanes) {
  for (int i = 1; i < tree->n; i++) {
    const int parent = tree->link[i].parent;
    const Slots x = slots_of(tree->m->elimination, i);
    if (lanes->lane[i] >= 0 && (parent == 0 || lanes->lane[parent] < 0) && x.goes < x.n) return false;
  }
  return true;
}
