// Tests of src/report and of what it writes with: growing texts and JSON (text.h).
#include <locale.h>
#include <math.h>
#include <sarrus/sarrus.h>
#include <stdlib.h>
#include <string.h>

#include "loading.h"
#include "scarce.h"

// -------------------------------------------------------------------------------------------------------------- texts
TEST(a_text_grows_and_can_be_used_again) {
  srText text = {0};
  for (int i = 0; i < 2000; i++) sr_text_print(&text, "%d,", i % 10);
  ENSURE(text.n == 4000 && strlen(text.data) == 4000 && !text.failed);
  ENSURE(memcmp(text.data + 3990, "5,6,7,8,9,", 10) == 0);
  sr_text_free(&text);
  ENSURE(text.n == 0 && text.data == NULL);
  sr_text_add(&text, "ab", 1);
  ENSURE_TEXT(text.data, "a");
  sr_text_free(&text);
}

TEST(a_text_that_runs_out_of_memory_says_so_and_stays_cut) {
  srText text = {0};
  sr_set_allocator(scarce, NULL);
  scarce_live = 0;
  scarce_left = 1;
  for (int i = 0; i < 5000; i++) sr_text_print(&text, "%d", i % 10);
  const size_t n = text.n;
  scarce_left = 100;
  sr_text_add(&text, "more", 4);  // there is memory again, but the text has a hole
  ENSURE(text.failed && text.n == n && n > 0 && n < 5000);
  sr_text_free(&text);
  sr_set_allocator(NULL, NULL);
  ENSURE_EQUAL(scarce_live, 0);
}

static void write_json(srText* text) {
  srJson json = sr_json_begin(text);
  sr_json_text(&json, "a \"b\"\\", "line\nend\x01 \xc3\xa9 \xff");
  sr_json_numbers(&json, "x", (const double[]){0.1, -0.0, 1e300, (double)NAN, (double)INFINITY}, 5);
  sr_json_matrix(&json, "M", (const double[]){1, 2, 3, 4}, 2, 2);
  sr_json_object(&json, "o");
  sr_json_bool(&json, "yes", true);
  sr_json_int(&json, "n", -5);
  sr_json_text(&json, "none", NULL);
  sr_json_array(&json, "empty");
  sr_json_array_end(&json);
  sr_json_object_end(&json);
  sr_json_end(&json);
}

static const char expected_json[] =
    "{\n  \"a \\\"b\\\"\\\\\": \"line\\nend\\u0001 \xc3\xa9 \\ufffd\",\n"
    "  \"x\": [0.10000000000000001, -0, 1.0000000000000001e+300, null, null],\n  \"M\": [[1, 2], [3, 4]],\n"
    "  \"o\": {\"yes\": true, \"n\": -5, \"none\": null, \"empty\": []}\n}\n";

TEST(json_is_that_of_rfc_8259_in_any_locale) {
  static const char* const locales[] = {"C", "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  for (int i = 0; i < 5; i++) {
    srText text = {0};
    setlocale(LC_NUMERIC, locales[i]);  // NULL where the machine does not have it: then C is tested again
    write_json(&text);
    setlocale(LC_NUMERIC, "C");
    ENSURE_TEXT(text.data, expected_json);
    sr_text_free(&text);
  }
}

TEST(messages_are_texts_with_their_place) {
  srMessages* messages = sr_messages_create();
  srText text = {0};
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){"a.xml", 3, 7}, "unknown word '%s'", "x");
  sr_messages_add(messages, SR_SEVERITY_WARNING, (srPlace){0}, "a warning");
  sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "no place");
  sr_report_errors(messages, &text);
  ENSURE_TEXT(text.data, "{\n  \"errors\": [\"a.xml:3:7: error: unknown word 'x'\", \"sarrus: error: no place\"]\n}\n");
  sr_text_free(&text);
  sr_messages_destroy(messages);
}

