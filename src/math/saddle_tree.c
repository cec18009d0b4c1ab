// Elimination from the tips of a forest of joints, body by body.
//
// Body b with its inertia I and force p, those of the bodies beyond it included, on a joint with rows A x_b + B x_a = r to body a:
//   I x_b - A^T lambda = p
// Gauss-Jordan of [A 1] solves the rows for as many columns of b, the pivots; the others are free:
//   x_b = E x_a + N z + e,   E = -V B,  e = V r;   A^T lambda = w  =>  lambda = V^T w        (V: inverse of A in the columns of the pivots)
// N^T (I x_b - p) = 0 gives z, one column after the other, as for the joint of an articulated body (Featherstone 2008, chapter 7):
//   K = I N,  d = N^T K,  u = N^T p:   z = (u - K^T y) / d,   I <- I - K K^T / d,   p <- p - K u / d
// and what is left goes to body a:   I_a += E^T I E,   p_a += E^T (p - I e).   Outwards: y = E x_a + e, lambda = V^T (I y - p), x_b = y + N z.
//
// The pivots of a joint are searched for once, among all its rows and columns, and kept while they are not small: a pivot may be a tenth
// of the largest number in its row.
#include "math/saddle_tree.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/block_rows.h"

#define BODY 6               // columns of a body, and the most rows of a joint
#define WIDE 8               // numbers in a stored row
#define LINE (3 * WIDE)      // numbers in a row of [A B 1]
#define PIVOT_PART 0.1       // of the largest number in its row
#define PIVOT_LEAST 1e-6     // of the largest number of the joint's rows on its outer body
#define INERTIA_LEAST 1e-10  // of a free column over the sum of what the diagonal of I contributes

typedef struct Body {
  _Alignas(32) double I[BODY * WIDE];                     // rows; reduced
  double E[BODY * WIDE];                                  // rows
  double V[BODY * WIDE], N[BODY * WIDE], K[BODY * WIDE];  // columns: of the rows in use; of the free columns of b
  double p[WIDE], e[WIDE], x[WIDE], d[WIDE], u[WIDE];
  int first, parent, nrow;                  // column; index of the inner body, -1: the ground; rows
  int row[BODY], outer[BODY], inner[BODY];  // and where their numbers begin in G
  int used[BODY], nused;                    // those kept
  int line[BODY], column[BODY];             // pivots, in order of elimination: indices into `used`, columns
  int freed[BODY];                          // the other columns
  bool searched;
} Body;

