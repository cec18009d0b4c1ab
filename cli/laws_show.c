// sarrus laws: the table for people, JSON, CSV and the two figures (as Figures 7 and 8 of Rodrigues da Silva et al. 2024).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "laws.h"

// --------------------------------------------------------------------------------------------------------------- table
static void normal_table(const Laws* l, FILE* out) {
  fprintf(out, "one impact: m = %g kg, %g m/s, K = %g, n = %g, e = %g, D = %g\n", l->mass, l->speed, l->normal.K,
          l->normal.n, l->normal.e, l->normal.D);
  fprintf(out, "  %-20s %12s %12s %12s %12s\n", "law", "given", "d max [m]", "f max [N]", "time [s]");
  for (int i = 0; i < l->nnormal; i++) {
    const NormalCurve* c = &l->normal_curve[i];
    fprintf(out, "  %-20s %12.6f %12.5g %12.5g %12.5g%s\n", c->law->name, c->impact.restitution, c->impact.d_max,
            c->impact.f_max, c->impact.duration, c->impact.clamped ? "  clamped" : "");
  }
  fprintf(out, "\nrestitution given, for restitution asked\n");
  fprintf(out, "  %-20s", "law");
  for (int k = 0; k < l->asked.n; k++) fprintf(out, " %8g", l->asked.x[k]);
  fprintf(out, "\n");
  for (int i = 0; i < l->nnormal; i++) {
    fprintf(out, "  %-20s", l->normal_curve[i].law->name);
    for (int k = 0; k < l->asked.n; k++) {
      const double given = l->normal_curve[i].given[k];
      if (isnan(given))
        fprintf(out, " %8s", "-");
      else
        fprintf(out, " %8.4f", given);
    }
    fprintf(out, "\n");
  }
}

static void friction_table(const Laws* l, FILE* out) {
  static const double parts[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1};
  enum { PARTS = sizeof parts / sizeof parts[0] };
  fprintf(out, "%sforce of steady sliding [N]: limits %g and %g, at speed [m/s]\n", l->nnormal > 0 ? "\n" : "",
          l->limits.x[0], l->limits.x[1]);
  fprintf(out, "  %-20s", "law");
  for (int k = 0; k < PARTS; k++) fprintf(out, " %9.3g", parts[k] * l->v_max);
  fprintf(out, "  at rest\n");
  for (int i = 0; i < l->nfriction; i++) {
    const FrictionCurve* c = &l->friction_curve[i];
    fprintf(out, "  %-20s", c->law->name);
    for (int k = 0; k < PARTS; k++)
      fprintf(out, " %9.5g", c->f[LAW_POINTS / 2 + (int)lround(parts[k] * (LAW_POINTS / 2))]);
    fprintf(out, "  %s\n", c->law->set_valued ? "set-valued" : c->law->holds ? "holds" : "creeps");
  }
}

void laws_table(const Laws* l) {
  if (l->nnormal > 0) normal_table(l, l->cli->report);
  if (l->nfriction > 0) friction_table(l, l->cli->report);
}

// ---------------------------------------------------------------------------------------------------------------- JSON
static void json_pair(srJson* json, double x, double y) { sr_json_numbers(json, NULL, (const double[]){x, y}, 2); }

