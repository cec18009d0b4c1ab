// sarrus run: simulates, writes the result table, and closes with a report on the physics. A run that cannot go on still prints
// what it has.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"
#include "network.h"
#include "page.h"
#include "problems.h"
#include "run_options.h"

typedef struct Run {
  Cli* cli;
  Model m;
  State state;
  Balance balance;
  srRunOptions options;
  const char *method, *out, *start, *partition;
  unsigned char* independent;  // of the partition
  RunWords words;
  TextList record;
  double t_end, step, rtol, atol, every, alpha, beta, rho, theta, sleep, sleep_speed, threads, tol_gap, tol_speed,
      tol_hop;  // or NOT_GIVEN
  srTableWriter* table;
  int columns;
  Progress progress;
  Problems problems;
  PageFile page;
  bool write_failed;
  bool generated;
  srAssemblyChange* assembly;
  srRunResult result;
} Run;

// ------------------------------------------------------------------------------------------------------------ options
enum { METHODS = 32 };  // room for their names

// Names of the methods that are there: all, or those that are adaptive (1) or not (0).
enum { FIXED = 0, ADAPTIVE = 1, ALL = 2 };
static int method_names(const char** names, int which) {
  int n = 0;
  for (int i = 0; i < sri_method_count() && n < METHODS; i++)
    if (which == ALL || sri_method(i)->adaptive == (which == ADAPTIVE)) names[n++] = sri_method(i)->name;
  return n;
}

static bool method_exists(Cli* cli, const char* word) {
  static const char* const planned[] = {
      "phem56", "genalpha-index3", "genalpha-index2", "genalpha-ggl", "radau5", "cvode", "ida", "moreau"};
  enum { PLANNED = sizeof planned / sizeof planned[0] };
  const char* words[METHODS + PLANNED];
  const int built = method_names(words, ALL);
  int n = built;
  for (int i = 0; i < PLANNED; i++)
    if (!sri_method_find(planned[i])) words[n++] = planned[i];
  return word_exists(cli, "--method", word, words, n, built);
}

static bool words_exist(Run* r) {
  bool good = run_words_exist(r->cli, &r->words);
  good = start_exists(r->cli, r->start) && good;
  if (good && balance_given(&r->balance) && start_of(r->start) != SR_START_EQUILIBRIUM) {
    cli_error(r->cli, "--exchange, --speed, --equation, --unknown and --steady are for --start equilibrium");
    good = false;
  }
  return (!r->method || method_exists(r->cli, r->method)) && good;
}

static srRunGiven given_options(const Run* r) {
  return (srRunGiven){.step = !isnan(r->step),
                      .rtol = !isnan(r->rtol),
                      .atol = !isnan(r->atol),
                      .control = r->words.control,
                      .rho = !isnan(r->rho),
                      .theta = !isnan(r->theta),
                      .sleep = !isnan(r->sleep) || !isnan(r->sleep_speed),
                      .family = r->words.family,
                      .tangent = r->words.tangent,
                      .stabilization = r->words.stabilization,
                      .alpha = !isnan(r->alpha),
                      .beta = !isnan(r->beta),
                      .metric = r->words.metric,
                      .impact = r->words.impact,
                      .impact_friction = r->words.impact_friction,
                      .impact_order = r->words.impact_order};
}

