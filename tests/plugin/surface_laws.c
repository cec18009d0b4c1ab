// Laws of friction and contact in a plugin:
//   smooth   f = F v/sqrt(v^2 + v0^2)        no states
//   square   N = K d^2
#include <math.h>
#include <sarrus/force.h>
#include <sarrus/friction.h>
#include <sarrus/normal.h>

static int smooth(const srFrictionIn* in, srFrictionOut* out) {
  double speed2 = 0;
  for (int k = 0; k < in->n; ++k) speed2 += in->v[k] * in->v[k];
  const double c = in->Fk / sqrt(speed2 + in->p->v0 * in->p->v0);
  for (int k = 0; k < in->n; ++k) out->f[k] = c * in->v[k];
  out->dissipation = c * speed2;
  out->sticks = false;
  return 0;
}

static int square(const srNormalIn* in, srNormalOut* out) {
  out->f = out->elastic = in->p->K * in->d * in->d;
  out->dissipation = 0;
  out->clamped = false;
  return 0;
}
static double square_energy(const srNormalIn* in) { return in->p->K * in->d * in->d * in->d / 3; }

int sarrus_plugin(srPlugin* plugin);
int sarrus_plugin(srPlugin* plugin) {
  static const srFrictionLaw friction = {
      .name = "smooth", .about = "a root", .uses = SR_FRICTION_USES(v0), .evaluate = smooth};
  static const srNormalLaw normal = {
      .name = "square", .about = "K d^2", .uses = SR_NORMAL_USES(K), .evaluate = square, .energy = square_energy};
  if (plugin->abi != SR_PLUGIN_ABI) return 1;
  plugin->add_friction(plugin->host, &friction);
  plugin->add_normal(plugin->host, &normal);
  return 0;
}
