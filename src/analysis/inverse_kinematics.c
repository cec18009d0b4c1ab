// Inverse kinematics: joint positions that put points where they should be, with loops closed and limits kept.
//
//   r(q) = (g(q), x_i(q) - x_i*, rotation vector of R_i R_i*^T) = 0         constraint equations but those of drivers, then the targets
//   dq = -A^T (A A^T + mu)^-1 r,   A = dr/dq,   mu = factor |r|^2           Levenberg-Marquardt, the least change for each step
//
// Damping by |r|^2 keeps quadratic convergence with redundant equations and at singular positions (Yamashita and Fukushima 2001); the factor
// grows fourfold where a step does not reduce |r|, and falls where it does. A coordinate at a limit that a step would pass is
// held and the step computed again; limits are never left. A search that ends in a minimum with r > 0 starts again from other positions, which are
// the same in every call.
#include <math.h>
#include <sarrus/analysis.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "math/dense.h"
#include "model/private.h"
#include "system/system.h"

#define ITERATIONS 200
#define ENOUGH 1e-12  // of r, in m or rad, times 1 + the largest coordinate of a target
#define LONGEST                                                                                                        \
  0.5  // rad or m in one step, times |r|/FAR where that is more than 1: a vehicle may be kilometres from its target
#define FAR 5.0     // m
#define TRIES 24    // starts
#define SPREAD 1.0  // rad or m: how far other starts are from the given one
#define FACTOR_MOST 1e12
#define STALLED 1e-9  // part by which |r|^2 must fall

typedef struct Work {
  const srModel* m;
  srData* d;
  const srTarget* target;
  int n, rows, constraints;
  const unsigned char* move;             // nv, NULL: all
  double *q_start, *q_best, *q, *q_try;  // nq; q is the present one: evaluation overwrites that of d
  double *A, *J, *G;                     // rows x nv, 6 x nv, ng x nv
  double *S, *r, *y, *dx;                // rows x rows, rows, rows, nv
  unsigned char* held;                   // nv
  double* memory;
  int iterations;
} Work;

static int rows_of(const srTarget* t) { return t->oriented ? 6 : 3; }

static bool allocate(Work* w) {
  const size_t nq = (size_t)w->m->nq, nv = (size_t)w->m->nv, n = (size_t)w->rows, ng = (size_t)w->m->ng;
  const srPart parts[] = {{&w->q_start, nq}, {&w->q_best, nq}, {&w->q_try, nq},  {&w->q, nq},
                          {&w->A, n * nv},   {&w->J, 6 * nv},  {&w->G, ng * nv}, {&w->S, n * n},
                          {&w->r, n},        {&w->y, n},       {&w->dx, nv}};
  return sr_take_parts(parts, SR_COUNT(parts), nv, &w->memory, &w->held);
}

// ---- residual -----------------------------------------------------------------------------------------------------------

// Rotation vector of R (rows): its axis times its angle.
static void rotation_vector(const double R[9], double out[3]) {
  const double s[3] = {0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1])};
  const double sine = sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]), cosine = 0.5 * (R[0] + R[4] + R[8] - 1);
  const double angle = atan2(sine, cosine);
  if (sine > 1e-8 || cosine > 0) {
    for (int i = 0; i < 3; i++) out[i] = s[i] * (sine > 1e-8 ? angle / sine : 1);
    return;
  }
  int k = 0;  // half a turn: the axis from the diagonal, (1 + R)/2 = a a^T
  for (int i = 1; i < 3; i++) k = R[4 * i] > R[4 * k] ? i : k;
  const double a = sqrt(fmax(0, 0.5 * (1 + R[4 * k])));
  for (int i = 0; i < 3; i++) out[i] = angle * (i == k ? a : 0.25 * (R[3 * i + k] + R[3 * k + i]) / a);
}

