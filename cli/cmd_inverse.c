// sarrus inverse: forces of actuators for the motion of the drivers.
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct Inverse {
  Cli* cli;
  Model m;
  State state;
  Motion motion;
  double t_end, every;
  NumberList times;
  const char *actuators, *out;
  int *actuator, nactuator;
  double *tau, *passive;  // of all times
} Inverse;

// ------------------------------------------------------------------------------------------------------------ actuators
// The velocity coordinate of joints that a word names: one, or -1 after an error.
static int find_actuator(Cli* cli, const srModel* m, const char* word) {
  int found = -1, n = 0;
  for (int i = 0; i < m->njv; i++)
    if (strcmp(m->v_name[i], word) == 0) found = i, n++;
  for (int j = 0; j < m->njoint && n == 0; j++) {
    if (strcmp(m->joint_name[j], word) != 0) continue;
    if (m->joint_nv[j] == 1) return m->joint_v[j];
    cli_error(cli, "--actuators: joint '%s' has %d components; name one, such as '%s'", word, m->joint_nv[j],
              m->joint_nv[j] > 0 ? m->v_name[m->joint_v[j]] : "");
    return -1;
  }
  if (found < 0) cli_error(cli, "--actuators: there is no joint '%s'; `sarrus check` lists them", word);
  return found;
}

static bool read_actuators(Inverse* x) {
  if (!x->actuators) return true;
  const srModel* m = x->m.model;
  x->actuator = calloc(strlen(x->actuators) + 1, sizeof *x->actuator);
  if (!x->actuator) return (cli_error(x->cli, "out of memory"), false);
  bool good = true;
  for (const char* list = x->actuators; *list;) {
    const size_t n = strcspn(list, ",");
    char word[256];
    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), list);
    const int at = n > 0 ? find_actuator(x->cli, m, word) : -1;
    for (int i = 0; i < x->nactuator && at >= 0; i++)
      if (x->actuator[i] == at) good = (cli_error(x->cli, "--actuators: '%s' is there twice", word), false);
    good = good && (at >= 0 || n == 0);
    if (at >= 0) x->actuator[x->nactuator++] = at;
    list += n + (list[n] == ',');
  }
  return good;
}

// ---------------------------------------------------------------------------------------------------------------- times
// The rows of the table.
static bool take_rows(Inverse* x) {
  const srResultTable* table = x->motion.table;
  x->times.n = table->nrow;
  x->times.x = calloc((size_t)table->nrow, sizeof *x->times.x);
  if (!x->times.x) return (cli_error(x->cli, "out of memory"), false);
  memcpy(x->times.x, table->columns[x->motion.time], (size_t)table->nrow * sizeof *x->times.x);
  return true;
}

// Beyond its rows a table has no motion.
static bool ends_in_time(const Inverse* x) {
  const double last = x->times.x[x->times.n - 1];
  if (!x->motion.table || last <= motion_end(&x->motion)) return true;
  cli_error(x->cli, "the motion of '%s' ends at %.9g s, before %.9g s", x->motion.path, motion_end(&x->motion), last);
  return false;
}

static bool read_times(Inverse* x) {
  const srRunSettings* run = sr_run_settings(x->m.model);
  const double t0 = x->m.data->t;
  if (x->motion.table && !x->times.x && isnan(x->t_end) && isnan(x->every)) return take_rows(x);
  if (x->times.x) {
    for (int i = 0; i < x->times.n; i++)
      if (!(x->times.x[i] >= (i > 0 ? x->times.x[i - 1] : t0)))
        return (cli_error(x->cli, "--times must not fall, from %g s on", t0), false);
    return true;
  }
  double t_end = x->motion.table ? motion_end(&x->motion) : run->t_end, every = run->every > 0 ? run->every : 0;
  if (!number_take(x->cli, "--t-end", x->t_end, true, &t_end) ||
      !number_take(x->cli, "--every", x->every, false, &every))
    return false;
  if (!(t_end >= t0)) return (cli_error(x->cli, "--t-end is %g s, and the start at %g s", t_end, t0), false);
  if (every <= 0) every = (t_end - t0) / 1000;
  const double count = every > 0 ? ceil((t_end - t0) / every - 1e-9) + 1 : 1;  // the last one is t_end
  if (count > 1e7) return (cli_error(x->cli, "%g times are too many: take a longer --every", count), false);
  x->times.n = (int)count;
  x->times.x = calloc((size_t)x->times.n, sizeof *x->times.x);
  if (!x->times.x) return (cli_error(x->cli, "out of memory"), false);
  for (int i = 0; i < x->times.n; i++) x->times.x[i] = fmin(t0 + i * every, t_end);
  return true;
}

