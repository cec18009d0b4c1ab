// Nonsmooth Gauss-Seidel by colours (coloured.h; the method: sweeps.c). Colours are given greedily, in the order of the contacts, by a mask of those that
// each body has already. Directions and line search: docs/theory/contact-problem.md. Contacts with one moving body come before those with two: impulses spread from the ground, which takes fewer sweeps. Here is what is
// the same for both precisions; the loops over contacts are in lanes.h.
#include "nonsmooth/coloured.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/v4.h"
#include "math/vector3.h"
#include "nonsmooth/operator.h"
#include "nonsmooth/patch.h"

enum {
  COLOURS = 64,                                  // bits of a mask; contacts beyond them are serial
  CLASSES = 4 * (COLOURS + 1) * SR_LANES_KINDS,  // keys of a subdomain: idle, with two moving bodies, colour, kind
  SUBDOMAIN = 5000,                              // contacts of a subdomain, about, where there are more than two
  FULL = 90,          // ... and of each of its colours: with few of them batches would not be full
  BUNDLE = 2048,      // contacts of a bundle of small islands; of a large one by itself
  THREADED = 2000,    // contacts from which on a bundle is worth a team
  PASSES = 4,         // from velocities computed anew; the first in single precision
  BLOCK = 64,         // bodies that have a sum
  FEW_BATCHES = 8,    // of a part that is worth the meeting: to share them costs as much as some of them
  FEW_BODIES = 1000,  // the same of rows of bodies
  PERIOD = 4,         // sweeps between two tests of the residual: a test costs about a third of a sweep
  STALLED = 600,      // sweeps after which the contacts that are not solved yet are counted, again after every ...
  LEG = 200,          // ... so many more ...
  FEW = 200,          // ... and if these are at the most so many, solved in patches (patch.h) ...
  MENDED =
      40,  // ... with so many plain sweeps after them; half as many where no fewer contacts were left, and, when they are few, as many again
  SMALLER = 30,  // the first times by smaller ones, which take an eighth of the time
  ALONE = 36,    // sweeps, with half of the least number, after which, where few contacts are left, ...
  LAST = 400,    // ... one of so many of a bundle, ...
  CALMING = 4,   // ... so many plain sweeps follow, ...
  AGAIN = 8,     // ... and again after so many
  PART = 2       // of the least number of sweeps: so many suffice where impulses hardly change
};
#define SINGLE 1e-5  // tolerance relative to the velocities from which on single precision suffices
#define MARGIN 0.02  // part of the tolerance that is left for its rounding
#define SCALED 0.95  // start values whose best multiple is below this are multiplied by it
#define WAY 1.4      // largest step along a conjugate direction
#define RESTART 0.5  // beta where steps have become longer
#define STILL                                                                                                          \
  0.004  // part of the tolerance: root mean square of the change of a gentle sweep below which a part of the least number of sweeps is enough
#define APART 12.0  // times the tolerance: normal velocity with which a contact is idle
#define NEARLY 8.0  // times the tolerance: change of a sweep below which few contacts may be left
#define LIKELY 4.0  // times the tolerance: change of a sweep below which the residual may be small enough

// ---- memory -------------------------------------------------------------------------------------------------------------

static int most_bundles(const srContactSize* most) { return 2 * (most->contacts / BUNDLE) + 2; }

// A power of two, for teams. 0: it is shared colour by colour, all of it; 1: it is not worth a team.
static int subdomains_of(const srBundle* bundle) {
  const int contacts = bundle->contacts;
  if (contacts < THREADED) return 1;
  if (contacts < 2 * FULL * bundle->crowd) return 0;  // a body with so many contacts asks for as many colours
  int n = 2;
  while (2 * n <= SR_SUBDOMAINS && contacts >= 2 * n * SUBDOMAIN && contacts >= 2 * n * FULL * bundle->crowd) n *= 2;
  return n;
}

// With the interfaces.
static int most_subdomains(const srContactSize* most) {
  return most_bundles(most) + 2 * (most->contacts / THREADED) + most->contacts / SUBDOMAIN;
}

