// Steps one by one: how many a second, of rk4 at 1 ms, from a loop in C: sr_step, with the forces of the caller changed in every step and without,
// and MuJoCo's mj_step on the same file where it is installed. benchmarks/steps.py has the same from Python.
//
//   bench-steps [--quick] [--csv FILE] [--note TEXT] ARM.xml        an MJCF file, which both read
#include <math.h>
#include <stdio.h>

#include "common.h"

#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

#define STEP 1e-3

typedef struct Arm {
  srModel* m;
  srData* d;
  srStepper* stepper;
} Arm;

static bool open_arm(const char* path, Arm* x) {
  x->m = bench_load(path, NULL, 0, NULL, NULL);
  if (x->m == NULL) return false;
  srRunOptions options = sr_run_options(x->m);
  options.method = "rk4";
  options.step = STEP;
  x->d = sr_data_create(x->m);
  return sr_stepper_create(x->m, &options, NULL, &x->stepper) == SR_OK;
}

static void close_arm(Arm* x) {
  sr_stepper_destroy(x->stepper);
  sr_data_destroy(x->d);
  sr_model_destroy(x->m);
}

typedef struct Rate {
  double processor, wall;  // steps a second of processor time and by the clock: each the best of some windows
} Rate;

static Rate rate_of(bool (*steps)(void* user, int n), void* user, bool quick) {
  const int windows = quick ? 3 : 40, n = quick ? 500 : 2500;
  Rate best = {0};
  for (int i = 0; i < windows; i++) {
    const double wall = bench_seconds(), processor = bench_cpu_seconds();
    if (!steps(user, n)) return (Rate){(double)NAN, (double)NAN};
    best.processor = fmax(best.processor, n / (bench_cpu_seconds() - processor));
    best.wall = fmax(best.wall, n / (bench_seconds() - wall));
  }
  return best;
}

static bool step_batch(void* user, int n) {
  Arm* x = user;
  return sr_step(x->stepper, x->d, n, NULL) == SR_OK;
}

static bool step_each(void* user, int n) {
  Arm* x = user;
  for (int i = 0; i < n; i++) {
    x->d->tau[0] = 0.01 * (i & 1);
    if (sr_step(x->stepper, x->d, 1, NULL) != SR_OK) return false;
  }
  return true;
}

#ifdef HAVE_MUJOCO
typedef struct Mujoco {
  mjModel* m;
  mjData* d;
} Mujoco;

static bool step_mujoco(void* user, int n) {
  Mujoco* x = user;
  for (int i = 0; i < n; i++) mj_step(x->m, x->d);
  return isfinite(x->d->qpos[0]);
}

static Rate rate_mujoco(const char* path, bool quick) {
  char error[300] = "";
  Mujoco x = {.m = mj_loadXML(path, NULL, error, sizeof error)};
  if (x.m == NULL) return fprintf(stderr, "%s\n", error), (Rate){(double)NAN, (double)NAN};
  x.m->opt.timestep = STEP;
  x.m->opt.integrator = mjINT_RK4;
  x.d = mj_makeData(x.m);
  const Rate rate = rate_of(step_mujoco, &x, quick);
  mj_deleteData(x.d);
  mj_deleteModel(x.m);
  return rate;
}
#endif

static void report(FILE* file, const char* engine, const char* loop, Rate rate) {
  printf("%-10s %-44s %12.0f %12.0f\n", engine, loop, rate.processor, rate.wall);
  if (file) fprintf(file, "%s,%s,%.0f,%.0f\n", engine, loop, rate.processor, rate.wall);
}

int main(int argc, char** argv) {
  const BenchArguments arguments = bench_arguments(argc, argv);
  FILE* file = arguments.csv ? fopen(arguments.csv, "w") : NULL;
  Arm arm = {0};
  if (arguments.npath != 1 || (arguments.csv && !file)) {
    fprintf(stderr, "usage: bench-steps [--quick] [--csv FILE] [--note TEXT] ARM.xml\n");
    return 2;
  }
  if (!open_arm(arguments.path[0], &arm)) return 1;
  if (file) fprintf(file, "# %s\nengine,loop,steps_per_processor_second,steps_per_second\n", arguments.note);
  printf("%-10s %-44s %12s %12s\n", "engine", "loop, steps a second", "processor", "clock");
  report(file, "sarrus", "C: sr_step of many", rate_of(step_batch, &arm, arguments.quick));
  report(file, "sarrus", "C: sr_step of one with a new force", rate_of(step_each, &arm, arguments.quick));
#ifdef HAVE_MUJOCO
  report(file, "mujoco", "C: mj_step", rate_mujoco(arguments.path[0], arguments.quick));
#endif
  close_arm(&arm);
  if (file) fclose(file);
  return 0;
}
