// The absolute formulation: every body becomes a link of its own, free on the ground; every joint of the file becomes a closure
// of its kind, and measurements of its coordinates. All stages after sr_compile_tree see a model of free bodies.
//
//   link i is body i, its frame the body's; q: 7 per body, v: 6 per body
//   joint frame on the parent: a point, observer of the closure and of the measurements
//   penalty: position equations of closures are springs; velocity equations (rolling) and everything else stay constraints
#include <math.h>
#include <string.h>

#include "math/pose.h"
#include "model/absolute.h"
#include "model/closure.h"
#include "model/compile.h"

#define NEW(c, type, n) ((type*)sr_pool_alloc((c)->pool, (size_t)((n) > 0 ? (n) : 1) * sizeof(type)))

// ---------------------------------------------------------------------------------------------------------- links
static const double* copied(srCompiler* c, const double* x, int n) {
  double* out = NEW(c, double, n);
  if (n > 0) memcpy(out, x, (size_t)n * sizeof *out);
  return out;
}

static void free_coordinates(srCompiler* c) {
  srModel* m = c->m;
  int *link = NEW(c, int, 6 * m->nbody), *parent = NEW(c, int, 6 * m->nbody);
  for (int i = 0; i < 6 * m->nbody; i++) {
    link[i] = 1 + i / 6;
    parent[i] = i % 6 == 0 ? -1 : i - 1;
  }
  m->dof_link = link;
  m->dof_parent = parent;
}

static void free_links(srCompiler* c) {
  srModel* m = c->m;
  const int n = m->nbody + 1;
  int *parent = NEW(c, int, n), *type = NEW(c, int, n), *joint = NEW(c, int, n), *body = NEW(c, int, n);
  int *q = NEW(c, int, n), *v = NEW(c, int, n);
  double* tree = NEW(c, double, 16 * n);
  for (int i = 0; i < n; i++) {
    parent[i] = i == 0 ? -1 : 0;
    type[i] = i == 0 ? SR_LINK_GROUND : SR_LINK_FREE;
    joint[i] = i - 1;
    body[i] = i;
    q[i] = i == 0 ? 0 : 7 * (i - 1);
    v[i] = i == 0 ? 0 : 6 * (i - 1);
    srm_pose_identity(tree + 16 * i);
    srm_pose_identity(c->body_pose + 16 * i);
  }
  m->nlink = n;
  m->nangle = 0;
  m->link_parent = parent;
  m->link_type = type;
  m->link_q = q;
  m->link_v = v;
  m->link_joint = joint;
  m->link_body = m->body_link = body;
  m->link_tree = tree;
  m->link_pitch = NEW(c, double, n);
}

// --------------------------------------------------------------------------------------------------------- measurements
typedef struct Gauges {
  srMeasurement* measurement;
  int n, nz;
} Gauges;

static srMeasurement* add_measurement(Gauges* all, srMeasurementKind kind, int body, int q, int v) {
  srMeasurement* measurement = &all->measurement[all->n++];
  *measurement = (srMeasurement){.kind = kind, .body = body, .q = q, .v = v, .z = all->nz};
  all->nz += kind == SR_MEASUREMENT_ANGLE ? 2 : kind == SR_MEASUREMENT_ROTATION ? 4 : 0;
  return measurement;
}

static void set(srMeasurement* measurement, const double* e0, const double* e1, const double* e2, const double* e3) {
  const double* e[4] = {e0, e1, e2, e3};
  for (int i = 0; i < 4; i++) memcpy(measurement->e[i], e[i], sizeof measurement->e[i]);
}

// Unit vectors perpendicular to n: x towards `to`, y completes them.
static void square_to(const double* n, const double* to, double x[3], double y[3]) {
  const double along = srm_dot3(n, to);
  for (int i = 0; i < 3; i++) x[i] = to[i] - along * n[i];
  const double length = srm_norm3(x);
  for (int i = 0; i < 3; i++) x[i] /= length;
  srm_cross3(n, x, y);
}

static void universal_measurements(Gauges* all, int body, int q, int v, const double* n1, const double* n2) {
  double x[3], y[3], back[3] = {-n1[0], -n1[1], -n1[2]};
  square_to(n1, n2, x, y);
  set(add_measurement(all, SR_MEASUREMENT_ANGLE, body, q, v), y, n2, x, n2);
  square_to(n2, n1, x, y);
  set(add_measurement(all, SR_MEASUREMENT_ANGLE, body, q + 1, v + 1), back, y, n1, x);
}

