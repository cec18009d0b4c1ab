// A box on a height field, on the graph: the pressure of contact/place_patch.c over the triangles within the box, with the same points of integration (collide/patch.c).
//
// One step of a loop is one triangle in one cell of the depth, that of the face (k, s) of the box, where with y = s x_k and axes i, j across
//   d = a_k - y,   y >= 0,   a_i -+ x_i >= d,   a_j -+ x_j >= d
// Points of the triangle are x = A + beta e_1 + gamma e_2: all of these are linear in (beta, gamma), and so is the rate of d. Six cuts of the triangle (0, 0), (1, 0), (0, 1) leave a convex polygon.
// It has a fixed number of places for corners, some of them twice: a cut puts the crossing where it leaves the half plane on all corners that are outside, and inserts that where it comes back behind
// the last of these. Where rounding finds two such places, corners that are on the line of the cut, the one with the larger change of sides is it.
// Triangles about the centroid, or the polygon itself where it is a triangle, have the rules of collide/patch.c. With n the normal of the triangle and m = -s e_k
//   f = A_t/A [law(d, 0) n + max(0, n.m) (law(d, d') - law(d, 0)) m]
// Sums of the two parts with (1, beta, gamma)^2 give the force, its moments and second moments, in the axes of the box.
#include <math.h>

#include "collide/collision.h"
#include "collide/field.h"
#include "symbolic/contact.h"
#include "symbolic/folds.h"

enum {
  CUTS = 6,
  CORNERS = 3 + CUTS,
  // Arguments: rotation of the box, its place, velocity and angular velocity in its axes, the first cell, the law's numbers that are no constants.
  ARG_R = 0,
  ARG_X = 9,
  ARG_U = 12,
  ARG_W = 15,
  ARG_CELL = 18,
  ARG_LAW = 20,
  // What the loop leaves: elastic force, force f, sums of f_i x_k and of f_i x_k x_l (xx, xy, xz, yy, yz, zz).
  SUM_E = 0,
  SUM_F = 3,
  SUM_FIRST = 6,
  SUM_SECOND = 15,
  SUMS = 33
};

static const srHeightField* field_of(const srSurfaceLaws* c) { return c->shape[0]->surface->user; }

bool sr_sym_is_box_on_field(const srSurfaceLaws* c) {
  return c->pair != NULL && c->patch != NULL && !c->patch->line && !c->patch->round && c->patch->rigid == 0 &&
         c->shape[0]->convex.kind == SR_KIND_FIELD && c->shape[1]->convex.kind == SR_KIND_BOX;
}

static double reach_of(const srSurfaceLaws* c) {
  const double* half = c->shape[1]->convex.size;
  return sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
}

// ---- a triangle ---------------------------------------------------------------------------------------------------------

// a + b beta + c gamma
typedef struct Linear {
  srNode x[3];
} Linear;

typedef struct Step {
  srGraph* g;
  srPool* pool;
  const srSurfaceLaws* c;
  const srNode* number;   // of the law
  srNode in;              // 1: the cell is in the field
  srVec A, e1, e2;        // in the axes of the box
  srNode second, third;   // 1: k is 1, 2
  srNode sign, is_upper;  // s; 1: it is 1
  Linear d, cut[CUTS];    // cut[0] = d
  srNode strict[CUTS];    // 1: where two planes are equally near throughout, the other one has it
} Step;

static srNode arg(srGraph* g, int i) { return sr_graph_var(g, SR_VAR_ARG, i); }
static srNode index_of(srGraph* g, int i) { return sr_graph_var(g, SR_VAR_TIME, i); }
static srVec arg3(srGraph* g, int i) { return (srVec){{arg(g, i), arg(g, i + 1), arg(g, i + 2)}}; }

// The entry k, k + 1 or k + 2 of a vector.
static srNode turned(const Step* s, srVec v, int ahead) {
  srGraph* g = s->g;
  return srx_if(g, s->third, v.x[(2 + ahead) % 3], srx_if(g, s->second, v.x[(1 + ahead) % 3], v.x[ahead % 3]));
}

static Linear along(const Step* s, int ahead) {
  return (Linear){{turned(s, s->A, ahead), turned(s, s->e1, ahead), turned(s, s->e2, ahead)}};
}

static Linear scaled(srGraph* g, srNode by, Linear a) {
  for (int i = 0; i < 3; i++) a.x[i] = srx_mul(g, by, a.x[i]);
  return a;
}

