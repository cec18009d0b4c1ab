// The stages of radau5 by Newton's method itself: every stage with its own matrices, all three in one dense system. For small
// systems, where the simplified method with one matrix does not converge: a stiff spring that turns over the step (its step
// would go like k^-1/4), and a singular position inside the step, on both sides of which G has opposite signs.
//   M_i/h sum_j w_ij dV_j + Kv_i dV_i + Kq_i dP_i - D_i^T dlambda_i = -R_i
//   G_i dV_i + C_i dP_i = -(G v + b)_i,   G_i dP_i = -g_i                    C = d(G v + b)/dq, by differences
//   dP_i = h sum_j a_ij (dV_j + G_j^T dmu_j)
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/radau5.h"
#include "math/dense.h"

#define LARGEST 300  // unknowns: 0.7 MB, and some hundredths of a second for an iteration
#define ITERATIONS 12

static const srRadau5Tableau* const tableau = &sri_radau5_tableau;

static int block_of(const srSystem* s) { return s->nv + s->ny + 2 * s->ng; }

size_t sri_radau5_coupled_room(const srSystem* s) {
  const size_t block = (size_t)block_of(s), n = 3 * block, nv = (size_t)s->nv;
  if (n > LARGEST || s->solver != NULL) return 0;
  return n * n + n + 3 * (size_t)s->ng * nv + block * nv + n;
}

void sri_radau5_coupled_init(const srSystem* s, srRadau5Coupled* w, double* at) {
  const size_t block = (size_t)block_of(s), n = 3 * block, rows = (size_t)s->ng * (size_t)s->nv;
  w->size = (int)n;
  w->possible = n <= LARGEST && s->solver == NULL;
  if (!w->possible) return;
  w->A = at;
  w->x = w->A + n * n;
  for (int i = 0; i < 3; ++i) w->G[i] = w->x + n + (size_t)i * rows;
  w->J = w->G[2] + rows;
  w->pivot = (int*)(w->J + block * (size_t)s->nv);
}

// Column j of C at the stage: row C_k = d(G v + b)_k into J below those of Kq.
static int differences(srIntegrator* integrator, srRadau5* work, double t, int i) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  const double d = 1e-7, *x = work->X[i];
  double* C = work->coupled.J + (size_t)(s->nv + s->ny) * (size_t)s->nv;
  for (int j = 0; j < s->nv; ++j) {
    memset(c->dv, 0, (size_t)s->nv * sizeof *c->dv);
    c->dv[j] = d;
    int outcome = sri_retract(s, x, c->dv, c->q);
    if (outcome == SRI_DONE) outcome = sri_constraint(integrator, t, c->q, NULL, c->G, c->b);
    if (outcome != SRI_DONE) return outcome;
    (void)sri_residual_velocity(integrator, x + s->nq);
    for (int k = 0; k < s->ng; ++k) C[k * s->nv + j] = work->kept[k] != 0 ? (c->r[k] - work->rv[i][k]) / d : 0;
  }
  return SRI_DONE;
}

static double* entry(const srSystem* s, srRadau5* work, int row, int column) {
  return work->coupled.A + (size_t)row * 3 * (size_t)block_of(s) + (size_t)column;
}

// Rows of stage i: mass and rates, reactions, G of the velocities, and 1 for equations left out.
static void own_blocks(srIntegrator* integrator, srRadau5* work, double h, int i) {
  const srSystem* s = &integrator->system;
  const srConstrained* c = integrator->constrained;
  const int nv = s->nv, n = nv + s->ny, block = block_of(s), at = i * block;
  const double *M = c != NULL ? c->M : work->tangent.M, *w = tableau->W[i];
  const srSparsity* m = s->M_sparsity;
  for (int r = 0; r < nv; ++r) {
    const int first = m != NULL ? m->row[r] : 0, end = m != NULL ? m->row[r + 1] : nv;
    for (int p = first; p < end; ++p) {
      const int column = m != NULL ? m->column[p] : p;
      const double mass = m != NULL ? M[p] : M[(size_t)r * (size_t)nv + (size_t)p];
      for (int j = 0; j < 3; ++j) *entry(s, work, at + r, j * block + column) += w[j] / h * mass;
    }
  }
  for (int r = nv; r < n; ++r) {
    for (int j = 0; j < 3; ++j) *entry(s, work, at + r, j * block + r) += w[j] / h;
  }
  for (int k = 0; k < s->ng; ++k) {
    const int velocity = at + n + k, position = at + n + s->ng + k;  // rows; the columns of mu and lambda alike
    if (work->kept[k] == 0) *entry(s, work, velocity, position) = 1;
    if (work->kept[k] == 0 || k >= s->np) *entry(s, work, position, velocity) = 1;
    if (work->kept[k] == 0) continue;
    sri_spread_row(c, s->D_differs ? c->D : c->G, k, c->dv);
    for (int j = 0; j < nv; ++j) {
      *entry(s, work, at + j, position) = -c->dv[j];
      *entry(s, work, velocity, at + j) = work->coupled.G[i][k * nv + j];
    }
  }
}

