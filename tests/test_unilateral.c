// What rigid contact requires of the integrators, on systems without bodies: forces along D that is not G, equations that are switched on and
// off. Expected values are closed forms.
#include "constrained.h"

// A method and what its end may be off by, at the tolerance that suits its order: a thousand tolerances.
static double tolerance_of(const srMethod* method) { return method->order >= 4 ? 1e-9 : 1e-7; }

static srIntegratorOptions options_of(const srMethod* method) {
  srIntegratorOptions o = sri_default_options();
  o.rtol = o.atol = tolerance_of(method);
  if (!method->adaptive) o.step = method->order >= 4 ? 1e-3 : 1e-6;
  o.tangent = SR_TANGENT_DIFFERENCE;
  return o;
}

// Euler's method cannot meet its tolerance in a time that a test has.
static bool takes_part(const srMethod* method) { return !method->absent && method->order >= 2; }

static void advance(srIntegrator* integrator, double t_end) {
  while (sri_time(integrator) < t_end) {
    if (sri_step(integrator, t_end) != SR_OK) printf("%s\n", sri_error_message(integrator));
    ENSURE(sri_time(integrator) > sri_time_before(integrator));
  }
}

// ---- D is not G -----------------------------------------------------------------------------------------------------
// A point of mass 1 that slides along the inside of a ring of radius R with friction mu, without weight:
//   n = -q/R,  t = (-y, x)/R,  D = n - mu t,  lambda = s^2/R,   s' = -mu s^2/R:
//   s = s0/(1 + mu s0 T/R),   angle = ln(1 + mu s0 T/R)/mu

static const double ring_R = 0.8, ring_mu = 0.3, ring_s0 = 2.5;

static void ring_rows(const double* q, double* G, double* D) {
  const double n[2] = {-q[0] / ring_R, -q[1] / ring_R};
  for (int i = 0; i < 2; ++i) {
    if (G != NULL) G[i] = n[i];
    if (D != NULL) D[i] = n[i] - ring_mu * (i == 0 ? n[1] : -n[0]);
  }
}

static int ring_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                         double* f, double* ydot, double* D) {
  (void)user, (void)t, (void)v, (void)y, (void)tau, (void)ydot;
  M[0] = M[3] = 1;
  M[1] = M[2] = 0;
  f[0] = f[1] = 0;
  ring_rows(q, NULL, D);
  return 0;
}

static int ring_constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  (void)user, (void)t;
  if (g != NULL) g[0] = (ring_R * ring_R - q[0] * q[0] - q[1] * q[1]) / (2 * ring_R);
  ring_rows(q, G, NULL);
  if (b != NULL) b[0] = 0;
  return 0;
}

static int ring_gamma(void* user, double t, const double* q, const double* v, double* gamma) {
  (void)user, (void)t, (void)q;
  gamma[0] = (v[0] * v[0] + v[1] * v[1]) / ring_R;
  return 0;
}

// Index 1: G v' = gamma with v' = D lambda.
static int ring_rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                      double* vdot, double* ydot, double* wdot) {
  double G[2], D[2], gamma;
  (void)y, (void)tau, (void)ydot, (void)wdot;
  ring_rows(q, G, D);
  (void)ring_gamma(user, t, q, v, &gamma);
  const double lambda = gamma / (G[0] * D[0] + G[1] * D[1]);
  for (int i = 0; i < 2; ++i) {
    qdot[i] = v[i];
    vdot[i] = lambda * D[i];
  }
  return 0;
}

static const srSystem ring = {.nq = 2,
                              .nv = 2,
                              .ng = 1,
                              .np = 1,
                              .rates = ring_rates,
                              .dynamics = ring_dynamics,
                              .constraint = ring_constraint,
                              .gamma = ring_gamma,
                              .D_differs = true};

static void ring_state(double t, double x[4]) {
  const double k = 1 + ring_mu * ring_s0 * t / ring_R, angle = log(k) / ring_mu, s = ring_s0 / k;
  x[0] = ring_R * cos(angle);
  x[1] = ring_R * sin(angle);
  x[2] = -s * sin(angle);
  x[3] = s * cos(angle);
}

TEST(every_method_slides_along_a_ring_with_friction_as_the_closed_form_does) {
  double exact[4];
  const double t_end = 1.5;
  ring_state(t_end, exact);
  const double force = (exact[2] * exact[2] + exact[3] * exact[3]) / ring_R;
  for (int i = 0; i < sri_method_count(); ++i) {
    const srMethod* method = sri_method(i);
    if (!takes_part(method)) continue;
    double x[4], lambda = 0;
    ring_state(0, x);
    srIntegrator* integrator = create(method->name, &ring, options_of(method));
    ENSURE(run(integrator, &ring, t_end, x));
    const double error = distance(4, x, exact), most = 1e3 * tolerance_of(method);
    if (verbose()) printf("  %-16s error %.1e of %.0e\n", method->name, error, most);
    ENSURE_SMALL(error, most);
    if (sri_lambda(integrator) != NULL) ENSURE_NEAR(sri_lambda(integrator)[0], force, 10 * most);
    if (sri_kept_rows(integrator) != NULL) {
      ENSURE(sri_multipliers(integrator, &lambda, NULL) == SR_OK);
      ENSURE_NEAR(lambda, force, 10 * most);
    }
    sri_destroy(integrator);
  }
}

