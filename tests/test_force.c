// Force elements: every law against its closed form, forces against the gradient of the stored energy, power against the
// energy balance, action against reaction, wrenches against J^T W, driving forces against inverse dynamics.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "force/laws.h"
#include "model/private.h"
#include "runner.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

// ---- models out of text -----------------------------------------------------------------------------------------------

typedef struct Bench {
  srModel* m;
  srData* d;
} Bench;

static void show(const srMessages* messages) {
  char line[512];
  for (int i = 0; i < sr_messages_count(messages); ++i) {
    sr_message_format(sr_messages_get(messages, i), line, sizeof line);
    printf("  %s\n", line);
  }
}

static Bench compile(srSpec* spec) {
  Bench bench = {0};
  srMessages* messages = sr_messages_create();
  if (sr_compile(spec, messages, &bench.m) != SR_OK) show(messages);
  sr_messages_destroy(messages);
  srs_destroy(spec);
  ENSURE(bench.m != NULL);
  bench.d = sr_data_create(bench.m);
  ENSURE(bench.d != NULL);
  return bench;
}

static srSpec* read_text(const char* text) {
  srSpec* spec = NULL;
  srMessages* messages = sr_messages_create();
  if (sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec) != SR_OK) show(messages);
  sr_messages_destroy(messages);
  ENSURE(spec != NULL);
  return spec;
}

static Bench load(const char* text) { return compile(read_text(text)); }

static void unload(Bench bench) {
  sr_data_destroy(bench.d);
  sr_model_destroy(bench.m);
}

static double noise(void) {  // in [-1, 1], the same ones every time
  static uint64_t s = 88172645463325252u;
  s ^= s << 13;
  s ^= s >> 7;
  s ^= s << 17;
  return (double)(s >> 11) / 4503599627370496.0 - 1.0;
}

// A random state; coordinates of joints with one of them stay below 1.
static void shuffle(Bench b) {
  double xi[64], q[64];
  ENSURE(b.m->nv <= COUNT(xi) && b.m->nq <= COUNT(q));
  for (int i = 0; i < b.m->nv; ++i) xi[i] = noise();
  memcpy(q, b.m->q0, (size_t)b.m->nq * sizeof(double));
  sr_retract(b.m, q, xi, b.d->q);
  for (int i = 0; i < b.m->nv; ++i) b.d->v[i] = noise();
  for (int i = 0; i < b.m->nv; ++i) b.d->tau[i] = 0.0;
}

static void evaluate(Bench b) {
  sr_kinematics(b.m, b.d);
  sr_velocity(b.m, b.d);
  ENSURE_EQUAL(sr_forces(b.m, b.d, SR_TAU_ELEMENT), 0);
}

static double potential_at(Bench b, const double* q) {
  double kinetic, potential;
  memcpy(b.d->q, q, (size_t)b.m->nq * sizeof(double));
  sr_kinematics(b.m, b.d);
  sr_velocity(b.m, b.d);
  sr_energy(b.m, b.d, &kinetic, &potential);
  return potential;
}

// dV along a direction of velocities, by differences of fourth order.
static double potential_jacobian(Bench b, const double* direction) {
  static const double weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, at[4] = {-2, -1, 1, 2};
  const double h = 1e-3;
  double q0[64], q[64], xi[64], slope = 0.0;
  memcpy(q0, b.d->q, (size_t)b.m->nq * sizeof(double));
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < b.m->nv; ++i) xi[i] = at[k] * h * direction[i];
    sr_retract(b.m, q0, xi, q);
    slope += weight[k] / h * potential_at(b, q);
  }
  memcpy(b.d->q, q0, (size_t)b.m->nq * sizeof(double));
  return slope;
}

// ---- laws alone -------------------------------------------------------------------------------------------------------

