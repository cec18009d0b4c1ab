// Texts of model files: see text.h.
#include "io/text.h"

#include <string.h>

bool sr_text_is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool sr_text_is(const char* text, const char* word) { return text && strcmp(text, word) == 0; }

bool sr_text_ends_with(const char* text, const char* end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

int sr_text_place_among(const char* word, const char* list) {
  const size_t n = strlen(word);
  int place = 0;
  for (const char* p = list; *p; place++) {
    const size_t length = strcspn(p, "|");
    if (length == n && memcmp(p, word, n) == 0) return place;
    p += length + (p[length] == '|');
  }
  return -1;
}

bool sr_text_is_among(const char* word, const char* list) { return sr_text_place_among(word, list) >= 0; }

int sr_text_split(srPool* pool, const char* list, const char** words, int n, int most) {
  for (const char* p = list; *p && n < most;) {
    const size_t length = strcspn(p, "|");
    words[n++] = sr_pool_text_n(pool, p, length);
    p += length + (p[length] == '|');
  }
  return n;
}

const char* sr_text_alternatives(srPool* pool, const char* const* words, int n) {
  const char* text = words[0];
  for (int i = 1; i < n; i++) text = sr_pool_printf(pool, i == n - 1 ? "%s or %s" : "%s, %s", text, words[i]);
  return text;
}
