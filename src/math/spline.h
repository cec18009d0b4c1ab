// Interpolating splines and the piecewise polynomials they are.
#ifndef SR_MATH_SPLINE_H
#define SR_MATH_SPLINE_H

// On [x_i, x_i+1]: sum over j of c_ij (x - x_i)^j. The first and last piece go on beyond the ends.
typedef struct srPiecewise {
  int n;            // knots, >= 2
  int degree;       // of every piece
  const double* x;  // knots, strictly increasing (n)
  const double* c;  // coefficients (n-1 x degree+1)
} srPiecewise;

// The derivative of this order at x; at a knot, the one from the right.
double srm_piecewise(const srPiecewise* p, double x, int order);
// The piece that holds `at`: the last i with x_i <= at, within 0 .. n-2.
int srm_piece(int n, const double* x, double at);
// The derivative of this order at s of the polynomial with degree+1 coefficients, constant first.
double srm_polynomial(int degree, const double* c, double s, int order);

// Ends of a cubic spline: second derivative zero, slope zero, equal slopes and second derivatives at both, of points with y_n-1 = y_0, or no condition: one
// cubic each for the first two pieces and for the last two.
typedef enum srmSplineEnds { SRM_ENDS_NATURAL, SRM_ENDS_CLAMPED, SRM_ENDS_PERIODIC, SRM_ENDS_NOT_A_KNOT } srmSplineEnds;

// Coefficients c (n-1 x 4) of the cubic spline through (x_i, y_i), n >= 2, x strictly increasing. work: 3 n.
void srm_spline_cubic(int n, const double* x, const double* y, srmSplineEnds ends, double* work, double* c);

// Coefficients c (n-1 x 6) of the quintic spline (C4) through the points, first and second derivative zero at both
// ends. work: 5 n.
void srm_spline_quintic(int n, const double* x, const double* y, double* work, double* c);

#endif
