// Reader of MJCF (root <mujoco>), the model language of MuJoCo. The file's sections may be in any order and several
// times; they are read in the order in which they need each other. Source: MuJoCo's XML reference and modeling pages.
// What becomes of each element: docs/robots/mjcf.md.
#include "io/mjcf/mjcf.h"

#include <string.h>

#include "io/mjcf/words.h"
#include "math/pose.h"

typedef void (*Section)(srMjcf* m, const srXmlNode* section);

static void each(srMjcf* m, const char* word, Section read) {
  for (const srXmlNode* node = m->root->first; node && !m->r->stopped; node = node->next)
    if (strcmp(node->name, word) == 0) read(m, node);
}

// Of the file itself, or of the models that it attaches.
static void check_sections(srMjcf* m, bool attached) {
  static const char used[] = "compiler|option|default|asset|worldbody|equality|actuator|tendon|contact|keyframe|sensor";
  static const char ignored[] = "size|visual|statistic|extension|custom|deformable";
  if (!attached) sr_mjcf_check_own_words(m, m->root);
  for (const srXmlNode* node = m->root->first; node; node = node->next)
    if ((node->scope > 0) == attached && !sr_text_is_among(node->name, used))
      sr_mjcf_other_element(m, node, used, ignored);
}

static void start(srMjcf* m) {
  srPool* pool = &m->r->pool;
  srNames* const names[] = {
      &m->body_names,   &m->joint_names,  &m->site_names, &m->geom_names,     &m->tendon_names, &m->points,
      &m->shapes,       &m->bodies,       &m->joints,     &m->mesh_names,     &m->hfield_names, &m->material_names,
      &m->given_bodies, &m->given_joints, &m->errors,     &m->actuator_names, &m->attachments};
  for (int i = 0; i < SR_COUNT(names); i++) sr_names_init(names[i], pool);
  m->with_limits = m->with_friction = m->with_springs = m->with_dampers = true;
  sr_mjcf_new_compiler(m, "");
  m->gravity[2] = -9.81;
  m->timestep = 0.002;
  sr_mjcf_start_defaults(m);
  sr_mjcf_start_world(m);
}

static void read_sections(srMjcf* m) {
  each(m, "option", sr_mjcf_option);
  sr_mjcf_put_options(m);
  each(m, "default", sr_mjcf_defaults);
  each(m, "asset", sr_mjcf_assets);
  each(m, "worldbody", sr_mjcf_collect_names);
  each(m, "worldbody", sr_mjcf_worldbody);
  sr_mjcf_put_inertia(m);
  sr_mjcf_spring_dampers(m);
  sr_mjcf_gravity_compensation(m);
  each(m, "tendon", sr_mjcf_tendons);
  each(m, "equality", sr_mjcf_equalities);
  each(m, "actuator", sr_mjcf_actuators);
  each(m, "contact", sr_mjcf_contacts);
  if (!m->r->stopped) sr_mjcf_touching(m);
  each(m, "sensor", sr_mjcf_sensors);
  each(m, "keyframe", sr_mjcf_keyframes);
  if (!m->r->stopped) sr_mjcf_stops(m);
}

void sr_read_mjcf(srReader* r, const srXmlNode* root, const srImport* how) {
  srMjcf* m = sr_pool_alloc(&r->pool, sizeof *m);
  m->r = r;
  m->how = how;
  start(m);
  srXmlNode* tree = sr_mjcf_include(m, root);
  m->root = tree;
  if (!m->root) return;
  check_sections(m, false);
  each(m, "compiler", sr_mjcf_compiler);
  tree = sr_mjcf_replicate(m, tree);
  const srMjcfFile file = sr_mjcf_main_file(m, root);
  m->root = tree ? sr_mjcf_attach(m, tree, &file) : NULL;
  if (!m->root) return;
  check_sections(m, true);
  read_sections(m);
}
