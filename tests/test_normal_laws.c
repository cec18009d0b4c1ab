// Normal laws: forces, clamps, energy; Hertz' stiffness; the restitution that they really give.
#include <math.h>
#include <sarrus/laws.h>
#include <string.h>

#include "contact/element.h"
#include "runner.h"

static srNormalParameters parameters(const char* law, double K, double n, double e) {
  srNormalParameters p = sr_normal_defaults();
  p.K = K, p.n = n, p.e = e, p.D = 3;
  sr_normal_prepare(sr_normal_find(law), &p);
  return p;
}

static srNormalOut at(const char* law, const srNormalParameters* p, double d, double ddot, double ddot0) {
  const srNormalIn in = {d, ddot, ddot0, p};
  srNormalOut out;
  ENSURE_EQUAL(sr_normal_find(law)->evaluate(&in, &out), 0);
  return out;
}

static srImpact impact(const char* law, const srNormalParameters* p, double m, double speed) {
  srImpact out;
  ENSURE_EQUAL(sr_impact(sr_normal_find(law), p, m, speed, NULL, NULL, &out), SR_OK);
  return out;
}

static double given(const char* law, double n, double e) {
  const srNormalParameters p = parameters(law, 1e8, n, e);
  return impact(law, &p, 1, 1).restitution;
}

// -------------------------------------------------------------------------------------------------------------- forces
TEST(every_normal_law_is_found_by_its_word) {
  ENSURE_EQUAL(sr_normal_count(), 7);
  for (int i = 0; i < 7; i++) {
    const srNormalParameters p = sr_normal_defaults();
    char text[200];
    ENSURE(sr_normal_find(sr_normal_law(i)->name) == sr_normal_law(i));
    ENSURE(!sr_normal_refusal(sr_normal_law(i), &p, text, sizeof text));
    ENSURE(sr_normal_law(i)->needs_speed == (i >= 3));
  }
  ENSURE(sr_normal_find("hook") == NULL && sr_normal_law(7) == NULL);
}

TEST(forces_are_those_of_paper_1) {
  const double K = 2e5, d = 1e-3, u = 0.4, hertz = K * d * sqrt(d);
  const struct {
    const char* law;
    double f;
  } expected[] = {
      {"hooke", K * d},
      {"hertz", hertz},
      {"kelvin-voigt", K * d + 3 * 0.8},
      {"hunt-crossley", hertz * (1 + 1.5 * 0.4 * u)},
      {"lankarani-nikravesh", hertz * (1 + 0.75 * (1 - 0.36) * u)},
      {"flores", hertz * (1 + 8 * 0.4 / (5 * 0.6) * u)},
  };
  for (int i = 0; i < 6; i++) {
    const srNormalParameters p = parameters(expected[i].law, K, 1.5, 0.6);
    ENSURE_NEAR(at(expected[i].law, &p, d, 0.8, 2).f, expected[i].f, 1e-12 * expected[i].f);
  }
}

TEST(no_law_pulls_and_a_clamp_is_reported) {
  for (int i = 0; i < sr_normal_count(); i++) {
    const char* law = sr_normal_law(i)->name;
    const srNormalParameters p = parameters(law, 1e3, 1.5, 0.5);
    for (int k = -40; k <= 40; k++) {
      const srNormalOut out = at(law, &p, 1e-3, 0.25 * k, 0.1), apart = at(law, &p, -1e-3, 0.25 * k, 0.1);
      ENSURE(out.f >= 0 && out.dissipation >= 0);
      ENSURE(out.clamped == (out.f == 0));
      ENSURE(apart.f == 0 && apart.dissipation == 0 && !apart.clamped);
    }
    ENSURE(at(law, &p, 1e-3, -10, 0.1).clamped == (i >= 2));  // hooke and hertz have nothing to clamp
  }
}

