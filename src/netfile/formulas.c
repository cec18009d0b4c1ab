// Components by formulas: x' and outputs of an admittance, forces and state rates of an impedance, outputs of a map. Formulas are compiled to flat
// programs (expr.h) that evaluate without allocating; every component has work memory of its own, so that components may run at the same time.
#include <stdio.h>
#include <string.h>

#include "model/spec.h"
#include "netfile/netfile.h"

typedef struct Formulas {
  srProgram *rates, *outputs;
  double* work;
  double* argument;  // of an impedance: positions, velocities, tau
  int nx, nxdot;
} Formulas;

// ------------------------------------------------------------------------------------------------------- names in a formula
typedef struct Symbol {
  const char* name;
  srVarKind kind;
  int index;
} Symbol;

typedef struct Table {
  srNetBuilder* b;
  const srNetItem* item;
  const char* of;  // name of the component
  Symbol* symbol;
  int n, capacity;
  bool inputs_hidden;  // outputs of an admittance do not depend on them
} Table;

static const Symbol* find_symbol(const Table* t, const char* name) {
  for (int i = 0; i < t->n; i++)
    if (strcmp(t->symbol[i].name, name) == 0) return &t->symbol[i];
  return NULL;
}

static srNode resolve(void* user, srGraph* graph, const char* name, char* reason, size_t size) {
  const Table* t = user;
  const Symbol* s = find_symbol(t, name);
  if (s && s->kind == SR_VAR_ARG && t->inputs_hidden) {
    snprintf(reason, size,
             "'%.60s' is an input: the motion of an admittance must not depend on its inputs; put this formula into a "
             "<map>",
             name);
    return SR_NO_NODE;
  }
  if (s) return sr_graph_var(graph, s->kind, s->index);
  if (strcmp(name, "t") == 0) return sr_graph_var(graph, SR_VAR_TIME, 0);
  const double* value = sr_scope_parameter(t->b->scope, name);
  return value ? sr_graph_const(graph, *value) : SR_NO_NODE;
}

static void define(Table* t, const srNetItem* child, const char* name, srVarKind kind, int index) {
  const char* problem = sr_identifier_problem(name);
  if (!problem && sr_scope_parameter(t->b->scope, name)) problem = "is that of a parameter";
  if (!problem && find_symbol(t, name)) problem = "is that of another input or state of this component";
  if (!problem && strcmp(name, "tau") == 0) problem = "is reserved for the stage length";
  if (problem) SR_NET_FAIL(t->b, child->place, "the name '%.60s' in '%s' %s", name, t->of, problem);
  SR_PUSH(&t->b->in->pool, t->symbol, t->n, t->capacity) = (Symbol){name, kind, index};
}

// Children of a kind become variables from `first` on; how many.
static int define_all(Table* t, srNetKind what, srVarKind kind, int first) {
  int n = 0;
  for (const srNetItem* c = t->item->first; c; c = c->next) {
    if (c->kind != what) continue;
    const char* name = sr_net_attr(c, "name").text;
    if (name) define(t, c, name, kind, first + n);
    n++;
  }
  return n;
}

static Table new_table(srNetBuilder* b, const srNetItem* item) {
  return (Table){.b = b, .item = item, .of = sr_net_attr(item, "name").text};
}

// The formulas of an attribute of all children of a kind, as a program in the memory of the network. NULL after an error.
static srProgram* compile(Table* t, srNetKind what, const char* attribute, int* n) {
  srNetBuilder* b = t->b;
  const char** known = sr_pool_alloc(&b->in->pool, (size_t)(t->n + b->scope->n + 1) * sizeof *known);
  for (int i = 0; i < t->n; i++) known[i] = t->symbol[i].name;
  for (int i = 0; i < b->scope->n; i++) known[t->n + i] = b->scope->words[i];
  const srResolver resolver = {.user = t, .name = resolve, .known = known, .nknown = t->n + b->scope->n};
  srNode* roots = NULL;
  int capacity = 0;
  bool good = true;
  *n = 0;
  for (const srNetItem* c = t->item->first; c; c = c->next) {
    if (c->kind != what) continue;
    const srAttr formula = sr_net_attr(c, attribute);
    const srNode node = formula.text && !c->damaged
                            ? sr_parse(b->graph, formula.text, &resolver, formula.place, b->in->messages)
                            : SR_NO_NODE;
    good = good && node != SR_NO_NODE;
    SR_PUSH(&b->in->pool, roots, *n, capacity) = node;
  }
  return good ? sr_program_create(&b->file->priv->pool, b->graph, roots, *n) : NULL;
}

