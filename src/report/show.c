// Tables for people: lines, matrices and values that several reports show.
#include "record/late.h"
#include "report/report.h"

#define MATRIX_SHOWN 12  // rows and columns; more than this is for --json

void sr_show_line(srText* out, const char* label, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sr_text_print(out, "  %-22s ", label);
  sr_text_vprint(out, format, arguments);
  va_end(arguments);
  sr_text_add(out, "\n", 1);
}

void sr_show_matrix(srText* out, const char* label, const double* x, int rows, int columns) {
  if (rows == 0 || columns == 0) return;
  sr_text_print(out, "%s\n", label);
  if (rows > MATRIX_SHOWN || columns > MATRIX_SHOWN) {
    sr_text_print(out, "  %d x %d; see --json\n", rows, columns);
    return;
  }
  for (int i = 0; i < rows; i++) {
    sr_text_add(out, " ", 1);
    for (int j = 0; j < columns; j++) sr_text_print(out, " %13.6g", x[i * columns + j]);
    sr_text_add(out, "\n", 1);
  }
}

void sr_show_values(srText* out, const char* label, const char* const* names, const char* const* units, const double* x,
                    int n) {
  if (n == 0) return;
  sr_text_print(out, "%s\n", label);
  for (int i = 0; i < n; i++) sr_text_print(out, "  %-22s %16.9g %s\n", names[i], x[i], units ? units[i] : "");
}

static void vector_line(srText* out, const char* label, const double* x, const char* unit) {
  sr_text_print(out, "    %-20s %14.7g %14.7g %14.7g %s\n", label, x[0], x[1], x[2], unit);
}

void sr_show_sensors(srText* out, const srModel* m, srData* d) {
  srLate* late = NULL;
  if (m->nsensor == 0) return;
  out->failed |= sr_late_create(m, NULL, &late) != SR_OK;
  const double* values = late ? sr_late_values(late, d, NULL) : NULL;
  sr_text_print(out, "sensors\n");
  for (int i = 0; i < m->nsensor; i++) {
    const srSensor* s = &m->sensor[i];
    if (s->point < 0) {
      sr_text_print(out, "  %-22s %16.9g %s\n", s->name, sr_formula_sensor(d, s, values), s->unit ? s->unit : "");
      continue;
    }
    srFrameMotion x;
    sr_frame_motion(m, d, s->point, s->relative_to, &x);
    sr_text_print(out, "  %s (%s in %s)\n", s->name, m->point_name[s->point], m->point_name[s->relative_to]);
    vector_line(out, "position", x.position, "m");
    vector_line(out, "velocity", x.velocity, "m/s");
    vector_line(out, "angular velocity", x.angular_velocity, "rad/s");
    vector_line(out, "acceleration", x.acceleration, "m/s^2");
  }
  sr_late_destroy(late);
}

void sr_show_sensor_positions(srText* out, const srModel* m, srData* d, int n) {
  srLate* late = NULL;
  out->failed |= sr_late_create(m, NULL, &late) != SR_OK;
  const double* values = late ? sr_late_values(late, d, NULL) : NULL;
  for (int i = 0; i < m->nsensor && i < n; i++) {
    const srSensor* s = &m->sensor[i];
    srFrameMotion x;
    if (s->point < 0) {
      sr_show_line(out, s->name, "%14.7g %s", sr_formula_sensor(d, s, values), s->unit ? s->unit : "");
      continue;
    }
    sr_frame_motion(m, d, s->point, s->relative_to, &x);
    sr_show_line(out, s->name, "%14.7g %14.7g %14.7g m", x.position[0], x.position[1], x.position[2]);
  }
  sr_late_destroy(late);
}

void sr_show_redundant(srText* out, const srModel* m, const srRank* r) {
  enum { SHOWN = 20 };
  for (int i = 0; i < r->nredundant && i < SHOWN; i++) {
    sr_text_print(out, "  redundant: %s", m->row[r->redundant[i]].name);
    for (int k = r->set_start[i] + 1; k < r->set_start[i + 1]; k++) {
      sr_text_print(out, "%s%s", k == r->set_start[i] + 1 ? ", with " : "; ", m->row[r->set[k]].name);
    }
    sr_text_add(out, "\n", 1);
  }
  if (r->nredundant > SHOWN) sr_text_print(out, "  redundant: %d more, see --json\n", r->nredundant - SHOWN);
}

void sr_show_rest(srText* out, const srRest* rest) {
  if (rest == NULL || rest->n + rest->indeterminate == 0) return;
  if (rest->n > 0) sr_show_line(out, "contacts", "%d closed of %d", rest->closed, rest->n);
  sr_show_line(out, "undetermined forces", "%d", rest->indeterminate);
  for (int i = 0; i < rest->n; i++) {
    const srRestContact* c = &rest->contact[i];
    if (c->status == SR_REST_OPEN) continue;
    sr_text_print(out, "  %s on %s %s: normal %.9g%s, friction %.9g\n", c->b ? c->b : c->a, c->b ? c->a : "its end",
                  sr_rest_word(c->status), c->normal_force, c->unique ? "" : " (not unique)", c->friction_force);
  }
}
