// Assembly: corrects positions, then velocities, so that all constraints hold, every iteration by the least change.
//
//   positions    min |g(q (+) dx)|^2 by Levenberg-Marquardt: (G^T G + mu) dx = -G^T g,  mu proportional to |g|^2. With redundant
//                equations it still converges quadratically (Yamashita and Fukushima 2001), where Gauss-Newton would follow
//                equations that are independent only because the loop is still open.
//   velocities   min |dv| with G (v + dv) + b = 0, over equations that are independent at this position: velocities are not
//                corrected along a direction that is constrained only within SR_RANK_TAU
//
// What holds to rounding is left unchanged, bit by bit. Rounding of an equation is measured by its terms:
//   u (sum_j |G_ij| s_j + lengths in the equation)    of g_i, s_j: a radian and the coordinate, or the coordinate in m
//   u (max_j |G_ij| sum_j |v_j| + |b_i|)              of G_i v + b_i
// and the linear systems are solved down to it and no further: the remainder is noise, and an equation that is redundant, or
// nearly so, would respond to it with a change of any size (Hanke 1995: conjugate gradients stopped by the discrepancy).
//
// Values given in the file are frozen first; only if the rest does not suffice, everything may move. Small linear systems are solved
// by conjugate gradients on the normal equations (CGLS; Bjorck 1996, section 7.4): no matrix is formed or factored, and the correction is
// the one of least norm. A chain of n bodies needs about n iterations, so large ones are solved directly, for the same correction:
//   dx = W G^T y,   (G W^2 G^T + mu + e) y = -g,   e = 1e-12 of the largest diagonal,   refined once without e
//
// Equations that align two axes hold also where one is reversed. A loop that closes that way is opened again, its initial position rotated
// until the axes agree, and closed once more; where that does not help it is refused.
#include <float.h>
#include <math.h>
#include <sarrus/analysis.h>
#include <stdio.h>
#include <string.h>

#include "analysis/numbers.h"
#include "base/base.h"
#include "constraint/constraint.h"
#include "constraint/reaction.h"
#include "dynamics/link.h"
#include "math/pose.h"
#include "math/saddle_blocks.h"
#include "system/system.h"

#define ITERATIONS 100
#define ROUNDINGS (16 * DBL_EPSILON)  // of the sum of terms: a chain of ten links or so adds up as many of them
#define DIRECT_ABOVE 200              // coordinates and equations: up to it conjugate gradients
#define TRIES 12                      // attempts from other initial positions when a loop does not close
#define LONGEST_STEP 0.5              // rad or m in one iteration
#define MOVED 1e-9                    // a change worth reporting
#define ENERGY_MOVED 1e-3             // of the kinetic energy of a given state: more is a warning
#define TURN 0.1                      // rad in one step of turning an axis
#define TURN_STEPS 60                 // more than half a turn
#define TURNED 16                     // closures that are turned from one start

typedef struct Work {
  const srModel* m;
  srData* d;
  double *q_start, *q_try, *q_best;  // nq
  double *weight, *dx, *p, *s;       // nv: scale of each coordinate, unknown of CGLS, direction, gradient
  double *r, *Gp, *y;                // ng
  double *enough, *enough_v;         // ng: rounding level of an equation, of positions and of velocities
  double* GW;                        // G with its columns scaled by weight
  unsigned char *used, *counts;      // ng: equations in use, and of them those of the present system
  double* memory;
  srmBlocks* blocks;  // NULL: conjugate gradients
  int iterations;
  int reversed;  // closure that closed with its axis reversed, -1 none
  bool stopped;  // by a request: every loop ends
} Work;

static bool stops(Work* w) { return w->stopped = w->stopped || sr_stop_requested(w->d); }

// Bodies as the blocks of M; in relative coordinates each coordinate separately.
static bool create_blocks(Work* w) {
  const srmSaddleShape* shape = &w->d->priv->shape;
  if (shape->nv + shape->ng <= DIRECT_ABOVE) return true;
  if (!srm_blocks_create(shape, &w->blocks)) return false;
  return w->blocks != NULL || srm_blocks_create_rows(shape, &w->blocks);
}

