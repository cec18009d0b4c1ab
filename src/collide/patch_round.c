// The surface of a cylinder or cone within the pressure field of another one (patch_field.c).
//
// The surface of R is three bands of straight lines: two discs from the axis to the rim, and the side between the rims. The line at the angle phi is
//   x = P_0 + s g,   P_e = o + z_e e_z + rho_e (cos phi e_x + sin phi e_y),   g = P_1 - P_0,   dA = slant rho(s) ds dphi
// On a line the planes of the ends of S are linear in s, its side and the borders of the cells of d are quadratic, r^2 = w(s)^2, w linear: the pieces of the line
// are known exactly, and have points of Gauss.
//
// In phi the sum changes its form where an end of the line crosses the side or an end of S, where the line meets a rim of S, and where it is tangent to its side:
//   P_e,z = z_k,   q(P_e) = 0,   |P_0 g_z + (z_k - P_0,z) g|^2 = rho_k^2 g_z^2 across the axis,   B^2 = A C of the quadratic
// All are trigonometric polynomials of degree at most 4, known by their values at 16 angles. Their roots cut the circle into arcs; an arc whose middle is not in S has
// nothing in it, the others have Gauss points; next to an empty one or to a tangent in the angle of phi = m + h sin(angle), since the length of a chord begins as a square root.
#include <math.h>

#include "collide/patch_cells.h"
#include "math/pose.h"
#include "math/vector3.h"

#define NODES 8
static const double node[NODES / 2] = {0.1834346424956498, 0.525532409916329, 0.7966664774136267, 0.9602898564975363};
static const double weight[NODES / 2] = {0.362683783378362, 0.31370664587788727, 0.22238103445337448,
                                         0.10122853629037626};
#define PANELS 2  // of an arc
#define ALONG 6
static const double along_node[ALONG] = {-0.9324695142031521, -0.6612093864662645, -0.2386191860831969,
                                         0.2386191860831969,  0.6612093864662645,  0.9324695142031521};
static const double along_weight[ALONG] = {0.17132449237917036, 0.3607615730481386, 0.46791393457269104,
                                           0.46791393457269104, 0.3607615730481386, 0.17132449237917036};

typedef struct Band {
  srPatchCells* c;
  srPatchFrustum soft;
  const double *ex, *ey, *ez;
  double centre[2][3], rho[2];  // of its two circles, in the axes of S
  double dr, dz, slant;
} Band;

typedef struct Ray {
  double cosine, sine;
  double x[3], g[3];  // from the first circle to the second
} Ray;

static void ray_at(const Band* b, double cosine, double sine, Ray* out) {
  out->cosine = cosine;
  out->sine = sine;
  for (int i = 0; i < 3; i++) {
    const double across = cosine * b->ex[i] + sine * b->ey[i];
    out->x[i] = b->centre[0][i] + b->rho[0] * across;
    out->g[i] = b->dz * b->ez[i] + b->dr * across;
  }
}

static void point_at(const Ray* ray, double s, double x[3]) {
  for (int i = 0; i < 3; i++) x[i] = ray->x[i] + s * ray->g[i];
}

// ---- one line -----------------------------------------------------------------------------------------------------------

#define MOST_CUTS 12  // 10 roots of planes, cones and the axis

typedef struct Cuts {
  int n;
  double at[MOST_CUTS];
} Cuts;

static void add_cut(Cuts* c, double s) {
  if (!(s > 0 && s < 1)) return;
  int i = c->n++;
  for (; i > 0 && c->at[i - 1] > s; i--) c->at[i] = c->at[i - 1];
  c->at[i] = s;
}

// r^2 - w^2 = A s^2 + 2 B s + C with w = w0 + s dw.
static void quadratic_of(const Ray* ray, double w0, double dw, double out[3]) {
  const double *x = ray->x, *g = ray->g;
  out[0] = g[0] * g[0] + g[1] * g[1] - dw * dw;
  out[1] = x[0] * g[0] + x[1] * g[1] - w0 * dw;
  out[2] = x[0] * x[0] + x[1] * x[1] - w0 * w0;
}

static void add_roots(Cuts* cuts, const double q[3]) {
  const double root = q[1] * q[1] - q[0] * q[2];
  if (!(root >= 0)) return;
  const double far = q[1] > 0 ? -q[1] - sqrt(root) : -q[1] + sqrt(root);
  if (q[0] != 0) add_cut(cuts, far / q[0]);
  if (far != 0) add_cut(cuts, q[2] / far);
}

// Radius of the side along the line: value at s = 0, slope.
static void side_of(const Band* b, const Ray* ray, double out[2]) {
  out[0] = sr_patch_frustum_radius(&b->soft, ray->x[2]);
  out[1] = b->soft.slope * ray->g[2];
}

