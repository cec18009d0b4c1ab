// Tests of the coloured sweeps of src/nonsmooth: the same solutions as the other methods, the same bits for any number of threads, bodies with more
// contacts than there are colours, towers and unequal masses, single precision with an honest residual.
#include <math.h>
#include <sarrus/io.h>
#include <sarrus/nonsmooth.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nonsmooth/coloured.h"
#include "nonsmooth/patch.h"
#include "runner.h"

#define G 9.81
#define STEP (1.0 / 240)

static double noise(uint64_t* state) {  // -1 .. 1
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state) / 9223372036854775808.0;
}

static srContactBody ball(double m, double r) {
  const double I = 1 / (0.4 * m * r * r);
  return (srContactBody){.inverse_mass = 1 / m, .inverse_inertia = {I, I, I}};
}

static srContactBody box(double m, const double half[3]) {
  srContactBody b = {.inverse_mass = 1 / m};
  for (int k = 0; k < 3; ++k) {
    const double y = half[(k + 1) % 3], z = half[(k + 2) % 3];
    b.inverse_inertia[k] = 3 / (m * (y * y + z * z));
  }
  return b;
}

typedef struct Solved {
  srContactProblem* p;
  srContactSolver* s;
  double* x;
  srContactResult r;
} Solved;

static void prepare(Solved* t, srContactProblem* p, int threads) {
  srContactSize size = sr_contact_size(p);
  size.threads = threads;
  if (p->ncontact > 20) size.dense = 0;  // memory of the direct methods, which are not used then
  *t = (Solved){.p = p, .s = sr_contact_solver_create(&size)};
  t->x = calloc((size_t)sr_contact_rows(p) + 1, sizeof *t->x);
  ENSURE(t->s != NULL && t->x != NULL);
}

static void release(Solved* t, bool all) {
  sr_contact_solver_destroy(t->s);
  free(t->x);
  if (all) sr_contact_problem_destroy(t->p);
}

// From impulse 0.
static void solve(Solved* t, const char* method, double tolerance, int iterations, bool single) {
  srContactOptions o = sr_contact_options();
  o.method = sr_contact_method_find(method);
  o.tolerance = tolerance;
  o.iterations = iterations;
  o.single = single;
  memset(t->x, 0, (size_t)sr_contact_rows(t->p) * sizeof *t->x);
  ENSURE_EQUAL(sr_contact_solve(t->s, t->p, &o, t->x, &t->r), SR_OK);
}

static void unit_normal(uint64_t* seed, double n[3]) {
  double length = 0;
  for (int k = 0; k < 3; ++k) n[k] = noise(seed) + (k == 2), length += n[k] * n[k];
  for (int k = 0; k < 3; ++k) n[k] /= sqrt(length);
}

// ---- the same solutions -------------------------------------------------------------------------------------------------

enum { MOVING = 6, BODIES = MOVING + 2, CONTACTS = 11 };

// Balls and other bodies, the world and a body with prescribed motion on either side of a contact, arms along normals and elsewhere.
static srContactProblem* mixed_pile(uint64_t* seed) {
  srContactProblem* p = sr_contact_problem_create(BODIES, 0, CONTACTS, false);
  ENSURE(p != NULL);
  for (int i = 0; i < BODIES; ++i) {
    if (i < MOVING) p->body[i] = ball(1 + 0.9 * noise(seed), 0.1);
    if (i < MOVING && i % 2) p->body[i].inverse_inertia[3 + i % 3] = 0.4 * p->body[i].inverse_inertia[0] * noise(seed);
    for (int k = 0; k < 6; ++k) p->body[i].velocity[k] = noise(seed);
  }
  for (int i = 0; i < CONTACTS; ++i) {
    srContactPoint* x = &p->point[i];
    const int a = i % MOVING, b = i < MOVING ? MOVING + i % 2 : (a + 1 + i % 3) % MOVING;
    unit_normal(seed, x->normal);
    x->body[i % 2] = a;
    x->body[1 - i % 2] = b == MOVING ? SR_CONTACT_FIXED : b;
    for (int side = 0; side < 2; ++side) {
      const double r = 0.1 * noise(seed);
      for (int k = 0; k < 3; ++k) x->arm[side][k] = i % 3 ? r * x->normal[k] : 0.1 * noise(seed);
    }
    p->cone[i] = (srContactCone){.rows = 3, .mu = 0.3 * (1 + noise(seed)), .shift = 0.1 * noise(seed)};
    for (int k = 0; k < 2 && i % 4 == 0; ++k) {
      p->cone[i].slip[k] = 0.3 * noise(seed);
      p->cone[i].compliance[k] = 0.3 * (1 + noise(seed));
    }
  }
  p->compliance = 1e-3;
  return p;
}

