// Which columns of result tables go to which panel of `sarrus plot`.
#ifndef SARRUS_CLI_PLOT_COLUMNS_H
#define SARRUS_CLI_PLOT_COLUMNS_H

#include "cli.h"

typedef struct PlotPanel {
  int* column;  // indices into the names of all tables
  int* over;    // of each of them, the column on the horizontal axis
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

// What goes to the panels.
typedef struct PlotWish {
  const char* x;       // column of the horizontal axis; NULL: the first
  const TextList* y;   // a panel each: columns over x
  const TextList* xy;  // a panel each: a column, then the columns over it
  const char* phase;   // names of coordinates: v.NAME over q.NAME; NULL: none
} PlotWish;

// Collects the names and finds the columns; without wishes, panels of the columns q.* and v.* by unit, or of all columns.
// False after an error.
bool plot_columns_choose(Cli* cli, srResultTable* const* tables, int ntable, const PlotWish* wish, PlotColumns* out);
void plot_columns_free(PlotColumns* columns);

#endif
