// Tests of src/io: the XML layer, the reader of model files with all its messages, the writer, CSV both ways.
#if defined(__unix__) || defined(__APPLE__)
#define _XOPEN_SOURCE 700  // symlink, mkdir
#endif
#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <sarrus/io.h>
#include <sarrus/model.h>
#include <sarrus/netfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"
#include "io/native/native.h"
#include "io/results/csv_read.h"
#include "io/scope.h"
#include "io/xml/reader.h"
#include "io/xml/xml.h"
#include "messages.h"
#include "model/spec.h"
#include "runner.h"
#include "scarce.h"

// ---------------------------------------------------------------------------------------------------------- helpers
static char first[16384];  // all messages of the last load, a line each
static srSpec* spec;

static void keep_messages(const srMessages* messages) { messages_keep(messages, first, sizeof first); }

static srStatus load_with(const char* text, const srSetting* settings, int nsetting) {
  srMessages* messages = sr_messages_create();
  const srLoadOptions options = {.settings = settings, .nsetting = nsetting};
  const srStatus status = sr_load_text(text, strlen(text), "m", NULL, &options, messages, &spec);
  keep_messages(messages);
  sr_messages_destroy(messages);
  return status;
}

// Reads the content of a model, which begins at line 2.
static srStatus load(const char* content) {
  char text[8192];
  snprintf(text, sizeof text, "<sarrus version=\"1\">\n%s\n</sarrus>", content);
  return load_with(text, NULL, 0);
}

static srStatus load_path(const char* path) {
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_load(path, NULL, messages, &spec);
  keep_messages(messages);
  sr_messages_destroy(messages);
  return status;
}

static void done(void) {
  srs_destroy(spec);
  spec = NULL;
}

static const srAttr* attribute(srElementKind kind, int i, const char* word) {
  const srElement* e = srs_element(kind);
  for (int k = 0; k < e->nfield; k++)
    if (strcmp(e->fields[k].word, word) == 0) return &sr_spec_attributes(spec, kind, i)[k];
  return NULL;
}

static const char* text_of(srElementKind kind, int i, const char* word) { return attribute(kind, i, word)->text; }

// The content is refused, and one of the messages is this one.
static bool refused(const char* content, const char* message) {
  const bool input = load(content) == SR_INPUT && spec == NULL;
  if (!input || !strstr(first, message)) fprintf(stderr, "expected: %s\ngot: %s", message, first);
  done();
  return input && strstr(first, message) != NULL;
}

// -------------------------------------------------------------------------------------------------------------- XML
TEST(xml_elements_and_attributes_know_their_places) {
  static const char text[] = "\xef\xbb\xbf<a>\r\n  <b one='1'\n     two = \"&lt;\xc3\xa4\" three='3'/>\n</a>";
  srPool pool;
  sr_pool_init(&pool);
  jmp_buf no_memory;
  pool.on_fail = &no_memory;
  srXmlNode* root = sr_xml_read(&pool, text, sizeof text - 1, "f", NULL);
  ENSURE(root != NULL && root->place.line == 1 && root->place.column == 1);
  const srXmlNode* b = root->first;
  ENSURE(b->place.line == 2 && b->place.column == 3 && b->nattribute == 3);
  ENSURE(b->attributes[0].place.line == 2 && b->attributes[0].place.column == 11);
  ENSURE_TEXT(b->attributes[1].value, "<\xc3\xa4");
  ENSURE(b->attributes[1].name_place.column == 6 && b->attributes[1].place.column == 13);
  ENSURE(b->attributes[2].name_place.line == 3 && b->attributes[2].name_place.column == 20);
  ENSURE(sr_xml_attribute(b, "three") == &b->attributes[2] && !sr_xml_attribute(b, "four"));
  sr_pool_free(&pool);
}

TEST(what_is_not_xml_is_refused_at_its_place) {
  ENSURE(load_with("", NULL, 0) == SR_INPUT && strstr(first, "m:1:1: error: this is not XML: no element found"));
  ENSURE(load_with("<sarrus version='1'>\n<body></sarrus>", NULL, 0) == SR_INPUT);
  ENSURE(strstr(first, "m:2:9: error: mismatched tag: <body> of line 2 is still open here"));
  ENSURE(load_with("<sarrus version='1'>\n <body>\n", NULL, 0) == SR_INPUT);
  ENSURE(strstr(first, "m:3:1: error: the file ends, but <body> of line 2 is still open"));
  ENSURE(refused("<body name='a' name='b'/>", "m:2:16: error: duplicate attribute 'name'"));
  ENSURE(refused("<body name=a/>", "m:2:12: error: this is not XML: not well-formed"));
  ENSURE(refused("<body name='&auml;'/>", "undefined entity"));
  ENSURE(refused("<body name='\xff'/>", "m:2:13: error: this is not XML: not well-formed"));
}

