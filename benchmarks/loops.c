// Mechanisms with loops compared with Simbody and MuJoCo at equal accuracy: n-four-bar that swings without meeting its singular
// positions (10 s), where the exact answer is one pendulum's, and Andrews' mechanism (0.03 s).
//
//   bench-loops [--quick] [--engine NAME] [--csv FILE] [--note TEXT] N-FOUR-BAR.xml ANDREWS.xml
//       Every method of every engine at several tolerances or steps: error at the end against the exact answer, seconds of
//       processor time (the smallest of several runs, taken in turns) and steps. Then what every engine needs for a given error: its fastest
//       setting that is at least as good, or the point between two settings of one method, on straight lines in log-log.
//
// Error: largest |q - exact| (rad) and |v - exact| / w over all joints; w is the angular frequency of the pendulum, of
// Andrews' mechanism the speed of its crank.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "peers/loop.h"

enum { POINTS = 128, SETTINGS = 8, ROUNDS = 5 };
#define ENOUGH_SECONDS 1.5  // of runs of one point

typedef struct Problem {
  char name[32];
  int N;
  LoopMechanism x;
  double *q, *v;  // exact, at the end
  double w;       // 1/s
} Problem;

typedef struct Point {
  const LoopMethod* method;
  double setting, error, seconds, total;
  long steps;
  char reason[256];
} Point;

typedef struct Bench {
  bool quick;
  const char* engine;  // NULL: all
  FILE* csv;
  Point point[POINTS];
  int npoint;
} Bench;

// -------------------------------------------------------------------------------------------------------------- Sarrus
static bool run_sarrus(const LoopMethod* method, const LoopMechanism* x, double rtol, LoopResult* out) {
  srData* d = sr_data_create(x->m);
  srMessages* messages = sr_messages_create();
  srRunOptions options = sr_run_options(x->m);
  options.method = method->name;
  options.t_end = x->t_end;
  options.rtol = options.atol = rtol;
  options.row = NULL;
  options.progress = NULL;
  srRunResult result;
  double t = bench_cpu_seconds();
  srStatus status = sr_run(x->m, d, &options, messages, &result);
  out->seconds = bench_cpu_seconds() - t;
  out->steps = result.stats.steps;
  memcpy(out->q, d->q, (size_t)x->m->nq * sizeof(double));
  memcpy(out->v, d->v, (size_t)x->m->nv * sizeof(double));
  if (status != SR_OK) snprintf(out->reason, sizeof out->reason, "%.250s", result.error_message);
  sr_messages_destroy(messages);
  sr_data_destroy(d);
  return status == SR_OK;
}

static const LoopMethod sarrus_dopri5 = {"sarrus", "dopri5", "rtol", run_sarrus};
static const LoopMethod sarrus_mdop5 = {"sarrus", "mdop5", "rtol", run_sarrus};
static const LoopMethod sarrus_hem5 = {"sarrus", "hem5", "rtol", run_sarrus};

// ------------------------------------------------------------------------------------------------------------ problems
// theta'' = w^2 sin(theta) by the classical method of order 4 in long double; twice the steps give the same to 1e-15.
static void pendulum(double w, double t_end, double* angle, double* speed) {
  const int steps = 200000;
  const long double h = (long double)t_end / steps, w2 = (long double)w * w;
  long double x = *angle, v = *speed;
  for (int i = 0; i < steps; i++) {
    const long double v1 = v, a1 = w2 * sinl(x);
    const long double v2 = v + h / 2 * a1, a2 = w2 * sinl(x + h / 2 * v1);
    const long double v3 = v + h / 2 * a2, a3 = w2 * sinl(x + h / 2 * v2);
    const long double v4 = v + h * a3, a4 = w2 * sinl(x + h * v3);
    x += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
    v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  *angle = (double)x;
  *speed = (double)v;
}

static void problem_free(Problem* p) {
  free(p->q);
  sr_model_destroy((srModel*)p->x.m);
}

static bool problem_model(Problem* p, const char* path, const srSetting* settings, int nsetting) {
  p->x.m = bench_load(path, settings, nsetting, NULL, NULL);
  if (!p->x.m) return false;
  p->q = calloc(2 * (size_t)p->x.m->nv, sizeof(double));
  p->v = p->q + p->x.m->nv;
  return true;
}

// Cranks at `start` from the upright, at rest: they swing by pi - start about the lowest position and never lie flat.
static bool four_bars(Problem* p, const char* path, int N) {
  char count[16];
  snprintf(count, sizeof count, "%d", N);
  const srSetting settings[] = {{"N", count}, {"start", "2"}, {"speed", "0"}};
  *p = (Problem){.N = N, .x.t_end = 10};
  snprintf(p->name, sizeof p->name, "n-four-bar %d", N);
  if (!problem_model(p, path, settings, 3)) return false;
  const srModel* m = p->x.m;
  p->w = sqrt(((N + 1) / 2.0 + N) / ((N + 1) / 3.0 + N) * 9.81);
  double angle = 2, speed = 0;
  pendulum(p->w, p->x.t_end, &angle, &speed);
  for (int j = 0; j < m->njoint; j++) {
    const double sign = strncmp(m->joint_name[j], "crank", 5) == 0 ? 1 : -1;  // couplers turn back and stay level
    p->q[m->joint_q[j]] = sign * angle;
    p->v[m->joint_v[j]] = sign * speed;
  }
  return true;
}

// Test Set for IVP Solvers, problem andrews, recomputed to 14 digits and more (published ones are wrong from the tenth on).
static bool andrews(Problem* p, const char* path) {
  static const struct {
    const char* joint;
    double q, v;
  } exact[] = {
      {"beta", 15.8107711951537071, 1139.92030225910606},     {"theta", -15.7563710584118395, -1424.37929517754007},
      {"gamma", 0.0408222401196458049, 11.0329119106185937},  {"phi", -0.534730116342079594, 19.2933741050320408},
      {"delta", 0.524409965879954069, 0.573569914829502454},  {"omega", 0.534730116342079594, -19.2933741050320408},
      {"epsilon", 1.04808074104193787, 0.323179149249130875},
  };
  *p = (Problem){.x.t_end = 0.03, .w = 1139.92030225910606};
  snprintf(p->name, sizeof p->name, "andrews");
  if (!problem_model(p, path, NULL, 0)) return false;
  const srModel* m = p->x.m;
  for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
    const int j = sr_joint_find(m, exact[i].joint);
    if (j < 0) return false;
    p->q[m->joint_q[j]] = exact[i].q;
    p->v[m->joint_v[j]] = exact[i].v;
  }
  p->x.nspring = p->x.nmotor = 1;  // the numbers of the model's file
  p->x.spring[0] = (LoopSpring){sr_point_find(m, "K3/D"), sr_point_find(m, "ground/C"), 4530, 0.07785};
  p->x.motor[0].dof = m->joint_v[sr_joint_find(m, "beta")];
  p->x.motor[0].torque = 0.033;
  return p->x.spring[0].a >= 0 && p->x.spring[0].b >= 0;
}

