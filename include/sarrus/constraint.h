// Constraints: loop closures, couplings, formulas, drivers. Constraint equations, rank, reactions.
//
//   g(t, q) = 0 (np equations),   G v + b = 0 (ng equations, the first np are the derivatives of g),   G a = gamma
//   M a + c = f + G^T lambda
//
// Signs of the multipliers, treatment and report of redundant equations: docs/theory/loops.md.
#ifndef SARRUS_CONSTRAINT_H
#define SARRUS_CONSTRAINT_H

#include <sarrus/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

// d->g, d->G, d->b at d's t and q. Needs the position stage. 0, > 0 where an equation is undefined (d->error_message holds the reason).
SR_API int sr_constraints(const srModel* m, srData* d);
// d->gamma, after sr_constraints. Needs the velocity stage. Overwrites d->a and link_accel.
SR_API int sr_constraint_gamma(const srModel* m, srData* d);
// G v + b (ng), after sr_constraints.
SR_API void sr_constraint_velocity(const srModel* m, const srData* d, const double* v, double* out);
// G as ng x nv, row-major, after sr_constraints; out += G^T lambda (nv).
SR_API void sr_constraint_matrix(const srModel* m, const srData* d, double* G);
SR_API void sr_constraint_force(const srModel* m, const srData* d, const double* lambda, double* out);

// Which constraint equations are independent at d's position, and which depend on them. Allocates all memory here.
typedef struct srRank {
  int rank;                     // of all equations, drivers included
  int rank_undriven;            // of the equations without the drivers
  int nredundant;               // ng - rank
  const int* redundant;         // nredundant: equations that can be dropped without changing the rank
  const int* set_start;         // nredundant + 1: the equations of dependent set i, the redundant one first, are
  const int* set;               //   set[set_start[i]] .. set[set_start[i+1]-1]
  const double* coefficient;    // for each entry of set: sum of coefficient times row is zero
  const unsigned char* kept;    // ng: 1 for an independent equation
  const unsigned char* unique;  // ng: 1 where the multiplier is unique
  int rank_coarse;              // rank without equations whose independent part is below 2e-3; large models: rank
  double least;   // smallest independent part among the independent equations; NaN: unknown, or no equations
  int least_row;  // that equation, or -1
} srRank;
SR_API srStatus sr_rank_create(const srModel* m, srData* d, srRank** out);
SR_API void sr_rank_destroy(srRank* rank);

// Reactions of all joints (njoint x 6: moment, force) after sr_forward: the wrench exerted on the body through its joint
// by its parent, drives and springs of the joint included, about the origin of the body's frame, in its axes.
// Overwrites d->link_accel (true accelerations) and d->work. 0, or > 0 where a force law fails.
SR_API int sr_reactions(const srModel* m, srData* d, double* reaction);
SR_API int sr_joint_reaction(const srModel* m, srData* d, int joint, double reaction[6]);
// Reaction of a loop closure (moment, force) after sr_forward: on its observed frame, about the origin of that frame, in ground axes.
// 0, or > 0 where its equations are undefined.
SR_API int sr_closure_reaction(const srModel* m, srData* d, int closure, double reaction[6]);
// unique (njoint): 0 where another choice of redundant multipliers gives another reaction.
SR_API void sr_reactions_unique(const srModel* m, srData* d, const srRank* rank, unsigned char* unique);

// Mass matrix with armature at d's position into d->M.
SR_API void sr_mass(const srModel* m, srData* d);

#ifdef __cplusplus
}
#endif
#endif
