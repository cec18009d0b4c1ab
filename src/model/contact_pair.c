// What depends on the two shapes of a contact, and the layout of its bristles among its states.
#include <math.h>

#include "base/base.h"
#include "collide/pair.h"
#include "model/private.h"

// Resistance to rolling and spinning: the law of sliding, with bristles at the lever arm R of the smaller sphere.
static void resist(const srSurfaceLaws* x, srDryFriction* to, int n, double R) {
  const double lever = to->s;
  if (!(lever > 0) || !x->slip.law) {
    *to = (srDryFriction){0};
    return;
  }
  *to = x->slip;
  to->n = n;
  to->s = to->k = lever;
  to->p.K *= R * R;
  to->p.B *= R * R;
  to->p.D *= R * R;
  to->p.v0 /= R;
  to->p.v1 /= R;
  to->p.vs /= R;
  to->p.xi *= R;
}

void sr_contact_of_pair(srSurfaceLaws* x, const srPairKind* pair, srElastic one, srElastic two) {
  const double R = fmin(fabs(one.R), fabs(two.R));
  x->pair = pair;
  x->radius[0] = one.R;
  x->radius[1] = two.R;
  x->slip.n = pair->nt;
  if (isnan(x->p.K) && (x->law->uses & SR_NORMAL_USES(K)) != 0) x->p.K = sr_hertz_stiffness(one, two);
  sr_normal_prepare(x->law, &x->p);
  resist(x, &x->roll, pair->nt, R);
  resist(x, &x->spin, 1, R);
}

int sr_contact_states(srSurfaceLaws* x) {
  srDryFriction* part[] = {&x->slip, &x->roll, &x->spin};
  int n = 0;
  for (int k = 0; k < SR_COUNT(part); k++) {
    if (!part[k]->law) continue;
    part[k]->e = n;
    part[k]->ne = sr_friction_states(part[k]->law, &part[k]->p, part[k]->n);
    n += part[k]->ne;
  }
  return n;
}
