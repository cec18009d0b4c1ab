// Formulas: parser, folding, derivatives, programs, text.
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"
#include "heap.h"
#include "runner.h"

// ------------------------------------------------------------------------------------------------------ scaffolding
// One graph with variables t, x, y (q0, q1), a parameter k = 3 and stiffness = 1000, raw calls q and sensor, and a
// call twice(a). Freed by finish; a test that fails leaks, which matters to nobody.

static srPool pool;
static srGraph* graph;
static srMessages* messages;

static srNode resolve_name(void* user, srGraph* g, const char* name, char* reason, size_t size) {
  (void)user;
  if (strcmp(name, "t") == 0) return sr_graph_var(g, SR_VAR_TIME, 0);
  if (strcmp(name, "x") == 0) return sr_graph_var(g, SR_VAR_Q, 0);
  if (strcmp(name, "y") == 0) return sr_graph_var(g, SR_VAR_Q, 1);
  if (strcmp(name, "k") == 0) return sr_graph_param(g, "k", 3);
  if (strcmp(name, "stiffness") == 0) return sr_graph_param(g, "stiffness", 1000);
  if (strcmp(name, "zero") == 0) return sr_graph_param(g, "zero", 0);
  if (strcmp(name, "acceleration") == 0) snprintf(reason, size, "accelerations are not allowed in a force");
  return SR_NO_NODE;
}

static char heard[200];  // the last raw call

static srNode resolve_call(void* user, srGraph* g, const srCall* call, char* reason, size_t size) {
  (void)user;
  if (call->raw) {
    int n = snprintf(heard, sizeof heard, "%s", call->name);
    for (int i = 0; i < call->narg; i++) n += snprintf(heard + n, sizeof heard - (size_t)n, "|%s", call->raw[i]);
    if (strcmp(call->raw[0], "nobody") != 0) return sr_graph_var(g, SR_VAR_V, 0);
    snprintf(reason, size, "unknown joint 'nobody'");
  } else if (strcmp(call->name, "twice") == 0 && call->narg == 1) {
    return sr_graph_op(g, SR_OP_MUL, sr_graph_const(g, 2), call->arg[0], SR_NO_NODE);
  }
  return SR_NO_NODE;
}

static const char* const raw_calls[] = {"q", "sensor", NULL};
static const char* const known[] = {"t", "x", "y", "k", "stiffness", "twice"};
static const srResolver resolver = {NULL, raw_calls, resolve_name, resolve_call, known, 6};

static void start(void) {
  sr_pool_init(&pool);
  graph = sr_graph_create(&pool);
  messages = sr_messages_create();
}

static void finish(void) {
  sr_messages_destroy(messages);
  sr_pool_free(&pool);
}

static srNode parse(const char* text) {
  srPlace place = {"model.xml", 7, 10};
  return sr_parse(graph, text, &resolver, place, messages);
}

static srNode good(const char* text) {
  srNode node = parse(text);
  if (node == SR_NO_NODE) printf("%s: %s\n", text, sr_messages_get(messages, sr_messages_count(messages) - 1)->text);
  ENSURE(node != SR_NO_NODE);
  return node;
}

static double value_at(srNode node, double x, double y) {
  double q[2] = {x, y}, v[1] = {0.5}, out;
  srProgram* program = sr_program_create(&pool, graph, &node, 1);
  double* work = sr_pool_alloc(&pool, (size_t)sr_program_work(program) * sizeof *work);
  sr_program_evaluate(program, &(srInputs){.t = 2, .q = q, .v = v}, work, &out);
  return out;
}

static double value(const char* text) { return value_at(good(text), 0.7, -1.3); }

static srNode x_node(void) { return sr_graph_var(graph, SR_VAR_Q, 0); }
static srNode y_node(void) { return sr_graph_var(graph, SR_VAR_Q, 1); }
static srNode op2(srOp op, srNode a, srNode b) { return sr_graph_op(graph, op, a, b, SR_NO_NODE); }
static srNode op1(srOp op, srNode a) { return sr_graph_op(graph, op, a, SR_NO_NODE, SR_NO_NODE); }

// ----------------------------------------------------------------------------------------------------------- values

TEST(formulas_have_the_values_of_the_c_library) {
  start();
  const double x = 0.7, y = -1.3;
  ENSURE(value("sin(x)") == sin(x));
  ENSURE(value("cos(x)") == cos(x));
  ENSURE(value("tan(x)") == tan(x));
  ENSURE(value("asin(x)") == asin(x));
  ENSURE(value("acos(x)") == acos(x));
  ENSURE_NEAR(value("atan(x)"), atan(x), 1e-16);
  ENSURE(value("atan2(x, y)") == atan2(x, y));
  ENSURE(value("exp(x)") == exp(x));
  ENSURE(value("log(x)") == log(x));
  ENSURE(value("sqrt(x)") == sqrt(x));
  ENSURE(value("abs(y)") == fabs(y));
  ENSURE(value("min(x, y, 3)") == y);
  ENSURE(value("max(x, y, 3, -8)") == 3);
  ENSURE(value("pow(x, y)") == pow(x, y));
  ENSURE(value("x^2") == x * x);
  ENSURE(value("sign(y)") == -1);
  ENSURE(value("step(x)") == 1);
  ENSURE(value("step(y)") == 0);
  ENSURE(value("step(0)") == 1);
  ENSURE(value("floor(y)") == -2);
  ENSURE_NEAR(value("mod(y, 1)"), 0.7, 1e-15);
  ENSURE_NEAR(value("mod(5.5, x)"), fmod(5.5, x), 1e-15);
  ENSURE(value("if(x > y, 10, 20)") == 10);
  ENSURE(value("if(x < y, 10, 20)") == 20);
  ENSURE(value("pi") == acos(-1.0));
  ENSURE(value("t") == 2);
  ENSURE(value("stiffness*x") == 1000 * x);
  ENSURE(value("twice(x)") == 2 * x);
  finish();
}

