// Requests that move the model: advance, step, back, restart, pose.
#include <math.h>
#include <sarrus/analysis.h>
#include <string.h>

#include "live/live.h"
#include "simulate/run.h"

#define BUDGET 30.0      // ms
#define BUDGET_MOST 1e4  // ms
#define STEPS_MOST 1000000
#define BYTES_MOST ((size_t)64 << 20)  // of rows in one answer
#define TRAVEL 0.2                     // rad or m of a coordinate that is posed, in one assembly
#define TRAVELS_MOST 64

// ---- steps ---------------------------------------------------------------------------------------------------------------------
static bool read_budget(srRequest* r) {
  double budget = BUDGET;
  if (!sr_request_number(r, "budget", SR_MEMBER_OPTIONAL, 1e-3, BUDGET_MOST, &budget)) return false;
  r->live->deadline = sr_run_clock() + 1e-3 * budget;
  return true;
}

static bool is_over(const srLive* live) { return sr_run_clock() >= live->deadline; }

// Within a step: a long one of an adaptive method is left where the budget is used up, once it has got anywhere.
static int stops(void* user) {
  const srLive* live = user;
  if (live->stop != 0) return 1;
  return live->stepper != NULL && is_over(live) && sr_step_time(live->stepper) > live->t_from;
}

typedef enum Went { WENT_ON, WENT_SHORT, WENT_STOPPED } Went;

static Went stopped(srLive* live, const char* why) {
  (void)snprintf(live->why, sizeof live->why, "%s", why);
  return WENT_STOPPED;
}

// One step of the stepper.
static Went step(srLive* live, srMessages* messages) {
  srData* d = live->model.d;
  sr_live_pull(live);
  d->stop = stops;
  d->stop_user = live;
  const srStatus status = sr_step(live->stepper, d, 1, messages);
  d->stop = NULL;
  if (status != SR_OK) {
    const char* why = sr_step_result(live->stepper)->error_message;
    const int n = sr_messages_count(messages);
    if (why[0] == '\0' && n > 0) why = sr_messages_get(messages, n - 1)->text;
    return stopped(live, why[0] != '\0' ? why : sr_status_text(status));
  }
  if (sr_step_ended(live->stepper)) return stopped(live, "an event of the model ends the run");
  if (live->stop != 0) return stopped(live, "stopped by the client");
  if (sr_step_stopped(live->stepper)) return WENT_SHORT;
  live->steps++;
  return WENT_ON;
}

static void put_events(srLive* live, srLiveAnswer* a) {
  sr_json_array(&a->json, "events");
  const srRunResult* x = live->stepper != NULL ? sr_step_result(live->stepper) : NULL;
  for (int i = 0; x != NULL && i < x->nevent; i++) {
    const srRunEvent* e = &x->event[i];
    char text[sizeof e->reason];
    sr_json_object(&a->json, NULL);
    sr_json_number(&a->json, "t", e->t);
    sr_json_text(&a->json, "kind", e->kind);
    sr_json_text(&a->json, "a", e->a);
    sr_json_text(&a->json, "b", e->b);
    sr_json_text(&a->json, "why", sr_run_event_reason(e, text));
    sr_json_object_end(&a->json);
  }
  sr_json_array_end(&a->json);
  if (live->stepper != NULL) sr_step_forget_events(live->stepper);
}

static void put_end(srRequest* r, srLiveRows* rows, bool is_stopped, bool more) {
  srLive* live = r->live;
  sr_json_bool(&r->answer.json, "more", more && !is_stopped);
  if (is_stopped) {
    sr_json_object(&r->answer.json, "stopped");
    sr_json_number(&r->answer.json, "t", live->model.d->t);
    sr_json_text(&r->answer.json, "why", live->why);
    sr_json_object_end(&r->answer.json);
  }
  sr_json_number(&r->answer.json, "now", live->model.d->t);
  put_events(live, &r->answer);
  sr_live_put_rows(live, &r->answer, rows);
}

static bool ready(srRequest* r) {
  srLive* live = r->live;
  if (!read_budget(r)) return false;
  if (!sr_live_begin(live, r->messages))
    return sr_messages_errors(r->messages) > 0 ? false : sr_request_fail(r, "the motion cannot be started");
  live->t_from = live->model.d->t;
  live->why[0] = '\0';
  return true;
}

