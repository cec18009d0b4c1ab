// Figures of a sweep, one of each result: a panel for each parameter, the result over it. Values of other parameters of the grid are curves of their
// own; samples are dots.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

enum { MOST_FIGURES = 100, MOST_PANELS = 6, MOST_CURVES = 200, NAMED_CURVES = SR_PLOT_LOOKS };

static bool is_drawn(const Sweep* s, int k) {
  return sr_sweep_values(s->plan, k) != 1 && !sr_sweep_is_words(s->plan, k);
}

static bool is_sampled(const Sweep* s) { return !isnan(s->sample); }

// The number of the curve that a row belongs to: its place in the grids but for parameter k.
static long long curve_of(const Sweep* s, long long row, int k) {
  long long curve = 0;
  for (int i = 0; i < sr_sweep_count(s->plan); i++)
    if (i != k && sr_sweep_values(s->plan, i) > 0)
      curve = curve * sr_sweep_values(s->plan, i) + sr_sweep_place(s->plan, row, i);
  return curve;
}

static long long curve_count(const Sweep* s, int k) {
  long long n = 1;
  for (int i = 0; i < sr_sweep_count(s->plan); i++)
    if (i != k && sr_sweep_values(s->plan, i) > 0) n *= sr_sweep_values(s->plan, i);
  return n;
}

// "d = 2, m = 5": what makes the curve of this row.
static void name_curve(const Sweep* s, long long row, int k, srText* out) {
  for (int i = 0; i < sr_sweep_count(s->plan); i++) {
    if (i == k || sr_sweep_values(s->plan, i) < 2) continue;
    sr_text_print(out, "%s%s = ", out->n > 0 ? ", " : "", sr_sweep_name(s->plan, i));
    if (sr_sweep_is_words(s->plan, i))
      sr_sweep_text(s->plan, row, i, out);
    else
      sr_text_print(out, "%.6g", sr_sweep_number(s->plan, row, i));
  }
}

// Rows are dealt to their curves by counting: first[c] .. first[c+1] of order.
static bool deal(const Sweep* s, int k, long long n, int* first, int* order) {
  memset(first, 0, ((size_t)n + 1) * sizeof *first);
  for (long long i = 0; i < s->rows; i++) first[curve_of(s, i, k) + 1]++;
  for (long long c = 0; c < n; c++) first[c + 1] += first[c];
  int* at = malloc(((size_t)n + 1) * sizeof *at);
  if (!at) return false;
  memcpy(at, first, ((size_t)n + 1) * sizeof *at);
  for (long long i = 0; i < s->rows; i++) order[at[curve_of(s, i, k)]++] = (int)i;
  free(at);
  return true;
}

static bool draw_panel(const Sweep* s, srPlot* plot, int panel, int k, const char* label, const double* y) {
  const long long all = curve_count(s, k), n = all <= MOST_CURVES ? all : 1;
  int *first = malloc(((size_t)all + 2) * sizeof *first), *order = malloc((size_t)s->rows * sizeof *order);
  double* work = malloc(2 * (size_t)s->rows * sizeof *work);
  bool good = first && order && work && deal(s, k, all, first, order);
  const bool dots = is_sampled(s) || n < all;
  sr_plot_panel(plot, 0, panel,
                &(srPlotPanel){.x_label = sr_sweep_name(s->plan, k),
                               .y_label = panel == 0 ? label : NULL,
                               .x_scale = sr_sweep_is_log(s->plan, k) ? SR_PLOT_LOG : SR_PLOT_LINEAR});
  for (long long c = 0; good && c < n; c++) {
    const int begin = first[c], end = n < all ? (int)s->rows : first[c + 1];
    for (int i = begin; i < end; i++) {
      work[2 * begin + i - begin] = sr_sweep_number(s->plan, order[i], k);
      work[2 * begin + end - begin + i - begin] = y[order[i]];
    }
    srText name = {0};
    if (n > 1 && n <= NAMED_CURVES) name_curve(s, order[begin], k, &name);
    const srPlotSeries series = {.name = name.data,
                                 .n = end - begin,
                                 .x = work + 2 * begin,
                                 .y = work + 2 * begin + end - begin,
                                 .style = dots               ? SR_PLOT_MARKERS
                                          : end - begin > 40 ? SR_PLOT_LINE
                                                             : SR_PLOT_LINE_MARKERS,
                                 .look = n > NAMED_CURVES || n == 1 ? 1 : 0};
    good = sr_plot_series(plot, 0, panel, &series) == SR_OK;
    sr_text_free(&name);
  }
  free(first), free(order), free(work);
  return good;
}

