// A point on a plane, with friction: Kikuuwe and Yamamoto, eq 23, with the signs turned to the force on the point.
//   d = -(p - p0) . n,   N = normal law(d, d') >= 0         Kikuuwe and Yamamoto: K d + B d', unclamped, which would pull
//   f = N n - friction law(slip; mu N)                     slip: velocity in the plane
// The law of friction works in two fixed directions in the plane.
#include <math.h>
#include <string.h>

#include "math/pose.h"
#include "network/network.h"

typedef struct Plane {
  srPlaneDef def;        // normal of unit length
  double tangent[2][3];  // with the normal a right-handed frame
  long clamps;
} Plane;

static int friction_force(const Plane* c, const srImpedanceIn* in, double N, srImpedanceOut* out) {
  const srPlaneDef* def = &c->def;
  double slip[2], resists[2];
  for (int k = 0; k < 2; ++k) slip[k] = srm_dot3(c->tangent[k], in->xdot);
  const srFrictionIn law_in = {.n = 2,
                               .v = slip,
                               .e = in->y,
                               .tau = in->tau,
                               .Fs = def->mu_s * N,
                               .Fk = def->mu_k * N,
                               .D = def->friction_p.D * N,
                               .p = &def->friction_p};
  srFrictionOut law_out = {.f = resists, .edot = out->ydot};
  const int answer = def->friction->evaluate(&law_in, &law_out);
  if (answer != 0) return answer;
  for (int i = 0; i < 3; ++i) out->f[i] -= resists[0] * c->tangent[0][i] + resists[1] * c->tangent[1][i];
  out->dissipated += law_out.dissipation;
  return 0;
}

static int evaluate(void* self, const srImpedanceIn* in, srImpedanceOut* out) {
  Plane* c = self;
  const srPlaneDef* def = &c->def;
  double gap = 0.0;
  for (int i = 0; i < 3; ++i) gap += (in->x[i] - def->point[i]) * def->normal[i];
  const srNormalIn normal_in = {.d = -gap, .ddot = -srm_dot3(def->normal, in->xdot), .p = &def->normal_p};
  srNormalOut normal = {0};
  if (gap < 0.0) {
    const int answer = def->normal_law->evaluate(&normal_in, &normal);
    if (answer != 0) return answer;
    c->clamps += normal.clamped;
  }
  for (int i = 0; i < 3; ++i) out->f[i] = normal.f * def->normal[i];
  out->dissipated = normal.dissipation;
  return def->friction ? friction_force(c, in, normal.f, out) : 0;
}

// Unit normal, and two directions across it: the first from the axis that it is farthest from.
static bool set_frame(Plane* c) {
  double* normal = c->def.normal;
  const double length = srm_norm3(normal);
  if (!(length > 0.0 && isfinite(length))) return false;
  int away = 0;
  for (int i = 0; i < 3; ++i) {
    normal[i] /= length;
    if (fabs(normal[i]) < fabs(normal[away])) away = i;
  }
  double axis[3] = {0};
  axis[away] = 1.0;
  const double along = normal[away];
  for (int i = 0; i < 3; ++i) c->tangent[0][i] = axis[i] - along * normal[i];
  const double across = srm_norm3(c->tangent[0]);
  for (int i = 0; i < 3; ++i) c->tangent[0][i] /= across;
  srm_cross3(normal, c->tangent[0], c->tangent[1]);
  return true;
}

static bool good_laws(srNetwork* n, const char* name, const srPlaneDef* def) {
  char reason[300];
  if (!def->normal_law) {
    sr_net_error(n, "the plane '%s' needs a normal law", name);
  } else if (def->normal_law->needs_speed) {
    sr_net_error(n, "the plane '%s' cannot use '%s': a network does not locate the first touch", name,
                 def->normal_law->name);
  } else if (sr_normal_refusal(def->normal_law, &def->normal_p, reason, sizeof reason)) {
    sr_net_error(n, "the plane '%s' is not possible: %s", name, reason);
  } else if (def->friction && def->friction->set_valued) {
    sr_net_error(n, "the plane '%s' cannot use '%s': its force at rest is not a function of the motion", name,
                 def->friction->name);
  } else if (def->friction && sr_friction_refusal(def->friction, &def->friction_p, SR_NET_TAU, def->mu_s, def->mu_k,
                                                  reason, sizeof reason)) {
    sr_net_error(n, "the plane '%s' is not possible: %s", name, reason);
  } else {
    return true;
  }
  return false;
}

int sr_network_plane(srNetwork* n, const char* name, const srPlaneDef* def) {
  if (!sr_net_open(n) || !sr_net_good_name(n, name) || !good_laws(n, name, def)) return SR_REFUSED;
  Plane plane = {.def = *def};
  if (!set_frame(&plane)) {
    sr_net_error(n, "the normal of the plane '%s' has no direction", name);
    return SR_REFUSED;
  }
  sr_normal_prepare(def->normal_law, &plane.def.normal_p);
  Plane* self = sr_net_keep(n, &plane, sizeof plane);
  if (!self) return SR_REFUSED;
  const int states = def->friction ? sr_friction_states(def->friction, &def->friction_p, 2) : 0;
  const srElementForm form = {3, 3, 3, states, NULL, evaluate};
  const int i = sr_network_element(n, name, &form, self);
  if (i >= 0) n->component[i].clamps = &self->clamps;
  return sr_net_name(n, i, &sr_names_plane);
}
