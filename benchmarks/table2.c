// 1000 RK4 steps of the arms compared with the row "Dynamic Model" of Table II of M. Rodrigues da Silva et al. (2024), Multibody
// dynamics in robotics with focus on contact events: 0.482, 0.715 and 0.947 s on an AMD Ryzen 5 5600X.
//
//   bench-table2 [--quick] [--csv FILE] [--note TEXT] ARM2.xml ARM4.xml ARM6.xml
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

enum { STEPS = 1000 };

static bool run_once(const srModel* m, srData* d, double* seconds) {
  srRunOptions options = sr_run_options(m);
  options.method = "rk4";
  options.step = 1e-3;
  options.t_end = STEPS * options.step;
  options.every = options.t_end;  // first and last row alone
  options.row = NULL;
  options.progress = NULL;
  srMessages* messages = sr_messages_create();
  srRunResult result;
  sr_data_reset(m, d);
  double t = bench_seconds();
  srStatus status = sr_run(m, d, &options, messages, &result);
  *seconds = bench_seconds() - t;
  sr_messages_destroy(messages);
  if (status != SR_OK) fprintf(stderr, "%s\n", result.error_message);
  if (status == SR_OK && result.stats.steps != STEPS) fprintf(stderr, "%ld steps, not %d\n", result.stats.steps, STEPS);
  return status == SR_OK && result.stats.steps == STEPS;
}

static double best_run(const char* path, bool quick) {  // s, NAN when it failed
  srModel* m = bench_load(path, NULL, 0, NULL, NULL);
  if (!m) return NAN;
  srData* d = sr_data_create(m);
  double best = HUGE_VAL, seconds;
  for (int i = 0; i < (quick ? 3 : 50); i++) {
    if (!run_once(m, d, &seconds)) best = NAN;
    if (isnan(best)) break;
    best = fmin(best, seconds);
  }
  sr_data_destroy(d);
  sr_model_destroy(m);
  return best;
}

int main(int argc, char** argv) {
  static const double paper[] = {0.482, 0.715, 0.947};
  const BenchArguments arguments = bench_arguments(argc, argv);
  const bool quick = arguments.quick;
  const char *csv = arguments.csv, *note = arguments.note, *const *path = arguments.path;
  const int n = arguments.npath;
  FILE* file = csv ? fopen(csv, "w") : NULL;
  if (n != 3 || (csv && !file)) {
    fprintf(stderr, "usage: bench-table2 [--quick] [--csv FILE] [--note TEXT] ARM2.xml ARM4.xml ARM6.xml\n");
    return 2;
  }
  if (file) fprintf(file, "# %s\nmodel,seconds,paper_seconds,ratio\n", note);
  printf("%-28s %12s %10s %10s\n", "1000 RK4 steps", "s", "paper s", "ratio");
  int failed = 0;
  for (int i = 0; i < n; i++) {
    double s = best_run(path[i], quick);
    failed |= !(paper[i] / s >= 100);
    printf("%-28s %12.6f %10.3f %10.0f%s\n", path[i], s, paper[i], paper[i] / s,
           paper[i] / s >= 100 ? "" : "  BELOW 100");
    if (file) fprintf(file, "%s,%.9f,%.3f,%.1f\n", path[i], s, paper[i], paper[i] / s);
  }
  if (file) fclose(file);
  return failed;
}
