// Passing of thin bodies: steps are chosen by the smoothness of the motion, and a blade or a plate may go through another one within a step that is
// perfectly smooth. The motion of a contact after its first touch may be shorter than a step, too.
//
// Before a step (error control): with V the largest relative speed of two shapes, e the sum of the radii of balls within them,
//   t = (gap + e/2)/(2 V)                                        at twice the present speeds
// and where that is short the time up to which a plane that moves with both (collide/motion.h) proves gap(t) >= min(gap, 0) - e/2. Its bound of the
// accelerations is twice that of the last step. As both shapes contain balls, they cannot have passed before they overlap by e.
//
// After a step: a pair may have passed where 2 V h > e and the same plane, backwards with the accelerations of this step, does not exclude it. Then
// the motion is followed by the dense output from one proven time to the next (sr_motion_first).
//
// A mesh, a height field or a surface x(u, v) is a sheet for that, e being the thickness of the other shape alone. There is no plane between the two, but the distance
// of two shapes changes by V at most, whatever they are. So an open contact has the first of both times before a step, and a closed one e/4 over the rate of its
// depth. After a step with a gap below 2 V h the motion is followed in times of gap/(2 V) (conservative advancement, Mirtich 1996).
#include "simulate/passing.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "collide/collision.h"
#include "collide/motion.h"
#include "constraint/constraint.h"
#include "dynamics/link.h"
#include "force/ports.h"
#include "math/vector3.h"

#define THINNEST 1e-6  // of the size: a sheet without thickness counts as one of this
#define NEAR 1e-3      // of e: nearer than this is a touch
#define GROWTH 2.0     // of accelerations from one step to the next
#define LEAST 1e-12    // s, of a step
#define FOLLOWED                                                                                                       \
  1000  // times at which the motion along a surface is followed: beyond them it grazes, and is not reported

struct srPassing {
  const srModel* m;
  srData* d;
  double t;                // of `before`; NaN: unknown
  double *twist, *before;  // nlink x 6: angular velocity and that of the origin, ground axes; and at the time t
  double *slow, *slower;   // nlink: bounds of |w'| and |v'| over the last step
  double* arm;             // nlink: of the farthest point of its shapes that a rotation moves; < 0: it has none
  double thinnest;         // e of the thinnest shape
};

// ---- pairs ------------------------------------------------------------------------------------------------------------

typedef struct Pair {
  srConvex shape[2];
  int point[2];
} Pair;

static bool find_pair(const srContactMonitor* contacts, int i, Pair* out) {
  return sr_contact_monitor_shapes(contacts, i, out->shape, out->point) && sr_shape_bounded(out->shape[0].kind) &&
         sr_shape_bounded(out->shape[1].kind);
}

static double thickness(const srConvex* shape) {
  return fmax(sr_convex_inner(shape), THINNEST * sr_convex_reach(shape));
}

static double turning_reach(const srConvex* shape) {
  return shape->kind == SR_KIND_SPHERE ? 0 : sr_convex_reach(shape);
}

// Largest speed of two material points of a pair against each other.
static double relative_speed(const srPassing* x, const Pair* p) {
  srPointState a, b;
  double u[3];
  sr_port_point(x->m, x->d, p->point[0], &a);
  sr_port_point(x->m, x->d, p->point[1], &b);
  srm_sub3(b.v, a.v, u);
  return srm_norm3(u) + srm_norm3(a.w) * turning_reach(&p->shape[0]) + srm_norm3(b.w) * turning_reach(&p->shape[1]);
}

// A shape at d's state, with bounds over a time of length h; back: backwards in time.
static void find_motion(const srPassing* x, int point, double h, bool back, srShapeMotion* out) {
  const int link = x->m->point_link[point];
  const double turning = x->slow[link], offset = srm_norm3(x->m->point_pose + 16 * point + 12);
  srPointState s;
  sr_port_point(x->m, x->d, point, &s);
  sr_point_frame(x->m, x->d, point, out->pose);
  srm_scale3(back ? -1 : 1, s.v, out->velocity);
  srm_scale3(back ? -1 : 1, s.w, out->angular);
  out->turning_most = turning;
  out->angular_most = srm_norm3(s.w) + turning * h;
  out->linear_most = x->slower[link] + (turning + out->angular_most * out->angular_most) * offset;
}

