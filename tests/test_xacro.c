// Tests of xacro: trees that it writes out, against the documentation of xacro; formulas against
// Python's values; all messages; and a robot by macros against the same robot written out.
#define _XOPEN_SOURCE 700  // mkdtemp, mkstemp

#include <math.h>
#include <sarrus/sarrus.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/xacro/xacro.h"
#include "io/xml/reader.h"
#include "messages.h"
#include "runner.h"

// ----------------------------------------------------------------------------------------------------------- helpers
static char tree[65536];  // the last tree, as XML without blanks between elements
static char said[8192];   // all messages, a line each

static void put(const char* text) {
  if (strlen(tree) + strlen(text) + 1 < sizeof tree) strcat(tree, text);
}

static void write_node(const srXmlNode* node) {
  put("<"), put(node->name);
  for (int i = 0; i < node->nattribute; i++)
    put(" "), put(node->attributes[i].name), put("='"), put(node->attributes[i].value), put("'");
  if (!node->first && !node->text) {
    put("/>");
    return;
  }
  put(">");
  if (node->text) put(node->text);
  for (const srXmlNode* child = node->first; child; child = child->next) write_node(child);
  put("</"), put(node->name), put(">");
}

static void keep_messages(const srMessages* messages) { messages_keep(messages, said, sizeof said); }

static bool expand_in(srReader* r, const char* text, const char* folder) {
  jmp_buf no_memory;
  if (setjmp(no_memory) != 0) return false;
  r->pool.on_fail = r->text.on_fail = &no_memory;
  r->used = sr_pool_alloc(&r->pool, (size_t)(r->options->nsetting + 1) * sizeof *r->used);
  sr_names_init(&r->ignored_names, &r->pool);
  const srXmlNode* root = sr_xml_read(&r->pool, text, strlen(text), "m", r->messages);
  const srImport how = {.folder = folder, .base = "fixed"};
  const srXmlNode* out = root ? sr_xacro_expand(r, root, &how) : NULL;
  tree[0] = '\0';
  if (out) write_node(out);
  sr_reader_tell_ignored(r);
  return out != NULL;
}

static bool expand_all(const char* text, const char* folder, const srSetting* settings, int nsetting) {
  const srLoadOptions options = {.settings = settings, .nsetting = nsetting};
  srReader r = {.options = &options, .folder = folder, .budget = SR_READER_MAX_ELEMENTS};
  r.messages = sr_messages_create();
  r.spec = srs_create();
  const bool done = expand_in(&r, text, folder);
  keep_messages(r.messages);
  ENSURE(done == (sr_messages_errors(r.messages) == 0));
  sr_pool_free(&r.text);
  sr_pool_free(&r.pool);
  srs_destroy(r.spec);
  sr_messages_destroy(r.messages);
  return done;
}

// The content of a robot, which begins at line 2.
static bool expand(const char* content) {
  static char text[32768];
  snprintf(text, sizeof text, "<robot xmlns:xacro='http://www.ros.org/wiki/xacro'>\n%s\n</robot>", content);
  return expand_all(text, NULL, NULL, 0);
}

// True when the content becomes this.
static bool becomes(const char* content, const char* expected) {
  static char whole[32768];
  const bool done = expand(content);
  snprintf(whole, sizeof whole, *expected ? "<robot>%s</robot>" : "<robot/>%s", expected);
  if (done && strcmp(tree, whole) == 0) return true;
  fprintf(stderr, "expected: %s\n     got: %s\n%s", whole, tree, said);
  return false;
}

// The text of a formula.
static bool gives(const char* formula, const char* expected) {
  char content[1024], element[1024];
  snprintf(content, sizeof content, "<a b=\"${%s}\"/>", formula);
  snprintf(element, sizeof element, "<a b='%s'/>", expected);
  return becomes(content, element);
}

static bool refused(const char* content, const char* message) {
  if (!expand(content) && strstr(said, message)) return true;
  fprintf(stderr, "expected: %s\ngot: %s%s\n", message, said, tree);
  return false;
}

// ---------------------------------------------------------------------------------------------------------- formulas
TEST(xacro_a_file_without_xacro_stays_as_it_is) {
  ENSURE(expand_all("<robot name='a'><link name='${x}'/></robot>", NULL, NULL, 0));
  ENSURE_TEXT(tree, "<robot name='a'><link name='${x}'/></robot>");
}

TEST(xacro_whole_numbers_stay_whole_and_division_does_not) {
  ENSURE(gives("1 + 2*3", "7"));
  ENSURE(gives("7 / 2", "3.5"));
  ENSURE(gives("6 / 2", "3.0"));
  ENSURE(gives("7 // 2", "3"));
  ENSURE(gives("-7 // 2", "-4"));
  ENSURE(gives("-7 % 3", "2"));
  ENSURE(gives("7 % -3", "-2"));
  ENSURE(gives("-7.5 % 2", "0.5"));
  ENSURE(gives("1 // 5e-05", "19999.0"));  // 5e-05 is slightly larger than its text
  ENSURE(gives("-pi % pi", "0.0"));
  ENSURE(gives("2**10", "1024"));
  ENSURE(gives("2**-1", "0.5"));
  ENSURE(gives("-2**2", "-4"));
  ENSURE(gives("2**3**2", "512"));
  ENSURE(gives("(1 + 2) * -3", "-9"));
  ENSURE(gives("True + 1", "2"));
}

