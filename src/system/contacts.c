// The unilateral contacts of a model, as methods for rigid contact see them (integrate.h: srUnilateral).
//
// Contact elements are listed always, pairs of contact sets where they are near. With (w, u) the twist of b observed from a, c_k its columns, n the normal
// and r from b's origin to the point of contact, all in the axes of a (contact/place.h):
//   u_N = n.(u + w x r)   W_N,k = n.u_k + (r x n).w_k    the rate of the gap; r is along n for spheres
//   u_T = t.(u + w x r)   W_T,k = t.u_k + (r x t).w_k    for two unit tangents t that complete n to a right-handed triad; of a surface that moves in its
//                                                        body its velocity along t is added (b)
// A gap by formula has the rates dgap/dq v + dgap/dt, dslip/dq v + (slip speed at rest) and one tangent, a joint limit the rate of its
// coordinate and no tangent: their rows are the generalized forces of unit forces on gap, slip or joint. Tangents that do not exist are rows of zeros.
// The velocities of a contact are those of the path between its two frames, or those where a generalized force is not 0.
//
// Ids: elements have their index; a pair of a set has a number of its own behind them, made of set and shapes, whatever slot its instance takes.
#include <string.h>

#include "collide/collision.h"
#include "constraint/constraint.h"
#include "contact/element.h"
#include "dynamics/link.h"
#include "dynamics/measurement.h"
#include "force/force.h"
#include "force/instances.h"
#include "force/ports.h"
#include "math/pose.h"
#include "model/closure.h"
#include "model/private.h"
#include "system/system.h"

static bool is_contact(const srForceElement* e) { return e->contact != NULL && e->contact->law != NULL; }

int sr_contact_capacity(const srModel* m, const srData* d) {
  int n = d->instances != NULL ? d->instances->most_near : 0;
  for (int i = 0; i < m->nforce; ++i) n += is_contact(&m->force[i]);
  return n;
}

// Coordinates between a link and the ground, at the most. From the tips on: a long chain is walked once.
static int longest_path(const srModel* m) {
  int most = 0;
  for (int i = m->nlink - 1; i > 0 && 2 * most < m->nv; --i) {
    int n = 0;
    for (int k = i; k > 0; k = m->link_parent[k]) n += sr_link_nv[m->link_type[k]];
    if (n > most) most = n;
  }
  return most;
}

int sr_contact_columns(const srModel* m) {
  const int path = 2 * longest_path(m);
  int most = path;
  for (int i = 0; i < m->nforce; ++i) {  // each variable of a formula is a coordinate or a sensor between two frames
    const srForceElement* e = &m->force[i];
    if (is_contact(e) && e->law->port == SR_PORT_GAP && e->contact->nvariable * path > most)
      most = e->contact->nvariable * path;
  }
  return most < m->nv ? most : m->nv;
}

// ---- laws -------------------------------------------------------------------------------------------------------------

double sr_rigid_restitution(const srSurfaceLaws* c) {
  if (c->law->uses & SR_NORMAL_USES(e)) return c->p.e;
  return c->law->uses & SR_NORMAL_USES(D) ? 0.0 : 1.0;
}

static void put_laws(const srSurfaceLaws* c, srUnilateral* out) {
  out->mu = c->slip.law != NULL ? c->slip.k : 0.0;
  out->restitution = sr_rigid_restitution(c);
}

// ---- shapes -----------------------------------------------------------------------------------------------------------

// out[k] = column . (moment, force) over the columns of a path.
static void put_row(int n, const double* column, const double* moment, const double* force, double* out) {
  for (int k = 0; k < n; ++k) out[k] = srm_dot3(column + 6 * k, moment) + srm_dot3(column + 6 * k + 3, force);
}

typedef struct Shapes {
  int point[2];
  const srPairKind* pair;
  double radius[2];
  const srCollisionShape* shape[2];
} Shapes;

// Velocity of the surfaces in their bodies, of b relative to a, in the axes of a.
static void belt_of(const srModel* m, const srData* d, const Shapes* of, const double pose[16], double out[3]) {
  const double* belt[2];
  for (int k = 0; k < 2; ++k)
    belt[k] = of->shape[k]->belt >= 0 ? d->formula + m->priv->formula_belt + of->shape[k]->belt : NULL;
  out[0] = out[1] = out[2] = 0;
  if (belt[1] != NULL) srm_pose_rotate(pose, belt[1], out);
  for (int i = 0; i < 3 && belt[0] != NULL; ++i) out[i] -= belt[0][i];
}

static void put_shapes(const srModel* m, srData* d, const Shapes* of, srUnilateral* out) {
  const double none[3] = {0};
  double* column = d->work;  // 96 numbers per link and 8 per coordinate
  double triad[3][3], pose[16], moment[3], belt[3];
  srFrameMotion seen;
  srPairPoint at;
  sr_frame_motion(m, d, of->point[1], of->point[0], &seen);
  srm_pose_identity(pose);
  for (int k = 0; k < 9; ++k) pose[4 * (k % 3) + k / 3] = seen.rotation[k];
  memcpy(pose + 12, seen.position, sizeof seen.position);
  sr_pair_point(of->pair, of->radius, of->shape[0], of->shape[1], pose, &at);
  out->n = sr_path_columns(m, d, of->point[1], of->point[0], -1, out->column, column);
  sr_closure_triad(at.n, triad);
  out->gap = at.gap;
  belt_of(m, d, of, pose, belt);
  srm_cross3(at.r, at.n, moment);
  put_row(out->n, column, of->pair->place ? none : moment, at.n, out->W);
  for (int k = 0; k < 2; ++k) {
    srm_cross3(at.r, triad[k], moment);
    put_row(out->n, column, moment, triad[k], out->W + (k + 1) * out->n);
    out->b[1 + k] = srm_dot3(triad[k], belt);
  }
}

