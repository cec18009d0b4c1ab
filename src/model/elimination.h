// Couplings of a model that the recursion eliminates (dynamics/aba_coupled.c), and its plan: compile_elimination.c.
#ifndef SR_MODEL_ELIMINATION_H
#define SR_MODEL_ELIMINATION_H

#include <sarrus/model.h>

// A coupling, observed from the reference coordinate of its group: q[0] = ratio q[1] + offset.
typedef struct srTie {
  int row;
  int dof[2], qdof[2];  // the coordinate further from there, the nearer one
  double ratio, offset;
  double entry[2];  // of the row of G
} srTie;

// What the recursion does at a link. Plain: revolute, not driven, no group pending; member: revolute, only its own group pending.
typedef enum srLinkPlan { SR_PLAN_ANY, SR_PLAN_PLAIN, SR_PLAN_MEMBER } srLinkPlan;

// A group is a set of coupled coordinates: one degree of freedom, or none where one of its coordinates is driven. Groups are numbered where
// none is. From its members' links to the link where their paths to the ground meet a group is pending: it has a slot on each of these.
struct srElimination {
  int ntie;
  const srTie* tie;  // those nearer to the reference coordinate first
  int ngroup;
  const int* group;   // nv: group of a member, -1
  const int* driver;  // nv: driver that its motion follows, -1
  const double*
      ratio;  // nv: of the velocity of a member to that of its group, or of the driven coordinate; 1 elsewhere
  const unsigned char* plan;  // nlink, srLinkPlan
  int nslot;
  const int* slot_start;  // nlink + 1: slots of a link: groups that end here, then those that continue to its parent
  const int* slot_goes;   // nlink: the first of those, counted from slot_start
  const int* slot_own;  // nlink: slot of the group that the link's own coordinate is a member of, counted likewise; -1
  const int* slot_group;  // nslot
  const int* slot_up;     // nslot: the same group on the parent, -1 where it ends
  const int* slot_axis;   // nslot: first of its numbers, one for every coordinate of the link
  int naxis;
  // Products D_gh of two groups that are pending on the same link; the first ngroup are those of a group with itself.
  int nproduct;
  const int* product_start;  // nlink: the n x n products of its n slots ...
  const int* product;        // ... are here
};

int sr_elimination_work(const srModel* m);  // doubles of scratch that the recursion needs in addition; 0: no couplings

// Sets followers of q and v from their leaders (v may be NULL). Driven coordinates are the caller's.
void sr_elimination_follow(const srModel* m, double* q, double* v);

#endif