TEST(coloured_sweeps_find_the_velocities_that_newton_finds) {
  uint64_t seed = 5;
  int solved = 0;
  for (int i = 0; i < 40; ++i) {
    Solved t;
    double v[2][6 * BODIES];
    prepare(&t, mixed_pile(&seed), 1);
    solve(&t, "newton", 1e-11, 10000, false);
    ENSURE(t.r.solved);
    const int islands = t.r.islands;
    sr_contact_body_velocity(t.p, t.x, v[0]);
    for (int k = 0; k < 2; ++k) {
      solve(&t, k == 0 ? "sweeps" : "sweeps-nncg", 1e-11, 10000, false);
      if (!t.r.solved) continue;  // Gauss-Seidel has no proof of convergence
      ++solved;
      ENSURE_EQUAL(t.r.islands, islands);
      sr_contact_body_velocity(t.p, t.x, v[1]);
      for (int j = 0; j < 6 * BODIES; ++j) ENSURE_NEAR(v[1][j], v[0][j], 1e-7);
    }
    release(&t, true);
  }
  ENSURE(solved >= 78);
}

// Four contacts side by side, and one by one by the measure that all methods have.
TEST(coloured_sweeps_report_the_error_of_the_common_measure) {
  uint64_t seed = 11;
  int open = 0;
  for (int i = 0; i < 40; ++i) {
    Solved t;
    prepare(&t, mixed_pile(&seed), 1);
    solve(&t, "sweeps", 1e-11, 1 + i % 3, false);
    const srContactError e = sr_contact_error(t.s, t.p, t.x);
    open += e.residual > 1e-4;
    ENSURE_NEAR(t.r.error.residual, e.residual, 1e-12);
    ENSURE_NEAR(t.r.error.penetration, e.penetration, 1e-12);
    ENSURE_NEAR(t.r.error.cone, e.cone, 1e-12);
    ENSURE_NEAR(t.r.error.complementarity, e.complementarity, 1e-12);
    ENSURE_EQUAL(t.r.error.worst, e.worst);
    t.p->cone[i % CONTACTS].shift = NAN;  // whatever the others have
    solve(&t, "sweeps", 1e-11, 1, false);
    ENSURE(isnan(t.r.error.residual) && !t.r.solved);
    release(&t, true);
  }
  ENSURE(open >= 30);
}

// ---- a lattice of balls -------------------------------------------------------------------------------------------------

// Balls that touch their neighbours and the floor, falling at random speeds. heavy: every 37th has that many times the mass.
static srContactProblem* lattice(int side, int layers, double heavy) {
  const double r = 0.05;
  const int n = side * side * layers;
  srContactProblem* p = sr_contact_problem_create(n, 0, 3 * n + side * side, false);
  uint64_t seed = 9;
  ENSURE(p != NULL);
  p->ncontact = 0;
  for (int i = 0; i < n; ++i) {
    const int at[3] = {i % side, i / side % side, i / (side * side)}, reach[3] = {1, side, side * side};
    p->body[i] = ball(i % 37 == 7 ? 0.5 * heavy : 0.5, r);
    for (int k = 0; k < 3; ++k) p->body[i].velocity[3 + k] = 0.2 * noise(&seed) - (k == 2 ? G * STEP : 0);
    for (int k = 0; k < 3; ++k) {
      if (at[k] == 0 && k < 2) continue;
      srContactPoint* x = &p->point[p->ncontact];
      *x = (srContactPoint){.body = {at[k] == 0 ? SR_CONTACT_FIXED : i - reach[k], i}};
      x->normal[k] = 1;
      x->arm[0][k] = r;
      x->arm[1][k] = -r;
      p->cone[p->ncontact++] = (srContactCone){.rows = 3, .mu = 0.5};
    }
  }
  return p;
}

TEST(coloured_sweeps_have_the_same_bits_for_any_number_of_threads) {
  srContactProblem* p = lattice(11, 7, 10);
  const size_t bytes = (size_t)sr_contact_rows(p) * sizeof(double);
  ENSURE(p->ncontact > 2000);  // fewer are not worth a team
  static const char* const names[] = {"sweeps", "sweeps-nncg"};
  Solved t[3];
  for (int i = 0; i < 3; ++i) prepare(&t[i], p, 1 + i);
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 3; ++i) solve(&t[i], names[k % 2], 1e-4, 12, k >= 2);  // not reached
    ENSURE(t[0].x[0] > 0 && t[0].r.iterations == 12);
    ENSURE(memcmp(t[0].x, t[1].x, bytes) == 0);
    ENSURE(memcmp(t[0].x, t[2].x, bytes) == 0);
  }
  for (int i = 0; i < 3; ++i) release(&t[i], i == 2);
}

