// The figures: of each model work against precision (as Haddouni et al. 2017, Figure 5) and how the runs went at each tolerance (Figure 4);
// over all models the performance profile (Figures 9 to 11).
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum { MOST = 256 };  // points of a curve

typedef double (*Quantity)(const Compare* c, const srComparedRun* e);

static double error_of(const Compare* c, const srComparedRun* e) { return (void)c, e->error.state; }
static double milliseconds(const Compare* c, const srComparedRun* e) { return (void)c, 1e3 * e->record.seconds; }
static double evaluations(const Compare* c, const srComparedRun* e) { return (void)c, (double)e->record.evaluations; }
static double tolerance(const Compare* c, const srComparedRun* e) { return (void)c, e->of_rtol; }
static double accepted(const Compare* c, const srComparedRun* e) { return (void)c, (double)e->record.steps; }
static double rejected(const Compare* c, const srComparedRun* e) { return (void)c, (double)e->record.rejected; }
static double position(const Compare* c, const srComparedRun* e) { return (void)c, e->record.violation[0]; }
static double velocity(const Compare* c, const srComparedRun* e) { return (void)c, e->record.violation[1]; }
static double acceleration(const Compare* c, const srComparedRun* e) { return (void)c, e->record.violation[2]; }
static double average_step(const Compare* c, const srComparedRun* e) {
  const srComparedModel* s = &c->all.model[e->model];
  return (e->record.t - s->t0) / (double)e->record.steps;
}

typedef struct Panel {
  srPlotPanel panel;
  Quantity x, y;
} Panel;

// Zero has no place on a logarithmic axis.
static double drawable(double x) { return x > 0 && isfinite(x) ? x : (double)NAN; }

static void draw_methods(const Compare* c, srPlot* plot, int row, int column, int model, const Panel* p) {
  sr_plot_panel(plot, row, column, &p->panel);
  for (int j = 0; j < c->all.nmethod; j++) {
    double x[MOST], y[MOST];
    int n = 0;
    for (int i = 0; i < c->all.nrun && n < MOST; i++) {
      const srComparedRun* e = &c->all.run[i];
      if (e->model != model || e->method != c->all.method[j] || !e->record.done) continue;
      x[n] = drawable(p->x(c, e));
      y[n] = drawable(p->y(c, e));
      n += !isnan(x[n]) && !isnan(y[n]);
    }
    sr_plot_series(
        plot, row, column,
        &(srPlotSeries){
            .name = sri_method(c->all.method[j])->name, .n = n, .x = x, .y = y, .style = SR_PLOT_LINE_MARKERS});
  }
}

static int count_failed(const Compare* c, int model, int method, int* runs) {
  int failed = 0;
  *runs = 0;
  for (int i = 0; i < c->all.nrun; i++) {
    const srComparedRun* e = &c->all.run[i];
    if (e->model != model || e->method != method) continue;
    ++*runs;
    failed += !e->record.done;
  }
  return failed;
}

// What is not drawn is reported.
static void note_failures(const Compare* c, srPlot* plot, int row, int model) {
  char text[160];
  for (int j = 0; j < c->all.nmethod; j++) {
    int runs;
    const int failed = count_failed(c, model, c->all.method[j], &runs);
    if (failed == 0) continue;
    snprintf(text, sizeof text, "%s: %d of %d runs failed", sri_method(c->all.method[j])->name, failed, runs);
    sr_plot_note(plot, row, 0, text);
  }
}

static bool write_figure(const Compare* c, srPlot* plot, const char* name, const char* model) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s%s%s.svg", c->svg, name, *model ? "-" : "", model);
  const srStatus status = sr_plot_write(plot, path, c->cli->messages);
  sr_plot_destroy(plot);
  if (status != SR_OK) cli_error(c->cli, "the figure '%s' could not be written: %s", path, sr_status_text(status));
  return status == SR_OK;
}

static bool draw_work(const Compare* c, int model) {
  const srComparedModel* s = &c->all.model[model];
  char title[160], note[160];
  const char* error = s->m->ny == 0 ? "error of q" : s->m->njv == 0 ? "error of y" : "error of q and y";
  const Panel panels[] = {
      {{.x_label = error, .y_label = "time", .y_unit = "ms", .x_scale = SR_PLOT_LOG, .y_scale = SR_PLOT_LOG},
       error_of,
       milliseconds},
      {{.x_label = error, .y_label = "evaluations", .x_scale = SR_PLOT_LOG, .y_scale = SR_PLOT_LOG},
       error_of,
       evaluations}};
  srPlot* plot = NULL;
  snprintf(title, sizeof title, "%s: work and precision", s->name);
  if (sr_plot_create(&(srPlotDef){.title = title, .rows = 1, .columns = 2}, &plot) != SR_OK) return false;
  for (int k = 0; k < 2; k++) draw_methods(c, plot, 0, k, model, &panels[k]);
  if (isfinite(s->reference_error.state)) {
    snprintf(note, sizeof note, "error of the reference itself: %.1e", s->reference_error.state);
    sr_plot_note(plot, 0, 0, note);
  }
  note_failures(c, plot, 0, model);
  return write_figure(c, plot, "work-precision", s->name);
}