// ---------------------------------------------------------------------------------------------------------------- table
static bool write_rows(const Inverse* x, const srInverse* inverse, int rows) {
  const srModel* m = x->m.model;
  const int n = sr_inverse_count(inverse), np = m->absolute ? 0 : m->nv, columns = 1 + n + np;
  const char** name = calloc(2 * (size_t)columns, sizeof *name);
  double* row = calloc((size_t)columns, sizeof *row);
  char(*text)[280] = calloc((size_t)columns, sizeof *text);
  srTableWriter* table = NULL;
  bool good = name && row && text;
  for (int i = 0; good && i < columns; i++) {
    const int k = i - 1 - n, at = k < 0 ? (i > 0 ? sr_inverse_actuator(inverse, i - 1) : 0) : k;
    snprintf(text[i], sizeof text[i], "%s.%s", k < 0 ? "tau" : "passive", m->v_name[at]);
    name[i] = i == 0 ? "t" : text[i];
    name[columns + i] = i == 0 ? "s" : strcmp(m->v_unit[at], "rad/s") == 0 ? "N m" : "N";
  }
  good = good &&
         sr_table_create(x->out, "sarrus inverse", columns, name, name + columns, x->cli->messages, &table) == SR_OK;
  for (int k = 0; good && k < rows; k++) {
    row[0] = x->times.x[k];
    memcpy(row + 1, x->tau + (size_t)k * (size_t)n, (size_t)n * sizeof *row);
    if (np > 0) memcpy(row + 1 + n, x->passive + (size_t)k * (size_t)m->nv, (size_t)np * sizeof *row);
    good = sr_table_row(table, row) == SR_OK;
  }
  if (table) good = sr_table_close(table, x->cli->messages) == SR_OK && good;
  free(name), free(row), free(text);
  return good;
}

// -------------------------------------------------------------------------------------------------------------- motion
// How many times were reached.
static int follow(Inverse* x, srDriven* driven, srInverse* inverse) {
  const size_t n = (size_t)sr_inverse_count(inverse), nv = (size_t)x->m.model->nv;
  for (int k = 0; k < x->times.n; k++) {
    if (sr_driven_move(driven, x->times.x[k]) != SR_OK) return k;
    if (x->motion.table) motion_states(&x->motion, driven->m, driven->d, x->times.x[k]);
    if (sr_inverse_forces(inverse, x->tau + (size_t)k * n, x->passive + (size_t)k * nv) != SR_OK) return k;
  }
  return x->times.n;
}

static int compute(Inverse* x, srDriven* driven, srInverse* inverse) {
  const size_t rows = (size_t)x->times.n;
  x->tau = calloc(rows * (size_t)sr_inverse_count(inverse) + 1, sizeof *x->tau);
  x->passive = calloc(rows * (size_t)x->m.model->nv + 1, sizeof *x->passive);
  if (!x->tau || !x->passive) return (cli_error(x->cli, "out of memory"), cli_refuse(x->cli, EXIT_FAILED));
  srInverseTable table = {.m = x->m.model,
                          .inverse = inverse,
                          .t = x->times.x,
                          .tau = x->tau,
                          .passive = x->passive,
                          .out = x->out,
                          .messages = x->cli->messages};
  table.rows = follow(x, driven, inverse);
  if (table.rows < x->times.n) table.error_message = driven->error_message;
  if (x->out && !write_rows(x, inverse, table.rows)) table.error_message = "the result file could not be written";
  if (table.error_message) cli_error(x->cli, "%s", table.error_message);
  srText text = {0};
  cli_show(x->cli);
  sr_report_inverse(&table, cli_form(x->cli), &text);
  const int status = cli_print(x->cli, &text);
  return table.error_message ? EXIT_FAILED : status;
}

