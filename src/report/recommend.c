// Recommend: what was measured, the trials, the choice with its reasons, and a command to run. Keys: docs/using/recommend.md.
#include <math.h>
#include <string.h>

#include "report/report.h"

#define WORD(NAME, word) word,
static const char* const stabilizations[] = {SR_STABILIZATION_LIST(WORD)};
#undef WORD

// ------------------------------------------------------------------------------------------------------------ command
// As a shell takes it for one word.
static void add_word(srText* out, const char* word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+,:@%";
  if (*word && word[strspn(word, plain)] == 0) {
    sr_text_print(out, " %s", word);
    return;
  }
  sr_text_add(out, " '", 2);
  for (const char* p = word; *p; p++) sr_text_add(out, *p == '\'' ? "'\\''" : p, *p == '\'' ? 4 : 1);
  sr_text_add(out, "'", 1);
}

static const srComparedModel* model_of(const srRecommendation* r) { return &r->trials->model[0]; }

static const char* stabilization_of(const srRecommendation* r, int trial) {
  const srModel* m = model_of(r)->m;
  if (!m->constrained || m->ng == 0) return NULL;
  return sri_method(r->trial[trial].method)->index > 0 ? "own" : stabilizations[model_of(r)->options.stabilization];
}

static void add_command(const srRecommendation* r, int trial, srText* out) {
  const srMethodTrial* x = &r->trial[trial];
  const char* way = stabilization_of(r, trial);
  sr_text_print(out, "sarrus run");
  add_word(out, model_of(r)->file);
  sr_text_print(out, " --method %s", sri_method(x->method)->name);
  if (isnan(x->rtol))
    sr_text_print(out, " --step %.3g", x->step);
  else
    sr_text_print(out, " --rtol %g --atol %g", x->rtol, x->atol);
  if (sr_run_settings(model_of(r)->m)->control != SR_CONTROL_DEFAULT && !isnan(x->rtol))
    sr_text_print(out, " --control default");
  if (way && strcmp(way, "own") != 0) sr_text_print(out, " --stabilization %s", way);
  if (!isnan(r->t_end)) sr_text_print(out, " --t-end %.9g", r->t_end);
  if (r->formulation) sr_text_print(out, " --formulation %s", r->formulation);
  for (int i = 0; i < r->nsetting; i++) {
    srText setting = {0};
    sr_text_print(&setting, "%s=%s", r->settings[i].name, r->settings[i].value);
    sr_text_print(out, " --set");
    if (setting.data) add_word(out, setting.data);
    out->failed = out->failed || setting.failed;
    sr_text_free(&setting);
  }
}

