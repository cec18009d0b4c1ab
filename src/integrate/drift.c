// Monitors the constraints after a step: that all equations hold, also those left out, and whether a method without singularity
// crossing has passed a singular position.
//
// Redundant equations are left out of the system; that they hold nevertheless is what makes them redundant. A method that enforces the
// constraints refuses a step that ends with a large violation; one that does not records it. Near a position where rows become
// dependent the motion branches, and a velocity correction by the least change may turn the velocities into another branch or
// remove them: its size is g over sigma.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/constrained.h"
#include "integrate/control.h"

#define PASSED_BELOW 1e-2     // a distance with a minimum below this counts as a singular position
#define PASSED_BETWEEN 0.5    // and one that extrapolates to zero between two steps, from below this
#define FAR 0.8               // sigma over its largest value, above which no singular position is near
#define NEAR_SINGULAR 1e-2    // sigma below which corrections are checked
#define CORRECTION_MOST 1e-2  // of the velocities in a step: 1e-4 of the energy
#define AT_REST 1e-9          // rad/s or m/s: corrections of this size are ignored
#define ROUNDING_MOST 1e-9    // of an equation: below it there is no violation, whatever its tolerance
#define TOLERANCES_MOST 1e3   // of an equation in a run

static bool is_index1(const srIntegrator* integrator) { return integrator->ops->method.index <= 1; }

bool sri_keeps(const srIntegrator* integrator) {
  if (is_index1(integrator)) return integrator->project > SR_PROJECT_NONE || integrator->options.partition;
  return integrator->options.project != SR_PROJECT_NONE && !integrator->ops->method.drifts;
}

bool sri_crosses(const srIntegrator* integrator) {
  // Drift turns the intersection of two branches into a bend, which a crossing step would not follow.
  if (is_index1(integrator) && integrator->project <= SR_PROJECT_NONE) return false;
  const bool planned = integrator->constrained->crossing.theta > 0;  // by control.c
  return planned && sri_is_adaptive(integrator) && !integrator->options.no_crossing;
}

// ---- rows -------------------------------------------------------------------------------------------------------------

static const char* name_of(const srIntegrator* integrator, int row, double* tolerance, char* buffer, size_t size) {
  const srSystem* s = &integrator->system;
  const char* name = s->row != NULL ? s->row(s->user, row, tolerance) : NULL;
  if (name != NULL) return name;
  (void)snprintf(buffer, size, "constraint equation %d", row + 1);
  return buffer;
}

int sri_monitor_rows(srIntegrator* integrator, double t) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  const bool keeps = sri_keeps(integrator);
  if (s->row == NULL || (!keeps && (!is_index1(integrator) || c->off_row > 0))) return SRI_DONE;
  const double speed = fmax(1.0, sri_largest(s->nv, integrator->x_new + s->nq));
  // A method that projects only beyond a violation leaves that much.
  const double least = fmax(ROUNDING_MOST, integrator->options.violation_most);
  for (int k = 0; k < s->ng; ++k) {
    const double off = k < s->np ? fabs(c->g[k]) : fabs(c->r[k]) / speed;
    double tolerance = 0.0;
    char buffer[48];
    if (off <= least) continue;
    const char* name = name_of(integrator, k, &tolerance, buffer, sizeof buffer);
    if (off <= TOLERANCES_MOST * tolerance) continue;
    if (keeps) {
      (void)snprintf(integrator->reason, sizeof integrator->reason,
                     "%.80s cannot be kept together with the other constraints: it is off by %.3g", name, off);
      return SRI_REFUSED;
    }
    c->off_row = k + 1;
    c->off_t = t;
    c->off = off;
    return SRI_DONE;
  }
  return SRI_DONE;
}

int sri_monitor_rise(srIntegrator* integrator, int before) {
  const srConstrained* c = integrator->constrained;
  double tolerance;
  char buffer[48];
  if (c->off_row == 0) return SRI_DONE;
  (void)snprintf(integrator->reason, sizeof integrator->reason,
                 "after a drift (%.60s is off) the rank of the constraints rises from %d to %d, over what it was: take "
                 "another stabilization or alpha",
                 name_of(integrator, c->off_row - 1, &tolerance, buffer, sizeof buffer), before, c->rank);
  return SRI_STOP;
}

int sri_drifted(const srIntegrator* integrator, double* t, double* off) {
  const srConstrained* c = integrator->constrained;
  if (c == NULL || c->off_row == 0) return -1;
  *t = c->off_t;
  *off = c->off;
  return c->off_row - 1;
}

// ---- singular positions -----------------------------------------------------------------------------------------------

