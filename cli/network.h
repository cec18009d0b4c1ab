// Files with the root <network>: what `check` and `run` do with them.
#ifndef SARRUS_CLI_NETWORK_H
#define SARRUS_CLI_NETWORK_H

#include "cli.h"

// An option that was given and has no meaning for a network.
typedef struct NetworkRefusal {
  const char* option;
  bool given;
  const char* reason;  // the end of a sentence
} NetworkRefusal;

typedef struct NetworkRun {
  const char *method, *out;
  double t_end, step, every, threads;  // or NOT_GIVEN
  TextList record;
} NetworkRun;

// Both return the exit status; refusals end with an option NULL.
int network_check(Cli* cli, const Model* m);
int network_run(Cli* cli, const Model* m, const NetworkRun* given, const NetworkRefusal* refusals);

#endif
