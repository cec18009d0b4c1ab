// Closed contacts as constraint equations of a system: its own callbacks with the rows of contacts among them.
//
//   equations   0 .. np-1                 position equations of the system
//               np .. np+most-1           gaps of closed contacts: g = gap, G = W_N; D = W_N + r.W_T with r = -mu s/|s| while one slides
//               .. ng+most-1              velocity equations of the system
//               ng+most .. ng+3 most-1    tangents of contacts that stick: G = D = W_T
//
// Clamps, friction under given normal forces, have no gap and no normal: tangents while they stick, forces in f while they slide (rigid_clamp.c).
//
// Redundant rows with friction. The multipliers of dependent equations are not unique, and with D different from G each choice is another motion: an integrator
// that leaves one of them out lets a body turn that slides on two corners and leans on others that stick. Contacts of equal compliance choose lambda in
// range(R), R the normals of all closed contacts and the tangents of those that stick, as sri_rigid_solve_rows does for their forces. With B and E orthonormal
//   lambda = B y,   B a basis of range(R): the forces of the equations have the rows B^T D
//   G = E^T R,      E a basis of the combinations of normals, which have a position form, then of those of tangents that are independent of them
// There are as many of both, and which force belongs to which equation has no meaning. B and E are those of the last event.
#include <math.h>
#include <string.h>

#include "integrate/rigid.h"

#define CONTINUES 0.3  // of the normal: difference of one that continues it in a step

// ---- contacts at a position ---------------------------------------------------------------------------------------------

static int find(const srUnilateral* list, int count, int guess, long id) {
  if (guess >= 0 && guess < count && list[guess].id == id) return guess;
  for (int i = 0; i < count; ++i) {
    if (list[i].id == id) return i;
  }
  return -1;
}

// How much the normals of two contacts differ as forces, relative to the first; 1: they act on other velocities.
static double turned(const srUnilateral* a, const srUnilateral* b) {
  double sum = 0, size = 0;
  if (a->n != b->n || memcmp(a->column, b->column, (size_t)a->n * sizeof *a->column) != 0) return 1;
  for (int i = 0; i < a->n; ++i) {
    sum += (a->W[i] - b->W[i]) * (a->W[i] - b->W[i]);
    size += a->W[i] * a->W[i];
  }
  return size > 0 ? sqrt(sum / size) : 1;
}

static bool is_closed(const srRigid* x, long id) {
  for (int k = 0; k < x->nclosed; ++k) {
    if (x->closed[k].id == id) return true;
  }
  return false;
}

// Where one shape rolls on another the features that touch change, and the gap and its rate do not jump (the wall of a capsule and its end): the contact of the
// same pair with about the same normal force continues the one that is not listed any more. -1: none.
static int heir_of(const srRigid* x, int k, const srUnilateral* list, int count) {
  const srUnilateral* last = &x->closed[k].last;
  int best = -1;
  double least = CONTINUES;
  for (int i = 0; i < count && last->pair != 0; ++i) {
    if (list[i].pair != last->pair || is_closed(x, list[i].id)) continue;
    const double other = turned(last, &list[i]);
    if (other < least) least = other, best = i;
  }
  return best;
}

static bool is_listed(const srRigid* x, double t, const double* q) {
  return x->listed && x->t_list == t && memcmp(x->q_list, q, (size_t)x->inner.nq * sizeof *q) == 0;
}

void sri_rigid_find_places(srRigid* x) {
  for (int k = 0; k < x->nclosed; ++k) {
    srClosed* c = &x->closed[k];
    c->at = find(x->list, x->count, c->at, c->id);
    if (c->at < 0) c->at = heir_of(x, k, x->list, x->count);
  }
}

// The list is that of a position.
static void keep_list(srRigid* x, double t, const double* q, bool whole) {
  memcpy(x->q_list, q, (size_t)x->inner.nq * sizeof *q);
  x->t_list = t;
  x->listed = true;
  x->whole = whole;
  sri_rigid_find_places(x);
}

int sri_rigid_list(srRigid* x, double t, const double* q) {
  const srSystem* s = &x->inner;
  if (is_listed(x, t, q) && x->whole) return 0;
  x->listed = x->rated = false;
  const int answer = sri_list(s, t, q, x->list, &x->count);
  if (answer == 0) keep_list(x, t, q, true);
  return answer;
}

