// Moreau-Jean time-stepping on systems without bodies: masses on straight lines with contacts, and a rod between two of them. Expected values are closed
// forms; at impacts the method is of order 1, so that they hold to a multiple of the step.
#include "base/base.h"
#include "constrained.h"
#include "loading.h"

#define DOF 3
#define CONTACTS 2

// M diagonal, constant load and linear forces, gap = N q + c, slip T v; one constraint G v = 0 where rod is set.
typedef struct Lines {
  int nv, n;
  double m[DOF], f[DOF], N[CONTACTS][DOF], T[CONTACTS][DOF], c[CONTACTS], mu, e, G[DOF];
  double K[DOF][DOF], D[DOF][DOF];  // springs from q = 0, dampers; with a tangent
} Lines;

static int dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                    double* f, double* ydot, double* D) {
  const Lines* x = user;
  (void)t, (void)y, (void)tau, (void)ydot, (void)D;
  for (int i = 0; i < x->nv * x->nv; ++i) M[i] = i % (x->nv + 1) == 0 ? x->m[i / x->nv] : 0;
  for (int i = 0; i < x->nv; ++i) {
    f[i] = x->f[i];
    for (int j = 0; j < x->nv; ++j) f[i] -= x->K[i][j] * q[j] + x->D[i][j] * v[j];
  }
  return 0;
}

static int tangent(void* user, double t, const double* q, const double* v, const double* y, double tau, const double* a,
                   const double* lambda, srTangent* out) {
  const Lines* x = user;
  (void)t, (void)q, (void)v, (void)y, (void)tau, (void)a, (void)lambda;
  for (int i = 0; i < x->nv; ++i) {
    for (int j = 0; j < x->nv; ++j) {
      out->Kq[i * x->nv + j] = x->K[i][j];
      out->Kv[i * x->nv + j] = x->D[i][j];
    }
  }
  return 0;
}

static int constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  const Lines* x = user;
  (void)t;
  if (g != NULL) g[0] = 0;
  for (int i = 0; i < x->nv; ++i) {
    if (g != NULL) g[0] += x->G[i] * q[i];
    if (G != NULL) G[i] = x->G[i];
  }
  if (b != NULL) b[0] = 0;
  return 0;
}

static int contacts(void* user, double t, const double* q, srUnilateral* out, int* count) {
  const Lines* x = user;
  (void)t;
  for (int k = 0; k < x->n; ++k) {
    double* W = out[k].W;
    int* column = out[k].column;
    out[k] = (srUnilateral){.id = k,
                            .normal = -1,
                            .tangent = -1,
                            .gap = x->c[k],
                            .mu = x->mu,
                            .restitution = x->e,
                            .n = x->nv,
                            .column = column,
                            .W = W};
    for (int i = 0; i < x->nv; ++i) {
      column[i] = i;
      out[k].gap += x->N[k][i] * q[i];
      W[i] = x->N[k][i];
      W[x->nv + i] = x->T[k][i];
    }
  }
  *count = x->n;
  return 0;
}

static srIntegrator* moreau_as(Lines* x, bool rod, bool stiff, double step) {
  const srSystem system = {.nq = x->nv,
                           .nv = x->nv,
                           .ng = rod ? 1 : 0,
                           .np = rod ? 1 : 0,
                           .ncontact = x->n,
                           .ntangent = 1,
                           .user = x,
                           .dynamics = dynamics,
                           .constraint = constraint,
                           .contacts = contacts,
                           .tangent = stiff ? tangent : NULL};
  srIntegratorOptions o = sri_default_options();
  o.step = step;
  return create("moreau", &system, o);
}

static srIntegrator* moreau(Lines* x, bool rod, double step) { return moreau_as(x, rod, false, step); }

static void advance(srIntegrator* integrator, double t_end) {
  while (sri_time(integrator) < t_end) ENSURE(sri_step(integrator, t_end) == SR_OK);
}