TEST(elastic_force_is_the_derivative_of_the_energy) {
  for (int i = 0; i < sr_normal_count(); i++) {
    const srNormalLaw* law = sr_normal_law(i);
    const srNormalParameters p = parameters(law->name, 1e4, 1.7, 0.5);
    const double d = 2e-3, h = 1e-6;
    const srNormalIn less = {d - h, 0, 1, &p}, more = {d + h, 0, 1, &p}, none = {-d, 0, 1, &p};
    const double elastic = at(law->name, &p, d, 0.3, 1).elastic;
    ENSURE_NEAR((law->energy(&more) - law->energy(&less)) / (2 * h), elastic, 1e-6 * elastic);
    ENSURE(law->energy(&none) == 0);
  }
}

TEST(the_approach_velocity_has_a_floor) {
  const srNormalParameters p = parameters("exact", 1e4, 1.5, 0.5);
  ENSURE(at("exact", &p, 1e-3, 1e-4, 0).f == at("exact", &p, 1e-3, 1e-4, p.floor).f);
  ENSURE(isfinite(at("exact", &p, 1e-3, 1e-4, 0).f));
}

// Hunt and Crossley: f = K d^n (1 + 3(1 - e)/2 ddot/ddot0). ddot0 is the largest approach velocity since the contact began (z), or the
// present one where that is more, in approach only; without z it is the present one.
TEST(a_closed_contact_has_the_largest_speed_of_approach_since_it_began) {
  srSurfaceLaws c = {.law = sr_normal_find("hunt-crossley"), .p = parameters("hunt-crossley", 1000, 1, 0.4)};
  const double closed[SR_Z_CONTACT] = {[SR_Z_CLOSED] = 1, [SR_Z_SPEED] = 2}, none[SR_Z_CONTACT] = {[SR_Z_CLOSED] = 1};
  const struct {
    const double* z;
    double ddot, ddot0;
  } cases[] = {{closed, 1, 2}, {closed, 4, 4}, {closed, -1, 2}, {closed, -4, 2},
               {none, 3, 3},   {none, -3, 3},  {NULL, 0.5, 0.5}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    srNormalOut out;
    ENSURE_EQUAL(sr_normal_force(&c, 0.01, cases[i].ddot, cases[i].z, &out), 0);
    const double f = 10 * (1 + 0.9 * cases[i].ddot / cases[i].ddot0);
    ENSURE_NEAR(out.f, fmax(0, f), 1e-12);
  }
}

TEST(wrong_normal_parameters_are_refused_with_a_sentence) {
  const struct {
    const char* law;
    double K, n, e;
    const char* reason;
  } cases[] = {
      {"hooke", 0, 1, 1, "hooke needs K > 0, not 0"},
      {"hertz", 1, 0.5, 1, "hertz needs n >= 1, not 0.5"},
      {"exact", 1, 1, 1.5, "exact needs e <= 1, not 1.5"},
      {"hunt-crossley", 1, 1, -0.1, "hunt-crossley needs e >= 0, not -0.1"},
      {"flores", 1, 1, 0, "flores: its damping is infinite at restitution 0; take a small one, or the law exact"},
  };
  for (int i = 0; i < 5; i++) {
    srNormalParameters p = sr_normal_defaults();
    char text[200] = "";
    p.K = cases[i].K, p.n = cases[i].n, p.e = cases[i].e;
    ENSURE(sr_normal_refusal(sr_normal_find(cases[i].law), &p, text, sizeof text));
    ENSURE_TEXT(text, cases[i].reason);
  }
}