// The pairs of closed contacts, each once.
static int closed_pairs(srRigid* x) {
  int n = 0;
  for (int k = 0; k < x->nclosed; ++k) {
    bool known = false;
    for (int i = 0; i < n && !known; ++i) known = x->pairs[i] == x->closed[k].last.pair;
    if (!known) x->pairs[n++] = x->closed[k].last.pair;
  }
  return n;
}

int sri_rigid_list_rates(srRigid* x, double t, const double* q, const double* v, bool alone) {
  const srSystem* s = &x->inner;
  const size_t size = (size_t)s->nv * sizeof *v;
  if (s->contacts_chosen == NULL) return sri_rigid_list(x, t, q);
  if (is_listed(x, t, q) && (x->whole || alone) && (v == NULL || (x->rated && memcmp(x->v_list, v, size) == 0))) {
    return 0;
  }
  const srContactChoice choice = {
      .npair = closed_pairs(x), .pair = x->pairs, .alone = alone, .rate = v != NULL ? x->rate : NULL, .v = v};
  x->listed = x->rated = false;
  const int answer = sri_list_chosen(s, t, q, &choice, x->list, &x->count);
  if (answer != 0) return answer;
  if (v != NULL) memcpy(x->v_list, v, size);
  x->rated = v != NULL;
  keep_list(x, t, q, !alone);
  return 0;
}

void sri_rigid_rename(srRigid* x) {
  for (int k = 0; k < x->nclosed; ++k) {
    if (x->closed[k].at >= 0) x->closed[k].id = x->list[x->closed[k].at].id;
  }
}

const srUnilateral* sri_rigid_contact(srRigid* x, int k) {
  srClosed* c = &x->closed[k];
  const srSystem* s = &x->inner;
  if (c->at >= 0) return &x->list[c->at];
  c->last.gap = c->gap_last;
  if (s->difference != NULL && s->difference(s->user, x->q_last, x->q_list, x->dq) == 0) {
    c->last.gap += sri_contact_row_times(&c->last, 0, x->dq);
  }
  return &c->last;
}

void sri_rigid_keep(srRigid* x, const double* q) {
  for (int k = 0; k < x->nclosed; ++k) {
    srClosed* c = &x->closed[k];
    if (c->at < 0) continue;
    const srUnilateral* from = &x->list[c->at];
    int* column = c->last.column;
    double* W = c->last.W;
    c->last = *from;
    c->last.column = column;
    c->last.W = W;
    memcpy(column, from->column, (size_t)from->n * sizeof *column);
    memcpy(W, from->W, (size_t)((1 + x->inner.ntangent) * from->n) * sizeof *W);
    c->gap_last = from->gap;
  }
  memcpy(x->q_last, q, (size_t)x->inner.nq * sizeof *q);
}

double sri_rigid_slip(const srUnilateral* c, const double* v, double s[2]) {
  s[0] = sri_contact_velocity(c, 1, v);
  s[1] = sri_contact_velocity(c, 2, v);
  return hypot(s[0], s[1]);
}

void sri_rigid_friction(const srRigid* x, int k, const srUnilateral* c, const double* v, double out[2]) {
  const srClosed* at = &x->closed[k];
  out[0] = out[1] = 0;
  if (at->status == SR_RIGID_CONE) {
    memcpy(out, at->ratio, sizeof at->ratio);
  } else if (at->status == SR_RIGID_SLIDES && at->mu > 0) {
    double s[2] = {at->along[0], at->along[1]};
    double length = at->planar || at->straight ? 1 : sri_rigid_slip(c, v, s);
    // Beyond a slip of 0, which is an event, the force is continued smoothly.
    if (s[0] * at->along[0] + s[1] * at->along[1] < 0) length = -length;
    for (int i = 0; i < 2 && length != 0; ++i) out[i] = -at->mu * s[i] / length;
  }
}

// ---- equations ----------------------------------------------------------------------------------------------------------

int sri_rigid_row(const srRigid* x, int k, int direction) {
  return direction == 0 ? k : x->most + 2 * k + direction - 1;
}

static int first_normal(const srRigid* x) { return x->inner.np; }
static int first_tangent(const srRigid* x) { return x->inner.ng + x->most; }

