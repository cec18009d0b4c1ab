// Ways of keeping constraints, on systems without bodies: Baumgarte's terms, the augmented Lagrangian, coordinate partitioning and
// projection, with every method that takes them.
#include "constrained.h"

typedef enum Way { PROJECTION, BAUMGARTE, AUGMENTED, PARTITION, WAYS } Way;

static srIntegratorOptions options_of(Way way, double tol) {
  srIntegratorOptions o = tolerance(tol);
  o.step = 1e-4;
  if (way == BAUMGARTE || way == AUGMENTED) o.alpha = o.beta = 20;
  o.augmented = way == AUGMENTED;
  o.partition = way == PARTITION;
  return o;
}

static srIntegrator* create_any(const char* method, const srSystem* s, srIntegratorOptions o) {
  o.step = sri_method_find(method)->adaptive ? 0 : o.step;
  return create(method, s, o);
}

// The same pendulum by its angle from the lowest position.
static int angle_rates(void* user, double t, const double* q, const double* v, const double* y, double tau,
                       double* qdot, double* vdot, double* ydot, double* wdot) {
  (void)user, (void)t, (void)y, (void)tau, (void)ydot, (void)wdot;
  qdot[0] = v[0];
  vdot[0] = -9.81 * sin(q[0]);
  return 0;
}

static void angle_after(double t, double* angle, double* rate) {
  const srSystem s = {.nq = 1, .nv = 1, .rates = angle_rates};
  double x[2] = {PI / 2, 0.3};
  srIntegrator* integrator = create("dopri5", &s, tolerance(1e-13));
  ENSURE(run(integrator, &s, t, x));
  *angle = x[0];
  *rate = x[1];
  sri_destroy(integrator);
}

// From the horizontal, with three equations of rank 1 too. Euler's error is h.
TEST(every_stabilization_keeps_a_pendulum_with_every_method_that_takes_it) {
  static const struct {
    const char* method;
    bool terms;  // takes Baumgarte's
    double error;
  } cases[] = {{"euler", true, 3e-2},   {"rk4", true, 1e-7},    {"dopri5", true, 1e-7}, {"auto", true, 1e-7},
               {"cvode", true, 1e-5},   {"mdop5", false, 1e-7}, {"hem5", false, 1e-7},  {"phem56", false, 1e-7},
               {"radau5", false, 1e-7}, {"ida", false, 1e-5}};
  double angle, rate;
  angle_after(1, &angle, &rate);
  const double exact[4] = {sin(angle), -cos(angle), rate * cos(angle), rate * sin(angle)};
  for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); ++i) {
    if (sri_method_find(cases[i].method)->absent) continue;
    for (int way = PROJECTION; way < WAYS; ++way) {
      for (int copies = 1; copies <= 3; copies += 2) {
        Pendulum rows = {.copies = copies};
        const srSystem s = pendulum(&rows);
        double x[4] = {1, 0, 0, 0.3};
        if (!cases[i].terms && (way == BAUMGARTE || way == AUGMENTED)) continue;
        srIntegrator* integrator = create_any(cases[i].method, &s, options_of((Way)way, 1e-9));
        ENSURE(run(integrator, &s, 1, x));
        const srIntegratorStats* stats = sri_stats(integrator);
        if (verbose()) {
          printf("  %-6s way %d rows %d error %.1e g %.1e gv %.1e\n", cases[i].method, way, copies,
                 distance(4, x, exact), stats->violation_position, stats->violation_velocity);
        }
        ENSURE_SMALL(distance(4, x, exact), cases[i].error);
        ENSURE_EQUAL(stats->rank, 1);
        // ida does not project: it keeps the constraints to a part of its tolerance.
        const bool exactly = way == PARTITION || (way == PROJECTION && strcmp(cases[i].method, "ida") != 0);
        if (exactly) ENSURE_SMALL(stats->violation_position, 1e-13);
        if (exactly) ENSURE_SMALL(stats->violation_velocity, 1e-12);
        if (!exactly) ENSURE_SMALL(stats->violation_position, cases[i].error);
        if (way != PROJECTION) ENSURE_EQUAL(stats->projections, 0);
        sri_destroy(integrator);
      }
    }
  }
}

// Started off the circle, g'' + 2 alpha g' + beta^2 g = 0 holds whatever the motion is.
TEST(baumgarte_brings_a_constraint_back_as_a_damped_oscillator) {
  static const char* const methods[] = {"dopri5", "cvode"};
  const double alpha = 3, beta = 5, t = 0.7, w = sqrt(beta * beta - alpha * alpha);
  for (int i = 0; i < 4; ++i) {
    const char* method = methods[i % 2];
    if (sri_method_find(method)->absent) continue;
    const srSystem s = pendulum(&one_row);
    srIntegratorOptions o = tolerance(1e-10);
    double x[4] = {1.01, 0, 0.2, 0.3};
    o.alpha = alpha;
    o.beta = beta;
    o.augmented = i >= 2;
    const double g0 = 0.5 * (1.01 * 1.01 - 1), rate0 = 1.01 * 0.2;
    srIntegrator* integrator = create(method, &s, o);
    ENSURE(run(integrator, &s, t, x));
    const double g = exp(-alpha * t) * (g0 * cos(w * t) + (rate0 + alpha * g0) / w * sin(w * t));
    ENSURE_NEAR(0.5 * (x[0] * x[0] + x[1] * x[1] - 1), g, i % 2 == 0 ? 1e-9 : 1e-6);
    sri_destroy(integrator);
  }
}

