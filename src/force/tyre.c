// Tyre on a flat road: a thin disc with a radial spring, and forces of slip by the Magic Formula (Pacejka 2012, chapters 4, 7 and 8).
// Frame a is the road, its plane z = 0, n = z; frame b is the wheel, u and w its velocity and angular velocity, h its height, e its axis (unit vector).
//
// Place of contact, in the plane of the wheel, with the camber angle g: sin g = e.n
//   t = e x n/cos g (forward),  l = n x t,  c = -r (n - sin g e)/cos g  from the centre of the wheel,  r = h/cos g  loaded radius
//   v = u + w x c,  V = t.u,  s = (t.v, l.v)  slip speeds: V - (w.e) r along t, so that the wheel rolls freely with the loaded radius
// Load, with d = R - r > 0, d' = -n.v/cos g, x = (D/N0) d' (D: damping at the load N0; phi as in joint_stop.c, so that nothing jumps or pulls):
//   N = K d phi(x)/cos g,   phi = 1 + x  for x >= 0,   exp(x)  for x < 0,      V_stored = 1/2 K d^2
// Forces of slip, i = along and across, y = N/N0, slip k_i = s_i/|V| (kappa and tan alpha):
//   D_i = mu_i N/(1 + f (y - 1))                              friction falls with the load: at N0 by f mu_i per N0
//   B_i C_i D_i = K_i y (1 + q_i^2)/(1 + q_i^2 y^2)             slip stiffness, K_i at N0 and largest at N0/q_i: his sin(2 atan(N/c2))
//   rho^2 = sum (B_i k_i)^2,   psi = rho - E_i (rho - atan rho)
//   F_i = D_i B_i k_i/rho sin(C_i atan psi)                   acts on the wheel as -F_1 t - F_2 l at c, and c x that
// In pure slip this is D sin(C atan(B k - E (B k - atan(B k)))). In combined slip sum (F_i/D_i)^2 <= 1, and F.s >= 0, since C_i <= 2 and E_i <= 1 keep
// the sine positive: such a tyre never supplies energy. |V| is not taken below v0, so that slip at a standstill is a viscous force.
//
// Transient: k_i = (e_i + T z s_i)/L_i with the deflections e_i as states and relaxation lengths L_i:
//   e_i' = s_i - V_m e_i/L_i,   V_m = max(|V|, |s|/10)        z = (1 + cos(pi |V|/v0))/2  below |V| = v0, else 0: damping at a standstill
// which is the above at constant slip, rests on a slope without creep, and forgets what a locked wheel has slid. Off the road e_i' = -(|V| + v0) e_i/L_i.
// What deflections store is booked as dissipated when it is stored, and comes back.
#include <math.h>
#include <string.h>

#include "force/laws.h"
#include "math/pose.h"

enum {
  AXIS,
  RADIUS = 3,
  STIFFNESS,
  DAMPING,
  LOAD,
  MU,
  SLIP = 9,
  SHAPE = 11,
  CURVATURE = 13,
  FALL = 15,
  PEAK,
  LOW = 18,
  LENGTH,
  TREAD = 21,
  PARAMETERS
};
static const char* const names[PARAMETERS] = {"axis x",       "axis y",           "axis z",
                                              "radius",       "stiffness",        "damping",
                                              "load",         "mu along",         "mu across",
                                              "slip along",   "slip across",      "shape along",
                                              "shape across", "curvature along",  "curvature across",
                                              "fall of mu",   "peak along",       "peak across",
                                              "low speed",    "relaxation along", "relaxation across",
                                              "tread damping"};
#define LARGEST_SLIP 10.0
#define LEAST_COSINE 1e-6  // a wheel that lies flat touches nowhere
#define SMALL 1e-6         // rho^2 below which a series has all digits
#define PI 3.14159265358979323846

// ---- kernel -------------------------------------------------------------------------------------------------------------

typedef struct Touch {
  double t[3], l[3], c[3];
  double cosine, deflection;  // cos g, d
  double rising;              // n.v
  double V, s[2];
  double N, elastic;  // load, and its part without damping
} Touch;

// R(theta) a = a + sin|theta|/|theta| theta x a + (1 - cos|theta|)/|theta|^2 theta x (theta x a)
static void turned(const double* theta, const double* a, double* out) {
  double once[3], twice[3];
  srm_cross3(theta, a, once);
  srm_cross3(theta, once, twice);
  const double a2 = srm_dot3(theta, theta), angle = sqrt(a2), half = sin(0.5 * angle);
  const double one = angle > 0 ? sin(angle) / angle : 1, two = angle > 0 ? 2 * half * half / a2 : 0.5;
  for (int i = 0; i < 3; i++) out[i] = a[i] + one * once[i] + two * twice[i];
}