static bool settle_numbers(Run* r) {
  Cli* cli = r->cli;
  srRunOptions* o = &r->options;
  bool good = number_take(cli, "--t-end", r->t_end, true, &o->t_end);
  if (good && o->t_end < r->m.data->t) {
    cli_error(cli, "the end of the run, %g s, is before its start at %g s", o->t_end, r->m.data->t);
    good = false;
  }
  good = number_take(cli, "--step", r->step, false, &o->step) && good;
  good = number_take(cli, "--rtol", r->rtol, true, &o->rtol) && good;
  good = number_take(cli, "--atol", r->atol, true, &o->atol) && good;
  good = number_take(cli, "--rho", r->rho, true, &o->rho) && good;
  good = number_take(cli, "--theta", r->theta, false, &o->theta) && good;
  good = number_take(cli, "--sleep", r->sleep, true, &o->sleep) && good;
  good = number_take(cli, "--sleep-speed", r->sleep_speed, false, &o->sleep_speed) && good;
  good = number_take(cli, "--tol-gap", r->tol_gap, false, &o->tol_gap) && good;
  good = number_take(cli, "--tol-speed", r->tol_speed, false, &o->tol_speed) && good;
  good = number_take(cli, "--tol-hop", r->tol_hop, false, &o->tol_hop) && good;
  if (o->rho > 1) good = (cli_error(cli, "--rho must be from 0 to 1, not %g", o->rho), false);
  if (!isnan(r->theta) && !(o->theta >= 0.5 && o->theta <= 1))
    good = (cli_error(cli, "--theta must be from 0.5 to 1, not %g", r->theta), false);
  good = number_take(cli, "--alpha", r->alpha, true, &o->alpha) && good;
  good = number_take(cli, "--beta", r->beta, true, &o->beta) && good;
  if (!isnan(r->every))
    good = number_take(cli, "--every", r->every, false, &o->every) && good;
  else if (sr_run_settings(r->m.model)->every <= 0)
    o->every = (o->t_end - r->m.data->t) / 1000;
  return good;
}

static bool settle_threads(Run* r) {
  double threads = 1;
  if (isnan(r->threads)) return true;
  if (!sri_method_find(r->options.method)->impulses)
    return (cli_error(r->cli, "--threads is for a network, or for --contact timestepping"), false);
  if (!number_take(r->cli, "--threads", r->threads, false, &threads)) return false;
  if (!(threads == (int)threads && threads <= 1024))
    return (cli_error(r->cli, "--threads must be a whole number from 1 to 1024, not %g", threads), false);
  r->options.threads = (int)threads;
  return true;
}

static void settle_words(Run* r) {
  srRunOptions* o = &r->options;
  run_words_settle(&r->words, o);
  if (r->words.control && o->control == SR_CONTROL_POSITIONS) {
    const srIntegratorOptions table = sri_positions_options();
    o->rtol = table.rtol;
    o->atol = table.atol;
  }
}

static bool settle(Run* r) {
  srRunOptions* o = &r->options;
  *o = sr_run_options(r->m.model);
  o->record = r->record.item;
  o->nrecord = r->record.n;
  if (r->record.n > 0 && !r->out && !page_wanted(&r->page))
    cli_warning(r->cli, "--record adds columns to the result table, and there is none: give --out FILE");
  settle_words(r);
  if (r->partition && r->words.stabilization && o->stabilization != SR_STABILIZATION_PARTITION)
    return (cli_error(r->cli, "--partition is for --stabilization partition, not for %s", r->words.stabilization),
            false);
  if (r->partition) o->stabilization = SR_STABILIZATION_PARTITION;
  if (o->contact == SR_CONTACT_TIMESTEPPING) o->method = "moreau";
  if (r->method) o->method = r->method;
  const srMethod* method = sri_method_find(o->method);
  if (o->contact == SR_CONTACT_CONTINUOUS && method->impulses && !method->laws)
    return (cli_error(r->cli, "the method '%s' solves rigid contact: take it with --contact timestepping", o->method),
            false);
  const bool good = settle_numbers(r) && settle_threads(r);
  const srRunGiven given = given_options(r);
  sr_warn_method_options(o, &given, r->cli->messages);
  return good;
}

// ------------------------------------------------------------------------------------------------------ result table
static int on_row(void* user, const double* row) {
  Run* r = user;
  if (r->page.page && sr_page_row(r->page.page, r->m.data, row) != SR_OK) r->write_failed = true;
  if (r->table && sr_table_row(r->table, row) != SR_OK) r->write_failed = true;
  return r->write_failed;
}

static void on_problem(void* user, const srSolvedProblem* solved) { problems_see(&((Run*)user)->problems, solved); }

static int on_progress(void* user, double t, double t_end) {
  return progress_update(&((Run*)user)->progress, t, t_end);
}

