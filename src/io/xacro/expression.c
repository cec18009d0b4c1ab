// The formula of ${...}: Python's expressions, as far as robot files use them. A parser that evaluates as it goes;
// what is not reached (`a if c else b`, and, or) is read without evaluation.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/expr.h"
#include "io/xacro/parts.h"

#define MAX_ARGUMENTS 32
#define MAX_LENGTH 8192  // of a formula

typedef struct Parser {
  srXacro* x;
  srXacroScope* scope;
  const char *text, *p;
  srPlace place;
  bool failed;
  int skip;  // > 0: names are not looked up, nothing is computed
} Parser;

static const srXacroValue nothing = {.type = SR_XACRO_NONE};

static srXacroValue ternary(Parser* s);
static srXacroValue unary(Parser* s);

// ------------------------------------------------------------------------------------------------------------ tokens
static srPlace here(const Parser* s) { return sr_xacro_moved(s->place, s->text, (size_t)(s->p - s->text)); }

#define FAIL(s, ...)                                                                                                   \
  ((s)->failed ? nothing : ((s)->failed = true, sr_xacro_error((s)->x, here(s), __VA_ARGS__), nothing))
#define BEYOND(s, ...)                                                                                                 \
  ((s)->failed ? nothing : ((s)->failed = true, sr_xacro_beyond((s)->x, here(s), __VA_ARGS__), nothing))

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void blanks(Parser* s) { s->p += strspn(s->p, " \t\r\n"); }

static bool at_sign(Parser* s, const char* sign) {
  blanks(s);
  return strncmp(s->p, sign, strlen(sign)) == 0;
}

static bool take_sign(Parser* s, const char* sign) {
  if (s->failed || !at_sign(s, sign)) return false;
  s->p += strlen(sign);
  return true;
}

static bool at_word(Parser* s, const char* word) {
  const size_t n = strlen(word);
  blanks(s);
  return strncmp(s->p, word, n) == 0 && !is_letter(s->p[n]) && !is_digit(s->p[n]);
}

static bool take_word(Parser* s, const char* word) {
  if (s->failed || !at_word(s, word)) return false;
  s->p += strlen(word);
  return true;
}

static const char* take_name(Parser* s) {
  const char* start = s->p;
  while (is_letter(*s->p) || is_digit(*s->p)) s->p++;
  return sr_pool_text_n(&s->x->r->pool, start, (size_t)(s->p - start));
}

static void expect(Parser* s, const char* sign) {
  if (take_sign(s, sign) || s->failed) return;
  if (*s->p)
    FAIL(s, "expected '%s' before '%.20s'", sign, s->p);
  else
    FAIL(s, "expected '%s' at the end of '%.60s'", sign, s->text);
}

// -------------------------------------------------------------------------------------------------------- arithmetic
static srXacroValue finite(Parser* s, double value, const char* what) {
  if (!isfinite(value)) return FAIL(s, "%s gives no finite number", what);
  return sr_xacro_float(value);
}

static srXacroValue too_large(Parser* s) { return FAIL(s, "a whole number becomes too large"); }

static srXacroValue int_power(Parser* s, long long base, long long exponent) {
  long long result = 1;
  for (int bit = 62; bit >= 0; bit--) {
    if (__builtin_mul_overflow(result, result, &result)) return too_large(s);
    if ((exponent >> bit & 1) && __builtin_mul_overflow(result, base, &result)) return too_large(s);
  }
  return sr_xacro_int(result);
}

static srXacroValue int_divide(Parser* s, long long a, long long b, bool remainder) {
  if (b == 0) return FAIL(s, "division by zero");
  if (b == -1) return remainder ? sr_xacro_int(0) : a == INT64_MIN ? too_large(s) : sr_xacro_int(-a);
  long long quotient = a / b, rest = a % b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient--, rest += b;
  return sr_xacro_int(remainder ? rest : quotient);
}