// ---- subdomains ---------------------------------------------------------------------------------------------------------

// Counts the contacts of the runs of a subdomain, or of an interface, whose bodies are all within it, and looks for a body that has two contacts of one run.
static int inner_contacts(const srLanes* l, const srContactProblem* p, const srSubdomain* of, int* seen, int* stamp) {
  int inner = 0;
  for (int i = of->run[0]; i < of->run[1]; ++i) {
    const srLaneRun* run = &l->run[i];
    ++*stamp;
    for (int k = run->first; k < run->first + run->contacts; ++k) {
      const int* body = p->point[l->order[k]].body;
      bool all = true;
      for (int side = 0; side < 2; ++side) {
        if (body[side] < 0) continue;
        ENSURE(seen[body[side]] != *stamp || run->serial);
        seen[body[side]] = *stamp;
        all = all && body[side] >= of->body[0] && body[side] < of->body[1];
      }
      inner += all;
    }
  }
  return inner;
}

// Bodies of a large problem are divided by their numbers: contacts of a subdomain are of its bodies alone, those of the interface are between two of them, and there are as many contacts in each.
static void divide(int side, int layers, int expected) {
  srContactProblem* p = lattice(side, layers, 1);
  int *seen = calloc((size_t)p->nbody, sizeof *seen), stamp = 0, contacts = 0, bodies = 0;
  Solved t;
  prepare(&t, p, 1);
  solve(&t, "sweeps-nncg", 1e-2, 4, true);
  const srLanes* l = t.s->lanes;
  ENSURE_EQUAL(l->nbundle, 1);
  ENSURE_EQUAL(l->nsubdomain, expected == 1 ? 1 : expected + 1);
  for (int k = 0; k < l->nsubdomain; ++k) {
    const srSubdomain* of = &l->subdomain[k];
    int all = 0;
    for (int i = of->run[0]; i < of->run[1]; ++i) all += l->run[i].contacts;
    contacts += all;
    ENSURE_EQUAL(of->inner, k < expected);
    ENSURE_EQUAL(inner_contacts(l, p, of, seen, &stamp), k < expected ? all : 0);
    if (k == expected) {
      ENSURE(all > 0 && all < p->ncontact / 5);
    } else {
      ENSURE_EQUAL(of->body[0], bodies);
      bodies = of->body[1];
      ENSURE(all > 0.7 * p->ncontact / expected);
    }
  }
  ENSURE_EQUAL(contacts, p->ncontact);
  ENSURE_EQUAL(bodies, p->nbody);
  free(seen);
  release(&t, true);
}

TEST(subdomains_share_no_body) {
  divide(6, 10, 1);
  divide(11, 7, 2);
  divide(20, 20, 4);
}

// One body that touches many others asks for as many colours, each of few contacts: the whole is shared by colours, and has the same bits for any number of threads.
TEST(islands_with_a_crowded_body_are_not_divided) {
  srContactProblem* p = lattice(11, 7, 1);
  for (int i = 0; i < 20; ++i) p->point[3 * i + 1].body[0] = 400;
  Solved t[3];
  for (int i = 0; i < 3; ++i) {
    prepare(&t[i], p, 1 + i);
    solve(&t[i], "sweeps-nncg", 1e-3, 60, true);
    const srLanes* l = t[i].s->lanes;
    ENSURE_EQUAL(l->nsubdomain, 1);
    ENSURE(!l->subdomain[0].inner && l->bundle[0].interface == 0);
    ENSURE(memcmp(t[0].x, t[i].x, (size_t)sr_contact_rows(p) * sizeof(double)) == 0);
  }
  ENSURE_NEAR(t[0].r.error.residual, sr_contact_error(t[0].s, p, t[0].x).residual, 1e-12);
  for (int i = 0; i < 3; ++i) release(&t[i], i == 2);
}

