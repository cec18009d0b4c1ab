// The mechanisms of models/benchmark, models/paper2 and models/mechanisms: for each its degrees of freedom and redundant equations, counted by
// hand; a short run with every method; and a value that does not come from this program: published tables, closed forms
// of the geometry (triangles, spheres), the equation of motion in one coordinate, made here from the positions alone.
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "runner.h"

static const double pi = 3.14159265358979323846;
static const double g = 9.81;

// Every mechanism runs in each of these ways.
typedef struct Way {
  const char* method;
  srStabilization stabilization;  // of explicit methods
  bool crosses;                   // goes through the singular positions of n-four-bar, where symmetry helps
  double crossing;                // error after four of those of the change-point four-bar, where nothing does, in
                                  //   tolerances; 0: not tried
  double position, velocity;      // largest residuals of the constraints at rtol 1e-9, m or rad, and of their rates
  double energy;  // largest part of the energy that the energy balance misses at rtol 1e-9; 0: not checked
  const char* name;
} Way;
// Residuals: all of these end every step on the constraints, so what is left is rounding, magnified by speeds of 1e3 rad/s
// and by the condition of the redundant constraints: at most 4e-14 of positions and 9e-13 of rates in these runs.
// Energy: a few tolerances over the run. Partitioned, the errors of the dependent coordinates are those of the independent
// ones times the slope between them, which grows up to where new ones are chosen.
// Crossings: hem5 crosses the singular position (found: 0.04 to 0.7 tolerances); mdop5 has the accelerations next to it from
// badly conditioned constraints (80 tolerances at 1e-5, 4 at 1e-10).
static const Way ways[] = {
    {"dopri5", SR_STABILIZATION_PROJECTION, false, 0, 1e-12, 1e-10, 1e-8, "dopri5, projected"},
    {"dopri5", SR_STABILIZATION_PARTITION, true, 0, 1e-12, 1e-10, 5e-8, "dopri5, partitioned"},
    {"mdop5", SR_STABILIZATION_PROJECTION, true, 250, 1e-12, 1e-10, 1e-8, "mdop5"},
    {"phem56", SR_STABILIZATION_PROJECTION, true, 250, 1e-12, 1e-11, 1e-8, "phem56"},
    {"radau5", SR_STABILIZATION_PROJECTION, true, 250, 1e-12, 1e-11, 1e-8, "radau5"},
    {"hem5", SR_STABILIZATION_PROJECTION, true, 5, 1e-12, 1e-11, 1e-8, "hem5"},
};
enum { WAYS = sizeof ways / sizeof ways[0] };
// Methods of order 2, and multistep methods: at rtol 1e-7, and in fewer of the tests. Order 2 has errors of a run like the tolerance to
// the power 2/3. ida keeps the constraints to a part of the tolerance. Energy 0 of cvode: not checked. In mechanisms that are
// driven altogether its states follow from the constraints, nothing but the quadratures would ask for short steps, and the
// energy balance is off by up to 4e-3.
static const Way others[] = {
    {"genalpha-ggl", SR_STABILIZATION_PROJECTION, false, 0, 1e-12, 1e-11, 5e-5, "genalpha-ggl"},
    {"cvode", SR_STABILIZATION_PROJECTION, false, 0, 1e-12, 1e-11, 0, "cvode"},
    {"ida", SR_STABILIZATION_PROJECTION, false, 0, 2e-7, 1e-5, 1e-5, "ida"},
};
enum { OTHERS = sizeof others / sizeof others[0] };
static const double others_error = 4e-4;  // of a run at that tolerance, found: 1.6e-4 of genalpha-ggl

// ------------------------------------------------------------------------------------------------------------ running
// From the initial state. A failure is printed.
static bool runs_to(Loaded* x, const Way* way, double t_end, double rtol) {
  sr_data_reset(x->m, x->d);
  srRunOptions options = sr_run_options(x->m);
  options.t_end = t_end;
  options.method = way->method;
  options.stabilization = way->stabilization;
  if (strcmp(way->method, "rk4") == 0) options.step = 5e-4;
  options.alpha = options.beta = 20;  // of Baumgarte: drift dies within 1/20 s, slow compared with the step
  options.rtol = rtol;
  options.atol = rtol * 1e-2;
  const srStatus status = sr_run(x->m, x->d, &options, NULL, &x->result);
  if (status != SR_OK) printf("%s, %s: %s\n", x->m->name, way->name, x->result.error_message);
  return status == SR_OK && x->result.t == t_end;
}

static void run_to(Loaded* x, const Way* way, double t_end, double rtol) { ENSURE(runs_to(x, way, t_end, rtol)); }

static double q_of(const Loaded* x, const char* joint) {
  const int j = sr_joint_find(x->m, joint);
  ENSURE(j >= 0);
  return x->d->q[x->m->joint_q[j]];
}

static double v_of(const Loaded* x, const char* joint) {
  const int j = sr_joint_find(x->m, joint);
  ENSURE(j >= 0);
  return x->d->v[x->m->joint_v[j]];
}

// -------------------------------------------------------------------------------------------- degrees of freedom and redundancy
// Rank by elimination with full pivoting, rows scaled to unit size; tolerance far from both the rounding of rows that are
// dependent and the pivots of those that are not (1e-2 and more in these mechanisms, away from singular positions).
static int rank_of(double* G, int rows, int columns) {
  for (int i = 0; i < rows; i++) {
    double size = 0;
    for (int j = 0; j < columns; j++) size = fmax(size, fabs(G[i * columns + j]));
    for (int j = 0; j < columns; j++) G[i * columns + j] *= size > 1e-9 ? 1 / size : 0;  // a row of roundings is none
  }
  int rank = 0;
  for (; rank < rows && rank < columns; rank++) {
    int r = rank, c = rank;
    for (int i = rank; i < rows; i++)
      for (int j = rank; j < columns; j++)
        if (fabs(G[i * columns + j]) > fabs(G[r * columns + c])) r = i, c = j;
    if (fabs(G[r * columns + c]) < 1e-9) break;
    for (int j = 0; j < columns; j++) {
      const double kept = G[rank * columns + j];
      G[rank * columns + j] = G[r * columns + j];
      G[r * columns + j] = kept;
    }
    for (int i = 0; i < rows; i++) {
      const double kept = G[i * columns + rank];
      G[i * columns + rank] = G[i * columns + c];
      G[i * columns + c] = kept;
    }
    for (int i = rank + 1; i < rows; i++) {
      const double factor = G[i * columns + rank] / G[rank * columns + rank];
      for (int j = rank; j < columns; j++) G[i * columns + j] -= factor * G[rank * columns + j];
    }
  }
  return rank;
}

// Rank of the constraints at the present state, by the elimination above; without: equations to leave out (may be NULL).
static int rank_here(Loaded* x, const int* without, int nwithout) {
  const int rows = x->m->ng, columns = x->m->nv;
  sr_kinematics(x->m, x->d);
  sr_velocity(x->m, x->d);
  ENSURE_EQUAL(sr_constraints(x->m, x->d), 0);
  double* G = calloc((size_t)(rows * columns), sizeof *G);
  sr_constraint_matrix(x->m, x->d, G);
  for (int i = 0; i < nwithout; i++)
    for (int j = 0; j < columns; j++) G[without[i] * columns + j] = 0;
  const int rank = rank_of(G, rows, columns);
  free(G);
  return rank;
}

typedef struct Mechanism {
  const char* file;
  const char* settings;
  int nv, ng;    // coordinates, constraint equations (drivers counted)
  int rank;      // by hand: nv - degrees of freedom left
  double t_end;  // of the short run
} Mechanism;