static bool allocate(Work* w) {
  const size_t nq = (size_t)w->m->nq, nv = (size_t)w->m->nv, ng = (size_t)w->m->ng;
  const size_t nG = (size_t)w->m->G_start[w->m->ng];
  const srPart parts[] = {{&w->q_start, nq},  {&w->q_try, nq}, {&w->q_best, nq}, {&w->weight, nv}, {&w->dx, nv},
                          {&w->p, nv},        {&w->s, nv},     {&w->r, ng},      {&w->Gp, ng},     {&w->enough, ng},
                          {&w->enough_v, ng}, {&w->y, ng},     {&w->GW, nG}};
  if (!sr_take_parts(parts, SR_COUNT(parts), 2 * ng, &w->memory, &w->used)) return false;
  w->counts = w->used + ng;
  return create_blocks(w);
}

static double square(const double* x, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  return sum;
}

// ---- least squares ------------------------------------------------------------------------------------------------------

// out = G W x of the equations in use among the first n; out += (G W)^T r.
static void times(const Work* w, int n, const double* x, double* out) {
  const srModel* m = w->m;
  for (int i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; ++k) sum += w->GW[k] * x[m->G_index[k]];
    out[i] = w->used[i] != 0 ? sum : 0.0;
  }
}

static void transposed_times(const Work* w, int n, const double* r, double* out) {
  const srModel* m = w->m;
  for (int i = 0; i < n; ++i) {
    for (int k = m->G_start[i]; k < m->G_start[i + 1] && w->used[i] != 0; ++k) out[m->G_index[k]] += w->GW[k] * r[i];
  }
}

// Are all residuals of the equations in use rounding?
static bool holds(const Work* w, int n, const double* r, const double* enough) {
  for (int i = 0; i < n; ++i) {
    if (w->used[i] != 0 && !(fabs(r[i]) <= enough[i])) return false;
  }
  return true;
}

static void weigh(const Work* w) {
  const srModel* m = w->m;
  for (int k = 0; k < m->G_start[m->ng]; ++k) w->GW[k] = w->d->G[k] * w->weight[m->G_index[k]];
}

