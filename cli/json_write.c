// The JSON writer. Nothing is kept: every call prints.
#include <math.h>

#include "json.h"

// Bytes of the UTF-8 character at s, 0 when it is none (RFC 3629).
static int utf8_length(const unsigned char* s) {
  static const struct {
    unsigned char mask, head;
    unsigned least;
  } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
  for (int n = 1; n <= 4; n++) {
    if ((s[0] & forms[n - 1].mask) != forms[n - 1].head) continue;
    unsigned c = s[0] & (unsigned)~forms[n - 1].mask & 0xFFu;
    for (int i = 1; i < n; i++) {
      if ((s[i] & 0xC0) != 0x80) return 0;
      c = c << 6 | (s[i] & 0x3Fu);
    }
    return c >= forms[n - 1].least && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF) ? n : 0;
  }
  return 0;
}

static void put_string(FILE* out, const char* text) {
  putc('"', out);
  for (const unsigned char* s = (const unsigned char*)text; *s;) {
    const int n = utf8_length(s);
    if (*s == '"' || *s == '\\') {
      fprintf(out, "\\%c", *s);
    } else if (*s == '\n') {
      fputs("\\n", out);
    } else if (*s < 0x20) {
      fprintf(out, "\\u%04x", *s);
    } else if (n == 0) {
      fputs("\\ufffd", out);  // not a character
    } else {
      fwrite(s, 1, (size_t)n, out);
    }
    s += n ? n : 1;
  }
  putc('"', out);
}

// Comma, line break and key before a value. Members of the top object stand on lines of their own.
static void before(Json* json, const char* key) {
  if (json->filled[json->depth]) putc(',', json->out);
  if (json->depth == 1)
    fputs("\n  ", json->out);
  else if (json->filled[json->depth])
    putc(' ', json->out);
  json->filled[json->depth] = true;
  if (key) {
    put_string(json->out, key);
    fputs(": ", json->out);
  }
}

static void open(Json* json, const char* key, char bracket) {
  before(json, key);
  putc(bracket, json->out);
  json->filled[++json->depth] = false;
}

static void put_number(FILE* out, double x) {
  if (isfinite(x))
    fprintf(out, "%.17g", x);
  else
    fputs("null", out);
}

Json json_begin(FILE* out) {
  Json json = {.out = out, .depth = 1};
  putc('{', out);
  return json;
}
void json_end(Json* json) { fputs(json->filled[1] ? "\n}\n" : "}\n", json->out); }
void json_object(Json* json, const char* key) { open(json, key, '{'); }
void json_array(Json* json, const char* key) { open(json, key, '['); }
void json_object_end(Json* json) { json->depth--, putc('}', json->out); }
void json_array_end(Json* json) { json->depth--, putc(']', json->out); }

void json_text(Json* json, const char* key, const char* text) {
  before(json, key);
  if (text)
    put_string(json->out, text);
  else
    fputs("null", json->out);
}

void json_bool(Json* json, const char* key, bool value) {
  before(json, key);
  fputs(value ? "true" : "false", json->out);
}

void json_int(Json* json, const char* key, long long value) {
  before(json, key);
  fprintf(json->out, "%lld", value);
}

void json_number(Json* json, const char* key, double value) {
  before(json, key);
  put_number(json->out, value);
}

void json_numbers(Json* json, const char* key, const double* x, int n) {
  json_array(json, key);
  for (int i = 0; i < n; i++) json_number(json, NULL, x[i]);
  json_array_end(json);
}

void json_matrix(Json* json, const char* key, const double* x, int rows, int columns) {
  json_array(json, key);
  for (int i = 0; i < rows; i++) json_numbers(json, NULL, x + (size_t)i * (size_t)columns, columns);
  json_array_end(json);
}
