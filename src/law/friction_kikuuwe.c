// Kikuuwe's law, the default: a bristle (spring K, damper B) that ends in a slider with dry friction. Kikuuwe and Yamamoto, eq 17, and
// its form for one-step methods, eq 19; here with Stribeck's fall and a viscous term:
//   f = K e + B edot                              the bristle
//   f = G(|w|) w/|w|,  |f| <= Fs where w = 0      the slider, which slips with w = v - edot
//   G(s) = Fk + (Fs - Fk) exp(-(s/vs)^delta) + D s
// A backward Euler step of length tau within the bristle, e -> e + tau edot, makes it f = K e + Z edot, Z = B + tau K. With
// edot = v - w:   f + Z w = Z v + K e =: f*.   f and w have one direction, so f* has it too, and the lengths give
//   |f*| <= Fs:  w = 0,  f = f*,  edot = v           sticks: edot is v to the last bit, so the slider does not drift
//   else:        Z s + G(s) = |f*|,  f = G(s) f*/|f*|,  edot = (f - K e)/Z
// For Fs = Fk = F and D = 0 this is f = gsat(F, f*), eq 19. Otherwise s is found by Newton's method between bounds.
//
// Power:  f . v = d(1/2 K |e|^2)/dt + Z |edot|^2 + G(s) s:  passive for any tau, and for any limits that change in time.
// When the limit falls, edot pulls e back within Z/K; with no limit, f = 0 and edot = -K e/Z. So Z > 0 is needed.
//
// s is unique when Z s + G(s) rises. A Stribeck curve that falls faster than Z lets a massless slider jump, and f with it. So
// the fall is split: as much of it as Z carries hangs on s, the rest on |v|,
//   exp(-(s/vs)^delta)  ->  exp(-(s/vz)^delta) c(|v|),   c(u) = exp((u/vz)^delta - (u/vs)^delta) <= 1
//   vz = max(vs, 2 m (Fs - Fk)/(Z + D)),  m the steepest slope of exp(-x^delta)
// The slope of G is then above -(Z + D)/2 and f is continuous in v and e; steady sliding (s = |v|) has Stribeck's curve
// itself, rest has Fs, and where Z is large enough vz = vs, c = 1: nothing is split. (Without a bit of memory more is not to be had:
// a bristle that is loaded at speed u passes through the same v and e as one that slides at u. A load that grows by K vs in a
// second breaks loose early.)
#include <math.h>

#include "law/friction.h"
#include "math/stribeck.h"

// Largest slope of exp(-x^delta), delta >= 1: at x^delta = 1 - 1/delta.
static double steepest(double delta) {
  const double q = 1.0 - 1.0 / delta;
  return delta * pow(q, q) * exp(-q);
}

// The bristle with that part of Stribeck's fall that may hang on s, at slip velocity of size u: Fs and vs change.
static srBristle carried(const srBristle* b, double u) {
  const double drop = b->Fs - b->Fk;
  srBristle out = *b;
  if (drop <= 0.0) return out;
  out.vs = fmax(b->vs, 2.0 * steepest(b->delta) * drop / (b->Z + b->D));
  if (out.vs > b->vs) out.Fs = b->Fk + drop * exp(pow(u / b->vs, b->delta) * (pow(b->vs / out.vs, b->delta) - 1.0));
  return out;
}

// The slip speed s > 0 with (Z + D) s + limit(s) = size, size > Fs.
static double slip_speed(const srBristle* b, double size) {
  const double unit = (b->Z + b->D) * b->vs;
  return b->vs * srm_stribeck_root(fmax(b->Fs - b->Fk, 0.0) / unit, (size - b->Fk) / unit, b->delta);
}

double sr_bristle(const srBristle* given, int n, const double* v, const double* e, double* f, double* edot,
                  bool* sticks) {
  const srBristle bristle = carried(given, sr_slip_norm(n, v)), *b = &bristle;
  double f_star[SR_FRICTION_MAX_N] = {0};
  for (int k = 0; k < n; ++k) f_star[k] = b->Z * v[k] + b->K * e[k];
  const double size = sr_slip_norm(n, f_star);
  *sticks = size <= b->Fs;
  if (*sticks) {
    for (int k = 0; k < n; ++k) {
      f[k] = f_star[k];
      edot[k] = v[k];
    }
    return b->Z * sr_slip_dot(n, v, v);
  }
  const double s = slip_speed(b, size);
  const double G = sr_stribeck(b->Fs, b->Fk, b->vs, b->delta, s) + b->D * s;
  sr_slip_along(n, f_star, size, G, f);
  for (int k = 0; k < n; ++k) edot[k] = (f[k] - b->K * e[k]) / b->Z;
  return b->Z * sr_slip_dot(n, edot, edot) + G * s;
}