static double law_force(const char* name, double x, double xdot, const double* p, double* energy, double* dissipation) {
  const srImpedance* law = sr_builtin_impedance(name);
  ENSURE(law != NULL);
  double f = 0.0;
  const srImpedanceIn in = {.x = &x, .xdot = &xdot, .p = p, .tau = 1e-4};
  srImpedanceOut out = {.f = &f};
  ENSURE_EQUAL(law->evaluate(&in, &out), 0);
  if (energy != NULL) *energy = law->energy(&in);
  if (dissipation != NULL) *dissipation = out.dissipated;
  return f;
}

TEST(the_table_of_laws_has_all_of_them_by_name) {
  static const char* const names[] = {
      "joint-formula",   "distance-formula", "point-formula",  "joint-spring", "joint-damper",  "joint-stop",
      "distance-spring", "bushing",          "bushing-matrix", "tyre",         "tyre-transient"};
  int count = 0;
  while (sr_builtin_impedances[count] != NULL) ++count;
  ENSURE_EQUAL(count, COUNT(names));
  for (int i = 0; i < COUNT(names); ++i) {
    const srImpedance* law = sr_builtin_impedance(names[i]);
    ENSURE(law != NULL);
    ENSURE_TEXT(law->name, names[i]);
    if (law->parameters == NULL) continue;
    for (int k = 0; k < law->np; ++k) ENSURE(law->parameters[k] != NULL);
  }
  ENSURE(sr_builtin_impedance("no-such-law") == NULL);
}

TEST(a_joint_spring_pulls_to_its_rest) {
  const double p[2] = {30.0, 0.25};
  double energy, dissipation;
  ENSURE_NEAR(law_force("joint-spring", 0.75, 2.0, p, &energy, &dissipation), -15.0, 1e-14);
  ENSURE_NEAR(energy, 3.75, 1e-14);
  ENSURE(dissipation == 0.0);
}

TEST(a_spring_between_points_has_its_preload_at_its_length) {
  const double p[4] = {30.0, 0.25, 12.0, 4.0};
  double energy, dissipation;
  ENSURE_NEAR(law_force("distance-spring", 0.25, 0.0, p, &energy, &dissipation), 12.0, 1e-14);
  ENSURE(energy == 0 && dissipation == 0);
  ENSURE_NEAR(law_force("distance-spring", 0.75, 2.0, p, &energy, &dissipation), 12.0 - 15.0 - 8.0, 1e-14);
  ENSURE_NEAR(energy, 0.5 * 30.0 * 0.25 - 12.0 * 0.5, 1e-14);
  ENSURE_NEAR(dissipation, 16.0, 1e-14);
}

TEST(a_joint_damper_dissipates_its_power) {
  const double p[1] = {3.0};
  double energy, dissipation;
  ENSURE_NEAR(law_force("joint-damper", 0.5, -2.0, p, &energy, &dissipation), 6.0, 0.0);
  ENSURE_NEAR(dissipation, 12.0, 0.0);
  ENSURE(energy == 0.0);
}

TEST(a_stop_pushes_back_beyond_its_range_only) {
  const double p[4] = {-1.0, 2.0, 100.0, 0.5};
  double energy, dissipation;
  ENSURE(law_force("joint-stop", 1.999, 5.0, p, &energy, &dissipation) == 0.0 && energy == 0.0 && dissipation == 0.0);
  // beyond the upper end by 0.1, leaving at 0.4: 100*0.1*(1 + 0.5*0.4)
  ENSURE_NEAR(law_force("joint-stop", 2.1, 0.4, p, &energy, &dissipation), -12.0, 1e-12);
  ENSURE_NEAR(energy, 0.5, 1e-12);
  ENSURE_NEAR(dissipation, 100 * 0.1 * 0.5 * 0.4 * 0.4, 1e-12);
  // beyond the lower end by 0.2, moving back in at 1: 100*0.2*exp(-0.5)
  ENSURE_NEAR(law_force("joint-stop", -1.2, 1.0, p, &energy, &dissipation), 20.0 * exp(-0.5), 1e-12);
  ENSURE_NEAR(dissipation, 20.0 * (1.0 - exp(-0.5)), 1e-12);
}

