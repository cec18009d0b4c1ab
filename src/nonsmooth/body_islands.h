// Islands: bodies that contacts or equations connect, found by the members of a team. Each unites the bodies of its part of them; then their forests are put together.
#ifndef SR_NONSMOOTH_BODY_ISLANDS_H
#define SR_NONSMOOTH_BODY_ISLANDS_H

#include "base/team.h"

typedef struct srBodyIslands {
  int* root;      // of each body: the first one of its island
  int* contacts;  // of these first ones: contacts of their islands; of other bodies 0
  int* sides;     // of each body: its contacts
  void* own;      // of the members
} srBodyIslands;

// most: bodies; members: of the team, at the most. NULL: out of memory.
srBodyIslands* sr_body_islands_create(int most, int members);
void sr_body_islands_destroy(srBodyIslands* islands);

// end: the two bodies of each contact, -1: it does not move. team: NULL: none.
void sr_body_islands_find(srBodyIslands* islands, int nbody, const int (*end)[2], int count, srTeam* team);

// A body of a contact's island; -1: nothing moves.
static inline int sr_body_of_contact(const int end[2]) { return end[0] >= 0 ? end[0] : end[1]; }

#endif