void sri_rigid_activate(srRigid* x) {
  const srSystem* s = &x->inner;
  for (int k = 0; k < x->outer.ng; ++k) x->active[k] = 0;
  for (int k = 0; k < s->ng; ++k) {
    x->active[k < s->np ? k : k + x->most] = s->active == NULL || s->active[k] != 0;
  }
  const int normals = x->combined ? x->rank_normal : x->ncontact;
  const unsigned char now = (unsigned char)(1 + x->generation % 128);  // after each event they are of other contacts
  for (int k = 0; k < normals; ++k) x->active[first_normal(x) + k] = now;
  for (int k = normals; k < x->rank && x->combined; ++k) x->active[first_tangent(x) + k - normals] = now;
  for (int k = 0; k < x->nclosed && !x->combined; ++k) {
    if (x->closed[k].status != SR_RIGID_STICKS || x->closed[k].held) continue;
    x->active[first_tangent(x) + 2 * k] = now;
    x->active[first_tangent(x) + 2 * k + 1] = x->closed[k].planar ? 0 : now;
  }
}

// Numbers of G of the inner system before its velocity equations.
static size_t numbers_before(const srSystem* s) {
  return s->G_sparsity != NULL ? (size_t)s->G_sparsity->row[s->np] : (size_t)s->np * (size_t)s->nv;
}

// The rows of the inner system (from) into those of the outer one, and zeros for contacts; the first row of the normals in *normal, of the tangents in *tangent.
static void spread(const srRigid* x, const double* from, double* to, double** normal, double** tangent) {
  const srSystem* s = &x->inner;
  const size_t before = numbers_before(s), all = sri_rows_count(s), width = (size_t)s->nv, most = (size_t)x->most;
  *normal = to + before;
  *tangent = to + all + most * width;
  if (before > 0) memcpy(to, from, before * sizeof *to);
  memset(*normal, 0, most * width * sizeof *to);
  if (all > before) memcpy(to + before + most * width, from + before, (all - before) * sizeof *to);
  memset(*tangent, 0, 2 * most * width * sizeof *to);
}

// A combination of the rows of a contact: out += normal W_N + s.W_T.
static void add_rows(const srUnilateral* c, double normal, const double s[2], double scale, double* out) {
  sri_contact_row_add(c, 0, scale * normal, out);
  for (int k = 0; k < 2; ++k) {
    if (s[k] != 0) sri_contact_row_add(c, 1 + k, scale * s[k], out);
  }
}

// Where the numbers of equation i of the contacts are among those of the outer system, after their first normal and their first tangent.
static double* row_at(const srRigid* x, int i, double* normal, double* tangent, size_t width) {
  return i < x->rank_normal ? normal + (size_t)i * width : tangent + (size_t)(i - x->rank_normal) * width;
}

// Row `row` of the contacts, in the combinations of a basis: scale (normal W_N + s.W_T).
static void add_combined(const srRigid* x, const double* basis, int row, const srUnilateral* c, double normal,
                         const double s[2], double* normals, double* tangents) {
  const size_t width = (size_t)x->inner.nv;
  for (int i = 0; i < x->rank; ++i) {
    const double weight = basis[(size_t)i * 3 * (size_t)x->most + (size_t)row];
    if (weight != 0) add_rows(c, normal, s, weight, row_at(x, i, normals, tangents, width));
  }
}

static void add_normal(const srRigid* x, int k, const srUnilateral* c, const double s[2], const double* basis,
                       double* normals, double* tangents) {
  if (k >= x->ncontact) return;
  if (x->combined) {
    add_combined(x, basis, sri_rigid_row(x, k, 0), c, 1, s, normals, tangents);
  } else {
    add_rows(c, 1, s, 1, normals + (size_t)k * (size_t)x->inner.nv);
  }
}

// Tangents of a contact that sticks: both, or the one along which it can slip.
static void add_tangents(const srRigid* x, int k, const srUnilateral* c, const double* basis, double* normals,
                         double* tangents) {
  const srClosed* at = &x->closed[k];
  if (at->status != SR_RIGID_STICKS || at->held) return;
  for (int i = 0; i < (at->planar ? 1 : 2); ++i) {
    const double s[2] = {at->planar ? at->along[0] : i == 0, at->planar ? at->along[1] : i == 1};
    if (x->combined) {
      add_combined(x, basis, sri_rigid_row(x, k, 1 + i), c, 0, s, normals, tangents);
    } else {
      add_rows(c, 0, s, 1, tangents + (size_t)(2 * k + i) * (size_t)x->inner.nv);
    }
  }
}

static const double none[2] = {0, 0};