// Definitions: 180 deg = pi rad, 60 rpm is one turn a second, 36 km/h = 10 m/s, 1 inch = 25.4 mm, 1 N/mm = 1000 N/m.
TEST(units_are_constants_of_formulas) {
  const double pi = acos(-1.0);
  const struct {
    const char* text;
    double value;
  } table[] = {
      {"180*deg", pi},
      {"1*rev", 2 * pi},
      {"60*rpm", 2 * pi},
      {"12*mm", 0.012},
      {"3*cm", 0.03},
      {"5*um", 5e-6},
      {"2*km", 2000},
      {"10*inch", 254 * 1e-3},
      {"4*ms", 0.004},
      {"7*us", 7e-6},
      {"36*kmh", 10},
      {"250*gram", 0.25},
      {"2*kg", 2},
      {"3*tonne", 3000},
      {"1.5*kN", 1500},
      {"2*MN", 2e6},
      {"80*kN/mm", 8e7},
      {"9*Nm", 9},
      {"9*Nmm", 0.009},
      {"9*kNm", 9000},
      {"1*Pa", 1},
      {"3*kPa", 3000},
      {"210*GPa", 2.1e11},
      {"70*MPa", 7e7},
      {"1*bar", 1e5},
      {"3*kJ", 3000},
      {"30*kW/(900*rpm)", 30000 / (30 * pi)},
      {"k*mm + 1*rad", 1.003},
  };
  start();
  for (int i = 0; i < SR_COUNT(table); i++)
    ENSURE_NEAR(value(table[i].text), table[i].value, 4e-16 * fabs(table[i].value));
  sr_graph_param(graph, "mm", 5);  // without a resolver names are the parameters of the graph: they win
  srNode own = sr_parse(graph, "2*mm", NULL, (srPlace){0}, messages);
  ENSURE(own != SR_NO_NODE && value_at(own, 0, 0) == 10);
  finish();
}

TEST(operators_bind_as_on_paper) {
  static const struct {
    const char* text;
    double value;
  } table[] = {
      {"1 + 2*3", 7},
      {"(1 + 2)*3", 9},
      {"2 - 3 - 4", -5},
      {"2/4/2", 0.25},
      {"2*3^2", 18},
      {"-2^2", -4},
      {"(-2)^2", 4},
      {"2^-1", 0.5},
      {"2^3^2", 512},
      {"2^-2^2", 0.0625},
      {"--3", 3},
      {"-+-3", 3},
      {"+3", 3},
      {"2 - -3", 5},
      {"2*-3", -6},
      {"6/-3", -2},
      {"1e3", 1000},
      {"1.5E-1", 0.15},
      {".5", 0.5},
      {"2.", 2},
      {"2.e1", 20},
      {"1e+2", 100},
      {"1 < 2", 1},
      {"2 < 1", 0},
      {"2 <= 2", 1},
      {"2 > 1", 1},
      {"1 >= 2", 0},
      {"1 == 1", 1},
      {"1 != 1", 0},
      {"1 != 2", 1},
      {"1 + 1 > 1", 1},
      {"(1 < 2) + 1", 2},
      {"-2^0.5^2", -1.189207115002721},
      {" 1\t+\n1 ", 2},
      {"3*-2^2", -12},
      {"min(3,1,2)", 1},
      {"mod(-1, 3)", 2},
      {"10 - 2*3 + 4/2", 6},
      {"1 - (2 - 3)", 2},
      {"8/(4/2)", 4},
  };
  start();
  for (int i = 0; i < SR_COUNT(table); i++) {
    double v;
    ENSURE(sr_graph_constant(graph, good(table[i].text), &v));
    ENSURE_NEAR(v, table[i].value, 1e-15);
  }
  finish();
}