// Position-dependent part of stage i: J = (Kq, C, G_p), times h a_ij over dV_j and h a_ij G_j^T over dmu_j.
static void position_blocks(srIntegrator* integrator, srRadau5* work, double h, int i) {
  const srSystem* s = &integrator->system;
  const int nv = s->nv, block = block_of(s), at = i * block;
  for (int r = 0; r < block; ++r) {
    const double* J = work->coupled.J + (size_t)r * (size_t)nv;
    for (int j = 0; j < 3; ++j) {
      const double factor = h * tableau->A[i][j];
      for (int k = 0; k < nv; ++k) *entry(s, work, at + r, j * block + k) += factor * J[k];
      for (int k = 0; k < s->np; ++k) {
        double sum = 0;
        if (work->kept[k] == 0) continue;
        for (int l = 0; l < nv; ++l) sum += J[l] * work->coupled.G[j][k * nv + l];
        *entry(s, work, at + r, j * block + nv + s->ny + k) += factor * sum;
      }
    }
  }
}

// Kv into the matrix, Kq and G_p into J.
static void tangent_blocks(srIntegrator* integrator, srRadau5* work, int i) {
  const srSystem* s = &integrator->system;
  const srmPattern* p = &work->tangent.pattern;
  const int nv = s->nv, n = nv + s->ny, block = block_of(s);
  double* J = work->coupled.J;
  memset(J, 0, (size_t)n * (size_t)nv * sizeof *J);
  for (int r = 0; r < n; ++r) {
    for (int e = p->row[r]; e < p->row[r + 1]; ++e) {
      const int column = p->column[e];
      *entry(s, work, i * block + r, i * block + column) += work->tangent.Kv[e];
      if (column < nv) J[r * nv + column] = work->tangent.Kq[e];
    }
  }
  for (int k = 0; k < s->ng; ++k) {
    double* row = J + (size_t)(n + s->ng + k) * (size_t)nv;
    const bool holds = work->kept[k] != 0 && k < s->np;
    for (int j = 0; j < nv; ++j) row[j] = holds ? work->coupled.G[i][k * nv + j] : 0;
  }
}

// All blocks of stage i. Its residuals are known; the forces are evaluated again, for M and D.
static int stage_blocks(srIntegrator* integrator, srRadau5* work, double h, double t_new, int i) {
  const srSystem* s = &integrator->system;
  const double t = i == 2 ? t_new : integrator->t + tableau->c[i] * h, *w = tableau->W[i];
  for (int j = 0; j < s->nv + s->ny; ++j) {
    work->a[j] = (w[0] * work->Z[0][j] + w[1] * work->Z[1][j] + w[2] * work->Z[2][j]) / h;
  }
  int outcome = sri_radau5_evaluate(integrator, work, t, work->X[i], work->a, work->L[i], work->R[i], NULL, NULL);
  if (outcome != SRI_DONE) return outcome;
  own_blocks(integrator, work, h, i);
  outcome = sri_tangent(integrator, &work->tangent, t, work->X[i], work->a,
                        integrator->constrained != NULL ? work->L[i] : NULL);
  if (outcome == SRI_DONE && s->ng > 0) outcome = differences(integrator, work, t, i);
  if (outcome != SRI_DONE) return outcome;
  tangent_blocks(integrator, work, i);
  position_blocks(integrator, work, h, i);
  return SRI_DONE;
}