// -------------------------------------------------------------------------------------------------------------- signals
static void name_signals(srNetBuilder* b, int component, srSignal signal, const srNetItem* item, const srNetKind* kinds,
                         int nkind) {
  const int count = sr_network_signals(b->file->network, component, signal);
  const char** name = sr_pool_alloc(&b->in->pool, (size_t)(count + 1) * sizeof *name);
  const char** unit = sr_pool_alloc(&b->in->pool, (size_t)(count + 1) * sizeof *unit);
  int n = 0;
  for (int k = 0; k < nkind; k++)
    for (const srNetItem* c = item->first; c; c = c->next) {
      if (c->kind != kinds[k]) continue;
      const char* given = sr_net_attr(c, "unit").text;
      name[n] = sr_net_attr(c, "name").text;
      unit[n++] = given ? given : "";
    }
  (void)sr_network_set_names(b->file->network, component, signal, name, unit);
}

// Two signals of one kind with one name could not be told apart.
static bool names_differ(srNetBuilder* b, const srNetItem* item, srNetKind kind) {
  bool good = true;
  for (const srNetItem* c = item->first; c; c = c->next)
    for (const srNetItem* d = item->first; d != c; d = d->next) {
      const char *one = sr_net_attr(c, "name").text, *other = c->kind == d->kind ? sr_net_attr(d, "name").text : NULL;
      if (c->kind != kind || !one || !other || strcmp(one, other) != 0) continue;
      SR_NET_FAIL(b, c->place, "there is an output '%.60s' in '%s' already", one, sr_net_attr(item, "name").text);
      good = false;
    }
  return good;
}

static bool initial_states(srNetBuilder* b, const srNetItem* item, int n, double** out) {
  bool good = true;
  int i = 0;
  *out = sr_pool_alloc(&b->in->pool, (size_t)(n + 1) * sizeof **out);
  for (const srNetItem* c = item->first; c; c = c->next) {
    if (c->kind != SR_NET_STATE) continue;
    if (!c->damaged) good = sr_net_number(b, c, "initial", &(*out)[i]) && good;
    i++;
  }
  return good;
}

static Formulas* new_formulas(srNetBuilder* b, srProgram* rates, srProgram* outputs) {
  srPool* pool = &b->file->priv->pool;
  Formulas* f = sr_pool_alloc(pool, sizeof *f);
  const int of_rates = rates ? sr_program_work(rates) : 0, of_outputs = sr_program_work(outputs);
  f->rates = rates;
  f->outputs = outputs;
  f->work = sr_pool_alloc(pool, (size_t)((of_rates > of_outputs ? of_rates : of_outputs) + 1) * sizeof *f->work);
  return f;
}

// ----------------------------------------------------------------------------------------------------------- admittances
static int rates(const srAdmittanceIn* in, double* xdot) {
  Formulas* f = in->self;
  sr_program_evaluate(f->rates, &(srInputs){.t = in->t, .state = in->x, .arg = in->u}, f->work, xdot);
  return 0;
}

static int motion(const srAdmittanceIn* in, double* out) {
  Formulas* f = in->self;
  sr_program_evaluate(f->outputs, &(srInputs){.t = in->t, .state = in->x}, f->work, out);
  return 0;
}

srNetPart sr_net_equations(srNetBuilder* b, const srNetItem* item) {
  const srNetKind inputs[] = {SR_NET_INPUT}, outputs[] = {SR_NET_OUTPUT}, states[] = {SR_NET_STATE};
  Table t = new_table(b, item);
  const int before = sr_reader_errors(b->in);
  const int nu = define_all(&t, SR_NET_INPUT, SR_VAR_ARG, 0), nx = define_all(&t, SR_NET_STATE, SR_VAR_STATE, 0);
  int nrate, nout;
  double* x0;
  srProgram* of_rates = compile(&t, SR_NET_STATE, "rate", &nrate);
  t.inputs_hidden = true;
  srProgram* of_outputs = compile(&t, SR_NET_OUTPUT, "value", &nout);
  bool good = initial_states(b, item, nx, &x0);
  good = names_differ(b, item, SR_NET_OUTPUT) && good;
  if (!good || !of_rates || !of_outputs || sr_reader_errors(b->in) > before) return (srNetPart){.component = -1};
  const srAdmittance form = {
      .name = t.of, .nx = nx, .nu = nu, .nout = nout, .x0 = x0, .rates = rates, .motion = motion};
  const int i = sr_network_admittance(b->file->network, t.of, &form, NULL, 0, new_formulas(b, of_rates, of_outputs));
  if (i < 0) return (srNetPart){.component = -1};
  name_signals(b, i, SR_SIGNAL_INPUT, item, inputs, 1);
  name_signals(b, i, SR_SIGNAL_OUTPUT, item, outputs, 1);
  name_signals(b, i, SR_SIGNAL_STATE, item, states, 1);
  return (srNetPart){.component = i};
}

