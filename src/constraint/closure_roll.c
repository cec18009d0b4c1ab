// Rolling of a disc, wheel or sphere on a plane: one position equation (contact) and two velocity equations (no slip).
// Observed from the plane, whose normal n is z: centre d, orientation R, disc axis k = R axis, contact at d + rho with
//   disc     rho = r s,  s = (k_n k - n)/h,  k_n = k.n,  h = sqrt(1 - k_n^2)        s points down the steepest direction
//   sphere   rho = -r n
//   g = d.n - r h (sphere: - r);    rows e.(u + w x rho), e = n, x, y;    bias e.(w x rho')
// The first row is the derivative of g: the motion of the contact point within the disc has no component along n.
#include "constraint/closure.h"

#include <math.h>
#include <string.h>

#include "constraint/closure_graph.h"
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
  c->row_name[0] = "contact along the normal";
  c->row_name[1] = "rolling along x";
  c->row_name[2] = "rolling along y";
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** reason) {
  (void)reason;
  double rho[3] = {0, 0, -c->radius}, rate[3] = {0, 0, 0}, turn[3];
  out->g[0] = in->d[2] - c->radius;
  if (!c->sphere) {
    const double h = contact(c, in, rho, rate);
    if (!(h > 1e-6)) {
      *reason = "its disc lies flat on the plane";
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

static void define(srClosureGraph* x) {
  srGraph* g = x->g;
  const srNode zero = srx_number(g, 0), one = srx_number(g, 1);
  srNode k[3], rho[3] = {zero, zero, srx_neg(g, x->radius)};
  srNode height = x->radius;
  if (!x->sphere) {
    sr_graph_turned(x, x->frame[2], k);
    const srNode h = srx_sqrt(g, srx_dot(g, 2, k, k)), scale = srx_div(g, x->radius, h);
    for (int i = 0; i < 3; i++) rho[i] = srx_mul(g, scale, srx_sub(g, srx_mul(g, k[2], k[i]), i == 2 ? one : zero));
    height = srx_mul(g, x->radius, h);
  }
  x->residual[0] = srx_sub(g, x->d[2], height);
  for (int i = 1; i < 3; i++) {
    const srNode e[3] = {i == 1 ? one : zero, i == 2 ? one : zero, zero};
    srx_cross(g, rho, e, x->row[i]);
    memcpy(x->row[i] + 3, e, sizeof e);
  }
}

const srClosureKind sr_closure_roll = {
    .observer = SR_OBSERVER_B, .uses = "|axis|radius|shape|", .setup = setup, .evaluate = evaluate, .define = define};
