// gear(NAME): torque of the mesh on each member of a <gear>, of a rack the force; positive along the member's joint.
#include <string.h>

#include "record/kinds.h"

static int count(const srModel* m) { return m->ncoupling > 0 ? m->coupling[m->ncoupling - 1].gear + 1 : 0; }

// The equations of gear i, one after another; returns their number.
static int equations(const srModel* m, int i, const srCoupling** first) {
  int n = 0;
  *first = NULL;
  for (int k = 0; k < m->ncoupling; k++) {
    if (m->coupling[k].gear != i) continue;
    if (n++ == 0) *first = &m->coupling[k];
  }
  return n;
}

// Of an equation "GEAR.MEMBER".
static const char* name(const srModel* m, int i, srPool* pool) {
  const srCoupling* c;
  if (equations(m, i, &c) + 1 > SR_MEMBERS_MOST) return NULL;
  const size_t member = strlen(m->body_name[c->mesh[0].body]);
  return sr_pool_text_n(pool, c->name, strlen(c->name) - member - 1);
}

static srQuantityMember member_of(const srModel* m, const srGearMesh* x) {
  return (srQuantityMember){m->body_name[x->body], x->rack ? "N" : "Nm"};
}

// The reference member, then the others.
static int members(const srModel* m, int i, srQuantityMember* out) {
  const srCoupling* c;
  const int n = equations(m, i, &c);
  out[0] = member_of(m, &c[0].mesh[1]);
  for (int k = 0; k < n; k++) out[1 + k] = member_of(m, &c[k].mesh[0]);
  return 1 + n;
}

static int fill(srRecorder* r, const srRecordGroup* group, const double axes[16], double* out) {
  const srCoupling* c;
  const int n = equations(r->m, group->index, &c);
  (void)axes;
  out[0] = 0;
  for (int k = 0; k < n; k++) {
    out[0] += c[k].mesh[1].factor * r->d->lambda[c[k].row];
    out[1 + k] = c[k].mesh[0].factor * r->d->lambda[c[k].row];
  }
  return 0;
}

const srQuantityKind sr_quantity_gear = {
    .form = "gear(NAME)",
    .about = "gear: torque of the mesh on each member, of a rack the force",
    .stage = SR_STAGE_ACCELERATION,
    .count = count,
    .name = name,
    .members = members,
    .fill = fill,
};
