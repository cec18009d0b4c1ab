// From XML to items: the tables of elements.c decide what may stand where; repeats are expanded, parameters evaluated as they come.
#include <stdlib.h>
#include <string.h>

#include "io/native/attributes.h"
#include "model/list.h"
#include "netfile/netfile.h"

// ---------------------------------------------------------------------------------------------------- values of an item
srAttr sr_net_attr(const srNetItem* item, const char* word) { return item->values[sr_net_field(item->kind, word)]; }

static srAttr with_default(const srNetItem* item, const char* word) {
  const int k = sr_net_field(item->kind, word);
  const char* other = sr_net_element(item->kind)->fields[k].default_text;
  if (item->values[k].text || !other[0] || other[0] == '!') return item->values[k];
  return (srAttr){.text = other, .place = item->place};
}

const char* sr_net_text(const srNetItem* item, const char* word) { return with_default(item, word).text; }

bool sr_net_yes(const srNetItem* item, const char* word, const char* value) {
  const char* text = sr_net_text(item, word);
  return text && strcmp(text, value) == 0;
}

// Does a field take n values? count: "3", "3|6", "1-", "1-6".
static bool count_fits(const char* count, int n) {
  char* end;
  const long least = strtol(count, &end, 10);
  if (*end == '|') return n == least || n == strtol(end + 1, NULL, 10);
  if (*end == '-') return n >= least && (!end[1] || n <= strtol(end + 1, NULL, 10));
  return n == least;
}

int sr_net_numbers(srNetBuilder* b, const srNetItem* item, const char* word, double* out, int most) {
  const srElement* e = sr_net_element(item->kind);
  const srField* field = &e->fields[sr_net_field(item->kind, word)];
  const srAttr attr = with_default(item, word);
  srListItem* list = NULL;
  const int n = sr_split_list(&b->in->pool, &attr, &list);
  if (n == 0) return 0;
  if (!count_fits(field->count, n) || n > most) {
    SR_NET_FAIL(b, attr.place, "'%s' of <%s> takes %s values, not %d", word, e->word, field->count, n);
    return -1;
  }
  bool good = true;
  for (int i = 0; i < n; i++) good = sr_scope_value(b->scope, list[i].text, list[i].place, &out[i]) && good;
  return good ? n : -1;
}

bool sr_net_number(srNetBuilder* b, const srNetItem* item, const char* word, double* out) {
  return sr_net_numbers(b, item, word, out, 1) >= 0;
}

// ------------------------------------------------------------------------------------------------------------- elements
static void read_children(srNetBuilder* b, const srXmlNode* node, srNetItem* owner);

static bool belongs(const srElement* e, const srNetItem* owner) {
  return sr_text_is_among(sr_net_element(owner->kind)->word, e->where);
}

// The words that may stand here, for a message.
static int words_here(const srNetItem* owner, const char** words) {
  int n = 0;
  for (int k = 0; k < SR_NET_KINDS; k++)
    if (k == SR_NET_REPEAT || belongs(sr_net_element((srNetKind)k), owner))
      words[n++] = sr_net_element((srNetKind)k)->word;
  return n;
}

static void report_element(srNetBuilder* b, const srXmlNode* node, const srNetItem* owner) {
  const char* words[SR_NET_KINDS];
  const int n = words_here(owner, words);
  const char* nearest = sr_nearest_word(node->name, words, n);
  if (nearest)
    SR_NET_FAIL(b, node->place, "unknown element <%.60s> inside <%s>; did you mean <%s>?", node->name,
                sr_net_element(owner->kind)->word, nearest);
  else
    SR_NET_FAIL(b, node->place, "unknown element <%.60s> inside <%s>; it takes %s", node->name,
                sr_net_element(owner->kind)->word, sr_text_alternatives(&b->in->pool, words, n));
}

static void report_misplaced(srNetBuilder* b, const srXmlNode* node, const srElement* e, const srNetItem* owner) {
  const char* words[SR_NET_KINDS];
  const int n = sr_text_split(&b->in->pool, e->where, words, 0, SR_NET_KINDS);
  if (n == 0)
    SR_NET_FAIL(b, node->place, "<%s> is the root of a file and cannot be inside another element", e->word);
  else
    SR_NET_FAIL(b, node->place, "<%s> belongs inside <%s>, not inside <%s>", e->word,
                sr_text_alternatives(&b->in->pool, words, n), sr_net_element(owner->kind)->word);
}

