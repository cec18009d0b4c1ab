// Force elements at their ports on the graph, as force/ports.c has them of numbers; laws by their definitions on the expression graph (force/laws.h), formulas from the model's own.
//
// The motion of a point is carried inwards, joint by joint, to the youngest link C that moves both ends of an element, in computational axes:
//   r' = p + T r,   w' = T (w + s),   u' = T (u + s x r + t)          s, t: rates of the joint, about and along its axes
// Forces go outwards along the same way, f = T^T f', to the link on which they act.
#include "symbolic/elements.h"
#include "symbolic/symbols.h"

#include <string.h>

#include "dynamics/link.h"
#include "expr/graph.h"
#include "force/derivative.h"
#include "force/force.h"
#include "force/ports.h"
#include "model/private.h"
#include "symbolic/lanes.h"

typedef struct Build {
  srSymPass* x;
  const srModel* m;
  srSymForces*
      out;  // where forces of an element are added: to `own`, or, of an element of a limb in a lane, to `limbs`
  srSymForces *own, *limbs;
  srSymImport* formulas;
  srSymMotion* sensor;  // nsensor
  bool* sensed;
} Build;

// ---- motion -------------------------------------------------------------------------------------------------------------

typedef struct End {  // a frame, in the axes of an observing link
  srMat R;
  srVec p, w, u;
} End;

static srVec column(const srMat* A, int k) { return (srVec){{A->x[k], A->x[3 + k], A->x[6 + k]}}; }
static void put_column(srMat* A, int k, srVec c) {
  for (int i = 0; i < 3; i++) A->x[3 * i + k] = c.x[i];
}

// Rates of a joint in the axes of its link.
static void rates_of(srSymPass* x, const srSymLink* l, srVec* s, srVec* t) {
  srGraph* g = x->g;
  *s = *t = srx_zero(g);
  if (l->type == SR_LINK_REVOLUTE || l->type == SR_LINK_HELICAL) s->x[2] = sr_sym_v(x, l->v);
  if (l->type == SR_LINK_PRISMATIC) t->x[2] = sr_sym_v(x, l->v);
  if (l->type == SR_LINK_HELICAL) t->x[2] = srx_mul(g, srx_number(g, l->pitch), sr_sym_v(x, l->v));
  for (int k = 0; k < 3 && (l->type == SR_LINK_BALL || l->type == SR_LINK_FREE); k++) s->x[k] = sr_sym_v(x, l->v + k);
  for (int k = 0; k < 3 && l->type == SR_LINK_FREE; k++) t->x[k] = sr_sym_v(x, l->v + 3 + k);
}

static End observed(srSymPass* x, int point, int observer, bool rotation) {
  srGraph* g = x->g;
  End e = {.w = srx_zero(g), .u = srx_zero(g)};
  sr_sym_place(x, point, &e.R, &e.p);
  for (int i = x->tree->m->point_link[point]; i != observer; i = x->tree->link[i].parent) {
    const srTurn* turn = &x->turn[i];
    srVec s, t;
    rates_of(x, &x->tree->link[i], &s, &t);
    e.u = sr_turn_up(g, turn, srx_plus(g, srx_plus(g, e.u, srx_cross3(g, s, e.p)), t));
    e.w = sr_turn_up(g, turn, srx_plus(g, e.w, s));
    e.p = srx_plus(g, x->p[i], sr_turn_up(g, turn, e.p));
    for (int k = 0; k < 3 && rotation; k++) put_column(&e.R, k, sr_turn_up(g, turn, column(&e.R, k)));
  }
  return e;
}

// ---- forces -------------------------------------------------------------------------------------------------------------

// A vector in the axes of `observer` to those of a link beyond it.
static srVec down(srSymPass* x, int link, int observer, srVec v) {
  if (link == observer) return v;
  return sr_turn_down(x->g, &x->turn[link], down(x, x->tree->link[link].parent, observer, v));
}

