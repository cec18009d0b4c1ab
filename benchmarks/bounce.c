// A ball that bounces nine times in 5 s, and a slider-crank with clearance through three impacts, by events and by time-stepping, beside Siconos at equal error.
//
//   bench-bounce [--quick] [--csv FILE] [--note TEXT] BOUNCING-BALL.xml SLIDER-CRANK-CLEARANCE.xml
//       Both engines at several tolerances or steps: error at the end (height of the ball, which is known; angles of the slider-crank, against events at rtol 1e-12), seconds of processor
//       time (the smallest of several runs, 0.1 s of them at least, after a while that brings the processor to its speed). Time-stepping has theta = 1/2 in both. /sarrus: the time of a row over that which Sarrus needs for its error, from its fastest row of the
//       same kind or between two of them; -: it has none as good. Siconos has no row for events of the slider-crank.
#include "bounce.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

enum { SETTINGS = 5, ROWS = 4 * SETTINGS };

typedef struct Scene {
  const char* name;
  srModel* m;
  Bounce ball;
  Crank crank;
  bool is_crank;
  double exact[3], t_end;
  double settings[2][SETTINGS];  // steps; tolerances
} Scene;

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

// Height of the lowest point, or absolute angles.
static void get_q(const Scene* x, const srData* d, double radius, double q[3]) {
  q[0] = d->q[0] - radius;
  for (int i = 1; i < 3 && x->is_crank; ++i) q[i] = q[i - 1] + d->q[i];
}

static bool run_sarrus(const Scene* x, bool events, double setting, BounceResult* out) {
  srData* d = sr_data_create(x->m);
  srMessages* messages = sr_messages_create();
  srRunOptions options = sr_run_options(x->m);
  srRunResult result;
  options.t_end = x->t_end;
  options.contact = events ? SR_CONTACT_EVENT : SR_CONTACT_TIMESTEPPING;
  options.method = events ? "mdop5" : "moreau";
  options.impact = SR_IMPACT_RULE_NEWTON;
  options.step = setting;
  options.theta = 0.5;  // as Siconos has it
  options.rtol = setting;
  options.atol = 1e-2 * setting;
  const double start = bench_cpu_seconds(), radius = x->is_crank ? 0 : d->q[0] - x->ball.height;
  const srStatus status = sr_run(x->m, d, &options, messages, &result);
  out->seconds = bench_cpu_seconds() - start;
  out->steps = result.stats.steps;
  get_q(x, d, radius, out->q);
  sr_messages_destroy(messages);
  sr_data_destroy(d);
  return status == SR_OK;
}

static bool run(const Scene* x, const Row* row, BounceResult* out) {
#ifdef HAVE_SICONOS
  if (strcmp(row->engine, "siconos") == 0) {
    return x->is_crank ? crank_siconos(&x->crank, row->setting, out)
                       : bounce_siconos(&x->ball, row->events, row->setting, out);
  }
#endif
  return run_sarrus(x, row->events, row->setting, out);
}

static double error_of(const Scene* x, const double q[3]) {
  double most = 0;
  for (int i = 0; i < (x->is_crank ? 3 : 1); ++i) most = fmax(most, fabs(q[i] - x->exact[i]));
  return most;
}

// A processor that was idle may take a few tenths of a second to come to its full speed.
static void warm_up(const Scene* x) {
  BounceResult result;
  for (const double start = bench_cpu_seconds(); bench_cpu_seconds() - start < 0.5;)
    (void)run_sarrus(x, true, 1e-6, &result);
}

static bool measure(const Scene* x, int rounds, Row* row) {
  BounceResult result;
  double all = 0;
  row->seconds = INFINITY;
  for (int i = 0; i < rounds || (all < 0.1 && rounds > 3); ++i) {
    if (!run(x, row, &result)) return false;
    row->seconds = fmin(row->seconds, result.seconds);
    all += result.seconds;
  }
  row->error = error_of(x, result.q);
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

static int list_rows(const Scene* x, Row* rows) {
  static const char* const engines[] = {
      "sarrus",
#ifdef HAVE_SICONOS
      "siconos",
#endif
  };
  int n = 0;
  for (int events = 1; events >= 0; --events) {
    for (size_t i = 0; i < sizeof engines / sizeof *engines; ++i) {
      for (int k = 0; k < SETTINGS && !(x->is_crank && events && i > 0); ++k)
        rows[n++] = (Row){.engine = engines[i], .events = events != 0, .setting = x->settings[events][k]};
    }
  }
  return n;
}

static void show(const Scene* x, const Row* rows, int n, FILE* csv) {
  printf("%s\n  %-10s %-13s %10s %9s %9s %10s %9s\n", x->name, "engine", "contact", "rtol or h", "error", "steps", "ms",
         "/sarrus");
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
      fprintf(csv, "%s,%s,%s,%.17g,%.17g,%ld,%.17g\n", x->name, r->engine, contact, r->setting, r->error, r->steps,
              r->seconds);
  }
}

