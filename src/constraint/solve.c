// Accelerations and multipliers of a looped model:
//
//   [ M  -G^T ] [   a    ]   [ f - c ]
//   [ G    0  ] [ lambda ] = [ gamma - alpha2 (G v + b) - beta2 g ]      (alpha2, beta2: Baumgarte, paper 1, eq 26 and 27)
//
// over independent rows only (paper 1's claim that the Schur form copes with redundant rows is not so: errata). The whole
// system is factored, not M alone: bodies without mass are allowed where the loops carry them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "constraint/constraint.h"
#include "dynamics/gauge.h"
#include "dynamics/link.h"

// ---- bias -----------------------------------------------------------------------------------------------------------------

// c = rnea(q, v, 0) from the accelerations that sr_bias_acceleration has left in link_accel: no second pass outwards.
SRM_CLONES static void gather_bias(const srModel* m, srData* d) {
  for (int i = 1; i < m->nlink; i++) {
    const srmPose pose = srm_pose_load(d->link_pose + 16 * i);
    const srmTwist accel = srm_twist_load(d->link_accel + 8 * i);
    const v4 gravity = m3_mul(m3_transpose(pose.R), v4_xyz(m->gravity));
    const srMotion s = {v4_load(d->link_twist + 8 * i), accel.w, accel.v - gravity};
    srm_wrench_store(d->link_wrench + 8 * i, sr_motion_wrench(m->link_inertia + 16 * i, s));
  }
  for (int i = m->nlink - 1; i > 0; i--) {
    const int type = m->link_type[i];
    const double* wrench = d->link_wrench + 8 * i;
    for (int k = 0; k < sr_link_nv[type]; k++) {
      d->bias[m->link_v[i] + k] = sr_link_project(type, m->link_pitch[i], k, wrench);
    }
    if (m->link_parent[i] == 0) continue;
    sr_wrench_add_to_parent(d->link_X + 16 * i, srm_wrench_load(wrench), d->link_wrench + 8 * m->link_parent[i]);
  }
  for (int k = 0; m->armature_place && k < m->njv; k++) {  // J^T armature (J' v)
    if (m->joint_armature[k] > 0) sr_gauge_row(m, d, k, m->joint_armature[k] * d->jbias[k], d->bias);
  }
}

void sr_bias_force(const srModel* m, srData* d) {
  sr_bias_acceleration(m, d);
  d->stage = SR_STAGE_VELOCITY;
  gather_bias(m, d);
}

// ---- rows that count ------------------------------------------------------------------------------------------------------

static int classify(const srModel* m, srData* d, const unsigned char* first, double tau, unsigned char* kept) {
  (void)m;
  const srmRowsChoice choice = {.tau = tau, .first = first};
  return srm_rows_classify(d->priv->rows, d->M, d->G, &choice, kept);
}

// ---- a mass matrix that fails -----------------------------------------------------------------------------------------------

// A direction in which nothing has inertia and no row holds, into d->a: (M + eps) x - G^T lambda = f, G x = 0 makes x long
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

// The body of that direction: the one that moves most, of those without mass where there are such.
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

int sr_no_metric(const srModel* m, srData* d) {
  const int body = free_direction(m, d) ? free_body(m, d) : 0;
  char name[96] = "a body";
  if (body > 0) (void)snprintf(name, sizeof name, "body '%.80s'", m->body_name[body]);
  (void)snprintf(
      d->trouble, sizeof d->trouble,
      "the mass matrix is singular in a direction that no constraint holds: %s without inertia is free; give it "
      "mass, or hold its joint (--lock-massless)",
      name);
  return 1;
}

// Rows that return after having been redundant do so with a margin: off g = 0 by |g|, a row that is redundant there shows a
// distance of about |g| (half_explicit_redundancy.md, facts 4 and 5, and table 3).
static double return_threshold(const srModel* m, const srData* d) {
  double drift = 0;
  for (int i = 0; i < m->np; i++) drift = fmax(drift, fabs(d->g[i]));
  return fmax(10 * SR_RANK_TAU, fmin(1e3 * drift, 1e-2));
}

// Leaves out the rows nearest to the others until `rank` are left.
static void drop_weakest(const srModel* m, srData* d, int count, int rank) {
  struct srDataPrivate* p = d->priv;
  for (; count > rank; count--) {
    int weakest = -1;
    for (int i = 0; i < m->ng; i++) {
      if (!p->taken[i]) continue;
      if (weakest < 0 || srm_rows_pivot(p->rows, i) < srm_rows_pivot(p->rows, weakest)) weakest = i;
    }
    p->taken[weakest] = 0;
  }
}

