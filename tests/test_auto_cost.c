// What auto counts: the cost of factorizations, and failures that belong to one run. Systems without bodies; see test_auto.c for the rest.
#include <math.h>
#include <sarrus/integrate.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "constrained.h"
#include "runner.h"

// n equal degrees of freedom without coupling, each pulled to cos t: v' = -K (q - cos t) - C (v + sin t) - cos t, exact q = cos t. What may be asked
// of them at which time is given by two bounds: rates and dynamics refuse phases of a period.
typedef struct Row {
  int n;
  double K, C;  // of all but those from `soft` on, which have 1 and 2; soft 0: of all
  int soft;
  double cycle;                  // > 0: they hold in the first eighth of every cycle, and all are soft in the rest
  double period;                 // 0: nothing is refused
  double rates[2], dynamics[2];  // phases that are refused
  bool odd;                      // dynamics do not refuse these phases: their forces are no numbers
  long calls;                    // of both
} Row;

static bool is_stiff(const Row* r, double t, int i) {
  return (r->soft == 0 || i < r->soft) && (r->cycle <= 0 || t - r->cycle * floor(t / r->cycle) < r->cycle / 8);
}

static double stiffness(const Row* r, double t, int i) { return is_stiff(r, t, i) ? r->K : 1.0; }
static double damping(const Row* r, double t, int i) { return is_stiff(r, t, i) ? r->C : 2.0; }

static double force(const Row* r, double t, int i, double q, double v) {
  return -stiffness(r, t, i) * (q - cos(t)) - damping(r, t, i) * (v + sin(t)) - cos(t);
}

static bool is_refused(const Row* r, double t, const double* phases) {
  if (!(r->period > 0)) return false;
  const double phase = t - r->period * floor(t / r->period);
  return phase > phases[0] && phase < phases[1];
}

static int row_rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                     double* vdot, double* ydot, double* wdot) {
  Row* r = user;
  (void)y, (void)tau, (void)ydot, (void)wdot;
  ++r->calls;
  if (is_refused(r, t, r->rates)) return 1;
  for (int i = 0; i < r->n; ++i) qdot[i] = v[i], vdot[i] = force(r, t, i, q[i], v[i]);
  return 0;
}

static int row_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                        double* f, double* ydot, double* D) {
  Row* r = user;
  (void)y, (void)tau, (void)ydot, (void)D;
  ++r->calls;
  const bool refused = is_refused(r, t, r->dynamics);
  if (refused && !r->odd) return 1;
  memset(M, 0, (size_t)(r->n * r->n) * sizeof *M);
  for (int i = 0; i < r->n; ++i) M[i * r->n + i] = 1.0, f[i] = refused ? (double)NAN : force(r, t, i, q[i], v[i]);
  return 0;
}

static int row_tangent(void* user, double t, const double* q, const double* v, const double* y, double tau,
                       const double* a, const double* lambda, srTangent* out) {
  const Row* r = user;
  (void)q, (void)v, (void)y, (void)tau, (void)a, (void)lambda;
  memset(out->Kq, 0, (size_t)(r->n * r->n) * sizeof(double));
  memset(out->Kv, 0, (size_t)(r->n * r->n) * sizeof(double));
  for (int i = 0; i < r->n; ++i) out->Kq[i * r->n + i] = stiffness(r, t, i), out->Kv[i * r->n + i] = damping(r, t, i);
  return 0;
}

enum { MANY = 160 };

static srIntegrator* begin(const char* method, Row* r) {
  const srSystem s = {
      .nq = r->n, .nv = r->n, .user = r, .rates = row_rates, .dynamics = row_dynamics, .tangent = row_tangent};
  srIntegratorOptions o = sri_default_options();
  o.rtol = 1e-6;
  o.atol = 1e-9;
  srIntegrator* integrator = NULL;
  ENSURE(sri_create(method, &s, &o, NULL, &integrator) == SR_OK);
  return integrator;
}

static srStatus go(srIntegrator* x, const Row* r, double t_end) {
  double q[MANY], v[MANY] = {0};
  for (int i = 0; i < r->n; ++i) q[i] = 1.0;
  srStatus status = sri_start(x, 0.0, q, v, NULL);
  while (status == SR_OK && sri_time(x) < t_end) status = sri_step(x, t_end);
  return status;
}

// cost = evaluations + 2 tangents + n/4 factorizations
static double cost_of(const char* method, Row* r, double t_end) {
  srIntegrator* x = begin(method, r);
  ENSURE(go(x, r, t_end) == SR_OK);
  const srIntegratorStats* s = sri_stats(x);
  const double cost = (double)s->evaluations + 2.0 * (double)s->tangents + 0.25 * r->n * (double)s->factorizations;
  sri_destroy(x);
  return cost;
}

