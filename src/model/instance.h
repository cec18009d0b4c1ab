// Instances of contacts: what srData holds of the sets of a model (srContactSet). Memory here, in data.c; what makes and removes
// them: src/force/instances.c.
#ifndef SR_MODEL_INSTANCE_H
#define SR_MODEL_INSTANCE_H

#include <sarrus/model.h>

// A pair of shapes that has force and states. Its place among the states is that of its slot, for as long as it lives.
typedef struct srInstance {
  int set;       // -1: the slot is free
  int a, b;      // colliders
  int near;      // its place in the list, -1: the two are not near any more
  int use;       // its place among those in use
  bool closed;   // after the last step of a run
  bool guessed;  // its speed at first touch was not known at the start of a run
  bool clamped;  // since the last touch: its law would have pulled
  srSurfaceLaws contact;
  srForceElement element;
} srInstance;

// Two shapes that may touch before the list is made anew.
typedef struct srNear {
  int set, a, b;
  int card_a, card_b;
  int instance;  // -1: none
} srNear;

struct srInstances {
  struct srGrid* grid;
  int nnear, most_near;
  int nlocated;  // near pairs whose touch is located: they come first
  srNear* near;
  srInstance* instance;  // srModel.ninstance
  int nused, *used;      // those in use
  int *nfree, *free;     // of each set: free slots, from srContactSet.first on; the last one is taken first
  int* chain;            // ncollider + ninstance: instances by their b, while the list is made
  double* centre;        // ncollider x 3: at the last state
  double* built;         // ncollider x 12: where the list was made: columns of the rotation, origin
  double* ball;          // ncollider x 4: centres, radii of the balls of one set
  int* ball_of;          // ncollider: their places among the members of the set
  double skin;           // what the list covers: all pairs with a gap below it, when it was made
  double moved;          // by how much gaps may have changed since then
  bool made;             // there is a list
  // In a run: touches are located where the error chooses the steps, else where the law needs their speed; the list then is
  // fixed within a step, since the functions whose roots are looked for belong to it.
  bool running, adaptive, fixed;
  bool changed;  // instances were made or removed: for whoever clears it
  int version;   // of the list
  long tested;   // distances that were measured so far
};

struct srInstances* sr_instances_create(const srModel* m);  // NULL: out of memory
void sr_instances_destroy(struct srInstances* x);
void sr_instances_reset(const srModel* m, struct srInstances* x);
void sr_instances_copy(const srModel* m, const struct srInstances* from, struct srInstances* to);

#endif