static Linear plus(srGraph* g, Linear a, Linear b) {
  for (int i = 0; i < 3; i++) a.x[i] = srx_add(g, a.x[i], b.x[i]);
  return a;
}

static Linear minus(srGraph* g, Linear a, Linear b) { return plus(g, a, scaled(g, srx_number(g, -1), b)); }

static Linear from(const Step* s, int ahead, double side, Linear x) {  // a_i - side x_i
  srVec half = srx_numbers(s->g, s->c->shape[1]->convex.size);
  Linear out = scaled(s->g, srx_number(s->g, -side), x);
  out.x[0] = srx_add(s->g, turned(s, half, ahead), out.x[0]);
  return out;
}

static srNode height(srGraph* g, const srHeightField* f, srNode at) {
  return sr_graph_lookup(g, f->z, f->nx * f->ny, at);
}

static srVec to_box(srGraph* g, srVec x) {
  srVec out;
  for (int k = 0; k < 3; k++) {
    const srVec column = {{arg(g, ARG_R + k), arg(g, ARG_R + 3 + k), arg(g, ARG_R + 6 + k)}};
    out.x[k] = srx_dot3(g, column, x);
  }
  return out;
}

static srNode both(srGraph* g, srNode a, srNode b) { return srx_mul(g, a, b); }
static srNode is_not(srGraph* g, srNode a) { return srx_sub(g, srx_number(g, 1), a); }
static srNode between(srGraph* g, srNode x, double high) {
  return both(g, srx_at_most(g, srx_number(g, 0), x), srx_at_most(g, x, srx_number(g, high)));
}

// The corners of triangle collide/field.c has, relative to the box.
static void find_triangle(Step* s) {
  srGraph* g = s->g;
  const srHeightField* f = field_of(s->c);
  const srNode i = srx_add(g, arg(g, ARG_CELL), index_of(g, 0)), j = srx_add(g, arg(g, ARG_CELL + 1), index_of(g, 1));
  const srNode upper = index_of(g, 2), dx = srx_number(g, f->dx), dy = srx_number(g, f->dy), zero = srx_number(g, 0);
  const srNode at = srx_add(g, i, srx_mul(g, srx_number(g, f->nx), j));
  const srNode B = srx_if(g, upper, srx_number(g, f->nx + 1), srx_number(g, 1));
  const srNode C = srx_if(g, upper, srx_number(g, f->nx), srx_number(g, f->nx + 1));
  const srNode z = height(g, f, at);
  const srVec first = {
      {srx_add(g, srx_number(g, f->x0), srx_mul(g, dx, i)), srx_add(g, srx_number(g, f->y0), srx_mul(g, dy, j)), z}};
  const srVec one = {{dx, srx_if(g, upper, dy, zero), srx_sub(g, height(g, f, srx_add(g, at, B)), z)}};
  const srVec two = {{srx_if(g, upper, zero, dx), dy, srx_sub(g, height(g, f, srx_add(g, at, C)), z)}};
  s->in = both(g, between(g, i, f->nx - 2), between(g, j, f->ny - 2));
  s->A = to_box(g, srx_minus(g, first, arg3(g, ARG_X)));
  s->e1 = to_box(g, one), s->e2 = to_box(g, two);
}

// Planes are in the order -x, +x, -y, ...
static void find_cell(Step* s) {
  srGraph* g = s->g;
  const srNode plane = index_of(g, 3), one = srx_number(g, 1), two = srx_number(g, 2);
  const srNode later = srx_at_most(g, two, plane);  // k > 0
  s->third = srx_at_most(g, srx_number(g, 4), plane);
  s->second = srx_sub(g, later, s->third);
  s->is_upper = srx_sub(g, plane, srx_mul(g, two, srx_add(g, later, s->third)));
  s->sign = srx_sub(g, srx_mul(g, two, s->is_upper), one);
  const Linear y = scaled(g, s->sign, along(s, 0)), p = along(s, 1), r = along(s, 2);
  s->d = s->cut[0] = from(s, 0, 1, y);
  s->cut[1] = scaled(g, two, y);
  s->cut[2] = minus(g, from(s, 1, 1, p), s->d), s->cut[3] = minus(g, from(s, 1, -1, p), s->d);
  s->cut[4] = minus(g, from(s, 2, 1, r), s->d), s->cut[5] = minus(g, from(s, 2, -1, r), s->d);
  s->strict[0] = srx_number(g, 0), s->strict[1] = s->is_upper;
  s->strict[2] = s->strict[3] = s->third, s->strict[4] = s->strict[5] = later;
}

