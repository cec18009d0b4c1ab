// MJCF's <keyframe>: states that a simulation may start from. MuJoCo itself starts at qpos0, and so does this reader, unless
// --set key=N (its number from 0, or its name) selects one. Source: MuJoCo's XML reference, "keyframe".
//
// Positions are as in Sarrus. Velocities of a free joint are MuJoCo's linear velocity in world axes, then the angular one
// in body axes; Sarrus's are the angular and the linear one, both in body axes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"
#include "io/mjcf/law.h"
#include "io/mjcf/words.h"
#include "math/pose.h"

#define NAMED 5  // keys that the note names

typedef struct Keys {
  const srXmlNode** node;
  int n, capacity;
} Keys;

static void set(srMjcf* m, srElementKind kind, int i, int field, srAttr value) {
  if (!srs_set(m->r->spec, kind, i, field, value)) longjmp(*m->r->pool.on_fail, 1);
}

// Numbers of an attribute, n of them. NULL: not given, or an error.
static double* numbers(srMjcf* m, const srXmlNode* key, const char* name, int n) {
  const srXmlAttribute* a = sr_xml_attribute(key, name);
  if (!a) return NULL;
  double* out = sr_pool_alloc(&m->r->pool, (size_t)(n + 1) * sizeof *out);
  return sr_reader_numbers(m->r, a, n, n, out) == n ? out : NULL;
}

// ------------------------------------------------------------------------------------------------------------- joints
// A quaternion of any length to a unit one, as MuJoCo does it.
static void normalize(double q[4]) {
  double norm = 0;
  for (int k = 0; k < 4; k++) norm = hypot(norm, q[k]);
  const bool none = !(norm > 1e-14) || !isfinite(norm);
  for (int k = 0; k < 4; k++) q[k] = none ? (k == 0 ? 1 : 0) : q[k] / norm;
}

static void set_position(srMjcf* m, const srMjcfJoint* j, double* q) {
  static const int count[] = {7, 4, 1, 1};
  if (j->type == SR_MJCF_FREE) normalize(q + 3);
  if (j->type == SR_MJCF_BALL) normalize(q);
  set(m, SR_ELEMENT_JOINT, j->index, SR_MJCF_FIELD(srJointDef, q), sr_numbers(q, count[j->type]));
}

// World axes to those of the body, where it starts.
static void to_body(srMjcf* m, const srMjcfJoint* j, const double in[3], double out[3]) {
  const srJointDef* def = srs_get(m->r->spec, SR_ELEMENT_JOINT, j->index);
  double pose[16], back[16], q[4] = {1, 0, 0, 0};
  if (def->q.n == 7) memcpy(q, def->q.numbers + 3, sizeof q);
  normalize(q);
  srm_pose_identity(pose);
  srm_pose_from_quaternion(q, pose);
  srm_pose_transpose(pose, back);
  srm_pose_rotate(back, in, out);
}

static void set_velocity(srMjcf* m, const srMjcfJoint* j, const double* v) {
  static const int count[] = {6, 3, 1, 1};
  double own[6];
  memcpy(own, v, (size_t)count[j->type] * sizeof *v);
  if (j->type == SR_MJCF_FREE) {
    memcpy(own, v + 3, 3 * sizeof *v);
    to_body(m, j, v, own + 3);
  }
  set(m, SR_ELEMENT_JOINT, j->index, SR_MJCF_FIELD(srJointDef, v), sr_numbers(own, count[j->type]));
}

// ---------------------------------------------------------------------------------------------------------- actuators
// A control that --set gives keeps that value.
static void set_controls(srMjcf* m, const double* u) {
  for (int i = 0; i < m->nactuator; i++) {
    const srMjcfActuator* a = &m->actuator[i];
    if (a->parameter < 0 || sr_reader_setting(m->r, a->control)) continue;
    set(m, SR_ELEMENT_PARAMETER, a->parameter, SR_MJCF_FIELD(srParameterDef, value), sr_number(u[i]));
  }
}

static int count_states(const srMjcf* m, bool* all_known) {
  int n = 0;
  *all_known = true;
  for (int i = 0; i < m->nactuator; i++) {
    n += m->actuator[i].state >= 0;
    *all_known = *all_known && m->actuator[i].control;
  }
  return n;
}

static void set_states(srMjcf* m, const srXmlNode* key) {
  bool all_known;
  const int n = count_states(m, &all_known);
  if (!sr_xml_attribute(key, "act")) return;
  if (!all_known) {
    sr_reader_ignore(m->r, key->place, "'act' of <key>, for some actuators are not used,");
    return;
  }
  const double* act = numbers(m, key, "act", n);
  for (int i = 0; act && i < m->nactuator; i++)
    if (m->actuator[i].state >= 0)
      set(m, SR_ELEMENT_STATE, m->actuator[i].state, SR_MJCF_FIELD(srStateDef, initial), sr_number(*act++));
}

