// Help as text, as a manual page in troff (man(7)) and as completion for bash, zsh and fish.
#define _DEFAULT_SOURCE  // TIOCGWINSZ
#include "help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// --------------------------------------------------------------------------------------------------------------- text
enum { WIDTH_LEAST = 50, WIDTH_USUAL = 80, LEFT = 26 };  // columns; LEFT: where the texts of options begin

// Columns of the terminal: COLUMNS of the environment first, as other programs do.
static int width(void) {
  const char* columns = getenv("COLUMNS");
  int n = columns ? atoi(columns) : 0;
  struct winsize size;
  if (n <= 0 && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) n = size.ws_col;
  if (n <= 0) n = WIDTH_USUAL;
  return n < WIDTH_LEAST ? WIDTH_LEAST : n;
}

// Prints a text from column `at` on, broken between words; the following lines begin at column `left`.
static void wrap(FILE* out, const char* text, int at, int left, int columns) {
  bool first = true;
  while (*text) {
    const int n = (int)strcspn(text, " ");
    if (!first && at + 1 + n > columns) {
      fprintf(out, "\n%*s", left, "");
      at = left;
    } else if (!first) {
      fputc(' ', out);
      at++;
    }
    fwrite(text, 1, (size_t)n, out);
    at += n;
    text += n;
    while (*text == ' ') text++;
    first = false;
  }
  fputc('\n', out);
}

// A word and its text in two columns; a word that is too long has a line of its own.
static void two_columns(FILE* out, const char* word, int left, const char* text, int columns) {
  const int n = fprintf(out, "  %s", word);
  if (n + 1 > left)
    fprintf(out, "\n%*s", left, "");
  else
    fprintf(out, "%*s", left - n, "");
  wrap(out, text, left, left, columns);
}

// "--name VALUE", as the help prints it.
static const char* option_word(const Option* o, char* word, size_t size) {
  snprintf(word, size, "%s%s%s", o->name, o->value && o->kind != OPTION_CHOICE ? " " : "", o->value ? o->value : "");
  return word;
}

static void text_verb(const Verb* verb, const Option* options, int n) {
  const int columns = width();
  char word[64];
  wrap(stdout, verb->about, printf("sarrus %s: ", verb->name), 2, columns);
  printf("\nusage: sarrus %s %s\n\noptions\n", verb->name, verb->arguments);
  for (int i = 0; i < n; i++)
    if (*options[i].name)
      two_columns(stdout, option_word(&options[i], word, sizeof word), LEFT, options[i].doc, columns);
  two_columns(stdout, "--help", LEFT, "this page", columns);
  printf("\nexample\n  %s\n", verb->example);
}

void help_overview(FILE* out) {
  const int columns = width();
  fprintf(out, "Sarrus %s: multibody dynamics\n\nusage: sarrus VERB MODEL [options]\n\nverbs\n", sr_version());
  for (int i = 0; i < verb_count; i++) two_columns(out, verbs[i].name, 12, verbs[i].about, columns);
  fprintf(out,
          "\n  sarrus help VERB      options of a verb, with an example; also sarrus VERB --help\n"
          "  sarrus --version      version; also -V\n\n"
          "Exit status: 0 done, 1 the computation failed, 2 the input is wrong.\n");
}

// -------------------------------------------------------------------------------------------------------- manual page
// A text in troff: a backslash or a hyphen is escaped, and so is a dot or quote at the beginning of a line.
static void troff(const char* text) {
  if (*text == '.' || *text == '\'') fputs("\\&", stdout);
  for (; *text; text++) {
    if (*text == '\\')
      fputs("\\e", stdout);
    else if (*text == '-')
      fputs("\\-", stdout);
    else
      putchar(*text);
  }
}

static void troff_line(const char* before, const char* text) {
  fputs(before, stdout);
  troff(text);
  putchar('\n');
}

static void man_begin(void) {
  printf(".TH SARRUS 1 \"\" \"Sarrus %s\" \"User Commands\"\n.SH NAME\nsarrus \\- multibody dynamics\n", sr_version());
  printf(".SH SYNOPSIS\n.B sarrus\n.I VERB MODEL\n[options]\n.SH DESCRIPTION\n");
  printf(
      "Sarrus simulates and analyses mechanisms, robots and vehicles: rigid bodies, joints, closed loops, force\n"
      "elements, friction and contact. A verb reads a model file (native, URDF, xacro, MJCF or ROBOTRAN) or a\n"
      "result, and prints a report, or with \\-\\-json one JSON object.\n");
  printf(".SH EXIT STATUS\n0: done; 1: the computation failed; 2: the input is wrong.\n");
}

