// The inertia that a joint carries at qpos0, M_jj, and the one that a force along it feels, 1/(M^-1)_jj, for MJCF's damping
// ratios: the reader has no model yet, so the mass matrix of the tree in question is summed up here from the file's bodies.
// Source: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 6.2 (composite bodies); spatial vectors about the
// world's origin: a coordinate's motion is (w, v), M_ij = w_i . (I w_j + h x v_j) + v_i . (m v_j - h x w_j) with the mass m,
// the first moment h and the inertia I of all that coordinate j carries.
#include <math.h>
#include <string.h>

#include "io/mjcf/felt.h"
#include "io/mjcf/law.h"
#include "math/dense.h"
#include "math/pose.h"

#define MAX_COORDINATES 200

typedef struct Rigid {
  double m, h[3], I[9];
} Rigid;

typedef struct Coordinate {
  int joint, body;
  double w[3], v[3];
} Coordinate;

typedef struct Trees {
  srMjcf* m;
  Rigid* rigid;  // composite, one a body
  Coordinate list[MAX_COORDINATES];
  int n;
} Trees;

static int root_of(const srMjcf* m, int body) {
  while (m->body[body].parent > 0) body = m->body[body].parent;
  return body;
}

// ------------------------------------------------------------------------------------------------------------ bodies
static Rigid body_inertia(const srMjcf* m, int i) {
  const srMjcfInertia* x = &m->inertia[i];
  Rigid r = {0};
  if (!(x->mass > 0)) return r;
  const double scale = m->body[i].mass / x->mass;  // settotalmass
  double c[3];
  r.m = scale * x->mass;
  srm_pose_point(m->body[i].outer, x->com, c);
  srm_pose_rotate_tensor(m->body[i].outer, x->J, r.I);
  const double cc = srm_dot3(c, c);
  for (int k = 0; k < 3; k++) r.h[k] = r.m * c[k];
  for (int k = 0; k < 9; k++) r.I[k] = scale * r.I[k] + r.m * ((k % 4 == 0 ? cc : 0) - c[k / 3] * c[k % 3]);
  return r;
}

static void add_up(Trees* t) {
  const srMjcf* m = t->m;
  for (int i = 1; i < m->nbody; i++) t->rigid[i] = body_inertia(m, i);
  for (int i = m->nbody - 1; i > 0; i--) {
    Rigid *one = &t->rigid[i], *all = &t->rigid[m->body[i].parent];
    all->m += one->m;
    for (int k = 0; k < 3; k++) all->h[k] += one->h[k];
    for (int k = 0; k < 9; k++) all->I[k] += one->I[k];
  }
}

// ------------------------------------------------------------------------------------------------------- coordinates
static void add_turn(Trees* t, int joint, const double axis[3], const double at[3]) {
  Coordinate* c = &t->list[t->n++];
  *c = (Coordinate){.joint = joint, .body = t->m->joint[joint].body};
  memcpy(c->w, axis, sizeof c->w);
  srm_cross3(at, axis, c->v);
}

static void add_shift(Trees* t, int joint, const double axis[3]) {
  Coordinate* c = &t->list[t->n++];
  *c = (Coordinate){.joint = joint, .body = t->m->joint[joint].body};
  memcpy(c->v, axis, sizeof c->v);
}

static const srJointDef* def_of(const srMjcf* m, int joint) {
  return srs_get(m->r->spec, SR_ELEMENT_JOINT, m->joint[joint].index);
}

// Anchor of a joint in the MJCF body's frame. Our bodies of one MJCF body stand at each other's anchors, the last one at
// -inner: so it is counted back from the last.
static void anchor_of(const srMjcf* m, int joint, double at[3]) {
  const int body = m->joint[joint].body;
  int last = joint;
  while (last + 1 < m->njoint && m->joint[last + 1].body == body) last++;
  for (int k = 0; k < 3; k++) at[k] = -m->body[body].inner[12 + k];
  for (int i = last; i > joint; i--) {
    const srJointDef* def = def_of(m, i);
    const bool slide = m->joint[i].type == SR_MJCF_SLIDE && def->axis.n == 3;
    for (int k = 0; k < 3; k++) {
      const double back = slide ? -m->joint[i].ref * def->axis.numbers[k] : 0;  // from where it is ref to where it is 0
      at[k] -= (def->at.n == 3 ? def->at.numbers[k] : 0) - back;
    }
  }
}

// False: too many.
static bool add_coordinates(Trees* t, int joint) {
  const srMjcf* m = t->m;
  const srMjcfJoint* j = &m->joint[joint];
  const double* outer = m->body[j->body].outer;
  double local[3], at[3], axis[3] = {0, 0, 1};
  if (t->n + 6 > MAX_COORDINATES) return false;
  anchor_of(m, joint, local);
  srm_pose_point(outer, local, at);
  if (j->type == SR_MJCF_FREE || j->type == SR_MJCF_BALL) {
    for (int k = 0; k < 3; k++) add_turn(t, joint, outer + 4 * k, at);
    for (int k = 0; k < 3 && j->type == SR_MJCF_FREE; k++) add_shift(t, joint, outer + 4 * k);
    return true;
  }
  const srJointDef* def = def_of(m, joint);
  srm_pose_rotate(outer, def->axis.n == 3 ? def->axis.numbers : axis, axis);
  if (j->type == SR_MJCF_HINGE)
    add_turn(t, joint, axis, at);
  else
    add_shift(t, joint, axis);
  return true;
}

