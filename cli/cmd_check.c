// sarrus check: reads and compiles a model, reports topology and degrees of freedom.
#include "network.h"

static int check(Cli* cli, const Model* m) {
  srCheck* check = NULL;
  const srStatus status = sr_check_create(m->spec, m->model, m->data, model_formulation(m), cli->messages, &check);
  if (status != SR_OK) return cli_refuse(cli, cli_status(status));
  srText text = {0};
  cli_show(cli);
  sr_report_check(check, cli->messages, cli_form(cli), &text);
  sr_check_destroy(check);
  return cli_print(cli, &text);
}

int cmd_check(Cli* cli, const Verb* verb, int argc, char** argv) {
  Model m = {.at_rest = true};
  int status = EXIT_DONE;
  const Option options[] = {FORMULATION_OPTION(&m), MODEL_OPTIONS(cli, &m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &m.path, &status) == 0) {
    if (sr_is_network(m.path)) {
      status = network_check(cli, &m);
    } else {
      status = model_open(cli, &m);
      if (status == EXIT_DONE) status = check(cli, &m);
    }
  }
  model_close(&m);
  return status;
}