// Height of a ball that fell from h, at time t, with restitution e.
static double ball_height(double h, double g, double e, double t) {
  double u = sqrt(2 * g * h), start = u / g;
  if (t < start) return h - 0.5 * g * t * t;
  for (int i = 0; i < 10000; ++i) {
    u *= e;
    if (t < start + 2 * u / g) return u * (t - start) - 0.5 * g * (t - start) * (t - start);
    start += 2 * u / g;
  }
  return 0;
}

static double ball_error(double step) {
  Lines ball = {.nv = 1, .n = 1, .m = {2}, .f = {-20}, .N = {{1}}, .e = 0.8};
  srIntegrator* x = moreau(&ball, false, step);
  double worst = 0;
  ENSURE(sri_start(x, 0, (double[]){1}, (double[]){0}, NULL) == SR_OK);
  for (int k = 1; k <= 30; ++k) {
    advance(x, 0.1 * k);
    worst = fmax(worst, fabs(*sri_q(x) - ball_height(1, 10, 0.8, 0.1 * k)));
  }
  sri_destroy(x);
  return worst;
}

// A thin rod slides on its round end, phi above the horizontal: 1 + 3 cos(phi) (cos(phi) - mu (sin(phi) + r/s)) is the change of its normal acceleration by its force, below 0 in Painleve's configuration.
TEST(time_stepping_reports_a_rod_in_painleves_configuration) {
  static const double degrees[] = {40, 43, 46, 50};
  const double mu = 5.0 / 3, r = 1e-3, pi = acos(-1.0);
  for (int i = 0; i < SR_COUNT(degrees); ++i) {
    const double phi = degrees[i] * pi / 180, rho = 1 + 3 * cos(phi) * (cos(phi) - mu * (sin(phi) + r));
    char text[1000];
    snprintf(
        text, sizeof text,
        "<sarrus version='1'><option gravity='0 0 -10'/><ground><shape name='floor' type='plane'/></ground>"
        "<body name='rod'><joint name='rod' type='free' q='0 0 %.17g %.17g 0 %.17g 0' v='0 0 0 %.17g 0 %.17g'/>"
        "<inertial mass='1' inertia='1e-6 1/3 1/3'/><shape name='end' type='sphere' size='%.17g' at='1 0 0'/></body>"
        "<contact a='floor' b='end' restitution='0' mu-k='%.17g' normal='hunt-crossley' K='1e6' "
        "friction='threlfall' v0='0.01'/></sarrus>",
        sin(phi) + r, cos(phi / 2), sin(phi / 2), 30 * cos(phi), 30 * sin(phi), r, mu);
    Loaded x = open_text(text);
    srRunOptions o = sr_run_options(x.m);
    o.contact = SR_CONTACT_TIMESTEPPING;
    o.method = "moreau";
    o.step = 1e-4;
    o.t_end = 2e-4;
    srMessages* messages = sr_messages_create();
    ENSURE_EQUAL(sr_run(x.m, x.d, &o, messages, &x.result), SR_OK);
    ENSURE(fabs(rho) > 0.02);
    ENSURE_EQUAL(x.result.nevent, rho < 0 ? 1 : 0);
    ENSURE_EQUAL(sr_messages_count(messages), rho < 0 ? 1 : 0);
    if (rho < 0) ENSURE_TEXT(x.result.event[0].kind, "painleve");
    if (rho < 0) ENSURE_TEXT(x.result.event[0].b, "rod/end");
    sr_messages_destroy(messages);
    close_model(&x);
  }
}

TEST(moreau_bounces_a_ball_with_order_one) {
  const double coarse = ball_error(1e-3), fine = ball_error(1e-4), finer = ball_error(1e-5);
  ENSURE_SMALL(coarse, 10 * 1e-3);  // a bounce is up to h early, at up to 4.5 m/s, and 6 of them add up
  ENSURE_SMALL(fine, 10 * 1e-4);
  ENSURE_SMALL(finer, 10 * 1e-5);
  ENSURE(finer > 1e-7);  // it is not exact
}

