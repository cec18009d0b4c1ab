// Motions (expr/motion.c) and tables of two arguments (expr/table2.c) as arithmetic on the graph: the piece that holds x is found by bisection among the knots,
//   i_0 = 0,   i_k+1 = max(i_k, j) where x_j <= x,   j = min(i_k + 2^(K-k), n - 2)
// with knots and coefficients looked up; there are no branches. Corners need none either: code takes the piece that x is in.
#include "symbolic/interpolate.h"

#include <math.h>

#include "expr/motion.h"
#include "expr/table2.h"

static srNode number(srGraph* g, double x) { return srx_number(g, x); }
static srNode lookup(srGraph* g, const double* table, int n, srNode at) { return sr_graph_lookup(g, table, n, at); }

static srNode piece_at(srGraph* g, const double* knot, int n, srNode x) {
  srNode i = number(g, 0);
  int step = 1;
  while (2 * step <= n - 2) step *= 2;
  for (; step > 0 && n > 2; step /= 2) {
    const srNode j = srx_min(g, srx_add(g, i, number(g, step)), number(g, n - 2));
    i = srx_if(g, srx_at_most(g, lookup(g, knot, n, j), x), j, i);
  }
  return i;
}

// j!/(j - order)!
static double falling(int j, int order) {
  double x = 1;
  for (int k = 0; k < order; k++) x *= j - k;
  return x;
}

// ---- motions ------------------------------------------------------------------------------------------------------------

static srNode polynomial(srGraph* g, const srPiecewise* p, srNode x, int order) {
  const int n = p->degree + 1, all = (p->n - 1) * n;
  const srNode i = piece_at(g, p->x, p->n, x), s = srx_sub(g, x, lookup(g, p->x, p->n, i));
  const srNode first = srx_mul(g, number(g, n), i);
  srNode sum = number(g, 0);
  for (int j = p->degree; j >= order; j--) {
    const srNode c = lookup(g, p->c, all, srx_add(g, first, number(g, j)));
    sum = srx_add(g, srx_mul(g, sum, s), srx_mul(g, number(g, falling(j, order)), c));
  }
  return sum;
}

static srNode pieces(srGraph* g, const srMotionView* m, int order, srNode x) {
  const srPiecewise* p = m->pieces;
  const double begin = p->x[0], end = p->x[p->n - 1];
  if (m->period > 0) {
    const srNode turn = srx_1(g, SR_OP_FLOOR, srx_mul(g, number(g, 1 / m->period), srx_sub(g, x, number(g, begin))));
    return polynomial(g, p, srx_sub(g, x, srx_mul(g, number(g, m->period), turn)), order);
  }
  const srNode before = srx_less(g, x, number(g, begin)), after = srx_less(g, number(g, end), x);
  srNode low = number(g, 0), high = low;
  if (m->hold && order == 0) low = number(g, m->first), high = number(g, m->last);
  if (!m->hold && order < 2) {  // along the end tangents
    const srNode slope[2] = {number(g, srm_piecewise(p, begin, 1)), number(g, srm_piecewise(p, end, 1))};
    low =
        order == 1 ? slope[0] : srx_add(g, number(g, m->first), srx_mul(g, slope[0], srx_sub(g, x, number(g, begin))));
    high = order == 1 ? slope[1] : srx_add(g, number(g, m->last), srx_mul(g, slope[1], srx_sub(g, x, number(g, end))));
  }
  return srx_if(g, before, low, srx_if(g, after, high, polynomial(g, p, x, order)));
}

// Derivative of sin(phase), phase' = w, phase'' = dw: as in expr/motion.c.
static srNode sine_derivative(srGraph* g, srNode phase, srNode w, double dw, int order) {
  srNode S = srx_1(g, SR_OP_SIN, phase), C = srx_1(g, SR_OP_COS, phase), S_before = number(g, 0), C_before = S_before;
  for (int n = 0; n < order; n++) {
    const srNode more = number(g, n * dw);
    const srNode S_next = srx_add(g, srx_mul(g, w, C), srx_mul(g, more, C_before));
    const srNode C_next = srx_neg(g, srx_add(g, srx_mul(g, w, S), srx_mul(g, more, S_before)));
    S_before = S, C_before = C;
    S = S_next, C = C_next;
  }
  return S;
}

static srNode sweep(srGraph* g, const srMotionView* m, int order, srNode x) {
  const double two_pi = 6.28318530717958647692, T = m->duration, rate = (m->f1 - m->f0) / T;
  const srNode s = srx_sub(g, x, number(g, m->x0));
  const srNode now = srx_mul(g, srx_add(g, number(g, m->f0), srx_mul(g, number(g, rate / 2), s)), s);
  const srNode w = srx_mul(g, number(g, two_pi), srx_add(g, number(g, m->f0), srx_mul(g, number(g, rate), s)));
  const srNode rising = sine_derivative(g, srx_mul(g, number(g, two_pi), now), w, two_pi * rate, order);
  const srNode later =
      srx_add(g, number(g, (m->f0 + m->f1) / 2 * T), srx_mul(g, number(g, m->f1), srx_sub(g, s, number(g, T))));
  const srNode tone = sine_derivative(g, srx_mul(g, number(g, two_pi), later), number(g, two_pi * m->f1), 0, order);
  const srNode sound = srx_if(g, srx_at_most(g, s, number(g, T)), rising, tone);
  return srx_if(g, srx_less(g, s, number(g, 0)), number(g, 0), srx_mul(g, number(g, m->amplitude), sound));
}

