// A wheel with a tyre: as it rolls, bristles leave the contact at its rear and others enter it straight at its front. A single point with the relaxation length
// sigma (Pacejka 2012, sections 3.2 and 7.2): with V the speed at which the surface of the wheel passes through the contact,
//   e' = (law's e') - V/sigma e,   V = |P (w x c)|
// so that the law acts at the slip s - V/sigma e instead of s; c is from the centre of the wheel to the point of contact: r where b is the wheel, x + r where a is.
// At a constant slip the force is K sigma s/V (s/V: theoretical slip) up to the limit of the law, after a change it is reached with exp(-distance/sigma). Bristles
// of a wheel that does not turn, locked or at rest, are those of any other shape.
#include <math.h>

#include "contact/place.h"
#include "math/vector3.h"

static void arm_of(const srImpedanceIn* in, const srContactPlace* at, double c[3]) {
  const srSurfaceLaws* laws = in->data;
  for (int i = 0; i < 3; i++) c[i] = at->r[i] + (laws->wheel == 0 ? in->x[3 + i] : 0);
}

void sr_place_wheel(const srImpedanceIn* in, srContactPlace* at) {
  const srSurfaceLaws* laws = in->data;
  double c[3], u[3], V[3];
  at->renewal = 0;
  if (laws->wheel < 0) return;
  arm_of(in, at, c);
  srm_cross3(in->xdot, c, u);
  sr_flat(at->n, u, V);
  at->renewal = srm_norm3(V) / laws->relaxation;
}

void sr_change_wheel(const srImpedanceIn* in, const srContactPlace* at, srContactChange change[12]) {
  const srSurfaceLaws* laws = in->data;
  const double* w = in->xdot;
  double c[3], u[3], V[3];
  for (int j = 0; j < 12; j++) change[j].renewal = 0;
  if (!(at->renewal > 0)) return;
  arm_of(in, at, c);
  srm_cross3(w, c, u);
  sr_flat(at->n, u, V);
  for (int j = 0; j < 12; j++) {
    double dw[3] = {0}, dc[3], du[3], by[3], dV[3];
    if (j >= 6 && j < 9) dw[j - 6] = 1;
    for (int i = 0; i < 3; i++) dc[i] = change[j].r[i] + (laws->wheel == 0 && j == 3 + i);
    srm_cross3(dw, c, du);
    srm_cross3(w, dc, by);
    for (int i = 0; i < 3; i++) du[i] += by[i];
    sr_flat_change(at->n, change[j].n, u, du, dV);
    change[j].renewal = srm_dot3(V, dV) / (srm_norm3(V) * laws->relaxation);
  }
}
