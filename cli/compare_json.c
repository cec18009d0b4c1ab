// The comparison as one JSON object. Keys: docs/compare.md.
#include <stdlib.h>

#include "compare.h"

static void put_error(srJson* json, const srTrajectoryError* e) {
  sr_json_object(json, "error");
  sr_json_number(json, "q", e->q);
  sr_json_number(json, "v", e->v);
  sr_json_number(json, "y", e->y);
  sr_json_number(json, "state", e->state);
  sr_json_number(json, "end", fmax(e->end_q, e->end_v));
  sr_json_number(json, "end_q", e->end_q);
  sr_json_number(json, "end_v", e->end_v);
  sr_json_object_end(json);
}

static void put_run(srJson* json, const Compare* c, const Entry* e) {
  const Record* r = &e->record;
  sr_json_object(json, NULL);
  sr_json_text(json, "method", sri_method(e->method)->name);
  sr_json_number(json, "rtol", e->rtol);
  sr_json_number(json, "atol", e->atol);
  sr_json_number(json, "step", e->step);
  sr_json_text(json, "status", r->done ? "done" : "failed");
  if (!r->done || is_judged(c, e))
    sr_json_bool(json, "solved", e->solved);
  else
    sr_json_text(json, "solved", NULL);
  sr_json_text(json, "why", r->done ? NULL : r->why);
  sr_json_number(json, "t", r->t);
  sr_json_int(json, "steps", r->steps);
  sr_json_int(json, "rejected", r->rejected);
  sr_json_int(json, "evaluations", r->evaluations);
  sr_json_number(json, "seconds", r->seconds);
  sr_json_int(json, "timed", r->timed);
  put_error(json, &e->error);
  sr_json_object(json, "violation");
  sr_json_number(json, "position", r->violation[0]);
  sr_json_number(json, "velocity", r->violation[1]);
  sr_json_number(json, "acceleration", r->violation[2]);
  sr_json_object_end(json);
  sr_json_object_end(json);
}

static void put_reference(srJson* json, const Subject* s) {
  sr_json_object(json, "reference");
  sr_json_array(json, "methods");
  for (int i = 0; i < 2 && s->reference_of[i][0]; i++) sr_json_text(json, NULL, s->reference_of[i]);
  sr_json_array_end(json);
  sr_json_number(json, "error", fmax(s->reference_error.q, fmax(s->reference_error.v, s->reference_error.y)));
  sr_json_number(json, "error_q", s->reference_error.q);
  sr_json_number(json, "error_v", s->reference_error.v);
  sr_json_number(json, "error_y", s->reference_error.y);
  if (!s->reference) sr_json_text(json, "why", s->reference_why);
  sr_json_object_end(json);
}

static void put_model(srJson* json, const Compare* c, int i) {
  const Subject* s = &c->subject[i];
  sr_json_object(json, NULL);
  sr_json_text(json, "name", s->m.model->name);
  sr_json_text(json, "file", s->m.path);
  sr_json_text(json, "formulation", sr_formulation_word(s->m.model->formulation));
  sr_json_number(json, "t_end", s->options.t_end);
  sr_json_int(json, "samples", s->samples);
  put_reference(json, s);
  sr_json_array(json, "runs");
  for (int k = 0; k < c->nentry; k++)
    if (c->entry[k].model == i) put_run(json, c, &c->entry[k]);
  sr_json_array_end(json);
  sr_json_object_end(json);
}

static void put_profile(srJson* json, const Compare* c) {
  double* tau = calloc((size_t)c->nproblem * (size_t)c->nmethod + 1, sizeof *tau);
  const int n = tau ? sr_profile_steps(c->nproblem, c->nmethod, c->ratio, tau) : 0;
  sr_json_object(json, "profile");
  sr_json_text(json, "measure", c->by_evaluations ? "evaluations" : "time");
  sr_json_int(json, "problems", c->nproblem);
  sr_json_int(json, "left_out", (long long)(c->nsubject - c->njudged) * c->rtol.n);
  sr_json_number(json, "accept", c->accept);
  sr_json_numbers(json, "tau", tau, n);
  sr_json_object(json, "methods");
  for (int j = 0; j < c->nmethod; j++) {
    sr_json_array(json, sri_method(c->method[j])->name);
    for (int i = 0; i < n; i++) sr_json_number(json, NULL, sr_profile(c->nproblem, c->nmethod, c->ratio, j, tau[i]));
    sr_json_array_end(json);
  }
  sr_json_object_end(json);
  sr_json_object_end(json);
  free(tau);
}

void print_compare_json(const Compare* c) {
  srText text = {0};
  srJson json = sr_json_begin(&text);
  sr_json_int(&json, "jobs", (long long)c->jobs);
  sr_json_number(&json, "timeout", c->timeout);
  sr_json_array(&json, "models");
  for (int i = 0; i < c->nsubject; i++) put_model(&json, c, i);
  sr_json_array_end(&json);
  put_profile(&json, c);
  sr_json_warnings(&json, c->cli->messages);
  sr_json_end(&json);
  cli_print(&text);
}
