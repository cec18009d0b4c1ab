// sarrus batch: many copies of a model, stepped together by generated code.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"

typedef struct Batch {
  Cli* cli;
  Model m;
  double count, t_end, step, threads, seed;
  const char *method, *out;
  TextList random, record;
  srBatchOptions options;
  srBatch* batch;
  long steps;  // of a copy
  int failed;
  double seconds;
  char parameters[1000];  // names of --random p.NAME=..., with commas
} Batch;

static double now(void) {
  struct timespec t;
  (void)timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool whole(Cli* cli, const char* option, double given, double most, int* to) {
  double x = *to;
  if (!number_take(cli, option, given, false, &x)) return false;
  if (x != floor(x) || x > most)
    return (cli_error(cli, "%s must be a whole number from 1 to %g, not %g", option, most, x), false);
  *to = (int)x;
  return true;
}

static bool settle(Batch* b) {
  const srRunSettings* run = sr_run_settings(b->m.model);
  Cli* cli = b->cli;
  if (b->method && strcmp(b->method, "rk4") != 0)
    return (cli_error(cli, "--method: a batch is stepped by rk4, not by '%s'", b->method), false);
  b->options = (srBatchOptions){.count = 1, .threads = 1, .step = run->step};
  if (isnan(b->count)) return (cli_error(cli, "--count: how many copies?"), false);
  if (!isnan(b->seed) && !(b->seed >= 0 && b->seed == floor(b->seed) && b->seed < 9e15))
    return (cli_error(cli, "--seed must be a whole number, not %g", b->seed), false);
  bool good = whole(cli, "--count", b->count, 1e7, &b->options.count);
  good = whole(cli, "--threads", b->threads, 1024, &b->options.threads) && good;
  good = number_take(cli, "--step", b->step, false, &b->options.step) && good;
  double t_end = run->t_end;
  good = number_take(cli, "--t-end", b->t_end, false, &t_end) && good;
  b->t_end = t_end;
  b->steps = lround(t_end / b->options.step);
  if (good && (b->steps < 1 || fabs((double)b->steps * b->options.step - t_end) > 1e-9 * t_end))
    return (cli_error(cli, "--t-end %g s is no whole number of steps of %g s", t_end, b->options.step), false);
  return good;
}

// Parameters that copies have their own values of: those that are drawn.
static bool find_parameters(Batch* b) {
  size_t n = 0;
  for (int i = 0; i < b->random.n; i++) {
    const char* text = b->random.item[i];
    const size_t length = strcspn(text, "=");
    if (strncmp(text, "p.", 2) != 0) continue;
    if (n + length >= sizeof b->parameters)
      return (
          cli_error(b->cli, "--random: the names of all parameters are longer than %zu letters", sizeof b->parameters),
          false);
    n += (size_t)snprintf(b->parameters + n, sizeof b->parameters - n, "%s%.*s", n > 0 ? "," : "", (int)length - 2,
                          text + 2);
  }
  if (n > 0) b->options.parameters = b->parameters, b->options.spec = b->m.spec;
  return true;
}

static bool prepare(Batch* b) {
  if (!find_parameters(b)) return false;
  if (sr_batch_create(b->m.model, &b->options, b->cli->messages, &b->batch) != SR_OK) return false;
  for (int i = 0; i < b->random.n; i++)
    if (sr_batch_random(b->batch, b->random.item[i], b->cli->messages) != SR_OK) return false;
  const srStatus status = sr_batch_reset(b->batch, NULL, isnan(b->seed) ? 1 : (unsigned long long)b->seed);
  if (status == SR_INPUT)
    cli_error(b->cli, "--random: the model cannot be compiled for the parameters of one of the copies");
  return status == SR_OK;
}

// A row a copy: its number, its parameters, and the columns of a run at the end.
static bool write_rows(Batch* b, const srColumns* columns, srRecording* recording, srTableWriter* table) {
  const int np = sr_batch_width(b->batch, SR_BATCH_P);
  double* row = malloc(((size_t)columns->count + (size_t)np + 1) * sizeof *row);
  double* p = malloc(((size_t)np * (size_t)b->options.count + 1) * sizeof *p);
  bool good = row != NULL && p != NULL;
  if (good) sr_batch_get(b->batch, SR_BATCH_P, p);
  for (int copy = 0; good && copy < b->options.count; copy++) {
    double* end = row + 1 + np;
    bool known;
    row[0] = copy;
    memcpy(row + 1, p + (size_t)copy * (size_t)np, (size_t)np * sizeof *row);
    if (np > 0) {
      known = sr_batch_row(b->batch, copy, b->record.item, b->record.n, end);
    } else {
      sr_batch_put(b->batch, copy, b->m.data);
      known = sr_recording_row(recording, b->m.data, end) == 0;
    }
    for (int i = 0; i < columns->count && !known; i++) end[i] = (double)NAN;
    good = sr_table_row(table, row) == SR_OK;
  }
  free(row);
  free(p);
  return good;
}

// Names and units of the columns: those of the parameters before those of the run.
static void put_names(const Batch* b, const srColumns* columns, const char** text, char (*name)[80]) {
  const int np = sr_batch_width(b->batch, SR_BATCH_P);
  const size_t n = (size_t)(columns->count + np) + 1;
  text[0] = "copy", text[n] = "";
  for (int i = 0; i < np; i++) {
    snprintf(name[i], sizeof name[i], "p.%s", sr_batch_parameter(b->batch, i));
    text[1 + i] = name[i], text[n + 1 + (size_t)i] = "";
  }
  memcpy(text + 1 + np, columns->names, (size_t)columns->count * sizeof *text);
  memcpy(text + n + 1 + np, columns->units, (size_t)columns->count * sizeof *text);
}

static bool write_table(Batch* b) {
  srColumns* columns = NULL;
  srRecording* recording = NULL;
  srTableWriter* table = NULL;
  srMessages* messages = b->cli->messages;
  if (sr_record_columns_create(b->m.model, b->record.item, b->record.n, messages, &columns) != SR_OK) return false;
  const int np = sr_batch_width(b->batch, SR_BATCH_P);
  const size_t n = (size_t)(columns->count + np) + 1;
  const char** text = malloc(2 * n * sizeof *text);
  char(*name)[80] = malloc(((size_t)np + 1) * sizeof *name);
  bool good = text != NULL && name != NULL &&
              sr_recording_create(b->m.model, b->record.item, b->record.n, messages, &recording) == SR_OK;
  if (good) {
    put_names(b, columns, text, name);
    good = sr_table_create(b->out, "sarrus batch", (int)n, text, text + n, messages, &table) == SR_OK;
  }
  if (good) {
    good = write_rows(b, columns, recording, table);
    good = sr_table_close(table, messages) == SR_OK && good;
  }
  free(text);
  free(name);
  sr_recording_destroy(recording);
  sr_columns_destroy(columns);
  return good;
}

static int report(const Batch* b) {
  srText text = {0};
  const double all = (double)b->steps * b->options.count, rate = b->seconds > 0 ? all / b->seconds : 0;
  if (b->cli->json) {
    srJson json = sr_json_begin(&text);
    sr_json_int(&json, "count", b->options.count);
    sr_json_int(&json, "lanes", sr_batch_lanes(b->batch));
    sr_json_int(&json, "threads", b->options.threads);
    sr_json_text(&json, "method", "rk4");
    sr_json_number(&json, "step", b->options.step);
    sr_json_number(&json, "t", b->t_end);
    sr_json_int(&json, "steps", b->steps);
    sr_json_int(&json, "failed", b->failed);
    sr_json_number(&json, "seconds", b->seconds);
    sr_json_number(&json, "steps_per_second", rate);
    if (b->out) sr_json_text(&json, "out", b->out);
    sr_json_warnings(&json, b->cli->messages);
    sr_json_end(&json);
  } else {
    sr_text_print(&text, "%d copies of %s, %d in a vector, %d threads\n", b->options.count, b->m.model->name,
                  sr_batch_lanes(b->batch), b->options.threads);
    sr_text_print(&text, "%ld steps of %g s each, to t = %g s, in %.3g s: %.4g steps of a copy per second\n", b->steps,
                  b->options.step, b->t_end, b->seconds, rate);
    if (b->failed > 0) sr_text_print(&text, "%d copies have a state that is not finite\n", b->failed);
    if (b->out) sr_text_print(&text, "results: %s (a row a copy)\n", b->out);
  }
  const int status = cli_print(b->cli, &text);
  return b->failed > 0 ? EXIT_FAILED : status;
}

static int run_batch(Batch* b) {
  if (!output_is_free(b->cli, b->out, b->m.path) || !output_begin(b->cli, "--out", &b->out, SR_CONTENT_TABLE))
    return cli_refuse(b->cli, EXIT_INPUT);
  const int status = model_open(b->cli, &b->m);
  if (status != EXIT_DONE) return status;
  if (!model_is_safe(b->cli, &b->m, b->out) || !settle(b) || !prepare(b)) return cli_refuse(b->cli, EXIT_INPUT);
  cli_show(b->cli);
  const double start = now();
  b->failed = sr_batch_step(b->batch, (int)b->steps);
  b->seconds = now() - start;
  if (b->failed > 0) cli_warning(b->cli, "%d copies have a state that is not finite: take a smaller --step", b->failed);
  if (b->out && !write_table(b)) return cli_refuse(b->cli, EXIT_FAILED);
  cli_show(b->cli);
  return report(b);
}

int cmd_batch(Cli* cli, const Verb* verb, int argc, char** argv) {
  Batch b = {
      .cli = cli, .count = NOT_GIVEN, .t_end = NOT_GIVEN, .step = NOT_GIVEN, .threads = NOT_GIVEN, .seed = NOT_GIVEN};
  int status = EXIT_DONE;
  const Option options[] = {
      {"--count", OPTION_NUMBER, &b.count, "NUMBER", "copies of the model"},
      {"--random", OPTION_TEXTS, &b.random, "COORDINATE=LAW:A:B",
       "random starts, such as q.theta=uniform:-1:1, v.theta=normal:0:0.1 or tau.theta=uniform:-2:2, and parameters of "
       "the model, p.mass=uniform:1:2; as often as wanted"},
      {"--seed", OPTION_NUMBER, &b.seed, "NUMBER", "of the random numbers (default 1)"},
      {"--t-end", OPTION_NUMBER, &b.t_end, "SECONDS", "end of the simulation, a whole number of steps"},
      {"--step", OPTION_NUMBER, &b.step, "SECONDS", "step"},
      {"--method", OPTION_TEXT, &b.method, "NAME", "integrator: rk4"},
      {"--threads", OPTION_NUMBER, &b.threads, "NUMBER", "threads; the results have the same bits for any number"},
      OUT_OPTIONS(&b.out, "FILE", "write a row for every copy, at the end: CSV, or HDF5; - is standard output"),
      {"--record", OPTION_TEXTS, &b.record, "PATTERN", "more columns of it; as often as wanted"},
      MODEL_OPTIONS(cli, &b.m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &b.m.path, &status) == 0)
    status = run_batch(&b);
  sr_batch_destroy(b.batch);
  texts_free(&b.random);
  texts_free(&b.record);
  model_close(&b.m);
  return status;
}
