// MJCF's <compiler> and <option>: how the file is to be understood, gravity and the time step.
#include <math.h>
#include <string.h>

#include "io/mjcf/law.h"
#include "io/mjcf/mjcf.h"
#include "io/mjcf/words.h"

int sr_mjcf_new_compiler(srMjcf* m, const char* folder) {
  SR_PUSH(&m->r->pool, m->compiler, m->ncompiler, m->compiler_capacity) = (srMjcfCompiler){
      .degree = true,
      .autolimits = true,
      .euler_sequence = "xyz",
      .inertia_from_geom = 2,
      .most_group = 5,
      .mesh_folder = "",
      .folder = folder,
  };
  return m->ncompiler - 1;
}

const srMjcfCompiler* sr_mjcf_compiler_of(const srMjcf* m, const srXmlNode* node) { return &m->compiler[node->scope]; }

static void read_euler_sequence(srMjcf* m, srMjcfCompiler* c, const srXmlAttribute* a) {
  if (!a) return;
  if (strlen(a->value) == 3 && strspn(a->value, "xyzXYZ") == 3)
    memcpy(c->euler_sequence, a->value, 4);
  else
    sr_mjcf_error(m, a->place, "'%.60s' in 'eulerseq' is not three letters of x y z X Y Z", a->value);
}

static void read_groups(srMjcf* m, srMjcfCompiler* c, const srXmlAttribute* a) {
  double range[2];
  if (!a || sr_mjcf_values(m, a, 2, 2, range) < 0) return;
  if (fabs(range[0]) > 1e6 || fabs(range[1]) > 1e6) {
    sr_mjcf_error(m, a->place, "groups are small whole numbers, got %g %g", range[0], range[1]);
    return;
  }
  c->least_group = (int)range[0];
  c->most_group = (int)range[1];
}

static void read_bound(srMjcf* m, const srXmlNode* node, const char* name, double* bound) {
  double value;
  if (!sr_xml_attribute(node, name) || sr_mjcf_values(m, sr_xml_attribute(node, name), 1, 1, &value) < 0) return;
  if (value < 0 && strcmp(name, "settotalmass") != 0)
    sr_mjcf_error(m, sr_xml_attribute(node, name)->place, "'%s' must not be negative, got %g", name, value);
  else
    *bound = value;
}

// Attributes of a later <compiler> replace those of an earlier one.
void sr_mjcf_compiler(srMjcf* m, const srXmlNode* node) {
  static const char* const angles[] = {"radian", "degree"};
  static const char* const coordinates[] = {"local", "global"};
  static const char* const from_geom[] = {"false", "true", "auto"};
  const srXmlAttribute* coordinate = sr_xml_attribute(node, "coordinate");
  srMjcfCompiler* c = &m->compiler[node->scope];
  sr_mjcf_check_own_words(m, node);
  c->degree = sr_mjcf_choice(m, sr_xml_attribute(node, "angle"), angles, 2, c->degree) == 1;
  if (sr_mjcf_choice(m, coordinate, coordinates, 2, 0) == 1)
    sr_mjcf_error(m, coordinate->place, "global coordinates are not understood (nor by MuJoCo since 2.3.4)");
  c->inertia_from_geom =
      sr_mjcf_choice(m, sr_xml_attribute(node, "inertiafromgeom"), from_geom, 3, c->inertia_from_geom);
  c->autolimits = sr_mjcf_flag(m, node, NULL, "autolimits", c->autolimits);
  c->balance_inertia = sr_mjcf_flag(m, node, NULL, "balanceinertia", c->balance_inertia);
  c->exact_mesh_inertia = sr_mjcf_flag(m, node, NULL, "exactmeshinertia", c->exact_mesh_inertia);
  c->fit_aabb = sr_mjcf_flag(m, node, NULL, "fitaabb", c->fit_aabb);
  c->strip_path = sr_mjcf_flag(m, node, NULL, "strippath", c->strip_path);
  read_euler_sequence(m, c, sr_xml_attribute(node, "eulerseq"));
  read_groups(m, c, sr_xml_attribute(node, "inertiagrouprange"));
  read_bound(m, node, "boundmass", &c->bound_mass);
  read_bound(m, node, "boundinertia", &c->bound_inertia);
  read_bound(m, node, "settotalmass", &c->total_mass);
  const srXmlAttribute *folder = sr_xml_attribute(node, "meshdir"), *assets = sr_xml_attribute(node, "assetdir");
  if (folder || assets) c->mesh_folder = folder ? folder->value : assets->value;
  for (const srXmlNode* child = node->first; child; child = child->next)
    sr_mjcf_other_element(m, child, "", "lengthrange");
}

