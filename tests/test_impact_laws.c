// Laws of impacts: Newton's, Poisson's and Stronge's, with friction after each phase or at every moment, together or one contact after the other. Expected values are closed forms over the normal impulse
// (planar contacts: u_N is piecewise linear in P, the work piecewise quadratic), reflections in a corner, and chains of balls computed here ball by ball.
#include <math.h>

#include "base/base.h"
#include "loading.h"

#define PI 3.14159265358979323846
#define G 9.81

// ---- one planar contact over its normal impulse P -------------------------------------------------------------------------

typedef struct Planar {
  double NN, NT, TT;  // Delassus matrix
  double u, s;        // approach, slip
  double mu, e;
} Planar;

typedef struct State {
  double u, s, T, work;  // at P: velocities, tangential impulse, work of the normal impulse
} State;

// The tangential impulse of a unit normal one after the slip has stopped: sticks, or slips the other way.
static double stopped_ratio(const Planar* c) {
  const double stick = -c->NT / c->TT;
  return fabs(stick) <= c->mu ? stick : copysign(c->mu, stick);
}

static State state_at(const Planar* c, double P) {
  const double sense = c->s == 0 ? 0 : copysign(1, c->s), first = -c->mu * sense;
  const double slows = (c->NT + c->TT * first) * sense;  // rate of |s|
  double stop = c->s == 0 ? 0 : slows < 0 ? -fabs(c->s) / slows : (double)INFINITY;
  if (stop > P) stop = P;
  const double rate[2] = {c->NN + c->NT * first, c->NN + c->NT * stopped_ratio(c)}, rest = P - stop;
  State x = {.T = first * stop + stopped_ratio(c) * rest};
  const double middle = c->u + rate[0] * stop;
  x.u = middle + rate[1] * rest;
  x.work = stop * (c->u + middle) / 2 + rest * (middle + x.u) / 2;
  x.s = c->s + c->NT * P + c->TT * x.T;
  return x;
}

// The impulse at which a function of the state, negative before and positive after, is 0.
typedef double Function(const Planar* c, const State* x, double P, double known);

static double find(const Planar* c, double low, Function* f, double known) {
  double high = low + 1;
  for (State x = state_at(c, high); f(c, &x, high, known) < 0; x = state_at(c, high)) high *= 2;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    const State x = state_at(c, middle);
    *(f(c, &x, middle, known) < 0 ? &low : &high) = middle;
  }
  return 0.5 * (low + high);
}

static double velocity(const Planar* c, const State* x, double P, double known) {
  (void)c, (void)P;
  return x->u - known;
}

static double work(const Planar* c, const State* x, double P, double known) {
  (void)c, (void)P;
  return x->work - known;
}

// Normal impulse of the whole impact.
static double impulse_of(const Planar* c, srImpactLaw law) {
  const double P_c = find(c, 0, velocity, 0);
  if (c->e == 0) return P_c;
  if (law == SR_IMPACT_POISSON) return (1 + c->e) * P_c;
  if (law == SR_IMPACT_NEWTON) return find(c, P_c, velocity, -c->e * c->u);
  return find(c, P_c, work, (1 - c->e * c->e) * state_at(c, P_c).work);
}

static double random_number(uint64_t* seed, double low, double high) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(*seed >> 11) / 9007199254740992.0;
}

// Slip that goes on, stops and sticks, reverses; jams (u_N falls first) in the compression: all four by each law.
TEST(planar_shocks_are_those_of_the_closed_form) {
  uint64_t seed = 3;
  int goes_on = 0, sticks = 0, reverses = 0, jams = 0;
  for (int i = 0; i < 2000; ++i) {
    if (!runner_takes(i)) continue;
    Planar c = {.NN = random_number(&seed, 0.5, 3), .TT = random_number(&seed, 0.5, 3)};
    c.NT = random_number(&seed, -0.98, 0.98) * sqrt(c.NN * c.TT);
    c.u = random_number(&seed, -2, -0.1);
    c.s = i % 10 == 0 ? 0 : random_number(&seed, -1, 1);
    c.mu = random_number(&seed, 0, 1.5);
    c.e = i % 7 == 0 ? 0 : random_number(&seed, 0, 1);
    const double W[9] = {c.NN, c.NT, 0, c.NT, c.TT, 0, 0, 0, c.TT}, u[3] = {c.u, c.s, 0};
    for (int law = 0; law < 3; ++law) {
      srShock k;
      const double P = impulse_of(&c, (srImpactLaw)law);
      const State x = state_at(&c, P);
      ENSURE(sr_contact_shock(W, u, c.mu, c.e, (srImpactLaw)law, &k));
      ENSURE_NEAR(k.p[0], P, 1e-11 * P);
      ENSURE_NEAR(k.p[1], x.T, 1e-11 * P);
      ENSURE_NEAR(k.u[0], x.u, 1e-11);
      ENSURE_NEAR(k.u[1], x.s, 1e-10);
      ENSURE_NEAR(k.normal, x.work, 1e-11 * (1 + fabs(x.work)));
      ENSURE(law != SR_IMPACT_STRONGE || (k.energy <= 1e-13 && k.normal <= 1e-13));
      goes_on += c.s * x.s > 1e-9;
      sticks += fabs(x.s) < 1e-12;
      reverses += c.s * x.s < -1e-9;
      jams += state_at(&c, 1e-6).u < c.u;
    }
  }
  if (runner_sanitized()) return;
  ENSURE(goes_on > 500 && sticks > 500 && reverses > 100 && jams > 50);
}

// Slip whose rate is nearly 0 beside a fast approach: no steps are counted.
TEST(a_planar_shock_with_little_slip_that_lasts_has_an_end) {
  const Planar c = {.NN = 2, .NT = 0.5, .TT = 1, .u = -1, .s = 1e-7, .mu = 0.5, .e = 0.5};
  const double W[9] = {2, 0.5, 0, 0.5, 1, 0, 0, 0, 1}, u[3] = {-1, 1e-7, 0};
  srShock k;
  ENSURE(sr_contact_shock(W, u, 0.5, 0.5, SR_IMPACT_STRONGE, &k));
  ENSURE_NEAR(k.p[0], impulse_of(&c, SR_IMPACT_STRONGE), 1e-12);  // 1.5/1.75
  ENSURE_NEAR(k.u[1], 1e-7, 1e-15);
}

TEST(a_shock_without_friction_is_the_impact_of_the_normal) {
  const double W[9] = {2, 0.5, 0.1, 0.5, 1, 0, 0.1, 0, 1}, u[3] = {-1.5, 0.4, -0.2};
  for (int law = 0; law < 3; ++law) {
    srShock k;
    ENSURE(sr_contact_shock(W, u, 0, 0.6, (srImpactLaw)law, &k));
    ENSURE_NEAR(k.p[0], 1.6 * 1.5 / 2, 1e-15);
    ENSURE_NEAR(k.u[0], 0.9, 1e-15);
    ENSURE_NEAR(k.u[1], 0.4 + 0.5 * 1.2, 1e-15);
    ENSURE_NEAR(k.normal, -0.5 * (1 - 0.36) * 1.5 * 1.5 / 2, 1e-15);
    ENSURE_NEAR(k.energy, k.normal, 1e-15);
    ENSURE_NEAR(k.compression, 0.75, 1e-15);
  }
}

