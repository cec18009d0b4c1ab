// A capsule on a height field, on the graph: the contacts of collide/surface_capsule.c with the force of contact/place_points.c.
//
// Items are the contacts of the balls at both ends (contact_field.c), and edges and corners of the field whose nearest point of the axis is between them: a loop over the cells keeps the deepest of
// those that no two contacts of the ends stand for. All items in the order of their depth then are chosen from, as there: an item is left out where two others on both sides of it, with nearly
// the same normal, are as deep; with the slopes s_a = (g - g_a)/(l - l_a), s_b = (g - g_b)/(l_b - l) that is max s_a + max s_b >= 0, as gaps g are below 0. And where a deeper one is within the width of its patch.
//
// Normals turn with the motion as collide/distance_derivative.c has it. With e the axis, v its velocity at the contact, h the distance there:
//   an edge t    n' = (n x t) n.(e x w)/((n x t).e)
//   a corner     n' = e n.(e x w) + m (m.v)/h,   m = n x e
#include <math.h>

#include "collide/collision.h"
#include "collide/field.h"
#include "symbolic/contact.h"
#include "symbolic/folds.h"

#define POLAR 1e-9     // of collide/surface.c
#define SAME 1e-9      // of collide/surface.c
#define INNER 1e-9     // of collide/surface_capsule.c, as are ...
#define SLACK 1e-6     // ...
#define PARALLEL 1e-8  // ...
#define CANCEL 1e-9    // of contact/place_points.c
#define TINY 1e-30

enum {
  BETWEEN = 8,  // items that the loop keeps
  ENDS = 2 * SR_SYM_ROUNDS,
  ITEMS = BETWEEN + ENDS,
  // Arguments of the loop: the first end, the axis to the other one, the middle, velocity and angular velocity, the first corner; normal and gap of the contacts of the ends.
  ARG_END = 0,
  ARG_AXIS = 3,
  ARG_U = 6,
  ARG_W = 9,
  ARG_FIRST = 12,
  ARG_ENDS = 14,
  ARGS = ARG_ENDS + 4 * ENDS
};

// A contact; a gap that is not below 0: there is none.
typedef struct Item {
  srNode gap, along;  // along: place on the axis, 0 at the first end and 1 at the other one
  srVec n, turning;   // turning: n'
} Item;
enum { FIELDS = 8, STATES = BETWEEN * FIELDS };

static const srHeightField* field_of(const srSurfaceLaws* c) { return c->shape[0]->surface->user; }

bool sr_sym_is_capsule_on_field(const srSurfaceLaws* c) {
  return c->pair != NULL && c->pair->place == NULL && c->patch == NULL && c->shape[0]->convex.kind == SR_KIND_FIELD &&
         c->shape[1]->convex.kind == SR_KIND_CAPSULE;
}

static srNode both(srGraph* g, srNode a, srNode b) { return srx_mul(g, a, b); }
static srNode is_not(srGraph* g, srNode a) { return srx_sub(g, srx_number(g, 1), a); }
static srNode between(srGraph* g, srNode low, srNode x, srNode high) {
  return both(g, srx_at_most(g, low, x), srx_at_most(g, x, high));
}
static srVec choose(srGraph* g, srNode condition, srVec a, srVec b) {
  for (int i = 0; i < 3; i++) a.x[i] = srx_if(g, condition, a.x[i], b.x[i]);
  return a;
}
static Item choose_item(srGraph* g, srNode condition, Item a, Item b) {
  return (Item){.gap = srx_if(g, condition, a.gap, b.gap),
                .along = srx_if(g, condition, a.along, b.along),
                .n = choose(g, condition, a.n, b.n),
                .turning = choose(g, condition, a.turning, b.turning)};
}
static Item no_item(srGraph* g) {
  return (Item){.gap = srx_number(g, 0), .along = srx_number(g, 0), .n = srx_zero(g), .turning = srx_zero(g)};
}

