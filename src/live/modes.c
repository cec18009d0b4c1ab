// Small motions about the state, or about the nearest equilibrium, with shapes to be shown: as on a page of modes.
#include <math.h>
#include <sarrus/modes.h>

#include "live/live.h"
#include "simulate/run.h"

#define COUNT 6
#define COORDINATES_MOST 1000  // its matrices are dense
#define AMPLITUDE 0.1          // rad or m, of the coordinate that moves most
#define PATIENCE 10.0          // s: an equilibrium may be looked for from many starts
#define HALVINGS 8             // where loops do not close with it

// The poses of one mode, at an amplitude at which its loops close.
static bool put_mode(srPage* page, const srLinear* l, const srMode* mode, int index, const srData* at, srData* d) {
  double A = AMPLITUDE;
  bool closes = false;
  for (int k = 0; k < HALVINGS && !closes; k++) {
    A = k > 0 ? A / 2 : A;
    closes = true;
    for (int i = 0; i < SR_PAGE_PHASES && closes; i++)
      closes = sr_mode_state(l, mode, at, A, 2 * acos(-1.0) * i / SR_PAGE_PHASES, NULL, d) == SR_OK;
  }
  bool good = sr_page_mode(page, mode, index, closes ? A : 0) == SR_OK;
  for (int i = 0; i < SR_PAGE_PHASES && good; i++) {
    if (closes)
      good = sr_mode_state(l, mode, at, A, 2 * acos(-1.0) * i / SR_PAGE_PHASES, NULL, d) == SR_OK;
    else
      sr_data_copy(l->m, at, d);
    good = good && sr_page_phase(page, d) == SR_OK;
  }
  return good;
}

// The poses that the shapes are about.
static bool put_rest(srRequest* r, const srModel* m, srData* at) {
  const size_t n = (size_t)m->nbody * SR_POSE_NUMBERS;
  float* pose = sr_alloc((n + 1) * sizeof *pose);
  if (pose == NULL) return false;
  (void)sr_evaluate(m, at, at->t, NULL, NULL, NULL, SR_STAGE_POSITION);
  sr_page_poses(at, NULL, pose);
  sr_live_put_array(&r->answer, "rest", "f32", pose, n);
  sr_free(pose);
  return true;
}

static srStatus show(srRequest* r, const srLinear* l, srModes* modes, int count, srData* at) {
  srPage* page = NULL;
  const srStability stability = sr_modes_stability(modes);
  sr_modes_keep(modes, count);
  srData* d = sr_data_create(l->m);
  srStatus status = d != NULL ? sr_page_create(l->m, NULL, 0, NULL, &page) : SR_MEMORY;
  for (int i = 0; i < modes->n && status == SR_OK; i++)  // of a pair the one that turns forwards
    if (modes->mode[i].im >= 0 && !put_mode(page, l, &modes->mode[i], i, at, d)) status = SR_FAILED;
  if (status == SR_OK) {
    int n = 0;
    for (int i = 0; i < modes->n; i++) n += modes->mode[i].im >= 0;
    sr_page_put_modes(&r->answer.json, page, sr_stability_word(stability));
    sr_live_put_array(&r->answer, "shapes", "f32", sr_page_phases(page),
                      (size_t)n * SR_PAGE_PHASES * (size_t)l->m->nbody * SR_POSE_NUMBERS);
    sr_live_put_array(&r->answer, "q", "f64", at->q, (size_t)l->m->nq);
    if (!put_rest(r, l->m, at)) status = SR_MEMORY;
  }
  sr_page_destroy(page);
  sr_data_destroy(d);
  return status;
}

static srStatus find(srRequest* r, bool balanced, int count, srData* d) {
  const srModel* m = r->live->model.m;
  srEquilibrium* rest = NULL;
  srLinear* l = NULL;
  srModes* modes = NULL;
  srStatus status = SR_OK;
  if (balanced) status = sr_equilibrium_create(m, d, &(srEquilibriumOptions){0}, r->messages, &rest);
  if (status == SR_OK) status = sr_linearize(m, d, r->messages, &l);
  if (status == SR_OK) status = sr_modes_create(l, r->messages, &modes);
  if (status == SR_OK) status = show(r, l, modes, count, d);
  sr_modes_destroy(modes);
  sr_linear_destroy(l);
  sr_equilibrium_destroy(rest);
  return status;
}

static int stops(void* user) {
  const srLive* live = user;
  return live->stop != 0 || sr_run_clock() >= live->deadline;
}

bool sr_do_modes(srRequest* r) {
  static const char* const places[] = {"state", "equilibrium"};
  const srModel* m = r->live->model.m;
  int at = 0;
  long count = COUNT;
  if (!sr_request_word(r, "at", places, SR_COUNT(places), &at) ||
      !sr_request_whole(r, "count", SR_MEMBER_OPTIONAL, 1, 1000, &count))
    return false;
  if (m->nv + m->ny > COORDINATES_MOST)
    return sr_request_fail(r, "the modes of more than %d coordinates take too long here: `sarrus modes` has them",
                           COORDINATES_MOST);
  srData* d = sr_data_create(m);
  srStatus status = SR_MEMORY;
  if (d != NULL) {
    sr_data_copy(m, r->live->model.d, d);
    d->stop = stops;
    d->stop_user = r->live;
    r->live->deadline = sr_run_clock() + PATIENCE;
    status = find(r, at == 1, (int)count, d);
  }
  sr_data_destroy(d);
  if (status == SR_OK) return true;
  if (status == SR_MEMORY) return sr_request_fail(r, "out of memory");
  if (sr_run_clock() >= r->live->deadline)
    return sr_request_fail(r, "no modes were found within %g s: `sarrus modes` takes its time", PATIENCE);
  return sr_messages_errors(r->messages) > 0 ? false : sr_request_fail(r, "the modes cannot be shown");
}
