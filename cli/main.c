// sarrus VERB MODEL [options]: finds the verb and calls it. The verbs are in cmd_<verb>.c.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

const Verb verbs[] = {
#define VERB_ROW(name, arguments, about, example) {#name, arguments, about, example, cmd_##name},
    VERB_LIST(VERB_ROW)
#undef VERB_ROW
};
const int verb_count = (int)(sizeof verbs / sizeof verbs[0]);

// A program built with one version of the headers must not run on another version of the library.
static bool version_fits(void) {
  if (strcmp(sr_version(), SR_VERSION_STRING) == 0) return true;
  fprintf(stderr, "sarrus: error: this program is version %s but the library it found is %s; install them together\n",
          SR_VERSION_STRING, sr_version());
  return false;
}

const Verb* verb_find(Cli* cli, const char* word) {
  const char* words[sizeof verbs / sizeof verbs[0]];
  for (int i = 0; i < verb_count; i++) {
    if (strcmp(verbs[i].name, word) == 0) return &verbs[i];
    words[i] = verbs[i].name;
  }
  const char* meant = sr_nearest_word(word, words, verb_count);
  const char* what = word[0] == '-' ? "option" : "verb";
  if (meant)
    cli_error(cli, "unknown %s '%s'; did you mean '%s'?", what, word, meant);
  else
    cli_error(cli, "unknown %s '%s'; sarrus --help lists those that exist", what, word);
  return NULL;
}

static int dispatch(Cli* cli, int argc, char** argv) {
  if (argc < 2) return help_overview(stderr), EXIT_INPUT;
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return help_overview(stdout), EXIT_DONE;
  if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
    return printf("sarrus %s\n", sr_version()), EXIT_DONE;
  // Errors in the options themselves are reported in the requested form, too.
  for (int i = 1; i < argc; i++) cli->json = cli->json || strcmp(argv[i], "--json") == 0;
  const Verb* verb = verb_find(cli, argv[1]);
  if (!verb) return cli_refuse(cli, EXIT_INPUT);
  return verb->run(cli, verb, argc - 2, argv + 2);
}

int main(int argc, char** argv) {
  if (!version_fits()) return EXIT_FAILED;
  Cli cli = {.report = stdout, .messages = sr_messages_create()};
  if (!cli.messages) return fprintf(stderr, "sarrus: error: out of memory\n"), EXIT_FAILED;
  int status = dispatch(&cli, argc, argv);
  cli_show_hidden(&cli);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "sarrus: error: standard output could not be written\n");
    if (status == EXIT_DONE) status = EXIT_FAILED;
  }
  sr_messages_destroy(cli.messages);
  return status;
}
