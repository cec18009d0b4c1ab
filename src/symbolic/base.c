// Base parameters: the fewest combinations of the bodies' inertia that the motion depends on (Gautier and Khalil 1990; Gautier 1991).
//
// By rule, what moves with the parent as well is moved there (regroup.c): rho = K pi, with many entries of rho 0. What is dependent still, by the directions of axes and of gravity, is found in numbers: Y of rho at random states, its columns from
// the ground to the tips made orthogonal one after the other. A column of which nothing is left is a sum of those before it, Y_D = Y_S C, and
//   tau = Y_S beta,   beta = rho_S + C rho_D = B pi
// Rows of B may be dependent still, of links without a body of their own: B = D B_T, and tau = (Y_S D) (B_T pi).
#include <math.h>
#include <string.h>

#include "math/philox.h"
#include "symbolic/regressor.h"

enum { P = SR_LINK_PARAMETERS, STATES = 30 };
#define DEPENDENT 1e-9  // part of a column that is left
#define SMALL 1e-10     // coefficients of combinations that are 0
#define ROUNDING 1e-12  // part of the largest

typedef struct Work {
  srPool* pool;
  const srSymTree* tree;
  int nlink, nbody;  // parameters: of links and armatures, of bodies and armatures
  double* K;         // nlink x nbody
  srGeneratedParameter* body;
  int* body_link;
  double* own;
  int ncandidate, *candidate;  // parameters of links that are not 0
  int *kept, nkept;            // of the candidates: base parameter, -1: dependent
  double* C;                   // ncandidate x ncandidate: row, of a dependent one; columns, those kept
  double* B;                   // nkept x nbody
} Work;

// Parameters are of the size length^dimension: mass 0, first moment 1, inertia 2.
static double size_of(const Work* w, int parameter) {
  const double length = w->tree->length > 0 ? w->tree->length : 1;
  if (parameter >= P * w->tree->n) return 1;
  return parameter % P == 0 ? 1 : parameter % P < 4 ? length : length * length;
}

// ---- parameters of bodies -------------------------------------------------------------------------------------------------

static void unit(int p, double* mass, double* h, double* J) {
  static const int row[P] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 2}, column[P] = {0, 0, 0, 0, 0, 1, 2, 1, 2, 2};
  *mass = p == 0;
  for (int i = 0; i < 3; i++) h[i] = p == 1 + i;
  memset(J, 0, 9 * sizeof *J);
  if (p > 3) J[3 * row[p] + column[p]] = J[3 * column[p] + row[p]] = 1;
}

static void parameters_of(const srSymLink* l, double* out) {
  const double x[P] = {l->mass, l->h[0], l->h[1], l->h[2], l->J[0], l->J[1], l->J[2], l->J[4], l->J[5], l->J[8]};
  memcpy(out, x, sizeof x);
}

// Inertia of body b about its origin.
static void body_values(const srModel* m, int b, double* out) {
  static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, none[3] = {0};
  const double mass = m->body_mass[b], *c = m->body_com + 4 * b;
  srSymLink x = {0};
  sr_sym_add_inertia(&x, same, c, mass, none, m->body_inertia + 9 * b);
  parameters_of(&x, out);
}

// A unit parameter of body b in the frame of its link: by the body's place on it, then by that of the tree's frame in the model's.
static void unit_in_link(const Work* w, int b, int p, srSymLink* out) {
  const srModel* m = w->tree->m;
  const double* T = m->point_pose + 16 * b;
  const srSymLink* l = &w->tree->link[m->body_link[b]];
  double mass, h[3], J[9], Q[9];
  srSymLink x = {0};
  unit(p, &mass, h, J);
  for (int i = 0; i < 9; i++) Q[i] = T[4 * (i % 3) + i / 3];
  sr_sym_add_inertia(&x, Q, T + 12, mass, h, J);
  const double s = sin(l->turn), c = cos(l->turn), back[9] = {c, s, 0, -s, c, 0, 0, 0, 1}, p0[3] = {0, 0, -l->slide};
  out->mass = 0, memset(out->h, 0, sizeof out->h), memset(out->J, 0, sizeof out->J);
  sr_sym_add_inertia(out, back, p0, x.mass, x.h, x.J);
}

static void clear_inertia(srSymTree* tree) {
  for (int i = 0; i < tree->n; i++) {
    tree->link[i].mass = 0;
    memset(tree->link[i].h, 0, sizeof tree->link[i].h), memset(tree->link[i].J, 0, sizeof tree->link[i].J);
  }
}

