// Attributes to values: numbers from formulas of parameters, nodes from laws, poses, names.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/pose.h"
#include "model/compile.h"
#include "model/list.h"
#include "model/spec.h"

static const srField* field_of(srElementKind kind, int field) { return &srs_element(kind)->fields[field]; }

const srAttr* sr_c_attr(const srCompiler* c, srElementKind kind, int i, int field) {
  return (const srAttr*)srs_get(c->spec, kind, i) + field;
}

srPlace sr_c_place(const srCompiler* c, srElementKind kind, int i, int field) {
  const srAttr* attr = sr_c_attr(c, kind, i, field);
  return sr_given(*attr) && attr->place.line > 0 ? attr->place : srs_place(c->spec, kind, i);
}

srPlace sr_c_kept_place(srCompiler* c, srElementKind kind, int i) {
  srPlace place = srs_place(c->spec, kind, i);
  place.file = sr_pool_text(c->pool, place.file);
  return place;
}

void sr_c_error(srCompiler* c, srPlace place, const char* format, ...) {
  va_list list;
  va_start(list, format);
  sr_messages_vadd(c->messages, SR_SEVERITY_ERROR, place, format, list);
  va_end(list);
}

void sr_c_warning(srCompiler* c, srPlace place, const char* format, ...) {
  va_list list;
  va_start(list, format);
  sr_messages_vadd(c->messages, SR_SEVERITY_WARNING, place, format, list);
  va_end(list);
}

int sr_c_errors(const srCompiler* c) { return sr_messages_errors(c->messages) - c->errors_before; }

void sr_c_know(srCompiler* c, const char* word) { SR_PUSH(&c->scratch, c->known, c->nknown, c->known_capacity) = word; }

// -------------------------------------------------------------------------------------------------------- names
bool sr_c_new_name(srCompiler* c, srNames* names, const char* name, int index, const char* what, srPlace place) {
  const bool formula_word = names == &c->parameters || names == &c->states || names == &c->functions;
  const char* problem = formula_word ? sr_identifier_problem(name) : sr_name_problem(name);
  if (problem) {
    sr_c_error(c, place, "the name '%s' of a %s %s", name, what, problem);
    return false;
  }
  double unit;
  if (formula_word && sr_unit(name, &unit))
    sr_messages_add(c->messages, SR_SEVERITY_NOTE, place, "the %s '%s' replaces the unit of this name in formulas",
                    what, name);
  if (sr_names_put(names, name, index)) return true;
  sr_c_error(c, place, "the name '%s' is that of another %s already", name, what);
  return false;
}

void sr_c_lose(srCompiler* c, const char* name) { (void)sr_names_put(&c->lost, name, 0); }

static bool is_lost(const srCompiler* c, const char* name) {
  return sr_names_find(&c->lost, name) >= 0 || sr_spec_is_lost(c->spec, name);
}

int sr_c_find(srCompiler* c, const srNames* names, const char* name, const char* what, srPlace place) {
  int index = sr_names_find(names, name);
  if (index >= 0 || is_lost(c, name)) return index;
  sr_c_error(c, place, "unknown %s '%s'%s", what, name, sr_pool_guess(&c->scratch, sr_names_nearest(names, name)));
  return -1;
}

const char* sr_c_text(srCompiler* c, srElementKind kind, int i, int field) {
  const srAttr* attr = sr_c_attr(c, kind, i, field);
  const srField* f = field_of(kind, field);
  if (attr->text) return attr->text;
  if (f->default_text[0] == '!') {
    sr_c_error(c, srs_place(c->spec, kind, i), "<%s> needs the attribute '%s'", srs_element(kind)->word, f->word);
    return NULL;
  }
  return f->default_text[0] ? f->default_text : NULL;
}

// ------------------------------------------------------------------------------------------------------ formulas
static const char* const raw_calls[] = {"q", "v", "sensor", "inertia", "record", NULL};

