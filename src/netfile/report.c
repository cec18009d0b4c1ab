// What `check` and `run` report of a network, as text and as JSON.
#include <string.h>

#include "netfile/netfile.h"
#include "report/report.h"

static const char* const kinds[] = {"admittance", "impedance", "impedance", "map"};
static const char* const signal_words[SR_SIGNALS] = {"inputs", "outputs", "states"};

static int count_kind(const srNetworkFile* f, const char* word) {
  int n = 0;
  for (int i = 0; i < f->ncomponent; i++) n += strcmp(kinds[sr_network_component(f->network, i).kind], word) == 0;
  return n;
}

static int level_count(const srNetworkFile* f) {
  int n = 0;
  for (int i = 0; i < sr_network_count(f->network); i++) {
    const int level = sr_network_component(f->network, i).level;
    if (level >= n) n = level + 1;
  }
  return n;
}

static bool is_new(const srNetworkFile* f, int i) {  // not a map of a terminal of a component that is named already
  return i < f->ncomponent;
}

// ----------------------------------------------------------------------------------------------------------------- JSON
static void put_name(srJson* json, const srNetworkFile* f, const char* key, srNetColumn c) {
  srText text = {0};
  sr_net_signal_text(f, c, &text);
  sr_json_text(json, key, text.data);
  sr_text_free(&text);
}

// The part of a name behind the component, with its number where it has none.
static const char* short_name(const srNetworkFile* f, srNetColumn c, char* number, size_t size) {
  const char* name = sr_network_signal_name(f->network, c.component, c.signal, c.index);
  if (name) return name;
  snprintf(number, size, "%d", c.index);
  return number;
}

static void put_signal_names(srJson* json, const srNetworkFile* f, int component) {
  for (int signal = 0; signal < SR_SIGNALS; signal++) {
    sr_json_array(json, signal_words[signal]);
    for (int k = 0; k < sr_network_signals(f->network, component, (srSignal)signal); k++) {
      char number[16];
      sr_json_text(json, NULL, short_name(f, (srNetColumn){component, k, (srSignal)signal}, number, sizeof number));
    }
    sr_json_array_end(json);
  }
}

static void put_components(srJson* json, const srNetworkFile* f) {
  sr_json_array(json, "components");
  for (int i = 0; i < f->ncomponent; i++) {
    const srComponentInfo c = sr_network_component(f->network, i);
    sr_json_object(json, NULL);
    sr_json_text(json, "name", c.name);
    sr_json_text(json, "kind", kinds[c.kind]);
    put_signal_names(json, f, i);
    sr_json_int(json, "level", c.level);
    sr_json_object_end(json);
  }
  sr_json_array_end(json);
}

static void put_order(srJson* json, const srNetworkFile* f) {
  sr_json_array(json, "order");
  for (int level = 0; level < level_count(f); level++) {
    sr_json_array(json, NULL);
    for (int i = 0; i < sr_network_count(f->network); i++) {
      const srComponentInfo c = sr_network_component(f->network, i);
      if (c.level == level && is_new(f, i)) sr_json_text(json, NULL, c.name);
    }
    sr_json_array_end(json);
  }
  sr_json_array_end(json);
}

static void put_unconnected(srJson* json, const srNetworkFile* f) {
  sr_json_array(json, "unconnected");
  for (int i = 0; i < f->ncomponent; i++)
    for (int k = 0; k < sr_network_signals(f->network, i, SR_SIGNAL_INPUT); k++)
      if (!sr_network_connected(f->network, i, k)) put_name(json, f, NULL, (srNetColumn){i, k, SR_SIGNAL_INPUT});
  sr_json_array_end(json);
}

static void put_check(const srNetworkFile* f, const srMessages* messages, srText* out) {
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "name", f->name);
  sr_json_int(&json, "ncomponent", f->ncomponent);
  sr_json_int(&json, "nmap", sr_network_count(f->network) - f->ncomponent);
  sr_json_int(&json, "ny", sr_network_states(f->network, -1));
  sr_json_int(&json, "levels", level_count(f));
  put_components(&json, f);
  put_order(&json, f);
  put_unconnected(&json, f);
  sr_json_warnings(&json, messages);
  sr_json_end(&json);
}

// ----------------------------------------------------------------------------------------------------------------- text
enum { SHOWN = 40 };

