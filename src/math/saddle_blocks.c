// S = G M^-1 G^T over bodies, factored block by block.
//
// Rows over the same bodies form a group (the rows of a joint: at most 8). With M_b = L L^T of each body,
//   Y = L^-1 G^T of each group and body,   S_kl = sum_b Y_k^T Y_l,   S = W W^T by right-looking block Cholesky
// in an order of minimum degree on the graph of the groups (tips first along a tree, without fill). All blocks are stored with rows of 8
// numbers: two vectors, of which the second is left out where no group is larger than 4.
//
// Singular bodies (slender rods, whose inertia about their own axis is 0): M_b + eps I_b is factored, I_b the largest rotational and the
// largest translational entry of the body's diagonal, eps = 1e-6. Each solution is refined with the true matrix, so that eps does not appear in
// it; whether this converges is tested after the factorization, which detects a motion without inertia that no row constrains.
//
// S has the squared condition of the rows: where a pivot has lost ten digits the solution is left to a factor of the whole matrix.
#include "math/saddle_blocks.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/dense.h"
#include "math/v4.h"

#define WIDE 8             // numbers in a row of a block: largest number of rows of a group
#define BODY 6             // largest number of columns of a body
#define PIVOT_LEAST 1e-10  // of a row of S: the square of a distance
#define BODY_LEAST 1e-10   // pivot of M_b over its diagonal: below it M_b is singular
#define BODY_EXTRA 1e-6    // eps
#define ROWS_EXTRA 1e-12   // of the largest diagonal of S, where rows may depend on each other
#define SHORTEST 1e-2      // part of the longest row, the scale of shorter ones
#define FILL_MOST 4        // entries of the factor over those of the saddle matrix
#define PASSES 7           // of which all but the first refine
#define REFINED 1e-12      // relative size of the next correction, below which it is omitted
#define NOT_REFINED 1e-8   // if it would still be larger than this, there is no solution

struct srmBlocks {
  srmSaddleShape shape;
  srmPattern M, G;
  int nbody, ngroup;
  int* first;                                   // (nbody + 1) columns of a body
  int *group_row, *group_size;                  // (ngroup) in order of elimination
  int *side_start, *side_body;                  // a side: one body of one group
  int *body_start, *body_side;                  // sides of a body, in the order of their groups
  int* side_group;                              //
  int *Lstart, *Lrow;                           // blocks below the diagonal, by columns, rows ascending
  int *at_G, *block_of;                         // entry of G -> index in `rows`; scratch (ngroup)
  double* M_last;                               // as the caller gave it
  double *mass, *inverse, *inverse_transposed;  // M_b, L^-1 and its transpose, (BODY x WIDE) each
  double *rows, *Y;                             // of each side (BODY x WIDE): [column of the body][row of the group]
  double *C, *W;                     // diagonal and other blocks (WIDE x WIDE): [row of the column's group][row]
  double* reciprocal;                // (ngroup x WIDE) of the pivots
  unsigned char *used, *tried_rows;  // (ng) rows in use; those that refinement was tested with
  bool tried;
  double* diagonal;                     // (ng) of S
  double* trial;                        // (nv)
  double *y, *x, *dx, *f, *z, *r, *dz;  // solutions and right-hand sides by bodies (BODY -> WIDE) and groups
  bool extra;                           // some M_b is singular
  bool identity, known;                 // what `inverse` belongs to
};

// ---- pattern ----------------------------------------------------------------------------------------------------------

// Columns of the bodies. False: M has a block that is too large, or is not full.
static bool find_bodies(srmBlocks* b) {
  const srmPattern* M = &b->M;
  for (int i = 0; i < M->nrow; i = b->first[b->nbody]) {
    const int n = M->row[i + 1] - M->row[i];
    if (n < 1 || n > BODY) return false;
    for (int k = i; k < i + n; ++k) {
      if (k >= M->nrow || M->row[k + 1] - M->row[k] != n) return false;
      if (M->column[M->row[k]] != i || M->column[M->row[k + 1] - 1] != i + n - 1) return false;
    }
    b->first[++b->nbody] = i + n;
  }
  return true;
}

// Bodies of a row into out, ascending; returns their number.
static int row_bodies(const srmBlocks* b, const int* body_of, int k, int* out) {
  int n = 0;
  for (int p = b->G.row[k]; p < b->G.row[k + 1]; ++p) {
    const int body = body_of[b->G.column[p]];
    if (n == 0 || out[n - 1] != body) out[n++] = body;
  }
  return n;
}

typedef struct Groups {
  int *body_of, *row, *start, *body, *order;  // first row of each group; its bodies
  int n;
  int *neighbour_start, *neighbour, *place, *parent, *mark, *count;
} Groups;

static void groups_free(Groups* g) {
  int* parts[] = {g->body_of,   g->row,   g->start,  g->body, g->order, g->neighbour_start,
                  g->neighbour, g->place, g->parent, g->mark, g->count};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
}