static void add(Build* b, int link, srVec moment, srVec force, double sign) {
  srGraph* g = b->x->g;
  if (link == 0) return;
  const srVec none = srx_zero(g);
  if (sign < 0) moment = srx_minus(g, none, moment), force = srx_minus(g, none, force);
  b->out->N[link] = srx_plus(g, b->out->N[link], moment);
  b->out->F[link] = srx_plus(g, b->out->F[link], force);
}

// At a point, on its link; in the axes of `observer`.
static void act(Build* b, int point, int observer, srVec moment, srVec force, double sign) {
  srSymPass* x = b->x;
  const int link = b->m->point_link[point];
  srMat R;
  srVec p;
  if (link == 0) return;
  sr_sym_place(x, point, &R, &p);
  const srVec f = down(x, link, observer, force), n = down(x, link, observer, moment);
  add(b, link, srx_plus(x->g, n, srx_cross3(x->g, p, f)), f, sign);
}

// The same, at a place `at` that may be beyond the link.
static void act_at(Build* b, int link, int observer, srVec at, srVec moment, srVec force, double sign) {
  srSymPass* x = b->x;
  srGraph* g = x->g;
  int way[64], n = 0;
  if (link == 0) return;
  for (int i = link; i != observer; i = x->tree->link[i].parent, n++) way[n % 64] = i;
  SR_ASSERT(n <= 64);
  srVec about = srx_plus(g, moment, srx_cross3(g, at, force));
  while (n-- > 0) {
    const srTurn* turn = &x->turn[way[n]];
    about = sr_turn_down(g, turn, srx_minus(g, about, srx_cross3(g, x->p[way[n]], force)));
    force = sr_turn_down(g, turn, force);
  }
  add(b, link, about, force, sign);
}

void sr_sym_gather(srSymPass* x, srSymForces* forces) {
  srGraph* g = x->g;
  for (int i = x->tree->n - 1; i > 0; i--) {
    const srSymLink* l = &x->tree->link[i];
    const srVec F = forces->F[i], N = forces->N[i];
    srNode* tau = forces->tau + l->v;
    sr_sym_note(x, i, "external forces to the parent");
    if (l->type == SR_LINK_REVOLUTE || l->type == SR_LINK_HELICAL) tau[0] = srx_add(g, tau[0], N.x[2]);
    if (l->type == SR_LINK_PRISMATIC) tau[0] = srx_add(g, tau[0], F.x[2]);
    if (l->type == SR_LINK_HELICAL) tau[0] = srx_add(g, tau[0], srx_mul(g, srx_number(g, l->pitch), F.x[2]));
    for (int k = 0; k < 3 && (l->type == SR_LINK_BALL || l->type == SR_LINK_FREE); k++)
      tau[k] = srx_add(g, tau[k], N.x[k]);
    for (int k = 0; k < 3 && l->type == SR_LINK_FREE; k++) tau[3 + k] = srx_add(g, tau[3 + k], F.x[k]);
    if (l->parent == 0) continue;
    const srVec up = sr_turn_up(g, &x->turn[i], F), moment = sr_turn_up(g, &x->turn[i], N);
    forces->F[l->parent] = srx_plus(g, forces->F[l->parent], up);
    forces->N[l->parent] = srx_plus(g, forces->N[l->parent], srx_plus(g, moment, srx_cross3(g, x->p[i], up)));
  }
}

// ---- formulas -----------------------------------------------------------------------------------------------------------

typedef struct Distance {
  int observer;
  srVec direction;
  srNode z, rate;
} Distance;

static Distance distance_of(Build* b, const srForceElement* e) {
  srSymPass* x = b->x;
  srGraph* g = x->g;
  const int observer = sr_sym_common_link(x, b->m->point_link[e->point[0]], b->m->point_link[e->point[1]]);
  const End A = observed(x, e->point[0], observer, false), B = observed(x, e->point[1], observer, false);
  const srVec r = srx_minus(g, B.p, A.p);
  const srNode z = srx_sqrt(g, srx_dot3(g, r, r));
  srVec n;
  for (int i = 0; i < 3; i++) n.x[i] = srx_div(g, r.x[i], z);
  return (Distance){observer, n, z, srx_dot3(g, n, srx_minus(g, B.u, A.u))};
}