TEST(document_types_and_depth_and_many_attributes_are_refused) {
  static const char bomb[] = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>\n<sarrus version='1' name='&b;'/>";
  ENSURE(load_with(bomb, NULL, 0) == SR_INPUT && strstr(first, "m:1:1: error: <!DOCTYPE> is refused"));
  char deep[6000] = "", wide[2000] = "<body";
  for (int i = 0; i < 210; i++) strcat(deep, "<repeat count='1'>");
  ENSURE(refused(deep, "is nested more than 200 elements deep"));
  for (int i = 0; i < 70; i++) sprintf(wide + strlen(wide), " a%d='1'", i);
  strcat(wide, "/>");
  ENSURE(refused(wide, "m:2:1: error: <body> has 70 attributes"));
}

// --------------------------------------------------------------------------------------------------------- messages
TEST(the_root_of_a_model_file_is_checked) {
  ENSURE(load_with("<model/>", NULL, 0) == SR_INPUT && strstr(first, "(ROBOTRAN), not <model>"));
  ENSURE(load_with("<sarrus/>", NULL, 0) == SR_INPUT && strstr(first, "needs the attribute 'version'"));
  ENSURE(load_with("<sarrus version='2'/>", NULL, 0) == SR_INPUT &&
         strstr(first, "m:1:18: error: unknown version '2'"));
  ENSURE(load_with("<sarrus version='1'/>", NULL, 0) == SR_OK);
  done();
}

TEST(unknown_words_are_refused_with_the_nearest_known_one) {
  ENSURE(refused("<bdy/>", "m:2:1: error: unknown element <bdy>; did you mean <body>?"));
  ENSURE(refused("<xylophone/>", "m:2:1: error: unknown element <xylophone>\n"));
  ENSURE(refused("<body name='a'><inertial mas='1'/></body>",
                 "m:2:26: error: unknown attribute 'mas' of <inertial>; did you mean 'mass'?"));
  ENSURE(refused("<body name='a' colour='red'/>", "unknown attribute 'colour' of <body>; it has name, parent"));
  ENSURE(refused("<body name='a'><joint type='revolut'/></body>",
                 "m:2:29: error: unknown type 'revolut' of <joint>; did you mean 'revolute'?"));
  ENSURE(refused("<run method='heun'/>", "unknown method 'heun' of <run>; expected auto, euler, rk4, dopri5"));
}

TEST(misplaced_and_missing_and_stray_things_are_refused) {
  ENSURE(refused("<joint type='free'/>", "m:2:1: error: <joint> belongs inside <body>, not inside <sarrus>"));
  ENSURE(refused("<ground><joint/></ground>", "<joint> belongs inside <body>, not inside <ground>"));
  ENSURE(refused("<point name='p'/>", "<point> belongs inside <body> or <ground>, not inside <sarrus>"));
  ENSURE(refused("<body name='a'><body name='b'/></body>", "<body> belongs inside <sarrus>, not inside <body>"));
  ENSURE(refused("<sarrus version='1'/>", "<sarrus> is the root of a file"));
  ENSURE(refused("<run><run/></run>", "m:2:6: error: <run> is inside <run>, which holds no other elements"));
  ENSURE(refused("<body/>", "m:2:1: error: <body> needs the attribute 'name'"));
  ENSURE(refused("<body name='a'>\n  hello you\n</body>", "m:3:3: error: stray text 'hello you' inside <body>"));
  ENSURE(refused("<ground name='g'/>", "unknown attribute 'name' of <ground>"));
  ENSURE(refused("<body name=' '/>", "m:2:13: error: the attribute 'name' of <body> is empty"));
  ENSURE(refused("<body name='a/b'/>", "m:2:13: error: the name 'a/b' holds"));
}

TEST(all_errors_are_reported_up_to_a_bound) {
  ENSURE(load("<a/><b/>\n<body name='a'><joint type='x' y='1'/><z/></body>") == SR_INPUT);
  ENSURE(strstr(first, "<a>") && strstr(first, "<b>") && strstr(first, "'x'") && strstr(first, "'y'"));
  ENSURE(strstr(first, "m:3:39: error: unknown element <z>"));
  char many[4000] = "";
  for (int i = 0; i < 500; i++) strcat(many, "<zzz/>\n");
  char text[5000];
  snprintf(text, sizeof text, "<sarrus version='1'>%s</sarrus>", many);
  srMessages* messages = sr_messages_create();
  ENSURE(sr_load_text(text, strlen(text), "m", NULL, NULL, messages, &spec) == SR_INPUT);
  ENSURE_EQUAL(sr_messages_errors(messages), SR_READER_MAX_ERRORS);
  ENSURE_EQUAL(sr_messages_count(messages), SR_READER_MAX_ERRORS + 1);
  sr_messages_destroy(messages);
  ENSURE(sr_load_text(text, strlen(text), "m", NULL, NULL, NULL, &spec) == SR_INPUT);  // without a list too
}

