// A plugin with a constraint, a sensor and a function of two arguments, each of which the model's language has too: frame_laws.xml compares them.
#include <math.h>
#include <sarrus/closure.h>
#include <sarrus/force.h>
#include <sarrus/sensor.h>

// |d| = l, as the closure 'rod'.
static int rope(const srClosureLawIn* in, srClosureLawOut* out) {
  const double l = in->p[0];
  out->g[0] = -l / 2;
  for (int k = 0; k < 3; ++k) {
    out->g[0] += in->d[k] * in->d[k] / (2 * l);
    out->W[0][3 + k] = in->d[k] / l;
    out->bias[0] += in->u[k] * in->u[k] / l;
  }
  return 0;
}

// Distance from the observer.
static int distance(const srSensorIn* in, double* value) {
  const double* p = in->position;
  *value = in->p[0] * sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  return 0;
}

// x^2 y and its derivatives.
static double product(const void* self, double x, double y, int order_x, int order_y) {
  const double by_x[3] = {x * x, 2 * x, 2}, by_y[2] = {y, 1};
  (void)self;
  return order_x < 3 && order_y < 2 ? by_x[order_x] * by_y[order_y] : 0;
}

int sarrus_plugin(srPlugin* plugin);
int sarrus_plugin(srPlugin* plugin) {
  static const char* const rows[] = {"length"};
  static const srClosureLaw closure = {"rope", 1, 1, rows, rope};
  static const srSensorLaw sensor = {"distance", 1, distance};
  static const srFunction2 function = {"product", product, 0};
  if (plugin->abi != SR_PLUGIN_ABI) return 1;
  plugin->add_closure(plugin->host, &closure);
  plugin->add_sensor(plugin->host, &sensor);
  plugin->add_function2(plugin->host, &function);
  return 0;
}
