// Texts of figures: how wide they will be, though the reader's font is unknown, and the formats of the output. Widths are
// those of the Helvetica family, which comes first in the font stack, with some room for wider substitutes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plot/plot.h"

// ------------------------------------------------------------------------------------------------------------- widths
// Of the characters from blank to ~, in thousandths of the font size.
static const short widths[95] = {278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
                                 556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
                                 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
                                 667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
                                 333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
                                 556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};
#define OTHER 600        // letters beyond ASCII
#define WIDE 1000        // scripts of square letters, from U+2E80 on: three bytes that begin with E2 BA or above
#define SUBSTITUTE 1.07  // room for wider fonts
#define BOLD 1.07

// Bytes of the character at p, 1 where it is none.
static int character(const unsigned char* p) {
  const int n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc0 ? 2 : 1;
  for (int i = 1; i < n; i++)
    if ((p[i] & 0xc0) != 0x80) return 1;
  return n;
}

static int thousandths(const unsigned char* p) {
  if (*p >= ' ' && *p <= '~') return widths[*p - ' '];
  return *p >= 0xe3 && *p < 0xf0 ? WIDE : OTHER;
}

double sr_text_width(const char* text, double size, bool bold) {
  double sum = 0;
  for (const unsigned char* p = (const unsigned char*)text; *p; p += character(p)) sum += thousandths(p);
  return sum * 0.001 * size * SUBSTITUTE * (bold ? BOLD : 1);
}

const char* sr_text_fit(srPool* pool, const char* text, double size, double width) {
  if (sr_text_width(text, size, false) <= width) return text;
  double room = width - sr_text_width("\xe2\x80\xa6", size, false);
  const unsigned char* p = (const unsigned char*)text;
  for (; *p; p += character(p)) {
    room -= thousandths(p) * 0.001 * size * SUBSTITUTE;
    if (room < 0) break;
  }
  return sr_pool_printf(pool, "%.*s\xe2\x80\xa6", (int)((const char*)p - text), text);
}

// Length of the first line: up to the last blank that still fits, or the first blank at all.
static size_t line_length(srPool* pool, const char* text, double size, double width) {
  size_t best = 0;
  for (size_t i = 0; text[i]; i++) {
    if (text[i] != ' ' || i == 0) continue;
    const bool fits = sr_text_width(sr_pool_text_n(pool, text, i), size, false) <= width;
    if (fits || best == 0) best = i;
    if (!fits) break;
  }
  return best > 0 && sr_text_width(text, size, false) > width ? best : strlen(text);
}

int sr_text_wrap(srPool* pool, const char* text, double size, double width, const char*** lines) {
  int n = 0, capacity = 0;
  *lines = NULL;
  while (*text) {
    const size_t length = line_length(pool, text, size, width);
    const char* line = sr_text_fit(pool, sr_pool_text_n(pool, text, length), size, width);
    SR_PUSH(pool, *lines, n, capacity) = line;
    text += length;
    while (*text == ' ') text++;
  }
  return n;
}

// ------------------------------------------------------------------------------------------------------------- output
static const char* entity(char c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
  }
}

// A character that XML allows: not a surrogate, not U+FFFE or U+FFFF, not written longer than needed.
static bool allowed(const unsigned char* p, int n) {
  static const unsigned least[5] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned code = n == 4 ? p[0] & 7u : n == 3 ? p[0] & 15u : p[0] & 31u;
  for (int i = 1; i < n; i++) code = code << 6 | (p[i] & 63u);
  return n > 1 && code >= least[n] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) && (code & 0xfffe) != 0xfffe;
}

// What XML cannot hold becomes a blank (controls) or the replacement character (no UTF-8).
static void add_escaped(srText* text, const char* raw) {
  const unsigned char* p = (const unsigned char*)raw;
  for (int n; *p; p += n) {
    n = character(p);
    const char* e = entity((char)*p);
    if (e)
      sr_text_add(text, e, strlen(e));
    else if (*p < ' ' || *p == 0x7f)
      sr_text_add(text, " ", 1);
    else if (*p >= 0x80 && !allowed(p, n))
      sr_text_add(text, "\xef\xbf\xbd", 3);
    else
      sr_text_add(text, (const char*)p, (size_t)n);
  }
}

// Hundredths of a px, without what can be left out: 12.5, -3, 0.
static void add_px(srText* text, double px) {
  char number[40];
  const long long hundredths = llround(fmin(fmax(px, -1e9), 1e9) * 100);
  const long long size = hundredths < 0 ? -hundredths : hundredths;
  int n = snprintf(number, sizeof number, "%s%lld", hundredths < 0 ? "-" : "", size / 100);
  if (size % 100) n += snprintf(number + n, sizeof number - (size_t)n, ".%02lld", size % 100);
  if (size % 100 && size % 10 == 0) n--;
  sr_text_add(text, number, (size_t)n);
}

void sr_text_put(srText* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (const char* p = format; *p; p++) {
    if (*p != '%') {
      const size_t n = strcspn(p, "%");
      sr_text_add(text, p, n);
      p += n - 1;
      continue;
    }
    const char* s;
    char number[16];
    switch (*++p) {
      case 's': s = va_arg(arguments, const char*), sr_text_add(text, s, strlen(s)); break;
      case 't': add_escaped(text, va_arg(arguments, const char*)); break;
      case 'p': add_px(text, va_arg(arguments, double)); break;
      default: sr_text_add(text, number, (size_t)snprintf(number, sizeof number, "%d", va_arg(arguments, int))); break;
    }
  }
  va_end(arguments);
}
