// Friction laws: limits, symmetry, dissipation, closed forms of steady sliding, and who holds and who creeps.
#include <math.h>
#include <sarrus/laws.h>
#include <string.h>

#include "law/friction.h"
#include "runner.h"

enum { MOST = SR_FRICTION_MAX_N * SR_FRICTION_MAX_ELEMENTS };

// One element at work: states, and what the last evaluation gave.
typedef struct Slip {
  const srFrictionLaw* law;
  srFrictionParameters p;
  int n;
  double tau, Fs, Fk;
  double e[MOST], edot[MOST], f[SR_FRICTION_MAX_N], dissipation;
  bool sticks;
} Slip;

// Numbers of a joint as in simulation II of Kikuuwe and Yamamoto, but Fs > Fk.
static Slip slip_of(const char* name, int n) {
  Slip s = {.law = sr_friction_find(name), .p = sr_friction_defaults(), .n = n, .tau = 1e-4, .Fs = 0.6, .Fk = 0.5};
  ENSURE(s.law != NULL);
  s.p.K = 5000;
  s.p.B = 1;
  return s;
}

static srFrictionIn in_of(const Slip* s, const double* v) {
  return (srFrictionIn){.n = s->n, .v = v, .e = s->e, .tau = s->tau, .Fs = s->Fs, .Fk = s->Fk, .D = s->p.D, .p = &s->p};
}

static void evaluate(Slip* s, const double* v) {
  const srFrictionIn in = in_of(s, v);
  srFrictionOut out = {.f = s->f, .edot = s->edot};
  ENSURE_EQUAL(s->law->evaluate(&in, &out), 0);
  s->dissipation = out.dissipation;
  s->sticks = out.sticks;
}

static int states(const Slip* s) { return sr_friction_states(s->law, &s->p, s->n); }
static double energy(const Slip* s) {
  const srFrictionIn in = in_of(s, s->f);
  return s->law->energy ? s->law->energy(&in) : 0;
}

// Euler steps at constant v, slow enough for the fastest bristle (Z/K, g/|v| >= tau).
static void slide(Slip* s, const double* v, double time) {
  const double h = 0.2 * s->tau;
  for (double t = 0; t < time; t += h) {
    evaluate(s, v);
    for (int i = 0; i < states(s); i++) s->e[i] += h * s->edot[i];
  }
  evaluate(s, v);
}

// Takes every bristle to where it rests at constant v: along v, and edot . v falls with its length.
static void settle(Slip* s, const double* v) {
  const double speed = sr_slip_norm(s->n, v);
  for (int i = 0; i < states(s); i += s->n) {
    double low = 0, high = 4 * s->Fs / s->p.K;
    for (int step = 0; step < 80; step++) {
      const double length = 0.5 * (low + high);
      for (int k = 0; k < s->n; k++) s->e[i + k] = length * v[k] / speed;
      evaluate(s, v);
      if (sr_slip_dot(s->n, s->edot + i, v) > 0)
        low = length;
      else
        high = length;
    }
  }
  evaluate(s, v);
}

// Numbers between -1 and 1 that repeat.
static double pseudo(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1;
}

// A state that a motion can reach, and a velocity, of random sizes from creeping to fast.
static void scatter(Slip* s, double* v, unsigned* seed) {
  const double speed = pow(10, 3 * pseudo(seed) - 2), reach = s->Fk / s->p.K;
  for (int k = 0; k < s->n; k++) v[k] = speed * pseudo(seed);
  for (int i = 0; i < states(s); i++) s->e[i] = 0.7 * reach * pseudo(seed);
}

static double size(const Slip* s) { return sr_slip_norm(s->n, s->f); }

// ------------------------------------------------------------------------------------------------------- all laws alike
TEST(every_law_is_found_by_its_word_and_takes_the_defaults) {
  ENSURE_EQUAL(sr_friction_count(), 8);
  for (int i = 0; i < sr_friction_count(); i++) {
    const srFrictionLaw* law = sr_friction_law(i);
    const srFrictionParameters p = sr_friction_defaults();
    char text[200] = "";
    ENSURE(sr_friction_find(law->name) == law && law->about[0] != 0);
    ENSURE(!sr_friction_refusal(law, &p, 1e-4, 2, 1, text, sizeof text));
    ENSURE(law->holds == (strcmp(law->name, "kikuuwe") == 0 || strcmp(law->name, "iwan") == 0));
    ENSURE(law->set_valued == (strcmp(law->name, "coulomb") == 0));
  }
  ENSURE(sr_friction_find("columb") == NULL && sr_friction_law(-1) == NULL && sr_friction_law(8) == NULL);
}

