// What the explicit Runge-Kutta methods share.
//   k_r = F(t + c_r h, x + h sum_{j<r} a_rj k_j; tau_r),   x_new = x + h sum_j b_j k_j       Hairer, Norsett, Wanner I, II.1
// Positions are added, also where they hold unit quaternions: the rates must be those of q/|q|, and `accepted` puts q
// back on the sphere. The distance from it is of the size of the error of the step, so the order is kept.
#include "integrate/explicit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/constrained.h"
#include "math/v4.h"

size_t sri_rk_room(const srTableau* tableau, int n) { return (size_t)(tableau->stages + 2) * (size_t)sri_fours(n); }

void sri_rk_init(srIntegrator* integrator, srRungeKutta* rk, const srTableau* tableau) {
  const size_t n = (size_t)sri_fours(integrator->n);
  rk->tableau = tableau;
  rk->first = SRI_FIRST_UNKNOWN;
  for (int r = 0; r <= tableau->stages; ++r) rk->k[r] = integrator->room + (size_t)r * n;
  rk->quartic = integrator->room + (size_t)(tableau->stages + 1) * n;
}

// ---- evaluation -------------------------------------------------------------------------------------------------------

int sri_rates(srIntegrator* integrator, double t, const double* x, double tau, double* xdot) {
  const srSystem* s = &integrator->system;
  const srConstrained* c = integrator->constrained;
  const int v = s->nq, y = s->nq + s->nv, w = y + s->ny;
  const bool constrained = c != NULL && c->index1;
  if (constrained && !c->chosen && sri_choose_rows(integrator) != SR_OK) return SRI_STOP;
  if (constrained && !sri_is_free(integrator)) return sri_index1(integrator, t, x, tau, xdot);
  ++integrator->stats.evaluations;
  return sri_outcome(
      (constrained ? s->rates_free : s->rates)(s->user, t, x, x + v, x + y, tau, xdot, xdot + v, xdot + y, xdot + w));
}

double sri_rk_tau(const srTableau* tableau, int r, double h) {
  return tableau->tau != NULL ? tableau->tau[r] * h : SR_TAU_ELEMENT;
}

// sum a_j k_j, j < count, of four entries and of one.
SRM_INLINE v4 sum_four(int count, const double* a, double* const* k, int i) {
  v4 sum = v4_zero();
  for (int j = 0; j < count; ++j) {
    if (a[j] != 0.0) sum += a[j] * *(const v4_any*)(k[j] + i);
  }
  return sum;
}
SRM_INLINE double sum_one(int count, const double* a, double* const* k, int i) {
  double sum = 0.0;
  for (int j = 0; j < count; ++j) {
    if (a[j] != 0.0) sum += a[j] * k[j][i];
  }
  return sum;
}

SRM_CLONES void sri_combine(int n, const double* x, double h, int count, const double* a, double* const* k,
                            double* out) {
  int i = 0;
  for (; i + 4 <= n; i += 4) *(v4_any*)(out + i) = *(const v4_any*)(x + i) + v4_all(h) * sum_four(count, a, k, i);
  for (; i < n; ++i) out[i] = x[i] + h * sum_one(count, a, k, i);
}

SRM_CLONES void sri_sum(int n, double h, int count, const double* a, double* const* k, double* out) {
  int i = 0;
  for (; i + 4 <= n; i += 4) *(v4_any*)(out + i) = v4_all(h) * sum_four(count, a, k, i);
  for (; i < n; ++i) out[i] = h * sum_one(count, a, k, i);
}

SRM_CLONES static int not_finite(int n, const double* x) {
  int i = 0;
  for (; i + 16 <= n; i += 16) {  // 0 times what is not finite is no number
    const v4_any* at = (const v4_any*)(x + i);
    const v4 sum = 0 * at[0] + 0 * at[1] + 0 * at[2] + 0 * at[3];
    if (!((sum[0] + sum[1]) + (sum[2] + sum[3]) == 0)) break;
  }
  for (; i < n; ++i) {
    if (!isfinite(x[i])) return i;
  }
  return -1;
}

// Small systems need no vectors.
int sri_not_finite(const srIntegrator* integrator, const double* x) {
  const int n = integrator->ncontrol;
  if (n >= 16) return not_finite(n, x);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += 0 * x[i];
  return sum == 0 ? -1 : not_finite(n, x);
}

// ---- a step -----------------------------------------------------------------------------------------------------------

