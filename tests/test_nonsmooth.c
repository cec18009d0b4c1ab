// Tests of src/nonsmooth: solvers of contact problems against enumeration of all modes, closed forms and each other; the error measure; impacts.
#include <math.h>
#include <sarrus/io.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "math/dense.h"
#include "nonsmooth/solver.h"
#include "runner.h"

// ---- problems -----------------------------------------------------------------------------------------------------------

static double noise(uint64_t* state) {  // -1 .. 1
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state) / 9223372036854775808.0;
}

enum { MOST_ROWS = 40, MOST_DOF = 40 };

// W = H H^T, q = H v of n contacts with `rows` rows each and m equations over dof velocities: of some mechanism, so that it has a solution.
static srContactProblem* random_problem(uint64_t* seed, int m, int n, int rows, int dof, double mu) {
  double H[MOST_ROWS][MOST_DOF], v[MOST_DOF];
  srContactProblem* p = sr_contact_problem_create(0, m, n, true);
  const int size = m + n * rows;
  ENSURE(p != NULL && size <= MOST_ROWS && dof <= MOST_DOF);
  for (int i = 0; i < n; ++i) p->cone[i] = (srContactCone){.rows = rows, .mu = mu * 0.5 * (1 + noise(seed))};
  for (int k = 0; k < dof; ++k) v[k] = noise(seed);
  for (int i = 0; i < size; ++i) {
    p->q[i] = 0;
    for (int k = 0; k < dof; ++k) {
      H[i][k] = noise(seed);
      p->q[i] += H[i][k] * v[k];
    }
  }
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      p->W[i * size + j] = 0;
      for (int k = 0; k < dof; ++k) p->W[i * size + j] += H[i][k] * H[j][k];
    }
  }
  return p;
}

static srContactSolver* solver_for(const srContactProblem* p) {
  const srContactSize size = sr_contact_size(p);
  srContactSolver* s = sr_contact_solver_create(&size);
  ENSURE(s != NULL);
  return s;
}

// Solves from 0 by a method; returns whether it is solved.
static srContactResult solve(srContactSolver* s, const srContactProblem* p, const char* method, double tolerance,
                             double* x) {
  srContactOptions o = sr_contact_options();
  srContactResult r;
  o.method = sr_contact_method_find(method);
  o.tolerance = tolerance;
  ENSURE(o.method != NULL);
  memset(x, 0, (size_t)sr_contact_rows(p) * sizeof *x);
  ENSURE_EQUAL(sr_contact_solve(s, p, &o, x, &r), SR_OK);
  return r;
}

static void destroy(srContactProblem* p, srContactSolver* s) {
  sr_contact_solver_destroy(s);
  sr_contact_problem_destroy(p);
}

// ---- enumeration --------------------------------------------------------------------------------------------------------

// Coulomb's law as it is written in textbooks, for one contact: not the natural map. Returns the largest violation.
static double coulomb_violation(const srContactCone* c, const double* p, const double* u) {
  const double T = c->rows > 1 ? hypot(p[1], c->rows > 2 ? p[2] : 0) : 0;
  const double s = c->rows > 1 ? hypot(u[1], c->rows > 2 ? u[2] : 0) : 0;
  double most = fmax(fmax(-p[0], -u[0]), fabs(fmin(p[0], u[0])));
  most = fmax(most, T - c->mu * p[0]);
  for (int k = 1; k < c->rows && s > 1e-7; ++k) most = fmax(most, fabs(p[k] + c->mu * p[0] * u[k] / s));
  return most;
}

// A mode of a contact: open, closed without slip, slip in + or -; the equations that it makes of u = W p + q.
enum { OPEN, STICK, SLIP_PLUS, SLIP_MINUS, MODES };

// Fills row i of A x = b for the mode; false: the contact has no such mode.
static bool mode_rows(const srContactProblem* p, int size, int contact, int first, int mode, double* A, double* b) {
  const srContactCone* c = &p->cone[contact];
  if (mode >= SLIP_PLUS && (c->rows == 1 || c->mu == 0)) return false;
  for (int k = 0; k < c->rows; ++k) {
    double* row = A + (first + k) * size;
    memset(row, 0, (size_t)size * sizeof *row);
    b[first + k] = 0;
    const bool velocity = mode == STICK ? k == 0 || c->mu > 0 : mode != OPEN && k == 0;
    if (velocity) {
      memcpy(row, p->W + (first + k) * size, (size_t)size * sizeof *row);
      b[first + k] = -p->q[first + k];
    } else {
      row[first + k] = 1;
      if (k > 0 && mode >= SLIP_PLUS) row[first] = mode == SLIP_PLUS ? c->mu : -c->mu;
    }
  }
  return true;
}

// All modes of all contacts; calls `found` for each solution. Returns their number. Singular modes are left out.
static int enumerate(const srContactProblem* p, double x[][MOST_ROWS], int most) {
  const int size = sr_contact_rows(p);
  int total = 1, count = 0;
  for (int i = 0; i < p->ncontact; ++i) total *= p->cone[i].rows == 1 ? 2 : MODES;
  for (int code = 0; code < total; ++code) {
    double A[MOST_ROWS * MOST_ROWS], b[MOST_ROWS], u[3];
    int pivot[MOST_ROWS], rest = code, first = p->nequation;
    bool good = true;
    for (int e = 0; e < p->nequation; ++e) {
      memcpy(A + e * size, p->W + e * size, (size_t)size * sizeof *A);
      b[e] = -p->q[e];
    }
    for (int i = 0; i < p->ncontact; ++i) {
      const int modes = p->cone[i].rows == 1 ? 2 : MODES;
      good = mode_rows(p, size, i, first, rest % modes, A, b) && good;
      rest /= modes;
      first += p->cone[i].rows;
    }
    if (!good || !srm_lu(size, A, pivot)) continue;
    srm_lu_solve(size, A, pivot, b);
    first = p->nequation;
    for (int i = 0; i < p->ncontact && good; first += p->cone[i++].rows) {
      for (int k = 0; k < p->cone[i].rows; ++k) {
        u[k] = p->q[first + k];
        for (int j = 0; j < size; ++j) u[k] += p->W[(first + k) * size + j] * b[j];
      }
      good = coulomb_violation(&p->cone[i], b + first, u) < 1e-9;
    }
    if (good && count < most) memcpy(x[count], b, (size_t)size * sizeof *b);
    count += good;
  }
  return count;
}