static void read_repeat(srNetBuilder* b, const srXmlNode* node, srNetItem* owner) {
  srAttr values[SR_ELEMENT_MAX_FIELDS] = {0};
  long long count, from;
  const char* index;
  if (!sr_element_read(b->in, b->scope, node, sr_net_element(SR_NET_REPEAT), values) ||
      !sr_repeat_begin(b->in, b->scope, values, &count, &from, &index)) {
    b->lost = true;
    return;
  }
  const int before = sr_reader_errors(b->in), level = b->scope->nindex++;  // bounded by the depth of XML
  SR_ASSERT(level < SR_SCOPE_INDEX_LIMIT);
  b->scope->indices[level].name = index;
  for (long long k = 0; k < count && sr_reader_errors(b->in) == before && !sr_reader_is_over(b->in, node->place); k++) {
    b->scope->indices[level].value = from + k;  // errors of the first turn are not repeated in the next
    read_children(b, node, owner);
  }
  b->scope->nindex = level;
  if (sr_reader_errors(b->in) > before) b->lost = true;
}

static void read_parameter(srNetBuilder* b, const srNetItem* item) {
  srParameterDef def = {.name = sr_net_attr(item, "name"), .value = sr_net_attr(item, "value")};
  sr_parameter_read(b->in, b->scope, &def);
  (void)sr_reader_add(b->in, SR_ELEMENT_PARAMETER, SR_NO_OWNER, &def, item->place);
}

static srNetItem* new_item(srNetBuilder* b, srNetKind kind, const srXmlNode* node) {
  const srElement* e = sr_net_element(kind);
  srNetItem* item = sr_pool_alloc(&b->in->pool, sizeof *item);
  srAttr given[SR_ELEMENT_MAX_FIELDS] = {0};
  item->kind = kind;
  item->place = node->place;
  item->damaged = !sr_element_read(b->in, b->scope, node, e, given);
  item->values = sr_pool_alloc(&b->in->pool, (size_t)(e->nfield + 1) * sizeof *item->values);
  memcpy(item->values, given, (size_t)e->nfield * sizeof *given);
  for (int k = 0; k < e->nfield; k++) item->values[k].text = sr_pool_text(&b->in->pool, given[k].text);
  return item;
}

static bool holds_others(srNetKind kind) {
  return kind == SR_NET_MECHANISM || kind == SR_NET_EQUATIONS || kind == SR_NET_FORMULA_IMPEDANCE || kind == SR_NET_MAP;
}

static void read_item(srNetBuilder* b, srNetKind kind, const srXmlNode* node, srNetItem* owner) {
  srNetItem* item = new_item(b, kind, node);
  if (holds_others(kind)) {
    read_children(b, node, item);
  } else {
    sr_element_text(b->in, node);
    for (const srXmlNode* child = node->first; child; child = child->next)
      SR_NET_FAIL(b, child->place, "<%.60s> is inside <%s>, which holds no other elements", child->name, node->name);
  }
  if (kind == SR_NET_PARAMETER) {
    if (!item->damaged) read_parameter(b, item);
    sr_pool_free(&b->in->text);
    return;
  }
  sr_pool_free(&b->in->text);  // values are copied
  *(owner->last ? &owner->last->next : &owner->first) = item;
  owner->last = item;
}

static void read_element(srNetBuilder* b, const srXmlNode* node, srNetItem* owner) {
  const int kind = sr_net_element_find(node->name);
  const srElement* e = kind < 0 ? NULL : sr_net_element((srNetKind)kind);
  if (!e) {
    report_element(b, node, owner);
    b->lost = true;
  } else if (kind == SR_NET_REPEAT) {
    read_repeat(b, node, owner);
  } else if (belongs(e, owner)) {
    read_item(b, (srNetKind)kind, node, owner);
  } else {
    report_misplaced(b, node, e, owner);
    b->lost = true;
  }
}

static void read_children(srNetBuilder* b, const srXmlNode* node, srNetItem* owner) {
  sr_element_text(b->in, node);
  for (const srXmlNode* child = node->first; child && !sr_reader_is_over(b->in, child->place); child = child->next)
    read_element(b, child, owner);
}

void sr_net_read(srNetBuilder* b, const srXmlNode* root) {
  b->root = *new_item(b, SR_NET_NETWORK, root);
  sr_parameters_note(b->scope, root);
  read_children(b, root, &b->root);
}
