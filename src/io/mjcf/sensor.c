// MJCF's <sensor>: those that are a formula of coordinates, or a frame. Source: MuJoCo's XML reference, "sensor".
//
//   jointpos jointvel tendonpos tendonvel actuatorpos actuatorvel actuatorfrc clock     a formula
//   ballquat ballangvel                                                                 NAME.w, NAME.x, ...: a formula each
//   framepos framequat framexaxis ... framelinvel frameangvel                           a frame, which has all of these
//   velocimeter gyro                                                  NAME.x, NAME.y, NAME.z in the axes of the site
#include <string.h>

#include "io/mjcf/law.h"
#include "io/mjcf/words.h"
#include "math/pose.h"

#define NOT_USED                                                                                                       \
  "touch|accelerometer|force|torque|magnetometer|rangefinder|camprojection|jointactuatorfrc|tendonactuatorfrc|"        \
  "jointlimitpos|jointlimitvel|jointlimitfrc|tendonlimitpos|tendonlimitvel|tendonlimitfrc|framelinacc|frameangacc|"    \
  "subtreecom|subtreelinvel|subtreeangmom|insidesite|distance|normal|fromto|contact|e_potential|e_kinetic|tactile|"    \
  "user|plugin"
#define FRAMES "framepos|framequat|framexaxis|frameyaxis|framezaxis|framelinvel|frameangvel"

typedef struct Sensor {
  srMjcf* m;
  const srXmlNode* node;
  const char* name;
} Sensor;

static void add_formula(Sensor* s, const char* part, const char* formula, const char* unit) {
  srMjcf* m = s->m;
  const srPlace place = s->node->place;
  const char* name =
      *part ? sr_reader_name(m->r, sr_pool_printf(&m->r->pool, "%s.%s", s->name, part), &m->sensors) : s->name;
  srSensorDef def = {.name = {.text = name, .place = place}, .expr = {.text = formula, .place = place}};
  if (unit) def.unit = (srAttr){.text = unit, .place = place};
  sr_mjcf_charge(m, strlen(formula), 1);
  sr_reader_add(m->r, SR_ELEMENT_SENSOR, SR_NO_OWNER, &def, place);
}

static void add_frame(Sensor* s, const char* point, const char* relative_to) {
  const srPlace place = s->node->place;
  srSensorDef def = {.name = {.text = s->name, .place = place}, .point = {.text = point, .place = place}};
  if (relative_to) def.relative_to = (srAttr){.text = relative_to, .place = place};
  sr_reader_add(s->m->r, SR_ELEMENT_SENSOR, SR_NO_OWNER, &def, place);
}

// A thing that the sensor must name. -1 after an error.
static int find(Sensor* s, const char* attribute, const srNames* names) {
  if (!sr_xml_attribute(s->node, attribute))
    sr_mjcf_error(s->m, s->node->place, "<%s> needs '%s'", s->node->name, attribute);
  return sr_mjcf_find(s->m, s->node, attribute, names, attribute);
}

static bool is(const Sensor* s, const char* words) { return sr_text_is_among(s->node->name, words); }

// ------------------------------------------------------------------------------------------------------------ formulas
static void of_joint(Sensor* s) {
  srMjcf* m = s->m;
  const bool rate = is(s, "jointvel|ballangvel"), ball = is(s, "ballquat|ballangvel");
  const int j = find(s, "joint", &m->joint_names);
  if (j < 0) return;
  const srMjcfJointType type = m->joint[j].type;
  if (ball ? type != SR_MJCF_BALL : !sr_mjcf_is_scalar(m, j)) {
    sr_mjcf_error(m, s->node->place, "<%s> needs %s, which '%.60s' is not", s->node->name,
                  ball ? "a ball joint" : "a hinge or slide joint", m->joint[j].name);
    return;
  }
  if (!ball) {
    static const char* const units[2][2] = {{"rad", "rad/s"}, {"m", "m/s"}};
    add_formula(s, "", sr_mjcf_coordinate(m, j, rate), units[type == SR_MJCF_SLIDE][rate]);
    return;
  }
  for (int k = rate ? 1 : 0; k < 4; k++) {
    static const char* const parts[] = {"w", "x", "y", "z"};
    const char* formula =
        sr_pool_printf(&m->r->pool, "%c(%s, %d)", rate ? 'v' : 'q', m->joint[j].name, rate ? k - 1 : k);
    add_formula(s, parts[k], formula, rate ? "rad/s" : NULL);
  }
}

static void of_tendon(Sensor* s) {
  srMjcf* m = s->m;
  const int t = find(s, "tendon", &m->tendon_names);
  if (t < 0) return;
  if (m->tendon[t].n == 0)
    sr_reader_ignore_still(m->r, s->node->place, "<%s> of a spatial tendon", s->node->name);
  else
    add_formula(s, "", sr_mjcf_tendon_text(m, &m->tendon[t], is(s, "tendonvel")), NULL);
}

static void of_actuator(Sensor* s) {
  srMjcf* m = s->m;
  const int i = find(s, "actuator", &m->actuator_names);
  if (i < 0 || i >= m->nactuator) return;
  const srMjcfActuator* a = &m->actuator[i];
  const char* formula = is(s, "actuatorpos") ? a->length : is(s, "actuatorvel") ? a->rate : a->force;
  if (formula && a->control)
    add_formula(s, "", formula, NULL);
  else
    sr_reader_ignore_still(m->r, s->node->place, "<%s> of an actuator that has no such formula here", s->node->name);
}

static void of_time(Sensor* s) { add_formula(s, "", "t", "s"); }

