// Motion with unilateral contacts, phase by phase, on systems without bodies: plain srSystem with equations that are switched on and off, D that is not
// G, gaps from the callback `contacts`, and sources of events. Expected values are closed forms.
//
// Everything here is linear: gap_k = N_k q + c_k, slip T_k v, all Jacobians constant. Which contacts are open, stick or slide after an event is found by
// trying all of them: there are two at most. Impacts are frictionless, by Newton's law with e min(u, 0).
#include <stdlib.h>

#include "base/base.h"
#include "constrained.h"

#define DOF 4
#define CONTACTS 2
#define ROUNDING 1e-9  // of accelerations and forces, in modes that are tried

typedef enum Status { OPEN, STICK, SLIDE } Status;

typedef struct Mode {
  Status status[CONTACTS];
  int s[CONTACTS];  // of a sliding contact: the sign of its slip
} Mode;

typedef struct Flat {
  int nv, n;
  double m[DOF], f[DOF], pulse[DOF], w;  // masses; load f + pulse sin(w t)
  double N[CONTACTS][DOF], T[CONTACTS][DOF], c[CONTACTS];
  double mu[CONTACTS], e, tol_hop;
  Mode mode;
  unsigned char active[2 * CONTACTS];  // normals, then tangents
  int calls;                           // of `contacts`: the order of the list turns
  // What has happened.
  int ncontact_monitored, nchange;
  double t_touch[256], t_change[64], t_end_of_hops;
} Flat;

static double dot(int n, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

static double load(const Flat* x, double t, int i) { return x->f[i] + x->pulse[i] * sin(x->w * t); }

// Row k < n: normal; k >= n: tangent. force: the direction of its force in this mode.
static void row_of(const Flat* x, const Mode* mode, int k, bool force, double* out) {
  const int contact = k % x->n;
  const double mu = force && k < x->n && mode->status[contact] == SLIDE ? x->mu[contact] * mode->s[contact] : 0;
  for (int i = 0; i < x->nv; ++i) {
    out[i] = k < x->n ? x->N[contact][i] - mu * x->T[contact][i] : x->T[contact][i];
  }
}

static bool is_active(const Flat* x, const Mode* mode, int k) {
  const Status status = mode->status[k % x->n];
  return k < x->n ? status != OPEN : status == STICK;
}

// A x = b by elimination with pivots, n <= 4; x in b. False: singular.
static bool solve(int n, double A[][2 * CONTACTS], double* b) {
  for (int k = 0; k < n; ++k) {
    int p = k;
    for (int i = k + 1; i < n; ++i) p = fabs(A[i][k]) > fabs(A[p][k]) ? i : p;
    if (fabs(A[p][k]) < 1e-12) return false;
    for (int j = 0; j < n; ++j) {
      const double held = A[k][j];
      A[k][j] = A[p][j];
      A[p][j] = held;
    }
    const double held = b[k];
    b[k] = b[p];
    b[p] = held;
    for (int i = k + 1; i < n; ++i) {
      const double factor = A[i][k] / A[k][k];
      for (int j = k; j < n; ++j) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    for (int j = k + 1; j < n; ++j) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
  return true;
}

// x += M^-1 D^T lambda over the equations of the mode such that G x = target (2n); lambda (2n) has zeros elsewhere. False: not determined.
static bool react(const Flat* x, const Mode* mode, const double* target, double* a, double* lambda) {
  double A[2 * CONTACTS][2 * CONTACTS], r[2 * CONTACTS], G[DOF], D[DOF];
  int row[2 * CONTACTS], n = 0;
  for (int k = 0; k < 2 * x->n; ++k) {
    lambda[k] = 0;
    if (is_active(x, mode, k)) row[n++] = k;
  }
  for (int i = 0; i < n; ++i) {
    row_of(x, mode, row[i], false, G);
    r[i] = target[row[i]] - dot(x->nv, G, a);
    for (int j = 0; j < n; ++j) {
      row_of(x, mode, row[j], true, D);
      A[i][j] = 0;
      for (int l = 0; l < x->nv; ++l) A[i][j] += G[l] * D[l] / x->m[l];
    }
  }
  if (!solve(n, A, r)) return false;
  for (int i = 0; i < n; ++i) {
    row_of(x, mode, row[i], true, D);
    lambda[row[i]] = r[i];
    for (int l = 0; l < x->nv; ++l) a[l] += D[l] * r[i] / x->m[l];
  }
  return true;
}

static bool accelerations(const Flat* x, const Mode* mode, double t, double* a, double* lambda) {
  const double zero[2 * CONTACTS] = {0};
  for (int i = 0; i < x->nv; ++i) a[i] = load(x, t, i) / x->m[i];
  return react(x, mode, zero, a, lambda);
}

// ---- the system -----------------------------------------------------------------------------------------------------

static int flat_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                         double* f, double* ydot, double* D) {
  const Flat* x = user;
  (void)q, (void)v, (void)y, (void)tau, (void)ydot;
  memset(M, 0, (size_t)(x->nv * x->nv) * sizeof *M);
  for (int i = 0; i < x->nv; ++i) {
    M[i * x->nv + i] = x->m[i];
    f[i] = load(x, t, i);
  }
  for (int k = 0; D != NULL && k < 2 * x->n; ++k) row_of(x, &x->mode, k, true, D + k * x->nv);
  return 0;
}

static int flat_constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  const Flat* x = user;
  (void)t;
  for (int k = 0; k < 2 * x->n; ++k) {
    if (g != NULL && k < x->n) g[k] = dot(x->nv, x->N[k], q) + x->c[k];
    if (G != NULL) row_of(x, &x->mode, k, false, G + k * x->nv);
    if (b != NULL) b[k] = 0;
  }
  return 0;
}

static int flat_gamma(void* user, double t, const double* q, const double* v, double* gamma) {
  (void)t, (void)q, (void)v;
  memset(gamma, 0, 2 * (size_t)((const Flat*)user)->n * sizeof *gamma);
  return 0;
}

static int flat_rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                      double* vdot, double* ydot, double* wdot) {
  const Flat* x = user;
  double lambda[2 * CONTACTS];
  (void)q, (void)y, (void)tau, (void)ydot, (void)wdot;
  memcpy(qdot, v, (size_t)x->nv * sizeof *v);
  return accelerations(x, &x->mode, t, vdot, lambda) ? 0 : -1;
}