static bool open_table(Run* r) {
  srColumns* columns;
  const srStatus named =
      sr_record_columns_create(r->m.model, r->options.record, r->options.nrecord, r->cli->messages, &columns);
  if (named == SR_MEMORY) cli_error(r->cli, "out of memory");
  if (named != SR_OK) return false;
  srText line = {0};
  sr_report_run_provenance(r->m.model, &r->options, r->m.path, r->m.settings.item, r->m.settings.n, &line);
  r->columns = columns->count;
  const srStatus status = sr_table_create(r->out, line.data ? line.data : "", columns->count, columns->names,
                                          columns->units, r->cli->messages, &r->table);
  sr_text_free(&line);
  sr_columns_destroy(columns);
  return status == SR_OK;
}

static bool close_table(Run* r) {
  if (!r->table) return true;
  const srStatus status = sr_table_close(r->table, r->cli->messages);
  r->table = NULL;
  return status == SR_OK && !r->write_failed;
}

// Its columns are behind those of the table, whose rows are the first part of the rows of the run.
static bool open_page(Run* r) {
  if (!page_wanted(&r->page)) return true;
  const srStatus status =
      sr_page_create(r->m.model, r->options.record, r->options.nrecord, r->cli->messages, &r->page.page);
  if (status == SR_MEMORY) cli_error(r->cli, "out of memory");
  if (status == SR_OK) r->options.record = sr_page_record(r->page.page, &r->options.nrecord);
  return status == SR_OK;
}

// --------------------------------------------------------------------------------------------------------- simulation
static srRunReport report_of(const Run* r, const char* error_message) {
  return (srRunReport){.m = r->m.model,
                       .d = r->m.data,
                       .options = &r->options,
                       .result = &r->result,
                       .assembly = r->assembly,
                       .file = r->m.path,
                       .contact = contact_word(r->options.contact),
                       .start = r->start,
                       .out = output_is_stdout(r->out) ? "standard output" : r->out,
                       .columns = r->columns,
                       .error_message = error_message,
                       .messages = r->cli->messages,
                       .verbose = r->cli->verbose};
}

static int print_report(const Run* r, const char* error_message) {
  const srRunReport report = report_of(r, error_message);
  srText text = {0};
  sr_report_run(&report, cli_form(r->cli), &text);
  const int status = cli_print(r->cli, &text);
  page_show(r->cli, &r->page);
  return error_message ? EXIT_FAILED : status;
}

// The page of a run, also of one that stopped early: its report is what --json prints.
static bool close_page(Run* r, const char* error_message) {
  if (!r->page.page) return true;
  const srRunReport report = report_of(r, error_message);
  srText json = {0}, line = {0};
  sr_report_run(&report, SR_REPORT_JSON, &json);
  sr_report_run_provenance(r->m.model, &r->options, r->m.path, r->m.settings.item, r->m.settings.n, &line);
  const bool good = !json.failed && !line.failed && page_write(r->cli, &r->page, &r->m, json.data, line.data);
  sr_text_free(&json);
  sr_text_free(&line);
  return good;
}

static int simulate(Run* r) {
  r->options.user = r;
  r->options.progress = on_progress;
  if (r->problems.folder) r->options.problem = on_problem;
  if ((r->out && !open_table(r)) || !open_page(r)) return cli_refuse(r->cli, EXIT_INPUT);
  if (r->out || page_wanted(&r->page)) r->options.row = on_row;
  r->progress = progress_begin(r->cli);
  const srStatus status = sr_run(r->m.model, r->m.data, &r->options, r->cli->messages, &r->result);
  progress_end(&r->progress);
  if (status != SR_OK && status != SR_FAILED) {
    sr_table_discard(r->table);
    return cli_refuse(r->cli, cli_status(status));
  }
  const bool table = close_table(r), written = problems_end(&r->problems) && table;

  sr_run_conclude(r->m.model, r->m.data, &r->options, &r->result, r->cli->messages);
  const char* error_message = status == SR_OK ? NULL : r->result.error_message;
  if (r->progress.stopped) error_message = "stopped by the user";
  const bool paged = close_page(r, error_message);
  if (error_message)
    cli_error(r->cli, "%s", *error_message ? error_message : "the run stopped early");
  else if (!written || !paged)
    error_message = "a result file could not be written to its end";
  cli_show(r->cli);
  return print_report(r, error_message);
}

