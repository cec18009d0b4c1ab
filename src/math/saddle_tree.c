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
// Rows C that close loops (saddle_forest.h) come last. The elimination is that of the joints alone, P its operator from forces to x; u of the force
// C_k^T gives the row k of W, so that with D the diagonal of all d
//   S = C P C^T = W D^-1 W^T,   S mu = s - C x_0,   x = x_0 + P C^T mu
// S is dense and small, positive definite for independent rows. x holds in all joints whatever mu is, so that s - C x is all that
// rounding leaves: it is removed by the same S.
//
// The pivots of a joint are searched for once, among all its rows and columns, and kept while they are not small: a pivot may be a tenth
// of the largest number in its row. Functions below have the number n of pivots as an argument, which is a constant for the usual joints:
// their loops are then written out.
#include "math/saddle_tree.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/block_rows.h"
#include "math/saddle_forest.h"

#define PIVOT_PART 0.1       // of the largest number in its row
#define PIVOT_LEAST 1e-6     // of the largest number of the joint's rows on its outer body
#define INERTIA_LEAST 1e-10  // of a free column over the sum of what the diagonal of I contributes
#define LOOPS_MOST 48        // rows that close loops: S is dense
#define LOOP_LEAST 1e-10     // pivot of S over what the row has without joints
#define REFINED 1e-14        // remainder of a row that closes a loop over the numbers in it
#define PASSES 3

typedef struct Body {
  _Alignas(32) double I[BODY * WIDE];       // rows; reduced
  double V[BODY * WIDE], E[BODY * WIDE];    // rows, one for each pivot
  double K[BODY * WIDE];                    // rows, one for each free column
  double p[WIDE], x[WIDE];                  // by columns of b
  double e[WIDE], d[WIDE], u[WIDE];         // e by pivots; 1 / d and u by free columns
  double push[WIDE];                        // force of rows that close loops, by columns of b
  int first, parent, nrow;                  // column; index of the inner body, -1: the ground; rows in use
  int row[BODY], outer[BODY], inner[BODY];  // and where their numbers begin in G
  int line[BODY], column[BODY];             // pivots, in order of elimination: indices into `row`, columns
  int freed[BODY];                          // the other columns
  int dof;                                  // place of its free columns in the rows of W
  bool searched;
} Body;

// A row that closes a loop.
typedef struct Loop {
  int row, first, nblock;  // blocks: a body and its numbers
  int path, npath;         // bodies between these and the ground, outer ones first
  double scale, s, mu;     // of S; right-hand side; multiplier
} Loop;

struct srmTree {
  _Alignas(32) double work[BODY * WIDE];
  double* numbers;  // of the blocks of loops, WIDE each
  double *W, *S, *D;
  int ng, nbody;
  Body* body;  // inner bodies first
  srmForest* forest;
  const srmPattern* G;
  Loop* loop;
  int nloop, ndof;         // ndof: a multiple of 4
  int *block_body, *path;  // of blocks; of loops
  int *crossed, ncrossed;  // bodies on any path, inner ones first
  int* mark;               // by bodies
  unsigned char* kept;     // ng: rows in use, where known
  bool known, fits;        // fits: no more loops than there is room for
};

// ---- pattern ----------------------------------------------------------------------------------------------------------

void srm_tree_destroy(srmTree* t) {
  if (t == NULL) return;
  srm_forest_destroy(t->forest);
  void* parts[] = {t->body, t->kept,       t->loop, t->numbers, t->W,   t->S,
                   t->D,    t->block_body, t->path, t->crossed, t->mark};
  for (int i = 0; i < SR_COUNT(parts); ++i) sr_free(parts[i]);
  sr_free(t);
}

static bool create_loops(srmTree* t) {
  const size_t n = (size_t)t->nbody, most = (size_t)(t->ng < LOOPS_MOST ? t->ng : LOOPS_MOST);
  size_t blocks = 0;
  if (!t->forest->loops) return true;
  for (int k = 0; k < t->ng; ++k) blocks += (size_t)(t->G->row[k + 1] - t->G->row[k]) / BODY;
  t->loop = sr_alloc(most * sizeof *t->loop);
  return t->loop != NULL && srm_take_numbers(&t->numbers, WIDE * blocks) &&
         srm_take_numbers(&t->W, most * (BODY * n + 4)) && srm_take_numbers(&t->D, 2 * (BODY * n + 4)) &&
         srm_take_numbers(&t->S, most * most) && srm_take_ints(&t->block_body, blocks) &&
         srm_take_ints(&t->path, most * n) && srm_take_ints(&t->crossed, n) && srm_take_ints(&t->mark, n);
}

