// Is the surface of a mesh closed? Every edge is traversed as often one way as the other. Only then does it have a
// volume (math/solid.h). Edges are counted in a table of slots.
#include "model/compile.h"

typedef struct Edge {
  int from, to;  // from < to; to 0: empty
  int balance;   // times upward minus times downward
} Edge;

static void count_edge(Edge* table, uint64_t mask, int a, int b) {
  if (a == b) return;
  const int from = a < b ? a : b, to = a < b ? b : a;
  const uint64_t mixed = ((uint64_t)(uint32_t)from << 32 | (uint32_t)to) * 0x9e3779b97f4a7c15u;
  uint64_t i = mixed >> 20 & mask;
  while (table[i].to != 0 && (table[i].from != from || table[i].to != to)) i = (i + 1) & mask;
  table[i].from = from;
  table[i].to = to;
  table[i].balance += a < b ? 1 : -1;
}

bool sr_c_mesh_is_closed(srCompiler* c, const srMesh* mesh) {
  uint64_t n = 64;
  while (n < 4 * (uint64_t)mesh->ntriangle)
    n *= 2;  // a closed surface has 1.5 edges per triangle, an open one at most 3
  Edge* table = sr_pool_alloc(&c->scratch, (size_t)n * sizeof *table);
  for (int t = 0; t < mesh->ntriangle; t++) {
    const int* v = mesh->triangle + 3 * (size_t)t;
    for (int k = 0; k < 3; k++) count_edge(table, n - 1, v[k], v[(k + 1) % 3]);
  }
  for (uint64_t i = 0; i < n; i++)
    if (table[i].balance != 0) return false;
  return true;
}
