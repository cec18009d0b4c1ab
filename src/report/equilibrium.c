// Equilibrium: positions, velocities, states and multipliers, what was found, stability.
#include <string.h>

#include "report/report.h"

// --------------------------------------------------------------------------------------------------------------- JSON
static void put_equilibrium(const srEquilibriumReport* r, srText* out) {
  const srModel* m = r->m;
  const srData* d = r->d;
  const srEquilibrium *e = r->equilibrium, *found = r->found;
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "formulation", sr_formulation_word(m->formulation));
  sr_json_number(&json, "t", d->t);
  sr_json_numbers(&json, "q", d->jq, m->njq);
  sr_json_numbers(&json, "v", d->jv, m->njv);
  sr_json_numbers(&json, "y", d->y, m->ny - m->ny_slot);
  sr_json_numbers(&json, "lambda", d->lambda, m->ng);
  sr_json_object(&json, "exchanged");
  for (int i = 0; i < found->nexchanged; i++) sr_json_number(&json, found->exchanged[i], found->exchanged_value[i]);
  sr_json_object_end(&json);
  sr_json_array(&json, "nonsensitive");
  for (int i = 0; i < found->nnonsensitive; i++) sr_json_text(&json, NULL, found->nonsensitive_name[i]);
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
  const srEquilibrium *e = r->equilibrium, *found = r->found;
  sr_text_print(out, "model %s in %s at t = %.9g s: %s\n", m->name, found->steady ? "steady motion" : "equilibrium",
                r->d->t, r->stability ? r->stability : "stability not known");
  for (int i = 0; i < found->nexchanged; i++)
    sr_text_print(out, "found: %s = %.12g\n", found->exchanged[i], found->exchanged_value[i]);
  sr_show_values(out, "positions q", m->q_name, m->q_unit, r->d->jq, m->njq);
  if (found->steady) sr_show_values(out, "velocities v", m->v_name, m->v_unit, r->d->jv, m->njv);
  sr_show_values(out, "states y", m->y_name, NULL, r->d->y, m->ny - m->ny_slot);
  for (int i = 0; i < m->ndriver; i++)
    sr_text_print(out, "driver of %s holds %.9g\n", m->driver[i].name, r->d->lambda[m->row_driver + i]);
  for (int i = 0; i < found->nnonsensitive; i++) sr_text_print(out, "non-sensitive: %s\n", found->nonsensitive_name[i]);
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