// As sr_surface_one, of the depth of the deeper one.
static srNode is_like(srGraph* g, double radius, srVec n, srVec other, srNode gap, srNode gap_other) {
  const srVec d = srx_minus(g, n, other);
  const srNode limit = srx_mul(g, srx_number(g, -8 / radius), srx_min(g, gap, gap_other));
  return srx_at_most(g, srx_dot3(g, d, d), srx_max(g, srx_number(g, SAME * SAME), limit));
}

// Into a list of n in the order of depth; the last one falls out.
static void insert(srGraph* g, Item* list, int n, Item x) {
  for (int i = 0; i < n; i++) {
    const srNode same = srx_2(g, SR_OP_EQ, x.gap, list[i].gap);
    const srNode first = both(g, same, srx_less(g, x.along, list[i].along));
    const srNode deeper = srx_max(g, srx_less(g, x.gap, list[i].gap), first);
    const Item was = list[i];
    list[i] = choose_item(g, deeper, x, was);
    x = choose_item(g, deeper, was, x);
  }
}

// ---- between the ends ---------------------------------------------------------------------------------------------------

typedef struct Near {
  srGraph* g;
  const srHeightField* f;
  double radius, length;
  srVec end, axis, u, w, e;                       // e: unit
  srNode x[3], y[3], z[3][3], column[3], row[3];  // 2 x 2 cells about a corner, relative to the first end
  Item list[BETWEEN];
} Near;

static srNode arg(srGraph* g, int i) { return sr_graph_var(g, SR_VAR_ARG, i); }
static srVec arg3(srGraph* g, int i) { return (srVec){{arg(g, i), arg(g, i + 1), arg(g, i + 2)}}; }
static srNode index_of(srGraph* g, int i) { return srx_add(g, arg(g, ARG_FIRST + i), sr_graph_var(g, SR_VAR_TIME, i)); }

static void find_corners(Near* s) {
  srGraph* g = s->g;
  const srHeightField* f = s->f;
  const srNode i = index_of(g, 0), j = index_of(g, 1), zero = srx_number(g, 0);
  srNode column[3], row[3];
  for (int k = 0; k < 3; k++) {
    column[k] = srx_add(g, i, srx_number(g, k - 1)), row[k] = srx_add(g, j, srx_number(g, k - 1));
    s->column[k] = between(g, zero, column[k], srx_number(g, f->nx - 1));
    s->row[k] = between(g, zero, row[k], srx_number(g, f->ny - 1));
    s->x[k] = srx_sub(g, srx_add(g, srx_number(g, f->x0), srx_mul(g, srx_number(g, f->dx), column[k])), s->end.x[0]);
    s->y[k] = srx_sub(g, srx_add(g, srx_number(g, f->y0), srx_mul(g, srx_number(g, f->dy), row[k])), s->end.x[1]);
  }
  for (int k = 0; k < 3; k++) {
    for (int l = 0; l < 3; l++) {
      const srNode at = srx_add(g, column[k], srx_mul(g, srx_number(g, f->nx), row[l]));
      s->z[k][l] = srx_sub(g, sr_graph_lookup(g, f->z, f->nx * f->ny, at), s->end.x[2]);
    }
  }
}

static srVec corner(const Near* s, int k, int l) { return (srVec){{s->x[k], s->y[l], s->z[k][l]}}; }
static srNode corner_in(const Near* s, int k, int l) { return both(s->g, s->column[k], s->row[l]); }
static srNode cell_in(const Near* s, int k, int l) {
  return both(s->g, corner_in(s, k, l), corner_in(s, k + 1, l + 1));
}

static srNode is_inner(srGraph* g, srNode s) {
  return both(g, srx_less(g, srx_number(g, INNER), s), srx_less(g, s, srx_number(g, 1 - INNER)));
}

// Of a contact at `foot`, seen from the axis: does no way from there to the corner b, which is seen from a, come nearer?
static srNode holds(const Near* s, srVec foot, srVec a, srVec b, srNode in) {
  srGraph* g = s->g;
  const double slack = POLAR * s->radius * fmin(s->f->dx, s->f->dy);
  return srx_if(g, in, srx_at_most(g, srx_number(g, -slack), srx_dot3(g, foot, srx_minus(g, b, a))), srx_number(g, 1));
}

