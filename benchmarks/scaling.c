// A row of N four-bar linkages: time of a step and memory, each per loop, must not grow with N.
//
//   bench-scaling [--quick] [--csv FILE] [--note TEXT] N-FOUR-BAR.xml
//
// One process for every N and method, so that its largest memory is its own. Time of a step: processor time, the smallest of
// all accepted steps that needed the usual number of evaluations. Memory: largest resident set less that of N = 1. Setup is
// reading, compiling, assembly of the start, and all that the integrator prepares.
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

enum { STEPS = 12, QUICK_STEPS = 6 };

static const char* const methods[] = {"dopri5", "mdop5", "hem5"};
enum { METHODS = sizeof methods / sizeof *methods };

typedef struct Row {
  int n;
  double read_s, setup_s, step_s;
  double memory;  // bytes, largest resident set
} Row;

// Of the steps with the fewest evaluations: others were repeated. The first one also starts and does not count.
static double best_step(srIntegrator* integrator, int steps) {
  double best = HUGE_VAL;
  long fewest = 0;
  for (int i = 0; i <= steps; i++) {
    const long before = sri_stats(integrator)->evaluations;
    const double t = bench_cpu_seconds();
    if (sri_step(integrator, 10) != SR_OK) {
      fprintf(stderr, "%s\n", sri_error_message(integrator));
      return NAN;
    }
    const double s = bench_cpu_seconds() - t;
    const long evaluations = sri_stats(integrator)->evaluations - before;
    if (i == 0 || (fewest > 0 && evaluations > fewest)) continue;
    best = fewest == 0 || evaluations < fewest ? s : fmin(best, s);
    fewest = evaluations;
  }
  return best;
}

static bool step_model(const srModel* m, const char* method, int steps, Row* row) {
  srData* d = sr_data_create(m);
  srMessages* messages = sr_messages_create();
  srIntegrator* integrator = NULL;
  srAssembly assembly;
  const double t = bench_cpu_seconds();
  srModelSystem user = {.m = m, .d = d};
  const srSystem system = sr_system(&user);
  srIntegratorOptions options = sri_default_options();
  options.rtol = options.atol = 1e-6;
  bool good = sr_assemble(m, d, messages, &assembly) == SR_OK &&
              sri_create(method, &system, &options, messages, &integrator) == SR_OK &&
              sri_start(integrator, 0, d->q, d->v, d->y) == SR_OK;
  row->setup_s = bench_cpu_seconds() - t;
  row->step_s = good ? best_step(integrator, steps) : NAN;
  sri_destroy(integrator);
  sr_messages_destroy(messages);
  sr_data_destroy(d);
  return good && !isnan(row->step_s);
}

static bool measure_here(const char* path, int n, const char* method, int steps, Row* row) {
  char value[32];
  snprintf(value, sizeof value, "%d", n);
  const srSetting settings[] = {{"N", value}, {"start", "2"}, {"speed", "0"}};
  *row = (Row){.n = n};
  const double t = bench_cpu_seconds();
  srModel* m = bench_load(path, settings, 3, NULL, NULL);
  row->read_s = bench_cpu_seconds() - t;
  const bool good = m && step_model(m, method, steps, row);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  row->memory = 1024.0 * (double)usage.ru_maxrss;
  sr_model_destroy(m);
  return good;
}

static bool measure(const char* path, int n, const char* method, int steps, Row* row) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    const bool good = measure_here(path, n, method, steps, row);
    const bool sent = write(ends[1], row, sizeof *row) == (ssize_t)sizeof *row;
    _exit(good && sent ? 0 : 1);
  }
  close(ends[1]);
  const bool received = child > 0 && read(ends[0], row, sizeof *row) == (ssize_t)sizeof *row;
  close(ends[0]);
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  return received && status == 0;
}

static bool measure_best(const char* path, int n, const char* method, bool quick, Row* row) {
  bool good = measure(path, n, method, quick ? QUICK_STEPS : STEPS, row);
  for (int i = 1; i < (quick ? 1 : 3) && good; i++) {
    Row again;
    good = measure(path, n, method, STEPS, &again);
    row->read_s = fmin(row->read_s, again.read_s);
    row->setup_s = fmin(row->setup_s, again.setup_s);
    row->step_s = fmin(row->step_s, again.step_s);
  }
  return good;
}

int main(int argc, char** argv) {
  const int sizes[] = {10, 30, 100, 300, 1000, 2000};
  const BenchArguments arguments = bench_arguments(argc, argv);
  const bool quick = arguments.quick;
  const char *csv = arguments.csv, *note = arguments.note, *path = arguments.npath > 0 ? arguments.path[0] : NULL;
  FILE* file = csv ? fopen(csv, "w") : NULL;
  if (!path || (csv && !file)) {
    fprintf(stderr, "usage: bench-scaling [--quick] [--csv FILE] [--note TEXT] N-FOUR-BAR.xml\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  if (file) fprintf(file, "# %s\nmethod,loops,read_s,setup_s,step_s,step_us_per_loop,kbyte_per_loop\n", note);
  printf("%-8s %8s %12s %12s %12s %16s %14s\n", "method", "loops", "read ms", "setup ms", "step ms", "step us/loop",
         "kB/loop");
  int failed = 0;
  for (int k = 0; k < METHODS; k++) {
    Row one, r;
    double least = HUGE_VAL, most = 0;
    if (!measure(path, 1, methods[k], QUICK_STEPS, &one)) return 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      if (!measure_best(path, sizes[i], methods[k], quick, &r)) return 1;
      const double us = 1e6 * r.step_s / r.n, kb = 1e-3 * (r.memory - one.memory) / r.n;
      printf("%-8s %8d %12.2f %12.2f %12.4f %16.2f %14.2f\n", methods[k], r.n, 1e3 * r.read_s, 1e3 * r.setup_s,
             1e3 * r.step_s, us, kb);
      if (file)
        fprintf(file, "%s,%d,%.6f,%.6f,%.9f,%.4f,%.3f\n", methods[k], r.n, r.read_s, r.setup_s, r.step_s, us, kb);
      least = fmin(least, us);
      most = fmax(most, us);
    }
    printf("%s: time of a step per loop is flat within %.2f times (aim: 2)\n", methods[k], most / least);
    failed |= most / least > 2 && !quick;
  }
  if (file) fclose(file);
  return failed;
}
