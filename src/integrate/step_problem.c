// Blocks, islands and solution of the contact problem of a step (step_problem.h).
#include "integrate/step_problem.h"

#include <math.h>
#include <string.h>

#include "integrate/points.h"
#include "math/space_order.h"
#include "math/vector3.h"
#include "nonsmooth/body_islands.h"

#define SMALL 32         // contacts of an island that is solved as a matrix in any case
#define MOST_DENSE 256   // contacts of one that has joints or large blocks
#define BLOCK 6          // velocities of a small block: of a body in a large island
#define COMPLIANCE 1e-6  // of W_NN, where normals are redundant; in large islands they are
#define DEPENDENT 1e-9   // pivot of such a normal, relative to its entry
#define HELD 1e-10       // W_NN of a contact that can move, relative to that without joints
#define SPACE 500        // bodies of large islands from which on their numbers follow their places in space
#define SWEEPS_LEAST 24  // in large islands of up to BASE contacts, ...
#define BASE                                                                                                           \
  2600  // ... growing with its cube root, the layers: impulses need so many sweeps to pass through them, or heaps creep;
#define SWEEPS_FACES                                                                                                   \
  30  // ... where two bodies touch at several points, which share their load: boxes that rest creep otherwise
#define SWEEPS_MOST 2000
#define SWEEPS_HARD                                                                                                    \
  300  // in small islands of free bodies where Newton's method fails: all of them, where that leaves more than ENOUGH
#define ENOUGH 1e-6   // m/s: residual of such an island; what even then remains above it, up to HARDEST, ...
#define HARDEST 1e-5  // ... is slip that redundant contacts decide in the last digits

typedef struct Range {
  int first, end;
  bool heavy;    // joints, large blocks, contacts between more than two blocks
  bool jointed;  // joints, contacts between more than two blocks: the matrix needs K as a whole
} Range;

struct srStepProblem {
  int nv, nblock, ngroup;
  const srSparsity* M;
  int *block, *place;              // of each velocity; its place in the block
  int *start, *member;             // velocities of each block
  int* group;                      // of each block
  unsigned char *heavy, *jointed;  // of each group
  int* parent;                     // of each group: islands of this step, where there are rows
  int* island;                     // of the root of each group, or body: -1, or its number
  Range* range;                    // of the islands: contacts in `order`
  int nisland, *order;
  int* of;     // of each contact of rows: a group; then of each one of the large problem: its number
  int* body;   // of each block, or free body: -1, or its number in the large problem
  size_t* at;  // of each block: its factor in L ...
  double* L;
  int *factored, step;  // ... as of this step
  srContactProblem *small, *large;
  srContactSolver *small_solver, *large_solver;
  int width;                      // velocities of the largest block, at least BLOCK
  double* rows;                   // of the contacts of a small island, in scaled velocities: 2 blocks x 3 rows x width
  int (*blocks)[2];               // ... and their blocks
  const srContactMethod* sweeps;  // of large islands
  double *normals, *force, *x, *y, *p;
  int most, most_dense;
  bool is_blocks, is_small, is_factored, clamps;
  const srFreeBody* free;             // NULL: contacts have rows
  int nfree, *first;                  // of these: their number, and of each its first velocity
  int (*end)[2];                      // of each contact of these: its bodies; -1: it does not move
  srBodyIslands* islands;             // NULL: contacts have rows
  unsigned char* is_large;            // of each of these bodies: is its island?
  int *rest, nlarge;                  // contacts of small islands; how many contacts large ones have
  int *met, *numbered;                // bodies of these, in their own order and in that of the large problem, ...
  int nmet;                           // ... and how many
  int* key;                           // ... their cells in space, ...
  double* places;                     // ... their places, four numbers each
  srTeam* team;                       // NULL: none
  const double *motion, *end_motion;  // without contacts; of the large problem after its solution, NULL: none
  srSeeProblem* see;                  // NULL: nobody wants the problems
  void* user;
};

// ---- structure --------------------------------------------------------------------------------------------------------

