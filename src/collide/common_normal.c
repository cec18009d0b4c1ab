// Points of two surfaces with a common normal, by Newton's method in tangent steps delta of both.
//
//   d = x_b - x_a,  e_a.d = 0,  e_b.n_a = 0                         (four equations)
//   [-(1 + (n_a.d) W_a)      C         ] [delta_a]     [e_a.d  ]    C = e_a^T e_b
//   [ C^T W_a         -(n_a.n_b) W_b   ] [delta_b] = - [e_b.n_a]    dn = e W delta
//
// Equation 33 of Rodrigues da Silva et al. (2024) has e_b.d = 0 in the place of e_b.n_a = 0: singular at touch, where d = 0, and solved by
// every point of the curve of intersection of overlapping solids. With e_b.n_a the matrix at touch has the sum of the curvatures.
// Far sides and saddles solve both; a root is accepted where the solids are on opposite sides and the gap g is least, to second order:
//   W_a + W_b (1 + g W_b)^-1 > 0 with 1 + g W_b > 0, or the same with a and b exchanged, or W_a^-1 + W_b^-1 + g > 0 of convex points.
//
// Against a convex shape b: the distance phi of a point from b is minimised over the surface; its derivatives are those of distance.h.
//   gradient e^T grad phi,  Hessian e^T (grad grad phi) e - (grad phi.n_a) W_a
#include <math.h>
#include <string.h>

#include "collide/smooth.h"
#include "math/vector3.h"

#define ITERATIONS 30
#define HALVINGS 6
#define CONVERGED 1e-9       // of the size and of the radii of curvature: the step after this one is its square
#define PRECISE 1e-9         // residual of an accepted answer: of the size, and sine of the angle of the normals
#define ROUNDING 1e-14       // residual that rounding leaves
#define LARGEST_TURN 0.5     // of the normal in one step (rad)
#define SINGULAR 1e-9        // pivot, of its row
#define SAME_CURVATURE 1e-9  // of both: the nearest point is not the only one

// ------------------------------------------------------------------------------------- symmetric 2 x 2 matrices {11, 12, 22}
static double low_eigenvalue(const double A[3]) { return 0.5 * (A[0] + A[2]) - hypot(0.5 * (A[0] - A[2]), A[1]); }
static double largest_of(const double A[3]) { return fmax(fabs(A[0]), fabs(A[2])) + fabs(A[1]); }

static bool invert2(const double A[3], double out[3]) {
  const double det = A[0] * A[2] - A[1] * A[1];
  if (det == 0) return false;
  const double inverse[3] = {A[2] / det, -A[1] / det, A[0] / det};
  memcpy(out, inverse, sizeof inverse);
  return true;
}

static void times2(const double A[3], const double x[2], double out[2]) {
  const double y[2] = {A[0] * x[0] + A[1] * x[1], A[1] * x[0] + A[2] * x[1]};
  memcpy(out, y, sizeof y);
}

// C A C^T for a 2 x 2 matrix C.
static void congruent2(double C[2][2], const double A[3], double out[3]) {
  double row[2][2];
  for (int i = 0; i < 2; i++) times2(A, C[i], row[i]);
  out[0] = C[0][0] * row[0][0] + C[0][1] * row[0][1];
  out[1] = C[0][0] * row[1][0] + C[0][1] * row[1][1];
  out[2] = C[1][0] * row[1][0] + C[1][1] * row[1][1];
}

// -------------------------------------------------------------------------------------------------------- second order
// The lowest eigenvalue of W_1 + W_2 (1 + g W_2)^-1, the Hessian of the gap over surface 1; -INFINITY: 2 is beyond its centre of curvature.
static double over_one(const double W1[3], const double W2[3], double g) {
  const double offset[3] = {1 + g * W2[0], g * W2[1], 1 + g * W2[2]};
  double inverse[3], K[3];
  if (!(low_eigenvalue(offset) > 0) || !invert2(offset, inverse)) return -INFINITY;
  K[0] = W1[0] + W2[0] * inverse[0] + W2[1] * inverse[1];
  K[1] = W1[1] + W2[0] * inverse[1] + W2[1] * inverse[2];
  K[2] = W1[2] + W2[1] * inverse[1] + W2[2] * inverse[2];
  return low_eigenvalue(K);
}

// Convex points that overlap more than their radii of curvature: the Hessian of h(n), as a curvature.
static double over_normals(const double W1[3], const double W2[3], double g) {
  double R1[3], R2[3];
  if (!(low_eigenvalue(W1) > 0) || !(low_eigenvalue(W2) > 0) || !invert2(W1, R1) || !invert2(W2, R2)) return -INFINITY;
  const double sum[3] = {R1[0] + R2[0] + g, R1[1] + R2[1], R1[2] + R2[2] + g};
  return low_eigenvalue(sum) * low_eigenvalue(W1) * low_eigenvalue(W2);
}

