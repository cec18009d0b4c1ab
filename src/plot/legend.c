// Legends: which names go to which, the style of a name, and the size of the box. A legend is outside the axes,
// so that it covers no data. Where names occur in several panels the figure has one legend, and a name has the
// same everywhere; where each panel has names of its own, each has its legend and begins with the first colour.
#include <math.h>
#include <string.h>

#include "plot/plot.h"

#define APART 20.0    // px between columns
#define MOST_ROWS 16  // of a legend beneath the panels

// True when a name is in two panels, or there is one panel. Names of one panel among several are beside that panel.
static bool one_for_all(srPool* pool, const srPlot* plot) {
  srNames names;
  sr_names_init(&names, pool);
  int used = 0;
  for (int p = 0; p < plot->def.rows * plot->def.columns; p++) {
    const srPanel* panel = &plot->panel[p];
    used += panel->used;
    for (int i = 0; i < panel->nseries; i++) {
      if (!*panel->series[i].name) continue;
      const int before = sr_names_find(&names, panel->series[i].name);
      if (before >= 0 && before != p) return true;
      (void)sr_names_put(&names, panel->series[i].name, p);
    }
  }
  return used <= 1;
}

static int next_look(srLegend* legend, srLayout* layout) {
  if (legend->next >= SR_PLOT_LOOKS) layout->alike++;
  return legend->next++ % SR_PLOT_LOOKS;
}

// The style of a series; its name enters the legend where it is new.
static int enter(srPool* pool, srLayout* layout, srLegend* legend, const srPanel* panel, const srPanelSeries* series) {
  const bool line = series->style != SR_PLOT_MARKERS, markers = sr_look_marked(panel, series);
  if (!*series->name) return series->look >= 0 ? series->look : next_look(legend, layout);
  const int known = sr_names_find(&legend->names, series->name);
  if (known >= 0) {
    srLegendEntry* entry = &legend->entry[known];
    entry->line = entry->line || line;
    entry->markers = entry->markers || markers;
    entry->dashed = entry->dashed || sr_look_dashed(panel);
    return series->look >= 0 ? series->look : entry->look;
  }
  const int look = series->look >= 0 ? series->look : next_look(legend, layout);
  (void)sr_names_put(&legend->names, series->name, legend->n);
  const srLegendEntry entry = {series->name, look, line, markers, sr_look_dashed(panel)};
  SR_PUSH(pool, legend->entry, legend->n, legend->capacity) = entry;
  return look;
}

void sr_legends_collect(srPool* pool, const srPlot* plot, srLayout* layout) {
  const srPlotLegend wish = plot->def.legend;
  layout->panel_legends = wish == SR_PLOT_LEGEND_PANEL || (wish == SR_PLOT_LEGEND_AUTO && !one_for_all(pool, plot));
  sr_names_init(&layout->legend.names, pool);
  for (int p = 0; p < plot->def.rows * plot->def.columns; p++) {
    const srPanel* panel = &plot->panel[p];
    srCell* cell = &layout->cell[p];
    sr_names_init(&cell->legend.names, pool);
    srLegend* legend = layout->panel_legends ? &cell->legend : &layout->legend;
    cell->look = sr_pool_alloc(pool, (size_t)panel->nseries * sizeof *cell->look);
    for (int i = 0; i < panel->nseries; i++) cell->look[i] = enter(pool, layout, legend, panel, &panel->series[i]);
  }
}

// --------------------------------------------------------------------------------------------------------------- sizes
static double column_width(const srLegend* legend) {
  double widest = 40;
  for (int i = 0; i < legend->n; i++)
    widest = fmax(widest, fmin(sr_text_width(legend->entry[i].name, SR_FONT, false), SR_LEGEND_NAME));
  return SR_LEGEND_SAMPLE + SR_LEGEND_GAP + ceil(widest);
}

static int at_least_one(double x) { return x >= 1 ? (int)x : 1; }

static void set_box(srLegend* legend, int rows, int columns) {
  legend->rows = rows;
  legend->columns = columns;
  legend->shown = legend->n <= rows * columns ? legend->n : rows * columns - 1;
  legend->box.w = columns * legend->column_width + (columns - 1) * APART;
  legend->box.h = rows * SR_LEGEND_ROW;
  legend->column_width += APART;  // from one column to the next
}

void sr_legend_below(srLegend* legend, double width) {
  if (legend->n == 0) return;
  legend->column_width = column_width(legend);
  legend->by_rows = true;
  int columns = at_least_one((width + APART) / (legend->column_width + APART));
  int rows = (legend->n + columns - 1) / columns;
  columns = (legend->n + rows - 1) / rows;  // rows of about the same length
  if (rows > MOST_ROWS) rows = MOST_ROWS;
  set_box(legend, rows, columns);
}

void sr_legend_beside(srLegend* legend, double height, double most_width) {
  if (legend->n == 0) return;
  legend->column_width = column_width(legend);
  int rows = at_least_one(height / SR_LEGEND_ROW);
  if (rows > legend->n) rows = legend->n;
  int columns = (legend->n + rows - 1) / rows;
  const int most = at_least_one((most_width + APART) / (legend->column_width + APART));
  if (columns > most) columns = most;
  set_box(legend, rows, columns);
}
