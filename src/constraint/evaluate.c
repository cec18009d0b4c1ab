// Evaluation of a model at a state: the single entry point. In this order, up to the requested stage:
//
//   the state       t, q, v, y into d; of a state of the motion, quaternions of length 1 and driven coordinates of a tree on
//                   their motion (in a constrained model they are equations like the others)
//   POSITION        poses of links, joint coordinates of free bodies                                 dynamics/kinematics.c
//   VELOCITY        twists of links, their rates
//   FORCE           motion of drivers, sensors, formulas, contact instances, force elements          force/forces.c
//   ACCELERATION    M a + c = f + G^T lambda,  G a = gamma: trees, with or without drivers and couplings, by articulated
//                   bodies, O(n) (dynamics/aba.c, aba_coupled.c); constrained models by G, gamma, c, M and the saddle-point
//                   system (solve.c). Then the power of the drivers
//   FRAMES          accelerations of links and frames: a separate pass, which integrators do not need
//
// Positions and velocities depend on t, q, v and z alone, and d records the state its results belong to (srData.known): where
// they are the same, bit by bit, nothing is recomputed. Forces also depend on y, tau, discrete states, held switches,
// contact instances and the stage length, and are evaluated on every request.
#include <math.h>
#include <string.h>

#include "constraint/constraint.h"
#include "dynamics/link.h"
#include "dynamics/measurement.h"
#include "force/force.h"
#include "model/elimination.h"

#define FEW 4  // numbers that take less time to copy than a call of memcpy

// ---- the state ----------------------------------------------------------------------------------------------------------

// NULL: the value in d.
static bool differs(const double* to, const double* from, int n) {
  return from != NULL && from != to && n > 0 && memcmp(to, from, (size_t)n * sizeof *to) != 0;
}

// Both inline: a small tree takes little more time.
SRM_INLINE void put(double* to, const double* from, int n) {
  if (from == NULL || from == to) return;
  if (n > FEW) {
    memcpy(to, from, (size_t)n * sizeof *to);
  } else {
    for (int i = 0; i < n; ++i) to[i] = from[i];
  }
}

SRM_INLINE void put_state(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y) {
  if (d->stage > SR_STAGE_VELOCITY && (d->t != t || differs(d->y, y, m->ny))) d->stage = SR_STAGE_VELOCITY;
  d->t = t;
  put(d->q, q, m->nq);
  put(d->v, v, m->nv);
  put(d->y, y, m->ny);
}

void sr_put_followers(const srModel* m, srData* d, double t, double* q, double* v) {
  if (m->constrained && !m->elimination) return;
  if (d->t != t && d->stage > SR_STAGE_VELOCITY) d->stage = SR_STAGE_VELOCITY;
  d->t = t;
  if (m->ndriver > 0) sr_driver_motion(m, d);
  for (int i = 0; i < m->ndriver; ++i) {
    q[m->driver[i].qdof] = d->motion[3 * i];
    v[m->driver[i].dof] = d->motion[3 * i + 1];
  }
  if (m->elimination) sr_elimination_follow(m, q, v);
}

void sr_put_driven(const srModel* m, srData* d) {
  if (!m->constrained) sr_put_followers(m, d, d->t, d->q, d->v);
}

// ---- the stages ---------------------------------------------------------------------------------------------------------

// Power of the driving forces, and of formulas and laws of plugins that depend on time: -lambda b.
void sr_driver_power(const srModel* m, srData* d) {
  for (int i = 0; i < m->ndriver; ++i) {
    d->power[SR_ACCOUNT_DRIVER] += d->lambda[m->row_driver + i] * d->jv[m->driver[i].dof];
  }
  for (int i = 0; i < m->nformula_row; ++i) {
    const int row = m->formula_row[i].row;
    d->power[SR_ACCOUNT_DRIVER] -= d->lambda[row] * d->b[row];
  }
  for (int i = 0; i < m->nclosure && m->priv->user_closures; ++i) {
    const srClosure* c = &m->closure[i];
    for (int k = 0; k < c->np && !c->soft; ++k) {
      d->power[SR_ACCOUNT_DRIVER] -= d->lambda[c->row + k] * d->b[c->row + k];
    }
  }
}