// The initial state in the coordinates of the file: given, at its time, moved as requested.
static int place_start(Run* r) {
  const bool given = r->state.q.x || r->state.v.x;
  if (given || r->m.data->t != 0) {
    const int status = state_at_time(r->cli, &r->state, &r->m);
    if (status != EXIT_DONE) return status;
  }
  if (start_of(r->start) == SR_START_EQUILIBRIUM) return balance_find(r->cli, &r->balance, &r->m, NULL);
  const srStatus moved = sr_start(r->m.model, r->m.data, start_of(r->start), r->cli->messages);
  return moved == SR_OK ? EXIT_DONE : cli_refuse(r->cli, cli_status(moved));
}

// Coordinate partitioning with the independent coordinates of a file.
static int read_partition(Run* r) {
  const srMethod* method = sri_method_find(r->options.method);
  if (!sri_method_takes(method, SR_STABILIZATION_PARTITION)) {
    cli_error(r->cli,
              "--partition: the method '%s' solves constraints and contacts together and divides no coordinates: "
              "take another one",
              method->name);
    return cli_refuse(r->cli, EXIT_INPUT);
  }
  const int status = partition_read(r->cli, r->m.model, r->partition, &r->independent);
  r->options.independent = r->independent;
  return status;
}

// The loops are closed in the coordinates of the file; another formulation starts from there.
static int assemble(Run* r) {
  const srRunGiven given = given_options(r);
  int status = place_start(r);
  if (status == EXIT_DONE) status = model_assemble(r->cli, &r->m, &r->assembly);
  if (status != EXIT_DONE) return status;
  // A state of a file goes on with a run, which may rest on a stop or in the middle of a blow.
  if (!r->state.file) {
    (void)sr_start_outside(r->m.model, r->m.data, r->cli->messages);
    (void)sr_start_overlaps(r->m.model, r->m.data, r->cli->messages);
  }
  sr_warn_redundancy(r->m.model, r->m.data, r->cli->messages);
  status = model_formulate(r->cli, &r->m);
  if (status == EXIT_DONE && r->partition) status = read_partition(r);
  if (status == EXIT_DONE) sr_warn_constraint_options(r->m.model, &r->options, &given, r->cli->messages);
  return status;
}

// --record list: the names that it takes, in the requested formulation.
static int list_recordable(Run* r) {
  const int status = model_formulate(r->cli, &r->m);
  if (status != EXIT_DONE) return status;
  srText text = {0};
  sr_report_recordable(r->m.model, cli_form(r->cli), &text);
  cli_show(r->cli);
  return cli_print(r->cli, &text);
}

static bool wants_list(const Run* r) {
  for (int i = 0; i < r->record.n; i++)
    if (strcmp(r->record.item[i], "list") == 0) return true;
  return false;
}

// A file with the root <network>.
static int run_network(Run* r) {
  static const char fixed[] = "its methods have a step of fixed length";
  static const char own[] = "it begins where its components do";
  static const char no_constraints[] = "constraints are those of its mechanisms, kept by projection";
  const srRunGiven given = given_options(r);
  const State* s = &r->state;
  const NetworkRefusal refusals[] = {{"--rtol", given.rtol, fixed},
                                     {"--atol", given.atol, fixed},
                                     {"--control", given.control, fixed},
                                     {"--rho", given.rho, fixed},
                                     {"--theta", given.theta, "it has no rigid contact"},
                                     {"--sleep", given.sleep, "it has no rigid contact"},
                                     {"--family", given.family, fixed},
                                     {"--tangent", given.tangent, fixed},
                                     {"--stabilization", given.stabilization, no_constraints},
                                     {"--alpha", given.alpha, no_constraints},
                                     {"--beta", given.beta, no_constraints},
                                     {"--metric", given.metric, no_constraints},
                                     {"--partition", r->partition, no_constraints},
                                     {"--contact", r->words.contact, "contact is a component: <plane>"},
                                     {"--q", s->q.x, own},
                                     {"--v", s->v.x, own},
                                     {"--y", s->y.x, own},
                                     {"--tau", s->tau.x, "forces are <push> and <apply>"},
                                     {"--t", !isnan(s->t), own},
                                     {"--state", s->file, own},
                                     {"--start", r->start, own},
                                     {"--save-problems", r->problems.folder, "it has no rigid contact"},
                                     {"--generated", r->generated, "its mechanisms are interpreted"},
                                     {"--page", r->page.path, "a page shows one model"},
                                     {"--video", r->page.video.path, "a video shows one model"},
                                     {"--glb", r->page.glb, "a scene is one model"},
                                     {NULL, false, NULL}};
  const NetworkRun run = {.method = r->method,
                          .out = r->out,
                          .t_end = r->t_end,
                          .step = r->step,
                          .every = r->every,
                          .threads = r->threads,
                          .record = r->record};
  return network_run(r->cli, &r->m, &run, refusals);
}