static const Mechanism mechanisms[] = {
    {"benchmark/simple-pendulum", "", 2, 1, 1, 2},
    {"benchmark/n-four-bar", "", 5, 4, 4, 0.5},
    {"benchmark/n-four-bar", "N=10", 21, 20, 20, 0.5},
    {"benchmark/net", "k=2", 10, 8, 8, 0.1},
    {"benchmark/andrews", "", 7, 6, 6, 0.01},
    {"benchmark/bricard", "", 5, 5, 4, 1},
    {"benchmark/flyball-governor", "", 4, 0, 0, 0.1},
    {"paper2/slider-crank", "", 2, 1, 1, 0.5},
    {"mechanisms/four-bar", "", 3, 2, 2, 0.5},
    {"mechanisms/six-bar-watt", "", 5, 4, 4, 0.5},
    {"mechanisms/six-bar-stephenson", "", 5, 4, 4, 0.5},
    {"mechanisms/peaucellier", "", 7, 6, 6, 1},
    {"mechanisms/jansen-leg", "", 7, 7, 7, 0.5},
    {"mechanisms/scissor-lift", "N=1", 3, 4, 2, 1},
    {"mechanisms/scissor-lift", "", 7, 14, 6, 1},
    {"mechanisms/scissor-lift", "N=6", 13, 29, 12, 0.5},
    {"mechanisms/sarrus-linkage", "", 5, 5, 4, 1},
    {"mechanisms/bennett-linkage", "", 3, 5, 2, 1},
    {"mechanisms/spatial-slider-crank", "", 4, 3, 3, 1},
    {"mechanisms/double-wishbone", "", 6, 4, 4, 1},
    {"mechanisms/five-rod-suspension", "", 9, 7, 7, 1},
    {"vehicles/car", "bump=0.05 far=0", 36, 22, 22, 0.1},
    {"mechanisms/3rrr", "", 7, 7, 7, 0.3},
    {"mechanisms/delta-robot", "", 9, 9, 9, 0.3},
    {"mechanisms/stewart-platform", "", 24, 24, 24, 0.2},
    {"mechanisms/rolling-disc", "", 6, 3, 3, 1},
    {"mechanisms/double-four-bar", "", 5, 10, 4, 0.5},
    {"mechanisms/double-four-bar", "start=pi/2", 5, 10, 2, 0},  // singular: three degrees of freedom, no run
    {"mechanisms/parallelogram", "", 4, 4, 3, 1},
    {"mechanisms/parallelogram", "cranks=5", 6, 8, 5, 1},
    {"mechanisms/cardan-trammel", "", 3, 4, 2, 1},
    {"mechanisms/change-point-four-bar", "", 3, 2, 2, 0.1},
};
enum { MECHANISMS = sizeof mechanisms / sizeof mechanisms[0] };

// The tests over the table go through all of it and print what is wrong.
TEST(mechanisms_are_drawn_closed_to_rounding) {
  int wrong = 0;
  for (int i = 0; i < MECHANISMS; i++) {
    Loaded x = open_model(mechanisms[i].file, mechanisms[i].settings);
    srAssembly assembly = {0};
    ENSURE_EQUAL(sr_assemble(x.m, x.d, NULL, &assembly), SR_OK);
    const double moved = assembly.moved_position, kicked = assembly.moved_velocity;
    if (!(moved <= 1e-14 && kicked <= 1e-12)) {  // a few roundings, magnified by the speeds: 1e3 rad/s and less
      printf("%s: the assembly moves it by %g, its velocities by %g\n", x.m->name, moved, kicked);
      wrong++;
    }
    close_model(&x);
  }
  ENSURE_EQUAL(wrong, 0);
}

TEST(mechanisms_have_the_degrees_of_freedom_and_redundant_constraints_counted_by_hand) {
  int wrong = 0;
  for (int i = 0; i < MECHANISMS; i++) {
    const Mechanism* want = &mechanisms[i];
    Loaded x = open_model(want->file, want->settings);
    const int by_elimination = rank_here(&x, NULL, 0);
    srRank* rank = NULL;
    ENSURE_EQUAL(sr_rank_create(x.m, x.d, &rank), SR_OK);
    const int left = rank_here(&x, rank->redundant, rank->nredundant);  // when the redundant equations are left out
    if (x.m->nv != want->nv || x.m->ng != want->ng || by_elimination != want->rank || rank->rank != want->rank ||
        rank->nredundant != want->ng - want->rank || left != want->rank) {
      printf(
          "%s %s: %d coordinates, %d rows, rank %d, by elimination %d, without the redundant rows %d; wanted %d %d "
          "%d\n",
          x.m->name, want->settings, x.m->nv, x.m->ng, rank->rank, by_elimination, left, want->nv, want->ng,
          want->rank);
      wrong++;
    }
    sr_rank_destroy(rank);
    close_model(&x);
  }
  ENSURE_EQUAL(wrong, 0);
}

// One mechanism in one way; what is wrong is printed.
static bool keeps(const Mechanism* want, const Way* way, double rtol) {
  Loaded x = open_model(want->file, want->settings);
  const bool done = runs_to(&x, way, want->t_end, rtol);
  const double position = x.result.violation_position, velocity = x.result.violation_velocity;
  const bool good = done && position <= way->position && velocity <= way->velocity &&
                    (way->energy == 0 || fabs(energy_residual(&x)) <= way->energy);
  if (!good) {
    printf("%s %s, %s: residual %.2g, rate %.2g, energy %.2g\n", x.m->name, want->settings, way->name, position,
           velocity, energy_residual(&x));
  }
  close_model(&x);
  return good;
}

TEST(mechanisms_keep_their_constraints_and_their_energy) {
  int wrong = 0;
  for (int i = 0; i < MECHANISMS; i++) {
    for (int k = 0; k < WAYS && mechanisms[i].t_end > 0; k++) {
      if (runner_takes(i + k)) wrong += keeps(&mechanisms[i], &ways[k], 1e-9) ? 0 : 1;
    }
  }
  ENSURE_EQUAL(wrong, 0);
}

TEST(mechanisms_keep_them_with_methods_of_low_order_and_with_many_steps) {
  int wrong = 0;
  for (int k = 0; k < OTHERS; k++) {
    if (sri_method_find(others[k].method)->absent) continue;  // built without them
    for (int i = 0; i < MECHANISMS; i++) {
      if (mechanisms[i].t_end > 0 && runner_takes(i + k)) wrong += keeps(&mechanisms[i], &others[k], 1e-7) ? 0 : 1;
    }
  }
  ENSURE_EQUAL(wrong, 0);
}

// Ten seconds with redundant constraints: the energy stays to 1e-6 at rtol 1e-9 (rk4: steps of 0.5 ms).
TEST(mechanisms_with_redundant_constraints_keep_their_energy_for_ten_seconds) {
  static const char* const files[] = {"benchmark/bricard", "mechanisms/sarrus-linkage", "mechanisms/bennett-linkage",
                                      "mechanisms/scissor-lift"};
  static const Way more[] = {{"rk4", SR_STABILIZATION_BAUMGARTE, false, 0, 0, 0, 0, "rk4, Baumgarte"}};
  int wrong = 0;
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < WAYS + 1; k++) {
      if (!runner_takes(i + k)) continue;
      const Way* way = k < WAYS ? &ways[k] : &more[0];
      Loaded x = open_model(files[i], "");
      const bool done = runs_to(&x, way, 10, 1e-9);
      if (!(done && fabs(energy_residual(&x)) <= 1e-6)) {
        printf("%s, %s: energy %.2g\n", x.m->name, way->name, energy_residual(&x));
        wrong++;
      }
      close_model(&x);
    }
  ENSURE_EQUAL(wrong, 0);
}

// ------------------------------------------------------------------------------------- geometry by ruler and compasses
// The point at ra from a and rb from b, left of a -> b (side 1) or right of it (side -1).
static void meet(const double* a, double ra, const double* b, double rb, int side, double* out) {
  const double dx = b[0] - a[0], dy = b[1] - a[1], d2 = dx * dx + dy * dy;
  const double along = (d2 + ra * ra - rb * rb) / (2 * d2), across = side * sqrt(ra * ra / d2 - along * along);
  out[0] = a[0] + along * dx - across * dy;
  out[1] = a[1] + along * dy + across * dx;
}