static const char* const raw_calls_and_a[] = {"q", "v", "sensor", "inertia", "record", "a", NULL};  // to refuse it

bool sr_c_is_raw_call(const char* name) {
  for (int i = 0; raw_calls[i]; i++)
    if (strcmp(raw_calls[i], name) == 0) return true;
  return false;
}

// Stands for a name that was lost: what it is part of is not computed.
static srNode follower(srCompiler* c, srGraph* graph) {
  c->nfollower++;
  return sr_graph_const(graph, 1);
}

static bool is_follower(const srCompiler* c, const srNames* names, const char* name) {
  return sr_names_find(names, name) < 0 && is_lost(c, name);
}

static srNode resolve_name(void* user, srGraph* graph, const char* name, char* reason, size_t size) {
  srCompiler* c = user;
  if (c->surface_open && (strcmp(name, "u") == 0 || strcmp(name, "v") == 0))
    return sr_graph_var(graph, SR_VAR_ARG, name[0] == 'v');
  const int varying = c->nvarying > 0 ? sr_names_find(&c->varying, name) : -1;
  if (varying >= 0 && c->laws_open) {
    return sr_graph_var(graph, SR_VAR_STATE, srs_count(c->spec, SR_ELEMENT_STATE) + varying);
  }
  if (varying >= 0) {
    snprintf(reason, size,
             "the parameter '%s' is live, or set by an event: it may be used in laws only, as this number is fixed",
             name);
    return SR_NO_NODE;
  }
  int node = sr_names_find(&c->parameters, name);
  if (node >= 0) return node;
  if (!c->laws_open) return is_lost(c, name) ? follower(c, graph) : SR_NO_NODE;
  if (strcmp(name, "t") == 0) return sr_graph_var(graph, SR_VAR_TIME, 0);
  if (c->distance_arg >= 0 && strcmp(name, "z") == 0) return sr_graph_var(graph, SR_VAR_ARG, c->distance_arg);
  if (c->distance_arg >= 0 && strcmp(name, "zdot") == 0) return sr_graph_var(graph, SR_VAR_ARG, c->distance_arg + 1);
  int state = sr_names_find(&c->states, name);
  if (state >= 0) return sr_graph_var(graph, SR_VAR_STATE, state);
  return is_lost(c, name) ? follower(c, graph) : SR_NO_NODE;
}

static bool parse_index(const char* text, int* out) {
  char* end;
  long value = strtol(text, &end, 10);
  *out = (int)value;
  return end != text && *end == '\0' && value >= 0 && value < 1000;
}

static int find_joint(srCompiler* c, const char* name, char* reason, size_t size) {
  const int joint = sr_names_find(&c->joints, name);
  if (joint < 0)
    snprintf(reason, size, "unknown joint '%s'%s", name,
             sr_pool_guess(&c->scratch, sr_names_nearest(&c->joints, name)));
  return joint;
}

// inertia(joint): M_ii where all joints are at 'reference'; inertia(joint, effective): 1/(M^-1)_ii
static srNode resolve_inertia(srCompiler* c, srGraph* graph, const srCall* call, char* reason, size_t size) {
  const bool effective = call->narg == 2 && strcmp(call->raw[1], "effective") == 0;
  if (call->narg != 1 && !effective) {
    snprintf(reason, size, "inertia(joint) or inertia(joint, effective) is expected");
    return SR_NO_NODE;
  }
  if (is_follower(c, &c->joints, call->raw[0])) return follower(c, graph);
  const int joint = find_joint(c, call->raw[0], reason, size);
  if (joint < 0) return SR_NO_NODE;
  if (c->m->joint_nv[joint] != 1) {
    snprintf(reason, size, "inertia() is of joints with one coordinate; '%s' has %d", call->raw[0],
             c->m->joint_nv[joint]);
    return SR_NO_NODE;
  }
  const double* inertia = effective ? c->priv->effective_inertia : c->priv->carried_inertia;
  return sr_graph_const(graph, inertia ? inertia[c->m->joint_v[joint]] : 1);  // NULL: after earlier errors
}