// Batches that are not full: at the most one for each class of a subdomain.
static size_t most_batches(const srContactSize* most, int lanes) {
  const size_t full = (size_t)(most->contacts / lanes), classes = (size_t)CLASSES * (size_t)most_subdomains(most);
  return full + (classes < (size_t)most->contacts ? classes : (size_t)most->contacts);
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static int members_of(const srContactSize* most) {
  const int n = most->team != NULL ? sr_team_members(most->team) : most->threads;
  return n > 1 ? n : 1;
}

static bool take_parts(srLanes* l, const srContactSize* most) {
  const size_t bodies = (size_t)most->bodies + 1, contacts = (size_t)most->contacts + 1;
  const size_t bundles = (size_t)most_bundles(most), rows = bodies * sr_lanes_double.row_size;
  const size_t subdomains = (size_t)most_subdomains(most), runs = subdomains * CLASSES + 1;
  const srLaneKernel* const kernels[] = {l->single, &sr_lanes_double};
  size_t batch = 0, trace = 0, sums = 0, sleeps = 0;
  for (int i = 0; i < SR_COUNT(kernels); ++i) {
    const size_t batches = most_batches(most, kernels[i]->lanes);
    batch = larger(batch, batches * kernels[i]->size[SR_LANES_ROWS]);
    trace = larger(trace, batches * kernels[i]->trace_size);
    sums = larger(sums, batches * kernels[i]->sum_size);
    sleeps = larger(sleeps, batches * sizeof *l->sleeps);
  }
  struct {
    void** to;
    size_t bytes;
  } parts[] = {{(void**)&l->body, bodies * sizeof *l->body},
               {(void**)&l->nature, bodies * sizeof *l->nature},
               {(void**)&l->end, (contacts + (size_t)most->equations) * sizeof *l->end},
               {(void**)&l->joint, ((size_t)most->equations + 1) * sizeof *l->joint},
               {(void**)&l->pair[0], 2 * bodies * sizeof(uint64_t)},
               {(void**)&l->wall[0], 2 * bodies * sizeof(uint64_t)},
               {(void**)&l->between[0], 2 * bodies * sizeof(uint64_t)},
               {(void**)&l->home, contacts * sizeof *l->home},
               {(void**)&l->key, contacts * sizeof *l->key},
               {(void**)&l->traits, contacts + 3},
               {(void**)&l->order, contacts * sizeof *l->order},
               {(void**)&l->slot, runs * sizeof *l->slot},
               {(void**)&l->run, runs * sizeof *l->run},
               {(void**)&l->bundle, (bundles + 1) * sizeof *l->bundle},
               {(void**)&l->subdomain, (subdomains + 1) * sizeof *l->subdomain},
               {(void**)&l->batch, batch},
               {&l->trace, trace},
               {&l->z, rows},
               {&l->before, rows},
               {&l->drift, rows},
               {&l->sum, sums},
               {(void**)&l->sleeps, sleeps},
               {(void**)&l->zero, sleeps},
               {(void**)&l->row_sum, (bodies / BLOCK + 1) * sizeof *l->row_sum},
               {(void**)&l->most, (size_t)members_of(most) * sizeof *l->most},
               {(void**)&l->above, (size_t)members_of(most) * sizeof *l->above}};
  for (int i = 0; i < SR_COUNT(parts); ++i) {
    *parts[i].to = sr_alloc(parts[i].bytes + 1);
    if (*parts[i].to == NULL) return false;
  }
  l->pair[1] = l->pair[0] + bodies;
  l->wall[1] = l->wall[0] + bodies;
  l->between[1] = l->between[0] + bodies;
  l->islands = sr_body_islands_create(most->bodies, members_of(most));
  if (l->islands == NULL) return false;
  l->hired = most->team == NULL && most->threads > 1;
  l->team = l->hired ? sr_team_create(most->threads) : most->team;
  return !l->hired || l->team != NULL;
}

srLanes* sr_lanes_create(const srContactSize* most) {
  srLanes* l = sr_alloc(sizeof *l);
  if (l == NULL) return NULL;
  l->single = sr_lanes_wide() != NULL ? sr_lanes_wide() : &sr_lanes_single;
  if (take_parts(l, most)) return l;
  sr_lanes_destroy(l);
  return NULL;
}

void sr_lanes_destroy(srLanes* l) {
  if (l == NULL) return;
  void* parts[] = {l->body,       l->joint,     l->sleeps, l->zero,   l->nature, l->pair[0], l->wall[0],
                   l->between[0], l->home,      l->key,    l->traits, l->order,  l->slot,    l->run,
                   l->bundle,     l->subdomain, l->batch,  l->trace,  l->z,      l->end,     l->drift,
                   l->sum,        l->row_sum,   l->most,   l->above,  l->before};
  sr_body_islands_destroy(l->islands);
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  if (l->hired) sr_team_destroy(l->team);
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

// L of I^-1 = L L^T; a direction that does not turn has a zero column. Returns its nature.
static int scale_body(const srContactBody* from, srScaledBody* b) {
  const double *I = from->inverse_inertia, trace = I[0] + I[1] + I[2];
  double* L = b->angular;
  const int moves = from->inverse_mass > 0 || trace > 0 ? SR_BODY_MOVES : 0;
  b->linear = sqrt(from->inverse_mass);
  if (I[0] == I[1] && I[1] == I[2] && I[3] == 0 && I[4] == 0 && I[5] == 0) {
    L[0] = L[2] = L[5] = sqrt(I[0]);
    L[1] = L[3] = L[4] = 0;
    return moves | SR_BODY_ROUND;
  }
  const double least = 1e-14 * trace;
  L[0] = I[0] > least ? sqrt(I[0]) : 0;
  L[1] = L[0] > 0 ? I[3] / L[0] : 0;
  L[3] = L[0] > 0 ? I[4] / L[0] : 0;
  const double second = I[1] - L[1] * L[1];
  L[2] = second > least ? sqrt(second) : 0;
  L[4] = L[2] > 0 ? (I[5] - L[3] * L[1]) / L[2] : 0;
  const double third = I[2] - L[3] * L[3] - L[4] * L[4];
  L[5] = third > least ? sqrt(third) : 0;
  return moves;
}

typedef struct Whole {
  srLanes* l;
  const srContactProblem* p;
  const double* impulse;  // of the contacts, at the start
  double apart;           // normal velocity above which a contact without an impulse is idle
  bool* soft;             // of each member: have contacts compliances of their own?
  double* fastest;        // ... largest velocity of a body along an axis
} Whole;

static void scale_range(void* user, int member, int from, int to) {
  const Whole* of = user;
  double most = 0;
  for (int i = from; i < to; ++i) {
    const double* v = of->p->body[i].velocity + 3;
    of->l->nature[i] = (unsigned char)scale_body(&of->p->body[i], &of->l->body[i]);
    for (int k = 0; k < 3; ++k) most = fabs(v[k]) > most ? fabs(v[k]) : most;
  }
  of->fastest[member] = most;
}

// Returns the largest velocity that a single precision sweep has to resolve.
static double scale_bodies(srLanes* l, const srContactProblem* p) {
  double fastest[SR_TEAM_MOST], most = 0;
  l->nbody = p->nbody;
  l->rows = p->row != NULL;
  sr_team_loop(l->team, p->nbody, scale_range, &(Whole){.l = l, .p = p, .fastest = fastest});
  for (int k = 0; k < sr_team_hands(l->team, p->nbody); ++k) most = fmax(most, fastest[k]);
  return most;
}

// The bodies that move, else -1.
static void find_ends(const srLanes* l, const int body[2], int end[2]) {
  for (int side = 0; side < 2; ++side) end[side] = sr_lanes_moves(l, body[side]) ? body[side] : -1;
}

// Are the arms of four contacts along their normals? From contact i on; the last one again where there are no more.
SRM_INLINE void find_central(const srContactProblem* p, int i, v4u central[2]) {
  const double *normal[4], *a[4], *b[4];
  v4 n[4], arm[4], last[4], c[3];
  for (int k = 0; k < 4; ++k) {
    const srContactPoint* x = &p->point[i + k < p->ncontact ? i + k : p->ncontact - 1];
    normal[k] = x->normal;
    a[k] = x->arm[0];
    b[k] = x->arm[0] + 2;  // its last number, and the other arm
  }
  v4_columns_at(normal, n);
  v4_columns_at(a, arm);
  v4_columns_at(b, last);
  for (int side = 0; side < 2; ++side) {
    const v4* r = side == 0 ? arm : last + 1;
    v4_crosses(r, n, c);
    central[side] = (v4u)(v4_dots(c, c) <= 1e-20 * v4_dots(r, r));
  }
}

// What the contacts are in every precision.
SRM_CLONES static void look_range(void* user, int member, int from, int to) {
  const Whole* of = user;
  const srContactProblem* p = of->p;
  v4u central[2];
  bool soft = false;
  for (int i = from; i < to; ++i) {
    find_ends(of->l, p->point[i].body, of->l->end[i]);
    soft |= p->cone[i].compliance[0] > 0 || p->cone[i].compliance[1] > 0;
  }
  for (int i = from; i < to && !of->l->rows; i += 4) {
    find_central(p, i, central);
    for (int k = 0; k < 4; ++k)
      of->l->traits[i + k] = (unsigned char)((central[0][k] & SR_CENTRAL_FIRST) | (central[1][k] & SR_CENTRAL_SECOND));
  }
  of->soft[member] = soft;
}

static void look_at_contacts(srLanes* l, const srContactProblem* p) {
  bool soft[SR_TEAM_MOST];
  sr_team_loop(l->team, p->ncontact, look_range, &(Whole){.l = l, .p = p, .soft = soft});
  l->soft = false;
  for (int k = 0; k < sr_team_hands(l->team, p->ncontact); ++k) l->soft = l->soft || soft[k];
  for (int i = 0; i < p->nequation; ++i) find_ends(l, p->equation[i].body, l->end[p->ncontact + i]);
}

// A moving body of the contact or equation; -1: none.
static int mover(const srLanes* l, const int body[2]) {
  return sr_lanes_moves(l, body[1]) ? body[1] : sr_lanes_moves(l, body[0]) ? body[0] : -1;
}

static bool same_block(const srContactProblem* p, int first, int i) {
  return i < p->nequation && i - first < SR_JOINT_ROWS && p->equation[i].body[0] == p->equation[first].body[0] &&
         p->equation[i].body[1] == p->equation[first].body[1];
}

// Islands in the order of their first body, put together until a bundle is full. count[root]: contacts and equations of the island, then its bundle.
static int find_bundles(srLanes* l, const srContactProblem* p) {
  sr_body_islands_find(l->islands, p->nbody, (const int(*)[2])l->end, p->ncontact + p->nequation, l->team);
  l->island = l->islands->root;
  l->count = l->islands->contacts;
  l->within = l->islands->sides;
  int islands = 0, open = -1;  // open: bundle of small islands
  l->nbundle = 0;
  for (int i = 0; i < p->nbody; ++i) {
    const int n = l->count[i];
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
    l->count[i] = to;
  }
  return islands;
}

static int bundle_of(srLanes* l, int body) { return l->count[l->island[body]]; }

// ---- subdomains ---------------------------------------------------------------------------------------------------------

// A moving body that something touches, its bundle: NULL where there is none.
static srBundle* touched_bundle(srLanes* l, int body) {
  return l->within[body] > 0 ? &l->bundle[bundle_of(l, body)] : NULL;
}

static void make_subdomains(srLanes* l, srBundle* bundle) {
  const int inner = subdomains_of(bundle);
  const bool large = bundle->contacts >= THREADED;
  int n = l->nsubdomain;
  bundle->subdomain[0] = n;
  bundle->subdomain[1] = n + inner;
  bundle->interface = inner != 1 ? n + inner : -1;
  for (int i = 0; i < inner; ++i)
    l->subdomain[n++] = (srSubdomain){.interface = bundle->interface, .inner = true, .large = large};
  if (inner != 1) l->subdomain[n++] = (srSubdomain){.interface = bundle->interface, .large = large};
  l->nsubdomain = n;
}

// The bodies of a bundle, in the order of their numbers, in subdomains with about as many contacts each. Its interface has none of them, or all.
static void find_subdomains(srLanes* l) {
  l->nsubdomain = 0;
  for (int i = 0; i < l->nbody; ++i) {
    srBundle* bundle = touched_bundle(l, i);
    if (bundle == NULL) continue;
    bundle->sides += l->within[i];
    if (l->within[i] > bundle->crowd) bundle->crowd = l->within[i];
  }
  for (int k = 0; k < l->nbundle; ++k) make_subdomains(l, &l->bundle[k]);
  for (int i = 0; i < l->nbody; ++i) {
    srBundle* bundle = touched_bundle(l, i);
    const int sides = l->within[i];
    l->within[i] = -1;
    if (bundle == NULL) continue;
    const int first = bundle->subdomain[0], inner = bundle->subdomain[1] - first;
    const int k = first + (int)((long)bundle->before * inner / bundle->sides);
    srSubdomain* of = &l->subdomain[k];
    if (of->body[1] == 0) of->body[0] = i;
    of->body[1] = i + 1;
    bundle->before += sides;
    l->within[i] = k;
  }
}

// Of a contact; -1: nothing moves.
static int home_of(const srLanes* l, const int end[2]) {
  const int a = end[0] >= 0 ? l->within[end[0]] : -1, b = end[1] >= 0 ? l->within[end[1]] : -1;
  return a == b || b < 0 ? a : a < 0 ? b : l->subdomain[a].interface;
}

// ---- colours ------------------------------------------------------------------------------------------------------------

static int first_free(uint64_t taken) { return ~taken == 0 ? COLOURS : __builtin_ctzll(~taken); }

// Does a contact have no impulse at the start, and a normal velocity without impulses that opens it fast? Half of the contacts of a heap that lands do; one sweep of PERIOD checks that they
// stay open.
static bool is_idle(const Whole* of, int i) {
  const srContactPoint* x = &of->p->point[i];
  double u = of->p->cone[i].shift;
  if (of->impulse[3 * (size_t)i] > 0 || of->l->rows) return false;
  for (int side = 0; side < 2; ++side) {
    double turn[3];
    if (x->body[side] < 0) continue;
    const double* v = of->p->body[x->body[side]].velocity;
    srm_cross3(v, x->arm[side], turn);
    const double own = srm_dot3(x->normal, turn) + srm_dot3(x->normal, v + 3);
    u += side == 0 ? -own : own;
  }
  return u > of->apart;
}

// Where the contacts belong, and what they are from the start values on.
static void house_range(void* user, int member, int from, int to) {
  const Whole* of = user;
  const srLanes* l = of->l;
  (void)member;
  for (int i = from; i < to; ++i) {
    const int home = l->home[i] = home_of(l, l->end[i]);
    const bool idle = home >= 0 && l->subdomain[home].large && is_idle(of, i);
    l->traits[i] = (unsigned char)((l->traits[i] & ~SR_IDLE) | (idle ? SR_IDLE : 0));
  }
}

// The key of a contact that moves a body.
static inline uint32_t colour_contact(const Whole* of, int i) {
  srLanes* l = of->l;
  const int *end = l->end[i], alone = end[1] >= 0 ? end[1] : end[0];
  const srSubdomain* home = &l->subdomain[l->home[i]];
  const bool first = end[0] >= 0, second = end[1] >= 0, pairs = first && second;
  const bool idle = (l->traits[i] & SR_IDLE) != 0;
  int colour;
  if (pairs) {
    uint64_t* taken = home->inner ? l->pair[idle] : l->between[idle];
    uint64_t *a = &taken[end[0]], *b = &taken[end[1]];
    colour = first_free(*a | *b);
    const uint64_t bit = colour < COLOURS ? (uint64_t)1 << colour : 0;
    *a |= bit;
    *b |= bit;
  } else {
    uint64_t* wall = &l->wall[idle][alone];
    colour = first_free(*wall);
    *wall |= colour < COLOURS ? (uint64_t)1 << colour : 0;
  }
  const bool round = (!first || ((l->nature[end[0]] & SR_BODY_ROUND) && (l->traits[i] & SR_CENTRAL_FIRST))) &&
                     (!second || ((l->nature[end[1]] & SR_BODY_ROUND) && (l->traits[i] & SR_CENTRAL_SECOND)));
  const int kind = !l->rows && round ? SR_LANES_BALL : SR_LANES_ROWS;
  const int group = (2 * idle + pairs) * (COLOURS + 1) + colour;
  return (uint32_t)(l->home[i] * CLASSES + group * SR_LANES_KINDS + kind);
}

// Of subdomains from .. to-1 the contacts, in their order: their keys, and how many there are of each.
static void colour_range(void* user, int member, int from, int to) {
  const Whole* of = user;
  srLanes* l = of->l;
  (void)member;
  for (int i = 0; i < of->p->ncontact; ++i) {
    const int home = l->home[i];
    if (home < from || home >= to) continue;
    l->key[i] = colour_contact(of, i);
    l->slot[l->key[i]]++;
  }
}

// The contacts of these sorted by key.
static void sort_range(void* user, int member, int from, int to) {
  const Whole* of = user;
  srLanes* l = of->l;
  (void)member;
  for (int i = 0; i < of->p->ncontact; ++i) {
    if (l->home[i] >= from && l->home[i] < to) l->order[l->slot[l->key[i]]++] = i;
  }
}

// Idle batches begin awake, with sums of 0: what sleeps does not write them.
static void wake_all(srLanes* l) {
  for (int i = 0; i < l->nrun; ++i) {
    const srLaneRun* run = &l->run[i];
    const size_t first = (size_t)run->batch, count = (size_t)run->batches, sum = l->kernel->sum_size;
    if (!run->idle) continue;
    memset(l->sleeps + first, 0, count * sizeof *l->sleeps);
    memset((char*)l->sum + first * sum, 0, count * sum);
  }
}

// Runs of equal keys, each with its batches.
static void make_runs(srLanes* l, const srContactProblem* p, const double* impulse, double tolerance) {
  const int keys = l->nsubdomain * CLASSES;
  Whole all = {.l = l, .p = p, .impulse = impulse + p->nequation, .apart = APART * tolerance};
  for (int k = 0; k < 2; ++k) {
    memset(l->pair[k], 0, (size_t)p->nbody * sizeof *l->pair[k]);
    memset(l->wall[k], 0, (size_t)p->nbody * sizeof *l->wall[k]);
    memset(l->between[k], 0, (size_t)p->nbody * sizeof *l->between[k]);
  }
  memset(l->slot, 0, ((size_t)keys + 1) * sizeof *l->slot);
  sr_team_loop(l->team, p->ncontact, house_range, &all);
  sr_team_pieces(l->team, l->nsubdomain, colour_range, &all);
  size_t at = 0;
  int first = 0, batch = 0;
  l->nrun = 0;
  for (int k = 0; k < keys; ++k) {
    const int n = l->slot[k], kind = k % SR_LANES_KINDS, colour = k % CLASSES / SR_LANES_KINDS;
    const int group = colour / (COLOURS + 1);
    srSubdomain* subdomain = &l->subdomain[k / CLASSES];
    if (k % CLASSES == 0) subdomain->run[0] = l->nrun;
    l->slot[k] = first;
    if (n > 0) {
      srLaneRun* run = &l->run[l->nrun++];
      *run = (srLaneRun){.kind = kind,
                         .first = first,
                         .contacts = n,
                         .at = at,
                         .batches = (n + l->kernel->lanes - 1) / l->kernel->lanes,
                         .batch = batch,
                         .pairs = group % 2 == 1,
                         .idle = group >= 2,
                         .serial = colour % (COLOURS + 1) == COLOURS};
      at += (size_t)run->batches * l->kernel->size[kind];
      batch += run->batches;
      first += n;
    }
    subdomain->run[1] = l->nrun;
  }
  for (int k = 0; k < l->nbundle; ++k) {
    srBundle* bundle = &l->bundle[k];
    bundle->run[0] = l->subdomain[bundle->subdomain[0]].run[0];
    bundle->run[1] = l->subdomain[bundle->interface >= 0 ? bundle->interface : bundle->subdomain[0]].run[1];
  }
  sr_team_pieces(l->team, l->nsubdomain, sort_range, &all);
  wake_all(l);
}

// ---- joints -------------------------------------------------------------------------------------------------------------

static void fill_joint(const srLanes* l, const srContactProblem* p, int first, int end, const double* impulse,
                       srScaledJoint* j) {
  *j = (srScaledJoint){.rows = end - first, .first = first};
  for (int side = 0; side < 2; ++side) {
    const int body = p->equation[first].body[side];
    j->body[side] = sr_lanes_moves(l, body) ? body : -1;
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
  int until;            // sweeps of a bundle, in all
  int mended, patched;  // sweeps that follow the next patches; how often there were some
  int left;             // contacts that the last leg has left
  bool accelerate;
} Job;

// Batches of the bundle of a job, cut among the team: what is done with them, and the largest number of each part.
typedef struct Work Work;
typedef double Each(const Work* w, int part, const srLaneRun* run, int from, int to);  // returns a largest number, or 0
struct Work {
  const Job* job;
  const srLaneRun* run;
  srLaneAct* act;
  const srLaneMove* move;
  Each* each;
  double by;
  srLaneMove to;
  bool sums;
};

static int inner_subdomains(const Job* job) { return job->bundle->subdomain[1] - job->bundle->subdomain[0]; }
static srTeam* team_of(const Job* job) { return inner_subdomains(job) != 1 ? job->l->team : NULL; }

// NULL: there is one subdomain alone.
static srSubdomain* interface_of(const Job* job) {
  return job->bundle->interface >= 0 ? &job->l->subdomain[job->bundle->interface] : NULL;
}

static void forget_most(const srLanes* l) {
  const int members = l->team != NULL ? sr_team_members(l->team) : 1;
  memset(l->most, 0, (size_t)members * sizeof *l->most);
  memset(l->above, 0, (size_t)members * sizeof *l->above);
}

// The largest number of all parts.
static double most_of(const srLanes* l) {
  const int members = l->team != NULL ? sr_team_members(l->team) : 1;
  double most = 0;
  for (int i = 0; i < members; ++i) most = fmax(most, l->most[i]);
  return most;
}

static void act_range(void* user, int part, int from, int to) {
  const Work* w = user;
  double* most = &w->job->l->most[part];
  *most = fmax(*most, w->act(w->job->l, w->run, from, to, w->move));
}

static void add_sums(const srLanes* l, srSubdomain* of) {
  of->sums = (srLaneSums){0};
  if (of->run[0] == of->run[1]) return;
  const srLaneRun* last = &l->run[of->run[1] - 1];
  l->kernel->add_sums(l, l->run[of->run[0]].batch, last->batch + last->batches, &of->sums);
}

// What velocities of bodies have left to do.
static void move_rows(const srLanes* l, int from, int to, const srLaneMove* move) {
  if (move->rows == SR_ROWS_FOLLOW) l->kernel->follow_rows(l, from, to, move->beta);
  if (move->rows == SR_ROWS_MOVE) l->kernel->move_rows(l, from, to, move);
}

// Of the interface.
static void move_range(void* user, int part, int from, int to) {
  const Work* w = user;
  const int first = interface_of(w->job)->body[0];
  (void)part;
  move_rows(w->job->l, first + from, first + to, w->move);
}

// Subdomains of a bundle, each by itself: its runs in the order of their colours.
static void act_inside(void* user, int part, int from, int to) {
  const Work* w = user;
  const srLanes* l = w->job->l;
  double most = 0;
  for (int k = from; k < to; ++k) {
    srSubdomain* of = &l->subdomain[w->job->bundle->subdomain[0] + k];
    if (w->move != NULL) move_rows(l, of->body[0], of->body[1], w->move);
    for (int i = of->run[0]; i < of->run[1]; ++i)
      most = fmax(most, w->act(l, &l->run[i], 0, l->run[i].batches, w->move));
    if (w->sums) add_sums(l, of);
  }
  l->most[part] = fmax(l->most[part], most);
}

// The subdomains of a bundle, then its interface, whose runs the threads share: a colour begins when all are done with the one before. Returns the largest change.
static double each_colour(const Job* job, srLaneAct* act, const srLaneMove* move, bool sums) {
  srSubdomain* interface = interface_of(job);
  Work w = {.job = job, .act = act, .move = move, .sums = sums};
  forget_most(job->l);
  sr_team_pieces(team_of(job), inner_subdomains(job), act_inside, &w);
  if (interface == NULL) return most_of(job->l);
  if (move != NULL && interface->body[0] < interface->body[1])
    sr_team_share(team_of(job), interface->body[1] - interface->body[0], FEW_BODIES, move_range, &w);
  for (int i = interface->run[0]; i < interface->run[1]; ++i) {
    w.run = &job->l->run[i];
    sr_team_share(w.run->serial ? NULL : team_of(job), w.run->batches, FEW_BATCHES, act_range, &w);
  }
  if (sums) add_sums(job->l, interface);
  return most_of(job->l);
}

// from, to: batches of the bundle, of all its runs.
static void range_of_runs(void* user, int part, int from, int to) {
  const Work* w = user;
  const srLanes* l = w->job->l;
  double* most = &l->most[part];
  for (int i = w->job->bundle->run[0]; i < w->job->bundle->run[1]; ++i) {
    const srLaneRun* run = &l->run[i];
    const int before = run->batch - l->run[w->job->bundle->run[0]].batch;
    const int first = from > before ? from - before : 0, end = to - before < run->batches ? to - before : run->batches;
    if (first < end) *most = fmax(*most, w->each(w, part, run, first, end));
  }
}

// All batches of the bundle, in any order. Returns the largest number.
static double each_batch(const Job* job, Each* each, double by) {
  const int* run = job->bundle->run;
  if (run[0] == run[1]) return 0;
  const srLaneRun *first = &job->l->run[run[0]], *last = &job->l->run[run[1] - 1];
  Work w = {.job = job, .each = each, .by = by};
  forget_most(job->l);
  sr_team_share(team_of(job), last->batch + last->batches - first->batch, FEW_BATCHES, range_of_runs, &w);
  return most_of(job->l);
}

static double fill_range(const Work* w, int part, const srLaneRun* run, int from, int to) {
  (void)part;
  const Job* job = w->job;
  job->l->kernel->fill(job->l, job->p, run, from, to, job->impulse);
  return 0;
}
static double store_range(const Work* w, int part, const srLaneRun* run, int from, int to) {
  (void)part;
  const Job* job = w->job;
  job->l->kernel->store(job->l, job->p, run, from, to, job->impulse);
  return 0;
}
static double residual_range(const Work* w, int part, const srLaneRun* run, int from, int to) {
  const srLanes* l = w->job->l;
  return l->kernel->residual(l, run, from, to, w->job->tolerance, &l->above[part]);
}
static double work_range(const Work* w, int part, const srLaneRun* run, int from, int to) {
  (void)part;
  w->job->l->kernel->work(w->job->l, run, from, to);
  return 0;
}
static double multiply_range(const Work* w, int part, const srLaneRun* run, int from, int to) {
  (void)part;
  w->job->l->kernel->scale(w->job->l, run, from, to, w->by);
  return 0;
}

static void fill(const Job* job) {
  (void)each_batch(job, fill_range, 0);
  (void)each_colour(job, job->l->kernel->apply, NULL, false);
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1]; ++i)
    joint_push(job->l, &job->l->joint[i], job->l->joint[i].lambda);
}

// A sweep after the motion of the velocities that is left to do. Returns the largest change.
static double sweep(const Job* job, srLaneAct* act, srLaneMove* move) {
  const int* joint = job->bundle->joint;
  if (joint[0] < joint[1]) {
    move_rows(job->l, 0, job->l->nbody, move);
    move->rows = SR_ROWS_STAY;
  }
  for (int i = joint[0]; i < joint[1]; ++i) relax_joint(job->l, &job->l->joint[i]);
  const double most = each_colour(job, act, move, act != job->l->kernel->sweep);
  move->rows = SR_ROWS_STAY;
  return most;
}

// Largest residual of the bundle.
static double residual(const Job* job) {
  double most = each_batch(job, residual_range, 0);
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1]; ++i)
    most = fmax(most, joint_residual(job->l, &job->l->joint[i]));
  return most;
}

