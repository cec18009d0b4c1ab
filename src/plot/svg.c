// Writes a figure that is laid out as SVG. Colours are only in a style sheet, every rule of which begins with the
// figure's id: so a figure follows the reader's light or dark page, and many figures can be in one HTML page. The id
// is a hash of the contents: the same figure gives the same bytes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plot/plot.h"

#define FONTS "'Helvetica Neue',Helvetica,Arial,'Liberation Sans','Nimbus Sans',sans-serif"
#define TIMES "\xc3\x97"
#define FAR 20000.0         // px: what is farther out is drawn there; renderers count in single precision
#define MARKERS_APART 10.0  // px between markers on a line that has many
#define STEP_MARKERS 6.5    // px between the markers of two looks on steps; a look has its own again after all of them

typedef struct Svg {
  const srPlot* plot;
  const srLayout* layout;
  srText* out;
  char id[24];
  srCurvePoint* points;  // of the series that is written; room for the largest, with the corners of steps
} Svg;

// ------------------------------------------------------------------------------------------------------------------ id
static uint64_t hash(uint64_t h, const void* data, size_t size) {  // FNV-1a
  for (const unsigned char* p = data; size > 0; p++, size--) h = (h ^ *p) * 0x100000001b3u;
  return h;
}

static uint64_t hash_text(uint64_t h, const char* text) { return hash(h, text, strlen(text) + 1); }

static void make_id(Svg* svg) {
  uint64_t h = hash_text(0xcbf29ce484222325u, svg->plot->def.title);
  h = hash(h, &svg->plot->def.theme, sizeof svg->plot->def.theme);
  h = hash(h, &svg->layout->width, sizeof svg->layout->width);
  h = hash(h, &svg->layout->height, sizeof svg->layout->height);
  for (int p = 0; p < svg->plot->def.rows * svg->plot->def.columns; p++) {
    const srPanel* panel = &svg->plot->panel[p];
    h = hash_text(hash_text(hash_text(h, panel->def.title), panel->x_text), panel->y_text);
    for (int i = 0; i < panel->nseries; i++) {
      const srPanelSeries* s = &panel->series[i];
      h = hash_text(h, s->name);
      h = hash(hash(h, s->x, (size_t)s->n * sizeof *s->x), s->y, (size_t)s->n * sizeof *s->y);
    }
  }
  snprintf(svg->id, sizeof svg->id, "plot-%08x", (unsigned)(h ^ h >> 32));
}

// --------------------------------------------------------------------------------------------------------------- style
typedef struct Theme {
  const char *page, *text, *faint, *frame, *grid, *fine;
} Theme;
static const Theme themes[2] = {{"#ffffff", "#1f2328", "#59636e", "#8c959f", "#e4e7eb", "#f1f3f5"},
                                {"#14171c", "#e6e9ee", "#9aa4b1", "#6b7683", "#2b313a", "#20252c"}};

static bool look_used(const Svg* svg, int look) {
  for (int p = 0; p < svg->plot->def.rows * svg->plot->def.columns; p++)
    for (int i = 0; i < svg->plot->panel[p].nseries; i++)
      if (svg->layout->cell[p].look[i] == look) return true;
  return false;
}

static void put_colors(Svg* svg, bool dark) {
  const Theme* theme = &themes[dark];
  const char* id = svg->id;
  sr_text_put(svg->out, "#%s .page{fill:%s}#%s text{fill:%s}#%s .faint{fill:%s}\n", id, theme->page, id, theme->text,
              id, theme->faint);
  sr_text_put(svg->out, "#%s .frame{stroke:%s}#%s .grid{stroke:%s}#%s .fine{stroke:%s}\n", id, theme->frame, id,
              theme->grid, id, theme->fine);
  for (int look = 0; look < SR_PLOT_LOOKS; look++) {
    if (!look_used(svg, look)) continue;
    const char* color = sr_look_color(look, dark);
    sr_text_put(svg->out, "#%s .s%d{stroke:%s}#%s .m%d{stroke:%s;fill:%s}\n", id, look + 1, color, id, look + 1, color,
                sr_look_hollow(look) ? theme->page : color);
  }
}