TEST(a_stop_never_pulls_and_never_makes_energy) {
  const double p[4] = {-1.0, 2.0, 100.0, 0.5};
  for (int i = 0; i < 1000; ++i) {
    const double x = 4.0 * noise(), xdot = 10.0 * noise();
    double dissipation;
    const double f = law_force("joint-stop", x, xdot, p, NULL, &dissipation);
    ENSURE(x > 2.0 ? f <= 0.0 : x < -1.0 ? f >= 0.0 : f == 0.0);
    ENSURE(dissipation >= 0.0);
    const double h = 1e-6;
    double before, after;
    (void)law_force("joint-stop", x - h * xdot, xdot, p, &before, NULL);
    (void)law_force("joint-stop", x + h * xdot, xdot, p, &after, NULL);
    ENSURE_NEAR(-f * xdot, (after - before) / (2 * h) + dissipation, 1e-3 * (1.0 + fabs(f * xdot)));
  }
}

// ---- elements in models -----------------------------------------------------------------------------------------------

// Every kind of element and port, on a tree with every kind of link.
static const char* const zoo =
    "<sarrus version='1' name='zoo'>"
    "<option gravity='0 0 0'/>"
    "<ground><point name='hook' at='0.3 0.2 2' rpy='0.3 -0.2 0.5'/></ground>"
    "<body name='a'><joint type='revolute' axis='1 2 3' at='0 0 1' stiffness='4' rest='0.2' damping='0.7'"
    "  limits='-0.1 0.1' limit-stiffness='50' limit-damping='0.3'/>"
    "  <inertial mass='1' com='0.1 0 0.2' inertia='1 2 2.5'/><point name='p' at='0.4 0.1 -0.2' rpy='1 0.3 0.2'/></body>"
    "<body name='b' parent='a'><joint type='universal' axis='1 0 0' axis2='0 1 0' at='0.5 0 0'/>"
    "  <inertial mass='2' inertia='1 1 1'/><point name='p' at='0.1 0.7 0.2'/></body>"
    "<body name='c' parent='b'><joint type='ball' at='0 0.4 0'/>"
    "  <inertial mass='1.5' inertia='1 2 3' com='0 0.1 0'/><point name='p' at='-0.2 0.3 0.1' rpy='0.1 0.2 0.3'/></body>"
    "<body name='e' parent='a'><joint type='helical' pitch='0.15' axis='0 1 1' at='0 -0.5 0'/>"
    "  <inertial mass='1' inertia='1 1 1'/><point name='p' at='0.2 0.2 0.2'/></body>"
    "<body name='f'><inertial mass='3' inertia='2 3 4' com='0.1 0.2 0.3'/><point name='p' at='1 0.1 0.2'/></body>"
    "<body name='g' parent='f'><joint type='planar' axis='0 1 1'/><inertial mass='1' inertia='1 1 1'/>"
    "  <point name='p' at='0.1 -0.4 0.3' rpy='-0.4 0.2 0.9'/></body>"
    "<bushing name='mount' a='ground/hook' b='c/p' stiffness='10 20 40 100 200 300' damping='1 2 3 4 5 6'/>"
    "<bushing name='between' a='a/p' b='g/p' stiffness='7 3 11 50 20 90'/>"
    "%s"
    "</sarrus>";

static Bench load_zoo(const char* more) {
  char text[8192];
  (void)snprintf(text, sizeof text, zoo, more);
  return load(text);
}

