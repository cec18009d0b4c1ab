// sarrus compare: many methods on one model or many. Every run is a process of its own, so that what fails costs one entry;
// errors are those against tight runs of methods of different family, whose own disagreement is reported too.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"

#define MOST_JOBS 1024.0

// ------------------------------------------------------------------------------------------------------------- words
static const char* const measures[] = {"time", "evaluations"};

static bool words_exist(Compare* c) {
  bool good = run_words_exist(c->cli, &c->words);
  if (c->measure && !word_exists(c->cli, "--measure", c->measure, measures, COUNT(measures), COUNT(measures)))
    good = false;
  c->all.by_evaluations = c->measure && strcmp(c->measure, "evaluations") == 0;
  return good;
}

static int method_names(const char** names) {
  int n = 0;
  for (; n < sri_method_count() && n < SR_COMPARE_METHODS; n++) names[n] = sri_method(n)->name;
  return n;
}

static bool add_method(Compare* c, const char* word) {
  const char* names[SR_COMPARE_METHODS];
  const int n = method_names(names);
  if (!word_exists(c->cli, "--methods", word, names, n, n)) return false;
  const int method = word_index(word, names, n, 0);
  for (int i = 0; i < c->all.nmethod; i++)
    if (c->all.method[i] == method) return true;  // twice is once
  c->all.method[c->all.nmethod++] = method;
  return true;
}

// "dopri5,hem5", or all that this build has.
static bool take_methods(Compare* c) {
  bool good = true;
  for (int i = 0; !c->method_list && i < sri_method_count() && c->all.nmethod < SR_COMPARE_METHODS; i++)
    if (!sri_method(i)->absent) c->all.method[c->all.nmethod++] = i;
  for (const char* p = c->method_list; p; p = *p == ',' ? p + 1 : NULL) {
    char word[64];
    while (*p == ' ') p++;
    const size_t length = strcspn(p, ", ");
    snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), p);
    good = add_method(c, word) && good;
    p += length;
    while (*p == ' ') p++;
  }
  return good;
}

// -1: it is none, and reported.
static int reference_method(Compare* c, const char* word) {
  const char* names[SR_COMPARE_METHODS];
  const int n = method_names(names);
  if (!word_exists(c->cli, "--reference", word, names, n, n)) return -1;
  const int method = word_index(word, names, n, -1);
  if (sri_method(method)->adaptive) return method;
  cli_error(c->cli, "--reference %s: a reference needs a method with step control", word);
  return -1;
}

// A method, two of them (the second one gives the error of the first), or a file: what has a dot or a slash in it is a file.
static bool take_reference_word(Compare* c) {
  c->all.reference_method = -1;
  if (!c->reference) return true;
  c->reference_file = strpbrk(c->reference, "./") != NULL;
  if (c->reference_file) return true;
  char word[64];
  const char* comma = strchr(c->reference, ',');
  snprintf(word, sizeof word, "%.*s", comma && comma - c->reference < 60 ? (int)(comma - c->reference) : 60,
           c->reference);
  c->all.reference_method = reference_method(c, word);
  if (comma) c->all.reference_check = reference_method(c, comma + 1);
  return c->all.reference_method >= 0 && (!comma || c->all.reference_check >= 0);
}

// ----------------------------------------------------------------------------------------------------------- numbers
static bool set_default_list(NumberList* list, const double* x, int n) {
  if (list->n > 0) return true;
  free(list->x);
  list->x = malloc((size_t)n * sizeof *x);
  if (!list->x) return false;
  memcpy(list->x, x, (size_t)n * sizeof *x);
  list->n = n;
  return true;
}

static bool are_positive(Compare* c, const char* option, const NumberList* list) {
  for (int i = 0; i < list->n; i++) {
    if (list->x[i] > 0) continue;
    cli_error(c->cli, "%s: all numbers must be greater than zero, not %g", option, list->x[i]);
    return false;
  }
  return true;
}

static bool is_positive(Compare* c, const char* option, double x) {
  if (isnan(x) || x > 0) return true;
  cli_error(c->cli, "%s must be greater than zero, not %g", option, x);
  return false;
}