TEST(numbers_are_read_correctly_rounded_in_any_locale) {
  static const char* const texts[] = {"0.1",
                                      "1e23",
                                      "8.98846567431158e307",
                                      "2.2250738585072014e-308",
                                      "5e-324",
                                      "9007199254740993",
                                      "123456789012345678901234567890.5e-10",
                                      "0.00001e5",
                                      "1e-400",
                                      "0000000000.10000000000000000000000000000000000000000000000001"};
  static const char* const locales[] = {"C", "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8", "de_DE"};
  for (int k = 0; k < SR_COUNT(locales); k++) {
    for (int i = 0; i < SR_COUNT(texts); i++) {
      setlocale(LC_NUMERIC, "C");
      double want = strtod(texts[i], NULL), got = -1, again = -1;
      char text[SR_NUMBER_TEXT];
      setlocale(LC_NUMERIC, locales[k]);  // NULL where the machine does not have it: then C is tested again
      const char* end = sr_number_read(texts[i], &got);
      sr_number_text(want, text, sizeof text);
      const char* end2 = sr_number_read(text, &again);
      setlocale(LC_NUMERIC, "C");
      ENSURE(end && *end == '\0' && got == want);
      ENSURE(end2 && *end2 == '\0' && again == want);
      ENSURE(strchr(text, ',') == NULL);
    }
  }
  double v;
  ENSURE(sr_number_read("x", &v) == NULL);
  ENSURE(sr_number_read(".", &v) == NULL);
  ENSURE(sr_number_read("", &v) == NULL);
  ENSURE_TEXT(sr_number_read("2e", &v), "e");
  ENSURE_TEXT(sr_number_read("2e+z", &v), "e+z");
  ENSURE(sr_number_read("1e999999999999", &v) && isinf(v));
  ENSURE(sr_number_read("0e999999999999", &v) && v == 0);
}

TEST(random_is_a_fixed_function_of_a_constant) {
  start();
  double sum = 0;
  for (int i = 0; i < 1000; i++) {
    char text[32];
    double v;
    snprintf(text, sizeof text, "random(%d)", i);
    ENSURE(sr_graph_constant(graph, good(text), &v));
    ENSURE(v >= 0 && v < 1);
    sum += v;
  }
  ENSURE_NEAR(sum / 1000, 0.5, 0.05);  // 5 standard deviations of the mean, 0.29/sqrt(1000)
  ENSURE(good("random(3)") == good("random(k)"));
  ENSURE(good("random(1)") != good("random(2)"));
  ENSURE(good("random(0)") == good("random(-0)"));
  finish();
}

// ----------------------------------------------------------------------------------------------------------- graph

TEST(equal_expressions_are_one_node) {
  start();
  static const char* const pairs[][2] = {
      {"x*y", "y*x"},
      {"x + y", "y + x"},
      {"min(x, y)", "min(y, x)"},
      {"x > y", "y < x"},
      {"x == y", "y == x"},
      {"x + 0", "x"},
      {"0 + x", "x"},
      {"x - 0", "x"},
      {"0 - x", "-x"},
      {"x*1", "x"},
      {"x*0", "0"},
      {"x - x", "0"},
      {"--x", "x"},
      {"x/1", "x"},
      {"0/x", "0"},
      {"x^1", "x"},
      {"x^0", "1"},
      {"x^2", "x*x"},
      {"x^-1", "1/x"},
      {"2*(3*x)", "6*x"},
      {"(2*x)*(3*y)", "6*(x*y)"},
      {"x + x", "2*x"},
      {"1 + (2 + x)", "3 + x"},
      {"x - 1 + 1", "x"},
      {"1 - (2 - x)", "x - 1"},
      {"(-x)*y", "-(x*y)"},
      {"(-x)*(-y)", "x*y"},
      {"x + -y", "x - y"},
      {"x - -y", "x + y"},
      {"-(x - y)", "y - x"},
      {"-(2*x)", "-2*x"},
      {"x + -2*y", "x - 2*y"},
      {"x - -2*y", "x + 2*y"},
      {"-x/y", "-(x/y)"},
      {"x/-y", "-(x/y)"},
      {"cos(-x)", "cos(x)"},
      {"sin(-x)", "-sin(x)"},
      {"if(1, x, y)", "x"},
      {"if(x, y, y)", "y"},
      {"min(x, x)", "x"},
      {"-x - 1", "-1 - x"},
      {"0*k", "0"},
      {"k*x", "x*k"},
      {"x*-1", "-x"},
  };
  for (int i = 0; i < SR_COUNT(pairs); i++) {
    srNode a = good(pairs[i][0]), b = good(pairs[i][1]);
    if (a != b)
      printf("%s and %s: %s, %s\n", pairs[i][0], pairs[i][1], sr_graph_text(graph, a, &pool),
             sr_graph_text(graph, b, &pool));
    ENSURE(a == b);
  }
  ENSURE(good("x - y") != good("y - x"));
  ENSURE(good("x/y") != good("y/x"));
  ENSURE(sr_graph_const(graph, 0.0) == sr_graph_const(graph, -0.0));
  for (srNode i = 0; i < sr_graph_size(graph); i++)
    for (int c = 0; c < 3; c++) ENSURE(sr_graph_view(graph, i).child[c] < i);
  finish();
}

TEST(what_is_not_finite_stays_unfolded) {
  start();
  static const char* const texts[] = {"1/0", "0/0", "log(0)", "sqrt(-1)", "1e308*1e308", "(-1)^0.5", "exp(1000)"};
  for (int i = 0; i < SR_COUNT(texts); i++) ENSURE(sr_graph_view(graph, good(texts[i])).op != SR_OP_CONST);
  ENSURE(isinf(value("1/0")) && isnan(value("0/0")));
  ENSURE(sr_graph_view(graph, good("x/0")).op == SR_OP_DIV);
  ENSURE(value("1e-200*(1e-200*x)*1e300*1e100") > 0);  // constants that would vanish stay apart
  finish();
}