// ------------------------------------------------------------------------------------------------------- parameters
TEST(parameters_use_those_before_them) {
  ENSURE(load("<parameter name='a' value='2'/><parameter name='b' value='a^2'/><repeat count='b'><body name='b{i}'/>"
              "</repeat>") == SR_OK);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_BODY), 4);
  ENSURE_TEXT(text_of(SR_ELEMENT_PARAMETER, 1, "value"), "a^2");
  done();
  ENSURE(refused("<parameter name='a' value='b'/><parameter name='b' value='1'/>", "'b' is not defined yet"));
  ENSURE(refused("<parameter name='a' value='a+1'/>", "m:2:28: error: parameter 'a' is not defined yet"));
  ENSURE(refused("<parameter name='len' value='1'/><parameter name='a' value='2*lem'/>", "did you mean 'len'?"));
  ENSURE(refused("<parameter name='a' value='1'/>\n<parameter name='a' value='2'/>",
                 "m:3:18: error: there is a parameter 'a'"));
  ENSURE(refused("<parameter name='a-b' value='1'/>", "m:2:18: error: the name 'a-b' holds something other"));
  ENSURE(refused("<parameter name='a' value='1/0'/>", "not a finite number"));
  ENSURE(refused("<parameter name='a' value='1+'/>", "m:2:30: error: expected"));
}

TEST(settings_override_parameters) {
  static const char text[] =
      "<sarrus version='1'><parameter name='n' value='1'/><parameter name='m' value='n+1'/>"
      "<repeat count='m'><body name='b{i}'/></repeat></sarrus>";
  ENSURE(load_with(text, &(srSetting){"n", "2*3"}, 1) == SR_OK);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_BODY), 7);
  ENSURE_TEXT(text_of(SR_ELEMENT_PARAMETER, 0, "value"), "2*3");
  done();
  ENSURE(load_with(text, (srSetting[]){{"n", "2"}, {"n", "4"}}, 2) == SR_OK);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_BODY), 5);
  done();
  ENSURE(load_with(text, &(srSetting){"k", "2"}, 1) == SR_INPUT);
  ENSURE_TEXT(first, "--set k: error: the model has no parameter 'k'; it has n, m\n");
  ENSURE(load_with(text, (srSetting[]){{"m", "2*n + 1"}, {"n", "3"}}, 2) == SR_OK);  // by parameters before it
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_BODY), 7);
  done();
  ENSURE(load_with(text, &(srSetting){"n", "m"}, 1) == SR_INPUT &&
         strstr(first, "--set n: error: parameter 'm' is not defined yet; only parameters defined before can be used"));
  ENSURE(load_with(text, &(srSetting){"m", "k"}, 1) == SR_INPUT && strstr(first, "--set m: error: unknown name 'k'"));
  ENSURE(
      load_with("<sarrus version='1'><repeat count='2' index='i'><parameter name='p{i}' value='i'/></repeat></sarrus>",
                &(srSetting){"p1", "i"}, 1) == SR_INPUT &&
      strstr(first, "--set p1: error: unknown name 'i'"));
  ENSURE(load_with("<sarrus version='1'><parameter name='mass' value='1'/></sarrus>", &(srSetting){"mas", "2"}, 1) ==
         SR_INPUT);
  ENSURE_TEXT(first, "--set mas: error: the model has no parameter 'mas'; did you mean 'mass'?\n");
}

// ---------------------------------------------------------------------------------------------------------- repeats
TEST(repeats_replace_indices_in_names_and_formulas) {
  ENSURE(load("<parameter name='w' value='0.5'/><repeat count='3' index='i' from='-1'>"
              "<body name='b{i}' parent='x{2*i+w}'><joint type='revolute' at='i 1e3 sin(i)*pi' q='{i}'/></body>"
              "<torque joint='b{i}' law='-i*q(b{i}) + i (t)'/></repeat>") == SR_OK);
  ENSURE_TEXT(text_of(SR_ELEMENT_BODY, 0, "name"), "b-1");
  ENSURE_TEXT(text_of(SR_ELEMENT_BODY, 0, "parent"), "x-1.5");
  ENSURE_TEXT(text_of(SR_ELEMENT_BODY, 2, "name"), "b1");
  ENSURE_TEXT(text_of(SR_ELEMENT_JOINT, 0, "at"), "(-1) 1e3 sin((-1))*pi");
  ENSURE_TEXT(text_of(SR_ELEMENT_JOINT, 2, "at"), "1 1e3 sin(1)*pi");
  ENSURE_TEXT(text_of(SR_ELEMENT_JOINT, 2, "q"), "1");
  ENSURE_TEXT(text_of(SR_ELEMENT_TORQUE, 1, "law"), "-0*q(b0) + i (t)");
  ENSURE_EQUAL(srs_owner(spec, SR_ELEMENT_JOINT, 2), 2);
  done();
}

