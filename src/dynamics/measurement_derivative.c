// Derivatives of the joint-coordinate measurements' rows by the pose (measurement.c has the rows themselves, and the notation).
//
//   jv = h(R) . t,   L s = dh along the twist s,   jv' = h . t' + (L t) . t
//
//   angle      h = (c s_row - s c_row) / r^2,  s_row = f1 x e0, c_row = f3 x e2, f = R e:    df = w x f
//   slide      h = (0, e0)
//   rotation   h = (R e_k, 0),   (L t) . t = 0
//   origin     h = (0, R e_k),   (L t) . t = u . (w x R e_k)
//
// For the armature of joints jv' is differentiated too. With t' = sum c_j a_j + sum sum (dc_j/dq_k) v_k v_j and dc_j/dq_k bilinear in
// the columns (chain.c), its derivatives follow by the product rule.
#include <math.h>
#include <string.h>

#include "dynamics/derivative.h"
#include "math/pose.h"

static double dot6(const double* a, const double* b) { return srm_dot3(a, b) + srm_dot3(a + 3, b + 3); }

static void turned(const double* R, const double* e, double* out) {
  for (int i = 0; i < 3; i++) out[i] = srm_dot3(R + 3 * i, e);
}

// ---- angles ---------------------------------------------------------------------------------------------------------------

// One of the two numbers s = e.f, with f = R e' moving at the rate w: s' = row.w, s'' = second (w' = 0). Their changes with a change dw of w
// and a rotation r of f.
typedef struct Part {
  double value, rate, second, row[3];
  double d_value, d_rate, d_second, d_row[3];
} Part;

static Part part_of(const double* e, const double* f, const double* w, const double* r, const double* dw) {
  double wf[3], wwf[3], df[3], dwf[3], wdf[3], one[3], two[3], three[3];
  Part x;
  srm_cross3(f, e, x.row);
  srm_cross3(w, f, wf);
  srm_cross3(w, wf, wwf);
  srm_cross3(r, f, df);
  srm_cross3(dw, f, dwf);
  srm_cross3(w, df, wdf);
  srm_cross3(df, e, x.d_row);
  srm_cross3(dw, wf, one);
  srm_cross3(w, dwf, two);
  srm_cross3(w, wdf, three);
  x.value = srm_dot3(e, f);
  x.rate = srm_dot3(e, wf);
  x.second = srm_dot3(e, wwf);
  x.d_value = srm_dot3(e, df);
  x.d_rate = srm_dot3(e, dwf) + srm_dot3(e, wdf);
  x.d_second = srm_dot3(e, one) + srm_dot3(e, two) + srm_dot3(e, three);
  return x;
}

typedef struct Angle {
  double row[3], d_row[3];  // h and its change
  double bias, d_bias;      // (L t).t and its change
} Angle;

static Angle angle_of(const srMeasurement* measurement, const double* R, const double* w, const double* r,
                      const double* dw) {
  double f1[3], f3[3];
  Angle out;
  turned(R, measurement->e[1], f1);
  turned(R, measurement->e[3], f3);
  const Part s = part_of(measurement->e[0], f1, w, r, dw), c = part_of(measurement->e[2], f3, w, r, dw);
  const double r2 = s.value * s.value + c.value * c.value;
  const double d_r2 = 2 * (s.value * s.d_value + c.value * c.d_value);
  for (int i = 0; i < 3; i++) {
    out.row[i] = (c.value * s.row[i] - s.value * c.row[i]) / r2;
    out.d_row[i] = (c.d_value * s.row[i] + c.value * s.d_row[i] - s.d_value * c.row[i] - s.value * c.d_row[i] -
                    d_r2 * out.row[i]) /
                   r2;
  }
  const double rate = srm_dot3(out.row, w), d_rate = srm_dot3(out.d_row, w) + srm_dot3(out.row, dw);
  const double grows = s.value * s.rate + c.value * c.rate;
  const double d_grows = s.d_value * s.rate + s.value * s.d_rate + c.d_value * c.rate + c.value * c.d_rate;
  out.bias = (c.value * s.second - s.value * c.second - 2 * rate * grows) / r2;
  out.d_bias = (c.d_value * s.second + c.value * s.d_second - s.d_value * c.second - s.value * c.d_second -
                2 * (d_rate * grows + rate * d_grows) - d_r2 * out.bias) /
               r2;
  return out;
}

// ---- rows -----------------------------------------------------------------------------------------------------------------

static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, none[3] = {0, 0, 0};

void sr_measurement_jacobian(const srMeasurement* measurement, int k, const double* R, double* h, double* L) {
  memset(h, 0, 6 * sizeof *h);
  memset(L, 0, 36 * sizeof *L);
  if (measurement->kind == SR_MEASUREMENT_SLIDE) {
    memcpy(h + 3, measurement->e[0], 3 * sizeof *h);
    return;
  }
  const int shift = measurement->kind == SR_MEASUREMENT_ORIGIN ? 3 : 0;
  double f[3];
  if (measurement->kind != SR_MEASUREMENT_ANGLE) turned(R, unit[k], f);
  for (int i = 0; i < 3; i++) {
    double dh[3];
    if (measurement->kind == SR_MEASUREMENT_ANGLE) {
      const Angle angle = angle_of(measurement, R, none, unit[i], none);
      memcpy(h, angle.row, sizeof angle.row);
      memcpy(dh, angle.d_row, sizeof dh);
    } else {
      memcpy(h + shift, f, sizeof f);
      srm_cross3(unit[i], f, dh);
    }
    for (int j = 0; j < 3; j++) L[6 * (shift + j) + i] = dh[j];
  }
}

