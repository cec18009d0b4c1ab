// Interpolating splines: cubic (C2) and quintic (C4).  de Boor, A Practical Guide to Splines (1978), chapter IV.
// With h_i = x_i+1 - x_i and D_i = y_i+1 - y_i:
//
// Cubic, unknown second derivatives M_i. Equal slopes of both pieces at an inner knot:
//   h_i-1 M_i-1 + 2 (h_i-1 + h_i) M_i + h_i M_i+1 = 6 (D_i/h_i - D_i-1/h_i-1)
// natural ends: M = 0; clamped ends (slope 0): 2 h_0 M_0 + h_0 M_1 = 6 D_0/h_0, and its mirror image. Diagonally
// dominant: the tridiagonal elimination needs no pivoting. Periodic ends: M = u + s w, where u is the natural spline, w solves the inner
// equations with right-hand side 0 and w_0 = w_n-1 = 1, and s = M_0 = M_n-1 follows from the equation of the knot where the ends meet. Not a knot: the third derivative is
// continuous at x_1 too, M_0 = M_1 + (M_1 - M_2) h_0/h_1, which is put into the equation of x_1; three points have a parabola, all M the same.
//
// Quintic, unknown first and second derivatives (m_i, k_i). A piece on [0, h] with values, m and k given at its ends is
//   y0 + m0 s + k0 s^2/2 + a3 s^3 + a4 s^4 + a5 s^5,
//   a3 = ( 20 D - (8 m1 + 12 m0) h - (3 k0 -   k1) h^2) / (2 h^3)
//   a4 = (-30 D + (14 m1 + 16 m0) h + (3 k0 - 2 k1) h^2) / (2 h^4)
//   a5 = ( 12 D - 6 (m1 + m0) h - (k0 - k1) h^2) / (2 h^5)
// Equal fourth and third derivatives at an inner knot (l = h_i-1 on the left, r = h_i on the right), with
// z_i = (m_i, k_i):   U_i-1^T z_i-1 + A_i z_i + U_i z_i+1 = b_i,
//   A_i = | 64 (1/l^3 + 1/r^3)   12 (1/r^2 - 1/l^2) |    U_i = | 56/r^3  -8/r^2 |    b_i = | 120 (D_i-1/l^4 + D_i/r^4) |
//         | 12 (1/r^2 - 1/l^2)    3 (1/l + 1/r)     |          |  8/r^2  -1/r   |          |  20 (D_i/r^3 - D_i-1/l^3) |
// These are the conditions for a minimum of the integral of (y''')^2, so the matrix is symmetric and positive definite:
// the block elimination needs no pivoting either.
#include "math/spline.h"

#include <stdbool.h>
#include <stddef.h>

// ------------------------------------------------------------------------------------------------------- evaluation

