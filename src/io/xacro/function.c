// Functions of xacro's formulas: those of Python's math, and the built-in ones that robot files use.
#include <math.h>
#include <string.h>

#include "io/xacro/parts.h"

#define PI 3.14159265358979323846

static double to_radians(double x) { return x * (PI / 180.0); }
static double to_degrees(double x) { return x * (180.0 / PI); }

static const struct {
  const char* name;
  double (*f)(double);
} one[] = {{"sin", sin},     {"cos", cos},   {"tan", tan},   {"asin", asin},          {"acos", acos},
           {"atan", atan},   {"sinh", sinh}, {"cosh", cosh}, {"tanh", tanh},          {"exp", exp},
           {"log10", log10}, {"sqrt", sqrt}, {"fabs", fabs}, {"radians", to_radians}, {"degrees", to_degrees}};
static const struct {
  const char* name;
  double (*f)(double, double);
} two[] = {{"atan2", atan2}, {"pow", pow}, {"hypot", hypot}, {"fmod", fmod}, {"copysign", copysign}};

typedef struct Call {
  srXacro* x;
  const char* name;
  const srXacroValue* a;
  int n;
  srPlace place;
} Call;

static bool need(const Call* c, int least, int most) {
  if (c->n >= least && c->n <= most) return true;
  if (least == most)
    sr_xacro_error(c->x, c->place, "%s() takes %d value%s, got %d", c->name, least, least == 1 ? "" : "s", c->n);
  else
    sr_xacro_error(c->x, c->place, "%s() takes %d to %d values, got %d", c->name, least, most, c->n);
  return false;
}

static bool number_at(const Call* c, int i, double* out) {
  if (sr_xacro_number(&c->a[i], out)) return true;
  sr_xacro_error(c->x, c->place, "%s() takes numbers, got %s", c->name, sr_xacro_type_word(&c->a[i]));
  return false;
}

static bool give(const Call* c, double value, srXacroValue* out) {
  if (!isfinite(value)) {
    sr_xacro_error(c->x, c->place, "%s() gives no finite number", c->name);
    return false;
  }
  *out = sr_xacro_float(value);
  return true;
}

static bool give_int(const Call* c, double value, srXacroValue* out) {
  if (!(fabs(value) < 9e18)) {
    sr_xacro_error(c->x, c->place, "%s() gives a whole number that is too large", c->name);
    return false;
  }
  *out = sr_xacro_int((long long)value);
  return true;
}

// --------------------------------------------------------------------------------------------------------- functions
static bool do_abs(const Call* c, srXacroValue* out) {
  double value;
  if (!need(c, 1, 1) || !number_at(c, 0, &value)) return false;
  if (c->a[0].type == SR_XACRO_FLOAT) return give(c, fabs(value), out);
  if (c->a[0].whole == INT64_MIN) return give_int(c, INFINITY, out);
  *out = sr_xacro_int(c->a[0].whole < 0 ? -c->a[0].whole : c->a[0].whole);
  return true;
}

static bool do_round(const Call* c, srXacroValue* out) {
  double value, digits = 0;
  if (!need(c, 1, 2) || !number_at(c, 0, &value)) return false;
  if (c->n == 2 && !number_at(c, 1, &digits)) return false;
  if (c->a[0].type != SR_XACRO_FLOAT && (c->n == 1 || digits >= 0)) return *out = sr_xacro_int(c->a[0].whole), true;
  if (c->n == 1) return give_int(c, nearbyint(value), out);
  if (!(digits >= 0 && digits <= 17)) {
    sr_xacro_error(c->x, c->place, "round() takes 0 to 17 digits");
    return false;
  }
  if (fabs(value) > 1e16) return give(c, value, out);  // it is whole
  char* text = sr_pool_printf(&c->x->r->pool, "%.*f", (int)digits, value);
  for (char* p = text; *p; p++)
    if (*p == ',') *p = '.';  // of some locales
  if (!sr_xacro_read_float(text, &value)) return give(c, NAN, out);
  return give(c, value, out);
}

static bool do_int(const Call* c, srXacroValue* out) {
  double value;
  long long whole;
  if (!need(c, 1, 1)) return false;
  if (c->a[0].type == SR_XACRO_STR && sr_xacro_read_int(c->a[0].text, &whole)) return *out = sr_xacro_int(whole), true;
  if (c->a[0].type == SR_XACRO_STR) {
    sr_xacro_error(c->x, c->place, "int(): '%.60s' is not a whole number", c->a[0].text);
    return false;
  }
  if (!number_at(c, 0, &value)) return false;
  return c->a[0].type == SR_XACRO_FLOAT ? give_int(c, trunc(value), out) : (*out = sr_xacro_int(c->a[0].whole), true);
}