srStatus sri_rk_first(srIntegrator* integrator, srRungeKutta* rk, double tau) {
  const srStatus status = sri_choose_rows(integrator);
  if (status != SR_OK) return status;
  if (rk->first == SRI_FIRST_CLOSING) {
    double* closing = rk->k[rk->tableau->stages];
    rk->k[rk->tableau->stages] = rk->k[0];
    rk->k[0] = closing;
    rk->first = SRI_FIRST_READY;
  }
  if (rk->first == SRI_FIRST_READY) return SR_OK;
  // A smaller step does not help: the rates at the present state are part of every step.
  int outcome = sri_rates(integrator, integrator->t, integrator->x, tau, rk->k[0]);
  int bad = outcome == SRI_DONE ? sri_not_finite(integrator, rk->k[0]) : -1;
  if (outcome != SRI_DONE) {
    return sri_fail(integrator, "the equations of motion could not be evaluated at t = %.9g", integrator->t);
  }
  if (bad >= 0) {
    char entry[32];
    sri_entry_name(integrator, bad, entry, sizeof entry);
    return sri_fail(integrator, "the rate of %s is not a finite number at t = %.9g", entry, integrator->t);
  }
  rk->first = SRI_FIRST_READY;
  return SR_OK;
}

int sri_rk_stages(srIntegrator* integrator, srRungeKutta* rk, double h, double t_new) {
  const srTableau* tableau = rk->tableau;
  const int s = tableau->stages;
  for (int r = 1; r <= s; ++r) {
    const int n = sri_fours(r < s ? integrator->ncontrol : integrator->n);  // rates do not depend on the quadratures
    sri_combine(n, integrator->x, h, r, tableau->a[r], rk->k, integrator->x_new);
    // Callbacks never receive values that are not finite.
    if (sri_not_finite(integrator, integrator->x_new) >= 0) return SRI_NOT_FINITE;
    if (r == s) break;
    double t = tableau->c[r] == 1.0 ? t_new : integrator->t + tableau->c[r] * h;
    int outcome = sri_rates(integrator, t, integrator->x_new, sri_rk_tau(tableau, r, h), rk->k[r]);
    if (outcome != SRI_DONE) return outcome;
  }
  return SRI_DONE;
}

int sri_rk_close(srIntegrator* integrator, srRungeKutta* rk, double t_new, double tau) {
  double* closing = rk->k[rk->tableau->stages];
  int outcome = sri_rates(integrator, t_new, integrator->x_new, tau, closing);
  if (outcome != SRI_DONE) return outcome;
  return sri_not_finite(integrator, closing) >= 0 ? SRI_NOT_FINITE : SRI_DONE;
}

// Do rates evaluated at x_old hold at x_new? Rescaling a quaternion does not change them (they are those of q/|q|), so
// small changes of q are ignored; changes of v and y must be rounding.
static bool rates_hold(const srIntegrator* integrator, const double* x_old, const double* x_new) {
  for (int i = 0; i < integrator->ncontrol; ++i) {
    double allowed = i < integrator->system.nq ? 1e-9 : 8.0 * DBL_EPSILON;
    if (!(fabs(x_new[i] - x_old[i]) <= allowed * fabs(x_old[i]))) return false;
  }
  return true;
}

static void count_step(srIntegratorStats* stats, double h) {
  stats->step_smallest = stats->steps == 0 ? h : fmin(stats->step_smallest, h);
  stats->step_largest = fmax(stats->step_largest, h);
  stats->step_last = h;
  ++stats->steps;
}

// x_new becomes the state.
static void take(srIntegrator* integrator, double t_new, double h) {
  const size_t size = (size_t)integrator->n * sizeof(double);
  memcpy(integrator->x_before, integrator->x, size);
  memcpy(integrator->x, integrator->x_new, size);
  integrator->t_before = integrator->t;
  integrator->t = t_new;
  integrator->h = h;
  ++integrator->taken;
  count_step(&integrator->stats, h);
}

int sri_accept(srIntegrator* integrator, double t_new, double h, bool* same) {
  const srSystem* s = &integrator->system;
  const size_t size = (size_t)integrator->n * sizeof(double);
  double* x_new = integrator->x_new;
  if (same != NULL) *same = true;
  if (s->accepted == NULL && integrator->constrained == NULL) {
    take(integrator, t_new, h);
    return SRI_DONE;
  }
  if (same != NULL || integrator->constrained != NULL)
    memcpy(integrator->x_before, x_new, size);  // no longer needed as the start of the previous step
  if (integrator->constrained != NULL) {
    int outcome = sri_finish_constraints(integrator, t_new);
    if (outcome != SRI_DONE) return outcome;
    if (sri_not_finite(integrator, x_new) >= 0) return SRI_NOT_FINITE;
  }
  if (s->accepted != NULL) {
    int answer = s->accepted(s->user, t_new, x_new, x_new + s->nq, x_new + s->nq + s->nv);
    if (answer > 0) {
      (void)snprintf(integrator->reason, sizeof integrator->reason, "the state that it leads to is refused");
    }
    if (answer != 0) return answer > 0 ? SRI_REFUSED : SRI_STOP;
    if (sri_not_finite(integrator, x_new) >= 0) return SRI_NOT_FINITE;
  }
  // Discrete states are not visible here and may have changed the forces.
  if (same != NULL) *same = (s->accepted == NULL || s->nz == 0) && rates_hold(integrator, integrator->x_before, x_new);
  take(integrator, t_new, h);
  return SRI_DONE;
}

