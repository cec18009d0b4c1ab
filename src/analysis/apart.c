// A start without overlaps: the least motion that takes all shapes with contacts out of each other.
//
//   min 1/2 s^T M s,   s = q - q0        M: mass matrix of the rigid tree at q0, so that of two bodies the lighter one moves more
//   gap_i(q) >= 0                        of all pairs that have a contact
//   g(q) = 0                             loops stay closed, driven coordinates on their motion
//   lower <= q <= upper                  of joints that start inside their limits
//
// By sequential quadratic programming with M as the matrix of all steps: with u = s + dx
//   C u >= e = C s - c,  G u = h = G s - g     u = P C^T l + u0,   P = M^-1 - M^-1 G^T S^-1 G M^-1,   S = G M^-1 G^T
//   l >= 0  _|_  A l + C u0 - e >= 0,  A = C P C^T         least squares with l >= 0 (Lawson and Hanson 1974, section 23.3), on its normal equations
//
// A gap has one pair of nearest points, which jumps between the corners of a face. So a pair keeps the points that it has had, as long as the normal is the
// one that they had on one of the two bodies: the corners of a box in a floor are found one after the other, and it rises without turning. A
// point x_b of b above the face of a through x_a with the normal n, and its rate:
//   n.(x_b - x_a),    n.(v_b(x_b) - v_a(x_b))
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/overlap.h"
#include "base/base.h"
#include "dynamics/link.h"
#include "math/dense.h"
#include "math/pose.h"
#include "model/private.h"
#include "system/system.h"

#define ITERATIONS 100
#define STALLED 20        // iterations without a smaller overlap: there is no way out
#define SINGULAR 1e-12    // added to the diagonal of A, of it: rows that say the same
#define ENOUGH 1e-12      // m: of gaps, times 1 + the largest coordinate of a point; of equations as well
#define SETTLED 1e-9      // rad or m: of a step, where the search ends
#define LONGEST 0.3       // rad or m in one step
#define SAME_NORMAL 1e-9  // its change on a body, where the points of a pair are kept
#define RIDGE 1e-9        // of the mean of M's diagonal, added to it: coordinates without inertia
#define ROUNDING 1e-9     // of C M^-1 C^T that the equations leave: less is rounding
#define MOST_ROWS 1000
#define MOST_VALUES 30000000  // of the largest matrix
#define SHOWN 6               // pairs or coordinates that a message names
#define MOVED 1e-9            // rad or m: a change worth reporting

// Two points that have been nearest, on the bodies of a and b, and the normal there.
typedef struct Points {
  int a, b;
  double x_a[3], x_b[3], n_a[3], n_b[3];  // in the frames of the bodies
  bool face_of_b;                         // the normal moves with b: then x_a is above the face of b
} Points;

typedef struct Work {
  const srModel* m;
  srData* d;
  Points* points;
  int npoints, points_capacity;
  int nrow, nfirst;                  // inequalities; points that were there before the present iteration
  double *q0, *q, *s, *u, *dx;       // nq, nq, nv ...
  double *L, *G, *GM, *S;            // factor of M; G and M^-1 G^T (ng x nv); factor of S
  double *g, *h;                     // ng, 2 ng
  double *C, *V, *e, *diagonal, *l;  // rows x nv, the same of P C^T, rows
  double *J_a, *J_b;                 // 6 x nv
  double *memory, *rows_memory;
  int rows_capacity;
  double scale, deepest;
  srShapePair worst;  // the pair that overlaps most
  srStatus status;
} Work;

static srStatus refuse(srMessages* messages, srStatus status, const char* why) {
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "a start without overlaps: %s", why);
  return status;
}

static bool allocate(Work* w) {
  const size_t nq = (size_t)w->m->nq, nv = (size_t)w->m->nv, ng = (size_t)w->m->ng;
  const srPart parts[] = {{&w->q0, nq},     {&w->q, nq},       {&w->s, nv},       {&w->u, nv},      {&w->dx, nv},
                          {&w->L, nv * nv}, {&w->G, ng * nv},  {&w->GM, ng * nv}, {&w->S, ng * ng}, {&w->g, ng},
                          {&w->h, 2 * ng},  {&w->J_a, 6 * nv}, {&w->J_b, 6 * nv}};
  unsigned char* none;
  return sr_take_parts(parts, SR_COUNT(parts), 0, &w->memory, &none);
}