// Can anything of the triangle be in the cell?
static srNode is_some(Step* s) {
  srGraph* g = s->g;
  srNode some = s->in;
  for (int k = 0; k < CUTS; k++) {
    const srNode* v = s->cut[k].x;
    const srNode most = srx_add(g, v[0], srx_max(g, srx_number(g, 0), srx_max(g, v[1], v[2])));
    some = both(g, some, srx_at_most(g, srx_number(g, 0), most));
  }
  return some;
}

// ---- polygons -----------------------------------------------------------------------------------------------------------

typedef struct Spot {
  srNode beta, gamma;
} Spot;

typedef struct Polygon {
  int n;
  Spot corner[CORNERS];
  srNode any;  // 0: nothing is left
} Polygon;

static Spot choose(srGraph* g, srNode condition, Spot a, Spot b) {
  return (Spot){srx_if(g, condition, a.beta, b.beta), srx_if(g, condition, a.gamma, b.gamma)};
}

static srNode value_at(srGraph* g, const Linear* v, Spot s) {
  return srx_add(g, v->x[0], srx_add(g, srx_mul(g, v->x[1], s.beta), srx_mul(g, v->x[2], s.gamma)));
}

// Where the boundary passes from one side of a cut to the other.
typedef struct Crossing {
  srNode change, u, v;  // largest change so far, values at both ends
  Spot from, to;
  srNode better[CORNERS];
} Crossing;

static Crossing no_crossing(srGraph* g, Spot at) {
  return (Crossing){.change = srx_number(g, 0), .u = srx_number(g, 1), .v = srx_number(g, 0), .from = at, .to = at};
}

static void try_crossing(srGraph* g, Crossing* x, int i, srNode passes, srNode u, srNode v, Spot from, Spot to) {
  const srNode change = srx_1(g, SR_OP_ABS, srx_sub(g, u, v));
  const srNode better = both(g, passes, srx_less(g, x->change, change));
  x->better[i] = better;
  x->change = srx_if(g, better, change, x->change);
  x->u = srx_if(g, better, u, x->u), x->v = srx_if(g, better, v, x->v);
  x->from = choose(g, better, from, x->from), x->to = choose(g, better, to, x->to);
}

static Spot place_of(srGraph* g, const Crossing* x) {
  const srNode s = srx_div(g, x->u, srx_sub(g, x->u, x->v));
  return (Spot){srx_add(g, x->from.beta, srx_mul(g, s, srx_sub(g, x->to.beta, x->from.beta))),
                srx_add(g, x->from.gamma, srx_mul(g, s, srx_sub(g, x->to.gamma, x->from.gamma)))};
}

// Keeps where v >= 0; strict: nothing where it is not > 0 anywhere.
static void cut(srGraph* g, Polygon* p, const Linear* v, srNode strict) {
  const int n = p->n;
  const srNode zero = srx_number(g, 0);
  srNode value[CORNERS], in[CORNERS], most = SR_NO_NODE, behind = zero;
  Spot kept[CORNERS] = {p->corner[0]};
  for (int i = 0; i < n; i++) {
    value[i] = value_at(g, v, p->corner[i]), in[i] = srx_at_most(g, zero, value[i]);
    most = i == 0 ? value[i] : srx_max(g, most, value[i]);
  }
  Crossing leave = no_crossing(g, p->corner[0]), enter = leave;
  for (int i = 0; i < n; i++) {
    const int j = (i + 1) % n;
    try_crossing(g, &leave, i, both(g, in[i], is_not(g, in[j])), value[i], value[j], p->corner[i], p->corner[j]);
    try_crossing(g, &enter, i, both(g, is_not(g, in[i]), in[j]), value[i], value[j], p->corner[i], p->corner[j]);
  }
  const Spot out = place_of(g, &leave), back = place_of(g, &enter);
  srNode later = zero;  // only the last of those that were better is the largest
  for (int i = n - 1; i >= 0; i--) {
    kept[i] = choose(g, in[i], p->corner[i], out);
    const srNode better = enter.better[i];
    enter.better[i] = both(g, better, is_not(g, later)), later = srx_max(g, later, better);
  }
  p->corner[0] = kept[0];
  for (int i = 1; i <= n; i++) {
    const Spot next = i < n ? choose(g, behind, kept[i - 1], kept[i]) : kept[n - 1];
    p->corner[i] = choose(g, enter.better[i - 1], back, next);
    behind = srx_max(g, behind, enter.better[i - 1]);
  }
  p->n = n + 1;
  p->any = both(g, p->any, srx_if(g, strict, srx_less(g, zero, most), srx_at_most(g, zero, most)));
}

