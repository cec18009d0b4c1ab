// What equilibrium, modes --at equilibrium and run --start equilibrium share: their options, and a model in equilibrium.
#ifndef SARRUS_CLI_BALANCE_H
#define SARRUS_CLI_BALANCE_H

#include "cli.h"

typedef struct Balance {
  Settings exchange, speed;
  TextList equation, unknown;
  bool steady;
} Balance;
#define BALANCE_OPTIONS(b)                                                                                             \
  {"--exchange", OPTION_SETTING, &(b)->exchange, "COORDINATE=PARAMETER",                                               \
   "equilibrium: the coordinate keeps its value, the parameter is found; v(JOINT): the speed is found"},               \
      {"--speed", OPTION_SETTING, &(b)->speed, "JOINT=V", "equilibrium: a steady motion with this velocity"},          \
      {"--equation", OPTION_TEXTS, &(b)->equation, "FORMULA",                                                          \
       "equilibrium: a formula that is 0, or left = right ..."},                                                       \
      {"--unknown", OPTION_TEXTS, &(b)->unknown, "PARAMETER", "... and the parameter that is found by it"}, {          \
    "--steady", OPTION_FLAG, &(b)->steady, NULL, "equilibrium: a steady motion; drivers move on, speeds may be free"   \
  }

bool balance_given(const Balance* b);  // any of its options
// Moves m, in joint coordinates, to the equilibrium; where parameters are found, to that of the model with their values. 0, or the exit status after cli_refuse. *out, which may be NULL, is
// to be destroyed.
int balance_find(Cli* cli, const Balance* b, Model* m, srEquilibrium** out);
void balance_free(Balance* b);

#endif