// The side is as near as the end e: r = rho - d_e/c.
static void border_of(const Band* b, const Ray* ray, const double side[2], int e, double out[3]) {
  const double scale = (e == 0 ? 1 : -1) / b->soft.cosine;
  quadratic_of(ray, side[0] - scale * (ray->x[2] - b->soft.z[e]), side[1] - scale * ray->g[2], out);
}

static void cut_line(const Band* b, const Ray* ray, Cuts* cuts) {
  const srPatchFrustum* f = &b->soft;
  const double z = ray->x[2], dz = ray->g[2];
  double w[2], q[3];
  side_of(b, ray, w);
  quadratic_of(ray, w[0], w[1], q);
  add_roots(cuts, q);
  add_cut(cuts, (0.5 * (f->z[0] + f->z[1]) - z) / dz);
  const double *x = ray->x, *g = ray->g;
  add_cut(cuts, -(x[0] * g[0] + x[1] * g[1]) /
                    (g[0] * g[0] + g[1] * g[1]));  // nearest to the axis: the field has a kink there
  for (int e = 0; e < 2; e++) {
    add_cut(cuts, (f->z[e] - z) / dz);
    border_of(b, ray, w, e, q);
    add_roots(cuts, q);
  }
}

// Which cell of the field it is in, 0 outside of S. The field of the side has a kink where the line passes the axis near by: another cell behind it.
static int cell_at(const Band* b, const Ray* ray, double s) {
  const srPatchFrustum* f = &b->soft;
  const double* g = ray->g;
  double x[3];
  point_at(ray, s, x);
  const double side = f->cosine * (sr_patch_frustum_radius(f, x[2]) - hypot(x[0], x[1]));
  const double low = x[2] - f->z[0], high = f->z[1] - x[2], end = fmin(low, high);
  if (!(fmin(side, end) > 0)) return 0;
  if (end <= side) return low < high ? 1 : 2;
  const double off = x[0] * g[1] - x[1] * g[0], long2 = g[0] * g[0] + g[1] * g[1];
  return fabs(off) < long2 && x[0] * g[0] + x[1] * g[1] > 0 ? 4 : 3;
}

static void put_piece(const Band* b, const Ray* ray, double from, double to, double dphi) {
  const double half = 0.5 * (to - from);
  double n[3], x[3];
  for (int i = 0; i < 3; i++)
    n[i] = (b->dz * (ray->cosine * b->ex[i] + ray->sine * b->ey[i]) - b->dr * b->ez[i]) / b->slant;
  for (int k = 0; k < ALONG; k++) {
    const double s = from + half * (1 + along_node[k]);
    point_at(ray, s, x);
    sr_patch_put_in_frustum(b->c, &b->soft, x, n, half * along_weight[k] * b->slant * (b->rho[0] + s * b->dr) * dphi);
  }
}

// Points on the part of the line that is in S, in pieces of one cell each; dphi 0: none. Is there such a part?
static bool put_line(const Band* b, double phi, double dphi) {
  Ray ray;
  Cuts cuts = {0};
  bool any = false;
  double start = 0;
  int cell = 0;
  ray_at(b, cos(phi), sin(phi), &ray);
  cut_line(b, &ray, &cuts);
  for (int i = 0; i <= cuts.n + 1; i++) {
    const double from = i == 0 ? 0 : i <= cuts.n ? cuts.at[i - 1] : 1, to = i < cuts.n ? cuts.at[i] : 1;
    if (i <= cuts.n && !(to > from)) continue;
    const int next = i <= cuts.n ? cell_at(b, &ray, 0.5 * (from + to)) : 0;
    if (next == cell) continue;
    if (cell != 0 && dphi > 0) put_piece(b, &ray, start, from, dphi);
    any |= next != 0;
    start = from;
    cell = next;
  }
  return any;
}

// ---- angles -------------------------------------------------------------------------------------------------------------

#define SAMPLES 16
#define DEGREE 4
#define CONDITIONS 16

static const double cosine16[SAMPLES] = {1,  0.92387953251128674,  0.70710678118654752,  0.38268343236508977,
                                         0,  -0.38268343236508977, -0.70710678118654752, -0.92387953251128674,
                                         -1, -0.92387953251128674, -0.70710678118654752, -0.38268343236508977,
                                         0,  0.38268343236508977,  0.70710678118654752,  0.92387953251128674};
static double sine16(int i) { return cosine16[(i + SAMPLES - SAMPLES / 4) % SAMPLES]; }

