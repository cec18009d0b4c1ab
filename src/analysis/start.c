// Initial state of a run and the joint limits: which joints are outside, and the nearest start inside.
//
// A tree: every coordinate moves to the end that it has passed. With loops the positions are projected into the limits and onto the
// constraints in turn (alternating projections; Bauschke and Borwein 1996), and the limits are tightened a little more in every
// round, so that the limit point is reached.
#include <math.h>
#include <sarrus/analysis.h>
#include <stdio.h>
#include <string.h>

#include "analysis/overlap.h"
#include "base/base.h"
#include "model/private.h"
#include "system/system.h"

#define ROUNDS 120
#define DRAWN_IN                                                                                                       \
  1e-9  // part of the range (of 1 rad or m where it is longer) by which the limits are tightened first ...
#define DRAWN_IN_MOST 0.01  // ... and at most
#define DRAWN_IN_GROWTH 1.2
#define SHOWN 6  // joints that a message names

// The nearest position inside the limits of joint j, tightened by a part of their range; q where it has none.
static double nearest(const srModel* m, int j, double q, double part) {
  const double lower = m->priv->limits[2 * j], upper = m->priv->limits[2 * j + 1];
  const double inner = part * fmin(upper - lower, 1.0);
  return isnan(lower) ? q : fmin(fmax(q, lower + inner), upper - inner);
}

static bool is_outside(const srModel* m, int j, const double* q) {
  return m->joint_nq[j] > 0 && nearest(m, j, q[m->joint_q[j]], 0.0) != q[m->joint_q[j]];
}

static bool is_driven(const srModel* m, int j) {
  for (int i = 0; i < m->ndriver; ++i) {
    if (m->driver[i].qdof == m->joint_q[j]) return true;
  }
  return false;
}

// Names of joints for a message, truncated where there are many.
typedef struct List {
  char text[SHOWN * 140];
  int n;
  srPlace place;  // of the first one's body
} List;

static void add(List* list, const srModel* m, int j, const char* how, const double* q) {
  const size_t used = strlen(list->text), room = sizeof list->text - used;
  if (++list->n > SHOWN) return;
  if (list->n == 1) list->place = m->body_place[m->joint_body[j]];
  (void)snprintf(list->text + used, room, "%s'%.50s' %s %.6g %s (%.6g to %.6g)", list->n > 1 ? ", " : "",
                 m->joint_name[j], how, q[m->joint_q[j]], m->q_unit[m->joint_q[j]], m->priv->limits[2 * j],
                 m->priv->limits[2 * j + 1]);
}

static const char* more(const List* list) { return list->n > SHOWN ? ", ..." : ""; }

int sr_start_outside(const srModel* m, const srData* d, srMessages* messages) {
  List list = {.n = 0};
  for (int j = 0; j < m->njoint; ++j) {
    if (is_outside(m, j, d->jq)) add(&list, m, j, "at", d->jq);
  }
  if (list.n == 0) return 0;
  sr_messages_add(
      messages, SR_SEVERITY_WARNING, list.place,
      "the start is outside of the limits of %d joint%s, and the stops push at once: %s%s; --start inside-limits takes "
      "the nearest start inside, --q or <joint q> another one",
      list.n, list.n == 1 ? "" : "s", list.text, more(&list));
  return list.n;
}

// Driven coordinates are on their motion.
static bool can_move(const srModel* m, int j) { return m->joint_nq[j] > 0 && !is_driven(m, j); }

static void clamp(const srModel* m, srData* d, double part) {
  for (int j = 0; j < m->njoint; ++j) {
    if (can_move(m, j)) d->q[m->joint_q[j]] = nearest(m, j, d->q[m->joint_q[j]], part);
  }
}

static bool is_inside(const srModel* m, const double* q) {
  for (int j = 0; j < m->njoint; ++j) {
    if (can_move(m, j) && is_outside(m, j, q)) return false;
  }
  return true;
}

static void tell_moved(const srModel* m, const srData* d, const double* before, srMessages* messages) {
  List list = {.n = 0};
  for (int j = 0; j < m->njoint; ++j) {
    if (can_move(m, j) && is_outside(m, j, before)) add(&list, m, j, "to", d->q);
  }
  sr_messages_add(messages, SR_SEVERITY_NOTE, (srPlace){0},
                  "the start is moved inside of the limits of %d joint%s: %s%s", list.n, list.n == 1 ? "" : "s",
                  list.text, more(&list));
}

static srStatus refuse(const srModel* m, const srData* d, srStatus status, srMessages* messages) {
  List list = {.n = 0};
  for (int j = 0; j < m->njoint; ++j) {
    if (can_move(m, j) && is_outside(m, j, d->q)) add(&list, m, j, "stays at", d->q);
  }
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                  "no start was found inside of all limits with the constraints met%s%s%s; give positions by --q",
                  list.n > 0 ? ": " : "", list.text, more(&list));
  return status;
}

// Into the limits and onto the constraints in turn.
static srStatus search(const srModel* m, srData* d, srMessages* messages) {
  double part = DRAWN_IN;
  for (int k = 0; k < ROUNDS; ++k) {
    clamp(m, d, k == 0 ? 0.0 : part);
    const srStatus status = sr_assemble(m, d, NULL, NULL);
    if (status != SR_OK) return refuse(m, d, status, messages);
    if (is_inside(m, d->q)) return SR_OK;
    part = fmin(DRAWN_IN_MOST, DRAWN_IN_GROWTH * part);
  }
  return refuse(m, d, SR_INPUT, messages);
}

static srStatus start_inside_limits(const srModel* m, srData* d, srMessages* messages) {
  if (m->absolute) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0},
                    "a start inside of the limits is found in joint coordinates: do it before sr_formulate");
    return SR_INPUT;
  }
  const srStatus assembled = sr_assemble(m, d, messages, NULL);
  if (assembled != SR_OK || is_inside(m, d->q)) return assembled;
  double* q = sr_alloc((size_t)m->nq * sizeof *q);
  if (q == NULL) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "out of memory for the start");
    return SR_MEMORY;
  }
  memcpy(q, d->q, (size_t)m->nq * sizeof *q);
  const srStatus status = search(m, d, messages);
  if (status == SR_OK) tell_moved(m, d, q, messages);
  sr_free(q);
  return status;
}

static srStatus start_in_equilibrium(const srModel* m, srData* d, srMessages* messages) {
  srEquilibrium* found = NULL;
  srStatus status = sr_assemble(m, d, messages, NULL);
  if (status == SR_OK) status = sr_equilibrium_create(m, d, NULL, messages, &found);
  sr_equilibrium_destroy(found);
  return status;
}

srStatus sr_start(const srModel* m, srData* d, srStart start, srMessages* messages) {
  switch (start) {
    case SR_START_INSIDE_LIMITS: return start_inside_limits(m, d, messages);
    case SR_START_APART: return sr_start_apart(m, d, messages);
    case SR_START_EQUILIBRIUM: return start_in_equilibrium(m, d, messages);
    default: return SR_OK;
  }
}
