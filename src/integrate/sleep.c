// Islands that sleep (sleep.h).
#include "integrate/sleep.h"

#include <math.h>

#include "math/vector3.h"

#define LOAD 1e-6   // of the largest generalized force of a group: another one wakes it
#define STILL 1e-6  // of the speed of rest: slower drivers and surfaces do not move

typedef struct Impulse {
  long id;
  int island;
  double force[3];  // over the step
} Impulse;

struct srSleep {
  int nv, ng, most;
  const srStepProblem* problem;
  double time, speed;
  int* island;          // (nv) number of the island of each velocity; 0: awake
  int* of_row;          // (ng) a velocity of each equation; -1: it has none
  int* parent;          // (nv), of groups: islands of this step
  int* number;          // (nv), of roots: the island that falls asleep with it; 0: none does
  double* quiet;        // (nv), of groups: time at rest
  double* arm;          // (nv) of angular velocities of free bodies: to their contacts, m; else 1
  double* least;        // (nv), of roots: that of the whole island; -1: no contact acts on it
  double* force;        // (nv) generalized forces of the first step asleep ...
  double* allowed;      // (nv), of groups: ... and how much they may change; < 0: they are not known yet
  double* contact;      // (nv) generalized forces of the contacts of what sleeps
  double* lambda;       // (ng) multipliers
  Impulse* impulse;     // (most) of contacts that sleep
  srSleepEvent* event;  // (2 nv)
  double* block;
  int* ints;
  int count, nevent, last;  // contacts asleep; events not taken; number of the last island
  bool woke, fresh;         // fresh: an island whose forces are not known yet
};

// ---- life -------------------------------------------------------------------------------------------------------------

static void name_rows(srSleep* x, const srSystem* s, bool constrained) {
  const srSparsity* G = s->G_sparsity;
  for (int k = 0; k < x->ng; ++k) {
    x->of_row[k] = G == NULL ? 0 : G->row[k] < G->row[k + 1] ? G->column[G->row[k]] : -1;
    if (!constrained) x->of_row[k] = -1;
  }
}

srSleep* sri_sleep_create(const srSystem* s, const srStepProblem* problem, bool constrained, double time, double speed,
                          int most) {
  srSleep* x = sr_alloc(sizeof *x);
  if (x == NULL) return NULL;
  const size_t nv = (size_t)s->nv, ng = (size_t)s->ng;
  *x = (srSleep){.nv = s->nv, .ng = s->ng, .most = most, .problem = problem, .time = time, .speed = speed};
  x->block = sr_alloc((6 * nv + ng + 1) * sizeof *x->block);
  x->ints = sr_alloc((3 * nv + ng + 1) * sizeof *x->ints);
  x->impulse = sr_alloc(((size_t)most + 1) * sizeof *x->impulse);
  x->event = sr_alloc((2 * nv + 1) * sizeof *x->event);
  if (x->block == NULL || x->ints == NULL || x->impulse == NULL || x->event == NULL) {
    sri_sleep_destroy(x);
    return NULL;
  }
  x->quiet = x->block;
  x->least = x->quiet + nv;
  x->force = x->least + nv;
  x->allowed = x->force + nv;
  x->arm = x->allowed + nv;
  x->contact = x->arm + nv;
  x->lambda = x->contact + nv;
  x->island = x->ints;
  x->parent = x->island + nv;
  x->number = x->parent + nv;
  x->of_row = x->number + nv;
  name_rows(x, s, constrained);
  return x;
}

void sri_sleep_destroy(srSleep* x) {
  if (x == NULL) return;
  sr_free(x->block);
  sr_free(x->ints);
  sr_free(x->impulse);
  sr_free(x->event);
  sr_free(x);
}

// ---- questions --------------------------------------------------------------------------------------------------------

static int group_of(const srSleep* x, int velocity) { return sri_step_problem_group(x->problem, velocity); }

static bool any(const srSleep* x) { return x != NULL && x->count > 0; }

bool sri_sleep_woke(srSleep* x) {
  const bool woke = x != NULL && x->woke;
  if (x != NULL) x->woke = false;
  return woke;
}

int sri_sleep_count(const srSleep* x) { return x != NULL ? x->count : 0; }

const int* sri_sleep_islands(const srSleep* x) { return x != NULL ? x->island : NULL; }

const double* sri_sleep_forces(const srSleep* x) { return x != NULL ? x->contact : NULL; }

void sri_sleep_put_forces(srSleep* x, const double* with, const double* without) {
  for (int i = 0; i < x->nv; ++i) {
    if (x->island[i] != 0 && x->allowed[group_of(x, i)] < 0) x->contact[i] = with[i] - without[i];
  }
}

const srSleepEvent* sri_sleep_take_events(srSleep* x, int* count) {
  *count = x != NULL ? x->nevent : 0;
  if (x != NULL) x->nevent = 0;
  return x != NULL ? x->event : NULL;
}