// A point in the frame with origin a and x towards b.
static void in_frame(const double* a, const double* b, double x, double y, double* out) {
  const double dx = b[0] - a[0], dy = b[1] - a[1], d = sqrt(dx * dx + dy * dy);
  out[0] = a[0] + (x * dx - y * dy) / d;
  out[1] = a[1] + (x * dy + y * dx) / d;
}

// A mechanism of one freedom in a plane: masses, inertias and centres of its bodies (x, y, angle) as functions of s.
enum { BODIES = 8 };
typedef struct Bodies {
  int n;
  double m[BODIES], I[BODIES], at[BODIES][3];
  double stored;  // energy of springs
} Bodies;

static void add_bar(Bodies* b, double m, const double* p, const double* q) {  // slender and uniform, from p to q
  const double dx = q[0] - p[0], dy = q[1] - p[1];
  double* at = b->at[b->n];
  at[0] = (p[0] + q[0]) / 2;
  at[1] = (p[1] + q[1]) / 2;
  at[2] = atan2(dy, dx);
  b->m[b->n] = m;
  b->I[b->n++] = m * (dx * dx + dy * dy) / 12;
}

static void add_plate(Bodies* b, double area_mass, const double* p, const double* q, const double* r) {  // triangle
  const double ax = q[0] - p[0], ay = q[1] - p[1], bx = r[0] - p[0], by = r[1] - p[1];
  double* at = b->at[b->n];
  at[0] = (p[0] + q[0] + r[0]) / 3;
  at[1] = (p[1] + q[1] + r[1]) / 3;
  at[2] = atan2(ay, ax);
  const double m = area_mass * fabs(ax * by - ay * bx) / 2;
  const double cx = bx - ax, cy = by - ay;
  b->m[b->n] = m;
  b->I[b->n++] = m * (ax * ax + ay * ay + bx * bx + by * by + cx * cx + cy * cy) / 36;
}

static void add_mass(Bodies* b, double m, double x, double y) {
  b->at[b->n][0] = x;
  b->at[b->n][1] = y;
  b->at[b->n][2] = 0;
  b->m[b->n] = m;
  b->I[b->n++] = 0;
}

typedef Bodies (*Linkage)(double s);

static const double stencil[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};  // first derivative, order 8
static const double stencil_step = 0.01;

// J(s) = sum m |x'|^2 + I angle'^2, the effective inertia of s;  V(s).
static double inertia(Linkage linkage, double s) {
  double J = 0;
  const Bodies here = linkage(s);
  double rate[BODIES][3] = {{0}};
  for (int k = 0; k < 4; k++) {
    const Bodies up = linkage(s + (k + 1) * stencil_step), down = linkage(s - (k + 1) * stencil_step);
    for (int i = 0; i < here.n; i++)
      for (int j = 0; j < 3; j++) {
        double change = up.at[i][j] - down.at[i][j];
        if (j == 2) change = remainder(change, 2 * pi);
        rate[i][j] += stencil[k] / stencil_step * change;
      }
  }
  for (int i = 0; i < here.n; i++)
    J += here.m[i] * (rate[i][0] * rate[i][0] + rate[i][1] * rate[i][1]) + here.I[i] * rate[i][2] * rate[i][2];
  return J;
}

static double potential(Linkage linkage, double gravity, double s) {
  const Bodies here = linkage(s);
  double V = here.stored;
  for (int i = 0; i < here.n; i++) V += here.m[i] * gravity * here.at[i][1];
  return V;
}

// J s'' = -J'/2 s'^2 - V', by the classic Runge-Kutta.
static void one_freedom_steps(Linkage linkage, double gravity, double t_end, int steps, double* s, double* v) {
  const double h = t_end / steps;
  for (int step = 0; step < steps; step++) {
    double ks[4], kv[4];
    for (int r = 0; r < 4; r++) {
      const double c = r == 0 ? 0 : r == 3 ? h : h / 2;
      const double s1 = *s + (r ? c * ks[r - 1] : 0), v1 = *v + (r ? c * kv[r - 1] : 0);
      double dJ = 0, dV = 0;
      for (int k = 0; k < 4; k++) {
        const double up = s1 + (k + 1) * stencil_step, down = s1 - (k + 1) * stencil_step;
        dJ += stencil[k] / stencil_step * (inertia(linkage, up) - inertia(linkage, down));
        dV += stencil[k] / stencil_step * (potential(linkage, gravity, up) - potential(linkage, gravity, down));
      }
      ks[r] = v1;
      kv[r] = -(dJ / 2 * v1 * v1 + dV) / inertia(linkage, s1);
    }
    *s += h / 6 * (ks[0] + 2 * ks[1] + 2 * ks[2] + ks[3]);
    *v += h / 6 * (kv[0] + 2 * kv[1] + 2 * kv[2] + kv[3]);
  }
}

// With n and 2n steps, extrapolated: order 5. The last correction is the error of the better half, more or less.
static void one_freedom(Linkage linkage, double gravity, double t_end, int steps, double* s, double* v) {
  double s1 = *s, v1 = *v;
  one_freedom_steps(linkage, gravity, t_end, steps, &s1, &v1);
  one_freedom_steps(linkage, gravity, t_end, 2 * steps, s, v);
  *s += (*s - s1) / 15;
  *v += (*v - v1) / 15;
}

static Bodies four_bar(double s) {
  Bodies b = {0};
  const double O[2] = {0, 0}, D[2] = {0.7, 0}, A[2] = {0.2 * cos(s), 0.2 * sin(s)};
  double B[2];
  meet(A, 0.6, D, 0.5, 1, B);
  add_bar(&b, 2 * 0.2, O, A);
  add_bar(&b, 2 * 0.6, A, B);
  add_bar(&b, 2 * 0.5, D, B);
  return b;
}

static Bodies watt(double s) {
  Bodies b = {0};
  const double O[2] = {0, 0}, O4[2] = {0.7, 0}, A[2] = {0.2 * cos(s), 0.2 * sin(s)};
  double B[2], C[2], D[2], E[2];
  meet(A, 0.6, O4, 0.5, 1, B);
  in_frame(A, B, 0.85, -0.1, C);
  in_frame(O4, B, 0.7, 0.1, D);
  meet(C, 0.3, D, 0.32, 1, E);
  add_bar(&b, 2 * 0.2, O, A);
  add_plate(&b, 12, A, B, C);
  add_plate(&b, 12, O4, B, D);
  add_bar(&b, 2 * 0.3, C, E);
  add_bar(&b, 2 * 0.32, D, E);
  return b;
}

static Bodies stephenson(double s) {
  Bodies b = {0};
  const double O[2] = {0, 0}, O4[2] = {0.7, 0}, O6[2] = {1, 0.45}, A[2] = {0.2 * cos(s), 0.2 * sin(s)};
  double B[2], C[2], E[2];
  meet(A, 0.6, O4, 0.5, 1, B);
  in_frame(A, B, 0.3, 0.25, C);
  meet(C, 0.8, O6, 0.5, 1, E);
  add_bar(&b, 2 * 0.2, O, A);
  add_plate(&b, 12, A, B, C);
  add_bar(&b, 2 * 0.5, O4, B);
  add_bar(&b, 2 * 0.8, C, E);
  add_bar(&b, 2 * 0.5, O6, E);
  return b;
}

static Bodies slider_crank(double s) {
  Bodies b = {0};
  const double O[2] = {0, 0}, A[2] = {0.15 * cos(s), 0.15 * sin(s)};
  const double B[2] = {A[0] + sqrt(0.35 * 0.35 - A[1] * A[1]), 0};
  add_bar(&b, 0.4, O, A);
  add_bar(&b, 0.9, A, B);
  add_mass(&b, 1.2, B[0], B[1]);
  return b;
}

