// The matrices of Newton's iteration in cvode and ida, for a formula with x' = c x + (what is known).
//
// Without constraints, or where the system offers nothing but `rates`: (c - dR/dx) dx = b, dense, by differences; where the system solves its
// linear systems itself (srMotionSolver), by these, with v' held and the rows of v multiplied by M:
//   c xi - dv = b_q,    (c M + Kv + Kq / c) (dv, dy) = (M b_v, b_y) - Kq b_q / c
//
// With constraints, in the space of v: xi is the change of position (dq = H xi), K the tangent of tangent.h, N = d(G v + b)/dxi, G1
// and G2 the first and second derivative of G along the motion. The change of a row that holds for all times is (G xi)', (G xi)'':
//   ida   c xi - dv - G^T dmu                          = b_q          cvode   c xi - dv                    = c b_q
//         (c M + Kv) (dv, dy) + Kq xi - D^T dlambda    = b_v, b_y             the same                     = c M b_v, c b_y
//         G dv + N xi                                  = b_row                G da + 2 G1 dv + G2 xi = 0,  da = c (dv - b_v)
//         G xi                                         = b_place
// In ida, inserting the first and the last row into the third gives the part zeta = G^T dmu / c of xi that only the position
// equations require, up to h |N|, before dv is known:
//   G zeta = b_place - G xi0 - (b_row - N xi0) / c,     xi0 = b_q / c
// so that one saddle-point matrix of the size of (v, y, lambda) remains for both, which is sparse where the tangent is:
//   [ c M + Kv + Kq / c   -D^T ] [ dv, dy  ]   [ b_v - Kq (xi0 + zeta)   ]
//   [ G + E / c              0 ] [ dlambda ] = [ b_row - F (xi0 + zeta)  ]     E = F = N;   cvode: E = 2 G1 + F, F = G2 / c
// N is G1 where positions are as many as velocities and all rows have a position form; else it takes differences by q. Left out
// is the turn of the frame in which xi is measured, of size h |v|, where positions are more than velocities: it costs a part of an
// iteration, not accuracy, for the residual is the true one. Such positions (quaternions) move along H xi and by what b_q
// has across it.
#include "sundials/newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/dense.h"

// ---- life -------------------------------------------------------------------------------------------------------------

static bool create_differences(srNewton* w, const srIntegrator* integrator) {
  const size_t n = (size_t)w->n, all = (size_t)integrator->n;
  const srPart parts[] = {{&w->J, n * n}, {&w->LU, n * n}, {&w->f0, all}, {&w->f1, all}, {&w->x1, all}};
  w->pivot = sr_alloc((n + 1) * sizeof *w->pivot);
  return w->pivot != NULL && sr_take_parts(parts, SR_COUNT(parts), 0, &w->block, NULL);
}

// K is dense where the system gives no pattern of it.
static bool create_saddles(srNewton* w, const srIntegrator* integrator, bool position) {
  const srSystem* s = &integrator->system;
  srmSaddleShape shape = integrator->constrained->shape;
  if (position) {
    w->position = srm_saddle_create(&shape);
    if (w->position == NULL) return false;
  }
  shape.nv += s->ny;
  shape.M = s->K_sparsity != NULL ? &w->tangent.pattern : NULL;
  if (shape.G != NULL) {
    w->G_wide = *shape.G;
    w->G_wide.ncol = shape.nv;
    shape.G = &w->G_wide;
  }
  w->motion = srm_saddle_create(&shape);
  return w->motion != NULL;
}

// Each column gets the first group that none of its neighbours has.
static bool find_groups(srNewton* w, const srmPattern* G, int nv) {
  int *start = NULL, *neighbour = NULL, *seen = NULL;
  bool good = srm_take_ints(&w->group, (size_t)nv) && srm_take_ints(&seen, (size_t)nv);
  if (good && G != NULL) good = srm_column_graph(G, &start, &neighbour);
  for (int j = 0; good && j < nv; ++j) {
    int group = G == NULL ? j : 0;
    for (int p = G == NULL ? 0 : start[j]; G != NULL && p < start[j + 1]; ++p) {
      if (neighbour[p] < j) seen[w->group[neighbour[p]]] = j + 1;
    }
    while (seen[group] == j + 1) ++group;
    w->group[j] = group;
    if (group >= w->ngroup) w->ngroup = group + 1;
  }
  sr_free(start);
  sr_free(neighbour);
  sr_free(seen);
  return good;
}

