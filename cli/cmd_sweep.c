// sarrus sweep: a verb over a grid or a sample of parameters, in worker processes and over MPI, restartable, one table.
//
// Row i depends on the command and on i alone, and the table has the rows in their order: it has the same bytes for any number of workers and ranks, and for a
// sweep that was killed and continued.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sweep.h"

enum { MOST_WORKERS = 1024, PROBES = 8 };

static double wall_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ------------------------------------------------------------------------------------------------------------ what is asked
static bool find_verb(Sweep* s, const TextList* words) {
  char list[256] = "";
  int n;
  for (int i = 0; i < verb_count; i++)
    if (cells_default(verbs[i].name, &n))
      snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "", verbs[i].name);
  if (words->n != 2) {
    cli_error(
        s->cli,
        "sarrus sweep needs a verb and a model, such as sarrus sweep run MODEL --sweep k=1:5:9; it has %d argument%s",
        words->n, words->n == 1 ? "" : "s");
    return false;
  }
  s->model = words->item[1];
  s->verb = verb_find(s->cli, words->item[0]);
  if (!s->verb || cells_default(s->verb->name, &n)) return s->verb;
  cli_error(s->cli,
            strcmp(s->verb->name, "sweep") == 0
                ? "a sweep of sweeps is one sweep with more parameters; the verbs are %s"
                : "the verb of a sweep is one of %s",
            list);
  return false;
}

// Options of the verb that would be the same file in every row, or no row at all.
static bool check_inner(Sweep* s) {
  static const char* const files[] = {"--out", "-o", "--csv", "--svg", "--shapes", "--save-problems"};
  for (int i = 0; i < s->ninner; i++) {
    const char* word = s->inner[i];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
      return cli_error(s->cli, "--help behind -- is no option of rows: sarrus %s --help", s->verb->name), false;
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
      const size_t n = strlen(files[k]);
      const char* value = strcmp(word, files[k]) == 0 && i + 1 < s->ninner ? s->inner[i + 1] : word;
      if (strncmp(word, files[k], n) != 0 || (word[n] && word[n] != '=') || strstr(value, "{row}")) continue;
      cli_error(s->cli,
                "%s of %s would be the same file in every row: write {row} into its name, which becomes the number of "
                "the row",
                files[k], s->verb->name);
      return false;
    }
  }
  return true;
}

static bool make_plan(Sweep* s) {
  srMessages* messages = s->cli->messages;
  if (sr_sweep_create(&s->plan) != SR_OK) return cli_error(s->cli, "out of memory"), false;
  bool good = true;
  for (int i = 0; i < s->grids.n; i++) good = sr_sweep_grid(s->plan, s->grids.item[i], messages) == SR_OK && good;
  for (int i = 0; i < s->randoms.n; i++) good = sr_sweep_random(s->plan, s->randoms.item[i], messages) == SR_OK && good;
  if (!good) return false;
  if (sr_sweep_count(s->plan) == 0)
    return cli_error(
               s->cli,
               "no parameter is swept: give --sweep NAME=FROM:TO:N, or --random NAME=uniform:LOW:HIGH with --sample N"),
           false;
  if ((s->randoms.n > 0) != !isnan(s->sample)) return cli_error(s->cli, "--random and --sample N go together"), false;
  if (!isnan(s->seed) && isnan(s->sample)) return cli_error(s->cli, "--seed is for --sample N"), false;
  if (!isnan(s->sample)) {
    const double most = 9007199254740992.0;
    if (s->sample != floor(s->sample) || s->sample < 1)
      return cli_error(s->cli, "--sample expects a whole number, at least 1, not %g", s->sample), false;
    if (!isnan(s->seed) && !(s->seed >= 0 && s->seed <= most && s->seed == floor(s->seed)))
      return cli_error(s->cli, "--seed expects a whole number from 0 to 2^53, not %.17g", s->seed), false;
    if (sr_sweep_sample(s->plan, s->sample < 1e18 ? (long long)s->sample : 1000000000000000000,
                        isnan(s->seed) ? 0 : (unsigned long long)s->seed, messages) != SR_OK)
      return false;
  }
  s->rows = sr_sweep_rows(s->plan);
  return true;
}

// Parameters that are written {NAME} in the options.
static bool find_places(Sweep* s) {
  const int n = sr_sweep_count(s->plan);
  s->placed = calloc((size_t)n, sizeof *s->placed);
  if (!s->placed) return cli_error(s->cli, "out of memory"), false;
  for (int k = 0; k < n; k++) {
    char place[200];
    snprintf(place, sizeof place, "{%s}", sr_sweep_name(s->plan, k));
    for (int i = 0; i < s->ninner; i++) s->placed[k] = s->placed[k] || strstr(s->inner[i], place);
  }
  return true;
}