// Do contacts at both ends stand for it?
static srNode is_on_line(const Near* s, const Item* x) {
  srGraph* g = s->g;
  srNode deepest[2];
  for (int end = 0; end < 2; end++) {
    deepest[end] = srx_number(g, 0);
    for (int k = 0; k < SR_SYM_ROUNDS; k++) {
      const int at = ARG_ENDS + 4 * (SR_SYM_ROUNDS * end + k);
      const srNode gap = arg(g, at + 3), like = is_like(g, s->radius, arg3(g, at), x->n, gap, x->gap);
      deepest[end] = srx_min(g, deepest[end], srx_if(g, like, gap, srx_number(g, 0)));
    }
  }
  const srNode line = srx_add(g, deepest[0], srx_mul(g, x->along, srx_sub(g, deepest[1], deepest[0])));
  const srNode known = both(g, srx_less(g, deepest[0], srx_number(g, 0)), srx_less(g, deepest[1], srx_number(g, 0)));
  return both(g, known, srx_at_most(g, srx_mul(g, srx_number(g, 1 + SLACK), line), x->gap));
}

// foot: from the axis to the contact. t: unit edge; NULL: a corner.
static void try_point(Near* s, srNode ok, srNode along, srVec foot, const srVec* t) {
  srGraph* g = s->g;
  const srNode zero = srx_number(g, 0), tiny = srx_number(g, TINY), distance = srx_norm(g, 3, foot.x);
  Item x = {.gap = srx_sub(g, distance, srx_number(g, s->radius)), .along = along};
  x.n = srx_times(g, srx_div(g, srx_number(g, -1), srx_max(g, distance, tiny)), foot);
  ok = both(g, ok, both(g, srx_positive(g, distance), srx_less(g, x.gap, zero)));
  const srNode tilt = srx_dot3(g, x.n, srx_cross3(g, s->e, s->w));
  if (t != NULL) {
    const srVec side = srx_cross3(g, x.n, *t);
    const srNode by = srx_dot3(g, side, s->e);
    x.turning = srx_times(g, srx_if(g, ok, srx_div(g, tilt, by), zero), side);
  } else {
    const srVec side = srx_cross3(g, x.n, s->e);
    const srVec r = srx_times(g, srx_mul(g, srx_number(g, s->length), srx_sub(g, along, srx_number(g, 0.5))), s->e);
    const srVec v = srx_plus(g, s->u, srx_cross3(g, s->w, r));
    const srNode by = srx_if(g, ok, srx_div(g, srx_dot3(g, side, v), distance), zero);
    x.turning = srx_plus(g, srx_times(g, tilt, s->e), srx_times(g, by, side));
  }
  ok = both(g, ok, is_not(g, is_on_line(s, &x)));
  x.gap = srx_if(g, ok, x.gap, zero);
  insert(g, s->list, BETWEEN, x);
}

// Nearest points of the axis and the edge from the middle corner to b; the triangles on both sides have the corners c, in the cells `of`.
static void try_edge(Near* s, const int b[2], const int c[2][2], const int of[2][2]) {
  srGraph* g = s->g;
  const srVec A = corner(s, 1, 1), e = srx_minus(g, corner(s, b[0], b[1]), A), r = srx_times(g, srx_number(g, -1), A);
  const srNode uu = srx_number(g, s->length * s->length), ee = srx_dot3(g, e, e), ue = srx_dot3(g, s->axis, e);
  const srNode ur = srx_dot3(g, s->axis, r), er = srx_dot3(g, e, r);
  const srNode product = srx_mul(g, uu, ee), D = srx_sub(g, product, srx_mul(g, ue, ue));
  const srNode across = srx_less(g, srx_mul(g, srx_number(g, PARALLEL * PARALLEL), product), D);
  const srNode by = srx_if(g, across, srx_div(g, srx_number(g, 1), D), srx_number(g, 0));
  const srNode along = srx_mul(g, by, srx_sub(g, srx_mul(g, ue, er), srx_mul(g, ur, ee)));
  const srNode on = srx_mul(g, by, srx_sub(g, srx_mul(g, uu, er), srx_mul(g, ue, ur)));
  const srVec foot = srx_minus(g, srx_plus(g, A, srx_times(g, on, e)), srx_times(g, along, s->axis));
  srNode any = srx_number(g, 0), ok = both(g, across, both(g, is_inner(g, along), is_inner(g, on)));
  for (int i = 0; i < 2; i++) {
    const srNode in = cell_in(s, of[i][0], of[i][1]);
    any = srx_max(g, any, in);
    ok = both(g, ok, holds(s, foot, A, corner(s, c[i][0], c[i][1]), in));
  }
  const srVec t = srx_times(g, srx_div(g, srx_number(g, 1), srx_sqrt(g, ee)), e);
  try_point(s, both(g, ok, any), along, foot, &t);
}

