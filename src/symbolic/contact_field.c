// A sphere on a height field, on the graph: the local minima of the distance of its centre (collide/surface.c), one for each cluster of normals, with the force of contact/place_points.c.
//
// The sphere is above a window of cells that moves with it, so many that it cannot reach beyond them: heights are looked up, everything else is arithmetic. A face, an edge or a
// corner within the window holds a minimum where the foot of the centre is on it and no direction into the surface comes nearer, as there. From the nearest minimum on, those
// with nearly the same normal are left out: a round takes the nearest that is left. All places are relative to the centre.
//
// Where the window is larger, and at the ends of a capsule, a round is a loop over the cells: a step has the corner of one, the edges that begin there and its faces.
#include <math.h>

#include "collide/collision.h"
#include "collide/field.h"
#include "symbolic/contact.h"
#include "symbolic/folds.h"

#define POLAR 1e-9   // of collide/surface.c
#define SAME 1e-9    // of collide/surface.c
#define CANCEL 1e-9  // of contact/place_points.c
#define TINY 1e-30

enum {
  MOST_CELLS = 4,          // of the window, along x and y
  ROUNDS = SR_SYM_ROUNDS,  // contacts of one sphere
  MOST = 2 * MOST_CELLS * MOST_CELLS + 3 * MOST_CELLS * MOST_CELLS + MOST_CELLS * MOST_CELLS
};

typedef struct Minimum {
  srNode ok, distance;
  srVec n;       // to the centre
  srVec edge;    // unit, or 0
  srNode front;  // > 0: seen from the front of the triangles there
  srNode bends;  // 1: n turns as the centre moves; 0 on a face
} Minimum;

typedef struct Window {
  srGraph* g;
  const srHeightField* field;
  double radius;
  int cells[2];
  srNode x[MOST_CELLS + 1], y[MOST_CELLS + 1];         // of corners
  srNode z[MOST_CELLS + 1][MOST_CELLS + 1];            // [k][l]
  srNode column[MOST_CELLS + 1], row[MOST_CELLS + 1];  // 1: the corners are in the field
  int n;
  Minimum item[MOST];
} Window;

static const srHeightField* field_of(const srSurfaceLaws* c) { return c->shape[0]->surface->user; }

// A range of this length meets at most so many cells.
static int cells_of(double length, double step) { return (int)fmin(1e6, floor(length / step)) + 2; }

bool sr_sym_is_sphere_on_field(const srSurfaceLaws* c) {
  return c->pair != NULL && c->pair->place == NULL && c->patch == NULL && c->shape[0]->convex.kind == SR_KIND_FIELD &&
         c->shape[1]->convex.kind == SR_KIND_SPHERE;
}

const char* sr_sym_field_missing(srPool* pool, const srSurfaceLaws* c) {
  const srHeightField* f = field_of(c);
  const double reach = c->shape[1]->reach;
  const int x = sr_sym_field_steps(f, 0, reach), y = sr_sym_field_steps(f, 1, reach);
  if (x <= SR_SYM_FIELD_MOST && y <= SR_SYM_FIELD_MOST) return NULL;
  return sr_pool_printf(pool,
                        "'%s' may be above %d x %d cells of the height field '%s' at once, and there is "
                        "code for up to %d x %d: coarser heights or smaller shapes have it",
                        c->b, x, y, c->a, SR_SYM_FIELD_MOST, SR_SYM_FIELD_MOST);
}

static bool is_written_out(const srHeightField* f, double radius) {
  return cells_of(2 * radius, f->dx) <= MOST_CELLS && cells_of(2 * radius, f->dy) <= MOST_CELLS;
}

int sr_sym_field_steps(const srHeightField* f, int axis, double reach) {
  return (int)fmin(axis == 0 ? f->nx : f->ny, cells_of(2 * reach, axis == 0 ? f->dx : f->dy));
}

srNode sr_sym_field_first(srGraph* g, const srHeightField* f, int axis, double reach, srNode centre) {
  const double start = axis == 0 ? f->x0 : f->y0, step = axis == 0 ? f->dx : f->dy;
  if (sr_sym_field_steps(f, axis, reach) == (axis == 0 ? f->nx : f->ny)) return srx_number(g, 0);
  return srx_1(g, SR_OP_FLOOR, srx_mul(g, srx_number(g, 1 / step), srx_sub(g, centre, srx_number(g, start + reach))));
}

// ---- logic --------------------------------------------------------------------------------------------------------------

