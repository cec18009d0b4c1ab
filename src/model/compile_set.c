// A <contact> between many shapes as a set: which shapes, one law per pair of materials, capacity for the pairs that touch at the
// same time. Nothing here grows with the number of pairs.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "collide/collision.h"
#include "model/compile_contact.h"

#define MOST_PER_SHAPE 4  // instances for each shape: a heap of balls needs three, and walls

#define NEW(pool, type, n) ((type*)sr_pool_alloc((pool), (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))

// Shapes of one kind and material on one side of the <contact>: all of them have the same laws but for the radii, and touch others in the same way.
typedef struct Class {
  srShapeKind kind;
  bool flat, soft;  // with faces, and few enough of them for a field of pressure: else two of them touch at a point
  const char* material;
  int card;
  const srContactShape *first, *other;  // other: the first one on another link; NULL: there is none
} Class;

typedef struct Classes {
  Class* class;
  int n, capacity;
} Classes;

typedef struct Set {
  srContactPairs* p;
  srContactSet out;
  Classes a, b;
  const char** material;  // of each card; "": none
  srNames cards;
  srSurfaceLaws* law;
  double *E, *nu;
} Set;

// ---- members ----------------------------------------------------------------------------------------------------------

static int collider_of(srCompiler* c, const srContactShape* s) {
  const int shapes = srs_count(c->spec, SR_ELEMENT_SHAPE);
  if (!c->collider_of) {
    c->collider_of = NEW(&c->scratch, int, shapes);
    for (int i = 0; i < shapes; i++) c->collider_of[i] = -1;
  }
  int* at = &c->collider_of[s->index];
  if (*at >= 0) return *at;
  *at = c->ncollider;
  SR_PUSH(&c->scratch, c->collider, c->ncollider, c->collider_capacity) =
      (srCollider){.name = s->name,
                   .shape = s->index,
                   .point = c->shape_point + s->index,
                   .kind = (int)s->kind,
                   .radius = s->radius,
                   .reach = s->kind == SR_KIND_HOLLOW ? -s->radius : c->m->collision[s->index].reach};
  return *at;
}

static int card_of(srCompiler* c, Set* s, const char* material) {
  const char* name = material ? material : "";
  const int found = sr_names_find(&s->cards, name);
  if (found >= 0) return found;
  const char* kept = sr_pool_text(&c->scratch, name);
  (void)sr_names_put(&s->cards, kept, s->out.ncard);
  return s->out.ncard++;
}

static void add_class(srCompiler* c, Classes* to, const srContactShape* s, int card) {
  const srCollisionShape* shape = &c->m->collision[s->index];
  const bool soft = shape->flat && sr_patch_can_be_soft(&shape->body);
  for (int i = 0; i < to->n; i++) {
    Class* x = &to->class[i];
    if (x->kind != s->kind || x->card != card || x->flat != shape->flat || x->soft != soft) continue;
    if (!x->other && x->first->link != s->link) x->other = s;
    return;
  }
  SR_PUSH(&c->scratch, to->class, to->n, to->capacity) =
      (Class){.kind = s->kind, .flat = shape->flat, .soft = soft, .material = s->material, .card = card, .first = s};
}

static void add_members(srCompiler* c, Set* s, const srContactShapes* shapes, int side, int* place, int* member,
                        unsigned char* sides, int* cards) {
  for (int k = 0; k < shapes->n; k++) {
    const srContactShape* shape = &shapes->shape[k];
    int* at = &place[shape->index];
    const int card = card_of(c, s, shape->material);
    if (*at < 0) {
      *at = s->out.nmember++;
      member[*at] = collider_of(c, shape);
      cards[*at] = card;
    }
    sides[*at] |= (unsigned char)side;
    add_class(c, side == 1 ? &s->a : &s->b, shape, card);
  }
}

