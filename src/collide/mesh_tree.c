// Tree of bounding boxes by the surface area heuristic with 16 bins.
//
// A range of triangles is split where area(left) n(left) + area(right) n(right) is least, of 15 planes along each axis: the expected number of
// triangles that a random box meets. Where all centres are at one place, or beyond a depth of 64, it is split in the middle.
// Source: Wald 2007 (binning); Ericson 2005, Real-Time Collision Detection, 6.2.
#include "collide/mesh_tree.h"

#include "base/base.h"

#define BINS 16
#define LEAF 4
#define DEEPEST 64

typedef struct Build {
  srMeshTree* tree;
  const srFat* fat;
  const float* centre;
} Build;

typedef struct Bin {
  srFat fat;
  int n;
} Bin;

typedef struct Split {
  int axis, bin;  // axis -1: none
  float low, scale, cost;
} Split;

static void put_in(Bin* bin, const srFat* fat, int n) {
  if (n == 0) return;
  if (bin->n == 0) {
    bin->fat = *fat;
  } else {
    sr_fat_unite(&bin->fat, fat);
  }
  bin->n += n;
}

static float cost_of(const Bin* bin) {
  const float* low = bin->fat.low;
  const float x = bin->fat.high[0] - low[0], y = bin->fat.high[1] - low[1], z = bin->fat.high[2] - low[2];
  return bin->n > 0 ? (float)bin->n * (x * y + y * z + z * x) : 0;
}

static int bin_of(const Split* split, float x) {
  const int bin = (int)((x - split->low) * split->scale);
  return bin < BINS - 1 ? bin : BINS - 1;
}

// The cheapest plane between bins along one axis, if it is cheaper than *best.
static void try_axis(const Build* b, int first, int end, int axis, Split* best) {
  float low = HUGE_VALF, high = -HUGE_VALF;
  for (int i = first; i < end; i++) {
    const float x = b->centre[3 * b->tree->order[i] + axis];
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  Split split = {.axis = axis, .low = low, .scale = (float)BINS / (high - low)};
  if (!(high > low) || !(split.scale < HUGE_VALF)) return;
  Bin bin[BINS] = {0}, left = {0};
  float right_cost[BINS] = {0};
  for (int i = first; i < end; i++) {
    const int t = b->tree->order[i];
    put_in(&bin[bin_of(&split, b->centre[3 * t + axis])], &b->fat[t], 1);
  }
  Bin right = {0};
  for (int k = BINS - 1; k > 0; k--) {
    put_in(&right, &bin[k].fat, bin[k].n);
    right_cost[k] = cost_of(&right);
  }
  for (int k = 1; k < BINS; k++) {
    put_in(&left, &bin[k - 1].fat, bin[k - 1].n);
    split.bin = k;
    split.cost = cost_of(&left) + right_cost[k];
    if (left.n > 0 && left.n < end - first && split.cost < best->cost) *best = split;
  }
}

// Triangles of the bins before the split come first. Returns where the second begins.
static int part(const Build* b, int first, int end, const Split* split) {
  int* order = b->tree->order;
  int at = first;
  for (int i = first; i < end; i++) {
    const int t = order[i];
    if (bin_of(split, b->centre[3 * t + split->axis]) >= split->bin) continue;
    order[i] = order[at];
    order[at++] = t;
  }
  return at;
}

static void put_node(const Build* b, int first, int end, int depth) {
  srMeshTree* tree = b->tree;
  srMeshNode* node = &tree->node[tree->nnode++];
  node->leaf = end - first <= LEAF ? 8 * first + end - first : -1;
  node->fat = b->fat[tree->order[first]];
  for (int i = first + 1; i < end; i++) sr_fat_unite(&node->fat, &b->fat[tree->order[i]]);
  if (node->leaf < 0) {
    Split best = {.axis = -1, .cost = HUGE_VALF};
    for (int axis = 0; axis < 3 && depth < DEEPEST; axis++) try_axis(b, first, end, axis, &best);
    const int middle = best.axis < 0 ? first + (end - first) / 2 : part(b, first, end, &best);
    put_node(b, first, middle, depth + 1);
    put_node(b, middle, end, depth + 1);
  }
  node->end = tree->nnode;
}

void sr_trimesh_tree_build(srMeshTree* tree, int n, const srFat* fat, const float* centre) {
  const Build b = {.tree = tree, .fat = fat, .centre = centre};
  tree->nnode = 0;
  for (int i = 0; i < n; i++) tree->order[i] = i;
  put_node(&b, 0, n, 0);
}
