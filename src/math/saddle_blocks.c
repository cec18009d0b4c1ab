// S = G M^-1 G^T over bodies, factored block by block.
//
// Rows over the same bodies form a group (the rows of a joint: at most 8). With M_b = L L^T of each body,
//   Y = L^-1 G^T of each group and body,   S_kl = sum_b Y_k^T Y_l
// in the memory of a symmetric solver by blocks (math/symmetric.h), in its order of elimination: tips first along a tree, without fill.
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
#include "math/block_rows.h"
#include "math/dense.h"
#include "math/symmetric.h"

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
  srmSymmetric* S;
  int nbody;
  int* first;                                   // (nbody + 1) columns of a body
  int* group_row;                               // first row of a group, in order of elimination as all that follows
  int *side_start, *side_body;                  // a side: one body of one group
  int *body_start, *body_side;                  // sides of a body, in the order of their groups
  int* side_group;                              //
  int *at_G, *block_of;                         // entry of G -> index in `rows`; scratch
  double* M_last;                               // as the caller gave it
  double *mass, *inverse, *inverse_transposed;  // M_b, L^-1 and its transpose, (BODY x WIDE) each
  double *rows, *Y;                             // of each side (BODY x WIDE): [column of the body][row of the group]
  unsigned char *used, *tried_rows;             // (ng) rows in use; those that refinement was tested with
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
  int *body_of, *row, *size, *start, *body;  // of the columns; first row of each group, number of rows; its bodies
  int n;
  int *neighbour_start, *neighbour;
} Groups;

static void groups_free(Groups* g) {
  int* parts[] = {g->body_of, g->row, g->size, g->start, g->body, g->neighbour_start, g->neighbour};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
}

static bool find_groups(const srmBlocks* b, Groups* g) {
  const size_t ng = (size_t)b->shape.ng;
  if (!srm_take_ints(&g->body_of, (size_t)b->shape.nv) || !srm_take_ints(&g->row, ng + 1) ||
      !srm_take_ints(&g->size, ng) || !srm_take_ints(&g->start, ng + 1) ||
      !srm_take_ints(&g->body, 2 * (size_t)srm_pattern_count(&b->G)))
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
  for (int k = 0; k < g->n; ++k) g->size[k] = g->row[k + 1] - g->row[k];
  return true;
}

// b->S stays NULL where it would have too many entries.
static bool create_S(srmBlocks* b, Groups* g) {
  const srmPattern incidence = {.nrow = g->n, .ncol = b->nbody, .row = g->start, .column = g->body};
  const double entries = srm_pattern_count(&b->M) + 2.0 * srm_pattern_count(&b->G);
  if (!srm_row_graph(&incidence, &g->neighbour_start, &g->neighbour)) return false;
  const srmSymmetricShape shape = {
      .n = g->n, .size = g->size, .start = g->neighbour_start, .neighbour = g->neighbour, .most = FILL_MOST * entries};
  return srm_symmetric_create(&shape, srm_symmetric_for(WIDE, g->n), &b->S);
}

// Groups and sides by their order of elimination, and where the numbers of G go.
static bool place_groups(srmBlocks* b, const Groups* g) {
  const size_t n = (size_t)g->n, nside = (size_t)g->start[g->n];
  if (!srm_take_ints(&b->group_row, n) || !srm_take_ints(&b->side_start, n + 1) ||
      !srm_take_ints(&b->side_body, nside) || !srm_take_ints(&b->side_group, nside) ||
      !srm_take_ints(&b->body_side, nside) || !srm_take_ints(&b->body_start, (size_t)b->nbody + 2) ||
      !srm_take_ints(&b->at_G, (size_t)srm_pattern_count(&b->G)) || !srm_take_ints(&b->block_of, n))
    return false;
  for (int k = 0; k < g->n; ++k) {
    const int v = b->S->order[k];
    b->group_row[k] = g->row[v];
    b->side_start[k + 1] = b->side_start[k] + g->start[v + 1] - g->start[v];
    for (int s = b->side_start[k], e = g->start[v]; s < b->side_start[k + 1]; ++s, ++e) {
      b->side_body[s] = g->body[e];
      b->side_group[s] = k;
      ++b->body_start[g->body[e] + 2];
      for (int i = 0; i < g->size[v]; ++i) {
        for (int p = b->G.row[b->group_row[k] + i]; p < b->G.row[b->group_row[k] + i + 1]; ++p) {
          const int column = b->G.column[p] - b->first[g->body[e]];
          if (g->body_of[b->G.column[p]] == g->body[e]) b->at_G[p] = (s * BODY + column) * WIDE + i;
        }
      }
    }
  }
  for (int i = 0; i <= b->nbody; ++i) b->body_start[i + 1] += b->body_start[i];
  for (int s = 0; s < b->side_start[b->S->n]; ++s) b->body_side[b->body_start[b->side_body[s] + 1]++] = s;
  return true;
}

