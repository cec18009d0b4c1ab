// What all readers of model files share: see reader.h.
#include "io/xml/reader.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "expr/expr.h"
#include "io/file.h"
#include "math/pose.h"
#include "model/spec.h"

// ---------------------------------------------------------------------------------------------------------- messages
int sr_reader_errors(const srReader* r) { return sr_messages_errors(r->messages) - r->errors_before; }

void sr_reader_error(srReader* r, srPlace place, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sr_messages_vadd(r->messages, SR_SEVERITY_ERROR, place, format, arguments);
  va_end(arguments);
}

void sr_reader_warning(srReader* r, srPlace place, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sr_messages_vadd(r->messages, SR_SEVERITY_WARNING, place, format, arguments);
  va_end(arguments);
}

SR_PRINTF(4, 0)
static void ignore(srReader* r, srSeverity severity, srPlace place, const char* format, va_list arguments) {
  char what[256];
  vsnprintf(what, sizeof what, format, arguments);
  int i = sr_names_find(&r->ignored_names, what);
  if (i < 0) {
    i = r->nignored;
    const srIgnored ignored = {sr_pool_text(&r->pool, what), severity, place, 0};
    SR_PUSH(&r->pool, r->ignored, r->nignored, r->ignored_capacity) = ignored;
    sr_names_put(&r->ignored_names, r->ignored[i].what, i);
  }
  r->ignored[i].times++;
}

void sr_reader_ignore(srReader* r, srPlace place, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  ignore(r, SR_SEVERITY_WARNING, place, format, arguments);
  va_end(arguments);
}

void sr_reader_ignore_still(srReader* r, srPlace place, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  ignore(r, SR_SEVERITY_NOTE, place, format, arguments);
  va_end(arguments);
}

void sr_reader_tell_ignored(srReader* r) {
  for (int i = 0; i < r->nignored; i++) {
    const srIgnored* x = &r->ignored[i];
    const char* text = sr_pool_printf(&r->pool, "%s is not used", x->what);
    if (x->times > 1) text = sr_pool_printf(&r->pool, "%s: %d times, the first is here", text, x->times);
    sr_messages_add(r->messages, x->severity, x->first, "%s", text);  // a kind of its own
  }
  r->nignored = 0;
}

typedef struct srReaderTold {
  void (*tell)(void* data);
  void* data;
} Told;

void sr_reader_at_end(srReader* r, void (*tell)(void* data), void* data) {
  SR_PUSH(&r->pool, r->told, r->ntold, r->told_capacity) = (Told){tell, data};
}

void sr_reader_end(srReader* r) {
  for (int i = 0; i < r->ntold; i++) r->told[i].tell(r->told[i].data);
  r->ntold = 0;
}

char* sr_reader_read(srReader* r, const char* path, size_t max_size, size_t* size, const char** reason) {
  if (r->spec && !sr_spec_add_file(r->spec, path)) longjmp(*r->pool.on_fail, 1);
  return sr_file_read(&r->pool, path, max_size, size, reason);
}

bool sr_reader_is_over(srReader* r, srPlace place) {
  if (r->stopped) return true;
  if (sr_reader_errors(r) >= SR_READER_MAX_ERRORS) {
    sr_messages_add(r->messages, SR_SEVERITY_WARNING, place, "%d errors; the rest is not read", sr_reader_errors(r));
    r->stopped = true;
  } else if (--r->budget < 0) {
    sr_reader_error(r, place, "the model has more than %d elements when its repeats are written out",
                    SR_READER_MAX_ELEMENTS);
    r->stopped = true;
  }
  return r->stopped;
}

int sr_reader_add(srReader* r, srElementKind kind, int owner, const void* def, srPlace place) {
  const int index = srs_add(r->spec, kind, owner, def, &place);
  sr_pool_free(&r->text);
  if (index < 0) longjmp(*r->pool.on_fail, 1);
  return index;
}

// ---------------------------------------------------------------------------------------------------------- settings
const char* sr_reader_setting(srReader* r, const char* name) {
  const char* value = NULL;
  for (int i = 0; i < r->options->nsetting; i++) {
    if (strcmp(r->options->settings[i].name, name) != 0) continue;
    r->used[i] = true;
    value = r->options->settings[i].value;  // the last one holds
  }
  return value;
}

void sr_reader_offer(srReader* r, const char* name) {
  SR_PUSH(&r->pool, r->offered, r->noffered, r->offered_capacity) = name;
}

