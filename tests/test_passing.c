// Thin bodies that are fast: in a run they meet, or the run says that they did not.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collide/motion.h"
#include "loading.h"
#include "math/vector3.h"

typedef struct Told {
  srRunResult result;
  int passed, warnings;
  double q, last;     // time of the last event
  char a[40], b[40];  // names of the first one: those of the result go with the model
} Told;

static Told run_text(const char* text, const char* method, double step, double t_end) {
  Loaded x = open_text(text);
  Told told = {0};
  srMessages* messages = sr_messages_create();
  srRunOptions options = sr_run_options(x.m);
  options.method = method;
  if (step > 0) options.step = step;
  options.t_end = t_end;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, messages, &told.result), SR_OK);
  for (int i = 0; i < told.result.nevent; i++) {
    told.passed += strcmp(told.result.event[i].kind, "passed") == 0;
    told.last = told.result.event[i].t;
  }
  for (int i = 0; i < sr_messages_count(messages); i++)
    told.warnings += strstr(sr_messages_get(messages, i)->text, "pass through each other") != NULL;
  if (told.result.nevent > 0 && told.result.event[0].b != NULL) {
    (void)snprintf(told.a, sizeof told.a, "%s", told.result.event[0].a);
    (void)snprintf(told.b, sizeof told.b, "%s", told.result.event[0].b);
  }
  told.q = x.d->q[0];
  sr_messages_destroy(messages);
  close_model(&x);
  return told;
}

// A blade of 1 mm on a shaft at 1000 rad/s, and a post of 1 mm in its way: a rotation at constant speed is exact for every method, whatever the step.
static const char* blade(const char* more, double at) {
  static char text[1200];
  snprintf(
      text, sizeof text,
      "<sarrus version='1'><option gravity='0 0 0'/>"
      "<ground><shape name='post' type='box' size='0.001 0.04 0.2' at='0.19*cos(%g) 0.19*sin(%g) 0' rpy='0 0 %g+pi/2'/>"
      "</ground><body name='blade'><joint name='turn' type='revolute' axis='0 0 1' q='0.1' v='1000'/>"
      "<inertial mass='1' com='0 0 0' inertia='1e-2 1e-2 1e-2'/>"
      "<shape name='p' type='box' size='0.2 0.001 0.05' at='0.1 0 0'/></body>"
      "<contact a='post' b='p' normal='kelvin-voigt' K='1e9' D='1e3' mu-k='0.2' bristle-K='1e6' %s/></sarrus>",
      at, at, at, more);
  return text;
}

// The first touch: the corner of the post at the radius 0.17 m, half a millimetre before its middle, is half a millimetre above the blade.
static double first_touch(double at) {
  return (at - 0.1 - atan2(0.0005, 0.17) - asin(0.0005 / hypot(0.17, 0.0005))) / 1000;
}

TEST(a_blade_meets_a_post_at_every_turn) {
  static const char* const methods[] = {"dopri5", "radau5", "hem5", "genalpha-ggl", "auto"};
  for (int k = 0; k < 2; k++) {
    const double at = k ? 3 : 1, t_end = 0.01;
    const int turns = 1 + (int)((t_end - first_touch(at)) / (2 * acos(-1.0) / 1000));
    double q = 0;
    for (int i = 0; i < 5; i++) {
      const Told told = run_text(blade(k == 0 ? "" : "most='4'", at), methods[i], 0, t_end);
      ENSURE_EQUAL(told.result.impacts, turns);
      ENSURE_NEAR(told.result.event[0].t, first_touch(at), 1e-7);
      ENSURE_EQUAL(told.passed, 0);
      if (i == 0) q = told.q;
      ENSURE(told.q < 10.1 - 0.01);  // the contact slows it down
      ENSURE_NEAR(told.q, q, 3e-3);
    }
  }
}