static double distance(const double* a, const double* b, int n) {
  double most = 0;
  for (int i = 0; i < n; ++i) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

// Every method finds a solution that the enumeration has found too. Returns how many problems had several solutions.
static int against_enumeration(int problems, int m, int n, int rows, int dof, double mu, uint64_t seed) {
  int several = 0;
  for (int i = 0; i < problems; ++i) {
    srContactProblem* p = random_problem(&seed, m, n, rows, dof, mu);
    srContactSolver* s = solver_for(p);
    const int size = sr_contact_rows(p);
    double all[8][MOST_ROWS], x[MOST_ROWS];
    const int count = enumerate(p, all, 8);
    ENSURE(count >= 1 && count <= 8);
    several += count > 1;
    for (int k = 0; k < sr_contact_method_count(); ++k) {
      const char* name = sr_contact_method(k)->name;
      const srContactResult r = solve(s, p, name, 1e-11, x);
      double nearest = INFINITY;
      ENSURE(r.solved);
      for (int j = 0; j < count; ++j) nearest = fmin(nearest, distance(all[j], x, size));
      ENSURE_SMALL(nearest, 1e-7);  // 1e-11 m/s times the condition of W
    }
    destroy(p, s);
  }
  return several;
}

TEST(all_methods_find_the_active_set_that_enumeration_finds) {
  const int times = runner_long() ? 10 : 1;
  for (int n = 1; n <= 6; ++n) ENSURE_EQUAL(against_enumeration(60 * times, 0, n, 1, n + 2, 0, (uint64_t)n), 0);
  ENSURE_EQUAL(against_enumeration(60 * times, 2, 4, 1, 8, 0, 17), 0);  // with joints
}

TEST(all_methods_find_a_mode_of_planar_friction_that_enumeration_finds) {
  const int times = runner_long() ? 10 : 1;
  for (int n = 1; n <= 3; ++n) (void)against_enumeration(70 * times, 0, n, 2, 2 * n + 2, 0.6, (uint64_t)(40 + n));
  (void)against_enumeration(70 * times, 2, 2, 2, 8, 0.6, 77);
}

// Friction in space has no modes to enumerate: each solution is tested by Coulomb's law, and the methods against each other.
TEST(all_methods_agree_on_random_problems_of_friction_in_space) {
  static const struct { int m, n, dof; } shapes[] = {{0, 1, 6}, {0, 2, 6}, {0, 4, 12}, {3, 4, 18}, {0, 8, 24}};
  const int times = runner_long() ? 10 : 1;
  uint64_t seed = 3;
  int apart = 0, count = 0, unsolved = 0;
  for (int i = 0; i < 60 * 5 * times; ++i, ++count) {
    const int c = i % 5;
    srContactProblem* p = random_problem(&seed, shapes[c].m, shapes[c].n, 3, shapes[c].dof, 0.6);
    srContactSolver* s = solver_for(p);
    const int size = sr_contact_rows(p);
    double x[3][MOST_ROWS], u[MOST_ROWS];
    static const char* const names[] = {"newton", "nsgs", "nncg"};
    for (int k = 0; k < 3; ++k) {
      const bool solved = solve(s, p, names[k], 1e-11, x[k]).solved;
      ENSURE(solved || k > 0);
      if (!solved) {  // sweeps have no proof of convergence
        ++unsolved;
        memcpy(x[k], x[0], sizeof x[0]);
        continue;
      }
      sr_contact_velocity(s, p, x[k], u);
      for (int j = 0, at = p->nequation; j < p->ncontact; at += p->cone[j++].rows)
        ENSURE_SMALL(coulomb_violation(&p->cone[j], x[k] + at, u + at), 1e-8);
    }
    apart += distance(x[0], x[1], size) > 1e-6 || distance(x[0], x[2], size) > 1e-6;
    destroy(p, s);
  }
  ENSURE(unsolved <= 2 * (count / 1000));  // one problem of the 3000, by both
  ENSURE(apart <= count / 100);            // where there are several solutions, which is rare below mu = 0.8
}

// Gauss-Seidel on redundant Coulomb cones has no proof of convergence, and fails on some; the direct methods do not.
TEST(redundant_contacts_are_solved_by_the_direct_methods) {
  uint64_t seed = 11;
  int swept = 0;
  for (int i = 0; i < 60; ++i) {
    const int rows = 1 + i % 3;
    srContactProblem* p = random_problem(&seed, 0, rows == 1 ? 6 : 4, rows, rows == 3 ? 6 : 3, 0.6);
    srContactSolver* s = solver_for(p);
    double x[MOST_ROWS];
    ENSURE(solve(s, p, "auto", 1e-10, x).solved);
    ENSURE(solve(s, p, "newton", 1e-10, x).solved);
    if (rows < 3) ENSURE(solve(s, p, "lemke", 1e-10, x).solved);
    swept += solve(s, p, "nncg", 1e-10, x).solved;
    destroy(p, s);
  }
  ENSURE(swept >= 57);
}

// Contacts that slide with fixed direction have one row, and the column of n - mu t: W is not symmetric.
TEST(unsymmetric_matrices_of_sliding_contacts_are_solved) {
  uint64_t seed = 13;
  for (int i = 0; i < 60; ++i) {
    srContactProblem* p = random_problem(&seed, i % 2, 4, 1, 8, 0);
    const int n = sr_contact_rows(p);
    double all[8][MOST_ROWS], x[MOST_ROWS];
    for (int r = 0; r < n; ++r) {
      for (int c = p->nequation; c < n; ++c) p->W[r * n + c] += r != c ? 0.15 * noise(&seed) : 0.5;
    }
    srContactSolver* s = solver_for(p);
    const int count = enumerate(p, all, 8);
    ENSURE(count >= 1 && count <= 8);
    for (int k = 0; k < sr_contact_method_count(); ++k) {
      double nearest = INFINITY;
      ENSURE(solve(s, p, sr_contact_method(k)->name, 1e-11, x).solved);
      for (int j = 0; j < count; ++j) nearest = fmin(nearest, distance(all[j], x, n));
      ENSURE_SMALL(nearest, 1e-8);
    }
    destroy(p, s);
  }
}

TEST(lower_bounds_of_normal_impulses_are_kept_by_all_methods) {
  uint64_t seed = 14;
  for (int i = 0; i < 60; ++i) {
    srContactProblem* p = random_problem(&seed, 0, 3, 1 + i % 3, 12, 0.5);
    srContactSolver* s = solver_for(p);
    double x[MOST_ROWS], first[MOST_ROWS] = {0};
    for (int k = 0; k < 3; ++k) p->cone[k].lower = 0.1 * (1 + noise(&seed));
    for (int k = 0; k < sr_contact_method_count(); ++k) {
      const char* name = sr_contact_method(k)->name;
      if (strcmp(name, "lemke") == 0 && i % 3 == 2) continue;
      ENSURE(solve(s, p, name, 1e-12, x).solved);
      for (int c = 0; c < 3; ++c) ENSURE(x[c * (1 + i % 3)] >= p->cone[c].lower - 1e-12);
      if (k == 0) memcpy(first, x, sizeof x);
      ENSURE_SMALL(distance(first, x, sr_contact_rows(p)), 1e-7);
    }
    destroy(p, s);
  }
}

// ---- one contact --------------------------------------------------------------------------------------------------------

TEST(the_local_solution_obeys_coulombs_law) {
  uint64_t seed = 21;
  int sticks = 0, slips = 0;
  for (int i = 0; i < 3000; ++i) {
    double B[3][3], W[6], q[3], p[3], u[3];
    const double thin = i % 3 == 0 ? 1e-9 : 1;  // nearly singular blocks too
    for (int k = 0; k < 9; ++k) B[k / 3][k % 3] = noise(&seed) * (k % 3 == 2 ? thin : 1);
    for (int k = 0, at = 0; k < 3; ++k)
      for (int l = k; l < 3; ++l) W[at++] = B[k][0] * B[l][0] + B[k][1] * B[l][1] + B[k][2] * B[l][2];
    for (int k = 0; k < 3; ++k) q[k] = noise(&seed);
    if (i % 3 == 0) {  // in the range of W
      const double v[3] = {q[0], q[1], q[2]};
      for (int k = 0; k < 3; ++k) q[k] = B[k][0] * v[0] + B[k][1] * v[1] + B[k][2] * v[2];
    }
    const srCone cone = {.mu = 1 + noise(&seed)};
    sr_cone_solve(&cone, W, q, p);
    u[0] = W[0] * p[0] + W[1] * p[1] + W[2] * p[2] + q[0];
    u[1] = W[1] * p[0] + W[3] * p[1] + W[4] * p[2] + q[1];
    u[2] = W[2] * p[0] + W[4] * p[1] + W[5] * p[2] + q[2];
    const double size = 1 + fabs(p[0]);
    ENSURE(p[0] >= 0 && u[0] >= -1e-12 * size);
    ENSURE_SMALL(p[0] * u[0], 1e-12 * size * size);
    const double slip = hypot(u[1], u[2]), friction = hypot(p[1], p[2]);
    ENSURE(friction <= cone.mu * p[0] * (1 + 1e-12) + 1e-15);
    if (slip > 1e-8 * size && p[0] > 0) {  // friction has its full size and opposes the slip
      ENSURE_NEAR(friction, cone.mu * p[0], 1e-7 * size);
      ENSURE_NEAR(p[1] * u[1] + p[2] * u[2], -friction * slip, 1e-10 * size * size);
      ++slips;
    } else {
      sticks += p[0] > 0;
    }
  }
  ENSURE(sticks > 300 && slips > 300);
}

// A contact that can slip in one direction alone: friction along the other is 0, not what rounding leaves of 0/0.
TEST(friction_is_zero_along_a_direction_that_cannot_slip) {
  for (int i = 1; i < 40; ++i) {
    const double c = cos(0.157 * i), s = sin(0.157 * i);
    const double W[6] = {1, 0, 0, c * c, c * s, s * s}, q[3] = {-1, 0.1 * c, 0.1 * s};
    const srCone cone = {.mu = 1};
    double p[3];
    sr_cone_solve(&cone, W, q, p);
    ENSURE_NEAR(p[0], 1, 1e-15);
    ENSURE_NEAR(p[1], -0.1 * c, 1e-14);
    ENSURE_NEAR(p[2], -0.1 * s, 1e-14);
  }
}

// With a smallest normal impulse: p_N >= lower, (p_N - lower) u_N = 0, friction limited by mu p_N.
TEST(the_local_solution_keeps_a_lower_bound_of_the_normal_impulse) {
  uint64_t seed = 22;
  int bound = 0;
  for (int i = 0; i < 2000; ++i) {
    double B[3][3], W[6], q[3], p[3], u[3];
    for (int k = 0; k < 9; ++k) B[k / 3][k % 3] = noise(&seed);
    for (int k = 0, at = 0; k < 3; ++k)
      for (int l = k; l < 3; ++l) W[at++] = B[k][0] * B[l][0] + B[k][1] * B[l][1] + B[k][2] * B[l][2] + (k == l) * 0.05;
    for (int k = 0; k < 3; ++k) q[k] = noise(&seed);
    const srCone cone = {.mu = 0.5 * (1 + noise(&seed)), .lower = 0.3 * (1 + noise(&seed))};
    sr_cone_solve(&cone, W, q, p);
    u[0] = W[0] * p[0] + W[1] * p[1] + W[2] * p[2] + q[0];
    u[1] = W[1] * p[0] + W[3] * p[1] + W[4] * p[2] + q[1];
    u[2] = W[2] * p[0] + W[4] * p[1] + W[5] * p[2] + q[2];
    ENSURE_SMALL(sr_cone_residual(&cone, 1 / W[0], p, u), 1e-9);
    ENSURE(p[0] >= cone.lower && u[0] >= -1e-9);
    ENSURE_SMALL((p[0] - cone.lower) * u[0], 1e-9);
    bound += p[0] == cone.lower;
  }
  ENSURE(bound > 300);
}

// The projection is the nearest point of the cone: no point of it is nearer.
TEST(the_projection_is_the_nearest_point_of_the_truncated_cone) {
  uint64_t seed = 23;
  for (int i = 0; i < 300; ++i) {
    const srCone cone = {.mu = 1 + noise(&seed), .lower = i % 2 ? 0 : 0.5 * (1 + noise(&seed))};
    double x[3], y[3];
    for (int k = 0; k < 3; ++k) x[k] = y[k] = 2 * noise(&seed);
    sr_cone_project(&cone, y);
    ENSURE(y[0] >= cone.lower && hypot(y[1], y[2]) <= cone.mu * y[0] * (1 + 1e-15));
    const double d = hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]);
    for (int k = 0; k < 50; ++k) {  // random points of the cone
      const double N = cone.lower + 2 * fabs(noise(&seed)), r = cone.mu * N * fabs(noise(&seed)), a = 4 * noise(&seed);
      ENSURE(d <= hypot(hypot(x[0] - N, x[1] - r * cos(a)), x[2] - r * sin(a)) + 1e-14);
    }
  }
}

// ---- bodies -------------------------------------------------------------------------------------------------------------

#define G 9.81

// A body of this mass whose inertia is that of a ball.
static srContactBody ball(double mass, double radius) {
  const double I = 1 / (0.4 * mass * radius * radius);
  return (srContactBody){.inverse_mass = 1 / mass, .inverse_inertia = {I, I, I, 0, 0, 0}};
}

// One step of h under gravity along g: what a block of half sizes a, b, c on a slope does, resting on its four lower corners.
static srContactProblem* block_on_slope(double angle, double mu, double h) {
  const double a = 0.2, b = 0.15, c = 0.1, m = 2;
  srContactProblem* p = sr_contact_problem_create(1, 0, 4, false);
  ENSURE(p != NULL);
  p->compliance = 1e-3;
  p->body[0] = (srContactBody){
      .inverse_mass = 1 / m,
      .inverse_inertia = {3 / (m * (b * b + c * c)), 3 / (m * (a * a + c * c)), 3 / (m * (a * a + b * b))},
      .velocity = {0, 0, 0, h * G * sin(angle), 0, -h * G * cos(angle)}};
  for (int i = 0; i < 4; ++i) {
    p->cone[i].mu = mu;
    p->point[i] = (srContactPoint){.body = {SR_CONTACT_FIXED, 0}, .normal = {0, 0, 1}};
    const double arm[3] = {i & 1 ? a : -a, i & 2 ? b : -b, -c};
    memcpy(p->point[i].arm[1], arm, sizeof arm);
  }
  return p;
}