// dx in the scaled coordinates; r holds -r0 and is destroyed.
static void conjugate_gradients(Work* w, int n, double mu, const double* rounding) {
  const int nv = w->m->nv, most = 4 * (nv + n) + 20;
  memset(w->s, 0, (size_t)nv * sizeof *w->s);
  transposed_times(w, n, w->r, w->s);
  memcpy(w->p, w->s, (size_t)nv * sizeof *w->p);
  double gamma = square(w->s, nv);
  const double enough = 1e-30 * gamma;
  for (int k = 0; k < most && gamma > enough && !holds(w, n, w->r, rounding) && !stops(w); ++k) {
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
}

// Twice: the second pass removes the effect of e. False: no factor.
static bool solve_directly(Work* w, int n, double mu, const double* rounding) {
  const int nv = w->m->nv, ng = w->m->ng;
  for (int i = n; i < ng; ++i) w->r[i] = 0.0;
  for (int i = 0; i < ng; ++i) w->counts[i] = i < n && w->used[i] != 0;
  if (!srm_blocks_factor_rows(w->blocks, w->GW, w->counts, mu)) return false;
  for (int k = 0; k < 2 && !holds(w, n, w->r, rounding); ++k) {
    srm_blocks_solve_rows(w->blocks, w->r, w->y);
    memset(w->s, 0, (size_t)nv * sizeof *w->s);
    transposed_times(w, n, w->y, w->s);
    times(w, n, w->s, w->Gp);
    for (int i = 0; i < nv; ++i) w->dx[i] += w->s[i];
    for (int i = 0; i < n; ++i) w->r[i] -= w->Gp[i] + mu * w->y[i];
  }
  return true;
}

// dx = argmin |G W x + r0|^2 + mu |x|^2 down to the rounding of r, then W times it; r holds r0, destroyed.
static void least_squares(Work* w, int n, double mu, const double* rounding) {
  const int nv = w->m->nv;
  memset(w->dx, 0, (size_t)nv * sizeof *w->dx);
  for (int i = 0; i < n; ++i) w->r[i] = w->used[i] != 0 ? -w->r[i] : 0.0;
  if (w->blocks == NULL || !solve_directly(w, n, mu, rounding)) conjugate_gradients(w, n, mu, rounding);
  for (int i = 0; i < nv; ++i) w->dx[i] *= w->weight[i];
}

// ---- rounding -----------------------------------------------------------------------------------------------------------

// Magnitude of each velocity coordinate's position, the basis of its rounding. Sines and cosines count as a radian.
static void coordinate_sizes(const srModel* m, const double* q, double* size) {
  for (int i = 1; i < m->nlink; ++i) {
    const double* qi = q + m->link_q[i];
    for (int k = 0; k < sr_link_nv[m->link_type[i]]; ++k) {
      double* out = size + m->link_v[i] + k;
      switch (m->link_type[i]) {
        case SR_LINK_BALL: *out = 1.0; break;
        case SR_LINK_FREE: *out = k < 3 ? 1.0 : fabs(qi[0]) + fabs(qi[1]) + fabs(qi[2]); break;
        case SR_LINK_PRISMATIC: *out = fabs(*qi); break;
        default: *out = 1.0 + fabs(*qi);
      }
    }
  }
}

static double distance_of(const srModel* m, const srData* d, int point) {
  srFrameMotion seen;
  sr_frame_motion(m, d, point, 0, &seen);
  return fabs(seen.position[0]) + fabs(seen.position[1]) + fabs(seen.position[2]);
}

// Terms of the equations of a closure that do not move: unit vectors where it rotates (W over w), the positions of its points where
// it slides (W over u).
static void add_closure_sizes(Work* w, const srClosure* c) {
  const double far = distance_of(w->m, w->d, c->point[0]) + distance_of(w->m, w->d, c->point[1]);
  srClosureOut rows;
  if (c->soft || sr_closure_evaluate(w->m, w->d, c, &rows) != 0) return;
  for (int k = 0; k < c->np; ++k) {
    const double* W = rows.W[k];
    const double turn = fabs(W[0]) + fabs(W[1]) + fabs(W[2]), slide = fabs(W[3]) + fabs(W[4]) + fabs(W[5]);
    w->enough[c->row + k] += turn + slide * far;
  }
}

// Rounding of g at d's position (sr_constraints done).
static void position_rounding(Work* w) {
  const srModel* m = w->m;
  coordinate_sizes(m, w->d->q, w->s);
  for (int i = 0; i < m->np; ++i) {
    w->enough[i] = 0.0;
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; ++k) {
      w->enough[i] += fabs(w->d->G[k]) * w->s[m->G_index[k]];
    }
  }
  for (int i = 0; i < m->nclosure; ++i) add_closure_sizes(w, &m->closure[i]);
  for (int i = 0; i < m->np; ++i) w->enough[i] *= ROUNDINGS;
}

// Rounding of G v + b.
static void velocity_rounding(Work* w) {
  const srModel* m = w->m;
  for (int i = 0; i < m->ng; ++i) {
    double longest = 0.0, speed = 0.0;
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; ++k) {
      longest = fmax(longest, fabs(w->d->G[k]));
      speed += fabs(w->d->v[m->G_index[k]]);
    }
    w->enough_v[i] = ROUNDINGS * (longest * speed + fabs(w->d->b[i]));
  }
}

// ---- positions ------------------------------------------------------------------------------------------------------------

// g at q; its square, or infinity where an equation is undefined.
static double residual_at(Work* w, const double* q) {
  srData* d = w->d;
  (void)sr_evaluate(w->m, d, d->t, q, NULL, NULL, SR_STAGE_POSITION);
  const double sum = sr_constraints(w->m, d) == 0 ? square(d->g, w->m->np) : (double)INFINITY;
  return isfinite(sum) ? sum : (double)INFINITY;
}

// The equation that is worst relative to its tolerance, -1 when all are within theirs.
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

