// All constraint equations: residuals g, Jacobian G by its pattern, b, and gamma = -(dG/dt v + db/dt).
//
//   closure    g, W from its kind, b of laws of plugins;  G = W * columns of the twist;  gamma = -(W (w', u') + bias), with (w', u') of the
//              frames when all joint accelerations are 0
//   coupling   g = sum of factor q - offset
//   driver     g = q_i - s(t),  b = -s',  gamma = s''
//   formula    formula.c
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "constraint/constraint.h"
#include "constraint/reaction.h"
#include "constraint/user.h"
#include "dynamics/measurement.h"
#include "force/force.h"
#include "math/pose.h"
#include "math/spatial.h"
#include "model/closure.h"

static void minus(double* a, const double* b, int n) {
  for (int i = 0; i < n; i++) a[i] -= b[i];
}

// ---- closures -------------------------------------------------------------------------------------------------------

static bool common_observer(const srClosure* c) { return c->kind->observer == SR_OBSERVER_COMMON; }

static void see_closure(const srModel* m, const srData* d, const srClosure* c, srFrameMotion* out) {
  if (!common_observer(c)) {
    sr_frame_motion(m, d, c->point[1], c->point[0], out);
    return;
  }
  srFrameMotion a;
  sr_frame_motion(m, d, c->point[1], c->common, out);
  sr_frame_motion(m, d, c->point[0], c->common, &a);
  minus(out->position, a.position, 3);
  minus(out->angular_velocity, a.angular_velocity, 3);
  minus(out->velocity, a.velocity, 3);
  minus(out->angular_acceleration, a.angular_acceleration, 3);
  minus(out->acceleration, a.acceleration, 3);
}

static int evaluate_closure(srData* d, const srClosure* c, const srFrameMotion* seen, bool moving, srClosureOut* out) {
  static const double at_rest[3];
  srClosureIn in;
  in.t = d->t;
  memcpy(in.R, seen->rotation, sizeof in.R);
  memcpy(in.d, seen->position, sizeof in.d);
  memcpy(in.w, moving ? seen->angular_velocity : at_rest, sizeof in.w);
  memcpy(in.u, moving ? seen->velocity : at_rest, sizeof in.u);
  memset(out, 0, sizeof *out);
  const char* reason = "";
  const int answer = c->kind->evaluate(c, &in, out, &reason);
  if (answer != 0)
    (void)snprintf(d->error_message, sizeof d->error_message, "closure '%s' has no constraint equations here: %s",
                   c->name, reason);
  return answer;
}

int sr_closure_evaluate(const srModel* m, srData* d, const srClosure* c, srClosureOut* out) {
  srFrameMotion seen;
  see_closure(m, d, c, &seen);
  return evaluate_closure(d, c, &seen, false, out);
}

bool sr_closure_verify(const srModel* m, srData* d, const srClosure* c) {
  srFrameMotion seen;
  srClosureIn in = {.t = d->t};
  if (!c->law) return true;
  see_closure(m, d, c, &seen);
  memcpy(in.R, seen.rotation, sizeof in.R);
  memcpy(in.d, seen.position, sizeof in.d);
  return sr_closure_check_law(c, &in, d->error_message, sizeof d->error_message);
}

double sr_closure_axes(const srModel* m, const srData* d, const srClosure* c, double n[3], double Rn[3]) {
  srFrameMotion seen;
  if (!c->kind->axial) return 1;
  see_closure(m, d, c, &seen);
  memcpy(n, c->frame[2], sizeof c->frame[2]);
  for (int i = 0; i < 3; i++) Rn[i] = srm_dot3(seen.rotation + 3 * i, n);
  return srm_dot3(n, Rn);
}

static int closure_row(const srClosure* c, int k) { return k < c->np ? c->row + k : c->vrow + k - c->np; }

// Only the velocity equations of a soft closure are constraints.
static int first_row(const srClosure* c) { return c->soft ? c->np : 0; }

// Are the first three rows those of d = 0, in the axes of the observer?
static bool starts_at_origin(const srClosure* c) { return c->kind->origin && !c->soft; }