srSleepSide sri_sleep_side(const srSleep* x, const srUnilateral* c) {
  if (!any(x)) return SRI_AWAKE;
  int first[2], asleep = 0;
  const int* velocity;
  const int n = sri_step_problem_concerned(x->problem, c, first, &velocity);
  for (int k = 0; k < n; ++k) asleep += x->island[velocity[k]] != 0;
  return asleep == 0 ? SRI_AWAKE : asleep == n ? SRI_ASLEEP : SRI_BETWEEN;
}

bool sri_sleep_surface_moves(const srSleep* x, const srUnilateral* c) {
  return fmax(fabs(c->b[0]), fmax(fabs(c->b[1]), fabs(c->b[2]))) > STILL * x->speed;
}

void sri_sleep_hold(const srSleep* x, double* v, double* lambda) {
  if (!any(x)) return;
  for (int i = 0; i < x->nv; ++i) {
    if (x->island[i] != 0) v[i] = 0;
  }
  for (int k = 0; k < x->ng && lambda != NULL; ++k) {
    if (x->of_row[k] >= 0 && x->island[x->of_row[k]] != 0) lambda[k] = x->lambda[k];
  }
}

void sri_sleep_keep(const srSleep* x, double h, srKept* kept) {
  for (int i = 0; i < sri_sleep_count(x); ++i) {
    const double* f = x->impulse[i].force;
    sri_kept_put(kept, x->impulse[i].id, (const double[3]){h * f[0], h * f[1], h * f[2]});
  }
}

// ---- waking -----------------------------------------------------------------------------------------------------------

static void tell(srSleep* x, srSleepEvent event) {
  if (x->nevent < 2 * x->nv) x->event[x->nevent++] = event;
}

static void wake(srSleep* x, double t, int island, srWakeCause cause, long id) {
  srSleepEvent event = {.t = t, .wakes = true, .cause = cause, .id = id, .velocity = -1};
  for (int i = 0; i < x->nv; ++i) {
    if (x->island[i] != island) continue;
    if (event.velocity < 0) event.velocity = i;
    ++event.count;
    x->island[i] = 0;
    x->quiet[group_of(x, i)] = 0;
  }
  int n = 0;
  for (int i = 0; i < x->count; ++i) {
    if (x->impulse[i].island != island) x->impulse[n++] = x->impulse[i];
  }
  x->count = n;
  x->woke = true;
  tell(x, event);
}

void sri_sleep_start(srSleep* x, double t) {
  if (x == NULL) return;
  for (int i = 0; i < x->nv && any(x); ++i) {
    if (x->island[i] != 0) wake(x, t, x->island[i], SR_WAKE_RESTART, -1);
  }
  for (int i = 0; i < x->nv; ++i) x->quiet[i] = 0;
  x->woke = false;
}

void sri_sleep_wake(srSleep* x, double t, const srUnilateral* c, srWakeCause cause) {
  int first[2];
  const int* velocity;
  const int n = sri_step_problem_concerned(x->problem, c, first, &velocity);
  for (int k = 0; k < n; ++k) {
    const int island = x->island[velocity[k]];
    if (island != 0) wake(x, t, island, cause, c->id);
  }
}

// The forces of the first step asleep.
static void take_forces(srSleep* x, const double* f) {
  double* largest = x->least;
  for (int g = 0; g < x->nv; ++g) largest[g] = 0;
  for (int i = 0; i < x->nv; ++i) {
    const int g = group_of(x, i);
    if (x->island[i] == 0 || x->allowed[g] >= 0) continue;
    x->force[i] = f[i];
    largest[g] = fmax(largest[g], fabs(f[i]));
  }
  for (int g = 0; g < x->nv; ++g) {
    if (x->allowed[g] < 0) x->allowed[g] = LOAD * largest[g];
  }
  x->fresh = false;
}

void sri_sleep_check(srSleep* x, double t, const double* f, const double* b) {
  if (!any(x)) return;
  for (int k = 0; k < x->ng && b != NULL; ++k) {
    const int island = x->of_row[k] >= 0 ? x->island[x->of_row[k]] : 0;
    if (island != 0 && fabs(b[k]) > STILL * x->speed) wake(x, t, island, SR_WAKE_MOTION, -1);
  }
  for (int i = 0; i < x->nv; ++i) {
    const double allowed = x->allowed[group_of(x, i)];
    if (x->island[i] != 0 && allowed >= 0 && !(fabs(f[i] - x->force[i]) <= allowed))
      wake(x, t, x->island[i], SR_WAKE_FORCE, -1);
  }
  if (x->fresh) take_forces(x, f);
}

// ---- falling asleep ---------------------------------------------------------------------------------------------------

