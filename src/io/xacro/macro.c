// Macros of xacro: <xacro:macro name="leg" params="x y:=0 z:=^|1 *origin **more">, called as <xacro:leg x="1"> blocks
// </xacro:leg>.
#include <string.h>

#include "io/xacro/parts.h"

// -------------------------------------------------------------------------------------------------------- definition
// The end of a default: a blank that is neither in quotes nor in ${...}.
static const char* default_end(const char* p) {
  char quote = 0;
  int depth = 0;
  for (; *p && (quote || depth > 0 || !sr_text_is_blank(*p)); p++) {
    if (quote) {
      if (*p == quote) quote = 0;
    } else if (*p == '\'' || *p == '"') {
      quote = strchr(p + 1, *p) ? *p : 0;
    } else if (*p == '{' || (*p == '}' && depth > 0)) {
      depth += *p == '{' ? 1 : -1;
    }
  }
  return p;
}

static const char* read_parameter(srXacro* x, const char* p, srXacroParameter* out) {
  const size_t n = strcspn(p, " \t\r\n:=");
  *out = (srXacroParameter){.name = sr_pool_text_n(&x->r->pool, p, n)};
  p += n;
  if (*p == ':' && p[1] == '=') p++;
  if (*p != '=') return p + (*p == ':');
  p++;
  if (*p == '^') {
    out->forward = true;
    p += 1 + (p[1] == '|');
  }
  const char* end = default_end(p);
  if (end > p) out->value = sr_pool_text_n(&x->r->pool, p, (size_t)(end - p));
  return end;
}

static void check_parameter(srXacro* x, const srXacroMacro* m, const srXacroParameter* p, srPlace place) {
  if (p->name[strspn(p->name, "*")] == '\0')
    sr_xacro_error(x, place, "a parameter of the macro '%.60s' has no name", m->name);
  else if (p->name[0] == '*' && (p->forward || p->value))
    sr_xacro_error(x, place, "the block '%.60s' of the macro '%.60s' cannot have a default", p->name, m->name);
  for (int i = 0; i < m->nparameter; i++)
    if (strcmp(m->parameter[i].name, p->name) == 0)
      sr_xacro_error(x, place, "the macro '%.60s' has the parameter '%.60s' twice", m->name, p->name);
}

static void read_parameters(srXacro* x, srXacroMacro* m, const srXmlAttribute* a) {
  int capacity = 0;
  const char* p = a->value;
  for (p += strspn(p, " \t\r\n"); *p; p += strspn(p, " \t\r\n")) {
    srXacroParameter parameter;
    const srPlace place = sr_xacro_moved(a->place, a->value, (size_t)(p - a->value));
    if (m->nparameter == SR_XML_MAX_ATTRIBUTES) {
      sr_xacro_error(x, place, "the macro '%.60s' has more than %d parameters", m->name, SR_XML_MAX_ATTRIBUTES);
      return;
    }
    p = read_parameter(x, p, &parameter);
    check_parameter(x, m, &parameter, place);
    SR_PUSH(&x->r->pool, m->parameter, m->nparameter, capacity) = parameter;
  }
}

// Macros are known everywhere behind their definition, also where that is in another macro.
void sr_xacro_define_macro(srXacro* x, const srXmlNode* node) {
  const srXmlAttribute* name = sr_xml_attribute(node, "name");
  const srXmlAttribute* parameters = sr_xml_attribute(node, "params");
  if (!name) {
    sr_xacro_error(x, node->place, "<xacro:macro> needs 'name'");
    return;
  }
  const char* word = strncmp(name->value, "xacro:", 6) == 0 ? name->value + 6 : name->value;
  srXacroMacro macro = {.name = word, .node = node, .folder = x->folder};
  if (parameters) read_parameters(x, &macro, parameters);
  const int i = sr_names_find(&x->macro_names, word);
  if (i >= 0) {
    x->macro[i] = macro;  // the later one holds
    return;
  }
  sr_names_put(&x->macro_names, word, x->nmacro);
  SR_PUSH(&x->r->pool, x->macro, x->nmacro, x->macro_capacity) = macro;
}

// -------------------------------------------------------------------------------------------------------------- call
typedef struct Call {
  srXacro* x;
  const srXmlNode* node;
  const srXacroMacro* macro;
  srXacroScope *outer, *inner;
  bool given[SR_XML_MAX_ATTRIBUTES];
} Call;

static int find_parameter(const srXacroMacro* m, const char* name) {
  for (int i = 0; i < m->nparameter; i++)
    if (strcmp(m->parameter[i].name, name) == 0) return i;
  return -1;
}