static int root(int* parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void unite(int* parent, int i, int j) {
  const int a = root(parent, i), b = root(parent, j);
  if (a < b) {
    parent[b] = a;
  } else {
    parent[a] = b;
  }
}

// Blocks in the order of their first velocity. Free bodies have six velocities each, whether M has a pattern or is dense.
static void find_blocks(srStepProblem* x) {
  const bool bodies = x->M == NULL && x->nv == BLOCK * x->nfree;
  int* parent = x->place;  // overwritten below
  for (int i = 0; i < x->nv; ++i) parent[i] = i;
  for (int i = 0; i < x->nv; ++i) {
    if (x->M == NULL) {
      unite(parent, bodies ? i - i % BLOCK : 0, i);
      continue;
    }
    for (int k = x->M->row[i]; k < x->M->row[i + 1]; ++k) unite(parent, i, x->M->column[k]);
  }
  x->nblock = 0;
  for (int i = 0; i < x->nv; ++i) {
    const int r = root(parent, i);
    x->block[i] = r == i ? x->nblock++ : x->block[r];
  }
  for (int i = 0; i < x->nv; ++i) ++x->start[x->block[i] + 1];
  for (int b = 0; b < x->nblock; ++b) x->start[b + 1] += x->start[b];
  memset(x->body, 0, (size_t)x->nblock * sizeof *x->body);
  for (int i = 0; i < x->nv; ++i) {
    x->place[i] = x->body[x->block[i]]++;
    x->member[x->start[x->block[i]] + x->place[i]] = i;
  }
}

static int size_of(const srStepProblem* x, int block) { return x->start[block + 1] - x->start[block]; }

// Blocks that equations couple.
static void find_groups(srStepProblem* x, const srSystem* s, bool constrained) {
  const srSparsity* G = s->G_sparsity;
  const int ng = constrained ? s->ng : 0;
  for (int b = 0; b < x->nblock; ++b) x->parent[b] = b;
  for (int k = 0; k < ng && G != NULL; ++k) {
    for (int p = G->row[k] + 1; p < G->row[k + 1]; ++p)
      unite(x->parent, x->block[G->column[G->row[k]]], x->block[G->column[p]]);
  }
  for (int b = 0; b < x->nblock && ng > 0 && G == NULL; ++b) unite(x->parent, 0, b);
  x->ngroup = 0;
  for (int b = 0; b < x->nblock; ++b) {
    const int r = root(x->parent, b);
    x->group[b] = r == b ? x->ngroup++ : x->group[r];
    if (size_of(x, b) > BLOCK) x->heavy[x->group[b]] = 1;
    if (ng > 0 && G == NULL) x->heavy[x->group[b]] = x->jointed[x->group[b]] = 1;
  }
  for (int k = 0; k < ng && G != NULL; ++k) {
    for (int p = G->row[k]; p < G->row[k + 1]; ++p) {
      const int g = x->group[x->block[G->column[p]]];
      x->heavy[g] = x->jointed[g] = 1;
    }
  }
  for (int g = 0; g < x->ngroup; ++g) x->parent[g] = g;
}

// ---- memory -----------------------------------------------------------------------------------------------------------

static void* take(bool* good, size_t count, size_t size) {
  void* memory = *good ? sr_alloc((count + 1) * size) : NULL;
  *good = *good && memory != NULL;
  return memory;
}

static bool take_structure(srStepProblem* x) {
  const size_t nv = (size_t)x->nv, most = (size_t)x->most;
  int** ints[] = {&x->block,  &x->place,    &x->start, &x->member,   &x->group, &x->body, &x->parent,
                  &x->island, &x->factored, &x->first, &x->numbered, &x->met,   &x->key};
  bool good = true;
  for (int i = 0; i < SR_COUNT(ints); ++i) *ints[i] = take(&good, nv + 1, sizeof(int));
  x->heavy = take(&good, nv, 1);
  x->jointed = take(&good, nv, 1);
  x->is_large = take(&good, (size_t)x->nfree, 1);
  x->at = take(&good, nv + 1, sizeof *x->at);
  x->order = take(&good, most, sizeof(int));
  x->of = take(&good, most, sizeof(int));
  x->end = take(&good, most, sizeof *x->end);
  x->rest = take(&good, most, sizeof(int));
  x->range = take(&good, most, sizeof *x->range);
  x->force = take(&good, nv, sizeof(double));
  x->x = take(&good, nv, sizeof(double));
  x->y = take(&good, nv, sizeof(double));
  x->p = take(&good, 3 * most, sizeof(double));
  x->places = take(&good, 4 * (size_t)x->nfree, sizeof(double));
  if (!good || x->nfree == 0) return good;
  x->islands = sr_body_islands_create(x->nfree, x->team != NULL ? sr_team_members(x->team) : 1);
  return x->islands != NULL;
}

static bool take_problems(srStepProblem* x, bool points, srTeam* team) {
  const size_t dense = (size_t)x->most_dense;
  bool good = true;
  x->width = BLOCK;
  for (int b = 0; b < x->nblock; ++b) {
    const int n = x->jointed[x->group[b]] != 0 ? 0 : size_of(x, b);  // with joints they have no factor of their own
    x->at[b + 1] = x->at[b] + (size_t)n * (size_t)n;
    if (n > x->width) x->width = n;
  }
  x->L = take(&good, x->at[x->nblock], sizeof *x->L);
  x->rows = take(&good, 6 * dense * (size_t)x->width, sizeof *x->rows);
  x->blocks = take(&good, dense, sizeof *x->blocks);
  x->normals = take(&good, dense * dense, sizeof(double));
  x->small = good ? sr_contact_problem_create(0, 0, x->most_dense, true) : NULL;
  if (x->small == NULL) return false;
  const srContactSize small = sr_contact_size(x->small);
  x->small_solver = sr_contact_solver_create(&small);
  if (x->small_solver == NULL || x->most <= SMALL) return x->small_solver != NULL;
  x->sweeps = sr_contact_method_find("sweeps-nncg");
  x->large = sr_contact_problem_create(x->nblock, 0, x->most, false);
  const srContactSize large = {.bodies = x->nblock, .contacts = x->most, .team = team};
  x->large_solver = sr_contact_solver_create(&large);
  return x->large != NULL && x->large_solver != NULL && (points || sr_contact_problem_take_rows(x->large));
}

srStepProblem* sri_step_problem_create(const srSystem* s, const srSparsity* pattern, bool constrained, srTeam* team) {
  srStepProblem* x = sr_alloc(sizeof *x);
  if (x == NULL) return NULL;
  x->nv = s->nv;
  x->team = team;
  x->most = s->ncontact + s->nclamp;
  x->clamps = s->nclamp > 0;
  x->nfree = s->nbody;
  x->M = pattern;
  bool good = take_structure(x);
  if (good) {
    find_blocks(x);
    find_groups(x, s, constrained);
    bool heavy = false;
    x->is_blocks = true;
    for (int g = 0; g < x->ngroup; ++g) {
      heavy = heavy || x->heavy[g] != 0;
      x->is_blocks = x->is_blocks && x->jointed[g] == 0;
    }
    x->is_small = !heavy;
    const int most = heavy || s->nclamp > 0 ? MOST_DENSE : SMALL;
    x->most_dense = x->most < most ? x->most : most;
    for (int b = 0; b < x->nblock; ++b) x->body[b] = x->island[b] = -1;
    good = take_problems(x, s->bodies != NULL, team);
  }
  if (good) return x;
  sri_step_problem_destroy(x);
  return NULL;
}

void sri_step_problem_destroy(srStepProblem* x) {
  if (x == NULL) return;
  void* parts[] = {x->block,   x->place,    x->start,    x->member, x->group, x->heavy,  x->jointed, x->at,
                   x->parent,  x->island,   x->range,    x->order,  x->of,    x->first,  x->body,    x->is_large,
                   x->L,       x->factored, x->numbered, x->met,    x->key,   x->places, x->rows,    x->blocks,
                   x->normals, x->force,    x->x,        x->y,      x->p,     x->end,    x->rest};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_body_islands_destroy(x->islands);
  sr_contact_problem_destroy(x->small);
  sr_contact_problem_destroy(x->large);
  sr_contact_solver_destroy(x->small_solver);
  sr_contact_solver_destroy(x->large_solver);
  sr_free(x);
}

// ---- islands ----------------------------------------------------------------------------------------------------------

int sri_step_problem_concerned(const srStepProblem* x, const srUnilateral* c, int first[2], const int** velocity) {
  if (x->free == NULL) {
    *velocity = c->column;
    return c->n;
  }
  int n = 0;
  for (int side = 0; side < 2; ++side) {
    if (c->body[side] >= 0) first[n++] = x->first[c->body[side]];
  }
  *velocity = first;
  return n;
}

// The blocks of a contact, at most two of them; more: false.
static bool blocks_of(const srStepProblem* x, const srUnilateral* c, int out[2]) {
  int first[2];
  const int* velocity;
  const int n = sri_step_problem_concerned(x, c, first, &velocity);
  out[0] = out[1] = -1;
  for (int i = 0; i < n; ++i) {
    const int b = x->block[velocity[i]];
    if (b == out[0] || b == out[1]) continue;
    if (out[0] >= 0 && out[1] >= 0) return false;
    out[out[0] >= 0] = b;
  }
  return true;
}

static int group_of(const srStepProblem* x, int velocity) { return x->group[x->block[velocity]]; }

int sri_step_problem_group(const srStepProblem* x, int velocity) { return group_of(x, velocity); }

void sri_step_problem_mark(const srStepProblem* x, const srUnilateral* c, double number, double* out) {
  int first[2];
  const int* velocity;
  const int n = sri_step_problem_concerned(x, c, first, &velocity);
  for (int k = 0; k < n; ++k) out[group_of(x, velocity[k])] = number;
}

// Blocks of more than six velocities, joints, more than two blocks.
static void weigh(const srStepProblem* x, const srUnilateral* c, Range* range) {
  int blocks[2], first[2];
  const int* velocity;
  if (x->clamps && c->clamp > 0) range->heavy = true;
  const int n = sri_step_problem_concerned(x, c, first, &velocity);
  if (!blocks_of(x, c, blocks)) range->heavy = range->jointed = true;
  for (int k = 0; k < n; ++k) {
    range->heavy = range->heavy || x->heavy[group_of(x, velocity[k])] != 0;
    range->jointed = range->jointed || x->jointed[group_of(x, velocity[k])] != 0;
  }
}

// ---- of rows

// Groups that contacts couple have the same root. of: a group of each contact.
static void unite_groups(srStepProblem* x, const srStepContact* contact, int count) {
  int first[2];
  const int* velocity;
  for (int i = 0; i < count; ++i) {
    const int n = sri_step_problem_concerned(x, contact[i].from, first, &velocity);
    x->of[i] = group_of(x, velocity[0]);
    for (int k = 1; k < n; ++k) unite(x->parent, x->of[i], group_of(x, velocity[k]));
  }
  for (int g = 0; g < x->ngroup; ++g) x->parent[g] = x->parent[x->parent[g]];  // the root: parents come first
}

// One more contact in the island of a root.
static Range* join_island(srStepProblem* x, int root) {
  if (x->island[root] < 0) {
    x->range[x->nisland] = (Range){0};
    x->island[root] = x->nisland++;
  }
  Range* range = &x->range[x->island[root]];
  ++range->end;
  return range;
}

// From the numbers of their contacts.
static void place_ranges(srStepProblem* x) {
  for (int k = 0, at = 0; k < x->nisland; ++k) {
    const int n = x->range[k].end;
    x->range[k].first = x->range[k].end = at;
    at += n;
  }
}

// Islands in the order of their first contact, contacts in their own.
static void find_islands(srStepProblem* x, const srStepContact* contact, int count) {
  unite_groups(x, contact, count);
  for (int i = 0; i < count; ++i) {
    x->of[i] = x->parent[x->of[i]];
    weigh(x, contact[i].from, join_island(x, x->of[i]));
  }
  place_ranges(x);
  for (int i = 0; i < count; ++i) x->order[x->range[x->island[x->of[i]]].end++] = i;
}

// As before the step.
static void forget_islands(srStepProblem* x) {
  for (int g = 0; g < x->ngroup; ++g) {
    x->parent[g] = g;
    x->island[g] = -1;
  }
}

// ---- of free bodies

typedef struct Split {
  srStepProblem* x;
  const srStepContact* contact;
  int large[SR_TEAM_MOST];  // of each member: contacts of large islands
} Split;

static void find_ends(void* user, int member, int from, int to) {
  const Split* of = user;
  (void)member;
  for (int i = from; i < to; ++i) memcpy(of->x->end[i], of->contact[i].point.body, sizeof of->x->end[i]);
}

static void unite_bodies(srStepProblem* x, const srStepContact* contact, int count) {
  sr_team_loop(x->team, count, find_ends, &(Split){.x = x, .contact = contact});
  sr_body_islands_find(x->islands, x->nfree, (const int(*)[2])x->end, count, x->team);
}

static int root_of(const srStepProblem* x, int i) { return x->islands->root[sr_body_of_contact(x->end[i])]; }

static bool in_large(const srStepProblem* x, int i) { return x->is_large[sr_body_of_contact(x->end[i])] != 0; }

static void count_large(void* user, int member, int from, int to) {
  Split* of = user;
  int n = 0;
  for (int i = from; i < to; ++i) n += in_large(of->x, i);
  of->large[member] = n;
}

// Contacts of large islands in `of`, the others in `rest`, both in their order.
static void split_range(void* user, int member, int from, int to) {
  const Split* of = user;
  const srStepProblem* x = of->x;
  int at = 0;
  for (int k = 0; k < member; ++k) at += of->large[k];
  for (int i = from; i < to; ++i) {
    if (in_large(x, i)) {
      x->of[at++] = i;
    } else {
      x->rest[i - at] = i;
    }
  }
}

// The contacts of small islands one island after the other, those of large ones together, and the bodies of these in the order of their numbers.
static void split_islands(srStepProblem* x, const srStepContact* contact, int count) {
  Split split = {.x = x, .contact = contact};
  int nlarge = 0;
  unite_bodies(x, contact, count);
  x->nmet = 0;
  for (int i = 0; i < x->nfree; ++i) {
    x->is_large[i] = x->islands->contacts[x->islands->root[i]] > SMALL;
    if (x->is_large[i]) x->met[x->nmet++] = i;
  }
  sr_team_loop(x->team, count, count_large, &split);
  sr_team_loop(x->team, count, split_range, &split);
  for (int k = 0; k < sr_team_hands(x->team, count); ++k) nlarge += split.large[k];
  x->nlarge = nlarge;
  for (int i = 0; i < count - nlarge; ++i) (void)join_island(x, root_of(x, x->rest[i]));
  place_ranges(x);
  for (int i = 0; i < count - nlarge; ++i) x->order[x->range[x->island[root_of(x, x->rest[i])]].end++] = x->rest[i];
}

// ---- of both

void sri_step_problem_least(srStepProblem* x, const srStepContact* contact, int count, double* number) {
  double* least = x->y;
  if (x->free != NULL) {
    unite_bodies(x, contact, count);
  } else {
    unite_groups(x, contact, count);
  }
  for (int k = 0; k < x->nv; ++k) least[k] = HUGE_VAL;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < count; ++i) {
      const int root = x->free != NULL ? root_of(x, i) : x->parent[x->of[i]];
      if (pass == 0) {
        least[root] = fmin(least[root], number[i]);
      } else {
        number[i] = least[root];
      }
    }
  }
  forget_islands(x);
}

