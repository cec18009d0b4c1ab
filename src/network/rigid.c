// Rigid body: Kikuuwe and Yamamoto, eq 25 and 26. States p, v, q, w: 13.
//   p' = v,   v' = f/M,   q' = 1/2 q (0, w),   w' = J^-1 (R^T tau - w x J w)
// w and J in the body's axes, where J is constant; f, tau and all outputs in inertial axes. (Kikuuwe and Yamamoto leave the axes open; their
// body is a sphere.) Rotations take q as normalised, `accepted` makes it so.
#include <math.h>
#include <string.h>

#include "math/pose.h"
#include "network/network.h"

enum { MASS, INERTIA, INVERSE = 10, PARAMETERS = 19 };

void sr_net_unit_quaternion(const double* q, double out[4]) {
  const double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int i = 0; i < 4; ++i) out[i] = norm > 0.0 ? q[i] / norm : i == 0;
}

// u + 2 s (c x u) + 2 c x (c x u), q = (s, c)
void sr_net_rotate(const double q[4], const double u[3], double out[3]) {
  double once[3], twice[3];
  srm_cross3(q + 1, u, once);
  srm_cross3(q + 1, once, twice);
  for (int i = 0; i < 3; ++i) out[i] = u[i] + 2.0 * (q[0] * once[i] + twice[i]);
}

void sr_net_rotate_back(const double q[4], const double u[3], double out[3]) {
  const double back[4] = {q[0], -q[1], -q[2], -q[3]};
  sr_net_rotate(back, u, out);
}

static void multiply(const double* A, const double* u, double* out) {
  for (int i = 0; i < 3; ++i) out[i] = A[3 * i] * u[0] + A[3 * i + 1] * u[1] + A[3 * i + 2] * u[2];
}

static int rates(const srAdmittanceIn* in, double* xdot) {
  const double *v = in->x + 3, *q = in->x + 6, *w = in->x + 10;
  double unit[4], moment[3], momentum[3], gyroscopic[3];
  sr_net_unit_quaternion(q, unit);
  sr_net_rotate_back(unit, in->u + 3, moment);
  multiply(in->p + INERTIA, w, momentum);
  srm_cross3(w, momentum, gyroscopic);
  for (int i = 0; i < 3; ++i) {
    xdot[i] = v[i];
    xdot[3 + i] = in->u[i] / in->p[MASS];
    moment[i] -= gyroscopic[i];
  }
  xdot[6] = -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]);
  xdot[7] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
  xdot[8] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
  xdot[9] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
  multiply(in->p + INVERSE, moment, xdot + 10);
  return 0;
}

static int motion(const srAdmittanceIn* in, double* out) {
  memcpy(out, in->x, 6 * sizeof *out);
  sr_net_unit_quaternion(in->x + 6, out + 6);
  sr_net_rotate(out + 6, in->x + 10, out + 10);
  return 0;
}

static int accepted(const srAdmittanceIn* in, double* x) {
  double unit[4];
  (void)in;
  sr_net_unit_quaternion(x + 6, unit);
  memcpy(x + 6, unit, sizeof unit);
  return 0;
}

const srAdmittance sr_admittance_rigid = {.name = "rigid body",
                                          .np = PARAMETERS,
                                          .nx = 13,
                                          .nu = 6,
                                          .nout = 13,
                                          .rates = rates,
                                          .motion = motion,
                                          .accepted = accepted};

// The inverse of a symmetric positive definite J by its cofactors; false: it is not one.
static bool invert(const double* J, double* inverse) {
  double scale = 0.0;
  for (int i = 0; i < 9; ++i) scale = fmax(scale, fabs(J[i]));
  if (!isfinite(scale)) return false;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < i; ++k) {
      if (fabs(J[3 * i + k] - J[3 * k + i]) > 1e-12 * scale) return false;
    }
  }
  srm_cross3(J + 3, J + 6, inverse);
  srm_cross3(J + 6, J, inverse + 3);
  srm_cross3(J, J + 3, inverse + 6);
  const double determinant = srm_dot3(J, inverse);
  if (!(J[0] > 0.0 && J[0] * J[4] - J[1] * J[3] > 0.0 && determinant > 0.0)) return false;
  for (int i = 0; i < 9; ++i) inverse[i] /= determinant;
  return true;
}

int sr_network_body(srNetwork* n, const char* name, const srRigidDef* def) {
  double p[PARAMETERS] = {def->mass}, x0[13], q[4];
  if (!sr_net_open(n) || !sr_net_good_name(n, name)) return SR_REFUSED;
  if (!(def->mass > 0.0)) {
    sr_net_error(n, "the component '%s' is not possible: its mass must be positive", name);
    return SR_REFUSED;
  }
  memcpy(p + INERTIA, def->inertia, sizeof def->inertia);
  if (!invert(def->inertia, p + INVERSE)) {
    sr_net_error(n, "the component '%s' is not possible: its inertia must be symmetric and positive definite", name);
    return SR_REFUSED;
  }
  sr_net_unit_quaternion(def->q, q);
  memcpy(x0, def->p, 3 * sizeof *x0);
  memcpy(x0 + 3, def->v, 3 * sizeof *x0);
  memcpy(x0 + 6, q, sizeof q);
  sr_net_rotate_back(q, def->w, x0 + 10);
  srAdmittance admittance = sr_admittance_rigid;
  admittance.x0 = x0;
  return sr_net_name(n, sr_network_admittance(n, name, &admittance, p, PARAMETERS, NULL), &sr_names_rigid);
}
