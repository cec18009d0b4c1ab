// M_ii and 1/(M^-1)_ii of all coordinates in linear time. Spatial vectors in the axes of the ground, about the origin of the first
// link of each tree; s is the motion of a coordinate, every coordinate is a joint of its own and the last one of a link carries
// its inertia.
//
//   from the tips     C, A: composite and articulated inertia. C_parent += C,  M_ii = s.C s + armature
//                     U = A s,  D = s.U + armature,  A_parent += A - U U^T/D
//   from the ground   W: response of the subtree of coordinate i to a force on it. A unit force along the coordinate acts on its parent with -k = -U/D:
//                     (M^-1)_ii = 1/D + k.W_parent k,   W = s s^T/D + (1 - s k^T) W_parent (1 - s k^T)^T
//
// Source: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, sections 6.2 (composite bodies) and 7.3 (articulated bodies); the
// second pass is the same equations for a force on one body.
#include "dynamics/coordinate_inertia.h"

#include <math.h>
#include <string.h>

#include "dynamics/link.h"
#include "math/pose.h"

typedef struct Coordinate {
  double s[6];          // angular, linear
  double C[36], A[36];  // A becomes W
  double U[6], D;       // D 0: no inertia, the coordinate is locked
} Coordinate;

static double dot(const double a[6], const double b[6]) {
  double sum = 0;
  for (int k = 0; k < 6; k++) sum += a[k] * b[k];
  return sum;
}

static void times(const double A[36], const double x[6], double out[6]) {
  for (int k = 0; k < 6; k++) out[k] = dot(A + 6 * k, x);
}

// ------------------------------------------------------------------------------------------------------------ the tree
static double* link_poses(const srModel* m, srPool* pool, const double* q) {
  srData d = {.link_X = sr_pool_alloc(pool, 16 * (size_t)m->nlink * sizeof(double)),
              .sincos = sr_pool_alloc(pool, 8 * ((size_t)m->nangle + 4) * sizeof(double))};
  double* pose = sr_pool_alloc(pool, 16 * (size_t)m->nlink * sizeof *pose);
  sr_transforms_X(m, &d, q);
  srm_pose_identity(pose);
  for (int i = 1; i < m->nlink; i++) {
    srm_pose_compose(pose + 16 * m->link_parent[i], d.link_X + 16 * i, pose + 16 * i);
    if (m->link_parent[i] == 0) memset(pose + 16 * i + 12, 0, 3 * sizeof *pose);
  }
  return pose;
}

static void set_motion(const srModel* m, const double pose[16], int dof, double s[6]) {
  const int link = m->dof_link[dof];
  double one[6] = {0}, local[8];
  one[dof - m->link_v[link]] = 1;
  const srmTwist t = sr_link_relative(m->link_type[link], m->link_pitch[link], one);
  for (int k = 0; k < 3; k++) local[k] = t.w[k], local[3 + k] = t.v[k];
  double about[3];
  srm_pose_rotate(pose, local, s);
  srm_pose_rotate(pose, local + 3, s + 3);
  srm_cross3(pose + 12, s, about);
  for (int k = 0; k < 3; k++) s[3 + k] += about[k];
}

// A link's inertia, 16 doubles as in srModel, moved from its origin p: h + m p, J + (2 p.h + m p.p) 1 - p h^T - h p^T - m p p^T.
static void add_link(const double* I, const double pose[16], double A[36]) {
  const double *p = pose + 12, mass = I[15];
  double J[9], turned[9], h[3];
  for (int k = 0; k < 9; k++) J[k] = I[4 * (k / 3) + k % 3];
  srm_pose_rotate_tensor(pose, J, turned);
  srm_pose_rotate(pose, I + 12, h);
  const double trace = 2 * srm_dot3(p, h) + mass * srm_dot3(p, p);
  const double c[3] = {h[0] + mass * p[0], h[1] + mass * p[1], h[2] + mass * p[2]};
  const double cross[9] = {0, -c[2], c[1], c[2], 0, -c[0], -c[1], c[0], 0};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      A[6 * i + k] = turned[3 * i + k] + (i == k ? trace : 0) - p[i] * h[k] - h[i] * p[k] - mass * p[i] * p[k];
      A[6 * i + 3 + k] = cross[3 * i + k];
      A[6 * (3 + i) + k] = -cross[3 * i + k];
      A[6 * (3 + i) + 3 + k] = i == k ? mass : 0;
    }
}

// -------------------------------------------------------------------------------------------------------------- passes
// A pivot smaller than this part of the terms it sums is rounding, as in aba.c.
#define PIVOT_RATIO 1e-14

static double size_of(const double A[36], const double s[6]) {
  double sum = 0;
  for (int k = 0; k < 36; k++) sum += fabs(s[k / 6] * A[k] * s[k % 6]);
  return sum;
}

// Returns M_ii.
static double inwards(Coordinate* x, Coordinate* parent, double armature) {
  double Cs[6];
  times(x->C, x->s, Cs);
  times(x->A, x->s, x->U);
  const double D = dot(x->s, x->U);
  x->D = (D > PIVOT_RATIO * size_of(x->A, x->s) ? D : 0) + armature;
  for (int k = 0; k < 36 && parent; k++) {
    parent->C[k] += x->C[k];
    parent->A[k] += x->A[k] - (x->D > 0 ? x->U[k / 6] * x->U[k % 6] / x->D : 0);
  }
  return dot(x->s, Cs) + armature;
}

// Returns (M^-1)_ii; 0: locked.
static double outwards(Coordinate* x, const Coordinate* parent) {
  double Wk[6] = {0}, kWk;
  if (parent)
    memcpy(x->A, parent->A, sizeof x->A);
  else
    memset(x->A, 0, sizeof x->A);
  if (!(x->D > 0)) return 0;
  times(x->A, x->U, Wk);
  for (int k = 0; k < 6; k++) Wk[k] /= x->D;
  kWk = dot(x->U, Wk) / x->D;
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      x->A[6 * i + k] += x->s[i] * x->s[k] * (1 / x->D + kWk) - x->s[i] * Wk[k] - Wk[i] * x->s[k];
  return 1 / x->D + kWk;
}

void sr_coordinate_inertia(const srModel* m, srPool* pool, const double* q, double* carried, double* effective) {
  Coordinate* all = sr_pool_alloc(pool, ((size_t)m->nv + 1) * sizeof *all);
  const double* pose = link_poses(m, pool, q);
  for (int i = 0; i < m->nv; i++) {
    const int link = m->dof_link[i];
    set_motion(m, pose + 16 * link, i, all[i].s);
    if (i + 1 < m->nv && m->dof_link[i + 1] == link) continue;
    add_link(m->link_inertia + 16 * link, pose + 16 * link, all[i].A);
    memcpy(all[i].C, all[i].A, sizeof all[i].C);
  }
  for (int i = m->nv - 1; i >= 0; i--)
    carried[i] = inwards(&all[i], m->dof_parent[i] < 0 ? NULL : &all[m->dof_parent[i]], m->dof_armature[i]);
  for (int i = 0; i < m->nv; i++) {
    const double response = outwards(&all[i], m->dof_parent[i] < 0 ? NULL : &all[m->dof_parent[i]]);
    effective[i] = response > 0 ? 1 / response : 0;
  }
}
