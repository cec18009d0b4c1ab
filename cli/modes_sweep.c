// sarrus modes --sweep: eigenvalues along a parameter, as a report, a table and figures.
#include <stdlib.h>
#include <string.h>

#include "modes.h"

enum { MOST_VALUES = 100000 };

typedef struct Sweep {
  srSweep* plan;
  const char* name;
  int n;           // values
  int nx;          // eigenvalues at each
  double* value;   // n
  double* lambda;  // n x nx x 2: re, im, in the order of the first value that they continue
  int* zeros;      // n
  int* stability;  // n: srStability
  char model[128];
} Sweep;

static double* at(const Sweep* s, int i, int k) { return s->lambda + 2 * ((size_t)i * (size_t)s->nx + (size_t)k); }

// ------------------------------------------------------------------------------------------------------------ the option
static bool read_option(Cli* cli, const char* text, Sweep* s) {
  if (sr_sweep_create(&s->plan) != SR_OK) return cli_error(cli, "out of memory"), false;
  if (sr_sweep_grid(s->plan, text, cli->messages) != SR_OK) return false;
  s->name = sr_sweep_name(s->plan, 0);
  s->n = sr_sweep_values(s->plan, 0);
  if (s->n >= 2 && s->n <= MOST_VALUES && !sr_sweep_is_words(s->plan, 0)) return true;
  cli_error(cli, "--sweep takes 2 to %d numbers here, not '%s'", MOST_VALUES, text);
  return false;
}

// --------------------------------------------------------------------------------------------------------------- values
static bool store(Cli* cli, Sweep* s, int i, const srModes* modes) {
  if (i == 0) {
    s->nx = modes->n;
    s->lambda = calloc(2 * (size_t)s->n * (size_t)(s->nx + 1), sizeof *s->lambda);
  }
  if (!s->lambda) return cli_error(cli, "out of memory"), false;
  if (modes->n != s->nx) {
    cli_error(cli, "%s = %.9g: %d eigenvalues, and %d before; the number of degrees of freedom has changed", s->name,
              s->value[i], modes->n, s->nx);
    return false;
  }
  for (int k = 0; k < s->nx; k++) {
    at(s, i, k)[0] = modes->mode[k].re;
    at(s, i, k)[1] = modes->mode[k].im;
  }
  s->zeros[i] = modes->zeros;
  s->stability[i] = (int)sr_modes_stability(modes);
  return i == 0 || sr_eigenvalues_track(s->nx, at(s, i - 1, 0), at(s, i, 0)) == SR_OK;
}

// One value: the model with this setting behind all others.
static int find_at(ModesCall* x, Sweep* s, int i) {
  ModesCall one = {
      .cli = x->cli, .m = x->m, .state = x->state, .balance = x->balance, .at = x->at, .contact = x->contact};
  srSetting* settings = calloc((size_t)x->m.settings.n + 1, sizeof *settings);
  char number[40];
  srLinear* linear = NULL;
  srModes* modes = NULL;
  srData* data;
  if (!settings) return cli_refuse(x->cli, cli_status(SR_MEMORY));
  snprintf(number, sizeof number, "%.17g", s->value[i]);
  if (x->m.settings.n > 0) memcpy(settings, x->m.settings.item, (size_t)x->m.settings.n * sizeof *settings);
  settings[x->m.settings.n] = (srSetting){s->name, number};
  one.m.settings = (Settings){settings, x->m.settings.n + 1};
  int status = modes_find(&one, &linear, &modes, &data);
  if (status == EXIT_DONE && i == 0) {
    snprintf(s->model, sizeof s->model, "%s", linear->m->name);
    if (x->csv && !model_is_safe(x->cli, &one.m, x->csv)) status = cli_refuse(x->cli, EXIT_INPUT);
  }
  if (status == EXIT_DONE && !store(x->cli, s, i, modes)) status = cli_refuse(x->cli, EXIT_FAILED);
  sr_modes_destroy(modes);
  sr_linear_destroy(linear);
  sr_rest_destroy(one.rest);
  x->state = one.state;  // a file of the state is read once
  one.m.settings = (Settings){0};
  one.m.packages = (TextList){0};
  model_close(&one.m);
  free(settings);
  return status;
}