// --------------------------------------------------------------------------------------------------------------- hertz
TEST(hertz_stiffness_follows_radii_and_materials) {
  const srElastic steel = {207e9, 0.3, 0.01}, plane = {207e9, 0.3, (double)INFINITY}, socket = {207e9, 0.3, -0.0125};
  const double sigma = 0.91 / 207e9;
  ENSURE_NEAR(sr_hertz_stiffness(steel, plane), 4 / (6 * sigma) * 0.1, 1e-3);
  ENSURE_NEAR(sr_hertz_stiffness(steel, steel), 4 / (6 * sigma) * sqrt(0.005), 1e-3);
  ENSURE_NEAR(sr_hertz_stiffness(steel, socket), 4 / (6 * sigma) * sqrt(0.05), 1e-3);  // R = 0.01 0.0125/0.0025
  ENSURE_NEAR(sr_hertz_stiffness(steel, (srElastic){(double)INFINITY, 0.3, (double)INFINITY}), 4 / (3 * sigma) * 0.1,
              1e-3);
  ENSURE(isnan(sr_hertz_stiffness(steel, (srElastic){207e9, 0.3, -0.005})));  // the ball does not fit into it
  ENSURE(isnan(sr_hertz_stiffness(plane, plane)));
  ENSURE_NEAR(sr_hertz_patch(0.01, 1e-6), 1e-4, 1e-18);
}

// -------------------------------------------------------------------------------------------------------- restitution
TEST(damped_laws_give_the_restitution_of_the_catalog) {
  static const double asked[] = {0.1, 0.3, 0.5, 0.7, 0.9, 0.99};
  static const struct {
    const char* law;
    double given[6];
  } table[] = {{"hunt-crossley", {0.516, 0.581, 0.663, 0.768, 0.909, 0.990}},
               {"lankarani-nikravesh", {0.665, 0.684, 0.725, 0.796, 0.913, 0.990}},
               {"flores", {0.069, 0.256, 0.470, 0.683, 0.894, 0.989}}};
  for (int l = 0; l < 3; l++)
    for (int i = 0; i < 6; i++) ENSURE_NEAR(given(table[l].law, 1.5, asked[i]), table[l].given[i], 5e-4);
}

TEST(exact_gives_what_is_asked_for_any_exponent) {
  static const double asked[] = {0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 1};
  for (int i = 0; i < 10; i++)
    for (int n = 2; n <= 4; n++) ENSURE_NEAR(given("exact", 0.5 * n, asked[i]), asked[i], 1e-11);
  ENSURE_NEAR(given("exact", 1.5, 0), 1e-3, 1e-11);
}

TEST(integration_and_closed_form_agree_for_all_power_laws) {
  for (int l = 3; l < 7; l++) {
    for (int i = 1; i <= 20; i++) {
      const char* law = sr_normal_law(l)->name;
      const srNormalParameters p = parameters(law, 1e6, 1.5, 0.05 * i);
      ENSURE_NEAR(impact(law, &p, 2, 3).restitution, sr_factor_restitution(p.chi), 1e-11);
    }
  }
}

TEST(mass_stiffness_and_speed_do_not_change_it) {
  for (int l = 3; l < 7; l++) {
    const char* law = sr_normal_law(l)->name;
    const double reference = given(law, 1.5, 0.4);
    for (int i = 0; i < 8; i++) {
      const srNormalParameters p = parameters(law, i & 1 ? 1e3 : 1e11, 1.5, 0.4);
      ENSURE_NEAR(impact(law, &p, i & 2 ? 1e-6 : 1e4, i & 4 ? 0.01 : 50).restitution, reference, 1e-11);
    }
  }
}

TEST(damping_factor_and_restitution_invert_each_other) {
  for (int i = 1; i <= 1000; i++) {
    const double e = 1e-3 * i, D = sr_restitution_factor(e);
    ENSURE_NEAR(sr_factor_restitution(D), e, 1e-13);
    ENSURE(e * D < 1 + 1e-15);
  }
  ENSURE(sr_restitution_factor(1) == 0 && sr_factor_restitution(0) == 1);
  for (int i = 3; i <= 12; i++) {  // series at e = 1: D = 3/2 (x + x^2) + ..., x = 1 - e
    const double x = pow(10, -i);
    ENSURE_NEAR(sr_restitution_factor(1 - x), 1.5 * (x + x * x), 2 * x * x * x + 3e-16);
  }
}