static bool draw_violations(const Compare* c, int model) {
  const srComparedModel* s = &c->all.model[model];
  char title[160];
#define OVER_TOLERANCE .x_label = "tolerance", .x_scale = SR_PLOT_LOG, .y_scale = SR_PLOT_LOG
  const Panel panels[2][3] = {{{{.y_label = "average step", .y_unit = "s", OVER_TOLERANCE}, tolerance, average_step},
                               {{.y_label = "accepted steps", OVER_TOLERANCE}, tolerance, accepted},
                               {{.y_label = "rejected steps", OVER_TOLERANCE}, tolerance, rejected}},
                              {{{.y_label = "largest |g|", OVER_TOLERANCE}, tolerance, position},
                               {{.y_label = "largest |G v + b|", OVER_TOLERANCE}, tolerance, velocity},
                               {{.y_label = "largest |G a - gamma|", OVER_TOLERANCE}, tolerance, acceleration}}};
#undef OVER_TOLERANCE
  srPlot* plot = NULL;
  snprintf(title, sizeof title, "%s: steps and violations", s->name);
  if (sr_plot_create(&(srPlotDef){.title = title, .rows = 2, .columns = 3}, &plot) != SR_OK) return false;
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++) draw_methods(c, plot, i, k, model, &panels[i][k]);
  sr_plot_note(plot, 1, 2, "what is exactly 0 is not drawn");
  note_failures(c, plot, 1, model);
  return write_figure(c, plot, "violations", s->name);
}

// rho_s(tau) has a step at every ratio; the last one goes on to the edge. work: ratios, tau, rho.
static void draw_profile_panel(const Compare* c, srPlot* plot, int column, double* work) {
  const int np = c->all.nproblem, ns = c->all.nmethod;
  double *ratio = work, *tau = ratio + np * ns, *rho = tau + np * ns + 2;
  if (sr_comparison_ratios(&c->all, column == 1, ratio) != SR_OK) return;
  int n = sr_profile_steps(np, ns, ratio, tau);
  tau[n] = 1.1 * tau[n - 1];
  n++;
  const srPlotPanel panel = {.title = column == 0 ? "by time" : "by evaluations",
                             .x_label = "tau, times the best",
                             .y_label = "part of the problems",
                             .x_scale = SR_PLOT_LOG,
                             .x_min = 1,
                             .x_max = tau[n - 1],
                             .y_max = 1.02};
  sr_plot_panel(plot, 0, column, &panel);
  for (int j = 0; j < ns; j++) {
    const srPlotSeries series = {
        .name = sri_method(c->all.method[j])->name, .n = n, .x = tau, .y = rho, .style = SR_PLOT_STEP};
    for (int i = 0; i < n; i++) rho[i] = sr_profile(np, ns, ratio, j, tau[i]);
    sr_plot_series(plot, 0, column, &series);
  }
}

static bool draw_profile(const Compare* c) {
  double* work = calloc(3 * ((size_t)c->all.nproblem * (size_t)c->all.nmethod + 2), sizeof *work);
  srPlot* plot = NULL;
  char title[160], note[80];
  snprintf(title, sizeof title, "Performance profile over %d problems", c->all.nproblem);
  if (!work || sr_plot_create(&(srPlotDef){.title = title, .rows = 1, .columns = 2}, &plot) != SR_OK)
    return free(work), false;
  draw_profile_panel(c, plot, 0, work);
  draw_profile_panel(c, plot, 1, work);
  free(work);
  if (c->all.njudged < c->all.nmodel) {
    snprintf(note, sizeof note, "%d models without a reference are left out", c->all.nmodel - c->all.njudged);
    sr_plot_note(plot, 0, 0, note);
  }
  return write_figure(c, plot, "profile", "");
}

bool write_figures(const Compare* c) {
  bool good = true;
  for (int i = 0; i < c->all.nmodel; i++) {
    good = draw_work(c, i) && good;
    good = draw_violations(c, i) && good;
  }
  return (c->all.nmodel < 2 || c->all.njudged == 0 || draw_profile(c)) && good;
}
