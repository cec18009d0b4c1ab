// MJCF's <actuator>: its control is a parameter ctrl_NAME, its force a law on the joint, the joints of a fixed tendon, or
// a site. Source: MuJoCo's XML reference, "actuator", and its computation page, "Actuation model".
//
//   u = ctrl clamped to ctrlrange           w = u, or the activation: w' = u (integrator), w' = (u - w)/dynprm0 (filter)
//   F = (g0 + g1 l + g2 l') w + b0 + b1 l + b2 l', clamped to forcerange        l = gear q, the force on q is gear F
//   gains g and biases b of each word: mjcf_gain.c
#include <math.h>
#include <string.h>

#include "io/mjcf_law.h"
#include "io/mjcf_words.h"
#include "math/pose.h"

#define TRANSMISSION "joint|jointinparent|tendon|site|body|cranksite|slidersite|refsite"

typedef enum Dynamics { NONE, INTEGRATOR, FILTER, FILTER_EXACT } Dynamics;

typedef struct Drive {
  srMjcf* m;
  const srXmlNode* node;
  const char* name;  // for reports
  Dynamics dynamics;
  double gain[3], bias[3], time;
  double ratio;  // of damping, 0: none
  double gear[6];
  int joint, tendon, site;  // one of them; -1: not this
  bool clamps;              // controls are kept within their range
  bool in_parent;           // the turning part of the gear is seen from the parent
  srMjcfActuator out;
} Drive;

// Forces on joints whose sum is clamped: actuatorfrcrange.
typedef struct Sum {
  srMjcfText text;
  double range[2];
  bool clamped;
  srPlace place;
} Sum;

typedef struct Sums {
  Sum* joint;              // one a joint
  bool disabled, clamped;  // by the flags actuation and clampctrl
} Sums;

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
      &m->r->pool, "ctrllimited|forcelimited|ctrlrange|forcerange|gear|damping|armature|" TRANSMISSION "%s%s",
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

