// MJCF out: <inertial>, mass and moments of a body about its centre of mass, and a word where MuJoCo would refuse them;
// and gravcomp, which constant forces are that carry a part of its weight.
#include <math.h>

#include "expr/expr.h"
#include "io/mjcf/write.h"
#include "math/dense.h"
#include "math/pose.h"
#include "model/list.h"

#define LEAST 1e-15     // of masses and moments: MuJoCo's mjMINVAL
#define ROUNDING 1e-13  // relative: of a force that is mass times gravity

// What MuJoCo requires of a body that moves: mass and moments of its own, or of a body without joint on it.
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

// ------------------------------------------------------------------------------------------------------------ gravcomp
// Three numbers of a law that depends on nothing.
static bool constants(srConvert* c, const srAttr* law, double out[3]) {
  srListItem* items;
  if (sr_split_list(c->pool, law, &items) != 3) return false;
  for (int k = 0; k < 3; k++) {
    const char* end = items[k].text ? sr_number_read_signed(items[k].text, &out[k]) : "";
    if (!items[k].text) out[k] = items[k].number;
    if (!end || *end) return false;
  }
  return true;
}

// Force i carries the part gamma of the weight of body b: f = -gamma m g at the centre of mass. 0: it does not.
static double carried(srConvert* c, int i, int b) {
  const srForceDef* def = srs_get(c->spec, SR_ELEMENT_FORCE, i);
  const srModel* m = c->m;
  const double *g = m->gravity, *com = m->body_com + 4 * b, weight = m->body_mass[b] * srm_dot3(g, g);
  double f[3], at[3] = {0};
  if (sr_names_find(&c->bodies, def->body.text) != b || sr_given(def->m) || !constants(c, &def->f, f)) return 0;
  const double gamma = -srm_dot3(f, g) / weight;
  for (int k = 0; k < def->at.n && k < 3; k++) at[k] = def->at.numbers ? def->at.numbers[k] : def->at.number;
  for (int k = 0; k < 3; k++) {
    if (!(fabs(f[k] + gamma * m->body_mass[b] * g[k]) <= ROUNDING * srm_norm3(f))) return 0;
    if (!(fabs(at[k] - com[k]) <= ROUNDING * (1 + srm_norm3(com)))) return 0;
  }
  return isfinite(gamma) ? gamma : 0;
}

void sr_mjcf_out_gravcomp(srMjcfOut* x, int b) {
  srConvert* c = x->c;
  double sum = 0;
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_FORCE); i++) {
    const double part = carried(c, i, b);
    sum += part;
    if (part != 0) sr_convert_take_all(c, SR_ELEMENT_FORCE, i);
  }
  if (sum != 0) sr_xml_number(&c->xml, "gravcomp", sum);
}
