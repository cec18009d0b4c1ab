// Limbs in lanes: the statements of one lane, run for all lanes together, against those of the whole tree; which models have lanes, and which not.
#include <dirent.h>
#include <string.h>

#include "loading.h"
#include "random_tree.h"
#include "symbolic/lanes.h"
#include "symbolic_values.h"

extern const srSymFunction sr_function_rates;

// A trunk on a slider with three legs and a tail; the legs are alike but for their numbers and the side that their hips turn to. Springs from the trunk to the legs, a force on the slider that depends on knees, feet on the floor.
#define LEG(n, side, mass)                                                                                             \
  "<body name='thigh" n "' parent='trunk'><joint name='hip" n "' type='revolute' at='0.2 " side "0.1 0.1' axis='" side \
  "1 0 0.2' damping='0.1'/>"                                                                                           \
  "<inertial mass='" mass "' com='0.01 " side                                                                          \
  "0.02 -0.1' inertia='0.01 0.02 0.03'/><point name='p' at='0 0.05 -0.1'/></body>"                                     \
  "<body name='shin" n "' parent='thigh" n "'><joint name='knee" n "' type='revolute' at='0 " side                     \
  "0.05 -0.2' axis='0 1 0' q='0.3'/><inertial mass='0.3' com='0 0 -0.1' inertia='0.002 0.002 0.001'/>"                 \
  "<shape name='foot' type='sphere' size='0.02' at='0 0 -0.2'/><shape name='ball' type='sphere' size='0.15' at='0 0 "  \
  "-0.2'/><shape name='sole' type='box' size='0.2 0.15 0.1' at='0 0 -0.2'/><shape name='rod' type='capsule' "          \
  "size='0.1 0.2' at='0 0 -0.2'/></body>"
#define FLOOR "<shape name='floor' type='plane' at='0 0 0.5'/>"
#define LAND                                                                                                           \
  "<shape name='land' type='heightfield' at='0 0 -0.3' size='2 2' columns='5' heights='0 0.1 0 0.1 0 0.1 0 0.2 0 0.1 " \
  "0 0.1 0 0.2 0.1 0 0 0.1 0 0.1 0.1 0 0.2 0.1 0'/>"
#define BEGIN BEGIN_ON(FLOOR)
#define BEGIN_ON(ground)                                                                                               \
  "<sarrus version='1' name='crab'><ground>" ground                                                                    \
  "</ground>"                                                                                                          \
  "<body name='trunk'><joint name='rail' type='prismatic' axis='1 0 0'/><inertial mass='5' com='0.1 0 0' "             \
  "inertia='0.1 0.2 0.3'/>"                                                                                            \
  "<point name='a' at='0.1 0.2 0'/></body>"                                                                            \
  "<body name='tail' parent='trunk'><joint name='tail' type='ball' at='-0.2 0 0'/><inertial mass='0.2' com='-0.1 0 "   \
  "0' inertia='0.01 0.01 0.01'/></body>"
#define SPRING(n, k) "<link name='spring" n "' a='trunk/a' b='thigh" n "/p' law='-" k "*(z - 0.1) - 2*zdot'/>"
#define FOOT(n) "<contact a='floor' b='shin" n "/foot' normal='kelvin-voigt' K='2e3' D='20' mu-k='0.7' bristle-B='20'/>"
#define SPRINGS SPRING("1", "30") SPRING("2", "40") SPRING("3", "50")
#define PUSHES                                                                                                         \
  "<torque joint='rail' law='-2*q(knee1)'/><torque joint='rail' law='-3*q(knee2)'/><torque joint='rail' "              \
  "law='sin(q(knee3))'/>"
#define FEET FOOT("1") FOOT("2") FOOT("3")

typedef struct Local {
  int n, *output;
  bool* of_base;
} Local;

// Outputs of `rates`: accelerations, then rates of states.
static Local locals_of(srPool* pool, const srModel* m, const srSymLanes* l) {
  Local x = {.n = l->nv + l->ny};
  x.output = sr_pool_alloc(pool, (size_t)(x.n * l->n + 1) * sizeof *x.output);
  x.of_base = sr_pool_alloc(pool, (size_t)x.n + 1);
  for (int lane = 0; lane < l->n; lane++) {
    for (int k = 0; k < l->nv; k++) x.output[lane * x.n + k] = l->v[lane * l->nv + k];
    for (int k = 0; k < l->ny; k++) x.output[lane * x.n + l->nv + k] = m->nv + l->y[lane * l->ny + k];
  }
  for (int k = 0; k < x.n; k++) x.of_base[k] = k < l->nv ? k < l->base_v : k - l->nv < l->base_y;
  return x;
}

