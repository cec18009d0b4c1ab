// Small things that several analyses need.
#ifndef SR_ANALYSIS_NUMBERS_H
#define SR_ANALYSIS_NUMBERS_H

#include <sarrus/integrate.h>
#include <string.h>

// A number in [-1, 1) from a count, the same everywhere: initial positions beside the given one.
static inline double sr_scatter(unsigned i) {
  i = (i ^ 61U) ^ (i >> 16U);
  i *= 9U;
  i ^= i >> 4U;
  i *= 0x27d4eb2dU;
  i ^= i >> 15U;
  return (double)(i & 0xffffffU) / (double)0x800000 - 1.0;
}

// Numbers x by a pattern as a full matrix; pattern NULL: they are one.
static inline void sr_spread(const srSparsity* pattern, int rows, int columns, const double* x, double* out) {
  const size_t count = (size_t)rows * (size_t)columns;
  if (pattern == NULL) {
    memcpy(out, x, count * sizeof *out);
    return;
  }
  memset(out, 0, count * sizeof *out);
  for (int i = 0; i < rows; ++i) {
    for (int k = pattern->row[i]; k < pattern->row[i + 1]; ++k)
      out[(size_t)i * (size_t)columns + (size_t)pattern->column[k]] = x[k];
  }
}

#endif
