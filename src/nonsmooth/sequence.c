// Impacts one contact after the other (sequential law; for chains of touching balls since Huygens; Ivanov 1995): the contact that approaches fastest is struck alone, by the law of one contact,
//   p = law(W_ii, u_i),   u += W_.i p
// until none approaches. The other contacts transmit nothing meanwhile; equations (joints) are in W. Contacts of equal speed follow in the order of the problem.
// A collision has friction opposite to the slip after it (algebraic), or at every moment of it (shock.c). A collision that would gain energy, as by Newton's law with friction, has alpha e instead of e, with
// the largest alpha that does not. Sequences need not be finite: plastic collisions end geometrically, below the tolerance.
#include <string.h>

#include "base/base.h"
#include "nonsmooth/solver.h"

#define GAIN 1e-12           // of the energy that a collision moves: what rounding may gain
#define FASTER 1e-9          // of the approach: less is the same speed
enum { COLLISIONS = 1000 };  // of a sequence, times the contacts
enum { BISECTIONS = 50 };    // of alpha

// One contact that is struck.
typedef struct Collision {
  srImpactLaw law;
  srImpactFriction friction;
  int rows;
  double W[9], u[3], mu, e;
  // Its result.
  double p[3], energy, size, normal, residual;
} Collision;

// ---- one collision -------------------------------------------------------------------------------------------------------------

// T+ - T-, the sum of its terms without their signs, and the part of the normal impulse with velocities that change linearly.
static void measure(Collision* b) {
  b->energy = b->size = 0;
  for (int i = 0; i < b->rows; ++i) {
    double after = b->u[i];
    for (int j = 0; j < b->rows; ++j) after += b->W[3 * i + j] * b->p[j];
    const double work = 0.5 * b->p[i] * (b->u[i] + after);
    if (i == 0) b->normal = work;
    b->energy += work;
    b->size += 0.5 * fabs(b->p[i]) * (fabs(b->u[i]) + fabs(after));
  }
}

// Finds p in the cone with the velocity q + W p; its error is kept.
static void solve_cone(Collision* b, double lower, const double q[3], double p[3]) {
  const double *W = b->W, block[SR_BLOCK] = {W[0], W[1], W[2], W[4], W[5], W[8]};
  const srCone cone = {.mu = b->mu, .lower = lower};
  double u[3];
  sr_cone_solve(&cone, block, q, p);
  for (int i = 0; i < 3; ++i) u[i] = q[i] + W[3 * i] * p[0] + W[3 * i + 1] * p[1] + W[3 * i + 2] * p[2];
  b->residual = fmax(b->residual, sr_cone_residual(&cone, 1 / W[0], p, u));
}

static void strike_algebraic(Collision* b, double e) {
  double q[3], first[3];
  b->residual = 0;
  memcpy(q, b->u, sizeof q);
  if (b->law == SR_IMPACT_NEWTON) {
    q[0] += e * b->u[0];
    solve_cone(b, 0, q, b->p);
    return;
  }
  solve_cone(b, 0, q, first);  // compression
  for (int i = 0; i < 3; ++i) q[i] += b->W[3 * i] * first[0] + b->W[3 * i + 1] * first[1] + b->W[3 * i + 2] * first[2];
  double second[3];
  solve_cone(b, e * first[0], q, second);
  for (int i = 0; i < 3; ++i) b->p[i] = first[i] + second[i];
}

// False: it has no end.
static bool strike_with(Collision* b, double e) {
  srShock shock;
  if (b->mu == 0) {
    b->p[0] = -(1 + e) * b->u[0] / b->W[0];
    measure(b);
    return true;
  }
  if (b->friction == SR_IMPACT_ALGEBRAIC) {
    strike_algebraic(b, e);
    measure(b);
    return true;
  }
  if (!sr_contact_shock(b->W, b->u, b->mu, e, b->law, &shock)) return false;
  memcpy(b->p, shock.p, sizeof b->p);
  b->residual = 0;
  measure(b);
  b->normal = shock.normal;
  return true;
}

static bool gains(const Collision* b) { return b->energy > GAIN * b->size; }

static bool strike(Collision* b, srImpactResult* r) {
  if (!strike_with(b, b->e)) return false;
  if (!gains(b)) return true;
  double low = 0, high = 1;
  r->gained = true;
  for (int k = 0; k < BISECTIONS; ++k) {
    const double alpha = 0.5 * (low + high);
    if (!strike_with(b, alpha * b->e)) return false;
    if (gains(b)) {
      high = alpha;
    } else {
      low = alpha;
    }
  }
  r->alpha = fmin(r->alpha, low);
  return strike_with(b, low * b->e);
}

// ---- sequence -------------------------------------------------------------------------------------------------------------