TEST(parameters_stay_symbols_and_have_values) {
  start();
  double v;
  srNode k = good("k"), twice_k = good("2*k");
  ENSURE(sr_graph_view(graph, k).op == SR_OP_PARAM);
  ENSURE_TEXT(sr_graph_view(graph, k).name, "k");
  ENSURE(sr_graph_param(graph, "k", 99) == k);
  ENSURE(sr_graph_view(graph, twice_k).op == SR_OP_MUL);
  ENSURE(sr_graph_constant(graph, twice_k, &v) && v == 6);
  ENSURE(!sr_graph_constant(graph, good("k*x"), &v));
  ENSURE(sr_graph_depends(graph, good("k*x"), SR_VAR_Q));
  ENSURE(!sr_graph_depends(graph, good("k*x"), SR_VAR_TIME));
  ENSURE(sr_graph_derive(graph, good("k*x"), k) == x_node());
  finish();
}

// --------------------------------------------------------------------------------------------------------- programs

static int work_of(const char* a, const char* b) {
  srNode roots[2] = {good(a), good(b)};
  return sr_program_work(sr_program_create(&pool, graph, roots, 2));
}

TEST(a_program_computes_what_is_shared_once_and_what_is_dead_never) {
  start();
  ENSURE_EQUAL(work_of("sin(x)", "sin(x)"), 2);          // x, sin
  ENSURE_EQUAL(work_of("sin(x)*y", "y*sin(x) + t"), 6);  // x y t, sin * +
  ENSURE_EQUAL(work_of("k^2*stiffness", "sin(k)"), 2);   // two numbers
  ENSURE_EQUAL(work_of("zero*exp(x) + y", "y"), 1);      // the parameter is 0: y alone
  ENSURE_EQUAL(work_of("x^(k - 1)", "x*x"), 2);          // the parameter makes it a product
  ENSURE_EQUAL(work_of("x", "x"), 1);
  good("tan(exp(x))");  // in the graph, not in the program
  ENSURE_EQUAL(work_of("x + 1", "x"), 3);
  finish();
}

TEST(programs_of_many_roots_give_each_its_value) {
  start();
  const char* const texts[] = {"x", "y", "3", "k", "x + y", "sin(x)^2 + cos(x)^2", "x"};
  srNode roots[7];
  for (int i = 0; i < 7; i++) roots[i] = good(texts[i]);
  srProgram* program = sr_program_create(&pool, graph, roots, 7);
  double work[64], out[7], q[2] = {0.25, 0.5};
  ENSURE(sr_program_work(program) <= 64);
  ENSURE_EQUAL(sr_program_roots(program), 7);
  sr_program_evaluate(program, &(srInputs){.q = q}, work, out);
  const double want[7] = {0.25, 0.5, 3, 3, 0.75, 1, 0.25};
  for (int i = 0; i < 7; i++) ENSURE_NEAR(out[i], want[i], 1e-15);
  finish();
}

static double square_law(const void* self, double x, int order) {
  double a = *(const double*)self;
  return order == 0 ? a * x * x : order == 1 ? 2 * a * x : order == 2 ? 2 * a : 0;
}

TEST(named_functions_are_called_and_derived_by_the_chain_rule) {
  start();
  static const double a = 5;
  srFunction f = {"gait", square_law, &a};
  int index = sr_graph_add_function(graph, &f), found = -1;
  ENSURE(sr_graph_find_function(graph, "gait", &found) && found == index);
  ENSURE_EQUAL(sr_graph_add_function(graph, &f), -1);
  srNode node = good("gait(sin(x))"), d = sr_graph_derive(graph, node, x_node());
  srNode dd = sr_graph_derive(graph, d, x_node());
  ENSURE_NEAR(value_at(node, 0.7, 0), 5 * sin(0.7) * sin(0.7), 1e-15);
  ENSURE_NEAR(value_at(d, 0.7, 0), 5 * sin(1.4), 1e-14);
  ENSURE_NEAR(value_at(dd, 0.7, 0), 10 * cos(1.4), 1e-14);
  ENSURE_TEXT(sr_graph_text(graph, d, &pool), "cos(q[0])*gait'(sin(q[0]))");
  double v;
  ENSURE(sr_graph_constant(graph, good("gait(k)"), &v) && v == 45);
  finish();
}

// Parses, derives and compiles a formula in a pool of its own; false when memory ran out.
static bool compile_once(void) {
  srPool own;
  jmp_buf failed;
  sr_pool_init(&own);
  own.on_fail = &failed;
  if (setjmp(failed) != 0) {
    sr_pool_free(&own);
    return false;
  }
  srGraph* g = sr_graph_create(&own);
  const char* text = "(sin(x*y) + exp(x*k))*(x^y + atan2(x, y))/(1 + x*x + sqrt(y) + mod(x, y))";
  srNode node = sr_parse(g, text, &resolver, (srPlace){0}, NULL);
  for (int i = 0; i < 8; i++) node = sr_graph_derive(g, node, sr_graph_var(g, SR_VAR_Q, i % 2));
  sr_program_create(&own, g, &node, 1);
  sr_graph_text(g, node, &own);
  sr_pool_free(&own);
  return true;
}