static void try_corner(Near* s) {
  static const int spoke[6][2] = {{2, 1}, {2, 2}, {1, 2}, {0, 1}, {0, 0}, {1, 0}};
  srGraph* g = s->g;
  const srVec A = corner(s, 1, 1);
  const srNode along = srx_mul(g, srx_number(g, 1 / (s->length * s->length)), srx_dot3(g, A, s->axis));
  const srVec foot = srx_minus(g, A, srx_times(g, along, s->axis));
  srNode ok = both(g, corner_in(s, 1, 1), is_inner(g, along));
  for (int i = 0; i < 6; i++) {
    const int k = spoke[i][0], l = spoke[i][1];
    ok = both(g, ok, holds(s, foot, A, corner(s, k, l), corner_in(s, k, l)));
  }
  try_point(s, ok, along, foot, NULL);
}

static void put_step(Near* s, srNode* out) {
  srGraph* g = s->g;
  for (int i = 0; i < BETWEEN; i++) {
    srNode was[FIELDS];
    for (int k = 0; k < FIELDS; k++) was[k] = sr_graph_var(g, SR_VAR_RECORD, FIELDS * i + k);
    s->list[i] = (Item){was[0], was[1], {{was[2], was[3], was[4]}}, {{was[5], was[6], was[7]}}};
  }
  find_corners(s);
  try_edge(s, (int[]){2, 2}, (const int[2][2]){{2, 1}, {1, 2}}, (const int[2][2]){{1, 1}, {1, 1}});
  try_edge(s, (int[]){2, 1}, (const int[2][2]){{2, 2}, {1, 0}}, (const int[2][2]){{1, 1}, {1, 0}});
  try_edge(s, (int[]){1, 2}, (const int[2][2]){{2, 2}, {0, 1}}, (const int[2][2]){{1, 1}, {0, 1}});
  try_corner(s);
  for (int i = 0; i < BETWEEN; i++) {
    const Item* x = &s->list[i];
    out[FIELDS * i] = x->gap, out[FIELDS * i + 1] = x->along;
    for (int k = 0; k < 3; k++) out[FIELDS * i + 2 + k] = x->n.x[k], out[FIELDS * i + 5 + k] = x->turning.x[k];
  }
}

static srNode is_some(const Near* s) {
  srGraph* g = s->g;
  const srNode wide = srx_number(g, s->radius), zero = srx_number(g, 0);
  srNode low[3], high[2];
  for (int k = 0; k < 3; k++) {
    const srNode least = srx_add(g, s->end.x[k], srx_min(g, zero, s->axis.x[k]));
    low[k] = srx_sub(g, least, wide);
    if (k < 2) high[k] = srx_add(g, srx_add(g, s->end.x[k], srx_max(g, zero, s->axis.x[k])), wide);
  }
  return sr_sym_field_near(g, s->f, low, high, index_of(g, 0), index_of(g, 1));
}

static Near* begin(srPool* pool, srGraph* g, const srSurfaceLaws* c) {
  Near* s = sr_pool_alloc(pool, sizeof *s);
  const srConvex* capsule = &c->shape[1]->convex;
  *s = (Near){.g = g, .f = field_of(c), .radius = capsule->radius, .length = 2 * capsule->size[2]};
  s->end = arg3(g, ARG_END), s->axis = arg3(g, ARG_AXIS), s->u = arg3(g, ARG_U), s->w = arg3(g, ARG_W);
  s->e = srx_times(g, srx_number(g, 1 / s->length), s->axis);
  sr_graph_for_code(g);
  return s;
}

