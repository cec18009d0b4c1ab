// Figures as they are described: panels, series and notes, copied into one pool. The first failure is kept, so that a
// caller can describe a whole figure and check only the status of the writer.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "plot/plot.h"

#define SMALLEST 100.0  // px of width or height that can hold a panel
#define LARGEST 20000.0

static bool size_fits(double size) { return size == 0 || (size >= SMALLEST && size <= LARGEST); }

static bool def_fits(const srPlotDef* def) {
  if (def->rows < 0 || def->columns < 0 || def->rows > SR_PLOT_MAX_PANELS || def->columns > SR_PLOT_MAX_PANELS)
    return false;
  return def->rows * def->columns <= SR_PLOT_MAX_PANELS && size_fits(def->width) && size_fits(def->height);
}

srStatus sr_plot_create(const srPlotDef* def, srPlot** out) {
  *out = NULL;
  if (!def_fits(def)) return SR_INPUT;
  srPlot* plot = sr_alloc(sizeof *plot);
  if (!plot) return SR_MEMORY;
  sr_pool_init(&plot->pool);
  jmp_buf on_fail;
  if (setjmp(on_fail)) {
    sr_plot_destroy(plot);
    return SR_MEMORY;
  }
  plot->pool.on_fail = &on_fail;
  plot->def = *def;
  plot->def.rows = def->rows > 0 ? def->rows : 1;
  plot->def.columns = def->columns > 0 ? def->columns : 1;
  plot->def.title = sr_pool_text(&plot->pool, def->title ? def->title : "");
  plot->def.description = sr_pool_text(&plot->pool, def->description ? def->description : "");
  plot->panel = sr_pool_alloc(&plot->pool, (size_t)(plot->def.rows * plot->def.columns) * sizeof *plot->panel);
  for (int i = 0; i < plot->def.rows * plot->def.columns; i++) {
    srPlotPanel* empty = &plot->panel[i].def;
    empty->title = empty->x_label = empty->y_label = empty->x_unit = empty->y_unit = "";
    plot->panel[i].x_text = plot->panel[i].y_text = "";
  }
  plot->pool.on_fail = NULL;
  *out = plot;
  return SR_OK;
}

void sr_plot_destroy(srPlot* plot) {
  if (!plot) return;
  sr_pool_free(&plot->pool);
  sr_free(plot);
}

static srStatus fail(srPlot* plot, srStatus status) {
  if (plot->failed == SR_OK) plot->failed = status;
  return status;
}

static srPanel* find(srPlot* plot, int row, int column) {
  const bool inside = row >= 0 && row < plot->def.rows && column >= 0 && column < plot->def.columns;
  return inside ? &plot->panel[row * plot->def.columns + column] : NULL;
}

static bool range_fits(double low, double high, srPlotScale scale) {
  if (low == high) return true;
  return isfinite(high - low) && low < high && (scale == SR_PLOT_LINEAR || low > 0);
}

static const char* with_unit(srPool* pool, const char* label, const char* unit) {
  if (!unit || !*unit) return sr_pool_text(pool, label ? label : "");
  return sr_pool_printf(pool, "%s%s[%s]", label ? label : "", label && *label ? " " : "", unit);
}

static const char* copy(srPool* pool, const char* text) { return sr_pool_text(pool, text ? text : ""); }

srStatus sr_plot_panel(srPlot* plot, int row, int column, const srPlotPanel* def) {
  srPanel* panel = find(plot, row, column);
  if (!panel || !range_fits(def->x_min, def->x_max, def->x_scale) || !range_fits(def->y_min, def->y_max, def->y_scale))
    return fail(plot, SR_INPUT);
  if (def->equal && (def->x_scale != SR_PLOT_LINEAR || def->y_scale != SR_PLOT_LINEAR)) return fail(plot, SR_INPUT);
  jmp_buf on_fail;
  if (setjmp(on_fail)) {
    plot->pool.on_fail = NULL;
    return fail(plot, SR_MEMORY);
  }
  plot->pool.on_fail = &on_fail;
  srPlotPanel kept = *def;
  kept.title = copy(&plot->pool, def->title);
  kept.x_label = copy(&plot->pool, def->x_label);
  kept.y_label = copy(&plot->pool, def->y_label);
  kept.x_unit = copy(&plot->pool, def->x_unit);
  kept.y_unit = copy(&plot->pool, def->y_unit);
  panel->x_text = with_unit(&plot->pool, def->x_label, def->x_unit);
  panel->y_text = with_unit(&plot->pool, def->y_label, def->y_unit);
  panel->def = kept;
  panel->used = true;
  plot->pool.on_fail = NULL;
  return SR_OK;
}

static void copy_data(srPool* pool, const srPlotSeries* from, srPanelSeries* to) {
  const size_t size = (size_t)from->n * sizeof *to->x;
  to->x = sr_pool_alloc(pool, size);
  to->y = sr_pool_alloc(pool, size);
  if (from->n == 0) return;
  memcpy(to->y, from->y, size);
  if (from->x) memcpy(to->x, from->x, size);
  for (int i = 0; i < from->n && !from->x; i++) to->x[i] = i;
}

