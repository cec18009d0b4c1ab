// Kinematics of driven mechanisms: closed forms, branches kept through singular positions, ends of the range, coordinates that are held.
#include <math.h>
#include <string.h>

#include "loading.h"
#include "messages.h"

static char said[2000];

static srStatus drive(Loaded* x, srDriven** out) {
  srMessages* messages = sr_messages_create();
  srStatus status = sr_assemble(x->m, x->d, messages, NULL);
  if (status == SR_OK) status = sr_driven_create(x->m, x->d, messages, out);
  messages_keep(messages, said, sizeof said);
  sr_messages_destroy(messages);
  return status;
}

// A crank of length r without mass but for its end m1, a rod of length l without mass, a slider m3 along x; gravity along -y. The crank turns as f(t).
#define CRANK(motion)                                                                                                  \
  "<sarrus version='1'><option gravity='0 -9.81 0'/><body name='crank'><joint name='crank' type='revolute' q='0.3'/>"  \
  "<inertial mass='0.7' com='0.2 0 0'/></body><body name='rod' parent='crank'><joint name='rod' type='revolute' "      \
  "at='0.2 0 0' q='-0.4'/></body><body name='slider' parent='rod'><joint name='weld' type='weld' at='0.5 0 0'/>"       \
  "<inertial mass='1.3'/></body><constraint name='level' expr='0.2*sin(q(crank)) + 0.5*sin(q(crank) + q(rod))'/>"      \
  "<driver joint='crank' motion='" motion "'/></sarrus>"

TEST(driven_slider_crank_by_closed_form) {
  Loaded x = open_text(CRANK("0.3 + 2*t + 0.5*t^2"));
  srDriven* k = NULL;
  ENSURE_EQUAL(drive(&x, &k), SR_OK);
  ENSURE_EQUAL(k->nheld, 0);
  for (double t = 0.25; t < 6; t += 0.25) {
    ENSURE_EQUAL(sr_driven_move(k, t), SR_OK);
    ENSURE_EQUAL(sr_driven_evaluate(k), SR_OK);
    const double f = 0.3 + 2 * t + 0.5 * t * t, w = 2 + t, e = 1, r = 0.2, l = 0.5;
    const double sine = -r / l * sin(f), cosine = sqrt(1 - sine * sine);  // of the rod's angle from x
    const double b = -r / l * cos(f) / cosine;                            // d(angle)/df
    const double bb = (r / l * sin(f) + sine * b * b) / cosine;
    ENSURE_NEAR(x.d->v[1], (b - 1) * w, 1e-12);
    ENSURE_NEAR(x.d->a[1], (b - 1) * e + bb * w * w, 1e-11);
    // Slider x = r cos f + l cos(angle); virtual work on f.
    const double x1 = -r * sin(f) - l * sine * b, x2 = -r * cos(f) - l * (cosine * b * b + sine * bb);
    const double torque = 0.7 * r * r * e + 0.7 * 9.81 * r * cos(f) + 1.3 * x1 * (x1 * e + x2 * w * w);
    ENSURE_NEAR(x.d->lambda[x.m->row_driver], torque, 1e-11);
  }
  ENSURE(k->violation_position < 1e-14 && k->violation_velocity < 1e-13 && k->violation_acceleration < 1e-11);
  ENSURE_EQUAL(k->nsingular, 0);
  sr_driven_destroy(k);
  // The same place in one move: three turns of the crank, on the branch of the start.
  const double q = x.d->q[1];
  close_model(&x);
  x = open_text(CRANK("0.3 + 2*t + 0.5*t^2"));
  ENSURE_EQUAL(drive(&x, &k), SR_OK);
  ENSURE_EQUAL(sr_driven_move(k, 5.75), SR_OK);
  ENSURE_NEAR(x.d->q[1], q, 1e-12);
  sr_driven_destroy(k);
  close_model(&x);
}