static void show_components(srText* out, const srNetworkFile* f) {
  sr_text_print(out, "\n  %-20s %-12s %7s %8s %7s %6s\n", "component", "kind", "inputs", "outputs", "states", "level");
  for (int i = 0; i < f->ncomponent && i < SHOWN; i++) {
    const srComponentInfo c = sr_network_component(f->network, i);
    sr_text_print(out, "  %-20s %-12s %7d %8d %7d ", c.name, kinds[c.kind],
                  sr_network_signals(f->network, i, SR_SIGNAL_INPUT),
                  sr_network_signals(f->network, i, SR_SIGNAL_OUTPUT), sr_network_states(f->network, i));
    if (c.level >= 0)
      sr_text_print(out, "%6d\n", c.level);
    else
      sr_text_print(out, "%6s\n", "-");
  }
  if (f->ncomponent > SHOWN) sr_text_print(out, "  %d more, see --json\n", f->ncomponent - SHOWN);
}

// Names of the components of a level (-1: the admittances) in a line.
static void show_level(srText* out, const srNetworkFile* f, const char* label, int level) {
  int n = 0;
  sr_text_print(out, "  %-22s ", label);
  for (int i = 0; i < f->ncomponent; i++) {
    const srComponentInfo c = sr_network_component(f->network, i);
    if (c.level != level) continue;
    if (n < SHOWN) sr_text_print(out, "%s%s", n > 0 ? ", " : "", c.name);
    n++;
  }
  int maps = 0;
  for (int i = f->ncomponent; i < sr_network_count(f->network); i++)
    maps += sr_network_component(f->network, i).level == level && level >= 0;
  if (n > SHOWN) sr_text_print(out, ", ... %d in all", n);
  if (maps > 0) sr_text_print(out, "%s%d map%s of terminals", n > 0 ? ", " : "", maps, maps == 1 ? "" : "s");
  sr_text_add(out, "\n", 1);
}

static void show_order(srText* out, const srNetworkFile* f) {
  sr_text_print(out, "\norder of evaluation in a stage\n");
  show_level(out, f, "motion", -1);
  for (int level = 0; level < level_count(f); level++) {
    char label[32];
    snprintf(label, sizeof label, "level %d", level);
    show_level(out, f, label, level);
  }
  show_level(out, f, "rates", -1);
}

static void show_unconnected(srText* out, const srNetworkFile* f) {
  int n = 0;
  for (int i = 0; i < f->ncomponent; i++)
    for (int k = 0; k < sr_network_signals(f->network, i, SR_SIGNAL_INPUT); k++) {
      if (sr_network_connected(f->network, i, k)) continue;
      if (n < SHOWN) {
        sr_text_print(out, n == 0 ? "\ninputs without a connection: " : ", ");
        sr_net_signal_text(f, (srNetColumn){i, k, SR_SIGNAL_INPUT}, out);
      }
      n++;
    }
  if (n > SHOWN) sr_text_print(out, ", ... %d in all", n);
  if (n > 0) sr_text_add(out, "\n", 1);
}

static void show_check(const srNetworkFile* f, srText* out) {
  sr_text_print(out, "network %s\n", f->name);
  sr_show_line(out, "components", "%d (admittances %d, impedances %d, maps %d)", f->ncomponent,
               count_kind(f, "admittance"), count_kind(f, "impedance"), count_kind(f, "map"));
  sr_show_line(out, "maps of terminals", "%d", sr_network_count(f->network) - f->ncomponent);
  sr_show_line(out, "states", "%d", sr_network_states(f->network, -1));
  show_components(out, f);
  show_order(out, f);
  show_unconnected(out, f);
}

void sr_report_network_check(const srNetworkFile* f, const srMessages* messages, srReportForm form, srText* out) {
  if (form == SR_REPORT_JSON)
    put_check(f, messages, out);
  else
    show_check(f, out);
}

// ------------------------------------------------------------------------------------------------------------------ run
static void put_values(srJson* json, const srNetworkFile* f, int component, srSignal signal) {
  sr_json_object(json, signal_words[signal]);
  for (int k = 0; k < sr_network_signals(f->network, component, signal); k++) {
    char number[16];
    const srNetColumn c = {component, k, signal};
    sr_json_number(json, short_name(f, c, number, sizeof number), sr_net_signal(f, c));
  }
  sr_json_object_end(json);
}

static long clamps_of(const srNetworkFile* f) {
  long n = 0;
  for (int i = 0; i < f->ncomponent; i++) n += sr_network_clamps(f->network, i);
  return n;
}

