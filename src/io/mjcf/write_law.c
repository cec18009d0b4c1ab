// MJCF out: laws that are affine in one source, see write_law.h. They are found in the graph of the formula, so that it
// does not matter how the law is written.
#include "io/mjcf/write_law.h"

#include <math.h>
#include <string.h>

#include "model/private.h"

#define ROUNDING 1e-13  // relative: factors of one law on several joints are worked out one by one

// --------------------------------------------------------------------------------------------------------- the formulas
srMjcfLaws sr_mjcf_laws(srConvert* c) { return (srMjcfLaws){.c = c, .graph = sr_graph_create(c->pool)}; }

int sr_mjcf_laws_state(const srMjcfLaws* laws, int state) {
  return srs_count(laws->c->spec, SR_ELEMENT_PARAMETER) + state;
}

// What is no part of an affine law.
static srNode foreign(srGraph* graph) { return sr_graph_var(graph, SR_VAR_ARG, 0); }

static bool is_control(const char* name) {
  return strncmp(name, SR_MJCF_CONTROL, strlen(SR_MJCF_CONTROL)) == 0 && name[strlen(SR_MJCF_CONTROL)];
}

static srNode name_of(void* user, srGraph* graph, const char* name, char* reason, size_t size) {
  (void)reason, (void)size;
  const srMjcfLaws* laws = user;
  const srSpec* spec = laws->c->spec;
  for (int i = srs_count(spec, SR_ELEMENT_PARAMETER) - 1; i >= 0; i--) {
    const srParameterDef* def = srs_get(spec, SR_ELEMENT_PARAMETER, i);
    if (strcmp(def->name.text, name) != 0) continue;
    return is_control(name) ? sr_graph_var(graph, SR_VAR_STATE, i) : sr_graph_const(graph, def->value.number);
  }
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_STATE); i++)
    if (strcmp(((const srStateDef*)srs_get(spec, SR_ELEMENT_STATE, i))->name.text, name) == 0)
      return sr_graph_var(graph, SR_VAR_STATE, sr_mjcf_laws_state(laws, i));
  double unit;
  return sr_unit(name, &unit) ? sr_graph_const(graph, unit) : foreign(graph);
}

static srNode coordinate_of(srMjcfLaws* laws, srGraph* graph, const srCall* call) {
  const bool is_rate = strcmp(call->name, "v") == 0;
  const int j = sr_names_find(&laws->c->joints, call->raw[0]);
  double k = 0;
  if (j < 0 || (call->narg == 2 && !sr_number_read(call->raw[1], &k)) || !(k < 6)) return foreign(graph);
  if (!is_rate && laws->c->m->joint_nq[j] != laws->c->m->joint_nv[j]) return foreign(graph);
  int i = 0;
  for (; i < laws->nvariable; i++) {
    const srMjcfVariable* x = &laws->variable[i];
    if (x->is_rate == is_rate && x->joint == j && x->coordinate == (int)k) break;
  }
  if (i == laws->nvariable)
    SR_PUSH(laws->c->pool, laws->variable, laws->nvariable, laws->variable_capacity) =
        (srMjcfVariable){is_rate, j, (int)k};
  return sr_graph_var(graph, is_rate ? SR_VAR_V : SR_VAR_Q, i);
}

// An axis of a sensor of a frame: "rxy".
static srNode axis_of(const srMjcfLaws* laws, srGraph* graph, const srCall* call) {
  const char* word = call->narg == 2 ? call->raw[1] : "";
  if (strlen(word) != 3 || word[0] != 'r' || word[1] < 'x' || word[1] > 'z' || word[2] < 'x' || word[2] > 'z')
    return foreign(graph);
  for (int i = 0; i < srs_count(laws->c->spec, SR_ELEMENT_SENSOR); i++)
    if (strcmp(((const srSensorDef*)srs_get(laws->c->spec, SR_ELEMENT_SENSOR, i))->name.text, call->raw[0]) == 0)
      return sr_graph_var(graph, SR_VAR_SENSOR, 9 * i + 3 * (word[1] - 'x') + word[2] - 'x');
  return foreign(graph);
}

// A number of the model.
static srNode inertia_of(const srMjcfLaws* laws, srGraph* graph, const srCall* call) {
  const srModel* m = laws->c->m;
  const double* inertia = call->narg == 2 ? m->priv->effective_inertia : m->priv->carried_inertia;
  return sr_graph_const(graph, inertia[m->joint_v[sr_names_find(&laws->c->joints, call->raw[0])]]);
}

static srNode call_of(void* user, srGraph* graph, const srCall* call, char* reason, size_t size) {
  (void)reason, (void)size;
  if (!call->raw || call->narg < 1 || call->narg > 2) return foreign(graph);
  if (strcmp(call->name, "sensor") == 0) return axis_of(user, graph, call);
  if (strcmp(call->name, "inertia") == 0) return inertia_of(user, graph, call);
  return coordinate_of(user, graph, call);
}