// Which word; -1: one that is not understood, which is said.
static int word_of(Drive* d, const char* name, const char* value, const char* const* words, int n) {
  for (int i = 0; i < n; i++)
    if (strcmp(value, words[i]) == 0) return i;
  sr_reader_ignore(d->m->r, d->node->place, "<%s> with %s=\"%s\"", d->node->name, name, value);
  return -1;
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
  d->dynamics = (Dynamics)dynamic;
  d->time = g.time;
  memcpy(d->gain, g.gain, gain == 0 ? sizeof *g.gain : sizeof g.gain);
  if (bias == 1) memcpy(d->bias, g.bias, sizeof g.bias);
  if (bias == 1 && gain == 0 && d->bias[2] > 0 && d->gain[0] == -d->bias[1]) {  // MuJoCo takes it for a damping ratio
    d->ratio = d->bias[2];
    d->bias[2] = 0;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------------ transmission
// The one attribute that says what the actuator works on. NULL after an error.
static const char* target_word(Drive* d) {
  static const char* const all[] = {"joint", "jointinparent", "tendon", "site", "body", "cranksite"};
  const char* given = NULL;
  for (int i = 0; i < SR_COUNT(all); i++) {
    if (!sr_xml_attribute(d->node, all[i])) continue;
    if (given) {
      sr_mjcf_error(d->m, d->node->place, "<%s> has '%s' and '%s', but works on one thing", d->node->name, given,
                    all[i]);
      return NULL;
    }
    given = all[i];
  }
  if (!given)
    sr_mjcf_error(d->m, d->node->place, "<%s> works on nothing: it needs 'joint', 'tendon' or 'site'", d->node->name);
  return given;
}

static bool find_target(Drive* d) {
  srMjcf* m = d->m;
  const char* word = target_word(d);
  if (!word) return false;
  if (strcmp(word, "joint") == 0 || strcmp(word, "jointinparent") == 0) {
    d->joint = sr_mjcf_find(m, d->node, word, &m->joint_names, "joint");
    d->in_parent = strcmp(word, "jointinparent") == 0;
    return d->joint >= 0;
  }
  if (strcmp(word, "tendon") == 0) {
    d->tendon = sr_mjcf_find(m, d->node, word, &m->tendon_names, "tendon");
    if (d->tendon >= 0 && m->tendon[d->tendon].n > 0) return true;
    if (d->tendon >= 0) sr_reader_ignore(m->r, d->node->place, "<%s> on a spatial tendon", d->node->name);
    return false;
  }
  const bool site = strcmp(word, "site") == 0;
  if (site && !sr_xml_attribute(d->node, "refsite")) {
    d->site = sr_mjcf_find(m, d->node, word, &m->site_names, "site");
    return d->site >= 0;
  }
  sr_reader_ignore(m->r, d->node->place, "<%s> with '%s'", d->node->name, site ? "refsite" : word);
  return false;
}

// Length and its rate as formulas; NULL where they cannot be said.
static void scalar_way(Drive* d, const char* q, const char* v) {
  srMjcfText length = {.pool = &d->m->r->pool}, rate = length;
  sr_mjcf_write_term(&length, d->gear[0], q);
  sr_mjcf_write_term(&rate, d->gear[0], v);
  d->out.length = sr_mjcf_written(&length);
  d->out.rate = sr_mjcf_written(&rate);
}

static bool is_zero(const double x[3]) { return x[0] == 0 && x[1] == 0 && x[2] == 0; }

// A ball or free joint, or a site: a force and a moment. Free joints and sites have no length.
static void turning_way(Drive* d) {
  const srMjcfJoint* j = d->joint >= 0 ? &d->m->joint[d->joint] : NULL;
  const bool ball = j && j->type == SR_MJCF_BALL;
  const double* turn = ball ? d->gear : d->gear + 3;
  d->out.length = ball ? NULL : "0";
  if (!j || d->in_parent || (!ball && !is_zero(d->gear))) return;
  srMjcfText rate = {.pool = &d->m->r->pool};
  for (int k = 0; k < 3; k++)
    sr_mjcf_write_term(&rate, turn[k], sr_pool_printf(&d->m->r->pool, "v(%s, %d)", j->name, k));
  d->out.rate = sr_mjcf_written(&rate);
}

// What MuJoCo takes for the inertia along a tendon: the sum of M_jj/c_j^2 over its joints, c_j all that is coef of joint j.
static double inertia_along(srMjcf* m, const srMjcfTendon* t) {
  double sum = 0;
  for (int i = 0; i < t->n; i++) {
    double coef = 0;
    bool first = true;
    for (int k = 0; k < t->n; k++) {
      if (t->joint[k] == t->joint[i]) coef += t->coef[k];
      first = first && (k >= i || t->joint[k] != t->joint[i]);
    }
    if (first && coef != 0) sum += sr_mjcf_carried(m, t->joint[i]) / (coef * coef);
  }
  return sum;
}

// A damping ratio is one of 2 sqrt(kp m), with the inertia m of the joints that the actuator moves, at qpos0.
static void find_damping(Drive* d) {
  srMjcf* m = d->m;
  double inertia = (double)NAN;
  if (d->ratio == 0) return;
  if (d->tendon >= 0)
    inertia = inertia_along(m, &m->tendon[d->tendon]);
  else if (d->joint >= 0 && sr_mjcf_is_scalar(m, d->joint))
    inertia = sr_mjcf_carried(m, d->joint);
  const double damping = 2 * d->ratio * sqrt(d->gain[0] * inertia) / fabs(d->gear[0]);
  if (isfinite(damping))
    d->bias[2] = -damping;
  else
    sr_reader_ignore(m->r, d->node->place,
                     "'dampratio' of <%s> on a ball or free joint, a site, or bodies without inertia,", d->node->name);
}

static bool find_way(Drive* d) {
  srMjcf* m = d->m;
  const double one[6] = {1, 0, 0, 0, 0, 0};
  memcpy(d->gear, one, sizeof one);
  if (sr_mjcf_numbers(m, d->node, NULL, "gear", 1, 6, d->gear) < 0) return false;
  if (d->tendon >= 0) {
    const srMjcfTendon* t = &m->tendon[d->tendon];
    scalar_way(d, sr_mjcf_tendon_text(m, t, false), sr_mjcf_tendon_text(m, t, true));
  } else if (d->joint >= 0 && sr_mjcf_is_scalar(m, d->joint)) {
    scalar_way(d, sr_mjcf_coordinate(m, d->joint, false), sr_mjcf_coordinate(m, d->joint, true));
  } else {
    turning_way(d);
  }
  find_damping(d);
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
  const srJointDef* def = d->joint >= 0 ? srs_get(d->m->r->spec, SR_ELEMENT_JOINT, d->m->joint[d->joint].index) : NULL;
  if (!def || def->limits.n != 2) {
    sr_reader_ignore(d->m->r, d->node->place, "'inheritrange' of <%s> without a joint that has a range", d->node->name);
    return 0;
  }
  const double middle = 0.5 * (def->limits.numbers[0] + def->limits.numbers[1]);
  const double half = 0.5 * (def->limits.numbers[1] - def->limits.numbers[0]) * scale;
  out[0] = middle - half, out[1] = middle + half;
  return 1;
}

// Clamps a text to a range where it is limited. NULL after an error.
static const char* clamped(Drive* d, const char* flag, const char* range, const double* other, const char* text) {
  double limits[2];
  const int limited = sr_mjcf_limits(d->m, d->node, flag, range, limits);
  if (limited < 0) return NULL;
  if (limited == 0 && !other) return text;
  srMjcfText out = {.pool = &d->m->r->pool};
  sr_mjcf_write_clamped(&out, limited ? limits : other, text);
  return sr_mjcf_written(&out);
}

// The activation stands still at an end of its range while its rate would lead beyond it.
static const char* held(Drive* d, const char* act, const char* rate, const double range[2]) {
  srMjcfText out = {.pool = &d->m->r->pool};
  sr_mjcf_write(&out, "if(max((");
  sr_mjcf_write(&out, act), sr_mjcf_write(&out, " >= "), sr_mjcf_write_number(&out, range[1]);
  sr_mjcf_write(&out, ")*("), sr_mjcf_write(&out, rate), sr_mjcf_write(&out, " > 0), (");
  sr_mjcf_write(&out, act), sr_mjcf_write(&out, " <= "), sr_mjcf_write_number(&out, range[0]);
  sr_mjcf_write(&out, ")*("), sr_mjcf_write(&out, rate), sr_mjcf_write(&out, " < 0)), 0, ");
  sr_mjcf_write(&out, rate), sr_mjcf_write(&out, ")");
  return sr_mjcf_written(&out);
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
  srMjcfText text = {.pool = &m->r->pool};
  if (d->dynamics == INTEGRATOR) {
    sr_mjcf_write(&text, u);
  } else {
    sr_mjcf_write(&text, "(");
    sr_mjcf_write(&text, u), sr_mjcf_write(&text, " - "), sr_mjcf_write(&text, act);
    sr_mjcf_write(&text, ")/"), sr_mjcf_write_number(&text, d->time);
  }
  const char* rate = sr_mjcf_written(&text);
  if (limited) rate = held(d, act, rate, range);
  const srStateDef def = {.name = {.text = act, .place = place}, .rate = {.text = rate, .place = place}};
  d->out.state = sr_reader_add(m->r, SR_ELEMENT_STATE, SR_NO_OWNER, &def, place);
  return act;
}

static const char* force_of(Drive* d, const char* w) {
  srMjcf* m = d->m;
  srMjcfText text = {.pool = &m->r->pool}, gain = text, one = text;
  if (d->gain[1] == 0 && d->gain[2] == 0) {
    sr_mjcf_write_term(&text, d->gain[0], w);
  } else {
    sr_mjcf_write(&gain, "(");
    if (d->gain[0] != 0) sr_mjcf_write_number(&gain, d->gain[0]);
    sr_mjcf_write_term(&gain, d->gain[1], d->out.length);
    sr_mjcf_write_term(&gain, d->gain[2], d->out.rate);
    sr_mjcf_write(&gain, ")*");
    sr_mjcf_write(&gain, w);
    sr_mjcf_write_term(&text, 1, sr_mjcf_written(&gain));
  }
  if (d->bias[0] != 0) {
    sr_mjcf_write_number(&one, d->bias[0]);
    sr_mjcf_write_term(&text, 1, sr_mjcf_written(&one));
  }
  sr_mjcf_write_term(&text, d->bias[1], d->out.length ? d->out.length : "0");
  sr_mjcf_write_term(&text, d->bias[2], d->out.rate ? d->out.rate : "0");
  sr_mjcf_charge(m, (size_t)text.n, 4);
  return clamped(d, "forcelimited", "forcerange", NULL, sr_mjcf_written(&text));
}

// Control, activation and force as formulas. False after an error.
static bool make_force(Drive* d) {
  srMjcf* m = d->m;
  double range[2];
  const char* label = d->out.word ? d->out.word : sr_pool_printf(&m->r->pool, "%d", m->nactuator);
  const bool inherits = inherited(d, range) == 1;
  d->out.control = sr_reader_parameter(m->r, sr_mjcf_identifier(m, "ctrl_", label), 0, d->node->place);
  d->out.parameter = srs_count(m->r->spec, SR_ELEMENT_PARAMETER) - 1;
  const double* other = inherits && d->dynamics != INTEGRATOR ? range : NULL;
  const char* u = d->out.control;
  if (d->clamps) u = clamped(d, "ctrllimited", "ctrlrange", other, u);
  if (!u) return false;
  const double* held_range = inherits && d->dynamics == INTEGRATOR ? range : NULL;
  const char* w = d->dynamics == NONE ? u : add_state(d, label, u, held_range);
  d->out.force = w ? force_of(d, w) : NULL;
  return d->out.force != NULL;
}

// ------------------------------------------------------------------------------------------------------------- doing
static void add_to_sum(Drive* d, Sums* sums, double factor, const char* force) {
  Sum* s = &sums->joint[d->joint];
  s->place = d->node->place;
  sr_mjcf_charge(d->m, strlen(force), 2);
  sr_mjcf_write_term(&s->text, factor, sr_pool_printf(&d->m->r->pool, "(%s)", force));
}

// Force and moment on a body in inertial axes, each factor*(force).
static void add_wrench(Drive* d, int body, const double at[3], const char* f[3], const char* n[3]) {
  srMjcf* m = d->m;
  const srPlace place = d->node->place;
  srForceDef def = {.body = {.text = m->body[body].name, .place = place}};
  double own[3];
  srm_pose_point(m->body[body].inner, at, own);
  if (d->name) def.name = (srAttr){.text = d->name, .place = place};
  if (!is_zero(own)) def.at = sr_reader_list(m->r, own, 3, place);
  if (f) def.f = sr_reader_word(m->r, place, "(%s), (%s), (%s)", f[0], f[1], f[2]);
  if (n) def.m = sr_reader_word(m->r, place, "(%s), (%s), (%s)", n[0], n[1], n[2]);
  sr_mjcf_charge(m, strlen(d->out.force), 6);
  sr_reader_add(m->r, SR_ELEMENT_FORCE, SR_NO_OWNER, &def, place);
}

static const char* times(Drive* d, double factor, const char* more) {
  srMjcfText text = {.pool = &d->m->r->pool};
  sr_mjcf_write_term(&text, factor, sr_pool_printf(&d->m->r->pool, "(%s)%s", d->out.force, more));
  return sr_mjcf_written(&text);
}

// Free: the first three of the gear push along the axes of the world, the others turn about those of the body, or of the
// world with jointinparent.
static void drive_free(Drive* d) {
  const int body = d->m->joint[d->joint].body;
  const double origin[3] = {0};
  const char *f[3], *n[3];
  for (int k = 0; k < 3; k++) f[k] = times(d, d->gear[k], ""), n[k] = times(d, d->gear[3 + k], "");
  const bool pushes = !is_zero(d->gear), turns = !is_zero(d->gear + 3) && d->in_parent;
  if (pushes || turns) add_wrench(d, body, origin, pushes ? f : NULL, turns ? n : NULL);
  for (int k = 0; k < 3 && !d->in_parent; k++)
    if (d->gear[3 + k] != 0)
      sr_mjcf_add_torque(d->m, d->joint, k, d->gear[3 + k], d->out.force, d->name, d->node->place);
}

// A vector of the site's frame in inertial axes, times the force: its components by the sensor of the site.
static void turned(Drive* d, const char* sensor, const double u[3], const char* out[3]) {
  static const char axes[] = "xyz";
  for (int i = 0; i < 3; i++) {
    srMjcfText sum = {.pool = &d->m->r->pool};
    for (int k = 0; k < 3; k++)
      sr_mjcf_write_term(&sum, u[k], sr_pool_printf(&d->m->r->pool, "sensor(%s, r%c%c)", sensor, axes[i], axes[k]));
    out[i] = times(d, 1, sr_pool_printf(&d->m->r->pool, "*(%s)", sr_mjcf_written(&sum)));
  }
}

static void drive_site(Drive* d) {
  srMjcf* m = d->m;
  const srMjcfSite* s = &m->site[d->site];
  const srPlace place = d->node->place;
  if (m->body[s->body].index < 0) return;  // nothing moves the ground
  if (!m->sensors.pool) sr_names_init(&m->sensors, &m->r->pool);
  const char* sensor = sr_reader_name(m->r, sr_pool_printf(&m->r->pool, "site of %s", d->out.control), &m->sensors);
  const srSensorDef def = {.name = {.text = sensor, .place = place}, .point = {.text = s->point, .place = place}};
  sr_reader_add(m->r, SR_ELEMENT_SENSOR, SR_NO_OWNER, &def, place);
  const char *f[3], *n[3];
  const bool pushes = !is_zero(d->gear), turns = !is_zero(d->gear + 3);
  turned(d, sensor, d->gear, f);
  turned(d, sensor, d->gear + 3, n);
  if (pushes || turns) add_wrench(d, s->body, s->pose + 12, pushes ? f : NULL, turns ? n : NULL);
}

static void drive_joint(Drive* d, Sums* sums) {
  const srMjcfJoint* j = &d->m->joint[d->joint];
  if (j->type == SR_MJCF_FREE) {
    drive_free(d);
  } else if (j->type == SR_MJCF_BALL) {
    for (int k = 0; k < 3; k++)
      if (d->gear[k] != 0) sr_mjcf_add_torque(d->m, d->joint, k, d->gear[k], d->out.force, d->name, d->node->place);
  } else if (sums->joint[d->joint].clamped) {
    add_to_sum(d, sums, d->gear[0], d->out.force);
  } else if (d->gear[0] != 0) {
    sr_mjcf_add_torque(d->m, d->joint, 0, d->gear[0], d->out.force, d->name, d->node->place);
  }
}

// Damping of the drive itself, felt by its target through the gear.
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
    const int i = m->joint[d.joint].index, field = SR_MJCF_FIELD(srJointDef, armature);
    const srJointDef* def = srs_get(m->r->spec, SR_ELEMENT_JOINT, i);
    const srAttr sum = sr_reader_one(def->armature.number + gear[0] * gear[0] * armature, node->place);
    if (!srs_set(m->r->spec, SR_ELEMENT_JOINT, i, field, sum)) longjmp(*m->r->pool.on_fail, 1);
  } else {
    sr_reader_ignore(m->r, node->place, "'armature' of <%s> on something else than a hinge or slide", node->name);
  }
}