static bool do_float(const Call* c, srXacroValue* out) {
  double value;
  if (!need(c, 1, 1)) return false;
  if (c->a[0].type == SR_XACRO_STR && sr_xacro_read_float(c->a[0].text, &value)) return give(c, value, out);
  if (c->a[0].type == SR_XACRO_STR) {
    sr_xacro_error(c->x, c->place, "float(): '%.60s' is not a number", c->a[0].text);
    return false;
  }
  return number_at(c, 0, &value) && give(c, value, out);
}

static bool do_str(const Call* c, srXacroValue* out) {
  if (!need(c, 1, 1)) return false;
  *out = sr_xacro_str(sr_xacro_print(c->x, &c->a[0]));
  return true;
}

static bool do_bool(const Call* c, srXacroValue* out) {
  if (!need(c, 1, 1)) return false;
  *out = sr_xacro_bool(sr_xacro_truth(&c->a[0]));
  return true;
}

static bool do_len(const Call* c, srXacroValue* out) {
  if (!need(c, 1, 1)) return false;
  const srXacroValue* v = &c->a[0];
  if (v->type < SR_XACRO_STR) {
    sr_xacro_error(c->x, c->place, "len() takes a text, a list or a dictionary, got %s", sr_xacro_type_word(v));
    return false;
  }
  *out = sr_xacro_int(v->type == SR_XACRO_STR ? (long long)strlen(v->text) : v->n);
  return true;
}

// min(a, b, ...) or min(list): the value itself, so that whole numbers stay whole.
static bool do_extreme(const Call* c, srXacroValue* out) {
  const double sign = c->name[1] == 'i' ? 1 : -1;
  Call of = *c;
  if (c->n == 1 && c->a[0].type == SR_XACRO_LIST) of.n = c->a[0].n, of.a = c->a[0].items;
  double best, value;
  if (!need(&of, 1, SR_XACRO_ITEMS) || !number_at(&of, 0, &best)) return false;
  *out = of.a[0];
  for (int i = 1; i < of.n; i++) {
    if (!number_at(&of, i, &value)) return false;
    if (sign * value < sign * best) best = value, *out = of.a[i];
  }
  return true;
}

static bool do_floor(const Call* c, srXacroValue* out) {
  double value;
  if (!need(c, 1, 1) || !number_at(c, 0, &value)) return false;
  if (c->a[0].type != SR_XACRO_FLOAT) return *out = sr_xacro_int(c->a[0].whole), true;
  return give_int(c, c->name[0] == 'f' ? floor(value) : ceil(value), out);
}

static bool do_log(const Call* c, srXacroValue* out) {
  double value, base = 0;
  if (!need(c, 1, 2) || !number_at(c, 0, &value) || (c->n == 2 && !number_at(c, 1, &base))) return false;
  return give(c, c->n == 2 ? log(value) / log(base) : log(value), out);
}

static bool do_range(const Call* c, srXacroValue* out) {
  for (int i = 0; i < c->n; i++)
    if (c->a[i].type != SR_XACRO_INT) {
      sr_xacro_error(c->x, c->place, "range() takes whole numbers, got %s", sr_xacro_type_word(&c->a[i]));
      return false;
    }
  if (!need(c, 1, 2)) return false;
  const long long from = c->n == 2 ? c->a[0].whole : 0, to = c->a[c->n - 1].whole;
  if (from < -SR_XACRO_ITEMS || to > SR_XACRO_ITEMS || to - from > SR_XACRO_ITEMS) {
    sr_xacro_error(c->x, c->place, "range() is bounded by %d", SR_XACRO_ITEMS);
    return false;
  }
  const int n = to > from ? (int)(to - from) : 0;
  if (!sr_xacro_room(c->x, (size_t)n * sizeof(srXacroValue), c->place)) return false;
  srXacroValue* items = sr_pool_alloc(&c->x->r->pool, (size_t)(n + 1) * sizeof *items);
  for (int i = 0; i < n; i++) items[i] = sr_xacro_int(from + i);
  *out = (srXacroValue){.type = SR_XACRO_LIST, .n = n, .items = items, .all = n, .levels = 1};
  return true;
}

static bool do_list(const Call* c, srXacroValue* out) {
  if (!need(c, 1, 1)) return false;
  *out = c->a[0];
  if (out->type == SR_XACRO_LIST) return true;
  sr_xacro_beyond(c->x, c->place, "%s() of %s is not understood", c->name, sr_xacro_type_word(&c->a[0]));
  return false;
}

