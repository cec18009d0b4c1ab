// Tests of src/plot and of the reader of result tables: ticks against lists made by hand, reduction that keeps what is
// seen, SVG that parses, holds every series and repeats to the byte, and legends that cover no data.
#define RUNNER_TOGETHER  // they use the same files
#include <expat.h>
#include <locale.h>
#include <math.h>
#include <sarrus/io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot/plot.h"
#include "runner.h"
#include "scarce.h"

// --------------------------------------------------------------------------------------------------------------- ticks
// The labels of an axis joined by blanks, powers behind ^; then what they leave out.
static const char* labels(srPlotScale scale, double low, double high, int most) {
  static char text[2000];
  srAxis axis = {.scale = scale, .low = low, .high = high};
  sr_axis_ticks(&axis, most);
  text[0] = 0;
  for (int i = 0; i < axis.ntick; i++) {
    strcat(strcat(text, i ? " " : ""), axis.tick[i].text);
    if (*axis.tick[i].power) strcat(strcat(text, "^"), axis.tick[i].power);
  }
  if (*axis.power) strcat(strcat(text, " x10^"), axis.power);
  if (*axis.offset) strcat(strcat(text, " "), axis.offset);
  return text;
}

#define M "\xe2\x88\x92"  // the minus sign

TEST(ticks_of_a_linear_axis_are_at_nice_distances) {
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, 0, 1, 6), "0 0.2 0.4 0.6 0.8 1.0");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, 0, 1, 5), "0 0.5 1.0");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, 0, 1, 11), "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, -0.05, 1.05, 6), "0 0.2 0.4 0.6 0.8 1.0");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, -3, 3, 8), M "3 " M "2 " M "1 0 1 2 3");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, 0, 47, 6), "0 10 20 30 40");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, 0.1, 0.3, 5), "0.10 0.15 0.20 0.25 0.30");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, 1990, 2026, 5), "1990 2000 2010 2020");
}

TEST(long_labels_leave_out_a_power_or_an_offset) {
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, 0, 2e6, 5), "0 0.5 1.0 1.5 2.0 x10^6");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, 0, 2e-6, 5), "0 0.5 1.0 1.5 2.0 x10^" M "6");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, 0, 50000, 6), "0 10000 20000 30000 40000 50000");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, 1000.01, 1000.05, 6), "1000.01 1000.02 1000.03 1000.04 1000.05");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, 1000.0001, 1000.0005, 6), "100 200 300 400 500 x10^" M "6 + 1000");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, -1000.0005, -1000.0001, 6),
              M "500 " M "400 " M "300 " M "200 " M "100 x10^" M "6 " M " 1000");
  ENSURE_TEXT(labels(SR_PLOT_LINEAR, 1e6, 1e6 + 3, 8), "0 0.5 1.0 1.5 2.0 2.5 3.0 + 1000000");
}

TEST(tick_values_are_the_nearest_doubles_of_their_labels) {
  srAxis axis = {.low = 0, .high = 1};
  sr_axis_ticks(&axis, 11);
  const double expected[] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
  ENSURE_EQUAL(axis.ntick, 11);
  for (int i = 0; i < 11; i++) ENSURE(axis.tick[i].value == expected[i]);
}

TEST(ticks_of_a_log_axis_are_decades_thinned_when_they_crowd) {
  ENSURE_TEXT(labels(SR_PLOT_LOG, 1e-3, 1e2, 8), "10^" M "3 10^" M "2 10^" M "1 10^0 10^1 10^2");
  ENSURE_TEXT(labels(SR_PLOT_LOG, 1e-9, 1e2, 6), "10^" M "8 10^" M "6 10^" M "4 10^" M "2 10^0 10^2");
  ENSURE_TEXT(labels(SR_PLOT_LOG, 1e-300, 1e300, 4), "10^" M "200 10^0 10^200");
  ENSURE_TEXT(labels(SR_PLOT_LOG, 1, 50, 8), "1 2 5 10 20 50");
  ENSURE_TEXT(labels(SR_PLOT_LOG, 3e-6, 7e-5, 8),
              "5\xc3\x97"
              "10^" M "6 10^" M
              "5 2\xc3\x97"
              "10^" M
              "5 5\xc3\x97"
              "10^" M "5");
  ENSURE_TEXT(labels(SR_PLOT_LOG, 3, 4, 6), "3.0 3.2 3.4 3.6 3.8 4.0");
}

TEST(minor_ticks_of_a_log_axis_are_2_to_9_inside_the_range) {
  srAxis axis = {.scale = SR_PLOT_LOG, .low = 0.5, .high = 2000};
  sr_axis_ticks(&axis, 8);
  ENSURE_EQUAL(axis.ntick, 4);            // 1 10 100 1000
  ENSURE_EQUAL(axis.nminor, 5 + 24 + 1);  // 0.5 ... 0.9, three decades, 2000
  ENSURE_NEAR(axis.minor[0], 0.5, 1e-15);
  ENSURE_NEAR(axis.minor[axis.nminor - 1], 2000, 1e-12);
}