// The rule `positions` comes with one tolerance.
static bool take_lists(Compare* c) {
  const double own = sri_positions_options().rtol;
  const bool positions = c->words.control && strcmp(c->words.control, "positions") == 0;
  if (!set_default_list(&c->rtol, positions ? &own : c->all.rtol, positions ? 1 : c->all.nrtol))
    return cli_error(c->cli, "out of memory"), false;
  bool good = are_positive(c, "--rtol", &c->rtol);
  good = are_positive(c, "--atol", &c->atol) && good;
  good = are_positive(c, "--step", &c->step) && good;
  for (int i = 0; i < c->rtol.n; i++)
    for (int k = 0; k < i; k++)
      if (c->rtol.x[i] == c->rtol.x[k]) good = (cli_error(c->cli, "--rtol: %g is given twice", c->rtol.x[i]), false);
  if (c->atol.n <= 1 || c->atol.n == c->rtol.n) return good;
  cli_error(c->cli, "--atol: %d numbers for the %d of --rtol; give one for all, or one for each", c->atol.n, c->rtol.n);
  return false;
}

static bool take_numbers(Compare* c) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (isnan(c->jobs)) c->jobs = processors > 0 ? (double)processors : 1;
  bool good = take_lists(c);
  good = is_positive(c, "--timeout", c->timeout) && good;
  good = is_positive(c, "--accept", c->accept) && good;
  good = is_positive(c, "--reference-rtol", c->reference_rtol) && good;
  if (!(c->jobs >= 1 && c->jobs <= MOST_JOBS && c->jobs == floor(c->jobs)))
    good = (cli_error(c->cli, "--jobs must be a whole number from 1 to %g, not %g", MOST_JOBS, c->jobs), false);
  if (!(c->repeat >= 0 && c->repeat <= 1e6 && c->repeat == floor(c->repeat)))
    good = (cli_error(c->cli, "--repeat must be a whole number of runs, not %g", c->repeat), false);
  if (!isnan(c->rho) && !(c->rho >= 0 && c->rho <= 1))
    good = (cli_error(c->cli, "--rho must be from 0 to 1, not %g", c->rho), false);
  return good;
}

// ------------------------------------------------------------------------------------------------------------ models
static bool settle(Compare* c, srComparedModel* s) {
  srRunOptions* o = &s->options;
  *o = sr_run_options(s->m);
  run_words_settle(&c->words, o);
  if (!isnan(c->alpha)) o->alpha = c->alpha;
  if (!isnan(c->beta)) o->beta = c->beta;
  if (!isnan(c->rho)) o->rho = c->rho;
  if (!isnan(c->t_end)) o->t_end = c->t_end;
  if (o->t_end > s->t0) return true;
  cli_error(c->cli, "the end of the run of '%s', %g s, is not after its start at %g s", s->m->name, o->t_end, s->t0);
  return false;
}

srComparedModel compared_model(const Model* m) {
  return (srComparedModel){.m = m->model,
                           .joints = m->relative ? m->relative : m->model,
                           .start = m->data,
                           .file = m->path,
                           .t0 = m->data->t,
                           .samples = SR_COMPARE_SAMPLES};
}

static int open_subject(Compare* c, int i) {
  Model* m = &c->opened[i];
  srAssemblyChange* change = NULL;
  *m = (Model){.path = c->models.item[i],
               .settings = c->settings,
               .base = c->base,
               .packages = c->packages,
               .plugins = c->plugins,
               .lock = c->lock,
               .formulation = c->formulation};
  int status = model_open(c->cli, m);
  if (status == EXIT_DONE && !model_is_safe(c->cli, m, c->csv)) status = cli_refuse(c->cli, EXIT_INPUT);
  if (status == EXIT_DONE) status = model_assemble(c->cli, m, &change);
  sr_assembly_change_destroy(change);
  if (status == EXIT_DONE) status = model_formulate(c->cli, m);
  if (status != EXIT_DONE) return status;
  srComparedModel* s = &c->all.model[i];
  *s = compared_model(m);
  sr_comparison_name(&c->all, i);
  if (!settle(c, s) || (c->reference_file && !read_reference(c, s))) return cli_refuse(c->cli, EXIT_INPUT);
  cli_show(c->cli);
  return EXIT_DONE;
}