// Of the subdomains and the interface, in their order.
static srLaneSums sums_of(const Job* job) {
  const srSubdomain* x = &job->l->subdomain[job->bundle->subdomain[0]];
  const int n = inner_subdomains(job) + (interface_of(job) != NULL);
  srLaneSums all = {0};
  for (int i = 0; i < n; ++i) {
    all.square += x[i].sums.square;
    all.step += x[i].sums.step;
    all.direction += x[i].sums.direction;
    all.speed += x[i].sums.speed;
    for (int k = 0; k < 3; ++k) all.soft[k] += x[i].sums.soft[k];
  }
  return all;
}

// ---- start values -------------------------------------------------------------------------------------------------------

// Impulses of the last step are too large after an impact. The multiple of them that minimises the energy p^T W p/2 + q^T p is a better start value; at a solution it is 1, or more than
// that where friction dissipates.
static bool scale_start(const Job* job) {
  srLanes* l = job->l;
  (void)each_batch(job, work_range, 0);
  for (int i = job->bundle->subdomain[0]; i < job->bundle->subdomain[1]; ++i) add_sums(l, &l->subdomain[i]);
  if (interface_of(job) != NULL) add_sums(l, interface_of(job));
  const srLaneSums sums = sums_of(job);
  const double by = fmax(0, -sums.step / sums.square);
  if (!(sums.square > 0) || !(by < SCALED)) return false;
  (void)each_batch(job, multiply_range, by);
  l->kernel->scale_rows(l, 0, l->nbody, by);
  return true;
}