// Rows W of a closure times n columns, four at a time, into the entries of G that end at `end`: columns come descending, the
// pattern ascends. The remainder of a cancellation is rounding, and must not pass for an independent row.
SRM_CLONES static void fill_entries(int nrow, double (*W)[6], int n, const double* column, double** end) {
  double scale_W[6] = {0};
  for (int k = 0; k < nrow; k++) {
    for (int i = 0; i < 6; i++) scale_W[k] += fabs(W[k][i]);
  }
  for (int j = 0; j < n; j += 4) {
    const int most = n - j < 4 ? n - j : 4;
    const double *a = column + 6 * j, *b = most > 1 ? a + 6 : a, *c = most > 2 ? b + 6 : a, *d = most > 3 ? c + 6 : a;
    v4 x[6], scale = v4_zero();
    for (int i = 0; i < 6; i++) {
      x[i] = (v4){a[i], b[i], c[i], d[i]};
      scale += v4_abs(x[i]);
    }
    for (int k = 0; k < nrow; k++) {
      const double* w = W[k];
      const v4 sum = v4_all(w[0]) * x[0] + v4_all(w[1]) * x[1] + v4_all(w[2]) * x[2] + v4_all(w[3]) * x[3] +
                     v4_all(w[4]) * x[4] + v4_all(w[5]) * x[5];
      const v4 counts = (v4)((v4u)sum & (v4u)(v4_abs(sum) > v4_all(2e-14 * scale_W[k]) * scale));
      if (most == 4) {
        *(v4_any*)(end[k] - 4 - j) = __builtin_shufflevector(counts, counts, 3, 2, 1, 0);
      } else {
        for (int i = 0; i < most; i++) end[k][-1 - j - i] = counts[i];
      }
    }
  }
}

// Of a closure between coordinates of any joints.
static void path_rows(const srModel* m, srData* d, const srClosure* c, srClosureOut* out) {
  double* column = d->work;
  int* dof = (int*)(void*)(column + 6 * m->nv);
  const int n = sr_path_columns(m, d, c->point[1], c->point[0], common_observer(c) ? c->common : -1, dof, column);
  const int first = first_row(c), end = c->np + c->nvel;
  double* G[6];
  for (int k = first; k < end; k++) G[k] = d->G + m->G_start[closure_row(c, k)] + n;
  fill_entries(end - first, out->W + first, n, column, G + first);
}

// A row over the velocities of a free link. Rounding of size `least` counts as 0.
SRM_INLINE void put_free_row(v4 moment, v4 force, v4 least, double* out) {
  *(v4_any*)out = (v4)((v4u)moment & (v4u)(v4_abs(moment) > least));  // force is written over the fourth lane
  v4_put3(out + 3, (v4)((v4u)force & (v4u)(v4_abs(force) > least)));
}

// A row (n, f) at a point of a free link: T rotates it to the link's axes, `at` is the arm there.
SRM_INLINE void turn_free_row(m3 T, v4 n, v4 f, bool has_force, v4 at, double least, double* out) {
  v4 moment = m3_mul(T, n), force = v4_zero();
  if (has_force) {
    force = m3_mul(T, f);
    moment += v4_cross(at, force);
  }
  put_free_row(moment, force, v4_all(least), out);
}

// The rows of d = 0: unit forces, which T has in its columns.
SRM_INLINE void put_origin_rows(m3 T, v4 at, double least, int width, double* out) {
  const v4 limit = v4_all(least);
  put_free_row(v4_cross(at, T.c[0]), T.c[0], limit, out);
  put_free_row(v4_cross(at, T.c[1]), T.c[1], limit, out + width);
  put_free_row(v4_cross(at, T.c[2]), T.c[2], limit, out + 2 * width);
}

SRM_INLINE double sum_abs(v4 a) { return v4_dot(v4_abs(a), v4_all(1)); }