// The contact of the island that approaches fastest; -1: none does.
static int fastest(const srContactSolver* s, const srIsland* island, double least) {
  const srDense* d = &s->dense;
  double most = least;
  int found = -1;
  for (int i = island->contact[0]; i < island->contact[1]; ++i) {
    const srLoadedContact* c = &s->contact[i];
    const double speed = -d->u[c->first];
    if (!(speed > most) || !(d->A[(size_t)c->first * (size_t)(d->n + 1)] > 0)) continue;
    most = speed * (1 + FASTER);
    found = i;
  }
  return found;
}

static Collision collision_of(const srContactSolver* s, const srLoadedContact* c) {
  const srDense* d = &s->dense;
  const srContactCone* cone = &s->problem->cone[c->index];
  Collision b = {.rows = c->rows, .mu = c->rows > 1 ? cone->mu : 0, .e = cone->restitution};
  for (int i = 0; i < c->rows; ++i) {
    b.u[i] = d->u[c->first + i];
    for (int j = 0; j < c->rows; ++j)
      b.W[3 * i + j] = d->A[(size_t)(c->first + i) * (size_t)d->n + (size_t)(c->first + j)];
  }
  for (int i = c->rows; i < 3; ++i) b.W[4 * i] = b.W[c->rows > 1 ? 4 : 0];  // a tangent along which nothing happens
  return b;
}

static void add(srContactSolver* s, const srLoadedContact* c, const double p[3]) {
  srDense* d = &s->dense;
  for (int k = 0; k < c->rows; ++k) {
    const double* column = d->At + (size_t)(c->first + k) * (size_t)d->n;
    d->p[c->first + k] += p[k];
    for (int i = 0; i < d->n; ++i) d->u[i] += column[i] * p[k];
  }
}

static bool strike_island(srContactSolver* s, const srIsland* island, const Collision* how, double least,
                          srImpactResult* r) {
  const long most = COLLISIONS * (long)(island->contact[1] - island->contact[0]);
  for (long n = 0;; ++n) {
    const int i = fastest(s, island, least);
    if (i < 0) return true;
    if (n == most) {
      r->ended = false;
      return true;
    }
    const srLoadedContact* c = &s->contact[i];
    Collision b = collision_of(s, c);
    b.law = how->law;
    b.friction = how->friction;
    if (!strike(&b, r)) return false;
    add(s, c, b.p);
    double* speed = &s->impact.approach[c->index];
    *speed = fmax(*speed, -b.u[0]);
    ++r->collisions;
    r->normal += b.normal;
    r->solve.error.residual = fmax(r->solve.error.residual, b.residual);
  }
}

// Velocities before alone; neither compliances nor bounds of impulses.
static srContactProblem bare_of(const srContactSolver* s, const srContactProblem* p) {
  srContactProblem bare = *p;
  bare.compliance = 0;
  bare.cone = s->impact.cone;
  memcpy(bare.cone, p->cone, (size_t)p->ncontact * sizeof *p->cone);
  for (int i = 0; i < p->ncontact; ++i) {
    srContactCone* c = &bare.cone[i];
    c->shift = c->lower = c->compliance[0] = c->compliance[1] = 0;
  }
  return bare;
}

srStatus sr_contact_sequence(srContactSolver* s, const srContactProblem* p, srImpactLaw law, srImpactFriction friction,
                             const srContactOptions* o, double* impulse, srImpactResult* r) {
  static const srContactMethod method = {"sequence", "one contact after the other, dense"};
  *r = (srImpactResult){.alpha = 1, .ended = true, .solve.method = &method, .approach = s->impact.approach};
  if (!sr_contact_fits(s, p) || (law == SR_IMPACT_STRONGE && friction == SR_IMPACT_ALGEBRAIC)) return SR_INPUT;
  const srContactProblem bare = bare_of(s, p);
  const Collision how = {.law = law, .friction = friction};
  memset(impulse, 0, (size_t)sr_contact_rows(p) * sizeof *impulse);
  memset(s->impact.approach, 0, (size_t)p->ncontact * sizeof(double));
  sr_contact_load(s, &bare, impulse);
  for (int i = 0; i < s->nisland; ++i) {
    if (sr_island_rows(s, &s->island[i]) > s->most.dense) return SR_INPUT;
  }
  for (int i = 0; i < s->nisland; ++i) {
    sr_dense_load(s, &s->island[i]);
    if (!strike_island(s, &s->island[i], &how, o->tolerance, r)) return SR_INPUT;
    sr_dense_store(s, &s->island[i]);
  }
  sr_contact_store(s, impulse);
  r->energy = sr_contact_work(s, &bare, impulse);
  const double worst_collision = r->solve.error.residual;
  r->solve.islands = s->nisland;
  r->solve.iterations = (int)r->collisions;
  r->solve.error = sr_contact_error(s, &bare, impulse);
  r->solve.error.residual = fmax(worst_collision, r->solve.error.penetration);
  r->solve.error.complementarity = NAN;  // what a contact leaves with is no error of it
  r->solve.solved = r->ended && r->solve.error.residual <= o->tolerance && r->solve.error.bilateral <= o->tolerance;
  return SR_OK;
}
