// MJCF's <attach>: a body or a frame of another model, or all that its world contains, is put into the place of the element,
// with a prefix before every name. It becomes a <frame>; the sections of the other model that belong to it (defaults, assets,
// equalities, actuators, ...) are put before those of the file, and keep the settings of their own <compiler>: they are a
// scope of their own. Source: MuJoCo's XML reference, "asset/model" and "body/attach"; its programming pages, "Model editing".
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "io/mjcf/words.h"

#define MAX_DEPTH 200  // of elements, when all models are put together

typedef enum Kind { BODY, JOINT, GEOM, SITE, TENDON, ACTUATOR, OTHER, NKIND } Kind;  // OTHER: renamed, not searched

static const struct Reference {
  const char* attributes;
  Kind kind;
} references[] = {
    {"body|body1|body2|subtree1|subtree2|target", BODY},
    {"joint|joint1|joint2|jointinparent", JOINT},
    {"geom|geom1|geom2", GEOM},
    {"site|site1|site2|refsite|cranksite|slidersite|sidesite", SITE},
    {"tendon|tendon1|tendon2", TENDON},
    {"actuator", ACTUATOR},
    {"name|class|childclass|mesh|material|texture|hfield|camera", OTHER},
};

typedef struct Attachment {
  srMjcf* m;
  const srXmlNode* node;        // <attach>
  const char *prefix, *suffix;  // suffix: of a <replicate> around it, else ""
  const char* main_class;       // name of the main class of the model
  bool in_world;                // it is in <worldbody> itself: the worlds are one
  srXmlNode* root;              // of the model
  const srXmlNode* part;        // body or frame; NULL: all that the world contains
  srNames all[NKIND];           // names of the model
  srNames taken[NKIND];         // ... of what is attached
} Attachment;

// ----------------------------------------------------------------------------------------------------------- references
static Kind kind_of_type(const srXmlAttribute* type) {
  static const char* const words[] = {"body|xbody", "joint", "geom", "site", "tendon", "actuator"};
  for (int i = 0; type && i < SR_COUNT(words); i++)
    if (sr_text_is_among(type->value, words[i])) return (Kind)i;
  return OTHER;
}

// What an attribute names; NKIND: nothing.
static Kind kind_of(const srXmlNode* node, const srXmlAttribute* a) {
  if (strcmp(a->name, "objname") == 0) return kind_of_type(sr_xml_attribute(node, "objtype"));
  if (strcmp(a->name, "refname") == 0) return kind_of_type(sr_xml_attribute(node, "reftype"));
  for (int i = 0; i < SR_COUNT(references); i++)
    if (sr_text_is_among(a->name, references[i].attributes)) return references[i].kind;
  return NKIND;
}

static bool is_world(Kind kind, const srXmlAttribute* a) { return kind == BODY && strcmp(a->value, "world") == 0; }

static Kind kind_of_element(const srXmlNode* node) {
  const char* parent = node->parent ? node->parent->name : "";
  if (strcmp(parent, "tendon") == 0) return TENDON;
  if (strcmp(parent, "actuator") == 0) return ACTUATOR;
  if (strcmp(node->name, "freejoint") == 0) return JOINT;
  static const char* const words[] = {"body", "joint", "geom", "site"};
  for (int i = 0; i < SR_COUNT(words); i++)
    if (strcmp(node->name, words[i]) == 0) return (Kind)i;
  return OTHER;
}

static void collect(srNames* names, const srXmlNode* node) {
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  const Kind kind = kind_of_element(node);
  if (name && kind != OTHER) sr_names_put(&names[kind], name->value, 0);
  for (const srXmlNode* child = node->first; child; child = child->next) collect(names, child);
}

// Whether something that it refers to is in the model but not in what is attached.
static bool is_outside(const Attachment* t, const srXmlNode* node) {
  for (int i = 0; i < node->nattribute; i++) {
    const srXmlAttribute* a = &node->attributes[i];
    const Kind kind = kind_of(node, a);
    if (kind >= OTHER) continue;
    if (sr_names_find(&t->all[kind], a->value) >= 0 && sr_names_find(&t->taken[kind], a->value) < 0) return true;
  }
  for (const srXmlNode* child = node->first; child; child = child->next)
    if (is_outside(t, child)) return true;
  return false;
}

// An equality with the world is indicated by a missing second body.
static bool refers_to_world(const srXmlNode* node) {
  if (sr_text_is_among(node->name, "connect|weld") && sr_xml_attribute(node, "body1") &&
      !sr_xml_attribute(node, "body2"))
    return true;
  for (int i = 0; i < node->nattribute; i++)
    if (is_world(kind_of(node, &node->attributes[i]), &node->attributes[i])) return true;
  return false;
}