static void joint_gauges(const srModel* m, int j, const srJointOut* out, Gauges* all) {
  const srJointType type = (srJointType)m->joint_type[j];
  const int body = m->joint_body[j], q = m->joint_q[j], v = m->joint_v[j];
  if (type == SR_JOINT_UNIVERSAL) {
    universal_measurements(all, body, q, v, out->frame[0] + 8, out->frame[1] + 8);
  } else if (type == SR_JOINT_BALL) {
    add_measurement(all, SR_MEASUREMENT_ROTATION, body, q, v);
  } else if (type == SR_JOINT_FREE) {
    add_measurement(all, SR_MEASUREMENT_ROTATION, body, q + 3, v);
    add_measurement(all, SR_MEASUREMENT_ORIGIN, body, q, v + 3);
  } else {
    for (int k = 0; k < m->joint_nv[j]; k++) {
      const double* frame = out->frame[k];
      const bool slides = out->type[k] == SR_LINK_PRISMATIC;
      srMeasurement* measurement =
          add_measurement(all, slides ? SR_MEASUREMENT_SLIDE : SR_MEASUREMENT_ANGLE, body, q + k, v + k);
      if (slides) memcpy(measurement->e[0], frame + 8, sizeof measurement->e[0]);
      if (!slides) set(measurement, frame + 4, frame, frame, frame);
    }
  }
}

static void start_discrete(srCompiler* c, const Gauges* all) {
  srModel* m = c->m;
  double* z = NEW(c, double, all->nz);
  z[0] = c->absolute->t;
  for (int i = 0; i < all->n; i++) {
    const srMeasurement* measurement = &all->measurement[i];
    if (measurement->kind == SR_MEASUREMENT_ROTATION)
      memcpy(z + measurement->z, c->absolute->jq + measurement->q, 4 * sizeof *z);
    if (measurement->kind != SR_MEASUREMENT_ANGLE) continue;
    z[measurement->z] = c->absolute->jq[measurement->q];
    z[measurement->z + 1] = c->absolute->jv[measurement->v];
  }
  m->z0 = z;
  m->nz = all->nz;
}

static void make_gauges(srCompiler* c) {
  srModel* m = c->m;
  Gauges all = {.measurement = NEW(c, srMeasurement, m->njv + 1), .nz = 1};
  int* joint = NEW(c, int, m->njv);
  for (int j = 0; j < m->njoint; j++) {
    const int spec_joint = c->joint_of_spec_body[c->spec_of_body[j + 1]];
    srJointOut* out = &c->joint_out[j];
    const srJointKind* kind = sr_joint_kind((srJointType)m->joint_type[j]);
    srm_pose_identity(c->joint_frame + 16 * j);
    if (spec_joint < 0) {
      kind->expand(NULL, out);
    } else if (!sr_c_expand_joint(c, spec_joint, kind, out, c->joint_frame + 16 * j)) {
      return;  // reported before
    }
    joint_gauges(m, j, out, &all);
    for (int k = 0; k < m->joint_nv[j]; k++) joint[m->joint_v[j] + k] = j;
  }
  m->measurement = all.measurement;
  m->nmeasurement = all.n;
  m->jv_joint = joint;
  start_discrete(c, &all);
}

void sr_compile_free_bodies(srCompiler* c) {
  srModel* m = c->m;
  m->absolute = true;
  m->formulation = c->absolute->formulation;
  c->joint_out = sr_pool_alloc(&c->scratch, (size_t)(m->njoint + 1) * sizeof *c->joint_out);
  c->joint_frame = sr_pool_alloc(&c->scratch, (size_t)(m->njoint + 1) * 16 * sizeof *c->joint_frame);
  make_gauges(c);
  free_links(c);
  free_coordinates(c);
  m->nq = 7 * m->nbody;
  m->nv = 6 * m->nbody;
  m->q0 = copied(c, c->absolute->q, m->nq);
  m->v0 = copied(c, c->absolute->v, m->nv);
  m->dof_armature = NEW(c, double, m->nv);
}

// -------------------------------------------------------------------------------------------------------- closures
// NULL: none of this word.
static const srClosureKind* closure_kind(const srCompiler* c, srJointType type, const char** word) {
  *word = type == SR_JOINT_WELD ? "body" : sr_joint_word(type);
  const srClosureWord* found = c->catalog->closure(*word);
  return found ? found->kind : NULL;
}

// The closure that represents joint j; false when it needs none.
static bool joint_closure(srCompiler* c, int j, srClosure* x) {
  srModel* m = c->m;
  const int body = m->joint_body[j], spec_joint = c->joint_of_spec_body[c->spec_of_body[body]];
  const srJointOut* out = &c->joint_out[j];
  const srJointType type = (srJointType)m->joint_type[j];
  x->kind = closure_kind(c, type, &x->word);
  if (type == SR_JOINT_FREE) return false;
  if (x->kind == NULL) {
    sr_c_error(c, m->body_place[body], "joint '%s': no loop closure of type '%s' holds it; take --formulation relative",
               m->joint_name[j], x->word);
    return false;
  }
  x->name = m->joint_name[j];
  x->place = spec_joint < 0 ? m->body_place[body] : sr_c_kept_place(c, SR_ELEMENT_JOINT, spec_joint);
  x->point[0] = m->joint_point[j];
  x->point[1] = body;
  x->joint = j;
  x->tolerance = 1e-8;
  x->has_pitch = type == SR_JOINT_HELICAL;
  x->pitch = out->pitch;
  x->has_axis = m->joint_nv[j] > 0 && type != SR_JOINT_BALL;
  const double z[3] = {0, 0, 1};
  sr_closure_triad(x->has_axis ? out->frame[type == SR_JOINT_PLANAR ? 2 : 0] + 8 : z, x->frame);
  x->has_axis2 = type == SR_JOINT_UNIVERSAL;
  if (x->has_axis2) memcpy(x->axis2, out->frame[1] + 8, sizeof x->axis2);
  const char* problem = x->kind->setup(x);
  SR_ASSERT(!problem);
  (void)problem;
  return true;
}