static void find_members(srCompiler* c, Set* s) {
  const int shapes = srs_count(c->spec, SR_ELEMENT_SHAPE), most = s->p->a.n + s->p->b.n;
  int *place = NEW(&c->scratch, int, shapes), *member = NEW(c->pool, int, most), *cards = NEW(c->pool, int, most);
  unsigned char* sides = NEW(c->pool, unsigned char, most);
  for (int i = 0; i < shapes; i++) place[i] = -1;
  sr_names_init(&s->cards, &c->scratch);
  add_members(c, s, &s->p->a, 1, place, member, sides, cards);
  add_members(c, s, &s->p->b, 2, place, member, sides, cards);
  s->out.member = member;
  s->out.side = sides;
  s->out.card = cards;
}

// ---- laws -------------------------------------------------------------------------------------------------------------

// Two shapes of the classes that can move relative to each other; false: none.
static bool find_pair(const Class* a, const Class* b, const srContactShape** one, const srContactShape** two) {
  *one = a->first;
  *two = b->first;
  if ((*one)->link != (*two)->link) return true;
  if (b->other)
    *two = b->other;
  else
    *one = a->other;
  return *one != NULL;
}

// Sizes that do not fit into each other, for shapes of these kinds. One kind of the two is rare.
static bool all_fit(srCompiler* c, const Set* s, const srPairKind* pair) {
  bool swap;
  for (int k = 0; k < s->p->a.n; k++) {
    const srContactShape* one = &s->p->a.shape[k];
    if (one->kind != pair->a && one->kind != pair->b) continue;
    for (int l = 0; l < s->p->b.n; l++) {
      const srContactShape* two = &s->p->b.shape[l];
      if (one->link == two->link || sr_pair_find(one->kind, two->kind, &swap) != pair) continue;
      if (!sr_c_pair_kind(c, s->p, one, two, &swap)) return false;
    }
  }
  return true;
}

static bool class_law(srCompiler* c, Set* s, const Class* class_a, const Class* class_b) {
  const srContactShape *one, *two;
  srElastic elastic[2];
  srSurfaceLaws x;
  bool swap;
  if (!find_pair(class_a, class_b, &one, &two)) return true;
  if (s->p->by_default && !sr_pair_find(one->kind, two->kind, &swap)) return true;
  const srPairKind* pair = sr_c_pair_kind(c, s->p, one, two, &swap);
  if (!pair || (pair->fits && !s->p->by_default && !all_fit(c, s, pair))) return false;
  const srContactShape *a = swap ? two : one, *b = swap ? one : two;
  const int card_a = (swap ? class_b : class_a)->card, card_b = (swap ? class_a : class_b)->card;
  const char* name = sr_pool_printf(&c->scratch, "%s on %s", b->name, a->name);
  sr_c_tell_twice(c, s->p, one, two);
  if (!sr_c_pair_law(c, s->p, pair, a, b, name, &x, elastic)) return false;
  s->law[card_a * s->out.ncard + card_b] = x;
  s->E[card_a] = elastic[0].E;
  s->E[card_b] = elastic[1].E;
  s->nu[card_a] = elastic[0].nu;
  s->nu[card_b] = elastic[1].nu;
  srPatch patch;
  sr_contact_of_pair(&x, pair, elastic[0], elastic[1], &c->m->collision[a->index], &c->m->collision[b->index], &patch);
  s->out.balls |= sr_shape_bounded(a->kind) && sr_shape_bounded(b->kind);
  const int ny = sr_contact_states(&x);
  if (ny > s->out.ny) s->out.ny = ny;
  const srSurfaceLaws** like = &s->out.like[sr_contact_likeness(&x)];
  if (*like) return true;
  srSurfaceLaws* kept = NEW(c->pool, srSurfaceLaws, 1);
  *kept = x;
  s->out.kind->prepare(c->pool, kept, c->contact_before);
  c->contact_before = *like = kept;
  return true;
}

