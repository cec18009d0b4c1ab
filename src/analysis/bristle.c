// Bounds for the errors of bristles (docs/friction.md). A bristle slips where its bend e reaches Fs/K, which may be far below a
// tolerance that suits positions: then errors alone carry it over the limit, and the body creeps or slips where it should rest.
//   |error of e in a step| <= 0.01 Fs/K
// Fs of a joint is given. Of a contact it is mu N; for N stands the weight of the model, shared by its contacts: the size counts, not
// the digits. Without gravity there is none, and no bound.
#include "analysis/bristle.h"

#include <math.h>
#include <string.h>

#define PART 0.01    // of Fs/K
#define LEAST 1e-12  // Fs/K in m or rad: a bound of 0.01 of it is 45 roundings of 1 m

// The normal force that a contact is taken to have.
static double usual_force(const srModel* m) {
  int contacts = 0;
  double mass = 0;
  for (int i = 0; i < m->nforce; i++) contacts += m->force[i].contact != NULL && m->force[i].contact->law != NULL;
  for (int b = 1; b <= m->nbody; b++) mass += m->body_mass[b];
  const double g = sqrt(m->gravity[0] * m->gravity[0] + m->gravity[1] * m->gravity[1] + m->gravity[2] * m->gravity[2]);
  return contacts > 0 ? mass * g / contacts : 0;
}

// Fs/K of one friction of an element; 0: it has no bristles, or none of a known size.
static double bend(const srModel* m, const srContact* c, const srDryFriction* x) {
  if (x->law == NULL || x->ne == 0 || !(x->p.K > 0)) return 0;
  return x->s * (c->law != NULL ? usual_force(m) : 1) / x->p.K;
}

void sr_bristle_bounds(const srModel* m, double* out) {
  if (m->ny > 0) memset(out, 0, (size_t)m->ny * sizeof *out);
  for (int i = 0; i < m->nforce; i++) {
    const srContact* c = m->force[i].contact;
    if (c == NULL) continue;
    const srDryFriction* parts[] = {&c->slip, &c->roll, &c->spin};
    for (int p = 0; p < 3; p++) {
      const double most = PART * bend(m, c, parts[p]);
      for (int k = 0; k < parts[p]->ne; k++) out[m->force[i].y + parts[p]->e + k] = most;
    }
  }
}

void sr_bristle_warn(const srModel* m, srMessages* messages) {
  for (int i = 0; i < m->nforce; i++) {
    const srContact* c = m->force[i].contact;
    const double most = c != NULL ? bend(m, c, &c->slip) : 0;
    if (!(most > 0) || most >= LEAST) continue;
    sr_messages_add(
        messages, SR_SEVERITY_WARNING, m->force[i].place,
        "%s: its bristles slip after %.2g (limit over K), which is within the rounding of positions: it may creep, or "
        "slip early; take a K below %.2g",
        m->force[i].name, most, c->slip.p.K * most / LEAST);
  }
}