static bool find_groups(const srmBlocks* b, Groups* g) {
  const size_t ng = (size_t)b->shape.ng;
  if (!srm_take_ints(&g->body_of, (size_t)b->shape.nv) || !srm_take_ints(&g->row, ng + 1) ||
      !srm_take_ints(&g->start, ng + 1) || !srm_take_ints(&g->body, 2 * (size_t)srm_pattern_count(&b->G)))
    return false;
  for (int i = 0; i < b->nbody; ++i)
    for (int j = b->first[i]; j < b->first[i + 1]; ++j) g->body_of[j] = i;
  for (int k = 0; k < b->shape.ng; ++k) {
    const int last = g->n - 1;
    int* out = g->body + g->start[g->n];
    const int n = row_bodies(b, g->body_of, k, out);
    const bool same = last >= 0 && k - g->row[last] < WIDE && n == g->start[g->n] - g->start[last] &&
                      memcmp(out, g->body + g->start[last], (size_t)n * sizeof *out) == 0;
    if (same) continue;
    g->row[g->n++] = k;
    g->start[g->n] = g->start[g->n - 1] + n;
  }
  g->row[g->n] = b->shape.ng;
  return true;
}

// An order of elimination, and the number of blocks of each column: into b->Lstart, summed up.
static bool order_groups(srmBlocks* b, Groups* g) {
  const srmPattern incidence = {.nrow = g->n, .ncol = b->nbody, .row = g->start, .column = g->body};
  const size_t n = (size_t)g->n;
  bool good = srm_row_graph(&incidence, &g->neighbour_start, &g->neighbour) && srm_take_ints(&g->order, n) &&
              srm_take_ints(&g->place, n) && srm_take_ints(&g->parent, n) && srm_take_ints(&g->mark, n) &&
              srm_take_ints(&g->count, n) && srm_take_ints(&b->Lstart, n + 1) &&
              srm_order_minimum_degree(g->n, g->neighbour_start, g->neighbour, g->order);
  if (!good) return false;
  for (int k = 0; k < g->n; ++k) g->place[g->order[k]] = k;
  (void)srm_elimination_tree(g->n, g->neighbour_start, g->neighbour, g->order, g->place, g->parent, g->mark, g->count);
  return true;
}

// Visits the blocks of row k of the factor: columns i on the paths up the tree. Counts or records them.
static void reach_columns(const Groups* g, int k, int* count, int* Lrow, const int* Lstart) {
  const int v = g->order[k];
  g->mark[k] = k;
  for (int e = g->neighbour_start[v]; e < g->neighbour_start[v + 1]; ++e) {
    for (int i = g->place[g->neighbour[e]]; i < k && g->mark[i] != k; i = g->parent[i]) {
      g->mark[i] = k;
      if (Lrow != NULL) Lrow[Lstart[i] + count[i]] = k;
      ++count[i];
    }
  }
}

static bool find_blocks(srmBlocks* b, Groups* g) {
  const size_t size = (size_t)g->n * sizeof(int);
  for (int pass = 0; pass < 2; ++pass) {
    memset(g->count, 0, size);
    for (int k = 0; k < g->n; ++k) g->mark[k] = -1;
    for (int k = 0; k < g->n; ++k) reach_columns(g, k, g->count, pass == 0 ? NULL : b->Lrow, b->Lstart);
    if (pass == 1) break;
    for (int k = 0; k < g->n; ++k) b->Lstart[k + 1] = b->Lstart[k] + g->count[k];
    if (!srm_take_ints(&b->Lrow, (size_t)b->Lstart[g->n])) return false;
  }
  return true;
}

// Groups and sides by their order of elimination, and where the numbers of G go.
static bool place_groups(srmBlocks* b, const Groups* g) {
  const size_t n = (size_t)g->n, nside = (size_t)g->start[g->n];
  b->ngroup = g->n;
  if (!srm_take_ints(&b->group_row, n) || !srm_take_ints(&b->group_size, n) || !srm_take_ints(&b->side_start, n + 1) ||
      !srm_take_ints(&b->side_body, nside) || !srm_take_ints(&b->side_group, nside) ||
      !srm_take_ints(&b->body_side, nside) || !srm_take_ints(&b->body_start, (size_t)b->nbody + 2) ||
      !srm_take_ints(&b->at_G, (size_t)srm_pattern_count(&b->G)) || !srm_take_ints(&b->block_of, n))
    return false;
  for (int k = 0; k < b->ngroup; ++k) {
    const int v = g->order[k];
    b->group_row[k] = g->row[v];
    b->group_size[k] = g->row[v + 1] - g->row[v];
    b->side_start[k + 1] = b->side_start[k] + g->start[v + 1] - g->start[v];
    for (int s = b->side_start[k], e = g->start[v]; s < b->side_start[k + 1]; ++s, ++e) {
      b->side_body[s] = g->body[e];
      b->side_group[s] = k;
      ++b->body_start[g->body[e] + 2];
      for (int i = 0; i < b->group_size[k]; ++i) {
        for (int p = b->G.row[b->group_row[k] + i]; p < b->G.row[b->group_row[k] + i + 1]; ++p) {
          const int column = b->G.column[p] - b->first[g->body[e]];
          if (g->body_of[b->G.column[p]] == g->body[e]) b->at_G[p] = (s * BODY + column) * WIDE + i;
        }
      }
    }
  }
  for (int i = 0; i <= b->nbody; ++i) b->body_start[i + 1] += b->body_start[i];
  for (int s = 0; s < b->side_start[b->ngroup]; ++s) b->body_side[b->body_start[b->side_body[s] + 1]++] = s;
  return true;
}

