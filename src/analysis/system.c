// The model as the equations that integrators see (integrate.h).
//
// A tree: its only rows are the drivers, g = q_i - s(t), G unit rows, b = -s', gamma = s''. In the index-1 form (rates) driven
// coordinates are given: q_i = s, v_i = s', a_i = s'', and the force that does it is their multiplier. Integrators then
// merely repeat s by quadrature; `accepted` puts them back on it.
//
// A looped model: all rows of constraint/rows.c, M and G by their patterns. The independent rows of the index-1 form are
// chosen at the start and looked at after every accepted step.
#include "analysis/system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/bristle.h"
#include "analysis/partition.h"
#include "analysis/tangent.h"
#include "analysis/watch.h"
#include "constraint/constraint.h"
#include "dynamics/gauge.h"
#include "force/force.h"

#define PROJECTIONS 4   // of a position after a step: the first one brings it to rounding but for large steps
#define ROUNDING 1e-15  // m or rad
// Distance of a row from the others below which it takes no part in putting a state of dense output on the constraints: its
// error over this is what would be changed.
#define EVENT_TAU 1e-3

static void copy(double* to, const double* from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

// Driven coordinates from d->motion into q and v (v may be NULL).
static void put_driven(const srModel* m, const srData* d, double* q, double* v) {
  for (int i = 0; i < m->ndriver; ++i) {
    q[m->driver[i].qdof] = d->motion[3 * i];
    if (v != NULL) v[m->driver[i].dof] = d->motion[3 * i + 1];
  }
}

void sr_put_driven(const srModel* m, srData* d) {
  if (m->looped) return;
  sr_driver_motion(m, d);
  put_driven(m, d, d->q, d->v);
}

// Everything but the quaternions, which the kinematics takes as normalised.
static void put_raw(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y) {
  d->t = t;
  copy(d->q, q, m->nq);
  copy(d->v, v, m->nv);
  copy(d->y, y, m->ny);
  d->stage = SR_STAGE_NONE;
}

void sr_put_state(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y) {
  put_raw(m, d, t, q, v, y);
  sr_normalize(m, d->q);
  sr_put_driven(m, d);
}

// Dependent coordinates of d's state from the independent ones.
static int put_dependent(srModelSystem* s) {
  double smallest;
  const int answer = sr_partitioning_solve(s->partition, s->d, s->correction, &smallest);
  if (answer > 0) {
    (void)snprintf(s->d->trouble, sizeof s->d->trouble, "the dependent coordinates have no solution from here");
  }
  return answer;
}

// ---- callbacks ------------------------------------------------------------------------------------------------------
// Those that evaluate the model look for a request to stop first: so does every method, whatever it iterates.

static int rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                 double* vdot, double* ydot, double* wdot) {
  srModelSystem* s = user;
  srData* d = s->d;
  if (sr_stop_requested(d)) return -1;
  put_raw(s->m, d, t, q, v, y);
  sr_put_driven(s->m, d);
  int answer = s->partition != NULL ? put_dependent(s) : 0;
  if (answer == 0) answer = sr_forward_rates(s->m, d, tau);
  if (answer != 0) return answer;
  s->row_residual = d->row_residual;
  s->rates_used = true;
  sr_qdot(s->m, d->q, d->v, qdot);
  copy(vdot, d->a, s->m->nv);
  copy(ydot, d->ydot, s->m->ny);
  copy(wdot, d->power, SR_ACCOUNTS);
  return 0;
}

// M of a tree: dense.
static void dense_mass(const srModel* m, srData* d, double* M) {
  sr_crba(m, d, d->q, M);
  for (int i = 0; i < m->nv; ++i) M[(size_t)i * (size_t)m->nv + (size_t)i] += m->dof_armature[i];
}

static int dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                    double* f, double* ydot, double* D) {
  const srModelSystem* s = user;
  const srModel* m = s->m;
  srData* d = s->d;
  (void)D;  // never asked for: it is G
  if (sr_stop_requested(d)) return -1;
  put_raw(m, d, t, q, v, y);
  sr_kinematics(m, d);
  sr_velocity(m, d);
  const int answer = sr_forces(m, d, tau);
  if (answer != 0) return answer;
  copy(ydot, d->ydot, m->ny);
  sr_bias_force(m, d);
  if (m->looped) {
    sr_mass(m, d);
    copy(M, d->M, m->M_row[m->nv]);
  } else {
    dense_mass(m, d, M);
  }
  for (int i = 0; i < m->nv; ++i) f[i] = d->f[i] - d->bias[i];
  return 0;
}