static srXacroValue int_operate(Parser* s, const char* sign, long long a, long long b) {
  long long result;
  bool over;
  if (strcmp(sign, "**") == 0) return int_power(s, a, b);
  if (strcmp(sign, "//") == 0 || sign[0] == '%') return int_divide(s, a, b, sign[0] == '%');
  if (sign[0] == '+')
    over = __builtin_add_overflow(a, b, &result);
  else if (sign[0] == '-')
    over = __builtin_sub_overflow(a, b, &result);
  else
    over = __builtin_mul_overflow(a, b, &result);
  return over ? too_large(s) : sr_xacro_int(result);
}

// Quotient and remainder belong together: the remainder has the sign of b, and a = b*quotient + remainder.
static srXacroValue float_divide(Parser* s, double a, double b, bool remainder) {
  double rest = fmod(a, b), quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b, quotient -= 1;
  if (remainder) return finite(s, rest != 0 ? rest : copysign(0.0, b), "the division");
  return finite(s, quotient != 0 ? nearbyint(quotient) : copysign(0.0, a / b), "the division");
}

static srXacroValue float_operate(Parser* s, const char* sign, double a, double b) {
  if ((sign[0] == '/' || sign[0] == '%') && b == 0) return FAIL(s, "division by zero");
  if (strcmp(sign, "**") == 0) return finite(s, pow(a, b), "the power");
  if (strcmp(sign, "//") == 0 || sign[0] == '%') return float_divide(s, a, b, sign[0] == '%');
  switch (sign[0]) {
    case '+': return finite(s, a + b, "the sum");
    case '-': return finite(s, a - b, "the difference");
    case '*': return finite(s, a * b, "the product");
    default: return finite(s, a / b, "the division");
  }
}

// Counts what a list holds: nothing may be walked that is larger than its text would be.
static srXacroValue counted(Parser* s, srXacroValue v) {
  v.all = v.n;
  v.levels = 1;
  for (int i = 0; i < v.n; i++) {
    v.all += v.items[i].all;
    if (v.items[i].levels >= v.levels) v.levels = v.items[i].levels + 1;
    if (v.all > SR_XACRO_ITEMS || v.levels > SR_XACRO_LEVELS)
      return FAIL(s, "a list becomes larger than %d items or %d levels", SR_XACRO_ITEMS, SR_XACRO_LEVELS);
  }
  return v;
}

// Items of a, then of b.
static srXacroValue append(Parser* s, const srXacroValue* a, const srXacroValue* b) {
  const int n = a->n + b->n;
  if (n > SR_XACRO_ITEMS) return FAIL(s, "a list becomes longer than %d items", SR_XACRO_ITEMS);
  if (!sr_xacro_room(s->x, (size_t)n * sizeof *a, here(s))) return s->failed = true, nothing;
  srXacroValue* items = sr_pool_alloc(&s->x->r->pool, (size_t)(n + 1) * sizeof *items);
  if (a->n > 0) memcpy(items, a->items, (size_t)a->n * sizeof *items);
  if (b->n > 0) memcpy(items + a->n, b->items, (size_t)b->n * sizeof *items);
  return counted(s, (srXacroValue){.type = SR_XACRO_LIST, .n = n, .items = items});
}

static srXacroValue concatenate(Parser* s, const char* a, const char* b) {
  const size_t n = strlen(a) + strlen(b);
  if (n > SR_XACRO_TEXT) return FAIL(s, "a text becomes longer than %d characters", (int)SR_XACRO_TEXT);
  if (!sr_xacro_room(s->x, n, here(s))) return s->failed = true, nothing;
  return sr_xacro_str(sr_pool_printf(&s->x->r->pool, "%s%s", a, b));
}

