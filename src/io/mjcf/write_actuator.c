// MJCF out: <actuator>, and the fixed <tendon>s that some of them pull. All laws that one control works in, as the reader
// makes them (actuator.c, transmission.c): with a parameter ctrl_NAME, u its value, clamped or not,
//   w = u, or a state: w' = u, or w' = (u - w)/T, which is constant at the ends of its range where it has one
//   F = (g0 + g1 l + g2 l') w + b0 + b1 l + b2 l', clamped or not
// On coordinate k of a joint works c_k F, and l = sum c_k q_k: one hinge or slide, several (a tendon), a ball, a free joint;
// or F is a force and a moment on a body, in inertial axes or in those of a site. What else laws do is listed as lost.
#include <math.h>
#include <string.h>

#include "io/mjcf/write.h"
#include "io/mjcf/write_law.h"
#include "math/pose.h"
#include "model/joint.h"
#include "model/list.h"

#define ROUNDING 1e-13  // relative: as write_law.c
enum { NO_CONTROL = -1, SEVERAL = -2 };
enum { FORCES = 6 };  // components of a <force>: f, then m

// Which control the laws of the spec have, by index: of its parameter, or one of the words above.
typedef struct Owners {
  int *torque, *force, *state;
} Owners;

// Where the force works.
typedef enum Target { ON_JOINT, ON_TENDON, ON_SITE } Target;

typedef struct Pull {
  int torque;  // of the spec
  int joint, coordinate;
  double coef;
} Pull;

typedef struct Drive {
  srMjcfOut* x;
  const Owners* owners;
  srMjcfLaws laws;
  int control, state;  // of the spec; state -1: none
  srMjcfSource input;  // the control
  srMjcfSource source;
  double time;  // of the state; 0: it integrates
  bool is_held;
  double held[2];
  bool has_form;
  srMjcfForm form;
  Pull* pull;
  int npull;
  int force;               // of the spec, -1: none
  double wrench[FORCES];   // coefficients of the force's components
  double turn[FORCES][9];  // and with which axes of the sensor
  bool has_axes;           // a component is known, and with it:
  int sensor;              // of the spec, -1: inertial axes
  Target target;
  int joint;         // ON_JOINT
  const char* site;  // ON_SITE
  bool in_parent;
  double gear[6], gain[3], bias[3];
} Drive;

static const srParameterDef* parameter(const srConvert* c, int i) { return srs_get(c->spec, SR_ELEMENT_PARAMETER, i); }

// --------------------------------------------------------------------------------------------------- who has which control
static int both(int a, int b) {
  if (a == NO_CONTROL || a == b) return b;
  return b == NO_CONTROL ? a : SEVERAL;
}

// The control that a formula depends on, by itself or by a state; `of_state` is unknown while states are searched.
static int control_in(const srMjcfLaws* laws, srNode node, const int* of_state) {
  const srNodeView view = sr_graph_view(laws->graph, node);
  const int nparameter = srs_count(laws->c->spec, SR_ELEMENT_PARAMETER);
  if (view.op == SR_OP_VAR) {
    if (view.kind != SR_VAR_STATE) return NO_CONTROL;
    if (view.index < nparameter) return view.index;
    return of_state ? of_state[view.index - nparameter] : NO_CONTROL;
  }
  int owner = NO_CONTROL;
  for (int k = 0; k < 3; k++)
    if (view.child[k] != SR_NO_NODE) owner = both(owner, control_in(laws, view.child[k], of_state));
  return owner;
}

static int control_of(srMjcfLaws* laws, const srAttr* attribute, const int* of_state) {
  srListItem* items;
  int owner = NO_CONTROL;
  const int n = attribute->text ? sr_split_list(laws->c->pool, attribute, &items) : 0;
  for (int k = 0; k < n; k++) {
    const srNode node = sr_mjcf_laws_parse(laws, items[k].text, items[k].place);
    if (node != SR_NO_NODE) owner = both(owner, control_in(laws, node, of_state));
  }
  return owner;
}