static Bodies peaucellier(double s) {
  Bodies b = {0};
  const double O[2] = {0, 0}, Q[2] = {0, -0.2}, A[2] = {0.2 * sin(s), -0.2 - 0.2 * cos(s)};
  double B[2], D[2];
  meet(O, 0.5, A, 0.2, 1, B);
  meet(O, 0.5, A, 0.2, -1, D);
  const double C[2] = {B[0] + D[0] - A[0], B[1] + D[1] - A[1]};
  add_bar(&b, 0.4, Q, A);
  add_bar(&b, 1, O, B);
  add_bar(&b, 1, O, D);
  add_bar(&b, 0.4, B, A);
  add_bar(&b, 0.4, D, A);
  add_bar(&b, 0.4, B, C);
  add_bar(&b, 0.4, D, C);
  return b;
}

static Bodies scissor_lift(double s) {  // three stages
  Bodies b = {0};
  const double c = cos(s), h = sin(s);
  for (int i = 0; i < 3; i++) {
    const double left_low[2] = {0, i * h}, right_high[2] = {c, (i + 1) * h};
    const double right_low[2] = {c, i * h}, left_high[2] = {0, (i + 1) * h};
    add_bar(&b, 2, left_low, right_high);
    add_bar(&b, 2, right_low, left_high);
  }
  add_mass(&b, 20, 0, 3 * h);
  b.stored = 8000.0 / 2 * (c - 0.6) * (c - 0.6);
  return b;
}

static Bodies sarrus_linkage(double s) {  // two pairs of plates, each in its own plane
  Bodies b = {0};
  const double c = 0.4 * cos(s), h = 0.4 * sin(s);
  const double base[2] = {0, 0}, knee[2] = {-c, h}, top[2] = {0, 2 * h};
  for (int pair = 0; pair < 2; pair++) {
    add_bar(&b, 1, base, knee);
    add_bar(&b, 1, knee, top);
  }
  add_mass(&b, 4, 0, 2 * h);
  b.stored = 600.0 / 2 * (2 * h - 0.55) * (2 * h - 0.55);
  return b;
}

static Bodies row_of_four_bars(double s) {  // upright cranks and two couplers, all 1 m and 1 kg
  Bodies b = {0};
  for (int i = 0; i < 3; i++) {
    const double foot[2] = {i, 0}, tip[2] = {i + sin(s), cos(s)}, next[2] = {i + 1 + sin(s), cos(s)};
    add_bar(&b, 1, foot, tip);
    if (i < 2) add_bar(&b, 1, tip, next);
  }
  return b;
}

static Bodies cranks(int n, double s) {
  Bodies b = {0};
  for (int i = 0; i < n; i++) {
    const double bearing[2] = {0.4 * i, 0}, pin[2] = {0.4 * i + 0.5 * sin(s), -0.5 * cos(s)};
    add_bar(&b, 1, bearing, pin);
  }
  add_mass(&b, 3, 0.5 * sin(s), -0.5 * cos(s));  // the coupler does not turn
  return b;
}
static Bodies three_cranks(double s) { return cranks(3, s); }
static Bodies five_cranks(double s) { return cranks(5, s); }

static Bodies trammel(double s) {
  Bodies b = {0};
  const double A[2] = {cos(s), 0}, B[2] = {0, -sin(s)};
  add_bar(&b, 1, B, A);
  return b;
}

// Lengths 2, 1, 2.5, 1.5. The angle between coupler and diagonal goes smoothly through zero where all links are collinear:
// sin(angle/2) = sin(s/2) sqrt(8 (4 - r)/(10 r (r + 1))), r the diagonal.
static Bodies change_point(double s) {
  Bodies b = {0};
  const double O[2] = {0, 0}, D[2] = {2, 0}, A[2] = {cos(s), sin(s)};
  const double r = sqrt(5 - 4 * cos(s));
  const double angle = atan2(D[1] - A[1], D[0] - A[0]) + 2 * asin(sin(s / 2) * sqrt(0.8 * (4 - r) / (r * (r + 1))));
  const double B[2] = {A[0] + 2.5 * cos(angle), A[1] + 2.5 * sin(angle)};
  add_bar(&b, 1, O, A);
  add_bar(&b, 2.5, A, B);
  add_bar(&b, 1.5, D, B);
  return b;
}

// Models of one freedom against their equation in one coordinate, from positions alone.
typedef struct OneFreedom {
  const char* file;
  const char* settings;
  Linkage linkage;
  double gravity;
  const char* joint;  // whose coordinate is s
  double s0, v0;
  double t_end;
  int steps;  // of the reference; twice as many change it by less than 1e-9
} OneFreedom;
static const OneFreedom one_freedom_models[] = {
    {"paper2/slider-crank", "", slider_crank, 9.81, "crank", 0.4, 15, 1, 2000},
    {"mechanisms/four-bar", "", four_bar, 9.81, "crank", 1, 12, 1, 1000},
    {"mechanisms/six-bar-watt", "", watt, 9.81, "crank", 1, 15, 1, 4000},
    {"mechanisms/six-bar-stephenson", "", stephenson, 9.81, "crank", 1, 15, 1, 2000},
    {"mechanisms/peaucellier", "", peaucellier, 9.81, "crank", 1, 0, 2, 500},
    {"mechanisms/scissor-lift", "", scissor_lift, 9.81, "up1", 0.7, 0, 1, 500},
    {"mechanisms/sarrus-linkage", "", sarrus_linkage, 9.81, "lower2", 0.9, 0, 2, 500},
    {"mechanisms/double-four-bar", "", row_of_four_bars, 9.81, "crank1", 0.3, -1, 0.8, 500},
    {"mechanisms/parallelogram", "", three_cranks, 9.81, "crank2", 1, 0, 2, 500},
    {"mechanisms/parallelogram", "cranks=5", five_cranks, 9.81, "crank4", 1, 0, 2, 500},
    {"mechanisms/cardan-trammel", "", trammel, 9.81, "", 0.5, 8, 1, 500},
    {"mechanisms/change-point-four-bar", "", change_point, 0, "crank", 1, 20, 0.2, 500},
};

// The end of a run and the solution (s, v) differ by no more than the tolerance, ten times that in the rate.
static void follow(const OneFreedom* want, const Way* way, double rtol, double s, double v, double tolerance) {
  Loaded x = open_model(want->file, want->settings);
  run_to(&x, way, want->t_end, rtol);
  const double q = *want->joint ? q_of(&x, want->joint) : x.d->q[2];
  const double rate = *want->joint ? v_of(&x, want->joint) : x.d->v[2];
  if (fabs(q - s) > tolerance || fabs(rate - v) > 10 * tolerance)
    printf("%s %s, %s: %.12g for %.12g, rate %.12g for %.12g\n", x.m->name, want->settings, way->name, q, s, rate, v);
  ENSURE_NEAR(q, s, tolerance);
  ENSURE_NEAR(rate, v, 10 * tolerance);
  close_model(&x);
}

TEST(mechanisms_of_one_degree_of_freedom_follow_their_equation_in_one_coordinate) {
  for (int i = 0; i < (int)(sizeof one_freedom_models / sizeof one_freedom_models[0]); i++) {
    if (!runner_takes(i)) continue;
    const OneFreedom* want = &one_freedom_models[i];
    double s = want->s0, v = want->v0;
    one_freedom(want->linkage, want->gravity, want->t_end, want->steps, &s, &v);
    for (int k = 0; k < WAYS; k++) follow(want, &ways[k], 1e-10, s, v, 1e-7);
    for (int k = 0; k < OTHERS; k++) {
      if (!sri_method_find(others[k].method)->absent) follow(want, &others[k], 1e-7, s, v, others_error);
    }
  }
}

