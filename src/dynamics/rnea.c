// Recursive Newton-Euler algorithm: inverse dynamics tau = M(q) a + c(q, v).  Featherstone (2008), section 5.3.
//
//   from the ground   w_i, wd_i, a_i from those of the parent and S v, S a;   f_i = wrench that moves link i so
//   from the tips     tau_i = S_i^T f_i;   f_parent += X_i^T f_i
//
// In link axes with the acceleration of the origin as a point, not Featherstone's spatial one: then no linear velocity
// is needed. The ground accelerates with -gravity. Scratch: 12 doubles a link in work, and link_wrench.
#include "dynamics/link.h"

static void forward(const srModel* m, srData* d, const double* v, const double* a) {
  double* motion = d->work;
  sr_motion_store(motion, (srMotion){v4_zero(), v4_zero(), -v4_load(m->gravity)});
  for (int i = 1; i < m->nlink; i++) {
    const int type = m->link_type[i];
    const double *vi = v + m->link_v[i], *ai = a + m->link_v[i];
    srMotion s = sr_motion_to_child(d->link_X + 16 * i, d->link_E + 12 * i, motion + 12 * m->link_parent[i]);
    if (type == SR_LINK_REVOLUTE) {
      s = sr_motion_add_revolute(s, vi[0], ai[0]);
    } else {
      const double pitch = m->link_pitch[i];
      s = sr_motion_add(s, sr_link_relative(type, pitch, vi), sr_link_relative(type, pitch, ai));
    }
    sr_motion_store(motion + 12 * i, s);
    srm_wrench_store(d->link_wrench + 8 * i, sr_motion_wrench(m->link_inertia + 16 * i, s));
  }
}

static void backward(const srModel* m, srData* d, double* tau) {
  for (int i = m->nlink - 1; i > 0; i--) {
    const int type = m->link_type[i], parent = m->link_parent[i];
    const double* wrench = d->link_wrench + 8 * i;
    double* out = tau + m->link_v[i];
    if (type == SR_LINK_REVOLUTE) {
      out[0] = wrench[2];
    } else {
      for (int k = 0; k < sr_link_nv[type]; k++) out[k] = sr_link_project(type, m->link_pitch[i], k, wrench);
    }
    if (parent == 0) continue;
    const srmWrench up = srm_wrench_to_parent(srm_pose_load(d->link_X + 16 * i), srm_wrench_load(wrench));
    double* sum = d->link_wrench + 8 * parent;
    v4_store(sum, v4_load(sum) + up.n);
    v4_store(sum + 4, v4_load(sum + 4) + up.f);
  }
}

void sr_rnea(const srModel* m, srData* d, const double* q, const double* v, const double* a, double* tau) {
  sr_transforms(m, d, q);
  forward(m, d, v, a);
  backward(m, d, tau);
}