static void target_rotation(const srTarget* t, double R[9]) {
  const double *q = t->quaternion, length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double w = q[0] / length, x = q[1] / length, y = q[2] / length, z = q[3] / length;
  const double rows[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(R, rows, sizeof rows);
}

static void target_residual(const Work* w, const srTarget* t, double* r) {
  srFrameMotion at;
  sr_frame_motion(w->m, w->d, t->point, t->relative_to, &at);
  for (int i = 0; i < 3; i++) r[i] = at.position[i] - t->position[i];
  if (!t->oriented) return;
  double wanted[9], turn[9];
  target_rotation(t, wanted);
  for (int i = 0; i < 9; i++) {
    turn[i] = 0;
    for (int k = 0; k < 3; k++) turn[i] += at.rotation[i / 3 * 3 + k] * wanted[i % 3 * 3 + k];
  }
  rotation_vector(turn, r + 3);
}

// r and |r|^2 at q; infinite where a constraint is undefined.
static double residual(Work* w, const double* q) {
  const srModel* m = w->m;
  double sum = 0;
  if (sr_evaluate(m, w->d, w->d->t, q, w->d->v, w->d->y, SR_STAGE_POSITION) != 0) return HUGE_VAL;
  if (m->ng > 0 && sr_constraints(m, w->d) != 0) return HUGE_VAL;
  for (int i = 0; i < w->constraints; i++) w->r[i] = w->d->g[i];
  for (int k = 0, row = w->constraints; k < w->n; row += rows_of(&w->target[k++])) {
    target_residual(w, &w->target[k], w->r + row);
  }
  for (int i = 0; i < w->rows; i++) sum += w->r[i] * w->r[i];
  return isfinite(sum) ? sum : HUGE_VAL;
}

// After residual(): A.
static void jacobian(Work* w) {
  const srModel* m = w->m;
  const int nv = m->nv;
  if (m->ng > 0) sr_constraint_matrix(m, w->d, w->G);
  if (w->constraints > 0) memcpy(w->A, w->G, (size_t)w->constraints * (size_t)nv * sizeof *w->A);
  for (int k = 0, row = w->constraints; k < w->n; row += rows_of(&w->target[k++])) {
    const srTarget* t = &w->target[k];
    sr_frame_jacobian(m, w->d, t->point, t->relative_to, w->J);
    memcpy(w->A + row * nv, w->J + 3 * nv, 3 * (size_t)nv * sizeof *w->A);
    if (t->oriented) memcpy(w->A + (row + 3) * nv, w->J, 3 * (size_t)nv * sizeof *w->A);
  }
}

// ---- step ---------------------------------------------------------------------------------------------------------------

// dx of the coordinates that are not held. False: A A^T + mu is singular.
static bool solve(Work* w, double mu) {
  const int nv = w->m->nv, n = w->rows;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = i == j ? mu : 0;
      for (int k = 0; k < nv; k++) sum += w->held[k] ? 0 : w->A[i * nv + k] * w->A[j * nv + k];
      w->S[i * n + j] = sum;
    }
    w->y[i] = -w->r[i];
  }
  if (!srm_cholesky(n, w->S)) return false;
  srm_cholesky_solve(n, w->S, w->y);
  for (int k = 0; k < nv; k++) {
    w->dx[k] = 0;
    for (int i = 0; i < n && !w->held[k]; i++) w->dx[k] += w->A[i * nv + k] * w->y[i];
  }
  return true;
}

// A joint coordinate with limits: its velocity coordinate, or -1.
static int limited(const srModel* m, int j) {
  return m->joint_nq[j] == 1 && !isnan(m->priv->limits[2 * j]) ? m->joint_v[j] : -1;
}

// Holds what the step would push through a limit; true: there was something.
static bool hold(Work* w, const double* q) {
  const srModel* m = w->m;
  bool any = false;
  for (int j = 0; j < m->njoint; j++) {
    const int k = limited(m, j);
    if (k < 0 || w->held[k]) continue;
    const double at = q[m->joint_q[j]], lower = m->priv->limits[2 * j], upper = m->priv->limits[2 * j + 1];
    w->held[k] = (at <= lower && w->dx[k] < 0) || (at >= upper && w->dx[k] > 0);
    any |= w->held[k] != 0;
  }
  return any;
}

static void clamp(const srModel* m, const unsigned char* move, double* q) {
  for (int j = 0; j < m->njoint; j++) {
    const int k = limited(m, j);
    double* at = &q[m->joint_q[j]];
    if (k >= 0 && (move == NULL || move[k])) {
      *at = fmin(fmax(*at, m->priv->limits[2 * j]), m->priv->limits[2 * j + 1]);
    }
  }
}

static double largest(const Work* w) {
  double most = 0;
  for (int i = 0; i < w->rows; i++) most = fmax(most, fabs(w->r[i]));
  return most;
}

// q_try from q by the step for this damping. False: there is no step.
static bool step(Work* w, const double* q, double mu) {
  const int nv = w->m->nv;
  for (int k = 0; k < nv; k++) w->held[k] = w->move != NULL && !w->move[k];
  do {
    if (!solve(w, mu)) return false;
  } while (hold(w, q));
  double longest = 0;
  for (int k = 0; k < nv; k++) longest = fmax(longest, fabs(w->dx[k]));
  const double most = LONGEST * fmax(1, largest(w) / FAR);
  for (int k = 0; k < nv && longest > most; k++) w->dx[k] *= most / longest;
  sr_retract(w->m, q, w->dx, w->q_try);
  sr_normalize(w->m, w->q_try);
  clamp(w->m, w->move, w->q_try);
  return longest > 0;
}

// ---- search -------------------------------------------------------------------------------------------------------------

static double scale_of(const Work* w) {
  double most = 1;
  for (int k = 0; k < w->n; k++) {
    for (int i = 0; i < 3; i++) most = fmax(most, 1 + fabs(w->target[k].position[i]));
  }
  return most;
}

// From w->q, which it moves. Returns |r|^2 there.
static double descend(Work* w) {
  double square = residual(w, w->q), factor = 1;
  for (int k = 0; k < ITERATIONS && isfinite(square) && largest(w) > ENOUGH * scale_of(w); k++) {
    bool better = false;
    jacobian(w);
    w->iterations++;
    while (!better && factor < FACTOR_MOST && !sr_stop_requested(w->d)) {
      if (!step(w, w->q, factor * fmin(square, FAR * FAR) + 1e-28)) break;
      const double after = residual(w, w->q_try);
      better = after < (1 - STALLED) * square;
      factor = better ? fmax(1e-6, 0.1 * factor) : 4 * factor;
      if (better)
        square = after;
      else
        (void)residual(w, w->q);
    }
    if (!better) break;
    memcpy(w->q, w->q_try, (size_t)w->m->nq * sizeof *w->q);
  }
  return residual(w, w->q);
}