// ---- conjugate directions -----------------------------------------------------------------------------------------------

// Squared length of the change of a sweep by joints.
static double joints_square(const Job* job) {
  double sum = 0;
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1]; ++i) {
    const srScaledJoint* j = &job->l->joint[i];
    for (int k = 0; k < j->rows; ++k)
      sum += j->diagonal[k] * (j->lambda[k] - j->before[k]) * (j->lambda[k] - j->before[k]);
  }
  return sum;
}

// The direction of the joints, then their motion along it.
static void aim_joints(const Job* job, double beta) {
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1]; ++i) {
    srScaledJoint* j = &job->l->joint[i];
    for (int k = 0; k < j->rows; ++k) j->direction[k] = beta * j->direction[k] + j->lambda[k] - j->before[k];
  }
}
static void move_joints(const Job* job, const srLaneMove* to) {
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1]; ++i) {
    srScaledJoint* j = &job->l->joint[i];
    for (int k = 0; k < j->rows; ++k) {
      j->lambda[k] += to->way * j->direction[k] - to->back * (j->lambda[k] - j->before[k]);
      j->before[k] = j->lambda[k];
    }
  }
}

// Before the first sweep.
static void begin(const Job* job) {
  srLanes* l = job->l;
  l->kernel->begin_rows(l, 0, l->nbody);
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1]; ++i) {
    srScaledJoint* j = &l->joint[i];
    memcpy(j->before, j->lambda, sizeof j->before);
    memset(j->direction, 0, sizeof j->direction);
  }
}