// A parallelogram flat at crank angles 0 and pi: the coupler stays parallel to the ground on the branch of the start, and only there.
#define PARALLELOGRAM                                                                                                  \
  "<sarrus version='1'><body name='a'><joint name='a' type='revolute' q='1'/><inertial mass='1' inertia='1 1 "         \
  "1'/></body>"                                                                                                        \
  "<body name='b' parent='a'><joint name='b' type='revolute' at='0.5 0 0' q='-1'/><inertial mass='1' inertia='1 1 "    \
  "1'/></body>"                                                                                                        \
  "<body name='c'><joint name='c' type='revolute' at='0.8 0 0' q='1'/><inertial mass='1' inertia='1 1 1'/></body>"     \
  "<constraint name='x' expr='0.5*cos(q(a)) + 0.8*cos(q(a) + q(b)) - 0.8 - 0.5*cos(q(c))'/>"                           \
  "<constraint name='y' expr='0.5*sin(q(a)) + 0.8*sin(q(a) + q(b)) - 0.5*sin(q(c))'/>"                                 \
  "<driver joint='a' motion='1 + t'/></sarrus>"

static void ensure_parallel(const Loaded* x, double t) {
  ENSURE_NEAR(x->d->q[0], 1 + t, 1e-12);
  ENSURE_NEAR(x->d->q[1], -1 - t, 1e-9);
  ENSURE_NEAR(x->d->q[2], 1 + t, 1e-9);
  ENSURE_NEAR(x->d->v[2], 1, 1e-6);
}

TEST(driven_keeps_the_branch_where_branches_meet) {
  const double pi = acos(-1.0);
  Loaded x = open_text(PARALLELOGRAM);
  srDriven* k = NULL;
  ENSURE_EQUAL(drive(&x, &k), SR_OK);
  for (int i = 1; i <= 130; i++) {
    ENSURE_EQUAL(sr_driven_move(k, 0.1 * i), SR_OK);
    ensure_parallel(&x, 0.1 * i);
  }
  ENSURE_EQUAL(k->nsingular, 4);  // 13 rad: pi, 2 pi, 3 pi, 4 pi
  for (int i = 0; i < 4; i++) ENSURE_NEAR(k->singular[i].t, (i + 1) * pi - 1, 1e-9);
  sr_driven_destroy(k);
  close_model(&x);
}

// The wanted times are the singular positions themselves.
TEST(driven_stops_at_singular_positions_and_goes_on) {
  const double pi = acos(-1.0);
  Loaded x = open_text(PARALLELOGRAM);
  srDriven* k = NULL;
  ENSURE_EQUAL(drive(&x, &k), SR_OK);
  for (int i = 1; i <= 4; i++) {
    ENSURE_EQUAL(sr_driven_move(k, i * pi - 1), SR_OK);
    ensure_parallel(&x, i * pi - 1);
    ENSURE_EQUAL(sr_driven_move(k, i * pi - 0.5), SR_OK);
    ensure_parallel(&x, i * pi - 0.5);
  }
  ENSURE(k->nsingular >= 4);
  ENSURE_NEAR(k->singular[0].t, pi - 1, 1e-6);
  sr_driven_destroy(k);
  close_model(&x);
}

// The slider is pulled beyond its reach, 0.7 m: x = 0.5 + 0.1 t.
TEST(driven_ends_where_the_range_ends) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='crank'><joint name='crank' type='revolute' q='1'/><inertial mass='1' inertia='1 "
      "1 1'/></body>"
      "<body name='rod' parent='crank'><joint name='rod' type='revolute' at='0.2 0 0' q='-1.4'/><inertial mass='1' "
      "inertia='1 1 "
      "1'/></body><body name='slider'><joint name='slider' type='prismatic' axis='1 0 0' q='0.5'/><inertial "
      "mass='1'/></body>"
      "<constraint name='x' expr='0.2*cos(q(crank)) + 0.5*cos(q(crank) + q(rod)) - q(slider)'/>"
      "<constraint name='y' expr='0.2*sin(q(crank)) + 0.5*sin(q(crank) + q(rod))'/>"
      "<driver joint='slider' motion='0.5 + 0.1*t'/></sarrus>");
  srDriven* k = NULL;
  ENSURE_EQUAL(drive(&x, &k), SR_OK);
  ENSURE_EQUAL(sr_driven_move(k, 1.9), SR_OK);
  ENSURE_EQUAL(sr_driven_move(k, 3), SR_FAILED);
  ENSURE(strstr(k->error_message, "cannot move the mechanism beyond t = ") != NULL);
  ENSURE_NEAR(x.d->t, 2, 1e-6);
  ENSURE_NEAR(x.d->q[0], 0, 2e-2);  // sqrt of the distance
  ENSURE_EQUAL(k->nsingular, 1);
  ENSURE_NEAR(k->singular[0].t, 2, 1e-6);
  sr_driven_destroy(k);
  close_model(&x);
}

