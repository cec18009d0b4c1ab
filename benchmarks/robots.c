// Robots on a floor by time-stepping with rigid contact, beside MuJoCo on the same MJCF files at the same step.
//
//   bench-robots [--quick] [--csv FILE] [--note TEXT] ROBOT.xml ...
//
// Exit status 1: a run fails, or the first robot takes more processor time than it simulates.
#define _DEFAULT_SOURCE
#include "robots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

#define STEP 1e-3

static bool run_sarrus(const srModel* m, double t_end, RobotResult* out, double* residual) {
  srRunOptions options = sr_run_options(m);
  srMessages* messages = sr_messages_create();
  srData* d = sr_data_create(m);
  srRunResult result[2];
  double from[2];
  options.contact = SR_CONTACT_TIMESTEPPING;
  options.method = "moreau";
  options.step = STEP;
  options.t_end = 0.75 * t_end;
  const double t = bench_cpu_seconds();
  bool good = sr_run(m, d, &options, messages, &result[0]) == SR_OK;
  memcpy(from, d->q, sizeof from);
  options.t_end = t_end;
  good = good && sr_run(m, d, &options, messages, &result[1]) == SR_OK;
  *out = (RobotResult){.seconds = bench_cpu_seconds() - t, .drift = hypot(d->q[0] - from[0], d->q[1] - from[1])};
  if (good) {
    out->deepest = fmax(result[0].penetration, result[1].penetration);
    out->resting = result[1].penetration;
    *residual = fmax(result[0].complementarity, result[1].complementarity);
  }
  sr_data_destroy(d);
  sr_messages_destroy(messages);
  return good;
}

static void print_row(const char* name, const char* engine, double t_end, const RobotResult* r, double residual,
                      FILE* csv) {
  printf("%-12s %-8s %12.1f %14.3g %14.3g %12.3g %12.2g\n", name, engine, t_end / r->seconds, 1e3 * r->deepest,
         1e3 * r->resting, 1e3 * r->drift, residual);
  if (csv)
    fprintf(csv, "%s,%s,%.3f,%.6e,%.6e,%.6e,%.6e\n", name, engine, t_end / r->seconds, r->deepest, r->resting, r->drift,
            residual);
}

// most: s of processor time.
static bool compare(const char* path, double t_end, double most, FILE* csv) {
  char name[64];
  const char* slash = strrchr(path, '/');
  snprintf(name, sizeof name, "%.*s", (int)strcspn(slash ? slash + 1 : path, "."), slash ? slash + 1 : path);
  srModel* m = bench_load(path, NULL, 0, NULL, NULL);
  RobotResult result;
  double residual = NAN;
  if (!m) return false;
#ifdef HAVE_MUJOCO
  char reason[256] = "";
  if (robot_mujoco(path, t_end, STEP, &result, reason)) {
    print_row(name, "mujoco", t_end, &result, NAN, csv);
  } else {
    fprintf(stderr, "%s: mujoco left out: %s\n", name, reason);
  }
#endif
  const bool good = run_sarrus(m, t_end, &result, &residual);
  if (good) print_row(name, "sarrus", t_end, &result, residual, csv);
  sr_model_destroy(m);
  return good && result.seconds < most;
}

int main(int argc, char** argv) {
  const BenchArguments a = bench_arguments(argc, argv);
  FILE* csv = a.csv ? fopen(a.csv, "w") : NULL;
  if (a.npath < 1 || (a.csv && !csv)) {
    fprintf(stderr, "usage: bench-robots [--quick] [--csv FILE] [--note TEXT] ROBOT.xml ...\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  printf("%-12s %-8s %12s %14s %14s %12s %12s\n", "robot", "engine", "sim s/cpu s", "deepest mm", "at rest mm",
         "drift mm", "resid m/s");
  if (csv)
    fprintf(csv, "# %s\nrobot,engine,simulated_per_cpu_second,deepest_m,resting_m,drift_m,residual_m_per_s\n", a.note);
  bool good = true;
  const double t_end = a.quick ? 0.4 : 4;
  for (int i = 0; i < a.npath; i++) good = compare(a.path[i], t_end, i == 0 ? t_end : HUGE_VAL, csv) && good;
  if (csv) fclose(csv);
  return good ? 0 : 1;
}
