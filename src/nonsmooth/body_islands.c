// Union-find over the bodies of contacts (body_islands.h). The root of a set is its first body, whoever unites it: the islands do not depend on the number of members.
#include "nonsmooth/body_islands.h"

#include <string.h>

#include "base/base.h"

// What a member has of each body: its forest, the contacts, and those of these that it counts for its island.
typedef struct Own {
  int *parent, *sides, *contacts;
} Own;

typedef struct Share {
  const Own* own;
  const int (*end)[2];
  int nbody;
} Share;

// The forest of the first member becomes that of all.
srBodyIslands* sr_body_islands_create(int most, int members) {
  srBodyIslands* x = sr_alloc(sizeof *x);
  if (x == NULL) return NULL;
  if (members > SR_TEAM_MOST) members = SR_TEAM_MOST;
  x->root = sr_alloc((3 * (size_t)most * (size_t)members + 1) * sizeof *x->root);
  Own* own = x->own = sr_alloc((size_t)members * sizeof *own);
  if (x->root == NULL || own == NULL) {
    sr_body_islands_destroy(x);
    return NULL;
  }
  for (int k = 0; k < members; ++k) {
    own[k].parent = x->root + 3 * (size_t)most * (size_t)k;
    own[k].sides = own[k].parent + most;
    own[k].contacts = own[k].sides + most;
  }
  x->sides = own[0].sides;
  x->contacts = own[0].contacts;
  return x;
}

void sr_body_islands_destroy(srBodyIslands* x) {
  if (x == NULL) return;
  sr_free(x->root);
  sr_free(x->own);
  sr_free(x);
}

static int root_of(int* parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void unite(int* parent, int i, int j) {
  if (parent[i] == parent[j]) return;
  const int a = root_of(parent, i), b = root_of(parent, j);
  parent[a > b ? a : b] = a < b ? a : b;
}

static void unite_range(void* user, int member, int from, int to) {
  const Share* of = user;
  const Own* own = &of->own[member];
  const size_t size = (size_t)of->nbody * sizeof(int);
  memset(own->sides, 0, size);
  memset(own->contacts, 0, size);
  for (int i = 0; i < of->nbody; ++i) own->parent[i] = i;
  for (int i = from; i < to; ++i) {
    const int a = of->end[i][0], b = of->end[i][1];
    if (a < 0 && b < 0) continue;
    ++own->contacts[sr_body_of_contact(of->end[i])];
    if (a >= 0) ++own->sides[a];
    if (b >= 0) ++own->sides[b];
    if (a >= 0 && b >= 0) unite(own->parent, a, b);
  }
}

void sr_body_islands_find(srBodyIslands* x, int nbody, const int (*end)[2], int count, srTeam* team) {
  const Own* own = x->own;
  sr_team_loop(team, count, unite_range, &(Share){.own = own, .end = end, .nbody = nbody});
  for (int k = 1; k < sr_team_hands(team, count); ++k) {
    for (int i = 0; i < nbody; ++i) {
      x->sides[i] += own[k].sides[i];
      x->contacts[i] += own[k].contacts[i];
      if (own[k].parent[i] != i) unite(x->root, i, own[k].parent[i]);
    }
  }
  for (int i = 0; i < nbody; ++i) {
    const int root = x->root[i] = x->root[x->root[i]];  // parents come first
    if (root == i) continue;
    x->contacts[root] += x->contacts[i];
    x->contacts[i] = 0;
  }
}