// A scalar of a frame sensor, in the order of srData.sensor.
static srNode scalar_of(Build* b, int value) {
  int i = 0;
  while (b->m->sensor[i].value < 0 || value < b->m->sensor[i].value ||
         value >= b->m->sensor[i].value + SR_SENSOR_SCALARS)
    i++;
  const srSensor* sensor = &b->m->sensor[i];
  if (!b->sensed[i])
    sr_sym_frame_motion(b->x, sensor->point, sensor->relative_to, SR_SYM_VELOCITY, NULL, &b->sensor[i]);
  b->sensed[i] = true;
  const srSymMotion* s = &b->sensor[i];
  const int k = value - sensor->value;
  return k < 3 ? s->p.x[k] : k < 6 ? s->u.x[k - 3] : k < 9 ? s->w.x[k - 6] : s->R.x[k - 9];
}

// z or zdot of the link whose argument it is.
static srNode argument_of(Build* b, int index) {
  for (int i = 0; i < b->m->nforce; i++) {
    const srForceElement* e = &b->m->force[i];
    if (e->distance_arg < 0 || (index != e->distance_arg && index != e->distance_arg + 1)) continue;
    const Distance d = distance_of(b, e);
    return index == e->distance_arg ? d.z : d.rate;
  }
  SR_ASSERT(false && "an argument without its element");
  return SR_NO_NODE;
}

static srNode variable(void* user, srVarKind kind, int index) {
  Build* b = user;
  switch (kind) {
    case SR_VAR_SENSOR: return scalar_of(b, index);
    case SR_VAR_ARG: return argument_of(b, index);
    default: return sr_graph_var(b->x->g, kind, index);
  }
}

static srNode parameter(void* user, const char* name) {
  const Build* b = user;
  const int node = sr_names_find(&b->x->tree->symbols->names, name);
  return node < 0 ? SR_NO_NODE : b->x->symbol[node];
}

static srNode formula(Build* b, int index) { return sr_sym_import(b->formulas, b->m->priv->law_root[index]); }

// ---- laws ---------------------------------------------------------------------------------------------------------------

// A definition's variables: x and its rates as q and v, states, parameters as arguments.
typedef struct Given {
  Build* b;
  const srForceElement* e;
  const srNode *x, *xdot;
} Given;

static srNode given(void* user, srVarKind kind, int index) {
  const Given* of = user;
  srGraph* g = of->b->x->g;
  switch (kind) {
    case SR_VAR_Q: return of->x[index];
    case SR_VAR_V: return of->xdot[index];
    case SR_VAR_STATE: return sr_graph_var(g, SR_VAR_STATE, of->e->y + index);
    default: return sr_sym_element_number(of->b->x, of->e, index, of->e->p[index]);
  }
}

// Forces of a law, or of its formulas.
static void law_force(Build* b, const srForceElement* e, const srNode* x, const srNode* xdot, srNode* f) {
  const int n = sr_port_width(e->law->port);
  if (e->formula >= 0) {
    for (int i = 0; i < n; i++) f[i] = formula(b, e->formula + i);
    return;
  }
  srPool* pool = b->x->tree->pool;
  srGraph* own = sr_graph_create(pool);
  srImpedanceGraph* law = sr_pool_alloc(pool, sizeof *law);
  Given of = {b, e, x, xdot};
  const bool defined = sr_law_graph(e->law, own, law);
  SR_ASSERT(defined);
  (void)defined;
  srSymImport* import = sr_sym_import_begin(pool, own, b->x->g, given, &of);
  for (int i = 0; i < n; i++) f[i] = sr_sym_import(import, law->f[i]);
  for (int i = 0; i < e->law->ny; i++) b->out->ydot[e->y + i] = sr_sym_import(import, law->ydot[i]);
}