static bool create_motion(srNewton* w, const srIntegrator* integrator, bool position) {
  const srSystem* s = &integrator->system;
  const srConstrained* c = integrator->constrained;
  const size_t nv = (size_t)s->nv, nm = nv + (size_t)s->ny, nq = (size_t)s->nq, ng = (size_t)s->ng;
  w->nG = c->nG;
  w->nM = c->nM;
  if (!sri_tangent_create(&w->tangent, s) || !create_saddles(w, integrator, position)) return false;
  const size_t wide = c->shape.G != NULL ? c->nG : ng * nm;
  const srPart parts[] = {{&w->A, w->tangent.count},
                          {&w->M, c->nM},
                          {&w->G, c->nG},
                          {&w->D, c->nG},
                          {&w->G1, c->nG},
                          {&w->G2, c->nG},
                          {&w->rows, c->nG},
                          {&w->lower, wide},
                          {&w->upper, wide},
                          {&w->q, nq},
                          {&w->b, nm},
                          {&w->b1, ng},
                          {&w->dx, nm},
                          {&w->r, ng},
                          {&w->dl, ng},
                          {&w->xi0, nm},
                          {&w->xi, nm},
                          {&w->zeta, nv},
                          {&w->dq, nq},
                          {&w->q1, nq}};
  if (!sr_take_parts(parts, SR_COUNT(parts), 2 * ng, &w->block, &w->kept)) return false;
  w->placed = w->kept + ng;
  return !position || find_groups(w, c->shape.G, s->nv);
}

static bool create_solver(srNewton* w, const srIntegrator* integrator) {
  const srSystem* s = &integrator->system;
  const size_t nm = (size_t)(s->nv + s->ny), nq = (size_t)s->nq, all = (size_t)integrator->n;
  const srPart parts[] = {{&w->q, nq},  {&w->dq, nq},  {&w->b, nm},  {&w->dx, nm},
                          {&w->xi, nm}, {&w->xi0, nm}, {&w->f0, all}};
  return sri_tangent_create(&w->tangent, s) && sr_take_parts(parts, SR_COUNT(parts), 0, &w->block, NULL);
}

bool sri_newton_create(srNewton* w, const srIntegrator* integrator, bool position) {
  const srSystem* s = &integrator->system;
  w->n = integrator->ncontrol;
  w->across = 1;
  w->saddle = integrator->constrained != NULL && s->dynamics != NULL;
  w->solver = !w->saddle && (s->nq == s->nv || (s->difference != NULL && s->qdot != NULL)) ? s->solver : NULL;
  if (w->solver != NULL) return create_solver(w, integrator);
  return w->saddle ? create_motion(w, integrator, position) : create_differences(w, integrator);
}

void sri_newton_destroy(srNewton* w) {
  sri_tangent_destroy(&w->tangent);
  srm_saddle_destroy(w->motion);
  srm_saddle_destroy(w->position);
  sr_free(w->pivot);
  sr_free(w->group);
  sr_free(w->block);
}

// ---- without constraints ----------------------------------------------------------------------------------------------

// By the system, with v' of this state held.
static int solver_tangent(srIntegrator* integrator, srNewton* w, srNewtonRate rate, double t, const double* x) {
  const srSystem* s = &integrator->system;
  const int outcome = rate(integrator, t, x, w->f0);
  if (outcome != SRI_DONE) return outcome;
  memcpy(w->q, x, (size_t)s->nq * sizeof *x);
  return sri_tangent(integrator, &w->tangent, t, x, w->f0 + s->nq, NULL);
}

int sri_newton_rates(srIntegrator* integrator, srNewton* w, srNewtonRate rate, double t, const double* x, double h) {
  const size_t n = (size_t)w->n;
  if (w->solver != NULL) return solver_tangent(integrator, w, rate, t, x);
  ++integrator->stats.tangents;
  int outcome = rate(integrator, t, x, w->f0);
  if (n > 0) memcpy(w->x1, x, n * sizeof *x);
  for (size_t j = 0; j < n && outcome == SRI_DONE; ++j) {
    // Half of the digits of the number, of what a step changes it by, or of 0.01.
    const double size = fmax(fmax(fabs(x[j]), fabs(h * w->f0[j])), 1e-2);
    w->x1[j] = x[j] + sqrt(DBL_EPSILON) * size;
    const double e = w->x1[j] - x[j];
    outcome = rate(integrator, t, w->x1, w->f1);
    for (size_t i = 0; i < n; ++i) w->J[i * n + j] = (w->f1[i] - w->f0[i]) / e;
    w->x1[j] = x[j];
  }
  return outcome;
}