TEST(no_more_ticks_than_asked_for_in_any_range) {
  unsigned seed = 7;
  for (int i = 0; i < 20000; i++) {
    seed = seed * 1664525u + 1013904223u;
    const double middle = ((double)(seed >> 8) / 8388608 - 1) * pow(10, (int)(seed % 37) - 18);
    seed = seed * 1664525u + 1013904223u;
    const double width = (fabs(middle) + 1e-30) * pow(10, -(double)(seed >> 20) / 400);
    const int most = 2 + (int)(seed >> 10) % 12;
    srAxis axis = {.scale = i % 3 && middle > width ? SR_PLOT_LOG : SR_PLOT_LINEAR};
    axis.low = middle - width, axis.high = middle + width;
    if (axis.high - axis.low < 1e-12 * fabs(middle)) continue;
    sr_axis_ticks(&axis, most);
    ENSURE(axis.ntick <= most);
    for (int k = 0; k < axis.ntick; k++) {
      ENSURE(axis.tick[k].value >= axis.low - 1e-6 * width && axis.tick[k].value <= axis.high + 1e-6 * width);
      ENSURE(k == 0 || strcmp(axis.tick[k].text, axis.tick[k - 1].text) != 0 || *axis.tick[k].power);
    }
  }
}

TEST(a_range_holds_its_data_also_when_they_are_constant) {
  srAxis axis = {.scale = SR_PLOT_LINEAR};
  sr_axis_range(&axis, 5, 5, 0.05);
  ENSURE(axis.low < 5 && axis.high > 5);
  sr_axis_range(&axis, 0, 0, 0.05);
  ENSURE(axis.low == -1 && axis.high == 1);
  sr_axis_range(&axis, -1e308, 1e308, 0.05);
  ENSURE(isfinite(axis.high - axis.low));
  sr_axis_range(&axis, 1, -1, 0);  // no data
  ENSURE(axis.low == 0 && axis.high == 1);
  axis.scale = SR_PLOT_LOG;
  sr_axis_range(&axis, 100, 100, 0.05);
  ENSURE(axis.low > 0 && axis.low < 100 && axis.high > 100);
}

// Some percent on a log axis: magnitudes are read, not digits.
TEST(a_log_axis_of_a_tiny_range_has_short_labels) {
  const double low[] = {1e-13, 9.99e-16, 3.2e-5, 7.77e-9}, wider[] = {1e-9, 1e-6, 1e-3, 0.3};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 4; k++) {
      srAxis axis = {.scale = SR_PLOT_LOG, .from = 200, .to = 0};
      const double high = low[i] * (1 + wider[k]);
      sr_axis_range(&axis, low[i], high, 0.05);
      ENSURE(axis.low < low[i] && axis.high > high && axis.high / axis.low > 3);
      ENSURE_NEAR(axis.low * axis.high / (low[i] * high), 1, 1e-9);  // in the middle
      sr_axis_ticks(&axis, 6);
      ENSURE(axis.ntick >= 2 && !*axis.offset);
      for (int j = 0; j < axis.ntick; j++) ENSURE(strlen(axis.tick[j].text) <= 6);
    }
}

// -------------------------------------------------------------------------------------------------------------- reduce
static double noise(unsigned* seed) { return (double)((*seed = *seed * 1664525u + 1013904223u) >> 8) / 16777216; }

TEST(a_reduced_curve_keeps_lowest_and_highest_of_each_column) {
  enum { N = 100000, COLUMNS = 100 };
  static srCurvePoint in[N], out[N];
  double low[COLUMNS], high[COLUMNS];
  unsigned seed = 1;
  for (int c = 0; c < COLUMNS; c++) low[c] = (double)INFINITY, high[c] = -(double)INFINITY;
  for (int i = 0; i < N; i++) {
    in[i] = (srCurvePoint){(double)i * COLUMNS / N, 50 * noise(&seed), i == 0};
    if (i == 54321) in[i].y = 1000;
    low[(int)in[i].x] = fmin(low[(int)in[i].x], in[i].y);
    high[(int)in[i].x] = fmax(high[(int)in[i].x], in[i].y);
  }
  const int n = sr_curve_columns(in, N, out);
  ENSURE(n <= 4 * COLUMNS);
  for (int i = 0; i < n; i++) {
    const int c = (int)out[i].x;
    if (out[i].y == low[c]) low[c] = -1;
    if (out[i].y == high[c]) high[c] = -1;
  }
  for (int c = 0; c < COLUMNS; c++) ENSURE(low[c] == -1 && high[c] == -1);
  ENSURE(out[0].x == in[0].x && out[n - 1].x == in[N - 1].x);
}

static double distance_to_segment(const srCurvePoint* p, const srCurvePoint* a, const srCurvePoint* b) {
  const double d[2] = {b->x - a->x, b->y - a->y}, e[2] = {p->x - a->x, p->y - a->y};
  const double length2 = d[0] * d[0] + d[1] * d[1];
  const double s = length2 > 0 ? fmin(1, fmax(0, (d[0] * e[0] + d[1] * e[1]) / length2)) : 0;
  return hypot(e[0] - s * d[0], e[1] - s * d[1]);
}

