// A platform on omnidirectional wheels: rollers as a direction of friction, and as bodies, against the kinematics of wheels that do not slip.
#include <math.h>

#include "surface_scene.h"

// Pose of the platform by its path in its own frame: (x, y)' = turn(Psi s) (X, Y) s', s the share of the path.
static void ideal(double s, double* x, double* y) {
  const double X = 0.3, Y = 0.2, along = sin(s), across = 1 - cos(s);  // Psi = 1
  *x = X * along - Y * across;
  *y = X * across + Y * along;
}

static double yaw(const Loaded* x) {
  const double* q = x->d->jq + 3;
  return 2 * atan2(q[3], q[0]);
}

// Bristles give way by 1e-4 m; there is no other slip.
TEST(a_platform_on_wheels_with_a_direction_of_friction_follows_their_kinematics) {
  Loaded x = open_model("contact/omni-wheel", "");
  double at[2];
  for (int i = 1; i <= 2; i++) {
    const double t = 0.5 * i;
    run_scene(&x, t);
    ideal(t, &at[0], &at[1]);  // s(t) = t - sin(2 pi t)/(2 pi) is t at both
    for (int k = 0; k < 2; k++) ENSURE_NEAR(x.d->jq[k], at[k], 5e-4);
    ENSURE_NEAR(yaw(&x), t, 2e-3);
  }
  ENSURE_SMALL(energy_residual(&x), 1e-6);
  close_model(&x);
}

// Pushed along and across parallel axes it is free along them, but for mu2. Sliding there it yields across by f_y/f_x (mu2/mu)^2 of its way: on the ellipse the slip is not along the
// force.
TEST(a_parked_platform_is_free_along_the_axes_of_parallel_wheels) {
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0.5 0.5 -9.81'/><ground><shape name='floor' type='plane'/></ground>"
      "<body name='cart'><joint name='cart' type='free' q='0 0 0.1-6.54e-5 1 0 0 0'/><inertial mass='2' inertia='1 1 "
      "1'/><shape type='sphere' size='0.1' at='1 1 0' friction-direction='1 0 0' group='w'/>"
      "<shape type='sphere' size='0.1' at='1 -1 0' friction-direction='1 0 0' group='w'/>"
      "<shape type='sphere' size='0.1' at='-1 0 0' friction-direction='2 0 0' group='w'/></body>"
      "<contact a='floor' b='w' normal='kelvin-voigt' K='1e5' D='600' mu-k='0.8' mu2='0.01' bristle-K='1e5' "
      "bristle-B='600'/></sarrus>");
  run_scene(&x, 0.5);
  const double v = x.d->v[3], at[2] = {x.d->q[0], x.d->q[1]};
  run_scene(&x, 1);
  ENSURE_NEAR((x.d->v[3] - v) / 0.5, 0.5 - 0.01 * 9.81, 2e-3);
  const double way = (x.d->q[0] - at[0]) * 0.5 / (0.01 * 9.81) * (0.01 / 0.8) * (0.01 / 0.8);
  ENSURE_NEAR(x.d->q[1] - at[1], way, 0.1 * way);
  close_model(&x);
}

// Rollers as bodies are barrels of 0.05 mm less than the wheel where they hand over; two rows at 6 mm from the middle of the wheel, 4 % of its distance from the centre of the platform,
// touch in turn. Half of the path, 0.18 m: the same within 2 %.
TEST(a_platform_on_rollers_moves_like_one_on_a_direction_of_friction) {
  Loaded x = open_model("contact/omni-wheel", ""), y = open_model("contact/omni-wheel-rollers", "");
  Loaded* of[] = {&x, &y};
  for (int i = 0; i < 2; i++) {
    srRunOptions options = sr_run_options(of[i]->m);
    options.t_end = options.every = 0.5;
    options.rtol = 1e-4;
    options.atol = 1e-7;
    ENSURE_EQUAL(sr_run(of[i]->m, of[i]->d, &options, NULL, &of[i]->result), SR_OK);
  }
  ENSURE(y.result.impacts > 5);  // rollers took turns
  ENSURE_NEAR(hypot(x.d->jq[0] - y.d->jq[0], x.d->jq[1] - y.d->jq[1]), 0, 0.02 * hypot(x.d->jq[0], x.d->jq[1]));
  ENSURE_NEAR(yaw(&x), yaw(&y), 0.02 * 0.5);
  close_model(&x);
  close_model(&y);
}

// Rigid rollers by events and in time steps. A roller is 600 times as mobile about its axis as the platform across it, which makes slip stiff: few steps by radau5. Drivers move the wheels while slip
// ends at events, and their work at these is in the balance.
TEST(a_platform_on_rigid_rollers_by_events_is_that_in_time_steps) {
  Loaded x = open_model("contact/omni-wheel-rollers", ""), y = open_model("contact/omni-wheel-rollers", "");
  Loaded* of[] = {&x, &y};
  for (int i = 0; i < 2; i++) {
    srRunOptions options = sr_run_options(of[i]->m);
    options.contact = i == 0 ? SR_CONTACT_EVENT : SR_CONTACT_TIMESTEPPING;
    options.method = i == 0 ? "radau5" : "moreau";
    if (i == 1) options.step = 1e-4;
    options.t_end = options.every = 0.195;
    ENSURE_EQUAL(sr_run(of[i]->m, of[i]->d, &options, NULL, &of[i]->result), SR_OK);
  }
  ENSURE(x.result.impacts >= 4);
  ENSURE(x.result.stats.steps < 200);
  ENSURE_SMALL(energy_residual(&x), 1e-6);
  for (int k = 0; k < 2; ++k)
    ENSURE_NEAR(x.d->jq[k], y.d->jq[k],
                1.5e-5);  // way: 16 mm; in steps of 4e-4 to 5e-5 s: 3.9e-5, 2.0e-5, 8.4e-6, 1.9e-6
  ENSURE_NEAR(yaw(&x), yaw(&y), 1e-4);
  close_model(&x);
  close_model(&y);
}
