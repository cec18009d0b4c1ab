// Contacts of free bodies by their points (integrate.h: srFreeBody): short vectors in world axes in place of rows over generalized velocities.
//   motion (nbody + 1 rows): angular velocity, 0, velocity of the center of mass, 0;  wrench: torque about it, 0, force, 0
// The row behind the last body is that of the world, 0. Both are aligned to 32 bytes. Loops over contacts take four of them side by side, with the bits of one by one.
#ifndef SR_INTEGRATE_POINTS_H
#define SR_INTEGRATE_POINTS_H

#include "integrate/step_problem.h"

enum { SRI_ROW = 8 };  // numbers of a body in `motion` and `wrench`

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
typedef struct srPointSize {
  double speed, change;
} srPointSize;
srPointSize sri_point_size(const srUnilateral* contact, const srBodySize* size);

// Of contacts first .. count-1 of a problem: u (3 each) at `motion`, u_N at `other`; nbody: of the row of the world.
void sri_points_velocity(const srStepContact* contact, int first, int count, int nbody, const double* motion,
                         const double* other, double* u, double* other_normal);
// The impulses (3 each) over h on the bodies, in the order of the contacts.
void sri_points_push(const srStepContact* contact, int count, const double* impulse, double h, double* wrench);
// Their work on the bodies from the velocities u (3 each) to those at `motion`: normal and tangential part, added.
void sri_points_work(const srStepContact* contact, int count, int nbody, const double* impulse, const double* u,
                     const double* motion, double* normal, double* friction);
// Its rows over the velocities of its bodies, 3 rows.
void sri_point_rows(srUnilateral* contact, const srFreeBody* body);

#endif