static int root(int* parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static bool acts(const double* impulse, int i) { return impulse[3 * i] > 0; }

// How far the contacts of each velocity's group are from the center of mass, where it is an angular velocity of a free body; else 1.
static void find_arms(srSleep* x, const srStepContact* contact, int count, const double* impulse) {
  double* arm = x->arm;
  for (int i = 0; i < x->nv; ++i) arm[i] = 1;
  for (int i = 0; i < count; ++i) {
    int first[2];
    const int* velocity;
    const srUnilateral* c = contact[i].from;
    if (!acts(impulse, i)) continue;
    const int n = sri_step_problem_concerned(x->problem, c, first, &velocity);
    if (velocity != first) return;  // contacts have rows
    for (int k = 0, side = c->body[0] < 0; k < n; ++k, ++side) {
      const double length = sqrt(srm_dot3(c->arm[side], c->arm[side]));
      for (int j = 0; j < 3; ++j) {
        double* to = &arm[velocity[k] + j];
        *to = *to == 1 || length > *to ? length : *to;
      }
    }
  }
}

// Times at rest after this step. False: none has been long enough.
static bool count_time(srSleep* x, double h, const srStepContact* contact, int count, const double* impulse,
                       const double* v, const double* b) {
  bool enough = false;
  find_arms(x, contact, count, impulse);
  for (int g = 0; g < x->nv; ++g) x->quiet[g] += h;
  for (int i = 0; i < x->nv; ++i) {
    if (!(x->arm[i] * fabs(v[i]) < x->speed)) x->quiet[group_of(x, i)] = 0;
  }
  for (int k = 0; k < x->ng && b != NULL; ++k) {
    if (fabs(b[k]) > STILL * x->speed && x->of_row[k] >= 0) x->quiet[group_of(x, x->of_row[k])] = 0;
  }
  for (int i = 0; i < count; ++i) {
    if (acts(impulse, i) && sri_sleep_surface_moves(x, contact[i].from))
      sri_step_problem_mark(x->problem, contact[i].from, 0, x->quiet);
  }
  for (int i = 0; i < x->nv && !enough; ++i) enough = x->island[i] == 0 && x->quiet[group_of(x, i)] >= x->time;
  return enough;
}

// Islands of contacts that act, and for how long all of each have been at rest.
static void find_islands(srSleep* x, const srStepContact* contact, int count, const double* impulse) {
  for (int g = 0; g < x->nv; ++g) {
    x->parent[g] = g;
    x->number[g] = 0;
    x->least[g] = -1;
  }
  for (int i = 0; i < count; ++i) {
    int first[2];
    const int* velocity;
    const int n = acts(impulse, i) ? sri_step_problem_concerned(x->problem, contact[i].from, first, &velocity) : 0;
    for (int k = 0; k < n; ++k) {
      const int a = root(x->parent, group_of(x, velocity[0])), c = root(x->parent, group_of(x, velocity[k]));
      x->parent[a > c ? a : c] = a < c ? a : c;
      x->least[a] = x->least[c] = HUGE_VAL;
    }
  }
  for (int i = 0; i < x->nv; ++i) {
    const int g = group_of(x, i), r = root(x->parent, g);
    if (x->least[r] >= 0) x->least[r] = fmin(x->least[r], x->quiet[g]);
  }
}

// Velocities in the order of their numbers: so are the islands.
static int take_velocities(srSleep* x, double t, const double* lambda, double* v_new) {
  const int before = x->last;
  int total = 0, at = x->nevent;
  for (int i = 0; i < x->nv; ++i) {
    const int g = group_of(x, i), r = root(x->parent, g);
    if (x->island[i] != 0 || !(x->least[r] >= x->time)) continue;
    if (x->number[r] == 0) {
      x->number[r] = ++x->last;
      tell(x, (srSleepEvent){.t = t, .id = -1, .velocity = i});
    }
    x->island[i] = x->number[r];
    x->allowed[g] = -1;
    v_new[i] = 0;
    ++total;
    const int event = at + x->number[r] - before - 1;
    if (event < x->nevent) ++x->event[event].count;
  }
  for (int k = 0; k < x->ng && lambda != NULL; ++k) {
    if (x->of_row[k] >= 0 && x->island[x->of_row[k]] > before) x->lambda[k] = lambda[k];
  }
  return total;
}

static void take_impulses(srSleep* x, double h, const srStepContact* contact, int count, const double* impulse) {
  for (int i = 0; i < count && x->count < x->most; ++i) {
    int first[2];
    const int* velocity;
    const int n = sri_step_problem_concerned(x->problem, contact[i].from, first, &velocity);
    const int island = n > 0 ? x->island[velocity[0]] : 0;
    if (!acts(impulse, i) || island == 0) continue;
    Impulse* to = &x->impulse[x->count++];
    to->id = contact[i].from->id;
    to->island = island;
    for (int k = 0; k < 3; ++k) to->force[k] = impulse[3 * i + k] / h;
  }
}

int sri_sleep_fall(srSleep* x, double t, double h, const srStepContact* contact, int count, const double* impulse,
                   const double* v, const double* b, const double* lambda, double* v_new) {
  if (x == NULL || !count_time(x, h, contact, count, impulse, v, b)) return 0;
  find_islands(x, contact, count, impulse);
  const int n = take_velocities(x, t, lambda, v_new);
  if (n > 0) take_impulses(x, h, contact, count, impulse);
  x->fresh = x->fresh || n > 0;
  return n;
}