static bool take_memory(srmBlocks* b) {
  const size_t side = (size_t)b->side_start[b->ngroup] * BODY * WIDE, body = (size_t)b->nbody * BODY * WIDE;
  const size_t group = (size_t)b->ngroup * WIDE, vector = (size_t)b->nbody * WIDE;
  b->used = sr_alloc((size_t)b->shape.ng + 1);
  b->tried_rows = sr_alloc((size_t)b->shape.ng + 1);
  return b->used != NULL && b->tried_rows != NULL && srm_take_numbers(&b->diagonal, (size_t)b->shape.ng) &&
         srm_take_numbers(&b->trial, (size_t)b->shape.nv) &&
         srm_take_numbers(&b->M_last, (size_t)srm_pattern_count(&b->M)) && srm_take_numbers(&b->mass, body) &&
         srm_take_numbers(&b->inverse, body) && srm_take_numbers(&b->inverse_transposed, body) &&
         srm_take_numbers(&b->rows, side) && srm_take_numbers(&b->Y, side) && srm_take_numbers(&b->C, group * WIDE) &&
         srm_take_numbers(&b->W, (size_t)b->Lstart[b->ngroup] * WIDE * WIDE) &&
         srm_take_numbers(&b->reciprocal, group) && srm_take_numbers(&b->y, vector) &&
         srm_take_numbers(&b->x, vector) && srm_take_numbers(&b->dx, vector) && srm_take_numbers(&b->f, vector) &&
         srm_take_numbers(&b->z, group) && srm_take_numbers(&b->r, group) && srm_take_numbers(&b->dz, group);
}

size_t srm_blocks_fill(const srmBlocks* b) {
  size_t sum = 0;
  for (int k = 0; k < b->ngroup; ++k) {
    size_t below = 0;
    for (int e = b->Lstart[k]; e < b->Lstart[k + 1]; ++e) below += (size_t)b->group_size[b->Lrow[e]];
    sum += (size_t)b->group_size[k] * (below + (size_t)b->group_size[k]);
  }
  return sum;
}

void srm_blocks_destroy(srmBlocks* b) {
  if (b == NULL) return;
  srm_pattern_free(&b->M);
  srm_pattern_free(&b->G);
  void* parts[] = {b->first,      b->group_row, b->group_size, b->side_start, b->side_body,
                   b->body_start, b->body_side, b->side_group, b->Lstart,     b->Lrow,
                   b->at_G,       b->block_of,  b->mass,       b->inverse,    b->inverse_transposed,
                   b->rows,       b->Y,         b->C,          b->W,          b->reciprocal,
                   b->y,          b->x,         b->dx,         b->f,          b->z,
                   b->r,          b->dz,        b->used,       b->trial,      b->tried_rows,
                   b->diagonal,   b->M_last};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_free(b);
}

static bool analyse(srmBlocks* b, bool* fits) {
  Groups g = {0};
  bool good = find_groups(b, &g) && order_groups(b, &g) && find_blocks(b, &g) && place_groups(b, &g);
  groups_free(&g);
  if (!good) return false;
  const double entries = srm_pattern_count(&b->M) + 2.0 * srm_pattern_count(&b->G);
  *fits = (double)srm_blocks_fill(b) <= FILL_MOST * entries;
  return !*fits || take_memory(b);
}

static bool create(const srmSaddleShape* shape, const srmPattern* M, srmBlocks** out) {
  *out = NULL;
  if (M == NULL || shape->G == NULL || shape->ng == 0) return true;
  srmBlocks* b = sr_alloc(sizeof *b);
  if (b == NULL) return false;
  b->shape = *shape;
  bool fits = false;
  bool good = srm_pattern_copy(M, &b->M) && srm_pattern_copy(shape->G, &b->G) &&
              srm_take_ints(&b->first, (size_t)shape->nv + 1);
  b->shape.M = &b->M;
  b->shape.G = &b->G;
  if (good && find_bodies(b)) good = analyse(b, &fits);
  if (good && fits) {
    *out = b;
  } else {
    srm_blocks_destroy(b);
  }
  return good;
}

bool srm_blocks_create(const srmSaddleShape* shape, srmBlocks** out) { return create(shape, shape->M, out); }