static void put_style(Svg* svg) {
  const char* id = svg->id;
  const srPlotTheme theme = svg->plot->def.theme;
  sr_text_put(svg->out, "<style>\n#%s text{font:%dpx %s}#%s .title{font-size:%dpx;font-weight:600}", id, (int)SR_FONT,
              FONTS, id, (int)SR_FONT_TITLE);
  sr_text_put(svg->out, "#%s .panel{font-size:%dpx;font-weight:600}#%s .note{font-size:%dpx}\n", id, (int)SR_FONT_PANEL,
              id, (int)SR_FONT_NOTE);
  sr_text_put(svg->out,
              "#%s path{fill:none}#%s .line{stroke-width:1.7;stroke-linejoin:round}#%s .mark{stroke-width:1.2}\n"
              "#%s .frame{stroke-width:1}#%s .grid{stroke-width:.8}#%s .fine{stroke-width:.6}\n",
              id, id, id, id, id, id);
  put_colors(svg, theme == SR_PLOT_DARK);
  if (theme == SR_PLOT_AUTO) {
    sr_text_put(svg->out, "@media (prefers-color-scheme:dark){\n");
    put_colors(svg, true);
    sr_text_put(svg->out, "}\n");
  }
  sr_text_put(svg->out, "</style>\n");
}

// ------------------------------------------------------------------------------------------------------ title and desc
static void put_names(Svg* svg, const srPanel* panel) {
  for (int i = 0, n = 0; i < panel->nseries; i++)
    if (*panel->series[i].name) sr_text_put(svg->out, "%s%t", n++ ? ", " : ": ", panel->series[i].name);
}

static void put_description(Svg* svg) {
  const srPlotDef* def = &svg->plot->def;
  sr_text_put(svg->out, "<title id=\"%s-title\">%t</title>\n<desc id=\"%s-desc\">", svg->id,
              *def->title ? def->title : "Plot", svg->id);
  if (*def->description) sr_text_put(svg->out, "%t", def->description);
  for (int p = 0, n = 0; !*def->description && p < def->rows * def->columns; p++) {
    const srPanel* panel = &svg->plot->panel[p];
    if (!panel->used) continue;
    sr_text_put(svg->out, "%s", n++ ? " " : "");
    if (*panel->def.title) sr_text_put(svg->out, "%t: ", panel->def.title);
    sr_text_put(svg->out, "%t over %t", *panel->y_text ? panel->y_text : "y", *panel->x_text ? panel->x_text : "x");
    put_names(svg, panel);
    sr_text_put(svg->out, ".");
  }
  sr_text_put(svg->out, "</desc>\n");
}

// ---------------------------------------------------------------------------------------------------------------- axes
static double crisp(double px) { return floor(px) + 0.5; }  // a thin line covers one row of pixels

static void put_power(Svg* svg, const char* power) {
  if (*power) sr_text_put(svg->out, "<tspan dy=\"-4.5\" font-size=\"8.5\">%s</tspan>", power);
}

// Lines through the area at the values of an axis, as one path.
static void put_lines(Svg* svg, const srCell* cell, const srAxis* axis, const char* class, bool minor) {
  const bool along_x = axis == &cell->x;
  const int n = minor ? axis->nminor : axis->ntick;
  if (n == 0) return;
  sr_text_put(svg->out, "<path class=\"%s\" d=\"", class);
  for (int i = 0; i < n; i++) {
    const double px = crisp(sr_axis_px(axis, minor ? axis->minor[i] : axis->tick[i].value));
    if (along_x)
      sr_text_put(svg->out, "M%p %pv%p", px, cell->area.y, cell->area.h);
    else
      sr_text_put(svg->out, "M%p %ph%p", cell->area.x, px, cell->area.w);
  }
  sr_text_put(svg->out, "\"/>\n");
}