// q(joint), q(joint, k), v(joint), v(joint, k)
static srNode resolve_coordinate(srCompiler* c, srGraph* graph, const srCall* call, char* reason, size_t size) {
  const bool position = call->name[0] == 'q';
  int k = 0;
  if (call->narg < 1 || call->narg > 2 || (call->narg == 2 && !parse_index(call->raw[1], &k))) {
    snprintf(reason, size, "%s(joint) or %s(joint, k) with k from 0 is expected", call->name, call->name);
    return SR_NO_NODE;
  }
  if (is_follower(c, &c->joints, call->raw[0])) return follower(c, graph);
  const int joint = find_joint(c, call->raw[0], reason, size);
  if (joint < 0) return SR_NO_NODE;
  int count = position ? c->m->joint_nq[joint] : c->m->joint_nv[joint];
  if (k >= count) {
    snprintf(reason, size, "joint '%s' has %d %s coordinate%s, counted from 0", call->raw[0], count,
             position ? "position" : "velocity", count == 1 ? "" : "s");
    return SR_NO_NODE;
  }
  int first = position ? c->m->joint_q[joint] : c->m->joint_v[joint];
  return sr_graph_var(graph, position ? SR_VAR_Q : SR_VAR_V, first + k);
}

static int sensor_component(const char* word) {
  static const char* const words[SR_SENSOR_SCALARS] = {"x",   "y",   "z",   "vx",  "vy",  "vz",  "wx",  "wy",  "wz",
                                                       "rxx", "rxy", "rxz", "ryx", "ryy", "ryz", "rzx", "rzy", "rzz"};
  return sr_word_index(words, SR_SENSOR_SCALARS, word);
}

static srNode resolve_frame_sensor(srCompiler* c, srGraph* graph, srSensor* sensor, const srCall* call, char* reason,
                                   size_t size) {
  if (call->narg != 2) {
    snprintf(reason, size,
             "sensor '%s' measures a frame: sensor(%s, x) with one of x y z vx vy vz wx wy wz rxx ... rzz",
             sensor->name, sensor->name);
    return SR_NO_NODE;
  }
  const char* word = call->raw[1];
  int k = sensor_component(word);
  if (k < 0) {
    bool acceleration = word[0] == 'a' && word[1] && !word[2];
    if (acceleration && c->records_open) {
      snprintf(reason, size, "'%s' of a sensor is an acceleration: write record(%s.%s)", word, sensor->name, word);
    } else if (acceleration) {
      snprintf(reason, size, "'%s' of a sensor is an acceleration: in a law it would make an algebraic loop", word);
    } else {
      snprintf(reason, size, "unknown component '%s'; expected one of x y z vx vy vz wx wy wz rxx rxy ... rzz", word);
    }
    return SR_NO_NODE;
  }
  if (sensor->value < 0) {
    sensor->value = c->m->nsensor_value;
    c->m->nsensor_value += SR_SENSOR_SCALARS;
  }
  return sr_graph_var(graph, SR_VAR_SENSOR, sensor->value + k);
}

// sensor(name) of a formula is that formula; sensor(name, x) of a frame is one of its scalars.
static srNode resolve_sensor(srCompiler* c, srGraph* graph, const srCall* call, char* reason, size_t size) {
  if (call->narg < 1) {
    snprintf(reason, size, "sensor(name) or sensor(name, x) is expected");
    return SR_NO_NODE;
  }
  const int index = sr_names_find(&c->sensors, call->raw[0]);
  if (is_follower(c, &c->sensors, call->raw[0])) return follower(c, graph);
  if (index < 0) {
    snprintf(reason, size, "unknown sensor '%s' (a formula may use sensors defined before it)", call->raw[0]);
    return SR_NO_NODE;
  }
  srSensor* sensor = (srSensor*)&c->m->sensor[index];
  if (sensor->point >= 0) return resolve_frame_sensor(c, graph, sensor, call, reason, size);
  if (call->narg != 1) {
    snprintf(reason, size, "sensor '%s' is a formula: sensor(%s)", sensor->name, sensor->name);
  } else if (sensor->late < 0) {
    return c->roots[sensor->formula];
  } else if (c->records_open) {
    return c->late[sensor->late];
  } else {
    snprintf(reason, size,
             "sensor '%s' uses record(): it is known after the accelerations, and no law may depend on it",
             sensor->name);
  }
  return SR_NO_NODE;
}