// A block between two walls, normals +y and -y, slides along x with friction at both: either takes the whole load, and what the other one takes
// too makes another motion. Shared in the way that has the least norm, half a pull would undo half a push, and friction would vanish.
static int pinched_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau,
                            double* M, double* f, double* ydot, double* D) {
  (void)user, (void)t, (void)q, (void)v, (void)y, (void)tau, (void)ydot;
  const double rows[4] = {-0.2, 1, -0.2, -1};
  M[0] = M[3] = 1;
  M[1] = M[2] = f[0] = 0;
  f[1] = -9.81;
  memcpy(D, rows, sizeof rows);
  return 0;
}

static int pinched_constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  (void)user, (void)t;
  const double rows[4] = {0, 1, 0, -1};
  if (g != NULL) g[0] = q[1], g[1] = -q[1];
  if (G != NULL) memcpy(G, rows, sizeof rows);
  if (b != NULL) b[0] = b[1] = 0;
  return 0;
}

TEST(multipliers_are_those_of_the_motion_where_redundant_constraints_have_other_directions_of_force) {
  const srSystem s = {.nq = 2,
                      .nv = 2,
                      .ng = 2,
                      .np = 2,
                      .dynamics = pinched_dynamics,
                      .constraint = pinched_constraint,
                      .D_differs = true};
  const char* methods[] = {"hem5", "mdop5", "radau5", "genalpha-ggl"};
  for (int m = 0; m < 4; ++m) {
    double x[4] = {0, 0, 3, 0}, lambda[2];
    srIntegrator* integrator = create(methods[m], &s, tolerance(1e-8));
    ENSURE(run(integrator, &s, 0.5, x));
    ENSURE(sri_multipliers(integrator, lambda, NULL) == SR_OK);
    ENSURE(lambda[0] == 0 || lambda[1] == 0);
    // x' = 3 - 0.2 (lambda_0 + lambda_1) t, and with it the friction of the motion.
    ENSURE_NEAR(x[2], 3 - 0.2 * (lambda[0] + lambda[1]) * 0.5, 1e-6);
    ENSURE_NEAR(lambda[0] - lambda[1], 9.81, 1e-9);
    sri_destroy(integrator);
  }
}

// ---- constraints that are switched on and off -----------------------------------------------------------------------
// A point without weight runs along the line y = 0 to the origin, there goes over to the circle of radius 1 about (0, 1), leaves it
// after a quarter of a turn and flies straight on. Its speed stays the same. Equation 2 is never active, and its values are arbitrary.

typedef struct Track {
  unsigned char active[3];
  bool sparse;  // G by its pattern: row 0 has one entry
} Track;

static const int track_row[4] = {0, 1, 3, 5}, track_column[5] = {1, 0, 1, 0, 1}, track_mass[3] = {0, 2, 4},
                 track_mass_column[4] = {0, 1, 0, 1};
static const srSparsity track_G = {3, 2, track_row, track_column}, track_M = {2, 2, track_mass, track_mass_column};

static void track_rows(const double* q, double* g, double* G, bool sparse) {
  const double r[2] = {q[0], q[1] - 1};
  if (g != NULL) {
    g[0] = q[1];
    g[1] = 0.5 * (r[0] * r[0] + r[1] * r[1] - 1);
    g[2] = 17;
  }
  if (G == NULL) return;
  const double rows[6] = {0, 1, r[0], r[1], 3, -4};
  memcpy(G, sparse ? rows + 1 : rows, sizeof rows - (sparse ? sizeof *rows : 0));
}

static int track_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau,
                          double* M, double* f, double* ydot, double* D) {
  (void)user, (void)t, (void)q, (void)v, (void)y, (void)tau, (void)ydot, (void)D;
  M[0] = M[3] = 2;
  M[1] = M[2] = 0;
  f[0] = f[1] = 0;
  return 0;
}

static int track_constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  (void)t;
  track_rows(q, g, G, ((const Track*)user)->sparse);
  if (b != NULL) b[0] = b[1] = 0, b[2] = 5;
  return 0;
}

static int track_gamma(void* user, double t, const double* q, const double* v, double* gamma) {
  (void)user, (void)t, (void)q;
  gamma[0] = 0;
  gamma[1] = -(v[0] * v[0] + v[1] * v[1]);
  gamma[2] = 8;
  return 0;
}

static int track_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                       double* qdot, double* vdot, double* ydot, double* wdot) {
  const Track* track = user;
  double G[6], gamma[3];
  (void)y, (void)tau, (void)ydot, (void)wdot;
  track_rows(q, NULL, G, false);
  (void)track_gamma(user, t, q, v, gamma);
  vdot[0] = vdot[1] = 0;
  for (int k = 0; k < 2; ++k) {
    const double* n = G + 2 * k;
    const double lambda = track->active[k] != 0 ? gamma[k] / (n[0] * n[0] + n[1] * n[1]) : 0;
    for (int i = 0; i < 2; ++i) vdot[i] += lambda * n[i];
  }
  qdot[0] = v[0];
  qdot[1] = v[1];
  return 0;
}