// Four crossings of the singular position in 1.2 s, the smooth branch every time. From each tolerance to the next the error may
// go up and down with the place where steps fall, but it stays within a multiple of the tolerance, and over four decades
// it falls by two at least.
TEST(change_point_four_bar_stays_on_its_branch_through_four_crossings) {
  enum { DECADES = 6 };  // 1e-5 ... 1e-10
  double s = 1, v = 20, error[DECADES];
  one_freedom(change_point, 0, 1.2, 8000, &s, &v);
  ENSURE(s > 8 * pi && s < 10 * pi);
  for (int k = 0; k < WAYS; k++) {
    if (ways[k].crossing == 0) continue;
    for (int i = 0; i < DECADES; i++) {
      if (runner_sanitized() && i != 1 && i != 5) continue;
      const double tolerance = pow(10, -5 - i);
      Loaded x = open_model("mechanisms/change-point-four-bar", "");
      run_to(&x, &ways[k], 1.2, tolerance);
      error[i] = fabs(q_of(&x, "crank") - s);
      if (!(error[i] <= ways[k].crossing * tolerance))
        printf("%s, tolerance %g: error %g\n", ways[k].name, tolerance, error[i]);
      ENSURE_SMALL(error[i], ways[k].crossing * tolerance);
      close_model(&x);
    }
    ENSURE(error[5] < 1e-2 * error[1]);
  }
}

// ----------------------------------------------------------------------------------------------------------- benchmarks
// IFToMM benchmark A01, computed apart by Taylor series: t, x, y, vx, vy.
TEST(simple_pendulum_agrees_with_the_iftomm_table) {
  static const double table[][5] = {
      {1, 0.98629175113187531929, -0.16501085312554116913, 0.29690551591631582225, 1.7746436411126556264},
      {2, -0.79356619534332174697, -0.60848393044379151465, -2.102437874436125789, 2.7419353930105090791},
      {5, -0.94230543504375733513, -0.33475433841400058183, 0.85790425688594907658, -2.4149286543704886241},
      {10, -0.27508746257611685693, -0.96141920509912506516, 4.1755981009517288415, -1.1947490545604752584}};
  for (int k = 0; k < WAYS + OTHERS; k++) {
    const Way* way = k < WAYS ? &ways[k] : &others[k - WAYS];
    if (sri_method_find(way->method)->absent) continue;
    const double loose = k < WAYS ? 1 : sri_method_find(way->method)->order == 2 ? 1e3 : 100;
    Loaded x = open_model("benchmark/simple-pendulum", "");
    for (int i = 0; i < (runner_sanitized() ? 2 : 4); i++) {
      run_to(&x, way, table[i][0], 1e-11);
      ENSURE_NEAR(q_of(&x, "x"), table[i][1], loose * 1e-8);
      ENSURE_NEAR(q_of(&x, "y"), table[i][2], loose * 1e-8);
      ENSURE_NEAR(v_of(&x, "x"), table[i][3], loose * 1e-7);
      ENSURE_NEAR(v_of(&x, "y"), table[i][4], loose * 1e-7);
    }
    ENSURE_SMALL(x.result.energy.residual, 5e-5);  // J, the limit that the benchmark sets
    close_model(&x);
  }
}

// IFToMM A02, N = 2: t, and B0's x, y, vx, vy. All cranks stay parallel through the singular positions.
TEST(n_four_bar_agrees_with_the_iftomm_table_through_its_singular_positions) {
  static const double table[][5] = {
      {1, -0.19502030194943509364, -0.9807992056621738326, -6.6766780368811580662, 1.3275783251604872139},
      {2, 0.057815795768011431847, 0.99832726786345548131, 1.0172601366204365105, -0.058912248713445648198},
      {5, -0.81131046100510741219, -0.58461554534897554768, -3.5691173971932091857, 4.9531051713133269734},
      {10, 0.32845811154081537865, 0.94451853817860096216, 1.4230514702069441233, -0.49486884548704295899}};
  for (int k = 0; k < WAYS; k++) {
    Loaded x = open_model("benchmark/n-four-bar", "N=2");
    for (int i = 0; ways[k].crosses && i < 4; i++) {
      run_to(&x, &ways[k], table[i][0], 1e-10);
      const srFrameMotion B0 = sensor(&x, "B0");
      for (int j = 0; j < 2; j++) {
        ENSURE_NEAR(B0.position[j], table[i][1 + j], 1e-6);
        ENSURE_NEAR(B0.velocity[j], table[i][3 + j], 1e-5);
      }
      ENSURE_NEAR(q_of(&x, "crank1"), q_of(&x, "crank0"), 1e-6);
      ENSURE_NEAR(q_of(&x, "crank2"), q_of(&x, "crank0"), 1e-6);
    }
    close_model(&x);
  }
}

// The report has an event for each of them: two in a revolution, 5 revolutions of 1.9425 s and a bit.
TEST(n_four_bar_reports_the_singular_positions_that_hem5_has_passed) {
  const double revolution = 1.94251492260708368;
  Loaded x = open_model("benchmark/n-four-bar", "N=2");
  run_to(&x, &ways[WAYS - 1], 10, 1e-8);
  ENSURE_EQUAL(x.result.event_count, 10);
  ENSURE_EQUAL(x.result.nevent, 10);
  for (int i = 0; i < 10; i++) {
    ENSURE_TEXT(x.result.event[i].kind, "rank");
    ENSURE_EQUAL((int)floor(x.result.event[i].t / revolution), i / 2);
  }
  close_model(&x);
}

// The tolerances of Haddouni et al. (2017) allow drift, but not where branches cross.
TEST(n_four_bar_passes_its_singular_positions_under_the_rules_of_paper_2) {
  static const char* const methods[] = {"mdop5", "hem5", "phem56"};
  for (int k = 0; k < 3; k++) {
    Loaded x = open_model("benchmark/n-four-bar", "N=2");
    srRunOptions options = sr_run_options(x.m);
    options.t_end = 10;
    options.method = methods[k];
    options.control = SR_CONTROL_POSITIONS;
    options.rtol = options.atol = 1e-4;
    ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
    ENSURE_NEAR(q_of(&x, "crank1"), q_of(&x, "crank0"), 1e-3);
    ENSURE_NEAR(q_of(&x, "crank2"), q_of(&x, "crank0"), 1e-3);
    ENSURE_SMALL(x.result.energy.residual, 2e-2 * x.result.energy.scale);
    ENSURE(x.result.violation_position <= 1e-4 && x.result.violation_velocity <= 1e-4);
    close_model(&x);
  }
}

// In the singular position each crank can turn for itself: N + 1 degrees of freedom.
TEST(n_four_bar_has_one_degree_of_freedom_for_each_crank_where_it_is_singular) {
  Loaded x = open_model("benchmark/n-four-bar", "N=4 start=pi/2");
  ENSURE_EQUAL(x.m->nv - rank_here(&x, NULL, 0), 5);
  close_model(&x);
  x = open_model("benchmark/n-four-bar", "N=4 start=1");
  ENSURE_EQUAL(x.m->nv - rank_here(&x, NULL, 0), 1);
  close_model(&x);
}

// theta'' = k g sin(theta), k = ((N+1)/2 + N)/((N+1)/3 + N), before the first singular position.
TEST(n_four_bar_of_ten_loops_is_the_pendulum_of_its_sums) {
  const double k = (11.0 / 2 + 10) / (11.0 / 3 + 10);
  double s = 0.2, v = 1;
  const int steps = 2000;
  const double h = 0.4 / steps;
  for (int i = 0; i < steps; i++) {  // Runge-Kutta-Nystrom of order 4
    const double a1 = k * g * sin(s), a2 = k * g * sin(s + h / 2 * v + h * h / 8 * a1),
                 a3 = k * g * sin(s + h * v + h * h / 2 * a2);
    s += h * v + h * h / 6 * (a1 + 2 * a2);
    v += h / 6 * (a1 + 4 * a2 + a3);
  }
  Loaded x = open_model("benchmark/n-four-bar", "N=10 start=0.2");
  run_to(&x, &ways[0], 0.4, 1e-10);
  ENSURE_NEAR(q_of(&x, "crank10"), s, 1e-8);
  ENSURE_NEAR(v_of(&x, "crank10"), v, 1e-7);
  close_model(&x);
}

