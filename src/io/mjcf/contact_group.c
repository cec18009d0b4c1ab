// MJCF's contacts of geoms that may touch without being named.
//
// Geoms with the same numbers and filters, on trees of the same mass, are a group: all pairs of two groups have one law, since MuJoCo's rules of mixing
// see nothing but these numbers. Where the pairs are few each is a <contact> with a name and states of its own. Where they are many, two groups are one
// <contact>, a contact set, whose cost grows with what is near and not with the number of pairs; what the filters keep apart
// within them (parent and child, <exclude>) is written as <exclude>. Pairs with the ground, and pairs of two moving geoms, are counted apart.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/mjcf/touch.h"

#define FEW 100          // pairs that are elements
#define MOST_MASSES 16   // different ones of trees: of more, they are rounded to powers of 2
#define MOST_PER_GEOM 4  // contacts at the same time, as of any contact set
#define MOST_OF_TWO 64   // ... and besides

typedef struct Group {
  const int* geom;  // in the order of the file
  int n;
  double mass;       // of the tree, infinite: it does not move
  const char* word;  // in the spec: of the only shape, or of the group; NULL: not in a set yet
} Group;

typedef struct Sorted {
  int geom;
  double mass;
  bool alone;  // named by a <pair>: what holds for its pair must not hold for others
} Sorted;

typedef struct Pair {
  int a, b;
} Pair;

typedef struct Finding {
  srMjcfTouch* s;
  Sorted* geom;
  int ngeom;
  int* order;  // geoms of all groups, one group after the other
  Group* group;
  int ngroup, group_capacity;
  Pair* pair[2];  // [1]: both move; not more than FEW + 1 are searched
  int npair[2], pair_capacity[2];
} Finding;