TEST(steps_of_fixed_length_that_pass_a_post_are_reported) {
  for (int k = 0; k < 2; k++) {
    const Told told = run_text(blade(k ? "most='4'" : "", 3), "rk4", 1e-3, 0.02);
    ENSURE_EQUAL(told.result.impacts, 0);
    ENSURE_EQUAL(told.passed, 3);
    ENSURE_EQUAL(told.warnings, 1);
    ENSURE_NEAR(told.result.event[0].t, first_touch(3), 1e-7);
    ENSURE_TEXT(told.a, "ground/post");
    ENSURE_TEXT(told.b, "blade/p");
    const Told fine = run_text(blade(k ? "most='4'" : "", 3), "rk4", 1e-6, 0.004);
    ENSURE(fine.result.impacts == 1 && fine.passed == 0 && fine.warnings == 0);
  }
}

// ---- thrown plates ----------------------------------------------------------------------------------------------------

static unsigned long long state = 9;
static double uniform(double low, double high) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return low + (high - low) * ((double)(state >> 11) / 9007199254740992.0);
}

// A plate that flies at constant velocity and spins about a principal axis of a ball-like inertia.
typedef struct Plate {
  srConvex shape;
  double at[3], v[3], w[3];
} Plate;

static void plate_at(void* user, double s, srShapeMotion* out) {
  const Plate* p = user;
  const double rate = srm_norm3(p->w), half = 0.5 * rate * s, c = rate > 0 ? sin(half) / rate : 0;
  *out = (srShapeMotion){.angular_most = rate};
  srm_pose_identity(out->pose);
  srm_pose_from_quaternion((double[]){cos(half), c * p->w[0], c * p->w[1], c * p->w[2]}, out->pose);
  srm_add_scaled3(p->at, s, p->v, out->pose + 12);
  srm_set3(out->velocity, p->v);
  srm_set3(out->angular, p->w);
}

// Random plates thrown at a narrow wall of 1 mm: those that meet it by the geometry of their motion have an impact, or are reported.
TEST(no_thrown_plate_passes_a_wall_in_silence) {
  int met = 0, reported = 0, apart = 0;
  state = 9;
  for (int i = 0; i < (runner_long() ? 2000 : 16); i++) {
    Plate wall = {.shape = sr_convex_box((double[]){0.2, 0.3, 0.0005})};
    Plate plate = {.shape = sr_convex_box((double[]){0.1, 0.06, 0.0005}), .at = {0, 0, 0.5}};
    for (int k = 0; k < 3; k++) plate.v[k] = uniform(-10, 10), plate.w[k] = uniform(-300, 300);
    plate.at[0] = uniform(-0.5, 0.5);
    plate.v[2] = -uniform(20, 200);
    const double t_end = 1 / -plate.v[2];
    const srMoving a = {&wall.shape, plate_at, &wall}, b = {&plate.shape, plate_at, &plate};
    double s;
    const bool meets = sr_motion_first(&a, &b, t_end, 1e-7, &s);
    // Steps of rk4 turn by up to 0.65 rad, and have an error of some 1e-4 rad and m then: a plate that is 2 mm smaller all round meets surely.
    double unused;
    const srConvex smaller = sr_convex_box((double[]){0.098, 0.058, 0.0005});
    const bool surely = sr_motion_first(&a, &(srMoving){&smaller, plate_at, &plate}, t_end, 1e-7, &unused);
    char text[1000];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 0 0'/><ground><shape name='wall' type='box' size='0.4 0.6 "
             "0.001'/></ground>"
             "<body name='plate'><joint type='free' q='%.17g 0 0.5 1 0 0 0' v='%.17g %.17g %.17g %.17g %.17g %.17g'/>"
             "<inertial mass='1' inertia='1e-2 1e-2 1e-2'/><shape name='p' type='box' size='0.2 0.12 0.001'/></body>"
             "<contact a='wall' b='p' normal='kelvin-voigt' K='1e8' D='1e3' friction='none'/></sarrus>",
             plate.at[0], plate.w[0], plate.w[1], plate.w[2], plate.v[0], plate.v[1], plate.v[2]);
    const Told adaptive = run_text(text, "dopri5", 0, t_end), fixed = run_text(text, "rk4", t_end / 40, t_end);
    ENSURE_EQUAL(adaptive.result.impacts > 0, meets);
    if (meets) ENSURE_NEAR(adaptive.result.event[0].t, s, 1e-6);
    ENSURE_EQUAL(adaptive.passed, 0);
    ENSURE(!surely || fixed.result.impacts + fixed.passed > 0);
    met += meets;
    reported += fixed.passed > 0;
    apart += !meets;
  }
  ENSURE(met > 5 && reported > 0 && apart > 3);
}