bool srm_blocks_create_rows(const srmSaddleShape* shape, srmBlocks** out) {
  int *row = NULL, *column = NULL;
  *out = NULL;
  bool good = srm_take_ints(&row, (size_t)shape->nv + 1) && srm_take_ints(&column, (size_t)shape->nv);
  for (int i = 0; good && i < shape->nv; ++i) {
    row[i + 1] = i + 1;
    column[i] = i;
  }
  const srmPattern diagonal = {.nrow = shape->nv, .ncol = shape->nv, .row = row, .column = column};
  good = good && create(shape, &diagonal, out);
  sr_free(row);
  sr_free(column);
  return good;
}

// ---- bodies -----------------------------------------------------------------------------------------------------------

// Adds eps I_b to A (n x n). False: it has no scale.
static bool add_extra(int n, double* A) {
  if (n != BODY) return false;
  for (int half = 0; half < BODY; half += BODY / 2) {
    double most = 0;
    for (int i = half; i < half + BODY / 2; ++i) most = fmax(most, A[i * n + i]);
    if (!(most > 0)) return false;
    for (int i = half; i < half + BODY / 2; ++i) A[i * n + i] += BODY_EXTRA * most;
  }
  return true;
}

// A = L L^T, where no pivot is lost.
static bool factor_body(int n, double* A) {
  double diagonal[BODY];
  for (int i = 0; i < n; ++i) diagonal[i] = A[i * n + i];
  if (!srm_cholesky(n, A)) return false;
  for (int i = 0; i < n; ++i) {
    if (!(A[i * n + i] * A[i * n + i] > BODY_LEAST * diagonal[i])) return false;
  }
  return true;
}

// L^-1 and its transpose of body i, from b->mass.
static bool invert_body(srmBlocks* b, int i) {
  const int n = b->first[i + 1] - b->first[i];
  const double* mass = b->mass + (size_t)i * BODY * WIDE;
  double *inverse = b->inverse + (size_t)i * BODY * WIDE, *transposed = b->inverse_transposed + (size_t)i * BODY * WIDE;
  double A[BODY * BODY];
  for (int k = 0; k < n * n; ++k) A[k] = mass[k / n * WIDE + k % n];
  if (!factor_body(n, A)) {
    for (int k = 0; k < n * n; ++k) A[k] = mass[k / n * WIDE + k % n];
    if (!add_extra(n, A) || !factor_body(n, A)) return false;
    b->extra = true;
  }
  for (int column = 0; column < n; ++column) {
    double x[BODY] = {0};
    for (int k = column; k < n; ++k) {
      double sum = k == column ? 1 : 0;
      for (int j = column; j < k; ++j) sum -= A[k * n + j] * x[j];
      x[k] = sum / A[k * n + k];
    }
    for (int k = 0; k < n; ++k) inverse[k * WIDE + column] = transposed[column * WIDE + k] = x[k];
  }
  return true;
}

// The blocks of M; unchanged ones stay factored (bodies do not change in their own axes). False: a body without a factor.
static bool load_bodies(srmBlocks* b, const double* M) {
  const size_t size = (size_t)srm_pattern_count(&b->M) * sizeof *M;
  if (b->known && b->identity == (M == NULL) && (M == NULL || memcmp(b->M_last, M, size) == 0)) return true;
  b->identity = M == NULL;
  b->known = b->extra = b->tried = false;
  if (M != NULL) memcpy(b->M_last, M, size);
  for (int i = 0, at = 0; i < b->nbody; ++i) {
    const int n = b->first[i + 1] - b->first[i];
    double* mass = b->mass + (size_t)i * BODY * WIDE;
    for (int k = 0; k < n; ++k, at += n) {
      for (int j = 0; j < n; ++j) mass[k * WIDE + j] = M != NULL ? M[at + j] : j == k ? 1 : 0;
    }
    if (!invert_body(b, i)) return false;
  }
  b->known = true;
  return true;
}

// ---- blocks -----------------------------------------------------------------------------------------------------------

// out[l] += sign sum_c A[c][l] B[c] for l < m, c < n; `half`: the second vector of B is empty.
SRM_INLINE void product_of(int n, int m, const double* A, const double* B, double sign, bool half, double* out) {
  for (int l = 0; l < m; ++l) {
    v4 low = v4_zero(), high = v4_zero();
    for (int c = 0; c < n; ++c) {
      const v4 a = v4_all(A[c * WIDE + l]);
      low += a * v4_load(B + c * WIDE);
      if (!half) high += a * v4_load(B + c * WIDE + 4);
    }
    v4_store(out + l * WIDE, v4_load(out + l * WIDE) + v4_all(sign) * low);
    if (!half) v4_store(out + l * WIDE + 4, v4_load(out + l * WIDE + 4) + v4_all(sign) * high);
  }
}

// size: rows of the group that B belongs to.
SRM_INLINE void product(int n, int m, int size, const double* A, const double* B, double sign, double* out) {
  if (size > WIDE / 2) {
    product_of(n, m, A, B, sign, false, out);
  } else if (n == BODY) {
    product_of(BODY, m, A, B, sign, true, out);
  } else {
    product_of(n, m, A, B, sign, true, out);
  }
}