// Those within half a metre, in an order that turns from call to call.
static int flat_contacts(void* user, double t, const double* q, srUnilateral* out, int* count) {
  Flat* x = user;
  (void)t;
  *count = 0;
  for (int i = 0; i < x->n; ++i) {
    const int k = (i + x->calls) % x->n;
    const double gap = dot(x->nv, x->N[k], q) + x->c[k];
    if (gap > 0.5) continue;
    srUnilateral* to = &out[(*count)++];
    to->id = 70 + k;
    to->normal = k;
    to->tangent = x->n + k;
    to->gap = gap;
    to->b[0] = to->b[1] = 0;
    to->n = x->nv;
    for (int j = 0; j < x->nv; ++j) to->column[j] = j;
    memcpy(to->W, x->N[k], (size_t)x->nv * sizeof(double));
    memcpy(to->W + x->nv, x->T[k], (size_t)x->nv * sizeof(double));
  }
  ++x->calls;
  return 0;
}

static srSystem flat_system(Flat* x) {
  return (srSystem){.nq = x->nv,
                    .nv = x->nv,
                    .ng = 2 * x->n,
                    .np = x->n,
                    .active = x->active,
                    .ncontact = x->n,
                    .ntangent = 1,
                    .user = x,
                    .rates = flat_rates,
                    .dynamics = flat_dynamics,
                    .constraint = flat_constraint,
                    .gamma = flat_gamma,
                    .contacts = flat_contacts,
                    .D_differs = true};
}

// ---- events ---------------------------------------------------------------------------------------------------------

static bool has_friction(const Flat* x, int k) { return dot(x->nv, x->T[k], x->T[k]) > 0; }

static void set_mode(Flat* x, const Mode* mode) {
  x->mode = *mode;
  for (int k = 0; k < 2 * x->n; ++k) x->active[k] = is_active(x, mode, k);
}