// ---- surfaces -----------------------------------------------------------------------------------------------------------

// A ball or a thin plate, 1 mm, that flies down at 200 m/s through a sheet of two triangles, a slab of triangles, a rug of heights or a bowl x(u, v), all with the top at
// z = 0 below it.
#define SHEETS 4
static const char* const sheet[SHEETS] = {"type='mesh' mesh='sheet'", "type='mesh' mesh='slab'",
                                          "type='heightfield' size='2 2 1' columns='2' heights='0 0 0 0'",
                                          "type='surface' x='u*cos(v)' y='u*sin(v)' z='0.2*u^2' u='0 0.5' v='0 2*pi'"};

static const char* bullet(const char* target, const char* shape, const char* K, const char* more) {
  static char text[2000];
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='0 0 0'/><mesh name='sheet' vertices='-1 -1 0 1 -1 0 1 1 0 -1 1 0' "
           "faces='0 1 2 0 2 3'/><mesh name='slab' vertices='-1 -1 0 1 -1 0 1 1 0 -1 1 0 -1 -1 -0.001 1 -1 -0.001 1 1 "
           "-0.001 -1 1 -0.001' faces='0 1 2 0 2 3 4 6 5 4 7 6 0 5 1 0 4 5 1 6 2 1 5 6 2 7 3 2 6 7 3 4 0 3 7 4'/>"
           "<ground><shape name='target' %s/></ground>"
           "<body name='bullet'><joint type='prismatic' axis='0 0 1' q='0.5' v='-200' at='0.01 0 0'/><inertial "
           "mass='1'/>"
           "<shape name='b' %s/></body><contact a='target' b='b' normal='kelvin-voigt' K='%s' D='0.1' friction='none' "
           "%s/></sarrus>",
           target, shape, K, more);
  return text;
}

TEST(what_is_small_and_fast_meets_surfaces_or_is_reported) {
  static const char* const shape[2] = {"type='sphere' size='0.0005'", "type='box' size='0.1 0.1 0.001'"};
  for (int i = 0; i < SHEETS; i++) {
    for (int k = 0; k < 4; k++) {
      if (i == 3 && k % 2 == 1) continue;  // the corner of a plate has no common normal with a bowl
      const char* more = k < 2 ? "" : "most='4'";
      const double touch = (0.5 - 0.0005 - (i == 3 ? 0.2 * 1e-4 : 0)) / 200;
      const Told adaptive = run_text(bullet(sheet[i], shape[k % 2], "1e14", more), "dopri5", 0, 0.004);
      const Told fixed = run_text(bullet(sheet[i], shape[k % 2], "1e6", more), "rk4", 4e-4, 0.004);
      ENSURE(adaptive.result.impacts == 1 && adaptive.passed == 0);
      ENSURE_NEAR(adaptive.result.event[0].t, touch, 1e-8);
      ENSURE(i == 2 ? fixed.result.impacts == 1 : fixed.passed == 1 && fixed.result.impacts == 0);
      if (i == 2) continue;  // below heights all is inside
      ENSURE_NEAR(fixed.result.event[0].t, touch, 1e-7);
      ENSURE_TEXT(fixed.a, "ground/target");
      ENSURE_TEXT(fixed.b, "bullet/b");
    }
  }
}