static bool take_memory(srmBlocks* b) {
  const size_t side = (size_t)b->side_start[b->S->n] * BODY * WIDE, body = (size_t)b->nbody * BODY * WIDE;
  const size_t group = (size_t)b->S->n * WIDE, vector = (size_t)b->nbody * WIDE;
  b->used = sr_alloc((size_t)b->shape.ng + 1);
  b->tried_rows = sr_alloc((size_t)b->shape.ng + 1);
  return b->used != NULL && b->tried_rows != NULL && srm_take_numbers(&b->diagonal, (size_t)b->shape.ng) &&
         srm_take_numbers(&b->trial, (size_t)b->shape.nv) &&
         srm_take_numbers(&b->M_last, (size_t)srm_pattern_count(&b->M)) && srm_take_numbers(&b->mass, body) &&
         srm_take_numbers(&b->inverse, body) && srm_take_numbers(&b->inverse_transposed, body) &&
         srm_take_numbers(&b->rows, side) && srm_take_numbers(&b->Y, side) && srm_take_numbers(&b->y, vector) &&
         srm_take_numbers(&b->x, vector) && srm_take_numbers(&b->dx, vector) && srm_take_numbers(&b->f, vector) &&
         srm_take_numbers(&b->z, group) && srm_take_numbers(&b->r, group) && srm_take_numbers(&b->dz, group);
}

size_t srm_blocks_fill(const srmBlocks* b) { return srm_symmetric_fill(b->S); }

void srm_blocks_destroy(srmBlocks* b) {
  if (b == NULL) return;
  srm_pattern_free(&b->M);
  srm_pattern_free(&b->G);
  srm_symmetric_destroy(b->S);
  void* parts[] = {b->first,      b->group_row, b->side_start, b->side_body, b->body_start, b->body_side,
                   b->side_group, b->at_G,      b->block_of,   b->mass,      b->inverse,    b->inverse_transposed,
                   b->rows,       b->Y,         b->y,          b->x,         b->dx,         b->f,
                   b->z,          b->r,         b->dz,         b->used,      b->trial,      b->tried_rows,
                   b->diagonal,   b->M_last};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_free(b);
}

static bool analyse(srmBlocks* b) {
  Groups g = {0};
  bool good = find_groups(b, &g) && create_S(b, &g) && (b->S == NULL || (place_groups(b, &g) && take_memory(b)));
  groups_free(&g);
  return good;
}

