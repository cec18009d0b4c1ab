// Table II of M. Rodrigues da Silva et al. (2024), Multibody dynamics in robotics with focus on contact events, on an AMD Ryzen 5 5600X:
//   Dynamic Model     1000 RK4 steps of the arms         0.482, 0.715, 0.947 s
//   Kinematic Model   1000 steps of the driven arms and of the mobile manipulator: positions, velocities, accelerations    0.211, 0.269, 0.325, 2.409 s
// The paper gives no motion of the arms: here each joint is driven by q0 + 0.3 sin(t). Processor time, the least of some runs.
//
//   bench-table2 [--quick] [--csv FILE] [--note TEXT] ARM2.xml ARM4.xml ARM6.xml CHARMIE.xml
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
  double t = bench_cpu_seconds();
  srStatus status = sr_run(m, d, &options, messages, &result);
  *seconds = bench_cpu_seconds() - t;
  sr_messages_destroy(messages);
  if (status != SR_OK) fprintf(stderr, "%s\n", result.error_message);
  if (status == SR_OK && result.stats.steps != STEPS) fprintf(stderr, "%ld steps, not %d\n", result.stats.steps, STEPS);
  return status == SR_OK && result.stats.steps == STEPS;
}

// Drivers in all joints of a model that has none.
static srModel* load_driven(const char* path) {
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_load(path, NULL, messages, &spec);
  sr_messages_destroy(messages);
  if (status != SR_OK) return NULL;
  const int n = srs_count(spec, SR_ELEMENT_JOINT), driven = srs_count(spec, SR_ELEMENT_DRIVER);
  for (int i = 0; i < n && driven == 0; i++) {
    const srJointDef* joint = srs_get(spec, SR_ELEMENT_JOINT, i);
    char motion[200];
    snprintf(motion, sizeof motion, "(%s) + 0.3*sin(t)", joint->q.text ? joint->q.text : "0");
    const srDriverDef driver = {.joint = joint->name, .motion = sr_text(motion)};
    (void)srs_add(spec, SR_ELEMENT_DRIVER, SR_NO_OWNER, &driver, NULL);
  }
  return bench_compile(spec);
}

static bool move_once(const srModel* m, srData* d, double* seconds) {
  srDriven* driven = NULL;
  sr_data_reset(m, d);
  if (sr_assemble(m, d, NULL, NULL) != SR_OK || sr_driven_create(m, d, NULL, &driven) != SR_OK) return false;
  const double t = bench_cpu_seconds();
  srStatus status = SR_OK;
  for (int k = 1; k <= STEPS && status == SR_OK; k++) status = sr_driven_move(driven, 1e-3 * k);
  *seconds = bench_cpu_seconds() - t;
  if (status != SR_OK) fprintf(stderr, "%s\n", driven->error_message);
  sr_driven_destroy(driven);
  return status == SR_OK;
}

static double best_of(srModel* m, bool once(const srModel* m, srData* d, double* seconds),
                      int runs) {  // s, NAN when it failed
  if (!m) return NAN;
  srData* d = sr_data_create(m);
  double best = HUGE_VAL, seconds;
  for (int i = 0; i < runs && !isnan(best); i++) best = once(m, d, &seconds) ? fmin(best, seconds) : NAN;
  sr_data_destroy(d);
  sr_model_destroy(m);
  return best;
}

// One line; false: less than 100 times the speed of the paper.
static bool show(FILE* file, const char* row, const char* path, double seconds, double paper) {
  const bool good = paper / seconds >= 100;
  printf("%-10s %-28s %12.6f %10.3f %10.0f%s\n", row, path, seconds, paper, paper / seconds, good ? "" : "  BELOW 100");
  if (file) fprintf(file, "%s,%s,%.9f,%.3f,%.1f\n", row, path, seconds, paper, paper / seconds);
  return good;
}

int main(int argc, char** argv) {
  static const double dynamic[] = {0.482, 0.715, 0.947}, kinematic[] = {0.211, 0.269, 0.325, 2.409};
  const BenchArguments arguments = bench_arguments(argc, argv);
  const bool quick = arguments.quick;
  const char *csv = arguments.csv, *note = arguments.note, *const *path = arguments.path;
  FILE* file = csv ? fopen(csv, "w") : NULL;
  if (arguments.npath != 4 || (csv && !file)) {
    fprintf(stderr,
            "usage: bench-table2 [--quick] [--csv FILE] [--note TEXT] ARM2.xml ARM4.xml ARM6.xml CHARMIE.xml\n");
    return 2;
  }
  if (file) fprintf(file, "# %s\nrow,model,seconds,paper_seconds,ratio\n", note);
  printf("%-10s %-28s %12s %10s %10s\n", "row", "1000 steps", "s", "paper s", "ratio");
  bool good = true;
  for (int i = 0; i < 3; i++)
    good &= show(file, "dynamic", path[i], best_of(bench_load(path[i], NULL, 0, NULL, NULL), run_once, quick ? 3 : 50),
                 dynamic[i]);
  for (int i = 0; i < 4; i++)
    good &= show(file, "kinematic", path[i], best_of(load_driven(path[i]), move_once, quick ? 3 : 20), kinematic[i]);
  if (file) fclose(file);
  return !good;
}
