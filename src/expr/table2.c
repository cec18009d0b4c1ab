// Tables of two arguments: math/spline2.c inside the grid. Beyond it every argument for itself is continued as a motion is (expr/motion.c), so
// that a derivative there is a sum of derivatives at the edge:
//   natural    f(x) = f(e) + f'(e) (x - e),  f' = f'(e),  f'' = 0         e: the nearest end
//   clamped    f(x) = f(e),                  f' = f'' = 0
//   periodic   f(x) = f(x - n T)
#include "expr/table2.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/expr.h"
#include "expr/motion.h"

typedef struct Table {
  srPiecewise2 pieces;
  srmSplineEnds ends[2];
} Table;

// weight * (derivative of this order at `at`)
typedef struct Term {
  double at, weight;
  int order;
} Term;

// The derivative of this order at x, as a sum of at most two terms on the grid; returns their number.
static int terms_of(const double* knot, int n, srmSplineEnds ends, double x, int order, Term out[2]) {
  const double begin = knot[0], end = knot[n - 1], period = end - begin;
  out[0] = (Term){x, 1, order};
  if (x >= begin && x <= end) return 1;
  if (ends == SRM_ENDS_PERIODIC) {
    out[0].at = x - period * floor((x - begin) / period);
    return 1;
  }
  const double edge = x < begin ? begin : end;
  out[0].at = edge;
  out[1] = (Term){edge, x - edge, 1};
  if (order == 0) return ends == SRM_ENDS_NATURAL ? 2 : 1;
  return order == 1 && ends == SRM_ENDS_NATURAL ? 1 : 0;
}

static double evaluate(const void* self, double x, double y, int order_x, int order_y) {
  const Table* table = self;
  const srPiecewise2* p = &table->pieces;
  Term a[2], b[2];
  if (isnan(x) || isnan(y)) return x + y;
  const int na = terms_of(p->x, p->nx, table->ends[0], x, order_x, a);
  const int nb = terms_of(p->y, p->ny, table->ends[1], y, order_y, b);
  double sum = 0;
  for (int i = 0; i < na; i++)
    for (int k = 0; k < nb; k++)
      sum += a[i].weight * b[k].weight * srm_piecewise2(p, a[i].at, b[k].at, a[i].order, b[k].order);
  return sum;
}

// ----------------------------------------------------------------------------------------------------------- checks

bool sr_table2_axis(const double* x, int n, const char* name, char* reason, size_t size) {
  char before[SR_NUMBER_TEXT], here[SR_NUMBER_TEXT];
  if (n < 2) {
    snprintf(reason, size, "a table needs at least 2 values of %s, got %d", name, n);
    return false;
  }
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      snprintf(reason, size, "value %d of %s is not a finite number", i + 1, name);
      return false;
    }
    if (i == 0 || x[i] > x[i - 1]) continue;
    sr_number_text(x[i - 1], before, sizeof before);
    sr_number_text(x[i], here, sizeof here);
    snprintf(reason, size, "the values of %s must be in increasing order, each once: value %d is %s, after %s", name,
             i + 1, here, before);
    return false;
  }
  return true;
}

// The largest |z|; NaN with a sentence when one is not finite.
static double largest(const srTable2* t, char* reason, size_t size) {
  double most = 0;
  for (int i = 0; i < t->nx * t->ny; i++) {
    if (!isfinite(t->z[i])) {
      snprintf(reason, size, "value %d for value %d of x is not a finite number", i % t->ny + 1, i / t->ny + 1);
      return (double)NAN;
    }
    most = fmax(most, fabs(t->z[i]));
  }
  return most;
}

// Periodic in one argument: the values at its last knot are those at its first, up to the rounding of formulas.
static bool is_closed(const srTable2* t, int axis, double most, char* reason, size_t size) {
  const int n = axis == 0 ? t->ny : t->nx, step = axis == 0 ? 1 : t->ny;
  const int last = axis == 0 ? (t->nx - 1) * t->ny : t->ny - 1;
  for (int i = 0; i < n; i++) {
    const double a = t->z[i * step], b = t->z[i * step + last];
    if (fabs(b - a) <= 1e-12 * most) continue;
    char first_text[SR_NUMBER_TEXT], last_text[SR_NUMBER_TEXT];
    sr_number_text(a, first_text, sizeof first_text);
    sr_number_text(b, last_text, sizeof last_text);
    snprintf(
        reason, size,
        "periodic in %s, the values at its first and last value are the same; for value %d of %s they are %s and %s",
        axis == 0 ? "x" : "y", i + 1, axis == 0 ? "y" : "x", first_text, last_text);
    return false;
  }
  return true;
}

static const double* copy(srPool* pool, const double* x, int n) {
  double* made = sr_pool_alloc(pool, (size_t)n * sizeof *made);
  memcpy(made, x, (size_t)n * sizeof *made);
  return made;
}