SRM_INLINE void clear(int n, double* A) {
  for (int c = 0; c < 2 * n; ++c) v4_store(A + 4 * c, v4_zero());
}

// out += sign sum_c a[c] B[c] for c < n, one vector and both.
SRM_INLINE void combine_half(int n, const double* a, const double* B, double sign, double* out) {
  v4 sum = v4_zero();
  for (int c = 0; c < n; ++c) sum += v4_all(a[c]) * v4_load(B + c * WIDE);
  v4_store(out, v4_load(out) + v4_all(sign) * sum);
}

// size: how many numbers of out count.
SRM_INLINE void combine(int n, int size, const double* a, const double* B, double sign, double* out) {
  combine_half(n, a, B, sign, out);
  if (size > WIDE / 2) combine_half(n, a, B + 4, sign, out + 4);
}

// One vector of the same for the six columns of a free body, written out.
SRM_INLINE v4 sum_six(const double* a, const double* B) {
  return v4_all(a[0]) * v4_load(B) + v4_all(a[1]) * v4_load(B + WIDE) + v4_all(a[2]) * v4_load(B + 2 * WIDE) +
         v4_all(a[3]) * v4_load(B + 3 * WIDE) + v4_all(a[4]) * v4_load(B + 4 * WIDE) +
         v4_all(a[5]) * v4_load(B + 5 * WIDE);
}

SRM_INLINE void combine_body(int n, int size, const double* a, const double* B, double sign, double* out) {
  if (n != BODY) {
    combine(n, size, a, B, sign, out);
    return;
  }
  v4_store(out, v4_load(out) + v4_all(sign) * sum_six(a, B));
  if (size > WIDE / 2) v4_store(out + 4, v4_load(out + 4) + v4_all(sign) * sum_six(a, B + 4));
}

// size: how many numbers count.
SRM_INLINE double dot(int size, const double* a, const double* b) {
  v4 t = v4_load(a) * v4_load(b);
  if (size > WIDE / 2) t += v4_load(a + 4) * v4_load(b + 4);
  return t[0] + t[1] + (t[2] + t[3]);
}

static void load_rows(srmBlocks* b, const double* G, const unsigned char* kept) {
  const int *row = b->G.row, *at = b->at_G;
  double* rows = b->rows;
  for (int k = 0; k < b->shape.ng; ++k) {
    if (kept[k] != 0) {
      for (int p = row[k]; p < row[k + 1]; ++p) rows[at[p]] = G[p];
    } else {
      for (int p = row[k]; p < row[k + 1]; ++p) rows[at[p]] = 0;
    }
  }
}

// Y = L^-1 G^T of one side; `half`: the second vector is empty.
SRM_INLINE void transform_side(int n, const double* inverse, const double* rows, bool half, double* Y) {
  for (int c = 0; c < n; ++c) {
    v4 low = v4_zero(), high = v4_zero();
    for (int j = 0; j <= c; ++j) {
      const v4 a = v4_all(inverse[c * WIDE + j]);
      low += a * v4_load(rows + j * WIDE);
      if (!half) high += a * v4_load(rows + j * WIDE + 4);
    }
    v4_store(Y + c * WIDE, low);
    if (!half) v4_store(Y + c * WIDE + 4, high);
  }
}

SRM_CLONES static void transform_rows(srmBlocks* b) {
  for (int s = 0; s < b->side_start[b->ngroup]; ++s) {
    const int body = b->side_body[s], n = b->first[body + 1] - b->first[body];
    const double *inverse = b->inverse + (size_t)body * BODY * WIDE, *rows = b->rows + (size_t)s * BODY * WIDE;
    double* Y = b->Y + (size_t)s * BODY * WIDE;
    if (b->group_size[b->side_group[s]] <= WIDE / 2) {
      transform_side(n, inverse, rows, true, Y);
    } else {
      transform_side(n, inverse, rows, false, Y);
    }
  }
}

// Position of each later group in column k.
static void find_column(const srmBlocks* b, int k) {
  for (int e = b->Lstart[k]; e < b->Lstart[k + 1]; ++e) b->block_of[b->Lrow[e]] = e;
}

SRM_CLONES static void assemble(srmBlocks* b) {
  for (int k = 0; k < b->ngroup; ++k) {
    const int size = b->group_size[k];
    clear(size, b->C + (size_t)k * WIDE * WIDE);
    for (int e = b->Lstart[k]; e < b->Lstart[k + 1]; ++e) clear(size, b->W + (size_t)e * WIDE * WIDE);
    find_column(b, k);
    for (int s = b->side_start[k]; s < b->side_start[k + 1]; ++s) {
      const int body = b->side_body[s], n = b->first[body + 1] - b->first[body];
      const double* Y = b->Y + (size_t)s * BODY * WIDE;
      product(n, size, size, Y, Y, 1, b->C + (size_t)k * WIDE * WIDE);
      for (int e = b->body_start[body + 1] - 1; e >= b->body_start[body] && b->body_side[e] > s; --e) {
        const int other = b->body_side[e], i = b->side_group[other];
        product(n, size, b->group_size[i], Y, b->Y + (size_t)other * BODY * WIDE, 1,
                b->W + (size_t)b->block_of[i] * WIDE * WIDE);
      }
    }
  }
}

