// sarrus equilibrium: positions and states at rest, and whether they are stable.
#include "cli.h"

// Word of the stability; NULL, with a warning: there are no linear equations.
static const char* stability_of(Cli* cli, const Model* m) {
  srMessages* quiet = sr_messages_create();
  srLinear* linear = NULL;
  srModes* modes = NULL;
  const char* word = NULL;
  if (quiet && sr_linearize(m->model, m->data, quiet, &linear) == SR_OK &&
      sr_modes_create(linear, quiet, &modes) == SR_OK)
    word = sr_stability_word(sr_modes_stability(modes));
  if (!word && quiet && sr_messages_count(quiet) > 0)
    cli_warning(cli, "the stability is not known: %s", sr_messages_get(quiet, sr_messages_count(quiet) - 1)->text);
  sr_modes_destroy(modes);
  sr_linear_destroy(linear);
  sr_messages_destroy(quiet);
  return word;
}

static int find(Cli* cli, const Model* m) {
  srEquilibrium* e = NULL;
  const srStatus status = sr_equilibrium_create(m->model, m->data, NULL, cli->messages, &e);
  if (status != SR_OK) return cli_refuse(cli, cli_status(status));
  const char* stability = stability_of(cli, m);
  srRest* rest = NULL;
  if (sr_rest_create(m->model, m->data, &rest) != SR_OK) cli_warning(cli, "the forces of contacts cannot be listed");
  const srEquilibriumReport report = {
      .m = m->model, .d = m->data, .equilibrium = e, .stability = stability, .rest = rest, .messages = cli->messages};
  srText text = {0};
  cli_show(cli);
  sr_report_equilibrium(&report, cli_form(cli), &text);
  sr_rest_destroy(rest);
  sr_equilibrium_destroy(e);
  return cli_print(cli, &text);
}

int cmd_equilibrium(Cli* cli, const Verb* verb, int argc, char** argv) {
  Model m = {.at_rest = true};
  State state = state_none();
  int status = EXIT_DONE;
  const Option options[] = {STATE_OPTIONS(&state), FORMULATION_OPTION(&m), MODEL_OPTIONS(cli, &m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &m.path, &status) == 0) {
    status = model_open(cli, &m);
    if (status == EXIT_DONE && !state_apply(cli, &state, m.model, m.data)) status = cli_refuse(cli, EXIT_INPUT);
    if (status == EXIT_DONE) status = state_at_time(cli, &state, &m);
    if (status == EXIT_DONE) status = model_formulate(cli, &m);
    if (status == EXIT_DONE) status = find(cli, &m);
  }
  state_free(&state);
  model_close(&m);
  return status;
}
