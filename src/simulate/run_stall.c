// Event-driven contact that goes on without getting anywhere: friction between bodies whose motion is driven can change its direction in every step, and no step is
// long enough to leave that.
//
// A run has stalled when WINDOW steps and rejections in a row, with contacts closed, cover less than SHARE of it, and are on average shorter than SHORT of its longest
// step: at that rate it would take WINDOW/SHARE = 5e7 of them. Rattling that accumulates, or a phase that is fast for a while, covers more, or ends.
#include <stdio.h>

#include "simulate/run.h"

#define WINDOW 5000
#define SHARE 1e-4
#define SHORT 2e-4

srStatus sr_run_check_stall(srRun* run) {
  int closed, stick;
  if (run->rigid == NULL || run->options->contact != SR_CONTACT_EVENT || run->ended || run->stopped) return SR_OK;
  const srIntegratorStats* stats = sri_stats(run->integrator);
  const long work = stats->steps + stats->rejected;
  const double t = sri_time(run->integrator);
  if (work - run->work_window < WINDOW) return SR_OK;
  const double covered = t - run->t_window;
  run->work_window = work;
  run->t_window = t;
  (void)sri_rigid_contradicts(run->rigid, &closed, &stick);
  if (closed == 0 || covered > SHARE * (run->t_end - run->t0) || covered > SHORT * stats->step_largest * WINDOW)
    return SR_OK;
  char reason[100];
  (void)snprintf(reason, sizeof reason, "event-driven contact stalls: the last %d steps cover %.3g s", WINDOW, covered);
  return sr_run_fail_at(run, t, reason);
}