bool srm_tree_create(const srmSaddleShape* shape, srmTree** out) {
  *out = NULL;
  srmForest* forest;
  if (!srm_forest_create(shape->M, shape->G, &forest)) return false;
  if (forest == NULL) return true;
  srmTree* t = sr_alloc(sizeof *t);
  if (t == NULL) {
    srm_forest_destroy(forest);
    return false;
  }
  *t = (srmTree){.ng = shape->ng, .nbody = shape->nv / BODY, .forest = forest, .G = shape->G};
  t->body = sr_alloc((size_t)t->nbody * sizeof *t->body);
  t->kept = sr_alloc((size_t)t->ng);
  if (t->body == NULL || t->kept == NULL || !create_loops(t)) {
    srm_tree_destroy(t);
    return false;
  }
  *out = t;
  return true;
}

// ---- rows in use ------------------------------------------------------------------------------------------------------

static void put_joint(const srmTree* t, int place) {
  const srmForest* f = t->forest;
  const int link = f->joint[place], body = f->order[place];
  Body* b = &t->body[place];
  b->first = BODY * body;
  b->parent = f->parent[place];
  b->nrow = 0;
  b->searched = false;
  for (int k = link >= 0 ? f->link_start[link] : 0; link >= 0 && k < f->link_start[link + 1]; ++k) {
    const int row = f->link_row[k], at = t->G->row[row];
    const bool is_first = f->pair[2 * link] == body;
    if (f->chosen[row] == 0) continue;
    b->row[b->nrow] = row;
    b->outer[b->nrow] = is_first ? at : at + BODY;
    b->inner[b->nrow++] = b->parent < 0 ? -1 : is_first ? at + BODY : at;
  }
}

// Marks the bodies between a row's blocks and the ground, and lists them, outer ones first.
static void put_path(srmTree* t, Loop* loop) {
  int* path = t->path + loop->path;
  memset(t->mark, 0, (size_t)t->nbody * sizeof *t->mark);
  for (int i = loop->first; i < loop->first + loop->nblock; ++i) {
    for (int b = t->block_body[i]; b >= 0 && t->mark[b] == 0; b = t->body[b].parent) t->mark[b] = 1;
  }
  loop->npath = 0;
  for (int b = t->nbody - 1; b >= 0; --b) {
    if (t->mark[b] != 0) path[loop->npath++] = b;
  }
}

static void put_loop(srmTree* t, int row, int* block) {
  Loop* loop = &t->loop[t->nloop];
  *loop = (Loop){.row = row, .first = *block, .path = t->nloop++ * t->nbody};
  for (int at = t->G->row[row]; at < t->G->row[row + 1]; at += BODY) {
    t->block_body[(*block)++] = t->forest->place[t->G->column[at] / BODY];
    ++loop->nblock;
  }
  put_path(t, loop);
}

// The bodies that loops pass, and the places of their free columns.
static void put_crossed(srmTree* t) {
  memset(t->mark, 0, (size_t)t->nbody * sizeof *t->mark);
  for (int l = 0; l < t->nloop; ++l) {
    for (int i = 0; i < t->loop[l].npath; ++i) t->mark[t->path[t->loop[l].path + i]] = 1;
  }
  t->ncrossed = t->ndof = 0;
  for (int b = 0; b < t->nbody; ++b) {
    if (t->mark[b] == 0) continue;
    t->crossed[t->ncrossed++] = b;
    t->body[b].dof = t->ndof;
    t->ndof += BODY - t->body[b].nrow;
    memset(t->body[b].push, 0, sizeof t->body[b].push);
  }
  t->ndof = (t->ndof + 3) / 4 * 4;
  memset(t->W, 0, (size_t)t->nloop * (size_t)t->ndof * sizeof *t->W);
  memset(t->D, 0, 2 * (size_t)t->ndof * sizeof *t->D);
}

static void select_rows(srmTree* t, const unsigned char* kept) {
  int block = 0;
  memcpy(t->kept, kept, (size_t)t->ng);
  t->known = true;
  srm_forest_choose(t->forest, kept);
  t->nloop = 0;
  t->fits = t->forest->ncut <= LOOPS_MOST;
  if (!t->fits) return;
  for (int i = 0; i < t->nbody; ++i) put_joint(t, i);
  for (int k = 0; k < t->ng && t->forest->ncut > 0; ++k) {
    if (kept[k] != 0 && t->forest->chosen[k] == 0) put_loop(t, k, &block);
  }
  if (t->nloop > 0) put_crossed(t);
}

