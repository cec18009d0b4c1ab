// Tables of two arguments: interpolation, derivatives, what is beyond the grid, formulas, models, messages.
#include "expr/table2.h"

#include <math.h>
#include <sarrus/sarrus.h>
#include <string.h>

#include "expr/expr.h"
#include "heap.h"
#include "loading.h"
#include "messages.h"
#include "runner.h"

static srPool pool;
static char reason[256];

static const double X[] = {-1, 0, 0.4, 1.5, 2.2}, Y[] = {0.5, 1, 2.5, 3};
enum { NX = 5, NY = 4, MOST = 65 };

static double at(const srFunction2* f, double x, double y, int i, int k) { return f->evaluate(f->self, x, y, i, k); }

// No smooth function of x and y.
static void rough(double* z) {
  for (int i = 0; i < NX * NY; i++) z[i] = sin(7.0 * i) + 0.3 * cos(23.0 * i);
}

static srFunction2 make(const srTable2* table) {
  srFunction2 f = {0};
  const bool done = sr_table2(&pool, table, &f, reason, sizeof reason);
  if (!done) printf("%s\n", reason);
  ENSURE(done);
  return f;
}

static srFunction2 make_rough(bool cubic, srmSplineEnds ends_x, srmSplineEnds ends_y) {
  static double z[NX * NY];
  rough(z);
  return make(&(srTable2){NX, NY, X, Y, z, cubic, {ends_x, ends_y}});
}

// ------------------------------------------------------------------------------------------------------ interpolation
TEST(a_table_of_two_arguments_passes_through_its_values) {
  double z[NX * NY];
  rough(z);
  sr_pool_init(&pool);
  for (int cubic = 0; cubic < 2; cubic++) {
    for (int ends = 0; ends < 2; ends++) {
      const srFunction2 f = make(&(srTable2){NX, NY, X, Y, z, cubic, {(srmSplineEnds)ends, (srmSplineEnds)(1 - ends)}});
      for (int i = 0; i < NX; i++)
        for (int k = 0; k < NY; k++) ENSURE_NEAR(at(&f, X[i], Y[k], 0, 0), z[i * NY + k], 1e-14);
    }
  }
  sr_pool_free(&pool);
}

// a + b x + c y + d x y is reproduced by products of lines, and of natural splines, also beyond the grid.
TEST(a_table_of_two_arguments_reproduces_products_of_lines) {
  double z[NX * NY];
  sr_pool_init(&pool);
  for (int i = 0; i < NX * NY; i++) z[i] = 2 - 3 * X[i / NY] + 0.5 * Y[i % NY] + 4 * X[i / NY] * Y[i % NY];
  for (int cubic = 0; cubic < 2; cubic++) {
    const srFunction2 f = make(&(srTable2){NX, NY, X, Y, z, cubic, {SRM_ENDS_NATURAL, SRM_ENDS_NATURAL}});
    for (double x = -2.05; x < 4; x += 0.37) {
      for (double y = -1.03; y < 5; y += 0.41) {
        ENSURE_NEAR(at(&f, x, y, 0, 0), 2 - 3 * x + 0.5 * y + 4 * x * y, 1e-13 * 100);
        ENSURE_NEAR(at(&f, x, y, 1, 0), -3 + 4 * y, 1e-13 * 100);
        ENSURE_NEAR(at(&f, x, y, 0, 1), 0.5 + 4 * x, 1e-13 * 100);
        ENSURE_NEAR(at(&f, x, y, 1, 1), 4, 1e-13 * 100);
        ENSURE_NEAR(at(&f, x, y, 2, 0), 0, 1e-12 * 100);
        ENSURE_NEAR(at(&f, x, y, 0, 2), 0, 1e-12 * 100);
      }
    }
  }
  sr_pool_free(&pool);
}

// h = 3 s^2 - 2 s^3, and its derivatives: no slope at 0 and 1.
static double step_of(double s, int order) {
  switch (order) {
    case 0: return s * s * (3 - 2 * s);
    case 1: return 6 * s * (1 - s);
    case 2: return 6 - 12 * s;
    default: return -12;
  }
}