// ---- scaled velocities ------------------------------------------------------------------------------------------------

static double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

static void read_block(const srStepProblem* x, const double* M, int b, double* A) {
  const int n = size_of(x, b);
  for (int i = 0; i < n; ++i) {
    const int row = x->member[x->start[b] + i];
    if (x->M == NULL) {
      for (int j = 0; j < n; ++j) A[i * n + j] = M[(size_t)row * (size_t)x->nv + (size_t)x->member[x->start[b] + j]];
      continue;
    }
    for (int k = x->M->row[row]; k < x->M->row[row + 1]; ++k) A[i * n + x->place[x->M->column[k]]] = M[k];
  }
}

// M_b = L L^T, row by row; the diagonal of L is stored inverted.
static const double* factor_block(srStepProblem* x, const double* M, int b) {
  double* L = x->L + x->at[b];
  const int n = size_of(x, b);
  if (x->factored[b] == x->step) return L;
  x->factored[b] = x->step;
  memset(L, 0, (size_t)n * (size_t)n * sizeof *L);
  read_block(x, M, b, L);
  for (int i = 0; i < n; ++i) {
    double* row = L + i * n;
    for (int j = 0; j <= i; ++j) {
      const double sum = row[j] - dot(row, L + j * n, j);
      row[j] = i == j ? 1 / sqrt(sum) : sum * L[j * n + j];
    }
  }
  return L;
}