// Elements without dampers: their force is -grad V.
TEST(forces_that_store_energy_are_minus_its_gradient) {
  Bench b = load_zoo(
      "<spring a='b/p' b='f/p' stiffness='30' length='0.4' preload='8'/><spring a='ground/hook' b='e/p' stiffness='50' "
      "length='1.2' damping='3'/>");
  double unit[64] = {0};
  for (int k = 0; k < 20; ++k) {
    shuffle(b);
    for (int i = 0; i < b.m->nv; ++i) b.d->v[i] = 0.0;
    for (int i = 0; i < b.m->nv; ++i) {
      unit[i] = 1.0;
      const double slope = potential_jacobian(b, unit);
      unit[i] = 0.0;
      evaluate(b);
      ENSURE_NEAR(b.d->f[i], -slope, 1e-7 * (100.0 + fabs(slope)));
    }
  }
  unload(b);
}

static const char* const more_laws =
    "<spring a='c/p' b='f/p' stiffness='30' length='0.4' preload='8' damping='3'/><damper a='e/p' b='c/p' damping='2'/>"
    "<torque joint='a' law='2*sin(q(a)) + v(a)'/><torque joint='c' coordinate='1' law='3 - v(a)'/>"
    "<link a='b/p' b='f/p' law='-12*(z - 0.3) - 2*zdot'/><link a='ground/hook' b='e/p' law='5*cos(z)'/>"
    "<force body='g' at='0.1 0.2 0.3' f='1 -2 cos(t)' m='0.3 0.2 q(a)'/><force body='c' f='0 4 0'/>";

// f . v = power of all accounts - change of what is stored.
TEST(power_of_all_forces_is_that_of_the_energy_balance) {
  Bench b = load_zoo(more_laws);
  for (int k = 0; k < 50; ++k) {
    shuffle(b);
    for (int i = 0; i < b.m->nv; ++i) b.d->tau[i] = noise();
    const double stored = potential_jacobian(b, b.d->v);
    evaluate(b);
    double power = 0.0, accounts = 0.0;
    for (int i = 0; i < b.m->nv; ++i) power += b.d->f[i] * b.d->v[i];
    for (int i = 0; i < SR_ACCOUNTS; ++i) accounts += b.d->power[i];
    ENSURE(b.d->power[SR_ACCOUNT_DISSIPATED] < 0.0);
    ENSURE(b.d->power[SR_ACCOUNT_DISTANCE] != 0.0 && b.d->power[SR_ACCOUNT_TORQUE] != 0.0);
    ENSURE(b.d->power[SR_ACCOUNT_FORCE] != 0.0 && b.d->power[SR_ACCOUNT_APPLIED] != 0.0);
    ENSURE_NEAR(power, accounts - stored, 1e-7 * (100.0 + fabs(power)));
  }
  unload(b);
}

TEST(a_force_at_a_point_is_mapped_by_the_transposed_jacobian) {
  static const char* const bodies[] = {"a", "b", "c", "e", "f", "g"};
  for (int k = 0; k < COUNT(bodies); ++k) {
    char text[256], point[32];
    (void)snprintf(text, sizeof text, "<force body='%s' f='1 -2 3' m='0.5 0.7 -0.2'/>", bodies[k]);
    Bench with = load_zoo(text), without = load_zoo("");
    const double W[6] = {0.5, 0.7, -0.2, 1, -2, 3};
    shuffle(with);
    memcpy(without.d->q, with.d->q, (size_t)with.m->nq * sizeof(double));
    memcpy(without.d->v, with.d->v, (size_t)with.m->nv * sizeof(double));
    evaluate(with);
    evaluate(without);
    double J[6 * 64];
    (void)snprintf(point, sizeof point, "%s", bodies[k]);
    sr_frame_jacobian(without.m, without.d, sr_point_find(without.m, point), 0, J);
    for (int i = 0; i < with.m->nv; ++i) {
      double expected = 0.0;
      for (int r = 0; r < 6; ++r) expected += J[r * with.m->nv + i] * W[r];
      ENSURE_NEAR(with.d->f[i] - without.d->f[i], expected, 1e-12 * (1.0 + fabs(with.d->f[i])));
    }
    unload(with);
    unload(without);
  }
}