TEST(running_out_of_memory_leaks_nothing) {
  Heap heap = {0};
  bool done = false;
  int failures = 0;
  sr_set_allocator(heap_allocator, &heap);
  for (heap.fail_at = 1; !done && heap.live == 0; heap.fail_at++) {
    heap.calls = 0;
    done = compile_once();
    failures += !done;
  }
  sr_set_allocator(NULL, NULL);
  ENSURE_EQUAL(heap.live, 0);
  ENSURE(done && failures > 5);
}

TEST(evaluation_does_not_allocate) {
  start();
  srNode node = good("sin(x)^3*exp(y) + if(x > y, k, mod(x, 0.3))");
  srProgram* program = sr_program_create(&pool, graph, &node, 1);
  double* work = sr_pool_alloc(&pool, (size_t)sr_program_work(program) * sizeof *work);
  double q[2] = {0.1, 0.2}, out = 0;
  Heap heap = {0};
  sr_set_allocator(heap_allocator, &heap);
  for (int i = 0; i < 1000; i++) sr_program_evaluate(program, &(srInputs){.q = q}, work, &out);
  sr_set_allocator(NULL, NULL);
  ENSURE_EQUAL(heap.calls, 0);
  finish();
}

// ------------------------------------------------------------------------------------------------------ derivatives

// d/dx by central differences, extrapolated: with steps h, h/2, h/4, h/8 the error falls as h^8 against rounding e/h.
static double difference(srNode node, double x, double y, double* uncertainty) {
  double D[4][4];
  const double h = 0.02;
  for (int i = 0; i < 4; i++) {
    double s = h / (1 << i);
    D[i][0] = (value_at(node, x + s, y) - value_at(node, x - s, y)) / (2 * s);
    for (int j = 1; j <= i; j++) D[i][j] = D[i][j - 1] + (D[i][j - 1] - D[i - 1][j - 1]) / ((1 << 2 * j) - 1);
  }
  *uncertainty = fabs(D[3][3] - D[2][2]);
  return D[3][3];
}

TEST(derivatives_of_each_function_agree_with_differences) {
  static const char* const texts[] = {"x + y*x - 3*x",
                                      "x*sin(x)",
                                      "x/(1 + x^2)",
                                      "x^3",
                                      "x^5",
                                      "x^2.5",
                                      "x^y",
                                      "y^2^x",
                                      "(1 + x*x)^(x*k)",
                                      "2^x",
                                      "-x*x",
                                      "sin(cos(x))",
                                      "tan(x)",
                                      "asin(x/2)",
                                      "acos(x*y/3)",
                                      "atan(x*x)",
                                      "atan2(x, y)",
                                      "atan2(y, x)",
                                      "atan2(x*x, sin(x))",
                                      "exp(-x*x)",
                                      "log(x)",
                                      "sqrt(x)",
                                      "sqrt(1 + x^2)",
                                      "abs(x - 5)",
                                      "abs(x)",
                                      "min(x, x*x)",
                                      "max(x, x*x, 0.1)",
                                      "min(sin(x), 5, cos(x)*2)",
                                      "sign(x)*x",
                                      "step(x)*x^2",
                                      "floor(x)*x",
                                      "if(x > 0, sin(x), cos(x))",
                                      "if(x > y, x^3, 0)",
                                      "mod(x, 3)*x",
                                      "mod(x*3.1, 1.9)",
                                      "(x > 0)*x",
                                      "pow(x, 7)",
                                      "x^4",
                                      "1/x",
                                      "x^-2",
                                      "x^0.5",
                                      "q(arm)*x",
                                      "(sin(x)*exp(y)/(2 + cos(x*y)))^3"};
  start();
  for (int i = 0; i < SR_COUNT(texts); i++) {
    srNode node = good(texts[i]);
    srNode d = sr_graph_derive(graph, node, x_node());
    double sure, want = difference(node, 0.73, 1.31, &sure);
    double got = value_at(d, 0.73, 1.31);
    if (!(fabs(got - want) <= 1e-9 * (1 + fabs(want)))) printf("%s -> %s\n", texts[i], sr_graph_text(graph, d, &pool));
    ENSURE_NEAR(got, want, 1e-9 * (1 + fabs(want)));
  }
  finish();
}

static unsigned seed;
static int dice(int n) {
  seed = seed * 1664525u + 1013904223u;
  return (int)((seed >> 8) % (unsigned)n);
}