TEST(xacro_floats_are_printed_as_python_prints_them) {
  ENSURE(gives("0.1 + 0.2", "0.30000000000000004"));
  ENSURE(gives("1.0", "1.0"));
  ENSURE(gives("1e5", "100000.0"));
  ENSURE(gives("1e15", "1000000000000000.0"));
  ENSURE(gives("1e16", "1e+16"));
  ENSURE(gives("1.5e-7", "1.5e-07"));
  ENSURE(gives("0.0001", "0.0001"));
  ENSURE(gives("0.00001", "1e-05"));
  ENSURE(gives("123.456", "123.456"));
  ENSURE(gives("-0.25", "-0.25"));
  ENSURE(gives("1/3", "0.3333333333333333"));
  ENSURE(gives("2/3*1e22", "6.666666666666666e+21"));
  ENSURE(gives("pi", "3.141592653589793"));
}

TEST(xacro_functions_are_those_of_python) {
  ENSURE(gives("sin(pi/6)", "0.49999999999999994"));
  ENSURE(gives("cos(0)", "1.0"));
  ENSURE(gives("atan2(1, 1)", "0.7853981633974483"));
  ENSURE(gives("sqrt(2)", "1.4142135623730951"));
  ENSURE(gives("radians(90)", "1.5707963267948966"));
  ENSURE(gives("degrees(pi)", "180.0"));
  ENSURE(gives("abs(-3)", "3"));
  ENSURE(gives("abs(-3.5)", "3.5"));
  ENSURE(gives("min(3, 1.5, 2)", "1.5"));
  ENSURE(gives("max([1, 7, 3])", "7"));
  ENSURE(gives("round(2.5)", "2"));
  ENSURE(gives("round(3.14159, 2)", "3.14"));
  ENSURE(gives("round(3, 2)", "3"));
  ENSURE(gives("round(1e30, 2)", "1e+30"));
  ENSURE(gives("int(-3.7)", "-3"));
  ENSURE(gives("int('12')", "12"));
  ENSURE(gives("float('1e3')", "1000.0"));
  ENSURE(gives("str(1.50) + 'x'", "1.5x"));
  ENSURE(gives("len('abc')", "3"));
  ENSURE(gives("floor(-1.5)", "-2"));
  ENSURE(gives("math.ceil(1.2)", "2"));
  ENSURE(gives("log(e)", "1.0"));
  ENSURE(gives("range(3)", "[0, 1, 2]"));
}

TEST(xacro_comparisons_and_conditions) {
  ENSURE(gives("1 &lt; 2", "True"));
  ENSURE(gives("1 &lt; 2 &lt; 2", "False"));
  ENSURE(gives("'a' == 'a' and 1 != 2", "True"));
  ENSURE(gives("not 0", "True"));
  ENSURE(gives("0 or 'x'", "x"));
  ENSURE(gives("'left' if 1 > 2 else 'right'", "right"));
  ENSURE(gives("1 if False else 2 if False else 3", "3"));
  ENSURE(gives("(1 if True else missing) + 1", "2"));
  ENSURE(gives("1 if True or missing else 2", "1"));
  ENSURE(gives("1 > 2 > missing", "False"));
  ENSURE(gives("'x' in ['x', 'y']", "True"));
  ENSURE(gives("3 not in [1, 2]", "True"));
  ENSURE(gives("'b' in 'abc'", "True"));
  ENSURE(gives("None is None", "True"));
}

TEST(xacro_lists_and_dictionaries) {
  ENSURE(gives("[10, 20, 30][1]", "20"));
  ENSURE(gives("[10, 20, 30][-1]", "30"));
  ENSURE(gives("[1] + [2.5, 'a']", "[1, 2.5, 'a']"));
  ENSURE(gives("dict(a=1, b=2)['b']", "2"));
  ENSURE(gives("{'a': 1.5}['a']", "1.5"));
  ENSURE(gives("dict(a=dict(b=7)).a.b", "7"));
  ENSURE(gives("(1, 2)[0]", "1"));
}

// ------------------------------------------------------------------------------------------------------------- texts
TEST(xacro_texts_are_joined_and_dollars_escaped) {
  ENSURE(becomes("<xacro:property name='i' value='3'/><a b='link_${i+1}_x'/>", "<a b='link_4_x'/>"));
  ENSURE(becomes("<a b='$${x} $$(arg y) $5'/>", "<a b='${x} $(arg y) $5'/>"));
  ENSURE(becomes("<xacro:property name='i' value='3'/><a>is ${i}</a>", "<a>is 3</a>"));
  ENSURE(becomes("<a b='${1} ${2.0}'/>", "<a b='1 2.0'/>"));
  ENSURE(becomes("<a b='$(find pkg)/m.stl' c='file://$(find pkg)/m.stl'/>",
                 "<a b='package://pkg/m.stl' c='package://pkg/m.stl'/>"));
}

