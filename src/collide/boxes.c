// Broad phase by a linear bounding-volume hierarchy (LBVH).
//
// The centres of the boxes are quantised to 2^10 cells an axis and sorted by Morton code with a radix sort; a node splits its range where
// the highest bit that differs changes. Boxes of equal code are quantised anew within their own range, so that a few far outliers
// do not put all the others into one cell. Pairs come from one traversal of the tree against itself.
// Node boxes are relative to the centre of the box in the middle of the order: where most boxes are, single precision is finest.
// Source: Karras 2012 (Morton order, split at the highest differing bit); Ericson 2005, Real-Time Collision Detection, 6.6 (traversal).
#include "collide/boxes.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "collide/fat.h"

#define LEAF 4       // most boxes of a leaf
#define BITS 10      // of the Morton code, on each axis
#define CELLS 1024   // 2^BITS
#define SHORT 32     // so many boxes are sorted by insertion
#define WIDEST 1e38  // a box that reaches so far is unbounded

// In depth-first order: the left child of an inner node follows it.
typedef struct Node {
  srFat fat;
  int right;  // the right child; 0: a leaf
  int first;  // its boxes: `first` of the order, and the next ones up to that of the node's end
} Node;

// A box in the order of the tree.
typedef struct Member {
  srFat fat;
  int index, end;  // end: at the first of a leaf, where the leaf ends
} Member;

struct srBoxTree {
  int most, n;         // n: boxes of the last build
  int nmember, nwide;  // those in the tree, those that are unbounded
  double margin, origin[3];
  Node* node;       // 2 most
  Member* member;   // most
  uint64_t* key;    // most: Morton code, index
  uint64_t* spare;  // most
  double* centre;   // most x 3
  int* wide;        // most: indices of unbounded boxes
  double* bounds;   // most x 6: fat boxes by index, in double precision: low, high
  int nnode;
};

srBoxTree* sr_boxes_create(int most) {
  const size_t n = (size_t)most + 1, head = (sizeof(srBoxTree) + 31) / 32 * 32;
  const size_t each = 2 * sizeof(Node) + sizeof(Member) + 2 * sizeof(uint64_t) + 9 * sizeof(double) + sizeof(int);
  char* block = sr_alloc(head + n * each);
  if (block == NULL) return NULL;
  srBoxTree* tree = (srBoxTree*)(void*)block;
  tree->most = most;
  tree->n = -1;
  tree->node = (Node*)(void*)(block + head);
  tree->member = (Member*)(void*)(tree->node + 2 * n);
  tree->key = (uint64_t*)(void*)(tree->member + n);
  tree->spare = tree->key + n;
  tree->centre = (double*)(void*)(tree->spare + n);
  tree->bounds = tree->centre + 3 * n;
  tree->wide = (int*)(void*)(tree->bounds + 6 * n);
  return tree;
}

void sr_boxes_destroy(srBoxTree* tree) { sr_free(tree); }

// ---- fat boxes --------------------------------------------------------------------------------------------------------

static bool overlap_by_index(const srBoxTree* tree, int i, int j) {
  const double *a = tree->bounds + 6 * i, *b = tree->bounds + 6 * j;
  for (int k = 0; k < 3; k++) {
    if (!(a[k] <= b[3 + k] && b[k] <= a[3 + k])) return false;
  }
  return true;
}

typedef enum Extent { NOWHERE, BOUNDED, UNBOUNDED } Extent;

static Extent extent_of(const double* low, const double* high) {
  Extent extent = BOUNDED;
  for (int k = 0; k < 3; k++) {
    if (!(low[k] <= high[k] && low[k] < HUGE_VAL && high[k] > -HUGE_VAL)) return NOWHERE;
    if (low[k] < -WIDEST || high[k] > WIDEST) extent = UNBOUNDED;
  }
  return extent;
}

// Sorts the boxes into those of the tree and those outside of it.
static void take_boxes(srBoxTree* tree, const srBoxes* boxes, double margin) {
  tree->n = boxes->n;
  tree->margin = margin;
  tree->nmember = tree->nwide = tree->nnode = 0;
  for (int i = 0; i < boxes->n; i++) {
    const double *low = boxes->low + 3 * i, *high = boxes->high + 3 * i;
    const Extent extent = extent_of(low, high);
    double* out = tree->bounds + 6 * i;
    for (int k = 0; k < 3; k++) {
      out[k] = extent == NOWHERE ? (double)NAN : low[k] - 0.5 * margin;  // near nothing, and within nothing
      out[3 + k] = extent == NOWHERE ? (double)NAN : high[k] + 0.5 * margin;
      tree->centre[3 * i + k] = 0.5 * low[k] + 0.5 * high[k];
    }
    if (extent == BOUNDED) tree->key[tree->nmember++] = (uint64_t)i;
    if (extent == UNBOUNDED) tree->wide[tree->nwide++] = i;
  }
}

