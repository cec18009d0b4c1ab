// MJCF out: <inertial>, mass and moments of a body about its centre of mass, and a word where MuJoCo would refuse them.
#include <math.h>

#include "io/mjcf_write.h"
#include "math/dense.h"

#define LEAST 1e-15  // of masses and moments: MuJoCo's mjMINVAL

// What MuJoCo asks of a body that moves: mass and moments of its own, or of a body without joint on it.
void sr_mjcf_out_find_heavy(srMjcfOut* x) {
  const srModel* m = x->c->m;
  x->heavy = sr_pool_alloc(x->c->pool, (size_t)m->nbody + 1);
  for (int b = m->nbody; b > 0; b--) {
    double e[3];
    srm_eigen_sym3(m->body_inertia + 9 * b, e);
    if (m->body_mass[b] >= LEAST && fmin(e[0], fmin(e[1], e[2])) >= LEAST) x->heavy[b] = true;
    if (x->heavy[b] && m->joint_nv[m->body_joint[b]] == 0) x->heavy[m->body_parent[b]] = true;
  }
}

static void tell_refused(const srMjcfOut* x, int b, const double e[3]) {
  srConvert* c = x->c;
  const srModel* m = c->m;
  const bool moves = m->joint_nv[m->body_joint[b]] > 0;
  const double high = fmax(e[0], fmax(e[1], e[2]));
  if (moves && !x->heavy[b])
    sr_convert_lose(c, m->body_place[b], SR_LOSS_NOTHING, sr_pool_printf(c->pool, "body '%s'", m->body_name[b]),
                    "it has no %s: MuJoCo refuses such a body that moves",
                    m->body_mass[b] < LEAST ? "mass of its own" : "moment of inertia about one of its axes");
  else if (high > e[0] + e[1] + e[2] - high && sr_convert_has_mass(m, b))
    sr_convert_lose(c, m->body_place[b], SR_LOSS_NOTHING, sr_pool_printf(c->pool, "body '%s'", m->body_name[b]),
                    "its inertia is at or beyond the edge of the triangle inequality: MuJoCo may refuse it");
}

void sr_mjcf_out_inertial(srMjcfOut* x, int b) {
  const srModel* m = x->c->m;
  srXmlWriter* w = &x->c->xml;
  const double* J = m->body_inertia + 9 * b;
  double e[3];
  srm_eigen_sym3(J, e);
  tell_refused(x, b, e);
  if (!sr_convert_has_mass(m, b)) return;
  sr_xml_begin(w, "inertial");
  sr_xml_numbers(w, "pos", m->body_com + 4 * b, 3);
  sr_xml_number(w, "mass", m->body_mass[b]);
  if (J[1] == 0 && J[2] == 0 && J[5] == 0)
    sr_xml_numbers(w, "diaginertia", (const double[]){J[0], J[4], J[8]}, 3);
  else
    sr_xml_numbers(w, "fullinertia", (const double[]){J[0], J[4], J[8], J[1], J[2], J[5]}, 6);
  sr_xml_end(w);
}
