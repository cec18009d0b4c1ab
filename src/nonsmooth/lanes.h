// Batches of contacts, one contact in each lane of 32-byte vectors, or of 64 bytes. Compiled three times: lanes_single.c, lanes_wide.c and lanes_double.c define REAL, LANES,
// the integer MASK of the same size, TINY (whose square is a number), BIG (whose quotients are) and KERNEL, the table that is defined here.
//
// Ball (isotropic inertia, arms along the normal): u = l_a z_a + l_b z_b + (k_a y_a + k_b y_b) x n with scalars l, k, impulses as world vectors.
// The local problem has W_NN along the normal and W_TT across: p_N = max(0, p_N - u_N/W_NN), then p_T - u_T/W_TT cut to mu p_N is exact.
//
// Rows: u = R_a z_a + R_b z_b of any bodies, in a frame whose tangents diagonalise A = W_TT - W_TN W_NT/W_NN. With u_N = 0 eliminated
//   p_i = -b_i/(a_i + alpha),   b_i = u_i + m_i u_N - a_i p_i,   p_N = n_0 + m.p_T,   n_0 = p_N - u_N/W_NN - m.p_T,   m = -W_TN/W_NN
// sticks with alpha = 0, else alpha is the root of mu p_N = |p_T| (cone.c). Newton's method begins at |u_T|/|p_T|, which is the root at a
// solution: solutions are fixed points, whatever the number of its steps.
#include <string.h>

#include "base/base.h"
#include "math/vector3.h"
#include "nonsmooth/lane_math.h"
#include "nonsmooth/operator.h"

enum { NEWTON_LEAST = 2, NEWTON_MOST = 20 };  // steps for alpha in a sweep
#define CLOSE (REAL)0.02

typedef struct Ball {
  int row_at[2][LANES];       // of both bodies in z
  vec n[3], shift[3], p[3];   // shift: u without impulses, in world axes
  vec linear[2], angular[2];  // l, k
  vec mu, normal, tangent;    // 1/W_NN and 1/W_TT with the compliances
  vec soft[2];                // these: normal, tangential
  vec mobility[2];            // W_NN, W_TT with its compliance
} Ball;

typedef struct Rows {
  int row_at[2][LANES];  // of both bodies in z
  vec row[2][3][6];      // R: linear part first
  vec shift[3], p[3];
  vec m[2], a[2], normal, mu, soft[2];
  vec turn[2];  // cosine and sine of the angle to the tangents of the problem
} Rows;

typedef struct Trace {
  vec step[3], direction[3];  // step: change of the impulses in the last traced sweep
} Trace;

// Sums over the contacts of 32 bytes of lanes, whatever the width; in as many parts as they have numbers. They are added later, in double precision.
enum { SQUARE, STEP, DIRECTION, SPEED = STEP };  // as in srLaneSums; a calm sweep has the first two
typedef struct Sums {
  quad of[3], unused, soft[3], unused_too;  // two cache lines in single precision; soft: the second one
} Sums;

// Of each four lanes: the first two of both vectors by turns, the last two; the first pairs of both, the second pairs.
#if LANES == 16
#define LOWS(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define HIGHS(a, b) __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LOW_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HIGH_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#endif

