// Requests for a whole run, and for the report of what was advanced.
#include <math.h>
#include <sarrus/report.h>
#include <string.h>

#include "live/live.h"

#define BYTES_MOST ((size_t)512 << 20)  // of the rows of a run

// ---- a whole run ---------------------------------------------------------------------------------------------------------------
typedef struct Run {
  srLive* live;
  srData* d;
  srLiveRows rows;
  int columns;
  float *pose, *column;
  bool full;
} Run;

static int take_row(void* user, const double* row) {
  Run* x = user;
  const size_t poses = (size_t)x->d->model->nbody * SR_POSE_NUMBERS;
  for (int i = 0; i < x->columns; i++) x->column[i] = (float)row[i + 1];
  sr_page_poses(x->d, x->rows.n > 0 ? x->pose : NULL, x->pose);
  x->rows.n++;
  sr_text_add(&x->rows.t, (const char*)row, sizeof *row);
  sr_text_add(&x->rows.columns, (const char*)x->column, (size_t)x->columns * sizeof *x->column);
  sr_text_add(&x->rows.poses, (const char*)x->pose, poses * sizeof *x->pose);
  x->full = x->rows.columns.n + x->rows.poses.n > BYTES_MOST || x->rows.columns.failed || x->rows.poses.failed;
  return x->full;
}

static int tell_progress(void* user, double t, double t_end) {
  const srLive* live = ((Run*)user)->live;
  return live->options.progress != NULL ? live->options.progress(live->options.user, t, t_end) : 0;
}

static void put_report(srRequest* r, const srRunReport* report) {
  srText text = {0};
  sr_report_run(report, SR_REPORT_JSON, &text);
  sr_json_raw(&r->answer.json, "report", text.data != NULL ? text.data : "null");
  r->answer.text.failed = r->answer.text.failed || text.failed;
  sr_text_free(&text);
}

static void put_run(srRequest* r, Run* x, const srRunOptions* o, const srRunResult* result, srStatus status,
                    const srAssemblyChange* assembly) {
  const srLiveModel* model = &r->live->model;
  srJson* json = &r->answer.json;
  const char* why = status != SR_OK ? result->error_message : NULL;
  if (x->full) why = "the rows do not fit into the memory: take a longer \"every\", or an earlier end";
  if (why == NULL && result->t < o->t_end && r->live->stop != 0) why = "stopped by the client";
  sr_run_conclude(model->m, x->d, o, result, r->messages);
  if (why != NULL) {
    sr_json_object(json, "stopped");
    sr_json_number(json, "t", result->t);
    sr_json_text(json, "why", why);
    sr_json_object_end(json);
  }
  put_report(r, &(srRunReport){.m = model->m,
                               .d = x->d,
                               .options = o,
                               .result = result,
                               .assembly = assembly,
                               .file = r->live->source.file,
                               .contact = sr_live_contact_word(o->contact),
                               .columns = model->columns->count,
                               .error_message = why,
                               .messages = r->messages});
  sr_live_put_arrays(&r->answer, &x->rows, x->d->q, x->d->v, model->m);
}

static bool run(srRequest* r, Run* x, srRunOptions* o, srRunResult* result) {
  const srLiveModel* model = &r->live->model;
  srAssemblyChange* assembly = NULL;
  x->d->stop = sr_live_stops;
  x->d->stop_user = r->live;
  srStatus status = sr_assembly_change_create(model->m, x->d, r->messages, &assembly);
  if (status == SR_OK) status = sr_run(model->m, x->d, o, r->messages, result);
  x->d->stop = NULL;
  const bool good = status == SR_OK || (status == SR_FAILED && assembly != NULL);
  if (good) put_run(r, x, o, result, status, assembly);
  sr_assembly_change_destroy(assembly);
  if (status == SR_MEMORY) return sr_request_fail(r, "out of memory");
  return good || sr_messages_errors(r->messages) > 0 ? good : sr_request_fail(r, "the run cannot be started");
}

// From the initial state; that of the session stays.
bool sr_do_run(srRequest* r) {
  srLive* live = r->live;
  const srLiveModel* model = &live->model;
  srRunOptions o = live->run;
  if (!sr_live_read_options(r, &o, &o.every) || !sr_request_number(r, "t_end", SR_MEMBER_OPTIONAL, 0, 1e12, &o.t_end))
    return false;
  Run x = {.live = live, .d = sr_data_create(model->m), .columns = model->columns->count - 1};
  if (!sr_request_has(r, "every") && !(sr_run_settings(model->m)->every > 0)) o.every = o.t_end / 1000;
  o.row = take_row;
  o.record = model->wish.record;
  o.nrecord = model->wish.n;
  o.progress = tell_progress;
  o.user = &x;
  x.pose = sr_alloc(((size_t)model->m->nbody + 1) * SR_POSE_NUMBERS * sizeof *x.pose);
  x.column = sr_alloc((size_t)(x.columns + 1) * sizeof *x.column);
  srRunResult* result = sr_alloc(sizeof *result);
  const bool room = x.d != NULL && x.pose != NULL && x.column != NULL && result != NULL;
  const bool good = room ? run(r, &x, &o, result) : sr_request_fail(r, "out of memory");
  sr_text_free(&x.rows.t);
  sr_text_free(&x.rows.columns);
  sr_text_free(&x.rows.poses);
  sr_free(result);
  sr_free(x.pose);
  sr_free(x.column);
  sr_data_destroy(x.d);
  return good;
}

// ---- what was advanced -----------------------------------------------------------------------------------------------------------
bool sr_do_report(srRequest* r) {
  srLive* live = r->live;
  const srLiveModel* model = &live->model;
  const double* row = NULL;
  if (live->stepper == NULL || sr_step_row(live->stepper, &row) != SR_OK)
    return sr_request_fail(r, "nothing was advanced since the last change of the state");
  srRunOptions o = live->run;
  o.t_end = model->d->t;
  o.every = live->every;
  put_report(r, &(srRunReport){.m = model->m,
                               .d = model->d,
                               .options = &o,
                               .result = sr_step_result(live->stepper),
                               .file = live->source.file,
                               .contact = sr_live_contact_word(o.contact),
                               .columns = model->columns->count,
                               .error_message = live->why[0] != '\0' ? live->why : NULL,
                               .messages = r->messages});
  return true;
}
