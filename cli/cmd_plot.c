// sarrus plot: columns of result tables to a figure. Each --y or --xy is a panel; several tables are overlaid.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot_columns.h"

typedef struct Plot {
  Cli* cli;
  TextList files, y, xy;
  const char *x, *phase, *log, *out, *title, *theme;
  NumberList xlim, ylim;  // a pair, or a pair for each panel
  bool equal;
  double width, height;
  srResultTable** tables;
  PlotColumns columns;
  srPlot* figure;
  char* default_out;  // to be freed
} Plot;

static const char* const log_words[] = {"x", "y", "xy"};
static const char* const theme_words[] = {"auto", "light", "dark"};  // in the order of srPlotTheme

static bool has(const char* text, char letter) { return text && strchr(text, letter); }

// ------------------------------------------------------------------------------------------------------------- options
static bool size_fits(Cli* cli, const char* option, double size) {
  if (isnan(size) || (size >= 100 && size <= 20000)) return true;
  cli_error(cli, "%s is a number of pixels from 100 to 20000, not %g", option, size);
  return false;
}

static bool options_fit(Plot* p) {
  bool good = !p->log || word_exists(p->cli, "--log", p->log, log_words, 3, 3);
  good = (!p->theme || word_exists(p->cli, "--theme", p->theme, theme_words, 3, 3)) && good;
  good = size_fits(p->cli, "--width", p->width) && good;
  good = size_fits(p->cli, "--height", p->height) && good;
  if (p->equal && p->log) {
    cli_error(p->cli, "--equal is for linear axes; without --log");
    good = false;
  }
  for (int i = 0; i < p->files.n; i++) good = output_is_free(p->cli, p->out, p->files.item[i]) && good;
  return good && output_begin(p->cli, "--out", &p->out, SR_CONTENT_FIGURE);
}

static const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// The path without the extension of a result file, followed by the requested one. To be freed.
static char* with_ending(const char* path, const char* ending) {
  const size_t n = result_stem(path);
  char* text = malloc(n + strlen(ending) + 1);
  if (!text) return NULL;
  memcpy(text, path, n);
  strcpy(text + n, ending);
  return text;
}

// -------------------------------------------------------------------------------------------------------------- labels
static bool all_one(const int* column, int n) {
  for (int i = 1; i < n; i++)
    if (column[i] != column[0]) return false;
  return true;
}

// What all names of columns have in common before their first point: "q" of q.arm and q.hand. To be freed.
static char* common_name(const PlotColumns* c, const int* column, int count) {
  const char* first = c->names[column[0]];
  const bool one = all_one(column, count);
  size_t n = one ? strlen(first) : strcspn(first, ".");
  for (int i = 1; i < count && !one; i++) {
    const char* name = c->names[column[i]];
    if (strcspn(name, ".") != n || strncmp(name, first, n) != 0 || first[n] != '.') n = 0;
  }
  char* text = malloc(n + 1);
  if (text) memcpy(text, first, n), text[n] = 0;
  return text;
}

static bool same_unit(const PlotColumns* c, const int* column, int n) {
  for (int i = 1; i < n; i++)
    if (strcmp(c->units[column[i]], c->units[column[0]]) != 0) return false;
  return true;
}

// A unit as a label shows it: pure numbers have none.
static const char* shown_unit(const char* unit) { return strcmp(unit, "1") == 0 ? "" : unit; }

// Name of a table in the legend: its file without folder and ending, unless another one has the same. To be freed.
static char* table_name(const Plot* p, int t) {
  for (int i = 0; i < p->files.n; i++)
    if (i != t && strcmp(base_name(p->files.item[i]), base_name(p->files.item[t])) == 0)
      return with_ending(p->files.item[t], "");
  return with_ending(base_name(p->files.item[t]), "");
}

// What the legend calls a column of a table; "" when it is the label of the axis. To be freed.
static char* series_name(const Plot* p, const PlotPanel* panel, int column, int t) {
  const char* name = panel->n > 1 ? p->columns.names[column] : "";
  const char* unit = same_unit(&p->columns, panel->column, panel->n) ? "" : shown_unit(p->columns.units[column]);
  char* table = p->files.n > 1 ? table_name(p, t) : calloc(1, 1);
  const size_t size = strlen(name) + strlen(unit) + (table ? strlen(table) : 0) + 8;
  char* text = table ? malloc(size) : NULL;
  if (text)
    snprintf(text, size, "%s%s%s%s%s%s", name, *unit ? " [" : "", unit, *unit ? "]" : "", *name && *table ? ", " : "",
             table);
  free(table);
  return text;
}

// -------------------------------------------------------------------------------------------------------------- figure
static srStatus add_series(Plot* p, int row, int column, const PlotPanel* panel, int t) {
  const srResultTable* table = p->tables[t];
  for (int i = 0; i < panel->n; i++) {
    const bool first = panel->over[i] == p->columns.x && !p->x;  // the first column of each table, whatever its name
    const int x = first ? 0 : sr_table_column(table, p->columns.names[panel->over[i]]);
    const int y = sr_table_column(table, p->columns.names[panel->column[i]]);
    if (x < 0 || y < 0) {
      cli_warning(p->cli, "%s has no column '%s'", p->files.item[t],
                  p->columns.names[x < 0 ? panel->over[i] : panel->column[i]]);
      continue;
    }
    char* name = series_name(p, panel, panel->column[i], t);
    const srStatus status =
        sr_plot_series(p->figure, row, column,
                       &(srPlotSeries){.name = name, .n = table->nrow, .x = table->columns[x], .y = table->columns[y]});
    free(name);
    if (status != SR_OK) return status;
  }
  return SR_OK;
}