TEST(moreau_leaves_a_ball_at_rest_after_its_last_bounce) {
  Lines ball = {.nv = 1, .n = 1, .m = {2}, .f = {-20}, .N = {{1}}, .e = 0.5};
  srIntegrator* x = moreau(&ball, false, 1e-3);
  ENSURE(sri_start(x, 0, (double[]){1}, (double[]){0}, NULL) == SR_OK);
  advance(x, 2.0);                // t_acc = 1.3416 s
  ENSURE_SMALL(*sri_v(x), 1e-9);  // the tolerance of the contact problem
  ENSURE_SMALL(*sri_q(x), 1e-8);
  advance(x, 100.0);
  ENSURE_SMALL(*sri_v(x), 1e-9);
  ENSURE_SMALL(*sri_q(x), 1e-8);
  sri_destroy(x);
}

// A block of mass 2 on a slope with the load (along, into it).
static Lines block(double along, double mu) {
  return (Lines){.nv = 2, .n = 1, .m = {2, 2}, .f = {along, -16}, .N = {{0, 1}}, .T = {{1, 0}}, .mu = mu};
}

TEST(moreau_holds_a_block_within_the_cone_and_lets_it_slide_beyond) {
  Lines held = block(7.9, 0.5), slides = block(8.1, 0.5);
  const double none[2] = {0};
  srIntegrator* x = moreau(&held, false, 1e-2);
  ENSURE(sri_start(x, 0, none, none, NULL) == SR_OK);
  advance(x, 100);
  ENSURE_SMALL(sri_v(x)[0], 1e-12);
  ENSURE_SMALL(sri_q(x)[0], 1e-10);
  sri_destroy(x);
  x = moreau(&slides, false, 1e-2);
  ENSURE(sri_start(x, 0, none, none, NULL) == SR_OK);
  advance(x, 1);
  ENSURE_NEAR(sri_v(x)[0], (8.1 - 0.5 * 16) / 2, 1e-9);
  sri_destroy(x);
}

TEST(moreau_stops_a_sliding_block_where_coulomb_does) {
  Lines x0 = block(0, 0.5);
  srIntegrator* x = moreau(&x0, false, 1e-4);
  ENSURE(sri_start(x, 0, (double[]){0, 0}, (double[]){2, 0}, NULL) == SR_OK);
  advance(x, 0.4999);
  ENSURE(sri_v(x)[0] > 1e-5);
  advance(x, 1);  // a = mu g = 4 m/s^2: it stops at 0.5 s after 0.5 m
  ENSURE_SMALL(sri_v(x)[0], 1e-12);
  ENSURE_NEAR(sri_q(x)[0], 0.5, 2e-4);
  sri_destroy(x);
}

TEST(moreau_counts_the_work_of_its_impulses) {
  Lines x0 = block(0, 0.5);
  x0.e = 0.6;
  srIntegrator* x = moreau(&x0, false, 1e-4);
  ENSURE(sri_start(x, 0, (double[]){0, 1}, (double[]){2, 0}, NULL) == SR_OK);
  double normal = 0, friction = 0;
  while (sri_time(x) < 3) {
    ENSURE(sri_step(x, 3) == SR_OK);
    normal += sri_impulses(x)->normal;
    friction += sri_impulses(x)->friction;
  }
  ENSURE_SMALL(sri_v(x)[0], 1e-12);
  ENSURE_NEAR(friction, -4, 1e-9);      // 2 * 2^2/2, exactly: nothing else acts along the slope
  ENSURE_NEAR(normal, -16, 16 * 2e-3);  // falls from 1 m with 16 N
  ENSURE_EQUAL(sri_impulses(x)->unsolved, 0);
  sri_destroy(x);
}

// Two blocks on top of each other, gaps of both, mass ratio 100: the upper one heavier.
TEST(moreau_stacks_blocks) {
  Lines x0 = {.nv = 2, .n = 2, .m = {1, 100}, .f = {-10, -1000}, .N = {{1, 0}, {-1, 1}}, .c = {0, -1}};
  srIntegrator* x = moreau(&x0, false, 1e-3);
  ENSURE(sri_start(x, 0, (double[]){0.2, 1.5}, (double[]){0, 0}, NULL) == SR_OK);
  advance(x, 5);
  ENSURE_SMALL(sri_v(x)[0], 1e-9);
  ENSURE_SMALL(sri_v(x)[1], 1e-9);
  ENSURE_SMALL(sri_q(x)[0], 1e-5);
  ENSURE_NEAR(sri_q(x)[1], 1, 1e-5);
  sri_destroy(x);
}

