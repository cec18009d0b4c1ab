// Frames of points on the graph, observed from a link C in its axes: E rotates a link's computational axes to those of C, p is its origin.
//
//   E = E' T,   p = p' + E' p_i                                   (' : of the parent)
//   w = w' + s,   u = u' + w' x d + t                             d = E' p_i;  s, t: rotation and displacement of the joint, E (S v)
//   wd = wd' + s* + w' x s,   a = a' + U' d + t* + 2 w' x t + s x t,   U' = [wd'] + [w'][w'],  s*, t*: E (S dv/dt)
//   column of a coordinate    s;  t + s x (p - p_i)               (Featherstone 2008, section 4.1)
//   from a moving frame A     as dynamics/frame.c
#include "symbolic/points.h"

#include <math.h>

#include "dynamics/link.h"

struct srSymView {
  srSymPass* pass;
  int observer;
  srSymLevel level;
  const srNode* acceleration;
  bool* known;          // links
  srSymMotion* motion;  // links: R is E
};

srSymView* sr_sym_view(srSymPass* x, int observer, srSymLevel level, const srNode* acceleration) {
  srSymView* view = sr_pool_alloc(x->tree->pool, sizeof *view);
  const size_t n = (size_t)x->tree->n;
  *view = (srSymView){.pass = x, .observer = observer, .level = level, .acceleration = acceleration};
  view->known = sr_pool_alloc(x->tree->pool, n * sizeof *view->known);
  view->motion = sr_pool_alloc(x->tree->pool, n * sizeof *view->motion);
  return view;
}

static srVec column(const srMat* A, int k) { return (srVec){{A->x[k], A->x[3 + k], A->x[6 + k]}}; }
static void put_column(srMat* A, int k, srVec c) {
  for (int i = 0; i < 3; i++) A->x[3 * i + k] = c.x[i];
}

static srMat unit(srGraph* g) {
  srMat out;
  for (int i = 0; i < 9; i++) out.x[i] = srx_number(g, i % 4 == 0);
  return out;
}

static srMat product(srGraph* g, const srMat* A, const srMat* B) {
  srMat out;
  for (int k = 0; k < 3; k++) put_column(&out, k, srx_mat_vec(g, A, column(B, k)));
  return out;
}

// E Rz of the columns of E.
static srMat spun(srGraph* g, srMat E, srNode sine, srNode cosine) {
  if (sine == SR_NO_NODE) return E;
  const srVec x = column(&E, 0), y = column(&E, 1);
  put_column(&E, 0, srx_plus(g, srx_times(g, cosine, x), srx_times(g, sine, y)));
  put_column(&E, 1, srx_minus(g, srx_times(g, cosine, y), srx_times(g, sine, x)));
  return E;
}

static srMat turned(srGraph* g, const srMat* E, const srTurn* t) {
  if (t->has_R) return product(g, E, &t->R);
  srMat out = spun(g, *E, t->sine[0], t->cosine[0]), Q;
  for (int i = 0; i < 9; i++) Q.x[i] = srx_number(g, t->Q[i]);
  if (t->has_Q) out = product(g, &out, &Q);
  return spun(g, out, t->sine[1], t->cosine[1]);
}

// E S x of the coordinates of a link: about its axes into *s, along them into *t.
static void joint_motion(srSymPass* x, int i, const srMat* E, const srNode* coordinates, srVec* s, srVec* t) {
  srGraph* g = x->g;
  const srSymLink* l = &x->tree->link[i];
  const srVec z = column(E, 2);
  *s = *t = srx_zero(g);
  if (l->type == SR_LINK_REVOLUTE || l->type == SR_LINK_HELICAL) *s = srx_times(g, coordinates[0], z);
  if (l->type == SR_LINK_PRISMATIC) *t = srx_times(g, coordinates[0], z);
  if (l->type == SR_LINK_HELICAL) *t = srx_times(g, srx_mul(g, srx_number(g, l->pitch), coordinates[0]), z);
  if (l->type != SR_LINK_BALL && l->type != SR_LINK_FREE) return;
  *s = srx_mat_vec(g, E, (srVec){{coordinates[0], coordinates[1], coordinates[2]}});
  if (l->type == SR_LINK_FREE) *t = srx_mat_vec(g, E, (srVec){{coordinates[3], coordinates[4], coordinates[5]}});
}