static srNode random_node(int depth) {
  if (depth == 0) return dice(3) == 0 ? sr_graph_const(graph, dice(9) - 4) : dice(2) ? x_node() : y_node();
  srNode a = random_node(depth - 1), b = random_node(dice(depth));
  srNode one_more = op2(SR_OP_ADD, sr_graph_const(graph, 1.5), op2(SR_OP_MUL, a, a));  // > 0
  switch (dice(16)) {
    case 0: return op2(SR_OP_ADD, a, b);
    case 1: return op2(SR_OP_SUB, a, b);
    case 2:
    case 3: return op2(SR_OP_MUL, a, b);
    case 4: return op2(SR_OP_DIV, b, one_more);
    case 5: return op1(SR_OP_SIN, a);
    case 6: return op1(SR_OP_COS, a);
    case 7: return op1(SR_OP_EXP, op1(SR_OP_SIN, a));
    case 8: return op1(SR_OP_LOG, one_more);
    case 9: return op1(SR_OP_SQRT, one_more);
    case 10: return op2(SR_OP_POW, one_more, op1(SR_OP_SIN, b));
    case 11: return op2(SR_OP_ATAN2, a, one_more);
    case 12: return op2(SR_OP_MIN, a, b);
    case 13: return op1(SR_OP_ABS, a);
    case 14: return sr_graph_op(graph, SR_OP_IF, op2(SR_OP_LT, a, b), one_more, b);
    default: return op1(SR_OP_NEG, a);
  }
}

TEST(derivatives_of_random_expressions_agree_with_differences) {
  int compared = 0, total = runner_long() ? 20000 : 1500;
  for (int i = 0; i < total; i++) {
    start();
    seed = (unsigned)i * 7919u + 1;
    double x = 0.3 + 0.001 * dice(700), y = -0.9 + 0.001 * dice(800), sure;
    srNode node = random_node(1 + dice(5));
    double want = difference(node, x, y, &sure), scale = 1 + fabs(value_at(node, x, y)) + fabs(want);
    double got = value_at(sr_graph_derive(graph, node, x_node()), x, y);
    if (sure < 1e-10 * scale) {  // else a kink or a wild function is near, and differences tell nothing
      compared++;
      if (!(fabs(got - want) < 1e-9 * scale)) printf("%s\n", sr_graph_text(graph, node, &pool));
      ENSURE_NEAR(got, want, 1e-9 * scale);
    }
    finish();
  }
  ENSURE(compared > total / 2);
}

TEST(a_second_derivative_is_exact_too) {
  start();
  srNode node = good("exp(2*x)*sin(3*y)");
  srNode dxy = sr_graph_derive(graph, sr_graph_derive(graph, node, x_node()), y_node());
  srNode dyx = sr_graph_derive(graph, sr_graph_derive(graph, node, y_node()), x_node());
  ENSURE_NEAR(value_at(dxy, 0.2, 0.4), 6 * exp(0.4) * cos(1.2), 1e-14);
  ENSURE_NEAR(value_at(dyx, 0.2, 0.4), 6 * exp(0.4) * cos(1.2), 1e-14);
  ENSURE(sr_graph_derive(graph, node, sr_graph_var(graph, SR_VAR_TIME, 0)) == sr_graph_const(graph, 0));
  ENSURE(sr_graph_derive(graph, x_node(), x_node()) == sr_graph_const(graph, 1));
  finish();
}

TEST(a_sum_of_ten_thousand_terms_is_derived_without_a_deep_stack) {
  start();
  srNode left = x_node(), right = x_node();
  const int n = 10000;
  for (int i = 1; i < n; i++) {
    srNode term = op1(SR_OP_SIN, op2(SR_OP_MUL, sr_graph_const(graph, i), x_node()));
    left = op2(SR_OP_ADD, left, term);
    right = op2(SR_OP_SUB, term, right);
  }
  double want = 1;
  for (int i = 1; i < n; i++) want += i * cos(0.001 * i);
  int before = sr_graph_size(graph);
  srNode d = sr_graph_derive(graph, left, x_node());
  ENSURE(sr_graph_size(graph) - before <= 4 * n);
  ENSURE_NEAR(value_at(d, 0.001, 0), want, 1e-6);
  sr_graph_derive(graph, right, x_node());
  ENSURE(strlen(sr_graph_text(graph, right, &pool)) > 1000);
  finish();
}

TEST(derivatives_grow_linearly_where_products_are_nested) {
  start();
  // f_i = f_i-1 * sin(f_i-1): written out, the derivative has 2^40 terms.
  srNode f = x_node();
  for (int i = 0; i < 40; i++) f = op2(SR_OP_MUL, f, op1(SR_OP_SIN, f));
  int before = sr_graph_size(graph);
  srNode d = sr_graph_derive(graph, f, x_node());
  ENSURE(sr_graph_size(graph) - before <= 40 * 6);
  double v = 0.9, dv = 1;
  for (int i = 0; i < 40; i++) {
    dv = dv * sin(v) + v * cos(v) * dv;
    v = v * sin(v);
  }
  ENSURE_NEAR(value_at(d, 0.9, 0), dv, 1e-12);
  const char* text = sr_graph_text(graph, f, &pool);
  ENSURE(strlen(text) < 70000 && strcmp(text + strlen(text) - 3, "...") == 0);
  finish();
}

TEST(many_derivatives_of_one_graph_stay_right) {
  start();
  srNode sum = sr_graph_const(graph, 0);
  for (int i = 0; i < 300; i++) {
    srNode q = sr_graph_var(graph, SR_VAR_V, i);
    sum = op2(SR_OP_ADD, sum, op2(SR_OP_MUL, sr_graph_const(graph, i + 1), q));
  }
  for (int i = 0; i < 300; i++) {
    double v;
    srNode d = sr_graph_derive(graph, sum, sr_graph_var(graph, SR_VAR_V, i));
    ENSURE(sr_graph_constant(graph, d, &v) && v == i + 1);
  }
  finish();
}