static int blocks_of(const srLanes* l) { return (l->nbody + BLOCK - 1) / BLOCK; }

// Of blocks of bodies.
static void aim_range(void* user, int part, int from, int to) {
  const Work* w = user;
  const srLanes* l = w->job->l;
  (void)part;
  for (int k = from; k < to; ++k) {
    const int end = (k + 1) * BLOCK;
    l->kernel->aim_rows(l, k * BLOCK, end < l->nbody ? end : l->nbody, w->to.beta, &l->row_sum[k]);
  }
}
// d = beta d + step of the velocities, by blocks of bodies, and of the joints.
static void aim(const Job* job, const srLaneMove* to) {
  sr_team_share(team_of(job), blocks_of(job->l), FEW_BODIES / BLOCK, aim_range, &(Work){.job = job, .to = *to});
  aim_joints(job, to->beta);
}

// How far to go along d: where p^T W p/2 + (q + mu |u_T| n)^T p is least, the slip u_T held; at most WAY.
static double way_along(const Job* job, const srLaneSums* sums, double beta) {
  const srLanes* l = job->l;
  double slope = sums->step + beta * sums->direction;
  double curvature = sums->soft[0] + beta * (2 * sums->soft[1] + beta * sums->soft[2]);
  for (int k = 0; k < blocks_of(l); ++k) {
    slope += l->row_sum[k].product;
    curvature += l->row_sum[k].square;
  }
  for (int i = job->bundle->joint[0]; i < job->bundle->joint[1]; ++i) {
    for (int k = 0; k < l->joint[i].rows; ++k) slope += l->joint[i].shift[k] * l->joint[i].direction[k];
  }
  const double way = -slope / curvature;
  return way > 0 ? fmin(way, WAY) : 0;
}

