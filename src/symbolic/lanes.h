// Limbs in lanes: a tree with limbs of the same kind, one limb (or a few) in each of n threads that run together, the rest repeated in all of them.
//   lanes.c which links, coordinates and elements belong to which lane | zip.c the equations of all lanes as one
#ifndef SR_SYMBOLIC_LANES_H
#define SR_SYMBOLIC_LANES_H

#include "symbolic/function.h"

typedef struct srSymLanes {
  int n;
  int* lane;     // of links: -1: of the base, in every lane
  int* like;     // of links: the link of lane 0 in its place; of the base: itself
  int* element;  // of force elements: lane, -1: of the base
  // Coordinates and states of one lane, those of the base first: entry k of lane l is q[l*nq + k] of the model.
  int nq, nv, ny, base_q, base_v, base_y;
  int *q, *v, *y;
} srSymLanes;

// n lanes of a tree; NULL: its limbs do not fill them, or an element is between limbs of two lanes. elements: with force elements and their states.
const srSymLanes* sr_sym_lanes(srPool* pool, const srSymTree* tree, int n, bool elements);
static inline bool sr_sym_is_elsewhere(const srSymTree* tree, int link) {
  return tree->lanes != NULL && tree->lanes->lane[link] >= 0 && tree->lanes->lane[link] != tree->lane;
}
// Do limbs hang on this link of the base?
static inline bool sr_sym_is_limb(const srSymTree* tree, int link) {
  return tree->lanes != NULL && tree->lanes->lane[link] >= 0;
}
// Is this the link of a limb that hangs on the base?
static inline bool sr_sym_begins_limb(const srSymTree* tree, int link) {
  const int parent = tree->link[link].parent;
  return parent > 0 && sr_sym_is_limb(tree, link) && !sr_sym_is_limb(tree, parent);
}
// Does no coupling leave a limb? Each of its groups ends on the limb itself (aba_coupled.c).
bool sr_sym_couplings_stay(const srSymTree* tree, const srSymLanes* lanes);
srNode sr_sym_lane_sum(srSymPass* pass, srNode x);  // over all lanes
srVec sr_sym_lane_sum3(srSymPass* pass, srVec x);
#define SR_LANE_SUM "sum of lanes"

// The equations of a function for one lane: numbers in which lanes differ are parameters of the graph.
typedef struct srSymZipped {
  const srCode* code;  // outputs: of the base and of the lane's limbs, in the order of the local coordinates
  int nconstant;
  const double* constant;  // nconstant x n
  int nnote;
  const srSymNote* note;
} srSymZipped;
// nout: outputs of the function; local: for each output of a lane the model's, by lanes (nlocal x n); the first nbase[i] ... are those of the base where of_base is.
// NULL: the lanes differ in more than numbers.
const srSymZipped* sr_sym_zip(srPool* pool, srSymTree* tree, srSymBuild build, const void* user, int nout, int nlocal,
                              const int* local, const bool* of_base);

#endif