static Owners find_owners(srConvert* c) {
  const srSpec* spec = c->spec;
  srMjcfLaws laws = sr_mjcf_laws(c);
  const int nt = srs_count(spec, SR_ELEMENT_TORQUE), nf = srs_count(spec, SR_ELEMENT_FORCE);
  const int ns = srs_count(spec, SR_ELEMENT_STATE);
  int* all = sr_pool_alloc(c->pool, (size_t)(nt + nf + ns + 1) * sizeof *all);
  const Owners o = {.torque = all, .force = all + nt, .state = all + nt + nf};
  for (int i = 0; i < ns; i++)
    o.state[i] = control_of(&laws, &((const srStateDef*)srs_get(spec, SR_ELEMENT_STATE, i))->rate, NULL);
  for (int i = 0; i < nt; i++)
    o.torque[i] = control_of(&laws, &((const srTorqueDef*)srs_get(spec, SR_ELEMENT_TORQUE, i))->law, o.state);
  for (int i = 0; i < nf; i++) {
    const srForceDef* def = srs_get(spec, SR_ELEMENT_FORCE, i);
    o.force[i] = both(control_of(&laws, &def->f, o.state), control_of(&laws, &def->m, o.state));
  }
  return o;
}

static bool is_letter(char x) {
  return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_';
}

static bool mentions(const char* text, const char* word) {
  const size_t n = strlen(word);
  for (const char* p = strstr(text, word); p; p = strstr(p + 1, word))
    if ((p == text || !is_letter(p[-1])) && !is_letter(p[n])) return true;
  return false;
}

// Is it a law of this drive?
static bool is_own(const Drive* d, int kind, int i) {
  if (kind == SR_ELEMENT_TORQUE) return d->owners->torque[i] == d->control;
  if (kind == SR_ELEMENT_FORCE) return i == d->force;
  return kind == SR_ELEMENT_STATE && i == d->state;
}

// Does another law use this word? Sensors only read it.
static bool is_shared(const Drive* d, const char* word) {
  const srSpec* spec = d->x->c->spec;
  for (int kind = 0; kind < SR_ELEMENT_KINDS; kind++) {
    if (kind == SR_ELEMENT_SENSOR || kind == SR_ELEMENT_PARAMETER) continue;
    const srElement* e = srs_element((srElementKind)kind);
    for (int i = 0; i < srs_count(spec, (srElementKind)kind); i++) {
      const srAttr* a = srs_get(spec, (srElementKind)kind, i);
      for (int k = 0; k < e->nfield && !is_own(d, kind, i); k++)
        if (a[k].text && strcmp(e->fields[k].kind, "LAW") == 0 && mentions(a[k].text, word)) return true;
    }
  }
  return false;
}

// ------------------------------------------------------------------------------------------------------------ activation
static srNode state_node(const Drive* d) {
  return sr_graph_var(d->laws.graph, SR_VAR_STATE, sr_mjcf_laws_state(&d->laws, d->state));
}

// The ends of a range, wherever the state is compared with a number.
static void find_ends(const Drive* d, srNode node, double range[2]) {
  const srGraph* graph = d->laws.graph;
  const srNodeView view = sr_graph_view(graph, node);
  const srNode state = state_node(d);
  double value;
  if (view.op == SR_OP_LE && view.child[1] == state && sr_graph_constant(graph, view.child[0], &value))
    range[1] = value;
  if (view.op == SR_OP_LE && view.child[0] == state && sr_graph_constant(graph, view.child[1], &value))
    range[0] = value;
  for (int k = 0; k < 3; k++)
    if (view.child[k] != SR_NO_NODE) find_ends(d, view.child[k], range);
}

static srNode op(srGraph* graph, srOp operation, srNode a, srNode b) {
  return sr_graph_op(graph, operation, a, b, SR_NO_NODE);
}

// if(max((w >= high)*(rate > 0), (w <= low)*(rate < 0)), 0, rate): equal formulas are one node of the graph.
static bool is_held(Drive* d, srNode node, srNode* rate) {
  srGraph* graph = d->laws.graph;
  const srNodeView view = sr_graph_view(graph, node);
  double* range = d->held;
  range[0] = range[1] = (double)NAN;
  if (view.op != SR_OP_IF) return false;
  find_ends(d, view.child[0], range);
  if (!(range[0] < range[1])) return false;
  const srNode w = state_node(d), zero = sr_graph_const(graph, 0), r = view.child[2];
  const srNode above =
      op(graph, SR_OP_MUL, op(graph, SR_OP_LE, sr_graph_const(graph, range[1]), w), op(graph, SR_OP_LT, zero, r));
  const srNode below =
      op(graph, SR_OP_MUL, op(graph, SR_OP_LE, w, sr_graph_const(graph, range[0])), op(graph, SR_OP_LT, r, zero));
  if (sr_graph_op(graph, SR_OP_IF, op(graph, SR_OP_MAX, above, below), zero, r) != node) return false;
  *rate = r;
  return true;
}