// Right-hand numbers of the contacts (gaps, b, drifts): value (3) of closed contact k. tangent NULL: of position equations.
static void put_values(const srRigid* x, int k, const double value[3], double* normal, double* tangent) {
  const srClosed* at = &x->closed[k];
  const bool sticks = at->status == SR_RIGID_STICKS && !at->held && tangent != NULL;
  const double along = at->planar ? at->along[0] * value[1] + at->along[1] * value[2] : value[1];
  const double of[3] = {k < x->ncontact ? value[0] : 0, sticks ? along : 0, sticks && !at->planar ? value[2] : 0};
  if (!x->combined) {
    if (k < x->ncontact) normal[k] = of[0];
    for (int i = 0; i < 2 && tangent != NULL; ++i) tangent[2 * k + i] = of[1 + i];
    return;
  }
  const int rank = tangent != NULL ? x->rank : x->rank_normal;
  for (int d = 0; d < 3; ++d) {
    for (int i = 0; i < rank && of[d] != 0; ++i) {
      *row_at(x, i, normal, tangent, 1) += x->row_basis[(size_t)(i * 3 * x->most + sri_rigid_row(x, k, d))] * of[d];
    }
  }
}

// A vector over the equations of the inner system into one over those of the outer one; numbers of contacts become 0.
static void spread_vector(const srRigid* x, const double* from, double* to) {
  const int np = x->inner.np, behind = x->inner.ng - np;
  memset(to, 0, (size_t)x->outer.ng * sizeof *to);
  sri_copy(to, from, np);
  sri_copy(to + np + x->most, from + np, behind);
}

// ---- callbacks ----------------------------------------------------------------------------------------------------------

static int constraint(void* user, double t, const double* q, double* g, double* G, double* b) {
  srRigid* x = user;
  const srSystem* s = &x->inner;
  double *normal = NULL, *tangent = NULL;
  int answer = 0;
  if (s->ng > 0) {
    answer = s->constraint(s->user, t, q, g != NULL ? x->g : NULL, G != NULL ? x->G : NULL, b != NULL ? x->b : NULL);
  }
  if (answer == 0 && x->nclosed > 0) answer = sri_rigid_list_rates(x, t, q, NULL, true);
  if (answer != 0) return answer;
  if (G != NULL) spread(x, x->G, G, &normal, &tangent);
  if (g != NULL) {
    sri_copy(g, x->g, s->np);
    memset(g + s->np, 0, (size_t)x->most * sizeof *g);
  }
  if (b != NULL) spread_vector(x, x->b, b);
  for (int k = 0; k < x->nclosed; ++k) {
    const srUnilateral* c = sri_rigid_contact(x, k);
    const double gap[3] = {c->gap, 0, 0};
    if (g != NULL) put_values(x, k, gap, g + s->np, NULL);
    if (b != NULL) put_values(x, k, c->b, b + s->np, b + first_tangent(x));
    if (G == NULL) continue;
    add_normal(x, k, c, none, x->row_basis, normal, tangent);
    add_tangents(x, k, c, x->row_basis, normal, tangent);
  }
  return 0;
}

// Rates of the equations of the contacts and of their forces: their powers are the multipliers times these.
static void keep_rates(srRigid* x, int k, const srUnilateral* c, const double r[2], const double* v) {
  x->Nv[3 * k] = sri_contact_row_times(c, 0, v);
  x->Dv[k] = 0;
  for (int i = 0; i < 2; ++i) {
    x->Nv[3 * k + 1 + i] = sri_contact_row_times(c, 1 + i, v);
    x->Dv[k] += r[i] * x->Nv[3 * k + 1 + i];
  }
}

static bool has_cone(const srRigid* x) {
  for (int k = 0; k < x->nclosed; ++k) {
    if (x->closed[k].status == SR_RIGID_CONE) return true;
  }
  return false;
}

// Ratios of the forces of cones at this state.
static int find_ratios(srRigid* x, double t, const double* q, const double* v, const double* y) {
  const int answer = sri_rigid_forces(x, t, q, v, y, x->lambda, NULL);
  for (int k = 0; k < x->nclosed && answer == 0; ++k) {
    srClosed* at = &x->closed[k];
    const double* force = x->lambda + 3 * k;
    if (at->status != SR_RIGID_CONE) continue;
    for (int i = 0; i < 2; ++i) at->ratio[i] = force[0] > 0 ? force[1 + i] / force[0] : 0;
  }
  return answer;
}