// --------------------------------------------------------------------------------------------------------------- JSON
static void put_stiffness(srJson* json, const srSurvey* s) {
  const bool known = s->step_estimate.steps > 0;
  sr_json_object(json, "stiffness");
  sr_json_number(json, "largest", hypot(s->largest.re, s->largest.im));
  sr_json_number(json, "re", s->largest.re);
  sr_json_number(json, "im", fabs(s->largest.im));
  sr_json_number(json, "ratio", known ? s->ratio : (double)NAN);
  sr_json_bool(json, "stiff", s->stiff);
  sr_json_number(json, "step_accuracy", known ? s->step_estimate.h : (double)NAN);
  sr_json_number(json, "factor", known ? s->factor : (double)NAN);
  sr_json_text(json, "bounded_by", !known ? NULL : s->factor > 1.5 ? "stability" : "accuracy");
  sr_json_array(json, "at");
  for (int i = 0; i < s->nspectrum; i++) {
    const srSpectrum* x = &s->spectrum[i];
    sr_json_object(json, NULL);
    sr_json_number(json, "t", x->t);
    sr_json_number(json, "re", x->largest.re);
    sr_json_number(json, "im", fabs(x->largest.im));
    sr_json_number(json, "rate", x->rate);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  sr_json_object_end(json);
}

static void put_pilot(srJson* json, const srSurvey* s) {
  sr_json_object(json, "pilot");
  sr_json_text(json, "method", s->pilot);
  sr_json_number(json, "t", s->t);
  sr_json_int(json, "steps", s->steps);
  sr_json_int(json, "rejected", s->rejected);
  sr_json_number(json, "step", s->step);
  sr_json_number(json, "step_over_stability", s->h_rate);
  sr_json_number(json, "seconds", s->seconds);
  sr_json_text(json, "reason", s->pilot_reason[0] ? s->pilot_reason : NULL);
  sr_json_object_end(json);
  sr_json_object(json, "window");
  sr_json_number(json, "from", s->t0);
  sr_json_number(json, "to", s->t_window);
  sr_json_text(json, "reference", s->guide);
  sr_json_number(json, "rtol", s->rtol_tight);
  sr_json_text(json, "reason", s->guide_reason[0] ? s->guide_reason : NULL);
  sr_json_object_end(json);
}

static void put_redundancy(srJson* json, const srModel* m, const srSurvey* s) {
  sr_json_object(json, "redundancy");
  sr_json_int(json, "rows", s->ng);
  sr_json_int(json, "rank", s->rank);
  sr_json_array(json, "redundant");
  for (int i = 0; i < s->nredundant; i++) sr_json_text(json, NULL, m->row[s->redundant[i]].name);
  sr_json_array_end(json);
  sr_json_int(json, "velocity_rows", s->ng - s->np);
  sr_json_int(json, "rank_changes", s->rank_changes);
  sr_json_int(json, "singular", s->singular);
  sr_json_object_end(json);
}

static void put_events_and_size(srJson* json, const srSurvey* s) {
  sr_json_object(json, "events");
  sr_json_int(json, "count", s->events);
  sr_json_number(json, "per_second", s->events_per_second);
  sr_json_number(json, "steps_per_event", s->steps_per_event);
  sr_json_int(json, "limits_passed", s->limits_passed);
  sr_json_int(json, "nonsmooth", s->nonsmooth);
  sr_json_object_end(json);
  sr_json_object(json, "size");
  sr_json_int(json, "nq", s->nq);
  sr_json_int(json, "nv", s->nv);
  sr_json_int(json, "ng", s->ng);
  sr_json_int(json, "ny_user", s->ny_user);
  sr_json_int(json, "ny_force", s->ny - s->ny_user);
  sr_json_int(json, "M_entries", s->M_entries);
  sr_json_int(json, "G_entries", s->G_entries);
  sr_json_object_end(json);
}

static const char* status_of(const srTrialRecord* record) {
  return record->done ? "done" : record->timed_out ? "late" : "failed";
}

static void put_trials(srJson* json, const srRecommendation* r) {
  sr_json_array(json, "trials");
  for (int i = 0; i < r->trials->nrun; i++) {
    const srMethodTrial* x = &r->trial[i];
    const srTrialRecord* record = &r->trials->run[i].record;
    sr_json_object(json, NULL);
    sr_json_text(json, "method", sri_method(x->method)->name);
    sr_json_number(json, "rtol", x->rtol);
    sr_json_number(json, "atol", x->atol);
    sr_json_number(json, "step", x->step);
    sr_json_text(json, "status", status_of(record));
    sr_json_number(json, "seconds_per_second", x->seconds);
    sr_json_int(json, "steps", x->steps);
    sr_json_int(json, "rejected", x->rejected);
    sr_json_number(json, "error", x->error);
    sr_put_violation(json, x->violation[0], x->violation[1], x->violation[2]);
    sr_json_text(json, "reason", record->done ? NULL : record->reason);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_choice(srJson* json, const srRecommendation* r, const char* key, int trial) {
  if (trial < 0) {
    sr_json_text(json, key, NULL);
    return;
  }
  const srMethodTrial* x = &r->trial[trial];
  const bool first = trial == r->advice->trial;
  sr_json_object(json, key);
  sr_json_text(json, "method", sri_method(x->method)->name);
  sr_json_number(json, "rtol", x->rtol);
  sr_json_number(json, "atol", x->atol);
  sr_json_number(json, "step", x->step);
  sr_json_text(json, "stabilization", stabilization_of(r, trial));
  if (first) sr_json_bool(json, "accurate", r->advice->accurate);
  sr_json_array(json, "reasons");
  for (int i = 0; first && i < r->advice->nreason; i++) sr_json_text(json, NULL, r->advice->reason[i]);
  if (!first) sr_json_text(json, NULL, r->advice->alternative_reason);
  sr_json_array_end(json);
  srText command = {0};
  add_command(r, trial, &command);
  sr_json_text(json, "command", command.data);
  json->out->failed = json->out->failed || command.failed;
  sr_text_free(&command);
  sr_json_object_end(json);
}

static void put_recommendation(const srRecommendation* r, srText* out) {
  const srModel* m = model_of(r)->m;
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "model", m->name);
  sr_json_text(&json, "formulation", sr_formulation_word(m->formulation));
  sr_json_number(&json, "rtol", model_of(r)->options.rtol);
  put_stiffness(&json, r->survey);
  put_pilot(&json, r->survey);
  put_redundancy(&json, m, r->survey);
  put_events_and_size(&json, r->survey);
  put_trials(&json, r);
  put_choice(&json, r, "recommend", r->advice->trial);
  put_choice(&json, r, "alternative", r->advice->alternative);
  sr_json_number(&json, "seconds", r->seconds);
  sr_json_warnings(&json, r->messages);
  sr_json_messages(&json, "errors", r->messages, SR_SEVERITY_ERROR);
  sr_json_end(&json);
}

// ------------------------------------------------------------------------------------------------------------- tables
static void show_measures(srText* out, const srModel* m, const srSurvey* s) {
  const double size = hypot(s->largest.re, s->largest.im);
  sr_show_line(out, "size", "%d positions, %d velocities, %d states, %d constraint equations", s->nq, s->nv, s->ny,
               s->ng);
  if (m->constrained && m->ng > 0)
    sr_show_line(out, "rank", "%d; %d equations redundant, %d at velocity level; %ld changes, %ld singular positions",
                 s->rank, s->nredundant, s->ng - s->np, s->rank_changes, s->singular);
  for (int i = 0; i < s->nredundant && i < 6; i++) sr_show_line(out, "", "redundant: %s", m->row[s->redundant[i]].name);
  if (s->nredundant > 6) sr_show_line(out, "", "redundant: %d more, see --json", s->nredundant - 6);
  sr_show_line(out, "largest eigenvalue", "%.4g 1/s (%.4g %+.4g i)", size, s->largest.re, fabs(s->largest.im));
  if (s->step_estimate.steps > 0) {
    sr_show_line(out, "step by accuracy", "%.3g s; times the eigenvalue %.3g", s->step_estimate.h, s->ratio);
    sr_show_line(out, "stability", "multiplies the steps of explicit methods by %.3g: %s", s->factor,
                 s->stiff ? "stiff" : "not stiff");
  }
  if (s->pilot)
    sr_show_line(out, "trial run",
                 "%s to t = %.4g s: %ld steps, %ld rejected; mean step %.3g s, %.2g of the stable one", s->pilot, s->t,
                 s->steps, s->rejected, s->step, s->h_rate);
  sr_show_line(out, "events", "%ld, %.3g a second; %ld steps beyond limits of joints; %d nonsmooth functions",
               s->events, s->events_per_second, s->limits_passed, s->nonsmooth);
}

static void show_trials(srText* out, const srRecommendation* r) {
  const srSurvey* s = r->survey;
  sr_text_print(out, "\ntrials from %.4g to %.4g s, errors against %s at %g\n", s->t0, s->t_window,
                s->guide ? s->guide : "nothing", s->rtol_tight);
  sr_text_print(out, "  %-16s %9s %9s %12s %8s %8s %10s %10s\n", "method", "rtol", "step", "s per s", "steps",
                "rejected", "error", "violation");
  for (int i = 0; i < r->trials->nrun; i++) {
    const srMethodTrial* x = &r->trial[i];
    const srTrialRecord* record = &r->trials->run[i].record;
    sr_text_print(out, "  %-16s", sri_method(x->method)->name);
    if (isnan(x->rtol))
      sr_text_print(out, " %9s %9.2g", "", x->step);
    else
      sr_text_print(out, " %9.1e %9s", x->rtol, "");
    if (record->done)
      sr_text_print(out, " %12.3e %8ld %8ld %10.2e %10.2e\n", x->seconds, x->steps, x->rejected, x->error,
                    x->violation[0]);
    else
      sr_text_print(out, " %s: %.200s\n", status_of(record), record->reason);
  }
}

static void show_choice(srText* out, const srRecommendation* r, int trial) {
  sr_text_add(out, "  ", 2);
  add_command(r, trial, out);
  sr_text_add(out, "\n", 1);
}

static void show_recommendation(srText* out, const srRecommendation* r) {
  const srAdvice* a = r->advice;
  sr_text_print(out, "model %s\n", model_of(r)->m->name);
  show_measures(out, model_of(r)->m, r->survey);
  show_trials(out, r);
  if (a->trial < 0)
    sr_text_print(out, "\nno method can be recommended\n");
  else
    sr_text_print(out, "\ntake %s\n", sri_method(r->trial[a->trial].method)->name);
  for (int i = 0; i < a->nreason; i++) sr_text_print(out, "  - %s\n", a->reason[i]);
  if (a->trial < 0) return;
  show_choice(out, r, a->trial);
  if (a->alternative < 0) return;
  sr_text_print(out, "or %s, %s\n", sri_method(r->trial[a->alternative].method)->name, a->alternative_reason);
  show_choice(out, r, a->alternative);
}

void sr_report_recommendation(const srRecommendation* x, srReportForm form, srText* out) {
  if (form == SR_REPORT_JSON)
    put_recommendation(x, out);
  else
    show_recommendation(out, x);
}