// A pendulum on a driven cart: it is held, by the torque of gravity and of the cart's acceleration.
TEST(driven_holds_what_nothing_moves) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 -9.81 0'/><body name='cart'><joint name='cart' type='prismatic' axis='1 "
      "0 0'/>"
      "<inertial mass='2'/></body><body name='rod' parent='cart'><joint name='rod' type='revolute' q='0.6'/><inertial "
      "mass='0.5' "
      "com='0.4 0 0'/></body><driver joint='cart' motion='0.25*t^2'/></sarrus>");
  srDriven* k = NULL;
  ENSURE_EQUAL(drive(&x, &k), SR_OK);
  ENSURE(strstr(said, "1 coordinate that no driver moves is held at the start: rod") != NULL);
  ENSURE_EQUAL(k->nheld, 1);
  ENSURE_EQUAL(sr_driven_move(k, 2), SR_OK);
  ENSURE_EQUAL(sr_driven_evaluate(k), SR_OK);
  ENSURE_NEAR(x.d->q[0], 1, 1e-15);
  ENSURE_NEAR(x.d->q[1], 0.6, 0);
  ENSURE_NEAR(x.d->lambda[x.m->row_driver], 2.5 * 0.5, 1e-13);
  ENSURE_NEAR(k->held_force[0], 0.5 * 0.4 * (9.81 * cos(0.6) - 0.5 * sin(0.6)), 1e-13);
  sr_driven_destroy(k);
  close_model(&x);
}

TEST(driven_refuses_rolling_and_contradicting_drivers) {
  srDriven* k = NULL;
  Loaded x = open_model("mechanisms/rolling-disc", "");
  ENSURE_EQUAL(drive(&x, &k), SR_INPUT);
  ENSURE(strstr(said, "holds for velocities alone") != NULL);
  close_model(&x);
  x = open_text(
      "<sarrus version='1'><body name='a'><joint name='a' type='prismatic' axis='1 0 0'/><inertial "
      "mass='1'/></body><body name='b'>"
      "<joint name='b' type='prismatic' axis='1 0 0'/><inertial mass='1'/></body><constraint name='gear' "
      "expr='q(a)*cos(q(b)) - "
      "2*q(b)'/><driver joint='a' motion='2*t'/><driver joint='b' motion='t'/></sarrus>");
  ENSURE_EQUAL(drive(&x, &k), SR_FAILED);
  ENSURE(strstr(said, "the drivers are not independent of each other") != NULL);
  close_model(&x);
}

// Against the accelerations and multipliers of forward dynamics: loops in space, redundant, in both formulations.
TEST(driven_agrees_with_forward_dynamics) {
  const char* const file[] = {"mechanisms/3rrr", "mechanisms/delta-robot", "mechanisms/jansen-leg",
                              "mechanisms/stewart-platform"};
  for (int i = 0; i < 4; i++) {
    Loaded x = open_model(file[i], "");
    srDriven* k = NULL;
    ENSURE_EQUAL(drive(&x, &k), SR_OK);
    for (int n = 1; n < 8; n++) {
      ENSURE_EQUAL(sr_driven_move(k, 0.13 * n), SR_OK);
      ENSURE_EQUAL(sr_driven_evaluate(k), SR_OK);
      double a[64], lambda[64];
      ENSURE(x.m->nv <= 64 && x.m->ng <= 64);
      memcpy(a, x.d->a, (size_t)x.m->nv * sizeof *a);
      memcpy(lambda, x.d->lambda, (size_t)x.m->ng * sizeof *a);
      x.d->stage = SR_STAGE_NONE;
      ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
      for (int j = 0; j < x.m->nv; j++) ENSURE_NEAR(a[j], x.d->a[j], 1e-10);
      for (int j = 0; j < x.m->ng; j++) ENSURE_NEAR(lambda[j], x.d->lambda[j], 1e-10 * (1 + fabs(lambda[j])));
    }
    sr_driven_destroy(k);
    close_model(&x);
  }
}
