// load_yaml of xacro: the part of YAML (yaml.org, 1.2) that robot files use. Maps and lists by indentation, or in braces
// and brackets; numbers, truth values, texts with and without quotes, comments; anchors (&a), aliases (*a) and merged maps
// (<<: *a); xacro's units (!degrees 90). What is beyond that (texts of several lines, several documents) is refused at its
// line. An alias shares the value of its anchor and counts as all that it holds, so that the bound on values bounds what
// aliases of aliases multiply to.
#include <math.h>
#include <string.h>

#include "io/file.h"
#include "io/xacro/parts.h"

#define MAX_SIZE ((size_t)1 << 20)  // of a file

typedef struct Line {
  int indent, number;
  char* text;  // without indentation, comment and blanks at the end; never empty
} Line;

typedef struct Yaml {
  srXacro* x;
  const char* file;
  Line* line;
  int n, capacity, at;
  int levels;
  srNames anchors;
  srXacroValue* anchored;  // by the index in anchors
  int nanchored, anchored_capacity;
  bool failed;
} Yaml;

typedef struct Items {
  srXacroValue* value;
  const char** key;
  int n, value_capacity, key_capacity, nkey;
} Items;

static const srXacroValue nothing = {.type = SR_XACRO_NONE};

static srXacroValue read_block(Yaml* y, int indent);
static srXacroValue read_inline(Yaml* y, const char** p, const char* stop);

static srPlace here(const Yaml* y) {
  const int i = y->at < y->n ? y->at : y->n - 1;
  return (srPlace){
      .file = y->file, .line = i >= 0 ? y->line[i].number : 1, .column = i >= 0 ? y->line[i].indent + 1 : 1};
}

static srXacroValue refuse(Yaml* y, const char* what, const char* text) {
  if (!y->failed) sr_xacro_beyond(y->x, here(y), "%s is not understood: '%.60s'", what, text);
  y->failed = true;
  return nothing;
}

// --------------------------------------------------------------------------------------------------------------- lines
// Where the comment begins, or the end: # at the begin or behind a blank, in no quotes.
static char* end_of_line(char* p) {
  char quote = 0, before = ' ';
  for (; *p; before = *p++) {
    if (quote) {
      if (*p == quote) quote = 0;
    } else if ((*p == '\'' || *p == '"') && strchr(" [{,:", before)) {
      quote = *p;
    } else if (*p == '#' && sr_text_is_blank(before)) {
      break;
    }
  }
  return p;
}

static bool split_lines(Yaml* y, char* text) {
  int number = 0;
  for (char* p = text; p;) {
    char* next = strchr(p, '\n');
    if (next) *next++ = '\0';
    number++;
    char* start = p + strspn(p, " ");
    char* end = end_of_line(start);
    while (end > start && sr_text_is_blank(end[-1])) end--;
    *end = '\0';
    const bool mark = start == p && (strcmp(start, "---") == 0 || start[0] == '%');  // begin of the document
    if (*start && !mark) SR_PUSH(&y->x->r->pool, y->line, y->n, y->capacity) = (Line){(int)(start - p), number, start};
    if (*start == '\t') return refuse(y, "a tab that indents a line", start), false;
    p = next;
  }
  return true;
}

// -------------------------------------------------------------------------------------------------------------- values
static void add_item(Yaml* y, Items* items, const char* key, srXacroValue value) {
  if (items->n >= SR_XACRO_ITEMS || !sr_xacro_room(y->x, sizeof value, here(y))) {
    y->failed = true;
    sr_xacro_error(y->x, here(y), "a list has more than %d items", SR_XACRO_ITEMS);
    return;
  }
  SR_PUSH(&y->x->r->pool, items->value, items->n, items->value_capacity) = value;
  SR_PUSH(&y->x->r->pool, items->key, items->nkey, items->key_capacity) = key;
}

static srXacroValue make(Yaml* y, srXacroType type, const Items* items) {
  srXacroValue v = {.type = type, .n = items->n, .all = items->n, .levels = 1, .items = items->value};
  if (type == SR_XACRO_DICT) v.keys = items->key;
  for (int i = 0; i < items->n && v.all <= SR_XACRO_ITEMS; i++) {  // aliases may hold the same many times over
    v.all += items->value[i].all;
    if (items->value[i].levels >= v.levels) v.levels = items->value[i].levels + 1;
  }
  if (v.all > SR_XACRO_ITEMS || v.levels > SR_XACRO_LEVELS) {
    sr_xacro_error(y->x, here(y), "the file has more than %d values or %d levels", SR_XACRO_ITEMS, SR_XACRO_LEVELS);
    y->failed = true;
    return nothing;
  }
  return v;
}