// -------------------------------------------------------------------------------------------------------------- renaming
static const char* new_value(const Attachment* t, const srXmlNode* node, const srXmlAttribute* a) {
  const Kind kind = kind_of(node, a);
  if (kind == NKIND || !*a->value || is_world(kind, a)) return a->value;
  if (sr_text_is_among(a->name, "class|childclass") && strcmp(a->value, "main") == 0) return t->main_class;
  return sr_pool_printf(&t->m->r->pool, "%s%s%s", t->prefix, a->value, t->suffix);
}

// A mesh without a name has that of its file, which gets the prefix as well.
static void rename_node(const Attachment* t, srXmlNode* node) {
  srPool* pool = &t->m->r->pool;
  const bool unnamed = strcmp(node->name, "mesh") == 0 && node->parent && strcmp(node->parent->name, "asset") == 0 &&
                       !sr_xml_attribute(node, "name");
  const char* word = unnamed ? sr_mjcf_mesh_word(t->m, node) : NULL;
  srXmlAttribute* own = sr_pool_alloc(pool, (size_t)(node->nattribute + 1) * sizeof *own);
  for (int i = 0; i < node->nattribute; i++) {
    own[i] = node->attributes[i];
    own[i].value = new_value(t, node, &own[i]);
  }
  if (word)
    own[node->nattribute++] =
        (srXmlAttribute){"name", sr_pool_printf(pool, "%s%s%s", t->prefix, word, t->suffix), node->place, node->place};
  node->attributes = own;
  for (srXmlNode* child = node->first; child; child = child->next) rename_node(t, child);
}

// ------------------------------------------------------------------------------------------------------------- sections
static srXmlNode* new_node(const Attachment* t, const char* name, const char* attribute, const char* value) {
  srXmlNode* node = sr_pool_alloc(&t->m->r->pool, sizeof *node);
  node->name = name;
  node->place = t->node->place;
  node->scope = t->root->scope;
  node->attributes = sr_pool_alloc(&t->m->r->pool, sizeof *node->attributes);
  node->attributes[0] = (srXmlAttribute){attribute, value, node->place, node->place};
  node->nattribute = 1;
  return node;
}

static srXmlNode* take(srXmlNode* to, srXmlNode* child) {
  child->next = NULL;
  return sr_xml_append(to, child);
}

// Elements of a section that refer to what is attached alone; their names are known from then on.
static void take_elements(Attachment* t, const srXmlNode* section, srXmlNode* to) {
  srXmlNode* copy = sr_pool_alloc(&t->m->r->pool, sizeof *copy);
  *copy = *section;
  copy->first = copy->last = NULL;
  for (srXmlNode *node = section->first, *next; node; node = next) {
    next = node->next;
    if (is_outside(t, node)) continue;
    if (!t->in_world && refers_to_world(node)) {
      sr_mjcf_error(t->m, node->place,
                    "<%.60s> refers to the world of an attached model, which is not that of the file: attach it in "
                    "<worldbody> itself, or name another body",
                    node->name);
    } else {
      take(copy, node);
      if (sr_text_is_among(section->name, "tendon|actuator")) collect(t->taken, node);
      rename_node(t, node);
    }
  }
  take(to, copy);
}

static void tell_unused(srMjcf* m, const srXmlNode* section) {
  if (strcmp(section->name, "keyframe") == 0)
    sr_reader_ignore_still(m->r, section->place, "<keyframe> of an attached model");
  const srXmlAttribute* gravity = sr_xml_attribute(section, "gravity");
  if (strcmp(section->name, "option") == 0 && (gravity || section->first))
    sr_reader_ignore(m->r, gravity ? gravity->place : section->place, "%s of <option> of an attached model",
                     gravity ? "'gravity'" : "<flag>");
  const srXmlAttribute* total = sr_xml_attribute(section, "settotalmass");
  if (strcmp(section->name, "compiler") == 0 && total)
    sr_reader_ignore(m->r, total->place, "'settotalmass' of an attached model");
}

static void take_sections(Attachment* t, srXmlNode* to) {
  static const char* const order[] = {"tendon", "actuator"};  // the others may refer to them
  static const char unused[] =
      "compiler|option|size|visual|statistic|custom|extension|keyframe|worldbody|tendon|actuator";
  take(to, new_node(t, "default", "class", t->main_class));
  for (int i = 0; i < SR_COUNT(order); i++)
    for (const srXmlNode* node = t->root->first; node; node = node->next)
      if (strcmp(node->name, order[i]) == 0) take_elements(t, node, to);
  for (srXmlNode *node = t->root->first, *next; node; node = next) {
    next = node->next;
    tell_unused(t->m, node);
    if (sr_text_is_among(node->name, "equality|contact|sensor"))
      take_elements(t, node, to);
    else if (!sr_text_is_among(node->name, unused))
      rename_node(t, take(to, node));
  }
}