// The limits of a panel: those of all, or its own pair.
static void take_limits(const NumberList* limits, int panel, double* low, double* high) {
  const int first = limits->n > 2 ? 2 * panel : 0;
  if (limits->n < first + 2) return;
  *low = limits->x[first];
  *high = limits->x[first + 1];
}

static srStatus add_panel(Plot* p, int row, int column, const PlotPanel* panel) {
  const PlotColumns* c = &p->columns;
  const int index = (int)(panel - c->panel);
  char *x_label = common_name(c, panel->over, panel->n), *y_label = common_name(c, panel->column, panel->n);
  srPlotPanel def = {.x_label = x_label,
                     .x_unit = same_unit(c, panel->over, panel->n) ? shown_unit(c->units[panel->over[0]]) : "",
                     .y_label = y_label,
                     .y_unit = same_unit(c, panel->column, panel->n) ? shown_unit(c->units[panel->column[0]]) : "",
                     .x_scale = has(p->log, 'x') ? SR_PLOT_LOG : SR_PLOT_LINEAR,
                     .y_scale = has(p->log, 'y') ? SR_PLOT_LOG : SR_PLOT_LINEAR,
                     .equal = p->equal};
  take_limits(&p->xlim, index, &def.x_min, &def.x_max);
  take_limits(&p->ylim, index, &def.y_min, &def.y_max);
  srStatus status = sr_plot_panel(p->figure, row, column, &def);
  free(x_label);
  free(y_label);
  for (int t = 0; status == SR_OK && t < p->files.n; t++) status = add_series(p, row, column, panel, t);
  return status;
}

static bool limits_fit(Plot* p, const char* option, const NumberList* limits, bool log) {
  if (!limits->x) return true;
  const int n = limits->n, panels = p->columns.npanel;
  if (n != 2 && n != 2 * panels) {
    cli_error(p->cli, "%s takes two numbers, LOW,HIGH, or a pair for each of the %d panels; not %d", option, panels, n);
    return false;
  }
  for (int i = 0; i < n; i += 2) {
    if (limits->x[i] < limits->x[i + 1] && (!log || limits->x[i] > 0)) continue;
    cli_error(p->cli, "%s: %g,%g is no range: the first number must be below the second%s", option, limits->x[i],
              limits->x[i + 1], log ? ", and above zero on a logarithmic axis" : "");
    return false;
  }
  return true;
}

static srStatus make_figure(Plot* p) {
  const int n = p->columns.npanel, columns = n <= 6 ? 1 : 2;
  srPlotDef def = {.title = p->title, .rows = (n + columns - 1) / columns, .columns = columns};
  if (!isnan(p->width)) def.width = p->width;
  if (!isnan(p->height)) def.height = p->height;
  for (int i = 0; i < 3 && p->theme; i++)
    if (strcmp(p->theme, theme_words[i]) == 0) def.theme = (srPlotTheme)i;
  srStatus status = sr_plot_create(&def, &p->figure);
  for (int i = 0; status == SR_OK && i < n; i++)
    status = add_panel(p, i % def.rows, i / def.rows, &p->columns.panel[i]);
  return status;
}

static srStatus write_figure(Plot* p) {
  if (!p->out) p->out = p->default_out = with_ending(p->files.item[0], ".svg");
  return p->out ? sr_plot_write(p->figure, p->out, p->cli->messages) : SR_MEMORY;
}

// -------------------------------------------------------------------------------------------------------------- report
static void print_json(const Plot* p) {
  const PlotColumns* c = &p->columns;
  long long rows = 0;
  for (int t = 0; t < p->files.n; t++) rows += p->tables[t]->nrow;
  srText text = {0};
  srJson json = sr_json_begin(&text);
  sr_json_text(&json, "out", p->out);
  sr_json_array(&json, "panels");
  for (int i = 0; i < c->npanel; i++) {
    sr_json_object(&json, NULL);
    sr_json_array(&json, "columns");
    for (int k = 0; k < c->panel[i].n; k++) sr_json_text(&json, NULL, c->names[c->panel[i].column[k]]);
    sr_json_array_end(&json);
    sr_json_object_end(&json);
  }
  sr_json_array_end(&json);
  sr_json_text(&json, "x", c->names[c->x]);
  sr_json_int(&json, "rows", rows);
  sr_json_warnings(&json, p->cli->messages);
  sr_json_end(&json);
  cli_print(p->cli, &text);
}

static void print_names(FILE* out, const char* label, const PlotColumns* c, const int* column, int n) {
  fprintf(out, "  %-10s", label);
  for (int i = 0; i < n; i++) fprintf(out, "%s%s", i ? ", " : "", c->names[column ? column[i] : i]);
  fputc('\n', out);
}

