// Robots of MJCF files that stand or fall on a floor: one interface to both engines.
#ifndef SARRUS_BENCH_ROBOTS_H
#define SARRUS_BENCH_ROBOTS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RobotResult {
  double seconds;  // of the processor
  double deepest;  // m, largest penetration of all steps
  double resting;  // m, the same in the last quarter of the time
  double drift;    // m, way of the base along the floor in the last quarter
} RobotResult;

// Steps of fixed length dt to t_end, solver and contact as the file and the engine have them. reason: of a failure.
bool robot_mujoco(const char* path, double t_end, double dt, RobotResult* result, char reason[256]);

#ifdef __cplusplus
}
#endif
#endif