// ---- one contact in space: Keller's equations by the classical Runge-Kutta method ------------------------------------------------

enum { UN, T1, T2, PN, P1, P2, WORK, SPACE };  // velocity; impulse; work of the normal impulse

typedef struct Space {
  double W[9], mu, e;
  bool sticks;
  double stick[2];  // tangential impulse of a unit normal one
} Space;

// By tau, dP = |s| dtau, while it slips; by P when it sticks.
static void space_rate(const Space* c, const double* y, double* f) {
  const double size = c->sticks ? 1 : hypot(y[T1], y[T2]);
  f[PN] = size;
  f[P1] = c->sticks ? c->stick[0] : -c->mu * y[T1];
  f[P2] = c->sticks ? c->stick[1] : -c->mu * y[T2];
  for (int i = 0; i < 3; ++i) f[i] = c->W[3 * i] * f[PN] + c->W[3 * i + 1] * f[P1] + c->W[3 * i + 2] * f[P2];
  f[WORK] = y[UN] * size;
}

static void space_step(const Space* c, const double* y, double h, double* out) {
  static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  double f[SPACE] = {0}, x[SPACE], sum[SPACE] = {0};
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < SPACE; ++i) x[i] = y[i] + at[k] * h * f[i];
    space_rate(c, x, f);
    for (int i = 0; i < SPACE; ++i) sum[i] += weight[k] * f[i];
  }
  for (int i = 0; i < SPACE; ++i) out[i] = y[i] + h / 6 * sum[i];
}

// What is 0 at the end of the compression (P_c < 0), and at that of the impact.
static double space_end(const Space* c, const double* y, srImpactLaw law, double u, double P_c, double work_c) {
  if (P_c < 0) return y[UN];
  if (law == SR_IMPACT_NEWTON) return y[UN] + c->e * u;
  if (law == SR_IMPACT_POISSON) return y[PN] - (1 + c->e) * P_c;
  return y[WORK] - (1 - c->e * c->e) * work_c;
}

// Impulse of the whole impact into p; false: it neither slips to the end nor sticks.
static bool space_impact(Space* c, const double u[3], srImpactLaw law, double p[3], double* normal) {
  double y[SPACE] = {u[0], u[1], u[2]}, next[SPACE], P_c = -1, work_c = 0;
  const double *W = c->W, det = W[4] * W[8] - W[5] * W[7], start = hypot(u[1], u[2]);
  const double a = -(W[8] * W[3] - W[5] * W[6]) / det, b = -(W[4] * W[6] - W[7] * W[3]) / det;
  c->sticks = false;
  for (int i = 0; i < 100000; ++i) {
    const double h = c->sticks ? 1e-3 : 0.01 / (c->mu * (W[4] + W[8]) + hypot(W[3], W[6]));
    space_step(c, y, h, next);
    if (space_end(c, next, law, u[0], P_c, work_c) >= 0) {
      double low = 0, high = h;
      for (int k = 0; k < 60; ++k) {
        const double middle = 0.5 * (low + high);
        space_step(c, y, middle, next);
        *(space_end(c, next, law, u[0], P_c, work_c) < 0 ? &low : &high) = middle;
      }
      if (P_c >= 0) {
        for (int k = 0; k < 3; ++k) p[k] = next[PN + k];
        *normal = next[WORK];
        return true;
      }
      P_c = next[PN];
      work_c = next[WORK];
      next[UN] = 0;
    }
    memcpy(y, next, sizeof y);
    if (c->sticks || hypot(y[T1], y[T2]) > 1e-11 * start) continue;
    if (hypot(a, b) > c->mu) return false;
    c->sticks = true;
    c->stick[0] = a;
    c->stick[1] = b;
  }
  return false;
}

TEST(shocks_in_space_are_those_of_kellers_equations) {
  uint64_t seed = 21;
  int slipped = 0, stuck = 0;
  for (int i = 0; i < 12; ++i) {
    if (!runner_takes(i)) continue;
    Space c = {.mu = random_number(&seed, 0.2, 1.2), .e = random_number(&seed, 0.2, 1)};
    double H[3][5], u[3];
    for (int k = 0; k < 15; ++k) H[k / 5][k % 5] = random_number(&seed, -1, 1);
    for (int k = 0; k < 9; ++k) {
      c.W[k] = k % 4 == 0 ? 0.2 : 0;
      for (int j = 0; j < 5; ++j) c.W[k] += H[k / 3][j] * H[k % 3][j];
    }
    for (int k = 0; k < 3; ++k) u[k] = random_number(&seed, k == 0 ? -2 : -1, k == 0 ? -0.5 : 1);
    for (int law = 0; law < 3; ++law) {
      double p[3], normal;
      if (!space_impact(&c, u, (srImpactLaw)law, p, &normal)) continue;
      slipped += !c.sticks;
      stuck += c.sticks;
      srShock k;
      ENSURE(sr_contact_shock(c.W, u, c.mu, c.e, (srImpactLaw)law, &k));
      for (int j = 0; j < 3; ++j) ENSURE_NEAR(k.p[j], p[j], 1e-8);
      ENSURE_NEAR(k.normal, normal, 1e-8);
    }
  }
  ENSURE(runner_sanitized() || (slipped >= 6 && stuck >= 6));
}

// ---- sequences ------------------------------------------------------------------------------------------------------------

enum { BALLS = 5 };

// Balls in a row along x that touch; order: of the contacts in the problem.
static srContactProblem* row_of_balls(int n, const double* mass, const double* e, const double* v, bool backwards) {
  srContactProblem* p = sr_contact_problem_create(n, 0, n - 1, false);
  ENSURE(p != NULL);
  p->compliance = 0.1;
  for (int i = 0; i < n; ++i) {
    const double I = 1 / (0.4 * mass[i] * 0.01);
    p->body[i] = (srContactBody){.inverse_mass = 1 / mass[i], .inverse_inertia = {I, I, I, 0, 0, 0}};
    p->body[i].velocity[3] = v[i];
  }
  for (int i = 0; i < n - 1; ++i) {
    const int at = backwards ? n - 2 - i : i;
    p->point[at] = (srContactPoint){.body = {i, i + 1}, .normal = {1, 0, 0}, .arm = {{0.1, 0, 0}, {-0.1, 0, 0}}};
    p->cone[at] = (srContactCone){.rows = 3, .restitution = e[i]};
    p->cone[at].shift = p->cone[at].lower = p->cone[at].compliance[0] = 0.1;  // of steps: not for impacts
  }
  return p;
}

