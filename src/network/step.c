// Stepping a network: Kikuuwe and Yamamoto, eq 13 with 22, by a team of threads.
//
// Every component is evaluated by one member of the team, which also sums its inputs, in the order of the wires; the parts
// of a phase write to places of their own. So nothing depends on who does what, or when: the bits are those of one thread.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrate/array.h"
#include "network/network.h"

// What the team is to do: stages of x' = F(t, x; tau), and what becomes of them.
typedef struct Walk {
  srNetwork* n;
  int stages;
  double c[4];    // stage r begins at x + c[r] k[r-1], t + c[r]
  double tau[4];  // < 0: of each component
  double weight[4];
  double over;      // x += over * sum of weight[r] k[r]; weights of RK4 are 1 2 2 1, over is T/6
  const double* x;  // where the stages begin
  double* k[4];
  double t, T;
  bool moves;  // take the step; else evaluate alone
} Walk;

// ---- one component --------------------------------------------------------------------------------------------------------

static void fail(srNetwork* n, srComponent* c, int phase, int answer) {
  c->phase = phase;
  c->answer = answer;
  int first = atomic_load(&n->failed);
  while (phase < first && !atomic_compare_exchange_weak(&n->failed, &first, phase)) continue;
}

static void gather(const srNetwork* n, const srComponent* c) {
  for (int i = c->first_in; i < c->first_in + c->nin; ++i) {
    double sum = n->input_constant[i];
    for (int k = n->wire_start[i]; k < n->wire_start[i + 1]; ++k)
      sum += n->wire_factor[k] * n->output[n->wire_signal[k]];
    n->input[i] = sum;
  }
}

// Eq 13b, 13c.
static void begin_stage(const Walk* w, const srComponent* c, int r) {
  const double* before = r > 0 ? w->k[r - 1] : NULL;
  for (int i = c->first_x; i < c->first_x + c->nx; ++i) {
    w->n->stage[i] = before ? w->x[i] + w->c[r] * before[i] : w->x[i];
  }
}

static srAdmittanceIn admittance_in(const Walk* w, const srComponent* c, int r) {
  return (srAdmittanceIn){
      .t = w->t + w->c[r], .tau = w->tau[r], .x = w->n->stage + c->first_x, .p = c->p, .self = c->self};
}

static void move(const Walk* w, srComponent* c, int r, int phase) {
  begin_stage(w, c, r);
  const srAdmittanceIn in = admittance_in(w, c, r);
  double* out = w->n->output + c->first_out;
  const int answer = c->admittance.motion(&in, out);
  if (answer != 0 || !sri_all_finite(c->nout, out)) fail(w->n, c, phase, answer);
}

// Eq 13g.
static void accelerate(const Walk* w, srComponent* c, int r, int phase) {
  gather(w->n, c);
  srAdmittanceIn in = admittance_in(w, c, r);
  in.u = w->n->input + c->first_in;
  double* xdot = w->k[r] + c->first_x;
  const int answer = c->admittance.rates(&in, xdot);
  if (answer != 0 || !sri_all_finite(c->nx, xdot)) fail(w->n, c, phase, answer);
}

// Eq 22.
static int push(const Walk* w, const srComponent* c, int r) {
  begin_stage(w, c, r);
  const double* input = w->n->input + c->first_in;
  const srImpedanceIn in = {
      .t = w->t + w->c[r],
      .tau = w->tau[r] >= 0.0 ? w->tau[r] : c->tau,
      .x = input,
      .xdot = input + c->form.nx,
      .y = w->n->stage + c->first_x,
      .p = c->p,
  };
  srImpedanceOut out = {.f = w->n->output + c->first_out, .ydot = w->k[r] + c->first_x};
  for (int i = 0; i < c->nx; ++i) out.ydot[i] = 0.0;
  return c->kind == SR_IMPEDANCE ? c->law.evaluate(&in, &out) : c->form.evaluate(c->self, &in, &out);
}

// An impedance or a map: Psi, eq 22, Phi.
static void respond(const Walk* w, srComponent* c, int r, int phase) {
  srNetwork* n = w->n;
  gather(n, c);
  double* out = n->output + c->first_out;
  for (int i = 0; i < c->nout; ++i) out[i] = 0.0;
  const int answer = c->kind == SR_MAP ? c->map(c->self, w->t + w->c[r], n->input + c->first_in, out) : push(w, c, r);
  if (answer != 0 || !sri_all_finite(c->nout, out) || !sri_all_finite(c->nx, w->k[r] + c->first_x))
    fail(n, c, phase, answer);
}