TEST(reversed_motion_reverses_the_force_to_the_bit) {
  for (int l = 0; l < sr_friction_count(); l++) {
    unsigned seed = 7;
    for (int i = 0; i < 200; i++) {
      Slip a = slip_of(sr_friction_law(l)->name, 1 + i % 3), b = a;
      double v[3], minus[3];
      a.p.D = b.p.D = 0.3;
      scatter(&a, v, &seed);
      for (int k = 0; k < 3; k++) minus[k] = -v[k];
      for (int k = 0; k < states(&a); k++) b.e[k] = -a.e[k];
      evaluate(&a, v);
      evaluate(&b, minus);
      for (int k = 0; k < a.n; k++) ENSURE(a.f[k] == -b.f[k]);
      for (int k = 0; k < states(&a); k++) ENSURE(a.edot[k] == -b.edot[k]);
      ENSURE(a.dissipation == b.dissipation && a.sticks == b.sticks);
    }
  }
}

static void turn(double angle, const double* x, double* out) {
  out[0] = cos(angle) * x[0] - sin(angle) * x[1];
  out[1] = sin(angle) * x[0] + cos(angle) * x[1];
}

TEST(no_direction_of_the_plane_is_preferred) {
  for (int l = 0; l < sr_friction_count(); l++) {
    unsigned seed = 3;
    for (int i = 0; i < 200; i++) {
      Slip a = slip_of(sr_friction_law(l)->name, 2), b = a;
      double v[2], turned[2], expected[2];
      const double angle = 3 * pseudo(&seed);
      scatter(&a, v, &seed);
      turn(angle, v, turned);
      for (int k = 0; k < states(&a); k += 2) turn(angle, a.e + k, b.e + k);
      evaluate(&a, v);
      evaluate(&b, turned);
      turn(angle, a.f, expected);
      for (int k = 0; k < 2; k++) ENSURE_NEAR(b.f[k], expected[k], 1e-12 * (1 + size(&a)));
    }
  }
}

TEST(along_an_axis_the_plane_is_the_line_to_the_bit) {
  for (int l = 0; l < sr_friction_count(); l++) {
    unsigned seed = 11;
    for (int i = 0; i < 200; i++) {
      Slip line = slip_of(sr_friction_law(l)->name, 1), plane = slip_of(sr_friction_law(l)->name, 2);
      double v[2] = {0, 0};
      scatter(&line, v, &seed);
      const double w[2] = {0, v[0]};
      for (int k = 0; k < states(&line); k++) plane.e[2 * k + 1] = line.e[k];
      evaluate(&line, v);
      evaluate(&plane, w);
      ENSURE(plane.f[0] == 0 && plane.f[1] == line.f[0]);
      for (int k = 0; k < states(&line); k++) ENSURE(plane.edot[2 * k] == 0 && plane.edot[2 * k + 1] == line.edot[k]);
    }
  }
}

// lugre alone may exceed its limit: B edot comes on top (Kikuuwe and Yamamoto, eq 12).
TEST(no_force_exceeds_the_limit) {
  for (int l = 0; l < sr_friction_count(); l++) {
    unsigned seed = 5;
    Slip s = slip_of(sr_friction_law(l)->name, 2);
    if (strcmp(s.law->name, "lugre") == 0) continue;
    for (int i = 0; i < 2000; i++) {
      double v[2];
      scatter(&s, v, &seed);
      for (int k = 0; k < states(&s); k++) s.e[k] *= 5;  // as after a fall of the limit
      evaluate(&s, v);
      ENSURE(size(&s) <= s.Fs * (1 + 1e-14));
    }
  }
}