static int constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  const srModelSystem* s = user;
  const srModel* m = s->m;
  srData* d = s->d;
  if (sr_stop_requested(d)) return -1;
  d->t = t;
  copy(d->q, q, m->nq);
  sr_kinematics(m, d);
  const int answer = sr_constraints(m, d);
  if (answer != 0) return answer;
  if (g != NULL) copy(g, d->g, m->np);
  if (b != NULL) copy(b, d->b, m->ng);
  if (G != NULL && m->looped) copy(G, d->G, m->G_start[m->ng]);
  if (G != NULL && !m->looped) sr_constraint_matrix(m, d, G);
  return 0;
}

static int gamma_term(void* user, double t, const double* q, const double* v, double* gamma) {
  const srModelSystem* s = user;
  const srModel* m = s->m;
  srData* d = s->d;
  d->t = t;
  copy(d->q, q, m->nq);
  copy(d->v, v, m->nv);
  sr_driver_motion(m, d);
  sr_kinematics(m, d);
  sr_velocity(m, d);
  const int answer = sr_constraint_gamma(m, d);
  copy(gamma, d->gamma, m->ng);
  return answer;
}

static int power(void* user, double t, const double* q, const double* v, const double* y, const double* lambda,
                 double* wdot) {
  const srModelSystem* s = user;
  srData* d = s->d;
  (void)v, (void)y;              // d has them from `dynamics`
  if (s->m->nformula_row > 0) {  // the rows are those of the next stage by now
    const int answer = constraint(user, t, q, NULL, NULL, NULL);
    if (answer != 0) return answer;
  }
  copy(d->lambda, lambda, s->m->ng);
  sr_driver_power(s->m, d);
  copy(wdot, d->power, SR_ACCOUNTS);
  return 0;
}

static int tangent(void* user, double t, const double* q, const double* v, const double* y, double tau, const double* a,
                   const double* lambda, srTangent* out) {
  const srModelSystem* s = user;
  srData* d = s->d;
  if (sr_stop_requested(d)) return -1;
  put_raw(s->m, d, t, q, v, y);
  sr_kinematics(s->m, d);
  sr_velocity(s->m, d);
  const int answer = sr_forces(s->m, d, tau);
  return answer != 0 ? answer : sr_tangent_evaluate(s->tangent, d, tau, a, lambda, out);
}

// ---- linear systems of a tree: integrate.h, srMotionSolver

static int evaluate_forces(const srModelSystem* s, double t, const double* q, const double* v, const double* y,
                           double tau) {
  if (sr_stop_requested(s->d)) return -1;
  put_raw(s->m, s->d, t, q, v, y);
  sr_kinematics(s->m, s->d);
  sr_velocity(s->m, s->d);
  return sr_forces(s->m, s->d, tau);
}

static int tree_residual(void* user, double t, const double* q, const double* v, const double* y, double tau,
                         const double* a, double* E) {
  const srModelSystem* s = user;
  const srModel* m = s->m;
  srData* d = s->d;
  const int answer = evaluate_forces(s, t, q, v, y, tau);
  if (answer != 0) return answer;
  if (a != NULL) {
    sr_rnea(m, d, d->q, d->v, a, E);
  } else {
    sr_bias_force(m, d);
    copy(E, d->bias, m->nv);
  }
  for (int i = 0; i < m->nv; ++i) E[i] += (a != NULL ? m->dof_armature[i] * a[i] : 0.0) - d->f[i];
  for (int i = 0; i < m->ny; ++i) E[m->nv + i] = -d->ydot[i];
  return 0;
}

static int tree_mass_times(void* user, const double* q, const double* x, double* out) {
  const srModelSystem* s = user;
  sr_mass_times(s->m, s->d, q, x, out);
  for (int i = 0; i < s->m->nv; ++i) out[i] += s->m->dof_armature[i] * x[i];
  return 0;
}

static int tree_tangent(void* user, double t, const double* q, const double* v, const double* y, double tau,
                        const double* a, double* diagonal) {
  const srModelSystem* s = user;
  const int answer = evaluate_forces(s, t, q, v, y, tau);
  return answer != 0 ? answer : sr_tangent_tree_evaluate(s->tangent, s->d, tau, a, diagonal);
}

static void tree_times(void* user, const double* dxi, const double* dx, double* out) {
  sr_tree_times(((const srModelSystem*)user)->tangent->tree, dxi, dx, out);
}

static bool tree_factor(void* user, const srShift* c, bool complex) {
  srModelTangent* tangent = ((const srModelSystem*)user)->tangent;
  const srTreeShift shift = {
      .cM = {c->cM[0], c->cM[1]}, .cI = {c->cI[0], c->cI[1]}, .cq = {c->cq[0], c->cq[1]}, .cv = {c->cv[0], c->cv[1]}};
  return sr_tree_factor(tangent->tree, &shift, &tangent->factor[complex]);
}

