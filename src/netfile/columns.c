// Columns of a network's rows: all outputs of the admittances of the file, and signals on request.
#include <string.h>

#include "netfile/netfile.h"

double sr_net_signal(const srNetworkFile* f, srNetColumn c) {
  const double* x = c.signal == SR_SIGNAL_INPUT    ? sr_network_input(f->network, c.component)
                    : c.signal == SR_SIGNAL_OUTPUT ? sr_network_output(f->network, c.component)
                                                   : sr_network_state(f->network, c.component);
  return x[c.index];
}

void sr_net_signal_text(const srNetworkFile* f, srNetColumn c, srText* out) {
  static const char* const form[SR_SIGNALS] = {"input(%s).", "%s.", "state(%s)."};
  const char *component = sr_network_component(f->network, c.component).name,
             *name = sr_network_signal_name(f->network, c.component, c.signal, c.index);
  switch (c.signal) {
    case SR_SIGNAL_INPUT: sr_text_print(out, form[SR_SIGNAL_INPUT], component); break;
    case SR_SIGNAL_OUTPUT: sr_text_print(out, form[SR_SIGNAL_OUTPUT], component); break;
    default: sr_text_print(out, form[SR_SIGNAL_STATE], component); break;
  }
  if (name)
    sr_text_print(out, "%s", name);
  else
    sr_text_print(out, "%d", c.index);
}

// ------------------------------------------------------------------------------------------------------------ selection
typedef struct Signals {  // all that there are, with their names
  srNetColumn* column;
  const char** name;
  bool* taken;
  int n;
} Signals;

static Signals all_signals(const srNetworkFile* f, srPool* pool) {
  Signals s = {0};
  int capacity = 0, name_capacity = 0;
  for (int i = 0; i < f->ncomponent; i++)
    for (int signal = 0; signal < SR_SIGNALS; signal++)
      for (int k = 0; k < sr_network_signals(f->network, i, (srSignal)signal); k++) {
        const srNetColumn column = {i, k, (srSignal)signal};
        srText text = {.pool = pool};
        int n = s.n;
        sr_net_signal_text(f, column, &text);
        SR_PUSH(pool, s.name, n, name_capacity) = text.data;
        SR_PUSH(pool, s.column, s.n, capacity) = column;
      }
  s.taken = sr_pool_alloc(pool, (size_t)(s.n + 1) * sizeof *s.taken);
  return s;
}

static bool is_usual(const srNetworkFile* f, srNetColumn c) {
  return c.signal == SR_SIGNAL_OUTPUT && sr_network_component(f->network, c.component).kind == SR_ADMITTANCE;
}

// Appends the signals that fit; false: none, reported.
static bool take(const Signals* s, const char* pattern, srPlace place, srPool* pool, srMessages* messages,
                 srNetColumn* chosen, int* n) {
  bool any = false;
  for (int i = 0; i < s->n; i++) {
    if (!sr_pattern_fits(pattern, s->name[i])) continue;
    any = true;
    if (s->taken[i]) continue;
    s->taken[i] = true;
    chosen[(*n)++] = s->column[i];
  }
  if (!any)
    sr_messages_add(messages, SR_SEVERITY_ERROR, place, "no signal is named '%.100s'%s; --record list prints all",
                    pattern, sr_pool_guess(pool, sr_nearest_word(pattern, s->name, s->n)));
  return any;
}

static void name_columns(const srNetworkFile* f, srNetColumns* c, int n) {
  const size_t size = (size_t)(n + 1) * sizeof(const char*);
  const char **name = sr_pool_alloc(&c->pool, size), **unit = sr_pool_alloc(&c->pool, size);
  name[0] = "t";
  unit[0] = "s";
  for (int i = 0; i < n; i++) {
    srText text = {.pool = &c->pool};
    const srNetColumn column = c->column[i];
    sr_net_signal_text(f, column, &text);
    name[i + 1] = text.data;
    unit[i + 1] = sr_network_signal_unit(f->network, column.component, column.signal, column.index);
  }
  c->columns = (srColumns){n + 1, name, unit};
}

static bool choose(const srNetworkFile* f, const char* const* record, int nrecord, srMessages* messages,
                   srNetColumns* c) {
  const Signals s = all_signals(f, &c->pool);
  c->column = sr_pool_alloc(&c->pool, (size_t)(s.n + 1) * sizeof *c->column);
  int n = 0;
  bool good = true;
  for (int i = 0; i < s.n; i++)
    if (is_usual(f, s.column[i])) {
      s.taken[i] = true;
      c->column[n++] = s.column[i];
    }
  for (int i = 0; i < f->priv->nrecord; i++)
    good = take(&s, f->priv->record[i], f->priv->record_place[i], &c->pool, messages, c->column, &n) && good;
  for (int i = 0; i < nrecord; i++)
    good = take(&s, record[i], (srPlace){.file = "--record"}, &c->pool, messages, c->column, &n) && good;
  name_columns(f, c, n);
  return good;
}

srStatus sr_net_columns(const srNetworkFile* f, const char* const* record, int nrecord, srMessages* messages,
                        srNetColumns** out) {
  srNetColumns* c = sr_alloc(sizeof *c);
  jmp_buf no_memory;
  *out = NULL;
  if (!c) return SR_MEMORY;
  sr_pool_init(&c->pool);
  if (setjmp(no_memory) != 0) {
    sr_net_columns_destroy(c);
    return SR_MEMORY;
  }
  c->pool.on_fail = &no_memory;
  const bool good = choose(f, record, nrecord, messages, c);
  c->pool.on_fail = NULL;
  if (good)
    *out = c;
  else
    sr_net_columns_destroy(c);
  return good ? SR_OK : SR_INPUT;
}

void sr_net_columns_destroy(srNetColumns* c) {
  if (!c) return;
  sr_pool_free(&c->pool);
  sr_free(c);
}

void sr_net_row(const srNetworkFile* f, const srNetColumns* c, double* row) {
  row[0] = sr_network_time(f->network);
  for (int i = 1; i < c->columns.count; i++) row[i] = sr_net_signal(f, c->column[i - 1]);
}

srStatus sr_network_columns_create(const srNetworkFile* f, const char* const* record, int nrecord, srMessages* messages,
                                   srColumns** out) {
  srNetColumns* c = NULL;
  const srStatus status = sr_net_columns(f, record, nrecord, messages, &c);
  *out = c ? &c->columns : NULL;
  return status;
}

void sr_network_columns_destroy(srColumns* columns) {
  sr_net_columns_destroy((srNetColumns*)columns);  // columns is its first member
}