// L^-1 y in place; y has zeros before `first`.
static void scale_forward(const double* L, int n, int first, double* y) {
  for (int i = first; i < n; ++i) y[i] = (y[i] - dot(L + i * n + first, y + first, i - first)) * L[i * n + i];
}

bool sri_step_problem_is_blocks(const srStepProblem* x) { return x->is_blocks; }
bool sri_step_problem_is_small(const srStepProblem* x) { return x->is_small; }

bool sri_step_problem_factor(srStepProblem* x, const double* M) {
  ++x->step;
  x->is_factored = true;
  for (int b = 0; b < x->nblock; ++b) {
    const double* L = factor_block(x, M, b);
    for (int i = 0; i < size_of(x, b); ++i) {
      if (!isfinite(L[i * size_of(x, b) + i])) return false;
    }
  }
  return true;
}

void sri_step_problem_accelerate(srStepProblem* x, const double* f, double* a) {
  double* y = x->y;
  for (int b = 0; b < x->nblock; ++b) {
    const double* L = x->L + x->at[b];
    const int n = size_of(x, b), *member = x->member + x->start[b];
    for (int i = 0; i < n; ++i) y[i] = f[member[i]];
    scale_forward(L, n, 0, y);
    for (int i = n - 1; i >= 0; --i) {
      y[i] *= L[i * n + i];
      for (int j = 0; j < i; ++j) y[j] -= L[i * n + j] * y[i];
      a[member[i]] = y[i];
    }
  }
}

