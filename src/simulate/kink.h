// Kinks of force laws (abs, min, max of the state) that a step passes and passes back.
#ifndef SR_SIMULATE_KINK_H
#define SR_SIMULATE_KINK_H

#include <sarrus/simulate.h>

typedef struct srKinkMonitor {
  const srModel* m;
  srData* d;
  const srIntegrator* integrator;
  int n;
  double step;            // length of the last one
  double *q, *v, *y;      // state within a step
  double* value;          // n: of the functions
  double* work;           // 4 n: samples along a step
  double* largest;        // n: magnitudes met so far
  double *peak, *passed;  // n: beyond the kink, within a step; and the time at which it was first seen there
  int* changes;           // n: of the sign within a step
  signed char* direction;
  signed char *first, *last;  // n: signs at the start of a step and at the last piece
  signed char* armed;         // n: sign at the start of a step that passes the kink and passes it back; 0: it does not
} srKinkMonitor;

srKinkMonitor* sr_kinks_create(const srModel* m, srData* d,
                               const srIntegrator* integrator);  // n may be 0. NULL: out of memory
void sr_kinks_destroy(srKinkMonitor* monitor);
srEventSource sr_kinks_source(srKinkMonitor* monitor);

#endif