TEST(a_straightened_curve_passes_all_points_within_the_tolerance) {
  enum { N = 5000 };
  static srCurvePoint in[N], out[N];
  for (int i = 0; i < N; i++) {
    const double s = (double)i / N;
    in[i] = (srCurvePoint){600 * s, 100 * sin(20 * s) + (i > 3000 && i < 3010 ? 30 : 0), i == 0 || i == 2500};
  }
  const int n = sr_curve_straight(in, N, 0.1, out);
  ENSURE(n > 30 && n < 400);
  for (int i = 0; i < N; i++) {
    double nearest = 1e9;
    for (int k = 1; k < n; k++)
      if (!out[k].move) nearest = fmin(nearest, distance_to_segment(&in[i], &out[k - 1], &out[k]));
    ENSURE(nearest <= 0.1 * (1 + 1e-9));
  }
  int moves = 0;
  for (int i = 0; i < n; i++) moves += out[i].move;
  ENSURE_EQUAL(moves, 2);
}

TEST(an_orbit_is_drawn_once) {
  enum { N = 300000, ROUND = 3000 };
  srCurvePoint* points = malloc(N * sizeof *points);
  for (int i = 0; i < N; i++) {
    const double angle = 6.283185307179586 * (i % ROUND) / ROUND;
    points[i] = (srCurvePoint){300 + 200 * cos(angle), 200 + 100 * sin(angle), i == 0};
  }
  srPool pool;
  sr_pool_init(&pool);
  const int n = sr_curve_reduce(&pool, points, N);
  ENSURE(n < 2 * ROUND);
  double left = 1e9, top = 1e9;
  for (int i = 0; i < n; i++) left = fmin(left, points[i].x), top = fmin(top, points[i].y);
  ENSURE_NEAR(left, 100, 0.1);
  ENSURE_NEAR(top, 100, 0.1);
  sr_pool_free(&pool);
  free(points);
}

// ----------------------------------------------------------------------------------------------------------------- SVG
static int count(const char* text, const char* word) {
  int n = 0;
  for (const char* p = strstr(text, word); p; p = strstr(p + 1, word)) n++;
  return n;
}

static bool parses(const char* text) {
  XML_Parser parser = XML_ParserCreate(NULL);
  const bool good = XML_Parse(parser, text, (int)strlen(text), 1) == XML_STATUS_OK;
  if (!good) fprintf(stderr, "%s\n", XML_ErrorString(XML_GetErrorCode(parser)));
  XML_ParserFree(parser);
  return good;
}

// A figure of rows x columns panels with n series each.
static srPlot* make(srPlotDef def, int n, srPlotStyle style, srPlotScale scale) {
  enum { POINTS = 50 };
  srPlot* plot = NULL;
  if (sr_plot_create(&def, &plot) != SR_OK) return NULL;
  for (int r = 0; r < (def.rows ? def.rows : 1); r++)
    for (int c = 0; c < (def.columns ? def.columns : 1); c++) {
      sr_plot_panel(plot, r, c, &(srPlotPanel){"panel", "t", "s", "y", "m", scale, scale, 0, 0, 0, 0, false});
      for (int s = 0; s < n; s++) {
        double x[POINTS], y[POINTS];
        char name[20];
        for (int i = 0; i < POINTS; i++) x[i] = 1 + i, y[i] = 10 + s + sin(i + s);
        snprintf(name, sizeof name, "method %d", s + 1);
        sr_plot_series(plot, r, c, &(srPlotSeries){.name = name, .n = POINTS, .x = x, .y = y, .style = style});
      }
      sr_plot_note(plot, r, c, "method 9: failed");
    }
  return plot;
}

static char* text_of(srPlot* plot, srMessages* messages) {
  static char* text;
  return sr_plot_write_text(plot, messages, &text, NULL) == SR_OK ? text : NULL;
}

TEST(every_series_has_its_path_and_its_name_in_every_style_and_scale) {
  for (int style = SR_PLOT_LINE; style <= SR_PLOT_STEP; style++)
    for (int scale = SR_PLOT_LINEAR; scale <= SR_PLOT_LOG; scale++) {
      srPlotDef def = {.title = "Figure", .rows = 2, .columns = 2};
      srPlot* plot = make(def, 12, (srPlotStyle)style, (srPlotScale)scale);
      char* text = text_of(plot, NULL);
      ENSURE(text && parses(text));
      const bool line = style != SR_PLOT_MARKERS, mark = style != SR_PLOT_LINE;
      ENSURE_EQUAL(count(text, "<path class=\"line "), line ? 4 * 12 + 12 : 0);  // and 12 in the legend
      ENSURE_EQUAL(count(text, "<path class=\"mark "), mark ? 4 * 12 + 12 : 0);
      ENSURE_EQUAL(count(text, ">method 7</text>"), 1);
      ENSURE_EQUAL(count(text, "<title>method 7</title>"), 4);
      ENSURE_EQUAL(count(text, "method 9: failed"), 4);
      ENSURE(strstr(text, "role=\"img\"") && strstr(text, "<desc id=") && strstr(text, ">t [s]</text>"));
      sr_free_text(text);
      sr_plot_destroy(plot);
    }
}