// -------------------------------------------------------------------------------------------------------- properties
TEST(xacro_properties_are_evaluated_at_their_first_use) {
  ENSURE(becomes("<xacro:property name='a' value='${b + 1}'/><xacro:property name='b' value='2'/><x v='${a}'/>",
                 "<x v='3'/>"));
  ENSURE(
      becomes("<xacro:property name='a' value='1'/><xacro:property name='a' value='2'/><x v='${a}'/>", "<x v='2'/>"));
  ENSURE(becomes("<xacro:property name='n' value='007'/><x v='${n}' w='${n*2}'/>", "<x v='7' w='14'/>"));
  ENSURE(becomes("<xacro:property name='q' value=\"'a b'\"/><x v='${q}'/>", "<x v='a b'/>"));
  ENSURE(becomes("<xacro:property name='t' value='true'/><x v='${t}'/>", "<x v='True'/>"));
  ENSURE(becomes("<xacro:property name='s' value='0 0 ${1+1}'/><x v='${s}'/>", "<x v='0 0 2'/>"));
}

TEST(xacro_a_default_holds_where_there_is_no_value) {
  ENSURE(
      becomes("<xacro:property name='a' value='1'/><xacro:property name='a' default='5'/>"
              "<xacro:property name='b' default='6'/><x v='${a} ${b}'/>",
              "<x v='1 6'/>"));
}

TEST(xacro_properties_of_macros_stay_inside_unless_exported) {
  ENSURE(
      becomes("<xacro:property name='a' value='1'/>"
              "<xacro:macro name='m'><xacro:property name='a' value='2'/>"
              "<xacro:property name='p' value='${a}' scope='parent'/>"
              "<xacro:property name='g' value='${a+1}' scope='global'/><in v='${a}'/></xacro:macro>"
              "<xacro:m/><out v='${a} ${p} ${g}'/>",
              "<in v='2'/><out v='1 2 3'/>"));
}

TEST(xacro_blocks_of_properties_are_inserted) {
  ENSURE(
      becomes("<xacro:property name='b'><one v='${i}'/><two/></xacro:property>"
              "<xacro:property name='i' value='1'/><x><xacro:insert_block name='b'/></x>",
              "<x><one v='1'/><two/></x>"));
}

TEST(xacro_arguments_have_defaults_and_are_set) {
  const srSetting settings[] = {{"side", "left"}};
  const char* text =
      "<robot xmlns:xacro='x'><xacro:arg name='side' default='right'/><xacro:arg name='n' default='2'/>"
      "<a b='$(arg side)' c='${$(arg n) + 1}' d=\"${'$(arg side)' == 'left'}\"/></robot>";
  ENSURE(expand_all(text, NULL, NULL, 0));
  ENSURE_TEXT(tree, "<robot><a b='right' c='3' d='False'/></robot>");
  ENSURE(expand_all(text, NULL, settings, 1));
  ENSURE_TEXT(tree, "<robot><a b='left' c='3' d='True'/></robot>");
}

// -------------------------------------------------------------------------------------------------------- conditions
TEST(xacro_conditions_take_truth_values_and_numbers) {
  ENSURE(
      becomes("<xacro:if value='true'><a/></xacro:if><xacro:if value='0'><b/></xacro:if>"
              "<xacro:unless value='${1 > 2}'><c/></xacro:unless><xacro:if value='${1.5}'><d/></xacro:if>"
              "<xacro:unless value='True'><e/></xacro:unless>",
              "<a/><c/><d/>"));
  ENSURE(becomes("<xacro:if value='1'><xacro:property name='i' value='4'/></xacro:if><a b='${i}'/>", "<a b='4'/>"));
}

// ------------------------------------------------------------------------------------------------------------ macros
TEST(xacro_macros_take_values_defaults_and_blocks) {
  ENSURE(
      becomes("<xacro:macro name='m' params='a b:=${a0*2} c:=x'><l n='${a} ${b} ${c}'/></xacro:macro>"
              "<xacro:property name='a0' value='5'/><xacro:m a='1'/><xacro:m a='${a0}' c='z'/>",
              "<l n='1 10 x'/><l n='5 10 z'/>"));
  ENSURE(becomes(
      "<xacro:macro name='m' params=\"t:='0 1 0' u=3 w:='007'\"><l n='${t}' k='${u} ${w}'/></xacro:macro><xacro:m/>",
      "<l n='0 1 0' k='3 007'/>"));
  ENSURE(
      becomes("<xacro:macro name='m' params='*whole **inside'><l><xacro:insert_block name='whole'/>"
              "<xacro:insert_block name='inside'/><xacro:insert_block name='whole'/></l></xacro:macro>"
              "<xacro:property name='i' value='9'/><xacro:m><o v='${i}'/><c><p/><q/></c></xacro:m>",
              "<l><o v='9'/><p/><q/><o v='9'/></l>"));
}