// ------------------------------------------------------------------------------------------------------------ anchors
static void keep_anchor(Yaml* y, const char* name, srXacroValue value) {
  int i = sr_names_find(&y->anchors, name);
  y->failed = y->failed || !sr_xacro_room(y->x, sizeof value, here(y));
  if (y->failed) return;
  if (i < 0) {
    i = y->nanchored;
    SR_PUSH(&y->x->r->pool, y->anchored, y->nanchored, y->anchored_capacity) = nothing;
    sr_names_put(&y->anchors, name, i);
  }
  y->anchored[i] = value;  // the last one holds
}

static srXacroValue alias(Yaml* y, const char* name) {
  const int i = sr_names_find(&y->anchors, name);
  if (i >= 0) return y->anchored[i];
  if (!y->failed) sr_xacro_error(y->x, here(y), "there is no anchor '&%.60s' before its alias", name);
  y->failed = true;
  return nothing;
}

// The name of an anchor with nothing behind it on its line; NULL: it is none.
static const char* lone_anchor(const char* text) {
  return text[0] == '&' && text[1] && !strpbrk(text, " ,[]{}") ? text + 1 : NULL;
}

static srXacroValue scalar(Yaml* y, const char* text) {
  if (text[0] == '*' && text[1]) return alias(y, text + 1);
  if (strchr("&*|>@`%", text[0]) && text[0]) return refuse(y, "this kind of YAML", text);
  if (sr_text_is_among(text, "|~|null|Null|NULL")) return nothing;
  if (sr_text_is_among(text, "true|True|TRUE|yes|Yes|YES|on|On|ON")) return sr_xacro_bool(true);
  if (sr_text_is_among(text, "false|False|FALSE|no|No|NO|off|Off|OFF")) return sr_xacro_bool(false);
  const srXacroValue value = sr_xacro_str(text);
  return sr_xacro_literal(y->x, &value);
}

static srXacroValue quoted(Yaml* y, const char** p) {
  const char quote = *(*p)++;
  const char* end = strchr(*p, quote);
  if (!end) return refuse(y, "a text of several lines", *p);
  const char* text = sr_pool_text_n(&y->x->r->pool, *p, (size_t)(end - *p));
  if (end[1] == quote || (quote == '"' && strchr(text, '\\'))) return refuse(y, "a quote or \\ in a text", text);
  *p = end + 1;
  return sr_xacro_str(text);
}

// The text up to one of the characters of stop, or to the end.
static const char* plain(Yaml* y, const char** p, const char* stop) {
  const char* start = *p;
  const char* end = start + strcspn(start, stop);
  *p = end;
  while (end > start && sr_text_is_blank(end[-1])) end--;
  return sr_pool_text_n(&y->x->r->pool, start, (size_t)(end - start));
}

// !degrees 90: the value is a formula.
static srXacroValue with_unit(Yaml* y, const char** p, const char* stop) {
  static const struct {
    const char* word;
    double factor;
  } units[] = {{"radians", 1},     {"degrees", 3.14159265358979323846 / 180},
               {"meters", 1},      {"millimeters", 1e-3},
               {"inches", 0.0254}, {"foot", 0.3048}};
  const char* start = *p;
  const size_t n = strcspn(start + 1, " ");
  *p += 1 + n;
  *p += strspn(*p, " ");
  const char* text = plain(y, p, stop);
  srXacroValue value;
  double number;
  for (int i = 0; i < SR_COUNT(units); i++) {
    if (strlen(units[i].word) != n || strncmp(units[i].word, start + 1, n) != 0) continue;
    y->failed |= !sr_xacro_formula(y->x, y->x->global, text, here(y), &value);
    if (y->failed) return nothing;
    if (sr_xacro_number(&value, &number)) return sr_xacro_float(number * units[i].factor);
    return refuse(y, "a unit of what is no number", text);
  }
  return refuse(y, "this tag", start);
}

// [a, b] or {a: b}
static srXacroValue in_brackets(Yaml* y, const char** p) {
  Items items = {0};
  const bool map = *(*p)++ == '{';
  const char close = map ? '}' : ']';
  while (!y->failed) {
    const char* key = NULL;
    *p += strspn(*p, " ");
    if (**p == close) break;
    if (map) {
      const srXacroValue word = **p == '\'' || **p == '"' ? quoted(y, p) : sr_xacro_str(plain(y, p, ":,}"));
      key = word.text;
      *p += strspn(*p, " ");
      if (**p != ':') return refuse(y, "a map without ':'", *p);
      ++*p;
    }
    add_item(y, &items, key, read_inline(y, p, map ? ",}" : ",]"));
    *p += strspn(*p, " ");
    if (**p == ',')
      ++*p;
    else if (**p != close)
      return refuse(y, map ? "a map without '}'" : "a list without ']'", *p);
  }
  if (**p) ++*p;
  return y->failed ? nothing : make(y, map ? SR_XACRO_DICT : SR_XACRO_LIST, &items);
}

