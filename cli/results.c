// Parts of JSON results that several verbs print.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

size_t result_stem(const char* path) {
  static const char* const endings[] = {".csv", ".h5", ".hdf5"};
  const size_t n = strlen(path);
  for (int i = 0; i < 3; i++) {
    const size_t k = strlen(endings[i]);
    if (n > k && strcmp(path + n - k, endings[i]) == 0) return n - k;
  }
  return n;
}

static void put_range(Json* json, const char* key, int first, int count) {
  json_array(json, key);
  json_int(json, NULL, first);
  json_int(json, NULL, count);
  json_array_end(json);
}

void put_joints(Json* json, const srModel* m) {
  json_array(json, "joints");
  for (int j = 0; j < m->njoint; j++) {
    json_object(json, NULL);
    json_text(json, "name", m->joint_name[j]);
    json_text(json, "type", sr_joint_word((srJointType)m->joint_type[j]));
    put_range(json, "q", m->joint_q[j], m->joint_nq[j]);
    put_range(json, "v", m->joint_v[j], m->joint_nv[j]);
    json_object_end(json);
  }
  json_array_end(json);
}

static void put_frame(Json* json, const srModel* m, srData* d, const srSensor* s, double* J) {
  srFrameMotion x;
  sr_frame_motion(m, d, s->point, s->relative_to, &x);
  json_numbers(json, "position", x.position, 3);
  json_matrix(json, "rotation", x.rotation, 3, 3);
  json_numbers(json, "velocity", x.velocity, 3);
  json_numbers(json, "angular_velocity", x.angular_velocity, 3);
  json_numbers(json, "acceleration", x.acceleration, 3);
  json_numbers(json, "angular_acceleration", x.angular_acceleration, 3);
  if (!J) return;
  sr_frame_jacobian(m, d, s->point, s->relative_to, J);
  json_matrix(json, "jacobian", J, 6, m->nv);  // over v, of free bodies over theirs
}

void put_sensors(Json* json, const srModel* m, srData* d, bool jacobian) {
  double* J = jacobian ? calloc((size_t)(6 * m->nv + 1), sizeof *J) : NULL;
  json_object(json, "sensors");
  for (int i = 0; i < m->nsensor; i++) {
    const srSensor* s = &m->sensor[i];
    json_object(json, s->name);
    if (s->point >= 0) {
      put_frame(json, m, d, s, J);
    } else {
      json_number(json, "value", d->formula[s->formula]);
      json_text(json, "unit", s->unit ? s->unit : "");
    }
    json_object_end(json);
  }
  json_object_end(json);
  free(J);
}

void warn_sensors(Cli* cli, const srModel* m, const srData* d) {
  for (int i = 0; i < m->nsensor; i++) {
    const srSensor* s = &m->sensor[i];
    if (s->point < 0 && isnan(d->formula[s->formula]))
      cli_warning(cli, "the sensor '%s' is not a number at t = %.9g", s->name, d->t);
  }
}

void put_bodies(Json* json, const srModel* m, const srData* d) {
  json_object(json, "bodies");
  json_numbers(json, "q", d->q, m->nq);
  json_numbers(json, "v", d->v, m->nv);
  json_object_end(json);
}

static void put_moved(Json* json, const char* key, const char* what, const char* const* names, const double* by,
                      int n) {
  json_array(json, key);
  for (int i = 0; i < n; i++) {
    if (fabs(by[i]) <= ASSEMBLY_MOVED) continue;
    json_object(json, NULL);
    json_text(json, what, names[i]);
    json_number(json, "by", by[i]);
    json_object_end(json);
  }
  json_array_end(json);
}

void put_assembly(Json* json, const srModel* m, const Assembly* a) {
  if (!m->looped && !a->looped) return;
  json_object(json, "assembly");
  json_int(json, "iterations", a->told.iterations);
  json_number(json, "residual", a->told.residual_position);
  json_number(json, "residual_velocity", a->told.residual_velocity);
  put_moved(json, "moved", "q", m->q_name, a->q, m->njq);
  put_moved(json, "moved_velocity", "v", m->v_name, a->v, m->njv);
  json_object_end(json);
}

void put_messages(Json* json, const char* key, const Cli* cli, srSeverity severity) {
  json_array(json, key);
  for (int i = 0; i < sr_messages_count(cli->messages); i++) {
    const srMessage* message = sr_messages_get(cli->messages, i);
    if (message->severity != severity) continue;
    char* text = cli_message_text(message);
    json_text(json, NULL, text);
    free(text);
  }
  json_array_end(json);
}

void put_warnings(Json* json, const Cli* cli) {
  put_messages(json, "warnings", cli, SR_SEVERITY_WARNING);
  put_messages(json, "notes", cli, SR_SEVERITY_NOTE);
}