TEST(xacro_parameters_are_handed_on_from_outside) {
  const char* macro = "<xacro:macro name='m' params='a:=^ b:=^|7'><l v='${a} ${b}'/></xacro:macro>";
  char text[1024];
  snprintf(text, sizeof text, "%s<xacro:property name='a' value='1'/><xacro:m/><xacro:m a='3' b='4'/>", macro);
  ENSURE(becomes(text, "<l v='1 7'/><l v='3 4'/>"));
  snprintf(text, sizeof text, "%s<xacro:m/>", macro);
  ENSURE(refused(text, "the macro 'm' needs 'a', and there is no property of that name here"));
}

TEST(xacro_macros_call_macros_and_themselves) {
  ENSURE(
      becomes("<xacro:macro name='chain' params='n'><xacro:if value='${n > 0}'><l i='${n}'/>"
              "<xacro:chain n='${n-1}'/></xacro:if></xacro:macro><xacro:chain n='3'/>",
              "<l i='3'/><l i='2'/><l i='1'/>"));
  ENSURE(
      becomes("<xacro:macro name='outer' params='*b'><xacro:macro name='inner' params='*b'><i>"
              "<xacro:insert_block name='b'/></i></xacro:macro>"
              "<xacro:inner><xacro:insert_block name='b'/></xacro:inner></xacro:macro>"
              "<xacro:outer><x/></xacro:outer>",
              "<i><x/></i>"));
  ENSURE(
      becomes("<xacro:macro name='a_left'><l/></xacro:macro><xacro:property name='s' value='left'/>"
              "<xacro:call macro='a_${s}'/>",
              "<l/>"));
}

TEST(xacro_elements_and_attributes_by_name) {
  ENSURE(becomes("<xacro:property name='t' value='link'/><xacro:element xacro:name='${t}' n='1'><p/></xacro:element>",
                 "<link n='1'><p/></link>"));
  ENSURE(becomes("<a b='1'><xacro:attribute name='c' value='${1+1}'/><d/></a>", "<a b='1' c='2'><d/></a>"));
}

// ---------------------------------------------------------------------------------------------------------- messages
TEST(xacro_errors_state_their_location) {
  ENSURE(refused("<a b='${lenght}'/><xacro:property name='length' value='1'/>", "m:2:9"));
  ENSURE(refused("<xacro:property name='length' value='1'/><a b='${lenght}'/>", "did you mean 'length'?"));
  ENSURE(refused("<a b='1 ${2 +}'/>", "ends where a value is expected"));
  ENSURE(refused("<a b='${(1}'/>", "expected ')' at the end of '(1'"));
  ENSURE(refused("<a b='${1'/>", "'${' has no '}'"));
  ENSURE(refused("<a b='${1/0}'/>", "division by zero"));
  ENSURE(refused("<a b='${sqrt(-1)}'/>", "sqrt() gives no finite number"));
  ENSURE(refused("<a b='${10**400.0}'/>", "the power gives no finite number"));
  ENSURE(refused("<a b='${10**19}'/>", "a whole number becomes too large"));
  ENSURE(refused("<a b='${sin(1, 2)}'/>", "sin() takes 1 value, got 2"));
  ENSURE(refused("<a b='${[1, 2][2]}'/>", "there is no item 2: the list has 2"));
  ENSURE(refused("<xacro:property name='a' value='${a}'/><x v='${a}'/>", "the property 'a' is defined by itself"));
  ENSURE(refused("<xacro:if value='maybe'><a/></xacro:if>", "'maybe' is neither true nor false"));
  ENSURE(refused("<a b='$(arg x)'/>", "there is no argument 'x'"));
  ENSURE(refused("<a b='$(env HOME)'/>", "$(env HOME) is refused"));
  ENSURE(refused("<xacro:insert_block name='b'/>", "there is no block 'b'"));
  ENSURE(refused("<xacro:property nam='b' value='1'/>", "<xacro:property> has no 'nam'; did you mean 'name'?"));
  ENSURE(refused("<xacro:include filename='x.xacro'/>", "the model comes from memory"));
}

TEST(xacro_calls_are_checked) {
  const char* macro = "<xacro:macro name='leg' params='side *o'><l s='${side}'/></xacro:macro>\n";
  char text[1024];
#define CALL(call, message)                                                                                            \
  snprintf(text, sizeof text, "%s%s", macro, call);                                                                    \
  ENSURE(refused(text, message))
  CALL("<xacro:leg><o/></xacro:leg>", "m:3:1: error: the macro 'leg' needs 'side'");
  CALL("<xacro:leg sied='1'><o/></xacro:leg>", "the macro 'leg' has no parameter 'sied'; did you mean 'side'?");
  CALL("<xacro:leg side='1'/>", "the macro 'leg' needs one element more, for '*o'");
  CALL("<xacro:leg side='1'><o/><p/></xacro:leg>", "the macro 'leg' takes no <p> here");
  CALL("<xacro:lge side='1'/>", "there is no macro 'lge'; did you mean 'leg'?");
  CALL("<xacro:leg side='${x}'><o/></xacro:leg>", "m:3:20: error: there is no property 'x'");
#undef CALL
}

