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
  for (int i = 0; i < 2000; i++) {
    sr_text_print(&text, "%d", i % 10);
    sr_text_add(&text, ",", 1);
    ENSURE(text.n < text.capacity);  // the zero behind it too
  }
  ENSURE(text.n == 4000 && strlen(text.data) == 4000 && !text.failed);
  ENSURE(memcmp(text.data + 3990, "5,6,7,8,9,", 10) == 0);
  sr_text_free(&text);
  ENSURE(text.n == 0 && text.data == NULL);
  sr_text_add(&text, "ab", 1);
  ENSURE_TEXT(text.data, "a");
  sr_text_free(&text);
}

TEST(a_text_that_runs_out_of_memory_reports_it_and_stays_cut) {
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
  sr_json_text(&json, "a \"b\"\\", "line\nend\x01\x1f \xc3\xa9 \xff");
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
    "{\n  \"a \\\"b\\\"\\\\\": \"line\\nend\\u0001\\u001f \xc3\xa9 \\ufffd\",\n"
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
  x.d->tau[0] = 0.5;
  ENSURE_EQUAL(sr_evaluation_create(x.m, x.d, true, messages, &e), SR_OK);
  ENSURE(e->bare && e->ng == 0 && !e->has_reactions);
  ENSURE_NEAR(e->kinetic, m * l * l * rate * rate / 2, 1e-14);
  ENSURE_NEAR(e->potential, -m * g * l * cos(theta), 1e-14);
  ENSURE_NEAR(x.d->a[0], -g / l * sin(theta) + 0.5 / (m * l * l), 1e-13);
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

TEST(the_report_of_a_check_counts_drivers_apart) {
  static const char text[] =
      "<sarrus version='1'><body name='a'><joint name='x' type='prismatic'/><inertial mass='1'/></body><body name='b'>"
      "<joint name='y' type='prismatic'/><inertial mass='1'/></body><driver joint='x' motion='sin(t)'/></sarrus>";
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srCheck* check = NULL;
  srText json = {0};
  ENSURE_EQUAL(sr_load_text(text, strlen(text), "test", NULL, NULL, messages, &spec), SR_OK);
  Loaded x = open_text(text);
  ENSURE_EQUAL(sr_check_create(spec, x.m, x.d, SR_FORMULATION_RELATIVE, messages, &check), SR_OK);
  sr_report_check(check, messages, SR_REPORT_JSON, &json);
  ENSURE(number_of(json.data, "nconstraint", 0) == 0 && number_of(json.data, "rank", 0) == 0);
  ENSURE(number_of(json.data, "driven", 0) == 1 && number_of(json.data, "dof", 0) == 1);
  sr_text_free(&json);
  sr_check_destroy(check);
  close_model(&x);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

// What the energy balance misses is warned of once, and an option without effect by its name.
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
  ENSURE(strstr(sr_messages_get(messages, 1)->text, "the energy balance misses") &&
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
// Each function, with the k-th request for memory failing: a status, or a text that is marked as cut; and nothing is left behind.
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

// --------------------------------------------------------------------------------------------------------- comparison
// Two runs of a pendulum compared with a given reference: at rest at 1 rad, one run 1e-3 rad off at one sample and one 1e-5. The
// scale of angles is 1 rad at least, so these are the errors; at rtol 1e-6 up to 1e-4 counts as solved.
enum { SAMPLES = 5 };

static srTrajectory* resting(const srModel* m, double off) {
  srTrajectory* x = sr_trajectory_create(m, SAMPLES);
  const int width = sr_trajectory_width(x);
  for (int k = 0; k < SAMPLES; k++) {
    x->sample[k * width] = 0.25 * k;
    x->sample[k * width + 1] = 1 + (k == 2 ? off : 0);
  }
  x->filled = SAMPLES;
  return x;
}

static void fill_run(srComparedRun* run, const srModel* m, double off, long evaluations) {
  run->record =
      (srTrialRecord){.done = true, .t = 1, .seconds = 0.5, .timed = 1, .steps = 7, .evaluations = evaluations};
  run->samples = resting(m, off);
}

static srComparison comparison_of(Loaded* x, srComparedModel* model, const double* rtol) {
  *model = (srComparedModel){.m = x->m, .joints = x->m, .start = x->d, .file = "F.xml", .samples = SAMPLES};
  snprintf(model->name, sizeof model->name, "first");
  snprintf(model->reference_of[0], sizeof model->reference_of[0], "a file");
  model->options = sr_run_options(x->m);
  model->options.t_end = 1;
  model->reference = resting(x->m, 0);
  model->reference_error.state = model->reference_error.q = model->reference_error.v = (double)NAN;
  srComparison c = {.model = model, .nmodel = 1, .nmethod = 2, .rtol = rtol, .nrtol = 1, .accept = 100};
  for (int i = 0; i < sri_method_count(); i++) {
    if (strcmp(sri_method(i)->name, "dopri5") == 0) c.method[0] = i;
    if (strcmp(sri_method(i)->name, "radau5") == 0) c.method[1] = i;
  }
  c.reference_given = c.by_evaluations = true;
  c.reference_method = -1;
  c.jobs = 3;
  return c;
}

TEST(a_comparison_is_judged_and_reported_by_the_library) {
  static const double rtol = 1e-6;
  Loaded x = open_model("pendulum", "");
  srComparedModel model;
  srComparison c = comparison_of(&x, &model, &rtol);
  srComparedRun* none = NULL;
  int n = -1;
  ENSURE_EQUAL(sr_comparison_references(&c, &none, &n), SR_OK);
  ENSURE(none == NULL && n == 0);  // the reference is given
  ENSURE_EQUAL(sr_comparison_list(&c), SR_OK);
  ENSURE(c.nrun == 2 && c.run[0].rtol == rtol && c.run[1].method == c.method[1]);
  fill_run(&c.run[0], x.m, 1e-3, 100);
  fill_run(&c.run[1], x.m, 1e-5, 400);
  ENSURE_EQUAL(sr_comparison_judge(&c), SR_OK);
  ENSURE_NEAR(c.run[0].error.q, 1e-3, 1e-15);
  ENSURE_NEAR(c.run[1].error.state, 1e-5, 1e-15);
  ENSURE(!c.run[0].solved && c.run[1].solved && c.nproblem == 1 && isinf(c.ratio[0]) && c.ratio[1] == 1);
  srText json = {0}, table = {0}, csv = {0};
  sr_report_comparison(&c, NULL, SR_REPORT_JSON, &json);
  sr_report_comparison(&c, NULL, SR_REPORT_TEXT, &table);
  sr_report_comparison_csv(&c, &csv);
  ENSURE(number_of(json.data, "jobs", 0) == 3 && number_of(json.data, "problems", 0) == 1);
  ENSURE(strstr(json.data, "\"solved\": false, \"reason\": null") && strstr(json.data, "\"radau5\": [1]"));
  ENSURE(strstr(table.data, " *\nerrors") == NULL &&
         strstr(table.data, "* not solved: the error of q or y is above 100"));
  ENSURE(strstr(table.data, "first (F.xml), 1 s, relative coordinates\n") &&
         strstr(csv.data, "\n\"pendulum\",\"F.xml\",dopri5,"));
  sr_text_free(&json), sr_text_free(&table), sr_text_free(&csv);
  sr_comparison_clear(&c);
  ENSURE(c.run == NULL && model.reference == NULL);
  close_model(&x);
}

TEST(a_comparison_survives_the_lack_of_memory) {
  static const double rtol = 1e-6;
  Loaded x = open_model("pendulum", "");
  srStatus status = SR_MEMORY;
  for (int k = 0; status != SR_OK; k++) {
    ENSURE(k < 100);
    srComparedModel model;
    srComparison c = comparison_of(&x, &model, &rtol);
    sr_trajectory_destroy(model.reference);
    model.reference = NULL;
    c.reference_given = false;
    srComparedRun* references = NULL;
    int n = 0;
    sr_set_allocator(scarce, NULL);
    scarce_live = 0;
    scarce_left = k;
    status = sr_comparison_list(&c);
    if (status == SR_OK) status = sr_comparison_references(&c, &references, &n);
    if (status == SR_OK) status = sr_comparison_judge(&c);
    sr_compared_runs_destroy(references, n);
    sr_comparison_clear(&c);
    sr_set_allocator(NULL, NULL);
    ENSURE_EQUAL(scarce_live, 0);
  }
  close_model(&x);
}

// ------------------------------------------------------------------------------------------------------ stored results
// x = t^3 + 1 at whole seconds, which the cubic between them meets exactly, compared with rows at other times, of which one is 0.5 off and one is
// outside.
TEST(stored_results_are_compared_at_the_times_of_the_second) {
  double t1[] = {0, 1, 2, 3, 4}, x1[] = {1, 2, 9, 28, 65}, t2[] = {0.5, 2, 3.5, 9}, x2[] = {1.125, 9.5, 43.875, 0};
  const char *names1[] = {"t", "x", "more"}, *units1[] = {"s", "m", ""}, *names2[] = {"t", "x"}, *units2[] = {"s", "m"};
  double *columns1[] = {t1, x1, x1}, *columns2[] = {t2, x2};
  const srResultTable first = {3, 5, names1, units1, columns1}, second = {2, 4, names2, units2, columns2};
  srMessages* messages = sr_messages_create();
  srTableDifference* d = NULL;
  srText json = {0}, table = {0};
  ENSURE_EQUAL(sr_table_difference_create(&first, "a.csv", &second, "b.csv", messages, &d), SR_OK);
  ENSURE(d->nrow == 3 && d->between == 2 && d->outside == 1 && d->missing[1] == 1 && d->missing[0] == 0 &&
         d->ncolumn == 1);
  ENSURE_NEAR(d->column[0].most, 0.5, 1e-13);
  ENSURE(d->column[0].at == 2 && d->column[0].range == 64);
  ENSURE_NEAR(d->column[0].rms, 0.5 / sqrt(3), 1e-13);
  sr_report_table_differences("a.csv", (const srTableDifference* const*)&d, 1, SR_REPORT_JSON, &json);
  sr_report_table_differences("a.csv", (const srTableDifference* const*)&d, 1, SR_REPORT_TEXT, &table);
  ENSURE(strstr(json.data, "\"file\": \"b.csv\", \"rows\": 3, \"interpolated\": 2, \"outside\": 1, \"missing\": 1,"));
  ENSURE(strstr(table.data, "b.csv against a.csv: 3 rows\n") == table.data);
  sr_text_free(&json), sr_text_free(&table);
  sr_table_difference_destroy(d);
  units2[1] = "mm";
  ENSURE_EQUAL(sr_table_difference_create(&first, "a.csv", &second, "b.csv", messages, &d), SR_INPUT);
  ENSURE(d == NULL && strstr(sr_messages_get(messages, 0)->text, "column x is in m in a.csv, and in mm in b.csv"));
  units2[1] = "m";
  t2[2] = 2;
  ENSURE_EQUAL(sr_table_difference_create(&first, "a.csv", &second, "b.csv", messages, &d), SR_INPUT);
  ENSURE(strstr(sr_messages_get(messages, 1)->text, "b.csv: the time of row 3, 2 s, is not after"));
  sr_messages_destroy(messages);
}

// ----------------------------------------------------------------------------------------------------- what they add up to
// Energy in the report of a run: what has changed is the work of all accounts less the dissipation, but for the residual.
TEST(the_energies_of_a_report_add_up) {
  static const char* const models[] = {"contact/block-on-slope", "dc-motor", "contact/bouncing-ball"};
  static const char* const accounts[] = {"applied", "torque", "link", "force", "user", "driver"};
  for (int k = 0; k < 3; k++) {
    Loaded x = open_model(models[k], "");
    srRunOptions o = sr_run_options(x.m);
    o.t_end = 1;
    srText json = {0};
    (void)sr_run(x.m, x.d, &o, NULL, &x.result);
    const srRunReport report = {
        .m = x.m, .d = x.d, .options = &o, .result = &x.result, .file = "", .contact = "continuous"};
    sr_report_run(&report, SR_REPORT_JSON, &json);
    const char* energy = strstr(json.data, "\"energy\": {");
    double work = 0;
    for (int i = 0; i < 6; i++) {
      char key[32];
      snprintf(key, sizeof key, "\"%s\": ", accounts[i]);
      if (strstr(energy, key)) work += number_of(energy, accounts[i], 0);
    }
    const double change = number_of(energy, "kinetic", 0) + number_of(energy, "potential", 0) -
                          number_of(energy, "kinetic0", 0) - number_of(energy, "potential0", 0);
    const double dissipation = number_of(energy, "dissipated", 0);
    ENSURE(dissipation > 0 && number_of(energy, "friction", 0) >= 0 && number_of(energy, "contact", 0) >= 0);
    ENSURE_NEAR(change, work - dissipation + number_of(energy, "residual", 0), 1e-12 * number_of(energy, "scale", 0));
    sr_text_free(&json);
    close_model(&x);
  }
}

// Six equations of two chains that close a loop, yet one degree of freedom: one equation of the linkage is redundant.
TEST(the_report_of_a_check_lists_the_redundant_constraints) {
  srMessages* messages = sr_messages_create();
  srSpec* spec = NULL;
  srModel* m = NULL;
  srData* d = NULL;
  srCheck* check = NULL;
  srText json = {0};
  ENSURE_EQUAL(open_spec("mechanisms/sarrus-linkage", messages, &spec, &m, &d), SR_OK);
  ENSURE_EQUAL(sr_check_create(spec, m, d, SR_FORMULATION_RELATIVE, messages, &check), SR_OK);
  sr_report_check(check, messages, SR_REPORT_JSON, &json);
  int listed = 0;
  for (const char* p = strstr(json.data, "\"redundant\": ["); (p = strstr(p, "{\"row\": \"")) != NULL; p++) listed++;
  ENSURE_EQUAL((int)number_of(json.data, "dof", 0), 1);
  ENSURE(listed >= 1);
  ENSURE_EQUAL(listed, (int)(number_of(json.data, "nconstraint", 0) - number_of(json.data, "rank", 0)));
  sr_text_free(&json);
  sr_check_destroy(check);
  sr_data_destroy(d);
  sr_model_destroy(m);
  srs_destroy(spec);
  sr_messages_destroy(messages);
}

TEST(the_change_of_an_assembly_is_reported_by_coordinate) {
  Loaded x = open_model("mechanisms/four-bar", "");
  srAssemblyChange* change = NULL;
  srText json = {0};
  double before[8];
  x.d->q[1] += 0.05;  // off the loop
  memcpy(before, x.d->q, (size_t)x.m->nq * sizeof *before);
  ENSURE_EQUAL(sr_assembly_change_create(x.m, x.d, NULL, &change), SR_OK);
  int moved = 0, listed = 0;
  for (int i = 0; i < x.m->nq; i++) {
    ENSURE_NEAR(change->q[i], x.d->q[i] - before[i], 1e-15);
    moved += fabs(change->q[i]) > 1e-9;
  }
  sr_report_assembly(x.m, change, &json);
  for (const char* p = json.data; (p = strstr(p, "{\"q\": \"")) != NULL; p++) listed++;
  ENSURE(moved > 0 && change->constrained);
  ENSURE_EQUAL(listed, moved);
  sr_text_free(&json);
  sr_assembly_change_destroy(change);
  close_model(&x);
}

// The command that is recommended is one that a shell takes as it was meant.
TEST(a_recommendation_has_a_command_that_a_shell_reads) {
  Loaded x = open_model("pendulum", "");
  srComparedModel model = {
      .m = x.m, .joints = x.m, .start = x.d, .file = "it's mine.xml", .options = sr_run_options(x.m)};
  srComparedRun run = {.record = {.done = true}};
  const srComparison trials = {.model = &model, .nmodel = 1, .run = &run, .nrun = 1};
  srMethodTrial trial = {.rtol = 1e-6, .atol = 1e-8, .step = (double)NAN, .done = true, .error = 2e-7};
  for (int i = 0; i < sri_method_count(); i++)
    if (strcmp(sri_method(i)->name, "dopri5") == 0) trial.method = i;
  const srAdvice advice = {.trial = 0, .accurate = true, .nreason = 1, .reason = {"because"}, .alternative = -1};
  const srSetting settings[] = {{"l", "2*pi"}, {"m", "3"}};
  const srSurvey survey = {.pilot = "dopri5", .guide = "radau5"};
  const srRecommendation r = {.trials = &trials,
                              .survey = &survey,
                              .trial = &trial,
                              .advice = &advice,
                              .settings = settings,
                              .nsetting = 2,
                              .formulation = "absolute",
                              .t_end = 2.5};
  srText json = {0}, table = {0};
  sr_report_recommendation(&r, SR_REPORT_JSON, &json);
  sr_report_recommendation(&r, SR_REPORT_TEXT, &table);
  ENSURE(
      strstr(table.data,
             "\ntake dopri5\n  - because\n  sarrus run 'it'\\''s mine.xml' --method dopri5 --rtol 1e-06 --atol 1e-08 "
             "--t-end 2.5 --formulation absolute --set 'l=2*pi' --set m=3\n"));
  ENSURE(strstr(json.data, "\"command\": \"sarrus run 'it'\\\\''s mine.xml' --method dopri5 ") &&
         strstr(json.data, "\"alternative\": null"));
  ENSURE_NEAR(number_of(strstr(json.data, "\"trials\""), "error", 0), 2e-7, 1e-20);
  sr_text_free(&json), sr_text_free(&table);
  close_model(&x);
}