static void tree_solve(void* user, bool complex, double* x) {
  srModelTangent* tangent = ((const srModelSystem*)user)->tangent;
  sr_tree_solve(tangent->tree, &tangent->factor[complex], x);
}

static const srMotionSolver tree_solver = {.residual = tree_residual,
                                           .mass_times = tree_mass_times,
                                           .tangent = tree_tangent,
                                           .times = tree_times,
                                           .factor = tree_factor,
                                           .solve = tree_solve};

static int position_rates(void* user, const double* q, const double* v, double* qdot) {
  sr_qdot(((const srModelSystem*)user)->m, q, v, qdot);
  return 0;
}

static int retract(void* user, const double* q, const double* dxi, double* q_out) {
  sr_retract(((const srModelSystem*)user)->m, q, dxi, q_out);
  return 0;
}

static int difference(void* user, const double* q1, const double* q2, double* dxi) {
  sr_difference(((const srModelSystem*)user)->m, q1, q2, dxi);
  return 0;
}

// ---- after a step -----------------------------------------------------------------------------------------------------

static void accept_driven(srModelSystem* s, double t, double* q, double* v) {
  const srModel* m = s->m;
  s->d->t = t;
  sr_driver_motion(m, s->d);
  for (int i = 0; i < m->ndriver; ++i) {
    const double* motion = s->d->motion + 3 * i;
    s->violation_position = fmax(s->violation_position, fabs(q[m->driver[i].qdof] - motion[0]));
    s->violation_velocity = fmax(s->violation_velocity, fabs(v[m->driver[i].dof] - motion[1]));
  }
  put_driven(m, s->d, q, v);
}

// How well the rows hold at the end of a step; 1 where the state is not to be accepted.
static int measure(srModelSystem* s, double t, const double* v) {
  const srModel* m = s->m;
  srData* d = s->d;
  double* rate = d->row_work;
  sr_constraint_velocity(m, d, v, rate);
  if (sr_watch_rows(s, t, v, rate) != 0) return 1;
  for (int i = 0; i < m->np; ++i) s->violation_position = fmax(s->violation_position, fabs(d->g[i]));
  for (int i = 0; i < m->ng; ++i) s->violation_velocity = fmax(s->violation_velocity, fabs(rate[i]));
  s->violation_acceleration = fmax(s->violation_acceleration, s->row_residual);
  return 0;
}

// Positions on g = 0, then velocities on G v + b = 0, by the least correction in the metric (paper 2, eq 35 and 36). The rows
// in use are those that sr_choose_rows has taken at this place; sigma: how far they are from dependence.
static int project(srModelSystem* s, double sigma, double* q, double* v) {
  const srModel* m = s->m;
  srData* d = s->d;
  const double* metric = s->metric_identity ? NULL : d->M;
  double *x = s->correction, *r = x + m->nv;
  for (int i = 0; i < PROJECTIONS; ++i) {
    double worst = 0.0;
    for (int k = 0; k < m->ng; ++k) {
      r[k] = k < m->np ? d->g[k] : 0.0;
      worst = fmax(worst, fabs(r[k]));
    }
    if (worst < ROUNDING) break;
    if (sr_constraint_correction(m, d, metric, r, x) != 0) return 1;
    sr_retract(m, d->q, x, d->q);
    sr_kinematics(m, d);
    const int answer = sr_constraints(m, d);
    if (answer != 0) return answer;
    copy(q, d->q, m->nq);
  }
  sr_constraint_velocity(m, d, v, r);
  if (sr_constraint_correction(m, d, metric, r, x) != 0) return 1;
  if (sigma < SR_NEAR_SINGULAR && !sr_watch_correction(s, v, x)) return 1;
  for (int i = 0; i < m->nv; ++i) v[i] += x[i];
  return 0;
}