TEST(a_block_on_a_slope_sticks_below_the_angle_of_friction_and_slides_above) {
  const double h = 1e-3, angle = 3.14159265358979323846 / 6;  // tan 30 deg = 0.57735
  static const char* const names[] = {"auto", "newton", "nsgs", "nncg", "sweeps", "sweeps-nncg"};
  for (int k = 0; k < 6; ++k) {
    for (int slides = 0; slides < 2; ++slides) {
      const double stick = k >= 2 ? 0.7 : 0.5775;  // so near to the limit sweeps take tens of thousands
      const double mu = slides ? 0.3 : stick;
      srContactProblem* p = block_on_slope(angle, mu, h);
      p->compliance = 0;  // it would tilt the block
      srContactSolver* s = solver_for(p);
      double x[12], v[6];
      ENSURE(solve(s, p, names[k], 1e-13, x).solved);
      sr_contact_body_velocity(p, x, v);
      ENSURE_NEAR(v[3], slides ? G * (sin(angle) - mu * cos(angle)) * h : 0, 1e-12);
      ENSURE_SMALL(v[4], 1e-12);
      double N = 0;
      for (int i = 0; i < 4; ++i) N += x[3 * i];
      ENSURE_NEAR(N, 2 * G * cos(angle) * h, 1e-12);
      destroy(p, s);
    }
  }
}

// One step of h of a tower of cubes, each on the four upper corners of the one below, on a slope that falls in the given direction. Masses vary.
static srContactProblem* tower_on_slope(uint64_t* seed, int cubes, double angle, double direction, double mu,
                                        double h) {
  const double a = 0.05;
  srContactProblem* p = sr_contact_problem_create(cubes, 0, 4 * cubes, false);
  ENSURE(p != NULL);
  p->compliance = 1e-6;
  const double slope[3] = {sin(angle) * cos(direction), sin(angle) * sin(direction), -cos(angle)};
  for (int b = 0; b < cubes; ++b) {
    const double m = 0.6 + 0.5 * noise(seed), I = 1.5 / (m * a * a);
    p->body[b] = (srContactBody){.inverse_mass = 1 / m, .inverse_inertia = {I, I, I}};
    for (int k = 0; k < 3; ++k) p->body[b].velocity[3 + k] = h * G * slope[k];
    for (int i = 0; i < 4; ++i) {
      p->cone[4 * b + i].mu = mu;
      p->point[4 * b + i] = (srContactPoint){
          .body = {b > 0 ? b - 1 : SR_CONTACT_FIXED, b},
          .normal = {0, 0, 1},
          .arm = {{i & 1 ? a : -a, i & 2 ? a : -a, a}, {i & 1 ? a : -a, i & 2 ? a : -a, -a}},
      };
    }
  }
  return p;
}

// It stands where the slope is less than the angle of friction and a tower's diagonal has its foot below the center of mass; elsewhere cubes slip, tip and roll on their edges. Of 96 redundant rows all are
// solved from 0, where a line search that never lets the error rise ends between slip and stick.
TEST(newton_solves_towers_of_cubes_that_stand_slip_or_tip) {
  enum { CUBES = 8, TOWERS = 100 };
  uint64_t seed = 5;
  int standing = 0;
  for (int n = 0; n < TOWERS; ++n) {
    const double angle = (n % 4 > 0 ? 0.3 : 0.05) * (1 + noise(&seed)), mu = 0.45 + 0.35 * noise(&seed), h = 1e-3;
    srContactProblem* p = tower_on_slope(&seed, CUBES, angle, 3.1 * noise(&seed), mu, h);
    srContactSolver* s = solver_for(p);
    double x[12 * CUBES], v[6 * CUBES];
    ENSURE(solve(s, p, "newton", 1e-9, x).solved);
    if (tan(angle) < 0.95 * mu && tan(angle) < 0.95 / CUBES) {
      double weight = 0;
      ++standing;
      sr_contact_body_velocity(p, x, v);
      for (int b = 0; b < CUBES; ++b) weight += h * G * cos(angle) / p->body[b].inverse_mass;
      for (int k = 0; k < 6 * CUBES; ++k)
        ENSURE_SMALL(v[k], 1e-4);  // the compliance of the corners, each under what it carries
      ENSURE_NEAR(x[0] + x[3] + x[6] + x[9], weight, 1e-3 * weight);
    }
    destroy(p, s);
  }
  ENSURE(standing >= 5);
}

// The four normal impulses of a plate are in the range of the normal rows: linear in the position of the corner, whatever the method.
TEST(compliance_distributes_redundant_normals_linearly_over_the_corners) {
  static const char* const names[] = {"auto", "newton", "nsgs", "nncg", "sweeps", "sweeps-nncg"};
  for (int k = 0; k < 6; ++k) {
    srContactProblem* p = block_on_slope(0, 0.3, 1e-3);
    srContactSolver* s = solver_for(p);
    double x[12];
    p->body[0].velocity[1] += 0.01;  // a moment about y
    p->body[0].velocity[0] -= 0.02;
    for (int i = 0; i < 4; ++i) p->cone[i].mu = 0;
    ENSURE(solve(s, p, names[k], 1e-14, x).solved);
    ENSURE_NEAR(x[0] + x[9], x[3] + x[6],
                1e-10);  // corners 0 and 3 are opposite: a linear function has equal sums on both diagonals
    ENSURE(fabs(x[0] - x[3]) > 1e-4 && fabs(x[0] - x[6]) > 1e-4);
    destroy(p, s);
  }
}

// Four equal corners are ties of every ratio test.
TEST(lemke_solves_a_plate_on_four_equal_corners) {
  srContactProblem* p = block_on_slope(0, 0, 1e-3);
  srContactSolver* s = solver_for(p);
  double x[12];
  p->compliance = 0;
  ENSURE(solve(s, p, "lemke", 1e-13, x).solved);
  ENSURE_NEAR(x[0] + x[3] + x[6] + x[9], 2 * G * 1e-3, 1e-13);
  destroy(p, s);
}

// A table of n feet under a force of 10 t (cos t, sin t, 0) N at (0.2, 0.1, 0) from its center: forces and accelerations instead of impulses and
// velocities. Its feet are stuck together (9 or 12 rows on 6 degrees of freedom) until limit analysis says that they slip.
static srContactProblem* table_with_feet(int n, double t) {
  srContactProblem* p = sr_contact_problem_create(1, 0, n, false);
  ENSURE(p != NULL);
  const double f[2] = {10 * t * cos(t), 10 * t * sin(t)};
  p->body[0] = (srContactBody){.inverse_mass = 0.1,
                               .inverse_inertia = {1 / 0.9, 1 / 0.9, 1 / 1.2},
                               .velocity = {0, 0, (0.2 * f[1] - 0.1 * f[0]) / 1.2, f[0] / 10, f[1] / 10, -G}};
  for (int i = 0; i < n; ++i) {
    const double angle = 3.14159265358979323846 * (0.5 + 2.0 * i / n);
    p->cone[i].mu = 0.4;
    p->point[i] = (srContactPoint){
        .body = {SR_CONTACT_FIXED, 0}, .normal = {0, 0, 1}, .arm = {{0}, {0.5 * cos(angle), 0.5 * sin(angle), -0.4}}};
  }
  p->compliance = n > 3 ? 1e-7 : 0;  // of four normals one is redundant
  return p;
}

TEST(a_table_slips_at_the_instant_of_limit_analysis) {
  static const double onset[2] = {3.8747653889643123, 3.8639136904};  // kinematic limit analysis, to 1e-9 s
  static const double normals[3] = {18.8700733877, 52.9132486432, 26.3166779691};
  for (int feet = 3; feet <= 4; ++feet) {
    static const double moments[3] = {-1e-4, -1e-8, 1e-4};
    for (int k = 0; k < 3; ++k) {
      srContactProblem* p = table_with_feet(feet, onset[feet - 3] + moments[k]);
      srContactSolver* s = solver_for(p);
      double x[12], u[12], slip = 0;
      ENSURE(solve(s, p, "newton", 1e-9, x).solved);
      sr_contact_velocity(s, p, x, u);
      for (int i = 0; i < feet; ++i) slip = fmax(slip, hypot(u[3 * i + 1], u[3 * i + 2]));
      ENSURE(k < 2 ? slip < 1e-6 : slip > 1e-5);  // m/s^2; 0 before, and 1e-5 s after the onset 2e-6
      for (int i = 0; feet == 3 && k == 1 && i < 3; ++i) ENSURE_NEAR(x[3 * i], normals[i], 1e-6);
      destroy(p, s);
    }
  }
}

// The lowest contact carries them all.
TEST(contacts_of_a_column_of_balls_carry_what_is_above) {
  enum { N = 12 };
  const double h = 1e-3, m = 0.5, r = 0.05;
  srContactProblem* p = sr_contact_problem_create(N, 0, N, false);
  ENSURE(p != NULL);
  for (int i = 0; i < N; ++i) {
    p->body[i] = ball(m, r);
    p->body[i].velocity[5] = -h * G;
    p->cone[i].mu = 0.5;
    p->point[i] = (srContactPoint){.body = {i - 1, i}, .normal = {0, 0, 1}, .arm = {{0, 0, r}, {0, 0, -r}}};
  }
  srContactSolver* s = solver_for(p);
  static const char* const names[] = {"auto", "newton", "nsgs", "nncg", "sweeps", "sweeps-nncg"};
  for (int k = 0; k < 6; ++k) {
    double x[3 * N];
    ENSURE(solve(s, p, names[k], 1e-12, x).solved);
    for (int i = 0; i < N; ++i) ENSURE_NEAR(x[3 * i], (N - i) * m * G * h, 1e-9);
  }
  destroy(p, s);
}

