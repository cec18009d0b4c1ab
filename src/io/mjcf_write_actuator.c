// MJCF out: <actuator>. A <torque> on a hinge or slide whose law is affine in one control, as the reader makes it
// (mjcf_actuator.c): with a parameter ctrl_NAME, u its value, clamped or not,
//   gear F,   F = g0 u + g1 q u + g2 v u + b0 + b1 q + b2 v, clamped or not
// It is found in the graph of the formula, so that it does not matter how the law is written. MJCF counts the length
// l = gear q: g1, g2, b1, b2 are divided by the gear. What else laws do is listed as lost.
#include <math.h>
#include <string.h>

#include "expr/expr.h"
#include "io/mjcf_write.h"
#include "model/joint.h"

#define CONTROL "ctrl_"  // beginning of the names of controls

// A law while it is understood: scale * F.
typedef struct Form {
  double scale, gain[3], bias[3];
  bool clamped;
  double range[2];
} Form;

typedef struct Drive {
  srConvert* c;
  srGraph* graph;
  int torque;
  const char* joint;
  int control;         // the parameter, -1: none
  bool several;        // more than one control
  bool bare, clamped;  // the control is used as it is, or within its range
  double range[2];
  Form form;
} Drive;

// ---------------------------------------------------------------------------------------------------------- the formula
static const srParameterDef* parameter(const srConvert* c, int i) { return srs_get(c->spec, SR_ELEMENT_PARAMETER, i); }

// What is no part of an affine law.
static srNode foreign(srGraph* graph) { return sr_graph_var(graph, SR_VAR_ARG, 0); }

static srNode name_of(void* user, srGraph* graph, const char* name, char* why, size_t size) {
  (void)why, (void)size;
  Drive* d = user;
  for (int i = srs_count(d->c->spec, SR_ELEMENT_PARAMETER) - 1; i >= 0; i--) {
    if (strcmp(parameter(d->c, i)->name.text, name) != 0) continue;
    if (strncmp(name, CONTROL, strlen(CONTROL)) != 0 || !name[strlen(CONTROL)])
      return sr_graph_const(graph, parameter(d->c, i)->value.number);
    d->several = d->several || (d->control >= 0 && d->control != i);
    d->control = i;
    return sr_graph_var(graph, SR_VAR_STATE, i);
  }
  return foreign(graph);
}

static srNode call_of(void* user, srGraph* graph, const srCall* call, char* why, size_t size) {
  (void)why, (void)size;
  const Drive* d = user;
  const bool own = call->raw && call->narg == 1 && strcmp(call->raw[0], d->joint) == 0;
  if (own && strcmp(call->name, "q") == 0) return sr_graph_var(graph, SR_VAR_Q, 0);
  if (own && strcmp(call->name, "v") == 0) return sr_graph_var(graph, SR_VAR_V, 0);
  return foreign(graph);
}

// ------------------------------------------------------------------------------------------------------------- its form
// Which child is a number; -1: none.
static int number_among(const srGraph* graph, const srNodeView* view, double* value) {
  for (int k = 0; k < 2; k++)
    if (sr_graph_constant(graph, view->child[k], value)) return k;
  return -1;
}

