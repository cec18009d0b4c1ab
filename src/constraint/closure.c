// Building blocks of loop-closure equations. Rodrigues da Silva et al. (2024), eq 1 to 6, with corrected quadratic terms: here they
// follow from R' = [w] R alone, in the observer's frame, where its own motion does not appear.
#include "constraint/closure.h"

#include <math.h>
#include <string.h>

#include "math/pose.h"
#include "math/v4.h"

const char* const sr_row_translation[6] = {"translation along x",  "translation along y",  "translation along z",
                                           "translation along x'", "translation along y'", "translation along z'"};
const char* const sr_row_rotation[6] = {"rotation about x",  "rotation about y",  "rotation about z",
                                        "rotation about x'", "rotation about y'", "rotation about z'"};

int sr_row_axis(const double e[3], int other) {
  for (int k = 0; k < 3; k++) {
    if (fabs(e[k]) > 1 - 1e-9) return k;
  }
  return 3 + other;
}

void sr_turned(const srClosureIn* in, const double f[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = srm_dot3(in->R + 3 * i, f);
}

void sr_row_origin(const srClosureIn* in, srClosureOut* out) {
  for (int k = 0; k < 3; k++) {
    out->g[k] = in->d[k];
    out->W[k][3 + k] = 1;
  }
}

void sr_row_displacement(const srClosureIn* in, const double e[3], int i, srClosureOut* out) {
  out->g[i] = srm_dot3(e, in->d);
  memcpy(out->W[i] + 3, e, 3 * sizeof *e);
}

void sr_row_cosine(const srClosureIn* in, const double e[3], const double f[3], double scale, double offset, int i,
                   srClosureOut* out) {
  double Rf[3], turn[3], twice[3];
  sr_turned(in, f, Rf);
  srm_cross3(Rf, e, out->W[i]);
  srm_cross3(in->w, Rf, turn);
  srm_cross3(in->w, turn, twice);
  out->g[i] = scale * (srm_dot3(e, Rf) - offset);
  for (int k = 0; k < 3; k++) out->W[i][k] *= scale;
  out->bias[i] = scale * srm_dot3(e, twice);
}

// sr_row_cosine of (-t2, n) and (t1, n), which share R n and its acceleration.
SRM_CLONES void sr_row_tilt(const srClosure* c, const srClosureIn* in, int i, srClosureOut* out) {
  double Rn[3];
  sr_turned(in, c->frame[2], Rn);
  const v4 t1 = v4_xyz(c->frame[0]), t2 = v4_xyz(c->frame[1]), w = v4_xyz(in->w), turned = v4_xyz(Rn);
  const v4 twice = v4_cross(w, v4_cross(w, turned));
  out->g[i] = -v4_dot(t2, turned);
  out->g[i + 1] = v4_dot(t1, turned);
  v4_put3(out->W[i], v4_cross(t2, turned));
  v4_put3(out->W[i + 1], v4_cross(turned, t1));
  out->bias[i] = -v4_dot(t2, twice);
  out->bias[i + 1] = v4_dot(t1, twice);
}

void sr_row_orientation(const srClosureIn* in, int i, srClosureOut* out) {
  double q[4];
  srm_quaternion_from_rows(in->R, q);
  const double w2 = srm_dot3(in->w, in->w);
  for (int k = 0; k < 3; k++) {
    const int next = (k + 1) % 3, last = (k + 2) % 3;
    out->g[i + k] = 2 * q[1 + k];
    out->W[i + k][k] = q[0];  // (q0 1 - [qv]) w = q0 w + w x qv
    out->W[i + k][next] = q[1 + last];
    out->W[i + k][last] = -q[1 + next];
    out->bias[i + k] = -0.5 * w2 * q[1 + k];
  }
}

void sr_name_translation(srClosure* c, int i) {
  for (int k = 0; k < 3; k++) c->row_name[i + k] = sr_row_translation[k];
}

void sr_name_cross_translation(srClosure* c, int i) {
  for (int k = 0; k < 2; k++) c->row_name[i + k] = sr_row_translation[sr_row_axis(c->frame[k], k)];
}

void sr_name_tilt(srClosure* c, int i) {
  for (int k = 0; k < 2; k++) c->row_name[i + k] = sr_row_rotation[sr_row_axis(c->frame[k], k)];
}

void sr_name_orientation(srClosure* c, int i) {
  for (int k = 0; k < 3; k++) c->row_name[i + k] = sr_row_rotation[k];
}