static double least_curvature(const double W1[3], const double W2[3], double g) {
  const double one = over_one(W1, W2, g), other = over_one(W2, W1, g);
  const double surface = fmax(one, other);
  return g < 0 ? fmax(surface, over_normals(W1, W2, g)) : surface;
}

// What sr_nearest_derivative needs of a surface: curved directions in the Hessian, straight ones as edges.
static void set_active(const srSmoothFrame* f, double size, srActive* out) {
  const double* W = f->W;
  const double turn = 0.5 * atan2(2 * W[1], W[0] - W[2]), c = cos(turn), s = sin(turn);
  const double value[2] = {c * c * W[0] + 2 * c * s * W[1] + s * s * W[2],
                           s * s * W[0] - 2 * c * s * W[1] + c * c * W[2]};
  memset(out, 0, sizeof *out);
  for (int i = 0; i < 2; i++) {
    double axis[3];
    for (int k = 0; k < 3; k++) axis[k] = i == 0 ? c * f->e[0][k] + s * f->e[1][k] : c * f->e[1][k] - s * f->e[0][k];
    if (fabs(value[i]) * size < SAME_CURVATURE)
      srm_set3(out->edge[out->dimension++], axis);
    else
      for (int k = 0; k < 9; k++) out->hessian[k] += axis[k / 3] * axis[k % 3] / value[i];
  }
}

// --------------------------------------------------------------------------------------------------------- two surfaces
typedef struct Meeting {
  const srSmooth *a, *b;
  const double* pose;
  double length;  // that residuals are relative to
  double at[2][2];
  srSmoothFrame frame[2];  // b in the axes of a
  double d[3], gap;
  double residual[4], merit;
} Meeting;

static bool meet(Meeting* m) {
  srSmoothFrame* b = &m->frame[1];
  if (!sr_smooth_frame(m->a, m->at[0], &m->frame[0]) || !sr_smooth_frame(m->b, m->at[1], b)) return false;
  srm_pose_point(m->pose, b->x, b->x);
  srm_pose_rotate(m->pose, b->n, b->n);
  for (int i = 0; i < 2; i++) srm_pose_rotate(m->pose, b->e[i], b->e[i]);
  srm_sub3(b->x, m->frame[0].x, m->d);
  m->gap = srm_dot3(m->d, m->frame[0].n);
  if (m->length == 0) m->length = fmin(m->a->size, m->b->size) + srm_norm3(m->d);
  m->merit = 0;
  for (int i = 0; i < 4; i++) {
    m->residual[i] = i < 2 ? srm_dot3(m->frame[0].e[i], m->d) / m->length : srm_dot3(b->e[i - 2], m->frame[0].n);
    m->merit += m->residual[i] * m->residual[i];
  }
  return isfinite(m->merit);
}

// The matrix of the file's head, rows scaled as the residuals.
static void matrix_of(const Meeting* m, double J[4][4]) {
  const srSmoothFrame *a = &m->frame[0], *b = &m->frame[1];
  const double facing = srm_dot3(a->n, b->n);
  double C[2][2];
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++) C[i][k] = srm_dot3(a->e[i], b->e[k]);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++) {
      J[i][k] = -((i == k) + m->gap * a->W[i + k]) / m->length;
      J[i][2 + k] = C[i][k] / m->length;
      J[2 + i][k] = C[0][i] * a->W[k] + C[1][i] * a->W[1 + k];
      J[2 + i][2 + k] = -facing * b->W[i + k];
    }
}

// Gauss with partial pivoting, rows of equal size. False: a pivot is small.
static bool eliminate(double J[4][4], double x[4]) {
  for (int i = 0; i < 4; i++) {
    double largest = 0;
    for (int k = 0; k < 4; k++) largest = fmax(largest, fabs(J[i][k]));
    if (!(largest > 0)) return false;
    for (int k = 0; k < 4; k++) J[i][k] /= largest;
    x[i] /= largest;
  }
  for (int c = 0; c < 4; c++) {
    int p = c;
    for (int i = c + 1; i < 4; i++) p = fabs(J[i][c]) > fabs(J[p][c]) ? i : p;
    if (!(fabs(J[p][c]) > SINGULAR)) return false;
    for (int k = 0; k < 4 && p != c; k++) {
      const double keep = J[c][k];
      J[c][k] = J[p][k];
      J[p][k] = keep;
    }
    const double keep = x[c];
    x[c] = x[p];
    x[p] = keep;
    for (int i = c + 1; i < 4; i++) {
      const double factor = J[i][c] / J[c][c];
      for (int k = c; k < 4; k++) J[i][k] -= factor * J[c][k];
      x[i] -= factor * x[c];
    }
  }
  for (int i = 3; i >= 0; i--) {
    for (int k = i + 1; k < 4; k++) x[i] -= J[i][k] * x[k];
    x[i] /= J[i][i];
  }
  return true;
}

