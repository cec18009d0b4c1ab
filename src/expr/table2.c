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
