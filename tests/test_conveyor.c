// Surfaces that move in their body: a block thrown on a conveyor, carried up a slope, on a belt that goes back and forth, and where their work comes from.
#include <math.h>

#include "surface_scene.h"

#define G 9.81
#define FRICTION "mu-k='0.4' bristle-K='1e6' bristle-B='600'"

// Thrown on with v0 it is accelerated by mu g until (V - v0)/(mu g), and has then slipped back by (V - v0)^2/(2 mu g). Bristles bend by mu m g/K = 4e-6 m.
// The drive gives mu m g V for that time: half of it, at v0 = 0, is dissipated.
TEST(a_block_thrown_on_a_conveyor_sticks_when_it_should_and_goes_with_it) {
  static const double start[] = {0, -0.5, 1.5};
  for (int i = 0; i < 3; i++) {
    const double V = 0.8, v0 = start[i], sticks = fabs(V - v0) / (0.4 * G),
                 slipped = (V - v0) * fabs(V - v0) / (0.8 * G);
    char joint[50];
    snprintf(joint, sizeof joint, "v='%g'", v0);
    Loaded x = open_scene("surface-velocity='0.8 0 0'", "", FRICTION, joint, "");
    run_scene(&x, 0.9 * sticks);
    ENSURE_NEAR(x.d->v[0], v0 + 0.9 * (V - v0), 1e-4);
    run_scene(&x, 1.1 * sticks);
    ENSURE_NEAR(x.d->v[0], V, 1e-4);
    run_scene(&x, 2);
    ENSURE_NEAR(x.d->q[0], 2 * V - slipped, 2e-5);
    ENSURE_NEAR(x.d->v[0], V, 1e-9);
    ENSURE_SMALL(energy_residual(&x), 1e-6);
    close_model(&x);
  }
}

TEST(the_drive_of_a_conveyor_does_the_work_of_friction) {
  Loaded x = open_scene("surface-velocity='0.8 0 0'", "", FRICTION, "", "");
  run_scene(&x, 2);
  ENSURE_NEAR(x.result.energy.work[SR_ACCOUNT_DRIVER], 0.8 * 0.8, 1e-5);
  ENSURE_NEAR(x.result.energy.work[SR_ACCOUNT_FRICTION], -0.5 * 0.8 * 0.8, 1e-5);
  close_model(&x);
}

// Up a slope of tan a = 0.3: mu = 0.4 accelerates it by g (mu cos a - sin a) and then carries it, without creep, for 100 s; mu = 0.2 lets it slide back.
TEST(a_conveyor_carries_a_block_up_a_slope_that_friction_holds) {
  const double c = 1 / hypot(1, 0.3), s = 0.3 * c;
  char gravity[100];
  snprintf(gravity, sizeof gravity, "%.17g 0 %.17g", -G * s, -G * c);
  for (int holds = 0; holds < 2; holds++) {
    Loaded x = open_scene_under(gravity, "surface-velocity='0.2 0 0'", "",
                                holds ? FRICTION : "mu-k='0.2' bristle-K='1e6' bristle-B='600'", "", "");
    const double a = G * ((holds ? 0.4 : 0.2) * c - s);
    run_scene(&x, 0.1);
    ENSURE_NEAR(x.d->v[0], 0.1 * a, 1e-4);
    run_scene(&x, 1);
    if (!holds) ENSURE_NEAR(x.d->v[0], a, 1e-4);
    const double q = x.d->q[0];
    run_scene(&x, holds ? 101 : 1.1);
    if (holds) ENSURE_NEAR(x.d->q[0] - q, 20, 1e-8);
    close_model(&x);
  }
}

// V = 0.3 sin 10 t needs 3 m/s^2, less than mu g: the block goes with the belt, 0.03 (1 - cos 10 t), behind by the bend a/K of the bristles.
TEST(a_block_follows_a_belt_whose_speed_is_a_formula_of_the_time) {
  Loaded x = open_scene("surface-velocity='0.3*sin(10*t) 0.1*t 0'", "", FRICTION, "", "");
  run_scene(&x, 1);
  ENSURE_NEAR(x.d->q[0], 0.03 * (1 - cos(10.0)), 1e-5);
  ENSURE_NEAR(x.d->v[0], 0.3 * sin(10.0), 1e-4);
  ENSURE_NEAR(x.d->q[1], 0.05, 1e-5);
  ENSURE_SMALL(energy_residual(&x), 1e-6);
  close_model(&x);
}

// A belt that starts at 0.5 s: the block rests to the last bit, then slides for V/(mu g).
TEST(a_belt_that_starts_suddenly_is_an_event) {
  Loaded x = open_scene("surface-velocity='if(0.5 > t, 0, 0.8) 0 0'", "", FRICTION, "", "");
  run_scene(&x, 0.5);
  ENSURE_NEAR(x.d->q[0], 0, 1e-15);
  run_scene(&x, 1.5);
  ENSURE_NEAR(x.d->q[0], 0.8 - 0.8 * 0.8 / (0.8 * G), 2e-5);
  ENSURE_SMALL(energy_residual(&x), 1e-6);
  close_model(&x);
}

