// The model of a spec in another formulation: compiles the spec again, with its bodies free, at the state of
// the bodies of the relative model.
#include <sarrus/analysis.h>
#include <string.h>

#include "base/base.h"
#include "catalog/catalog.h"
#include "math/pose.h"
#include "system/system.h"

// Frames of all bodies in the ground: position, quaternion; angular velocity, velocity in their own axes.
static void place_bodies(const srModel* m, srData* d, double* q, double* v) {
  (void)sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_VELOCITY);
  for (int body = 1; body <= m->nbody; ++body, q += 7, v += 6) {
    srFrameMotion x;
    sr_frame_motion(m, d, body, 0, &x);
    memcpy(q, x.position, sizeof x.position);
    srm_quaternion_from_rows(x.rotation, q + 3);
    for (int i = 0; i < 3; ++i) {
      const double axis[3] = {x.rotation[i], x.rotation[3 + i], x.rotation[6 + i]};
      v[i] = srm_dot3(axis, x.angular_velocity);
      v[3 + i] = srm_dot3(axis, x.velocity);
    }
  }
}

static srStatus compile(const srSpec* spec, const srModel* m, srData* d, srFormulation formulation,
                        srMessages* messages, srModel** out) {
  const size_t n = (size_t)m->nbody;
  double* q = sr_alloc((13 * n + 1) * sizeof *q);
  if (q == NULL) return SR_MEMORY;
  place_bodies(m, d, q, q + 7 * n);
  const srAbsolute start = {
      .formulation = formulation, .t = d->t, .q = q, .v = q + 7 * n, .jq = d->jq, .jv = d->jv, .tree = m->priv};
  srMessages* twice = sr_messages_create();  // messages of the first compilation, repeated
  const srStatus status = twice != NULL ? sr_compile_as(spec, &start, twice, out) : SR_MEMORY;
  for (int i = 0; status == SR_INPUT && i < sr_messages_count(twice); ++i)
    sr_messages_pass(messages, twice, i, sr_messages_get(twice, i)->severity);
  sr_messages_destroy(twice);
  sr_free(q);
  return status;
}

srStatus sr_formulate(const srSpec* spec, const srModel* m, srData* d, srFormulation formulation, srMessages* messages,
                      srModel** out, srData** out_data) {
  *out = NULL;
  *out_data = NULL;
  if (m->absolute || formulation == SR_FORMULATION_RELATIVE) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "a relative model is what other formulations are made of, not what is made");
    return SR_INPUT;
  }
  const srStatus status = compile(spec, m, d, formulation, messages, out);
  if (status != SR_OK) return status;
  srData* made = sr_data_create(*out);
  if (made == NULL) {
    sr_model_destroy(*out);
    *out = NULL;
    return SR_MEMORY;
  }
  if (m->ny > 0) memcpy(made->y, d->y, (size_t)m->ny * sizeof *made->y);
  if (m->njv > 0) memcpy(made->tau, d->tau, (size_t)m->njv * sizeof *made->tau);
  *out_data = made;
  return SR_OK;
}