static void read_drive(Drive* d, Sums* sums) {
  srMjcf* m = d->m;
  const struct Kind* kind = kind_of(d->node->name);
  if (!kind) {
    sr_mjcf_other_element(m, d->node, "general|motor|position|velocity|intvelocity|damper|cylinder", SR_MJCF_ACTUATORS);
    return;
  }
  check_words(d, kind);
  const bool read = read_numbers(d), found = find_target(d);
  if (!read || !found || !find_way(d) || !make_force(d)) return;
  d->name = d->out.word ? sr_reader_name(m->r, d->out.word, NULL) : NULL;
  if (d->tendon >= 0)
    sr_mjcf_pull(m, &m->tendon[d->tendon], d->gear[0], d->out.force, d->name, d->node->place);
  else if (d->site >= 0)
    drive_site(d);
  else
    drive_joint(d, sums);
  add_damping(d);
}

static void read_actuator(srMjcf* m, const srXmlNode* node, Sums* sums) {
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  Drive d = {.m = m, .node = node, .joint = -1, .tendon = -1, .site = -1, .clamps = sums->clamped};
  d.out = (srMjcfActuator){.word = name && *name->value ? name->value : NULL, .parameter = -1, .state = -1};
  if (d.out.word && !sr_names_put(&m->actuator_names, d.out.word, m->nactuator))
    sr_mjcf_error(m, name->place, "there is an actuator '%.60s' already", d.out.word);
  if (!sums->disabled) read_drive(&d, sums);
  SR_PUSH(&m->r->pool, m->actuator, m->nactuator, m->actuator_capacity) = d.out;
}