// The name of a result as that of a file: what is no letter becomes one dash.
static void put_file_name(srText* out, const char* name) {
  bool dash = false;
  for (const char* p = name; *p; p++) {
    const bool plain = isalnum((unsigned char)*p) || *p == '_' || *p == '.' || *p == '-';
    if (plain && dash && out->n > 0) sr_text_add(out, "-", 1);
    if (plain) sr_text_add(out, p, 1);
    dash = !plain;
  }
}

// Names that became equal get the number of their column.
static bool is_taken(const Sweep* s, int column) {
  srText own = {0}, other = {0};
  bool taken = false;
  put_file_name(&own, s->columns.item[column]);
  for (int i = 0; i < column && !taken; i++, sr_text_free(&other)) {
    put_file_name(&other, s->columns.item[i]);
    taken = own.n == other.n && (own.n == 0 || memcmp(own.data, other.data, own.n) == 0);
  }
  taken = taken || own.n == 0;
  sr_text_free(&own);
  return taken;
}

static bool draw(Sweep* s, const Journal* j, int column, const int* parameter, int npanel) {
  bool words, good = true;
  double* y = table_numbers(s, j, column, &words);
  if (!y) return cli_error(s->cli, "out of memory"), false;
  if (words) return free(y), true;  // a word has no place on an axis
  const char* label = s->columns.item[column];
  srText title = {0}, path = {0};
  srPlot* plot = NULL;
  sr_text_print(&title, "%s of %s", label, s->verb->name);
  sr_text_print(&path, "%s/", s->svg);
  srText name = {0};
  put_file_name(&name, label);
  sr_text_print(&path, "%s", name.data ? name.data : "");
  if (is_taken(s, column)) sr_text_print(&path, "-%d", column + 1);
  sr_text_print(&path, ".svg");
  sr_text_free(&name);
  good = !path.failed &&
         sr_plot_create(&(srPlotDef){.title = title.data, .columns = npanel, .separate_x = true}, &plot) == SR_OK;
  for (int p = 0; good && p < npanel; p++) good = draw_panel(s, plot, p, parameter[p], label, y);
  good = good ? sr_plot_write(plot, path.data, s->cli->messages) == SR_OK : (cli_error(s->cli, "out of memory"), false);
  sr_plot_destroy(plot);
  sr_text_free(&title);
  sr_text_free(&path);
  free(y);
  return good;
}

bool plot_sweep(Sweep* s, const Journal* j) {
  int parameter[MOST_PANELS], n = 0, drawn = 0;
  for (int k = 0; k < sr_sweep_count(s->plan); k++) {
    drawn += is_drawn(s, k);
    if (is_drawn(s, k) && n < MOST_PANELS) parameter[n++] = k;
  }
  if (n == 0) return cli_error(s->cli, "--svg: no parameter has two numbers to draw over"), false;
  if (drawn > n) cli_warning(s->cli, "--svg: results are drawn over the first %d of %d parameters", n, drawn);
  if (s->columns.n > MOST_FIGURES)
    cli_warning(s->cli, "--svg: the first %d of %d results are drawn; --result selects others", MOST_FIGURES,
                s->columns.n);
  bool good = true;
  for (int i = 0; i < s->columns.n && i < MOST_FIGURES && good; i++) good = draw(s, j, i, parameter, n);
  return good;
}