static double of_lane(const srCodeValue* u, const srSymLanes* l, int lane, const State* s) {
  switch (u->kind) {
    case SR_VAR_Q: return s->q[l->q[lane * l->nq + u->index]];
    case SR_VAR_V: return s->v[l->v[lane * l->nv + u->index]];
    case SR_VAR_TAU: return s->tau[l->v[lane * l->nv + u->index]];
    case SR_VAR_STATE: return s->y[l->y[lane * l->ny + u->index]];
    default: return input_value(u, s);
  }
}

// All lanes, value by value; x: code->n of each lane.
static void run_lanes(const srSymZipped* z, const srSymLanes* l, const State* s, double* x) {
  const int n = z->code->n;
  double** left = calloc((size_t)(n * l->n) + 1, sizeof *left);
  for (int i = 0; i < n; i++) {
    const srCodeValue* u = &z->code->value[i];
    double sum = 0;
    for (int lane = 0; lane < l->n; lane++) {
      double* own = x + lane * n;
      if (u->op == SR_OP_VAR) own[i] = of_lane(u, l, lane, s);
      if (u->op == SR_OP_PARAM) own[i] = z->constant[u->index * l->n + lane];
      if (u->op == SR_OP_FUNCTION) sum += signed_value(own, u->child[0]);
      if (u->op == SR_OP_FOLD)
        left[lane * n + i] = fold_of(z->code, u, own);
      else if (u->op == SR_OP_PART)
        own[i] = left[lane * n + SR_REF_VALUE(u->child[0])][u->index];
      else if (u->op != SR_OP_VAR && u->op != SR_OP_PARAM && u->op != SR_OP_FUNCTION)
        own[i] = value_of(z->code, u, own, s);
    }
    for (int lane = 0; lane < l->n && u->op == SR_OP_FUNCTION; lane++) x[lane * n + i] = sum;
  }
  for (int i = 0; i < n * l->n; i++) free(left[i]);
  free(left);
}

static void compare(const srModel* m, const srCode* whole, const srSymZipped* z, const srSymLanes* l,
                    const Local* local, const State* s) {
  double* x = calloc((size_t)(z->code->n * l->n + 1), sizeof *x);
  double* expected = calloc((size_t)(m->nv + m->ny + 1), sizeof *expected);
  evaluate(whole, s, expected);
  run_lanes(z, l, s, x);
  double size[2] = {1e-6, 1e-6};
  for (int k = 0; k < m->nv + m->ny; k++) size[k >= m->nv] = fmax(size[k >= m->nv], fabs(expected[k]));
  for (int lane = 0; lane < l->n; lane++) {
    for (int k = 0; k < local->n; k++) {
      const int at = local->output[lane * local->n + k];
      const double value = signed_value(x + lane * z->code->n, z->code->out[k]);
      ENSURE(fabs(value - expected[at]) <= 1e-12 * size[at >= m->nv]);
      if (local->of_base[k]) ENSURE(value == signed_value(x, z->code->out[k]));
    }
  }
  free(expected);
  free(x);
}

// Statements of a lane over those of the whole; 0: the model has no such lanes.
static double check_lanes(const srModel* m, int n) {
  srPool pool;
  sr_pool_init(&pool);
  const srSymContext context = {.m = m, .pool = &pool};
  double part = 0;
  srSymTree* tree = tree_of(&pool, m, true);
  const srSymLanes* l = sr_sym_lanes(&pool, tree, n, true);
  const srSymZipped* z = NULL;
  const srCode* whole = NULL;
  Local local = {0};
  if (l != NULL && sr_function_rates.missing(&context) == NULL) {
    whole = code_with(&pool, tree, sr_function_rates.build[0], &context, m->nv + m->ny);
    local = locals_of(&pool, m, l);
    tree->lanes = l;
    sr_sym_choose_frames(tree, sr_function_rates.build[0], &context, m->nv + m->ny);
    z = sr_sym_zip(&pool, tree, sr_function_rates.build[0], &context, m->nv + m->ny, local.n, local.output,
                   local.of_base);
  }
  if (z != NULL) {
    Random r = {7};
    srData* d = sr_data_create(m);
    double* at = calloc((size_t)(m->nq + 2 * m->nv + m->ny + 1), sizeof *at);
    const State s = {
        .q = at, .v = at + m->nq, .tau = at + m->nq + m->nv, .y = at + m->nq + 2 * m->nv, .t = 0.2, .stage = -1};
    for (int k = 0; k < 5; k++) {
      random_state(&r, m, d);
      for (int i = 0; i < m->nq; i++) s.q[i] = m->q0[i] + 0.3 * (d->q[i] - m->q0[i]);
      for (int i = 0; i < m->nv; i++) s.v[i] = d->v[i], s.tau[i] = random_in(&r, -1, 1);
      for (int i = 0; i < m->ny; i++) s.y[i] = m->y0[i] + random_in(&r, -1e-3, 1e-3);
      compare(m, whole, z, l, &local, &s);
    }
    part = (double)z->code->n / whole->n;
    free(at);
    sr_data_destroy(d);
  }
  sr_pool_free(&pool);
  return part;
}

