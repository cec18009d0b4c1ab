// Rotations of vectors and matrices of nodes, stage by stage: a constant rotation, which is mostly a permutation and costs nothing, and rotations about z.
//
//   vector      (c x - s y, s x + c y, z)
//   matrix      Rz A Rz^T with w = s (Axx - Ayy) + c (Axy + Ayx):
//                 Axx - s w        c w - Ayx        (Axz, Ayz) and (Azx, Azy) as vectors
//                 c w - Axy        Ayy + s w        Azz
//               4 multiplications and 7 additions for the block, 6 where A is symmetric; no double angles
#include "symbolic/vector.h"

srVec sr_turn_z(srGraph* g, srNode sine, srNode cosine, srVec x) {
  return (srVec){{srx_sub(g, srx_mul(g, cosine, x.x[0]), srx_mul(g, sine, x.x[1])),
                  srx_add(g, srx_mul(g, sine, x.x[0]), srx_mul(g, cosine, x.x[1])), x.x[2]}};
}

srMat sr_turn_z_matrix(srGraph* g, srNode s, srNode c, srMat A, bool symmetric) {
  const srNode* a = A.x;
  const srNode sum = symmetric ? srx_mul(g, srx_number(g, 2), a[1]) : srx_add(g, a[1], a[3]);
  const srNode w = srx_add(g, srx_mul(g, s, srx_sub(g, a[0], a[4])), srx_mul(g, c, sum));
  const srNode sw = srx_mul(g, s, w), cw = srx_mul(g, c, w);
  const srVec column = sr_turn_z(g, s, c, (srVec){{a[2], a[5], a[8]}});
  const srVec row = symmetric ? column : sr_turn_z(g, s, c, (srVec){{a[6], a[7], a[8]}});
  const srNode xy = srx_sub(g, cw, a[3]), yx = symmetric ? xy : srx_sub(g, cw, a[1]);
  return (srMat){
      {srx_sub(g, a[0], sw), xy, column.x[0], yx, srx_add(g, a[4], sw), column.x[1], row.x[0], row.x[1], a[8]}};
}

static srVec by_numbers(srGraph* g, const double* Q, bool transposed, srVec x) {
  srVec out;
  for (int i = 0; i < 3; i++) {
    srNode row[3];
    for (int k = 0; k < 3; k++) row[k] = srx_number(g, transposed ? Q[3 * k + i] : Q[3 * i + k]);
    out.x[i] = srx_dot(g, 3, row, x.x);
  }
  return out;
}

srVec sr_turn_up(srGraph* g, const srTurn* t, srVec x) {
  if (t->has_R) return srx_mat_vec(g, &t->R, x);
  if (t->sine[1] != SR_NO_NODE) x = sr_turn_z(g, t->sine[1], t->cosine[1], x);
  if (t->has_Q) x = by_numbers(g, t->Q, false, x);
  if (t->sine[0] != SR_NO_NODE) x = sr_turn_z(g, t->sine[0], t->cosine[0], x);
  return x;
}

srVec sr_turn_down(srGraph* g, const srTurn* t, srVec x) {
  if (t->has_R) {
    const srMat back = srx_transpose(t->R);
    return srx_mat_vec(g, &back, x);
  }
  if (t->sine[0] != SR_NO_NODE) x = sr_turn_z(g, srx_neg(g, t->sine[0]), t->cosine[0], x);
  if (t->has_Q) x = by_numbers(g, t->Q, true, x);
  if (t->sine[1] != SR_NO_NODE) x = sr_turn_z(g, srx_neg(g, t->sine[1]), t->cosine[1], x);
  return x;
}

// B A B^T, B of nodes.
static srMat congruent(srGraph* g, const srMat* B, srMat A, bool symmetric) {
  srMat half, out;
  for (int k = 0; k < 3; k++) {
    const srVec column = srx_mat_vec(g, B, (srVec){{A.x[k], A.x[3 + k], A.x[6 + k]}});
    for (int i = 0; i < 3; i++) half.x[3 * i + k] = column.x[i];
  }
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++)
      out.x[3 * i + k] = symmetric && k < i ? out.x[3 * k + i] : srx_dot(g, 3, half.x + 3 * i, B->x + 3 * k);
  }
  return out;
}

srMat sr_turn_matrix(srGraph* g, const srTurn* t, srMat A, bool symmetric) {
  if (t->has_R) return congruent(g, &t->R, A, symmetric);
  if (t->sine[1] != SR_NO_NODE) A = sr_turn_z_matrix(g, t->sine[1], t->cosine[1], A, symmetric);
  if (t->has_Q) {
    srMat Q;
    for (int i = 0; i < 9; i++) Q.x[i] = srx_number(g, t->Q[i]);
    A = congruent(g, &Q, A, symmetric);
  }
  if (t->sine[0] != SR_NO_NODE) A = sr_turn_z_matrix(g, t->sine[0], t->cosine[0], A, symmetric);
  return A;
}