static bool factor_rates(const srIntegrator* integrator, srNewton* w) {
  const size_t n = (size_t)w->n;
  if (w->solver != NULL) {
    const srShift shift = {.cM = {w->c}, .cI = {w->c}, .cq = {1 / w->c}, .cv = {1}};
    return w->solver->factor(integrator->system.user, &shift, false);
  }
  for (size_t i = 0; i < n * n; ++i) w->LU[i] = -w->J[i];
  for (size_t i = 0; i < n; ++i) w->LU[i * n + i] += w->c;
  return srm_lu(w->n, w->LU, w->pivot);
}

// ---- by the tangent ---------------------------------------------------------------------------------------------------

// Rows at q moved by e v + e^2/2 a, at the time t + e, into out.
static int rows_at(srIntegrator* integrator, srNewton* w, double t, const double* x, const double* a, double e,
                   double* out) {
  const srSystem* s = &integrator->system;
  const double* v = x + s->nq;
  for (int i = 0; i < s->nv; ++i) w->xi[i] = e * (v[i] + 0.5 * e * a[i]);
  const int outcome = sri_retract(s, x, w->xi, w->q1);
  return outcome == SRI_DONE ? sri_constraint(integrator, t + e, w->q1, NULL, out, NULL) : outcome;
}

// G1 and G2 by differences along the motion.
static int rows_rate(srIntegrator* integrator, srNewton* w, double t, const double* x, const double* a) {
  const srSystem* s = &integrator->system;
  const double size = fmax(1e-3, sri_largest(s->nq, x)), speed = fmax(1e-3, sri_largest(s->nv, x + s->nq));
  const double pull = fmax(1e-3, sri_largest(s->nv, a));
  const double e = 1e-4 * fmin(fmin(size / speed, sqrt(size / pull)), 1);
  int outcome = rows_at(integrator, w, t, x, a, e, w->G1);
  if (outcome == SRI_DONE) outcome = rows_at(integrator, w, t, x, a, -e, w->G2);
  for (size_t k = 0; k < w->nG; ++k) {
    const double after = w->G1[k], before = w->G2[k];
    w->G1[k] = (after - before) / (2 * e);
    w->G2[k] = (after - 2 * w->G[k] + before) / (e * e);
  }
  return outcome;
}

// G v + b at q moved by xi, into out; G there goes to G2.
static int rows_moved(srIntegrator* integrator, srNewton* w, double t, const double* x, double* out) {
  const srSystem* s = &integrator->system;
  const srConstrained* c = integrator->constrained;
  int outcome = sri_retract(s, x, w->xi, w->q1);
  if (outcome == SRI_DONE) outcome = sri_constraint(integrator, t, w->q1, NULL, w->G2, w->b1);
  srm_rows_times(&c->shape, w->G2, x + s->nq, out);
  for (int k = 0; k < s->ng; ++k) out[k] += w->b1[k];
  return outcome;
}

// N by differences, into G1: one for each group of columns.
static int rows_derivative(srIntegrator* integrator, srNewton* w, double t, const double* x) {
  const srSystem* s = &integrator->system;
  const srSparsity* p = s->G_sparsity;
  const double e = sqrt(DBL_EPSILON);
  memset(w->xi, 0, (size_t)s->nv * sizeof *w->xi);
  int outcome = rows_moved(integrator, w, t, x, w->r);
  for (int group = 0; group < w->ngroup && outcome == SRI_DONE; ++group) {
    for (int j = 0; j < s->nv; ++j) w->xi[j] = w->group[j] == group ? e : 0;
    outcome = rows_moved(integrator, w, t, x, w->dl);
    for (int k = 0; k < s->ng; ++k) {
      const int first = p != NULL ? p->row[k] : k * s->nv, end = p != NULL ? p->row[k + 1] : (k + 1) * s->nv;
      for (int at = first; at < end; ++at) {
        const int j = p != NULL ? p->column[at] : at - first;
        if (w->group[j] == group) w->G1[at] = (w->dl[k] - w->r[k]) / e;
      }
    }
  }
  return outcome;
}

