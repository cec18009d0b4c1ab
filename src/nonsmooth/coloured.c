// Nonsmooth Gauss-Seidel by colours (coloured.h; the method: sweeps.c). Colours are given greedily, in the order of the contacts, by a mask of those that
// each body has already. Contacts with one moving body come before those with two: impulses spread from the ground, which takes fewer sweeps. Here is what is
// the same for both precisions; the loops over contacts are in lanes.h.
#include "nonsmooth/coloured.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/vector3.h"
#include "nonsmooth/operator.h"

enum {
  COLOURS = 64,                                  // bits of a mask; contacts beyond them are serial
  CLASSES = 2 * (COLOURS + 1) * SR_LANES_KINDS,  // keys of a bundle: with two moving bodies or one, colour, kind
  BUNDLE = 2048,                                 // contacts of a bundle of small islands; of a large one by itself
  THREADED = 2000,                               // contacts from which on a bundle is worth a team
  PASSES = 4,                                    // from velocities computed anew; the first in single precision
  PERIOD = 4  // sweeps between two tests of the residual: a test costs about a third of a sweep
};
#define SINGLE 1e-5  // tolerance relative to the velocities from which on single precision suffices
#define MARGIN 0.02  // part of the tolerance that is left for its rounding

// ---- memory -------------------------------------------------------------------------------------------------------------

static int most_bundles(const srContactSize* most) { return 2 * (most->contacts / BUNDLE) + 2; }