// Iterates from q_try, in place, until g is at rounding or stagnates. The residual of q_try is left in d.
static double close_loops(Work* w) {
  const srModel* m = w->m;
  double phi = residual_at(w, w->q_try);
  double damping = 1e-3;
  memset(w->used, 1, (size_t)m->ng);
  for (int k = 0; k < ITERATIONS && isfinite(phi) && damping < 1e9 && !stops(w); ++k, ++w->iterations) {
    position_rounding(w);
    if (holds(w, m->np, w->d->g, w->enough)) break;
    memcpy(w->r, w->d->g, (size_t)m->np * sizeof *w->r);
    weigh(w);
    least_squares(w, m->np, damping * phi, w->enough);
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
  for (int i = 0; i < w->m->nv; ++i) w->weight[i] = freeze && given[i] > 0 ? 0.0 : 1.0;
}

// Another initial position, farther with every attempt; given values stay, and so do coordinates that no equation depends on: a floating
// base does not move because a loop that it carries is perturbed.
static void perturb(Work* w, int k) {
  const srModel* m = w->m;
  double* seen = w->s;
  bool any = false;
  memset(seen, 0, (size_t)m->nv * sizeof *seen);
  for (int j = 0; j < m->G_start[m->np]; ++j) seen[m->G_index[j]] = 1.0;
  for (int i = 0; i < m->nv; ++i) any |= seen[i] > 0.0 && !m->q_given[i];
  for (int i = 0; i < m->nv; ++i) {
    const bool moves = seen[i] > 0.0 && (!any || !m->q_given[i]);
    w->dx[i] = moves ? 0.05 * (double)k * sr_scatter((unsigned)(k * m->nv + i)) : 0.0;
  }
  sr_retract(m, w->q_start, w->dx, w->q_try);
}

// ---- axes -------------------------------------------------------------------------------------------------------------------

static int reversed_closure(const Work* w) {
  double n[3], Rn[3];
  for (int i = 0; i < w->m->nclosure; ++i) {
    if (!w->m->closure[i].soft && !(sr_closure_axes(w->m, w->d, &w->m->closure[i], n, Rn) > 0.0)) return i;
  }
  return -1;
}

// dx of least length that rotates b about e, observed from a, by TURN. False when no coordinate can.
static bool turn_about(Work* w, const srClosure* c, const double e[3]) {
  const srModel* m = w->m;
  double *column = w->d->work, sum = 0.0;
  int* dof = (int*)(void*)(column + 6 * m->nv);
  const int n = sr_path_columns(m, w->d, c->point[1], c->point[0], -1, dof, column);
  memset(w->dx, 0, (size_t)m->nv * sizeof *w->dx);
  for (int j = 0; j < n; ++j) {
    w->dx[dof[j]] = w->weight[dof[j]] * srm_dot3(e, column + 6 * j);
    sum += w->dx[dof[j]] * w->dx[dof[j]];
  }
  for (int i = 0; i < m->nv && sum > 1e-6; ++i) w->dx[i] *= TURN / sum;
  return sum > 1e-6;
}

// Towards n: the rate of n . R n is w . (R n x n). Where they are opposite, about a cross axis.
static bool turn_step(Work* w, const srClosure* c, const double n[3], const double Rn[3]) {
  double e[3];
  srm_cross3(Rn, n, e);
  const double length = srm_norm3(e);
  if (length < 1e-3) return turn_about(w, c, c->frame[0]) || turn_about(w, c, c->frame[1]);
  for (int i = 0; i < 3; ++i) e[i] /= length;
  return turn_about(w, c, e);
}

// Rotates q_try until the axes of the closure agree to 30 degrees. False when they cannot.
static bool turn(Work* w, const srClosure* c) {
  double n[3], Rn[3];
  for (int k = 0; k < TURN_STEPS && !stops(w); ++k) {
    (void)residual_at(w, w->q_try);
    if (sr_closure_axes(w->m, w->d, c, n, Rn) > 0.87) return true;
    if (!turn_step(w, c, n, Rn)) return false;
    sr_retract(w->m, w->q_try, w->dx, w->q_best);
    memcpy(w->q_try, w->q_best, (size_t)w->m->nq * sizeof *w->q_try);
  }
  return false;
}

// ---- tries ------------------------------------------------------------------------------------------------------------------

static void start_at(Work* w, int k) {
  memcpy(w->q_try, w->q_start, (size_t)w->m->nq * sizeof(double));
  if (k > 0) perturb(w, k);
}

// Closes from q_try; the worst equation, -1 when closed. w->reversed: a closure that is closed with its axis reversed.
static int try_to_close(Work* w) {
  const double phi = close_loops(w);
  const int row = isfinite(phi) ? worst_row(w, w->d->g, w->m->np) : 0;
  w->reversed = row < 0 ? reversed_closure(w) : -1;
  return row;
}

// One attempt, perturbed the k-th time; true when all is closed. The first reversed closure is rotated at the start, others
// from where that has led.
static bool try_start(Work* w, int k, int* row, int* reversed) {
  start_at(w, k);
  *row = try_to_close(w);
  if (*row >= 0 || w->reversed < 0) return *row < 0;
  int last = *row;
  start_at(w, k);
  *reversed = w->reversed;
  for (int turns = 0; last < 0 && w->reversed >= 0 && turns < TURNED; ++turns) {
    if (!turn(w, &w->m->closure[w->reversed])) return false;
    last = try_to_close(w);
  }
  return last < 0 && w->reversed < 0;
}

// *bad_row: the worst of the first attempt; *reversed: a closure that some attempt closed with its axis reversed, -1 none.
static bool assemble_positions(Work* w, int* bad_row, int* reversed) {
  *reversed = -1;
  for (int k = 0; k < TRIES; ++k) {
    for (int freeze = 1; freeze >= 0 && !w->stopped; --freeze) {
      int row;
      set_weights(w, w->m->q_given, freeze != 0);
      if (try_start(w, k, &row, reversed)) return true;
      if (k == 0) *bad_row = row;
    }
  }
  if (w->stopped) return false;
  start_at(w, 0);  // report the residual of the unperturbed attempt
  set_weights(w, w->m->q_given, false);
  (void)close_loops(w);
  return false;
}

// ---- velocities -----------------------------------------------------------------------------------------------------------

static double velocity_residual(Work* w) {
  double sum = 0.0;
  sr_constraint_velocity(w->m, w->d, w->d->v, w->r);
  for (int i = 0; i < w->m->ng; ++i) sum += w->used[i] != 0 ? w->r[i] * w->r[i] : 0.0;
  return sum;
}

// The equations that are independent in the coordinates that may move; the others depend on them or cannot be satisfied at all.
static void use_independent(Work* w) {
  const srmRowsChoice choice = {.tau = SR_RANK_TAU};
  weigh(w);
  if (srm_rows_classify(w->d->priv->rows, NULL, w->GW, &choice, w->used) < 0) memset(w->used, 1, (size_t)w->m->ng);
}

static void correct_velocities(Work* w) {
  const srModel* m = w->m;
  use_independent(w);
  double phi = velocity_residual(w);
  for (int k = 0; k < 20 && !stops(w); ++k) {
    velocity_rounding(w);
    if (holds(w, m->ng, w->r, w->enough_v)) break;
    least_squares(w, m->ng, 0.0, w->enough_v);
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
  sr_constraint_velocity(m, w->d, w->d->v, w->r);
}

// Which given velocities stay. A zero among several values of one joint may only fill its place: v="0 5 0 0 0 0" of a ball that
// rolls means the 5.
typedef enum Hold { HOLD_NONE, HOLD_NONZERO, HOLD_GIVEN } Hold;

// False: the same as one that has been tried.
static bool hold_velocities(Work* w, const double* v_start, Hold hold) {
  const srModel* m = w->m;
  bool differs = hold != HOLD_NONZERO;
  set_weights(w, m->v_given, hold != HOLD_NONE);
  for (int i = 0; i < m->nv && hold == HOLD_NONZERO; ++i) {
    if (!m->v_given[i] || v_start[i] != 0.0 || m->joint_nv[m->link_joint[m->dof_link[i]]] == 1) continue;
    w->weight[i] = 1.0;
    differs = true;
  }
  return differs;
}

static bool assemble_velocities(Work* w, const double* v_start, int* bad_row) {
  const srModel* m = w->m;
  for (int hold = HOLD_GIVEN; hold >= HOLD_NONE; --hold) {
    if (!hold_velocities(w, v_start, (Hold)hold)) continue;
    memcpy(w->d->v, v_start, (size_t)m->nv * sizeof *v_start);
    correct_velocities(w);
    double speed = 1.0;
    for (int i = 0; i < m->nv; ++i) speed = fmax(speed, fabs(w->d->v[i]));
    for (int i = 0; i < m->ng; ++i)
      w->r[i] /= speed;  // a rate of the size of the motion, as long as its equation allows
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
                             m->absolute ? m->body_name[m->dof_link[i]] : m->v_name[i], change[i]);
  }
  if (n == 0) return;
  sr_messages_add(messages, SR_SEVERITY_NOTE, (srPlace){0}, "the assembly has changed %s of %d coordinate%s: %s%s",
                  what, n, n == 1 ? "" : "s", text, n > 6 ? ", ..." : "");
}

static double kinetic_energy(const Work* w) {
  double kinetic, potential;
  (void)sr_evaluate(w->m, w->d, w->d->t, NULL, NULL, NULL, SR_STAGE_VELOCITY);
  sr_energy(w->m, w->d, &kinetic, &potential);
  return kinetic;
}

// Does d's state differ from that of the file? Then it was set by the caller, and is not merely to be completed.
static bool is_taken_up(const srModel* m, const srData* d) {
  double most = 0.0;
  for (int i = 0; i < m->nq; ++i) most = fmax(most, fabs(d->q[i] - m->q0[i]) / (1.0 + fabs(m->q0[i])));
  for (int i = 0; i < m->nv; ++i) most = fmax(most, fabs(d->v[i] - m->v0[i]) / (1.0 + fabs(m->v0[i])));
  return most > MOVED;
}

static void warn_energy(double before, double after, srMessages* messages) {
  if (fabs(after - before) <= ENERGY_MOVED * fmax(before, after)) return;
  sr_messages_add(
      messages, SR_SEVERITY_WARNING, (srPlace){0},
      "the assembly has changed the kinetic energy of the start from %.6g J to %.6g J: the velocities given "
      "do not satisfy the constraints, see 'gv' of `sarrus eval`",
      before, after);
}

static srStatus refuse(const Work* w, int row, double residual, const char* level, srMessages* messages) {
  const srRow* r = &w->m->row[row];
  sr_messages_add(messages, SR_SEVERITY_ERROR, r->place, "%s cannot be closed%s: its residual stays at %.6g", r->name,
                  level, residual);
  return SR_INPUT;
}

static srStatus refuse_reversed(const srClosure* c, srMessages* messages) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, c->place, "%s %s can be closed only with its axis reversed",
                  c->joint >= 0 ? "joint" : "closure", c->name);
  return SR_INPUT;
}

