// Accelerations and multipliers of a constrained model:
//
//   [ M  -G^T ] [   a    ]   [ f - c ]
//   [ G    0  ] [ lambda ] = [ gamma ]
//
// at one state, over independent equations. The whole system is factored, not M alone: bodies without mass are allowed where the loops
// carry them. Integration is the integrators' task (integrate/constrained.c).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/team.h"
#include "constraint/constraint.h"
#include "dynamics/link.h"
#include "dynamics/measurement.h"

// ---- bias -----------------------------------------------------------------------------------------------------------------

// c = rnea(q, v, 0) from the accelerations that sr_bias_acceleration has left in link_accel: no second outward pass.
// Links whose loops are shared are free bodies on the ground (srData.team): there is nothing to gather.
typedef struct Links {
  const srModel* m;
  srData* d;
} Links;

SRM_INLINE void project_link(const srModel* m, srData* d, int i) {
  const int type = m->link_type[i];
  for (int k = 0; k < sr_link_nv[type]; k++)
    d->bias[m->link_v[i] + k] = sr_link_project(type, m->link_pitch[i], k, d->link_wrench + 8 * i);
}

SRM_CLONES static void bias_of_links(void* user, int member, int from, int to) {
  const srModel* m = ((const Links*)user)->m;
  srData* d = ((const Links*)user)->d;
  (void)member;
  for (int i = 1 + from; i < 1 + to; i++) {
    const srmPose pose = srm_pose_load(d->link_pose + 16 * i);
    const srmTwist accel = srm_twist_load(d->link_accel + 8 * i);
    const v4 gravity = m3_mul(m3_transpose(pose.R), v4_xyz(m->gravity));
    const srMotion s = {v4_load(d->link_twist + 8 * i), accel.w, accel.v - gravity};
    srm_wrench_store(d->link_wrench + 8 * i, sr_motion_wrench(m->link_inertia + 16 * i, s));
    if (d->team != NULL) project_link(m, d, i);
  }
}

SRM_CLONES static void gather_bias(const srModel* m, srData* d) {
  sr_team_loop(d->team, m->nlink - 1, bias_of_links, &(Links){m, d});
  for (int i = m->nlink - 1; i > 0 && d->team == NULL; i--) {
    project_link(m, d, i);
    if (m->link_parent[i] == 0) continue;
    sr_wrench_add_to_parent(d->link_X + 16 * i, srm_wrench_load(d->link_wrench + 8 * i),
                            d->link_wrench + 8 * m->link_parent[i]);
  }
  for (int k = 0; m->armature_place && k < m->njv; k++) {  // J^T armature (J' v)
    if (m->joint_armature[k] > 0) sr_measurement_row(m, d, k, m->joint_armature[k] * d->jbias[k], d->bias);
  }
}

static bool bias_generated(const srModel* m, srData* d) {
  if (m->priv->kernels == NULL || m->priv->kernels->bias == NULL) return false;
  m->priv->kernels->bias(d->q, d->v, d->bias);
  return true;
}

void sr_bias_force(const srModel* m, srData* d) {
  d->stage = SR_STAGE_VELOCITY;
  if (bias_generated(m, d)) return;
  sr_bias_acceleration(m, d);
  d->stage = SR_STAGE_VELOCITY;
  gather_bias(m, d);
}

// ---- a mass matrix that fails -----------------------------------------------------------------------------------------------

// A direction without inertia that no constraint holds, into d->a: (M + eps) x - G^T lambda = f, G x = 0 makes x long
// along the kernel alone, whatever f.
static bool free_direction(const srModel* m, srData* d) {
  struct srDataPrivate* p = d->priv;
  const srmRowsChoice choice = {.tau = SR_RANK_TAU};
  double *right = d->row_work, *f = right + m->ng, most = 0;
  if (srm_rows_classify(p->rows, NULL, d->G, &choice, p->taken) < 0) return false;
  for (int i = 0; i < m->nv; i++) most = fmax(most, d->M[m->M_place[2 * m->M_start[i]]]);
  for (int i = 0; i < m->nv; i++) {
    d->M[m->M_place[2 * m->M_start[i]]] += most > 0 ? 1e-9 * most : 1;
    f[i] = 1 + 0.1 * (i % 7);
  }
  if (!srm_saddle_factor(p->saddle, d->M, NULL, d->G, p->taken)) return false;
  memset(right, 0, (size_t)m->ng * sizeof *right);
  srm_saddle_solve(p->saddle, f, right, d->a, NULL);
  return true;
}

