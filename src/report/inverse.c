// Inverse dynamics: forces of the actuators, and of all force laws, over the times of a motion.
#include "report/report.h"

static const char* actuator_name(const srInverseTable* x, int i) {
  return x->m->v_name[sr_inverse_actuator(x->inverse, i)];
}

// --------------------------------------------------------------------------------------------------------------- JSON
static void put_inverse(const srInverseTable* x, srText* out) {
  const srModel* m = x->m;
  const int n = sr_inverse_count(x->inverse);
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "formulation", sr_formulation_word(m->formulation));
  sr_json_numbers(&json, "t", x->t, x->rows);
  sr_json_array(&json, "actuators");
  for (int i = 0; i < n; i++) sr_json_text(&json, NULL, actuator_name(x, i));
  sr_json_array_end(&json);
  sr_json_matrix(&json, "tau", x->tau, x->rows, n);
  sr_json_matrix(&json, "passive", x->passive, m->absolute ? 0 : x->rows, m->nv);
  sr_json_bool(&json, "redundant", sr_inverse_redundant(x->inverse));
  if (x->out) sr_json_text(&json, "out", x->out);
  if (x->error_message) sr_json_text(&json, "error", x->error_message);
  sr_json_warnings(&json, x->messages);
  sr_put_joints(&json, m);
  sr_json_end(&json);
}

// -------------------------------------------------------------------------------------------------------------- table
static void show_inverse(const srInverseTable* x, srText* out) {
  enum { SHOWN = 40 };
  const int n = sr_inverse_count(x->inverse);
  sr_text_print(out, "model %s: forces of the actuators%s\n", x->m->name,
                sr_inverse_redundant(x->inverse) ? ", of least norm: there are more than degrees of freedom" : "");
  sr_text_print(out, "  %12s", "t s");
  for (int i = 0; i < n; i++) sr_text_print(out, " %16s", actuator_name(x, i));
  sr_text_add(out, "\n", 1);
  for (int k = 0; k < x->rows && k < SHOWN; k++) {
    sr_text_print(out, "  %12.6g", x->t[k]);
    for (int i = 0; i < n; i++) sr_text_print(out, " %16.9g", x->tau[k * n + i]);
    sr_text_add(out, "\n", 1);
  }
  if (x->rows > SHOWN) sr_text_print(out, "  ... %d more: --json or --out\n", x->rows - SHOWN);
  if (x->out) sr_show_line(out, "rows", "%d in %s", x->rows, x->out);
}

void sr_report_inverse(const srInverseTable* x, srReportForm form, srText* out) {
  if (form == SR_REPORT_JSON)
    put_inverse(x, out);
  else
    show_inverse(x, out);
}
