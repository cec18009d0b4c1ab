// Texts that grow: doubled by copying, in the heap or in a pool. Numbers in them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

// Room for n bytes more, and a zero.
static bool has_room(srText* text, size_t n) {
  if (text->failed) return false;
  if (text->n + n < text->capacity) return true;
  const size_t larger = 2 * (text->capacity + n) + 1024;
  char* data = text->pool ? sr_pool_alloc(text->pool, larger) : sr_alloc(larger);
  if (!data) return text->failed = true, false;
  if (text->n > 0) memcpy(data, text->data, text->n);
  if (!text->pool) sr_free(text->data);
  text->data = data;
  text->capacity = larger;
  return true;
}

void sr_text_add(srText* text, const char* bytes, size_t n) {
  if (!has_room(text, n)) return;
  memcpy(text->data + text->n, bytes, n);
  text->n += n;
  text->data[text->n] = 0;
}

void sr_text_vprint(srText* text, const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int n = vsnprintf(NULL, 0, format, arguments);
  if (n > 0 && has_room(text, (size_t)n)) {
    vsnprintf(text->data + text->n, (size_t)n + 1, format, again);
    text->n += (size_t)n;
  }
  va_end(again);
}

void sr_text_print(srText* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  sr_text_vprint(text, format, arguments);
  va_end(arguments);
}

void sr_text_message(srText* text, const srMessage* message) {
  srMessage placed = *message;
  if (!placed.place.file) placed.place.file = "sarrus";  // what is wrong with the call itself
  const size_t size = strlen(placed.place.file) + strlen(placed.text) + 64;
  if (!has_room(text, size)) return;
  sr_message_format(&placed, text->data + text->n, size);
  text->n += strlen(text->data + text->n);
}

void sr_text_free(srText* text) {
  if (!text->pool) sr_free(text->data);
  *text = (srText){.pool = text->pool};
}

// "%.6g" of a number from 1e-4 to 1e6 by integers; 0: a number that is not such, or so near to the middle of two texts that its scaling may decide.
static size_t print_six(double value, char* out, size_t size) {
  static const double power[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
  const double scaled_up = value * 1e4;  // 1 .. 1e10
  int places = 9, n = 0;                 // behind the point
  if (!(value >= 1e-4 && value < 1e6) || size < 16) return 0;
  while (places > 0 && scaled_up >= power[10 - places]) --places;
  const double scaled = value * power[places], below = floor(scaled);
  if (!(below >= 1e5 && below < 999999) || fabs(scaled - below - 0.5) < 1e-3) return 0;
  char digit[10];
  long left = (long)below + (scaled - below > 0.5);
  for (int i = 0; i < 10; ++i, left /= 10) digit[i] = (char)('0' + left % 10);  // from the last one
  int last = 0;
  while (last < places && digit[last] == '0') ++last;
  for (int i = places < 6 ? 5 : places; i >= last; --i) {
    if (i == places - 1) out[n++] = '.';
    out[n++] = digit[i];
  }
  out[n] = '\0';
  return (size_t)n;
}

size_t sr_number_print(double value, int digits, char* out, size_t size) {
  const size_t short_length = digits == 6 ? print_six(value, out, size) : 0;
  if (short_length > 0) return short_length;
  char raw[64];
  snprintf(raw, sizeof raw, "%.*g", digits, value);
  size_t n = 0;
  bool point = false;
  for (const char* c = raw; *c && n + 1 < size; c++) {
    const bool plain = strchr("0123456789+-eainf", *c) != NULL;
    if (plain || !point) out[n++] = plain ? *c : '.';
    point = point || !plain;
  }
  out[n] = 0;
  return n;
}

void sr_free_text(char* text) { sr_free(text); }
