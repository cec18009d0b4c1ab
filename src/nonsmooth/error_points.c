// The error measure (error.c) of contacts that are given by normals and arms, in heaps of bodies without equations: four contacts side by side, in double precision and from the
// problem's own numbers alone, as there. Impulses are added to the bodies one contact after the other, in their order.
#define REAL double
#define LANES 4
#define MASK long long
#define ROOT __builtin_sqrt
#define TINY 1e-150
#include "nonsmooth/lane_math.h"

#include <string.h>

#include "base/base.h"

// ---- four contacts ------------------------------------------------------------------------------------------------------

typedef struct Four {
  const srContactPoint* point[LANES];
  const srContactCone* cone[LANES];
  const double* p[LANES];
  vec normal[4], arm[2][4];
} Four;

// From contact `first` on; the last one again where there are no more.
SRM_INLINE void take_four(const srContactProblem* p, const double* impulse, int first, Four* f) {
  const double *normal[LANES], *a[LANES], *b[LANES];
  UNROLL
  for (int i = 0; i < LANES; ++i) {
    const int k = first + i < p->ncontact ? first + i : p->ncontact - 1;
    f->point[i] = &p->point[k];
    f->cone[i] = &p->cone[k];
    f->p[i] = impulse + 3 * (size_t)k;
    normal[i] = f->point[i]->normal;
    a[i] = f->point[i]->arm[0];
    b[i] = f->point[i]->arm[0] + 2;  // its last number, and the other arm
  }
  vec last[4];
  v4_columns_at(normal, f->normal);
  v4_columns_at(a, f->arm[0]);
  v4_columns_at(b, last);
  for (int k = 0; k < 3; ++k) f->arm[1][k] = last[k + 1];
}

// ---- velocities ---------------------------------------------------------------------------------------------------------

SRM_INLINE void add_to(double* to, v4 x) { v4_store(to, v4_load(to) + x); }

typedef struct Errors {
  vec residual, penetration, cone, complementarity;
  mask worst, lost;  // lost: numbers that are none
} Errors;

// What the members of a team share.
typedef struct Share {
  const srContactProblem* p;
  const double* impulse;
  double *v, *each;
  Errors* errors;  // of each member
} Share;

// Has one of four contacts a body between from and to?
SRM_INLINE bool concerns(const srContactProblem* p, int first, int from, int to) {
  bool any = from == 0 && to == p->nbody;
  for (int i = first; i < first + LANES && i < p->ncontact && !any; ++i) {
    const int* body = p->point[i].body;
    any = (body[0] >= from && body[0] < to) || (body[1] >= from && body[1] < to);
  }
  return any;
}

// Bodies between from and to alone.
SRM_INLINE void push_pair(const srContactPoint* c, v4 f, int from, int to, double* v) {
  for (int side = 0; side < 2; ++side) {
    const int body = c->body[side];
    if (body < from || body >= to) continue;
    double* at = v + SR_ROW * (size_t)body;
    const v4 push = side == 0 ? -f : f;
    add_to(at, push);
    add_to(at + 4, v4_cross(v4_xyz(c->arm[side]), push));
  }
}

// Impulses on the bodies between from and to (SR_ROW numbers each): force, then moment about the center of mass. In the order of the contacts, whoever takes the body.
SRM_INLINE void push_bodies(const Share* s, int from, int to) {
  const srContactProblem* p = s->p;
  memset(s->v + SR_ROW * (size_t)from, 0, (size_t)(to - from) * SR_ROW * sizeof *s->v);
  for (int i = 0; i < p->ncontact; i += LANES) {
    Four f;
    vec x[4], t[2][3], row[4], force[4] = {{0}};
    if (!concerns(p, i, from, to)) continue;
    take_four(p, s->impulse, i, &f);
    for (int k = 0; k < LANES; ++k) row[k] = v4_xyz(f.p[k]);
    v4_columns(row, x);
    v4_frames(f.normal, t[0], t[1]);
    for (int k = 0; k < 3; ++k) force[k] = f.normal[k] * x[0] + t[0][k] * x[1] + t[1][k] * x[2];
    v4_columns(force, row);
    for (int k = 0; k < LANES && i + k < p->ncontact; ++k) push_pair(f.point[k], row[k], from, to, s->v);
  }
}

// v_free + M^-1 of that.
SRM_CLONES static void move_bodies(void* user, int member, int from, int to) {
  const Share* s = user;
  (void)member;
  push_bodies(s, from, to);
  for (int i = from; i < to; ++i) {
    const srContactBody* b = &s->p->body[i];
    const double* I = b->inverse_inertia;
    double* at = s->v + SR_ROW * (size_t)i;
    const v4 m = v4_load(at + 4);
    const v4 turn =
        (v4){I[0], I[3], I[4], 0} * m[0] + (v4){I[3], I[1], I[5], 0} * m[1] + (v4){I[4], I[5], I[2], 0} * m[2];
    v4_store(at, v4_xyz(b->velocity + 3) + b->inverse_mass * v4_load(at));
    v4_store(at + 4, v4_xyz(b->velocity) + turn);
  }
}

// Of b relative to a, in world axes.
SRM_INLINE void relative_velocity(const Four* f, const srContactProblem* p, const double* v, vec out[3]) {
  for (int side = 0; side < 2; ++side) {
    vec linear[3], angular[3], turn[3];
    int body[LANES];
    UNROLL
    for (int i = 0; i < LANES; ++i)
      body[i] = SR_ROW * (f->point[i]->body[side] < 0 ? p->nbody : f->point[i]->body[side]);
    gather(v, body, 0, linear);
    gather(v, body, 1, angular);
    cross(angular, f->arm[side], turn);
    for (int k = 0; k < 3; ++k) out[k] = side == 0 ? -(linear[k] + turn[k]) : out[k] + (linear[k] + turn[k]);
  }
}