bool sr_do_advance(srRequest* r) {
  srLive* live = r->live;
  double to = 0;
  srLiveRows rows = {0};
  Went went = WENT_ON;
  if (!sr_request_number(r, "to", SR_MEMBER_REQUIRED, -1e12, 1e12, &to) || !ready(r)) return false;
  const double row = live->steps_a_row * sr_live_hold(live);
  const double enough = to + 1e-9 * row;
  bool more = live->t_row + row <= enough;
  while (more && went == WENT_ON && !is_over(live) && rows.columns.n + rows.poses.n < BYTES_MOST) {
    went = step(live, r->messages);
    if (went == WENT_ON && live->steps >= live->steps_a_row) sr_live_add_row(live, &rows, true, true);
    more = live->t_row + row <= enough;
  }
  if (went == WENT_STOPPED && live->model.d->t > live->t_row) sr_live_add_row(live, &rows, true, true);
  put_end(r, &rows, went == WENT_STOPPED, more);
  return true;
}

bool sr_do_step(srRequest* r) {
  srLive* live = r->live;
  long n = 1, taken = 0;
  srLiveRows rows = {0};
  Went went = WENT_ON;
  if (!sr_request_whole(r, "n", SR_MEMBER_OPTIONAL, 1, STEPS_MOST, &n) || !ready(r)) return false;
  while (taken < n && went == WENT_ON && (taken == 0 || !is_over(live))) {
    went = step(live, r->messages);
    taken += went == WENT_ON;
  }
  if (live->model.d->t > live->t_from) sr_live_add_row(live, &rows, true, true);
  sr_json_int(&r->answer.json, "steps", taken);
  put_end(r, &rows, went == WENT_STOPPED, taken < n);
  return true;
}

// ---- states --------------------------------------------------------------------------------------------------------------------
static void put_state(srRequest* r, bool fresh) {
  srLiveRows rows = {0};
  sr_live_add_row(r->live, &rows, false, fresh);
  sr_live_put_rows(r->live, &r->answer, &rows);
}

bool sr_do_back(srRequest* r) {
  srLive* live = r->live;
  long serial = 0, oldest = live->serial;
  if (!sr_request_whole(r, "serial", SR_MEMBER_REQUIRED, 0, 1000000000, &serial)) return false;
  if (!sr_live_go_back(live, serial)) {
    for (int i = 0; i < SR_LIVE_HISTORY; i++)
      if (live->past[i].n > 0 && live->past[i].serial < oldest) oldest = live->past[i].serial;
    return sr_request_fail(r, "the state of row %ld is not kept: one can go back to rows %ld to %ld", serial, oldest,
                           live->serial);
  }
  put_state(r, false);
  return true;
}

bool sr_do_restart(srRequest* r) {
  srLive* live = r->live;
  srLiveModel* x = &live->model;
  sr_data_reset(x->m, x->d);
  if (sr_assemble(x->m, x->d, r->messages, NULL) != SR_OK) return sr_request_fail(r, "the loops cannot be closed");
  sr_live_state_changed(live);
  sr_live_forget(live, -1);
  put_state(r, true);
  return true;
}

// ---- poses ---------------------------------------------------------------------------------------------------------------------
// Velocity coordinates along which a position coordinate moves: those of a free joint turn, or move, together.
static void hold(const srModel* m, int q, unsigned char* held) {
  for (int j = 0; j < m->njoint; j++) {
    const int k = q - m->joint_q[j], v = m->joint_v[j], type = m->joint_type[j];
    if (k < 0 || k >= m->joint_nq[j]) continue;
    const bool free = type == SR_JOINT_FREE, turns = type == SR_JOINT_BALL || (free && k >= 3);
    if (!free && !turns) {
      held[v + k] = 1;
      return;
    }
    for (int n = 0; n < 3; n++) held[v + (free && k < 3 ? 3 : 0) + n] = 1;
  }
}

static bool is_driven(const srModel* m, const unsigned char* held, const char** name) {
  for (int i = 0; i < m->ndriver; i++) {
    if (held[m->driver[i].dof] == 0) continue;
    *name = m->driver[i].name;
    return true;
  }
  return false;
}

