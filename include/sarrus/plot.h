// Figures as SVG, PNG or PDF: a grid of panels with lines, markers or steps; linear and logarithmic axes; one legend outside the
// axes. A figure adapts itself to light and dark pages. The same figure gives the same bytes.
//
//   srPlot* plot;
//   sr_plot_create(&(srPlotDef){.title = "Fall"}, &plot);
//   sr_plot_panel(plot, 0, 0, &(srPlotPanel){.x_label = "t", .x_unit = "s", .y_label = "height", .y_unit = "m"});
//   sr_plot_series(plot, 0, 0, &(srPlotSeries){.name = "rk4", .n = n, .x = t, .y = h});
//   srStatus status = sr_plot_write(plot, "fall.svg", messages);
//   sr_plot_destroy(plot);
//
// In every struct zero is the default. Texts and data are copied. Texts are UTF-8 and plain: no markup is read in them.
#ifndef SARRUS_PLOT_H
#define SARRUS_PLOT_H

#include <sarrus/base.h>
#include <sarrus/text.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct srPlot srPlot;  // a figure

typedef enum srPlotTheme {
  SR_PLOT_AUTO,  // light, and dark where the reader prefers dark pages
  SR_PLOT_LIGHT,
  SR_PLOT_DARK,
} srPlotTheme;

typedef enum srPlotScale {
  SR_PLOT_LINEAR,
  SR_PLOT_LOG,  // values <= 0 are left out; the writer warns once, with their number
} srPlotScale;

typedef enum srPlotStyle {
  SR_PLOT_LINE,
  SR_PLOT_LINE_MARKERS,
  SR_PLOT_MARKERS,
  SR_PLOT_STEP,  // y[i] holds from x[i] to x[i+1]: performance profiles, discrete states
} srPlotStyle;

typedef enum srPlotLegend {
  SR_PLOT_LEGEND_AUTO,   // one for the figure when it has one panel or panels share names, else one next to each panel
  SR_PLOT_LEGEND_RIGHT,  // one for the figure, at its right
  SR_PLOT_LEGEND_BELOW,  // one for the figure, beneath the panels
  SR_PLOT_LEGEND_PANEL,  // one at the right of each panel; colours begin anew in each
  SR_PLOT_LEGEND_NONE,
} srPlotLegend;

typedef struct srPlotDef {
  const char* title;        // above all panels; NULL: none
  const char* description;  // for readers who do not see the picture; NULL: made from labels and names
  int rows, columns;        // of panels; 0 is 1
  double width, height;     // px; 0: chosen for the panels and the legend
  srPlotTheme theme;
  srPlotLegend legend;
  // Each panel has an x axis of its own. Else the panels of a column that agree in label, unit and scale of x have one
  // range, written beneath the lowest of them.
  bool separate_x;
} srPlotDef;

// Largest number of panels, and of styles that can be distinguished (colour, dashes, marker); more series repeat them.
#define SR_PLOT_MAX_PANELS 100
#define SR_PLOT_LOOKS 14

typedef struct srPlotPanel {
  const char* title;
  const char *x_label, *x_unit;  // written "label [unit]"; NULL: none
  const char *y_label, *y_unit;
  srPlotScale x_scale, y_scale;
  double x_min, x_max;  // range; x_min < x_max, on a log axis both > 0. Equal (0, 0): from the data
  double y_min, y_max;
  bool equal;  // a unit is as long on x as on y: for paths in the plane. One of the ranges grows; both axes linear
} srPlotPanel;

typedef struct srPlotSeries {
  const char* name;  // in the legend. NULL or "": drawn, but not in the legend
  int n;             // points; 0 is allowed: the name is still in the legend, so that missing data shows
  const double* x;   // (n); NULL: 0, 1, 2, ...
  const double* y;   // (n); NaN and infinities are gaps
  srPlotStyle style;
  // 1 .. SR_PLOT_LOOKS: this colour, dash pattern and marker. 0: by name, in the order of first appearance; the same name
  // has the same style in all panels that share a legend.
  int look;
} srPlotSeries;

// A figure without panels: cells of the grid that are never described stay empty. SR_INPUT: invalid size.
SR_API srStatus sr_plot_create(const srPlotDef* def, srPlot** out);
SR_API void sr_plot_destroy(srPlot* plot);

// These three return SR_INPUT for a cell outside the grid or a wrong range, SR_MEMORY when out of memory. The first
// failure is kept, and the writers return it: a caller may check there alone.
// Describes the panel at row, column (counted from 0); the last description holds.
SR_API srStatus sr_plot_panel(srPlot* plot, int row, int column, const srPlotPanel* panel);
SR_API srStatus sr_plot_series(srPlot* plot, int row, int column, const srPlotSeries* series);
// A line of small text beneath the panel, such as "hem5: failed"; as many as wanted, long ones are broken at blanks.
SR_API srStatus sr_plot_note(srPlot* plot, int row, int column, const char* text);

// Writes the figure: as PNG or PDF where the path ends in .png or .pdf (librsvg must be installed), else as SVG. Errors and
// warnings (points that a log axis leaves out, more series than styles) go to messages. SR_IO: the file cannot be opened for
// writing; SR_FAILED: it could not be written to its end; SR_INPUT: no PNG or PDF can be made here.
SR_API srStatus sr_plot_write(srPlot* plot, const char* path, srMessages* messages);
SR_API srStatus sr_plot_write_stream(srPlot* plot, FILE* stream, srMessages* messages);
// The same into memory, zero-terminated, to be freed with sr_free_text (text.h). It can be embedded in an HTML page: its
// names are its own. size may be NULL.
SR_API srStatus sr_plot_write_text(srPlot* plot, srMessages* messages, char** text, size_t* size);

#ifdef __cplusplus
}
#endif
#endif