static void move_links(const srModel* m, srData* d, srStage stage) {
  sr_lower_stage(m, d);
  if (stage >= SR_STAGE_POSITION && d->stage < SR_STAGE_POSITION) sr_link_positions(m, d);
  if (stage >= SR_STAGE_VELOCITY && d->stage < SR_STAGE_VELOCITY) sr_link_velocities(m, d);
}

static void move(const srModel* m, srData* d, srStage stage) {
  move_links(m, d, stage);
  sr_measure_joints(m, d);
}

// Does anything in the equations of motion depend on joint coordinates? In absolute coordinates they are measured for it.
static bool joints_are_seen(const srModel* m, const srData* d) {
  if (!m->absolute || m->nforce > 0 || m->nset > 0 || m->nformula > 0 || m->nsensor_value > 0 || m->ncoupling > 0 ||
      m->ndriver > 0 || m->nformula_row > 0 || m->armature_place || m->formulation == SR_FORMULATION_PENALTY)
    return true;
  for (int i = 0; i < m->njv; ++i) {
    if (d->tau[i] != 0) return true;
  }
  return false;
}

// Where a group has no inertia of its own, the saddle-point system may have a solution, or knows the cause.
static int accelerate_coupled(const srModel* m, srData* d) {
  if (sr_aba_coupled(m, d, d->q, d->v, d->f, d->a, d->lambda) == SR_OK) return 0;
  move(m, d, SR_STAGE_VELOCITY);
  return sr_solve_state(m, d);
}

// Generated code has no pivots to look at: where M is singular the recursion names the joint.
static bool accelerate_generated(const srModel* m, srData* d) {
  double sum = 0;
  if (m->priv->kernels == NULL || m->priv->kernels->accel == NULL) return false;
  m->priv->kernels->accel(d->q, d->v, d->f, d->a);
  for (int i = 0; i < m->nv; ++i) sum += d->a[i];
  return isfinite(sum);
}

// a = M^-1 (f - c) with M and c of the model.
static int accelerate_constant(const srModel* m, srData* d) {
  const srConstantMass* x = m->priv->constant_mass;
  const double *f = d->f, *c = x->c, *row = x->inverse;
  double* a = d->a;
  for (int i = 0, n = m->nv; i < n; ++i, row += n) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += row[k] * (f[k] - c[k]);
    a[i] = sum;
  }
  return 0;
}

// Couplings that are eliminated are no constraint equations, and none of them is redundant. multipliers: theirs, too, which generated code does not have.
static int accelerate(const srModel* m, srData* d, bool multipliers) {
  int answer;
  if (m->priv->constant_mass != NULL && m->priv->constant_mass->is_all && m->priv->kernels == NULL)
    return accelerate_constant(m, d);
  if (m->elimination) {
    d->rank = m->ng;
    answer = !multipliers && accelerate_generated(m, d) ? 0 : accelerate_coupled(m, d);
  } else if (m->constrained) {
    answer = sr_solve_state(m, d);
  } else if (accelerate_generated(m, d)) {
    answer = 0;
  } else {
    // A singular M may belong to a state that only a trial step reached.
    answer = sr_aba_driven(m, d, d->q, d->v, d->f, d->a, d->lambda) != SR_OK;
  }
  if (answer == 0 && (m->ndriver > 0 || m->nformula_row > 0 || m->priv->user_closures)) sr_driver_power(m, d);
  return answer;
}