static bool grow_rows(Work* w, int n) {
  if (n <= w->rows_capacity) return true;
  const size_t rows = 2 * (size_t)n, nv = (size_t)w->m->nv;
  double* more =
      rows <= 2 * MOST_ROWS && rows * nv <= MOST_VALUES ? sr_alloc(rows * (2 * nv + 3) * sizeof *more) : NULL;
  if (more == NULL) return false;
  sr_free(w->rows_memory);
  w->rows_memory = more;
  w->rows_capacity = (int)rows;
  w->C = more;
  w->V = w->C + rows * nv;
  w->e = w->V + rows * nv;
  w->diagonal = w->e + rows;
  w->l = w->diagonal + rows;
  return true;
}

// ---- points -------------------------------------------------------------------------------------------------------------

static void to_body(const Work* w, int shape, const double* point, const double* normal, double* x, double* n) {
  double pose[16], back[16];
  sr_point_frame(w->m, w->d, w->m->shape[shape].body, pose);
  srm_pose_transpose(pose, back);
  srm_pose_rotate(back, normal, n);
  const double r[3] = {point[0] - pose[12], point[1] - pose[13], point[2] - pose[14]};
  srm_pose_rotate(back, r, x);
}

static double difference(const double* a, const double* b) {
  const double r[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return srm_norm3(r);
}

static bool push(Work* w, const Points* p) {
  if (w->npoints == w->points_capacity) {
    const int capacity = 2 * w->points_capacity + 64;
    Points* more = sr_alloc((size_t)capacity * sizeof *more);
    if (more == NULL) return false;
    if (w->npoints > 0) memcpy(more, w->points, (size_t)w->npoints * sizeof *more);
    sr_free(w->points);
    w->points = more;
    w->points_capacity = capacity;
  }
  w->points[w->npoints++] = *p;
  return true;
}

// The nearest points of a pair; those that it has had stay where one of the two bodies has the same normal.
static void take_pair(void* user, const srShapePair* pair) {
  Work* w = user;
  Points now = {.a = pair->a, .b = pair->b};
  if (w->status != SR_OK) return;
  to_body(w, pair->a, pair->point_a, pair->normal, now.x_a, now.n_a);
  to_body(w, pair->b, pair->point_b, pair->normal, now.x_b, now.n_b);
  for (int i = 0; i < 3; i++) w->scale = fmax(w->scale, 1 + fabs(pair->point_a[i]));
  if (-pair->gap > w->deepest) {
    w->deepest = -pair->gap;
    w->worst = *pair;
  }
  bool known = false;
  for (int i = 0; i < w->nfirst; i++) {
    Points* p = &w->points[i];
    if (p->a != now.a || p->b != now.b) continue;
    const bool on_a = difference(p->n_a, now.n_a) < SAME_NORMAL, on_b = difference(p->n_b, now.n_b) < SAME_NORMAL;
    if (!on_a && !on_b) p->a = -1;  // of another face
    p->face_of_b = !on_a;
    known |= (on_a || on_b) && difference(p->x_a, now.x_a) + difference(p->x_b, now.x_b) < ENOUGH;
  }
  if (!known && !push(w, &now)) w->status = SR_MEMORY;
}

static void drop_points(Work* w) {
  int n = 0;
  for (int i = 0; i < w->npoints; i++) {
    if (w->points[i].a >= 0) w->points[n++] = w->points[i];
  }
  w->npoints = n;
}

// ---- the quadratic program ----------------------------------------------------------------------------------------------

// M^-1 x
static void solve_mass(const Work* w, double* x) { sr_ltl_solve(w->m, w->L, x); }

static bool factor_mass(Work* w) {
  const int nv = w->m->nv;
  double mean = 0;
  int bad;
  sr_crba(w->m, w->d, w->q0, w->L);
  for (int i = 0; i < nv; i++) mean += w->L[i * nv + i] / nv;
  for (int i = 0; i < nv; i++) w->L[i * nv + i] += RIDGE * mean;
  return sr_ltl_factor(w->m, w->L, &bad) == SR_OK;
}

static double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// G, M^-1 G^T and the factor of S at q, whose kinematics are known. Redundant equations have a small number on their diagonal.
static bool prepare_equations(Work* w) {
  const int ng = w->m->ng, nv = w->m->nv;
  double most = 0;
  if (ng == 0) return true;
  if (sr_constraints(w->m, w->d) != 0) return false;
  memcpy(w->g, w->d->g, (size_t)ng * sizeof *w->g);
  for (int i = w->m->np; i < ng; i++) w->g[i] = 0;  // of velocities alone
  sr_constraint_matrix(w->m, w->d, w->G);
  for (int i = w->m->np * nv; i < ng * nv; i++) w->G[i] = 0;
  for (int i = 0; i < ng; i++) {
    memcpy(w->GM + i * nv, w->G + i * nv, (size_t)nv * sizeof *w->GM);
    solve_mass(w, w->GM + i * nv);
    for (int k = 0; k <= i; k++) w->S[i * ng + k] = dot(w->GM + i * nv, w->G + k * nv, nv);
    most = fmax(most, w->S[i * ng + i]);
  }
  for (int i = 0; i < ng; i++) w->S[i * ng + i] += most > 0 ? 1e-12 * most : 1;
  return srm_cholesky(ng, w->S);
}

// x - M^-1 G^T S^-1 (G x - h): the nearest x with G x = h; h NULL: 0.
static void project(Work* w, const double* h, double* x) {
  const int ng = w->m->ng, nv = w->m->nv;
  for (int pass = 0; pass < 2 && ng > 0; pass++) {  // once more, without what was added to S
    double* y = w->h + ng;
    for (int i = 0; i < ng; i++) y[i] = dot(w->G + i * nv, x, nv) - (h ? h[i] : 0);
    srm_cholesky_solve(ng, w->S, y);
    for (int i = 0; i < ng; i++) {
      for (int k = 0; k < nv; k++) x[k] -= w->GM[i * nv + k] * y[i];
    }
  }
}

static double* next_row(Work* w, double value) {
  if (!grow_rows(w, w->nrow + 1)) return NULL;
  double* row = w->C + (size_t)w->nrow * (size_t)w->m->nv;
  memset(row, 0, (size_t)w->m->nv * sizeof *row);
  w->e[w->nrow++] = -value;
  return row;
}

// n.(v(x) of body), added with a sign.
static void add_rate(const Work* w, int body, const double* x, const double* n, double sign, double* J, double* row) {
  const int nv = w->m->nv;
  double pose[16], arm[3], about[3];
  if (body == 0) return;
  sr_point_frame(w->m, w->d, body, pose);
  sr_frame_jacobian(w->m, w->d, body, 0, J);
  for (int i = 0; i < 3; i++) arm[i] = x[i] - pose[12 + i];
  srm_cross3(arm, n, about);
  for (int k = 0; k < nv; k++) {
    for (int i = 0; i < 3; i++) row[k] += sign * (about[i] * J[i * nv + k] + n[i] * J[(3 + i) * nv + k]);
  }
}

static bool add_gap_row(Work* w, const Points* p) {
  const int one = w->m->shape[p->a].body, two = w->m->shape[p->b].body;
  double a[16], b[16], x_a[3], x_b[3], n[3];
  sr_point_frame(w->m, w->d, one, a);
  sr_point_frame(w->m, w->d, two, b);
  srm_pose_point(a, p->x_a, x_a);
  srm_pose_point(b, p->x_b, x_b);
  srm_pose_rotate(p->face_of_b ? b : a, p->face_of_b ? p->n_b : p->n_a, n);
  const double r[3] = {x_b[0] - x_a[0], x_b[1] - x_a[1], x_b[2] - x_a[2]}, *x = p->face_of_b ? x_a : x_b;
  double* row = next_row(w, srm_dot3(n, r));
  if (row == NULL) return false;
  add_rate(w, two, x, n, 1, w->J_b, row);
  add_rate(w, one, x, n, -1, w->J_a, row);
  return true;
}

// A joint coordinate with limits stays within them where it starts there.
static bool is_limited(const Work* w, int j) {
  const srModel* m = w->m;
  if (m->joint_nq[j] != 1 || isnan(m->priv->limits[2 * j])) return false;
  const double start = w->q0[m->joint_q[j]];
  return start >= m->priv->limits[2 * j] && start <= m->priv->limits[2 * j + 1];
}

static bool add_limit_rows(Work* w) {
  const srModel* m = w->m;
  for (int j = 0; j < m->njoint; j++) {
    for (int end = 0; end < 2 && is_limited(w, j); end++) {
      const double sign = end == 0 ? 1 : -1, room = sign * (w->q[m->joint_q[j]] - m->priv->limits[2 * j + end]);
      double* row = room < LONGEST ? next_row(w, room) : NULL;
      if (room < LONGEST && row == NULL) return false;
      if (row != NULL) row[m->joint_v[j]] = sign;
    }
  }
  return true;
}

// Where gaps and limits cannot both hold, the limits do.
static void clamp(const Work* w, double* q) {
  const srModel* m = w->m;
  for (int j = 0; j < m->njoint; j++) {
    double* at = &q[m->joint_q[j]];
    if (is_limited(w, j)) *at = fmin(fmax(*at, m->priv->limits[2 * j]), m->priv->limits[2 * j + 1]);
  }
}

// V = P C^T, e = C s - c, u = u0.
static void prepare_rows(Work* w) {
  const int nv = w->m->nv, ng = w->m->ng;
  for (int i = 0; i < ng; i++) w->h[i] = dot(w->G + i * nv, w->s, nv) - w->g[i];
  memset(w->u, 0, (size_t)nv * sizeof *w->u);
  project(w, w->h, w->u);
  for (int i = 0; i < w->nrow; i++) {
    double *row = w->C + (size_t)i * (size_t)nv, *v = w->V + (size_t)i * (size_t)nv;
    memcpy(v, row, (size_t)nv * sizeof *v);
    solve_mass(w, v);
    const double unheld = dot(row, v, nv);  // without the equations
    project(w, NULL, v);
    const double held = dot(row, v, nv);
    w->diagonal[i] = held > ROUNDING * unheld ? held : 0;  // nothing that the row depends on can move
    w->e[i] += dot(row, w->s, nv);
    w->l[i] = 0;
  }
}

// The rows with l > 0, and the linear system of them.
typedef struct Active {
  int n, *row;            // their number, and which
  double *A, *b, *F, *z;  // all rows; those of the active ones
  unsigned char* is;
} Active;

// l of the active rows, as if the others were not there. False: they contradict each other.
static bool solve_active(const Work* w, Active* x) {
  for (int i = 0; i < x->n; i++) {
    for (int k = 0; k <= i; k++) x->F[i * x->n + k] = x->A[(size_t)x->row[i] * (size_t)w->nrow + (size_t)x->row[k]];
    x->F[i * x->n + i] *= 1 + SINGULAR;
    x->z[i] = x->b[x->row[i]];
  }
  if (!srm_cholesky(x->n, x->F)) return false;
  srm_cholesky_solve(x->n, x->F, x->z);
  return true;
}

// Towards z, as far as all stay positive; a row that comes to 0 leaves. True: it was the whole way.
static bool move_towards(Work* w, Active* x) {
  double part = 1;
  for (int i = 0; i < x->n; i++) {
    const double l = w->l[x->row[i]];
    if (x->z[i] <= 0) part = fmin(part, l / (l - x->z[i]));
  }
  int n = 0;
  for (int i = 0; i < x->n; i++) {
    const int row = x->row[i];
    w->l[row] += part * (x->z[i] - w->l[row]);
    const bool stays = x->z[i] > 0 || w->l[row] > SINGULAR * fabs(x->z[i]);
    x->is[row] = stays;
    if (stays)
      x->row[n++] = row;
    else
      w->l[row] = 0;
  }
  const bool whole = n == x->n;
  x->n = n;
  return whole;
}

// The row that is violated most, by the length of its motion; -1: none.
static int most_violated(const Work* w, const Active* x) {
  const int n = w->nrow;
  double most = 0.1 * ENOUGH;
  int found = -1;
  for (int i = 0; i < n; i++) {
    if (x->is[i] || w->diagonal[i] == 0) continue;
    double lack = x->b[i];
    for (int k = 0; k < x->n; k++) lack -= x->A[(size_t)i * (size_t)n + (size_t)x->row[k]] * w->l[x->row[k]];
    if (lack > most) {
      most = lack;
      found = i;
    }
  }
  return found;
}

// A row that leaves as soon as it has come in says the same as others: it is left alone.
static void find_multipliers(Work* w, Active* x) {
  for (int k = 0; k < 3 * w->nrow && !sr_stop_requested(w->d); k++) {
    const int row = most_violated(w, x);
    if (row < 0) return;
    x->is[row] = 1;
    x->row[x->n++] = row;
    do {
      if (!solve_active(w, x)) return;
    } while (!move_towards(w, x) && x->n > 0);
    if (!x->is[row]) w->diagonal[row] = 0;
  }
}

// u. False: out of memory.
static bool solve_rows(Work* w) {
  const int nv = w->m->nv, n = w->nrow;
  const size_t size = (size_t)n * (size_t)n;
  Active x = {.A = sr_alloc((2 * size + 2 * (size_t)n + 1) * sizeof(double)),
              .row = sr_alloc(((size_t)n + 1) * sizeof *x.row),
              .is = sr_alloc((size_t)n + 1)};
  const bool good = x.A != NULL && x.row != NULL && x.is != NULL;
  if (good) {
    x.F = x.A + size;
    x.b = x.F + size;
    x.z = x.b + n;
    memset(x.is, 0, (size_t)n + 1);
    for (int i = 0; i < n; i++) {
      const double* row = w->C + (size_t)i * (size_t)nv;
      x.b[i] = w->e[i] - dot(row, w->u, nv);
      for (int k = 0; k < n; k++) x.A[(size_t)i * (size_t)n + (size_t)k] = dot(row, w->V + (size_t)k * (size_t)nv, nv);
    }
    find_multipliers(w, &x);
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < nv && w->l[i] != 0; k++) w->u[k] += w->l[i] * w->V[(size_t)i * (size_t)nv + (size_t)k];
    }
  }
  sr_free(x.A);
  sr_free(x.row);
  sr_free(x.is);
  return good;
}

