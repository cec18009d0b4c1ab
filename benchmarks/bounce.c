// A ball that bounces nine times in 5 s, by events and by time-stepping, beside Siconos at equal error; the exact height is known.
//
//   bench-bounce [--quick] [--csv FILE] [--note TEXT] BOUNCING-BALL.xml
//       Both engines at several tolerances or steps: error of the height at the end, seconds of processor time (the smallest of several runs). /sarrus: the time of a row over that
//       which Sarrus needs for its error, from its fastest row of the same kind or between two of them; -: it has none as good.
#include "bounce.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

enum { SETTINGS = 5, ROWS = 4 * SETTINGS };

typedef struct Row {
  const char* engine;
  bool events;
  double setting, error, seconds;
  long steps;
} Row;

// t_n = t_0 (1 + 2 e + ... 2 e^n): parabolas between them.
static double exact_height(const Bounce* x) {
  double v = sqrt(2 * x->gravity * x->height), t = v / x->gravity;
  for (v *= x->restitution; t + 2 * v / x->gravity <= x->t_end; v *= x->restitution) t += 2 * v / x->gravity;
  return v * (x->t_end - t) - 0.5 * x->gravity * (x->t_end - t) * (x->t_end - t);
}

static bool bounce_sarrus(const srModel* m, const Bounce* x, bool events, double setting, BounceResult* out) {
  srData* d = sr_data_create(m);
  srMessages* messages = sr_messages_create();
  srRunOptions options = sr_run_options(m);
  srRunResult result;
  options.t_end = x->t_end;
  options.contact = events ? SR_CONTACT_EVENT : SR_CONTACT_TIMESTEPPING;
  options.method = events ? "mdop5" : "moreau";
  options.step = setting;
  options.theta = 0.5;  // as Siconos has it
  options.rtol = setting;
  options.atol = 1e-2 * setting;
  const double start = bench_cpu_seconds(), radius = d->q[0] - x->height;
  const srStatus status = sr_run(m, d, &options, messages, &result);
  out->seconds = bench_cpu_seconds() - start;
  out->steps = result.stats.steps;
  out->height = d->q[0] - radius;
  sr_messages_destroy(messages);
  sr_data_destroy(d);
  return status == SR_OK;
}

static bool run(const srModel* m, const Bounce* x, const Row* row, BounceResult* out) {
#ifdef HAVE_SICONOS
  if (strcmp(row->engine, "siconos") == 0) return bounce_siconos(x, row->events, row->setting, out);
#endif
  return bounce_sarrus(m, x, row->events, row->setting, out);
}

static bool measure(const srModel* m, const Bounce* x, int rounds, Row* row) {
  BounceResult result;
  row->seconds = INFINITY;
  for (int i = 0; i < rounds; ++i) {
    if (!run(m, x, row, &result)) return false;
    row->seconds = fmin(row->seconds, result.seconds);
  }
  row->error = fabs(result.height - exact_height(x));
  row->steps = result.steps;
  return true;
}

// Between two settings of Sarrus: on straight lines in log-log.
static double between(const Row* loose, const Row* tight, double error) {
  const double part = log(error / loose->error) / log(tight->error / loose->error);
  return exp((1 - part) * log(loose->seconds) + part * log(tight->seconds));
}

static double equal_seconds(const Row* rows, int n, const Row* row) {
  double best = INFINITY;
  for (int i = 0; i < n; ++i) {
    if (strcmp(rows[i].engine, "sarrus") != 0 || rows[i].events != row->events || rows[i].error > row->error) continue;
    const bool bracket = i > 0 && strcmp(rows[i - 1].engine, "sarrus") == 0 && rows[i - 1].events == row->events &&
                         rows[i - 1].error > row->error;
    best = fmin(best, bracket ? between(&rows[i - 1], &rows[i], row->error) : rows[i].seconds);
  }
  return best;
}

static int list_rows(Row* rows) {
  static const char* const engines[] = {
      "sarrus",
#ifdef HAVE_SICONOS
      "siconos",
#endif
  };
  static const double settings[2][SETTINGS] = {{1e-1, 1e-2, 1e-3, 1e-4, 1e-5}, {1e-3, 1e-4, 1e-6, 1e-8, 1e-10}};
  int n = 0;
  for (int events = 1; events >= 0; --events) {
    for (size_t i = 0; i < sizeof engines / sizeof *engines; ++i) {
      for (int k = 0; k < SETTINGS; ++k)
        rows[n++] = (Row){.engine = engines[i], .events = events != 0, .setting = settings[events][k]};
    }
  }
  return n;
}

static void show(const Row* rows, int n, FILE* csv) {
  printf("  %-10s %-13s %10s %9s %9s %10s %9s\n", "engine", "contact", "rtol or h", "error", "steps", "ms", "/sarrus");
  for (int i = 0; i < n; ++i) {
    const Row* r = &rows[i];
    const double equal = equal_seconds(rows, n, r);
    const char* contact = r->events ? "event" : "timestepping";
    printf("  %-10s %-13s %10.0e %9.1e %9ld %10.3f", r->engine, contact, r->setting, r->error, r->steps,
           1e3 * r->seconds);
    if (isfinite(equal))
      printf(" %9.2f\n", r->seconds / equal);
    else
      printf(" %9s\n", "-");
    if (csv)
      fprintf(csv, "%s,%s,%.17g,%.17g,%ld,%.17g\n", r->engine, contact, r->setting, r->error, r->steps, r->seconds);
  }
}

int main(int argc, char** argv) {
  const BenchArguments a = bench_arguments(argc, argv);
  if (a.npath != 1)
    return fprintf(stderr, "usage: bench-bounce [--quick] [--csv FILE] [--note TEXT] BOUNCING-BALL.xml\n"), 2;
  const Bounce x = {.height = 0.9, .gravity = 9.81, .restitution = 0.9, .t_end = 5};
  srModel* m = bench_load(a.path[0], NULL, 0, NULL, NULL);
  if (!m) return 1;
  Row rows[ROWS];
  const int n = list_rows(rows);
  int count = 0;
  for (int i = 0; i < n; ++i) {
    if (a.quick && !rows[i].events && rows[i].setting < 1e-4) continue;
    rows[count] = rows[i];
    if (measure(m, &x, a.quick || (!rows[i].events && rows[i].setting < 2e-5) ? 3 : 20, &rows[count])) {
      count++;
    } else {
      printf("  %s at %g has failed\n", rows[i].engine, rows[i].setting);
    }
  }
  FILE* csv = a.csv ? fopen(a.csv, "w") : NULL;
  if (csv) fprintf(csv, "# %s\nengine,contact,rtol or h,error [m],steps,seconds [s]\n", a.note ? a.note : "");
  show(rows, count, csv);
  if (csv) fclose(csv);
  sr_model_destroy(m);
  return count > 0 ? 0 : 1;
}