static int assemble(srIntegrator* integrator, srRadau5* work, double h, double t_new) {
  const srSystem* s = &integrator->system;
  const size_t n = 3 * (size_t)block_of(s);
  memset(work->coupled.A, 0, n * n * sizeof(double));
  for (int i = 0; i < 3 && s->ng > 0; ++i) {
    srConstrained* c = integrator->constrained;
    const double t = i == 2 ? t_new : integrator->t + tableau->c[i] * h;
    const int outcome = sri_constraint(integrator, t, work->X[i], NULL, c->G, NULL);
    if (outcome != SRI_DONE) return outcome;
    for (int k = 0; k < s->ng; ++k) sri_spread_row(c, c->G, k, work->coupled.G[i] + k * s->nv);
  }
  for (int i = 0; i < 3; ++i) {
    const int outcome = stage_blocks(integrator, work, h, t_new, i);
    if (outcome != SRI_DONE) return outcome;
  }
  return SRI_DONE;
}

// Scales the rows, factors and solves; false: singular.
static bool solve(const srSystem* s, srRadau5* work) {
  const int block = block_of(s), size = 3 * block, n = s->nv + s->ny;
  double* x = work->coupled.x;
  for (int i = 0; i < 3; ++i) {
    for (int r = 0; r < n; ++r) x[i * block + r] = -work->R[i][r];
    for (int k = 0; k < s->ng; ++k) {
      x[i * block + n + k] = -work->rv[i][k];
      x[i * block + n + s->ng + k] = -work->rg[i][k];
    }
  }
  for (int r = 0; r < size; ++r) {
    double *row = entry(s, work, r, 0), most = 0;
    for (int k = 0; k < size; ++k) most = fmax(most, fabs(row[k]));
    if (!(most > 0) || !isfinite(most)) return false;
    for (int k = 0; k < size; ++k) row[k] /= most;
    x[r] /= most;
  }
  if (!srm_lu(size, work->coupled.A, work->coupled.pivot)) return false;
  srm_lu_solve(size, work->coupled.A, work->coupled.pivot, x);
  return true;
}

// The solution into dZ and dU; the multipliers are updated at once.
static void take(const srSystem* s, srRadau5* work) {
  const int block = block_of(s), n = s->nv + s->ny;
  for (int i = 0; i < 3; ++i) {
    const double *x = work->coupled.x + (size_t)i * (size_t)block, *mu = x + n, *lambda = mu + s->ng;
    memcpy(work->dZ[i], x, (size_t)n * sizeof *x);
    for (int j = 0; j < s->nv; ++j) {
      double sum = 0;
      for (int k = 0; k < s->np; ++k) sum += work->kept[k] != 0 ? work->coupled.G[i][k * s->nv + j] * mu[k] : 0;
      work->dU[i][j] = sum;
    }
    for (int k = 0; k < s->ng; ++k) work->L[i][k] += lambda[k];
  }
}

int sri_radau5_coupled(srIntegrator* integrator, srRadau5* work, double h, double t_new) {
  double before = HUGE_VAL;
  for (int k = 1; k <= ITERATIONS; ++k) {
    double most;
    srRadau5Size size;
    work->iterations = k;
    int outcome = sri_radau5_states(integrator, work, h);
    if (outcome == SRI_DONE) outcome = sri_radau5_residuals(integrator, work, h, t_new, &most);
    if (outcome == SRI_DONE) outcome = assemble(integrator, work, h, t_new);
    if (outcome != SRI_DONE) return outcome;
    ++integrator->stats.iterations;
    ++integrator->stats.factorizations;
    if (!solve(&integrator->system, work)) break;
    take(&integrator->system, work);
    outcome = sri_radau5_measure(integrator, work, h, &size);
    if (outcome != SRI_DONE) return outcome;
    // The first increments may grow while the iteration settles.
    if (k > 4 && !(size.norm < 0.5 * before) && size.norm > work->newton) break;
    sri_radau5_move(integrator, work);
    // Nor is the first one evidence of convergence: it may lead off the branch of a force that it was found on.
    if ((k > 1 && size.norm <= work->newton) || size.relative <= 1e-13) return sri_radau5_states(integrator, work, h);
    before = size.norm;
  }
  (void)snprintf(integrator->reason, sizeof integrator->reason, "the Newton method does not converge");
  return SRI_REFUSED;
}