static void put_body(Work* w, int b, srSymTree* scratch, int* at) {
  const srModel* m = w->tree->m;
  double value[P];
  body_values(m, b, value);
  for (int p = 0; p < P; p++, (*at)++) {
    const int j = *at, link = m->body_link[b];
    clear_inertia(scratch);
    unit_in_link(w, b, p, &scratch->link[link]);
    parameters_of(&scratch->link[link], w->own + P * j);
    for (int i = 0; i < P; i++) w->own[P * j + i] = fabs(w->own[P * j + i]) < 1e-15 ? 0 : w->own[P * j + i];
    sr_sym_regroup(scratch);
    for (int i = 1; i < scratch->n; i++) {
      double x[P];
      parameters_of(&scratch->link[i], x);
      for (int k = 0; k < P; k++) {
        const bool rounding = fabs(x[k]) < ROUNDING * size_of(w, k) / size_of(w, p);
        w->K[(size_t)(P * i + k) * (size_t)w->nbody + (size_t)j] = rounding ? 0 : x[k];
      }
    }
    w->body_link[j] = link;
    w->body[j] = (srGeneratedParameter){.name = sr_pool_printf(w->pool, "%s.%s", m->body_name[b], sr_link_parameter[p]),
                                        .value = value[p]};
  }
}

static void put_bodies(Work* w) {
  const srModel* m = w->tree->m;
  srSymTree scratch = *w->tree;
  scratch.link = sr_pool_alloc(w->pool, (size_t)scratch.n * sizeof *scratch.link);
  memcpy(scratch.link, w->tree->link, (size_t)scratch.n * sizeof *scratch.link);
  for (int b = 1; b <= m->nbody; b++) w->nbody += m->body_link[b] > 0 ? P : 0;
  for (int k = 0; k < m->nv; k++) w->nbody += sr_sym_armature(m)[k] != 0;
  const size_t n = (size_t)w->nbody + 1;
  w->K = sr_pool_alloc(w->pool, (size_t)w->nlink * n * sizeof *w->K);
  w->body = sr_pool_alloc(w->pool, n * sizeof *w->body), w->body_link = sr_pool_alloc(w->pool, n * sizeof(int));
  w->own = sr_pool_alloc(w->pool, n * P * sizeof *w->own);
  int at = 0;
  for (int b = 1; b <= m->nbody; b++) {
    if (m->body_link[b] > 0) put_body(w, b, &scratch, &at);
  }
  for (int k = 0; k < m->nv; k++) {
    if (sr_sym_armature(m)[k] == 0) continue;
    w->K[(size_t)(P * w->tree->n + k) * (size_t)w->nbody + (size_t)at] = 1;
    w->body_link[at] = -1, w->own[P * at] = k;
    w->body[at++] = (srGeneratedParameter){.name = sr_pool_printf(w->pool, "%s.armature", m->v_name[k]),
                                           .value = sr_sym_armature(m)[k]};
  }
}

// ---- what depends on what -------------------------------------------------------------------------------------------------

static void find_candidates(Work* w) {
  w->candidate = sr_pool_alloc(w->pool, (size_t)w->nlink * sizeof *w->candidate);
  for (int i = 0; i < w->nlink; i++) {
    bool any = false;
    for (int j = 0; j < w->nbody; j++) any = any || w->K[(size_t)i * (size_t)w->nbody + (size_t)j] != 0;
    if (any) w->candidate[w->ncandidate++] = i;
  }
}

static double random_number(uint32_t* counter, double size) {
  uint32_t out[4];
  srm_philox((uint32_t[4]){(*counter)++, 0, 0, 0}, (uint32_t[2]){1990, 0}, out);
  return size * (2 * srm_unit_interval(out[0], out[1]) - 1);
}

static const srCode* candidate_code(const Work* w) {
  srSymTree* tree = sr_pool_alloc(w->pool, sizeof *tree);
  int* column = sr_pool_alloc(w->pool, (size_t)w->nlink * sizeof *column);
  const int nv = w->tree->m->nv, nout = nv * w->ncandidate;
  srNode *out = sr_pool_alloc(w->pool, ((size_t)nout + 1) * sizeof *out),
         *a = sr_pool_alloc(w->pool, ((size_t)nv + 1) * sizeof *a);
  srGraph* g = sr_graph_create(w->pool);
  *tree = *w->tree;
  tree->own_axes = true;
  for (int i = 0; i < w->nlink; i++) column[i] = -1;
  for (int i = 0; i < w->ncandidate; i++) column[w->candidate[i]] = i;
  for (int k = 0; k < nv; k++) a[k] = sr_graph_var(g, SR_VAR_A, k);
  sr_sym_regressor(sr_sym_pass(g, w->pool, tree), a, column, w->ncandidate, out);
  return sr_code_create(w->pool, g, out, nout);
}