// What was reached so far is no assembly: d gets its state back.
static srStatus refuse_stopped(const Work* w, const double* v_start, srMessages* messages) {
  memcpy(w->d->q, w->q_start, (size_t)w->m->nq * sizeof(double));
  if (v_start != NULL) memcpy(w->d->v, v_start, (size_t)w->m->nv * sizeof(double));
  w->d->stage = SR_STAGE_NONE;
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "the assembly was stopped by the caller after %d iterations", w->iterations);
  return SR_FAILED;
}

// A start where equations have no values is not perturbed: where it would end is unrelated to the file.
static bool has_values(Work* w, srMessages* messages) {
  const srModel* m = w->m;
  srData* d = w->d;
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_POSITION);
  const int answer = sr_constraints(m, d);
  srClosureOut rows;
  for (int i = 0; i < m->nclosure && answer != 0; ++i) {
    if (sr_closure_evaluate(m, d, &m->closure[i], &rows) == 0) continue;
    sr_messages_add(messages, SR_SEVERITY_ERROR, m->closure[i].place, "%s", d->error_message);
    return false;
  }
  for (int i = 0; i < m->nclosure && answer == 0; ++i) {
    if (sr_closure_verify(m, d, &m->closure[i])) continue;
    sr_messages_add(messages, SR_SEVERITY_ERROR, m->closure[i].place, "closure '%s': %s", m->closure[i].name,
                    d->error_message);
    return false;
  }
  for (int i = 0; i < m->np && answer == 0; ++i) {
    if (isfinite(d->g[i])) continue;
    sr_messages_add(messages, SR_SEVERITY_ERROR, m->row[i].place, "%s has no value at the start", m->row[i].name);
    return false;
  }
  return true;
}