TEST(xacro_what_is_not_understood_reports_how_to_expand_it) {
  ENSURE(refused("<a b=\"${xacro.tokenize('f')}\"/>", "xacro m > m.urdf"));
  ENSURE(refused("<a b=\"${'%d' % 3}\"/>", "'%' behind a text is not understood"));
  ENSURE(refused("<a b='$(eval 1 + 2)'/>", "xacro m > m.urdf"));
  ENSURE(refused("<xacro:include filename='x' ns='y'/>", "'ns' of <xacro:include> is not understood"));
  expand("<a b='$(eval 1)' c='$(eval 2)'/>");
  const char* first = strstr(said, "xacro m > m.urdf");
  ENSURE(first && !strstr(first + 1, "xacro m > m.urdf"));  // the sentence occurs once
}

TEST(xacro_an_error_in_a_macro_is_reported_once_with_its_place_and_call) {
  ENSURE(!expand("<xacro:macro name='m'>\n<a b='${x}'/></xacro:macro>\n<xacro:m/><xacro:m/>"));
  const char* text = "m:3:9: error: there is no property 'x' (in the macro 'm', called at m:4)\n";
  ENSURE_TEXT(said, text);
}

// ------------------------------------------------------------------------------------------------------------ bounds
TEST(xacro_what_grows_without_end_is_stopped) {
  ENSURE(refused("<xacro:macro name='m'><xacro:m/></xacro:macro><xacro:m/>", "levels deep"));
  ENSURE(refused("<xacro:macro name='m'><a><xacro:m/></a></xacro:macro><xacro:m/>", "levels deep"));
  ENSURE(
      refused("<xacro:macro name='m' params='n'><xacro:if value='${n}'><xacro:m n='${n-1}'/><xacro:m n='${n-1}'/>"
              "</xacro:if></xacro:macro><xacro:m n='60'/>",
              "elements and formulas when all macros are written out"));
  static char text[20000];
  strcpy(text, "<xacro:property name='p0' value='aaaaaaaaaa'/>");
  for (int i = 1; i < 100; i++) {
    char line[200];
    snprintf(line, sizeof line, "<xacro:property name='p%d' value='${p%d}${p%d}'/>", i, i - 1, i - 1);
    strcat(text, line);
  }
  strcat(text, "<a b='${p99}'/>");
  ENSURE(!expand(text));
  ENSURE(strstr(said, "levels deep") || strstr(said, "a text becomes longer"));
  memset(text, '(', 6000);
  text[0] = '\0';
  strcat(text, "<a b='${");
  memset(text + 8, '(', 6000);
  strcpy(text + 6008, "'/>");
  ENSURE(!expand(text));
}

TEST(xacro_lists_of_lists_are_bounded) {
  static char text[20000];
  strcpy(text, "<xacro:property name='p0' value='${[1]}'/>");
  for (int i = 1; i < 40; i++) {
    char line[200];
    snprintf(line, sizeof line, "<xacro:property name='p%d' value='${[p%d, p%d]}' lazy_eval='false'/>", i, i - 1,
             i - 1);
    strcat(text, line);
  }
  ENSURE(refused(text, "a list becomes larger than"));
}

// ------------------------------------------------------------------------------------------------------------ robots
static srModel* open_with(const char* file, const srLoadOptions* options) {
  char path[600];
  srSpec* spec = NULL;
  srModel* model = NULL;
  srMessages* messages = sr_messages_create();
  snprintf(path, sizeof path, "%s/tests/xacro/%s", SARRUS_SOURCE_DIR, file);
  srStatus status = sr_load(path, options, messages, &spec);
  if (status == SR_OK) status = sr_compile(spec, messages, &model);
  keep_messages(messages);
  srs_destroy(spec);
  sr_messages_destroy(messages);
  return model;
}

static srModel* open_robot(const char* file, const srSetting* settings, int nsetting) {
  srModel* m = open_with(file, &(srLoadOptions){.settings = settings, .nsetting = nsetting});
  if (!m) fprintf(stderr, "%s", said);
  return m;
}

TEST(xacro_a_robot_by_macros_is_the_robot_written_out) {
  enum { N = 3 };
  srModel *a = open_robot("arm.urdf.xacro", NULL, 0), *b = open_robot("arm.urdf", NULL, 0);
  ENSURE(a && b && a->nv == N && b->nv == N);
  srData *x = sr_data_create(a), *y = sr_data_create(b);
  for (int k = 0; k < 20; k++) {
    double q[N], v[N], tau[N], Ma[N * N], Mb[N * N], ca[N], cb[N], aa[N], ab[N];
    const double zero[N] = {0};
    for (int i = 0; i < N; i++) q[i] = sin(1.7 * k + i), v[i] = cos(2.3 * k + 2 * i), tau[i] = 0.1 * i;
    sr_crba(a, x, q, Ma), sr_crba(b, y, q, Mb);
    sr_rnea(a, x, q, v, zero, ca), sr_rnea(b, y, q, v, zero, cb);
    ENSURE(sr_aba(a, x, q, v, tau, aa) == SR_OK && sr_aba(b, y, q, v, tau, ab) == SR_OK);
    for (int i = 0; i < N * N; i++) ENSURE(Ma[i] == Mb[i] && (i % (N + 1) != 0 || Ma[i] > 0));
    for (int i = 0; i < N; i++) ENSURE(ca[i] == cb[i] && aa[i] == ab[i]);
  }
  sr_data_destroy(x), sr_data_destroy(y);
  sr_model_destroy(a), sr_model_destroy(b);
}