double sri_step_problem_change(const srStepProblem* x, const srUnilateral* c, const double* v, const double* v_free) {
  double sum = 0, own = 0;
  for (int i = 0; i < c->n; ++i) {
    const int k = c->column[i];
    if (i > 0 && x->block[k] != x->block[c->column[i - 1]]) {
      sum += fabs(own);
      own = 0;
    }
    own += c->W[i] * (v_free[k] - v[k]);
  }
  return sum + fabs(own);
}

// The rows of a contact in scaled velocities, L^-1 w of each, 2 blocks x 3 rows x width; of one block: the second one.
static void scale_rows(srStepProblem* x, const double* M, const srStepContact* contact, int blocks[2], int width,
                       double* out) {
  const srUnilateral* c = contact->from;
  int first[2] = {width, width};
  (void)blocks_of(x, c, blocks);
  if (blocks[1] < 0) {
    blocks[1] = blocks[0];
    blocks[0] = -1;
  }
  memset(out, 0, 6 * (size_t)width * sizeof *out);
  for (int i = 0; i < c->n; ++i) {
    const int side = x->block[c->column[i]] == blocks[1], place = x->place[c->column[i]];
    if (place < first[side]) first[side] = place;
    for (int k = 0; k < contact->rows; ++k) out[(3 * side + k) * width + place] = c->W[k * c->n + i];
  }
  for (int side = 0; side < 2; ++side) {
    if (blocks[side] < 0) continue;
    const double* L = factor_block(x, M, blocks[side]);
    for (int k = 0; k < contact->rows; ++k)
      scale_forward(L, size_of(x, blocks[side]), first[side], out + (3 * side + k) * width);
  }
}

// ---- small islands ----------------------------------------------------------------------------------------------------

// A = W K W^T, column by column.
static void matrix_by_columns(srStepProblem* x, srmSaddle* saddle, const srStepContact* contact, const Range* range,
                              int rows) {
  int column = 0;
  for (int i = range->first; i < range->end; ++i) {
    const srStepContact* c = &contact[x->order[i]];
    for (int k = 0; k < c->rows; ++k, ++column) {
      memset(x->force, 0, (size_t)x->nv * sizeof *x->force);
      sri_contact_row_add(c->from, k, 1, x->force);
      if (saddle != NULL) {
        srm_saddle_solve(saddle, x->force, NULL, x->x, NULL);
      } else {
        sri_step_problem_accelerate(x, x->force, x->x);
      }
      int row = 0;
      for (int j = range->first; j < range->end; ++j) {
        const srStepContact* other = &contact[x->order[j]];
        for (int l = 0; l < other->rows; ++l, ++row)
          x->small->W[row * rows + column] = sri_contact_row_times(other->from, l, x->x);
      }
    }
  }
}

// The same by the blocks; it is symmetric.
static void matrix_by_blocks(srStepProblem* x, const double* M, const srStepContact* contact, const Range* range,
                             int rows) {
  const int width = x->width, n = range->end - range->first;
  double* W = x->small->W;
  for (int a = 0; a < n; ++a)
    scale_rows(x, M, &contact[x->order[range->first + a]], x->blocks[a], width, x->rows + 6 * (size_t)(a * width));
  for (int a = 0, row = 0; a < n; row += contact[x->order[range->first + a++]].rows) {
    const int height = contact[x->order[range->first + a]].rows;
    for (int b = 0, column = 0; b <= a; column += contact[x->order[range->first + b++]].rows) {
      const int length = contact[x->order[range->first + b]].rows;
      for (int e = 0; e < height * length; ++e) {
        const int k = e / length, l = e % length;
        double sum = 0;
        for (int s = 0; s < 4; ++s) {
          const int block = x->blocks[a][s / 2];
          if (block < 0 || block != x->blocks[b][s % 2]) continue;
          sum += dot(x->rows + (size_t)((6 * a + 3 * (s / 2) + k) * width),
                     x->rows + (size_t)((6 * b + 3 * (s % 2) + l) * width), size_of(x, block));
        }
        W[(row + k) * rows + column + l] = W[(column + l) * rows + row + k] = sum;
      }
    }
  }
}

static double mass_of(const srStepProblem* x, const double* M, int i) {
  if (x->M == NULL) return M[(size_t)i * (size_t)(x->nv + 1)];
  for (int k = x->M->row[i]; k < x->M->row[i + 1]; ++k) {
    if (x->M->column[k] == i) return M[k];
  }
  return 0;
}

// Velocity over force along row k of a contact, if there were no joints.
static double mobility_alone(const srStepProblem* x, const double* M, const srUnilateral* c, int k) {
  double sum = 0;
  for (int i = 0; i < c->n; ++i) {
    const double m = mass_of(x, M, c->column[i]), w = c->W[k * c->n + i];
    if (m > 0) sum += w * w / m;
  }
  return sum;
}

