// Assembly: positions, then velocities, are corrected with the least change so that all constraints hold.
//
//   positions    min |g(q (+) dx)|^2 by Levenberg-Marquardt: (G^T G + mu) dx = -G^T g,  mu proportional to |g|^2. Under redundant
//                rows it still converges quadratically (Yamashita and Fukushima 2001), where Gauss-Newton would follow
//                rows that are independent only because the loop is still open.
//   velocities   min |dv| with G (v + dv) + b = 0
//
// What the file gave is frozen first; only if the rest cannot do it alone, everything moves alike. The linear systems go by
// conjugate gradients on the normal equations (CGLS; Bjorck 1996, section 7.4): no matrix is formed or factored, the
// correction is the one of least norm, and long chains of loops cost no more than their rows.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/system.h"
#include "base/base.h"
#include "constraint/constraint.h"

#define ITERATIONS 100
#define TRIES 12          // starts from other places when a loop does not close
#define LONGEST_STEP 0.5  // rad or m in one iteration
#define MOVED 1e-9        // a change that is worth a word

typedef struct Work {
  const srModel* m;
  srData* d;
  double *q_start, *q_try, *q_best;  // nq
  double *weight, *dx, *p, *s;       // nv: scale of each coordinate, unknown of CGLS, direction, gradient
  double *r, *Gp;                    // ng
  double* memory;
  int iterations;
  double damping;  // mu / |g|^2
} Work;

static bool allocate(Work* w) {
  const size_t nq = (size_t)w->m->nq, nv = (size_t)w->m->nv, ng = (size_t)w->m->ng;
  w->memory = sr_alloc((3 * nq + 4 * nv + 2 * ng + 1) * sizeof *w->memory);
  if (w->memory == NULL) return false;
  w->q_start = w->memory;
  w->q_try = w->q_start + nq;
  w->q_best = w->q_try + nq;
  w->weight = w->q_best + nq;
  w->dx = w->weight + nv;
  w->p = w->dx + nv;
  w->s = w->p + nv;
  w->r = w->s + nv;
  w->Gp = w->r + ng;
  return true;
}

static double square(const double* x, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  return sum;
}

// ---- least squares ------------------------------------------------------------------------------------------------------

// out = G W x of the first n rows; out += (G W)^T r.
static void times(const Work* w, int n, const double* x, double* out) {
  const srModel* m = w->m;
  for (int i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; ++k) {
      sum += w->d->G[k] * w->weight[m->G_index[k]] * x[m->G_index[k]];
    }
    out[i] = sum;
  }
}

static void transposed_times(const Work* w, int n, const double* r, double* out) {
  const srModel* m = w->m;
  for (int i = 0; i < n; ++i) {
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; ++k) {
      out[m->G_index[k]] += w->d->G[k] * w->weight[m->G_index[k]] * r[i];
    }
  }
}

// dx = argmin |G W x + r0|^2 + mu |x|^2, then W times it; r holds r0, destroyed.
static void least_squares(Work* w, int n, double mu) {
  const int nv = w->m->nv, most = 4 * (nv + n) + 20;
  memset(w->dx, 0, (size_t)nv * sizeof *w->dx);
  memset(w->s, 0, (size_t)nv * sizeof *w->s);
  for (int i = 0; i < n; ++i) w->r[i] = -w->r[i];
  transposed_times(w, n, w->r, w->s);
  memcpy(w->p, w->s, (size_t)nv * sizeof *w->p);
  double gamma = square(w->s, nv);
  const double enough = 1e-30 * gamma;
  for (int k = 0; k < most && gamma > enough; ++k) {
    times(w, n, w->p, w->Gp);
    const double alpha = gamma / (square(w->Gp, n) + mu * square(w->p, nv));
    for (int i = 0; i < nv; ++i) w->dx[i] += alpha * w->p[i];
    for (int i = 0; i < n; ++i) w->r[i] -= alpha * w->Gp[i];
    for (int i = 0; i < nv; ++i) w->s[i] = -mu * w->dx[i];
    transposed_times(w, n, w->r, w->s);
    const double next = square(w->s, nv);
    for (int i = 0; i < nv; ++i) w->p[i] = w->s[i] + next / gamma * w->p[i];
    gamma = next;
  }
  for (int i = 0; i < nv; ++i) w->dx[i] *= w->weight[i];
}

// ---- positions ------------------------------------------------------------------------------------------------------------