static const srFold* loop_of(const srSymLaw* law) {
  static const char about[] = "Edges and corners of a height field that touch a capsule between its ends, of one cell";
  const srSurfaceLaws* c = law->element->contact;
  srSymFolds* folds = law->pass->tree->folds;
  srPool* pool = sr_sym_folds_pool(folds);
  const double size[] = {c->shape[1]->convex.radius, c->shape[1]->convex.size[2]}, reach = size[0] + size[1];
  const srFoldKey key = {.of = {about, field_of(c), NULL}, .n = 2, .number = size};
  const srFold* made = sr_sym_fold_find(folds, &key);
  if (made != NULL) return made;
  srFoldMaking x = {.fold = {.about = about, .narg = ARGS, .nstate = STATES, .n = {1, 1, 1, 1}},
                    .some = sr_graph_create(pool),
                    .step = sr_graph_create(pool)};
  srNode* out = sr_pool_alloc(pool, STATES * sizeof *out);
  for (int i = 0; i < 2; i++) x.fold.n[i] = sr_sym_field_steps(field_of(c), i, reach);
  x.some_out = is_some(begin(pool, x.some, c));
  put_step(begin(pool, x.step, c), out);
  x.step_out = out;
  return sr_sym_fold_make(folds, &key, &x);
}

// ---- all of them --------------------------------------------------------------------------------------------------------

typedef struct Capsule {
  const srSymLaw* law;
  const srSymFrames* at;
  srGraph* g;
  double radius, half;
  srVec e;  // unit
  Item item[ITEMS];
  srNode kept[ITEMS];
} Capsule;

// Of a contact at this place of the axis.
static srVec axis_at(const Capsule* s, srNode along) {
  srGraph* g = s->g;
  return srx_times(g, srx_mul(g, srx_number(g, 2 * s->half), srx_sub(g, along, srx_number(g, 0.5))), s->e);
}

static srVec velocity_at(const Capsule* s, srVec r) { return srx_plus(s->g, s->at->u, srx_cross3(s->g, s->at->w, r)); }

static Item item_of(const Capsule* s, const srSymTouch* x, int end) {
  srGraph* g = s->g;
  const srNode zero = srx_number(g, 0), along = srx_number(g, end);
  const srVec v = velocity_at(s, axis_at(s, along)), flat = sr_sym_flat(g, x->n, v);
  const srVec turning = srx_minus(g, flat, srx_times(g, srx_dot3(g, x->edge, v), x->edge));
  const srNode by = srx_if(g, srx_mul(g, x->ok, x->bends), srx_div(g, srx_number(g, 1), x->core), zero);
  return (Item){.gap = srx_if(g, x->ok, srx_sub(g, x->core, srx_number(g, s->radius)), zero),
                .along = along,
                .n = x->n,
                .turning = srx_times(g, by, turning)};
}

static void find_items(Capsule* s) {
  srGraph* g = s->g;
  const srHeightField* f = field_of(s->law->element->contact);
  const srVec first = srx_plus(g, s->at->x, axis_at(s, srx_number(g, 0)));
  const srVec axis = srx_times(g, srx_number(g, 2 * s->half), s->e);
  Item end[ENDS];
  srNode all[ARGS];
  for (int k = 0; k < 2; k++) {
    srSymTouch touch[SR_SYM_ROUNDS];
    sr_sym_ball_on_field(s->law, s->radius, k == 0 ? first : srx_plus(g, first, axis), touch);
    for (int i = 0; i < SR_SYM_ROUNDS; i++) end[SR_SYM_ROUNDS * k + i] = item_of(s, &touch[i], k);
  }
  for (int i = 0; i < 3; i++) {
    all[ARG_END + i] = first.x[i], all[ARG_AXIS + i] = axis.x[i];
    all[ARG_U + i] = s->at->u.x[i], all[ARG_W + i] = s->at->w.x[i];
  }
  for (int i = 0; i < 2; i++) all[ARG_FIRST + i] = sr_sym_field_first(g, f, i, s->radius + s->half, s->at->x.x[i]);
  for (int k = 0; k < ENDS; k++) {
    for (int i = 0; i < 3; i++) all[ARG_ENDS + 4 * k + i] = end[k].n.x[i];
    all[ARG_ENDS + 4 * k + 3] = end[k].gap;
  }
  const srNode fold = sr_graph_fold(g, loop_of(s->law), all, ARGS);
  for (int k = 0; k < BETWEEN; k++) {
    srNode part[FIELDS];
    for (int i = 0; i < FIELDS; i++) part[i] = sr_graph_part(g, fold, FIELDS * k + i);
    s->item[k] = (Item){part[0], part[1], {{part[2], part[3], part[4]}}, {{part[5], part[6], part[7]}}};
  }
  for (int k = 0; k < ENDS; k++) {
    s->item[BETWEEN + k] = no_item(g);
    insert(g, s->item, BETWEEN + k + 1, end[k]);
  }
}