// The body of that direction: the one that moves most, among those without mass if any.
static int free_body(const srModel* m, const srData* d) {
  int body = 0;
  double most = 0;
  for (int i = 0; i < m->nv; i++) {
    const int link = m->dof_link[i];
    const bool massless = !(m->link_inertia[16 * link + 15] > 0);
    const double size = fabs(d->a[i]) * (massless ? 1e6 : 1);
    if (!(size > most)) continue;
    most = size;
    body = m->link_body[link];
  }
  return body;
}

// The message when M fails, with the body that is free; overwrites d->M and the factors.
static int no_metric(const srModel* m, srData* d) {
  const int body = free_direction(m, d) ? free_body(m, d) : 0;
  char name[96] = "a body";
  if (body > 0) (void)snprintf(name, sizeof name, "body '%.80s'", m->body_name[body]);
  (void)snprintf(
      d->error_message, sizeof d->error_message,
      "the mass matrix is singular in a direction that no constraint holds: %s without inertia is free; give it "
      "mass, or hold its joint (--lock-massless)",
      name);
  return 1;
}

// ---- solution -------------------------------------------------------------------------------------------------------------

double sr_row_residual(const srModel* m, const srData* d) {
  double worst = 0;
  for (int i = 0; i < m->ng; i++) {
    double sum = -d->gamma[i];
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; k++) sum += d->G[k] * d->a[m->G_index[k]];
    worst = fmax(worst, fabs(sum));
  }
  return worst;
}

// All terms of the equations at d's state; needs the velocity stage and d->f.
static int equations(const srModel* m, srData* d) {
  int answer = sr_constraints(m, d);
  if (answer == 0) answer = sr_constraint_gamma(m, d);
  if (answer != 0) return answer;
  if (!bias_generated(m, d)) gather_bias(m, d);
  sr_mass(m, d);
  return 0;
}

static double largest(int n, const double* x) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

// Chooses the constraint equations and factors with them. Products of rows of bodies without inertia about an axis have rounding
// that can make a dependent equation look independent, by a sine of about 1e-5: the matrix is singular then, and the choice is
// made anew with larger limits. Equations that are left out by those must be fulfilled all the same, to the part LEFT of the
// accelerations. Returns the limit, 0: none will do.
#define LARGEST_TAU 2e-3
#define LEFT 1e-8
static double factor_rows(const srModel* m, srData* d) {
  struct srDataPrivate* p = d->priv;
  for (double tau = SR_RANK_TAU; tau < LARGEST_TAU; tau *= 10) {
    const srmRowsChoice choice = {.tau = tau};
    d->rank = m->ng > 0 ? srm_rows_classify(p->rows, d->M, d->G, &choice, p->taken) : 0;
    if (d->rank < 0) return 0;
    if (srm_saddle_factor(p->saddle, d->M, NULL, d->G, p->taken)) return tau;
  }
  return 0;
}

int sr_solve_state(const srModel* m, srData* d) {
  struct srDataPrivate* p = d->priv;
  double* f = d->row_work;
  const int answer = equations(m, d);
  if (answer != 0) return answer;
  const double tau = factor_rows(m, d);
  if (!(tau > 0)) return no_metric(m, d);
  for (int i = 0; i < m->nv; i++) f[i] = d->f[i] - d->bias[i];
  srm_saddle_solve(p->saddle, f, d->gamma, d->a, d->lambda);
  d->row_residual = sr_row_residual(m, d);
  if (!isfinite(d->row_residual)) return no_metric(m, d);
  if (tau > SR_RANK_TAU && d->row_residual > LEFT * (1 + largest(m->nv, d->a))) return no_metric(m, d);
  if (d->rank < m->ng) srm_rows_least_norm(p->rows, d->lambda);
  if (m->ng > 0) srm_rows_unique(p->rows, p->unique);
  return 0;
}