// g at q; its square, or infinity where a row is not defined.
static double residual_at(Work* w, const double* q) {
  srData* d = w->d;
  memcpy(d->q, q, (size_t)w->m->nq * sizeof *q);
  sr_kinematics(w->m, d);
  const double sum = sr_constraints(w->m, d) == 0 ? square(d->g, w->m->np) : (double)INFINITY;
  return isfinite(sum) ? sum : (double)INFINITY;
}

// The row that is worst against its tolerance, -1 when all are within theirs.
static int worst_row(const Work* w, const double* residual, int n) {
  int worst = -1;
  double most = 1.0;
  for (int i = 0; i < n; ++i) {
    const double ratio = fabs(residual[i]) / w->m->row[i].tolerance;
    if (ratio <= most) continue;
    most = ratio;
    worst = i;
  }
  return worst;
}

// Iterates from q_try, in place, until g is at rounding or nothing helps any more. The residual of q_try is left in d.
static double close_loops(Work* w) {
  const srModel* m = w->m;
  double phi = residual_at(w, w->q_try);
  double damping = 1e-3;
  for (int k = 0; k < ITERATIONS && phi > 0.0 && isfinite(phi) && damping < 1e9; ++k, ++w->iterations) {
    memcpy(w->r, w->d->g, (size_t)m->np * sizeof *w->r);
    least_squares(w, m->np, damping * phi);
    double longest = 0.0;
    for (int i = 0; i < m->nv; ++i) longest = fmax(longest, fabs(w->dx[i]));
    if (longest > LONGEST_STEP) {
      for (int i = 0; i < m->nv; ++i) w->dx[i] *= LONGEST_STEP / longest;
    }
    sr_retract(m, w->q_try, w->dx, w->q_best);
    const double next = residual_at(w, w->q_best);
    const bool rounding = phi < 1e-24 && next > 0.1 * phi;
    if (next < phi) {
      memcpy(w->q_try, w->q_best, (size_t)m->nq * sizeof *w->q_try);
      phi = next;
      damping = fmax(damping / 8.0, 1e-6);
    } else {
      damping *= 10.0;
      phi = residual_at(w, w->q_try);
    }
    if (rounding) break;
  }
  return residual_at(w, w->q_try);
}

static void set_weights(Work* w, const int* given, bool freeze) {
  for (int i = 0; i < w->m->nv; ++i) w->weight[i] = freeze && given[i] ? 0.0 : 1.0;
}

// A number in [-1, 1) from a count, the same everywhere.
static double scatter(unsigned i) {
  i = (i ^ 61U) ^ (i >> 16U);
  i *= 9U;
  i ^= i >> 4U;
  i *= 0x27d4eb2dU;
  i ^= i >> 15U;
  return (double)(i & 0xffffffU) / (double)0x800000 - 1.0;
}

// Another place to start from, farther with every try; what the file gave stays.
static void perturb(Work* w, int k) {
  const srModel* m = w->m;
  bool any = false;
  for (int i = 0; i < m->nv; ++i) any |= !m->q_given[i];
  for (int i = 0; i < m->nv; ++i) {
    const bool moves = !any || !m->q_given[i];
    w->dx[i] = moves ? 0.05 * (double)k * scatter((unsigned)(k * m->nv + i)) : 0.0;
  }
  sr_retract(m, w->q_start, w->dx, w->q_try);
}

static bool assemble_positions(Work* w, int* bad_row) {
  const srModel* m = w->m;
  const size_t bytes = (size_t)m->nq * sizeof(double);
  for (int k = 0; k < TRIES; ++k) {
    for (int freeze = 1; freeze >= 0; --freeze) {
      memcpy(w->q_try, w->q_start, bytes);
      if (k > 0) perturb(w, k);
      set_weights(w, m->q_given, freeze != 0);
      const double phi = close_loops(w);
      const int row = isfinite(phi) ? worst_row(w, w->d->g, m->np) : 0;
      if (row < 0) return true;
      if (k == 0) *bad_row = row;
    }
  }
  memcpy(w->q_try, w->q_start, bytes);  // tell the residual of the honest try
  set_weights(w, m->q_given, false);
  (void)close_loops(w);
  return false;
}

// ---- velocities -----------------------------------------------------------------------------------------------------------

static double velocity_residual(Work* w) {
  sr_constraint_velocity(w->m, w->d, w->d->v, w->r);
  return square(w->r, w->m->ng);
}