// ---- elements -----------------------------------------------------------------------------------------------------------

static srSymLaw law_of(Build* b, const srForceElement* e, const srNode* belt) {
  srGraph* g = b->x->g;
  const srNode stage = sr_graph_var(g, SR_VAR_STAGE, 0);
  const srNode own = srx_number(g, e->tau);
  return (srSymLaw){b->x, e, srx_if(g, srx_less(g, stage, srx_number(g, 0)), own, stage), NULL, belt};
}

static void joint_element(Build* b, const srForceElement* e) {
  srSymPass* x = b->x;
  srGraph* g = x->g;
  const srNode q = e->qdof >= 0 ? sr_sym_q(x, e->qdof) : srx_number(g, 0), rate = sr_sym_v(x, e->dof);
  srNode f[6];
  if (e->contact != NULL) {
    const srSymLaw law = law_of(b, e, NULL);
    f[0] = e->contact->law == NULL ? sr_sym_friction_joint(&law, rate, b->out->ydot + e->y)
                                   : sr_sym_end_joint(&law, q, rate);
  } else {
    law_force(b, e, &q, &rate, f);
  }
  b->out->tau[e->dof] = srx_add(g, b->out->tau[e->dof], f[0]);
}

static void distance_element(Build* b, const srForceElement* e) {
  srGraph* g = b->x->g;
  const Distance d = distance_of(b, e);
  srNode f[6];
  law_force(b, e, &d.z, &d.rate, f);
  const srVec force = srx_times(g, f[0], d.direction);
  act(b, e->point[0], d.observer, srx_zero(g), force, -1);
  act(b, e->point[1], d.observer, srx_zero(g), force, 1);
}

static void point_element(Build* b, const srForceElement* e) {
  srNode f[6];
  law_force(b, e, NULL, NULL, f);
  act(b, e->point[0], 0, (srVec){{f[0], f[1], f[2]}}, (srVec){{f[3], f[4], f[5]}}, 1);
}

// R^T R' and the like of the frames of two points, and what acts between them.
typedef struct Pair {
  int observer;
  End A, B;
  srSymFrames seen;
} Pair;

static Pair pair_of(Build* b, int one, int two, bool rotation) {
  srSymPass* x = b->x;
  srGraph* g = x->g;
  Pair p = {.observer = sr_sym_common_link(x, b->m->point_link[one], b->m->point_link[two])};
  p.A = observed(x, one, p.observer, true), p.B = observed(x, two, p.observer, rotation);
  const srMat back = srx_transpose(p.A.R);
  const srVec d = srx_minus(g, p.B.p, p.A.p);
  const srVec u = srx_minus(g, srx_minus(g, p.B.u, p.A.u), srx_cross3(g, p.A.w, d));
  p.seen.x = srx_mat_vec(g, &back, d);
  p.seen.w = srx_mat_vec(g, &back, srx_minus(g, p.B.w, p.A.w));
  p.seen.u = srx_mat_vec(g, &back, u);
  for (int k = 0; k < 3 && rotation; k++) put_column(&p.seen.R, k, srx_mat_vec(g, &back, column(&p.B.R, k)));
  return p;
}

static void act_between(Build* b, int one, int two, const Pair* p) {
  srGraph* g = b->x->g;
  const srVec moment = srx_mat_vec(g, &p->A.R, p->seen.moment), force = srx_mat_vec(g, &p->A.R, p->seen.force);
  act_at(b, b->m->point_link[one], p->observer, p->B.p, moment, force, -1);
  act(b, two, p->observer, moment, force, 1);
}

