// Bounds for the errors of bristles (docs/theory/friction.md). A bristle slips where its deflection e reaches Fs/K, which may be far below a
// tolerance that suits positions: then errors alone carry it over the limit, and the body creeps or slips where it should rest.
//   |error of e in a step| <= 0.01 Fs/K
// Fs of a joint is given. Of a contact it is mu N, with the weight of the model shared by its contacts for N: only the magnitude
// matters. Without gravity there is none, and no bound.
#include "system/bristle.h"

#include <math.h>
#include <string.h>

#include "force/instances.h"

#define PART 0.01    // of Fs/K
#define LEAST 1e-12  // Fs/K in m or rad: a bound of 0.01 of it is 45 roundings of 1 m

// The normal force assumed for a contact.
static double usual_force(const srModel* m) {
  int contacts = 0;
  double mass = 0;
  for (int i = 0; i < m->nforce; i++) contacts += m->force[i].contact != NULL && m->force[i].contact->law != NULL;
  contacts += m->ncollider;  // about as many of the possible contacts are closed
  for (int b = 1; b <= m->nbody; b++) mass += m->body_mass[b];
  const double g = sqrt(m->gravity[0] * m->gravity[0] + m->gravity[1] * m->gravity[1] + m->gravity[2] * m->gravity[2]);
  return contacts > 0 ? mass * g / contacts : 0;
}

// Fs/K of one friction of an element; 0: no bristles, or of unknown size.
static double bend(const srModel* m, const srSurfaceLaws* c, const srDryFriction* x) {
  if (x->law == NULL || x->ne == 0 || !(x->p.K > 0)) return 0;
  return x->s * (c->law != NULL ? usual_force(m) : 1) / x->p.K;
}

static void put_bounds(const srModel* m, const srForceElement* e, double* out) {
  const srDryFriction* parts[] = {&e->contact->slip, &e->contact->roll, &e->contact->spin};
  for (int p = 0; p < 3; p++) {
    const double most = PART * bend(m, e->contact, parts[p]);
    for (int k = 0; k < parts[p]->ne; k++) out[e->y + parts[p]->e + k] = most;
  }
}

void sr_bristle_bounds(const srModel* m, double* out) {
  if (m->ny > 0) memset(out, 0, (size_t)m->ny * sizeof *out);
  for (int i = 0; i < m->nforce; i++) {
    if (m->force[i].contact != NULL) put_bounds(m, &m->force[i], out);
  }
}

void sr_bristle_slots(const srModel* m, const srData* d, double* out) {
  const struct srInstances* x = d->instances;
  for (int i = m->ny - m->ny_slot; i < m->ny; i++) out[i] = SR_Y_UNUSED;
  for (int k = 0; k < x->nused; k++) {
    const srForceElement* e = &x->instance[x->used[k]].element;
    for (int i = 0; i < e->ny; i++) out[e->y + i] = 0;
    put_bounds(m, e, out);
  }
}

static void mark_states(const srForceElement* e, unsigned char* out) {
  if (e->contact == NULL) return;
  const srDryFriction* parts[] = {&e->contact->slip, &e->contact->roll, &e->contact->spin};
  for (int p = 0; p < 3; p++) {
    for (int k = 0; k < parts[p]->ne && parts[p]->law != NULL; k++) out[e->y + parts[p]->e + k] = 1;
  }
}

void sr_bristle_states(const srModel* m, const srData* d, unsigned char* out) {
  if (m->ny > 0) memset(out, 0, (size_t)m->ny);
  for (int i = 0; i < sr_element_count(m, d); i++) mark_states(sr_element(m, d, i), out);
}

void sr_bristle_warn(const srModel* m, srMessages* messages) {
  for (int i = 0; i < m->nforce; i++) {
    const srSurfaceLaws* c = m->force[i].contact;
    const double most = c != NULL ? bend(m, c, &c->slip) : 0;
    if (!(most > 0) || most >= LEAST) continue;
    sr_messages_add(
        messages, SR_SEVERITY_WARNING, m->force[i].place,
        "%s: its bristles slip after %.2g (limit over K), which is within the rounding of positions: it may creep, or "
        "slip early; take a K below %.2g",
        m->force[i].name, most, c->slip.p.K * most / LEAST);
  }
}