static int prepare_and_simulate(Run* r) {
  if (sr_is_network(r->m.path)) return run_network(r);
  bool good = words_exist(r);
  good = problems_begin(&r->problems, r->cli, r->m.path) && good;
  good = output_is_free(r->cli, r->out, r->m.path) && output_is_free(r->cli, r->out, r->state.file) &&
         output_is_free(r->cli, r->out, r->partition) && output_begin(r->cli, "--out", &r->out, SR_CONTENT_TABLE) &&
         page_begin(r->cli, &r->page, r->m.path, r->out) && good;
  if (!good) return cli_refuse(r->cli, EXIT_INPUT);
  int status = model_open(r->cli, &r->m);
  if (status != EXIT_DONE) return status;
  if (wants_list(r)) return list_recordable(r);
  if (!model_is_safe(r->cli, &r->m, r->out) || !model_is_safe(r->cli, &r->m, r->page.path) ||
      !model_is_safe(r->cli, &r->m, r->page.glb) || !model_is_safe(r->cli, &r->m, r->page.video.path))
    return cli_refuse(r->cli, EXIT_INPUT);
  if (!state_apply(r->cli, &r->state, r->m.model, r->m.data) || !settle(r)) return cli_refuse(r->cli, EXIT_INPUT);
  status = assemble(r);
  if (status != EXIT_DONE) return status;
  if (r->generated && sr_generated_use(r->m.model, true, r->cli->messages) != SR_OK) {
    cli_error(r->cli, "out of memory");
    return cli_refuse(r->cli, EXIT_FAILED);
  }
  cli_show(r->cli);
  return simulate(r);
}

// Lines of the help that name words.
typedef struct Help {
  char method[256], step[256], rtol[256], atol[256];
  RunHelp words;
} Help;

static void help_methods(char* text, size_t size, const char* what, int which) {
  const char* names[METHODS];
  char list[200];
  snprintf(text, size, "%s: %s", what, words_join(names, method_names(names, which), list, sizeof list));
}

static Help help_of_words(void) {
  Help h;
  help_methods(h.method, sizeof h.method, "integrator", ALL);
  help_methods(h.step, sizeof h.step, "step of --control fixed, and of methods with a fixed one", FIXED);
  help_methods(h.rtol, sizeof h.rtol, "relative tolerance of adaptive methods", ADAPTIVE);
  help_methods(h.atol, sizeof h.atol, "absolute tolerance of adaptive methods", ADAPTIVE);
  h.words = run_words_help();
  return h;
}

