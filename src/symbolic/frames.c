// Computational frames of all links, by coordinate descent on the number of operations: each link in turn tries its frames (tree.h) and whether it carries the third column of U (invdyna.c), and keeps what makes the code shorter.
// The work is bounded by the number of nodes that are built, not by time: same input, same code.
#include <string.h>

#include "symbolic/frames.h"
#include "symbolic/lanes.h"

#define BUDGET 400000  // nodes
#define ROUNDS 4

typedef struct Known {
  const unsigned char* choice;  // frame and column of each link
  long price;
  int size;  // nodes
} Known;

typedef struct Search {
  srSymTree* tree;
  srSymBuild build;
  const void* user;
  int nout;
  long spent;
  srPool work;  // of one build
  unsigned char* choice;
  Known* known;
  int nknown, capacity, largest;
} Search;

long sr_sym_price(const srOperations* o) {
  return o->add + o->mul - o->fused + 4 * o->div + 12 * o->angle + 4 * o->other;
}

static const Known* find(Search* s) {
  const size_t n = (size_t)s->tree->n;
  for (int i = 1; i < s->tree->n; i++)
    s->choice[i] = (unsigned char)(2 * (int)s->tree->link[i].frame + s->tree->link[i].carries);
  for (int k = s->nknown - 1; k >= 0; k--) {
    if (memcmp(s->known[k].choice, s->choice, n) == 0) return &s->known[k];
  }
  return NULL;
}

static Known price_anew(Search* s) {
  Known out = {.choice = NULL};
  srSymTree tree = *s->tree;
  tree.pool = &s->work;
  srGraph* g = sr_graph_create(tree.pool);
  sr_graph_reserve(g, s->largest + s->largest / 8);
  srNode* node = sr_pool_alloc(tree.pool, ((size_t)s->nout + 1) * sizeof *node);
  s->build(sr_sym_pass(g, tree.pool, &tree), s->user, node);
  out.size = sr_graph_size(g);
  const srOperations o = sr_code_count(tree.pool, sr_code_create(tree.pool, g, node, s->nout));
  out.price = sr_sym_price(&o);
  s->largest = out.size > s->largest ? out.size : s->largest;
  sr_pool_empty(&s->work);
  return out;
}

static long cost(Search* s) {
  const Known* known = find(s);
  if (known == NULL) {
    Known now = price_anew(s);
    unsigned char* choice = sr_pool_alloc(s->tree->pool, (size_t)s->tree->n);
    memcpy(choice, s->choice, (size_t)s->tree->n);
    now.choice = choice;
    SR_PUSH(s->tree->pool, s->known, s->nknown, s->capacity) = now;
    known = &s->known[s->nknown - 1];
  }
  s->spent += known->size;
  return known->price;
}

static bool may_be(const srSymTree* tree, const srSymLink* l, srSymFrame frame, bool carries) {
  const bool revolute = l->type == SR_LINK_REVOLUTE;
  if ((carries && !revolute) || (tree->own_axes && frame != SR_FRAME_BODY)) return false;
  if (frame == SR_FRAME_PARENT) return (revolute || l->type == SR_LINK_PRISMATIC) && sr_sym_is_parallel(l);
  return frame == SR_FRAME_BODY || revolute;
}

static bool improve(Search* s, int i, long* best) {
  srSymLink* l = &s->tree->link[i];
  bool better = false;
  srSymFrame frame = l->frame;
  bool carries = l->carries;
  for (int k = 0; k < 6; k++) {
    const srSymFrame try_frame = (srSymFrame)(k % 3);
    const bool try_carries = k >= 3;
    if ((try_frame == frame && try_carries == carries) || !may_be(s->tree, l, try_frame, try_carries)) continue;
    l->frame = try_frame, l->carries = try_carries;
    const long now = cost(s);
    if (now < *best) *best = now, frame = try_frame, carries = try_carries, better = true;
  }
  l->frame = frame, l->carries = carries;
  return better;
}

static void start(srSymTree* tree, int kind) {
  for (int i = 1; i < tree->n; i++) {
    srSymLink* l = &tree->link[i];
    l->frame = kind == 2 && may_be(tree, l, SR_FRAME_PARENT, false) ? SR_FRAME_PARENT : SR_FRAME_BODY;
    l->carries = kind >= 1 && may_be(tree, l, l->frame, true);
  }
}

long sr_sym_choose_frames(srSymTree* tree, srSymBuild build, const void* user, int nout) {
  Search s = {.tree = tree, .build = build, .user = user, .nout = nout};
  s.work.on_fail = tree->pool->on_fail;
  s.choice = sr_pool_alloc(tree->pool, (size_t)tree->n);
  srSymLink* kept = sr_pool_alloc(tree->pool, (size_t)tree->n * sizeof *kept);
  long least = -1;
  for (int kind = 0; kind < 3; kind++) {
    start(tree, kind);
    long best = cost(&s);
    bool better = true;
    for (int round = 0; round < ROUNDS && better && s.spent < (kind + 1) * (BUDGET / 3); round++) {
      better = false;
      for (int i = tree->n - 1; i > 0 && s.spent < (kind + 1) * (BUDGET / 3); i--)
        better = (!sr_sym_is_elsewhere(tree, i) && improve(&s, i, &best)) || better;
    }
    if (least >= 0 && best >= least) continue;
    least = best;
    memcpy(kept, tree->link, (size_t)tree->n * sizeof *kept);
  }
  memcpy(tree->link, kept, (size_t)tree->n * sizeof *kept);
  sr_pool_free(&s.work);
  return least;
}