static int find_all(ModesCall* x, Sweep* s) {
  s->value = calloc((size_t)s->n, sizeof *s->value);
  s->zeros = calloc((size_t)s->n, sizeof *s->zeros);
  s->stability = calloc((size_t)s->n, sizeof *s->stability);
  if (!s->value || !s->zeros || !s->stability) return cli_refuse(x->cli, cli_status(SR_MEMORY));
  int status = EXIT_DONE;
  for (int i = 0; i < s->n && status == EXIT_DONE; i++) {
    s->value[i] = sr_sweep_number(s->plan, i, 0);
    status = find_at(x, s, i);
  }
  return status;
}

// -------------------------------------------------------------------------------------------------------------- results
// Largest real part of the eigenvalues that are not 0; NaN: all are.
static double growth(const Sweep* s, int i) {
  double most = NOT_GIVEN;
  for (int k = 0; k < s->nx; k++) {
    const double* x = at(s, i, k);
    if ((x[0] != 0 || x[1] != 0) && !(x[0] <= most)) most = x[0];
  }
  return most;
}

static bool write_csv(const ModesCall* x, const Sweep* s) {
  srOutput* output;
  if (sr_output_create(x->csv, x->cli->messages, &output) != SR_OK) return false;
  FILE* out = sr_output_stream(output);
  fprintf(out, "%s", s->name);
  for (int k = 0; k < s->nx; k++) fprintf(out, ",re.%d [1/s],im.%d [1/s]", k + 1, k + 1);
  fprintf(out, "\n");
  for (int i = 0; i < s->n; i++) {
    fprintf(out, "%.17g", s->value[i]);
    for (int k = 0; k < s->nx; k++) fprintf(out, ",%.17g,%.17g", at(s, i, k)[0], at(s, i, k)[1]);
    fprintf(out, "\n");
  }
  return sr_output_close(output, x->cli->messages) == SR_OK;
}

// A branch that is 0 everywhere says nothing.
static bool is_zero(const Sweep* s, int k) {
  for (int i = 0; i < s->n; i++) {
    if (at(s, i, k)[0] != 0 || at(s, i, k)[1] != 0) return false;
  }
  return true;
}

typedef enum Curve { CURVE_RE, CURVE_IM, CURVE_FREQUENCY } Curve;

static void fill(const Sweep* s, int k, Curve curve, double* out) {
  const double pi = 3.14159265358979323846;
  for (int i = 0; i < s->n; i++) {
    const double* x = at(s, i, k);
    out[i] = curve == CURVE_RE ? x[0] : curve == CURVE_IM ? x[1] : fabs(x[1]) / (2 * pi);
  }
}

static bool write_figure(const ModesCall* x, srPlot* plot, const char* name) {
  const size_t size = strlen(x->svg) + strlen(name) + 2;
  char* path = malloc(size);
  if (path) snprintf(path, size, "%s/%s", x->svg, name);
  const bool good = path && sr_plot_write(plot, path, x->cli->messages) == SR_OK;
  free(path);
  sr_plot_destroy(plot);
  return good;
}

// Im over Re; dots at both ends would hide branches, so that the first value has markers.
static bool draw_locus(const ModesCall* x, const Sweep* s, double* work) {
  srPlot* plot = NULL;
  char title[320], note[320];
  snprintf(title, sizeof title, "%s: eigenvalues along %s", s->model, s->name);
  if (sr_plot_create(&(srPlotDef){.title = title, .legend = SR_PLOT_LEGEND_NONE}, &plot) != SR_OK) return false;
  sr_plot_panel(plot, 0, 0, &(srPlotPanel){.x_label = "Re", .x_unit = "1/s", .y_label = "Im", .y_unit = "1/s"});
  for (int k = 0; k < s->nx; k++) {
    if (is_zero(s, k)) continue;
    fill(s, k, CURVE_RE, work);
    fill(s, k, CURVE_IM, work + s->n);
    sr_plot_series(plot, 0, 0, &(srPlotSeries){.n = s->n, .x = work, .y = work + s->n, .look = 1});
    sr_plot_series(plot, 0, 0,
                   &(srPlotSeries){.n = 1, .x = work, .y = work + s->n, .style = SR_PLOT_MARKERS, .look = 2});
  }
  snprintf(note, sizeof note, "%s from %.6g (markers) to %.6g", s->name, s->value[0], s->value[s->n - 1]);
  sr_plot_note(plot, 0, 0, note);
  return write_figure(x, plot, "root-locus.svg");
}