// ---- Morton order -----------------------------------------------------------------------------------------------------

// Two zeros before every bit of the BITS of x.
static uint32_t spread(uint32_t x) {
  x = (x | x << 16) & 0x030000FFu;
  x = (x | x << 8) & 0x0300F00Fu;
  x = (x | x << 4) & 0x030C30C3u;
  return (x | x << 2) & 0x09249249u;
}

static uint32_t code_of(uint64_t key) { return (uint32_t)(key >> 32); }

static int index_of(uint64_t key) { return (int)(uint32_t)key; }

// The codes of a range within the box of its centres. False: all of them are at one place.
static bool put_codes(srBoxTree* tree, int first, int end) {
  double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, scale[3];
  for (int i = first; i < end; i++) {
    const double* x = tree->centre + 3 * index_of(tree->key[i]);
    for (int k = 0; k < 3; k++) {
      low[k] = x[k] < low[k] ? x[k] : low[k];
      high[k] = x[k] > high[k] ? x[k] : high[k];
    }
  }
  // One cell size for all axes: cells are cubes, and a flat heap is not split along its height first.
  const double side = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
  if (!(side > 0x1p-1000)) return false;  // its inverse is finite
  for (int k = 0; k < 3; k++) scale[k] = CELLS * (1 - 0x1p-40) / side;
  for (int i = first; i < end; i++) {
    const int index = index_of(tree->key[i]);
    const double* x = tree->centre + 3 * index;
    uint32_t code = 0;
    for (int k = 0; k < 3; k++) code |= spread((uint32_t)(scale[k] * (x[k] - low[k]))) << k;
    tree->key[i] = (uint64_t)code << 32 | (uint32_t)index;
  }
  return true;
}

static void sort_few(uint64_t* key, int n) {
  for (int i = 1; i < n; i++) {
    const uint64_t x = key[i];
    int j = i;
    for (; j > 0 && key[j - 1] > x; j--) key[j] = key[j - 1];
    key[j] = x;
  }
}

// By code; equal ones keep their order.
static void sort_by_digits(uint64_t* key, uint64_t* spare, int n) {
  for (int digit = 0; digit < 3; digit++) {
    int start[CELLS] = {0}, at = 0;
    const int shift = 32 + BITS * digit;
    for (int i = 0; i < n; i++) start[key[i] >> shift & (CELLS - 1)]++;
    for (int k = 0; k < CELLS; k++) {
      const int count = start[k];
      start[k] = at;
      at += count;
    }
    for (int i = 0; i < n; i++) spare[start[key[i] >> shift & (CELLS - 1)]++] = key[i];
    memcpy(key, spare, (size_t)n * sizeof *key);
  }
}

static bool put_in_order(srBoxTree* tree, int first, int end) {
  if (!put_codes(tree, first, end)) return false;
  if (end - first <= SHORT) {
    sort_few(tree->key + first, end - first);
  } else {
    sort_by_digits(tree->key + first, tree->spare, end - first);
  }
  return true;
}

// ---- the tree ---------------------------------------------------------------------------------------------------------

// Where a range of the order is split: before the first key with the highest bit that differs; where all codes are equal, after they are
// computed anew, or else in the middle.
static int find_split(srBoxTree* tree, int first, int end) {
  const uint64_t* key = tree->key;
  if (code_of(key[first]) == code_of(key[end - 1]) && !put_in_order(tree, first, end)) return first + (end - first) / 2;
  const uint32_t differ = code_of(key[first]) ^ code_of(key[end - 1]);
  uint32_t bit = differ;
  while (bit & (bit - 1)) bit &= bit - 1;  // the highest one
  int low = first, high = end - 1;         // key[low] has it not, key[high] has
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (code_of(key[middle]) & bit) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return high;
}

static void put_leaf(srBoxTree* tree, Node* node, int first, int end) {
  for (int i = first; i < end; i++) {
    Member* member = &tree->member[i];
    member->index = index_of(tree->key[i]);
    member->end = end;
    for (int k = 0; k < 3; k++) {
      const double* bounds = tree->bounds + 6 * member->index;
      member->fat.low[k] = sr_fat_below(bounds[k] - tree->origin[k]);
      member->fat.high[k] = sr_fat_above(bounds[3 + k] - tree->origin[k]);
    }
    if (i == first) {
      node->fat = member->fat;
    } else {
      sr_fat_unite(&node->fat, &member->fat);
    }
  }
}