// A block between two jaws that are pressed on it with the impulse P each: it is held while 2 mu P >= m g h, else it falls with the rest.
TEST(a_pinched_body_is_held_by_friction_alone) {
  const double h = 1e-3, m = 3, P = 0.04;
  for (int held = 0; held < 2; ++held) {
    const double mu = (held ? 1.001 : 0.9) * m * G * h / (2 * P);
    srContactProblem* p = sr_contact_problem_create(3, 10, 2, false);
    ENSURE(p != NULL);
    p->body[0] = ball(m, 0.1);
    p->body[0].velocity[5] = -h * G;
    for (int j = 0; j < 2; ++j) {
      const double side = j == 0 ? -1 : 1;
      p->body[1 + j] = ball(1, 0.1);
      p->body[1 + j].velocity[3] = -side * P;  // impulse P on the mass 1
      p->cone[j].mu = mu;
      p->point[j] = (srContactPoint){
          .body = {1 + j, 0}, .normal = {-side, 0, 0}, .arm = {{-side * 0.1, 0, 0}, {side * 0.1, 0, 0}}};
      static const int kept[5] = {0, 1, 2, 4, 5};  // a jaw slides along x alone
      for (int k = 0; k < 5; ++k) {
        srContactEquation* e = &p->equation[5 * j + k];
        *e = (srContactEquation){.body = {1 + j, SR_CONTACT_FIXED}};
        e->row[0][kept[k]] = 1;
      }
    }
    srContactSolver* s = solver_for(p);
    static const char* const names[] = {"auto", "newton", "nsgs", "nncg", "sweeps", "sweeps-nncg"};
    for (int k = 0; k < 6; ++k) {
      double x[16], v[18];
      const srContactResult r = solve(s, p, names[k], 1e-12, x);
      ENSURE(r.solved && r.islands == 1);
      sr_contact_body_velocity(p, x, v);
      ENSURE_NEAR(v[5], held ? 0 : -h * G + 2 * mu * P / m, 1e-11);
      ENSURE_NEAR(x[10], P, 1e-10);
    }
    destroy(p, s);
  }
}

// Painleve's rod, sliding: of one contact with the column n - mu t the entry rho = A_NN - mu A_NT decides. rho > 0: one solution; rho < 0
// and b_N > 0: two; rho < 0 and b_N < 0: none. 1 + 3 cos(phi) (cos(phi) - mu sin(phi)) in units of 1/m (Genot and Brogliato 1999).
TEST(painleves_rod_has_no_solution_where_its_contact_mass_is_negative) {
  const double phi = 1.1071487177940905, half = 1;  // tan phi = 2: the smallest critical friction, 4/3
  for (int k = 0; k < 2; ++k) {
    const double mu = k == 0 ? 1.3 : 1.37;
    srContactProblem* p = sr_contact_problem_create(0, 0, 1, true);
    srContactSolver* s = solver_for(p);
    double x[3];
    const double c = cos(phi), n = sin(phi);
    p->cone[0].rows = 1;
    p->W[0] = 1 + 3 * c / half * (c - mu * n);
    p->q[0] = -1;
    ENSURE(k == 0 ? p->W[0] > 0 : p->W[0] < 0);
    const bool solved = solve(s, p, "lemke", 1e-10, x).solved;
    ENSURE(solved == (k == 0));
    if (k == 0) ENSURE_NEAR(x[0], 1 / p->W[0], 1e-9);
    srMessages* messages = sr_messages_create();
    ENSURE(sr_contact_check(p, NULL, messages) == (k == 0));  // and it is reported
    sr_messages_destroy(messages);
    destroy(p, s);
  }
}

// A pile of bodies without order: each touches some of those before it, the first ones the ground.
static srContactProblem* random_pile(uint64_t* seed, int bodies, int contacts, int equations) {
  srContactProblem* p = sr_contact_problem_create(bodies, equations, contacts, false);
  ENSURE(p != NULL);
  for (int i = 0; i < bodies; ++i) {
    p->body[i] = ball(1 + 0.5 * noise(seed), 0.1);
    p->body[i].inverse_inertia[3] = 0.3 * p->body[i].inverse_inertia[0] * noise(seed);
    for (int k = 0; k < 6; ++k) p->body[i].velocity[k] = noise(seed);
  }
  for (int i = 0; i < contacts; ++i) {
    srContactPoint* x = &p->point[i];
    x->body[1] = i % bodies;
    x->body[0] = i % bodies - 1 - (i / bodies) % 3 < 0 ? SR_CONTACT_FIXED : i % bodies - 1 - (i / bodies) % 3;
    double length = 0;
    for (int k = 0; k < 3; ++k) x->normal[k] = noise(seed) + (k == 2), length += x->normal[k] * x->normal[k];
    for (int k = 0; k < 3; ++k) {
      x->normal[k] /= sqrt(length);
      x->arm[0][k] = 0.1 * noise(seed);
      x->arm[1][k] = 0.1 * noise(seed);
    }
    p->cone[i].mu = 0.3 * (1 + noise(seed));
    p->cone[i].shift = 0.1 * noise(seed);
  }
  for (int i = 0; i < equations; ++i) {
    srContactEquation* e = &p->equation[i];
    e->body[0] = 0;
    e->body[1] = 1;
    for (int k = 0; k < 12; ++k) e->row[k / 6][k % 6] = noise(seed);
    e->shift = 0.1 * noise(seed);
  }
  return p;
}

// The same problem as a matrix, column by column through the public velocities.
static srContactProblem* as_matrix(const srContactProblem* p, srContactSolver* s) {
  const int n = sr_contact_rows(p);
  srContactProblem* d = sr_contact_problem_create(0, p->nequation, p->ncontact, true);
  double x[MOST_ROWS] = {0}, u[MOST_ROWS];
  ENSURE(d != NULL && n <= MOST_ROWS);
  memcpy(d->cone, p->cone, (size_t)p->ncontact * sizeof *p->cone);
  d->compliance = p->compliance;
  sr_contact_velocity(s, p, x, d->q);
  for (int j = 0; j < n; ++j) {
    x[j] = 1;
    sr_contact_velocity(s, p, x, u);
    for (int i = 0; i < n; ++i) d->W[i * n + j] = u[i] - d->q[i];
    x[j] = 0;
  }
  for (int i = 0; i < p->ncontact; ++i) {  // it has the shifts by itself
    const srContactCone* c = &p->cone[i];
    for (int k = 0; k < 3; ++k) d->q[p->nequation + 3 * i + k] -= k == 0 ? c->shift : c->slip[k - 1];
  }
  return d;
}

// Surfaces that move, and contacts with compliances of their own.
static void soften(uint64_t* seed, srContactProblem* p) {
  for (int i = 0; i < p->ncontact; ++i) {
    for (int k = 0; k < 2; ++k) {
      p->cone[i].slip[k] = noise(seed);
      p->cone[i].compliance[k] = fabs(noise(seed));
    }
  }
}

// The rows of contacts over velocities that are scaled so that the mass matrix is 1: of inertias without products, as those of random piles here.
static srContactProblem* as_rows(const srContactProblem* p) {
  srContactProblem* r = sr_contact_problem_create(p->nbody, 0, p->ncontact, false);
  ENSURE(r != NULL && sr_contact_problem_take_rows(r));
  memcpy(r->cone, p->cone, (size_t)p->ncontact * sizeof *p->cone);
  memcpy(r->point, p->point, (size_t)p->ncontact * sizeof *p->point);
  r->compliance = p->compliance;
  for (int b = 0; b < p->nbody; ++b) {
    r->body[b] = (srContactBody){.inverse_mass = 1, .inverse_inertia = {1, 1, 1, 0, 0, 0}};
    for (int k = 0; k < 6; ++k) {
      const double inverse = k < 3 ? p->body[b].inverse_inertia[k] : p->body[b].inverse_mass;
      r->body[b].velocity[k] = p->body[b].velocity[k] / sqrt(inverse);
    }
  }
  for (int i = 0; i < p->ncontact; ++i) {
    double frame[9];
    sr_contact_frame(p->point[i].normal, frame);
    for (int side = 0; side < 2; ++side) {
      const int b = p->point[i].body[side];
      const double *x = p->point[i].arm[side], sign = side == 0 ? -1 : 1;
      for (int k = 0; k < 3 && b >= 0; ++k) {
        const double* n = frame + 3 * k;
        const double J[6] = {
            x[1] * n[2] - x[2] * n[1], x[2] * n[0] - x[0] * n[2], x[0] * n[1] - x[1] * n[0], n[0], n[1], n[2]};
        for (int l = 0; l < 6; ++l) {
          const double inverse = l < 3 ? p->body[b].inverse_inertia[l] : p->body[b].inverse_mass;
          r->row[i][side][k][l] = sign * J[l] * sqrt(inverse);
        }
      }
    }
  }
  return r;
}

TEST(rows_over_scaled_velocities_have_the_solution_of_the_bodies) {
  uint64_t seed = 77;
  for (int i = 0; i < 10; ++i) {
    srContactProblem* p = random_pile(&seed, 6, 9, 0);
    for (int b = 0; b < p->nbody; ++b) memset(p->body[b].inverse_inertia + 3, 0, 3 * sizeof(double));
    p->compliance = i % 3 == 0 ? 1e-3 : 0;
    if (i % 2) soften(&seed, p);
    srContactProblem* r = as_rows(p);
    srContactSolver *s = solver_for(p), *sr = solver_for(r);
    srMessages* messages = sr_messages_create();
    ENSURE(sr_contact_check(r, NULL, messages));
    r->row[3][1][2][4] = NAN;
    ENSURE(!sr_contact_check(r, NULL, messages));
    sr_contact_problem_destroy(r);
    r = as_rows(p);
    double x[MOST_ROWS], y[MOST_ROWS], u[MOST_ROWS], w[MOST_ROWS];
    static const char* const names[] = {"auto", "newton", "nsgs", "nncg", "sweeps", "sweeps-nncg"};
    for (int k = 0; k < 6; ++k) {
      ENSURE(solve(s, p, names[k], 1e-11, x).solved && solve(sr, r, names[k], 1e-11, y).solved);
      sr_contact_velocity(s, p, x, u);
      sr_contact_velocity(sr, r, y, w);
      ENSURE_SMALL(distance(u, w, sr_contact_rows(p)), 1e-6);
      ENSURE_NEAR(sr_contact_error(sr, r, x).residual, sr_contact_error(s, p, x).residual, 1e-11);
    }
    sr_messages_destroy(messages);
    destroy(p, s);
    destroy(r, sr);
  }
}

