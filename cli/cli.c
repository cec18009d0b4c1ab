// What the verbs share: messages, models, help.
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "help.h"

// ---------------------------------------------------------------------------------------------------------- messages
static void add(Cli* cli, srSeverity severity, const char* format, va_list arguments) {
  char text[1024];
  vsnprintf(text, sizeof text, format, arguments);
  sr_messages_add(cli->messages, severity, (srPlace){"sarrus", 0, 0}, "%s", text);
}

void cli_error(Cli* cli, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add(cli, SR_SEVERITY_ERROR, format, arguments);
  va_end(arguments);
}

void cli_warning(Cli* cli, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add(cli, SR_SEVERITY_WARNING, format, arguments);
  va_end(arguments);
}

// Of each kind, how many warnings are still to be shown.
static int* count_kinds(const Cli* cli) {
  int* count = calloc((size_t)sr_messages_kinds(cli->messages) + 1, sizeof *count);
  for (int i = cli->shown; count && i < sr_messages_count(cli->messages); i++) {
    const srMessage* message = sr_messages_get(cli->messages, i);
    if (message->severity == SR_SEVERITY_WARNING) count[message->kind]++;
  }
  return count;
}

// alike: more messages of this kind, which are not printed.
static void print_message(const srMessage* message, int alike) {
  srText text = {0};
  sr_text_message(&text, message);
  fputs(text.failed ? "sarrus: error: out of memory" : text.data, stderr);
  if (alike > 0) fprintf(stderr, " ... and %d more like this; --verbose lists them", alike);
  fputc('\n', stderr);
  sr_text_free(&text);
}

// A note on a file; those of a computation, which have none, concern its result. --quiet hides both.
static bool is_hidden(const Cli* cli, const srMessage* message) {
  return message->severity == SR_SEVERITY_NOTE && (message->place.file || cli->quiet);
}

void cli_show(Cli* cli) {
  if (cli->kept) return;
  int* count = cli->verbose ? NULL : count_kinds(cli);  // NULL: all in full
  for (; cli->shown < sr_messages_count(cli->messages); cli->shown++) {
    const srMessage* message = sr_messages_get(cli->messages, cli->shown);
    if (count && is_hidden(cli, message)) {
      cli->hidden++;
    } else if (count && message->severity == SR_SEVERITY_WARNING) {
      if (count[message->kind] > 0) print_message(message, count[message->kind] - 1);
      count[message->kind] = 0;
    } else {
      print_message(message, 0);
    }
  }
  free(count);
}

void cli_show_hidden(const Cli* cli) {
  if (cli->hidden > 0 && !cli->quiet)
    fprintf(stderr, "sarrus: note: %d note%s on what does not change the motion; --verbose lists %s\n", cli->hidden,
            cli->hidden == 1 ? "" : "s", cli->hidden == 1 ? "it" : "them");
}

srReportForm cli_form(const Cli* cli) { return cli->json ? SR_REPORT_JSON : SR_REPORT_TEXT; }

int cli_print(const Cli* cli, srText* text) {
  const bool whole = !text->failed;
  FILE* out = cli->json ? stdout : cli->report;
  if (whole && text->data && cli->kept)
    sr_text_add(&cli->kept->json, text->data, text->n);
  else if (whole && text->data && (!cli->quiet || cli->json))
    fwrite(text->data, 1, text->n, out);
  if (!whole) fputs("sarrus: error: out of memory\n", stderr);
  sr_text_free(text);
  return whole ? EXIT_DONE : EXIT_FAILED;
}

int cli_refuse(Cli* cli, int status) {
  if (sr_messages_errors(cli->messages) == 0) cli_error(cli, "%s", sr_status_text((srStatus)status));
  cli_show(cli);
  if (cli->json) {
    srText text = {0};
    sr_report_errors(cli->messages, &text);
    cli_print(cli, &text);
  }
  return status;
}