static srXacroValue operate(Parser* s, const char* sign, srXacroValue a, srXacroValue b) {
  double x, y;
  if (s->failed || s->skip) return nothing;
  const bool numbers = sr_xacro_number(&a, &x) && sr_xacro_number(&b, &y);
  const bool whole = numbers && a.type != SR_XACRO_FLOAT && b.type != SR_XACRO_FLOAT;
  if (numbers && whole && strcmp(sign, "/") != 0 && !(strcmp(sign, "**") == 0 && b.whole < 0))
    return int_operate(s, sign, a.whole, b.whole);
  if (numbers) return float_operate(s, sign, x, sr_xacro_number(&b, &y) ? y : 0);
  if (sign[0] == '+' && a.type == SR_XACRO_STR && b.type == SR_XACRO_STR) return concatenate(s, a.text, b.text);
  if (sign[0] == '+' && a.type == SR_XACRO_LIST && b.type == SR_XACRO_LIST) return append(s, &a, &b);
  return BEYOND(s, "'%s' between %s and %s is not understood", sign, sr_xacro_type_word(&a), sr_xacro_type_word(&b));
}

// ------------------------------------------------------------------------------------------------------------- atoms
static srXacroValue read_number(Parser* s) {
  const char* start = s->p;
  long long whole;
  double value;
  const char* end = sr_number_read(s->p, &value);
  if (!end || end == start) return FAIL(s, "'%.20s' is not a number", s->p);
  if (is_letter(*end)) return BEYOND(s, "'%.20s' is not a number", s->p);
  if (!isfinite(value)) return FAIL(s, "the number is too large");
  s->p = end;
  const char* text = sr_pool_text_n(&s->x->r->pool, start, (size_t)(end - start));
  return sr_xacro_read_int(text, &whole) ? sr_xacro_int(whole) : sr_xacro_float(value);
}

static srXacroValue read_string(Parser* s) {
  const char quote = *s->p++;
  const char* start = s->p;
  const char* end = strchr(start, quote);
  if (!end) return FAIL(s, "the text that begins with %c has no end", quote);
  const char* text = sr_pool_text_n(&s->x->r->pool, start, (size_t)(end - start));
  if (strchr(text, '\\')) return BEYOND(s, "'\\' in a text of a formula is not understood");
  s->p = end + 1;
  return sr_xacro_str(text);
}

typedef struct Items {
  srXacroValue value[MAX_ARGUMENTS];
  const char* key[MAX_ARGUMENTS];
  int n;
} Items;

static const srXacroValue* keep_items(Parser* s, const Items* list) {
  srXacroValue* items = sr_pool_alloc(&s->x->r->pool, (size_t)(list->n + 1) * sizeof *items);
  memcpy(items, list->value, (size_t)list->n * sizeof *items);
  return items;
}

static srXacroValue make_dict(Parser* s, const Items* list) {
  const char** keys = sr_pool_alloc(&s->x->r->pool, (size_t)(list->n + 1) * sizeof *keys);
  memcpy(keys, list->key, (size_t)list->n * sizeof *keys);
  return counted(s, (srXacroValue){.type = SR_XACRO_DICT, .n = list->n, .items = keep_items(s, list), .keys = keys});
}

// name = before an argument; NULL: none.
static const char* argument_name(Parser* s) {
  const char* start = s->p;
  blanks(s);
  if (is_letter(*s->p)) {
    const char* name = take_name(s);
    blanks(s);
    if (s->p[0] == '=' && s->p[1] != '=') {
      s->p++;
      return name;
    }
  }
  s->p = start;
  return NULL;
}

static void read_items(Parser* s, const char* close, bool names, Items* out) {
  while (!s->failed && !at_sign(s, close)) {
    if (out->n == MAX_ARGUMENTS) {
      BEYOND(s, "more than %d items are not understood", MAX_ARGUMENTS);
      return;
    }
    out->key[out->n] = names ? argument_name(s) : NULL;
    out->value[out->n] = ternary(s);
    out->n++;
    if (!take_sign(s, ",")) break;
  }
  expect(s, close);
}