// Normals that the joints hold: W_NN is rounding beside what it were without joints. No impulse acts along them; they are taken out of the matrix.
static void release_held(srStepProblem* x, const double* M, const srStepContact* contact, const Range* range,
                         int rows) {
  srContactProblem* p = x->small;
  for (int i = range->first, row = 0; i < range->end; row += contact[x->order[i++]].rows) {
    const double alone = mobility_alone(x, M, contact[x->order[i]].from, 0);
    if (p->W[(size_t)row * (size_t)(rows + 1)] > HELD * alone) continue;
    for (int k = 0; k < rows; ++k) p->W[row * rows + k] = p->W[k * rows + row] = 0;
    p->W[(size_t)row * (size_t)(rows + 1)] = alone;
    p->q[row] = p->cone[i - range->first].shift = 0;
  }
}

// Rows of the clamps in the matrix: that of their normal, and the least mobility of their slip.
static void put_clamps(srStepProblem* x, const double* M, const srStepContact* contact, const Range* range, int rows) {
  for (int i = range->first, row = 0; i < range->end; row += contact[x->order[i++]].rows) {
    const srStepContact* c = &contact[x->order[i]];
    if (!(c->given > 0)) continue;
    double *normal = &x->small->W[(size_t)row * (size_t)(rows + 1)],
           *slip = &x->small->W[(size_t)(row + 1) * (size_t)(rows + 1)];
    *slip = fmax(*slip, HELD * mobility_alone(x, M, c->from, 1));
    *normal = *slip > 0 ? *slip : 1;
    x->small->q[row] = -c->given * *normal;
  }
}

// The compliance of redundant normals does not change what is given.
static void correct_clamps(srStepProblem* x, const srStepContact* contact, const Range* range) {
  for (int i = range->first, row = 0; i < range->end; row += contact[x->order[i++]].rows) {
    if (contact[x->order[i]].given > 0) x->small->q[row] *= 1 + x->small->compliance;
  }
}

// Are normals of the matrix redundant?
static bool is_redundant(srStepProblem* x, int rows) {
  const int n = x->small->ncontact;
  double* S = x->normals;
  for (int i = 0, row = 0; i < n; row += x->small->cone[i++].rows) {
    for (int j = 0, column = 0; j <= i; column += x->small->cone[j++].rows)
      S[i * n + j] = x->small->W[(size_t)row * (size_t)rows + (size_t)column];
  }
  for (int k = 0; k < n; ++k) {  // Cholesky, row by row
    const double diagonal = S[k * n + k];
    for (int j = 0; j <= k; ++j) {
      const double sum = S[k * n + j] - dot(S + k * n, S + j * n, j);
      if (j < k) {
        S[k * n + j] = sum / S[j * n + j];
      } else if (!(sum > DEPENDENT * diagonal)) {
        return true;
      } else {
        S[k * n + k] = sqrt(sum);
      }
    }
  }
  return false;
}

// Contacts with compliances of their own share their load by these.
static bool has_laws(const srContactProblem* p) { return p->cone[0].compliance[0] > 0; }

static void note(srStepResult* out, const srContactResult* r) {
  out->solved = out->solved && r->solved;
  if (!(r->error.residual <= out->residual)) out->residual = r->error.residual;
}

// The solution of a problem by the measure of its solver, and what became of it.
static srStatus solve_one(srStepProblem* x, srContactSolver* solver, srContactProblem* p,
                          const srContactOptions* options, srContactResult* result) {
  const size_t size = x->see != NULL ? (size_t)sr_contact_rows(p) * sizeof *p->start : 0;
  if (x->see != NULL) memcpy(p->start, x->p, size);
  const srStatus status = sr_contact_solve(solver, p, options, x->p, result);
  if (x->see == NULL || status != SR_OK) return status;
  memcpy(p->solution, x->p, size);
  p->has_solution = true;
  p->tolerance = options->tolerance;
  x->see(x->user, &(srSolvedProblem){.problem = p, .result = result});
  return status;
}

// From the impulses in x->p. Redundant points with friction are not always solved by Newton's method: of free bodies few sweeps are good enough then, in most cases.
static srStatus solve_matrix(srStepProblem* x, bool free, bool clamped, srContactResult* result) {
  srContactOptions options = sr_contact_options();
  if (clamped) options.least_iterations = 2;  // what friction holds must not creep by the tolerance
  const int all = options.iterations;
  if (free) options.iterations = SWEEPS_HARD;
  srStatus status = solve_one(x, x->small_solver, x->small, &options, result);
  if (free && status == SR_OK && !(result->error.residual <= ENOUGH)) {
    options.iterations = all;
    status = solve_one(x, x->small_solver, x->small, &options, result);
  }
  if (free && result->error.residual <= HARDEST) result->solved = true;
  return status;
}

static srStatus solve_small(srStepProblem* x, srmSaddle* saddle, const double* M, const double* v_free,
                            const srStepContact* contact, const Range* range, double* impulse, srStepResult* out) {
  srContactProblem* p = x->small;
  int rows = 0;
  p->ncontact = range->end - range->first;
  for (int i = range->first; i < range->end && x->free != NULL; ++i) sri_point_rows(contact[x->order[i]].from, x->free);
  for (int i = range->first; i < range->end; ++i) {
    const srStepContact* c = &contact[x->order[i]];
    p->cone[i - range->first] = c->cone;
    p->cone[i - range->first].rows = c->rows;
    for (int k = 0; k < c->rows; ++k, ++rows) {
      p->q[rows] = sri_contact_velocity(c->from, k, v_free);
      x->p[rows] = impulse[3 * x->order[i] + k];
    }
  }
  if (range->jointed || (range->heavy && saddle != NULL)) {
    matrix_by_columns(x, saddle, contact, range, rows);
    release_held(x, M, contact, range, rows);
  } else {
    matrix_by_blocks(x, M, contact, range, rows);
  }
  put_clamps(x, M, contact, range, rows);
  p->compliance = !has_laws(p) && is_redundant(x, rows) ? COMPLIANCE : 0;
  correct_clamps(x, contact, range);
  srContactResult result;
  bool clamped = false;
  for (int i = range->first; i < range->end; ++i) clamped = clamped || contact[x->order[i]].given > 0;
  const srStatus status = solve_matrix(x, !range->heavy, clamped, &result);
  if (status != SR_OK) return status;
  note(out, &result);
  for (int i = range->first, row = 0; i < range->end; ++i) {
    for (int k = 0; k < contact[x->order[i]].rows; ++k) impulse[3 * x->order[i] + k] = x->p[row++];
    if (x->free != NULL) contact[x->order[i]].from->n = 0;  // by its point again: its axis is one of the world
  }
  return SR_OK;
}

