// Time of generated functions with several states in the lanes of a vector: ns a state, the smallest of many windows, each call at another of 16 sets of random states; and the distance of every lane from one state
// at a time. Compiled by benchmarks/lanes once for every width, with the generated file: -DSR_LANES=8 -DNQ=6 -DNV=6 -Dforward=ur5_accel ...
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef SR_LANES
#define LANES SR_LANES
typedef double Real __attribute__((vector_size(SR_LANES * sizeof(double))));
#else
#define LANES 1
typedef double Real;
#endif
enum { SETS = 16, WINDOWS = 400, CALLS = 4096, WIDTH = NQ + 2 * NV };

void forward(const Real* q, const Real* v, const Real* tau, Real* a);
void inverse(const Real* q, const Real* v, const Real* a, Real* tau);
void inertia(const Real* q, Real* M);

static _Alignas(64) double input[SETS][WIDTH][LANES], output[NV * NV][LANES], again[NV][LANES];

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void call(int what, int set) {
  const Real *q = (const Real*)input[set], *v = q + NQ, *x = v + NV;
  if (what == 0) forward(q, v, x, (Real*)output);
  if (what == 1) inverse(q, v, x, (Real*)output);
  if (what == 2) inertia(q, (Real*)output);
}

// Smallest of the windows, ns a state.
static double time_of(int what) {
  double least = INFINITY;
  for (int i = 0; i < WINDOWS; i++) {
    const double from = seconds();
    for (int k = 0; k < CALLS; k++) call(what, k % SETS);
    least = fmin(least, (seconds() - from) / CALLS / LANES);
  }
  return 1e9 * least;
}

// The forces of inverse dynamics at the accelerations of forward dynamics: the largest distance from what was given, of the largest.
static double residual(void) {
  double worst = 0;
  for (int set = 0; set < SETS; set++) {
    const Real* q = (const Real*)input[set];
    call(0, set);
    inverse(q, q + NQ, (const Real*)output, (Real*)again);
    for (int i = 0; i < NV; i++) {
      for (int lane = 0; lane < LANES; lane++)
        worst = fmax(worst, fabs(again[i][lane] - input[set][NQ + NV + i][lane]));
    }
  }
  return worst;
}

int main(void) {
  static const char* const name[] = {"forward dynamics", "inverse dynamics", "mass matrix"};
  srand(1);
  for (double* x = &input[0][0][0]; x < &input[0][0][0] + sizeof input / sizeof *x; x++)
    *x = 2.0 * rand() / RAND_MAX - 1;
  for (int what = 0; what < 3; what++) printf("%2d lanes  %-18s %8.2f ns a state\n", LANES, name[what], time_of(what));
  printf("%2d lanes  inverse of forward dynamics: %.1e from the forces given\n", LANES, residual());
  return !(residual() < 1e-9);
}