TEST(power_is_stored_energy_and_dissipation_which_is_never_negative) {
  for (int l = 0; l < sr_friction_count(); l++) {
    unsigned seed = 9;
    for (int i = 0; i < 500; i++) {
      Slip s = slip_of(sr_friction_law(l)->name, 2);
      double v[2], gradient = 0;
      if (strcmp(s.law->name, "lugre") == 0) s.p.B = 0;  // its B edot . v has no sign
      s.p.D = i % 2 ? 0.2 : 0;
      if (i % 3 == 0) s.tau = s.p.B > 0 ? 0 : 1e-4;
      scatter(&s, v, &seed);
      evaluate(&s, v);
      // Rate of the energy by a difference along edot: exact for a quadratic form, however long the step.
      Slip before = s, after = s;
      const double h = 1e-4 / (1e-4 + sr_slip_norm(2, v));
      for (int k = 0; k < states(&s); k++) before.e[k] -= h * s.edot[k], after.e[k] += h * s.edot[k];
      gradient = (energy(&after) - energy(&before)) / (2 * h);
      const double power = sr_slip_dot(2, s.f, v);
      ENSURE_NEAR(power, gradient + s.dissipation, 1e-10 * (fabs(power) + fabs(gradient) + energy(&after) / h));
      ENSURE(s.dissipation >= 0);
    }
  }
}

// v(t) on a closed path of the plane, states back where they were: the work is the dissipation, and it is positive.
TEST(closed_cycles_dissipate) {
  for (int l = 0; l < sr_friction_count(); l++) {
    for (int amplitude = 0; amplitude < 3; amplitude++) {
      Slip s = slip_of(sr_friction_law(l)->name, 2);
      const double h = 2e-5, reach = pow(10, amplitude - 1) * s.Fk / s.p.K, w = 2 * 3.14159265358979323846 / 0.2;
      double work = 0, dissipation = 0, start = 0, euler = 0;
      for (int i = 0; i < 40000; i++) {  // four turns of an ellipse; the last two are counted
        const double t = h * i, v[2] = {-reach * w * sin(w * t), 0.5 * reach * w * cos(w * t)};
        if (i == 20000) start = energy(&s), work = dissipation = euler = 0;
        evaluate(&s, v);
        work += h * sr_slip_dot(2, s.f, v);
        dissipation += h * s.dissipation;
        for (int k = 0; k < states(&s); k++) s.e[k] += h * s.edot[k];
        Slip moved = s;  // an Euler step stores 1/2 K |h edot|^2 too much
        for (int k = 0; k < states(&s); k++) moved.e[k] = h * s.edot[k];
        euler += energy(&moved);
      }
      ENSURE(work > 0 || (strcmp(s.law->name, "ambrosio") == 0 && reach * w <= s.p.v0));
      ENSURE_NEAR(work, dissipation + energy(&s) - start - euler, 1e-9 * work);
    }
  }
}

// ------------------------------------------------------------------------------------------------------- steady sliding
TEST(steady_sliding_has_the_closed_form_of_each_law) {
  const double speeds[] = {2e-4, 1e-3, 4e-3, 0.02, 0.5};
  for (int i = 0; i < 5; i++) {
    for (int n = 1; n <= 2; n++) {
      const double s = speeds[i], v[2] = {n == 1 ? s : 0.6 * s, 0.8 * s};
      const double stribeck = 0.5 + 0.1 * exp(-s / 0.01 * (s / 0.01)), x = fmin(s / 1e-3, 1);
      const struct {
        const char* law;
        double f;
      } expected[] = {
          {"coulomb", 0.5},
          {"threlfall", 0.5 * (1 - exp(-3 * x))},
          {"bengisu-akay", s < 1e-3 ? 0.6 - 0.6 * (s - 1e-3) * (s - 1e-3) / 1e-6 : 0.5 + 0.1 * exp(-100 * (s - 1e-3))},
          {"ambrosio", 0.5 * fmin(fmax((s - 1e-3) / 9e-3, 0), 1)},
          {"dahl", 0.5},
          {"lugre", stribeck + 0.3 * s},
          {"kikuuwe", stribeck + 0.3 * s},
          {"iwan", stribeck + 0.3 * s},
      };
      for (int l = 0; l < 8; l++) {
        Slip slip = slip_of(expected[l].law, n);
        slip.p.D = 0.3;
        slip.p.B = n == 1 ? 60 : 1;  // Z carries a Stribeck curve as steep as 0.1 N over 0.01 m/s, and does not
        settle(&slip, v);
        for (int k = 0; k < n; k++) ENSURE_NEAR(slip.f[k], expected[l].f * v[k] / s, 1e-12);
        for (int k = 0; k < states(&slip); k++) ENSURE_SMALL(slip.edot[k], 1e-12 * s);
      }
    }
  }
}