srNode sr_mjcf_laws_parse(srMjcfLaws* laws, const char* text, srPlace place) {
  static const char* const raw[] = {"q", "v", "sensor", "inertia", NULL};
  const srResolver resolver = {.user = laws, .raw_calls = raw, .name = name_of, .call = call_of};
  return sr_parse(laws->graph, text, &resolver, place, NULL);
}

// ------------------------------------------------------------------------------------------------------------ the source
// Which child is a number; -1: none.
static int number_among(const srGraph* graph, const srNodeView* view, double* value) {
  for (int k = 0; k < 2; k++)
    if (sr_graph_constant(graph, view->child[k], value)) return k;
  return -1;
}

bool sr_mjcf_is_clamp(const srGraph* graph, srNode node, double range[2], srNode* inside) {
  const srNodeView outer = sr_graph_view(graph, node);
  if (outer.op != SR_OP_MAX) return false;
  const int low = number_among(graph, &outer, &range[0]);
  if (low < 0) return false;
  const srNodeView inner = sr_graph_view(graph, outer.child[1 - low]);
  if (inner.op != SR_OP_MIN) return false;
  const int high = number_among(graph, &inner, &range[1]);
  if (high < 0 || !(range[0] < range[1])) return false;
  *inside = inner.child[1 - high];
  return true;
}

static bool is_variable(const srMjcfLaws* laws, srNode node, int index) {
  const srNodeView view = sr_graph_view(laws->graph, node);
  return view.op == SR_OP_VAR && view.kind == SR_VAR_STATE && view.index == index;
}

bool sr_mjcf_is_source(const srMjcfLaws* laws, srNode node, srMjcfSource* source) {
  double range[2];
  srNode inside;
  if (is_variable(laws, node, source->index)) {
    source->is_bare = true;
  } else {
    if (!sr_mjcf_is_clamp(laws->graph, node, range, &inside) || !is_variable(laws, inside, source->index)) return false;
    if (source->is_clamped && (source->range[0] != range[0] || source->range[1] != range[1])) return false;
    source->is_clamped = true;
    memcpy(source->range, range, sizeof range);
  }
  return !(source->is_bare && source->is_clamped);
}

// -------------------------------------------------------------------------------------------------------------- its form
typedef struct Reading {
  srMjcfLaws* laws;
  srMjcfSource* source;
} Reading;

static srMjcfForm zero(const Reading* r) {
  const size_t n = (size_t)r->laws->nvariable + 1;
  double* numbers = sr_pool_alloc(r->laws->c->pool, 2 * n * sizeof *numbers);
  return (srMjcfForm){.scale = 1, .gain = numbers, .bias = numbers + n, .sensor = -1};
}

static int length_of(const Reading* r) { return r->laws->nvariable + 1; }

// The scale into the numbers; nothing is clamped.
static void spread(const Reading* r, srMjcfForm* f) {
  for (int k = 0; k < length_of(r); k++) f->gain[k] *= f->scale, f->bias[k] *= f->scale;
  f->scale = 1;
}

static bool is_all_zero(const double* x, int n) {
  for (int k = 0; k < n; k++)
    if (x[k] != 0) return false;
  return true;
}

static bool is_bias(const Reading* r, const srMjcfForm* f) { return is_all_zero(f->gain, length_of(r)); }
static bool is_source_alone(const Reading* r, const srMjcfForm* f) {
  return is_all_zero(f->gain + 1, r->laws->nvariable) && is_all_zero(f->bias, length_of(r));
}

// A sum of axes of a sensor, times nothing else.
static bool is_direction(const Reading* r, const srMjcfForm* f) {
  return f->sensor >= 0 && !f->is_clamped && is_bias(r, f) && f->bias[0] == 1 &&
         is_all_zero(f->bias + 1, r->laws->nvariable);
}

static bool form_of(const Reading* r, srNode node, srMjcfForm* out);

static bool sum_of(const Reading* r, const srNodeView* view, srMjcfForm* out) {
  srMjcfForm a, b;
  if (!form_of(r, view->child[0], &a) || !form_of(r, view->child[1], &b) || a.is_clamped || b.is_clamped) return false;
  const double sign = view->op == SR_OP_SUB ? -1 : 1;
  *out = a;
  if (is_direction(r, &a) && is_direction(r, &b) && a.sensor == b.sensor) {
    for (int k = 0; k < 9; k++) out->turn[k] = a.scale * a.turn[k] + sign * b.scale * b.turn[k];
    out->scale = 1;
    return true;
  }
  if (a.sensor >= 0 || b.sensor >= 0) return false;
  spread(r, out), spread(r, &b);
  for (int k = 0; k < length_of(r); k++) out->gain[k] += sign * b.gain[k], out->bias[k] += sign * b.bias[k];
  return true;
}

// Lengths and rates times the source.
static bool gain_of(const Reading* r, srMjcfForm* a, srMjcfForm* b, srMjcfForm* out) {
  if (a->sensor >= 0 || b->sensor >= 0 || a->is_clamped || b->is_clamped) return false;
  spread(r, a), spread(r, b);
  const srMjcfForm* source = is_source_alone(r, a) ? a : b;
  const srMjcfForm* other = source == a ? b : a;
  if (!is_source_alone(r, source) || !is_bias(r, other)) return false;
  *out = zero(r);
  for (int k = 0; k < length_of(r); k++) out->gain[k] = other->bias[k] * source->gain[0];
  return true;
}