// u, or (u - w)/T.
static bool is_rate(Drive* d, srNode node) {
  const srGraph* graph = d->laws.graph;
  const srNodeView view = sr_graph_view(graph, node);
  double factor;
  if (sr_mjcf_is_source(&d->laws, node, &d->input)) return true;
  srNode difference = SR_NO_NODE;
  d->time = 1;
  if (view.op == SR_OP_DIV && sr_graph_constant(graph, view.child[1], &d->time)) {
    difference = view.child[0];
  } else if (view.op == SR_OP_MUL && sr_graph_constant(graph, view.child[0], &factor)) {
    difference = view.child[1];
    d->time = 1 / factor;
  } else if (view.op == SR_OP_SUB) {
    difference = node;
  }
  if (difference == SR_NO_NODE || !(d->time > 0) || !isfinite(d->time)) return false;
  const srNodeView sub = sr_graph_view(graph, difference);
  return sub.op == SR_OP_SUB && sub.child[1] == state_node(d) && sr_mjcf_is_source(&d->laws, sub.child[0], &d->input);
}

static bool understand_state(Drive* d) {
  const srStateDef* def = srs_get(d->x->c->spec, SR_ELEMENT_STATE, d->state);
  srNode rate = sr_mjcf_laws_parse(&d->laws, def->rate.text, def->rate.place);
  if (rate == SR_NO_NODE) return false;
  d->is_held = is_held(d, rate, &rate);
  return is_rate(d, rate);
}

// ---------------------------------------------------------------------------------------------------------------- forces
static bool has_gain(const Drive* d, const srMjcfForm* f) {
  for (int k = 0; k <= d->laws.nvariable; k++)
    if (f->gain[k] != 0) return true;
  return false;
}

// One more law of the drive: how many times its force F that is.
static bool add_form(Drive* d, const srMjcfForm* f, double* coef) {
  if (!has_gain(d, f) || !(fabs(f->scale) > 0) || !isfinite(f->scale)) return false;
  if (!d->has_form) {
    d->has_form = true;
    d->form = *f;
    *coef = f->scale;
    return true;
  }
  double factor;
  if (!sr_mjcf_is_multiple(&d->laws, f, &d->form, &factor)) return false;
  *coef = factor * d->form.scale;
  return true;
}

// Does another torque with a control work on the same joint?
static bool has_company(const Drive* d, int torque) {
  const srSpec* spec = d->x->c->spec;
  const srTorqueDef* own = srs_get(spec, SR_ELEMENT_TORQUE, torque);
  for (int i = 0; i < srs_count(spec, SR_ELEMENT_TORQUE); i++) {
    const srTorqueDef* def = srs_get(spec, SR_ELEMENT_TORQUE, i);
    if (i != torque && d->owners->torque[i] != NO_CONTROL && strcmp(def->joint.text, own->joint.text) == 0) return true;
  }
  return false;
}

// The joint's effort is written as actuatorfrcrange, which limits what actuators do to it: the law has to do the same.
static bool obeys_effort(Drive* d, srNode law, double effort, srMjcfForm* f) {
  double range[2];
  srNode inside;
  if (!(effort > 0)) return sr_mjcf_form(&d->laws, law, &d->source, f);
  if (sr_mjcf_is_clamp(d->laws.graph, law, range, &inside) && range[0] == -effort && range[1] == effort)
    return sr_mjcf_form(&d->laws, inside, &d->source, f);
  return sr_mjcf_form(&d->laws, law, &d->source, f) && f->is_clamped &&
         fmax(fabs(f->range[0]), fabs(f->range[1])) * fabs(f->scale) <= effort;
}

static const char not_affine[] =
    "MJCF has laws g u + b with g and b affine in q and v of what they work on, limited by constants and, where a "
    "joint "
    "has one, by its effort";

// Why it cannot be expressed; NULL: it can.
static const char* add_torque(Drive* d, Pull* p, srNode law) {
  srConvert* c = d->x->c;
  const int joint = c->joint[c->m->joint_body[p->joint]];
  const srJointDef* def = joint >= 0 ? srs_get(c->spec, SR_ELEMENT_JOINT, joint) : NULL;
  const double effort = def && def->effort.n > 0 ? def->effort.number : 0;
  srMjcfForm f;
  if (effort > 0 && has_company(d, p->torque))
    return "the effort of its joint would limit the sum of its actuators in MJCF";
  if (!obeys_effort(d, law, effort, &f) || f.sensor >= 0 || !add_form(d, &f, &p->coef)) return not_affine;
  return NULL;
}