int sr_compile_joint_closures(srCompiler* c, srClosure* out) {
  int n = 0;
  for (int j = 0; j < c->m->njoint; j++) {
    out[n] = (srClosure){.joint = -1};
    n += joint_closure(c, j, &out[n]);
  }
  return n;
}

// A ball in the axes of a common ancestor that moves: those of the ground do as well, except where two equations are selected by a
// normal that is fixed in the ancestor. In a planar loop the normal is fixed in all its bodies: then b stays on the line
// through a along it.
void sr_compile_free_ball(srCompiler* c, srClosure* x) {
  const srModel* m = c->m;
  const int ancestor = x->common;
  x->common = 0;
  if (!x->has_normal || ancestor == 0) return;
  double pose[16], normal[3], local[3];
  srm_pose_from_quaternion(c->absolute->q + 7 * (m->point_body[ancestor] - 1) + 3, pose);
  srm_pose_rotate(pose, x->frame[2], normal);
  const int body = m->point_body[x->point[0]];
  double frame[16], at[16];
  srm_pose_identity(frame);
  if (body > 0) srm_pose_from_quaternion(c->absolute->q + 7 * (body - 1) + 3, frame);
  srm_pose_compose(frame, m->point_pose + 16 * x->point[0], at);
  for (int i = 0; i < 3; i++) local[i] = srm_dot3(at + 4 * i, normal);
  x->kind = c->catalog->closure("point-line")->kind;
  x->has_normal = false;
  sr_closure_triad(local, x->frame);
  (void)x->kind->setup(x);
}

// -------------------------------------------------------------------------------------------------------- armature
// Bodies whose velocities the armature of a joint couples: a row of M over body i has them all.
static int place_of(const srModel* m, int row, int column) {
  for (int k = m->M_row[row]; k < m->M_row[row + 1]; k++) {
    if (m->M_column[k] == column) return k;
  }
  return -1;
}

static bool has_armature(const srModel* m, int j) {
  for (int k = 0; k < m->joint_nv[j]; k++) {
    if (m->joint_armature[m->joint_v[j] + k] > 0) return true;
  }
  return false;
}

static bool tied(const srModel* m, int a, int b) {
  const int young = a > b ? a : b, old = a > b ? b : a;
  return a == b || (m->body_parent[young] == old && has_armature(m, m->body_joint[young]));
}

// The pattern of M with the blocks of the armatures: bodies couple only with their parents and children.
static void widen_pattern(srCompiler* c) {
  srModel* m = c->m;
  const int n = m->nv;
  const srModel before = *m;
  int *row = NEW(c, int, n + 1), *column = NULL, count = 0, capacity = 0;
  for (int i = 0; i < n; i++) {
    for (int b = 1; b <= m->nbody; b++) {
      for (int k = 0; k < 6 && tied(m, m->dof_link[i], b); k++) {
        SR_PUSH(&c->scratch, column, count, capacity) = m->link_v[b] + k;
      }
    }
    row[i + 1] = count;
  }
  int* kept = NEW(c, int, count);
  if (count > 0) memcpy(kept, column, (size_t)count * sizeof *kept);
  m->M_row = row;
  m->M_column = kept;
  int* place = NEW(c, int, 2 * before.M_start[n]);
  for (int i = 0; i < n; i++) {
    int k = i;  // the path of i: within its body
    for (int p = before.M_start[i]; p < before.M_start[i + 1]; p++, k = m->dof_parent[k]) {
      place[2 * p] = place_of(m, i, k);
      place[2 * p + 1] = place_of(m, k, i);
    }
  }
  m->M_place = place;
}

void sr_compile_armature(srCompiler* c) {
  srModel* m = c->m;
  if (!m->absolute || !m->has_armature) return;
  widen_pattern(c);
  int* place = NEW(c, int, 144 * m->njoint);
  for (int j = 0; j < m->njoint; j++) {
    const int body = m->joint_body[j], parent = m->body_parent[body];
    for (int i = 0; i < 144; i++) {
      const int r = i / 12, s = i % 12;
      const int row = r < 6 ? parent : body, column = s < 6 ? parent : body;
      const bool none = !has_armature(m, j) || row == 0 || column == 0;
      place[144 * j + i] = none ? -1 : place_of(m, m->link_v[row] + r % 6, m->link_v[column] + s % 6);
    }
  }
  m->armature_place = place;
}