// Batches that are not full: at the most one for each class of a bundle.
static size_t most_batches(const srContactSize* most, int lanes) {
  const size_t full = (size_t)(most->contacts / lanes), classes = (size_t)(CLASSES * most_bundles(most));
  return full + (classes < (size_t)most->contacts ? classes : (size_t)most->contacts);
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static bool take_parts(srLanes* l, const srContactSize* most) {
  const size_t bodies = (size_t)most->bodies + 1, contacts = (size_t)most->contacts + 1;
  const size_t bundles = (size_t)most_bundles(most), single = most_batches(most, sr_lanes_single.lanes),
               batches = most_batches(most, sr_lanes_double.lanes);
  const size_t rows = bodies * sr_lanes_double.row_size;
  struct {
    void** to;
    size_t bytes;
  } parts[] = {{(void**)&l->body, bodies * sizeof *l->body},
               {(void**)&l->joint, ((size_t)most->equations + 1) * sizeof *l->joint},
               {(void**)&l->island, bodies * sizeof *l->island},
               {(void**)&l->count, bodies * sizeof *l->count},
               {(void**)&l->pair, bodies * sizeof *l->pair},
               {(void**)&l->wall, bodies * sizeof *l->wall},
               {(void**)&l->key, contacts * sizeof *l->key},
               {(void**)&l->order, contacts * sizeof *l->order},
               {(void**)&l->slot, (bundles * CLASSES + 1) * sizeof *l->slot},
               {(void**)&l->run, (bundles * CLASSES + 1) * sizeof *l->run},
               {(void**)&l->bundle, (bundles + 1) * sizeof *l->bundle},
               {(void**)&l->batch,
                larger(single * sr_lanes_single.size[SR_LANES_ROWS], batches * sr_lanes_double.size[SR_LANES_ROWS])},
               {&l->trace, batches * sr_lanes_double.trace_size},
               {&l->z, rows},
               {&l->before, rows},
               {&l->drift, rows},
               {(void**)&l->sum, batches * sizeof *l->sum},
               {(void**)&l->most, (size_t)(most->threads > 1 ? most->threads : 1) * sizeof *l->most}};
  for (int i = 0; i < SR_COUNT(parts); ++i) {
    *parts[i].to = sr_alloc(parts[i].bytes + 1);
    if (*parts[i].to == NULL) return false;
  }
  l->team = most->threads > 1 ? sr_team_create(most->threads) : NULL;
  return most->threads <= 1 || l->team != NULL;
}

srLanes* sr_lanes_create(const srContactSize* most) {
  srLanes* l = sr_alloc(sizeof *l);
  if (l == NULL || take_parts(l, most)) return l;
  sr_lanes_destroy(l);
  return NULL;
}

void sr_lanes_destroy(srLanes* l) {
  if (l == NULL) return;
  void* parts[] = {l->body, l->joint,  l->island, l->count, l->pair, l->wall,   l->key,   l->order, l->slot,
                   l->run,  l->bundle, l->batch,  l->trace, l->z,    l->before, l->drift, l->sum,   l->most};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_team_destroy(l->team);
  sr_free(l);
}

bool sr_lanes_take(const srContactProblem* p) {
  if (p->W != NULL) return false;
  for (int i = 0; i < p->ncontact; ++i) {
    if (p->cone[i].lower > 0) return false;
  }
  return true;
}

// ---- bodies and islands -------------------------------------------------------------------------------------------------

// L of I^-1 = L L^T; a direction that does not turn has a zero column.
static void scale_body(const srContactBody* from, srScaledBody* b) {
  const double *I = from->inverse_inertia, trace = I[0] + I[1] + I[2];
  double* L = b->angular;
  b->moves = from->inverse_mass > 0 || trace > 0;
  b->round = I[0] == I[1] && I[1] == I[2] && I[3] == 0 && I[4] == 0 && I[5] == 0;
  b->linear = sqrt(from->inverse_mass);
  const double least = 1e-14 * trace;
  L[0] = I[0] > least ? sqrt(I[0]) : 0;
  L[1] = L[0] > 0 ? I[3] / L[0] : 0;
  L[3] = L[0] > 0 ? I[4] / L[0] : 0;
  const double second = I[1] - L[1] * L[1];
  L[2] = second > least ? sqrt(second) : 0;
  L[4] = L[2] > 0 ? (I[5] - L[3] * L[1]) / L[2] : 0;
  const double third = I[2] - L[3] * L[3] - L[4] * L[4];
  L[5] = third > least ? sqrt(third) : 0;
}

static void scale_bodies(srLanes* l, const srContactProblem* p) {
  l->nbody = p->nbody;
  l->rows = p->row != NULL;
  for (int i = 0; i < p->nbody; ++i) {
    scale_body(&p->body[i], &l->body[i]);
    l->island[i] = i;
  }
}

static bool moves(const srLanes* l, int body) { return body >= 0 && l->body[body].moves; }

static int root_of(int* parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void connect(srLanes* l, const int body[2]) {
  if (!moves(l, body[0]) || !moves(l, body[1])) return;
  const int a = root_of(l->island, body[0]), b = root_of(l->island, body[1]);
  l->island[a > b ? a : b] = a < b ? a : b;
}

// A moving body of the contact or equation; -1: none.
static int mover(const srLanes* l, const int body[2]) {
  return moves(l, body[1]) ? body[1] : moves(l, body[0]) ? body[0] : -1;
}

static bool same_block(const srContactProblem* p, int first, int i) {
  return i < p->nequation && i - first < SR_JOINT_ROWS && p->equation[i].body[0] == p->equation[first].body[0] &&
         p->equation[i].body[1] == p->equation[first].body[1];
}

// Islands in the order of their first body, put together until a bundle is full. count[root]: weight of the island, then its bundle.
static int find_bundles(srLanes* l, const srContactProblem* p) {
  for (int i = 0; i < p->ncontact; ++i) connect(l, p->point[i].body);
  for (int i = 0; i < p->nequation; ++i) connect(l, p->equation[i].body);
  int* weight = l->count;
  memset(weight, 0, (size_t)p->nbody * sizeof *weight);
  for (int i = 0; i < p->ncontact; ++i) {
    const int body = mover(l, p->point[i].body);
    if (body >= 0) weight[root_of(l->island, body)]++;
  }
  for (int i = 0; i < p->nequation; ++i) {
    const int body = mover(l, p->equation[i].body);
    if (body >= 0) weight[root_of(l->island, body)]++;
  }
  int islands = 0, open = -1;  // open: bundle of small islands
  l->nbundle = 0;
  for (int i = 0; i < p->nbody; ++i) {
    const int n = weight[i];
    if (l->island[i] != i || n == 0) continue;
    islands++;
    int to = open;
    if (n >= BUNDLE || to < 0) {
      to = l->nbundle++;
      l->bundle[to] = (srBundle){0};
      if (n < BUNDLE) open = to;
    }
    l->bundle[to].contacts += n;
    if (to == open && l->bundle[to].contacts >= BUNDLE) open = -1;
    weight[i] = to;
  }
  return islands;
}

static int bundle_of(srLanes* l, int body) { return l->count[root_of(l->island, body)]; }

// ---- colours ------------------------------------------------------------------------------------------------------------

static bool round_at(const srLanes* l, const srContactPoint* x, int side) {
  const int body = x->body[side];
  if (!moves(l, body)) return true;
  double c[3];
  srm_cross3(x->arm[side], x->normal, c);
  return l->body[body].round && srm_dot3(c, c) <= 1e-20 * srm_dot3(x->arm[side], x->arm[side]);
}

static int first_free(uint64_t taken) { return ~taken == 0 ? COLOURS : __builtin_ctzll(~taken); }

#define NO_KEY UINT32_MAX  // nothing moves

static uint32_t colour_contact(srLanes* l, const srContactPoint* x) {
  const int body = mover(l, x->body);
  if (body < 0) return NO_KEY;
  const bool pairs = moves(l, x->body[0]) && moves(l, x->body[1]);
  int colour;
  if (pairs) {
    uint64_t *a = &l->pair[x->body[0]], *b = &l->pair[x->body[1]];
    colour = first_free(*a | *b);
    const uint64_t bit = colour < COLOURS ? (uint64_t)1 << colour : 0;
    *a |= bit;
    *b |= bit;
  } else {
    colour = first_free(l->wall[body]);
    l->wall[body] |= colour < COLOURS ? (uint64_t)1 << colour : 0;
  }
  const int kind = !l->rows && round_at(l, x, 0) && round_at(l, x, 1) ? SR_LANES_BALL : SR_LANES_ROWS;
  return (uint32_t)(bundle_of(l, body) * CLASSES + ((pairs ? COLOURS + 1 : 0) + colour) * SR_LANES_KINDS + kind);
}

// Contacts sorted by key; runs of equal keys, each with its batches.
static void make_runs(srLanes* l, const srContactProblem* p) {
  const int keys = l->nbundle * CLASSES;
  memset(l->pair, 0, (size_t)p->nbody * sizeof *l->pair);
  memset(l->wall, 0, (size_t)p->nbody * sizeof *l->wall);
  memset(l->slot, 0, ((size_t)keys + 1) * sizeof *l->slot);
  for (int i = 0; i < p->ncontact; ++i) {
    l->key[i] = colour_contact(l, &p->point[i]);
    if (l->key[i] != NO_KEY) l->slot[l->key[i]]++;
  }
  size_t at = 0;
  int first = 0, batch = 0;
  l->nrun = 0;
  for (int k = 0; k < keys; ++k) {
    const int n = l->slot[k], kind = k % SR_LANES_KINDS, colour = k % CLASSES / SR_LANES_KINDS;
    srBundle* bundle = &l->bundle[k / CLASSES];
    if (k % CLASSES == 0) bundle->run[0] = l->nrun;
    l->slot[k] = first;
    if (n > 0) {
      srLaneRun* run = &l->run[l->nrun++];
      *run = (srLaneRun){.kind = kind,
                         .first = first,
                         .contacts = n,
                         .at = at,
                         .batches = (n + l->kernel->lanes - 1) / l->kernel->lanes,
                         .batch = batch,
                         .pairs = colour > COLOURS,
                         .serial = colour % (COLOURS + 1) == COLOURS,
                         .meet = true};
      if (l->nrun - 1 > bundle->run[0] && run[-1].colour == colour && !run->serial) run[-1].meet = false;
      run->colour = colour;
      at += (size_t)run->batches * l->kernel->size[kind];
      batch += run->batches;
      first += n;
    }
    bundle->run[1] = l->nrun;
  }
  for (int i = 0; i < p->ncontact; ++i) {
    if (l->key[i] != NO_KEY) l->order[l->slot[l->key[i]]++] = i;
  }
}

// ---- joints -------------------------------------------------------------------------------------------------------------

static void fill_joint(const srLanes* l, const srContactProblem* p, int first, int end, const double* impulse,
                       srScaledJoint* j) {
  *j = (srScaledJoint){.rows = end - first, .first = first};
  for (int side = 0; side < 2; ++side) {
    const int body = p->equation[first].body[side];
    j->body[side] = moves(l, body) ? body : -1;
    for (int k = 0; k < j->rows; ++k) {
      const srContactEquation* e = &p->equation[first + k];
      if (side == 0) j->shift[k] = e->shift;
      if (body >= 0) j->shift[k] += sr_times_row(e->row[side], p->body[body].velocity);
      if (j->body[side] >= 0) sr_scale_row(&l->body[body], e->row[side], j->J[side][k]);
      j->lambda[k] = impulse[first + k];
    }
  }
  for (int k = 0; k < j->rows; ++k) {
    for (int i = 0; i < j->rows; ++i)
      j->S[k * j->rows + i] = sr_times_row(j->J[0][k], j->J[0][i]) + sr_times_row(j->J[1][k], j->J[1][i]);
    j->diagonal[k] = j->S[k * j->rows + k];
  }
  sr_dense_factor(j->rows, j->S, j->reciprocal, 1e-10);
}

// Blocks of the bundles in their order: the first pass counts.
static void fill_joints(srLanes* l, const srContactProblem* p, const double* impulse) {
  for (int k = 0; k < l->nbundle; ++k) l->bundle[k].joint[0] = l->bundle[k].joint[1] = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < p->nequation;) {
      const int first = i, body = mover(l, p->equation[i].body);
      while (same_block(p, first, i)) ++i;
      if (body < 0) continue;
      srBundle* bundle = &l->bundle[bundle_of(l, body)];
      if (pass == 1) fill_joint(l, p, first, i, impulse, &l->joint[bundle->joint[1]]);
      bundle->joint[1]++;
    }
    if (pass == 1) break;
    l->njoint = 0;
    for (int k = 0; k < l->nbundle; ++k) {
      const int n = l->bundle[k].joint[1] - l->bundle[k].joint[0];
      l->bundle[k].joint[0] = l->bundle[k].joint[1] = l->njoint;
      l->njoint += n;
    }
  }
}