// Component k of the <force>.
static bool add_force(Drive* d, int k, srNode law) {
  double value;
  srMjcfForm f;
  if (sr_graph_constant(d->laws.graph, law, &value) && value == 0) return true;
  if (!sr_mjcf_form(&d->laws, law, &d->source, &f) || !add_form(d, &f, &d->wrench[k])) return false;
  if (d->has_axes && d->sensor != f.sensor) return false;
  d->has_axes = true;
  d->sensor = f.sensor;
  memcpy(d->turn[k], f.turn, sizeof f.turn);
  return true;
}

// The laws are parsed before any is understood: forms have a number for each variable of all.
static const char* understand_laws(Drive* d) {
  srConvert* c = d->x->c;
  const srForceDef* def = d->force >= 0 ? srs_get(c->spec, SR_ELEMENT_FORCE, d->force) : NULL;
  srNode force[FORCES];
  srNode* law = sr_pool_alloc(c->pool, (size_t)(d->npull + 1) * sizeof *law);
  bool good = true;
  for (int i = 0; i < d->npull; i++) {
    const srAttr* text = &((const srTorqueDef*)srs_get(c->spec, SR_ELEMENT_TORQUE, d->pull[i].torque))->law;
    law[i] = sr_mjcf_laws_parse(&d->laws, text->text, text->place);
  }
  for (int k = 0; k < FORCES; k++) {
    const srAttr* list = !def ? NULL : k < 3 ? &def->f : &def->m;
    srListItem* items;
    force[k] = sr_graph_const(d->laws.graph, 0);
    if (!list || !sr_given(*list) || sr_split_list(c->pool, list, &items) != 3) continue;
    const srListItem* item = &items[k % 3];
    force[k] = item->text ? sr_mjcf_laws_parse(&d->laws, item->text, item->place)
                          : sr_graph_const(d->laws.graph, item->number);
  }
  for (int i = 0; i < d->npull; i++) {
    const char* reason = add_torque(d, &d->pull[i], law[i]);
    if (reason) return reason;
  }
  for (int k = 0; k < FORCES; k++) good = good && add_force(d, k, force[k]);
  return good ? NULL : not_affine;
}

// ---------------------------------------------------------------------------------------------------------- what they move
static bool is_zero(const double x[3]) { return x[0] == 0 && x[1] == 0 && x[2] == 0; }

static bool is_scalar(const srModel* m, int j) {
  return m->joint_type[j] == SR_JOINT_REVOLUTE || m->joint_type[j] == SR_JOINT_PRISMATIC;
}

static const char* on_scalars(Drive* d) {
  bool same = true;
  for (int i = 0; i < d->npull; i++) {
    if (!is_scalar(d->x->c->m, d->pull[i].joint) || d->pull[i].coordinate != 0)
      return "actuators are written on hinges, slides, balls and free joints of the ground, one kind at a time";
    same = same && d->pull[i].joint == d->pull[0].joint;
  }
  d->target = same ? ON_JOINT : ON_TENDON;
  d->joint = d->pull[0].joint;
  d->gear[0] = 1;
  if (!same) return NULL;
  d->gear[0] = 0;
  for (int i = 0; i < d->npull; i++) d->gear[0] += d->pull[i].coef;
  return NULL;
}

// All pulls on one joint: its first three coordinates into the gear.
static bool on_turns(Drive* d, int j, double gear[3]) {
  for (int i = 0; i < d->npull; i++) {
    if (d->pull[i].joint != j || d->pull[i].coordinate > 2) return false;
    gear[d->pull[i].coordinate] += d->pull[i].coef;
  }
  d->target = ON_JOINT;
  d->joint = j;
  return true;
}

// Free: forces along the axes of the world, moments about them (jointinparent) or about the body's.
static const char* on_free(Drive* d, int j) {
  srConvert* c = d->x->c;
  double at[3] = {0};
  if (d->force >= 0) {
    const srForceDef* def = srs_get(c->spec, SR_ELEMENT_FORCE, d->force);
    if (sr_names_find(&c->bodies, def->body.text) != c->m->joint_body[j] || d->sensor >= 0)
      return "its force is on another body than its torque, or in other axes";
    sr_convert_numbers(c, SR_ELEMENT_FORCE, d->force, SR_TAKE(srForceDef, at), at, 3);
  }
  if (c->m->body_parent[c->m->joint_body[j]] != 0) return "MJCF has free joints on the world alone";
  if (!is_zero(at)) return "MJCF has forces of a free joint in the origin of its body";
  d->in_parent = !is_zero(d->wrench + 3);
  if (d->in_parent && d->npull > 0) return "it turns a body about its own axes and those of the ground";
  if (!on_turns(d, j, d->gear + 3)) return "torques of free joints are written on their three turns alone";
  memcpy(d->gear, d->wrench, 3 * sizeof *d->gear);
  if (d->in_parent) memcpy(d->gear + 3, d->wrench + 3, 3 * sizeof *d->gear);
  return NULL;
}