int sri_newton_tangent(srIntegrator* integrator, srNewton* w, double t, const double* x, const double* a,
                       const double* lambda) {
  const srSystem* s = &integrator->system;
  const srConstrained* c = integrator->constrained;
  memcpy(w->M, c->M, w->nM * sizeof *w->M);
  memcpy(w->G, c->G, w->nG * sizeof *w->G);
  memcpy(w->D, s->D_differs ? c->D : c->G, w->nG * sizeof *w->D);
  memcpy(w->q, x, (size_t)s->nq * sizeof *w->q);
  for (int k = 0; k < s->ng; ++k) {
    w->kept[k] = c->kept[k];
    w->placed[k] = c->kept[k] != 0 && k < s->np;
  }
  const bool turns = s->nq != s->nv || s->np < s->ng;
  const int outcome =
      w->position != NULL && turns ? rows_derivative(integrator, w, t, x) : rows_rate(integrator, w, t, x, a);
  if (outcome != SRI_DONE) return outcome;
  if (w->position != NULL) {
    ++integrator->stats.factorizations;
    if (!srm_saddle_factor(w->position, NULL, NULL, w->G, w->placed)) return SRI_REFUSED;
  }
  return sri_tangent(integrator, &w->tangent, t, x, a, lambda);
}

// Rows over v as rows over (v, y).
static void widen(const srSystem* s, size_t count, const double* from, double* to) {
  const size_t nv = (size_t)s->nv, nm = nv + (size_t)s->ny;
  if (s->G_sparsity != NULL) {
    memcpy(to, from, count * sizeof *to);
    return;
  }
  memset(to, 0, (size_t)s->ng * nm * sizeof *to);
  for (size_t k = 0; k < (size_t)s->ng; ++k) memcpy(to + k * nm, from + k * nv, nv * sizeof *to);
}

bool sri_newton_factor(srIntegrator* integrator, srNewton* w, double c) {
  const srSystem* s = &integrator->system;
  w->c = c;
  ++integrator->stats.factorizations;
  if (!w->saddle) return factor_rates(integrator, w);
  sri_tangent_combine(&w->tangent, s, w->M, c, c, 1 / c, 1, w->A);
  const bool velocities = w->position != NULL;
  for (size_t k = 0; k < w->nG; ++k) {
    w->rows[k] = w->G[k] + (velocities ? w->G1[k] : 2 * w->G1[k] + w->G2[k] / c) / c;
  }
  widen(s, w->nG, w->D, w->upper);
  widen(s, w->nG, w->rows, w->lower);
  return srm_saddle_factor(w->motion, w->A, w->upper, w->lower, w->kept);
}

// xi0 with H xi0 = p along the motion; dq is left with what p has across it.
static int split_positions(srIntegrator* integrator, srNewton* w, const double* p) {
  const srSystem* s = &integrator->system;
  memset(w->xi0, 0, (size_t)(s->nv + s->ny) * sizeof *w->xi0);
  if (s->difference == NULL) {
    memcpy(w->xi0, p, (size_t)s->nv * sizeof *w->xi0);
    memset(w->dq, 0, (size_t)s->nq * sizeof *w->dq);
    return SRI_DONE;
  }
  for (int i = 0; i < s->nq; ++i) w->dq[i] = w->q[i] + p[i];
  int outcome = sri_outcome(s->difference(s->user, w->q, w->dq, w->xi0));
  if (outcome == SRI_DONE) outcome = sri_qdot(integrator, w->q, w->xi0, w->dq);
  for (int i = 0; i < s->nq; ++i) w->dq[i] = p[i] - w->dq[i];
  return outcome;
}

// By the system.
static int solve_by_system(srIntegrator* integrator, srNewton* w, double* x) {
  const srSystem* s = &integrator->system;
  const int n = s->nv + s->ny;
  double *v = x + s->nq, *y = v + s->nv;
  for (int i = 0; i < s->nq; ++i) x[i] /= w->c;
  int outcome = split_positions(integrator, w, x);
  if (outcome == SRI_DONE) outcome = sri_outcome(w->solver->mass_times(s->user, w->q, v, w->dx));
  if (outcome != SRI_DONE) return outcome;
  memcpy(w->dx + s->nv, y, (size_t)s->ny * sizeof *y);
  w->solver->times(s->user, w->xi0, NULL, w->b);
  for (int i = 0; i < n; ++i) w->dx[i] -= w->b[i];
  w->solver->solve(s->user, false, w->dx);
  for (int i = 0; i < s->nv; ++i) w->xi[i] = w->xi0[i] + w->dx[i] / w->c;
  outcome = sri_qdot(integrator, w->q, w->xi, x);
  for (int i = 0; i < s->nq; ++i) x[i] += w->across * w->dq[i];
  memcpy(v, w->dx, (size_t)n * sizeof *v);
  return outcome;
}

int sri_newton_solve_rates(srIntegrator* integrator, srNewton* w, double* x) {
  if (w->solver != NULL) return solve_by_system(integrator, w, x);
  srm_lu_solve(w->n, w->LU, w->pivot, x);
  return SRI_DONE;
}

