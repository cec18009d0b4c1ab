// What the files of this folder share, and what the analyses use in addition to <sarrus/constraint.h>.
#ifndef SR_CONSTRAINT_INTERNAL_H
#define SR_CONSTRAINT_INTERNAL_H

#include <sarrus/constraint.h>

#include "model/private.h"

// ---- evaluate.c
// sr_evaluate with a stage length.
int sr_evaluate_tau(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y,
                    srStage stage, double tau);
// For the stages of integrators: joint coordinates of free bodies are measured only where the equations use them.
int sr_evaluate_stage(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y,
                      srStage stage, double tau);
// At a state of the motion, as integrators and dense output give it: quaternions of length 1 and, for trees, driven
// coordinates on their motion.
int sr_evaluate_motion(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y,
                       srStage stage);
// For index-1 methods: a, lambda, ydot, power, with driven coordinates on their motion; for trees kinematics of links only
// as far as force laws need them.
int sr_evaluate_rates(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y,
                      double tau);
// For trees and models whose couplings are eliminated: puts driven and coupled coordinates of q and v on what they follow at t, which d
// is left with.
void sr_put_followers(const srModel* m, srData* d, double t, double* q, double* v);
void sr_put_driven(const srModel* m, srData* d);  // trees: puts d's driven coordinates on their motion at d->t

#define SR_RANK_TAU                                                                                                    \
  1e-5  // sine of the angle to the other rows up to which a row is dependent: docs/theory/half-explicit.md, "Thresholds"

// ---- solve.c
// d->a, lambda of least norm, rank, row_residual; needs the velocity stage and d->f.
int sr_solve_state(const srModel* m, srData* d);
double sr_row_residual(const srModel* m, const srData* d);  // largest |G a - gamma|, of d's numbers
void sr_bias_force(const srModel* m, srData* d);    // d->bias; needs the velocity stage; sets link_accel for a = 0
void sr_driver_power(const srModel* m, srData* d);  // adds the power of d->lambda to d->power

// ---- frames.c
// Columns over the twist (w, u) of the motion of `point` relative to `observer`, for all coordinates between them: descending
// coordinates into dof, 6 numbers each into column; returns their number. common >= 0: displacement of point minus that of
// observer, both observed from that point and in its axes.
int sr_path_columns(const srModel* m, const srData* d, int point, int observer, int common, int* dof, double* column);
// The same observed from observer, with the pose of point in its axes, which is aligned to 32 bytes.
int sr_path_pose(const srModel* m, const srData* d, int point, int observer, int* dof, double* column, double pose[16]);
// link_accel as if a were 0. d->a is 0 afterwards, the stage that of accelerations.
void sr_bias_acceleration(const srModel* m, srData* d);

// ---- rows.c
void sr_joint_gamma(const srModel* m, srData* d);  // the part of couplings and drivers in sr_constraint_gamma
// The axis of a closure, n, and the same axis of the observed frame, R n, in the observer's axes at d's position; returns
// n . R n. Kinds without such an axis: 1.
double sr_closure_axes(const srModel* m, const srData* d, const srClosure* c, double n[3], double Rn[3]);

// ---- formula.c
int sr_formula_rows(const srModel* m, srData* d);    // their part of sr_constraints
void sr_formula_gamma(const srModel* m, srData* d);  // their part of sr_constraint_gamma

#endif
