// xacro written out: a new tree is built from the old one, element by element. The language as the ROS documentation
// describes it (wiki.ros.org/xacro): properties are evaluated when they are first used, macros see the names of their
// caller, blocks are written out in place.
#include "io/xacro/xacro.h"

#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/package.h"
#include "io/xacro/parts.h"

#define MAX_INCLUDES 1000

// ---------------------------------------------------------------------------------------------------------- messages
static void say(srXacro* x, srPlace place, const char* text, const char* how) {
  char full[1200];
  x->failed = true;
  snprintf(full, sizeof full, "%s%s", text, how);
  if (x->call) {
    const size_t n = strlen(full);
    const srPlace from = x->call->place;
    snprintf(full + n, sizeof full - n, " (in the macro '%.60s', called at %.200s:%d)", x->call->macro->name,
             from.file ? from.file : "", from.line);
  }
  const char* key =
      sr_pool_printf(&x->r->pool, "%s:%d:%d %s", place.file ? place.file : "", place.line, place.column, text);
  if (sr_names_put(&x->said, key, 0)) sr_reader_error(x->r, place, "%s", full);
}

void sr_xacro_error(srXacro* x, srPlace place, const char* format, ...) {
  char text[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (!x->stopped) say(x, place, text, "");
}

void sr_xacro_beyond(srXacro* x, srPlace place, const char* format, ...) {
  char text[600], how[600] = "";
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (x->stopped) return;
  if (!x->told_how) {  // robot.urdf.xacro > robot.urdf
    const int n = (int)strlen(x->file), bare = sr_text_ends_with(x->file, ".xacro") ? n - 6 : n;
    const char* end = bare < n && bare >= 5 && strncmp(x->file + bare - 5, ".urdf", 5) == 0 ? "" : ".urdf";
    snprintf(how, sizeof how, "; ROS's own program writes the file out: xacro %.200s > %.*s%s", x->file,
             bare < 200 ? bare : 200, x->file, end);
  }
  x->told_how = true;
  say(x, place, text, how);
}

// ------------------------------------------------------------------------------------------------------------ bounds
bool sr_xacro_enter(srXacro* x, srPlace place) {
  if (x->stopped) return false;
  x->depth++;
  x->steps++;
  if (x->depth > SR_XACRO_DEPTH)
    sr_xacro_error(x, place, "this is nested more than %d levels deep: a macro that calls itself without end?",
                   SR_XACRO_DEPTH);
  else if (x->steps > SR_XACRO_STEPS)
    sr_xacro_error(x, place, "more than %d elements and formulas when all macros are written out", SR_XACRO_STEPS);
  else if (sr_reader_errors(x->r) < SR_READER_MAX_ERRORS)
    return true;
  x->depth--;
  x->failed = x->stopped = true;
  return false;
}

void sr_xacro_leave(srXacro* x) { x->depth--; }

bool sr_xacro_room(srXacro* x, size_t size, srPlace place) {
  if (x->stopped) return false;
  x->size += size;
  if (x->size <= SR_XACRO_SIZE) return true;
  sr_xacro_error(x, place, "more than %d MiB of text when all macros are written out", (int)(SR_XACRO_SIZE >> 20));
  x->stopped = true;
  return false;
}

// -------------------------------------------------------------------------------------------------------------- tree
static int depth_of(const srXmlNode* node) {
  int depth = 0;
  for (; node; node = node->parent) depth++;
  return depth;
}

// A new last child of `to`; NULL after an error.
static srXmlNode* add_node(srXacro* x, const srXmlNode* like, const char* name, srXmlNode* to) {
  if (depth_of(to) >= SR_XML_MAX_DEPTH) {
    sr_xacro_error(x, like->place, "<%.60s> is nested more than %d elements deep", name, SR_XML_MAX_DEPTH);
    x->stopped = true;
    return NULL;
  }
  srXmlNode* node = sr_pool_alloc(&x->r->pool, sizeof *node);
  node->name = name;
  node->place = like->place;
  return to ? sr_xml_append(to, node) : node;
}

static void set_attribute(srXacro* x, srXmlNode* node, srXmlAttribute a) {
  for (int i = 0; i < node->nattribute; i++)
    if (strcmp(node->attributes[i].name, a.name) == 0) {
      node->attributes[i] = a;
      return;
    }
  if (node->nattribute >= SR_XML_MAX_ATTRIBUTES) {
    sr_xacro_error(x, a.name_place, "<%.60s> has more than %d attributes", node->name, SR_XML_MAX_ATTRIBUTES);
    return;
  }
  srXmlAttribute* larger = sr_pool_alloc(&x->r->pool, (size_t)(node->nattribute + 1) * sizeof *larger);
  if (node->nattribute > 0) memcpy(larger, node->attributes, (size_t)node->nattribute * sizeof *larger);
  larger[node->nattribute++] = a;
  node->attributes = larger;
}

// Those with the prefix xacro: are for xacro alone. scope NULL: they are written out already.
static void copy_attributes(srXacro* x, srXacroScope* scope, const srXmlNode* from, srXmlNode* node) {
  if (from->nattribute == 0) return;
  node->attributes = sr_pool_alloc(&x->r->pool, (size_t)from->nattribute * sizeof *node->attributes);
  for (int i = 0; i < from->nattribute; i++) {
    srXmlAttribute a = from->attributes[i];
    if (strncmp(a.name, "xmlns:", 6) == 0 || strncmp(a.name, "xacro:", 6) == 0) continue;
    if (scope) a.value = sr_xacro_words(x, scope, a.value, a.place);
    if (!a.value) a.value = "";  // there was an error
    node->attributes[node->nattribute++] = a;
  }
}

static void set_text(srXmlNode* node, const char* text, srPlace place) {
  if (!text || !*text || node->text) return;
  node->text = text;
  node->text_size = strlen(text);
  node->text_place = place;
}

// A block that is written out already.
static void copy_node(srXacro* x, const srXmlNode* from, srXmlNode* to) {
  if (!sr_xacro_enter(x, from->place)) return;
  srXmlNode* node = add_node(x, from, from->name, to);
  if (node) {
    copy_attributes(x, NULL, from, node);
    set_text(node, from->text, from->text_place);
    for (const srXmlNode* child = from->first; child; child = child->next) copy_node(x, child, node);
  }
  sr_xacro_leave(x);
}

// ------------------------------------------------------------------------------------------------- words of elements
// False after errors: an attribute that is not in the list, or the first one of the list is missing.
static bool check_attributes(srXacro* x, const srXmlNode* node, const char* const* words, int n, int needed) {
  bool good = true;
  for (int i = 0; i < node->nattribute; i++) {
    const srXmlAttribute* a = &node->attributes[i];
    bool known = false;
    for (int k = 0; k < n; k++) known = known || strcmp(a->name, words[k]) == 0;
    if (known || strncmp(a->name, "xmlns", 5) == 0) continue;
    const char* nearest = sr_nearest_word(a->name, words, n);
    if (nearest)
      sr_xacro_error(x, a->name_place, "<%.60s> has no '%.60s'; did you mean '%s'?", node->name, a->name, nearest);
    else
      sr_xacro_beyond(x, a->name_place, "'%.60s' of <%.60s> is not understood", a->name, node->name);
    good = false;
  }
  for (int k = 0; k < needed; k++)
    if (!sr_xml_attribute(node, words[k])) {
      sr_xacro_error(x, node->place, "<%.60s> needs '%s'", node->name, words[k]);
      good = false;
    }
  return good;
}
#define CHECK(x, node, needed, ...)                                                                                    \
  check_attributes(x, node, (const char* const[]){__VA_ARGS__},                                                        \
                   (int)(sizeof((const char* const[]){__VA_ARGS__}) / sizeof(const char*)), needed)

// An attribute as text, written out; NULL: it is not there, or had an error.
static const char* attribute_text(srXacro* x, srXacroScope* scope, const srXmlNode* node, const char* name) {
  const srXmlAttribute* a = sr_xml_attribute(node, name);
  return a ? sr_xacro_words(x, scope, a->value, a->place) : NULL;
}

// True when the attribute holds; `value` where it is not given.
static bool flag(srXacro* x, srXacroScope* scope, const srXmlNode* node, const char* name, bool value) {
  const srXmlAttribute* a = sr_xml_attribute(node, name);
  srXacroValue v;
  bool truth = value;
  if (!a || !sr_xacro_text(x, scope, a->value, a->place, &v)) return value;
  if (!sr_xacro_condition(&v, &truth))
    sr_xacro_error(x, a->place, "'%.60s' is neither true nor false: it is '%.60s'", a->value, sr_xacro_print(x, &v));
  return truth;
}

static bool is_name(const char* word) {
  if (!*word || (*word >= '0' && *word <= '9')) return false;
  for (; *word; word++)
    if (!((*word >= 'a' && *word <= 'z') || (*word >= 'A' && *word <= 'Z') || (*word >= '0' && *word <= '9') ||
          *word == '_' || (unsigned char)*word >= 0x80))
      return false;
  return true;
}

// -------------------------------------------------------------------------------------------------------- properties
// The scope that a property goes to; NULL: none (parent of the file itself). *lazy: it may wait for its first use.
static srXacroScope* target_scope(srXacro* x, srXacroScope* scope, const srXmlNode* node, bool* lazy) {
  const srXmlAttribute* a = sr_xml_attribute(node, "scope");
  if (!a || strcmp(a->value, "local") == 0) return scope;
  *lazy = false;
  if (strcmp(a->value, "global") == 0) return x->global;
  if (strcmp(a->value, "parent") != 0)
    sr_xacro_error(x, a->place, "unknown scope '%.60s'; expected local, parent or global", a->value);
  else if (!scope->outer)
    sr_xacro_error(x, a->place, "the property is not inside a macro: there is no scope 'parent'");
  return scope->outer;
}

static void define_value(srXacro* x, srXacroScope* scope, const srXmlNode* node, const char* name,
                         const srXmlAttribute* a) {
  bool lazy = flag(x, scope, node, "lazy_eval", true);
  srXacroValue value = sr_xacro_str(a->value);
  srXacroScope* target = target_scope(x, scope, node, &lazy);
  if (!target) return;
  if (!lazy && !sr_xacro_text(x, scope, a->value, a->place, &value)) return;
  sr_xacro_set(x, target, name, value, lazy, a->place);
}

static void define_block(srXacro* x, srXacroScope* scope, const srXmlNode* node, const char* name) {
  bool lazy;
  srXacroScope* target = target_scope(x, scope, node, &lazy);
  if (!target) return;
  srXacroSymbol* s = sr_xacro_define(x, target, sr_pool_printf(&x->r->pool, "**%s", name));
  s->block = node;
  s->raw = true;
}

static void do_property(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to) {
  (void)to;
  if (!CHECK(x, node, 1, "name", "value", "default", "remove", "scope", "lazy_eval")) return;
  const char* name = attribute_text(x, scope, node, "name");
  const srXmlAttribute *value = sr_xml_attribute(node, "value"), *otherwise = sr_xml_attribute(node, "default");
  if (!name) return;
  if (!is_name(name) || strncmp(name, "__", 2) == 0) {
    sr_xacro_error(x, sr_xml_attribute(node, "name")->place,
                   is_name(name) ? "'%.60s': the name of a property may not begin with __"
                                 : "'%.60s' is not a name that a property may have: letters, digits and _",
                   name);
    return;
  }
  const bool removed = flag(x, scope, node, "remove", false);
  if ((value != NULL) + (otherwise != NULL) + removed > 1) {
    sr_xacro_error(x, node->place, "the property '%.60s' has more than one of 'value', 'default' and 'remove'", name);
  } else if (removed) {
    srXacroSymbol* s = sr_xacro_find(scope, name, NULL);
    if (s) s->gone = true;
  } else if (otherwise) {
    if (!sr_xacro_find(scope, name, NULL)) define_value(x, scope, node, name, otherwise);
  } else if (value) {
    define_value(x, scope, node, name, value);
  } else {
    define_block(x, scope, node, name);
  }
}

static void do_arg(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to) {
  (void)to;
  if (!CHECK(x, node, 1, "name", "default")) return;
  const char* name = attribute_text(x, scope, node, "name");
  if (!name || sr_names_find(&x->argument_names, name) >= 0) return;
  sr_reader_offer(x->r, name);
  const char* value = sr_reader_setting(x->r, name);
  if (!value) value = attribute_text(x, scope, node, "default");
  if (!value) {
    if (!sr_xml_attribute(node, "default"))
      sr_xacro_error(x, node->place, "the argument '%.60s' has no default: give --set %.60s=VALUE", name, name);
    return;
  }
  sr_names_put(&x->argument_names, name, x->nargument);
  SR_PUSH(&x->r->pool, x->argument, x->nargument, x->argument_capacity) = value;
}

// -------------------------------------------------------------------------------------------------------- conditions
static void do_condition(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to) {
  if (!CHECK(x, node, 1, "value")) return;
  const int before = sr_reader_errors(x->r);
  const bool truth = flag(x, scope, node, "value", false);
  if (sr_reader_errors(x->r) > before) return;
  if (truth == (strcmp(node->name, "xacro:if") == 0)) sr_xacro_children(x, scope, node, to);
}

// ------------------------------------------------------------------------------------------------------------ blocks
static void do_insert(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to) {
  if (!CHECK(x, node, 1, "name")) return;
  const char* name = attribute_text(x, scope, node, "name");
  if (!name) return;
  const srXacroSymbol* content = sr_xacro_find(scope, sr_pool_printf(&x->r->pool, "**%s", name), NULL);
  const srXacroSymbol* whole = sr_xacro_find(scope, sr_pool_printf(&x->r->pool, "*%s", name), NULL);
  const srXacroSymbol* s = content ? content : whole;
  if (!s || !s->block) {
    sr_xacro_error(x, node->place, "there is no block '%.60s'", name);
    return;
  }
  if (s->raw) {
    sr_xacro_children(x, scope, s->block, to);
  } else if (s == whole) {
    copy_node(x, s->block, to);
  } else {
    set_text(to, s->block->text, s->block->text_place);
    for (const srXmlNode* child = s->block->first; child; child = child->next) copy_node(x, child, to);
  }
}

static void do_element(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to) {
  const char* name = attribute_text(x, scope, node, "xacro:name");
  if (!name || !*name) {
    if (!sr_xml_attribute(node, "xacro:name") || name)
      sr_xacro_error(x, node->place, "<xacro:element> needs 'xacro:name'");
    return;
  }
  srXmlNode* made = add_node(x, node, name, to);
  if (!made) return;
  copy_attributes(x, scope, node, made);
  sr_xacro_children(x, scope, node, made);
}

static void do_attribute(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to) {
  if (!CHECK(x, node, 2, "name", "value")) return;
  const char* name = attribute_text(x, scope, node, "name");
  const char* value = attribute_text(x, scope, node, "value");
  if (!name || !value) return;
  srXmlAttribute a = *sr_xml_attribute(node, "value");
  a.name = name;
  a.value = value;
  set_attribute(x, to, a);
}

// ---------------------------------------------------------------------------------------------------------- includes
const char* sr_xacro_path(srXacro* x, const char* name, srPlace place) {
  const srImport how = {.folder = x->folder, .base = x->how->base, .included = x->how->included};
  srLookup lookup;
  if (strncmp(name, "file://", 7) == 0) name += 7;
  const char* path = sr_package_find(x->r, &how, name, SR_REACH_TEXT, &lookup);
  if (path) return path;
  if (!lookup.outside && strncmp(name, "package://", 10) != 0)
    return name[0] == '/' ? name : sr_path_join(&x->r->pool, x->folder, name);  // its absence is reported later
  x->lost = true;
  if (lookup.outside) {
    sr_xacro_error(
        x, place,
        "the file '%.200s' is not read: it is in '%.200s', outside of the folder and the package of the model; "
        "--package FOLDER allows one",
        name, lookup.outside);
    return NULL;
  }
  if (lookup.package && !lookup.has_package)
    sr_xacro_error(x, place,
                   "the package '%.60s' of '%.200s' is not found; searched in %.200s; give its location with --package "
                   "%.60s=FOLDER",
                   lookup.package, name, lookup.places, lookup.package);
  else
    sr_xacro_error(x, place, "the file '%.200s' is not found; searched in %.300s", name,
                   lookup.places ? lookup.places : "nothing");
  return NULL;
}

static void do_include(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to) {
  if (!CHECK(x, node, 1, "filename", "optional")) return;
  const srPlace place = sr_xml_attribute(node, "filename")->place;
  const char* name = attribute_text(x, scope, node, "filename");
  if (!name) return;
  if (!x->folder || ++x->includes > MAX_INCLUDES) {
    if (x->folder)
      sr_xacro_error(x, place, "more than %d files are included", MAX_INCLUDES);
    else
      sr_xacro_error(x, place, "the model comes from memory: it may not include '%.200s'", name);
    return;
  }
  if (strpbrk(name, "*?[")) {
    sr_xacro_beyond(x, place, "several files by one name, '%.200s', are not understood", name);
    return;
  }
  const char* path = sr_xacro_path(x, name, place);
  if (!path || (flag(x, scope, node, "optional", false) && !sr_path_is_file(path))) return;
  const char* real = sr_path_real(&x->r->pool, path);
  for (const srXacroFile* f = x->open; f && real; f = f->outer)
    if (f->real && strcmp(f->real, real) == 0) {
      sr_xacro_error(x, place, "'%.200s' includes itself, directly or through others", path);
      x->stopped = true;
      return;
    }
  const srXmlNode* root = sr_reader_open(x->r, path, place);
  if (!root) {
    x->failed = x->lost = true;
    return;
  }
  const srXacroFile file = {real, x->open};
  x->open = &file;
  const char* outer = x->folder;
  x->folder = sr_path_folder(&x->r->pool, path);
  sr_xacro_children(x, scope, root, to);
  x->folder = outer;
  x->open = file.outer;
}

// ---------------------------------------------------------------------------------------------------------- elements
static void do_macro(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to) {
  (void)scope, (void)to;
  if (CHECK(x, node, 1, "name", "params")) sr_xacro_define_macro(x, node);
}

static void do_call(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to) {
  const char* name = attribute_text(x, scope, node, "macro");
  if (name)
    sr_xacro_call(x, scope, node, name, to);
  else if (!sr_xml_attribute(node, "macro"))
    sr_xacro_error(x, node->place, "<xacro:call> needs 'macro'");
}

static const struct {
  const char* word;
  void (*expand)(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to);
} words[] = {{"property", do_property}, {"arg", do_arg},
             {"include", do_include},   {"macro", do_macro},
             {"call", do_call},         {"if", do_condition},
             {"unless", do_condition},  {"insert_block", do_insert},
             {"element", do_element},   {"attribute", do_attribute}};

static void expand_word(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to) {
  const char* word = node->name + 6;
  for (int i = 0; i < SR_COUNT(words); i++)
    if (strcmp(word, words[i].word) == 0) {
      words[i].expand(x, scope, node, to);
      return;
    }
  sr_xacro_call(x, scope, node, word, to);
}

static bool is_word(const srXmlNode* node) { return strncmp(node->name, "xacro:", 6) == 0; }

static void expand_element(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to) {
  if (!sr_xacro_enter(x, node->place)) return;
  srXmlNode* made = NULL;
  if (is_word(node))
    expand_word(x, scope, node, to);
  else if ((made = add_node(x, node, node->name, to)) != NULL)
    copy_attributes(x, scope, node, made), sr_xacro_children(x, scope, node, made);
  sr_xacro_leave(x);
}

void sr_xacro_children(srXacro* x, srXacroScope* scope, const srXmlNode* node, srXmlNode* to) {
  if (node->text) set_text(to, sr_xacro_words(x, scope, node->text, node->text_place), node->text_place);
  for (const srXmlNode* child = node->first; child && !x->stopped; child = child->next)
    expand_element(x, scope, child, to);
}

// ------------------------------------------------------------------------------------------------------------- entry
static bool has_xacro(const srXmlNode* node) {
  if (is_word(node) || sr_xml_attribute(node, "xmlns:xacro")) return true;
  for (const srXmlNode* child = node->first; child; child = child->next)
    if (has_xacro(child)) return true;
  return false;
}

const srXmlNode* sr_xacro_expand(srReader* r, const srXmlNode* root, const srImport* how) {
  if (!has_xacro(root)) return root;
  srXacro x = {.r = r, .how = how, .file = root->place.file ? root->place.file : "FILE", .folder = how->folder};
  sr_names_init(&x.macro_names, &r->pool);
  sr_names_init(&x.argument_names, &r->pool);
  sr_names_init(&x.said, &r->pool);
  x.global = sr_xacro_scope(&x, NULL);
  srXmlNode* made = add_node(&x, root, root->name, NULL);
  const srXacroFile file = {how->folder ? sr_path_real(&r->pool, x.file) : NULL, NULL};
  x.open = &file;
  sr_xacro_children(&x, x.global, root, made);
  srXmlNode named = *root;  // those of the root come last: name="$(arg name)" precedes the declaration of the argument
  named.attributes = NULL;
  named.nattribute = 0;
  copy_attributes(&x, x.global, root, &named);
  for (int i = 0; i < named.nattribute; i++)
    if (!sr_xml_attribute(made, named.attributes[i].name)) set_attribute(&x, made, named.attributes[i]);
  return x.failed ? NULL : made;
}
