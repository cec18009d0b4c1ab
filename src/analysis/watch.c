// What is looked at after every accepted step of a looped model.
//
// Near a position where rows become dependent the motion branches, and a correction of the velocities by the least change may
// turn them into another branch or take them away: its size is g over the distance of the rows. Redundant rows are left out of
// the equations; that they hold all the same is what makes them redundant, and is looked at here.
#include "analysis/watch.h"

#include <math.h>
#include <stdio.h>

#include "constraint/constraint.h"
#include "force/force.h"

#define PASSED_BELOW 1e-2        // a smallest distance with a minimum below this counts as a singular position
#define PASSED_BETWEEN 0.5       // and one that points to zero between two steps, from below this
#define CORRECTION_MOST 1e-2     // of the velocities in a step: 1e-4 of the energy
#define AT_REST 1e-9             // rad/s or m/s: corrections of this size are let pass
#define CORRECTION_ERRORS 1e3    // errors of a step
#define ROUNDING_MOST 1e-9       // of a row: below it nothing is wrong whatever its tolerance
#define TOLERANCES_MOST 1e3      // of a row in a run
#define CONTRADICTION_MOST 1e-4  // of the accelerations in a row

// ---- distance from singular positions ---------------------------------------------------------------------------------

// Smallest distance of a row from the others, of the best so many rows, each measured by the largest length that it has had:
// one that vanishes in a singular position must be seen to do so.
static double distance(srModelSystem* s, int found) {
  struct srDataPrivate* p = s->d->priv;
  if (found < 0 || found != p->rank) return 0.0;
  if (s->row_length == NULL) return 1.0;
  const srmRowsChoice choice = {.tau = SR_RANK_TAU, .scale = s->row_length};
  const int rank = srm_rows_classify(p->rows, s->d->M, s->d->G, &choice, p->taken);
  double smallest = rank < p->rank ? 0.0 : 1.0;
  for (int i = 0; i < s->m->ng && rank == p->rank; ++i) {
    if (p->taken[i] != 0) smallest = fmin(smallest, srm_rows_pivot(p->rows, i));
  }
  return smallest;
}

srRankSeen sr_watch_choose(srModelSystem* s) {
  const int rank = sr_choose_rows(s->m, s->d);
  return (srRankSeen){.rank = rank, .sigma = distance(s, rank)};
}

static void add_change(srModelSystem* s, double t, int before, int after) {
  ++s->rank_changes;
  if (s->nrank_event == SR_RANK_EVENTS) return;
  s->rank_event[s->nrank_event++] = (srRankChange){t, before, after};
}

// The distance falls, and rises again: was it zero in between? The lines through the two distances before and through the two
// after then both come to zero there. Writes the time.
static bool passed(const srModelSystem* s, double t, double now, double* when) {
  const double *x = s->sigma, *at = s->sigma_t;
  *when = at[2];
  if (s->nsigma >= 2 && x[2] < PASSED_BELOW && x[2] < x[1] && now > x[2]) return true;
  if (s->nsigma < 3 || x[1] >= x[0] || now <= x[2] || fmax(x[1], x[2]) > PASSED_BETWEEN) return false;
  const double before = at[1] + x[1] * (at[1] - at[0]) / (x[0] - x[1]);
  const double after = at[2] - x[2] * (t - at[2]) / (now - x[2]);
  const double hair = 0.1 * (at[2] - at[1]);
  *when = 0.5 * (before + after);
  return fmax(before, after) < at[2] + hair && fmin(before, after) > at[1] - hair;
}

static void remember(srModelSystem* s, double t, double sigma) {
  for (int i = 0; i < 2; ++i) {
    s->sigma[i] = s->sigma[i + 1];
    s->sigma_t[i] = s->sigma_t[i + 1];
  }
  s->sigma[2] = sigma;
  s->sigma_t[2] = t;
  if (s->nsigma < 3) ++s->nsigma;
}

void sr_watch_note(srModelSystem* s, double t, srRankSeen seen) {
  const int before = s->rank;
  double when = t;
  if (seen.rank < 0) return;
  s->rank = seen.rank;
  if (before >= 0 && before != seen.rank) {
    add_change(s, t, before, seen.rank);
    s->nsigma = 0;
    return;
  }
  if (passed(s, t, seen.sigma, &when)) {
    add_change(s, when, seen.rank, seen.rank);
    s->nsigma = 0;
  }
  remember(s, t, seen.sigma);
}

// ---- corrections --------------------------------------------------------------------------------------------------------

static double mass_norm(const srModel* m, const srData* d, const double* x) {
  double sum = 0.0;
  for (int i = 0; i < m->nv; ++i) {
    for (int k = m->M_row[i]; k < m->M_row[i + 1]; ++k) sum += x[i] * d->M[k] * x[m->M_column[k]];
  }
  return sqrt(fmax(sum, 0.0));
}

