// Coordinates that nothing with inertia moves with, and that no constraint carries: no equation determines their acceleration. They are
// reported, and get a unit inertia in the solution (dof_armature), which makes it regular. The others are not changed by it:
// their columns of M are zero in these rows, and no row of G couples the two.
//
// Carried are: driven coordinates, joints between the ground and the end of a closure, and what is coupled to a coordinate that is carried
// or has inertia. With constraints by formula the solver decides.
#include <stdio.h>
#include <string.h>

#include "model/compile.h"

// Links that have no inertia, nor has anything beyond them. Masses and moments are summed from the tips inward.
static void find_weightless(srCompiler* c, bool* weightless) {
  const srModel* m = c->m;
  double* beyond = sr_pool_alloc(&c->scratch, (size_t)m->nlink * 2 * sizeof *beyond);  // mass, moments
  for (int i = m->nlink - 1; i > 0; i--) {
    const double* I = m->link_inertia + 16 * i;
    beyond[2 * i] += I[15];
    beyond[2 * i + 1] += I[0] + I[5] + I[10];
    const bool slides = m->link_type[i] == SR_LINK_PRISMATIC;
    const bool heavy = beyond[2 * i] > 0 || (!slides && beyond[2 * i + 1] > 0);
    weightless[i] = !heavy && m->dof_armature[m->link_v[i]] <= 0;
    beyond[2 * m->link_parent[i]] += beyond[2 * i];
    beyond[2 * m->link_parent[i] + 1] += beyond[2 * i + 1];
  }
}

static int root_of(int* tied, int i) {
  while (tied[i] != i) i = tied[i] = tied[tied[i]];
  return i;
}

// carried: nv; by the coordinates of a tie together, whose first one is tied[i].
static void find_carried(srCompiler* c, const bool* weightless, int* tied, bool* carried) {
  const srModel* m = c->m;
  for (int i = 0; i < m->nclosure; i++)
    for (int k = 0; k < 2; k++)
      for (int link = m->point_link[m->closure[i].point[k]]; link > 0; link = m->link_parent[link])
        for (int dof = m->link_v[link]; dof < m->nv && m->dof_link[dof] == link; dof++) carried[dof] = true;
  for (int i = 0; i < m->nv; i++) {
    tied[i] = i;
    carried[i] |= !weightless[m->dof_link[i]] || m->dof_driver[i] >= 0;
  }
  for (int i = 0; i < m->ncoupling; i++) {
    for (int k = 1; k < m->coupling[i].n; k++) {
      const int a = root_of(tied, m->coupling[i].dof[0]), b = root_of(tied, m->coupling[i].dof[k]);
      tied[a > b ? a : b] = a > b ? b : a;
    }
  }
  for (int i = 0; i < m->nv; i++)
    if (carried[i]) carried[root_of(tied, i)] = true;
}

static void name_them(srCompiler* c) {
  const srModel* m = c->m;
  char names[600] = "";
  int first = -1, joint = -1, more = 0;
  for (int i = 0; i < m->nv; i++) {
    const size_t used = strlen(names);
    if (m->dof_massless[i] == 0 || m->link_joint[m->dof_link[i]] == joint) continue;
    joint = m->link_joint[m->dof_link[i]];
    if (first < 0) first = m->link_body[m->dof_link[i]];
    if (used + strlen(m->joint_name[joint]) + 8 < sizeof names)
      (void)snprintf(names + used, sizeof names - used, "%s'%s'", used > 0 ? ", " : "", m->joint_name[joint]);
    else
      more++;
  }
  if (more > 0) (void)snprintf(names + strlen(names), sizeof names - strlen(names), " ...");
  sr_c_warning(
      c, m->body_place[first],
      "nothing with mass or inertia moves with joint %s: no acceleration can be found for what moves there, and "
      "no run; --lock-massless holds such joints where they start",
      names);
}

void sr_compile_massless(srCompiler* c) {
  srModel* m = c->m;
  const size_t n = (size_t)m->nv + 1;
  int *massless = sr_pool_alloc(c->pool, n * sizeof *massless), *tied = sr_pool_alloc(&c->scratch, n * sizeof *tied);
  double* inertia = sr_pool_alloc(c->pool, n * sizeof *inertia);
  bool *weightless = sr_pool_alloc(&c->scratch, (size_t)m->nlink * sizeof *weightless),
       *carried = sr_pool_alloc(&c->scratch, n * sizeof *carried);
  m->dof_massless = massless;
  if (m->absolute || m->nformula_row > 0) return;  // absolute: reported for the tree before
  find_weightless(c, weightless);
  find_carried(c, weightless, tied, carried);
  for (int i = 0; i < m->nv; i++) {
    inertia[i] = m->dof_armature[i];
    if (carried[i] || carried[root_of(tied, i)]) continue;
    massless[i] = 1 + root_of(tied, i);
    inertia[i] = 1;
    m->nmassless++;
  }
  if (m->nmassless == 0) return;
  m->dof_armature = inertia;
  name_them(c);
}

// ---------------------------------------------------------------------------------------------------------------- lock
// Locks one coordinate by a constant driver.
static bool hold(srSpec* spec, const srModel* m, int dof, srMessages* messages) {
  const int joint = m->link_joint[m->dof_link[dof]], k = dof - m->joint_v[joint];
  const srJointType type = (srJointType)m->joint_type[joint];
  const srPlace place = m->body_place[m->joint_body[joint]];
  if (type == SR_JOINT_BALL || type == SR_JOINT_FREE) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, place,
                    "joint '%s' cannot be held: it is a %s joint; give its body a mass, or weld it",
                    m->joint_name[joint], sr_joint_word(type));
    return false;
  }
  char motion[32];
  const double q = m->q0[m->joint_q[joint] + k];
  (void)snprintf(motion, sizeof motion, "%.17g", q);
  const srDriverDef def = {
      .joint = sr_text(m->joint_name[joint]), .coordinate = sr_number(k), .motion = sr_text(motion)};
  sr_messages_add(messages, SR_SEVERITY_WARNING, place,
                  "joint '%s' is held at %.9g %s: nothing with mass moves with it", m->v_name[dof], q,
                  m->q_unit[m->joint_q[joint] + k]);
  return srs_add(spec, SR_ELEMENT_DRIVER, SR_NO_OWNER, &def, &place) >= 0;
}

srStatus sr_lock_massless_from(const srCatalog* catalog, srSpec* spec, srMessages* messages) {
  srModel* m = NULL;
  const srStatus status = sr_compile_from(catalog, spec, NULL, NULL, &m);
  if (status != SR_OK) return status == SR_INPUT ? SR_OK : status;  // errors are reported when it is compiled for use
  bool good = true;
  for (int i = 0; i < m->nv; i++)
    if (m->dof_massless[i] == i + 1) good &= hold(spec, m, i, messages);
  sr_model_destroy(m);
  return good ? SR_OK : SR_INPUT;
}