static srNode twice_area(srGraph* g, Spot o, Spot p, Spot q) {
  const srNode px = srx_sub(g, p.beta, o.beta), py = srx_sub(g, p.gamma, o.gamma);
  const srNode qx = srx_sub(g, q.beta, o.beta), qy = srx_sub(g, q.gamma, o.gamma);
  return srx_sub(g, srx_mul(g, px, qy), srx_mul(g, py, qx));
}

static Spot find_middle(srGraph* g, const Polygon* p) {
  const srNode zero = srx_number(g, 0), third = srx_number(g, 1.0 / 3);
  const Spot o = p->corner[0];
  srNode total = zero, beta = zero, gamma = zero;
  for (int i = 1; i + 1 < p->n; i++) {
    const Spot a = p->corner[i], b = p->corner[i + 1];
    const srNode area = twice_area(g, o, a, b);
    total = srx_add(g, total, area);
    beta = srx_add(g, beta, srx_mul(g, area, srx_add(g, srx_sub(g, a.beta, o.beta), srx_sub(g, b.beta, o.beta))));
    gamma = srx_add(g, gamma, srx_mul(g, area, srx_add(g, srx_sub(g, a.gamma, o.gamma), srx_sub(g, b.gamma, o.gamma))));
  }
  const srNode by = srx_if(g, srx_positive(g, total), srx_div(g, third, total), zero);
  return (Spot){srx_add(g, o.beta, srx_mul(g, by, beta)), srx_add(g, o.gamma, srx_mul(g, by, gamma))};
}

// ---- points -------------------------------------------------------------------------------------------------------------

// Sums of a weight with 1, beta, gamma, beta^2, beta gamma, gamma^2.
typedef struct Moments {
  srNode x[6];
} Moments;

typedef struct Sums {
  Linear rate;
  Moments still, rest;  // law(d, 0), and what the rate adds to it
} Sums;

static void add_moments(srGraph* g, Moments* m, srNode w, Spot at) {
  const srNode b = srx_mul(g, w, at.beta), c = srx_mul(g, w, at.gamma);
  const srNode term[6] = {w, b, c, srx_mul(g, b, at.beta), srx_mul(g, b, at.gamma), srx_mul(g, c, at.gamma)};
  for (int i = 0; i < 6; i++) m->x[i] = srx_add(g, m->x[i], term[i]);
}

static void add_point(const Step* s, Sums* to, Spot at, srNode weight) {
  srGraph* g = s->g;
  const srNormalLaw* law = s->c->law;
  const srNode zero = srx_number(g, 0), d = srx_max(g, zero, value_at(g, &s->d, at));
  const srNode still = sr_sym_normal_of(s->pool, g, law, s->number, d, zero);
  const srNode moving = sr_sym_normal_of(s->pool, g, law, s->number, d, value_at(g, &to->rate, at));
  add_moments(g, &to->still, srx_mul(g, weight, still), at);
  add_moments(g, &to->rest, srx_mul(g, weight, srx_sub(g, moving, still)), at);
}

static Spot mixed(srGraph* g, const srNode* by, Spot a, Spot b, Spot c) {
  const srNode beta[3] = {a.beta, b.beta, c.beta}, gamma[3] = {a.gamma, b.gamma, c.gamma};
  return (Spot){srx_dot(g, 3, by, beta), srx_dot(g, 3, by, gamma)};
}