static bool meet(const srRect* a, const srRect* b) {
  return a->x < b->x + b->w && b->x < a->x + a->w && a->y < b->y + b->h && b->y < a->y + a->h;
}

// No legend meets an area, nor leaves the page.
static void check_legends(const srPlot* plot) {
  srPool pool;
  sr_pool_init(&pool);
  jmp_buf on_fail;
  if (setjmp(on_fail)) ENSURE(false);
  pool.on_fail = &on_fail;
  srLayout layout = {0};
  sr_plot_layout(&pool, plot, &layout);
  const int n = plot->def.rows * plot->def.columns;
  int drawn = 0;
  for (int i = -1; i < n; i++) {
    const srLegend* legend = i < 0 ? &layout.legend : &layout.cell[i].legend;
    if (legend->box.h <= 0) continue;
    drawn++;
    ENSURE(legend->box.x >= 0 && legend->box.y >= 0);
    ENSURE(legend->box.x + legend->box.w <= layout.width && legend->box.y + legend->box.h <= layout.height);
    for (int p = 0; p < n; p++) ENSURE(!meet(&legend->box, &layout.cell[p].area));
  }
  ENSURE(drawn > 0);
  for (int p = 0; p < n; p++) {
    const srRect* a = &layout.cell[p].area;
    ENSURE(a->w >= 40 && a->h >= 40 && a->x > 0 && a->y > 0);
    ENSURE(a->x + a->w < layout.width && a->y + a->h < layout.height);
  }
  sr_pool_free(&pool);
}

TEST(a_legend_covers_no_data_and_stays_on_the_page) {
  const int counts[] = {1, 5, 12, 60};
  for (int legend = SR_PLOT_LEGEND_AUTO; legend < SR_PLOT_LEGEND_NONE; legend++)
    for (int k = 0; k < 4; k++)
      for (int rows = 1; rows <= 3; rows++)
        for (int columns = 1; columns <= 3; columns++) {
          srPlotDef def = {.rows = rows, .columns = columns, .legend = (srPlotLegend)legend};
          if (k == 1) def.width = 500, def.height = 300;
          srPlot* plot = make(def, counts[k], SR_PLOT_LINE, SR_PLOT_LINEAR);
          check_legends(plot);
          sr_plot_destroy(plot);
        }
}

TEST(panels_with_the_same_names_share_a_legend_and_colours) {
  const double x[] = {0, 1}, y[] = {0, 1};
  srPlot* plot;
  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){.rows = 2}, &plot), SR_OK);
  sr_plot_series(plot, 0, 0, &(srPlotSeries){.name = "a", .n = 2, .x = x, .y = y});
  sr_plot_series(plot, 0, 0, &(srPlotSeries){.name = "b", .n = 2, .x = x, .y = y});
  sr_plot_series(plot, 1, 0, &(srPlotSeries){.name = "b", .n = 2, .x = x, .y = y});
  char* text = text_of(plot, NULL);
  ENSURE_EQUAL(count(text, "<path class=\"line s2\""), 3);  // twice drawn, once in the legend
  ENSURE_EQUAL(count(text, "<path class=\"line s1\""), 2);
  sr_free_text(text);
  sr_plot_destroy(plot);

  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){.rows = 2}, &plot), SR_OK);  // names of their own: each begins with colour 1
  sr_plot_series(plot, 0, 0, &(srPlotSeries){.name = "a", .n = 2, .x = x, .y = y});
  sr_plot_series(plot, 1, 0, &(srPlotSeries){.name = "b", .n = 2, .x = x, .y = y});
  text = text_of(plot, NULL);
  ENSURE_EQUAL(count(text, "<path class=\"line s1\""), 4);
  sr_free_text(text);
  sr_plot_destroy(plot);
}

// Two curves in one panel, one without a name in the other: the legend is beside the panel whose curves it names.
static void ensure_legend_beside(int named) {
  const double x[2] = {0, 1}, y[2] = {0, 1};
  srPlot* plot = NULL;
  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){.rows = 2, .columns = 1}, &plot), SR_OK);
  for (int row = 0; row < 2; row++) {
    const char* names[2] = {row == named ? "a" : "", "b"};
    for (int k = 0; k < (row == named ? 2 : 1); k++)
      sr_plot_series(plot, row, 0, &(srPlotSeries){.name = names[k], .n = 2, .x = x, .y = y});
  }
  srPool pool;
  sr_pool_init(&pool);
  jmp_buf on_fail;
  if (setjmp(on_fail)) ENSURE(false);
  pool.on_fail = &on_fail;
  srLayout layout = {0};
  sr_plot_layout(&pool, plot, &layout);
  const srCell* cell = &layout.cell[named];
  ENSURE_EQUAL(layout.legend.n, 0);
  ENSURE_EQUAL(layout.cell[1 - named].legend.n, 0);
  ENSURE_EQUAL(cell->legend.n, 2);
  ENSURE(cell->legend.box.x >= cell->area.x + cell->area.w);
  ENSURE(cell->legend.box.y >= cell->area.y);
  ENSURE(cell->legend.box.y + cell->legend.box.h <= cell->area.y + cell->area.h);
  sr_pool_free(&pool);
  sr_plot_destroy(plot);
}

