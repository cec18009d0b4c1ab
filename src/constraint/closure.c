// Building blocks of loop-closure equations. Rodrigues da Silva et al. (2024), eq 1 to 6, with corrected quadratic terms: here they
// follow from R' = [w] R alone, in the observer's frame, where its own motion does not appear.
#include "constraint/closure.h"

#include <math.h>
#include <string.h>

#include "math/pose.h"

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

void sr_row_tilt(const srClosure* c, const srClosureIn* in, int i, srClosureOut* out) {
  sr_row_cosine(in, c->frame[1], c->frame[2], -1, 0, i, out);
  sr_row_cosine(in, c->frame[0], c->frame[2], 1, 0, i + 1, out);
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