// Every 5th body is not round, every 7th contact has compliances of its own: both kinds of batches, and all sums.
TEST(vectors_of_both_widths_have_the_same_bits) {
  if (sr_lanes_wide() == NULL) SKIP("the processor has no vectors of 64 bytes");
  srContactProblem* p = lattice(11, 7, 10);
  for (int i = 0; i < p->nbody; i += 5) p->body[i].inverse_inertia[3] = 0.2 * p->body[i].inverse_inertia[0];
  for (int i = 0; i < p->ncontact; i += 7) p->cone[i].compliance[0] = p->cone[i].compliance[1] = 0.01;
  const size_t bytes = (size_t)sr_contact_rows(p) * sizeof(double);
  static const char* const names[] = {"sweeps", "sweeps-nncg"};
  Solved t[2];
  for (int i = 0; i < 2; ++i) prepare(&t[i], p, 1);
  ENSURE(t[0].s->lanes->single == sr_lanes_wide());
  t[1].s->lanes->single = &sr_lanes_single;
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 2; ++i) solve(&t[i], names[k % 2], k < 2 ? 1e-4 : 4e-3, k < 2 ? 12 : 1000, true);
    ENSURE(t[0].x[0] > 0 && t[0].r.solved == (k >= 2));
    ENSURE_EQUAL(t[0].r.iterations, t[1].r.iterations);
    ENSURE(memcmp(t[0].x, t[1].x, bytes) == 0);
  }
  for (int i = 0; i < 2; ++i) release(&t[i], i == 1);
}

enum { COLUMNS = 300, HEIGHT = 8, STRUCK = 100 };

// Columns of balls on the floor, each faster than the one below it, so that all contacts open. The top balls of the first ones come down fast.
static srContactProblem* columns(int equations) {
  srContactProblem* p = sr_contact_problem_create(COLUMNS * HEIGHT, equations, COLUMNS * HEIGHT, false);
  ENSURE(p != NULL);
  for (int i = 0; i < p->nbody; ++i) {
    const int at = i % HEIGHT;
    p->body[i] = ball(0.5, 0.05);
    p->body[i].velocity[5] = at == HEIGHT - 1 && i / HEIGHT < STRUCK ? -30 : 0.2 * (1 + at);
    p->point[i] = (srContactPoint){.body = {at == 0 ? SR_CONTACT_FIXED : i - 1, i}, .normal = {0, 0, 1}};
    p->point[i].arm[0][2] = 0.05;
    p->point[i].arm[1][2] = -0.05;
    p->cone[i] = (srContactCone){.rows = 3, .mu = 0.5};
  }
  for (int k = 0; k < equations; ++k) {  // the lowest balls of neighbours do not move away from each other
    p->equation[k].body[0] = HEIGHT * k;
    p->equation[k].body[1] = HEIGHT * (k + 1);
    p->equation[k].row[0][3] = -1;
    p->equation[k].row[1][3] = 1;
  }
  return p;
}

// With few sweeps, from 0; directions with a line search follow the least number.
static void sweep_columns(Solved* t, int least) {
  srContactOptions o = sr_contact_options();
  o.method = sr_contact_method_find("sweeps-nncg");
  o.tolerance = 1e-3;
  o.iterations = 60;
  o.least_iterations = least;
  o.single = true;
  memset(t->x, 0, (size_t)sr_contact_rows(t->p) * sizeof *t->x);
  ENSURE_EQUAL(sr_contact_solve(t->s, t->p, &o, t->x, &t->r), SR_OK);
}

// With fewer steps than an attempt has, Newton's method makes one: patches have other ways than its further attempts.
TEST(newton_with_few_steps_makes_one_attempt) {
  uint64_t seed = 5;
  for (int i = 0; i < 10; ++i) {
    Solved t;
    prepare(&t, mixed_pile(&seed), 1);
    solve(&t, "newton", 1e-11, 1, false);
    ENSURE(!t.r.solved && t.r.iterations <= 1);
    release(&t, true);
  }
}

// What sleeps has no part in directions: the bits do not depend on what the solver has solved before, nor on the width of its vectors.
TEST(what_sleeps_has_no_part_in_directions) {
  for (int k = 0; k < 2; ++k) {
    srContactProblem *p = columns(k == 0 ? COLUMNS - 1 : 0), *other = lattice(11, 7, 10);
    for (int i = 0; i < p->nbody; ++i) p->body[i].velocity[3] = 0.3 * (i % 5);
    Solved t[2], before;
    for (int i = 0; i < 2; ++i) prepare(&t[i], p, 1);
    if (k == 1) t[1].s->lanes->single = &sr_lanes_single;
    before = (Solved){.p = other, .s = t[1].s, .x = calloc((size_t)sr_contact_rows(other), sizeof(double))};
    for (int least = 1; least <= 9; ++least) {
      solve(&before, "sweeps-nncg", 1e-9, 30, false);
      for (int i = 0; i < 2; ++i) sweep_columns(&t[i], least);
      ENSURE(memcmp(t[0].x, t[1].x, (size_t)sr_contact_rows(p) * sizeof(double)) == 0);
    }
    free(before.x);
    sr_contact_problem_destroy(other);
    for (int i = 0; i < 2; ++i) release(&t[i], i == 1);
  }
}

