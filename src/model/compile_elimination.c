// Which couplings need no constraint equations. A tree whose only constraints are couplings, and drivers, has groups of coordinates that move as one,
//   q_j = r_j q_l + const
// and the articulated body algorithm treats such a group as one coordinate (dynamics/aba_coupled.c). Here: the groups, and the links on
// which the recursion carries them.
//
// Equations remain where there are closures or formulas as well, in other than relative coordinates, where nothing with inertia moves with a
// coordinate, where a coupling has more than two coordinates, and where couplings are redundant: in a cycle, or two drivers in one group.
#include <math.h>
#include <string.h>

#include "model/compile.h"
#include "model/elimination.h"

#define NEW(c, type, n) ((type*)sr_pool_alloc((c)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))
#define SCRATCH(c, type, n) ((type*)sr_pool_alloc(&(c)->scratch, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))

#define LEAST_RATIO 1e-6  // of a coupling that is inverted
#define MOST_PENDING 32   // groups on one link: their products are its square

typedef struct Plan {
  srCompiler* c;
  srModel* m;
  struct srElimination* e;
  srTie* tie;
  int *group, *driver;
  double* ratio;
  int *start, *coupling;  // couplings of coordinate i: coupling[start[i]] .. coupling[start[i+1]-1]
  bool *seen, *follows;   // nv
  bool* used;             // ncoupling
  int *slot_start, *slot_goes, *slot_group, *slot_up;
} Plan;

typedef struct Pending {
  int link, group;
} Pending;

// ---------------------------------------------------------------------------------------------------------- groups
static void list_couplings(Plan* p) {
  const srModel* m = p->m;
  p->start = SCRATCH(p->c, int, m->nv + 2);
  p->coupling = SCRATCH(p->c, int, 2 * m->ncoupling);
  int* next = SCRATCH(p->c, int, m->nv + 1);
  for (int i = 0; i < 2 * m->ncoupling; i++) p->start[m->coupling[i / 2].dof[i % 2] + 1]++;
  for (int i = 0; i < m->nv; i++) p->start[i + 1] += p->start[i];
  memcpy(next, p->start, (size_t)(m->nv + 1) * sizeof *next);
  for (int i = 0; i < 2 * m->ncoupling; i++) p->coupling[next[m->coupling[i / 2].dof[i % 2]]++] = i / 2;
  for (int i = 0; i < m->ncoupling; i++) p->follows[m->coupling[i].dof[0]] = true;
}

// A coupling observed from its end `from`, 0 or 1. False: its inverse has no ratio.
static bool tie_from(const srCoupling* c, int from, srTie* out) {
  const int to = 1 - from;
  *out = (srTie){.row = c->row,
                 .dof = {c->dof[to], c->dof[from]},
                 .qdof = {c->qdof[to], c->qdof[from]},
                 .ratio = -c->factor[from] / c->factor[to],
                 .offset = c->offset / c->factor[to],
                 .entry = {c->factor[to], c->factor[from]}};
  return fabs(c->factor[to]) >= LEAST_RATIO;
}

// Coordinates coupled to `here`, one coupling further. False: not without equations.
static bool gather_next(Plan* p, int here) {
  struct srElimination* e = p->e;
  for (int k = p->start[here]; k < p->start[here + 1]; k++) {
    const srCoupling* c = &p->m->coupling[p->coupling[k]];
    const int from = c->dof[1] == here, other = c->dof[1 - from];
    if (p->used[p->coupling[k]]) continue;
    p->used[p->coupling[k]] = true;
    if (p->seen[other] || p->m->dof_driver[other] >= 0 || !tie_from(c, from, &p->tie[e->ntie])) return false;
    p->seen[other] = true;
    p->group[other] = p->group[here];
    p->driver[other] = p->driver[here];
    p->ratio[other] = p->tie[e->ntie++].ratio * p->ratio[here];
  }
  return true;
}

// All coordinates coupled to one, outwards from it.
static bool gather(Plan* p, int root) {
  struct srElimination* e = p->e;
  int at = e->ntie;
  p->seen[root] = true;
  if (p->driver[root] < 0) p->group[root] = e->ngroup++;
  if (!gather_next(p, root)) return false;
  while (at < e->ntie) {
    if (!gather_next(p, p->tie[at++].dof[0])) return false;
  }
  return true;
}

