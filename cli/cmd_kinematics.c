// sarrus kinematics: positions, velocities, accelerations and driving forces of a driven mechanism over time.
#include <stdlib.h>
#include <time.h>

#include "cli.h"

typedef struct Kinematics {
  Cli* cli;
  Model m;
  State state;
  double t_end, every;
  const char* out;
  TextList record;
  srTableWriter* table;
  bool write_failed;
  Progress progress;
} Kinematics;

static int on_row(void* user, const double* row) {
  Kinematics* k = user;
  k->write_failed = sr_table_row(k->table, row) != SR_OK;
  return k->write_failed;
}

static int on_progress(void* user, double t, double t_end) {
  return progress_update(&((Kinematics*)user)->progress, t, t_end);
}

static bool open_table(Kinematics* k) {
  srColumns* columns;
  if (sr_record_columns_create(k->m.model, k->record.item, k->record.n, k->cli->messages, &columns) != SR_OK)
    return false;
  char line[600];
  snprintf(line, sizeof line, "sarrus kinematics %s, formulation %s", k->m.path,
           sr_formulation_word(k->m.model->formulation));
  const srStatus status =
      sr_table_create(k->out, line, columns->count, columns->names, columns->units, k->cli->messages, &k->table);
  sr_columns_destroy(columns);
  return status == SR_OK;
}

static int report(const Kinematics* k, const srKinematicReport* r) {
  srText text = {0};
  cli_show(k->cli);
  sr_report_kinematics(r, cli_form(k->cli), &text);
  const int status = cli_print(k->cli, &text);
  return r->error_message ? EXIT_FAILED : status;
}

static const char* end_table(Kinematics* k) {
  if (!k->table) return NULL;
  const bool closed = sr_table_close(k->table, k->cli->messages) == SR_OK;
  k->table = NULL;
  return closed && !k->write_failed ? NULL : "the result file could not be written to its end";
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int move(Kinematics* k, srDriven* driven) {
  const srKinematicOptions options = {.t_end = k->t_end,
                                      .every = k->every,
                                      .row = k->table ? on_row : NULL,
                                      .record = k->record.item,
                                      .nrecord = k->record.n,
                                      .progress = on_progress,
                                      .user = k};
  srKinematicReport r = {.driven = driven, .messages = k->cli->messages, .out = k->out};
  const double begun = seconds();
  k->progress = progress_begin(k->cli);
  const srStatus status = sr_driven_run(driven, &options, k->cli->messages, &r.rows);
  progress_end(&k->progress);
  r.seconds = seconds() - begun;
  const char* unwritten = end_table(k);
  if (status != SR_OK && status != SR_FAILED) return cli_refuse(k->cli, cli_status(status));
  r.error_message = status == SR_FAILED   ? driven->error_message
                    : k->progress.stopped ? "stopped by the user"
                                          : unwritten;
  if (r.error_message) cli_error(k->cli, "%s", r.error_message);
  double* a = calloc((size_t)driven->m->njv + 1, sizeof *a);
  if (!a) return (cli_error(k->cli, "out of memory"), cli_refuse(k->cli, EXIT_FAILED));
  sr_joint_accelerations(driven->m, driven->d, a);
  r.a = a;
  const int answer = report(k, &r);
  free(a);
  return answer;
}

static int run(Kinematics* k) {
  srDriven* driven = NULL;
  const srStatus status = sr_driven_create(k->m.model, k->m.data, k->cli->messages, &driven);
  if (status != SR_OK) return cli_refuse(k->cli, cli_status(status));
  if (k->out && !open_table(k)) {
    sr_driven_destroy(driven);
    return cli_refuse(k->cli, EXIT_INPUT);
  }
  const int answer = move(k, driven);
  sr_driven_destroy(driven);
  return answer;
}

static bool settle(Kinematics* k) {
  const srRunSettings* run = sr_run_settings(k->m.model);
  double t_end = run->t_end, every = run->every;
  bool good = number_take(k->cli, "--t-end", k->t_end, true, &t_end);
  good = number_take(k->cli, "--every", k->every, false, &every) && good;
  if (k->m.data->t > t_end)
    good = (cli_error(k->cli, "--t-end is %g s, and the start at %g s", t_end, k->m.data->t), false);
  k->t_end = t_end;
  k->every = every;
  return good;
}

static int prepare_and_run(Kinematics* k) {
  if (!output_is_free(k->cli, k->out, k->m.path) || !output_begin(k->cli, "--out", &k->out, SR_CONTENT_TABLE))
    return cli_refuse(k->cli, EXIT_INPUT);
  int status = model_open(k->cli, &k->m);
  if (status != EXIT_DONE) return status;
  if (!model_is_safe(k->cli, &k->m, k->out) || !state_apply(k->cli, &k->state, k->m.model, k->m.data) || !settle(k))
    return cli_refuse(k->cli, EXIT_INPUT);
  status = state_at_time(k->cli, &k->state, &k->m);
  if (status == EXIT_DONE) status = model_formulate(k->cli, &k->m);
  return status == EXIT_DONE ? run(k) : status;
}

int cmd_kinematics(Cli* cli, const Verb* verb, int argc, char** argv) {
  Kinematics k = {.cli = cli, .m = {.at_rest = true}, .state = state_none(), .t_end = NOT_GIVEN, .every = NOT_GIVEN};
  int status = EXIT_DONE;
  const Option options[] = {
      {"--t-end", OPTION_NUMBER, &k.t_end, "SECONDS", "end (default: that of the model's <run>)"},
      {"--every", OPTION_NUMBER, &k.every, "SECONDS", "time between rows (default: a thousandth of the time)"},
      OUT_OPTIONS(&k.out, "FILE", "write the rows: CSV, or HDF5 where the name ends in .h5; - is standard output"),
      {"--record", OPTION_TEXTS, &k.record, "PATTERN", "more columns of it, as for run; as often as wanted"},
      STATE_OPTIONS(&k.state),
      FORMULATION_OPTION(&k.m),
      MODEL_OPTIONS(cli, &k.m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &k.m.path, &status) == 0)
    status = prepare_and_run(&k);
  texts_free(&k.record);
  state_free(&k.state);
  model_close(&k.m);
  return status;
}