// The gap of a pair at d's state, and its normal in ground axes.
static double find_gap(const srPassing* x, const Pair* p, double n[3]) {
  double a[16], b[16], back[16], pose[16];
  srNearest nearest;
  sr_point_frame(x->m, x->d, p->point[0], a);
  sr_point_frame(x->m, x->d, p->point[1], b);
  srm_pose_invert(a, back);
  srm_pose_compose(back, b, pose);
  sr_shape_distance(&p->shape[0], &p->shape[1], pose, NULL, SR_DISTANCE_FAST, &nearest);
  srm_pose_rotate(a, nearest.n, n);
  return nearest.gap;
}

// How long the pair does not overlap by more than `deeper` beyond the present, at most h.
static double proven_time(const srPassing* x, const Pair* p, double deeper, double h, bool back) {
  srShapeMotion a, b;
  double n[3];
  const double gap = find_gap(x, p, n);
  find_motion(x, p->point[0], h, back, &a);
  find_motion(x, p->point[1], h, back, &b);
  return sr_motion_reach(&p->shape[0], &p->shape[1], &a, &b, n, fmin(gap, 0) - deeper, h);
}

// ---- surfaces ---------------------------------------------------------------------------------------------------------

typedef struct Sheet {
  const srCollisionShape* shape[2];  // the first one is the surface
  int point[2];
  double e;  // thickness of the other one
} Sheet;

static double sheet_thickness(const srCollisionShape* x) {
  return x->smooth ? THINNEST * x->reach : thickness(&x->convex);
}

static bool find_sheet(const srContactMonitor* contacts, int i, Sheet* out) {
  if (!sr_contact_monitor_surfaces(contacts, i, out->shape, out->point)) return false;
  if (out->shape[1]->surface) return false;
  out->e = sheet_thickness(out->shape[1]);
  return true;
}

static double sheet_speed(const srPassing* x, const Sheet* p) {
  srPointState s[2];
  double u[3], V = 0;
  for (int k = 0; k < 2; k++) {
    sr_port_point(x->m, x->d, p->point[k], &s[k]);
    V += p->shape[k]->convex.kind == SR_KIND_SPHERE ? 0 : srm_norm3(s[k].w) * p->shape[k]->reach;
  }
  srm_sub3(s[1].v, s[0].v, u);
  return V + srm_norm3(u);
}

static double sheet_gap(const srPassing* x, const Sheet* p) {
  double a[16], b[16], back[16], pose[16];
  srNearest nearest;
  sr_point_frame(x->m, x->d, p->point[0], a);
  sr_point_frame(x->m, x->d, p->point[1], b);
  srm_pose_invert(a, back);
  srm_pose_compose(back, b, pose);
  sr_shapes_nearest(p->shape[0], p->shape[1], pose, &nearest);
  return nearest.gap;
}

// ---- life -------------------------------------------------------------------------------------------------------------

static void add_shape(srPassing* x, const srConvex* shape, int point) {
  const int link = x->m->point_link[point];
  const double offset = srm_norm3(x->m->point_pose + 16 * point + 12);
  if (!sr_shape_bounded(shape->kind) || shape->kind > SR_KINDS) return;
  x->arm[link] = fmax(x->arm[link], offset + turning_reach(shape));
  x->thinnest = fmin(x->thinnest, thickness(shape));
}

static void add_collision(srPassing* x, const srCollisionShape* shape, int point) {
  const int link = x->m->point_link[point];
  if (!shape->surface && !shape->smooth) {
    add_shape(x, &shape->convex, point);
    return;
  }
  x->arm[link] = fmax(x->arm[link], srm_norm3(x->m->point_pose + 16 * point + 12) + shape->reach);
  if (shape->smooth) x->thinnest = fmin(x->thinnest, sheet_thickness(shape));
}