// record(NAME): a quantity that a run can record, by the name of its column.
static srNode resolve_record(srCompiler* c, const srCall* call, char* reason, size_t size) {
  if (!c->records_open) {
    snprintf(reason, size,
             "record() is known after the accelerations: the formula of a sensor may use it, a law would make an "
             "algebraic loop");
  } else if (call->narg != 1) {
    snprintf(reason, size, "record(NAME) with the name of a column is expected, such as record(reaction(crankpin).fx)");
  } else {
    return sr_c_record(c, call->raw[0]);
  }
  return SR_NO_NODE;
}

// a(joint): there is no such call, and nothing else has the name.
static srNode refuse_acceleration(const srCompiler* c, const srCall* call, char* reason, size_t size) {
  if (c->records_open)
    snprintf(reason, size, "accelerations are known last: write record(a.%.60s)",
             call->narg == 1 ? call->raw[0] : "NAME");
  else
    snprintf(
        reason, size,
        "an acceleration in a law or rate makes an algebraic loop: inertia against it is <inerter> or 'armature' of "
        "a joint; the rate c*a(x) + r is that of s = y - c*v(x), s' = r");
  return SR_NO_NODE;
}

static srNode resolve_call(void* user, srGraph* graph, const srCall* call, char* reason, size_t size) {
  srCompiler* c = user;
  if (strcmp(call->name, "a") == 0 && call->raw) return refuse_acceleration(c, call, reason, size);
  if (!sr_c_is_raw_call(call->name)) return is_lost(c, call->name) ? follower(c, graph) : SR_NO_NODE;
  if (!c->laws_open) {
    snprintf(reason, size, "%s() may be used in laws only: this number is fixed when the model is compiled",
             call->name);
    return SR_NO_NODE;
  }
  if (strcmp(call->name, "inertia") == 0) return resolve_inertia(c, graph, call, reason, size);
  if (strcmp(call->name, "sensor") == 0) return resolve_sensor(c, graph, call, reason, size);
  if (strcmp(call->name, "record") == 0) return resolve_record(c, call, reason, size);
  return resolve_coordinate(c, graph, call, reason, size);
}

static srNode parse(srCompiler* c, const char* text, srPlace place) {
  const bool is_function = sr_names_find(&c->functions, "a") >= 0 || is_lost(c, "a");
  srResolver resolver = {.user = c,
                         .raw_calls = is_function ? raw_calls : raw_calls_and_a,
                         .name = resolve_name,
                         .call = resolve_call,
                         .known = c->known,
                         .nknown = c->nknown};
  c->formula_place = place;
  return sr_parse(c->graph, text, &resolver, place, c->messages);
}

// "3", "3|6", "1-3", "4-"
static bool count_allowed(const char* count, int n) {
  for (const char* p = count; *p;) {
    char* end;
    int low = (int)strtol(p, &end, 10), high = low;
    if (*end == '-') {
      high = end[1] >= '0' && end[1] <= '9' ? (int)strtol(end + 1, &end, 10) : 1 << 30;
      if (*end == '-') end++;
    }
    if (n >= low && n <= high) return true;
    p = *end == '|' ? end + 1 : end + strlen(end);
  }
  return false;
}