// ---- large islands ----------------------------------------------------------------------------------------------------

static int body_of(srStepProblem* x, const double* v_free, int block) {
  if (block < 0) return SR_CONTACT_FIXED;
  if (x->body[block] >= 0) return x->body[block];
  srContactBody* b = &x->large->body[x->large->nbody];
  const double* L = x->L + x->at[block];
  const int n = size_of(x, block), *member = x->member + x->start[block];
  *b = (srContactBody){.inverse_mass = 1, .inverse_inertia = {1, 1, 1, 0, 0, 0}};
  for (int j = 0; j < n; ++j) {  // L^T v
    b->velocity[j] = v_free[member[j]] / L[j * n + j];
    for (int i = j + 1; i < n; ++i) b->velocity[j] += L[i * n + j] * v_free[member[i]];
  }
  return x->body[block] = x->large->nbody++;
}

static void add_rows(srStepProblem* x, const double* M, const double* v_free, const srStepContact* c) {
  srContactProblem* p = x->large;
  const int i = p->ncontact;
  int blocks[2];
  scale_rows(x, M, c, blocks, BLOCK, &p->row[i][0][0][0]);
  p->point[i] = (srContactPoint){.body = {body_of(x, v_free, blocks[0]), body_of(x, v_free, blocks[1])}};
}