// The belt is in the frame of its shape, of a turned floor or of the body itself (a crawler): there it pushes the body back.
TEST(a_belt_moves_in_the_frame_of_its_shape_and_of_either_side) {
  Loaded x = open_scene("surface-velocity='0.8 0 0'", "", FRICTION, "", "");
  Loaded y =
      open_scene("rpy='0 0 0.5*pi' surface-velocity='0 -0.8 7'", "", FRICTION, "", "");  // along the normal: nothing
  Loaded z = open_scene("", "rpy='0 0 0.5*pi' surface-velocity='0 0.8 0'", FRICTION, "", "");
  Loaded* other[] = {&y, &z};
  run_scene(&x, 0.3);
  for (int i = 0; i < 2; i++) {
    run_scene(other[i], 0.3);
    ENSURE_NEAR(other[i]->d->q[0], x.d->q[0], 1e-9);
    ENSURE_NEAR(other[i]->d->q[1], 0, 1e-12);
    close_model(other[i]);
  }
  close_model(&x);
}

// Boxes and balls on a tilting conveyor, across the direction of whose rollers friction is less.
#define LINE(more)                                                                                                     \
  "<sarrus version='1'><body name='frame'><joint name='tilt' type='revolute' axis='0 1 0' q='0.05' v='0.1'/>"          \
  "<inertial mass='20' com='-0.1 0 0' inertia='5 5 5'/><shape name='belt' type='box' size='4 1 0.1' at='0 0 -0.05' "   \
  "surface-velocity='0.5 0.1 0' friction-direction='0 1 0'/></body><torque joint='tilt' law='-3000*q(tilt) - "         \
  "100*v(tilt)'/>"                                                                                                     \
  "<body name='box'><joint name='box' type='free' q='0 0 0.0505 1 0 0.025 0'/><inertial mass='1' inertia='0.003 "      \
  "0.004 0.005'/><shape type='box' size='0.3 0.2 0.1' group='g'/></body><body name='ball'><joint name='ball' "         \
  "type='free' q='0.5 0 0.08 1 0 0 0'/><inertial mass='1' inertia='0.004 0.004 0.004'/><shape type='sphere' "          \
  "size='0.1' group='g'/></body>"                                                                                      \
  "<contact a='belt' b='g' normal='kelvin-voigt' K='1e5' D='600' mu-k='0.4' mu2='0.2' bristle-K='1e5' "                \
  "bristle-B='300' " more "/><run rtol='1e-8' atol='1e-10'/></sarrus>"

TEST(conveyors_of_a_moving_body_act_in_sets_and_in_absolute_coordinates_alike) {
  Loaded x = open_text(LINE("")), y = open_text(LINE("most='4'")), z = open_absolute(LINE(""));
  Loaded* other[] = {&y, &z};
  run_scene(&x, 0.3);
  ENSURE_SMALL(energy_residual(&x), 1e-6);
  ENSURE(x.result.energy.work[SR_ACCOUNT_DRIVER] > 0.1);
  for (int i = 0; i < 2; i++) {
    run_scene(other[i], 0.3);
    for (int k = 0; k < 15; k++) ENSURE_NEAR(other[i]->d->jq[k], x.d->jq[k], 1e-5);
    close_model(other[i]);
  }
  close_model(&x);
}

TEST(what_is_wrong_with_a_surface_velocity_is_reported) {
#define BELT(law)                                                                                                      \
  "<sarrus version='1'><state name='u' rate='1'/><ground><shape name='floor' type='plane' surface-velocity='" law      \
  "'/></ground><body name='b'><joint name='b' type='prismatic'/><inertial mass='1'/></body></sarrus>"
  ensure_refused(BELT("q(b) 0 0"), "is a formula of t");
  ensure_refused(BELT("u 0 0"), "is a formula of t");
  ensure_refused(BELT("1 0"), "takes 3 values");
}

// The shipped model: the belts reach V after 0.5 s, V (t - 1/4) in all; mu = 0.5 is enough for that, and holds on the slope of 0.3.
TEST(parcels_of_the_conveyor_model_go_with_their_belts) {
  Loaded x = open_model("contact/conveyor", "");
  run_scene(&x, 2);
  const srFrameMotion parcel = sensor(&x, "parcel"), waiting = sensor(&x, "waiting");
  const double c = 1 / hypot(1, 0.3), way = 0.5 * (2 - 0.25);
  ENSURE_NEAR(waiting.position[1], -1 + way, 1e-5);
  ENSURE_NEAR(waiting.position[0], 1.4, 1e-6);
  ENSURE_NEAR(parcel.position[0], (-0.5 + way) * c - 0.15 * 0.3 * c, 2e-3);  // tilts a little where it is put down
  ENSURE_NEAR(parcel.velocity[0], 0.5 * c, 1e-6);
  close_model(&x);
}
