// Free bodies and the rows between them: which rows are the joints of a spanning forest, and which close loops.
#ifndef SR_MATH_SADDLE_FOREST_H
#define SR_MATH_SADDLE_FOREST_H

#include "math/saddle.h"

#define SRM_BODY 6  // columns of a body, and the most rows of a joint

typedef struct srmForest {
  int nbody, ng, nlink;
  int *pair, *link_start,
      *link_row;         // a link is a pair of bodies with rows between them (-1: the ground); rows by links
  int* row_link;         // ng; -1: over more than two bodies
  int *end_start, *end;  // links by bodies
  bool loops;            // rows may be left over, whatever the choice
  // Of the last choice. A place is an index into the order, in which inner bodies come first.
  int *order, *place;    // bodies by places, places of bodies
  int *parent, *joint;   // by places: place of the inner body, -1: the ground, or none; link to it, -1: none
  int *chosen, ncut;     // by rows: taken by a joint? Rows left over that are kept
  int *weight, *member;  // work: kept rows of links, 0: no joint; sets of bodies that are joined
} srmForest;

// *out NULL: M is not block-diagonal with blocks of 6, or a row is not over whole bodies. False: out of memory.
bool srm_forest_create(const srmPattern* M, const srmPattern* G, srmForest** out);
void srm_forest_destroy(srmForest* forest);
// The forest with the most rows of `kept` (ng) in its joints. Allocates nothing.
void srm_forest_choose(srmForest* forest, const unsigned char* kept);

#endif