static srXacroValue read_inline(Yaml* y, const char** p, const char* stop) {
  srXacroValue value = nothing;
  *p += strspn(*p, " ");
  if (y->failed || ++y->levels > SR_XACRO_LEVELS) return refuse(y, "so deep a list", *p);
  const char* anchor = **p == '&' && (*p)[1] ? plain(y, p, " ,[]{}") + 1 : NULL;
  *p += strspn(*p, " ");
  if (**p == '[' || **p == '{')
    value = in_brackets(y, p);
  else if (**p == '\'' || **p == '"')
    value = quoted(y, p);
  else if (**p == '!')
    value = with_unit(y, p, stop);
  else
    value = scalar(y, plain(y, p, stop));
  if (anchor && !y->failed) keep_anchor(y, anchor, value);
  y->levels--;
  return value;
}

// -------------------------------------------------------------------------------------------------------------- blocks
// Brackets that are open at the end of a line go on in the next ones.
static const char* whole_value(Yaml* y, const char* text) {
  for (;;) {
    int depth = 0;
    for (const char* p = text; *p; p++) depth += (*p == '[' || *p == '{') - (*p == ']' || *p == '}');
    if ((text[0] != '[' && text[0] != '{') || depth <= 0 || y->at + 1 >= y->n) return text;
    if (!sr_xacro_room(y->x, strlen(text), here(y))) return y->failed = true, text;
    text = sr_pool_printf(&y->x->r->pool, "%s %s", text, y->line[++y->at].text);
  }
}

// The value of a line, which is then taken.
static srXacroValue read_value(Yaml* y, const char* text) {
  const char* p = text = whole_value(y, text);
  const srXacroValue value = read_inline(y, &p, "");
  p += strspn(p, " ");
  if (!y->failed && *p) return refuse(y, "what follows a value", p);
  y->at++;
  return value;
}

// Where the ':' of "key: value" is, and the key without quotes; NULL: the line has no key.
static const char* find_colon(Yaml* y, const char* text, const char** key) {
  const char* p = text;
  if (*p == '\'' || *p == '"') {
    const char* end = strchr(p + 1, *p);
    if (!end || end[1] != ':') return NULL;
    *key = sr_pool_text_n(&y->x->r->pool, p + 1, (size_t)(end - p - 1));
    return end + 1;
  }
  if (*p == '[' || *p == '{') return NULL;
  while (*p && !(*p == ':' && (p[1] == '\0' || p[1] == ' '))) p++;
  if (!*p) return NULL;
  size_t n = (size_t)(p - text);
  while (n > 0 && sr_text_is_blank(text[n - 1])) n--;
  *key = sr_pool_text_n(&y->x->r->pool, text, n);
  return p;
}

// The name of an anchor before a key on its line (&a key: value), which denotes the key; *text becomes what follows it.
static const char* anchor_of_key(Yaml* y, const char** text) {
  const size_t n = **text == '&' ? strcspn(*text, " ") : 0;
  if (n < 2 || !(*text)[n]) return NULL;
  const char* name = sr_pool_text_n(&y->x->r->pool, *text + 1, n - 1);
  *text += n + strspn(*text + n, " ");
  return name;
}

// Where the value of "key: value" begins; NULL: the line has no key.
static const char* split_key(Yaml* y, const char* text, const char** key) {
  const char* anchor = anchor_of_key(y, &text);
  const bool is_alias = text[0] == '*';
  const char* p = find_colon(y, text, key);
  if (!p) return NULL;
  if (is_alias) {
    const srXacroValue value = alias(y, *key + 1);
    if (value.type != SR_XACRO_STR) return refuse(y, "a key that is no text", text), NULL;
    *key = value.text;
  }
  if (anchor && !y->failed) keep_anchor(y, anchor, sr_xacro_str(*key));
  return p + 1 + strspn(p + 1, " ");
}

static bool is_item(const char* text) { return text[0] == '-' && (text[1] == '\0' || text[1] == ' '); }

// What is below a line of this indentation; nothing: None.
static srXacroValue read_below(Yaml* y, int indent, bool in_map) {
  y->at++;
  if (y->at >= y->n) return nothing;
  const Line* line = &y->line[y->at];
  if (line->indent > indent || (in_map && line->indent == indent && is_item(line->text)))
    return read_block(y, line->indent);
  return nothing;
}

