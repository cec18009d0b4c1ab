// Equilibrium: positions, states and multipliers at rest, stability.
#include <string.h>

#include "report/report.h"

// --------------------------------------------------------------------------------------------------------------- JSON
static void put_equilibrium(const srEquilibriumReport* r, srText* out) {
  const srModel* m = r->m;
  const srData* d = r->d;
  const srEquilibrium* e = r->equilibrium;
  char name[256];
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "formulation", sr_formulation_word(m->formulation));
  sr_json_number(&json, "t", d->t);
  sr_json_numbers(&json, "q", d->jq, m->njq);
  sr_json_numbers(&json, "v", d->jv, m->njv);
  sr_json_numbers(&json, "y", d->y, m->ny - m->ny_slot);
  sr_json_numbers(&json, "lambda", d->lambda, m->ng);
  sr_json_object(&json, "exchanged");
  sr_json_object_end(&json);
  sr_json_array(&json, "nonsensitive");
  for (int i = 0; i < e->nnonsensitive; i++)
    sr_json_text(&json, NULL, sr_coordinate_name(m, e->nonsensitive[i], name, sizeof name));
  sr_json_array_end(&json);
  sr_json_number(&json, "residual", e->residual);
  sr_json_int(&json, "iterations", e->iterations);
  sr_json_text(&json, "stability", r->stability);
  if (r->stability && strcmp(r->stability, "marginal") != 0)
    sr_json_bool(&json, "stable", strcmp(r->stability, "stable") == 0);
  else
    sr_json_text(&json, "stable", NULL);
  sr_put_rest(&json, r->rest);
  sr_put_sensors(&json, m, r->d, false);
  sr_json_warnings(&json, r->messages);
  sr_put_joints(&json, m);
  sr_json_end(&json);
}

// -------------------------------------------------------------------------------------------------------------- table
static void show_equilibrium(const srEquilibriumReport* r, srText* out) {
  const srModel* m = r->m;
  const srEquilibrium* e = r->equilibrium;
  char name[256];
  sr_text_print(out, "model %s in equilibrium at t = %.9g s: %s\n", m->name, r->d->t,
                r->stability ? r->stability : "stability not known");
  sr_show_values(out, "positions q", m->q_name, m->q_unit, r->d->jq, m->njq);
  sr_show_values(out, "states y", m->y_name, NULL, r->d->y, m->ny - m->ny_slot);
  for (int i = 0; i < m->ndriver; i++)
    sr_text_print(out, "driver of %s holds %.9g\n", m->driver[i].name, r->d->lambda[m->row_driver + i]);
  for (int i = 0; i < e->nnonsensitive; i++)
    sr_text_print(out, "non-sensitive: %s\n", sr_coordinate_name(m, e->nonsensitive[i], name, sizeof name));
  sr_show_line(out, "residual", "%.3g of the largest force, %d iterations", e->residual, e->iterations);
  sr_show_rest(out, r->rest);
  sr_show_sensors(out, m, r->d);
}

void sr_report_equilibrium(const srEquilibriumReport* r, srReportForm form, srText* out) {
  if (form == SR_REPORT_JSON)
    put_equilibrium(r, out);
  else
    show_equilibrium(r, out);
}
