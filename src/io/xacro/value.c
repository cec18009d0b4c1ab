// Values of xacro's formulas and how Python prints them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/expr.h"
#include "io/xacro/parts.h"

srXacroValue sr_xacro_str(const char* text) { return (srXacroValue){.type = SR_XACRO_STR, .text = text}; }
srXacroValue sr_xacro_int(long long whole) { return (srXacroValue){.type = SR_XACRO_INT, .whole = whole}; }
srXacroValue sr_xacro_float(double number) { return (srXacroValue){.type = SR_XACRO_FLOAT, .number = number}; }
srXacroValue sr_xacro_bool(bool truth) { return (srXacroValue){.type = SR_XACRO_BOOL, .whole = truth}; }

const char* sr_xacro_type_word(const srXacroValue* v) {
  static const char* const words[] = {"None",   "a truth value", "a whole number", "a number",
                                      "a text", "a list",        "a dictionary"};
  return words[v->type];
}

bool sr_xacro_number(const srXacroValue* v, double* number) {
  *number = v->type == SR_XACRO_FLOAT ? v->number : (double)v->whole;
  return v->type == SR_XACRO_BOOL || v->type == SR_XACRO_INT || v->type == SR_XACRO_FLOAT;
}

bool sr_xacro_truth(const srXacroValue* v) {
  switch (v->type) {
    case SR_XACRO_NONE: return false;
    case SR_XACRO_BOOL:
    case SR_XACRO_INT: return v->whole != 0;
    case SR_XACRO_FLOAT: return v->number != 0;
    case SR_XACRO_STR: return v->text[0] != '\0';
    case SR_XACRO_LIST:
    case SR_XACRO_DICT: return v->n > 0;
  }
  return false;
}

static bool equal_items(const srXacroValue* a, const srXacroValue* b) {
  for (int i = 0; i < a->n; i++) {
    if (a->type == SR_XACRO_DICT && strcmp(a->keys[i], b->keys[i]) != 0) return false;
    if (!sr_xacro_equal(&a->items[i], &b->items[i])) return false;
  }
  return true;
}

bool sr_xacro_equal(const srXacroValue* a, const srXacroValue* b) {
  double x, y;
  const bool numbers = sr_xacro_number(a, &x) && sr_xacro_number(b, &y);
  if (numbers && a->type != SR_XACRO_FLOAT && b->type != SR_XACRO_FLOAT) return a->whole == b->whole;
  if (numbers) return x == y;
  if (a->type != b->type) return false;
  if (a->type == SR_XACRO_STR) return strcmp(a->text, b->text) == 0;
  return a->n == b->n && equal_items(a, b);
}

// ---------------------------------------------------------------------------------------------------------- printing
// Python's text of a float: the shortest that reads back, with a point or an exponent; the exponent from 1e16 on and
// below 1e-4, of two digits at least.
static void print_float(double value, char out[64]) {
  char text[SR_NUMBER_TEXT], digits[SR_NUMBER_TEXT];
  int n = 0, point = -1, exponent = 0;
  sr_number_text(fabs(value), text, sizeof text);
  const char* p = text;
  for (; *p && *p != 'e' && *p != 'E'; p++) {
    if (*p == '.')
      point = n;
    else
      digits[n++] = *p;
  }
  if (*p) {
    const bool negative = p[1] == '-';
    for (p += 1 + (p[1] == '-' || p[1] == '+'); *p >= '0' && *p <= '9'; p++) exponent = 10 * exponent + (*p - '0');
    if (negative) exponent = -exponent;
  }
  if (point < 0) point = n;
  int first = 0;
  while (first < n - 1 && digits[first] == '0') first++;
  while (n > first + 1 && digits[n - 1] == '0') n--;
  const int decimal = point - first + exponent;  // the number is 0.digits * 10^decimal
  const int length = n - first;
  const char* sign = signbit(value) ? "-" : "";
  if (digits[first] == '0')
    snprintf(out, 64, "%s0.0", sign);
  else if (decimal > 16 || decimal < -3)
    snprintf(out, 64, "%s%c%s%.*se%c%02d", sign, digits[first], length > 1 ? "." : "", length - 1, digits + first + 1,
             decimal - 1 < 0 ? '-' : '+', decimal - 1 < 0 ? 1 - decimal : decimal - 1);
  else if (decimal <= 0)
    snprintf(out, 64, "%s0.%.*s%.*s", sign, -decimal, "0000", length, digits + first);
  else if (decimal >= length)
    snprintf(out, 64, "%s%.*s%.*s.0", sign, length, digits + first, decimal - length, "0000000000000000");
  else
    snprintf(out, 64, "%s%.*s.%.*s", sign, decimal, digits + first, length - decimal, digits + first + decimal);
}