static void joint_velocity(const srLanes* l, const srScaledJoint* j, double w[SR_JOINT_ROWS]) {
  for (int k = 0; k < j->rows; ++k) w[k] = j->shift[k];
  for (int side = 0; side < 2; ++side) {
    double z[6];
    if (j->body[side] < 0) continue;
    l->kernel->row(l, j->body[side], z);
    for (int k = 0; k < j->rows; ++k) w[k] += sr_times_row(j->J[side][k], z);
  }
}

static void joint_push(const srLanes* l, const srScaledJoint* j, const double dl[SR_JOINT_ROWS]) {
  for (int side = 0; side < 2; ++side) {
    double dz[6] = {0};
    if (j->body[side] < 0) continue;
    for (int k = 0; k < j->rows; ++k) {
      for (int i = 0; i < 6; ++i) dz[i] += j->J[side][k][i] * dl[k];
    }
    l->kernel->push(l, j->body[side], dz);
  }
}

static void relax_joint(const srLanes* l, srScaledJoint* j) {
  double dl[SR_JOINT_ROWS];
  joint_velocity(l, j, dl);
  for (int k = 0; k < j->rows; ++k) dl[k] = -dl[k];
  sr_dense_factor_solve(j->rows, j->S, j->reciprocal, dl);
  for (int k = 0; k < j->rows; ++k) j->lambda[k] += dl[k];
  joint_push(l, j, dl);
}

