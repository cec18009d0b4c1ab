// sarrus modes: eigenvalues and shapes of small motions about an equilibrium or a steady motion.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "modes.h"

static bool is_moving(const Model* m) {
  for (int i = 0; i < m->relative->nv; i++) {
    if (m->relative_data->v[i] != 0) return true;
  }
  return false;
}

// In absolute coordinates the axes of a body that spins turn with it, and equations that are constant in joint coordinates are
// not: then those are used.
static srStatus linearize(Cli* cli, const Model* m, const srRest* rest, srData** data, srLinear** linear) {
  *data = m->data;
  if (rest) return sr_linearize_rest(m->model, m->data, rest, cli->messages, linear);
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

static bool at_equilibrium(const ModesCall* x) { return x->at && strcmp(x->at, "equilibrium") == 0; }

// Largest displacement of a coordinate from q.
static double moved_from(const srModel* m, const srData* d, const double* q) {
  double most = 0;
  for (int i = 0; i < m->nq; i++) most = fmax(most, fabs(d->q[i] - q[i]));
  return most;
}

// Rest with rigid contacts at x->m's state, which must be there already unless the nearest equilibrium is wanted.
static int rest_find(ModesCall* x) {
  enum { FAR = 10 };  // times the gap within which contacts are closed
  const srModel* m = x->m.model;
  srData* d = x->m.data;
  double* q = calloc((size_t)m->nq + 1, sizeof *q);
  sr_rest_destroy(x->rest);
  x->rest = NULL;
  if (!q) return cli_refuse(x->cli, EXIT_FAILED);
  memcpy(q, d->q, (size_t)m->nq * sizeof *q);
  const srStatus status = sr_rest_rigid_create(m, d, x->contact.gap, x->cli->messages, &x->rest);
  const double moved = status == SR_OK ? moved_from(m, d, q) : 0, within = x->contact.gap > 0 ? x->contact.gap : 1e-5;
  free(q);
  if (status != SR_OK) return cli_refuse(x->cli, cli_status(status));
  if (moved <= FAR * within || at_equilibrium(x)) return EXIT_DONE;
  cli_error(
      x->cli,
      "the state is not at rest with rigid contacts: the nearest that is has coordinates that differ by %.3g; take "
      "--at equilibrium, or another start",
      moved);
  return cli_refuse(x->cli, EXIT_INPUT);
}

int modes_open(ModesCall* x) {
  Cli* cli = x->cli;
  int status = model_open(cli, &x->m);
  if (status == EXIT_DONE && !state_apply(cli, &x->state, x->m.model, x->m.data)) status = cli_refuse(cli, EXIT_INPUT);
  if (status == EXIT_DONE) status = state_at_time(cli, &x->state, &x->m);
  if (status == EXIT_DONE && !x->contact.rigid && at_equilibrium(x))
    status = balance_find(cli, &x->balance, &x->m, NULL);
  if (status == EXIT_DONE) status = model_formulate(cli, &x->m);
  return status == EXIT_DONE && x->contact.rigid ? rest_find(x) : status;
}

int modes_find(ModesCall* x, srLinear** linear, srModes** modes, srData** data) {
  Cli* cli = x->cli;
  const int status = x->m.model ? EXIT_DONE : modes_open(x);
  if (status != EXIT_DONE) return status;
  srStatus found = linearize(cli, &x->m, x->rest, data, linear);
  if (found == SR_OK) found = sr_modes_create(*linear, cli->messages, modes);
  return found == SR_OK ? EXIT_DONE : cli_refuse(cli, cli_status(found));
}

// The smallest of a large tree. *done false: they are to be found by matrices.
static int report_few(ModesCall* x, bool* done) {
  enum { LARGE = 100 };
  srModes* modes = NULL;
  srText text = {0};
  int status = modes_open(x);
  *done = status != EXIT_DONE;
  if (*done || x->rest || x->shapes || x->page.path || x->m.model->nv < LARGE) return status;
  const srStatus found = sr_modes_smallest(x->m.model, x->m.data, (int)x->count, x->cli->messages, done, &modes);
  *done = *done || found != SR_OK;
  if (found != SR_OK) return cli_refuse(x->cli, cli_status(found));
  if (!*done) return EXIT_DONE;
  cli_show(x->cli);
  sr_report_modes_few(x->m.model, modes, x->m.data, x->cli->verbose, cli_form(x->cli), &text);
  sr_modes_destroy(modes);
  return cli_print(x->cli, &text);
}

static int report(ModesCall* x) {
  srLinear* linear = NULL;
  srModes* modes = NULL;
  srData* data;
  srText text = {0};
  bool done = false;
  int status = isnan(x->count) ? EXIT_DONE : report_few(x, &done);
  if (done || status != EXIT_DONE) return status;
  status = modes_find(x, &linear, &modes, &data);
  if (status == EXIT_DONE) {
    cli_show(x->cli);
    if (x->count < modes->n) sr_modes_keep(modes, (int)x->count);
    srModePorts ports = {0};
    bool good = !x->input || (ports_find(x, linear, &ports) && ports_write(x, &ports, linear->m->name));
    good = good && (!x->shapes || shapes_write(x, linear, modes, data)) && shapes_page(x, linear, modes, data);
    srRest* rest = NULL;
    if (!x->rest) (void)sr_rest_create(linear->m, data, &rest);
    if (good)
      sr_report_modes(linear, modes, data, x->rest ? x->rest : rest, x->input ? &ports : NULL, x->cli->verbose,
                      cli_form(x->cli), &text);
    sr_rest_destroy(rest);
    ports_free(&ports);
    status = good ? cli_print(x->cli, &text) : cli_refuse(x->cli, EXIT_INPUT);
    if (good) page_show(x->cli, &x->page);
  }
  sr_modes_destroy(modes);
  sr_linear_destroy(linear);
  return status;
}

static int check_options(ModesCall* x) {
  static const char* const words[] = {"initial", "equilibrium"};
  bool good = !x->at || word_exists(x->cli, "--at", x->at, words, 2, 2);
  if (good && balance_given(&x->balance) && !at_equilibrium(x)) {
    cli_error(x->cli, "--exchange, --speed, --equation, --unknown and --steady are for --at equilibrium");
    good = false;
  }
  good = rest_contact_check(x->cli, &x->contact, balance_given(&x->balance)) && good;
  good = output_begin(x->cli, "--csv", &x->csv, SR_CONTENT_TABLE) && good;
  good = folder_begin(x->cli, "--svg", x->svg) && good;
  good = folder_begin(x->cli, "--shapes", x->shapes) && good;
  good = page_begin(x->cli, &x->page, x->m.path, x->csv) && good;
  const bool shown = x->shapes || x->page.path;
  if ((shown && x->sweep) || (!isnan(x->amplitude) && !(shown && x->amplitude > 0))) {
    cli_error(x->cli, "--amplitude is a number above 0 and goes with --shapes and --page, which are not for --sweep");
    good = false;
  }
  good = output_is_free(x->cli, x->csv, x->m.path) && good;
  if (!isnan(x->count) && (x->sweep || !(x->count >= 1 && x->count <= 1e6 && x->count == floor(x->count)))) {
    cli_error(x->cli, x->sweep ? "--count is not for --sweep" : "--count expects a whole number, at least 1");
    good = false;
  }
  if ((x->csv || x->svg) && !x->sweep && !x->response) {
    cli_error(x->cli, "%s is for --sweep NAME=FROM:TO:N and --response FROM:TO:N", x->csv ? "--csv" : "--svg");
    good = false;
  }
  if (!x->input != !x->output || (x->response && !x->input) || (x->input && (x->sweep || !isnan(x->count)))) {
    cli_error(x->cli,
              "--input and --output go together, --response needs both, and neither goes with --sweep or --count");
    good = false;
  }
  return good ? EXIT_DONE : cli_refuse(x->cli, EXIT_INPUT);
}

int cmd_modes(Cli* cli, const Verb* verb, int argc, char** argv) {
  ModesCall x = {.cli = cli,
                 .state = state_none(),
                 .count = NOT_GIVEN,
                 .amplitude = NOT_GIVEN,
                 .page = {.video = {.fps = NOT_GIVEN, .speed = NOT_GIVEN}},
                 .contact = rest_contact_none()};
  int status = EXIT_DONE;
  const Option options[] = {
      {"--at", OPTION_TEXT, &x.at, "WORD",
       "initial (default): the initial state, or the one given; equilibrium: the nearest at rest"},
      {"--count", OPTION_NUMBER, &x.count, "K",
       "the K smallest eigenvalues; of large trees without matrices of their size"},
      {"--sweep", OPTION_TEXT, &x.sweep, "NAME=A:B:N", "eigenvalues at N values of a parameter from A to B"},
      {"--input", OPTION_TEXT, &x.input, "LIST", "forces on these joint coordinates are inputs: B of A, B, C, D"},
      {"--output", OPTION_TEXT, &x.output, "LIST", "these joint coordinates, or v(NAME) their velocities, are outputs"},
      {"--response", OPTION_TEXT, &x.response, "F1:F2:N", "gains from inputs to outputs at N frequencies, Hz"},
      {"--csv", OPTION_TEXT, &x.csv, "FILE.csv", "--sweep, --response: write the table; - is standard output"},
      {"--svg", OPTION_TEXT, &x.svg, "DIR", "--sweep, --response: write the figures into this folder"},
      {"--shapes", OPTION_TEXT, &x.shapes, "DIR", "write each mode as a motion over one period: DIR/mode-K.csv"},
      {"--page", OPTION_TEXT, &x.page.path, "FILE.html",
       "write a page for any browser that shows each mode in motion (docs/using/page.md)"},
      {"--amplitude", OPTION_NUMBER, &x.amplitude, "A",
       "of --shapes and --page: what the largest entry moves by, rad or m (default: 0.1)"},
      BALANCE_OPTIONS(&x.balance),
      REST_CONTACT_OPTIONS(&x.contact),
      STATE_OPTIONS(&x.state),
      FORMULATION_OPTION(&x.m),
      MODEL_OPTIONS(cli, &x.m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &x.m.path, &status) == 0) {
    status = check_options(&x);
    if (status == EXIT_DONE) status = x.sweep ? modes_sweep(&x) : report(&x);
  }
  sr_rest_destroy(x.rest);
  page_free(&x.page);
  balance_free(&x.balance);
  state_free(&x.state);
  model_close(&x.m);
  return status;
}
