// Overlaps at the start: which pairs of shapes with a contact are in each other, and how deep.
#include "analysis/overlap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "collide/collision.h"
#include "force/instances.h"

#define DEEP 0.05       // of the size of the smaller shape: less is what a contact at rest has
#define ROUNDING 1e-12  // m: shapes that just touch
#define SHOWN 6         // pairs that a message names

const char* sr_shape_title(const srModel* m, int shape, char* text, int size) {
  const srShape* s = &m->shape[shape];
  if (s->name)
    (void)snprintf(text, (size_t)size, "%s/%s", m->body_name[s->body], s->name);
  else
    (void)snprintf(text, (size_t)size, "%s", m->body_name[s->body]);
  return text;
}

static bool is_of_shapes(const srForceElement* e) {
  return e->contact != NULL && e->law->port == SR_PORT_FRAMES && e->contact->shape[0] != NULL;
}

static void visit_pair(const srModel* m, const srData* d, int a, int b, double margin, srShapePairVisitor* visit,
                       void* user) {
  srShapePair pair;
  if (sr_shape_pair(m, d, a < b ? a : b, a < b ? b : a, &pair) && pair.gap <= margin) visit(user, &pair);
}

srStatus sr_contact_pairs(const srModel* m, srData* d, double margin, srShapePairVisitor* visit, void* user) {
  for (int i = 0; i < m->nforce; i++) {
    const srForceElement* e = &m->force[i];
    if (!is_of_shapes(e)) continue;
    visit_pair(m, d, (int)(e->contact->shape[0] - m->collision), (int)(e->contact->shape[1] - m->collision), margin,
               visit, user);
  }
  if (m->nset == 0) return SR_OK;
  if (sr_near_at(m, d) != 0) return SR_FAILED;
  for (int i = 0; i < d->instances->nnear; i++) {
    const srNear* near = &d->instances->near[i];
    visit_pair(m, d, m->collider[near->a].shape, m->collider[near->b].shape, margin, visit, user);
  }
  return SR_OK;
}

// ---- report -------------------------------------------------------------------------------------------------------------

typedef struct Found {
  srShapePair* pair;
  int n, capacity;
  bool failed;
} Found;

static void keep(void* user, const srShapePair* pair) {
  Found* f = user;
  if (!(pair->gap < -ROUNDING)) return;
  if (f->n == f->capacity) {
    const int capacity = 2 * f->capacity + 16;
    srShapePair* more = sr_alloc((size_t)capacity * sizeof *more);
    if (more == NULL) {
      f->failed = true;
      return;
    }
    if (f->n > 0) memcpy(more, f->pair, (size_t)f->n * sizeof *more);
    sr_free(f->pair);
    f->pair = more;
    f->capacity = capacity;
  }
  f->pair[f->n++] = *pair;
}

srStatus sr_overlaps_create(const srModel* m, srData* d, srOverlaps** out) {
  Found f = {0};
  *out = NULL;
  if (sr_evaluate(m, d, d->t, NULL, NULL, NULL, SR_STAGE_POSITION) != 0) return SR_FAILED;
  srStatus status = sr_contact_pairs(m, d, 0, keep, &f);
  srOverlaps* x = status == SR_OK && !f.failed ? sr_alloc(sizeof *x) : NULL;
  if (x == NULL) {
    sr_free(f.pair);
    return status != SR_OK ? status : SR_MEMORY;
  }
  *x = (srOverlaps){.n = f.n, .pair = f.pair};
  *out = x;
  return SR_OK;
}

void sr_overlaps_destroy(srOverlaps* x) {
  if (x == NULL) return;
  sr_free(x->pair);
  sr_free(x);
}

// The least of its lengths.
static double size_of(const srModel* m, int shape) {
  const srCollisionShape* x = &m->collision[shape];
  const double* s = m->shape[shape].size;
  if (x->convex.kind == SR_KIND_PLANE) return HUGE_VAL;
  if (x->convex.kind == SR_KIND_BOX) return 0.5 * fmin(s[0], fmin(s[1], s[2]));
  if (x->convex.kind == SR_KIND_ELLIPSOID) return fmin(s[0], fmin(s[1], s[2]));
  return s[0] != 0 ? fabs(s[0]) : 0.5 * x->reach;
}

int sr_start_overlaps(const srModel* m, srData* d, srMessages* messages) {
  char list[SHOWN * 320] = "", a[128], b[128];
  srOverlaps* x;
  int n = 0;
  if (sr_overlaps_create(m, d, &x) != SR_OK) return 0;
  for (int i = 0; i < x->n; i++) {
    const srShapePair* p = &x->pair[i];
    const double size = fmin(size_of(m, p->a), size_of(m, p->b));
    if (!(-p->gap > DEEP * size) || n++ >= SHOWN) continue;
    const size_t used = strlen(list);
    (void)snprintf(list + used, sizeof list - used, "%s'%s' and '%s' by %.3g m", n > 1 ? ", " : "",
                   sr_shape_title(m, p->a, a, sizeof a), sr_shape_title(m, p->b, b, sizeof b), -p->gap);
  }
  sr_overlaps_destroy(x);
  if (n == 0) return 0;
  sr_messages_add(
      messages, SR_SEVERITY_WARNING, (srPlace){0},
      "%d pair%s of shapes overlap%s at the start, and the contacts push at once: %s%s; --start apart takes "
      "the nearest start without overlaps",
      n, n == 1 ? "" : "s", n == 1 ? "s" : "", list, n > SHOWN ? ", ..." : "");
  return n;
}