// Cholesky of a diagonal block in place, columns below the diagonal; pivots are compared with `before`.
SRM_INLINE bool factor_diagonal(int size, double* C, const double* before, double* reciprocal) {
  for (int l = 0; l < size; ++l) {
    double* column = C + l * WIDE;
    if (!(column[l] > PIVOT_LEAST * before[l])) return false;
    reciprocal[l] = 1 / sqrt(column[l]);
    const v4 low = v4_all(reciprocal[l]) * v4_load(column), high = v4_all(reciprocal[l]) * v4_load(column + 4);
    v4_store(column, low);
    v4_store(column + 4, high);
    for (int c = l + 1; c < size; ++c) {
      const v4 a = v4_all(column[c]);
      v4_store(C + c * WIDE, v4_load(C + c * WIDE) - a * low);
      v4_store(C + c * WIDE + 4, v4_load(C + c * WIDE + 4) - a * high);
    }
    for (int c = 0; c < l; ++c) column[c] = 0;
  }
  return true;
}

// W <- W L^-T: [c] over the rows of the column's group.
SRM_INLINE void solve_block(int size, const double* C, const double* reciprocal, bool half, double* W) {
  for (int c = 0; c < size; ++c) {
    v4 low = v4_load(W + c * WIDE), high = v4_load(W + c * WIDE + 4);
    for (int j = 0; j < c; ++j) {
      const v4 a = v4_all(C[j * WIDE + c]);
      low -= a * v4_load(W + j * WIDE);
      if (!half) high -= a * v4_load(W + j * WIDE + 4);
    }
    v4_store(W + c * WIDE, v4_all(reciprocal[c]) * low);
    if (!half) v4_store(W + c * WIDE + 4, v4_all(reciprocal[c]) * high);
  }
}

// Effect of the elimination of column k on the columns of its rows.
SRM_INLINE void update_columns(srmBlocks* b, int k) {
  const int size = b->group_size[k], end = b->Lstart[k + 1];
  for (int e = b->Lstart[k]; e < end; ++e) {
    const int i = b->Lrow[e];
    const double* W = b->W + (size_t)e * WIDE * WIDE;
    product(size, b->group_size[i], b->group_size[i], W, W, -1, b->C + (size_t)i * WIDE * WIDE);
    for (int e2 = e + 1, at = b->Lstart[i]; e2 < end; ++e2) {
      const int i2 = b->Lrow[e2];
      while (b->Lrow[at] != i2) ++at;
      product(size, b->group_size[i], b->group_size[i2], W, b->W + (size_t)e2 * WIDE * WIDE, -1,
              b->W + (size_t)at * WIDE * WIDE);
    }
  }
}

SRM_CLONES static bool eliminate(srmBlocks* b) {
  for (int k = 0; k < b->ngroup; ++k) {
    double* C = b->C + (size_t)k * WIDE * WIDE;
    if (!factor_diagonal(b->group_size[k], C, b->z + (size_t)k * WIDE, b->reciprocal + (size_t)k * WIDE)) return false;
    for (int e = b->Lstart[k]; e < b->Lstart[k + 1]; ++e) {
      double* W = b->W + (size_t)e * WIDE * WIDE;
      if (b->group_size[b->Lrow[e]] <= WIDE / 2) {
        solve_block(b->group_size[k], C, b->reciprocal + (size_t)k * WIDE, true, W);
      } else {
        solve_block(b->group_size[k], C, b->reciprocal + (size_t)k * WIDE, false, W);
      }
    }
    update_columns(b, k);
  }
  return true;
}

// The diagonal of S: unused rows get 1, the others mu and a part `extra` of the largest; the scale of the pivots goes to z.
static void complete_diagonal(srmBlocks* b, const unsigned char* kept, double mu, double extra) {
  double most = 0;
  for (int k = 0; k < b->ngroup; ++k) {
    for (int i = 0; i < b->group_size[k]; ++i) {
      const double entry = b->C[((size_t)k * WIDE + (size_t)i) * WIDE + (size_t)i];
      most = entry > most ? entry : most;
    }
  }
  const double added = mu + extra * most;
  for (int k = 0; k < b->ngroup; ++k) {
    for (int i = 0; i < b->group_size[k]; ++i) {
      double* entry = &b->C[((size_t)k * WIDE + (size_t)i) * WIDE + (size_t)i];
      b->diagonal[b->group_row[k] + i] = *entry;
      *entry = kept[b->group_row[k] + i] != 0 ? *entry + added : 1;
      b->z[k * WIDE + i] = added > 0 ? added : *entry;
    }
  }
}

// ---- solution ---------------------------------------------------------------------------------------------------------