typedef struct Printer {
  srXacro* x;
  char* text;
  size_t n, capacity;
  bool full;
} Printer;

static void put(Printer* p, const char* text) {
  const size_t more = strlen(text);
  if (p->full || p->n + more > SR_XACRO_TEXT) {
    p->full = true;
    return;
  }
  if (p->n + more + 1 > p->capacity) {
    p->capacity = 2 * (p->n + more) + 32;
    char* larger = sr_pool_alloc(&p->x->r->pool, p->capacity);
    if (p->text) memcpy(larger, p->text, p->n);
    p->text = larger;
  }
  memcpy(p->text + p->n, text, more + 1);
  p->n += more;
}

static void print_value(Printer* p, const srXacroValue* v, bool quoted);

static void print_items(Printer* p, const srXacroValue* v) {
  const bool keys = v->type == SR_XACRO_DICT;
  put(p, keys ? "{" : "[");
  for (int i = 0; i < v->n && !p->full; i++) {
    if (i > 0) put(p, ", ");
    if (keys) put(p, "'"), put(p, v->keys[i]), put(p, "': ");
    print_value(p, &v->items[i], true);
  }
  put(p, keys ? "}" : "]");
}

static void print_value(Printer* p, const srXacroValue* v, bool quoted) {
  char text[64];
  switch (v->type) {
    case SR_XACRO_NONE: put(p, "None"); break;
    case SR_XACRO_BOOL: put(p, v->whole ? "True" : "False"); break;
    case SR_XACRO_INT: snprintf(text, sizeof text, "%lld", v->whole), put(p, text); break;
    case SR_XACRO_FLOAT: print_float(v->number, text), put(p, text); break;
    case SR_XACRO_STR:
      if (quoted) put(p, "'");
      put(p, v->text);
      if (quoted) put(p, "'");
      break;
    case SR_XACRO_LIST:
    case SR_XACRO_DICT: print_items(p, v); break;
  }
}

const char* sr_xacro_print(srXacro* x, const srXacroValue* v) {
  Printer p = {.x = x};
  if (v->type == SR_XACRO_STR) return v->text;
  put(&p, "");
  print_value(&p, v, false);
  if (p.full)
    sr_xacro_error(x, (srPlace){.file = x->file}, "the text of a list is longer than %d characters",
                   (int)SR_XACRO_TEXT);
  return p.text;
}

// ---------------------------------------------------------------------------------------------------------- literals
static const char* skip_blanks(const char* p) {
  while (sr_text_is_blank(*p)) p++;
  return p;
}

bool sr_xacro_read_int(const char* text, long long* whole) {
  const char* p = skip_blanks(text);
  const bool negative = *p == '-';
  long long value = 0;
  if (*p == '-' || *p == '+') p++;
  if (*p < '0' || *p > '9') return false;
  for (; *p >= '0' && *p <= '9'; p++) {
    if (value > (INT64_MAX - (*p - '0')) / 10) return false;
    value = 10 * value + (*p - '0');
  }
  *whole = negative ? -value : value;
  return *skip_blanks(p) == '\0';
}

bool sr_xacro_read_float(const char* text, double* number) {
  const char* end = sr_number_read_signed(skip_blanks(text), number);
  return end && isfinite(*number) && *skip_blanks(end) == '\0';
}

srXacroValue sr_xacro_literal(srXacro* x, const srXacroValue* v) {
  long long whole;
  double number;
  if (v->type != SR_XACRO_STR) return *v;
  const char* text = v->text;
  const size_t n = strlen(text);
  if (n >= 2 && text[0] == '\'' && text[n - 1] == '\'')
    return sr_xacro_str(sr_pool_text_n(&x->r->pool, text + 1, n - 2));
  if (sr_xacro_read_int(text, &whole)) return sr_xacro_int(whole);
  if (sr_xacro_read_float(text, &number)) return sr_xacro_float(number);
  if (strcmp(text, "true") == 0 || strcmp(text, "True") == 0) return sr_xacro_bool(true);
  if (strcmp(text, "false") == 0 || strcmp(text, "False") == 0) return sr_xacro_bool(false);
  return *v;
}

bool sr_xacro_condition(const srXacroValue* v, bool* truth) {
  long long whole;
  *truth = sr_xacro_truth(v);
  if (v->type != SR_XACRO_STR) return true;
  *truth = strcmp(v->text, "true") == 0 || strcmp(v->text, "True") == 0;
  if (*truth || strcmp(v->text, "false") == 0 || strcmp(v->text, "False") == 0) return true;
  const bool number = sr_xacro_read_int(v->text, &whole);
  *truth = number && whole != 0;
  return number;
}
