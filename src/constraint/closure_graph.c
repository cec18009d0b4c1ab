// From residuals to equations over the twist and derivatives. Along direction j of the twist the pose changes by R' = [e_j] R or d' = e_j, so that
//   W_ij = sum over R of dg_i/dR_ab ([e_j] R)_ab   (j < 3),   dg_i/d(d_j)
//   bias_i = sum_j (w, u)_j d(W_i (w, u)) along j,   L_kj = d(sum lambda_i W_ik) along j
#include "constraint/closure_graph.h"

#include <string.h>

enum { ARG_FRAME, ARG_AXIS2 = 9, ARG_PITCH = 12, ARG_LENGTH, ARG_RADIUS, ARGUMENTS };

static void variables(srGraph* g, srVarKind kind, int first, int n, srNode* out) {
  for (int i = 0; i < n; i++) out[i] = sr_graph_var(g, kind, first + i);
}

void sr_closure_graph(const srClosure* closure, srGraph* g, srClosureGraph* x) {
  *x = (srClosureGraph){
      .g = g, .np = closure->np, .nvel = closure->nvel, .has_normal = closure->has_normal, .sphere = closure->sphere};
  variables(g, SR_VAR_Q, 0, 9, x->R);
  variables(g, SR_VAR_Q, 9, 3, x->d);
  variables(g, SR_VAR_V, 0, 3, x->w);
  variables(g, SR_VAR_V, 3, 3, x->u);
  for (int i = 0; i < 3; i++) variables(g, SR_VAR_ARG, ARG_FRAME + 3 * i, 3, x->frame[i]);
  variables(g, SR_VAR_ARG, ARG_AXIS2, 3, x->axis2);
  variables(g, SR_VAR_ARG, ARG_PITCH, 1, &x->pitch);
  variables(g, SR_VAR_ARG, ARG_LENGTH, 1, &x->length);
  variables(g, SR_VAR_ARG, ARG_RADIUS, 1, &x->radius);
  variables(g, SR_VAR_STATE, 0, 6, x->lambda);
  closure->kind->define(x);
}

bool sr_closure_graph_same(const srClosure* a, const srClosure* b) {
  return a->kind == b->kind && a->np == b->np && a->has_normal == b->has_normal && a->sphere == b->sphere;
}

void sr_closure_arguments(const srClosure* closure, double out[ARGUMENTS]) {
  memcpy(out + ARG_FRAME, closure->frame, 9 * sizeof *out);
  memcpy(out + ARG_AXIS2, closure->axis2, 3 * sizeof *out);
  out[ARG_PITCH] = closure->pitch;
  out[ARG_LENGTH] = closure->length;
  out[ARG_RADIUS] = closure->radius;
}

// ---- derivatives --------------------------------------------------------------------------------------------------------

// The derivative of a node along direction j of the twist.
static srNode along(const srClosureGraph* x, srNode node, int j) {
  srGraph* g = x->g;
  if (j >= 3) return sr_graph_derive(g, node, x->d[j - 3]);
  const srNode *a = x->R + 3 * ((j + 1) % 3), *b = x->R + 3 * ((j + 2) % 3);  // rows of R: a' = -b, b' = a
  srNode sum = srx_number(g, 0);
  for (int k = 0; k < 3; k++) {
    sum = srx_sub(g, sum, srx_mul(g, sr_graph_derive(g, node, a[k]), b[k]));
    sum = srx_add(g, sum, srx_mul(g, sr_graph_derive(g, node, b[k]), a[k]));
  }
  return sum;
}

void sr_closure_graph_rows(const srClosureGraph* x, srNode W[6][6]) {
  for (int i = 0; i < x->np + x->nvel; i++) {
    for (int j = 0; j < 6; j++) W[i][j] = i < x->np ? along(x, x->residual[i], j) : x->row[i][j];
  }
}

srNode sr_closure_graph_bias(const srClosureGraph* x, const srNode* row) {
  srGraph* g = x->g;
  const srNode rate = srx_add(g, srx_dot(g, 3, row, x->w), srx_dot(g, 3, row + 3, x->u));
  srNode sum = srx_number(g, 0);
  for (int j = 0; j < 6; j++) sum = srx_add(g, sum, srx_mul(g, along(x, rate, j), j < 3 ? x->w[j] : x->u[j - 3]));
  return sum;
}

const srProgram* sr_closure_derivative(srPool* pool, const srClosure* closure) {
  srClosureGraph x;
  srNode W[6][6], L[36];
  if (!closure->kind->define) return NULL;
  srGraph* g = sr_graph_create(pool);
  sr_closure_graph(closure, g, &x);
  sr_closure_graph_rows(&x, W);
  for (int k = 0; k < 6; k++) {
    srNode wrench = srx_number(g, 0);
    for (int i = 0; i < x.np + x.nvel; i++) wrench = srx_add(g, wrench, srx_mul(g, x.lambda[i], W[i][k]));
    for (int j = 0; j < 6; j++) L[6 * k + j] = along(&x, wrench, j);
  }
  return sr_program_create(pool, g, L, 36);
}

// ---- residuals that several kinds are made of -----------------------------------------------------------------------------

void sr_graph_turned(const srClosureGraph* x, const srNode f[3], srNode out[3]) {
  for (int i = 0; i < 3; i++) out[i] = srx_dot(x->g, 3, x->R + 3 * i, f);
}

void sr_graph_displacement(srClosureGraph* x, const srNode e[3], int i) { x->residual[i] = srx_dot(x->g, 3, e, x->d); }

void sr_graph_origin(srClosureGraph* x, int i) { memcpy(x->residual + i, x->d, sizeof x->d); }

void sr_graph_tilt(srClosureGraph* x, int i) {
  srNode n[3];
  sr_graph_turned(x, x->frame[2], n);
  x->residual[i] = srx_neg(x->g, srx_dot(x->g, 3, x->frame[1], n));
  x->residual[i + 1] = srx_dot(x->g, 3, x->frame[0], n);
}

// 2 q_v = vect(R)/q_0 with q_0 = sqrt(1 + trace R)/2: singular at half a turn, which a satisfied closure never reaches.
void sr_graph_orientation(srClosureGraph* x, int i) {
  srGraph* g = x->g;
  const srNode trace = srx_add(g, x->R[0], srx_add(g, x->R[4], x->R[8]));
  const srNode twice = srx_sqrt(g, srx_add(g, srx_number(g, 1), trace));  // 2 q_0
  for (int k = 0; k < 3; k++) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    x->residual[i + k] = srx_div(g, srx_sub(g, x->R[3 * b + a], x->R[3 * a + b]), twice);
  }
}