static srNode both(srGraph* g, srNode a, srNode b) { return srx_mul(g, a, b); }
static srNode either(srGraph* g, srNode a, srNode b) { return srx_max(g, a, b); }
static srNode is_not(srGraph* g, srNode a) { return srx_sub(g, srx_number(g, 1), a); }
static srNode between(srGraph* g, srNode low, srNode x, srNode high) {
  return both(g, srx_at_most(g, low, x), srx_at_most(g, x, high));
}

// ---- the window ---------------------------------------------------------------------------------------------------------

// Corners along one axis: places, and are they in the field? Returns the index of the first one.
static srNode find_line(const Window* w, int axis, srNode centre, srNode* place, srNode* in) {
  srGraph* g = w->g;
  const double start = axis == 0 ? w->field->x0 : w->field->y0, step = axis == 0 ? w->field->dx : w->field->dy;
  const int last = (axis == 0 ? w->field->nx : w->field->ny) - 1;
  const srNode low = srx_sub(g, centre, srx_number(g, start + w->radius));
  const srNode first = srx_1(g, SR_OP_FLOOR, srx_mul(g, srx_number(g, 1 / step), low));
  const srNode from = srx_sub(g, srx_mul(g, srx_number(g, step), first), srx_sub(g, centre, srx_number(g, start)));
  for (int k = 0; k <= w->cells[axis]; k++) {
    const srNode index = srx_add(g, first, srx_number(g, k));
    place[k] = srx_add(g, from, srx_number(g, k * step));
    in[k] = between(g, srx_number(g, 0), index, srx_number(g, last));
  }
  return first;
}

static srNode height(srGraph* g, const srHeightField* f, srNode i, srNode j) {
  return sr_graph_lookup(g, f->z, f->nx * f->ny, srx_add(g, i, srx_mul(g, srx_number(g, f->nx), j)));
}

static void find_heights(Window* w, srVec centre) {
  srGraph* g = w->g;
  const srNode i = find_line(w, 0, centre.x[0], w->x, w->column), j = find_line(w, 1, centre.x[1], w->y, w->row);
  for (int k = 0; k <= w->cells[0]; k++) {
    for (int l = 0; l <= w->cells[1]; l++) {
      const srNode z = height(g, w->field, srx_add(g, i, srx_number(g, k)), srx_add(g, j, srx_number(g, l)));
      w->z[k][l] = srx_sub(g, z, centre.x[2]);
    }
  }
}

static srVec corner(const Window* w, int k, int l) { return (srVec){{w->x[k], w->y[l], w->z[k][l]}}; }
static srNode corner_in(const Window* w, int k, int l) { return both(w->g, w->column[k], w->row[l]); }
static srNode cell_in(const Window* w, int k, int l) {
  return both(w->g, corner_in(w, k, l), corner_in(w, k + 1, l + 1));
}

// Is the centre in or below the surface? As sr_field_height.
static srNode is_inside(const Window* w, srVec centre) {
  srGraph* g = w->g;
  const srHeightField* f = w->field;
  const srNode zero = srx_number(g, 0), one = srx_number(g, 1);
  const srNode u = srx_mul(g, srx_number(g, 1 / f->dx), srx_sub(g, centre.x[0], srx_number(g, f->x0)));
  const srNode v = srx_mul(g, srx_number(g, 1 / f->dy), srx_sub(g, centre.x[1], srx_number(g, f->y0)));
  const srNode i = srx_min(g, srx_1(g, SR_OP_FLOOR, u), srx_number(g, f->nx - 2));
  const srNode j = srx_min(g, srx_1(g, SR_OP_FLOOR, v), srx_number(g, f->ny - 2));
  const srNode s = srx_sub(g, u, i), t = srx_sub(g, v, j), i1 = srx_add(g, i, one), j1 = srx_add(g, j, one);
  const srNode near = height(g, f, i, j), far = height(g, f, i1, j1), first = srx_less(g, s, t);
  const srNode side = srx_if(g, first, height(g, f, i, j1), height(g, f, i1, j));
  const srNode more = srx_max(g, s, t), less = srx_min(g, s, t);
  const srNode z =
      srx_add(g, near, srx_add(g, srx_mul(g, more, srx_sub(g, side, near)), srx_mul(g, less, srx_sub(g, far, side))));
  const srNode on_field =
      both(g, between(g, zero, u, srx_number(g, f->nx - 1)), between(g, zero, v, srx_number(g, f->ny - 1)));
  return both(g, on_field, srx_at_most(g, centre.x[2], z));
}