int sr_put_on_constraints(srModelSystem* s, double t, double* q, double* v) {
  const srModel* m = s->m;
  srData* d = s->d;
  sr_normalize(m, q);
  d->t = t;
  copy(d->q, q, m->nq);
  sr_kinematics(m, d);
  int answer = sr_constraints(m, d);
  if (answer != 0) return answer;
  sr_mass(m, d);
  // Rows of this place alone: those in use are to stay, and near a singular position not all of them serve.
  struct srDataPrivate* p = d->priv;
  const srmRowsChoice choice = {.tau = EVENT_TAU};
  if (srm_rows_classify(p->rows, d->M, d->G, &choice, p->taken) < 0) return sr_no_metric(m, d);
  unsigned char* const kept = p->kept;
  const bool chosen = p->chosen;  // false where the integrator has rows of its own
  p->kept = p->taken;
  p->chosen = true;
  answer = project(s, 1.0, q, v);
  p->kept = kept;
  p->chosen = chosen;
  if (answer != 0) return answer;
  double* rate = d->row_work;
  sr_constraint_velocity(m, d, v, rate);
  for (int i = 0; i < m->np; ++i) s->violation_position = fmax(s->violation_position, fabs(d->g[i]));
  for (int i = 0; i < m->ng; ++i) s->violation_velocity = fmax(s->violation_velocity, fabs(rate[i]));
  return 0;
}

// Free bodies, at the state that the step ends with (d's, but for the velocities): what turns are counted from, and how far
// springs that stand for joints have given way.
static void settle_free(srModelSystem* s, const double* v) {
  if (!s->m->gauged) return;
  copy(s->d->v, v, s->m->nv);
  sr_velocity(s->m, s->d);
  sr_gauge_accept(s->m, s->d);
  for (int i = 0; i < s->m->nclosure; ++i) {
    srSoft soft;
    if (!s->m->closure[i].soft || sr_soft_closure(s->m, s->d, &s->m->closure[i], &soft) != 0) continue;
    s->violation_position = fmax(s->violation_position, soft.gap);
  }
}

// The same for an accepted state, with a look at the pivots.
static int accept_partition(srModelSystem* s, double* q, double* v) {
  srData* d = s->d;
  double smallest;
  copy(d->v, v, s->m->nv);
  const int answer = sr_partitioning_solve(s->partition, d, s->correction, &smallest);
  if (answer != 0) return answer;
  copy(q, d->q, s->m->nq);
  copy(v, d->v, s->m->nv);
  s->partitions += sr_partitioning_update(s->partition, d, smallest);
  return 0;
}

static int accepted(void* user, double t, double* q, double* v, double* y) {
  srModelSystem* s = user;
  const srModel* m = s->m;
  (void)y;
  sr_normalize(m, q);
  if (m->ng == 0 && !m->gauged) return 0;
  if (!m->looped) {
    accept_driven(s, t, q, v);
    return 0;
  }
  s->d->t = t;
  copy(s->d->q, q, m->nq);
  sr_kinematics(m, s->d);
  int answer = sr_constraints(m, s->d);
  if (answer != 0) return answer;
  srRankSeen seen = {.rank = -1};
  if (s->rates_used) {  // other methods choose rows themselves
    sr_mass(m, s->d);
    seen = sr_watch_choose(s);
  }
  if (s->project) answer = project(s, seen.sigma, q, v);
  if (s->partition != NULL) answer = accept_partition(s, q, v);
  if (answer == 0) answer = measure(s, t, v);
  if (answer == 0) answer = sr_watch_rise(s, seen);
  if (answer != 0) return answer;
  sr_watch_note(s, t, seen);
  settle_free(s, v);
  return 0;
}

srSystem sr_system(srModelSystem* user) {
  const srModel* m = user->m;
  const bool tree = user->tangent != NULL && user->tangent->tree != NULL;
  user->rank = -1;
  user->M_sparsity = (srSparsity){m->nv, m->nv, m->M_row, m->M_column};
  user->G_sparsity = (srSparsity){m->ng, m->nv, m->G_start, m->G_index};
  if (m->looped) user->d->priv->chosen = false;
  if (user->y_most != NULL) sr_bristle_bounds(m, user->y_most);
  return (srSystem){
      .nq = m->nq,
      .nv = m->nv,
      .ny = m->ny,
      .nw = SR_ACCOUNTS,
      .nz = m->gauged ? m->nz : 0,  // those of contacts change at restarts, or without a change of force
      .ng = m->ng,
      .np = m->np,
      .y_most = user->y_most,
      .user = user,
      .rates = rates,
      .dynamics = dynamics,
      .constraint = constraint,
      .gamma = gamma_term,
      .tangent = user->tangent != NULL && !tree ? tangent : NULL,
      .qdot = position_rates,
      .retract = retract,
      .difference = difference,
      .accepted = accepted,
      .power = power,
      .M_sparsity = m->looped ? &user->M_sparsity : NULL,
      .G_sparsity = m->looped ? &user->G_sparsity : NULL,
      .K_sparsity = user->tangent != NULL && user->tangent->sparsity.row != NULL ? &user->tangent->sparsity : NULL,
      .solver = tree ? &tree_solver : NULL,
  };
}