// Frequencies and real parts over the parameter.
static bool draw_campbell(const ModesCall* x, const Sweep* s, double* work) {
  srPlot* plot = NULL;
  char title[320];
  snprintf(title, sizeof title, "%s: frequencies and growth along %s", s->model, s->name);
  if (sr_plot_create(&(srPlotDef){.title = title, .rows = 2, .legend = SR_PLOT_LEGEND_NONE}, &plot) != SR_OK)
    return false;
  sr_plot_panel(plot, 0, 0, &(srPlotPanel){.x_label = s->name, .y_label = "frequency", .y_unit = "Hz"});
  sr_plot_panel(plot, 1, 0, &(srPlotPanel){.x_label = s->name, .y_label = "Re", .y_unit = "1/s"});
  for (int k = 0; k < s->nx; k++) {
    if (is_zero(s, k)) continue;
    fill(s, k, CURVE_FREQUENCY, work);
    fill(s, k, CURVE_RE, work + s->n);
    sr_plot_series(plot, 0, 0, &(srPlotSeries){.n = s->n, .x = s->value, .y = work, .look = 1});
    sr_plot_series(plot, 1, 0, &(srPlotSeries){.n = s->n, .x = s->value, .y = work + s->n, .look = 1});
  }
  return write_figure(x, plot, "campbell.svg");
}

static bool draw(const ModesCall* x, const Sweep* s) {
  double* work = calloc(2 * (size_t)s->n, sizeof *work);
  const bool good = work && draw_locus(x, s, work) && draw_campbell(x, s, work);
  free(work);
  return good;
}

static void put_json(const Sweep* s, srText* out) {
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "name", s->name);
  sr_json_numbers(&json, "values", s->value, s->n);
  sr_json_array(&json, "stability");
  for (int i = 0; i < s->n; i++) sr_json_text(&json, NULL, sr_stability_word((srStability)s->stability[i]));
  sr_json_array_end(&json);
  sr_json_array(&json, "zeros");
  for (int i = 0; i < s->n; i++) sr_json_int(&json, NULL, s->zeros[i]);
  sr_json_array_end(&json);
  sr_json_array(&json, "eigenvalues");
  for (int i = 0; i < s->n; i++) sr_json_matrix(&json, NULL, at(s, i, 0), s->nx, 2);
  sr_json_array_end(&json);
  sr_json_end(&json);
}

// The value, the largest real part, and where stability changes.
static void show(const Sweep* s, srText* out) {
  enum { SHOWN = 60 };
  const int step = (s->n + SHOWN - 1) / SHOWN;
  sr_text_print(out, "model %s: %d eigenvalues along %s\n", s->model, s->nx, s->name);
  sr_text_print(out, "  %15s %15s  %s\n", s->name, "largest re", "stability");
  for (int i = 0; i < s->n; i++) {
    const bool changed = i > 0 && s->stability[i] != s->stability[i - 1];
    if (i % step != 0 && i != s->n - 1 && !changed) continue;
    sr_text_print(out, "  %15.9g %15.8g  %s\n", s->value[i], growth(s, i),
                  sr_stability_word((srStability)s->stability[i]));
  }
}

static int finish(ModesCall* x, const Sweep* s) {
  srText text = {0};
  if ((x->csv && !write_csv(x, s)) || (x->svg && !draw(x, s))) return cli_refuse(x->cli, EXIT_FAILED);
  cli_show(x->cli);
  if (x->cli->json)
    put_json(s, &text);
  else
    show(s, &text);
  return cli_print(x->cli, &text);
}

int modes_sweep(ModesCall* x) {
  Sweep s = {0};
  int status = read_option(x->cli, x->sweep, &s) ? EXIT_DONE : cli_refuse(x->cli, EXIT_INPUT);
  if (status == EXIT_DONE) status = find_all(x, &s);
  if (status == EXIT_DONE) status = finish(x, &s);
  sr_sweep_destroy(s.plan);
  free(s.value);
  free(s.lambda);
  free(s.zeros);
  free(s.stability);
  return status;
}