// ------------------------------------------------------------------------------------------------------- mass matrix
static double entry(const Trees* t, const Coordinate* a, const Coordinate* b) {
  const Rigid* r = &t->rigid[b->body];
  double hv[3], hw[3], L[3], p[3];
  srm_cross3(r->h, b->v, hv);
  srm_cross3(r->h, b->w, hw);
  for (int k = 0; k < 3; k++) {
    L[k] = srm_dot3(r->I + 3 * k, b->w) + hv[k];
    p[k] = r->m * b->v[k] - hw[k];
  }
  return srm_dot3(a->w, L) + srm_dot3(a->v, p);
}

static bool carries(const srMjcf* m, int body, int other) {
  while (other > body) other = m->body[other].parent;  // parents come before their children
  return other == body;
}

static void fill(const Trees* t, double* M) {
  for (int i = 0; i < t->n; i++)
    for (int k = 0; k < t->n; k++) {
      const Coordinate *a = &t->list[i], *b = &t->list[k];
      double x = 0;
      if (carries(t->m, a->body, b->body))
        x = entry(t, a, b);
      else if (carries(t->m, b->body, a->body))
        x = entry(t, b, a);
      M[i * t->n + k] = x + (i == k ? def_of(t->m, a->joint)->armature.number : 0);
    }
}

// Composite bodies, added up once: their masses do not change any more.
static void start(Trees* t, srMjcf* m) {
  t->m = m;
  t->n = 0;
  t->rigid = m->composite;
  if (t->rigid) return;
  t->rigid = m->composite = sr_pool_alloc(&m->r->pool, (size_t)(m->nbody + 1) * sizeof *t->rigid);
  add_up(t);
}

double sr_mjcf_carried(srMjcf* m, int joint) {
  Trees t;
  start(&t, m);
  add_coordinates(&t, joint);
  return entry(&t, &t.list[0], &t.list[0]) + def_of(m, joint)->armature.number;
}

double sr_mjcf_reflected(srMjcf* m, int joint) {
  Trees trees, *t = &trees;
  start(t, m);
  const int root = root_of(m, m->joint[joint].body);
  int self = 0;
  for (int j = 0; j < m->njoint; j++) {
    if (j == joint) self = t->n;
    if (root_of(m, m->joint[j].body) == root && !add_coordinates(t, j)) return (double)NAN;
  }
  double* M = sr_pool_alloc(&m->r->pool, (size_t)(t->n * t->n + t->n) * sizeof *M);
  double* x = M + t->n * t->n;
  sr_mjcf_charge(m, (size_t)(t->n * t->n) * sizeof *M, 4);
  fill(t, M);
  x[self] = 1;
  if (!srm_cholesky(t->n, M)) return (double)NAN;
  srm_cholesky_solve(t->n, M, x);
  return 1 / x[self];
}

// -------------------------------------------------------------------------------------------------- of all at once
// The axes of one joint behind axis `last`; the last one.
static int add_axes(Trees* t, int joint, int last, srMjcfAxis* axes, int* n) {
  t->n = 0;
  add_coordinates(t, joint);
  for (int k = 0; k < t->n; k++) {
    srMjcfAxis* a = &axes[*n];
    a->parent = last;
    a->armature = def_of(t->m, joint)->armature.number;
    memcpy(a->s, t->list[k].w, sizeof t->list[k].w);
    memcpy(a->s + 3, t->list[k].v, sizeof t->list[k].v);
    last = (*n)++;
  }
  return last;
}

const double* sr_mjcf_felt_by_joints(srMjcf* m) {
  srPool* pool = &m->r->pool;
  srMjcfAxis* axes = sr_pool_alloc(pool, (size_t)(m->nv + 6) * sizeof *axes);
  int* last = sr_pool_alloc(pool, (size_t)(m->nbody + 1) * sizeof *last);  // axis of a body
  int* of = sr_pool_alloc(pool, (size_t)(m->njoint + 1) * sizeof *of);     // axis of a joint
  double* felt = sr_pool_alloc(pool, (size_t)(m->nv + 6) * sizeof *felt);
  Trees t;
  int n = 0, j = 0;
  start(&t, m);
  last[0] = -1;
  for (int i = 1; i < m->nbody; i++) {
    last[i] = last[m->body[i].parent];
    for (; j < m->njoint && m->joint[j].body == i; j++) last[i] = of[j] = add_axes(&t, j, last[i], axes, &n);
    const Rigid r = body_inertia(m, i);
    if (last[i] >= 0) sr_mjcf_axis_load(&axes[last[i]], r.m, r.h, r.I);
  }
  sr_mjcf_felt(n, axes, felt);
  double* out = sr_pool_alloc(pool, (size_t)(m->njoint + 1) * sizeof *out);
  for (int i = 0; i < j; i++) out[i] = felt[of[i]];
  return out;
}