// theta with exp[theta] = R, |theta| <= pi, by the quaternion of R: its largest entry first (Shepperd 1978).
static srVec rotation_vector(srGraph* g, const srMat* R) {
  const srNode *r = R->x, one = srx_number(g, 1), zero = srx_number(g, 0), half = srx_number(g, 0.5);
  srNode square[4], by[4][4], q[4];
  for (int k = 0; k < 4; k++) {  // 4 times the square of each entry, and products with the others
    srNode sum = one;
    for (int i = 0; i < 3; i++) sum = (k == 0 || i == k - 1 ? srx_add : srx_sub)(g, sum, r[4 * i]);
    square[k] = sum;
  }
  const srNode w[3] = {srx_sub(g, r[7], r[5]), srx_sub(g, r[2], r[6]), srx_sub(g, r[3], r[1])};
  for (int i = 0; i < 3; i++) {
    by[0][1 + i] = by[1 + i][0] = w[i];
    const int k = (i + 1) % 3;
    by[1 + i][1 + k] = by[1 + k][1 + i] = srx_add(g, r[3 * i + k], r[3 * k + i]);
  }
  for (int k = 0; k < 4; k++) by[k][k] = square[k];
  srNode most = square[3];
  for (int i = 0; i < 4; i++) q[i] = by[3][i];
  for (int k = 2; k >= 0; k--) {
    const srNode larger = srx_at_most(g, most, square[k]);
    for (int i = 0; i < 4; i++) q[i] = srx_if(g, larger, by[k][i], q[i]);
    most = srx_if(g, larger, square[k], most);
  }
  const srNode scale = srx_div(g, half, srx_sqrt(g, most));
  for (int i = 0; i < 4; i++) q[i] = srx_mul(g, q[i], scale);
  const srNode minus = srx_less(g, q[0], zero), size = srx_norm(g, 3, q + 1);
  const srNode cosine = srx_if(g, minus, srx_neg(g, q[0]), q[0]);
  const srNode two = srx_number(g, 2);
  const srNode angle = srx_div(g, srx_mul(g, two, srx_2(g, SR_OP_ATAN2, size, cosine)), size);
  const srNode factor = srx_if(g, srx_less(g, srx_number(g, 1e-10), size), angle, srx_div(g, two, cosine));
  const srNode signed_factor = srx_if(g, minus, srx_neg(g, factor), factor);
  return srx_times(g, signed_factor, (srVec){{q[1], q[2], q[3]}});
}

static void frames_element(Build* b, const srForceElement* e) {
  srGraph* g = b->x->g;
  Pair p = pair_of(b, e->point[0], e->point[1], sr_sym_sees_rotation(e));
  if (e->contact != NULL) {
    srNode belt[6] = {0};
    for (int k = 0; k < 2 && e->formula >= 0; k++) {
      const int at = sr_sym_belt(e, k);
      for (int i = 0; i < 3 && at >= 0; i++) belt[3 * k + i] = formula(b, e->formula + at + i);
    }
    const srSymLaw law = law_of(b, e, e->formula >= 0 ? belt : NULL);
    sr_sym_shapes(&law, &p.seen, b->out->ydot + e->y);
  } else {
    srNode x[6], xdot[6], f[6];
    const srVec theta = rotation_vector(g, &p.seen.R);
    for (int i = 0; i < 3; i++) x[i] = theta.x[i], x[3 + i] = p.seen.x.x[i];
    for (int i = 0; i < 3; i++) xdot[i] = p.seen.w.x[i], xdot[3 + i] = p.seen.u.x[i];
    law_force(b, e, x, xdot, f);
    p.seen.moment = (srVec){{f[0], f[1], f[2]}}, p.seen.force = (srVec){{f[3], f[4], f[5]}};
  }
  act_between(b, e->point[0], e->point[1], &p);
}