static double correct_velocities(Work* w) {
  const srModel* m = w->m;
  double phi = velocity_residual(w);
  for (int k = 0; k < 20 && phi > 0.0; ++k) {
    least_squares(w, m->ng, 0.0);
    for (int i = 0; i < m->nv; ++i) w->d->v[i] += w->dx[i];
    const double next = velocity_residual(w);
    if (!(next < 0.5 * phi)) {
      if (next > phi) {
        for (int i = 0; i < m->nv; ++i) w->d->v[i] -= w->dx[i];
      }
      break;
    }
    phi = next;
  }
  return velocity_residual(w);
}

static bool assemble_velocities(Work* w, const double* v_start, int* bad_row) {
  const srModel* m = w->m;
  for (int freeze = 1; freeze >= 0; --freeze) {
    memcpy(w->d->v, v_start, (size_t)m->nv * sizeof *v_start);
    set_weights(w, m->v_given, freeze != 0);
    correct_velocities(w);
    double speed = 1.0;
    for (int i = 0; i < m->nv; ++i) speed = fmax(speed, fabs(w->d->v[i]));
    for (int i = 0; i < m->ng; ++i) w->r[i] /= speed;  // a rate of the size of the motion, as long as its row allows
    *bad_row = worst_row(w, w->r, m->ng);
    if (*bad_row < 0) return true;
  }
  return false;
}

// ---- report -----------------------------------------------------------------------------------------------------------------

static void tell_moved(const Work* w, const char* what, const double* change, srMessages* messages) {
  const srModel* m = w->m;
  char text[400] = "";
  size_t used = 0;
  int n = 0;
  for (int i = 0; i < m->nv; ++i) {
    if (fabs(change[i]) <= MOVED) continue;
    if (++n > 6 || used >= sizeof text) continue;
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s by %.6g", n > 1 ? ", " : "",
                             m->gauged ? m->body_name[m->dof_link[i]] : m->v_name[i], change[i]);
  }
  if (n == 0) return;
  sr_messages_add(messages, SR_SEVERITY_NOTE, (srPlace){0}, "the assembly has changed %s of %d coordinate%s: %s%s",
                  what, n, n == 1 ? "" : "s", text, n > 6 ? ", ..." : "");
}

static srStatus refuse(const Work* w, int row, double residual, const char* level, srMessages* messages) {
  const srRow* r = &w->m->row[row];
  sr_messages_add(messages, SR_SEVERITY_ERROR, r->place, "%s cannot be closed%s: its residual stays at %.6g", r->name,
                  level, residual);
  return SR_INPUT;
}

static srStatus assemble(Work* w, srMessages* messages, srAssembly* out) {
  const srModel* m = w->m;
  srData* d = w->d;
  int row = -1;
  memcpy(w->q_start, d->q, (size_t)m->nq * sizeof(double));
  const bool closed = assemble_positions(w, &row);
  out->iterations = w->iterations;
  for (int i = 0; i < m->np; ++i) out->residual_position = fmax(out->residual_position, fabs(d->g[i]));
  if (!closed) {
    const int worst = worst_row(w, d->g, m->np);
    row = worst >= 0 ? worst : row;
    return refuse(w, row, d->g[row], "", messages);
  }
  sr_difference(m, w->q_start, w->q_try, w->dx);
  for (int i = 0; i < m->nv; ++i) out->moved_position = fmax(out->moved_position, fabs(w->dx[i]));
  tell_moved(w, "the positions", w->dx, messages);

  double* v_start = w->q_best;  // nq >= nv
  memcpy(v_start, d->v, (size_t)m->nv * sizeof(double));
  const bool moves = assemble_velocities(w, v_start, &row);
  sr_constraint_velocity(m, d, d->v, w->r);
  for (int i = 0; i < m->ng; ++i) out->residual_velocity = fmax(out->residual_velocity, fabs(w->r[i]));
  if (!moves) return refuse(w, row, w->r[row], " at velocity level", messages);
  for (int i = 0; i < m->nv; ++i) w->dx[i] = d->v[i] - v_start[i];
  for (int i = 0; i < m->nv; ++i) out->moved_velocity = fmax(out->moved_velocity, fabs(w->dx[i]));
  tell_moved(w, "the velocities", w->dx, messages);
  return SR_OK;
}

srStatus sr_assemble(const srModel* m, srData* d, srMessages* messages, srAssembly* out) {
  srAssembly own;
  if (out == NULL) out = &own;
  *out = (srAssembly){0};
  if (!m->looped) {
    sr_put_driven(m, d);
    return SR_OK;
  }
  Work w = {.m = m, .d = d};
  if (!allocate(&w)) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the assembly");
    return SR_MEMORY;
  }
  d->priv->chosen = false;
  const srStatus status = assemble(&w, messages, out);
  sr_free(w.memory);
  return status;
}
