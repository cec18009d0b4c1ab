// Joint coordinates of a model whose bodies are all free (measurement.c).
#ifndef SR_DYNAMICS_MEASUREMENT_H
#define SR_DYNAMICS_MEASUREMENT_H

#include <sarrus/model.h>

void sr_measurement_positions(const srModel* m, srData* d);   // d->jq, jJ
void sr_measurement_velocities(const srModel* m, srData* d);  // d->jv, jbias

// Both, as far as the links have come and unless they are known; relative coordinates: nothing (kinematics.c).
void sr_measure_joints(const srModel* m, srData* d);

// Notes that jq belong to d's z and t (kinematics.c).
void sr_measurements_keep(const srModel* m, srData* d);

// Makes d's angles and rotations the reference that the next ones are counted from. Needs the velocity stage.
void sr_measurement_accept(const srModel* m, srData* d);

// out (nv) += by times the row of joint velocity k; out (nv) += J^T f for f over all joint velocities.
void sr_measurement_row(const srModel* m, const srData* d, int k, double by, double* out);
void sr_measurement_transposed(const srModel* m, const srData* d, const double* f, double* out);
// jv' = J a + jbias for accelerations a (nv).
double sr_measurement_acceleration(const srModel* m, const srData* d, int k, const double* a);

#endif