// Coordinates of inerters have no value of their own: each is set by its equation before anything else moves. r: residuals of n equations;
// x: coordinates, by their index in `at` or else in v.
static void follow(const Work* w, const int* given, int n, const double* r, const double* enough, const int* at,
                   double* x) {
  const srModel* m = w->m;
  for (int i = 0; i < n; ++i) {
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; ++k) {
      const int j = m->G_index[k];
      if (given[j] >= 0 || w->d->G[k] == 0.0 || fabs(r[i]) <= enough[i]) continue;
      x[at != NULL ? at[m->dof_link[j]] : j] -= r[i] / w->d->G[k];
    }
  }
}

static srStatus assemble(Work* w, srMessages* messages, srAssembly* out) {
  const srModel* m = w->m;
  srData* d = w->d;
  int row = -1, reversed = -1;
  const bool taken_up = is_taken_up(m, d);
  if (!has_values(w, messages)) return SR_INPUT;
  position_rounding(w);
  follow(w, m->q_given, m->np, d->g, w->enough, m->link_q, d->q);
  memcpy(w->q_start, d->q, (size_t)m->nq * sizeof(double));
  const bool closed = assemble_positions(w, &row, &reversed);
  out->iterations = w->iterations;
  if (w->stopped) return refuse_stopped(w, NULL, messages);
  for (int i = 0; i < m->np; ++i) out->residual_position = fmax(out->residual_position, fabs(d->g[i]));
  if (!closed && reversed >= 0) return refuse_reversed(&m->closure[reversed], messages);
  if (!closed) {
    const int worst = worst_row(w, d->g, m->np);
    row = worst >= 0 ? worst : row;
    return refuse(w, row, d->g[row], "", messages);
  }
  sr_difference(m, w->q_start, w->q_try, w->dx);
  for (int i = 0; i < m->nv; ++i) out->moved_position = fmax(out->moved_position, fabs(w->dx[i]));

  sr_constraint_velocity(m, d, d->v, w->r);
  velocity_rounding(w);
  follow(w, m->v_given, m->ng, w->r, w->enough_v, NULL, d->v);
  double* v_start = w->q_best;  // nq >= nv
  memcpy(v_start, d->v, (size_t)m->nv * sizeof(double));
  const double kinetic = kinetic_energy(w);
  const bool moves = assemble_velocities(w, v_start, &row);
  if (w->stopped) return refuse_stopped(w, v_start, messages);
  sr_difference(m, w->q_start, w->q_try, w->dx);
  tell_moved(w, "the positions", w->dx, messages);
  sr_constraint_velocity(m, d, d->v, w->r);
  for (int i = 0; i < m->ng; ++i) out->residual_velocity = fmax(out->residual_velocity, fabs(w->r[i]));
  if (!moves) return refuse(w, row, w->r[row], " at velocity level", messages);
  for (int i = 0; i < m->nv; ++i) w->dx[i] = d->v[i] - v_start[i];
  for (int i = 0; i < m->nv; ++i) out->moved_velocity = fmax(out->moved_velocity, fabs(w->dx[i]));
  tell_moved(w, "the velocities", w->dx, messages);
  if (taken_up) warn_energy(kinetic, kinetic_energy(w), messages);
  return SR_OK;
}

