// Sine and cosine of four angles at once.
#ifndef SR_MATH_SINCOS_H
#define SR_MATH_SINCOS_H

// x: four angles (rad), aligned to 32 bytes; out: four sines, then four cosines, aligned too.
// Error below 1 ulp + 1.2e-16 for |x| <= 1e5; larger and nonfinite values use the C library.
void srm_sincos4(const double* x, double* out);

#endif