// ------------------------------------------------------------------------------------------------------------ reports
// Number number k (from 0) behind "key": in a JSON text.
static double number_of(const char* json, const char* key, int k) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  const char* p = strstr(json, quoted);
  ENSURE(p != NULL);
  p += strlen(quoted);
  for (; *p == '['; p++) continue;
  for (; k > 0; k--) p = strchr(p, ',') + 1;
  return strtod(p, NULL);
}

// A point mass m at the distance l in the angle theta from the vertical: M = m l^2, c = m g l sin(theta), a = -g/l sin(theta).
TEST(the_report_of_an_evaluation_has_the_numbers_of_a_pendulum) {
  const double m = 2, l = 0.5, theta = 0.75, rate = 3, g = 9.81;
  Loaded x = open_model("pendulum", "m=2 l=0.5 theta0=0.75");
  x.d->v[0] = rate;
  srMessages* messages = sr_messages_create();
  srEvaluation* e = NULL;
  srText json = {0}, table = {0};
  ENSURE_EQUAL(sr_evaluation_create(x.m, x.d, false, messages, &e), SR_OK);
  sr_report_evaluation(e, SR_REPORT_JSON, &json);
  sr_report_evaluation(e, SR_REPORT_TEXT, &table);
  ENSURE_NEAR(number_of(json.data, "M", 0), m * l * l, 1e-15);
  ENSURE_NEAR(number_of(json.data, "c", 0), m * g * l * sin(theta), 1e-14);
  ENSURE_NEAR(number_of(json.data, "a", 0), -g / l * sin(theta), 1e-14);
  ENSURE_NEAR(number_of(json.data, "kinetic", 0), m * l * l * rate * rate / 2, 1e-14);
  ENSURE_NEAR(number_of(json.data, "position", 0), -l * sin(theta), 1e-15);  // of the sensor
  ENSURE(strstr(table.data, "model pendulum at t = 0 s\n") == table.data && strstr(table.data, "\nmass matrix M\n"));
  sr_text_free(&json), sr_text_free(&table);
  sr_evaluation_destroy(e);
  sr_messages_destroy(messages);
  close_model(&x);
}

static srStatus open_spec(const char* file, srMessages* messages, srSpec** spec, srModel** m, srData** d) {
  char path[512];
  snprintf(path, sizeof path, "%s/models/%s.xml", SARRUS_SOURCE_DIR, file);
  srStatus status = sr_load(path, NULL, messages, spec);
  if (status == SR_OK) status = sr_compile(*spec, messages, m);
  if (status == SR_OK && !(*d = sr_data_create(*m))) status = SR_MEMORY;
  return status;
}

// Three rods in a plane, closed: one degree of freedom of three joints, and of twelve free bodies' coordinates.
TEST(the_report_of_a_check_counts_degrees_of_freedom_in_every_formulation) {
  for (int formulation = SR_FORMULATION_RELATIVE; formulation <= SR_FORMULATION_ABSOLUTE; formulation++) {
    srMessages* messages = sr_messages_create();
    srSpec* spec = NULL;
    srModel* m = NULL;
    srData* d = NULL;
    srCheck* check = NULL;
    srText json = {0}, table = {0};
    ENSURE_EQUAL(open_spec("mechanisms/four-bar", messages, &spec, &m, &d), SR_OK);
    ENSURE_EQUAL(sr_check_create(spec, m, d, (srFormulation)formulation, messages, &check), SR_OK);
    sr_report_check(check, messages, SR_REPORT_JSON, &json);
    sr_report_check(check, NULL, SR_REPORT_TEXT, &table);
    ENSURE(number_of(json.data, "dof", 0) == 1 && number_of(json.data, "nv", 0) == 3);
    ENSURE(strstr(json.data, sr_formulation_word((srFormulation)formulation)));
    ENSURE(number_of(json.data, "residual", 0) < 1e-9 && strstr(table.data, "\n  assembly "));
    sr_text_free(&json), sr_text_free(&table);
    sr_check_destroy(check);
    sr_data_destroy(d);
    sr_model_destroy(m);
    srs_destroy(spec);
    sr_messages_destroy(messages);
  }
}