static double noise(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)*state / 9.3e18;
}

// Another start: inside the limits where a coordinate has them, else within SPREAD of the given one.
static void start_elsewhere(Work* w, uint64_t* seed) {
  const srModel* m = w->m;
  for (int k = 0; k < m->nv; k++) w->dx[k] = w->move == NULL || w->move[k] ? SPREAD * noise(seed) : 0;
  sr_retract(m, w->q_start, w->dx, w->q);
  for (int j = 0; j < m->njoint; j++) {
    const int k = limited(m, j);
    const double lower = m->priv->limits[2 * j], upper = m->priv->limits[2 * j + 1], u = 0.5 * (1 + noise(seed));
    if (k >= 0 && upper - lower < 20 && (w->move == NULL || w->move[k])) {
      w->q[m->joint_q[j]] = lower + u * (upper - lower);
    }
  }
  sr_normalize(m, w->q);
  clamp(m, w->move, w->q);
}

// The nearest position found; returns its largest residual.
static double search(Work* w) {
  const size_t size = (size_t)w->m->nq * sizeof(double);
  uint64_t seed = 1;
  double best = HUGE_VAL, left = HUGE_VAL;
  for (int k = 0; k < TRIES && left > ENOUGH * scale_of(w) && !sr_stop_requested(w->d); k++) {
    if (k > 0) start_elsewhere(w, &seed);
    const double square = descend(w);
    if (!(square < best)) continue;
    best = square;
    left = largest(w);
    memcpy(w->q_best, w->q, size);
  }
  return left;
}

// ---- entry --------------------------------------------------------------------------------------------------------------

static const char* wrong_target(const srModel* m, const srTarget* t) {
  if (t->point < 0 || t->point >= m->npoint) return "no such point";
  if (t->relative_to < 0 || t->relative_to >= m->npoint) return "no such point to measure from";
  for (int i = 0; i < 3; i++) {
    if (!isfinite(t->position[i])) return "a position that is not finite";
  }
  double length = 0;
  for (int i = 0; i < 4; i++) length += t->quaternion[i] * t->quaternion[i];
  return t->oriented && !(isfinite(length) && length > 0) ? "a quaternion of length 0 or not finite" : NULL;
}

static srStatus refuse(srMessages* messages, srStatus status, const char* why) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "inverse kinematics: %s", why);
  return status;
}

// Names the target that is missed most.
static srStatus tell_missed(Work* w, srMessages* messages, double left) {
  int worst = -1;
  double most = 0;
  for (int k = 0, row = w->constraints; k < w->n; row += rows_of(&w->target[k++])) {
    for (int i = 0; i < rows_of(&w->target[k]); i++) {
      if (fabs(w->r[row + i]) > most) {
        most = fabs(w->r[row + i]);
        worst = k;
      }
    }
  }
  const char* name = worst >= 0 ? w->m->point_name[w->target[worst].point] : NULL;
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "inverse kinematics: '%s' cannot reach its target with loops closed and joints within their limits: "
                  "%.3g m or rad are left, from %d starts; the state is the nearest one found",
                  name ? name : "a loop", left, TRIES);
  return SR_INPUT;
}

srStatus sr_inverse_kinematics(const srModel* m, srData* d, const srTarget* target, int n, const unsigned char* move,
                               srMessages* messages, srInverseKinematics* out) {
  if (m->absolute) return refuse(messages, SR_INPUT, "joint coordinates are found before sr_formulate");
  Work w = {.m = m, .d = d, .target = target, .n = n, .move = move};
  for (int k = 0; k < n; k++) {
    const char* wrong = wrong_target(m, &target[k]);
    if (wrong != NULL) return refuse(messages, SR_INPUT, wrong);
    w.rows += rows_of(&target[k]);
  }
  w.constraints = m->row_driver;
  w.rows += w.constraints;
  if (!allocate(&w)) return refuse(messages, SR_MEMORY, "out of memory");
  memcpy(w.q_start, d->q, (size_t)m->nq * sizeof *d->q);
  memcpy(w.q, d->q, (size_t)m->nq * sizeof *d->q);
  clamp(m, move, w.q);
  const double left = search(&w);
  const bool stopped = sr_stop_requested(d), found = left <= ENOUGH * scale_of(&w);
  (void)residual(&w, stopped || !isfinite(left) ? w.q_start : w.q_best);
  if (out != NULL) *out = (srInverseKinematics){.iterations = w.iterations, .residual = left};
  srStatus status = SR_OK;
  if (stopped)
    status = refuse(messages, SR_FAILED, "stopped");
  else if (!found)
    status = tell_missed(&w, messages, left);
  sr_free(w.memory);
  return status;
}