// ---- a state that was assembled before -----------------------------------------------------------------------------------------
// What holds is left unchanged, so that a second assembly would change nothing. d->assembled: 1, residuals, t, q, v, z.

static double* take(double* to, const double* from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
  return to + n;
}

static void remember(const srModel* m, srData* d, const srAssembly* out) {
  const double head[] = {1.0, out->residual_position, out->residual_velocity, d->t};
  (void)take(take(take(take(d->assembled, head, 4), d->q, m->nq), d->v, m->nv), d->z, m->nz);
}

static bool same(const double* a, const double* b, int n) { return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0; }

static bool is_assembled(const srModel* m, const srData* d, srAssembly* out) {
  const double *head = d->assembled, *q = head + 4, *v = q + m->nq, *z = v + m->nv;
  if (head[0] == 0.0 || head[3] != d->t || !same(q, d->q, m->nq) || !same(v, d->v, m->nv) || !same(z, d->z, m->nz))
    return false;
  out->residual_position = head[1];
  out->residual_velocity = head[2];
  return true;
}

srStatus sr_assemble(const srModel* m, srData* d, srMessages* messages, srAssembly* out) {
  srAssembly own;
  if (out == NULL) out = &own;
  *out = (srAssembly){0};
  if (!m->constrained) {
    sr_put_driven(m, d);
    return SR_OK;
  }
  if (is_assembled(m, d, out)) return SR_OK;
  Work w = {.m = m, .d = d};
  if (!allocate(&w)) {
    sr_free(w.memory);
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the assembly");
    return SR_MEMORY;
  }
  const srStatus status = assemble(&w, messages, out);
  if (status == SR_OK) remember(m, d, out);
  srm_blocks_destroy(w.blocks);
  sr_free(w.memory);
  return status;
}

