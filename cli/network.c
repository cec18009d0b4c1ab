// check and run of a network (root <network>). Options that only a model has are refused, not ignored.
#include "network.h"

#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------------- opening
static bool refuse_options(Cli* cli, const Model* m, const NetworkRefusal* refusals) {
  const NetworkRefusal of_model[] = {
      {"--formulation", m->formulation, "a mechanism of a network is in relative coordinates"},
      {"--lock-massless", m->lock, "the attribute 'lock-massless' of <mechanism> says it"},
      {"--base", m->base, "the attribute 'base' of <mechanism> says it"},
      {NULL, false, NULL},
  };
  bool good = true;
  for (int list = 0; list < 2; list++)
    for (const NetworkRefusal* r = list ? refusals : of_model; r && r->option; r++) {
      if (!r->given) continue;
      cli_error(cli, "%s is not for a network: %s", r->option, r->reason);
      good = false;
    }
  return good;
}

static srStatus open_network(Cli* cli, const Model* m, srNetworkFile** out) {
  const char** folders;
  srLoadOptions how;
  if (!model_load_options(m, &how, &folders)) return SR_MEMORY;
  const srStatus status = sr_network_load(m->path, &how, cli->messages, out);
  free(folders);
  if (status == SR_OK && model_keep_files(cli, (*out)->file, (*out)->nfile)) return SR_FAILED;
  return status;
}

// --------------------------------------------------------------------------------------------------------------- check
int network_check(Cli* cli, const Model* m) {
  srNetworkFile* f = NULL;
  if (!refuse_options(cli, m, NULL)) return cli_refuse(cli, EXIT_INPUT);
  srStatus status = open_network(cli, m, &f);
  if (status == SR_OK) status = sr_network_ready(f->network, 1);
  if (status == SR_OK) {
    srColumns* columns = NULL;  // of <record>
    status = sr_network_columns_create(f, NULL, 0, cli->messages, &columns);
    sr_network_columns_destroy(columns);
  }
  int exit_status = status == SR_OK ? EXIT_DONE : cli_refuse(cli, cli_status(status));
  if (status == SR_OK) {
    srText text = {0};
    cli_show(cli);
    sr_report_network_check(f, cli->messages, cli_form(cli), &text);
    exit_status = cli_print(cli, &text);
  }
  sr_network_file_destroy(f);
  return exit_status;
}

// ----------------------------------------------------------------------------------------------------------------- run
typedef struct Run {
  Cli* cli;
  const Model* m;
  srNetworkFile* f;
  srNetworkOptions options;
  const char* out;
  srTableWriter* table;
  int columns;
  Progress progress;
  bool write_failed;
} Run;

static int on_row(void* user, const double* row) {
  Run* r = user;
  r->write_failed = sr_table_row(r->table, row) != SR_OK;
  return r->write_failed;
}

static int on_progress(void* user, double t, double t_end) {
  return progress_update(&((Run*)user)->progress, t, t_end);
}

static bool settle(Run* r, const NetworkRun* given) {
  Cli* cli = r->cli;
  srNetworkOptions* o = &r->options;
  const char* words[8];
  const int n = sr_network_method_count();
  for (int i = 0; i < n && i < 8; i++) words[i] = sr_network_method(i);
  *o = r->f->options;
  bool good = !given->method || word_exists(cli, "--method (of a network)", given->method, words, n, n);
  if (given->method) o->method = given->method;
  good = number_take(cli, "--t-end", given->t_end, true, &o->t_end) && good;
  good = number_take(cli, "--step", given->step, false, &o->step) && good;
  good = number_take(cli, "--every", given->every, false, &o->every) && good;
  double threads = o->threads;
  good = number_take(cli, "--threads", given->threads, false, &threads) && good;
  if (good && !(threads == (int)threads && threads <= 1024))
    good = (cli_error(cli, "--threads must be a whole number from 1 to 1024, not %g", threads), false);
  if (good) o->threads = (int)threads;
  o->record = given->record.item;
  o->nrecord = given->record.n;
  if (given->record.n > 0 && !r->out)
    cli_warning(cli, "--record adds columns to the result table, and there is none: give --out FILE");
  for (int i = 0; i < r->f->nfile; i++) good = output_is_free(cli, r->out, r->f->file[i]) && good;
  return good;
}