// ---- search -------------------------------------------------------------------------------------------------------------

// dx at q; returns the largest of its coordinates, negative: out of memory or of room.
static double find_step(Work* w) {
  const int nv = w->m->nv;
  double most = 0;
  w->nrow = 0;
  sr_difference(w->m, w->q0, w->q, w->s);
  if (!prepare_equations(w) || !add_limit_rows(w)) return -1;
  for (int i = 0; i < w->npoints; i++) {
    if (!add_gap_row(w, &w->points[i])) return -1;
  }
  prepare_rows(w);
  if (!solve_rows(w)) return -1;
  for (int k = 0; k < nv; k++) {
    w->dx[k] = w->u[k] - w->s[k];
    most = fmax(most, fabs(w->dx[k]));
  }
  for (int k = 0; k < nv && most > LONGEST; k++) w->dx[k] *= LONGEST / most;
  return most;
}

// Pairs at q; the deepest overlap. Negative: it failed.
static double find_gaps(Work* w, double margin) {
  w->deepest = 0;
  w->nfirst = w->npoints;
  if (sr_evaluate(w->m, w->d, w->d->t, w->q, NULL, NULL, SR_STAGE_POSITION) != 0) return -1;
  if (sr_contact_pairs(w->m, w->d, margin, take_pair, w) != SR_OK || w->status != SR_OK) return -1;
  drop_points(w);
  return w->deepest;
}