// -------------------------------------------------------------------------------------------------------------- groups
static int compare_numbers(const double* a, const double* b, int n) {
  for (int i = 0; i < n; i++) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

// Everything that the law of a pair, and whether it is one, depends on.
static int compare(const srMjcf* m, const Sorted* x, const Sorted* y) {
  const srMjcfGeom *a = &m->geom[x->geom], *b = &m->geom[y->geom];
  const int one[] = {x->alone ? x->geom + 1 : 0, a->contype, a->conaffinity, a->condim, a->priority,
                     sr_mjcf_is_plane(a)};
  const int two[] = {y->alone ? y->geom + 1 : 0, b->contype, b->conaffinity, b->condim, b->priority,
                     sr_mjcf_is_plane(b)};
  for (int i = 0; i < SR_COUNT(one); i++) {
    if (one[i] != two[i]) return one[i] < two[i] ? -1 : 1;
  }
  const double first[] = {x->mass,      a->friction[0], a->friction[1], a->friction[2],
                          a->solref[0], a->solref[1],   a->margin,      a->gap};
  const double second[] = {y->mass,      b->friction[0], b->friction[1], b->friction[2],
                           b->solref[0], b->solref[1],   b->margin,      b->gap};
  return compare_numbers(first, second, SR_COUNT(first));
}

// Stable: geoms of a group stay in the order of the file. (qsort is not, and has no argument for the file.)
static void sort_geoms(const srMjcf* m, Sorted* x, Sorted* scratch, int n) {
  if (n < 2) return;
  const int half = n / 2;
  sort_geoms(m, x, scratch, half);
  sort_geoms(m, x + half, scratch, n - half);
  int i = 0, k = half;
  for (int j = 0; j < n; j++) {
    const bool left = k == n || (i < half && compare(m, &x[i], &x[k]) <= 0);
    scratch[j] = left ? x[i++] : x[k++];
  }
  memcpy(x, scratch, (size_t)n * sizeof *x);
}

static void find_groups(Finding* f) {
  const srMjcf* m = f->s->m;
  srPool* pool = &f->s->m->r->pool;
  Sorted* scratch = sr_pool_alloc(pool, ((size_t)f->ngeom + 1) * sizeof *scratch);
  sort_geoms(m, f->geom, scratch, f->ngeom);
  f->ngroup = 0;
  for (int i = 0; i < f->ngeom; i++) {
    const bool first = i == 0 || compare(m, &f->geom[i - 1], &f->geom[i]) != 0;
    f->order[i] = f->geom[i].geom;
    if (first)
      SR_PUSH(pool, f->group, f->ngroup, f->group_capacity) = (Group){.geom = f->order + i, .mass = f->geom[i].mass};
    f->group[f->ngroup - 1].n++;
  }
}

static int by_number(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

static void find_geoms(Finding* f) {
  const srMjcf* m = f->s->m;
  const srMjcfKeys* paired = &f->s->paired;
  srPool* pool = &f->s->m->r->pool;
  int *named = sr_pool_alloc(pool, (2 * (size_t)paired->n + 1) * sizeof *named), n = 0;
  for (int i = 0; i < paired->n; i++) {
    named[n++] = (int)(paired->key[i] >> 32);
    named[n++] = (int)(paired->key[i] & UINT32_MAX);
  }
  if (n > 0) qsort(named, (size_t)n, sizeof *named, by_number);
  f->geom = sr_pool_alloc(pool, ((size_t)m->ngeom + 1) * sizeof *f->geom);
  f->order = sr_pool_alloc(pool, ((size_t)m->ngeom + 1) * sizeof *f->order);
  for (int i = 0; i < m->ngeom; i++) {
    if (m->geom[i].contype == 0 && m->geom[i].conaffinity == 0) continue;
    f->geom[f->ngeom++] = (Sorted){.geom = i,
                                   .mass = sr_mjcf_tree_mass(f->s, m->geom[i].body),
                                   .alone = n > 0 && bsearch(&i, named, (size_t)n, sizeof i, by_number) != NULL};
  }
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static int count_masses(Finding* f) {
  double* mass = sr_pool_alloc(&f->s->m->r->pool, ((size_t)f->ngroup + 1) * sizeof *mass);
  int n = 0;
  for (int i = 0; i < f->ngroup; i++) mass[i] = f->group[i].mass;
  if (f->ngroup > 0) qsort(mass, (size_t)f->ngroup, sizeof *mass, by_value);
  for (int i = 0; i < f->ngroup; i++) n += i == 0 || mass[i] != mass[i - 1];
  return n;
}

// Sets of two groups with different masses are different ones: their number, and the room in each, must not grow with the number of bodies.
static void round_masses(Finding* f) {
  for (int i = 0; i < f->ngeom; i++) {
    Sorted* x = &f->geom[i];
    if (x->mass > 0 && isfinite(x->mass)) x->mass = exp2(round(log2(x->mass)));
  }
  find_groups(f);
  sr_reader_warning(
      f->s->m->r, f->s->m->root->place,
      "the geoms that may touch have many different numbers: stiffness and damping of their contacts are by "
      "masses rounded to powers of 2");
}

// --------------------------------------------------------------------------------------------------------------- pairs
static bool may_touch(const Finding* f, int i, int k) {
  const srMjcfTouch* s = f->s;
  const srMjcfGeom *a = &s->m->geom[i], *b = &s->m->geom[k];
  return !sr_mjcf_are_joined(s, a->body, b->body) &&
         !sr_mjcf_has_key(&s->excluded, sr_mjcf_pair_key(a->body, b->body)) &&
         !sr_mjcf_has_key(&s->paired, sr_mjcf_pair_key(i, k));
}

// By what all geoms of two groups have in common.
static bool groups_touch(const Finding* f, const Group* a, const Group* b) {
  const srMjcfGeom *one = &f->s->m->geom[a->geom[0]], *two = &f->s->m->geom[b->geom[0]];
  if (isinf(a->mass) && isinf(b->mass)) return false;
  if (sr_mjcf_is_plane(one) && sr_mjcf_is_plane(two)) return false;  // nor in MuJoCo
  return (one->contype & two->conaffinity) != 0 || (two->contype & one->conaffinity) != 0;
}

static int both_move(const Group* a, const Group* b) { return isfinite(a->mass) && isfinite(b->mass); }

// Pairs of two groups, until more than FEW are found; false: then. Without a list: false at the first pair.
static bool list_pairs(Finding* f, const Group* a, const Group* b, bool list) {
  const int kind = both_move(a, b);
  for (int i = 0; i < a->n; i++) {
    for (int k = a == b ? i + 1 : 0; k < b->n; k++) {
      if (!may_touch(f, a->geom[i], b->geom[k])) continue;
      if (!list || f->npair[kind] > FEW) return false;
      const int one = a->geom[i], two = b->geom[k];
      SR_PUSH(&f->s->m->r->pool, f->pair[kind], f->npair[kind], f->pair_capacity[kind]) =
          (Pair){one < two ? one : two, one < two ? two : one};
    }
  }
  return true;
}

static bool is_any(Finding* f, const Group* a, const Group* b) { return !list_pairs(f, a, b, false); }

static void find_pairs(Finding* f) {
  for (int i = 0; i < f->ngroup; i++) {
    for (int k = i; k < f->ngroup; k++) {
      const Group *a = &f->group[i], *b = &f->group[k];
      if (groups_touch(f, a, b) && f->npair[both_move(a, b)] <= FEW) (void)list_pairs(f, a, b, true);
    }
  }
}

static int by_pair(const void* a, const void* b) {
  const Pair *x = a, *y = b;
  return x->a != y->a ? x->a - y->a : x->b - y->b;
}

// In the order of the file.
static void add_pairs(Finding* f) {
  const srMjcf* m = f->s->m;
  const int few[2] = {f->npair[0] <= FEW ? f->npair[0] : 0, f->npair[1] <= FEW ? f->npair[1] : 0};
  const int n = few[0] + few[1];
  Pair* all = sr_pool_alloc(&f->s->m->r->pool, ((size_t)n + 1) * sizeof *all);
  if (few[0] > 0) memcpy(all, f->pair[0], (size_t)few[0] * sizeof *all);
  if (few[1] > 0) memcpy(all + few[0], f->pair[1], (size_t)few[1] * sizeof *all);
  if (n > 0) qsort(all, (size_t)n, sizeof *all, by_pair);
  for (int i = 0; i < n && !m->r->stopped; i++) {
    const srMjcfGeom *a = &m->geom[all[i].a], *b = &m->geom[all[i].b];
    const srMjcfSettings t = sr_mjcf_mixed(a, b);
    sr_mjcf_add_pair(f->s, a, b, &t, NULL, b->place);
  }
}

// ---------------------------------------------------------------------------------------------------------------- sets
static bool is_taken(const srMjcf* m, const char* word) {
  return sr_names_find(&m->shapes, word) >= 0 || sr_names_find(&m->bodies, word) >= 0;
}

static const char* word_of(Finding* f, Group* g, int* count) {
  srMjcf* m = f->s->m;
  if (g->word) return g->word;
  if (g->n == 1) return g->word = m->geom[g->geom[0]].shape;
  do g->word = sr_pool_printf(&m->r->pool, "contact-%d", ++*count);
  while (is_taken(m, g->word));
  for (int i = 0; i < g->n; i++) sr_mjcf_set_shape(m, &m->geom[g->geom[i]], SR_MJCF_FIELD(srShapeDef, group), g->word);
  return g->word;
}

static void add_set(Finding* f, Group* a, Group* b, int* count) {
  srMjcf* m = f->s->m;
  const srMjcfGeom *one = &m->geom[a->geom[0]], *two = &m->geom[b->geom[0]];
  const srMjcfSettings t = sr_mjcf_mixed(one, two);
  const srPlace place = two->place;
  const double most = (double)MOST_PER_GEOM * (a->n + (a == b ? 0 : b->n)) + MOST_OF_TWO;
  srContactDef def = {.a = {.text = word_of(f, a, count), .place = place},
                      .b = {.text = word_of(f, b, count), .place = place},
                      .most = sr_reader_one(most, place)};
  f->s->made += sr_mjcf_put_contact(f->s, &t, sr_mjcf_both_masses(a->mass, b->mass), place, &def);
}

static void add_sets(Finding* f) {
  int count = 0;
  for (int i = 0; i < f->ngroup; i++) {
    for (int k = i; k < f->ngroup && !f->s->m->r->stopped; k++) {
      Group *a = &f->group[i], *b = &f->group[k];
      if (f->npair[both_move(a, b)] > FEW && groups_touch(f, a, b) && is_any(f, a, b)) add_set(f, a, b, &count);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------- exclusions
static void exclude(srMjcf* m, const char* a, const char* b, srPlace place) {
  const srExcludeDef def = {.a = {.text = a, .place = place}, .b = {.text = b, .place = place}};
  if (!sr_reader_is_over(m->r, place)) sr_reader_add(m->r, SR_ELEMENT_EXCLUDE, SR_NO_OWNER, &def, place);
}

// Geoms of every body that are in sets, one body after the other: first[body] to first[body + 1].
typedef struct ByBody {
  int *first, *geom;
} ByBody;

static ByBody geoms_by_body(const Finding* f) {
  const srMjcf* m = f->s->m;
  srPool* pool = &f->s->m->r->pool;
  ByBody x = {.first = sr_pool_alloc(pool, ((size_t)m->nbody + 2) * sizeof *x.first),
              .geom = sr_pool_alloc(pool, ((size_t)f->ngeom + 1) * sizeof *x.geom)};
  for (int i = 0; i < f->ngeom; i++) x.first[m->geom[f->order[i]].body + 1]++;
  for (int b = 0; b < m->nbody; b++) x.first[b + 1] += x.first[b];
  int* next = sr_pool_alloc(pool, ((size_t)m->nbody + 1) * sizeof *next);
  memcpy(next, x.first, (size_t)m->nbody * sizeof *next);
  for (int i = 0; i < f->ngeom; i++) x.geom[next[m->geom[f->order[i]].body]++] = f->order[i];
  return x;
}

// All geoms of two bodies, but those that a <pair> names: an <exclude> would hold for them too.
static void exclude_bodies(Finding* f, const ByBody* x, int one, int two) {
  srMjcf* m = f->s->m;
  bool whole = sr_names_find(&m->shapes, m->body[one].name) < 0 && sr_names_find(&m->shapes, m->body[two].name) < 0;
  for (int i = x->first[one]; i < x->first[one + 1]; i++) {
    for (int k = x->first[two]; k < x->first[two + 1]; k++)
      whole &= !sr_mjcf_has_key(&f->s->paired, sr_mjcf_pair_key(x->geom[i], x->geom[k]));
  }
  const srPlace place = m->body[two].place;
  if (whole) {
    exclude(m, m->body[one].name, m->body[two].name, place);
    return;
  }
  for (int i = x->first[one]; i < x->first[one + 1]; i++) {
    for (int k = x->first[two]; k < x->first[two + 1]; k++) {
      if (!sr_mjcf_has_key(&f->s->paired, sr_mjcf_pair_key(x->geom[i], x->geom[k])))
        exclude(m, m->geom[x->geom[i]].shape, m->geom[x->geom[k]].shape, place);
    }
  }
}

// Bodies that sets would let touch: those of a joint, and those that the file excludes.
static void exclude_all(Finding* f) {
  const srMjcfTouch* s = f->s;
  const ByBody x = geoms_by_body(f);
  for (int i = 0; i < s->m->nbody; i++) {
    for (int k = i + 1; x.first[i] < x.first[i + 1] && k < s->m->nbody && !s->m->r->stopped; k++) {
      if (x.first[k] == x.first[k + 1] || s->weld[i] == s->weld[k]) continue;
      if (sr_mjcf_are_joined(s, i, k) || sr_mjcf_has_key(&s->excluded, sr_mjcf_pair_key(i, k)))
        exclude_bodies(f, &x, i, k);
    }
  }
}

void sr_mjcf_find_touching(srMjcfTouch* s) {
  Finding f = {.s = s};
  find_geoms(&f);
  find_groups(&f);
  find_pairs(&f);
  add_pairs(&f);
  if (f.npair[0] <= FEW && f.npair[1] <= FEW) return;
  if (count_masses(&f) > MOST_MASSES) round_masses(&f);
  add_sets(&f);
  exclude_all(&f);
}