int sr_choose_rows(const srModel* m, srData* d) {
  struct srDataPrivate* p = d->priv;
  int rank = classify(m, d, NULL, SR_RANK_TAU, p->taken);
  if (rank < 0) return rank;
  if (p->chosen && rank > p->rank) {
    const int sure = classify(m, d, NULL, return_threshold(m, d), p->taken);
    if (sure < p->rank) {  // the weak rows among those in use: the best so many of all
      rank = classify(m, d, NULL, SR_RANK_TAU, p->taken);
      drop_weakest(m, d, rank, p->rank);
      rank = p->rank;
    } else {
      rank = sure;
    }
  }
  if (p->chosen && rank < p->rank) return rank;
  memcpy(p->kept, p->taken, (size_t)m->ng);
  p->rank = rank;
  p->chosen = true;
  return rank;
}

// ---- solution -------------------------------------------------------------------------------------------------------------

// Right side of the rows into out (ng); needs G v + b in it.
void sr_row_right_side(const srModel* m, const srData* d, double* out) {
  for (int i = 0; i < m->ng; i++) {
    out[i] = d->gamma[i] - d->alpha2 * out[i] - (i < m->np ? d->beta2 * d->g[i] : 0);
  }
}

static double largest_row_residual(const srModel* m, const srData* d, const double* right) {
  double worst = 0;
  for (int i = 0; i < m->ng; i++) {
    double sum = -right[i];
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; k++) sum += d->G[k] * d->a[m->G_index[k]];
    worst = fmax(worst, fabs(sum));
  }
  return worst;
}

static int solve(const srModel* m, srData* d, const unsigned char* kept) {
  double *right = d->row_work, *f = right + m->ng;
  if (!srm_saddle_factor(d->priv->saddle, d->M, NULL, d->G, kept)) return 1;
  for (int i = 0; i < m->nv; i++) f[i] = d->f[i] - d->bias[i];
  sr_constraint_velocity(m, d, d->v, right);
  sr_row_right_side(m, d, right);
  srm_saddle_solve(d->priv->saddle, f, right, d->a, d->lambda);
  d->row_residual = largest_row_residual(m, d, right);
  return isfinite(d->row_residual) ? 0 : 1;
}

// Everything of the equations at d's state; needs the velocity stage and d->f.
int sr_equations(const srModel* m, srData* d) {
  int answer = sr_constraints(m, d);
  if (answer == 0) answer = sr_constraint_gamma(m, d);
  if (answer != 0) return answer;
  gather_bias(m, d);
  sr_mass(m, d);
  return 0;
}

int sr_solve_stepping(const srModel* m, srData* d) {
  struct srDataPrivate* p = d->priv;
  const int answer = sr_equations(m, d);
  if (answer != 0) return answer;
  if (!p->chosen && sr_choose_rows(m, d) < 0) return sr_no_metric(m, d);
  d->rank = p->rank;
  if (solve(m, d, p->kept) == 0) return 0;
  // A stage fell upon a singular position: there a row less counts.
  if (classify(m, d, NULL, 1e-9, p->taken) >= 0 && solve(m, d, p->taken) == 0) return 0;
  return sr_no_metric(m, d);
}

int sr_solve_state(const srModel* m, srData* d) {
  struct srDataPrivate* p = d->priv;
  const int answer = sr_equations(m, d);
  if (answer != 0) return answer;
  d->rank = classify(m, d, NULL, SR_RANK_TAU, p->taken);
  if (d->rank < 0 || solve(m, d, p->taken) != 0) return sr_no_metric(m, d);
  if (d->rank < m->ng) srm_rows_least_norm(p->rows, d->lambda);
  srm_rows_unique(p->rows, p->unique);
  return 0;
}

int sr_constraint_correction(const srModel* m, srData* d, const double* metric, const double* r, double* x) {
  struct srDataPrivate* p = d->priv;
  double* right = d->row_work;
  const srmRowsChoice choice = {.tau = SR_RANK_TAU};
  // Rows in use that are dependent just here: a singular position, where one less counts.
  if (!p->chosen || !srm_saddle_factor(p->saddle, metric, NULL, d->G, p->kept)) {
    if (srm_rows_classify(p->rows, metric, d->G, &choice, p->taken) < 0) return sr_no_metric(m, d);
    if (!srm_saddle_factor(p->saddle, metric, NULL, d->G, p->taken)) return sr_no_metric(m, d);
  }
  for (int i = 0; i < m->ng; i++) right[i] = -r[i];
  srm_saddle_solve(p->saddle, NULL, right, x, NULL);
  return 0;
}
