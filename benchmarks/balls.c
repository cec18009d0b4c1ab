// Balls that fall into a bin and settle, beside ODE and Bullet; and how the cost of finding contacts grows with the number of balls.
//
//   bench-balls [--quick] [--csv FILE] [--note TEXT] BALLS-IN-BIN.xml
//
// All engines begin at the same places. Penetration is the largest of all steps, and of the last tenth of the time. Sarrus has the force laws of the model, by implicit steps as long
// as those of the peers, by shorter ones, and by explicit ones. Exit status 1: a ball is lost, the second of these is not within 10 times the time of ODE at a
// hundredth of its penetration, or the cost of an evaluation for each ball grows more than 2 times.
#define _DEFAULT_SOURCE
#include "balls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define PEER_STEP (1.0 / 240)

// How Sarrus takes the contacts; step 0: that of the model.
typedef struct Way {
  const char* method;
  double step;
} Way;
static const Way ways[] = {{"moreau-compliant", PEER_STEP}, {"moreau-compliant", 2e-3}, {"euler", 0}};
enum { WAYS = sizeof ways / sizeof ways[0] };

// ------------------------------------------------------------------------------------------------------------- settling
static srModel* model_of(const char* path, int side, int layers, double pitch) {
  char text[3][32];
  snprintf(text[0], sizeof text[0], "%d", side);
  snprintf(text[1], sizeof text[1], "%d", layers);
  snprintf(text[2], sizeof text[2], "%.17g", pitch);
  const srSetting settings[] = {{"side", text[0]}, {"layers", text[1]}, {"pitch", text[2]}, {"jitter", "0"}};
  return bench_load(path, settings, pitch > 0 ? 4 : 2, NULL, NULL);
}

// Numbers of the peers come from the model.
static bool scene_of(const srModel* m, const srData* d, BallsScene* s, double** centre) {
  const int n = m->nlink - 1;
  *centre = malloc((size_t)n * 3 * sizeof(double));
  if (*centre == NULL || m->nset != 2) return false;
  for (int i = 0; i < n; i++) memcpy(*centre + 3 * i, d->q + m->link_q[1 + i], 3 * sizeof(double));
  *s = (BallsScene){.n = n,
                    .centre = *centre,
                    .radius = m->collider[m->ncollider - 1].radius,
                    .mass = m->link_inertia[16 + 15],
                    .gravity = -m->gravity[2],
                    .mu = m->set[1].law[0].slip.k};
  for (int i = 0; i < m->ncollider; i++) s->width = fmax(s->width, m->point_pose[16 * m->collider[i].point + 12]);
  return true;
}

// In two parts, for the depth in the last tenth.
static bool run_sarrus(const srModel* m, srData* d, const BallsScene* scene, const Way* way, double t_end,
                       BallsResult* out) {
  srRunOptions options = sr_run_options(m);
  srMessages* messages = sr_messages_create();
  srStatus status = SR_OK;
  *out = (BallsResult){0};
  options.method = way->method;
  if (way->step > 0) options.step = way->step;
  const double t = bench_cpu_seconds();
  for (int k = 0; k < 2 && status == SR_OK; k++) {
    srRunResult result;
    options.t_end = k == 0 ? 0.9 * t_end : t_end;
    status = sr_run(m, d, &options, messages, &result);
    balls_depth(out, k == 1, result.penetration);
    out->steps += result.stats.steps;
    if (status != SR_OK) fprintf(stderr, "%s\n", result.error_message);
  }
  out->seconds = bench_cpu_seconds() - t;
  sr_messages_destroy(messages);
  for (int i = 0; i < scene->n; i++) {
    const double *x = d->q + m->link_q[1 + i], *v = d->v + m->link_v[1 + i] + 3;
    out->speed += sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / scene->n;
    out->lost += balls_outside(scene, x);
  }
  return status == SR_OK;
}

static void print_row(const char* engine, const BallsScene* s, double t_end, const BallsResult* r,
                      const BallsResult* ode, FILE* csv) {
  const double cost = r->seconds / t_end;
  printf("%-34s %6d %8ld %12.3f %10.4f %10.4f %12.2f %6d", engine, s->n, r->steps, cost, 1e3 * r->deepest,
         1e3 * r->resting, 1e3 * r->speed, r->lost);
  if (ode != NULL) printf(" %10.2f %12.4f", r->seconds / ode->seconds, r->deepest / ode->deepest);
  printf("\n");
  if (csv)
    fprintf(csv, "%s,%d,%ld,%.6f,%.6e,%.6e,%.6e,%d\n", engine, s->n, r->steps, cost, r->deepest, r->resting, r->speed,
            r->lost);
}

static bool is_aim_reached(const BallsResult* r, const BallsResult* ode) {
  const double time = r->seconds / ode->seconds, depth = r->deepest / ode->deepest, rest = r->resting / ode->resting;
  printf("beside ODE: %.1f times its time (aim: 10), %.4f of its penetration and %.4f of that at rest (aim: 0.01)\n",
         time, depth, rest);
  return time <= 10 && depth <= 0.01;
}

