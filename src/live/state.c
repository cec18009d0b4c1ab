// Rows of a session, and the states that it can go back to.
#include <math.h>
#include <string.h>

#include "live/live.h"

// ---- room ----------------------------------------------------------------------------------------------------------------------
void sr_live_free_rows(srLive* live) {
  sr_free(live->pose);
  sr_free(live->column);
  sr_free(live->row);
  live->pose = live->column = NULL;
  live->row = NULL;
}

bool sr_live_make_room(srLive* live) {
  const size_t columns = (size_t)live->model.columns->count, bodies = (size_t)live->model.m->nbody;
  sr_live_free_rows(live);
  live->pose = sr_alloc((bodies + 1) * SR_POSE_NUMBERS * sizeof *live->pose);
  live->column = sr_alloc(columns * sizeof *live->column);
  live->row = sr_alloc(columns * sizeof *live->row);
  return live->pose != NULL && live->column != NULL && live->row != NULL;
}

// ---- history -------------------------------------------------------------------------------------------------------------------
static srLivePast* place_of(srLive* live, long serial) { return &live->past[serial % SR_LIVE_HISTORY]; }

static void drop(srLivePast* past) {
  sr_free(past->x);
  *past = (srLivePast){.serial = -1};
}

void sr_live_forget(srLive* live, long serial) {
  for (int i = 0; i < SR_LIVE_HISTORY; i++)
    if (serial < 0 || live->past[i].serial > serial || live->past[i].n == 0) drop(&live->past[i]);
  live->serial = serial;
}

static double* put(double* to, const double* from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
  return to + n;
}

static const double* get(const double* from, double* to, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
  return from + n;
}

// Without memory the row is not kept: going back to it is refused.
static void remember(srLive* live) {
  const srModel* m = live->model.m;
  const srData* d = live->model.d;
  srLivePast* past = place_of(live, live->serial);
  const int fixed = 1 + m->nq + m->nv + m->ny + m->nz, instances = m->nset > 0 ? sr_instance_numbers(m, d, NULL) : 0;
  const size_t n = (size_t)fixed + (size_t)instances;
  if (past->n != n) {
    drop(past);
    past->x = sr_alloc(n * sizeof *past->x);
    if (past->x == NULL) return;
  }
  double* x = put(past->x, &d->t, 1);
  x = put(put(put(put(x, d->q, m->nq), d->v, m->nv), d->y, m->ny), d->z, m->nz);
  if (instances > 0) (void)sr_instance_numbers(m, d, x);
  past->serial = live->serial;
  past->n = n;
}

bool sr_live_go_back(srLive* live, long serial) {
  const srModel* m = live->model.m;
  srData* d = live->model.d;
  if (serial < 0 || serial > live->serial || place_of(live, serial)->serial != serial) return false;
  const srLivePast* past = place_of(live, serial);
  const double* x = get(past->x, &d->t, 1);
  x = get(get(get(get(x, d->q, m->nq), d->v, m->nv), d->y, m->ny), d->z, m->nz);
  if (m->nset > 0 && !sr_put_instances(m, d, x, (int)(past->n - (size_t)(x - past->x)))) return false;
  d->stage = SR_STAGE_NONE;
  live->serial = serial;
  sr_live_state_changed(live);
  return true;
}

// The next step starts a run there.
void sr_live_state_changed(srLive* live) {
  live->steps = 0;
  live->why[0] = '\0';
  sr_stepper_destroy(live->stepper);
  live->stepper = NULL;
}

// ---- rows ----------------------------------------------------------------------------------------------------------------------
// What only a run integrates is unknown at a state that it has not reached: NaN. Where the equations have no values there, everything but the state is.
static const double* unstepped_row(srLive* live) {
  const srLiveModel* x = &live->model;
  if (sr_recording_row(x->recording, x->d, live->row) == 0) return live->row;
  for (int i = 1 + x->m->njq + x->m->njv; i < x->columns->count; i++) live->row[i] = (double)NAN;
  live->row[0] = x->d->t;
  const srData* d = x->d;
  (void)put(put(live->row + 1, x->m->absolute ? d->jq : d->q, x->m->njq), x->m->absolute ? d->jv : d->v, x->m->njv);
  return live->row;
}

static const double* row_of(srLive* live, bool stepped) {
  const double* row = NULL;
  if (stepped && live->stepper != NULL && sr_step_row(live->stepper, &row) == SR_OK) return row;
  return unstepped_row(live);
}

void sr_live_add_row(srLive* live, srLiveRows* rows, bool stepped, bool fresh) {
  const srModel* m = live->model.m;
  srData* d = live->model.d;
  const int columns = live->model.columns->count - 1;
  const double* row = row_of(live, stepped);
  const bool first = live->serial < 0;
  if (fresh || first) live->serial++;
  if (rows->n++ == 0) rows->first = live->serial;
  for (int i = 0; i < columns; i++) live->column[i] = (float)row[i + 1];
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_POSITION);
  sr_page_poses(d, first ? NULL : live->pose, live->pose);
  sr_text_add(&rows->t, (const char*)&d->t, sizeof d->t);
  sr_text_add(&rows->columns, (const char*)live->column, (size_t)columns * sizeof *live->column);
  sr_text_add(&rows->poses, (const char*)live->pose, (size_t)m->nbody * SR_POSE_NUMBERS * sizeof *live->pose);
  live->t_row = d->t;
  live->steps = 0;
  remember(live);
}

// q, v: of the last row; NULL: not known.
void sr_live_put_arrays(srLiveAnswer* a, srLiveRows* rows, const double* q, const double* v, const srModel* m) {
  sr_json_int(&a->json, "rows", rows->n);
  sr_json_int(&a->json, "serial", rows->first);
  sr_live_put_array(a, "t", "f64", rows->t.data, rows->t.n / sizeof(double));
  sr_live_put_array(a, "columns", "f32", rows->columns.data, rows->columns.n / sizeof(float));
  sr_live_put_array(a, "poses", "f32", rows->poses.data, rows->poses.n / sizeof(float));
  if (q != NULL) {
    sr_live_put_array(a, "q", "f64", q, (size_t)m->nq);
    sr_live_put_array(a, "v", "f64", v, (size_t)m->nv);
  }
  a->bytes.failed = a->bytes.failed || rows->t.failed || rows->columns.failed || rows->poses.failed;
  sr_text_free(&rows->t);
  sr_text_free(&rows->columns);
  sr_text_free(&rows->poses);
}

// Steps may have gone on from the last row.
void sr_live_put_rows(srLive* live, srLiveAnswer* a, srLiveRows* rows) {
  const srLivePast* past = place_of(live, live->serial);
  const double* q = rows->n > 0 && past->serial == live->serial && past->n > 0 ? past->x + 1 : NULL;
  if (rows->n == 0) rows->first = live->serial + 1;
  if (live->pull.on) sr_json_numbers(&a->json, "force", live->pull.force, 3);
  sr_live_put_arrays(a, rows, q, q != NULL ? q + live->model.m->nq : NULL, live->model.m);
}