// A ball of mass m that meets a soft floor at speed u, sliding at w: p_N = m u/(1 + m c_N); the slider behind the tangential compliance sticks,
// u_T + c_T p_T = 0, as long as the force is in the cone.
TEST(a_soft_contact_takes_the_impulse_of_its_spring) {
  static const char* const names[] = {"auto", "newton", "nsgs", "nncg", "sweeps", "sweeps-nncg"};
  const double m = 2, c_N = 0.75, c_T = 3;
  srContactProblem* p = sr_contact_problem_create(1, 0, 1, false);
  ENSURE(p != NULL);
  p->body[0] = (srContactBody){.inverse_mass = 1 / m, .velocity = {0, 0, 0, 0.5, 0, -3}};
  p->point[0] = (srContactPoint){.body = {SR_CONTACT_FIXED, 0}, .normal = {0, 0, 1}};
  srContactSolver* s = solver_for(p);
  double frame[9], x[3];
  sr_contact_frame(p->point[0].normal, frame);
  for (int k = 0; k < 12; ++k) {
    const bool slides = k >= 6;
    p->cone[0] = (srContactCone){.rows = 3, .mu = slides ? 0.01 : 1, .compliance = {c_N, c_T}};
    ENSURE(solve(s, p, names[k % 6], 1e-13, x).solved);
    const double N = 3 * m / (1 + m * c_N), T = slides ? 0.01 * N : 0.5 / (1 / m + c_T);
    ENSURE_NEAR(x[0], N, 1e-12);
    ENSURE_NEAR(frame[3] * x[1] + frame[6] * x[2], -T, 1e-12);
  }
  destroy(p, s);
}

TEST(bodies_and_their_matrix_have_the_same_solution) {
  uint64_t seed = 31;
  for (int i = 0; i < 20; ++i) {
    srContactProblem* p = random_pile(&seed, 6, 9, i % 2 ? 3 : 0);
    p->compliance = i % 3 == 0 ? 1e-3 : 0;
    if (i % 5 == 2) soften(&seed, p);
    srContactSolver* s = solver_for(p);
    srContactProblem* d = as_matrix(p, s);
    srContactSolver* sd = solver_for(d);
    double x[MOST_ROWS], y[MOST_ROWS], u[MOST_ROWS], w[MOST_ROWS];
    static const char* const names[] = {"auto", "newton", "nsgs", "nncg", "sweeps", "sweeps-nncg"};
    for (int k = 0; k < 6; ++k) {
      const srContactResult a = solve(s, p, names[k], 1e-11, x), b = solve(sd, d, names[k], 1e-11, y);
      ENSURE(a.solved && b.solved);
      sr_contact_velocity(s, p, x, u);
      sr_contact_velocity(sd, d, y, w);
      ENSURE_SMALL(distance(u, w, sr_contact_rows(p)), 1e-6);
      // and the error measure is the same function of the same impulses
      ENSURE_NEAR(sr_contact_error(sd, d, x).residual, a.error.residual, 1e-11);
    }
    destroy(d, sd);
    destroy(p, s);
  }
}

TEST(islands_are_found_and_solved_apart) {
  uint64_t seed = 33;
  srContactProblem* p = random_pile(&seed, 7, 12, 0);
  static const int a[12] = {-1, 0, -1, 2, -1, 4, 2, 0, -1, 4, -1, 2}, b[12] = {0, 1, 2, 3, 4, 5, 3, 1, 3, 5, 0, 3};
  for (int i = 0; i < 12; ++i) p->point[i].body[0] = a[i], p->point[i].body[1] = b[i];  // 0 1 | 2 3 | 4 5
  p->body[6] = (srContactBody){.velocity = {0, 0, 0, 0.1, 0, 0}};  // prescribed motion, which connects nothing
  p->point[0].body[0] = p->point[2].body[0] = p->point[4].body[0] = 6;
  srContactSolver* s = solver_for(p);
  double x[36], alone[36];
  const srContactResult r = solve(s, p, "nsgs", 1e-11, x);
  ENSURE(r.solved);
  ENSURE_EQUAL(r.islands, 3);
  // An island by itself has the same bits.
  srContactProblem part = *p;
  srContactPoint point[12];
  srContactCone cone[12];
  int count = 0, of[12];
  for (int i = 0; i < 12; ++i) {
    if (b[i] != 2 && b[i] != 3) continue;
    point[count] = p->point[i];
    cone[count] = p->cone[i];
    of[count++] = i;
  }
  part.point = point;
  part.cone = cone;
  part.ncontact = count;
  ENSURE(solve(s, &part, "nsgs", 1e-11, alone).solved);
  for (int i = 0; i < count; ++i) ENSURE(memcmp(alone + 3 * i, x + 3 * of[i], 3 * sizeof *x) == 0);
  destroy(p, s);
}

// The equations between two bodies are one block: a sweep solves them exactly.
TEST(equations_between_two_bodies_are_solved_together) {
  uint64_t seed = 34;
  srContactProblem* p = random_pile(&seed, 2, 0, 6);
  srContactSolver* s = solver_for(p);
  double x[6];
  const srContactResult r = solve(s, p, "nsgs", 1e-10, x);
  ENSURE(r.solved);
  ENSURE_EQUAL(r.iterations, 4);
  destroy(p, s);
}

// A bearing given twice, and a third time as a sum: the motion is the same, and every equation is satisfied.
TEST(redundant_equations_are_dropped) {
  uint64_t seed = 36;
  for (int i = 0; i < 10; ++i) {
    srContactProblem* p = random_pile(&seed, 3, 5, 9);
    srContactSolver* s = solver_for(p);
    double x[MOST_ROWS], v[2][18];
    for (int k = 0; k < 3; ++k) {  // rows 3 .. 5 repeat 0 .. 2, 6 .. 8 are sums
      p->equation[3 + k] = p->equation[k];
      p->equation[6 + k] = p->equation[k];
      for (int l = 0; l < 12; ++l) p->equation[6 + k].row[l / 6][l % 6] += p->equation[(k + 1) % 3].row[l / 6][l % 6];
      p->equation[6 + k].shift += p->equation[(k + 1) % 3].shift;
    }
    static const char* const names[] = {"newton", "nncg", "sweeps-nncg"};
    for (int k = 0; k < 3; ++k) {
      const int equations = p->nequation;
      ENSURE(solve(s, p, names[k], 1e-10, x).solved);
      sr_contact_body_velocity(p, x, v[0]);
      for (int e = 0; e < equations; ++e) ENSURE(fabs(x[e]) < 100);
      srContactProblem few = *p;
      few.nequation = 3;
      ENSURE(solve(s, &few, names[k], 1e-10, x).solved);
      sr_contact_body_velocity(&few, x, v[1]);
      ENSURE_SMALL(distance(v[0], v[1], 18), 1e-7);
    }
    destroy(p, s);
  }
}

TEST(equations_that_contradict_each_other_are_not_solved) {
  srContactProblem* p = sr_contact_problem_create(1, 2, 0, false);
  ENSURE(p != NULL);
  p->body[0] = ball(1, 0.1);
  for (int k = 0; k < 2; ++k)
    p->equation[k] = (srContactEquation){.body = {0, SR_CONTACT_FIXED}, .row = {{0, 0, 0, 1}}, .shift = k};
  srContactSolver* s = solver_for(p);
  for (int k = 0; k < 6; ++k) {
    double x[2];
    const srContactResult r = solve(s, p, sr_contact_method(k)->name, 1e-9, x);
    ENSURE(!r.solved && r.error.bilateral >= 0.5);
  }
  destroy(p, s);
}

// Newton's method is one only with the right derivatives; with wrong ones the sweeps behind it would still find the solution.
TEST(newton_takes_few_steps) {
  uint64_t seed = 37;
  int steps = 0;
  for (int i = 0; i < 100; ++i) {
    srContactProblem* p = random_problem(&seed, 0, 4, 3, 12, 0.8);
    srContactSolver* s = solver_for(p);
    double x[MOST_ROWS];
    const srContactResult r = solve(s, p, "newton", 1e-10, x);
    ENSURE(r.solved);
    steps += r.iterations;
    destroy(p, s);
  }
  ENSURE(steps < 500);  // 4 each in the mean
}

// Newton's method takes one from a start that is hardly within the tolerance, so that what rests does not creep by it, and none from what it has found then.
TEST(a_warm_start_at_the_solution_takes_no_iteration) {
  uint64_t seed = 35;
  srContactProblem* p = random_pile(&seed, 6, 9, 2);
  srContactSolver* s = solver_for(p);
  double x[MOST_ROWS];
  ENSURE(solve(s, p, "nncg", 1e-11, x).solved);
  srContactOptions o = sr_contact_options();
  srContactResult r;
  o.tolerance = 2e-11;
  static const char* const names[] = {"nsgs", "nncg", "newton", "auto", "sweeps", "sweeps-nncg"};
  for (int k = 0; k < 6; ++k) {
    o.method = sr_contact_method_find(names[k]);
    double y[MOST_ROWS];
    memcpy(y, x, sizeof y);
    ENSURE_EQUAL(sr_contact_solve(s, p, &o, y, &r), SR_OK);
    ENSURE(r.solved);
    if (k == 2 || k == 3) {
      ENSURE_EQUAL(r.iterations, 1);
      ENSURE(r.error.residual < 1e-14);
      ENSURE_EQUAL(sr_contact_solve(s, p, &o, y, &r), SR_OK);
    }
    ENSURE_EQUAL(r.iterations, 0);
  }
  o.method = sr_contact_method_find("nsgs");
  o.least_iterations = 7;
  ENSURE_EQUAL(sr_contact_solve(s, p, &o, x, &r), SR_OK);
  ENSURE_EQUAL(r.iterations, 8);  // the residual is tested every fourth sweep
  destroy(p, s);
}

// ---- error measure ------------------------------------------------------------------------------------------------------