static srXacroValue read_list(Parser* s) {
  Items list = {.n = 0};
  read_items(s, "]", false, &list);
  if (s->failed || s->skip) return nothing;
  return counted(s, (srXacroValue){.type = SR_XACRO_LIST, .n = list.n, .items = keep_items(s, &list)});
}

static srXacroValue read_dict(Parser* s) {
  Items list = {.n = 0};
  while (!s->failed && !at_sign(s, "}")) {
    if (list.n == MAX_ARGUMENTS) return BEYOND(s, "more than %d items are not understood", MAX_ARGUMENTS);
    const srXacroValue key = ternary(s);
    expect(s, ":");
    list.value[list.n] = ternary(s);
    if (!s->failed && !s->skip && key.type != SR_XACRO_STR)
      return BEYOND(s, "a key that is %s is not understood", sr_xacro_type_word(&key));
    list.key[list.n++] = key.text;
    if (!take_sign(s, ",")) break;
  }
  expect(s, "}");
  return s->failed || s->skip ? nothing : make_dict(s, &list);
}

// ( a ) or the tuple ( a, b ), which is taken as a list.
static srXacroValue read_parentheses(Parser* s) {
  Items list = {.n = 0};
  if (take_sign(s, ")")) return (srXacroValue){.type = SR_XACRO_LIST};
  const srXacroValue first = ternary(s);
  if (!at_sign(s, ",")) {
    expect(s, ")");
    return first;
  }
  take_sign(s, ",");
  list.value[list.n++] = first;
  read_items(s, ")", false, &list);
  if (s->failed || s->skip) return nothing;
  return counted(s, (srXacroValue){.type = SR_XACRO_LIST, .n = list.n, .items = keep_items(s, &list)});
}

static srXacroValue call(Parser* s, const char* name, srPlace place) {
  Items list = {.n = 0};
  srXacroValue out = nothing;
  read_items(s, ")", true, &list);
  if (s->failed || s->skip) return nothing;
  if (strcmp(name, "dict") == 0) {
    for (int i = 0; i < list.n; i++)
      if (!list.key[i]) return BEYOND(s, "dict() is understood with NAME=VALUE alone");
    return make_dict(s, &list);
  }
  if (!sr_xacro_function(s->x, name, list.value, list.key, list.n, place, &out)) s->failed = true;
  return out;
}

static bool is_constant(const char* name, srXacroValue* out) {
  static const struct {
    const char* name;
    double value;
  } numbers[] = {{"pi", 3.14159265358979323846}, {"e", 2.71828182845904523536}, {"tau", 6.28318530717958647692}};
  if (strcmp(name, "True") == 0 || strcmp(name, "False") == 0) return *out = sr_xacro_bool(name[0] == 'T'), true;
  if (strcmp(name, "None") == 0) return *out = nothing, true;
  for (int i = 0; i < SR_COUNT(numbers); i++)
    if (strcmp(name, numbers[i].name) == 0) return *out = sr_xacro_float(numbers[i].value), true;
  return false;
}

static srXacroValue read_name(Parser* s) {
  const char* start = s->p;
  const srPlace place = here(s);
  srXacroValue value = nothing;
  const char* name = take_name(s);
  const bool of_xacro = strcmp(name, "xacro") == 0;
  if ((of_xacro || strcmp(name, "math") == 0 || strcmp(name, "python") == 0) && *s->p == '.' && is_letter(s->p[1])) {
    s->p++;
    name = take_name(s);
    if (of_xacro) name = sr_pool_printf(&s->x->r->pool, "xacro.%s", name);
  }
  if (take_sign(s, "(")) return call(s, name, place);
  if (s->skip) return nothing;
  const char* behind = s->p;
  s->p = start;
  const bool own = sr_xacro_find(s->scope, name, NULL) != NULL;
  if (!own && is_constant(name, &value)) {
    s->p = behind;
    return value;
  }
  if (!own && (of_xacro || sr_xacro_is_function(name))) return BEYOND(s, "'%.60s' is not understood here", name);
  if (!sr_xacro_get(s->x, s->scope, name, place, &value)) s->failed = true;
  s->p = behind;
  return value;
}

