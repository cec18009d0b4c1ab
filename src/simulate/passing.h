// Thin bodies that are fast: two shapes must not pass through each other within a step.
#ifndef SR_SIMULATE_PASSING_H
#define SR_SIMULATE_PASSING_H

#include "simulate/contact_monitor.h"

typedef struct srPassing srPassing;

srPassing* sr_passing_create(const srModel* m, srData* d);  // NULL: out of memory
void sr_passing_destroy(srPassing* passing);

// Where error control chooses the steps: how far the next one may go, so that no two shapes overlap by more than half of the smaller thickness
// beyond what they do now, unless forces grow within it. d is at the state of the integrator; step: its expected length.
void sr_passing_limit(srPassing* passing, const srContactMonitor* contacts, const srIntegrator* integrator, double step,
                      double* limit);

// After a step without an event: calls `passed` for each contact that is open at both ends of it and was closed in between.
void sr_passing_check(srPassing* passing, const srContactMonitor* contacts, const srIntegrator* integrator, void* user,
                      void (*passed)(void* user, double t, double step, int i));

#endif