TEST(coulomb_at_rest_gives_nothing_and_reports_it) {
  Slip s = slip_of("coulomb", 2);
  evaluate(&s, (double[]){0, 0});
  ENSURE(s.f[0] == 0 && s.f[1] == 0 && s.sticks && s.dissipation == 0);
  evaluate(&s, (double[]){-1e-300, 0});
  ENSURE(s.f[0] == -0.5 && !s.sticks);
}

static double force_at(const char* law, double v) {
  Slip s = slip_of(law, 1);
  evaluate(&s, &v);
  return s.f[0];
}

TEST(threlfall_is_continuous_where_the_paper_jumps) {
  const double before = force_at("threlfall", 1e-3 * (1 - 1e-12)), after = force_at("threlfall", 1e-3 * (1 + 1e-12));
  ENSURE_NEAR(before, after, 1e-12);
  ENSURE_NEAR(after, 0.5 * 0.95021293163213605, 1e-15);
}

TEST(bengisu_akay_is_continuous_with_the_slopes_of_its_branches) {
  const double v0 = 1e-3, h = 1e-9;
  ENSURE_NEAR(force_at("bengisu-akay", v0 - 1e-15), force_at("bengisu-akay", v0), 1e-12);
  ENSURE_NEAR(force_at("bengisu-akay", v0), 0.6, 1e-15);
  ENSURE_NEAR(force_at("bengisu-akay", h) / h, 2 * 0.6 / v0, 2 * 0.6 / v0 * 1e-6);
  ENSURE_NEAR((force_at("bengisu-akay", v0) - force_at("bengisu-akay", v0 - h)) / h, 0, 1e-3);
  ENSURE_NEAR((force_at("bengisu-akay", v0 + h) - force_at("bengisu-akay", v0)) / h, -100 * 0.1, 1e-3);
}

TEST(ambrosio_is_a_ramp) {
  ENSURE(force_at("ambrosio", 0.99e-3) == 0);
  ENSURE_NEAR(force_at("ambrosio", 5.5e-3), 0.25, 1e-15);
  ENSURE_NEAR(force_at("ambrosio", -1e-2), -0.5, 1e-15);
  ENSURE_NEAR(force_at("ambrosio", 1), 0.5, 1e-15);
}

// ------------------------------------------------------------------------------------------------------------- kikuuwe
TEST(what_sticks_moves_its_bristles_with_v_to_the_bit) {
  const char* const names[] = {"kikuuwe", "iwan"};
  for (int l = 0; l < 2; l++) {
    unsigned seed = 21;
    int stuck = 0;
    for (int i = 0; i < 2000; i++) {
      Slip s = slip_of(names[l], 2);
      double v[2];
      s.p.D = 0.1;
      s.p.spread = 0.5;
      scatter(&s, v, &seed);
      evaluate(&s, v);
      if (!s.sticks) continue;
      stuck++;
      for (int k = 0; k < states(&s); k++) ENSURE(s.edot[k] == v[k % 2]);
    }
    ENSURE(stuck > 500);
  }
}

// Kikuuwe and Yamamoto, eq 14, written out by itself: the discrete form, of which eq 19 with Euler steps of length tau is another writing.
TEST(kikuuwe_with_euler_steps_is_the_discrete_form_of_eq_14) {
  Slip s = slip_of("kikuuwe", 2);
  s.Fs = s.Fk;
  const double T = s.tau, K = s.p.K, B = s.p.B, F = s.Fk;
  double e[2] = {0, 0};
  int slipped = 0;
  for (int i = 0; i < 4000; i++) {
    const double v[2] = {0.02 * sin(0.01 * i), 0.01 * cos(0.017 * i)};
    double f[2];
    for (int k = 0; k < 2; k++) f[k] = (B + T * K) * v[k] + K * e[k];
    const double length = sqrt(f[0] * f[0] + f[1] * f[1]);
    if (length > F) f[0] *= F / length, f[1] *= F / length, slipped++;
    for (int k = 0; k < 2; k++) e[k] = (B * e[k] + T * f[k]) / (B + T * K);
    evaluate(&s, v);
    for (int k = 0; k < 2; k++) {
      s.e[k] += T * s.edot[k];
      ENSURE_NEAR(s.f[k], f[k], 1e-13);
      ENSURE_NEAR(s.e[k], e[k], 1e-16);
    }
  }
  ENSURE(slipped > 1000 && slipped < 3000);
}