// The line meets the rim k of S.
static double meets_rim(const Band* b, const Ray* ray, int k) {
  const double *x = ray->x, *g = ray->g, up = b->soft.z[k] - x[2], r = b->soft.radius[k] * g[2];
  const double u = x[0] * g[2] + up * g[0], v = x[1] * g[2] + up * g[1];
  return u * u + v * v - r * r;
}

#define TANGENT 3  // the first ones: the line is tangent to the side of S or to the border of two cells

static void conditions(const Band* b, const Ray* ray, double out[CONDITIONS]) {
  const srPatchFrustum* f = &b->soft;
  double w[2], q[3];
  side_of(b, ray, w);
  quadratic_of(ray, w[0], w[1], q);
  out[0] = q[1] * q[1] - q[0] * q[2];
  out[3] = q[2];
  out[4] = q[0] + 2 * q[1] + q[2];
  out[5] = ray->x[0] * ray->g[1] - ray->x[1] * ray->g[0];
  for (int k = 0; k < 2; k++) {
    out[6 + k] = ray->x[2] - f->z[k];
    out[8 + k] = ray->x[2] + ray->g[2] - f->z[k];
    out[10 + k] = f->radius[k] > 0 ? meets_rim(b, ray, k) : 1;
    border_of(b, ray, w, k, q);
    out[1 + k] = q[1] * q[1] - q[0] * q[2];
    out[12 + k] = q[2];
    out[14 + k] = q[0] + 2 * q[1] + q[2];
  }
}

// sum of a_k cos k phi + b_k sin k phi
typedef struct Wave {
  double a[DEGREE + 1], b[DEGREE + 1];
} Wave;

static Wave wave_of(const double value[SAMPLES]) {
  Wave out = {0};
  for (int k = 0; k <= DEGREE; k++) {
    for (int i = 0; i < SAMPLES; i++) {
      out.a[k] += value[i] * cosine16[k * i % SAMPLES] * (k > 0 ? 2.0 : 1.0) / SAMPLES;
      out.b[k] += value[i] * sine16(k * i % SAMPLES) * 2.0 / SAMPLES;
    }
  }
  return out;
}

static Wave slope_of(const Wave* w) {
  Wave out = {0};
  for (int k = 1; k <= DEGREE; k++) {
    out.a[k] = k * w->b[k];
    out.b[k] = -k * w->a[k];
  }
  return out;
}

static double wave_at(const Wave* w, double phi) {
  const double c1 = cos(phi), s1 = sin(phi);
  double c = 1, s = 0, sum = w->a[0];
  for (int k = 1; k <= DEGREE; k++) {
    const double next = c * c1 - s * s1;
    s = s * c1 + c * s1;
    c = next;
    sum += w->a[k] * c + w->b[k] * s;
  }
  return sum;
}

// Between two angles where the wave has opposite signs: regula falsi.
static double root_between(const Wave* w, double low, double high, double u, double v) {
  int last = 0;
  for (int k = 0; k < 60 && high - low > 1e-14; k++) {
    const double at = low - u * (high - low) / (v - u), here = wave_at(w, at);
    if (here == 0) return at;
    const int side = (here > 0) == (u > 0) ? -1 : 1;
    *(side < 0 ? &low : &high) = at;
    *(side < 0 ? &u : &v) = here;
    if (side == last) *(side < 0 ? &v : &u) *= 0.5;  // the other end has stayed
    last = side;
  }
  return 0.5 * (low + high);
}

#define MOST_ANGLES (CONDITIONS * 2 * DEGREE + 6)

typedef struct Angles {
  int n;
  double at[MOST_ANGLES];
  bool tangent[MOST_ANGLES];  // the line is tangent to S or to the border of two cells
} Angles;

static void add_angle(Angles* c, double phi, bool tangent) {
  if (c->n == MOST_ANGLES) return;
  int i = c->n++;
  for (; i > 0 && c->at[i - 1] > phi; i--) {
    c->at[i] = c->at[i - 1];
    c->tangent[i] = c->tangent[i - 1];
  }
  c->at[i] = phi;
  c->tangent[i] = tangent;
}