static const double A[] = {0, 0.15, 0.5, 0.6, 1}, B[] = {0, 0.3, 0.45, 1};

static srFunction2 make_steps(void) {
  double z[NX * NY];
  for (int i = 0; i < NX * NY; i++) z[i] = step_of(A[i / NY], 0) * step_of(B[i % NY], 0);
  return make(&(srTable2){NX, NY, A, B, z, true, {SRM_ENDS_CLAMPED, SRM_ENDS_CLAMPED}});
}

// A product of cubics with level ends is its own spline.
TEST(a_cubic_table_reproduces_products_of_cubics_with_level_ends) {
  sr_pool_init(&pool);
  const srFunction2 f = make_steps();
  for (double x = 0.02; x < 1; x += 0.061)
    for (double y = 0.01; y < 1; y += 0.073)
      for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
          const double exact = step_of(x, i) * step_of(y, k);
          ENSURE_NEAR(at(&f, x, y, i, k), exact, 1e-12 * (1 + fabs(exact)));
        }
  sr_pool_free(&pool);
}

// Largest error on [0, 2 pi]^2 of sin(x + 0.3) (2 + cos(2 y)), from n intervals a side.
static double error_of(bool cubic, int n, int order_x) {
  static double x[MOST], z[MOST * MOST];
  const double turn = 6.28318530717958647692;
  for (int i = 0; i <= n; i++) x[i] = turn * i / n;
  for (int i = 0; i <= n; i++)
    for (int k = 0; k <= n; k++) z[i * (n + 1) + k] = sin(x[i % n] + 0.3) * (2 + cos(2 * x[k % n]));
  const srFunction2 f = make(&(srTable2){n + 1, n + 1, x, x, z, cubic, {SRM_ENDS_PERIODIC, SRM_ENDS_PERIODIC}});
  double worst = 0;
  for (int i = 0; i < 61 * 67; i++) {
    const double a = turn * (i % 61) / 61 - 3, b = turn * (i / 61) / 67 + 40;  // beyond the grid: it repeats
    const double exact = (order_x ? cos(a + 0.3) : sin(a + 0.3)) * (2 + cos(2 * b));
    worst = fmax(worst, fabs(at(&f, a, b, order_x, 0) - exact));
  }
  return worst;
}

// Errors fall as h^2 and h^4, of first derivatives of a cubic as h^3 (in the middle of cells; at most).
TEST(tables_of_two_arguments_converge) {
  sr_pool_init(&pool);
  const double linear = log2(error_of(false, 32, 0) / error_of(false, 64, 0));
  const double cubic = log2(error_of(true, 32, 0) / error_of(true, 64, 0));
  const double slope = log2(error_of(true, 32, 1) / error_of(true, 64, 1));
  ENSURE(linear > 1.8 && linear < 2.2);
  ENSURE(cubic > 3.7 && cubic < 4.3);
  ENSURE(slope > 2.7);
  ENSURE(error_of(true, 64, 0) < 1e-5 && error_of(false, 64, 0) < 0.02);
  sr_pool_free(&pool);
}

// -------------------------------------------------------------------------------------------------------- derivatives
static bool is_clear(double x, const double* knots, int n) {
  for (int i = 0; i < n; i++)
    if (fabs(x - knots[i]) < 2e-3) return false;
  return true;
}

// By a central difference of the derivative one order lower, in cells and beyond the grid.
static void compare_derivatives(const srFunction2* f, int i, int k) {
  const double h = 1e-4;
  for (double x = -2.03; x < 4; x += 0.31) {
    for (double y = -1.02; y < 5; y += 0.37) {
      if (!is_clear(x, X, NX) || !is_clear(y, Y, NY)) continue;
      const double by_x = (at(f, x + h, y, i, k) - at(f, x - h, y, i, k)) / (2 * h);
      const double by_y = (at(f, x, y + h, i, k) - at(f, x, y - h, i, k)) / (2 * h);
      const double third = 1e3;  // of a rough table
      ENSURE_NEAR(at(f, x, y, i + 1, k), by_x, third * h * h + 1e-9);
      ENSURE_NEAR(at(f, x, y, i, k + 1), by_y, third * h * h + 1e-9);
    }
  }
}