static srContactSolver* solver_for(const srContactProblem* p) {
  const srContactSize size = sr_contact_size(p);
  srContactSolver* s = sr_contact_solver_create(&size);
  ENSURE(s != NULL);
  return s;
}

static void destroy(srContactProblem* p, srContactSolver* s) {
  sr_contact_solver_destroy(s);
  sr_contact_problem_destroy(p);
}

static srContactOptions options_to(double tolerance) {
  srContactOptions o = sr_contact_options();
  o.tolerance = tolerance;
  return o;
}

// Velocities along x after a sequence by each law, which are the same without friction.
static void sequence_of_balls(int n, const double* mass, const double* e, const double* v, int law, bool backwards,
                              double* out, srImpactResult* r) {
  srContactProblem* p = row_of_balls(n, mass, e, v, backwards);
  srContactSolver* s = solver_for(p);
  const srContactOptions o = options_to(1e-13);
  double x[3 * BALLS], all[6 * BALLS];
  ENSURE_EQUAL(sr_contact_sequence(s, p, (srImpactLaw)law, law == 2 ? SR_IMPACT_SHOCK : SR_IMPACT_ALGEBRAIC, &o, x, r),
               SR_OK);
  ENSURE(r->ended && r->solve.solved && !r->gained && r->alpha == 1);
  sr_contact_body_velocity(p, x, all);
  for (int i = 0; i < n; ++i) out[i] = all[6 * i + 3];
  destroy(p, s);
}

TEST(as_many_balls_leave_a_cradle_as_arrive) {
  static const double mass[BALLS] = {0.7, 0.7, 0.7, 0.7, 0.7}, e[BALLS] = {1, 1, 1, 1, 1};
  for (int arrive = 1; arrive < BALLS; ++arrive) {
    for (int law = 0; law < 6; ++law) {
      double v[BALLS] = {0}, out[BALLS];
      srImpactResult r;
      for (int i = 0; i < arrive; ++i) v[i] = 2;
      sequence_of_balls(BALLS, mass, e, v, law % 3, law >= 3, out, &r);
      for (int i = 0; i < BALLS; ++i) ENSURE_NEAR(out[i], i < BALLS - arrive ? 0 : 2, 1e-14);
      ENSURE_SMALL(r.energy, 1e-14);
      ENSURE_EQUAL(r.collisions, arrive * (BALLS - arrive));  // every ball that arrives passes every one at rest
    }
  }
}

// Balls in a row, pair by pair, the fastest first, with the formulas of two balls. Returns how many collisions there were.
static long strike_pairs(int n, const double* mass, const double* e, double* v, double least, double* fastest,
                         double* lost) {
  *lost = 0;
  for (int k = 0; k < n - 1; ++k) fastest[k] = 0;
  for (long collisions = 0;; ++collisions) {
    int at = -1;
    double most = least;
    for (int k = 0; k < n - 1; ++k) {
      if (v[k] - v[k + 1] > most) most = v[k] - v[k + 1], at = k;
    }
    if (at < 0) return collisions;
    const double m = mass[at] * mass[at + 1] / (mass[at] + mass[at + 1]), P = (1 + e[at]) * m * most;
    v[at] -= P / mass[at];
    v[at + 1] += P / mass[at + 1];
    *lost += 0.5 * (1 - e[at] * e[at]) * m * most * most;
    fastest[at] = fmax(fastest[at], most);
  }
}

// Other masses and coefficients: pair by pair, the fastest first, with the formulas of two balls.
TEST(a_chain_of_different_balls_is_struck_pair_by_pair_the_fastest_first) {
  uint64_t seed = 9;
  for (int i = 0; i < 50; ++i) {
    double mass[BALLS], e[BALLS], v[BALLS], expected[BALLS], out[BALLS], lost = 0, fastest[BALLS];
    for (int k = 0; k < BALLS; ++k) {
      mass[k] = random_number(&seed, 0.2, 3);
      e[k] = i % 5 == 0 ? 0 : random_number(&seed, 0, 1);
      expected[k] = v[k] = random_number(&seed, -1, 1);
    }
    const long collisions = strike_pairs(BALLS, mass, e, expected, 1e-13, fastest, &lost);
    srImpactResult r;
    srContactProblem* p = row_of_balls(BALLS, mass, e, v, false);
    srContactSolver* s = solver_for(p);
    const srContactOptions o = options_to(1e-13);
    double x[3 * BALLS], all[6 * BALLS];
    ENSURE_EQUAL(sr_contact_sequence(s, p, SR_IMPACT_POISSON, SR_IMPACT_ALGEBRAIC, &o, x, &r), SR_OK);
    sr_contact_body_velocity(p, x, all);
    for (int k = 0; k < BALLS; ++k) out[k] = all[6 * k + 3];
    for (int k = 0; k < BALLS; ++k) ENSURE_NEAR(out[k], expected[k], 1e-12);
    for (int k = 0; k < BALLS - 1; ++k) ENSURE_NEAR(r.approach[k], fastest[k], 1e-12);
    ENSURE_NEAR(r.energy, -lost, 1e-12);
    ENSURE_NEAR(r.normal, -lost, 1e-12);
    ENSURE(r.collisions >= collisions - 2 && r.collisions <= collisions + 2);  // the last ones are rounding
    destroy(p, s);
  }
}

// A particle in a corner of two walls with the angle pi/n: n reflections. They mirror the velocity at the bisector's normal (n odd), or turn it round (n even). Together, Newton's law always turns it round.
TEST(a_particle_leaves_an_elastic_corner_as_its_reflections_say) {
  for (int n = 2; n <= 9; ++n) {
    const double half = PI / (2 * n), c = cos(half), b = sin(half), v[2] = {0.1 * b, -1};
    srContactProblem* p = sr_contact_problem_create(0, 0, 2, true);
    ENSURE(p != NULL);
    const double normal[2][2] = {{c, b}, {-c, b}};
    for (int i = 0; i < 2; ++i) {
      p->cone[i] = (srContactCone){.rows = 1, .restitution = 1};
      p->q[i] = normal[i][0] * v[0] + normal[i][1] * v[1];
      ENSURE(p->q[i] < 0);
      for (int j = 0; j < 2; ++j) p->W[2 * i + j] = normal[i][0] * normal[j][0] + normal[i][1] * normal[j][1];
    }
    srContactSolver* s = solver_for(p);
    const srContactOptions o = options_to(1e-12);
    double x[2] = {0};
    srImpactResult r;
    ENSURE_EQUAL(sr_contact_sequence(s, p, SR_IMPACT_STRONGE, SR_IMPACT_SHOCK, &o, x, &r), SR_OK);
    ENSURE_EQUAL(r.collisions, n);
    const double sign = n % 2 == 0 ? -1 : 1;
    ENSURE_NEAR(v[0] + normal[0][0] * x[0] + normal[1][0] * x[1], sign * v[0], 1e-12);
    ENSURE_NEAR(v[1] + normal[0][1] * x[0] + normal[1][1] * x[1], -v[1], 1e-12);
    ENSURE_SMALL(r.energy, 1e-13);
    ENSURE_EQUAL(sr_contact_impact(s, p, SR_IMPACT_NEWTON, &o, x, &r), SR_OK);
    ENSURE_NEAR(v[0] + normal[0][0] * x[0] + normal[1][0] * x[1], -v[0], 1e-11);
    destroy(p, s);
  }
}

