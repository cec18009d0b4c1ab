// Rates of the rows of contacts times v, dW/dt v + db/dt, along the motion with v held.
//
// In closed form where the system has one (srSystem.contacts_chosen). Else differences along the motion, of fourth order where the contact is listed on both
// sides, one-sided where it is not: with e|v| = 2e-4 the error is some 1e-12 of the terms.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "integrate/rigid.h"

#define REACH 2e-4    // of the coordinates, and
#define LONGEST 1e-4  // s, of the time, between two points of a difference

enum { POINTS = 5 };  // at -2, -1, 0, 1, 2 times e

// Rates of a contact at the points where it is listed.
typedef struct Samples {
  double u[POINTS][3];
  bool known[POINTS];
} Samples;

size_t sri_rigid_sample_size(void) { return sizeof(Samples); }

// ---- which contacts -----------------------------------------------------------------------------------------------------

// The pairs of the parts, each once.
static int find_pairs(srRigid* x) {
  int n = 0;
  for (int i = 0; i < x->npart; ++i) {
    bool known = false;
    for (int k = 0; k < n && !known; ++k) known = x->pairs[k] == x->part[i].c->pair;
    if (!known) x->pairs[n++] = x->part[i].c->pair;
  }
  return n;
}

// Where the contact of part i is in the list; -1: it is continued from an earlier one.
static int place_of(const srRigid* x, int i) {
  const uintptr_t at = (uintptr_t)x->part[i].c, first = (uintptr_t)x->list;
  return at >= first && at < first + (size_t)x->count * sizeof *x->list ? (int)(x->part[i].c - x->list) : -1;
}

// The contact of part i in the list at another point, which has about the same order; -1: it is not listed there.
static int same_contact(const srRigid* x, int i, int count) {
  const long id = x->part[i].c->id;
  const int guess = place_of(x, i);
  if (guess >= 0 && guess < count && x->other[guess].id == id) return guess;
  for (int k = 0; k < count; ++k) {
    if (x->other[k].id == id) return k;
  }
  return -1;
}

// ---- closed forms -------------------------------------------------------------------------------------------------------

// The rates that were listed with the contacts themselves.
static bool take_listed(srRigid* x, const double* v) {
  if (!x->rated || memcmp(x->v_list, v, (size_t)x->inner.nv * sizeof *v) != 0) return false;
  for (int i = 0; i < x->npart; ++i) {
    const int at = place_of(x, i);
    if (at < 0 || isnan(x->rate[3 * at])) return false;
    memcpy(x->drift + 3 * i, x->rate + 3 * at, 3 * sizeof *x->drift);
  }
  return true;
}

// False: the rates of some are not known.
static bool take_closed_forms(srRigid* x, double t, const double* q, const double* v, int* answer) {
  const srSystem* s = &x->inner;
  const srContactChoice choice = {
      .npair = find_pairs(x), .pair = x->pairs, .alone = true, .rate = x->rate_other, .v = v};
  int count = 0;
  bool all = true;
  *answer = sri_list_chosen(s, t, q, &choice, x->other, &count);
  for (int i = 0; i < x->npart && *answer == 0; ++i) {
    const int at = same_contact(x, i, count);
    x->drift[3 * i] = NAN;
    if (at >= 0) memcpy(x->drift + 3 * i, x->rate_other + 3 * at, 3 * sizeof *x->drift);
    all = all && !isnan(x->drift[3 * i]);
  }
  return all;
}

// ---- differences --------------------------------------------------------------------------------------------------------

static void differentiate(const Samples* at, double e, double out[3]) {
  const bool* known = at->known;
  for (int k = 0; k < 3; ++k) {
    const double m2 = at->u[0][k], m1 = at->u[1][k], zero = at->u[2][k], p1 = at->u[3][k], p2 = at->u[4][k];
    if (known[0] && known[1] && known[3] && known[4]) {
      out[k] = (m2 - 8 * m1 + 8 * p1 - p2) / (12 * e);
    } else if (known[1] && known[3]) {
      out[k] = (p1 - m1) / (2 * e);
    } else if (known[0] && known[1]) {
      out[k] = (3 * zero - 4 * m1 + m2) / (2 * e);
    } else if (known[3] && known[4]) {
      out[k] = (-3 * zero + 4 * p1 - p2) / (2 * e);
    } else {
      out[k] = 0;
    }
  }
}

static void sample(const srUnilateral* c, int ntangent, const double* v, double u[3]) {
  for (int k = 0; k < 3; ++k) u[k] = k <= ntangent ? sri_contact_velocity(c, k, v) : 0;
}

static int list_near(srRigid* x, double t, int* count) {
  const srSystem* s = &x->inner;
  const srContactChoice choice = {.npair = find_pairs(x), .pair = x->pairs, .alone = true};
  if (s->contacts_chosen == NULL) return sri_list(s, t, x->q_near, x->other, count);
  return sri_list_chosen(s, t, x->q_near, &choice, x->other, count);
}

// Those that are not known; all: of all parts.
static int take_differences(srRigid* x, double t, const double* q, const double* v, bool all) {
  const srSystem* s = &x->inner;
  const double speed = sri_largest(s->nv, v), e = speed * LONGEST > REACH ? REACH / speed : LONGEST;
  Samples* at = (Samples*)(void*)x->samples;
  for (int i = 0; i < x->npart; ++i) {
    sample(x->part[i].c, s->ntangent, v, at[i].u[2]);
    at[i].known[2] = true;
  }
  for (int point = 0; point < POINTS; ++point) {
    const double step = (point - 2) * e;
    int count = 0;
    if (point == 2) continue;
    for (int k = 0; k < s->nv; ++k) x->dq[k] = step * v[k];
    int answer = sri_retract(s, q, x->dq, x->q_near);
    if (answer == 0) answer = list_near(x, t + step, &count);
    if (answer != 0) return answer;
    for (int i = 0; i < x->npart; ++i) {
      const int place = same_contact(x, i, count);
      at[i].known[point] = place >= 0;
      if (place >= 0) sample(&x->other[place], s->ntangent, v, at[i].u[point]);
    }
  }
  for (int i = 0; i < x->npart; ++i) {
    if (all || isnan(x->drift[3 * i])) differentiate(&at[i], e, x->drift + 3 * i);
  }
  return 0;
}

int sri_rigid_drift(srRigid* x, double t, const double* q, const double* v) {
  int answer = 0;
  if (x->inner.contacts_chosen == NULL) return take_differences(x, t, q, v, true);
  if (take_listed(x, v) || take_closed_forms(x, t, q, v, &answer)) return 0;
  return answer != 0 ? answer : take_differences(x, t, q, v, false);
}