TEST(derivatives_of_a_table_of_two_arguments_agree_with_differences) {
  sr_pool_init(&pool);
  for (int cubic = 0; cubic < 2; cubic++) {
    const srFunction2 f = make_rough(cubic, SRM_ENDS_NATURAL, SRM_ENDS_CLAMPED);
    const srFunction2 g = make_rough(cubic, SRM_ENDS_CLAMPED, SRM_ENDS_NATURAL);
    for (int orders = 0; orders < 4; orders++) {
      compare_derivatives(&f, orders % 2, orders / 2);
      compare_derivatives(&g, orders % 2, orders / 2);
    }
  }
  sr_pool_free(&pool);
}

// The derivative (i, k) on both sides of every line of the grid.
static bool is_continuous(const srFunction2* f, int i, int k) {
  const double e = 1e-9, tolerance = 1e-5;  // the next derivative is below 1e4
  bool good = true;
  for (double s = 0.013; s < 1; s += 0.11) {
    const double y = Y[0] + s * (Y[NY - 1] - Y[0]), x = X[0] + s * (X[NX - 1] - X[0]);
    for (int n = 1; n < NX - 1; n++) good &= fabs(at(f, X[n] - e, y, i, k) - at(f, X[n], y, i, k)) < tolerance;
    for (int n = 1; n < NY - 1; n++) good &= fabs(at(f, x, Y[n] - e, i, k) - at(f, x, Y[n], i, k)) < tolerance;
  }
  return good;
}

TEST(a_cubic_table_is_smooth_across_cells) {
  sr_pool_init(&pool);
  for (int ends = 0; ends < 2; ends++) {
    const srFunction2 cubic = make_rough(true, (srmSplineEnds)ends, SRM_ENDS_NATURAL);
    const srFunction2 linear = make_rough(false, (srmSplineEnds)ends, SRM_ENDS_NATURAL);
    for (int i = 0; i <= 2; i++)
      for (int k = 0; k <= 2; k++) ENSURE(is_continuous(&cubic, i, k));
    ENSURE(!is_continuous(&cubic, 3, 0) && !is_continuous(&cubic, 0, 3));
    ENSURE(is_continuous(&linear, 0, 0));
    ENSURE(!is_continuous(&linear, 1, 0) && !is_continuous(&linear, 0, 1));
  }
  sr_pool_free(&pool);
}

TEST(beyond_its_grid_a_table_holds_or_continues_or_repeats_in_each_argument) {
  sr_pool_init(&pool);
  const srFunction2 f = make_rough(true, SRM_ENDS_CLAMPED, SRM_ENDS_NATURAL);
  ENSURE_NEAR(at(&f, -7, 0.9, 0, 0), at(&f, -1, 0.9, 0, 0), 0);
  ENSURE_NEAR(at(&f, 9, 0.9, 0, 0), at(&f, 2.2, 0.9, 0, 0), 0);
  ENSURE_NEAR(at(&f, 9, 0.9, 0, 1), at(&f, 2.2, 0.9, 0, 1), 0);
  ENSURE_NEAR(at(&f, 9, 0.9, 1, 0), 0, 0);
  ENSURE_NEAR(at(&f, 2.2, 0.9, 1, 0), 0, 1e-13);
  ENSURE_NEAR(at(&f, 0.7, 5, 0, 0), at(&f, 0.7, 3, 0, 0) + 2 * at(&f, 0.7, 3, 0, 1), 1e-14);
  ENSURE_NEAR(at(&f, 0.7, -1, 0, 0), at(&f, 0.7, 0.5, 0, 0) - 1.5 * at(&f, 0.7, 0.5, 0, 1), 1e-14);
  ENSURE_NEAR(at(&f, 0.7, 5, 1, 0), at(&f, 0.7, 3, 1, 0) + 2 * at(&f, 0.7, 3, 1, 1), 1e-14);
  ENSURE_NEAR(at(&f, 0.7, 5, 0, 2), 0, 0);
  ENSURE_NEAR(at(&f, -7, 5, 0, 0), at(&f, -1, 3, 0, 0) + 2 * at(&f, -1, 3, 0, 1), 1e-14);
  ENSURE(isnan(at(&f, (double)NAN, 1, 0, 0)) && isnan(at(&f, 1, (double)NAN, 0, 0)));
  double z[NX * NY];
  rough(z);
  for (int k = 0; k < NY; k++) z[(NX - 1) * NY + k] = z[k];
  const srFunction2 g = make(&(srTable2){NX, NY, X, Y, z, true, {SRM_ENDS_PERIODIC, SRM_ENDS_CLAMPED}});
  for (int order = 0; order < 3; order++) {
    ENSURE_NEAR(at(&g, 0.3 + 3 * 3.2, 2, order, 0), at(&g, 0.3, 2, order, 0), 1e-12);
    ENSURE_NEAR(at(&g, 2.2 - 1e-12, 2, order, 1), at(&g, -1, 2, order, 1), 1e-9);  // smooth where the ends meet
  }
  sr_pool_free(&pool);
}