// ----------------------------------------------------------------------------------------------------------- measuring
static double error_of(const Problem* p, const LoopResult* r) {
  double error = 0;
  for (int i = 0; i < p->x.m->nv; i++)
    error = fmax(error, fmax(fabs(r->q[i] - p->q[i]), fabs(r->v[i] - p->v[i]) / p->w));
  return error;
}

static void measure_point(const Problem* p, Point* point, LoopResult* r) {
  *r->reason = 0;
  bool good = point->method->run(point->method, &p->x, point->setting, r);
  point->total += r->seconds;
  if (!good || !(error_of(p, r) < 1)) {
    snprintf(point->reason, sizeof point->reason, "%s", good ? "wrong by more than 1" : r->reason);
    point->error = NAN;
    return;
  }
  point->error = error_of(p, r);
  point->seconds = fmin(point->seconds, r->seconds);
  point->steps = r->steps;
}

static void measure(const Problem* p, Bench* b) {
  double* x = calloc(2 * (size_t)p->x.m->nv, sizeof *x);
  LoopResult r = {.q = x, .v = x + p->x.m->nv};
  for (int round = 0; round < (b->quick ? 1 : ROUNDS); round++)
    for (int i = 0; i < b->npoint; i++) {
      Point* point = &b->point[i];
      if (!isnan(point->error) && point->total < ENOUGH_SECONDS) measure_point(p, point, &r);
    }
  free(x);
}

static void add_points(Bench* b, const LoopMethod* method, double first, double factor, int count) {
  double setting = first;
  if (b->engine && strcmp(b->engine, method->engine) != 0) return;
  for (int i = 0; i < count && b->npoint < POINTS; i++, setting *= factor)
    b->point[b->npoint++] = (Point){.method = method, .setting = setting, .seconds = HUGE_VAL};
}

static void choose_points(Bench* b, const Problem* p) {
  const int n = b->quick ? 3 : 8;
  b->npoint = 0;
  add_points(b, &sarrus_dopri5, 1e-4, 0.1, n);
  add_points(b, &sarrus_mdop5, 1e-4, 0.1, n);
  add_points(b, &sarrus_hem5, 1e-4, 0.1, n);
#ifdef HAVE_SIMBODY
  const bool large = p->N > 10;  // a run takes up to half a minute; balls and CPodes are slower still
  const int m = b->quick ? 2 : large ? 6 : 8;
  add_points(b, &loop_simbody_merson, 1e-3, 0.1, m);
  if (!b->quick) add_points(b, &loop_simbody_fehlberg, 1e-3, 0.1, m);
  if (!b->quick) add_points(b, &loop_simbody_merson_ball, 1e-3, 0.1, large ? 1 : m);
  if (!b->quick) add_points(b, &loop_simbody_cpodes, 1e-3, 0.1, large ? 1 : m);
#endif
#ifdef HAVE_MUJOCO
  add_points(b, &loop_mujoco_rk4, p->x.t_end / 312, 0.5, b->quick ? 2 : 9);
#endif
}

