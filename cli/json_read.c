// The JSON reader: RFC 8259, depth bounded, no copies but of the requested numbers.
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { DEPTH_MAX = 64, KEY_MAX = 64 };

typedef struct Reader {
  const char* begin;
  const char* p;
  const char* end;
  JsonError* error_message;
  JsonTree* tree;   // NULL: values are checked alone
  const char* key;  // of the value that comes next
  int nkey;
} Reader;

static bool value(Reader* r, int depth);

SR_PRINTF(2, 3) static bool fail(Reader* r, const char* format, ...) {
  JsonError* t = r->error_message;
  if (t->line) return false;  // the first one counts
  t->line = t->column = 1;
  for (const char* c = r->begin; c < r->p; c++) {
    t->column++;
    if (*c == '\n') t->line++, t->column = 1;
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(t->text, sizeof t->text, format, arguments);
  va_end(arguments);
  return false;
}

static int peek(Reader* r) {
  while (r->p < r->end && strchr(" \t\r\n", *r->p) && *r->p) r->p++;
  return r->p < r->end ? (unsigned char)*r->p : -1;
}

static bool expect(Reader* r, char c, const char* where) {
  if (peek(r) == c) return r->p++, true;
  return fail(r, "expected '%c' %s", c, where);
}

// A string; its first KEY_MAX - 1 bytes go to key. Escapes are kept as written: no requested key has one.
static bool string(Reader* r, char* key) {
  size_t n = 0;
  if (!expect(r, '"', "at the start of a text")) return false;
  while (r->p < r->end && *r->p != '"') {
    if ((unsigned char)*r->p < 0x20) return fail(r, "a text must not hold a control character");
    const int step = *r->p == '\\' && r->p + 1 < r->end ? 2 : 1;
    for (int i = 0; i < step; i++, r->p++)
      if (key && n < KEY_MAX - 1) key[n++] = *r->p;
  }
  if (key) key[n] = 0;
  return expect(r, '"', "at the end of a text");
}

static const char* digits(const char* p, const char* end) {
  while (p < end && isdigit((unsigned char)*p)) p++;
  return p;
}

static bool number(Reader* r, double* out) {
  peek(r);
  const char* p = r->p + (r->p < r->end && *r->p == '-');
  const char* whole = p;
  p = digits(p, r->end);
  if (p == whole) return fail(r, "expected a number");
  if (p < r->end && *p == '.') p = digits(p + 1, r->end);
  if (p < r->end && (*p == 'e' || *p == 'E')) {
    p++;
    if (p < r->end && (*p == '+' || *p == '-')) p++;
    p = digits(p, r->end);
  }
  char text[400];
  const size_t n = (size_t)(p - r->p);
  if (n >= sizeof text) return fail(r, "a number with more than %zu digits", sizeof text - 1);
  memcpy(text, r->p, n);
  text[n] = 0;
  *out = strtod(text, NULL);
  if (!isfinite(*out)) return fail(r, "the number %s is too large", text);
  r->p = p;
  return true;
}

static bool literal(Reader* r) {
  static const char* const words[] = {"true", "false", "null"};
  for (int i = 0; i < 3; i++) {
    const size_t n = strlen(words[i]);
    if ((size_t)(r->end - r->p) >= n && memcmp(r->p, words[i], n) == 0) return r->p += n, true;
  }
  return fail(r, "expected a value");
}

static bool array(Reader* r, int depth) {
  r->p++;
  if (peek(r) == ']') return r->p++, true;
  while (value(r, depth + 1)) {
    if (peek(r) != ',') return expect(r, ']', "or ',' in an array");
    r->p++;
  }
  return false;
}

static bool object_key(Reader* r) {
  peek(r);
  const char* begin = r->p + 1;
  if (!string(r, NULL)) return false;
  r->key = begin;
  r->nkey = (int)(r->p - 1 - begin);
  return expect(r, ':', "after a key");
}

static bool object(Reader* r, int depth) {
  r->p++;
  if (peek(r) == '}') return r->p++, true;
  while (object_key(r) && value(r, depth + 1)) {
    if (peek(r) != ',') return expect(r, '}', "or ',' in an object");
    r->p++;
  }
  return false;
}

static bool any_value(Reader* r, int depth) {
  double ignored;
  if (depth > DEPTH_MAX) return fail(r, "nested deeper than %d", DEPTH_MAX);
  switch (peek(r)) {
    case '{': return object(r, depth);
    case '[': return array(r, depth);
    case '"': return string(r, NULL);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return number(r, &ignored);
    default: return literal(r);
  }
}

// Adds a node for the value at r->p. False: out of memory.
static bool open_node(Reader* r) {
  JsonTree* t = r->tree;
  if (t->n == t->room) {
    const int room = t->room ? 2 * t->room : 256;
    JsonNode* node = realloc(t->node, (size_t)room * sizeof *node);
    if (!node) return fail(r, "out of memory");
    t->node = node;
    t->room = room;
  }
  peek(r);
  t->node[t->n++] = (JsonNode){.key = r->key, .nkey = r->nkey, .text = r->p};
  r->key = NULL;
  r->nkey = 0;
  return true;
}

static bool value(Reader* r, int depth) {
  if (!r->tree) return any_value(r, depth);
  const int i = r->tree->n;
  if (!open_node(r) || !any_value(r, depth)) return false;
  JsonNode* node = &r->tree->node[i];
  node->n = (int)(r->p - node->text);
  node->end = r->tree->n;
  return true;
}

bool json_read_tree(const char* text, size_t size, JsonTree* out) {
  JsonError error = {0};
  Reader r = {.begin = text, .p = text, .end = text + size, .error_message = &error, .tree = out};
  out->n = 0;
  return value(&r, 0) && peek(&r) == -1;
}

void json_tree_free(JsonTree* tree) {
  free(tree->node);
  *tree = (JsonTree){0};
}

static bool numbers(Reader* r, JsonWanted* w) {
  if (!expect(r, '[', "before the numbers")) return false;
  if (peek(r) == ']') return r->p++, true;
  for (int room = 0;;) {
    if (w->n == room) {
      room = room ? 2 * room : 16;
      double* x = realloc(w->x, (size_t)room * sizeof *x);
      if (!x) return fail(r, "out of memory");
      w->x = x;
    }
    if (!number(r, &w->x[w->n])) return false;
    w->n++;
    if (peek(r) != ',') return expect(r, ']', "or ',' in a list of numbers");
    r->p++;
  }
}

// One more text behind those of w.
static bool word(Reader* r, JsonWanted* w, size_t* used) {
  peek(r);
  const char* first = r->p + 1;
  if (!string(r, NULL)) return false;
  const size_t n = (size_t)(r->p - 1 - first);
  char* text = realloc(w->text, *used + n + 1);
  if (!text) return fail(r, "out of memory");
  w->text = text;
  memcpy(text + *used, first, n);
  text[*used + n] = 0;
  *used += n + 1;
  w->n++;
  return true;
}

static bool words(Reader* r, JsonWanted* w) {
  size_t used = 0;
  w->text = calloc(1, 1);
  if (!w->text) return fail(r, "out of memory");
  if (peek(r) != '[') return word(r, w, &used);
  r->p++;
  if (peek(r) == ']') return r->p++, true;
  while (word(r, w, &used)) {
    if (peek(r) != ',') return expect(r, ']', "or ',' in a list of texts");
    r->p++;
  }
  return false;
}

static bool member(Reader* r, JsonWanted* wanted, int n) {
  char key[KEY_MAX];
  if (!string(r, key) || !expect(r, ':', "after a key")) return false;
  for (int i = 0; i < n; i++) {
    JsonWanted* w = &wanted[i];
    if (strcmp(w->key, key) != 0) continue;
    if (w->x || w->text) return fail(r, "the key \"%s\" is given twice", key);
    if (w->words) return words(r, w);
    w->x = malloc(16 * sizeof *w->x);
    if (!w->x) return fail(r, "out of memory");
    if (w->list) return numbers(r, w);
    w->n = 1;
    return number(r, w->x);
  }
  return value(r, 1);
}

bool json_read(const char* text, size_t size, JsonWanted* wanted, int n, JsonError* error_message) {
  Reader r = {.begin = text, .p = text, .end = text + size, .error_message = error_message};
  *error_message = (JsonError){0};
  if (!expect(&r, '{', "at the start")) return false;
  if (peek(&r) == '}') {
    r.p++;
  } else {
    for (;;) {
      if (!member(&r, wanted, n)) return false;
      if (peek(&r) != ',') break;
      r.p++;
    }
    if (!expect(&r, '}', "or ',' in an object")) return false;
  }
  return peek(&r) == -1 || fail(&r, "nothing may follow the object");
}

char* json_file(Cli* cli, const char* what, const char* path, size_t* size) {
  enum { MAX = 64 << 20 };
  FILE* file = fopen(path, "rb");
  if (!file) {
    cli_error(cli, "%s '%s' could not be opened: %s", what, path, strerror(errno));
    return NULL;
  }
  size_t room = 4096, n = 0;
  char* text = malloc(room);
  while (text) {
    n += fread(text + n, 1, room - n, file);
    if (n < room || room >= MAX) break;
    room *= 2;
    char* more = realloc(text, room);
    if (!more) free(text);
    text = more;
  }
  const bool bad = ferror(file) || n >= MAX;
  fclose(file);
  if (!text || bad) {
    cli_error(cli, "%s '%s' could not be read", what, path);
    free(text);
    return NULL;
  }
  *size = n;
  return text;
}