TEST(xacro_arguments_of_a_robot_are_set) {
  srModel* m = open_robot("arm.urdf.xacro", (const srSetting[]){{"tool", "false"}, {"mass", "3"}}, 2);
  ENSURE(m && m->nv == 2);
  ENSURE_NEAR(m->body_mass[sr_body_find(m, "fore")], 3.0, 0);
  sr_model_destroy(m);
}

TEST(xacro_packages_are_found) {
  const char* packages[] = {"arm_parts=" SARRUS_SOURCE_DIR "/tests/xacro/parts"};
  srModel* m = open_with("package.urdf.xacro", &(srLoadOptions){.packages = packages, .npackage = 1});
  ENSURE(m && m->nv == 1);
  sr_model_destroy(m);
  ENSURE(open_with("package.urdf.xacro", NULL) == NULL);
  ENSURE(strstr(said, "the package 'arm_parts' of 'package://arm_parts/link.xacro' is not found; searched in "));
  ENSURE(strstr(said, "give its location with --package arm_parts=FOLDER"));
  ENSURE(!strstr(said, "there is no macro"));  // consequences are not reported
}

// -------------------------------------------------------------------------------------------------------------- files
#define HERE SARRUS_SOURCE_DIR "/tests/xacro"

// The text of a formula in a file of tests/xacro.
static bool gives_here(const char* formula, const char* expected) {
  char text[1024], whole[1024];
  snprintf(text, sizeof text,
           "<robot xmlns:xacro='x'><xacro:property name='y' value=\"${xacro.load_yaml('config/limits.yaml')}\"/>"
           "<a b=\"${%s}\"/></robot>",
           formula);
  snprintf(whole, sizeof whole, "<robot><a b='%s'/></robot>", expected);
  const bool done = expand_all(text, HERE, NULL, 0);
  if (done && strcmp(tree, whole) == 0) return true;
  fprintf(stderr, "expected: %s\n     got: %s\n%s", whole, tree, said);
  return false;
}

// What PyYAML reads, with xacro's units; but that 3e-2 is a number, as in YAML 1.2.
TEST(xacro_values_are_loaded_from_yaml) {
  ENSURE(gives_here("y['joint_limits']['shoulder']['max']", "3.141592653589793"));
  ENSURE(gives_here("y.joint_limits.shoulder.min", "-1.5707963267948966"));
  ENSURE(gives_here("y.joint_limits.shoulder.effort * 2", "661.0"));
  ENSURE(gives_here("y.joint_limits.shoulder.has_limits", "True"));
  ENSURE(gives_here("y.joint_limits.shoulder.count", "3"));
  ENSURE(gives_here("y['joint_limits']['elbow joint']['min']", "-2.5"));
  ENSURE(gives_here("y['joint_limits']['elbow joint']['names'][1]", "b c"));
  ENSURE(gives_here("y['joint_limits']['elbow joint']['names'][2]", "d # e"));
  ENSURE(gives_here("y.offsets[1]", "-2"));
  ENSURE(gives_here("y.offsets[2]", "0.03"));
  ENSURE(gives_here("len(y.list)", "4"));
  ENSURE(gives_here("y.list[1]", "two words"));
  ENSURE(gives_here("y.list[2].size", "0.25"));
  ENSURE(gives_here("y.list[3][1]", "8"));
  ENSURE(gives_here("y.none is None and y.empty is None", "True"));
  ENSURE(gives_here("y.right.mass + y.right.size[1]", "3.5"));
  ENSURE(gives_here("y.small.mass", "0.5"));
  ENSURE(gives_here("y.small.size[0]", "1"));
  ENSURE(gives_here("y.own.mass", "9"));
  ENSURE(gives_here("y.three[2] + y.three[0]", "8"));
  ENSURE(gives_here("y.hash", "calib_12788084448423163542"));
  // as PyYAML 6.0 has them: an anchor before a key on its line is the key's
  ENSURE(gives_here("y.keys[0].first + y.keys[0].second", "3"));
  ENSURE(gives_here("y.keys[1]", "first"));
  ENSURE(gives_here("y.keys[2]['q r']", "5"));
  ENSURE(gives_here("y.keys[3].other", "q r"));
  ENSURE(gives_here("y.keys[3].first", "6"));
  ENSURE(gives_here("y.keys[4].a + y.keys[5].a", "14"));
  ENSURE(!expand_all("<robot xmlns:xacro='x'><a b=\"${load_yaml('config/none.yaml')}\"/></robot>", HERE, NULL, 0));
  ENSURE(strstr(said, "config/none.yaml' cannot be read"));
  ENSURE(refused("<a b=\"${xacro.load_yaml('a.yaml')}\"/>", "the model comes from memory: it may not read 'a.yaml'"));
}

