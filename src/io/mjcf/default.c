// MJCF's defaults: <default> elements make classes, which inherit from the class around them. An element takes an
// attribute that it does not have from its class: that of `class`, of the childclass around it, or the main class.
// Source: MuJoCo's XML reference, "default", and its overview, "Default settings".
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "io/mjcf/words.h"

// The word under which <default> keeps the attributes of an element, and how the words of a group are recognised. All actuators
// share one set, whatever their word; so do the kinds of equality and of tendon.
typedef struct Group {
  const char* word;      // in <default>
  const char* parents;   // the parent of the element; "" anywhere
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
    if (sr_text_is_among(node->name, groups[i].elements) && sr_text_is_among(parent, groups[i].parents))
      return &groups[i];
  return NULL;
}

int sr_mjcf_class(const srMjcf* m, const srXmlNode* node, const char* childclass) {
  const srXmlAttribute* own = sr_xml_attribute(node, "class");
  const char* name = own ? own->value : childclass;
  return name ? sr_names_find(&m->class_names, name) : sr_mjcf_compiler_of(m, node)->main_class;
}

const srXmlAttribute* sr_mjcf_attribute_level(const srMjcf* m, const srXmlNode* node, const char* childclass,
                                              const char* name, int* level) {
  const srXmlAttribute* a = sr_xml_attribute(node, name);
  *level = 0;
  if (a) return a;
  const Group* group = group_of(node);
  if (!group || m->nclass == 0) return NULL;
  for (int c = sr_mjcf_class(m, node, childclass); c >= 0; c = m->classes[c].parent) {
    const srMjcfClass* here = &m->classes[c];
    for (int i = here->nnode - 1; i >= 0; i--) {  // of several the last one holds
      ++*level;
      a = sr_text_is_among(here->node[i]->name, group->word) ? sr_xml_attribute(here->node[i], name) : NULL;
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
  return !a || sr_mjcf_find_value(m, a, &m->class_names, "default class") >= 0;
}

// ----------------------------------------------------------------------------------------------------------- reading
#define MAX_NODES 300  // of a class: every attribute of every element is searched in them

static void read_default(srMjcf* m, const srXmlNode* node, int self) {
  srMjcfClass* here = &m->classes[self];
  if (!sr_mjcf_check_default(m, node)) return;
  if (here->nnode >= MAX_NODES) {
    sr_mjcf_error(m, node->place, "the default class '%.60s' has too many elements", here->name);
    return;
  }
  SR_PUSH(&m->r->pool, here->node, here->nnode, here->node_capacity) = node;
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

// The main class of an attached model takes nothing from that of the file. It is made by the section with its name.
static int main_class(srMjcf* m, const srXmlNode* section) {
  srMjcfCompiler* c = &m->compiler[section->scope];
  if (section->scope > 0 && c->main_class == 0) {
    c->main_class = m->nclass;
    SR_PUSH(&m->r->pool, m->classes, m->nclass, m->class_capacity) =
        (srMjcfClass){.name = sr_xml_attribute(section, "class")->value, .parent = -1};
  }
  return c->main_class;
}

// A section at the top: its content belongs to the main class, which may have another name there.
void sr_mjcf_defaults(srMjcf* m, const srXmlNode* section) {
  const srXmlAttribute* name = sr_xml_attribute(section, "class");
  const int self = main_class(m, section), taken = name ? sr_names_find(&m->class_names, name->value) : -1;
  sr_mjcf_check_words(m, section, "class", "");
  if (taken >= 0 && taken != self)
    sr_mjcf_error(m, name->place, "there is a default class '%.60s' already", name->value);
  else if (name)
    sr_names_put(&m->class_names, name->value, self);
  read_class(m, section, self);
}
