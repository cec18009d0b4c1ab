// The wrench of a closure and its change with the pose.
//
//   w = sum lambda_i W_i(R, d),   L s = dw for R' = [s_w] R, d' = s_u
//
//   soft     lambda_i = -k_i (g_i + T W_i.t)
//            Lx = L - sum k_i W_i (W_i + T (L_i^T t))^T,   Lt = -sum k_i T W_i W_i^T          L_i: L of lambda = unit vector i
//
// Kinds tell L exactly. One that does not is differenced here, in six directions and to the fourth order: no more than its own
// rows are evaluated, whatever the size of the model.
#include "constraint/derivative.h"

#include <math.h>
#include <string.h>

#include "math/pose.h"

static double dot6(const double* a, const double* b) { return srm_dot3(a, b) + srm_dot3(a + 3, b + 3); }

static int wrench_of(const srClosure* c, const srClosureIn* in, const double* lambda, srClosureOut* out, double* w) {
  const char* why = "";
  memset(out, 0, sizeof *out);
  memset(w, 0, 6 * sizeof *w);
  const int answer = c->kind->evaluate(c, in, out, &why);
  for (int i = 0; i < c->np + c->nvel && answer == 0; i++) {
    for (int j = 0; j < 6; j++) w[j] += lambda[i] * out->W[i][j];
  }
  return answer;
}

// The pose after a step x along direction j of the twist.
static srClosureIn stepped(const srClosureIn* in, int j, double x) {
  srClosureIn out = *in;
  if (j >= 3) {
    out.d[j - 3] += x;
    return out;
  }
  const int a = (j + 1) % 3, b = (j + 2) % 3;
  for (int k = 0; k < 3; k++) {
    out.R[3 * a + k] = cos(x) * in->R[3 * a + k] - sin(x) * in->R[3 * b + k];
    out.R[3 * b + k] = sin(x) * in->R[3 * a + k] + cos(x) * in->R[3 * b + k];
  }
  return out;
}

static int difference(const srClosure* c, const srClosureIn* in, const double* lambda, double* L) {
  static const double weight[4] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12}, at[4] = {-2, -1, 1, 2};
  for (int j = 0; j < 6; j++) {
    const double size = j < 3 ? 1 : 0.1 + srm_norm3(in->d), h = 1e-3 * size;
    for (int i = 0; i < 4; i++) {
      const srClosureIn moved = stepped(in, j, at[i] * h);
      srClosureOut rows;
      double w[6];
      const int answer = wrench_of(c, &moved, lambda, &rows, w);
      if (answer != 0) return answer;
      for (int k = 0; k < 6; k++) L[6 * k + j] += weight[i] / h * w[k];
    }
  }
  return 0;
}

static int slope_of(const srClosure* c, const srClosureIn* in, const double* lambda, double* L) {
  memset(L, 0, 36 * sizeof *L);
  if (!c->kind->slope) return difference(c, in, lambda, L);
  c->kind->slope(c, in, lambda, L);
  return 0;
}

int sr_closure_slope(const srClosure* c, const srClosureIn* in, const double* lambda, double* w, double* L) {
  srClosureOut rows;
  const int answer = wrench_of(c, in, lambda, &rows, w);
  return answer != 0 ? answer : slope_of(c, in, lambda, L);
}

// One row of a soft closure: its spring of stiffness k and damper k T. L: of this row alone.
static void add_spring(double k, double T, double g, const double* W, const double* t, const double* L, double* w,
                       double* Lx, double* Lt) {
  const double lambda = -k * (g + T * dot6(W, t));
  for (int i = 0; i < 6; i++) {
    w[i] += lambda * W[i];
    for (int j = 0; j < 6; j++) {
      double turn = 0;
      for (int l = 0; l < 6; l++) turn += t[l] * L[6 * l + j];
      Lx[6 * i + j] += lambda * L[6 * i + j] - k * W[i] * (W[j] + T * turn);
      Lt[6 * i + j] -= k * T * W[i] * W[j];
    }
  }
}

int sr_soft_slope(const srModel* m, const srClosure* c, const srClosureIn* in, double* w, double* Lx, double* Lt) {
  const double none[6] = {0}, t[6] = {in->w[0], in->w[1], in->w[2], in->u[0], in->u[1], in->u[2]};
  srClosureOut rows;
  int answer = wrench_of(c, in, none, &rows, w);
  memset(Lx, 0, 36 * sizeof *Lx);
  memset(Lt, 0, 36 * sizeof *Lt);
  for (int i = 0; i < c->np && answer == 0; i++) {
    const double* W = rows.W[i];
    const bool rotation = W[3] == 0 && W[4] == 0 && W[5] == 0;
    double lambda[6] = {0}, L[36];
    lambda[i] = 1;
    answer = slope_of(c, in, lambda, L);
    add_spring(rotation ? m->run_penalty_rotation : m->run_penalty_stiffness, m->run_penalty_damping, rows.g[i], W, t,
               L, w, Lx, Lt);
  }
  return answer;
}
