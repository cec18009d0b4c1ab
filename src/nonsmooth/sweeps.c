// Nonsmooth Gauss-Seidel: one contact after the other, each solved exactly while the others keep their impulses (Jourdan, Alart and Jean
// 1998); joints as blocks of their equations. NNCG: the change of a sweep is the negative gradient of a conjugate gradient method with
// the factor of Fletcher and Reeves (Silcowitz-Hansen, Niebe and Erleben 2010); a ratio above 1 drops the direction, and the last sweep
// is a plain one, so that every impulse is in its cone. All sums run in the order of the contacts: the same bits on every call.
#include <string.h>

#include "nonsmooth/operator.h"

enum { PERIOD = 4 };  // sweeps between two tests of the residual: a test costs about a third of a sweep

// ---- a sweep ------------------------------------------------------------------------------------------------------------

static void relax_contact(srContactSolver* s, srLoadedContact* c, double dp[3]) {
  const double *W = c->W, *p = c->p;
  double u[3], q[3], next[3];
  sr_loaded_velocity(s, c, u);
  q[0] = u[0] - W[SR_NN] * p[0] - W[SR_NT] * p[1] - W[SR_NB] * p[2];
  q[1] = u[1] - W[SR_NT] * p[0] - W[SR_TT] * p[1] - W[SR_TB] * p[2];
  q[2] = u[2] - W[SR_NB] * p[0] - W[SR_TB] * p[1] - W[SR_BB] * p[2];
  sr_cone_solve(&c->cone, W, q, next);
  for (int k = 0; k < 3; ++k) {
    dp[k] = next[k] - c->p[k];
    c->p[k] = next[k];
  }
  if (dp[0] != 0 || dp[1] != 0 || dp[2] != 0) sr_loaded_change(s, c, dp);
}

static void relax_joint(srContactSolver* s, srLoadedJoint* j, double dl[SR_JOINT_ROWS]) {
  sr_joint_velocity(s, j, dl);
  for (int k = 0; k < j->rows; ++k) dl[k] = -dl[k] - j->shift[k];
  sr_dense_factor_solve(j->rows, j->S, j->reciprocal, dl);
  for (int k = 0; k < j->rows; ++k) j->lambda[k] += dl[k];
  sr_joint_change(s, j, dl);
}

// One sweep; returns the sum of W_ii dp_i^2, the squared length of the change.
static double sweep(srContactSolver* s, const srIsland* island) {
  double sum = 0;
  double* step = s->step + 3 * (size_t)s->ncontact;
  for (int i = island->joint[0]; i < island->joint[1]; ++i) {
    srLoadedJoint* j = &s->joint[i];
    double* dl = step + SR_JOINT_ROWS * (size_t)i;
    relax_joint(s, j, dl);
    for (int k = 0; k < j->rows; ++k) sum += j->diagonal[k] * dl[k] * dl[k];
  }
  for (int i = island->contact[0]; i < island->contact[1]; ++i) {
    srLoadedContact* c = &s->contact[i];
    double* dp = s->step + 3 * (size_t)i;
    relax_contact(s, c, dp);
    sum += c->W[SR_NN] * dp[0] * dp[0] + c->W[SR_TT] * dp[1] * dp[1] + c->W[SR_BB] * dp[2] * dp[2];
  }
  return sum;
}

// ---- conjugate directions -----------------------------------------------------------------------------------------------

// Velocities of the island, or rows of the matrix: number i of them.
static double* state_at(srContactSolver* s, const srIsland* island, int i) {
  return s->matrix ? &s->dense.u[i] : &s->body[island->body[0] + i / 6].v[i % 6];
}
static int state_count(const srContactSolver* s, const srIsland* island) {
  return s->matrix ? s->dense.n : 6 * (island->body[1] - island->body[0]);
}

// x += beta d, then d = beta d + step. With beta = 0 there is no direction yet.
static void advance(double beta, const double* step, double* d, double* x, int n) {
  for (int k = 0; k < n; ++k) {
    const double along = beta > 0 ? beta * d[k] : 0;
    x[k] += along;
    d[k] = along + step[k];
  }
}

// Follows the direction of the sweeps before; the velocities are linear in the impulses and follow theirs.
static void extrapolate(srContactSolver* s, const srIsland* island, double beta) {
  double *step = s->step, *d = s->direction;
  for (int i = island->contact[0]; i < island->contact[1]; ++i)
    advance(beta, step + 3 * (size_t)i, d + 3 * (size_t)i, s->contact[i].p, 3);
  step += 3 * (size_t)s->ncontact;
  d += 3 * (size_t)s->ncontact;
  for (int i = island->joint[0]; i < island->joint[1]; ++i)
    advance(beta, step + SR_JOINT_ROWS * (size_t)i, d + SR_JOINT_ROWS * (size_t)i, s->joint[i].lambda,
            s->joint[i].rows);
  for (int i = 0; i < state_count(s, island); ++i) {
    double* x = state_at(s, island, i);
    const double change = *x - s->before[i];
    advance(beta, &change, &s->drift[i], x, 1);
  }
}

static void remember(srContactSolver* s, const srIsland* island) {
  for (int i = 0; i < state_count(s, island); ++i) s->before[i] = *state_at(s, island, i);
}

// ---- iteration ----------------------------------------------------------------------------------------------------------

int sr_contact_sweep(srContactSolver* s, const srIsland* island, const srContactOptions* o, bool accelerate,
                     bool* solved) {
  double last = 0;
  const int plain =
      o->iterations - o->iterations / 2;  // plain sweeps from here on: some problems with large friction go round
  *solved = o->least_iterations <= 0 && sr_island_residual(s, island) <= o->tolerance;
  int k = 0;
  while (!*solved && k < o->iterations) {
    ++k;
    const bool test = k >= o->least_iterations && (k % PERIOD == 0 || k == o->iterations);
    if (accelerate) remember(s, island);
    const double length = sweep(s, island);
    if (test) *solved = sr_island_residual(s, island) <= o->tolerance;
    if (!accelerate || *solved || k >= plain) continue;
    double beta = k > 1 && last > 0 ? length / last : 0;
    if (!(beta <= 1)) beta = 0;
    extrapolate(s, island, beta);
    last = length;
  }
  return k;
}

void sr_solve_nsgs(srContactSolver* s, srIsland* island, const srContactOptions* o) {
  island->iterations = sr_contact_sweep(s, island, o, false, &island->solved);
}

void sr_solve_nncg(srContactSolver* s, srIsland* island, const srContactOptions* o) {
  island->iterations = sr_contact_sweep(s, island, o, true, &island->solved);
}