// Andrews at t = 0.03: Test Set for IVP Solvers, problem andrews, recomputed in 113-bit arithmetic: the published end is off by 3e-10 in q and 5e-8 in v, positions then velocities.
TEST(andrews_agrees_with_the_recomputed_reference) {
  static const char* const names[7] = {"beta", "theta", "gamma", "phi", "delta", "omega", "epsilon"};
  static const double q[7] = {15.8107711951537071,  -15.7563710584118395, 0.0408222401196458049, -0.534730116342079594,
                              0.524409965879954069, 0.534730116342079594, 1.04808074104193787};
  static const double v[7] = {1139.92030225910606,  -1424.37929517754007, 11.0329119106185937, 19.2933741050320408,
                              0.573569914829502454, -19.2933741050320408, 0.323179149249130875};
  static const double a[7] = {-24631.7631228746345, 51850.3196364642315,  324102.600707578606, 566749.422000995326,
                              16743.6354183454446,  -566749.422000995326, 9826.50780154416269};
  for (int k = 0; k < WAYS; k++) {
    Loaded x = open_model("benchmark/andrews", "");
    run_to(&x, &ways[k], 0.03, 1e-11);
    double position = 0, velocity = 0, acceleration = 0;
    for (int i = 0; i < 7; i++) {
      position = fmax(position, fabs(q_of(&x, names[i]) / q[i] - 1));
      velocity = fmax(velocity, fabs(v_of(&x, names[i]) / v[i] - 1));
      acceleration = fmax(acceleration, fabs(x.d->a[x.m->joint_v[sr_joint_find(x.m, names[i])]] / a[i] - 1));
    }
    if (position > 1e-8 || velocity > 1e-7 || acceleration > 1e-6)
      printf("%s: relative error %.2g, rate %.2g, acceleration %.2g\n", ways[k].name, position, velocity, acceleration);
    ENSURE_SMALL(position, 1e-8);
    ENSURE_SMALL(velocity, 1e-7);
    ENSURE_SMALL(acceleration, 1e-6);
    close_model(&x);
  }
}

// At the start of the reference the accelerations are known in 30 digits.
TEST(andrews_starts_with_the_accelerations_of_the_reference) {
  Loaded x = open_model("benchmark/andrews", "");
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  const int beta = x.m->joint_v[sr_joint_find(x.m, "beta")], theta = x.m->joint_v[sr_joint_find(x.m, "theta")];
  ENSURE_NEAR(x.d->a[beta], 14222.4439199541138705911625887, 1e-7);
  ENSURE_NEAR(x.d->a[theta], -10666.8329399655854029433719415, 1e-7);
  for (int i = 0; i < x.m->nv; i++)
    if (i != beta && i != theta) ENSURE_SMALL(x.d->a[i], 1e-6);
  close_model(&x);
}

// IFToMM A04: P3 to about 1e-11.
TEST(bricard_agrees_with_the_iftomm_table) {
  static const double table[][4] = {{1, 0.51050146119, -1.64916759939, 0.14012311455},
                                    {2, -0.96934034478, -1.22124689496, 0.75427801078},
                                    {5, 0.99999999774, -1.00006725770, 0.99993274004},
                                    {10, 0.99999996381, -1.00026901270, 0.99973095112}};
  for (int k = 0; k < WAYS + OTHERS; k++) {
    const Way* way = k < WAYS ? &ways[k] : &others[k - WAYS];
    if (sri_method_find(way->method)->absent) continue;
    Loaded x = open_model("benchmark/bricard", "");
    for (int i = 0; i < (runner_sanitized() ? 2 : 4); i++) {
      run_to(&x, way, table[i][0], 1e-10);
      const srFrameMotion P3 = sensor(&x, "P3");
      for (int j = 0; j < 3; j++) ENSURE_NEAR(P3.position[j], table[i][1 + j], 1e-7);
    }
    ENSURE_SMALL(energy_residual(&x), k < WAYS ? 1e-8 : 1e-6);
    close_model(&x);
  }
}

// The governor while both sides move alike: angle of the rods and height of the slider; the spin follows from the angular
// momentum. x: angle, height, their rates.
static double governor_spin_inertia(double angle) {
  const double m = 0.3, w = 0.01, reach = 0.05 + 0.5 * cos(angle), tip = 0.05 + cos(angle);
  const double axial = m * w * w / 6, across = m * (1 + w * w) / 12;
  const double rod = across * cos(angle) * cos(angle) + axial * sin(angle) * sin(angle) + m * reach * reach;
  return axial + 3 * 0.1 * 0.1 / 6 + 2 * (rod + 5 * tip * tip);
}

static void governor_rates(double momentum, const double* x, double* rate) {
  const double c = cos(x[0]), s = sin(x[0]), m = 0.3, w = 0.01;
  const double dx = 0.5 * c, dz = 1 - 0.5 * s - x[1], z = sqrt(dx * dx + dz * dz);
  const double z_angle = (dx * (-0.5 * s) + dz * (-0.5 * c)) / z, z_height = -dz / z;
  const double force = 8e5 * (z - 0.5) + 4e4 * (z_angle * x[2] + z_height * x[3]);  // pulls together
  const double h = 1e-3, spin = momentum / governor_spin_inertia(x[0]);
  double change = 0;  // of the spin's inertia by the angle
  for (int k = 0; k < 4; k++)
    change += stencil[k] / h * (governor_spin_inertia(x[0] + (k + 1) * h) - governor_spin_inertia(x[0] - (k + 1) * h));
  const double J = 2 * (m * (1 + w * w) / 12 + m / 4 + 5);
  rate[0] = x[2];
  rate[1] = x[3];
  rate[2] = (change / 2 * spin * spin + 2 * (m / 2 + 5) * g * c - 2 * force * z_angle) / J;
  rate[3] = -g - 2 * force * z_height / 3;
}

