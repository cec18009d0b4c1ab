// The model as the equations that integrators see (integrate.h).
//
// A tree: its only constraint equations are the drivers, g = q_i - s(t), G unit rows, b = -s', gamma = s''. In the index-1 form (rates) driven
// coordinates are prescribed: q_i = s, v_i = s', a_i = s'', and the driving force is their multiplier. Integrators then
// merely reproduce s by quadrature; `accepted` puts them back on it.
//
// A constrained model: all equations of constraint/rows.c, M and G by their patterns. Selection of equations, accelerations and multipliers
// are up to the integrators (integrate/constrained.h): there are no `rates`.
//
// Constrained by couplings only (m->elimination): both. The recursion includes the couplings, so that rates of members are those of their leader
// times the ratio, and drivers as in a tree; `accepted` removes the rounding. Methods that need constraint equations use M, f, G and these.
#include "system/system.h"

#include <math.h>
#include <string.h>

#include "base/team.h"
#include "constraint/constraint.h"
#include "dynamics/link.h"
#include "dynamics/measurement.h"
#include "force/force.h"
#include "system/bristle.h"
#include "system/tangent.h"

#define FEW 4  // numbers that take less time to copy than a call of memcpy

static inline void copy(double* to, const double* from, int n) {
  if (n > FEW) {
    memcpy(to, from, (size_t)n * sizeof *to);
  } else {
    for (int i = 0; i < n; ++i) to[i] = from[i];
  }
}

static bool has_rates(const srModel* m) { return !m->constrained || m->ng == 0 || m->elimination != NULL; }

// ---- callbacks ------------------------------------------------------------------------------------------------------
// Callbacks that evaluate the model check for a stop request first: so every method does, whatever it iterates. Quaternions are
// those of the method: the kinematics takes them as normalised.

static int evaluate_forces(const srModelSystem* s, double t, const double* q, const double* v, const double* y,
                           double tau) {
  return sr_stop_requested(s->d) ? -1 : sr_evaluate_stage(s->m, s->d, t, q, v, y, SR_STAGE_FORCE, tau);
}

// Powers of the energy balance, then those of the meters.
static void put_powers(const srModelSystem* s, double* wdot) {
  const srModel* m = s->m;
  const srData* d = s->d;
  copy(wdot, d->power, SR_ACCOUNTS);
  for (int k = 0; k < s->nmeter; ++k) {
    const srMeter* meter = &s->meter[k];
    wdot[SR_ACCOUNTS + k] = meter->driver >= 0
                                ? d->lambda[m->row_driver + meter->driver] * d->jv[m->driver[meter->driver].dof]
                                : d->element_power[meter->element];
  }
}

static int rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                 double* vdot, double* ydot, double* wdot) {
  const srModelSystem* s = user;
  srData* d = s->d;
  if (sr_stop_requested(d)) return -1;
  const int answer = sr_evaluate_rates(s->m, d, t, q, v, y, tau);
  if (answer != 0) return answer;
  if (s->m->nq == s->m->nv) {  // no quaternions
    copy(qdot, d->v, s->m->nv);
  } else {
    sr_qdot(s->m, d->q, d->v, qdot);
  }
  copy(vdot, d->a, s->m->nv);
  copy(ydot, d->ydot, s->m->ny);
  put_powers(s, wdot);
  return 0;
}

// M of a tree: dense.
static void dense_mass(const srModel* m, srData* d, double* M) {
  if (m->priv->kernels != NULL && m->priv->kernels->mass != NULL) {
    m->priv->kernels->mass(d->q, M);
    for (int i = 0; i < m->nv; ++i) {
      for (int k = 0; k < i; ++k) M[(size_t)k * (size_t)m->nv + (size_t)i] = M[(size_t)i * (size_t)m->nv + (size_t)k];
    }
    return;
  }
  sr_crba(m, d, d->q, M);
  for (int i = 0; i < m->nv; ++i) M[(size_t)i * (size_t)m->nv + (size_t)i] += m->dof_armature[i];
}

static bool is_sparse(const srModelSystem* s) { return s->m->constrained || (s->sparse && s->m->M_row != NULL); }

// Entries of a dense M where it is stored by its pattern.
static void put_pattern(const srModel* m, const double* from, double* M) {
  for (int i = 0; i < m->nv; ++i, from += m->nv) {
    for (int k = m->M_row[i]; k < m->M_row[i + 1]; ++k) M[k] = from[m->M_column[k]];
  }
}