// A group is counted from its driven coordinate; else from one that follows no other: then no coupling is inverted.
static bool find_groups(Plan* p) {
  const srModel* m = p->m;
  list_couplings(p);
  for (int i = 0; i < m->nv; i++) {
    p->group[i] = -1;
    p->driver[i] = m->dof_driver[i];
    p->ratio[i] = 1;
  }
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < m->nv; i++) {
      const bool tied = p->start[i + 1] > p->start[i], first = round == 0 ? m->dof_driver[i] >= 0 : !p->follows[i];
      if (tied && !p->seen[i] && (first || round == 2) && !gather(p, i)) return false;
    }
  }
  return true;
}

// ----------------------------------------------------------------------------------------------------------- slots
static int common_link(const srModel* m, int i, int j) {
  while (i != j) {  // parents have smaller numbers
    if (i > j) {
      i = m->link_parent[i];
    } else {
      j = m->link_parent[j];
    }
  }
  return i;
}

// The link where the paths of all members to the ground meet, for every group.
static int* find_ends(const Plan* p) {
  const srModel* m = p->m;
  int* end = SCRATCH(p->c, int, p->e->ngroup);
  for (int i = 0; i < p->e->ngroup; i++) end[i] = -1;
  for (int i = 0; i < m->nv; i++) {
    const int group = p->group[i], parent = m->link_parent[m->dof_link[i]];
    if (group >= 0) end[group] = end[group] < 0 ? parent : common_link(m, end[group], parent);
  }
  return end;
}

// Coordinates that are members, by their groups.
static int* sort_members(const Plan* p, int* count) {
  const srModel* m = p->m;
  int *member = SCRATCH(p->c, int, m->nv), *next = SCRATCH(p->c, int, p->e->ngroup + 1);
  for (int i = 0; i < m->nv; i++) next[p->group[i] + 1]++;
  *count = m->nv - next[0];
  next[0] = 0;
  for (int g = 1; g < p->e->ngroup; g++) next[g] += next[g - 1];
  for (int i = 0; i < m->nv; i++) {
    if (p->group[i] >= 0) member[next[p->group[i]]++] = i;
  }
  return member;
}

// All pairs of a group and a link that it is pending on.
static Pending* find_pending(Plan* p, const int* end, int* n) {
  const srModel* m = p->m;
  int count, capacity = 0, *last = SCRATCH(p->c, int, m->nlink);  // 1 + the group that was here last
  const int* member = sort_members(p, &count);
  Pending* pending = NULL;
  *n = 0;
  for (int i = 0; i < count; i++) {
    const int group = p->group[member[i]];
    for (int link = m->dof_link[member[i]]; last[link] != group + 1; link = m->link_parent[link]) {
      last[link] = group + 1;
      SR_PUSH(&p->c->scratch, pending, *n, capacity) = (Pending){link, group};
      if (link == end[group]) break;
    }
  }
  return pending;
}

static void make_slots(Plan* p) {
  const srModel* m = p->m;
  const int* end = find_ends(p);
  const Pending* pending = find_pending(p, end, &p->e->nslot);
  int *next = SCRATCH(p->c, int, m->nlink), *next_goes = SCRATCH(p->c, int, m->nlink);
  p->slot_start = NEW(p->c, int, m->nlink + 1);
  p->slot_goes = NEW(p->c, int, m->nlink);
  p->slot_group = NEW(p->c, int, p->e->nslot);
  for (int k = 0; k < p->e->nslot; k++) {
    p->slot_start[pending[k].link + 1]++;
    p->slot_goes[pending[k].link] += pending[k].link == end[pending[k].group];
  }
  for (int i = 0; i < m->nlink; i++) {
    p->slot_start[i + 1] += p->slot_start[i];
    next[i] = p->slot_start[i];
    next_goes[i] = p->slot_start[i] + p->slot_goes[i];
  }
  for (int k = 0; k < p->e->nslot; k++) {
    const int link = pending[k].link, group = pending[k].group;
    p->slot_group[link == end[group] ? next[link]++ : next_goes[link]++] = group;
  }
}

static int find_slot(const Plan* p, int link, int group) {
  int k = p->slot_start[link];
  while (k < p->slot_start[link + 1] && p->slot_group[k] != group) k++;
  return k;
}

// Where slots continue, the numbers of their links' coordinates, and the slots of member links.
static void connect_slots(Plan* p) {
  const srModel* m = p->m;
  struct srElimination* e = p->e;
  int *axis = NEW(p->c, int, e->nslot), *own = NEW(p->c, int, m->nlink);
  p->slot_up = NEW(p->c, int, e->nslot);
  for (int i = 0; i < m->nlink; i++) {
    const int goes = p->slot_start[i] + p->slot_goes[i], end = i + 1 < m->nlink ? m->link_v[i + 1] : m->nv;
    own[i] = -1;
    for (int k = p->slot_start[i]; k < p->slot_start[i + 1]; k++) {
      p->slot_up[k] = k < goes ? -1 : find_slot(p, m->link_parent[i], p->slot_group[k]);
      axis[k] = e->naxis;
      e->naxis += i > 0 ? end - m->link_v[i] : 0;
      if (i > 0 && end > m->link_v[i] && p->group[m->link_v[i]] == p->slot_group[k]) own[i] = k - p->slot_start[i];
    }
  }
  e->slot_start = p->slot_start;
  e->slot_goes = p->slot_goes;
  e->slot_group = p->slot_group;
  e->slot_up = p->slot_up;
  e->slot_axis = axis;
  e->slot_own = own;
}