// ... of an anchor, which keeps it.
static srXacroValue read_anchored(Yaml* y, int indent, bool in_map, const char* anchor) {
  const srXacroValue value = read_below(y, indent, in_map);
  if (!y->failed) keep_anchor(y, anchor, value);
  return value;
}

// <<: *a: the items of another map, except those that are already here; later ones go before them.
static void merge(Yaml* y, Items* items, const srXacroValue* from) {
  if (from->type != SR_XACRO_DICT && !y->failed) (void)refuse(y, "'<<' of what is no map", "<<");
  if (y->failed || !sr_xacro_room(y->x, (size_t)items->n * sizeof *items->key, here(y))) return;
  srNames own;
  sr_names_init(&own, &y->x->r->pool);
  for (int k = 0; k < items->n; k++) sr_names_put(&own, items->key[k], k);
  for (int i = 0; i < from->n && !y->failed; i++)
    if (sr_names_find(&own, from->keys[i]) < 0) add_item(y, items, from->keys[i], from->items[i]);
}

static srXacroValue read_list(Yaml* y, int indent) {
  Items items = {0};
  while (!y->failed && y->at < y->n && y->line[y->at].indent == indent && is_item(y->line[y->at].text)) {
    Line* line = &y->line[y->at];
    const size_t skip = 1 + strspn(line->text + 1, " ");
    const char* key;
    if (!line->text[1]) {
      add_item(y, &items, NULL, read_below(y, indent, false));
    } else if (lone_anchor(line->text + skip)) {
      add_item(y, &items, NULL, read_anchored(y, indent, false, lone_anchor(line->text + skip)));
    } else if (is_item(line->text + skip) || split_key(y, line->text + skip, &key)) {  // - key: value
      line->text += skip;
      line->indent += (int)skip;
      add_item(y, &items, NULL, read_block(y, line->indent));
    } else {
      add_item(y, &items, NULL, read_value(y, line->text + skip));
    }
  }
  return y->failed ? nothing : make(y, SR_XACRO_LIST, &items);
}

static srXacroValue read_map(Yaml* y, int indent) {
  Items items = {0};
  while (!y->failed && y->at < y->n && y->line[y->at].indent == indent) {
    const char *key, *value = split_key(y, y->line[y->at].text, &key);
    if (!value) return refuse(y, "a line without 'key:'", y->line[y->at].text);
    const char* anchor = lone_anchor(value);
    const srXacroValue got = anchor   ? read_anchored(y, indent, true, anchor)
                             : *value ? read_value(y, value)
                                      : read_below(y, indent, true);
    if (strcmp(key, "<<") == 0)
      merge(y, &items, &got);
    else
      add_item(y, &items, key, got);
  }
  return y->failed ? nothing : make(y, SR_XACRO_DICT, &items);
}

static srXacroValue read_block(Yaml* y, int indent) {
  const char *key, *text = y->line[y->at].text;
  srXacroValue value;
  if (++y->levels > SR_XACRO_LEVELS) return refuse(y, "so deep a list", text);
  if (is_item(text))
    value = read_list(y, indent);
  else if (split_key(y, text, &key))
    value = read_map(y, indent);
  else
    value = read_value(y, text);
  y->levels--;
  if (!y->failed && y->at < y->n && y->line[y->at].indent > indent)
    return refuse(y, "a line that is indented otherwise", y->line[y->at].text);
  return value;
}

// --------------------------------------------------------------------------------------------------------------- entry
bool sr_xacro_yaml_text(srXacro* x, char* text, const char* file, srXacroValue* out) {
  Yaml y = {.x = x, .file = file};
  sr_names_init(&y.anchors, &x->r->pool);
  if (!split_lines(&y, text)) return false;
  *out = y.n > 0 ? read_block(&y, y.line[0].indent) : nothing;
  if (!y.failed && y.at < y.n) refuse(&y, "a line that is indented otherwise", y.line[y.at].text);
  return !y.failed;
}

bool sr_xacro_yaml(srXacro* x, const char* name, srPlace place, srXacroValue* out) {
  const char* reason = NULL;
  size_t size;
  if (!x->folder) {
    sr_xacro_error(x, place, "the model comes from memory: it may not read '%.200s'", name);
    return false;
  }
  const char* path = sr_xacro_path(x, name, place);
  if (!path) return false;
  char* text = sr_reader_read(x->r, path, MAX_SIZE, &size, &reason);
  if (!text || !sr_xacro_room(x, size, place)) {
    if (!text) sr_xacro_error(x, place, "the file '%.200s' %s", path, reason);
    return false;
  }
  return sr_xacro_yaml_text(x, text, path, out);
}
