// Distance of a run from a reference: both are sampled at the same times, and compared on the manifold of their positions.
//   e(t_k) = max_i |x_i - ref_i| / s_i      s_i by unit, so that metres and radians combine into one number
#include <float.h>
#include <math.h>
#include <sarrus/compare.h>
#include <string.h>

#include "base/base.h"

#define LEAST_LENGTH 1e-9  // m
#define SLOW_PART 1e-3     // of its largest magnitude, which a coordinate that moves slowly covers in the run

// ---- trajectories ---------------------------------------------------------------------------------------------------

int sr_trajectory_width(const srTrajectory* x) { return 1 + x->nq + x->nv + x->ny; }

srTrajectory* sr_trajectory_create(const srModel* m, int n) {
  srTrajectory* x = sr_alloc(sizeof *x);
  if (x == NULL) return NULL;
  *x = (srTrajectory){.n = n < 2 ? 2 : n, .nq = m->njq, .nv = m->njv, .ny = m->ny - m->ny_slot};  // slots are reused
  x->sample = sr_alloc((size_t)x->n * (size_t)sr_trajectory_width(x) * sizeof(double));
  if (x->sample != NULL) return x;
  sr_free(x);
  return NULL;
}

void sr_trajectory_destroy(srTrajectory* x) {
  if (x == NULL) return;
  sr_free(x->sample);
  sr_free(x);
}

typedef struct Sampling {
  const srRunOptions* options;
  srTrajectory* out;
} Sampling;

static int take_row(void* user, const double* row) {
  srTrajectory* x = ((Sampling*)user)->out;
  const size_t width = (size_t)sr_trajectory_width(x);
  if (x->filled < x->n) memcpy(x->sample + (size_t)x->filled++ * width, row, width * sizeof *row);
  return 0;
}

static int pass_progress(void* user, double t, double t_end) {
  const srRunOptions* o = ((Sampling*)user)->options;
  return o->progress(o->user, t, t_end);
}

srStatus sr_run_sampled(const srModel* m, srData* d, const srRunOptions* options, srMessages* messages,
                        srRunResult* result, srTrajectory* out) {
  Sampling sampling = {options, out};
  srRunOptions o = *options;
  const double t0 = d->t;
  o.every = (o.t_end - t0) / (double)(out->n - 1);
  o.row = take_row;
  if (o.progress != NULL) o.progress = pass_progress;
  o.user = &sampling;
  out->filled = 0;
  const srStatus status = sr_run(m, d, &o, messages, result);
  // A run that stopped early outputs its last state too: that is none of the samples.
  const size_t width = (size_t)sr_trajectory_width(out);
  const double late = out->filled > 0 ? out->sample[(size_t)(out->filled - 1) * width] : t0;
  if (out->filled > 0 && fabs(late - (t0 + (double)(out->filled - 1) * o.every)) > 1e-6 * o.every) --out->filled;
  return status;
}

// ---- scales ---------------------------------------------------------------------------------------------------------

static double largest(const srTrajectory* x, int column) {
  const size_t width = (size_t)sr_trajectory_width(x);
  double most = 0.0;
  for (int k = 0; k < x->filled; ++k) most = fmax(most, fabs(x->sample[(size_t)k * width + (size_t)column]));
  return most;
}

// Largest magnitude of the coordinates of that unit, among n columns from `first` on.
static double unit_scale(const srTrajectory* x, int first, int n, const char* const* units, const char* unit) {
  double most = 0.0;
  for (int i = 0; i < n; ++i) {
    if (strcmp(units[i], unit) == 0) most = fmax(most, largest(x, first + i));
  }
  return most;
}

static double time_of(const srTrajectory* x) {
  return x->sample[(size_t)(x->filled - 1) * (size_t)sr_trajectory_width(x)] - x->sample[0];
}

// Position differences are in the space of v: a speed in m/s belongs to a position in m. Speeds of coordinates at rest are
// only rounding: they are scaled by a slow motion.
static void scales(const srModel* m, const srTrajectory* ref, double* of_q, double* of_v) {
  const double metres = fmax(LEAST_LENGTH, unit_scale(ref, 1, ref->nq, m->q_unit, "m"));
  const double radians = fmax(1.0, unit_scale(ref, 1, ref->nq, m->q_unit, "rad"));
  const double slowly = SLOW_PART / fmax(time_of(ref), DBL_MIN);
  for (int i = 0; i < ref->nv; ++i) {
    of_q[i] = strcmp(m->v_unit[i], "m/s") == 0 ? metres : radians;
    of_v[i] = fmax(slowly * of_q[i], unit_scale(ref, 1 + ref->nq, ref->nv, m->v_unit, m->v_unit[i]));
  }
}

// ---- distance -------------------------------------------------------------------------------------------------------

// fmax would skip a NaN, which is the worst of all errors.
static double worse(double a, double b) { return isnan(a) || a > b ? a : b; }

static double distance(const double* a, const double* b, const double* scale, int n) {
  double most = 0.0;
  for (int i = 0; i < n; ++i) most = worse(fabs(a[i] - (b != NULL ? b[i] : 0.0)) / scale[i], most);
  return most;
}

static double state_distance(const srTrajectory* ref, const double* a, const double* b) {
  double most = 0.0;
  for (int i = 0; i < ref->ny; ++i) {
    const double scale = largest(ref, 1 + ref->nq + ref->nv + i);
    most = worse(fabs(a[i] - b[i]) / (scale > 0.0 ? scale : 1.0), most);
  }
  return most;
}

static srTrajectoryError no_error_known(void) {
  const double x = (double)NAN;
  return (srTrajectoryError){x, x, x, x, x, x, x};
}

static srTrajectoryError compare_samples(const srModel* m, const srTrajectory* ref, const srTrajectory* x,
                                         double* work) {
  const size_t width = (size_t)sr_trajectory_width(ref), nq = (size_t)ref->nq, nv = (size_t)ref->nv;
  double *of_q = work, *of_v = of_q + nv, *dxi = of_v + nv;
  srTrajectoryError e = {0};
  scales(m, ref, of_q, of_v);
  for (size_t k = 0; k < (size_t)ref->filled; ++k) {
    const double *a = ref->sample + k * width + 1, *b = x->sample + k * width + 1;
    sr_difference(m, a, b, dxi);
    e.end_q = distance(dxi, NULL, of_q, ref->nv);
    e.end_v = distance(b + nq, a + nq, of_v, ref->nv);
    e.end_y = state_distance(ref, a + nq + nv, b + nq + nv);
    e.q = worse(e.end_q, e.q);
    e.v = worse(e.end_v, e.v);
    e.y = worse(e.end_y, e.y);
  }
  e.state = worse(e.y, e.q);
  if (ref->nv == 0) e.q = e.v = e.end_q = e.end_v = (double)NAN;
  if (ref->ny == 0) e.y = e.end_y = (double)NAN;
  return e;
}

srTrajectoryError sr_trajectory_error(const srModel* m, const srTrajectory* reference, const srTrajectory* x) {
  const bool fit = reference->n == x->n && reference->nq == x->nq && reference->nv == x->nv && reference->ny == x->ny &&
                   m->nq == x->nq && m->nv == x->nv;
  if (!fit || reference->filled < 1 || reference->filled != x->filled) return no_error_known();
  double* work = sr_alloc((size_t)(3 * x->nv + 1) * sizeof *work);
  if (work == NULL) return no_error_known();
  const srTrajectoryError e = compare_samples(m, reference, x, work);
  sr_free(work);
  return e;
}