static srXacroValue atom(Parser* s) {
  blanks(s);
  if (s->failed) return nothing;
  if (is_digit(*s->p) || (*s->p == '.' && is_digit(s->p[1]))) return read_number(s);
  if (*s->p == '\'' || *s->p == '"') return read_string(s);
  if (is_letter(*s->p)) return read_name(s);
  if (take_sign(s, "(")) return read_parentheses(s);
  if (take_sign(s, "[")) return read_list(s);
  if (take_sign(s, "{")) return read_dict(s);
  if (*s->p == '\0') return FAIL(s, "the formula '%.60s' ends where a value is expected", s->text);
  return FAIL(s, "expected a value before '%.20s'", s->p);
}

static srXacroValue item_by_key(Parser* s, const srXacroValue* v, const char* key) {
  for (int i = v->n - 1; i >= 0; i--)
    if (strcmp(v->keys[i], key) == 0) return v->items[i];
  const char* nearest = sr_nearest_word(key, v->keys, v->n);
  if (nearest) return FAIL(s, "the dictionary has no '%.60s'; did you mean '%s'?", key, nearest);
  return FAIL(s, "the dictionary has no '%.60s'", key);
}

static srXacroValue item(Parser* s, const srXacroValue* v, const srXacroValue* index) {
  if (v->type == SR_XACRO_DICT && index->type == SR_XACRO_STR) return item_by_key(s, v, index->text);
  const bool list = v->type == SR_XACRO_LIST, text = v->type == SR_XACRO_STR;
  if ((!list && !text) || (index->type != SR_XACRO_INT && index->type != SR_XACRO_BOOL))
    return BEYOND(s, "%s by %s in [] is not understood", sr_xacro_type_word(v), sr_xacro_type_word(index));
  const long long n = list ? v->n : (long long)strlen(v->text);
  const long long i = index->whole < 0 ? index->whole + n : index->whole;
  if (i < 0 || i >= n)
    return FAIL(s, "there is no item %lld: the %s has %lld", index->whole, list ? "list" : "text", n);
  return list ? v->items[i] : sr_xacro_str(sr_pool_text_n(&s->x->r->pool, v->text + i, 1));
}

// .name behind a value: an item of a dictionary, or a method of a text.
static srXacroValue member(Parser* s, srXacroValue value) {
  Items list = {.n = 0};
  const srPlace place = here(s);
  const char* name = take_name(s);
  const bool called = take_sign(s, "(");
  if (called) read_items(s, ")", true, &list);
  if (s->failed || s->skip) return nothing;
  if (!called && value.type == SR_XACRO_DICT) return item_by_key(s, &value, name);
  if (!called || value.type != SR_XACRO_STR)
    return BEYOND(s, "'.%.60s' of %s is not understood", name, sr_xacro_type_word(&value));
  srXacroValue out = nothing;
  if (!sr_xacro_method(s->x, value.text, name, list.value, list.key, list.n, place, &out)) s->failed = true;
  return out;
}

static srXacroValue postfix(Parser* s) {
  srXacroValue value = atom(s);
  while (!s->failed) {
    if (take_sign(s, "[")) {
      const srXacroValue index = ternary(s);
      expect(s, "]");
      if (!s->failed && !s->skip) value = item(s, &value, &index);
    } else if (at_sign(s, ".") && is_letter(s->p[1])) {
      s->p++;
      value = member(s, value);
    } else {
      return value;
    }
  }
  return nothing;
}

// --------------------------------------------------------------------------------------------------------- operators
static srXacroValue power(Parser* s) {
  const srXacroValue base = postfix(s);
  return take_sign(s, "**") ? operate(s, "**", base, unary(s)) : base;
}

