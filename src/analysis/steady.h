// Velocities that stay constant: along which no force changes.
#ifndef SR_ANALYSIS_STEADY_H
#define SR_ANALYSIS_STEADY_H

#include "base/base.h"

typedef struct srSteady {
  int n, nz;                 // independent velocities; directions in which they are free
  double* Z;                 // n x nz, row-major, orthonormal columns
  double *work, *basis, *L;  // memory
  double *pivot, *rest;
  int* order;
} srSteady;
// For n velocities, with at most nrow + nc equations.
srSteady sr_steady(srPool* pool, int n, int nrow, int nc);

// Moves x (n) to the nearest velocities with C x = c (nc x n), rows of C of any length, and A x = 0 (nrow x n), and finds Z: what of x is free then. Of A rows shorter than tau of the longest one, after elimination, are
// 0. Returns the largest violation that is left, of x for rows of length 1: > 0 beyond rounding where the equations contradict each other.
double sr_steady_project(srSteady* s, int nrow, const double* A, double tau, int nc, const double* C, const double* c,
                         double* x);

#endif