// ------------------------------------------------------------------------------------------------------------- text

TEST(text_of_a_node_parses_back_to_the_same_node) {
  static const char* const texts[] = {"k",
                                      "t + k",
                                      "k - 1",
                                      "1 - k",
                                      "-k",
                                      "k*t/2",
                                      "k/(t*2)",
                                      "k/t/2",
                                      "k - (t - 2)",
                                      "(k + t)*3",
                                      "-(k*t)",
                                      "(-k)^3.5",
                                      "-k^3.5",
                                      "k^t^0.3",
                                      "(k^t)^0.3",
                                      "k^-t",
                                      "2^(k + 1)",
                                      "sin(k)*cos(t + 1)",
                                      "atan(k)",
                                      "atan2(k, t)",
                                      "if(k < t, k, t*2)",
                                      "(k <= t)*k",
                                      "min(k, t)",
                                      "1e-7*k",
                                      "0.1*t",
                                      "k != t",
                                      "-1.5*k",
                                      "k*(t*pi)",
                                      "k + (t + pi*t)",
                                      "abs(k - t)",
                                      "k - 2*t",
                                      "exp(-t)",
                                      "-k*t",
                                      "-k/t",
                                      "t - k*t + k/t - 4",
                                      "mod(t, k)"};
  start();
  for (int i = 0; i < SR_COUNT(texts); i++) {
    srNode node = good(texts[i]);
    const char* text = sr_graph_text(graph, node, &pool);
    if (good(text) != node) printf("%s -> %s\n", texts[i], text);
    ENSURE(good(text) == node);
  }
  ENSURE_TEXT(sr_graph_text(graph, good("x - 1"), &pool), "q[0] - 1");
  ENSURE_TEXT(sr_graph_text(graph, good("-(k*t)"), &pool), "-(k*t)");
  ENSURE_TEXT(sr_graph_text(graph, good("0.1*t"), &pool), "0.1*t");
  finish();
}

// ----------------------------------------------------------------------------------------------------------- errors

typedef struct Wrong {
  const char* text;
  int column;  // from 1 in the formula
  const char* sentence;
} Wrong;

static void expect_error(const Wrong* w) {
  int before = sr_messages_count(messages);
  ENSURE(parse(w->text) == SR_NO_NODE);
  ENSURE_EQUAL(sr_messages_count(messages), before + 1);
  const srMessage* m = sr_messages_get(messages, before);
  ENSURE_TEXT(m->text, w->sentence);
  ENSURE_EQUAL(m->place.column, 9 + w->column);  // the formula begins in column 10
  ENSURE_EQUAL(m->place.line, 7);
  ENSURE(m->severity == SR_SEVERITY_ERROR);
}

TEST(errors_state_what_was_expected_and_where) {
  static const Wrong table[] = {
      {"2*stifness", 3, "unknown name 'stifness'; did you mean 'stiffness'?"},
      {"1 + foobarbaz", 5, "unknown name 'foobarbaz'"},
      {"cso(x)", 1, "unknown function 'cso'; did you mean 'cos'?"},
      {"2*(x + 1", 9, "expected ')' after '1', found the end of the formula"},
      {"(x y)", 4, "expected ')' after 'x', found 'y'"},
      {"sin(x", 6, "expected ',' or ')' after 'x', found the end of the formula"},
      {"sin(x, y)", 1, "sin takes 1 argument, got 2"},
      {"1 + atan2(x)", 5, "atan2 takes 2 arguments, got 1"},
      {"sin()", 1, "sin takes 1 argument, got 0"},
      {"min(x)", 1, "min takes 2 or more arguments, got 1"},
      {"if(x, y)", 1, "if takes 3 arguments, got 2"},
      {"x +", 4, "expected a number, a name or '(' after '+', found the end of the formula"},
      {"x + * y", 5, "expected a number, a name or '(' after '+', found '*'"},
      {"x**2", 3, "a power is written ^, not **"},
      {"*x", 1, "expected a number, a name or '(', found '*'"},
      {"2x", 2, "expected an operator between '2' and 'x'"},
      {"x y", 3, "expected an operator between 'x' and 'y'"},
      {"1.2.3", 4, "expected an operator between '1.2' and '.3'"},
      {"2e", 2, "expected an operator between '2' and 'e'"},
      {"(x)(y)", 4, "expected an operator between ')' and '('"},
      {"x)", 2, "')' without a '(' before it"},
      {"x = 1", 3, "'=' is not an operator; a comparison is written =="},
      {"1,5", 2, "',' is outside of a call; decimals are written with a point"},
      {"x # 1", 3, "expected an operator after 'x', found '#'"},
      {"x \xE2\x88\x92 1", 3, "expected an operator after 'x', found '\xE2\x88\x92'"},
      {"0 < x < 1", 7, "comparisons do not chain: write (a < b)*(b < c) for a < b < c"},
      {"", 1, "expected a formula, found nothing"},
      {"  ", 1, "expected a formula, found nothing"},
      {"1e999", 1, "the number '1e999' is too large"},
      {"2 + sin", 5, "'sin' is a function: expected '(' after it"},
      {"k(3)", 1, "'k' is not a function; to multiply write k*(...)"},
      {"acceleration", 1, "accelerations are not allowed in a force"},
      {"1 + q(nobody)", 5, "unknown joint 'nobody'"},
      {"q(arm", 6, "expected ',' or ')' after 'arm', found the end of the formula"},
      {"q(arm, )", 8, "expected an argument after ',', found ')'"},
      {"q(\xC3\xA9", 4, "expected ',' or ')' after '\xC3\xA9', found the end of the formula"},
      {"random(t)", 1, "the argument of random must be a constant"},
      {"twice(1, 2)", 1, "unknown function 'twice'"},
      {"()", 2, "expected a number, a name or '(' after '(', found ')'"},
      {"min(1,)", 7, "expected a number, a name or '(' after ',', found ')'"},
      {"30 deg", 4, "expected an operator between '30' and 'deg': a unit is a factor, 30*deg"},
      {"12*N", 4, "unknown name 'N'; if the unit N is meant, omit it: numbers are in SI units"},
  };
  start();
  for (int i = 0; i < SR_COUNT(table); i++) expect_error(&table[i]);
  finish();
}