// wd x r + w x (w x r)
static srVec swung(srGraph* g, srVec w, srVec wd, srVec r) {
  return srx_plus(g, srx_cross3(g, wd, r), srx_cross3(g, w, srx_cross3(g, w, r)));
}

static void add_joint(srSymView* view, int i, const srSymMotion* from, srSymMotion* to) {
  srSymPass* x = view->pass;
  srGraph* g = x->g;
  const srSymLink* l = &x->tree->link[i];
  const srVec d = srx_mat_vec(g, &from->R, x->p[i]);
  srNode rate[6];
  srVec s, t;
  to->R = turned(g, &from->R, &x->turn[i]);
  to->p = srx_plus(g, from->p, d);
  if (view->level < SR_SYM_VELOCITY) return;
  for (int k = 0; k < sr_link_nv[l->type]; k++) rate[k] = sr_sym_v(x, l->v + k);
  joint_motion(x, i, &to->R, rate, &s, &t);
  to->w = srx_plus(g, from->w, s);
  to->u = srx_plus(g, from->u, srx_plus(g, srx_cross3(g, from->w, d), t));
  if (view->level < SR_SYM_ACCELERATION) return;
  const srVec coriolis = srx_cross3(g, from->w, t);
  to->wd = srx_plus(g, from->wd, srx_cross3(g, from->w, s));
  to->a = srx_plus(g, from->a, swung(g, from->w, from->wd, d));
  to->a = srx_plus(g, to->a, srx_plus(g, srx_plus(g, coriolis, coriolis), srx_cross3(g, s, t)));
  if (view->acceleration == NULL) return;
  joint_motion(x, i, &to->R, view->acceleration + l->v, &s, &t);
  to->wd = srx_plus(g, to->wd, s);
  to->a = srx_plus(g, to->a, t);
}

srSymMotion sr_sym_view_link(srSymView* view, int link) {
  srGraph* g = view->pass->g;
  if (!view->known[link]) {
    srSymMotion* to = &view->motion[link];
    const srVec zero = srx_zero(g);
    *to = (srSymMotion){unit(g), zero, zero, zero, zero, zero};
    if (link != view->observer) {
      const srSymMotion from = sr_sym_view_link(view, view->pass->tree->link[link].parent);
      add_joint(view, link, &from, to);
    }
    view->known[link] = true;
  }
  return view->motion[link];
}

// ---- points -------------------------------------------------------------------------------------------------------------

#define ROUNDING 1e-13  // of entries of rotations, and of lengths as a part of the model's

static double tidy_length(double x, double length) { return fabs(x) <= ROUNDING * length ? 0 : x; }
static double tidy_entry(double x) {
  if (fabs(x) <= ROUNDING) return 0;
  return fabs(fabs(x) - 1) <= ROUNDING ? copysign(1, x) : x;
}

// The frame of a point in the computational frame of its link: Rz(psi - turn) Tz(-slide) of the model's.
void sr_sym_place(srSymPass* x, int point, srMat* R, srVec* p) {
  srGraph* g = x->g;
  const srModel* m = x->tree->m;
  const int link = m->point_link[point];
  const srSymLink* l = &x->tree->link[link];
  const double *T = m->point_pose + 16 * point, s = sin(l->turn), c = cos(l->turn);
  for (int k = 0; k < 4; k++) {
    const double* a = T + 4 * k;
    double v[3] = {c * a[0] + s * a[1], c * a[1] - s * a[0], k < 3 ? a[2] : a[2] - l->slide};
    for (int i = 0; i < 3; i++) v[i] = k < 3 ? tidy_entry(v[i]) : tidy_length(v[i], x->tree->length);
    srVec out = srx_numbers(g, v);
    if (x->sine[link] != SR_NO_NODE) out = sr_turn_z(g, x->sine[link], x->cosine[link], out);
    if (k < 3)
      put_column(R, k, out);
    else
      *p = out;
  }
}

