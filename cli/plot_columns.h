// Which columns of result tables go to which panel of `sarrus plot`.
#ifndef SARRUS_CLI_PLOT_COLUMNS_H
#define SARRUS_CLI_PLOT_COLUMNS_H

#include "cli.h"

typedef struct PlotPanel {
  int* column;  // indices into the names of all tables
  int n;
} PlotPanel;

typedef struct PlotColumns {
  const char** names;  // of all tables, each once, in order of appearance
  const char** units;  // where a name was first met
  int n;
  int x;  // of them, on the horizontal axis
  PlotPanel* panel;
  int npanel;
} PlotColumns;

// True when the text fits the pattern, in which * matches any letters and ? one.
bool pattern_fits(const char* pattern, const char* text);

// Collects the names, finds x (NULL: the first column) and a panel for each of the lists y; without lists, panels of
// the columns q.* and v.* by unit, or of all columns. False after an error.
bool plot_columns_choose(Cli* cli, srResultTable* const* tables, int ntable, const char* x, const TextList* y,
                         PlotColumns* out);
void plot_columns_free(PlotColumns* columns);

#endif