// Of a tree whose M and bias are constant: forces alone are evaluated, where nothing is constrained as rates do it, which need less of the frames of links.
static int constant_dynamics(const srModelSystem* s, const srConstantMass* x, double t, const double* q,
                             const double* v, const double* y, double tau, double* M, double* f, double* ydot) {
  const srModel* m = s->m;
  srData* d = s->d;
  const bool by_rates = x->is_all && !sr_stop_requested(d);
  const int answer = by_rates ? sr_evaluate_rates(m, d, t, q, v, y, tau) : evaluate_forces(s, t, q, v, y, tau);
  if (answer != 0) return answer;
  copy(ydot, d->ydot, m->ny);
  if (M != NULL && is_sparse(s)) {
    put_pattern(m, x->M, M);
  } else if (M != NULL) {
    copy(M, x->M, m->nv * m->nv);
  }
  for (int i = 0; i < m->nv; ++i) f[i] = d->f[i] - x->c[i];
  return 0;
}

static int dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                    double* f, double* ydot, double* D) {
  const srModelSystem* s = user;
  const srModel* m = s->m;
  srData* d = s->d;
  (void)D;  // never requested: it is G
  if (m->priv->constant_mass != NULL) return constant_dynamics(s, m->priv->constant_mass, t, q, v, y, tau, M, f, ydot);
  const int answer = evaluate_forces(s, t, q, v, y, tau);
  if (answer != 0) return answer;
  copy(ydot, d->ydot, m->ny);
  sr_bias_force(m, d);
  if (M != NULL && is_sparse(s)) {
    sr_mass(m, d);
    copy(M, d->M, m->M_row[m->nv]);
  } else if (M != NULL) {
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
  (void)sr_evaluate_stage(m, d, t, q, NULL, NULL, SR_STAGE_POSITION, SR_TAU_ELEMENT);
  const int answer = sr_constraints(m, d);
  if (answer != 0) return answer;
  if (g != NULL) copy(g, d->g, m->np);
  if (b != NULL) copy(b, d->b, m->ng);
  if (G != NULL && is_sparse(s)) copy(G, d->G, m->G_start[m->ng]);
  if (G != NULL && !is_sparse(s)) sr_constraint_matrix(m, d, G);
  return 0;
}

static int gamma_term(void* user, double t, const double* q, const double* v, double* gamma) {
  const srModelSystem* s = user;
  const srModel* m = s->m;
  srData* d = s->d;
  (void)sr_evaluate_stage(m, d, t, q, v, NULL, SR_STAGE_VELOCITY, SR_TAU_ELEMENT);
  sr_driver_motion(m, d);
  const int answer = sr_constraint_gamma(m, d);
  copy(gamma, d->gamma, m->ng);
  return answer;
}

static int power(void* user, double t, const double* q, const double* v, const double* y, const double* lambda,
                 double* wdot) {
  const srModelSystem* s = user;
  srData* d = s->d;
  (void)v, (void)y;                                           // d has them from `dynamics`
  if (s->m->nformula_row > 0 || s->m->priv->user_closures) {  // the constraints are those of the next stage by now
    const int answer = constraint(user, t, q, NULL, NULL, NULL);
    if (answer != 0) return answer;
  }
  copy(d->lambda, lambda, s->m->ng);
  sr_driver_power(s->m, d);
  put_powers(s, wdot);
  return 0;
}

static int tangent(void* user, double t, const double* q, const double* v, const double* y, double tau, const double* a,
                   const double* lambda, srTangent* out) {
  const srModelSystem* s = user;
  const int answer = evaluate_forces(s, t, q, v, y, tau);
  sr_measure_joints(s->m, s->d);  // the tangent is also that of forces which are 0 here
  return answer != 0 ? answer : sr_tangent_evaluate(s->tangent, s->d, tau, a, lambda, out);
}

// ---- linear systems that the system solves: integrate.h, srMotionSolver

// out += M x, M of d's position.
static void add_mass_times(const srModel* m, srData* d, const double* x, double* out) {
  sr_mass(m, d);
  for (int i = 0; i < m->nv; ++i) {
    for (int k = m->M_row[i]; k < m->M_row[i + 1]; ++k) out[i] += d->M[k] * x[m->M_column[k]];
  }
}

static int motion_residual(void* user, double t, const double* q, const double* v, const double* y, double tau,
                           const double* a, double* E) {
  const srModelSystem* s = user;
  const srModel* m = s->m;
  srData* d = s->d;
  const int answer = evaluate_forces(s, t, q, v, y, tau);
  if (answer != 0) return answer;
  if (a != NULL && !m->constrained && m->priv->kernels != NULL && m->priv->kernels->invdyna != NULL) {
    m->priv->kernels->invdyna(d->q, d->v, a, E);
  } else if (a != NULL && !m->constrained) {
    sr_rnea(m, d, d->q, d->v, a, E);
    for (int i = 0; i < m->nv; ++i) E[i] += m->dof_armature[i] * a[i];
  } else {
    sr_bias_force(m, d);
    copy(E, d->bias, m->nv);
    if (a != NULL) add_mass_times(m, d, a, E);
  }
  for (int i = 0; i < m->nv; ++i) E[i] -= d->f[i];
  for (int i = 0; i < m->ny; ++i) E[m->nv + i] = -d->ydot[i];
  return 0;
}

static int motion_mass_times(void* user, const double* q, const double* x, double* out) {
  const srModelSystem* s = user;
  const srModel* m = s->m;
  if (m->constrained) {
    memset(out, 0, (size_t)m->nv * sizeof *out);
    (void)sr_evaluate(m, s->d, s->d->t, q, NULL, NULL, SR_STAGE_POSITION);
    add_mass_times(m, s->d, x, out);
    return 0;
  }
  sr_mass_times(m, s->d, q, x, out);
  for (int i = 0; i < m->nv; ++i) out[i] += m->dof_armature[i] * x[i];
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

static const srMotionSolver tree_solver = {.residual = motion_residual,
                                           .mass_times = motion_mass_times,
                                           .tangent = tree_tangent,
                                           .times = tree_times,
                                           .factor = tree_factor,
                                           .solve = tree_solve};

static int matrix_tangent(void* user, double t, const double* q, const double* v, const double* y, double tau,
                          const double* a, double* diagonal) {
  const srModelSystem* s = user;
  const int answer = evaluate_forces(s, t, q, v, y, tau);
  return answer != 0 ? answer : sr_tangent_matrix_evaluate(s->tangent, s->d, tau, a, diagonal);
}

static void matrix_times(void* user, const double* dxi, const double* dx, double* out) {
  sr_tangent_matrix_times(((const srModelSystem*)user)->tangent, dxi, dx, out);
}

static bool matrix_factor(void* user, const srShift* c, bool complex) {
  return sr_tangent_matrix_factor(((const srModelSystem*)user)->tangent, c, complex);
}

static void matrix_solve(void* user, bool complex, double* x) {
  sr_tangent_matrix_solve(((const srModelSystem*)user)->tangent, complex, x);
}

static const srMotionSolver matrix_solver = {.residual = motion_residual,
                                             .mass_times = motion_mass_times,
                                             .tangent = matrix_tangent,
                                             .times = matrix_times,
                                             .factor = matrix_factor,
                                             .solve = matrix_solve};

static const srMotionSolver* solver_of(const srModelTangent* tangent) {
  if (tangent == NULL) return NULL;
  return tangent->tree != NULL ? &tree_solver : tangent->matrix != NULL ? &matrix_solver : NULL;
}

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

static int axes_rate(void* user, const double* v, double* out) {
  sr_axes_rate(((const srModelSystem*)user)->m, v, out);
  return 0;
}

// Loops over links that are shared: free bodies (share).
typedef struct Moved {
  const srModel* m;
  const double* q;
  double h;
  const double* move;
  double *v, *q_out;
} Moved;

static void drift_range(void* user, int member, int from, int to) {
  const Moved* x = user;
  (void)member;
  sr_drift_links(x->m, 1 + from, 1 + to, x->q, x->h, x->move, x->v, x->q_out);
}

static int drift(void* user, const double* q, double h, const double* move, double* v, double* q_out) {
  const srModelSystem* s = user;
  Moved x = {.m = s->m, .q = q, .h = h, .move = move, .v = v, .q_out = q_out};
  sr_team_loop(s->d->team, s->m->nlink - 1, drift_range, &x);
  return 0;
}

static void normalize_range(void* user, int member, int from, int to) {
  const Moved* x = user;
  (void)member;
  sr_normalize_links(x->m, 1 + from, 1 + to, x->q_out);
}

static void share(void* user, srTeam* team) { ((srModelSystem*)user)->d->team = team; }

static const char* row(void* user, int k, double* tolerance) {
  const srRow* r = &((const srModelSystem*)user)->m->row[k];
  *tolerance = r->tolerance;
  return r->name;
}

// In other than relative coordinates the hints do not refer to coordinates of the equations.
static int role(void* user, int i) {
  const srModel* m = ((const srModelSystem*)user)->m;
  const int hint = m->absolute ? SR_ROLE_NONE : m->joint_role[m->link_joint[m->dof_link[i]]];
  return hint == SR_ROLE_INDEPENDENT ? 1 : hint == SR_ROLE_DEPENDENT ? -1 : 0;
}

// ---- after a step -----------------------------------------------------------------------------------------------------

static void note_violation(srModelSystem* s, double position, double velocity) {
  s->violation_position = fmax(s->violation_position, fabs(position));
  s->violation_velocity = fmax(s->violation_velocity, fabs(velocity));
}

static void accept_followers(srModelSystem* s, double t, double* q, double* v) {
  const srModel* m = s->m;
  s->d->t = t;
  s->d->stage = SR_STAGE_NONE;
  sr_driver_motion(m, s->d);
  for (int i = 0; i < m->ncoupling && m->elimination != NULL; ++i) {
    const srCoupling* c = &m->coupling[i];
    double position = -c->offset, velocity = 0;
    for (int k = 0; k < c->n; ++k) {
      position += c->factor[k] * q[c->qdof[k]];
      velocity += c->factor[k] * v[c->dof[k]];
    }
    note_violation(s, position, velocity);
  }
  for (int i = 0; i < m->ndriver; ++i) {
    const double* motion = s->d->motion + 3 * i;
    note_violation(s, q[m->driver[i].qdof] - motion[0], v[m->driver[i].dof] - motion[1]);
  }
  sr_put_followers(m, s->d, t, q, v);
}

// Free bodies, at the state at the end of the step: the reference for counting turns, and the deflection of springs that represent
// joints.
static void settle_free(srModelSystem* s, double t, const double* q, const double* v) {
  (void)sr_evaluate(s->m, s->d, t, q, v, NULL, SR_STAGE_VELOCITY);
  sr_measurement_accept(s->m, s->d);
  for (int i = 0; i < s->m->nclosure; ++i) {
    srSoft soft;
    if (!s->m->closure[i].soft || sr_soft_closure(s->m, s->d, &s->m->closure[i], &soft) != 0) continue;
    s->violation_position = fmax(s->violation_position, soft.gap);
  }
}

static int accepted(void* user, double t, double* q, double* v, double* y) {
  srModelSystem* s = user;
  (void)y;
  sr_team_loop(s->d->team, s->m->nlink - 1, normalize_range, &(Moved){.m = s->m, .q_out = q});
  if (s->m->ng > 0 && has_rates(s->m)) accept_followers(s, t, q, v);
  if (s->m->absolute) settle_free(s, t, q, v);
  return 0;
}

srSystem sr_system(srModelSystem* user) {
  const srModel* m = user->m;
  const srMotionSolver* solver = solver_of(user->tangent);
  user->M_sparsity = (srSparsity){m->nv, m->nv, m->M_row, m->M_column};
  user->G_sparsity = (srSparsity){m->ng, m->nv, m->G_start, m->G_index};
  user->points = user->points && user->tangent == NULL && sr_contact_points_fit(m);
  if (user->y_most != NULL) sr_bristle_bounds(m, user->y_most);
  return (srSystem){
      .nq = m->nq,
      .nv = m->nv,
      .ny = m->ny,
      .nw = SR_ACCOUNTS + user->nmeter,
      .nz = m->absolute ? m->nz : 0,  // those of contacts change at restarts, or without a change of force
      .ng = m->ng,
      .np = m->np,
      .ncontact = sr_contact_capacity(m, user->d),
      .ntangent = 2,
      .ncolumn = sr_contact_columns(m),
      .y_most = user->y_most,
      .w_most = user->w_most,
      .user = user,
      .rates = has_rates(m) ? rates : NULL,
      .dynamics = dynamics,
      .constraint = constraint,
      .gamma = gamma_term,
      .contacts = sr_contacts,
      .contacts_chosen = sr_contacts_chosen,
      .foresee = user->d->instances != NULL ? sr_foresee : NULL,  // elements are listed always
      .sleep = sr_sleep,
      .nclamp = sr_clamp_count(m),
      .clamps = sr_clamps,
      .nbody = user->points ? m->nlink - 1 : 0,
      .bodies = user->points ? sr_free_bodies : NULL,
      .share = user->points ? share : NULL,
      .tangent = user->tangent != NULL && solver == NULL ? tangent : NULL,
      .qdot = position_rates,
      .retract = retract,
      .axes_rate = axes_rate,
      .drift = drift,
      .difference = difference,
      .accepted = accepted,
      .power = power,
      .row = m->constrained ? row : NULL,
      .role = role,
      .M_sparsity = is_sparse(user) ? &user->M_sparsity : NULL,
      .G_sparsity = is_sparse(user) ? &user->G_sparsity : NULL,
      .K_sparsity = user->tangent != NULL && user->tangent->sparsity.row != NULL ? &user->tangent->sparsity : NULL,
      .solver = solver,
  };
}
