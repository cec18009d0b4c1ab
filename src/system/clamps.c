// Set-valued friction of joints, as methods for rigid contact see it (integrate.h: srUnilateral): contacts that are always closed, under a normal force that is
// given.
//   |f| <= F at rest, f = -Fk v/|v| while it slips        F: the normal force; coefficients of friction 1 at rest, Fk/F while it slips
// The row of its slip is that of the joint's velocity: one 1 in joint coordinates; between two free bodies it depends on the position, and its rate is the bias of the measurement.
#include <string.h>

#include "dynamics/measurement.h"
#include "force/force.h"
#include "model/private.h"
#include "system/system.h"

static bool is_clamp(const srForceElement* e) { return sr_is_set_valued(e) && e->contact->slip.s > 0; }

int sr_clamp_count(const srModel* m) {
  int n = 0;
  for (int i = 0; i < m->nforce; ++i) n += is_clamp(&m->force[i]);
  return n;
}

static bool is_set_valued(const srSurfaceLaws* c) { return c->slip.law != NULL && c->slip.law->set_valued; }

const srFrictionLaw* sr_set_valued_friction(const srModel* m, const char** name, srPlace* place) {
  for (int i = 0; i < m->nforce; ++i) {
    const srForceElement* e = &m->force[i];
    if (e->contact == NULL || !is_set_valued(e->contact)) continue;
    *name = e->name;
    *place = e->place;
    return e->contact->slip.law;
  }
  for (int i = 0; i < m->nset; ++i) {
    const srContactSet* set = &m->set[i];
    for (int k = 0; k < set->ncard * set->ncard; ++k) {  // materials that do not meet have no law
      if (!is_set_valued(&set->law[k])) continue;
      *name = set->name;
      *place = set->place;
      return set->law[k].slip.law;
    }
  }
  return NULL;
}

// Rows normal, slip, none over the velocities of the slip.
static void put_rows(const srModel* m, srData* d, int dof, srUnilateral* out) {
  double* full = d->work;
  if (!m->absolute) {
    out->n = 1;
    out->column[0] = dof;
    memcpy(out->W, (const double[]){0, 1, 0}, 3 * sizeof *out->W);
    return;
  }
  memset(full, 0, (size_t)m->nv * sizeof *full);
  sr_measurement_row(m, d, dof, 1, full);
  out->n = 0;
  for (int i = 0; i < m->nv; ++i) {
    if (full[i] != 0) out->column[out->n++] = i;
  }
  memset(out->W, 0, 3 * (size_t)out->n * sizeof *out->W);
  for (int i = 0; i < out->n; ++i) out->W[out->n + i] = full[out->column[i]];
}

static int work_of(const srModelSystem* s, int element) {
  for (int k = 0; k < s->nmeter; ++k) {
    if (s->meter[k].driver < 0 && s->meter[k].element == element) return SR_ACCOUNTS + k;
  }
  return -1;
}

int sr_clamps(void* user, double t, const double* q, const double* v, srUnilateral* out, double* rate) {
  const srModelSystem* s = user;
  const srModel* m = s->m;
  if (sr_stop_requested(s->d)) return -1;
  if (m->absolute) (void)sr_evaluate(m, s->d, t, q, v, NULL, SR_STAGE_VELOCITY);
  for (int i = 0; i < m->nforce; ++i) {
    const srForceElement* e = &m->force[i];
    if (!is_clamp(e)) continue;
    const srDryFriction* slip = &e->contact->slip;
    *out = (srUnilateral){.id = i,
                          .normal = -1,
                          .tangent = -1,
                          .mu = slip->k / slip->s,
                          .mu_static = 1,
                          .clamp = slip->s,
                          .work = work_of(s, i),
                          .W = out->W,
                          .column = out->column};
    put_rows(m, s->d, e->dof, out++);
    if (rate == NULL) continue;
    rate[0] = rate[2] = 0;
    rate[1] = m->absolute ? s->d->jbias[e->dof] : 0;
    rate += 3;
  }
  return 0;
}