srSymMotion sr_sym_view_point(srSymView* view, int point) {
  srSymPass* x = view->pass;
  srGraph* g = x->g;
  const srSymMotion link = sr_sym_view_link(view, x->tree->m->point_link[point]);
  srSymMotion out = link;
  srMat R;
  srVec p;
  sr_sym_place(x, point, &R, &p);
  const srVec arm = srx_mat_vec(g, &link.R, p);
  out.R = product(g, &link.R, &R);
  out.p = srx_plus(g, link.p, arm);
  if (view->level >= SR_SYM_VELOCITY) out.u = srx_plus(g, link.u, srx_cross3(g, link.w, arm));
  if (view->level >= SR_SYM_ACCELERATION) out.a = srx_plus(g, link.a, swung(g, link.w, link.wd, arm));
  return out;
}

int sr_sym_common_link(const srSymPass* x, int a, int b) {
  while (a != b) {
    if (a > b)
      a = x->tree->link[a].parent;
    else
      b = x->tree->link[b].parent;
  }
  return a;
}

void sr_sym_frame_motion(srSymPass* x, int point, int relative_to, srSymLevel level, const srNode* acceleration,
                         srSymMotion* out) {
  srGraph* g = x->g;
  const int *link = x->tree->m->point_link, common = sr_sym_common_link(x, link[point], link[relative_to]);
  srSymView* view = sr_sym_view(x, common, level, acceleration);
  const srSymMotion B = sr_sym_view_point(view, point), A = sr_sym_view_point(view, relative_to);
  const srMat back = srx_transpose(A.R);
  const srVec d = srx_minus(g, B.p, A.p), zero = srx_zero(g);
  *out = (srSymMotion){product(g, &back, &B.R), srx_mat_vec(g, &back, d), zero, zero, zero, zero};
  if (level < SR_SYM_VELOCITY) return;
  const srVec w = srx_minus(g, B.w, A.w), u = srx_minus(g, srx_minus(g, B.u, A.u), srx_cross3(g, A.w, d));
  out->w = srx_mat_vec(g, &back, w);
  out->u = srx_mat_vec(g, &back, u);
  if (level < SR_SYM_ACCELERATION) return;
  const srVec coriolis = srx_cross3(g, A.w, u);
  srVec a = srx_minus(g, srx_minus(g, B.a, A.a), swung(g, A.w, A.wd, d));
  a = srx_minus(g, a, srx_plus(g, coriolis, coriolis));
  out->a = srx_mat_vec(g, &back, a);
  out->wd = srx_mat_vec(g, &back, srx_minus(g, srx_minus(g, B.wd, A.wd), srx_cross3(g, A.w, w)));
}

int sr_sym_columns(srSymView* view, int link, srVec p, int* dof, srSymColumn* out) {
  srSymPass* x = view->pass;
  srGraph* g = x->g;
  int n = 0;
  for (int i = link; i != view->observer; i = x->tree->link[i].parent) {
    const srSymLink* l = &x->tree->link[i];
    const srSymMotion motion = sr_sym_view_link(view, i);
    const srVec arm = srx_minus(g, p, motion.p);
    for (int k = sr_link_nv[l->type] - 1; k >= 0; k--, n++) {
      srNode coordinates[6];
      for (int j = 0; j < 6; j++) coordinates[j] = srx_number(g, j == k);
      dof[n] = l->v + k;
      joint_motion(x, i, &motion.R, coordinates, &out[n].w, &out[n].u);
      out[n].u = srx_plus(g, out[n].u, srx_cross3(g, out[n].w, arm));
    }
  }
  return n;
}
