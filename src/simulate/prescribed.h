// What drivers and constraint formulas prescribe, before and after switches of their formulas: a rate that jumps is an impulse, a position that jumps an error.
#ifndef SR_SIMULATE_PRESCRIBED_H
#define SR_SIMULATE_PRESCRIBED_H

#include <sarrus/model.h>

// Of a driver: its motion and speed. Of a constraint formula: what is left of its equation, g and G v + b.
typedef struct srPrescribed {
  double position, rate;
} srPrescribed;

typedef struct srMotionJump {
  const srModel* m;
  srData* d;
  srPrescribed *before, *after;  // of drivers, then of constraint formulas
  int leap;                      // the one among them whose position jumps; -1: none
} srMotionJump;

bool sr_motion_may_jump(const srModel* m);     // has switches of drivers or constraint formulas
size_t sr_motion_jump_size(const srModel* m);  // bytes that before and after take together
void sr_motion_jump_init(srMotionJump* x, const srModel* m, srData* d, void* memory);
// At d's state, evaluated to the velocity stage, with the branches that d holds.
void sr_motion_before(srMotionJump* x);
// The same after a switch, at the same state; true: a rate jumps. of_time: the switches depend on nothing else.
bool sr_motion_jumps(srMotionJump* x, bool of_time);
// The position that jumps at t, as a sentence; false: none.
bool sr_motion_leaps(const srMotionJump* x, double t, char* sentence, size_t size);

#endif