// sqrt(x^T M x); M x goes to out.
static double mass_norm(const srConstrained* c, const double* x, double* out) {
  const srmSaddleShape square = {.nv = c->shape.nv, .ng = c->shape.nv, .G = c->shape.M};
  double sum = 0.0;
  srm_rows_times(&square, c->M, x, out);
  for (int i = 0; i < c->shape.nv; ++i) sum += x[i] * out[i];
  return sqrt(fmax(sum, 0.0));
}

static double trace(const srConstrained* c) {
  double sum = 0.0;
  for (int i = 0; i < c->shape.nv; ++i) {
    const srEntries row = sri_entries(c->shape.M, c->shape.nv, c->M, i);
    for (int e = 0; e < row.n; ++e) sum += sri_column(&row, e) == i ? row.value[e] : 0.0;
  }
  return sum;
}

int sri_monitor_correction(srIntegrator* integrator, double t) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  if (sri_is_adaptive(integrator) || !c->projected || c->metric != SR_METRIC_MASS || !(c->sigma < NEAR_SINGULAR)) {
    return SRI_DONE;
  }
  const double *v = integrator->x_new + s->nq, *before = integrator->x_before + s->nq;
  for (int i = 0; i < s->nv; ++i) c->dv[i] = v[i] - before[i];
  if (sri_largest(s->nv, c->dv) == 0.0) return SRI_DONE;
  const double size = mass_norm(c, c->dv, c->f), speed = mass_norm(c, before, c->f);
  if (size <= CORRECTION_MOST * speed || size <= AT_REST * sqrt(trace(c))) return SRI_DONE;
  (void)snprintf(
      integrator->reason, sizeof integrator->reason,
      "the constraints are singular near t = %.9g: putting the velocities back on them would change these by "
      "%.2g of their size; hem5 and mdop5 pass such positions",
      t, size / fmax(speed, size));
  return SRI_REFUSED;
}

// Smallest distance of a row from the others at the end of the step, each relative to the largest length it has had: it goes
// to zero more nearly linearly than sigma, which steps not planned for it sample too rarely.
// < 0: sigma shows that none is near.
static double distance(srConstrained* c) {
  const srmRowsChoice choice = {.tau = c->tau, .scale = c->scale};
  const double* metric = c->metric == SR_METRIC_MASS ? c->M : NULL;
  double smallest = 1.0;
  c->sigma_most = fmax(c->sigma_most, c->sigma);
  if (c->singular) return 0.0;
  // The pivots of some factors are such distances.
  if (!srm_saddle_has_distance(c->end) && c->sigma >= FAR * c->sigma_most) return -1.0;
  const double shown = srm_saddle_distance(c->end, metric, c->G, c->longest);
  if (shown >= 0.0) return shown;
  if (c->sigma >= FAR * c->sigma_most) return -1.0;
  if (srm_rows_classify(c->rows, metric, c->G, &choice, c->trial) != c->rank) return 0.0;
  for (int k = 0; k < c->shape.ng; ++k) {
    if (c->trial[k] != 0) smallest = fmin(smallest, srm_rows_pivot(c->rows, k));
  }
  return smallest;
}

// The distance falls, and rises again: was it zero in between? The lines through the two before and through the two after then
// both come to zero there. Writes the time.
static bool passed(const srDistances* h, double t, double now, double* when) {
  const double *x = h->distance, *at = h->t;
  *when = at[2];
  if (h->count >= 2 && x[2] < PASSED_BELOW && x[2] < x[1] && now > x[2]) return true;
  if (h->count < 3 || x[1] >= x[0] || now <= x[2] || fmax(x[1], x[2]) > PASSED_BETWEEN) return false;
  const double before = at[1] + x[1] * (at[1] - at[0]) / (x[0] - x[1]);
  const double after = at[2] - x[2] * (t - at[2]) / (now - x[2]);
  const double hair = 0.1 * (at[2] - at[1]);
  *when = 0.5 * (before + after);
  return fmax(before, after) < at[2] + hair && fmin(before, after) > at[1] - hair;
}

void sri_monitor_passing(srIntegrator* integrator, double t) {
  srConstrained* c = integrator->constrained;
  srDistances* h = &c->history;
  double when = t;
  if (sri_crosses(integrator)) return;
  const double now = distance(c);
  if (now < 0.0) {
    h->count = 0;
    return;
  }
  if (passed(h, t, now, &when)) {
    sri_rank_event(integrator, when, SR_RANK_NEARED, c->rank, c->rank, -1);
    h->count = 0;
  }
  for (int i = 0; i < 2; ++i) {
    h->distance[i] = h->distance[i + 1];
    h->t[i] = h->t[i + 1];
  }
  h->distance[2] = now;
  h->t[2] = t;
  if (h->count < 3) ++h->count;
}
