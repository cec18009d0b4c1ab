// One interface to every engine that simulates mechanisms with loops, Sarrus among them.
//
// A mechanism is a compiled model of revolute joints with parallel axes and of points held together in their plane, so all
// engines see the same numbers; springs and motors are given separately. Coordinates are the joint angles of the model.
#ifndef SARRUS_BENCH_LOOP_H
#define SARRUS_BENCH_LOOP_H

#include <sarrus/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LoopSpring {
  int a, b;                  // points
  double stiffness, length;  // N/m, m
} LoopSpring;

typedef struct LoopMechanism {
  const srModel* m;
  double t_end;
  int nspring, nmotor;
  LoopSpring spring[1];
  struct {
    int dof;
    double torque;  // Nm
  } motor[1];
} LoopMechanism;

typedef struct LoopResult {
  double *q, *v;   // at t_end (nv each)
  double seconds;  // processor time of the integration alone: the model is built before
  long steps;
  char reason[256];  // it failed
} LoopResult;

// One way of one engine. `setting` is its tolerance, or its step in s.
typedef struct LoopMethod {
  const char *engine, *name;
  const char* setting;  // what it is called
  bool (*run)(const struct LoopMethod* method, const LoopMechanism* mechanism, double setting, LoopResult* result);
} LoopMethod;

extern const LoopMethod loop_simbody_merson, loop_simbody_merson_ball, loop_simbody_fehlberg, loop_simbody_cpodes;
extern const LoopMethod loop_mujoco_rk4;

#ifdef __cplusplus
}
#endif
#endif