// xacro.warning('a', 1): the values behind each other; the formula goes on with an empty text.
static bool do_message(const Call* c, srXacroValue* out) {
  const char* text = "";
  for (int i = 0; i < c->n; i++)
    text = sr_pool_printf(&c->x->r->pool, "%.900s%s%.900s", text, i > 0 ? " " : "", sr_xacro_print(c->x, &c->a[i]));
  const char* word = strchr(c->name, '.') + 1;
  *out = sr_xacro_str("");
  if (strcmp(word, "fatal") == 0) {
    sr_xacro_error(c->x, c->place, "message of the file: %.400s", text);
    return false;
  }
  if (strcmp(word, "message") == 0)
    sr_messages_add(c->x->r->messages, SR_SEVERITY_NOTE, c->place, "message of the file: %.400s", text);
  else
    sr_reader_warning(c->x->r, c->place, "message of the file: %.400s", text);
  return true;
}

static bool do_yaml(const Call* c, srXacroValue* out) {
  if (!need(c, 1, 1)) return false;
  if (c->a[0].type == SR_XACRO_STR) return sr_xacro_yaml(c->x, c->a[0].text, c->place, out);
  sr_xacro_error(c->x, c->place, "%s() takes the name of a file, got %s", c->name, sr_xacro_type_word(&c->a[0]));
  return false;
}

static bool do_argument(const Call* c, srXacroValue* out) {
  if (!need(c, 1, 1)) return false;
  if (c->a[0].type == SR_XACRO_STR) return sr_xacro_argument(c->x, c->a[0].text, c->place, out);
  sr_xacro_error(c->x, c->place, "%s() takes a name, got %s", c->name, sr_xacro_type_word(&c->a[0]));
  return false;
}

static const struct {
  const char* name;
  bool (*f)(const Call* c, srXacroValue* out);
} others[] = {{"abs", do_abs},
              {"round", do_round},
              {"int", do_int},
              {"float", do_float},
              {"str", do_str},
              {"bool", do_bool},
              {"len", do_len},
              {"min", do_extreme},
              {"max", do_extreme},
              {"floor", do_floor},
              {"ceil", do_floor},
              {"log", do_log},
              {"range", do_range},
              {"list", do_list},
              {"tuple", do_list},
              {"xacro.warning", do_message},
              {"xacro.message", do_message},
              {"xacro.error", do_message},
              {"xacro.fatal", do_message},
              {"xacro.arg", do_argument},
              {"xacro.load_yaml", do_yaml},
              {"load_yaml", do_yaml}};

bool sr_xacro_is_function(const char* name) {
  for (int i = 0; i < SR_COUNT(one); i++)
    if (strcmp(name, one[i].name) == 0) return true;
  for (int i = 0; i < SR_COUNT(two); i++)
    if (strcmp(name, two[i].name) == 0) return true;
  for (int i = 0; i < SR_COUNT(others); i++)
    if (strcmp(name, others[i].name) == 0) return true;
  return strcmp(name, "dict") == 0;
}

static void report_unknown(srXacro* x, const char* name, srPlace place) {
  const char* words[SR_COUNT(one) + SR_COUNT(two) + SR_COUNT(others)];
  int n = 0;
  for (int i = 0; i < SR_COUNT(one); i++) words[n++] = one[i].name;
  for (int i = 0; i < SR_COUNT(two); i++) words[n++] = two[i].name;
  for (int i = 0; i < SR_COUNT(others); i++) words[n++] = others[i].name;
  sr_xacro_beyond(x, place, "the function '%.60s' is not known%s", name,
                  sr_pool_guess(&x->r->pool, sr_nearest_word(name, words, n)));
}

bool sr_xacro_function(srXacro* x, const char* name, const srXacroValue* a, const char* const* keys, int n,
                       srPlace place, srXacroValue* out) {
  const Call c = {x, name, a, n, place};
  double u, v;
  if (!sr_xacro_is_function(name)) {
    report_unknown(x, name, place);
    return false;
  }
  for (int i = 0; i < n; i++)
    if (keys[i]) {
      sr_xacro_beyond(x, place, "'%.60s=' in a call of %s() is not understood", keys[i], name);
      return false;
    }
  for (int i = 0; i < SR_COUNT(one); i++)
    if (strcmp(name, one[i].name) == 0) return need(&c, 1, 1) && number_at(&c, 0, &u) && give(&c, one[i].f(u), out);
  for (int i = 0; i < SR_COUNT(two); i++)
    if (strcmp(name, two[i].name) == 0)
      return need(&c, 2, 2) && number_at(&c, 0, &u) && number_at(&c, 1, &v) && give(&c, two[i].f(u, v), out);
  for (int i = 0; i < SR_COUNT(others); i++)
    if (strcmp(name, others[i].name) == 0) return others[i].f(&c, out);
  return false;
}