TEST(repeats_nest_and_may_be_empty) {
  ENSURE(
      load("<repeat count='2'><body name='a{i}'><repeat count='i+1' index='k'><point name='p{k}' at='i k e'/></repeat>"
           "</body></repeat><repeat count='0'><body/></repeat><ground><repeat count='2'><point name='g{i}'/></repeat>"
           "</ground>") == SR_OK);
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_POINT), 5);
  ENSURE_TEXT(text_of(SR_ELEMENT_POINT, 2, "at"), "1 1 e");
  ENSURE_EQUAL(srs_owner(spec, SR_ELEMENT_POINT, 2), 1);
  ENSURE_EQUAL(srs_owner(spec, SR_ELEMENT_POINT, 3), SR_GROUND);
  done();
}

TEST(wrong_repeats_are_refused) {
  ENSURE(refused("<repeat/>", "m:2:1: error: <repeat> needs the attribute 'count'"));
  ENSURE(refused("<repeat count='-1'/>", "m:2:16: error: count of <repeat> is -1; it must be a whole number"));
  ENSURE(refused("<repeat count='1.5'/>", "count of <repeat> is 1.5"));
  ENSURE(refused("<repeat count='1e9'/>", "count of <repeat> is 1"));
  ENSURE(refused("<repeat count='n'/>", "m:2:16: error: unknown name 'n'"));
  ENSURE(refused("<repeat count='2' index='t'/>", "the index 't' means something else in formulas"));
  ENSURE(refused("<parameter name='i' value='1'/><repeat count='2'/>", "the index 'i' has the name of a parameter"));
  ENSURE(refused("<repeat count='2'><repeat count='2'/></repeat>", "the index 'i' has the name of"));
  ENSURE(refused("<repeat count='1e6'><repeat count='1e6' index='k'/></repeat>", "more than 2000000 elements"));
  ENSURE(refused("<repeat count='3'><body name='b{k}'/></repeat>", "m:2:33: error: unknown name 'k'"));
  ENSURE(refused("<body name='b{1'/>", "m:2:14: error: '{' without a '}'"));
  ENSURE(refused("<body name='b1}'/>", "m:2:15: error: '}' without a '{'"));
  ENSURE(refused("<body name='b{0/0}'/>", "not a finite number"));
  ENSURE(load("<repeat count='3'><bdy/></repeat>") == SR_INPUT);  // reported once, not three times
  ENSURE_TEXT(first, "m:2:19: error: unknown element <bdy>; did you mean <body>?\n");
}

// ------------------------------------------------------------------------------------------------ includes and files
#define WALKER SARRUS_SOURCE_DIR "/tests/io/walker.xml"

TEST(a_model_of_several_files_is_read_as_one) {
  ENSURE(load_path(WALKER) == SR_OK);
  ENSURE_TEXT(first, "");
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_MODEL), 1);
  ENSURE_TEXT(text_of(SR_ELEMENT_MODEL, 0, "name"), "walker");
  ENSURE_EQUAL(srs_count(spec, SR_ELEMENT_BODY), 5);
  ENSURE_TEXT(text_of(SR_ELEMENT_BODY, 4, "name"), "leg10");
  ENSURE_TEXT(text_of(SR_ELEMENT_JOINT, 1, "at"), "0.2*0 (-1)*width 0");
  ENSURE_TEXT(text_of(SR_ELEMENT_POINT, 0, "name"), "top & <head>");
  ENSURE_TEXT(srs_place(spec, SR_ELEMENT_BODY, 1).file, SARRUS_SOURCE_DIR "/tests/io/parts/leg.xml");
  ENSURE_TEXT(srs_folder(spec), SARRUS_SOURCE_DIR "/tests/io");
  ENSURE_TEXT(text_of(SR_ELEMENT_MOTION, 0, "file"), "parts/gait.csv");
  const srAttr* points = attribute(SR_ELEMENT_MOTION, 0, "points");
  ENSURE(points->n == 6 && points->numbers[1] == 1.5 && points->numbers[3] == -0.25 && points->numbers[4] == 2);
  done();
}