static bool create(const srmSaddleShape* shape, const srmPattern* M, srmBlocks** out) {
  *out = NULL;
  if (M == NULL || shape->G == NULL || shape->ng == 0) return true;
  srmBlocks* b = sr_alloc(sizeof *b);
  if (b == NULL) return false;
  b->shape = *shape;
  bool good = srm_pattern_copy(M, &b->M) && srm_pattern_copy(shape->G, &b->G) &&
              srm_take_ints(&b->first, (size_t)shape->nv + 1);
  b->shape.M = &b->M;
  b->shape.G = &b->G;
  if (good && find_bodies(b)) good = analyse(b);
  if (good && b->S != NULL) {
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

// The same for the columns of a body.
SRM_INLINE void combine_body(int n, int size, const double* a, const double* B, double sign, double* out) {
  if (n != BODY) {
    combine(n, size, a, B, sign, out);
    return;
  }
  v4_store(out, v4_load(out) + v4_all(sign) * sum_six(a, B));
  if (size > WIDE / 2) v4_store(out + 4, v4_load(out + 4) + v4_all(sign) * sum_six(a, B + 4));
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
  for (int s = 0; s < b->side_start[b->S->n]; ++s) {
    const int body = b->side_body[s], n = b->first[body + 1] - b->first[body];
    const double *inverse = b->inverse + (size_t)body * BODY * WIDE, *rows = b->rows + (size_t)s * BODY * WIDE;
    double* Y = b->Y + (size_t)s * BODY * WIDE;
    if (b->S->size[b->side_group[s]] <= WIDE / 2) {
      transform_side(n, inverse, rows, true, Y);
    } else {
      transform_side(n, inverse, rows, false, Y);
    }
  }
}

// Position of each later group in column k.
static void find_column(const srmBlocks* b, int k) {
  for (int e = b->S->start[k]; e < b->S->start[k + 1]; ++e) b->block_of[b->S->row[e]] = e;
}

SRM_CLONES static void assemble(srmBlocks* b) {
  for (int k = 0; k < b->S->n; ++k) {
    const int size = b->S->size[k];
    clear(size, b->S->diagonal + (size_t)k * WIDE * WIDE);
    for (int e = b->S->start[k]; e < b->S->start[k + 1]; ++e) clear(size, b->S->below + (size_t)e * WIDE * WIDE);
    find_column(b, k);
    for (int s = b->side_start[k]; s < b->side_start[k + 1]; ++s) {
      const int body = b->side_body[s], n = b->first[body + 1] - b->first[body];
      const double* Y = b->Y + (size_t)s * BODY * WIDE;
      product(n, size, size, Y, Y, 1, b->S->diagonal + (size_t)k * WIDE * WIDE);
      for (int e = b->body_start[body + 1] - 1; e >= b->body_start[body] && b->body_side[e] > s; --e) {
        const int other = b->body_side[e], i = b->side_group[other];
        product(n, size, b->S->size[i], Y, b->Y + (size_t)other * BODY * WIDE, 1,
                b->S->below + (size_t)b->block_of[i] * WIDE * WIDE);
      }
    }
  }
}

// The diagonal of S: unused rows get 1, the others mu and a part `extra` of the largest; the least pivots go to z.
static void complete_diagonal(srmBlocks* b, const unsigned char* kept, double mu, double extra) {
  double most = 0;
  for (int k = 0; k < b->S->n; ++k) {
    for (int i = 0; i < b->S->size[k]; ++i) {
      const double entry = b->S->diagonal[((size_t)k * WIDE + (size_t)i) * WIDE + (size_t)i];
      most = entry > most ? entry : most;
    }
  }
  const double added = mu + extra * most;
  for (int k = 0; k < b->S->n; ++k) {
    for (int i = 0; i < b->S->size[k]; ++i) {
      double* entry = &b->S->diagonal[((size_t)k * WIDE + (size_t)i) * WIDE + (size_t)i];
      b->diagonal[b->group_row[k] + i] = *entry;
      *entry = kept[b->group_row[k] + i] != 0 ? *entry + added : 1;
      b->z[k * WIDE + i] = PIVOT_LEAST * (added > 0 ? added : *entry);
    }
  }
}

// ---- solution ---------------------------------------------------------------------------------------------------------

// dx, dz from f, r, without refinement.
SRM_CLONES static void solve_once(srmBlocks* b) {
  clear(b->nbody, b->y);
  clear(b->nbody, b->dx);
  for (int k = 0; k < 2 * b->S->n; ++k) v4_store(b->dz + 4 * k, v4_load(b->r + 4 * k));
  for (int i = 0; i < b->nbody; ++i) {
    const size_t at = (size_t)i * WIDE;
    combine_body(b->first[i + 1] - b->first[i], BODY, b->f + at, b->inverse_transposed + at * BODY, 1, b->y + at);
  }
  for (int s = 0; s < b->side_start[b->S->n]; ++s) {
    const int body = b->side_body[s];
    combine_body(b->first[body + 1] - b->first[body], b->S->size[b->side_group[s]], b->y + (size_t)body * WIDE,
                 b->Y + (size_t)s * BODY * WIDE, -1, b->dz + (size_t)b->side_group[s] * WIDE);
  }
  srm_symmetric_solve(b->S, b->dz);
  for (int s = 0; s < b->side_start[b->S->n]; ++s) {
    const int body = b->side_body[s], n = b->first[body + 1] - b->first[body], size = b->S->size[b->side_group[s]];
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
  for (int k = 0; k < b->S->n; ++k) {
    for (int i = 0; i < b->S->size[k]; ++i) {
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
  for (int s = 0; s < b->side_start[b->S->n]; ++s) {
    const int body = b->side_body[s], n = b->first[body + 1] - b->first[body], size = b->S->size[b->side_group[s]];
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
  const size_t nx = (size_t)b->nbody * WIDE, nz = (size_t)b->S->n * WIDE;
  double change = 1, next = 1;  // relative sizes of the last correction, and of the one after it
  clear(b->nbody, b->x);
  clear(b->S->n, b->z);
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
  for (int k = 0; lambda != NULL && k < b->S->n; ++k) {
    memcpy(lambda + b->group_row[k], b->z + (size_t)k * WIDE, (size_t)b->S->size[k] * sizeof *lambda);
  }
  return true;
}

void srm_blocks_solve_rows(srmBlocks* b, const double* r, double* y) {
  load_right(b, NULL, r);
  srm_symmetric_solve(b->S, b->r);
  for (int k = 0; k < b->S->n; ++k) {
    memcpy(y + b->group_row[k], b->r + (size_t)k * WIDE, (size_t)b->S->size[k] * sizeof *y);
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
  return srm_symmetric_factor(b->S, b->z) == b->S->rows;
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
  for (int k = 0; k < b->S->n; ++k) {
    for (int i = 0; i < b->S->size[k]; ++i) {
      const int row = b->group_row[k] + i;
      const double pivot = sqrt(b->S->pivot[k * WIDE + i]);
      if (b->used[row] != 0) least = fmin(least, pivot / fmax(longest[row], SHORTEST * most));
    }
  }
  return least;
}