// max(low, min(high, inside))
static bool is_clamp(const srGraph* graph, srNode node, double range[2], srNode* inside) {
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

// The scale into the numbers; nothing is clamped.
static void spread(Form* f) {
  for (int k = 0; k < 3; k++) f->gain[k] *= f->scale, f->bias[k] *= f->scale;
  f->scale = 1;
}

static bool is_bias(const Form* f) { return f->gain[0] == 0 && f->gain[1] == 0 && f->gain[2] == 0; }
static bool is_control(const Form* f) {
  return f->gain[1] == 0 && f->gain[2] == 0 && f->bias[0] == 0 && f->bias[1] == 0 && f->bias[2] == 0;
}

static bool form_of(Drive* d, srNode node, Form* out);

static bool sum_of(Drive* d, const srNodeView* view, Form* out) {
  Form a, b;
  if (!form_of(d, view->child[0], &a) || !form_of(d, view->child[1], &b) || a.clamped || b.clamped) return false;
  const double sign = view->op == SR_OP_SUB ? -1 : 1;
  spread(&a), spread(&b);
  *out = a;
  for (int k = 0; k < 3; k++) out->gain[k] += sign * b.gain[k], out->bias[k] += sign * b.bias[k];
  return true;
}

// A number times a form, or lengths and rates times the control.
static bool product_of(Drive* d, const srNodeView* view, Form* out) {
  double value;
  const int number = number_among(d->graph, view, &value);
  if (number >= 0) {
    if (!form_of(d, view->child[1 - number], out)) return false;
    out->scale *= value;
    return true;
  }
  Form a, b;
  if (!form_of(d, view->child[0], &a) || !form_of(d, view->child[1], &b) || a.clamped || b.clamped) return false;
  spread(&a), spread(&b);
  const Form* control = is_control(&a) ? &a : &b;
  const Form* other = control == &a ? &b : &a;
  if (!is_control(control) || !is_bias(other)) return false;
  *out = (Form){.scale = 1};
  for (int k = 0; k < 3; k++) out->gain[k] = other->bias[k] * control->gain[0];
  return true;
}

static bool control_of(Drive* d, const double* range, Form* out) {
  *out = (Form){.scale = 1, .gain = {1}};
  if (!range) {
    d->bare = true;
  } else {
    if (d->clamped && (d->range[0] != range[0] || d->range[1] != range[1])) return false;
    d->clamped = true;
    memcpy(d->range, range, sizeof d->range);
  }
  return !(d->bare && d->clamped);
}

static bool clamp_of(Drive* d, srNode node, Form* out) {
  double range[2];
  srNode inside;
  if (!is_clamp(d->graph, node, range, &inside)) return false;
  const srNodeView view = sr_graph_view(d->graph, inside);
  if (view.op == SR_OP_VAR && view.kind == SR_VAR_STATE) return control_of(d, range, out);
  if (!form_of(d, inside, out) || out->clamped) return false;
  spread(out);
  out->clamped = true;
  memcpy(out->range, range, sizeof out->range);
  return true;
}

static bool variable_of(Drive* d, const srNodeView* view, Form* out) {
  if (view->kind == SR_VAR_STATE) return control_of(d, NULL, out);
  *out = (Form){.scale = 1};
  out->bias[view->kind == SR_VAR_Q ? 1 : 2] = 1;
  return view->kind == SR_VAR_Q || view->kind == SR_VAR_V;
}

// False: it is not affine.
static bool form_of(Drive* d, srNode node, Form* out) {
  const srNodeView view = sr_graph_view(d->graph, node);
  double value;
  if (sr_graph_constant(d->graph, node, &value)) {
    *out = (Form){.scale = 1, .bias = {value}};
    return true;
  }
  switch (view.op) {
    case SR_OP_VAR: return variable_of(d, &view, out);
    case SR_OP_ADD:
    case SR_OP_SUB: return sum_of(d, &view, out);
    case SR_OP_MUL: return product_of(d, &view, out);
    case SR_OP_MAX: return clamp_of(d, node, out);
    case SR_OP_NEG:
      if (!form_of(d, view.child[0], out)) return false;
      out->scale = -out->scale;
      return true;
    case SR_OP_DIV:
      if (!sr_graph_constant(d->graph, view.child[1], &value) || !form_of(d, view.child[0], out)) return false;
      out->scale /= value;
      return true;
    default: return false;
  }
}

// -------------------------------------------------------------------------------------------------- what MJCF can say
static bool is_letter(char x) {
  return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_';
}

static bool mentions(const char* text, const char* word) {
  const size_t n = strlen(word);
  for (const char* p = strstr(text, word); p; p = strstr(p + 1, word))
    if ((p == text || !is_letter(p[-1])) && !is_letter(p[n])) return true;
  return false;
}

// Does another law than this torque use the control? Sensors only look at it.
static bool is_shared(const Drive* d) {
  const char* control = parameter(d->c, d->control)->name.text;
  for (int kind = 0; kind < SR_ELEMENT_KINDS; kind++) {
    if (kind == SR_ELEMENT_SENSOR || kind == SR_ELEMENT_PARAMETER) continue;
    const srElement* e = srs_element((srElementKind)kind);
    for (int i = 0; i < srs_count(d->c->spec, (srElementKind)kind); i++) {
      const srAttr* a = srs_get(d->c->spec, (srElementKind)kind, i);
      for (int k = 0; k < e->nfield && !(kind == SR_ELEMENT_TORQUE && i == d->torque); k++)
        if (a[k].text && strcmp(e->fields[k].kind, "LAW") == 0 && mentions(a[k].text, control)) return true;
    }
  }
  return false;
}

// Does another torque with a control work on the same joint?
static bool has_company(const Drive* d) {
  for (int i = 0; i < srs_count(d->c->spec, SR_ELEMENT_TORQUE); i++) {
    const srTorqueDef* def = srs_get(d->c->spec, SR_ELEMENT_TORQUE, i);
    if (i != d->torque && strcmp(def->joint.text, d->joint) == 0 && def->law.text && strstr(def->law.text, CONTROL))
      return true;
  }
  return false;
}

// The joint's effort is written as actuatorfrcrange, which limits what actuators do to it: the law has to do the same.
static bool obeys_effort(Drive* d, srNode law, double effort) {
  double range[2];
  srNode inside;
  if (!(effort > 0)) return form_of(d, law, &d->form);
  if (is_clamp(d->graph, law, range, &inside) && range[0] == -effort && range[1] == effort)
    return form_of(d, inside, &d->form);
  const bool affine = form_of(d, law, &d->form);
  const Form* f = &d->form;
  return affine && f->clamped && fmax(fabs(f->range[0]), fabs(f->range[1])) * fabs(f->scale) <= effort;
}

// Why it cannot be said; NULL: it can.
static const char* obstacle(Drive* d, srNode law, int j) {
  const srModel* m = d->c->m;
  const srTorqueDef* def = srs_get(d->c->spec, SR_ELEMENT_TORQUE, d->torque);
  const bool scalar = m->joint_type[j] == SR_JOINT_REVOLUTE || m->joint_type[j] == SR_JOINT_PRISMATIC;
  if (!scalar || (def->coordinate.n > 0 && def->coordinate.number != 0))
    return "actuators are written on hinges and slides alone";
  if (d->several) return "its law has several controls, which one actuator of MJCF does not have";
  if (is_shared(d)) return "its control works in several laws (a tendon, or several axes): such are not written";
  const srJointDef* joint = srs_get(d->c->spec, SR_ELEMENT_JOINT, d->c->joint[m->joint_body[j]]);
  const double effort = joint->effort.n > 0 ? joint->effort.number : 0;
  if (effort > 0 && has_company(d)) return "the effort of its joint would limit the sum of its actuators in MJCF";
  if (!obeys_effort(d, law, effort))
    return "MJCF has laws g u + b with g and b affine in q and v of the joint, limited by constants and, where it has "
           "one, by "
           "its effort";
  const Form* f = &d->form;
  if (!(fabs(f->scale) > 0) || !isfinite(f->scale)) return "its factor is not a number, or 0";
  const bool fixed = f->gain[1] == 0 && f->gain[2] == 0;
  if (fixed && f->bias[2] / f->scale > 0 && f->gain[0] == -f->bias[1] / f->scale)
    return "it feeds the velocity back with a plus, which MJCF takes for a damping ratio";
  return NULL;
}

// ---------------------------------------------------------------------------------------------------------- in the file
// Its name, from which the reader makes the same control again.
static const char* word_of(const Drive* d) {
  const srTorqueDef* def = srs_get(d->c->spec, SR_ELEMENT_TORQUE, d->torque);
  const char *end = parameter(d->c, d->control)->name.text + strlen(CONTROL), *name = def->name.text;
  if (!name || strlen(name) != strlen(end)) return end;
  for (size_t k = 0; name[k]; k++)
    if (name[k] != end[k] && (end[k] != '_' || is_letter(name[k]))) return end;
  return name;
}

static void put_range(srConvert* c, const char* flag, const char* word, const double range[2]) {
  sr_xml_text(&c->xml, flag, "true");
  sr_xml_numbers(&c->xml, word, range, 2);
}

static void put_actuator(const Drive* d, int j) {
  srConvert* c = d->c;
  const Form* f = &d->form;
  const double* g = f->gain;
  const double* b = f->bias;
  const bool fixed = g[1] == 0 && g[2] == 0, biased = b[0] != 0 || b[1] != 0 || b[2] != 0;
  const bool motor = fixed && g[0] == 1 && !biased;
  sr_xml_begin(&c->xml, motor ? "motor" : "general");
  sr_xml_text(&c->xml, "name", word_of(d));
  sr_xml_text(&c->xml, "joint", sr_convert_joint_name(c, j));
  if (f->scale != 1) sr_xml_number(&c->xml, "gear", f->scale);
  if (!motor) {
    sr_xml_text(&c->xml, "gaintype", fixed ? "fixed" : "affine");
    sr_xml_numbers(&c->xml, "gainprm", (const double[]){g[0], g[1] / f->scale, g[2] / f->scale}, 3);
  }
  if (biased) {
    sr_xml_text(&c->xml, "biastype", "affine");
    sr_xml_numbers(&c->xml, "biasprm", (const double[]){b[0], b[1] / f->scale, b[2] / f->scale}, 3);
  }
  if (d->clamped) put_range(c, "ctrllimited", "ctrlrange", d->range);
  if (f->clamped) put_range(c, "forcelimited", "forcerange", f->range);
  sr_xml_end(&c->xml);
}

// A torque that is a law of a control. False: it is none, or it is listed as lost.
static bool understand(srConvert* c, int i, Drive* d, int* j) {
  static const char* const raw[] = {"q", "v", "sensor", NULL};
  const srTorqueDef* def = srs_get(c->spec, SR_ELEMENT_TORQUE, i);
  *d = (Drive){.c = c, .graph = sr_graph_create(c->pool), .torque = i, .joint = def->joint.text, .control = -1};
  const srResolver resolver = {.user = d, .raw_calls = raw, .name = name_of, .call = call_of};
  *j = sr_names_find(&c->joints, def->joint.text);
  if (!def->law.text || !strstr(def->law.text, CONTROL)) return false;
  const srNode law = sr_parse(d->graph, def->law.text, &resolver, def->law.place, NULL);
  if (law == SR_NO_NODE || d->control < 0) return false;
  const char* why = obstacle(d, law, *j);
  sr_convert_take_all(c, SR_ELEMENT_TORQUE, i);
  if (why)
    sr_convert_lose(c, srs_place(c->spec, SR_ELEMENT_TORQUE, i), SR_LOSS_MOTION,
                    sr_convert_title(c, SR_ELEMENT_TORQUE, i), "%s", why);
  return !why;
}

// In the order of the controls, which the numbers of a key have too.
void sr_mjcf_out_actuators(srMjcfOut* x) {
  srConvert* c = x->c;
  const int n = srs_count(c->spec, SR_ELEMENT_TORQUE), ncontrol = srs_count(c->spec, SR_ELEMENT_PARAMETER);
  Drive* drive = sr_pool_alloc(c->pool, (size_t)(ncontrol + 1) * sizeof *drive);
  int* joint = sr_pool_alloc(c->pool, (size_t)(ncontrol + 1) * sizeof *joint);
  for (int i = 0; i < n; i++) {
    Drive d;
    int j;
    if (!understand(c, i, &d, &j)) continue;
    drive[d.control] = d;
    joint[d.control] = j;
  }
  for (int i = 0; i < ncontrol; i++) {
    if (!drive[i].c) continue;
    if (x->nctrl == 0) sr_xml_begin(&c->xml, "actuator");
    put_actuator(&drive[i], joint[i]);
    const double u = parameter(c, i)->value.number;
    x->moved = x->moved || u != 0;
    SR_PUSH(c->pool, x->ctrl, x->nctrl, x->ctrl_capacity) = u;
  }
  if (x->nctrl > 0) sr_xml_end(&c->xml);
}
