// The answer of `sarrus recommend`: what was measured, the trials, the choice with its reasons, and a command to run.
#include <stdarg.h>
#include <string.h>

#include "recommend.h"

// ------------------------------------------------------------------------------------------------------------ command
typedef struct Text {
  char x[2048];
  size_t n;
} Text;

static void append(Text* text, const char* format, ...) SR_PRINTF(2, 3);
static void append(Text* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(text->x + text->n, sizeof text->x - text->n, format, arguments);
  va_end(arguments);
  if (n > 0) text->n += (size_t)n;
  if (text->n >= sizeof text->x) text->n = sizeof text->x - 1;
}

// As a shell takes it for one word.
static void append_word(Text* text, const char* word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+,:@%";
  if (*word && word[strspn(word, plain)] == 0) {
    append(text, " %s", word);
    return;
  }
  append(text, " '");
  for (const char* p = word; *p; p++) append(text, *p == '\'' ? "'\\''" : "%c", *p);
  append(text, "'");
}

static const char* stabilization_of(Recommend* r, int trial) {
  const srModel* m = model_of(r)->model;
  if (!m->looped || m->ng == 0) return NULL;
  return sri_method(r->trial[trial].method)->index > 0 ? "own"
                                                       : stabilization_word(r->c.subject[0].options.stabilization);
}

static const char* command_of(Recommend* r, int trial, Text* text) {
  const srMethodTrial* x = &r->trial[trial];
  const Model* m = model_of(r);
  const char* way = stabilization_of(r, trial);
  text->n = 0;
  append(text, "sarrus run");
  append_word(text, m->path);
  append(text, " --method %s", sri_method(x->method)->name);
  if (isnan(x->rtol))
    append(text, " --step %.3g", x->step);
  else
    append(text, " --rtol %g --atol %g", x->rtol, x->atol);
  if (m->model->run_control != SR_CONTROL_DEFAULT && !isnan(x->rtol)) append(text, " --control default");
  if (way && strcmp(way, "own") != 0) append(text, " --stabilization %s", way);
  if (!isnan(r->t_end)) append(text, " --t-end %.9g", r->t_end);
  if (!model_is_relative(m)) append(text, " --formulation %s", m->formulation);
  for (int i = 0; i < m->settings.n; i++) {
    Text setting = {.n = 0};
    append(&setting, "%s=%s", m->settings.item[i].name, m->settings.item[i].value);
    append(text, " --set");
    append_word(text, setting.x);
  }
  return text->x;
}