// The shock goes down to the floor through contacts that sleep meanwhile, and stops everything: p_N of a contact is the momentum of what is above it. Where nothing strikes, all sleep.
TEST(contacts_that_open_sleep_until_something_closes_them) {
  srContactProblem* p = columns(0);
  Solved t[3];
  for (int i = 0; i < 3; ++i) {
    int idle = 0, asleep = 0;
    prepare(&t[i], p, 1 + i);
    solve(&t[i], i < 2 ? "sweeps-nncg" : "sweeps", 1e-3, 2000, true);
    ENSURE(t[i].r.solved);
    const srLanes* l = t[i].s->lanes;
    for (int k = 0; k < l->nrun; ++k) {
      idle += l->run[k].idle ? l->run[k].contacts : 0;
      for (int j = 0; j < l->run[k].batches; ++j) asleep += l->run[k].idle && l->sleeps[l->run[k].batch + j];
    }
    ENSURE_EQUAL(idle, 2048 - STRUCK);  // of the first bundle, all but those under the balls that come down
    ENSURE(asleep > 0);
    for (int k = 0; k < p->ncontact; ++k) {
      const int at = k % HEIGHT;
      double above = 0;
      for (int j = at; j < HEIGHT; ++j) above -= 0.5 * p->body[k - at + j].velocity[5];
      ENSURE_NEAR(t[i].x[3 * k], above > 0 ? above : 0,
                  0.5 * HEIGHT * HEIGHT * 1e-3);  // a residual is a velocity, of as many masses
    }
  }
  ENSURE(memcmp(t[0].x, t[1].x, (size_t)sr_contact_rows(p) * sizeof(double)) == 0);
  for (int i = 0; i < 3; ++i) release(&t[i], i == 2);
}

// Colours do not depend on other islands: with a given number of sweeps an island has the same bits alone.
TEST(an_island_has_the_same_bits_alone) {
  srContactProblem* p = lattice(4, 3, 1);
  srContactProblem* two = sr_contact_problem_create(2 * p->nbody, 0, 2 * p->ncontact, false);
  const int n = p->ncontact;
  ENSURE(two != NULL);
  for (int copy = 0; copy < 2; ++copy) {
    memcpy(two->body + copy * p->nbody, p->body, (size_t)p->nbody * sizeof *p->body);
    memcpy(two->cone + copy * n, p->cone, (size_t)n * sizeof *p->cone);
    for (int i = 0; i < n; ++i) {
      two->point[copy * n + i] = p->point[i];
      for (int k = 0; k < 2 && copy == 1; ++k) {
        if (p->point[i].body[k] >= 0) two->point[n + i].body[k] += p->nbody;
      }
    }
  }
  two->body[0].velocity[5] = -3;  // another motion in the first one
  Solved a, b;
  prepare(&a, p, 1);
  prepare(&b, two, 1);
  solve(&a, "sweeps", 0, 21, false);
  solve(&b, "sweeps", 0, 21, false);
  ENSURE_EQUAL(b.r.islands, 2);
  ENSURE(memcmp(a.x, b.x + 3 * n, 3 * (size_t)n * sizeof *a.x) == 0);
  ENSURE(memcmp(a.x, b.x, 3 * (size_t)n * sizeof *a.x) != 0);
  release(&a, true);
  release(&b, true);
}

TEST(single_precision_is_used_as_far_as_it_suffices_and_the_residual_is_that_of_the_impulses) {
  Solved t, d;
  srContactProblem* p = lattice(6, 4, 1);
  prepare(&t, p, 1);
  prepare(&d, p, 1);
  solve(&t, "sweeps", 2e-3, 2000, true);
  solve(&d, "sweeps", 2e-3, 2000, false);
  ENSURE(t.r.solved && d.r.solved);
  ENSURE(t.r.error.residual == sr_contact_error(t.s, p, t.x).residual);
  double apart = 0, most = 0;
  for (int i = 0; i < 3 * p->ncontact; ++i) {
    apart = fmax(apart, fabs(t.x[i] - d.x[i]));
    most = fmax(most, fabs(d.x[i]));
  }
  ENSURE(apart > 1e-9 * most && apart < 2e-2 * most);  // rounded to 6e-8, and at most a few sweeps apart
  solve(&t, "sweeps-nncg", 1e-10, 10000, true);        // out of its reach: in double precision
  ENSURE(t.r.solved);
  ENSURE_SMALL(t.r.error.residual, 1e-10);
  release(&t, false);
  release(&d, true);
}