static int dynamics(void* user, double t, const double* q, const double* v, const double* y, double tau, double* M,
                    double* f, double* ydot, double* D) {
  srRigid* x = user;
  const srSystem* s = &x->inner;
  double *normal, *tangent;
  int answer = has_cone(x) ? find_ratios(x, t, q, v, y) : 0;
  if (answer == 0) answer = s->dynamics(s->user, t, q, v, y, tau, M, f, ydot, NULL);
  if (answer == 0 && x->nclosed > x->ncontact) answer = sri_rigid_clamp_forces(x, t, q, v, f);
  if (answer != 0 || D == NULL) return answer;
  if (s->ng > 0) answer = s->constraint(s->user, t, q, NULL, x->G, NULL);
  if (answer == 0 && x->nclosed > 0) answer = sri_rigid_list_rates(x, t, q, v, true);
  if (answer != 0) return answer;
  spread(x, x->G, D, &normal, &tangent);
  for (int k = 0; k < x->nclosed; ++k) {
    const srUnilateral* c = sri_rigid_contact(x, k);
    double r[2];
    sri_rigid_friction(x, k, c, v, r);
    add_normal(x, k, c, r, x->force_basis, normal, tangent);
    add_tangents(x, k, c, x->force_basis, normal, tangent);
    keep_rates(x, k, c, r, v);
  }
  return 0;
}

static int gamma_term(void* user, double t, const double* q, const double* v, double* gamma) {
  srRigid* x = user;
  const srSystem* s = &x->inner;
  int answer = s->ng > 0 ? s->gamma(s->user, t, q, v, x->gamma) : 0;
  if (answer == 0 && x->nclosed > 0) answer = sri_rigid_list_rates(x, t, q, v, true);
  if (answer != 0) return answer;
  spread_vector(x, x->gamma, gamma);
  for (int k = 0; k < x->nclosed; ++k) {
    x->part[k] = (srRigidPart){.c = sri_rigid_contact(x, k)};
  }
  x->npart = x->nclosed;
  answer = x->nclosed > 0 ? sri_rigid_drift(x, t, q, v) : 0;
  for (int k = 0; k < x->nclosed && answer == 0; ++k) {
    const double* of = x->drift + 3 * k;
    const double value[3] = {-of[0], -of[1], -of[2]};
    put_values(x, k, value, gamma + s->np, gamma + first_tangent(x));
  }
  return answer;
}

// Those that are listed here already, as the switching functions have them at the same state.
static void copy_list(const srRigid* x, srUnilateral* out, int* count) {
  const size_t rows = 1 + (size_t)x->inner.ntangent;
  *count = x->count - x->inner.nclamp;  // which are the last
  for (int i = 0; i < *count; ++i) {
    const srUnilateral* from = &x->list[i];
    int* column = out[i].column;
    double* W = out[i].W;
    out[i] = *from;
    out[i].column = column;
    out[i].W = W;
    memcpy(column, from->column, (size_t)from->n * sizeof *column);
    memcpy(W, from->W, rows * (size_t)from->n * sizeof *W);
  }
}

static int contacts(void* user, double t, const double* q, srUnilateral* out, int* count) {
  srRigid* x = user;
  const int answer = sri_rigid_list(x, t, q);
  if (answer != 0) return answer;
  copy_list(x, out, count);
  for (int k = 0; k < x->nclosed; ++k) {
    const int at = x->closed[k].at;
    if (at < 0 || k >= x->ncontact) continue;
    out[at].normal = first_normal(x);  // active, whichever combination it is in
    out[at].tangent = first_tangent(x) + 2 * k;
  }
  return 0;
}

// The force along a row of a closed contact: its multiplier, or what the combinations make of theirs.
static double row_force(const srRigid* x, int k, int direction, const double* lambda) {
  const double *normal = lambda + first_normal(x), *tangent = lambda + first_tangent(x);
  if (!x->combined) return direction == 0 ? normal[k] : tangent[2 * k + direction - 1];
  double sum = 0;
  for (int i = 0; i < x->rank; ++i) {
    const double y = i < x->rank_normal ? normal[i] : tangent[i - x->rank_normal];
    sum += x->force_basis[(size_t)(i * 3 * x->most + sri_rigid_row(x, k, direction))] * y;
  }
  return sum;
}

static double normal_force(const srRigid* x, int k, const double* lambda) {
  return k >= x->ncontact ? x->closed[k].clamp : row_force(x, k, 0, lambda);
}

