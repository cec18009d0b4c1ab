// Rates of positions on the graph, q' = H(q) v (src/dynamics/configuration.c): v itself; of a quaternion n' = 1/2 n o (0, w) with n of length 1; of the position of a free link R(n) v.
#include "symbolic/lanes.h"

static void quaternion_rate(srSymPass* x, int q, int v, bool unit, srNode* out) {
  srGraph* g = x->g;
  srNode n[4], w[3], square = srx_number(g, 0);
  for (int i = 0; i < 4; i++) n[i] = sr_sym_q(x, q + i), square = srx_add(g, square, srx_mul(g, n[i], n[i]));
  const srNode half = unit ? srx_div(g, srx_number(g, 0.5), srx_sqrt(g, square)) : srx_number(g, 0.5);
  for (int i = 0; i < 3; i++) w[i] = srx_mul(g, half, sr_sym_v(x, v + i));
  out[0] = srx_neg(g, srx_dot(g, 3, n + 1, w));
  srNode turned[3];
  srx_cross(g, n + 1, w, turned);
  for (int i = 0; i < 3; i++) out[1 + i] = srx_add(g, srx_mul(g, n[0], w[i]), turned[i]);
}

void sr_sym_qdot(srSymPass* x, bool unit, srNode* qdot) {
  srGraph* g = x->g;
  for (int i = 1; i < x->tree->n; i++) {
    const srSymLink* l = &x->tree->link[i];
    if (sr_sym_is_elsewhere(x->tree, i)) continue;
    if (l->type == SR_LINK_BALL) {
      quaternion_rate(x, l->q, l->v, unit, qdot + l->q);
    } else if (l->type == SR_LINK_FREE) {
      const srMat R = sr_sym_rotation(x, l->q + 3);
      const srVec rate = {{sr_sym_v(x, l->v + 3), sr_sym_v(x, l->v + 4), sr_sym_v(x, l->v + 5)}},
                  moved = srx_mat_vec(g, &R, rate);
      for (int k = 0; k < 3; k++) qdot[l->q + k] = moved.x[k];
      quaternion_rate(x, l->q + 3, l->v, unit, qdot + l->q + 3);
    } else {
      qdot[l->q] = sr_sym_v(x, l->v);
    }
  }
}
