// Survey of a model: the information needed to choose a method, measured in a limited time.
//   1  constraints, rank, sizes, nonsmooth formulas: at the start
//   2  pilot: an explicit method at the requested tolerances: cost, steps, events, changes of rank
//   3  guide: the same or an implicit method, tight, over the window that the time allows: samples, eigenvalues along it
//   4  steps by smoothness (step_estimate.c) compared with steps by stability (stiffness.c)
#include <math.h>
#include <sarrus/recommend.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "model/private.h"
#include "system/system.h"

#define PILOT_SHARE 0.12  // of the time, for each method that is tried
#define GUIDE_SHARE 0.2   // for the tight run
#define GUIDE_PLAN 0.12   // planned for the window
#define TIGHT 1e-3        // its tolerances, of those requested
#define TIGHT_COST 4.0    // of a tight run over one at the tolerances: 1000^(1/5)
#define LEAST_RTOL 1e-13
#define LEAST_ATOL 1e-16
#define PART_SAMPLES 400  // of a part of the window, a multiple of REFERENCE_SAMPLES
#define REFERENCE_SAMPLES 10
#define MOST_NUMBERS 4e6  // in all samples
#define GUIDE_ORDER 4

typedef struct Survey {
  const srModel* m;
  const srData* start;
  srData* d;
  const srRunOptions* options;
  double seconds, began, limit;  // limit: wall clock at which the present run is to stop
  bool late;                     // it was stopped by that
  srMessages* messages;          // of runs: a refused method is no error of the survey
  srRunResult* result;
  srSurvey* out;
} Survey;

