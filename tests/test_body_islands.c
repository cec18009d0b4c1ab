// Islands of bodies by the members of a team (src/nonsmooth/body_islands.c), compared with those that are found by spreading numbers until nothing changes.
#include "nonsmooth/body_islands.h"

#include <stdlib.h>
#include <string.h>

#include "runner.h"

enum { BODIES = 3000, CONTACTS = 2700 };

static int next_number(unsigned* state, int n) {
  *state = *state * 1664525u + 1013904223u;
  return (int)((*state >> 8) % (unsigned)n);
}

// Chains, contacts with the ground, contacts of nothing that moves; many bodies touch nothing.
static void make_contacts(int end[CONTACTS][2], unsigned seed) {
  for (int i = 0; i < CONTACTS; ++i) {
    const int kind = next_number(&seed, 10), a = next_number(&seed, BODIES), b = a + 1 + next_number(&seed, 3);
    end[i][0] = kind == 0 ? -1 : a;
    end[i][1] = kind <= 1 || b >= BODIES ? -1 : b;
    if (kind == 2) end[i][1] = next_number(&seed, BODIES);
    if (end[i][0] == end[i][1]) end[i][1] = -1;
  }
}

// The first body of the island of each.
static void spread(int (*end)[2], int root[BODIES]) {
  for (int i = 0; i < BODIES; ++i) root[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < CONTACTS; ++i) {
      const int a = end[i][0], b = end[i][1];
      if (a < 0 || b < 0 || root[a] == root[b]) continue;
      root[a] = root[b] = root[a] < root[b] ? root[a] : root[b];
      changed = true;
    }
  }
}

TEST(islands_are_those_of_bodies_that_contacts_connect) {
  static int end[CONTACTS][2], root[BODIES], sides[BODIES], contacts[BODIES];
  for (int threads = 1; threads <= 5; ++threads) {
    srTeam* team = sr_team_create(threads);
    srBodyIslands* x = sr_body_islands_create(BODIES, threads);
    ENSURE(x != NULL);
    for (unsigned seed = 1; seed <= 3; ++seed) {  // with the memory of the one before
      make_contacts(end, seed);
      spread(end, root);
      memset(sides, 0, sizeof sides);
      memset(contacts, 0, sizeof contacts);
      for (int i = 0; i < CONTACTS; ++i) {
        const int body = sr_body_of_contact(end[i]);
        if (body < 0) continue;
        ++contacts[root[body]];
        for (int k = 0; k < 2; ++k) sides[end[i][k] < 0 ? body : end[i][k]] += end[i][k] >= 0;
      }
      sr_body_islands_find(x, BODIES, (const int(*)[2])end, CONTACTS, team);
      ENSURE(memcmp(x->root, root, sizeof root) == 0);
      ENSURE(memcmp(x->sides, sides, sizeof sides) == 0);
      ENSURE(memcmp(x->contacts, contacts, sizeof contacts) == 0);
    }
    sr_body_islands_destroy(x);
    sr_team_destroy(team);
  }
}
