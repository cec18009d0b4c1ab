// Positions of all parts. Heights come first, since they depend on counts alone; they determine the number of y ticks,
// whose labels determine the left margins, which leave the widths, which determine the number of x ticks. Panels of a column have
// one left edge and one width, panels of a row one height.
#include <math.h>
#include <string.h>

#include "plot/plot.h"

#define EDGE 14.0         // px around the figure
#define TITLE 30.0        // px for the title
#define PANEL_TITLE 20.0  // px above a panel that has one
#define ABOVE 8.0         // px above each panel
#define TICK_LABELS 24.0  // px beneath a panel for ticks and their labels
#define LABEL 19.0        // px for a label of an axis
#define NOTE 15.0         // px for a line of notes
#define BETWEEN 16.0      // px between rows
#define APART 26.0        // px between columns
#define LEGEND_APART 16.0
#define LEAST_AREA 40.0

typedef struct Work {
  srPool* pool;
  const srPlot* plot;
  srLayout* layout;
  int rows, columns;
  double *above, *below;  // heights around the areas of a row
  double* labels;         // widths of the widest tick label of y in a column
  double *left, *right;   // widths around the areas of a column
  double area_width, area_height;
} Work;

static srCell* cell_at(const Work* w, int row, int column) { return &w->layout->cell[row * w->columns + column]; }
static const srPanel* panel_at(const Work* w, int row, int column) {
  return &w->plot->panel[row * w->columns + column];
}

// -------------------------------------------------------------------------------------------------------------- ranges
typedef struct Bounds {
  double low, high;
} Bounds;

static void include(Bounds* b, double value) {
  if (value < b->low) b->low = value;
  if (value > b->high) b->high = value;
}

static bool fits(double value, srPlotScale scale) { return isfinite(value) && (scale == SR_PLOT_LINEAR || value > 0); }

static bool has_markers(const srPanel* panel) {
  for (int i = 0; i < panel->nseries; i++)
    if (panel->series[i].style == SR_PLOT_MARKERS || panel->series[i].style == SR_PLOT_LINE_MARKERS) return true;
  return false;
}

// Ranges of what can be drawn; counts what a log axis cannot show.
static void bounds_of(srLayout* layout, const srPanel* panel, Bounds* x, Bounds* y) {
  const srPlotPanel* def = &panel->def;
  const bool cut = def->x_min < def->x_max;
  for (int k = 0; k < panel->nseries; k++) {
    const srPanelSeries* s = &panel->series[k];
    for (int i = 0; i < s->n; i++) {
      if (!isfinite(s->x[i]) || !isfinite(s->y[i])) continue;
      if (!fits(s->x[i], def->x_scale) || !fits(s->y[i], def->y_scale)) {
        if (layout->dropped++ == 0) layout->dropped_name = *s->name ? s->name : panel->y_text;
        continue;
      }
      include(x, s->x[i]);
      if (!cut || (s->x[i] >= def->x_min && s->x[i] <= def->x_max)) include(y, s->y[i]);
    }
  }
}

static void set_range(srAxis* axis, Bounds b, double given_low, double given_high, double margin) {
  if (given_low < given_high) {
    axis->low = given_low;
    axis->high = given_high;
  } else {
    sr_axis_range(axis, b.low, b.high, margin);
  }
}

static const Bounds nothing = {(double)INFINITY, -(double)INFINITY};

static bool same_x(const srPanel* a, const srPanel* b) {
  return strcmp(a->x_text, b->x_text) == 0 && a->def.x_scale == b->def.x_scale;
}

// Whether the panels of a column have one x axis; the lowest of them writes it.
static void share_column(const Work* w, int column) {
  const srPanel* first = NULL;
  srCell* last = NULL;
  bool agree = !w->plot->def.separate_x;
  for (int r = 0; r < w->rows; r++) {
    const srPanel* panel = panel_at(w, r, column);
    if (!panel->used) continue;
    if (!first) first = panel;
    agree = agree && same_x(first, panel) && !panel->def.equal;
    last = cell_at(w, r, column);
  }
  for (int r = 0; r < w->rows; r++) {
    srCell* cell = cell_at(w, r, column);
    cell->shares_x = agree;
    cell->writes_x = panel_at(w, r, column)->used && (!agree || cell == last);
  }
}