static bool yaml_refused(const char* text, const char* message) {
  char path[] = "/tmp/sarrus-yaml-XXXXXX", model[200];
  const int handle = mkstemp(path);
  ENSURE(handle >= 0 && write(handle, text, strlen(text)) == (ssize_t)strlen(text));
  close(handle);
  snprintf(model, sizeof model, "<robot xmlns:xacro='x'><a b=\"${load_yaml('%s')}\"/></robot>", path);
  const bool good = !expand_all(model, "/tmp", NULL, 0) && strstr(said, message);
  if (!good) fprintf(stderr, "expected: %s\ngot: %s%s\n", message, said, tree);
  remove(path);
  return good;
}

TEST(xacro_yaml_that_is_beyond_is_reported_with_its_line) {
  ENSURE(yaml_refused("a: 1\nb: *x\n", ":2:1: error: there is no anchor '&x' before its alias"));
  ENSURE(yaml_refused("a: &x\n  b: *x\n", "there is no anchor '&x' before its alias"));
  ENSURE(yaml_refused("a: &x 3\nb:\n  <<: *x\n", "'<<' of what is no map is not understood"));
  ENSURE(yaml_refused("a: |\n  text\n", ":1:1: error: this kind of YAML is not understood: '|'"));
  ENSURE(yaml_refused("a: 1\n  b: 2\n", ":2:3: error: a line that is indented otherwise is not understood: 'b: 2'"));
  ENSURE(yaml_refused("a: 1\nb\n", ":2:1: error: a line without 'key:' is not understood: 'b'"));
  ENSURE(yaml_refused("a: &x 3\n*x : 2\n", ":2:1: error: a key that is no text is not understood"));
  ENSURE(yaml_refused("*x : 2\n", ":1:1: error: there is no anchor '&x' before its alias"));
  ENSURE(yaml_refused("a: !furlongs 3\n", "this tag is not understood: '!furlongs 3'"));
  ENSURE(yaml_refused("a: [1, 2\n", "a list without ']' is not understood"));
  ENSURE(yaml_refused("a: 'x\n", "a text of several lines is not understood"));
  ENSURE(yaml_refused("a:\n\tb: 1\n", "a tab that indents a line is not understood"));
  ENSURE(yaml_refused("a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]\n", "so deep a list is not understood"));
  ENSURE(yaml_refused("a: !degrees [1]\n", "a unit of what is no number is not understood"));
}

// Nine lists of nine aliases of the one before would be 9^9 values when they are written out.
TEST(xacro_aliases_of_aliases_in_yaml_are_bounded) {
  char text[2000] = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i <= 9; i++) {
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, sizeof text - used, "a%d: &a%d [", i, i);
    for (int k = 0; k < 9; k++)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s*a%d", k ? ", " : "", i - 1);
    snprintf(text + used, sizeof text - used, "]\n");
  }
  ENSURE(yaml_refused(text, "the file has more than 10000 values"));
}

// What Python 3 prints for the same formulas.
TEST(xacro_texts_have_methods_of_python) {
  ENSURE(gives("'0.1 0 -2'.split(' ')[2]", "-2"));
  ENSURE(gives("len(' a  b '.split())", "2"));
  ENSURE(gives("len(' a  b '.split(' '))", "5"));
  ENSURE(gives("'a,b'.split(',')[1]", "b"));
  ENSURE(gives("len(''.split())", "0"));
  ENSURE(gives("len(''.split(','))", "1"));
  ENSURE(gives("' Ab9z '.strip().lower() + 'Ab9z'.upper()", "ab9zAB9Z"));
  ENSURE(gives("'a_b_c'.replace('_', '::')", "a::b::c"));
  ENSURE(gives("'aaaa'.replace('aa', 'b')", "bb"));
  ENSURE(gives("len('0123456789'.replace('0', '00000').replace('0', '0123456789').replace('9', '99999999'))", "101"));
  ENSURE(gives("'left_arm'.startswith('left') and not 'left_arm'.endswith('left')", "True"));
  ENSURE(gives("'left_arm'.endswith('_arm') and 'arm'.endswith('arm') and not 'arm'.endswith('ar')", "True"));
  ENSURE(gives("'rm'.endswith('arm')", "False"));
  ENSURE(gives("1 if True else 'a'.split('')", "1"));
  ENSURE(refused("<a b=\"${'a'.split('')}\"/>", "split() takes a separator that is not empty"));
  ENSURE(refused("<a b=\"${'a'.split(1)}\"/>", "these arguments of '.split()' are not understood"));
  ENSURE(refused("<a b=\"${'a b'.split(' ', ' ')}\"/>", "these arguments of '.split()' are not understood"));
  ENSURE(refused("<a b=\"${'a'.replace('a', 'b', 'c')}\"/>", "these arguments of '.replace()' are not understood"));
  ENSURE(refused("<a b=\"${'a'.replace('a')}\"/>", "these arguments of '.replace()' are not understood"));
  ENSURE(refused("<a b=\"${'a'.title()}\"/>", "'.title()' of a text is not understood"));
  ENSURE(refused("<a b=\"${(1).split()}\"/>", "'.split' of "));
}