static void man_verb(const Verb* verb, const Option* options, int n) {
  printf(".SH SARRUS ");
  for (const char* p = verb->name; *p; p++) putchar(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
  printf("\n.B sarrus %s\n", verb->name);
  troff_line("", verb->arguments);
  troff_line(".PP\n", verb->about);
  for (int i = 0; i < n; i++) {
    char word[64];
    if (!*options[i].name) continue;
    troff_line(".TP\n.B ", option_word(&options[i], word, sizeof word));
    troff_line("", options[i].doc);
  }
  troff_line(".PP\nExample:\n.PP\n.EX\n", verb->example);
  printf(".EE\n");
}

// --------------------------------------------------------------------------------------------------------- completion
static void verb_names(const char* separator) {
  for (int i = 0; i < verb_count; i++) printf("%s%s", i ? separator : "", verbs[i].name);
}

static void option_names(const Option* options, int n) {
  for (int i = 0; i < n; i++)
    if (*options[i].name) printf("%s ", options[i].name);
  printf("--help");
}

static void bash_begin(void) {
  printf(
      "# bash completion for sarrus\n_sarrus() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} options=\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ] || [ \"$verb\" = help ]; then\n    mapfile -t COMPREPLY < <(compgen -W '");
  verb_names(" ");
  printf(" --help --version' -- \"$word\")\n    return\n  fi\n  case $verb in\n");
}

static void bash_verb(const Verb* verb, const Option* options, int n) {
  printf("    %s) options='", verb->name);
  option_names(options, n);
  printf("' ;;\n");
}

static void bash_end(void) {
  printf(
      "  esac\n  if [[ $word == -* ]]; then mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\"); "
      "else mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); fi\n}\ncomplete -o filenames -F _sarrus sarrus\n");
}

// A text between single quotes, for a shell; brackets and colons have a meaning in zsh's lists.
static void quoted(const char* text, const char* escaped) {
  putchar('\'');
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", stdout);
    else
      printf("%s%c", strchr(escaped, *text) ? "\\" : "", *text);
  }
  putchar('\'');
}

static void zsh_begin(void) {
  printf("#compdef sarrus\n_sarrus() {\n  if (( CURRENT == 2 )) || [[ ${words[2]} == help ]]; then\n    compadd -- ");
  verb_names(" ");
  printf("\n    return\n  fi\n  local -a options\n  case ${words[2]} in\n");
}

static void zsh_verb(const Verb* verb, const Option* options, int n) {
  printf("    %s) options=(", verb->name);
  for (int i = 0; i < n; i++) {
    char text[512];
    if (!*options[i].name) continue;
    snprintf(text, sizeof text, "%s:%s", options[i].name, options[i].doc);
    putchar(' ');
    quoted(text, "\\");
  }
  printf(" ) ;;\n");
}

static void zsh_end(void) {
  printf(
      "  esac\n  if [[ ${words[CURRENT]} == -* ]]; then _describe option options; else _files; fi\n}\n"
      "_sarrus \"$@\"\n");
}

static void fish_begin(void) {
  printf("# fish completion for sarrus\n");
  for (int i = 0; i < verb_count; i++) {
    printf("complete -c sarrus -n __fish_use_subcommand -f -a %s -d ", verbs[i].name);
    quoted(verbs[i].about, "\\");
    putchar('\n');
  }
}

static void fish_verb(const Verb* verb, const Option* options, int n) {
  for (int i = 0; i < n; i++) {
    if (!*options[i].name) continue;
    const bool one_letter = options[i].name[1] != '-';
    printf("complete -c sarrus -n '__fish_seen_subcommand_from %s' -%c %s%s -d ", verb->name, one_letter ? 's' : 'l',
           options[i].name + (one_letter ? 1 : 2), options[i].kind == OPTION_FLAG ? "" : " -r");
    quoted(options[i].doc, "\\");
    putchar('\n');
  }
}

// -------------------------------------------------------------------------------------------------------------- forms
static void nothing(void) {}

// A new form is one row.
static const struct {
  void (*begin)(void);
  void (*verb)(const Verb* verb, const Option* options, int n);
  void (*end)(void);
} forms[] = {[HELP_TEXT] = {nothing, text_verb, nothing},
             [HELP_MAN] = {man_begin, man_verb, nothing},
             [HELP_BASH] = {bash_begin, bash_verb, bash_end},
             [HELP_ZSH] = {zsh_begin, zsh_verb, zsh_end},
             [HELP_FISH] = {fish_begin, fish_verb, nothing}};

void help_verb(const Cli* cli, const Verb* verb, const Option* options, int n) {
  forms[cli->help].verb(verb, options, n);
}

void help_begin(HelpForm form) { forms[form].begin(); }

void help_end(HelpForm form) { forms[form].end(); }