static void put_run(const srNetworkRunReport* r, srText* out) {
  const srNetworkFile* f = r->file;
  srJson json = sr_json_begin(out);
  sr_json_text(&json, "name", f->name);
  sr_json_text(&json, "method", r->options->method);
  sr_json_number(&json, "step", r->options->step);
  sr_json_int(&json, "threads", sr_network_threads(f->network));
  sr_json_number(&json, "t", r->result->t);
  sr_json_numbers(&json, "y", sr_network_state(f->network, 0), sr_network_states(f->network, -1));
  sr_json_object(&json, "components");
  for (int i = 0; i < f->ncomponent; i++) {
    sr_json_object(&json, sr_network_component(f->network, i).name);
    for (int signal = 0; signal < SR_SIGNALS; signal++) put_values(&json, f, i, (srSignal)signal);
    sr_json_object_end(&json);
  }
  sr_json_object_end(&json);
  sr_json_int(&json, "steps", r->result->steps);
  sr_json_int(&json, "rejected", 0);
  sr_json_int(&json, "evaluations", r->result->evaluations);
  sr_json_int(&json, "clamps", clamps_of(f));
  sr_json_number(&json, "seconds", r->result->seconds);
  if (r->out) sr_json_text(&json, "out", r->out);
  sr_json_warnings(&json, r->messages);
  if (r->error_message) sr_json_text(&json, "error_message", r->error_message);
  sr_json_end(&json);
}

static void show_end(const srNetworkRunReport* r, srText* out) {
  const srNetworkFile* f = r->file;
  enum { FITS = 24 };  // lines on a screen
  int n = 0;
  sr_text_print(out, "at the end\n");
  for (int i = 0; i < f->ncomponent; i++) {
    if (sr_network_component(f->network, i).kind != SR_ADMITTANCE && !r->verbose) continue;
    for (int k = 0; k < sr_network_signals(f->network, i, SR_SIGNAL_OUTPUT); k++, n++) {
      const srNetColumn c = {i, k, SR_SIGNAL_OUTPUT};
      if (n >= FITS && !r->verbose) continue;
      srText name = {0};
      sr_net_signal_text(f, c, &name);
      sr_text_print(out, "  %-22s %16.9g   %s\n", name.data ? name.data : "", sr_net_signal(f, c),
                    sr_network_signal_unit(f->network, i, SR_SIGNAL_OUTPUT, k));
      sr_text_free(&name);
    }
  }
  if (n > FITS && !r->verbose) sr_show_line(out, "not shown", "%d outputs; --verbose prints them", n - FITS);
}

static void show_run(const srNetworkRunReport* r, srText* out) {
  const srNetworkFile* f = r->file;
  const srNetworkResult* x = r->result;
  sr_text_print(out, "network %s, %s\n", f->name, r->path);
  sr_show_line(out, "method", "%s, step %.6g s, %d thread%s", r->options->method, r->options->step,
               sr_network_threads(f->network), sr_network_threads(f->network) == 1 ? "" : "s");
  sr_show_line(out, "time reached", "%.9g s of %.9g s", x->t, r->options->t_end);
  sr_show_line(out, "steps", "%ld", x->steps);
  sr_show_line(out, "cost", "%ld evaluations, %.3g s", x->evaluations, x->seconds);
  if (clamps_of(f) > 0) sr_show_line(out, "contacts", "%ld with the normal force clamped at zero", clamps_of(f));
  show_end(r, out);
  if (r->out) sr_text_print(out, "results: %s (%ld rows, %d columns)\n", r->out, x->rows, r->columns);
  if (r->error_message) sr_text_print(out, "THE RUN STOPPED EARLY: %s\n", r->error_message);
}

void sr_report_network_run(const srNetworkRunReport* run, srReportForm form, srText* out) {
  if (form == SR_REPORT_JSON)
    put_run(run, out);
  else
    show_run(run, out);
}

// -------------------------------------------------------------------------------------------------------------- signals
static void list_signals(const srNetworkFile* f, srJson* json, srText* out) {
  for (int i = 0; i < f->ncomponent; i++)
    for (int signal = 0; signal < SR_SIGNALS; signal++)
      for (int k = 0; k < sr_network_signals(f->network, i, (srSignal)signal); k++) {
        const srNetColumn c = {i, k, (srSignal)signal};
        const char* unit = sr_network_signal_unit(f->network, i, (srSignal)signal, k);
        if (json) {
          sr_json_object(json, NULL);
          put_name(json, f, "name", c);
          sr_json_text(json, "unit", unit);
          sr_json_object_end(json);
        } else {
          sr_text_print(out, "  ");
          sr_net_signal_text(f, c, out);
          sr_text_print(out, unit[0] ? "  [%s]\n" : "%s\n", unit);
        }
      }
}

void sr_report_network_signals(const srNetworkFile* f, srReportForm form, srText* out) {
  if (form == SR_REPORT_TEXT) {
    sr_text_print(out, "signals of network %s: outputs COMPONENT.SIGNAL, inputs, states\n", f->name);
    list_signals(f, NULL, out);
    return;
  }
  srJson json = sr_json_begin(out);
  sr_json_array(&json, "recordable");
  list_signals(f, &json, out);
  sr_json_array_end(&json);
  sr_json_end(&json);
}