static int open_subjects(Compare* c) {
  int status = EXIT_DONE;
  c->opened = calloc((size_t)c->models.n, sizeof *c->opened);
  c->all.model = calloc((size_t)c->models.n, sizeof *c->all.model);
  if (!c->opened || !c->all.model) return cli_refuse(c->cli, EXIT_FAILED);
  for (int i = 0; i < c->models.n && status == EXIT_DONE; i++) {
    c->all.nmodel++;
    status = open_subject(c, i);
  }
  return status;
}

static void close_all(Compare* c) {
  sr_comparison_clear(&c->all);
  for (int i = 0; i < c->all.nmodel; i++) {
    c->opened[i].settings = (Settings){0};  // they are the comparison's
    c->opened[i].packages = (TextList){0};
    model_close(&c->opened[i]);
  }
  settings_free(&c->settings);
  free(c->packages.item);
  texts_free(&c->models);
  numbers_free(&c->rtol);
  numbers_free(&c->atol);
  numbers_free(&c->step);
  free(c->all.model);
  free(c->opened);
}

// ----------------------------------------------------------------------------------------------------------- the work
static void settle_all(Compare* c) {
  srComparison* all = &c->all;
  all->rtol = c->rtol.x, all->nrtol = c->rtol.n;
  all->atol = c->atol.x, all->natol = c->atol.n;
  all->step = c->step.x, all->nstep = c->step.n;
  all->reference_given = c->reference_file;
  all->reference_rtol = c->reference_rtol;
  all->accept = c->accept;
  all->jobs = (int)c->jobs;
  all->timeout = c->timeout;
  all->repeat = (int)c->repeat;
}

static srStatus run_all(Compare* c) {
  const srExecutor executor = {.user = c, .run = pool_run};
  settle_all(c);
  return sr_compare(&c->all, &executor);
}

static bool write_csv(const Compare* c) {
  srOutput* output;
  srText text = {0};
  if (sr_output_create(c->csv, c->cli->messages, &output) != SR_OK) return false;
  sr_report_comparison_csv(&c->all, &text);
  if (!text.failed) fwrite(text.data, 1, text.n, sr_output_stream(output));
  const bool whole = !text.failed;
  sr_text_free(&text);
  if (!whole) return sr_output_discard(output), cli_error(c->cli, "out of memory"), false;
  return sr_output_close(output, c->cli->messages) == SR_OK;
}

static bool outputs_fit(Compare* c) {
  bool good = folder_begin(c->cli, "--svg", c->svg);
  for (int i = 0; i < c->models.n; i++) good = output_is_free(c->cli, c->csv, c->models.item[i]) && good;
  return output_is_free(c->cli, c->csv, c->reference) && output_begin(c->cli, "--csv", &c->csv, SR_CONTENT_TABLE) &&
         good;
}

static int compare(Compare* c) {
  int nresult = 0;
  for (int i = 0; i < c->models.n; i++) nresult += c->models.item[i][result_stem(c->models.item[i])] != 0;
  if (nresult == c->models.n) return compare_results(c->cli, &c->models);
  bool good = outputs_fit(c);
  good = take_methods(c) && good;
  good = words_exist(c) && good;
  good = take_reference_word(c) && good;
  good = take_numbers(c) && good;
  if (c->reference_file && c->models.n > 1)
    good = (cli_error(c->cli, "--reference %s: a file is the reference of one model, not of %d", c->reference,
                      c->models.n),
            false);
  if (!good) return cli_refuse(c->cli, EXIT_INPUT);
  const int status = open_subjects(c);
  if (status != EXIT_DONE) return status;
  if (run_all(c) != SR_OK) return cli_refuse(c->cli, EXIT_FAILED);
  if (c->csv) good = write_csv(c) && good;
  if (c->svg) good = write_figures(c) && good;
  if (c->all.interrupted) cli_error(c->cli, "stopped by the user");
  cli_show(c->cli);
  srText text = {0};
  sr_report_comparison(&c->all, c->cli->messages, cli_form(c->cli), &text);
  return cli_print(c->cli, &text) == EXIT_DONE && good && !c->all.interrupted ? EXIT_DONE : EXIT_FAILED;
}

// ----------------------------------------------------------------------------------------------------------- options
typedef struct Help {
  char methods[300];
  RunHelp words;
} Help;

