// Event-driven contact that goes on without getting anywhere: a heap that slips and strikes at microseconds' intervals; friction between bodies whose motion is driven,
// which changes its direction in every step.
//
//   events   one with n touching contacts counts n^2, the size of its problem. EFFORT of them that covers less than PART of the run ends it: no run takes more than
//            EFFORT/PART = 5e7, 8e4 events of 25 contacts
//   steps    WINDOW steps and rejections in a row, with contacts closed, that cover less than SHARE of the run and are on average shorter than SHORT of its longest
//            step: at that rate it would take WINDOW/SHARE = 5e7 of them
//
// Rattling that accumulates, or a phase that is fast for a while, covers more, or ends. The run of a caller who steps by himself is one of his steps.
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "simulate/run.h"

#define EFFORT 5e5
#define PART 1e-2
#define WINDOW 5000
#define SHARE 1e-4
#define SHORT 2e-4

// Pairs with the most events of the window: one that is not among them takes the place of the least.
void sr_run_count_busy(srRun* run, const char* a, const char* b) {
  srBusyPair* least = &run->busy[0];
  ++run->events_window;
  for (int i = 0; i < SR_COUNT(run->busy); ++i) {
    srBusyPair* pair = &run->busy[i];
    if (pair->a == a && pair->b == b) {
      ++pair->count;
      return;
    }
    if (pair->count < least->count) least = pair;
  }
  *least = (srBusyPair){a, b, least->count + 1};
}

static void name_busy(const srRun* run, char* out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (int i = 0; i < SR_COUNT(run->busy) && used < size; ++i) {
    const srBusyPair* pair = &run->busy[i];
    if (pair->a == NULL) continue;
    const int n = snprintf(out + used, size - used, "%s'%.24s'%s%.24s%s", used > 0 ? ", " : "", pair->a,
                           pair->b != NULL ? " and '" : "", pair->b != NULL ? pair->b : "", pair->b != NULL ? "'" : "");
    used += n > 0 ? (size_t)n : 0;
  }
}

static double length_of(const srRun* run) { return run->options->t_end - run->t0; }

static srStatus check_events(srRun* run, double t) {
  char names[200], reason[280];
  const double effort = sri_rigid_stats(run->rigid)->effort, covered = t - run->t_effort;
  if (effort - run->effort < EFFORT) return SR_OK;
  if (covered < PART * length_of(run)) {
    name_busy(run, names, sizeof names);
    (void)snprintf(reason, sizeof reason, "event-driven contact stalls: the last %ld events cover %.3g s, many of %s",
                   run->events_window, covered, names);
    return sr_run_fail_at(run, t, reason);
  }
  run->effort = effort;
  run->t_effort = t;
  run->events_window = 0;
  memset(run->busy, 0, sizeof run->busy);
  return SR_OK;
}

static srStatus check_steps(srRun* run, double t) {
  int closed, stick;
  const srIntegratorStats* stats = sri_stats(run->integrator);
  const long work = stats->steps + stats->rejected;
  if (work - run->work_window < WINDOW) return SR_OK;
  const double covered = t - run->t_window;
  run->work_window = work;
  run->t_window = t;
  (void)sri_rigid_contradicts(run->rigid, &closed, &stick);
  if (closed == 0 || covered > SHARE * length_of(run) || covered > SHORT * stats->step_largest * WINDOW) return SR_OK;
  char reason[100];
  (void)snprintf(reason, sizeof reason, "event-driven contact stalls: the last %d steps cover %.3g s", WINDOW, covered);
  return sr_run_fail_at(run, t, reason);
}

srStatus sr_run_check_stall(srRun* run) {
  if (run->rigid == NULL || run->options->contact != SR_CONTACT_EVENT || run->ended || run->stopped) return SR_OK;
  const double t = sri_time(run->integrator);
  const srStatus status = check_events(run, t);
  return status == SR_OK ? check_steps(run, t) : status;
}