TEST(mdop5_is_dopri5_projected) {
  Pendulum rows = {.copies = 3};
  const srSystem s = pendulum(&rows);
  double x[2][4] = {{1, 0, 0, 0.3}, {1, 0, 0, 0.3}};
  static const char* const methods[] = {"dopri5", "mdop5"};
  for (int i = 0; i < 2; ++i) {
    srIntegrator* integrator = create(methods[i], &s, tolerance(1e-7));
    ENSURE(run(integrator, &s, 2, x[i]));
    sri_destroy(integrator);
  }
  ENSURE(memcmp(x[0], x[1], sizeof x[0]) == 0);
}

static void ensure_says(const char* method, srIntegratorOptions o, const char* part) {
  const srSystem s = pendulum(&one_row);
  srMessages* messages = sr_messages_create();
  srIntegrator* integrator = NULL;
  if (!sri_method_find(method)->absent) {
    ENSURE_EQUAL(sri_create(method, &s, &o, messages, &integrator), SR_INPUT);
    ENSURE(strstr(sr_messages_get(messages, 0)->text, part) != NULL);
  }
  sr_messages_destroy(messages);
}

TEST(ways_that_have_no_meaning_for_a_method_are_refused) {
  static const char* const methods[] = {"mdop5", "hem5", "phem56", "radau5", "genalpha-index3", "ida"};
  for (int i = 0; i < (int)(sizeof methods / sizeof methods[0]); ++i) {
    for (int way = BAUMGARTE; way < PARTITION; ++way) {
      ensure_says(methods[i], options_of((Way)way, 1e-6), "keeps the constraints in its own way");
    }
  }
  srIntegratorOptions o = tolerance(1e-6);
  o.alpha = -1;
  ensure_says("dopri5", o, "alpha = -1, beta = 0: expected numbers >= 0");
}

// Of two coordinates one follows; a wish decides where both may.
static int second_is_independent(void* user, int i) {
  (void)user;
  return i == 1 ? 1 : 0;
}

TEST(wishes_decide_which_coordinate_is_dependent) {
  srSystem s = pendulum(&one_row);
  const double q[2] = {0.6, -0.8}, v[2] = {0};
  for (int wish = 0; wish < 2; ++wish) {
    s.role = wish == 1 ? second_is_independent : NULL;
    srIntegrator* integrator = create("dopri5", &s, options_of(PARTITION, 1e-6));
    ENSURE_EQUAL(sri_start(integrator, 0, q, v, NULL), SR_OK);
    const unsigned char* dependent = sri_dependent(integrator);
    ENSURE(dependent != NULL);
    ENSURE_EQUAL(dependent[0], wish == 1);
    ENSURE_EQUAL(dependent[1], wish == 0);
    sri_destroy(integrator);
  }
}

// Dense output is off the circle by the error of the step.
TEST(states_of_dense_output_are_put_on_the_constraints) {
  const srSystem s = pendulum(&one_row);
  srIntegrator* integrator = create("dopri5", &s, tolerance(1e-5));
  const double x0[4] = {1, 0, 0, 0.3};
  double q[2], v[2];
  ENSURE_EQUAL(sri_start(integrator, 0, x0, x0 + 2, NULL), SR_OK);
  for (int i = 0; i < 4; ++i) ENSURE_EQUAL(sri_step(integrator, 2), SR_OK);
  const double t = 0.4 * sri_time_before(integrator) + 0.6 * sri_time(integrator);
  ENSURE_EQUAL(sri_interpolate(integrator, t, q, v, NULL, NULL), SR_OK);
  ENSURE(fabs(q[0] * q[0] + q[1] * q[1] - 1) > 1e-9);
  ENSURE_EQUAL(sri_put_on_constraints(integrator, t, q, v, NULL), SR_OK);
  ENSURE_SMALL(q[0] * q[0] + q[1] * q[1] - 1, 1e-15);
  ENSURE_SMALL(q[0] * v[0] + q[1] * v[1], 1e-15);
  sri_destroy(integrator);
}

// Steps made by hand are those of the method.
TEST(a_step_by_hand_is_that_of_the_method) {
  const srSystem s = pendulum(&one_row);
  const double x0[4] = {1, 0, 0, 0.3}, h = 1e-3;
  srIntegratorOptions o = {.step = h};
  srIntegrator *method = create("euler", &s, o), *hand = create("euler", &s, o);
  double x[4], rate[4];
  memcpy(x, x0, sizeof x);
  ENSURE_EQUAL(sri_start(method, 0, x0, x0 + 2, NULL), SR_OK);
  ENSURE_EQUAL(sri_start(hand, 0, x0, x0 + 2, NULL), SR_OK);
  for (int i = 1; i <= 10; ++i) {
    ENSURE_EQUAL(sri_step(method, 1), SR_OK);
    ENSURE_EQUAL(sri_rates(hand, (i - 1) * h, x, SR_TAU_ELEMENT, rate), 0);
    for (int k = 0; k < 4; ++k) x[k] += h * rate[k];
    ENSURE_EQUAL(sri_accept_state(hand, i * h, x), 0);
  }
  ENSURE_SMALL(distance(2, x, sri_q(method)), 1e-15);
  ENSURE_SMALL(distance(2, x + 2, sri_v(method)), 1e-15);
  ENSURE_SMALL(x[0] * x[0] + x[1] * x[1] - 1, 1e-15);
  sri_destroy(method);
  sri_destroy(hand);
}