// A block on two equal feet: the normals are redundant, and each foot carries half of the weight.
TEST(moreau_shares_a_load_between_redundant_contacts) {
  Lines x0 = block(7.9, 0.5);
  x0.n = 2;
  memcpy(x0.N[1], x0.N[0], sizeof x0.N[0]);
  memcpy(x0.T[1], x0.T[0], sizeof x0.T[0]);
  const double none[2] = {0};
  srIntegrator* x = moreau(&x0, false, 1e-2);
  ENSURE(sri_start(x, 0, none, none, NULL) == SR_OK);
  advance(x, 10);
  ENSURE_SMALL(sri_v(x)[0], 1e-9);
  ENSURE_SMALL(sri_q(x)[0], 1e-8);
  ENSURE_SMALL(sri_q(x)[1], 1e-6);
  ENSURE_EQUAL(sri_impulses(x)->unsolved, 0);
  ENSURE_EQUAL(sri_impulses(x)->count, 2);
  const double *p = sri_impulse_of(x, 0), *r = sri_impulse_of(x, 1);
  ENSURE(p != NULL && r != NULL && sri_impulse_of(x, 2) == NULL);
  ENSURE_NEAR(p[0], 0.08, 1e-4);  // 16 N for 1e-2 s, in two halves
  ENSURE_NEAR(r[0], 0.08, 1e-4);
  ENSURE_NEAR(p[1] + r[1], -0.079, 1e-7);
  sri_destroy(x);
}

// A rod joins two masses, the first strikes: M dv = G^T P + N^T P_N, and the energy falls by (1 - e^2) u^2/(2 W), W = N K N^T.
TEST(moreau_strikes_through_a_joint) {
  Lines x0 = {.nv = 2, .n = 1, .m = {1, 3}, .N = {{1, 0}}, .e = 0.7, .G = {1, -2}};
  srIntegrator* x = moreau(&x0, true, 1e-3);
  ENSURE(sri_start(x, 0, (double[]){1, 0.5}, (double[]){-2, -1}, NULL) == SR_OK);
  advance(x, 0.7);
  // q1 = 2 q2: effective mass of q1: 1 + 3/4.
  const double m = 1.75, W = 1 / m, v = sri_v(x)[0], w = sri_v(x)[1];
  ENSURE_NEAR(v, 0.7 * 2, 1e-9);
  ENSURE_NEAR(w, 0.7, 1e-9);
  ENSURE_NEAR(0.5 * (v * v + 3 * w * w) - 0.5 * (4 + 3), -(1 - 0.49) * 4 / (2 * W), 1e-9);
  ENSURE_SMALL(sri_q(x)[0] - 2 * sri_q(x)[1], 1e-9);
  sri_destroy(x);
}

// Largest gap within t_end of a start that overlaps by 50 mm, where it comes to rest.
static double highest_of(Lines* x, double t_end) {
  srIntegrator* integrator = moreau(x, false, 1e-3);
  ENSURE(sri_start(integrator, 0, (double[]){-0.05, 0}, (double[]){0, 0}, NULL) == SR_OK);
  double highest = -1, gap = 0;
  while (sri_time(integrator) < t_end) {
    ENSURE(sri_step(integrator, t_end) == SR_OK);
    gap = *sri_q(integrator) + (x->nv > 1 ? sri_q(integrator)[1] : 0);
    highest = fmax(highest, gap);
  }
  ENSURE_SMALL(gap, 1e-5);
  sri_destroy(integrator);
  return highest;
}

