// Spanning forests of bodies and rows. A row left over costs as much as a column of a dense matrix, so that the joints take as many of
// the kept rows as they can: a spanning forest of largest weight, the weight of a link being the number of its kept rows (Kruskal 1956;
// the weights are 6 .. 1). From the ground outwards, floating trees from one of their bodies.
#include "math/saddle_forest.h"

#include <string.h>

#include "base/base.h"

#define BODY SRM_BODY

// ---- pattern ----------------------------------------------------------------------------------------------------------

static bool has_bodies(const srmPattern* M) {
  if (M->nrow % BODY != 0 || srm_pattern_count(M) != M->nrow * BODY) return false;
  for (int i = 0; i < M->nrow; ++i) {
    if (M->row[i] != i * BODY || M->column[i * BODY] != i / BODY * BODY) return false;
    if (M->column[i * BODY + BODY - 1] != i / BODY * BODY + BODY - 1) return false;
  }
  return true;
}

// Is every row over whole blocks of columns?
static bool has_blocks(const srmPattern* G) {
  for (int k = 0; k < G->nrow; ++k) {
    const int first = G->row[k], count = G->row[k + 1] - first;
    if (count == 0 || count % BODY != 0) return false;
    for (int i = 0; i < count; i += BODY) {
      const int* column = G->column + first + i;
      if (column[0] % BODY != 0 || column[BODY - 1] != column[0] + BODY - 1) return false;
    }
  }
  return true;
}

// The link of a pair, which is made where there is none; those of the same first body are chained by `next`.
static int find_link(srmForest* f, int a, int b, int* first, int* next) {
  for (int i = first[a]; i >= 0; i = next[i]) {
    if (f->pair[2 * i + 1] == b) return i;
  }
  const int link = f->nlink++;
  f->pair[2 * link] = a;
  f->pair[2 * link + 1] = b;
  next[link] = first[a];
  first[a] = link;
  return link;
}

// n lists of what `of` (m entries, -1: in none) assigns to them.
static void make_lists(int n, int m, const int* of, int* start, int* list) {
  memset(start, 0, ((size_t)n + 2) * sizeof *start);
  for (int i = 0; i < m; ++i) {
    if (of[i] >= 0) ++start[of[i] + 2];
  }
  for (int i = 0; i <= n; ++i) start[i + 1] += start[i];
  for (int i = 0; i < m; ++i) {
    if (of[i] >= 0) list[start[of[i] + 1]++] = i;
  }
}

static int set_of(const int* member, int i) {
  while (member[i] != i) i = member[i];
  return i;
}

// Are the two ends of a link in different sets? Then these are joined. The ground is the body after the last.
static bool join(srmForest* f, int link) {
  const int b = f->pair[2 * link + 1];
  const int one = set_of(f->member, f->pair[2 * link]), other = set_of(f->member, b < 0 ? f->nbody : b);
  const bool apart = one != other;
  if (apart) f->member[one < other ? one : other] = one < other ? other : one;
  return apart;
}

static void separate(srmForest* f) {
  for (int i = 0; i <= f->nbody; ++i) f->member[i] = i;
}

static bool has_loops(srmForest* f) {
  bool loops = false;
  separate(f);
  for (int i = 0; i < f->nlink; ++i) loops |= !join(f, i) || f->link_start[i + 1] - f->link_start[i] > BODY;
  for (int k = 0; k < f->ng; ++k) loops |= f->row_link[k] < 0;
  return loops;
}

static void find_links(srmForest* f, const srmPattern* G) {
  int *first = f->member, *next = f->weight;
  for (int i = 0; i < f->nbody; ++i) first[i] = -1;
  for (int k = 0; k < f->ng; ++k) {
    const int at = G->row[k], count = G->row[k + 1] - at, second = count > BODY ? G->column[at + BODY] / BODY : -1;
    f->row_link[k] = count > 2 * BODY ? -1 : find_link(f, G->column[at] / BODY, second, first, next);
  }
  make_lists(f->nlink, f->ng, f->row_link, f->link_start, f->link_row);
  make_lists(f->nbody, 2 * f->nlink, f->pair, f->end_start, f->end);
}

// ---- life -------------------------------------------------------------------------------------------------------------

void srm_forest_destroy(srmForest* f) {
  if (f == NULL) return;
  int* parts[] = {f->pair,  f->link_start, f->link_row, f->row_link, f->end_start, f->end,   f->order,
                  f->place, f->parent,     f->joint,    f->chosen,   f->weight,    f->member};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_free(f);
}