// Is the mode one that goes on from here? not_stuck: a contact that is not to stick, -1: none.
static bool goes_on(const Flat* x, const Mode* mode, double t, const double* v, const bool* closed, int not_stuck) {
  double a[DOF], lambda[2 * CONTACTS];
  if (!accelerations(x, mode, t, a, lambda)) return false;
  for (int k = 0; k < x->n; ++k) {
    const double slip = dot(x->nv, x->T[k], v), more = dot(x->nv, x->T[k], a);
    const Status status = mode->status[k];
    if (status == OPEN && closed[k] && dot(x->nv, x->N[k], a) < -ROUNDING) return false;
    if (status != OPEN && lambda[k] < -ROUNDING) return false;
    if (status == STICK && (k == not_stuck || slip != 0)) return false;
    if (status == STICK && fabs(lambda[x->n + k]) > x->mu[k] * lambda[k] + ROUNDING) return false;
    if (status == SLIDE && has_friction(x, k) && (slip != 0 ? slip * mode->s[k] < 0 : more * mode->s[k] < -ROUNDING))
      return false;
  }
  return true;
}

// Mode number i of those that the closed contacts can have.
static bool mode_number(const Flat* x, int i, const bool* closed, Mode* mode) {
  for (int k = 0; k < x->n; ++k, i /= 4) {
    const int which = i % 4;  // stick, slide either way, open
    mode->status[k] = which == 0 ? STICK : which < 3 ? SLIDE : OPEN;
    mode->s[k] = which == 1 ? 1 : -1;
    if (!closed[k] && which != 3) return false;
    if (!has_friction(x, k) && (which == 0 || which == 2)) return false;
  }
  return i == 0;
}

static bool find_mode(Flat* x, double t, const double* v, const bool* closed, int not_stuck) {
  for (int i = 0; i < 16; ++i) {
    Mode mode;
    if (!mode_number(x, i, closed, &mode) || !goes_on(x, &mode, t, v, closed, not_stuck)) continue;
    set_mode(x, &mode);
    return true;
  }
  return false;
}

// Impulses along the normals of a set of contacts that bring each to -e min(u, 0); the others are no slower than that.
static bool impact(const Flat* x, const bool* touching, double* v) {
  for (int set = 1; set < 1 << x->n; ++set) {
    Mode mode = {{OPEN}, {0}};
    double to[2 * CONTACTS] = {0}, after[DOF], P[2 * CONTACTS];
    bool good = true;
    for (int k = 0; k < x->n; ++k) {
      mode.status[k] = (set >> k & 1) != 0 ? SLIDE : OPEN;
      to[k] = -x->e * fmin(dot(x->nv, x->N[k], v), 0);
      good = good && (mode.status[k] == OPEN || touching[k]);
    }
    memcpy(after, v, sizeof after);
    good = good && react(x, &mode, to, after, P);
    for (int k = 0; k < x->n && good; ++k) {
      good = P[k] >= 0 && (!touching[k] || dot(x->nv, x->N[k], after) >= to[k] - 1e-12);
    }
    if (!good) continue;
    memcpy(v, after, sizeof after);
    return true;
  }
  return false;
}

// v with the normal velocity of closed contacts, and the slip of those given, exactly 0.
static void put_at_rest(const Flat* x, const bool* closed, const bool* slipless, double* v) {
  Mode mode = {{OPEN}, {0}};
  double to[2 * CONTACTS] = {0}, P[2 * CONTACTS];
  for (int k = 0; k < x->n; ++k) mode.status[k] = slipless[k] && has_friction(x, k) ? STICK : closed[k] ? SLIDE : OPEN;
  (void)react(x, &mode, to, v, P);
  for (int i = 0; i < x->nv; ++i) v[i] = fabs(v[i]) < 1e-13 ? 0 : v[i];
}

// After every event: impacts, contacts whose hops have become too small to follow, and the mode that goes on.
static int settle(Flat* x, double t, const double* q, double* v, int touched, int not_stuck, int stops) {
  bool touching[CONTACTS] = {0}, closed[CONTACTS] = {0}, slipless[CONTACTS] = {0}, strikes = false;
  (void)q;
  for (int k = 0; k < x->n; ++k) {
    touching[k] = x->mode.status[k] != OPEN || k == touched;
    slipless[k] = x->mode.status[k] == STICK || k == stops;
    strikes = strikes || (touching[k] && dot(x->nv, x->N[k], v) < -1e-12);
  }
  if (strikes && !impact(x, touching, v)) return -1;
  for (int k = 0; k < x->n; ++k) {
    const double u = dot(x->nv, x->N[k], v);
    double a = 0;
    for (int i = 0; i < x->nv; ++i) a += x->N[k][i] * load(x, t, i) / x->m[i];
    closed[k] = touching[k] && (fabs(u) < 1e-12 || (a < 0 && u * u / (2 * -a) < x->tol_hop));
    // What is left of the hops: each e times as long as the one before.
    if (closed[k] && u > 1e-12) x->t_end_of_hops = t + 2 * u / (-a * (1 - x->e));
  }
  put_at_rest(x, closed, slipless, v);
  return find_mode(x, t, v, closed, not_stuck) ? 0 : -1;
}

