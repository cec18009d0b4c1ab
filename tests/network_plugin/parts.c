// A shared library with an impedance and an admittance of a third party.
#include <sarrus/admittance.h>
#include <sarrus/force.h>

// Maxwell element on a joint: spring k behind damper c; its state is the place where the two meet.
//   f = -k (x - y),  y' = k/c (x - y)
static int maxwell(const srImpedanceIn* in, srImpedanceOut* out) {
  const double k = in->p[0], c = in->p[1], stretch = in->x[0] - in->y[0];
  out->f[0] = -k * stretch;
  out->ydot[0] = k / c * stretch;
  return 0;
}

// Rotor: I w' = u + load. States and outputs: angle, rate.
static int rotor_rates(const srAdmittanceIn* in, double* xdot) {
  xdot[0] = in->x[1];
  xdot[1] = (in->u[0] + in->p[1]) / in->p[0];
  return 0;
}

static int rotor_motion(const srAdmittanceIn* in, double* out) {
  out[0] = in->x[0];
  out[1] = in->x[1];
  return 0;
}

static const char* rotor_refuse(const double* p, int np) {
  (void)np;
  return p[0] > 0.0 ? 0 : "its inertia must be positive";
}

int sarrus_plugin(srPlugin* plugin);
int sarrus_plugin(srPlugin* plugin) {
  static const char* const maxwell_words[] = {"k", "c"};
  static const char* const rotor_words[] = {"inertia", "load"};
  static const double meets_at[] = {0.2}, turned[] = {0.6, -0.5};
  static const srImpedance law = {.name = "maxwell",
                                  .port = SR_PORT_JOINT,
                                  .np = 2,
                                  .parameters = maxwell_words,
                                  .ny = 1,
                                  .y0 = meets_at,
                                  .evaluate = maxwell};
  static const srAdmittance rotor = {.name = "rotor",
                                     .np = 2,
                                     .parameters = rotor_words,
                                     .nx = 2,
                                     .nu = 1,
                                     .nout = 2,
                                     .x0 = turned,
                                     .rates = rotor_rates,
                                     .motion = rotor_motion,
                                     .refuse = rotor_refuse};
  if (plugin->abi != SR_PLUGIN_ABI) return 1;
  plugin->add_impedance(plugin->host, &law);
  plugin->add_admittance(plugin->host, &rotor);
  return 0;
}
