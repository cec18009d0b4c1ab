// Options of a session: those of the model's <run>, and what the client has changed.
//
// Rows are where steps end: the time between them is a whole number of steps of methods with a fixed step; adaptive ones end a step at each row.
#include <math.h>
#include <sarrus/report.h>
#include <string.h>

#include "live/live.h"

#define PICTURE (1.0 / 60)  // s between rows that are shown while they arrive
#define ROWS_LEAST 300.0    // of a run to its end
#define STEPS_MOST 1e6      // between two rows

#define WORD(NAME, word) word,
static const char* const stabilizations[] = {SR_STABILIZATION_LIST(WORD)};
static const char* const contacts[] = {SR_CONTACT_MODE_LIST(WORD)};
#undef WORD

const char* sr_live_contact_word(srContactMode mode) { return contacts[mode]; }

static bool is_fixed(const srLive* live) { return !sr_run_is_adaptive(&live->run); }

void sr_live_fit_rows(srLive* live) {
  const double step = live->run.step;
  live->steps_a_row = 1;
  if (!is_fixed(live) || !(step > 0)) return;
  live->steps_a_row = (int)fmin(fmax(1, round(live->every / step)), STEPS_MOST);
  live->every = live->steps_a_row * step;
}

// The word of the table: that of a model ends with it, and options outlast the model (parameter).
static const char* lasting(const char* method) {
  const srMethod* known = sri_method_find(method);
  return known != NULL ? known->name : "auto";
}

void sr_live_default_options(srLive* live) {
  const srRunSettings* given = sr_run_settings(live->model.m);
  live->run = sr_run_options(live->model.m);
  live->run.method = lasting(live->run.method);
  live->every = given->every > 0 ? given->every : fmin(PICTURE, live->run.t_end / ROWS_LEAST);
  if (!(live->every > 0)) live->every = PICTURE;
  const srMethod* method = sri_method_find(live->run.method);
  if (live->run.contact == SR_CONTACT_TIMESTEPPING && method != NULL && !method->impulses) live->run.method = "moreau";
  sr_live_fit_rows(live);
}

void sr_live_put_run(const srLive* live, srJson* json) {
  const srRunOptions* o = &live->run;
  sr_json_text(json, "method", o->method);
  sr_json_text(json, "contact", contacts[o->contact]);
  sr_json_number(json, "t_end", o->t_end);
  sr_json_number(json, "step", o->step);
  sr_json_number(json, "rtol", o->rtol);
  sr_json_number(json, "atol", o->atol);
  sr_json_number(json, "every", live->every);
  sr_json_text(json, "stabilization", stabilizations[o->stabilization]);
  sr_json_bool(json, "adaptive", !is_fixed(live));
}

static int take_no_row(void* user, const double* row) {
  (void)user, (void)row;
  return 0;
}

bool sr_live_begin(srLive* live, srMessages* messages) {
  srRunOptions o = live->run;
  if (live->stepper != NULL) return true;
  o.step = is_fixed(live) ? o.step : live->every;
  o.row = take_no_row;
  o.record = live->model.wish.record;
  o.nrecord = live->model.wish.n;
  return sr_stepper_create(live->model.m, &o, messages, &live->stepper) == SR_OK;
}

// ---- the request ---------------------------------------------------------------------------------------------------------------
static bool read_method(srRequest* r, srRunOptions* o) {
  const char* names[64];
  int n = 0, i = -1;
  for (int k = 0; k < sri_method_count() && n < SR_COUNT(names); k++)
    if (!sri_method(k)->absent) names[n++] = sri_method(k)->name;
  if (!sr_request_word(r, "method", names, n, &i)) return false;
  if (i >= 0) o->method = names[i];
  return true;
}

bool sr_live_read_options(srRequest* r, srRunOptions* o, double* every) {
  int contact = (int)o->contact, stabilization = (int)o->stabilization;
  if (!sr_request_word(r, "contact", contacts, SR_COUNT(contacts), &contact)) return false;
  if (contact != (int)o->contact) {  // each way has its methods
    o->method = contact == SR_CONTACT_TIMESTEPPING     ? "moreau"
                : sri_method_find(o->method)->impulses ? "auto"
                                                       : o->method;
    o->contact = (srContactMode)contact;
  }
  if (!read_method(r, o) ||
      !sr_request_word(r, "stabilization", stabilizations, SR_COUNT(stabilizations), &stabilization))
    return false;
  o->stabilization = (srStabilization)stabilization;
  return sr_request_number(r, "step", SR_MEMBER_OPTIONAL, 1e-9, 10, &o->step) &&
         sr_request_number(r, "rtol", SR_MEMBER_OPTIONAL, 0, 1, &o->rtol) &&
         sr_request_number(r, "atol", SR_MEMBER_OPTIONAL, 0, 1, &o->atol) &&
         sr_request_number(r, "every", SR_MEMBER_OPTIONAL, 1e-9, 1e6, every);
}

// Refused options leave the session as it was: what is wrong with them shows when a stepper is made.
bool sr_do_options(srRequest* r) {
  srLive* live = r->live;
  srRunOptions o = live->run;
  double every = live->every;
  if (!sr_live_read_options(r, &o, &every)) return false;
  const srRunOptions before = live->run;
  const double every_before = live->every;
  const srRunGiven given = {.step = sr_request_has(r, "step"),
                            .rtol = sr_request_has(r, "rtol"),
                            .atol = sr_request_has(r, "atol"),
                            .stabilization = sr_request_has(r, "stabilization")};
  srStepper* stepper = live->stepper;
  live->stepper = NULL;
  live->run = o;
  live->every = every;
  sr_live_fit_rows(live);
  if (!sr_live_begin(live, r->messages)) {
    live->run = before;
    live->every = every_before;
    sr_live_fit_rows(live);
    live->stepper = stepper;
    return sr_messages_errors(r->messages) > 0 ? false : sr_request_fail(r, "these options cannot be used together");
  }
  sr_stepper_destroy(stepper);
  live->why[0] = '\0';
  sr_warn_method_options(&live->run, &given, r->messages);
  sr_warn_constraint_options(live->model.m, &live->run, &given, r->messages);
  sr_json_object(&r->answer.json, "run");
  sr_live_put_run(live, &r->answer.json);
  sr_json_object_end(&r->answer.json);
  return true;
}