static void print_report(const Plot* p) {
  const PlotColumns* c = &p->columns;
  FILE* out = p->cli->report;
  fprintf(out, "figure %s\n", output_is_stdout(p->out) ? "on standard output" : p->out);
  for (int i = 0; i < c->npanel; i++) {
    char label[24];
    snprintf(label, sizeof label, "panel %d", i + 1);
    print_names(out, label, c, c->panel[i].column, c->panel[i].n);
  }
  if (p->y.n + p->xy.n == 0 && !p->phase) print_names(out, "columns", c, NULL, c->n);
}

// ---------------------------------------------------------------------------------------------------------------- verb
static srStatus read_tables(Plot* p) {
  srStatus status = SR_OK;
  p->tables = calloc((size_t)p->files.n, sizeof *p->tables);
  if (!p->tables) return SR_MEMORY;
  for (int t = 0; t < p->files.n; t++) {
    const srStatus one = sr_table_read(p->files.item[t], p->cli->messages, &p->tables[t]);
    if (one != SR_OK) status = one;
  }
  return status;
}

static int plot(Plot* p) {
  if (!options_fit(p)) return cli_refuse(p->cli, EXIT_INPUT);
  srStatus status = read_tables(p);
  if (status != SR_OK) return cli_refuse(p->cli, cli_status(status));
  const PlotWish wish = {.x = p->x, .y = &p->y, .xy = &p->xy, .phase = p->phase};
  if (!plot_columns_choose(p->cli, p->tables, p->files.n, &wish, &p->columns))
    return cli_refuse(p->cli, sr_messages_errors(p->cli->messages) > 0 ? EXIT_INPUT : EXIT_FAILED);
  bool good = limits_fit(p, "--xlim", &p->xlim, has(p->log, 'x'));
  good = limits_fit(p, "--ylim", &p->ylim, has(p->log, 'y')) && good;
  if (!good) return cli_refuse(p->cli, EXIT_INPUT);
  status = make_figure(p);
  if (status == SR_OK) status = write_figure(p);
  if (status != SR_OK) return cli_refuse(p->cli, cli_status(status));
  cli_show(p->cli);
  if (p->cli->json)
    print_json(p);
  else if (!p->cli->quiet)
    print_report(p);
  return EXIT_DONE;
}

static void close_plot(Plot* p) {
  for (int t = 0; t < p->files.n && p->tables; t++) sr_table_destroy(p->tables[t]);
  free(p->tables);
  free(p->default_out);
  plot_columns_free(&p->columns);
  sr_plot_destroy(p->figure);
  texts_free(&p->files);
  texts_free(&p->y);
  texts_free(&p->xy);
  numbers_free(&p->xlim);
  numbers_free(&p->ylim);
}

int cmd_plot(Cli* cli, const Verb* verb, int argc, char** argv) {
  Plot p = {.cli = cli, .width = NOT_GIVEN, .height = NOT_GIVEN};
  const char* first = NULL;
  int status = EXIT_DONE;
  const Option options[] = {
      {"", OPTION_TEXTS, &p.files, "RESULT", ""},
      {"--y", OPTION_TEXTS, &p.y, "NAME[,NAME...]", "columns of a panel, also patterns as 'q.*'; as often as wanted"},
      {"--x", OPTION_TEXT, &p.x, "NAME", "column of the horizontal axis (default: the first)"},
      {"--xy", OPTION_TEXTS, &p.xy, "X,Y[,Y...]", "a panel with a horizontal axis of its own; as often as wanted"},
      {"--phase", OPTION_TEXT, &p.phase, "NAME[,NAME...]", "velocities over positions of these coordinates"},
      {"--xlim", OPTION_NUMBERS, &p.xlim, "LOW,HIGH", "range of the horizontal axis, or a pair for each panel"},
      {"--ylim", OPTION_NUMBERS, &p.ylim, "LOW,HIGH", "range of the vertical axis, or a pair for each panel"},
      {"--equal", OPTION_FLAG, &p.equal, NULL, "a unit is as long on both axes: for paths in the plane"},
      {"--log", OPTION_TEXT, &p.log, "x|y|xy", "logarithmic axes"},
      OUT_OPTIONS(&p.out, "FILE",
                  "the figure: .svg, .png or .pdf (default: RESULT.svg next to the table); - is standard output"),
      {"--title", OPTION_TEXT, &p.title, "TEXT", "title of the figure"},
      {"--theme", OPTION_TEXT, &p.theme, "NAME", "light, dark or auto (default): as the reader's page"},
      {"--width", OPTION_NUMBER, &p.width, "PIXELS", "width of the figure"},
      {"--height", OPTION_NUMBER, &p.height, "PIXELS", "height of the figure"},
      VERBOSE_OPTION(cli),
      {"--json", OPTION_FLAG, &cli->json, NULL, "print one JSON object on standard output"}};
  if (verb_options(cli, verb, options, sizeof options / sizeof options[0], argc, argv, &first, &status) == 0)
    status = plot(&p);
  close_plot(&p);
  return status;
}
