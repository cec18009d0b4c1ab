// Constraint equations by a law of a plugin or of C code: <sarrus/closure.h>. The frame a observes the frame b.
//
// Its rows have no definition on the expression graph. For the tangent of implicit methods, which only steers their iterations, and to
// check a law at the start, they are differentiated by central differences along the motion with a constant twist V and s = dt/dh:
//   R(h) = exp(h [V_w]) R,   d(h) = d + h V_u,   t(h) = t + h s
//   dg/dh = W V + s b;    d(W V + s b)/dh = bias of the twist V, where s = 1
#include <math.h>
#include <sarrus/closure.h>
#include <stdio.h>
#include <string.h>

#include "constraint/closure.h"
#include "constraint/user.h"
#include "math/pose.h"

#define STEP 1e-5       // h: rounding and curvature both leave about ten digits
#define TOLERANCE 1e-3  // of what a law supplies, relative to its row

static const char* const number_names[SR_CLOSURE_LAW_ROWS] = {"equation 1", "equation 2", "equation 3",
                                                              "equation 4", "equation 5", "equation 6"};

static const char* setup(srClosure* c) {
  if (!c->law) return "a closure of type 'user' needs its 'law'";
  c->np = c->law->n;
  for (int i = 0; i < c->np; i++) c->row_name[i] = c->law->rows ? c->law->rows[i] : number_names[i];
  return NULL;
}

static bool all_finite(const double* x, int n) {
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** reason) {
  static const char* const undefined[SR_CLOSURE_LAW_ROWS] = {
      "equation 1 of its law has numbers that are not finite", "equation 2 of its law has numbers that are not finite",
      "equation 3 of its law has numbers that are not finite", "equation 4 of its law has numbers that are not finite",
      "equation 5 of its law has numbers that are not finite", "equation 6 of its law has numbers that are not finite"};
  const srClosureLawIn at = {in->t, in->R, in->d, in->w, in->u, c->parameter, c->nparameter};
  srClosureLawOut x = {0};
  const int answer = c->law->evaluate(&at, &x);
  if (answer != 0) *reason = answer > 0 ? "its law is undefined" : "its law ends the run";
  for (int i = 0; i < c->np && answer == 0; i++) {
    if (!all_finite(&x.g[i], 1) || !all_finite(x.W[i], 6) || !all_finite(&x.b[i], 1) || !all_finite(&x.bias[i], 1)) {
      *reason = undefined[i];
      return 1;
    }
    out->g[i] = x.g[i];
    out->b[i] = x.b[i];
    out->bias[i] = x.bias[i];
    memcpy(out->W[i], x.W[i], sizeof x.W[i]);
  }
  return answer;
}

const srClosureKind sr_closure_user = {
    .observer = SR_OBSERVER_A, .uses = "|law|parameters|", .setup = setup, .evaluate = evaluate};

// ---- differences ----------------------------------------------------------------------------------------------------------

// v rotated about the axis w by the angle |w| h:  v + sin(a) e x v + (1 - cos(a)) e x (e x v)
static void turn(const double w[3], double h, double v[3]) {
  const double speed = srm_norm3(w), angle = speed * h;
  if (speed == 0) return;
  const double e[3] = {w[0] / speed, w[1] / speed, w[2] / speed}, half = sin(angle / 2);
  double once[3], twice[3];
  srm_cross3(e, v, once);
  srm_cross3(e, once, twice);
  for (int i = 0; i < 3; i++) v[i] += sin(angle) * once[i] + 2 * half * half * twice[i];
}

// The equations after the motion h, with the twist V as theirs. 0, or where they are undefined what the law returns.
static int moved(const srClosure* c, const srClosureIn* in, const double V[6], double s, double h, srClosureOut* out) {
  srClosureIn to = *in;
  const char* reason;
  for (int j = 0; j < 3; j++) {
    double column[3] = {in->R[j], in->R[3 + j], in->R[6 + j]};
    turn(V, h, column);
    for (int i = 0; i < 3; i++) to.R[3 * i + j] = column[i];
    to.d[j] = in->d[j] + h * V[3 + j];
  }
  to.t = in->t + h * s;
  memcpy(to.w, V, sizeof to.w);
  memcpy(to.u, V + 3, sizeof to.u);
  memset(out, 0, sizeof *out);
  return c->kind->evaluate(c, &to, out, &reason);
}

int sr_closure_slope(const srClosure* c, const srClosureIn* in, const double* lambda, double* L) {
  for (int j = 0; j < 6; j++) {
    double V[6] = {0};
    srClosureOut ahead, behind;
    V[j] = 1;
    int answer = moved(c, in, V, 0, STEP, &ahead);
    if (answer == 0) answer = moved(c, in, V, 0, -STEP, &behind);
    if (answer != 0) return answer;
    for (int k = 0; k < 6; k++) {
      double sum = 0;
      for (int i = 0; i < c->np; i++) sum += lambda[i] * (ahead.W[i][k] - behind.W[i][k]);
      L[6 * k + j] = sum / (2 * STEP);
    }
  }
  return 0;
}

static double rate_of(const srClosureOut* rows, int i, const double V[6], double s) {
  return srm_dot3(rows->W[i], V) + srm_dot3(rows->W[i] + 3, V + 3) + s * rows->b[i];
}

static bool agree(double given, double found, double scale) {
  return fabs(given - found) <= TOLERANCE * fmax(scale, fmax(fabs(given), fabs(found)));
}

// What the law supplies along V against differences; false with a sentence. what: "W[%d][3]" or "b[%d]".
static bool check_along(const srClosure* c, const srClosureIn* in, const double V[6], double s, const char* what,
                        char* reason, size_t size) {
  srClosureOut here, ahead, behind;
  if (moved(c, in, V, s, 0, &here) != 0 || moved(c, in, V, s, STEP, &ahead) != 0 ||
      moved(c, in, V, s, -STEP, &behind) != 0)
    return true;  // undefined nearby: there is nothing to compare
  for (int i = 0; i < c->np; i++) {
    double scale = 0;
    for (int j = 0; j < 6; j++) scale = fmax(scale, fabs(here.W[i][j]));
    const double given = rate_of(&here, i, V, s), found = (ahead.g[i] - behind.g[i]) / (2 * STEP);
    const double bias = (rate_of(&ahead, i, V, s) - rate_of(&behind, i, V, s)) / (2 * STEP);
    if (agree(given, found, scale) && (s == 0 || agree(here.bias[i], bias, scale))) continue;
    const bool row = !agree(given, found, scale);
    snprintf(reason, size, "the law '%s' contradicts itself in equation %d: %s is %g, differences give %g",
             c->law->name, i + 1, row ? what : "bias, for a twist of unit size,", row ? given : here.bias[i],
             row ? found : bias);
    return false;
  }
  return true;
}

bool sr_closure_check_law(const srClosure* c, const srClosureIn* in, char* reason, size_t size) {
  static const char* const rows[] = {"W[0]", "W[1]", "W[2]", "W[3]", "W[4]", "W[5]"};
  static const double some[6] = {0.3, -0.4, 0.5, -0.6, 0.2, 0.35};
  bool good = true;
  for (int j = 0; j < 6 && good; j++) {
    double V[6] = {0};
    V[j] = 1;
    good = check_along(c, in, V, 0, rows[j], reason, size);
  }
  return good && check_along(c, in, some, 1, "b", reason, size);
}
