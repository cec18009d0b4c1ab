// A network over time: steps of one length to the end, rows at the ends of steps. A row holds the signals that the first stage of the next step
// has, with its tau.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "netfile/netfile.h"
#include "simulate/run.h"

#define SAME 1e-9  // of a step: what is nearer to its length is one

typedef struct Method {
  const char* word;
  srStatus (*step)(srNetwork* n, double T);
  double first_tau;  // tau of the first stage, in steps
  int stages;
} Method;
static const Method methods[] = {{"rk4", sr_network_step, 0.5, 4}, {"euler", sr_network_euler, 1.0, 1}};

int sr_network_method_count(void) { return SR_COUNT(methods); }
const char* sr_network_method(int i) { return i >= 0 && i < SR_COUNT(methods) ? methods[i].word : NULL; }

static const Method* find_method(const char* word) {
  for (int i = 0; i < SR_COUNT(methods); i++)
    if (strcmp(methods[i].word, word) == 0) return &methods[i];
  return NULL;
}

typedef struct Run {
  srNetworkFile* f;
  const srNetworkOptions* o;
  const Method* method;
  srNetColumns* columns;  // NULL: no rows
  double* row;
  srNetworkResult* result;
} Run;

// False: a stop was requested, or the signals are not numbers.
static bool put_row(Run* r) {
  srNetwork* n = r->f->network;
  if (!r->columns) return true;
  if (sr_network_evaluate(n, r->method->first_tau * r->o->step) != SR_OK) {
    snprintf(r->result->error_message, sizeof r->result->error_message, "%s", sr_network_error_message(n));
    return false;
  }
  r->result->evaluations++;
  sr_net_row(r->f, r->columns, r->row);
  if (r->o->row(r->o->user, r->row) != 0) {
    snprintf(r->result->error_message, sizeof r->result->error_message, "the rows could not be written");
    return false;
  }
  r->result->rows++;
  return true;
}

static bool stop_requested(Run* r) {
  const srNetworkOptions* o = r->o;
  if (!o->progress || o->progress(o->user, sr_network_time(r->f->network), o->t_end) == 0) return false;
  snprintf(r->result->error_message, sizeof r->result->error_message, "stopped by the user");
  return true;
}

// Steps between rows.
static long long row_steps(const srNetworkOptions* o) {
  const double every = o->every > 0 ? o->every : o->t_end / 1000;
  const long long n = llround(every / o->step);
  return n < 1 ? 1 : n;
}

static bool go(Run* r) {
  srNetwork* n = r->f->network;
  const srNetworkOptions* o = r->o;
  const long long between = row_steps(o), count = (long long)ceil(o->t_end / o->step - SAME);
  if (!put_row(r)) return false;
  for (long long i = 1; i <= count; i++) {
    const double rest = o->t_end - sr_network_time(n);
    const double T = i == count && fabs(rest - o->step) > SAME * o->step ? rest : o->step;
    if (r->method->step(n, T) != SR_OK) {
      snprintf(r->result->error_message, sizeof r->result->error_message, "%s", sr_network_error_message(n));
      return false;
    }
    r->result->steps++;
    r->result->evaluations += r->method->stages;
    if ((i % between == 0 || i == count) && !put_row(r)) return false;
    if (stop_requested(r)) return false;
  }
  return true;
}

static void refuse(srMessages* messages, bool* good, const char* what, double value, const char* expected) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "%s of the run is %g; expected %s", what, value, expected);
  *good = false;
}

static bool possible(const srNetworkOptions* o, srMessages* messages) {
  bool good = true;
  if (!(o->step > 0 && isfinite(o->step))) refuse(messages, &good, "the step", o->step, "a number of seconds > 0");
  if (!(o->t_end >= 0 && isfinite(o->t_end))) refuse(messages, &good, "the end", o->t_end, "a number of seconds >= 0");
  if (good && !(o->t_end / o->step < 1e15)) refuse(messages, &good, "the step", o->step, "at most 1e15 steps");
  if (!find_method(o->method)) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "the method '%.60s' does not step a network; there are: rk4, euler", o->method);
    good = false;
  }
  if (good && o->row && o->every > 0 && fabs(o->every - (double)row_steps(o) * o->step) > SAME * o->every)
    sr_messages_add(messages, SR_SEVERITY_WARNING, (srPlace){0},
                    "rows are at the ends of steps: one every %g s, not every %g s", (double)row_steps(o) * o->step,
                    o->every);
  return good;
}

srStatus sr_network_run(srNetworkFile* f, const srNetworkOptions* o, srMessages* messages, srNetworkResult* result) {
  Run r = {.f = f, .o = o, .result = result};
  memset(result, 0, sizeof *result);
  if (!possible(o, messages)) return SR_INPUT;
  r.method = find_method(o->method);
  srStatus status = o->row ? sr_net_columns(f, o->record, o->nrecord, messages, &r.columns) : SR_OK;
  if (status == SR_OK) status = sr_network_ready(f->network, o->threads);
  if (status == SR_OK && r.columns) {
    r.row = sr_alloc((size_t)r.columns->columns.count * sizeof *r.row);
    if (!r.row) status = SR_MEMORY;
  }
  if (status == SR_OK) {
    const double started = sr_run_clock();
    if (!go(&r)) status = SR_FAILED;
    // The signals of the report are those of the last state; where they cannot be had, go has said why.
    if (status == SR_OK && sr_network_evaluate(f->network, r.method->first_tau * o->step) != SR_OK) status = SR_FAILED;
    result->seconds = sr_run_clock() - started;
    result->t = sr_network_time(f->network);
  }
  if (status == SR_FAILED && !result->error_message[0])
    snprintf(result->error_message, sizeof result->error_message, "%s", sr_network_error_message(f->network));
  sr_free(r.row);
  sr_net_columns_destroy(r.columns);
  return status;
}
