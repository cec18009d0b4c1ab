// Tensor products of splines.  de Boor, A Practical Guide to Splines (1978), chapter XVII.
// Interpolation along a line is linear in the values, so that S_x, which maps the values along x to the coefficients of their pieces, and
// S_y commute, and S_x S_y z interpolates z_ik:
//   1. along x, for every y_k:            a_ij(y_k),  the coefficients of s^j, s = x - x_i, of piece i
//   2. along y, for every i and j:        c_ikjl,     the coefficients of t^l, t = y - y_k, of the spline through a_ij(y_k), k = 0 .. ny-1
// Continuity and ends are those of the two splines: a product of cubic ones is C2, mixed derivatives up to d^4/dx^2 dy^2 included.
#include "math/spline2.h"

static int larger(int a, int b) { return a > b ? a : b; }

double srm_piecewise2(const srPiecewise2* p, double x, double y, int order_x, int order_y) {
  const int i = srm_piece(p->nx, p->x, x), k = srm_piece(p->ny, p->y, y), m = p->degree + 1;
  const double* c = p->c + ((size_t)i * (size_t)(p->ny - 1) + (size_t)k) * (size_t)(m * m);
  double along_y[SRM_SPLINE2_DEGREE + 1];
  for (int j = 0; j < m; j++) along_y[j] = srm_polynomial(p->degree, c + j * m, y - p->y[k], order_y);
  return srm_polynomial(p->degree, along_y, x - p->x[i], order_x);
}

// Coefficients (n-1 x degree+1) through the values of one line. work: 3 n.
static void interpolate(int degree, int n, const double* x, const double* y, srmSplineEnds ends, double* work,
                        double* c) {
  if (degree == 3) {
    srm_spline_cubic(n, x, y, ends, work, c);
    return;
  }
  for (int i = 0; i < n - 1; i++) {
    c[2 * i] = y[i];
    c[2 * i + 1] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
  }
}

size_t srm_spline2_coefficients(const srPiecewise2* p) {
  const size_t m = (size_t)p->degree + 1;
  return (size_t)(p->nx - 1) * (size_t)(p->ny - 1) * m * m;
}

// a, and of one line: its values, its coefficients, the work of the spline.
size_t srm_spline2_work(const srPiecewise2* p) {
  const size_t m = (size_t)p->degree + 1, line = (size_t)larger(p->nx, p->ny);
  return (size_t)(p->nx - 1) * m * (size_t)p->ny + (1 + m + 3) * line;
}

void srm_spline2(const srPiecewise2* p, const double* z, const srmSplineEnds ends[2], double* work, double* c) {
  const int m = p->degree + 1, ny = p->ny, na = (p->nx - 1) * m;
  const size_t line = (size_t)larger(p->nx, ny);
  double *a = work, *value = a + (size_t)na * (size_t)ny, *piece = value + line, *rest = piece + line * (size_t)m;
  for (int k = 0; k < ny; k++) {
    for (int i = 0; i < p->nx; i++) value[i] = z[(size_t)i * (size_t)ny + (size_t)k];
    interpolate(p->degree, p->nx, p->x, value, ends[0], rest, piece);
    for (int ij = 0; ij < na; ij++) a[(size_t)ij * (size_t)ny + (size_t)k] = piece[ij];
  }
  for (int ij = 0; ij < na; ij++) {
    interpolate(p->degree, ny, p->y, a + (size_t)ij * (size_t)ny, ends[1], rest, piece);
    for (int k = 0; k < ny - 1; k++) {
      double* cell = c + ((size_t)(ij / m) * (size_t)(ny - 1) + (size_t)k) * (size_t)(m * m);
      for (int l = 0; l < m; l++) cell[ij % m * m + l] = piece[k * m + l];
    }
  }
}