// Of a closure between two free links, b observed from a at (R, d). With the frames P_a, p_a and P_b, p_b in the axes of their links:
//   over the velocities of b: T (n, f) with the arm p_b, T = P_b R^T;   of a: -P_a (n, f) with the arm p_a + P_a d
SRM_CLONES static void free_rows(const srModel* m, srData* d, const srClosure* c, const srFrameMotion* seen,
                                 srClosureOut* out) {
  const double rounding = 2e-14, *r = seen->rotation;  // the fourth lanes of vectors loaded from memory do not count
  const int a = m->point_link[c->point[0]], b = m->point_link[c->point[1]];
  const srmPose at_a = srm_pose_load(m->point_pose + 16 * c->point[0]);
  const srmPose at_b = srm_pose_load(m->point_pose + 16 * c->point[1]);
  const m3 R_transposed = {{*(const v4_any*)r, *(const v4_any*)(r + 3), *(const v4_any*)(r + 6)}};
  const m3 T = m3_product(at_b.R, R_transposed), minus_a = {{-at_a.R.c[0], -at_a.R.c[1], -at_a.R.c[2]}};
  const v4 arm_a = at_a.p + m3_mul(at_a.R, *(const v4_any*)seen->position);
  const double lever_a = 1 + sum_abs(arm_a), lever_b = 1 + sum_abs(at_b.p);
  const int column_a = b > 0 && b < a ? 6 : 0, column_b = a > 0 && a < b ? 6 : 0, width = a > 0 && b > 0 ? 12 : 6;
  int k = first_row(c);
  if (starts_at_origin(c)) {
    double* G = d->G + m->G_start[c->row];
    if (a > 0) put_origin_rows(minus_a, arm_a, rounding * lever_a, width, G + column_a);
    if (b > 0) put_origin_rows(T, at_b.p, rounding * lever_b, width, G + column_b);
    k = 3;
  }
  for (; k < c->np + c->nvel; k++) {
    const v4 n = *(const v4_any*)out->W[k], f = *(const v4_any*)(out->W[k] + 3);
    const double size = sum_abs(f), least = rounding * (sum_abs(n) + size);
    double* G = d->G + m->G_start[closure_row(c, k)];
    if (a > 0) turn_free_row(minus_a, n, f, size > 0, arm_a, least * lever_a, G + column_a);
    if (b > 0) turn_free_row(T, n, f, size > 0, at_b.p, least * lever_b, G + column_b);
  }
}

static void closure_rows(const srModel* m, srData* d, const srClosure* c, const srFrameMotion* seen,
                         srClosureOut* out) {
  for (int k = first_row(c); k < c->np + c->nvel; k++) {
    const int row = closure_row(c, k);
    if (k < c->np) d->g[row] = out->g[k];
    d->b[row] = out->b[k];
  }
  if (m->absolute && !common_observer(c) && m->point_link[c->point[0]] != m->point_link[c->point[1]]) {
    free_rows(m, d, c, seen, out);
  } else {
    path_rows(m, d, c, out);
  }
}

static int closure_positions(const srModel* m, srData* d, const srClosure* c) {
  srFrameMotion seen;
  srClosureOut out;
  see_closure(m, d, c, &seen);
  const int answer = evaluate_closure(d, c, &seen, false, &out);
  if (answer == 0) closure_rows(m, d, c, &seen, &out);
  return answer;
}

// And the rows, unless they are known: who asks for gamma needs them too.
static int closure_gamma(const srModel* m, srData* d, const srClosure* c) {
  srFrameMotion seen;
  srClosureOut out;
  see_closure(m, d, c, &seen);
  const int answer = evaluate_closure(d, c, &seen, true, &out);
  if (answer != 0) return answer;
  if (!d->closures_known) closure_rows(m, d, c, &seen, &out);
  int k = first_row(c);
  for (; starts_at_origin(c) && k < 3; k++) d->gamma[c->row + k] = -seen.acceleration[k];
  for (; k < c->np + c->nvel; k++) {
    const double* W = out.W[k];
    d->gamma[closure_row(c, k)] =
        -(srm_dot3(W, seen.angular_acceleration) + srm_dot3(W + 3, seen.acceleration) + out.bias[k]);
  }
  return 0;
}

// ---- couplings and drivers --------------------------------------------------------------------------------------------

