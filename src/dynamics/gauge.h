// Joint coordinates of a model whose bodies are all free (gauge.c).
#ifndef SR_DYNAMICS_GAUGE_H
#define SR_DYNAMICS_GAUGE_H

#include <sarrus/model.h>

void sr_gauge_positions(const srModel* m, srData* d);   // d->jq, jJ; part of sr_kinematics
void sr_gauge_velocities(const srModel* m, srData* d);  // d->jv, jbias; part of sr_velocity

// Takes d's angles and rotations as those that the next ones are counted from. Needs the velocity stage.
void sr_gauge_accept(const srModel* m, srData* d);

// out (nv) += by times the row of joint velocity k; out (nv) += J^T f for f over all joint velocities.
void sr_gauge_row(const srModel* m, const srData* d, int k, double by, double* out);
void sr_gauge_transposed(const srModel* m, const srData* d, const double* f, double* out);
// jv' = J a + jbias for accelerations a (nv).
double sr_gauge_acceleration(const srModel* m, const srData* d, int k, const double* a);

#endif