// The same vector in the axes of the sensor from each component: R u, row by row.
static bool is_vector(const Drive* d, int first, double u[3]) {
  double size = 0;
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 9; i++) size = fmax(size, fabs(d->wrench[first + k] * d->turn[first + k][i]));
  for (int i = 0; i < 3; i++) u[i] = d->wrench[first] * d->turn[first][i];
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 9; i++) {
      const double wanted = i / 3 == k ? u[i % 3] : 0;
      if (!(fabs(d->wrench[first + k] * d->turn[first + k][i] - wanted) <= ROUNDING * size)) return false;
    }
  return true;
}

// The sensor's frame is a point of the body where the force works, in inertial axes.
static const char* on_site(Drive* d) {
  srConvert* c = d->x->c;
  const srForceDef* def = srs_get(c->spec, SR_ELEMENT_FORCE, d->force);
  const srSensorDef* sensor = srs_get(c->spec, SR_ELEMENT_SENSOR, d->sensor);
  const int i = sensor->point.text ? sr_names_find(&c->points, sensor->point.text) : -1;
  const int owner = i >= 0 ? srs_owner(c->spec, SR_ELEMENT_POINT, i) : -1;
  double at[3] = {0}, pose[16];
  if (owner < 0 || strcmp(((const srBodyDef*)srs_get(c->spec, SR_ELEMENT_BODY, owner))->name.text, def->body.text) != 0)
    return "its axes are not those of a point of the body that it works on";
  if (sensor->relative_to.text && strcmp(sensor->relative_to.text, "ground") != 0)
    return "its axes are seen from another frame than the ground's";
  sr_convert_numbers(c, SR_ELEMENT_FORCE, d->force, SR_TAKE(srForceDef, at), at, 3);
  sr_convert_pose(c, SR_ELEMENT_POINT, i, SR_TAKE(srPointDef, at), SR_TAKE(srPointDef, rot), SR_TAKE(srPointDef, rpy),
                  pose);
  for (int k = 0; k < 3; k++)
    if (!(fabs(at[k] - pose[12 + k]) <= ROUNDING * (1 + fabs(at[k]))))
      return "it does not work at the point whose axes it has";
  if (!is_vector(d, 0, d->gear) || !is_vector(d, 3, d->gear + 3)) return "it is not constant in the axes of its site";
  d->target = ON_SITE;
  d->site = sr_mjcf_out_site(d->x, sensor->point.text);
  return NULL;
}

static const char* find_target(Drive* d) {
  const srModel* m = d->x->c->m;
  if (d->force >= 0 && d->sensor >= 0 && d->npull == 0) return on_site(d);
  const srForceDef* def = d->force >= 0 ? srs_get(d->x->c->spec, SR_ELEMENT_FORCE, d->force) : NULL;
  const int body = def ? sr_names_find(&d->x->c->bodies, def->body.text) : -1;
  if (def && body < 1) return "it works on the ground";
  const int j = d->npull > 0 ? d->pull[0].joint : m->body_joint[body];
  if (m->joint_type[j] == SR_JOINT_FREE) return on_free(d, j);
  if (def) return "forces by formula are written on free joints of the ground and on sites";
  if (m->joint_type[j] != SR_JOINT_BALL) return on_scalars(d);
  return on_turns(d, j, d->gear) ? NULL : "a ball is driven alone";
}

// -------------------------------------------------------------------------------------------------------------- feedback
// Coefficient of a coordinate in the length.
static double coefficient(const Drive* d, int joint, int coordinate) {
  double sum = 0;
  for (int i = 0; i < d->npull; i++)
    if (d->pull[i].joint == joint && d->pull[i].coordinate == coordinate) sum += d->pull[i].coef;
  return sum;
}

static double number_of(const Drive* d, const double* numbers, bool is_rate, int joint, int coordinate) {
  for (int i = 0; i < d->laws.nvariable; i++) {
    const srMjcfVariable* x = &d->laws.variable[i];
    if (x->is_rate == is_rate && x->joint == joint && x->coordinate == coordinate) return numbers[1 + i];
  }
  return 0;
}