static void gap_element(Build* b, const srForceElement* e) {
  srGraph* g = b->x->g;
  const srSymLaw law = law_of(b, e, NULL);
  srNode f[2];
  sr_sym_gap(&law, formula(b, e->formula), formula(b, e->formula + 1), formula(b, e->formula + 2), f,
             b->out->ydot + e->y);
  for (int k = 0; k < e->contact->nvariable; k++) {
    const srContactVariable* v = &e->contact->variable[k];
    const srNode by = srx_add(g, srx_mul(g, f[0], formula(b, e->formula + 3 + 2 * k)),
                              srx_mul(g, f[1], formula(b, e->formula + 4 + 2 * k)));
    if (v->dof >= 0) {
      b->out->tau[v->dof] = srx_add(g, b->out->tau[v->dof], by);
      continue;
    }
    const srSensor* sensor = &b->m->sensor[v->index];
    Pair p = pair_of(b, sensor->relative_to, sensor->point, false);
    p.seen.moment = p.seen.force = srx_zero(g);
    *(v->scalar >= 6 ? &p.seen.moment.x[v->scalar - 6] : &p.seen.force.x[v->scalar % 3]) = by;
    act_between(b, sensor->relative_to, sensor->point, &p);
  }
}

static unsigned kind_of(const srForceElement* e) {
  if (e->contact != NULL) return SR_SYM_CONTACTS;
  return e->law->port == SR_PORT_POINT ? SR_SYM_EXTERNAL : SR_SYM_LINKS;
}

static srSymForces* no_forces(srSymPass* x) {
  const srModel* m = x->tree->m;
  srPool* pool = x->tree->pool;
  srSymForces* out = sr_pool_alloc(pool, sizeof *out);
  out->tau = sr_pool_alloc(pool, ((size_t)m->nv + 1) * sizeof *out->tau);
  out->ydot = sr_pool_alloc(pool, ((size_t)m->ny + 1) * sizeof *out->ydot);
  out->F = sr_pool_alloc(pool, (size_t)x->tree->n * sizeof *out->F);
  out->N = sr_pool_alloc(pool, (size_t)x->tree->n * sizeof *out->N);
  for (int i = 0; i < m->nv; i++) out->tau[i] = srx_number(x->g, 0);
  for (int i = 0; i < m->ny; i++) out->ydot[i] = srx_number(x->g, 0);
  for (int i = 0; i < x->tree->n; i++) out->F[i] = out->N[i] = srx_zero(x->g);
  return out;
}

// Forces of elements of limbs: on the limbs themselves as they are, on the base those of all lanes.
static void add_limbs(Build* b) {
  srSymPass* x = b->x;
  srGraph* g = x->g;
  for (int i = 1; i < x->tree->n; i++) {
    const bool limb = sr_sym_is_limb(x->tree, i);
    for (int k = 0; k < 3; k++) {
      const srNode F = b->limbs->F[i].x[k], N = b->limbs->N[i].x[k];
      b->own->F[i].x[k] = srx_add(g, b->own->F[i].x[k], limb ? F : sr_sym_lane_sum(x, F));
      b->own->N[i].x[k] = srx_add(g, b->own->N[i].x[k], limb ? N : sr_sym_lane_sum(x, N));
    }
  }
  for (int i = 0; i < b->m->nv; i++) {
    const srNode f = b->limbs->tau[i];
    const bool limb = sr_sym_is_limb(x->tree, b->m->dof_link[i]);
    b->own->tau[i] = srx_add(g, b->own->tau[i], limb ? f : sr_sym_lane_sum(x, f));
  }
  for (int i = 0; i < b->m->ny; i++) b->own->ydot[i] = srx_add(g, b->own->ydot[i], b->limbs->ydot[i]);
}

static Build* begin(srSymPass* x) {
  const srModel* m = x->tree->m;
  srPool* pool = x->tree->pool;
  Build* b = sr_pool_alloc(pool, sizeof *b);
  *b = (Build){.x = x, .m = m, .own = no_forces(x), .limbs = x->tree->lanes ? no_forces(x) : NULL};
  b->sensor = sr_pool_alloc(pool, ((size_t)m->nsensor + 1) * sizeof *b->sensor);
  b->sensed = sr_pool_alloc(pool, ((size_t)m->nsensor + 1) * sizeof *b->sensed);
  b->formulas = sr_sym_import_begin(pool, m->priv->graph, x->g, variable, b);
  if (x->tree->symbols) b->formulas->parameter = parameter;
  return b;
}