static double wall_clock(void) {
  struct timespec now = {0};
  (void)timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int stop_late(void* user, double t, double t_end) {
  Survey* s = user;
  (void)t, (void)t_end;
  s->late = s->late || wall_clock() > s->limit;
  return s->late;
}

// ---- the start --------------------------------------------------------------------------------------------------------

static bool is_nonsmooth(srOp op) {
  switch (op) {
    case SR_OP_ABS:
    case SR_OP_MIN:
    case SR_OP_MAX:
    case SR_OP_SIGN:
    case SR_OP_STEP:
    case SR_OP_FLOOR:
    case SR_OP_LT:
    case SR_OP_LE:
    case SR_OP_EQ:
    case SR_OP_IF: return true;
    default: return false;
  }
}

// Functions with kinks or jumps among the nodes that force laws need and that are not constant; -1: out of memory.
static int count_nonsmooth(const srModel* m) {
  const srNode* root = m->priv->law_root;
  srNode last = -1;
  int count = 0;
  for (int i = 0; root != NULL && i < m->nformula; ++i) last = root[i] > last ? root[i] : last;
  if (last < 0) return 0;
  unsigned char* needed = sr_alloc((size_t)last + 1);
  if (needed == NULL) return -1;
  for (int i = 0; i < m->nformula; ++i) needed[root[i]] = 1;
  for (srNode x = last; x >= 0; --x) {  // children have smaller indices
    double value;
    if (!needed[x] || sr_graph_constant(m->priv->graph, x, &value)) continue;
    const srNodeView view = sr_graph_view(m->priv->graph, x);
    count += is_nonsmooth(view.op);
    for (int k = 0; k < 3; ++k) {
      if (view.child[k] != SR_NO_NODE) needed[view.child[k]] = 1;
    }
  }
  sr_free(needed);
  return count;
}

static srStatus look_at_rows(Survey* s) {
  const srModel* m = s->m;
  srSurvey* out = s->out;
  srRank* rank = NULL;
  const srStatus status = sr_rank_create(m, s->d, &rank);
  if (status != SR_OK) return status;
  out->rank = rank->rank;
  out->redundant = sr_alloc((size_t)(rank->nredundant + 1) * sizeof *out->redundant);
  if (out->redundant != NULL) {
    out->nredundant = rank->nredundant;
    for (int i = 0; i < rank->nredundant; ++i) out->redundant[i] = rank->redundant[i];
  }
  sr_rank_destroy(rank);
  return out->redundant != NULL ? SR_OK : SR_MEMORY;
}

static srStatus look_at_start(Survey* s) {
  const srModel* m = s->m;
  srSurvey* out = s->out;
  out->nq = m->nq;
  out->nv = m->nv;
  out->ny = m->ny;
  out->ny_user = m->priv->ny_user;
  out->ng = m->ng;
  out->np = m->np;
  out->M_entries = m->constrained ? m->M_row[m->nv] : m->nv * m->nv;
  out->G_entries = m->G_start[m->ng];
  out->nonsmooth = count_nonsmooth(m);
  if (out->nonsmooth < 0) return SR_MEMORY;
  sr_data_copy(m, s->start, s->d);
  return look_at_rows(s);
}

// ---- the pilot --------------------------------------------------------------------------------------------------------

// May this method be the guide? Explicit ones that suit the constraints first, then the other explicit ones, then the implicit.
static bool is_of_kind(const srModel* m, const srMethod* method, int kind) {
  if (method->absent || method->switches || !method->adaptive || method->order < GUIDE_ORDER) return false;
  const bool suits = (m->constrained && m->ng > 0) == (method->index > 0);
  if (kind == 0) return !method->implicit && suits;
  return kind == 1 ? !method->implicit && !suits : method->implicit;
}

// A run from the start, for a share of the time. True: it took a step.
static bool try_run(Survey* s, const srMethod* method, srStatus* status) {
  srRunOptions o = *s->options;
  o.method = method->name;
  o.control = SR_CONTROL_DEFAULT;
  o.row = NULL;
  o.progress = stop_late;
  o.user = s;
  sr_data_copy(s->m, s->start, s->d);
  s->limit = wall_clock() + PILOT_SHARE * s->seconds;
  s->late = false;
  *status = sr_run(s->m, s->d, &o, s->messages, s->result);
  return s->result->stats.steps > 0;
}

static const char* last_error(const Survey* s, const char* fallback) {
  for (int i = sr_messages_count(s->messages) - 1; i >= 0; --i) {
    const srMessage* message = sr_messages_get(s->messages, i);
    if (message->severity == SR_SEVERITY_ERROR) return message->text;
  }
  return fallback;
}

// The list of a run holds its first events; where it is full, the rest are events too, or changes of rank that were counted.
static void count_events(const srRunResult* r, const srMethod* method, srSurvey* out) {
  long other = 0, singular = 0, rank = 0;
  for (int i = 0; i < r->nevent; ++i) {
    if (strcmp(r->event[i].kind, "event") == 0) continue;
    ++other;
    if (strcmp(r->event[i].kind, "rank") != 0) continue;
    if (strstr(r->event[i].reason, "singular") != NULL) {
      ++singular;
    } else {
      ++rank;
    }
  }
  const bool full = r->event_count > r->nevent;
  out->events = full ? r->event_count - r->stats.rank_changes - r->stats.crossings : r->nevent - other;
  out->rank_changes = method->index > 0 ? r->stats.rank_changes : rank;
  out->singular = method->index > 0 ? r->stats.crossings : singular;
  out->limits_passed = r->limits_passed;
}

static void tell_pilot(Survey* s, const srMethod* method, srStatus status) {
  srSurvey* out = s->out;
  const srRunResult* r = s->result;
  out->pilot = method->name;
  out->t = r->t;
  out->seconds = r->seconds;
  out->steps = r->stats.steps;
  out->rejected = r->stats.rejected;
  out->step = (r->t - out->t0) / (double)r->stats.steps;
  count_events(r, method, out);
  if (r->t > out->t0) out->events_per_second = (double)out->events / (r->t - out->t0);
  out->steps_per_event = out->events > 0 ? (double)out->steps / (double)out->events : (double)INFINITY;
  (void)snprintf(out->pilot_reason, sizeof out->pilot_reason, "%s", status == SR_FAILED ? r->error_message : "");
}

static void note_refusal(Survey* s, const srMethod* method, srStatus status) {
  const char* reason = status == SR_FAILED ? s->result->error_message : last_error(s, sr_status_text(status));
  if (s->out->pilot == NULL && s->out->pilot_reason[0] == 0)
    (void)snprintf(s->out->pilot_reason, sizeof s->out->pilot_reason, "%s: %.440s", method->name, reason);
}

// Usable result of a run that took steps. True: it reached its end, which may be that of an event.
static bool take_run(Survey* s, const srMethod* method, srStatus status, double* t_guide, double* rate_guide) {
  srSurvey* out = s->out;
  if (!method->implicit && (out->pilot == NULL || s->result->t > out->t)) tell_pilot(s, method, status);
  if (s->result->t > *t_guide) {
    *t_guide = s->result->t;
    *rate_guide = s->result->seconds / (s->result->t - out->t0);
    out->guide = method->name;
  }
  return status == SR_OK && !s->late;
}

// The pilot: the explicit method that gets farthest. *t_guide: how far the guide can go, *rate_guide: its cost per second.
static void fly(Survey* s, double* t_guide, double* rate_guide) {
  srStatus status;
  for (int kind = 0; kind < 3; ++kind) {
    for (int i = 0; i < sri_method_count(); ++i) {
      const srMethod* method = sri_method(i);
      if (!is_of_kind(s->m, method, kind) || wall_clock() - s->began > 0.5 * s->seconds) continue;
      if (sr_stop_requested(s->d)) return;
      // One explicit method that made progress is enough; an implicit one is tried where time was not the limit.
      if (kind < 2 && s->out->pilot != NULL && s->out->pilot_reason[0] == 0) continue;
      if (!try_run(s, method, &status)) {
        note_refusal(s, method, status);
      } else if (take_run(s, method, status, t_guide, rate_guide)) {
        return;
      }
    }
  }
}

// ---- the guide --------------------------------------------------------------------------------------------------------

// Where the model cannot be linearized, earlier results are kept. Rigid contacts exert no forces: their laws, which such a run does not use, would make any model stiff that touches.
static void take_spectrum(Survey* s) {
  srSurvey* out = s->out;
  srSpectrum* x = &out->spectrum[out->nspectrum];
  s->d->rigid = s->options->contact != SR_CONTACT_CONTINUOUS;
  if (sr_spectrum(s->m, s->d, x) != SR_OK && out->nspectrum > 0) *x = x[-1];
  s->d->rigid = false;
  x->t = s->d->t;
  ++out->nspectrum;
}

// One part of the window, its samples appended to all.
static bool sample_part(Survey* s, srRunOptions* o, srTrajectory* part, srTrajectory* all) {
  const srStatus status = sr_run_sampled(s->m, s->d, o, s->messages, s->result, part);
  if (status != SR_OK || part->filled < part->n) {
    const bool late = status == SR_OK;
    (void)snprintf(s->out->guide_reason, sizeof s->out->guide_reason, "%s",
                   late                          ? "its time was over"
                   : s->result->error_message[0] ? s->result->error_message
                                                 : last_error(s, ""));
    return false;
  }
  const size_t width = (size_t)sr_trajectory_width(all);
  const int first = all->filled > 0 ? 1 : 0;  // the end of a part is the start of the next
  memcpy(all->sample + (size_t)all->filled * width, part->sample + (size_t)first * width,
         (size_t)(part->n - first) * width * sizeof(double));
  all->filled += part->n - first;
  return true;
}

static void guide_parts(Survey* s, srTrajectory* part, srTrajectory* all, double length) {
  srSurvey* out = s->out;
  srRunOptions o = *s->options;
  o.method = out->guide;
  o.control = SR_CONTROL_DEFAULT;
  o.rtol = out->rtol_tight = fmax(TIGHT * o.rtol, LEAST_RTOL);
  o.atol = fmax(TIGHT * o.atol, LEAST_ATOL);
  o.progress = stop_late;
  o.user = s;
  sr_data_copy(s->m, s->start, s->d);
  s->limit = wall_clock() + GUIDE_SHARE * s->seconds;
  s->late = false;
  take_spectrum(s);
  for (int i = 0; i < SR_SURVEY_PARTS; ++i) {
    o.t_end = out->t0 + (double)(i + 1) * length;
    if (!sample_part(s, &o, part, all)) break;
    out->t_window = o.t_end;
    take_spectrum(s);
  }
}

// Every so many samples: the reference of the trials.
static srTrajectory* thin_out(const srModel* m, const srTrajectory* all, int every) {
  const int n = (all->filled - 1) / every + 1;
  if (n < 2) return NULL;
  srTrajectory* x = sr_trajectory_create(m, n);
  const size_t width = (size_t)sr_trajectory_width(all);
  for (int k = 0; x != NULL && k < n; ++k) {
    memcpy(x->sample + (size_t)k * width, all->sample + (size_t)(k * every) * width, width * sizeof(double));
    ++x->filled;
  }
  return x;
}

static double modulus(srEigenvalue x) { return hypot(x.re, x.im); }

// Persistent stiffness: for each part of the window the smaller one of both ends counts, so that one position (eigenvalues have a
// pole at a singular position) does not make a model stiff. rate: of the parts. Returns their number.
static int find_lasting(srSurvey* out, double* rate) {
  const srSpectrum* x = out->spectrum;
  const int parts = out->nspectrum > 1 ? out->nspectrum - 1 : out->nspectrum;
  for (int i = 0; i < parts; ++i) {
    const int next = i + 1 < out->nspectrum ? i + 1 : i;
    const srEigenvalue low = modulus(x[i].largest) < modulus(x[next].largest) ? x[i].largest : x[next].largest;
    rate[i] = fmin(x[i].rate, x[next].rate);
    if (modulus(low) >= modulus(out->largest)) out->largest = low;
  }
  return parts;
}

static void judge_stiffness(Survey* s, const srTrajectory* all) {
  srSurvey* out = s->out;
  double rate[SR_SURVEY_PARTS + 1], sum = 0.0;
  const int parts = find_lasting(out, rate);
  for (int i = 0; i < parts; ++i) sum += rate[i];
  if (parts > 0) out->h_rate = out->step * sum / parts;
  if (all == NULL ||
      sr_step_estimate(all, s->options->rtol, s->options->atol, rate, parts, &out->step_estimate) != SR_OK)
    return;
  out->ratio = modulus(out->largest) * out->step_estimate.h;
  out->factor = out->step_estimate.steps_explicit / out->step_estimate.steps;
  out->stiff = out->factor >= SR_STIFF;
}

// The part of the motion that time allows: all of it, a half, a quarter ... so that the next call, whose clock differs,
// examines the same motion.
static double window_of(double way, double most) {
  const double halvings = most < way ? ceil(log2(way / most)) : 0.0;
  return halvings < 60.0 ? ldexp(way, -(int)halvings) : most;
}

static srStatus guide(Survey* s, double t_guide, double rate_guide) {
  srSurvey* out = s->out;
  const double reach = t_guide - out->t0;
  // What stopped a run before its end (an event, a failure) must not be in the window.
  const double safe = t_guide < s->options->t_end ? 0.98 * reach : reach;
  const double length = window_of(safe, GUIDE_PLAN * s->seconds / (TIGHT_COST * rate_guide)) / SR_SURVEY_PARTS;
  const double width = 1.0 + s->m->njq + s->m->njv + s->m->ny - s->m->ny_slot,
               room = MOST_NUMBERS / width / SR_SURVEY_PARTS;
  const int every = (int)fmax(1.0, fmin(PART_SAMPLES, room) / REFERENCE_SAMPLES), n = every * REFERENCE_SAMPLES;
  srTrajectory* part = sr_trajectory_create(s->m, n + 1);
  srTrajectory* all = sr_trajectory_create(s->m, SR_SURVEY_PARTS * n + 1);
  const bool good = part != NULL && all != NULL;
  if (good) {
    guide_parts(s, part, all, length);
    judge_stiffness(s, all);
    out->reference = thin_out(s->m, all, every);
  }
  sr_trajectory_destroy(part);
  sr_trajectory_destroy(all);
  return good ? SR_OK : SR_MEMORY;
}

// ---- survey -----------------------------------------------------------------------------------------------------------

static srStatus survey(Survey* s) {
  srSurvey* out = s->out;
  srStatus status = look_at_start(s);
  if (status != SR_OK) return status;
  double t_guide = out->t0, rate_guide = 0.0;
  fly(s, &t_guide, &rate_guide);
  if (out->guide != NULL) return guide(s, t_guide, rate_guide);
  sr_data_copy(s->m, s->start, s->d);  // eigenvalues at the start at least
  take_spectrum(s);
  judge_stiffness(s, NULL);
  return SR_OK;
}

static void tell_failure(const Survey* s, srStatus status, srMessages* messages) {
  const char* reason = status == SR_MEMORY       ? "out of memory for the survey"
                       : sr_stop_requested(s->d) ? "the survey was stopped by the caller"
                       : s->d->error_message[0]  ? s->d->error_message
                                                 : "the model cannot be evaluated at its start";
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "%s", reason);
}