TEST(a_link_knows_its_length_and_rate) {
  Bench b = load(
      "<sarrus version='1'><ground><point name='o' at='0 3 0'/></ground>"
      "<body name='m'><joint type='prismatic' axis='1 0 0' q='4' v='2'/><inertial mass='1'/></body>"
      "<link name='s' a='ground/o' b='m' law='100*z + zdot'/></sarrus>");
  evaluate(b);
  const double z = 5.0, zdot = 2.0 * 0.8;  // 3-4-5
  ENSURE_NEAR(b.d->f[0], (100 * z + zdot) * 0.8, 1e-11);
  ENSURE_NEAR(b.d->power[SR_ACCOUNT_DISTANCE], (100 * z + zdot) * zdot, 1e-10);
  unload(b);
}

TEST(a_link_of_no_length_is_named) {
  Bench b = load(
      "<sarrus version='1'><body name='m'><joint type='prismatic' axis='1 0 0'/><inertial mass='1'/></body>"
      "<link name='s' a='ground' b='m' law='z'/></sarrus>");
  sr_kinematics(b.m, b.d);
  sr_velocity(b.m, b.d);
  ENSURE(sr_forces(b.m, b.d, SR_TAU_ELEMENT) > 0);
  ENSURE(strstr(b.d->error_message, "'s'") != NULL && strstr(b.d->error_message, "'m'") != NULL);
  unload(b);
}

TEST(an_external_force_works_in_inertial_axes) {
  Bench b = load(
      "<sarrus version='1'><option gravity='0 0 0'/><body name='m'><joint type='free' q='0 0 0 sqrt(0.5) 0 0 "
      "sqrt(0.5)'/>"
      "<inertial mass='2' inertia='1 1 1'/></body><force body='m' at='0 0 1' f='6 0 0'/></sarrus>");
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  // a quarter turn about z: inertial x is -y of the body; moment (0 0 1) x (0 -6 0) = (6 0 0)
  const double expected[6] = {6, 0, 0, 0, -3, 0};
  for (int i = 0; i < 6; ++i) ENSURE_NEAR(b.d->a[i], expected[i], 1e-12);
  unload(b);
}

TEST(a_bushing_about_one_axis_is_a_torsion_spring_at_any_angle) {
  static const double angles[] = {0.0, 1e-300, 1e-12, 1e-6, 0.03, 0.04, 1.5, 3.0, 3.14159, -3.14159, -0.7};
  Bench b = load(
      "<sarrus version='1'><option gravity='0 0 0'/><body name='m'><inertial mass='2' inertia='1 1 1'/></body>"
      "<bushing a='ground' b='m' stiffness='10 20 30 1 1 1'/></sarrus>");
  for (int i = 0; i < COUNT(angles); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      double* q = b.d->q + 3;
      memset(q, 0, 4 * sizeof(double));
      q[0] = cos(angles[i] / 2);
      q[1 + axis] = sin(angles[i] / 2);
      evaluate(b);
      for (int k = 0; k < 6; ++k) {
        const double expected = k == axis ? -10.0 * (1 + axis) * angles[i] : 0.0;
        ENSURE_NEAR(b.d->f[k], expected, 1e-14 * fabs(expected));
      }
    }
  }
  unload(b);
}

// ---- action and reaction ----------------------------------------------------------------------------------------------