// A polygon with three corners has the rule itself: its points are shared out to the three, at (l - m) corner + 3 m middle.
static void add_points(const Step* s, const Polygon* p, Sums* to) {
  srGraph* g = s->g;
  const bool linear = (s->c->law->uses & (SR_NORMAL_USES(n) | SR_NORMAL_USES(e))) == 0;
  const srNode zero = srx_number(g, 0);
  int n;
  const double(*rule)[4] = sr_patch_rule(!linear, &n);
  const Spot middle = find_middle(g, p);
  srNode apart[CORNERS], count = zero, total = zero, around = zero, area[CORNERS];
  for (int i = 0; i < p->n; i++) {
    const Spot a = p->corner[i], b = p->corner[(i + 1) % p->n];
    apart[i] =
        srx_add(g, srx_1(g, SR_OP_ABS, srx_sub(g, b.beta, a.beta)), srx_1(g, SR_OP_ABS, srx_sub(g, b.gamma, a.gamma)));
    around = srx_add(g, around, apart[i]);
    area[i] = both(g, p->any, srx_max(g, zero, twice_area(g, middle, a, b))), total = srx_add(g, total, area[i]);
  }
  const srNode merged = srx_mul(g, srx_number(g, SR_PATCH_MERGED), around);
  for (int i = 0; i < p->n; i++) apart[i] = srx_less(g, merged, apart[i]), count = srx_add(g, count, apart[i]);
  const srNode whole = srx_at_most(g, count, srx_number(g, 3));
  for (int k = 0; k < n; k++) {
    // Rows that begin with the point of the first corner, the others are its permutations.
    const double* row = rule[k];
    const bool centre = row[1] == row[2] && row[2] == row[3], first = centre || (row[1] != row[2] && row[2] == row[3]);
    const double alone[3] = {3 * row[2], centre ? 0 : row[1] - row[2], 0};
    srNode by[3];
    for (int i = 0; i < 3; i++)
      by[i] = srx_if(g, whole, srx_number(g, first ? alone[i] : 0), srx_number(g, row[1 + i]));
    const srNode share = srx_mul(g, srx_number(g, first ? row[0] * (centre ? 1.0 / 3 : 1) : 0), total);
    for (int i = 0; i < p->n; i++) {
      const srNode part = srx_if(g, whole, both(g, apart[i], share), srx_mul(g, srx_number(g, row[0]), area[i]));
      add_point(s, to, mixed(g, by, middle, p->corner[i], p->corner[(i + 1) % p->n]), part);
    }
  }
}

// ---- sums ---------------------------------------------------------------------------------------------------------------

// Moments of x = A + beta e_1 + gamma e_2.
typedef struct Solid {
  srNode zeroth;
  srVec first;
  srNode second[6];
} Solid;

