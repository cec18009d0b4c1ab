// Derivatives of gap, normal and nearest points by the relative motion, where the active features stay.
//
// Cores a (fixed) and b (turned by dtheta about its origin x, moved by dx), r = point_b - x, h = -gap of the cores. The conditions of
// normal_newton.c differentiated, with e the active edges (those of b turn with it) and tau tangents normal to n and to them:
//   n.dn = 0,  e_a.dn = 0,  e_b.dn = -n.(dtheta x e_b)
//   tau.[(H_a + H_b - h) dn - dx - dtheta x r - H_b (dtheta x n)] = 0
// The points move with dn along the curved features and slide along the edges:
//   da = H_a dn + sum alpha e_a,  db = dx + dtheta x r - H_b (dn - dtheta x n) + sum beta e_b,  db - da = d(gap n)
// d gap = n.(dx + dtheta x r): the envelope theorem, no derivative of n in it.
#include <math.h>
#include <string.h>

#include "collide/distance.h"
#include "math/vector3.h"

#define PARALLEL 1e-9   // sine of the angle of two edges
#define SINGULAR 1e-12  // determinant, by the product of the rows

typedef struct Rows {  // two equations for dn in the tangents T, right sides for six motions
  double T[2][3];
  double left[2][2], right[2][6];
  int n;
} Rows;

static void add_row(Rows* x, const double left[3], const double right[6]) {
  for (int k = 0; k < 2; k++) x->left[x->n][k] = srm_dot3(left, x->T[k]);
  memcpy(x->right[x->n++], right, sizeof x->right[0]);
}

static bool is_independent(const Rows* x, const double edge[3]) {
  const double y[2] = {srm_dot3(edge, x->T[0]), srm_dot3(edge, x->T[1])};
  if (x->n == 0) return true;
  return fabs(x->left[0][0] * y[1] - x->left[0][1] * y[0]) > PARALLEL;
}

// One motion of the six: j < 3 a rotation about axis j, else a translation.
static void motion(int j, double turn[3], double shift[3]) {
  for (int k = 0; k < 3; k++) turn[k] = j == k, shift[k] = j == k + 3;
}

// dx + dtheta x r + H_b (dtheta x n): the motion of the core's point of b with n fixed.
static void drag(const srNearest* x, const double r[3], int j, double out[3]) {
  double turn[3], shift[3], move[3], tilt[3];
  motion(j, turn, shift);
  srm_cross3(turn, r, move);
  srm_cross3(turn, x->n, tilt);
  srm_mul3(x->b.hessian, tilt, out);
  for (int k = 0; k < 3; k++) out[k] += shift[k] + move[k];
}

// Edges that determine dn. False: more than that, or the same ones twice: n is not differentiable.
static bool add_edges(const srNearest* x, Rows* rows) {
  const int most = x->a.dimension + x->b.dimension;
  for (int i = 0; i < x->a.dimension && rows->n < 2; i++) add_row(rows, x->a.edge[i], (double[6]){0});
  for (int i = 0; i < x->b.dimension && rows->n < 2; i++) {
    double right[6] = {0}, side[3];
    if (!is_independent(rows, x->b.edge[i])) continue;
    srm_cross3(x->n, x->b.edge[i], side);  // -n.(dtheta x e) = dtheta.(n x e)
    memcpy(right, side, sizeof side);
    add_row(rows, x->b.edge[i], right);
  }
  return rows->n == most;
}

// Stationarity along tangents that the edges leave, for the motions from `first` on.
static void add_stationarity(const srNearest* x, const double r[3], int first, Rows* rows) {
  double tau[2][3];
  memcpy(tau, rows->T, sizeof tau);
  if (rows->n == 1) {
    const double* l = rows->left[0];
    const double length = hypot(l[0], l[1]);
    for (int k = 0; k < 3; k++) tau[0][k] = (l[0] * rows->T[1][k] - l[1] * rows->T[0][k]) / length;
  }
  for (int i = 0; rows->n < 2; i++) {
    double left[3], part[3], right[6] = {0}, move[3];
    srm_mul3(x->a.hessian, tau[i], left);
    srm_mul3(x->b.hessian, tau[i], part);
    for (int k = 0; k < 3; k++) left[k] += part[k] + x->core * tau[i][k];
    for (int j = first; j < 6; j++) {
      drag(x, r, j, move);
      right[j] = srm_dot3(tau[i], move);
    }
    add_row(rows, left, right);
  }
}