static bool settle(const char* path, bool quick, FILE* csv) {
  const double t_end = quick ? 0.1 : 1;
  srModel* m = model_of(path, quick ? 4 : 10, quick ? 4 : 10, 0);
  if (!m) return false;
  srData* d = sr_data_create(m);
  BallsScene scene;
  double* centre;
  BallsResult result, ode = {0};
  const BallsResult* peer = NULL;
  bool good = scene_of(m, d, &scene, &centre);
  printf("%-34s %6s %8s %12s %10s %10s %12s %6s %10s %12s\n", "engine", "balls", "steps", "cpu s/s", "deepest mm",
         "at rest mm", "speed mm/s", "lost", "time/ODE", "depth/ODE");
  if (csv) fprintf(csv, "engine,balls,steps,seconds_per_second,deepest_m,resting_m,speed_m_per_s,lost\n");
#ifdef HAVE_ODE
  if (good && balls_ode(&scene, t_end, PEER_STEP, &ode)) print_row("ode", &scene, t_end, peer = &ode, NULL, csv);
#else
  printf("ODE is not installed: skipped (tools/setup --peers)\n");
#endif
#ifdef HAVE_BULLET
  if (good && balls_bullet(&scene, t_end, PEER_STEP, &result)) print_row("bullet", &scene, t_end, &result, peer, csv);
#else
  printf("Bullet is not installed: skipped (tools/setup --peers)\n");
#endif
  sr_data_destroy(d);
  for (int k = 0; k < WAYS && good; k++) {
    char name[64];
    d = sr_data_create(m);
    good = run_sarrus(m, d, &scene, &ways[k], t_end, &result) && result.lost == 0;
    snprintf(name, sizeof name, "sarrus %s %.3g ms", ways[k].method, 1e3 * t_end / (double)result.steps);
    print_row(name, &scene, t_end, &result, peer, csv);
    if (k == 1) good = good && (quick || peer == NULL || is_aim_reached(&result, peer));
    sr_data_destroy(d);
  }
  free(centre);
  sr_model_destroy(m);
  return good;
}

// --------------------------------------------------------------------------------------------------------------- growth
// Balls that all touch their neighbours, moved by more than the skin of the list of near pairs before every second evaluation: broad and narrow
// phase with all forces, then the narrow phase and forces alone.
typedef struct Growth {
  int n;
  double both, narrow;  // s for each ball
} Growth;

static double evaluate(const srModel* m, srData* d, double shift) {
  for (int i = 1; i < m->nlink; i++) d->q[m->link_q[i] + 2] += shift;
  const double t = bench_cpu_seconds();
  if (sr_evaluate(m, d, 0, d->q, d->v, d->y, SR_STAGE_FORCE) != 0) return NAN;
  return bench_cpu_seconds() - t;
}

static bool measure(const char* path, int side, int layers, Growth* out) {
  srModel* m = model_of(path, side, layers, 0.0999);
  if (!m) return false;
  srData* d = sr_data_create(m);
  *out = (Growth){.n = m->nlink - 1, .both = HUGE_VAL, .narrow = HUGE_VAL};
  const int repeats = 4 + 20000 / out->n;
  for (int i = 0; i < repeats; i++) {
    const double both = evaluate(m, d, i % 2 ? 0.03 : -0.03), narrow = evaluate(m, d, 0.0001);
    if (isnan(both) || isnan(narrow)) {
      fprintf(stderr, "%s\n", d->error_message);
      return false;
    }
    out->both = fmin(out->both, both / out->n);
    out->narrow = fmin(out->narrow, narrow / out->n);
  }
  sr_data_destroy(d);
  sr_model_destroy(m);
  return true;
}

static bool grow(const char* path, bool quick, FILE* csv) {
  static const int size[][2] = {{10, 10}, {25, 16}, {50, 40}};
  double least[2] = {HUGE_VAL, HUGE_VAL}, most[2] = {0};
  printf("\n%-8s %22s %22s\n", "balls", "both phases ns/ball", "narrow phase ns/ball");
  if (csv) fprintf(csv, "balls,both_ns_per_ball,narrow_ns_per_ball\n");
  for (int i = 0; i < (quick ? 2 : 3); i++) {
    Growth g;
    if (!measure(path, size[i][0], size[i][1], &g)) return false;
    printf("%-8d %22.0f %22.0f\n", g.n, 1e9 * g.both, 1e9 * g.narrow);
    if (csv) fprintf(csv, "%d,%.1f,%.1f\n", g.n, 1e9 * g.both, 1e9 * g.narrow);
    const double cost[2] = {g.both, g.narrow};
    for (int k = 0; k < 2; k++) least[k] = fmin(least[k], cost[k]), most[k] = fmax(most[k], cost[k]);
  }
  const double ratio = fmax(most[0] / least[0], most[1] / least[1]);
  printf("flat within %.2f times (aim: 2)\n", ratio);
  return quick || ratio <= 2;
}

int main(int argc, char** argv) {
  const BenchArguments a = bench_arguments(argc, argv);
  FILE* csv = a.csv ? fopen(a.csv, "w") : NULL;
  if (a.npath != 1 || (a.csv && !csv)) {
    fprintf(stderr, "usage: bench-balls [--quick] [--csv FILE] [--note TEXT] BALLS-IN-BIN.xml\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  if (csv) fprintf(csv, "# %s\n", a.note);
  bool good = settle(a.path[0], a.quick, csv);
  good = grow(a.path[0], a.quick, csv) && good;
  if (csv) fclose(csv);
  return good ? 0 : 1;
}
