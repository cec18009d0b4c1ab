// sarrus modes: eigenvalues and shapes of small motions about an equilibrium or a steady motion.
#include <string.h>

#include "cli.h"

static bool is_moving(const Model* m) {
  for (int i = 0; i < m->relative->nv; i++) {
    if (m->relative_data->v[i] != 0) return true;
  }
  return false;
}

// In absolute coordinates the axes of a body that spins turn with it, and equations that are constant in joint coordinates are
// not: then those are used.
static srStatus linearize(Cli* cli, const Model* m, srData** data, srLinear** linear) {
  *data = m->data;
  if (model_formulation(m) != SR_FORMULATION_ABSOLUTE || !is_moving(m))
    return sr_linearize(m->model, m->data, cli->messages, linear);
  srMessages* quiet = sr_messages_create();
  const srStatus status = quiet ? sr_linearize(m->model, m->data, quiet, linear) : SR_MEMORY;
  sr_messages_destroy(quiet);
  if (status == SR_OK) return status;
  *data = m->relative_data;
  cli_warning(cli, "linearized in relative coordinates: in those of the bodies the linear equations are not constant");
  return sr_linearize(m->relative, m->relative_data, cli->messages, linear);
}

static int find_modes(Cli* cli, const Model* m) {
  srLinear* linear = NULL;
  srModes* modes = NULL;
  srData* data;
  srStatus status = linearize(cli, m, &data, &linear);
  if (status == SR_OK) status = sr_modes_create(linear, cli->messages, &modes);
  srText text = {0};
  if (status == SR_OK) {
    cli_show(cli);
    sr_report_modes(linear, modes, data, cli->verbose, cli_form(cli), &text);
  }
  sr_modes_destroy(modes);
  sr_linear_destroy(linear);
  return status == SR_OK ? cli_print(cli, &text) : cli_refuse(cli, cli_status(status));
}

static int check_at(Cli* cli, const char* at) {
  static const char* const words[] = {"initial", "equilibrium"};
  if (!at || word_exists(cli, "--at", at, words, 2, 1)) return EXIT_DONE;
  return cli_refuse(cli, EXIT_INPUT);
}

int cmd_modes(Cli* cli, const Verb* verb, int argc, char** argv) {
  Model m = {0};
  State state = state_none();
  const char* at = NULL;
  int status = EXIT_DONE;
  const Option options[] = {
      {"--at", OPTION_TEXT, &at, "WORD", "initial (default): the initial state, or the one given"},
      STATE_OPTIONS(&state),
      FORMULATION_OPTION(&m),
      MODEL_OPTIONS(cli, &m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &m.path, &status) == 0) {
    status = check_at(cli, at);
    if (status == EXIT_DONE) status = model_open(cli, &m);
    if (status == EXIT_DONE && !state_apply(cli, &state, m.model, m.data)) status = cli_refuse(cli, EXIT_INPUT);
    if (status == EXIT_DONE) status = state_at_time(cli, &state, &m);
    if (status == EXIT_DONE) status = model_formulate(cli, &m);
    if (status == EXIT_DONE) status = find_modes(cli, &m);
  }
  state_free(&state);
  model_close(&m);
  return status;
}
