// MJCF's <actuator>: its control is a parameter ctrl_NAME, or a motion of that name, its force a law on the joint, the joints of a fixed tendon, or
// a site. Source: MuJoCo's XML reference, "actuator", and its computation page, "Actuation model".
//
//   u = ctrl clamped to ctrlrange           w = u, or the activation: w' = u (integrator), w' = (u - w)/dynprm0 (filter)
//   F = (g0 + g1 l + g2 l') w + b0 + b1 l + b2 l', clamped to forcerange        l = gear q, the force on q is gear F
//   gains g and biases b of each word: gain.c
#include <math.h>
#include <string.h>

#include "io/mjcf/drive.h"
#include "io/mjcf/words.h"

typedef enum Dynamics { NONE, INTEGRATOR, FILTER, FILTER_EXACT } Dynamics;
typedef srMjcfDrive Drive;

// ------------------------------------------------------------------------------------------------------------- words
static const struct Kind {
  const char* word;
  const char* used;
  const char* ignored;
} kinds[] = {
    {"general", "actlimited|actrange|dyntype|gaintype|biastype|dynprm|gainprm|biasprm|inheritrange",
     "actdim|actearly|velrange|ffrange|input"},
    {"motor", "", ""},
    {"position", "kp|kv|dampratio|timeconst|inheritrange", ""},
    {"velocity", "kv", ""},
    {"intvelocity", "kp|kv|dampratio|inheritrange|actlimited|actrange", ""},
    {"damper", "kv", ""},
    {"cylinder", "timeconst|area|diameter|bias", ""},
};

static const struct Kind* kind_of(const char* word) {
  for (int i = 0; i < SR_COUNT(kinds); i++)
    if (strcmp(kinds[i].word, word) == 0) return &kinds[i];
  return NULL;
}

static bool is(const Drive* d, const char* word) { return strcmp(d->node->name, word) == 0; }

static void check_words(Drive* d, const struct Kind* kind) {
  srMjcf* m = d->m;
  const char* used = sr_pool_printf(
      &m->r->pool, "ctrllimited|forcelimited|ctrlrange|forcerange|gear|damping|armature|" SR_MJCF_TRANSMISSION "%s%s",
      *kind->used ? "|" : "", kind->used);
  const char* ignored = sr_pool_printf(&m->r->pool, "group|lengthrange|cranklength|user|delay|nsample|interp%s%s",
                                       *kind->ignored ? "|" : "", kind->ignored);
  sr_mjcf_check_attributes(m, d->node, used, ignored);
}

// ----------------------------------------------------------------------------------------------------------- numbers
static bool number(Drive* d, const char* name, double value, double* out) {
  return sr_mjcf_number(d->m, d->node, NULL, name, value, out);
}

// Up to three of an array that may be longer.
static bool three(Drive* d, const char* name, double out[3]) {
  double all[10] = {out[0], out[1], out[2]};
  if (sr_mjcf_numbers(d->m, d->node, NULL, name, 1, 10, all) < 0) return false;
  memcpy(out, all, 3 * sizeof *out);
  return true;
}

// Which word; -1: an unknown one, which is reported.
static int word_of(Drive* d, const char* name, const char* value, const char* const* words, int n) {
  const int i = sr_word_index(words, n, value);
  if (i < 0) sr_reader_ignore(d->m->r, d->node->place, "<%s> with %s=\"%s\"", d->node->name, name, value);
  return i;
}

