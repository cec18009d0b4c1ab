// MJCF's defaults: <default> elements make classes, which inherit from the class around them. An element takes an
// attribute that it does not have from its class: that of `class`, of the childclass around it, or the main class.
// Source: MuJoCo's XML reference, "default", and its overview, "Default settings".
#include <string.h>

#include "io/mjcf.h"
#include "io/mjcf_words.h"

// The word under which <default> keeps the attributes of an element, and how the words of a group are told. All actuators
// share one set, whatever their word; so do the kinds of equality and of tendon.
typedef struct Group {
  const char* word;      // in <default>
  const char* parents;   // what the element stands in; "" anywhere
  const char* elements;  // elements that have these defaults
} Group;

static const Group groups[] = {
    {SR_MJCF_ACTUATORS, "actuator", SR_MJCF_ACTUATORS},
    {"equality", "equality", "connect|weld|joint|tendon|distance|flex|flexvert|flexstrain"},
    {"tendon", "tendon", "fixed|spatial"},
    {"pair", "contact", "pair"},
    {"mesh", "asset", "mesh"},
    {"material", "asset", "material"},
    {"joint", "body|worldbody|frame|replicate", "joint"},
    {"geom", "body|worldbody|frame|replicate", "geom"},
    {"site", "body|worldbody|frame|replicate", "site"},
    {"camera", "body|worldbody|frame|replicate", "camera"},
    {"light", "body|worldbody|frame|replicate", "light"},
};

static const Group* group_of(const srXmlNode* node) {
  const char* parent = node->parent ? node->parent->name : "";
  for (int i = 0; i < SR_COUNT(groups); i++)
    if (sr_mjcf_is_among(node->name, groups[i].elements) && sr_mjcf_is_among(parent, groups[i].parents))
      return &groups[i];
  return NULL;
}

// The class of an element; -1: it has no defaults, or an unknown class, which is reported elsewhere.
static int class_of(const srMjcf* m, const srXmlNode* node, const char* childclass) {
  const srXmlAttribute* own = sr_xml_attribute(node, "class");
  const char* name = own ? own->value : childclass;
  return name ? sr_names_find(&m->class_names, name) : 0;
}

const srXmlAttribute* sr_mjcf_attribute_level(const srMjcf* m, const srXmlNode* node, const char* childclass,
                                              const char* name, int* level) {
  const srXmlAttribute* a = sr_xml_attribute(node, name);
  *level = 0;
  if (a) return a;
  const Group* group = group_of(node);
  if (!group || m->nclass == 0) return NULL;
  for (int c = class_of(m, node, childclass); c >= 0; c = m->classes[c].parent) {
    const srMjcfClass* here = &m->classes[c];
    for (int i = here->nnode - 1; i >= 0; i--) {  // of several the last one holds
      ++*level;
      a = sr_mjcf_is_among(here->node[i]->name, group->word) ? sr_xml_attribute(here->node[i], name) : NULL;
      if (a) return a;
    }
  }
  return NULL;
}

const srXmlAttribute* sr_mjcf_attribute(const srMjcf* m, const srXmlNode* node, const char* childclass,
                                        const char* name) {
  int level;
  return sr_mjcf_attribute_level(m, node, childclass, name, &level);
}

bool sr_mjcf_check_class(srMjcf* m, const srXmlNode* node, const char* attribute) {
  const srXmlAttribute* a = sr_xml_attribute(node, attribute);
  if (!a || sr_names_find(&m->class_names, a->value) >= 0) return true;
  const char* nearest = sr_names_nearest(&m->class_names, a->value);
  if (nearest)
    sr_mjcf_error(m, a->place, "there is no default class '%.60s'; did you mean '%s'?", a->value, nearest);
  else
    sr_mjcf_error(m, a->place, "there is no default class '%.60s'", a->value);
  return false;
}

// ----------------------------------------------------------------------------------------------------------- shortcuts
// A <motor>, <position>, ... in a class sets what a <general> of that class has: its gain, bias and dynamics.
static const struct Shortcut {
  const char *word, *dyntype, *gaintype, *biastype;
} shortcuts[] = {
    {"motor", "none", "fixed", "none"},      {"position", "none", "fixed", "affine"},
    {"velocity", "none", "fixed", "affine"}, {"intvelocity", "integrator", "fixed", "affine"},
    {"damper", "none", "affine", "none"},    {"cylinder", "filter", "fixed", "affine"},
};

// A number of a shortcut, of its class or of those around it.
static double drive_number(srMjcf* m, int self, const char* name, double value) {
  for (int c = self; c >= 0; c = m->classes[c].parent)
    for (int i = m->classes[c].nnode - 1; i >= 0; i--) {
      const srXmlNode* node = m->classes[c].node[i];
      const srXmlAttribute* a = sr_mjcf_is_among(node->name, SR_MJCF_ACTUATORS) ? sr_xml_attribute(node, name) : NULL;
      if (a) return sr_mjcf_values(m, a, 1, 1, &value) == 1 ? value : 0;
    }
  return value;
}