// Forces, and what follows from them.
static int act(const srModel* m, srData* d, srStage stage, double tau, bool multipliers) {
  if (stage < SR_STAGE_FORCE) return 0;
  const srStage moved = d->stage < SR_STAGE_VELOCITY ? d->stage : SR_STAGE_VELOCITY;
  d->stage = moved;
  int answer = sr_forces(m, d, tau);
  if (answer == 0 && stage >= SR_STAGE_ACCELERATION) answer = accelerate(m, d, multipliers);
  if (answer == 0 && stage == SR_STAGE_FRAMES) sr_acceleration(m, d);
  if (answer == 0 && moved == SR_STAGE_VELOCITY) d->stage = stage;
  return answer;
}

// Residual of the constraint equations after the saddle-point solution.
static int describe_rows(const srModel* m, srData* d) {
  const int answer = sr_constraints(m, d);
  sr_joint_gamma(m, d);
  d->row_residual = sr_row_residual(m, d);
  memset(d->priv->taken, 1, 2 * (size_t)m->ng);  // and unique
  return answer;
}

static int act_on_rows(const srModel* m, srData* d, srStage stage, double tau) {
  const int answer = act(m, d, stage, tau, true);
  return answer == 0 && m->elimination && stage >= SR_STAGE_ACCELERATION ? describe_rows(m, d) : answer;
}

// ---- evaluation ---------------------------------------------------------------------------------------------------------

int sr_evaluate_tau(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y,
                    srStage stage, double tau) {
  put_state(m, d, t, q, v, y);
  move(m, d, stage);
  return act_on_rows(m, d, stage, tau);
}

int sr_evaluate_stage(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y,
                      srStage stage, double tau) {
  put_state(m, d, t, q, v, y);
  if (q != NULL && m->nq != m->nv) sr_normalize(m, d->q);  // as it will be at the end of the step: the same state then
  move_links(m, d, stage);
  if (joints_are_seen(m, d)) sr_measure_joints(m, d);
  return act_on_rows(m, d, stage, tau);
}

int sr_evaluate(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y,
                srStage stage) {
  return sr_evaluate_tau(m, d, t, q, v, y, stage, SR_TAU_ELEMENT);
}

int sr_forward(const srModel* m, srData* d, double tau_stage) {
  return sr_evaluate_tau(m, d, d->t, d->q, d->v, d->y, SR_STAGE_ACCELERATION, tau_stage);
}

int sr_evaluate_motion(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y,
                       srStage stage) {
  put_state(m, d, t, q, v, y);
  sr_normalize(m, d->q);
  sr_put_driven(m, d);
  move(m, d, stage);
  return act_on_rows(m, d, stage, SR_TAU_ELEMENT);
}

// Force laws on joint coordinates only need no poses and twists of links in the ground frame; nor do rigid contacts, which are listed by themselves.
static bool frames_are_seen(const srModel* m, const srData* d) {
  if (sr_only_tau(m, d)) return m->constrained && !m->elimination;
  if (m->nsensor_value > 0 || (m->constrained && !m->elimination) || (m->nset > 0 && !d->rigid)) return true;
  for (int i = 0; i < m->nforce; ++i) {
    const srForceElement* e = &m->force[i];
    if (e->law->port != SR_PORT_JOINT && (m->ndistance_arg > 0 || !sr_force_is_rigid(d, e))) return true;
  }
  return false;
}

int sr_evaluate_rates(const srModel* m, srData* d, double t, const double* q, const double* v, const double* y,
                      double tau) {
  put_state(m, d, t, q, v, y);
  if (m->ndriver > 0 || m->elimination) sr_put_followers(m, d, t, d->q, d->v);
  if (frames_are_seen(m, d)) {
    move(m, d, SR_STAGE_VELOCITY);
  } else if (d->stage > SR_STAGE_NONE) {
    sr_lower_stage(m, d);
  }
  if (d->stage > SR_STAGE_NONE) return act(m, d, SR_STAGE_ACCELERATION, tau, false);
  const int answer = sr_forces(m, d, tau);  // no stage is reached: the recursion needs none
  return answer == 0 ? accelerate(m, d, false) : answer;
}
