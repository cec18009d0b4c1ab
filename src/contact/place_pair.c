// A sphere on a plane, on a sphere, within a hollow one or a bore: closed forms, independent of rotations of b.
//   plane     n = z,       gap = n.x - R_b            sphere    n = x/|x|,   gap = |x| - R_a - R_b
//   A hollow sphere a has R_a < 0 and holds b within: n = -x/|x|, gap = -|x| - R_a - R_b.
//   A bore is the same across its axis z; along it nothing changes.
//   gap' = n.u,  r from b's centre to the point of contact, along n, so that the normal force has no moment:
//   plane     r = -R_b n, as Kikuuwe and Yamamoto               sphere    r = -(R_b + gap/2) n, the middle of the overlap: symmetric in a and b
#include "collide/pair.h"
#include "contact/place.h"
#include "math/pose.h"

// P a, of a bore less what is along z: what changes n.
static void turning_part(const srPairPlace* pair, const double* n, const double* a, double* out) {
  sr_flat(n, a, out);
  if (pair->straight) out[2] = 0;
}

static int place(const srImpedanceIn* in, srContactPlace* out) {
  const srSurfaceLaws* c = in->data;
  const double* u = in->xdot + 3;
  srPairPlace at;
  srNormalOut normal;
  c->pair->place(c->radius, in->x + 3, &at);
  const int answer = sr_normal_force(c, -at.gap, -srm_dot3(at.n, u), in->z, &normal);
  turning_part(&at, at.n, u, out->turning);
  out->N = out->N_spin = normal.f;
  out->dissipation = normal.dissipation;
  for (int i = 0; i < 3; i++) {
    out->n[i] = at.n[i];
    out->r[i] = -at.arm * at.n[i];
    out->turning[i] *= at.curve;
    out->force[i] = normal.f * at.n[i];
    out->moment[i] = 0;
  }
  sr_place_motion(in, out);
  return answer;
}

// Direction j: n' = P dx/|x|, and so on down the formulas. by: derivatives of the normal force.
static void change_along(const srImpedanceIn* in, const srPairPlace* pair, const srContactPlace* at, const double by[2],
                         int j, srContactChange* d) {
  const double* u = in->xdot + 3;
  double dx[3] = {0}, du[3] = {0}, pu[3], dpu[3];
  if (j >= 3 && j < 6) dx[j - 3] = 1;
  if (j >= 9) du[j - 9] = 1;
  const double along = srm_dot3(at->n, dx);
  turning_part(pair, at->n, dx, d->n);
  for (int i = 0; i < 3; i++) {
    d->n[i] *= pair->curve;
    d->r[i] = -pair->arm * d->n[i] - pair->share * along * at->n[i];
  }
  d->N = d->N_spin = -by[0] * along - by[1] * (srm_dot3(at->n, du) + srm_dot3(d->n, u));
  turning_part(pair, at->n, u, pu);
  sr_flat_change(at->n, d->n, u, du, dpu);
  if (pair->straight) dpu[2] = 0;
  for (int i = 0; i < 3; i++) {
    d->turning[i] = pair->curve * (dpu[i] - pair->curve * along * pu[i]);
    d->force[i] = d->N * at->n[i] + at->N * d->n[i];
  }
  sr_change_motion(in, at, j, d);
}

static int change(const srImpedanceIn* in, const srContactPlace* at, srContactChange out[12]) {
  const srSurfaceLaws* c = in->data;
  srPairPlace pair;
  double by[2];
  c->pair->place(c->radius, in->x + 3, &pair);
  const int answer = sr_normal_force_jacobian(c, -pair.gap, -srm_dot3(pair.n, in->xdot + 3), in->z, by);
  for (int j = 0; j < 12; j++) {
    out[j] = (srContactChange){0};
    if (j < 3) sr_change_motion(in, at, j, &out[j]);  // a rotation of b turns its moving surface
    if (j >= 3) change_along(in, &pair, at, by, j, &out[j]);
  }
  return answer;
}

static double energy(const srImpedanceIn* in) {
  const srSurfaceLaws* c = in->data;
  srPairPlace at;
  c->pair->place(c->radius, in->x + 3, &at);
  return sr_normal_force_energy(c, -at.gap, in->z);
}

const srContactGeometry sr_place_pair = {place, change, energy};