static void column_ranges(const Work* w, int column) {
  Bounds shared = nothing, given = {0, 0};
  bool markers = false;
  for (int r = 0; r < w->rows; r++) {
    const srPanel* panel = panel_at(w, r, column);
    srCell* cell = cell_at(w, r, column);
    Bounds x = nothing, y = nothing;
    bounds_of(w->layout, panel, &x, &y);
    cell->x.scale = panel->def.x_scale;
    cell->y.scale = panel->def.y_scale;
    cell->empty = x.low > x.high;
    set_range(&cell->x, x, panel->def.x_min, panel->def.x_max, has_markers(panel) || panel->def.equal ? 0.04 : 0);
    set_range(&cell->y, y, panel->def.y_min, panel->def.y_max, 0.05);
    if (!cell->empty) include(&shared, x.low), include(&shared, x.high);
    markers = markers || has_markers(panel);
    if (panel->def.x_min < panel->def.x_max) given = (Bounds){panel->def.x_min, panel->def.x_max};
  }
  for (int r = 0; r < w->rows; r++)
    if (cell_at(w, r, column)->shares_x)
      set_range(&cell_at(w, r, column)->x, shared, given.low, given.high, markers ? 0.04 : 0);
}

// ------------------------------------------------------------------------------------------------------------- heights
static void wrap_notes(const Work* w, const srPanel* panel, srCell* cell) {
  const double width = w->layout->width / w->columns - 90;  // the true width is not known yet
  int capacity = 0;
  for (int i = 0; i < panel->nnote; i++) {
    const char** lines;
    const int n = sr_text_wrap(w->pool, panel->note[i], SR_FONT_NOTE, width, &lines);
    for (int k = 0; k < n; k++) SR_PUSH(w->pool, cell->note, cell->nnote, capacity) = lines[k];
  }
}

static void row_heights(const Work* w, int row) {
  w->above[row] = ABOVE;
  w->below[row] = row + 1 < w->rows ? BETWEEN : 4;
  double most = 0;
  for (int c = 0; c < w->columns; c++) {
    const srPanel* panel = panel_at(w, row, c);
    srCell* cell = cell_at(w, row, c);
    if (*panel->def.title) w->above[row] = ABOVE + PANEL_TITLE;
    wrap_notes(w, panel, cell);
    const double axis = cell->writes_x ? TICK_LABELS + (*panel->x_text ? LABEL : 0) : 0;
    cell->x_label_y = TICK_LABELS + 13;  // from the area's lower edge, so far
    cell->note_y = axis + 15;
    most = fmax(most, axis + (cell->nnote > 0 ? 6 + NOTE * cell->nnote : 0));
  }
  w->below[row] += most;
}

static double usual_area_height(const Work* w) {
  if (w->rows == 1) return w->columns == 1 ? 320 : 260;
  return w->rows == 2 ? 220 : w->rows <= 4 ? 160 : 120;
}

static double usual_width(const Work* w) { return w->columns == 1 ? 720 : w->columns == 2 ? 960 : 380 * w->columns; }

// Fixes the height of the areas; head and foot are the title and a legend beneath.
static void set_heights(Work* w, double head, double foot) {
  double around = head + foot;
  for (int r = 0; r < w->rows; r++) around += w->above[r] + w->below[r];
  w->area_height = usual_area_height(w);
  if (w->plot->def.height > 0) w->area_height = fmax(LEAST_AREA, (w->plot->def.height - around) / w->rows);
  w->layout->height = ceil(around + w->rows * w->area_height);
  double y = head;
  for (int r = 0; r < w->rows; r++) {
    y += w->above[r];
    for (int c = 0; c < w->columns; c++) {
      srCell* cell = cell_at(w, r, c);
      cell->area.y = y;
      cell->area.h = w->area_height;
      cell->title_y = y - 9;
      cell->x_label_y += y + w->area_height;
      cell->note_y += y + w->area_height;
    }
    y += w->area_height + w->below[r];
  }
}