static int touched(void* user, double t, double* q, double* v, double* y, const srUnilateral* contact) {
  Flat* x = user;
  (void)y;
  ENSURE(contact->id == 70 + contact->normal && contact->tangent == x->n + contact->normal);
  ENSURE_SMALL(contact->gap, 1e-9);
  x->t_touch[x->ncontact_monitored++ % 256] = t;
  return settle(x, t, q, v, contact->normal, -1, -1);
}

// Of each contact: the multiplier of its normal, its slip in the direction that it has, how far it is inside the cone.
static int mode_values(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  const Flat* x = user;
  double a[DOF], lambda[2 * CONTACTS];
  (void)q, (void)y;
  if (!accelerations(x, &x->mode, t, a, lambda)) return -1;
  for (int k = 0; k < x->n; ++k, value += 3) {
    const Status status = x->mode.status[k];
    value[0] = status != OPEN ? lambda[k] : 1;
    value[1] = status == SLIDE && has_friction(x, k) ? x->mode.s[k] * dot(x->nv, x->T[k], v) : 1;
    value[2] = status == STICK ? x->mu[k] * lambda[k] - fabs(lambda[x->n + k]) : 1;
  }
  return 0;
}

static int mode_act(void* user, double t, double* q, double* v, double* y, const signed char* fired) {
  Flat* x = user;
  (void)y;
  int not_stuck = -1, stops = -1;
  for (int k = 0; k < x->n; ++k) {
    if (fired[3 * k + 1] != 0) stops = k;
    if (fired[3 * k + 2] != 0) not_stuck = k;
  }
  x->t_change[x->nchange++ % 64] = t;
  return settle(x, t, q, v, -1, not_stuck, stops);
}

typedef struct Phases {
  srIntegrator* integrator;
  srGaps* gaps;
  srEvents* events;
} Phases;

static Phases phases_create(const char* method, Flat* x, double tol) {
  static const signed char falling[3 * CONTACTS] = {-1, -1, -1, -1, -1, -1};
  const srSystem system = flat_system(x);
  srIntegratorOptions o = tolerance(tol);
  o.tangent = SR_TANGENT_DIFFERENCE;
  o.rho = 0.8;
  if (strcmp(method, "rk4") == 0) o.step = 1e-3;
  Phases p = {.integrator = create(method, &system, o), .gaps = sri_gaps_create(&system)};
  const srEventSource sources[] = {
      sri_gaps_source(p.gaps, touched, x),
      {.count = 3 * x->n, .direction = falling, .user = x, .evaluate = mode_values, .act = mode_act}};
  p.events = sri_events_create(p.integrator, &(srEventList){.count = 2, .source = sources});
  ENSURE(p.gaps != NULL && p.events != NULL);
  return p;
}

static void phases_start(Phases* p, const double* q, const double* v) {
  ENSURE(sri_start(p->integrator, 0, q, v, NULL) == SR_OK);
  ENSURE(sri_events_start(p->events, p->integrator) == SR_OK);
}

static void phases_to(Phases* p, double t_end) {
  bool end = false;
  const srStatus status = sri_events_run(p->events, p->integrator, t_end, &end);
  if (status != SR_OK) {
    printf("  at %.17g %s, error %d\n", sri_time(p->integrator), sri_error_message(p->integrator),
           (int)sri_events_error(p->events).kind);
  }
  ENSURE(status == SR_OK && !end);
}

static void phases_destroy(Phases* p) {
  sri_events_destroy(p->events);
  sri_gaps_destroy(p->gaps);
  sri_destroy(p->integrator);
}

// With the constraints of the system, or with its own accelerations.
static const char* const methods[] = {"mdop5", "hem5", "phem56", "radau5", "auto", "dopri5", "rk4", "cvode", "ida"};

// Flights and slides are polynomials, which one-step methods follow to rounding. The formulas of backward differentiation begin each of 87 flights
// at order 1: their tolerance is to be small against the last hops, 1e-8 m, and with e = 0.9 an error of speed is repeated ten times over.
static bool is_multistep(const char* method) { return strcmp(method, "cvode") == 0 || strcmp(method, "ida") == 0; }
static double tolerance_of(const char* method) { return is_multistep(method) ? 1e-12 : 1e-10; }
static double most_of(const char* method) { return is_multistep(method) ? 1e-6 : 1e-9; }

