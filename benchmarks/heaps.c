// Heaps of balls by time-stepping with rigid contact, beside ODE and Bullet at the same step; and how the time of a sweep grows with the number of contacts.
//
//   bench-heaps [--quick] [--csv FILE] [--note TEXT] HEAP-OF-BALLS.xml
//
// All engines begin at the same places and take steps of 1/240 s. One core: processor time; two threads: by the clock, which is of use on a quiet machine alone; the smallest of three runs with 1000 balls, whose runs take tenths of a second: a processor that was idle is slow at first. Exit status 1: a ball
// is lost, or what is promised of every step does not hold (0.05 mm deep, residual 1e-2 m/s), the bits of one and two threads differ, or a sweep is not flat within 2 times. The
// aims of time beside ODE are printed, not enforced.
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balls.h"
#include "common.h"

#define STEP (1.0 / 240)
#define DEEPEST 0.05e-3
#define RESIDUAL 1e-2

typedef struct Heap {
  BallsResult of;
  double residual, sweeps, wall;
  double* state;  // q, then v, at the end
} Heap;

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

static bool run_sarrus(const srModel* m, const BallsScene* scene, double t_end, int threads, Heap* out) {
  srRunOptions options = sr_run_options(m);
  srMessages* messages = sr_messages_create();
  srData* d = sr_data_create(m);
  srRunResult result;
  options.t_end = t_end;
  options.contact = SR_CONTACT_TIMESTEPPING;
  options.method = "moreau";
  options.step = STEP;
  options.threads = threads;
  const double t = bench_cpu_seconds(), wall = bench_seconds();
  const srStatus status = sr_run(m, d, &options, messages, &result);
  *out = (Heap){.of = {.seconds = bench_cpu_seconds() - t, .deepest = result.penetration, .resting = NAN},
                .residual = result.complementarity,
                .wall = bench_seconds() - wall};
  out->of.steps = result.stats.steps;
  out->sweeps = (double)result.sweeps / (double)result.stats.steps;
  if (status != SR_OK) fprintf(stderr, "%s\n", result.error_message);
  for (int i = 0; i < scene->n; i++) {
    const double *x = d->q + m->link_q[1 + i], *v = d->v + m->link_v[1 + i] + 3;
    out->of.speed += sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / scene->n;
    out->of.lost += balls_outside(scene, x);
  }
  out->state = malloc((size_t)(m->nq + m->nv) * sizeof(double));
  memcpy(out->state, d->q, (size_t)m->nq * sizeof(double));
  memcpy(out->state + m->nq, d->v, (size_t)m->nv * sizeof(double));
  // The depth at rest: of a run that goes on from here for one step.
  options.t_end = d->t + options.step;
  if (status == SR_OK && sr_run(m, d, &options, messages, &result) == SR_OK) out->of.resting = result.penetration;
  sr_data_destroy(d);
  sr_messages_destroy(messages);
  return status == SR_OK;
}

// The smallest times of several runs.
static bool run_often(const srModel* m, const BallsScene* scene, double t_end, int threads, int runs, Heap* out) {
  double seconds = HUGE_VAL, wall = HUGE_VAL;
  for (int k = 0; k < runs; k++) {
    free(out->state);
    out->state = NULL;
    if (!run_sarrus(m, scene, t_end, threads, out)) return false;
    seconds = fmin(seconds, out->of.seconds);
    wall = fmin(wall, out->wall);
  }
  out->of.seconds = seconds;
  out->wall = wall;
  return true;
}

// ode: processor time of ODE, 0: none.
static void print_row(const char* engine, int threads, const BallsScene* s, double t_end, const Heap* r, double ode,
                      FILE* csv) {
  const double cost = (threads > 1 ? r->wall : r->of.seconds) / t_end;
  printf("%-8s %7d %6d %10.3f %10.4f %10.4f %10.4f %8.1f %10.4f %5d", engine, threads, s->n, cost, 1e3 * r->of.deepest,
         1e3 * r->of.resting, r->residual, r->sweeps, 1e3 * r->of.speed, r->of.lost);
  if (ode > 0) printf(" %10.2f", ode / (cost * t_end));
  printf("\n");
  if (csv)
    fprintf(csv, "%s,%d,%d,%.6f,%.6e,%.6e,%.6e,%.2f,%.6e,%d\n", engine, threads, s->n, cost, r->of.deepest,
            r->of.resting, r->residual, r->sweeps, r->of.speed, r->of.lost);
}