// The solution of the rows for motion j; false: singular.
static bool solve(const Rows* x, int j, double y[2]) {
  const double(*A)[2] = x->left, det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
  y[0] = y[1] = 0;
  if (!(fabs(det) > SINGULAR * hypot(A[0][0], A[0][1]) * hypot(A[1][0], A[1][1]))) return false;
  y[0] = (x->right[0][j] * A[1][1] - x->right[1][j] * A[0][1]) / det;
  y[1] = (A[0][0] * x->right[1][j] - A[1][0] * x->right[0][j]) / det;
  return true;
}

// The part of `rest` along the edges of a, where sum alpha e_a - sum beta e_b = rest in the tangents: at most two edges in all.
static void slide(const srNearest* x, const Rows* rows, const double rest[3], double out[3]) {
  const double* edge[2];
  int n = 0, of_a = 0;
  for (int i = 0; i < x->a.dimension && n < 2; i++) edge[n++] = x->a.edge[i], of_a++;
  for (int i = 0; i < x->b.dimension && n < 2; i++)
    if (is_independent(rows, x->b.edge[i]) || n == 0) edge[n++] = x->b.edge[i];
  memset(out, 0, 3 * sizeof *out);
  if (of_a == 0) return;
  if (n == 1) {
    srm_scale3(srm_dot3(edge[0], rest), edge[0], out);
    return;
  }
  double e[2][2], y[2];
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 2; k++) e[k][i] = srm_dot3(edge[i], rows->T[k]);
    y[i] = srm_dot3(rest, rows->T[i]);
  }
  const double det = e[0][0] * e[1][1] - e[0][1] * e[1][0];
  if (det == 0) return;
  const double amount[2] = {(y[0] * e[1][1] - y[1] * e[0][1]) / det, (e[0][0] * y[1] - e[1][0] * y[0]) / det};
  for (int i = 0; i < of_a; i++) srm_add_scaled3(out, amount[i], edge[i], out);
}

static void set_column(const srNearest* x, const Rows* rows, const double r[3], int j, srNearestDerivative* out) {
  double y[2], dn[3], move[3], curve[3], rest[3], along[3];
  out->smooth &= solve(rows, j, y);
  for (int k = 0; k < 3; k++) dn[k] = y[0] * rows->T[0][k] + y[1] * rows->T[1][k];
  drag(x, r, j, move);
  srm_mul3(x->a.hessian, dn, curve);
  srm_mul3(x->b.hessian, dn, rest);
  for (int k = 0; k < 3; k++) rest[k] = move[k] - rest[k] - curve[k] - out->gap[j] * x->n[k] - x->core * dn[k];
  slide(x, rows, rest, along);
  for (int k = 0; k < 3; k++) {
    out->n[k][j] = dn[k];
    out->point_a[k][j] = curve[k] + along[k] + x->radius[0] * dn[k];
    out->point_b[k][j] = out->point_a[k][j] + out->gap[j] * x->n[k] + x->gap * dn[k];
  }
}

void sr_nearest_derivative(const srNearest* x, srNearestDerivative* out) {
  Rows rows = {.n = 0};
  double r[3], side[3];
  memset(out, 0, sizeof *out);
  if (x->state != SR_NEAREST_FOUND) return;
  for (int k = 0; k < 3; k++) r[k] = x->point_b[k] + x->radius[1] * x->n[k] - x->x[k];
  srm_cross3(r, x->n, side);
  memcpy(out->gap, side, sizeof side);
  memcpy(out->gap + 3, x->n, sizeof x->n);
  srm_tangents3(x->n, rows.T[0], rows.T[1]);
  out->smooth = add_edges(x, &rows) && x->unique;
  add_stationarity(x, r, 0, &rows);
  for (int j = 0; j < 6; j++) set_column(x, &rows, r, j, out);
}

void sr_nearest_turn(const srNearest* x, double out[3][3]) {
  Rows rows = {.n = 0};
  const double r[3] = {0};  // of rotations alone
  srm_tangents3(x->n, rows.T[0], rows.T[1]);
  (void)add_edges(x, &rows);
  add_stationarity(x, r, 3, &rows);
  for (int j = 0; j < 3; j++) {
    double y[2];
    (void)solve(&rows, 3 + j, y);
    for (int k = 0; k < 3; k++) out[k][j] = y[0] * rows.T[0][k] + y[1] * rows.T[1][k];
  }
}