TEST(the_legend_of_one_panel_among_several_is_beside_that_panel) {
  ensure_legend_beside(0);
  ensure_legend_beside(1);
}

TEST(a_legend_that_is_too_long_states_how_many_more_there_are) {
  srMessages* messages = sr_messages_create();
  srPlot* plot = make((srPlotDef){.legend = SR_PLOT_LEGEND_RIGHT, .height = 200}, 90, SR_PLOT_LINE, SR_PLOT_LINEAR);
  char* text = text_of(plot, messages);
  int more = 0, shown = 0;
  for (const char* p = text; (p = strstr(p, ">method ")) != NULL; p++)
    shown += strncmp(strchr(p, '<'), "</text>", 7) == 0;
  ENSURE(sscanf(strstr(text, ">and "), ">and %d more</text>", &more) == 1);
  ENSURE_EQUAL(shown - 1 + more, 90);            // less the note beneath the panel
  ENSURE_EQUAL(sr_messages_count(messages), 1);  // that looks repeat
  sr_free_text(text);
  sr_plot_destroy(plot);
  sr_messages_destroy(messages);
}

TEST(fourteen_series_can_be_distinguished) {
  for (int k = 0; k < 2; k++)  // without and with markers
    for (int a = 0; a < SR_PLOT_LOOKS; a++)
      for (int b = 0; b < a; b++) {
        const bool colors = strcmp(sr_look_color(a, k), sr_look_color(b, k)) != 0;
        const bool dashes = strcmp(sr_look_dash(a, k == 1), sr_look_dash(b, k == 1)) != 0;
        ENSURE(colors || dashes);
        ENSURE(strcmp(sr_look_marker(a), sr_look_marker(b)) != 0 || sr_look_hollow(a) != sr_look_hollow(b));
      }
}

// Positions of the markers of a path.
static int marker_places(const char* path, double x[], double y[], int most) {
  int n = 0;
  const char* end = strstr(path, "\"/>");
  for (const char* p = strchr(path, 'M'); p && p < end && n < most; p = strchr(p + 1, 'M'))
    n += sscanf(p, "M%lf %lf", &x[n], &y[n]) == 2;
  return n;
}

// Performance profiles run over each other: 14 of the same steps, and each is seen.
TEST(steps_that_cover_each_other_have_markers_at_places_of_their_own) {
  enum { MOST = 200 };
  srPlot* plot = NULL;
  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){.width = 900, .height = 500}, &plot), SR_OK);
  const double t[] = {0, 3, 4, 10}, rho[] = {0, 0.5, 0.9, 0.9};
  for (int s = 0; s < SR_PLOT_LOOKS; s++) {
    char name[20];
    snprintf(name, sizeof name, "method %d", s + 1);
    sr_plot_series(plot, 0, 0, &(srPlotSeries){.name = name, .n = 4, .x = t, .y = rho, .style = SR_PLOT_STEP});
  }
  char* text = text_of(plot, NULL);
  double x[MOST], y[MOST];
  int n = 0, paths = 0;
  for (const char* p = text; (p = strstr(p, "<path class=\"mark ")) != NULL && paths < SR_PLOT_LOOKS; p++, paths++) {
    const int more = marker_places(p, x + n, y + n, MOST - n);
    ENSURE(more >= 3);
    n += more;
  }
  ENSURE_EQUAL(paths, SR_PLOT_LOOKS);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++) ENSURE(hypot(x[i] - x[k], y[i] - y[k]) > 5);
  for (int i = 0; i < n; i++) ENSURE(x[i] > 0 && y[i] > 0);
  sr_free_text(text);
  sr_plot_destroy(plot);
}

TEST(a_single_series_of_steps_has_no_markers) {
  srPlot* plot = make((srPlotDef){.title = "Figure"}, 1, SR_PLOT_STEP, SR_PLOT_LINEAR);
  char* text = text_of(plot, NULL);
  ENSURE_EQUAL(count(text, "<path class=\"mark "), 0);
  sr_free_text(text);
  sr_plot_destroy(plot);
}