// The numbers of coordinates, or of their rates, as a factor times those of the length. False: they are none.
static bool along_length(const Drive* d, const double* numbers, bool is_rate, double* factor) {
  double size = 0, most = 0;
  *factor = 0;
  for (int i = 0; i < d->laws.nvariable; i++)
    if (d->laws.variable[i].is_rate == is_rate) size = fmax(size, fabs(numbers[1 + i]));
  for (int i = 0; i < d->npull; i++) {
    const double c = coefficient(d, d->pull[i].joint, d->pull[i].coordinate);
    if (!(fabs(c) > most)) continue;
    most = fabs(c);
    *factor = number_of(d, numbers, is_rate, d->pull[i].joint, d->pull[i].coordinate) / c;
  }
  for (int i = 0; i < d->laws.nvariable; i++) {
    const srMjcfVariable* x = &d->laws.variable[i];
    if (x->is_rate != is_rate) continue;
    if (!(fabs(numbers[1 + i] - *factor * coefficient(d, x->joint, x->coordinate)) <= ROUNDING * size)) return false;
  }
  for (int i = 0; i < d->npull; i++) {
    const Pull* p = &d->pull[i];
    const double wanted = *factor * coefficient(d, p->joint, p->coordinate);
    if (!(fabs(number_of(d, numbers, is_rate, p->joint, p->coordinate) - wanted) <= ROUNDING * size)) return false;
  }
  return true;
}

static const char* find_feedback(Drive* d) {
  const srMjcfForm* f = &d->form;
  const bool has_length = d->target == ON_TENDON || (d->target == ON_JOINT && is_scalar(d->x->c->m, d->joint));
  const bool has_rate = has_length || (d->target == ON_JOINT && d->force < 0);
  d->gain[0] = f->gain[0], d->bias[0] = f->bias[0];
  if (!along_length(d, f->gain, false, &d->gain[1]) || !along_length(d, f->gain, true, &d->gain[2]) ||
      !along_length(d, f->bias, false, &d->bias[1]) || !along_length(d, f->bias, true, &d->bias[2]))
    return not_affine;
  if ((!has_length && (d->gain[1] != 0 || d->bias[1] != 0)) || (!has_rate && (d->gain[2] != 0 || d->bias[2] != 0)))
    return "MJCF has no length or rate of what it works on";
  const bool fixed = d->gain[1] == 0 && d->gain[2] == 0;
  if (fixed && d->bias[2] > 0 && d->gain[0] == -d->bias[1])
    return "it feeds the velocity back with a plus, which MJCF takes for a damping ratio";
  return NULL;
}

// ---------------------------------------------------------------------------------------------------------------- a drive
// Its laws, by their control.
static const char* collect(Drive* d) {
  srConvert* c = d->x->c;
  const int n = srs_count(c->spec, SR_ELEMENT_TORQUE);
  int states = 0, forces = 0;
  d->pull = sr_pool_alloc(c->pool, (size_t)(n + 1) * sizeof *d->pull);
  d->state = d->force = -1;
  for (int i = 0; i < n; i++) {
    const srTorqueDef* def = srs_get(c->spec, SR_ELEMENT_TORQUE, i);
    if (d->owners->torque[i] != d->control) continue;
    d->pull[d->npull++] = (Pull){i, sr_names_find(&c->joints, def->joint.text),
                                 def->coordinate.n > 0 ? (int)def->coordinate.number : 0, 0};
  }
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_FORCE); i++)
    if (d->owners->force[i] == d->control) d->force = i, forces++;
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_STATE); i++)
    if (d->owners->state[i] == d->control) d->state = i, states++;
  return states > 1 || forces > 1 ? "its control works in several states, or forces on several bodies" : NULL;
}

// Why it cannot be expressed; NULL: it can.
static const char* understand(Drive* d) {
  const srConvert* c = d->x->c;
  const char* word = parameter(c, d->control)->name.text;
  d->laws = sr_mjcf_laws(d->x->c);
  d->input = d->source = (srMjcfSource){.index = d->control};
  d->sensor = -1;
  if (is_shared(d, word)) return "its control works in other laws too";
  if (d->state >= 0) {
    d->source = (srMjcfSource){.index = sr_mjcf_laws_state(&d->laws, d->state)};
    if (is_shared(d, ((const srStateDef*)srs_get(c->spec, SR_ELEMENT_STATE, d->state))->name.text))
      return "its state works in other laws too";
    if (!understand_state(d)) return "MJCF has activations w' = u and w' = (u - w)/T, held within a range or not";
  }
  const char* reason = understand_laws(d);
  if (!reason) reason = find_target(d);
  if (!reason) reason = find_feedback(d);
  if (d->state < 0) d->input = d->source;
  return reason;
}

