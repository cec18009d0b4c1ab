// Point mass: Kikuuwe and Yamamoto, eq 7.   p' = v,   v' = f/M
#include <math.h>
#include <string.h>

#include "network/network.h"

static int rates(const srAdmittanceIn* in, double* xdot) {
  for (int i = 0; i < 3; ++i) {
    xdot[i] = in->x[3 + i];
    xdot[3 + i] = in->u[i] / in->p[0];
  }
  return 0;
}

static int motion(const srAdmittanceIn* in, double* out) {
  memcpy(out, in->x, 6 * sizeof *out);
  return 0;
}

static const char* refuse(const double* p, int np) {
  (void)np;
  return p[0] > 0.0 ? NULL : "its mass must be positive";
}

static const char* const names[] = {"mass"};

const srAdmittance sr_admittance_mass = {.name = "mass",
                                         .np = 1,
                                         .parameters = names,
                                         .nx = 6,
                                         .nu = 3,
                                         .nout = 6,
                                         .rates = rates,
                                         .motion = motion,
                                         .refuse = refuse};

int sr_network_mass(srNetwork* n, const char* name, double mass, const double p[3], const double v[3]) {
  double x0[6] = {0};
  for (int i = 0; i < 3; ++i) {
    x0[i] = p ? p[i] : 0.0;
    x0[3 + i] = v ? v[i] : 0.0;
  }
  srAdmittance admittance = sr_admittance_mass;
  admittance.x0 = x0;
  return sr_net_name(n, sr_network_admittance(n, name, &admittance, &mass, 1, NULL), &sr_names_mass);
}
