// sarrus help [VERB]: the overview, or the options of a verb; all of them as a manual page or as shell completion.
#include <string.h>

#include "help.h"

// Asks a verb for its help, which it prints from its own table of options.
static int ask(Cli* cli, const Verb* verb) {
  char word[] = "--help";
  char* argv[] = {word};
  return verb->run(cli, verb, 1, argv);
}

// The parts of all verbs in one form.
static int ask_all(Cli* cli, HelpForm form) {
  cli->help = form;
  help_begin(form);
  for (int i = 0; i < verb_count; i++) ask(cli, &verbs[i]);
  help_end(form);
  return EXIT_DONE;
}

static int complete_shell(Cli* cli, const char* shell) {
  static const char* const shells[] = {"bash", "zsh", "fish"};
  if (!word_exists(cli, "--completion", shell, shells, 3, 3)) return cli_refuse(cli, EXIT_INPUT);
  return ask_all(cli, shell[0] == 'b' ? HELP_BASH : shell[0] == 'z' ? HELP_ZSH : HELP_FISH);
}

int cmd_help(Cli* cli, const Verb* verb, int argc, char** argv) {
  TextList words = {0};
  const char *first = "", *shell = NULL;
  bool man = false;
  int status = EXIT_DONE;
  const Option options[] = {
      {"", OPTION_TEXTS, &words, NULL, NULL},
      {"--man", OPTION_FLAG, &man, NULL, "all verbs as a manual page, for man"},
      {"--completion", OPTION_TEXT, &shell, "SHELL", "completion of verbs and options: bash, zsh or fish"},
  };
  if (verb_options(cli, verb, options, 3, argc, argv, &first, &status) != 0) {
    texts_free(&words);
    return status;
  }
  const Verb* asked = words.n == 1 ? verb_find(cli, words.item[0]) : NULL;
  if (words.n > 1) cli_error(cli, "sarrus help takes one verb, not %d words", words.n);
  if (words.n > 0 && !asked)
    status = cli_refuse(cli, EXIT_INPUT);
  else if (asked)
    status = ask(cli, asked);
  else if (shell)
    status = complete_shell(cli, shell);
  else if (man)
    status = ask_all(cli, HELP_MAN);
  else
    help_overview(stdout);
  texts_free(&words);
  return status;
}