int cmd_run(Cli* cli, const Verb* verb, int argc, char** argv) {
  Run r = {.cli = cli,
           .state = state_none(),
           .t_end = NOT_GIVEN,
           .step = NOT_GIVEN,
           .rtol = NOT_GIVEN,
           .atol = NOT_GIVEN,
           .every = NOT_GIVEN,
           .alpha = NOT_GIVEN,
           .beta = NOT_GIVEN,
           .rho = NOT_GIVEN,
           .theta = NOT_GIVEN,
           .sleep = NOT_GIVEN,
           .sleep_speed = NOT_GIVEN,
           .threads = NOT_GIVEN,
           .tol_gap = NOT_GIVEN,
           .tol_speed = NOT_GIVEN,
           .tol_hop = NOT_GIVEN,
           .page = {.video = {.fps = NOT_GIVEN, .speed = NOT_GIVEN}},
           .problems = {.most = NOT_GIVEN}};
  int status = EXIT_DONE;
  const Help help = help_of_words();
  const Option options[] = {
      {"--t-end", OPTION_NUMBER, &r.t_end, "SECONDS", "end of the simulation"},
      {"--method", OPTION_TEXT, &r.method, "NAME", help.method},
      {"--step", OPTION_NUMBER, &r.step, "SECONDS", help.step},
      {"--rtol", OPTION_NUMBER, &r.rtol, "NUMBER", help.rtol},
      {"--atol", OPTION_NUMBER, &r.atol, "NUMBER", help.atol},
      RUN_OPTIONS(&r, &help.words),
      {"--partition", OPTION_TEXT, &r.partition, "FILE.json",
       "independent coordinates, as `sarrus partition --out` has written them; with --stabilization partition"},
      FORMULATION_OPTION(&r.m),
      {"--contact", OPTION_TEXT, &r.words.contact, "NAME",
       "continuous: force laws; timestepping: rigid, by the method moreau with --step; event: rigid, located impacts; "
       "hybrid: both"},
      {"--theta", OPTION_NUMBER, &r.theta, "NUMBER",
       "moreau: 0.5 to 1, the part of the velocity at the end of a step in its motion (default 1)"},
      {"--sleep", OPTION_NUMBER, &r.sleep, "SECONDS",
       "moreau: what rests for so long is put to sleep, until something moves it (default 0: never)"},
      {"--sleep-speed", OPTION_NUMBER, &r.sleep_speed, "M/S", "speed that counts as rest (0.01)"},
      IMPACT_OPTIONS(&r),
      {"--tol-gap", OPTION_NUMBER, &r.tol_gap, "METRES", "contact event: gap within which contacts touch at one time"},
      {"--tol-speed", OPTION_NUMBER, &r.tol_speed, "M/S", "contact event: normal speed of a closed contact"},
      {"--tol-hop", OPTION_NUMBER, &r.tol_hop, "METRES", "contact event: hop that ends an accumulation of impacts"},
      OUT_OPTIONS(&r.out, "FILE",
                  "write the result table: CSV, or HDF5 where the name ends in .h5; - is standard output"),
      {"--page", OPTION_TEXT, &r.page.path, "FILE.html",
       "write a page for any browser: animation, plots and report in one file (docs/using/page.md)"},
      {"--glb", OPTION_TEXT, &r.page.glb, "FILE.glb",
       "write shapes and motion as glTF 2.0, for other programs (docs/using/page.md)"},
      VIDEO_OPTIONS(&r.page.video),
      {"--every", OPTION_NUMBER, &r.every, "SECONDS", "time between rows (default: a thousandth of the time)"},
      {"--record", OPTION_TEXTS, &r.record, "PATTERN",
       "more columns of it, such as 'reaction(crankpin).*'; as often as wanted; list: print their names instead of a "
       "run"},
      PROBLEM_OPTIONS(&r.problems),
      {"--threads", OPTION_NUMBER, &r.threads, "NUMBER",
       "threads of a network (docs/using/network.md), or of many rigid contacts"},
      {"--generated", OPTION_FLAG, &r.generated, NULL,
       "compile the equations of the model with the system's C compiler ($CC, cc) and run that code; it is kept in the "
       "cache folder"},
      BALANCE_OPTIONS(&r.balance),
      STATE_OPTIONS(&r.state),
      {"--start", OPTION_TEXT, &r.start, "NAME",
       "given; inside-limits: the nearest start inside of the joint limits; apart: by the least motion out of "
       "overlaps; equilibrium: at rest, the nearest one"},
      MODEL_OPTIONS(cli, &r.m)};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &r.m.path, &status) == 0)
    status = prepare_and_simulate(&r);
  sr_assembly_change_destroy(r.assembly);
  problems_free(&r.problems);
  page_free(&r.page);
  free(r.independent);
  texts_free(&r.record);
  balance_free(&r.balance);
  state_free(&r.state);
  model_close(&r.m);
  return status;
}