// --------------------------------------------------------------------------------------------------------------- bodies
// A <body> or <frame> by its name.
static srXmlNode* find_part(srXmlNode* node, const char* kind, const char* word) {
  for (srXmlNode* child = node->first; child; child = child->next) {
    const srXmlAttribute* name = sr_xml_attribute(child, "name");
    if (strcmp(child->name, kind) == 0 && name && strcmp(name->value, word) == 0) return child;
    srXmlNode* found = sr_text_is_among(child->name, "worldbody|body|frame") ? find_part(child, kind, word) : NULL;
    if (found) return found;
  }
  return NULL;
}

// The class that holds for the body or frame in its model. Of the frames around it nothing else is kept, as in MuJoCo.
static const char* class_around(const Attachment* t) {
  for (const srXmlNode* node = t->part ? t->part->parent : NULL; node; node = node->parent) {
    const srXmlAttribute* a = sr_xml_attribute(node, "childclass");
    if (a) return new_value(t, node, a);
  }
  return t->main_class;
}

static void take_children(srXmlNode* to, const srXmlNode* from) {
  for (srXmlNode *node = from->first, *next; node; node = next) {
    next = node->next;
    take(to, node);
  }
}

// <attach> becomes a <frame> with the body or frame, or with a <frame> for each <worldbody>.
static void take_bodies(Attachment* t, srXmlNode* attach, srXmlNode* part) {
  const srXmlNode* frame = new_node(t, "frame", "childclass", class_around(t));
  attach->name = frame->name;
  attach->attributes = frame->attributes;
  attach->nattribute = frame->nattribute;
  attach->scope = frame->scope;
  if (part) {
    collect(t->taken, part);
    rename_node(t, take(attach, part));
    return;
  }
  for (const srXmlNode* world = t->root->first; world; world = world->next) {
    if (strcmp(world->name, "worldbody") != 0) continue;
    collect(t->taken, world);
    srXmlNode* inner = sr_pool_alloc(&t->m->r->pool, sizeof *inner);
    *inner = *world;
    inner->name = "frame";
    inner->first = inner->last = NULL;
    take_children(inner, world);
    rename_node(t, take(attach, inner));
  }
}

// ----------------------------------------------------------------------------------------------------------- the element
// Its name, or where it has none that of the model in its file. NULL after an error.
static const char* word_of_model(srMjcf* m, const srXmlNode* model, const srMjcfFile* file) {
  const srXmlAttribute* name = sr_xml_attribute(model, "name");
  return name ? name->value : sr_mjcf_model_word(m, model, file);
}

static const srXmlNode* find_model(srMjcf* m, const srXmlNode* root, const srXmlAttribute* word,
                                   const srMjcfFile* file) {
  for (const srXmlNode* section = root->first; section; section = section->next)
    for (const srXmlNode* node = section->first; node && strcmp(section->name, "asset") == 0; node = node->next) {
      if (strcmp(node->name, "model") != 0) continue;
      const char* own = word_of_model(m, node, file);
      if (!own) return NULL;
      if (strcmp(own, word->value) == 0) return node;
    }
  sr_mjcf_error(m, word->place, "there is no <model> '%.60s' in <asset>", word->value);
  return NULL;
}

static const char* suffix_of(const srXmlNode* node) {
  const srXmlAttribute* suffix = sr_xml_attribute(node, SR_MJCF_SUFFIX);
  return suffix ? suffix->value : "";
}

// False after an error.
static bool check(srMjcf* m, const srXmlNode* node, const srXmlNode* root) {
  const srXmlAttribute *model = sr_xml_attribute(node, "model"), *prefix = sr_xml_attribute(node, "prefix"),
                       *frame = sr_xml_attribute(node, "frame");
  const int before = sr_reader_errors(m->r);
  const char* missing = !model ? "model" : !prefix ? "prefix" : NULL;
  if (!sr_mjcf_check_words(m, node, "model|body|frame|prefix|" SR_MJCF_SUFFIX, ""))
    return false;
  else if (frame && sr_xml_attribute(node, "body"))
    sr_mjcf_error(m, frame->name_place,
                  "<attach> has 'body' and 'frame': give one of them, or none for the whole model");
  else if (missing)
    sr_mjcf_error(m, node->place, "<attach> needs the attribute '%s'", missing);
  else if (!sr_names_put(&m->attachments,
                         sr_pool_printf(&m->r->pool, "%d %zu %s%s %s", root->scope, strlen(model->value), model->value,
                                        prefix->value, suffix_of(node)),
                         0))
    sr_mjcf_error(m, prefix->place, "the model '%.60s' is attached with the prefix '%.60s' already: give another one",
                  model->value, prefix->value);
  return sr_reader_errors(m->r) == before;
}