static void lose(srConvert* c, srElementKind kind, int i, const char* reason) {
  sr_convert_take_all(c, kind, i);
  sr_convert_lose(c, srs_place(c->spec, kind, i), SR_LOSS_MOTION, sr_convert_title(c, kind, i), "%s", reason);
}

static void lose_drive(const Drive* d, const char* reason) {
  srConvert* c = d->x->c;
  for (int i = 0; i < d->npull; i++) lose(c, SR_ELEMENT_TORQUE, d->pull[i].torque, reason);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_FORCE); i++)
    if (d->owners->force[i] == d->control) lose(c, SR_ELEMENT_FORCE, i, reason);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_STATE); i++)
    if (d->owners->state[i] == d->control) lose(c, SR_ELEMENT_STATE, i, reason);
}

static void lose_several(srConvert* c, const Owners* o) {
  static const char reason[] = "its law has several controls, which one actuator of MJCF does not have";
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_TORQUE); i++)
    if (o->torque[i] == SEVERAL) lose(c, SR_ELEMENT_TORQUE, i, reason);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_FORCE); i++)
    if (o->force[i] == SEVERAL) lose(c, SR_ELEMENT_FORCE, i, reason);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_STATE); i++)
    if (o->state[i] == SEVERAL) lose(c, SR_ELEMENT_STATE, i, reason);
}

// ----------------------------------------------------------------------------------------------------------- in the file
// Its name, from which the reader makes the same control again.
static const char* word_of(const Drive* d) {
  const srConvert* c = d->x->c;
  const char *end = parameter(c, d->control)->name.text + strlen(SR_MJCF_CONTROL), *name = NULL;
  if (d->npull > 0) name = ((const srTorqueDef*)srs_get(c->spec, SR_ELEMENT_TORQUE, d->pull[0].torque))->name.text;
  if (d->force >= 0) name = ((const srForceDef*)srs_get(c->spec, SR_ELEMENT_FORCE, d->force))->name.text;
  if (!name || strlen(name) != strlen(end)) return end;
  for (size_t k = 0; name[k]; k++)
    if (name[k] != end[k] && (end[k] != '_' || is_letter(name[k]))) return end;
  return name;
}

// Names that the reader makes again from the control's are not lost.
static void take(const Drive* d) {
  srConvert* c = d->x->c;
  const char* control = parameter(c, d->control)->name.text;
  for (int i = 0; i < d->npull; i++) sr_convert_take_all(c, SR_ELEMENT_TORQUE, d->pull[i].torque);
  if (d->force >= 0) sr_convert_take_all(c, SR_ELEMENT_FORCE, d->force);
  if (d->sensor >= 0) {
    const srSensorDef* sensor = srs_get(c->spec, SR_ELEMENT_SENSOR, d->sensor);
    if (strcmp(sensor->name.text, sr_pool_printf(c->pool, "site of %s", control)) == 0)
      sr_convert_take_all(c, SR_ELEMENT_SENSOR, d->sensor);
  }
  if (d->state < 0) return;
  const srStateDef* state = srs_get(c->spec, SR_ELEMENT_STATE, d->state);
  sr_convert_take(c, SR_ELEMENT_STATE, d->state, SR_TAKE(srStateDef, initial));
  sr_convert_take(c, SR_ELEMENT_STATE, d->state, SR_TAKE(srStateDef, rate));
  if (strcmp(state->name.text, sr_pool_printf(c->pool, SR_MJCF_STATE "%s", control + strlen(SR_MJCF_CONTROL))) == 0)
    sr_convert_take(c, SR_ELEMENT_STATE, d->state, SR_TAKE(srStateDef, name));
}

static void put_range(srConvert* c, const char* flag, const char* word, const double range[2]) {
  sr_xml_text(&c->xml, flag, "true");
  sr_xml_numbers(&c->xml, word, range, 2);
}

static void put_tendon(const Drive* d) {
  srConvert* c = d->x->c;
  sr_xml_begin(&c->xml, "fixed");
  sr_xml_text(&c->xml, "name", word_of(d));
  for (int i = 0; i < d->npull; i++) {
    sr_xml_begin(&c->xml, "joint");
    sr_xml_text(&c->xml, "joint", sr_convert_joint_name(c, d->pull[i].joint));
    sr_xml_number(&c->xml, "coef", d->pull[i].coef);
    sr_xml_end(&c->xml);
  }
  sr_xml_end(&c->xml);
}