// The frame with its ticks, outside of the area.
static void put_frame(Svg* svg, const srCell* cell) {
  const srRect* a = &cell->area;
  const double bottom = crisp(a->y + a->h), left = crisp(a->x);
  sr_text_put(svg->out, "<path class=\"frame\" d=\"M%p %pH%pV%pH%pz", left, crisp(a->y), crisp(a->x + a->w), bottom,
              left);
  for (int i = 0; i < cell->x.ntick; i++)
    sr_text_put(svg->out, "M%p %pv4", crisp(sr_axis_px(&cell->x, cell->x.tick[i].value)), bottom);
  for (int i = 0; i < cell->x.nminor; i++)
    sr_text_put(svg->out, "M%p %pv2.5", crisp(sr_axis_px(&cell->x, cell->x.minor[i])), bottom);
  for (int i = 0; i < cell->y.ntick; i++)
    sr_text_put(svg->out, "M%p %ph-4", left, crisp(sr_axis_px(&cell->y, cell->y.tick[i].value)));
  for (int i = 0; i < cell->y.nminor; i++)
    sr_text_put(svg->out, "M%p %ph-2.5", left, crisp(sr_axis_px(&cell->y, cell->y.minor[i])));
  sr_text_put(svg->out, "\"/>\n");
}

static void put_tick_labels(Svg* svg, const srCell* cell) {
  const double bottom = cell->area.y + cell->area.h;
  if (cell->writes_x) sr_text_put(svg->out, "<g text-anchor=\"middle\">");
  for (int i = 0; i < cell->x.ntick && cell->writes_x; i++) {
    const srTick* tick = &cell->x.tick[i];
    sr_text_put(svg->out, "<text x=\"%p\" y=\"%p\">%s", sr_axis_px(&cell->x, tick->value), bottom + 19, tick->text);
    put_power(svg, tick->power);
    sr_text_put(svg->out, "</text>");
  }
  if (cell->writes_x) sr_text_put(svg->out, "</g>\n");
  sr_text_put(svg->out, "<g text-anchor=\"end\">");
  for (int i = 0; i < cell->y.ntick; i++) {
    const srTick* tick = &cell->y.tick[i];
    sr_text_put(svg->out, "<text x=\"%p\" y=\"%p\">%s", cell->area.x - 7, sr_axis_px(&cell->y, tick->value) + 4.2,
                tick->text);
    put_power(svg, tick->power);
    sr_text_put(svg->out, "</text>");
  }
  sr_text_put(svg->out, "</g>\n");
}

// What the labels of an axis leave out, at its end.
static void put_left_out(Svg* svg, const srAxis* axis, double x, double y) {
  if (!*axis->power && !*axis->offset) return;
  sr_text_put(svg->out, "<text class=\"note\" text-anchor=\"end\" x=\"%p\" y=\"%p\">", x, y);
  if (*axis->power) {
    sr_text_put(svg->out, TIMES "10");
    put_power(svg, axis->power);
  }
  if (*axis->power && *axis->offset)
    sr_text_put(svg->out, "<tspan dx=\"4\" dy=\"4.5\">%s</tspan>", axis->offset);
  else
    sr_text_put(svg->out, "%s", axis->offset);
  sr_text_put(svg->out, "</text>\n");
}

