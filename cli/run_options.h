// Options of a simulation that `run` and `compare` share: words in the order of their enumerations, and their weights.
#ifndef SARRUS_CLI_RUN_OPTIONS_H
#define SARRUS_CLI_RUN_OPTIONS_H

#include "cli.h"

#define COUNT(words) ((int)(sizeof(words) / sizeof(words)[0]))

// As given; NULL: not given.
typedef struct RunWords {
  const char *stabilization, *metric, *control, *family, *tangent, *impact, *impact_friction, *impact_order, *contact;
} RunWords;

// The word of --start; NULL: as given.
bool start_exists(Cli* cli, const char* word);
srStart start_of(const char* word);

const char* contact_word(srContactMode mode);

// Index of a given word, or the previous value where none was given.
int word_index(const char* word, const char* const* words, int n, int before);
bool run_words_exist(Cli* cli, const RunWords* given);                // false: messages list the choices
void run_words_settle(const RunWords* given, srRunOptions* options);  // after run_words_exist

// Lines of the help that name words.
typedef struct RunHelp {
  char stabilization[160], control[160], family[160], tangent[160];
} RunHelp;
RunHelp run_words_help(void);

#define IMPACT_OPTIONS(r)                                                                                              \
  {"--impact", OPTION_TEXT, &(r)->words.impact, "LAW",                                                                 \
   "contact event: law of restitution: auto (poisson where there is friction, else newton), newton, poisson, "         \
   "stronge"},                                                                                                         \
      {"--impact-friction", OPTION_TEXT, &(r)->words.impact_friction, "NAME",                                          \
       "contact event: against the slip after each phase (algebraic) or at every moment of an impact (shock)"},        \
  {                                                                                                                    \
    "--impact-order", OPTION_TEXT, &(r)->words.impact_order, "NAME",                                                   \
        "contact event: impacts at one instant together (simultaneous) or one after the other (sequential)"            \
  }

#define RUN_OPTIONS(r, help)                                                                                           \
  {"--control", OPTION_TEXT, &(r)->words.control, "NAME", (help)->control},                                            \
      {"--rho", OPTION_NUMBER, &(r)->rho, "NUMBER", "genalpha: spectral radius at infinity, 0 to 1"},                  \
      {"--family", OPTION_TEXT, &(r)->words.family, "NAME", (help)->family},                                           \
      {"--tangent", OPTION_TEXT, &(r)->words.tangent, "NAME", (help)->tangent},                                        \
      {"--stabilization", OPTION_TEXT, &(r)->words.stabilization, "NAME", (help)->stabilization},                      \
      {"--alpha", OPTION_NUMBER, &(r)->alpha, "1/SECONDS", "baumgarte, augmented: weight of velocities"},              \
      {"--beta", OPTION_NUMBER, &(r)->beta, "1/SECONDS", "baumgarte, augmented: weight of positions"}, {               \
    "--metric", OPTION_TEXT, &(r)->words.metric, "NAME", "of projections: mass or identity"                            \
  }

#endif
