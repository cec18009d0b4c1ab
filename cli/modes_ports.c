// sarrus modes --input --output --response: state-space matrices and frequency response.
#include <stdlib.h>
#include <string.h>

#include "modes.h"

enum { MOST_PORTS = 64, MOST_FREQUENCIES = 100000 };

// Splits a comma list into names; NULL: out of memory or too many, reported.
static const char** split(Cli* cli, const char* option, const char* text, int* n) {
  const size_t length = strlen(text) + 1;
  const char** name = calloc(1, (MOST_PORTS + 1) * sizeof *name + length);
  if (!name) return cli_error(cli, "out of memory"), NULL;
  char* copy = (char*)(name + MOST_PORTS + 1);
  memcpy(copy, text, length);
  for (char* at = copy; at;) {
    char* comma = strchr(at, ',');
    if (comma) *comma = 0;
    if (*n == MOST_PORTS) {
      cli_error(cli, "%s takes at most %d names", option, MOST_PORTS);
      free(name);
      return NULL;
    }
    name[(*n)++] = at;
    at = comma ? comma + 1 : NULL;
  }
  return name;
}

// Index of a joint coordinate, or of v(NAME) where that is allowed; -1: reported.
static int coordinate(Cli* cli, const char* option, const srModel* m, const char* name, bool* velocity) {
  char plain[256];
  const size_t n = strlen(name);
  const bool is_rate = velocity && n > 3 && strncmp(name, "v(", 2) == 0 && name[n - 1] == ')';
  snprintf(plain, sizeof plain, "%.*s", (int)(is_rate ? n - 3 : n), is_rate ? name + 2 : name);
  if (velocity) *velocity = is_rate;
  for (int i = 0; i < m->njv; i++)
    if (strcmp(m->v_name[i], plain) == 0) return i;
  (void)word_exists(cli, option, plain, m->v_name, m->njv, m->njv);
  return -1;
}

static bool fill_matrices(ModesCall* x, const srLinear* l, srModePorts* p) {
  const int nx = l->nx, njv = l->m->njv;
  bool good = true, velocity;
  p->B = calloc((size_t)(nx * p->ninput) + 1, sizeof *p->B);
  p->C = calloc((size_t)(nx * p->noutput) + 1, sizeof *p->C);
  if (!p->B || !p->C) return cli_error(x->cli, "out of memory"), false;
  for (int k = 0; k < p->ninput; k++) {
    const int c = coordinate(x->cli, "--input", l->m, p->input[k], NULL);
    good = good && c >= 0;
    for (int i = 0; i < nx && c >= 0; i++) p->B[i * p->ninput + k] = l->force[i * njv + c];
  }
  for (int j = 0; j < p->noutput; j++) {
    const int c = coordinate(x->cli, "--output", l->m, p->output[j], &velocity);
    good = good && c >= 0;
    if (c >= 0)
      memcpy(p->C + j * nx, (velocity ? l->rate : l->shape) + (size_t)c * (size_t)nx, (size_t)nx * sizeof *p->C);
  }
  return good;
}

// Frequencies at equal ratios.
static bool find_response(ModesCall* x, const srLinear* l, srModePorts* p) {
  const double pi = 3.14159265358979323846;
  double from, to;
  int n;
  char rest = 0;
  if (sscanf(x->response, "%lf:%lf:%d%c", &from, &to, &n, &rest) != 3 || !(from > 0 && to > from && to < 1e300) ||
      n < 2 || n > MOST_FREQUENCIES) {
    cli_error(x->cli,
              "--response expects FROM:TO:N, two frequencies in Hz above 0 and at least 2 values, such as 0.1:100:500, "
              "not '%s'",
              x->response);
    return false;
  }
  const int pairs = p->ninput * p->noutput;
  p->nfrequency = n;
  p->frequency = calloc((size_t)n, sizeof *p->frequency);
  p->gain = calloc(2 * (size_t)n * (size_t)pairs, sizeof *p->gain);
  bool good = p->frequency && p->gain;
  for (int i = 0; i < n && good; i++) {
    p->frequency[i] = i == n - 1 ? to : from * pow(to / from, (double)i / (n - 1));
    good = sr_frequency_response(l, p->ninput, p->B, p->noutput, p->C, 2 * pi * p->frequency[i],
                                 p->gain + 2 * (size_t)i * (size_t)pairs) == SR_OK;
  }
  if (!good) cli_error(x->cli, "out of memory");
  return good;
}