static srXacroValue signed_value(Parser* s) {
  const bool minus = take_sign(s, "-");
  if (!minus && !take_sign(s, "+")) return power(s);
  const srXacroValue value = unary(s);
  if (minus && !s->failed && !s->skip && value.type == SR_XACRO_FLOAT) return sr_xacro_float(-value.number);
  return operate(s, minus ? "-" : "+", sr_xacro_int(0), value);
}

static srXacroValue unary(Parser* s) {
  if (s->failed || !sr_xacro_enter(s->x, s->place)) return s->failed = true, nothing;
  const srXacroValue value = signed_value(s);
  sr_xacro_leave(s->x);
  return value;
}

static srXacroValue product(Parser* s) {
  srXacroValue value = unary(s);
  while (!s->failed) {
    if (at_sign(s, "**")) return value;
    const char* sign = take_sign(s, "//")  ? "//"
                       : take_sign(s, "/") ? "/"
                       : take_sign(s, "*") ? "*"
                       : take_sign(s, "%") ? "%"
                                           : NULL;
    if (!sign) return value;
    if (sign[0] == '%' && value.type == SR_XACRO_STR && !s->skip)
      return BEYOND(s, "'%%' behind a text is not understood");
    value = operate(s, sign, value, unary(s));
  }
  return nothing;
}

static srXacroValue sum(Parser* s) {
  srXacroValue value = product(s);
  while (!s->failed) {
    const char* sign = take_sign(s, "+") ? "+" : take_sign(s, "-") ? "-" : NULL;
    if (!sign) return value;
    value = operate(s, sign, value, product(s));
  }
  return nothing;
}

static bool contains(Parser* s, const srXacroValue* a, const srXacroValue* b) {
  if (b->type == SR_XACRO_STR && a->type == SR_XACRO_STR) return strstr(b->text, a->text) != NULL;
  for (int i = 0; i < b->n; i++) {
    const srXacroValue key = b->type == SR_XACRO_DICT ? sr_xacro_str(b->keys[i]) : b->items[i];
    if (sr_xacro_equal(a, &key)) return true;
  }
  if (b->type != SR_XACRO_LIST && b->type != SR_XACRO_DICT)
    BEYOND(s, "'in' %s is not understood", sr_xacro_type_word(b));
  return false;
}

static bool compare(Parser* s, const char* sign, const srXacroValue* a, const srXacroValue* b) {
  double x, y;
  if (s->failed || s->skip) return false;
  if (strcmp(sign, "==") == 0 || strcmp(sign, "is") == 0) return sr_xacro_equal(a, b);
  if (strcmp(sign, "!=") == 0 || strcmp(sign, "is not") == 0) return !sr_xacro_equal(a, b);
  if (strcmp(sign, "in") == 0) return contains(s, a, b);
  if (strcmp(sign, "not in") == 0) return !contains(s, a, b);
  int order;
  if (sr_xacro_number(a, &x) && sr_xacro_number(b, &y))
    order = (x > y) - (x < y);
  else if (a->type == SR_XACRO_STR && b->type == SR_XACRO_STR)
    order = strcmp(a->text, b->text);
  else
    return BEYOND(s, "'%s' between %s and %s is not understood", sign, sr_xacro_type_word(a), sr_xacro_type_word(b)),
           false;
  if (sign[0] == '<') return sign[1] ? order <= 0 : order < 0;
  return sign[1] ? order >= 0 : order > 0;
}

static const char* take_comparison(Parser* s) {
  static const char* const signs[] = {"==", "!=", "<=", ">=", "<", ">"};
  for (int i = 0; i < SR_COUNT(signs); i++)
    if (take_sign(s, signs[i])) return signs[i];
  if (take_word(s, "in")) return "in";
  if (take_word(s, "is")) return take_word(s, "not") ? "is not" : "is";
  const char* start = s->p;
  if (take_word(s, "not")) {
    if (take_word(s, "in")) return "not in";
    s->p = start;
  }
  return NULL;
}