// The flags themselves hold for the whole file, whichever <option> sets them last: see use_flags.
static void check_flag(srMjcf* m, const srXmlNode* node) {
  static const char* const words[] = {"disable", "enable"};
  static const char* const used[] = {"gravity", "constraint", "limit", "frictionloss", "passive", "spring", "damper"};
  sr_mjcf_check_own_words(m, node);
  for (int i = 0; i < SR_COUNT(used); i++) sr_mjcf_choice(m, sr_xml_attribute(node, used[i]), words, 2, 1);
}

void sr_mjcf_option(srMjcf* m, const srXmlNode* node) {
  const srXmlAttribute *gravity = sr_xml_attribute(node, "gravity"), *step = sr_xml_attribute(node, "timestep");
  double value;
  sr_mjcf_check_own_words(m, node);
  if (gravity && sr_mjcf_values(m, gravity, 3, 3, m->gravity) == 3) {
    m->gravity_given = true;
    m->gravity_place = gravity->place;
  }
  if (step && sr_mjcf_values(m, step, 1, 1, &value) == 1) {
    m->timestep = value;
    m->timestep_place = step->place;
    if (value <= 0) sr_mjcf_error(m, step->place, "'timestep' must be positive, got %g", value);
  }
  for (const srXmlNode* child = node->first; child; child = child->next)
    if (strcmp(child->name, "flag") == 0)
      check_flag(m, child);
    else
      sr_mjcf_other_element(m, child, "flag", "");
}

static void use_flags(srMjcf* m) {
  const srXmlAttribute* weightless = sr_mjcf_disabling(m, "gravity");
  if (weightless) {
    memset(m->gravity, 0, sizeof m->gravity);
    m->gravity_given = true;
    m->gravity_place = weightless->place;
  }
  m->with_limits = !sr_mjcf_is_disabled(m, "limit");
  m->with_friction = !sr_mjcf_is_disabled(m, "frictionloss");
  m->with_springs = !sr_mjcf_is_disabled(m, "spring");
  m->with_dampers = !sr_mjcf_is_disabled(m, "damper");
}

// A model that includes this one has the name, the gravity and the run.
void sr_mjcf_put_options(srMjcf* m) {
  const srXmlAttribute* name = sr_xml_attribute(m->root, "model");
  const double* g = m->gravity;
  use_flags(m);
  if (m->how->included) {
    if (g[0] != 0 || g[1] != 0 || g[2] != -9.81)
      sr_reader_warning(
          m->r, m->gravity_place,
          "gravity of an included file is not used: it has %g %g %g, the model that includes it has its own", g[0],
          g[1], g[2]);
    return;
  }
  srModelDef model = {.version = {.text = "1", .place = m->root->place}};
  if (name && *name->value)
    model.name = (srAttr){.text = sr_reader_name(m->r, name->value, NULL), .place = name->place};
  sr_reader_add(m->r, SR_ELEMENT_MODEL, SR_NO_OWNER, &model, m->root->place);
  if (m->gravity_given) {
    const srOptionDef option = {.gravity = sr_reader_list(m->r, g, 3, m->gravity_place)};
    sr_reader_add(m->r, SR_ELEMENT_OPTION, SR_NO_OWNER, &option, m->gravity_place);
  }
  if (m->timestep_place.line > 0) {
    const srRunDef run = {.step = sr_reader_one(m->timestep, m->timestep_place)};
    sr_reader_add(m->r, SR_ELEMENT_RUN, SR_NO_OWNER, &run, m->timestep_place);
  }
}