// (L t).t and its change where the pose rotates by r and t changes by dt.
static double bias_of(const srMeasurement* measurement, int k, const double* R, const double* t, const double* r,
                      const double* dt, double* change) {
  *change = 0;
  if (measurement->kind == SR_MEASUREMENT_ANGLE) {
    const Angle angle = angle_of(measurement, R, t, r, dt);
    *change = angle.d_bias;
    return angle.bias;
  }
  if (measurement->kind != SR_MEASUREMENT_ORIGIN) return 0;
  double f[3], df[3], wf[3], dwf[3], wdf[3];
  turned(R, unit[k], f);
  srm_cross3(r, f, df);
  srm_cross3(t, f, wf);
  srm_cross3(dt, f, dwf);
  srm_cross3(t, df, wdf);
  *change = srm_dot3(dt + 3, wf) + srm_dot3(t + 3, dwf) + srm_dot3(t + 3, wdf);
  return srm_dot3(t + 3, wf);
}

// ---- accelerations ----------------------------------------------------------------------------------------------------------

// The rate of column j: k rotates it, or moves its lever arm,
//   dc_j/dt = (before_w x w_j, before_w x u_j + w_j x beyond_u)
// before: sum of c_k v_k over those that rotate j, beyond: over the others
static void add_rate(const double* c, const double* before, const double* beyond, double by, double* out) {
  double one[3], two[3], three[3];
  srm_cross3(before, c, one);
  srm_cross3(before, c + 3, two);
  srm_cross3(c, beyond + 3, three);
  for (int i = 0; i < 3; i++) {
    out[i] += by * one[i];
    out[3 + i] += by * (two[i] + three[i]);
  }
}

typedef struct Sums {
  double before[SR_MEASUREMENT_CHAIN][6], beyond[SR_MEASUREMENT_CHAIN][6];
} Sums;

// Of columns c, or of their changes. Those that rotate j are the first ones of the chain.
static void sums_of(const srChain* x, const double* c, Sums* out) {
  double sum[6] = {0};
  int k = 0;
  for (int j = 0; j < x->n; j++) {
    for (; k < x->n && x->turn[2 * k] <= j; k++) {
      for (int i = 0; i < 6; i++) sum[i] += x->v[x->dof[k]] * c[6 * k + i];
    }
    memcpy(out->before[j], sum, sizeof sum);
  }
  for (; k < x->n; k++) {
    for (int i = 0; i < 6; i++) sum[i] += x->v[x->dof[k]] * c[6 * k + i];
  }
  for (int j = 0; j < x->n; j++) {
    for (int i = 0; i < 6; i++) out->beyond[j][i] = sum[i] - out->before[j][i];
  }
}

void sr_chain_acceleration(const srChain* x, const double* a, srChainAcceleration* out) {
  const double* c = x->c;
  double dc[6 * SR_MEASUREMENT_CHAIN];
  Sums sums, change;
  memset(out, 0, sizeof *out);
  sums_of(x, c, &sums);
  for (int j = 0; j < x->n; j++) {
    for (int i = 0; i < 6; i++) {
      out->value[i] += a[x->dof[j]] * c[6 * j + i];
      out->by_v[j][i] = x->dt[6 * j + i];
    }
    add_rate(c + 6 * j, sums.before[j], sums.beyond[j], x->v[x->dof[j]], out->value);
    add_rate(c + 6 * j, sums.before[j], sums.beyond[j], 1, out->by_v[j]);
  }
  for (int l = 0; l < x->n; l++) {
    for (int j = 0; j < x->n; j++) sr_chain_second(x, j, l, dc + 6 * j);
    sums_of(x, dc, &change);
    for (int j = 0; j < x->n; j++) {
      const double rate = x->v[x->dof[j]];
      for (int i = 0; i < 6; i++) out->by_q[l][i] += a[x->dof[j]] * dc[6 * j + i];
      add_rate(dc + 6 * j, sums.before[j], sums.beyond[j], rate, out->by_q[l]);
      add_rate(c + 6 * j, change.before[j], change.beyond[j], rate, out->by_q[l]);
    }
  }
}

double sr_measurement_acceleration_jacobian(const srMeasurement* measurement, int k, const srChain* x,
                                            const srChainAcceleration* accel, double* by_q, double* by_v) {
  double h[6], L[36], value = 0;
  sr_measurement_jacobian(measurement, k, x->R, h, L);
  for (int l = 0; l < x->n; l++) {
    const double* cl = x->c + 6 * l;
    double change_q, change_v, turn = 0;
    value = dot6(h, accel->value) + bias_of(measurement, k, x->R, x->t, cl, x->dt + 6 * l, &change_q);
    (void)bias_of(measurement, k, x->R, x->t, none, cl, &change_v);
    for (int i = 0; i < 6; i++) turn += accel->value[i] * dot6(L + 6 * i, cl);
    by_q[l] = turn + dot6(h, accel->by_q[l]) + change_q;
    by_v[l] = dot6(h, accel->by_v[l]) + change_v;
  }
  return value;
}