srPlace sr_reader_setting_place(srReader* r, const char* name) {
  return (srPlace){.file = sr_pool_printf(&r->pool, "--set %s", name)};
}

const char* sr_reader_parameter(srReader* r, const char* name, double value, srPlace place) {
  char* word = sr_pool_text(&r->pool, name);
  for (char* p = word; *p; p++)
    if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9'))) *p = '_';
  const char* setting = sr_reader_setting(r, word);
  srParameterDef def = {.name = {.text = word, .place = place}, .value = sr_reader_one(value, place)};
  if (setting) def.value = (srAttr){.text = setting, .place = sr_reader_setting_place(r, word)};
  sr_reader_add(r, SR_ELEMENT_PARAMETER, SR_NO_OWNER, &def, place);
  return word;
}

// ----------------------------------------------------------------------------------------------------------- numbers
// A finite number with its sign, up to a blank or the end; NULL: it is none.
static const char* read_one(const char* text, double* value) {
  const char* end = sr_number_read_signed(text, value);
  return end && (*end == '\0' || sr_text_is_blank(*end)) && isfinite(*value) ? end : NULL;
}

int sr_reader_numbers(srReader* r, const srXmlAttribute* a, int least, int most, double* out) {
  int n = 0;
  for (const char* p = a->value;;) {
    while (sr_text_is_blank(*p)) p++;
    if (!*p) break;
    srPlace place = a->place;
    place.column += (int)(p - a->value);
    double value;
    const char* end = read_one(p, &value);
    if (!end) {
      const int length = (int)strcspn(p, " \t\r\n");
      sr_reader_error(r, place, "'%.*s' in '%s' is not a number", length < 60 ? length : 60, p, a->name);
      return -1;
    }
    if (n < most) out[n] = value;
    n++;
    p = end;
  }
  if (n >= least && n <= most) return n;
  if (least == most)
    sr_reader_error(r, a->place, "'%s' takes %d number%s, got %d", a->name, least, least == 1 ? "" : "s", n);
  else
    sr_reader_error(r, a->place, "'%s' takes %d to %d numbers, got %d", a->name, least, most, n);
  return -1;
}

bool sr_reader_number(srReader* r, const srXmlNode* node, const char* name, double value, double* out) {
  const srXmlAttribute* a = sr_xml_attribute(node, name);
  *out = value;
  return !a || sr_reader_numbers(r, a, 1, 1, out) == 1;
}

srAttr sr_reader_list(srReader* r, const double* numbers, int n, srPlace place) {
  double* copy = sr_pool_alloc(&r->text, (size_t)n * sizeof *copy);
  memcpy(copy, numbers, (size_t)n * sizeof *copy);
  return (srAttr){.numbers = copy, .n = n, .place = place};
}

srAttr sr_reader_one(double number, srPlace place) { return (srAttr){.number = number, .n = 1, .place = place}; }

srAttr sr_reader_word(srReader* r, srPlace place, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char* text = sr_pool_vprintf(&r->text, format, arguments);
  va_end(arguments);
  return (srAttr){.text = text, .place = place};
}

void sr_reader_pose(srReader* r, const double pose[16], srPlace place, srAttr* at, srAttr* rot) {
  double quaternion[4];
  if (srm_pose_is_turned(pose)) {
    srm_quaternion_from_pose(pose, quaternion);
    *rot = sr_reader_list(r, quaternion, 4, place);
  }
  if (pose[12] != 0 || pose[13] != 0 || pose[14] != 0) *at = sr_reader_list(r, pose + 12, 3, place);
}

// ------------------------------------------------------------------------------------------------------------- names
const char* sr_reader_name(srReader* r, const char* name, srNames* taken) {
  char* word = sr_pool_text(&r->pool, name && *name ? name : "_");
  for (char* p = word; *p; p++)
    if ((unsigned char)*p < 0x20 || *p == 0x7f || strchr("/,(){}'\"", *p)) *p = '_';
  if (sr_text_is_blank(word[0])) word[0] = '_';
  if (sr_text_is_blank(word[strlen(word) - 1])) word[strlen(word) - 1] = '_';
  return taken ? sr_names_put_new(taken, word) : word;
}

// ---------------------------------------------------------------------------------------------------------- friction
typedef struct srReaderFriction {
  int index;  // in the spec; -1: the model's own
} Friction;

// In place of a coordinate, which is below 1000:
enum { OF_ROBOT = 1000, BY_FORMULA };  // any that the robot's file gives; the model's own whose coordinate is a formula