// The equations of the head of friction_kikuuwe.c, checked from outside: slider and bristle bear the same force.
TEST(kikuuwe_with_stribeck_and_viscous_terms_solves_bristle_and_slider) {
  unsigned seed = 31;
  int slipped = 0;
  for (int i = 0; i < 3000; i++) {
    Slip s = slip_of("kikuuwe", 2);
    s.p.D = 0.4, s.p.B = 25, s.p.delta = 1 + i % 3;
    double v[2], w[2];
    scatter(&s, v, &seed);
    evaluate(&s, v);
    for (int k = 0; k < 2; k++) {
      w[k] = v[k] - s.edot[k];
      ENSURE_NEAR(s.f[k], s.p.K * s.e[k] + (s.p.B + s.tau * s.p.K) * s.edot[k], 1e-12 * (1 + fabs(25 * v[k])));
    }
    const double speed = sr_slip_norm(2, w);
    if (s.sticks) continue;
    slipped++;
    const double G = sr_stribeck(s.Fs, s.Fk, s.p.vs, s.p.delta, speed) + s.p.D * speed;
    for (int k = 0; k < 2; k++) ENSURE_NEAR(s.f[k], G * w[k] / speed, 1e-9);
  }
  ENSURE(slipped > 1000);
}

// From rest across the limit in small steps of v and back: no jump, also where the Stribeck curve falls faster than Z = 1.5.
TEST(kikuuwe_is_continuous_however_steep_the_stribeck_curve) {
  for (int way = -1; way <= 1; way += 2) {
    Slip s = slip_of("kikuuwe", 1);
    s.Fs = 5, s.p.vs = 0.05, s.e[0] = way * 5e-4;  // slope of the curve up to 77
    double last = 0, largest = 0;
    for (int i = 0; i <= 40000; i++) {
      const double v = 1e-5 * i;
      evaluate(&s, &v);
      if (i > 0) largest = fmax(largest, fabs(s.f[0] - last));
      last = s.f[0];
    }
    ENSURE(largest <= 80e-5);
    if (way > 0) ENSURE_NEAR(last, s.Fk, 1e-9);
  }
}

TEST(a_falling_limit_pulls_the_bristle_back_and_none_leaves_no_force) {
  const char* const names[] = {"dahl", "lugre", "kikuuwe", "iwan"};
  for (int l = 0; l < 4; l++) {
    Slip s = slip_of(names[l], 2);
    const double v[2] = {0.05, 0}, rest[2] = {0, 0};
    slide(&s, v, 0.05);
    const double stored = energy(&s);
    ENSURE(stored > 1e-6);
    s.Fs = s.Fk = 0.05;
    evaluate(&s, v);
    if (l != 1) ENSURE(size(&s) <= 0.05 * (1 + 1e-14));
    slide(&s, v, 0.05);
    ENSURE(energy(&s) < 0.02 * stored);
    s.Fs = s.Fk = 0;
    evaluate(&s, v);
    ENSURE(size(&s) == 0);
    slide(&s, rest, 0.02);
    ENSURE(size(&s) == 0 && energy(&s) < 1e-12 * stored);
  }
  Slip s = slip_of("kikuuwe", 1);  // the rate itself
  s.Fs = s.Fk = 0, s.e[0] = 3e-5;
  evaluate(&s, (double[]){0.01});
  ENSURE(s.f[0] == 0);
  ENSURE_NEAR(s.edot[0], -5000 * 3e-5 / 1.5, 1e-15);
}

// --------------------------------------------------------------------------------------------------------------- creep
// A mass under a load that pulsates below the limit, 0.67 + 0.29 sin(100 t) of F (simulation II of Kikuuwe and Yamamoto, one joint):
// classical RK4 with a constant tau. Returns the displacement between two equal phases of the load, n periods apart.
typedef struct Hanging {
  Slip slip;
  double mean, swing;  // of the load, over the limit
  double x, v;
} Hanging;
#define PERIOD 0.062831853071795865