// ----------------------------------------------------------------------------------------------------------- formulas
static srNode resolve(void* user, srGraph* g, const char* name, char* why, size_t size) {
  (void)user, (void)why, (void)size;
  return strcmp(name, "t") == 0 ? sr_graph_var(g, SR_VAR_TIME, 0) : SR_NO_NODE;
}

// d/dt and d2/dt2 of h(t) h(t^2) by the graph and by hand; evaluation allocates nothing.
TEST(a_formula_with_a_table_has_exact_derivatives) {
  const srResolver resolver = {.name = resolve};
  Heap heap = {0};
  sr_pool_init(&pool);
  srGraph* graph = sr_graph_create(&pool);
  srMessages* messages = sr_messages_create();
  srFunction2 f = make_steps();
  f.name = "map";
  ENSURE_EQUAL(sr_graph_add_function2(graph, &f), 0);
  ENSURE_EQUAL(sr_graph_add_function2(graph, &f), -1);
  srNode root[3] = {sr_parse(graph, "map(t, t^2)", &resolver, (srPlace){"m", 1, 1}, messages)};
  const srNode t = sr_graph_var(graph, SR_VAR_TIME, 0);
  root[1] = sr_graph_derive(graph, root[0], t);
  root[2] = sr_graph_derive(graph, root[1], t);
  ENSURE_TEXT(sr_graph_text(graph, sr_graph_function2(graph, 0, SR_ORDERS(1, 2), t, t), &pool), "map_xyy(t, t)");
  const srProgram* program = sr_program_create(&pool, graph, root, 3);
  double work[64], out[3];
  ENSURE(sr_program_work(program) <= 64);
  sr_set_allocator(heap_allocator, &heap);
  for (double s = 0.05; s < 1; s += 0.07) {
    const double a = s, b = s * s, h = step_of(a, 0), k = step_of(b, 0), h1 = step_of(a, 1), k1 = step_of(b, 1);
    sr_program_evaluate(program, &(srInputs){.t = s}, work, out);
    ENSURE_NEAR(out[0], h * k, 1e-13);
    ENSURE_NEAR(out[1], h1 * k + h * k1 * 2 * s, 1e-12);
    ENSURE_NEAR(out[2], step_of(a, 2) * k + 4 * s * h1 * k1 + h * (step_of(b, 2) * 4 * b + 2 * k1), 1e-11);
  }
  sr_set_allocator(NULL, NULL);
  ENSURE_EQUAL(heap.calls, 0);
  ENSURE_EQUAL(sr_parse(graph, "map(t)", &resolver, (srPlace){"m", 1, 1}, messages), SR_NO_NODE);
  ENSURE_TEXT(sr_messages_get(messages, 0)->text, "map takes 2 arguments, got 1");
  ENSURE_EQUAL(sr_parse(graph, "1 + map", &resolver, (srPlace){"m", 1, 1}, messages), SR_NO_NODE);
  ENSURE_TEXT(sr_messages_get(messages, 1)->text, "'map' is a function: expected '(' after it");
  double value = 0;
  ENSURE(sr_graph_constant(graph, sr_parse(graph, "map(0.5, 0.5)", &resolver, (srPlace){"m", 1, 1}, messages), &value));
  ENSURE_NEAR(value, 0.25, 1e-14);
  sr_messages_destroy(messages);
  sr_pool_free(&pool);
}

