// Events from many sources: one root finder over all their functions, actions in the order of the sources, and what they trigger
// at the same instant.
//
// The root finder requires functions with rates last: the sources are sorted for that, and act in the order given.
// An instant ends when nothing fires any more. Instants that follow each other without time passing are a crowd: the motion has stopped.
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrate/integrator.h"

#define CROWD 1000        // so many instants within ...
#define CROWD_WIDTH 1e-9  // ... this part of the time

struct srEvents {
  srEventList list;
  srEventSource* source;
  int* first;  // nsource: index of its first function
  int count, rated;
  signed char *direction, *fired;  // count: fired in the order of the root finder, as signs
  unsigned char* changed;          // count
  double* own;                     // values and rates of one source
  double *q, *v, *y;               // state at an event
  int nq, nv, ny;
  srRootFinder* finder;
  srEventError error_message;
  double t_last;
  int crowd;
};

// ---- evaluation -------------------------------------------------------------------------------------------------------

static int evaluate(void* user, double t, const double* q, const double* v, const double* y, double* value) {
  srEvents* events = user;
  int answer = events->list.prepare != NULL ? events->list.prepare(events->list.user, t, q, v, y) : 0;
  for (int i = 0; i < events->list.count && answer == 0; ++i) {
    const srEventSource* source = &events->source[i];
    double* out = value + events->first[i];
    if (!source->rated) {
      answer = source->evaluate(source->user, t, q, v, y, out);
      continue;
    }
    answer = source->evaluate(source->user, t, q, v, y, events->own);
    memcpy(out, events->own, (size_t)source->count * sizeof *out);
    memcpy(out + events->rated, events->own + source->count, (size_t)source->count * sizeof *out);
  }
  return answer;
}

static double ahead(void* user, double a, double b) {
  const srEvents* events = user;
  double first = HUGE_VAL;
  for (int i = 0; i < events->list.count; ++i) {
    const srEventSource* source = &events->source[i];
    if (source->ahead != NULL) first = fmin(first, source->ahead(source->user, a, b));
  }
  return first;
}

static bool steady(void* user) {
  const srEvents* events = user;
  for (int i = 0; i < events->list.count; ++i) {
    const srEventSource* source = &events->source[i];
    if (source->steady == NULL || !source->steady(source->user)) return false;
  }
  return true;
}

// The source, and the function within it, of an index.
static srEventError error_of(const srEvents* events, srEventErrorKind kind, int place) {
  for (int i = 0; i < events->list.count && place >= 0; ++i) {
    const int function = place - events->first[i];
    if (function >= 0 && function < events->source[i].count) return (srEventError){kind, i, function};
  }
  return (srEventError){kind, -1, -1};
}

static srStatus no_function(srEvents* events) {
  events->error_message = error_of(events, SR_EVENTS_FUNCTION, sri_roots_bad(events->finder));
  return SR_FAILED;
}

// ---- life -------------------------------------------------------------------------------------------------------------

// Indices of the functions: those without rates first.
static void place_functions(srEvents* events) {
  int at = 0;
  for (int rated = 0; rated < 2; ++rated) {
    for (int i = 0; i < events->list.count; ++i) {
      const srEventSource* source = &events->source[i];
      if ((source->rated ? 1 : 0) != rated) continue;
      events->first[i] = at;
      for (int k = 0; k < source->count; ++k) {
        events->direction[at + k] = source->direction != NULL ? source->direction[k] : 0;
      }
      at += source->count;
    }
  }
}

static size_t aligned(size_t size) { return (size + 15) / 16 * 16; }

srEvents* sri_events_create(const srIntegrator* integrator, const srEventList* list) {
  size_t count = 0, rated = 0, most = 0;
  double zero = HUGE_VAL;
  const size_t n = (size_t)list->count, head = aligned(sizeof(srEvents)), sources = aligned(n * sizeof(srEventSource));
  for (size_t i = 0; i < n; ++i) {
    const size_t own = (size_t)list->source[i].count;
    count += own;
    rated += list->source[i].rated ? own : 0;
    if (list->source[i].rated) zero = fmin(zero, list->source[i].zero);
    most = own > most ? own : most;
  }
  const size_t numbers = 2 * most + (size_t)integrator->ncontrol;
  char* block = sr_alloc(head + sources + numbers * sizeof(double) + n * sizeof(int) + 3 * count);
  if (block == NULL) return NULL;
  srEvents* events = (srEvents*)(void*)block;
  events->list = *list;
  events->nq = integrator->system.nq;
  events->nv = integrator->system.nv;
  events->ny = integrator->system.ny;
  events->source = (srEventSource*)(void*)(block + head);
  if (n > 0) memcpy(events->source, list->source, n * sizeof *list->source);
  events->own = (double*)(void*)(block + head + sources);
  events->q = events->own + 2 * most;
  events->v = events->q + events->nq;
  events->y = events->v + events->nv;
  events->first = (int*)(void*)(events->own + numbers);
  events->direction = (signed char*)(events->first + n);
  events->fired = events->direction + count;
  events->changed = (unsigned char*)(events->fired + count);
  events->count = (int)count;
  events->rated = (int)rated;
  events->t_last = -HUGE_VAL;
  place_functions(events);
  const srRoots roots = {.count = events->count,
                         .user = events,
                         .evaluate = evaluate,
                         .direction = events->direction,
                         .rated = events->rated,
                         .zero = rated > 0 ? zero : 0,
                         .ahead = ahead,
                         .steady = steady};
  events->finder = sri_roots_create(integrator, &roots);
  if (events->finder != NULL) return events;
  sr_free(block);
  return NULL;
}