TEST(a_body_is_extended) {
  ENSURE(load("<body name='a'><joint name='j' type='revolute' q='1'/></body>\n<parameter name='m' value='2'/>\n"
              "<extend body='a'><joint q='2*m' damping='3'/><inertial mass='m'/><repeat count='2'><point "
              "name='p{i}'/></repeat>"
              "</extend>") == SR_OK);
  ENSURE_TEXT(text_of(SR_ELEMENT_JOINT, 0, "q"), "2*m");
  ENSURE_TEXT(text_of(SR_ELEMENT_JOINT, 0, "type"), "revolute");
  ENSURE_TEXT(text_of(SR_ELEMENT_JOINT, 0, "damping"), "3");
  ENSURE_TEXT(text_of(SR_ELEMENT_INERTIAL, 0, "mass"), "m");  // it had none: this is its own
  ENSURE(srs_count(spec, SR_ELEMENT_JOINT) == 1 && srs_count(spec, SR_ELEMENT_POINT) == 2);
  ENSURE(srs_owner(spec, SR_ELEMENT_POINT, 1) == 0);
  done();
}

TEST(wrong_extensions_are_refused) {
  ENSURE(refused("<body name='upper'/><extend body='uper'/>",
                 "m:2:35: error: no body 'uper' is defined before this <extend>; did "
                 "you mean 'upper'?"));
  ENSURE(refused("<extend body='a'/><body name='a'/>", "no body 'a' is defined before"));
  ENSURE(refused("<extend/>", "<extend> needs the attribute 'body'"));
  ENSURE(refused("<body name='a'><extend body='a'/></body>", "<extend> belongs inside <sarrus>"));
  ENSURE(
      refused("<body name='a'/><extend body='a'><run/></extend>", "<run> belongs inside <sarrus>, not inside <body>"));
  ENSURE(refused("<body name='a'/><extend body='a'><joint q='1'/></extend>", "<joint> needs the attribute 'type'"));
  ENSURE(refused("<body name='a'><joint type='ball'/></body><extend body='a'><joint kind='ball'/></extend>",
                 "unknown attribute 'kind' of <joint>"));
}

TEST(robots_of_other_languages_are_included) {
  srModel* m = NULL;
  srMessages* messages = sr_messages_create();
  ENSURE(load_path(SARRUS_SOURCE_DIR "/tests/io/cell.xml") == SR_OK);
  ENSURE(sr_compile(spec, messages, &m) == SR_OK);
  ENSURE_TEXT(m->name, "cell");
  ENSURE_EQUAL(m->nv, 8);
  ENSURE_TEXT(m->joint_name[0], "root");
  ENSURE(sr_joint_find(m, "shoulder") == 1 && sr_joint_find(m, "x") == 2);
  ENSURE(m->gravity[2] == -1 && m->q0[7] == 0.5 && m->joint_armature[6] == 0.125);
  ENSURE(m->body_mass[sr_body_find(m, "base")] == 5 && m->body_mass[sr_body_find(m, "block")] == 3);
  sr_model_destroy(m);
  sr_messages_destroy(messages);
  done();
  const srSetting setting = {"ctrl_push", "4"};
  ENSURE(sr_load(SARRUS_SOURCE_DIR "/tests/io/cell.xml", &(srLoadOptions){.settings = &setting, .nsetting = 1}, NULL,
                 &spec) == SR_OK);
  done();
  ENSURE(sr_load(SARRUS_SOURCE_DIR "/tests/io/cell.xml", &(srLoadOptions){.base = "floating"}, NULL, &spec) ==
         SR_INPUT);
}

TEST(files_stay_inside_the_folder_of_the_model) {
  ENSURE(refused("<include file='../x.xml'/>", "m:2:16: error: '../x.xml' leaves the folder of the model"));
  ENSURE(refused("<include file='a/../../x.xml'/>", "leaves the folder of the model"));
  ENSURE(refused("<include file='/etc/passwd'/>", "'/etc/passwd' is an absolute path"));
  ENSURE(refused("<include file='C:\\x'/>", "holds \\ or :"));
  ENSURE(refused("<plugin library='../evil'/>", "leaves the folder of the model"));
  ENSURE(refused("<include file='x.xml'/>", "the model comes from memory"));
  ENSURE(refused("<motion name='m' type='cubic' file='x.csv'/>", "the model comes from memory"));

  static const char folder[] = SARRUS_BINARY_DIR "/io-links";
  mkdir(folder, 0777);
  unlink(SARRUS_BINARY_DIR "/io-links/out.xml");
  ENSURE(symlink(WALKER, SARRUS_BINARY_DIR "/io-links/out.xml") == 0);
  srMessages* messages = sr_messages_create();
  static const char text[] = "<sarrus version='1'><include file='out.xml'/><include file='none.xml'/></sarrus>";
  ENSURE(sr_load_text(text, strlen(text), "m", folder, NULL, messages, &spec) == SR_INPUT);
  keep_messages(messages);
  ENSURE(strstr(first, "m:1:36: error: the file 'out.xml' is a link that leads out of the folder of the model"));
  ENSURE(strstr(first, "m:1:61: error: the file 'none.xml' cannot be read: No such file"));
  sr_messages_destroy(messages);
}