// ------------------------------------------------------------------------------------------------------------- models
static double end_speed(const char* type, const char* method) {
  char text[2000];
  snprintf(text, sizeof text,
           "<sarrus version='1'><option gravity='0 0 0'/><parameter name='T0' value='80'/><parameter name='w0' "
           "value='50*2'/>"
           "<table name='torque' type='%s' ends='natural' x='0 20 w0 2*w0' y='0 0.3 1' values='0 0.3*T0 T0"
           "  0 0.3*T0*(1-20/w0) T0*(1-20/w0)  0 0 0  0 -0.3*T0 -T0'/>"
           "<body name='wheel'><joint name='crank' type='revolute'/><inertial mass='1' inertia='1 1 0.8'/></body>"
           "<torque joint='crank' law='torque(v(crank), 0.2 + t/2)'/></sarrus>",
           type);
  Loaded x = open_text(text);
  srRunOptions options = sr_run_options(x.m);
  options.t_end = 2, options.method = method, options.rtol = 1e-11, options.atol = 1e-12;
  ENSURE_EQUAL(sr_run(x.m, x.d, &options, NULL, &x.result), SR_OK);
  const double w = x.d->v[0];
  close_model(&x);
  return w;
}

// J w' = u T0 (1 - w/w0), u = 0.2 + t/2, beyond the grid too:   w = w0 (1 - exp(-T0/(J w0) (0.2 t + t^2/4)))
TEST(an_engine_map_drives_an_inertia) {
  const double exact = 100 * (1 - exp(-80 / (0.8 * 100) * (0.2 * 2 + 1)));
  ENSURE_NEAR(end_speed("linear", "dopri5"), exact, 1e-8);
  ENSURE_NEAR(end_speed("cubic", "dopri5"), exact, 1e-8);
  ENSURE_NEAR(end_speed("cubic", "radau5"), exact, 1e-7);
}

// A slider on z = h(x) h(y) over a driven table: the formula of the constraint needs second derivatives of the table.
TEST(a_constraint_by_a_table_holds_a_slider_on_a_surface) {
  static const char text[] =
      "<sarrus version='1'><option gravity='0 0 0'/>"
      "<table name='hill' type='cubic' x='0 0.5 1' y='0 0.5 1' values='0 0 0  0 0.25 0.5  0 0.5 1'/>"
      "<body name='a'><joint name='x' type='prismatic' axis='1 0 0' q='0.2' v='0.5'/><inertial mass='1'/></body>"
      "<body name='b' parent='a'><joint name='y' type='prismatic' axis='0 1 0' q='0.3' v='0.4'/><inertial "
      "mass='1'/></body>"
      "<body name='c' parent='b'><joint name='z' type='prismatic' axis='0 0 1'/><inertial mass='1'/></body>"
      "<constraint expr='q(z) = hill(q(x), q(y))' tolerance='1'/></sarrus>";
  Loaded x = open_text(text);
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_assemble(x.m, x.d, messages, NULL), SR_OK);
  sr_messages_destroy(messages);
  ENSURE_EQUAL(sr_forward(x.m, x.d, SR_TAU_ELEMENT), 0);
  const double *q = x.d->q, *v = x.d->v, *a = x.d->a;
  ENSURE_NEAR(q[2], step_of(q[0], 0) * step_of(q[1], 0), 1e-9);
  const double zx = step_of(q[0], 1) * step_of(q[1], 0), zy = step_of(q[0], 0) * step_of(q[1], 1);
  const double zxx = step_of(q[0], 2) * step_of(q[1], 0), zyy = step_of(q[0], 0) * step_of(q[1], 2);
  const double zxy = step_of(q[0], 1) * step_of(q[1], 1);
  ENSURE_NEAR(v[2], zx * v[0] + zy * v[1], 1e-9);
  ENSURE_NEAR(a[2], zx * a[0] + zy * a[1] + zxx * v[0] * v[0] + 2 * zxy * v[0] * v[1] + zyy * v[1] * v[1], 1e-9);
  ENSURE(fabs(zxx * v[0] * v[0] + 2 * zxy * v[0] * v[1] + zyy * v[1] * v[1]) > 0.1);
  close_model(&x);
}

