// Memory of the contact instances: one block, sized by the model.
#include "model/instance.h"

#include <string.h>

#include "base/base.h"
#include "collide/broad.h"
#include "collide/cells.h"

#define NEAR_PER_SHAPE                                                                                                 \
  16  // pairs in the list for each shape: a ball in a pile has about 13 neighbours within half a radius

// Pairs of all sets together, as far as they are needed.
static int most_near(const srModel* m) {
  long long sum = 0;
  for (int i = 0; i < m->nset; i++) {
    const long long some = (long long)NEAR_PER_SHAPE * m->set[i].nmember + 64;
    sum += some < m->set[i].npair ? some : m->set[i].npair;
  }
  return (int)(sum < 0x3fffffff ? sum : 0x3fffffff);
}

// All arrays from `base` on; base NULL: only their total length.
static size_t lay_out(const srModel* m, struct srInstances* x, char* base) {
  const size_t n = (size_t)m->ninstance, shapes = (size_t)m->ncollider, near = (size_t)x->most_near;
  size_t used = 0;
#define PLACE(member, count)                                                                                           \
  x->member = base == NULL ? NULL : (void*)(base + used);                                                              \
  used += ((count) * sizeof *x->member + 15) / 16 * 16;
  PLACE(instance, n)
  PLACE(near, near)
  PLACE(found, near)
  PLACE(centre, 3 * shapes + 1)
  PLACE(built, 12 * shapes)
  PLACE(origin, 3 * shapes)
  PLACE(wider, shapes)
  PLACE(ball, 4 * shapes)
  PLACE(used, n)
  PLACE(free, n)
  PLACE(nfree, (size_t)m->nset)
  PLACE(chain, n + shapes)
  PLACE(ball_of, shapes)
  PLACE(central, shapes)
  PLACE(place, shapes)
  PLACE(radius, shapes)
  PLACE(body, shapes)
  PLACE(over, shapes)
#undef PLACE
  return used;
}

struct srInstances* sr_instances_create(const srModel* m) {
  struct srInstances sizes = {.most_near = most_near(m)};
  const size_t head = (sizeof sizes + 15) / 16 * 16;
  char* block = sr_alloc(head + lay_out(m, &sizes, NULL));
  if (block == NULL) return NULL;
  struct srInstances* x = (struct srInstances*)(void*)block;
  x->most_near = sizes.most_near;
  (void)lay_out(m, x, block + head);
  x->broad = sr_broad_create(m->ncollider);
  x->cells = sr_cells_create(m->ncollider);
  if (x->broad == NULL || x->cells == NULL) {
    sr_instances_destroy(x);
    return NULL;
  }
  sr_instances_reset(m, x);
  return x;
}

void sr_instances_destroy(struct srInstances* x) {
  if (x == NULL) return;
  sr_broad_destroy(x->broad);
  sr_cells_destroy(x->cells);
  sr_free(x);
}

void sr_instances_reset(const srModel* m, struct srInstances* x) {
  x->nnear = x->nlocated = x->nused = 0;
  x->made = x->running = x->adaptive = x->fixed = false;
  x->centred = x->checked = -1;
  x->changed = true;
  x->edition++;
  x->version++;
  for (int s = 0; s < m->nset; s++) {
    const srContactSet* set = &m->set[s];
    x->nfree[s] = set->most;
    for (int k = 0; k < set->most; k++) {
      x->free[set->first + k] = set->first + set->most - 1 - k;
      x->instance[set->first + k].set = -1;
    }
  }
}

void sr_instances_copy(const srModel* m, const struct srInstances* from, struct srInstances* to) {
  const size_t n = (size_t)m->ninstance;
  to->nnear = from->nnear;
  to->nlocated = from->nlocated;
  to->simple = from->simple;
  to->nused = from->nused;
  to->skin = from->skin;
  to->slow = from->slow;
  to->balls = from->balls;
  to->celled = false;
  to->moved = from->moved;
  to->made = from->made;
  to->centred = to->checked = -1;
  to->changed = true;
  to->edition++;
  to->version++;
#define COPY(member, count) memcpy(to->member, from->member, (count) * sizeof *to->member)
  COPY(instance, n);
  COPY(near, (size_t)from->nnear);
  COPY(built, 12 * (size_t)m->ncollider);
  COPY(origin, 3 * (size_t)m->ncollider);
  COPY(wider, (size_t)m->ncollider);
  COPY(central, (size_t)m->ncollider);
  COPY(radius, (size_t)m->ncollider);
  COPY(body, (size_t)m->ncollider);
  COPY(used, n);
  COPY(free, n);
  COPY(nfree, (size_t)m->nset);
#undef COPY
  for (int i = 0; i < m->ninstance; i++) {
    srInstance* x = &to->instance[i];
    x->element.contact = &x->contact;
    if (x->contact.patch != NULL) x->contact.patch = &x->patch;
  }
}
