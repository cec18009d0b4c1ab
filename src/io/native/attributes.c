// Attributes of elements by the tables of srElement, and the head of <repeat>: see attributes.h.
#include "io/native/attributes.h"

#include <string.h>

#include "io/file.h"
#include "model/spec.h"

static void report_word(srReader* r, const srElement* e, const srField* f, const char* word, srPlace place) {
  const char* words[SR_ELEMENT_MAX_FIELDS];
  const int n = sr_text_split(&r->text, f->count, words, 0, SR_ELEMENT_MAX_FIELDS);
  const char* nearest = sr_nearest_word(word, words, n);
  if (nearest)
    sr_reader_error(r, place, "unknown %s '%.60s' of <%s>; did you mean '%s'?", f->word, word, e->word, nearest);
  else
    sr_reader_error(r, place, "unknown %s '%.60s' of <%s>; expected %s", f->word, word, e->word,
                    sr_text_alternatives(&r->text, words, n));
}

static int find_field(const srElement* e, const char* word) {
  for (int k = 0; k < e->nfield; k++)
    if (strcmp(e->fields[k].word, word) == 0) return k;
  return -1;
}

// Returns the field that was meant, -1 where that is not known.
static int report_attribute(srReader* r, const srElement* e, const srXmlAttribute* a) {
  const char* words[SR_ELEMENT_MAX_FIELDS];
  for (int k = 0; k < e->nfield; k++) words[k] = e->fields[k].word;
  const char* nearest = sr_nearest_word(a->name, words, e->nfield);
  if (nearest) {
    sr_reader_error(r, a->name_place, "unknown attribute '%.60s' of <%s>; did you mean '%s'?", a->name, e->word,
                    nearest);
    return find_field(e, nearest);
  }
  const char* all = e->nfield > 0 ? words[0] : "none";
  for (int k = 1; k < e->nfield; k++) all = sr_pool_printf(&r->text, "%s, %s", all, words[k]);
  sr_reader_error(r, a->name_place, "unknown attribute '%.60s' of <%s>; it has %s", a->name, e->word, all);
  return -1;
}

static bool is_formula(const srField* f) {
  return strcmp(f->kind, "FORMULA") == 0 || strcmp(f->kind, "LAW") == 0 || strcmp(f->kind, "ACTIONS") == 0;
}

static bool is_blank_text(const char* text) { return text[strspn(text, " \t\r\n")] == '\0'; }

// Checks of a value that are possible before the model is compiled.
static void check_value(srReader* r, const srElement* e, const srField* f, const char* value, srPlace place) {
  const char* problem = NULL;
  if (is_blank_text(value)) {
    sr_reader_error(r, place, "the attribute '%s' of <%s> is empty", f->word, e->word);
  } else if (strcmp(f->kind, "WORD") == 0) {
    if (!sr_text_is_among(value, f->count)) report_word(r, e, f, value, place);
  } else if (strcmp(f->kind, "FILE") == 0) {
    problem = sr_path_problem(value);
    if (problem) sr_reader_error(r, place, "'%.200s' %s", value, problem);
  } else if (strcmp(f->word, "name") == 0) {
    problem = sr_name_problem(value);
    if (problem) sr_reader_error(r, place, "the name '%.60s' %s", value, problem);
  }
}

bool sr_element_given(srReader* r, srScope* scope, const srXmlNode* node, const srElement* e, srAttr* values,
                      bool* meant) {
  const int before = sr_reader_errors(r);
  for (int i = 0; i < node->nattribute; i++) {
    const srXmlAttribute* a = &node->attributes[i];
    const int k = find_field(e, a->name);
    if (k < 0) {
      const int instead = report_attribute(r, e, a);
      if (meant && instead >= 0) meant[instead] = true;
      continue;
    }
    const char* text = sr_scope_fill(scope, &r->text, a->value, a->place, is_formula(&e->fields[k]));
    if (text) check_value(r, e, &e->fields[k], text, a->place);
    values[k] = (srAttr){.text = text ? text : "", .place = a->place};
  }
  return sr_reader_errors(r) == before;
}

