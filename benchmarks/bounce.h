// Rigid contact by events and by time-stepping: a ball that bounces on a plane, and a slider-crank with clearance; Newton's restitution, no friction.
#ifndef SARRUS_BENCH_BOUNCE_H
#define SARRUS_BENCH_BOUNCE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Bounce {
  double height, gravity, restitution, t_end;  // of the lowest point
} Bounce;

// models/contact/slider-crank-clearance.xml: lengths, masses and moments of crank, rod and slider; half length, half width and clearance of the slider; rates of the absolute angles at the start.
typedef struct Crank {
  double l1, l2, a, b, c, m1, m2, m3, J1, J2, J3, gravity, restitution, t_end, speed[3];
} Crank;

typedef struct BounceResult {
  double q[3];     // at t_end: height of the ball; absolute angles
  double seconds;  // of processor time, of the whole run from the model on
  long steps;      // of the integrator; -1: it does not say
} BounceResult;

// setting: relative tolerance of events, step of time-stepping. False: it has failed.
bool bounce_siconos(const Bounce* x, bool events, double setting, BounceResult* out);
bool crank_siconos(const Crank* x, double step, BounceResult* out);

#ifdef __cplusplus
}
#endif
#endif