static bool find_laws(srCompiler* c, Set* s) {
  const int n = s->out.ncard;
  s->law = NEW(c->pool, srSurfaceLaws, n * n);
  s->E = NEW(c->pool, double, n);
  s->nu = NEW(c->pool, double, n);
  for (int k = 0; k < s->a.n; k++) {
    for (int l = s->p->same ? k : 0; l < s->b.n; l++) {
      if (!class_law(c, s, &s->a.class[k], &s -> b.class[l])) return false;
    }
  }
  s->out.law = s->law;
  s->out.E = s->E;
  s->out.nu = s->nu;
  return true;
}

// ---- the set ----------------------------------------------------------------------------------------------------------

static bool find_room(srCompiler* c, Set* s) {
  const int i = s->p->i, field = SR_FIELD(srContactDef, most);
  double most;
  if (!sr_c_optional(c, SR_ELEMENT_CONTACT, i, field, &most)) return false;
  if (!isnan(most) && !(most >= 1 && most <= 1e8 && most == floor(most))) {
    sr_c_error(c, sr_c_place(c, SR_ELEMENT_CONTACT, i, field), "'most' counts pairs: a whole number from 1 on, got %g",
               most);
    return false;
  }
  const long long want = isnan(most) ? (long long)MOST_PER_SHAPE * s->out.nmember + 64 : (long long)most;
  s->out.most = (int)(want < s->out.npair ? want : s->out.npair);
  return true;
}

void sr_compile_set(srCompiler* c, srContactPairs* p) {
  const char* given = sr_c_text(c, SR_ELEMENT_CONTACT, p->i, SR_FIELD(srContactDef, name));
  Set s = {.p = p,
           .out = {.npair = p->total,
                   .tau = p->tau,
                   .by_default = p->by_default,
                   .joined = p->joined,
                   .kind = c->catalog->contact("contact"),
                   .normal = p->x.law,
                   .floor = p->x.p.floor,
                   .located = p->x.located}};
  find_members(c, &s);
  if (!find_laws(c, &s) || !find_room(c, &s)) return;
  s.out.place = sr_c_kept_place(c, SR_ELEMENT_CONTACT, p->i);
  s.out.name = given           ? sr_pool_text(c->pool, given)
               : p->by_default ? "contact"
                               : sr_pool_printf(c->pool, "%s on %s",
                                                sr_c_text(c, SR_ELEMENT_CONTACT, p->i, SR_FIELD(srContactDef, b)),
                                                sr_c_text(c, SR_ELEMENT_CONTACT, p->i, SR_FIELD(srContactDef, a)));
  SR_PUSH(&c->scratch, c->set, c->nset, c->set_capacity) = s.out;
}

// States of the slots come after all others, so that they do not shift states with names and columns.
void sr_compile_sets(srCompiler* c) {
  srModel* m = c->m;
  srContactSet* set = NEW(c->pool, srContactSet, c->nset);
  srCollider* collider = NEW(c->pool, srCollider, c->ncollider);
  if (c->nset > 0) memcpy(set, c->set, (size_t)c->nset * sizeof *set);
  if (c->ncollider > 0) memcpy(collider, c->collider, (size_t)c->ncollider * sizeof *collider);
  for (int i = 0; i < c->nset; i++) {
    srContactSet* x = &set[i];
    x->first = m->ninstance;
    x->y = m->ny;
    x->z = m->nz;
    if ((long long)m->ny + (long long)x->most * x->ny > INT_MAX / 4) {
      sr_c_error(c, x->place, "%d pairs at the same time are too many: take a smaller 'most'", x->most);
      return;
    }
    m->ninstance += x->most;
    m->ny += x->most * x->ny;
    m->ny_slot += x->most * x->ny;
    m->nz += x->most * SR_Z_CONTACT;
  }
  m->nset = c->nset;
  m->set = set;
  m->ncollider = c->ncollider;
  m->collider = collider;
}
