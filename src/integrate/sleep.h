// Islands that rest are put to sleep: they keep their position, and their contacts, with the impulses they had, are in no problem until something moves them.
//
//   asleep     all velocities of the groups (step_problem.h) that acting contacts couple were below `speed` for the time `time`, no driver moves them and no surface
//              under them moves; then v = 0
//   awake      something awake would touch them within the step; a generalized force on them differs from that of the first step asleep by more than 1e-6 of the
//              largest; a driver, or the surface under them, moves; the motion restarts
//
// What no contact and no dry friction holds never sleeps: it may fly. It is an approximation: motion slower than `speed` ends, and small forces that grow slowly act late.
#ifndef SR_INTEGRATE_SLEEP_H
#define SR_INTEGRATE_SLEEP_H

#include "integrate/step_problem.h"

typedef struct srSleep srSleep;

// time > 0; most: contacts. problem must outlive it. NULL: out of memory.
srSleep* sri_sleep_create(const srSystem* system, const srStepProblem* problem, bool constrained, double time,
                          double speed, int most);
void sri_sleep_destroy(srSleep* sleep);

// NULL for a sleep: nothing ever sleeps.
void sri_sleep_start(srSleep* sleep, double t);  // all are awake
bool sri_sleep_woke(srSleep* sleep);             // since the last call: the step must be repeated
int sri_sleep_count(const srSleep* sleep);       // contacts that sleep
const int* sri_sleep_islands(const srSleep* sleep);
const double* sri_sleep_forces(const srSleep* sleep);  // (nv) of the contacts, where they sleep
const srSleepEvent* sri_sleep_take_events(srSleep* sleep, int* count);

// Whose velocities a contact couples.
typedef enum srSleepSide { SRI_AWAKE, SRI_ASLEEP, SRI_BETWEEN } srSleepSide;
srSleepSide sri_sleep_side(const srSleep* sleep, const srUnilateral* contact);
bool sri_sleep_surface_moves(const srSleep* sleep, const srUnilateral* contact);
void sri_sleep_wake(srSleep* sleep, double t, const srUnilateral* contact, srWakeCause cause);
// Wakes what other forces f (nv) act on, or equations G v + b = 0 (b NULL: none) move.
void sri_sleep_check(srSleep* sleep, double t, const double* f, const double* b);
// v = 0 of what sleeps; its multipliers (NULL: none) are those of when it fell asleep.
void sri_sleep_hold(const srSleep* sleep, double* v, double* lambda);
// After a step of length h to t with velocities v at its end: what falls asleep. Its number of velocities; they are then 0 in v_new, which may not be v.
int sri_sleep_fall(srSleep* sleep, double t, double h, const srStepContact* contact, int count, const double* impulse,
                   const double* v, const double* b, const double* lambda, double* v_new);
void sri_sleep_put_forces(srSleep* sleep, const double* with, const double* without);  // (nv) of what fell asleep
// The impulses of what sleeps, over a step h, to those that are kept.
void sri_sleep_keep(const srSleep* sleep, double h, srKept* kept);

#endif