// ---- minima -------------------------------------------------------------------------------------------------------------

static srNode is_near(const Window* w, srNode distance) {
  return srx_at_most(w->g, distance, srx_number(w->g, w->radius));
}

// A triangle of the cell (k, l): z = z_kl + sx (x - x_kl) + sy (y - y_kl); upper: the one with the corner (k, l + 1).
typedef struct Triangle {
  int k, l;
  bool upper;
} Triangle;

typedef struct Plane {
  srNode sx, sy, square, up;  // 1 + sx^2 + sy^2, and z of the unit normal
} Plane;

static Plane plane_of(const Window* w, Triangle t) {
  srGraph* g = w->g;
  const int from = t.upper ? t.l + 1 : t.l, at = t.upper ? t.k : t.k + 1;
  const srNode one = srx_number(g, 1);
  Plane p;
  p.sx = srx_mul(g, srx_number(g, 1 / w->field->dx), srx_sub(g, w->z[t.k + 1][from], w->z[t.k][from]));
  p.sy = srx_mul(g, srx_number(g, 1 / w->field->dy), srx_sub(g, w->z[at][t.l + 1], w->z[at][t.l]));
  p.square = srx_add(g, one, srx_add(g, srx_mul(g, p.sx, p.sx), srx_mul(g, p.sy, p.sy)));
  p.up = srx_div(g, one, srx_sqrt(g, p.square));
  return p;
}

static void add_face(Window* w, int k, int l, bool upper) {
  srGraph* g = w->g;
  const Plane p = plane_of(w, (Triangle){k, l, upper});
  const srNode zero = srx_number(g, 0), one = srx_number(g, 1), by_x = srx_number(g, 1 / w->field->dx);
  const srNode by_y = srx_number(g, 1 / w->field->dy);
  const srNode above =
      srx_sub(g, srx_add(g, srx_mul(g, p.sx, w->x[k]), srx_mul(g, p.sy, w->y[l])), w->z[k][l]);  // of the centre
  const srNode along = srx_div(g, above, p.square);
  const srNode s = srx_mul(g, by_x, srx_sub(g, srx_mul(g, along, p.sx), w->x[k]));
  const srNode t = srx_mul(g, by_y, srx_sub(g, srx_mul(g, along, p.sy), w->y[l]));
  const srNode on = upper ? both(g, between(g, zero, s, t), srx_at_most(g, t, one))
                          : both(g, between(g, zero, t, s), srx_at_most(g, s, one));
  const srNode side = srx_if(g, srx_less(g, above, zero), srx_neg(g, p.up), p.up);
  Minimum* m = &w->item[w->n++];
  m->distance = srx_mul(g, side, above);
  m->ok = both(g, both(g, on, cell_in(w, k, l)), is_near(w, m->distance));
  m->n = (srVec){{srx_neg(g, srx_mul(g, side, p.sx)), srx_neg(g, srx_mul(g, side, p.sy)), side}};
  m->front = side;
  m->edge = srx_zero(g);
  m->bends = zero;
}

// Does no way from the point to the corner b, which is seen from the corner a, come nearer? `in`: where b is in the field.
static srNode holds(const Window* w, srVec point, srVec a, srVec b, srNode in) {
  srGraph* g = w->g;
  const double slack = POLAR * w->radius * fmin(w->field->dx, w->field->dy);
  const srNode rise = srx_dot3(g, point, srx_minus(g, b, a));
  return srx_if(g, in, srx_at_most(g, srx_number(g, -slack), rise), srx_number(g, 1));
}

// n, and which side of the triangles at the point it is on: by the sum of their normals.
static void put_normal(const Window* w, srVec point, const Triangle* at, int n, Minimum* m) {
  srGraph* g = w->g;
  m->distance = srx_norm(g, 3, point.x);
  m->n = srx_times(g, srx_div(g, srx_number(g, -1), srx_max(g, m->distance, srx_number(g, TINY))), point);
  m->bends = srx_number(g, 1);
  m->ok = both(g, m->ok, is_near(w, m->distance));
  m->front = srx_number(g, 0);
  for (int i = 0; i < n; i++) {
    const Plane p = plane_of(w, at[i]);
    const srNode slope = srx_add(g, srx_mul(g, p.sx, m->n.x[0]), srx_mul(g, p.sy, m->n.x[1]));
    const srNode along = srx_mul(g, p.up, srx_sub(g, m->n.x[2], slope));
    m->front = srx_add(g, m->front, srx_if(g, cell_in(w, at[i].k, at[i].l), along, srx_number(g, 0)));
  }
}