static int evaluate(const srFrictionIn* in, srFrictionOut* out) {
  const srFrictionParameters* p = in->p;
  const srBristle b = {p->K, p->B + in->tau * p->K, in->Fs, fmin(in->Fk, in->Fs), in->D, p->vs, p->delta};
  out->dissipation = sr_bristle(&b, in->n, in->v, in->e, out->f, out->edot, &out->sticks);
  return 0;
}

static const char* refuse(const srFrictionParameters* p, double tau) {
  return p->B + tau * p->K > 0.0 ? NULL : "its bristles need damping, so B and tau cannot both be 0";
}

// ---- on the graph -------------------------------------------------------------------------------------------------------

// m of delta, which is a parameter: no derivative by it is needed.
static srNode steepest_graph(srGraph* g, srNode delta) {
  const srNode one = srx_number(g, 1), q = srx_sub(g, one, srx_div(g, one, delta));
  return srx_mul(g, delta, srx_mul(g, srx_pow(g, q, q), srx_exp(g, srx_neg(g, q))));
}

static srBristleGraph carried_graph(srGraph* g, const srBristleGraph* b, srNode u) {
  srBristleGraph out = *b;
  const srNode drop = srx_sub(g, b->Fs, b->Fk), one = srx_number(g, 1), ZD = srx_add(g, b->Z, b->D);
  const srNode least = srx_div(g, srx_mul(g, srx_mul(g, srx_number(g, 2), steepest_graph(g, b->delta)), drop), ZD);
  out.vs = srx_max(g, b->vs, least);
  const srNode part = srx_sub(g, srx_pow(g, srx_div(g, b->vs, out.vs), b->delta), one);
  const srNode factor = srx_exp(g, srx_mul(g, srx_pow(g, srx_div(g, u, b->vs), b->delta), part));
  const srNode split = srx_add(g, b->Fk, srx_mul(g, drop, factor));
  out.Fs = srx_if(g, srx_less(g, b->vs, out.vs), split, b->Fs);
  return out;
}

void sr_bristle_graph(srGraph* g, const srBristleGraph* given, int n, const srNode* v, const srNode* e, srNode* f,
                      srNode* edot) {
  const srBristleGraph carried = carried_graph(g, given, srx_norm(g, n, v)), *b = &carried;
  srNode f_star[SR_FRICTION_MAX_N], slides[SR_FRICTION_MAX_N];
  for (int k = 0; k < n; ++k) f_star[k] = srx_add(g, srx_mul(g, b->Z, v[k]), srx_mul(g, b->K, e[k]));
  const srNode size = srx_norm(g, n, f_star), sticks = srx_at_most(g, size, b->Fs), ZD = srx_add(g, b->Z, b->D);
  const srNode unit = srx_mul(g, ZD, b->vs), drop = srx_sub(g, b->Fs, b->Fk), above = srx_sub(g, size, b->Fk);
  const srNode s =
      srx_mul(g, b->vs, sr_graph_op(g, SR_OP_STRIBECK, srx_div(g, drop, unit), srx_div(g, above, unit), b->delta));
  const srNode G = srx_sub(g, size, srx_mul(g, b->Z, s));
  sr_slip_along_graph(g, n, f_star, size, G, slides);
  for (int k = 0; k < n; ++k) {
    f[k] = srx_if(g, sticks, f_star[k], slides[k]);
    edot[k] = srx_if(g, sticks, v[k], srx_div(g, srx_sub(g, slides[k], srx_mul(g, b->K, e[k])), b->Z));
  }
}

void sr_friction_kikuuwe_graph(srFrictionGraph* x) {
  srGraph* g = x->g;
  const srNode K = x->p[SR_FRICTION_K];
  const srBristleGraph b = {K,
                            srx_add(g, x->p[SR_FRICTION_B], srx_mul(g, x->tau, K)),
                            x->Fs,
                            srx_min(g, x->Fk, x->Fs),
                            x->D,
                            x->p[SR_FRICTION_vs],
                            x->p[SR_FRICTION_delta]};
  sr_bristle_graph(g, &b, x->n, x->v, x->e, x->f, x->edot);
}

const srFrictionLaw sr_friction_kikuuwe = {
    .name = "kikuuwe",
    .about = "a bristle with a slider at its end: what rests stays; Stribeck and viscous terms",
    .ne = 1,
    .uses = SR_FRICTION_USES(K) | SR_FRICTION_USES(B) | SR_FRICTION_USES(D) | SR_FRICTION_USES(vs) |
            SR_FRICTION_USES(delta),
    .holds = true,
    .evaluate = evaluate,
    .energy = sr_bristle_energy,
    .refuse = refuse,
};