static Help help_of_words(void) {
  Help h;
  const char* names[SR_COMPARE_METHODS];
  char list[256];
  const int n = method_names(names);
  snprintf(h.methods, sizeof h.methods, "of all: %s", words_join(names, n, list, sizeof list));
  h.words = run_words_help();
  return h;
}

static Compare compare_defaults(Cli* cli) {
  const srComparison usual = sr_comparison_defaults();
  return (Compare){.cli = cli,
                   .all = usual,
                   .t_end = NOT_GIVEN,
                   .alpha = NOT_GIVEN,
                   .beta = NOT_GIVEN,
                   .rho = NOT_GIVEN,
                   .timeout = usual.timeout,
                   .jobs = NOT_GIVEN,
                   .accept = usual.accept,
                   .reference_rtol = usual.reference_rtol};
}

// Reads the options, and compares.
static int parse_and_compare(Compare* c, const Help* help, const Verb* verb, int argc, char** argv) {
  int status = EXIT_DONE;
  const char* first = NULL;
  const Option options[] = {
      {"", OPTION_TEXTS, &c->models, "MODEL", ""},
      {"--methods", OPTION_TEXT, &c->method_list, "LIST", help->methods},
      {"--rtol", OPTION_NUMBERS, &c->rtol, "LIST", "relative tolerances (default: 1e-4,1e-6,1e-8)"},
      {"--atol", OPTION_NUMBERS, &c->atol, "LIST", "absolute ones, one or as many (default: in the model's ratio)"},
      {"--step", OPTION_NUMBERS, &c->step, "LIST", "steps where they are fixed, s (default: for equal evaluations)"},
      {"--t-end", OPTION_NUMBER, &c->t_end, "SECONDS", "end of the simulations"},
      {"--reference", OPTION_TEXT, &c->reference, "NAME|FILE",
       "method of the reference, two of them, or a result file"},
      {"--reference-rtol", OPTION_NUMBER, &c->reference_rtol, "NUMBER", "its tolerance (default: 1e-12)"},
      {"--measure", OPTION_TEXT, &c->measure, "NAME", "of the profile: time (default) or evaluations"},
      {"--accept", OPTION_NUMBER, &c->accept, "FACTOR", "solved: error up to so many tolerances (default: 100)"},
      {"--jobs", OPTION_NUMBER, &c->jobs, "N", "processes at a time (default: one a processor)"},
      {"--timeout", OPTION_NUMBER, &c->timeout, "SECONDS", "processor time of a run until it is ended (default: 60)"},
      {"--repeat", OPTION_NUMBER, &c->repeat, "N", "timed runs of each (default: three or more, 0.1 s of them)"},
      RUN_OPTIONS(c, &help->words),
      {"--formulation", OPTION_TEXT, &c->formulation, "NAME",
       "relative, absolute or penalty (docs/theory/formulations.md)"},
      {"--contact", OPTION_TEXT, &c->words.contact, "NAME",
       "of all runs: continuous, timestepping or event (docs/theory/contact-study.md)"},
      IMPACT_OPTIONS(c),
      {"--csv", OPTION_TEXT, &c->csv, "FILE.csv", "write all numbers as a table; - is standard output"},
      {"--svg", OPTION_TEXT, &c->svg, "DIR", "write the figures into this folder"},
      {"--lock-massless", OPTION_FLAG, &c->lock, NULL, LOCK_HELP},
      {"--set", OPTION_SETTING, &c->settings, "NAME=VALUE", "override a parameter of all models; as often as wanted"},
      {"--base", OPTION_TEXT, &c->base, "WORD", "URDF: fixed to the ground, or floating"},
      {"--package", OPTION_TEXTS, &c->packages, "[NAME=]FOLDER", "where package://NAME is; as often as wanted"},
      PLUGINS_OPTION(&c->plugins),
      VERBOSE_OPTION(c->cli),
      {"--json", OPTION_FLAG, &c->cli->json, NULL, "print one JSON object on standard output"}};
  if (verb_options(c->cli, verb, options, COUNT(options), argc, argv, &first, &status) == 0) status = compare(c);
  return status;
}

int cmd_compare(Cli* cli, const Verb* verb, int argc, char** argv) {
  Compare c = compare_defaults(cli);
  const Help help = help_of_words();
  const int status = parse_and_compare(&c, &help, verb, argc, argv);
  close_all(&c);
  return status;
}
