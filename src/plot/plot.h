// Inside of the plot module: the figure as it was described, and the stages that turn it into SVG.
//   figure.c   keeps what the caller describes
//   ticks.c    ranges of axes, positions and labels of ticks
//   reduce.c   from many points to the few that a screen can show
//   look.c     colours, dashes, markers
//   text.c     widths of texts; the formats of the output
//   legend.c   which names go to which legend, and its size
//   layout.c   positions of all parts
//   svg.c      writes it
//   picture.c  draws the SVG as PNG or PDF, by librsvg
#ifndef SR_PLOT_INTERNAL_H
#define SR_PLOT_INTERNAL_H

#include <sarrus/plot.h>

#include "base/base.h"

// ------------------------------------------------------------------------------------------------------------- figure
typedef struct srPanelSeries {
  const char* name;  // "" : not in the legend
  int n, look;       // look: 0 .. SR_PLOT_LOOKS - 1, or -1: by name
  double *x, *y;
  srPlotStyle style;
} srPanelSeries;

typedef struct srPanel {
  bool used;
  srPlotPanel def;              // texts are copies, never NULL
  const char *x_text, *y_text;  // "label [unit]"
  srPanelSeries* series;
  int nseries, series_capacity;
  const char** note;
  int nnote, note_capacity;
} srPanel;

struct srPlot {
  srPool pool;
  srPlotDef def;   // texts are copies; sizes of the grid at least 1
  srPanel* panel;  // by rows
  srStatus failed;
};

// -------------------------------------------------------------------------------------------------------------- ticks
#define SR_MAX_TICKS 40
#define SR_MAX_MINOR 400

typedef struct srTick {
  double value;
  char text[48];   // "0.5", "10", "2x10" with the true signs
  char power[16];  // raised behind the text: "-3"; "" for none
} srTick;

typedef struct srAxis {
  srPlotScale scale;
  double low, high;  // range, low < high
  double from, to;   // the range in px
  int ntick, nminor;
  srTick tick[SR_MAX_TICKS];
  double minor[SR_MAX_MINOR];
  // What all labels leave out: value = label * 10^power + offset. "" for none.
  char power[16];
  char offset[48];
} srAxis;

// Range for data between low and high (low > high: no data), with a margin on both sides as a part of the range.
void sr_axis_range(srAxis* axis, double low, double high, double margin);
// Ticks with nice distances, at most `most` of them (2 or more).
void sr_axis_ticks(srAxis* axis, int most);
// Px of a value; NaN when it has no place (not finite, or <= 0 on a log axis).
double sr_axis_px(const srAxis* axis, double value);

// ------------------------------------------------------------------------------------------------------------- reduce
typedef struct srCurvePoint {
  double x, y;
  bool move;  // begins a piece of its own
} srCurvePoint;
// Points in px to those that are drawn, in place. Returns their number.
int sr_curve_reduce(srPool* pool, srCurvePoint* points, int n);
// Its parts; out has room for n and may be the same as in. The first point is a move.
int sr_curve_columns(const srCurvePoint* in, int n,
                     srCurvePoint* out);  // first, lowest, highest, last of each px column
int sr_curve_straight(const srCurvePoint* in, int n, double tolerance, srCurvePoint* out);  // without points on a line
int sr_curve_once(srPool* pool, const srCurvePoint* in, int n, srCurvePoint* out);          // a repeated stretch once
// For markers: one of all points that share half a pixel.
int sr_curve_places(srPool* pool, const srCurvePoint* in, int n, srCurvePoint* out);

// --------------------------------------------------------------------------------------------------------------- look
const char* sr_look_color(int look, bool dark);
const char* sr_look_dash(int look, bool marked);                         // for stroke-dasharray; "" is solid
bool sr_look_dashed(const srPanel* panel);                               // a curve alone in its panel is solid
bool sr_look_marked(const srPanel* panel, const srPanelSeries* series);  // has markers
const char* sr_look_marker(int look);                                    // path behind a move to the place
bool sr_look_hollow(int look);

// --------------------------------------------------------------------------------------------------------------- text
// Adds by a format of its own, free of the locale: %s as it is, %t escaped, %p a length in px (double), %d an int.
void sr_text_put(srText* text, const char* format, ...);
double sr_text_width(const char* text, double size, bool bold);  // px, an estimate on the safe side
// The text, cut with an ellipsis where it is wider than width.
const char* sr_text_fit(srPool* pool, const char* text, double size, double width);
// Breaks at blanks into lines no wider than width where that can be done. Returns their number.
int sr_text_wrap(srPool* pool, const char* text, double size, double width, const char*** lines);

// -------------------------------------------------------------------------------------------------- legend and layout
typedef struct srRect {
  double x, y, w, h;
} srRect;

typedef struct srLegendEntry {
  const char* name;
  int look;
  bool line, markers, dashed;
} srLegendEntry;

typedef struct srLegend {
  srLegendEntry* entry;
  int n, capacity;
  srNames names;             // to the index of the entry
  int next;                  // look of the next name
  bool by_rows;              // entries run along the rows
  int columns, rows, shown;  // shown < n: the last entry gives the number of the others
  double column_width;
  srRect box;  // h == 0: nothing is drawn
} srLegend;

typedef struct srCell {
  srRect area;  // inside of the axes
  srAxis x, y;
  bool writes_x;   // tick labels and label of x are beneath
  bool shares_x;   // range of x with the others of its column
  double title_y;  // baselines
  double x_label_y, y_label_x, note_y;
  const char** note;  // broken into lines
  int nnote;
  int* look;   // of each series
  bool empty;  // nothing to draw
  srLegend legend;
} srCell;

typedef struct srLayout {
  double width, height, title_y;
  srCell* cell;     // by rows, as the panels
  srLegend legend;  // of the figure
  bool panel_legends;
  int dropped;  // points that log axes leave out
  const char* dropped_name;
  int alike;  // names beyond the looks
} srLayout;

enum { SR_FONT = 12, SR_FONT_NOTE = 11, SR_FONT_TITLE = 16, SR_FONT_PANEL = 13 };
#define SR_LEGEND_SAMPLE 28.0  // px of line before a name
#define SR_LEGEND_GAP 7.0      // px between them
#define SR_LEGEND_NAME 240.0   // px of the longest name; longer ones are cut
#define SR_LEGEND_ROW 18.0

void sr_legends_collect(srPool* pool, const srPlot* plot, srLayout* layout);
// Sizes of the box: as many columns as the width allows (beneath), or as few as the height allows (at the side).
void sr_legend_below(srLegend* legend, double width);
void sr_legend_beside(srLegend* legend, double height, double most_width);

void sr_plot_layout(srPool* pool, const srPlot* plot, srLayout* layout);
void sr_plot_svg(const srPlot* plot, const srLayout* layout, srText* out);

// ------------------------------------------------------------------------------------------------------------- picture
typedef enum srPicture { SR_PICTURE_SVG, SR_PICTURE_PNG, SR_PICTURE_PDF } srPicture;
// Draws an SVG as a picture. SR_INPUT: the library that draws is not installed, or not part of this build.
srStatus sr_plot_picture(const char* svg, size_t size, srPicture kind, srMessages* messages, srText* out);

#endif
