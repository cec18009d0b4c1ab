// Helical closure, 5 rows: b stays on the axis through a, its axis is that of a, and it advances by pitch per radian.
//   s = t2.(R t1),  c = t1.(R t1),  phi = atan2(s, c);    g = n.d - pitch phi, taken modulo 2 pi pitch
//   phi' = (c s' - s c') / (s^2 + c^2)
// The angle of many turns is not a function of the pose, but the residual is: the nearest thread is the one that b is on, as
// long as it has not slipped by half a turn. No counter of turns is needed.
#include "constraint/closure.h"

#include <math.h>

#include "math/pose.h"

static const double pi = 3.14159265358979323846;

typedef struct Angle {
  double value, row[3], bias;  // phi, phi' = row.w, phi'' = row.w' + bias
} Angle;

static Angle angle_about(const srClosure* c, const srClosureIn* in) {
  double f[3], turn[3], twice[3], e[3];
  Angle out;
  sr_turned(in, c->frame[0], f);
  srm_cross3(in->w, f, turn);
  srm_cross3(in->w, turn, twice);
  const double sine = srm_dot3(c->frame[1], f), cosine = srm_dot3(c->frame[0], f);
  const double r2 = sine * sine + cosine * cosine;
  for (int k = 0; k < 3; k++) e[k] = (cosine * c->frame[1][k] - sine * c->frame[0][k]) / r2;
  const double s1 = srm_dot3(c->frame[1], turn), c1 = srm_dot3(c->frame[0], turn);
  out.value = atan2(sine, cosine);
  srm_cross3(f, e, out.row);
  out.bias = srm_dot3(e, twice) - srm_dot3(out.row, in->w) * 2 * (sine * s1 + cosine * c1) / r2;
  return out;
}

static const char* setup(srClosure* c) {
  if (!c->has_pitch) return "a helical closure needs 'pitch', its advance per radian";
  if (c->pitch == 0) return "the 'pitch' of a helical closure is zero: use a revolute closure";
  c->np = 5;
  sr_name_cross_translation(c, 0);
  sr_name_tilt(c, 2);
  c->row_name[4] = "advance along the axis";
  return NULL;
}

static int evaluate(const srClosure* c, const srClosureIn* in, srClosureOut* out, const char** why) {
  (void)why;
  for (int k = 0; k < 2; k++) sr_row_displacement(in, c->frame[k], k, out);
  sr_row_tilt(c, in, 2, out);
  sr_row_displacement(in, c->frame[2], 4, out);
  const Angle angle = angle_about(c, in);
  out->g[4] = -c->pitch * remainder(angle.value - out->g[4] / c->pitch, 2 * pi);
  out->bias[4] = -c->pitch * angle.bias;
  for (int k = 0; k < 3; k++) out->W[4][k] = -c->pitch * angle.row[k];
  return 0;
}

// Of the angle: its row is f x e with e = (c t2 - s t1)/r^2.
static void slope(const srClosure* c, const srClosureIn* in, const double* lambda, double* L) {
  double f[3];
  sr_slope_tilt(c, in, lambda + 2, L);
  sr_turned(in, c->frame[0], f);
  const double sine = srm_dot3(c->frame[1], f), cosine = srm_dot3(c->frame[0], f);
  const double r2 = sine * sine + cosine * cosine;
  for (int j = 0; j < 3; j++) {
    const double s[3] = {j == 0, j == 1, j == 2};
    double e[3], de[3], df[3], one[3], two[3];
    srm_cross3(s, f, df);
    const double s1 = srm_dot3(c->frame[1], df), c1 = srm_dot3(c->frame[0], df);
    const double d_r2 = 2 * (sine * s1 + cosine * c1);
    for (int k = 0; k < 3; k++) {
      e[k] = (cosine * c->frame[1][k] - sine * c->frame[0][k]) / r2;
      de[k] = (c1 * c->frame[1][k] - s1 * c->frame[0][k] - d_r2 * e[k]) / r2;
    }
    srm_cross3(df, e, one);
    srm_cross3(f, de, two);
    for (int k = 0; k < 3; k++) L[6 * k + j] -= c->pitch * lambda[4] * (one[k] + two[k]);
  }
}

const srClosureKind sr_closure_helical = {
    .observer = SR_OBSERVER_A, .axial = true, .setup = setup, .evaluate = evaluate, .slope = slope};