// -------------------------------------------------------------------------------------------------- files and messages
static char heard[2000];

static bool is_refused(const char* table, const char* message) {
  char text[1000];
  snprintf(text, sizeof text, "<sarrus version='1'>\n%s\n</sarrus>", table);
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  srStatus status = sr_load_text(text, strlen(text), "m", SARRUS_SOURCE_DIR "/tests/io", NULL, messages, &spec);
  if (status == SR_OK) status = sr_compile(spec, messages, &m);
  messages_keep(messages, heard, sizeof heard);
  srs_destroy(spec);
  sr_model_destroy(m);
  sr_messages_destroy(messages);
  const bool right = status == SR_INPUT && strstr(heard, message);
  if (!right) printf("expected: %s\ngot: %s\n", message, heard);
  return right;
}

TEST(wrong_tables_of_two_arguments_are_refused_where_they_are_wrong) {
  ENSURE(is_refused("<table name='a' type='cubic' x='0 1' y='0 1 2' values='1 2 3 4 5'/>",
                    "m:2:56: error: table 'a': 'values' takes 6 numbers, 3 for each of 2 values of x; got 5"));
  ENSURE(is_refused(
      "<table name='a' type='cubic' x='0 2 1' y='0 1' values='1 2 3 4 5 6'/>",
      "m:2:33: error: table 'a': the values of x must be in increasing order, each once: value 3 is 1, after 2"));
  ENSURE(is_refused(
      "<table name='a' type='linear' x='0 1' y='0 1 1' values='1 2 3 4 5 6'/>",
      "m:2:42: error: table 'a': the values of y must be in increasing order, each once: value 3 is 1, after 1"));
  ENSURE(is_refused("<table name='a' type='linear' x='0 1' y='0 1' values='1 2 3 0/0'/>", "m:2:61: error"));
  ENSURE(is_refused("<table name='a' type='cubic' x='0 1e-320' y='0 1' values='1 2 3 4'/>", "too close to each other"));
  ENSURE(is_refused("<table name='a' type='cubic' x='0' y='0 1' values='1 2 3 4'/>", "m:2:33: error"));
  ENSURE(is_refused("<table name='a' type='cubic'/>", "m:2:1: error: table 'a': the grid is given by 'x' and 'y'"));
  ENSURE(is_refused("<table name='a' type='cubic' x='0 1' y='0 1'/>",
                    "takes 4 numbers, 2 for each of 2 values of x; got 0"));
  ENSURE(is_refused(
      "<table name='a' type='cubic' ends='periodic' ends-y='natural' x='0 1' y='0 1' values='1 2 1 3'/>",
      "periodic in x, the values at its first and last value are the same; for value 2 of y they are 2 and 3"));
  ENSURE(is_refused(
      "<table name='a' type='cubic' ends-y='periodic' x='0 1' y='0 1' values='1 1 4 3'/>",
      "periodic in y, the values at its first and last value are the same; for value 2 of x they are 4 and 3"));
  ENSURE(is_refused("<table name='q' type='cubic' x='0 1' y='0 1' values='1 2 3 4'/>",
                    "means something else in formulas"));
  ENSURE(
      is_refused("<motion name='a' type='sweep' duration='1' amplitude='1' f0='1' f1='2'/>"
                 "<table name='a' type='cubic' x='0 1' y='0 1' values='1 2 3 4'/>",
                 "is that of another function already"));
  ENSURE(is_refused("<table name='a' type='cubic' x='0 1' file='parts/engine.csv'/>", "or 'file', not both"));
  ENSURE(is_refused("<table name='a' type='cubic' file='../io/parts/engine.csv'/>", "m:2:36: error: "));
  ENSURE(
      is_refused("<table name='a' type='cubic' file='parts/none.csv'/>", "m:2:36: error: the file 'parts/none.csv' "));
  ENSURE(!strchr(strchr(heard, '\n') + 1, '\n'));  // one error
  ENSURE(is_refused("<table name='a' type='cubic' file='parts/gait.csv'/>",
                    "parts/gait.csv:2:3: error: expected a number, found '[s]'"));
  ENSURE(is_refused(
      "<table name='a' type='cubic' file='parts/small.csv'/>",
      "m:2:36: error: the file 'parts/small.csv' has 2 rows and 3 columns; a table needs 3 or more of both"));
  // One error, not one for every use.
  ENSURE(is_refused("<table name='a' type='cubic' x='1 0' y='0 1' values='1 2 3 4'/><state name='s' rate='a(t, s)'/>",
                    "m:2:33"));
  ENSURE(!strchr(strchr(heard, '\n') + 1, '\n'));
}