static Friction* friction_of(srReader* r, const char* joint, int coordinate, bool* is_new) {
  const char* key = sr_pool_printf(&r->pool, "%s, %d", joint, coordinate);
  int i = sr_names_find(&r->friction_names, key);
  *is_new = i < 0;
  if (i < 0) {
    i = r->nfriction;
    SR_PUSH(&r->pool, r->friction, r->nfriction, r->friction_capacity) = (Friction){-1};
    sr_names_put(&r->friction_names, key, i);
  }
  return &r->friction[i];
}

static void tell_replaced(srReader* r, srPlace place, const char* joint) {
  sr_messages_add(r->messages, SR_SEVERITY_NOTE, place,
                  "the dry friction that the robot's file gives joint '%.60s' is replaced by this model's own", joint);
}

static bool has_friction(srReader* r, const char* joint, int coordinate) {
  return sr_names_find(&r->friction_names, sr_pool_printf(&r->pool, "%s, %d", joint, coordinate)) >= 0;
}

static void tell_both(srReader* r, srPlace place, const char* joint) {
  sr_reader_warning(
      r, place,
      "the dry friction that the robot's file gives joint '%.60s' is kept in addition to this model's own, whose "
      "coordinate is a formula; to replace it, write the coordinate as a number",
      joint);
}

void sr_reader_friction(srReader* r, const char* joint, int coordinate, bool of_several, bool rotates, double force,
                        srPlace place) {
  const double K = force / (rotates ? SR_BRISTLE_ANGLE : SR_BRISTLE_LENGTH);
  srFrictionDef def = {.joint = {.text = joint, .place = place}, .F = sr_reader_one(force, place)};
  bool is_new;
  Friction* friction = friction_of(r, joint, coordinate, &is_new);
  if (!is_new && friction->index < 0) {
    tell_replaced(r, place, joint);
    return;
  }
  if (!is_new) {  // of a tendon on the same joint: forces add up
    const srFrictionDef* before = srs_get(r->spec, SR_ELEMENT_FRICTION, friction->index);
    const srAttr sums[] = {sr_reader_one(before->F.number + force, place), sr_reader_one(before->K.number + K, place),
                           sr_reader_one(before->B.number + SR_BRISTLE_TIME * K, place)};
    const size_t fields[] = {offsetof(srFrictionDef, F), offsetof(srFrictionDef, K), offsetof(srFrictionDef, B)};
    for (int i = 0; i < 3; i++)
      if (!srs_set(r->spec, SR_ELEMENT_FRICTION, friction->index, (int)(fields[i] / sizeof(srAttr)), sums[i]))
        longjmp(*r->pool.on_fail, 1);
    return;
  }
  if (of_several) def.coordinate = sr_reader_one(coordinate, place);
  def.K = sr_reader_one(K, place);
  def.B = sr_reader_one(SR_BRISTLE_TIME * K, place);
  friction->index = sr_reader_add(r, SR_ELEMENT_FRICTION, SR_NO_OWNER, &def, place);
  friction_of(r, joint, OF_ROBOT, &is_new);
  if (has_friction(r, joint, BY_FORMULA)) tell_both(r, place, joint);
}

bool sr_reader_own_friction(srReader* r, const srFrictionDef* def, srPlace place) {
  double coordinate = 0;
  bool is_new;
  const srAttr* values = (const srAttr*)def;
  const char* end = def->coordinate.text ? sr_number_read_signed(def->coordinate.text, &coordinate) : "";
  if (!def->joint.text) return false;
  if (!end || *end) {
    friction_of(r, def->joint.text, BY_FORMULA, &is_new);
    if (has_friction(r, def->joint.text, OF_ROBOT)) tell_both(r, def->coordinate.place, def->joint.text);
    return false;
  }
  if (!(fabs(coordinate) < 1000)) return false;
  Friction* friction = friction_of(r, def->joint.text, (int)coordinate, &is_new);
  if (is_new || friction->index < 0) return false;
  for (int k = 0; k < srs_element(SR_ELEMENT_FRICTION)->nfield; k++)
    if (!srs_set(r->spec, SR_ELEMENT_FRICTION, friction->index, k, values[k])) longjmp(*r->pool.on_fail, 1);
  if (!sr_spec_set_place(r->spec, SR_ELEMENT_FRICTION, friction->index, place)) longjmp(*r->pool.on_fail, 1);
  friction->index = -1;
  tell_replaced(r, def->joint.place, def->joint.text);
  return true;
}