// Balls a hundred times heavier than their neighbours (a heap of them: 306 sweeps of Gauss-Seidel, 190 of NNCG).
TEST(conjugate_directions_help_where_masses_differ) {
  int sweeps[2];
  srContactProblem* p = lattice(5, 4, 100);
  Solved t;
  prepare(&t, p, 1);
  for (int k = 0; k < 2; ++k) {
    solve(&t, k == 0 ? "sweeps" : "sweeps-nncg", 1e-3, 20000, false);
    ENSURE(t.r.solved);
    sweeps[k] = t.r.iterations;
  }
  ENSURE(sweeps[1] < sweeps[0] / 4);  // 1192 and 128
  release(&t, true);
}

// Impulses of an impact as start values of what follows it: their best multiple is taken, so that they cost no more sweeps than none do.
TEST(start_values_that_are_much_too_large_cost_nothing) {
  static const char* const names[] = {"sweeps", "sweeps-nncg"};
  srContactProblem* p = lattice(6, 5, 1);
  const int n = sr_contact_rows(p);
  Solved t;
  prepare(&t, p, 1);
  for (int k = 0; k < 4; ++k) {
    srContactOptions o = sr_contact_options();
    o.method = sr_contact_method_find(names[k % 2]);
    o.single = k >= 2;
    o.tolerance = 1e-3;
    solve(&t, names[k % 2], o.tolerance, 1000, o.single);
    ENSURE(t.r.solved);
    const int from_none = t.r.iterations;
    for (int i = 0; i < n; ++i) t.x[i] *= 100;
    ENSURE_EQUAL(sr_contact_solve(t.s, p, &o, t.x, &t.r), SR_OK);
    ENSURE(t.r.solved && t.r.iterations <= from_none);
    ENSURE_EQUAL(sr_contact_solve(t.s, p, &o, t.x, &t.r), SR_OK);
    ENSURE_EQUAL(t.r.iterations, 0);  // a solution is left as it is
  }
  release(&t, true);
}

// ---- more contacts than colours -----------------------------------------------------------------------------------------

// A plate with 10 x 10 balls on it lies on the ground at 9 x 9 points: 100 contacts with two moving bodies, 81 with one. Each ball weighs on the plate, and
// the ground carries all.
TEST(a_body_may_have_more_contacts_than_there_are_colours) {
  const double r = 0.05, half[3] = {0.6, 0.6, 0.02}, m = 4;
  srContactProblem* p = sr_contact_problem_create(101, 0, 181, false);
  ENSURE(p != NULL);
  p->body[0] = box(m, half);
  p->body[0].velocity[5] = -G * STEP;
  for (int i = 0; i < 100; ++i) {
    const double x = 0.11 * (i % 10 - 4.5), y = 0.11 * (i / 10 - 4.5);
    p->body[1 + i] = ball(0.5, r);
    p->body[1 + i].velocity[5] = -G * STEP;
    p->point[i] = (srContactPoint){.body = {0, 1 + i}, .normal = {0, 0, 1}, .arm = {{x, y, half[2]}, {0, 0, -r}}};
    p->cone[i].mu = 0.5;
  }
  for (int i = 0; i < 81; ++i) {
    p->point[100 + i] = (srContactPoint){.body = {SR_CONTACT_FIXED, 0},
                                         .normal = {0, 0, 1},
                                         .arm = {{0}, {0.15 * (i % 9 - 4), 0.15 * (i / 9 - 4), -half[2]}}};
    p->cone[100 + i].mu = 0.5;
  }
  static const char* const names[] = {"sweeps", "sweeps-nncg"};
  for (int k = 0; k < 4; ++k) {
    Solved t;
    const bool single = k >= 2;
    prepare(&t, p, 1);
    solve(&t, names[k % 2], single ? 1e-4 : 1e-5, 10000, single);
    ENSURE(t.r.solved);
    double sum = 0;
    for (int i = 0; i < 100; ++i) ENSURE_NEAR(t.x[3 * i], 0.5 * G * STEP, 1e-4);
    for (int i = 100; i < 181; ++i) sum += t.x[3 * i];
    ENSURE_NEAR(sum, (m + 50) * G * STEP, 1e-2);
    release(&t, k == 3);
  }
}