// The part of xi that the position equations require, into zeta, before dv is known.
static void first_position(const srConstrained* c, srNewton* w, const srNewtonParts* right, int np) {
  srm_rows_times(&c->shape, w->G, w->xi0, w->r);
  srm_rows_times(&c->shape, w->G1, w->xi0, w->dl);
  for (int k = 0; k < np; ++k) w->r[k] = right->place[k] - w->r[k] - (right->row[k] - w->dl[k]) / w->c;
  srm_saddle_solve(w->position, NULL, w->r, w->zeta, NULL);
}

// The position equations exactly, with dv known: zeta, and mu.
static void last_position(const srSystem* s, const srConstrained* c, srNewton* w, const srNewtonParts* right,
                          const srNewtonParts* out) {
  for (int i = 0; i < s->nv; ++i) w->xi[i] = w->xi0[i] + w->dx[i] / w->c;
  srm_rows_times(&c->shape, w->G, w->xi, w->r);
  for (int k = 0; k < s->np; ++k) w->r[k] = right->place[k] - w->r[k];
  srm_saddle_solve(w->position, NULL, w->r, w->zeta, w->dl);
  for (int k = 0; k < s->np; ++k) out->place[k] = w->placed[k] != 0 ? w->c * w->dl[k] : right->place[k];
}

// dv, dy and dlambda, with zeta known.
static void solve_saddle(const srSystem* s, const srConstrained* c, srNewton* w, const srNewtonParts* right) {
  const bool velocities = w->position != NULL;
  memcpy(w->xi, w->xi0, (size_t)(s->nv + s->ny) * sizeof *w->xi);
  for (int i = 0; i < s->nv; ++i) w->xi[i] += w->zeta[i];
  memcpy(w->b, right->v, (size_t)s->nv * sizeof *w->b);
  if (s->ny > 0) memcpy(w->b + s->nv, right->y, (size_t)s->ny * sizeof *w->b);
  sri_subtract_stiffness(&w->tangent, s, w->xi, w->b);
  srm_rows_times(&c->shape, velocities ? w->G1 : w->G2, w->xi, w->r);
  for (int k = 0; k < s->ng; ++k) w->r[k] = right->row[k] - (velocities ? w->r[k] : w->r[k] / w->c);
  srm_saddle_solve(w->motion, w->b, w->r, w->dx, w->dl);
}

int sri_newton_solve_motion(srIntegrator* integrator, srNewton* w, const srNewtonParts* right,
                            const srNewtonParts* out) {
  const srSystem* s = &integrator->system;
  const srConstrained* c = integrator->constrained;
  const bool position = w->position != NULL && s->np > 0;
  for (int i = 0; i < s->nq; ++i) out->q[i] = right->q[i] / w->c;
  int outcome = split_positions(integrator, w, out->q);
  if (outcome != SRI_DONE) return outcome;
  memset(w->zeta, 0, (size_t)s->nv * sizeof *w->zeta);
  if (position) first_position(c, w, right, s->np);
  solve_saddle(s, c, w, right);
  for (int k = 0; out->row != NULL && k < s->ng; ++k) out->row[k] = w->kept[k] != 0 ? w->dl[k] : right->row[k];
  if (position) last_position(s, c, w, right, out);
  for (int i = 0; i < s->nv; ++i) w->xi[i] = w->xi0[i] + w->dx[i] / w->c + w->zeta[i];
  outcome = sri_qdot(integrator, w->q, w->xi, out->q);
  for (int i = 0; i < s->nq; ++i) out->q[i] += w->across * w->dq[i];
  memcpy(out->v, w->dx, (size_t)s->nv * sizeof *w->dx);
  if (s->ny > 0) memcpy(out->y, w->dx + s->nv, (size_t)s->ny * sizeof *w->dx);
  return outcome;
}

int sri_newton_rows(srIntegrator* integrator, srNewton* w, const srNewtonParts* x, const srNewtonParts* out) {
  const srSystem* s = &integrator->system;
  const srConstrained* c = integrator->constrained;
  const int outcome = split_positions(integrator, w, x->q);
  if (outcome != SRI_DONE) return outcome;
  srm_rows_times(&c->shape, w->G, x->v, out->row);
  srm_rows_times(&c->shape, w->G1, w->xi0, w->r);
  srm_rows_times(&c->shape, w->G, w->xi0, w->dl);
  for (int k = 0; k < s->ng; ++k) out->row[k] = w->kept[k] != 0 ? out->row[k] + w->r[k] : 0;
  for (int k = 0; k < s->np; ++k) out->place[k] = w->placed[k] != 0 ? w->dl[k] : 0;
  return SRI_DONE;
}