bool sr_table2(srPool* pool, const srTable2* t, srFunction2* out, char* reason, size_t size) {
  const double most = largest(t, reason, size);
  if (isnan(most)) return false;
  for (int axis = 0; axis < 2; axis++)
    if (t->ends[axis] == SRM_ENDS_PERIODIC && !is_closed(t, axis, most, reason, size)) return false;
  Table* table = sr_pool_alloc(pool, sizeof *table);
  *table = (Table){.pieces = {t->nx, t->ny, t->cubic ? 3 : 1, copy(pool, t->x, t->nx), copy(pool, t->y, t->ny), NULL},
                   .ends = {t->ends[0], t->ends[1]}};
  const size_t n = srm_spline2_coefficients(&table->pieces);
  double* work = sr_pool_alloc(pool, srm_spline2_work(&table->pieces) * sizeof *work);
  double* c = sr_pool_alloc(pool, n * sizeof *c);
  srm_spline2(&table->pieces, t->z, t->ends, work, c);
  table->pieces.c = c;
  for (size_t i = 0; i < n; i++) {
    if (isfinite(c[i])) continue;
    snprintf(reason, size, "the values of x or y are too close to each other, or the values too large, to interpolate");
    return false;
  }
  *out = (srFunction2){.name = out->name, .evaluate = evaluate, .self = table};
  return true;
}

bool sr_table2_view(const srFunction2* function, srTableView* out) {
  const Table* table = function->self;
  if (function->evaluate != evaluate) return false;
  *out = (srTableView){&table->pieces, {table->ends[0], table->ends[1]}};
  return true;
}

// ---------------------------------------------------------------------------------------------------------- corners

// One axis of a table, or the table by its values at knots or its slopes between them along one axis or both.
typedef struct Part {
  const Table* table;
  int axis;
  int part[2];
} Part;

typedef struct Axis {
  int n;
  const double* x;
  srmSplineEnds ends;
} Axis;

static Axis axis_of(const Table* table, int axis) {
  const srPiecewise2* p = &table->pieces;
  return axis == 0 ? (Axis){p->nx, p->x, table->ends[0]} : (Axis){p->ny, p->y, table->ends[1]};
}

static double place(const void* self, double x, int order) {
  const Part* part = self;
  const Axis a = axis_of(part->table, part->axis);
  if (order > 0 || isnan(x)) return order > 0 ? 0 : x;
  if (a.ends != SRM_ENDS_PERIODIC) return sr_place(a.n, a.x, a.ends == SRM_ENDS_NATURAL, x);
  const double period = a.x[a.n - 1] - a.x[0], turn = floor((x - a.x[0]) / period);
  return turn * (a.n - 1) + fmax(0, sr_place(a.n, a.x, false, x - turn * period));
}

// The corner where cell k begins: the first one also for the cell before it.
static double knot_of(const Axis* a, double k) {
  const double period = a->x[a->n - 1] - a->x[0];
  if (a->ends != SRM_ENDS_PERIODIC) return a->x[k <= 0 ? 0 : k >= a->n - 1 ? a->n - 1 : (int)k];
  const double turn = floor(k / (a->n - 1));
  return turn * period + a->x[(int)(k - turn * (a->n - 1))];
}

static double knot(const void* self, double k, int order) {
  const Part* part = self;
  const Axis a = axis_of(part->table, part->axis);
  return order > 0 ? 0 : isnan(k) ? k : knot_of(&a, k);
}

// Where along an axis the table is evaluated for its cell k; the order of the derivative there. False: it is 0.
static bool in_cell(const Part* self, int axis, double* k, int* order) {
  const Axis a = axis_of(self->table, axis);
  if (self->part[axis] == SR_TABLE_WHOLE) return true;
  if (*order > 0) return false;
  const double begin = knot_of(&a, *k);
  if (self->part[axis] == SR_TABLE_SLOPE) {
    if (a.ends == SRM_ENDS_CLAMPED && (*k < 0 || *k >= a.n - 1)) return false;
    *order = 1;
    *k = begin + 0.5 * (knot_of(&a, *k + 1) - begin);  // inside, where the slope is that of the cell
  } else {
    *k = begin;
  }
  return true;
}

static double part_of(const void* self, double x, double y, int order_x, int order_y) {
  const Part* part = self;
  if (isnan(x) || isnan(y)) return x + y;
  if (!in_cell(part, 0, &x, &order_x) || !in_cell(part, 1, &y, &order_y)) return 0;
  return evaluate(part->table, x, y, order_x, order_y);
}

static const Part* new_part(srPool* pool, Part x) {
  Part* part = sr_pool_alloc(pool, sizeof *part);
  *part = x;
  return part;
}

bool sr_table2_parts(srPool* pool, const srFunction2* function, srTableParts* out) {
  const Table* table = function->self;
  bool any = false;
  *out = (srTableParts){0};
  for (int axis = 0; axis < 2 && table->pieces.degree == 1; axis++) {
    const Axis a = axis_of(table, axis);
    if (a.ends == SRM_ENDS_NATURAL && a.n == 2) continue;  // one line
    const Part* part = new_part(pool, (Part){.table = table, .axis = axis});
    out->place[axis] = (srFunction){.evaluate = place, .self = part};
    out->knot[axis] = (srFunction){.evaluate = knot, .self = part};
    any = true;
  }
  for (int i = 0; i < SR_TABLE_PARTS; i++) {
    for (int k = 0; k < SR_TABLE_PARTS; k++) {
      out->part[i][k] =
          (srFunction2){.evaluate = part_of, .self = new_part(pool, (Part){.table = table, .part = {i, k}})};
    }
  }
  return any;
}