static bool present(const char* method) { return !sri_method_find(method)->absent; }

// ---- a ball ---------------------------------------------------------------------------------------------------------

// Impact times are t_1 + 2 t_1 (e + e^2 + ... ): gap 0.9, e = 0.9, g = 9.81 and gap 1, e = 0.5.
static void ensure_ball(const char* method, double height, double e, int touches) {
  Flat ball = {.nv = 1, .n = 1, .m = {2}, .f = {-2 * 9.81}, .N = {{1}}, .e = e, .tol_hop = 1e-8};
  const double q0 = height, v0 = 0, t1 = sqrt(2 * height / 9.81);
  Phases p = phases_create(method, &ball, tolerance_of(method));
  phases_start(&p, &q0, &v0);
  phases_to(&p, t1 * (1 + e) / (1 - e) + 1);
  double t = t1, flight = 2 * e * t1;
  ENSURE(ball.ncontact_monitored >= touches);
  for (int i = 0; i < touches; ++i, t += flight, flight *= e) ENSURE_NEAR(ball.t_touch[i], t, most_of(method));
  ENSURE_NEAR(ball.t_end_of_hops, t1 * (1 + e) / (1 - e), most_of(method));
  // At rest: the constraint is active, and carries the weight.
  double lambda[2] = {0};
  ENSURE(ball.active[0] == 1 && ball.mode.status[0] == SLIDE);
  ENSURE_SMALL(sri_q(p.integrator)[0], 1e-9);
  ENSURE_SMALL(sri_v(p.integrator)[0], 1e-12);
  if (sri_multipliers(p.integrator, lambda, NULL) == SR_OK) ENSURE_NEAR(lambda[0], 2 * 9.81, 1e-9);
  ENSURE(lambda[1] == 0);
  if (verbose())
    printf("  %-8s e %.1f: %d touches, %ld steps\n", method, e, ball.ncontact_monitored,
           sri_stats(p.integrator)->steps);
  phases_destroy(&p);
}

TEST(a_ball_bounces_at_the_times_of_its_closed_form_and_comes_to_rest) {
  for (int i = 0; i < (int)(sizeof methods / sizeof *methods); ++i) {
    if (!present(methods[i])) continue;
    ensure_ball(methods[i], 0.9, 0.9, 60);
    ensure_ball(methods[i], 1, 0.5, 10);
  }
}

// ---- a block on a slope ---------------------------------------------------------------------------------------------

// Thrown up a slope of 30 degrees at 3 m/s with mu 0.7: stops after v0/(g (sin + mu cos)), and stays, since mu > tan. With mu 0.3 it comes back.
static Flat slope(double mu) {
  const double angle = PI / 6;
  return (Flat){.nv = 2,
                .n = 1,
                .m = {1.5, 1.5},
                .f = {-1.5 * 9.81 * sin(angle), -1.5 * 9.81 * cos(angle)},
                .N = {{0, 1}},
                .T = {{1, 0}},
                .mu = {mu},
                .tol_hop = 1e-8};
}

TEST(a_block_thrown_up_a_slope_stops_and_stays_or_comes_back) {
  const double q0[2] = {0, 0}, v0[2] = {3, 0}, g_along = 9.81 * 0.5, g_across = 9.81 * sqrt(3) / 2;
  for (int i = 0; i < (int)(sizeof methods / sizeof *methods); ++i) {
    if (!present(methods[i])) continue;
    for (int steep = 0; steep < 2; ++steep) {
      Flat x = slope(steep ? 0.3 : 0.7);
      x.mode = (Mode){{SLIDE}, {1}};
      set_mode(&x, &x.mode);
      Phases p = phases_create(methods[i], &x, 1e-10);
      phases_start(&p, q0, v0);
      phases_to(&p, 1);
      const double brake = g_along + x.mu[0] * g_across, t_stop = 3 / brake, d_stop = 4.5 / brake;
      const double back = steep ? g_along - x.mu[0] * g_across : 0, left = 1 - t_stop;
      ENSURE_EQUAL(x.nchange, 1);
      ENSURE_NEAR(x.t_change[0], t_stop, most_of(methods[i]));
      ENSURE(x.mode.status[0] == (steep ? SLIDE : STICK));
      ENSURE_NEAR(sri_q(p.integrator)[0], d_stop - back * left * left / 2, 10 * most_of(methods[i]));
      ENSURE_NEAR(sri_v(p.integrator)[0], -back * left, 10 * most_of(methods[i]));
      phases_destroy(&p);
    }
  }
}

