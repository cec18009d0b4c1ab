// Elimination from the tips of a forest of joints, body by body.
//
// Body b with its inertia I and force p, those of the bodies beyond it included, on a joint with rows A x_b + B x_a = r to body a:
//   I x_b - A^T lambda = p
// Every row is solved for one of the columns of b, its pivot; the other columns are free. Exchange of rows and pivots in place
// (Gauss-Jordan) turns A into V, a line for each pivot: over the columns of pivots the inverse of A there, over the free ones -N.
//   x_b = y + N z,  z the free columns;   y = e - E x_a,  E = V B,  e = V r, zero in the free ones;   A^T lambda = w  =>  lambda = V^T w
// N^T (I x_b - p) = 0 gives z, one column after the other, as for the joint of an articulated body (Featherstone 2008, chapter 7):
//   K = I N,  d = N^T K,  u = N^T p:   z = (u - K^T y) / d,   I <- I - K K^T / d,   p <- p - K u / d
// and what is left goes to body a:   I_a += E^T I E,   p_a -= E^T (p - I e).   Outwards: y, lambda = V^T (I y - p), x_b. After their
// elimination free columns have no part in these products, so that nothing is computed there.
//
// The pivots of a joint are searched for once, among all its rows and columns, and kept while they are not small: a pivot may be a tenth
// of the largest number in its row. Functions below have the number n of pivots as an argument, which is a constant for the usual joints:
// their loops are then written out.
#include "math/saddle_tree.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/block_rows.h"

#define BODY 6               // columns of a body, and the most rows of a joint
#define WIDE 8               // numbers in a stored row
#define PIVOT_PART 0.1       // of the largest number in its row
#define PIVOT_LEAST 1e-6     // of the largest number of the joint's rows on its outer body
#define INERTIA_LEAST 1e-10  // of a free column over the sum of what the diagonal of I contributes

typedef struct Body {
  _Alignas(32) double I[BODY * WIDE];       // rows; reduced
  double V[BODY * WIDE], E[BODY * WIDE];    // rows, one for each pivot
  double K[BODY * WIDE];                    // rows, one for each free column
  double p[WIDE], x[WIDE];                  // by columns of b
  double e[WIDE], d[WIDE], u[WIDE];         // e by pivots; 1 / d and u by free columns
  int first, parent, nrow;                  // column; index of the inner body, -1: the ground; rows
  int row[BODY], outer[BODY], inner[BODY];  // and where their numbers begin in G
  int used[BODY], nused;                    // those kept
  int line[BODY], column[BODY];             // pivots, in order of elimination: indices into `row`, columns
  int freed[BODY];                          // the other columns
  bool searched;
} Body;

struct srmTree {
  _Alignas(32) double work[BODY * WIDE];
  int ng, nbody;
  Body* body;           // inner bodies first
  unsigned char* kept;  // ng: rows in use, where known
  bool known;
};

// ---- pattern ----------------------------------------------------------------------------------------------------------

static bool has_bodies(const srmPattern* M) {
  if (M->nrow % BODY != 0 || srm_pattern_count(M) != M->nrow * BODY) return false;
  for (int i = 0; i < M->nrow; ++i) {
    if (M->row[i] != i * BODY || M->column[i * BODY] != i / BODY * BODY) return false;
    if (M->column[i * BODY + BODY - 1] != i / BODY * BODY + BODY - 1) return false;
  }
  return true;
}

// The bodies of a row, -1 the ground: whole blocks of columns, at most two.
static bool row_bodies(const srmPattern* G, int k, int pair[2]) {
  const int first = G->row[k], count = G->row[k + 1] - first;
  if (count != BODY && count != 2 * BODY) return false;
  pair[1] = -1;
  for (int i = 0; i < count / BODY; ++i) {
    const int* column = G->column + first + i * BODY;
    if (column[0] % BODY != 0 || column[BODY - 1] != column[0] + BODY - 1) return false;
    pair[i] = column[0] / BODY;
  }
  return true;
}

typedef struct Edges {
  int *start, *end, *pair;  // rows of each body (start: nbody + 1); the two bodies of each row
  int *order, *parent, *place;
} Edges;

static void edges_free(Edges* e) {
  int* parts[] = {e->start, e->end, e->pair, e->order, e->parent, e->place};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
}