static void put_axes(Svg* svg, const srPanel* panel, const srCell* cell) {
  const srRect* a = &cell->area;
  put_frame(svg, cell);
  put_tick_labels(svg, cell);
  const double y = a->y + 0.5 * a->h;
  if (*panel->def.title)
    sr_text_put(svg->out, "<text class=\"panel\" x=\"%p\" y=\"%p\">%t</text>\n", a->x, cell->title_y,
                sr_text_fit(svg->out->pool, panel->def.title, SR_FONT_PANEL * 1.07, a->w + 20));
  if (cell->writes_x && *panel->x_text)
    sr_text_put(svg->out, "<text text-anchor=\"middle\" x=\"%p\" y=\"%p\">%t</text>\n", a->x + 0.5 * a->w,
                cell->x_label_y, sr_text_fit(svg->out->pool, panel->x_text, SR_FONT, a->w));
  if (*panel->y_text)
    sr_text_put(svg->out, "<text text-anchor=\"middle\" transform=\"translate(%p %p) rotate(-90)\">%t</text>\n",
                cell->y_label_x, y, sr_text_fit(svg->out->pool, panel->y_text, SR_FONT, a->h + 16));
  if (cell->writes_x) put_left_out(svg, &cell->x, a->x + a->w, cell->x_label_y);
  put_left_out(svg, &cell->y, a->x - 7, a->y - 9);
  for (int i = 0; i < cell->nnote; i++)
    sr_text_put(svg->out, "<text class=\"note faint\" x=\"%p\" y=\"%p\">%t</text>\n", a->x, cell->note_y + 15 * i,
                cell->note[i]);
}

// -------------------------------------------------------------------------------------------------------------- series
static double bounded(double px) { return fmin(fmax(px, -FAR), FAR); }

// The points of a series in px, with their gaps; steps get their corners.
static int place_points(const srPanelSeries* s, const srCell* cell, srCurvePoint* out) {
  int n = 0;
  bool gap = true;
  for (int i = 0; i < s->n; i++) {
    const double x = sr_axis_px(&cell->x, s->x[i]), y = sr_axis_px(&cell->y, s->y[i]);
    if (!isfinite(x) || !isfinite(y)) {
      gap = true;
      continue;
    }
    if (s->style == SR_PLOT_STEP && !gap) {
      out[n] = (srCurvePoint){bounded(x), out[n - 1].y, false};
      n++;
    }
    out[n++] = (srCurvePoint){bounded(x), bounded(y), gap};
    gap = false;
  }
  return n;
}

static void put_line(Svg* svg, bool marked, bool dashed, int look, int n) {
  const srCurvePoint* points = svg->points;
  const char* dash = dashed ? sr_look_dash(look, marked) : "";
  sr_text_put(svg->out, "<path class=\"line s%d\"", look + 1);
  if (*dash) sr_text_put(svg->out, " stroke-dasharray=\"%s\"", dash);
  sr_text_put(svg->out, " d=\"");
  for (int i = 0; i < n; i++) {
    const char* command = points[i].move ? "M" : i > 0 && points[i - 1].move ? "L" : " ";
    sr_text_put(svg->out, "%s%p %p", command, points[i].x, points[i].y);
    // A point without neighbours is seen as a dot.
    const bool alone = points[i].move && (i + 1 == n || points[i + 1].move);
    if (alone) sr_text_put(svg->out, "m-1 0h2");
  }
  sr_text_put(svg->out, "\"/>");
}

static bool inside(const srRect* a, const srCurvePoint* p) {
  return p->x >= a->x - 0.5 && p->x <= a->x + a->w + 0.5 && p->y >= a->y - 0.5 && p->y <= a->y + a->h + 0.5;
}

// Markers in the area. Where a line has very many, those that would hide each other are left out.
static void put_markers(Svg* svg, const srPanelSeries* s, int look, const srRect* area, int n) {
  const srCurvePoint* points = svg->points;
  const double apart = s->style == SR_PLOT_LINE_MARKERS && n > 60 ? MARKERS_APART : 0;
  srCurvePoint last = {-FAR, -FAR, false};
  sr_text_put(svg->out, "<path class=\"mark m%d\" d=\"", look + 1);
  for (int i = 0; i < n; i++) {
    if (!inside(area, &points[i]) || hypot(points[i].x - last.x, points[i].y - last.y) < apart) continue;
    sr_text_put(svg->out, "M%p %p%s", points[i].x, points[i].y, sr_look_marker(look));
    last = points[i];
  }
  sr_text_put(svg->out, "\"/>");
}

