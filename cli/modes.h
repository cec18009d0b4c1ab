// What the files of sarrus modes share.
#ifndef SARRUS_CLI_MODES_H
#define SARRUS_CLI_MODES_H

#include "balance.h"
#include "page.h"

typedef struct ModesCall {
  Cli* cli;
  Model m;  // what is to be opened
  State state;
  Balance balance;
  const char *at, *sweep, *csv, *svg;
  const char *input, *output, *response;
  const char* shapes;
  PageFile page;     // of shapes
  double amplitude;  // of shapes; NOT_GIVEN
  double count;      // eigenvalues wanted; NOT_GIVEN: all
  RestContact contact;
  srRest* rest;  // rigid contacts, of --contact event; made by modes_find
} ModesCall;

int modes_open(ModesCall* x);  // x->m at its state
// The same, and linearizes it. *data: the state that the equations belong to. 0, or the exit status after cli_refuse.
int modes_find(ModesCall* x, srLinear** linear, srModes** modes, srData** data);

// --sweep NAME=FROM:TO:N (modes_sweep.c): eigenvalues along a parameter, table, figures, report. Returns the exit status.
int modes_sweep(ModesCall* x);

// --shapes DIR (modes_shapes.c): a result file for each mode, at the state of `data`. False: reported.
bool shapes_write(const ModesCall* x, const srLinear* linear, const srModes* modes, const srData* data);

// --page FILE.html: the shapes in a page. False: reported.
bool shapes_page(ModesCall* x, const srLinear* linear, const srModes* modes, srData* data);

// --input, --output, --response (modes_ports.c): checked, and found for the linear equations. False: reported. To be freed by ports_free.
bool ports_find(ModesCall* x, const srLinear* linear, srModePorts* out);
bool ports_write(const ModesCall* x, const srModePorts* p, const char* model);  // --csv and --svg
void ports_free(srModePorts* p);

#endif