static bool read_numbers(Drive* d) {
  static const char* const dynamics[] = {"none", "integrator", "filter", "filterexact"};
  static const char* const gains[] = {"fixed", "affine"};
  static const char* const biases[] = {"none", "affine"};
  srMjcfGain g;
  if (!sr_mjcf_gain(d->m, d->node, &g)) return false;
  const int dynamic = word_of(d, "dyntype", g.dyntype, dynamics, 4);
  const int gain = word_of(d, "gaintype", g.gaintype, gains, 2), bias = word_of(d, "biastype", g.biastype, biases, 2);
  if (dynamic < 0 || gain < 0 || bias < 0) return false;
  d->dynamics = dynamic;
  d->time = g.time;
  memcpy(d->gain, g.gain, gain == 0 ? sizeof *g.gain : sizeof g.gain);
  if (bias == 1) memcpy(d->bias, g.bias, sizeof g.bias);
  if (bias == 1 && gain == 0 && d->bias[2] > 0 && d->gain[0] == -d->bias[1]) {  // MuJoCo takes it for a damping ratio
    d->ratio = d->bias[2];
    d->bias[2] = 0;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------------ feedback
// A damping ratio is one of 2 sqrt(kp m), with the inertia m of what the actuator moves.
static void find_damping(Drive* d) {
  const char* inertia = d->ratio == 0 ? NULL : sr_mjcf_drive_inertia(d);
  if (d->ratio == 0) return;
  if (!inertia || !(d->gain[0] >= 0)) {
    sr_reader_ignore(d->m->r, d->node->place,
                     "'dampratio' of <%s> on a ball or free joint, a site, or with a negative gain,", d->node->name);
    return;
  }
  srPool* pool = &d->m->r->pool;
  d->damping = sr_pool_printf(pool, "sqrt(%s*%s)*%s", sr_mjcf_literal(pool, d->gain[0]), inertia, d->out.rate);
  d->bias[2] = -2 * d->ratio;
}

// False: it needs a length or a rate that cannot be expressed, or turns a ball joint observed from its parent.
static bool can_feed_back(Drive* d) {
  const srMjcf* m = d->m;
  const bool by_length = d->gain[1] != 0 || d->bias[1] != 0, by_rate = d->gain[2] != 0 || d->bias[2] != 0;
  const bool ball = d->joint >= 0 && m->joint[d->joint].type == SR_MJCF_BALL;
  if ((by_length && !d->out.length) || (by_rate && !d->out.rate) || (ball && d->in_parent)) {
    sr_reader_ignore(m->r, d->node->place, "<%s> on a %s%s", d->node->name,
                     d->site >= 0 ? "site"
                     : ball       ? "ball joint"
                                  : "free joint",
                     ball && d->in_parent ? " by 'jointinparent'" : ", with feedback");
    return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------------- force
// The range of the joint around its middle, for a servo: inheritrange.
static int inherited(Drive* d, double out[2]) {
  double scale;
  if (!(is(d, "general") || is(d, "position") || is(d, "intvelocity"))) return 0;
  if (!number(d, "inheritrange", 0, &scale) || scale == 0) return 0;
  const double* range = d->joint >= 0 ? d->m->joint[d->joint].range : NULL;
  if (!range || !(range[0] < range[1])) {
    sr_reader_ignore(d->m->r, d->node->place, "'inheritrange' of <%s> without a joint that has a range", d->node->name);
    return 0;
  }
  const double middle = 0.5 * (range[0] + range[1]), half = 0.5 * (range[1] - range[0]) * scale;
  out[0] = middle - half, out[1] = middle + half;
  return 1;
}

// Clamps a text to a range where it is limited. NULL after an error.
static const char* clamped(Drive* d, const char* flag, const char* range, const double* other, const char* text) {
  double limits[2];
  const int limited = sr_mjcf_limits(d->m, d->node, flag, range, limits);
  if (limited < 0) return NULL;
  if (limited == 0 && !other) return text;
  return sr_mjcf_clamped(&d->m->r->pool, limited ? limits : other, text);
}

// The activation is constant at an end of its range while its rate would lead beyond it.
static const char* held(Drive* d, const char* act, const char* rate, const double range[2]) {
  srPool* pool = &d->m->r->pool;
  return sr_pool_printf(pool, "if(max((%s >= %s)*(%s > 0), (%s <= %s)*(%s < 0)), 0, %s)", act,
                        sr_mjcf_literal(pool, range[1]), rate, act, sr_mjcf_literal(pool, range[0]), rate, rate);
}

// The activation: a <state>. Its name, or NULL after an error.
static const char* add_state(Drive* d, const char* label, const char* u, const double* other) {
  srMjcf* m = d->m;
  double range[2];
  const srPlace place = d->node->place;
  if (d->dynamics != INTEGRATOR && !(d->time > 0)) {
    sr_mjcf_error(m, place, "the time constant of <%s> must be positive, got %g", d->node->name, d->time);
    return NULL;
  }
  int limited = sr_mjcf_limits(m, d->node, "actlimited", "actrange", range);
  if (limited < 0) return NULL;
  if (limited == 0 && other) memcpy(range, other, sizeof range), limited = 1;
  const char* act = sr_mjcf_identifier(m, "act_", label);
  const char* rate = u;
  if (d->dynamics != INTEGRATOR)
    rate = sr_pool_printf(&m->r->pool, "(%s - %s)/%s", u, act, sr_mjcf_literal(&m->r->pool, d->time));
  if (limited) rate = held(d, act, rate, range);
  const srStateDef def = {.name = {.text = act, .place = place}, .rate = {.text = rate, .place = place}};
  d->out.state = sr_reader_add(m->r, SR_ELEMENT_STATE, SR_NO_OWNER, &def, place);
  return act;
}

static const char* force_of(Drive* d, const char* w) {
  srMjcf* m = d->m;
  srMjcfText text = {.pool = &m->r->pool}, gain = text;
  if (d->gain[1] == 0 && d->gain[2] == 0) {
    sr_mjcf_write_term(&text, d->gain[0], w);
  } else {
    sr_mjcf_write(&gain, "(");
    if (d->gain[0] != 0) sr_mjcf_write(&gain, sr_mjcf_literal(gain.pool, d->gain[0]));
    sr_mjcf_write_term(&gain, d->gain[1], d->out.length);
    sr_mjcf_write_term(&gain, d->gain[2], d->out.rate);
    sr_mjcf_write_term(&text, 1, sr_pool_printf(text.pool, "%s)*%s", sr_mjcf_written(&gain), w));
  }
  if (d->bias[0] != 0) sr_mjcf_write_term(&text, 1, sr_mjcf_literal(text.pool, d->bias[0]));
  sr_mjcf_write_term(&text, d->bias[1], d->out.length ? d->out.length : "0");
  sr_mjcf_write_term(&text, d->bias[2], d->damping ? d->damping : d->out.rate ? d->out.rate : "0");
  sr_mjcf_charge(m, (size_t)text.n, 4);
  return clamped(d, "forcelimited", "forcerange", NULL, sr_mjcf_written(&text));
}

// The control as a formula: a parameter, or the <motion> of that name that the model around this file has given before it.
static const char* control_of(Drive* d, const char* label) {
  srMjcf* m = d->m;
  const char* name = sr_mjcf_identifier(m, "ctrl_", label);
  for (int i = 0; i < srs_count(m->r->spec, SR_ELEMENT_MOTION); i++) {
    const srMotionDef* motion = srs_get(m->r->spec, SR_ELEMENT_MOTION, i);
    if (!motion->name.text || strcmp(motion->name.text, name) != 0) continue;
    d->out.control = name;
    return sr_pool_printf(&m->r->pool, "%s(t)", name);
  }
  d->out.control = sr_reader_parameter(m->r, name, 0, d->node->place);
  d->out.parameter = srs_count(m->r->spec, SR_ELEMENT_PARAMETER) - 1;
  return d->out.control;
}

// Control, activation and force as formulas. False after an error.
static bool make_force(Drive* d) {
  srMjcf* m = d->m;
  double range[2];
  const char* label = d->out.word ? d->out.word : sr_pool_printf(&m->r->pool, "%d", m->nactuator);
  const bool inherits = inherited(d, range) == 1;
  const char* u = control_of(d, label);
  const double* other = inherits && d->dynamics != INTEGRATOR ? range : NULL;
  if (d->clamps) u = clamped(d, "ctrllimited", "ctrlrange", other, u);
  if (!u) return false;
  const double* held_range = inherits && d->dynamics == INTEGRATOR ? range : NULL;
  const char* w = d->dynamics == NONE ? u : add_state(d, label, u, held_range);
  d->out.force = w ? force_of(d, w) : NULL;
  return d->out.force != NULL;
}

// ---------------------------------------------------------------------------------------------------- the drive itself
// Damping of the drive itself, acting on its target through the gear.
static void add_damping(Drive* d) {
  srMjcf* m = d->m;
  double damping[3] = {0};
  const double g = d->gear[0] * d->gear[0];
  if (!three(d, "damping", damping)) return;
  if (damping[1] != 0 || damping[2] != 0)
    sr_reader_ignore(m->r, d->node->place, "the second and third number of 'damping' of <%s>", d->node->name);
  if (damping[0] == 0 || !m->with_dampers) return;
  if (d->joint >= 0 && sr_mjcf_is_scalar(m, d->joint))
    sr_mjcf_add_torque(m, d->joint, 0, -g * damping[0], sr_mjcf_coordinate(m, d->joint, true), d->name, d->node->place);
  else if (d->tendon >= 0)
    sr_mjcf_pull(m, &m->tendon[d->tendon], -g * damping[0], sr_mjcf_tendon_text(m, &m->tendon[d->tendon], true),
                 d->name, d->node->place);
  else
    sr_reader_ignore(m->r, d->node->place, "'damping' of <%s> on a ball or free joint or a site", d->node->name);
}

// Inertia of the drive itself, before all else: damping ratios count it.
static void add_armature(srMjcf* m, const srXmlNode* node) {
  Drive d = {.m = m, .node = node};
  double armature = 0, gear[6] = {1};
  const srXmlAttribute* a = sr_mjcf_attribute(m, node, NULL, "armature");
  if (!a || !kind_of(node->name) || sr_reader_numbers(m->r, a, 1, 1, &armature) != 1 || armature == 0) return;
  if (sr_mjcf_numbers(m, node, NULL, "gear", 1, 6, gear) < 0) return;
  const srXmlAttribute* name = sr_xml_attribute(node, "joint");
  if (!name) name = sr_xml_attribute(node, "jointinparent");
  d.joint = name ? sr_names_find(&m->joint_names, name->value) : -1;
  if (armature < 0) {
    sr_mjcf_error(m, a->place, "'armature' must not be negative, got %g", armature);
  } else if (d.joint >= 0 && sr_mjcf_is_scalar(m, d.joint)) {
    const srJointDef* def = srs_get(m->r->spec, SR_ELEMENT_JOINT, m->joint[d.joint].index);
    sr_mjcf_set_joint(m, d.joint, SR_MJCF_FIELD(srJointDef, armature),
                      def->armature.number + gear[0] * gear[0] * armature, node->place);
  } else {
    sr_reader_ignore(m->r, node->place, "'armature' of <%s> on something else than a hinge or slide", node->name);
  }
}

static void read_drive(Drive* d) {
  srMjcf* m = d->m;
  const struct Kind* kind = kind_of(d->node->name);
  if (!kind) {
    sr_mjcf_other_element(m, d->node, "general|motor|position|velocity|intvelocity|damper|cylinder", SR_MJCF_ACTUATORS);
    return;
  }
  check_words(d, kind);
  const bool read = read_numbers(d), found = sr_mjcf_drive_target(d);
  if (!read || !found || !sr_mjcf_drive_way(d)) return;
  find_damping(d);
  if (!can_feed_back(d) || !make_force(d)) return;
  d->name = d->out.word ? sr_reader_name(m->r, d->out.word, NULL) : NULL;
  sr_mjcf_drive_work(d);
  add_damping(d);
}

static void read_actuator(const Drive* like, const srXmlNode* node, bool is_disabled) {
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  srMjcf* m = like->m;
  Drive d = *like;
  d.node = node;
  d.out = (srMjcfActuator){.word = name && *name->value ? name->value : NULL, .parameter = -1, .state = -1};
  if (d.out.word && !sr_names_put(&m->actuator_names, d.out.word, m->nactuator))
    sr_mjcf_error(m, name->place, "there is an actuator '%.60s' already", d.out.word);
  if (!is_disabled) read_drive(&d);
  if (!d.out.control) {  // its control may be set all the same
    const char* label = d.out.word ? d.out.word : sr_pool_printf(&m->r->pool, "%d", m->nactuator);
    sr_reader_parameter(m->r, sr_mjcf_identifier(m, "ctrl_", label), 0, node->place);
  }
  SR_PUSH(&m->r->pool, m->actuator, m->nactuator, m->actuator_capacity) = d.out;
}

// ------------------------------------------------------------------------------------------------------------- entry
static srMjcfForceSum* start_sums(srMjcf* m) {
  srMjcfForceSum* sum = sr_pool_alloc(&m->r->pool, (size_t)(m->njoint + 1) * sizeof *sum);
  for (int i = 0; i < m->njoint; i++) {
    const srMjcfJoint* j = &m->joint[i];
    sum[i].text.pool = &m->r->pool;
    if (!sr_mjcf_is_scalar(m, i) || strcmp(j->node->name, "joint") != 0) continue;
    const srXmlAttribute* flag = sr_mjcf_attribute(m, j->node, j->childclass, "actuatorfrclimited");
    if (flag && strcmp(flag->value, "false") == 0) continue;
    double* range = sum[i].range;
    sum[i].clamped = sr_mjcf_numbers(m, j->node, j->childclass, "actuatorfrcrange", 2, 2, range) == 2 &&
                     (range[0] != 0 || range[1] != 0);
    if (sum[i].clamped && range[0] >= range[1])
      sr_mjcf_error(m, j->place, "'actuatorfrcrange' goes from a smaller to a larger number, not from %g to %g",
                    range[0], range[1]);
  }
  return sum;
}

static void put_sums(srMjcf* m, srMjcfForceSum* sum) {
  for (int i = 0; i < m->njoint; i++) {
    srMjcfForceSum* s = &sum[i];
    if (s->text.n == 0) continue;
    const char* law = sr_mjcf_clamped(&m->r->pool, s->range, sr_mjcf_written(&s->text));
    if (!sr_mjcf_add_torque(m, i, 0, 1, law, NULL, s->place)) return;
  }
}

// All sections at the first of them: a joint's actuatorfrcrange clamps the sum of all its actuators, those of tendons too.
void sr_mjcf_actuators(srMjcf* m, const srXmlNode* section) {
  if (m->nactuator > 0) return;
  Drive like = {.m = m, .joint = -1, .tendon = -1, .site = -1, .sum = start_sums(m)};
  like.clamps = !sr_mjcf_is_disabled(m, "clampctrl");
  const bool is_disabled = sr_mjcf_is_disabled(m, "actuation");
  for (const srXmlNode* s = section; s; s = s->next)
    for (const srXmlNode* node = strcmp(s->name, "actuator") == 0 ? s->first : NULL; node; node = node->next)
      if (!m->r->stopped) add_armature(m, node);
  for (const srXmlNode* s = section; s; s = s->next) {
    if (strcmp(s->name, "actuator") != 0) continue;
    for (const srXmlNode* node = s->first; node && !sr_reader_is_over(m->r, node->place); node = node->next)
      read_actuator(&like, node, is_disabled);
  }
  put_sums(m, like.sum);
}
