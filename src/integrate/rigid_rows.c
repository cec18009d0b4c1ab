// Closed contacts as constraint equations of a system: its own callbacks with the rows of contacts among them.
//
//   equations   0 .. np-1                 position equations of the system
//               np .. np+most-1           gaps of closed contacts: g = gap, G = W_N; D = W_N + r.W_T with r = -mu s/|s| while one slides
//               .. ng+most-1              velocity equations of the system
//               ng+most .. ng+3 most-1    tangents of contacts that stick: G = D = W_T
//
// Clamps, friction under given normal forces, have no gap and no normal: tangents while they stick, forces in f while they slide (rigid_clamp.c).
//
// Redundant normals with friction. The multipliers of dependent equations are not unique, and with D different from G each choice is another motion. Contacts of
// equal compliance choose lambda_N in range(N) (N: the normals of the closed contacts): then the equations are B^T g with B an orthonormal basis of range(N), B^T N
// and B^T D their rows, and lambda_N = B y. B is that of the last event.
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

// Where the closed contacts are in the list, which is that of a position.
static void keep_list(srRigid* x, double t, const double* q, bool whole) {
  memcpy(x->q_list, q, (size_t)x->inner.nq * sizeof *q);
  x->t_list = t;
  x->listed = true;
  x->whole = whole;
  for (int k = 0; k < x->nclosed; ++k) {
    srClosed* c = &x->closed[k];
    c->at = find(x->list, x->count, c->at, c->id);
    if (c->at < 0) c->at = heir_of(x, k, x->list, x->count);
  }
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

static int first_normal(const srRigid* x) { return x->inner.np; }
static int first_tangent(const srRigid* x) { return x->inner.ng + x->most; }

void sri_rigid_activate(srRigid* x) {
  const srSystem* s = &x->inner;
  for (int k = 0; k < x->outer.ng; ++k) x->active[k] = 0;
  for (int k = 0; k < s->ng; ++k) {
    x->active[k < s->np ? k : k + x->most] = s->active == NULL || s->active[k] != 0;
  }
  const int normals = x->combined ? x->rank : x->ncontact;
  const unsigned char now = (unsigned char)(1 + x->generation % 128);  // after each event they are of other contacts
  for (int k = 0; k < normals; ++k) x->active[first_normal(x) + k] = now;
  for (int k = 0; k < x->nclosed; ++k) {
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

static void add_normal(const srRigid* x, int k, const srUnilateral* c, const double s[2], double* rows) {
  const size_t width = (size_t)x->inner.nv;
  if (k >= x->ncontact) return;
  if (!x->combined) {
    add_rows(c, 1, s, 1, rows + (size_t)k * width);
    return;
  }
  for (int i = 0; i < x->rank; ++i) {
    const double weight = x->combination[(size_t)i * (size_t)x->most + (size_t)k];
    if (weight != 0) add_rows(c, 1, s, weight, rows + (size_t)i * width);
  }
}

// Tangents of a contact that sticks: both, or the one along which it can slip.
static void add_tangents(const srRigid* x, int k, const srUnilateral* c, double* rows) {
  const srClosed* at = &x->closed[k];
  const size_t width = (size_t)x->inner.nv;
  if (at->status != SR_RIGID_STICKS) return;
  double* row = rows + 2 * (size_t)k * width;
  if (at->planar) {
    add_rows(c, 0, at->along, 1, row);
    return;
  }
  sri_contact_row_add(c, 1, 1, row);
  sri_contact_row_add(c, 2, 1, row + width);
}

static const double none[2] = {0, 0};

// Right-hand numbers of the contacts (gaps, b, drifts): value (3) of closed contact k.
static void put_values(const srRigid* x, int k, const double value[3], double* normal, double* tangent) {
  const srClosed* at = &x->closed[k];
  for (int i = 0; i < x->rank && x->combined && k < x->ncontact; ++i) {
    normal[i] += x->combination[(size_t)i * (size_t)x->most + (size_t)k] * value[0];
  }
  if (!x->combined && k < x->ncontact) normal[k] = value[0];
  if (tangent == NULL || at->status != SR_RIGID_STICKS) return;
  tangent[2 * k] = at->planar ? at->along[0] * value[1] + at->along[1] * value[2] : value[1];
  tangent[2 * k + 1] = at->planar ? 0 : value[2];
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
    add_normal(x, k, c, none, normal);
    add_tangents(x, k, c, tangent);
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
    add_normal(x, k, c, r, normal);
    add_tangents(x, k, c, tangent);
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

// Multiplier of a closed contact's normal.
static double normal_force(const srRigid* x, int k, const double* lambda) {
  const double* of = lambda + first_normal(x);
  if (k >= x->ncontact) return x->closed[k].clamp;
  if (!x->combined) return of[k];
  double sum = 0;
  for (int i = 0; i < x->rank; ++i) sum += x->combination[(size_t)i * (size_t)x->most + (size_t)k] * of[i];
  return sum;
}

static double tangent_power(const srRigid* x, int k, const double* lambda) {
  const srClosed* at = &x->closed[k];
  const double *of = lambda + first_tangent(x) + 2 * k, *rate = x->Nv + 3 * k + 1;
  if (at->status != SR_RIGID_STICKS) return 0;
  return at->planar ? of[0] * (at->along[0] * rate[0] + at->along[1] * rate[1]) : of[0] * rate[0] + of[1] * rate[1];
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
  if (k >= s->np && k < s->np + x->most) return "the gap of a closed contact";
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