static void hanging_rate(const Hanging* at, double t, double* xdot, double* vdot, double* edot) {
  Slip s = at->slip;
  evaluate(&s, &at->v);
  *xdot = at->v;
  *vdot = (s.Fk * (at->mean + at->swing * sin(100 * t)) - s.f[0]) / 0.05;
  memcpy(edot, s.edot, sizeof s.edot);
}

static double creep(Hanging* h, int periods, int steps) {
  static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0};
  const double T = PERIOD / steps, start = h->x;
  const int ne = states(&h->slip);
  for (int i = 0; i < periods * steps; i++) {
    double xdot = 0, vdot = 0, edot[MOST] = {0};
    Hanging end = *h;
    for (int r = 0; r < 4; r++) {
      Hanging stage = *h;
      stage.x += at[r] * T * xdot, stage.v += at[r] * T * vdot;
      for (int k = 0; k < ne; k++) stage.slip.e[k] += at[r] * T * edot[k];
      hanging_rate(&stage, T * (i % steps + at[r]), &xdot, &vdot, edot);
      end.x += weight[r] * T * xdot, end.v += weight[r] * T * vdot;
      for (int k = 0; k < ne; k++) end.slip.e[k] += weight[r] * T * edot[k];
    }
    *h = end;
  }
  return h->x - start;
}

static double creep_rate(const char* name, double mean, double swing) {
  const int periods = 30;
  Hanging h = {.slip = slip_of(name, 1), .mean = mean, .swing = swing};
  h.slip.Fs = h.slip.Fk;
  creep(&h, 30, 500);  // until the transient is over
  return creep(&h, periods, 500) / (periods * PERIOD);
}

TEST(kikuuwe_and_iwan_hold_where_dahl_and_lugre_creep) {
  ENSURE_SMALL(creep_rate("kikuuwe", 0.67, 0.29), 1e-14);
  ENSURE_SMALL(creep_rate("iwan", 0.4, 0.15), 1e-14);  // softer: at 0.96 of the limit inertia would take it over
  ENSURE_NEAR(creep_rate("lugre", 0.67, 0.29), 6.9e-3, 1e-4);  // the catalog's value for this joint
  ENSURE(creep_rate("dahl", 0.67, 0.29) > 6e-3);
  ENSURE(creep_rate("bengisu-akay", 0.67, 0.29) > 4e-4);
  ENSURE(creep_rate("threlfall", 0.67, 0.29) > 4e-4);
}

// Quasi-static creep, an independent computation: without inertia and damping dahl's f follows the load, and each reversal costs
//   dx = (F/K) integral of df/(F - f) going up, df/(F + f) going down:  (F/K) ln((1 - (a-b)^2)/(1 - (a+b)^2)) a period
// for f/F between a - b and a + b. A heavy mass would shake: it is light here.
// Slip so fast that the bristle forgets within g/|v| = 0.05 s, much less than tau = 1 s: backward Euler over t = tau - g/|v|,
//   e+ = (e + t v)/(1 + t |v|/g) = (0.02 + 0.95*2)/(1 + 0.95*20) = 0.096 m,  edot = (0.1 - 0.02)/tau
TEST(dahl_forgets_in_one_backward_euler_step_where_tau_is_long) {
  Slip s = slip_of("dahl", 1);
  s.p.K = 10;
  s.Fs = s.Fk = 1;
  s.tau = 1;
  s.e[0] = 0.02;
  evaluate(&s, (double[]){2});
  ENSURE_NEAR(s.edot[0], 0.08, 1e-16);
  ENSURE_NEAR(s.f[0], 0.96, 1e-15);
  s.e[0] = -0.05;
  evaluate(&s, (double[]){2});
  ENSURE_NEAR(s.edot[0], 0.15, 1e-16);
  ENSURE_NEAR(s.f[0], 10 * (-0.05 + 0.95 * 2) / 20, 1e-15);
}