// "3", "3 or 6", "6, 21 or 36", "1 to 3", "4 or more"
static const char* count_text(const char* count, char out[32]) {
  const char *bar = strchr(count, '|'), *last = strrchr(count, '|'), *dash = strchr(count, '-');
  if (bar && bar != last) {
    snprintf(out, 32, "%.*s, %.*s or %s", (int)(bar - count), count, (int)(last - bar - 1), bar + 1, last + 1);
  } else if (bar) {
    snprintf(out, 32, "%.*s or %s", (int)(bar - count), count, bar + 1);
  } else if (dash) {
    snprintf(out, 32, "%.*s %s %s", (int)(dash - count), count, dash[1] ? "to" : "or", dash[1] ? dash + 1 : "more");
  } else {
    return count;
  }
  return out;
}

// "30 deg" would be two values: a unit on its own behind another value is reported.
static bool is_lone_unit(srCompiler* c, const srListItem* items, int n) {
  double unit;
  for (int k = 1; k < n; k++) {
    const char* word = items[k].text;
    if (!word || !sr_unit(word, &unit) || sr_names_find(&c->parameters, word) >= 0) continue;
    if (sr_names_find(&c->states, word) >= 0) continue;
    sr_c_error(c, items[k].place, "the unit '%s' is a factor: write %.60s*%s", word, items[k - 1].text, word);
    return true;
  }
  return false;
}

// The items of an attribute, or of its default; -1 after an error.
static int items_of(srCompiler* c, srElementKind kind, int i, int field, int max, srListItem** items) {
  const srField* f = field_of(kind, field);
  srAttr attr = *sr_c_attr(c, kind, i, field);
  if (!sr_given(attr)) {
    if (f->default_text[0] == '\0') return 0;
    attr.text = sr_c_text(c, kind, i, field);
    if (!attr.text) return -1;
    attr.place = srs_place(c->spec, kind, i);
  }
  int n = 0;
  if (strcmp(f->count, "1") == 0 && attr.text) {  // a single formula may contain blanks
    srListItem* item = sr_pool_alloc(&c->scratch, sizeof *item);
    *item = (srListItem){.text = attr.text, .place = attr.place};
    *items = item;
    n = 1;
  } else {
    n = sr_split_list(&c->scratch, &attr, items);
    if (is_lone_unit(c, *items, n)) return -1;
  }
  if (!count_allowed(f->count, n) || n > max) {
    char count[32];
    const char* wanted = count_text(f->count, count);
    if (count_allowed(f->count, n)) wanted = sr_pool_printf(&c->scratch, "%d", max);  // more than this element can have
    sr_c_error(c, sr_c_place(c, kind, i, field), "'%s' of <%s> takes %s value%s, got %d", f->word,
               srs_element(kind)->word, wanted, strcmp(wanted, "1") == 0 ? "" : "s", n);
    return -1;
  }
  return n;
}

static bool number_of(srCompiler* c, const srListItem* item, const char* word, double* out) {
  if (!item->text) {
    *out = item->number;
  } else {
    const int followers = c->nfollower;
    srNode node = parse(c, item->text, item->place);
    if (node == SR_NO_NODE || c->nfollower > followers) return false;
    if (!sr_graph_constant(c->graph, node, out)) {
      sr_c_error(c, item->place, "'%s' must be a number or a formula of parameters", word);
      return false;
    }
  }
  if (isfinite(*out)) return true;
  sr_c_error(c, item->place, "'%s' is not a finite number: '%s'", word, item->text ? item->text : "nan or inf");
  return false;
}

int sr_c_numbers(srCompiler* c, srElementKind kind, int i, int field, double* out, int max) {
  srListItem* items = NULL;
  int n = items_of(c, kind, i, field, max, &items);
  bool ok = true;
  for (int k = 0; k < n; k++) ok &= number_of(c, &items[k], field_of(kind, field)->word, &out[k]);
  return ok ? n : -1;
}

bool sr_c_number(srCompiler* c, srElementKind kind, int i, int field, double* out) {
  return sr_c_numbers(c, kind, i, field, out, 1) == 1;
}