// Markers on steps: at places of its own for each look, so that curves that run over each other are all seen. A short one has
// a marker at its start at least.
static void put_step_markers(Svg* svg, int look, const srRect* area, int n) {
  const double apart = SR_PLOT_LOOKS * STEP_MARKERS;
  const srCurvePoint* points = svg->points;
  double next = area->x + (look + 0.5) * STEP_MARKERS;
  int count = 0;
  sr_text_put(svg->out, "<path class=\"mark m%d\" d=\"", look + 1);
  for (int i = 0; i < n; i++) {
    const bool holds = i + 1 < n && !points[i + 1].move && points[i + 1].x > points[i].x;
    while (next < points[i].x) next += apart;
    for (; holds && next <= points[i + 1].x && next <= area->x + area->w; next += apart) {
      const srCurvePoint place = {next, points[i].y, false};
      if (!inside(area, &place)) continue;
      sr_text_put(svg->out, "M%p %p%s", place.x, place.y, sr_look_marker(look));
      count++;
    }
  }
  for (int i = 0; i < n && count == 0; i++) {
    if (!inside(area, &points[i])) continue;
    sr_text_put(svg->out, "M%p %p%s", points[i].x, points[i].y, sr_look_marker(look));
    count++;
  }
  sr_text_put(svg->out, "\"/>");
}

static void put_series(Svg* svg, const srCell* cell, int p, const srPanelSeries* s, int look) {
  srPool* pool = svg->out->pool;
  const bool marked = sr_look_marked(&svg->plot->panel[p], s);
  sr_text_put(svg->out, "<g>");
  if (*s->name) sr_text_put(svg->out, "<title>%t</title>", s->name);
  if (s->style != SR_PLOT_MARKERS) {
    const int n = sr_curve_reduce(pool, svg->points, place_points(s, cell, svg->points));
    sr_text_put(svg->out, "<g clip-path=\"url(#%s-%d)\">", svg->id, p + 1);
    put_line(svg, marked, sr_look_dashed(&svg->plot->panel[p]), look, n);
    sr_text_put(svg->out, "</g>");
  }
  if (marked) {
    int n = place_points(s, cell, svg->points);
    if (s->style == SR_PLOT_MARKERS) n = sr_curve_places(pool, svg->points, n, svg->points);
    if (s->style == SR_PLOT_STEP)
      put_step_markers(svg, look, &cell->area, n);
    else
      put_markers(svg, s, look, &cell->area, n);
  }
  sr_text_put(svg->out, "</g>\n");
}

static void put_panel(Svg* svg, int p) {
  const srPanel* panel = &svg->plot->panel[p];
  const srCell* cell = &svg->layout->cell[p];
  const srRect* a = &cell->area;
  sr_text_put(svg->out, "<g>\n<clipPath id=\"%s-%d\"><rect x=\"%p\" y=\"%p\" width=\"%p\" height=\"%p\"/></clipPath>\n",
              svg->id, p + 1, a->x, a->y - 1, a->w + 1, a->h + 2);
  put_lines(svg, cell, &cell->x, "fine", true);
  put_lines(svg, cell, &cell->y, "fine", true);
  put_lines(svg, cell, &cell->x, "grid", false);
  put_lines(svg, cell, &cell->y, "grid", false);
  put_axes(svg, panel, cell);
  for (int i = 0; i < panel->nseries; i++) put_series(svg, cell, p, &panel->series[i], cell->look[i]);
  if (cell->empty)
    sr_text_put(svg->out, "<text class=\"faint\" text-anchor=\"middle\" x=\"%p\" y=\"%p\">no data</text>\n",
                a->x + 0.5 * a->w, a->y + 0.5 * a->h + 4);
  sr_text_put(svg->out, "</g>\n");
}