// The Newton step; where contacts form a line or a patch, that of least length: (J^T J + mu) x = -J^T r with a small mu.
static bool newton_step(const Meeting* m, double x[4]) {
  double J[4][4], A[4][4], trace = 0;
  matrix_of(m, J);
  memcpy(A, J, sizeof A);
  for (int i = 0; i < 4; i++) x[i] = -m->residual[i];
  if (eliminate(A, x)) return true;
  for (int i = 0; i < 4; i++) {
    x[i] = 0;
    for (int k = 0; k < 4; k++) {
      A[i][k] = 0;
      for (int r = 0; r < 4; r++) A[i][k] += J[r][i] * J[r][k];
      x[i] -= J[k][i] * m->residual[k];
    }
    trace += A[i][i];
  }
  for (int i = 0; i < 4; i++) A[i][i] += 1e-7 * trace;
  return eliminate(A, x);
}

// Length of the part of a step on one surface, by its size and by the turn of its normal.
static double extent(const srSmoothFrame* f, const double delta[2], double size) {
  double turn[2];
  times2(f->W, delta, turn);
  return fmax(hypot(delta[0], delta[1]) / size, hypot(turn[0], turn[1]));
}

static bool take_step(Meeting* m, const double x[4], double length) {
  Meeting next = *m;
  double delta[2][2], scale = fmin(1, LARGEST_TURN / length);
  for (int i = 0; i <= HALVINGS; i++, scale *= 0.5) {
    for (int k = 0; k < 4; k++) delta[k / 2][k % 2] = scale * x[k];
    memcpy(next.at, m->at, sizeof next.at);
    sr_smooth_step(m->a, &m->frame[0], delta[0], next.at[0]);
    sr_smooth_step(m->b, &m->frame[1], delta[1], next.at[1]);
    if (meet(&next) && (next.merit < m->merit || next.merit < ROUNDING * ROUNDING)) {
      *m = next;
      return true;
    }
  }
  return false;
}

// Accepts or rejects, and sets the answer.
static bool conclude(const Meeting* m, srSmoothContact* out) {
  const srSmoothFrame *a = &m->frame[0], *b = &m->frame[1];
  double C[2][2], W[3], middle[3], size = fmin(m->a->size, m->b->size);
  if (!(hypot(m->residual[0], m->residual[1]) * m->length <= PRECISE * size + ROUNDING * m->length)) return false;
  if (!(hypot(m->residual[2], m->residual[3]) <= PRECISE) || !(srm_dot3(a->n, b->n) < 0)) return false;
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++) C[i][k] = srm_dot3(a->e[i], b->e[k]);
  congruent2(C, b->W, W);
  const double least = least_curvature(a->W, W, m->gap), unit = largest_of(a->W) + largest_of(W);
  if (!(least >= -SAME_CURVATURE * unit)) return false;
  srNearest* near = &out->near;
  const int iterations = near->iterations;
  *near = (srNearest){.state = SR_NEAREST_FOUND, .gap = m->gap, .core = m->gap, .iterations = iterations};
  near->unique = least > SAME_CURVATURE * unit;
  near->error = hypot(m->residual[0], m->residual[1]) * m->length;
  srm_set3(near->n, a->n);
  srm_set3(near->x, m->pose + 12);
  for (int k = 0; k < 3; k++) middle[k] = 0.5 * (a->x[k] + b->x[k]);
  srm_add_scaled3(middle, -0.5 * m->gap, a->n, near->point_a);
  srm_add_scaled3(middle, 0.5 * m->gap, a->n, near->point_b);
  set_active(a, m->a->size, &near->a);
  set_active(b, m->b->size, &near->b);
  memcpy(out->at, m->at, sizeof out->at);
  return true;
}

bool sr_common_normal(const srSmooth* a, const srSmooth* b, const double pose[16], srSmoothContact* contact) {
  Meeting m = {.a = a, .b = b, .pose = pose};
  memcpy(m.at, contact->at, sizeof m.at);
  contact->near.iterations = 0;
  if (!meet(&m)) return false;
  for (int i = 0; i < ITERATIONS && m.merit > ROUNDING * ROUNDING; i++) {
    double x[4];
    contact->near.iterations++;
    if (!newton_step(&m, x)) break;
    const double step = fmax(extent(&m.frame[0], x, a->size), extent(&m.frame[1], x + 2, b->size));
    if (!take_step(&m, x, step) || step < CONVERGED) break;
  }
  return conclude(&m, contact);
}