TEST(inner_forces_leave_the_momentum_alone) {
  Bench b = load(
      "<sarrus version='1'><option gravity='0 0 0'/>"
      "<body name='a'><inertial mass='1' com='0.1 0 0' inertia='1 2 2.5'/><point name='p' at='0.3 0.1 0' rpy='1 2 3'/>"
      "</body><body name='b'><joint type='free' q='1 0.5 0.2 1 0 0 0'/><inertial mass='2' inertia='2 3 4'/>"
      "<point name='p' at='0 0.2 0.4'/></body>"
      "<link a='a/p' b='b/p' law='-7*(z - 0.3) - zdot'/>"
      "<spring a='a' b='b/p' stiffness='9' length='0.2' preload='3' damping='2'/>"
      "<bushing a='a/p' b='b/p' stiffness='10 20 30 40 50 60' damping='1 2 3 4 5 6'/></sarrus>");
  for (int k = 0; k < 20; ++k) {
    shuffle(b);
    // d(momentum)/dt = sum over both bodies of the wrench about the ground's origin = J^T-mapped forces on rigid motion
    evaluate(b);
    double force[3] = {0}, moment[3] = {0}, size = 0.0;
    for (int i = 0; i < 2; ++i) {
      const double* f = b.d->f + 6 * i;  // moment about the body's origin, force, in body axes
      const double* pose = b.d->link_pose + 16 * (1 + i);
      const double* o = pose + 12;
      double n[3], g[3];
      for (int r = 0; r < 3; ++r) {
        n[r] = pose[r] * f[0] + pose[4 + r] * f[1] + pose[8 + r] * f[2];
        g[r] = pose[r] * f[3] + pose[4 + r] * f[4] + pose[8 + r] * f[5];
        size = fmax(size, fmax(fabs(n[r]), fabs(g[r])));
      }
      for (int r = 0; r < 3; ++r) {
        const int s = (r + 1) % 3, t = (r + 2) % 3;
        force[r] += g[r];
        moment[r] += n[r] + o[s] * g[t] - o[t] * g[s];
      }
    }
    for (int r = 0; r < 3; ++r) {
      ENSURE_SMALL(force[r], 1e-14 * size);
      ENSURE_SMALL(moment[r], 1e-14 * size);
    }
  }
  unload(b);
}

// ---- drivers ----------------------------------------------------------------------------------------------------------

static const char* const arm =
    "<sarrus version='1'><body name='a'><joint name='s' type='revolute' axis='0 1 0.2' armature='0.4'/>"
    "<inertial mass='2' com='0.3 0.1 0' inertia='0.1 0.2 0.25 0.01 0 0.02'/></body>"
    "<body name='b' parent='a'><joint name='e' type='revolute' axis='0.1 1 0' at='0.6 0 0'/>"
    "<inertial mass='1' com='0.2 0 0.1' inertia='0.1 0.1 0.15'/></body>"
    "<body name='c' parent='b'><joint name='p' type='prismatic' axis='1 0 1' at='0.3 0 0'/>"
    "<inertial mass='0.5' inertia='0.01 0.01 0.01'/></body>"
    "<driver joint='s' motion='0.5*sin(3*t)'/><driver joint='p' motion='0.1*t^2 + 0.2'/>"
    "<torque joint='e' law='-2*v(e)'/><torque joint='s' law='4'/></sarrus>";

TEST(driving_forces_are_those_of_inverse_dynamics) {
  Bench b = load(arm);
  const double t = 0.7;
  double tau[3];
  b.d->t = t;
  b.d->q[0] = 0.5 * sin(3 * t);
  b.d->v[0] = 1.5 * cos(3 * t);
  b.d->q[1] = 0.4;
  b.d->v[1] = -0.9;
  b.d->q[2] = 0.1 * t * t + 0.2;
  b.d->v[2] = 0.2 * t;
  ENSURE_EQUAL(sr_forward(b.m, b.d, SR_TAU_ELEMENT), 0);
  ENSURE_NEAR(b.d->a[0], -4.5 * sin(3 * t), 1e-12);
  ENSURE_NEAR(b.d->a[2], 0.2, 1e-12);
  const double lambda[2] = {b.d->lambda[0], b.d->lambda[1]};
  ENSURE_NEAR(b.d->power[SR_ACCOUNT_DRIVER], lambda[0] * b.d->v[0] + lambda[1] * b.d->v[2], 1e-12);
  double a[3] = {b.d->a[0], b.d->a[1], b.d->a[2]}, q[3], v[3];
  memcpy(q, b.d->q, sizeof q);
  memcpy(v, b.d->v, sizeof v);
  sr_rnea(b.m, b.d, q, v, a, tau);
  ENSURE_NEAR(lambda[0] + 4.0, tau[0] + 0.4 * a[0], 1e-11);
  ENSURE_NEAR(-2 * v[1], tau[1], 1e-11);
  ENSURE_NEAR(lambda[1], tau[2], 1e-11);
  unload(b);
}