TEST(includes_in_a_circle_are_refused) {
  ENSURE(load_path(SARRUS_SOURCE_DIR "/tests/io/loop_a.xml") == SR_INPUT);
  ENSURE(strstr(first, "tests/io/loop_b.xml:2:18: error: 'loop_a.xml' includes itself"));
}

TEST(a_model_file_that_is_not_there_is_an_io_error) {
  ENSURE(load_path("/no/such/file.xml") == SR_IO && spec == NULL);
  ENSURE(strstr(first, "/no/such/file.xml: error: cannot be read: No such file"));
  ENSURE(load_path(SARRUS_SOURCE_DIR) == SR_IO);
}

static bool parse_csv(const char* text, srTable* table, srPool* pool) {
  srMessages* messages = sr_messages_create();
  const bool good = sr_csv_parse(pool, text, strlen(text), "t", messages, table);
  keep_messages(messages);
  sr_messages_destroy(messages);
  return good;
}

TEST(tables_of_numbers_are_read_and_wrong_ones_refused) {
  srPool pool;
  srTable t;
  sr_pool_init(&pool);
  ENSURE(parse_csv("# hi\nx, y\n1,2\r\n-3.5e1, +.5\n\n", &t, &pool) && t.nrow == 2 && t.ncolumn == 2);
  ENSURE(t.values[2] == -35 && t.values[3] == 0.5);
  ENSURE(parse_csv("1 2 3", &t, &pool) && t.nrow == 1 && t.ncolumn == 3);
  ENSURE(!parse_csv("", &t, &pool) && strstr(first, "t: error: holds no row of numbers"));
  ENSURE(!parse_csv("1,2\n3,x\n4,\n1e999,2\n", &t, &pool));
  ENSURE(strstr(first, "t:2:3: error: expected a number, found 'x'") &&
         strstr(first, "t:3:3: error: expected a number"));
  ENSURE(strstr(first, "t:4:1: error"));
  ENSURE(!parse_csv("1,2\n3\n", &t, &pool) && strstr(first, "t:2:1: error: 1 values; the lines before have 2"));
  ENSURE(!parse_csv("1,2a\n3,4", &t, &pool) && strstr(first, "found '2a'"));
  ENSURE(!parse_csv("O.1,2\n3,4", &t, &pool) && strstr(first, "t:1:1: error: expected a number, found 'O.1'"));
  ENSURE(parse_csv("\xef\xbb\xbf"
                   "1,2\n3,4",
                   &t, &pool) &&
         t.nrow == 2 && t.values[0] == 1);
  sr_pool_free(&pool);
}

TEST(a_motion_takes_points_or_a_file) {
  srMessages* messages = sr_messages_create();
  static const char text[] =
      "<sarrus version='1'><motion name='a' type='cubic' points='0 0 1 1' file='parts/gait.csv'/>\n"
      "<motion name='b' type='cubic' file='parts/gait.csv' column='3'/></sarrus>";
  ENSURE(sr_load_text(text, strlen(text), "m", SARRUS_SOURCE_DIR "/tests/io", NULL, messages, &spec) == SR_INPUT);
  keep_messages(messages);
  ENSURE(strstr(first, "m:1:59: error: a <motion> has 'points' or 'file', not both"));
  ENSURE(strstr(first, "m:2:61: error: column of <motion> is 3; it must be a whole number from 1 to 2"));
  sr_messages_destroy(messages);
}

// ----------------------------------------------------------------------------------------------------------- writer
// Numbers that a reader of another language made are text when they come back.
static bool same_numbers(const srAttr* a, const char* text) {
  for (int i = 0; i < a->n; i++) {
    char* end;
    if (strtod(text, &end) != (a->numbers ? a->numbers[i] : a->number) || end == text) return false;
    text = end;
  }
  return text[strspn(text, " ")] == '\0';
}

static bool same_attribute(const srAttr* a, const srAttr* b) {
  if (!a->text && a->n > 0 && b->text) return same_numbers(a, b->text);
  if (!a->text != !b->text || (a->text && strcmp(a->text, b->text) != 0)) return false;
  if (a->n != b->n) return false;
  for (int i = 0; i < a->n && a->numbers; i++)
    if (a->numbers[i] != b->numbers[i]) return false;
  return true;
}