// Plastic collisions in a narrow groove take cos(2 half) of the speed each: 2000 of them leave more than the tolerance.
TEST(a_sequence_without_end_is_given_up) {
  for (int ends = 0; ends < 2; ++ends) {
    srContactProblem* p = sr_contact_problem_create(0, 0, 2, true);
    ENSURE(p != NULL);
    const double c = ends ? 0.9 : 0.9999, W[4] = {1, -c, -c, 1};
    memcpy(p->W, W, sizeof W);
    for (int i = 0; i < 2; ++i) p->cone[i].rows = 1, p->q[i] = -1;
    srContactSolver* s = solver_for(p);
    const srContactOptions o = options_to(1e-9);
    double x[2];
    srImpactResult r;
    ENSURE_EQUAL(sr_contact_sequence(s, p, SR_IMPACT_NEWTON, SR_IMPACT_ALGEBRAIC, &o, x, &r), SR_OK);
    ENSURE(r.ended == (ends == 1) && r.solve.solved == (ends == 1));
    // Speeds 1, 1 + c, (1 + c) c, (1 + c) c^2, ...: with 0.9 the 205th is below the tolerance.
    ENSURE_EQUAL(r.collisions, ends ? 204 : 2000);
    ENSURE_NEAR(r.solve.error.residual, (1 + c) * pow(c, (double)r.collisions - 1), 1e-11);
    ENSURE_NEAR(r.approach[1], 1 + c, 1e-15);
    destroy(p, s);
  }
}

// Random problems in space with friction: no law gains energy, Stronge's never would; what the impulses do is the energy that is reported; nothing approaches afterwards.
TEST(no_sequence_gains_energy) {
  enum { CONTACTS = 3, ROWS = 9, DOF = 10 };
  uint64_t seed = 77;
  int gained[3][2] = {{0}};
  long collisions = 0;
  for (int i = 0; i < 50; ++i) {
    if (!runner_takes(i)) continue;
    double H[ROWS][DOF], v[DOF];
    srContactProblem* p = sr_contact_problem_create(0, 0, CONTACTS, true);
    ENSURE(p != NULL);
    const double scale = i % 2 == 0 ? 1 : 1e-4;  // whatever the unit of the velocities is
    for (int k = 0; k < DOF; ++k) v[k] = scale * random_number(&seed, -1, 1);
    for (int a = 0; a < ROWS; ++a) {
      p->q[a] = 0;
      for (int k = 0; k < DOF; ++k) H[a][k] = random_number(&seed, -1, 1), p->q[a] += H[a][k] * v[k];
    }
    for (int a = 0; a < ROWS * ROWS; ++a) {
      p->W[a] = 0;
      for (int k = 0; k < DOF; ++k) p->W[a] += H[a / ROWS][k] * H[a % ROWS][k];
    }
    for (int k = 0; k < CONTACTS; ++k)
      p->cone[k] = (srContactCone){.rows = 3, .mu = random_number(&seed, 0, 1.2), .restitution = 0.9};
    srContactSolver* s = solver_for(p);
    const srContactOptions o = options_to(1e-10 * scale);
    for (int how = 0; how < 5; ++how) {
      double x[ROWS], w[DOF], T = 0, T0 = 0;
      srImpactResult r;
      const srImpactLaw law = (srImpactLaw)(how % 3);
      const srImpactFriction friction = how < 3 ? SR_IMPACT_SHOCK : SR_IMPACT_ALGEBRAIC;
      ENSURE_EQUAL(sr_contact_sequence(s, p, law, friction, &o, x, &r), SR_OK);
      ENSURE(r.ended && r.solve.solved);
      collisions += r.collisions;
      memcpy(w, v, sizeof w);
      for (int a = 0; a < ROWS; ++a) {
        for (int k = 0; k < DOF; ++k) w[k] += H[a][k] * x[a];
      }
      for (int k = 0; k < DOF; ++k) T += 0.5 * w[k] * w[k], T0 += 0.5 * v[k] * v[k];
      ENSURE_NEAR(r.energy, T - T0, 1e-12 * T0);
      ENSURE(r.energy <= 1e-11 * T0);                         // 1e-12 of the energy that the impulses move
      ENSURE(r.normal >= r.energy - 1e-12 * T0 || how >= 3);  // friction at every moment takes energy
      for (int k = 0; k < CONTACTS; ++k) {
        double u = p->q[3 * k];
        for (int a = 0; a < ROWS; ++a) u += p->W[3 * k * ROWS + a] * x[a];
        ENSURE(u >= -1e-10 * scale);
        ENSURE(hypot(x[3 * k + 1], x[3 * k + 2]) <= p->cone[k].mu * x[3 * k] * (1 + 1e-9));
      }
      ENSURE(r.gained == (r.alpha < 1) && r.alpha >= 0);
      gained[law][friction] += r.gained;
    }
    destroy(p, s);
  }
  ENSURE(runner_sanitized() || collisions > 200);
  ENSURE_EQUAL(gained[SR_IMPACT_STRONGE][SR_IMPACT_SHOCK], 0);
  ENSURE(runner_sanitized() || gained[SR_IMPACT_NEWTON][SR_IMPACT_ALGEBRAIC] >= 2);
}