// ------------------------------------------------------------------------------------------------------------- entry
static void start_sums(srMjcf* m, Sums* sums) {
  sums->joint = sr_pool_alloc(&m->r->pool, (size_t)(m->njoint + 1) * sizeof *sums->joint);
  for (int i = 0; i < m->njoint; i++) {
    const srMjcfJoint* j = &m->joint[i];
    sums->joint[i].text.pool = &m->r->pool;
    if (!sr_mjcf_is_scalar(m, i) || strcmp(j->node->name, "joint") != 0) continue;
    const srXmlAttribute* flag = sr_mjcf_attribute(m, j->node, j->childclass, "actuatorfrclimited");
    if (flag && strcmp(flag->value, "false") == 0) continue;
    double* range = sums->joint[i].range;
    sums->joint[i].clamped = sr_mjcf_numbers(m, j->node, j->childclass, "actuatorfrcrange", 2, 2, range) == 2 &&
                             (range[0] != 0 || range[1] != 0);
    if (sums->joint[i].clamped && range[0] >= range[1])
      sr_mjcf_error(m, j->place, "'actuatorfrcrange' goes from a smaller to a larger number, not from %g to %g",
                    range[0], range[1]);
  }
}

static void put_sums(srMjcf* m, Sums* sums) {
  for (int i = 0; i < m->njoint; i++) {
    Sum* s = &sums->joint[i];
    if (s->text.n == 0) continue;
    srMjcfText law = {.pool = &m->r->pool};
    sr_mjcf_write_clamped(&law, s->range, sr_mjcf_written(&s->text));
    if (!sr_mjcf_add_torque(m, i, 0, 1, sr_mjcf_written(&law), NULL, s->place)) return;
  }
}

// All sections at the first of them: a joint's actuatorfrcrange clamps the sum of all its actuators.
void sr_mjcf_actuators(srMjcf* m, const srXmlNode* section) {
  if (m->nactuator > 0) return;
  Sums sums = {.disabled = sr_mjcf_is_disabled(m, "actuation"), .clamped = !sr_mjcf_is_disabled(m, "clampctrl")};
  start_sums(m, &sums);
  for (const srXmlNode* s = section; s; s = s->next)
    for (const srXmlNode* node = strcmp(s->name, "actuator") == 0 ? s->first : NULL; node; node = node->next)
      if (!m->r->stopped) add_armature(m, node);
  for (const srXmlNode* s = section; s; s = s->next) {
    if (strcmp(s->name, "actuator") != 0) continue;
    for (const srXmlNode* node = s->first; node && !sr_reader_is_over(m->r, node->place); node = node->next)
      read_actuator(m, node, &sums);
  }
  put_sums(m, &sums);
}