TEST(springs_give_back_everything_in_the_time_of_the_closed_form) {
  const srNormalParameters p = parameters("hooke", 1e6, 1, 1), q = parameters("hertz", 1e8, 1.5, 1);
  const srImpact hooke = impact("hooke", &p, 2, 3), hertz = impact("hertz", &q, 2, 3);
  const double pi = 3.14159265358979323846, w = sqrt(1e6 / 2);
  ENSURE_NEAR(hooke.restitution, 1, 1e-12);
  ENSURE_NEAR(hooke.duration, pi / w, 1e-12 * pi / w);
  ENSURE_NEAR(hooke.d_max, 3 / w, 1e-4 * 3 / w);  // the largest of the steps
  ENSURE_NEAR(hertz.restitution, 1, 1e-12);
  // d_max^(5/2) = 5/4 m v^2/K;  duration = 2 d_max/v integral of dx/sqrt(1 - x^(5/2)) = 0.8 B(2/5, 1/2) d_max/v   (Hertz)
  const double d_max = pow(1.25 * 2 * 9 / 1e8, 0.4);
  ENSURE_NEAR(hertz.d_max, d_max, 1e-4 * d_max);
  const double beta = tgamma(0.4) * tgamma(0.5) / tgamma(0.9);
  ENSURE_NEAR(hertz.duration, 0.8 * beta * d_max / 3, 1e-11 * d_max);
}

TEST(kelvin_voigt_leaves_where_its_force_ends) {
  for (int i = 1; i <= 9; i++) {
    srNormalParameters p = parameters("kelvin-voigt", 1e6, 1, 1);
    const double m = 2, z = 0.1 * i, w = sqrt(p.K / m), root = sqrt(1 - z * z);
    p.D = 2 * z * sqrt(p.K * m);
    // d'' = 0 first at the angle wd t = atan2(2 z root, 2 z^2 - 1); behind it the body flies freely.
    const double angle = atan2(2 * z * root, 2 * z * z - 1);
    const double e = exp(-z / root * angle) * (z / root * sin(angle) - cos(angle));
    const srImpact out = impact("kelvin-voigt", &p, m, 1.5);
    ENSURE_NEAR(out.restitution, e, 1e-9);
    ENSURE(out.clamped && w > 0);
  }
}

TEST(the_energy_balance_of_an_impact_closes) {
  for (int l = 0; l < sr_normal_count(); l++) {
    const srNormalParameters p = parameters(sr_normal_law(l)->name, 1e5, 1.5, 0.3);
    ENSURE_SMALL(impact(sr_normal_law(l)->name, &p, 0.5, 2).residual, 1e-11);
  }
}

static void count_points(void* user, const srImpactPoint* point) {
  int* n = user;
  ENSURE(point->d >= 0 && point->f >= 0 && (*n > 0 || point->t == 0));
  ++*n;
}

TEST(an_impact_shows_its_path) {
  const srNormalParameters p = parameters("exact", 1e5, 1.5, 0.3);
  srImpact out;
  int n = 0;
  ENSURE_EQUAL(sr_impact(sr_normal_find("exact"), &p, 1, 1, count_points, &n, &out), SR_OK);
  ENSURE_EQUAL(n, out.steps + 1);
}

static int no_force(const srNormalIn* in, srNormalOut* out) {
  *out = (srNormalOut){.f = 0 * in->d};
  return 0;
}
static int broken(const srNormalIn* in, srNormalOut* out) {
  *out = (srNormalOut){.f = in->d > 1e-3 ? (double)NAN : 1e3};
  return 0;
}

TEST(a_body_that_does_not_leave_is_reported) {
  const srNormalLaw nothing = {.name = "nothing", .evaluate = no_force}, torn = {.name = "torn", .evaluate = broken};
  const srNormalParameters p = sr_normal_defaults();
  srImpact out;
  ENSURE_EQUAL(sr_impact(&nothing, &p, 1, 1, NULL, NULL, &out), SR_FAILED);
  ENSURE_EQUAL(sr_impact(&torn, &p, 1e6, 1, NULL, NULL, &out), SR_FAILED);
}

// ---- Hertz's ellipse ----------------------------------------------------------------------------------------------------

