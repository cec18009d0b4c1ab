// The tree of links that symbolic recursions run over, and what they leave on it.
//   tree.c the links of a model, snapped | reframe.c frames with few entries | regroup.c inertia moved to parents | frames.c computational frames
//   invdyna.c, mass.c, aba.c, aba_coupled.c, ltl.c the recursions | points.c frames of points
#ifndef SR_SYMBOLIC_TREE_H
#define SR_SYMBOLIC_TREE_H

#include <sarrus/model.h>

#include "symbolic/vector.h"

// Axes in which the equations of a link are written (docs/theory/symbolic.md):
//   BODY    those of the link
//   BEFORE  those of its joint before its rotation: its inertia and the places of its children turn instead
//   PARENT  the parent's, where the axes of both joints are parallel: angles add up
typedef enum srSymFrame { SR_FRAME_BODY, SR_FRAME_BEFORE, SR_FRAME_PARENT } srSymFrame;

typedef struct srSymLink {
  int parent, type, q, v;  // as in srModel; parent 0: the ground
  double Q[9], p[3];       // its frame in its parent's at q = 0: rotation by rows, origin
  double angle;            // added to q of a revolute or helical link
  double pitch;
  double mass, h[3], J[9];  // mass, first moment, inertia about its origin
  double slide, turn;       // its frame in that of the model's link: Rz(turn) behind Tz(slide)
  const char* name;         // of its joint and body, for comments
  srSymFrame frame;
  bool carries;  // third column of U from the parent (invdyna.c)
} srSymLink;

// The inertia (mass, h, J) of a frame (Q, p), seen from the frame that it is given in, is added to `to`.
void sr_sym_add_inertia(srSymLink* to, const double* Q, const double* p, double mass, const double* h, const double* J);

typedef struct srSymSymbols srSymSymbols;
typedef struct srSymFolds srSymFolds;
typedef struct srSymTree {
  const srModel* m;
  srPool* pool;
  int n;                           // links, the ground included
  srSymLink* link;                 // n
  double length;                   // of the robot, m: what counts as 0
  bool own_axes;                   // frames of links are BODY alone
  srSymFolds* folds;               // loops of contacts that were made (folds.h)
  srSymSymbols* symbols;           // parameters that are arguments (symbols.h); NULL: none
  const struct srSymLanes* lanes;  // limbs in lanes (lanes.h): equations are those of one lane; NULL: of the whole tree
  int lane;
} srSymTree;

// A name for a comment of any language: it ends no comment, continues no line and begins none.
const char* sr_sym_comment(srPool* pool, const char* text);
// snap: entries of rotations that are nearer to 0 or +-1, and lengths and inertias below this part of the largest, are rounded to that. *snapped: the largest change by it.
srSymTree* sr_sym_tree(srPool* pool, const srModel* m, double snap, double* snapped);
void sr_sym_snap(srSymTree* tree, double snap, double* snapped);
void sr_sym_reframe(srSymTree* tree, double snap);
void sr_sym_regroup(srSymTree* tree);
bool sr_sym_is_parallel(const srSymLink* link);  // Q is the unit matrix: PARENT is possible

typedef struct srSymNote {
  srNode node;  // from it on
  const char* text;
} srSymNote;

// Of the coordinates, without the unit inertia that those have which move no mass (dof_massless).
static inline const double* sr_sym_armature(const srModel* m) {
  return m->absolute ? m->dof_armature : m->joint_armature;
}

// One build of the equations on a graph.
typedef struct srSymPass {
  const srSymTree* tree;
  srGraph* g;
  srTurn* turn;             // n: from the link's computational frame to its parent's
  srVec* p;                 // n: origin in the parent's computational frame
  srVec* axis;              // n: z in the parent's computational frame
  srVec* h;                 // n: first moment in the computational frame
  srMat* J;                 // n
  srNode *mass, *armature;  // n, nv
  const srNode* symbol;     // of nodes of the symbols; NULL: none
  srVec gravity;
  srNode *sine, *cosine;         // n: of psi, which the link is turned by in its computational frame; SR_NO_NODE: 0
  srVec *F, *N;                  // n: wrench of each link, of invdyna
  const srVec *load_F, *load_N;  // n: wrench that each link receives from outside, which invdyna subtracts; NULL: none
  srSymNote* note;               // where what is about a link begins
  int nnote, capacity;
} srSymPass;

srSymPass* sr_sym_pass(srGraph* g, srPool* pool, const srSymTree* tree);
void sr_sym_note(srSymPass* pass, int link, const char* what);  // the nodes that follow
void sr_sym_note_text(srSymPass* pass, const char* text);
srMat sr_sym_rotation(srSymPass* pass, int q);  // of the quaternion at q, of any length
srNode sr_sym_q(srSymPass* pass, int k);
srNode sr_sym_v(srSymPass* pass, int k);

// Motion of a link in its axes: angular velocity and acceleration, acceleration of its origin less gravity, U = [wd] + [w][w].
typedef struct srSymRates {
  srVec w, wd, o;
  srMat U;
} srSymRates;
const srSymRates* sr_sym_rates(srSymPass* pass, const srNode* a);  // n links

// tau = M a + c with gravity; a NULL: c. wrenches: leaves those of single links in F, N, and tau is not written.
void sr_sym_invdyna(srSymPass* pass, const srNode* a, bool wrenches, srNode* tau);
// M, nv x nv, below and on the diagonal; entries that are 0 by structure are the number 0.
void sr_sym_mass(srSymPass* pass, srNode* M);
// q' = H(q) v. unit: of quaternions of length 1 in their direction, as sr_qdot; else such that they turn by v whatever their length is.
void sr_sym_qdot(srSymPass* pass, bool unit, srNode* qdot);
// a = M^-1 (tau - c) by articulated bodies.
void sr_sym_aba(srSymPass* pass, const srNode* tau, srNode* a);
// With the couplings that m->elimination has; driven: accelerations of the drivers.
void sr_sym_aba_coupled(srSymPass* pass, const srNode* tau, const srNode* driven, srNode* a);
// The same as sr_sym_aba by M and its factors L^T D L.
void sr_sym_ltl(srSymPass* pass, const srNode* tau, srNode* a);
void sr_sym_factor(srSymPass* pass, srNode* M, srNode* inverse);  // M becomes L; inverse: of D, nv
void sr_sym_solve(srSymPass* pass, const srNode* L, const srNode* inverse, srNode* b);
// By positions (along the velocities), velocities and forces, nv x nv each; a: given, or found.
// by_p: by parameters that are arguments, nv x n.
void sr_sym_invdyna_derivatives(srSymPass* pass, const srNode* a, srNode* by_q, srNode* by_v, srNode* by_p);
void sr_sym_accel_derivatives(srSymPass* pass, const srNode* tau, srNode* a, srNode* by_q, srNode* by_v, srNode* by_tau,
                              srNode* by_p);

#endif