// A ball of mass 2 on the floor with q_N = -3 m/s, by hand.
TEST(the_error_measure_is_the_velocity_by_which_a_contact_is_wrong) {
  srContactProblem* p = sr_contact_problem_create(1, 0, 1, false);
  ENSURE(p != NULL);
  p->body[0] = ball(2, 0.1);
  p->body[0].velocity[5] = -3;
  p->point[0] = (srContactPoint){.body = {SR_CONTACT_FIXED, 0}, .normal = {0, 0, 1}, .arm = {{0}, {0, 0, -0.1}}};
  p->cone[0].mu = 0.5;
  srContactSolver* s = solver_for(p);
  double x[3] = {6, 0, 0};
  ENSURE_SMALL(sr_contact_error(s, p, x).residual, 1e-15);
  x[0] = 5;  // half a m/s too slow
  srContactError e = sr_contact_error(s, p, x);
  ENSURE_NEAR(e.residual, 0.5, 1e-14);
  ENSURE_NEAR(e.penetration, 0.5, 1e-14);
  ENSURE_NEAR(e.complementarity, 2.5, 1e-14);
  ENSURE_SMALL(e.cone, 0);
  ENSURE_EQUAL(e.worst, 0);
  x[0] = 8;  // it flies off at 1 m/s, pushed
  ENSURE_NEAR(sr_contact_error(s, p, x).residual, 1, 1e-14);
  x[0] = 6;
  x[1] = 4;  // out of the cone by 1 Ns, and it slips
  e = sr_contact_error(s, p, x);
  ENSURE_NEAR(e.cone, 1, 1e-14);
  ENSURE(e.residual > 1);
  p->cone[0].lower = 8;
  ENSURE_NEAR(sr_contact_error(s, p, x).cone, 2, 1e-14);
  p->cone[0].lower = 0;
  p->cone[0].shift = 0.25;  // a gap of 0.25 m/s times the step: less impulse is needed
  x[0] = 5.5;
  x[1] = 0;
  ENSURE_SMALL(sr_contact_error(s, p, x).residual, 1e-15);
  p->compliance = 0.1;  // u_N = -0.1 W_NN p_N: 2.75 / (1.1 / 2)
  x[0] = 5;
  ENSURE_SMALL(sr_contact_error(s, p, x).residual, 1e-15);
  const srContactResult r = solve(s, p, "nsgs", 1e-13, x);
  ENSURE(r.solved);
  ENSURE_EQUAL(r.iterations, 4);  // one sweep is exact; the residual is tested after four
  ENSURE_NEAR(x[0], 5, 1e-12);
  destroy(p, s);
}

TEST(problems_that_cannot_be_solved_are_refused_with_their_contact) {
  srContactProblem* p = sr_contact_problem_create(2, 1, 2, false);
  ENSURE(p != NULL);
  srMessages* messages = sr_messages_create();
  for (int i = 0; i < 2; ++i) {
    p->body[i] = ball(1, 0.1);
    p->point[i] = (srContactPoint){.body = {SR_CONTACT_FIXED, i}, .normal = {0, 0, 1}};
  }
  p->equation[0] = (srContactEquation){.body = {0, 1}};
  ENSURE(sr_contact_check(p, NULL, messages));
  p->point[1].body[0] = 2;
  ENSURE(!sr_contact_check(p, NULL, messages));
  p->point[1].body[0] = 1;
  ENSURE(!sr_contact_check(p, NULL, messages));
  p->point[1].body[0] = SR_CONTACT_FIXED;
  p->body[1] = (srContactBody){0};
  ENSURE(!sr_contact_check(p, NULL, messages));
  const srMessage* last = sr_messages_get(messages, sr_messages_count(messages) - 1);
  ENSURE_TEXT(last->text, "contact 1: nothing can move along its normal");
  srContactSolver* s = solver_for(p);  // and where nobody asks, the residual is not a number: not solved
  double x[7];
  const srContactResult r = solve(s, p, "nsgs", 1e-9, x);
  ENSURE(!r.solved && isnan(r.error.residual));
  p->body[1] = ball(1, 0.1);
  p->body[1].inverse_inertia[3] = 1e6;
  ENSURE(!sr_contact_check(p, NULL, messages));
  p->body[1].inverse_inertia[3] = 0;
  p->cone[0].mu = -0.1;
  ENSURE(!sr_contact_check(p, NULL, messages));
  p->cone[0].mu = 0.1;
  p->cone[1].shift = NAN;
  ENSURE(!sr_contact_check(p, NULL, messages));
  p->cone[1].shift = 0;
  p->point[0].normal[0] = 0.1;
  ENSURE(!sr_contact_check(p, NULL, messages));
  sr_messages_destroy(messages);
  destroy(p, s);
}

TEST(a_method_refuses_what_it_does_not_take) {
  srContactProblem* p = block_on_slope(0.1, 0.3, 1e-3);
  srContactSize size = sr_contact_size(p);
  size.dense = 11;
  srContactSolver* s = sr_contact_solver_create(&size);
  srContactOptions o = sr_contact_options();
  srContactResult r;
  double x[12] = {0};
  o.method = sr_contact_method_find("lemke");
  ENSURE_EQUAL(sr_contact_solve(s, p, &o, x, &r), SR_INPUT);  // friction in space
  ENSURE(!r.solved && isnan(r.error.residual));
  o.method = sr_contact_method_find("newton");
  ENSURE_EQUAL(sr_contact_solve(s, p, &o, x, &r), SR_INPUT);  // 12 rows
  o.method = sr_contact_method_find("auto");
  ENSURE_EQUAL(sr_contact_solve(s, p, &o, x, &r), SR_OK);  // by nncg
  ENSURE(r.solved);
  sr_contact_solver_destroy(s);
  size.contacts = 3;
  s = sr_contact_solver_create(&size);
  ENSURE_EQUAL(sr_contact_solve(s, p, &o, x, &r), SR_INPUT);
  destroy(p, s);
  ENSURE(sr_contact_method_find("simplex") == NULL);
  ENSURE(sr_contact_method(-1) == NULL && sr_contact_method(sr_contact_method_count()) == NULL);
}

// ---- memory -------------------------------------------------------------------------------------------------------------

TEST(solving_allocates_nothing_and_creating_survives_a_lack_of_memory) {
  uint64_t seed = 41;
  Heap heap = {0};
  sr_set_allocator(heap_allocator, &heap);
  srContactProblem* p = random_pile(&seed, 6, 9, 2);
  srContactSolver* s = solver_for(p);
  double x[MOST_ROWS];
  const long calls = heap.calls;
  static const char* const names[] = {"auto", "newton", "nsgs", "nncg", "sweeps", "sweeps-nncg"};
  for (int k = 0; k < 6; ++k) (void)solve(s, p, names[k], 1e-11, x);
  srImpactResult r;
  const srContactOptions o = sr_contact_options();
  for (int i = 0; i < p->ncontact; ++i) p->cone[i].restitution = 0.5;
  memset(x, 0, sizeof x);
  ENSURE_EQUAL(sr_contact_impact(s, p, SR_IMPACT_POISSON, &o, x, &r), SR_OK);
  ENSURE_EQUAL(heap.calls, calls);
  const srContactSize size = sr_contact_size(p);
  destroy(p, s);
  ENSURE_EQUAL(heap.live, 0);
  bool more = true;
  for (int n = 1; more; ++n) {
    heap = (Heap){.fail_at = n};
    p = sr_contact_problem_create(6, 2, 9, n % 2 == 0);
    s = p != NULL ? sr_contact_solver_create(&size) : NULL;
    more = s == NULL;
    destroy(p, s);
    ENSURE_EQUAL(heap.live, 0);
  }
  sr_set_allocator(NULL, NULL);
}

// ---- impacts ------------------------------------------------------------------------------------------------------------

// Three touching balls, the first arrives with 1 m/s, e = 1: (-1/3, 2/3, 2/3) by the simultaneous law.
TEST(three_touching_balls_leave_by_the_simultaneous_law_of_newton) {
  srContactProblem* p = sr_contact_problem_create(3, 0, 2, false);
  ENSURE(p != NULL);
  for (int i = 0; i < 3; ++i) p->body[i] = ball(0.7, 0.1);
  p->body[0].velocity[3] = 1;
  for (int i = 0; i < 2; ++i) {
    p->point[i] = (srContactPoint){.body = {i, i + 1}, .normal = {1, 0, 0}, .arm = {{0.1, 0, 0}, {-0.1, 0, 0}}};
    p->cone[i].restitution = 1;
  }
  srContactSolver* s = solver_for(p);
  srContactOptions o = sr_contact_options();
  o.tolerance = 1e-13;
  double x[6] = {0}, v[18];
  srImpactResult r;
  ENSURE_EQUAL(sr_contact_impact(s, p, SR_IMPACT_NEWTON, &o, x, &r), SR_OK);
  sr_contact_body_velocity(p, x, v);
  ENSURE(r.solve.solved && !r.gained && r.alpha == 1);
  ENSURE_NEAR(v[3], -1.0 / 3, 1e-12);
  ENSURE_NEAR(v[9], 2.0 / 3, 1e-12);
  ENSURE_NEAR(v[15], 2.0 / 3, 1e-12);
  ENSURE_SMALL(r.energy, 1e-12);                                                  // it conserves the energy
  ENSURE_EQUAL(sr_contact_impact(s, p, SR_IMPACT_STRONGE, &o, x, &r), SR_INPUT);  // one contact alone: sr_contact_shock
  destroy(p, s);
}