TEST(flyball_governor_follows_its_two_coordinates) {
  const double t_end = runner_long() ? 10 : 1;
  const int steps = (int)(t_end * 50000);  // the damper's time constant is 0.1 ms
  const double h = t_end / steps, momentum = 2 * pi * governor_spin_inertia(pi / 6);
  double x[4] = {pi / 6, 0.5, 0, 0}, k[4][4], stage[4];
  for (int i = 0; i < steps; i++) {
    for (int r = 0; r < 4; r++) {
      const double c = r == 0 ? 0 : r == 3 ? h : h / 2;
      for (int j = 0; j < 4; j++) stage[j] = x[j] + (r ? c * k[r - 1][j] : 0);
      governor_rates(momentum, stage, k[r]);
    }
    for (int j = 0; j < 4; j++) x[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
  }
  Loaded model = open_model("benchmark/flyball-governor", "");
  run_to(&model, &ways[0], t_end, 1e-10);
  ENSURE_NEAR(q_of(&model, "right"), x[0], 1e-7);
  ENSURE_NEAR(q_of(&model, "left"), x[0], 1e-7);
  ENSURE_NEAR(q_of(&model, "slider"), x[1], 1e-7);
  ENSURE_NEAR(v_of(&model, "spin"), momentum / governor_spin_inertia(x[0]), 1e-6);
  close_model(&model);
}

// The IFToMM benchmark, in the three readings of its universal joint: angle of the crank and place of the slider at 5 s,
// good to 5e-8 by the difference of two tolerances.
TEST(spatial_slider_crank_agrees_with_the_tables_for_three_directions_of_its_cross) {
  static const struct {
    const char* settings;
    double theta, omega, slider;
  } table[] = {{"cx=1 cy=0", 51.36943989, 7.90367971, 0.254650085},
               {"", 51.65979373, 10.16176211, 0.267545361},
               {"cy=0 cz=1", 51.71042555, 10.67140460, 0.269561582}};
  for (int k = 0; k < WAYS; k++)
    for (int i = 0; i < 3; i++) {
      if (!runner_takes(i + k)) continue;
      Loaded x = open_model("mechanisms/spatial-slider-crank", table[i].settings);
      run_to(&x, &ways[k], 5, 1e-10);
      ENSURE_NEAR(q_of(&x, "theta"), table[i].theta, 2e-6);
      ENSURE_NEAR(v_of(&x, "theta"), table[i].omega, 2e-5);
      ENSURE_NEAR(q_of(&x, "slider"), table[i].slider, 2e-7);
      close_model(&x);
    }
}

// ----------------------------------------------------------------------------------------------------------- mechanisms
// y = -(long^2 - side^2)/(2 crank), and x = -y tan(angle/2).
typedef struct Line {
  const Loaded* x;
  double off, left, right;
} Line;

static int watch_line(void* user, const double* row) {
  (void)row;
  Line* line = user;
  const srFrameMotion C = sensor(line->x, "C");
  line->off = fmax(line->off, fabs(C.position[1] + (0.5 * 0.5 - 0.2 * 0.2) / (2 * 0.2)));
  line->left = fmin(line->left, C.position[0]);
  line->right = fmax(line->right, C.position[0]);
  return 0;
}

TEST(peaucellier_draws_a_straight_line) {
  Loaded x = open_model("mechanisms/peaucellier", "");
  Line line = {.x = &x};
  srRunOptions options = sr_run_options(x.m);
  options.t_end = 2;
  options.every = 0.01;
  options.rtol = 1e-9;
  options.row = watch_line;
  options.user = &line;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
  ENSURE_EQUAL(x.result.rows, 201);
  ENSURE_SMALL(line.off, 1e-9);
  // From rest at the angle 1 it swings to the same on the other side: x = outer*sin(1/2).
  const double widest = (0.5 * 0.5 - 0.2 * 0.2) / (2 * 0.2) * tan(0.5);
  ENSURE_NEAR(line.right, widest, 1e-9);
  ENSURE_NEAR(line.left, -widest, 2e-3);  // between two rows
  close_model(&x);
}

// T, U, S, V and the foot by ruler and compasses.
static void jansen(double crank, double* foot, double* knee) {
  const double P[2] = {0.15 * cos(crank), 0.15 * sin(crank)}, B[2] = {-0.38, -0.078};
  double T[2], U[2], S[2];
  meet(P, 0.50, B, 0.415, -1, T);
  meet(P, 0.619, B, 0.393, 1, U);
  meet(B, 0.401, T, 0.558, 1, S);
  meet(S, 0.394, U, 0.367, -1, knee);
  meet(U, 0.49, knee, 0.657, 1, foot);
}

TEST(jansen_leg_steps_where_ruler_and_compasses_put_it) {
  for (int k = 0; k < WAYS; k++) {
    Loaded x = open_model("mechanisms/jansen-leg", "");
    for (double t = 0.1; t < 1.05; t += 0.15) {
      run_to(&x, &ways[k], t, 1e-9);
      double foot[2], knee[2];
      jansen(2 * pi * t, foot, knee);
      for (int j = 0; j < 2; j++) {
        ENSURE_NEAR(sensor(&x, "foot").position[j], foot[j], 1e-8);
        ENSURE_NEAR(sensor(&x, "knee").position[j], knee[j], 1e-8);
      }
    }
    close_model(&x);
  }
}

TEST(cardan_trammel_draws_its_ellipse) {
  for (int k = 0; k < WAYS; k++) {
    Loaded x = open_model("mechanisms/cardan-trammel", "");
    for (int i = 1; i <= 5; i++) {
      run_to(&x, &ways[k], 0.3 * i, 1e-9);
      const srFrameMotion trace = sensor(&x, "trace"), A = sensor(&x, "A"), B = sensor(&x, "B");
      ENSURE_NEAR(hypot(trace.position[0] / 0.7, trace.position[1] / 0.3), 1, 1e-8);
      ENSURE_SMALL(A.position[1], 1e-8);
      ENSURE_SMALL(B.position[0], 1e-8);
    }
    close_model(&x);
  }
}

// The centre goes round on a circle of radius r |s|/Omega, at constant height.
TEST(rolling_disc_rolls_in_its_steady_circle) {
  const double r = 0.3, lean = 1.1, Omega = 2;
  const double s =
      (r * r / 4 * Omega * Omega * sin(lean) * cos(lean) - g * r * cos(lean)) / (1.5 * r * r * Omega * sin(lean));
  for (int k = 0; k < WAYS; k++) {
    Loaded x = open_model("mechanisms/rolling-disc", "");
    for (int i = 1; i <= 4; i++) {
      const double t = 0.4 * i;
      run_to(&x, &ways[k], t, 1e-10);
      const srFrameMotion centre = sensor(&x, "centre");
      ENSURE_NEAR(centre.position[0], -r * s / Omega * sin(Omega * t), 1e-7);
      ENSURE_NEAR(centre.position[1], r * s / Omega * cos(Omega * t), 1e-7);
      ENSURE_NEAR(centre.position[2], r * sin(lean), 1e-7);
      ENSURE_NEAR(centre.rotation[8], cos(lean), 1e-7);  // axis against the vertical
    }
    close_model(&x);
  }
}

// tan(theta1/2) tan(theta2/2) = sin((beta + alpha)/2)/sin((beta - alpha)/2), theta3 = -theta1.
TEST(bennett_linkage_keeps_its_relation_of_angles) {
  const double alpha = 0.6, beta = asin(0.4 * sin(alpha) / 0.3), K = sin((beta + alpha) / 2) / sin((beta - alpha) / 2);
  for (int k = 0; k < WAYS; k++) {
    Loaded x = open_model("mechanisms/bennett-linkage", "");
    for (int i = 1; i <= 5; i++) {
      run_to(&x, &ways[k], 0.4 * i, 1e-9);
      const double theta1 = q_of(&x, "theta1"), theta2 = q_of(&x, "theta2"), theta3 = q_of(&x, "theta3");
      ENSURE_SMALL(sin(theta1 / 2) * sin(theta2 / 2) - K * cos(theta1 / 2) * cos(theta2 / 2), 1e-8);
      ENSURE_SMALL(sin((theta1 + theta3) / 2), 1e-8);
    }
    close_model(&x);
  }
}

// The legs have the lengths of the path, so the platform must be on it.
TEST(stewart_platform_follows_the_path_that_its_legs_were_computed_from) {
  for (int k = 0; k < WAYS; k++) {
    Loaded x = open_model("mechanisms/stewart-platform", "");
    for (int i = 1; i <= 3; i++) {
      const double t = 0.17 * i, f = 1 - cos(2 * pi * t), yaw = 0.15 * f, pitch = 0.1 * f;
      run_to(&x, &ways[k], t, 1e-9);
      const srFrameMotion p = sensor(&x, "platform");
      ENSURE_NEAR(p.position[0], 0.05 * f, 1e-8);
      ENSURE_SMALL(p.position[1], 1e-8);
      ENSURE_NEAR(p.position[2], 0.7 + 0.06 * f, 1e-8);
      ENSURE_NEAR(p.rotation[0], cos(yaw) * cos(pitch), 1e-8);
      ENSURE_NEAR(p.rotation[3], sin(yaw) * cos(pitch), 1e-8);
      ENSURE_NEAR(p.rotation[6], -sin(pitch), 1e-8);
      ENSURE_NEAR(p.rotation[4], cos(yaw), 1e-8);
      for (int leg = 0; leg < 6; leg++) {  // length from the positions, against the coordinate
        const double side = leg % 2 ? 1 : -1, base = 2 * pi / 3 * (leg / 2) + side * 0.2;
        const double tip = 2 * pi / 3 * (leg / 2) + side * (pi / 3 - 0.25);
        const double local[3] = {0.4 * cos(tip), 0.4 * sin(tip), 0};
        double length = 0;
        for (int j = 0; j < 3; j++) {
          double d = p.position[j] - (j == 0 ? 0.6 * cos(base) : j == 1 ? 0.6 * sin(base) : 0);
          for (int c = 0; c < 3; c++) d += p.rotation[3 * j + c] * local[c];
          length += d * d;
        }
        char name[32];
        snprintf(name, sizeof name, "leg%d", leg);
        ENSURE_NEAR(sqrt(length), q_of(&x, name), 1e-8);
      }
    }
    close_model(&x);
  }
}

TEST(delta_robot_follows_its_path_and_keeps_its_directions) {
  for (int k = 0; k < WAYS; k++) {
    Loaded x = open_model("mechanisms/delta-robot", "");
    for (int i = 1; i <= 3; i++) {
      const double t = 0.23 * i, c = 1 - cos(2 * pi * t), s2 = sin(2 * pi * t) * sin(2 * pi * t);
      run_to(&x, &ways[k], t, 1e-9);
      const srFrameMotion p = sensor(&x, "platform");
      ENSURE_NEAR(p.position[0], 0.06 * c, 1e-8);
      ENSURE_NEAR(p.position[1], 0.05 * s2, 1e-8);
      ENSURE_NEAR(p.position[2], -0.45 - 0.04 * s2, 1e-8);
      for (int j = 0; j < 9; j++) ENSURE_NEAR(p.rotation[j], j % 4 == 0, 1e-7);
    }
    close_model(&x);
  }
}

TEST(planar_robot_3rrr_follows_its_path) {
  for (int k = 0; k < WAYS; k++) {
    Loaded x = open_model("mechanisms/3rrr", "");
    for (int i = 1; i <= 3; i++) {
      const double t = 0.23 * i, c = 1 - cos(2 * pi * t), s2 = sin(2 * pi * t) * sin(2 * pi * t);
      run_to(&x, &ways[k], t, 1e-9);
      const srFrameMotion p = sensor(&x, "platform");
      ENSURE_NEAR(p.position[0], 0.05 * c, 1e-8);
      ENSURE_NEAR(p.position[1], 0.08 * s2, 1e-8);
      ENSURE_NEAR(atan2(p.rotation[3], p.rotation[0]), 0.1 + 0.15 * c, 1e-8);
    }
    close_model(&x);
  }
}

// The point at the distances r from three others, on the side of (b - a) x (c - a) that sign selects.
static void three_spheres(const double* a, double ra, const double* b, double rb, const double* c, double rc, int sign,
                          double* out) {
  double ex[3], ey[3], ez[3], ac[3], d = 0, i = 0, j = 0;
  for (int k = 0; k < 3; k++) d += (b[k] - a[k]) * (b[k] - a[k]);
  d = sqrt(d);
  for (int k = 0; k < 3; k++) ex[k] = (b[k] - a[k]) / d, ac[k] = c[k] - a[k];
  for (int k = 0; k < 3; k++) i += ex[k] * ac[k];
  for (int k = 0; k < 3; k++) ey[k] = ac[k] - i * ex[k], j += ey[k] * ey[k];
  j = sqrt(j);
  for (int k = 0; k < 3; k++) ey[k] /= j;
  for (int k = 0; k < 3; k++) ez[k] = ex[(k + 1) % 3] * ey[(k + 2) % 3] - ex[(k + 2) % 3] * ey[(k + 1) % 3];
  const double x = (ra * ra - rb * rb + d * d) / (2 * d);
  const double y = (ra * ra - rc * rc + i * i + j * j - 2 * i * x) / (2 * j);
  const double z = sign * sqrt(ra * ra - x * x - y * y);
  for (int k = 0; k < 3; k++) out[k] = a[k] + x * ex[k] + y * ey[k] + z * ez[k];
}

static double distance(const double* a, const double* b) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

// On which side of the plane a b c the point p lies.
static int side_of(const double* a, const double* b, const double* c, const double* p) {
  double n[3], dot = 0;
  for (int k = 0; k < 3; k++) {
    const int u = (k + 1) % 3, w = (k + 2) % 3;
    n[k] = (b[u] - a[u]) * (c[w] - a[w]) - (b[w] - a[w]) * (c[u] - a[u]);
  }
  for (int k = 0; k < 3; k++) dot += n[k] * (p[k] - a[k]);
  return dot > 0 ? 1 : -1;
}

// From the angle of the lower arm alone: the lower ball; the upper ball on its circle; the tie rod's end and the hub at known
// distances of three points.
TEST(double_wishbone_puts_the_hub_where_spheres_meet) {
  const double L0[3] = {-0.01, 0.75, 0.22}, U0[3] = {-0.03, 0.70, 0.54}, in[3] = {-0.13, 0.38, 0.31};
  const double out0[3] = {-0.14, 0.71, 0.30}, H0[3] = {0, 0.78, 0.31};
  Loaded x = open_model("mechanisms/double-wishbone", "");
  for (int i = 1; i <= 5; i++) {
    run_to(&x, &ways[0], 0.12 * i, 1e-9);
    const double angle = q_of(&x, "lower"), c = cos(angle), s = sin(angle);
    const double L[3] = {L0[0], 0.35 + c * 0.4 + s * 0.03, 0.25 + s * 0.4 - c * 0.03};
    // In the plane x = U0x of its circle, about the hinge at (0.42, 0.52).
    const double centre[2] = {0.42, 0.52}, foot[2] = {L[1], L[2]}, apart = L0[0] - U0[0];
    const double reach = distance(U0, L0);
    double upper[2], out[3], hub[3];
    meet(centre, hypot(0.28, 0.02), foot, sqrt(reach * reach - apart * apart), 1, upper);
    const double U[3] = {U0[0], upper[0], upper[1]};
    three_spheres(L, distance(L0, out0), U, distance(U0, out0), in, distance(in, out0), side_of(L0, U0, in, out0), out);
    three_spheres(L, distance(L0, H0), U, distance(U0, H0), out, distance(out0, H0), side_of(L0, U0, out0, H0), hub);
    for (int j = 0; j < 3; j++) ENSURE_NEAR(sensor(&x, "hub").position[j], hub[j], 1e-8);
  }
  ENSURE(fabs(q_of(&x, "lower")) > 1e-3);  // it did move
  close_model(&x);
}

// At rest the tyre carries the weight of all: 415 kg. The spring then carries the chassis by virtual work.
TEST(five_rod_suspension_comes_to_rest_with_the_weight_on_its_tyre) {
  Loaded x = open_model("mechanisms/five-rod-suspension", "");
  run_to(&x, &ways[0], 12, 1e-9);
  ENSURE_NEAR(sensor(&x, "hub").position[2], 0.31 + (3800 - 415 * g) / 200000, 1e-8);
  static const double on_chassis[4][3] = {{.15, .40, .55}, {-.12, .42, .54}, {.18, .38, .22}, {-.22, .36, .27}};
  static const double on_carrier[4][3] = {{.03, .68, .53}, {-.04, .69, .52}, {.05, .72, .19}, {-.14, .70, .25}};
  for (int i = 0; i < 4; i++) {  // the rods have kept their lengths
    char name[32];
    srFrameMotion p;
    snprintf(name, sizeof name, "carrier/k%d", i + 1);
    sr_frame_motion(x.m, x.d, sr_point_find(x.m, name), 0, &p);
    const double c[3] = {on_chassis[i][0], on_chassis[i][1], on_chassis[i][2] + q_of(&x, "chassis")};
    ENSURE_NEAR(distance(p.position, c), distance(on_chassis[i], on_carrier[i]), 1e-9);
  }
  close_model(&x);
}