// A number times a form, a direction times a form, or lengths and rates times the source.
static bool product_of(const Reading* r, const srNodeView* view, srMjcfForm* out) {
  double value;
  const int number = number_among(r->laws->graph, view, &value);
  if (number >= 0) {
    if (!form_of(r, view->child[1 - number], out)) return false;
    out->scale *= value;
    return true;
  }
  srMjcfForm a, b;
  if (!form_of(r, view->child[0], &a) || !form_of(r, view->child[1], &b)) return false;
  const srMjcfForm* turn = is_direction(r, &a) ? &a : &b;
  const srMjcfForm* force = turn == &a ? &b : &a;
  if (!is_direction(r, turn) || force->sensor >= 0) return gain_of(r, &a, &b, out);
  *out = *force;
  out->scale *= turn->scale;
  out->sensor = turn->sensor;
  memcpy(out->turn, turn->turn, sizeof out->turn);
  return true;
}

static bool source_of(const Reading* r, srNode node, srMjcfForm* out) {
  *out = zero(r);
  out->gain[0] = 1;
  return sr_mjcf_is_source(r->laws, node, r->source);
}

static bool clamp_of(const Reading* r, srNode node, srMjcfForm* out) {
  double range[2];
  srNode inside;
  if (!sr_mjcf_is_clamp(r->laws->graph, node, range, &inside)) return false;
  const bool is_state = r->source->index >= srs_count(r->laws->c->spec, SR_ELEMENT_PARAMETER);
  if (is_variable(r->laws, inside, r->source->index) && !is_state) return source_of(r, node, out);
  if (!form_of(r, inside, out) || out->is_clamped || out->sensor >= 0) return false;
  spread(r, out);
  out->is_clamped = true;
  memcpy(out->range, range, sizeof out->range);
  return true;
}

static bool variable_of(const Reading* r, srNode node, const srNodeView* view, srMjcfForm* out) {
  if (view->kind == SR_VAR_STATE) return source_of(r, node, out);
  *out = zero(r);
  if (view->kind == SR_VAR_SENSOR) {
    out->bias[0] = 1;
    out->sensor = view->index / 9;
    out->turn[view->index % 9] = 1;
    return true;
  }
  if (view->kind != SR_VAR_Q && view->kind != SR_VAR_V) return false;
  out->bias[1 + view->index] = 1;
  return true;
}

static bool form_of(const Reading* r, srNode node, srMjcfForm* out) {
  const srNodeView view = sr_graph_view(r->laws->graph, node);
  double value;
  if (sr_graph_constant(r->laws->graph, node, &value)) {
    *out = zero(r);
    out->bias[0] = value;
    return true;
  }
  switch (view.op) {
    case SR_OP_VAR: return variable_of(r, node, &view, out);
    case SR_OP_ADD:
    case SR_OP_SUB: return sum_of(r, &view, out);
    case SR_OP_MUL: return product_of(r, &view, out);
    case SR_OP_MAX: return clamp_of(r, node, out);
    case SR_OP_NEG:
      if (!form_of(r, view.child[0], out)) return false;
      out->scale = -out->scale;
      return true;
    case SR_OP_DIV:
      if (!sr_graph_constant(r->laws->graph, view.child[1], &value) || !form_of(r, view.child[0], out)) return false;
      out->scale /= value;
      return true;
    default: return false;
  }
}

bool sr_mjcf_form(srMjcfLaws* laws, srNode node, srMjcfSource* source, srMjcfForm* out) {
  const Reading r = {laws, source};
  return form_of(&r, node, out);
}

// ------------------------------------------------------------------------------------------------------------ multiples
static bool is_near(double a, double b, double size) { return fabs(a - b) <= ROUNDING * size; }

bool sr_mjcf_is_multiple(const srMjcfLaws* laws, const srMjcfForm* form, const srMjcfForm* of, double* factor) {
  const int n = 2 * (laws->nvariable + 1);  // gain and bias are one array
  int most = 0;
  for (int k = 1; k < n; k++)
    if (fabs(of->gain[k]) > fabs(of->gain[most])) most = k;
  const double f = form->gain[most] / of->gain[most], size = fabs(form->gain[most]);
  if (!(fabs(f) > 0) || !isfinite(f) || form->is_clamped != of->is_clamped) return false;
  for (int k = 0; k < n; k++)
    if (!is_near(form->gain[k], f * of->gain[k], size)) return false;
  const double *a = form->range, *b = of->range, width = fabs(a[0]) + fabs(a[1]);
  *factor = f * form->scale / of->scale;
  return !form->is_clamped ||
         (is_near(a[0], f * b[f < 0 ? 1 : 0], width) && is_near(a[1], f * b[f < 0 ? 0 : 1], width));
}