// The row of free bodies held by d->row_scatter, which is zero afterwards.
static void take_scatter(const srModel* m, srData* d, int row) {
  for (int k = m->G_start[row]; k < m->G_start[row + 1]; k++) {
    d->G[k] = d->row_scatter[m->G_index[k]];
    d->row_scatter[m->G_index[k]] = 0;
  }
}

static void coupling_row(const srModel* m, srData* d, const srCoupling* c) {
  double* G = d->G + m->G_start[c->row];
  d->g[c->row] = -c->offset;
  d->b[c->row] = 0;
  for (int k = 0; k < c->n; k++) {
    d->g[c->row] += c->factor[k] * d->jq[c->qdof[k]];
    if (m->absolute) {
      sr_measurement_row(m, d, c->dof[k], c->factor[k], d->row_scatter);
    } else {
      G[c->entry[k]] = c->factor[k];
    }
  }
  if (m->absolute) take_scatter(m, d, c->row);
}

static void driver_rows(const srModel* m, srData* d) {
  for (int i = 0; i < m->ndriver; i++) {
    const int row = m->row_driver + i;
    if (m->absolute) {
      sr_measurement_row(m, d, m->driver[i].dof, 1, d->row_scatter);
      take_scatter(m, d, row);
    } else {
      d->G[m->G_start[row]] = 1;
    }
    d->g[row] = d->jq[m->driver[i].qdof] - d->motion[3 * i];
    d->b[row] = -d->motion[3 * i + 1];
  }
}

// ---- all --------------------------------------------------------------------------------------------------------------

int sr_constraints(const srModel* m, srData* d) {
  SR_ASSERT(d->stage >= SR_STAGE_POSITION);
  sr_driver_motion(m, d);
  for (int i = 0; i < m->nclosure && !d->closures_known; i++) {
    const int answer = closure_positions(m, d, &m->closure[i]);
    if (answer != 0) return answer;
  }
  d->closures_known = !m->priv->user_closures;  // those may depend on time
  for (int i = 0; i < m->ncoupling; i++) coupling_row(m, d, &m->coupling[i]);
  driver_rows(m, d);
  return m->nformula_row > 0 ? sr_formula_rows(m, d) : 0;
}

void sr_joint_gamma(const srModel* m, srData* d) {
  for (int i = 0; i < m->ncoupling; i++) {
    const srCoupling* c = &m->coupling[i];
    d->gamma[c->row] = 0;
    for (int k = 0; k < c->n && m->absolute; k++) d->gamma[c->row] -= c->factor[k] * d->jbias[c->dof[k]];
  }
  for (int i = 0; i < m->ndriver; i++) {
    d->gamma[m->row_driver + i] = d->motion[3 * i + 2] - (m->absolute ? d->jbias[m->driver[i].dof] : 0);
  }
}

int sr_constraint_gamma(const srModel* m, srData* d) {
  SR_ASSERT(d->stage >= SR_STAGE_VELOCITY);
  sr_bias_acceleration(m, d);
  int answer = 0;
  for (int i = 0; i < m->nclosure && answer == 0; i++) answer = closure_gamma(m, d, &m->closure[i]);
  d->closures_known = answer == 0 && !m->priv->user_closures;
  sr_joint_gamma(m, d);
  if (m->nformula_row > 0) sr_formula_gamma(m, d);
  d->stage = SR_STAGE_VELOCITY;  // the accelerations are not those of the motion
  return answer;
}

void sr_constraint_velocity(const srModel* m, const srData* d, const double* v, double* out) {
  for (int i = 0; i < m->ng; i++) {
    double sum = d->b[i];
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; k++) sum += d->G[k] * v[m->G_index[k]];
    out[i] = sum;
  }
}

void sr_constraint_matrix(const srModel* m, const srData* d, double* G) {
  memset(G, 0, (size_t)m->ng * (size_t)m->nv * sizeof *G);
  for (int i = 0; i < m->ng; i++) {
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; k++) {
      G[(size_t)i * (size_t)m->nv + (size_t)m->G_index[k]] = d->G[k];
    }
  }
}

void sr_constraint_force(const srModel* m, const srData* d, const double* lambda, double* out) {
  for (int i = 0; i < m->ng; i++) {
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; k++) out[m->G_index[k]] += d->G[k] * lambda[i];
  }
}
