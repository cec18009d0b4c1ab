// Trees whose mass matrix and bias do not depend on the state: every link slides, or turns about an axis through its centre of mass and carries no other. With the axis s_i of slide i in
// the ground, m_i the mass that moves with it, and slide k on the way from the ground to slide i or i itself,
//   M_ik = m_i s_i . s_k,   c_i = -m_i s_i . g;      of a link that turns M_ii = its moment about the axis, and nothing else
// Slides turn no axis, so that all s_i are constant; what turns about its centre of mass needs no force for it. Nothing depends on velocities.
// For a few coordinates M^-1 times a vector is less work than the recursion; for many, which may be independent of each other, it is not.
#include <string.h>

#include "math/dense.h"
#include "math/pose.h"
#include "model/compile.h"

#define COORDINATES_MOST 16
#define PIVOT_RATIO 1e-14  // of L_ii^2 and M_ii: as in the recursion (dynamics/aba.c)

static bool turns_balanced(const srModel* m, int link) {
  const double* h = m->link_inertia + 16 * link + 12;  // the axis is z
  const bool carries = link + 1 < m->nlink && m->link_parent[link + 1] == link;
  return m->link_type[link] == SR_LINK_REVOLUTE && !carries && h[0] == 0 && h[1] == 0;
}

static bool is_constant(const srModel* m) {
  if (m->absolute) return false;
  for (int i = 1; i < m->nlink; i++) {
    if (m->link_type[i] != SR_LINK_PRISMATIC && !turns_balanced(m, i)) return false;
  }
  return m->nv > 0 && m->nv <= COORDINATES_MOST && m->nlink == m->nv + 1;
}

// Axes of the links in the ground, and the mass of each with what it carries.
static void find_slides(const srModel* m, double (*axis)[3], double* mass) {
  double pose[COORDINATES_MOST + 1][16];
  srm_pose_identity(pose[0]);
  for (int i = 1; i < m->nlink; i++) {
    srm_pose_compose(pose[m->link_parent[i]], m->link_tree + 16 * i, pose[i]);
    memcpy(axis[i], pose[i] + 8, 3 * sizeof *pose[i]);  // z; the translation does not matter
    mass[i] = m->link_inertia[16 * i + 15];
  }
  for (int i = m->nlink - 1; i > 0; i--) {
    if (m->link_parent[i] > 0) mass[m->link_parent[i]] += mass[i];
  }
}

static void put_row(const srModel* m, int link, double (*axis)[3], const double* mass, double* M, double* c) {
  const int n = m->nv, i = m->link_v[link];
  if (m->link_type[link] == SR_LINK_PRISMATIC) {
    c[i] = -mass[link] * srm_dot3(axis[link], m->gravity);
    for (int other = link; other > 0; other = m->link_parent[other]) {
      const int k = m->link_v[other];
      M[n * i + k] = M[n * k + i] = mass[link] * srm_dot3(axis[link], axis[other]);
    }
  } else {
    M[n * i + i] = m->link_inertia[16 * link + 10];
  }
  M[n * i + i] += m->dof_armature[i];
}

// False: M is singular.
static bool invert(int n, const double* M, double* L, double* inverse) {
  memcpy(L, M, (size_t)(n * n) * sizeof *L);
  if (!srm_cholesky(n, L)) return false;
  for (int i = 0; i < n; i++) {
    if (!(L[n * i + i] * L[n * i + i] > PIVOT_RATIO * M[n * i + i])) return false;
    inverse[n * i + i] = 1;  // a column, or row
    srm_cholesky_solve(n, L, inverse + n * i);
  }
  return true;
}

void sr_compile_constant_mass(srCompiler* c) {
  const srModel* m = c->m;
  if (!is_constant(m)) return;
  double axis[COORDINATES_MOST + 1][3], mass[COORDINATES_MOST + 1], L[COORDINATES_MOST * COORDINATES_MOST];
  const size_t n = (size_t)m->nv;
  double* M = sr_pool_alloc(c->pool, (2 * n * n + n) * sizeof *M);
  double *inverse = M + n * n, *bias = inverse + n * n;
  find_slides(m, axis, mass);
  for (int i = 1; i < m->nlink; i++) put_row(m, i, axis, mass, M, bias);
  if (!invert(m->nv, M, L, inverse)) return;
  srConstantMass* x = sr_pool_alloc(c->pool, sizeof *x);
  *x = (srConstantMass){.M = M, .inverse = inverse, .c = bias};
  x->is_all = !m->constrained && m->elimination == NULL && m->ndriver == 0;
  c->priv->constant_mass = x;
}
