// HEM5: half-explicit Runge-Kutta of order 5 with 8 stages for index 2.      Brasey (1994), Brasey and Hairer (1993)
//   Q_{i+1} = q_0 + h sum_{j<=i} a_{i+1,j} H(Q_j) V_j           V_{i+1} = v_0 + h sum_{j<=i} a_{i+1,j} A_j
//   [ M_i     -D_i^T ] [ A_i ]   [ f_i ]
//   [ G_{i+1}    0   ] [ L_i ] = [ r_i ]      r_i: G_{i+1} V_{i+1} + b_{i+1} = 0            row 9 of a is b: (q_1, v_1) = (Q_9, V_9)
// M, D, f of the stage, G of the next. So v_1 satisfies its constraints to rounding; positions drift by the error of the
// method and are projected (projection.c). y and w take the same stages. The equations in use are the same in all of them
// (rank.c). Without constraints this is an explicit method on `rates`.
// Coefficients: Hairer's code hem5.f, polished to 30 digits on the order conditions; error estimate from there too (Haddouni et al. 2017,
// eq. 33 with stage *velocities* in e2, as in the code):
//   e1 = |x_1 - X_8|,  e2 = |x_1 - x_0 - h (5/2 X'_7 - 3/2 X'_8)|,  err = e1^2 / (e1 + 0.01 e2)
// Dense output of order 4: q, y, w by weights b_k(theta) over the stages 4..8 and an extra one at c = 0.05; v by the quartic through
// v, v' at both ends and v at theta = 0.540179418, which is solved half-explicitly. Computed on first use.
#include "integrate/hem5.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrate/control.h"
#include "integrate/half_step.h"

// clang-format off
const srHem5Tableau sri_hem5_tableau = {
    .c = {0.0, 0.1, 0.15, 0.361478734657363766151944653929, 0.0853558433548646814197090279598, 0.5, 0.8, 1.0, 1.0},
    .a = {{0.0},
          {0.1},
          {0.0375, 0.1125},
          {0.322216923621605083223386748625, -1.18888332298761195485713759739, 1.2281451340233706377856955027},
          {-0.035011238981299313556012730447, 0.372542060108616365326674967125, -0.27210535355820305830949310203, 0.0199303757857506879585398933116},
          {-0.557654705504190463040132173226, 1.36730728964588769303618116796, -1.73223636046070965028535051786, 0.458777200746751975299716369808, 0.963806575572260444989585153319},
          {0.0865451719356423984758068916752, -0.0881008284794525530612051801181, 0.198127554732906510845378630335, -0.464542267933110743942167200312, 0.16151700911099942005581078953, 0.906453360633014967626376068891},
          {0.0, 0.0, 0.0, 3.62447724875388008815219269648, -0.461772418918292249589484715672, -3.19802462816433769945379691814, 1.03531979832874986089108893733},
          {0.0, 0.0, 0.0, 0.246776066763678465006526108082, 0.210659408748973633607731894671, 0.176921814912501366129608294811, 0.306444644414793177668127506965, 0.059198065160053357588006195471}},
};

// Weights of dense output: b_k(theta) = theta (d1 + theta (d2 + theta (d3 + theta d4))), stages 4, 5, 6, 7, 8 and the extra one.
const double sri_hem5_dense[4][6] = {
    {-0.2661262387118526, -0.4784628694418738, -0.08492247115792709, 0.2500588298423810, -0.1047577768468651, 1.684210526316138},
    {2.963408265225625, 5.405521925140019, 0.9129165649477744, -2.963932600778991, 1.261033213890067, -7.578947368424495},
    {-4.141333547260734, -8.533017606960350, -0.8633784567714418, 6.403467289689607, -2.971000836599169, 10.10526315790209},
    {1.690827587510642, 3.816617960011145, 0.2123061778941055, -3.383148874338215, 1.873923464716025, -4.210526315793703}};
const srHem5Extra sri_hem5_extra = {.c = 0.05, .a = {0.2519444444444446, -0.3861111111111117, 0.1841666666666670}};
// clang-format on
#define THETA_MIDDLE 0.540179418
// Where in a step a singular position should be: away from the nodes.
#define THETA_CROSSING 0.62

#define STAGES 8