static double joint_residual(const srLanes* l, const srScaledJoint* j) {
  double w[SR_JOINT_ROWS], most = 0;
  joint_velocity(l, j, w);
  for (int k = 0; k < j->rows; ++k) most = fmax(most, fabs(w[k]));
  return most;
}

// ---- iteration ----------------------------------------------------------------------------------------------------------

// One bundle and who works on it.
typedef struct Job {
  srLanes* l;
  const srContactProblem* p;
  const srContactOptions* o;
  srBundle* bundle;
  double *impulse, tolerance;
  bool accelerate;
} Job;

typedef struct Hand {
  srTeam* team;  // NULL: one alone
  int member, members;
} Hand;

static void meet(const Hand* h) {
  if (h->team != NULL) sr_team_meet(h->team);
}

// Its share of n.
static void share(const Hand* h, int n, int range[2]) {
  for (int k = 0; k < 2; ++k) range[k] = (int)((long)n * (h->member + k) / h->members);
}

static void share_run(const Hand* h, const srLaneRun* run, int range[2]) {
  if (run->serial) {
    range[0] = 0;
    range[1] = h->member == 0 ? run->batches : 0;
  } else {
    share(h, run->batches, range);
  }
}

// The runs of a bundle in the order of their colours; a colour begins when all are done with the one before.
static void each_colour(const Job* job, const Hand* h,
                        void (*act)(const srLanes* l, const srLaneRun* run, int from, int to)) {
  for (int i = job->bundle->run[0]; i < job->bundle->run[1]; ++i) {
    const srLaneRun* run = &job->l->run[i];
    int range[2];
    share_run(h, run, range);
    act(job->l, run, range[0], range[1]);
    if (run->meet) meet(h);
  }
}