static bool open_table(Run* r) {
  srColumns* columns = NULL;
  if (sr_network_columns_create(r->f, r->options.record, r->options.nrecord, r->cli->messages, &columns) != SR_OK)
    return false;
  srText line = {0};
  sr_text_print(&line, "sarrus %s; network %s (%s); %s; step %.17g; %d thread%s", sr_version(), r->f->name, r->m->path,
                r->options.method, r->options.step, r->options.threads, r->options.threads == 1 ? "" : "s");
  for (int i = 0; i < r->m->settings.n; i++)
    sr_text_print(&line, "; %s=%s", r->m->settings.item[i].name, r->m->settings.item[i].value);
  r->columns = columns->count;
  const srStatus status = sr_table_create(r->out, line.data ? line.data : "", columns->count, columns->names,
                                          columns->units, r->cli->messages, &r->table);
  sr_text_free(&line);
  sr_network_columns_destroy(columns);
  return status == SR_OK;
}

static int print_report(const Run* r, const srNetworkResult* result, const char* error_message) {
  const srNetworkRunReport report = {.file = r->f,
                                     .options = &r->options,
                                     .result = result,
                                     .path = r->m->path,
                                     .out = output_is_stdout(r->out) ? "standard output" : r->out,
                                     .columns = r->columns,
                                     .error_message = error_message,
                                     .messages = r->cli->messages,
                                     .verbose = r->cli->verbose};
  srText text = {0};
  sr_report_network_run(&report, cli_form(r->cli), &text);
  const int status = cli_print(r->cli, &text);
  return error_message ? EXIT_FAILED : status;
}

static int simulate(Run* r) {
  srNetworkResult result;
  r->options.user = r;
  r->options.progress = on_progress;
  if (r->out) {
    if (!open_table(r)) return cli_refuse(r->cli, EXIT_INPUT);
    r->options.row = on_row;
  }
  r->progress = progress_begin(r->cli);
  const srStatus status = sr_network_run(r->f, &r->options, r->cli->messages, &result);
  progress_end(&r->progress);
  if (status != SR_OK && status != SR_FAILED) {
    sr_table_discard(r->table);
    return cli_refuse(r->cli, cli_status(status));
  }
  const bool written = !r->table || (sr_table_close(r->table, r->cli->messages) == SR_OK && !r->write_failed);
  const char* error_message = status == SR_OK ? NULL : result.error_message;
  if (!written) error_message = "the result file could not be written to its end";
  if (error_message && written) cli_error(r->cli, "%s", error_message);
  cli_show(r->cli);
  return print_report(r, &result, error_message);
}

static int list_signals(Run* r) {
  srText text = {0};
  sr_report_network_signals(r->f, cli_form(r->cli), &text);
  cli_show(r->cli);
  return cli_print(r->cli, &text);
}

static int go(Run* r, const NetworkRun* given) {
  const srStatus status = open_network(r->cli, r->m, &r->f);
  if (status != SR_OK) return cli_refuse(r->cli, cli_status(status));
  for (int i = 0; i < given->record.n; i++)
    if (strcmp(given->record.item[i], "list") == 0) return list_signals(r);
  if (!settle(r, given)) return cli_refuse(r->cli, EXIT_INPUT);
  cli_show(r->cli);
  return simulate(r);
}

int network_run(Cli* cli, const Model* m, const NetworkRun* given, const NetworkRefusal* refusals) {
  Run r = {.cli = cli, .m = m, .out = given->out};
  bool good = refuse_options(cli, m, refusals);
  good = output_is_free(cli, r.out, m->path) && output_begin(cli, "--out", &r.out, SR_CONTENT_TABLE) && good;
  const int status = good ? go(&r, given) : cli_refuse(cli, EXIT_INPUT);
  sr_network_file_destroy(r.f);
  return status;
}
