// Tangents of a rigid contact. Where friction depends on the direction (contact/place_direction.c) its forces are in an ellipse,
//   (p_1/mu)^2 + (p_2/mu2)^2 <= p_N^2,      p_2 along the direction, p_1 across it
// and of these the one that dissipates most at the slip u acts: max of -p.u over the ellipse (Goyal, Ruina and Papadopoulos 1991). With r = mu2/mu, p_2 = r z_2 and w_2 = r u_2 it is
// max of -z.w over the circle |z| <= mu p_N, since p.u = z.w: Coulomb's law with one coefficient mu, in the tangents t_1 and r t_2. So a contact has these in place of unit
// tangents, and all that solves or integrates contacts has the ellipse without knowing of it. A roller, mu2 = 0, has no second tangent.
// Where the direction is nearly normal, the ellipse becomes a circle as it does there: r = 1 + (mu2/mu - 1) |k|^2.
#include <math.h>

#include "contact/place.h"
#include "math/vector3.h"
#include "model/closure.h"
#include "system/system.h"

// t_2 = m/|m|, t_1 = t_2 x n; |m|, and in *full the length from which on the ellipse is whole. 0: there is no direction here.
static double directed(const srTangents* x, const double n[3], double m[3], double t[2][3], double* full) {
  *full = sr_direction_at(&x->direction, n, m);
  const double length = srm_norm3(m);
  if (!(length > 0)) return 0;
  srm_scale3(1 / length, m, t[1]);
  srm_cross3(t[1], n, t[0]);
  return length;
}

double sr_contact_tangents(const srTangents* x, const double n[3], double t[2][3]) {
  double triad[3][3], m[3], full, length = 0;
  if (x->excess != 0) length = directed(x, n, m, t, &full);
  if (length > 0) return 1 + x->excess * (length / full) * (length / full);
  sr_closure_triad(n, triad);
  srm_set3(t[0], triad[0]);
  srm_set3(t[1], triad[1]);
  return 1;
}

// Of t_0 = (e - (e.n) n)/|...| with e an axis, and t_1 = n x t_0.
static void turn_triad(const double n[3], const double turn[3], double t[2][3], double rate[2][3]) {
  int k = 0;
  double triad[3][3], from_n[3], from_t[3];
  sr_closure_triad(n, triad);
  for (int i = 1; i < 3; i++) k = fabs(n[i]) > fabs(n[k]) ? i : k;
  const int next = (k + 1) % 3;
  const double length = sqrt(1 - n[next] * n[next]);
  for (int i = 0; i < 3; i++) rate[0][i] = -(turn[next] * n[i] + n[next] * turn[i]) / length;
  srm_add_scaled3(rate[0], -srm_dot3(rate[0], triad[0]), triad[0], rate[0]);
  srm_cross3(turn, triad[0], from_n);
  srm_cross3(n, rate[0], from_t);
  for (int i = 0; i < 3; i++) rate[1][i] = from_n[i] + from_t[i];
  srm_set3(t[0], triad[0]);
  srm_set3(t[1], triad[1]);
}

// m' by n' and by the rotation w of b; then those of m/|m|, of its product with n, and of r t_2.
static bool turn_directed(const srTangents* x, const double n[3], const double turn[3], const double w[3],
                          double t[2][3], double rate[2][3]) {
  double m[3], dd[3] = {0}, dm[3], from_n[3], from_t[3], full;
  const double length = directed(x, n, m, t, &full);
  if (!(length > 0)) return false;
  if (x->direction.side < 0) srm_cross3(w, x->direction.d, dd);
  sr_direction_change(&x->direction, n, turn, dd, dm);
  const double along = srm_dot3(t[1], dm), part = length / full;
  for (int i = 0; i < 3; i++) rate[1][i] = (dm[i] - along * t[1][i]) / length;
  srm_cross3(rate[1], n, from_t);
  srm_cross3(t[1], turn, from_n);
  const double r = 1 + x->excess * part * part, dr = part < 1 ? 2 * x->excess * part * along / full : 0;
  for (int i = 0; i < 3; i++) {
    rate[0][i] = from_t[i] + from_n[i];
    rate[1][i] = r * rate[1][i] + dr * t[1][i];
    t[1][i] *= r;
  }
  return true;
}

void sr_contact_tangents_turn(const srTangents* x, const double n[3], const double turn[3], const double w[3],
                              double t[2][3], double rate[2][3]) {
  if (x->excess == 0 || !turn_directed(x, n, turn, w, t, rate)) turn_triad(n, turn, t, rate);
}