// z <- S^-1 z.
SRM_CLONES static void solve_groups(const srmBlocks* b, double* z) {
  for (int k = 0; k < b->ngroup; ++k) {
    const double *C = b->C + (size_t)k * WIDE * WIDE, *reciprocal = b->reciprocal + (size_t)k * WIDE;
    double* own = z + (size_t)k * WIDE;
    for (int l = 0; l < b->group_size[k]; ++l) {
      const double value = own[l] * reciprocal[l];
      combine(1, b->group_size[k], &value, C + l * WIDE, -1, own);
      own[l] = value;
    }
    for (int e = b->Lstart[k]; e < b->Lstart[k + 1]; ++e) {
      combine(b->group_size[k], b->group_size[b->Lrow[e]], own, b->W + (size_t)e * WIDE * WIDE, -1,
              z + (size_t)b->Lrow[e] * WIDE);
    }
  }
  for (int k = b->ngroup - 1; k >= 0; --k) {
    const double *C = b->C + (size_t)k * WIDE * WIDE, *reciprocal = b->reciprocal + (size_t)k * WIDE;
    double* own = z + (size_t)k * WIDE;
    for (int e = b->Lstart[k]; e < b->Lstart[k + 1]; ++e) {
      const double *W = b->W + (size_t)e * WIDE * WIDE, *other = z + (size_t)b->Lrow[e] * WIDE;
      for (int l = 0; l < b->group_size[k]; ++l) own[l] -= dot(b->group_size[b->Lrow[e]], W + l * WIDE, other);
    }
    for (int l = b->group_size[k] - 1; l >= 0; --l) {
      for (int i = l + 1; i < b->group_size[k]; ++i) own[l] -= C[l * WIDE + i] * own[i];
      own[l] *= reciprocal[l];
    }
  }
}

// dx, dz from f, r, without refinement.
SRM_CLONES static void solve_once(srmBlocks* b) {
  clear(b->nbody, b->y);
  clear(b->nbody, b->dx);
  for (int k = 0; k < 2 * b->ngroup; ++k) v4_store(b->dz + 4 * k, v4_load(b->r + 4 * k));
  for (int i = 0; i < b->nbody; ++i) {
    const size_t at = (size_t)i * WIDE;
    combine_body(b->first[i + 1] - b->first[i], BODY, b->f + at, b->inverse_transposed + at * BODY, 1, b->y + at);
  }
  for (int s = 0; s < b->side_start[b->ngroup]; ++s) {
    const int body = b->side_body[s];
    combine_body(b->first[body + 1] - b->first[body], b->group_size[b->side_group[s]], b->y + (size_t)body * WIDE,
                 b->Y + (size_t)s * BODY * WIDE, -1, b->dz + (size_t)b->side_group[s] * WIDE);
  }
  solve_groups(b, b->dz);
  for (int s = 0; s < b->side_start[b->ngroup]; ++s) {
    const int body = b->side_body[s], n = b->first[body + 1] - b->first[body], size = b->group_size[b->side_group[s]];
    const double *Y = b->Y + (size_t)s * BODY * WIDE, *z = b->dz + (size_t)b->side_group[s] * WIDE;
    for (int c = 0; c < n; ++c) b->y[(size_t)body * WIDE + (size_t)c] += dot(size, Y + c * WIDE, z);
  }
  for (int i = 0; i < b->nbody; ++i) {
    const size_t at = (size_t)i * WIDE;
    combine_body(b->first[i + 1] - b->first[i], BODY, b->y + at, b->inverse + at * BODY, 1, b->dx + at);
  }
}

// f and r of the caller, by bodies and groups.
static void load_right(srmBlocks* b, const double* f, const double* r) {
  for (int i = 0; i < b->nbody; ++i) {
    for (int j = b->first[i]; j < b->first[i + 1]; ++j) b->f[i * WIDE + j - b->first[i]] = f != NULL ? f[j] : 0;
  }
  for (int k = 0; k < b->ngroup; ++k) {
    for (int i = 0; i < b->group_size[k]; ++i) {
      const int row = b->group_row[k] + i;
      b->r[k * WIDE + i] = r != NULL && b->used[row] != 0 ? r[row] : 0;
    }
  }
}

// f - M dx + G^T dz and r - G dx, with the true matrix.
SRM_CLONES static void subtract_products(srmBlocks* b) {
  for (int i = 0; i < b->nbody; ++i) {
    const size_t at = (size_t)i * WIDE;
    combine_body(b->first[i + 1] - b->first[i], BODY, b->dx + at, b->mass + at * BODY, -1, b->f + at);
  }
  for (int s = 0; s < b->side_start[b->ngroup]; ++s) {
    const int body = b->side_body[s], n = b->first[body + 1] - b->first[body], size = b->group_size[b->side_group[s]];
    const double *rows = b->rows + (size_t)s * BODY * WIDE, *z = b->dz + (size_t)b->side_group[s] * WIDE;
    for (int c = 0; c < n; ++c) b->f[(size_t)body * WIDE + (size_t)c] += dot(size, rows + c * WIDE, z);
    combine_body(n, size, b->dx + (size_t)body * WIDE, rows, -1, b->r + (size_t)b->side_group[s] * WIDE);
  }
}