static srSystem track_system(Track* track) {
  return (srSystem){.nq = 2,
                    .nv = 2,
                    .ng = 3,
                    .np = 3,
                    .active = track->active,
                    .user = track,
                    .rates = track_rates,
                    .dynamics = track_dynamics,
                    .constraint = track_constraint,
                    .gamma = track_gamma,
                    .M_sparsity = track->sparse ? &track_M : NULL,
                    .G_sparsity = track->sparse ? &track_G : NULL};
}

// The active set changes here, and the integrator restarts from its state x, projected. Multipliers of the equations that
// have been in use, of a point of mass 2 at this speed, are as told.
static void change_rows(srIntegrator* integrator, Track* track, int on, const double x[4], const double lambda[3],
                        double most) {
  const double* mine = sri_lambda(integrator);
  double found[3];
  ENSURE_SMALL(distance(2, sri_q(integrator), x) + distance(2, sri_v(integrator), x + 2), most);
  for (int k = 0; mine != NULL && k < 3; ++k) ENSURE_NEAR(mine[k], lambda[k], 10 * most);
  if (sri_kept_rows(integrator) != NULL) {
    unsigned char unique[3];
    ENSURE(sri_multipliers(integrator, found, unique) == SR_OK);
    for (int k = 0; k < 3; ++k) ENSURE_NEAR(found[k], lambda[k], 10 * most);
    ENSURE(unique[0] == 1 && unique[1] == 1 && unique[2] == 1);
    ENSURE(sri_kept_rows(integrator)[2] == 0);
    ENSURE(sri_dependence(integrator, 2, found) == SR_INPUT);
    ENSURE_EQUAL(sri_stats(integrator)->redundant, 0);
  }
  for (int k = 0; k < 3; ++k) track->active[k] = k == on;
  ENSURE(sri_restart(integrator, sri_time(integrator), x, x + 2, NULL) == SR_OK);
}

static void ensure_track(const srMethod* method, bool sparse) {
  const double s = 1.3;
  Track track = {{1, 0, 0}, sparse};
  const srSystem system = track_system(&track);
  const double most = 1e3 * tolerance_of(method), line[4] = {-1, 0, s, 0};
  srIntegrator* integrator = create(method->name, &system, options_of(method));
  ENSURE(sri_start(integrator, 0, line, line + 2, NULL) == SR_OK);
  advance(integrator, 1 / s);
  change_rows(integrator, &track, 1, (const double[4]){0, 0, s, 0}, (const double[3]){0, 0, 0}, most);
  advance(integrator, (1 + 0.5 * PI) / s);
  change_rows(integrator, &track, -1, (const double[4]){1, 1, 0, s}, (const double[3]){0, -2 * s * s, 0}, most);
  advance(integrator, (2 + 0.5 * PI) / s);
  ENSURE_SMALL(distance(2, sri_q(integrator), (const double[2]){1, 2}), most);
  const double* mine = sri_lambda(integrator);
  for (int k = 0; mine != NULL && k < 3; ++k) ENSURE(mine[k] == 0);
  const srIntegratorStats* stats = sri_stats(integrator);
  if (verbose()) printf("  %-16s g %.1e gv %.1e\n", method->name, stats->violation_position, stats->violation_velocity);
  ENSURE_SMALL(stats->violation_position, most);
  ENSURE_SMALL(stats->violation_velocity, most);
  int count;
  (void)sri_rank_events(integrator, &count);
  ENSURE_EQUAL(count, 0);
  ENSURE_EQUAL(stats->rank_changes, 0);
  sri_destroy(integrator);
}

TEST(every_method_switches_constraints_on_and_off_at_restarts) {
  for (int i = 0; i < sri_method_count(); ++i) {
    if (!takes_part(sri_method(i))) continue;
    ensure_track(sri_method(i), false);
    ensure_track(sri_method(i), true);
  }
}

// The same active set at a restart: what is known of it stays, and nothing is evaluated twice.
TEST(active_constraints_that_stay_the_same_are_no_new_start) {
  Track track = {.active = {0, 1, 0}};
  const srSystem system = track_system(&track);
  srIntegrator* integrator = create("mdop5", &system, tolerance(1e-9));
  const double x[4] = {0, 0, 1, 0};
  ENSURE(sri_start(integrator, 0, x, x + 2, NULL) == SR_OK);
  ENSURE(sri_step(integrator, 1) == SR_OK);
  double now[4];
  get(integrator, &system, now);
  ENSURE(sri_restart(integrator, sri_time(integrator), now, now + 2, NULL) == SR_OK);
  ENSURE(sri_kept_rows(integrator) != NULL && sri_kept_rows(integrator)[1] == 1);
  track.active[1] = 0;
  ENSURE(sri_restart(integrator, sri_time(integrator), now, now + 2, NULL) == SR_OK);
  ENSURE(sri_kept_rows(integrator) == NULL);  // they are to be chosen anew
  sri_destroy(integrator);
}