static bool compare(const Scene* x, bool quick, FILE* csv) {
  Row rows[ROWS];
  const int n = list_rows(x, rows);
  int count = 0;
  if (!quick) warm_up(x);
  for (int i = 0; i < n; ++i) {
    const long steps = rows[i].events ? 0 : lround(x->t_end / rows[i].setting);
    if (quick && steps > 60000) continue;
    rows[count] = rows[i];
    if (measure(x, quick || steps > 60000 ? 3 : 20, &rows[count])) {
      count++;
    } else {
      printf("  %s at %g has failed\n", rows[i].engine, rows[i].setting);
    }
  }
  show(x, rows, count, csv);
  return count > 0;
}

static Scene ball_scene(const char* path) {
  Scene x = {.name = "bouncing ball",
             .m = bench_load(path, NULL, 0, NULL, NULL),
             .ball = {.height = 0.9, .gravity = 9.81, .restitution = 0.9, .t_end = 5},
             .t_end = 5,
             .settings = {{1e-1, 1e-2, 1e-3, 1e-4, 1e-5}, {1e-3, 1e-4, 1e-6, 1e-8, 1e-10}}};
  x.exact[0] = exact_height(&x.ball);
  return x;
}

// The slider turns at the start, so that its corners strike one by one, and there is no friction.
static Scene crank_scene(const char* path) {
  const srSetting settings[] = {{"mu", "0"}, {"w3", "60"}};
  BounceResult exact = {.q = {NAN, NAN, NAN}};
  Scene x = {.name = "slider-crank with clearance",
             .m = bench_load(path, settings, 2, NULL, NULL),
             .is_crank = true,
             .crank = {.l1 = 0.153,
                       .l2 = 0.306,
                       .a = 0.05,
                       .b = 0.025,
                       .c = 0.001,
                       .m1 = 0.038,
                       .m2 = 0.038,
                       .m3 = 0.076,
                       .J1 = 7.4e-5,
                       .J2 = 5.9e-4,
                       .J3 = 2.7e-6,
                       .gravity = 9.81,
                       .restitution = 0.4,
                       .t_end = 2.7e-3,
                       .speed = {150, -75, 60}},
             .t_end = 2.7e-3,
             .settings = {{2e-5, 1e-5, 1e-6, 1e-7, 1e-8}, {1e-3, 1e-4, 1e-6, 1e-8, 1e-10}}};
  if (x.m) (void)run_sarrus(&x, true, 1e-12, &exact);
  memcpy(x.exact, exact.q, sizeof x.exact);
  return x;
}

int main(int argc, char** argv) {
  const BenchArguments a = bench_arguments(argc, argv);
  if (a.npath != 2)
    return fprintf(stderr,
                   "usage: bench-bounce [--quick] [--csv FILE] [--note TEXT] BOUNCING-BALL.xml "
                   "SLIDER-CRANK-CLEARANCE.xml\n"),
           2;
  const Scene scenes[] = {ball_scene(a.path[0]), crank_scene(a.path[1])};
  FILE* csv = a.csv ? fopen(a.csv, "w") : NULL;
  bool good = true;
  if (csv) fprintf(csv, "# %s\nscene,engine,contact,rtol or h,error,steps,seconds [s]\n", a.note ? a.note : "");
  for (int i = 0; i < 2; ++i) good = scenes[i].m && compare(&scenes[i], a.quick, csv) && good;
  for (int i = 0; i < 2; ++i) sr_model_destroy(scenes[i].m);
  if (csv) fclose(csv);
  return good ? 0 : 1;
}