srNode sr_c_law_text(srCompiler* c, const char* text, srPlace place) {
  const int followers = c->nfollower;
  c->laws_open = true;
  const srNode node = parse(c, text, place);
  c->laws_open = false;
  return c->nfollower > followers ? SR_NO_NODE : node;
}

srNode sr_c_surface_law(srCompiler* c, int shape, int field) {
  srListItem* item = NULL;
  const int n = items_of(c, SR_ELEMENT_SHAPE, shape, field, 1, &item), followers = c->nfollower;
  if (n == 0)
    sr_c_error(c, srs_place(c->spec, SR_ELEMENT_SHAPE, shape), "a surface needs the formula '%s' of u and v",
               field_of(SR_ELEMENT_SHAPE, field)->word);
  if (n != 1) return SR_NO_NODE;
  c->surface_open = true;
  const srNode node = item->text ? parse(c, item->text, item->place) : sr_graph_const(c->graph, item->number);
  c->surface_open = false;
  return c->nfollower > followers ? SR_NO_NODE : node;
}

int sr_c_laws(srCompiler* c, srElementKind kind, int i, int field, srNode* out, int max) {
  srListItem* items = NULL;
  int n = items_of(c, kind, i, field, max, &items);
  const int followers = c->nfollower;
  bool ok = true;
  c->laws_open = true;
  for (int k = 0; k < n; k++) {
    out[k] = items[k].text ? parse(c, items[k].text, items[k].place) : sr_graph_const(c->graph, items[k].number);
    ok &= out[k] != SR_NO_NODE;
  }
  c->laws_open = false;
  return ok && c->nfollower == followers ? n : -1;
}

// --------------------------------------------------------------------------------------------------------- poses
static bool unit_quaternion(srCompiler* c, srPlace place, double quaternion[4]) {
  double norm = sqrt(quaternion[0] * quaternion[0] + srm_dot3(quaternion + 1, quaternion + 1));
  if (norm < 1e-12) {
    sr_c_error(c, place, "the quaternion 'rot' is zero");
    return false;
  }
  for (int k = 0; k < 4; k++) quaternion[k] /= norm;
  return true;
}

bool sr_c_pose(srCompiler* c, srElementKind kind, int i, int at, int rot, int rpy, double pose[16]) {
  srm_pose_identity(pose);
  if (at >= 0 && sr_c_numbers(c, kind, i, at, pose + 12, 3) < 0) return false;
  double quaternion[4], angles[3];
  int nrot = sr_c_numbers(c, kind, i, rot, quaternion, 4), nrpy = sr_c_numbers(c, kind, i, rpy, angles, 3);
  if (nrot < 0 || nrpy < 0) return false;
  if (nrot > 0 && nrpy > 0) {
    sr_c_error(c, sr_c_place(c, kind, i, rpy), "give 'rot' or 'rpy', not both");
    return false;
  }
  if (nrot > 0) {
    if (!unit_quaternion(c, sr_c_place(c, kind, i, rot), quaternion)) return false;
    srm_pose_from_quaternion(quaternion, pose);
  }
  if (nrpy > 0) srm_pose_from_rpy(angles, pose);
  return true;
}

// --------------------------------------------------------------------------------------------------- parameters
void sr_compile_parameters(srCompiler* c) {
  for (int i = 0; i < srs_count(c->spec, SR_ELEMENT_PARAMETER); i++) {
    const char* name = sr_c_text(c, SR_ELEMENT_PARAMETER, i, SR_FIELD(srParameterDef, name));
    srPlace place = sr_c_place(c, SR_ELEMENT_PARAMETER, i, SR_FIELD(srParameterDef, name));
    double value = 0;
    if (!name) continue;
    if (!sr_c_number(c, SR_ELEMENT_PARAMETER, i, SR_FIELD(srParameterDef, value), &value)) {
      sr_c_lose(c, name);
      continue;
    }
    srNode node = sr_graph_param(c->graph, name, value);
    if (sr_c_new_name(c, &c->parameters, name, node, "parameter", place)) sr_c_know(c, name);
  }
}
