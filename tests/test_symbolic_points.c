// Frames of points on the graph against the kernels: pose, motion and columns, of random trees with all joint types, in the model's frames, reduced, and in chosen frames.
#include <string.h>

#include "constraint/constraint.h"
#include "loading.h"
#include "random_tree.h"
#include "symbolic/points.h"
#include "symbolic_values.h"

typedef struct Pair {
  int point, relative_to;
} Pair;
enum { MOTION = 24 };

static void put(srNode** out, const srNode* x, int n) {
  memcpy(*out, x, (size_t)n * sizeof *x);
  *out += n;
}

// As srFrameMotion, then its column of every coordinate; accelerations are inputs.
static void build(srSymPass* x, const void* user, srNode* out) {
  const Pair* pair = user;
  const int nv = x->tree->m->nv;
  srNode* a = sr_pool_alloc(x->tree->pool, (size_t)(nv + 1) * sizeof *a);
  for (int i = 0; i < nv; i++) a[i] = sr_graph_var(x->g, SR_VAR_A, i);
  srSymMotion s;
  sr_sym_frame_motion(x, pair->point, pair->relative_to, SR_SYM_ACCELERATION, a, &s);
  put(&out, s.p.x, 3), put(&out, s.R.x, 9), put(&out, s.u.x, 3);
  put(&out, s.w.x, 3), put(&out, s.a.x, 3), put(&out, s.wd.x, 3);
  const int link = x->tree->m->point_link[pair->point];
  int* dof = sr_pool_alloc(x->tree->pool, (size_t)(nv + 1) * sizeof *dof);
  srSymColumn* column = sr_pool_alloc(x->tree->pool, (size_t)(nv + 1) * sizeof *column);
  srSymView* view = sr_sym_view(x, 0, SR_SYM_POSE, NULL);
  for (int i = 0; i < 6 * nv; i++) out[i] = srx_number(x->g, 0);
  const int n = sr_sym_columns(view, link, sr_sym_view_point(view, pair->point).p, dof, column);
  for (int k = 0; k < n; k++) {
    memcpy(out + 6 * dof[k], column[k].w.x, 3 * sizeof *out);
    memcpy(out + 6 * dof[k] + 3, column[k].u.x, 3 * sizeof *out);
  }
}

static void compare(const srModel* m, srData* d, const Pair* pair, const srCode* code) {
  double *out = calloc((size_t)(MOTION + 6 * m->nv), sizeof *out), *J = calloc((size_t)(6 * m->nv + 1), sizeof *J);
  const State s = {d->q, d->v, d->a, NULL, .t = 0};
  srFrameMotion f;
  evaluate(code, &s, out);
  sr_frame_motion(m, d, pair->point, pair->relative_to, &f);
  const double* expected[] = {f.position,         f.rotation,     f.velocity,
                              f.angular_velocity, f.acceleration, f.angular_acceleration};
  const double scale[] = {10, 1, 100, 10, 1000, 1000};  // of models of random_tree.c
  for (int i = 0, at = 0; i < 6; i++) {
    for (int k = 0; k < (i == 1 ? 9 : 3); k++, at++) ENSURE_NEAR(out[at] / scale[i], expected[i][k] / scale[i], 1e-13);
  }
  sr_frame_jacobian(m, d, pair->point, 0, J);
  for (int k = 0; k < m->nv; k++) {
    for (int i = 0; i < 6; i++) ENSURE_NEAR(out[MOTION + 6 * k + i] / 10, J[i * m->nv + k] / 10, 1e-13);
  }
  free(out);
  free(J);
}

static void set_frames(srSymTree* tree, Random* r) {
  for (int i = 1; i < tree->n; i++) {
    srSymLink* l = &tree->link[i];
    if (l->type == SR_LINK_REVOLUTE && random_below(r, 2)) l->frame = SR_FRAME_BEFORE;
    if ((l->type == SR_LINK_REVOLUTE || l->type == SR_LINK_PRISMATIC) && sr_sym_is_parallel(l) && random_below(r, 2))
      l->frame = SR_FRAME_PARENT;
  }
}

static void check_points(const srModel* m, Random* r, int pairs) {
  srData* d = sr_data_create(m);
  for (int i = 0; i < pairs; i++) {
    srPool pool;
    sr_pool_init(&pool);
    srSymTree* tree = tree_of(&pool, m, i % 3 > 0);
    if (i % 3 == 2) set_frames(tree, r);
    const Pair pair = {random_below(r, m->npoint), i % 4 == 0 ? 0 : random_below(r, m->npoint)};
    const srCode* code = code_with(&pool, tree, build, &pair, MOTION + 6 * m->nv);
    random_state(r, m, d);
    sr_evaluate(m, d, 0, d->q, d->v, d->y, SR_STAGE_VELOCITY);
    for (int k = 0; k < m->nv; k++) d->a[k] = random_in(r, -2, 2);
    sr_acceleration(m, d);
    compare(m, d, &pair, code);
    sr_pool_free(&pool);
  }
  sr_data_destroy(d);
}

TEST(symbolic_points_move_as_those_of_the_kernels) {
  Random r = {11};
  for (int i = 0; i < (runner_long() ? 300 : 30); i++) {
    srModel* m = random_tree(&r, &(RandomTree){.nbody = 1 + random_below(&r, 8), .free_root = i % 4 == 1});
    check_points(m, &r, 12);
    sr_model_destroy(m);
  }
}

// Parallel axes and right angles: frames of the parent.
TEST(symbolic_points_move_as_those_of_the_kernels_on_shipped_models) {
  static const char* const names[] = {"mechanisms/four-bar", "robots/arm-scara", "paper1/arm6", "humanoid"};
  Random r = {12};
  for (int i = 0; i < 4; i++) {
    Loaded x = open_model(names[i], "");
    check_points(x.m, &r, 12);
    close_model(&x);
  }
}