// The body or frame that <attach> names; NULL: none. False after an error.
static bool find_attached(const Attachment* t, srXmlNode** part) {
  static const char* const kinds[] = {"body", "frame"};
  *part = NULL;
  for (int i = 0; i < SR_COUNT(kinds); i++) {
    const srXmlAttribute* word = sr_xml_attribute(t->node, kinds[i]);
    if (!word || (i == 0 && strcmp(word->value, "world") == 0)) continue;
    *part = find_part(t->root, kinds[i], word->value);
    if (*part) continue;
    sr_mjcf_error(t->m, word->place, "there is no %s '%.60s' in the attached model", kinds[i], word->value);
    return false;
  }
  return true;
}

// Elements above and below, itself counted once.
static int depth_of(const srXmlNode* node) { return node ? 1 + depth_of(node->parent) : 0; }

static int height_of(const srXmlNode* node) {
  int most = 0;
  for (const srXmlNode* child = node->first; child; child = child->next) {
    const int height = height_of(child);
    if (height > most) most = height;
  }
  return 1 + most;
}

// The model's tree, its own attachments in it; `here` becomes its file. NULL after an error.
static srXmlNode* open_model(srMjcf* m, const srXmlNode* model, const srMjcfFile* file, srMjcfFile* here) {
  if (!sr_mjcf_check_words(m, model, "name|file|content_type", "")) return NULL;
  srXmlNode* root = sr_mjcf_open_model(m, model, file, here);
  for (const srXmlNode* part = root ? root->first : NULL; part; part = part->next)
    if (strcmp(part->name, "compiler") == 0) sr_mjcf_compiler(m, part);
  if (root) root = sr_mjcf_replicate(m, root);
  return root ? sr_mjcf_attach(m, root, here) : NULL;
}

static void collect_all(Attachment* t) {
  for (int i = 0; i < NKIND; i++) {
    sr_names_init(&t->all[i], &t->m->r->pool);
    sr_names_init(&t->taken[i], &t->m->r->pool);
  }
  for (const srXmlNode* part = t->root->first; part; part = part->next)
    if (sr_text_is_among(part->name, "worldbody|tendon|actuator")) collect(t->all, part);
}

static bool attach(srMjcf* m, srXmlNode* node, const srXmlNode* root, const srMjcfFile* file, srXmlNode* sections) {
  srMjcfFile here;
  srXmlNode* part;
  if (!check(m, node, root)) return false;
  const srXmlNode* model = find_model(m, root, sr_xml_attribute(node, "model"), file);
  Attachment t = {.m = m, .node = node, .prefix = sr_xml_attribute(node, "prefix")->value, .suffix = suffix_of(node)};
  t.root = model ? open_model(m, model, file, &here) : NULL;
  if (!t.root) return false;
  t.main_class = sr_pool_printf(&m->r->pool, "%smain#%d%s", t.prefix, t.root->scope, t.suffix);
  t.in_world = strcmp(node->parent->name, "worldbody") == 0;
  if (!find_attached(&t, &part)) return false;
  t.part = part;
  collect_all(&t);
  take_bodies(&t, node, part);
  if (depth_of(node) + height_of(node) > MAX_DEPTH) {
    sr_mjcf_error(m, node->place, "elements are nested more than %d deep when all models are merged", MAX_DEPTH);
    return false;
  }
  take_sections(&t, sections);
  return true;
}

// False after an error: what refers to the model would be wrong too.
static bool attach_all(srMjcf* m, srXmlNode* node, const srXmlNode* root, const srMjcfFile* file, srXmlNode* sections) {
  for (srXmlNode* child = node->first; child && !m->r->stopped; child = child->next) {
    if (strcmp(child->name, "attach") == 0) {
      if (!attach(m, child, root, file, sections)) return false;
    } else if (sr_text_is_among(child->name, "worldbody|body|frame") && !attach_all(m, child, root, file, sections)) {
      return false;
    }
  }
  return !m->r->stopped;
}

srXmlNode* sr_mjcf_attach(srMjcf* m, srXmlNode* root, const srMjcfFile* file) {
  srXmlNode sections = {0};
  if (!attach_all(m, root, root, file, &sections)) return NULL;
  for (srXmlNode* node = sections.first; node; node = node->next) node->parent = root;
  if (sections.last) {
    sections.last->next = root->first;
    root->first = sections.first;
  }
  return root;
}
