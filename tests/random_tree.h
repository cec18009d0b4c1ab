// Random models for tests: trees with all joint types, built through the public builder, and random states of them.
#ifndef SR_TEST_RANDOM_TREE_H
#define SR_TEST_RANDOM_TREE_H

#include <sarrus/sarrus.h>
#include <stdint.h>

typedef struct Random {
  uint64_t state;  // any seed
} Random;

double random_in(Random* r, double low, double high);
int random_below(Random* r, int n);  // 0 ... n - 1

typedef struct RandomTree {
  int nbody;
  bool armature;     // on some joints
  bool drivers;      // on some coordinates
  bool free_root;    // one tree that floats: body 1 has a free joint, all others hang on it
  bool no_massless;  // else some bodies inside have no mass
} RandomTree;

// Bodies b1, b2, ... each with a point "p". Full inertia tensors, random axes and offsets. Ends the test when refused.
srModel* random_tree(Random* r, const RandomTree* options);
srSpec* random_tree_spec(Random* r, const RandomTree* options);  // the same, before it is compiled
// d->q (quaternions of any length), d->v, d->a, d->tau, and the accelerations in d->motion.
void random_state(Random* r, const srModel* m, srData* d);

#endif
