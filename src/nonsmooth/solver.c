// The table of methods, the memory of a solver, and what all of them share: loading, islands one by one, the error measure.
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "nonsmooth/coloured.h"
#include "nonsmooth/patch.h"

// ---- table --------------------------------------------------------------------------------------------------------------

static bool takes_any(const srContactSolver* s, const srContactProblem* problem, const srIsland* island) {
  (void)s, (void)problem, (void)island;
  return true;
}

static bool takes_dense(const srContactSolver* s, const srContactProblem* problem, const srIsland* island) {
  (void)problem;
  return sr_island_rows(s, island) <= s->most.dense;
}

static bool takes_planar(const srContactSolver* s, const srContactProblem* problem, const srIsland* island) {
  for (int i = island->contact[0]; i < island->contact[1]; ++i) {
    if (s->contact[i].rows == 3 && s->contact[i].cone.mu > 0) return false;
  }
  return takes_dense(s, problem, island);
}

// Small islands by Newton, the others, and those where it fails, by NNCG from where it ended.
static void solve_auto(srContactSolver* s, srIsland* island, const srContactOptions* o) {
  int steps = 0;
  if (takes_dense(s, s->problem, island)) {
    sr_solve_newton(s, island, o);
    steps = island->iterations;
  }
  if (!island->solved) sr_solve_nncg(s, island, o);
  if (steps > island->iterations) island->iterations = steps;
}

static const srMethodRow methods[] = {
    {{"auto", "newton where an island is small enough, else nncg"}, takes_any, solve_auto, NULL},
    {{"nsgs", "nonsmooth Gauss-Seidel, exact local solution"}, takes_any, sr_solve_nsgs, NULL},
    {{"nncg", "nsgs accelerated by nonlinear conjugate gradients"}, takes_any, sr_solve_nncg, NULL},
    {{"newton", "semismooth Newton on Alart and Curnier's function, dense"}, takes_dense, sr_solve_newton, NULL},
    {{"sweeps", "nsgs by colours in vector lanes and threads: heaps of bodies"},
     takes_any,
     sr_solve_nsgs,
     sr_coloured_nsgs},
    {{"sweeps-nncg", "nncg by colours in vector lanes and threads"}, takes_any, sr_solve_nncg, sr_coloured_nncg},
    {{"lemke", "Lemke's pivoting: planar or frictionless contacts, dense"}, takes_planar, sr_solve_lemke, NULL},
};

int sr_contact_method_count(void) { return SR_COUNT(methods); }

const srContactMethod* sr_contact_method(int i) { return i >= 0 && i < SR_COUNT(methods) ? &methods[i].method : NULL; }

const srContactMethod* sr_contact_method_find(const char* name) {
  for (int i = 0; i < SR_COUNT(methods); ++i) {
    if (strcmp(methods[i].method.name, name) == 0) return &methods[i].method;
  }
  return NULL;
}

srContactOptions sr_contact_options(void) {
  return (srContactOptions){.method = &methods[0].method, .tolerance = 1e-9, .iterations = 10000};
}

// ---- memory -------------------------------------------------------------------------------------------------------------

srContactSize sr_contact_size(const srContactProblem* problem) {
  const int rows = sr_contact_rows(problem);
  return (srContactSize){.bodies = problem->nbody,
                         .contacts = problem->ncontact,
                         .equations = problem->nequation,
                         .dense = problem->W == NULL && rows > SR_CONTACT_DENSE ? SR_CONTACT_DENSE : rows};
}

void sr_contact_solver_destroy(srContactSolver* s) {
  if (s == NULL) return;
  sr_lanes_destroy(s->lanes);
  sr_contact_patch_destroy(s->patch);
  sr_free(s);
}

// The struct and all arrays are in one block: they are laid out twice, without memory to find its size, then in it.
typedef struct Room {
  char* block;
  size_t used;
} Room;

#define ALIGNMENT 64u

