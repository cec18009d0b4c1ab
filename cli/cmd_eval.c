// sarrus eval: everything at one state.
#include <math.h>
#include <string.h>

#include "cli.h"

// Which pairs of shapes are listed.
typedef struct Contacts {
  const char* word;
  double margin;
} Contacts;

static int evaluate(Cli* cli, const Model* m, bool bare, const Contacts* contacts) {
  srEvaluation* e = NULL;
  const srStatus status = sr_evaluation_create(m->model, m->data, bare, cli->messages, &e);
  if (status != SR_OK) return cli_refuse(cli, cli_status(status));
  sr_evaluation_contacts(e, contacts->word && strcmp(contacts->word, "all") == 0, contacts->margin);
  srText text = {0};
  cli_show(cli);
  sr_report_evaluation(e, cli_form(cli), &text);
  sr_evaluation_destroy(e);
  return cli_print(cli, &text);
}

// The requested state; the initial one at its time, with its loops closed.
static int start_state(Cli* cli, State* state, const Model* m, bool bare) {
  if (!state_apply(cli, state, m->model, m->data)) return cli_refuse(cli, EXIT_INPUT);
  return bare ? EXIT_DONE : state_at_time(cli, state, m);
}

static int formulate(Cli* cli, Model* m, bool bare) {
  if (!bare || model_is_relative(m)) return model_formulate(cli, m);
  cli_error(cli, "--bare is the rigid tree alone: it has no formulation but the relative one");
  return cli_refuse(cli, EXIT_INPUT);
}

static int check_contacts(Cli* cli, const Contacts* x) {
  if (x->word && strcmp(x->word, "all") != 0 && strcmp(x->word, "near") != 0)
    cli_error(cli, "--contacts takes near or all, not '%s'", x->word);
  else if (isinf(x->margin))
    cli_error(cli, "--margin is a distance in m; --contacts all lists every pair");
  else
    return EXIT_DONE;
  return cli_refuse(cli, EXIT_INPUT);
}

int cmd_eval(Cli* cli, const Verb* verb, int argc, char** argv) {
  Model m = {.at_rest = true};
  State state = state_none();
  Contacts contacts = {.margin = (double)NAN};
  bool bare = false;
  int status = EXIT_DONE;
  const Option options[] = {
      STATE_OPTIONS(&state),
      {"--bare", OPTION_FLAG, &bare, NULL, "the rigid tree alone: no laws, stops, armature, drivers"},
      {"--contacts", OPTION_TEXT, &contacts.word, "WORD", "pairs of shapes that are listed: near (default), or all"},
      {"--margin", OPTION_NUMBER, &contacts.margin, "M", "largest gap of a pair that is near (default: 1e-3 m)"},
      FORMULATION_OPTION(&m),
      MODEL_OPTIONS(cli, &m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &m.path, &status) == 0) {
    status = check_contacts(cli, &contacts);
    if (status == EXIT_DONE) status = model_open(cli, &m);
    if (status == EXIT_DONE) status = start_state(cli, &state, &m, bare);
    if (status == EXIT_DONE) status = formulate(cli, &m, bare);
    if (status == EXIT_DONE) status = evaluate(cli, &m, bare, &contacts);
  }
  state_free(&state);
  model_close(&m);
  return status;
}