// The same motion of 2 and of 160 unknowns takes the same steps. dopri5 needs 6000 evaluations for it, radau5 1300 and 220 factorizations, which 160
// unknowns make the larger part: only few unknowns are cheaper by implicit steps.
TEST(many_unknowns_make_implicit_steps_dear) {
  const double t_end = 20;
  Row few = {.n = 2, .K = 225, .C = 30}, many = few;
  many.n = MANY;
  const double explicit_cost = cost_of("dopri5", &few, t_end);
  ENSURE_NEAR(cost_of("dopri5", &many, t_end), explicit_cost, 0);
  ENSURE(cost_of("radau5", &few, t_end) < 0.5 * explicit_cost);
  ENSURE(cost_of("radau5", &many, t_end) > 1.5 * explicit_cost);
  ENSURE(cost_of("auto", &few, t_end) < 0.5 * explicit_cost);
  ENSURE(cost_of("auto", &many, t_end) < 1.4 * explicit_cost);
}

// Both methods fail in turn, ten times each: the run ends. Begun anew it comes as far, bit by bit.
TEST(failures_are_counted_from_the_start_of_a_run) {
  Row r = {.n = 1, .K = 1, .C = 2, .period = 0.2, .rates = {0.1, 0.19}, .dynamics = {0, 0.09}};
  srIntegrator* x = begin("auto", &r);
  double end[2];
  for (int run = 0; run < 2; ++run) {
    ENSURE(go(x, &r, 100) == SR_FAILED);
    end[run] = sri_time(x);
  }
  ENSURE(end[0] > 2 && end[0] < 2.5);
  ENSURE_NEAR(end[0], end[1], 0);
  sri_destroy(x);
}

// Of both methods, of the estimates of the fastest rate between them, and of what has failed.
TEST(every_call_of_the_system_is_counted) {
  Row rows[] = {{.n = 1, .K = 1e6, .C = 2e3},
                {.n = 1, .K = 1, .C = 2, .period = 0.2, .rates = {0.1, 0.19}, .dynamics = {0, 0.09}}};
  for (int i = 0; i < 2; ++i) {
    srIntegrator* x = begin("auto", &rows[i]);
    (void)go(x, &rows[i], 40);
    ENSURE(sri_stats(x)->switches > 0);
    ENSURE_EQUAL(sri_stats(x)->evaluations, rows[i].calls);
    sri_destroy(x);
  }
}

// Where the other method fails, too, the sentence is that of the method that was in use.
TEST(where_both_fail_the_first_one_reports_the_reason) {
  Row r = {.n = 1, .K = 1, .C = 2, .period = 10, .rates = {1, 10}, .dynamics = {0.5, 10}, .odd = true};
  srIntegrator *x = begin("auto", &r), *alone = begin("dopri5", &r);
  ENSURE(go(x, &r, 2) == SR_FAILED && go(alone, &r, 2) == SR_FAILED);
  ENSURE_TEXT(sri_error_message(x), sri_error_message(alone));
  ENSURE_EQUAL(sri_stats(x)->switches, 0);
  ENSURE_NEAR(sri_time(x), sri_time(alone), 0);
  sri_destroy(x);
  sri_destroy(alone);
}

static void* counting(void* user, void* pointer, size_t old_size, size_t new_size) {
  long* live = user;
  (void)old_size;
  *live += (pointer == NULL) - (new_size == 0 && pointer != NULL) - (new_size == 0 && pointer == NULL);
  if (new_size > 0) return realloc(pointer, new_size);
  free(pointer);
  return NULL;
}

// Two methods share what is known of the constraints: it exists once, and is freed once.
TEST(what_two_methods_share_is_given_back_once) {
  const srSystem s = pendulum(&one_row);
  srIntegratorOptions o = sri_default_options();
  srIntegrator* x = NULL;
  long live = 0;
  o.tangent = SR_TANGENT_DIFFERENCE;
  sr_set_allocator(counting, &live);
  const srStatus status = sri_create("auto", &s, &o, NULL, &x);
  const bool held = live > 0;
  sri_destroy(x);
  sr_set_allocator(NULL, NULL);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE(held);
  ENSURE_EQUAL(live, 0);
}

static long switches_of(Row r, double t_end) {
  srIntegrator* x = begin("auto", &r);
  ENSURE(go(x, &r, t_end) == SR_OK);
  const long n = sri_stats(x)->switches;
  sri_destroy(x);
  return n;
}

// Explicit steps of a rate of 100/s cost 6 * 100/3.3 = 180 evaluations a second, implicit ones about 150: too much for a way back, whichever
// of the unknowns are stiff.
TEST(the_fastest_rate_decides_whether_to_come_back) {
  ENSURE_EQUAL(switches_of((Row){.n = 20, .K = 1e4, .C = 200}, 40), 1);
  ENSURE_EQUAL(switches_of((Row){.n = 20, .K = 1e4, .C = 200, .soft = 1}, 40), 1);
  ENSURE_EQUAL(switches_of((Row){.n = 20, .K = 1e6, .C = 2e3, .soft = 1}, 40), 1);
}

// Stiff for 10 s, soft for 70 s: every way back has lasted, so the next one is no harder.
TEST(a_way_back_that_has_lasted_is_not_held_against_the_next) {
  ENSURE_EQUAL(switches_of((Row){.n = 1, .K = 1e6, .C = 2e3, .cycle = 80}, 480), 12);
}