int sri_accept_state(srIntegrator* integrator, double t, double* x) {
  bool same = false;
  memcpy(integrator->x_new, x, (size_t)integrator->ncontrol * sizeof *x);
  const int outcome = sri_accept(integrator, t, t - integrator->t, &same);
  if (outcome == SRI_DONE) memcpy(x, integrator->x, (size_t)integrator->ncontrol * sizeof *x);
  return outcome;
}

// ---- dense output -----------------------------------------------------------------------------------------------------

SRM_CLONES void sri_hermite(const srIntegrator* integrator, const double* k0, const double* k1, double theta, int first,
                            int count, double* out) {
  const double h = integrator->h, *before = integrator->x_before + first, *after = integrator->x + first;
  int i = 0;
  k0 += first, k1 += first;
  for (; i + 4 <= count; i += 4) {
    const v4 x0 = *(const v4_any*)(before + i), d = *(const v4_any*)(after + i) - x0,
             b = v4_all(h) * *(const v4_any*)(k0 + i) - d, c = d - v4_all(h) * *(const v4_any*)(k1 + i) - b;
    *(v4_any*)(out + i) = x0 + v4_all(theta) * (d + v4_all(1.0 - theta) * (b + v4_all(theta) * c));
  }
  for (; i < count; ++i) {
    const double x0 = before[i], d = after[i] - x0, b = h * k0[i] - d;
    out[i] = x0 + theta * (d + (1.0 - theta) * (b + theta * (d - h * k1[i] - b)));
  }
}

// Once a step: events and rows ask for many states of it.
static void sum_stages(const srIntegrator* integrator, srRungeKutta* rk, const double* dense) {
  if (rk->of_step == integrator->taken) return;
  sri_sum(sri_fours(integrator->n), 1.0, rk->tableau->stages + 1, dense, rk->k, rk->quartic);
  rk->of_step = integrator->taken;
}

void sri_rk_interpolate(const srIntegrator* integrator, srRungeKutta* rk, const double* dense, double theta, int first,
                        int count, double* out) {
  const double bubble = theta * theta * (1.0 - theta) * (1.0 - theta) * integrator->h, *quartic = rk->quartic + first;
  int i = 0;
  sum_stages(integrator, rk, dense);
  sri_hermite(integrator, rk->k[0], rk->k[rk->tableau->stages], theta, first, count, out);
  for (; i + 4 <= count; i += 4) *(v4_any*)(out + i) += bubble * *(const v4_any*)(quartic + i);
  for (; i < count; ++i) out[i] += bubble * quartic[i];
}

// ---- words ------------------------------------------------------------------------------------------------------------

void sri_entry_name(const srIntegrator* integrator, int i, char* buffer, size_t size) {
  const srSystem* s = &integrator->system;
  const char* kind = "position";
  if (i >= s->nq + s->nv) {
    kind = "state";
    i -= s->nq + s->nv;
  } else if (i >= s->nq) {
    kind = "velocity";
    i -= s->nq;
  }
  (void)snprintf(buffer, size, "%s %d", kind, i + 1);
}

void sri_reason(const srIntegrator* integrator, int outcome, char* buffer, size_t size) {
  int bad = outcome == SRI_NOT_FINITE ? sri_not_finite(integrator, integrator->x_new) : -1;
  if (outcome != SRI_NOT_FINITE && integrator->reason[0] != '\0') {
    (void)snprintf(buffer, size, "%s", integrator->reason);
  } else if (bad >= 0) {
    char entry[32];
    sri_entry_name(integrator, bad, entry, sizeof entry);
    (void)snprintf(buffer, size, "%s became infinite or not a number", entry);
  } else if (outcome == SRI_NOT_FINITE) {
    (void)snprintf(buffer, size, "a rate became infinite or not a number");
  } else {
    (void)snprintf(buffer, size, "%s",
                   outcome < 0 ? "the system asked to stop" : "the equations of motion could not be evaluated");
  }
}