// Returns the index of the node. As deep as there are bits that differ, in every quantisation.
static int put_node(srBoxTree* tree, int first, int end) {
  const int index = tree->nnode++;
  Node* node = &tree->node[index];
  node->first = first;
  node->right = 0;
  if (end - first <= LEAF) {
    put_leaf(tree, node, first, end);
    return index;
  }
  const int split = find_split(tree, first, end);
  const int left = put_node(tree, first, split);
  node->right = put_node(tree, split, end);
  node->fat = tree->node[left].fat;
  sr_fat_unite(&node->fat, &tree->node[node->right].fat);
  return index;
}

void sr_boxes_build(srBoxTree* tree, const srBoxes* boxes, double margin) {
  SR_ASSERT(boxes->n <= tree->most);
  take_boxes(tree, boxes, margin);
  if (tree->nmember == 0) return;
  (void)put_in_order(tree, 0, tree->nmember);
  const int middle = index_of(tree->key[tree->nmember / 2]);
  memcpy(tree->origin, tree->centre + 3 * middle, sizeof tree->origin);
  (void)put_node(tree, 0, tree->nmember);
}

bool sr_boxes_update(srBoxTree* tree, const srBoxes* boxes, double margin) {
  bool within = tree->n == boxes->n && tree->margin == margin;
  for (int i = 0; i < boxes->n && within; i++) {
    const double *low = boxes->low + 3 * i, *high = boxes->high + 3 * i, *fat = tree->bounds + 6 * i;
    const bool nowhere = extent_of(low, high) == NOWHERE;
    for (int k = 0; k < 3; k++) within &= nowhere || (fat[k] <= low[k] && high[k] <= fat[3 + k]);
  }
  if (!within) sr_boxes_build(tree, boxes, margin);
  return !within;
}

// ---- pairs ------------------------------------------------------------------------------------------------------------

typedef struct Search {
  const srBoxTree* tree;
  bool (*pair)(void* user, int i, int j);
  void* user;
  long tested;
  bool ended;
} Search;

static void give(Search* s, int i, int j) { s->ended = !s->pair(s->user, i > j ? i : j, i > j ? j : i); }

static void pair_leaves(Search* s, const Node* a, const Node* b) {
  const Member* member = s->tree->member;
  const int end_a = member[a->first].end, end_b = member[b->first].end;
  for (int i = a->first; i < end_a; i++) {
    if (a != b && !sr_fat_overlap(&member[i].fat, &b->fat)) continue;
    for (int j = a == b ? i + 1 : b->first; j < end_b && !s->ended; j++) {
      s->tested++;
      if (sr_fat_overlap(&member[i].fat, &member[j].fat)) give(s, member[i].index, member[j].index);
    }
  }
}

static float size_of(const srFat* x) {
  return x->high[0] - x->low[0] + x->high[1] - x->low[1] + x->high[2] - x->low[2];
}

// Two different nodes: the larger one is split.
static void pair_nodes(Search* s, const Node* a, const Node* b) {
  s->tested++;
  if (s->ended || !sr_fat_overlap(&a->fat, &b->fat)) return;
  const bool split_a = a->right > 0 && (b->right == 0 || size_of(&a->fat) >= size_of(&b->fat));
  if (split_a) {
    pair_nodes(s, a + 1, b);
    pair_nodes(s, s->tree->node + a->right, b);
  } else if (b->right > 0) {
    pair_nodes(s, a, b + 1);
    pair_nodes(s, a, s->tree->node + b->right);
  } else {
    pair_leaves(s, a, b);
  }
}

static void pair_within(Search* s, const Node* a) {
  if (s->ended) return;
  if (a->right == 0) {
    pair_leaves(s, a, a);
    return;
  }
  pair_within(s, a + 1);
  pair_within(s, s->tree->node + a->right);
  pair_nodes(s, a + 1, s->tree->node + a->right);
}

// Unbounded boxes with all others, each pair of two unbounded ones once.
static void pair_wide(Search* s) {
  const srBoxTree* tree = s->tree;
  for (int k = 0; k < tree->nwide; k++) {
    int before = 0;  // unbounded ones before k
    for (int j = 0; j < tree->n && !s->ended; j++) {
      const bool wide = before < tree->nwide && tree->wide[before] == j;
      if (wide && ++before > k) continue;
      s->tested++;
      if (overlap_by_index(tree, tree->wide[k], j)) give(s, tree->wide[k], j);
    }
  }
}

long sr_boxes_pairs(const srBoxTree* tree, bool (*pair)(void* user, int i, int j), void* user) {
  Search s = {.tree = tree, .pair = pair, .user = user};
  pair_wide(&s);
  if (tree->nmember > 0) pair_within(&s, tree->node);
  return s.tested;
}
