// The JSON writer: see text.h.
#include <math.h>
#include <string.h>

#include "base/base.h"

static void put(srJson* json, const char* text) { sr_text_add(json->out, text, strlen(text)); }

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

static void put_string(srJson* json, const char* text) {
  put(json, "\"");
  for (const unsigned char* s = (const unsigned char*)text; *s;) {
    const int n = utf8_length(s);
    if (*s == '"' || *s == '\\') {
      sr_text_print(json->out, "\\%c", *s);
    } else if (*s == '\n') {
      put(json, "\\n");
    } else if (*s < 0x20) {
      sr_text_print(json->out, "\\u%04x", *s);
    } else if (n == 0) {
      put(json, "\\ufffd");  // not a character
    } else {
      sr_text_add(json->out, (const char*)s, (size_t)n);
    }
    s += n ? n : 1;
  }
  put(json, "\"");
}

// Comma, line break and key before a value.
static void before(srJson* json, const char* key) {
  if (json->filled[json->depth]) put(json, ",");
  if (json->depth == 1)
    put(json, "\n  ");
  else if (json->filled[json->depth])
    put(json, " ");
  json->filled[json->depth] = true;
  if (key) {
    put_string(json, key);
    put(json, ": ");
  }
}

static void open(srJson* json, const char* key, const char* bracket) {
  before(json, key);
  put(json, bracket);
  SR_ASSERT(json->depth + 1 < SR_JSON_DEPTH);
  json->filled[++json->depth] = false;
}

srJson sr_json_begin(srText* out) {
  srJson json = {.out = out, .depth = 1};
  put(&json, "{");
  return json;
}
void sr_json_end(srJson* json) { put(json, json->filled[1] ? "\n}\n" : "}\n"); }
void sr_json_object(srJson* json, const char* key) { open(json, key, "{"); }
void sr_json_array(srJson* json, const char* key) { open(json, key, "["); }
void sr_json_object_end(srJson* json) { json->depth--, put(json, "}"); }
void sr_json_array_end(srJson* json) { json->depth--, put(json, "]"); }

void sr_json_text(srJson* json, const char* key, const char* text) {
  before(json, key);
  if (text)
    put_string(json, text);
  else
    put(json, "null");
}

void sr_json_raw(srJson* json, const char* key, const char* value) {
  before(json, key);
  put(json, value);
}

void sr_json_bool(srJson* json, const char* key, bool value) {
  before(json, key);
  put(json, value ? "true" : "false");
}

void sr_json_int(srJson* json, const char* key, long long value) {
  before(json, key);
  sr_text_print(json->out, "%lld", value);
}

void sr_json_number(srJson* json, const char* key, double value) {
  before(json, key);
  char number[32];
  if (isfinite(value)) sr_number_print(value, 17, number, sizeof number);
  put(json, isfinite(value) ? number : "null");
}

void sr_json_numbers(srJson* json, const char* key, const double* x, int n) {
  sr_json_array(json, key);
  for (int i = 0; i < n; i++) sr_json_number(json, NULL, x[i]);
  sr_json_array_end(json);
}

void sr_json_matrix(srJson* json, const char* key, const double* x, int rows, int columns) {
  sr_json_array(json, key);
  for (int i = 0; i < rows; i++) sr_json_numbers(json, NULL, x + (size_t)i * (size_t)columns, columns);
  sr_json_array_end(json);
}

void sr_json_messages(srJson* json, const char* key, const srMessages* messages, srSeverity severity) {
  sr_json_array(json, key);
  for (int i = 0; messages && i < sr_messages_count(messages); i++) {
    const srMessage* message = sr_messages_get(messages, i);
    if (message->severity != severity) continue;
    srText text = {0};
    sr_text_message(&text, message);
    sr_json_text(json, NULL, text.data);
    json->out->failed = json->out->failed || text.failed;
    sr_text_free(&text);
  }
  sr_json_array_end(json);
}

void sr_json_warnings(srJson* json, const srMessages* messages) {
  sr_json_messages(json, "warnings", messages, SR_SEVERITY_WARNING);
  sr_json_messages(json, "notes", messages, SR_SEVERITY_NOTE);
}
