// Compliant contact in time-stepping (moreau-compliant): Kelvin and Voigt's law over a step, masses in contact against closed forms, and models against dopri5 with the same
// laws. The method is of order 1.
#include <math.h>
#include <sarrus/integrate.h>

#include "loading.h"

// ---- masses on a line -------------------------------------------------------------------------------------------------

// n masses on top of each other, sliders along z.
#define MOST 40
typedef struct Pile {
  int n;
  double mass[MOST], K, D, g;
} Pile;

static int dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                    double* f, double* ydot, double* D) {
  const Pile* x = user;
  (void)t, (void)q, (void)v, (void)y, (void)tau, (void)ydot, (void)D;
  for (int i = 0; i < x->n; ++i) {
    M[i] = x->mass[i];
    f[i] = -x->g * x->mass[i];
  }
  return 0;
}

static int contacts(void* user, double t, const double* q, srUnilateral* out, int* count) {
  const Pile* x = user;
  (void)t;
  for (int i = 0; i < x->n; ++i) {
    srUnilateral* c = &out[i];
    *c =
        (srUnilateral){.id = i, .n = i > 0 ? 2 : 1, .stiffness = x->K, .damping = x->D, .column = c->column, .W = c->W};
    c->gap = q[i] - (i > 0 ? q[i - 1] : 0);
    memset(c->W, 0, 6 * sizeof *c->W);
    for (int k = 0; k < c->n; ++k) {
      c->column[k] = i - k;
      c->W[k] = k == 0 ? 1 : -1;
    }
  }
  *count = x->n;
  return 0;
}

static srIntegrator* begin(Pile* x, double step, const double* q, const double* v) {
  static int row[MOST + 1], column[MOST];
  static srSparsity diagonal;
  for (int i = 0; i < MOST; ++i) row[i + 1] = i + 1, column[i] = i;
  diagonal = (srSparsity){x->n, x->n, row, column};
  const srSystem system = {.nq = x->n,
                           .nv = x->n,
                           .ncontact = x->n,
                           .ntangent = 2,
                           .ncolumn = 2,
                           .user = x,
                           .dynamics = dynamics,
                           .contacts = contacts,
                           .M_sparsity = &diagonal};
  srIntegratorOptions o = sri_default_options();
  srMessages* messages = sr_messages_create();
  srIntegrator* integrator = NULL;
  o.step = step;
  ENSURE(sri_create("moreau-compliant", &system, &o, messages, &integrator) == SR_OK);
  sr_messages_destroy(messages);
  ENSURE(sri_start(integrator, 0, q, v, NULL) == SR_OK);
  return integrator;
}

// m (v1 - v0) = h K d1 + D (d1 - d0), d1 = -(gap + h v1): by hand for a mass that closes in the step, that is closed, and that the damper would hold back.
TEST(a_compliant_step_has_the_impulse_of_the_law) {
  const double h = 1e-2, m = 2, K = 3e5, D = 400;
  const double gap[] = {0.01, -0.002, -1e-5, 0.01}, v0[] = {-3, -1, 5, -0.5};
  for (int i = 0; i < 4; ++i) {
    Pile x = {.n = 1, .mass = {m}, .K = K, .D = D};
    srIntegrator* integrator = begin(&x, h, &gap[i], &v0[i]);
    ENSURE(sri_step(integrator, h) == SR_OK);
    const double d0 = fmax(0, -gap[i]);
    double v1 = (m * v0[i] - (h * K + D) * gap[i] - D * d0) / (m + h * (h * K + D));
    if (i >= 2) v1 = v0[i];                     // it leaves, or does not arrive: no force
    ENSURE_NEAR(*sri_v(integrator), v1, 1e-9);  // the tolerance of the contact problem
    ENSURE_NEAR(*sri_q(integrator), gap[i] + h * v1, 1e-11);
    sri_destroy(integrator);
  }
}

// m d'' + D d' + K d = 0 from d = 0, d' = v, as long as the law pushes: largest depth, and the speed where K d + D d' = 0.
static void impact_errors(double h, double* depth, double* speed) {
  const double w = 200, zeta = 0.3, s = sqrt(1 - zeta * zeta), m = 2, v = 1.5, none = 0, down = -v;
  const double leave = atan2(2 * zeta * s, 2 * zeta * zeta - 1);
  Pile x = {.n = 1, .mass = {m}, .K = m * w * w, .D = 2 * zeta * m * w};
  srIntegrator* integrator = begin(&x, h, &none, &down);
  double deepest = 0;
  while (sri_time(integrator) < 0.02) {
    ENSURE(sri_step(integrator, 0.02) == SR_OK);
    deepest = fmax(deepest, -*sri_q(integrator));
  }
  *depth = deepest - v / w * exp(-zeta / s * acos(zeta));
  *speed = *sri_v(integrator) - v * exp(-zeta / s * leave) * (zeta / s * sin(leave) - cos(leave));
  sri_destroy(integrator);
}