// The move before the next sweep, which begins with that of the velocities. last: square of the step before. calm: as Silcowitz-Hansen, Niebe and Erleben, from the end of the sweep along the last direction alone. What is
// nearly solved already is left more even by it: heaps that rest do not creep.
static srLaneMove extrapolate(const Job* job, bool calm, double* last) {
  const srLaneSums sums = sums_of(job);
  const double square = sums.square + joints_square(job);
  srLaneMove next = {.beta = *last > 0 ? square / *last : 0, .way = 1, .back = 1};
  if (!(next.beta <= 1)) next.beta = calm ? 0 : RESTART;
  *last = square;
  next.rows = calm ? SR_ROWS_FOLLOW : SR_ROWS_MOVE;
  if (calm) {
    aim_joints(job, next.beta);
  } else {
    aim(job, &next);
    next.way = way_along(job, &sums, next.beta);
    next.back = 0;
  }
  move_joints(job, &next);
  return next;
}

// ---- solve --------------------------------------------------------------------------------------------------------------

// A sweep that changes much has not ended at a solution; where it seems to have, the residual decides.
static bool is_solved(const Job* job, double change) {
  return change <= LIKELY * job->tolerance && residual(job) <= job->tolerance;
}

// Are few contacts left?
static bool are_few(const Job* job, double change) {
  int above = 0;
  if (!(change <= NEARLY * job->tolerance)) return false;
  (void)residual(job);
  for (int i = 0; i < (job->l->team != NULL ? sr_team_members(job->l->team) : 1); ++i) above += job->l->above[i];
  return above <= job->bundle->contacts / LAST;
}