// A bar in a revolute joint strikes a stop: M dv = G^T P + N^T P_N, energy -(1 - e^2) u^2/(2 W) with W the Delassus scalar.
TEST(an_impact_through_a_joint_loses_the_energy_of_the_delassus_scalar) {
  const double m = 2, l = 0.6, I = m * l * l / 12 + 0.0, e = 0.4, omega = -3;
  for (int law = 0; law < 2; ++law) {
    srContactProblem* p = sr_contact_problem_create(1, 5, 1, false);
    ENSURE(p != NULL);
    p->body[0] = (srContactBody){.inverse_mass = 1 / m,
                                 .inverse_inertia = {1 / I, 1 / I, 1 / I},
                                 .velocity = {0, omega, 0, 0, 0, -omega * l / 2}};
    static const int about[5] = {3, 4, 5, 0, 2};
    for (int k = 0; k < 5; ++k) {  // the end at -l/2 is held, and rotations about x and z
      p->equation[k] = (srContactEquation){.body = {SR_CONTACT_FIXED, 0}};
      p->equation[k].row[1][about[k]] = 1;
    }
    p->equation[1].row[1][2] = -l / 2;  // v_y + omega_z x (-l/2)
    p->equation[2].row[1][1] = l / 2;   // v_z - omega_y x (-l/2)
    p->body[0].velocity[5] = -l / 2 * omega;
    const double d = 0.5;  // the stop is at this distance from the joint, above: normal -z on the bar
    p->point[0] =
        (srContactPoint){.body = {SR_CONTACT_FIXED, 0}, .normal = {0, 0, -1}, .arm = {{0}, {d - l / 2, 0, 0}}};
    p->cone[0].restitution = e;
    srContactSolver* s = solver_for(p);
    srContactOptions o = sr_contact_options();
    o.tolerance = 1e-13;
    double x[8] = {0}, v[6];
    srImpactResult r;
    ENSURE_EQUAL(sr_contact_impact(s, p, law == 0 ? SR_IMPACT_NEWTON : SR_IMPACT_POISSON, &o, x, &r), SR_OK);
    ENSURE(r.solve.solved);
    sr_contact_body_velocity(p, x, v);
    const double W = d * d / (I + m * l * l / 4), u = omega * d;
    ENSURE_NEAR(v[1], -e * omega, 1e-11);
    ENSURE_NEAR(r.energy, -(1 - e * e) * u * u / (2 * W), 1e-11);
    ENSURE_NEAR(x[5], -(1 + e) * u / W, 1e-11);
    ENSURE_SMALL(r.solve.error.bilateral, 1e-12);
    destroy(p, s);
  }
}

// The corner of a box strikes the floor: five laws, values of an independent computation (cone problem to 1e-13; Runge-Kutta in P_N).
// Half sizes 0.2, 0.15, 0.1, mass 2, orientation (8, 1, -2, 3) not normalised, mu 0.3, e 0.6.
typedef struct CornerCase {
  double W[9], u[3];
} CornerCase;

static void corner_case(srContactProblem* p, CornerCase* c) {
  static const double local[3] = {0.2, -0.15, -0.1}, I[3] = {0.13 / 6, 0.2 / 6, 0.25 / 6};
  double q[4] = {8, 1, -2, 3}, R[3][3], arm[3] = {0};
  const double norm = sqrt(78.0);
  for (int k = 0; k < 4; ++k) q[k] /= norm;
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                             {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                             {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
  memcpy(R, rows, sizeof R);
  double J[6] = {0};
  static const int index[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) arm[i] += R[i][k] * local[k];
  }
  for (int j = 0; j < 6; ++j) {
    for (int k = 0; k < 3; ++k) J[j] += R[index[j][0]][k] * R[index[j][1]][k] / I[k];
  }
  p->body[0] = (srContactBody){.inverse_mass = 0.5, .velocity = {3, 1, -2, 0.7, -0.4, -2}};
  memcpy(p->body[0].inverse_inertia, J, sizeof J);
  p->point[0] = (srContactPoint){.body = {SR_CONTACT_FIXED, 0}, .normal = {0, 0, 1}};
  memcpy(p->point[0].arm[1], arm, sizeof arm);
  p->cone[0] = (srContactCone){.rows = 3, .mu = 0.3, .restitution = 0.6};
  // In the frame n, t1, t2 of the contact.
  srContactSolver* s = solver_for(p);
  double unit[3] = {0}, u[3];
  sr_contact_velocity(s, p, unit, c->u);
  for (int j = 0; j < 3; ++j) {
    unit[j] = 1;
    sr_contact_velocity(s, p, unit, u);
    for (int i = 0; i < 3; ++i) c->W[3 * i + j] = u[i] - c->u[i];
    unit[j] = 0;
  }
  sr_contact_solver_destroy(s);
}

// Order N, x, y of the reference.
static void in_world(const double in[3], double out[3]) {
  static const double z[3] = {0, 0, 1};
  double frame[9];
  sr_contact_frame(z, frame);
  for (int k = 0; k < 3; ++k) {
    const int axis = (k + 2) % 3;  // z, x, y
    out[k] = 0;
    for (int i = 0; i < 3; ++i) out[k] += frame[3 * i + axis] * in[i];
  }
}

TEST(a_corner_of_a_box_leaves_as_five_impact_laws_say) {
  static const struct {
    double u[3], p[3], energy;
  } expected[5] = {{{1.29307692308, 0.600651578293, -0.642372572593},
                    {1.23203743069, -0.252440319672, 0.269974713184},
                    -0.9186561557863098},
                   {{1.2939876794, 0.601441557639, -0.635691703006},
                    {1.23272023203, -0.249409497902, 0.273008793817},
                    -0.9178901402005983},
                   {{1.29307692308, 0.60257029745, -0.627766261692},
                    {1.23282869707, -0.245453557706, 0.276544512478},
                    -0.9176019536737213},
                   {{1.29428598919, 0.602508179575, -0.62766422735},
                    {1.23326054914, -0.245543273873, 0.276637977272},
                    -0.9171560014540001},
                   {{1.29388007659, 0.602529034117, -0.62769848205},
                    {1.23311556604, -0.245513153694, 0.276606599196},
                    -0.9173057782167643}};
  srContactProblem* p = sr_contact_problem_create(1, 0, 1, false);
  ENSURE(p != NULL);
  CornerCase c;
  corner_case(p, &c);
  srContactSolver* s = solver_for(p);
  for (int k = 0; k < 5; ++k) {
    double P[3] = {0}, u[3], world[3], energy;
    if (k < 2) {
      srContactOptions o = sr_contact_options();
      srImpactResult r;
      o.tolerance = 1e-13;
      ENSURE_EQUAL(sr_contact_impact(s, p, k == 0 ? SR_IMPACT_NEWTON : SR_IMPACT_POISSON, &o, P, &r), SR_OK);
      ENSURE(r.solve.solved);
      sr_contact_velocity(s, p, P, u);
      energy = r.energy;
    } else {
      srShock shock;
      ENSURE(sr_contact_shock(c.W, c.u, 0.3, 0.6, (srImpactLaw)(k - 2), &shock));
      memcpy(P, shock.p, sizeof P);
      memcpy(u, shock.u, sizeof u);
      energy = shock.energy;
    }
    in_world(P, world);
    ENSURE_SMALL(distance(world, expected[k].p, 3), 1e-9);
    in_world(u, world);
    ENSURE_SMALL(distance(world, expected[k].u, 3), 1e-9);
    ENSURE_NEAR(energy, expected[k].energy, 1e-9);
  }
  destroy(p, s);
}

// A ball: all laws agree, and slip ends in stick where friction suffices. Solid ball: u_T+ = 0 needs P_T = -2/7 m u_T.
TEST(all_impact_laws_agree_for_a_ball) {
  const double m = 0.3, e = 0.7;
  const double W[9] = {1 / m, 0, 0, 0, 3.5 / m, 0, 0, 0, 3.5 / m};
  for (int sticks = 0; sticks < 2; ++sticks) {
    const double mu = sticks ? 0.5 : 0.05, u[3] = {-2, 0.6, -0.8};  // slip 1 m/s
    const double N = m * (1 + e) * 2, T = sticks ? m * 2 / 7 : mu * N;
    for (int law = 0; law < 3; ++law) {
      srShock k;
      ENSURE(sr_contact_shock(W, u, mu, e, (srImpactLaw)law, &k));
      ENSURE_NEAR(k.p[0], N, 1e-12);
      ENSURE_NEAR(k.p[1], -0.6 * T, 1e-11);
      ENSURE_NEAR(k.p[2], 0.8 * T, 1e-11);
      ENSURE_NEAR(k.compression, 2 * m, 1e-12);
      ENSURE_EQUAL(k.phases, sticks ? 2 : 1);
      ENSURE_NEAR(k.u[0], 2 * e, 1e-12);
    }
  }
  srShock k;
  const double apart[3] = {0.1, 0, 0};
  ENSURE(!sr_contact_shock(W, apart, 0.3, 0.5, SR_IMPACT_NEWTON, &k));
}

// Two rods of 1 m and 1 kg, hinged, at 20 and 30 deg from the vertical, angular velocities 0.5 and -1.5 rad/s: the tip strikes the floor with mu 0.5,
// e 0.7, in the manner of Kane and Levinson (1985). T+/T- of five laws, computed independently to three digits.
TEST(a_double_pendulum_gains_energy_by_newtons_law_alone) {
  const double degree = 3.14159265358979323846 / 180, w[2] = {0.5, -1.5};
  const double d[2][2] = {{cos(20 * degree), sin(20 * degree)}, {cos(30 * degree), sin(30 * degree)}};  // tip by angle
  const double c = 0.5 * (d[0][0] * d[1][0] + d[0][1] * d[1][1]), M[3] = {1.25 + 1.0 / 12, c, 0.25 + 1.0 / 12};
  const double det = M[0] * M[2] - c * c, T = 0.5 * (M[0] * w[0] * w[0] + 2 * c * w[0] * w[1] + M[2] * w[1] * w[1]);
  srContactProblem* p = sr_contact_problem_create(0, 0, 1, true);
  ENSURE(p != NULL);
  p->cone[0] = (srContactCone){.rows = 2, .mu = 0.5, .restitution = 0.7};
  for (int i = 0; i < 2; ++i) {  // row 0: vertical, 1: horizontal
    const double *hi0 = &d[0][1 - i], *hi1 = &d[1][1 - i];
    p->q[i] = *hi0 * w[0] + *hi1 * w[1];
    for (int j = 0; j < 2; ++j) {
      const double hj0 = d[0][1 - j], hj1 = d[1][1 - j];
      p->W[2 * i + j] = (*hi0 * (M[2] * hj0 - c * hj1) + *hi1 * (M[0] * hj1 - c * hj0)) / det;
    }
  }
  srContactSolver* s = solver_for(p);
  srContactOptions o = sr_contact_options();
  srImpactResult r;
  double x[3] = {0};
  o.tolerance = 1e-12;
  ENSURE_EQUAL(sr_contact_impact(s, p, SR_IMPACT_POISSON, &o, x, &r), SR_OK);
  ENSURE(r.solve.solved && !r.gained);
  ENSURE_NEAR(1 + r.energy / T, 0.144, 5e-4);
  // Newton's law as it is: the shift of the contact is e u_N.
  p->cone[0].shift = 0.7 * p->q[0];
  ENSURE(solve(s, p, "lemke", 1e-12, x).solved);
  ENSURE_NEAR(1 + sr_contact_work(s, p, x) / T, 1.689, 5e-4);
  p->cone[0].shift = 0;
  memset(x, 0, sizeof x);
  ENSURE_EQUAL(sr_contact_impact(s, p, SR_IMPACT_NEWTON, &o, x, &r), SR_OK);
  ENSURE(r.solve.solved && r.gained && r.alpha > 0 && r.alpha < 1);
  ENSURE_SMALL(r.energy, 1e-9 * T);  // the largest alpha: nothing is gained, and nothing lost
  // The impact whose slip may change, ended by each law.
  static const double expected[3] = {0.562, 0.035, 0.070};
  const double W[9] = {p->W[0], p->W[1], 0, p->W[2], p->W[3], 0, 0, 0, 1}, u[3] = {p->q[0], p->q[1], 0};
  for (int law = 0; law < 3; ++law) {
    srShock k;
    ENSURE(sr_contact_shock(W, u, 0.5, 0.7, (srImpactLaw)law, &k));
    ENSURE_NEAR(1 + k.energy / T, expected[law], 6e-4);
  }
  destroy(p, s);
}

// T+ - T- from the velocities of the bodies, with equations that have a shift (a driven joint) and contacts that have one.
TEST(the_work_of_impulses_is_the_change_of_kinetic_energy) {
  uint64_t seed = 52;
  srContactProblem* p = random_pile(&seed, 4, 6, 3);
  srContactSolver* s = solver_for(p);
  double x[MOST_ROWS], zero[MOST_ROWS] = {0}, v[2][24], T[2] = {0, 0};
  for (int i = 0; i < sr_contact_rows(p); ++i) x[i] = noise(&seed);
  for (int i = 0; i < 4; ++i) p->body[i].inverse_inertia[3] = 0;  // a ball
  sr_contact_body_velocity(p, zero, v[0]);
  sr_contact_body_velocity(p, x, v[1]);
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < 24; ++i)
      T[k] += 0.5 * v[k][i] * v[k][i] / (i % 6 < 3 ? p->body[i / 6].inverse_inertia[0] : p->body[i / 6].inverse_mass);
  }
  ENSURE_NEAR(sr_contact_work(s, p, x), T[1] - T[0], 1e-11 * T[1]);
  destroy(p, s);
}