static bool allocate(srmForest* f) {
  const size_t n = (size_t)f->nbody, ng = (size_t)f->ng;
  return srm_take_ints(&f->pair, 2 * ng) && srm_take_ints(&f->link_start, ng + 2) && srm_take_ints(&f->link_row, ng) &&
         srm_take_ints(&f->row_link, ng) && srm_take_ints(&f->end_start, n + 2) && srm_take_ints(&f->end, 2 * ng) &&
         srm_take_ints(&f->order, n) && srm_take_ints(&f->place, n) && srm_take_ints(&f->parent, n) &&
         srm_take_ints(&f->joint, n) && srm_take_ints(&f->chosen, ng) && srm_take_ints(&f->weight, ng) &&
         srm_take_ints(&f->member, n + 1);
}

bool srm_forest_create(const srmPattern* M, const srmPattern* G, srmForest** out) {
  *out = NULL;
  if (M == NULL || G == NULL || G->nrow == 0 || !has_bodies(M) || !has_blocks(G)) return true;
  srmForest* f = sr_alloc(sizeof *f);
  if (f == NULL) return false;
  *f = (srmForest){.nbody = M->nrow / BODY, .ng = G->nrow};
  if (!allocate(f)) {
    srm_forest_destroy(f);
    return false;
  }
  find_links(f, G);
  f->loops = has_loops(f);
  *out = f;
  return true;
}

// ---- choice -----------------------------------------------------------------------------------------------------------

// Links that are joints keep their weight, the others lose it.
static void choose_joints(srmForest* f, const unsigned char* kept) {
  for (int i = 0; i < f->nlink; ++i) {
    int n = 0;
    for (int k = f->link_start[i]; k < f->link_start[i + 1]; ++k) n += kept[f->link_row[k]] != 0;
    f->weight[i] = n < BODY ? n : BODY;
  }
  separate(f);
  for (int w = BODY; w > 0; --w) {
    for (int i = 0; i < f->nlink; ++i) {
      if (f->weight[i] == w && !join(f, i)) f->weight[i] = 0;
    }
  }
}

static void add_body(srmForest* f, int body, int parent, int joint, int* count) {
  f->place[body] = *count;
  f->order[*count] = body;
  f->parent[*count] = parent;
  f->joint[(*count)++] = joint;
}

static int ground_joint(const srmForest* f, int body) {
  for (int at = f->end_start[body]; at < f->end_start[body + 1]; ++at) {
    const int link = f->end[at] / 2;
    if (f->weight[link] > 0 && f->pair[2 * link + 1] < 0) return link;
  }
  return -1;
}

// The bodies on joints to the one at a place, but for the one that it is on itself.
static void visit(srmForest* f, int at_place, int* count) {
  const int body = f->order[at_place];
  for (int at = f->end_start[body]; at < f->end_start[body + 1]; ++at) {
    const int link = f->end[at] / 2, next = f->pair[f->end[at] ^ 1];
    if (f->weight[link] > 0 && next >= 0 && f->place[next] < 0) add_body(f, next, at_place, link, count);
  }
}

static void order_bodies(srmForest* f) {
  int head = 0, count = 0;
  for (int i = 0; i < f->nbody; ++i) f->place[i] = -1;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < f->nbody; ++i) {
      const int joint = pass == 0 ? ground_joint(f, i) : -1;
      if (f->place[i] >= 0 || (pass == 0 && joint < 0)) continue;
      add_body(f, i, -1, joint, &count);
      for (; head < count; ++head) visit(f, head, &count);
    }
  }
}

void srm_forest_choose(srmForest* f, const unsigned char* kept) {
  choose_joints(f, kept);
  order_bodies(f);
  for (int i = 0; i < f->nlink; ++i) {
    for (int k = f->link_start[i], n = 0; k < f->link_start[i + 1]; ++k) {
      const int row = f->link_row[k];
      f->chosen[row] = f->weight[i] > 0 && kept[row] != 0 && n < BODY;
      n += f->chosen[row];
    }
  }
  f->ncut = 0;
  for (int k = 0; k < f->ng; ++k) {
    if (f->row_link[k] < 0) f->chosen[k] = 0;
    f->ncut += kept[k] != 0 && f->chosen[k] == 0;
  }
}
