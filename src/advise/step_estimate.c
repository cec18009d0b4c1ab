// Steps that a motion requires by its smoothness. For x' = f(t) the error estimate of dopri5 is, to leading order,
//   e = h^5 x^(5) sum_i (b_i - bhat_i) c_i^4 / 4!      and h^5 x^(5) = 5^5 times the fifth difference over h/5
// so that samples of x alone give it, without rates: a fast mode at rest, however stiff, contributes nothing. The walk
// takes the longest step with |e| <= 1 in the norm of the error control (dopri5.c), times its safety.
#include <math.h>
#include <sarrus/recommend.h>
#include <stdlib.h>

#include "base/base.h"
#include "integrate/dopri5.h"

#define SAFETY 0.9
#define PIECES 5  // of a step

typedef struct Step {
  double h, time;  // time: that was walked with this h
} Step;

typedef struct Walk {
  const srTrajectory* x;
  double rtol, atol, spacing, weight;
  const double* rate;
  int nrate;
  Step* step;
  int nstep;
} Walk;

// e over 5^5 h^5 x^(5), from the coefficients.
static double error_weight(void) {
  double sum = 0.0;
  for (int i = 0; i < 7; ++i) {
    const double c = i < 6 ? sri_dopri5_tableau.c[i] : 1.0;
    sum += sri_dopri5_error[i] * c * c * c * c;
  }
  return fabs(sum) / 24.0 * 3125.0;
}

// Error over tolerance of the step from sample j over 5 s samples.
static double error_of(const Walk* w, int j, int s) {
  static const double difference[PIECES + 1] = {-1.0, 5.0, -10.0, 10.0, -5.0, 1.0};
  const int n = sr_trajectory_width(w->x) - 1;
  const double* first = w->x->sample + (size_t)j * (size_t)(n + 1) + 1;
  const size_t stride = (size_t)s * (size_t)(n + 1);
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    double d = 0.0;
    for (int k = 0; k <= PIECES; ++k) d += difference[k] * first[(size_t)k * stride + (size_t)i];
    const double size = fmax(fabs(first[i]), fabs(first[PIECES * stride + (size_t)i]));
    const double e = w->weight * d / fmax(w->atol + w->rtol * size, 1e-300);
    sum += e * e;
  }
  return n > 0 ? sqrt(sum / n) : 0.0;
}

static int next_size(int s) { return s < 4 ? s + 1 : s + s / 3; }

// The longest step from sample j; *reach: the number of samples it spans.
static double longest(const Walk* w, int j, int* reach) {
  const int most = (w->x->filled - 1 - j) / PIECES;
  double err = error_of(w, j, 1);
  *reach = PIECES;
  if (err > 1.0) return SAFETY * PIECES * w->spacing * pow(err, -1.0 / 5.0);
  int s = 1;
  for (int t = next_size(s); t <= most; t = next_size(t)) {
    const double e = error_of(w, j, t);
    if (e > 1.0) break;
    s = t;
    err = e;
  }
  *reach = PIECES * s;
  const double more = fmin(1.5, pow(fmax(err, 1e-30), -1.0 / 5.0));  // up to the next one that was tried
  return fmax(SAFETY * more, 1.0) * PIECES * s * w->spacing;
}

static double rate_at(const Walk* w, double place) {
  if (w->nrate == 0) return 0.0;
  const int part = (int)(place * w->nrate);
  return w->rate[part < w->nrate ? part : w->nrate - 1];
}

static int by_length(const void* a, const void* b) {
  const Step *x = a, *y = b;
  return x->h < y->h ? -1 : x->h > y->h;
}

static double median(Step* step, int n, double time) {
  double sum = 0.0;
  qsort(step, (size_t)n, sizeof *step, by_length);
  for (int i = 0; i < n; ++i) {
    sum += step[i].time;
    if (sum >= 0.5 * time) return step[i].h;
  }
  return n > 0 ? step[n - 1].h : 0.0;
}

static void walk(Walk* w, srStepEstimate* out) {
  const int last = w->x->filled - 1;
  for (int j = 0, reach; j + PIECES <= last; j += reach) {
    const double h = longest(w, j, &reach), time = reach * w->spacing;
    out->steps += time / h;
    out->steps_explicit += time * fmax(1.0 / h, rate_at(w, (j + 0.5 * reach) / last));
    w->step[w->nstep++] = (Step){h, time};
  }
}

srStatus sr_step_estimate(const srTrajectory* x, double rtol, double atol, const double* rate, int nrate,
                          srStepEstimate* out) {
  *out = (srStepEstimate){0};
  if (x->filled <= PIECES) return SR_INPUT;
  const size_t width = (size_t)sr_trajectory_width(x), last = (size_t)x->filled - 1;
  Walk w = {.x = x, .rtol = rtol, .atol = atol, .rate = rate, .nrate = rate != NULL ? nrate : 0};
  w.spacing = (x->sample[last * width] - x->sample[0]) / (double)last;
  w.weight = error_weight();
  w.step = sr_alloc((last / PIECES + 1) * sizeof *w.step);
  if (w.step == NULL) return SR_MEMORY;
  walk(&w, out);
  double time = 0.0;
  for (int i = 0; i < w.nstep; ++i) time += w.step[i].time;
  out->h = median(w.step, w.nstep, time);
  sr_free(w.step);
  return SR_OK;
}
