// The frame of a closure about its axis or normal.
#include "model/closure.h"

#include <math.h>
#include <string.h>

#include "math/pose.h"

void sr_closure_triad(const double n[3], double frame[3][3]) {
  int k = 0;
  for (int i = 1; i < 3; i++) k = fabs(n[i]) > fabs(n[k]) ? i : k;
  const int next = (k + 1) % 3;
  for (int i = 0; i < 3; i++) frame[0][i] = (i == next) - n[next] * n[i];
  const double length = srm_norm3(frame[0]);
  for (int i = 0; i < 3; i++) frame[0][i] /= length;
  memcpy(frame[2], n, 3 * sizeof *n);
  srm_cross3(frame[2], frame[0], frame[1]);
}
