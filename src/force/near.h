// The list of near pairs: made in near.c, in part anew in near_again.c. Its users: instances.h.
#ifndef SR_FORCE_NEAR_H
#define SR_FORCE_NEAR_H

#include <sarrus/dynamics.h>

#include "model/instance.h"

#define SR_SKIN 0.2  // least skin, of the least radius

static inline int sr_near_link(const srModel* m, int collider) { return m->point_link[m->collider[collider].point]; }

void sr_near_centres(const srModel* m, const srData* d, struct srInstances* x);        // those of d's position
void sr_near_check(const srModel* m, const srData* d, struct srInstances* x);          // x->moved, from these
double sr_near_speed(const srModel* m, const srData* d, const struct srInstances* x);  // largest one of approach
double sr_near_least_radius(const srModel* m);
void sr_near_find_point(const srModel* m, const srData* d, int a, int b, srFrameMotion* seen,
                        srPairPoint* out);  // gap and normal of two colliders at d's state

// All pairs at d's state, whose centres are known. v: sr_near_for; NULL: none. < 0: capacity exceeded.
int sr_near_make(const srModel* m, srData* d, double skin, const double* v, double step);

// ---- of a part of them --------------------------------------------------------------------------------------------------

// What is found is added to `near`, which has room for `most`: those of the instances, or of a member of a team.
typedef struct srListing {
  const srModel* m;
  const srData* d;
  struct srInstances* x;
  int set;
  srNear* near;
  int count, most;
  bool full;
  bool any;     // some are SR_NEAR_ANY
  long tested;  // distances computed
} srListing;

// Of the pairs that are listed already; sr_near_end: with what has been added.
srListing sr_near_begin(const srModel* m, const srData* d, struct srInstances* x);
void sr_near_end(const srListing* l);
// What search finds for 0 .. n-1, by the members of the team in ranges of `least` at the least: the pairs that it finds by itself, in their order.
typedef void srNearSearch(srListing* l, const void* user, int from, int to);
void sr_near_share(srListing* l, int n, int least, srNearSearch* search, const void* user);

bool sr_near_add(srListing* l, int one, int two);               // two members of the set that are near; false: full
double sr_near_gap_on_plane(const srListing* l, int i, int j);  // of the plane i and the ball j
double sr_near_speed_of(const srModel* m, const srData* d, const struct srInstances* x, const double* v, int i);
double sr_near_range_for(double way, double slow);  // what a shape may move that moves by `way` in a step

// Where all shapes are balls and planes of the ground: the pairs of balls that have left their ranges (x->over), the others stay. False: another list is to be made.
bool sr_near_can_again(const struct srInstances* x);
bool sr_near_again(const srModel* m, const srData* d, const double* v, double step);

#endif