static void apply(srMjcf* m, const srXmlNode* key) {
  double* qpos = numbers(m, key, "qpos", m->nq);
  const double* qvel = numbers(m, key, "qvel", m->nv);
  const double* ctrl = m->nactuator > 0 ? numbers(m, key, "ctrl", m->nactuator) : NULL;
  for (int j = 0; qpos && j < m->njoint; j++) set_position(m, &m->joint[j], qpos + m->joint[j].qpos);
  for (int j = 0; qvel && j < m->njoint; j++) set_velocity(m, &m->joint[j], qvel + m->joint[j].qvel);
  if (ctrl) set_controls(m, ctrl);
  set_states(m, key);
  static const char* const unused[] = {"time", "mpos", "mquat"};
  for (int i = 0; i < SR_COUNT(unused); i++)
    if (sr_xml_attribute(key, unused[i])) sr_reader_ignore(m->r, key->place, "'%s' of <key>", unused[i]);
}

// ------------------------------------------------------------------------------------------------------------- choice
static const char* name_of(const srXmlNode* key) {
  const srXmlAttribute* a = sr_xml_attribute(key, "name");
  return a && *a->value ? a->value : NULL;
}

static const char* list_of(srMjcf* m, const Keys* keys) {
  srMjcfText text = {.pool = &m->r->pool};
  for (int i = 0; i < keys->n && i < NAMED; i++) {
    const char* name = name_of(keys->node[i]);
    if (i > 0) sr_mjcf_write(&text, ", ");
    sr_mjcf_write(&text, sr_pool_printf(&m->r->pool, "%d%s%.60s", i, name ? " " : "", name ? name : ""));
  }
  if (keys->n > NAMED) sr_mjcf_write(&text, ", ...");
  return sr_mjcf_written(&text);
}

// The number of the key that the setting names; -1: none, -2 after an error.
static int chosen(srMjcf* m, const Keys* keys, const char* setting) {
  double value;
  if (!setting) return -1;
  for (int i = 0; i < keys->n; i++)
    if (name_of(keys->node[i]) && strcmp(name_of(keys->node[i]), setting) == 0) return i;
  if (strcmp(setting, "-1") == 0) return -1;
  const char* end = sr_number_read(setting, &value);
  if (end && end != setting && *end == '\0' && value == floor(value) && value >= 0 && value < keys->n)
    return (int)value;
  sr_mjcf_error(m, sr_reader_setting_place(m->r, "key"), "there is no keyframe '%.60s'; the file has %s", setting,
                list_of(m, keys));
  return -2;
}

// A key that does not fit is reported, but refused only where it is selected: elements that are not used may have made it fit.
static void check_count(srMjcf* m, const srXmlNode* key, const char* name, int n) {
  const srXmlAttribute* a = sr_xml_attribute(key, name);
  if (!a) return;
  const size_t most = strlen(a->value) / 2 + 2;
  double* all = sr_pool_alloc(&m->r->pool, most * sizeof *all);
  const int count = sr_reader_numbers(m->r, a, 0, (int)most, all);
  if (count >= 0 && count != n)
    sr_reader_warning(m->r, a->place, "'%s' of <key> has %d numbers, and the model %d: the key cannot be used", name,
                      count, n);
}

static void check(srMjcf* m, const srXmlNode* key) {
  sr_mjcf_check_words(m, key, "name|time|qpos|qvel|act|ctrl|mpos|mquat", "");
  check_count(m, key, "qpos", m->nq);
  check_count(m, key, "qvel", m->nv);
  check_count(m, key, "ctrl", m->nactuator);
}

// All sections at the first of them: the number of a key counts through.
void sr_mjcf_keyframes(srMjcf* m, const srXmlNode* section) {
  if (!m->identifiers.pool) sr_names_init(&m->identifiers, &m->r->pool);
  if (sr_names_find(&m->identifiers, "key") >= 0) return;
  Keys keys = {0};
  for (const srXmlNode* s = section; s; s = s->next) {
    if (strcmp(s->name, "keyframe") != 0) continue;
    for (const srXmlNode* node = s->first; node && !sr_reader_is_over(m->r, node->place); node = node->next) {
      if (strcmp(node->name, "key") != 0) {
        sr_mjcf_other_element(m, node, "key", "");
        continue;
      }
      check(m, node);
      SR_PUSH(&m->r->pool, keys.node, keys.n, keys.capacity) = node;
    }
  }
  if (keys.n == 0 || sr_reader_errors(m->r) > 0) return;
  sr_names_put(&m->identifiers, "key", 0);
  const int key = chosen(m, &keys, sr_reader_setting(m->r, "key"));
  const srPlace place = keys.node[0]->place;
  const srParameterDef def = {.name = {.text = "key", .place = place}, .value = sr_reader_one(key, place)};
  sr_reader_add(m->r, SR_ELEMENT_PARAMETER, SR_NO_OWNER, &def, place);
  if (key >= 0)
    apply(m, keys.node[key]);
  else if (key == -1)
    sr_messages_add(m->r->messages, SR_SEVERITY_NOTE, place,
                    "the start is MuJoCo's qpos0; --set key=N starts at a keyframe: %s", list_of(m, &keys));
}