// ---- with coordinates that are held ------------------------------------------------------------------------------------------

static srStatus assemble_held(Work* w, const unsigned char* held, srMessages* messages, srAssembly* out) {
  const srModel* m = w->m;
  srData* d = w->d;
  int row = -1;
  if (!has_values(w, messages)) return SR_INPUT;
  memcpy(w->q_start, d->q, (size_t)m->nq * sizeof(double));
  for (int i = 0; i < m->nv; ++i) w->weight[i] = held[i] != 0 ? 0.0 : 1.0;
  start_at(w, 0);
  row = try_to_close(w);
  out->iterations = w->iterations;
  if (w->stopped) return refuse_stopped(w, NULL, messages);
  if (row >= 0) return refuse(w, row, d->g[row], " with the given positions", messages);
  if (w->reversed >= 0) return refuse_reversed(&m->closure[w->reversed], messages);
  for (int i = 0; i < m->np; ++i) out->residual_position = fmax(out->residual_position, fabs(d->g[i]));
  double* v_start = w->q_best;  // nq >= nv
  memcpy(v_start, d->v, (size_t)m->nv * sizeof(double));
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_VELOCITY);
  const bool moves = assemble_velocities(w, v_start, &row);
  if (w->stopped) return refuse_stopped(w, v_start, messages);
  if (!moves) return refuse(w, row, w->r[row], " at velocity level", messages);
  sr_constraint_velocity(m, d, d->v, w->r);
  for (int i = 0; i < m->ng; ++i) out->residual_velocity = fmax(out->residual_velocity, fabs(w->r[i]));
  return SR_OK;
}

srStatus sr_assemble_held(const srModel* m, srData* d, const unsigned char* held, srMessages* messages,
                          srAssembly* out) {
  srAssembly own;
  if (out == NULL) out = &own;
  *out = (srAssembly){0};
  if (!m->constrained) {
    sr_put_driven(m, d);
    return SR_OK;
  }
  Work w = {.m = m, .d = d};
  srStatus status = SR_MEMORY;
  if (allocate(&w))
    status = assemble_held(&w, held, messages, out);
  else
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the assembly");
  if (status == SR_OK) remember(m, d, out);
  srm_blocks_destroy(w.blocks);
  sr_free(w.memory);
  return status;
}