// The compression is solved at the start, the expansion has no iteration: that is not a solved impact.
TEST(an_impact_is_solved_only_if_both_phases_are) {
  srContactProblem* p = sr_contact_problem_create(1, 0, 1, false);
  ENSURE(p != NULL);
  CornerCase c;
  corner_case(p, &c);
  srContactSolver* s = solver_for(p);
  srContactOptions o = sr_contact_options();
  srImpactResult r;
  double x[3];
  ENSURE(solve(s, p, "nsgs", 1e-12, x).solved);
  o.method = sr_contact_method_find("nsgs");
  o.iterations = 0;
  ENSURE_EQUAL(sr_contact_impact(s, p, SR_IMPACT_POISSON, &o, x, &r), SR_OK);
  ENSURE(!r.solve.solved && r.solve.error.residual > 0.1);
  destroy(p, s);
}

// Slip that ends in stick with W_TN: the friction of the stick is -W_TT^-1 W_TN a normal impulse. u_T 0 from the beginning: all in closed form.
TEST(a_shock_that_sticks_keeps_its_contact_point) {
  const double W[9] = {2, 0.3, -0.2, 0.3, 1.5, 0.1, -0.2, 0.1, 1.8}, u[3] = {-1, 0, 0}, e = 0.5;
  const double det = 1.5 * 1.8 - 0.01, T[2] = {-(1.8 * 0.3 + 0.1 * 0.2) / det, (1.5 * 0.2 + 0.1 * 0.3) / det};
  const double rate = 2 + 0.3 * T[0] - 0.2 * T[1];
  for (int law = 0; law < 3; ++law) {
    srShock k;
    ENSURE(sr_contact_shock(W, u, 0.4, e, (srImpactLaw)law, &k));
    ENSURE_NEAR(k.p[0], (1 + e) / rate, 1e-13);
    ENSURE_NEAR(k.p[1], T[0] * k.p[0], 1e-13);
    ENSURE_NEAR(k.p[2], T[1] * k.p[0], 1e-13);
    ENSURE_NEAR(k.u[0], e, 1e-13);
    ENSURE_SMALL(hypot(k.u[1], k.u[2]), 1e-13);
  }
}

// Random impacts with friction and e = 0.9: Poisson's law never gains energy; Newton's does at times, and is reduced until it does not.
TEST(newtons_law_with_friction_is_reduced_where_it_gains_energy) {
  uint64_t seed = 51;
  int gained = 0, reduced = 0;
  for (int i = 0; i < 60; ++i) {
    srContactProblem* p = random_problem(&seed, 0, 2, 2, 3, 1);
    srContactSolver* s = solver_for(p);
    srContactOptions o = sr_contact_options();
    srImpactResult r;
    double x[MOST_ROWS] = {0}, u[MOST_ROWS];
    o.tolerance = 1e-11;
    for (int k = 0; k < 2; ++k) p->cone[k].restitution = 0.9;
    ENSURE_EQUAL(sr_contact_impact(s, p, SR_IMPACT_POISSON, &o, x, &r), SR_OK);
    ENSURE(r.solve.solved && !r.gained && r.energy <= 1e-12);
    memset(x, 0, sizeof x);
    ENSURE_EQUAL(sr_contact_impact(s, p, SR_IMPACT_NEWTON, &o, x, &r), SR_OK);
    ENSURE(r.solve.solved && r.energy <= 1e-11);  // 1e-12 of the energy that the impulses move, some J
    gained += r.gained;
    reduced += r.alpha < 1;
    ENSURE(r.alpha >= 0 && r.alpha <= 1);
    sr_contact_velocity(s, p, x, u);
    ENSURE(u[0] >= -1e-10 && u[2] >= -1e-10);  // nothing penetrates afterwards
    destroy(p, s);
  }
  ENSURE(gained >= 3 && reduced >= gained);
}

// ---- files --------------------------------------------------------------------------------------------------------------

TEST(a_contact_problem_survives_its_file_bit_for_bit) {
  uint64_t seed = 61;
  for (int k = 0; k < 4; ++k) {
    srContactProblem* p =
        k < 2 ? random_pile(&seed, 5, 7, 3 * k) : random_problem(&seed, k - 2, 3, k == 2 ? 2 : 3, 9, 0.5);
    const int n = sr_contact_rows(p);
    for (int i = 0; i < n; ++i) p->start[i] = noise(&seed) * 1e-7;
    for (int i = 0; i < p->ncontact; ++i) p->cone[i].restitution = 0.3, p->cone[i].lower = fabs(noise(&seed));
    soften(&seed, p);
    p->compliance = 1e-3;
    if (k == 3) {  // contacts of different kinds
      p->cone[1].rows = 1;
      const int rows = sr_contact_rows(p);
      for (int i = 0; i < rows; ++i) p->W[i * rows + i] = 1 + fabs(noise(&seed));
    }
    srText text = {0};
    srContactProblem* q;
    srMessages* messages = sr_messages_create();
    sr_contact_problem_text(p, &text);
    ENSURE_EQUAL(sr_contact_problem_parse(text.data, text.n, "x", messages, &q), SR_OK);
    ENSURE_EQUAL(q->ncontact, p->ncontact);
    ENSURE_EQUAL(q->nequation, p->nequation);
    ENSURE_EQUAL(q->nbody, p->nbody);
    ENSURE(q->compliance == p->compliance);
    for (int i = 0; i < p->ncontact; ++i) {
      const srContactCone *a = &p->cone[i], *b = &q->cone[i];
      ENSURE(a->rows == b->rows && a->mu == b->mu && a->restitution == b->restitution && a->lower == b->lower &&
             a->shift == b->shift);
      ENSURE(memcmp(a->slip, b->slip, sizeof a->slip) == 0);
      ENSURE(memcmp(a->compliance, b->compliance, sizeof a->compliance) == 0);
    }
    ENSURE(memcmp(q->start, p->start, (size_t)sr_contact_rows(p) * sizeof *p->start) == 0);
    if (p->W == NULL) {
      ENSURE(memcmp(q->body, p->body, (size_t)p->nbody * sizeof *p->body) == 0);
      ENSURE(memcmp(q->point, p->point, (size_t)p->ncontact * sizeof *p->point) == 0);
      ENSURE(memcmp(q->equation, p->equation, (size_t)p->nequation * sizeof *p->equation) == 0);
    } else {
      const size_t rows = (size_t)sr_contact_rows(p);
      ENSURE(memcmp(q->W, p->W, rows * rows * sizeof *p->W) == 0);
      ENSURE(memcmp(q->q, p->q, rows * sizeof *p->q) == 0);
    }
    sr_messages_destroy(messages);
    sr_text_free(&text);
    sr_contact_problem_destroy(q);
    sr_contact_problem_destroy(p);
  }
}

TEST(reading_a_contact_problem_survives_a_lack_of_memory) {
  static const char text[] =
      "contact-problem 1 body inverse_mass 1 inverse_inertia 1 1 1 0 0 0 velocity 0 0 0 0 0 -1\n"
      "contact bodies -1 0 normal 0 0 1 arm_a 0 0 0 arm_b 0 0 -0.1 mu 0.3 start 1 2 3";
  Heap heap = {0};
  sr_set_allocator(heap_allocator, &heap);
  srStatus status = SR_MEMORY;
  for (int n = 1; status == SR_MEMORY; ++n) {
    srContactProblem* p;
    heap = (Heap){.fail_at = n};
    status = sr_contact_problem_parse(text, sizeof text - 1, "x", NULL, &p);
    ENSURE((status == SR_OK) == (p != NULL));
    if (p != NULL) ENSURE(p->start[2] == 3);
    sr_contact_problem_destroy(p);
    ENSURE_EQUAL(heap.live, 0);
  }
  ENSURE_EQUAL(status, SR_OK);
  sr_set_allocator(NULL, NULL);
}