TEST(a_compliant_impact_converges_to_its_closed_form) {
  double depth[3], speed[3];
  for (int i = 0; i < 3; ++i) impact_errors(2e-5 / (1 << i), &depth[i], &speed[i]);
  for (int i = 0; i < 2; ++i) {
    ENSURE_NEAR(depth[i] / depth[i + 1], 2, 0.05);
    ENSURE_NEAR(speed[i] / speed[i + 1], 2, 0.05);
  }
  ENSURE_SMALL(depth[2], 1e-2 * 1.5 / 200);
  ENSURE_SMALL(speed[2], 1e-2 * 1.5);
}

// Steps of 30 times the shortest period: explicit ones would grow. It comes to rest at the depth of its weight.
TEST(a_compliant_contact_is_at_rest_at_the_depth_of_its_load) {
  const double h = 1e-2, height = 0.2, none = 0;
  Pile x = {.n = 1, .mass = {0.5}, .K = 2e8, .D = 1e3, .g = 10};
  srIntegrator* integrator = begin(&x, h, &height, &none);
  while (sri_time(integrator) < 2) {
    ENSURE(sri_step(integrator, 2) == SR_OK);
    ENSURE(*sri_q(integrator) > -2 * 0.5 / (h * 2e8));  // d1 < m v/(h K) for an impact with 2 m/s
  }
  ENSURE_NEAR(*sri_q(integrator), -0.5 * 10 / 2e8, 1e-11);
  ENSURE_SMALL(*sri_v(integrator), 1e-9);
  ENSURE_NEAR(sri_impulse_of(integrator, 0)[0], 0.5 * 10 * h, 1e-9);
  sri_destroy(integrator);
}

// Each mass of a pile at the depth of the weight above it: it stays there, as a matrix (up to 32 contacts) and by sweeps.
TEST(a_compliant_pile_is_in_equilibrium_under_its_weight) {
  for (int k = 0; k < 2; ++k) {
    const double h = 1e-3;
    Pile x = {.n = k == 0 ? 30 : MOST, .K = 1e5, .D = 50, .g = 10};
    double q[MOST], load[MOST], above = 0, height = 0;
    const double v[MOST] = {0};
    for (int i = x.n - 1; i >= 0; --i) {
      x.mass[i] = 1 + 0.1 * (i % 7);
      above += x.g * x.mass[i];
      load[i] = above;
    }
    for (int i = 0; i < x.n; ++i) q[i] = height -= load[i] / x.K;
    srIntegrator* integrator = begin(&x, h, q, v);
    for (int step = 0; step < 200; ++step) ENSURE(sri_step(integrator, 0.2) == SR_OK);
    const double residual = fmax(sri_impulses(integrator)->worst, 1e-9);
    ENSURE_SMALL(residual, k == 0 ? 1e-9 : 0.19 * x.g * h);
    for (int i = 0; i < x.n; ++i) {
      ENSURE_NEAR(sri_q(integrator)[i], q[i], x.n * (h + x.D / x.K) * residual);  // u + s + c p = residual at rest
      ENSURE_NEAR(sri_impulse_of(integrator, i)[0], load[i] * h, 1e-3 * load[0] * h);
    }
    sri_destroy(integrator);
  }
}

// ---- models -----------------------------------------------------------------------------------------------------------

static srStatus run(Loaded* x, const char* method, double t_end, double step, srMessages* messages) {
  srRunOptions o = sr_run_options(x->m);
  o.method = method;
  o.t_end = t_end;
  o.step = step;
  o.rtol = 1e-9;
  o.atol = 1e-12;
  return sr_run(x->m, x->d, &o, messages, &x->result);
}

static void run_well(Loaded* x, const char* method, double t_end, double step) {
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(run(x, method, t_end, step, messages), SR_OK);
  loading_print(messages);
  ENSURE_EQUAL(sr_messages_count(messages), 0);
  sr_messages_destroy(messages);
}

#define HEAD "<sarrus version='1'><option gravity='0 0 -10'/><ground><shape name='floor' type='plane'/></ground>"
#define BALL                                                                                                           \
  "<body name='b'><joint name='b' type='free' q='0 0 %g 1 0 0 0' v='0 0 0 %g 0 0'/><inertial mass='2' "                \
  "inertia='0.002 0.002 0.002'/><shape name='s' type='sphere' size='0.05'/></body>"