// *fits: every row is over one body or two.
static bool find_edges(const srmPattern* G, int nbody, Edges* e, bool* fits) {
  const size_t n = (size_t)nbody, ng = (size_t)G->nrow;
  if (!srm_take_ints(&e->start, n + 2) || !srm_take_ints(&e->end, 2 * ng) || !srm_take_ints(&e->pair, 2 * ng) ||
      !srm_take_ints(&e->order, n) || !srm_take_ints(&e->parent, n) || !srm_take_ints(&e->place, n))
    return false;
  *fits = true;
  for (int k = 0; k < G->nrow && *fits; ++k) {
    *fits = row_bodies(G, k, e->pair + 2 * k);
    for (int i = 0; *fits && i < 2; ++i) {
      if (e->pair[2 * k + i] >= 0) ++e->start[e->pair[2 * k + i] + 2];
    }
  }
  if (!*fits) return true;
  for (int i = 0; i <= nbody; ++i) e->start[i + 1] += e->start[i];
  for (int k = 0; k < G->nrow; ++k) {
    for (int i = 0; i < 2; ++i) {
      if (e->pair[2 * k + i] >= 0) e->end[e->start[e->pair[2 * k + i] + 1]++] = k;
    }
  }
  return true;
}

// The body at the other end of row k.
static int other_end(const Edges* e, int k, int body) {
  return e->pair[2 * k] == body ? e->pair[2 * k + 1] : e->pair[2 * k];
}

#define UNSEEN (-2)

// The bodies on joints to `body` go to the end of the order; false: one of them is there already.
static bool visit_body(Edges* e, int body, int* count) {
  for (int at = e->start[body]; at < e->start[body + 1]; ++at) {
    const int next = other_end(e, e->end[at], body);
    if (next == e->parent[body] || (next >= 0 && e->parent[next] == body)) continue;  // or a further row of a joint
    if (next < 0 || e->parent[next] != UNSEEN) return false;
    e->parent[next] = body;
    e->order[(*count)++] = next;
  }
  return true;
}

static bool is_on_ground(const Edges* e, int body) {
  for (int at = e->start[body]; at < e->start[body + 1]; ++at) {
    if (other_end(e, e->end[at], body) < 0) return true;
  }
  return false;
}

// Bodies from the ground outwards, floating ones from one of theirs; false: there is a loop.
static bool order_bodies(int nbody, Edges* e) {
  int head = 0, count = 0;
  for (int i = 0; i < nbody; ++i) e->parent[i] = UNSEEN;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < nbody; ++i) {
      if (e->parent[i] != UNSEEN || (pass == 0 && !is_on_ground(e, i))) continue;
      e->parent[i] = -1;
      e->order[count++] = i;
      for (; head < count; ++head) {
        if (!visit_body(e, e->order[head], &count)) return false;
      }
    }
  }
  for (int i = 0; i < nbody; ++i) e->place[e->order[i]] = i;
  return true;
}

// Rows of each joint, and where their numbers are; false: more than a joint can have.
static bool place_rows(const srmPattern* G, const Edges* e, srmTree* t) {
  for (int i = 0; i < t->nbody; ++i) {
    const int body = e->order[i], parent = e->parent[body];
    Body* b = &t->body[i];
    b->first = BODY * body;
    b->parent = parent < 0 ? -1 : e->place[parent];
    for (int at = e->start[body]; at < e->start[body + 1]; ++at) {
      const int k = e->end[at], second = G->row[k] + BODY;
      if (other_end(e, k, body) != parent) continue;
      if (b->nrow == BODY) return false;
      const bool is_first = e->pair[2 * k] == body;
      b->row[b->nrow] = k;
      b->outer[b->nrow] = is_first ? G->row[k] : second;
      b->inner[b->nrow++] = parent < 0 ? -1 : is_first ? second : G->row[k];
    }
  }
  return true;
}

void srm_tree_destroy(srmTree* t) {
  if (t == NULL) return;
  sr_free(t->body);
  sr_free(t->kept);
  sr_free(t);
}

bool srm_tree_create(const srmSaddleShape* shape, srmTree** out) {
  *out = NULL;
  if (shape->M == NULL || shape->G == NULL || shape->ng == 0 || !has_bodies(shape->M)) return true;
  Edges e = {0};
  srmTree* t = sr_alloc(sizeof *t);
  bool fits = false, good = t != NULL;
  if (good) {
    *t = (srmTree){.ng = shape->ng, .nbody = shape->nv / BODY};
    good = find_edges(shape->G, t->nbody, &e, &fits);
  }
  fits = good && fits && order_bodies(t->nbody, &e);
  if (fits) {
    t->body = sr_alloc((size_t)t->nbody * sizeof *t->body);
    t->kept = sr_alloc((size_t)t->ng);
    good = t->body != NULL && t->kept != NULL;
    fits = good && place_rows(shape->G, &e, t);
  }
  edges_free(&e);
  if (fits) {
    *out = t;
  } else {
    srm_tree_destroy(t);
  }
  return good;
}

