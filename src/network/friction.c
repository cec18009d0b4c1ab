// A friction law (friction.h) as an impedance over n velocities: Kikuuwe and Yamamoto, eq 19. A law gives the force that resists; the body
// gets it with minus.
#include <string.h>

#include "network/network.h"

typedef struct Friction {
  const srFrictionLaw* law;
  srFrictionParameters p;
  int n;
  double Fs, Fk;
} Friction;

static int evaluate(void* self, const srImpedanceIn* in, srImpedanceOut* out) {
  const Friction* c = self;
  const srFrictionIn law_in = {
      .n = c->n, .v = in->xdot, .e = in->y, .tau = in->tau, .Fs = c->Fs, .Fk = c->Fk, .D = c->p.D, .p = &c->p};
  srFrictionOut law_out = {.f = out->f, .edot = out->ydot};
  const int answer = c->law->evaluate(&law_in, &law_out);
  for (int i = 0; i < c->n; ++i) out->f[i] = -out->f[i];
  out->dissipated = law_out.dissipation;
  return answer;
}

int sr_network_friction(srNetwork* n, const char* name, const srFrictionLaw* law, const srFrictionParameters* p,
                        int directions, double Fs, double Fk) {
  if (!sr_net_open(n) || !sr_net_good_name(n, name)) return SR_REFUSED;
  if (!law || directions < 1 || directions > SR_FRICTION_MAX_N) {
    sr_net_error(n, "the friction '%s' needs a law and 1 to %d directions, not %d", name, SR_FRICTION_MAX_N,
                 directions);
    return SR_REFUSED;
  }
  char reason[300];
  const srFrictionParameters all = p ? *p : sr_friction_defaults();
  if (law->set_valued) {
    sr_net_error(n, "the friction '%s' cannot use '%s': its force at rest is not a function of the motion", name,
                 law->name);
    return SR_REFUSED;
  }
  if (sr_friction_refusal(law, &all, SR_NET_TAU, Fs, Fk, reason, sizeof reason)) {
    sr_net_error(n, "the friction '%s' is not possible: %s", name, reason);
    return SR_REFUSED;
  }
  const Friction friction = {law, all, directions, Fs, Fk};
  void* self = sr_net_keep(n, &friction, sizeof friction);
  if (!self) return SR_REFUSED;
  const srElementForm form = {0, directions, directions, sr_friction_states(law, &all, directions), NULL, evaluate};
  return sr_net_name(n, sr_network_element(n, name, &form, self), sr_names_friction(directions));
}
