// Partition: independent and dependent coordinates, rank, redundant and trivial equations.
#include "report/report.h"

// --------------------------------------------------------------------------------------------------------------- JSON
static void put_names(srJson* json, const char* key, const srModel* m, const int* coordinate, int n) {
  char name[256];
  sr_json_array(json, key);
  for (int i = 0; i < n; i++) sr_json_text(json, NULL, sr_coordinate_name(m, coordinate[i], name, sizeof name));
  sr_json_array_end(json);
}

static void put_partition(const srModel* m, const srData* d, const srCoordinatePartition* p, srText* out) {
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "name", m->name);
  sr_json_text(&json, "formulation", sr_formulation_word(m->formulation));
  sr_json_number(&json, "t", d->t);
  sr_json_numbers(&json, "q", d->jq, m->njq);
  put_names(&json, "independent", m, p->independent, p->nindependent);
  put_names(&json, "dependent", m, p->dependent, p->ndependent);
  put_names(&json, "driven", m, p->driven, p->ndriven);
  sr_json_int(&json, "rank", p->rank->rank_undriven);
  sr_put_redundant(&json, m, p->rank);
  sr_json_array(&json, "trivial");
  for (int i = 0; i < p->ntrivial; i++) sr_json_text(&json, NULL, m->row[p->trivial[i]].name);
  sr_json_array_end(&json);
  sr_json_number(&json, "condition", p->condition);
  sr_json_int(&json, "dof_position", p->dof_position);
  sr_json_int(&json, "dof_velocity", p->dof_velocity);
  sr_put_joints(&json, m);
  sr_json_end(&json);
}

// -------------------------------------------------------------------------------------------------------------- table
static void show_names(srText* out, const char* label, const srModel* m, const int* coordinate, int n) {
  char name[256];
  sr_text_print(out, "%s: %d\n", label, n);
  for (int i = 0; i < n; i++) sr_text_print(out, "  %s\n", sr_coordinate_name(m, coordinate[i], name, sizeof name));
}

static void show_partition(const srModel* m, const srData* d, const srCoordinatePartition* p, srText* out) {
  sr_text_print(out, "model %s at t = %.9g s\n", m->name, d->t);
  show_names(out, "independent coordinates", m, p->independent, p->nindependent);
  show_names(out, "dependent coordinates", m, p->dependent, p->ndependent);
  if (p->ndriven > 0) show_names(out, "driven coordinates", m, p->driven, p->ndriven);
  sr_show_line(out, "equations", "%d, rank %d", m->ng - m->ndriver, p->rank->rank_undriven);
  sr_show_redundant(out, m, p->rank);
  for (int i = 0; i < p->ntrivial; i++)
    sr_text_print(out, "  trivial: %s: no coordinate enters it\n", m->row[p->trivial[i]].name);
  sr_show_line(out, "condition", "%.6g of the dependent columns", p->condition);
  if (p->dof_position == p->dof_velocity)
    sr_show_line(out, "degrees of freedom", "%d", p->dof_velocity);
  else
    sr_show_line(out, "degrees of freedom", "%d of positions, %d of velocities", p->dof_position, p->dof_velocity);
}

void sr_report_partition(const srModel* m, const srData* d, const srCoordinatePartition* p, srReportForm form,
                         srText* out) {
  if (form == SR_REPORT_JSON)
    put_partition(m, d, p, out);
  else
    show_partition(m, d, p, out);
}
