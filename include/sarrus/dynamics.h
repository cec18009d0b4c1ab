// Kinematics and recursive algorithms. All take a constant model and a data; none allocates.
//
//   M(q) a + c(q, v) = f + G^T lambda        c = rnea(q, v, 0), gravity included
#ifndef SARRUS_DYNAMICS_H
#define SARRUS_DYNAMICS_H

#include <sarrus/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------- the rigid tree alone: no forces, no armature, no drivers
// Inverse dynamics: tau = M a + c (nv). Overwrites d->link_X, link_E, link_wrench, work.
SR_API void sr_rnea(const srModel* m, srData* d, const double* q, const double* v, const double* a, double* tau);
// M(q) x, without forming M: inverse dynamics from rest without gravity. Overwrites the same.
SR_API void sr_mass_times(const srModel* m, srData* d, const double* q, const double* x, double* out);
// Mass matrix, symmetric, all nv x nv entries row-major. Composite rigid bodies.
SR_API void sr_crba(const srModel* m, srData* d, const double* q, double* M);
// Forward dynamics by articulated bodies: a with M a + c = tau, O(n). SR_FAILED when M is singular: d->error_message names
// the joint.
SR_API srStatus sr_aba(const srModel* m, srData* d, const double* q, const double* v, const double* tau, double* a);

// ------------------------------------------------------------------------------------------------- with everything
// The same with armature and driven coordinates: where dof_driver >= 0, d->motion prescribes a, and the driving
// force goes to lambda (ndriver).
SR_API srStatus sr_aba_driven(const srModel* m, srData* d, const double* q, const double* v, const double* f,  //
                              double* a, double* lambda);
// The same with couplings eliminated (m->elimination): lambda of all constraint equations. SR_FAILED: a coordinate, or a group of
// them, has no inertia of its own.
SR_API srStatus sr_aba_coupled(const srModel* m, srData* d, const double* q, const double* v, const double* f,  //
                               double* a, double* lambda);

// Branch-sparse factor M = L^T L (Featherstone 2008, section 8.5) in place of M's lower triangle, using dof_parent: no
// fill-in. SR_FAILED when M is not positive definite: *bad is the coordinate.
SR_API srStatus sr_ltl_factor(const srModel* m, double* M, int* bad);
SR_API void sr_ltl_solve(const srModel* m, const double* L, double* x);  // x = M^-1 x

// ----------------------------------------------------------------------------------------- evaluation at a state
// Sets the state of d, and evaluates the model there up to a stage (srStage). NULL: the q, v or y of d; forces use tau
// of d, and the time constants of the elements. Kinematics that d already holds for this state are not recomputed; forces
// and accelerations always are. 0; > 0: try a smaller step, < 0: stop; d->error_message holds the reason. docs/developing/decisions/evaluation.md
SR_API int sr_evaluate(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y,
                       srStage stage);
// d's own state up to the accelerations, with a stage length as in integrate.h.
SR_API int sr_forward(const srModel* m, srData* d, double tau_stage);

// Its passes, from d->q, d->v, d->a; each needs the one before.
SR_API void sr_kinematics(const srModel* m, srData* d);    // link_X, link_E, link_pose
SR_API void sr_velocity(const srModel* m, srData* d);      // link_twist
SR_API void sr_acceleration(const srModel* m, srData* d);  // link_accel (true acceleration, gravity not counted)
// All force elements at d's state (t, q, v, y, tau set by the caller): fills d->f, ydot, motion, power. tau_stage and result as in
// integrate.h.
SR_API int sr_forces(const srModel* m, srData* d, double tau_stage);

// Accelerations of the joint coordinates (njv) from d->a; in relative coordinates d->a itself. Needs the velocity stage.
SR_API void sr_joint_accelerations(const srModel* m, const srData* d, double* out);

// A frame fixed to a body (a point of the model), observed from another one and expressed in its axes.
typedef struct srFrameMotion {
  double position[3];              // m
  double rotation[9];              // rows
  double velocity[3];              // m/s
  double angular_velocity[3];      // rad/s
  double acceleration[3];          // m/s^2
  double angular_acceleration[3];  // rad/s^2
} srFrameMotion;
// Filled as far as d->stage allows, the rest is NaN.
SR_API void sr_frame_motion(const srModel* m, const srData* d, int point, int relative_to, srFrameMotion* out);
// 6 x nv; J v is angular velocity, then velocity. Needs the position stage.
SR_API void sr_frame_jacobian(const srModel* m, srData* d, int point, int relative_to, double* J);

// Needs the velocity stage. Kinetic energy includes armature. Potential: gravity (zero at the ground's origin) and the
// energy stored in force elements.
SR_API void sr_energy(const srModel* m, srData* d, double* kinetic, double* potential);
// Total momentum about the ground's origin, inertial axes, angular first (6); mass and its centre may be NULL.
SR_API void sr_momentum(const srModel* m, const srData* d, double* momentum, double* mass, double* com);

// q' = H(q) v, quaternions taken as normalised; q (+) dxi and its inverse.
SR_API void sr_qdot(const srModel* m, const double* q, const double* v, double* qdot);
SR_API void sr_retract(const srModel* m, const double* q, const double* dxi, double* q_out);
SR_API void sr_difference(const srModel* m, const double* q1, const double* q2, double* dxi);
// Rate of the velocities of free joints by the rotation of their axes, -w x v (nv).
SR_API void sr_axes_rate(const srModel* m, const double* v, double* out);
// q_out: q moved for the time h with `move` constant in the axes at q; v, which may be the same numbers: given in the axes at q_out. Differs from q (+) h move in free
// joints alone.
SR_API void sr_drift(const srModel* m, const double* q, double h, const double* move, double* v, double* q_out);
SR_API void sr_normalize(const srModel* m, double* q);

// Contact instances of sets at d's state, 4 numbers each plus its states: slot, shapes a and b (srModel.collider), approach
// velocity (0: open), states. Returns the number of values; out may be NULL. With q, v, y and z this is the complete state of a run.
SR_API int sr_instance_numbers(const srModel* model, const srData* data, double* out);
// Restores them; false where they do not fit the model, which then has none.
SR_API bool sr_put_instances(const srModel* model, srData* data, const double* x, int n);

#ifdef __cplusplus
}
#endif
#endif