// -------------------------------------------------------------------------------------------------------------- widths
static double tick_width(const srTick* tick) {
  return sr_text_width(tick->text, SR_FONT, false) + sr_text_width(tick->power, 0.72 * SR_FONT, false);
}

// Ticks of y, the width of their labels, and the room left of the area.
static double left_of(srCell* cell, const srPanel* panel, double* widest) {
  cell->y.from = cell->area.y + cell->area.h;
  cell->y.to = cell->area.y;
  sr_axis_ticks(&cell->y, (int)(cell->area.h / 34));
  double labels = 0;
  for (int i = 0; i < cell->y.ntick; i++) labels = fmax(labels, tick_width(&cell->y.tick[i]));
  *widest = fmax(*widest, labels);
  const double factor = *cell->y.power ? 44 : 0;  // is above the ticks
  const double above = factor + sr_text_width(cell->y.offset, SR_FONT_NOTE, false);
  return fmax(labels + 9 + (*panel->y_text ? LABEL : 0), above + 10);
}

static void column_widths(const Work* w, int column) {
  for (int r = 0; r < w->rows; r++) {
    const srPanel* panel = panel_at(w, r, column);
    srCell* cell = cell_at(w, r, column);
    if (!panel->used) continue;
    w->left[column] = fmax(w->left[column], left_of(cell, panel, &w->labels[column]));
    if (!w->layout->panel_legends) continue;
    sr_legend_beside(&cell->legend, cell->area.h, w->layout->width / w->columns * 0.45);
    if (cell->legend.n > 0) w->right[column] = fmax(w->right[column], cell->legend.box.w + LEGEND_APART);
  }
}

static bool labels_apart(const srAxis* axis) {
  for (int i = 1; i < axis->ntick; i++) {
    const double distance = sr_axis_px(axis, axis->tick[i].value) - sr_axis_px(axis, axis->tick[i - 1].value);
    if (distance < 0.5 * (tick_width(&axis->tick[i]) + tick_width(&axis->tick[i - 1])) + 9) return false;
  }
  return true;
}

static void x_ticks(srCell* cell) {
  cell->x.from = cell->area.x;
  cell->x.to = cell->area.x + cell->area.w;
  int most = (int)(cell->area.w / 42);
  do sr_axis_ticks(&cell->x, most);
  while (!labels_apart(&cell->x) && --most >= 2);
}

static void widen(srAxis* axis, double length) {
  const double middle = 0.5 * (axis->low + axis->high);
  axis->low = middle - 0.5 * length;
  axis->high = middle + 0.5 * length;
}

// Makes a unit as long on x as on y: the range that has more pixels for each unit grows.
static void make_equal(srCell* cell) {
  const double x = (cell->x.high - cell->x.low) / cell->area.w, y = (cell->y.high - cell->y.low) / cell->area.h;
  if (x < y) widen(&cell->x, y * cell->area.w);
  if (y < x) widen(&cell->y, x * cell->area.h);
  sr_axis_ticks(&cell->y, (int)(cell->area.h / 34));
}