// What overlaps at the start is pushed out at a speed from which its weight stops it at the surface: it does not fly off. A full correction would begin with 50 m/s, and a tenth of a metre a second
// at the surface would still be a hop of half a millimetre. The same of a leg, whose servo acts against its weight: what counts is the force on the foot, not the sum of all.
TEST(moreau_pushes_out_an_overlap_without_throwing_it) {
  Lines ball = {.nv = 1, .n = 1, .m = {2}, .f = {-20}, .N = {{1}}};
  ENSURE(highest_of(&ball, 3) < 1e-5);
  Lines leg = {.nv = 2, .n = 1, .m = {10, 1}, .f = {-100, 9}, .N = {{1, 1}}};
  ENSURE(highest_of(&leg, 8) < 1e-5);
}

TEST(moreau_allocates_nothing_while_stepping_and_reports_what_it_lacks) {
  Lines x0 = block(0, 0.5);
  const srSystem system = {.nq = 2, .nv = 2, .ncontact = 1, .ntangent = 1, .user = &x0, .contacts = contacts};
  srIntegratorOptions o = sri_default_options();
  o.step = 1e-3;
  srIntegrator* x = NULL;
  srMessages* messages = sr_messages_create();
  ENSURE(sri_create("moreau", &system, &o, messages, &x) == SR_INPUT);  // no dynamics
  ENSURE(x == NULL);
  sr_messages_destroy(messages);
}

TEST(moreau_lets_nothing_sink_in_while_it_approaches) {
  Lines ball = {.nv = 1, .n = 1, .m = {2}, .f = {-20}, .N = {{1}}};
  srIntegrator* x = moreau(&ball, false, 1e-2);
  ENSURE(sri_start(x, 0, (double[]){1}, (double[]){-30}, NULL) == SR_OK);
  while (sri_time(x) < 0.2) {
    ENSURE(sri_step(x, 0.2) == SR_OK);
    ENSURE(*sri_q(x) > -1e-9);
  }
  sri_destroy(x);
}

// A start off the constraint: one step brings the velocities onto it.
TEST(moreau_puts_velocities_on_the_constraint) {
  Lines x0 = {.nv = 2, .m = {1, 3}, .G = {1, -2}};
  srIntegrator* x = moreau(&x0, true, 1e-3);
  ENSURE(sri_start(x, 0, (double[]){1, 0.5}, (double[]){-2, 1}, NULL) == SR_OK);
  ENSURE(sri_step(x, 1e-3) == SR_OK);
  ENSURE_SMALL(sri_v(x)[0] - 2 * sri_v(x)[1], 1e-12);
  ENSURE_NEAR(2 * sri_v(x)[0] + 3 * sri_v(x)[1], 2 * -2 + 3 * 1, 1e-12);  // along (2, 1), which the rod leaves free
  sri_destroy(x);
}

// ---- forces at the end of the step ----------------------------------------------------------------------------------------

// Two masses on stiff springs and dampers, to the ground and between them: x' = -x in both, to the 1e-6 that inertia leaves. Explicit forces would be
// multiplied by -1e4 in every step.
TEST(moreau_takes_stiff_springs_and_dampers_at_the_end_of_the_step) {
  Lines x0 = {.nv = 2, .m = {1, 2}, .K = {{3e6, -1e6}, {-1e6, 2e6}}, .D = {{3e6, -1e6}, {-1e6, 2e6}}};
  for (int k = 0; k < 2; ++k) {
    const double h = k == 0 ? 1e-2 : 5e-3;
    srIntegrator* x = moreau_as(&x0, false, true, h);
    ENSURE(sri_start(x, 0, (double[]){1, -2}, (double[]){-1, 2}, NULL) == SR_OK);
    advance(x, 1);
    ENSURE_NEAR(sri_q(x)[0], pow(1 + h, -1 / h), 1e-5);  // implicit Euler
    ENSURE_NEAR(sri_q(x)[1], -2 * pow(1 + h, -1 / h), 1e-5);
    sri_destroy(x);
  }
}