// What a ledger misses is warned of once, and an option without effect by its name.
TEST(a_run_is_concluded_with_its_warnings_and_reported) {
  Loaded x = open_model("pendulum", "");
  srMessages* messages = sr_messages_create();
  srRunOptions o = sr_run_options(x.m);
  o.method = "euler";
  o.step = 0.05;
  o.t_end = 2;
  sr_warn_method_options(&o, &(srRunGiven){.rtol = true}, messages);
  ENSURE_EQUAL(sr_messages_count(messages), 1);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "--rtol and --atol are for adaptive methods; euler"));
  ENSURE_EQUAL(sr_run(x.m, x.d, &o, messages, &x.result), SR_OK);
  sr_run_conclude(x.m, x.d, &o, &x.result, messages);
  ENSURE_EQUAL(sr_messages_count(messages), 2);
  ENSURE(strstr(sr_messages_get(messages, 1)->text, "the energy ledger misses") &&
         strstr(sr_messages_get(messages, 1)->text, "a smaller step"));
  srText json = {0}, table = {0}, line = {0};
  const srRunReport report = {.m = x.m,
                              .d = x.d,
                              .options = &o,
                              .result = &x.result,
                              .file = "F",
                              .contact = "continuous",
                              .messages = messages};
  sr_report_run(&report, SR_REPORT_JSON, &json);
  sr_report_run(&report, SR_REPORT_TEXT, &table);
  sr_report_run_provenance(x.m, &o, "F", &(srSetting){"l", "1"}, 1, &line);
  ENSURE(number_of(json.data, "t", 0) == 2 && number_of(json.data, "steps", 0) == 40);
  ENSURE(number_of(json.data, "residual", 0) == x.result.energy.residual);
  ENSURE(strstr(json.data, "\"warnings\": [\"sarrus: warning: --rtol and --atol"));
  ENSURE(strstr(table.data, "model pendulum, F\n") == table.data && strstr(table.data, "euler, step 0.05 s\n"));
  ENSURE(strstr(line.data, "; model pendulum (F); euler; step 0.05 s; t-end 2 s, every ") &&
         strstr(line.data, "; set l=1"));
  sr_text_free(&json), sr_text_free(&table), sr_text_free(&line);
  sr_messages_destroy(messages);
  close_model(&x);
}

// ------------------------------------------------------------------------------------------------------------- memory
// Each function, with the k-th request for memory failing: a status, or a text that says it is cut; and nothing is left behind.
TEST(reports_survive_the_lack_of_memory) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  srData* d = NULL;
  ENSURE_EQUAL(open_spec("mechanisms/four-bar", messages, &spec, &m, &d), SR_OK);
  int whole = 0;
  sr_set_allocator(scarce, NULL);
  for (int k = 0; whole < 2; k++) {
    ENSURE(k < 10000);
    srCheck* check = NULL;
    srEvaluation* e = NULL;
    srText text = {0};
    scarce_live = 0;
    scarce_left = k;
    whole = 0;
    srStatus status = sr_check_create(spec, m, d, SR_FORMULATION_ABSOLUTE, NULL, &check);
    ENSURE(status == SR_OK || status == SR_MEMORY);
    ENSURE((status == SR_OK) == (check != NULL));
    if (check) sr_report_check(check, messages, SR_REPORT_JSON, &text);
    whole += check && !text.failed;
    status = sr_evaluation_create(m, d, false, NULL, &e);
    ENSURE(status != SR_OK || e != NULL);
    if (e) sr_report_evaluation(e, SR_REPORT_JSON, &text);
    whole += e && !text.failed;
    sr_text_free(&text);
    sr_evaluation_destroy(e);
    sr_check_destroy(check);
    ENSURE_EQUAL(scarce_live, 0);
  }
  sr_set_allocator(NULL, NULL);
  sr_data_destroy(d);
  sr_model_destroy(m);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}
