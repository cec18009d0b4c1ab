// Saddle-point systems of constrained mechanics, and which of their rows are independent.
//
//   [ M  -D^T ] [   x    ]   [ f ]        M (nv x nv), D and G (ng x nv)
//   [ G    0  ] [ lambda ] = [ r ]
//
// M, D of one stage and G of another: unsymmetric in general. M may be singular where it is positive on the kernel of G: it
// is never inverted. The caller selects the kept rows; the others are left out and get lambda = 0.
// Dense for small sizes, sparse where patterns are given and the size is worth it; from the tips of joints inwards for free bodies
// (saddle_tree.h), G M^-1 G^T where M is block-diagonal with small blocks (saddle_blocks.h). create allocates all memory, with two exceptions: where
// paths to the ground are long (srm_pattern_is_deep) a change of the kept rows and a new choice of pivots allocate; and the first sparse factor of
// the whole matrix does, where the elimination of bodies or blocks has failed, or D is not G.
//
//   srmSaddle* s = srm_saddle_create(&(srmSaddleShape){.nv = 7, .ng = 6});
//   if (srm_saddle_factor(s, M, NULL, G, kept)) srm_saddle_solve(s, f, gamma, a, lambda);     // D = G
#ifndef SR_MATH_SADDLE_H
#define SR_MATH_SADDLE_H

#include "math/sparse.h"

typedef struct srmSaddleShape {
  int nv, ng;
  const srmPattern* M;  // NULL: dense, row-major. The whole symmetric pattern, diagonal included
  const srmPattern* G;  // NULL: dense, row-major. D has the pattern of G
  bool mass;  // M is symmetric positive semidefinite, and D = G for the most part: small blocks of M may be inverted
  int dense_below;  // with patterns: nv + ng up to which the dense solver is used (0: by size and entries; < 0: sparse)
} srmSaddleShape;

typedef struct srmSaddle srmSaddle;
srmSaddle* srm_saddle_create(const srmSaddleShape* shape);  // patterns are copied; NULL: out of memory
void srm_saddle_destroy(srmSaddle* saddle);
// D NULL: G. M NULL: the identity. kept (ng): rows that count; NULL: all. False: singular to working precision.
bool srm_saddle_factor(srmSaddle* saddle, const double* M, const double* D, const double* G, const unsigned char* kept);
// After factor. f NULL: 0; r NULL: 0 (entries of dropped rows are not read). lambda may be NULL.
void srm_saddle_solve(srmSaddle* saddle, const double* f, const double* r, double* x, double* lambda);
// lambda alone, of f = 0 and without refinement: good enough for inverse iterations.
void srm_saddle_solve_rows(srmSaddle* saddle, const double* r, double* lambda);
// Distance of the rows of the last factor from dependence: the smallest distance of one from those before it (a sine), each relative to
// the largest length that it has had (longest: ng, start with 0, raised). M, G: as factored, where another factor is needed for it; < 0: not available.
double srm_saddle_distance(srmSaddle* saddle, const double* M, const double* G, double* longest);
bool srm_saddle_has_distance(const srmSaddle* saddle);  // by the last factor, at no cost
bool srm_saddle_is_sparse(const srmSaddle* saddle);
size_t srm_saddle_fill(const srmSaddle* saddle);  // entries of the last factor

// out = G x, out = G^T lambda, for values by pattern or dense.
void srm_rows_times(const srmSaddleShape* shape, const double* G, const double* x, double* out);
void srm_rows_transposed_times(const srmSaddleShape* shape, const double* G, const double* lambda, double* out);
// sum_j G_kj^2 / M_jj of each row, square root: the length of the rows measured by the diagonal of M (out: ng). M NULL: 1.
void srm_rows_lengths(const srmSaddleShape* shape, const double* M, const double* G, double* out);

// ---- which rows are independent ----------------------------------------------------------------------------------------
//
// Rows are scaled to length 1 in the metric of M^-1 and processed one by one; a row whose distance from the span of those accepted
// before is not above tau is dropped. A row that has been longer (scale) is measured by its former length, and none by less than a
// hundredth of the longest: one that vanishes in a singular position is dependent there, whatever direction its rounding has.
// Dense: pivoted QR of G M^-1/2 (a singular M is regularized by G^T G: any metric will do).
// Sparse: L D L^T of the scaled matrix G diag(M)^-1 G^T, dropping pivots below tau^2, in an order of low fill.

typedef struct srmRowsChoice {
  double tau;                  // distance (sine of an angle) up to which a row counts as dependent
  const unsigned char* first;  // rows to take first (ng), or NULL; the sparse method ignores it
  double* scale;               // lengths that rows have had (ng, start with 0), raised to the present ones; or NULL
  const double* residual;  // G v + b (ng), or NULL: a row of distance < 1e-3 whose residual over its distance is above
  double residual_limit;   //   the limit is dropped too: keeping it would move v by that much
} srmRowsChoice;

typedef struct srmRows srmRows;
srmRows* srm_rows_create(const srmSaddleShape* shape);
void srm_rows_destroy(srmRows* rows);
// kept (ng): 1 independent, 0 dropped. Returns the rank, or -1 where the metric fails (M not positive on the kernel of G).
int srm_rows_classify(srmRows* rows, const double* M, const double* G, const srmRowsChoice* choice,
                      unsigned char* kept);
// Exchanges kept rows for dropped ones that are farther from the rest, at equal rank: kept is input and output. Returns whether
// rows were exchanged; if not, kept is unchanged. Dense: a new choice. Sparse: the row with the largest share in the smallest
// singular value is replaced by the dropped row that depends on it most, while that gains more than a factor of 2.
bool srm_rows_exchange(srmRows* rows, const double* M, const double* G, const srmRowsChoice* choice,
                       unsigned char* kept);
double srm_rows_pivot(const srmRows* rows,
                      int row);  // distance of the row when it was accepted or dropped; 0: zero row
// G_row = sum_k coefficient_k G_k over the kept rows, for a row that was dropped (ng; 0 elsewhere).
void srm_rows_dependence(srmRows* rows, int row, double* coefficient);
// Among all lambda with the same G^T lambda: the one of least Euclidean norm, in place (ng).
void srm_rows_least_norm(srmRows* rows, double* lambda);
// unique (ng): 1 where every lambda with the same G^T lambda has the same entry.
void srm_rows_unique(srmRows* rows, unsigned char* unique);

#endif