// ---- states, sensors, tau ---------------------------------------------------------------------------------------------

TEST(states_and_sensors_reach_the_laws) {
  Bench b = load(
      "<sarrus version='1'><parameter name='k' value='3'/>"
      "<body name='a'><joint name='s' type='revolute' axis='0 0 1' q='0.3' v='2'/><inertial mass='1' com='1 0 0' "
      "inertia='1 1 1'/><point name='tip' at='2 0 0'/></body>"
      "<sensor name='tip' point='a/tip'/><sensor name='reach' expr='10*sensor(tip, x)' unit='m'/>"
      "<state name='u' initial='0.5' rate='k*u + q(s) + sensor(tip, vy)'/>"
      "<torque joint='s' law='u + sensor(tip, x) + sensor(tip, wz) + sensor(tip, rxy) + sensor(reach)'/></sarrus>");
  evaluate(b);
  const double x = 2 * cos(0.3), vy = 4 * cos(0.3);
  ENSURE_NEAR(b.d->f[0], 0.5 + x + 2.0 - sin(0.3) + 10 * x, 1e-12);
  ENSURE_NEAR(b.d->ydot[0], 3 * 0.5 + 0.3 + vy, 1e-12);
  unload(b);
}

static int tell_tau(const srImpedanceIn* in, srImpedanceOut* out) {
  out->f[0] = in->tau + in->p[0];
  out->ydot[0] = in->y[0] + in->xdot[0];
  return in->p[0] < 0.0 ? -1 : in->x[0] > 10.0 ? 1 : 0;
}

TEST(a_law_in_c_gets_tau_its_states_and_its_parameters) {
  static const double y0[1] = {7.0};
  const srImpedance law = {.name = "tell", .port = SR_PORT_JOINT, .np = 1, .ny = 1, .y0 = y0, .evaluate = tell_tau};
  srSpec* spec = read_text(
      "<sarrus version='1'><body name='a'><joint name='s' type='revolute' v='2'/><inertial mass='1' inertia='1 1 1'/>"
      "</body><user name='mine' law='tell' joint='s' parameters='0.25' tau='0.01'/></sarrus>");
  ENSURE(srs_register_impedance(spec, &law));
  Bench b = compile(spec);
  ENSURE_EQUAL(b.m->ny, 1);
  evaluate(b);
  ENSURE_NEAR(b.d->f[0], 0.26, 1e-15);
  ENSURE_NEAR(b.d->ydot[0], 9.0, 1e-15);
  ENSURE_NEAR(b.d->power[SR_ACCOUNT_USER], 0.52, 1e-15);
  ENSURE_EQUAL(sr_forces(b.m, b.d, 0.0), 0);
  ENSURE_NEAR(b.d->f[0], 0.25, 1e-15);
  b.d->q[0] = 11.0;
  ENSURE(sr_forces(b.m, b.d, 0.0) > 0);
  ENSURE(strstr(b.d->error_message, "'mine'") != NULL && strstr(b.d->error_message, "'tell'") != NULL);
  unload(b);
}

TEST(a_force_that_is_not_a_number_names_its_element) {
  Bench b = load(
      "<sarrus version='1'><body name='a'><joint name='s' type='revolute' q='-1'/><inertial mass='1' inertia='1 1 1'/>"
      "</body><torque name='root' joint='s' law='sqrt(q(s))'/></sarrus>");
  sr_kinematics(b.m, b.d);
  sr_velocity(b.m, b.d);
  ENSURE(sr_forces(b.m, b.d, SR_TAU_ELEMENT) > 0);
  ENSURE(strstr(b.d->error_message, "'root'") != NULL);
  unload(b);
}