// A large bundle without equations, in single precision.
static bool is_large(const Job* job) {
  return job->accelerate && job->l->kernel != &sr_lanes_double && job->bundle->contacts >= THREADED &&
         job->bundle->joint[0] == job->bundle->joint[1];
}

// Do gentle sweeps hardly change the impulses? At rest the impulses drift by equal parts from sweep to sweep, and a part of the least number is enough.
static bool is_still(const Job* job) {
  const double most = STILL * job->tolerance;
  return job->bundle->joint[0] == job->bundle->joint[1] && sums_of(job).speed <= most * most * job->bundle->contacts;
}

// Directions of all impulses spoil some contacts that sweeps have solved, again and again: without them these are solved at once, or the rest is left.
static bool calm_down(const Job* job) {
  srLaneMove none = {.beta = -1};
  for (int i = 0; i < CALMING; ++i) {
    none.sleepers = i == 0;  // CALMING is PERIOD: so does the next sweep
    (void)sweep(job, job->l->kernel->sweep, &none);
  }
  return residual(job) <= job->tolerance;
}

static void iterate(const Job* job) {
  const srContactOptions* o = job->o;
  const srLaneKernel* kernel = job->l->kernel;
  const int done = job->bundle->iterations, most = job->until - done, least = o->least_iterations - done;
  const int plain = o->iterations - o->iterations / 2 - done;  // plain sweeps from here on, as in sweeps.c
  bool solved = least <= 0 && residual(job) <= job->tolerance, calm = true;
  double last = 0;
  srLaneMove next = {.beta = -1};
  if (!solved && done == 0 && job->bundle->joint[0] == job->bundle->joint[1]) calm = !scale_start(job);
  if (!solved && job->accelerate) begin(job);
  int k = 0, again = AGAIN, calming = is_large(job) ? ALONE + least / 2 : INT_MAX;  // the next one, at the earliest
  while (!solved && k < most) {
    ++k;
    const bool direct = job->accelerate && k < plain, gentle = calm && k <= least;
    srLaneAct* act = !direct ? kernel->sweep : gentle ? kernel->sweep_calm : kernel->sweep_traced;
    next.sleepers = k % PERIOD == 1;
    const double change = sweep(job, act, &next);
    const bool even = gentle && direct && k + 1 < plain && PART * k >= least && k % PERIOD == 0;
    const bool enough = k >= least || (even && is_still(job));
    if (enough && (k % PERIOD == 0 || k == most)) solved = is_solved(job, change);
    if (enough && !solved && k >= calming && k % PERIOD == 0 && k + CALMING < most && are_few(job, change)) {
      solved = calm_down(job);
      k += CALMING;
      calming = k + again;
      again *= 2;
      last = 0;
      next = (srLaneMove){.beta = -1};
      begin(job);
    } else if (direct && !solved && k + 1 < plain) {
      next = extrapolate(job, gentle, &last);
    }
  }
  job->bundle->iterations += k;
  job->bundle->solved = solved;
}