// ---- towers -------------------------------------------------------------------------------------------------------------

static srContactProblem* tower(int n, double top) {
  const double half[3] = {0.1, 0.1, 0.1};
  srContactProblem* p = sr_contact_problem_create(n, 0, 4 * n, false);
  ENSURE(p != NULL);
  for (int i = 0; i < n; ++i) {
    p->body[i] = box(i == n - 1 ? top : 1, half);
    p->body[i].velocity[5] = -G * STEP;
    for (int k = 0; k < 4; ++k) {
      const double x = k & 1 ? half[0] : -half[0], y = k & 2 ? half[1] : -half[1];
      p->point[4 * i + k] = (srContactPoint){.body = {i == 0 ? SR_CONTACT_FIXED : i - 1, i},
                                             .normal = {0, 0, 1},
                                             .arm = {{x, y, half[2]}, {x, y, -half[2]}}};
      p->cone[4 * i + k].mu = 0.5;
    }
  }
  return p;
}

// Each face carries what is above it. Sweeps to 1e-3 m/s of a prototype in another order: n = 10: 102, 268, 1835 by Gauss-Seidel and 22, 34, 191 by
// NNCG for top masses of 1, 10, 100; the limits are three times that, since colours are another order.
TEST(towers_of_boxes_carry_what_is_above_them) {
  static const int most[2][3] = {{306, 804, 5505}, {66, 102, 573}};
  double top = 1;
  for (int k = 0; k < 3; ++k, top *= 10) {
    Solved t;
    prepare(&t, tower(10, top), 1);
    for (int j = 0; j < 2; ++j) {
      solve(&t, j == 0 ? "sweeps" : "sweeps-nncg", 1e-3, 20000, false);
      ENSURE(t.r.solved && t.r.iterations <= most[j][k]);
    }
    solve(&t, "sweeps-nncg", 1e-6, 20000, false);
    ENSURE(t.r.solved);
    for (int i = 0; i < 10; ++i) {
      double sum = 0;
      for (int c = 0; c < 4; ++c) sum += t.x[3 * (4 * i + c)];
      ENSURE_NEAR(sum, (9 - i + top) * G * STEP, 1e-6 * 10 * (9 + top));  // velocity times masses times layers
    }
    release(&t, true);
  }
}

// ---- patches ------------------------------------------------------------------------------------------------------------

enum { ROW = 150, SPOILED = 60 };

// A row of balls on the floor, each beside the next, pushed together.
static srContactProblem* row_of_balls(void) {
  srContactProblem* p = sr_contact_problem_create(ROW, 0, 2 * ROW, false);
  p->ncontact = 0;
  for (int i = 0; i < ROW; ++i) {
    p->body[i] = ball(1 + 0.5 * (i % 3), 0.1);
    p->body[i].velocity[3] = i < ROW / 2 ? 0.01 : -0.01;
    p->body[i].velocity[5] = -G * STEP;
    for (int k = 0; k < 2; ++k) {
      if (k == 1 && i + 1 == ROW) continue;
      srContactPoint* x = &p->point[p->ncontact];
      *x = (srContactPoint){.body = {k == 0 ? SR_CONTACT_FIXED : i, k == 0 ? i : i + 1}};
      x->normal[k == 0 ? 2 : 0] = 1;
      x->arm[1][k == 0 ? 2 : 0] = -0.1;
      if (k == 1) x->arm[0][0] = 0.1;
      p->cone[p->ncontact++] = (srContactCone){.rows = 3, .mu = 0.5};
    }
  }
  return p;
}

// Its impulses, solved but for three that follow each other and one at the end, which are 0; with velocities and errors.
typedef struct Spoiled {
  Solved t;
  double v[SR_ROW * (ROW + 1)] __attribute__((aligned(32)));
  double error[2 * ROW + 3] __attribute__((aligned(32)));
  double was[6 * ROW];
} Spoiled;

static void spoil(Spoiled* x, srContactProblem* p, double tolerance) {
  prepare(&x->t, p, 1);
  solve(&x->t, "sweeps-nncg", 1e-3 * tolerance, 10000, false);
  ENSURE(x->t.r.solved);
  for (int k = 0; k < 9; ++k) x->t.x[3 * SPOILED + k] = 0;
  for (int k = 0; k < 3; ++k) x->t.x[3 * (2 * ROW - 3) + k] = 0;
  memcpy(x->was, x->t.x, 3 * (size_t)p->ncontact * sizeof *x->was);
  ENSURE(sr_contact_error_points(p, x->t.x, NULL, x->v, x->error).residual > 1e3 * tolerance);
}