static double tangent_power(const srRigid* x, int k, const double* lambda) {
  const srClosed* at = &x->closed[k];
  const double* rate = x->Nv + 3 * k + 1;
  if (at->status != SR_RIGID_STICKS || at->held) return 0;
  const double first = row_force(x, k, 1, lambda);
  if (at->planar) return first * (at->along[0] * rate[0] + at->along[1] * rate[1]);
  return first * rate[0] + row_force(x, k, 2, lambda) * rate[1];
}

static int power(void* user, double t, const double* q, const double* v, const double* y, const double* lambda,
                 double* wdot) {
  srRigid* x = user;
  const srSystem* s = &x->inner;
  sri_copy(x->right, lambda, s->np);
  sri_copy(x->right + s->np, lambda + s->np + x->most, s->ng - s->np);
  const int answer = s->power(s->user, t, q, v, y, x->right, wdot);
  for (int k = 0; k < x->nclosed && answer == 0; ++k) {
    const double force = normal_force(x, k, lambda);
    if (x->o.w_normal >= 0) wdot[x->o.w_normal] += force * x->Nv[3 * k];
    const double friction = force * x->Dv[k] + tangent_power(x, k, lambda);
    if (x->o.w_friction >= 0) wdot[x->o.w_friction] += friction;
    if (x->closed[k].clamp > 0 && x->closed[k].work >= 0) wdot[x->closed[k].work] += friction;
  }
  return answer;
}

// Where no contact is closed.
static int rates_free(void* user, double t, const double* q, const double* v, const double* y, double tau, double* qdot,
                      double* vdot, double* ydot, double* wdot) {
  const srSystem* s = &((srRigid*)user)->inner;
  return s->rates(s->user, t, q, v, y, tau, qdot, vdot, ydot, wdot);
}

static int position_rates(void* user, const double* q, const double* v, double* qdot) {
  const srSystem* s = &((srRigid*)user)->inner;
  return s->qdot(s->user, q, v, qdot);
}

static int retract(void* user, const double* q, const double* dxi, double* q_out) {
  const srSystem* s = &((srRigid*)user)->inner;
  return s->retract(s->user, q, dxi, q_out);
}

static int difference(void* user, const double* q1, const double* q2, double* dxi) {
  const srSystem* s = &((srRigid*)user)->inner;
  return s->difference(s->user, q1, q2, dxi);
}

static int accepted(void* user, double t, double* q, double* v, double* y) {
  const srSystem* s = &((srRigid*)user)->inner;
  return s->accepted(s->user, t, q, v, y);
}

static const char* row(void* user, int k, double* tolerance) {
  const srRigid* x = user;
  const srSystem* s = &x->inner;
  const int own = k < s->np ? k : k - x->most;
  *tolerance = 0;
  if (k >= s->np && k < s->np + x->most) {
    *tolerance = x->o.gap;  // what touches within it is closed, and redundant contacts then contradict each other
    return "the gap of a closed contact";
  }
  if (own >= s->ng && (own - s->ng) / 2 >= x->ncontact) return "the velocity of a joint that its friction holds";
  if (own >= s->ng) return "the slip of a contact that sticks";
  return s->row != NULL ? s->row(s->user, own, tolerance) : "a constraint equation";
}

static int role(void* user, int i) {
  const srSystem* s = &((srRigid*)user)->inner;
  return s->role(s->user, i);
}

void sri_rigid_callbacks(srRigid* x) {
  const srSystem* s = &x->inner;
  srSystem* o = &x->outer;
  *o = *s;
  o->ng = s->ng + 3 * x->most;
  o->np = s->np + x->most;
  o->user = x;
  o->rates = NULL;
  o->rates_free = s->rates != NULL ? rates_free : NULL;
  o->dynamics = dynamics;
  o->constraint = constraint;
  o->gamma = gamma_term;
  o->contacts = contacts;
  o->nclamp = 0;
  o->clamps = NULL;
  o->tangent = NULL;
  o->solver = NULL;
  o->K_sparsity = NULL;
  o->qdot = s->qdot != NULL ? position_rates : NULL;
  o->retract = s->retract != NULL ? retract : NULL;
  o->difference = s->difference != NULL ? difference : NULL;
  o->accepted = s->accepted != NULL ? accepted : NULL;
  o->power = s->power != NULL ? power : NULL;
  o->row = row;
  o->role = s->role != NULL ? role : NULL;
  o->D_differs = true;
  o->G_sparsity = s->G_sparsity != NULL ? &x->pattern : NULL;
}