// Eq 13j, 13l; into n->stage, as it may yet fail.
static void finish_component(const Walk* w, srComponent* c, int phase) {
  double* x = w->n->stage;
  for (int i = c->first_x; i < c->first_x + c->nx; ++i) {
    double sum = w->weight[0] * w->k[0][i];
    for (int r = 1; r < w->stages; ++r) sum += w->weight[r] * w->k[r][i];
    x[i] = w->x[i] + w->over * sum;
  }
  if (c->kind != SR_ADMITTANCE || !c->admittance.accepted) return;
  const srAdmittanceIn in = {.t = w->t + w->T, .tau = -1.0, .x = x + c->first_x, .p = c->p, .self = c->self};
  const int answer = c->admittance.accepted(&in, x + c->first_x);
  if (answer != 0) fail(w->n, c, phase, answer);
}

// ---- the team -------------------------------------------------------------------------------------------------------------

// The part of 0 .. count-1 that is a member's.
static int part(int count, int member, int members) { return (int)((long long)count * member / members); }

// All members come to the same answer, as nobody has failed later than in the phase that has just ended.
static bool meet(Walk* w, srTeam* team, int* phase) {
  sr_team_meet(team);
  return atomic_load(&w->n->failed) > (*phase)++;
}

static bool stage(Walk* w, srTeam* team, int r, int member, int members, int* phase) {
  srNetwork* n = w->n;
  const int first = part(n->nadmit, member, members), last = part(n->nadmit, member + 1, members);
  for (int i = first; i < last; ++i) move(w, &n->component[n->admit[i]], r, *phase);
  if (!meet(w, team, phase)) return false;
  for (int level = 0; level < n->nlevel; ++level) {
    const int* order = n->order + n->level_start[level];
    const int count = n->level_start[level + 1] - n->level_start[level];
    for (int i = part(count, member, members); i < part(count, member + 1, members); ++i) {
      respond(w, &n->component[order[i]], r, *phase);
    }
    if (!meet(w, team, phase)) return false;
  }
  for (int i = first; i < last; ++i) accelerate(w, &n->component[n->admit[i]], r, *phase);
  return meet(w, team, phase);
}

static void walk(void* user, srTeam* team, int member, int members) {
  Walk* w = user;
  srNetwork* n = w->n;
  int phase = 0;
  for (int r = 0; r < w->stages; ++r) {
    if (!stage(w, team, r, member, members, &phase)) return;
  }
  if (!w->moves) return;
  const int first = part(n->ncomponent, member, members), last = part(n->ncomponent, member + 1, members);
  for (int i = first; i < last; ++i) finish_component(w, &n->component[i], phase);
  (void)meet(w, team, &phase);
}

// The first failure by phases, then by components.
static void explain(srNetwork* n, double t) {
  const srComponent* c = NULL;
  for (int i = 0; i < n->ncomponent; ++i) {
    if (n->component[i].phase != INT_MAX && (!c || n->component[i].phase < c->phase)) c = &n->component[i];
  }
  const char* own = c && c->answer != 0 && c->error_message ? c->error_message(c->self) : NULL;
  (void)snprintf(
      n->reason, sizeof n->reason, "%s '%s' at t = %.9g%s%s",
      !c || c->answer == 0 ? "a signal or rate is not a finite number at the component" : "the state is refused by",
      c ? c->name : "", t, own && own[0] ? ": " : "", own && own[0] ? own : "");
}

static void forget_failure(srNetwork* n) {
  for (int i = 0; i < n->ncomponent; ++i) n->component[i].phase = INT_MAX;
  atomic_store(&n->failed, INT_MAX);
}

// 0, or the answer of the component that failed first.
static int run(Walk* w) {
  srNetwork* n = w->n;
  sr_team_run(n->team, walk, w);
  const int phase = atomic_load(&n->failed);
  if (phase == INT_MAX) return 0;
  int answer = 1;
  for (int i = 0; i < n->ncomponent; ++i) {
    if (n->component[i].phase == phase && n->component[i].answer < 0) answer = -1;
  }
  explain(n, w->t);
  forget_failure(n);
  return answer;
}

static bool not_ready(srNetwork* n) {
  if (!n->ready) (void)snprintf(n->reason, sizeof n->reason, "the network is not ready");
  return !n->ready;
}

// A sum of many small steps, to the last digit (Kahan): loads and events are functions of time.
static void advance_time(srNetwork* n, double T) {
  const double step = T - n->t_rest, t = n->t + step;
  n->t_rest = (t - n->t) - step;
  n->t = t;
}