// All bundles that are not solved yet, in one precision, from the impulses.
static void solve_bundles(srLanes* l, Job job) {
  make_runs(l, job.p, job.impulse, job.tolerance);
  fill_joints(l, job.p, job.impulse);
  memset(l->z, 0, (size_t)l->nbody * l->kernel->row_size);
  for (int k = 0; k < l->nbundle; ++k) {
    job.bundle = &l->bundle[k];
    if (job.bundle->solved) continue;
    fill(&job);
    iterate(&job);
    (void)each_batch(&job, store_range, 0);
  }
  for (int i = 0; i < l->njoint; ++i) {
    const srScaledJoint* j = &l->joint[i];
    for (int k = 0; k < j->rows; ++k) job.impulse[j->first + k] = j->lambda[k];
  }
}

static int most_iterations(const srLanes* l) {
  int most = 0;
  for (int k = 0; k < l->nbundle; ++k) most = l->bundle[k].iterations > most ? l->bundle[k].iterations : most;
  return most;
}

// Of the impulses; that of each contact in s->velocity, the velocities of the bodies in l->before, where the problem has points and no equations.
static void measure(srContactSolver* s, const srContactProblem* p, const double* impulse, srContactResult* result) {
  const bool points = p->row == NULL && p->nequation == 0;
  result->error = points ? sr_contact_error_points(p, impulse, s->lanes->team, s->lanes->before, s->velocity)
                         : sr_contact_error(s, p, impulse);
  result->motion = points ? s->lanes->before : NULL;
}

static int count_above(const double* x, int n, double limit) {
  int count = 0;
  for (int i = 0; i < n; ++i) count += x[i] > limit;
  return count;
}

// After a leg of the sweeps that has not ended at a solution. Plain sweeps follow patches: directions would lead back to where they were. So may sweeps: fewer follow, unless they help.
static void next_leg(srContactSolver* s, bool accelerate, Job* job) {
  const srContactProblem* p = job->p;
  const int most = job->patched < SMALLER ? SR_CONTACT_PATCH / 2 : SR_CONTACT_PATCH;
  const int left = count_above(s->velocity, p->ncontact, job->o->tolerance);
  const bool patched = left <= FEW && sr_contact_patch_solve(s->patch, p, most, job->o->tolerance, job->impulse,
                                                             s->lanes->before, s->velocity) > 0;
  job->accelerate = accelerate && !patched;
  job->until += job->accelerate ? LEG : patched ? job->mended : MENDED;
  if (patched && left >= job->left) job->mended = job->mended > PERIOD ? job->mended / 2 : MENDED;
  job->patched += patched;
  job->left = left;
  if (job->until > job->o->iterations) job->until = job->o->iterations;
}

// Has a bundle that is not solved sweeps left?
static bool is_open(const srLanes* l, int most) {
  for (int k = 0; k < l->nbundle; ++k) {
    if (!l->bundle[k].solved && l->bundle[k].iterations < most) return true;
  }
  return false;
}

// In single precision first, if that is wanted and suffices. Velocities that accumulate differ by rounding from those of the error measure: where
// that matters the sweeps go on, from velocities computed anew and to half the tolerance.
static void solve_all(srContactSolver* s, const srContactProblem* p, const srContactOptions* o, bool accelerate,
                      double* impulse, srContactResult* result) {
  srLanes* l = s->lanes;
  const double fastest = scale_bodies(l, p);
  const bool single = o->single && p->nequation == 0 && o->tolerance > SINGLE * fastest;
  const bool patches = s->patch != NULL && p->row == NULL && p->nequation == 0 && p->ncontact > SR_CONTACT_PATCH;
  Job job = {.l = l, .p = p, .o = o, .impulse = impulse, .tolerance = o->tolerance, .accelerate = accelerate};
  job.mended = MENDED;
  job.left = INT_MAX;
  job.until = patches && STALLED < o->iterations ? STALLED : o->iterations;
  look_at_contacts(l, p);
  result->islands = find_bundles(l, p);
  find_subdomains(l);
  for (int pass = single ? 0 : 1; pass < PASSES;) {
    l->kernel = pass == 0 ? l->single : &sr_lanes_double;
    job.tolerance = pass == 0 ? (1 - MARGIN) * o->tolerance : pass == 1 ? o->tolerance : 0.5 * job.tolerance;
    solve_bundles(l, job);
    measure(s, p, impulse, result);
    result->iterations = most_iterations(l);
    if (result->error.residual <= o->tolerance && result->error.bilateral <= o->tolerance) return;
    if (patches && is_open(l, o->iterations)) {
      next_leg(s, accelerate, &job);
      continue;
    }
    bool more = false;  // a bundle that seems to be solved, and has sweeps left
    for (int k = 0; k < l->nbundle; ++k) {
      more = more || (l->bundle[k].solved && l->bundle[k].iterations < o->iterations);
      l->bundle[k].solved = false;
    }
    if (!more) return;
    ++pass;
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
