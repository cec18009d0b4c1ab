// Residuals of the constraint equations at acceleration level, also of those left out as redundant.
#include "simulate/rows.h"

#include <math.h>

#include "constraint/constraint.h"
#include "force/force.h"

#define TOLERANCES_MOST 1e3      // of an equation in a run
#define CONTRADICTION_MOST 1e-4  // of the accelerations in an equation

double sr_acceleration_residual(const srModel* m, srData* d, const double* a) {
  double most = 0.0;
  if (a == NULL || m->ng == 0) return 0.0;
  for (int i = 0; i < m->ndriver && !m->constrained; ++i) {
    most = fmax(most, fabs(a[m->driver[i].dof] - d->motion[3 * i + 2]));
  }
  if (!m->constrained) return most;
  sr_driver_motion(m, d);
  if (sr_constraints(m, d) != 0 || sr_constraint_gamma(m, d) != 0) return 0.0;
  for (int i = 0; i < m->ng; ++i) {
    double sum = -d->gamma[i];
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; ++k) sum += d->G[k] * a[m->G_index[k]];
    most = fmax(most, fabs(sum));
  }
  return most;
}

int sr_contradicting_row(const srModel* m, const srData* d, double* has, double* wants) {
  double speed = 1.0;
  for (int i = 0; i < m->nv; ++i) speed = fmax(speed, fabs(d->v[i]));
  for (int i = 0; i < m->ng; ++i) {
    double sum = 0.0, size = fabs(d->gamma[i]);
    for (int k = m->G_start[i]; k < m->G_start[i + 1]; ++k) {
      const double part = d->G[k] * d->a[m->G_index[k]];
      sum += part;
      size += fabs(part);
    }
    const double most = CONTRADICTION_MOST * size + TOLERANCES_MOST * m->row[i].tolerance * speed * speed;
    if (fabs(sum - d->gamma[i]) <= most) continue;
    *has = sum;
    *wants = d->gamma[i];
    return i;
  }
  return -1;
}