TEST(the_same_figure_gives_the_same_bytes_in_any_locale) {
  srPlot* plot = make((srPlotDef){.title = "Figure"}, 3, SR_PLOT_LINE_MARKERS, SR_PLOT_LINEAR);
  srPlot* again = make((srPlotDef){.title = "Figure"}, 3, SR_PLOT_LINE_MARKERS, SR_PLOT_LINEAR);
  srPlot* other = make((srPlotDef){.title = "Figures"}, 3, SR_PLOT_LINE_MARKERS, SR_PLOT_LINEAR);
  char *a = text_of(plot, NULL), *b = text_of(plot, NULL), *d = text_of(other, NULL);
  const bool comma = setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8");
  char* c = text_of(again, NULL);
  if (comma) setlocale(LC_ALL, "C");
  ENSURE_TEXT(a, b);
  ENSURE_TEXT(a, c);
  ENSURE(strcmp(a, d) != 0);
  char ids[2][20];  // two figures of one page do not share names
  ENSURE(sscanf(strstr(a, " id=\""), " id=\"%19[^\"]", ids[0]) == 1 &&
         sscanf(strstr(d, " id=\""), " id=\"%19[^\"]", ids[1]) == 1);
  ENSURE(strcmp(ids[0], ids[1]) != 0);
  sr_free_text(a), sr_free_text(b), sr_free_text(c), sr_free_text(d);
  sr_plot_destroy(plot), sr_plot_destroy(again), sr_plot_destroy(other);
}

TEST(a_theme_is_followed_or_forced) {
  const char *white = ".page{fill:#ffffff}", *black = ".page{fill:#14171c}", *media = "prefers-color-scheme:dark";
  for (int theme = SR_PLOT_AUTO; theme <= SR_PLOT_DARK; theme++) {
    srPlot* plot = make((srPlotDef){.theme = (srPlotTheme)theme}, 1, SR_PLOT_LINE, SR_PLOT_LINEAR);
    char* text = text_of(plot, NULL);
    ENSURE_EQUAL(count(text, white), theme != SR_PLOT_DARK);
    ENSURE_EQUAL(count(text, black), theme != SR_PLOT_LIGHT);
    ENSURE_EQUAL(count(text, media), theme == SR_PLOT_AUTO);
    sr_free_text(text);
    sr_plot_destroy(plot);
  }
}

TEST(texts_are_escaped_and_made_fit_for_xml) {
  const double x[] = {0, 1};
  srPlot* plot;
  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){.title = "a < b & \"c\" \xff\xc3 \x01"}, &plot), SR_OK);
  sr_plot_panel(plot, 0, 0, &(srPlotPanel){.title = "</svg>", .x_label = "]]>", .y_label = "\xc3\xa4 \xed\xa0\x80"});
  sr_plot_series(plot, 0, 0, &(srPlotSeries){.name = "<script>'", .n = 2, .x = x, .y = x});
  sr_plot_note(plot, 0, 0, "&amp; stays");
  char* text = text_of(plot, NULL);
  ENSURE(parses(text));
  ENSURE(strstr(text, "a &lt; b &amp; &quot;c&quot;") && strstr(text, "&lt;script&gt;") && strstr(text, "\xc3\xa4"));
  ENSURE(strstr(text, "&amp;amp; stays"));
  sr_free_text(text);
  sr_plot_destroy(plot);
}

TEST(an_empty_panel_does_not_change_the_axis_that_it_shares) {
  const double x[] = {2, 3}, y[] = {0, 1};
  srPlot* plot;
  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){.rows = 2}, &plot), SR_OK);
  sr_plot_series(plot, 0, 0, &(srPlotSeries){.n = 2, .x = x, .y = y});
  sr_plot_series(plot, 1, 0, &(srPlotSeries){.n = 0});
  char* text = text_of(plot, NULL);
  ENSURE_EQUAL(count(text, ">2.0</text>"), 1);  // beneath the lower panel alone
  ENSURE_EQUAL(count(text, ">3.0</text>"), 1);
  sr_free_text(text);
  sr_plot_destroy(plot);
}

TEST(gaps_single_points_constants_and_nothing_at_all_are_drawn) {
  const double nan = (double)NAN, x[] = {0, 1, 2, 3, 4, 5}, gaps[] = {1, 2, nan, 3, (double)INFINITY, 4};
  srPlot* plot;
  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){.rows = 5}, &plot), SR_OK);
  sr_plot_series(plot, 0, 0, &(srPlotSeries){.n = 6, .x = x, .y = gaps});
  sr_plot_series(plot, 1, 0, &(srPlotSeries){.n = 1, .x = x, .y = x});
  sr_plot_series(plot, 2, 0, &(srPlotSeries){.name = "none", .n = 0});
  sr_plot_series(plot, 3, 0, &(srPlotSeries){.n = 2, .x = x, .y = (double[]){7, 7}});
  char* text = text_of(plot, NULL);
  ENSURE(parses(text));
  ENSURE(!strstr(text, "nan") && !strstr(text, "inf"));
  ENSURE_EQUAL(count(text, "m-1 0h2"), 3);  // points without neighbours: two of the gaps, the single one
  ENSURE_EQUAL(count(text, ">no data</text>"), 1);
  ENSURE_EQUAL(count(text, "<clipPath"), 4);  // the fifth cell stays empty
  sr_free_text(text);
  sr_plot_destroy(plot);
}