typedef struct srHem5 {
  srControl control;
  double* k[STAGES + 1];  // rates of the stages, packed (q, v, y, w); k[8]: the extra stage of dense output
  double* x_stage;        // state of a stage
  double* x_end;          // end of the step before projection
  double* slope[2];       // rates at both ends of the step, for dense output
  double* middle;         // v at THETA_MIDDLE (nv), then scratch for q there (nq)
  bool dense;             // extra stage, slopes and middle are those of the last step
  bool dense_failed;
} srHem5;

static size_t room(const srSystem* system, int n) {
  return (STAGES + 1 + 4) * (size_t)n + (size_t)(system->nv + system->nq);
}

static void init(srIntegrator* integrator) {
  srHem5* work = integrator->work;
  const size_t n = (size_t)integrator->n;
  double* at = integrator->room;
  for (int i = 0; i <= STAGES; ++i, at += n) work->k[i] = at;
  work->x_stage = at;
  work->x_end = at + n;
  work->slope[0] = at + 2 * n;
  work->slope[1] = at + 3 * n;
  work->middle = at + 4 * n;
}

static void start(srIntegrator* integrator) {
  srHem5* work = integrator->work;
  work->dense = work->dense_failed = false;
  sri_control_start(integrator, &work->control, THETA_CROSSING, 5);
}

// ---- stages -----------------------------------------------------------------------------------------------------------

// Rates of stage i (from 0) and the state of the next one into x_stage.
static int stage(srIntegrator* integrator, srHem5* work, int i, double h, double t_new) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  const srHem5Tableau* tableau = &sri_hem5_tableau;
  const double t = tableau->c[i] == 1.0 ? t_new : integrator->t + tableau->c[i] * h;
  const double t_next = tableau->c[i + 1] == 1.0 ? t_new : integrator->t + tableau->c[i + 1] * h;
  double *k = work->k[i], *next = integrator->x_new;
  const double* x = i == 0 ? integrator->x : work->x_stage;
  if (c == NULL) {
    const int outcome = sri_rates(integrator, t, x, SR_TAU_ELEMENT, k);
    if (outcome != SRI_DONE) return outcome;
  } else {
    int outcome = sri_qdot(integrator, x, x + s->nq, k);
    if (outcome != SRI_DONE) return outcome;
    // Positions with all rates so far; velocities with all but the one to be solved for.
    sri_combine(s->nq, integrator->x, h, i + 1, tableau->a[i + 1], work->k, next);
    sri_combine_velocity(integrator, integrator->x, h, i, tableau->a[i + 1], work->k, next);
    if (!sri_all_finite(s->nq + s->nv, next)) return SRI_NOT_FINITE;
    const srHalfStep half = {.number = i + 1,
                             .t = t,
                             .t_next = t_next,
                             .x = x,
                             .q_next = next,
                             .v_known = next + s->nq,
                             .factor = h * tableau->a[i + 1][i],
                             .k = k};
    outcome = sri_half_step(integrator, &half);
    if (outcome != SRI_DONE) return outcome;
    sri_swap_rows(c);
  }
  sri_combine(integrator->n, integrator->x, h, i + 1, tableau->a[i + 1], work->k, next);
  return sri_not_finite(integrator, next) >= 0 ? SRI_NOT_FINITE : SRI_DONE;
}

static int stages(srIntegrator* integrator, srHem5* work, double h, double t_new) {
  srConstrained* c = integrator->constrained;
  int outcome = SRI_DONE;
  if (c != NULL) outcome = sri_constraint(integrator, integrator->t, integrator->x, NULL, c->G_stage, c->b);
  for (int i = 0; i < STAGES && outcome == SRI_DONE; ++i) {
    outcome = stage(integrator, work, i, h, t_new);
    if (i < STAGES - 1) memcpy(work->x_stage, integrator->x_new, (size_t)integrator->n * sizeof(double));
  }
  // x_stage keeps stage 8 for the error estimate.
  return outcome;
}

static double error_norm(srIntegrator* integrator, const srHem5* work, double h) {
  const double *x0 = integrator->x, *x1 = integrator->x_new;
  double* error = integrator->x_before;
  const int n = sri_controls_work(integrator) ? integrator->n : integrator->ncontrol;
  double* of_work = error + integrator->ncontrol;
  for (int i = 0; i < n; ++i) error[i] = x1[i] - work->x_stage[i];
  const double e1 = sri_error_norm(integrator, error, 1), w1 = sri_work_norm(integrator, of_work);
  for (int i = 0; i < n; ++i) {
    error[i] = x1[i] - x0[i] - h * (2.5 * work->k[6][i] - 1.5 * work->k[7][i]);
  }
  const double e2 = sri_error_norm(integrator, error, 1), w2 = sri_work_norm(integrator, of_work);
  return fmax(e1 > 0.0 ? e1 * e1 / (e1 + 0.01 * e2) : e1, w1 > 0.0 ? w1 * w1 / (w1 + 0.01 * w2) : w1);
}