static Solid solid_of(const Step* s, const Moments* m) {
  static const int of[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
  srGraph* g = s->g;
  const srNode* x = m->x;
  const srNode by[3][3] = {{x[0], x[1], x[2]}, {x[1], x[3], x[4]}, {x[2], x[4], x[5]}};
  srVec row[3];
  for (int i = 0; i < 3; i++)
    row[i] = srx_plus(g, srx_times(g, by[i][0], s->A),
                      srx_plus(g, srx_times(g, by[i][1], s->e1), srx_times(g, by[i][2], s->e2)));
  Solid out = {.zeroth = x[0], .first = row[0]};
  for (int i = 0; i < 6; i++) {
    const int k = of[i][0], l = of[i][1];
    const srNode a[3] = {s->A.x[k], s->e1.x[k], s->e2.x[k]}, b[3] = {row[0].x[l], row[1].x[l], row[2].x[l]};
    out.second[i] = srx_dot(g, 3, a, b);
  }
  return out;
}

static void add(srGraph* g, srNode* sum, srNode a, srNode x, srNode b, srNode y) {
  *sum = srx_add(g, *sum, srx_add(g, srx_mul(g, a, x), srx_mul(g, b, y)));
}

// m: of the face; out: the state, and what this cell adds.
static void put_sums(const Step* s, const Sums* sums, srVec n, srNode size, srNode* out) {
  srGraph* g = s->g;
  const srNode zero = srx_number(g, 0), first = is_not(g, srx_add(g, s->second, s->third));
  const srNode back = srx_neg(g, s->sign), by = srx_mul(g, srx_number(g, 0.5 / s->c->patch->area), size);
  const srVec m = {{srx_mul(g, first, back), srx_mul(g, s->second, back), srx_mul(g, s->third, back)}};
  const srVec damped = srx_times(g, srx_mul(g, by, srx_max(g, zero, srx_dot3(g, n, m))), m);
  const srVec pressed = srx_times(g, by, n);
  const Solid still = solid_of(s, &sums->still), rest = solid_of(s, &sums->rest);
  for (int i = 0; i < SUMS; i++) out[i] = sr_graph_var(g, SR_VAR_RECORD, i);
  for (int i = 0; i < 3; i++) {
    const srNode p = pressed.x[i], q = damped.x[i];
    add(g, &out[SUM_E + i], p, still.zeroth, zero, zero);
    add(g, &out[SUM_F + i], p, still.zeroth, q, rest.zeroth);
    for (int k = 0; k < 3; k++) add(g, &out[SUM_FIRST + 3 * i + k], p, still.first.x[k], q, rest.first.x[k]);
    for (int k = 0; k < 6; k++) add(g, &out[SUM_SECOND + 6 * i + k], p, still.second[k], q, rest.second[k]);
  }
}

static Step begin(srPool* pool, srGraph* g, const srSurfaceLaws* c, const srNode* number) {
  Step s = {.g = g, .pool = pool, .c = c, .number = number};
  find_triangle(&s);
  find_cell(&s);
  return s;
}

static void put_step(srPool* pool, srGraph* g, const srSurfaceLaws* c, const srNode* number, srNode* out) {
  Step s = begin(pool, g, c, number);
  const srNode zero = srx_number(g, 0), one = srx_number(g, 1);
  Polygon p = {.n = 3, .corner = {{zero, zero}, {one, zero}, {zero, one}}, .any = s.in};
  for (int k = 0; k < CUTS; k++) cut(g, &p, &s.cut[k], s.strict[k]);
  const srVec across = srx_cross3(g, s.e1, s.e2);
  const srNode size = srx_norm(g, 3, across.x);
  const srVec n = srx_times(g, srx_div(g, one, size), across);
  Sums sums = {.still = {{zero, zero, zero, zero, zero, zero}}, .rest = {{zero, zero, zero, zero, zero, zero}}};
  // s (u_k + w_i x_j - w_j x_i)
  const srVec u = arg3(g, ARG_U), w = arg3(g, ARG_W);
  const Linear turning = minus(g, scaled(g, turned(&s, w, 1), along(&s, 2)), scaled(g, turned(&s, w, 2), along(&s, 1)));
  sums.rate = turning;
  sums.rate.x[0] = srx_add(g, turned(&s, u, 0), sums.rate.x[0]);
  sums.rate = scaled(g, s.sign, sums.rate);
  add_points(&s, &p, &sums);
  put_sums(&s, &sums, n, size, out);
}

// ---- the loop -----------------------------------------------------------------------------------------------------------

static const char about[] = "A triangle of a height field within a cell of the depths of a box";

static const srFold* loop_of(const srSymLaw* law, const srNode* given, srNode* all, int* narg) {
  const srSurfaceLaws* c = law->element->contact;
  const srHeightField* f = field_of(c);
  srPool* pool = sr_sym_folds_pool(law->pass->tree->folds);
  srFoldMaking x = {.fold = {.nstate = SUMS,
                             .n = {sr_sym_field_steps(f, 0, reach_of(c)), sr_sym_field_steps(f, 1, reach_of(c)), 2, 6}},
                    .some = sr_graph_create(pool),
                    .step = sr_graph_create(pool)};
  srNode number[SR_NORMAL_ARGUMENTS], out[SUMS];
  double key[SR_NORMAL_ARGUMENTS + 4];
  sr_graph_for_code(x.some), sr_graph_for_code(x.step);
  *narg = sr_sym_normal_arguments(law, given, x.step, number, all, ARG_LAW, key);
  for (int i = 0; i < 3; i++) key[SR_NORMAL_ARGUMENTS + i] = c->shape[1]->convex.size[i];
  key[SR_NORMAL_ARGUMENTS + 3] = c->patch->area;
  const srFoldKey of = {.of = {about, c->law, f}, .n = SR_COUNT(key), .number = key};
  const srFold* made = sr_sym_fold_find(law->pass->tree->folds, &of);
  if (made != NULL) return made;
  x.fold.narg = *narg;
  x.fold.about = about;
  Step some = begin(pool, x.some, c, NULL);
  x.some_out = is_some(&some);
  put_step(pool, x.step, c, number, out);
  x.step_out = out;
  return sr_sym_fold_make(law->pass->tree->folds, &of, &x);
}

// ---- place --------------------------------------------------------------------------------------------------------------

static srVec part3(srGraph* g, srNode fold, int at) {
  return (srVec){{sr_graph_part(g, fold, at), sr_graph_part(g, fold, at + 1), sr_graph_part(g, fold, at + 2)}};
}

// sum over i, k, l of n_i S_ikl (delta_kl - n_k n_l), with n.f_i = w_i
static srNode second_moment(srGraph* g, srNode fold, srVec n) {
  static const int of[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  srNode sum = srx_number(g, 0), S[6];
  for (int k = 0; k < 6; k++) {
    const srVec row = {{sr_graph_part(g, fold, SUM_SECOND + k), sr_graph_part(g, fold, SUM_SECOND + 6 + k),
                        sr_graph_part(g, fold, SUM_SECOND + 12 + k)}};
    S[k] = srx_dot3(g, n, row);
  }
  for (int k = 0; k < 3; k++) {
    const srVec row = {{S[of[k][0]], S[of[k][1]], S[of[k][2]]}};
    sum = srx_add(g, sum, srx_sub(g, S[of[k][k]], srx_mul(g, n.x[k], srx_dot3(g, n, row))));
  }
  return sum;
}

void sr_sym_place_box_on_field(const srSymLaw* law, const srSymFrames* at, srSymPlace* out) {
  srGraph* g = law->pass->g;
  const srSurfaceLaws* c = law->element->contact;
  const srMat back = srx_transpose(at->R);
  const srVec u = srx_mat_vec(g, &back, at->u), w = srx_mat_vec(g, &back, at->w);
  srNode given[SR_NORMAL_ARGUMENTS], all[ARG_LAW + SR_NORMAL_ARGUMENTS];
  int narg;
  sr_sym_normal_numbers(law, given);
  given[0] = given[1] = srx_number(g, 0);
  for (int i = 0; i < 9; i++) all[ARG_R + i] = at->R.x[i];
  for (int i = 0; i < 3; i++) all[ARG_X + i] = at->x.x[i], all[ARG_U + i] = u.x[i], all[ARG_W + i] = w.x[i];
  for (int i = 0; i < 2; i++) all[ARG_CELL + i] = sr_sym_field_first(g, field_of(c), i, reach_of(c), at->x.x[i]);
  const srFold* loop = loop_of(law, given, all, &narg);
  const srNode fold = sr_graph_fold(g, loop, all, narg), zero = srx_number(g, 0), one = srx_number(g, 1);
  const srVec elastic = part3(g, fold, SUM_E), F = part3(g, fold, SUM_F);
  const srNode size = srx_norm(g, 3, elastic.x), distance = srx_norm(g, 3, at->x.x);
  const srNode touch = srx_positive(g, size), apart = srx_positive(g, distance);
  const srVec n = srx_times(g, srx_if(g, touch, srx_div(g, one, size), zero), elastic);
  const srVec turned = srx_mat_vec(g, &at->R, n);
  for (int i = 0; i < 3; i++) {
    const srNode outward = srx_if(g, apart, srx_div(g, at->x.x[i], distance), srx_number(g, i == 2));
    out->n.x[i] = srx_if(g, touch, turned.x[i], outward);
  }
  out->N = srx_max(g, zero, srx_dot3(g, n, F));
  const srNode pressed = srx_positive(g, out->N);
  srVec first[3], r, moment;
  for (int i = 0; i < 3; i++) first[i] = part3(g, fold, SUM_FIRST + 3 * i);
  for (int k = 0; k < 3; k++) {
    const srVec column = {{first[0].x[k], first[1].x[k], first[2].x[k]}};
    r.x[k] = srx_if(g, pressed, srx_div(g, srx_dot3(g, n, column), out->N), zero);
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    moment.x[k] = srx_sub(g, first[b].x[a], first[a].x[b]);
  }
  const srVec flat = sr_sym_flat(g, n, r);
  const srNode rest = srx_sub(g, second_moment(g, fold, n), srx_mul(g, out->N, srx_dot3(g, flat, flat)));
  const srNode square = srx_mul(g, out->N, srx_max(g, zero, rest));
  const srNode gyration = srx_if(g, srx_positive(g, square), srx_sqrt(g, square), zero);
  out->N_spin =
      srx_add(g, srx_mul(g, srx_number(g, sqrt(8.0) / 3), gyration), srx_mul(g, srx_number(g, c->lever), out->N));
  out->r = srx_mat_vec(g, &at->R, r);
  out->force = srx_mat_vec(g, &at->R, F);
  out->moment = srx_mat_vec(g, &at->R, moment);
  out->turning = srx_zero(g);
}