struct srmTree {
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

// out = sum over c of s[c] A[c]; out may not be s.
SRM_INLINE void combine_six(const double* s, const double* A, double* out) {
  v4_store(out, sum_six(s, A));
  v4_store(out + 4, sum_six(s, A + 4));
}

// ---- factor -----------------------------------------------------------------------------------------------------------

// Rows [A 1] of the joint.
SRM_INLINE void load_lines(const Body* b, const double* G, double (*line)[LINE]) {
  for (int i = 0; i < b->nused; ++i) {
    const double* A = G + b->outer[b->used[i]];
    v4_store(line[i], *(const v4_any*)A);
    v4_store(line[i] + 4, (v4){A[4], A[5], 0, 0});
    v4_store(line[i] + 8, v4_zero());
    line[i][BODY + i] = 1;
  }
}

SRM_INLINE double largest_of(const double* a) {
  const v4 m = v4_larger(v4_abs(v4_load(a)), v4_abs((v4){a[4], a[5], a[4], a[5]}));
  const double one = m[0] > m[1] ? m[0] : m[1], two = m[2] > m[3] ? m[2] : m[3];
  return one > two ? one : two;
}

// Solves line i for column c, and removes it from the others.
SRM_INLINE void pivot_on(int n, double (*line)[LINE], int i, int c) {
  const v4 by = v4_all(1 / line[i][c]);
  const v4 x = by * v4_load(line[i]), y = by * v4_load(line[i] + 4), z = by * v4_load(line[i] + 8);
  for (int j = 0; j < n; ++j) {
    const v4 s = v4_all(line[j][c]);
    v4_store(line[j], v4_load(line[j]) - s * x);
    v4_store(line[j] + 4, v4_load(line[j] + 4) - s * y);
    v4_store(line[j] + 8, v4_load(line[j] + 8) - s * z);
  }
  v4_store(line[i], x);
  v4_store(line[i] + 4, y);
  v4_store(line[i] + 8, z);
}

// The largest number among the lines and columns without a pivot so far.
static double find_pivot(const Body* b, double (*line)[LINE], int n, int* at, int* column) {
  double most = 0;
  for (int i = 0; i < b->nused; ++i) {
    for (int c = 0; c < BODY; ++c) {
      bool taken = false;
      for (int j = 0; j < n; ++j) taken = taken || b->line[j] == i || b->column[j] == c;
      if (taken || !(fabs(line[i][c]) > most)) continue;
      most = fabs(line[i][c]);
      *at = i;
      *column = c;
    }
  }
  return most;
}

static bool search_pivots(Body* b, const double* G, double (*line)[LINE]) {
  double scale = 0;
  load_lines(b, G, line);
  for (int n = 0; n < b->nused; ++n) {
    const double most = find_pivot(b, line, n, &b->line[n], &b->column[n]);
    scale = n == 0 ? most : scale;
    if (!(most > PIVOT_LEAST * scale)) return false;
    pivot_on(b->nused, line, b->line[n], b->column[n]);
  }
  for (int c = 0, n = 0; c < BODY; ++c) {
    bool taken = false;
    for (int j = 0; j < b->nused; ++j) taken = taken || b->column[j] == c;
    if (!taken) b->freed[n++] = c;
  }
  return b->searched = true;
}

// With the pivots of last time. False: one of them is small now.
SRM_INLINE bool reuse_pivots(const Body* b, const double* G, double (*line)[LINE]) {
  if (!b->searched) return false;
  load_lines(b, G, line);
  for (int n = 0; n < b->nused; ++n) {
    const int i = b->line[n], c = b->column[n];
    if (!(fabs(line[i][c]) > PIVOT_PART * largest_of(line[i]))) return false;
    pivot_on(b->nused, line, i, c);
  }
  return true;
}

// V and N from the solved lines.
SRM_INLINE void store_joint(Body* b, double (*line)[LINE]) {
  const int nfree = BODY - b->nused;
  for (int c = 0; c < 2 * BODY; ++c) v4_store(b->V + 4 * c, v4_zero());
  for (int c = 0; c < 2 * nfree; ++c) v4_store(b->N + 4 * c, v4_zero());
  for (int n = 0; n < b->nused; ++n) {
    const double* x = line[b->line[n]];
    double* V = b->V + b->column[n];
    for (int k = 0; k < b->nused; ++k) V[k * WIDE] = x[BODY + k];
    for (int j = 0; j < nfree; ++j) b->N[j * WIDE + b->column[n]] = -x[b->freed[j]];
  }
  for (int j = 0; j < nfree; ++j) b->N[j * WIDE + b->freed[j]] = 1;
}

// E = -V B
SRM_INLINE void store_inner(Body* b, const double* G, double (*line)[LINE]) {
  _Alignas(32) double B[BODY * WIDE] = {0};
  for (int i = 0; i < b->nused; ++i) load_six(G + b->inner[b->used[i]], B + i * WIDE);
  for (int n = 0; n < b->nused; ++n) {
    const double* x = line[b->line[n]] + BODY;
    double* E = b->E + b->column[n] * WIDE;
    v4_store(E, -sum_six(x, B));
    v4_store(E + 4, -sum_six(x, B + 4));
  }
  for (int j = 0; j < BODY - b->nused; ++j) {
    v4_store(b->E + b->freed[j] * WIDE, v4_zero());
    v4_store(b->E + b->freed[j] * WIDE + 4, v4_zero());
  }
}

// What the diagonal of I contributes to n^T I n.
SRM_INLINE double diagonal_part(const double* I, const double* n) {
  double sum = 0;
  for (int c = 0; c < BODY; ++c) sum += n[c] * n[c] * I[c * WIDE + c];
  return sum;
}

// Eliminates the free columns. False: one of them has no inertia.
SRM_INLINE bool reduce_inertia(Body* b) {
  for (int j = 0; j < BODY - b->nused; ++j) {
    double *N = b->N + j * WIDE, *K = b->K + j * WIDE;
    combine_six(N, b->I, K);
    const double d = dot(BODY, N, K);
    // Later columns are compared with what the earlier ones have left, which is no more: the test is stricter there.
    if (!(d > INERTIA_LEAST * diagonal_part(b->I, N))) return false;
    b->d[j] = 1 / d;
    for (int c = 0; c < BODY; ++c) add_times(-K[c] * b->d[j], K, b->I + c * WIDE);
  }
  return true;
}

// I_a += E^T I E
SRM_INLINE void add_inertia(const Body* b, double* I) {
  _Alignas(32) double product[BODY * WIDE];
  for (int c = 0; c < BODY; ++c) combine_six(b->I + c * WIDE, b->E, product + c * WIDE);
  for (int i = 0; i < BODY; ++i) {
    const double* E = b->E + i;
    const double column[BODY] = {E[0], E[WIDE], E[2 * WIDE], E[3 * WIDE], E[4 * WIDE], E[5 * WIDE]};
    v4_store(I + i * WIDE, v4_load(I + i * WIDE) + sum_six(column, product));
    v4_store(I + i * WIDE + 4, v4_load(I + i * WIDE + 4) + sum_six(column, product + 4));
  }
}

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
  _Alignas(32) double line[BODY][LINE];
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
    if (!reuse_pivots(b, G, line) && !search_pivots(b, G, line)) return b->searched = false;
    store_joint(b, line);
    if (!reduce_inertia(b)) return false;
    if (b->parent < 0) continue;
    store_inner(b, G, line);
    add_inertia(b, t->body[b->parent].I);
  }
  return true;
}