typedef bool Peer(const BallsScene*, double t_end, double step, BallsResult*);

// The same motion every time, and the smallest time.
static bool run_peer(Peer* peer, const BallsScene* scene, double t_end, int runs, Heap* out) {
  double least = HUGE_VAL;
  for (int k = 0; k < runs; k++) {
    if (!peer(scene, t_end, STEP, &out->of)) return false;
    least = fmin(least, out->of.seconds);
  }
  out->of.seconds = least;
  return true;
}

// Processor time of ODE, 0: it is not installed.
static double run_peers(const BallsScene* scene, double t_end, int runs, FILE* csv) {
  Heap peer = {.residual = NAN, .sweeps = NAN};
  double ode = 0;
#ifdef HAVE_ODE
  if (run_peer(balls_ode, scene, t_end, runs, &peer)) {
    ode = peer.of.seconds;
    print_row("ode", 1, scene, t_end, &peer, ode, csv);
  }
#else
  printf("ODE is not installed: skipped (tools/setup --peers)\n");
#endif
#ifdef HAVE_BULLET
  if (run_peer(balls_bullet, scene, t_end, runs, &peer)) print_row("bullet", 1, scene, t_end, &peer, ode, csv);
#else
  printf("Bullet is not installed: skipped (tools/setup --peers)\n");
#endif
  return ode;
}

static bool settle(const char* path, int side, double t_end, int runs, FILE* csv) {
  char text[2][32];
  snprintf(text[0], sizeof text[0], "%d", side * side * side);
  snprintf(text[1], sizeof text[1], "%d", side);
  const srSetting settings[] = {{"N", text[0]}, {"side", text[1]}};
  srModel* m = bench_load(path, settings, 2, NULL, NULL);
  if (!m) return false;
  srData* d = sr_data_create(m);
  BallsScene scene;
  double* centre;
  Heap heap[2] = {0};
  bool good = scene_of(m, d, &scene, &centre);
  const double ode = good ? run_peers(&scene, t_end, runs, csv) : 0;
  for (int k = 0; k < 2 && good; k++) {
    good = run_often(m, &scene, t_end, 1 + k, runs, &heap[k]);
    if (good) print_row("sarrus", 1 + k, &scene, t_end, &heap[k], ode, csv);
    good = good && heap[k].of.lost == 0 && heap[k].of.deepest < DEEPEST && heap[k].residual < RESIDUAL;
  }
  if (good) {
    good = memcmp(heap[0].state, heap[1].state, (size_t)(m->nq + m->nv) * sizeof(double)) == 0;
    printf("bits of 1 and 2 threads: %s\n", good ? "the same" : "DIFFERENT");
  }
  if (good && ode > 0)
    printf("ODE's time by that of sarrus: %.2f on one core (aim: 4), %.2f on two (aim: 7)\n", ode / heap[0].of.seconds,
           ode / heap[1].wall);
  for (int k = 0; k < 2; k++) free(heap[k].state);
  free(centre);
  sr_data_destroy(d);
  sr_model_destroy(m);
  return good;
}

// --------------------------------------------------------------------------------------------------------------- growth
enum { SWEEPS = 40 };

// n x n x n balls of a cubic lattice on the floor, falling: each touches the one before it along every axis.
static srContactProblem* lattice(int n) {
  const int all = n * n * n;
  srContactProblem* p = sr_contact_problem_create(all, 0, 3 * all, false);
  const int stride[3] = {1, n, n * n};
  if (p == NULL) return NULL;
  p->ncontact = 0;
  for (int i = 0; i < all; i++) {
    const int at[3] = {i % n, i / n % n, i / (n * n)};
    p->body[i] = (srContactBody){.inverse_mass = 2, .inverse_inertia = {2000, 2000, 2000}, .velocity = {[5] = -0.04}};
    for (int k = 0; k < 3; k++) {
      if (at[k] == 0 && k < 2) continue;  // no walls
      srContactPoint* c = &p->point[p->ncontact];
      *c = (srContactPoint){.body = {at[k] > 0 ? i - stride[k] : SR_CONTACT_FIXED, i}};
      c->normal[k] = 1;
      c->arm[0][k] = 0.05;
      c->arm[1][k] = -0.05;
      p->cone[p->ncontact++].mu = 0.5;
    }
  }
  return p;
}

