// Motions: named functions of one argument through points or by profile, smooth enough to drive a joint.
#ifndef SR_MOTION_H
#define SR_MOTION_H

#include <sarrus/function.h>

#include "base/base.h"
#include "math/spline.h"

// Cubic spline (C2) through n >= 2 points, x strictly increasing. Outside the points: holds the end value (clamped), goes on along the end
// tangent (natural) or repeats (periodic: the last y is the first). Returns false (with a sentence in reason) when the points do not allow it.
bool sr_motion_cubic(srPool* pool, const double* x, const double* y, int n, srmSplineEnds ends, srFunction* out,
                     char* reason, size_t size);
// Quintic spline (C4) through the points, first and second derivative zero at both ends; holds the end values outside.
bool sr_motion_quintic(srPool* pool, const double* x, const double* y, int n, srFunction* out, char* reason,
                       size_t size);
// From y0 at x0 to y1 with speed at most vmax and acceleration amax: trapezoidal (or triangular) velocity.
bool sr_motion_trapezoid(srPool* pool, double x0, double y0, double y1, double vmax, double amax, srFunction* out,
                         char* reason, size_t size);
// amplitude * sin(phase(x)), frequency going linearly from f0 to f1 [Hz] over [x0, x0+duration]; 0 before, the tone f1
// goes on after.
bool sr_motion_sweep(srPool* pool, double x0, double duration, double amplitude, double f0, double f1, srFunction* out,
                     char* reason, size_t size);

// Where a motion made above begins, ends, or has a jump of its acceleration: floor(place(x)) is the number of its piece, and piece(k, x) is that piece,
// continued beyond its ends. False: it has no such place.
bool sr_motion_corners(const srFunction* motion, srFunction* place, srFunction2* piece);

// What a motion made above consists of, for code that has no calls: pieces with what is beyond them, or (pieces NULL) a sweep. False: it is another function.
typedef struct srMotionView {
  const srPiecewise* pieces;
  double first, last;  // held before and after, where hold is set; else: along the end tangents
  bool hold;
  double period;                           // > 0: repeats
  double x0, duration, amplitude, f0, f1;  // of a sweep
} srMotionView;
bool sr_motion_view(const srFunction* motion, srMotionView* out);
bool sr_motion_piece_view(const srFunction2* piece, srMotionView* out);  // of the piece of sr_motion_corners

// A continuous function of `at` whose whole part is i on [x_i, x_i+1), -1 before the n >= 2 knots and n-1 beyond them; endless: 0 and n-2 there.
double sr_place(int n, const double* x, bool endless, double at);

#endif