srStatus sr_plot_series(srPlot* plot, int row, int column, const srPlotSeries* series) {
  srPanel* panel = find(plot, row, column);
  const bool look_fits = series->look >= 0 && series->look <= SR_PLOT_LOOKS;
  if (!panel || !look_fits || series->n < 0 || (series->n > 0 && !series->y)) return fail(plot, SR_INPUT);
  jmp_buf on_fail;
  if (setjmp(on_fail)) {
    plot->pool.on_fail = NULL;
    return fail(plot, SR_MEMORY);
  }
  plot->pool.on_fail = &on_fail;
  srPanelSeries kept = {.n = series->n, .look = series->look - 1, .style = series->style};
  kept.name = copy(&plot->pool, series->name);
  copy_data(&plot->pool, series, &kept);
  SR_PUSH(&plot->pool, panel->series, panel->nseries, panel->series_capacity) = kept;
  panel->used = true;
  plot->pool.on_fail = NULL;
  return SR_OK;
}

srStatus sr_plot_note(srPlot* plot, int row, int column, const char* text) {
  srPanel* panel = find(plot, row, column);
  if (!panel || !text) return fail(plot, SR_INPUT);
  jmp_buf on_fail;
  if (setjmp(on_fail)) {
    plot->pool.on_fail = NULL;
    return fail(plot, SR_MEMORY);
  }
  plot->pool.on_fail = &on_fail;
  const char* kept = copy(&plot->pool, text);
  SR_PUSH(&plot->pool, panel->note, panel->nnote, panel->note_capacity) = kept;
  panel->used = true;
  plot->pool.on_fail = NULL;
  return SR_OK;
}

// -------------------------------------------------------------------------------------------------------------- write
static void warn(const srLayout* layout, srMessages* messages) {
  const srPlace nowhere = {0};
  if (layout->dropped > 0)
    sr_messages_add(messages, SR_SEVERITY_WARNING, nowhere,
                    "%d %s not on the log axis, because %s not positive; the first belongs to '%s'", layout->dropped,
                    layout->dropped == 1 ? "point is" : "points are", layout->dropped == 1 ? "it is" : "they are",
                    layout->dropped_name);
  if (layout->alike > 0)
    sr_messages_add(messages, SR_SEVERITY_WARNING, nowhere,
                    "%d series look like others: a legend has %d distinguishable colours and line styles",
                    layout->alike, SR_PLOT_LOOKS);
}

srStatus sr_plot_write_text(srPlot* plot, srMessages* messages, char** out, size_t* size) {
  *out = NULL;
  if (plot->failed != SR_OK) {
    sr_messages_add(messages, SR_SEVERITY_ERROR, (srPlace){0}, "the figure could not be described: %s",
                    sr_status_text(plot->failed));
    return plot->failed;
  }
  srPool pool;
  sr_pool_init(&pool);
  jmp_buf on_fail;
  if (setjmp(on_fail)) {
    sr_pool_free(&pool);
    return SR_MEMORY;
  }
  pool.on_fail = &on_fail;
  srLayout* layout = sr_pool_alloc(&pool, sizeof *layout);
  srText* text = sr_pool_alloc(&pool, sizeof *text);
  text->pool = &pool;
  sr_plot_layout(&pool, plot, layout);
  sr_plot_svg(plot, layout, text);
  *out = sr_alloc(text->n + 1);
  if (*out) memcpy(*out, text->data, text->n);
  if (*out && size) *size = text->n;
  if (*out) warn(layout, messages);
  sr_pool_free(&pool);
  return *out ? SR_OK : SR_MEMORY;
}

srStatus sr_plot_write_stream(srPlot* plot, FILE* stream, srMessages* messages) {
  char* text;
  size_t size = 0;
  const srStatus status = sr_plot_write_text(plot, messages, &text, &size);
  if (status != SR_OK) return status;
  const bool done = fwrite(text, 1, size, stream) == size && fflush(stream) == 0;
  sr_free(text);
  return done ? SR_OK : SR_FAILED;
}

// By the suffix, whatever its letters are.
static srPicture picture_of(const char* path) {
  static const char* const suffixes[] = {[SR_PICTURE_PNG] = ".png", [SR_PICTURE_PDF] = ".pdf"};
  const size_t n = strlen(path);
  for (int kind = SR_PICTURE_SVG + 1; n > 4 && kind < SR_COUNT(suffixes); kind++) {
    bool same = true;
    for (int k = 0; k < 4; k++) same = same && tolower((unsigned char)path[n - 4 + (size_t)k]) == suffixes[kind][k];
    if (same) return (srPicture)kind;
  }
  return SR_PICTURE_SVG;
}

static srStatus write_file(const char* path, const char* data, size_t size, srMessages* messages) {
  srOutput* output;
  const srStatus status = sr_output_create(path, messages, &output);
  if (status != SR_OK) return status;
  (void)fwrite(data, 1, size, sr_output_stream(output));  // the stream keeps the error
  return sr_output_close(output, messages);
}

srStatus sr_plot_write(srPlot* plot, const char* path, srMessages* messages) {
  const srPicture kind = picture_of(path);
  const srPlotTheme theme = plot->def.theme;
  srText picture = {0};
  char* text;
  size_t size = 0;
  if (!sr_output_fits(path, SR_CONTENT_FIGURE, messages)) return SR_INPUT;
  if (kind != SR_PICTURE_SVG && theme == SR_PLOT_AUTO) plot->def.theme = SR_PLOT_LIGHT;  // its page cannot choose
  srStatus status = sr_plot_write_text(plot, messages, &text, &size);
  plot->def.theme = theme;
  if (status != SR_OK) return status;
  if (kind == SR_PICTURE_SVG)
    status = write_file(path, text, size, messages);
  else if ((status = sr_plot_picture(text, size, kind, messages, &picture)) == SR_OK)
    status = write_file(path, picture.data, picture.n, messages);
  sr_text_free(&picture);
  sr_free(text);
  return status;
}