srPassing* sr_passing_create(const srModel* m, srData* d) {
  const size_t n = (size_t)m->nlink, head = (sizeof(srPassing) + 15) / 16 * 16;
  char* block = sr_alloc(head + 15 * n * sizeof(double));
  if (block == NULL) return NULL;
  srPassing* x = (srPassing*)(void*)block;
  *x = (srPassing){.m = m, .d = d, .t = (double)NAN, .thinnest = HUGE_VAL};
  x->twist = (double*)(void*)(block + head);
  x->before = x->twist + 6 * n;
  x->slow = x->before + 6 * n;
  x->slower = x->slow + n;
  x->arm = x->slower + n;
  for (size_t i = 0; i < n; i++) x->arm[i] = -1;
  for (int i = 0; i < m->ncollider; i++) add_collision(x, &m->collision[m->collider[i].shape], m->collider[i].point);
  for (int i = 0; i < m->nforce; i++) {
    const srSurfaceLaws* c = m->force[i].contact;
    srConvex shape[2];
    const bool convex = sr_element_shapes(&m->force[i], shape), pair = c && c->pair && c->shape[0] && c->shape[1];
    for (int k = 0; k < 2 && convex; k++) add_shape(x, &shape[k], m->force[i].point[k]);
    for (int k = 0; k < 2 && !convex && pair; k++) add_collision(x, c->shape[k], m->force[i].point[k]);
  }
  return x;
}

void sr_passing_destroy(srPassing* x) { sr_free(x); }

// ---- motion of the links ----------------------------------------------------------------------------------------------

// Twists at d's state; returns the largest speed of a point of a shape.
static double take_twists(srPassing* x) {
  double most = 0;
  for (int i = 1; i < x->m->nlink; i++) {
    if (x->arm[i] < 0) continue;
    double* out = x->twist + 6 * i;
    srm_pose_rotate(x->d->link_pose + 16 * i, x->d->link_twist + 8 * i, out);
    srm_pose_rotate(x->d->link_pose + 16 * i, x->d->link_twist + 8 * i + 4, out + 3);
    most = fmax(most, srm_norm3(out + 3) + srm_norm3(out) * x->arm[i]);
  }
  return most;
}

// Bounds of the accelerations from the twists before, h ago; h 0: none are known.
static void bound_accelerations(srPassing* x, double h) {
  for (int i = 1; i < x->m->nlink; i++) {
    double dw[3], dv[3];
    srm_sub3(x->twist + 6 * i, x->before + 6 * i, dw);
    srm_sub3(x->twist + 6 * i + 3, x->before + 6 * i + 3, dv);
    x->slow[i] = h > 0 ? GROWTH * srm_norm3(dw) / h : 0;
    x->slower[i] = h > 0 ? GROWTH * srm_norm3(dv) / h : GROWTH * srm_norm3(x->m->gravity);
  }
}

// The present twists, and accelerations since the last ones; most: the largest speed.
static double follow_motion(srPassing* x, double t) {
  const double most = take_twists(x);
  if (t == x->t) return most;
  bound_accelerations(x, t > x->t ? t - x->t : 0);
  memcpy(x->before, x->twist, 6 * (size_t)x->m->nlink * sizeof(double));
  x->t = t;
  return most;
}

// ---- before a step ----------------------------------------------------------------------------------------------------

static double pair_time(const srPassing* x, const Pair* p, double gap, double step) {
  const double open = fmax(gap, 0), V = relative_speed(x, p);
  if (!(V > 0)) return HUGE_VAL;
  const double e = thickness(&p->shape[0]) + thickness(&p->shape[1]), t = (open + 0.5 * e) / (2 * V);
  return t >= step ? t : fmax(t, proven_time(x, p, 0.5 * e, step, false));
}

// Closed, it goes deeper at the rate of its deepest point: what slides or rolls on a surface is not held up.
static double sheet_time(const srPassing* x, const Sheet* p, double gap, double rate) {
  const double V = gap > 0 ? sheet_speed(x, p) : fmax(0, -rate);
  return V > 0 ? (fmax(gap, 0) + 0.5 * p->e) / (2 * V) : HUGE_VAL;
}

void sr_passing_limit(srPassing* x, const srContactMonitor* contacts, const srIntegrator* integrator, double step,
                      double* limit) {
  const double t = sri_time(integrator), most = follow_motion(x, t);
  double least = HUGE_VAL;
  for (int i = 0; i < contacts->nlocated && most > 0; i++) {
    Pair p;
    Sheet q;
    if (find_pair(contacts, i, &p))
      least = fmin(least, pair_time(x, &p, contacts->gap[i], step));
    else if (find_sheet(contacts, i, &q))
      least = fmin(least, sheet_time(x, &q, contacts->gap[i], contacts->rate[i]));
  }
  *limit = fmin(*limit, t + fmax(least, LEAST));
}