static int run(Inverse* x) {
  srDriven* driven = NULL;
  srInverse* inverse = NULL;
  srMessages* held = sr_messages_create();  // what the inverse dynamics needs is reported by itself
  srStatus status = held ? sr_driven_create(x->m.model, x->m.data, held, &driven) : SR_MEMORY;
  for (int i = 0; held && i < sr_messages_count(held); i++) {
    const srMessage* said = sr_messages_get(held, i);
    if (said->severity == SR_SEVERITY_ERROR)
      sr_messages_add(x->cli->messages, said->severity, said->place, "%s", said->text);
  }
  sr_messages_destroy(held);
  if (status == SR_OK) status = sr_inverse_create(driven, x->actuator, x->nactuator, x->cli->messages, &inverse);
  const int answer = status == SR_OK ? compute(x, driven, inverse) : cli_refuse(x->cli, cli_status(status));
  sr_inverse_destroy(inverse);
  sr_driven_destroy(driven);
  return answer;
}

static int prepare_and_run(Inverse* x) {
  if (!output_is_free(x->cli, x->out, x->m.path) || !output_is_free(x->cli, x->out, x->motion.path) ||
      !output_begin(x->cli, "--out", &x->out, SR_CONTENT_TABLE))
    return cli_refuse(x->cli, EXIT_INPUT);
  int status = model_open(x->cli, &x->m);
  if (status == EXIT_DONE && x->motion.path) status = motion_open(x->cli, &x->motion, &x->m, &x->state);
  if (status != EXIT_DONE) return status;
  if (!model_is_safe(x->cli, &x->m, x->out) || !state_apply(x->cli, &x->state, x->m.model, x->m.data) ||
      !read_actuators(x) || !read_times(x) || !ends_in_time(x))
    return cli_refuse(x->cli, EXIT_INPUT);
  status = state_at_time(x->cli, &x->state, &x->m);
  if (status == EXIT_DONE) status = model_formulate(x->cli, &x->m);
  return status == EXIT_DONE ? run(x) : status;
}

int cmd_inverse(Cli* cli, const Verb* verb, int argc, char** argv) {
  Inverse x = {.cli = cli, .m = {.at_rest = true}, .state = state_none(), .t_end = NOT_GIVEN, .every = NOT_GIVEN};
  int status = EXIT_DONE;
  const Option options[] = {
      {"--times", OPTION_NUMBERS, &x.times, "LIST", "times, s; instead of --t-end and --every"},
      {"--t-end", OPTION_NUMBER, &x.t_end, "SECONDS", "end (default: that of the model's <run>)"},
      {"--every", OPTION_NUMBER, &x.every, "SECONDS", "time between rows (default: a thousandth of the time)"},
      MOTION_OPTION(&x.motion),
      {"--actuators", OPTION_TEXT, &x.actuators, "LIST", "joints, or joint.component (default: the driven joints)"},
      OUT_OPTIONS(&x.out, "FILE", "write the rows: CSV, or HDF5 where the name ends in .h5; - is standard output"),
      STATE_OPTIONS(&x.state),
      FORMULATION_OPTION(&x.m),
      MODEL_OPTIONS(cli, &x.m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &x.m.path, &status) == 0)
    status = prepare_and_run(&x);
  free(x.tau);
  free(x.passive);
  free(x.actuator);
  numbers_free(&x.times);
  motion_free(&x.motion);
  state_free(&x.state);
  model_close(&x.m);
  return status;
}