// The wanted positions, and what holds them.
static bool read_pose(srRequest* r, double* q, unsigned char* held, double* farthest) {
  const srModel* m = r->live->model.m;
  const int at = sr_json_member(&r->tree, 0, "q");
  const srJsonNode* node = r->tree.node;
  bool good = at >= 0 && *node[at].text == '[';
  for (int i = at + 1; good && i < node[at].end; i = node[i].end) {
    double index, value;
    good = *node[i].text == '[' && node[i].end == i + 3 && sr_json_node_number(&node[i + 1], &index) &&
           sr_json_node_number(&node[i + 2], &value);
    if (!good) break;
    if (!(index >= 0 && index < m->nq && index == floor(index)))
      return sr_request_fail(r, "there is no coordinate %g: the model has 0 to %d", index, m->nq - 1);
    if (!(fabs(value) <= 1e6))
      return sr_request_fail(r, "the coordinate '%s' cannot be %g: at most 1e6", m->q_name[(int)index], value);
    *farthest = fmax(*farthest, fabs(value - r->live->model.d->q[(int)index]));
    q[(int)index] = value;
    hold(m, (int)index, held);
  }
  return good || sr_request_fail(r, "the request 'pose' needs \"q\": [[index, value], ...]");
}

static bool has_length(const srModel* m, const double* q) {
  for (int j = 0; j < m->njoint; j++) {
    const int type = m->joint_type[j];
    const double* p = q + m->joint_q[j] + (type == SR_JOINT_FREE ? 3 : 0);
    if (type != SR_JOINT_FREE && type != SR_JOINT_BALL) continue;
    if (!(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3] > 1e-12)) return false;
  }
  return true;
}

// From the present positions to the wanted ones in short ways, so that the loops stay on their branch.
static srStatus travel(srLive* live, const double* from, const double* q, const unsigned char* held, double farthest,
                       srMessages* messages) {
  const srModel* m = live->model.m;
  srData* d = live->model.d;
  const int n = m->constrained ? (int)fmin(TRAVELS_MOST, fmax(1, ceil(farthest / TRAVEL))) : 1;
  srStatus status = SR_OK;
  for (int k = 1; k <= n && status == SR_OK; k++) {
    for (int i = 0; i < m->nq; i++)
      if (q[i] != from[i]) d->q[i] = k == n ? q[i] : from[i] + (q[i] - from[i]) * k / n;
    sr_normalize(m, d->q);
    d->stage = SR_STAGE_NONE;
    status = sr_assemble_held(m, d, held, messages, NULL);
  }
  return status;
}

static bool pose(srRequest* r, double* before, double* q, unsigned char* held) {
  const srModel* m = r->live->model.m;
  srData* d = r->live->model.d;
  const char* name = NULL;
  double farthest = 0, *v = before + m->nq;
  memcpy(before, d->q, (size_t)m->nq * sizeof *q);
  memcpy(v, d->v, (size_t)m->nv * sizeof *q);
  memcpy(q, before, (size_t)m->nq * sizeof *q);
  if (!read_pose(r, q, held, &farthest)) return false;
  if (is_driven(m, held, &name)) return sr_request_fail(r, "the joint '%s' is driven: it follows its motion", name);
  if (!has_length(m, q)) return sr_request_fail(r, "a quaternion of length 0 is no rotation");
  if (travel(r->live, before, q, held, farthest, r->messages) == SR_OK) return true;
  memcpy(d->q, before, (size_t)m->nq * sizeof *q);
  memcpy(d->v, v, (size_t)m->nv * sizeof *q);
  d->stage = SR_STAGE_NONE;
  return sr_messages_errors(r->messages) > 0 ? false : sr_request_fail(r, "this pose cannot be reached");
}

bool sr_do_pose(srRequest* r) {
  const srModel* m = r->live->model.m;
  const size_t nq = (size_t)m->nq, nv = (size_t)m->nv;
  if (m->absolute) return sr_request_fail(r, "poses are set in joint coordinates, and this model has others");
  double* x = sr_alloc((2 * nq + nv + 1) * sizeof *x + nv);
  if (x == NULL) return sr_request_fail(r, "out of memory");
  const bool good = pose(r, x, x + nq + nv, (unsigned char*)(x + 2 * nq + nv + 1));
  sr_free(x);
  if (!good) return false;
  sr_live_state_changed(r->live);
  put_state(r, false);
  return true;
}
