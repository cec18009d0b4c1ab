// Contacts of free bodies by their points (integrate.h: srFreeBody): short vectors in world axes in place of rows over generalized velocities.
//   motion (nbody + 1 rows): angular velocity, 0, velocity of the center of mass, 0;  wrench: torque about it, 0, force, 0
// The row behind the last body is that of the world, 0. Both are aligned to 32 bytes. Loops over contacts take four of them side by side, with the bits of one by one.
#ifndef SR_INTEGRATE_POINTS_H
#define SR_INTEGRATE_POINTS_H

#include <math.h>

#include "integrate/step_problem.h"
#include "math/v4.h"

enum { SRI_ROW = 8 };  // numbers of a body in `motion` and `wrench`

// Of bodies from .. to-1: loops over bodies are shared by a team.
void sri_body_motion(const srFreeBody* body, int from, int to, const double* v, double* motion);
// h times the rate of their velocities by the rotation of their axes alone.
void sri_body_turn(const srFreeBody* body, int from, int to, double h, const double* v, double* turn);
void sri_body_force(const srFreeBody* body, int n, const double* wrench, double* f);  // f +=

void sri_body_acceleration(const srFreeBody* body, int n, const double* f, double* a);  // a = M^-1 f

// Velocities at the end of a step, v + h M^-1 (f + wrench) - turn, and the motion with them. wrench NULL: none.
typedef struct srBodyStep {
  const double *v, *turn, *f, *wrench;
  double h;
} srBodyStep;
void sri_body_end(const srFreeBody* body, int from, int to, const srBodyStep* step, double* v, double* motion);
// The motion of those that is known from the solution of a problem, and their velocities with it.
void sri_body_known(const srFreeBody* body, int from, int to, const srStepMotion* known, double* v, double* motion);

// Lengths of velocity and angular velocity, and of their changes.
typedef struct srBodySize {
  double speed, spin, change, turn;
} srBodySize;
void sri_body_sizes(int from, int to, const double* before, const double* motion, srBodySize* out);

// u of the contact, with its own b: normal, two tangents. Bounds of the speed of the points of its two sides, and of how their velocities change, whatever the direction.
void sri_point_velocity(const srUnilateral* contact, const double* motion, double u[3]);
double sri_point_normal_velocity(const srUnilateral* contact, const double* motion);
typedef struct srPointSize {
  double speed, change;
} srPointSize;
static inline srPointSize sri_point_size(const srUnilateral* c, const srBodySize* size) {
  v4 sum = v4_zero();
  for (int side = 0; side < 2; ++side) {
    if (c->body[side] < 0) continue;
    const double reach = fabs(c->arm[side][0]) + fabs(c->arm[side][1]) + fabs(c->arm[side][2]);
    const v4 b = *(const v4_any*)&size[c->body[side]].speed * (v4){1, reach, 1, reach};
    sum += b + __builtin_shufflevector(b, b, 1, 0, 3, 2);
  }
  return (srPointSize){sum[0], sum[2]};
}

// Of contacts first .. count-1 of a problem (any range): u (3 each) at `motion`, u_N at `other`; nbody: of the row of the world. True: normal impulses turn a body.
bool sri_points_velocity(const srStepContact* contact, int first, int count, int nbody, const double* motion,
                         const double* other, double* u, double* other_normal);
// The impulses (3 each) over h on the bodies from .. to-1, in the order of the contacts, added to their rows of `wrench`.
void sri_points_add(const srStepContact* contact, int count, const double* impulse, double h, int from, int to,
                    double* wrench);
// The same in place of what was there.
void sri_points_push(const srStepContact* contact, int count, const double* impulse, double h, int from, int to,
                     double* wrench);
// Work of contacts from .. to-1 on the bodies from the velocities u (3 each) to those at `motion`, four by four: work[i/4] of those from i on; from is a multiple of four.
typedef struct srPointWork {
  double normal, friction;
} srPointWork;
void sri_points_work(const srStepContact* contact, int from, int to, int nbody, const double* impulse, const double* u,
                     const double* motion, srPointWork* work);
// Its rows over the velocities of its bodies, 3 rows.
void sri_point_rows(srUnilateral* contact, const srFreeBody* body);

#endif