static void set(srXmlNode* node, const char* name, const char* value) {
  node->attributes[node->nattribute++] = (srXmlAttribute){name, value, node->place, node->place};
}

static void add_general(srMjcf* m, int self, const srXmlNode* from, const struct Shortcut* kind) {
  srPool* pool = &m->r->pool;
  srXmlNode* node = sr_pool_alloc(pool, sizeof *node);
  const bool servo = sr_mjcf_is_among(kind->word, "position|intvelocity"), damper = strcmp(kind->word, "damper") == 0;
  const bool velocity = strcmp(kind->word, "velocity") == 0, cylinder = strcmp(kind->word, "cylinder") == 0;
  const double kp = servo ? drive_number(m, self, "kp", 1) : 0;
  const double kv = servo || velocity || damper ? drive_number(m, self, "kv", servo ? 0 : 1) : 0;
  const double ratio = servo ? drive_number(m, self, "dampratio", 0) : 0;
  const double time = servo || cylinder ? drive_number(m, self, "timeconst", cylinder) : 0;
  const double area = cylinder ? drive_number(m, self, "area", 1) : 0;
  *node = (srXmlNode){.name = "general", .place = from->place, .parent = from->parent};
  node->attributes = sr_pool_alloc(pool, 6 * sizeof *node->attributes);
  set(node, "dyntype", strcmp(kind->word, "position") == 0 && time > 0 ? "filterexact" : kind->dyntype);
  set(node, "dynprm", sr_pool_printf(pool, "%.17g", time > 0 ? time : 1));
  set(node, "gaintype", kind->gaintype);
  set(node, "biastype", kind->biastype);
  if (damper)
    set(node, "gainprm", sr_pool_printf(pool, "0 0 %.17g", -kv));
  else
    set(node, "gainprm", sr_pool_printf(pool, "%.17g 0 0", servo ? kp : velocity ? kv : cylinder ? area : 1));
  if (servo || velocity)  // a positive third number is a damping ratio
    set(node, "biasprm", sr_pool_printf(pool, "0 %.17g %.17g", -kp, ratio > 0 ? ratio : -kv));
  srMjcfClass* here = &m->classes[self];
  SR_PUSH(pool, here->node, here->nnode, here->node_capacity) = node;
}

// ----------------------------------------------------------------------------------------------------------- reading
#define MAX_NODES 300  // of a class: every attribute of every element is looked for in them

static void read_default(srMjcf* m, const srXmlNode* node, int self) {
  srMjcfClass* here = &m->classes[self];
  if (!sr_mjcf_check_default(m, node)) return;
  if (here->nnode >= MAX_NODES) {
    sr_mjcf_error(m, node->place, "the default class '%.60s' has too many elements", here->name);
    return;
  }
  SR_PUSH(&m->r->pool, here->node, here->nnode, here->node_capacity) = node;
  for (int i = 0; i < SR_COUNT(shortcuts); i++)
    if (strcmp(node->name, shortcuts[i].word) == 0) add_general(m, self, node, &shortcuts[i]);
}

static void read_class(srMjcf* m, const srXmlNode* node, int self) {
  for (const srXmlNode* child = node->first; child && !sr_reader_is_over(m->r, child->place); child = child->next) {
    if (strcmp(child->name, "default") != 0) {
      read_default(m, child, self);
      continue;
    }
    const srXmlAttribute* name = sr_xml_attribute(child, "class");
    sr_mjcf_check_words(m, child, "class", "");
    if (!name) {
      sr_mjcf_error(m, child->place, "a <default> inside another one needs the attribute 'class'");
    } else if (!sr_names_put(&m->class_names, name->value, m->nclass)) {
      sr_mjcf_error(m, name->place, "there is a default class '%.60s' already", name->value);
    } else {
      SR_PUSH(&m->r->pool, m->classes, m->nclass, m->class_capacity) =
          (srMjcfClass){.name = name->value, .parent = self};
      read_class(m, child, m->nclass - 1);
    }
  }
}

void sr_mjcf_start_defaults(srMjcf* m) {
  sr_names_init(&m->class_names, &m->r->pool);
  SR_PUSH(&m->r->pool, m->classes, m->nclass, m->class_capacity) = (srMjcfClass){.name = "main", .parent = -1};
  sr_names_put(&m->class_names, "main", 0);
}

// A section at the top: what stands in it belongs to the main class, which may be called by another name there.
void sr_mjcf_defaults(srMjcf* m, const srXmlNode* section) {
  const srXmlAttribute* name = sr_xml_attribute(section, "class");
  sr_mjcf_check_words(m, section, "class", "");
  if (name && sr_names_find(&m->class_names, name->value) > 0)
    sr_mjcf_error(m, name->place, "there is a default class '%.60s' already", name->value);
  else if (name)
    sr_names_put(&m->class_names, name->value, 0);
  read_class(m, section, 0);
}