// R J R^T of the inverse inertia; where it is a multiple of 1 exactly so: balls have a problem of their own.
static void inverse_inertia(const srFreeBody* b, double out[6]) {
  const double *J = b->inverse, *R = b->rotation;
  if (J[0] == J[1] && J[1] == J[2] && J[3] == 0 && J[4] == 0 && J[5] == 0) {
    memcpy(out, J, 6 * sizeof *out);
    return;
  }
  const double c[3][3] = {{J[0], J[3], J[4]}, {J[3], J[1], J[5]}, {J[4], J[5], J[2]}};
  static const int place[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  for (int k = 0; k < 6; ++k) {
    double row[3];
    for (int j = 0; j < 3; ++j) row[j] = srm_dot3(c[j], R + 3 * place[k][0]);
    out[k] = srm_dot3(row, R + 3 * place[k][1]);
  }
}

static void place_bodies(void* user, int member, int from, int to) {
  const srStepProblem* x = user;
  (void)member;
  for (int i = from; i < to; ++i) srm_set3(x->places + 4 * (size_t)i, x->free[x->met[i]].origin);
}

static void sort_bodies(void* user, int member, int from, int to) {
  const srStepProblem* x = user;
  (void)member;
  for (int i = from; i < to; ++i) {
    x->numbered[i] = x->met[x->numbered[i]];
    x->body[x->numbered[i]] = i;
  }
}

// Free bodies of large islands; many of them by their places, so that the subdomains of the solver have few contacts between them.
static void number_bodies(srStepProblem* x) {
  const int n = x->large->nbody = x->nmet;
  if (n < SPACE) {
    for (int i = 0; i < n; ++i) x->numbered[i] = i;
  } else {
    sr_team_loop(x->team, n, place_bodies, x);
    srm_space_order(n, x->places, x->key, x->numbered);
  }
  sr_team_loop(x->team, n, sort_bodies, x);
}

static void put_free_bodies(void* user, int member, int from, int to) {
  const srStepProblem* x = user;
  (void)member;
  for (int i = from; i < to; ++i) {
    srContactBody* b = &x->large->body[i];
    const srFreeBody* body = &x->free[x->numbered[i]];
    const double* motion = x->motion + SRI_ROW * (size_t)x->numbered[i];
    b->inverse_mass = 1 / body->mass;
    inverse_inertia(body, b->inverse_inertia);
    srm_set3(b->velocity, motion);
    srm_set3(b->velocity + 3, motion + 4);
  }
}

// Contacts of the large problem, and impulses that are started from and found.
typedef struct Large {
  srStepProblem* x;
  const srStepContact* contact;
  double* impulse;
  bool faces[SR_TEAM_MOST];  // of each member: has it seen two bodies that touch at several points?
} Large;

static void put_large(void* user, int member, int from, int to) {
  Large* of = user;
  srContactProblem* p = of->x->large;
  long last = from > 0 ? of->contact[of->x->of[from - 1]].pair : 0;
  bool faces = false;
  for (int i = from; i < to; ++i) {
    const srStepContact* c = &of->contact[of->x->of[i]];
    faces = faces || (c->pair != 0 && c->pair == last);  // contacts of a pair follow each other
    last = c->pair;
    srContactPoint* point = &p->point[i];
    srContactCone* cone = &p->cone[i];
    if (of->x->free != NULL) {
      memcpy(point->normal, c->point.normal, sizeof point->normal);
      memcpy(point->arm, c->point.arm, sizeof point->arm);
      for (int k = 0; k < 2; ++k)
        point->body[k] = c->point.body[k] < 0 ? SR_CONTACT_FIXED : of->x->body[c->point.body[k]];
    }
    *cone = c->cone;
    cone->rows = 3;
    if (c->rows == 1) cone->mu = 0;
    cone->shift += c->b[0];
    for (int k = 1; k < c->rows; ++k) cone->slip[k - 1] += c->b[k];
    memcpy(of->x->p + 3 * i, of->impulse + 3 * of->x->of[i], 3 * sizeof *of->impulse);
  }
  of->faces[member] = faces;
}

static void take_large(void* user, int member, int from, int to) {
  const Large* of = user;
  (void)member;
  for (int i = from; i < to; ++i) memcpy(of->impulse + 3 * of->x->of[i], of->x->p + 3 * i, 3 * sizeof *of->impulse);
}

static bool is_large(const Range* range) { return !range->heavy && range->end - range->first > SMALL; }

// The contacts of large islands and their bodies, where there are rows.
static void add_large(srStepProblem* x, const double* M, const double* v_free, const srStepContact* contact) {
  srContactProblem* p = x->large;
  for (int k = 0; k < x->nisland; ++k) {
    const Range* range = &x->range[k];
    for (int i = range->first; i < range->end && is_large(range); ++i) {
      add_rows(x, M, v_free, &contact[x->order[i]]);
      x->of[p->ncontact++] = x->order[i];
    }
  }
}

static srStatus solve_large(srStepProblem* x, const double* M, const double* v_free, const srStepContact* contact,
                            double coarse, double* impulse, srStepResult* out) {
  srContactProblem* p = x->large;
  Large of = {.x = x, .contact = contact, .impulse = impulse};
  bool faces = false;
  p->ncontact = p->nbody = 0;
  for (int b = 0; b < x->nblock; ++b) x->body[b] = -1;
  if (x->free != NULL) {
    p->ncontact = x->nlarge;
  } else {
    add_large(x, M, v_free, contact);
  }
  if (p->ncontact == 0) return SR_OK;
  if (x->free != NULL) {
    number_bodies(x);
    sr_team_loop(x->team, p->nbody, put_free_bodies, x);
  }
  sr_team_loop(x->team, p->ncontact, put_large, &of);
  for (int k = 0; k < sr_team_hands(x->team, p->ncontact); ++k) faces = faces || of.faces[k];
  p->compliance = has_laws(p) ? 0 : COMPLIANCE;
  srContactOptions options = sr_contact_options();
  options.method = x->sweeps;
  options.single = true;
  options.tolerance = fmax(coarse, options.tolerance);  // without forces there is no change of u_N to go by
  const double layers = fmax(1, cbrt((double)p->ncontact / BASE));
  options.least_iterations = (int)(layers * (faces ? SWEEPS_FACES : SWEEPS_LEAST));
  options.iterations = SWEEPS_MOST;
  srContactResult result;
  srStatus status = solve_one(x, x->large_solver, p, &options, &result);
  out->sweeps = result.iterations;
  if (status == SR_OK &&
      !result.solved) {  // sweeps that went round need not do so on another way, from 0 and without gentle ones
    memset(x->p, 0, (size_t)sr_contact_rows(p) * sizeof *x->p);
    options.single = false;
    options.least_iterations = 0;
    status = solve_one(x, x->large_solver, p, &options, &result);
    out->sweeps += result.iterations;
  }
  if (status != SR_OK) return status;
  note(out, &result);
  sr_team_loop(x->team, p->ncontact, take_large, &of);
  if (x->free != NULL) x->end_motion = result.motion;
  return SR_OK;
}

srStepMotion sri_step_problem_motion(const srStepProblem* x) {
  return (srStepMotion){.row = x->end_motion,
                        .number = x->body,
                        .known = x->is_large,
                        .rest = x->order,
                        .nrest = x->nisland > 0 ? x->range[x->nisland - 1].end : 0};
}

void sri_step_problem_see(srStepProblem* x, srSeeProblem* see, void* user) {
  x->see = see;
  x->user = user;
}

void sri_step_problem_bodies(srStepProblem* x, const srFreeBody* body, const double* motion) {
  for (int i = 0; i < x->nfree && x->free != body; ++i) x->first[i] = body[i].first;
  x->free = body;
  x->motion = motion;
}

// ---- all --------------------------------------------------------------------------------------------------------------

srStatus sri_step_problem_solve(srStepProblem* x, srmSaddle* saddle, const double* M, const double* v_free,
                                const srStepContact* contact, int count, double coarse, double* impulse,
                                srStepResult* result) {
  *result = (srStepResult){.solved = true};
  if (count == 0) return SR_OK;
  if (!x->is_factored) ++x->step;
  x->is_factored = false;
  x->nisland = 0;
  x->end_motion = NULL;
  if (x->free != NULL) {
    split_islands(x, contact, count);
  } else {
    find_islands(x, contact, count);
  }
  for (int k = 0; k < x->nisland; ++k) {
    const int n = x->range[k].end - x->range[k].first;
    if (x->range[k].heavy && n > x->most_dense) result->too_many = n;
  }
  srStatus status = result->too_many > 0 ? SR_INPUT : SR_OK;
  if (status == SR_OK && x->large != NULL) status = solve_large(x, M, v_free, contact, coarse, impulse, result);
  for (int k = 0; k < x->nisland && status == SR_OK; ++k) {
    const Range* range = &x->range[k];
    if (!is_large(range)) status = solve_small(x, saddle, M, v_free, contact, range, impulse, result);
  }
  forget_islands(x);
  return status;
}