size_t srm_tree_fill(const srmTree* t) { return (size_t)t->nbody * 3 * BODY * BODY; }

// ---- small blocks -----------------------------------------------------------------------------------------------------

#define ALL (~0ULL)
static _Alignas(32) const unsigned long long others[BODY][WIDE] = {
    {0, ALL, ALL, ALL, ALL, ALL}, {ALL, 0, ALL, ALL, ALL, ALL}, {ALL, ALL, 0, ALL, ALL, ALL},
    {ALL, ALL, ALL, 0, ALL, ALL}, {ALL, ALL, ALL, ALL, 0, ALL}, {ALL, ALL, ALL, ALL, ALL, 0}};
static _Alignas(32) const
    double unit[BODY][WIDE] = {{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1}};

// Two vectors of six numbers from memory that is not aligned; the rest is 0.
SRM_INLINE void load_six(const double* from, double* to) {
  v4_store(to, *(const v4_any*)from);
  v4_store(to + 4, (v4){from[4], from[5], 0, 0});
}

// a += s b, of WIDE numbers.
SRM_INLINE void add_times(double s, const double* b, double* a) {
  v4_store(a, v4_load(a) + v4_all(s) * v4_load(b));
  v4_store(a + 4, v4_load(a + 4) + v4_all(s) * v4_load(b + 4));
}

// Sum over n lines of A of s[at[k]] A[k], one vector.
SRM_INLINE v4 sum_at(int n, const double* s, const int* at, const double* A) {
  v4 sum = v4_all(s[at[0]]) * v4_load(A);
  SRM_UNROLL for (int k = 1; k < n; ++k) sum += v4_all(s[at[k]]) * v4_load(A + k * WIDE);
  return sum;
}

// The same with the lines at[k] of A: s[k] A[at[k]].
SRM_INLINE v4 sum_of(int n, const double* s, const double* A, const int* at) {
  v4 sum = v4_all(s[0]) * v4_load(A + at[0] * WIDE);
  SRM_UNROLL for (int k = 1; k < n; ++k) sum += v4_all(s[k]) * v4_load(A + at[k] * WIDE);
  return sum;
}