// Nanoseconds per contact and sweep: from the difference of two numbers of sweeps, so that what is done once is not in it.
static double sweep_time(srContactSolver* s, const srContactProblem* p, double* impulse) {
  double best = HUGE_VAL;
  for (int k = 0; k < 5; k++) {
    double t[2];
    for (int i = 0; i < 2; i++) {
      srContactOptions o = sr_contact_options();
      srContactResult result;
      o.method = sr_contact_method_find("sweeps");
      o.single = true;
      o.tolerance = 1e-5;  // not reached
      o.iterations = o.least_iterations = (1 + 2 * i) * SWEEPS;
      memset(impulse, 0, 3 * (size_t)p->ncontact * sizeof *impulse);
      t[i] = bench_cpu_seconds();
      (void)sr_contact_solve(s, p, &o, impulse, &result);
      t[i] = bench_cpu_seconds() - t[i];
    }
    best = fmin(best, (t[1] - t[0]) / (2.0 * SWEEPS * p->ncontact));
  }
  return 1e9 * best;
}

static bool grow(bool quick, FILE* csv) {
  static const int side[] = {10, 20, 33};
  double least = HUGE_VAL, most = 0;
  printf("\n%-10s %24s\n", "contacts", "ns/contact and sweep");
  if (csv) fprintf(csv, "contacts,ns_per_contact_and_sweep\n");
  for (int i = 0; i < (quick ? 2 : 3); i++) {
    srContactProblem* p = lattice(side[i]);
    const srContactSize size = {.bodies = p != NULL ? p->nbody : 0, .contacts = p != NULL ? p->ncontact : 0};
    srContactSolver* s = p != NULL ? sr_contact_solver_create(&size) : NULL;
    double* impulse = s != NULL ? malloc(3 * (size_t)p->ncontact * sizeof *impulse) : NULL;
    if (impulse == NULL) return false;
    const double ns = sweep_time(s, p, impulse);
    printf("%-10d %24.2f\n", p->ncontact, ns);
    if (csv) fprintf(csv, "%d,%.3f\n", p->ncontact, ns);
    least = fmin(least, ns);
    most = fmax(most, ns);
    free(impulse);
    sr_contact_solver_destroy(s);
    sr_contact_problem_destroy(p);
  }
  printf("flat within %.2f times (aim: 2)\n", most / least);
  return quick || most / least <= 2;
}

int main(int argc, char** argv) {
  const BenchArguments a = bench_arguments(argc, argv);
  FILE* csv = a.csv ? fopen(a.csv, "w") : NULL;
  if (a.npath != 1 || (a.csv && !csv)) {
    fprintf(stderr, "usage: bench-heaps [--quick] [--csv FILE] [--note TEXT] HEAP-OF-BALLS.xml\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  if (csv)
    fprintf(
        csv,
        "# "
        "%s\nengine,threads,balls,seconds_per_second,deepest_m,resting_m,residual_m_per_s,sweeps,speed_m_per_s,lost\n",
        a.note);
  printf("%-8s %7s %6s %10s %10s %10s %10s %8s %10s %5s %10s\n", "engine", "threads", "balls", "s/s", "deepest mm",
         "at rest mm", "resid m/s", "sweeps", "speed mm/s", "lost", "ODE/this");
  bool good = settle(a.path[0], a.quick ? 5 : 10, a.quick ? 0.5 : 3, a.quick ? 1 : 3, csv);
  if (!a.quick) good = settle(a.path[0], 20, 2, 1, csv) && good;
  good = grow(a.quick, csv) && good;
  if (csv) fclose(csv);
  return good ? 0 : 1;
}
