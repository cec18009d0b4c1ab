// Symmetric 6 x 6 matrices of stiffness and damping: the diagonal (6 numbers), the upper triangle (21) or all entries (36), row by row. They must be
// positive semidefinite: otherwise a deflection releases energy, or a damper supplies it.
#include <math.h>
#include <string.h>

#include "math/eigen.h"
#include "model/compile.h"

#define ASYMMETRY 1e-9  // of S_ij and S_ji, relative to sqrt(S_ii S_jj): matrices printed with 10 digits pass
#define NEGATIVE 1e-9   // eigenvalue of the matrix scaled to a unit diagonal that counts as 0: likewise

typedef struct Matrix {
  srCompiler* c;
  srElementKind kind;
  int i, field;
  double S[6][6];
} Matrix;

static const char* word_of(const Matrix* x) { return srs_element(x->kind)->fields[x->field].word; }
static const char* element_of(const Matrix* x) { return srs_element(x->kind)->word; }
static srPlace place_of(const Matrix* x) { return sr_c_place(x->c, x->kind, x->i, x->field); }

static void fill(Matrix* x, const double* given, int n) {
  for (int i = 0, k = 0; i < 6; i++) {
    if (n == 6) x->S[i][i] = given[i];
    for (int j = n == 36 ? 0 : i; n > 6 && j < 6; j++) {
      x->S[i][j] = given[k++];
      if (n == 21) x->S[j][i] = x->S[i][j];
    }
  }
}

static bool is_symmetric(Matrix* x) {
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < i; j++) {
      const double a = x->S[j][i], b = x->S[i][j];
      const double scale = fmax(fmax(fabs(a), fabs(b)), sqrt(fabs(x->S[i][i] * x->S[j][j])));
      if (fabs(a - b) > ASYMMETRY * scale) {
        sr_c_error(x->c, place_of(x),
                   "'%s' of <%s> must be symmetric: entry %d of row %d is %g, entry %d of row %d is %g", word_of(x),
                   element_of(x), i + 1, j + 1, a, j + 1, i + 1, b);
        return false;
      }
      x->S[i][j] = x->S[j][i] = 0.5 * (a + b);
    }
  }
  return true;
}

// Of the matrix scaled to a unit diagonal, since stiffnesses about and along axes have different units.
static double least_eigenvalue(const Matrix* x) {
  double A[36], re[6], im[6], least = HUGE_VAL;
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      const double scale = sqrt(x->S[i][i] * x->S[j][j]);
      if (scale == 0 && x->S[i][j] != 0) return -HUGE_VAL;
      A[6 * i + j] = scale > 0 ? x->S[i][j] / scale : 0;
    }
  }
  if (!srm_eigenvalues(6, A, re, im)) return -HUGE_VAL;
  for (int i = 0; i < 6; i++) least = fmin(least, re[i]);
  return least;
}

static bool is_semidefinite(const Matrix* x) {
  for (int i = 0; i < 6; i++) {
    if (x->S[i][i] >= 0) continue;
    sr_c_error(x->c, place_of(x), "'%s' of <%s> must not be negative, got %g", word_of(x), element_of(x), x->S[i][i]);
    return false;
  }
  if (least_eigenvalue(x) >= -NEGATIVE) return true;
  sr_c_error(x->c, place_of(x),
             "'%s' of <%s> must be positive semidefinite, or it would supply energy: entries away from the diagonal "
             "are too large",
             word_of(x), element_of(x));
  return false;
}

int sr_c_symmetric(srCompiler* c, srElementKind kind, int i, int field, double upper[21], double diagonal[6]) {
  Matrix x = {.c = c, .kind = kind, .i = i, .field = field};
  double given[36];
  const int n = sr_c_numbers(c, kind, i, field, given, 36);
  if (n <= 0) return -1;
  fill(&x, given, n);
  if (!is_symmetric(&x) || !is_semidefinite(&x)) return -1;
  for (int r = 0, k = 0; r < 6; r++) {
    diagonal[r] = x.S[r][r];
    for (int s = r; s < 6; s++) upper[k++] = x.S[r][s];
  }
  return n;
}