typedef struct Corner {
  int k, l;
} Corner;

// From a to b; the triangles on both sides have the corners c.
static void add_edge(Window* w, Corner a, Corner b, const Corner c[2], const Triangle of[2]) {
  srGraph* g = w->g;
  const srVec A = corner(w, a.k, a.l), e = srx_minus(g, corner(w, b.k, b.l), A);
  const srNode square = srx_dot3(g, e, e), s = srx_neg(g, srx_div(g, srx_dot3(g, A, e), square));
  const srVec point = srx_plus(g, A, srx_times(g, s, e));
  srNode any = srx_number(g, 0), ok = between(g, any, s, srx_number(g, 1));
  for (int i = 0; i < 2; i++) {
    const srNode in = cell_in(w, of[i].k, of[i].l);
    any = either(g, any, in);
    ok = both(g, ok, holds(w, point, A, corner(w, c[i].k, c[i].l), in));
  }
  Minimum* m = &w->item[w->n++];
  m->ok = both(g, ok, any);
  m->edge = srx_times(g, srx_div(g, srx_number(g, 1), srx_sqrt(g, square)), e);
  put_normal(w, point, of, 2, m);
}

static void add_corner(Window* w, int k, int l) {
  static const int spoke[6][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}};
  const Triangle around[6] = {{k, l, false},         {k, l, true},         {k - 1, l, false},
                              {k - 1, l - 1, false}, {k - 1, l - 1, true}, {k, l - 1, true}};
  const srVec A = corner(w, k, l);
  Minimum* m = &w->item[w->n++];
  m->ok = corner_in(w, k, l);
  for (int i = 0; i < 6; i++) {
    const int p = k + spoke[i][0], q = l + spoke[i][1];
    m->ok = both(w->g, m->ok, holds(w, A, A, corner(w, p, q), corner_in(w, p, q)));
  }
  m->edge = srx_zero(w->g);
  put_normal(w, A, around, 6, m);
}

// The border of the window is out of reach.
static void find_minima(Window* w) {
  for (int l = 0; l < w->cells[1]; l++) {
    for (int k = 0; k < w->cells[0]; k++) {
      add_face(w, k, l, false);
      add_face(w, k, l, true);
      add_edge(w, (Corner){k, l}, (Corner){k + 1, l + 1}, (Corner[]){{k + 1, l}, {k, l + 1}},
               (Triangle[]){{k, l, false}, {k, l, true}});
      if (l > 0)
        add_edge(w, (Corner){k, l}, (Corner){k + 1, l}, (Corner[]){{k + 1, l + 1}, {k, l - 1}},
                 (Triangle[]){{k, l, false}, {k, l - 1, true}});
      if (k > 0)
        add_edge(w, (Corner){k, l}, (Corner){k, l + 1}, (Corner[]){{k + 1, l + 1}, {k - 1, l}},
                 (Triangle[]){{k, l, true}, {k - 1, l, false}});
      if (k > 0 && l > 0) add_corner(w, k, l);
    }
  }
}

// ---- rounds -------------------------------------------------------------------------------------------------------------

static srVec choose(srGraph* g, srNode condition, srVec a, srVec b) {
  for (int i = 0; i < 3; i++) a.x[i] = srx_if(g, condition, a.x[i], b.x[i]);
  return a;
}

// The nearest of those that are open.
static Minimum nearest(const Window* w, srNode far) {
  srGraph* g = w->g;
  const srNode zero = srx_number(g, 0);
  Minimum best = {.ok = zero, .distance = far, .n = srx_zero(g), .edge = srx_zero(g), .bends = zero};
  for (int i = 0; i < w->n; i++) {
    const Minimum* m = &w->item[i];
    const srNode nearer = both(g, m->ok, srx_less(g, m->distance, best.distance));
    best.ok = either(g, best.ok, nearer);
    best.distance = srx_if(g, nearer, m->distance, best.distance);
    best.n = choose(g, nearer, m->n, best.n);
    best.edge = choose(g, nearer, m->edge, best.edge);
    best.bends = srx_if(g, nearer, m->bends, best.bends);
  }
  return best;
}