static srNode is_between(const Capsule* s, int i, srNode (*like)[ITEMS]) {
  srGraph* g = s->g;
  const Item* x = &s->item[i];
  const srNode none = srx_number(g, -1e30), inner = srx_number(g, INNER);
  const srNode gap = srx_mul(g, srx_number(g, 1 / (1 + SLACK)), x->gap);
  srNode before = none, behind = none;
  for (int k = 0; k < ITEMS; k++) {
    const Item* y = &s->item[k];
    if (k == i) continue;
    const srNode apart = srx_sub(g, x->along, y->along), pair = i < k ? like[i][k] : like[k][i];
    const srNode is_before = both(g, pair, srx_less(g, inner, apart));
    const srNode is_behind = both(g, pair, srx_less(g, apart, srx_neg(g, inner)));
    const srNode slope = srx_div(g, srx_sub(g, gap, y->gap), srx_1(g, SR_OP_ABS, apart));
    before = srx_max(g, before, srx_if(g, is_before, slope, none));
    behind = srx_max(g, behind, srx_if(g, is_behind, slope, none));
  }
  return srx_at_most(g, srx_number(g, 0), srx_add(g, before, behind));
}

static srNode is_end(srGraph* g, const Item* x) {
  const srNode first = srx_at_most(g, x->along, srx_number(g, 0));
  return srx_max(g, first, srx_at_most(g, srx_number(g, 1), x->along));
}

// From the deepest on. The two ends do not stand for each other.
static void choose_items(Capsule* s) {
  srGraph* g = s->g;
  const srNode zero = srx_number(g, 0);
  srNode like[ITEMS][ITEMS] = {{0}}, end[ITEMS];
  for (int i = 0; i < ITEMS; i++) {
    const Item* x = &s->item[i];
    end[i] = is_end(g, x);
    for (int k = i + 1; k < ITEMS; k++) {
      const Item* y = &s->item[k];
      const srNode there = both(g, srx_less(g, x->gap, zero), srx_less(g, y->gap, zero));
      like[i][k] = both(g, there, is_like(g, s->radius, x->n, y->n, x->gap, y->gap));
    }
  }
  for (int i = 0; i < ITEMS; i++) {
    const Item* x = &s->item[i];
    srNode keep = both(g, srx_less(g, x->gap, zero), is_not(g, is_between(s, i, like)));
    for (int k = 0; k < i; k++) {
      const Item* y = &s->item[k];
      const srNode width = srx_sqrt(g, srx_max(g, zero, srx_mul(g, srx_number(g, -8 * s->radius), y->gap)));
      const srNode apart = srx_mul(g, srx_number(g, 2 * s->half), srx_1(g, SR_OP_ABS, srx_sub(g, x->along, y->along)));
      const srNode in_patch = both(g, like[k][i], srx_at_most(g, apart, width));
      const srNode other = both(g, in_patch, is_not(g, both(g, end[i], end[k])));
      keep = both(g, keep, is_not(g, both(g, s->kept[k], other)));
    }
    s->kept[i] = keep;
  }
}

// ---- place --------------------------------------------------------------------------------------------------------------

typedef struct Sum {
  srNode count, N, f[ITEMS];
  srVec force, moment, r, turning, arm[ITEMS];
} Sum;

