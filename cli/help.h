// The options of a verb as help, manual page or shell completion: all made from the tables that parse them.
#ifndef SARRUS_CLI_HELP_H
#define SARRUS_CLI_HELP_H

#include "cli.h"

// The overview of `sarrus --help`, as wide as the terminal.
void help_overview(FILE* out);
// What `VERB --help` prints, in the form of cli->help.
void help_verb(const Cli* cli, const Verb* verb, const Option* options, int n);
// The frame of a form around the parts of the verbs.
void help_begin(HelpForm form);
void help_end(HelpForm form);

#endif