static double grip(double x) { return x < 0 ? exp(x) : 1 + x; }  // phi

static void touch(const srImpedanceIn* in, Touch* out) {
  const double *p = in->p, *w = in->xdot, *u = in->xdot + 3;
  double e[3], v[3];
  turned(in->x, p + AXIS, e);
  const double cosine = out->cosine = fmax(LEAST_COSINE, hypot(e[0], e[1])), r = in->x[5] / cosine;
  memcpy(out->t, (double[]){e[1] / cosine, -e[0] / cosine, 0}, sizeof out->t);
  memcpy(out->l, (double[]){e[0] / cosine, e[1] / cosine, 0}, sizeof out->l);
  for (int i = 0; i < 3; i++) out->c[i] = -r * ((i == 2) - e[2] * e[i]) / cosine;
  srm_cross3(w, out->c, v);
  for (int i = 0; i < 3; i++) v[i] += u[i];
  out->rising = v[2];
  out->V = srm_dot3(out->t, u);
  out->s[0] = srm_dot3(out->t, v);
  out->s[1] = srm_dot3(out->l, v);
  out->deflection = fmax(0, p[RADIUS] - r);
  out->elastic = p[STIFFNESS] * out->deflection / cosine;
  out->N = out->elastic * grip(-p[DAMPING] / p[LOAD] * v[2] / cosine);
}

// sin(C atan psi)/rho
static double curve(double rho2, double C, double E) {
  if (rho2 < SMALL) return C * (1 - rho2 * ((1 + E) / 3 + C * C / 6));
  const double rho = sqrt(rho2);
  return sin(C * atan(rho - E * (rho - atan(rho)))) / rho;
}

static void slip_force(const double* p, double N, const double k[2], double F[2]) {
  double Bk[2], D[2], rho2 = 0;
  const double y = N / p[LOAD];
  for (int i = 0; i < 2; i++) {
    const double q2 = p[PEAK + i] * p[PEAK + i], fall = 1 + p[FALL] * (y - 1);
    const double B = p[SLIP + i] * (1 + q2) / (1 + q2 * y * y) * fall / (p[SHAPE + i] * p[MU + i] * p[LOAD]);
    D[i] = p[MU + i] * N / fall;
    Bk[i] = B * k[i];
    rho2 += Bk[i] * Bk[i];
  }
  for (int i = 0; i < 2; i++) F[i] = D[i] * Bk[i] * curve(rho2, p[SHAPE + i], p[CURVATURE + i]);
}

static void put(const Touch* at, const double F[2], srImpedanceOut* out) {
  for (int i = 0; i < 3; i++) out->f[3 + i] = at->N * (i == 2) - F[0] * at->t[i] - F[1] * at->l[i];
  srm_cross3(at->c, out->f + 3, out->f);
  out->friction_dissipation = F[0] * at->s[0] + F[1] * at->s[1];
  out->dissipated = out->friction_dissipation + (at->elastic - at->N) * at->rising;
}

static int evaluate(const srImpedanceIn* in, srImpedanceOut* out) {
  Touch at;
  double F[2], k[2];
  touch(in, &at);
  for (int i = 0; i < 2; i++) k[i] = at.s[i] / fmax(fabs(at.V), in->p[LOW]);
  slip_force(in->p, at.N, k, F);
  put(&at, F, out);
  return 0;
}

static int evaluate_transient(const srImpedanceIn* in, srImpedanceOut* out) {
  const double *p = in->p, *e = in->y;
  Touch at;
  double F[2], k[2];
  touch(in, &at);
  const double V = fabs(at.V), z = V < p[LOW] ? 0.5 * (1 + cos(PI * V / p[LOW])) : 0;
  const double renewed = fmax(V, hypot(at.s[0], at.s[1]) / LARGEST_SLIP);
  for (int i = 0; i < 2; i++) {
    const double L = p[LENGTH + i];
    k[i] = (e[i] + p[TREAD] * z * at.s[i]) / L;
    out->ydot[i] = at.N > 0 ? at.s[i] - renewed * e[i] / L : -(V + p[LOW]) * e[i] / L;
  }
  slip_force(p, at.N, k, F);
  put(&at, F, out);
  return 0;
}

