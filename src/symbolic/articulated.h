// Articulated bodies on the graph: what aba.c and aba_coupled.c share.
#ifndef SR_SYMBOLIC_ARTICULATED_H
#define SR_SYMBOLIC_ARTICULATED_H

#include "symbolic/tree.h"

// Inertia and wrench of all that is beyond a joint: (N; F) = (J, H; H^T, M) (wd; o) + bias.
typedef struct srArticulated {
  srMat J, H, M;  // H: N for o
  srVec N, F;     // bias
} srArticulated;

// One coordinate of a joint, and what its elimination leaves for the accelerations.
typedef struct srAxis {
  int slot;  // 0 to 2: about x, y, z; 3 to 5: along
  double pitch;
  srVec Vn, Vf;
  srNode inverse, u, free;  // 1/D, u, u/D
  bool bare;                // no armature, no pitch: D is an entry of U
} srAxis;

srAxis sr_axis_of(const srSymLink* link, int k);
srNode sr_axis_project(srGraph* g, const srAxis* s, srVec N, srVec F);                           // S^T (N; F)
void sr_axis_column(srGraph* g, const srAxis* s, const srArticulated* b, srVec* Un, srVec* Uf);  // U
// The acceleration along the axis for the motion (wd, o) of the parent, which it is added to.
srNode sr_axis_accelerate(srGraph* g, const srAxis* s, srVec* wd, srVec* o);

srArticulated sr_articulated_rigid(srGraph* g, srNode mass, srVec h, srMat J);                       // without bias
void sr_articulated_subtract(srGraph* g, srArticulated* b, srVec Vn, srVec Vf, srVec Un, srVec Uf);  // V U^T
// Takes one coordinate out of the body.
void sr_articulated_eliminate(srSymPass* x, srArticulated* b, int dof, srNode tau, srAxis* s);
void sr_articulated_to_parent(srSymPass* x, int i, const srArticulated* b, srArticulated* parent);

// Mass, first moment and inertia of links that do not move against each other.
typedef struct srComposite {
  srNode mass;
  srVec h;
  srMat J;
} srComposite;
void sr_composite_to_parent(srSymPass* x, int i, const srComposite* body, srComposite* parent);  // mass.c

// Limbs in lanes: what those of all lanes are, to the link that they hang on.
srArticulated sr_articulated_nothing(srGraph* g);
srComposite sr_composite_nothing(srGraph* g);
void sr_articulated_add_lanes(srSymPass* x, const srArticulated* limbs, srArticulated* to);
void sr_composite_add_lanes(srSymPass* x, const srComposite* limbs, srComposite* to);

#endif