// As sr_surface_one; inside there is one contact.
static void close_cluster(Window* w, const Minimum* of, srNode inside) {
  srGraph* g = w->g;
  const srNode depth = srx_sub(g, srx_number(g, w->radius), of->distance);
  const srNode limit = srx_max(g, srx_number(g, SAME * SAME), srx_mul(g, srx_number(g, 8 / w->radius), depth));
  for (int i = 0; i < w->n; i++) {
    const srVec d = srx_minus(g, w->item[i].n, of->n);
    const srNode one = either(g, inside, srx_at_most(g, srx_dot3(g, d, d), limit));
    w->item[i].ok = both(g, w->item[i].ok, is_not(g, one));
  }
}

// ---- rounds that are loops ----------------------------------------------------------------------------------------------

// Arguments: the centre, the first corner, 1 or -1 where it is inside, 1: there may be something; normals of the rounds before and how near them is the same. State: what nearest() returns.
enum {
  ARG_CENTRE = 0,
  ARG_FIRST = 3,
  ARG_SIDE = 5,
  ARG_OPEN = 6,
  ARG_KEPT = 7,
  ARGS = ARG_KEPT + 4 * (ROUNDS - 1),
  STATES = 9
};

static srNode arg(srGraph* g, int i) { return sr_graph_var(g, SR_VAR_ARG, i); }

// 2 x 2 cells about the corner of a step.
static Window around(srGraph* g, const srHeightField* f, double radius) {
  Window w = {.g = g, .field = f, .radius = radius, .cells = {2, 2}};
  const srNode i = srx_add(g, arg(g, ARG_FIRST), sr_graph_var(g, SR_VAR_TIME, 0));
  const srNode j = srx_add(g, arg(g, ARG_FIRST + 1), sr_graph_var(g, SR_VAR_TIME, 1)), zero = srx_number(g, 0);
  srNode column[3], row[3];
  for (int k = 0; k < 3; k++) {
    column[k] = srx_add(g, i, srx_number(g, k - 1)), row[k] = srx_add(g, j, srx_number(g, k - 1));
    w.column[k] = between(g, zero, column[k], srx_number(g, f->nx - 1));
    w.row[k] = between(g, zero, row[k], srx_number(g, f->ny - 1));
    w.x[k] =
        srx_sub(g, srx_add(g, srx_number(g, f->x0), srx_mul(g, srx_number(g, f->dx), column[k])), arg(g, ARG_CENTRE));
    w.y[k] =
        srx_sub(g, srx_add(g, srx_number(g, f->y0), srx_mul(g, srx_number(g, f->dy), row[k])), arg(g, ARG_CENTRE + 1));
  }
  for (int k = 0; k < 3; k++) {
    for (int l = 0; l < 3; l++) w.z[k][l] = srx_sub(g, height(g, f, column[k], row[l]), arg(g, ARG_CENTRE + 2));
  }
  return w;
}

static void find_minima_of_corner(Window* w) {
  add_face(w, 1, 1, false);
  add_face(w, 1, 1, true);
  add_edge(w, (Corner){1, 1}, (Corner){2, 2}, (Corner[]){{2, 1}, {1, 2}}, (Triangle[]){{1, 1, false}, {1, 1, true}});
  add_edge(w, (Corner){1, 1}, (Corner){2, 1}, (Corner[]){{2, 2}, {1, 0}}, (Triangle[]){{1, 1, false}, {1, 0, true}});
  add_edge(w, (Corner){1, 1}, (Corner){1, 2}, (Corner[]){{2, 2}, {0, 1}}, (Triangle[]){{1, 1, true}, {0, 1, false}});
  add_corner(w, 1, 1);
}

srNode sr_sym_field_near(srGraph* g, const srHeightField* f, const srNode low[3], const srNode high[2], srNode i,
                         srNode j) {
  const srNode zero = srx_number(g, 0), one = srx_number(g, 1);
  const srNode i1 = srx_add(g, i, one), j1 = srx_add(g, j, one);
  const srNode x = srx_add(g, srx_number(g, f->x0), srx_mul(g, srx_number(g, f->dx), i));
  const srNode y = srx_add(g, srx_number(g, f->y0), srx_mul(g, srx_number(g, f->dy), j));
  const srNode most = srx_max(g, srx_max(g, height(g, f, i, j), height(g, f, i1, j)),
                              srx_max(g, height(g, f, i, j1), height(g, f, i1, j1)));
  const srNode in =
      both(g, between(g, zero, i, srx_number(g, f->nx - 1)), between(g, zero, j, srx_number(g, f->ny - 1)));
  const srNode along_x =
      both(g, srx_at_most(g, low[0], srx_add(g, x, srx_number(g, f->dx))), srx_at_most(g, x, high[0]));
  const srNode along_y =
      both(g, srx_at_most(g, low[1], srx_add(g, y, srx_number(g, f->dy))), srx_at_most(g, y, high[1]));
  return both(g, in, both(g, both(g, along_x, along_y), srx_at_most(g, low[2], most)));
}

