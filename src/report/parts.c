// Parts of JSON that several reports have, and the warnings that go with them.
#include <math.h>

#include "record/late.h"
#include "report/report.h"

// ----------------------------------------------------------------------------------------------------------- messages
static void add(srMessages* messages, srSeverity severity, const char* format, va_list arguments) {
  char text[1024];
  vsnprintf(text, sizeof text, format, arguments);
  sr_messages_add(messages, severity, (srPlace){0}, "%s", text);
}

void sr_report_warn(srMessages* messages, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add(messages, SR_SEVERITY_WARNING, format, arguments);
  va_end(arguments);
}

void sr_report_error(srMessages* messages, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add(messages, SR_SEVERITY_ERROR, format, arguments);
  va_end(arguments);
}

void sr_report_errors(const srMessages* messages, srText* out) {
  srJson json = sr_json_begin(out);
  sr_json_messages(&json, "errors", messages, SR_SEVERITY_ERROR);
  sr_json_end(&json);
}

// -------------------------------------------------------------------------------------------------------------- model
void sr_put_rows(srJson* json, const srModel* m, int n) {
  sr_json_array(json, "rows");
  for (int i = 0; i < n; i++) sr_json_text(json, NULL, m->row[i].name);
  sr_json_array_end(json);
}

void sr_put_redundant(srJson* json, const srModel* m, const srRank* r) {
  sr_json_array(json, "redundant");
  for (int i = 0; i < r->nredundant; i++) {
    sr_json_object(json, NULL);
    sr_json_text(json, "row", m->row[r->redundant[i]].name);
    sr_json_array(json, "set");
    for (int k = r->set_start[i]; k < r->set_start[i + 1]; k++) sr_json_text(json, NULL, m->row[r->set[k]].name);
    sr_json_array_end(json);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_range(srJson* json, const char* key, int first, int count) {
  sr_json_array(json, key);
  sr_json_int(json, NULL, first);
  sr_json_int(json, NULL, count);
  sr_json_array_end(json);
}

void sr_put_joints(srJson* json, const srModel* m) {
  sr_json_array(json, "joints");
  for (int j = 0; j < m->njoint; j++) {
    sr_json_object(json, NULL);
    sr_json_text(json, "name", m->joint_name[j]);
    sr_json_text(json, "type", sr_joint_word((srJointType)m->joint_type[j]));
    put_range(json, "q", m->joint_q[j], m->joint_nq[j]);
    put_range(json, "v", m->joint_v[j], m->joint_nv[j]);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

void sr_put_rest(srJson* json, const srRest* rest) {
  if (rest == NULL) return;
  sr_json_array(json, "contacts");
  for (int i = 0; i < rest->n; i++) {
    const srRestContact* c = &rest->contact[i];
    sr_json_object(json, NULL);
    sr_json_text(json, "a", c->a);
    sr_json_text(json, "b", c->b);
    sr_json_text(json, "status", sr_rest_word(c->status));
    sr_json_number(json, "gap", c->gap);
    sr_json_number(json, "normal_force", c->normal_force);
    sr_json_number(json, "friction_force", c->friction_force);
    sr_json_bool(json, "unique", c->unique);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  sr_json_int(json, "indeterminate", rest->indeterminate);
}

void sr_put_violation(srJson* json, double position, double velocity, double acceleration) {
  sr_json_object(json, "violation");
  sr_json_number(json, "position", position);
  sr_json_number(json, "velocity", velocity);
  sr_json_number(json, "acceleration", acceleration);
  sr_json_object_end(json);
}

// ------------------------------------------------------------------------------------------------------------ sensors
static void put_frame(srJson* json, const srModel* m, srData* d, const srSensor* s, double* J) {
  srFrameMotion x;
  sr_frame_motion(m, d, s->point, s->relative_to, &x);
  sr_json_numbers(json, "position", x.position, 3);
  sr_json_matrix(json, "rotation", x.rotation, 3, 3);
  sr_json_numbers(json, "velocity", x.velocity, 3);
  sr_json_numbers(json, "angular_velocity", x.angular_velocity, 3);
  sr_json_numbers(json, "acceleration", x.acceleration, 3);
  sr_json_numbers(json, "angular_acceleration", x.angular_acceleration, 3);
  if (!J) return;
  sr_frame_jacobian(m, d, s->point, s->relative_to, J);
  sr_json_matrix(json, "jacobian", J, 6, m->nv);  // over v, of free bodies over theirs
}

double sr_formula_sensor(const srData* d, const srSensor* s, const double* late) {
  if (s->late < 0) return d->formula[s->formula];
  return late ? late[s->late] : (double)NAN;
}

void sr_put_sensors(srJson* json, const srModel* m, srData* d, bool jacobian) {
  srLate* x = NULL;
  double* J = jacobian ? sr_alloc((size_t)(6 * m->nv + 1) * sizeof *J) : NULL;
  json->out->failed |= (jacobian && !J) || sr_late_create(m, NULL, &x) != SR_OK;
  const double* late = x ? sr_late_values(x, d, NULL) : NULL;
  sr_json_object(json, "sensors");
  for (int i = 0; i < m->nsensor; i++) {
    const srSensor* s = &m->sensor[i];
    sr_json_object(json, s->name);
    if (s->point >= 0) {
      put_frame(json, m, d, s, J);
    } else {
      sr_json_number(json, "value", sr_formula_sensor(d, s, late));
      sr_json_text(json, "unit", s->unit ? s->unit : "");
    }
    sr_json_object_end(json);
  }
  sr_json_object_end(json);
  sr_late_destroy(x);
  sr_free(J);
}

void sr_warn_sensors(const srModel* m, const srData* d, srMessages* messages) {
  for (int i = 0; i < m->nsensor; i++) {
    const srSensor* s = &m->sensor[i];
    if (s->point < 0 && s->late < 0 && isnan(d->formula[s->formula]))
      sr_report_warn(messages, "the sensor '%s' is not a number at t = %.9g", s->name, d->t);
  }
}