static void put_target(const Drive* d) {
  srConvert* c = d->x->c;
  int n = 6;
  if (d->target == ON_TENDON)
    sr_xml_text(&c->xml, "tendon", word_of(d));
  else if (d->target == ON_SITE)
    sr_xml_text(&c->xml, "site", d->site);
  else
    sr_xml_text(&c->xml, d->in_parent ? "jointinparent" : "joint", sr_convert_joint_name(c, d->joint));
  while (n > 1 && d->gear[n - 1] == 0) n--;
  if (n > 1 || d->gear[0] != 1) sr_xml_numbers(&c->xml, "gear", d->gear, n);
}

static void put_dynamics(const Drive* d) {
  srConvert* c = d->x->c;
  if (d->state < 0) return;
  sr_xml_text(&c->xml, "dyntype", d->time > 0 ? "filterexact" : "integrator");
  if (d->time > 0) sr_xml_number(&c->xml, "dynprm", d->time);
  if (d->is_held) put_range(c, "actlimited", "actrange", d->held);
}

static void put_actuator(const Drive* d) {
  srConvert* c = d->x->c;
  const bool fixed = d->gain[1] == 0 && d->gain[2] == 0;
  const bool biased = d->bias[0] != 0 || d->bias[1] != 0 || d->bias[2] != 0;
  const bool motor = fixed && d->gain[0] == 1 && !biased && d->state < 0;
  sr_xml_begin(&c->xml, motor ? "motor" : "general");
  sr_xml_text(&c->xml, "name", word_of(d));
  put_target(d);
  put_dynamics(d);
  if (!motor) {
    sr_xml_text(&c->xml, "gaintype", fixed ? "fixed" : "affine");
    sr_xml_numbers(&c->xml, "gainprm", d->gain, 3);
  }
  if (biased) {
    sr_xml_text(&c->xml, "biastype", "affine");
    sr_xml_numbers(&c->xml, "biasprm", d->bias, 3);
  }
  if (d->input.is_clamped) put_range(c, "ctrllimited", "ctrlrange", d->input.range);
  if (d->form.is_clamped) put_range(c, "forcelimited", "forcerange", d->form.range);
  sr_xml_end(&c->xml);
}

// Numbers of the key.
static void put_start(const Drive* d) {
  srMjcfOut* x = d->x;
  const double u = parameter(x->c, d->control)->value.number;
  x->moved = x->moved || u != 0;
  SR_PUSH(x->c->pool, x->ctrl, x->nctrl, x->ctrl_capacity) = u;
  if (d->state < 0) return;
  const double w = sr_convert_number(x->c, SR_ELEMENT_STATE, d->state, SR_TAKE(srStateDef, initial), 0);
  x->moved = x->moved || w != 0;
  SR_PUSH(x->c->pool, x->act, x->nact, x->act_capacity) = w;
}

// In the order of the controls, which the numbers of a key have too.
void sr_mjcf_out_actuators(srMjcfOut* x) {
  srConvert* c = x->c;
  const Owners owners = find_owners(c);
  int n = 0, ntendon = 0;
  Drive* drive = sr_pool_alloc(c->pool, (size_t)(srs_count(c->spec, SR_ELEMENT_PARAMETER) + 1) * sizeof *drive);
  lose_several(c, &owners);
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_PARAMETER); i++) {
    Drive d = {.x = x, .owners = &owners, .control = i};
    const char* reason = collect(&d);
    if (d.npull == 0 && d.force < 0) continue;
    if (!reason) reason = understand(&d);
    if (reason)
      lose_drive(&d, reason);
    else
      drive[n++] = d;
    ntendon += !reason && d.target == ON_TENDON;
  }
  if (ntendon > 0) sr_xml_begin(&c->xml, "tendon");
  for (int i = 0; i < n; i++)
    if (drive[i].target == ON_TENDON) put_tendon(&drive[i]);
  if (ntendon > 0) sr_xml_end(&c->xml);
  if (n > 0) sr_xml_begin(&c->xml, "actuator");
  for (int i = 0; i < n; i++) {
    take(&drive[i]);
    put_actuator(&drive[i]);
    put_start(&drive[i]);
  }
  if (n > 0) sr_xml_end(&c->xml);
}