static void report_parameter(const Call* c, const srXmlAttribute* a) {
  const char* words[SR_XML_MAX_ATTRIBUTES];
  for (int i = 0; i < c->macro->nparameter; i++) words[i] = c->macro->parameter[i].name;
  sr_xacro_error(c->x, a->name_place, "the macro '%.60s' has no parameter '%.60s'%s", c->macro->name, a->name,
                 sr_pool_guess(&c->x->r->pool, sr_nearest_word(a->name, words, c->macro->nparameter)));
}

static void take_attributes(Call* c, bool by_name) {
  for (int k = 0; k < c->node->nattribute; k++) {
    const srXmlAttribute* a = &c->node->attributes[k];
    srXacroValue value;
    if ((by_name && strcmp(a->name, "macro") == 0) || strncmp(a->name, "xmlns", 5) == 0) continue;
    const int i = a->name[0] == '*' ? -1 : find_parameter(c->macro, a->name);
    if (i < 0) {
      report_parameter(c, a);
      continue;
    }
    c->given[i] = true;
    if (sr_xacro_text(c->x, c->outer, a->value, a->place, &value))
      sr_xacro_set(c->x, c->inner, a->name, value, false, a->place);
  }
}

// Blocks are written out where the macro is called, then go to the parameters with * in their order.
static void take_blocks(Call* c) {
  srXmlNode* holder = sr_pool_alloc(&c->x->r->pool, sizeof *holder);
  holder->name = c->node->name;
  holder->place = c->node->place;
  sr_xacro_children(c->x, c->outer, c->node, holder);
  const srXmlNode* block = holder->first;
  for (int i = 0; i < c->macro->nparameter; i++) {
    const char* name = c->macro->parameter[i].name;
    if (name[0] != '*') continue;
    c->given[i] = true;
    if (!block) {
      sr_xacro_error(c->x, c->node->place, "the macro '%.60s' needs one element more, for '%.60s'", c->macro->name,
                     name);
      continue;
    }
    sr_xacro_define(c->x, c->inner, name)->block = block;
    block = block->next;
  }
  if (block) sr_xacro_error(c->x, block->place, "the macro '%.60s' takes no <%.60s> here", c->macro->name, block->name);
}

static bool default_value(Call* c, const srXacroParameter* p, srPlace place, srXacroValue* out) {
  if (p->forward && sr_xacro_find(c->outer, p->name, NULL)) return sr_xacro_get(c->x, c->outer, p->name, place, out);
  return sr_xacro_text(c->x, c->outer, p->value, place, out);
}

static void take_defaults(Call* c) {
  const srXmlAttribute* parameters = sr_xml_attribute(c->macro->node, "params");
  for (int i = 0; i < c->macro->nparameter; i++) {
    const srXacroParameter* p = &c->macro->parameter[i];
    srXacroValue value;
    if (c->given[i]) continue;
    if (!p->value && !(p->forward && sr_xacro_find(c->outer, p->name, NULL)))
      sr_xacro_error(c->x, c->node->place, "the macro '%.60s' needs '%.60s'%s", c->macro->name, p->name,
                     p->forward ? ", and there is no property of that name here" : "");
    else if (default_value(c, p, parameters->place, &value))
      sr_xacro_set(c->x, c->inner, p->name, value, false, parameters->place);
  }
}

static void report_macro(srXacro* x, const srXmlNode* node, const char* name) {
  if (x->lost) return;  // it may be in the file that is missing
  sr_xacro_error(x, node->place, "there is no macro '%.60s'%s", name,
                 sr_pool_guess(&x->r->pool, sr_names_nearest(&x->macro_names, name)));
}

void sr_xacro_call(srXacro* x, srXacroScope* scope, const srXmlNode* node, const char* name, srXmlNode* to) {
  const int found = sr_names_find(&x->macro_names, name);
  if (found < 0) {
    report_macro(x, node, name);
    return;
  }
  const srXacroMacro macro = x->macro[found];  // its table may move while the call lasts
  Call c = {.x = x, .node = node, .macro = &macro, .outer = scope, .inner = sr_xacro_scope(x, scope)};
  take_attributes(&c, strcmp(node->name, "xacro:call") == 0);
  take_blocks(&c);
  take_defaults(&c);
  if (x->stopped) return;
  const srXacroCall call = {&macro, node->place, x->call};
  const srXacroCall* outer_call = x->call;
  const char* outer_folder = x->folder;
  x->call = &call;
  x->folder = macro.folder;
  sr_xacro_children(x, c.inner, macro.node, to);
  x->call = outer_call;
  x->folder = outer_folder;
}