// On the flat, pulled by P sin(w t) with P > mu m g: sticks until sin(w t) = mu m g/P, slides, stops where
//   P/w (cos w t1 - cos w t) = mu m g (t - t1),    and sticks there while P |sin| stays below mu m g.
TEST(a_pulled_block_sticks_slides_and_sticks_again) {
  const double m = 2, mu = 0.5, weight = m * 9.81, P = 1.2 * mu * weight, w = 3;
  const double t1 = asin(mu * weight / P) / w;
  double lo = 1.001 * t1, hi = PI / w;  // the stop: by halving
  for (int i = 0; i < 60; ++i) {
    const double t = 0.5 * (lo + hi);
    *(P / w * (cos(w * t1) - cos(w * t)) > mu * weight * (t - t1) ? &lo : &hi) = t;
  }
  const double t2 = lo, T = t2 - t1;
  const double d = (P / w * cos(w * t1) * T - P / (w * w) * (sin(w * t2) - sin(w * t1)) - mu * weight * T * T / 2) / m;
  const double t3 = (PI + asin(mu * weight / P)) / w;  // then the other way
  ENSURE(t2 < t3);
  const double q0[2] = {0, 0}, v0[2] = {0, 0};
  for (int i = 0; i < (int)(sizeof methods / sizeof *methods); ++i) {
    if (!present(methods[i])) continue;
    Flat x = {.nv = 2,
              .n = 1,
              .m = {m, m},
              .f = {0, -weight},
              .pulse = {P, 0},
              .w = w,
              .N = {{0, 1}},
              .T = {{1, 0}},
              .mu = {mu},
              .tol_hop = 1e-8};
    x.mode = (Mode){{STICK}, {1}};
    set_mode(&x, &x.mode);
    Phases p = phases_create(methods[i], &x, 1e-10);
    phases_start(&p, q0, v0);
    phases_to(&p, 0.5 * (t2 + t3));
    if (verbose()) printf("  %-8s slips %.2e stops %.2e\n", methods[i], x.t_change[0] - t1, x.t_change[1] - t2);
    ENSURE_EQUAL(x.nchange, 2);
    ENSURE_NEAR(x.t_change[0], t1, most_of(methods[i]));
    ENSURE_NEAR(x.t_change[1], t2, 1e-6);  // a speed of 0 is met at a grazing angle: error of v over its slope
    ENSURE(x.mode.status[0] == STICK);
    ENSURE_NEAR(sri_q(p.integrator)[0], d, 10 * most_of(methods[i]));
    ENSURE_SMALL(sri_v(p.integrator)[0], 1e-12);
    phases_to(&p, 0.5 * (t3 + t2 + PI / w));
    ENSURE(x.nchange >= 3 && x.mode.status[0] == SLIDE && x.mode.s[0] == -1);
    ENSURE_NEAR(x.t_change[2], t3, most_of(methods[i]));
    phases_destroy(&p);
  }
}

// ---- a pinched block ------------------------------------------------------------------------------------------------

