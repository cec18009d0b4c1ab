// Derivatives of the tree's dynamics by its coordinates, for the tangent of implicit methods (docs/theory/tangent.md). By q means
// along the directions of sr_retract, which rotate and shift everything beyond link k by its axis S_k.
#ifndef SR_DYNAMICS_DERIVATIVE_H
#define SR_DYNAMICS_DERIVATIVE_H

#include <sarrus/model.h>

#include "math/entries.h"

// ---- rnea_derivative.c
// Derivatives of M a + c by q and by v, added to the entries: all pairs of coordinates on one path to the ground. Needs the
// velocity stage of d except where entries are only recorded. work: sr_rnea_derivative_work doubles, aligned to 32 bytes.
int sr_rnea_derivative_work(const srModel* m);
void sr_rnea_derivative(const srModel* m, const srData* d, const double* a, double* work, srmEntries* out);

// ---- chain.c
// The coordinates between two frames, from the observer's tip to the junction of the paths and on to the point's tip; the columns c
// of the twist that an observer sees, t = sum c v, as in sr_frame_jacobian and sr_path_columns.
typedef struct srChain {
  int point, observer, common;  // common as in sr_path_columns, -1: none
  int n, n_observer;            // coordinates, those on the observer's path
  const int* dof;               // n
  const int* link;              // n
  const int* turn;          // n x 2: the columns that a displacement along each rotates, first and one past the last
  const double* v;          // velocities of the model (nv)
  double* c;                // n x 6: angular, linear
  double* dt;               // n x 6: derivative of t along each coordinate, v held
  double* arm;              // n x 6: scratch of sr_chain_wrench
  double R[9], d[3], t[6];  // observed pose and twist, in the observer's axes (common: of both, point minus observer)
} srChain;
enum { SR_CHAIN_INTS = 4, SR_CHAIN_NUMBERS = 18 };  // memory per coordinate

int sr_chain_count(const srModel* m, int point, int observer);
void sr_chain_init(const srModel* m, int point, int observer, int common, int* ints, double* reals, srChain* out);
void sr_chain_evaluate(const srModel* m, const srData* d, srChain* chain);  // needs the velocity stage
// Derivative of column j along coordinate k (6).
void sr_chain_second(const srChain* chain, int j, int k, double* out);
// A wrench w over the twist, with its derivatives Lx by the pose (6 x 6 over c) and Lt by the twist (either may be NULL), gives
// the force Q_j = c_j . w: subtracts dQ/dq and dQ/dv from the entries.
void sr_chain_wrench(const srChain* chain, const double* w, const double* Lx, const double* Lt, srmEntries* out);

// ---- measurement_derivative.c
// Joint velocity k of a measurement, jv = h . t, with its row h over the twist and L = dh by the pose (6 x 6 over the twist), with R
// the observed rotation.
void sr_measurement_jacobian(const srMeasurement* measurement, int k, const double* R, double* h, double* L);
// The relative acceleration t' of a chain of at most two free bodies, from the accelerations a (nv) and d's velocities; its
// derivatives by q and by v along each coordinate.
enum { SR_MEASUREMENT_CHAIN = 12 };
typedef struct srChainAcceleration {
  double value[6], by_q[SR_MEASUREMENT_CHAIN][6], by_v[SR_MEASUREMENT_CHAIN][6];
} srChainAcceleration;
void sr_chain_acceleration(const srChain* chain, const double* a, srChainAcceleration* out);
// Derivatives of jv' of joint velocity k of a measurement by q and by v along the chain (n each); returns jv'.
double sr_measurement_acceleration_jacobian(const srMeasurement* measurement, int k, const srChain* chain,
                                            const srChainAcceleration* accel, double* by_q, double* by_v);

#endif
