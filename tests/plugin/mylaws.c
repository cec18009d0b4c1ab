// A plugin with one law of each kind and a function, each of which the model's language can also say by a formula
// (formulas.xml): both models must move alike.
#include <math.h>
#include <sarrus/force.h>

// Maxwell element on a joint: spring k behind damper c. Its state is the place where the two meet.
//   f = -k (x - y),  y' = k/c (x - y)
static int maxwell(const srImpedanceIn* in, srImpedanceOut* out) {
  const double k = in->p[0], c = in->p[1], stretch = in->x[0] - in->y[0];
  out->f[0] = -k * stretch;
  out->ydot[0] = k / c * stretch;
  out->dissipated = k * k / c * stretch * stretch;
  return 0;
}

static double maxwell_energy(const srImpedanceIn* in) {
  const double stretch = in->x[0] - in->y[0];
  return 0.5 * in->p[0] * stretch * stretch;
}

// Hardening spring between two points: f = -k (z - z0)^3.
static int hardening(const srImpedanceIn* in, srImpedanceOut* out) {
  const double stretch = in->x[0] - in->p[1];
  if (in->x[0] > 100.0) return 1;  // torn: no state that a motion reaches
  out->f[0] = -in->p[0] * stretch * stretch * stretch;
  return 0;
}

static double hardening_energy(const srImpedanceIn* in) {
  const double stretch = in->x[0] - in->p[1];
  return 0.25 * in->p[0] * pow(stretch, 4.0);
}

// Drag at a point: force -c v, moment -c w/10.
static int drag(const srImpedanceIn* in, srImpedanceOut* out) {
  for (int i = 0; i < 3; ++i) {
    out->f[i] = -0.1 * in->p[0] * in->xdot[i];
    out->f[3 + i] = -in->p[0] * in->xdot[3 + i];
  }
  return 0;
}

// x^3 and its derivatives.
static double cube(const void* self, double x, int order) {
  const double value[4] = {x * x * x, 3.0 * x * x, 6.0 * x, 6.0};
  (void)self;
  return order < 4 ? value[order] : 0.0;
}

int sarrus_plugin(srPlugin* plugin);
int sarrus_plugin(srPlugin* plugin) {
  static const char* const maxwell_words[] = {"k", "c"};
  static const char* const hardening_words[] = {"k", "z0"};
  static const double maxwell_start[] = {0.2};
  static const srImpedance laws[] = {
      {"maxwell", SR_PORT_JOINT, 2, maxwell_words, 1, maxwell_start, maxwell, maxwell_energy},
      {"hardening", SR_PORT_DISTANCE, 2, hardening_words, 0, 0, hardening, hardening_energy},
      {"drag", SR_PORT_POINT, 1, 0, 0, 0, drag, 0},
  };
  static const srFunction function = {"cube", cube, 0};
  if (plugin->abi != SR_PLUGIN_ABI) return 1;
  for (unsigned i = 0; i < sizeof laws / sizeof laws[0]; ++i) plugin->add_impedance(plugin->host, &laws[i]);
  plugin->add_function(plugin->host, &function);
  return 0;
}
