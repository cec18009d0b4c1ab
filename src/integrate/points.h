// Contacts of free bodies by their points (integrate.h: srFreeBody): short vectors in world axes in place of rows over generalized velocities.
//   motion (nbody x 6): angular velocity, velocity of the center of mass;  wrench (nbody x 6): torque about it, force
#ifndef SR_INTEGRATE_POINTS_H
#define SR_INTEGRATE_POINTS_H

#include <sarrus/integrate.h>

void sri_body_motion(const srFreeBody* body, int n, const double* v, double* motion);
void sri_body_force(const srFreeBody* body, int n, const double* wrench, double* f);  // f +=

void sri_body_acceleration(const srFreeBody* body, int n, const double* f, double* a);  // a = M^-1 f

// Lengths of velocity and angular velocity, and of their changes.
typedef struct srBodySize {
  double speed, spin, change, turn;
} srBodySize;
void sri_body_sizes(int n, const double* before, const double* motion, srBodySize* out);

// u of the contact, with its own b: normal, two tangents. Bounds of the speed of the points of its two sides, and of how their velocities change, whatever the direction.
void sri_point_velocity(const srUnilateral* contact, const double* motion, double u[3]);
double sri_point_normal_velocity(const srUnilateral* contact, const double* motion);
double sri_point_speed(const srUnilateral* contact, const srBodySize* size);
double sri_point_change(const srUnilateral* contact, const srBodySize* size);
void sri_point_push(const srUnilateral* contact, const double p[3], double* wrench);
// Its rows over the velocities of its bodies, 3 rows.
void sri_point_rows(srUnilateral* contact, const srFreeBody* body);

#endif