static srNode is_some(srGraph* g, const srHeightField* f, double radius) {
  const srNode i = srx_add(g, arg(g, ARG_FIRST), sr_graph_var(g, SR_VAR_TIME, 0)), wide = srx_number(g, radius);
  const srNode j = srx_add(g, arg(g, ARG_FIRST + 1), sr_graph_var(g, SR_VAR_TIME, 1));
  srNode low[3], high[2];
  for (int k = 0; k < 3; k++) low[k] = srx_sub(g, arg(g, ARG_CENTRE + k), wide);
  for (int k = 0; k < 2; k++) high[k] = srx_add(g, arg(g, ARG_CENTRE + k), wide);
  return both(g, arg(g, ARG_OPEN), sr_sym_field_near(g, f, low, high, i, j));
}

static void put_step(srGraph* g, Window* w, srNode* out) {
  const srNode zero = srx_number(g, 0);
  srNode was[STATES];
  for (int i = 0; i < STATES; i++) was[i] = sr_graph_var(g, SR_VAR_RECORD, i);
  const Minimum before = {.ok = was[0],
                          .distance = was[1],
                          .n = {{was[2], was[3], was[4]}},
                          .edge = {{was[5], was[6], was[7]}},
                          .bends = was[8]};
  find_minima_of_corner(w);
  for (int i = 0; i < w->n; i++) {
    Minimum* m = &w->item[i];
    m->ok = both(g, m->ok, srx_at_most(g, zero, srx_mul(g, arg(g, ARG_SIDE), m->front)));
    for (int k = 0; k < ROUNDS - 1; k++) {
      const int at = ARG_KEPT + 4 * k;
      const srVec d = srx_minus(g, m->n, (srVec){{arg(g, at), arg(g, at + 1), arg(g, at + 2)}});
      m->ok = both(g, m->ok, srx_less(g, arg(g, at + 3), srx_dot3(g, d, d)));
    }
  }
  const srNode far = srx_if(g, before.ok, before.distance, srx_number(g, 2 * w->radius));
  Minimum best = nearest(w, far);
  best.ok = both(g, best.ok, arg(g, ARG_OPEN));  // the step may be for another lane
  const srNode stays = is_not(g, best.ok);
  best.ok = either(g, best.ok, before.ok);
  best.distance = srx_if(g, stays, before.distance, best.distance);
  best.n = choose(g, stays, before.n, best.n), best.edge = choose(g, stays, before.edge, best.edge);
  best.bends = srx_if(g, stays, before.bends, best.bends);
  out[0] = best.ok, out[1] = best.distance, out[8] = best.bends;
  for (int i = 0; i < 3; i++) out[2 + i] = best.n.x[i], out[5 + i] = best.edge.x[i];
}

static const srFold* loop_of(const srSymLaw* law, const srHeightField* f, double radius) {
  static const char about[] = "The nearest point of a height field to a ball, of one cell and its first corner";
  srSymFolds* folds = law->pass->tree->folds;
  srPool* pool = sr_sym_folds_pool(folds);
  const srFoldKey key = {.of = {about, f, NULL}, .n = 1, .number = &radius};
  const srFold* made = sr_sym_fold_find(folds, &key);
  if (made != NULL) return made;
  srFoldMaking x = {.fold = {.about = about, .narg = ARGS, .nstate = STATES, .n = {1, 1, 1, 1}},
                    .some = sr_graph_create(pool),
                    .step = sr_graph_create(pool)};
  srNode out[STATES];
  for (int i = 0; i < 2; i++) x.fold.n[i] = sr_sym_field_steps(f, i, radius);
  sr_graph_for_code(x.some), sr_graph_for_code(x.step);
  x.some_out = is_some(x.some, f, radius);
  Window* w = sr_pool_alloc(pool, sizeof *w);
  *w = around(x.step, f, radius);
  put_step(x.step, w, out);
  x.step_out = out;
  return sr_sym_fold_make(folds, &key, &x);
}

