// Contact instances: what srData holds of the sets of a model (srContactSet). Memory here, in data.c; creation and removal:
// src/force/instances.c.
#ifndef SR_MODEL_INSTANCE_H
#define SR_MODEL_INSTANCE_H

#include <sarrus/model.h>

#include "collide/collision.h"

// A pair of shapes with force and states. Its index among the states is that of its slot, throughout its life.
typedef struct srInstance {
  int set;       // -1: the slot is free
  int a, b;      // colliders
  int near;      // its index in the list, -1: the two are no longer near
  int use;       // its index among those in use
  bool closed;   // after the last step of a run
  bool guessed;  // its approach velocity was unknown at the start of a run
  bool clamped;  // since it closed: its law would have pulled
  srSurfaceLaws contact;
  srPatch patch;  // where contact has one
  srForceElement element;
} srInstance;

// Heaps of balls have many pairs of spheres, and of spheres and planes that are fixed to the ground: their gaps need no rotations.
typedef enum srNearKind { SR_NEAR_ANY, SR_NEAR_SPHERES, SR_NEAR_ON_PLANE } srNearKind;

// Two shapes that may touch before the list is rebuilt.
typedef struct srNear {
  int set, a, b;
  int card_a, card_b;
  int instance;  // -1: none
  srNearKind kind;
  long key;  // of its contacts (system/contacts.c)
} srNear;

struct srInstances {
  struct srBroad* broad;
  int nnear, most_near;
  int nlocated;          // near pairs that are located: they come first
  bool simple;           // their kinds are known: none is SR_NEAR_ANY
  srNear *near, *found;  // found: room for what the members of a team find
  srInstance* instance;  // srModel.ninstance
  int nused, *used;      // those in use
  int *nfree, *free;     // of each set: free slots, from srContactSet.first on; the last one is taken first
  int* chain;            // ncollider + ninstance: instances by their b, while the list is built
  double* centre;        // ncollider x 3: at the last state ...
  long centred;          // ... of these positions of the data; -1: none
  double* built;   // ncollider x 12: where the list was built, of all but spheres: columns of the rotation, origin
  double* origin;  // ncollider x 3: the centre there, or where the pairs of the shape were listed anew
  double* ball;    // ncollider x 4: centres, radii of the balls of one set
  int* ball_of;    // ncollider: their indices among the members of the set
  int* central;    // ncollider: of a ball around the center of mass of a free body on the ground, whose origin that is,
                   // where its velocity begins; -1
  unsigned char* over;  // ncollider: it has left its range, or would within the step
  int nover, again;     // again: lists of some since that of all
  // Where all shapes are balls and planes of the ground (balls), pairs of some are listed anew (near_again.c).
  int* body;              // ncollider: that of its link
  double* radius;         // ncollider
  bool balls, celled;     // celled: the balls are in the cells
  struct srCells* cells;  // by their origins
  double widest;          // of these: largest radius with what it is wider
  int* place;             // ncollider: among the members of a set; -1
  double slow;            // a range that no slow shape exceeds
  double skin;            // range of the list: all pairs with a gap below it, when it was built ...
  double* wider;          // ncollider: ... and as much more on the side of each, where it moves far in a step
  double moved;           // largest possible change of a gap since then ...
  long checked;           // ... at these positions; -1: unknown
  bool made;              // there is a list
  // In a run: contacts are located where error control chooses the steps, else where the law needs the approach velocity; the list is then
  // fixed within a step, since the switching functions belong to it.
  bool running, adaptive, fixed;
  bool changed;  // instances were created or removed; cleared by its user
  long edition;  // of the instances: grows when one is created or removed
  int version;   // of the list
  long tested;   // distances computed so far
};

struct srInstances* sr_instances_create(const srModel* m);  // NULL: out of memory
void sr_instances_destroy(struct srInstances* x);
void sr_instances_reset(const srModel* m, struct srInstances* x);
void sr_instances_copy(const srModel* m, const struct srInstances* from, struct srInstances* to);

#endif
