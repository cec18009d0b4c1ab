// The JSON reader: RFC 8259, depth bounded. A tree of the values with their places in the text; nothing is copied. See text.h.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { DEPTH_MAX = 64, DIGITS_MAX = 400 };

typedef struct Reader {
  const char* begin;
  const char* p;
  const char* end;
  srJsonError* error;
  srJsonTree* tree;
  const char* key;  // of the value that comes next
  int nkey;
} Reader;

static bool value(Reader* r, int depth);

SR_PRINTF(2, 3) static bool fail(Reader* r, const char* format, ...) {
  srJsonError* e = r->error;
  if (e->line) return false;  // the first one counts
  e->line = e->column = 1;
  for (const char* c = r->begin; c < r->p; c++) {
    e->column++;
    if (*c == '\n') e->line++, e->column = 1;
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(e->text, sizeof e->text, format, arguments);
  va_end(arguments);
  return false;
}

static int peek(Reader* r) {
  while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r' || *r->p == '\n')) r->p++;
  return r->p < r->end ? (unsigned char)*r->p : -1;
}

static bool expect(Reader* r, char c, const char* where) {
  if (peek(r) == c) return r->p++, true;
  return fail(r, "expected '%c' %s", c, where);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int hex4(const char* p, const char* end) {
  int x = 0;
  for (int i = 0; i < 4; i++) {
    const int digit = p + i < end ? hex_digit(p[i]) : -1;
    if (digit < 0) return -1;
    x = 16 * x + digit;
  }
  return x;
}

static bool escape(Reader* r) {
  const char c = r->p + 1 < r->end ? r->p[1] : '\0';
  if (c == 'u' && hex4(r->p + 2, r->end) >= 0) return r->p += 6, true;
  if (c != '\0' && strchr("\"\\/bfnrt", c)) return r->p += 2, true;
  return fail(r, "\\ in a text must be followed by one of \" \\ / b f n r t, or u and four hexadecimal digits");
}

static bool string(Reader* r) {
  if (!expect(r, '"', "at the start of a text")) return false;
  while (r->p < r->end && *r->p != '"') {
    if ((unsigned char)*r->p < 0x20) return fail(r, "a text must not hold a control character");
    if (*r->p != '\\')
      r->p++;
    else if (!escape(r))
      return false;
  }
  return expect(r, '"', "at the end of a text");
}

static const char* digits(const char* p, const char* end) {
  while (p < end && *p >= '0' && *p <= '9') p++;
  return p;
}

static bool number(Reader* r) {
  const char* p = r->p + (*r->p == '-');
  const char* whole = p;
  p = digits(p, r->end);
  if (p == whole || (*whole == '0' && p > whole + 1)) return fail(r, "expected a number");
  if (p < r->end && *p == '.') {
    const char* part = ++p;
    p = digits(p, r->end);
    if (p == part) return fail(r, "expected digits behind the point of a number");
  }
  if (p < r->end && (*p == 'e' || *p == 'E')) {
    p++;
    if (p < r->end && (*p == '+' || *p == '-')) p++;
    const char* exponent = p;
    p = digits(p, r->end);
    if (p == exponent) return fail(r, "expected the exponent of a number");
  }
  const srJsonNode node = {.text = r->p, .n = (int)(p - r->p)};
  double x;
  if (node.n >= DIGITS_MAX) return fail(r, "a number with more than %d digits", DIGITS_MAX - 1);
  if (!sr_json_node_number(&node, &x)) return fail(r, "the number %.*s is too large", node.n, node.text);
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
  if (!string(r)) return false;
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
  if (depth > DEPTH_MAX) return fail(r, "nested deeper than %d", DEPTH_MAX);
  const int c = peek(r);
  switch (c) {
    case '{': return object(r, depth);
    case '[': return array(r, depth);
    case '"': return string(r);
    default: return c == '-' || (c >= '0' && c <= '9') ? number(r) : literal(r);
  }
}

// Adds a node for the value at r->p. False: out of memory.
static bool open_node(Reader* r) {
  srJsonTree* t = r->tree;
  if (t->n == t->room) {
    const int room = t->room > 0 ? 2 * t->room : 64;
    srJsonNode* node = t->room < INT_MAX / 2 ? sr_alloc((size_t)room * sizeof *node) : NULL;
    if (node == NULL) return fail(r, "out of memory");
    if (t->n > 0) memcpy(node, t->node, (size_t)t->n * sizeof *node);
    sr_free(t->node);
    t->node = node;
    t->room = room;
  }
  (void)peek(r);
  t->node[t->n++] = (srJsonNode){.key = r->key, .nkey = r->nkey, .text = r->p};
  r->key = NULL;
  r->nkey = 0;
  return true;
}

static bool value(Reader* r, int depth) {
  const int i = r->tree->n;
  if (!open_node(r) || !any_value(r, depth)) return false;
  srJsonNode* node = &r->tree->node[i];
  node->n = (int)(r->p - node->text);
  node->end = r->tree->n;
  return true;
}

bool sr_json_read(const char* text, size_t size, srJsonTree* out, srJsonError* error) {
  srJsonError own;
  Reader r = {.begin = text, .p = text, .end = text + size, .error = error != NULL ? error : &own, .tree = out};
  *r.error = (srJsonError){0};
  out->n = 0;
  if (size > INT_MAX) return fail(&r, "the text is longer than 2 GB");
  return value(&r, 0) && (peek(&r) == -1 || fail(&r, "nothing may follow the value"));
}

void sr_json_tree_free(srJsonTree* tree) {
  sr_free(tree->node);
  *tree = (srJsonTree){0};
}

int sr_json_member(const srJsonTree* tree, int at, const char* key) {
  const size_t n = strlen(key);
  if (*tree->node[at].text != '{') return -1;
  for (int i = at + 1; i < tree->node[at].end; i = tree->node[i].end) {
    const srJsonNode* x = &tree->node[i];
    if ((size_t)x->nkey == n && memcmp(x->key, key, n) == 0) return i;
  }
  return -1;
}

bool sr_json_node_number(const srJsonNode* node, double* out) {
  char text[DIGITS_MAX];
  if (*node->text != '-' && (*node->text < '0' || *node->text > '9')) return false;
  if (node->n >= DIGITS_MAX) return false;
  memcpy(text, node->text, (size_t)node->n);
  text[node->n] = '\0';
  *out = strtod(text, NULL);
  return isfinite(*out);
}

static void add_character(srText* out, unsigned c) {
  char bytes[4];
  int n = 1;
  if (c < 0x80) {
    bytes[0] = (char)c;
  } else {
    n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, c >>= 6) bytes[i] = (char)(0x80 | (c & 0x3F));
    bytes[0] = (char)((n == 2 ? 0xC0 : n == 3 ? 0xE0 : 0xF0) | c);
  }
  sr_text_add(out, bytes, (size_t)n);
}

// \uXXXX at p, of a pair of surrogates both; one alone, or a zero, is no character. Returns its letters, 0: none.
static int unicode(const char* p, const char* end, srText* out) {
  const int c = hex4(p + 2, end);
  if (c <= 0 || (c >= 0xDC00 && c < 0xE000)) return 0;
  if (c < 0xD800 || c >= 0xE000) return add_character(out, (unsigned)c), 6;
  const int low = end - p >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8, end) : -1;
  if (low < 0xDC00 || low >= 0xE000) return 0;
  return add_character(out, 0x10000u + ((unsigned)(c - 0xD800) << 10) + (unsigned)(low - 0xDC00)), 12;
}

bool sr_json_node_text(const srJsonNode* node, srText* out) {
  static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  if (*node->text != '"') return false;
  const char *p = node->text + 1, *end = node->text + node->n - 1;
  while (p < end) {
    const char* next = p;
    while (next < end && *next != '\\') next++;
    sr_text_add(out, p, (size_t)(next - p));
    p = next;
    if (p == end) break;
    const int n = p[1] == 'u' ? unicode(p, end, out) : 2;
    if (n == 0) return false;
    if (n == 2) sr_text_add(out, &meant[strchr(letters, p[1]) - letters], 1);
    p += n;
  }
  sr_text_add(out, "", 0);
  return true;
}