// A damped oscillator, far from its stop: 10 rad/s, damping 0.1.
static double oscillator_error(double h) {
  Lines x0 = {.nv = 1, .n = 1, .m = {2}, .N = {{1}}, .c = {9}, .K = {{200}}, .D = {{4}}};
  srIntegrator* x = moreau_as(&x0, false, true, h);
  ENSURE(sri_start(x, 0, (double[]){0.3}, (double[]){0}, NULL) == SR_OK);
  advance(x, 1);
  const double w = sqrt(99.0), exact = 0.3 * exp(-1) * (cos(w) + sin(w) / w);
  const double error = *sri_q(x) - exact;
  sri_destroy(x);
  return error;
}

TEST(moreau_is_of_order_one_away_from_impacts) {
  const double coarse = oscillator_error(1e-3), fine = oscillator_error(5e-4), finer = oscillator_error(2.5e-4);
  ENSURE_NEAR(coarse / fine, 2, 0.05);
  ENSURE_NEAR(fine / finer, 2, 0.05);
}

// A stiff servo presses a mass on a stop: the stop has its force, and nothing trembles.
TEST(moreau_presses_a_stiff_servo_on_a_stop) {
  Lines x0 = {.nv = 1, .n = 1, .m = {0.1}, .f = {-1e5 * 0.2}, .N = {{1}}, .e = 0.5, .K = {{1e5}}, .D = {{10}}};
  srIntegrator* x = moreau_as(&x0, false, true, 1e-3);
  ENSURE(sri_start(x, 0, (double[]){0.3}, (double[]){0}, NULL) == SR_OK);
  advance(x, 1);
  ENSURE_SMALL(*sri_q(x), 1e-9);
  ENSURE_SMALL(*sri_v(x), 1e-9);
  ENSURE_NEAR(sri_impulse_of(x, 0)[0], 1e-3 * 1e5 * 0.2, 1e-6);
  sri_destroy(x);
}

// A spring that pushes away, beyond M/h^2: such a step is explicit, and what it does is motion, not a wrong sign.
TEST(moreau_does_not_turn_a_negative_stiffness_around) {
  Lines x0 = {.nv = 1, .m = {1}, .K = {{-1e6}}};
  srIntegrator* x = moreau_as(&x0, false, true, 1e-2);
  ENSURE(sri_start(x, 0, (double[]){1e-9}, (double[]){0}, NULL) == SR_OK);
  ENSURE(sri_step(x, 1e-2) == SR_OK);
  ENSURE_NEAR(*sri_v(x), 1e-5, 1e-12);
  sri_destroy(x);
}

// ---- many bodies ----------------------------------------------------------------------------------------------------------

// `n` masses on top of each other, and each on a rail of its own where it is `apart`; sliders along z, so that M is diagonal.
#define STACK 40
typedef struct Stack {
  bool apart;
  double mass[STACK];
} Stack;

static int stack_dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau,
                          double* M, double* f, double* ydot, double* D) {
  const Stack* x = user;
  (void)t, (void)q, (void)v, (void)y, (void)tau, (void)ydot, (void)D;
  for (int i = 0; i < STACK; ++i) {
    M[i] = x->mass[i];
    f[i] = -10 * x->mass[i];
  }
  return 0;
}

static int stack_dense(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                       double* f, double* ydot, double* D) {
  double diagonal[STACK];
  memset(M, 0, STACK * STACK * sizeof *M);
  const int answer = stack_dynamics(user, t, q, v, y, tau, diagonal, f, ydot, D);
  for (int i = 0; i < STACK; ++i) M[i * (STACK + 1)] = diagonal[i];
  return answer;
}

static int stack_contacts(void* user, double t, const double* q, srUnilateral* out, int* count) {
  const Stack* x = user;
  (void)t;
  for (int i = 0; i < STACK; ++i) {
    const bool below = i > 0 && !x->apart;
    srUnilateral* c = &out[i];
    *c = (srUnilateral){.id = 1000003L * i, .n = below ? 2 : 1, .column = c->column, .W = c->W};
    c->gap = q[i] - (below ? q[i - 1] : 0);
    memset(c->W, 0, 6 * sizeof *c->W);
    c->column[0] = i;
    c->W[0] = 1;
    if (below) {
      c->column[1] = i - 1;
      c->W[1] = -1;
    }
  }
  *count = STACK;
  return 0;
}