static void add_item(const Capsule* s, int i, Sum* to) {
  srGraph* g = s->g;
  const Item* x = &s->item[i];
  const srNode zero = srx_number(g, 0), gap = srx_if(g, s->kept[i], x->gap, zero);
  const srNode back = srx_add(g, srx_number(g, s->radius), srx_mul(g, srx_number(g, 0.5), gap));
  const srVec r = srx_minus(g, axis_at(s, x->along), srx_times(g, back, x->n));
  const srNode rate = srx_neg(g, srx_dot3(g, x->n, velocity_at(s, r)));
  const srNode f = sr_sym_normal_force(s->law, srx_neg(g, gap), rate);
  const srVec force = srx_times(g, f, x->n);
  to->f[i] = f, to->arm[i] = r;
  to->count = srx_add(g, to->count, s->kept[i]);
  to->N = srx_add(g, to->N, f);
  to->force = srx_plus(g, to->force, force);
  to->moment = srx_plus(g, to->moment, srx_cross3(g, r, force));
  to->r = srx_plus(g, to->r, srx_times(g, f, r));
  to->turning = srx_plus(g, to->turning, srx_times(g, f, x->turning));
}

// As find_normal of place_points.c.
static void finish(const Capsule* s, const Sum* sum, srSymPlace* out) {
  srGraph* g = s->g;
  const srSymFrames* at = s->at;
  const srNode zero = srx_number(g, 0), one = srx_number(g, 1), tiny = srx_number(g, TINY);
  const srNode size = srx_norm(g, 3, sum->force.x), distance = srx_norm(g, 3, at->x.x);
  const srNode touch = srx_positive(g, sum->count), many = srx_less(g, one, sum->count),
               apart = srx_positive(g, distance);
  const srNode common = srx_less(g, srx_mul(g, srx_number(g, CANCEL), sum->N), size);
  const srNode by = srx_div(g, one, srx_max(g, size, tiny));
  const srVec up = {{zero, zero, one}};
  const srVec outward = choose(g, apart, srx_times(g, srx_div(g, one, srx_max(g, distance, tiny)), at->x), up);
  srVec first = srx_zero(g);
  for (int i = ITEMS - 1; i >= 0; i--) first = choose(g, s->kept[i], s->item[i].n, first);
  out->n = choose(g, both(g, common, many), srx_times(g, by, sum->force), choose(g, touch, first, outward));
  out->force = sum->force, out->N = sum->N, out->moment = sum->moment;
  const srNode share = srx_if(g, srx_positive(g, sum->N), srx_div(g, one, srx_max(g, sum->N, tiny)), zero);
  out->r = srx_times(g, share, sum->r);
  out->turning = sr_sym_flat(g, out->n, srx_times(g, srx_if(g, common, by, zero), sum->turning));
  srNode G = zero;
  for (int i = 0; i < ITEMS; i++) {
    const srVec a = sr_sym_flat(g, out->n, srx_minus(g, sum->arm[i], out->r));
    G = srx_add(g, G, srx_mul(g, sum->f[i], srx_dot3(g, a, a)));
  }
  const srNode square = srx_if(g, many, srx_mul(g, sum->N, G), zero);
  const srNode gyration = srx_if(g, srx_positive(g, square), srx_sqrt(g, square), zero);
  out->N_spin = srx_add(g, gyration, srx_mul(g, srx_number(g, s->law->element->contact->lever), sum->N));
}

// The place on the graph of a step: all capsules that differ in nothing share it, as a loop with one step.
enum {
  PLACE_R = 0,  // arguments
  PLACE_X = 9,
  PLACE_U = 12,
  PLACE_W = 15,
  PLACE_LAW = 18,
  OF_PLACE = 17  // results: n, r, turning, force, moment, N, N_spin
};