bool ports_find(ModesCall* x, const srLinear* linear, srModePorts* out) {
  out->input = split(x->cli, "--input", x->input, &out->ninput);
  out->output = out->input ? split(x->cli, "--output", x->output, &out->noutput) : NULL;
  return out->output && fill_matrices(x, linear, out) && (!x->response || find_response(x, linear, out));
}

void ports_free(srModePorts* p) {
  free((void*)p->input);
  free((void*)p->output);
  free(p->B);
  free(p->C);
  free(p->frequency);
  free(p->gain);
}

// ---------------------------------------------------------------------------------------------------------------- files
static const double* gain(const srModePorts* p, int i, int pair) {
  return p->gain + 2 * ((size_t)i * (size_t)(p->ninput * p->noutput) + (size_t)pair);
}

static bool write_csv(const ModesCall* x, const srModePorts* p) {
  srOutput* output;
  if (sr_output_create(x->csv, x->cli->messages, &output) != SR_OK) return false;
  FILE* out = sr_output_stream(output);
  fprintf(out, "f [Hz]");
  for (int k = 0; k < p->ninput * p->noutput; k++) {
    const char *to = p->output[k / p->ninput], *from = p->input[k % p->ninput];
    fprintf(out, ",modulus.%s.%s,phase.%s.%s [rad]", to, from, to, from);
  }
  fprintf(out, "\n");
  for (int i = 0; i < p->nfrequency; i++) {
    fprintf(out, "%.17g", p->frequency[i]);
    for (int k = 0; k < p->ninput * p->noutput; k++) {
      const double* g = gain(p, i, k);
      fprintf(out, ",%.17g,%.17g", hypot(g[0], g[1]), atan2(g[1], g[0]));
    }
    fprintf(out, "\n");
  }
  return sr_output_close(output, x->cli->messages) == SR_OK;
}

// Modulus and phase over the frequency (Bode).
static bool draw(const ModesCall* x, const srModePorts* p, const char* model) {
  const double degree = 3.14159265358979323846 / 180;
  srPlot* plot = NULL;
  char title[320], name[256], path[1024];
  double* y = calloc(2 * (size_t)p->nfrequency, sizeof *y);
  snprintf(title, sizeof title, "%s: frequency response", model);
  bool good = y && sr_plot_create(&(srPlotDef){.title = title, .rows = 2}, &plot) == SR_OK;
  for (int k = 0; k < p->ninput * p->noutput && good; k++) {
    for (int i = 0; i < p->nfrequency; i++) {
      const double* g = gain(p, i, k);
      y[i] = hypot(g[0], g[1]);
      y[p->nfrequency + i] = atan2(g[1], g[0]) / degree;
    }
    snprintf(name, sizeof name, "%s from %s", p->output[k / p->ninput], p->input[k % p->ninput]);
    sr_plot_series(plot, 0, 0, &(srPlotSeries){.name = name, .n = p->nfrequency, .x = p->frequency, .y = y});
    sr_plot_series(plot, 1, 0,
                   &(srPlotSeries){.name = name, .n = p->nfrequency, .x = p->frequency, .y = y + p->nfrequency});
  }
  if (good) {
    const srPlotPanel panel = {
        .x_label = "frequency", .x_unit = "Hz", .x_scale = SR_PLOT_LOG, .y_label = "modulus", .y_scale = SR_PLOT_LOG};
    srPlotPanel phase = panel;
    phase.y_label = "phase", phase.y_unit = "deg", phase.y_scale = SR_PLOT_LINEAR;
    sr_plot_panel(plot, 0, 0, &panel);
    sr_plot_panel(plot, 1, 0, &phase);
    snprintf(path, sizeof path, "%s/response.svg", x->svg);
    good = sr_plot_write(plot, path, x->cli->messages) == SR_OK;
  }
  sr_plot_destroy(plot);
  free(y);
  return good;
}

bool ports_write(const ModesCall* x, const srModePorts* p, const char* model) {
  if (x->csv && !write_csv(x, p)) return false;
  return !x->svg || draw(x, p, model);
}
