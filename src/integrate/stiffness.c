// Stiffness test of the explicit methods: is the motion smoother than the steps that were taken to follow it?
//
// Six of the last 20 accepted states, evenly spread over W = t_20 - t_1, give the fifth derivative by divided differences, and it gives the
// step that the error control of dopri5 would take if x' were a known function of time:
//   err = rms_i ( 120 C W^5 x_i[t_1 .. t_6] / (atol + rtol |x_i|) ),     C = sum_j (b_j - bhat_j) c_j^4 / 4! = 1.096e-5
//   h_smooth = W err^(-1/5),     factor = h_smooth / (W/19)
// A mode that is at rest adds nothing to err, however fast it would be; an oscillation that is part of the motion makes h_smooth short.
// Nonstiff motions have factors of 1 to 3.5; the steps of an explicit method at its stability bound leave fast modes with
// amplitudes of up to 45 tolerances behind, and the factor is then 10 or more. Between 7 and 40 the steps must also be near the bound:
//   share = part of the steps with h max(r_w, r_g) > 0.45      (rates r_w, r_g: dopri5.c)
// A mode entirely at rest lets the steps grow far beyond the bound before rounding excites it. Two consecutive accepted steps with
//   h max(r_w, r_g) > 5
// where no explicit step of this pair is stable beyond 3.3, show that accuracy would allow more than stability, without waiting for a window.
// Lightly damped modes bound the step at h |lambda| = 0.5 .. 1.3, so the usual test h |lambda| > 3.25 (Hairer's dopri5) does not detect them; and
// chattering contacts are stiff in some steps only, so no number of consecutive stiff steps is required.
#include "integrate/stiffness.h"

#include <math.h>
#include <string.h>

#include "integrate/control.h"

#define SAMPLES 6
#define ERROR_CONSTANT 1.096e-5  // sum (b - bhat) c^4 / 4! of Dormand and Prince's pair
#define FACTOR 7.0               // between the largest seen without stiffness, 3.5, and the least with it, 10
#define FACTOR_SURE 40.0         // stiff whatever the rates are
#define NEAR_BOUND 0.45          // h times the rate of the fastest mode
#define SHARE 0.1
#define WINDOWS 2        // in a row
#define BEYOND 5.0       // h times the rate of the fastest mode, at which no step is stable
#define BEYOND_STEPS 2   // in a row
#define STABLE_MOST 3.3  // the bound of dopri5 on the real axis; on the imaginary one it is 1
#define ERR_LEAST 1e-30

size_t sri_stiffness_room(int n) { return (size_t)SRI_WINDOW * (size_t)n; }

void sri_stiffness_init(srStiffness* s, int n, double* room) {
  s->n = n;
  for (int i = 0; i < SRI_WINDOW; ++i) s->x[i] = room + (size_t)i * (size_t)n;
}

void sri_stiffness_clear(srStiffness* s) {
  s->count = s->row = s->beyond = 0;
  s->last = (srStiffWindow){0};
}

static void put(const srIntegrator* integrator, srStiffness* s, int i) {
  if (s->n > 0) memcpy(s->x[i], integrator->x, (size_t)s->n * sizeof(double));
  s->t[i] = integrator->t;
}

static void begin_window(const srIntegrator* integrator, srStiffness* s) {
  put(integrator, s, 0);
  s->evaluations = integrator->stats.evaluations;
  s->count = 1;
}

void sri_stiffness_start(const srIntegrator* integrator, srStiffness* s) {
  const double t = integrator->t;
  if (s->count > 0 && t > s->t_before && t <= s->t[s->count - 1]) {
    put(integrator, s, s->count - 1);  // the state at the event takes the place of the end of the step
    return;
  }
  sri_stiffness_clear(s);
  begin_window(integrator, s);
  s->t_before = t;
}

// Error of a step of length W, over the tolerance.
static double smoothness(const srIntegrator* integrator, const srStiffness* s) {
  const int last = SRI_WINDOW - 1;
  const double W = s->t[last] - s->t[0];
  double weight[SAMPLES], sum = 0.0;
  int at[SAMPLES];
  for (int k = 0; k < SAMPLES; ++k) at[k] = (k * last + 2) / (SAMPLES - 1);
  for (int k = 0; k < SAMPLES; ++k) {
    weight[k] = 120.0 * ERROR_CONSTANT;
    for (int m = 0; m < SAMPLES; ++m) {
      if (m != k) weight[k] *= W / (s->t[at[k]] - s->t[at[m]]);
    }
  }
  for (int i = 0; i < s->n; ++i) {
    double difference = 0.0;
    for (int k = 1; k < SAMPLES; ++k) difference += weight[k] * (s->x[at[k]][i] - s->x[0][i]);
    const double ratio = difference / sri_allowed_error(integrator, i, fabs(s->x[last][i]));
    sum += ratio * ratio;
  }
  return s->n > 0 ? sqrt(sum / s->n) : 0.0;
}

static void judge(const srIntegrator* integrator, srStiffness* s) {
  const int steps = SRI_WINDOW - 1;
  const double W = s->t[steps] - s->t[0], most = sri_largest_step(integrator);
  const double err = fmax(smoothness(integrator, s), ERR_LEAST);
  int bound = 0;
  for (int i = 1; i <= steps; ++i) bound += s->bound[i];
  s->last = (srStiffWindow){.known = true,
                            .err = err,
                            .factor = fmin(W * pow(err, -0.2), most) * steps / W,
                            .share = (double)bound / steps,
                            .h = W / steps,
                            .cost = (double)(integrator->stats.evaluations - s->evaluations) / W};
  const bool stiff = (s->last.factor > FACTOR && s->last.share >= SHARE) || s->last.factor > FACTOR_SURE;
  s->row = stiff ? s->row + 1 : 0;
  if (stiff && s->total++ == 0) s->t_first = integrator->t;
}

// After a step of length h that accuracy allowed and stability does not: an estimate of the next ones. Their error estimate was within the
// tolerance, and so is the amplitude they left.
static void foresee(srStiffness* s, double h, double bound) {
  if (s->beyond < BEYOND_STEPS) return;
  s->last = (srStiffWindow){
      .known = true, .err = 1.0, .factor = bound / STABLE_MOST, .share = 1.0, .h = h * STABLE_MOST / bound};
}

void sri_stiffness_step(const srIntegrator* integrator, srStiffness* s, double bound) {
  s->t_before = integrator->t_before;
  put(integrator, s, s->count);
  s->bound[s->count] = bound > NEAR_BOUND;
  s->beyond = bound > BEYOND ? s->beyond + 1 : 0;
  foresee(s, integrator->h, bound);
  if (++s->count < SRI_WINDOW) return;
  judge(integrator, s);
  begin_window(integrator, s);
}

bool sri_stiffness_due(const srStiffness* s, int patience) {
  if (s->beyond >= BEYOND_STEPS * patience) return true;
  return s->row > 0 && s->row >= patience * (s->last.factor > FACTOR_SURE ? 1 : WINDOWS);
}