static bool choose_results(Sweep* s) {
  int n = 0;
  const char* const* paths = cells_default(s->verb->name, &n);
  s->by_default = s->results.n == 0;
  if (!s->by_default) n = s->results.n, paths = s->results.item;
  for (int i = 0; i < n; i++)
    if (!paths_add_list(&s->wanted, paths[i])) return cli_error(s->cli, "out of memory"), false;
  return s->wanted.n > 0 || (cli_error(s->cli, "--result has no path in it"), false);
}

static bool check_numbers(Sweep* s, bool ranks) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  double threads = ranks || processors < 1 ? 1 : (double)processors;
  if (!isnan(s->threads)) threads = s->threads;
  if (!(threads >= 1 && threads <= MOST_WORKERS && threads == floor(threads)))
    return cli_error(s->cli, "--threads must be a whole number from 1 to %d, not %g", MOST_WORKERS, threads), false;
  if (s->timeout <= 0) return cli_error(s->cli, "--timeout must be greater than zero, not %g", s->timeout), false;
  s->nworker = (int)fmin(threads, (double)s->rows);
  return true;
}

static bool check_outputs(Sweep* s) {
  const size_t n = s->out ? strlen(s->out) : 0;
  if (!output_is_free(s->cli, s->out, s->model) || !output_begin(s->cli, "--out", &s->out, SR_CONTENT_TABLE))
    return false;
  if (s->out && result_stem(s->out) < n && strcmp(s->out + result_stem(s->out), ".csv") != 0)
    return cli_error(s->cli, "the table of a sweep has words and is CSV: give --out a name that ends in .csv, not '%s'",
                     s->out),
           false;
  return folder_begin(s->cli, "--svg", s->svg);
}

// ------------------------------------------------------------------------------------------------------- files that rows read
static uint64_t hash_file(uint64_t hash, const char* path) {
  char bytes[65536];
  FILE* file = fopen(path, "rb");
  hash = hash_bytes(hash, path, strlen(path) + 1);
  for (size_t n; file && (n = fread(bytes, 1, sizeof bytes, file)) > 0;) hash = hash_bytes(hash, bytes, n);
  if (file) fclose(file);
  return hash;
}

static bool is_file(const char* path) {
  struct stat there;
  return stat(path, &there) == 0 && S_ISREG(there.st_mode);
}

// What the verb said, as if it had been called by the user.
static void pass_errors(Cli* cli, const Row* row) {
  for (int i = 0; row->messages && i < sr_messages_count(row->messages); i++) {
    const srMessage* m = sr_messages_get(row->messages, i);
    if (m->severity == SR_SEVERITY_ERROR) sr_messages_add(cli->messages, m->severity, m->place, "%s", m->text);
  }
}

// The verb is called as for a row, and ends when its model is open: errors of its options and of the model are known now, and the files of the model.
// A value that the model refuses is a matter of its row: the first and the last are tried.
static bool open_model(Sweep* s) {
  Row row = {0}, last = {0};
  row_run(s, 0, true, &row);
  Row* opened = &row;
  if (!row.kept.opened && s->rows > 1) row_run(s, s->rows - 1, true, opened = &last);
  bool good = opened->kept.opened;
  if (!good) pass_errors(s->cli, &row);
  const srText* files = &opened->kept.files;
  for (const char* p = files->data; good && p && p < files->data + files->n; p += strlen(p) + 1) {
    good = output_is_free(s->cli, s->out, p);
    s->content = hash_file(s->content, p);
  }
  for (int i = 0; i < s->ninner; i++) {
    const char* value = strrchr(s->inner[i], '=') ? strrchr(s->inner[i], '=') + 1 : s->inner[i];
    if (is_file(value)) s->content = hash_file(s->content, value);
  }
  row_free(&row);
  row_free(&last);
  return good;
}

// ------------------------------------------------------------------------------------------------------------------- work
typedef struct Leader {
  Sweep* s;
  Journal journal;
  Pool pool;
  Ranks* ranks;
  Progress progress;
  long long next;  // all rows before it are done or given out
} Leader;

static void on_row(void* user, long long row, const char* line, size_t n) {
  journal_put(&((Leader*)user)->journal, row, line, n);
}

static long long next_row(void* user) {
  Leader* l = user;
  while (l->next < l->s->rows && journal_has(&l->journal, l->next)) l->next++;
  return l->next < l->s->rows ? l->next++ : -1;
}