srSymForces* sr_sym_forces(srSymPass* x, unsigned which) {
  Build* b = begin(x);
  const srModel* m = x->tree->m;
  for (int i = 0; i < m->nforce; i++) {
    const srForceElement* e = &m->force[i];
    const int lane = x->tree->lanes ? x->tree->lanes->element[i] : -1;
    if (!(which & kind_of(e)) || (lane >= 0 && lane != x->tree->lane)) continue;
    b->out = lane >= 0 ? b->limbs : b->own;
    sr_sym_note_text(x, e->name);
    switch (e->law->port) {
      case SR_PORT_JOINT: joint_element(b, e); break;
      case SR_PORT_DISTANCE: distance_element(b, e); break;
      case SR_PORT_POINT: point_element(b, e); break;
      case SR_PORT_FRAMES: frames_element(b, e); break;
      case SR_PORT_GAP: gap_element(b, e); break;
    }
  }
  for (int i = 0; i < m->priv->ny_user && (which & SR_SYM_STATES); i++)
    b->own->ydot[i] = formula(b, m->priv->formula_rate + i);
  if (b->limbs != NULL) add_limbs(b);
  return b->own;
}

// ---- what is refused ----------------------------------------------------------------------------------------------------

int sr_sym_formulas_of(const srForceElement* e) {
  if (e->formula < 0 || e->law->port == SR_PORT_FRAMES) return 0;
  return e->law->port == SR_PORT_GAP ? 3 + 2 * e->contact->nvariable : sr_port_width(e->law->port);
}

static const char* formula_missing(srPool* pool, const srModel* m, int index, const char* of, const char* name) {
  const char* function = sr_sym_import_missing(m->priv->graph, m->priv->law_root[index]);
  if (function == NULL) return NULL;
  return sr_pool_printf(pool, "has no code for the function '%s' in a formula of the %s '%s'", function, of, name);
}

static const char* element_missing(srPool* pool, const srModel* m, const srForceElement* e) {
  const char* name = e->name ? e->name : "";
  for (int i = 0; i < sr_sym_formulas_of(e); i++) {
    const char* missing = formula_missing(pool, m, e->formula + i, "element", name);
    if (missing != NULL) return missing;
  }
  if (e->contact != NULL) {
    const char* clause = sr_sym_contact_missing(pool, e->contact);
    return clause ? sr_pool_printf(pool, "has no code for the contact '%s': %s", name, clause) : NULL;
  }
  srImpedanceGraph* law = sr_pool_alloc(pool, sizeof *law);
  if (e->formula >= 0 || sr_law_graph(e->law, sr_graph_create(pool), law)) return NULL;
  return sr_pool_printf(pool, "has no code for the law '%s' of the element '%s': it is C code", e->law->name, name);
}

const char* sr_sym_forces_missing(srPool* pool, const srModel* m, unsigned which) {
  for (int i = 0; i < m->nforce; i++) {
    if (!(which & kind_of(&m->force[i]))) continue;
    const char* missing = element_missing(pool, m, &m->force[i]);
    if (missing != NULL) return missing;
  }
  if ((which & SR_SYM_CONTACTS) && m->nset > 0)
    return sr_pool_printf(pool, "has no code for the contact '%s' of many shapes: name its pairs one by one",
                          m->set[0].name);
  for (int i = 0; i < m->priv->ny_user && (which & SR_SYM_STATES); i++) {
    const char* missing = formula_missing(pool, m, m->priv->formula_rate + i, "state", m->y_name[i]);
    if (missing != NULL) return missing;
  }
  return NULL;
}