static double energy(const srImpedanceIn* in) {
  Touch at;
  touch(in, &at);
  return 0.5 * in->p[STIFFNESS] * at.deflection * at.deflection;
}

// ---- on the graph -------------------------------------------------------------------------------------------------------

typedef struct Nodes {
  srNode t[3], l[3], c[3], V, s[2], N;
} Nodes;

// Both factors by their series in a2 where it is small.
static void turned_graph(srGraph* g, const srNode* theta, const srNode* a, srNode* out) {
  srNode once[3], twice[3], factor[2];
  srx_cross(g, theta, a, once);
  srx_cross(g, theta, once, twice);
  const srNode a2 = srx_dot(g, 3, theta, theta), angle = srx_sqrt(g, a2), one = srx_number(g, 1);
  const srNode closed[2] = {srx_div(g, srx_1(g, SR_OP_SIN, angle), angle),
                            srx_div(g, srx_sub(g, one, srx_1(g, SR_OP_COS, angle)), a2)};
  static const double terms[2][5] = {{1, 6, 120, 5040, 362880}, {2, 24, 720, 40320, 3628800}};
  for (int k = 0; k < 2; k++) {
    srNode series = srx_number(g, 1 / terms[k][4]);
    for (int i = 3; i >= 0; i--) series = srx_sub(g, srx_number(g, 1 / terms[k][i]), srx_mul(g, a2, series));
    factor[k] = srx_if(g, srx_less(g, a2, srx_number(g, 1e-2)), series, closed[k]);
  }
  for (int i = 0; i < 3; i++)
    out[i] = srx_add(g, a[i], srx_add(g, srx_mul(g, factor[0], once[i]), srx_mul(g, factor[1], twice[i])));
}

static void touch_graph(srImpedanceGraph* x, Nodes* out) {
  srGraph* g = x->g;
  const srNode *p = x->p, *w = x->xdot, *u = x->xdot + 3, zero = srx_number(g, 0), one = srx_number(g, 1);
  srNode e[3], v[3];
  turned_graph(g, x->x, p + AXIS, e);
  const srNode cosine = srx_max(g, srx_number(g, LEAST_COSINE), srx_norm(g, 2, e)), r = srx_div(g, x->x[5], cosine);
  const srNode t[2] = {srx_div(g, e[1], cosine), srx_neg(g, srx_div(g, e[0], cosine))};
  memcpy(out->t, (srNode[]){t[0], t[1], zero}, sizeof out->t);
  memcpy(out->l, (srNode[]){srx_neg(g, t[1]), t[0], zero}, sizeof out->l);
  for (int i = 0; i < 3; i++) {
    const srNode up = srx_sub(g, i == 2 ? one : zero, srx_mul(g, e[2], e[i]));
    out->c[i] = srx_neg(g, srx_mul(g, r, srx_div(g, up, cosine)));
  }
  srx_cross(g, w, out->c, v);
  for (int i = 0; i < 3; i++) v[i] = srx_add(g, v[i], u[i]);
  out->V = srx_dot(g, 2, out->t, u);
  out->s[0] = srx_dot(g, 2, out->t, v);
  out->s[1] = srx_dot(g, 2, out->l, v);
  const srNode d = srx_max(g, zero, srx_sub(g, p[RADIUS], r));
  const srNode rate = srx_neg(g, srx_mul(g, srx_div(g, p[DAMPING], p[LOAD]), srx_div(g, v[2], cosine)));
  const srNode phi = srx_if(g, srx_less(g, rate, zero), srx_exp(g, rate), srx_add(g, one, rate));
  out->N = srx_mul(g, srx_div(g, srx_mul(g, p[STIFFNESS], d), cosine), phi);
}

static srNode atan_graph(srGraph* g, srNode x) { return srx_2(g, SR_OP_ATAN2, x, srx_number(g, 1)); }

static srNode curve_graph(srGraph* g, srNode rho2, srNode C, srNode E) {
  const srNode rho = srx_sqrt(g, rho2), one = srx_number(g, 1);
  const srNode psi = srx_sub(g, rho, srx_mul(g, E, srx_sub(g, rho, atan_graph(g, rho))));
  const srNode closed = srx_div(g, srx_1(g, SR_OP_SIN, srx_mul(g, C, atan_graph(g, psi))), rho);
  const srNode bend =
      srx_add(g, srx_div(g, srx_add(g, one, E), srx_number(g, 3)), srx_div(g, srx_mul(g, C, C), srx_number(g, 6)));
  const srNode series = srx_mul(g, C, srx_sub(g, one, srx_mul(g, rho2, bend)));
  return srx_if(g, srx_less(g, rho2, srx_number(g, SMALL)), series, closed);
}

