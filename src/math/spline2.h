// Interpolation on a rectangular grid: tensor products of piecewise polynomials.
#ifndef SR_MATH_SPLINE2_H
#define SR_MATH_SPLINE2_H

#include <stddef.h>

#include "math/spline.h"

#define SRM_SPLINE2_DEGREE 3  // the largest

// On the cell [x_i, x_i+1] x [y_k, y_k+1]: sum over j, l of c_ikjl (x - x_i)^j (y - y_k)^l. The outer cells go on beyond the edges.
typedef struct srPiecewise2 {
  int nx, ny;           // knots, >= 2
  int degree;           // in x and in y: 1 or 3
  const double *x, *y;  // knots, strictly increasing
  const double* c;      // coefficients (nx-1 x ny-1 x degree+1 x degree+1)
} srPiecewise2;

// The derivative of these orders at (x, y); on a line of the grid, the one from the right.
double srm_piecewise2(const srPiecewise2* p, double x, double y, int order_x, int order_y);

// Coefficients p->c through z_ik (nx x ny, all of the first x first). p: all but c. ends: of x and of y; degree 1 has no use for them.
// work: srm_spline2_work doubles.
void srm_spline2(const srPiecewise2* p, const double* z, const srmSplineEnds ends[2], double* work, double* c);
size_t srm_spline2_work(const srPiecewise2* p);
size_t srm_spline2_coefficients(const srPiecewise2* p);

#endif