static void fill(const Job* job, const Hand* h) {
  for (int i = job->bundle->run[0]; i < job->bundle->run[1]; ++i) {
    int range[2];
    share(h, job->l->run[i].batches, range);
    job->l->kernel->fill(job->l, job->p, &job->l->run[i], range[0], range[1], job->impulse);
  }
  meet(h);
  each_colour(job, h, job->l->kernel->apply);
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1] && h->member == 0; ++i)
    joint_push(job->l, &job->l->joint[i], job->l->joint[i].lambda);
  meet(h);
}

static void sweep(const Job* job, const Hand* h, bool traced) {
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1] && h->member == 0; ++i)
    relax_joint(job->l, &job->l->joint[i]);
  if (job->bundle->joint[1] > job->bundle->joint[0]) meet(h);
  each_colour(job, h, traced ? job->l->kernel->sweep_traced : job->l->kernel->sweep);
}

// Largest residual of the bundle, the same for every member.
static double residual(const Job* job, const Hand* h) {
  double most = 0;
  for (int i = job->bundle->run[0]; i < job->bundle->run[1]; ++i) {
    int range[2];
    share(h, job->l->run[i].batches, range);
    most = fmax(most, job->l->kernel->residual(job->l, &job->l->run[i], range[0], range[1]));
  }
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1] && h->member == 0; ++i)
    most = fmax(most, joint_residual(job->l, &job->l->joint[i]));
  job->l->most[h->member] = most;
  meet(h);
  for (int i = 0; i < h->members; ++i) most = fmax(most, job->l->most[i]);
  meet(h);
  return most;
}

// ---- conjugate directions -----------------------------------------------------------------------------------------------

static void remember(const Job* job, const Hand* h) {
  srLanes* l = job->l;
  int range[2];
  share(h, l->nbody, range);
  const size_t size = l->kernel->row_size, from = size * (size_t)range[0], bytes = size * (size_t)(range[1] - range[0]);
  memcpy((char*)l->before + from, (const char*)l->z + from, bytes);
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1] && h->member == 0; ++i)
    memcpy(l->joint[i].before, l->joint[i].lambda, sizeof l->joint[i].before);
  meet(h);
}

// Squared length of the change of a sweep. Each batch has its sum; everyone adds them in their order: the same bits for any team.
static double change_of(const Job* job) {
  const srLanes* l = job->l;
  double sum = 0;
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1]; ++i) {
    const srScaledJoint* j = &l->joint[i];
    for (int k = 0; k < j->rows; ++k)
      sum += j->diagonal[k] * (j->lambda[k] - j->before[k]) * (j->lambda[k] - j->before[k]);
  }
  for (int i = job->bundle->run[0]; i < job->bundle->run[1]; ++i) {
    const srLaneRun* run = &l->run[i];
    for (int k = 0; k < run->batches; ++k) sum += l->sum[run->batch + k];
  }
  return sum;
}

static void extrapolate(const Job* job, const Hand* h, double beta) {
  srLanes* l = job->l;
  int range[2];
  for (int i = job->bundle->run[0]; i < job->bundle->run[1]; ++i) {
    share(h, l->run[i].batches, range);
    l->kernel->advance(l, &l->run[i], range[0], range[1], beta);
  }
  share(h, l->nbody, range);
  l->kernel->advance_rows(l, range[0], range[1], beta);
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1] && h->member == 0; ++i) {
    srScaledJoint* j = &l->joint[i];
    for (int k = 0; k < j->rows; ++k) {
      const double step = j->lambda[k] - j->before[k], along = beta > 0 ? beta * j->direction[k] : 0;
      j->lambda[k] += along;
      j->direction[k] = along + step;
    }
  }
  meet(h);
}

// ---- solve --------------------------------------------------------------------------------------------------------------