// -------------------------------------------------------------------------------------------------------------- legend
static void put_sample(Svg* svg, const srLegendEntry* entry, double x, double y) {
  const char* dash = entry->dashed ? sr_look_dash(entry->look, entry->markers) : "";
  if (entry->line) {
    sr_text_put(svg->out, "<path class=\"line s%d\"", entry->look + 1);
    if (*dash) sr_text_put(svg->out, " stroke-dasharray=\"%s\"", dash);
    sr_text_put(svg->out, " d=\"M%p %ph%p\"/>", x, y, SR_LEGEND_SAMPLE);
  }
  if (entry->markers)
    sr_text_put(svg->out, "<path class=\"mark m%d\" d=\"M%p %p%s\"/>", entry->look + 1, x + 0.5 * SR_LEGEND_SAMPLE, y,
                sr_look_marker(entry->look));
}

static void put_legend(Svg* svg, const srLegend* legend) {
  if (legend->box.h <= 0) return;
  srPool* pool = svg->out->pool;
  sr_text_put(svg->out, "<g>\n");
  for (int i = 0; i < legend->shown + (legend->shown < legend->n); i++) {
    const int row = legend->by_rows ? i / legend->columns : i % legend->rows;
    const int column = legend->by_rows ? i % legend->columns : i / legend->rows;
    const double x = legend->box.x + column * legend->column_width;
    const double y = legend->box.y + (row + 0.5) * SR_LEGEND_ROW;
    const char* text = i < legend->shown ? sr_text_fit(pool, legend->entry[i].name, SR_FONT, SR_LEGEND_NAME)
                                         : sr_pool_printf(pool, "and %d more", legend->n - legend->shown);
    sr_text_put(svg->out, "<g>");
    if (i < legend->shown && text != legend->entry[i].name)
      sr_text_put(svg->out, "<title>%t</title>", legend->entry[i].name);
    if (i < legend->shown) put_sample(svg, &legend->entry[i], x, y);
    sr_text_put(svg->out, "<text x=\"%p\" y=\"%p\">%t</text></g>\n", x + SR_LEGEND_SAMPLE + SR_LEGEND_GAP, y + 4.2,
                text);
  }
  sr_text_put(svg->out, "</g>\n");
}

static srCurvePoint* room_for_points(srPool* pool, const srPlot* plot) {
  int most = 0;
  for (int p = 0; p < plot->def.rows * plot->def.columns; p++)
    for (int i = 0; i < plot->panel[p].nseries; i++)
      if (plot->panel[p].series[i].n > most) most = plot->panel[p].series[i].n;
  return sr_pool_alloc(pool, 2 * (size_t)most * sizeof(srCurvePoint));
}

void sr_plot_svg(const srPlot* plot, const srLayout* layout, srText* out) {
  Svg svg = {.plot = plot, .layout = layout, .out = out, .points = room_for_points(out->pool, plot)};
  make_id(&svg);
  sr_text_put(out,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"%s\" role=\"img\" aria-labelledby=\"%s-title %s-desc\" "
              "width=\"%p\" height=\"%p\" viewBox=\"0 0 %p %p\">\n",
              svg.id, svg.id, svg.id, layout->width, layout->height, layout->width, layout->height);
  put_description(&svg);
  put_style(&svg);
  sr_text_put(out, "<rect class=\"page\" width=\"%p\" height=\"%p\"/>\n", layout->width, layout->height);
  if (*plot->def.title)
    sr_text_put(
        out, "<text class=\"title\" x=\"%p\" y=\"%p\">%t</text>\n", layout->cell[0].area.x, layout->title_y,
        sr_text_fit(out->pool, plot->def.title, SR_FONT_TITLE * 1.07, layout->width - layout->cell[0].area.x - 8));
  for (int p = 0; p < plot->def.rows * plot->def.columns; p++)
    if (plot->panel[p].used) put_panel(&svg, p);
  for (int p = 0; p < plot->def.rows * plot->def.columns; p++) put_legend(&svg, &layout->cell[p].legend);
  put_legend(&svg, &layout->legend);
  sr_text_put(out, "</svg>\n");
}