// Elements of one owner keep their order; the ground may have stood anywhere. The element of b that belongs to i of a.
static int counterpart(const srSpec* a, const srSpec* b, srElementKind kind, int i) {
  int rank = 0;
  for (int k = 0; k < i; k++) rank += srs_owner(a, kind, k) == srs_owner(a, kind, i);
  for (int k = 0; k < srs_count(b, kind); k++)
    if (srs_owner(b, kind, k) == srs_owner(a, kind, i) && rank-- == 0) return k;
  return -1;
}

static bool same_spec(const srSpec* a, const srSpec* b) {
  for (int k = 0; k < SR_ELEMENT_KINDS; k++) {
    const srElementKind kind = (srElementKind)k;
    if (srs_count(a, kind) != srs_count(b, kind)) return false;
    for (int i = 0; i < srs_count(a, kind); i++) {
      const int j = counterpart(a, b, kind, i);
      if (j < 0) return false;
      for (int f = 0; f < srs_element(kind)->nfield; f++)
        if (!same_attribute(&sr_spec_attributes(a, kind, i)[f], &sr_spec_attributes(b, kind, j)[f])) return false;
    }
  }
  return true;
}

static void ensure_round_trip(const char* path) {
  srSpec* again;
  const bool read = load_path(path) == SR_OK;
  if (!read) fprintf(stderr, "%s", first);
  ENSURE(read);
  size_t size;
  char* text = sr_save_text(spec, &size);
  ENSURE(text && strlen(text) == size);
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_load_text(text, size, "saved", srs_folder(spec), NULL, messages, &again);
  keep_messages(messages);
  sr_messages_destroy(messages);
  const bool same = status == SR_OK && same_spec(spec, again);
  if (!same) fprintf(stderr, "%s does not come back: %s\n", path, first);
  sr_free_text(text);
  srs_destroy(again);
  done();
  ENSURE(same);
}

static void round_trip_folder(const char* folder) {
  DIR* dir = opendir(folder);
  for (struct dirent* entry; dir && (entry = readdir(dir));) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    const size_t n = strlen(path);
    if (entry->d_name[0] == '.') continue;
    if (sr_is_network(path)) continue;  // which no spec holds
    if (n > 5 && (strcmp(path + n - 4, ".xml") == 0 || strcmp(path + n - 5, ".urdf") == 0)) ensure_round_trip(path);
    if (!strchr(entry->d_name, '.')) round_trip_folder(path);
  }
  if (dir) closedir(dir);
}

TEST(reading_writing_and_reading_gives_the_same_model) {
  ensure_round_trip(WALKER);
  round_trip_folder(SARRUS_SOURCE_DIR "/models");
}

TEST(numbers_and_odd_texts_of_c_code_survive_writing) {
  const double axis[] = {0.1, -1e-300, 1.0 / 3};
  spec = srs_create();
  srs_add_body(spec, SR_NO_OWNER, &(srBodyDef){.name = sr_text("a\"<&>\t\xc3\xa4'")});
  srs_add_joint(spec, 0, &(srJointDef){.type = sr_text("revolute"), .axis = sr_numbers(axis, 3), .q = sr_number(2)});
  srs_add_point(spec, SR_GROUND, &(srPointDef){.name = sr_text("hook")});
  char* text = sr_save_text(spec, NULL);
  ENSURE_TEXT(text,
              "<sarrus version=\"1\">\n  <ground>\n    <point name=\"hook\"/>\n  </ground>\n"
              "  <body name=\"a&quot;&lt;&amp;&gt;&#9;\xc3\xa4'\">\n"
              "    <joint type=\"revolute\" axis=\"0.1 -1e-300 0.3333333333333333\" q=\"2\"/>\n  </body>\n</sarrus>\n");
  sr_free_text(text);
  done();
}

TEST(a_model_saved_elsewhere_carries_its_points) {
  static const char path[] = SARRUS_BINARY_DIR "/io-saved.xml";
  ENSURE(load_path(WALKER) == SR_OK);
  ENSURE(sr_save(spec, path, NULL) == SR_OK);
  done();
  ENSURE(load_path(path) == SR_OK);
  ENSURE(text_of(SR_ELEMENT_MOTION, 0, "file") == NULL);
  ENSURE_TEXT(text_of(SR_ELEMENT_MOTION, 0, "points"), "0 1.5 1 -0.25 2 1");
  ENSURE(sr_save(spec, "/dev/null/x.xml", NULL) == SR_IO);
  done();
}

// -------------------------------------------------------------------------------------------------------------- CSV
static char* file_text(const char* path) {
  static char text[4096];
  FILE* file = fopen(path, "rb");
  const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
  text[n] = '\0';
  if (file) fclose(file);
  return text;
}