void sri_events_destroy(srEvents* events) {
  if (events == NULL) return;
  sri_roots_destroy(events->finder);
  sr_free(events);
}

srEventError sri_events_error(const srEvents* events) { return events->error_message; }

// ---- an instant -------------------------------------------------------------------------------------------------------

srStatus sri_events_start(srEvents* events, const srIntegrator* integrator) {
  return sri_roots_start(events->finder, integrator) == SR_OK ? SR_OK : no_function(events);
}

// Signs of the functions that have changed.
static bool take_fired(srEvents* events) {
  bool any = false;
  for (int i = 0; i < events->count; ++i) {
    events->fired[i] = events->changed[i] != 0 ? (signed char)sri_roots_sign(events->finder, i) : 0;
    any = any || events->fired[i] != 0;
  }
  return any;
}

srStatus sri_events_step(srEvents* events, const srIntegrator* integrator, double* t) {
  if (sri_roots_step(events->finder, integrator, t, events->changed) != SR_OK) return no_function(events);
  if (*t < HUGE_VAL) (void)take_fired(events);
  return SR_OK;
}

void sri_events_forget(srEvents* events, int source, int first) {
  sri_roots_forget(events->finder, events->first[source] + first, events->source[source].count - first);
}

void sri_events_fire(srEvents* events, int source, const signed char* fired) {
  memset(events->fired, 0, (size_t)events->count);
  memcpy(events->fired + events->first[source], fired, (size_t)events->source[source].count);
}

static bool any_fired(const signed char* fired, int count) {
  for (int i = 0; i < count; ++i) {
    if (fired[i] != 0) return true;
  }
  return false;
}

// Actions of the sources that have fired.
static srStatus act_once(srEvents* events, double t, double* q, double* v, double* y, bool* end) {
  for (int i = 0; i < events->list.count; ++i) {
    const srEventSource* source = &events->source[i];
    const signed char* fired = events->fired + events->first[i];
    if (!any_fired(fired, source->count)) continue;
    const int answer = source->act(source->user, t, q, v, y, fired);
    if (answer < 0) {
      events->error_message = (srEventError){SR_EVENTS_ACTION, i, -1};
      return SR_FAILED;
    }
    *end = *end || answer > 0;
  }
  return SR_OK;
}

// What the actions trigger. Functions with rates depend on positions: what they show here has been handled.
static srStatus follow(srEvents* events, double t, const double* q, const double* v, const double* y, bool* any) {
  if (sri_roots_jump(events->finder, t, q, v, y, events->changed) != SR_OK) return no_function(events);
  memset(events->changed + events->count - events->rated, 0, (size_t)events->rated);
  *any = take_fired(events);
  return SR_OK;
}

static bool is_crowd(srEvents* events, double t) {
  const bool near = t - events->t_last <= CROWD_WIDTH * fmax(fabs(t), DBL_MIN);
  events->crowd = near ? events->crowd + 1 : 0;
  if (!near) events->t_last = t;
  return events->crowd > CROWD;
}

srStatus sri_events_act(srEvents* events, double t, double* q, double* v, double* y, bool* end) {
  *end = false;
  for (bool any = true; any;) {
    srStatus status = act_once(events, t, q, v, y, end);
    if (status == SR_OK) status = follow(events, t, q, v, y, &any);
    if (status != SR_OK) return status;
    if (is_crowd(events, t)) {
      events->error_message = (srEventError){SR_EVENTS_CROWD, -1, -1};
      return SR_FAILED;
    }
  }
  return SR_OK;
}

// ---- the loop ---------------------------------------------------------------------------------------------------------

srStatus sri_events_run(srEvents* events, srIntegrator* integrator, double t_end, bool* end) {
  *end = false;
  while (sri_time(integrator) < t_end && !*end) {
    double t = HUGE_VAL;
    srStatus status = sri_step(integrator, t_end);
    if (status == SR_OK) status = sri_events_step(events, integrator, &t);
    if (status != SR_OK) return status;
    if (!(t < HUGE_VAL)) continue;
    status = sri_interpolate(integrator, t, events->q, events->v, events->y, NULL);
    if (status == SR_OK) status = sri_events_act(events, t, events->q, events->v, events->y, end);
    if (status == SR_OK) status = sri_restart(integrator, t, events->q, events->v, events->y);
    if (status != SR_OK) return status;
  }
  return SR_OK;
}