// One contact in space: a sequence of one collision is the impact of all contacts, which another solver finds.
TEST(one_contact_is_struck_alike_in_sequence_and_together) {
  uint64_t seed = 15;
  int reduced = 0;
  for (int i = 0; i < 100; ++i) {
    srContactProblem* p = sr_contact_problem_create(0, 0, 1, true);
    ENSURE(p != NULL);
    double H[3][4];
    for (int k = 0; k < 12; ++k) H[k / 4][k % 4] = random_number(&seed, -1, 1);
    for (int k = 0; k < 9; ++k) {
      p->W[k] = 0;
      for (int j = 0; j < 4; ++j) p->W[k] += H[k / 3][j] * H[k % 3][j];
    }
    for (int k = 0; k < 3; ++k) p->q[k] = random_number(&seed, -1, k == 0 ? 0 : 1);
    p->cone[0] = (srContactCone){.rows = 3, .mu = random_number(&seed, 0.1, 0.8), .restitution = 0.8};
    srContactSolver* s = solver_for(p);
    const srContactOptions o = options_to(1e-12);
    for (int law = 0; law < 2; ++law) {
      double x[3] = {0}, y[3];
      srImpactResult one, all;
      ENSURE_EQUAL(sr_contact_impact(s, p, (srImpactLaw)law, &o, x, &all), SR_OK);
      ENSURE_EQUAL(sr_contact_sequence(s, p, (srImpactLaw)law, SR_IMPACT_ALGEBRAIC, &o, y, &one), SR_OK);
      ENSURE(one.solve.solved && one.gained == all.gained);
      ENSURE_NEAR(one.alpha, all.alpha, 1e-8);
      reduced += one.gained;
      for (int k = 0; k < 3; ++k) ENSURE_NEAR(y[k], x[k], 1e-8 * (1 + fabs(x[0])));
      ENSURE_NEAR(one.energy, all.energy, 1e-8);
      ENSURE_NEAR(one.normal, all.normal, 1e-8 * (1 + fabs(all.normal)));
      ENSURE(one.collisions == 1 && all.collisions == 1 && all.ended);
      ENSURE_NEAR(one.approach[0], -p->q[0], 0);
    }
    destroy(p, s);
  }
  ENSURE(reduced >= 2);
}

// A bar in a revolute joint strikes a stop: the equations of the joint are in every collision.
TEST(a_sequence_with_joints_loses_the_energy_of_the_delassus_scalar) {
  const double m = 2, l = 0.6, I = m * l * l / 12, e = 0.4, omega = -3, d = 0.5;
  static const int about[5] = {3, 4, 5, 0, 2};
  for (int law = 0; law < 3; ++law) {
    srContactProblem* p = sr_contact_problem_create(1, 5, 1, false);
    ENSURE(p != NULL);
    p->body[0] = (srContactBody){.inverse_mass = 1 / m,
                                 .inverse_inertia = {1 / I, 1 / I, 1 / I},
                                 .velocity = {0, omega, 0, 0, 0, -omega * l / 2}};
    for (int k = 0; k < 5; ++k) {
      p->equation[k] = (srContactEquation){.body = {SR_CONTACT_FIXED, 0}};
      p->equation[k].row[1][about[k]] = 1;
    }
    p->equation[1].row[1][2] = -l / 2;
    p->equation[2].row[1][1] = l / 2;
    p->point[0] =
        (srContactPoint){.body = {SR_CONTACT_FIXED, 0}, .normal = {0, 0, -1}, .arm = {{0}, {d - l / 2, 0, 0}}};
    p->cone[0].restitution = e;
    srContactSolver* s = solver_for(p);
    const srContactOptions o = options_to(1e-12);
    double x[8], v[6];
    srImpactResult r;
    ENSURE_EQUAL(sr_contact_sequence(s, p, (srImpactLaw)law, SR_IMPACT_SHOCK, &o, x, &r), SR_OK);
    ENSURE(r.solve.solved);
    sr_contact_body_velocity(p, x, v);
    const double W = d * d / (I + m * l * l / 4), u = omega * d;
    ENSURE_NEAR(v[1], -e * omega, 1e-12);
    ENSURE_NEAR(r.energy, -(1 - e * e) * u * u / (2 * W), 1e-12);
    ENSURE_NEAR(x[5], -(1 + e) * u / W, 1e-12);
    ENSURE_SMALL(r.solve.error.bilateral, 1e-13);
    destroy(p, s);
  }
  srContactProblem* p = sr_contact_problem_create(0, 0, 1, true);
  p->W[0] = 1, p->q[0] = -1, p->cone[0].rows = 1;
  srContactSolver* s = solver_for(p);
  const srContactOptions o = options_to(1e-12);
  double x[1];
  srImpactResult r;
  ENSURE_EQUAL(sr_contact_sequence(s, p, SR_IMPACT_STRONGE, SR_IMPACT_ALGEBRAIC, &o, x, &r), SR_INPUT);
  destroy(p, s);
}

// ---- runs -----------------------------------------------------------------------------------------------------------------

typedef struct How {
  srImpactRule rule;
  srImpactFrictionRule friction;
  srImpactOrder order;
} How;

static srRunOptions options_by(const Loaded* x, How how, double t_end) {
  srRunOptions o = sr_run_options(x->m);
  o.contact = SR_CONTACT_EVENT;
  o.method = "mdop5";
  o.impact = how.rule;
  o.impact_friction = how.friction;
  o.impact_order = how.order;
  o.t_end = t_end;
  o.rtol = 1e-10;
  o.atol = 1e-12;
  return o;
}

static void run(Loaded* x, How how, double t_end) {
  const srRunOptions o = options_by(x, how, t_end);
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_run(x->m, x->d, &o, messages, &x->result);
  loading_print(messages);
  if (status != SR_OK) printf("  %s\n", x->result.error_message);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(status, SR_OK);
  ENSURE_EQUAL(x->result.unsolved, 0);
}

static Loaded open_formulated(const char* file, srFormulation formulation) {
  char path[512];
  snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, file);
  srSpec* spec = NULL;
  Loaded x = {0}, y = {0};
  ENSURE_EQUAL(sr_load(path, NULL, NULL, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, NULL, &x.m), SR_OK);
  x.d = sr_data_create(x.m);
  ENSURE_EQUAL(sr_formulate(spec, x.m, x.d, formulation, NULL, &y.m, &y.d), SR_OK);
  srs_destroy(spec);
  close_model(&x);
  return y;
}

// Kane and Levinson's pendulum by hand: M of the absolute angles, the rows of its end.
static const double pendulum_angle[2] = {20 * PI / 180, 30 * PI / 180}, pendulum_speed[2] = {0.5, -1.5};

static void pendulum_mass(double M[3]) {
  M[0] = 1.25 + 1.0 / 12;
  M[1] = 0.5 * cos(pendulum_angle[0] - pendulum_angle[1]);
  M[2] = 0.25 + 1.0 / 12;
}

static void pendulum_solve(const double f[2], double out[2]) {
  double M[3];
  pendulum_mass(M);
  const double det = M[0] * M[2] - M[1] * M[1];
  out[0] = (M[2] * f[0] - M[1] * f[1]) / det;
  out[1] = (M[0] * f[1] - M[1] * f[0]) / det;
}

static double pendulum_energy(const double w[2]) {
  double M[3];
  pendulum_mass(M);
  return 0.5 * (M[0] * w[0] * w[0] + 2 * M[1] * w[0] * w[1] + M[2] * w[1] * w[1]);
}

static Planar pendulum_contact(double n[2], double t[2]) {
  double Kn[2], Kt[2];
  for (int i = 0; i < 2; ++i) n[i] = sin(pendulum_angle[i]), t[i] = cos(pendulum_angle[i]);
  pendulum_solve(n, Kn);
  pendulum_solve(t, Kt);
  return (Planar){.NN = n[0] * Kn[0] + n[1] * Kn[1],
                  .NT = t[0] * Kn[0] + t[1] * Kn[1],
                  .TT = t[0] * Kt[0] + t[1] * Kt[1],
                  .u = n[0] * pendulum_speed[0] + n[1] * pendulum_speed[1],
                  .s = t[0] * pendulum_speed[0] + t[1] * pendulum_speed[1],
                  .mu = 0.5,
                  .e = 0.7};
}