// Columns from the first row that has a result, of some that are spread over the sweep.
static bool find_columns(Leader* l) {
  Sweep* s = l->s;
  if (s->columns.n > 0) return true;
  for (int i = 0; i < PROBES && (i == 0 || i < s->rows); i++) {
    const int found = pool_probe(&l->pool, s->rows <= PROBES ? i : (s->rows - 1) * i / (PROBES - 1), &s->columns);
    if (found < 0) return false;
    if (found > 0) return true;  // or stopped, which is seen later
  }
  cli_warning(s->cli,
              "none of the rows that were tried for the columns of the table has a result; they are those of --result "
              "as they are");
  for (int i = 0; i < s->wanted.n; i++)
    if (!strchr(s->wanted.item[i], '*') && !paths_add(&s->columns, s->wanted.item[i], strlen(s->wanted.item[i])))
      return cli_error(s->cli, "out of memory"), false;
  return true;
}

static bool feed(Leader* l) {
  for (long long n = pool_wants(&l->pool, 0.05); n > 0; n--) {
    const long long row = next_row(l);
    if (row < 0) break;
    if (!pool_add(&l->pool, row)) return cli_error(l->s->cli, "out of memory"), false;
  }
  return true;
}

static bool work(Leader* l) {
  Sweep* s = l->s;
  if (l->journal.done < s->rows && !journal_begin(&l->journal, s)) return false;
  while (l->journal.done < s->rows) {
    if (progress_count(&l->progress, l->journal.done, s->rows, "rows")) return true;
    if (!feed(l)) return false;
    if (l->ranks) ranks_feed(l->ranks, &l->pool, next_row, l);
    if (!pool_step(&l->pool, l->ranks ? 2 : 100))
      return cli_error(s->cli, "no process could be started for the rows"), false;
    if (l->ranks) ranks_take(l->ranks, &l->pool);
    if (!journal_flush(&l->journal, s->cli)) return false;
  }
  return true;
}

static bool prepare(Leader* l) {
  Sweep* s = l->s;
  if (!journal_open(&l->journal, s)) return false;
  if (l->ranks && !ranks_wait(l->ranks, &l->pool)) return false;
  if (l->journal.done == s->rows) return true;
  if (!find_columns(l)) return false;
  if (stop_asked()) return l->progress.stopped = true, true;
  if (!pool_set_columns(&l->pool)) return false;
  if (l->ranks) ranks_set_columns(l->ranks, s);
  return true;
}

// ------------------------------------------------------------------------------------------------------------------- ending
static void tell(Leader* l, const Outcome* o) {
  Cli* cli = l->s->cli;
  const char* again = l->journal.path ? "; the same command continues" : "";
  if (o->failed > 0) cli_warning(cli, "%lld of %lld rows failed; %s", o->failed, l->s->rows, o->first);
  if (o->failed == 0 && o->warned > 0)
    cli_warning(cli, "%lld of %lld rows have warnings; %s", o->warned, l->s->rows, o->first);
  if (o->stopped) cli_error(cli, "stopped by the user after %lld of %lld rows%s", l->journal.done, l->s->rows, again);
}

static int finish(Leader* l, Outcome* o) {
  Sweep* s = l->s;
  srText text = {0};
  table_count(s, &l->journal, o);
  bool good = !s->out || (o->stopped && s->columns.n == 0) || table_write(s, &l->journal);
  const bool whole = good && !o->stopped;
  if (good && s->svg && s->columns.n > 0) good = plot_sweep(s, &l->journal);
  tell(l, o);
  if (!good) return cli_refuse(s->cli, EXIT_FAILED);
  cli_show(s->cli);
  table_report(s, &l->journal, o, &text);
  const int status = cli_print(s->cli, &text);
  if (whole) journal_close(&l->journal, true), l->journal = (Journal){.file = -1};
  return o->stopped || o->failed == s->rows ? EXIT_FAILED : status;
}

static int lead(Leader* l, int ranks) {
  const double begun = wall_clock();
  l->progress = progress_begin(l->s->cli);
  const bool prepared = prepare(l), good = prepared && (l->progress.stopped || work(l));
  progress_end(&l->progress);
  pool_end(&l->pool);
  l->pool = (Pool){0};
  Outcome outcome = {.ranks = ranks,
                     .by_rank = ranks_rows(l->ranks, l->journal.done - l->journal.resumed),
                     .seconds = wall_clock() - begun,
                     .stopped = l->progress.stopped};
  if (good) return finish(l, &outcome);
  return cli_refuse(l->s->cli, prepared ? EXIT_FAILED : EXIT_INPUT);
}

