// What auto counts: the cost of factorizations, and failures that belong to one run. Systems without bodies; see test_auto.c for the rest.
#include <math.h>
#include <sarrus/integrate.h>
#include <string.h>

#include "base/base.h"
#include "runner.h"

// n equal degrees of freedom without coupling, each pulled to cos t: v' = -K (q - cos t) - C (v + sin t) - cos t, exact q = cos t. What may be asked
// of them at which time is given by two bounds: rates and dynamics refuse phases of a period.
typedef struct Row {
  int n;
  double K, C;
  double period;                 // 0: nothing is refused
  double rates[2], dynamics[2];  // phases that are refused
} Row;

static double force(const Row* r, double t, double q, double v) {
  return -r->K * (q - cos(t)) - r->C * (v + sin(t)) - cos(t);
}

static bool is_refused(const Row* r, double t, const double* phases) {
  if (!(r->period > 0)) return false;
  const double phase = t - r->period * floor(t / r->period);
  return phase > phases[0] && phase < phases[1];
}

static int row_rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                     double* vdot, double* ydot, double* wdot) {
  const Row* r = user;
  (void)y, (void)tau, (void)ydot, (void)wdot;
  if (is_refused(r, t, r->rates)) return 1;
  for (int i = 0; i < r->n; ++i) qdot[i] = v[i], vdot[i] = force(r, t, q[i], v[i]);
  return 0;
}

static int row_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                        double* f, double* ydot, double* D) {
  const Row* r = user;
  (void)y, (void)tau, (void)ydot, (void)D;
  if (is_refused(r, t, r->dynamics)) return 1;
  memset(M, 0, (size_t)(r->n * r->n) * sizeof *M);
  for (int i = 0; i < r->n; ++i) M[i * r->n + i] = 1.0, f[i] = force(r, t, q[i], v[i]);
  return 0;
}

static int row_tangent(void* user, double t, const double* q, const double* v, const double* y, double tau,
                       const double* a, const double* lambda, srTangent* out) {
  const Row* r = user;
  (void)t, (void)q, (void)v, (void)y, (void)tau, (void)a, (void)lambda;
  memset(out->Kq, 0, (size_t)(r->n * r->n) * sizeof(double));
  memset(out->Kv, 0, (size_t)(r->n * r->n) * sizeof(double));
  for (int i = 0; i < r->n; ++i) out->Kq[i * r->n + i] = r->K, out->Kv[i * r->n + i] = r->C;
  return 0;
}

enum { MOST = 160 };

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
  double q[MOST], v[MOST] = {0};
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
  many.n = MOST;
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
