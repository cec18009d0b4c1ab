// Kinematics: the state, accelerations and driving forces of a driven mechanism at the time reached, and the singular positions on the way.
#include "report/report.h"

// --------------------------------------------------------------------------------------------------------------- JSON
static void put_forces(srJson* json, const srDriven* x) {
  const srModel* m = x->m;
  char name[256];
  sr_json_object(json, "drivers");
  for (int i = 0; i < m->ndriver; i++) sr_json_number(json, m->driver[i].name, x->d->lambda[m->row_driver + i]);
  sr_json_object_end(json);
  sr_json_object(json, "held");
  for (int i = 0; i < x->nheld; i++)
    sr_json_number(json, sr_coordinate_name(m, x->held[i], name, sizeof name), x->held_force[i]);
  sr_json_object_end(json);
}

static void put_singular(srJson* json, const srDriven* x) {
  sr_json_array(json, "singular");
  for (int i = 0; i < x->nsingular && i < SR_SINGULARS; i++) {
    sr_json_object(json, NULL);
    sr_json_number(json, "t", x->singular[i].t);
    sr_json_text(json, "why", x->singular[i].reason);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  sr_json_int(json, "singular_count", x->nsingular);
}

static void put_kinematics(const srKinematicReport* r, srText* out) {
  const srDriven* x = r->driven;
  const srModel* m = x->m;
  srData* d = x->d;
  double kinetic, potential;
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "method", "kinematics");
  sr_json_text(&json, "formulation", sr_formulation_word(m->formulation));
  sr_json_number(&json, "t", d->t);
  sr_json_numbers(&json, "q", d->jq, m->njq);
  sr_json_numbers(&json, "v", d->jv, m->njv);
  sr_json_numbers(&json, "a", r->a, m->njv);
  sr_json_numbers(&json, "y", d->y, m->ny - m->ny_slot);
  sr_json_numbers(&json, "lambda", d->lambda, m->ng);
  put_forces(&json, x);
  put_singular(&json, x);
  sr_put_sensors(&json, m, d, false);
  sr_json_int(&json, "steps", x->steps);
  sr_json_int(&json, "rejected", x->halvings);
  sr_json_int(&json, "evaluations", x->iterations);
  sr_json_int(&json, "rows", r->rows);
  sr_put_violation(&json, x->violation_position, x->violation_velocity, x->violation_acceleration);
  sr_energy(m, d, &kinetic, &potential);
  sr_json_object(&json, "energy");
  sr_json_number(&json, "kinetic", kinetic);
  sr_json_number(&json, "potential", potential);
  sr_json_object_end(&json);
  sr_json_number(&json, "seconds", r->seconds);
  if (r->out) sr_json_text(&json, "out", r->out);
  if (r->error_message) sr_json_text(&json, "error", r->error_message);
  sr_json_warnings(&json, r->messages);
  sr_put_joints(&json, m);
  sr_json_end(&json);
}

// -------------------------------------------------------------------------------------------------------------- table
static void show_forces(srText* out, const srDriven* x) {
  const srModel* m = x->m;
  char name[256];
  if (m->ndriver > 0) sr_text_print(out, "driving forces\n");
  for (int i = 0; i < m->ndriver; i++)
    sr_text_print(out, "  %-22s %16.9g\n", m->driver[i].name, x->d->lambda[m->row_driver + i]);
  if (x->nheld > 0) sr_text_print(out, "forces that hold coordinates\n");
  for (int i = 0; i < x->nheld; i++)
    sr_text_print(out, "  %-22s %16.9g\n", sr_coordinate_name(m, x->held[i], name, sizeof name), x->held_force[i]);
}

static void show_kinematics(const srKinematicReport* r, srText* out) {
  const srDriven* x = r->driven;
  const srModel* m = x->m;
  sr_text_print(out, "model %s, kinematics to t = %.9g s\n", m->name, x->d->t);
  sr_show_values(out, "positions q", m->q_name, m->q_unit, x->d->jq, m->njq);
  sr_show_values(out, "velocities v", m->v_name, m->v_unit, x->d->jv, m->njv);
  sr_show_values(out, "accelerations a = dv/dt", m->v_name, NULL, r->a, m->njv);
  show_forces(out, x);
  for (int i = 0; i < x->nsingular && i < SR_SINGULARS; i++)
    sr_text_print(out, "singular at t = %.9g s: %s\n", x->singular[i].t, x->singular[i].reason);
  sr_show_line(out, "steps", "%ld, %ld halved, %ld iterations", x->steps, x->halvings, x->iterations);
  sr_show_line(out, "violation", "%.3g position, %.3g velocity, %.3g acceleration", x->violation_position,
               x->violation_velocity, x->violation_acceleration);
  if (r->out) sr_show_line(out, "rows", "%ld in %s", r->rows, r->out);
  sr_show_sensors(out, m, x->d);
}

void sr_report_kinematics(const srKinematicReport* r, srReportForm form, srText* out) {
  if (form == SR_REPORT_JSON)
    put_kinematics(r, out);
  else
    show_kinematics(r, out);
}