// Velocities of the bodies of one side: linear and angular part. Those in lanes from .. to-1 alone are written: the others may belong to bodies that other threads write.
#if LANES == 8
// A body's row is one vector: eight of them are turned over at once.
SRM_INLINE void gather_rows(const REAL* z, const int body[LANES], vec linear[3], vec angular[3]) {
  vec r[LANES], turned[2][3];
  UNROLL
  for (int i = 0; i < LANES; ++i) r[i] = *(const vec*)(z + body[i]);
  UNROLL
  for (int k = 0; k < 2; ++k) {
    const vec *x = r + 4 * k, xy = __builtin_shufflevector(x[0], x[1], 0, 8, 1, 9, 4, 12, 5, 13),
              xy2 = __builtin_shufflevector(x[2], x[3], 0, 8, 1, 9, 4, 12, 5, 13),
              zw = __builtin_shufflevector(x[0], x[1], 2, 10, 3, 11, 6, 14, 7, 15),
              zw2 = __builtin_shufflevector(x[2], x[3], 2, 10, 3, 11, 6, 14, 7, 15);
    turned[k][0] = __builtin_shufflevector(xy, xy2, 0, 1, 8, 9, 4, 5, 12, 13);
    turned[k][1] = __builtin_shufflevector(xy, xy2, 2, 3, 10, 11, 6, 7, 14, 15);
    turned[k][2] = __builtin_shufflevector(zw, zw2, 0, 1, 8, 9, 4, 5, 12, 13);
  }
  UNROLL
  for (int k = 0; k < 3; ++k) {
    linear[k] = __builtin_shufflevector(turned[0][k], turned[1][k], 0, 1, 2, 3, 8, 9, 10, 11);
    angular[k] = __builtin_shufflevector(turned[0][k], turned[1][k], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

SRM_INLINE void scatter_rows(REAL* z, const int body[LANES], const vec linear[3], const vec angular[3], int from,
                             int to) {
  const vec none = {0};
  vec row[LANES], turned[2][3];
  UNROLL
  for (int k = 0; k < 3; ++k) {
    turned[0][k] = __builtin_shufflevector(linear[k], angular[k], 0, 1, 2, 3, 8, 9, 10, 11);
    turned[1][k] = __builtin_shufflevector(linear[k], angular[k], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  UNROLL
  for (int k = 0; k < 2; ++k) {
    const vec *x = turned[k], xy = __builtin_shufflevector(x[0], x[1], 0, 8, 1, 9, 4, 12, 5, 13),
              z0 = __builtin_shufflevector(x[2], none, 0, 8, 1, 9, 4, 12, 5, 13),
              xy2 = __builtin_shufflevector(x[0], x[1], 2, 10, 3, 11, 6, 14, 7, 15),
              z2 = __builtin_shufflevector(x[2], none, 2, 10, 3, 11, 6, 14, 7, 15);
    row[4 * k] = __builtin_shufflevector(xy, z0, 0, 1, 8, 9, 4, 5, 12, 13);
    row[4 * k + 1] = __builtin_shufflevector(xy, z0, 2, 3, 10, 11, 6, 7, 14, 15);
    row[4 * k + 2] = __builtin_shufflevector(xy2, z2, 0, 1, 8, 9, 4, 5, 12, 13);
    row[4 * k + 3] = __builtin_shufflevector(xy2, z2, 2, 3, 10, 11, 6, 7, 14, 15);
  }
  if (to - from == LANES) {
    UNROLL
    for (int i = 0; i < LANES; ++i) *(vec*)(z + body[i]) = row[i];
  } else {
    for (int i = from; i < to; ++i) *(vec*)(z + body[i]) = row[i];
  }
}
#elif LANES == 16
// Rows of contacts j and 4 + j, 8 + j and 12 + j in one vector, so that turning over ends in their order.
SRM_INLINE void gather_rows(const REAL* z, const int body[LANES], vec linear[3], vec angular[3]) {
  vec r[8], turned[2][3];
  UNROLL
  for (int i = 0; i < 8; ++i) {
    const int k = i < 4 ? i : 4 + i;
    const narrow a = *(const narrow*)(z + body[k]), b = *(const narrow*)(z + body[k + 4]);
    r[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
  UNROLL
  for (int k = 0; k < 2; ++k) {
    const vec* x = r + 4 * k;
    const vec xy = LOWS(x[0], x[1]), xy2 = LOWS(x[2], x[3]), zw = HIGHS(x[0], x[1]), zw2 = HIGHS(x[2], x[3]);
    turned[k][0] = LOW_PAIRS(xy, xy2);
    turned[k][1] = HIGH_PAIRS(xy, xy2);
    turned[k][2] = LOW_PAIRS(zw, zw2);
  }
  UNROLL
  for (int k = 0; k < 3; ++k) {
    const vec a = turned[0][k], b = turned[1][k];
    linear[k] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
    angular[k] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  }
}

SRM_INLINE void scatter_rows(REAL* z, const int body[LANES], const vec linear[3], const vec angular[3], int from,
                             int to) {
  const vec none = {0};
  narrow row[LANES];
  vec turned[2][3];
  UNROLL
  for (int k = 0; k < 3; ++k) {
    const vec a = linear[k], b = angular[k];
    turned[0][k] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    turned[1][k] = __builtin_shufflevector(a, b, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
  }
  UNROLL
  for (int k = 0; k < 2; ++k) {
    const vec *x = turned[k], xy = LOWS(x[0], x[1]), z0 = LOWS(x[2], none), xy2 = HIGHS(x[0], x[1]),
              z2 = HIGHS(x[2], none);
    const vec both[4] = {LOW_PAIRS(xy, z0), HIGH_PAIRS(xy, z0), LOW_PAIRS(xy2, z2), HIGH_PAIRS(xy2, z2)};
    UNROLL
    for (int i = 0; i < 4; ++i) {
      row[8 * k + i] = __builtin_shufflevector(both[i], both[i], 0, 1, 2, 3, 4, 5, 6, 7);
      row[8 * k + 4 + i] = __builtin_shufflevector(both[i], both[i], 8, 9, 10, 11, 12, 13, 14, 15);
    }
  }
  if (to - from == LANES) {
    _Pragma("GCC unroll 16") for (int i = 0; i < LANES; ++i) * (narrow*)(z + body[i]) = row[i];
  } else {
    for (int i = from; i < to; ++i) *(narrow*)(z + body[i]) = row[i];
  }
}
#else
SRM_INLINE void gather_rows(const REAL* z, const int body[LANES], vec linear[3], vec angular[3]) {
  gather(z, body, 0, linear);
  gather(z, body, 1, angular);
}

SRM_INLINE void scatter_rows(REAL* z, const int body[LANES], const vec linear[3], const vec angular[3], int from,
                             int to) {
  for (int half = 0; half < 2; ++half) {
    quad row[LANES];
    rows_of(half == 0 ? linear : angular, row);
    for (int i = from; i < to; ++i) *(quad*)place_of(z, body[i], half) = row[i];
  }
}
#endif

// Velocities of a batch while it is in registers: linear and angular part of both bodies.
typedef struct Pair {
  vec linear[2][3], angular[2][3];
} Pair;

SRM_INLINE void gather_pair(const REAL* z, const int body[2][LANES], bool pairs, Pair* v) {
  UNROLL
  for (int side = pairs ? 0 : 1; side < 2; ++side) {
    gather_rows(z, body[side], v->linear[side], v->angular[side]);
  }
}
SRM_INLINE void scatter_pair(REAL* z, const int body[2][LANES], bool pairs, const Pair* v, int from, int to) {
  UNROLL
  for (int side = pairs ? 0 : 1; side < 2; ++side) {
    scatter_rows(z, body[side], v->linear[side], v->angular[side], from, to);
  }
}

// ---- balls --------------------------------------------------------------------------------------------------------------

SRM_INLINE void ball_velocity(const Ball* b, const Pair* v, bool pairs, vec u[3]) {
  vec turn[3], c[3];
  UNROLL
  for (int k = 0; k < 3; ++k) {
    u[k] = b->shift[k] + b->linear[1] * v->linear[1][k];
    turn[k] = b->angular[1] * v->angular[1][k];
    if (pairs) {
      u[k] += b->linear[0] * v->linear[0][k];
      turn[k] += b->angular[0] * v->angular[0][k];
    }
  }
  cross(turn, b->n, c);
  UNROLL
  for (int k = 0; k < 3; ++k) u[k] += c[k];
}

SRM_INLINE void ball_push(const Ball* b, const vec dp[3], bool pairs, Pair* v) {
  vec c[3];
  cross(b->n, dp, c);
  UNROLL
  for (int side = pairs ? 0 : 1; side < 2; ++side) {
    UNROLL
    for (int k = 0; k < 3; ++k) {
      v->linear[side][k] += b->linear[side] * dp[k];
      v->angular[side][k] += b->angular[side] * c[k];
    }
  }
}

// slip: |u_T| that remains, 0 where it sticks.
SRM_INLINE void ball_solve(const Ball* b, const vec u[3], vec next[3], vec* slip) {
  const vec pN = dot3(b->p, b->n), uN = dot3(u, b->n);
  const vec N = larger(pN - b->normal * (uN + b->soft[0] * pN), (vec){0});
  const vec keep = 1 - b->tangent * b->soft[1], along = keep * pN - b->tangent * uN, limit = b->mu * N;
  vec t[3];
  UNROLL
  for (int k = 0; k < 3; ++k) t[k] = keep * b->p[k] - b->tangent * u[k] - along * b->n[k];
  const vec square = dot3(t, t), length = root(larger(square, every((REAL)TINY * (REAL)TINY)));
  const vec scale = choose(square > limit * limit, limit / length, every(1));
  UNROLL
  for (int k = 0; k < 3; ++k) next[k] = N * b->n[k] + scale * t[k];
  *slip = (1 - scale) * length * b->mobility[1];
}

SRM_INLINE vec ball_residual(const Ball* b, const vec u[3]) {
  const vec pN = dot3(b->p, b->n), uN = dot3(u, b->n);
  vec pT[3], uT[3];
  UNROLL
  for (int k = 0; k < 3; ++k) {
    pT[k] = b->p[k] - pN * b->n[k];
    uT[k] = u[k] - uN * b->n[k] + b->soft[1] * pT[k];
  }
  return natural_map(pN, pT, uN + b->soft[0] * pN, uT, 3, b->mu, b->mobility[0]);
}

// The velocity that a change of the impulse stands for: of the normal in all directions.
SRM_INLINE void ball_speed(const Ball* b, const vec d[3], vec out[3]) {
  UNROLL
  for (int k = 0; k < 3; ++k) out[k] = b->mobility[0] * d[k];
}

// ---- any bodies ---------------------------------------------------------------------------------------------------------

SRM_INLINE void rows_velocity(const Rows* b, const Pair* v, bool pairs, vec u[3]) {
  UNROLL
  for (int k = 0; k < 3; ++k) {
    u[k] = b->shift[k] + dot3(b->row[1][k], v->linear[1]) + dot3(b->row[1][k] + 3, v->angular[1]);
    if (pairs) u[k] += dot3(b->row[0][k], v->linear[0]) + dot3(b->row[0][k] + 3, v->angular[0]);
  }
}

SRM_INLINE void rows_push(const Rows* b, const vec dp[3], bool pairs, Pair* v) {
  UNROLL
  for (int side = pairs ? 0 : 1; side < 2; ++side) {
    UNROLL
    for (int k = 0; k < 3; ++k) {
      const vec(*R)[6] = b->row[side];
      v->linear[side][k] += R[0][k] * dp[0] + R[1][k] * dp[1] + R[2][k] * dp[2];
      v->angular[side][k] += R[0][3 + k] * dp[0] + R[1][3 + k] * dp[1] + R[2][3 + k] * dp[2];
    }
  }
}

// x(alpha) and limit(alpha) = mu p_N.
SRM_INLINE vec friction_at(const Rows* b, const vec right[2], vec n0, vec alpha, vec x[2]) {
  UNROLL
  for (int k = 0; k < 2; ++k) x[k] = -right[k] / (b->a[k] + alpha);
  return b->mu * (n0 + dot2(b->m, x));
}

// Newton's method on f = limit/|x| - 1, which is nearly linear in alpha, kept between bounds with f < 0 and f >= 0. A lane that slips takes steps until it has found
// its root to CLOSE, whatever the others do; the last one makes that CLOSE^2.
SRM_INLINE vec find_alpha(const Rows* b, const vec right[2], vec n0, mask slips, vec alpha, vec x[2]) {
  vec low = {0}, high = every(BIG);
  mask open = slips;
  for (int i = 0; i < NEWTON_MOST; ++i) {
    const vec limit = friction_at(b, right, n0, alpha, x);
    vec change[2];
    UNROLL
    for (int k = 0; k < 2; ++k) change[k] = -x[k] / (b->a[k] + alpha);
    const vec square = larger(dot2(x, x), every((REAL)TINY * (REAL)TINY)), length = root(square);
    const vec f = limit / length - 1, slope = (b->mu * dot2(b->m, change) - limit * dot2(x, change) / square) / length;
    low = choose(f < 0, alpha, low);
    high = choose(f < 0, high, alpha);
    const vec next = alpha - f / choose(slope > 0, slope, every(1));
    const vec other = choose(high < every(BIG), (REAL)0.5 * (low + high), 4 * larger(alpha, b->a[0]));
    alpha = choose(open, choose((slope > 0) & (next >= low) & (next <= high), next, other), alpha);
    if (i >= NEWTON_LEAST - 1) open &= (f > CLOSE) | (f < -CLOSE);
    if (!any(open)) break;
  }
  (void)friction_at(b, right, n0, alpha, x);
  return alpha;
}

SRM_INLINE void rows_solve(const Rows* b, const vec v[3], vec next[3], vec* slip) {
  const vec *p = b->p, uN = v[0] + b->soft[0] * p[0];
  const vec u[3] = {uN, v[1] + b->soft[1] * p[1], v[2] + b->soft[1] * p[2]};
  const vec n0 = p[0] - b->normal * uN - dot2(b->m, p + 1);
  vec right[2], x[2];
  UNROLL
  for (int k = 0; k < 2; ++k) right[k] = u[1 + k] + b->m[k] * uN - b->a[k] * p[1 + k];
  const vec limit = friction_at(b, right, n0, (vec){0}, x);
  const mask closed = n0 > 0;
  const mask slips = closed & (b->mu > 0) & ((dot2(x, x) > limit * limit) | (limit < 0));
  *slip = (vec){0};
  if (any(slips)) {
    const vec pT = dot2(p + 1, p + 1), least = every((REAL)TINY * (REAL)TINY);
    vec y[2];
    const vec first = choose(pT > least, root(dot2(u + 1, u + 1) / larger(pT, least)), (vec){0});
    const vec alpha = find_alpha(b, right, n0, slips, first, y);
    *slip = choose(slips, alpha * root(dot2(y, y)), (vec){0});
    UNROLL
    for (int k = 0; k < 2; ++k) x[k] = choose(slips, y[k], x[k]);
  }
  // What Newton's method has left open is cut off: first with its own normal impulse, then with that of the friction that remains.
  vec N = {0};
  for (int i = 0; i < 2; ++i) {
    N = choose(closed, larger(n0 + dot2(b->m, x), (vec){0}), (vec){0});
    const vec part = cut(dot2(x, x), b->mu * N);
    x[0] *= part;
    x[1] *= part;
  }
  next[0] = N;
  next[1] = x[0];
  next[2] = x[1];
}

SRM_INLINE vec rows_residual(const Rows* b, const vec u[3]) {
  const vec *p = b->p, uT[2] = {u[1] + b->soft[1] * p[1], u[2] + b->soft[1] * p[2]};
  return natural_map(p[0], p + 1, u[0] + b->soft[0] * p[0], uT, 2, b->mu, 1 / b->normal - b->soft[0]);
}

SRM_INLINE void rows_speed(const Rows* b, const vec d[3], vec out[3]) {
  out[0] = d[0] / b->normal;
  out[1] = b->a[0] * d[1];
  out[2] = b->a[1] * d[2];
}

// ---- loops over batches -------------------------------------------------------------------------------------------------

// Kind and act are known where these are inlined.
SRM_INLINE void velocity(const void* b, int kind, const Pair* v, bool pairs, vec u[3]) {
  if (kind == SR_LANES_BALL) {
    ball_velocity(b, v, pairs, u);
  } else {
    rows_velocity(b, v, pairs, u);
  }
}
SRM_INLINE void solve(const void* b, int kind, const vec u[3], vec next[3], vec* slip) {
  if (kind == SR_LANES_BALL) {
    ball_solve(b, u, next, slip);
  } else {
    rows_solve(b, u, next, slip);
  }
}
SRM_INLINE void push(const void* b, int kind, const vec dp[3], bool pairs, Pair* v) {
  if (kind == SR_LANES_BALL) {
    ball_push(b, dp, pairs, v);
  } else {
    rows_push(b, dp, pairs, v);
  }
}
SRM_INLINE vec residual_of(const void* b, int kind, const vec u[3]) {
  return kind == SR_LANES_BALL ? ball_residual(b, u) : rows_residual(b, u);
}
SRM_INLINE void speed_of(const void* b, int kind, const vec d[3], vec out[3]) {
  if (kind == SR_LANES_BALL) {
    ball_speed(b, d, out);
  } else {
    rows_speed(b, d, out);
  }
}
SRM_INLINE vec normal_of(const void* b, int kind, const vec x[3]) {
  return kind == SR_LANES_BALL ? dot3(x, ((const Ball*)b)->n) : x[0];
}
SRM_INLINE const vec* shift_of(const void* b, int kind) {
  return kind == SR_LANES_BALL ? ((const Ball*)b)->shift : ((const Rows*)b)->shift;
}
// x.c y with the compliances c.
SRM_INLINE vec soft_product(const void* b, int kind, const vec x[3], const vec y[3]) {
  const vec* soft = kind == SR_LANES_BALL ? ((const Ball*)b)->soft : ((const Rows*)b)->soft;
  const vec normal = normal_of(b, kind, x) * normal_of(b, kind, y);
  return soft[0] * normal + soft[1] * (dot3(x, y) - normal);
}
SRM_INLINE vec* impulse_of(void* b, int kind) { return kind == SR_LANES_BALL ? ((Ball*)b)->p : ((Rows*)b)->p; }

SRM_INLINE void* batch_of(const srLanes* l, const srLaneRun* run, int i) {
  return l->batch + run->at + (size_t)i * (run->kind == SR_LANES_BALL ? sizeof(Ball) : sizeof(Rows));
}
SRM_INLINE int lanes_used(const srLaneRun* run, int i) {
  const int left = run->contacts - LANES * i;
  return left < LANES ? left : LANES;
}

SRM_INLINE mask lanes_between(int from, int to) {
  mask m = {0};
  if (to - from < LANES) {
    for (int i = from; i < to; ++i) m[i] = -1;
  } else {
    m = ~m;
  }
  return m;
}

// The lanes of the mask alone get their new impulse.
SRM_INLINE void take(vec p[3], const vec next[3], mask m, vec dp[3]) {
  UNROLL
  for (int k = 0; k < 3; ++k) {
    const vec x = choose(m, next[k], p[k]);
    dp[k] = x - p[k];
    p[k] = x;
  }
}

SRM_INLINE void relax(void* b, int kind, bool pairs, REAL* z, int from, int to, vec dp[3], vec* slip) {
  const int(*body)[LANES] = b;  // the first member of both kinds
  const mask m = lanes_between(from, to);
  Pair v;
  vec u[3], next[3];
  gather_pair(z, body, pairs, &v);
  velocity(b, kind, &v, pairs, u);
  solve(b, kind, u, next, slip);
  *slip = choose(m, *slip, (vec){0});
  take(impulse_of(b, kind), next, m, dp);
  push(b, kind, dp, pairs, &v);
  scatter_pair(z, body, pairs, &v, from, to);
}

SRM_INLINE void apply_one(void* b, int kind, bool pairs, REAL* z, int from, int to) {
  const int(*body)[LANES] = b;
  Pair v;
  vec none[3] = {{0}}, dp[3];
  gather_pair(z, body, pairs, &v);
  take(none, impulse_of(b, kind), lanes_between(from, to), dp);
  push(b, kind, dp, pairs, &v);
  scatter_pair(z, body, pairs, &v, from, to);
}

enum { SWEEP, TRACED, CALM };  // CALM: traced, with the square of its step alone for a sum

// The sum of all lanes in the parts of a vector of doubles.
SRM_INLINE double sum_of(v4 x) { return (x[0] + x[2]) + (x[1] + x[3]); }

#if LANES == 4
SRM_INLINE quad fold(narrow x) { return x; }
#else
SRM_INLINE quad fold(narrow x) {
  return __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
}
#endif
// Of the 32 bytes i.
#if LANES == 16
SRM_INLINE quad fold_of(vec x, int i) {
  return fold(i == 0 ? __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7)
                     : __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
}
#else
SRM_INLINE quad fold_of(vec x, int i) {
  (void)i;
  return fold(x);
}
#endif

// In double precision from the start.
#if LANES == 4
SRM_INLINE v4 widened(narrow x) { return x; }
#else
SRM_INLINE v4 widened(narrow x) {
  return __builtin_convertvector(__builtin_shufflevector(x, x, 0, 1, 2, 3), v4) +
         __builtin_convertvector(__builtin_shufflevector(x, x, 4, 5, 6, 7), v4);
}
#endif
SRM_INLINE double most_of(vec x) {
  REAL most = x[0];
  UNROLL
  for (int i = 1; i < LANES; ++i) most = x[i] > most ? x[i] : most;
  return (double)most;
}

// What conjugate directions have left to do since the last sweep (srLaneMove).
SRM_INLINE void follow_trace(Trace* t, const srLaneMove* move, vec p[3]) {
  const REAL beta = (REAL)move->beta, way = (REAL)move->way, back = (REAL)move->back;
  UNROLL
  for (int k = 0; k < 3; ++k) {
    vec d = {0};
    if (beta >= 0) {
      d = beta * t->direction[k] + t->step[k];
      p[k] += way * d - back * t->step[k];
    }
    t->direction[k] = d;
  }
}

// (q + mu |u_T| n).x, with q = u without impulses.
SRM_INLINE vec along(const void* b, int kind, vec slip, const vec x[3]) {
  const vec mu = kind == SR_LANES_BALL ? ((const Ball*)b)->mu : ((const Rows*)b)->mu;
  return dot3(shift_of(b, kind), x) + mu * slip * normal_of(b, kind, x);
}

// to (PARTS): of each 32 bytes.
SRM_INLINE void keep_sums(const void* b, int kind, const Trace* t, vec slip, const vec speed[3], bool calm, bool soft,
                          Sums* to) {
  const vec *step = t->step, *d = t->direction, *p = impulse_of((void*)(uintptr_t)b, kind);
  vec sum[3] = {dot3(speed, step)};
  if (calm) {
    sum[SPEED] = dot3(speed, speed);
  } else {
    sum[STEP] = along(b, kind, slip, step);
    sum[DIRECTION] = along(b, kind, slip, d);
  }
  if (soft && !calm) {
    sum[STEP] += soft_product(b, kind, p, step);
    sum[DIRECTION] += soft_product(b, kind, p, d);
  }
  UNROLL
  for (int i = 0; i < PARTS; ++i) {
    UNROLL
    for (int k = 0; k < 3; ++k) {
      if (k < 2 || !calm) to[i].of[k] = fold_of(sum[k], i);
    }
    if (!soft || calm) continue;
    to[i].soft[0] = fold_of(soft_product(b, kind, step, step), i);
    to[i].soft[1] = fold_of(soft_product(b, kind, step, d), i);
    to[i].soft[2] = fold_of(soft_product(b, kind, d, d), i);
  }
}

// Has a batch of an idle run neither impulses nor a direction?
SRM_INLINE bool is_zero(const vec p[3], const Trace* t) {
  mask other = {0};
  UNROLL
  for (int k = 0; k < 3; ++k) other |= (p[k] != 0) | (t->step[k] != 0) | (t->direction[k] != 0);
  return !any(other);
}

// The step of batch i for the next direction. act is known where it is inlined.
SRM_INLINE void keep_step(const srLanes* l, const srLaneRun* run, int i, int kind, int act, const vec step[3],
                          const vec speed[3], vec slip) {
  void* b = batch_of(l, run, i);
  Trace* t = (Trace*)l->trace + run->batch + i;
  Sums* sums = (Sums*)l->sum + PARTS * (run->batch + i);
  if (act != SWEEP) {
    UNROLL
    for (int k = 0; k < 3; ++k) t->step[k] = step[k];
    keep_sums(b, kind, t, slip, speed, act == CALM, l->soft, sums);
  } else if (run->idle) {  // directions begin anew after plain sweeps
    *t = (Trace){.step = {{0}}};
    memset(sums, 0, PARTS * sizeof *sums);
  }
  if (run->idle) l->zero[run->batch + i] = is_zero(impulse_of(b, kind), t);
}

// Full batches whose contacts are relaxed in three rounds, so that what one of them waits for is done for the others meanwhile.
enum { GROUP = 4 };
typedef struct Relaxed {
  Pair v;
  vec u[3], step[3];
} Relaxed;

SRM_INLINE vec relax_group(const srLanes* l, const srLaneRun* run, const int* at, int n, int kind, bool pairs, int act,
                           const srLaneMove* move, vec most) {
  Relaxed all[GROUP];
  for (int j = 0; j < n; ++j) {
    void* b = batch_of(l, run, at[j]);
    Relaxed* x = &all[j];
    if (act != SWEEP) follow_trace((Trace*)l->trace + run->batch + at[j], move, impulse_of(b, kind));
    gather_pair(l->z, b, pairs, &x->v);
    velocity(b, kind, &x->v, pairs, x->u);
  }
  for (int j = 0; j < n; ++j) {
    void* b = batch_of(l, run, at[j]);
    Relaxed* x = &all[j];
    vec next[3], slip, speed[3], *p = impulse_of(b, kind);
    solve(b, kind, x->u, next, &slip);
    UNROLL
    for (int k = 0; k < 3; ++k) {
      x->step[k] = next[k] - p[k];
      p[k] = next[k];
    }
    speed_of(b, kind, x->step, speed);
    most = larger(dot3(speed, speed), most);
    keep_step(l, run, at[j], kind, act, x->step, speed, slip);
  }
  for (int j = 0; j < n; ++j) {
    void* b = batch_of(l, run, at[j]);
    push(b, kind, all[j].step, pairs, &all[j].v);
    scatter_pair(l->z, b, pairs, &all[j].v, 0, LANES);
  }
  return most;
}

// A batch that is not full, or whose lanes come one after the other.
SRM_INLINE vec relax_part(const srLanes* l, const srLaneRun* run, int i, int kind, bool pairs, int act,
                          const srLaneMove* move, vec most) {
  void* b = batch_of(l, run, i);
  const int used = lanes_used(run, i), width = run->serial ? 1 : used;
  vec step[3] = {{0}}, slip = {0}, speed[3];
  if (act != SWEEP) follow_trace((Trace*)l->trace + run->batch + i, move, impulse_of(b, kind));
  for (int lane = 0; lane < used; lane += width) {
    vec dp[3], rest;
    relax(b, kind, pairs, l->z, lane, lane + width, dp, &rest);
    slip += rest;
    UNROLL
    for (int k = 0; k < 3; ++k) step[k] += dp[k];
  }
  speed_of(b, kind, step, speed);
  keep_step(l, run, i, kind, act, step, speed, slip);
  return larger(dot3(speed, speed), most);
}

// Sixteen contacts of an idle run sleep together: what is swept does not depend on the width of the vectors. from: a multiple of four, as is `to` or all of them.
enum { UNIT = 16 / LANES };
SRM_INLINE void fall_asleep(const srLanes* l, const srLaneRun* run, int from, int to) {
  const bool* zero = l->zero + run->batch;
  for (int i = from; i < to; i += UNIT) {
    const int end = i + UNIT < to ? i + UNIT : to;
    bool all = true;
    for (int k = i; k < end; ++k) all = all && zero[k];
    for (int k = i; k < end; ++k) l->sleeps[run->batch + k] = all;
  }
}

// Largest squared velocity that a change of a sweep stands for.
SRM_INLINE vec change_run(const srLanes* l, const srLaneRun* run, int from, int to, int kind, bool pairs, int act,
                          const srLaneMove* move) {
  const bool* sleeps = run->idle && !move->sleepers ? l->sleeps + run->batch : NULL;
  const int whole = run->serial ? 0 : run->contacts / LANES, full = whole < to ? whole : to;
  vec most = {0};
  int i = from;
  while (i < full) {
    int at[GROUP], n = 0;
    for (; i < full && n < GROUP; ++i) {
      if (sleeps == NULL || !sleeps[i]) at[n++] = i;
    }
    most = relax_group(l, run, at, n, kind, pairs, act, move, most);
  }
  for (; i < to; ++i) {
    if (sleeps == NULL || !sleeps[i]) most = relax_part(l, run, i, kind, pairs, act, move, most);
  }
  if (run->idle) fall_asleep(l, run, from, to);
  return most;
}

SRM_INLINE void apply_run(const srLanes* l, const srLaneRun* run, int from, int to, int kind, bool pairs) {
  for (int i = from; i < to; ++i) {
    const int used = lanes_used(run, i), width = run->serial ? 1 : used;
    for (int lane = 0; lane < used; lane += width)
      apply_one(batch_of(l, run, i), kind, pairs, l->z, lane, lane + width);
  }
}

SRM_INLINE double change(const srLanes* l, const srLaneRun* run, int from, int to, int act, const srLaneMove* move) {
  vec most;
  if (run->kind == SR_LANES_BALL) {
    most = run->pairs ? change_run(l, run, from, to, SR_LANES_BALL, true, act, move)
                      : change_run(l, run, from, to, SR_LANES_BALL, false, act, move);
  } else {
    most = run->pairs ? change_run(l, run, from, to, SR_LANES_ROWS, true, act, move)
                      : change_run(l, run, from, to, SR_LANES_ROWS, false, act, move);
  }
  return sqrt(most_of(most));
}

SRM_CLONES static double sweep(const srLanes* l, const srLaneRun* run, int from, int to, const srLaneMove* move) {
  return change(l, run, from, to, SWEEP, move);
}

SRM_CLONES static double sweep_traced(const srLanes* l, const srLaneRun* run, int from, int to,
                                      const srLaneMove* move) {
  return change(l, run, from, to, TRACED, move);
}

SRM_CLONES static double sweep_calm(const srLanes* l, const srLaneRun* run, int from, int to, const srLaneMove* move) {
  return change(l, run, from, to, CALM, move);
}

SRM_CLONES static double apply(const srLanes* l, const srLaneRun* run, int from, int to, const srLaneMove* move) {
  (void)move;
  if (run->kind == SR_LANES_BALL) {
    apply_run(l, run, from, to, SR_LANES_BALL, run->pairs);
  } else {
    apply_run(l, run, from, to, SR_LANES_ROWS, run->pairs);
  }
  return 0;
}

// The largest residual; above: += how many are above the limit.
SRM_INLINE double measure_run(const srLanes* l, const srLaneRun* run, int from, int to, int kind, bool pairs,
                              double limit, int* above) {
  vec most = {0};
  mask count = {0};
  for (int i = from; i < to; ++i) {
    void* b = batch_of(l, run, i);
    Pair v;
    vec u[3];
    gather_pair(l->z, b, pairs, &v);
    velocity(b, kind, &v, pairs, u);
    const vec r = residual_of(b, kind, u);
    most = larger(r, most);
    count -= (mask)(r > every((REAL)limit));
  }
  for (int i = 0; i < LANES; ++i) *above += (int)count[i];
  return most_of(most);
}

SRM_CLONES static double residual(const srLanes* l, const srLaneRun* run, int from, int to, double limit, int* above) {
  if (run->kind == SR_LANES_BALL)
    return run->pairs ? measure_run(l, run, from, to, SR_LANES_BALL, true, limit, above)
                      : measure_run(l, run, from, to, SR_LANES_BALL, false, limit, above);
  return run->pairs ? measure_run(l, run, from, to, SR_LANES_ROWS, true, limit, above)
                    : measure_run(l, run, from, to, SR_LANES_ROWS, false, limit, above);
}

// p.W p and p.q of the start values.
SRM_INLINE void work_run(const srLanes* l, const srLaneRun* run, int from, int to, int kind, bool pairs) {
  for (int i = from; i < to; ++i) {
    void* b = batch_of(l, run, i);
    const vec* p = impulse_of(b, kind);
    Pair v;
    vec u[3];
    gather_pair(l->z, b, pairs, &v);
    velocity(b, kind, &v, pairs, u);
    const vec given = dot3(p, shift_of(b, kind));
    const vec square = dot3(p, u) - given + soft_product(b, kind, p, p);
    Sums* sums = (Sums*)l->sum + PARTS * (run->batch + i);
    for (int k = 0; k < PARTS; ++k) sums[k] = (Sums){.of = {fold_of(square, k), fold_of(given, k)}};
  }
}

SRM_CLONES static void work(const srLanes* l, const srLaneRun* run, int from, int to) {
  if (run->kind == SR_LANES_BALL) {
    run->pairs ? work_run(l, run, from, to, SR_LANES_BALL, true) : work_run(l, run, from, to, SR_LANES_BALL, false);
  } else {
    run->pairs ? work_run(l, run, from, to, SR_LANES_ROWS, true) : work_run(l, run, from, to, SR_LANES_ROWS, false);
  }
}

// Each batch has its sums, which are added in their order: the same bits for any team.
SRM_CLONES static void add_sums(const srLanes* l, int from, int to, srLaneSums* all) {
  v4 sum[3] = {{0}}, soft[3] = {{0}};
  const Sums* s = l->sum;
  for (int i = PARTS * from; i < PARTS * to; ++i) {
    UNROLL
    for (int k = 0; k < 3; ++k) sum[k] += __builtin_convertvector(s[i].of[k], v4);
    for (int k = 0; k < 3 && l->soft; ++k) soft[k] += __builtin_convertvector(s[i].soft[k], v4);
  }
  *all = (srLaneSums){.square = sum_of(sum[SQUARE]),
                      .step = sum_of(sum[STEP]),
                      .direction = sum_of(sum[DIRECTION]),
                      .speed = sum_of(sum[SPEED])};
  for (int k = 0; k < 3; ++k) all->soft[k] = sum_of(soft[k]);
}

static void scale(const srLanes* l, const srLaneRun* run, int from, int to, double by) {
  for (int i = from; i < to; ++i) {
    vec* p = impulse_of(batch_of(l, run, i), run->kind);
    for (int k = 0; k < 3; ++k) p[k] *= (REAL)by;
  }
}

// ---- conjugate directions -----------------------------------------------------------------------------------------------

enum { VECTORS = SR_ROW * sizeof(REAL) / sizeof(narrow) };  // of a body

// Before the first sweep: no direction, and nothing of what the memory had before.
static void begin_rows(const srLanes* l, int from, int to) {
  narrow *before = l->before, *drift = l->drift;
  const narrow* z = l->z;
  for (int i = VECTORS * from; i < VECTORS * to; ++i) {
    before[i] = z[i];
    drift[i] = (narrow){0};
  }
}

// Of bodies from .. to-1: velocities are linear in the impulses and follow theirs, d = beta d + step.
SRM_CLONES static void aim_rows(const srLanes* l, int from, int to, double beta, srRowSums* sums) {
  const narrow *z = l->z, *before = l->before;
  narrow *drift = l->drift, square = {0}, product = {0};
  for (int i = VECTORS * from; i < VECTORS * to; ++i) {
    const narrow d = (REAL)beta * drift[i] + (z[i] - before[i]);
    drift[i] = d;
    square += d * d;
    product += z[i] * d;
  }
  *sums = (srRowSums){.square = sum_of(widened(square)), .product = sum_of(widened(product))};
}

// Both for a move that is known before: d = beta d + step, z += d - step.
SRM_CLONES static void follow_rows(const srLanes* l, int from, int to, double beta) {
  narrow *z = l->z, *before = l->before, *drift = l->drift;
  for (int i = VECTORS * from; i < VECTORS * to; ++i) {
    const narrow step = z[i] - before[i], d = (REAL)beta * drift[i] + step;
    drift[i] = d;
    before[i] = z[i] += d - step;
  }
}

// z += way d - back step.
SRM_CLONES static void move_rows(const srLanes* l, int from, int to, const srLaneMove* move) {
  const REAL way = (REAL)move->way, back = (REAL)move->back;
  narrow *z = l->z, *before = l->before;
  const narrow* drift = l->drift;
  for (int i = VECTORS * from; i < VECTORS * to; ++i) {
    z[i] += way * drift[i] - back * (z[i] - before[i]);
    before[i] = z[i];
  }
}

static void scale_rows(const srLanes* l, int from, int to, double by) {
  REAL* z = l->z;
  for (int i = SR_ROW * from; i < SR_ROW * to; ++i) z[i] *= (REAL)by;
}

// ---- filling and storing ------------------------------------------------------------------------------------------------

// Velocity of b relative to a without impulses, world axes, with shift and slip; the impulse in world axes.
SRM_INLINE v4 free_velocity(const srContactProblem* p, int i, const double* impulse, v4* world) {
  const srContactPoint* x = &p->point[i];
  const srContactCone* c = &p->cone[i];
  double s[3], t[3];
  srm_frame3(x->normal, s, t);
  const v4 n = v4_xyz(x->normal), one = {s[0], s[1], s[2], 0}, two = {t[0], t[1], t[2], 0};
  v4 u = n * c->shift + one * c->slip[0] + two * c->slip[1];
  *world = n * impulse[0] + one * impulse[1] + two * impulse[2];
  for (int side = 0; side < 2; ++side) {
    if (x->body[side] < 0) continue;
    const double* v = p->body[x->body[side]].velocity;
    const v4 at = v4_cross(v4_xyz(v), v4_xyz(x->arm[side])) + v4_xyz(v + 3);
    u = side == 0 ? u - at : u + at;
  }
  return u;
}

// Side of the contact for each side of a batch: with one moving body that is side 1.
static void sides_of(const srLanes* l, const srContactPoint* x, bool pairs, int side[2]) {
  side[0] = 0;
  side[1] = pairs || sr_lanes_moves(l, x->body[1]) ? 1 : 0;
}

SRM_INLINE void fill_ball(const srLanes* l, const srContactProblem* p, int i, const double* impulse, bool pairs,
                          Ball* b, int lane) {
  const srContactPoint* x = &p->point[i];
  const srContactCone* cone = &p->cone[i];
  double normal = 0, tangent = 0;
  int sides[2];
  v4 world;
  const v4 u = free_velocity(p, i, impulse, &world);
  sides_of(l, x, pairs, sides);
  for (int k = 0; k < 3; ++k) {
    b->n[k][lane] = (REAL)x->normal[k];
    b->p[k][lane] = (REAL)world[k];
    b->shift[k][lane] = (REAL)u[k];
  }
  for (int k = pairs ? 0 : 1; k < 2; ++k) {
    const int side = sides[k];
    const srScaledBody* body = &l->body[x->body[side]];
    const double sign = side == 0 ? -1 : 1, turn = sign * srm_dot3(x->arm[side], x->normal) * body->angular[0];
    b->row_at[k][lane] = SR_ROW * x->body[side];
    b->linear[k][lane] = (REAL)(sign * body->linear);
    b->angular[k][lane] = (REAL)turn;
    normal += body->linear * body->linear;
    tangent += body->linear * body->linear + turn * turn;
  }
  const double soft = p->compliance * normal + cone->compliance[0];
  b->mu[lane] = (REAL)cone->mu;
  b->normal[lane] = (REAL)(1 / (normal + soft));
  b->tangent[lane] = (REAL)(1 / (tangent + cone->compliance[1]));
  b->soft[0][lane] = (REAL)soft;
  b->soft[1][lane] = (REAL)cone->compliance[1];
  b->mobility[0][lane] = (REAL)normal;
  b->mobility[1][lane] = (REAL)(tangent + cone->compliance[1]);
}

// ---- four balls side by side: with the bits of one by one

typedef struct Four {
  int contact[4];
  const srContactPoint* point[4];
  v4 n[4], t[3], u[3];  // the frames of sr_contact_frame
} Four;

SRM_INLINE void take_four(const srContactProblem* p, const int* contact, Four* f) {
  const double* normal[4];
  UNROLL
  for (int i = 0; i < 4; ++i) {
    f->contact[i] = contact[i];
    f->point[i] = &p->point[contact[i]];
    normal[i] = f->point[i]->normal;
  }
  v4_columns_at(normal, f->n);
  v4_frames(f->n, f->t, f->u);
}

// u: as free_velocity, for one side.
SRM_INLINE void add_velocities(const srContactProblem* p, const Four* f, int side, v4 u[3]) {
  static const srContactBody world = {0};
  const double *arm[4], *turning[4], *moving[4];
  v4 r[4], w[4], v[4], at[3];
  UNROLL
  for (int i = 0; i < 4; ++i) {
    const int body = f->point[i]->body[side];
    const srContactBody* b = body < 0 ? &world : &p->body[body];
    arm[i] = f->point[i]->arm[0] + 2 * side;  // the last number of one arm, and the other
    turning[i] = b->velocity;
    moving[i] = b->velocity + 2;
  }
  v4_columns_at(arm, r);
  v4_columns_at(turning, w);
  v4_columns_at(moving, v);
  v4_crosses(w, r + side, at);
  for (int k = 0; k < 3; ++k) u[k] = side == 0 ? u[k] - (at[k] + v[k + 1]) : u[k] + (at[k] + v[k + 1]);
}

// Lanes 4 half .. 4 half + 3.
SRM_INLINE void put_four(vec* to, int half, v4 x) { *(quad*)((REAL*)to + 4 * half) = __builtin_convertvector(x, quad); }

// Mobilities by the moving bodies.
SRM_INLINE void add_bodies(const srLanes* l, const Four* f, bool pairs, Ball* b, int half, v4* normal, v4* tangent) {
  for (int k = pairs ? 0 : 1; k < 2; ++k) {
    const double* arm[4];
    v4 r[4], linear, angular, sign;
    UNROLL
    for (int i = 0; i < 4; ++i) {
      int sides[2];
      sides_of(l, f->point[i], pairs, sides);
      const int side = sides[k], body = f->point[i]->body[side];
      arm[i] = side == 0 ? f->point[i]->arm[0] : f->point[i]->arm[0] + 2;
      linear[i] = l->body[body].linear;
      angular[i] = l->body[body].angular[0];
      sign[i] = side == 0 ? -1 : 1;
      b->row_at[k][4 * half + i] = SR_ROW * body;
    }
    v4_columns_at(arm, r);
    const v4u first = (v4u)(sign < 0);
    for (int j = 0; j < 3; ++j) r[j] = (v4)(((v4u)r[j] & first) | ((v4u)r[j + 1] & ~first));
    const v4 turn = sign * v4_dots(r, f->n) * angular;
    put_four(&b->linear[k], half, sign * linear);
    put_four(&b->angular[k], half, turn);
    *normal += linear * linear;
    *tangent += linear * linear + turn * turn;
  }
}

// As fill_ball, of LANES contacts.
SRM_INLINE void fill_balls(const srLanes* l, const srContactProblem* p, const int* contact, const double* impulse,
                           bool pairs, Ball* b) {
  for (int half = 0; half < LANES / 4; ++half) {
    Four f;
    v4 row[4], given[4], start[4], u[3], normal = {0}, tangent = {0}, mu, soft;
    const double* cone[4];
    take_four(p, contact + 4 * half, &f);
    UNROLL
    for (int i = 0; i < 4; ++i) {
      const srContactCone* c = &p->cone[f.contact[i]];
      cone[i] = &c->shift;  // slip and the normal compliance follow
      mu[i] = c->mu;
      soft[i] = c->compliance[1];
      row[i] = v4_xyz(impulse + 3 * (size_t)f.contact[i]);
    }
    v4_columns_at(cone, given);
    v4_columns(row, start);
    for (int k = 0; k < 3; ++k) u[k] = f.n[k] * given[0] + f.t[k] * given[1] + f.u[k] * given[2];
    for (int side = 0; side < 2; ++side) add_velocities(p, &f, side, u);
    add_bodies(l, &f, pairs, b, half, &normal, &tangent);
    for (int k = 0; k < 3; ++k) {
      put_four(&b->n[k], half, f.n[k]);
      put_four(&b->p[k], half, f.n[k] * start[0] + f.t[k] * start[1] + f.u[k] * start[2]);
      put_four(&b->shift[k], half, u[k]);
    }
    const v4 along = p->compliance * normal + given[3], across = tangent + soft;
    put_four(&b->mu, half, mu);
    put_four(&b->normal, half, 1 / (normal + along));
    put_four(&b->tangent, half, 1 / across);
    put_four(&b->soft[0], half, along);
    put_four(&b->soft[1], half, soft);
    put_four(&b->mobility[0], half, normal);
    put_four(&b->mobility[1], half, across);
  }
}

SRM_INLINE v4 roots(v4 x) {
  v4 r;
  for (int i = 0; i < 4; ++i) r[i] = __builtin_sqrt(x[i]);
  return r;
}

// As store_ball and keep_in_cone, of LANES contacts.
SRM_INLINE void store_balls(const Ball* b, const srContactProblem* p, const int* contact, double* impulse) {
  for (int half = 0; half < LANES / 4; ++half) {
    Four f;
    v4 world[3], x[4], row[4], mu;
    take_four(p, contact + 4 * half, &f);
    for (int i = 0; i < 4; ++i) mu[i] = p->cone[f.contact[i]].mu;
    for (int k = 0; k < 3; ++k)
      world[k] = __builtin_convertvector(*(const quad*)((const REAL*)&b->p[k] + 4 * half), v4);
    const v4 along = v4_dots(f.n, world);
    x[0] = (v4)((v4u)along & ~(v4u)(along < 0));
    x[1] = v4_dots(f.t, world);
    x[2] = v4_dots(f.u, world);
    x[3] = v4_zero();
    const v4 length = roots(x[1] * x[1] + x[2] * x[2]), limit = mu * x[0], part = limit / length;
    const v4u longer = (v4u)(length > limit);
    for (int k = 1; k < 3; ++k) x[k] = (v4)(((v4u)(x[k] * part) & longer) | ((v4u)x[k] & ~longer));
    v4_columns(x, row);
    for (int i = 0; i < 4; ++i) v4_put3(impulse + 3 * (size_t)f.contact[i], row[i]);
  }
}

// H of the contact over one body.
static void rows_over(const srContactProblem* p, int i, int side, double row[3][6]) {
  const srContactPoint* x = &p->point[i];
  if (p->row != NULL) {
    memcpy(row, p->row[i][side], 18 * sizeof(double));
    return;
  }
  double frame[9];
  sr_contact_frame(x->normal, frame);
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < 3; ++j) row[k][3 + j] = side == 0 ? -frame[3 * k + j] : frame[3 * k + j];
    srm_cross3(x->arm[side], row[k] + 3, row[k]);
  }
}

static void add_products(double R[3][6], double W[SR_BLOCK]) {
  for (int k = 0, at = 0; k < 3; ++k) {
    for (int j = k; j < 3; ++j) W[at++] += sr_times_row(R[k], R[j]);
  }
}

// The local problem in tangents that diagonalise A, and the turn to them. An entry of A that is nearly 0 may be larger without another fixed point.
static void fill_local(const double W[SR_BLOCK], double compliance, const srContactCone* cone, Rows* b, int lane,
                       double turn[2]) {
  const double soft = compliance * W[SR_NN] + cone->compliance[0], r = 1 / (W[SR_NN] + soft);
  const double A[3] = {W[SR_TT] - W[SR_NT] * W[SR_NT] * r, W[SR_TB] - W[SR_NT] * W[SR_NB] * r,
                       W[SR_BB] - W[SR_NB] * W[SR_NB] * r};
  const double radius = sr_first_eigenvector(A, &turn[0], &turn[1]), c = turn[0], s = turn[1];
  const double middle = 0.5 * (A[0] + A[2]), least = 1e-4 * middle + 1e-6 * W[SR_NN];
  const double m[2] = {-(c * W[SR_NT] + s * W[SR_NB]) * r, -(c * W[SR_NB] - s * W[SR_NT]) * r};
  for (int k = 0; k < 2; ++k) {
    const double a = middle + (k == 0 ? radius : -radius);
    b->m[k][lane] = (REAL)m[k];
    b->a[k][lane] = (REAL)((a > least ? a : least) + cone->compliance[1]);
    b->turn[k][lane] = (REAL)turn[k];
  }
  b->normal[lane] = (REAL)r;
  b->mu[lane] = (REAL)cone->mu;
  b->soft[0][lane] = (REAL)soft;
  b->soft[1][lane] = (REAL)cone->compliance[1];
}

// Tangential rows t, b of n numbers.
static void turn_rows(const double turn[2], double* t, double* b, int n) {
  for (int k = 0; k < n; ++k) {
    const double was = t[k];
    t[k] = turn[0] * was + turn[1] * b[k];
    b[k] = turn[0] * b[k] - turn[1] * was;
  }
}

static void fill_rows(const srLanes* l, const srContactProblem* p, int i, const double* impulse, bool pairs, Rows* b,
                      int lane) {
  const srContactPoint* x = &p->point[i];
  const srContactCone* cone = &p->cone[i];
  double R[2][3][6], W[SR_BLOCK] = {0}, turn[2];
  double u[3] = {cone->shift, cone->slip[0], cone->slip[1]}, at[3] = {impulse[0], impulse[1], impulse[2]};
  int sides[2];
  sides_of(l, x, pairs, sides);
  for (int side = 0; side < 2; ++side) {
    if (x->body[side] < 0) continue;
    double row[3][6];
    rows_over(p, i, side, row);
    for (int k = 0; k < 3; ++k) u[k] += sr_times_row(row[k], p->body[x->body[side]].velocity);
    if (!sr_lanes_moves(l, x->body[side])) continue;
    for (int k = 0; k < 3; ++k) sr_scale_row(&l->body[x->body[side]], row[k], R[side][k]);
    add_products(R[side], W);
  }
  fill_local(W, p->compliance, cone, b, lane, turn);
  turn_rows(turn, &u[1], &u[2], 1);
  turn_rows(turn, &at[1], &at[2], 1);
  for (int k = 0; k < 3; ++k) {
    b->p[k][lane] = (REAL)at[k];
    b->shift[k][lane] = (REAL)u[k];
  }
  for (int k = pairs ? 0 : 1; k < 2; ++k) {
    double(*from)[6] = R[sides[k]];
    turn_rows(turn, from[1], from[2], 6);
    b->row_at[k][lane] = SR_ROW * x->body[sides[k]];
    for (int j = 0; j < 18; ++j) b->row[k][j / 6][j % 6][lane] = (REAL)from[j / 6][j % 6];
  }
}

// Lanes without a contact have no mass: nothing moves in them.
static void clear(void* b, int kind) {
  if (kind == SR_LANES_BALL) {
    memset(b, 0, sizeof(Ball));
    ((Ball*)b)->normal = ((Ball*)b)->tangent = ((Ball*)b)->mobility[0] = every(1);
  } else {
    memset(b, 0, sizeof(Rows));
    ((Rows*)b)->normal = ((Rows*)b)->a[0] = ((Rows*)b)->a[1] = every(1);
  }
}

// Contacts of a colour are far from each other in the problem: what the next batch but one will read.
SRM_INLINE void fetch_ahead(const srLanes* l, const srContactProblem* p, const srLaneRun* run, int batch,
                            const double* impulse) {
  const int first = LANES * (batch + 2), end = first + LANES < run->contacts ? first + LANES : run->contacts;
  for (int i = first; i < end; ++i) {
    const int k = l->order[run->first + i];
    __builtin_prefetch(&p->point[k]);
    __builtin_prefetch((const char*)&p->point[k + 1] - 1);
    __builtin_prefetch(&p->cone[k]);
    __builtin_prefetch(impulse + 3 * (size_t)k);
  }
}

SRM_CLONES static void fill(const srLanes* l, const srContactProblem* p, const srLaneRun* run, int from, int to,
                            const double* impulse) {
  for (int i = from; i < to; ++i) {
    void* b = batch_of(l, run, i);
    const int used = lanes_used(run, i);
    fetch_ahead(l, p, run, i, impulse + p->nequation);
    if (used == LANES && run->kind == SR_LANES_BALL) {
      fill_balls(l, p, l->order + run->first + LANES * i, impulse + p->nequation, run->pairs, b);
      continue;
    }
    if (used < LANES) clear(b, run->kind);
    for (int lane = 0; lane < used; ++lane) {
      const int contact = l->order[run->first + LANES * i + lane];
      const double* start = impulse + p->nequation + 3 * (size_t)contact;
      if (run->kind == SR_LANES_BALL) {
        fill_ball(l, p, contact, start, run->pairs, b, lane);
      } else {
        fill_rows(l, p, contact, start, run->pairs, b, lane);
      }
    }
    int(*body)[LANES] = b;
    for (int lane = used; lane < LANES; ++lane) body[0][lane] = body[0][0], body[1][lane] = body[1][0];
  }
}

// Rounding may have left the cone.
static void keep_in_cone(double mu, double* p) {
  if (p[0] < 0) p[0] = 0;
  const double length = sqrt(p[1] * p[1] + p[2] * p[2]), limit = mu * p[0];
  if (length > limit) p[1] *= limit / length, p[2] *= limit / length;
}

SRM_INLINE void store_ball(const Ball* b, int lane, const double normal[3], double* out) {
  const double world[3] = {(double)b->p[0][lane], (double)b->p[1][lane], (double)b->p[2][lane]};
  double t[3], u[3];
  srm_frame3(normal, t, u);
  out[0] = srm_dot3(normal, world);
  out[1] = srm_dot3(t, world);
  out[2] = srm_dot3(u, world);
}

static void store_rows(const Rows* b, int lane, double* out) {
  const double c = (double)b->turn[0][lane], s = (double)b->turn[1][lane];
  const double t = (double)b->p[1][lane], u = (double)b->p[2][lane];
  out[0] = (double)b->p[0][lane];
  out[1] = c * t - s * u;
  out[2] = s * t + c * u;
}

SRM_CLONES static void store(const srLanes* l, const srContactProblem* p, const srLaneRun* run, int from, int to,
                             double* impulse) {
  for (int i = from; i < to; ++i) {
    const void* b = batch_of(l, run, i);
    fetch_ahead(l, p, run, i, impulse + p->nequation);
    if (lanes_used(run, i) == LANES && run->kind == SR_LANES_BALL) {
      store_balls(b, p, l->order + run->first + LANES * i, impulse + p->nequation);
      continue;
    }
    for (int lane = 0; lane < lanes_used(run, i); ++lane) {
      const int contact = l->order[run->first + LANES * i + lane];
      double* out = impulse + p->nequation + 3 * (size_t)contact;
      if (run->kind == SR_LANES_BALL) {
        store_ball(b, lane, p->point[contact].normal, out);
      } else {
        store_rows(b, lane, out);
      }
      keep_in_cone(p->cone[contact].mu, out);
    }
  }
}

// ---- rows of bodies -----------------------------------------------------------------------------------------------------

static void row(const srLanes* l, int body, double z[6]) {
  const REAL* x = (const REAL*)l->z + SR_ROW * (size_t)body;
  for (int k = 0; k < 3; ++k) z[k] = (double)x[k], z[3 + k] = (double)x[4 + k];
}

static void push_row(const srLanes* l, int body, const double dz[6]) {
  REAL* x = (REAL*)l->z + SR_ROW * (size_t)body;
  for (int k = 0; k < 3; ++k) x[k] += (REAL)dz[k], x[4 + k] += (REAL)dz[3 + k];
}

const srLaneKernel KERNEL = {
    .lanes = LANES,
    .row_size = SR_ROW * sizeof(REAL),
    .trace_size = sizeof(Trace),
    .sum_size = PARTS * sizeof(Sums),
    .size = {[SR_LANES_BALL] = sizeof(Ball), [SR_LANES_ROWS] = sizeof(Rows)},
    .fill = fill,
    .apply = apply,
    .sweep = sweep,
    .sweep_traced = sweep_traced,
    .sweep_calm = sweep_calm,
    .residual = residual,
    .add_sums = add_sums,
    .work = work,
    .scale = scale,
    .scale_rows = scale_rows,
    .begin_rows = begin_rows,
    .aim_rows = aim_rows,
    .move_rows = move_rows,
    .follow_rows = follow_rows,
    .store = store,
    .row = row,
    .push = push_row,
};