static double diagonal(const srModel* m, const srData* d, int i) {
  for (int k = m->M_row[i]; k < m->M_row[i + 1]; ++k) {
    if (m->M_column[k] == i) return d->M[k];
  }
  return 0.0;
}

// Velocities wrong by rtol and atol, in the same norm.
static double error_norm(const srModelSystem* s, const double* v, double rtol, double atol) {
  double sum = 0.0;
  for (int i = 0; i < s->m->nv; ++i) {
    const double error = atol + rtol * fabs(v[i]);
    sum += diagonal(s->m, s->d, i) * error * error;
  }
  return sqrt(fmax(sum, 0.0));
}

bool sr_watch_correction(const srModelSystem* s, const double* v, const double* x) {
  const double speed = mass_norm(s->m, s->d, v), size = mass_norm(s->m, s->d, x);
  const double error = error_norm(s, v, s->rtol, s->atol);
  double most = CORRECTION_MOST * speed;
  if (error > 0.0) most = fmin(CORRECTION_ERRORS * error, fmax(most, 10.0 * error));
  most = fmax(most, error_norm(s, v, 0.0, AT_REST));
  if (size <= most) return true;
  (void)snprintf(
      s->d->trouble, sizeof s->d->trouble,
      "the constraints are singular near t = %.9g: putting the velocities back on them would change these by %.2g "
      "of their size; hem5 and mdop5 pass such positions",
      s->d->t, size / fmax(speed, size));
  return false;
}

// ---- rows ---------------------------------------------------------------------------------------------------------------

static double speed_of(int n, const double* v) {
  double speed = 1.0;
  for (int i = 0; i < n; ++i) speed = fmax(speed, fabs(v[i]));
  return speed;
}

int sr_watch_rows(srModelSystem* s, double t, const double* v, const double* rate) {
  const srModel* m = s->m;
  const double speed = speed_of(m->nv, v);
  const bool keeps = s->project || s->partition != NULL || !s->rates_used;
  for (int i = 0; i < m->ng; ++i) {
    const double off = i < m->np ? fabs(s->d->g[i]) : fabs(rate[i]) / speed;
    // A method that projects only beyond a violation leaves that much.
    if (off <= fmax(fmax(TOLERANCES_MOST * m->row[i].tolerance, ROUNDING_MOST), s->violation_most)) continue;
    if (keeps) {
      (void)snprintf(s->d->trouble, sizeof s->d->trouble,
                     "%s cannot be kept together with the other constraints: it is off by %.3g", m->row[i].name, off);
      return 1;
    }
    if (s->off_row > 0) return 0;
    s->off_row = i + 1;
    s->off_t = t;
    s->off = off;
  }
  return 0;
}

int sr_watch_rise(srModelSystem* s, srRankSeen seen) {
  const int before = s->rank_most;
  if (seen.rank <= before) return 0;
  s->rank_most = seen.rank;
  if (before <= 0 || s->off_row == 0) return 0;
  (void)snprintf(
      s->d->trouble, sizeof s->d->trouble,
      "after a drift (%.80s is off) the rank of the constraints rises from %d to %d, over what it was: take another "
      "stabilization or alpha",
      s->m->row[s->off_row - 1].name, before, seen.rank);
  return -1;
}

void sr_watch_acceleration(srModelSystem* s, const double* a) {
  const srModel* m = s->m;
  srData* d = s->d;
  double most = 0.0;
  if (a == NULL || m->ng == 0) return;
  for (int i = 0; i < m->ndriver && !m->looped; ++i) {
    most = fmax(most, fabs(a[m->driver[i].dof] - d->motion[3 * i + 2]));
  }
  if (m->looped) {
    sr_driver_motion(m, d);
    if (sr_constraints(m, d) != 0 || sr_constraint_gamma(m, d) != 0) return;
  }
  for (int i = 0; i < m->ng && m->looped; ++i) {
    double sum = -d->gamma[i];
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; ++k) sum += d->G[k] * a[m->G_index[k]];
    most = fmax(most, fabs(sum));
  }
  s->violation_acceleration = fmax(s->violation_acceleration, most);
}

int sr_watch_contradiction(const srModel* m, const srData* d, double* has, double* wants) {
  const double speed = speed_of(m->nv, d->v);
  for (int i = 0; i < m->ng; ++i) {
    double sum = 0.0, size = fabs(d->gamma[i]);
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; ++k) {
      const double part = d->G[k] * d->a[m->G_index[k]];
      sum += part;
      size += fabs(part);
    }
    const double most = CONTRADICTION_MOST * size + TOLERANCES_MOST * m->row[i].tolerance * speed * speed;
    if (fabs(sum - d->gamma[i]) <= most) continue;
    *has = sum;
    *wants = d->gamma[i];
    return i;
  }
  return -1;
}