// ---- after a step -----------------------------------------------------------------------------------------------------

typedef struct Following {
  const srPassing* x;
  const srIntegrator* integrator;
  double h;
  int point;
} Following;

// d at a time of the step.
static void put_at(const srPassing* x, const srIntegrator* integrator, double s) {
  srData* d = x->d;
  const double t = fmin(sri_time_before(integrator) + s, sri_time(integrator));
  if (sri_interpolate(integrator, t, d->q, d->v, d->y, NULL) == SR_OK)
    (void)sr_evaluate_motion(x->m, d, t, d->q, d->v, d->y, SR_STAGE_VELOCITY);
}

static void motion_at(void* user, double s, srShapeMotion* out) {
  const Following* f = user;
  put_at(f->x, f->integrator, s);
  find_motion(f->x, f->point, f->h, false, out);
}

static bool passes(const srPassing* x, const srIntegrator* integrator, const Pair* p, double e, double h, double* t) {
  Following a = {x, integrator, h, p->point[0]}, b = {x, integrator, h, p->point[1]};
  const srMoving one = {&p->shape[0], motion_at, &a}, two = {&p->shape[1], motion_at, &b};
  double s;
  const bool met = sr_motion_first(&one, &two, h, NEAR * e, &s);
  *t = sri_time_before(integrator) + s;
  return met && s > 0 && s < h;
}

static void put_end(const srPassing* x, const srIntegrator* integrator) {
  (void)sr_evaluate_motion(x->m, x->d, sri_time(integrator), sri_q(integrator), sri_v(integrator), sri_y(integrator),
                           SR_STAGE_VELOCITY);
}

// Open now: may it have been closed since the beginning of the step?
static void check_pair(const srPassing* x, const srIntegrator* integrator, const Pair* p, int i, void* user,
                       void (*passed)(void* user, double t, double step, int i)) {
  const double h = sri_time(integrator) - sri_time_before(integrator), V = relative_speed(x, p);
  const double e = thickness(&p->shape[0]) + thickness(&p->shape[1]);
  double t;
  if (2 * V * h <= e || proven_time(x, p, 0.5 * e, h, true) >= h) return;
  if (passes(x, integrator, p, e, h, &t)) passed(user, t, 0.25 * e / V, i);
  put_end(x, integrator);
}

static void check_sheet(const srPassing* x, const srIntegrator* integrator, const Sheet* p, double gap, int i,
                        void* user, void (*passed)(void* user, double t, double step, int i)) {
  const double h = sri_time(integrator) - sri_time_before(integrator), V = sheet_speed(x, p);
  double s = 0;
  if (2 * V * h <= p->e) return;
  if (2 * V * h <= gap && !p->shape[0]->smooth) return;  // behind a surface x(u, v) there is no gap
  for (int k = 0; k < FOLLOWED && s < h; k++) {
    put_at(x, integrator, s);
    const double open = sheet_gap(x, p);
    if (open <= NEAR * p->e) {
      if (s > 0) passed(user, sri_time_before(integrator) + s, 0.25 * p->e / V, i);
      break;
    }
    s += open / (2 * sheet_speed(x, p));
  }
  put_end(x, integrator);
}

void sr_passing_check(srPassing* x, const srContactMonitor* contacts, const srIntegrator* integrator, void* user,
                      void (*passed)(void* user, double t, double step, int i)) {
  const double h = sri_time(integrator) - sri_time_before(integrator), most = follow_motion(x, sri_time(integrator));
  const int n = contacts->nlocated + contacts->nother;
  for (int k = 0; k < n && 2 * most * h > x->thinnest; k++) {
    const int i = k < contacts->nlocated ? k : contacts->first_other + k - contacts->nlocated;
    Pair p;
    Sheet q;
    if (!(contacts->gap[i] > 0)) continue;
    if (find_pair(contacts, i, &p))
      check_pair(x, integrator, &p, i, user, passed);
    else if (find_sheet(contacts, i, &q))
      check_sheet(x, integrator, &q, contacts->gap[i], i, user, passed);
  }
}
