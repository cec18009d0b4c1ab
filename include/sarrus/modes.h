// Small motions about an equilibrium or a steady motion: linear equations, eigenvalues, modes.
#ifndef SARRUS_MODES_H
#define SARRUS_MODES_H

#include <sarrus/analysis.h>

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------------ linear equations
// x' = A x, exact (docs/theory/modes.md). x: displacements of independent coordinates along sr_retract, changes of independent velocities,
// changes of states y. The coordinates are joint coordinates in the relative and absolute formulations, which have the same A; those of the
// bodies in the penalty formulation.
typedef struct srLinear {
  const srModel* m;
  double t;
  int nx, npos, nvel, nstate;  // nx = npos + nvel + nstate
  const int* position;         // npos: velocity coordinates along which the displacements are
  const int* velocity;         // nvel: ... of the velocities: all of position, fewer where constraints are nonholonomic
  const int* state;            // nstate: indices of y
  const char* const* name;     // nx: of the coordinate or state
  const double* A;             // nx x nx
  const double* shape;         // njv x nx: displacements of all joint coordinates
  const double* rate;          // njv x nx: changes of their velocities
  const double* force;         // nx x njv: x' = A x + force tau, tau on the joint coordinates
  // M x" + C x' + K x = 0, x the displacements (npos x npos); NULL where there are states or nonholonomic constraints.
  const double *M, *C, *K;
  double acceleration;  // largest joint acceleration at the state, which is taken as 0
  bool loose;           // a rigid contact without force is among the constraints: no statement on motions away from it
} srLinear;
// At the state of d, assembled before. Steady: all joint accelerations are 0 (to 1e-6 of the gravity, or of 1 m/s^2 or rad/s^2), and the linear equations stay the
// same along the motion; else SR_INPUT, and the message states the joint and its acceleration. d keeps its state. *out is
// NULL unless SR_OK.
SR_API srStatus sr_linearize(const srModel* m, srData* d, srMessages* messages, srLinear** out);
// The same at rest with rigid contacts, those of sr_rest_rigid_create at d's state: closed ones are constraints, normal and, where friction holds them, tangential. Contacts by force laws, NULL: sr_linearize.
SR_API srStatus sr_linearize_rest(const srModel* m, srData* d, const srRest* rest, srMessages* messages,
                                  srLinear** out);
SR_API void sr_linear_destroy(srLinear* linear);

// Gains G(i omega) = C (i omega - A)^-1 B from ninput inputs to noutput outputs: B is nx x ninput, C noutput x nx; out: noutput x ninput pairs re, im, NaN
// where i omega is an eigenvalue. SR_MEMORY.
SR_API srStatus sr_frequency_response(const srLinear* linear, int ninput, const double* B, int noutput, const double* C,
                                      double omega, double* out);

// ----------------------------------------------------------------------------------------------------------------- modes
typedef struct srModeEntry {
  double modulus, phase;  // phase in (-pi, pi], 0 where the modulus is
} srModeEntry;

typedef struct srMode {
  double re, im;
  double frequency;  // |im|/(2 pi), Hz
  double damping;    // -re/|lambda|; NaN: lambda is 0
  int multiplicity;  // how many eigenvalues are equal to this one within rounding
  int vectors;       // independent eigenvectors among them: fewer, and the eigenvalue is defective
  double
      condition;  // of the eigenvalue, >= 1: how much a relative change of A is magnified; infinite where it is defective
  srModeEntry* shape;  // njv: of the joint coordinates, the largest modulus 1 with phase 0
  srModeEntry* state;  // nstate: of the states y in the same scale; 1 at most where no joint moves
} srMode;

typedef struct srModes {
  int n;         // nx of the linear equations
  srMode* mode;  // sorted by modulus, then re, then im
  int zeros;     // eigenvalues that are 0: rank of A and of its powers, not a threshold on eigenvalues
  int rigid;     // independent eigenvectors of those
} srModes;
// *out is NULL unless SR_OK. SR_FAILED: the iteration did not converge.
SR_API srStatus sr_modes_create(const srLinear* linear, srMessages* messages, srModes** out);
SR_API void sr_modes_destroy(srModes* modes);
SR_API void sr_modes_keep(srModes* modes, int count);  // the first ones alone, one more where a pair would be cut

// The smallest eigenvalues of a large tree at rest, without matrices of the size of the model (docs/theory/modes.md): `count` of them, one more where a pair would be cut.
// *possible false, SR_OK and no result: the model moves, has constraints, or force elements that act on more than one joint; then sr_linearize. Of multiple
// eigenvalues it may find fewer; multiplicities and conditions are not computed.
SR_API srStatus sr_modes_smallest(const srModel* m, srData* d, int count, srMessages* messages, bool* possible,
                                  srModes** out);

// A mode as a motion: d gets the state at this phase (rad) of its period, about the state `at` of the linear equations (relative coordinates): the largest entry of the shape moves by the amplitude, rad or m; damped
// modes are undamped, those that do not oscillate take 1 s. Loops are closed by the dependent coordinates. SR_FAILED: not at this amplitude.
SR_API double sr_mode_period(const srMode* mode);  // s
SR_API srStatus sr_mode_state(const srLinear* linear, const srMode* mode, const srData* at, double amplitude,
                              double phase, srMessages* messages, srData* d);

// Of the largest real part, compared with the rounding of eigenvalues. Marginal: it is 0, as far as can be computed, or it is below 0 and the linear equations are loose.
typedef enum srStability { SR_STABLE, SR_UNSTABLE, SR_MARGINAL } srStability;
SR_API srStability sr_modes_stability(const srModes* modes);
SR_API const char* sr_stability_word(srStability stability);

// Eigenvalues at the next value of a parameter, in the order of those before that they continue; both n pairs re, im.
SR_API srStatus sr_eigenvalues_track(int n, const double* before, double* after);

#ifdef __cplusplus
}
#endif
#endif