// -------------------------------------------------------------------------------------------------------------- frames
// The frame of an xbody, geom or site: "body/point", or a body. NULL after an error or where it is not used.
static const char* frame_of(Sensor* s, const char* type_word, const char* name_word) {
  srMjcf* m = s->m;
  const srXmlAttribute* type = sr_xml_attribute(s->node, type_word);
  const srPlace place = s->node->place;
  if (!type) {
    sr_mjcf_error(m, place, "<%s> needs '%s' and '%s'", s->node->name, type_word, name_word);
    return NULL;
  }
  if (sr_text_is_among(type->value, "body|camera")) {  // a body's own frame is that of its inertia there
    sr_reader_ignore_still(m->r, type->place, "<%s> of a %s", s->node->name, type->value);
    return NULL;
  }
  if (!sr_text_is_among(type->value, "xbody|geom|site")) {
    sr_mjcf_error(m, type->place, "unknown %s '%.60s'; expected xbody, geom, site, body or camera", type_word,
                  type->value);
    return NULL;
  }
  const char letter = type->value[0];
  const int i = sr_mjcf_find(m, s->node, name_word,
                             letter == 'x'   ? &m->body_names
                             : letter == 'g' ? &m->geom_names
                                             : &m->site_names,
                             letter == 'x' ? "body" : type->value);
  if (!sr_xml_attribute(s->node, name_word)) sr_mjcf_error(m, place, "<%s> needs '%s'", s->node->name, name_word);
  if (i < 0) return NULL;
  if (letter == 's') return m->site[i].point;
  double identity[16];
  srm_pose_identity(identity);
  if (letter == 'g' && i >= m->ngeom) return NULL;
  if (letter == 'g' && (!m->geom[i].type || strcmp(m->geom[i].type, "mesh") == 0)) {  // MuJoCo moves its frame
    sr_reader_ignore_still(m->r, place, "<%s> of a mesh geom, whose frame is that of its inertia in MuJoCo,",
                           s->node->name);
    return NULL;
  }
  const int body = letter == 'g' ? m->geom[i].body : i;
  if (letter == 'x' && memcmp(m->body[i].inner, identity, sizeof identity) == 0) return m->body[i].name;
  return sr_mjcf_add_point(m, body, letter == 'g' ? m->geom[i].pose : identity, s->name, place);
}

static void of_frame(Sensor* s) {
  const char* point = frame_of(s, "objtype", "objname");
  if (!point) return;
  const bool relative = sr_xml_attribute(s->node, "reftype") || sr_xml_attribute(s->node, "refname");
  const char* to = relative ? frame_of(s, "reftype", "refname") : NULL;
  if (!relative || to) add_frame(s, point, to);
}

// Velocities of a site in its own axes: u.e_k by the columns of its rotation. The frame has another name than the sensor:
// its columns would be called as these.
static void of_site(Sensor* s) {
  static const char* const axes[] = {"x", "y", "z"};
  srMjcf* m = s->m;
  srPool* pool = &m->r->pool;
  const int i = find(s, "site", &m->site_names);
  if (i < 0) return;
  const char u = is(s, "gyro") ? 'w' : 'v';
  const char* frame = sr_reader_name(m->r, sr_pool_printf(pool, "frame of %s", s->name), &m->sensors);
  add_frame(&(Sensor){.m = m, .node = s->node, .name = frame}, m->site[i].point, NULL);
  for (int k = 0; k < 3; k++) {
    srMjcfText sum = {.pool = pool};
    for (int l = 0; l < 3; l++)
      sr_mjcf_write_term(
          &sum, 1,
          sr_pool_printf(pool, "sensor(%s, r%s%s)*sensor(%s, %c%s)", frame, axes[l], axes[k], frame, u, axes[l]));
    add_formula(s, axes[k], sr_mjcf_written(&sum), u == 'w' ? "rad/s" : "m/s");
  }
}

// ---------------------------------------------------------------------------------------------------------------- entry
static const struct Kind {
  const char* words;
  const char* attributes;
  void (*read)(Sensor* s);
} kinds[] = {
    {"jointpos|jointvel|ballquat|ballangvel", "joint", of_joint},
    {"tendonpos|tendonvel", "tendon", of_tendon},
    {"actuatorpos|actuatorvel|actuatorfrc", "actuator", of_actuator},
    {FRAMES, "objtype|objname|reftype|refname", of_frame},
    {"velocimeter|gyro", "site", of_site},
    {"clock", "", of_time},
};

static void read_sensor(srMjcf* m, const srXmlNode* node) {
  const struct Kind* kind = NULL;
  for (int i = 0; i < SR_COUNT(kinds) && !kind; i++)
    if (sr_text_is_among(node->name, kinds[i].words)) kind = &kinds[i];
  if (!kind) {
    sr_mjcf_other_element(m, node,
                          "jointpos|jointvel|tendonpos|tendonvel|actuatorpos|actuatorvel|actuatorfrc|" FRAMES
                          "|velocimeter|gyro|clock|ballquat|ballangvel",
                          NOT_USED);
    return;
  }
  sr_mjcf_check_attributes(m, node, kind->attributes, "noise|cutoff|nsample|interp|interval|delay|user");
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  if (!m->sensors.pool) sr_names_init(&m->sensors, &m->r->pool);
  const char* wish = name && *name->value ? name->value : NULL;
  if (!wish) wish = sr_pool_printf(&m->r->pool, "%s%d", node->name, srs_count(m->r->spec, SR_ELEMENT_SENSOR) + 1);
  Sensor s = {.m = m, .node = node, .name = sr_reader_name(m->r, wish, &m->sensors)};
  kind->read(&s);
}

void sr_mjcf_sensors(srMjcf* m, const srXmlNode* section) {
  for (const srXmlNode* node = section->first; node && !sr_reader_is_over(m->r, node->place); node = node->next)
    read_sensor(m, node);
}