// A block (x, y) on the floor, pinched by a plate that moves up and down alone (z) and is pressed down by F; both have friction. Thrown at v0 it stops after
// v0 m / (mu_1 (F + M g + m g) + mu_2 (F + M g)).
TEST(a_block_pinched_between_floor_and_plate_is_braked_by_both) {
  const double m = 2, M = 3, F = 10, g = 9.81, mu1 = 0.3, mu2 = 0.2, v_start = 4;
  const double q0[3] = {0, 0, 0}, v0[3] = {v_start, 0, 0};
  const double upper = F + M * g, lower = upper + m * g, brake = (mu1 * lower + mu2 * upper) / m;
  for (int i = 0; i < (int)(sizeof methods / sizeof *methods); ++i) {
    if (!present(methods[i])) continue;
    Flat x = {.nv = 3,
              .n = 2,
              .m = {m, m, M},
              .f = {0, -m * g, -F - M * g},
              .N = {{0, 1, 0}, {0, -1, 1}},
              .T = {{1, 0, 0}, {1, 0, 0}},
              .mu = {mu1, mu2},
              .tol_hop = 1e-8};
    x.mode = (Mode){{SLIDE, SLIDE}, {1, 1}};
    set_mode(&x, &x.mode);
    Phases p = phases_create(methods[i], &x, 1e-10);
    phases_start(&p, q0, v0);
    phases_to(&p, 0.3 * v_start / brake);
    double lambda[4] = {lower, upper, 0, 0};
    if (sri_kept_rows(p.integrator) != NULL) ENSURE(sri_multipliers(p.integrator, lambda, NULL) == SR_OK);
    ENSURE_NEAR(lambda[0], lower, 1e-8);
    ENSURE_NEAR(lambda[1], upper, 1e-8);
    ENSURE(lambda[2] == 0 && lambda[3] == 0);
    phases_to(&p, 2 * v_start / brake);
    ENSURE(x.nchange >= 1);
    ENSURE_NEAR(x.t_change[0], v_start / brake, most_of(methods[i]));
    ENSURE_NEAR(sri_q(p.integrator)[0], v_start * v_start / (2 * brake), 10 * most_of(methods[i]));
    ENSURE_SMALL(sri_v(p.integrator)[0], 1e-12);
    ENSURE(x.mode.status[0] == STICK || x.mode.status[1] == STICK);
    phases_destroy(&p);
  }
}

// ---- two stacked blocks ---------------------------------------------------------------------------------------------

// The lower one (x1, y1) slides on the floor at v0, the upper one (x2, y2) falls on it from a height, without restitution, at the same speed along x.
// With mu_floor > mu_between the lower one brakes harder: they part along x. It stops, the upper one slides on and stops later:
//   t < t_f: lower v0 - mu1 g t, upper v0 t;   then lower -(mu1 (m1 + m2) - mu2 m2) g/m1, upper -mu2 g
TEST(an_upper_block_falls_on_a_sliding_lower_one_and_both_come_to_rest_one_by_one) {
  const double m1 = 3, m2 = 1, g = 9.81, mu1 = 0.4, mu2 = 0.15, v_start = 3, h = 0.1, t_f = sqrt(2 * h / g);
  const double q0[4] = {0, 0, 0, h}, v0[4] = {v_start, 0, v_start, 0};
  const double v_f = v_start - mu1 * g * t_f, a1 = (mu1 * (m1 + m2) - mu2 * m2) * g / m1, t1 = t_f + v_f / a1;
  const double t2 = t_f + v_start / (mu2 * g);
  const double x1 = (v_start + v_f) / 2 * t_f + v_f * v_f / (2 * a1);
  const double x2 = v_start * t_f + v_start * v_start / (2 * mu2 * g);
  for (int i = 0; i < (int)(sizeof methods / sizeof *methods); ++i) {
    if (!present(methods[i])) continue;
    Flat x = {.nv = 4,
              .n = 2,
              .m = {m1, m1, m2, m2},
              .f = {0, -m1 * g, 0, -m2 * g},
              .N = {{0, 1, 0, 0}, {0, -1, 0, 1}},
              .T = {{1, 0, 0, 0}, {-1, 0, 1, 0}},
              .mu = {mu1, mu2},
              .tol_hop = 1e-8};
    x.mode = (Mode){{SLIDE, OPEN}, {1, 1}};
    set_mode(&x, &x.mode);
    Phases p = phases_create(methods[i], &x, 1e-10);
    phases_start(&p, q0, v0);
    phases_to(&p, t2 + 0.5);
    ENSURE_EQUAL(x.ncontact_monitored, 1);
    ENSURE_NEAR(x.t_touch[0], t_f, most_of(methods[i]));
    ENSURE_EQUAL(x.nchange, 2);
    ENSURE_NEAR(x.t_change[0], t1, most_of(methods[i]));
    ENSURE_NEAR(x.t_change[1], t2, most_of(methods[i]));
    ENSURE(x.mode.status[0] == STICK && x.mode.status[1] == STICK);
    const double* q = sri_q(p.integrator);
    ENSURE_NEAR(q[0], x1, 10 * most_of(methods[i]));
    ENSURE_NEAR(q[2], x2, 10 * most_of(methods[i]));
    ENSURE_SMALL(q[1], 1e-9);
    ENSURE_SMALL(q[3], 1e-9);
    phases_destroy(&p);
  }
}

// ---- where nothing is active --------------------------------------------------------------------------------------------