int cli_status(srStatus status) {
  switch (status) {
    case SR_OK: return EXIT_DONE;
    case SR_FAILED:
    case SR_MEMORY: return EXIT_FAILED;
    default: return EXIT_INPUT;
  }
}

// ------------------------------------------------------------------------------------------------------------- words
char* words_join(const char* const* words, int n, char* text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < n && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", words[i]);
  return text;
}

bool word_exists(Cli* cli, const char* option, const char* word, const char* const* known, int n, int built) {
  char list[256];
  words_join(known, built, list, sizeof list);
  for (int i = 0; i < n; i++) {
    if (strcmp(known[i], word) != 0) continue;
    if (i >= built) cli_error(cli, "%s %s is not in version %s yet; there are: %s", option, word, sr_version(), list);
    return i < built;
  }
  const char* meant = sr_nearest_word(word, known, n);
  if (meant)
    cli_error(cli, "%s: unknown word '%s'; did you mean '%s'? There are: %s", option, word, meant, list);
  else
    cli_error(cli, "%s: unknown word '%s'; there are: %s", option, word, list);
  return false;
}

// ------------------------------------------------------------------------------------------------------------ models
static const char* const formulations[] = {
#define WORD(NAME, word) word,
    SR_FORMULATION_LIST(WORD)
#undef WORD
};
enum { FORMULATIONS = sizeof formulations / sizeof formulations[0] };

srFormulation model_formulation(const Model* m) {
  for (int i = 0; m->formulation && i < FORMULATIONS; i++)
    if (strcmp(m->formulation, formulations[i]) == 0) return (srFormulation)i;
  return SR_FORMULATION_RELATIVE;  // model_open has refused words that are none
}

static bool formulation_exists(Cli* cli, const Model* m) {
  return !m->formulation || word_exists(cli, "--formulation", m->formulation, formulations, FORMULATIONS, FORMULATIONS);
}

bool model_is_relative(const Model* m) { return model_formulation(m) == SR_FORMULATION_RELATIVE; }

int model_formulate(Cli* cli, Model* m) {
  const srFormulation formulation = model_formulation(m);
  if (formulation == SR_FORMULATION_RELATIVE) return EXIT_DONE;
  m->relative = m->model;
  m->relative_data = m->data;
  const srStatus status =
      sr_formulate(m->spec, m->relative, m->relative_data, formulation, cli->messages, &m->model, &m->data);
  return status == SR_OK ? EXIT_DONE : cli_refuse(cli, cli_status(status));
}

int model_assemble(Cli* cli, Model* m, srAssemblyChange** change) {
  const srStatus status = sr_assembly_change_create(m->model, m->data, cli->messages, change);
  return status == SR_OK ? EXIT_DONE : cli_refuse(cli, cli_status(status));
}

size_t result_stem(const char* path) {
  static const char* const endings[] = {".csv", ".h5", ".hdf5"};
  const size_t n = strlen(path);
  for (int i = 0; i < 3; i++) {
    const size_t k = strlen(endings[i]);
    if (n > k && strcmp(path + n - k, endings[i]) == 0) return n - k;
  }
  return n;
}

// The folders of --plugins=DIR:DIR, separated in a copy of the text, which free frees. NULL: out of memory.
static const char** split_folders(const char* text, int* n) {
  size_t room = 1;
  for (const char* p = text; *p; p++) room += *p == ':';
  const char** list = malloc(room * sizeof *list + strlen(text) + 1);
  char* copy = list ? memcpy(list + room, text, strlen(text) + 1) : NULL;
  for (char* part = copy ? strtok(copy, ":") : NULL; part; part = strtok(NULL, ":")) list[(*n)++] = part;
  return list;
}

bool number_take(Cli* cli, const char* option, double given, bool zero_allowed, double* target) {
  if (isnan(given)) return true;
  *target = given;
  if (given > 0 || (zero_allowed && given == 0)) return true;
  cli_error(cli, "%s must be greater than zero, not %g", option, given);
  return false;
}