int srm_piece(int n, const double* x, double at) {
  int low = 0, high = n - 1;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (x[middle] <= at) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

double srm_polynomial(int degree, const double* c, double s, int order) {
  double sum = 0;
  for (int j = degree; j >= order; j--) {
    double factor = 1;  // j (j-1) ... (j-order+1)
    for (int k = 0; k < order; k++) factor *= j - k;
    sum = sum * s + factor * c[j];
  }
  return sum;
}

double srm_piecewise(const srPiecewise* p, double x, int order) {
  int i = srm_piece(p->n, p->x, x);
  return srm_polynomial(p->degree, p->c + i * (p->degree + 1), x - p->x[i], order);
}

// ------------------------------------------------------------------------------------------------------------ cubic

// Row i of the tridiagonal system: lower a, diagonal b, upper c, right-hand side d.
typedef struct Row {
  double a, b, c, d;
} Row;

static Row cubic_row(int n, const double* x, const double* y, srmSplineEnds ends, int i) {
  bool first = i == 0, last = i == n - 1;
  if ((first || last) && ends != SRM_ENDS_CLAMPED) return (Row){0, 1, 0, 0};
  double l = first ? 0 : x[i] - x[i - 1], slope_l = first ? 0 : (y[i] - y[i - 1]) / l;
  double r = last ? 0 : x[i + 1] - x[i], slope_r = last ? 0 : (y[i + 1] - y[i]) / r;
  const Row row = {l, 2 * (l + r), r, 6 * (slope_r - slope_l)};
  if (ends != SRM_ENDS_NOT_A_KNOT || (i > 1 && i < n - 2)) return row;
  if (n == 3) return (Row){0, 3 * (l + r), 0, row.d};
  if (i == 1) return (Row){0, row.b + l * (1 + l / r), r - l * l / r, row.d};
  return (Row){l - r * r / l, row.b + r * (1 + r / l), 0, row.d};
}

// M_0 and M_n-1 from those within; two points have a line.
static void extend_ends(int n, const double* x, double* M) {
  if (n < 3) return;
  if (n == 3) {
    M[0] = M[2] = M[1];
    return;
  }
  M[0] = M[1] + (M[1] - M[2]) * (x[1] - x[0]) / (x[2] - x[1]);
  M[n - 1] = M[n - 2] + (M[n - 2] - M[n - 3]) * (x[n - 1] - x[n - 2]) / (x[n - 2] - x[n - 3]);
}

// M of natural or clamped ends, and of the inner knots where the ends have no condition.
static void second_derivatives(int n, const double* x, const double* y, srmSplineEnds ends, double* upper, double* M) {
  for (int i = 0; i < n; i++) {  // elimination
    Row row = cubic_row(n, x, y, ends, i);
    double pivot = row.b - (i > 0 ? row.a * upper[i - 1] : 0);
    upper[i] = row.c / pivot;
    M[i] = (row.d - (i > 0 ? row.a * M[i - 1] : 0)) / pivot;
  }
  for (int i = n - 2; i >= 0; i--) M[i] -= upper[i] * M[i + 1];
}

// M of periodic ends from those of the natural spline; upper is what its elimination has left.
static void close_ends(int n, const double* x, const double* y, const double* upper, double* w, double* M) {
  const double l = x[n - 1] - x[n - 2], r = x[1] - x[0];
  w[0] = w[n - 1] = 1;
  for (int i = 1; i < n - 1; i++) {
    const double a = x[i] - x[i - 1], b = 2 * (x[i + 1] - x[i - 1]);
    w[i] = -a * w[i - 1] / (b - a * upper[i - 1]);
  }
  for (int i = n - 2; i > 0; i--) w[i] -= upper[i] * w[i + 1];
  const double jump = 6 * ((y[1] - y[0]) / r - (y[n - 1] - y[n - 2]) / l);
  const double s = (jump - l * M[n - 2] - r * M[1]) / (2 * (l + r) + l * w[n - 2] + r * w[1]);
  for (int i = 0; i < n; i++) M[i] += s * w[i];
}

void srm_spline_cubic(int n, const double* x, const double* y, srmSplineEnds ends, double* work, double* c) {
  double *M = work, *upper = work + n;
  second_derivatives(n, x, y, ends, upper, M);
  if (ends == SRM_ENDS_NOT_A_KNOT) extend_ends(n, x, M);
  if (ends == SRM_ENDS_PERIODIC) close_ends(n, x, y, upper, work + 2 * n, M);
  for (int i = 0; i < n - 1; i++) {
    double h = x[i + 1] - x[i];
    c[4 * i] = y[i];
    c[4 * i + 1] = (y[i + 1] - y[i]) / h - h * (2 * M[i] + M[i + 1]) / 6;
    c[4 * i + 2] = M[i] / 2;
    c[4 * i + 3] = (M[i + 1] - M[i]) / (6 * h);
  }
}

// ---------------------------------------------------------------------------------------------------------- quintic

// What is kept of a knot: the inverse of its reduced diagonal block (symmetric), and its right-hand side, later m and k.
typedef struct Knot {
  double s11, s12, s22;
  double m, k;
} Knot;

// U z of the interval h.
static void upper_times(double h, double m, double k, double* zm, double* zk) {
  *zm = 56 / (h * h * h) * m - 8 / (h * h) * k;
  *zk = 8 / (h * h) * m - k / h;
}

// U^T z of the interval h.
static void lower_times(double h, double m, double k, double* zm, double* zk) {
  *zm = 56 / (h * h * h) * m + 8 / (h * h) * k;
  *zk = -8 / (h * h) * m - k / h;
}

static void solve_block(const Knot* s, double m, double k, double* zm, double* zk) {
  *zm = s->s11 * m + s->s12 * k;
  *zk = s->s12 * m + s->s22 * k;
}

// U^T S^-1 U of the interval h, subtracted from the block (a11, a12, a22).
static void reduce_block(const Knot* previous, double h, double* a11, double* a12, double* a22) {
  double m, k, u, v;
  upper_times(h, 1, 0, &m, &k);
  solve_block(previous, m, k, &m, &k);
  lower_times(h, m, k, &u, &v);
  *a11 -= u;
  *a12 -= v;
  upper_times(h, 0, 1, &m, &k);
  solve_block(previous, m, k, &m, &k);
  lower_times(h, m, k, &u, &v);
  *a22 -= v;
}

// Eliminates the knot before this one and inverts what is left of the block.
static void eliminate(const double* x, const double* y, int i, const Knot* previous, Knot* knot) {
  double l = x[i] - x[i - 1], r = x[i + 1] - x[i], Dl = y[i] - y[i - 1], Dr = y[i + 1] - y[i];
  double l2 = l * l, l3 = l2 * l, r2 = r * r, r3 = r2 * r;
  double a11 = 64 * (1 / l3 + 1 / r3), a12 = 12 * (1 / r2 - 1 / l2), a22 = 3 * (1 / l + 1 / r);
  double bm = 120 * (Dl / l3 / l + Dr / r3 / r), bk = 20 * (Dr / r3 - Dl / l3);
  if (previous) {
    double m, k;
    reduce_block(previous, l, &a11, &a12, &a22);
    solve_block(previous, previous->m, previous->k, &m, &k);
    lower_times(l, m, k, &m, &k);
    bm -= m;
    bk -= k;
  }
  double determinant = a11 * a22 - a12 * a12;
  *knot = (Knot){a22 / determinant, -a12 / determinant, a11 / determinant, bm, bk};
}

static void quintic_piece(double h, double y0, double y1, const Knot* z0, const Knot* z1, double* c) {
  double D = y1 - y0, m0 = z0->m * h, m1 = z1->m * h, k0 = z0->k * h * h, k1 = z1->k * h * h;
  c[0] = y0;
  c[1] = z0->m;
  c[2] = z0->k / 2;
  c[3] = (20 * D - (8 * m1 + 12 * m0) - (3 * k0 - k1)) / 2 / (h * h * h);
  c[4] = (-30 * D + (14 * m1 + 16 * m0) + (3 * k0 - 2 * k1)) / 2 / (h * h * h) / h;
  c[5] = (12 * D - 6 * (m1 + m0) - (k0 - k1)) / 2 / (h * h * h) / (h * h);
}

void srm_spline_quintic(int n, const double* x, const double* y, double* work, double* c) {
  Knot* knot = (Knot*)work;
  knot[0] = knot[n - 1] = (Knot){0, 0, 0, 0, 0};  // m = k = 0 at the ends
  for (int i = 1; i < n - 1; i++) eliminate(x, y, i, i > 1 ? &knot[i - 1] : NULL, &knot[i]);
  for (int i = n - 2; i >= 1; i--) {  // z_i = S_i^-1 (b_i - U_i z_i+1)
    double m, k;
    upper_times(x[i + 1] - x[i], knot[i + 1].m, knot[i + 1].k, &m, &k);
    solve_block(&knot[i], knot[i].m - m, knot[i].k - k, &knot[i].m, &knot[i].k);
  }
  for (int i = 0; i < n - 1; i++) quintic_piece(x[i + 1] - x[i], y[i], y[i + 1], &knot[i], &knot[i + 1], c + 6 * i);
}