static srNode motion(srGraph* g, const srMotionView* m, int order, srNode x) {
  return m->pieces ? pieces(g, m, order, x) : sweep(g, m, order, x);
}

bool sr_sym_motion_known(const srFunction* f) {
  srMotionView m;
  return sr_motion_view(f, &m);
}

srNode sr_sym_motion(srGraph* g, const srFunction* f, int order, srNode x) {
  srMotionView m;
  return sr_motion_view(f, &m) ? motion(g, &m, order, x) : SR_NO_NODE;
}

// ---- tables -------------------------------------------------------------------------------------------------------------

// One axis: the derivative there is a sum of at most two terms, weight * (derivative of this order), where `in` is not 0.
typedef struct Axis {
  srNode piece, s, in;
  int n, order[2];
  srNode weight[2];
} Axis;

static Axis axis_of(srGraph* g, const double* knot, int n, srmSplineEnds ends, srNode x, int order) {
  const double begin = knot[0], end = knot[n - 1], period = end - begin;
  const srNode one = number(g, 1);
  Axis a = {.in = one, .n = 1, .order = {order, 1}, .weight = {one}};
  const srNode inside = srx_max(g, number(g, begin), srx_min(g, x, number(g, end)));
  srNode at = inside;
  if (ends == SRM_ENDS_PERIODIC) {
    const srNode turn = srx_1(g, SR_OP_FLOOR, srx_mul(g, number(g, 1 / period), srx_sub(g, x, number(g, begin))));
    const srNode beyond = srx_sub(g, x, srx_mul(g, number(g, period), turn));
    at = srx_if(g, srx_2(g, SR_OP_EQ, x, inside), x, beyond);
  } else if (ends == SRM_ENDS_NATURAL && order == 0) {
    a.n = 2, a.weight[1] = srx_sub(g, x, inside);
  } else if (order > (ends == SRM_ENDS_NATURAL ? 1 : 0)) {
    a.in = srx_2(g, SR_OP_EQ, x, inside);
  }
  a.piece = piece_at(g, knot, n, at);
  a.s = srx_sub(g, at, lookup(g, knot, n, a.piece));
  return a;
}

static srNode polynomial2(srGraph* g, const srPiecewise2* p, const Axis* a, const Axis* b, int order_x, int order_y) {
  const int n = p->degree + 1, all = (p->nx - 1) * (p->ny - 1) * n * n;
  const srNode cell = srx_add(g, srx_mul(g, number(g, p->ny - 1), a->piece), b->piece);
  const srNode first = srx_mul(g, number(g, n * n), cell);
  srNode sum = number(g, 0);
  for (int j = p->degree; j >= order_x; j--) {
    srNode row = number(g, 0);
    for (int l = p->degree; l >= order_y; l--) {
      const srNode c = lookup(g, p->c, all, srx_add(g, first, number(g, j * n + l)));
      row = srx_add(g, srx_mul(g, row, b->s), srx_mul(g, number(g, falling(l, order_y)), c));
    }
    sum = srx_add(g, srx_mul(g, sum, a->s), srx_mul(g, number(g, falling(j, order_x)), row));
  }
  return sum;
}

bool sr_sym_table_known(const srFunction2* f) {
  srMotionView m;
  srTableView t;
  return sr_motion_piece_view(f, &m) || sr_table2_view(f, &t);
}

srNode sr_sym_table(srGraph* g, const srFunction2* f, int orders, srNode x, srNode y) {
  const int order_x = SR_ORDER_X(orders), order_y = SR_ORDER_Y(orders);
  srMotionView m;
  srTableView t;
  if (sr_motion_piece_view(f, &m)) return order_x > 0 ? number(g, 0) : motion(g, &m, order_y, y);
  if (!sr_table2_view(f, &t)) return SR_NO_NODE;
  const srPiecewise2* p = t.pieces;
  const Axis a = axis_of(g, p->x, p->nx, t.ends[0], x, order_x), b = axis_of(g, p->y, p->ny, t.ends[1], y, order_y);
  srNode sum = number(g, 0);
  for (int i = 0; i < a.n; i++) {
    for (int k = 0; k < b.n; k++) {
      const srNode value = polynomial2(g, p, &a, &b, a.order[i], b.order[k]);
      sum = srx_add(g, sum, srx_mul(g, srx_mul(g, a.weight[i], b.weight[k]), value));
    }
  }
  return srx_if(g, srx_mul(g, a.in, b.in), sum, number(g, 0));
}