// In relative and in absolute coordinates, where the joints are equations.
TEST(the_end_of_a_double_pendulum_leaves_the_floor_as_the_shock_says) {
  static const double ratio[3] = {0.562, 0.035, 0.070};  // T+/T- computed elsewhere
  double n[2], t[2];
  const Planar c = pendulum_contact(n, t);
  for (int k = 0; k < 6; ++k) {
    const int law = k % 3;
    Loaded x = k < 3 ? open_model("nonsmooth/double-pendulum-floor", "")
                     : open_formulated("nonsmooth/double-pendulum-floor", SR_FORMULATION_ABSOLUTE);
    const srImpactRule rule = (srImpactRule)(SR_IMPACT_RULE_NEWTON + law);
    run(&x, (How){.rule = rule, .friction = SR_IMPACT_FRICTION_SHOCK}, 1e-10);
    const double P = impulse_of(&c, (srImpactLaw)law), T = state_at(&c, P).T;
    const double f[2] = {n[0] * P + t[0] * T, n[1] * P + t[1] * T};
    double w[2];
    pendulum_solve(f, w);
    for (int i = 0; i < 2; ++i) w[i] += pendulum_speed[i];
    ENSURE_NEAR(x.d->jv[0], w[0], 1e-8);  // 1e-10 s later
    ENSURE_NEAR(x.d->jv[0] + x.d->jv[1], w[1], 1e-8);
    ENSURE_NEAR(pendulum_energy(w) / pendulum_energy(pendulum_speed), ratio[law], 6e-4);
    ENSURE_EQUAL(x.result.impacts, 1);
    const srImpactCount* count = &x.result.impact;
    ENSURE_EQUAL(law == 0 ? count->newton : law == 1 ? count->poisson : count->stronge, 1);
    ENSURE_EQUAL(count->newton + count->poisson + count->stronge, 1);
    ENSURE_EQUAL(count->collisions, 1);
    ENSURE_EQUAL(count->reduced, 0);
    close_model(&x);
  }
}

// Newton's law with friction after the impact would have 1.69 of the energy: reduced until none is gained, and said so; one contact after the other or all together is the same here.
TEST(an_impact_that_would_gain_energy_is_reported_and_reduced) {
  char why[120];
  const double before = pendulum_energy(pendulum_speed);
  for (int order = SR_IMPACT_ORDER_AUTO; order <= SR_IMPACT_ORDER_SEQUENTIAL; ++order) {
    Loaded x = open_model("nonsmooth/double-pendulum-floor", "");
    run(&x, (How){.rule = SR_IMPACT_RULE_NEWTON, .order = (srImpactOrder)order}, 1e-10);
    const double w[2] = {x.d->jv[0], x.d->jv[0] + x.d->jv[1]};
    ENSURE_NEAR(pendulum_energy(w), before, 1e-8 * before);
    ENSURE_EQUAL(x.result.impact.reduced, 1);
    ENSURE(x.result.nevent > 0 && strstr(sr_run_event_reason(&x.result.event[0], why), "would gain energy") != NULL);
    close_model(&x);
  }
}

// A uniform rod of half length 1 at phi below the horizontal, its end ahead (ends at the right), strikes with (u, s): slips on, sticks, reverses, jams.
TEST(a_rod_slips_sticks_reverses_and_jams_as_the_closed_form_says) {
  static const struct {
    double phi, mu, u, s;
  } cases[] = {
      {0.8, 0.1, -1, 0.6}, {0.8, 0.9, -1, 0.3}, {0.8, 0.2, -1, -0.1}, {1.0, 1.9, -0.4, 2}, {1.1, 1.6, -1, 0.1}};
  bool jams = false, reverses = false;
  for (int i = 0; i < 15; ++i) {
    const double phi = cases[i % 5].phi, mu = cases[i % 5].mu, u = cases[i % 5].u, s = cases[i % 5].s;
    const int law = i / 5;
    char text[1000];
    snprintf(text, sizeof text,
             "<sarrus version='1'><option gravity='0 0 0'/><body name='rod'><joint name='rod' type='planar' axis='0 1 "
             "0' q='0 %.17g %.17g' v='%.17g %.17g 0'/><inertial mass='1' inertia='0 1/3 1/3'/><point name='end' at='1 "
             "0 0'/></body><sensor name='end' point='rod/end'/><contact gap='sensor(end, z)' slip-speed='sensor(end, "
             "vx)' normal='hunt-crossley' n='1' K='1e6' restitution='0.6' mu-k='%.17g' bristle-K='1e6' "
             "bristle-B='300'/></sarrus>",
             -sin(phi) + 0.01 * u, phi, s, -u, mu);  // without gravity it strikes after 0.01 s
    Loaded x = open_text(text);
    // The end is at (cos phi, -sin phi) from the centre; J = 1/3.
    const double a = cos(phi), b = sin(phi);
    const Planar c = {.NN = 1 + 3 * a * a, .NT = 3 * a * b, .TT = 1 + 3 * b * b, .u = u, .s = s, .mu = mu, .e = 0.6};
    const double P = impulse_of(&c, (srImpactLaw)law);
    const State after = state_at(&c, P);
    jams = jams || state_at(&c, 1e-6).u < u;
    reverses = reverses || after.s * s < -1e-6;
    const double omega = -3 * (a * P + b * after.T);  // about y: the end goes down
    run(&x, (How){.rule = (srImpactRule)(SR_IMPACT_RULE_NEWTON + law), .friction = SR_IMPACT_FRICTION_SHOCK},
        0.01 + 1e-10);
    ENSURE_EQUAL(x.result.impacts, 1);
    const double* done = x.result.energy.work;
    ENSURE_NEAR(done[SR_ACCOUNT_CONTACT], after.work, 1e-9);
    ENSURE_NEAR(done[SR_ACCOUNT_CONTACT] + done[SR_ACCOUNT_FRICTION],
                P * (u + after.u) / 2 + after.T * (s + after.s) / 2, 1e-9);
    ENSURE_NEAR(x.d->v[0], s + after.T, 1e-7);
    ENSURE_NEAR(-x.d->v[1], u + P, 1e-7);
    ENSURE_NEAR(x.d->v[2], omega, 1e-7);
    close_model(&x);
  }
  ENSURE(jams && reverses);
}