static int start(Sweep* s) {
  int rank = 0, ranks = 1;
  Leader l = {.s = s, .journal.file = -1};
  l.pool.done = on_row;
  l.pool.user = &l;
  signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of writing, as a full disk is
  int status = EXIT_FAILED;
  bool good = pool_begin(&l.pool, s, s->nworker);
  if (good && ranks_launched(&rank) != 1) good = (l.ranks = ranks_begin(s, &rank, &ranks)) != NULL;
  if (!good) {
    status = cli_refuse(s->cli, EXIT_FAILED);
  } else if (rank > 0) {
    ranks_serve(l.ranks, &l.pool);
    status = EXIT_DONE;
  } else {
    status = lead(&l, ranks);  // writes the table before it waits for the other ranks: mpirun may be ending them
  }
  ranks_end(l.ranks);
  pool_end(&l.pool);
  journal_close(&l.journal, false);
  return status;
}

static int prepare_and_start(Sweep* s, const TextList* words, bool ranks) {
  if (!find_verb(s, words) || !check_inner(s) || !make_plan(s) || !find_places(s) || !choose_results(s) ||
      !check_numbers(s, ranks) || !check_outputs(s) || !open_model(s))
    return cli_refuse(s->cli, EXIT_INPUT);
  return start(s);
}

static bool is_unknown_option(const Cli* cli) {
  for (int i = 0; i < sr_messages_count(cli->messages); i++)
    if (strncmp(sr_messages_get(cli->messages, i)->text, "unknown option", 14) == 0) return true;
  return false;
}

int cmd_sweep(Cli* cli, const Verb* verb, int argc, char** argv) {
  int rank = 0, status = EXIT_DONE, own = 0;
  const bool ranks = ranks_launched(&rank) != 1;
  InnerCall quiet = {0};
  Sweep s = {.cli = cli,
             .sample = NOT_GIVEN,
             .seed = NOT_GIVEN,
             .threads = NOT_GIVEN,
             .timeout = NOT_GIVEN,
             .content = HASH_BEGIN};
  TextList words = {0};
  const char* first = NULL;
  const Option options[] = {
      {"", OPTION_TEXTS, &words, NULL, NULL},
      {"--sweep", OPTION_TEXTS, &s.grids, "NAME=A:B:N",
       "N values of a parameter from A to B, A:B:N:log at equal ratios, or a list NAME=1,2,5; as often as wanted: all "
       "combinations"},
      {"--random", OPTION_TEXTS, &s.randoms, "NAME=LAW",
       "random values: uniform:A:B, loguniform:A:B or normal:MEAN:DEVIATION; as often as wanted"},
      {"--sample", OPTION_NUMBER, &s.sample, "N", "so many of them, at each point of the grid"},
      {"--seed", OPTION_NUMBER, &s.seed, "S", "of the random values (default: 0)"},
      {"--result", OPTION_TEXTS, &s.results, "PATH",
       "a result by its path in the verb's --json: q[0], q(JOINT), energy.residual, modes[*].re, or a list of them; as "
       "often as wanted"},
      OUT_OPTIONS(&s.out, "FILE.csv",
                  "write the table; - is standard output. A sweep that was stopped continues from FILE.csv.journal"),
      {"--svg", OPTION_TEXT, &s.svg, "DIR", "write a figure of each result over the parameters into this folder"},
      {"--threads", OPTION_NUMBER, &s.threads, "N",
       "rows at a time, each in a process (default: one a processor; under mpirun: one a rank)"},
      {"--timeout", OPTION_NUMBER, &s.timeout, "SECONDS", "longest time of a row (default: none)"},
      VERBOSE_OPTION(cli),
      {"--json", OPTION_FLAG, &cli->json, NULL, "print one JSON object on standard output"}};
  while (own < argc && strcmp(argv[own], "--") != 0) own++;
  if (own < argc) s.inner = argv + own + 1, s.ninner = argc - own - 1;
  if (rank > 0) cli->kept = &quiet, cli->quiet = true;  // the first rank speaks for all
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], own, argv, &first, &status) == 0)
    status = prepare_and_start(&s, &words, ranks);
  else if (is_unknown_option(cli))
    fputs(
        "sarrus: note: options of the verb are written behind --: sarrus sweep run MODEL --sweep k=1:5:9 -- --t-end "
        "2\n",
        stderr);
  texts_free(&words), texts_free(&s.grids), texts_free(&s.randoms), texts_free(&s.results);
  paths_free(&s.wanted), paths_free(&s.columns);
  sr_sweep_destroy(s.plan);
  free(s.placed);
  sr_text_free(&quiet.json), sr_text_free(&quiet.files);
  cli->kept = NULL;
  return status;
}
