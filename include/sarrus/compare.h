// Comparing integrators: a run sampled at equidistant times, how far one is from another, and the performance profile of
// methods over problems. Definitions: docs/compare.md. The command line runs each method in a process of its own.
#ifndef SARRUS_COMPARE_H
#define SARRUS_COMPARE_H

#include <sarrus/analysis.h>

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------------ trajectories
// Joint coordinates of a run at t0 + k (t_end - t0)/(n - 1), k = 0 .. n-1, by the dense output of the method.
typedef struct srTrajectory {
  int n;           // samples asked for
  int filled;      // samples that the run has reached
  int nq, nv, ny;  // njq, njv, ny of the model
  double* sample;  // n rows: t, q, v, y
} srTrajectory;

SR_API srTrajectory* sr_trajectory_create(const srModel* m, int n);  // n >= 2; NULL when out of memory
SR_API void sr_trajectory_destroy(srTrajectory* x);
SR_API int sr_trajectory_width(const srTrajectory* x);  // numbers in a row

// sr_run with its rows taken into out: `row` and `every` of the options are not used.
SR_API srStatus sr_run_sampled(const srModel* m, srData* d, const srRunOptions* options, srMessages* messages,
                               srRunResult* result, srTrajectory* out);

// Distance of a run from its reference, relative: largest over components i of |x_i - reference_i| / s_i.
//   s_i   the largest magnitude that a component of the same unit reaches in the reference; of angles at least 1 rad, of
//         lengths 1e-9 m, of speeds a thousandth of that of the positions divided by the time of the run; of a state y_i
//         its own largest magnitude, 1 where that is 0
// Positions are subtracted on their manifold (sr_difference: orientations by the rotation between them), angles as they
// are, without modulus.
typedef struct srTrajectoryError {
  double q, v, y;              // largest over the samples; NaN where the model has no coordinates, no states
  double end_q, end_v, end_y;  // at the last sample
  double state;  // the larger one of q and y, of those that there are: what a run is judged by. NaN: not known
} srTrajectoryError;

// m is a model in relative coordinates with the joints of both. When one has samples that the other lacks, all is
// NaN. Takes memory for 3 nv numbers; NaN when there is none.
SR_API srTrajectoryError sr_trajectory_error(const srModel* m, const srTrajectory* reference, const srTrajectory* x);

// ----------------------------------------------------------------------------------------------- performance profiles
// Dolan and More (2002); paper 2, eq 37 to 39. cost[p*ns + s]: of problem p by solver s, > 0; what is not a positive finite
// number counts as not solved.
//   r_ps = cost_ps / min_s cost_ps, infinite where s has not solved p      rho_s(tau) = part of the problems with r_ps <= tau
SR_API void sr_profile_ratios(int np, int ns, const double* cost, double* ratio);
SR_API double sr_profile(int np, int ns, const double* ratio, int s,
                         double tau);  // rho_s(tau); tau INFINITY: solved at all
// All finite ratios, once each and ascending, from 1 on: where the profiles have their steps. Returns how many; tau holds
// np*ns + 1 numbers at most.
SR_API int sr_profile_steps(int np, int ns, const double* ratio, double* tau);

#ifdef __cplusplus
}
#endif
#endif