TEST(dahl_without_a_limit_and_a_memory_does_not_move) {
  Slip s = slip_of("dahl", 1);
  s.Fs = s.Fk = s.tau = 0;
  s.e[0] = 0.02;
  s.edot[0] = s.edot[1] = 7;
  evaluate(&s, (double[]){2});
  ENSURE_NEAR(s.edot[0], 0, 0);
  ENSURE_NEAR(s.f[0], 0, 0);
  ENSURE_NEAR(s.edot[1], 7, 0);  // of one coordinate
}

TEST(dahl_creeps_at_its_quasi_static_rate) {
  Slip s = slip_of("dahl", 1);
  const double a = 0.67, b = 0.29, F = s.Fk, K = s.p.K;
  const double per_period = F / K * log((1 - (a - b) * (a - b)) / (1 - (a + b) * (a + b)));
  // Displacement steered so that f follows the load: dx = df/(K (1 - sgn(dx) f/F)), through the law's own rate.
  double x = 0, f = F * a;
  const int steps = 200000;
  s.e[0] = f / K;
  for (int i = 0; i < steps; i++) {
    const double t = 2 * 3.14159265358979323846 / steps, df = F * b * (sin(t * (i + 1)) - sin(t * i));
    const double unit = df > 0 ? 1e-3 : -1e-3;  // m/s; its bristle rate determines the distance
    evaluate(&s, &unit);
    const double time = df / K / s.edot[0];
    x += unit * time;
    s.e[0] += s.edot[0] * time;
  }
  ENSURE_NEAR(x, per_period, 1e-3 * per_period);
}

// ---------------------------------------------------------------------------------------------------------------- iwan
// Displacement-controlled, slowly, so that dampers do not matter: f at x after the turning points given.
static double iwan_force(Slip* s, double from, double to) {
  const double speed = 4e-5, v = to > from ? speed : -speed, h = 0.2 * s->tau;
  const int steps = (int)ceil(fabs(to - from) / speed / h);
  for (int i = 0; i < steps; i++) {
    evaluate(s, &v);
    for (int k = 0; k < states(s); k++) s->e[k] += fabs(to - from) / speed / steps * s->edot[k];
  }
  evaluate(s, (double[]){0});
  return s->f[0];
}

static Slip iwan(double spread, int elements) {
  Slip s = slip_of("iwan", 1);
  s.Fs = s.Fk, s.p.spread = spread, s.p.elements = elements, s.p.B = 0.01, s.tau = 1e-3;
  return s;
}

static double backbone(const Slip* s, double x) {
  const double F = s->Fk, K = s->p.K, first = F / K * (1 - s->p.spread), last = F / K * (1 + s->p.spread);
  if (x >= last) return F;
  return x <= first ? K * x : K * x - K * (x - first) * (x - first) / (2 * (last - first));
}

TEST(iwan_loads_along_its_parabola) {
  const double spreads[] = {1, 0.5};
  for (int i = 0; i < 2; i++) {
    for (int part = 1; part <= 10; part++) {
      Slip s = iwan(spreads[i], 64);
      const double x = 0.25 * part * s.Fk / s.p.K;
      // m elements at the midpoints of m intervals: the piecewise straight curve is off by at most F spread/(4 m^2).
      ENSURE_NEAR(iwan_force(&s, 0, x), backbone(&s, x), s.Fk * spreads[i] / (4 * 64 * 64) + 1e-6 * s.Fk);
    }
  }
}

TEST(iwan_unloads_by_masings_rules) {
  Slip s = iwan(1, 64);
  const double unit = s.Fk / s.p.K, slack = s.Fk / (64 * 64) + 2e-6 * s.Fk;
  const double top = iwan_force(&s, 0, 1.4 * unit);
  double at = 1.4 * unit;
  for (int i = 1; i <= 4; i++) {  // unloading is the backbone, twice as large, from the turning point
    const double next = (1.4 - 0.5 * i) * unit;
    ENSURE_NEAR(iwan_force(&s, at, next), top - 2 * backbone(&s, (1.4 * unit - next) / 2), slack);
    at = next;
  }
  // A small loop inside closes, and behind it the large branch goes on as if it had not been.
  Slip with = s, without = s;
  iwan_force(&with, at, -0.3 * unit);
  iwan_force(&with, -0.3 * unit, at);
  ENSURE_NEAR(iwan_force(&with, at, -1.2 * unit), iwan_force(&without, at, -1.2 * unit), 1e-6 * s.Fk);
}