// Columns of Y at all states, one after the other; rows of them.
static double* sample(const Work* w, int* rows) {
  const srModel* m = w->tree->m;
  const int nv = m->nv, nc = w->ncandidate;
  const srCode* code = candidate_code(w);
  *rows = STATES * nv;
  double *A = sr_pool_alloc(w->pool, ((size_t)*rows * (size_t)nc + 1) * sizeof *A),
         *work = sr_pool_alloc(w->pool, (size_t)code->work * sizeof *work),
         *Y = sr_pool_alloc(w->pool, ((size_t)(nv * nc) + 1) * sizeof *Y),
         *x = sr_pool_alloc(w->pool, (size_t)(m->nq + 2 * nv + 1) * sizeof *x);
  const double* input[SR_VAR_KINDS] = {[SR_VAR_Q] = x, [SR_VAR_V] = x + m->nq, [SR_VAR_A] = x + m->nq + nv};
  uint32_t counter = 0;
  for (int s = 0; s < STATES; s++) {
    for (int i = 0; i < m->nq + 2 * nv; i++) x[i] = random_number(&counter, 2);
    sr_code_evaluate(code, input, work, Y);
    for (int c = 0; c < nc; c++) {
      for (int k = 0; k < nv; k++) A[(size_t)c * (size_t)*rows + (size_t)(s * nv + k)] = Y[k * nc + c];
    }
  }
  return A;
}

static double dot(int n, const double* x, const double* y) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

// Which of nc columns (of n entries, one after the other; destroyed) are independent of those before, by Gram and Schmidt, twice.
// size: below ROUNDING of the largest |column| size it is 0. kept: its number, -1: dependent, and C (nc x nc) has its row, the combination of those kept.
static int independent(srPool* pool, int nc, int n, double* A, const double* size, int* kept, double* C) {
  double *R = sr_pool_alloc(pool, ((size_t)nc * (size_t)nc + 1) * sizeof *R), largest = 0;
  int nkept = 0, *column = sr_pool_alloc(pool, ((size_t)nc + 1) * sizeof *column);
#define COLUMN(c) (A + (size_t)(c) * (size_t)n)
#define ROW(X, c) (X + (size_t)(c) * (size_t)nc)
  for (int c = 0; c < nc; c++) largest = fmax(largest, size[c] * sqrt(dot(n, COLUMN(c), COLUMN(c))));
  for (int c = 0; c < nc; c++) {
    double *a = COLUMN(c), *r = ROW(R, c), *to = ROW(C, c);
    const double norm = sqrt(dot(n, a, a));
    kept[c] = -1;
    if (norm * size[c] <= ROUNDING * largest) continue;
    for (int k = 0; k < 2 * nkept; k++) {
      const double *basis = COLUMN(column[k % nkept]), part = dot(n, basis, a);
      r[k % nkept] += part;
      for (int i = 0; i < n; i++) a[i] -= part * basis[i];
    }
    const double left = sqrt(dot(n, a, a));
    if (left > DEPENDENT * norm) {
      for (int i = 0; i < n; i++) a[i] /= left;
      r[nkept] = left, kept[c] = nkept, column[nkept++] = c;
      continue;
    }
    for (int k = nkept - 1; k >= 0; k--) {  // R to = r
      for (int i = k + 1; i < nkept; i++) r[k] -= ROW(R, column[i])[k] * to[i];
      to[k] = r[k] / ROW(R, column[k])[k];
    }
    for (int k = 0; k < nkept; k++) to[k] = fabs(to[k]) < SMALL ? 0 : to[k];
  }
#undef COLUMN
#undef ROW
  return nkept;
}

static void find_dependent(Work* w) {
  int rows;
  double* A = sample(w, &rows);
  const size_t nc = (size_t)w->ncandidate;
  double* size = sr_pool_alloc(w->pool, (nc + 1) * sizeof *size);
  w->kept = sr_pool_alloc(w->pool, (nc + 1) * sizeof *w->kept);
  w->C = sr_pool_alloc(w->pool, (nc * nc + 1) * sizeof *w->C);
  for (int c = 0; c < w->ncandidate; c++) size[c] = size_of(w, w->candidate[c]);
  w->nkept = independent(w->pool, w->ncandidate, rows, A, size, w->kept, w->C);
}

