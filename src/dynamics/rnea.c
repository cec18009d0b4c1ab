// Recursive Newton-Euler algorithm: inverse dynamics tau = M(q) a + c(q, v).  Featherstone (2008), section 5.3.
//
//   from the ground   w_i, wd_i, a_i from those of the parent and S v, S a;   f_i = wrench of that motion of link i
//   from the tips     tau_i = S_i^T f_i;   f_parent += X_i^T f_i
//
// In link axes with the acceleration of the origin as a point, not Featherstone's spatial one: then no linear velocity
// is needed. The ground accelerates with -gravity. Scratch: 12 doubles per link in work, and link_wrench.
#include "dynamics/link.h"

// v NULL: 0. upwards: acceleration of the ground.
SRM_INLINE void forward(const srModel* m, srData* d, const double* v, const double* a, v4 upwards) {
  const int *types = m->link_type, *parents = m->link_parent, *places = m->link_v;
  const double *inertia = m->link_inertia, *X = d->link_X, *E = d->link_E;
  static const double rest[6] = {0};
  double *motion = d->work, *own = motion, *wrench = d->link_wrench;
  sr_motion_store(motion, (srMotion){v4_zero(), v4_zero(), upwards});
  for (int i = 1, n = m->nlink; i < n; i++) {
    X += 16, E += 12, inertia += 16, own += 12, wrench += 8;
    const double *vi = v ? v + places[i] : rest, *ai = a + places[i];
    srMotion s = sr_motion_to_child(X, E, motion + 12 * parents[i]);
    if (types[i] == SR_LINK_REVOLUTE) {
      s = sr_motion_add_revolute(s, vi[0]);
      s.wd += v4_z(ai[0]);
    } else {
      const double pitch = m->link_pitch[i];
      s = sr_motion_add(s, sr_link_relative(types[i], pitch, vi), sr_link_relative(types[i], pitch, ai));
    }
    sr_motion_store(own, s);
    srm_wrench_store(wrench, sr_motion_wrench(inertia, s));
  }
}

SRM_INLINE void backward(const srModel* m, srData* d, double* tau) {
  const int *types = m->link_type, *parents = m->link_parent, *places = m->link_v, n = m->nlink;
  double* const wrenches = d->link_wrench;
  const double *X = d->link_X + 16 * n, *wrench = wrenches + 8 * n;
  for (int i = n - 1; i > 0; i--) {
    X -= 16, wrench -= 8;
    double* out = tau + places[i];
    if (types[i] == SR_LINK_REVOLUTE) {
      out[0] = wrench[2];
    } else {
      const int type = types[i];
      for (int k = 0; k < sr_link_nv[type]; k++) out[k] = sr_link_project(type, m->link_pitch[i], k, wrench);
    }
    if (parents[i] == 0) continue;
    sr_wrench_add_to_parent(X, srm_wrench_load(wrench), wrenches + 8 * parents[i]);
  }
}

SRM_CLONES void sr_rnea(const srModel* m, srData* d, const double* q, const double* v, const double* a, double* tau) {
  sr_transforms(m, d, q);
  forward(m, d, v, a, -v4_xyz(m->gravity));
  backward(m, d, tau);
}

SRM_CLONES void sr_mass_times(const srModel* m, srData* d, const double* q, const double* x, double* out) {
  sr_transforms(m, d, q);
  forward(m, d, NULL, x, v4_zero());
  backward(m, d, out);
}