bool sr_element_read(srReader* r, srScope* scope, const srXmlNode* node, const srElement* e, srAttr* values) {
  const int before = sr_reader_errors(r);
  bool meant[SR_ELEMENT_MAX_FIELDS] = {0};
  sr_element_given(r, scope, node, e, values, meant);
  for (int k = 0; k < e->nfield; k++)
    if (e->fields[k].default_text[0] == '!' && !values[k].text && !meant[k])
      sr_reader_error(r, node->place, "<%s> needs the attribute '%s': %s", e->word, e->fields[k].word,
                      e->fields[k].doc);
  return sr_reader_errors(r) == before;
}

void sr_element_text(srReader* r, const srXmlNode* node) {
  if (!node->text) return;
  int n = (int)strcspn(node->text, "\r\n");
  if (n > 40) n = 40;
  while (n > 0 && ((unsigned char)node->text[n - 1] & 0x80 || strchr(" \t", node->text[n - 1]))) n--;
  sr_reader_error(r, node->text_place, "stray text '%.*s' inside <%s>", n, node->text, node->name);
}

bool sr_repeat_begin(srReader* r, srScope* scope, const srAttr* values, long long* count, long long* from,
                     const char** index) {
  *index = values[1].text ? sr_pool_text(&r->pool, values[1].text) : "i";
  *from = 0;
  const srPlace place = values[1].text ? values[1].place : values[0].place;
  const char* problem = sr_identifier_problem(*index);
  if (!sr_scope_whole(scope, values[0].text, values[0].place, "count of <repeat>", 0, SR_READER_MAX_ELEMENTS, count))
    return false;
  if (values[2].text &&
      !sr_scope_whole(scope, values[2].text, values[2].place, "from of <repeat>", -1000000000000, 1000000000000, from))
    return false;
  if (problem)
    sr_reader_error(r, place, "the index '%.60s' %s", *index, problem);
  else if (sr_scope_parameter(scope, *index) || sr_scope_is_index(scope, *index))
    sr_reader_error(r, place, "the index '%.60s' has the name of a parameter or of another index", *index);
  else
    return true;
  return false;
}

// A value given from outside replaces the one in the file.
static bool apply_setting(srReader* r, srScope* scope, srParameterDef* def, double* value) {
  const char* setting = sr_reader_setting(r, def->name.text);
  if (!setting) return sr_scope_value(scope, def->value.text, def->value.place, value);
  def->value = (srAttr){.text = setting, .place = sr_reader_setting_place(r, def->name.text)};
  return sr_scope_setting(scope, def->value.text, def->value.place, value);
}

void sr_parameter_read(srReader* r, srScope* scope, srParameterDef* def) {
  const char* name = sr_pool_text(&r->pool, def->name.text);
  const char* problem = sr_identifier_problem(name);
  double value = 0;
  if (problem)
    sr_reader_error(r, def->name.place, "the name '%.60s' %s", name, problem);
  else if (sr_scope_is_index(scope, name))
    sr_reader_error(r, def->name.place, "the parameter '%.60s' has the name of an index of a <repeat> around it", name);
  else if (sr_scope_parameter(scope, name))
    sr_reader_error(r, def->name.place, "there is a parameter '%.60s' already", name);
  else {
    apply_setting(r, scope, def, &value);  // after an error it is defined all the same: its users raise no errors
    sr_scope_define(scope, name, value);
  }
}

void sr_parameters_note(srScope* scope, const srXmlNode* root) {
  for (const srXmlNode* child = root->first; child; child = child->next) {
    const srXmlAttribute* name = strcmp(child->name, "parameter") == 0 ? sr_xml_attribute(child, "name") : NULL;
    if (name) sr_names_put(&scope->later, name->value, 0);
  }
}
