// Values of MJCF's attributes: numbers, flags, poses with the five ways of giving an orientation, references to names.
// Source: MuJoCo's XML reference and its modeling page, "Frame orientations".
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "io/mjcf/words.h"
#include "math/pose.h"

#define PI 3.14159265358979323846

#define LARGEST 1e30  // so that products of a few numbers stay finite

void sr_mjcf_error(srMjcf* m, srPlace place, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char* file = place.file ? place.file : "";
  const char* key = sr_pool_printf(&m->r->pool, "%s:%d:%d %s", file, place.line, place.column, text);
  if (sr_names_put(&m->errors, key, 0)) sr_reader_error(m->r, place, "%s", text);
}

static bool is_known_bad(const srMjcf* m, srPlace place) {
  for (int i = 0; i < m->nbad; i++)
    if (m->bad[i].line == place.line && m->bad[i].column == place.column && m->bad[i].file == place.file) return true;
  return false;
}

int sr_mjcf_values(srMjcf* m, const srXmlAttribute* a, int least, int most, double* out) {
  if (is_known_bad(m, a->place)) return -1;
  int n = sr_reader_numbers(m->r, a, least, most, out);
  for (int i = 0; i < n; i++) {
    if (fabs(out[i]) <= LARGEST) continue;
    sr_mjcf_error(m, a->place, "%g in '%s' is too large: numbers go up to %g", out[i], a->name, LARGEST);
    n = -1;
  }
  if (n < 0) SR_PUSH(&m->r->pool, m->bad, m->nbad, m->bad_capacity) = a->place;
  return n;
}

int sr_mjcf_numbers(srMjcf* m, const srXmlNode* node, const char* childclass, const char* name, int least, int most,
                    double* out) {
  const srXmlAttribute* a = sr_mjcf_attribute(m, node, childclass, name);
  return a ? sr_mjcf_values(m, a, least, most, out) : 0;
}

bool sr_mjcf_number(srMjcf* m, const srXmlNode* node, const char* childclass, const char* name, double value,
                    double* out) {
  *out = value;
  return sr_mjcf_numbers(m, node, childclass, name, 1, 1, out) >= 0;
}

bool sr_mjcf_flag(srMjcf* m, const srXmlNode* node, const char* childclass, const char* name, bool value) {
  const srXmlAttribute* a = sr_mjcf_attribute(m, node, childclass, name);
  if (!a) return value;
  if (strcmp(a->value, "true") == 0) return true;
  if (strcmp(a->value, "false") != 0)
    sr_mjcf_error(m, a->place, "'%.60s' in '%s' is neither true nor false", a->value, name);
  return false;
}

int sr_mjcf_choice(srMjcf* m, const srXmlAttribute* a, const char* const* words, int n, int value) {
  const int i = a ? sr_word_index(words, n, a->value) : value;
  if (i >= 0 || !a) return i;
  const char* nearest = sr_nearest_word(a->value, words, n);
  if (nearest)
    sr_mjcf_error(m, a->place, "unknown %s '%.60s'; did you mean '%s'?", a->name, a->value, nearest);
  else
    sr_mjcf_error(m, a->place, "unknown %s '%.60s'; expected %s", a->name, a->value,
                  sr_text_alternatives(&m->r->pool, words, n));
  return value;
}

// ------------------------------------------------------------------------------------------------------ orientations
static bool unit(srMjcf* m, const srXmlAttribute* a, double* x, int n, const char* what) {
  double norm = 0;
  for (int i = 0; i < n; i++) norm = hypot(norm, x[i]);
  if (norm < 1e-14 || !isfinite(norm)) {
    sr_mjcf_error(m, a->place, "%s in '%s' has no direction: its length is %g", what, a->name, norm);
    return false;
  }
  for (int i = 0; i < n; i++) x[i] /= norm;
  return true;
}

void sr_mjcf_turn(const double axis[3], double angle, double pose[16]) {
  const double s = sin(0.5 * angle);
  srm_pose_from_quaternion((const double[4]){cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2]}, pose);
}

static bool from_quat(srMjcf* m, const srXmlNode* node, const srXmlAttribute* a, double pose[16]) {
  (void)node;  // no angle
  double q[4];
  if (sr_mjcf_values(m, a, 4, 4, q) != 4 || !unit(m, a, q, 4, "the quaternion")) return false;
  srm_pose_from_quaternion(q, pose);
  return true;
}

static bool from_axisangle(srMjcf* m, const srXmlNode* node, const srXmlAttribute* a, double pose[16]) {
  double x[4];
  if (sr_mjcf_values(m, a, 4, 4, x) != 4 || !unit(m, a, x, 3, "the axis")) return false;
  sr_mjcf_turn(x, sr_mjcf_angle(m, node, x[3]), pose);
  return true;
}