// Two masses on springs of their own, 1 rad/s and 2 rad/s, which a rod may join: then sqrt((1 + 8)/(1 + 2)) rad/s.
typedef struct Pair {
  unsigned char joined;
  int dynamics, free;  // calls
} Pair;

static int pair_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                         double* f, double* ydot, double* D) {
  (void)t, (void)v, (void)y, (void)tau, (void)ydot, (void)D;
  ++((Pair*)user)->dynamics;
  M[0] = 1, M[1] = M[2] = 0, M[3] = 2;
  f[0] = -q[0], f[1] = -8 * q[1];
  return 0;
}

static int pair_free(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                     double* vdot, double* ydot, double* wdot) {
  (void)t, (void)y, (void)tau, (void)ydot, (void)wdot;
  ++((Pair*)user)->free;
  qdot[0] = v[0], qdot[1] = v[1];
  vdot[0] = -q[0], vdot[1] = -4 * q[1];
  return 0;
}

static int pair_constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  (void)user, (void)t;
  if (g != NULL) g[0] = q[0] - q[1];
  if (G != NULL) G[0] = 1, G[1] = -1;
  if (b != NULL) b[0] = 0;
  return 0;
}

static int pair_gamma(void* user, double t, const double* q, const double* v, double* gamma) {
  (void)user, (void)t, (void)q, (void)v;
  gamma[0] = 0;
  return 0;
}

static void step_to(srIntegrator* integrator, double t) {
  while (sri_time(integrator) < t) ENSURE_EQUAL(sri_step(integrator, t), SR_OK);
}

// Free to t = 1; joined where both are at rest at 0.3, for a second; free again. Methods that solve for accelerations do not ask for M where they are free.
TEST(phases_without_active_equations_use_the_rates_of_the_free_system) {
  static const char* const names[] = {"mdop5", "dopri5", "rk4", "hem5", "radau5"};
  for (int k = 0; k < SR_COUNT(names); ++k) {
    Pair x = {0};
    const srSystem system = {.nq = 2,
                             .nv = 2,
                             .ng = 1,
                             .np = 1,
                             .active = &x.joined,
                             .user = &x,
                             .rates_free = pair_free,
                             .dynamics = pair_dynamics,
                             .constraint = pair_constraint,
                             .gamma = pair_gamma};
    const bool index1 = k < 3;
    srIntegratorOptions options = sri_default_options();
    options.rtol = options.atol = 1e-10;
    if (k == 2) options.step = 1e-3;
    srIntegrator* integrator = NULL;
    ENSURE_EQUAL(sri_create(names[k], &system, &options, NULL, &integrator), SR_OK);
    double q[2] = {1, 0.5}, v[2] = {0, 1};
    ENSURE_EQUAL(sri_start(integrator, 0, q, v, NULL), SR_OK);
    step_to(integrator, 1);
    ENSURE_NEAR(sri_q(integrator)[0], cos(1), 1e-8);
    ENSURE_NEAR(sri_q(integrator)[1], 0.5 * cos(2) + 0.5 * sin(2), 1e-8);
    if (index1) ENSURE_EQUAL(x.dynamics, 0);
    x.joined = 1;
    q[0] = q[1] = 0.3, v[0] = v[1] = 0;
    ENSURE_EQUAL(sri_restart(integrator, 1, q, v, NULL), SR_OK);
    const int free = x.free;
    step_to(integrator, 2);
    ENSURE_EQUAL(x.free, free);
    for (int i = 0; i < 2; ++i) ENSURE_NEAR(sri_q(integrator)[i], 0.3 * cos(sqrt(3)), 1e-8);
    ENSURE_EQUAL(sri_stats(integrator)->rank, 1);
    x.joined = 0;
    memcpy(q, sri_q(integrator), sizeof q);
    memcpy(v, sri_v(integrator), sizeof v);
    ENSURE_EQUAL(sri_restart(integrator, 2, q, v, NULL), SR_OK);
    step_to(integrator, 3);
    ENSURE_NEAR(sri_q(integrator)[0], q[0] * cos(1) + v[0] * sin(1), 1e-8);
    ENSURE_NEAR(sri_q(integrator)[1], q[1] * cos(2) + v[1] / 2 * sin(2), 1e-8);
    ENSURE_EQUAL(sri_stats(integrator)->rank, 0);
    ENSURE_EQUAL(sri_stats(integrator)->rank_phases, 2);
    sri_destroy(integrator);
  }
}