// Every member decides alike, from the same numbers.
static void iterate(const Job* job, const Hand* h) {
  const srContactOptions* o = job->o;
  const int most = o->iterations - job->bundle->iterations, least = o->least_iterations - job->bundle->iterations;
  const int plain = most - most / 2;  // plain sweeps from here on, as in sweeps.c
  bool solved = least <= 0 && residual(job, h) <= job->tolerance;
  double last = 0;
  int k = 0;
  while (!solved && k < most) {
    ++k;
    const bool test = k >= least && (k % PERIOD == 0 || k == most), direct = job->accelerate && k < plain;
    if (direct) remember(job, h);
    sweep(job, h, direct);
    if (test) solved = residual(job, h) <= job->tolerance;
    if (!direct || solved) continue;
    const double length = change_of(job);
    double beta = k > 1 && last > 0 ? length / last : 0;
    if (!(beta <= 1)) beta = 0;
    extrapolate(job, h, beta);
    last = length;
  }
  meet(h);  // nobody reads the number of iterations any more
  if (h->member == 0) {
    job->bundle->iterations += k;
    job->bundle->solved = solved;
  }
}

static void work(void* user, srTeam* team, int member, int members) {
  const Job* job = user;
  const Hand hand = {members > 1 ? team : NULL, member, members};
  fill(job, &hand);
  iterate(job, &hand);
  for (int i = job->bundle->run[0]; i < job->bundle->run[1]; ++i) {
    int range[2];
    share(&hand, job->l->run[i].batches, range);
    job->l->kernel->store(job->l, job->p, &job->l->run[i], range[0], range[1], job->impulse);
  }
}

// All bundles that are not solved yet, in one precision, from the impulses.
static void solve_bundles(srLanes* l, Job job) {
  make_runs(l, job.p);
  fill_joints(l, job.p, job.impulse);
  memset(l->z, 0, (size_t)l->nbody * l->kernel->row_size);
  for (int k = 0; k < l->nbundle; ++k) {
    job.bundle = &l->bundle[k];
    if (job.bundle->solved) continue;
    if (l->team != NULL && job.bundle->contacts >= THREADED) {
      sr_team_run(l->team, work, &job);
    } else {
      work(&job, NULL, 0, 1);
    }
  }
  for (int i = 0; i < l->njoint; ++i) {
    const srScaledJoint* j = &l->joint[i];
    for (int k = 0; k < j->rows; ++k) job.impulse[j->first + k] = j->lambda[k];
  }
}

// Largest velocity that a single precision sweep has to resolve.
static double fastest(const srContactProblem* p) {
  double most = 0;
  for (int i = 0; i < p->nbody; ++i) {
    for (int k = 3; k < 6; ++k) most = fmax(most, fabs(p->body[i].velocity[k]));
  }
  return most;
}

static int most_iterations(const srLanes* l) {
  int most = 0;
  for (int k = 0; k < l->nbundle; ++k) most = l->bundle[k].iterations > most ? l->bundle[k].iterations : most;
  return most;
}

// In single precision first, if that is wanted and suffices. Velocities that accumulate differ by rounding from those of the error measure: where
// that matters the sweeps go on, from velocities computed anew and to half the tolerance.
static void solve_all(srContactSolver* s, const srContactProblem* p, const srContactOptions* o, bool accelerate,
                      double* impulse, srContactResult* result) {
  srLanes* l = s->lanes;
  Job job = {.l = l, .p = p, .o = o, .impulse = impulse, .tolerance = o->tolerance, .accelerate = accelerate};
  const bool single = o->single && p->nequation == 0 && o->tolerance > SINGLE * fastest(p);
  scale_bodies(l, p);
  result->islands = find_bundles(l, p);
  for (int pass = single ? 0 : 1; pass < PASSES; ++pass) {
    l->kernel = pass == 0 ? &sr_lanes_single : &sr_lanes_double;
    job.tolerance = pass == 0 ? (1 - MARGIN) * o->tolerance : pass == 1 ? o->tolerance : 0.5 * job.tolerance;
    solve_bundles(l, job);
    result->error = sr_contact_error(s, p, impulse);
    result->iterations = most_iterations(l);
    if (result->error.residual <= o->tolerance && result->error.bilateral <= o->tolerance) return;
    bool more = false;  // a bundle that seems to be solved, and has sweeps left
    for (int k = 0; k < l->nbundle; ++k) {
      more = more || (l->bundle[k].solved && l->bundle[k].iterations < o->iterations);
      l->bundle[k].solved = false;
    }
    if (!more) return;
  }
}

void sr_coloured_nsgs(srContactSolver* s, const srContactProblem* p, const srContactOptions* o, double* impulse,
                      srContactResult* result) {
  solve_all(s, p, o, false, impulse, result);
}

void sr_coloured_nncg(srContactSolver* s, const srContactProblem* p, const srContactOptions* o, double* impulse,
                      srContactResult* result) {
  solve_all(s, p, o, true, impulse, result);
}
