// Balls that fall into a bin with a square floor and settle: one interface to every engine.
#ifndef SARRUS_BENCH_BALLS_H
#define SARRUS_BENCH_BALLS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Walls at x, y = 0 and width, the floor at z = 0; gravity along -z.
typedef struct BallsScene {
  int n;
  const double* centre;  // n x 3: at rest at the start
  double radius, mass, width, gravity, mu;
} BallsScene;

typedef struct BallsResult {
  double seconds;  // of the processor
  double deepest;  // m, largest penetration of all steps
  double resting;  // m, the same in the last tenth of the time
  double speed;    // m/s, mean of all balls at the end
  int lost;        // balls outside of the bin at the end
  long steps;
} BallsResult;

// Steps of fixed length dt from 0 to t_end.
bool balls_ode(const BallsScene* scene, double t_end, double dt, BallsResult* result);     // QuickStep, 20 iterations
bool balls_bullet(const BallsScene* scene, double t_end, double dt, BallsResult* result);  // sequential impulses, 10

static inline void balls_depth(BallsResult* r, bool last_tenth, double depth) {
  if (depth > r->deepest) r->deepest = depth;
  if (last_tenth && depth > r->resting) r->resting = depth;
}

static inline bool balls_outside(const BallsScene* s, const double* x) {
  return !(x[0] > 0 && x[0] < s->width && x[1] > 0 && x[1] < s->width && x[2] > 0);
}

#ifdef __cplusplus
}
#endif
#endif