static int try_step(srIntegrator* integrator, srTrial trial, double* err) {
  srHem5* work = integrator->work;
  bool same = false;
  work->dense = work->dense_failed = false;
  int outcome = stages(integrator, work, trial.h, trial.t_new);
  if (outcome != SRI_DONE) return outcome;
  *err = error_norm(integrator, work, trial.h);
  if (!sri_error_accepted(trial.limit, *err)) return isfinite(*err) ? SRI_REFUSED : SRI_NOT_FINITE;
  memcpy(work->x_end, integrator->x_new, (size_t)integrator->n * sizeof(double));
  outcome = sri_accept(integrator, trial.t_new, trial.h, &same);
  // The eighth stage is at the end of the step; its rate is of order 3.
  if (outcome == SRI_DONE && integrator->constrained != NULL) {
    integrator->acceleration = work->k[STAGES - 1] + integrator->system.nq;
  }
  return outcome;
}

static srStatus step(srIntegrator* integrator, double t_limit) {
  srHem5* work = integrator->work;
  srStatus status = sri_choose_rows(integrator);
  if (status != SR_OK) return status;
  if (sri_control_needs_first(integrator, &work->control)) {
    if (sri_rates(integrator, integrator->t, integrator->x, SR_TAU_ELEMENT, work->k[0]) != SRI_DONE ||
        sri_not_finite(integrator, work->k[0]) >= 0) {
      return sri_fail(integrator, "the equations of motion could not be evaluated at t = %.9g", integrator->t);
    }
    work->control.h = sri_first_step(integrator, &work->control, work->k[0], work->k[1]);
  }
  return sri_control_step(integrator, &work->control, t_limit, try_step);
}

// ---- dense output -----------------------------------------------------------------------------------------------------

static void dense_weights(double theta, double weight[6]) {
  const double(*d)[6] = sri_hem5_dense;
  for (int k = 0; k < 6; ++k) {
    weight[k] = theta * (d[0][k] + theta * (d[1][k] + theta * (d[2][k] + theta * d[3][k])));
  }
}

// The extra stage at c = 0.05 from the end of the step: its state into x_stage. Its G is left in G_stage.
static int extra_state(srIntegrator* integrator, srHem5* work) {
  const srSystem* s = &integrator->system;
  srConstrained* c = integrator->constrained;
  const double h = integrator->h, t_extra = integrator->t_before + sri_hem5_extra.c * h;
  const double* a = sri_hem5_extra.a;
  double* const k[3] = {work->k[5], work->k[6], work->slope[1]};
  double* next = work->x_stage;
  int outcome;
  if (c == NULL) {
    outcome = sri_rates(integrator, integrator->t, integrator->x, SR_TAU_ELEMENT, k[2]);
  } else {
    outcome = sri_qdot(integrator, integrator->x, sri_v(integrator), k[2]);
    if (outcome == SRI_DONE) outcome = sri_constraint(integrator, integrator->t, integrator->x, NULL, c->G_stage, c->b);
    if (outcome != SRI_DONE) return outcome;
    sri_combine(s->nq, integrator->x_before, h, 3, a, k, next);
    sri_combine_velocity(integrator, integrator->x_before, h, 2, a, k, next);
    const srHalfStep half = {.t = integrator->t,
                             .t_next = t_extra,
                             .x = integrator->x,
                             .q_next = next,
                             .v_known = next + s->nq,
                             .factor = h * a[2],
                             .k = k[2]};
    outcome = sri_half_step(integrator, &half);
    sri_swap_rows(c);
  }
  sri_combine(integrator->n, integrator->x_before, h, 3, a, k, next);
  return outcome;
}