srStatus sr_survey_create(const srModel* m, const srData* d, const srRunOptions* options, double seconds,
                          srMessages* messages, srSurvey** out) {
  Survey s = {.m = m, .start = d, .options = options, .seconds = seconds, .began = wall_clock()};
  *out = NULL;
  s.out = sr_alloc(sizeof *s.out);
  s.d = sr_data_create(m);
  s.messages = sr_messages_create();
  s.result = sr_alloc(sizeof *s.result);
  srStatus status = s.out != NULL && s.d != NULL && s.messages != NULL && s.result != NULL ? SR_OK : SR_MEMORY;
  if (status == SR_OK) {
    s.out->t0 = s.out->t = s.out->t_window = d->t;
    s.out->steps_per_event = (double)INFINITY;
    s.d->stop = d->stop;
    s.d->stop_user = d->stop_user;
    status = survey(&s);
    if (status == SR_OK && sr_stop_requested(s.d)) status = SR_FAILED;
    if (status != SR_OK) tell_failure(&s, status, messages);
  }
  if (status == SR_OK) {
    *out = s.out;
    s.out = NULL;
  }
  sr_survey_destroy(s.out);
  sr_data_destroy(s.d);
  sr_messages_destroy(s.messages);
  sr_free(s.result);
  return status;
}

void sr_survey_destroy(srSurvey* survey) {
  if (survey == NULL) return;
  sr_trajectory_destroy(survey->reference);
  sr_free(survey->redundant);
  sr_free(survey);
}
