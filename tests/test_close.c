// Loops that a file closes to some digits only (src/io/close.c): what each loop closure constrains is closed, what it leaves free stays.
#include <math.h>
#include <string.h>

#include "io/close.h"
#include "math/pose.h"
#include "runner.h"

static const double axis[3] = {0, 0.6, 0.8};         // of the loop closure, in both frames
static const double across[3] = {0.6, 0.64, -0.48};  // 90 degrees from it

static void pose_of(const double rpy[3], const double at[3], double pose[16]) {
  srm_pose_identity(pose);
  srm_pose_from_rpy(rpy, pose);
  memcpy(pose + 12, at, 3 * sizeof *at);
}

// A turn by an angle about a unit vector, and a shift.
static void small_pose(const double about[3], double angle, const double at[3], double pose[16]) {
  const double s = sin(0.5 * angle), quaternion[4] = {cos(0.5 * angle), s * about[0], s * about[1], s * about[2]};
  srm_pose_identity(pose);
  srm_pose_from_quaternion(quaternion, pose);
  memcpy(pose + 12, at, 3 * sizeof *at);
}

typedef struct Opening {
  double turn_across, turn_along;    // rad, of frame b against frame a
  double shift_across, shift_along;  // m
} Opening;

// A loop whose frame b is off frame a by so much, on a body somewhere in space.
static srLoopEnds loop_of(const char* type, bool flat, Opening o, double body[16]) {
  srLoopEnds loop = {.type = type, .axis = axis, .flat = flat, .body = body, .moved = true};
  double here[16], off[16], along[16], both[16], at[3];
  pose_of((double[]){0.3, -0.7, 1.1}, (double[]){2, -1, 0.5}, body);
  pose_of((double[]){-0.2, 0.4, 0.9}, (double[]){0.1, 0.2, -0.3}, loop.a);
  for (int k = 0; k < 3; k++) at[k] = o.shift_across * across[k] + o.shift_along * axis[k];
  small_pose(across, o.turn_across, at, off);
  small_pose(axis, o.turn_along, (double[]){0, 0, 0}, along);
  srm_pose_compose(off, along, both);
  srm_pose_compose(body, loop.a, here);
  srm_pose_compose(here, both, loop.b);
  return loop;
}

// How frame b is off frame a in the end.
static void rest_of(const srLoopEnds* loop, double rest[16]) {
  double here[16], back[16];
  srm_pose_compose(loop->body, loop->a, here);
  srm_pose_invert(here, back);
  srm_pose_compose(back, loop->b, rest);
}

// Tolerances: rounding of numbers of 1 to 3 m.
static void ensure_closed(const char* type, bool flat, Opening o, double angle, double distance, Opening left) {
  double body[16], rest[16], there[3], turned[3];
  srLoopEnds loop = loop_of(type, flat, o, body);
  ENSURE(sr_loop_close(&loop));
  ENSURE(loop.moved == (angle > 0 || distance > 0));
  ENSURE_NEAR(loop.angle, angle, 1e-15);
  ENSURE_NEAR(loop.distance, distance, 2e-15);
  rest_of(&loop, rest);
  srm_pose_rotate(rest, axis, there);
  srm_cross3(axis, there, turned);
  ENSURE_NEAR(srm_norm3(turned), sin(left.turn_across), 1e-15);
  ENSURE_NEAR(srm_dot3(across, rest + 12), left.shift_across, 2e-15);
  ENSURE_NEAR(srm_dot3(axis, rest + 12), left.shift_along, 2e-15);
  srm_pose_rotate(rest, across, there);
  srm_cross3(across, there, turned);
  ENSURE_NEAR(srm_dot3(axis, turned), sin(left.turn_along), 1e-15);
}

TEST(a_small_opening_is_taken_away_in_the_directions_that_the_loop_closure_holds) {
  const Opening turn = {.turn_across = 4e-4, .turn_along = 0.3}, along = {.turn_along = 0.3};
  ensure_closed("ball", false, (Opening){0, 0.3, 5e-4, 3e-4}, 0, hypot(5e-4, 3e-4), along);
  ensure_closed("revolute", false, turn, 4e-4, 0, along);
  ensure_closed("revolute", false, (Opening){0, 0.3, 5e-4, 3e-4}, 0, hypot(5e-4, 3e-4), along);
  ensure_closed("revolute", true, (Opening){0, 0.3, 5e-4, 0.2}, 0, 5e-4, (Opening){0, 0.3, 0, 0.2});
  ensure_closed("cylindrical", false, (Opening){0, 0.3, 5e-4, 0.2}, 0, 5e-4, (Opening){0, 0.3, 0, 0.2});
  ensure_closed("planar", false, (Opening){0, 0.3, 0.2, 5e-4}, 0, 5e-4, (Opening){0, 0.3, 0.2, 0});
  ensure_closed("planar", false, turn, 4e-4, 0, along);
  ensure_closed("weld", false, (Opening){0, 6e-4, 5e-4, 3e-4}, 6e-4, hypot(5e-4, 3e-4), (Opening){0});
  ensure_closed("prismatic", false, (Opening){0, 6e-4, 5e-4, 0.2}, 6e-4, 5e-4, (Opening){.shift_along = 0.2});
}

TEST(what_is_closed_stays_and_what_is_open_by_more_is_not_closed) {
  const struct {
    const char* type;
    Opening o;
  } open[] = {{"revolute", {.turn_across = 1.1e-3}}, {"revolute", {.shift_along = 1.1e-3}},
              {"weld", {.turn_along = 1.1e-3}},      {"ball", {.shift_across = 1.1e-3}},
              {"planar", {.shift_along = 1.1e-3}},   {"revolute", {.turn_across = 3}}};
  ensure_closed("revolute", false, (Opening){.turn_along = 0.3}, 0, 0, (Opening){.turn_along = 0.3});
  for (int i = 0; i < (int)(sizeof open / sizeof *open); i++) {
    double body[16], before[16];
    srLoopEnds loop = loop_of(open[i].type, false, open[i].o, body);
    memcpy(before, loop.a, sizeof before);
    ENSURE(!sr_loop_close(&loop));
    ENSURE(!loop.moved && memcmp(before, loop.a, sizeof before) == 0);
    ENSURE_NEAR(fmax(loop.angle, loop.distance),
                open[i].o.turn_across + open[i].o.turn_along + open[i].o.shift_across + open[i].o.shift_along, 2e-15);
  }
}