// The sum of the lanes of each of four.
SRM_INLINE v4 lane_sums(const v4 a[4]) {
  const v4 ab = __builtin_shufflevector(a[0], a[1], 0, 4, 2, 6) + __builtin_shufflevector(a[0], a[1], 1, 5, 3, 7);
  const v4 cd = __builtin_shufflevector(a[2], a[3], 0, 4, 2, 6) + __builtin_shufflevector(a[2], a[3], 1, 5, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

// Scalar products of n lines with x; up to WIDE numbers.
SRM_INLINE void line_products(int n, const double* A, const double* x, double* out) {
  const v4 low = v4_load(x), high = v4_load(x + 4);
  v4 t[WIDE];
  SRM_UNROLL for (int k = 0; k < WIDE; ++k) {
    t[k] = v4_zero();
    if (k < n) t[k] = low * v4_load(A + k * WIDE) + high * v4_load(A + k * WIDE + 4);
  }
  v4_store(out, lane_sums(t));
  v4_store(out + 4, lane_sums(t + 4));
}

// ---- pivots -----------------------------------------------------------------------------------------------------------

// The largest number among the lines and columns without a pivot so far.
static double find_pivot(const Body* b, double (*line)[BODY], const bool* taken, const bool* solved, int* at,
                         int* column) {
  double most = 0;
  for (int i = 0; i < b->nused; ++i) {
    for (int c = 0; c < BODY && !taken[i]; ++c) {
      if (solved[c] || !(fabs(line[i][c]) > most)) continue;
      most = fabs(line[i][c]);
      *at = i;
      *column = c;
    }
  }
  return most;
}

static void eliminate_column(double (*line)[BODY], int n, int i, int c, const bool* taken) {
  for (int j = 0; j < n; ++j) {
    if (taken[j]) continue;
    const double s = line[j][c] / line[i][c];
    for (int k = 0; k < BODY; ++k) line[j][k] -= s * line[i][k];
  }
}

// False: the rows are too near to dependent on this body.
static bool search_pivots(Body* b, const double* G) {
  double line[BODY][BODY], scale = 0;
  bool taken[BODY] = {false}, solved[BODY] = {false};
  b->searched = false;
  for (int i = 0; i < b->nused; ++i) memcpy(line[i], G + b->outer[b->used[i]], sizeof line[i]);
  for (int n = 0; n < b->nused; ++n) {
    int i = 0, c = 0;
    const double most = find_pivot(b, line, taken, solved, &i, &c);
    scale = n == 0 ? most : scale;
    if (!(most > PIVOT_LEAST * scale)) return false;
    taken[i] = solved[c] = true;
    eliminate_column(line, b->nused, i, c, taken);
    b->line[n] = b->used[i];
    b->column[n] = c;
  }
  for (int c = 0, n = 0; c < BODY; ++c) {
    if (!solved[c]) b->freed[n++] = c;
  }
  return b->searched = true;
}

// Solves line i for column c and removes it from the others; the coefficients of its right-hand side take the place of the column.
SRM_INLINE void exchange(int n, double* V, int i, int c) {
  const v4u* keep = (const v4u*)others[c];
  double* line = V + i * WIDE;
  const v4 by = v4_all(1 / line[c]);
  const v4 low = by * (v4)(((v4u)v4_load(line) & keep[0]) | (v4u)v4_load(unit[c]));
  const v4 high = by * (v4)(((v4u)v4_load(line + 4) & keep[1]) | (v4u)v4_load(unit[c] + 4));
  SRM_UNROLL for (int j = 0; j < n; ++j) {
    double* other = V + j * WIDE;
    if (j == i) continue;
    const v4 s = v4_all(other[c]);
    v4_store(other, (v4)((v4u)v4_load(other) & keep[0]) - s * low);
    v4_store(other + 4, (v4)((v4u)v4_load(other + 4) & keep[1]) - s * high);
  }
  v4_store(line, low);
  v4_store(line + 4, high);
}

// V with the pivots of last time. False: one of them is small now.
SRM_INLINE bool solve_lines(int n, Body* b, const double* G) {
  v4u open = ~((v4u){0} + (1ULL << 63)), open_high = open, good = ~(v4u){0};  // columns without a pivot; without signs
  SRM_UNROLL for (int i = 0; i < n; ++i) load_six(G + b->outer[b->line[i]], b->V + i * WIDE);
  SRM_UNROLL for (int i = 0; i < n; ++i) {
    const int c = b->column[i];
    const double* line = b->V + i * WIDE;
    const v4 most = v4_all(fabs(line[c]) * (1 / PIVOT_PART));
    good &= (v4u)(most > (v4)((v4u)v4_load(line) & open)) & (v4u)(most > (v4)((v4u)v4_load(line + 4) & open_high));
    open &= *(const v4u*)others[c];
    open_high &= *(const v4u*)(others[c] + 4);
    exchange(n, b->V, i, c);
  }
  return (good[0] & good[1] & good[2] & good[3]) != 0;
}

// ---- factor -----------------------------------------------------------------------------------------------------------

// N^T a of the free column c.
SRM_INLINE double free_part(int n, const Body* b, int c, const double* a) {
  double sum = a[c];
  SRM_UNROLL for (int k = 0; k < n; ++k) sum -= b->V[k * WIDE + c] * a[b->column[k]];
  return sum;
}

// What the diagonal of I contributes to N^T I N of the free column c.
SRM_INLINE double diagonal_part(int n, const Body* b, int c) {
  double sum = b->I[c * WIDE + c];
  SRM_UNROLL for (int k = 0; k < n; ++k) {
    const double N = b->V[k * WIDE + c];
    sum += N * N * b->I[b->column[k] * (WIDE + 1)];
  }
  return sum;
}

// K = I N of the free column c, one half.
SRM_INLINE v4 inertia_column(int n, const Body* b, int c, int half) {
  v4 sum = v4_load(b->I + c * WIDE + half);
  SRM_UNROLL for (int k = 0; k < n; ++k) {
    sum -= v4_all(b->V[k * WIDE + c]) * v4_load(b->I + b->column[k] * WIDE + half);
  }
  return sum;
}

// Eliminates the free columns. False: one of them has no inertia.
SRM_INLINE bool reduce_inertia(int n, Body* b) {
  for (int j = 0; j < BODY - n; ++j) {
    const int c = b->freed[j];
    double* K = b->K + j * WIDE;
    v4_store(K, inertia_column(n, b, c, 0));
    v4_store(K + 4, inertia_column(n, b, c, 4));
    const double d = free_part(n, b, c, K);
    // Later columns are compared with what the earlier ones have left, which is no more: the test is stricter there.
    if (!(d > INERTIA_LEAST * diagonal_part(n, b, c))) return false;
    b->d[j] = 1 / d;
    SRM_UNROLL for (int k = 0; k < n; ++k) { add_times(-K[b->column[k]] * b->d[j], K, b->I + b->column[k] * WIDE); }
    for (int k = j + 1; k < BODY - n; ++k) add_times(-K[b->freed[k]] * b->d[j], K, b->I + b->freed[k] * WIDE);
  }
  return true;
}

// E = V B
SRM_INLINE void store_inner(int n, Body* b, const double* G, double* B) {
  SRM_UNROLL for (int k = 0; k < n; ++k) load_six(G + b->inner[b->line[k]], B + k * WIDE);
  SRM_UNROLL for (int k = 0; k < n; ++k) {
    v4_store(b->E + k * WIDE, sum_at(n, b->V + k * WIDE, b->column, B));
    v4_store(b->E + k * WIDE + 4, sum_at(n, b->V + k * WIDE, b->column, B + 4));
  }
}

// I_a += E^T I E
SRM_INLINE void add_inertia(int n, const Body* b, double* I, double* product) {
  static const int line[BODY] = {0, WIDE, 2 * WIDE, 3 * WIDE, 4 * WIDE, 5 * WIDE};
  SRM_UNROLL for (int k = 0; k < n; ++k) {
    const double* row = b->I + b->column[k] * WIDE;
    v4_store(product + k * WIDE, sum_at(n, row, b->column, b->E));
    v4_store(product + k * WIDE + 4, sum_at(n, row, b->column, b->E + 4));
  }
  SRM_UNROLL for (int i = 0; i < BODY; ++i) {
    v4_store(I + i * WIDE, v4_load(I + i * WIDE) + sum_at(n, b->E + i, line, product));
    v4_store(I + i * WIDE + 4, v4_load(I + i * WIDE + 4) + sum_at(n, b->E + i, line, product + 4));
  }
}

// I_inner NULL: on the ground. work: BODY * WIDE numbers.
SRM_INLINE bool eliminate(int n, Body* b, const double* G, double* I_inner, double* work) {
  if (!b->searched || !solve_lines(n, b, G)) {
    if (!search_pivots(b, G)) return false;
    (void)solve_lines(n, b, G);
  }
  if (!reduce_inertia(n, b)) return false;
  if (I_inner == NULL || n == 0) return true;
  store_inner(n, b, G, work);
  add_inertia(n, b, I_inner, work);
  return true;
}

// A function of the number of pivots, which is written out for the usual joints.
#define BY_PIVOTS(function, b, ...)                                                                                    \
  ((b)->nused == 5 ? function(5, b, __VA_ARGS__)                                                                       \
                   : ((b)->nused == 4 ? function(4, b, __VA_ARGS__) : function((b)->nused, b, __VA_ARGS__)))

// The rows in use; the pivots of other ones are forgotten.
static void select_rows(Body* b, const unsigned char* kept) {
  int n = 0;
  bool same = true;
  for (int k = 0; k < b->nrow; ++k) {
    if (kept[b->row[k]] == 0) continue;
    same = same && n < b->nused && b->used[n] == k;
    b->used[n++] = k;
  }
  b->searched = b->searched && same && n == b->nused;
  b->nused = n;
}

SRM_CLONES bool srm_tree_factor(srmTree* t, const double* M, const double* G, const unsigned char* kept) {
  if (!t->known || memcmp(t->kept, kept, (size_t)t->ng) != 0) {
    memcpy(t->kept, kept, (size_t)t->ng);
    for (int i = 0; i < t->nbody; ++i) select_rows(&t->body[i], kept);
    t->known = true;
  }
  for (int i = 0; i < t->nbody; ++i) {
    Body* b = &t->body[i];
    for (int c = 0; c < BODY; ++c) {
      double* row = b->I + c * WIDE;
      if (M != NULL) {
        load_six(M + (size_t)(b->first + c) * BODY, row);
      } else {
        memset(row, 0, WIDE * sizeof *row);
        row[c] = 1;
      }
    }
  }
  for (int i = t->nbody - 1; i >= 0; --i) {
    Body* b = &t->body[i];
    double* I_inner = b->parent < 0 ? NULL : t->body[b->parent].I;
    if (!BY_PIVOTS(eliminate, b, G, I_inner, t->work)) return false;
  }
  return true;
}

// ---- solution ---------------------------------------------------------------------------------------------------------

// The right-hand side: forces of all bodies, and e of their joints.
SRM_INLINE void load_right(int n, Body* b, const double* f, const double* r) {
  _Alignas(32) double right[WIDE] = {0};
  memset(b->p, 0, sizeof b->p);
  if (f != NULL) load_six(f + b->first, b->p);
  SRM_UNROLL for (int k = 0; r != NULL && k < n; ++k) right[b->column[k]] = r[b->row[b->line[k]]];
  line_products(n, b->V, right, b->e);
}

SRM_INLINE void inwards(int n, Body* b, double* p_inner) {
  _Alignas(32) double rest[WIDE];
  for (int j = 0; j < BODY - n; ++j) {
    b->u[j] = free_part(n, b, b->freed[j], b->p);
    add_times(-b->u[j] * b->d[j], b->K + j * WIDE, b->p);
  }
  if (p_inner == NULL || n == 0) return;
  v4_store(rest, sum_of(n, b->e, b->I, b->column) - v4_load(b->p));
  v4_store(rest + 4, sum_of(n, b->e, b->I + 4, b->column) - v4_load(b->p + 4));
  v4_store(p_inner, v4_load(p_inner) + sum_at(n, rest, b->column, b->E));
  v4_store(p_inner + 4, v4_load(p_inner + 4) + sum_at(n, rest, b->column, b->E + 4));
}

// lambda = V^T (I y - p)
SRM_INLINE void store_multipliers(int n, const Body* b, const double* y, double* lambda) {
  _Alignas(32) double w[WIDE];
  v4_store(w, sum_of(n, y, b->I, b->column) - v4_load(b->p));
  v4_store(w + 4, sum_of(n, y, b->I + 4, b->column) - v4_load(b->p + 4));
  const v4 low = sum_at(n, w, b->column, b->V), high = sum_at(n, w, b->column, b->V + 4);
  v4_store(w, low);
  v4_store(w + 4, high);
  SRM_UNROLL for (int k = 0; k < n; ++k) lambda[b->row[b->line[k]]] = w[b->column[k]];
}

SRM_INLINE void outwards(int n, Body* b, const double* x_inner, double* lambda) {
  _Alignas(32) double y[WIDE], moved[WIDE];
  memcpy(y, b->e, sizeof y);
  if (x_inner != NULL) {
    line_products(n, b->E, x_inner, moved);
    v4_store(y, v4_load(y) - v4_load(moved));
    v4_store(y + 4, v4_load(y + 4) - v4_load(moved + 4));
  }
  if (lambda != NULL && n > 0) store_multipliers(n, b, y, lambda);
  SRM_UNROLL for (int k = 0; k < n; ++k) b->x[b->column[k]] = y[k];
  for (int j = BODY - n - 1; j >= 0; --j) {
    const int c = b->freed[j];
    const double* K = b->K + j * WIDE;
    double sum = b->u[j];
    SRM_UNROLL for (int k = 0; k < n; ++k) sum -= K[b->column[k]] * b->x[b->column[k]];
    for (int k = j + 1; k < BODY - n; ++k) sum -= K[b->freed[k]] * b->x[b->freed[k]];
    b->x[c] = sum * b->d[j];
    SRM_UNROLL for (int k = 0; k < n; ++k) b->x[b->column[k]] -= b->V[k * WIDE + c] * b->x[c];
  }
}

SRM_CLONES void srm_tree_solve(srmTree* t, const double* f, const double* r, double* x, double* lambda) {
  for (int i = 0; i < t->nbody; ++i) {
    Body* b = &t->body[i];
    BY_PIVOTS(load_right, b, f, r);
  }
  for (int i = t->nbody - 1; i >= 0; --i) {
    Body* b = &t->body[i];
    double* p_inner = b->parent < 0 ? NULL : t->body[b->parent].p;
    BY_PIVOTS(inwards, b, p_inner);
  }
  if (lambda != NULL) memset(lambda, 0, (size_t)t->ng * sizeof *lambda);
  for (int i = 0; i < t->nbody; ++i) {
    Body* b = &t->body[i];
    const double* x_inner = b->parent < 0 ? NULL : t->body[b->parent].x;
    BY_PIVOTS(outwards, b, x_inner, lambda);
    if (x != NULL) memcpy(x + b->first, b->x, BODY * sizeof *x);
  }
}