static void json_normal(srJson* json, const Laws* l, const NormalCurve* c) {
  sr_json_object(json, NULL);
  sr_json_text(json, "name", c->law->name);
  sr_json_text(json, "about", c->law->about);
  sr_json_array(json, "curve");
  for (int i = 0; i < LAW_POINTS; i++) json_pair(json, c->d[i], c->f[i]);
  sr_json_array_end(json);
  sr_json_number(json, "given", c->impact.restitution);
  sr_json_number(json, "d_max", c->impact.d_max);
  sr_json_number(json, "f_max", c->impact.f_max);
  sr_json_number(json, "duration", c->impact.duration);
  sr_json_bool(json, "clamped", c->impact.clamped);
  sr_json_array(json, "restitution");
  for (int i = 0; i < l->asked.n; i++) {
    sr_json_object(json, NULL);
    sr_json_number(json, "asked", l->asked.x[i]);
    sr_json_number(json, "given", c->given[i]);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
  sr_json_object_end(json);
}

static void json_friction(srJson* json, const FrictionCurve* c) {
  sr_json_object(json, NULL);
  sr_json_text(json, "name", c->law->name);
  sr_json_text(json, "about", c->law->about);
  sr_json_bool(json, "holds", c->law->holds);
  sr_json_bool(json, "set_valued", c->law->set_valued);
  sr_json_numbers(json, "v", c->v, LAW_POINTS);
  sr_json_numbers(json, "f", c->f, LAW_POINTS);
  sr_json_object(json, "cycle");
  sr_json_numbers(json, "x", c->cycle_x, CYCLE_POINTS);
  sr_json_numbers(json, "v", c->cycle_v, CYCLE_POINTS);
  sr_json_numbers(json, "f", c->cycle_f, CYCLE_POINTS);
  sr_json_object_end(json);
  sr_json_object_end(json);
}

static void json_parameters(srJson* json, const Laws* l) {
  sr_json_object(json, "parameters");
#define NORMAL_NUMBER(field, value, unit, doc) sr_json_number(json, "normal." #field, l->normal.field);
  SR_NORMAL_PARAMETER_LIST(NORMAL_NUMBER)
#undef NORMAL_NUMBER
#define FRICTION_NUMBER(field, value, sliding, turning, doc)                                                           \
  sr_json_number(json, "friction." #field, l->friction.field);
  SR_FRICTION_PARAMETER_LIST(FRICTION_NUMBER)
#undef FRICTION_NUMBER
  sr_json_number(json, "mass", l->mass);
  sr_json_number(json, "speed", l->speed);
  sr_json_numbers(json, "limits", l->limits.x, 2);
  sr_json_number(json, "tau", l->tau);
  sr_json_object_end(json);
}

void laws_json(const Laws* l) {
  srText text = {0};
  srJson json = sr_json_begin(&text);
  json_parameters(&json, l);
  sr_json_array(&json, "normal");
  for (int i = 0; i < l->nnormal; i++) json_normal(&json, l, &l->normal_curve[i]);
  sr_json_array_end(&json);
  sr_json_array(&json, "friction");
  for (int i = 0; i < l->nfriction; i++) json_friction(&json, &l->friction_curve[i]);
  sr_json_array_end(&json);
  sr_json_warnings(&json, l->cli->messages);
  sr_json_end(&json);
  cli_print(l->cli, &text);
}

// ----------------------------------------------------------------------------------------------------------------- CSV
// One row for each point of the curves: v and the friction laws, then penetration and force of each normal law.
static void csv_rows(const Laws* l, FILE* out) {
  const char* comma = "";
  if (l->nfriction > 0) fprintf(out, "v [m/s]"), comma = ",";
  for (int i = 0; i < l->nfriction; i++) fprintf(out, ",%s [N]", l->friction_curve[i].law->name);
  for (int i = 0; i < l->nnormal; i++, comma = ",")
    fprintf(out, "%s%s.d [m],%s.f [N]", comma, l->normal_curve[i].law->name, l->normal_curve[i].law->name);
  fprintf(out, "\n");
  for (int k = 0; k < LAW_POINTS; k++) {
    comma = "";
    if (l->nfriction > 0) fprintf(out, "%.17g", l->friction_curve[0].v[k]), comma = ",";
    for (int i = 0; i < l->nfriction; i++) fprintf(out, ",%.17g", l->friction_curve[i].f[k]);
    for (int i = 0; i < l->nnormal; i++, comma = ",")
      fprintf(out, "%s%.17g,%.17g", comma, l->normal_curve[i].d[k], l->normal_curve[i].f[k]);
    fprintf(out, "\n");
  }
}

bool laws_csv(Laws* l) {
  srOutput* output;
  if (sr_output_create(l->csv, l->cli->messages, &output) != SR_OK) return false;
  csv_rows(l, sr_output_stream(output));
  return sr_output_close(output, l->cli->messages) == SR_OK;
}

// ------------------------------------------------------------------------------------------------------------- figures
static bool write_figure(Laws* l, srPlot* plot, const char* name) {
  const size_t size = strlen(l->svg) + strlen(name) + 2;
  char* path = malloc(size);
  if (!path) return cli_error(l->cli, "out of memory"), false;
  snprintf(path, size, "%s/%s", l->svg, name);
  const srStatus status = sr_plot_write(plot, path, l->cli->messages);
  free(path);
  return status == SR_OK;
}

static bool normal_figure(Laws* l) {
  srPlot* plot = NULL;
  const int n = l->nnormal, columns = n < 3 ? n : 3;
  bool good = sr_plot_create(&(srPlotDef){.title = "Force against penetration, one impact",
                                          .rows = (n + columns - 1) / columns,
                                          .columns = columns,
                                          .legend = SR_PLOT_LEGEND_NONE,
                                          .separate_x = true},
                             &plot) == SR_OK;
  for (int i = 0; good && i < n; i++) {
    const NormalCurve* c = &l->normal_curve[i];
    const int row = i / columns, column = i % columns;
    char note[80];
    snprintf(note, sizeof note, "restitution %.4f%s", c->impact.restitution, c->impact.clamped ? ", clamped" : "");
    sr_plot_panel(
        plot, row, column,
        &(srPlotPanel){
            .title = c->law->name, .x_label = "penetration", .x_unit = "m", .y_label = "force", .y_unit = "N"});
    sr_plot_series(plot, row, column,
                   &(srPlotSeries){.name = c->law->name, .n = LAW_POINTS, .x = c->d, .y = c->f, .look = 1});
    sr_plot_note(plot, row, column, note);
  }
  good = good && write_figure(l, plot, "laws-normal.svg");
  sr_plot_destroy(plot);
  return good;
}

static void friction_panel(srPlot* plot, int row, int column, const FrictionCurve* c, double limit) {
  sr_plot_panel(plot, row, column,
                &(srPlotPanel){.title = c->law->name,
                               .x_label = "slip speed",
                               .x_unit = "m/s",
                               .y_label = "force",
                               .y_unit = "N",
                               .y_min = -1.2 * limit,
                               .y_max = 1.2 * limit});
  sr_plot_series(plot, row, column,
                 &(srPlotSeries){.name = "steady sliding", .n = LAW_POINTS, .x = c->v, .y = c->f, .look = 1});
  if (c->law->ne != 0)
    sr_plot_series(
        plot, row, column,
        &(srPlotSeries){.name = "back and forth", .n = CYCLE_POINTS, .x = c->cycle_v, .y = c->cycle_f, .look = 2});
}

static bool friction_figure(Laws* l) {
  srPlot* plot = NULL;
  const int n = l->nfriction, columns = n < 3 ? n : 3;
  bool good = sr_plot_create(&(srPlotDef){.title = "Force against slip speed",
                                          .rows = (n + columns - 1) / columns,
                                          .columns = columns,
                                          .legend = SR_PLOT_LEGEND_BELOW},
                             &plot) == SR_OK;
  const double limit = l->limits.x[0] + l->friction.D * l->v_max;
  for (int i = 0; good && i < n; i++) friction_panel(plot, i / columns, i % columns, &l->friction_curve[i], limit);
  good = good && write_figure(l, plot, "laws-friction.svg");
  sr_plot_destroy(plot);
  return good;
}

bool laws_svg(Laws* l) {
  const bool normal = l->nnormal == 0 || normal_figure(l);
  return (l->nfriction == 0 || friction_figure(l)) && normal;
}