// ------------------------------------------------------------------------------------------------- surface and convex shape
void sr_smooth_point_distance(const double p[3], const srConvex* b, const double pose[16], double warm[3],
                              srNearest* out) {
  const srConvex point = sr_convex_sphere(0);
  double from[16];
  memcpy(from, pose, sizeof from);
  srm_sub3(pose + 12, p, from + 12);
  sr_shape_distance(&point, b, from, warm, SR_DISTANCE_FAST, out);
}

typedef struct Approach {
  const srSmooth* a;
  const srConvex* b;
  const double* pose;
  double at[2], warm[3];
  srSmoothFrame frame;
  srNearest near;  // of the point; n = -grad phi
  double slope[2];
} Approach;

static bool approach(Approach* m) {
  if (!sr_smooth_frame(m->a, m->at, &m->frame)) return false;
  sr_smooth_point_distance(m->frame.x, m->b, m->pose, m->warm, &m->near);
  for (int i = 0; i < 2; i++) m->slope[i] = -srm_dot3(m->frame.e[i], m->near.n);
  return m->near.state == SR_NEAREST_FOUND;
}

// K of the file's head.
static void hessian_of(const Approach* m, double K[3]) {
  double turn[3][3];
  const double facing = srm_dot3(m->near.n, m->frame.n);
  sr_nearest_turn(&m->near, turn);
  for (int i = 0; i < 3; i++) {
    const double *left = m->frame.e[i / 2], *right = m->frame.e[(i + 1) / 2];
    K[i] = facing * m->frame.W[i];
    for (int k = 0; k < 9; k++) K[i] += left[k / 3] * turn[k / 3][k % 3] * right[k % 3];
  }
}

// The step down: Newton's, with the Hessian made positive.
static void descent(const Approach* m, const double K[3], double x[2]) {
  const double low = low_eigenvalue(K), unit = largest_of(K) + 1 / m->a->size, floor_of = 1e-7 * unit;
  const double shift = low < floor_of ? (low < 0 ? 1e-3 * unit : floor_of) - low : 0;
  const double A[3] = {K[0] + shift, K[1], K[2] + shift};
  double inverse[3];
  x[0] = x[1] = 0;
  if (!invert2(A, inverse)) return;
  times2(inverse, m->slope, x);
  x[0] = -x[0], x[1] = -x[1];
}

static bool descend(Approach* m, const double x[2], double length) {
  Approach next = *m;
  double scale = fmin(1, LARGEST_TURN / length);
  const double fall = m->slope[0] * x[0] + m->slope[1] * x[1], steep = hypot(m->slope[0], m->slope[1]);
  for (int i = 0; i <= 4 * HALVINGS; i++, scale *= 0.5) {
    const double delta[2] = {scale * x[0], scale * x[1]};
    memcpy(next.at, m->at, sizeof next.at);
    sr_smooth_step(m->a, &m->frame, delta, next.at);
    if (!approach(&next)) continue;
    // Near the bottom phi does not show the fall any more: the slope does.
    if (next.near.gap <= m->near.gap + 1e-4 * scale * fall ||
        (steep < 1e-5 && hypot(next.slope[0], next.slope[1]) < 0.5 * steep)) {
      *m = next;
      return true;
    }
  }
  return false;
}

bool sr_common_normal_convex(const srSmooth* a, const srConvex* b, const double pose[16], srSmoothContact* contact) {
  Approach m = {.a = a, .b = b, .pose = pose};
  double K[3], x[2];
  memcpy(m.at, contact->at[0], sizeof m.at);
  contact->near.iterations = 0;
  if (!approach(&m)) return false;
  hessian_of(&m, K);
  for (int i = 0; i < ITERATIONS && hypot(m.slope[0], m.slope[1]) > ROUNDING; i++) {
    contact->near.iterations++;
    descent(&m, K, x);
    const double step = extent(&m.frame, x, a->size);
    const bool fell = descend(&m, x, step);
    hessian_of(&m, K);
    if (!fell || step < CONVERGED) break;
  }
  const double unit = largest_of(K) + 1 / a->size, least = low_eigenvalue(K);
  if (!(hypot(m.slope[0], m.slope[1]) <= PRECISE) || !(srm_dot3(m.near.n, m.frame.n) > 0)) return false;
  if (!(least >= -SAME_CURVATURE * unit)) return false;
  const int iterations = contact->near.iterations;
  contact->near = m.near;
  contact->near.iterations = iterations;
  contact->near.unique = m.near.unique && least > SAME_CURVATURE * unit;
  srm_set3(contact->near.x, pose + 12);
  for (int k = 0; k < 3; k++) contact->near.point_a[k] += m.frame.x[k], contact->near.point_b[k] += m.frame.x[k];
  set_active(&m.frame, a->size, &contact->near.a);
  memcpy(contact->at[0], m.at, sizeof m.at);
  return true;
}