TEST(a_log_axis_leaves_out_what_is_not_positive_and_reports_it_once) {
  const double x[] = {1, 2, 3, 4}, y[] = {1, 0, -1, 10};
  srPlot* plot;
  srMessages* messages = sr_messages_create();
  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){0}, &plot), SR_OK);
  sr_plot_panel(plot, 0, 0, &(srPlotPanel){.y_scale = SR_PLOT_LOG});
  sr_plot_series(plot, 0, 0, &(srPlotSeries){.name = "first", .n = 4, .x = x, .y = y});
  sr_plot_series(plot, 0, 0, &(srPlotSeries){.name = "second", .n = 4, .x = x, .y = y});
  char* text = text_of(plot, messages);
  ENSURE(text && parses(text));
  ENSURE_EQUAL(sr_messages_count(messages), 1);
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "4 points are not on the log axis"));
  ENSURE(strstr(sr_messages_get(messages, 0)->text, "'first'"));
  sr_free_text(text);
  sr_plot_destroy(plot);
  sr_messages_destroy(messages);
}

TEST(a_million_points_make_a_small_figure_with_its_spike) {
  enum { N = 1000000 };
  double* y = malloc(N * sizeof *y);
  unsigned seed = 5;
  for (int i = 0; i < N; i++) y[i] = noise(&seed);
  y[777777] = 50;
  srPlot* plot;
  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){.height = 400}, &plot), SR_OK);
  sr_plot_panel(plot, 0, 0, &(srPlotPanel){.y_min = 0, .y_max = 50});
  sr_plot_series(plot, 0, 0, &(srPlotSeries){.n = N, .y = y});
  char* text = text_of(plot, NULL);
  ENSURE(text && strlen(text) < 60000);
  // The spike reaches the upper edge of the area, which the clip path shows (it begins one px above).
  double area = -1, top = 1e9, px, py;
  int used = 0;
  sscanf(strstr(text, "<clipPath"), "<clipPath id=\"%*[^\"]\"><rect x=\"%*f\" y=\"%lf\"", &area);
  const char* p = strstr(strstr(text, "<path class=\"line"), " d=\"M") + 5;
  for (; sscanf(p, "%lf %lf%n", &px, &py, &used) == 2; p += used + (p[used] == 'L')) top = fmin(top, py);
  ENSURE_NEAR(top, area + 1, 0.02);
  sr_free_text(text);
  sr_plot_destroy(plot);
  free(y);
}

TEST(wrong_descriptions_are_refused_and_remembered) {
  srPlot* plot;
  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){.rows = -1}, &plot), SR_INPUT);
  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){.rows = 11, .columns = 10}, &plot), SR_INPUT);
  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){.width = 10}, &plot), SR_INPUT);
  ENSURE_EQUAL(sr_plot_create(&(srPlotDef){0}, &plot), SR_OK);
  ENSURE_EQUAL(sr_plot_panel(plot, 0, 0, &(srPlotPanel){.y_min = 1, .y_max = 0}), SR_INPUT);
  ENSURE_EQUAL(sr_plot_panel(plot, 0, 0, &(srPlotPanel){.y_min = -1, .y_max = 1, .y_scale = SR_PLOT_LOG}), SR_INPUT);
  ENSURE_EQUAL(sr_plot_series(plot, 1, 0, &(srPlotSeries){0}), SR_INPUT);
  ENSURE_EQUAL(sr_plot_panel(plot, 0, 0, &(srPlotPanel){0}), SR_OK);
  char* text;
  ENSURE_EQUAL(sr_plot_write_text(plot, NULL, &text, NULL), SR_INPUT);
  sr_plot_destroy(plot);
}

// ------------------------------------------------------------------------------------------------------- running out
TEST(a_figure_that_runs_out_of_memory_reports_it_and_leaks_nothing) {
  bool finished = false;
  sr_set_allocator(scarce, NULL);
  scarce_live = 0;
  for (int limit = 0; limit < 3000 && !finished; limit++) {
    scarce_left = limit;
    srPlot* plot = make((srPlotDef){.title = "Figure", .rows = 2}, 3, SR_PLOT_LINE, SR_PLOT_LINEAR);
    char* text = NULL;
    const srStatus status = plot ? sr_plot_write_text(plot, NULL, &text, NULL) : SR_MEMORY;
    finished = text != NULL;
    ENSURE_EQUAL(status, finished ? SR_OK : SR_MEMORY);
    sr_free_text(text);
    sr_plot_destroy(plot);
    ENSURE_EQUAL(scarce_live, 0);
  }
  sr_set_allocator(NULL, NULL);
  ENSURE(finished);
}

// -------------------------------------------------------------------------------------------------------------- tables
static char path[300];

static void write_file(const char* text) {
  snprintf(path, sizeof path, "%s/table.csv", SARRUS_BINARY_DIR);
  FILE* file = fopen(path, "wb");
  fputs(text, file);
  fclose(file);
}

static srResultTable* table;
static char message[600];

static srStatus read_text(const char* text) {
  write_file(text);
  srMessages* messages = sr_messages_create();
  const srStatus status = sr_csv_read(path, messages, &table);
  message[0] = 0;
  if (sr_messages_count(messages) > 0) {
    const srMessage* first = sr_messages_get(messages, 0);
    snprintf(message, sizeof message, "%d:%d: %s", first->place.line, first->place.column, first->text);
  }
  sr_messages_destroy(messages);
  remove(path);
  return status;
}

