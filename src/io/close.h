// Loops of robot files that are open by rounded numbers: see close.c.
#ifndef SR_IO_CLOSE_H
#define SR_IO_CLOSE_H

#include "io/xml/reader.h"

typedef struct srLoopEnds {
  const char* type;        // of the closure: ball, weld, revolute, ...
  const double* axis;      // of types that have one; else 3 numbers all the same
  bool flat;               // nothing is held along the axis
  const double* body;      // pose of the first body at the start
  double a[16];            // frame on it, in its own axes; is moved
  double b[16];            // frame of the other end in the world
  double angle, distance;  // out: by how much it was open, rad and m
  bool moved;              // out
} srLoopEnds;

// True: it is closed, or open by less than 1e-3 m and rad and has been closed.
bool sr_loop_close(srLoopEnds* loop);
// Warns of a frame that was moved by more than rounding. what: "link", "body".
void sr_loop_tell(srReader* r, const srLoopEnds* loop, const char* what, const char* name, srPlace place);

#endif