static double of_text(const char* text, int n) {
  Loaded x = open_text(text);
  const double part = check_lanes(x.m, n);
  close_model(&x);
  return part;
}

TEST(symbolic_lanes_are_the_whole_tree) {
  static const char* const names[] = {"robots/quadruped-stand", "humanoid", "tree", "satellite"};
  double part[4][2];
  for (int i = 0; i < 4; i++) {
    Loaded x = open_model(names[i], "");
    for (int k = 0; k < 2; k++) part[i][k] = x.m->nmassless == 0 ? check_lanes(x.m, 2 << k) : 0;
    close_model(&x);
  }
  ENSURE(part[0][0] > 0 && part[0][0] < 0.6);
  ENSURE(part[0][1] > 0 && part[0][1] < 0.35);
  ENSURE(part[1][0] > 0 && part[1][0] < 0.7);
}

// Numbers that differ, axes of other sides, forces of limbs on the base; the third leg is of the base.
TEST(symbolic_lanes_of_limbs_that_differ_in_numbers) {
  ENSURE(of_text(BEGIN LEG("1", "", "1") LEG("2", "-", "1.5") LEG("3", "", "2") SPRINGS PUSHES FEET "</sarrus>", 2) >
         0);
  ENSURE(of_text(BEGIN LEG("1", "", "1") LEG("2", "-", "1.5") SPRING("1", "30") SPRING("2", "40") FOOT("1")
                     FOOT("2") "</sarrus>",
                 2) > 0);
  ENSURE(of_text(BEGIN LEG("1", "", "1") LEG("2", "-", "1.5") "</sarrus>", 4) == 0);  // they do not fill four lanes
}

// Heights are looked up, and loops run, in each lane.
TEST(symbolic_lanes_with_feet_on_height_fields) {
#define ON_LAND(n, foot)                                                                                               \
  "<contact a='land' b='shin" n "/" foot "' normal='kelvin-voigt' K='2e3' D='20' mu-k='0.7' bristle-B='20'/>"
#define FEET_ON_LAND(foot)                                                                                             \
  BEGIN_ON(LAND) LEG("1", "", "1") LEG("2", "-", "1.5") ON_LAND("1", foot) ON_LAND("2", foot) "</sarrus>"
  ENSURE(of_text(FEET_ON_LAND("ball"), 2) > 0);
  ENSURE(of_text(FEET_ON_LAND("sole"), 2) > 0);
  ENSURE(of_text(FEET_ON_LAND("rod"), 2) > 0);
}

// A spring between two lanes, a force on one leg alone, armature on one side, a law of another kind.
TEST(symbolic_lanes_are_refused) {
  ENSURE(of_text(BEGIN LEG("1", "", "1")
                     LEG("2", "-", "1.5") "<link name='x' a='thigh1/p' b='thigh2/p' law='-z'/></sarrus>",
                 2) == 0);
  ENSURE(of_text(BEGIN LEG("1", "", "1") LEG("2", "-", "1.5") SPRING("1", "30") "</sarrus>", 2) == 0);
  ENSURE(of_text(BEGIN LEG("1", "", "1") LEG("2", "-", "1.5") "<torque joint='rail' law='q(knee1)*q(knee2)'/></sarrus>",
                 2) == 0);
  ENSURE(of_text(BEGIN LEG("1", "", "1") LEG("2", "-", "1.5") FOOT("1") "</sarrus>", 2) == 0);
}