static srNode side_of(const Window* w, srVec centre, srNode* inside) {
  srGraph* g = w->g;
  *inside = is_inside(w, centre);
  return srx_sub(g, srx_number(g, 1), srx_mul(g, srx_number(g, 2), *inside));
}

static void find_rounds(const srSymLaw* law, const Window* w, srVec centre, srNode inside, srNode side,
                        Minimum* found) {
  srGraph* g = w->g;
  const srFold* loop = loop_of(law, w->field, w->radius);
  srNode all[ARGS];
  for (int i = 0; i < 3; i++) all[ARG_CENTRE + i] = centre.x[i];
  for (int i = 0; i < 2; i++) all[ARG_FIRST + i] = sr_sym_field_first(g, w->field, i, w->radius, centre.x[i]);
  all[ARG_SIDE] = side, all[ARG_OPEN] = srx_number(g, 1);
  for (int i = ARG_KEPT; i < ARGS; i++) all[i] = srx_number(g, -1);
  for (int k = 0; k < ROUNDS; k++) {
    const srNode fold = sr_graph_fold(g, loop, all, ARGS);
    srNode part[STATES];
    for (int i = 0; i < STATES; i++) part[i] = sr_graph_part(g, fold, i);
    found[k] = (Minimum){.ok = part[0],
                         .distance = part[1],
                         .n = {{part[2], part[3], part[4]}},
                         .edge = {{part[5], part[6], part[7]}},
                         .bends = part[8]};
    if (k + 1 == ROUNDS) return;
    const srNode depth = srx_sub(g, srx_number(g, w->radius), part[1]);
    for (int i = 0; i < 3; i++) all[ARG_KEPT + 4 * k + i] = found[k].n.x[i];
    all[ARG_KEPT + 4 * k + 3] = srx_max(g, srx_number(g, SAME * SAME), srx_mul(g, srx_number(g, 8 / w->radius), depth));
    all[ARG_OPEN] = both(g, part[0], is_not(g, inside));
  }
}

void sr_sym_ball_on_field(const srSymLaw* law, double radius, srVec centre, srSymTouch out[SR_SYM_ROUNDS]) {
  srGraph* g = law->pass->g;
  Window* w = sr_pool_alloc(law->pass->tree->pool, sizeof *w);
  Minimum found[ROUNDS];
  srNode inside;
  *w = (Window){.g = g, .field = field_of(law->element->contact), .radius = radius};
  const srNode side = side_of(w, centre, &inside);
  find_rounds(law, w, centre, inside, side, found);
  for (int k = 0; k < ROUNDS; k++) {
    const Minimum* m = &found[k];
    out[k] = (srSymTouch){.ok = m->ok,
                          .core = srx_mul(g, side, m->distance),
                          .n = srx_times(g, side, m->n),
                          .edge = m->edge,
                          .bends = m->bends};
  }
}

// ---- force --------------------------------------------------------------------------------------------------------------

typedef struct Sum {
  srNode count, N, G;
  srVec force, r, turning, first;  // first: the normal of the nearest
  srVec n[ROUNDS], arm[ROUNDS];
  srNode f[ROUNDS];
} Sum;

// side: 1, or -1 where the centre is inside.
static void add_contact(const srSymLaw* law, const Window* w, const srSymFrames* at, const Minimum* m, srNode side,
                        int k, Sum* sum) {
  srGraph* g = w->g;
  const srNode core = srx_mul(g, side, m->distance), radius = srx_number(g, w->radius), zero = srx_number(g, 0);
  const srNode gap = srx_sub(g, core, radius);
  const srVec n = srx_times(g, side, m->n);
  const srNode along = srx_dot3(g, n, at->u);
  sum->f[k] = sr_sym_normal_force(law, srx_if(g, m->ok, srx_neg(g, gap), zero), srx_neg(g, along));
  sum->arm[k] = srx_times(g, srx_neg(g, srx_add(g, radius, srx_mul(g, srx_number(g, 0.5), gap))), n);
  sum->n[k] = n;
  const srVec across = srx_minus(g, at->u, srx_times(g, along, n));
  const srVec turning = srx_minus(g, across, srx_times(g, srx_dot3(g, m->edge, at->u), m->edge));
  const srNode by = srx_if(g, srx_mul(g, m->ok, m->bends), srx_div(g, sum->f[k], core), zero);
  sum->count = srx_add(g, sum->count, m->ok);
  sum->N = srx_add(g, sum->N, sum->f[k]);
  sum->force = srx_plus(g, sum->force, srx_times(g, sum->f[k], n));
  sum->r = srx_plus(g, sum->r, srx_times(g, sum->f[k], sum->arm[k]));
  sum->turning = srx_plus(g, sum->turning, srx_times(g, by, turning));
}