// Soft balls that bounce: as a contact of its own, of a set, between balls, and with a stop of a joint, beside dopri5.
TEST(compliant_contacts_of_models_move_as_their_force_laws_do) {
  static const char* const model[] = {
      HEAD BALL "<contact a='floor' b='s' normal='kelvin-voigt' K='2e4' D='40' friction='none'/></sarrus>",
      HEAD BALL "<contact a='floor' b='s' normal='kelvin-voigt' K='2e4' D='40' friction='none' most='1'/></sarrus>",
      HEAD BALL "<contact a='floor' b='s' normal='hooke' K='2e4' friction='none'/></sarrus>",
      "<sarrus version='1'><option gravity='0 0 -10'/><body name='b'><joint name='b' type='prismatic' axis='0 0 1' "
      "q='%g' "
      "v='%g'/><inertial mass='2'/></body><contact gap='q(b) - 0.05' normal='kelvin-voigt' K='2e4' D='40' "
      "friction='none'/></sarrus>"};
  for (int k = 0; k < 4; ++k) {
    char text[1200];
    double z[3];
    const int at = k < 3 ? 2 : 0;
    for (int i = 0; i < 3; ++i) {
      snprintf(text, sizeof text, model[k], 0.1, 0.0);
      Loaded x = open_text(text);
      run_well(&x, i == 0 ? "dopri5" : "moreau-compliant", 0.15, i == 1 ? 2e-5 : 1e-5);  // first touch at 0.1 s
      z[i] = x.d->q[at];
      if (i > 0) ENSURE_SMALL(x.result.energy.residual, 1e-2 * x.result.energy.scale);
      close_model(&x);
    }
    ENSURE_SMALL(z[2] - z[0], 1e-4);
    ENSURE_NEAR((z[1] - z[0]) / (z[2] - z[0]), 2, 0.1);
  }
}

// A ball that slides on a stiff plane rolls after 2 v/(7 mu g), with 5/7 of its velocity.
TEST(a_ball_on_a_compliant_plane_slides_and_then_rolls) {
  char text[1200];
  snprintf(text, sizeof text,
           HEAD BALL
           "<contact a='floor' b='s' normal='kelvin-voigt' K='1e8' D='1e4' mu-k='0.2' friction='threlfall' "
           "v0='0.01'/></sarrus>",
           0.05 - 20 / 1e8, 0.7);
  Loaded x = open_text(text);
  run_well(&x, "moreau-compliant", 0.05, 1e-3);
  ENSURE_NEAR(hypot(x.d->v[3], x.d->v[5]), 0.7 - 0.2 * 10 * 0.05, 1e-8);  // in the axes of the ball
  run_well(&x, "moreau-compliant", 0.5, 1e-3);
  ENSURE_NEAR(hypot(x.d->v[3], x.d->v[5]), 0.5, 1e-8);
  ENSURE_NEAR(x.d->v[1], 10, 1e-6);  // v/R
  ENSURE_NEAR(x.d->q[2], 0.05 - 20 / 1e8, 1e-11);
  close_model(&x);
}

static void refused(const char* shape, const char* law, const char* words) {
  char text[1200];
  snprintf(text, sizeof text,
           HEAD
           "<body name='b'><joint name='b' type='free'/><inertial mass='2' inertia='1 1 1'/><shape name='s' %s/></body>"
           "<contact a='floor' b='s' friction='none' %s/></sarrus>",
           shape, law);
  Loaded x = open_text(text);
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(run(&x, "moreau-compliant", 1, 1e-3, messages), SR_INPUT);
  ENSURE_EQUAL(sr_messages_count(messages), 1);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, words) != NULL);
  sr_messages_destroy(messages);
  close_model(&x);
}

TEST(what_a_compliant_step_cannot_take_is_refused) {
  refused("type='sphere' size='0.05'", "normal='hertz' K='1e8'", "not 'hertz'");
  refused("type='sphere' size='0.05'", "normal='hunt-crossley' K='1e8' restitution='0.5' most='1'",
          "not 'hunt-crossley'");
  refused("type='box' size='1 1 1'", "normal='kelvin-voigt' K='1e8' D='10'", "one point");
  refused("type='box' size='1 1 1'", "normal='kelvin-voigt' K='1e8' D='10' most='1'", "one point");
}

// Of two materials of the floor and one of the ball those of the floor do not meet: they have no law, which is no obstacle.
TEST(materials_of_a_set_that_do_not_meet_have_no_law_to_check) {
  const char* text =
      "<sarrus version='1'><material name='m' restitution='0.5' mu-k='0.3'/><material name='n' restitution='0.6' "
      "mu-k='0.3'/>"
      "<ground><shape name='floor' type='plane' group='all' material='m'/></ground>"
      "<body name='a'><joint name='a' type='free' q='0 0 0.5 1 0 0 0'/><inertial mass='1' inertia='0.001 0.001 0.001'/>"
      "<shape name='s' type='sphere' size='0.05' group='all' material='n'/></body>"
      "<contact a='all' b='all' most='10' K='1e6' %s/></sarrus>";
  char own[1000];
  srMessages* messages = sr_messages_create();
  snprintf(own, sizeof own, text, "normal='kelvin-voigt' D='10' friction='threlfall'");
  Loaded x = open_text(own);
  srRunOptions o = sr_run_options(x.m);
  o.method = "moreau-compliant";
  ENSURE_EQUAL(sr_run(x.m, x.d, &o, messages, &x.result), SR_OK);
  ENSURE_EQUAL(sr_messages_count(messages), 0);  // nothing is ignored, tyres least of all
  close_model(&x);
  snprintf(own, sizeof own, text, "friction='coulomb'");
  Loaded y = open_text(own);
  o = sr_run_options(y.m);
  ENSURE_EQUAL(sr_run(y.m, y.d, &o, messages, &y.result), SR_INPUT);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "set-valued") != NULL);
  close_model(&y);
  sr_messages_destroy(messages);
}