// ---- other elements ---------------------------------------------------------------------------------------------------

// The generalized force of a force f at the port of an element. d's forces are lost.
static void put_force(const srModel* m, srData* d, const srForceElement* e, const srPortMotion* motion, const double* f,
                      double* row) {
  memset(d->f, 0, (size_t)m->nv * sizeof *d->f);
  memset(d->jf, 0, (size_t)m->njv * sizeof *d->jf);
  memset(d->link_wrench, 0, 8 * (size_t)m->nlink * sizeof *d->link_wrench);
  sr_port_force(m, d, e, motion, f);
  sr_gather_wrenches(m, d);
  if (m->absolute) sr_measurement_transposed(m, d, d->jf, d->f);
  memcpy(row, d->f, (size_t)m->nv * sizeof *row);
}

// Rows over all velocities (3 x nv) to those that are not 0 in all of them.
static void put_sparse(const srModel* m, const double* full, srUnilateral* out) {
  out->n = 0;
  for (int i = 0; i < m->nv; ++i) {
    if (full[i] != 0 || full[m->nv + i] != 0) out->column[out->n++] = i;
  }
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < out->n; ++i) out->W[k * out->n + i] = full[k * m->nv + out->column[i]];
  }
}

static int put_element(const srModel* m, srData* d, const srForceElement* e, srUnilateral* out) {
  const srSurfaceLaws* c = e->contact;
  put_laws(c, out);
  if (e->law->port == SR_PORT_FRAMES) {
    const Shapes of = {{e->point[0], e->point[1]}, c->pair, {c->radius[0], c->radius[1]}, {c->shape[0], c->shape[1]}};
    put_shapes(m, d, &of, out);
    return 0;
  }
  srPortMotion motion;
  double rate;
  double* full = d->work;
  const int answer = sr_port_motion(m, d, e, &motion);
  if (answer != 0) return answer;
  memset(full, 0, 3 * (size_t)m->nv * sizeof *full);
  const srImpedanceIn in = {.x = motion.x, .xdot = motion.xdot, .data = c};
  sr_contact_gap(c, &in, &out->gap, &rate);
  if (e->law->port == SR_PORT_JOINT) {
    put_force(m, d, e, &motion, &(double){-c->side}, full);
    put_sparse(m, full, out);
    return 0;
  }
  const double gap[2] = {1, 0}, slip[2] = {0, 1}, *own = motion.formula + 3 + 2 * c->nvariable;
  put_force(m, d, e, &motion, gap, full);
  put_force(m, d, e, &motion, slip, full + m->nv);
  put_sparse(m, full, out);
  out->b[0] = own[0];
  out->b[1] = own[1];
  return 0;
}

// ---- identity ---------------------------------------------------------------------------------------------------------

static long pair_id(const srModel* m, const srNear* near) {
  return m->nforce + ((long)near->set * m->ncollider + near->a) * m->ncollider + near->b;
}

void sr_contact_names(const srModel* m, long id, const char** a, const char** b) {
  if (id < m->nforce) {
    *a = m->force[id].contact->a;
    *b = m->force[id].contact->b;
  } else {
    const long pair = (id - m->nforce) % ((long)m->ncollider * m->ncollider);
    *a = m->collider[pair / m->ncollider].name;
    *b = m->collider[pair % m->ncollider].name;
  }
}

// ---- the list ---------------------------------------------------------------------------------------------------------

static srUnilateral* begin(srUnilateral* out, int* count, long id) {
  srUnilateral* x = &out[(*count)++];
  *x = (srUnilateral){.id = id, .normal = -1, .tangent = -1, .W = x->W, .column = x->column};
  return x;
}

static int put_elements(const srModel* m, srData* d, srUnilateral* out, int* count) {
  for (int i = 0; i < m->nforce; ++i) {
    if (!is_contact(&m->force[i])) continue;
    const int answer = put_element(m, d, &m->force[i], begin(out, count, i));
    if (answer != 0) return answer;
  }
  return 0;
}

static void put_near(const srModel* m, srData* d, srUnilateral* out, int* count) {
  const struct srInstances* x = d->instances;
  for (int i = 0; i < x->nnear; ++i) {
    const srNear* near = &x->near[i];
    const srCollider *a = &m->collider[near->a], *b = &m->collider[near->b];
    bool swap;
    const Shapes of = {{a->point, b->point},
                       sr_pair_find((srShapeKind)a->kind, (srShapeKind)b->kind, &swap),
                       {a->radius, b->radius},
                       {&m->collision[a->shape], &m->collision[b->shape]}};
    srUnilateral* to = begin(out, count, pair_id(m, near));
    put_laws(sr_near_law(m, near), to);
    put_shapes(m, d, &of, to);
  }
}

int sr_contacts(void* user, double t, const double* q, srUnilateral* out, int* count) {
  const srModelSystem* s = user;
  const srModel* m = s->m;
  srData* d = s->d;
  *count = 0;
  if (sr_stop_requested(d)) return -1;
  (void)sr_evaluate(m, d, t, q, NULL, NULL, SR_STAGE_VELOCITY);
  d->stage = SR_STAGE_VELOCITY;  // forces are overwritten
  int answer = m->nformula > 0 ? sr_measure(m, d) : 0;
  if (answer == 0) answer = put_elements(m, d, out, count);
  if (answer == 0 && d->instances != NULL) answer = sr_near_at(m, d);
  if (answer == 0 && d->instances != NULL) put_near(m, d, out, count);
  return answer;
}