static void make_plans(Plan* p) {
  const srModel* m = p->m;
  unsigned char* plan = NEW(p->c, unsigned char, m->nlink);
  for (int i = 1; i < m->nlink; i++) {
    const int n = p->slot_start[i + 1] - p->slot_start[i];
    if (m->link_type[i] != SR_LINK_REVOLUTE || p->driver[m->link_v[i]] >= 0) continue;
    plan[i] = n == 0 ? SR_PLAN_PLAIN : n == 1 && p->e->slot_own[i] == 0 ? SR_PLAN_MEMBER : SR_PLAN_ANY;
  }
  p->e->plan = plan;
}

static int product_at(const Plan* p, const int* product, const int* start, int link, int a, int b) {
  const int first = p->slot_start[link], n = p->slot_start[link + 1] - first;
  return product[start[link] + (a - first) * n + b - first];
}

// Two groups that both continue to the parent have one product with each other there and here.
static bool make_products(Plan* p) {
  const srModel* m = p->m;
  struct srElimination* e = p->e;
  int *start = NEW(p->c, int, m->nlink + 1), count = 0;
  for (int i = 0; i < m->nlink; i++) {
    const int n = p->slot_start[i + 1] - p->slot_start[i];
    if (n > MOST_PENDING) return false;
    start[i] = count;
    count += n * n;
  }
  int* product = NEW(p->c, int, count);
  e->nproduct = e->ngroup;
  for (int i = 0; i < m->nlink; i++) {
    const int first = p->slot_start[i], n = p->slot_start[i + 1] - first;
    for (int a = 0; a < n; a++) {
      product[start[i] + a * n + a] = p->slot_group[first + a];
      for (int b = a + 1; b < n; b++) {
        const int up = p->slot_up[first + a], other = p->slot_up[first + b];
        const bool known = up >= 0 && other >= 0;
        const int place = known ? product_at(p, product, start, m->link_parent[i], up, other) : e->nproduct++;
        product[start[i] + a * n + b] = product[start[i] + b * n + a] = place;
      }
    }
  }
  e->product_start = start;
  e->product = product;
  return true;
}

// ------------------------------------------------------------------------------------------------------------- all
static bool without_rows(const srModel* m) {
  for (int i = 0; i < m->ncoupling; i++) {
    if (m->coupling[i].n != 2) return false;
  }
  return m->ncoupling > 0 && !m->absolute && m->nclosure == 0 && m->nformula_row == 0 && m->nmassless == 0;
}

void sr_compile_elimination(srCompiler* c) {
  srModel* m = c->m;
  if (!without_rows(m)) return;
  struct srElimination* e = NEW(c, struct srElimination, 1);
  Plan p = {.c = c, .m = m, .e = e};
  p.tie = NEW(c, srTie, m->ncoupling);
  p.group = NEW(c, int, m->nv);
  p.driver = NEW(c, int, m->nv);
  p.ratio = NEW(c, double, m->nv);
  p.seen = SCRATCH(c, bool, m->nv);
  p.follows = SCRATCH(c, bool, m->nv);
  p.used = SCRATCH(c, bool, m->ncoupling);
  if (!find_groups(&p)) return;
  e->tie = p.tie;
  e->group = p.group;
  e->driver = p.driver;
  e->ratio = p.ratio;
  make_slots(&p);
  connect_slots(&p);
  make_plans(&p);
  if (make_products(&p)) m->elimination = e;
}

int sr_elimination_work(const srModel* m) {
  const struct srElimination* e = m->elimination;
  return e ? 8 * e->nslot + e->naxis + e->nproduct + 3 * e->ngroup + 8 : 0;
}

void sr_elimination_follow(const srModel* m, double* q, double* v) {
  const struct srElimination* e = m->elimination;
  for (const srTie* x = e->tie; x < e->tie + e->ntie; x++) {
    q[x->qdof[0]] = x->ratio * q[x->qdof[1]] + x->offset;
    if (v) v[x->dof[0]] = x->ratio * v[x->dof[1]];
  }
}
