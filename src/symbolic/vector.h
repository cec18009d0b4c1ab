// Vectors, symmetric matrices and rotations whose entries are nodes of the expression graph.
#ifndef SR_SYMBOLIC_VECTOR_H
#define SR_SYMBOLIC_VECTOR_H

#include "expr/build.h"

typedef struct srVec {
  srNode x[3];
} srVec;

typedef struct srMat {
  srNode x[9];  // by rows
} srMat;

// A rotation in stages: x_parent = Rz(before) Q Rz(after) x_child, or R x_child.
typedef struct srTurn {
  srNode sine[2], cosine[2];  // of the angles before and after Q; SR_NO_NODE: no rotation there
  bool has_Q, has_R;
  double Q[9];  // by rows
  srMat R;
} srTurn;

static inline srVec srx_zero(srGraph* g) {
  const srNode zero = srx_number(g, 0);
  return (srVec){{zero, zero, zero}};
}
static inline srVec srx_numbers(srGraph* g, const double* x) {
  return (srVec){{srx_number(g, x[0]), srx_number(g, x[1]), srx_number(g, x[2])}};
}
static inline srVec srx_plus(srGraph* g, srVec a, srVec b) {
  for (int i = 0; i < 3; i++) a.x[i] = srx_add(g, a.x[i], b.x[i]);
  return a;
}
static inline srVec srx_minus(srGraph* g, srVec a, srVec b) {
  for (int i = 0; i < 3; i++) a.x[i] = srx_sub(g, a.x[i], b.x[i]);
  return a;
}
static inline srVec srx_times(srGraph* g, srNode s, srVec a) {
  for (int i = 0; i < 3; i++) a.x[i] = srx_mul(g, s, a.x[i]);
  return a;
}
static inline srVec srx_cross3(srGraph* g, srVec a, srVec b) {
  srVec out;
  srx_cross(g, a.x, b.x, out.x);
  return out;
}
static inline srNode srx_dot3(srGraph* g, srVec a, srVec b) { return srx_dot(g, 3, a.x, b.x); }
static inline srVec srx_mat_vec(srGraph* g, const srMat* A, srVec x) {
  srVec out;
  for (int i = 0; i < 3; i++) out.x[i] = srx_dot(g, 3, A->x + 3 * i, x.x);
  return out;
}
static inline srMat srx_transpose(srMat A) {
  srMat out;
  for (int i = 0; i < 9; i++) out.x[i] = A.x[i % 3 * 3 + i / 3];
  return out;
}
static inline srMat srx_mat_plus(srGraph* g, srMat A, srMat B) {
  for (int i = 0; i < 9; i++) A.x[i] = srx_add(g, A.x[i], B.x[i]);
  return A;
}

// turn.c
srVec sr_turn_up(srGraph* g, const srTurn* turn, srVec x);    // to the parent's axes
srVec sr_turn_down(srGraph* g, const srTurn* turn, srVec x);  // to the child's axes
// T A T^T to the parent's axes; A symmetric where `symmetric` is: then its entries below the diagonal are those above it.
srMat sr_turn_matrix(srGraph* g, const srTurn* turn, srMat A, bool symmetric);
srVec sr_turn_z(srGraph* g, srNode sine, srNode cosine, srVec x);
srMat sr_turn_z_matrix(srGraph* g, srNode sine, srNode cosine, srMat A, bool symmetric);

#endif