TEST(errors_in_a_later_line_of_a_formula_are_placed_there) {
  start();
  ENSURE(parse("x +\n  nonsense") == SR_NO_NODE);
  const srMessage* m = sr_messages_get(messages, 0);
  ENSURE_EQUAL(m->place.line, 8);
  ENSURE_EQUAL(m->place.column, 3);
  ENSURE(sr_parse(graph, "1 +", NULL, (srPlace){NULL, 0, 0}, messages) == SR_NO_NODE);
  ENSURE_EQUAL(sr_messages_get(messages, 1)->place.column, 0);
  ENSURE(sr_parse(graph, "1 +", NULL, (srPlace){NULL, 0, 0}, NULL) == SR_NO_NODE);
  finish();
}

TEST(without_a_resolver_names_are_the_parameters_of_the_graph) {
  start();
  srNode mass = sr_graph_param(graph, "mass", 2);
  ENSURE(sr_parse(graph, "mass", NULL, (srPlace){0}, messages) == mass);
  ENSURE(sr_parse(graph, "mas", NULL, (srPlace){0}, messages) == SR_NO_NODE);
  ENSURE_TEXT(sr_messages_get(messages, 0)->text, "unknown name 'mas'; did you mean 'mass'?");
  finish();
}

TEST(raw_calls_pass_their_arguments_as_text) {
  start();
  good("2*q( arm-1 ) + 1");
  ENSURE_TEXT(heard, "q|arm-1");
  good("sensor(tip/a.b, x)");
  ENSURE_TEXT(heard, "sensor|tip/a.b|x");
  good("q(a(b,c) d)");
  ENSURE_TEXT(heard, "q|a(b,c) d");
  finish();
}

static char* repeat(const char* part, int n, const char* tail) {
  size_t length = strlen(part);
  char* text = sr_pool_alloc(&pool, length * (size_t)n + strlen(tail) + 1);
  for (int i = 0; i < n; i++) memcpy(text + length * (size_t)i, part, length);
  strcpy(text + length * (size_t)n, tail);
  return text;
}

TEST(depth_and_length_of_a_formula_are_bounded) {
  static const char* const parts[] = {"(", "-", "2^", "sin(", "1+("};
  start();
  for (int i = 0; i < SR_COUNT(parts); i++) {
    int before = sr_messages_count(messages);
    ENSURE(parse(repeat(parts[i], 10000, "1")) == SR_NO_NODE);
    ENSURE_TEXT(sr_messages_get(messages, before)->text, "the formula is nested more than 200 levels deep");
  }
  ENSURE(parse(repeat("1", 70000, "")) == SR_NO_NODE);
  ENSURE(parse(repeat("-", 199, "x")) != SR_NO_NODE);
  ENSURE(parse(repeat("x*2+", 16000, "1")) != SR_NO_NODE);
  ENSURE(parse(repeat("x", 60000, "1")) == SR_NO_NODE);  // a very long unknown name
  finish();
}

TEST(any_bytes_are_parsed_or_refused_with_one_message) {
  static const char alphabet[] = "0123456789.eE+-*/^()<>=!,xykt sincoqrandomif_#\xE2\x88\x92\n\t";
  int rounds = runner_long() ? 1000000 : 30000;
  start();
  seed = 12345;
  for (int i = 0; i < rounds; i++) {
    char text[24];
    int n = dice(SR_COUNT(text));
    for (int k = 0; k < n; k++) text[k] = alphabet[dice(SR_COUNT(alphabet) - 1)];
    text[n] = '\0';
    int before = sr_messages_count(messages);
    srNode node = parse(text);
    ENSURE_EQUAL(sr_messages_count(messages) - before, node == SR_NO_NODE);
    if (i % 1000 == 999) {
      finish();
      start();
    }
  }
  finish();
}