// A ball whose normal and tangent are not coupled leaves by all laws alike: u_N+ = e u, slip less by 7/2 mu (1 + e) u, or 0.
TEST(a_spinning_ball_leaves_alike_by_all_laws) {
  const double R = 0.05, h = 0.8, e = 0.7, t0 = sqrt(2 * h / G), u = G * t0;
  for (int k = 0; k < 10; ++k) {
    if (!runner_takes(k)) continue;
    const bool sticks = k >= 5;
    Loaded x = open_model("nonsmooth/spinning-ball", sticks ? "mu=0.9" : "");
    const int law = k % 5 < 3 ? k % 5 : k % 5 - 3;
    const How how = {(srImpactRule)(SR_IMPACT_RULE_NEWTON + law),
                     k % 5 < 3 ? SR_IMPACT_FRICTION_SHOCK : SR_IMPACT_FRICTION_ALGEBRAIC, SR_IMPACT_ORDER_AUTO};
    // Velocities are in body axes that turn: those of the world just before the impact are taken from the sensor.
    run(&x, how, t0 - 1e-9);
    const srFrameMotion m = sensor(&x, "ball");
    const double s[2] = {m.velocity[0] - R * m.angular_velocity[1], m.velocity[1] + R * m.angular_velocity[0]};
    const double slip = hypot(s[0], s[1]), stop = 2.0 / 7 * slip, push = 0.02 * (1 + e) * u;
    close_model(&x);
    x = open_model("nonsmooth/spinning-ball", sticks ? "mu=0.9" : "");
    run(&x, how, t0 + 1e-9);
    const srFrameMotion after = sensor(&x, "ball");
    ENSURE_NEAR(after.velocity[2], e * u, 1e-7);
    for (int i = 0; i < 2; ++i)
      ENSURE_NEAR(after.velocity[i], m.velocity[i] - (sticks ? stop : push) * s[i] / slip, 1e-7);
    close_model(&x);
  }
}

// Touching balls of a cradle: in sequence the last one leaves with the speed of the first; three together with -1/3, 2/3, 2/3 of it.
TEST(the_order_of_impacts_decides_how_a_cradle_goes_on) {
  Loaded x = open_model("contact/newtons-cradle", "n=3 gap=0");
  run(&x, (How){.order = SR_IMPACT_ORDER_SEQUENTIAL}, 0.5);
  const double t = x.result.event[0].t;
  ENSURE_EQUAL(x.result.impacts, 2);
  ENSURE_EQUAL(x.result.impact.longest, 2);
  ENSURE_NEAR(x.result.event[1].t, t, 0);
  close_model(&x);
  x = open_model("contact/newtons-cradle", "n=3 gap=0");
  run(&x, (How){0}, t - 1e-9);
  const double v = x.d->v[0];
  ENSURE(fabs(v) > 1);
  close_model(&x);
  static const double expected[2][3] = {{0, 0, 1}, {-1.0 / 3, 2.0 / 3, 2.0 / 3}};
  for (int k = 0; k < 4; ++k) {  // event, hybrid
    const bool together = k % 2 == 1;
    const How how = {.order = together ? SR_IMPACT_ORDER_SIMULTANEOUS : SR_IMPACT_ORDER_SEQUENTIAL};
    x = open_model("contact/newtons-cradle", "n=3 gap=0");
    srRunOptions o = options_by(&x, how, t + 1e-9);
    if (k >= 2) o.contact = SR_CONTACT_HYBRID;
    ENSURE_EQUAL(sr_run(x.m, x.d, &o, NULL, &x.result), SR_OK);
    for (int i = 0; i < 3; ++i) ENSURE_NEAR(x.d->v[i], expected[together][i] * v, 1e-6);
    ENSURE_EQUAL(x.result.impact.collisions, together ? 0 : 2);
    ENSURE_EQUAL(x.result.impacts, together ? 1 : 2);  // together only those that approach
    close_model(&x);
  }
}

// Balls of 2, 1 and 3 kg on a line, e = 0.2, the first with 1 m/s: it meets the second with 1 m/s (0.6 and 0.8 after it), that the third with 0.8 m/s, and so on.
TEST(every_contact_of_a_sequence_is_an_event_with_its_speed) {
  Loaded x = open_text(
      "<sarrus version='1'><body name='a'><joint name='a' type='prismatic' axis='1 0 0' q='-0.3' v='1'/><inertial "
      "mass='2'/><shape name='s' type='sphere' size='0.1' group='g'/></body><body name='b'><joint name='b' "
      "type='prismatic' axis='1 0 0'/><inertial mass='1'/><shape name='s' type='sphere' size='0.1' "
      "group='g'/></body><body name='c'><joint name='c' type='prismatic' axis='1 0 0' q='0.2'/><inertial "
      "mass='3'/><shape name='s' type='sphere' size='0.1' group='g'/></body><contact a='g' b='g' restitution='0.2' "
      "friction='none' normal='hunt-crossley' K='1e6'/></sarrus>");
  run(&x, (How){.order = SR_IMPACT_ORDER_SEQUENTIAL}, 0.1 + 1e-9);
  static const double mass[3] = {2, 1, 3}, e[2] = {0.2, 0.2};
  double v[3] = {1, 0, 0}, fastest[2], lost;
  char why[120];
  ENSURE_EQUAL(x.result.impact.collisions, strike_pairs(3, mass, e, v, 1e-9, fastest, &lost));
  for (int k = 0; k < 3; ++k) ENSURE_NEAR(x.d->v[k], v[k], 1e-9);
  ENSURE_NEAR(x.result.energy.work[SR_ACCOUNT_CONTACT], -lost, 1e-12);
  ENSURE_EQUAL(x.result.impacts, 2);
  ENSURE(x.result.nevent >= 2);
  ENSURE(strstr(sr_run_event_reason(&x.result.event[0], why), "with 1 m/s") != NULL);
  ENSURE(strstr(sr_run_event_reason(&x.result.event[1], why), "with 0.8 m/s") != NULL);
  ENSURE(x.result.impact.newton == 1 && x.result.impact.poisson == 0);
  close_model(&x);
}

// Painleve's rod: an impact without collision, after which its end has stopped.
TEST(an_impact_without_collision_is_a_shock_too) {
  Loaded x = open_model("nonsmooth/painleve-rod", "");
  run(&x, (How){.rule = SR_IMPACT_RULE_STRONGE}, 0.9);
  int k = 0;
  while (k < x.result.nevent && strcmp(x.result.event[k].kind, "painleve") != 0) ++k;
  ENSURE(k < x.result.nevent);
  const double t = x.result.event[k].t;
  ENSURE_NEAR(t, 0.81454965, 1e-6);
  ENSURE_EQUAL(x.result.impact.collisions, 1);
  close_model(&x);
  x = open_model("nonsmooth/painleve-rod", "");
  run(&x, (How){.rule = SR_IMPACT_RULE_STRONGE}, t + 1e-9);
  const srFrameMotion end = sensor(&x, "end");
  ENSURE_SMALL(end.velocity[0], 1e-5);
  ENSURE_SMALL(end.velocity[2], 1e-5);
  close_model(&x);
}

