// Rolling of a disc, wheel or sphere on a plane: one position row (it touches) and two velocity rows (it does not slip).
// Seen from the plane, whose normal n is z: centre d, orientation R, disc axis k = R axis, contact at d + rho with
//   disc     rho = r s,  s = (k_n k - n)/h,  k_n = k.n,  h = sqrt(1 - k_n^2)        s points down the steepest direction
//   sphere   rho = -r n
//   g = d.n - r h (sphere: - r);    rows e.(u + w x rho), e = n, x, y;    bias e.(w x rho')
// The first row is the derivative of g: what moves the contact point within the disc has no part along n.
#include "constraint/closure.h"

#include <math.h>
#include <string.h>

#include "math/pose.h"

static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

// rho and its rate; returns h.
static double contact(const srClosure* c, const srClosureIn* in, double rho[3], double rate[3]) {
  double k[3], k1[3];
  sr_turned(in, c->frame[2], k);
  srm_cross3(in->w, k, k1);
  const double h = sqrt(fmax(0, k[0] * k[0] + k[1] * k[1])), h1 = h > 0 ? -k[2] * k1[2] / h : 0;
  for (int i = 0; i < 3 && h > 0; i++) {
    const double s = (k[2] * k[i] - unit[2][i]) / h;
    rho[i] = c->radius * s;
    rate[i] = c->radius * ((k1[2] * k[i] + k[2] * k1[i]) - s * h1) / h;
  }
  return h;
}

static const char* setup(srClosure* c) {
  if (!c->has_radius) return "a rolling closure needs the 'radius' of its disc or sphere";
  if (!(c->radius > 0)) return "the 'radius' of a rolling closure must be greater than zero";
  if (c->disc && !c->has_axis) return "a rolling disc needs its 'axis', in the frame a";
  c->np = 1;
  c->nvel = 2;
  c->row_name[0] = "touch along the normal";
  c->row_name[1] = "rolling along x";
  c->row_name[2] = "rolling along y";
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** why) {
  (void)why;
  double rho[3] = {0, 0, -c->radius}, rate[3] = {0, 0, 0}, turn[3];
  out->g[0] = in->d[2] - c->radius;
  if (!c->sphere) {
    const double h = contact(c, in, rho, rate);
    if (!(h > 1e-6)) {
      *why = "its disc lies flat on the plane";
      return 1;
    }
    out->g[0] = in->d[2] - c->radius * h;
  }
  srm_cross3(in->w, rate, turn);
  for (int i = 0; i < 3; i++) {
    const double* e = unit[(i + 2) % 3];  // z, x, y
    srm_cross3(rho, e, out->W[i]);
    memcpy(out->W[i] + 3, e, 3 * sizeof *e);
    out->bias[i] = srm_dot3(e, turn);
  }
  return 0;
}

// Sum of lambda_i W_i over w is rho x e, e = lambda_0 z + lambda_1 x + lambda_2 y.
static void slope(const srClosure* c, const srClosureIn* in, const double* lambda, double* L) {
  if (c->sphere) return;  // its rows are constant
  const double e[3] = {lambda[1], lambda[2], lambda[0]};
  for (int j = 0; j < 3; j++) {
    srClosureIn moving = *in;
    double rho[3], rate[3], row[3];
    for (int i = 0; i < 3; i++) moving.w[i] = i == j;
    contact(c, &moving, rho, rate);
    srm_cross3(rate, e, row);
    for (int i = 0; i < 3; i++) L[6 * i + j] += row[i];
  }
}

const srClosureKind sr_closure_roll = {.observer = SR_OBSERVER_B, .setup = setup, .evaluate = evaluate, .slope = slope};
