// Friction that depends on the direction: paths against an integration of Coulomb's law on its own, slopes that one direction holds, wheels whose rollers are a
// direction, and the numbers of materials.
#include <math.h>

#include "loading.h"
#include "sliding.h"
#include "surface_scene.h"

// ---- sliding ------------------------------------------------------------------------------------------------------------

// With the bristles bent from the start the law is Coulomb's; straightening up they let the block go by 2 Fs/K at most, 8e-6 m.
TEST(a_block_with_two_coefficients_slides_along_the_path_of_most_dissipation) {
  static const struct {
    double angle, mu, mu2;
  } cases[] = {{0, 0.4, 0.1}, {30, 0.4, 0.1}, {-70, 0.3, 0.5}, {120, 0.4, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double angle = cases[i].angle * DEGREE;
    char floor[200], law[200];
    snprintf(floor, sizeof floor, "friction-direction='%.17g %.17g 0.3'", cos(angle), sin(angle));
    snprintf(law, sizeof law, "mu-k='%g' mu2='%g' bristle-K='1e6' bristle-B='100'", cases[i].mu, cases[i].mu2);
    Loaded x = open_scene(floor, "", law, "v='1'", "v='0.8'");
    double path[4] = {0, 0, 1, 0.8};
    run_scene(&x, 0.2);
    slide(cases[i].mu, cases[i].mu2, angle, 0.2, path);
    for (int k = 0; k < 2; k++) {
      ENSURE_NEAR(x.d->q[k], path[k], 2e-5);
      ENSURE_NEAR(x.d->v[k], path[2 + k], 1e-4);
    }
    ENSURE_SMALL(energy_residual(&x), 1e-6);
    close_model(&x);
  }
}

// The direction is that of the body that slides, turned with it: the same path as that of the floor's direction.
TEST(a_direction_of_the_sliding_body_acts_like_one_of_the_floor) {
  Loaded x = open_scene("friction-direction='1 1 0'", "", "mu-k='0.4' mu2='0.1' bristle-K='1e6' bristle-B='100'",
                        "v='1'", "v='0.8'");
  Loaded y = open_scene("", "rpy='0 0 1.5707963267948966' friction-direction='1 -1 2'",
                        "mu-k='0.4' mu2='0.1' bristle-K='1e6' bristle-B='100'", "v='1'", "v='0.8'");
  // the outward normal of the ball is down: a positive turn is clockwise from above
  Loaded z = open_scene("", "friction-direction='0 1 0' friction-turn='0.25*pi'",
                        "mu-k='0.4' mu2='0.1' bristle-K='1e6' bristle-B='100'", "v='1'", "v='0.8'");
  Loaded u = open_scene("friction-direction='1 0 0.1' friction-turn='0.25*pi'", "",
                        "mu-k='0.4' mu2='0.1' bristle-K='1e6' bristle-B='100'", "v='1'", "v='0.8'");
  Loaded* other[] = {&y, &z, &u};
  run_scene(&x, 0.2);
  for (int i = 0; i < 3; i++) {
    run_scene(other[i], 0.2);
    for (int k = 0; k < 2; k++) ENSURE_NEAR(other[i]->d->q[k], x.d->q[k], 1e-9);
    close_model(other[i]);
  }
  close_model(&x);
}

// ---- holding ------------------------------------------------------------------------------------------------------------

// On a slope of inclination tan a = 0.3: across the direction mu = 0.5 holds without creep, along it mu2 = 0.1 slides with g (sin a - mu2 cos a).
TEST(a_slope_holds_a_block_across_the_direction_and_not_along_it) {
  const double c = 1 / hypot(1, 0.3), s = 0.3 * c;
  char gravity[100];
  snprintf(gravity, sizeof gravity, "%.17g 0 %.17g", G * s, -G * c);
  for (int along = 0; along < 2; along++) {
    Loaded x = open_scene_under(gravity, along ? "friction-direction='1 0 0'" : "friction-direction='0 1 0'", "",
                                "mu-k='0.5' mu2='0.1' bristle-K='1e5' bristle-B='300'", "", "");
    run_scene(&x, 0.5);
    const double q = x.d->q[0], v = x.d->v[0];
    run_scene(&x, along ? 1 : 100.5);
    if (along) ENSURE_NEAR((x.d->v[0] - v) / 0.5, G * (s - 0.1 * c), 1e-6);
    if (!along) ENSURE_NEAR(x.d->q[0], q, 1e-9);
    ENSURE_NEAR(x.d->q[1], 0, 1e-12);
    close_model(&x);
  }
}

// The ellipse at rest: pulled at 45 degrees to the direction a block holds up to F with (F/sqrt 2)^2 (1/mu^2 + 1/mu2^2) = N^2.
TEST(at_rest_a_block_holds_as_long_as_the_pull_is_within_the_ellipse) {
  const double limit = G * sqrt(2 / (1 / (0.5 * 0.5) + 1 / (0.2 * 0.2)));
  for (int above = 0; above < 2; above++) {
    const double pull = (above ? 1.01 : 0.99) * limit / sqrt(2);
    char gravity[100];
    snprintf(gravity, sizeof gravity, "%.17g %.17g -9.81", pull, pull);
    Loaded x = open_scene_under(gravity, "friction-direction='1 0 0'", "",
                                "mu-k='0.5' mu2='0.2' bristle-K='1e6' bristle-B='600'", "", "");
    run_scene(&x, 1);
    if (above) ENSURE(x.d->v[0] > 1e-3 && x.d->v[0] > x.d->v[1]);  // gives way along the direction
    if (!above) ENSURE(hypot(x.d->v[0], x.d->v[1]) < 1e-9);
    close_model(&x);
  }
}

// mu2 = 0: free along the direction, to the last bit, and held across it.
TEST(without_friction_along_the_direction_a_block_is_free_there_and_held_across) {
  Loaded x = open_scene_under("2 3 -9.81", "", "friction-direction='1 0 0'",
                              "mu-k='0.5' mu2='0' bristle-K='1e5' bristle-B='300'", "", "");
  run_scene(&x, 1);
  ENSURE_NEAR(x.d->q[0], 0.5 * 2, 1e-9);
  ENSURE_NEAR(x.d->q[1], 3 / 1e5, 1e-9);
  close_model(&x);
}

// ---- parameters ---------------------------------------------------------------------------------------------------------

static double ratio_of(const char* text) {
  Loaded x = open_text(text);
  const srSurfaceLaws* c = x.m->force[0].contact;
  const double ratio = c->directed < 0 ? (double)NAN : c->along[c->directed];
  close_model(&x);
  return ratio;
}

#define CARDS(floor, ball, more)                                                                                       \
  "<sarrus version='1'><material name='tile' mu-k='0.4'/><material name='omni' mu-k='0.9' mu2='0.1'/>"                 \
  "<ground><shape name='floor' type='plane' " floor                                                                    \
  "/></ground><body name='b'><joint type='free'/>"                                                                     \
  "<inertial mass='1' inertia='1 1 1'/><shape name='s' type='sphere' size='0.1' " ball "/></body>" more "</sarrus>"
#define HARD "normal='hooke' K='1e5'"

TEST(friction_along_the_direction_comes_from_the_contact_the_pair_and_the_card_of_the_shape) {
  const double mu = sqrt(0.4 * 0.9);
  ENSURE_NEAR(ratio_of(CARDS("material='tile'", "material='omni' friction-direction='0 1 0'",
                             "<contact a='floor' b='b' " HARD "/>")),
              sqrt(0.4 * 0.1) / mu, 1e-15);
  // the direction of the other shape, whose card has no mu2: all directions are alike
  ENSURE(isnan(ratio_of(
      CARDS("material='tile' friction-direction='0 1 0'", "material='omni'", "<contact a='floor' b='b' " HARD "/>"))));
  ENSURE_NEAR(ratio_of(CARDS("material='tile'", "material='omni' friction-direction='0 1 0'",
                             "<pair materials='omni tile' mu-k='0.8' mu2='0.2'/><contact a='floor' b='b' " HARD "/>")),
              0.25, 1e-15);
  ENSURE_NEAR(ratio_of(CARDS("material='tile' friction-direction='0 1 0'", "material='omni'",
                             "<contact a='floor' b='b' mu2='0.3' " HARD "/>")),
              0.3 / mu, 1e-15);
}

// Along the direction of the ball it is decelerated by sqrt(mu2 mu) g of the cards, whichever side of the contact it is.
TEST(the_card_of_the_shape_with_the_direction_gives_the_friction_along_it) {
  Loaded x = open_text(
      "<sarrus version='1'><material name='tile' mu-k='0.4' mu2='0.3'/><material name='omni' mu-k='0.9' mu2='0.1'/>"
      "<ground><shape name='floor' type='plane' material='tile'/></ground><body name='b'>"
      "<joint type='free' q='0 0 0.1-9.81e-5 1 0 0 0' v='0 0 0 1 0 0'/><inertial mass='1' inertia='9 9 9'/>"
      "<shape name='s' type='sphere' size='0.1' material='omni' friction-direction='1 0 0'/></body>"
      "<contact a='floor' b='b' normal='hooke' K='1e5' bristle-B='300'/></sarrus>");
  run_scene(&x, 0.1);
  ENSURE_NEAR(x.d->v[3], 1 - 0.1 * sqrt(0.4 * 0.1) * G, 2e-3);
  close_model(&x);
}

TEST(what_is_wrong_with_a_direction_of_friction_is_reported) {
  ensure_refused(CARDS("", "", "<contact a='floor' b='b' mu-k='0.5' mu2='0.1' " HARD "/>"),
                 "'mu2' needs a shape with a 'friction-direction'");
  ensure_refused(CARDS("friction-direction='1 0 0'", "friction-direction='1 0 0'",
                       "<contact a='floor' b='b' mu-k='0.5' mu2='0.1' " HARD "/>"),
                 "both have a 'friction-direction'");
  ensure_refused(CARDS("friction-direction='0 0 2'", "", "<contact a='floor' b='b' mu-k='0.5' mu2='0.1' " HARD "/>"),
                 "must not be along z");
  ensure_refused(CARDS("", "friction-direction='0 0 0'", "<contact a='floor' b='b' mu-k='0.5' mu2='0.1' " HARD "/>"),
                 "must not be zero");
  ensure_refused(CARDS("", "friction-turn='1'", ""), "the shape does not have");
  ensure_refused(CARDS("", "friction-direction='0 1 0'", "<contact a='floor' b='b' mu-k='0' mu2='0.1' " HARD "/>"),
                 "needs 'mu-k' > 0");
  ensure_refused(CARDS("", "friction-direction='0 1 0'", "<contact a='floor' b='b' mu-k='1' mu2='-0.1' " HARD "/>"),
                 "'mu2' is 0 or more");
}

// ---- sets and formulations ----------------------------------------------------------------------------------------------

// A tumbling box and a ball whose directions turn with them.
#define TUMBLE(more)                                                                                                   \
  "<sarrus version='1'><ground><shape name='floor' type='plane'/></ground>"                                            \
  "<body name='box'><joint name='box' type='free' q='0 0 0.052 1 0.02 0 0' v='0 0 4 1 0.5 0'/><inertial mass='1' "     \
  "inertia='0.003 0.004 0.005'/><shape type='box' size='0.3 0.2 0.1' friction-direction='1 0 0' group='g'/></body>"    \
  "<body name='ball'><joint name='ball' type='free' q='1 0 0.1 1 0.2 0 0' v='3 0 2 1 0.3 0'/><inertial mass='1' "      \
  "inertia='0.004 0.004 0.004'/><shape type='sphere' size='0.1' friction-direction='1 1 0' group='g'/></body>"         \
  "<contact a='floor' b='g' normal='kelvin-voigt' K='1e5' D='300' mu-k='0.5' mu2='0.1' bristle-K='1e5' "               \
  "bristle-B='300' " more "/><run rtol='1e-8' atol='1e-10'/></sarrus>"

TEST(directions_of_a_contact_set_act_as_those_of_elements_and_in_absolute_coordinates) {
  Loaded x = open_text(TUMBLE("")), y = open_text(TUMBLE("most='4'")), z = open_absolute(TUMBLE(""));
  Loaded* other[] = {&y, &z};
  run_scene(&x, 0.15);
  ENSURE_SMALL(energy_residual(&x), 1e-6);
  for (int i = 0; i < 2; i++) {
    run_scene(other[i], 0.15);
    for (int k = 0; k < 14; k++) ENSURE_NEAR(other[i]->d->q[k], x.d->q[k], 1e-6);
    close_model(other[i]);
  }
  close_model(&x);
}

// A disc that spins on a floor, mu2 = 0 along a direction of the floor: the mean of |cos|, 2/pi, of the moment mu N 2/3 a.
TEST(a_disc_spinning_on_a_floor_with_rollers_has_the_mean_friction_of_all_directions) {
  Loaded x = open_text(
      "<sarrus version='1'><ground><shape name='floor' type='plane' friction-direction='1 0 0'/></ground>"
      "<body name='b'><joint name='b' type='free' q='0 0 0.05-9.81e-5 1 0 0 0' v='0 0 10 0 0 0'/><inertial mass='1' "
      "inertia='0.003 0.003 0.005'/><shape name='s' type='cylinder' size='0.2 0.1'/></body>"
      "<contact a='floor' b='b' normal='kelvin-voigt' K='1e5' D='300' mu-k='0.5' mu2='0' bristle-K='1e5'/></sarrus>");
  run_scene(&x, 0.02);
  const double w = x.d->v[2];
  run_scene(&x, 0.04);
  const double moment = 0.5 * G * 2.0 / 3 * 0.2 * 2 / (180 * DEGREE);
  ENSURE_NEAR((w - x.d->v[2]) / 0.02, moment / 0.005, 1e-3 * moment / 0.005);
  close_model(&x);
}