// A particle falls into a groove so narrow that plastic impacts at its walls hardly end: they are ended by one of both, it rests, and the run says so.
TEST(a_sequence_of_impacts_without_end_is_ended_and_the_run_goes_on) {
  char why[120];
  Loaded x = open_text(
      "<sarrus version='1'><option gravity='0 0 -9.81'/><body name='a'><joint name='x' type='prismatic' axis='1 0 "
      "0'/></body><body name='b' parent='a'><joint name='z' type='prismatic' axis='0 0 1' q='0.2'/><inertial "
      "mass='2'/></body><contact gap='0.9999*q(x) + 0.01*q(z)' restitution='0' normal='hunt-crossley' K='1e6' "
      "friction='none'/><contact gap='-0.9999*q(x) + 0.01*q(z)' restitution='0' normal='hunt-crossley' K='1e6' "
      "friction='none'/></sarrus>");
  run(&x, (How){.rule = SR_IMPACT_RULE_STRONGE}, 0.3);
  ENSURE_EQUAL(x.result.impact.endless, 1);
  ENSURE_EQUAL(x.result.impact.longest, 2000);
  ENSURE_NEAR(x.result.event[0].t, sqrt(0.4 / G), 1e-9);
  ENSURE(strstr(sr_run_event_reason(&x.result.event[0], why), "has no end") != NULL);
  ENSURE_SMALL(x.d->q[0], 1e-12);
  ENSURE_SMALL(x.d->q[1], 1e-10);
  ENSURE_SMALL(x.d->v[1], 1e-12);
  ENSURE_NEAR(x.result.energy.work[SR_ACCOUNT_CONTACT], -2 * G * 0.2, 1e-7);
  ENSURE_SMALL(x.result.energy.work[SR_ACCOUNT_FRICTION], 1e-12);
  ENSURE_NEAR(x.result.energy.residual, 0, 1e-6 * x.result.energy.scale);
  close_model(&x);
}

// A box that lands flat on its corners: one after the other. It ends, and energy is lost only.
TEST(a_box_lands_on_its_corners_one_after_the_other) {
  for (int k = 0; k < 4; ++k) {
    Loaded x = open_text(
        "<sarrus version='1'><option gravity='0 0 -9.81'/><ground><shape name='floor' type='plane'/></ground><body "
        "name='b'><joint name='b' type='free' q='0 0 0.25 1 0 0 0' v='0 0 0 0.7 0.3 0'/><inertial mass='2' com='0 0 0' "
        "inertia='0.02 0.01 0.02'/><shape name='s' type='box' size='0.2 0.3 0.1'/></body><contact a='floor' b='s' "
        "restitution='0.4' mu-k='0.3' normal='hunt-crossley' K='1e6' friction='threlfall' v0='0.01'/></sarrus>");
    const How how = {k < 3 ? (srImpactRule)(SR_IMPACT_RULE_NEWTON + k) : SR_IMPACT_RULE_POISSON,
                     k == 2   ? SR_IMPACT_FRICTION_AUTO
                     : k == 3 ? SR_IMPACT_FRICTION_SHOCK
                              : SR_IMPACT_FRICTION_ALGEBRAIC,
                     SR_IMPACT_ORDER_SEQUENTIAL};
    const double start = 2 * G * 0.25 + 0.5 * 2 * (0.49 + 0.09);
    run(&x, how, 0.21);  // it falls 0.2 m in 0.2019 s
    ENSURE(x.result.impact.collisions >= 4 && x.result.impact.endless == 0);
    ENSURE_NEAR(x.result.energy.residual, 0, 1e-8 * start);
    ENSURE(x.result.energy.kinetic + x.result.energy.potential < 0.9 * start);
    ENSURE(x.result.complementarity <= 1e-9);
    close_model(&x);
  }
}

// A law that contact or its friction does not have is refused with a sentence.
TEST(laws_of_impacts_that_do_not_go_together_are_refused) {
  static const struct {
    How how;
    srContactMode contact;
    const char* says;
  } cases[] = {
      {{SR_IMPACT_RULE_STRONGE, SR_IMPACT_FRICTION_ALGEBRAIC, SR_IMPACT_ORDER_AUTO},
       SR_CONTACT_EVENT,
       "friction shock"},
      {{SR_IMPACT_RULE_STRONGE, SR_IMPACT_FRICTION_AUTO, SR_IMPACT_ORDER_SIMULTANEOUS},
       SR_CONTACT_HYBRID,
       "sequential"},
      {{SR_IMPACT_RULE_NEWTON, SR_IMPACT_FRICTION_SHOCK, SR_IMPACT_ORDER_SIMULTANEOUS}, SR_CONTACT_EVENT, "sequential"},
      {{SR_IMPACT_RULE_POISSON, SR_IMPACT_FRICTION_AUTO, SR_IMPACT_ORDER_AUTO}, SR_CONTACT_TIMESTEPPING, "Newton's"},
      {{SR_IMPACT_RULE_AUTO, SR_IMPACT_FRICTION_SHOCK, SR_IMPACT_ORDER_AUTO}, SR_CONTACT_TIMESTEPPING, "Newton's"},
      {{SR_IMPACT_RULE_AUTO, SR_IMPACT_FRICTION_AUTO, SR_IMPACT_ORDER_SEQUENTIAL},
       SR_CONTACT_TIMESTEPPING,
       "Newton's"}};
  for (int i = 0; i < SR_COUNT(cases); ++i) {
    Loaded x = open_model("nonsmooth/double-pendulum-floor", "");
    srRunOptions o = options_by(&x, cases[i].how, 0.01);
    o.contact = cases[i].contact;
    if (o.contact == SR_CONTACT_TIMESTEPPING) o.method = "moreau";
    srMessages* messages = sr_messages_create();
    ENSURE_EQUAL(sr_run(x.m, x.d, &o, messages, &x.result), SR_INPUT);
    ENSURE_EQUAL(sr_messages_count(messages), 1);
    ENSURE(strstr(sr_messages_get(messages, 0)->text, cases[i].says) != NULL);
    sr_messages_destroy(messages);
    close_model(&x);
  }
}

// The text of an impact is put together from its numbers: sqrt(2 9.81 0.9) m/s.
TEST(an_impact_is_described_when_it_is_asked_for) {
  Loaded x = open_model("benchmark/bouncing-ball", "");
  char text[sizeof x.result.event[0].reason];
  run(&x, (How){.rule = SR_IMPACT_RULE_NEWTON}, 1);
  ENSURE_EQUAL(x.result.nevent, 1);
  ENSURE_NEAR(x.result.event[0].speed, sqrt(2 * 9.81 * 0.9), 1e-9);
  ENSURE_TEXT(sr_run_event_reason(&x.result.event[0], text), "ground/floor strikes ball/ball with 4.20214 m/s");
  close_model(&x);
}