// In every sixteenth of the circle: a change of the sign, or an extremum beyond zero, which has a root on both sides.
static void add_zeros(const double value[SAMPLES], bool tangent, Angles* out) {
  const Wave w = wave_of(value), slope = slope_of(&w);
  double by[SAMPLES] = {0};
  for (int i = 0; i < SAMPLES; i++) {
    for (int k = 1; k <= DEGREE; k++)
      by[i] += slope.a[k] * cosine16[k * i % SAMPLES] + slope.b[k] * sine16(k * i % SAMPLES);
  }
  const double part = 2 * SR_PI / SAMPLES;
  for (int i = 0; i < SAMPLES; i++) {
    const int j = (i + 1) % SAMPLES;
    const double u = value[i], v = value[j], low = part * i, high = part * (i + 1);
    if ((u > 0) != (v > 0)) {
      add_angle(out, root_between(&w, low, high, u, v), tangent);
    } else if ((u > 0 ? -by[i] : by[i]) > 0 && (u > 0 ? by[j] : -by[j]) > 0) {
      const double at = root_between(&slope, low, high, by[i], by[j]), peak = wave_at(&w, at);
      if ((peak > 0) == (u > 0)) continue;
      add_angle(out, root_between(&w, low, at, u, peak), tangent);
      add_angle(out, root_between(&w, at, high, peak, v), tangent);
    }
  }
}

static void find_angles(const Band* b, Angles* out) {
  double value[CONDITIONS][SAMPLES];
  for (int i = 0; i < SAMPLES; i++) {
    Ray ray;
    double here[CONDITIONS];
    ray_at(b, cosine16[i], sine16(i), &ray);
    conditions(b, &ray, here);
    for (int k = 0; k < CONDITIONS; k++) value[k][i] = here[k];
  }
  out->n = 0;
  for (int i = 0; i <= 4; i++) add_angle(out, i * 0.5 * SR_PI, false);
  for (int k = 0; k < CONDITIONS; k++) add_zeros(value[k], k < TANGENT, out);
}

// ---- bands --------------------------------------------------------------------------------------------------------------

// Is it beyond an end of S, or farther from its axis than the side is anywhere?
static bool is_apart(const Band* b) {
  const double tilt = sqrt(fmax(0, 1 - b->ez[2] * b->ez[2]));
  double low = HUGE_VAL, high = -HUGE_VAL, near = HUGE_VAL;
  for (int e = 0; e < 2; e++) {
    low = fmin(low, b->centre[e][2] - b->rho[e] * tilt);
    high = fmax(high, b->centre[e][2] + b->rho[e] * tilt);
    near = fmin(near, hypot(b->centre[e][0], b->centre[e][1]) - b->rho[e]);
  }
  const double most = fmax(b->soft.radius[0], b->soft.radius[1]);
  return low > b->soft.z[1] || high < b->soft.z[0] || (b->dz == 0 && near > most);
}

static void put_arc(const Band* b, double from, double to, bool open) {
  const double half = 0.5 * (to - from);
  for (int i = 0; i < PANELS * NODES; i++) {
    const int k = i % NODES;
    const double u = (2 * (i / NODES) + 1 + (k % 2 == 0 ? node[k / 2] : -node[k / 2])) / PANELS - 1,
                 angle = 0.5 * SR_PI * u;
    const double at = open ? sin(angle) : u, part = open ? 0.5 * SR_PI * cos(angle) : 1;
    (void)put_line(b, from + half * (1 + at), half * part * weight[k / 2] / PANELS);
  }
}

static void put_band(Band* b) {
  Angles angles;
  bool in[MOST_ANGLES];
  if (!(b->slant > 0) || is_apart(b)) return;
  find_angles(b, &angles);
  const int n = angles.n - 1;
  for (int i = 0; i < n; i++) {
    const double from = angles.at[i], to = angles.at[i + 1];
    in[i] = to > from ? put_line(b, 0.5 * (from + to), 0) : i > 0 && in[i - 1];
  }
  for (int i = 0; i < n; i++) {
    const bool open = !in[(i + n - 1) % n] || !in[(i + 1) % n] || angles.tangent[i] || angles.tangent[i + 1];
    if (in[i] && angles.at[i + 1] > angles.at[i]) put_arc(b, angles.at[i], angles.at[i + 1], open);
  }
}

void sr_patch_put_round(srPatchCells* c, const srPatchBody* r) {
  const double *pose = c->rigid_in_soft, rho[4] = {0, r->radius[0], r->radius[1], 0};
  const double z[4] = {r->z[0], r->z[0], r->z[1], r->z[1]};
  for (int i = 0; i < 3; i++) {
    Band b = {.c = c, .ex = pose, .ey = pose + 4, .ez = pose + 8, .dr = rho[i + 1] - rho[i], .dz = z[i + 1] - z[i]};
    b.soft = sr_patch_frustum_of(&c->patch->body[1 - c->patch->rigid]);
    b.slant = hypot(b.dr, b.dz);
    for (int e = 0; e < 2; e++) {
      b.rho[e] = rho[i + e];
      srm_add_scaled3(pose + 12, z[i + e], b.ez, b.centre[e]);
    }
    put_band(&b);
  }
}