TEST(tables_of_other_programs_are_read) {
  const char* texts[] = {"# made by hand\nt [s],x [m]\n0,1.5\n1,-2e3\n", "t (s);x (m)\n0;1,5\n1;-2e3",
                         "\xef\xbb\xbft [s]\tx [m]\r\n0\t1.5\r\n\r\n1\t-2000\r\n",
                         "\"t [s]\",\"x [m]\"\n0, 1.5 \n+1.0 ,\"-2000\"\n"};
  for (int i = 0; i < 4; i++) {
    ENSURE_EQUAL(read_text(texts[i]), SR_OK);
    ENSURE_EQUAL(table->nrow, 2);
    ENSURE_EQUAL(table->ncolumn, 2);
    ENSURE_TEXT(table->names[1], "x");
    ENSURE_TEXT(table->units[0], "s");
    ENSURE(table->columns[0][1] == 1 && table->columns[1][0] == 1.5 && table->columns[1][1] == -2000);
    sr_table_destroy(table);
  }
  ENSURE_EQUAL(read_text("0 1.5 nan\n1  -2000  inf  \n"), SR_OK);
  ENSURE_TEXT(table->names[2], "c3");
  ENSURE(isnan(table->columns[2][0]) && isinf(table->columns[2][1]) && table->columns[1][1] == -2000);
  sr_table_destroy(table);
  ENSURE_EQUAL(read_text("a,\"b, \"\"c\"\" [m]\",sin(x)\n1,,3\n"), SR_OK);
  ENSURE_TEXT(table->names[1], "b, \"c\"");
  ENSURE_TEXT(table->names[2], "sin(x)");
  ENSURE(isnan(table->columns[1][0]));
  sr_table_destroy(table);
}

TEST(tables_that_are_wrong_are_refused_by_line_and_column) {
  const struct {
    const char *text, *message;
  } cases[] = {{"t,x\n0,1\n1,abc\n", "3:3: expected a number, found 'abc'"},
               {"t,x\n0,1\n1\n", "3:2: the line has 1 values; there are 2 columns"},
               {"t,x\n0,1,2\n", "2:5: the line has more values than there are columns, found '2'"},
               {"t,x\n", "0:0: holds no row of numbers"},
               {"", "0:0: holds no row of numbers"},
               {"1,2o,3\n1,2,3\n", "1:3: expected a number, found '2o'"}};
  for (int i = 0; i < SR_COUNT(cases); i++) {
    ENSURE_EQUAL(read_text(cases[i].text), SR_INPUT);
    ENSURE(table == NULL);
    ENSURE_TEXT(message, cases[i].message);
  }
  ENSURE_EQUAL(sr_csv_read("no/such/file.csv", NULL, &table), SR_IO);
}

TEST(a_table_that_was_written_reads_back_to_the_same_bits) {
  enum { ROWS = 20000 };
  snprintf(path, sizeof path, "%s/bits.csv", SARRUS_BINARY_DIR);
  const char *names[] = {"t", "x"}, *units[] = {"s", "rad/s"};
  srCsv* csv;
  ENSURE_EQUAL(sr_csv_create(path, "test", 2, names, units, NULL, &csv), SR_OK);
  static double rows[ROWS][2];
  unsigned seed = 3;
  for (int i = 0; i < ROWS; i++) {
    rows[i][0] = i * 1e-3;
    rows[i][1] =
        (noise(&seed) + noise(&seed) * 0x1p-24 + noise(&seed) * 0x1p-48 - 0.5) * pow(2, (int)(seed >> 24) - 128);
    sr_csv_row(csv, rows[i]);
  }
  ENSURE_EQUAL(sr_csv_close(csv, NULL), SR_OK);
  ENSURE_EQUAL(sr_csv_read(path, NULL, &table), SR_OK);
  remove(path);
  ENSURE_EQUAL(table->nrow, ROWS);
  ENSURE_TEXT(table->units[1], "rad/s");
  for (int i = 0; i < ROWS; i++) ENSURE(table->columns[0][i] == rows[i][0] && table->columns[1][i] == rows[i][1]);
  sr_table_destroy(table);
}

TEST(a_table_that_runs_out_of_memory_reports_it_and_leaks_nothing) {
  bool finished = false;
  write_file("t [s],x [m]\n0,1\n1,2\n");
  sr_set_allocator(scarce, NULL);
  scarce_live = 0;
  for (int limit = 0; limit < 100 && !finished; limit++) {
    scarce_left = limit;
    const srStatus status = sr_csv_read(path, NULL, &table);
    finished = status == SR_OK;
    ENSURE(finished || status == SR_MEMORY);
    sr_table_destroy(table);
    ENSURE_EQUAL(scarce_live, 0);
  }
  sr_set_allocator(NULL, NULL);
  remove(path);
  ENSURE(finished);
}