// Small letters turn about axes that move along, capital ones about fixed axes.
void sr_mjcf_euler(const srMjcf* m, const srXmlNode* node, const double angles[3], double pose[16]) {
  srm_pose_identity(pose);
  for (int i = 0; i < 3; i++) {
    double axis[3] = {0}, turn[16], next[16];
    const char letter = sr_mjcf_compiler_of(m, node)->euler_sequence[i];
    const bool fixed = letter >= 'X' && letter <= 'Z';
    axis[letter - (fixed ? 'X' : 'x')] = 1;
    srm_pose_identity(turn);
    sr_mjcf_turn(axis, sr_mjcf_angle(m, node, angles[i]), turn);
    srm_pose_compose(fixed ? turn : pose, fixed ? pose : turn, next);
    memcpy(pose, next, sizeof next);
  }
}

static bool from_euler(srMjcf* m, const srXmlNode* node, const srXmlAttribute* a, double pose[16]) {
  double x[3], turned[16];
  if (sr_mjcf_values(m, a, 3, 3, x) != 3) return false;
  sr_mjcf_euler(m, node, x, turned);
  memcpy(pose, turned, 12 * sizeof *pose);
  return true;
}

static bool from_xyaxes(srMjcf* m, const srXmlNode* node, const srXmlAttribute* a, double pose[16]) {
  (void)node;  // no angle
  double x[6], z[3];
  if (sr_mjcf_values(m, a, 6, 6, x) != 6 || !unit(m, a, x, 3, "the x axis")) return false;
  const double along = srm_dot3(x, x + 3);
  for (int k = 0; k < 3; k++) x[3 + k] -= along * x[k];
  if (!unit(m, a, x + 3, 3, "the y axis, perpendicular to x,")) return false;
  srm_cross3(x, x + 3, z);
  memcpy(pose, x, 3 * sizeof *x);
  memcpy(pose + 4, x + 3, 3 * sizeof *x);
  memcpy(pose + 8, z, sizeof z);
  return true;
}

void sr_mjcf_turn_z(const double z[3], double pose[16]) {
  double axis[3] = {-z[1], z[0], 0};  // of the shortest turn from 0 0 1 to z
  const double s = hypot(z[0], z[1]);
  if (s < 1e-10) {
    axis[0] = 1, axis[1] = 0;
  } else {
    axis[0] /= s, axis[1] /= s;
  }
  sr_mjcf_turn(axis, atan2(s, z[2]), pose);
}

static bool from_zaxis(srMjcf* m, const srXmlNode* node, const srXmlAttribute* a, double pose[16]) {
  (void)node;  // no angle
  double z[3];
  if (sr_mjcf_values(m, a, 3, 3, z) != 3 || !unit(m, a, z, 3, "the z axis")) return false;
  sr_mjcf_turn_z(z, pose);
  return true;
}

static const struct Way {
  const char* name;
  bool (*read)(srMjcf* m, const srXmlNode* node, const srXmlAttribute* a, double pose[16]);
} ways[] = {{"quat", from_quat},
            {"axisangle", from_axisangle},
            {"euler", from_euler},
            {"xyaxes", from_xyaxes},
            {"zaxis", from_zaxis}};

// The nearest one holds: an element's own before that of its class.
static bool read_orientation(srMjcf* m, const srXmlNode* node, const char* childclass, double pose[16]) {
  const srXmlAttribute* best = NULL;
  int best_level = 0, way = 0;
  for (int i = 0; i < SR_COUNT(ways); i++) {
    int level;
    const srXmlAttribute* a = sr_mjcf_attribute_level(m, node, childclass, ways[i].name, &level);
    if (!a || (best && level > best_level)) continue;
    if (best && level == best_level) {
      sr_mjcf_error(m, a->name_place, "'%s' and '%s' both give the orientation", best->name, a->name);
      return false;
    }
    best = a, best_level = level, way = i;
  }
  return !best || ways[way].read(m, node, best, pose);
}

bool sr_mjcf_pose(srMjcf* m, const srXmlNode* node, const char* childclass, double pose[16]) {
  double at[3] = {0};
  srm_pose_identity(pose);
  const bool placed = sr_mjcf_numbers(m, node, childclass, "pos", 3, 3, at) >= 0;
  const bool turned = read_orientation(m, node, childclass, pose);
  memcpy(pose + 12, at, sizeof at);
  return placed && turned;
}

double sr_mjcf_angle(const srMjcf* m, const srXmlNode* node, double value) {
  return sr_mjcf_compiler_of(m, node)->degree ? value * (PI / 180) : value;
}

// -------------------------------------------------------------------------------------------------------- references
int sr_mjcf_find_value(srMjcf* m, const srXmlAttribute* a, const srNames* names, const char* what) {
  const int i = sr_names_find(names, a->value);
  if (i < 0)
    sr_mjcf_error(m, a->place, "there is no %s '%.60s'%s", what, a->value,
                  sr_pool_guess(&m->r->pool, sr_names_nearest(names, a->value)));
  return i;
}

int sr_mjcf_find(srMjcf* m, const srXmlNode* node, const char* attribute, const srNames* names, const char* what) {
  const srXmlAttribute* a = sr_xml_attribute(node, attribute);
  return a ? sr_mjcf_find_value(m, a, names, what) : -1;
}

void sr_mjcf_check_attributes(srMjcf* m, const srXmlNode* node, const char* used, const char* ignored) {
  sr_mjcf_check_words(m, node, sr_pool_printf(&m->r->text, "name|class|%s", used), ignored);
  sr_mjcf_check_class(m, node, "class");
}