// a < b <= c: each with the next, up to the first that does not hold.
static srXacroValue comparison(Parser* s) {
  srXacroValue a = sum(s);
  const char* sign = s->failed ? NULL : take_comparison(s);
  if (!sign) return a;
  bool truth = true;
  for (; sign && !s->failed; sign = take_comparison(s)) {
    const bool over = !truth;
    s->skip += over;
    const srXacroValue b = sum(s);
    truth = truth && compare(s, sign, &a, &b);
    s->skip -= over;
    a = b;
  }
  return sr_xacro_bool(truth);
}

static srXacroValue inversion(Parser* s) {
  if (!take_word(s, "not")) return comparison(s);
  if (!sr_xacro_enter(s->x, s->place)) return s->failed = true, nothing;
  const srXacroValue value = inversion(s);
  sr_xacro_leave(s->x);
  return sr_xacro_bool(!sr_xacro_truth(&value));
}

// Operands with `word` between them; behind the first one whose truth is `ends` they are read over, not evaluated.
static srXacroValue operands(Parser* s, const char* word, bool ends, srXacroValue (*operand)(Parser*)) {
  srXacroValue value = operand(s);
  while (take_word(s, word)) {
    const bool over = sr_xacro_truth(&value) == ends;
    s->skip += over;
    const srXacroValue next = operand(s);
    s->skip -= over;
    if (!over) value = next;
  }
  return value;
}

static srXacroValue conjunction(Parser* s) { return operands(s, "and", false, inversion); }
static srXacroValue disjunction(Parser* s) { return operands(s, "or", true, conjunction); }

// a if c else b: a is read over first, and evaluated when c is known.
static srXacroValue conditional(Parser* s) {
  const char* start = s->p;
  s->skip++;
  disjunction(s);
  s->skip--;
  const bool is_conditional = take_word(s, "if");
  bool truth = true;
  if (is_conditional) {
    const srXacroValue condition = disjunction(s);
    truth = sr_xacro_truth(&condition);
  }
  const char* behind = s->p;
  s->p = start;
  s->skip += !truth;
  const srXacroValue first = s->failed ? nothing : disjunction(s);
  s->skip -= !truth;
  if (!is_conditional || s->failed) return first;
  s->p = behind;
  if (!take_word(s, "else")) return FAIL(s, "'if' has no 'else'");
  s->skip += truth;
  const srXacroValue second = ternary(s);
  s->skip -= truth;
  return truth ? first : second;
}

static srXacroValue ternary(Parser* s) {
  if (s->failed || !sr_xacro_enter(s->x, s->place)) return s->failed = true, nothing;
  const bool may = !s->skip && strstr(s->p, "if") != NULL;
  srXacroValue value = may ? conditional(s) : disjunction(s);
  if (s->skip && take_word(s, "if")) {
    disjunction(s);
    if (!take_word(s, "else")) FAIL(s, "'if' has no 'else'");
    ternary(s);
  }
  sr_xacro_leave(s->x);
  return value;
}

bool sr_xacro_formula(srXacro* x, srXacroScope* scope, const char* text, srPlace place, srXacroValue* out) {
  Parser s = {.x = x, .scope = scope, .text = text, .p = text, .place = place};
  if (strlen(text) > MAX_LENGTH) {
    FAIL(&s, "a formula is longer than %d characters", MAX_LENGTH);
    return false;
  }
  *out = ternary(&s);
  blanks(&s);
  if (!s.failed && *s.p == ',') BEYOND(&s, "',' in a formula is not understood without parentheses");
  if (!s.failed && *s.p) FAIL(&s, "'%.20s' is not expected here in '%.60s'", s.p, text);
  return !s.failed;
}