// Solved, with velocities that have moved along. Returns the number of contacts whose impulses have changed.
static int mended(Spoiled* x, const srContactProblem* p, double tolerance) {
  double all[6 * ROW];
  int changed = 0;
  ENSURE_SMALL(sr_contact_error(x->t.s, p, x->t.x).residual, tolerance);
  sr_contact_body_velocity(p, x->t.x, all);  // angular part first
  for (int i = 0; i < ROW; ++i) {
    for (int k = 0; k < 3; ++k) {
      ENSURE_NEAR(x->v[SR_ROW * i + k], all[6 * i + 3 + k], 1e-13);
      ENSURE_NEAR(x->v[SR_ROW * i + 4 + k], all[6 * i + k], 1e-12);
    }
  }
  for (int i = 0; i < p->ncontact; ++i) changed += memcmp(x->t.x + 3 * i, x->was + 3 * i, 3 * sizeof(double)) != 0;
  return changed;
}

// One patch makes the first three good again, and changes no other contact than its own; the one at the other end of the row gets a patch of its own.
TEST(a_patch_solves_the_contacts_around_the_worst_one) {
  static const int most[2] = {SR_CONTACT_PATCH, SR_CONTACT_PATCH / 2};
  const double tolerance = 1e-6;
  for (int k = 0; k < 2; ++k) {
    Spoiled x;
    srContactProblem* p = row_of_balls();
    spoil(&x, p, tolerance);
    const srContactSize size = sr_contact_size(p), own = {.bodies = 2 * SR_CONTACT_PATCH,
                                                          .contacts = SR_CONTACT_PATCH,
                                                          .dense = 3 * SR_CONTACT_PATCH};
    srContactPatch* patch = sr_contact_patch_create(&size, &own);
    ENSURE_EQUAL(sr_contact_patch_solve(patch, p, most[k], tolerance, x.t.x, x.v, x.error), 2);
    const int changed = mended(&x, p, tolerance);
    ENSURE(changed >= 4 && changed <= 2 * most[k]);
    // Its own contacts, and all others, are good.
    ENSURE_EQUAL(sr_contact_patch_solve(patch, p, most[k], tolerance, x.t.x, x.v, x.error), 0);
    sr_contact_patch_destroy(patch);
    release(&x.t, true);
  }
}

// Balls ten times as heavy as their neighbours, here and there: where few contacts are left, sweeps without directions do not help, and are tried more and more rarely. Directions alone take 464 sweeps; the others after
// each eighth sweep would make that 683.
TEST(sweeps_without_directions_that_do_not_help_are_rare) {
  srContactProblem* p = lattice(15, 12, 10);
  Solved t[3];
  for (int i = 0; i < 3; ++i) {
    prepare(&t[i], p, 1 + i);
    solve(&t[i], "sweeps-nncg", 2e-3, 10000, true);
    ENSURE(t[i].r.solved);
    ENSURE_NEAR(t[i].r.error.residual, sr_contact_error(t[i].s, p, t[i].x).residual, 1e-12);
    ENSURE(t[i].r.iterations < 560);
    ENSURE(memcmp(t[0].x, t[i].x, (size_t)sr_contact_rows(p) * sizeof(double)) == 0);
  }
  for (int i = 0; i < 3; ++i) release(&t[i], i == 2);
}

// Sweeps alone, with and without directions, one by one and by colours, leave it above its tolerance after thousands of them.
TEST(coloured_sweeps_solve_what_sweeps_alone_do_not) {
  srContactProblem* p = NULL;
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_contact_problem_load(SARRUS_SOURCE_DIR "/models/contact-problems/wedged.contact", messages, &p),
               SR_OK);
  sr_messages_destroy(messages);
  Solved t;
  prepare(&t, p, 1);
  static const char* const names[] = {"nsgs", "nncg", "sweeps", "sweeps-nncg"};
  for (int k = 0; k < 4; ++k) {
    solve(&t, names[k], p->tolerance, k < 2 ? 3000 : 1000, k >= 2);
    ENSURE(t.r.solved == (k >= 2));
    ENSURE(t.r.iterations >= 600);
    ENSURE_NEAR(t.r.error.residual, sr_contact_error(t.s, p, t.x).residual, 1e-12);
  }
  release(&t, true);
}
