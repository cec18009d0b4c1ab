// What the benchmark programs share: models, random states, the clock.
#ifndef SARRUS_BENCH_COMMON_H
#define SARRUS_BENCH_COMMON_H

#include <sarrus/sarrus.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Reads and compiles a model; on failure prints all messages and returns NULL. load_s and compile_s may be NULL.
srModel* bench_load(const char* path, const srSetting* settings, int nsetting, double* load_s, double* compile_s);
// Compiles a spec and destroys it; on failure prints all messages and returns NULL.
srModel* bench_compile(srSpec* spec);

// The humanoid gets two fingers of three joints on each hand; tied: which all follow its gripper, by couplings.
void bench_add_fingers(srSpec* spec, bool tied);

// [--quick] [--csv FILE] [--note TEXT] PATH...: what every program takes.
typedef struct BenchArguments {
  bool quick;
  const char *csv, *note;  // csv NULL: none
  const char* path[8];
  int npath;
} BenchArguments;
BenchArguments bench_arguments(int argc, char** argv);

double bench_seconds(void);      // monotonic
double bench_cpu_seconds(void);  // processor time of this process: runs of seconds are not disturbed by others
double bench_random(uint64_t* seed, double low, double high);
// Angles in a full turn, lengths within 1 m, unit quaternions; velocities, accelerations and forces of order 1 to 10.
void bench_random_state(const srModel* m, uint64_t* seed, double* q, double* v, double* a, double* tau);

#ifdef __cplusplus
}
#endif
#endif