// ---- result ---------------------------------------------------------------------------------------------------------------

static const char* candidate_name(const Work* w, int i) {
  const srModel* m = w->tree->m;
  if (i >= P * w->tree->n) return sr_pool_printf(w->pool, "%s.armature", m->v_name[i - P * w->tree->n]);
  return sr_pool_printf(w->pool, "%s.%s", m->body_name[m->link_body[i / P]], sr_link_parameter[i % P]);
}

static void put_B(Work* w) {
  w->B = sr_pool_alloc(w->pool, ((size_t)w->nkept * (size_t)w->nbody + 1) * sizeof *w->B);
  for (int c = 0; c < w->ncandidate; c++) {
    const double* K = w->K + (size_t)w->candidate[c] * (size_t)w->nbody;
    for (int i = 0; i < w->nkept; i++) {
      const double factor = w->kept[c] < 0 ? w->C[c * w->ncandidate + i] : w->kept[c] == i;
      for (int j = 0; j < w->nbody && factor != 0; j++) w->B[(size_t)i * (size_t)w->nbody + (size_t)j] += factor * K[j];
    }
  }
}

static srGeneratedParameter base_parameter(const Work* w, int which) {
  const double* x = w->B + (size_t)which * (size_t)w->nbody;
  srGeneratedTerm* term = sr_pool_alloc(w->pool, ((size_t)w->nbody + 1) * sizeof *term);
  srGeneratedParameter out = {.term = term};
  for (int c = 0; c < w->ncandidate; c++) {
    if (w->kept[c] == which) out.name = candidate_name(w, w->candidate[c]);
  }
  for (int j = 0; j < w->nbody; j++) {
    if (fabs(x[j]) < SMALL) continue;
    term[out.nterm++] = (srGeneratedTerm){w->body[j].name, x[j]};
    out.value += x[j] * w->body[j].value;
  }
  return out;
}

// Of the rows of B, those that are independent.
static void put_base(Work* w, srSymBase* out) {
  const size_t n = (size_t)w->nkept;
  double *rows = sr_pool_alloc(w->pool, (n * (size_t)w->nbody + 1) * sizeof *rows),
         *size = sr_pool_alloc(w->pool, (n + 1) * sizeof *size), *D = sr_pool_alloc(w->pool, (n * n + 1) * sizeof *D);
  int* number = sr_pool_alloc(w->pool, (n + 1) * sizeof *number);
  memcpy(rows, w->B, n * (size_t)w->nbody * sizeof *rows);
  for (size_t i = 0; i < n; i++) size[i] = 1;
  out->nbase = independent(w->pool, w->nkept, w->nbody, rows, size, number, D);
  srGeneratedParameter* base = sr_pool_alloc(w->pool, (n + 1) * sizeof *base);
  double* combine = sr_pool_alloc(w->pool, (n * n + 1) * sizeof *combine);
  for (int i = 0; i < w->nkept; i++) {
    if (number[i] >= 0) base[number[i]] = base_parameter(w, i);
    for (int k = 0; k < out->nbase; k++)
      combine[i * out->nbase + k] = number[i] < 0 ? D[i * w->nkept + k] : number[i] == k;
  }
  out->base = base, out->combine = combine;
}

const srSymBase* sr_sym_base(srPool* pool, const srSymTree* tree) {
  Work w = {.pool = pool, .tree = tree, .nlink = P * tree->n + tree->m->nv};
  srSymBase* out = sr_pool_alloc(pool, sizeof *out);
  put_bodies(&w);
  find_candidates(&w);
  find_dependent(&w);
  put_B(&w);
  int* column = sr_pool_alloc(pool, (size_t)w.nlink * sizeof *column);
  for (int i = 0; i < w.nlink; i++) column[i] = -1;
  for (int c = 0; c < w.ncandidate; c++) column[w.candidate[c]] = w.kept[c];
  *out = (srSymBase){.nlink_parameter = w.nlink, .nbody_parameter = w.nbody, .ncolumn = w.nkept, .column = column};
  out->body = w.body, out->body_link = w.body_link, out->own = w.own;
  put_base(&w, out);
  return out;
}