SRM_INLINE double largest_lane(v4 a) {
  double most = 0;
  for (int i = 0; i < 4; ++i) most = !(a[i] <= most) ? a[i] : most;  // nan is the largest
  return most;
}

// a += b; the largest entry of b over that of a.
SRM_CLONES static double add_correction(size_t n, const double* b, double* a) {
  v4 most = v4_zero(), change = v4_zero();
  for (size_t i = 0; i < n; i += 4) {
    const v4 step = v4_load(b + i), sum = v4_load(a + i) + step;
    v4_store(a + i, sum);
    most = v4_larger(most, v4_abs(sum));
    change = v4_larger(change, v4_abs(step));
  }
  const double size = largest_lane(change);
  return size > 0 || isnan(size) ? size / largest_lane(most) : 0;
}

bool srm_blocks_solve(srmBlocks* b, const double* f, const double* r, double* x, double* lambda) {
  const size_t nx = (size_t)b->nbody * WIDE, nz = (size_t)b->ngroup * WIDE;
  double change = 1, next = 1;  // relative sizes of the last correction, and of the one after it
  clear(b->nbody, b->x);
  clear(b->ngroup, b->z);
  load_right(b, f, r);
  for (int i = 0; i < PASSES && !(next <= REFINED); ++i) {
    if (i > 0) subtract_products(b);
    solve_once(b);
    const double now = add_correction(nx, b->dx, b->x) + add_correction(nz, b->dz, b->z);
    next = now * (now / change);
    change = now;
  }
  if (!(next <= NOT_REFINED)) return false;
  for (int i = 0; i < b->nbody; ++i) {
    for (int j = b->first[i]; j < b->first[i + 1]; ++j) x[j] = b->x[i * WIDE + j - b->first[i]];
  }
  for (int k = 0; lambda != NULL && k < b->ngroup; ++k) {
    memcpy(lambda + b->group_row[k], b->z + (size_t)k * WIDE, (size_t)b->group_size[k] * sizeof *lambda);
  }
  return true;
}

void srm_blocks_solve_rows(srmBlocks* b, const double* r, double* y) {
  load_right(b, NULL, r);
  solve_groups(b, b->r);
  for (int k = 0; k < b->ngroup; ++k) {
    memcpy(y + b->group_row[k], b->r + (size_t)k * WIDE, (size_t)b->group_size[k] * sizeof *y);
  }
}

// ---- factor -----------------------------------------------------------------------------------------------------------

// Is there a motion without inertia that no row constrains? Then refinement along it never converges. Tested once for the same bodies
// and rows: later every solution checks it.
static bool refinement_converges(srmBlocks* b) {
  if (b->tried && memcmp(b->used, b->tried_rows, (size_t)b->shape.ng) == 0) return true;
  memcpy(b->tried_rows, b->used, (size_t)b->shape.ng);
  for (int i = 0; i < b->shape.nv; ++i) b->trial[i] = 1 + 0.1 * (i % 7);
  b->tried = srm_blocks_solve(b, b->trial, NULL, b->trial, NULL);
  return b->tried;
}

static bool factor(srmBlocks* b, const double* M, const double* G, const unsigned char* kept, double mu, double extra) {
  memcpy(b->used, kept, (size_t)b->shape.ng);
  if (!load_bodies(b, M)) return false;
  load_rows(b, G, kept);
  transform_rows(b);
  assemble(b);
  complete_diagonal(b, kept, mu, extra);
  return eliminate(b);
}

bool srm_blocks_factor(srmBlocks* b, const double* M, const double* G, const unsigned char* kept) {
  return factor(b, M, G, kept, 0, 0) && (!b->extra || refinement_converges(b));
}

bool srm_blocks_factor_rows(srmBlocks* b, const double* G, const unsigned char* kept, double mu) {
  return factor(b, NULL, G, kept, mu, ROWS_EXTRA);
}

const double* srm_blocks_matrices(const srmBlocks* b, double* G) {
  for (int p = 0; p < srm_pattern_count(&b->G); ++p) G[p] = b->rows[b->at_G[p]];
  return b->identity ? NULL : b->M_last;
}

double srm_blocks_distance(const srmBlocks* b, double* longest) {
  double most = 0, least = 1;
  for (int k = 0; k < b->shape.ng; ++k) {
    longest[k] = fmax(longest[k], sqrt(b->diagonal[k]));
    most = fmax(most, longest[k]);
  }
  for (int k = 0; k < b->ngroup; ++k) {
    for (int i = 0; i < b->group_size[k]; ++i) {
      const int row = b->group_row[k] + i;
      const double pivot = 1 / b->reciprocal[k * WIDE + i];
      if (b->used[row] != 0) least = fmin(least, pivot / fmax(longest[row], SHORTEST * most));
    }
  }
  return least;
}