// Rates of the extra stage, and v in the middle, solved half-explicitly.
static int extra_rates(srIntegrator* integrator, srHem5* work) {
  const srSystem* s = &integrator->system;
  const double h = integrator->h, t_extra = integrator->t_before + sri_hem5_extra.c * h;
  double weight[6], *k = work->k[STAGES], *x = work->x_stage, *middle = integrator->x_new;
  if (integrator->constrained == NULL) return sri_rates(integrator, t_extra, x, SR_TAU_ELEMENT, k);
  dense_weights(THETA_MIDDLE, weight);
  int outcome = sri_qdot(integrator, x, x + s->nq, k);
  if (outcome != SRI_DONE) return outcome;
  sri_combine(s->nq, integrator->x_before, h, 6, weight, work->k + 3, middle);
  sri_combine_velocity(integrator, integrator->x_before, h, 5, weight, work->k + 3, middle);
  const srHalfStep half = {.t = t_extra,
                           .t_next = integrator->t_before + THETA_MIDDLE * h,
                           .x = x,
                           .q_next = middle,
                           .v_known = middle + s->nq,
                           .factor = h * weight[5],
                           .k = k};
  outcome = sri_half_step(integrator, &half);
  for (int i = 0; i < s->nv; ++i) work->middle[i] = middle[s->nq + i] + h * weight[5] * k[s->nq + i];
  return outcome;
}

// What dense output needs beyond the stages. Where a callback fails, interpolation is linear in this step.
static void prepare_dense(srIntegrator* integrator, srHem5* work) {
  int outcome = extra_state(integrator, work);
  if (outcome == SRI_DONE) outcome = extra_rates(integrator, work);
  if (outcome == SRI_DONE && integrator->constrained != NULL) {
    outcome = sri_rates(integrator, integrator->t_before, integrator->x_before, SR_TAU_ELEMENT, work->slope[0]);
    if (outcome == SRI_DONE) {
      outcome = sri_rates(integrator, integrator->t, integrator->x, SR_TAU_ELEMENT, work->slope[1]);
    }
  }
  work->dense = outcome == SRI_DONE;
  work->dense_failed = outcome != SRI_DONE;
}

// Entry i of the velocity: Hermite through both ends, and a bubble that interpolates the value in the middle.
static double interpolate_velocity(const srIntegrator* integrator, const srHem5* work, double theta, int i) {
  double here, there;
  sri_hermite(integrator, work->slope[0], work->slope[1], theta, i, 1, &here);
  sri_hermite(integrator, work->slope[0], work->slope[1], THETA_MIDDLE, i, 1, &there);
  const double ratio = theta * (1.0 - theta) / (THETA_MIDDLE * (1.0 - THETA_MIDDLE));
  return here + ratio * ratio * (work->middle[i - integrator->system.nq] - there);
}

static void interpolate(const srIntegrator* integrator, double theta, int first, int count, double* out) {
  srHem5* work = integrator->work;
  const srSystem* s = &integrator->system;
  double weight[6];
  // The integrator object itself is not const; what is filled here is its private work.
  if (!work->dense && !work->dense_failed) prepare_dense((srIntegrator*)(size_t)integrator, work);
  dense_weights(theta, weight);
  for (int i = 0; i < count; ++i) {
    const int j = first + i;
    const double x0 = integrator->x_before[j], x1 = integrator->x[j];
    if (!work->dense) {
      out[i] = x0 + theta * (x1 - x0);
    } else if (integrator->constrained != NULL && j >= s->nq && j < s->nq + s->nv) {
      out[i] = interpolate_velocity(integrator, work, theta, j);
    } else {
      // Projection has moved the end: by less than the error, and here in proportion.
      double sum = 0.0;
      for (int k = 0; k < 6; ++k) sum += weight[k] * work->k[3 + k][j];
      out[i] = x0 + integrator->h * sum + theta * (x1 - work->x_end[j]);
    }
  }
}

const srIntegratorOps sri_hem5_ops = {
    .method = {.name = "hem5",
               .order = 5,
               .adaptive = true,
               .index = 2,
               .partitions = true,
               .about =
                   "half-explicit Runge-Kutta of order 5, index 2: velocity constraints exact, positions projected"},
    .needs = SRI_NEEDS(rates),
    .needs_constrained = SRI_NEEDS(dynamics) | SRI_NEEDS(constraint),
    .project = SR_PROJECT_BOTH,
    .work_size = sizeof(srHem5),
    .room = room,
    .init = init,
    .start = start,
    .step = step,
    .interpolate = interpolate,
};