static srStatus take_step(Walk* w) {
  srNetwork* n = w->n;
  if (not_ready(n)) return SR_FAILED;
  if (!(isfinite(w->T) && w->T > 0.0)) {
    (void)snprintf(n->reason, sizeof n->reason, "a step must be longer than 0, not %g", w->T);
    return SR_FAILED;
  }
  w->x = n->x;
  w->t = n->t;
  w->moves = true;
  for (int r = 0; r < 4; ++r) w->k[r] = n->k[r];
  if (run(w) != 0) return SR_FAILED;
  if (n->nx > 0) memcpy(n->x, n->stage, (size_t)n->nx * sizeof *n->x);
  advance_time(n, w->T);
  return SR_OK;
}

// ---- what users call --------------------------------------------------------------------------------------------------------

srStatus sr_network_step(srNetwork* n, double T) {
  Walk w = {.n = n,
            .stages = 4,
            .c = {0.0, T / 2, T / 2, T},
            .tau = {T / 2, T / 2, T, T},
            .weight = {1.0, 2.0, 2.0, 1.0},
            .over = T / 6,
            .T = T};
  return take_step(&w);
}

srStatus sr_network_euler(srNetwork* n, double T) {
  Walk w = {.n = n, .stages = 1, .tau = {T}, .weight = {1.0}, .over = T, .T = T};
  return take_step(&w);
}

static int evaluate(srNetwork* n, double t, const double* x, double tau, double* xdot) {
  Walk w = {.n = n, .stages = 1, .tau = {tau}, .x = x, .k = {xdot}, .t = t};
  return run(&w);
}

srStatus sr_network_evaluate(srNetwork* n, double tau) {
  return not_ready(n) || evaluate(n, n->t, n->x, tau, n->k[0]) != 0 ? SR_FAILED : SR_OK;
}

srStatus sr_network_start(srNetwork* n, double t) {
  if (not_ready(n)) return SR_FAILED;
  n->t = t;
  n->t_rest = 0.0;
  for (int i = 0; i < n->ncomponent; ++i) {
    const srComponent* c = &n->component[i];
    for (int k = 0; k < c->nx; ++k) n->x[c->first_x + k] = c->x0 ? c->x0[k] : 0.0;
    if (c->restart) c->restart(c->self);
  }
  return SR_OK;
}

const char* sr_network_error_message(const srNetwork* n) { return n->reason; }
int sr_network_threads(const srNetwork* n) { return n->team ? sr_team_members(n->team) : 0; }
double sr_network_time(const srNetwork* n) { return n->t; }
int sr_network_count(const srNetwork* n) { return n->ncomponent; }

int sr_network_find(const srNetwork* n, const char* name) {
  for (int i = 0; i < n->ncomponent; ++i) {
    if (strcmp(n->component[i].name, name) == 0) return i;
  }
  return -1;
}

static const srComponent* known(const srNetwork* n, int i) {
  return n->ready && i >= 0 && i < n->ncomponent ? &n->component[i] : NULL;
}

double* sr_network_state(srNetwork* n, int i) { return known(n, i) ? n->x + n->component[i].first_x : NULL; }

int sr_network_states(const srNetwork* n, int i) {
  if (i >= 0) return i < n->ncomponent ? n->component[i].nx : 0;
  int count = 0;
  for (int k = 0; k < n->ncomponent; ++k) count += n->component[k].nx;
  return count;
}

const double* sr_network_output(const srNetwork* n, int i) {
  return known(n, i) ? n->output + n->component[i].first_out : NULL;
}

const double* sr_network_input(const srNetwork* n, int i) {
  return known(n, i) ? n->input + n->component[i].first_in : NULL;
}

long sr_network_clamps(const srNetwork* n, int i) {
  return i >= 0 && i < n->ncomponent && n->component[i].clamps ? *n->component[i].clamps : 0;
}

// ---- for the integrators ----------------------------------------------------------------------------------------------------

static int rates(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                 double* vdot, double* ydot, double* wdot) {
  (void)q, (void)v, (void)qdot, (void)vdot, (void)wdot;
  srNetwork* n = user;
  return not_ready(n) ? -1 : evaluate(n, t, y, tau, ydot);
}

static int accepted(void* user, double t, double* q, double* v, double* y) {
  (void)q, (void)v;
  srNetwork* n = user;
  for (int i = 0; i < n->nadmit; ++i) {
    const srComponent* c = &n->component[n->admit[i]];
    if (!c->admittance.accepted) continue;
    const srAdmittanceIn in = {.t = t, .tau = -1.0, .x = y + c->first_x, .p = c->p, .self = c->self};
    const int answer = c->admittance.accepted(&in, y + c->first_x);
    if (answer != 0) return answer;
  }
  return 0;
}

srSystem sr_network_system(srNetwork* n) {
  return (srSystem){.ny = sr_network_states(n, -1), .user = n, .rates = rates, .accepted = accepted};
}
