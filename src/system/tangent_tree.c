// The recursion of dynamics/tree_tangent.c for a model: which unknowns are eliminated together, and what the force elements contribute.
//
// Unknowns are coordinates and states. Those of one link belong together, and so do those that a force element, a force law or the rate of a
// state couples by an entry of Kq or Kv. The recursion applies where every such block has the coordinates of one link at most: springs,
// dampers, friction, limits, motors and their states in the joints. An element between bodies, or a force law that refers to another joint, does
// not fit: then the matrices are formed.
#include <string.h>

#include "dynamics/link.h"
#include "model/private.h"
#include "system/tangent.h"

#define NEW(x, type, n) ((type*)sr_pool_alloc(&(x)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))
#define MOST_ENTRIES 256  // per unknown, beyond which elements cannot be local

// ---- blocks -------------------------------------------------------------------------------------------------------------

static int root_of(int* leader, int i) {
  while (leader[i] != i) i = leader[i] = leader[leader[i]];
  return i;
}

// The lower number leads: coordinates lead states.
static void join(int* leader, int i, int j) {
  const int a = root_of(leader, i), b = root_of(leader, j);
  if (a < b) leader[b] = a;
  if (b < a) leader[a] = b;
}

static void join_all(const srModelTangent* x, const int* pair, size_t count, int* leader) {
  const srModel* m = x->m;
  for (int i = 0; i < x->n; i++) leader[i] = i;
  for (int i = 1; i < m->nlink; i++) {
    for (int k = 1; k < sr_link_nv[m->link_type[i]]; k++) join(leader, m->link_v[i], m->link_v[i] + k);
  }
  for (size_t i = 0; i < count; i++) join(leader, pair[2 * i], pair[2 * i + 1]);
}

// size: unknowns of each leader. False: a block with coordinates of two links, or a large one.
static bool blocks_fit(const srModelTangent* x, int* leader, int* size) {
  const srModel* m = x->m;
  int leaders = 0;
  for (int i = 0; i < x->n; i++) size[root_of(leader, i)]++;
  for (int i = 0; i < x->n; i++) {
    if (size[i] > SR_TREE_BLOCK) return false;
    if (i < m->nv && size[i] > 0) leaders++;
  }
  int links = 0;
  for (int i = 1; i < m->nlink; i++) links += sr_link_nv[m->link_type[i]] > 0;
  return leaders == links;
}

static void add_block(srModelTangent* x, int first, const int* size, int* of) {
  srTreeTangent* t = x->tree;
  srTreeBlock* b = &t->block[t->nblock];
  *b = (srTreeBlock){.index = NEW(x, int, size[first])};
  of[first] = t->nblock++;
}

// Blocks in the order of their leaders; unknowns in theirs, so that coordinates come first. at (n): index of each unknown in its block.
static void make_blocks(srModelTangent* x, int* leader, const int* size, int* of, int* at) {
  const srModel* m = x->m;
  srTreeTangent* t = x->tree;
  int nblock = 0, local = 0, number = 0, pivot = 0;
  for (int i = 0; i < x->n; i++) nblock += size[i] > 0;
  t->block = NEW(x, srTreeBlock, nblock);
  t->block_of = NEW(x, int, m->nlink);
  for (int i = 0; i < x->n; i++) {
    const int first = root_of(leader, i);
    if (first == i) add_block(x, first, size, of);
    of[i] = of[first];
    srTreeBlock* b = &t->block[of[i]];
    at[i] = b->n;
    b->index[b->n++] = i;
    b->nv += i < m->nv;
  }
  for (int i = 0; i < m->nlink; i++) {
    t->block_of[i] = i > 0 && sr_link_nv[m->link_type[i]] > 0 ? of[m->link_v[i]] : -1;
    if (t->block_of[i] >= 0) t->block[t->block_of[i]].link = i;
  }
  for (int i = 0; i < t->nblock; i++) {
    srTreeBlock* b = &t->block[i];
    b->local = local;
    b->number = number;
    b->pivot = pivot;
    local += b->n * b->n;
    number += sr_tree_block_numbers(b);
    pivot += b->n;
  }
  t->Kq = NEW(x, double, local);
  t->Kv = NEW(x, double, local);
  x->count = (size_t)local;
  for (int k = 0; k < 2; k++) {
    x->factor[k] = (srTreeFactor){.parts = k + 1,
                                  .W = NEW(x, double, (k + 1) * sr_tree_factor_links(t)),
                                  .number = NEW(x, double, (k + 1) * number),
                                  .pivot = NEW(x, int, pivot)};
  }
}

static void make_room(srModelTangent* x) {
  const srModel* m = x->m;
  srTreeTangent* t = x->tree;
  t->link = NEW(x, double, sr_tree_link_numbers(m));
  t->dof = NEW(x, double, sr_tree_dof_numbers(m));
  t->turn = NEW(x, double, 6 * m->nv);
  t->force = NEW(x, double, 6 * m->nlink);
  t->arm = NEW(x, double, 4 * m->nlink);
  t->e = NEW(x, double, 36 * m->nlink);
  t->w = NEW(x, double, 12 * m->nlink);
  t->u = NEW(x, double, 2 * x->n);
}

bool sr_tangent_tree_prepare(srModelTangent* x) {
  const srModel* m = x->m;
  if (m->constrained || m->absolute || m->ng > 0 || m->nset > 0) return false;
  x->entries = (srmEntries){0};
  (void)sr_tangent_forces(x, NULL, 0, NULL, NULL);
  const size_t count = x->entries.next;
  if (count > (size_t)MOST_ENTRIES * (size_t)x->n) return false;
  // The lists below are needed at creation only, and stay in the pool: eight numbers per unknown.
  int* pair = NEW(x, int, (int)(2 * count));
  int *leader = NEW(x, int, x->n), *size = NEW(x, int, x->n), *of = NEW(x, int, x->n), *at = NEW(x, int, x->n);
  x->entries = (srmEntries){.pair = pair};
  (void)sr_tangent_forces(x, NULL, 0, NULL, NULL);
  x->entries = (srmEntries){0};
  join_all(x, pair, count, leader);
  if (!blocks_fit(x, leader, size)) return false;
  x->tree = NEW(x, srTreeTangent, 1);
  x->tree->m = m;
  x->tree->ny = m->ny;
  make_blocks(x, leader, size, of, at);
  make_room(x);
  int* place = NEW(x, int, (int)count);
  for (size_t i = 0; i < count; i++) {
    const int row = pair[2 * i], column = pair[2 * i + 1];
    const srTreeBlock* b = &x->tree->block[of[row]];
    place[i] = b->local + at[row] * b->n + at[column];
  }
  x->entries = (srmEntries){.place = place, .A = x->tree->Kq, .B = x->tree->Kv};
  return true;
}

// ---- evaluation -----------------------------------------------------------------------------------------------------------

int sr_tangent_tree_evaluate(srModelTangent* x, srData* d, double tau, const double* a, double* diagonal) {
  memset(x->tree->Kq, 0, x->count * sizeof *x->tree->Kq);
  memset(x->tree->Kv, 0, x->count * sizeof *x->tree->Kv);
  sr_tangent_variables(x, d);
  sr_tangent_formula_values(x, d);
  x->entries.next = 0;
  const int answer = sr_tangent_forces(x, d, tau, a, NULL);
  if (answer == 0) sr_tree_evaluate(x->tree, d, a, diagonal);
  return answer;
}