// W_NN.
SRM_INLINE vec mobility(const Four* f, const srContactProblem* p) {
  static const srContactBody world = {0};
  vec sum = {0};
  for (int side = 0; side < 2; ++side) {
    const double *mass[LANES], *rest[LANES];
    vec m[4], I[4], torque[3];
    UNROLL
    for (int i = 0; i < LANES; ++i) {
      const int body = f->point[i]->body[side];
      const srContactBody* b = body < 0 ? &world : &p->body[body];
      mass[i] = &b->inverse_mass;  // and xx yy zz
      rest[i] = b->inverse_inertia + 2;
    }
    v4_columns_at(mass, m);
    v4_columns_at(rest, I);
    cross(f->arm[side], f->normal, torque);
    const vec turn[3] = {m[1] * torque[0] + I[1] * torque[1] + I[2] * torque[2],
                         I[1] * torque[0] + m[2] * torque[1] + I[3] * torque[2],
                         I[2] * torque[0] + I[3] * torque[1] + m[3] * torque[2]};
    sum += dot3(torque, turn) + m[0] * dot3(f->normal, f->normal);
  }
  return sum;
}

SRM_INLINE void measure_four(const Four* f, const srContactProblem* p, const double* v, int first, double* each,
                             Errors* e) {
  const double* given[LANES];
  vec own[4], u[3], t[2][3], x[4], y[3], row[4];
  const srContactCone* const* c = f->cone;
  for (int i = 0; i < LANES; ++i) {
    given[i] = &c[i]->shift;  // slip and the normal compliance follow
    row[i] = v4_xyz(f->p[i]);
  }
  v4_columns(row, x);
  const vec mu = {c[0]->mu, c[1]->mu, c[2]->mu, c[3]->mu};
  const vec soft = {c[0]->compliance[1], c[1]->compliance[1], c[2]->compliance[1], c[3]->compliance[1]};
  v4_columns_at(given, own);
  relative_velocity(f, p, v, u);
  v4_frames(f->normal, t[0], t[1]);
  const vec W = mobility(f, p);
  y[0] = own[0] + dot3(f->normal, u) + (p->compliance * W + own[3]) * x[0];
  for (int k = 1; k < 3; ++k) y[k] = own[k] + dot3(t[k - 1], u) + soft * x[k];
  const vec r = natural_map(x[0], x + 1, y[0], y + 1, 2, mu, W);
  const mask number = {first, first + 1, first + 2, first + 3};
  const mask more = r > e->residual;
  v4_store(each + first, r);
  e->worst = (more & number) | (~more & e->worst);
  e->lost |= ~(r <= every(HUGE_VAL));
  e->residual = larger(r, e->residual);
  e->penetration = larger(-y[0], e->penetration);
  e->cone = larger(larger(root(dot2(x + 1, x + 1)) - mu * x[0], -x[0]), e->cone);
  const vec product = x[0] * y[0];
  e->complementarity = larger(larger(product, -product), e->complementarity);
}

SRM_INLINE double most_of(vec x) {
  double most = x[0];
  for (int i = 1; i < LANES; ++i) most = x[i] > most ? x[i] : most;
  return most;
}

SRM_CLONES static void measure(void* user, int member, int from, int to) {
  const Share* s = user;
  Errors e = {.worst = {-1, -1, -1, -1}};
  for (int i = from; i < to; i += LANES) {
    Four four;
    take_four(s->p, s->impulse, i, &four);
    measure_four(&four, s->p, s->v, i, s->each, &e);
  }
  s->errors[member] = e;
}

// The larger one of both, the lost of both.
static void add_errors(const Errors* e, srContactError* out, bool* lost) {
  const double residual = most_of(e->residual), penetration = most_of(e->penetration), cone = most_of(e->cone),
               complementarity = most_of(e->complementarity);
  *lost = *lost || any(e->lost);
  for (int i = 0; i < LANES; ++i) {  // the first one of the largest
    const int k = (int)e->worst[i];
    if (k < 0 || e->residual[i] != residual || residual < out->residual) continue;
    if (residual > out->residual || out->worst < 0 || k < out->worst) out->worst = k;
    out->residual = residual;
  }
  if (penetration > out->penetration) out->penetration = penetration;
  if (cone > out->cone) out->cone = cone;
  if (complementarity > out->complementarity) out->complementarity = complementarity;
}

srContactError sr_contact_error_points(const srContactProblem* p, const double* impulse, srTeam* team, double* v,
                                       double* each) {
  Errors errors[SR_TEAM_MOST];
  Share share = {.p = p, .impulse = impulse, .v = v, .each = each, .errors = errors};
  srContactError out = {.worst = -1};
  bool lost = false;
  memset(v + SR_ROW * (size_t)p->nbody, 0, SR_ROW * sizeof *v);  // the world's row
  sr_team_loop(team, p->nbody, move_bodies, &share);
  sr_team_loop(team, p->ncontact, measure, &share);
  for (int k = 0; k < sr_team_hands(team, p->ncontact); ++k) add_errors(&errors[k], &out, &lost);
  if (lost) out.residual = (double)NAN;
  return out;
}