static double equations_left(const Work* w) {
  double most = 0;
  for (int i = 0; i < w->m->np; i++) most = fmax(most, fabs(w->d->g[i]));
  return most;
}

// SR_INPUT: overlaps are left.
static srStatus search(Work* w) {
  const size_t size = (size_t)w->m->nq * sizeof *w->q;
  const double margin = 0.1 * find_gaps(w, 0);  // what comes nearer than that is taken in as well
  double best = HUGE_VAL;
  if (margin < 0) return w->status != SR_OK ? w->status : SR_FAILED;
  for (int k = 0, since = 0; k < ITERATIONS && since < STALLED; k++) {
    if (find_gaps(w, margin) < 0) return w->status != SR_OK ? w->status : SR_FAILED;
    const double step = find_step(w);
    if (step < 0) return SR_MEMORY;
    const bool apart = w->deepest <= ENOUGH * w->scale && equations_left(w) <= ENOUGH * w->scale;
    if (apart && (step <= SETTLED || k + 1 == ITERATIONS || since + 1 == STALLED)) return SR_OK;
    if (step == 0 || sr_stop_requested(w->d)) break;
    since = w->deepest < 0.99 * best ? 0 : since + 1;
    best = fmin(best, w->deepest);
    sr_retract(w->m, w->q, w->dx, w->d->q);
    sr_normalize(w->m, w->d->q);
    clamp(w, w->d->q);
    memcpy(w->q, w->d->q, size);
  }
  return sr_stop_requested(w->d) ? SR_FAILED : SR_INPUT;
}

