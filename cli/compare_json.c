// The comparison as one JSON object. Keys: docs/compare.md.
#include <stdlib.h>

#include "compare.h"

static void put_error(Json* json, const srTrajectoryError* e) {
  json_object(json, "error");
  json_number(json, "q", e->q);
  json_number(json, "v", e->v);
  json_number(json, "y", e->y);
  json_number(json, "state", e->state);
  json_number(json, "end", fmax(e->end_q, e->end_v));
  json_number(json, "end_q", e->end_q);
  json_number(json, "end_v", e->end_v);
  json_object_end(json);
}

static void put_run(Json* json, const Compare* c, const Entry* e) {
  const Record* r = &e->record;
  json_object(json, NULL);
  json_text(json, "method", sri_method(e->method)->name);
  json_number(json, "rtol", e->rtol);
  json_number(json, "atol", e->atol);
  json_number(json, "step", e->step);
  json_text(json, "status", r->done ? "done" : "failed");
  if (!r->done || is_judged(c, e))
    json_bool(json, "solved", e->solved);
  else
    json_text(json, "solved", NULL);
  json_text(json, "why", r->done ? NULL : r->why);
  json_number(json, "t", r->t);
  json_int(json, "steps", r->steps);
  json_int(json, "rejected", r->rejected);
  json_int(json, "evaluations", r->evaluations);
  json_number(json, "seconds", r->seconds);
  json_int(json, "timed", r->timed);
  put_error(json, &e->error);
  json_object(json, "violation");
  json_number(json, "position", r->violation[0]);
  json_number(json, "velocity", r->violation[1]);
  json_number(json, "acceleration", r->violation[2]);
  json_object_end(json);
  json_object_end(json);
}

static void put_reference(Json* json, const Subject* s) {
  json_object(json, "reference");
  json_array(json, "methods");
  for (int i = 0; i < 2 && s->reference_of[i][0]; i++) json_text(json, NULL, s->reference_of[i]);
  json_array_end(json);
  json_number(json, "error", fmax(s->reference_error.q, fmax(s->reference_error.v, s->reference_error.y)));
  json_number(json, "error_q", s->reference_error.q);
  json_number(json, "error_v", s->reference_error.v);
  json_number(json, "error_y", s->reference_error.y);
  if (!s->reference) json_text(json, "why", s->reference_why);
  json_object_end(json);
}

static void put_model(Json* json, const Compare* c, int i) {
  const Subject* s = &c->subject[i];
  json_object(json, NULL);
  json_text(json, "name", s->m.model->name);
  json_text(json, "file", s->m.path);
  json_text(json, "formulation", sr_formulation_word(s->m.model->formulation));
  json_number(json, "t_end", s->options.t_end);
  json_int(json, "samples", s->samples);
  put_reference(json, s);
  json_array(json, "runs");
  for (int k = 0; k < c->nentry; k++)
    if (c->entry[k].model == i) put_run(json, c, &c->entry[k]);
  json_array_end(json);
  json_object_end(json);
}

static void put_profile(Json* json, const Compare* c) {
  double* tau = calloc((size_t)c->nproblem * (size_t)c->nmethod + 1, sizeof *tau);
  const int n = tau ? sr_profile_steps(c->nproblem, c->nmethod, c->ratio, tau) : 0;
  json_object(json, "profile");
  json_text(json, "measure", c->by_evaluations ? "evaluations" : "time");
  json_int(json, "problems", c->nproblem);
  json_int(json, "left_out", (long long)(c->nsubject - c->njudged) * c->rtol.n);
  json_number(json, "accept", c->accept);
  json_numbers(json, "tau", tau, n);
  json_object(json, "methods");
  for (int j = 0; j < c->nmethod; j++) {
    json_array(json, sri_method(c->method[j])->name);
    for (int i = 0; i < n; i++) json_number(json, NULL, sr_profile(c->nproblem, c->nmethod, c->ratio, j, tau[i]));
    json_array_end(json);
  }
  json_object_end(json);
  json_object_end(json);
  free(tau);
}

void print_compare_json(const Compare* c) {
  Json json = json_begin(stdout);
  json_int(&json, "jobs", (long long)c->jobs);
  json_number(&json, "timeout", c->timeout);
  json_array(&json, "models");
  for (int i = 0; i < c->nsubject; i++) put_model(&json, c, i);
  json_array_end(&json);
  put_profile(&json, c);
  put_warnings(&json, c->cli);
  json_end(&json);
}