static void* take(Room* room, size_t count, size_t size) {
  void* memory = room->block != NULL ? room->block + room->used : NULL;
  room->used += ((count + 1) * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return memory;
}

static double* numbers(Room* room, size_t count) { return take(room, count, sizeof(double)); }

static void take_dense(Room* room, srDense* d, int rows) {
  const size_t n = (size_t)rows;
  const int lcp = rows + rows / 2;  // three variables for the two rows of a planar contact
  const size_t square = (size_t)lcp * (size_t)lcp, vectors = 2 * (size_t)lcp;
  double** squares[] = {&d->full, &d->factor, &d->X, &d->A, &d->At, &d->J};
  double** arrays[] = {&d->right, &d->reciprocal, &d->y,     &d->b,       &d->p,    &d->u,
                       &d->F,     &d->step,       &d->trial, &d->trial_u, &d->best, &d->residual_u};
  d->most = rows;
  if (rows == 0) return;
  for (int i = 0; i < SR_COUNT(squares); ++i) *squares[i] = numbers(room, n * n);
  for (int i = 0; i < SR_COUNT(arrays); ++i) *arrays[i] = numbers(room, n);
  d->weight = numbers(room, 2 * n);
  int** ints[] = {&d->pivot, &d->column, &d->place};
  for (int i = 0; i < SR_COUNT(ints); ++i) *ints[i] = take(room, n, sizeof(int));
  d->lcp = numbers(room, square + vectors + sr_lemke_numbers(lcp));
  d->lcp_index = take(room, n + 2 * (size_t)lcp, sizeof *d->lcp_index);
}

static void take_impact(Room* room, srImpactMemory* m, const srContactSize* most) {
  const size_t rows = 3 * (size_t)most->contacts + (size_t)most->equations;
  double** arrays[] = {&m->before, &m->approach, &m->zero, &m->compression, &m->trial};
  m->cone = take(room, (size_t)most->contacts, sizeof *m->cone);
  m->body = take(room, (size_t)most->bodies, sizeof *m->body);
  for (int i = 0; i < SR_COUNT(arrays); ++i) *arrays[i] = numbers(room, rows);
}

static size_t lay_out(srContactSolver* s, char* block) {
  Room memory = {.block = block}, *room = &memory;
  const srContactSize* most = &s->most;
  const size_t bodies = (size_t)most->bodies, contacts = (size_t)most->contacts, equations = (size_t)most->equations;
  const size_t states = 6 * bodies > (size_t)most->dense ? 6 * bodies : (size_t)most->dense;
  const size_t impulses = 3 * contacts + SR_JOINT_ROWS * equations;
  s->contact = take(room, contacts, sizeof *s->contact);
  s->joint = take(room, equations, sizeof *s->joint);
  s->body = take(room, bodies, sizeof *s->body);
  s->free = take(room, bodies, sizeof *s->free);
  s->island = take(room, bodies, sizeof *s->island);
  s->parent = take(room, bodies, sizeof *s->parent);
  s->place = take(room, bodies, sizeof *s->place);
  s->mark = take(room, bodies, sizeof *s->mark);
  s->step = numbers(room, impulses);
  s->direction = numbers(room, impulses);
  s->before = numbers(room, states);
  s->drift = numbers(room, states);
  s->velocity = numbers(room, 3 * contacts + equations);
  take_dense(room, &s->dense, most->dense);
  take_impact(room, &s->impact, most);
  return memory.used;
}

static bool take_patches(srContactSolver* s) {
  const srContactSize patch = {
      .bodies = 2 * SR_CONTACT_PATCH, .contacts = SR_CONTACT_PATCH, .dense = 3 * SR_CONTACT_PATCH};
  return (s->patch = sr_contact_patch_create(&s->most, &patch)) != NULL;
}

srContactSolver* sr_contact_solver_create(const srContactSize* most) { return sr_contact_solver_make(most, true); }

srContactSolver* sr_contact_solver_make(const srContactSize* most, bool whole) {
  srContactSolver sizes = {.most = *most};
  const size_t head = (sizeof sizes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  srContactSolver* s = sr_alloc(head + lay_out(&sizes, NULL));
  if (s == NULL) return NULL;
  s->most = *most;
  (void)lay_out(s, (char*)s + head);
  bool good = true;
  if (most->bodies > 0) good = (s->lanes = sr_lanes_create(most)) != NULL;  // a matrix has no colours
  if (good && whole && most->bodies > 0 && most->contacts > SR_CONTACT_PATCH) good = take_patches(s);
  if (!good) {
    sr_contact_solver_destroy(s);
    return NULL;
  }
  return s;
}

// ---- solve --------------------------------------------------------------------------------------------------------------

bool sr_contact_fits(const srContactSolver* s, const srContactProblem* p) {
  return p->nbody <= s->most.bodies && p->ncontact <= s->most.contacts && p->nequation <= s->most.equations &&
         (p->W == NULL || sr_contact_rows(p) <= s->most.dense);
}

static const srMethodRow* row_of(const srContactMethod* method) {
  for (int i = 0; i < SR_COUNT(methods); ++i) {
    if (&methods[i].method == method) return &methods[i];
  }
  return &methods[0];
}

static srStatus solve_islands(srContactSolver* s, const srMethodRow* row, const srContactProblem* problem,
                              const srContactOptions* options, double* impulse, srContactResult* result) {
  sr_contact_load(s, problem, impulse);
  for (int i = 0; i < s->nisland; ++i) {
    if (!row->takes(s, problem, &s->island[i])) return SR_INPUT;
  }
  for (int i = 0; i < s->nisland; ++i) {
    row->solve(s, &s->island[i], options);
    if (s->island[i].iterations > result->iterations) result->iterations = s->island[i].iterations;
  }
  sr_contact_store(s, impulse);
  result->islands = s->nisland;
  result->error = sr_contact_error(s, problem, impulse);
  return SR_OK;
}

srStatus sr_contact_solve(srContactSolver* s, const srContactProblem* problem, const srContactOptions* options,
                          double* impulse, srContactResult* result) {
  const srMethodRow* row = row_of(options->method);
  *result = (srContactResult){.method = &row->method, .error = {NAN, NAN, NAN, NAN, NAN, -1}};
  if (!sr_contact_fits(s, problem)) return SR_INPUT;
  if (row->coloured != NULL && s->lanes != NULL && sr_lanes_take(problem)) {
    row->coloured(s, problem, options, impulse, result);
  } else {
    const srStatus status = solve_islands(s, row, problem, options, impulse, result);
    if (status != SR_OK) return status;
  }
  result->solved = result->error.residual <= options->tolerance && result->error.bilateral <= options->tolerance;
  return SR_OK;
}