size_t srm_tree_fill(const srmTree* t) {
  return (size_t)t->nbody * 3 * BODY * BODY + (size_t)t->nloop * (size_t)(t->nloop + t->ndof);
}

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
  for (int i = 0; i < b->nrow; ++i) {
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
  for (int i = 0; i < b->nrow; ++i) memcpy(line[i], G + b->outer[i], sizeof line[i]);
  for (int n = 0; n < b->nrow; ++n) {
    int i = 0, c = 0;
    const double most = find_pivot(b, line, taken, solved, &i, &c);
    scale = n == 0 ? most : scale;
    if (!(most > PIVOT_LEAST * scale)) return false;
    taken[i] = solved[c] = true;
    eliminate_column(line, b->nrow, i, c, taken);
    b->line[n] = i;
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
  ((b)->nrow == 5   ? function(5, b, __VA_ARGS__)                                                                      \
   : (b)->nrow == 6 ? function(6, b, __VA_ARGS__)                                                                      \
   : (b)->nrow == 4 ? function(4, b, __VA_ARGS__)                                                                      \
                    : function((b)->nrow, b, __VA_ARGS__))

// The force p of a row that closes a loop, and of those beyond, past the joint of a body: the parts of the free columns into u, which are
// removed from p; what is left goes to the inner body.
SRM_INLINE void pass_force(int n, const Body* b, double* p, double* u, double* p_inner) {
  for (int j = 0; j < BODY - n; ++j) {
    u[j] = free_part(n, b, b->freed[j], p);
    add_times(-u[j] * b->d[j], b->K + j * WIDE, p);
  }
  if (p_inner == NULL || n == 0) return;
  v4_store(p_inner, v4_load(p_inner) - sum_at(n, p, b->column, b->E));
  v4_store(p_inner + 4, v4_load(p_inner + 4) - sum_at(n, p, b->column, b->E + 4));
}

SRM_INLINE double* push_of(srmTree* t, int body) { return body < 0 ? NULL : t->body[body].push; }

// The row of W, and what the row would have in S if all its bodies were free.
SRM_INLINE void load_loop(srmTree* t, Loop* loop, const double* M, const double* G, double* W) {
  loop->scale = 0;
  for (int i = loop->first; i < loop->first + loop->nblock; ++i) {
    Body* b = &t->body[t->block_body[i]];
    double* number = t->numbers + (size_t)i * WIDE;
    load_six(G + t->G->row[loop->row] + (i - loop->first) * BODY, number);
    add_times(1, number, b->push);
    for (int c = 0; c < BODY; ++c) {
      const double mass = M != NULL ? M[(size_t)(b->first + c) * BODY + (size_t)c] : 1;
      if (mass > 0) loop->scale += number[c] * number[c] / mass;
    }
  }
  for (int i = 0; i < loop->npath; ++i) {
    Body* b = &t->body[t->path[loop->path + i]];
    BY_PIVOTS(pass_force, b, b->push, W + b->dof, push_of(t, b->parent));
    clear(1, b->push);
  }
}

// S = L L^T, in the lower triangle; the diagonal is inverted. False: a row depends on the others.
SRM_INLINE bool factor_loops(srmTree* t) {
  const int n = t->nloop, ndof = t->ndof;
  double* scaled = t->D + ndof;
  for (int i = 0; i < n; ++i) {
    double *Si = t->S + (size_t)i * (size_t)n, *Wi = t->W + (size_t)i * (size_t)ndof;
    for (int k = 0; k < ndof; k += 4) v4_store(scaled + k, v4_load(Wi + k) * v4_load(t->D + k));
    for (int j = 0; j <= i; ++j) {
      const double *Sj = t->S + (size_t)j * (size_t)n, *Wj = t->W + (size_t)j * (size_t)ndof;
      v4 sum = v4_zero();
      for (int k = 0; k < ndof; k += 4) sum += v4_load(scaled + k) * v4_load(Wj + k);
      double entry = sum[0] + sum[1] + (sum[2] + sum[3]);
      const double least = LOOP_LEAST * fmax(entry, t->loop[i].scale);
      for (int k = 0; k < j; ++k) entry -= Si[k] * Sj[k];
      if (i == j && !(entry > least)) return false;
      Si[j] = i == j ? 1 / sqrt(entry) : entry * Sj[j];
    }
  }
  return true;
}

SRM_INLINE bool eliminate_loops(srmTree* t, const double* M, const double* G) {
  for (int i = 0; i < t->ncrossed; ++i) {
    const Body* b = &t->body[t->crossed[i]];
    for (int j = 0; j < BODY - b->nrow; ++j) t->D[b->dof + j] = b->d[j];
  }
  for (int l = 0; l < t->nloop; ++l) load_loop(t, &t->loop[l], M, G, t->W + (size_t)l * (size_t)t->ndof);
  return factor_loops(t);
}

SRM_CLONES bool srm_tree_factor(srmTree* t, const double* M, const double* G, const unsigned char* kept) {
  if (!t->known || memcmp(t->kept, kept, (size_t)t->ng) != 0) select_rows(t, kept);
  if (!t->fits) return false;
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
  return t->nloop == 0 || eliminate_loops(t, M, G);
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

SRM_INLINE void move_outwards(srmTree* t, Body* b, double* lambda) {
  const double* x_inner = b->parent < 0 ? NULL : t->body[b->parent].x;
  BY_PIVOTS(outwards, b, x_inner, lambda);
}

// s - C x of all loops into `by`; the largest over the largest sum of the numbers in one.
SRM_INLINE double loop_remainder(const srmTree* t, double* by) {
  double most = 0, size = 0;
  for (int l = 0; l < t->nloop; ++l) {
    const Loop* loop = &t->loop[l];
    v4 sum = v4_zero(), sizes = v4_zero();
    for (int i = loop->first; i < loop->first + loop->nblock; ++i) {
      const double *number = t->numbers + (size_t)i * WIDE, *x = t->body[t->block_body[i]].x;
      const v4 low = v4_load(number) * v4_load(x), high = v4_load(number + 4) * v4_load(x + 4);
      sum += low + high;
      sizes += v4_abs(low) + v4_abs(high);
    }
    by[l] = loop->s - (sum[0] + sum[1] + (sum[2] + sum[3]));
    most = fmax(most, fabs(by[l]));
    size = fmax(size, fabs(loop->s) + (sizes[0] + sizes[1] + (sizes[2] + sizes[3])));
  }
  return most > 0 ? most / size : 0;
}

// y <- S^-1 y
static void solve_loops(const srmTree* t, double* y) {
  const int n = t->nloop;
  const double* S = t->S;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) y[i] -= S[(size_t)i * (size_t)n + (size_t)k] * y[k];
    y[i] *= S[(size_t)i * (size_t)(n + 1)];
  }
  for (int i = n - 1; i >= 0; --i) {
    y[i] *= S[(size_t)i * (size_t)(n + 1)];
    for (int k = 0; k < i; ++k) y[k] -= S[(size_t)i * (size_t)n + (size_t)k] * y[i];
  }
}

// Forces C^T mu in addition to those that have gone inwards.
SRM_INLINE void add_loop_forces(srmTree* t, const double* mu) {
  for (int l = 0; l < t->nloop; ++l) {
    t->loop[l].mu += mu[l];
    for (int i = t->loop[l].first; i < t->loop[l].first + t->loop[l].nblock; ++i) {
      add_times(mu[l], t->numbers + (size_t)i * WIDE, t->body[t->block_body[i]].push);
    }
  }
  for (int i = t->ncrossed - 1; i >= 0; --i) {
    Body* b = &t->body[t->crossed[i]];
    double u[BODY];
    BY_PIVOTS(pass_force, b, b->push, u, push_of(t, b->parent));
    for (int j = 0; j < BODY - b->nrow; ++j) b->u[j] += u[j];
    add_times(1, b->push, b->p);
    clear(1, b->push);
  }
}

// The joints are solved inwards; multipliers of loops, then all outwards.
SRM_INLINE void close_loops(srmTree* t, const double* r, double* lambda) {
  double mu[LOOPS_MOST];
  for (int l = 0; l < t->nloop; ++l) {
    t->loop[l].s = r != NULL ? r[t->loop[l].row] : 0;
    t->loop[l].mu = 0;
  }
  for (int i = 0; i < t->ncrossed; ++i) move_outwards(t, &t->body[t->crossed[i]], NULL);
  for (int pass = 0; pass < PASSES && loop_remainder(t, mu) > REFINED; ++pass) {
    solve_loops(t, mu);
    add_loop_forces(t, mu);
    for (int i = 0; i < t->ncrossed; ++i) move_outwards(t, &t->body[t->crossed[i]], NULL);
  }
  for (int l = 0; lambda != NULL && l < t->nloop; ++l) lambda[t->loop[l].row] = t->loop[l].mu;
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
  if (t->nloop > 0) close_loops(t, r, lambda);
  for (int i = 0; i < t->nbody; ++i) {
    Body* b = &t->body[i];
    move_outwards(t, b, lambda);
    if (x != NULL) memcpy(x + b->first, b->x, BODY * sizeof *x);
  }
}
