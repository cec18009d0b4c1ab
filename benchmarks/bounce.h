// A ball that bounces on a plane with Newton's restitution: by events, and by time-stepping.
#ifndef SARRUS_BENCH_BOUNCE_H
#define SARRUS_BENCH_BOUNCE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Bounce {
  double height, gravity, restitution, t_end;  // of the lowest point
} Bounce;

typedef struct BounceResult {
  double height;   // at t_end
  double seconds;  // of processor time, of the whole run from the model on
  long steps;      // of the integrator; -1: it does not say
} BounceResult;

// setting: relative tolerance of events, step of time-stepping. False: it has failed.
bool bounce_siconos(const Bounce* x, bool events, double setting, BounceResult* out);

#ifdef __cplusplus
}
#endif
#endif