// ------------------------------------------------------------------------------------------------------------- results
// Seconds that an engine needs for an error, and its method: the fastest point that is as good, or a place between two
// settings of one method. HUGE_VAL: it does not get there.
static double seconds_for(const Bench* b, const char* engine, double error, const LoopMethod** method) {
  double best = HUGE_VAL;
  for (int i = 0; i < b->npoint; i++) {
    const Point *p = &b->point[i], *next = p + 1;
    if (strcmp(p->method->engine, engine) != 0 || isnan(p->error)) continue;
    double s = p->error <= error ? p->seconds : HUGE_VAL;
    if (i + 1 < b->npoint && next->method == p->method && p->error > error && next->error <= error) {
      const double f = log(error / p->error) / log(next->error / p->error);
      s = exp(log(p->seconds) + f * log(next->seconds / p->seconds));
    }
    if (s < best) *method = p->method;
    best = fmin(best, s);
  }
  return best;
}

static void print_points(const Problem* p, Bench* b) {
  printf("%-14s %-8s %-13s %-9s %9s %10s %11s %8s %10s\n", "mechanism", "engine", "method", "", "setting", "error",
         "seconds", "steps", "/sarrus");
  for (int i = 0; i < b->npoint; i++) {
    const Point* x = &b->point[i];
    const LoopMethod *m = x->method, *own = NULL;
    if (isnan(x->error)) {
      printf("%-14s %-8s %-13s %-9s %9.2g failed: %s\n", p->name, m->engine, m->name, m->setting, x->setting,
             x->reason);
      if (b->csv) fprintf(b->csv, "%s,%s,\"%s\",%s,%.6g,,,,\n", p->name, m->engine, m->name, m->setting, x->setting);
      continue;
    }
    const double ratio = x->seconds / seconds_for(b, "sarrus", x->error, &own);
    printf("%-14s %-8s %-13s %-9s %9.2g %10.2e %11.6f %8ld ", p->name, m->engine, m->name, m->setting, x->setting,
           x->error, x->seconds, x->steps);
    if (ratio > 0)
      printf("%10.1f\n", ratio);
    else
      printf("%10s\n", "-");  // Sarrus was not asked for so small an error
    if (b->csv) {
      fprintf(b->csv, "%s,%s,\"%s\",%s,%.6g,%.4e,%.9f,%ld,", p->name, m->engine, m->name, m->setting, x->setting,
              x->error, x->seconds, x->steps);
      fprintf(b->csv, ratio > 0 ? "%.3f\n" : "\n", ratio);
    }
  }
}

static void print_summary(const Problem* p, const Bench* b) {
  static const char* const engines[] = {"sarrus", "simbody", "mujoco"};
  printf("\n%-14s %8s %26s %34s %34s\n", "mechanism", "error", "sarrus", "simbody", "mujoco");
  for (int k = 3; k <= 9; k++) {
    const double error = pow(10, -k);
    const LoopMethod* method = NULL;
    const double own = seconds_for(b, "sarrus", error, &method);
    printf("%-14s %8.0e", p->name, error);
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
      const double s = seconds_for(b, engines[e], error, &method);
      if (isinf(s))
        printf(" %*s", e ? 34 : 26, "-");
      else if (e == 0)
        printf(" %14.6f s %-9s", s, method->name);
      else
        printf(" %10.5f s %-12s %7.1f x", s, method->name, s / own);
    }
    printf("\n");
  }
  printf("\n");
}

static void bench_problem(Problem* p, Bench* b) {
  choose_points(b, p);
  measure(p, b);
  print_points(p, b);
  print_summary(p, b);
  problem_free(p);
}

int main(int argc, char** argv) {
  static Bench b;
  const char *csv = NULL, *note = "", *path[2];
  int n = 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") == 0)
      b.quick = true;
    else if (strcmp(argv[i], "--engine") == 0 && i + 1 < argc)
      b.engine = argv[++i];
    else if (strcmp(argv[i], "--csv") == 0 && i + 1 < argc)
      csv = argv[++i];
    else if (strcmp(argv[i], "--note") == 0 && i + 1 < argc)
      note = argv[++i];
    else if (n < 2)
      path[n++] = argv[i];
  }
  b.csv = csv ? fopen(csv, "w") : NULL;
  if (n != 2 || (csv && !b.csv)) {
    fprintf(stderr,
            "usage: bench-loops [--quick] [--engine NAME] [--csv FILE] [--note TEXT] N-FOUR-BAR.xml ANDREWS.xml\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  if (b.csv) fprintf(b.csv, "# %s\nmechanism,engine,method,kind,setting,error,seconds,steps,ratio\n", note);
  Problem p;
  const int sizes[] = {4, 40};
  for (int i = 0; i < (b.quick ? 1 : 2); i++) {
    if (!four_bars(&p, path[0], sizes[i])) return 1;
    bench_problem(&p, &b);
  }
  if (!andrews(&p, path[1])) return 1;
  bench_problem(&p, &b);
  if (b.csv) fclose(b.csv);
  return 0;
}