#define SIDES 400

// Displacement at (x, 0) or (0, x) of an elastic half space, times E*, by the pressure sqrt(1 - (x/a)^2 - (y/b)^2): the integral of p/(pi r), in polar coordinates about
// the point. Along each ray p^2 is a parabola: integral of sqrt(C + 2 B r - A r^2) dr from 0 to its zero.
static double sunk(double a, double b, double x, double y) {
  const double pi = acos(-1.0);
  double sum = 0;
  for (int i = 0; i < SIDES; i++) {
    const double t = 2 * pi * (i + 0.5) / SIDES, c = cos(t), s = sin(t);
    const double A = c * c / a / a + s * s / b / b, B = -(x * c / a / a + y * s / b / b),
                 C = 1 - x * x / a / a - y * y / b / b;
    const double root = sqrt(B * B + A * C);
    sum += (0.5 * B * sqrt(C) + 0.5 * (B * B + A * C) / sqrt(A) * (0.5 * pi + asin(B / root))) / A;
  }
  return 2 * sum / SIDES;
}

// The pressure of an ellipse presses a paraboloid into the half space: its curvatures, depth and force, by an integration of the test's own.
TEST(hertz_of_an_ellipse_is_that_of_its_pressure) {
  const srElastic rigid = {(double)INFINITY, 0.3, 1}, soft = {1, 0, 1};  // E* = 1
  for (int i = 0; i < 4; i++) {
    const double a = 0.01, b = a * (double[]){1, 0.7, 0.3, 0.1}[i], p = 1e-3, h = 0.2;
    const double d = p * sunk(a, b, 0, 0), flat = 2 * (d - p * sunk(a, b, h * a, 0)) / (h * a) / (h * a);
    const double steep = 2 * (d - p * sunk(a, b, 0, h * b)) / (h * b) / (h * b);
    const double K = sr_hertz_ellipse(soft, rigid, (double[]){flat, steep});
    ENSURE_NEAR(K * pow(d, 1.5), 2.0 / 3 * acos(-1.0) * a * b * p, 1e-6 * a * b * p);
  }
}

TEST(hertz_of_crossing_cylinders_and_of_lines) {
  const srElastic steel = {207e9, 0.3, 0.01}, plane = {207e9, 0.3, (double)INFINITY};
  double k[2];
  sr_relative_curvatures((double[]){100, 0}, (double[]){100, 0}, acos(0.0),
                         k);  // at a right angle: a sphere on a plane
  ENSURE_NEAR(k[0], 100, 1e-12);
  ENSURE_NEAR(k[1], 100, 1e-12);
  ENSURE_NEAR(sr_hertz_ellipse(steel, steel, k) / sr_hertz_stiffness(steel, plane), 1, 1e-12);
  sr_relative_curvatures((double[]){100, 0}, (double[]){50, 0}, 0, k);
  ENSURE_NEAR(k[0], 150, 1e-12);
  ENSURE(isnan(sr_hertz_ellipse(steel, steel, k)));                        // parallel: a line
  sr_relative_curvatures((double[]){100, 100}, (double[]){-50, 0}, 1, k);  // ball in a groove
  ENSURE_NEAR(k[0], 100, 1e-12);
  ENSURE_NEAR(k[1], 50, 1e-12);
  // Johnson's approximation R_e = (k_1 k_2)^(-1/2) with F_2 = 1 - 0.06...: at a ratio of 2 a circle of the same R_e is within 2 %
  ENSURE_NEAR(sr_hertz_ellipse(steel, steel, k) / sr_hertz_stiffness((srElastic){207e9, 0.3, 1 / sqrt(5000)}, plane), 1,
              0.02);
  for (double ratio = 1 + 1e-9; ratio < 1e6;
       ratio *= 3)  // continuous through the series about the circle, and monotone
    ENSURE(sr_hertz_ellipse(steel, steel, (double[]){100, 100 * ratio}) <=
           sr_hertz_ellipse(steel, steel, (double[]){100, 100}));
}