bool model_load_options(const Model* m, srLoadOptions* out, const char*** folders) {
  int nfolder = 0;
  *folders = m->plugins ? split_folders(m->plugins, &nfolder) : NULL;
  *out = (srLoadOptions){.plugins = m->plugins != NULL,
                         .plugin_folders = *folders,
                         .nplugin_folder = nfolder,
                         .settings = m->settings.item,
                         .nsetting = m->settings.n,
                         .base = m->base,
                         .packages = m->packages.item,
                         .npackage = m->packages.n};
  return !m->plugins || *folders;
}

int model_open(Cli* cli, Model* m) {
  if (!formulation_exists(cli, m)) return cli_refuse(cli, EXIT_INPUT);
  const char** folders;
  srLoadOptions how;
  if (!model_load_options(m, &how, &folders)) return cli_refuse(cli, cli_status(SR_MEMORY));
  srStatus status = sr_load(m->path, &how, cli->messages, &m->spec);
  free(folders);
  if (status == SR_OK && m->lock) status = sr_lock_massless(m->spec, cli->messages);
  if (status == SR_OK) status = sr_compile(m->spec, cli->messages, &m->model);
  if (status == SR_OK && m->model->nmassless > 0 && !m->at_rest) {
    cli_error(cli,
              "no motion can be found: some joints move nothing with mass or inertia (see above); --lock-massless "
              "holds them where they start");
    status = SR_INPUT;
  }
  if (status != SR_OK) return cli_refuse(cli, cli_status(status));
  m->data = sr_data_create(m->model);
  if (!m->data) return cli_refuse(cli, cli_status(SR_MEMORY));
  cli_show(cli);  // warnings
  for (int i = 0; cli->kept && i < srs_file_count(m->spec); i++) {
    const char* file = srs_file(m->spec, i);
    (void)model_keep_files(cli, &file, 1);
  }
  return model_keep_files(cli, NULL, 0) ? EXIT_FAILED : EXIT_DONE;
}

bool model_keep_files(Cli* cli, const char* const* files, int n) {
  if (!cli->kept) return false;
  for (int i = 0; i < n; i++) sr_text_add(&cli->kept->files, files[i], strlen(files[i]) + 1);
  cli->kept->opened = true;
  return cli->kept->opening;
}

bool model_is_safe(Cli* cli, const Model* m, const char* output) {
  for (int i = 0; i < srs_file_count(m->spec); i++)
    if (!output_is_free(cli, output, srs_file(m->spec, i))) return false;
  return true;
}

void model_close(Model* m) {
  sr_data_destroy(m->data);
  sr_model_destroy(m->model);
  sr_data_destroy(m->relative_data);
  sr_model_destroy(m->relative);
  srs_destroy(m->spec);
  sr_data_destroy(m->given_data);
  sr_model_destroy(m->given);
  srs_destroy(m->given_spec);
  settings_free(&m->settings);
  free(m->packages.item);
}

// ----------------------------------------------------------------------------------------------------------- options
int verb_options(Cli* cli, const Verb* verb, const Option* options, int n, int argc, char** argv,  //
                 const char** argument, int* status) {
  bool help = false;
  const bool good = options_parse(options, n, argc, argv, cli->messages, argument, &help);
  if (help) {
    help_verb(cli, verb, options, n);
    return *status = EXIT_DONE, 1;
  }
  if (good && *argument) return 0;
  if (good) cli_error(cli, "sarrus %s needs an argument: sarrus %s %s", verb->name, verb->name, verb->arguments);
  *status = cli_refuse(cli, EXIT_INPUT);
  return 1;
}

bool program_folder(char out[PROGRAM_FOLDER_SIZE]) {
  const ssize_t n = readlink("/proc/self/exe", out, PROGRAM_FOLDER_SIZE - 1);
  out[n > 0 ? n : 0] = '\0';
  char* slash = strrchr(out, '/');
  if (slash) *slash = '\0';
  return slash != NULL;
}