static void slip_force_graph(srGraph* g, const srNode* p, srNode N, const srNode k[2], srNode F[2]) {
  const srNode one = srx_number(g, 1), y = srx_div(g, N, p[LOAD]);
  const srNode fall = srx_add(g, one, srx_mul(g, p[FALL], srx_sub(g, y, one)));
  srNode Bk[2];
  for (int i = 0; i < 2; i++) {
    const srNode q2 = srx_mul(g, p[PEAK + i], p[PEAK + i]);
    const srNode part = srx_div(g, srx_add(g, one, q2), srx_add(g, one, srx_mul(g, q2, srx_mul(g, y, y))));
    const srNode whole = srx_mul(g, p[SHAPE + i], srx_mul(g, p[MU + i], p[LOAD]));
    Bk[i] = srx_mul(g, srx_div(g, srx_mul(g, p[SLIP + i], srx_mul(g, part, fall)), whole), k[i]);
  }
  const srNode rho2 = srx_dot(g, 2, Bk, Bk);
  for (int i = 0; i < 2; i++) {
    const srNode D = srx_div(g, srx_mul(g, p[MU + i], N), fall);
    F[i] = srx_mul(g, srx_mul(g, D, Bk[i]), curve_graph(g, rho2, p[SHAPE + i], p[CURVATURE + i]));
  }
}

static void put_graph(srImpedanceGraph* x, const Nodes* at, const srNode F[2]) {
  srGraph* g = x->g;
  for (int i = 0; i < 3; i++) {
    const srNode slip = srx_add(g, srx_mul(g, F[0], at->t[i]), srx_mul(g, F[1], at->l[i]));
    x->f[3 + i] = srx_sub(g, i == 2 ? at->N : srx_number(g, 0), slip);
  }
  srx_cross(g, at->c, x->f + 3, x->f);
}

void sr_law_tyre_graph(srImpedanceGraph* x) {
  srGraph* g = x->g;
  Nodes at;
  srNode F[2], k[2];
  touch_graph(x, &at);
  const srNode V = srx_max(g, srx_norm(g, 1, &at.V), x->p[LOW]);
  for (int i = 0; i < 2; i++) k[i] = srx_div(g, at.s[i], V);
  slip_force_graph(g, x->p, at.N, k, F);
  put_graph(x, &at, F);
}

void sr_law_tyre_transient_graph(srImpedanceGraph* x) {
  srGraph* g = x->g;
  const srNode *p = x->p, *e = x->y, one = srx_number(g, 1);
  Nodes at;
  srNode F[2], k[2];
  touch_graph(x, &at);
  const srNode V = srx_norm(g, 1, &at.V), phase = srx_div(g, srx_mul(g, srx_number(g, PI), V), p[LOW]);
  const srNode fading = srx_mul(g, srx_number(g, 0.5), srx_add(g, one, srx_1(g, SR_OP_COS, phase)));
  const srNode z = srx_if(g, srx_less(g, V, p[LOW]), fading, srx_number(g, 0));
  const srNode renewed = srx_max(g, V, srx_div(g, srx_norm(g, 2, at.s), srx_number(g, LARGEST_SLIP)));
  for (int i = 0; i < 2; i++) {
    const srNode share = srx_div(g, e[i], p[LENGTH + i]);
    k[i] = srx_div(g, srx_add(g, e[i], srx_mul(g, p[TREAD], srx_mul(g, z, at.s[i]))), p[LENGTH + i]);
    x->ydot[i] = srx_if(g, srx_positive(g, at.N), srx_sub(g, at.s[i], srx_mul(g, renewed, share)),
                        srx_neg(g, srx_mul(g, srx_add(g, V, p[LOW]), share)));
  }
  slip_force_graph(g, p, at.N, k, F);
  put_graph(x, &at, F);
}

const srImpedance sr_law_tyre = {
    .name = "tyre",
    .port = SR_PORT_FRAMES,
    .np = PARAMETERS,
    .parameters = names,
    .evaluate = evaluate,
    .energy = energy,
};

const srImpedance sr_law_tyre_transient = {
    .name = "tyre-transient",
    .port = SR_PORT_FRAMES,
    .np = PARAMETERS,
    .parameters = names,
    .ny = 2,
    .evaluate = evaluate_transient,
    .energy = energy,
};