// ------------------------------------------------------------------------------------------------------------------ maps
static int evaluate_map(void* self, double t, const double* in, double* out) {
  Formulas* f = self;
  sr_program_evaluate(f->outputs, &(srInputs){.t = t, .arg = in}, f->work, out);
  return 0;
}

srNetPart sr_net_map(srNetBuilder* b, const srNetItem* item) {
  const srNetKind inputs[] = {SR_NET_INPUT}, outputs[] = {SR_NET_OUTPUT};
  Table t = new_table(b, item);
  const int before = sr_reader_errors(b->in);
  const int nin = define_all(&t, SR_NET_INPUT, SR_VAR_ARG, 0);
  int nout;
  srProgram* program = compile(&t, SR_NET_OUTPUT, "value", &nout);
  if (!names_differ(b, item, SR_NET_OUTPUT) || !program || sr_reader_errors(b->in) > before)
    return (srNetPart){.component = -1};
  const int i = sr_network_map(b->file->network, t.of, nin, nout, evaluate_map, new_formulas(b, NULL, program));
  if (i < 0) return (srNetPart){.component = -1};
  name_signals(b, i, SR_SIGNAL_INPUT, item, inputs, 1);
  name_signals(b, i, SR_SIGNAL_OUTPUT, item, outputs, 1);
  return (srNetPart){.component = i};
}

// ------------------------------------------------------------------------------------------------------------ impedances
static int evaluate_impedance(void* self, const srImpedanceIn* in, srImpedanceOut* out) {
  Formulas* f = self;
  if (f->nx > 0) memcpy(f->argument, in->x, (size_t)f->nx * sizeof *f->argument);
  if (f->nxdot > 0) memcpy(f->argument + f->nx, in->xdot, (size_t)f->nxdot * sizeof *f->argument);
  f->argument[f->nx + f->nxdot] = in->tau;
  const srInputs inputs = {.t = in->t, .state = in->y, .arg = f->argument};
  sr_program_evaluate(f->outputs, &inputs, f->work, out->f);
  sr_program_evaluate(f->rates, &inputs, f->work, out->ydot);
  return 0;
}

srNetPart sr_net_formula_impedance(srNetBuilder* b, const srNetItem* item) {
  const srNetKind inputs[] = {SR_NET_POSITION, SR_NET_VELOCITY}, outputs[] = {SR_NET_FORCE}, states[] = {SR_NET_STATE};
  Table t = new_table(b, item);
  const int before = sr_reader_errors(b->in);
  const int nx = define_all(&t, SR_NET_POSITION, SR_VAR_ARG, 0),
            nxdot = define_all(&t, SR_NET_VELOCITY, SR_VAR_ARG, nx), ny = define_all(&t, SR_NET_STATE, SR_VAR_STATE, 0);
  SR_PUSH(&b->in->pool, t.symbol, t.n, t.capacity) = (Symbol){"tau", SR_VAR_ARG, nx + nxdot};
  int nrate, nf;
  double* y0;
  srProgram* of_rates = compile(&t, SR_NET_STATE, "rate", &nrate);
  srProgram* of_forces = compile(&t, SR_NET_FORCE, "value", &nf);
  bool good = initial_states(b, item, ny, &y0);
  good = names_differ(b, item, SR_NET_FORCE) && good;
  if (!good || !of_rates || !of_forces || sr_reader_errors(b->in) > before)
    return (srNetPart){.component = -1, .nforce = nf};
  Formulas* f = new_formulas(b, of_rates, of_forces);
  f->nx = nx;
  f->nxdot = nxdot;
  f->argument = sr_pool_alloc(&b->file->priv->pool, (size_t)(nx + nxdot + 1) * sizeof *f->argument);
  const srElementForm form = {nx, nxdot, nf, ny, y0, evaluate_impedance};
  const int i = sr_network_element(b->file->network, t.of, &form, f);
  if (i < 0) return (srNetPart){.component = -1, .nforce = nf};
  name_signals(b, i, SR_SIGNAL_INPUT, item, inputs, 2);
  name_signals(b, i, SR_SIGNAL_OUTPUT, item, outputs, 1);
  name_signals(b, i, SR_SIGNAL_STATE, item, states, 1);
  return (srNetPart){.component = i, .nforce = nf};
}