// ---- solution ---------------------------------------------------------------------------------------------------------

// The right-hand side: forces of all bodies, and e of their joints.
SRM_INLINE void load_right(srmTree* t, const double* f, const double* r) {
  for (int i = 0; i < t->nbody; ++i) {
    Body* b = &t->body[i];
    _Alignas(32) double right[WIDE] = {0};
    memset(b->p, 0, sizeof b->p);
    if (f != NULL) load_six(f + b->first, b->p);
    for (int k = 0; r != NULL && k < b->nused; ++k) right[k] = r[b->row[b->used[k]]];
    combine_six(right, b->V, b->e);
  }
}

SRM_INLINE void inwards(srmTree* t) {
  _Alignas(32) double rest[WIDE], up[WIDE];
  for (int i = t->nbody - 1; i >= 0; --i) {
    Body* b = &t->body[i];
    for (int j = 0; j < BODY - b->nused; ++j) {
      b->u[j] = dot(BODY, b->N + j * WIDE, b->p);
      add_times(-b->u[j] * b->d[j], b->K + j * WIDE, b->p);
    }
    if (b->parent < 0) continue;
    combine_six(b->e, b->I, rest);
    v4_store(rest, v4_load(b->p) - v4_load(rest));
    v4_store(rest + 4, v4_load(b->p + 4) - v4_load(rest + 4));
    combine_six(rest, b->E, up);
    add_times(1, up, t->body[b->parent].p);
  }
}

SRM_INLINE void outwards(srmTree* t, double* lambda) {
  _Alignas(32) double w[WIDE];
  for (int i = 0; i < t->nbody; ++i) {
    Body* b = &t->body[i];
    memcpy(b->x, b->e, sizeof b->x);
    for (int c = 0; b->parent >= 0 && c < BODY; ++c) b->x[c] += dot(BODY, b->E + c * WIDE, t->body[b->parent].x);
    if (lambda != NULL) {
      combine_six(b->x, b->I, w);
      add_times(-1, b->p, w);
      for (int k = 0; k < b->nused; ++k) lambda[b->row[b->used[k]]] = dot(BODY, b->V + k * WIDE, w);
    }
    for (int j = BODY - b->nused - 1; j >= 0; --j) {
      add_times((b->u[j] - dot(BODY, b->K + j * WIDE, b->x)) * b->d[j], b->N + j * WIDE, b->x);
    }
  }
}

SRM_CLONES void srm_tree_solve(srmTree* t, const double* f, const double* r, double* x, double* lambda) {
  load_right(t, f, r);
  inwards(t);
  if (lambda != NULL) memset(lambda, 0, (size_t)t->ng * sizeof *lambda);
  outwards(t, lambda);
  for (int i = 0; x != NULL && i < t->nbody; ++i) memcpy(x + t->body[i].first, t->body[i].x, BODY * sizeof *x);
}