// ---- report -------------------------------------------------------------------------------------------------------------

static void tell_moved(const Work* w, int n, srMessages* messages) {
  const srModel* m = w->m;
  char list[SHOWN * 100] = "";
  int moved = 0;
  sr_difference(m, w->q0, w->q, w->s);
  for (int k = 0; k < m->nv; k++) {
    if (!(fabs(w->s[k]) > MOVED) || moved++ >= SHOWN) continue;
    const size_t used = strlen(list);
    (void)snprintf(list + used, sizeof list - used, "%s%.60s by %.4g", moved > 1 ? ", " : "", m->v_name[k], w->s[k]);
  }
  sr_messages_add(messages, SR_SEVERITY_NOTE, (srPlace){0},
                  "the start is moved by the least motion that ends %d overlap%s of shapes (m, rad): %s%s", n,
                  n == 1 ? "" : "s", list, moved > SHOWN ? ", ..." : "");
}

static srStatus tell_left(const Work* w, srStatus status, srMessages* messages) {
  char a[128], b[128], why[420];
  if (status == SR_MEMORY) return refuse(messages, status, "out of memory, or too many shapes overlap");
  if (status == SR_FAILED) return refuse(messages, status, sr_stop_requested(w->d) ? "stopped" : w->d->error_message);
  (void)snprintf(why, sizeof why,
                 "'%s' and '%s' still overlap by %.3g m: no motion was found that separates them, with loops closed, "
                 "joints within their limits and driven coordinates on their motion",
                 sr_shape_title(w->m, w->worst.a, a, sizeof a), sr_shape_title(w->m, w->worst.b, b, sizeof b),
                 w->deepest);
  return refuse(messages, status, why);
}