static void put_place(const srSymLaw* law, const srSymFrames* at, srNode* out) {
  srPool* pool = sr_sym_folds_pool(law->pass->tree->folds);
  srGraph* g = law->pass->g;
  const srConvex* capsule = &law->element->contact->shape[1]->convex;
  const srNode zero = srx_number(g, 0);
  Capsule* s = sr_pool_alloc(pool, sizeof *s);
  Sum* sum = sr_pool_alloc(pool, sizeof *sum);
  srSymPlace p;
  *s = (Capsule){.law = law, .at = at, .g = g, .radius = capsule->radius, .half = capsule->size[2]};
  s->e = (srVec){{at->R.x[2], at->R.x[5], at->R.x[8]}};
  find_items(s);
  choose_items(s);
  *sum = (Sum){
      .count = zero, .N = zero, .force = srx_zero(g), .moment = srx_zero(g), .r = srx_zero(g), .turning = srx_zero(g)};
  for (int i = 0; i < ITEMS; i++) add_item(s, i, sum);
  finish(s, sum, &p);
  const srVec* const vector[] = {&p.n, &p.r, &p.turning, &p.force, &p.moment};
  for (int i = 0; i < 15; i++) out[i] = vector[i / 3]->x[i % 3];
  out[15] = p.N, out[16] = p.N_spin;
}

static const srFold* place_of(const srSymLaw* law, srNode* all, int* narg) {
  static const char about[] = "Contact of a capsule with a height field";
  const srSurfaceLaws* c = law->element->contact;
  srSymFolds* folds = law->pass->tree->folds;
  srPool* pool = sr_sym_folds_pool(folds);
  srFoldMaking x = {.fold = {.about = about, .nstate = OF_PLACE, .n = {1, 1, 1, 1}},
                    .some = sr_graph_create(pool),
                    .step = sr_graph_create(pool)};
  srGraph* g = x.step;
  srNode given[SR_NORMAL_ARGUMENTS], number[SR_NORMAL_ARGUMENTS], out[OF_PLACE];
  double key[SR_NORMAL_ARGUMENTS + 3] = {0};
  sr_graph_for_code(g);
  sr_sym_normal_numbers(law, given);
  given[0] = given[1] = srx_number(law->pass->g, 0);
  *narg = sr_sym_normal_arguments(law, given, g, number, all, PLACE_LAW, key);
  key[SR_NORMAL_ARGUMENTS] = c->shape[1]->convex.radius, key[SR_NORMAL_ARGUMENTS + 1] = c->shape[1]->convex.size[2];
  key[SR_NORMAL_ARGUMENTS + 2] = c->lever;
  const srFoldKey of = {.of = {about, c->law, field_of(c)}, .n = SR_COUNT(key), .number = key};
  const srFold* made = sr_sym_fold_find(folds, &of);
  if (made != NULL) return made;
  x.fold.narg = *narg;
  x.some_out = srx_number(x.some, 1);
  srSymPass pass = *law->pass;
  srSymFrames at = {.x = arg3(g, PLACE_X), .u = arg3(g, PLACE_U), .w = arg3(g, PLACE_W)};
  pass.g = g;
  for (int i = 0; i < 9; i++) at.R.x[i] = arg(g, PLACE_R + i);
  const srSymLaw own = {.pass = &pass, .element = law->element, .normal = number};
  put_place(&own, &at, out);
  x.step_out = out;
  return sr_sym_fold_make(folds, &of, &x);
}

void sr_sym_place_capsule_on_field(const srSymLaw* law, const srSymFrames* at, srSymPlace* out) {
  srGraph* g = law->pass->g;
  srNode all[PLACE_LAW + SR_NORMAL_ARGUMENTS];
  int narg;
  for (int i = 0; i < 9; i++) all[PLACE_R + i] = at->R.x[i];
  for (int i = 0; i < 3; i++)
    all[PLACE_X + i] = at->x.x[i], all[PLACE_U + i] = at->u.x[i], all[PLACE_W + i] = at->w.x[i];
  const srFold* loop = place_of(law, all, &narg);
  const srNode fold = sr_graph_fold(g, loop, all, narg);
  srVec* const vector[] = {&out->n, &out->r, &out->turning, &out->force, &out->moment};
  for (int i = 0; i < 15; i++) vector[i / 3]->x[i % 3] = sr_graph_part(g, fold, i);
  out->N = sr_graph_part(g, fold, 15), out->N_spin = sr_graph_part(g, fold, 16);
}