TEST(result_tables_have_provenance_header_and_17_digits) {
  static const char path[] = SARRUS_BINARY_DIR "/io-table.csv";
  const char* names[] = {"t", "q(\"a,b\")", "plain"};
  const char* units[] = {"s", "rad", ""};
  srCsv* csv;
  ENSURE(sr_csv_create(path, "sarrus 0.1\nmodel x", 3, names, units, NULL, &csv) == SR_OK);
  ENSURE(sr_csv_row(csv, (double[]){0.1, -1e-300, 1e22}) == SR_OK);
  ENSURE(sr_csv_row(csv, (double[]){(double)NAN, -(double)INFINITY, 2}) == SR_OK);
  ENSURE(sr_csv_close(csv, NULL) == SR_OK);
  ENSURE_TEXT(file_text(path),
              "# sarrus 0.1 model x\nt [s],\"q(\"\"a,b\"\") [rad]\",plain\n"
              "0.10000000000000001,-1e-300,1e+22\nnan,-inf,2\n");
  srMessages* messages = sr_messages_create();
  ENSURE(sr_csv_create("/dev/null/t.csv", NULL, 3, names, units, messages, &csv) == SR_IO && !csv);
  ENSURE_EQUAL(sr_messages_errors(messages), 1);
  sr_messages_destroy(messages);
}

TEST(names_of_columns_survive_csv_and_back) {
  static const char path[] = SARRUS_BINARY_DIR "/io-names.csv";
  const char* names[] = {"a;b", "say \"x\"", "two\nlines", "# first", "f(x)", " blanks", "c,d\te", "x [y]"};
  const char* units[] = {"m", "", "", "s", "", "rad", "a;b", ""};
  enum { N = SR_COUNT(names) };
  srCsv* csv;
  srResultTable* table = NULL;
  for (int skip = 0; skip < 4; skip++) {  // each of some is the first in the line once
    ENSURE(sr_csv_create(path, "sarrus", N - skip, names + skip, units + skip, NULL, &csv) == SR_OK);
    sr_csv_row(csv, (double[N]){1, 2, 3, 4, 5, 6, 7, 8});
    ENSURE(sr_csv_close(csv, NULL) == SR_OK);
    ENSURE(sr_csv_read(path, NULL, &table) == SR_OK);
    ENSURE_EQUAL(table->ncolumn, N - skip);
    ENSURE_EQUAL(table->nrow, 1);
    for (int i = 0; i < N - skip; i++) ENSURE_TEXT(table->names[i], names[skip + i]);
    for (int i = 0; i < N - skip; i++) ENSURE_TEXT(table->units[i], units[skip + i]);
    ENSURE(table->columns[N - skip - 1][0] == N - skip);
    sr_table_destroy(table);
  }
}

TEST(a_full_disk_is_reported) {
  if (access("/dev/full", W_OK) != 0) SKIP("needs /dev/full");
  const char* names[] = {"t"};
  srCsv* csv;
  ENSURE(sr_csv_create("/dev/full", "x", 1, names, NULL, NULL, &csv) == SR_OK);
  sr_csv_row(csv, (double[]){1});
  ENSURE(sr_csv_close(csv, NULL) == SR_FAILED);
}

TEST(numbers_do_not_follow_the_locale) {
  static const char* const locales[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "de_DE.utf8"};
  static const char path[] = SARRUS_BINARY_DIR "/io-locale.csv";
  const char* names[] = {"t"};
  for (int i = 0; i < SR_COUNT(locales) && !setlocale(LC_NUMERIC, locales[i]); i++) continue;
  srCsv* csv;
  srPool pool;
  srTable table;
  sr_pool_init(&pool);
  ENSURE(sr_csv_create(path, NULL, 1, names, NULL, NULL, &csv) == SR_OK);
  sr_csv_row(csv, (double[]){1.5}), sr_csv_close(csv, NULL);
  const bool read = parse_csv("1.5,2", &table, &pool) && table.values[0] == 1.5;
  setlocale(LC_NUMERIC, "C");
  ENSURE(read);
  ENSURE_TEXT(file_text(path), "t\n1.5\n");
  sr_pool_free(&pool);
}

// ------------------------------------------------------------------------------------------------------ running out
TEST(a_reader_that_runs_out_of_memory_reports_it_and_leaks_nothing) {
  bool finished = false;
  sr_set_allocator(scarce, NULL);
  scarce_live = 0;
  for (int limit = 0; limit < 20000 && !finished; limit += limit < 200 ? 1 : 37) {
    scarce_left = limit;
    const srStatus status = sr_load(WALKER, NULL, NULL, &spec);
    char* text = status == SR_OK ? sr_save_text(spec, NULL) : NULL;
    finished = text != NULL;
    ENSURE(status == SR_OK || status == SR_MEMORY);
    sr_free_text(text);
    done();
    ENSURE_EQUAL(scarce_live, 0);
  }
  sr_set_allocator(NULL, NULL);
  ENSURE(finished);
}