static void set_widths(Work* w, double side) {
  double around = 2 * EDGE + side + APART * (w->columns - 1);
  for (int c = 0; c < w->columns; c++) {
    column_widths(w, c);
    around += w->left[c] + w->right[c];
  }
  w->area_width = fmax(LEAST_AREA, (w->layout->width - around) / w->columns);
  w->layout->width = fmax(w->layout->width, ceil(around + w->columns * w->area_width));
  double x = EDGE;
  for (int c = 0; c < w->columns; c++) {
    x += w->left[c];
    for (int r = 0; r < w->rows; r++) {
      srCell* cell = cell_at(w, r, c);
      cell->area.x = x;
      cell->area.w = w->area_width;
      cell->y_label_x = x - w->labels[c] - 17;  // the same for all panels of the column
      cell->legend.box.x = x + w->area_width + LEGEND_APART;
      cell->legend.box.y = cell->area.y;
      if (panel_at(w, r, c)->def.equal) make_equal(cell);
      if (panel_at(w, r, c)->used) x_ticks(cell);
    }
    x += w->area_width + w->right[c] + APART;
  }
}

// ------------------------------------------------------------------------------------------------------------- figure
// Width of the figure's legend at the side; 0 when it is beneath, or there is none.
static bool legend_at_side(const Work* w) {
  const srPlotLegend wish = w->plot->def.legend;
  const srLegend* legend = &w->layout->legend;
  if (legend->n == 0 || wish == SR_PLOT_LEGEND_NONE || wish == SR_PLOT_LEGEND_BELOW) return false;
  if (wish == SR_PLOT_LEGEND_RIGHT) return true;
  double widest = 0;
  for (int i = 0; i < legend->n; i++) widest = fmax(widest, sr_text_width(legend->entry[i].name, SR_FONT, false));
  const double height = w->plot->def.height > 0 ? w->plot->def.height - 100 : w->rows * usual_area_height(w);
  return w->columns == 1 && widest < 0.25 * w->layout->width && legend->n * SR_LEGEND_ROW <= height;
}

static double* numbers(const Work* w, int n) { return sr_pool_alloc(w->pool, (size_t)n * sizeof(double)); }

static void place_legend(Work* w, bool side) {
  srLegend* legend = &w->layout->legend;
  if (side) {
    legend->box.y = w->layout->cell[0].area.y;
    sr_legend_beside(legend, w->layout->height - legend->box.y - EDGE, 0.5 * w->layout->width);
    return;
  }
  if (legend->n == 0 || w->plot->def.legend == SR_PLOT_LEGEND_NONE) return;
  legend->box.y = w->layout->height - EDGE - legend->box.h + 4;
}

void sr_plot_layout(srPool* pool, const srPlot* plot, srLayout* layout) {
  Work w = {.pool = pool, .plot = plot, .layout = layout, .rows = plot->def.rows, .columns = plot->def.columns};
  layout->cell = sr_pool_alloc(pool, (size_t)(w.rows * w.columns) * sizeof *layout->cell);
  layout->width = plot->def.width > 0 ? plot->def.width : usual_width(&w);
  w.above = numbers(&w, w.rows), w.below = numbers(&w, w.rows);
  w.labels = numbers(&w, w.columns), w.left = numbers(&w, w.columns), w.right = numbers(&w, w.columns);
  sr_legends_collect(pool, plot, layout);
  for (int c = 0; c < w.columns; c++) share_column(&w, c);
  for (int c = 0; c < w.columns; c++) column_ranges(&w, c);
  for (int r = 0; r < w.rows; r++) row_heights(&w, r);

  const bool side = legend_at_side(&w);
  const double head = *plot->def.title ? TITLE + 10 : 18;  // a power of ten may be above a panel
  if (!side && plot->def.legend != SR_PLOT_LEGEND_NONE) sr_legend_below(&layout->legend, layout->width - 2 * EDGE);
  const double foot = EDGE + (layout->legend.box.h > 0 ? layout->legend.box.h + 10 : 0);
  layout->title_y = 28;
  set_heights(&w, head, foot);
  place_legend(&w, side);
  set_widths(&w, side ? layout->legend.box.w + LEGEND_APART : 0);
  if (side) layout->legend.box.x = layout->width - EDGE - layout->legend.box.w;
  if (!side) layout->legend.box.x = fmax(EDGE, 0.5 * (layout->width - layout->legend.box.w));
}