static int count_overlaps(const srModel* m, srData* d) {
  srOverlaps* x;
  const srStatus status = sr_overlaps_create(m, d, &x);
  const int n = status == SR_OK ? x->n : status == SR_FAILED ? -1 : -2;
  if (status == SR_OK) sr_overlaps_destroy(x);
  return n;
}

srStatus sr_start_apart(const srModel* m, srData* d, srMessages* messages) {
  if (m->absolute) return refuse(messages, SR_INPUT, "it is found in joint coordinates, before sr_formulate");
  const srStatus assembled = sr_assemble(m, d, messages, NULL);
  if (assembled != SR_OK) return assembled;
  const int n = count_overlaps(m, d);
  if (n == 0) return SR_OK;
  if (n < 0) return refuse(messages, n == -1 ? SR_FAILED : SR_MEMORY, n == -1 ? d->error_message : "out of memory");
  Work w = {.m = m, .d = d, .scale = 1, .status = SR_OK};
  if ((size_t)m->nv * (size_t)m->nv > MOST_VALUES || !allocate(&w))
    return refuse(messages, SR_MEMORY, "out of memory: the matrix of the masses is too large");
  memcpy(w.q0, d->q, (size_t)m->nq * sizeof *d->q);
  memcpy(w.q, d->q, (size_t)m->nq * sizeof *d->q);
  srStatus status = factor_mass(&w) ? search(&w) : refuse(messages, SR_INPUT, "bodies that may move have no mass");
  if (status == SR_OK)
    tell_moved(&w, n, messages);
  else
    status = tell_left(&w, status, messages);
  if (status != SR_OK) (void)sr_evaluate(m, d, d->t, w.q0, NULL, NULL, SR_STAGE_POSITION);
  sr_free(w.points);
  sr_free(w.rows_memory);
  sr_free(w.memory);
  return status;
}