// dense: M without a pattern.
static srIntegrator* stack_start(Stack* x, bool dense, const double* q) {
  static int row[STACK + 1], column[STACK];
  static const srSparsity diagonal = {STACK, STACK, row, column};
  for (int i = 0; i < STACK; ++i) row[i + 1] = i + 1, column[i] = i, x->mass[i] = 1 + 0.1 * (i % 7);
  const srSystem system = {.nq = STACK,
                           .nv = STACK,
                           .ncontact = STACK,
                           .ntangent = 2,
                           .ncolumn = 2,
                           .user = x,
                           .dynamics = dense ? stack_dense : stack_dynamics,
                           .contacts = stack_contacts,
                           .M_sparsity = dense ? NULL : &diagonal};
  srIntegratorOptions o = sri_default_options();
  o.step = 1e-3;
  const double v[STACK] = {0};
  srIntegrator* integrator = create("moreau", &system, o);
  ENSURE(sri_start(integrator, 0, q, v, NULL) == SR_OK);
  return integrator;
}

// A stack at rest as a matrix (M without a pattern: one block), as one island of small blocks, which is larger than those that become a matrix, and as
// islands of one contact each. The impulses of all steps are the momentum of the masses above, gravity's included; nothing moves by more than the residual.
TEST(moreau_carries_a_stack_by_a_matrix_by_sweeps_and_by_islands) {
  for (int k = 0; k < 3; ++k) {
    Stack x = {.apart = k == 2};
    const double q[STACK] = {0};
    double sum[STACK] = {0}, above = 0;
    srIntegrator* integrator = stack_start(&x, k == 0, q);
    for (int step = 1; step <= 100; ++step) {
      ENSURE(sri_step(integrator, 0.1) == SR_OK);
      ENSURE_EQUAL(sri_impulses(integrator)->count, STACK);
      for (int i = 0; i < STACK; ++i) sum[i] += sri_impulse_of(integrator, 1000003L * i)[0];
    }
    ENSURE_NEAR(sri_time(integrator), 0.1, 1e-12);
    const double residual = sri_impulses(integrator)->worst;
    ENSURE_SMALL(residual, k == 1 ? 0.19 * 10 * 1e-3 : 1e-9);  // of large islands: a part of g h
    for (int i = STACK - 1; i >= 0; --i) {
      above = x.mass[i] * (10 * 0.1 + sri_v(integrator)[i]) + (x.apart ? 0 : above);
      ENSURE_NEAR(sum[i], above, 1e-11);
      ENSURE_SMALL(sri_v(integrator)[i], STACK * fmax(residual, 1e-9));  // as many contacts are below at the most
      ENSURE_SMALL(sri_q(integrator)[i], k == 1 ? 2e-6 * STACK : 1e-9);  // where pushing out is soft: 0.1 h 2 g h
    }
    ENSURE(sri_impulse_of(integrator, 77) == NULL);
    sri_destroy(integrator);
  }
}

// Masses dropped from different heights land one after the other: islands grow from one contact to all. Nothing sinks in, and all end at 0.
TEST(moreau_drops_many_masses_onto_each_other) {
  Stack x = {0};
  double q[STACK];
  for (int i = 0; i < STACK; ++i) q[i] = 1e-3 * (i + 1) * (i + 2);
  srIntegrator* integrator = stack_start(&x, false, q);
  double deepest = 0;
  while (sri_time(integrator) < 0.65) {
    ENSURE(sri_step(integrator, 0.65) == SR_OK);
    for (int i = 0; i < STACK; ++i)
      deepest = fmax(deepest, (i > 0 ? sri_q(integrator)[i - 1] : 0) - sri_q(integrator)[i]);
  }
  ENSURE_SMALL(deepest,
               0.19 * 1e-2 * 1e-3 + 0.1 * 2e-2 * 1e-3);  // tolerance times step, and the soft zone of the push-out
  ENSURE_SMALL(sri_q(integrator)[STACK - 1], STACK * 0.19 * 10 * 1e-6);
  sri_destroy(integrator);
}
