// The wrench of a closure and its change with the pose.
//
//   w = sum lambda_i W_i(R, d),   L s = dw for R' = [s_w] R, d' = s_u
//
//   soft     lambda_i = -k_i (g_i + T W_i.t)
//            Lx = L - sum k_i W_i (W_i + T (L_i^T t))^T,   Lt = -sum k_i T W_i W_i^T          L_i: L of lambda = unit vector i
//
// L is exact, from the definition of the kind on the expression graph; of laws of plugins it is a difference (closure_user.c).
#include "constraint/derivative.h"

#include <string.h>

#include "constraint/closure_graph.h"
#include "constraint/user.h"
#include "math/pose.h"

static double dot6(const double* a, const double* b) { return srm_dot3(a, b) + srm_dot3(a + 3, b + 3); }

static int wrench_of(const srClosure* c, const srClosureIn* in, const double* lambda, srClosureOut* out, double* w) {
  const char* reason = "";
  memset(out, 0, sizeof *out);
  memset(w, 0, 6 * sizeof *w);
  const int answer = c->kind->evaluate(c, in, out, &reason);
  for (int i = 0; i < c->np + c->nvel && answer == 0; i++) {
    for (int j = 0; j < 6; j++) w[j] += lambda[i] * out->W[i][j];
  }
  return answer;
}

static int slope_of(const srClosure* c, const srProgram* derivative, const srClosureIn* in, const double* lambda,
                    double* work, double* L) {
  double pose[12], twist[6], argument[15];
  if (!derivative) return sr_closure_slope(c, in, lambda, L);
  memcpy(pose, in->R, sizeof in->R);
  memcpy(pose + 9, in->d, sizeof in->d);
  memcpy(twist, in->w, sizeof in->w);
  memcpy(twist + 3, in->u, sizeof in->u);
  sr_closure_arguments(c, argument);
  sr_program_evaluate(derivative, &(srInputs){.q = pose, .v = twist, .state = lambda, .arg = argument}, work, L);
  return 0;
}

int sr_closure_jacobian(const srClosure* c, const srProgram* derivative, const srClosureIn* in, const double* lambda,
                        double* work, double* w, double* L) {
  srClosureOut rows;
  const int answer = wrench_of(c, in, lambda, &rows, w);
  return answer == 0 ? slope_of(c, derivative, in, lambda, work, L) : answer;
}

// One equation of a soft closure: its spring of stiffness k and damper k T. b: of its rate; L: of this equation alone.
static void add_spring(double k, double T, double g, double b, const double* W, const double* t, const double* L,
                       double* w, double* Lx, double* Lt) {
  const double lambda = -k * (g + T * (dot6(W, t) + b));
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

int sr_soft_jacobian(const srModel* m, const srClosure* c, const srProgram* derivative, const srClosureIn* in,
                     double* work, double* w, double* Lx, double* Lt) {
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
    answer = slope_of(c, derivative, in, lambda, work, L);
    if (answer == 0)
      add_spring(rotation ? m->run_penalty_rotation : m->run_penalty_stiffness, m->run_penalty_damping, rows.g[i],
                 rows.b[i], W, t, L, w, Lx, Lt);
  }
  return answer;
}
