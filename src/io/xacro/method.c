// Methods of texts in formulas of xacro, as Python has them: '0 0 1'.split(' '), ' a '.strip(), 'Arm'.lower().
// Letters are those of ASCII.
#include <string.h>

#include "io/xacro/parts.h"

typedef struct Call {
  srXacro* x;
  const char* of;  // the text
  const srXacroValue* a;
  int n;
  srPlace place;
} Call;

static bool give(const Call* c, const char* text, size_t n, srXacroValue* out) {
  if (!sr_xacro_room(c->x, n, c->place)) return false;
  *out = sr_xacro_str(sr_pool_text_n(&c->x->r->pool, text, n));
  return true;
}

// ------------------------------------------------------------------------------------------------------------- split
typedef struct Parts {
  srXacroValue* value;
  int n, capacity;
} Parts;

static bool add_part(const Call* c, Parts* parts, const char* text, size_t n) {
  srXacroValue value;
  if (parts->n == SR_XACRO_ITEMS) {
    sr_xacro_error(c->x, c->place, "a list becomes longer than %d items", SR_XACRO_ITEMS);
    return false;
  }
  if (!sr_xacro_room(c->x, sizeof value, c->place) || !give(c, text, n, &value)) return false;
  SR_PUSH(&c->x->r->pool, parts->value, parts->n, parts->capacity) = value;
  return true;
}

static size_t word_length(const char* p) {
  size_t n = 0;
  while (p[n] && !sr_text_is_blank(p[n])) n++;
  return n;
}

// Without a separator: at blanks, of which several count as one. With one: at each of it, empty parts are kept.
static bool do_split(const Call* c, srXacroValue* out) {
  Parts parts = {0};
  const char *p = c->of, *separator = c->n > 0 ? c->a[0].text : NULL;
  if (separator && !*separator) {
    sr_xacro_error(c->x, c->place, "split() takes a separator that is not empty");
    return false;
  }
  while (separator) {
    const char* end = strstr(p, separator);
    if (!add_part(c, &parts, p, end ? (size_t)(end - p) : strlen(p))) return false;
    if (!end) break;
    p = end + strlen(separator);
  }
  while (!separator) {
    while (sr_text_is_blank(*p)) p++;
    if (!*p) break;
    const size_t n = word_length(p);
    if (!add_part(c, &parts, p, n)) return false;
    p += n;
  }
  *out = (srXacroValue){.type = SR_XACRO_LIST, .n = parts.n, .all = parts.n, .levels = 1, .items = parts.value};
  return true;
}

// ------------------------------------------------------------------------------------------------------------ others
static bool do_strip(const Call* c, srXacroValue* out) {
  const char *start = c->of, *end = c->of + strlen(c->of);
  while (sr_text_is_blank(*start)) start++;
  while (end > start && sr_text_is_blank(end[-1])) end--;
  return give(c, start, (size_t)(end - start), out);
}

static bool change_case(const Call* c, char first, char last, int by, srXacroValue* out) {
  if (!give(c, c->of, strlen(c->of), out)) return false;
  for (char* p = (char*)out->text; *p; p++)
    if (*p >= first && *p <= last) *p = (char)(*p + by);
  return true;
}

static bool do_lower(const Call* c, srXacroValue* out) { return change_case(c, 'A', 'Z', 'a' - 'A', out); }
static bool do_upper(const Call* c, srXacroValue* out) { return change_case(c, 'a', 'z', 'A' - 'a', out); }

static bool do_replace(const Call* c, srXacroValue* out) {
  const char *old = c->a[0].text, *new = c->a[1].text, *p = c->of;
  const size_t n = strlen(old), m = strlen(new);
  size_t size = strlen(c->of);
  if (n == 0) {
    sr_xacro_error(c->x, c->place, "replace() takes a text that is not empty");
    return false;
  }
  for (const char* q = strstr(p, old); q; q = strstr(q + n, old)) size += m - n;  // wraps where it shrinks, and back
  if (size > SR_XACRO_TEXT) {
    sr_xacro_error(c->x, c->place, "a text becomes longer than %d characters", (int)SR_XACRO_TEXT);
    return false;
  }
  if (!sr_xacro_room(c->x, size, c->place)) return false;
  char *text = sr_pool_alloc(&c->x->r->pool, size + 1), *to = text;
  for (const char* q = strstr(p, old); q; q = strstr(p, old)) {
    memcpy(to, p, (size_t)(q - p));
    to += q - p;
    memcpy(to, new, m);
    to += m;
    p = q + n;
  }
  memcpy(to, p, strlen(p) + 1);
  *out = sr_xacro_str(text);
  return true;
}

static bool do_startswith(const Call* c, srXacroValue* out) {
  *out = sr_xacro_bool(strncmp(c->of, c->a[0].text, strlen(c->a[0].text)) == 0);
  return true;
}

static bool do_endswith(const Call* c, srXacroValue* out) {
  const size_t n = strlen(c->of), k = strlen(c->a[0].text);
  *out = sr_xacro_bool(n >= k && strcmp(c->of + n - k, c->a[0].text) == 0);
  return true;
}

static const struct {
  const char* name;
  int least, most;  // arguments, all of them texts
  bool (*f)(const Call* c, srXacroValue* out);
} methods[] = {{"split", 0, 1, do_split},      {"strip", 0, 0, do_strip},     {"lower", 0, 0, do_lower},
               {"upper", 0, 0, do_upper},      {"replace", 2, 2, do_replace}, {"startswith", 1, 1, do_startswith},
               {"endswith", 1, 1, do_endswith}};

bool sr_xacro_method(srXacro* x, const char* of, const char* name, const srXacroValue* a, const char* const* keys,
                     int n, srPlace place, srXacroValue* out) {
  const Call c = {x, of, a, n, place};
  for (int i = 0; i < SR_COUNT(methods); i++) {
    if (strcmp(methods[i].name, name) != 0) continue;
    bool good = n >= methods[i].least && n <= methods[i].most;
    for (int k = 0; k < n; k++) good = good && !keys[k] && a[k].type == SR_XACRO_STR;
    if (good) return methods[i].f(&c, out);
    sr_xacro_beyond(x, place, "these arguments of '.%s()' are not understood", name);
    return false;
  }
  sr_xacro_beyond(x, place, "'.%.60s()' of a text is not understood", name);
  return false;
}