TEST(iwan_without_spread_is_kikuuwe) {
  unsigned seed = 77;
  for (int i = 0; i < 500; i++) {
    Slip a = slip_of("kikuuwe", 2), b = slip_of("iwan", 2);
    double v[2];
    a.p.D = b.p.D = 0.1, b.p.spread = 0, b.p.elements = 5;
    scatter(&a, v, &seed);
    for (int k = 0; k < states(&b); k++) b.e[k] = a.e[k % 2];
    evaluate(&a, v);
    evaluate(&b, v);
    for (int k = 0; k < 2; k++) ENSURE_NEAR(a.f[k], b.f[k], 1e-12 * (1 + size(&a)));
    ENSURE_NEAR(a.dissipation, b.dissipation, 1e-12 * (1 + a.dissipation));
  }
}

// ------------------------------------------------------------------------------------------------ parameters and limits
static void ensure_refused(const char* law, srFrictionParameters p, double tau, double Fs, double Fk,
                           const char* reason) {
  char text[200] = "";
  ENSURE(sr_friction_refusal(sr_friction_find(law), &p, tau, Fs, Fk, text, sizeof text));
  ENSURE_TEXT(text, reason);
}

TEST(wrong_parameters_are_refused_with_a_sentence) {
  const srFrictionParameters good = sr_friction_defaults();
  srFrictionParameters p = good;
  p.B = 0;
  ensure_refused("kikuuwe", p, 0, 1, 1, "kikuuwe: its bristles need damping, so B and tau cannot both be 0");
  p = good, p.K = 0;
  ensure_refused("dahl", p, 0, 1, 1, "dahl needs K > 0, not 0");
  p = good, p.v1 = p.v0;
  ensure_refused("ambrosio", p, 0, 1, 1, "ambrosio: its ramp lies between v0 and v1, so v1 must be larger than v0");
  p = good, p.delta = 0.5;
  ensure_refused("lugre", p, 0, 1, 1, "lugre needs delta >= 1, not 0.5");
  p = good, p.elements = 2.5;
  ensure_refused("iwan", p, 1e-4, 1, 1, "iwan: elements must be a whole number from 1 to 64");
  ensure_refused("kikuuwe", good, 1e-4, 1, 2,
                 "kikuuwe needs a static limit that is not below the kinetic one: 2, not 1");
  ensure_refused("kikuuwe", good, 1e-4, 1, (double)NAN, "kikuuwe needs a kinetic limit >= 0, not nan");
  p = good, p.v0 = -1;  // what a law does not use is not checked
  char text[200];
  ENSURE(!sr_friction_refusal(sr_friction_find("kikuuwe"), &p, 1e-4, 1, 1, text, sizeof text));
}

TEST(nan_is_not_hidden) {
  for (int l = 0; l < sr_friction_count(); l++) {
    Slip s = slip_of(sr_friction_law(l)->name, 2);
    evaluate(&s, (double[]){0.1, (double)NAN});
    ENSURE(isnan(s.f[0]) || isnan(s.f[1]) || isnan(s.edot[0]) || isnan(s.edot[1]));
  }
}

TEST(rolling_and_spinning_limits_are_integrals_over_the_patch) {
  const int n = 100000;
  double uniform = 0, hertz = 0, N = 0;
  for (int i = 0; i < n; i++) {  // rings of a patch of radius 1
    const double r = (i + 0.5) / n, ring = 2 * r / n, p = sqrt(1 - r * r);
    uniform += r * ring, hertz += r * p * ring, N += p * ring;
  }
  ENSURE_NEAR(sr_spinning_limit(0.3, 20, 2e-3, SR_PRESSURE_UNIFORM), 0.3 * 20 * 2e-3 * uniform, 1e-9);
  ENSURE_NEAR(sr_spinning_limit(0.3, 20, 2e-3, SR_PRESSURE_HERTZ), 0.3 * 20 * 2e-3 * hertz / N, 1e-8);
  ENSURE_NEAR(sr_rolling_limit(1e-3, 20), 0.02, 1e-17);
  ENSURE(sr_rolling_limit(1e-3, -1) == 0 && sr_spinning_limit(0.3, -1, 1e-3, SR_PRESSURE_HERTZ) == 0);
}
