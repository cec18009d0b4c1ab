// What `sarrus view` shows of a result table.
#ifndef SARRUS_CLI_VIEW_H
#define SARRUS_CLI_VIEW_H

#include "cli.h"

// The page of the table m->path: poses from its columns q.*, of the model that it names, or of `of`. m opens that model. 0, or the exit status after
// cli_refuse.
int view_result(Cli* cli, Model* m, const char* of, const char* front, srText* page);

#endif