// As find_normal of place_points.c.
static void finish(const srSymLaw* law, const srSymFrames* at, Sum* s, srSymPlace* out) {
  srGraph* g = law->pass->g;
  const srNode zero = srx_number(g, 0), one = srx_number(g, 1), tiny = srx_number(g, TINY);
  const srNode size = srx_norm(g, 3, s->force.x), distance = srx_norm(g, 3, at->x.x);
  const srNode apart = srx_positive(g, distance), touch = srx_positive(g, s->count), pressed = srx_positive(g, s->N);
  const srNode common = srx_less(g, srx_mul(g, srx_number(g, CANCEL), s->N), size);
  const srNode known = both(g, common, srx_less(g, one, s->count)), by = srx_div(g, one, srx_max(g, size, tiny));
  const srVec outward =
      choose(g, apart, srx_times(g, srx_div(g, one, srx_max(g, distance, tiny)), at->x), (srVec){{zero, zero, one}});
  out->n = choose(g, known, srx_times(g, by, s->force), choose(g, touch, s->first, outward));
  out->force = s->force, out->N = s->N;
  out->moment = srx_zero(g);
  const srNode share = srx_if(g, pressed, srx_div(g, one, srx_max(g, s->N, tiny)), zero);
  out->r = srx_times(g, share, s->r);
  out->turning = sr_sym_flat(g, out->n, srx_times(g, srx_if(g, common, by, zero), s->turning));
  srNode G = zero;
  for (int k = 0; k < ROUNDS; k++) {
    const srVec a = sr_sym_flat(g, out->n, srx_minus(g, s->arm[k], out->r));
    G = srx_add(g, G, srx_mul(g, s->f[k], srx_dot3(g, a, a)));
  }
  const srNode square = srx_if(g, srx_less(g, one, s->count), srx_mul(g, s->N, G), zero);
  const srNode gyration = srx_if(g, srx_positive(g, square), srx_sqrt(g, square), zero);
  out->N_spin = srx_add(g, gyration, srx_mul(g, srx_number(g, law->element->contact->lever), s->N));
}

// All minima of the window, in rounds.
static void add_rounds(const srSymLaw* law, Window* w, const srSymFrames* at, srNode inside, srNode side, Sum* sum) {
  srGraph* g = w->g;
  for (int i = 0; i < w->n; i++)  // seen from the front, or all of them from behind
    w->item[i].ok = both(g, w->item[i].ok, srx_at_most(g, srx_number(g, 0), srx_mul(g, side, w->item[i].front)));
  for (int k = 0; k < ROUNDS; k++) {
    const Minimum m = nearest(w, srx_number(g, 2 * w->radius));
    add_contact(law, w, at, &m, side, k, sum);
    if (k + 1 < ROUNDS) close_cluster(w, &m, inside);
  }
}

void sr_sym_place_field(const srSymLaw* law, const srSymFrames* at, srSymPlace* out) {
  srGraph* g = law->pass->g;
  const srSurfaceLaws* c = law->element->contact;
  Window* w = sr_pool_alloc(law->pass->tree->pool, sizeof *w);
  Sum* sum = sr_pool_alloc(law->pass->tree->pool, sizeof *sum);
  Minimum found[ROUNDS];
  *w = (Window){.g = g, .field = field_of(c), .radius = c->shape[1]->convex.radius};
  const bool written_out = is_written_out(w->field, w->radius);
  w->cells[0] = cells_of(2 * w->radius, w->field->dx), w->cells[1] = cells_of(2 * w->radius, w->field->dy);
  if (written_out) find_heights(w, at->x), find_minima(w);
  srNode inside;
  const srNode side = side_of(w, at->x, &inside), zero = srx_number(g, 0);
  *sum = (Sum){.count = zero, .N = zero, .force = srx_zero(g), .r = srx_zero(g), .turning = srx_zero(g)};
  if (written_out) {
    add_rounds(law, w, at, inside, side, sum);
  } else {
    find_rounds(law, w, at->x, inside, side, found);
    for (int k = 0; k < ROUNDS; k++) add_contact(law, w, at, &found[k], side, k, sum);
  }
  sum->first = sum->n[0];
  finish(law, at, sum, out);
}
