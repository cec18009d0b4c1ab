// Functions of the time along a step, sampled in pieces, with the humps between the samples.
#ifndef SR_SIMULATE_SCAN_H
#define SR_SIMULATE_SCAN_H

#include <stdbool.h>

typedef struct srScan {
  int n;
  void* user;
  int (*evaluate)(void* user, double t, double* value);      // the functions at t (n); 0: done
  bool (*visit)(void* user, double t, const double* value);  // true: enough
  double *before, *middle, *value, *trial;                   // n each: at the last three samples, and between them
} srScan;

// Visits the ends of so many pieces of [a, b], in order, and where a function turns back beyond zero between them. Returns the time at which that was
// enough, with the last sample before it in *left; HUGE_VAL: never.
double sr_scan_step(srScan* scan, double a, double b, int pieces, double* left);

#endif