// --------------------------------------------------------------------------------------------------------------- JSON
static void put_stiffness(srJson* json, const srSurvey* s) {
  const bool known = s->pace.steps > 0;
  sr_json_object(json, "stiffness");
  sr_json_number(json, "largest", hypot(s->largest.re, s->largest.im));
  sr_json_number(json, "re", s->largest.re);
  sr_json_number(json, "im", fabs(s->largest.im));
  sr_json_number(json, "ratio", known ? s->ratio : (double)NAN);
  sr_json_bool(json, "stiff", s->stiff);
  sr_json_number(json, "step_accuracy", known ? s->pace.h : (double)NAN);
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
  sr_json_text(json, "why", s->pilot_why[0] ? s->pilot_why : NULL);
  sr_json_object_end(json);
  sr_json_object(json, "window");
  sr_json_number(json, "from", s->t0);
  sr_json_number(json, "to", s->t_window);
  sr_json_text(json, "reference", s->guide);
  sr_json_number(json, "rtol", s->rtol_tight);
  sr_json_text(json, "why", s->guide_why[0] ? s->guide_why : NULL);
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
  sr_json_int(json, "rough", s->rough);
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

static const char* status_of(const Record* record) {
  return record->done ? "done" : record->timed_out ? "late" : "failed";
}

static void put_trials(srJson* json, Recommend* r) {
  sr_json_array(json, "trials");
  for (int i = 0; i < r->c.nentry; i++) {
    const srMethodTrial* x = &r->trial[i];
    const Record* record = &r->c.entry[i].record;
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
    sr_json_object(json, "violation");
    sr_json_number(json, "position", x->violation[0]);
    sr_json_number(json, "velocity", x->violation[1]);
    sr_json_number(json, "acceleration", x->violation[2]);
    sr_json_object_end(json);
    sr_json_text(json, "why", record->done ? NULL : record->why);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_choice(srJson* json, Recommend* r, const char* key, int trial) {
  Text command;
  if (trial < 0) {
    sr_json_text(json, key, NULL);
    return;
  }
  const srMethodTrial* x = &r->trial[trial];
  const bool first = trial == r->advice.trial;
  sr_json_object(json, key);
  sr_json_text(json, "method", sri_method(x->method)->name);
  sr_json_number(json, "rtol", x->rtol);
  sr_json_number(json, "atol", x->atol);
  sr_json_number(json, "step", x->step);
  sr_json_text(json, "stabilization", stabilization_of(r, trial));
  if (first) sr_json_bool(json, "accurate", r->advice.accurate);
  sr_json_array(json, "why");
  for (int i = 0; first && i < r->advice.nwhy; i++) sr_json_text(json, NULL, r->advice.why[i]);
  if (!first) sr_json_text(json, NULL, r->advice.alternative_why);
  sr_json_array_end(json);
  sr_json_text(json, "command", command_of(r, trial, &command));
  sr_json_object_end(json);
}

void print_advice_json(Recommend* r, double seconds) {
  const srModel* m = model_of(r)->model;
  srText text = {0};
  srJson json = sr_json_begin(&text);
  sr_json_text(&json, "model", m->name);
  sr_json_text(&json, "formulation", sr_formulation_word(m->formulation));
  sr_json_number(&json, "rtol", r->c.subject[0].options.rtol);
  put_stiffness(&json, r->survey);
  put_pilot(&json, r->survey);
  put_redundancy(&json, m, r->survey);
  put_events_and_size(&json, r->survey);
  put_trials(&json, r);
  put_choice(&json, r, "recommend", r->advice.trial);
  put_choice(&json, r, "alternative", r->advice.alternative);
  sr_json_number(&json, "seconds", seconds);
  sr_json_warnings(&json, r->cli->messages);
  sr_json_messages(&json, "errors", r->cli->messages, SR_SEVERITY_ERROR);
  sr_json_end(&json);
  cli_print(&text);
}

// ------------------------------------------------------------------------------------------------------------- tables
static void print_measures(const srModel* m, const srSurvey* s) {
  const double size = hypot(s->largest.re, s->largest.im);
  report_line("size", "%d positions, %d velocities, %d states, %d rows", s->nq, s->nv, s->ny, s->ng);
  if (m->looped && m->ng > 0)
    report_line("rank", "%d; %d rows redundant, %d at velocity level; %ld changes, %ld singular positions", s->rank,
                s->nredundant, s->ng - s->np, s->rank_changes, s->singular);
  for (int i = 0; i < s->nredundant && i < 6; i++) report_line("", "redundant: %s", m->row[s->redundant[i]].name);
  if (s->nredundant > 6) report_line("", "redundant: %d more, see --json", s->nredundant - 6);
  report_line("largest eigenvalue", "%.4g 1/s (%.4g %+.4g i)", size, s->largest.re, fabs(s->largest.im));
  if (s->pace.steps > 0) {
    report_line("step by accuracy", "%.3g s; times the eigenvalue %.3g", s->pace.h, s->ratio);
    report_line("stability", "multiplies the steps of explicit methods by %.3g: %s", s->factor,
                s->stiff ? "stiff" : "not stiff");
  }
  if (s->pilot)
    report_line("trial run", "%s to t = %.4g s: %ld steps, %ld rejected; mean step %.3g s, %.2g of the stable one",
                s->pilot, s->t, s->steps, s->rejected, s->step, s->h_rate);
  report_line("events", "%ld, %.3g a second; %ld steps beyond limits of joints; %d rough functions", s->events,
              s->events_per_second, s->limits_passed, s->rough);
}

static void print_trials(Recommend* r) {
  const srSurvey* s = r->survey;
  printf("\ntrials from %.4g to %.4g s, errors against %s at %g\n", s->t0, s->t_window, s->guide ? s->guide : "nothing",
         s->rtol_tight);
  printf("  %-16s %9s %9s %12s %8s %8s %10s %10s\n", "method", "rtol", "step", "s per s", "steps", "rejected", "error",
         "violation");
  for (int i = 0; i < r->c.nentry; i++) {
    const srMethodTrial* x = &r->trial[i];
    const Record* record = &r->c.entry[i].record;
    printf("  %-16s", sri_method(x->method)->name);
    if (isnan(x->rtol))
      printf(" %9s %9.2g", "", x->step);
    else
      printf(" %9.1e %9s", x->rtol, "");
    if (record->done)
      printf(" %12.3e %8ld %8ld %10.2e %10.2e\n", x->seconds, x->steps, x->rejected, x->error, x->violation[0]);
    else
      printf(" %s: %.200s\n", status_of(record), record->why);
  }
}

void print_advice(Recommend* r) {
  const srAdvice* a = &r->advice;
  Text command;
  report_heading("model %s", model_of(r)->model->name);
  print_measures(model_of(r)->model, r->survey);
  print_trials(r);
  if (a->trial < 0) {
    printf("\nno method can be recommended\n");
    for (int i = 0; i < a->nwhy; i++) printf("  - %s\n", a->why[i]);
    return;
  }
  printf("\ntake %s\n", sri_method(r->trial[a->trial].method)->name);
  for (int i = 0; i < a->nwhy; i++) printf("  - %s\n", a->why[i]);
  printf("  %s\n", command_of(r, a->trial, &command));
  if (a->alternative < 0) return;
  printf("or %s, %s\n", sri_method(r->trial[a->alternative].method)->name, a->alternative_why);
  printf("  %s\n", command_of(r, a->alternative, &command));
}