// Formulas that would grow without bound end with one error.
TEST(xacro_methods_of_texts_are_bounded) {
#define X16 ".replace('a', 'aaaaaaaaaaaaaaaa')"
  ENSURE(gives("len('a'" X16 X16 X16 X16 ")", "65536"));
  ENSURE(refused("<a b=\"${'aa'" X16 X16 X16 X16 "}\"/>", "a text becomes longer than 65536 characters"));
  ENSURE(strstr(strstr(said, "error") + 5, "error") == NULL);
  ENSURE(gives("len('a'" X16 X16 X16 ".replace('a', 'b,b,').split(','))", "8193"));
  ENSURE(refused("<a b=\"${'a'" X16 X16 X16 ".replace('a', 'b,b,b,').split(',')}\"/>",
                 "a list becomes longer than 10000 items"));
  ENSURE(strstr(strstr(said, "error") + 5, "error") == NULL);
  ENSURE(refused("<a b=\"${'a'.replace('', 'b')}\"/>", "replace() takes a text that is not empty"));
  ENSURE(strstr(strstr(said, "error") + 5, "error") == NULL);
#undef X16
}

TEST(xacro_what_a_file_states_itself_is_passed_on) {
  ENSURE(becomes("<a b=\"${xacro.warning('old', 2)}\"/>", "<a b=''/>"));
  ENSURE(strstr(said, "m:2:9: warning: message of the file: old 2"));
  ENSURE(becomes("<a b=\"${xacro.message('hello')}\"/>", "<a b=''/>"));
  ENSURE(strstr(said, "note: message of the file: hello"));
  ENSURE(refused("<a b=\"${xacro.fatal('no gripper')}\"/>", "error: message of the file: no gripper"));
  ENSURE(refused("<a b=\"${xacro.warn('x')}\"/>", "the function 'xacro.warn' is not known; did you mean 'xacro."));
  ENSURE(refused("<a b=\"${xacro.thing}\"/>", "'xacro.thing' is not understood here"));
  ENSURE(becomes("<xacro:arg name='n' default='4'/><a b=\"${xacro.arg('n')}\"/>", "<a b='4'/>"));
}

TEST(xacro_names_that_begin_with_underscores_are_refused) {
  ENSURE(refused("<xacro:property name='__k' value='1'/>", "'__k': the name of a property may not begin with __"));
}

TEST(xacro_the_root_sees_arguments_declared_below) {
  const char* text = "<robot xmlns:xacro='x' name='$(arg name)'><xacro:arg name='name' default='ur'/><a/></robot>";
  ENSURE(expand_all(text, NULL, NULL, 0));
  ENSURE_TEXT(tree, "<robot name='ur'><a/></robot>");
}

TEST(xacro_a_setting_that_is_no_argument_is_reported_with_those_there_are) {
  ENSURE(open_with("arm.urdf.xacro", &(srLoadOptions){.settings = &(srSetting){"mas", "3"}, .nsetting = 1}) == NULL);
  ENSURE(strstr(said, "the model has no parameter 'mas'; did you mean 'mass'?"));
  ENSURE(open_with("arm.urdf.xacro", &(srLoadOptions){.settings = &(srSetting){"quite_other", "3"}, .nsetting = 1}) ==
         NULL);
  ENSURE(strstr(said, "; it has ") && strstr(said, "mass") && strstr(said, "tool"));
}

static void put_file(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  ENSURE(file != NULL);
  fputs(text, file);
  fclose(file);
}

TEST(xacro_the_folder_of_a_file_is_a_whole_path) {
  char folder[] = "/tmp/sarrus-xacro-XXXXXX", before[1000];
  srSpec* spec = NULL;
  ENSURE(mkdtemp(folder) != NULL && getcwd(before, sizeof before) && chdir(folder) == 0);
  ENSURE(mkdir("robot", 0700) == 0);
  put_file("robot/part.xacro", "<robot xmlns:xacro='x'><link name='base'/></robot>");
  put_file("robot/r.xacro",
           "<robot name='r' xmlns:xacro='x'><xacro:include filename='$(dirname)/part.xacro'/></robot>");
  put_file(
      "robot/loop.xacro",
      "<robot name='r' xmlns:xacro='x'><xacro:include filename='none.xacro'/><xacro:include filename='loop.xacro'/>"
      "</robot>");
  ENSURE_EQUAL(sr_load("robot/r.xacro", NULL, NULL, &spec), SR_OK);
  srs_destroy(spec);
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_load("robot/loop.xacro", NULL, messages, &spec), SR_INPUT);
  keep_messages(messages);
  ENSURE_EQUAL(sr_messages_errors(messages), 2);
  ENSURE(strstr(said, "none.xacro' cannot be read") && strstr(said, "'robot/loop.xacro' includes itself"));
  sr_messages_destroy(messages);
  remove("robot/part.xacro"), remove("robot/r.xacro"), remove("robot/loop.xacro"), rmdir("robot");
  ENSURE(chdir(before) == 0 && rmdir(folder) == 0);
}
