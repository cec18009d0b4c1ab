// What closing the loops has changed, in joint coordinates: the state after it less the state before.
#include <math.h>

#include "report/report.h"

#define MOVED 1e-9  // smaller changes are not reported
#define SHOWN 20    // coordinates, of a table

// Counts the state in by `sign`: once before the assembly with -1, once after it with 1.
static void count_state(srAssemblyChange* a, const srModel* m, srData* d, double sign) {
  // Of free bodies, joint coordinates are results.
  if (m->absolute) (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_VELOCITY);
  for (int i = 0; i < m->njq; i++) a->q[i] += sign * d->jq[i];
  for (int i = 0; i < m->njv; i++) a->v[i] += sign * d->jv[i];
}

srStatus sr_assembly_change_create(const srModel* m, srData* d, srMessages* messages, srAssemblyChange** out) {
  *out = NULL;
  srAssemblyChange* a = sr_alloc(sizeof *a);
  double* memory = sr_alloc((size_t)(m->njq + m->njv + 1) * sizeof *memory);
  if (!a || !memory) {
    sr_free(a), sr_free(memory);
    return SR_MEMORY;
  }
  *a = (srAssemblyChange){.constrained = m->constrained, .q = memory, .v = memory + m->njq};
  count_state(a, m, d, -1);
  const srStatus status = sr_assemble(m, d, messages, &a->told);
  if (status == SR_OK) {
    count_state(a, m, d, 1);
    *out = a;
    return SR_OK;
  }
  if (status == SR_FAILED) sr_report_error(messages, "%s", d->error_message);
  sr_assembly_change_destroy(a);
  return status;
}

void sr_assembly_change_destroy(srAssemblyChange* change) {
  if (change) sr_free(change->q);
  sr_free(change);
}

// --------------------------------------------------------------------------------------------------------------- JSON
static void put_moved(srJson* json, const char* key, const char* what, const char* const* names, const double* by,
                      int n) {
  sr_json_array(json, key);
  for (int i = 0; i < n; i++) {
    if (fabs(by[i]) <= MOVED) continue;
    sr_json_object(json, NULL);
    sr_json_text(json, what, names[i]);
    sr_json_number(json, "by", by[i]);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_members(srJson* json, const srModel* m, const srAssemblyChange* a) {
  sr_json_int(json, "iterations", a->told.iterations);
  sr_json_number(json, "residual", a->told.residual_position);
  sr_json_number(json, "residual_velocity", a->told.residual_velocity);
  put_moved(json, "moved", "q", m->q_name, a->q, m->njq);
  put_moved(json, "moved_velocity", "v", m->v_name, a->v, m->njv);
}

void sr_put_assembly(srJson* json, const srModel* m, const srAssemblyChange* a) {
  if (!a || (!m->constrained && !a->constrained)) return;
  sr_json_object(json, "assembly");
  put_members(json, m, a);
  sr_json_object_end(json);
}

void sr_report_assembly(const srModel* m, const srAssemblyChange* change, srText* out) {
  srJson json = sr_json_begin(out);
  put_members(&json, m, change);
  sr_json_end(&json);
}

// -------------------------------------------------------------------------------------------------------------- table
static void show_moved(srText* out, const char* what, const char* const* names, const char* const* units,
                       const double* by, int n) {
  int moved = 0;
  for (int i = 0; i < n; i++) {
    if (fabs(by[i]) <= MOVED || ++moved > SHOWN) continue;
    sr_show_line(out, "", "%s %s changed by %.6g %s", what, names[i], by[i], units[i]);
  }
  if (moved > SHOWN) sr_show_line(out, "", "%d more, see --json", moved - SHOWN);
}

void sr_show_assembly(srText* out, const srModel* m, const srAssemblyChange* a) {
  if (!a || (!m->constrained && !a->constrained)) return;
  sr_show_line(out, "assembly", "%d iterations, residual %.2g, of velocities %.2g", a->told.iterations,
               a->told.residual_position, a->told.residual_velocity);
  show_moved(out, "position", m->q_name, m->q_unit, a->q, m->njq);
  show_moved(out, "velocity", m->v_name, m->v_unit, a->v, m->njv);
}