static double torque_at(const char* attributes, double speed, double throttle) {
  char text[1000];
  snprintf(text, sizeof text,
           "<sarrus version='1'><table name='torque' %s/><state name='s' rate='torque(%.17g, %.17g)'/></sarrus>",
           attributes, speed, throttle);
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "m", SARRUS_SOURCE_DIR "/tests/io", NULL, messages, &spec), SR_OK);
  ENSURE_EQUAL(sr_compile(spec, messages, &m), SR_OK);
  srData* d = sr_data_create(m);
  ENSURE_EQUAL(sr_forward(m, d, SR_TAU_ELEMENT), 0);
  const double rate = d->ydot[0];
  sr_data_destroy(d);
  sr_model_destroy(m);
  srs_destroy(spec);
  sr_messages_destroy(messages);
  return rate;
}

TEST(a_table_from_a_file_is_the_one_that_is_written_out) {
  static const char here[] =
      "type='cubic' x='0 100 250 400' y='0 0.4 1' values='-5 20 40  -10 35 85  -20 25 90  -35 5 60'";
  static const char file[] = "type='cubic' file='parts/engine.csv'";
  ENSURE_NEAR(torque_at(file, 100, 0.4), 35, 1e-13);
  ENSURE_NEAR(torque_at("type='linear' file='parts/engine.csv'", 325, 0.7), (25 + 90 + 5 + 60) / 4.0, 1e-13);
  for (double w = -20; w < 450; w += 47) ENSURE_NEAR(torque_at(file, w, w / 400), torque_at(here, w, w / 400), 0);
}

TEST(a_model_with_a_table_saved_elsewhere_carries_its_values) {
  static const char text[] =
      "<sarrus version='1'><table name='torque' type='cubic' file='parts/engine.csv' ends-y='natural'/></sarrus>";
  srSpec* spec = NULL;
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "m", SARRUS_SOURCE_DIR "/tests/io", NULL, NULL, &spec), SR_OK);
  static const char path[] = SARRUS_BINARY_DIR "/table2-saved.xml";
  ENSURE_EQUAL(sr_save(spec, path, NULL), SR_OK);
  srs_destroy(spec);
  ENSURE_EQUAL(sr_load(path, NULL, NULL, &spec), SR_OK);
  const srTableDef* def = srs_get(spec, SR_ELEMENT_TABLE, 0);
  ENSURE(!def->file.text);
  ENSURE_TEXT(def->x.text, "0 100 250 400");
  ENSURE_TEXT(def->y.text, "0 0.4 1");
  ENSURE_TEXT(def->values.text, "-5 20 40 -10 35 85 -20 25 90 -35 5 60");
  srs_destroy(spec);
}
